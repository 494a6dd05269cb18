"""The graph of nearest neighbours against all distances; copies, grids, lonely points."""

import sys
import tracemalloc
import warnings
from importlib.machinery import ModuleSpec
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph, csr_array, diags_array
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer
from sklearn.pipeline import make_pipeline

from rankbook.kernels import neighbours as module
from rankbook.kernels.kernel import Kernel
from rankbook.kernels.neighbours import (
    approximate_neighbours,
    closest,
    found_neighbours,
    gram_neighbours,
    is_approximate,
    laplacian_form,
    nearest_neighbours,
    nearest_of,
    neighbour_graph,
    neighbour_recall,
    normalized_laplacian,
    searched_neighbours,
)


def assert_nearest(D, near, rtol=1e-9):
    """Each row lists different other points whose distances are the least there are.

    Which of equal ones is free.
    """
    n, c = near.shape
    D = D + np.diag(np.full(n, np.inf))
    assert (near != np.arange(n)[:, None]).all() and all(len(set(row)) == c for row in near)
    assert np.allclose(
        np.sort(np.take_along_axis(D, near, axis=1)), np.sort(D)[:, :c], rtol=rtol, atol=1e-12
    )


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 40),
    st.integers(1, 3),
    st.sampled_from([1, 2, 20]),
    st.integers(1, 5),
    st.sampled_from([0.0, 1e7]),
)
def test_neighbours_on_grids_full_of_copies(seed, n, width, d, c, offset):
    """20 columns: brute force; fewer: trees. Far from the origin as well."""
    X = np.random.default_rng(seed).integers(0, width + 1, (n, d)).astype(float)
    c = min(c, n - 1)
    D = cdist(X, X)
    assert_nearest(D, nearest_neighbours(X + offset, c))
    assert_nearest(D, gram_neighbours(X @ X.T, c))
    i, j = found_neighbours(X, c, KNeighborsTransformer(n_neighbors=c))
    assert_nearest(D, j.reshape(n, c))
    W = neighbour_graph(X, c)
    assert (
        (W - W.T).nnz == 0
        and set(W.data) == {1.0}
        and (W.diagonal() == 0).all()
        and (W.sum(axis=1) >= c).all()
    )
    assert W.nnz <= 2 * n * c


@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "cosine", "chebyshev", lambda a, b: np.abs(a - b).max()]
)
@pytest.mark.parametrize("d", [3, 20])
def test_any_metric(metric, d):
    X = np.random.default_rng(0).normal(size=(40, d))
    D = cdist(X, X, "cityblock" if metric == "manhattan" else metric)
    assert_nearest(D, nearest_neighbours(X, 3, metric))
    directed = np.argsort(np.argsort(D + np.diag(np.full(40, np.inf)), axis=1), axis=1) < 3
    assert (neighbour_graph(X, 3, metric).toarray() == (directed | directed.T)).all()


def test_far_from_the_origin_the_neighbours_are_the_same():
    X = np.round(np.random.default_rng(0).normal(size=(60, 20)), 3)
    assert (
        neighbour_graph(X, 3) - neighbour_graph(X + 1e9, 3)
    ).nnz <= 4  # the sum itself rounds the last digits


def test_a_gram_matrix_has_the_distances_of_its_features():
    X = np.random.default_rng(0).normal(size=(70, 3))
    K = Kernel("poly").gram(X)
    squares = K.diagonal()[:, None] + K.diagonal() - 2 * K
    assert_nearest(np.sqrt(np.maximum(squares, 0)), gram_neighbours(K, 3))
    W = neighbour_graph(K, 3, kernel=Kernel("precomputed"))
    assert (W.sum(axis=1) >= 3).all()


def test_a_pipeline_with_fewer_dimensions_stands_in_for_the_metric():
    X = np.random.default_rng(0).normal(size=(80, 20)) * np.r_[5, 5, np.full(18, 1e-6)]
    approximate = make_pipeline(PCA(2), KNeighborsTransformer(n_neighbors=4))
    assert (neighbour_graph(X, 4, approximate) - neighbour_graph(X, 4)).nnz == 0


def test_who_finds_fewer_is_believed_with_a_warning():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.warns(UserWarning, match="fewer than n_neighbors = 3 neighbours of 20 of the 20"):
        few = neighbour_graph(
            X, 3, KNeighborsTransformer(n_neighbors=3, mode="connectivity")
        )  # counts the item itself
    assert (few.sum(axis=1) >= 2).all()
    more = neighbour_graph(X, 3, KNeighborsTransformer(n_neighbors=9))
    assert (more - neighbour_graph(X, 3)).nnz == 0
    with pytest.warns(UserWarning, match="20 of the 20"):
        assert neighbour_graph(X, 3, RadiusNeighborsTransformer(radius=1e-9)).nnz == 0


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 15), st.floats(0, 0.4))
def test_the_laplacian_with_lonely_points(seed, n, share):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) < share, 1).astype(float)
    W += W.T
    L, degree = normalized_laplacian(csr_array(W)).toarray(), W.sum(axis=1)
    assert np.allclose(L, csgraph.laplacian(W, normed=True))
    assert (L[degree == 0] == 0).all() and np.allclose(L @ np.sqrt(degree), 0)
    f = rng.normal(size=(n, 3))
    edges = [(i, j) for i in range(n) for j in range(i) if W[i, j]]
    energy = sum(
        (
            np.outer(v, v)
            for v in (f[i] / degree[i] ** 0.5 - f[j] / degree[j] ** 0.5 for i, j in edges)
        ),
        np.zeros((3, 3)),
    )
    assert np.allclose(laplacian_form(normalized_laplacian(csr_array(W)), f), energy)


def test_the_laplacian_of_a_ring_by_hand():
    W = csr_array(np.roll(np.eye(5), 1, axis=1) + np.roll(np.eye(5), -1, axis=1))
    assert np.allclose(normalized_laplacian(W).toarray(), np.eye(5) - W.toarray() / 2)
    assert normalized_laplacian(diags_array(np.zeros(4))).nnz == 0


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 40),
    st.integers(1, 3),
    st.sampled_from([1, 20]),
    st.integers(1, 5),
)
def test_a_few_rows_against_all(seed, n, width, d, c):
    """On grids full of copies; and the exact search where the recall is too low."""
    rng = np.random.default_rng(seed)
    X, c = rng.integers(0, width + 1, (n, d)).astype(float), min(c, n - 1)
    D, rows = cdist(X, X), rng.permutation(n)[: (n + 1) // 2]
    away = D + np.diag(np.full(n, np.inf))
    near = nearest_of(X, rows, c)
    assert (near != rows[:, None]).all() and all(len(set(row)) == c for row in near)
    assert np.allclose(np.sort(np.take_along_axis(D[rows], near, 1)), np.sort(away[rows])[:, :c])
    everyone = np.broadcast_to(np.arange(n), (n, n))
    order = np.argsort(away, axis=1, kind="stable")
    assert (closest(X, rng.permuted(everyone, axis=1), c) == order[:, :c]).all()
    assert_nearest(D, closest(X, np.full((n, c), -1), c))
    assert neighbour_recall(X, nearest_neighbours(X, c)) == 1.0


def sheet(n, d=24):
    """Points near a curved sheet of 6 dimensions, in d."""
    rng = np.random.default_rng(0)
    return np.tanh(rng.normal(size=(n, 6)) @ rng.normal(size=(6, d)) / 2) + 0.02 * rng.normal(
        size=(n, d)
    )


class NNDescent:
    """The interface of pynndescent's search, by brute force.

    In 64 dimensions it misses every fourth neighbour, because pynndescent misses many there.
    """

    def __init__(self, X, n_neighbors, random_state, n_jobs):
        found = cdist(X, X).argpartition(n_neighbors - 1)[:, :n_neighbors]
        missed = np.random.default_rng(random_state).random(found.shape) < 0.25
        self.neighbor_graph = np.where(missed & (X.shape[1] == 64), -1, found), None


@pytest.fixture(params=["brute force", pytest.param("pynndescent", marks=pytest.mark.slow)])
def pynndescent(request, monkeypatch):
    """How many points a search may get; pynndescent compiles itself for most of a minute."""
    if request.param == "pynndescent":
        pytest.importorskip("pynndescent")
        return 20_000
    stand_in = SimpleNamespace(NNDescent=NNDescent, __spec__=ModuleSpec("pynndescent", None))
    monkeypatch.setitem(sys.modules, "pynndescent", stand_in)
    return 4000


def test_the_approximate_search_finds_nearly_all(pynndescent):
    X = sheet(4000)
    near = approximate_neighbours(X, 3)
    assert near.shape == (4000, 3) and near.dtype == np.intp
    assert (near != np.arange(4000)[:, None]).all() and all(len(set(row)) == 3 for row in near)
    both = zip(near, nearest_neighbours(X, 3))
    assert np.mean([len({*a} & {*b}) / 3 for a, b in both]) >= 0.9
    assert neighbour_recall(X, near) >= 0.9
    W = neighbour_graph(X, 3, neighbours="approximate")
    assert (W - W.T).nnz == 0 and set(W.data) == {1.0} and (W.diagonal() == 0).all()
    assert (W.sum(axis=1) >= 3).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_call_the_same_neighbours(pynndescent, threads):
    numba = pytest.importorskip("numba")
    if threads > numba.config.NUMBA_NUM_THREADS:
        pytest.skip(f"{threads} threads of {numba.config.NUMBA_NUM_THREADS}")
    X, before = sheet(pynndescent), numba.get_num_threads()
    first = approximate_neighbours(X[:, ::-1], 2)
    numba.set_num_threads(threads)
    try:
        assert np.array_equal(approximate_neighbours(X[:, ::-1], 2), first)
        assert numba.get_num_threads() == threads
    finally:
        numba.set_num_threads(before)


@pytest.mark.parametrize("offset, scale", [(0.0, 1.0), (1e9, 1.0), (0.0, 1e90), (0.0, 1e-100)])
def test_offsets_and_units_stay_out_of_it(pynndescent, offset, scale):
    X = np.round(sheet(600), 3) * 2.0**10
    X = np.round(X)  # whole numbers: nothing is rounded below
    near = approximate_neighbours(X * scale + offset, 2)
    squares = np.take_along_axis(cdist(X, X, "sqeuclidean"), near, axis=1)
    exact = np.sort(cdist(X, X, "sqeuclidean"))[:, 1:3]
    assert np.isclose(squares, exact).mean() >= 0.9


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((300, 20)),
        np.repeat(sheet(6), 50, axis=0),
        np.repeat(sheet(300), 2, axis=0),
        np.random.default_rng(0).integers(0, 2, (500, 4)).astype(float),
        sheet(2),
        sheet(7),
    ],
    ids=["one point", "many copies", "pairs", "grid", "two", "seven"],
)
def test_copies_and_few_points(pynndescent, X):
    c = min(3, len(X) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        near = searched_neighbours(X, c, neighbours="approximate")
    assert_nearest(cdist(X, X), near)


def test_poor_recall_is_told_or_put_right(pynndescent, monkeypatch):
    noise = np.random.default_rng(0).normal(size=(min(6000, pynndescent), 64))
    with pytest.warns(UserWarning, match=r"'approximate' found \d\d% of the 2 nearest neigh"):
        poor = searched_neighbours(noise, 2, neighbours="approximate")
    assert 0.5 < neighbour_recall(noise, poor) < 0.9
    monkeypatch.setattr(module, "LARGE", 0)
    exact = nearest_neighbours(noise, 2)
    assert is_approximate(noise, "euclidean", "auto")
    assert np.array_equal(searched_neighbours(noise, 2), exact)
    X = sheet(3000)
    assert np.array_equal(searched_neighbours(X, 2), approximate_neighbours(X, 2))


def test_without_pynndescent(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    monkeypatch.setattr(module, "LARGE", 0)
    X = sheet(100)
    assert np.array_equal(searched_neighbours(X, 2), nearest_neighbours(X, 2))
    with pytest.raises(ImportError, match=r"'approximate' needs pynndescent.*rankbook\[large\]"):
        neighbour_graph(X, neighbours="approximate")


class Wrong:
    def __init__(self, graph):
        self.graph = graph

    def fit_transform(self, X):
        return self.graph


@pytest.mark.parametrize(
    "options, match",
    [
        (dict(n_neighbors=8), "n_neighbors is 8. Pass an integer from 1 to 7"),
        (dict(n_neighbors=0), "n_neighbors is 0"),
        (dict(n_neighbors=1.5), "n_neighbors is 1.5"),
        (dict(metric="precomputed"), "metric is 'precomputed'"),
        (dict(metric="euclidian"), "metric"),
        (dict(metric=Wrong(csr_array((3, 8)))), "a graph of shape \\(3, 8\\) from 8 items"),
        (dict(metric=Wrong(csr_array(np.full((8, 8), np.nan)))), "NaN or infinite"),
        (
            dict(X=np.ones((4, 4)), metric="cosine", kernel=Kernel("precomputed")),
            "kernel is 'precomputed'. Pass metric='euclidean'",
        ),
        (dict(X=np.ones((4, 3)), kernel=Kernel("precomputed")), "square Gram matrix"),
        (dict(X=np.full((4, 3), np.inf)), "infinity in row 0"),
        (dict(neighbours="aproximate"), "neighbours is 'aproximate'.*'approximate'"),
        (dict(neighbours=True), "neighbours is True"),
        (
            dict(neighbours="approximate", metric="cosine"),
            "with the metric 'cosine'. Pass points and one of the metrics 'euclidean'",
        ),
        (dict(neighbours="approximate", metric=cdist), "with the metric <function"),
        (
            dict(X=np.eye(4), neighbours="approximate", kernel=Kernel("precomputed")),
            "with a precomputed kernel",
        ),
        (dict(neighbours="exact", metric=Wrong(csr_array((8, 8)))), "which has its own search"),
    ],
)
def test_refusals(options, match):
    with pytest.raises(ValueError, match=match), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        neighbour_graph(**{**dict(X=np.random.default_rng(0).normal(size=(8, 2))), **options})


@pytest.mark.parametrize("d", [5, 20])
def test_memory_grows_with_the_items_not_with_their_pairs(d):
    n = 20_000
    X = np.random.default_rng(0).normal(size=(n, d))
    tracemalloc.start()
    energy = laplacian_form(normalized_laplacian(neighbour_graph(X, 2)), X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert energy.shape == (d, d) and peak < 8 * n * (4 * d + 100) < 8 * n * n / 100


def test_a_process_says_once_that_the_search_compiles(caplog):
    module.announce_compiling.cache_clear()
    module.announce_compiling()
    module.announce_compiling()
    assert caplog.text.count("compiling pynndescent") == 1
