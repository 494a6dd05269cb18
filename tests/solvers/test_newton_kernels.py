"""Newton's method with kernels against cvxpy, and its paths against the library's certificate."""

import cvxpy as cp
import numpy as np
import pytest

import rankbook as rb
from rankbook.base.limits import OutOfMemory
from rankbook.solvers.newton.solver import PIVOT_RTOL, FactoredProblem


def items(name):
    """Items (40, d) and grades by the name of what is special about them."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    y = np.digitize(X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=40), [-1, 0, 1])
    X = dict(
        plain=X,
        copies=np.repeat(X[:10], 4, axis=0),
        grid=rng.integers(0, 2, (40, 3)).astype(float),
        line=np.outer(np.arange(40.0), [1.0, 2.0, 0.0]) / 40,
    )[name]
    return X, y


def build(name, kernel, loss):
    X, y = items(name)
    options = dict(wide=dict(gamma=1e-6), narrow=dict(gamma=1e4), rbf=dict(gamma=0.5))
    if kernel == "precomputed":
        X, chosen = X @ X.T, dict(kernel=kernel)
    elif kernel == "callable":
        chosen = dict(kernel=lambda A, B: np.exp(-np.abs(A[:, None] - B[None]).sum(axis=2)))
    else:
        chosen = options.get(kernel) or dict(kernel=kernel)
    prefs = rb.Preferences.from_scores(y, np.arange(40) % 3)
    return rb.RankSVMProblem(X, prefs, loss=loss, **chosen)


def minimum(problem, lam):
    """The minimum by cvxpy, from an eigendecomposition of the kernel matrix and listed pairs."""
    values, V = np.linalg.eigh(problem.gram)
    Phi = V * np.sqrt(np.maximum(values, 0))
    prefs, w = problem.prefs, cp.Variable(len(values))
    rise = (Phi[prefs.better] - Phi[prefs.worse]) @ w
    if problem.loss.name == "squared":
        costs = cp.square(cp.pos(1 - rise))
    else:
        costs = cp.logistic(-rise)
    program = cp.Problem(cp.Minimize(lam / 2 * cp.sum_squares(w) + prefs.weight @ costs))
    tight = dict(tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return program.solve(solver="CLARABEL", **tight)


LOSSES = ("squared", "logistic")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", ["rbf", "wide", "narrow", "poly", "precomputed", "callable"])
@pytest.mark.parametrize("name", ["plain", "copies", "grid", "line"])
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_kernels_equal_cvxpy(name, kernel, loss):
    problem = build(name, kernel, loss)
    for lam in (10.0, 0.1):
        found = rb.solve(problem, lam, solver="newton", tol=1e-9).certificate
        assert found.relative_gap < 1e-8
        assert found.primal == pytest.approx(minimum(problem, lam), rel=1e-8, abs=1e-8)


def test_a_warm_start_with_a_kernel_needs_fewer_steps():
    problem = build("plain", "rbf", "squared")
    first = rb.solve(problem, 1.0, solver="newton")
    again = rb.solve(problem, 0.9, solver="newton", start=first)
    assert again.info["steps"] < rb.solve(problem, 0.9, solver="newton").info["steps"]


def test_items_that_the_kernel_cannot_tell_apart():
    problem = rb.RankSVMProblem(
        np.ones((4, 2)), rb.Preferences.from_scores([0, 1, 0, 1]), loss="squared"
    )
    found = rb.solve(problem, 1.0, solver="newton")
    assert not found.predict(problem.X).any() and found.certificate.relative_gap == 0
    path = rb.solve_path(problem, 0.1, solver="newton")
    assert not path.predict(problem.X, 1.0).any() and path.certificate(1.0).relative_gap == 0
    assert path.resume(1e-3).certificate(1e-3).relative_gap == 0


def test_memory_is_looked_at_first(monkeypatch):
    problem = build("plain", "rbf", "squared")
    monkeypatch.setattr("rankbook.base.limits.available_memory", lambda: 32 * 40**2 - 1)
    with pytest.raises(OutOfMemory, match="Use approximate_kernel, or fewer items"):
        FactoredProblem(problem)


def test_the_factor_keeps_the_rank():
    assert FactoredProblem(build("line", "precomputed", "squared")).X.shape[1] == 1
    assert FactoredProblem(build("copies", "rbf", "squared")).X.shape[1] <= 10
    assert PIVOT_RTOL < 1e-14


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_the_gap_is_small_everywhere_on_a_path(kernel, loss, tmp_path):
    problem, rng = build("plain", kernel, loss), np.random.default_rng(0)
    path = rb.solve_path(problem, solver="newton")
    low, high = path.domain[0], 1e3 * path.breakpoints[0]
    lams = np.exp(rng.uniform(np.log(low), np.log(high), 300))
    assert max(path.certificate(lam).relative_gap for lam in lams) <= 1e-3
    assert max(lams) > path.breakpoints[0]
    for lam in lams[:3]:  # the objective is near that of a solution there
        alone = rb.solve(problem, lam, solver="newton", tol=1e-9).certificate.primal
        assert path.certificate(lam).primal <= alone + 1e-3 * max(1.0, alone)
    file = tmp_path / "kept.rankbook"
    path.save(file)
    again = rb.load(file)
    assert np.array_equal(
        again.predict(problem.X[:5], low * 2), path.predict(problem.X[:5], low * 2)
    )
    longer = again.resume(low / 10)
    assert (
        max(longer.certificate(lam).relative_gap for lam in low * rng.uniform(0.1, 1, 50)) <= 1e-3
    )


def test_a_curve_over_a_path_with_a_kernel():
    X, y = items("plain")
    problem = build("plain", "rbf", "squared")
    path = rb.solve_path(problem, solver="newton")
    curve = rb.validation_curve(path, X, y)
    for lam in np.geomspace(path.domain[0] * 1.01, path.breakpoints[0] * 2, 20):
        assert curve.at(lam) == pytest.approx(rb.disagreement(y, path.predict(X, lam)), abs=1e-12)


def orders(ties="breslow"):
    """Ten orders of some of twenty items, with ties and first places, and their features."""
    rng = np.random.default_rng(5)
    X, ranked = rng.normal(size=(20, 3)), []
    for _ in range(10):
        some = rng.permutation(20)[:6].tolist()
        ranked.append([some[0], some[1:3], *some[3:]])
    return X, rb.Orders.from_rankings(
        ranked, n_items=20, top=rng.integers(1, 7, 10), weight=rng.uniform(0.5, 2, 10), ties=ties
    )


@pytest.mark.parametrize("ties", ["breslow", "efron"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_plackett_luce_equals_exponential_cones(kernel, ties):
    X, target = orders(ties)
    X = np.exp(-np.abs(X[:, None] - X[None]).sum(axis=2)) if kernel == "precomputed" else X
    problem = rb.RankSVMProblem(X, target, kernel=kernel, loss="plackett-luce")
    for lam in (10.0, 0.1):
        found = rb.solve(problem, lam, solver="newton", tol=1e-9).certificate
        reference = rb.solve(problem, lam, solver="qp").certificate
        assert found.relative_gap < 1e-8
        assert found.primal == pytest.approx(reference.primal, rel=1e-8)


def test_survival_times_equal_exponential_cones():
    X, rng = orders()[0], np.random.default_rng(0)
    target = rb.Orders.from_survival(
        rng.integers(1, 8, 20), rng.random(20) < 0.7, rng.integers(0, 2, 20), rng.uniform(1, 2, 20)
    )
    problem = rb.RankSVMProblem(X, target, gamma=0.3, loss="plackett-luce")
    found = rb.solve(problem, 0.1, tol=1e-9).certificate.primal
    assert found == pytest.approx(rb.solve(problem, 0.1, solver="qp").certificate.primal, rel=1e-8)


@pytest.mark.parametrize("solver", ["newton", "epsilon"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_paths_of_plackett_luce(kernel, solver, tmp_path):
    X, target = orders()
    problem = rb.RankSVMProblem(X, target, kernel=kernel, loss="plackett-luce")
    rng = np.random.default_rng(0)
    path = rb.solve_path(problem, solver=solver)
    low, high = path.domain[0], 1e3 * path.breakpoints[0]
    lams = np.exp(rng.uniform(np.log(low), np.log(high), 300))
    assert max(path.certificate(lam).relative_gap for lam in lams) <= 1e-3
    file = tmp_path / "orders.rankbook"
    path.save(file)
    again = rb.load(file)
    assert np.array_equal(again.coef(2 * low), path.coef(2 * low))
    assert again.certificate(2 * low) == path.certificate(2 * low)
    curve = rb.validation_curve(path, X, target)
    for lam in lams[:20]:
        scores = path.predict(X, lam)
        assert curve.at(lam) == pytest.approx(rb.disagreement(target, scores), abs=1e-12)


def test_one_order_of_many_items():
    rng = np.random.default_rng(0)
    X, target = rng.normal(size=(300, 4)), rb.Orders.from_rankings([rng.permutation(300).tolist()])
    problem = rb.RankSVMProblem(X, target, loss="plackett-luce")
    assert rb.solve(problem, 0.1).certificate.relative_gap < 1e-8
