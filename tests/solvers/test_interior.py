"""The interior point against the exact path and the quadratic program, on what breaks methods."""

import warnings

import numpy as np
import pytest
from corpus import degenerate
from scipy.sparse import csr_array

import rankbook as rb
from rankbook.base import limits, numerics
from rankbook.kernels.nystroem import low_rank_factor
from rankbook.solvers.interior import systems
from rankbook.solvers.interior.systems import (
    BlockLaplacian,
    FactorSystem,
    GramSystem,
    Pairs,
    SparseLaplacian,
    cholesky_of_sum,
    system_of,
)

LAMS = (1e5, 100.0, 1.0, 0.01)


def preferences():
    rng = np.random.default_rng(1)
    scores, levels = rb.Preferences.from_scores, rng.integers(0, 3, 24)
    full = scores(levels)
    return dict(
        one_query=full,
        queries=scores(levels, np.arange(24) % 5),
        star=scores(rng.normal(size=24), graph="star"),
        cycle=rb.Preferences([0, 1, 2, 3, 3], [1, 2, 0, 9, 9], 24),
        weights=full.reweighted(
            np.where(rng.random(len(full)) < 0.2, 0, 10 ** rng.uniform(-4, 4, len(full))),
            10 ** rng.uniform(-2, 2, len(full)),
        ),
        item_weights=full.item_weighted(rng.integers(0, 3, 24)),
    )


PREFERENCES = preferences()
ITEMS = degenerate(np.random.default_rng(0))


@pytest.mark.parametrize("kernel", ["linear", "rbf", pytest.param("poly", marks=pytest.mark.slow)])
@pytest.mark.parametrize("graph", PREFERENCES)
@pytest.mark.parametrize("name", ITEMS)
def test_it_equals_the_path(name, graph, kernel, amount):
    X = ITEMS[name]
    if kernel == "poly":  # third powers of large numbers leave no digits, to the path neither
        X = (X - X.mean(axis=0)) / max(1, np.ptp(X))
    problem = rb.RankSVMProblem(X, PREFERENCES[graph], kernel=kernel)
    path = rb.solve_path(problem)
    for lam in amount((100.0, 0.01), LAMS):
        answer, reference = rb.solve(problem, lam, solver="interior"), path.certificate(lam)
        assert answer.certificate.relative_gap <= 1e-8 and answer.certificate.box_violation == 0
        ours, theirs = (c.primal - c.rounding for c in (answer.certificate, reference))  # computed
        assert abs(ours - theirs) <= (1e-8 + reference.relative_gap) * max(1.0, theirs)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("graph", PREFERENCES)
@pytest.mark.parametrize("name", ITEMS)
@pytest.mark.filterwarnings("ignore:the solver 'qp .* reached a relative gap")
def test_the_squared_hinge_equals_the_quadratic_program(name, graph, kernel, amount):
    problem = rb.RankSVMProblem(ITEMS[name], PREFERENCES[graph], kernel=kernel, loss="squared")
    for lam in amount((0.1,), (10.0, 0.1)):
        answer = rb.solve(problem, lam, solver="interior")
        assert answer.certificate.relative_gap <= 1e-8
        reference = rb.solve(problem, lam, solver="qp").certificate
        assert abs(answer.certificate.primal - reference.primal) <= (
            1e-7 + abs(reference.relative_gap)
        ) * max(1.0, reference.primal)


@pytest.mark.parametrize("seed", range(12))
def test_random_pairs_weights_and_margins(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 40)), int(rng.integers(1, 200))
    better = rng.integers(0, n, m)
    prefs = rb.Preferences(
        better,
        (better + rng.integers(1, n, m)) % n,
        n,
        rng.integers(0, 3, m) + np.eye(m)[0],
        rng.choice([0.5, 1.0, 2.0], m),
    )
    X = rng.normal(size=(n, int(rng.integers(1, 6)))).round(int(rng.integers(0, 3)))
    problem = rb.RankSVMProblem(X, prefs, kernel=("linear", "rbf")[seed % 2])
    for lam in 10 ** rng.uniform(-3, 3, 3):
        answer = rb.solve(problem, lam, solver="interior")
        assert answer.certificate.relative_gap <= 1e-8
        exact = rb.solve(problem, lam, solver="path").certificate
        assert abs(answer.certificate.primal - exact.primal) <= 2e-8 * max(1, exact.primal)


def test_both_systems_solve_the_same_equation():
    rng = np.random.default_rng(0)
    prefs = rb.Preferences.from_scores(rng.integers(0, 4, 50), np.arange(50) % 4)
    X = rng.normal(size=(50, 3))
    pairs = Pairs(prefs.better, prefs.worse, 50)
    d, r = 10.0 ** rng.uniform(-6, 6, len(prefs)), rng.normal(size=len(prefs))
    P, K = prefs.incidence().toarray(), X @ X.T
    exact = np.linalg.solve(np.diag(d) + P @ K @ P.T, r)
    for system in (FactorSystem(X, pairs), GramSystem(K, 1.0, pairs)):
        system.weigh(1 / d)
        df = system.solve(system.project(pairs.gather(r / d)), 1e-8)[1]
        assert np.allclose((r - P @ df) / d, exact, rtol=1e-5, atol=1e-6 * np.abs(exact).max())


def test_laplacians_of_repeated_and_reversed_pairs_agree():
    rng = np.random.default_rng(0)
    better = rng.integers(0, 30, 500)
    pairs = Pairs(better, (better + rng.integers(1, 30, 500)) % 30, 33)
    weight, products = 10 ** rng.uniform(-5, 5, 500), []
    for kind in (BlockLaplacian, SparseLaplacian):
        laplacian = kind(pairs)
        laplacian.weigh(weight)
        products.append(laplacian.matmat(np.eye(33)))
    assert np.allclose(products[0], products[1], rtol=1e-12, atol=1e-12 * weight.max())
    assert np.abs(products[0].sum(axis=0)).max() <= 1e-10 * weight.max()


@pytest.mark.parametrize("n, d", [(60, 1), (200, 2), (150, 20)])
def test_a_low_rank_factor_is_the_matrix(n, d):
    X = np.random.default_rng(d).normal(size=(n, d)).round(1)
    K = np.exp(-np.sum((X[:, None] - X) ** 2, axis=2) / d)
    Z, pivots = low_rank_factor(K)
    assert np.abs(Z @ Z.T - K).max() < 1e-13 and np.unique(pivots).size == pivots.size
    assert np.array_equal(Z[pivots], np.tril(Z[pivots]))
    assert low_rank_factor(K, max_rank=pivots.size - 1) is None
    assert low_rank_factor(K, max_rank=pivots.size)[0].shape == Z.shape
    assert low_rank_factor(np.zeros((n, n)))[0].shape == (n, 0)


def test_what_rounding_made_indefinite_is_mended_and_nothing_else():
    assert np.isfinite(
        cholesky_of_sum(lambda: np.array([[1e30, 1e30], [1e30, 1e30 * (1 - 1e-15)]]))[0]
    ).all()
    with pytest.raises(ArithmeticError, match="not positive definite"):
        cholesky_of_sum(lambda: np.diag([1.0, -1e20]))


def test_a_thin_kernel_is_solved_by_its_factor_and_its_answer_has_coefficients():
    X = np.random.default_rng(0).normal(size=(300, 1))
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(np.sin(3 * X[:, 0]).round(1)))
    answer = rb.solve(problem, 0.1, solver="interior")
    assert answer.info["unknowns"] < 60 and answer.certificate.is_optimal(1e-7)
    path = rb.solve(problem, 0.1, solver="path")
    assert np.ptp(problem.matvec(answer.coef - path.coef)) < 1e-3
    pairs = Pairs(problem.prefs.better, problem.prefs.worse, 300)
    assert isinstance(system_of(problem, 1.0, pairs)[0], FactorSystem)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_a_start_saves_steps_and_gives_the_same_answer(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    prefs = rb.Preferences.from_scores((X[:, 0] + rng.normal(size=150)).round(), np.arange(150) % 5)
    problem = rb.RankSVMProblem(X, prefs, loss=loss)
    cold = warm = 0
    last = None
    for lam in np.geomspace(1000, 0.1, 12):
        alone = rb.solve(problem, lam, solver="interior")
        last = rb.solve(problem, lam, solver="interior", start=last)
        assert last.certificate.relative_gap <= 1e-8
        assert np.isclose(last.certificate.primal, alone.certificate.primal, rtol=2e-8)
        cold, warm = cold + alone.info["steps"], warm + last.info["steps"]
    assert warm < 0.95 * cold


@pytest.mark.parametrize("lam", [10.0, 1e-3, 1e-9])
def test_a_start_that_meets_every_margin_is_no_end(lam):
    problem = rb.RankSVMProblem([[0.0, 1.0], [2.0, 5.0]], rb.Preferences([1], [0], 2), "linear")
    answer = rb.solve(problem, lam, solver="interior")
    exact = rb.solve(problem, lam, solver="path").certificate
    assert abs(answer.certificate.primal - exact.primal) <= 1e-12
    assert answer.certificate.relative_gap <= 1e-12


def test_refusals():
    problem = rb.RankSVMProblem(ITEMS["generic"], PREFERENCES["one_query"])
    with pytest.raises(ValueError, match="lam is 0"):
        rb.solve(problem, 0, solver="interior")
    other = rb.RankSVMProblem(ITEMS["generic"][:9], rb.Preferences([0], [1], 9))
    start = rb.solve(other, 1.0, solver="interior")
    with pytest.raises(ValueError, match=r"start has coefficients of shape \(9,\)"):
        rb.solve(problem, 1.0, solver="interior", start=start)


def test_too_large_is_refused_before_any_work(monkeypatch):
    problem = rb.RankSVMProblem(ITEMS["generic"], PREFERENCES["one_query"])
    monkeypatch.setattr(limits, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="an interior point of .* preferences and 24 items needs"):
        rb.solve(problem, 1.0, solver="interior")


def test_an_optimum_far_below_the_start_is_reached():
    rng = np.random.default_rng(305)
    X, y, qid = rng.normal(size=(5, 5)), [2, 0, 1, 2, 2], [0, 0, 1, 0, 0]
    prefs = rb.Preferences.from_scores(y, qid).item_weighted([225.0, 293.0, 379.0, 162.0, 802.0])
    problem = rb.RankSVMProblem(X, prefs)
    for lam in (1e-3, 1e-5, 1e-6):  # down to 2e-12 of lam_max
        found = rb.solve(problem, lam, solver="interior").certificate
        exact = rb.solve(problem, lam, solver="path").certificate
        ours, theirs = (c.primal - c.rounding for c in (found, exact))  # computed
        assert ours == pytest.approx(theirs, rel=1e-7)


def test_a_step_that_breaks_down_is_no_warning():
    x = np.array([[0.0], [1], [0], [0], [1]])
    prefs = rb.Preferences([4, 4, 4], [0, 2, 3], 5, margin=[2.0, 2, 2])
    problem = rb.RankSVMProblem(x @ x.T, prefs, kernel="precomputed")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = rb.solve(problem, 0.3499999990412683, solver="interior")
    assert answer.certificate.relative_gap < 1e-7


def test_far_below_lam_max_it_goes_on_until_it_is_there():
    """Margins by difference with little noise: 123 steps at 6e-11 of lam_max."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    y = X @ rng.normal(size=10) + 0.1 * rng.normal(size=400)
    prefs = rb.Preferences.from_scores(y, margin="difference")
    problem = rb.RankSVMProblem(X, prefs, kernel="linear")
    assert rb.solve(problem, 0.01, solver="interior").certificate.relative_gap < 1e-8


@pytest.mark.parametrize("share", [1e-2, 1e-4, 1e-5])
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-4, 1e-6])
def test_a_loose_tolerance_is_kept_at_small_lambdas(share, tol):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.round(X @ [1, -1, 0.5, 0] + 0.7 * rng.normal(size=300))
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), kernel="linear")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = rb.solve(problem, share * problem.lam_max, solver=("interior", dict(tol=tol)))
    assert found.certificate.relative_gap <= tol


def test_multipliers_at_a_bound_are_the_bound():
    rng = np.random.default_rng(0)
    prefs = rb.Preferences.from_scores(rng.integers(0, 3, 25))
    prefs = prefs.reweighted(rng.uniform(0.5, 4, len(prefs)))
    problem = rb.RankSVMProblem(rng.normal(size=(25, 2)), prefs)
    dual = rb.solve(problem, 10.0, solver="interior", tol=1e-6).dual
    free = (dual > 0) & (dual < prefs.weight)
    assert (dual == 0).any() and (dual == prefs.weight).any() and free.sum() < 25


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("graph", ["queries", "star", "weights"])
@pytest.mark.parametrize("d", [3, 60])
def test_sparse_and_single_items_have_the_solution_of_their_dense_copy(d, graph, loss):
    rng = np.random.default_rng(d)
    X = (
        np.where(rng.random((24, d)) < 0.3, rng.normal(size=(24, d)).round(1), 0)
        + 4.0 * np.eye(d)[0]
    )
    X = X.astype(np.float32)
    for lam in (10.0, 1e-3):
        problems = [
            rb.RankSVMProblem(items, PREFERENCES[graph], kernel="linear", loss=loss)
            for items in (X.astype(np.float64), X, csr_array(X), csr_array(X.astype(np.float64)))
        ]
        found = [rb.solve(problem, lam, solver="interior") for problem in problems]
        assert all(answer.certificate.relative_gap <= 1e-8 for answer in found)
        values = [answer.certificate.primal for answer in found]
        assert np.ptp(values) <= 2e-8 * max(1, values[0])
        if d == 60:
            assert {answer.info["unknowns"] for answer in found} < set(range(24))


CLOSE = "generic", "duplicates", "grid", "rank_one", "wide", "far"


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("graph", ["one_query", "queries", "weights"])
@pytest.mark.parametrize("name", CLOSE)
def test_single_precision_reaches_the_same_gap(name, graph, loss, monkeypatch):
    monkeypatch.setattr(systems, "SMALL", 4)
    problem = rb.RankSVMProblem(ITEMS[name], PREFERENCES[graph], loss=loss)
    for lam in (100.0, 0.01):
        assert rb.solve(problem, lam, solver="interior").certificate.relative_gap <= 1e-8


@pytest.mark.parametrize("share", [1e-2, 1e-5])
def test_more_than_a_thousand_items_keep_to_single_precision(share, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 8))
    prefs = rb.Preferences.from_scores(
        (X[:, 0] + rng.normal(size=1100)).round(), np.arange(1100) % 55
    )
    problem = rb.RankSVMProblem(X, prefs)
    went = []
    monkeypatch.setattr(
        GramSystem, "go_double", lambda self, go=GramSystem.go_double: went.append(go(self))
    )
    lam = share * problem.lam_max
    ours = rb.solve(problem, lam, solver="interior")
    assert ours.info["unknowns"] == 1045 and ours.certificate.relative_gap <= 1e-8
    monkeypatch.setattr(systems, "SMALL", 10**6)
    exact = rb.solve(problem, lam, solver="interior")
    assert ours.info["steps"] <= exact.info["steps"] + 2 and len(went) <= 1
    assert ours.certificate.primal == pytest.approx(exact.certificate.primal, rel=2e-8)


def test_a_cholesky_factor_in_panels_is_the_factor(monkeypatch):
    A = np.random.default_rng(0).normal(size=(50, 50))
    A = A @ A.T
    for panel in (7, 50, 512):
        monkeypatch.setattr(numerics, "PANEL", panel)
        L = A.copy()
        numerics.cholesky_in_place(L)
        assert np.allclose(np.tril(L), np.linalg.cholesky(A), rtol=1e-9)


@pytest.mark.parametrize("seed", [2, 5, 7])
def test_a_full_step_stays_inside_the_box(seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.integers(-1e6, 1e6, (3, 4)), rng.integers(1, 4, 2)
    prefs = rb.Preferences([0, 2], [1, 1], 3).reweighted(weight)
    problem = rb.RankSVMProblem(X, prefs, kernel="linear")
    assert rb.solve(problem, 1e-6, solver="interior").certificate.is_optimal()


def test_far_columns_of_sparse_items_that_are_borrowed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 30))
    y, X[:, 0] = X[:, 1] + rng.normal(size=40), X[:, 0] + 1e6
    prefs = rb.Preferences.from_scores(y)
    problem = rb.RankSVMProblem(csr_array(X), prefs, kernel="linear", copy=False)
    assert rb.solve(problem, 1.0, solver="interior").certificate.is_optimal()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_features_of_any_size_are_solved_without_another_solver(loss, scale):
    other = "path" if loss == "hinge" else "newton"
    for seed in range(12):  # some with fewer items than features
        rng = np.random.default_rng(seed)
        n, d, m = rng.integers(4, 14), rng.integers(1, 10), rng.integers(1, 30)
        better = rng.integers(0, n, m)
        prefs = rb.Preferences(better, (better + rng.integers(1, n, m)) % n, n_items=n)
        problem = rb.RankSVMProblem(scale * rng.normal(size=(n, d)), prefs, "linear", loss=loss)
        for lam in (1.0, 1e-3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = rb.solve(problem, lam, solver="interior").certificate
                reference = rb.solve(problem, lam, solver=other).certificate
            assert answer.relative_gap <= 1e-7
            assert abs(answer.primal - reference.primal) <= 2e-6 * max(1.0, reference.primal)


def test_a_far_point_is_not_the_best_because_its_relative_gap_is_one():
    rng = np.random.default_rng(800)
    X, better = 1e4 * rng.normal(size=(8, 5)), rng.integers(0, 8, 14)
    prefs = rb.Preferences(better, (better + rng.integers(1, 8, 14)) % 8, n_items=8)
    problem = rb.RankSVMProblem(X, prefs, kernel="linear")
    answer = rb.solve(problem, 1e-3, solver="interior").certificate
    exact = rb.solve(problem, 1e-3, solver="path").certificate
    assert answer.is_optimal(1e-8) and np.isclose(answer.primal, exact.primal, rtol=1e-9)
