"""Dual coordinate descent, against other solvers, and its two kinds of groups."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import rankbook as rb
from rankbook import Preferences, RankSVMProblem
from rankbook.solvers.coordinate.solver import CoordinateSolver
from rankbook.solvers.coordinate.steps import (
    bounds,
    conjugate,
    descend_groups,
    groups_of,
    make_dual,
    slope_of,
    subspace_step,
)


@pytest.fixture(scope="module")
def graded():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 6)) * (rng.random((160, 6)) < 0.5)
    y = np.digitize(X @ rng.normal(size=6) + rng.normal(size=160), [-1, 0, 1])
    return X, y.astype(float), np.repeat(np.arange(16), 10)


def kinds(X, y, qid):
    """Preferences of scores, with weights and margins, and of listed pairs."""
    prefs, rng = Preferences.from_scores(y, qid), np.random.default_rng(1)
    k, l = rng.integers(0, len(X), (2, 300))
    return {
        "scores": prefs,
        "one query": Preferences.from_scores(y),
        "item weights": prefs.item_weighted(rng.integers(0, 3, len(X)) * 1.0),
        "queries of equal weight": prefs.query_weighted(),
        "levels": Preferences.from_scores(y, qid, level_weight={(2.0, 0.0): 3.0}),
        "margins": Preferences.from_scores(y, qid, margin="difference"),
        "star": Preferences.from_scores(y, qid, graph="star"),
        "pairs": Preferences(k[k != l], l[k != l], len(X)),
        "weights and signed margins": prefs.reweighted(
            rng.exponential(size=len(prefs)), rng.normal(size=len(prefs))
        ),
    }


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("kind", list(kinds(np.eye(9), np.arange(9.0), np.arange(9) // 3)))
@pytest.mark.parametrize("storage", ["float64", "float32", "csr"])
def test_as_another_solver(graded, kind, loss, storage):
    X, y, qid = graded
    prefs, X = kinds(*graded)[kind], X.astype(np.float32)
    kept = csr_array(X) if storage == "csr" else X.astype(storage)
    problem, dense = (
        RankSVMProblem(A, prefs, kernel="linear", loss=loss) for A in (kept, X.astype(float))
    )
    for lam in (30.0, 0.3):
        found = rb.solve(problem, lam, solver="coordinate")
        best = rb.solve(dense, lam, solver="interior")
        assert found.certificate.relative_gap <= 1e-6 and found.info["converged"]
        assert found.certificate.primal == pytest.approx(best.certificate.primal, rel=2e-6)
        assert found.info["gap"] == pytest.approx(found.certificate.relative_gap, abs=1e-8)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("narrow", [1, 64])
def test_both_kinds_of_groups(graded, loss, narrow):
    X, y, qid = graded
    problem = RankSVMProblem(X, Preferences.from_scores(y, qid), kernel="linear", loss=loss)
    s, order = make_dual(problem, 20.0, narrow=narrow)
    before = -np.inf
    for _ in range(40):
        subspace_step(s, 4)
        assert np.all(s.dual >= 0) and (loss == "squared" or np.all(s.dual <= 1))
        descend_groups(s, np.tile(np.arange(16), (2, 1)), 2)
        primal, dual = bounds(s)
        assert dual >= before - 1e-9 * abs(dual)  # neither kind of step falls
        before = dual
    a = np.zeros(len(problem.prefs))
    a[order] = s.dual
    assert np.allclose(s.w, problem.X.T @ problem.prefs.rmatvec(a) / 20.0)
    proof = problem.certificate(20.0, weights=s.w, dual=a)
    assert proof.relative_gap < 1e-8 and primal == pytest.approx(proof.primal)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_steps_on_the_free_multipliers_alone_reach_the_maximum_over_them(graded, loss):
    X, y, qid = graded
    prefs = Preferences.from_scores(y, qid)
    prefs = prefs.reweighted(np.random.default_rng(2).exponential(size=len(prefs)))
    s, order = make_dual(RankSVMProblem(X, prefs, kernel="linear", loss=loss), 20.0)
    descend_groups(s, np.arange(16)[None], 1)
    start, weight = bounds(s)[1], np.inf if loss == "squared" else s.weight
    inside = lambda: np.flatnonzero((s.dual > 0) & (s.dual < weight))
    assert inside().size > 30
    for _ in range(30):
        subspace_step(s, 100)
    descend_groups(s, np.empty((0, 16), int), 0)
    free = inside()
    assert free.size and max(abs(slope_of(s, i)) for i in free) < 1e-9
    assert bounds(s)[1] > start


def test_as_LinearSVC(graded):
    from sklearn.svm import LinearSVC

    X, y, qid = graded
    prefs = Preferences.from_scores(y, qid)
    turn = np.where(np.arange(len(prefs)) % 2, 1.0, -1.0)
    Z = (X[prefs.better] - X[prefs.worse]) * turn[:, None]
    for loss, theirs in (("hinge", "hinge"), ("squared", "squared_hinge")):
        model = LinearSVC(C=0.1, loss=theirs, fit_intercept=False, tol=1e-9, max_iter=100_000)
        model.fit(Z, turn)
        problem = RankSVMProblem(X, prefs, kernel="linear", loss=loss)
        found = rb.solve(problem, 10.0, solver="coordinate", tol=1e-9)
        assert np.allclose(found.weights, model.coef_.ravel(), atol=1e-4)


def test_groups():
    assert groups_of(Preferences.from_scores([0, 1, 2, 3], [7, 7, 5, 5])).tolist() in (
        [1, 1, 0, 0],
        [0, 0, 1, 1],
    )
    label = groups_of(Preferences([0, 1, 4], [1, 2, 3], 6))
    assert label[0] == label[1] == label[2] != label[3] == label[4] and label[5] not in label[:5]


def test_seeds_and_limits(graded):
    X, y, qid = graded
    problem = RankSVMProblem(X, Preferences.from_scores(y, qid), kernel="linear")
    solve = lambda **options: rb.solve(problem, 1.0, solver="coordinate", **options)
    assert not np.array_equal(solve().dual, solve(seed=5).dual)
    with pytest.warns(UserWarning, match="a larger max_passes than 3"):
        early = solve(max_passes=3)
    assert early.info["passes"] == 3 and not early.info["converged"]
    assert early.certificate.relative_gap > 1e-6


def test_what_would_not_fit_is_left_to_newton(graded, monkeypatch):
    X, y, qid = graded
    prefs, solver = Preferences.from_scores(y, qid), CoordinateSolver()
    problem = RankSVMProblem(X, prefs, kernel="linear")
    monkeypatch.setattr("rankbook.solvers.coordinate.solver.available_memory", lambda: 1000)
    assert "which newton counts" in solver.can_solve(problem)
    assert not prefs.is_listed


def test_far_items_and_copies():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(0, 3, (20, 4)), 2, axis=0) + 1e8
    y = rng.integers(0, 3, 40)
    for loss in ("hinge", "squared"):
        problem = RankSVMProblem(X, Preferences.from_scores(y), kernel="linear", loss=loss)
        assert rb.solve(problem, 0.5, solver="coordinate").certificate.relative_gap <= 1e-6


def test_multipliers_far_below_their_bound():
    problem = RankSVMProblem([[0.0], [1e5]], Preferences([1], [0], 2), kernel="linear")
    solution = rb.solve(problem, 1e-9, solver="coordinate")
    assert np.allclose(solution.weights, 1e-5, rtol=1e-12) and solution.info["passes"] == 1


def test_it_ends_where_rounding_leaves_no_step():
    X = 1e8 * np.random.default_rng(0).normal(size=(3, 2))
    cycle = Preferences([0, 1, 2], [1, 2, 0], 3).reweighted(np.full(3, 1e12))
    problem = RankSVMProblem(X, cycle, kernel="linear")
    solution = rb.solve(problem, 1.0, solver="coordinate")
    assert solution.info["passes"] < 100 and solution.certificate.is_optimal()


def test_conjugate_gradients_state_their_gain_up_to_the_first_bound(graded):
    X, y, qid = graded
    prefs = Preferences.from_scores(y, qid)
    s, order = make_dual(RankSVMProblem(X, prefs, kernel="linear"), 20.0)
    descend_groups(s, np.arange(16)[None], 1)
    D = X[prefs.better[order]] - X[prefs.worse[order]]
    value = lambda a: a.sum() - np.square(a @ D).sum() / (2 * 20.0)
    free = np.flatnonzero((s.dual > 0) & (s.dual < 1))
    places = np.unique(np.r_[s.better[free], s.worse[free]])
    r, p, out, step = np.zeros((4, free.size))
    far, near, gain = conjugate(s, free, places, r, p, out, step, True, 1000)
    reached = s.dual.copy()
    reached[free] += step + near * p
    assert 0 < near < far and reached.min() > -1e-12 and reached.max() < 1 + 1e-12
    assert min(reached[free].min(), 1 - reached[free].max()) < 1e-12
    assert value(reached) - value(s.dual) == pytest.approx(gain, rel=1e-9)
