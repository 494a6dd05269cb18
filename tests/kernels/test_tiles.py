"""Products with kernel matrices that are made tile by tile."""

import numpy as np
import pytest

from rankbook.kernels import tiles as module
from rankbook.kernels.kernel import Kernel
from rankbook.kernels.tiles import KernelTiles

rng = np.random.default_rng(0)
X = rng.normal(size=(70, 3))
KERNELS = {
    "rbf": Kernel("rbf", gamma=0.3),
    "poly": Kernel("poly", degree=2),
    "linear": Kernel("linear"),
    "callable": Kernel(lambda A, B: np.exp(-np.abs(A[:, None] - B).sum(axis=2))),
}


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr(module, "TILE", 16)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("is_centred", [False, True])
def test_products_are_those_of_the_matrix(name, is_centred):
    kernel, v = KERNELS[name], rng.normal(size=(70, 3))
    K = kernel.centred_gram(X) if is_centred else kernel.gram(X)
    tiles = KernelTiles(X, kernel, is_centred)
    for columns in (v, v[:, 0]):
        assert np.allclose(tiles.matvec(columns), K @ columns, rtol=0, atol=1e-13 * np.abs(K).sum())
    assert np.allclose(tiles.diagonal(), K.diagonal(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("is_centred", [False, True])
def test_a_given_matrix(is_centred):
    K = KERNELS["rbf"].gram(X)
    same = Kernel("precomputed").centred_gram(K) if is_centred else K
    tiles, v = KernelTiles(K, Kernel("precomputed"), is_centred), rng.normal(size=70)
    assert np.allclose(tiles.matvec(v), same @ v, rtol=0, atol=1e-13)
    assert np.allclose(tiles.diagonal(), same.diagonal(), rtol=1e-12)


@pytest.mark.parametrize("name", ["rbf", "poly"])
def test_single_precision_keeps_six_digits(name):
    v = rng.normal(size=70)
    single, double = (
        KernelTiles(X, KERNELS[name], True, dtype).matvec(v) for dtype in (np.float32, np.float64)
    )
    assert 0 < np.abs(single - double).max() < 1e-5 * np.abs(double).max()
    assert single.dtype == np.float64


@pytest.mark.parametrize("size", [1e-200, 1e-3, 1e200])
def test_the_size_of_a_vector_does_not_matter(size):
    v, tiles = rng.normal(size=70), KernelTiles(X, KERNELS["rbf"], True, np.float32)
    assert np.allclose(tiles.matvec(size * v) / size, tiles.matvec(v), rtol=1e-12)
    assert not tiles.matvec(0 * v).any()


@pytest.mark.parametrize("shift", [1e4, 1e8])
@pytest.mark.parametrize("name", ["rbf", "poly"])
def test_items_far_from_the_origin(name, shift):
    items, v = np.round(X, 3) * 64 + shift, rng.normal(size=70)  # exact in double precision
    kernel = Kernel(name, gamma=1e-4)
    K = kernel.centred_gram(items)
    found = KernelTiles(items, kernel, True).matvec(v)
    assert np.abs(found - K @ v).max() < 1e-12 * np.abs(K).sum()


def test_a_wide_kernel_keeps_what_tells_items_apart():
    kernel, v = Kernel("rbf", gamma=1e-12), rng.normal(size=70)
    u = v - v.mean()
    Z = X - X.mean(axis=0)
    limit = 2e-12 * (Z @ (Z.T @ u))  # K is 1 - gamma |x - y|^2
    limit -= 1e-12 * u @ np.square(Z).sum(axis=1)
    found = KernelTiles(X, kernel, True).matvec(v)
    assert np.allclose(found, limit - limit.mean(), rtol=1e-6, atol=1e-22)


def test_an_outlier_does_not_spoil_the_others():
    items, v = X.copy(), rng.normal(size=70)
    items[3] = 1e7
    items[4] = items[3] + 0.5
    K = KERNELS["rbf"].gram(items)
    for dtype in (np.float32, np.float64):
        found = KernelTiles(items, KERNELS["rbf"], dtype=dtype).matvec(v)
        assert np.allclose(found, K @ v, rtol=1e-12, atol=1e-13)
