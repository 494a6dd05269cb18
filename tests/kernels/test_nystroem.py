"""The subspace of a kernel against dense projections; copies, grids and what is no kernel."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from corpus import degenerate
from hypothesis import given, settings
from hypothesis import strategies as st

from rankbook.kernels.basis import choose_basis
from rankbook.kernels.kernel import Kernel
from rankbook.kernels.nystroem import (
    MANY,
    RULES,
    NystroemMap,
    drawn_pivots,
    gram_schmidt,
    greedy_pivots,
    kernel_diagonal,
)


def quiet(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return NystroemMap(*args, **options)


@pytest.mark.parametrize("name", degenerate(np.random.default_rng(0)))
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("rule", RULES)
def test_it_is_the_projection_on_the_pivots(name, kernel, rule):
    X = degenerate(np.random.default_rng(0))[name]
    K = Kernel(kernel).gram(X)
    found = quiet(X, 7, kernel, pivots=rule, random_state=1)
    R, F = found.pivots, found.features
    assert len(set(R)) == len(R) <= 7 and F.shape == (24, len(R))
    scale = K.diagonal().max()
    assert (
        np.allclose(F @ F[R].T, K[:, R], rtol=0, atol=1e-12 * scale)
        and (found.factor.diagonal() > 0).all()
    )  # which makes F F' the projection
    assert np.linalg.eigvalsh(K - F @ F.T).min() > -1e-11 * scale
    assert (
        np.allclose(F[R], found.factor, rtol=0, atol=1e-7 * np.sqrt(scale))
        and (np.triu(found.factor, 1) == 0).all()
    )
    assert np.isclose(
        found.residual * found.trace, np.trace(K) - np.sum(F**2), atol=1e-9 * np.trace(K)
    )
    assert np.allclose(found.transform(X), F, atol=1e-7 * np.sqrt(scale))


@pytest.mark.parametrize("rule", RULES)
def test_it_stops_when_nothing_is_left_and_says_from_what_to_what(rule):
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.warns(UserWarning, match="n_components is reduced from 20 to 2,"):
        line = NystroemMap(X, 20, "linear", pivots=rule, random_state=0)
    assert np.allclose(line.features @ line.features.T, X @ X.T) and line.residual < 1e-12
    with pytest.warns(UserWarning, match="from 20 to 12,"):
        full = NystroemMap(X, 20, gamma=5.0, pivots=rule, random_state=0)
    assert np.allclose(full.features @ full.features.T, Kernel("rbf", 5.0).gram(X))
    with pytest.warns(UserWarning, match="from 3 to 1,"):
        one = NystroemMap(np.ones((9, 2)), 3, pivots=rule, random_state=0)
    assert np.allclose(one.features, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NystroemMap(X, 12, gamma=5.0, pivots=rule, random_state=0)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(1, 12), st.integers(1, 3))
def test_even_draws_are_the_drawing_one_by_one(seed, n, p, width):
    """On grids with copies: a random order, without those that the ones before span."""
    X = np.random.default_rng(seed).integers(0, width + 1, (n, 2)).astype(float)
    if not X.any():
        X[0] = 1.0
    kernel = Kernel("linear")
    order = np.random.default_rng(seed).permutation(n)
    one_by_one = gram_schmidt(X, min(p, n), kernel, lambda left: order[np.argmax(left[order] > 0)])
    pivots, factor = drawn_pivots(X, p, kernel, np.random.default_rng(seed))
    assert (pivots == one_by_one[0]).all() and np.allclose(
        factor, np.tril(one_by_one[1][pivots]), atol=1e-9
    )


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize(
    "n, d, p", [(600, 3, 40), (3000, 20, 30), (50, 2, 60), (7, 3, 3), (1, 2, 2)]
)
def test_greedy_pivots_in_rounds_are_those_one_by_one(kernel, n, d, p):
    X = np.random.default_rng(0).normal(size=(n, d))
    pivots, F = greedy_pivots(X, p, Kernel(kernel))
    one_by_one, G = gram_schmidt(X, p, Kernel(kernel), np.argmax)
    # last of all come residuals that are rounding errors, and which of them is largest is chance
    sure = len(one_by_one) if kernel != "rbf" else min(len(one_by_one), 30)
    assert len(pivots) == len(one_by_one) and (pivots[:sure] == one_by_one[:sure]).all()
    assert np.allclose(F[:, :sure], G[:, :sure], atol=1e-6)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 200), st.integers(1, 12), st.integers(1, 3))
def test_greedy_rounds_among_copies_and_ties(seed, n, p, width):
    """No pivot is spanned by others, and each had the most left, up to rounding."""
    X = np.random.default_rng(seed).integers(0, width + 1, (n, 2)).astype(float)
    kernel = Kernel("rbf")
    pivots, F = greedy_pivots(X, p, kernel)
    assert len(set(pivots)) == len(pivots) == min(p, len(np.unique(X, axis=0)))
    assert pivots[0] == 0 and np.allclose(F @ F[pivots].T, kernel.cross(X, X[pivots]))
    left = 1 - np.cumsum(np.c_[np.zeros(n), F**2], axis=1)
    for j, pivot in enumerate(pivots):
        assert left[pivot, j] >= left[:, j].max() - 1e-12


def test_many_items_have_the_pivots_of_the_loop():
    X = np.random.default_rng(0).normal(size=(MANY, 5))
    found = NystroemMap(X, 25)
    pivots, F = gram_schmidt(X, 25, Kernel("rbf"), np.argmax)
    assert (found.pivots == pivots).all() and np.allclose(found.features, F)
    assert found.features.flags.c_contiguous and (np.triu(found.factor, 1) == 0).all()
    with pytest.warns(UserWarning, match="n_components is reduced from 20 to 5,"):
        NystroemMap(X, 20, "linear")


def test_even_draws_are_even_and_proportional_ones_proportional():
    # a rank of 1: the first pivot is the only one, drawn by squares 1, 1, 9 in the proportional
    # rule
    X = np.array([[1.0], [1.0], [3.0]])
    first = lambda rule: (
        np.bincount(
            [
                quiet(X, 1, "linear", pivots=rule, random_state=seed).pivots[0]
                for seed in range(800)
            ],
            minlength=3,
        )
        / 800
    )
    assert (
        np.abs(first("random") - 1 / 3).max() < 0.05
        and np.abs(first("rpcholesky") - np.array([1, 1, 9]) / 11).max() < 0.05
    )
    assert (first("greedy") == [0, 0, 1]).all()


@pytest.mark.parametrize("rule", RULES)
def test_seeds(rule):
    X = np.random.default_rng(0).normal(size=(50, 3))
    a, b = (NystroemMap(X, 9, pivots=rule, random_state=5) for _ in range(2))
    assert (a.pivots == b.pivots).all() and (a.features == b.features).all()
    if rule != "greedy":
        assert (NystroemMap(X, 9, pivots=rule, random_state=6).pivots != a.pivots).any()


def test_the_basis_of_rankrls_has_the_same_pivots():
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert (
        np.sort(NystroemMap(X, 9, pivots="rpcholesky", random_state=5).pivots)
        == choose_basis(X, 9, "rpcholesky", random_state=5)
    ).all()


@pytest.mark.parametrize("rule", RULES)
def test_precomputed_and_callable_kernels_are_the_named_one(rule):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(30, 3)), rng.normal(size=(5, 3))
    kernel = Kernel("rbf")
    expected = NystroemMap(X, 8, pivots=rule, random_state=0)
    given_matrix = NystroemMap(kernel.gram(X), 8, "precomputed", pivots=rule, random_state=0)
    given_function = NystroemMap(X, 8, lambda A, B: kernel.cross(A, B), pivots=rule, random_state=0)
    for other, X_new in ((given_matrix, kernel.cross(new, X)), (given_function, new)):
        assert (other.pivots == expected.pivots).all() and np.allclose(
            other.features, expected.features
        )
        assert np.allclose(other.transform(X_new), expected.transform(new))
    assert np.allclose(pickle.loads(pickle.dumps(expected)).transform(new), expected.transform(new))


def test_a_callable_that_hands_out_its_own_matrix_keeps_it():
    K = Kernel("rbf").gram(np.random.default_rng(0).normal(size=(10, 2)))
    kept = K.copy()
    found = NystroemMap(
        np.arange(10.0)[:, None],
        3,
        lambda A, B: K[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))],
    )
    kernel = found.kernel.replaced(function=lambda A, B: K[:, found.pivots] if len(A) == 10 else K)
    found.replaced(kernel=kernel).transform(np.arange(10.0)[:, None])
    assert (K == kept).all()


def test_arrays_may_be_read_only_or_not_contiguous():
    X = np.random.default_rng(0).normal(size=(60, 6))
    part = X[::2, ::2]
    expected = NystroemMap(part.copy(), 8).features
    part.flags.writeable = False
    assert (NystroemMap(part, 8).features == expected).all()
    frozen = Kernel("rbf").gram(np.ascontiguousarray(part))
    frozen.flags.writeable = False
    assert np.allclose(NystroemMap(frozen, 8, "precomputed").features, expected)


@pytest.mark.parametrize(
    "change, match",
    [
        (
            dict(X=np.diag([1.0, 1, -1]), kernel="precomputed"),
            "not positive semi-definite: the squared residual of item 2",
        ),
        (
            dict(X=np.array([[1.0, 2, 0], [2, 1, 0], [0, 0, 1]]), kernel="precomputed"),
            "not positive semi-definite",
        ),
        (
            dict(X=np.array([[2.0, 1, 0], [0, 2, 0], [0, 0, 1]]), kernel="precomputed"),
            (
                r"is not symmetric: (1.0 at \(0, 1\) but 0.0 at \(1, 0|0.0 at \(1, 0\) but "
                r"1.0 at \(0, 1)\). Pass a symmetric"
            ),
        ),
        (dict(X=np.zeros((3, 3)), kernel="linear"), "kernel is 0 for every item"),
        (dict(X=np.ones((3, 2)), kernel="precomputed"), "square Gram matrix"),
        (dict(X=[[1.0, np.nan]]), "X has NaN in row 0, column 1"),
        (dict(n_components=0), "n_components is 0. Pass an integer >= 1"),
        (dict(n_components=2.5), "n_components is 2.5"),
        (dict(n_components=np.inf), "n_components is inf"),
        (dict(pivots="gredy"), "did you mean 'greedy'"),
        (dict(kernel="rbv"), "did you mean 'rbf'"),
        (dict(kernel=lambda A, B: -(A @ B.T)), "not positive semi-definite"),
        (
            dict(kernel=lambda A, B: np.exp(A[:, :1] - B[:, :1].T)),
            "not symmetric|not positive semi-definite",
        ),
    ],
)
@pytest.mark.parametrize("rule", ["greedy", "random"])
def test_refusals(change, match, rule):
    X = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.raises(ValueError, match=match):
        quiet(**{**dict(X=X, n_components=3, pivots=rule, random_state=0), **change})


@pytest.mark.parametrize("bad", ["3", True, [3]])
def test_a_count_of_another_type_is_a_type_error(bad):
    with pytest.raises(TypeError, match="n_components is"):
        NystroemMap(np.eye(3), bad)


def test_new_items_must_fit():
    found = NystroemMap(np.eye(4), 2)
    with pytest.raises(ValueError, match="4 columns, as in training"):
        found.transform(np.eye(3))
    with pytest.raises(ValueError, match="a column for each training item"):
        NystroemMap(np.eye(4), 2, "precomputed").transform(np.eye(3))
    assert found.transform(np.empty((0, 4))).shape == (0, 2)


@pytest.mark.parametrize("rule", RULES)
def test_memory_grows_with_the_items_not_with_their_pairs(rule):
    n, d, p = 20_000, 5, 10
    X = np.random.default_rng(0).normal(size=(n, d))
    tracemalloc.start()
    NystroemMap(X, p, pivots=rule, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * (2 * p + d + 20) < 8 * n * n / 100


def test_a_given_matrix_is_not_copied():
    K = Kernel("linear").gram(np.random.default_rng(0).normal(size=(2000, 5)))
    tracemalloc.start()
    NystroemMap(K, 5, "precomputed")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < K.nbytes / 20


def test_diagonals():
    X = np.random.default_rng(0).normal(size=(250, 3))
    for kernel in (
        Kernel("rbf"),
        Kernel("linear"),
        Kernel("poly", gamma=0.3, degree=2),
        Kernel(lambda A, B: A @ B.T),
    ):
        assert np.allclose(kernel_diagonal(X, kernel), kernel.cross(X, X).diagonal())


@pytest.mark.parametrize("name", degenerate(np.random.default_rng(0)))
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "precomputed"])
def test_principal_directions_leave_least(name, kernel):
    X = degenerate(np.random.default_rng(0))[name]
    if kernel == "precomputed":
        X = Kernel("rbf").gram(X)
    K = Kernel(kernel).gram(X)
    found, scale = quiet(X, 7, kernel, pivots="pca"), np.abs(K).max()
    F, k = found.features, found.factor.shape[1]
    values = np.linalg.eigvalsh(K)[::-1]
    assert k == min(7, int(np.sum(values > 24 * np.finfo(float).eps * values[0])))
    assert np.allclose(F.T @ F, np.diag(values[:k]), atol=1e-10 * scale * len(K))
    assert np.allclose(found.transform(K if kernel == "precomputed" else X), F, atol=1e-7 * scale)
    w = np.arange(1.0, k + 1)
    assert np.allclose(K @ found.expansion(w), F @ w, atol=1e-6 * max(1, scale))
    assert found.pivots.tolist() == list(range(24)) and found.transform(X[:0]).shape == (0, k)


def test_an_iteration_finds_the_directions_of_a_decomposition():
    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(700, 3)), rng.integers(0, 3, (700, 2)).astype(float)):
        K = Kernel("rbf", 0.3).gram(X)
        left = quiet(X, 8, gamma=0.3, pivots="pca").residual
        assert np.isclose(left, np.linalg.eigvalsh(K)[:-8].sum() / 700, atol=1e-10)
