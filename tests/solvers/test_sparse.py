"""The solver "sparse": against loops, scikit-learn, cvxpy and the exact path; odd data; paths."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import rankbook as rb
from rankbook.problems.sparse_bounds import ElasticNet
from rankbook.solvers.sparse.solver import SparseSolver
from rankbook.solvers.sparse.steps import Follower

RNG = np.random.default_rng(0)
N, D = 40, 60
X = np.round(2 * RNG.normal(size=(N, D)))
GRADES = np.digitize(X[:, 1] + X[:, 2] - X[:, 3] + 2 * RNG.normal(size=N), [-3, 0, 3])
TIMES = np.ceil(8 * RNG.exponential(np.exp(-0.3 * X[:, 1])))
EVENTS = RNG.random(N) < 0.6
PAIRS = np.argwhere(GRADES[:, None] > GRADES[None, :])[::5]
WEIGHTS = RNG.uniform(0, 2, N) * (RNG.random(N) > 0.1)
TARGETS = dict(
    counted=(rb.Preferences.from_scores(GRADES, qid=np.arange(N) % 2), "logistic"),
    weighted=(rb.Preferences.from_scores(GRADES).item_weighted(WEIGHTS), "logistic"),
    listed=(rb.Preferences(*PAIRS.T, N, RNG.uniform(0, 2, len(PAIRS))), "logistic"),
    squared=(rb.Preferences.from_scores(GRADES), "squared"),
    listed_squared=(rb.Preferences(*PAIRS.T, N), "squared"),
    orders=(rb.Preferences.from_scores(GRADES), "plackett-luce"),
    breslow=(rb.Orders.from_survival(TIMES, EVENTS, qid=np.arange(N) % 2), "plackett-luce"),
    efron=(rb.Orders.from_survival(TIMES, EVENTS, weight=WEIGHTS + 0.1, ties="efron"),)
    + ("plackett-luce",),
)


def problem_of(name, penalty="l1", X=X, **options):
    target, loss = TARGETS[name]
    return rb.RankSVMProblem(X, target, kernel="linear", loss=loss, penalty=penalty, **options)


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("penalty", ["l1", ElasticNet(0.3)])
@pytest.mark.parametrize("signed", [False, True])
def test_solutions_are_certified_along_lambda(name, penalty, signed):
    signs = np.resize([1, -1, 0], D) if signed else None
    problem = problem_of(name, penalty, signs=signs)
    follower = Follower(problem)
    for share in np.geomspace(1, 0.02, 12):
        gap = follower.minimise(share * problem.lam_max, 1e-8)
        w = follower.coef
        assert gap <= 1e-8 and problem.certificate(share * problem.lam_max, w).is_optimal(1.1e-8)
        assert share < 1 or not w.any()
        assert signs is None or (signs * w >= 0).all()


def cox_loss(w, X, ties):
    """Minus the log-likelihood and its gradient by loops, for scores that are minus log hazards."""
    eta, loss, slope = -X @ w, 0.0, np.zeros(X.shape[1])
    for t in np.unique(TIMES[EVENTS]):
        risk, dead = TIMES >= t, (TIMES == t) & EVENTS
        if risk.sum() < 2:
            continue
        d = dead.sum()
        for k in range(d):
            p = np.exp(eta) * (risk - (k / d if ties == "efron" else 0.0) * dead)
            loss += np.log(p.sum())
            slope -= X.T @ (p / p.sum())
        loss -= eta[dead].sum()
        slope += X[dead].sum(axis=0)
    return loss, slope


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_cox_equals_proximal_gradient_descent_on_loops(ties):
    few = X[:, :6] / 2
    orders = rb.Orders.from_survival(TIMES, EVENTS, ties=ties)
    problem = rb.RankSVMProblem(few, orders, kernel="linear", loss="plackett-luce", penalty="l1")
    lam = 0.3 * problem.lam_max
    w, step = np.zeros(6), 0.002
    for _ in range(4000):
        v = w - step * cox_loss(w, few, ties)[1]
        w = np.sign(v) * np.maximum(np.abs(v) - lam * step, 0.0)
    found = rb.solve(problem, lam).weights
    assert np.allclose(found, w, atol=1e-6) and 0 < np.count_nonzero(found) < 6
    value = lambda w: lam * np.abs(w).sum() + cox_loss(w, few, ties)[0]
    assert np.isclose(problem.primal(w, lam), value(w), rtol=1e-10)
    assert value(found) <= value(w) + 1e-9


@pytest.mark.filterwarnings("ignore:'penalty' was deprecated")
@pytest.mark.filterwarnings("ignore:Inconsistent values")
def test_pairs_equal_logistic_regression_on_differences():
    from sklearn.linear_model import LogisticRegression

    problem = rb.RankSVMProblem(
        X, rb.Preferences(*PAIRS.T, N), kernel="linear", loss="logistic", penalty="l1"
    )
    lam = 0.1 * problem.lam_max
    Z, label = X[PAIRS[:, 0]] - X[PAIRS[:, 1]], np.resize([1, -1], len(PAIRS))
    options = dict(fit_intercept=False, tol=1e-9, max_iter=10000)
    other = LogisticRegression(C=1 / lam, penalty="l1", solver="liblinear", **options)
    w = other.fit(Z * label[:, None], label).coef_[0]
    found = rb.solve(problem, lam)
    assert np.allclose(found.weights, w, atol=1e-4)
    assert problem.primal(found.weights, lam) <= problem.primal(w, lam) * (1 + 1e-9)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_squared_hinge_equals_cvxpy_and_the_exact_path(share):
    cp = pytest.importorskip("cvxpy")
    problem = problem_of("listed_squared", ElasticNet(share))
    lam = 0.1 * problem.lam_max
    w, Z = cp.Variable(D), X[PAIRS[:, 0]] - X[PAIRS[:, 1]]
    lam1, lam2 = problem.penalty.parts(lam)
    size = lam1 * cp.norm1(w) + lam2 / 2 * cp.sum_squares(w)
    program = cp.Problem(cp.Minimize(size + cp.sum_squares(cp.pos(1 - Z @ w))))
    best = program.solve(solver="CLARABEL")
    found = rb.solve(problem, lam, "sparse")
    assert np.isclose(problem.primal(found.weights, lam), best, rtol=1e-7)
    if share == 1:
        exact = rb.solve(problem_of("listed_squared"), lam, "homotopy")
        assert np.allclose(found.weights, exact.weights, atol=1e-6)


@pytest.mark.parametrize("storage", ["float32", "csr"])
def test_storages_have_the_same_solution(storage):
    for name in ("counted", "listed", "breslow"):
        one = problem_of(name)
        items = csr_array(X) if storage == "csr" else X.astype(np.float32)
        lam, other = 0.1 * one.lam_max, problem_of(name, X=items)
        assert other.storage == storage and np.isclose(other.lam_max, one.lam_max)
        found = rb.solve(other, lam)
        assert np.allclose(found.weights, rb.solve(one, lam).weights, atol=1e-5)
        assert found.certificate.is_optimal(1e-8)


@pytest.mark.parametrize("name", ["counted", "breslow", "squared"])
@pytest.mark.parametrize("penalty", ["l1", "elastic-net"])
def test_copies_constants_offsets_and_near_copies(name, penalty):
    near = X[:, :5] + 5e-9 * RNG.normal(size=(N, 5))
    odd = np.c_[X + 2e6, X, np.full(N, 3.0), -X[:, :3], near]
    plain, problem = problem_of(name, penalty), problem_of(name, penalty, X=odd)
    lam = 0.1 * plain.lam_max
    found = rb.solve(problem, lam, "sparse")
    assert found.certificate.relative_gap < 1e-7 and found.weights[2 * D] == 0
    if penalty == "l1":  # copies gain nothing
        best = plain.primal(rb.solve(plain, lam, "sparse").weights, lam)
        assert np.isclose(problem.primal(found.weights, lam), best, rtol=1e-6)
        assert not found.weights[D : 2 * D].any()
    else:  # copies share a weight
        assert np.allclose(found.weights[:D], found.weights[D : 2 * D], atol=1e-6)


def test_above_lam_max_and_without_information():
    problem = problem_of("counted")
    assert not rb.solve(problem, 1.5 * problem.lam_max).weights.any()
    constant = problem_of("counted", X=np.full((N, 3), 2e6))
    assert constant.lam_max == 0 and not rb.solve(constant, 1.0).weights.any()
    path = rb.solve_path(constant, 0.5)
    assert path.status == "lam_min" and not path.table.nnz


@pytest.mark.parametrize("name", ["counted", "breslow", "efron", "orders"])
@pytest.mark.parametrize("penalty", ["l1", "elastic-net"])
def test_paths_are_certified_between_their_solutions(name, penalty):
    problem = problem_of(name, penalty)
    path = rb.solve_path(problem, 0.1 * problem.lam_max, eps=1e-2)
    assert path.solver.startswith("sparse") and path.status == "lam_min"
    assert np.isclose(path.breakpoints[0], problem.lam_max)
    ends = path.ends
    lams = np.r_[ends, np.sqrt(ends[1:] * ends[:-1]), ends[1:] * (1 + 1e-9)]
    for lam in lams[:: max(1, len(ends) // 8)]:
        if lam > path.domain[0]:
            assert path.certificate(lam).relative_gap <= 1.001e-2
    for lam, w in zip(path.lams, path.weights):
        assert problem.certificate(lam, w).relative_gap <= 1.1e-6
    assert path.degrees_of_freedom[0] == 0 and (np.diff(path.explained) > -1e-6).all()
    assert not path.solution(2 * problem.lam_max).weights.any()


def test_a_path_resumes_and_is_stored(tmp_path):
    problem = problem_of("breslow", ElasticNet(0.7))
    path = rb.solve_path(problem, 0.3 * problem.lam_max, eps=1e-2)
    longer = path.resume(0.1 * problem.lam_max)
    assert longer.certificate(0.11 * problem.lam_max).relative_gap <= 1.001e-2
    longer.save(tmp_path / "path.rankbook")
    again = rb.load(tmp_path / "path.rankbook")
    assert type(again) is type(path) and again.problem.penalty == ElasticNet(0.7)
    assert np.array_equal(again.weights, longer.weights)
    assert np.array_equal(again.breakpoints, longer.breakpoints)
    further = again.resume(0.05 * problem.lam_max)
    assert further.certificate(0.06 * problem.lam_max).relative_gap <= 1.001e-2


def test_a_path_ends_where_the_loss_is_explained():
    problem = problem_of("breslow")
    path = rb.solve_path(problem, eps=1e-2, solver="sparse", deviance=0.9)
    assert path.status == "deviance" and path.explained[-1] >= 0.9 > path.explained[-2]
    assert "explain" in path.status.sentence


def test_scores_along_a_path():
    problem = problem_of("listed")
    path = rb.solve_path(problem, 0.2 * problem.lam_max, eps=1e-2)
    for lams, f in path.breakpoint_scores(X[:4]):
        middle = lams.mean()
        if middle < problem.lam_max:
            expected = middle * (X[:4] - problem.offset) @ path.solution(middle).weights
            assert np.allclose(f.mean(axis=0), expected, atol=1e-10)


def test_a_loss_of_your_own():
    class Squares:
        name = "squares"
        value = staticmethod(lambda t: t**2)
        derivative = staticmethod(lambda t: 2 * t)
        conjugate = staticmethod(lambda a: a**2 / 4)

    problem = rb.RankSVMProblem(
        X, rb.Preferences(*PAIRS.T, N), kernel="linear", loss=Squares(), penalty="l1"
    )
    found = rb.solve(problem, 0.2 * problem.lam_max)
    assert found.certificate.is_optimal(1e-7) and 0 < np.count_nonzero(found.weights) < D


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: SparseSolver(eps=0), "^eps is 0"),
        (
            lambda: SparseSolver(deviance=1.5),
            "^deviance is 1.5. Pass a finite number > 0",
        ),
        (
            lambda: rb.solve_path(problem_of("counted"), 1e9, "sparse"),
            "^lam_min is 1000000000.0, and lam_max",
        ),
        (
            lambda: rb.solve(problem_of("counted", "l2"), 1.0, "sparse"),
            "penalt",
        ),
    ],
)
def test_errors(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def small_problem(seed):
    """A problem of a few items on an integer grid; None if it has nothing to compare."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 14), rng.integers(1, 12)
    items = rng.integers(-2, 3, size=(n, d)) * 10.0 ** rng.integers(-3, 4)
    grades, ties = rng.integers(0, 3, n), ("breslow", "efron")[seed % 2]
    target, loss = (
        (lambda: rb.Preferences.from_scores(grades), "logistic"),
        (lambda: rb.Preferences.from_scores(grades), "squared"),
        (lambda: rb.Orders.from_survival(grades + 1, grades % 2 == 0, ties=ties), "plackett-luce"),
        (
            lambda: rb.Orders.from_rankings([rng.permutation(n).tolist() for _ in range(3)]),
            "plackett-luce",
        ),
    )[seed % 4]
    signs = rng.integers(-1, 2, d) if seed % 5 == 0 else None
    options = dict(penalty=("l1", ElasticNet(0.4))[seed % 3 > 0], signs=signs)
    try:
        return rb.RankSVMProblem(items, target(), kernel="linear", loss=loss, **options)
    except ValueError:  # one grade only
        return None


def test_random_small_problems():
    problems = [problem for problem in map(small_problem, range(60)) if problem is not None]
    assert len(problems) > 40
    for problem in problems:
        top = problem.lam_max or 1.0
        for share in (2.0, 1.0, 0.5, 0.01, 1e-4):
            assert rb.solve(problem, share * top, "sparse").certificate.relative_gap <= 1e-8
        path = rb.solve_path(problem, 0.05 * top, "sparse", eps=1e-2)
        for lam in path.ends[1:] * (1 + 1e-9):
            assert path.certificate(lam).relative_gap <= 1.001e-2


def test_a_dual_point_without_gradient():
    """The gradient of the loss is 0 up to rounding at weights far out."""
    prefs = rb.Preferences.from_scores([0, 1]).item_weighted([1, 1e-3])
    P = rb.RankSVMProblem([[0.0], [1.0]], prefs, "linear", penalty="l1", loss="plackett-luce")
    with pytest.warns(ConvergenceWarning):
        found = rb.solve(P, 1e-3 * P.lam_max, solver="sparse").certificate
    assert found.dual <= found.primal <= 1e-3


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_an_elastic_net_without_squares_is_the_l1_penalty(loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    kind = dict(kernel="linear", loss=loss)
    one = rb.RankSVM(1.0, penalty="elastic-net", l1_ratio=1.0, **kind).fit(X, y)
    two = rb.RankSVM(1.0, penalty="l1", **kind).fit(X, y)
    assert np.allclose(one.coef_, two.coef_, atol=1e-5)


def factored(rng, loss, n=50, d=12):
    """Items of widely different penalty factors, and a target with ties."""
    X, factors = rng.normal(size=(n, d)), 10.0 ** rng.uniform(-2, 2, d)
    y = X[:, 0] - X[:, 1] + X[:, 2] + rng.normal(size=n)
    if loss == "plackett-luce":
        event = rng.random(n) < 0.7
        return X, rb.Orders.from_survival(np.exp(y).round(1) + 0.1, event), factors
    return X, rb.Preferences.from_scores(y.round()), factors


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_penalty_factors_are_those_of_a_program(loss, l1_ratio):
    """Of cvxpy, which lists the pairs; signs of some weights."""
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(11)
    X, prefs, factors = factored(rng, loss)
    signs = rng.integers(-1, 2, factors.size)
    penalty = ElasticNet(l1_ratio, factors)
    problem = rb.RankSVMProblem(X, prefs, kernel="linear", loss=loss, penalty=penalty, signs=signs)
    lam = 0.05 * problem.lam_max
    found = rb.solve(problem, lam)
    w = cp.Variable(factors.size)
    rise = (X[prefs.better] - X[prefs.worse]) @ w
    cost = cp.sum(cp.logistic(-rise)) if loss == "logistic" else cp.sum_squares(cp.pos(1 - rise))
    size = l1_ratio * factors @ cp.abs(w) + (1 - l1_ratio) / 2 * factors @ cp.square(w)
    program = cp.Problem(cp.Minimize(cost + lam * size), [cp.multiply(signs, w) >= 0])
    program.solve(solver="CLARABEL")
    assert found.certificate.relative_gap < 1e-8
    assert found.certificate.primal == pytest.approx(program.value, rel=1e-6)
    assert np.allclose(found.coef, w.value, atol=1e-4 * np.abs(w.value).max())
    assert 0 < np.count_nonzero(found.coef) < factors.size
    above = rb.solve(problem, problem.lam_max * (1 + 1e-9))
    assert not above.coef.any() and rb.solve(problem, 0.99 * problem.lam_max).coef.any()


@pytest.mark.parametrize("storage", ["dense", "float32", "csr"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "plackett-luce"])
def test_penalty_factors_of_the_l1_penalty_divide_the_columns(loss, storage):
    rng = np.random.default_rng(12)
    X, target, factors = factored(rng, loss)
    if storage == "csr":
        X = csr_array(X * (rng.random(X.shape) < 0.4))
    X = X.astype(np.float32) if storage == "float32" else X
    dense = X.toarray() if storage == "csr" else X.astype(float)
    model = rb.RankSVM(5.0, "linear", loss=loss, penalty="l1", penalty_factor=factors).fit(
        X, target
    )
    other = rb.RankSVM(5.0, "linear", loss=loss, penalty="l1", solver="sparse")
    other.fit(dense / factors, target)
    assert model.certificate_.relative_gap < 1e-8 and model.solver_.startswith("sparse")
    assert np.allclose(model.coef_, other.coef_ / factors, atol=1e-5 * np.abs(model.coef_).max())
    assert 0 < np.count_nonzero(model.coef_) < factors.size


@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
def test_bounds_of_a_path_with_penalty_factors_hold(l1_ratio, tmp_path):
    """At every lambda those of certificates; a stored path has them, too."""
    rng = np.random.default_rng(13)
    X, target, factors = factored(rng, "plackett-luce", d=60)
    penalty = ElasticNet(l1_ratio, factors)
    problem = rb.RankSVMProblem(X, target, kernel="linear", loss="plackett-luce", penalty=penalty)
    path = rb.solve_path(problem, 0.01 * problem.lam_max)
    path.save(tmp_path / "p")
    again = rb.load(tmp_path / "p")
    assert again.problem.penalty.penalty_factor.tolist() == factors.tolist()
    for at, answer in enumerate(path.answers):
        for lam in (path.ends[at], path.ends[at + 1]):
            certificate = problem.certificate(lam, answer.coef)
            gap = answer.relative_gap(problem, lam)
            assert certificate.relative_gap <= gap + 1e-9 and gap <= 1e-3 + 1e-9
            assert again.answers[at].relative_gap(again.problem, lam) == pytest.approx(
                gap, abs=1e-15
            )
    lam = 0.1 * problem.lam_max
    precise, one = rb.solve(problem, lam), path.solution(lam)
    assert precise.certificate.primal >= one.certificate.dual - 1e-9
    if l1_ratio < 1:
        distance = np.linalg.norm(precise.coef - one.coef)
        assert distance <= one.certificate.radius + precise.certificate.radius


def test_penalty_factors_by_name_and_in_folds():
    """A dict names a few features; a small factor keeps a feature at every lambda."""
    rng = np.random.default_rng(14)
    table = pd.DataFrame(rng.normal(size=(60, 6)), columns=list("abcdef"))
    y = (table.a + 2 * table.b + rng.normal(size=60)).round()
    given = dict(kernel="linear", loss="logistic", penalty="l1")
    model = rb.RankSVM(200.0, **given, penalty_factor={"f": 1e-3}).fit(table, y)
    array = rb.RankSVM(200.0, **given, penalty_factor=[1, 1, 1, 1, 1, 1e-3]).fit(table, y)
    assert np.array_equal(model.coef_, array.coef_) and model.coef_[5] != 0
    assert rb.RankSVM(200.0, **given).fit(table, y).coef_[5] == 0
    chosen = rb.RankSVMCV(**given, penalty_factor={"f": 0}, random_state=0).fit(table, y)
    assert chosen.path_.problem.penalty.penalty_factor.tolist() == [1, 1, 1, 1, 1, 0]
    assert clone(chosen).penalty_factor == {"f": 0} and chosen.path_.weights[:, 5].all()


@pytest.mark.parametrize(
    "options, said",
    [
        (dict(penalty_factor=[1.0, -1.0]), r"^penalty_factor\[1\] is -1. Pass a number >= 0"),
        (dict(penalty_factor=[0.0, 0.0]), "^penalty_factor is 0 for every feature. Pass a pos"),
        (dict(penalty_factor=[1.0, np.inf]), "penalty_factor has infinity at index 1"),
        (dict(penalty_factor=[1.0]), r"penalty_factor has shape \(1,\)"),
        (dict(penalty_factor={"a": 2.0}), "X has no names"),
        (dict(penalty="l2", penalty_factor=[1, 1]), "penalty_factor is given and penalty is 'l2'"),
        (
            dict(loss="hinge", penalty_factor=[1.0, 2.0]),
            "penalty_factor is given and loss is 'hinge'. Pass a smooth loss",
        ),
        (dict(kernel="rbf", penalty_factor=[1.0, 2.0]), "penalty_factor is given and kernel is"),
    ],
)
def test_impossible_penalty_factors_are_refused(options, said):
    given = dict(kernel="linear", loss="logistic", penalty="l1") | options
    with pytest.raises(ValueError, match=said):
        rb.RankSVM(1.0, **given).fit([[0.0, 1.0], [1.0, 0.5], [2.0, 0.0]], [0, 1, 2])


@pytest.mark.parametrize("factors", [[], [2.0], [1.0, 2.0, 3.0]])
def test_a_penalty_with_factors_of_other_features_is_refused(factors):
    prefs, how = rb.Preferences.from_scores([0, 1, 2]), dict(kernel="linear", loss="logistic")
    said = f"penalty_factor has {len(factors)} entries. Pass 2, one for each"
    with pytest.raises(ValueError, match=said):
        rb.RankSVMProblem(np.eye(3)[:, :2], prefs, **how, penalty=ElasticNet(1.0, factors))


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_folds_with_a_light_feature_reach_the_other_features(scale):
    """The paths of folds end far below the lambda at which the features of usual factors enter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 80))
    y = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=60), [-1, 0, 1])
    given = dict(loss="logistic", penalty="l1", cv=3, random_state=0)
    factors = scale * np.r_[1e-3, np.ones(79)]
    model = rb.RankSVMCV("linear", **given, penalty_factor=factors).fit(X, y)
    assert model.coef_[0] > 0 and model.coef_[1] > 0
    weights = rb.RankSVM(
        model.lam_, "linear", loss="logistic", penalty="l1", penalty_factor=factors
    )
    assert np.allclose(weights.fit(X, y).coef_, model.coef_, atol=1e-3)
