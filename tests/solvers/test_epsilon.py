"""The epsilon path, whose gap is at most eps at every lambda.

This is checked by the certificate and by the exact path, whatever the inner solver.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbook as rb
from rankbook.data.datasets import make_mixture
from rankbook.problems.certificate import Solution
from rankbook.solvers.epsilon.solver import (
    LAM_MIN_RATIO,
    EpsilonPath,
    make_breakpoint,
    refine_segment,
)

# Problems, and what every path must be


def build(kind, kernel, seed=0):
    """A small degenerate problem."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(24, 3)), rng.integers(0, 3, 24)
    if kind == "copies":
        X, y = np.r_[X[:12], X[:12]], np.r_[y[:12], rng.integers(0, 3, 12)]
    elif kind == "grid":
        X = np.round(X)
    elif kind == "rank one":
        X = np.outer(rng.integers(-2, 3, 24), [1.0, 2.0, 0.0])
    prefs = rb.Preferences.from_scores(y, graph="star" if kind == "star" else "full")
    if kind == "cycles":
        a, b = rng.integers(0, 24, (2, 60))
        prefs = rb.Preferences(a[a != b], b[a != b], 24)
    elif kind == "weights":
        weight = rng.uniform(0, 5, len(prefs)) * (rng.random(len(prefs)) < 0.8)
        prefs = prefs.reweighted(weight, rng.uniform(0.1, 4, len(prefs)))
    elif (
        kind == "small"
    ):  # objectives around and below 1, where the relative gap is an absolute one
        prefs = prefs.reweighted(np.full(len(prefs), 0.02))
    elif kind == "separable":
        X, prefs = X + 4 * y[:, None], rb.Preferences.from_scores(y)
    if kernel == "precomputed":
        return rb.RankSVMProblem(np.exp(-((X[:, None] - X) ** 2).sum(-1)), prefs, kernel)
    return rb.RankSVMProblem(X, prefs, kernel)


KINDS = ["plain", "copies", "grid", "rank one", "star", "cycles", "weights", "small", "separable"]
KERNELS = ["linear", "rbf", "precomputed"]


def some_lams(path, count, seed=0):
    """Random lambdas of the domain (no deeper than 1e-9 lam_max), and some above lam_max.

    All breakpoints and their neighbours are among them.
    """
    high = path.problem.lam_max or 1.0
    low = max(path.domain[0], 1e-9 * high)
    random = np.exp(np.random.default_rng(seed).uniform(np.log(low), np.log(max(high, low)), count))
    b = path.breakpoints
    lams = np.r_[
        random,
        b,
        np.nextafter(b, np.inf),
        np.nextafter(b, 0),
        np.sqrt(b[1:] * b[:-1]),
        low,
        3 * high,
        1e6 * high,
    ]
    return lams[lams >= low]


def check(path, eps, count=100, exact=None):
    """The guarantee at many lambdas, by the host's certificate and by code of our own.

    Where there is an exact path, by that as well.
    """
    assert (
        isinstance(path, EpsilonPath)
        and path.info["eps"] == eps
        and path.info["largest_gap"] <= eps
    )
    assert (np.diff(path.breakpoints) < 0).all() and (path.breakpoints >= path.domain[0]).all()
    if path.breakpoints.size:
        assert path.breakpoints[0] == path.problem.lam_max
    worst = 0.0
    for lam in some_lams(path, count):
        solution = path.solution(lam)
        found = solution.certificate
        assert found.relative_gap <= eps and found.box_violation == 0, (
            lam / path.problem.lam_max,
            found,
        )
        worst = max(worst, found.relative_gap)
        primal, dual = objectives(path.problem, solution.coef, solution.dual, lam)
        assert (primal - dual) / max(1, abs(primal)) <= eps * (1 + 1e-6)
        if exact is not None:
            found = exact.certificate(lam)
            best = found.primal - found.rounding  # as it was computed
            assert -1e-7 * max(1, best) <= primal - best <= eps * max(1, primal) + 1e-9
    assert worst <= path.info["largest_gap"] + 1e-9  # as promised
    return worst


def objectives(problem, coef, dual, lam):
    """Primal and dual value by their definitions.

    Multipliers outside their box count as minus infinity.
    """
    K, prefs = problem.gram, problem.prefs
    P = prefs.incidence().toarray()
    v = P.T @ dual
    inside = (dual >= 0).all() and (dual <= prefs.weight).all()
    primal = lam / 2 * coef @ K @ coef + prefs.weight @ np.maximum(0, prefs.margin - P @ (K @ coef))
    return primal, dual @ prefs.margin - v @ K @ v / (2 * lam) if inside else -np.inf


def follow(problem, eps=1e-3, lam_min=None, inner="path", **options):
    return rb.solve_path(problem, lam_min, solver="epsilon", inner=inner, eps=eps, **options)


class Ascent(rb.Solver):
    """Projected gradient ascent of the dual: one lambda, nothing else."""

    name, tol = "ascent", None

    def __init__(self, steps=1000, answers="dual"):
        self.steps, self.answers, self.asked = steps, answers, []

    def solve(self, problem, lam):
        self.asked.append(lam)
        prefs = problem.prefs
        rate = lam / (np.linalg.norm(problem.gram, 2) * 2 * problem.n_items)
        a = b = np.zeros(len(prefs))
        for t in range(self.steps):
            slope = prefs.margin - prefs.matvec(problem.matvec(prefs.rmatvec(b))) / lam
            a, before = np.clip(b + rate * slope, 0, prefs.weight), a
            b = a + t / (t + 3) * (a - before)
        coef = prefs.rmatvec(a) / lam
        return {
            "dual": lambda: Solution(problem, lam, dual=a),
            "coef": lambda: Solution(problem, lam, coef=coef),
            "both": lambda: Solution(problem, lam, coef=coef, dual=a),
            "outside": lambda: Solution(problem, lam, coef=coef, dual=a + 1e-9),
        }[self.answers]()


# The guarantee


@pytest.mark.parametrize("kernel", [*KERNELS[:2], pytest.param(KERNELS[2], marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_the_gap_is_at_most_eps_at_every_lambda(kind, kernel, amount):
    problem = build(kind, kernel)
    exact = rb.solve_path(problem, lam_min=0.5 * LAM_MIN_RATIO * problem.lam_max)
    for eps in amount((0.3, 1e-2), (0.3, 1e-2, 1e-3)):
        path = follow(problem, eps)
        assert path.status in ("lam_min", "complete")
        known = exact if path.domain[0] > 0 or exact.status == "complete" else None
        check(path, eps, amount(15, 150), known)


@pytest.mark.parametrize("kind", ["plain", "grid", "weights", "small"])
def test_the_guarantee_holds_at_hundreds_of_lambdas_with_qp(kind, amount):
    problem = build(kind, "rbf", seed=1)
    path = follow(problem, 1e-2, 1e-2 * problem.lam_max, inner="qp")
    assert path.info["inner"].startswith("qp") and path.domain[0] == 1e-2 * problem.lam_max
    check(path, 1e-2, amount(150, 500), rb.solve_path(problem, lam_min=5e-3 * problem.lam_max))


@pytest.mark.parametrize("eps", [1e-4, 1e-6, 1e-8])
def test_a_small_eps_is_kept_too(eps, amount):
    problem = build("copies", "linear")
    path = follow(problem, eps, 0.5 * problem.lam_max)
    check(path, eps, amount(50, 200), rb.solve_path(problem, lam_min=0.4 * problem.lam_max))


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    kernel=st.sampled_from(KERNELS),
    eps=st.floats(1e-3, 0.9),
    depth=st.floats(1e-4, 1),
)
def test_the_guarantee_on_any_problem(seed, kind, kernel, eps, depth):
    problem = build(kind, kernel, seed)
    if problem.lam_max:
        check(follow(problem, eps, depth * problem.lam_max), eps, 40)


def test_queries_of_one_level_poly_and_callable_kernels():
    rng = np.random.default_rng(3)
    X, qid = rng.normal(size=(20, 2)), np.repeat([0, 1, 2, 3], 5)
    y = np.where(qid == 1, 0, rng.integers(0, 3, 20))
    for kernel in ("poly", lambda A, B: 1 + A @ B.T):
        check(follow(rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid), kernel), 1e-2), 1e-2)


# The number of solves


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("eps", [1e-2, 1e-3])
def test_few_solves(kernel, eps):
    """Far below what is proven for any data, and none in vain."""
    data = make_mixture(n_per_class=20, seed=4)
    problem = rb.RankSVMProblem(data.X, rb.Preferences.from_scores(data.y), kernel)
    path = follow(problem, eps, 1e-3 * problem.lam_max)
    safe = max(np.roots([1, -2, 1, -4 * eps]).real)
    assert path.info["solves"] < np.log(1e3) / np.log(safe) / 2
    assert path.info["solves"] == path.breakpoints.size - 1


# Inner solvers


@pytest.mark.parametrize("answers", ["dual", "both", "outside"])
def test_a_plugin_that_solves_one_lambda_gets_a_path(answers):
    problem, inner = build("grid", "rbf"), Ascent(answers=answers)
    path = follow(problem, 1e-2, 0.1 * problem.lam_max, inner=inner)
    assert path.info["inner"] == "ascent" and path.info["solves"] == len(inner.asked) == len(
        set(inner.asked)
    )
    assert path.solver.startswith("epsilon")
    check(path, 1e-2, 300, rb.solve_path(problem, lam_min=0.05 * problem.lam_max))


def test_a_plugin_without_multipliers_gets_fitted_ones():
    problem = build("plain", "rbf")
    path = follow(problem, 0.5, 0.3 * problem.lam_max, inner=Ascent(answers="coef"))
    check(path, 0.5, 200)
    with pytest.raises(RuntimeError, match="no multipliers; these were fitted"):
        follow(problem, 1e-6, 0.3 * problem.lam_max, inner=Ascent(answers="coef"))


def test_an_inexact_inner_solver_still_ends_within_eps():
    """Every solve is allowed to be off by half of eps; the rest pays for what lies between."""
    problem, inner = build("plain", "rbf"), Ascent(steps=5000)
    found = max(
        rb.solve(problem, share * problem.lam_max, solver=Ascent(steps=60)).certificate.relative_gap
        for share in np.linspace(0.3, 0.9, 25)
    )
    assert found > 1e-6
    path = follow(problem, 2.2 * found, 0.3 * problem.lam_max, inner=Ascent(steps=60))
    check(path, 2.2 * found, 200)
    assert (
        path.info["solves"]
        >= follow(problem, 2.2 * found, 0.3 * problem.lam_max, inner=inner).info["solves"]
    )


def test_an_inaccurate_inner_solver_is_named():
    problem = build("plain", "rbf")
    lam = 1e-3 * problem.lam_max
    gap = rb.solve(problem, lam, solver=Ascent(steps=5)).certificate.relative_gap
    with pytest.raises(RuntimeError) as error:
        follow(problem, 1e-2, lam, inner=Ascent(steps=5))
    for part in (
        "'ascent'",
        f"gap of {gap:.2g}",
        f"lam = {lam:.6g}",
        "half of eps = 0.01",
        f"eps >= {2 * gap:.2g}",
    ):
        assert part in str(error.value)


def test_a_registered_name_serves_and_its_errors_come_through():
    class Failing(Ascent):
        name = "failing"

        def solve(self, problem, lam):
            if lam < 0.5 * problem.lam_max:
                raise ZeroDivisionError("one over nothing")
            return super().solve(problem, lam)

    rb.register_solver(Failing)
    try:
        problem = build("plain", "rbf")
        check(follow(problem, 1e-2, 0.6 * problem.lam_max, inner="failing"), 1e-2)
        with pytest.raises(ZeroDivisionError, match="one over nothing") as error:
            follow(problem, 1e-2, 0.1 * problem.lam_max, inner="failing")
        assert "raised by the solver 'failing'" in error.value.__notes__
    finally:
        rb.unregister_solver("failing")


def test_an_inner_solver_without_solve_is_refused_by_the_registry():
    class OnlyPath(rb.Solver):
        name, provides = "only-path", frozenset({"path"})

        def path(self, problem, lam_min):
            raise AssertionError("not asked")

    with pytest.raises(ValueError, match="'only-path', which provides path but not solve"):
        follow(build("plain", "rbf"), inner=OnlyPath())


def test_what_the_inner_solver_cannot_do_is_said_in_its_words():
    class Linear(Ascent):
        name, kernels, weights = "linear-only", ("linear",), False

    with pytest.raises(
        ValueError, match="inner solver 'linear-only' says: it takes the kernels linear, not rbf"
    ):
        follow(build("plain", "rbf"), inner=Linear())
    with pytest.raises(ValueError, match="no weights other than 1"):
        follow(build("weights", "linear"), inner=Linear())
    assert (
        follow(build("plain", "linear"), 0.3, inner=Linear(3000), lam_min=1.0).info["inner"]
        == "linear-only"
    )


# Where a path ends


def test_the_end_is_where_it_was_asked_for():
    problem = build("copies", "rbf")  # not all of which can be met
    assert follow(problem, 0.1).domain[0] == LAM_MIN_RATIO * problem.lam_max
    assert follow(problem, 0.1, 0.2).domain[0] == 0.2
    with pytest.raises(ValueError, match=r"lam is 0\.19.*lam_min.*lam >= 0\.2"):
        follow(problem, 0.1, 0.2).coef(0.19)
    with pytest.raises(ValueError, match="lam_min"):
        follow(problem, 0.1, -1)


def test_above_lam_max_nothing_is_solved():
    problem = build("plain", "rbf")
    with pytest.raises(ValueError, match="lam_min is .*, and lam_max is"):
        follow(problem, lam_min=2 * problem.lam_max)
    for factor in (1.0, 2.0):
        path = rb.get_solver("epsilon", inner=Ascent(steps=0), eps=1e-3).path(
            problem, factor * problem.lam_max
        )
        assert (
            path.info["solves"] == 0
            and path.domain[0] == factor * problem.lam_max
            and path.breakpoints.size == (factor == 1.0)
        )
        assert path.certificate(2.5 * problem.lam_max).relative_gap < 1e-12
        ((lams, G),) = path.breakpoint_scores(problem.X)
        assert (
            lams[-1] == path.domain[0]
            and (np.diff(lams) < 0).all()
            and np.allclose(G[-1], lams[-1] * path.predict(problem.X, lams[-1]))
        )


def test_data_that_can_be_met_are_served_down_to_zero():
    problem = build("separable", "linear")
    path = follow(problem, 1e-3, 1e-9 * problem.lam_max)
    assert (
        path.status == "complete"
        and path.domain[0] == 0
        and path.breakpoints[-1] > 1e-9 * problem.lam_max
    )
    check(path, 1e-3, 300)
    low = path.breakpoints[-1]
    assert np.allclose(path.coef(1e-6 * low), path.coef(low))
    with pytest.raises(ValueError, match="^lam is 0, .* lam > 0"):
        path.coef(0)


def test_one_preference_needs_no_solve_at_all():
    path = follow(
        rb.RankSVMProblem([[0.0], [1.0]], rb.Preferences([1], [0], 2), "linear"),
        inner=Ascent(steps=0),
    )
    assert path.status == "complete" and path.info["solves"] == 0
    assert (
        path.predict([[3.0]], 1e-6) == pytest.approx([3.0]) and path.certificate(1e-6).gap < 1e-12
    )


def test_copies_that_nothing_tells_apart():
    problem = rb.RankSVMProblem([[1.0], [1.0]], rb.Preferences([0], [1], 2))
    path = follow(problem)
    assert path.status == "complete" and path.breakpoints.size == 0 and path.domain == (0, np.inf)
    assert all(path.certificate(lam).gap == 0 for lam in (1e-6, 1.0, 1e6))
    assert rb.validation_curve(
        path, [[0.0], [1.0]], rb.Preferences([0], [1], 2)
    ).values.tolist() == [0.5]


def test_the_refinement_never_goes_on_for_ever():
    """Breakpoints that are no solutions at all: the refine ends in an error."""
    problem = build("plain", "rbf")
    weight = problem.prefs.weight
    with pytest.raises(ArithmeticError, match="rounding errors leave a relative gap"):
        refine_segment(
            problem,
            1e-3 * problem.lam_max,
            1e-3,
            lambda lam: make_breakpoint(problem, lam, np.zeros(24), np.zeros(len(weight))),
        )


# What follows from a path


@pytest.mark.parametrize(
    "kind, kernel",
    [("plain", "rbf"), ("grid", "linear"), ("separable", "linear"), ("weights", "precomputed")],
)
def test_a_validation_curve_is_exact_for_what_the_path_answers(kind, kernel):
    problem, rng = build(kind, kernel), np.random.default_rng(5)
    path = follow(problem, 5e-2)
    X_val = problem.X + (0 if kernel == "precomputed" else 0.3 * rng.normal(size=problem.X.shape))
    prefs = rb.Preferences.from_scores(rng.permutation(np.arange(24) % 4))
    curve = rb.validation_curve(path, X_val, prefs)
    low = max(path.domain[0], 1e-7 * problem.lam_max)
    for lam in np.exp(rng.uniform(np.log(low), np.log(2 * problem.lam_max), 200)):
        if np.abs(curve.breaks[1:-1] / lam - 1).min(initial=1.0) > 1e-6:
            d = prefs.matvec(path.predict(X_val, lam))
            tied = np.abs(d) <= 1e-9 * np.abs(path.predict(X_val, lam)).max()
            assert curve.at(lam) == pytest.approx(
                ((d < 0) & ~tied).mean() + tied.mean() / 2, abs=1e-12
            )
    assert path.domain[0] <= curve.choose()


@pytest.mark.parametrize("kind", ["plain", "copies"])  # complete, and not
def test_knots_are_where_the_path_answers(kind):
    path = follow(build(kind, "rbf"), 1e-2)
    assert (path.status == "complete") is (kind == "plain")
    new = np.random.default_rng(6).normal(size=(4, 3))
    ((lams, G),) = path.breakpoint_scores(new)
    assert (
        (np.diff(lams) < 0).all() and lams[0] > path.problem.lam_max and lams[-1] == path.domain[0]
    )
    for t in range(len(lams) - 1):
        middle = (lams[t] + lams[t + 1]) / 2
        for lam, g in ((lams[t], G[t]), (lams[t + 1], G[t + 1]), (middle, (G[t] + G[t + 1]) / 2)):
            scores = lam * path.predict(new, lam) if lam else np.zeros(4)
            assert np.allclose(scores, g, rtol=1e-9, atol=1e-9 * np.abs(G).max())
    with pytest.raises(ValueError):
        list(path.breakpoint_scores(np.ones((2, 4))))


class Descent(rb.Solver):
    """A plugin for smooth losses: scipy's L-BFGS on the coefficients of an eigendecomposition."""

    name, problems, provides, losses = "descent", ("RankSVMProblem",), {"solve"}, {"smooth"}
    summary = "L-BFGS."

    def solve(self, problem, lam):
        from scipy.optimize import minimize

        values, V = np.linalg.eigh(problem.gram)
        kept = values > 1e-12 * values.max()
        Z = V[:, kept] * np.sqrt(values[kept])

        def objective(w):
            sums = problem.summed.evaluate(Z @ w)
            return lam / 2 * w @ w + sums.loss, lam * w - Z.T @ sums.score_gradient

        found = minimize(objective, np.zeros(Z.shape[1]), jac=True, options=dict(gtol=1e-9))
        slopes = problem.summed.evaluate(Z @ found.x).score_gradient
        return rb.Solution(problem, lam, coef=slopes / lam, solver="descent")


@pytest.mark.parametrize("inner", [None, "newton", Descent])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_smooth_losses_are_kept_over_ranges(kernel, inner, tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(25, 3)), rng.integers(0, 3, 25)
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), kernel=kernel, loss="logistic")
    path = rb.solve_path(problem, solver="epsilon", inner=inner, eps=1e-2)
    low, top = path.domain[0], path.breakpoints[0]
    lams = np.exp(rng.uniform(np.log(low), np.log(1e4 * top), 300))
    assert max(path.certificate(lam).relative_gap for lam in lams) <= 1e-2
    for lam in lams[:4]:
        alone = rb.solve(problem, lam, solver="newton").certificate.primal
        assert path.certificate(lam).primal <= alone + 1e-2 * max(1.0, alone)
    file = tmp_path / "path.rankbook"
    path.save(file)
    again = rb.load(file)
    assert np.array_equal(again.coef(2 * low), path.coef(2 * low))
    longer = again.resume(low / 3)
    assert longer.domain[0] == low / 3 and longer.certificate(low / 2).relative_gap <= 1e-2


def test_a_rough_inner_solver_of_a_smooth_loss_is_named():
    class Rough(Descent):
        name, tol = "rough", None

        def solve(self, problem, lam):
            return rb.Solution(problem, lam, coef=np.zeros(problem.n_items), solver="rough")

    X, y = np.random.default_rng(1).normal(size=(25, 3)), np.arange(25) % 3
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), loss="logistic")
    with pytest.raises(RuntimeError, match="the inner solver 'rough"):
        rb.solve_path(problem, solver="epsilon", inner=Rough, lam_min=0.01)
