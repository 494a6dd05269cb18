"""Sparse validation items with a large offset: ties are those of centred scores, as for dense."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import rankbook as rb
from rankbook.problems.scale import item_scatter


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
@pytest.mark.parametrize("solver", ["newton", "path", "homotopy", "simplex", "epsilon"])
def test_sparse_validation_items_have_the_curve_of_dense_ones(solver, offset):
    rng = np.random.default_rng(0)
    X, V = (rng.normal(size=(n, 3)).round(2) for n in (40, 30))
    y, v = ((Z @ [1, 0.5, 0] + rng.normal(size=len(Z))).round() for Z in (X, V))
    options = dict(homotopy=dict(penalty="l1", loss="squared"), simplex=dict(penalty="l1"))
    prefs, validation = rb.Preferences.from_scores(y), rb.Preferences.from_scores(v)
    options = dict(kernel="linear") | options.get(solver, {})
    problem = rb.RankSVMProblem(X + offset, prefs, **options)
    path = rb.solve_path(problem, problem.lam_max / 50, solver=solver)
    dense, sparse = (
        rb.validation_curve(path, Z, validation) for Z in (V + offset, csr_array(V + offset))
    )
    assert np.array_equal(dense.values, sparse.values)
    assert np.allclose(dense.breaks, sparse.breaks, rtol=1e-9, atol=0)
    assert path.exact == dense.exact == sparse.exact == rb.get_solver(solver).exact


def test_the_curve_of_sparse_training_items_is_not_called_exact():
    """Their path has solutions up to a relative gap, so the curve may differ from that of dense."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), rng.integers(0, 3, 12)
    dense, sparse = (
        rb.validation_curve(rb.RankSVMCV(kernel="linear", cv=3).fit(Z, y).path_, X[::-1], y)
        for Z in (X, csr_array(X))
    )
    assert dense.exact and not sparse.exact and ", approximate)" in repr(sparse)


def test_columns_with_zeros_are_centred_after_the_product():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 4)) * (rng.random((20, 4)) < 0.6) + [0, 0, 3, 5]
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(X[:, 0].round()), kernel="linear")
    new, w = X[:6] * [1, 1, 0, 1], rng.normal(size=(4, 2))
    expected = (new - problem.offset) @ w
    assert np.allclose(problem.scorer(csr_array(new))(w), expected, atol=1e-13)
    assert np.allclose(problem.scorer(new)(w), expected, atol=1e-13)
    twice = csr_array(([1.0, 2, 4], [1, 1, 3], [0, 3]), shape=(1, 4))  # 1 + 2 in one place
    assert np.allclose(problem.scorer(twice)(w), ([[0, 3, 0, 4]] - problem.offset) @ w, atol=1e-13)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6, 1e8])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_scatter_of_sparse_items_keeps_its_digits(offset, kind):
    """A feature is far from 0 in one group and 0 in another, so no offset serves both."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(60, 3)) + offset).astype(kind)
    group, weight = np.arange(60) // 20, rng.uniform(0.5, 2, 60)
    X[group == 0, 0], weight[3], weight[group == 2] = 0, 0, 0
    exact = 0.0
    for g in (0, 1):
        Z, w = X[group == g].astype(np.longdouble), weight[group == g].astype(np.longdouble)
        exact += float(w @ ((Z - w @ Z / w.sum()) ** 2).sum(axis=1))
    assert item_scatter(csr_array(X), weight, group) == pytest.approx(exact, rel=1e-6)
    assert item_scatter(X, weight, group) == pytest.approx(exact, rel=1e-6)


def test_equal_sparse_items_have_no_scatter():
    X, group = csr_array(np.full((6, 2), 1e8 / 3)), np.array([0, 0, 0, 1, 1, 1])
    assert item_scatter(X, np.linspace(0.1, 1, 6), group) == 0
