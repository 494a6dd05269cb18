"""Bounds of sparse solutions: against numerical minima, finite differences and cvxpy."""

import numpy as np
import pytest
from scipy.optimize import minimize

import rankbook as rb
from rankbook.paths.ranges import lowest_lam
from rankbook.problems.losses import L1
from rankbook.problems.sparse_bounds import ElasticNet, SparseBounds, weight_bounds

N = 12
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
GRADES = RNG.integers(0, 4, N)
TIMES, EVENTS = RNG.integers(1, 5, N).astype(float), RNG.random(N) < 0.7
ROWS = np.argwhere(GRADES[:, None] > GRADES[None, :])


def targets():
    """Targets and losses: counted and listed pairs, grades and tied times, with weights."""
    graded = rb.Preferences.from_scores(GRADES, qid=np.arange(N) % 2)
    weighted = graded.item_weighted(RNG.uniform(0.5, 2, N), RNG.uniform(0.5, 2, N))
    levels = rb.Preferences.from_scores(GRADES, level_weight={(3, 0): 3.0, (2, 1): 0.0})
    listed = rb.Preferences(*ROWS.T, N, RNG.uniform(0, 2, len(ROWS)))
    survival = [
        rb.Orders.from_survival(TIMES, EVENTS, ties=ties, weight=RNG.uniform(0.5, 2, N))
        for ties in ("breslow", "efron")
    ]
    pairs = (weighted, levels, listed)
    both = [(prefs, loss) for prefs in pairs for loss in ("logistic", "squared")]
    return [*both, *((t, "plackett-luce") for t in (weighted, *survival))]


CASES = targets()
IDS = [f"{loss} {type(t).__name__} {i}" for i, (t, loss) in enumerate(CASES)]


def problem_of(target, loss, penalty="l1", X=X, **options):
    return rb.RankSVMProblem(X, target, kernel="linear", loss=loss, penalty=penalty, **options)


def loss_at(problem, f):
    return problem.summed.evaluate(f, problem.loss.derivative)


@pytest.mark.parametrize(("target", "loss"), CASES, ids=IDS)
def test_multiples_of_the_gradient_have_valid_dual_values(target, loss):
    """The value -L*(-(1-e) g) is the minimum of L(f) + (1-e) g'f over f."""
    problem = problem_of(target, loss)
    bounds, sums, _ = weight_bounds(problem, RNG.normal(size=3) / 2)
    g = sums.score_gradient
    for e in (0.0, 0.01, 0.1, 1.0):
        found = minimize(
            lambda f, e=e: loss_at(problem, f).loss + (1 - e) * g @ f,
            np.zeros(N),
            jac=lambda f, e=e: (1 - e) * g - loss_at(problem, f).score_gradient,
            method="BFGS",
            options=dict(gtol=1e-8, maxiter=3000),
        ).fun
        bent = bounds.margin - e * bounds.slope - e * e * bounds.bend
        chord = (1 - e) * bounds.margin + e * bounds.lowest
        assert max(bent, chord) <= found + 1e-6
        if e == 0:
            assert np.isclose(bent, found, atol=1e-5)
        if e == 1 and loss != "squared":
            assert np.isclose(bounds.lowest, found, atol=1e-3)
        if e == 0.01:
            assert found - bent <= e * e * bounds.bend + 1e-6 and chord < bent


@pytest.mark.parametrize(("target", "loss"), CASES, ids=IDS)
@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.3)])
def test_lam_max_is_the_steepest_slope_at_zero(target, loss, penalty):
    problem = problem_of(target, loss, penalty)
    h, slopes = 1e-6, []
    for x in problem.X.T:
        up, down = (loss_at(problem, s * h * x).loss for s in (1, -1))
        slopes.append((up - down) / (2 * h))
    assert np.isclose(problem.lam_max * penalty.l1_ratio, np.abs(slopes).max(), rtol=1e-6)
    zero = np.zeros(3)
    assert problem.certificate(1.0001 * problem.lam_max, zero).relative_gap < 1e-13
    assert problem.certificate(0.99 * problem.lam_max, zero).relative_gap > 1e-8


def cvx_minimum(penalty, lam, weight, sign=None):
    """The minimum of the logistic loss of pairs, and weights, by cvxpy."""
    cp = pytest.importorskip("cvxpy")
    w, Z = cp.Variable(3), X[ROWS[:, 0]] - X[ROWS[:, 1]]
    lam1, lam2 = penalty.parts(lam)
    size = lam1 * cp.norm1(w) + lam2 / 2 * cp.sum_squares(w)
    where = [] if sign is None else [cp.multiply(sign, w) >= 0]
    program = cp.Problem(cp.Minimize(size + weight @ cp.logistic(-Z @ w)), where)
    program.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
    return program.value, w.value


@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.3)])
@pytest.mark.parametrize("signs", [None, [1, -1, 0]])
def test_bounds_contain_the_minimum_of_cvxpy(penalty, signs):
    weight = RNG.uniform(0, 2, len(ROWS))
    prefs = rb.Preferences(*ROWS.T, N, weight)
    problem = problem_of(prefs, "logistic", penalty, signs=signs)
    lam = 0.3 * problem.lam_max
    best, w = cvx_minimum(penalty, lam, weight, None if signs is None else np.array(signs))
    if signs is not None:
        w = np.where(np.array(signs) * w < 0, 0.0, w)
    found = problem.certificate(lam, w)
    assert found.relative_gap < 1e-5 and found.dual <= best + 1e-7 * best
    assert np.isclose(found.primal, best, rtol=1e-7)
    for other in (np.zeros(3), w + 0.1, 3 * w):
        other = other if signs is None else np.where(np.array(signs) * other < 0, 0.0, other)
        bounds = problem.certificate(lam, other)
        assert bounds.dual <= best * (1 + 1e-8) and bounds.primal >= best * (1 - 1e-8)


def test_the_radius_of_the_elastic_net_contains_the_minimum():
    weight = np.ones(len(ROWS))
    problem = problem_of(rb.Preferences(*ROWS.T, N), "logistic", ElasticNet(0.5))
    lam = 0.2 * problem.lam_max
    _, w = cvx_minimum(problem.penalty, lam, weight)
    other = w + np.array([0.05, -0.02, 0.0])
    found = problem.certificate(lam, other)
    assert np.linalg.norm(w - other) <= found.radius < np.inf
    assert problem_of(problem.prefs, "logistic").certificate(lam, other).radius == np.inf


@pytest.mark.parametrize("storage", [np.float32, "csr"])
def test_certificates_do_not_depend_on_the_storage(storage):
    sparse = pytest.importorskip("scipy.sparse")
    whole = np.round(4 * X)
    items = sparse.csr_array(whole) if storage == "csr" else whole.astype(storage)
    target, w = CASES[2][0], np.array([0.1, 0.0, -0.2])
    one, other = (
        problem_of(target, "logistic", X=each).certificate(1.0, w) for each in (whole, items)
    )
    assert np.isclose(one.primal, other.primal) and np.isclose(one.dual, other.dual)


def test_offsets_copies_and_constants():
    """Columns far from 0 lose no digits, and constant columns have no effect."""
    target, w = CASES[0][0], np.array([0.2, -0.1, 0.3])
    far = np.c_[X + 2e6, np.full(N, 7.0), X[:, 0]]
    near = problem_of(target, "logistic").certificate(2.0, w)
    found = problem_of(target, "logistic", X=far).certificate(2.0, np.r_[w, 0, 0])
    assert np.isclose(near.primal, found.primal, rtol=1e-8)
    assert np.isclose(near.dual, found.dual, rtol=1e-8)
    split = problem_of(target, "logistic", X=far).certificate(2.0, np.r_[0.1, w[1:], 0, 0.1])
    assert np.isclose(split.dual, found.dual, rtol=1e-12)
    assert problem_of(target, "logistic", X=np.full((N, 2), 2e6)).lam_max == 0


def test_a_loss_of_your_own_has_the_chord():
    class Squares:
        name = "squares"
        value = staticmethod(lambda t: t**2)
        derivative = staticmethod(lambda t: 2 * t)
        conjugate = staticmethod(lambda a: a**2 / 4)

    problem = problem_of(CASES[4][0], Squares())
    bounds, *_ = weight_bounds(problem, np.array([0.1, 0.2, 0.0]))
    assert bounds.bend == np.inf and bounds.lowest == 0
    assert problem.certificate(1.01 * problem.lam_max, np.zeros(3)).relative_gap < 1e-13


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ElasticNet(0), "^l1_ratio is 0"),
        (lambda: ElasticNet(1.5), "^l1_ratio is 1.5. Pass a finite number > 0, at most 1"),
        (lambda: problem_of(CASES[0][0], "hinge", "elastic-net"), "^penalty is 'elastic-net' and"),
        (
            lambda: rb.RankSVMProblem(X, CASES[0][0], penalty=ElasticNet(), loss="logistic"),
            "^penalty is 'elastic-net' and kernel is 'rbf'",
        ),
        (lambda: problem_of(CASES[0][0], "logistic").certificate(0.0, np.zeros(3)), "^lam is 0"),
        (
            lambda: problem_of(CASES[4][0], "logistic").certificate(
                1.0, np.zeros(3), np.zeros(len(CASES[4][0]))
            ),
            "^dual is given. Omit dual",
        ),
        (
            lambda: rb.RankRLSProblem(X, GRADES, kernel="linear", penalty="elastic-net"),
            "^penalty is 'elastic-net'. Pass 'l2' or 'l1' for least squares",
        ),
    ],
)
def test_errors(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def random_bounds(rng):
    """Numbers of bounds in all combinations of infinite and finite ones."""
    lowest, bend = rng.choice([-np.inf, 0.0]), rng.choice([np.inf, 0.0, rng.exponential()])
    margin, slope = rng.normal() + 1, rng.normal()
    rest, strengths = rng.random(), rng.random(rng.integers(0, 4))
    return SparseBounds(1.0, 1.0, 2.0, margin, slope, bend, lowest, strengths, rest)


def test_the_best_multiple_is_best_on_a_grid():
    rng = np.random.default_rng(0)
    for _ in range(300):
        bounds, lam1 = random_bounds(rng), rng.random()
        e = np.linspace(0, 1, 20001)
        largest = max(bounds.rest, bounds.strengths.max(initial=0.0))
        e = e[(1 - e) * largest <= lam1 * (1 + 1e-12)]
        found = bounds.dual(lam1, 0)
        with np.errstate(invalid="ignore"):
            parabola = bounds.margin - e * bounds.slope - np.where(e == 0, 0, e**2 * bounds.bend)
            chord = np.where(e == 0, bounds.margin, (1 - e) * bounds.margin + e * bounds.lowest)
        grid = max(parabola.max(), chord.max())
        assert found >= grid - 1e-12 and (found <= grid + 1e-3 or grid == -np.inf)


@pytest.mark.parametrize("seed", range(5))
def test_an_answer_serves_down_to_its_lowest_lambda(seed):
    rng = np.random.default_rng(seed)
    prefs = rb.Preferences.from_scores(rng.integers(0, 4, 40))
    problem = rb.RankSVMProblem(
        rng.normal(size=(40, 6)), prefs, "linear", loss="logistic", penalty="l1"
    )
    lam, eps = 0.3 * problem.lam_max, 10.0 ** -rng.integers(2, 6)
    bounds, _, _ = weight_bounds(problem, rb.solve(problem, lam).coef)
    calls = []

    class Answer:
        def relative_gap(self, problem, at):
            calls.append(at)
            return bounds.relative_gap(at, 0.0)

    Answer.lam = lam
    lowest = lowest_lam(Answer(), problem, eps)
    assert len(calls) < 25
    assert bounds.relative_gap(lowest, 0.0) <= eps < bounds.relative_gap(0.99999 * lowest, 0.0)
    assert lowest_lam(Answer(), problem, 1e9) == pytest.approx(lam * np.exp(-60))
