"""The L1 penalty with squares: against cvxpy, scikit-learn and duality, on ties above all."""

import cvxpy as cp
import numpy as np
import pytest
from corpus import changed, real_data, sparse_corpus
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso, lars_path

import rankbook as rb
from rankbook.data.datasets import load
from rankbook.solvers.homotopy.solver import HomotopyPath

TOL = 1e-8
CORPUS = sparse_corpus()


def squared(X, prefs):
    return rb.RankSVMProblem(X, prefs, kernel="linear", penalty="l1", loss="squared")


def follow(problem, **options):
    """A path that says it is complete, continuous, and begins at lam_max."""
    m = len(problem.prefs) if hasattr(problem, "prefs") else 0
    path = rb.solve_path(
        problem, solver="homotopy", max_events=100 * (m + problem.n_coef), **options
    )
    assert isinstance(path, HomotopyPath) and path.status == "complete", (path, path.info)
    assert path.domain == (0.0, np.inf) and (np.diff(path.breakpoints) < 0).all()
    assert path.weights.shape == (path.breakpoints.size + 1, problem.n_coef)
    assert not path.weights[0].any()
    if path.breakpoints.size:
        assert path.breakpoints[0] == problem.lam_max and (path.breakpoints > 0).all()
    return path


def some_lams(path, count, seed=0, depth=1e-5):
    """Lambdas between breakpoints, and the breakpoints."""
    top = path.problem.lam_max or 1.0
    between = np.random.default_rng(seed).uniform(np.log(depth * top), np.log(1.2 * top), count)
    return np.r_[np.exp(between), path.breakpoints[path.breakpoints > depth * top]]


def check_duality(problem, lam, w):
    """Weak duality written down once more, with a row for each preference."""
    prefs = problem.prefs
    Z = prefs.incidence() @ (problem.X - problem.X[0])
    short = np.maximum(0, prefs.margin - Z @ w)
    a = 2 * prefs.weight * short
    strongest = np.abs(Z.T @ a).max(initial=0.0)
    a = a * min(1.0, lam / strongest) if strongest else a
    counted = prefs.weight > 0
    primal = lam * np.abs(w).sum() + prefs.weight @ short**2
    lower = a @ prefs.margin - (a[counted] ** 2 / prefs.weight[counted]).sum() / 4
    assert primal - lower <= TOL * max(1.0, primal), (lam / problem.lam_max, primal, lower)


def by_cvxpy(problem, lam):
    """The minimum by Clarabel, of the objective as it stands, in features of length 1."""
    prefs = problem.prefs
    Z = prefs.incidence() @ (problem.X - problem.X[0])
    unit = np.linalg.norm(Z, axis=0)
    unit = np.where(unit > 0, unit, 1.0)
    v, top = cp.Variable(Z.shape[1]), float(prefs.weight @ prefs.margin**2)
    short = cp.multiply(np.sqrt(prefs.weight / top), cp.pos(prefs.margin - (Z / unit) @ v))
    cost = lam / top * cp.norm1(cp.multiply(1 / unit, v)) + cp.sum_squares(short)
    tight = dict(tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)  # at 1e-12 it may give up
    cp.Problem(cp.Minimize(cost)).solve(solver="CLARABEL", **tight)
    return problem.primal(v.value / unit, lam)


@pytest.fixture(scope="module", params=CORPUS)
def path(request):
    return follow(squared(*CORPUS[request.param]))


def test_the_path_is_optimal_at_breakpoints_and_between(path, amount):
    for lam in some_lams(path, amount(15, 60)):
        solution = path.solution(lam)
        check_duality(path.problem, lam, solution.coef)
        assert solution.certificate.is_optimal(TOL), (lam, solution.certificate)


def test_the_minimum_is_that_of_cvxpy(path, amount):
    for share in amount((0.1,), (0.7, 0.1, 0.003)):
        lam = share * (path.problem.lam_max or 1.0)
        ours, theirs = path.certificate(lam).primal, by_cvxpy(path.problem, lam)
        assert ours <= theirs + TOL * max(1.0, theirs)
        assert theirs - ours <= 1e-6 * max(1.0, theirs)  # of what the interior point reaches


def test_one_lambda_is_a_point_of_the_path(path):
    for lam in some_lams(path, 3, seed=1, depth=1e-3)[:3]:
        found = rb.solve(path.problem, lam, solver="homotopy")
        assert found.certificate.is_optimal(TOL)
        primal = path.certificate(lam).primal
        assert found.certificate.primal == pytest.approx(primal, rel=TOL, abs=1e-12)


def test_a_hair_below_lam_max_nothing_has_happened(path):
    lam = np.nextafter(path.problem.lam_max or 1.0, 0.0)
    found = rb.solve(path.problem, lam, solver="homotopy")
    assert found.certificate.is_optimal(TOL) and np.abs(found.coef).max() < 1e-9


def test_scores_at_breakpoints_are_the_weights(path):
    X_new = np.random.default_rng(3).normal(size=(5, path.problem.n_coef))
    blocks = list(path.breakpoint_scores(X_new))
    lams = np.concatenate([lams for lams, _ in blocks])
    f = np.concatenate([f for _, f in blocks])
    assert lams[0] > path.problem.lam_max or path.problem.lam_max == 0
    assert lams[-1] == 0 and (np.diff(lams) < 0).all()
    differences = lambda f: f - f[:, :1]  # an offset is free
    expected = np.array([X_new @ path.weights_at(lam) for lam in lams])
    assert np.allclose(differences(f), differences(expected))


def test_the_end_is_the_hard_margin_of_the_hinge():
    for name in ("separable", "separable integers", "d > n", "one preference"):
        ends = [
            rb.solve_path(
                rb.RankSVMProblem(*CORPUS[name], kernel="linear", penalty="l1", loss=loss),
                solver=solver,
            ).solution(0)
            for loss, solver in (("squared", "homotopy"), ("hinge", "simplex"))
        ]
        for end in ends:
            assert end.certificate.is_optimal(1e-7), (name, end.certificate)
        assert ends[0].certificate.primal == pytest.approx(ends[1].certificate.primal, rel=1e-7)


def test_without_a_hard_margin_zero_is_refused():
    path = follow(squared(*CORPUS["copies that contradict"]))
    with pytest.raises(ValueError, match="lam is 0, and this path ends"):
        path.solution(0)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_any_small_integers(data):
    n, d = data.draw(st.integers(2, 7)), data.draw(st.integers(1, 4))
    m = data.draw(st.integers(1, 12))
    ints = lambda low, high, size: np.array(
        data.draw(st.lists(st.integers(low, high), min_size=size, max_size=size))
    )
    X, better = ints(-2, 2, n * d).reshape(n, d).astype(float), ints(0, n - 1, m)
    worse, weight = (better + ints(1, n - 1, m)) % n, ints(0, 2, m).astype(float)
    weight[0] = max(weight[0], 1.0)
    margin = ints(1, 3, m).astype(float)
    path = follow(squared(X, rb.Preferences(better, worse, n, weight, margin)))
    for lam in some_lams(path, 6):
        check_duality(path.problem, lam, path.coef(lam))


@real_data
def test_real_data(name, change):
    X, y = changed(name, 60, change)
    path = follow(squared(X, rb.Preferences.from_scores(y)))
    for lam in some_lams(path, 30)[:60]:
        check_duality(path.problem, lam, path.coef(lam))


# Least squares, against scikit-learn


def lasso_data(kind):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 6)), rng.normal(size=30)
    return {
        "plain": (X, y),
        "d > n": (rng.normal(size=(10, 25)), y[:10]),
        "far away": (X + 1e4, y - 1e3),
        "units of all sizes": (X * 10.0 ** np.arange(-3, 3), y),
        "correlated": (X @ rng.normal(size=(6, 6)) + X[:, :1], y),
    }[kind]


@pytest.mark.parametrize("kind", ["plain", "d > n", "far away", "units of all sizes", "correlated"])
def test_one_query_is_the_lasso_of_centred_data(kind):
    X, y = lasso_data(kind)
    n = len(y)
    path = follow(rb.RankRLSProblem(X, y, kernel="linear", penalty="l1"))
    alphas, _, coefs = lars_path(X - X.mean(0), y - y.mean(), method="lasso")
    lams = alphas[alphas > 1e-12 * alphas[0]] * 2 * n**2
    assert np.allclose(path.breakpoints[: lams.size], lams, rtol=TOL)
    scale = np.abs(coefs).max(axis=1)
    for lam, w in zip(alphas * 2 * n**2, coefs.T):
        if lam >= 1e-9 * path.problem.lam_max:
            assert (np.abs(path.weights_at(lam) - w) <= TOL * scale).all()
    for lam in some_lams(path, 20, depth=1e-4):  # far away, correlations round by 1e-13 lam_max
        assert path.certificate(lam).is_optimal(TOL)
    alpha = 0.1 * alphas[0]
    model = Lasso(alpha=alpha, tol=1e-14, max_iter=1_000_000).fit(X, y)
    coef = path.coef(alpha * 2 * n**2)
    assert path.problem.primal(coef, alpha * 2 * n**2) <= path.problem.primal(
        model.coef_, alpha * 2 * n**2
    ) * (1 + TOL)


def test_the_identity_is_the_lasso_without_an_intercept():
    X, y = lasso_data("plain")
    path = follow(rb.RankRLSProblem(X, y, graph="identity", kernel="linear", penalty="l1"))
    alphas, _, coefs = lars_path(X, y, method="lasso")
    assert np.allclose(path.breakpoints, alphas[:-1] * 60, rtol=TOL)
    assert np.allclose(path.weights, coefs.T, atol=TOL)


@pytest.mark.parametrize("kind", ["queries", "weights", "margins", "twins", "grid", "one each"])
def test_least_squares_on_any_graph(kind):
    rng = np.random.default_rng(2)
    X, y, qid = rng.normal(size=(20, 5)), rng.normal(size=20), rng.integers(0, 5, 20)
    arguments = dict(y=y, qid=qid)
    if kind == "weights":
        arguments = dict(y=y, qid=qid, item_weight=rng.integers(0, 3, 20).astype(float))
    if kind == "margins":
        margin = rng.integers(1, 4, 30).astype(float)
        better = rng.integers(0, 20, 30)
        worse = (better + rng.integers(1, 20, 30)) % 20
        weight = rng.uniform(1, 2, 30)
        arguments = dict(graph=rb.Preferences(better, worse, 20, weight, margin))
    if kind == "twins":
        X = np.c_[X, X, -X[:, :1]]
    if kind == "grid":
        X, arguments = np.round(X), dict(y=np.round(y), qid=qid)
    if kind == "one each":
        arguments = dict(y=y, qid=np.minimum(np.arange(20), 15))
    with pytest.warns() if kind in ("one each",) else pytest.MonkeyPatch.context():
        problem = rb.RankRLSProblem(X, kernel="linear", penalty="l1", **arguments)
    path = follow(problem)
    L = problem.graph.laplacian(np.eye(20))
    q = lambda w: 2 * X.T @ (problem.target.b[:, 0] - L @ (X @ w))
    for lam in some_lams(path, 30):
        w = path.coef(lam)
        assert (np.abs(q(w)) <= lam + TOL * problem.lam_max).all()
        used = w != 0
        assert np.allclose(q(w)[used], lam * np.sign(w[used]), atol=TOL * problem.lam_max)
        assert path.certificate(lam).is_optimal(TOL)


# The path as others use it


@pytest.mark.parametrize(
    "name", ["plain", "integer grid", "separable", "copies that contradict", "d > n"]
)
def test_the_validation_curve_by_brute_force(name):
    problem = squared(*CORPUS[name])
    path, rng = follow(problem), np.random.default_rng(5)
    X_val = rng.normal(size=(15, problem.n_coef))
    prefs = rb.Preferences.from_scores(rng.integers(0, 3, 15))
    curve = rb.validation_curve(path, X_val, prefs)
    for high, low, value in zip(curve.breaks, curve.breaks[1:], curve.values):
        top = min(high, 1.5 * problem.lam_max)
        if top - low > 1e-6 * problem.lam_max:
            for lam in (low + 0.01 * (top - low), (low + top) / 2, low + 0.99 * (top - low)):
                if lam > 0:
                    wrong = rb.metrics.disagreement(prefs, X_val @ path.coef(lam))
                    assert value == pytest.approx(wrong)


def test_a_path_may_end_early():
    problem = squared(*CORPUS["plain"])
    whole = follow(problem)
    lam_min = 0.1 * problem.lam_max
    part = rb.solve_path(problem, lam_min=lam_min, solver="homotopy")
    assert part.status == "lam_min" and part.domain[0] == lam_min
    assert np.array_equal(part.breakpoints, whole.breakpoints[whole.breakpoints > lam_min])
    with pytest.raises(ValueError, match="below the end of this path"):
        part.solution(0.9 * lam_min)
    for count in (0, 1, 7):
        short = rb.solve_path(problem, solver="homotopy", max_events=count)
        assert short.status == "max_events" and short.info["events"] == count
        end = short.domain[0]
        assert short.certificate(end).is_optimal(TOL)
    assert short.breakpoints[-1] == end and np.isclose(end, whole.breakpoints[7], rtol=1e-12)


def test_a_numerical_end_is_told(monkeypatch):
    from rankbook.solvers.homotopy import solver

    def lost(*args):
        raise ArithmeticError("the direction of the weights is lost")

    monkeypatch.setattr(solver, "weight_rates", lost)
    problem = squared(*CORPUS["plain"])
    path = rb.solve_path(problem, solver="homotopy")
    assert path.status == "numerical" and "is lost" in path.info["reason"]
    with pytest.raises(ArithmeticError, match="ended at lam"):
        rb.solve(problem, 0.5 * problem.lam_max, solver="homotopy")


def test_a_path_that_gets_nowhere_ends(monkeypatch):
    from rankbook.solvers.homotopy import solver

    monkeypatch.setattr(solver, "next_point", lambda piece, point, *_: (point, False))
    path = rb.solve_path(squared(*CORPUS["plain"]), solver="homotopy")
    assert path.status == "numerical" and "without progress" in path.info["reason"]


# The certificate must catch what is wrong


@pytest.mark.parametrize(
    "name", ["plain", "weighted copies", "integer margins on a grid", "queries"]
)
def test_every_mutation_is_caught(name):
    problem = squared(*CORPUS[name])
    lam = 0.1 * problem.lam_max
    right = rb.solve(problem, lam, solver="homotopy")
    for i in np.flatnonzero(right.dual):
        dual = right.dual.copy()
        dual[i] *= -1
        found = problem.certificate(lam, right.coef, dual)
        assert not found.is_optimal(min(1e-6, found.box_violation / 2))
        assert found.dual <= right.certificate.primal * (1 + 1e-12)
    for j in range(problem.n_coef):
        for change in (-2 * right.coef[j], 0.1, -0.1, -right.coef[j]):
            if change:
                w = right.coef.copy()
                w[j] += change
                for dual in (None, right.dual):
                    found = problem.certificate(lam, w, dual)
                    assert found.primal > right.certificate.primal
                    assert found.dual <= right.certificate.primal * (1 + 1e-12)
                    assert not found.is_optimal(1e-9)


def test_without_multipliers_nothing_is_listed():
    X, y = CORPUS["plain"][0], np.arange(16) % 3
    problem = squared(X, rb.Preferences.from_scores(y))
    w = 0.1 * np.ones(4)
    found = problem.certificate(1.0, w)
    assert not problem.prefs.is_listed
    slopes = 2 * np.maximum(0, 1 - problem.prefs.matvec(X @ w))
    assert problem.certificate(1.0, w, slopes).dual == pytest.approx(found.dual)


# Who takes it


def test_auto_takes_it_and_others_refuse():
    problem = squared(*CORPUS["plain"])
    assert rb.solve(problem, 1.0, solver="auto").solver.startswith("homotopy")
    assert rb.solve_path(problem, 1.0, solver="auto").solver.startswith("homotopy")
    X, y = lasso_data("plain")
    lasso = rb.RankRLSProblem(X, y, kernel="linear", penalty="l1")
    with pytest.raises(ValueError, match="which rankbook's own solvers homotopy and qp take"):
        rb.solve(lasso, 1.0, solver="rls")


def test_the_estimators():
    data = load("cancer")
    X, y = data.X[:80] / data.X[:80].std(0), data.y[:80]
    options = dict(kernel="linear", penalty="l1")
    model = rb.RankSVM(lam=200.0, loss="squared", **options).fit(X, y)
    assert model.solver_.startswith("homotopy") and model.certificate_.is_optimal(TOL)
    assert 0 < np.count_nonzero(model.coef_) < X.shape[1]
    chosen = rb.RankSVMCV(cv=3, loss="squared", lam_min_ratio=1e-2, **options).fit(X, y)
    assert chosen.path_solver_.startswith("homotopy") and chosen.certificate_.is_optimal(TOL)
    assert chosen.curve_.minimum <= chosen.curve_.values[0]
    squares = rb.RankRLS(lam=2000.0, **options).fit(X, X[:, 0])
    assert squares.solver_.startswith("homotopy") and squares.certificate_.is_optimal(TOL)
    assert np.flatnonzero(squares.coef_)[0] == 0
    for wrong, words in (
        (dict(kernel="rbf"), "penalty is 'l1' and kernel is 'rbf'"),
        (dict(basis=3), "penalty is 'l1' and basis is given"),
        (dict(penalty="l3"), "penalty is 'l3'"),
    ):
        with pytest.raises(ValueError, match=words):
            rb.RankRLS(**(options | wrong)).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="penalty is 'l1' and y has shape"):
        rb.RankRLS(**options).fit(X, X[:, :2])
    with pytest.raises(ValueError, match="iterator and penalty is 'l1'"):
        rb.RankRLS(**options).fit(iter([(X, X[:, 0])]))
    assert not hasattr(rb.RankRLS(**options), "partial_fit")


@pytest.mark.parametrize("lam", [10.0, 1e300])
def test_equal_rows_have_a_bound_without_a_warning(lam):
    problem = rb.RankSVMProblem(
        np.ones((3, 1)),
        rb.Preferences.from_scores([4, 4, 2]),
        kernel="linear",
        loss="squared",
        penalty="l1",
    )
    proof = rb.solve(problem, lam).certificate
    assert np.allclose([proof.primal, proof.dual], 2, rtol=1e-12)
