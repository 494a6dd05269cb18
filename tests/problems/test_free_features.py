"""Features of penalty factor 0: against cvxpy, scipy, and weights far from the optimum."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog, lsq_linear, minimize
from scipy.sparse import csr_array

import rankbook as rb
from rankbook.problems.free_features import free_fit, orthogonal_gradient
from rankbook.problems.sparse_bounds import ElasticNet, weight_bounds

N, D = 40, 8
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, D))
X[:, 2] += X[:, 0]
GRADES = np.digitize(X[:, 0] + X[:, 3] + RNG.normal(size=N), [-1, 0, 1])
TIMES = np.exp(X[:, 0] - X[:, 4] + RNG.normal(size=N)).round(1) + 0.1
EVENTS = RNG.random(N) < 0.7
ROWS = np.argwhere(GRADES[:, None] > GRADES[None, :])
FACTORS = np.r_[0.0, 0.0, np.full(D - 2, 2.0)]


class Squares:
    name = "squares"
    value = staticmethod(lambda t: t**2)
    derivative = staticmethod(lambda t: 2 * t)
    conjugate = staticmethod(lambda a: a**2 / 4)


def target(name):
    survival = lambda ties: rb.Orders.from_survival(
        TIMES, EVENTS, ties=ties, weight=np.linspace(0.5, 2, N), qid=np.arange(N) % 2
    )
    counted = rb.Preferences.from_scores(GRADES, qid=np.arange(N) % 3)
    return {
        "counted": lambda: (counted.item_weighted(np.linspace(0.5, 2, N)), "logistic"),
        "levels": lambda: (
            rb.Preferences.from_scores(GRADES, level_weight={(3, 0): 3.0}),
            "logistic",
        ),
        "listed": lambda: (rb.Preferences(*ROWS.T, N), "logistic"),
        "squared": lambda: (counted, "squared"),
        "listed squared": lambda: (
            rb.Preferences(*ROWS.T, N, margin=np.linspace(0.1, 3, len(ROWS))),
            "squared",
        ),
        "breslow": lambda: (survival("breslow"), "plackett-luce"),
        "efron": lambda: (survival("efron"), "plackett-luce"),
        "orders": lambda: (rb.Preferences.from_scores(GRADES), "plackett-luce"),
        "own": lambda: (rb.Preferences(*ROWS.T, N), Squares()),
    }[name]()


NAMES = ["counted", "levels", "listed", "squared", "listed squared", "breslow", "efron"]
NAMES += ["orders", "own"]


def problem_of(name, l1_ratio=1.0, factors=FACTORS, items=X, **options):
    goal, loss = target(name)
    penalty = ElasticNet(l1_ratio, factors)
    return rb.RankSVMProblem(items, goal, kernel="linear", loss=loss, penalty=penalty, **options)


def loss_at(problem, w):
    sums = problem.summed.evaluate(problem.X @ w, problem.loss.derivative)
    return sums.loss, -problem.X.T @ sums.score_gradient


def minimum(problem, lam):
    """The minimum and the weights, by L-BFGS-B of their positive and negative parts."""
    lam1, lam2 = problem.penalty.parts(lam)
    factors = problem.penalty.penalty_factor

    def objective(uv):
        w = uv[:D] - uv[D:]
        loss, slope = loss_at(problem, w)
        slope = slope + lam2 * factors * w
        value = loss + lam1 * factors @ (uv[:D] + uv[D:]) + lam2 / 2 * factors @ w**2
        return value, np.r_[lam1 * factors + slope, lam1 * factors - slope]

    signs = np.zeros(D) if problem.signs is None else problem.signs
    bounds = [(0, 0 if s < 0 else None) for s in signs] + [(0, 0 if s > 0 else None) for s in signs]
    how = dict(maxiter=20000, maxfun=10**6, ftol=1e-15, gtol=1e-9, maxcor=30)
    found = minimize(objective, np.zeros(2 * D), jac=True, bounds=bounds, options=how)
    return found.fun, found.x[:D] - found.x[D:]


@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
@pytest.mark.parametrize("name", NAMES)
def test_solutions_are_minima(name, l1_ratio):
    problem = problem_of(name, l1_ratio)
    top = problem.lam_max
    for share in (2.0, 1.0, 0.5, 0.05):
        found = rb.solve(problem, share * top)
        least, weights = minimum(problem, share * top)
        assert found.certificate.relative_gap < 1e-8
        assert found.certificate.dual <= least + 1e-9 * abs(least)
        assert found.certificate.primal == pytest.approx(least, rel=1e-7)
        assert np.allclose(found.coef, weights, atol=2e-3 * np.abs(weights).max())
        assert found.coef[:2].all() and found.coef[2:].any() == (share < 1)
    assert rb.solve(problem, 0.999 * top).coef[2:].any()


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_solutions_are_those_of_a_program(loss):
    """Of cvxpy, which lists the pairs; free features with and without signs."""
    cp = pytest.importorskip("cvxpy")
    signs = np.array([1, 0, 0, -1, 0, 1, 0, 0])
    factors = np.array([0.0, 0.0, 2.0, 0.0, 2.0, 0.0, 2.0, 2.0])
    prefs = rb.Preferences(*ROWS.T, N)
    penalty = ElasticNet(0.7, factors)
    problem = rb.RankSVMProblem(-X, prefs, kernel="linear", loss=loss, penalty=penalty, signs=signs)
    w, up = cp.Variable(D), -(X[ROWS[:, 0]] - X[ROWS[:, 1]])
    cost = (
        cp.sum(cp.logistic(-up @ w)) if loss == "logistic" else cp.sum_squares(cp.pos(1 - up @ w))
    )
    size = 0.7 * factors @ cp.abs(w) + 0.15 * factors @ cp.square(w)
    for share in (1.5, 0.3):
        lam = share * problem.lam_max
        found = rb.solve(problem, lam)
        program = cp.Problem(cp.Minimize(cost + lam * size), [cp.multiply(signs, w) >= 0])
        program.solve(solver="CLARABEL")
        assert found.certificate.relative_gap < 1e-8
        assert found.certificate.primal == pytest.approx(program.value, rel=1e-6)
        assert np.allclose(found.coef, w.value, atol=1e-4 * np.abs(w.value).max())
        assert (found.coef[[0, 5]] >= 0).all() and found.coef[3] <= 0
    assert found.coef[0] == 0  # its sign is wrong


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_cox_models_are_those_of_a_program(ties):
    """Of cvxpy: the logarithm of a sum over the patients at risk, for each event."""
    cp = pytest.importorskip("cvxpy")
    orders = rb.Orders.from_survival(TIMES, EVENTS, ties=ties)
    penalty = ElasticNet(0.8, FACTORS)
    problem = rb.RankSVMProblem(X, orders, kernel="linear", loss="plackett-luce", penalty=penalty)
    w, terms = cp.Variable(D), []
    hazard = -X @ w
    for time in np.unique(TIMES[EVENTS]):
        risk, dead = np.flatnonzero(TIMES >= time), np.flatnonzero((TIMES == time) & EVENTS)
        for rank in range(dead.size):
            kept = np.zeros(risk.size)
            if ties == "efron":
                kept[np.isin(risk, dead)] = np.log(1 - rank / dead.size)
            terms.append(cp.log_sum_exp(hazard[risk] + kept) - hazard[dead[rank]])
    size = 0.8 * FACTORS @ cp.abs(w) + 0.1 * FACTORS @ cp.square(w)
    for share in (1.1, 0.2):
        lam = share * problem.lam_max
        program = cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms)) + lam * size))
        program.solve(solver="CLARABEL")
        found = rb.solve(problem, lam)
        assert found.certificate.primal == pytest.approx(program.value, rel=1e-6)
        assert found.certificate.dual <= program.value * (1 + 1e-7)
        assert np.allclose(found.coef, w.value, atol=1e-4 * np.abs(w.value).max())


@pytest.mark.parametrize("name", NAMES)
def test_bounds_hold_far_from_the_optimum(name):
    """At every weight the dual value is at most the minimum, and so are those of multiples."""
    problem = problem_of(name)
    lam = 0.3 * problem.lam_max
    least, best = minimum(problem, lam)
    finite = 0
    for step in 0.3 ** np.arange(12):
        w = best + step * RNG.normal(size=D)
        found = problem.certificate(lam, w)
        assert found.dual <= least * (1 + 1e-9) <= found.primal * (1 + 2e-9)
        bounds, *_ = weight_bounds(problem, w)
        for other in (0.7, 1.3):
            assert bounds.dual(other * lam, 0.0) <= minimum(problem, other * lam)[0] * (1 + 1e-9)
        finite += np.isfinite(bounds.dual(lam, 0.0))
    assert finite > 5 and found.relative_gap < 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_moved_slopes_have_the_stated_dual_value(name):
    """-L*(-g') is the minimum of L(f) + g''f, which scipy finds; the bound is below it."""
    problem = problem_of(name)
    free, weights = free_fit(problem)
    A = problem.X[:, free]
    f = A @ weights + 0.02 * RNG.normal(size=N)
    sums = problem.summed.evaluate(f, problem.loss.derivative)
    point, rise = orthogonal_gradient(problem, f, sums, A, weights, free)
    assert np.abs(A.T @ point).max() < 1e-12 * np.abs(A.T @ np.abs(point)).max() * N
    if not np.isfinite(rise):
        assert name == "squared"
        return
    bound = problem.loss.dual_part(sums) - f @ (sums.score_gradient - point) - rise

    def objective(z):
        found = problem.summed.evaluate(z, problem.loss.derivative)
        return found.loss + point @ z, point - found.score_gradient

    found = minimize(objective, f, jac=True, method="BFGS", options=dict(gtol=1e-9, maxiter=4000))
    assert bound <= found.fun + 1e-8 * abs(found.fun)
    assert bound == pytest.approx(found.fun, rel=1e-2)


@pytest.mark.parametrize("name", ["counted", "squared", "efron"])
def test_degenerate_free_features(name):
    """Constants, copies, offsets, a feature constant in each query, and sparse items."""
    plain = problem_of(name)
    lam = 0.3 * plain.lam_max
    best = rb.solve(plain, lam)
    by_query = (np.arange(N) % 6) * 10.0  # constant within the queries of 3 and 2
    odd = np.c_[X + 1e6, np.full(N, 7.0), X[:, :2] + 1e6, by_query]
    factors = np.r_[FACTORS, 0, 0, 0, 0]
    if name == "efron":
        by_query[:] = np.arange(N) % 2
        odd[:, -1] = by_query
    if name != "efron":
        odd[:, -1] = np.arange(N) % 3
    problem = problem_of(name, factors=factors, items=odd)
    found = rb.solve(problem, lam)
    assert problem.lam_max == pytest.approx(plain.lam_max, rel=1e-6)
    assert found.certificate.relative_gap < 1e-7
    assert found.certificate.primal == pytest.approx(best.certificate.primal, rel=1e-7)
    assert np.allclose(found.coef[:2] + found.coef[D + 1 : D + 3], best.coef[:2], atol=1e-4)
    assert found.coef[D] == 0 == found.coef[-1]
    thin = X * (RNG.random(X.shape) < 0.5)
    one, two = (problem_of(name, items=items) for items in (thin, csr_array(thin)))
    lam = 0.2 * one.lam_max
    assert two.lam_max == pytest.approx(one.lam_max, rel=1e-9)
    found = [rb.solve(each, lam) for each in (one, two)]
    assert np.allclose(found[0].coef, found[1].coef, atol=1e-6)
    assert all(each.certificate.relative_gap < 1e-8 for each in found)


@pytest.mark.parametrize("loss", ["logistic", "plackett-luce"])
@pytest.mark.parametrize("part", [False, True])
def test_free_features_that_order_the_items_are_refused(loss, part):
    """All items, or only those of the best grade, with the others in any order."""
    first = GRADES == 3 if part else GRADES
    items = np.c_[first * 1e-3, X]
    how = dict(kernel="linear", loss=loss)
    factors = np.r_[0.0, np.ones(D)]
    problem = rb.RankSVMProblem(
        items, rb.Preferences.from_scores(GRADES), penalty=ElasticNet(1.0, factors), **how
    )
    for call in (
        lambda: problem.lam_max,
        lambda: rb.solve(problem, 1.0),
        lambda: rb.solve_path(problem),
        lambda: rb.RankSVM(1.0, penalty="l1", penalty_factor=factors, **how).fit(items, GRADES),
    ):
        with pytest.raises(
            ValueError, match="penalty_factor is 0 for feature 0, whose best weights are inf"
        ):
            call()
    table = pd.DataFrame(items, columns=["rank", *(f"g{j}" for j in range(D))])
    named = dict(penalty="l1", penalty_factor=dict(rank=0), **how)
    for model in (rb.RankSVM(1.0, **named), rb.RankSVMCV(**named)):
        with pytest.raises(ValueError, match="penalty_factor is 0 for feature 'rank', whose best"):
            model.fit(table, GRADES)
    squared = rb.RankSVM(1.0, "linear", loss="squared", penalty="l1", penalty_factor=factors)
    assert squared.fit(items, GRADES).certificate_.relative_gap < 1e-6
    small = rb.RankSVM(1.0, penalty="l1", penalty_factor=np.maximum(factors, 1e-3), **how)
    assert small.fit(items, GRADES).certificate_.relative_gap < 1e-6


def test_free_features_that_are_almost_copies_are_refused():
    items = np.c_[X, X[:, 0] + 1e-9 * RNG.normal(size=N)]
    problem = problem_of("counted", factors=np.r_[FACTORS, 0.0], items=items)
    with pytest.raises(ValueError, match="features 0, 1, 8, whose weights are undetermined"):
        rb.solve(problem, 1.0)


@pytest.mark.parametrize("name", ["counted", "efron", "squared"])
def test_paths_are_certified_and_stored(name, tmp_path):
    problem = problem_of(name, 0.8)
    path = rb.solve_path(problem, 0.05 * problem.lam_max, solver=("sparse", dict(eps=1e-2)))
    assert np.isclose(path.breakpoints[0], problem.lam_max)
    assert path.weights[0, :2].all() and not path.weights[0, 2:].any()
    above = path.solution(3 * problem.lam_max)
    assert np.array_equal(above.coef, path.weights[0]) and above.certificate.is_optimal(1e-5)
    for lam in np.r_[path.ends[1:] * (1 + 1e-9), np.sqrt(path.ends[1:] * path.ends[:-1])]:
        assert path.certificate(lam).relative_gap <= 1.001e-2
    path.save(tmp_path / "path.rankbook")
    again = rb.load(tmp_path / "path.rankbook")
    assert np.array_equal(again.weights, path.weights)
    further = again.resume(0.02 * problem.lam_max)
    assert further.certificate(0.021 * problem.lam_max).relative_gap <= 1.001e-2
    blocks = list(path.breakpoint_scores(X[:3]))
    lams, scores = blocks[0]
    first = (X[:3] - problem.offset) @ path.weights[0]
    assert lams[1] == path.ends[0] and np.allclose(scores, lams[:, None] * first)


def test_default_ends_of_paths_follow_the_features_of_usual_factors():
    """A factor of 1e-6 puts lam_max a million times above the lambda of the others."""
    plain, light = (problem_of("counted", 1.0, np.r_[x, np.ones(D - 1)]) for x in (1.0, 1e-6))
    assert light.lam_max > 1e5 * plain.lam_max
    path = rb.solve_path(light, solver=("sparse", dict(eps=1e-2, deviance=1.0)))
    assert path.domain[0] < 2e-4 * plain.lam_max and path.weights[-1].all()


def small_case(seed):
    """A few items whose free features nearly order them, and differences (m, k) of the pairs."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, 14)), int(rng.integers(1, 4))
    y = rng.permutation(np.r_[0.0, 1.0, rng.integers(0, 4, n - 2)])
    free = rng.integers(-2, 3, (n, k)) + 0.0 if rng.random() < 0.3 else rng.normal(size=(n, k))
    if rng.random() < 0.7:
        free[:, 0] = y + np.exp(-rng.uniform(0, 8)) * rng.normal(size=n)
    free *= 10.0 ** rng.integers(-4, 5, k)
    signs = rng.choice([-1, 0, 1], k + 1, p=[0.1, 0.8, 0.1])
    better, worse = np.nonzero(y[:, None] > y)
    items = np.column_stack([free, rng.normal(size=n)])
    return items, y, signs, free[better] - free[worse]


def squared_minimum(differences, signs):
    """The smallest loss of free features: |1 - D v - t|^2 with t >= 0, by bounded least squares."""
    m, k = differences.shape
    scaled = differences / np.maximum(np.abs(differences).max(axis=0), 1e-300)
    low = np.r_[np.where(signs > 0, 0.0, -np.inf), np.zeros(m)]
    high = np.r_[np.where(signs < 0, 0.0, np.inf), np.full(m, np.inf)]
    bounds = (low, high)
    found = lsq_linear(np.hstack([scaled, -np.eye(m)]), np.ones(m), bounds, "bvls", tol=1e-14)
    return 2 * found.cost


def has_infinite_weights(differences, signs):
    """Whether some direction orders no pair wrongly and some pair right, by a linear program."""
    scaled = differences / np.maximum(np.abs(differences).max(axis=0), 1e-300)
    bounds = [(-float(s <= 0), float(s >= 0)) for s in signs]
    zeros = np.zeros(len(scaled))
    return linprog(-scaled.sum(axis=0), -scaled, zeros, bounds=bounds).fun < -1e-7


@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 1060), marks=pytest.mark.slow)], ids=str
)
def test_only_losses_without_minimum_are_refused(seeds):
    refused = separable = 0
    for seed in seeds:
        items, y, signs, differences = small_case(seed)
        k, prefs = signs.size - 1, rb.Preferences.from_scores(y)
        net = ElasticNet(1.0, np.r_[np.zeros(k), 1.0])
        given = dict(kernel="linear", penalty=net, signs=signs)
        problem = rb.RankSVMProblem(items, prefs, loss="squared", **given)
        features, weights = free_fit(problem)
        found = problem.summed.evaluate(items[:, features] @ weights, problem.loss.derivative).loss
        least = squared_minimum(differences, signs[:k])
        assert abs(found - least) <= 1e-8 * max(1, least), seed
        if least < 1e-20:
            separable += 1
            assert problem.lam_max == 0, seed
            assert rb.solve(problem, 1.0).certificate.is_optimal(1e-6)
        problem = rb.RankSVMProblem(items, prefs, loss="logistic", **given)
        if has_infinite_weights(differences, signs[:k]):
            refused += 1
            with pytest.raises(ValueError, match="best weights are infinite"):
                free_fit(problem)
        else:
            free_fit(problem)
    assert refused > len(seeds) / 4 and separable > len(seeds) / 8


def test_a_large_query_moves_by_its_exact_hessian():
    """Newton steps may use a Hessian with errors of 1e-7, but bounds of dual points may not."""
    n = 2100  # more than CROSSOVER pairs
    rng = np.random.default_rng(0)
    A = rng.normal(size=(n, 2)) * [1.0, 3.0]
    y = A @ [1.0, -0.5] + rng.normal(size=n)
    items, prefs = np.column_stack([A, rng.normal(size=n)]), rb.Preferences.from_scores(y)
    net = ElasticNet(1.0, [0.0, 0.0, 1.0])
    problem = rb.RankSVMProblem(items, prefs, kernel="linear", loss="logistic", penalty=net)
    w = free_fit(problem)[1] + [0.02, -0.01]
    f = A @ w
    sums = problem.summed.evaluate(f, None)
    point, rise = orthogonal_gradient(problem, f, sums, A, w, np.arange(2))
    order = np.argsort(y)
    better, worse = (order[each] for each in np.tril_indices(n, -1))
    rows, p = A[better] - A[worse], 1 / (1 + np.exp(f[better] - f[worse]))
    bent = p * (1 - p)
    t = rows @ np.linalg.solve((rows * bent[:, None]).T @ rows, rows.T @ p)
    moved = p - bent * t
    exact = np.bincount(better, moved, n) - np.bincount(worse, moved, n)
    assert rise == pytest.approx(bent @ t**2, rel=1e-10)
    assert np.abs(point - exact).max() <= 1e-10 * np.abs(exact).max()
