"""The L1 penalty against linear programming duality.

Exact everywhere, on ties above all, and never endless.
"""

import math

import numpy as np
import pytest
from corpus import changed, real_data, sparse_corpus, standardised
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import rankbook as rb
from rankbook.solvers.simplex.solver import L1Path

TOL = 1e-9  # of the relative gap, and between two solvers


def l1(X, prefs):
    return rb.RankSVMProblem(X, prefs, kernel="linear", penalty="l1")


def follow(problem, **options):
    """A complete path, within 100 events a preference and feature, with a consistent table."""
    path = rb.solve_path(
        problem, solver="simplex", max_events=100 * (len(problem.prefs) + problem.n_coef), **options
    )
    assert isinstance(path, L1Path) and path.status == "complete", (path, path.info)
    assert (
        path.domain == (0.0, np.inf)
        and (np.diff(path.breakpoints) < 0).all()
        and (path.breakpoints > 0).all()
    )
    assert path.weights.shape == (path.breakpoints.size, problem.n_coef)
    assert (np.diff(path.events["lam"]) <= 0).all()
    if path.breakpoints.size:
        assert path.breakpoints[0] == problem.lam_max
        jump = np.abs(np.diff(np.r_[np.zeros((1, problem.n_coef)), path.weights], axis=0)).max(
            axis=1
        )
        assert (jump > 0).all()
    return path


def random_lams(problem, count, seed=0, depth=1e-5):
    top = problem.lam_max or 1.0
    return np.exp(
        np.random.default_rng(seed).uniform(np.log(depth * top), np.log(1.2 * top), count)
    )


def check_duality(problem, lam, w, dual):
    """Weak duality written down once more, with the matrix Z.

    Both points are feasible to rounding, and their objectives equal.
    """
    prefs = problem.prefs
    Z = prefs.incidence() @ (problem.X - problem.X[0])
    primal = lam * np.abs(w).sum() + prefs.weight @ np.maximum(0, prefs.margin - Z @ w)
    assert (dual >= 0).all() and (dual <= prefs.weight).all()
    pulls = max(
        abs(math.fsum(column)) for column in (Z * dual[:, None]).T
    )  # exact sums: at small lam the rounding of a product shows
    assert pulls <= lam + 1e-9 * max(lam, problem.lam_max)
    lower = dual @ prefs.margin * min(1.0, lam / pulls if pulls else 1.0)
    assert primal - lower <= TOL * max(1.0, primal), (lam, primal, lower)


def check_exact(path, lams):
    for lam in lams:
        solution = path.solution(lam)
        check_duality(path.problem, lam, solution.coef, solution.dual)
        found = solution.certificate
        assert (
            found.relative_gap <= TOL
            and found.complementarity_violation < 1e-6
            and found.box_violation < 1e-6
        ), (lam, found)


def highs(problem, lam):
    """The minimum by HiGHS, from the primal form, which no solver of ours uses."""
    prefs, d = problem.prefs, problem.X.shape[1]
    Z, m = prefs.incidence() @ problem.X, len(prefs)
    result = linprog(
        np.r_[np.full(2 * d, lam), prefs.weight],
        A_ub=-np.c_[Z, -Z, np.eye(m)],
        b_ub=-prefs.margin,
        options=dict(primal_feasibility_tolerance=1e-10, dual_feasibility_tolerance=1e-10),
    )
    assert result.status == 0
    w = result.x[:d] - result.x[d : 2 * d]
    return problem.primal(w, lam)


CORPUS = sparse_corpus()


@pytest.fixture(scope="module", params=CORPUS)
def path(request):
    return follow(l1(*CORPUS[request.param]))


def test_the_certificate_holds_at_random_lambdas(path, amount):
    check_exact(path, random_lams(path.problem, amount(15, 150)))


def test_the_objective_is_that_of_a_linear_program(path, amount):
    problem = path.problem
    for lam in random_lams(problem, amount(1, 8), seed=1, depth=1e-4):
        ours = path.certificate(lam).primal
        assert ours == pytest.approx(highs(problem, lam), rel=TOL, abs=1e-12)


def test_the_descent_gives_the_same_optimum(path, amount):
    problem = path.problem
    for lam in random_lams(problem, amount(3, 20), seed=2):
        solution = rb.solve(problem, lam, solver="simplex")
        check_duality(problem, lam, solution.coef, solution.dual)
        assert solution.certificate.primal == pytest.approx(
            path.certificate(lam).primal, rel=TOL, abs=1e-12
        )


def test_no_breakpoint_is_missing_and_none_is_spurious(path, amount):
    """Between neighbours one w is optimal at both ends.

    Then, by concavity of the minimum, it is on all of the segment.
    """
    problem, prefs = path.problem, path.problem.prefs
    ends = np.r_[path.breakpoints, 0.0]
    last = len(path.breakpoints) - 1
    for t in np.unique(np.linspace(0, last, amount(3, 25)).astype(int)) if last >= 0 else ():
        w = path.weights[t]
        for lam in (ends[t], (ends[t] + ends[t + 1]) / 2, ends[t + 1]):
            if lam > 1e-9 * problem.lam_max:
                assert problem.primal(w, lam) == pytest.approx(
                    highs(problem, lam), rel=TOL, abs=1e-12
                )
        if t > 0:  # w before and after differ in what they cost below and above
            assert np.abs(w).sum() > np.abs(path.weights[t - 1]).sum() * (1 - 1e-9)
    assert prefs is path.problem.prefs


def test_the_end_is_the_hard_margin_or_a_least_loss(path):
    problem, prefs = path.problem, path.problem.prefs
    counted = prefs.weight > 0
    w = path.weights[-1] if len(path.breakpoints) else np.zeros(problem.n_coef)
    if (prefs.matvec(problem.X @ w) >= prefs.margin * (1 - 1e-9))[counted].all():
        hard = path.solution(0)
        assert hard.certificate.is_optimal(1e-8), hard.certificate
    else:
        with pytest.raises(ValueError, match="lam is 0, and this path ends"):
            path.solution(0)
        loss = lambda w: prefs.weight @ np.maximum(0, prefs.margin - prefs.matvec(problem.X @ w))
        assert loss(w) <= (loss(w) + highs(problem, 1e-7 * (problem.lam_max or 1))) / 2 * (1 + 1e-6)


def test_separable_data_are_among_them():
    ends = [
        follow(l1(*CORPUS[name])).solution(0).certificate.is_optimal(1e-8)
        for name in ("separable", "separable integers", "d > n", "one preference")
    ]
    assert all(ends)


@pytest.mark.parametrize(
    "name", ["integer grid", "binary features", "repeated preferences", "copies that contradict"]
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_another_shift_gives_the_same_function_of_lambda(name, seed):
    problem = l1(*CORPUS[name])
    one, other = follow(problem), follow(problem, seed=seed, perturbation=1e-7)
    for lam in random_lams(problem, 30):
        assert one.certificate(lam).primal == pytest.approx(other.certificate(lam).primal, rel=TOL)


def test_equal_sums_in_another_order_end_the_descent():
    """At lam = 1 the slope of an edge is the sum of its turns exactly, and rounding hid its end."""
    X = [[2, 0, 2, 1, 1, 0, 1], [1, 0, 0, 2, 2, 2, 2], [2, 0, 0, 0, 0, 2, 2]]
    X = np.array([*X, [2, 0, 1, 0, 1, 1, 0], [1, 2, 0, 2, 1, 1, 2]], dtype=float)
    problem = l1(X, rb.Preferences.from_scores([2, 1, 1, 3, 0]))
    found = rb.solve(problem, 1.0).certificate
    assert found.is_optimal(TOL) and found.primal == pytest.approx(highs(problem, 1.0), rel=TOL)


def test_a_violation_that_is_rounding_ends_the_descent():
    """At 1e-8 lam_max, edges whose slopes are rounding errors were exchanged for ever."""
    rng = np.random.default_rng([36, 264])
    n, d = int(rng.integers(4, 40)), int(rng.integers(1, 8))
    X, *_ = (
        rng.integers(0, 2, (n, d)).astype(float),
        rng.integers(0, 3, (n, d)),
        rng.normal(size=(n, d)),
    )
    y = rng.integers(0, int(rng.integers(2, 5)), n)
    problem = l1(X, rb.Preferences.from_scores(y))
    assert rb.solve(problem, 1e-8 * problem.lam_max).certificate.is_optimal(1e-7)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_any_small_integers(data):
    n, d = data.draw(st.integers(2, 7)), data.draw(st.integers(1, 4))
    small = lambda low, high, *shape: np.array(
        data.draw(
            st.lists(
                st.integers(low, high), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))
            )
        )
    ).reshape(shape)
    X, m = small(-2, 2, n, d).astype(float), data.draw(st.integers(1, 12))
    better = small(0, n - 1, m)
    worse = (better + small(1, n - 1, m)) % n
    weight = small(0, 2, m).astype(float)
    if not weight.any():
        weight[0] = 1
    problem = l1(X, rb.Preferences(better, worse, n, weight, small(1, 3, m).astype(float)))
    path = follow(problem)
    check_exact(path, random_lams(problem, 6))
    for lam in random_lams(problem, 2, seed=3, depth=1e-2):
        assert path.certificate(lam).primal == pytest.approx(
            highs(problem, lam), rel=TOL, abs=1e-12
        )
        solution = rb.solve(problem, lam, solver="simplex")
        check_duality(problem, lam, solution.coef, solution.dual)


@real_data
def test_real_data(name, change):
    X, y = changed(name, 120, change)
    problem = l1(X, rb.Preferences.from_scores(y))
    path = follow(problem)
    check_exact(path, random_lams(problem, 60, depth=1e-6))
    for lam in random_lams(problem, 2, seed=5, depth=1e-4):
        assert path.certificate(lam).primal == pytest.approx(highs(problem, lam), rel=TOL)


# The certificate must catch what is wrong


@pytest.fixture(scope="module")
def solved():
    problem = l1(*CORPUS["plain"])
    lam = 0.05 * problem.lam_max
    return problem, lam, rb.solve(problem, lam, solver="simplex")


def test_every_flipped_multiplier_is_caught(solved):
    problem, lam, solution = solved
    for i in np.flatnonzero(solution.dual):
        dual = solution.dual.copy()
        dual[i] *= -1
        found = problem.certificate(lam, solution.coef, dual)
        assert (
            found.box_violation >= solution.dual[i] / problem.prefs.weight[i]
            and not found.is_optimal()
        )


def test_every_wrong_weight_is_caught(solved):
    problem, lam, solution = solved
    assert solution.certificate.is_optimal(1e-9)
    for j in range(problem.n_coef):
        for change in (-2 * solution.coef[j], 0.01, -0.01, -solution.coef[j]):
            if change:
                w = solution.coef.copy()
                w[j] += change
                assert problem.certificate(lam, w, solution.dual).relative_gap > 1e-6


def test_multipliers_of_another_lambda_are_caught(solved):
    problem, lam, solution = solved
    for factor in (0.5, 0.99, 1.01, 2.0):
        dual = rb.solve(problem, factor * lam, solver="simplex").dual
        found = problem.certificate(lam, solution.coef, dual)
        assert not found.is_optimal() and found.dual <= solution.certificate.primal * (1 + 1e-12)


def test_the_lower_bound_is_one_whatever_comes(solved):
    problem, lam, solution = solved
    rng = np.random.default_rng(0)
    for scale in (0.01, 1, 100):
        found = problem.certificate(
            lam, rng.normal(size=problem.n_coef), scale * rng.normal(size=len(problem.prefs))
        )
        assert found.dual <= solution.certificate.primal <= found.primal


def test_without_multipliers_the_optimum_is_still_proven(path):
    for lam in random_lams(path.problem, 5, depth=1e-3):
        found = path.problem.certificate(lam, path.coef(lam))
        assert found.dual <= found.primal * (1 + 1e-12)


def test_without_multipliers_the_gap_closes_on_plain_data(solved):
    problem, lam, solution = solved
    assert problem.certificate(lam, solution.coef).relative_gap < 1e-9


def test_nothing_is_called_proven(solved):
    _, _, solution = solved
    assert solution.certificate.radius == np.inf and not solution.proven([0, 1], [2, 3]).any()


def test_hard_margin_mutations():
    problem = l1(*CORPUS["separable"])
    hard = follow(problem).solution(0)
    for i in np.flatnonzero(hard.dual):
        dual = hard.dual.copy()
        dual[i] *= -1
        assert not problem.certificate(0, hard.coef, dual).is_optimal()
    for wrong in (0.9 * hard.coef, -hard.coef, hard.coef + 0.01):
        assert not problem.certificate(0, wrong, hard.dual).is_optimal()
    assert problem.certificate(0, -hard.coef, hard.dual).primal == np.inf


# The path as others use it


@pytest.mark.parametrize(
    "name",
    ["plain", "integer grid", "separable", "copies that contradict", "d > n", "twin features"],
)
def test_the_validation_curve_by_brute_force(name):
    """The disagreement of the scores X w, ties counting one half.

    It is taken at random lambdas and in the middle of every segment.
    """
    problem = l1(*CORPUS[name])
    path, rng = follow(problem), np.random.default_rng(5)
    X_val = rng.integers(-2, 3, (15, problem.n_coef)).astype(float)
    prefs = rb.Preferences.from_scores(rng.integers(0, 3, 15))
    curve = rb.validation_curve(path, X_val, prefs)
    ends = np.r_[2 * problem.lam_max, path.breakpoints, 0.0]
    for lam in np.r_[(ends[1:] + ends[:-1]) / 2, random_lams(problem, 50)]:
        f = X_val @ path.coef(lam)
        d = f[prefs.better] - f[prefs.worse]
        tie = np.abs(d) <= 1e-10 * np.abs(f).max()
        assert curve.at(lam) == pytest.approx(np.where(tie, 0.5, d < 0).mean(), abs=1e-12)
    assert np.isin(np.round(curve.breaks[1:-1], 9), np.round(path.breakpoints, 9)).all()


def test_breakpoints_in_blocks_join(monkeypatch):
    from rankbook.solvers.simplex import solver

    problem = l1(*CORPUS["plain"])
    path = follow(problem)
    X_new = np.random.default_rng(0).normal(size=(4, 4))
    whole = [np.concatenate(part) for part in zip(*path.breakpoint_scores(X_new))]
    for rows in (1, 3):
        monkeypatch.setattr(solver, "ROWS", rows)
        blocks = list(path.breakpoint_scores(X_new))
        for (lams, G), (more, H) in zip(blocks, blocks[1:]):
            assert lams[-1] == more[0] and np.array_equal(G[-1], H[0])
        assert np.array_equal(
            np.unique(np.concatenate([lams for lams, _ in blocks])), np.unique(whole[0])
        )
    assert whole[0][0] > problem.lam_max and whole[0][-1] == 0
    with pytest.raises(ValueError, match="X_new has 3 columns. Pass 4 columns"):
        list(path.breakpoint_scores(X_new[:, :3]))


def test_a_path_may_end_early():
    problem = l1(*CORPUS["plain"])
    whole = follow(problem)
    lam_min = 0.1 * problem.lam_max
    part = rb.solve_path(problem, lam_min=lam_min, solver="simplex")
    assert part.status == "lam_min" and part.domain[0] == lam_min
    assert np.array_equal(part.breakpoints, whole.breakpoints[whole.breakpoints > lam_min])
    with pytest.raises(ValueError, match="below the end of this path"):
        part.solution(0.9 * lam_min)
    for count in (0, 1, 7):
        short = rb.solve_path(problem, solver="simplex", max_events=count)
        assert short.status == "max_events" and short.info["events"] >= count
    with pytest.raises(ValueError, match="lam_min is .*, and lam_max is"):
        rb.solve_path(problem, lam_min=2 * problem.lam_max, solver="simplex")


def test_a_numerical_end_is_told(monkeypatch):
    from rankbook.paths.exact import End
    from rankbook.solvers.simplex import solver as simplex

    original = simplex.follow_events
    monkeypatch.setattr(
        simplex, "follow_events", lambda *args: (*original(*args)[:3], End.SINGULAR)
    )
    path = rb.solve_path(l1(*CORPUS["plain"]), solver="simplex")
    assert path.status == "numerical" and "singular" in path.info["reason"]


# Bad input, and who refuses what


@pytest.mark.parametrize(
    "options, words",
    [
        (dict(kernel="rbf", penalty="l1"), "penalty is 'l1' and kernel is 'rbf'"),
        (dict(kernel="poly", penalty="l1"), "Pass kernel='linear'"),
        (dict(penalty="l3"), "penalty is 'l3'.*l1, l2"),
        (dict(penalty=None), "penalty is None"),
        (dict(penalty=1), "penalty is 1"),
    ],
)
def test_bad_penalties(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        rb.RankSVMProblem(np.eye(2), rb.Preferences([0], [1], 2), **options)


def test_plugins_that_never_heard_of_penalties_are_not_asked():
    class Bare(rb.Solver):
        name = "bare"

        def solve(self, problem, lam):
            raise AssertionError("asked")

    class Agreeable(Bare):
        def can_solve(self, problem):
            return True

    for plugin in (Bare, Agreeable):
        with pytest.raises(ValueError, match="penalty l2, not l1"):
            rb.solve(l1(*CORPUS["plain"]), 1.0, solver=plugin)


def test_coefficients_of_the_wrong_kind_are_refused():
    problem = l1(*CORPUS["plain"])
    for coef in (np.zeros(problem.n_items), np.zeros((4, 1)), [np.nan] * 4):
        with pytest.raises(ValueError, match="coef has shape"):
            rb.Solution(problem, 1.0, coef)
    with pytest.raises(ValueError, match="coef is None"):
        rb.Solution(problem, 1.0, dual=np.zeros(len(problem.prefs)))
    with pytest.raises(ValueError, match="coef is None"):
        problem.certificate(1.0, dual=np.zeros(len(problem.prefs)))
    with pytest.raises(ValueError, match="3 columns"):
        problem.predict(np.zeros(4), np.ones((2, 3)))


# The estimator


@pytest.mark.data
def test_the_estimator(data_dir):
    X, y = standardised("auto", 100)
    model = rb.RankSVM(lam=50.0, kernel="linear", penalty="l1").fit(X, y)
    assert (
        model.solver_.startswith("simplex")
        and model.certificate_.relative_gap < TOL
        and not hasattr(model, "dual_coef_")
    )
    assert np.array_equal(model.coef_, model.solution_.coef) and np.allclose(
        model.predict(X), X @ model.coef_
    )
    least = highs(model.solution_.problem, 50.0)
    assert model.certificate_.primal == pytest.approx(least, rel=TOL)
    model.set_params(penalty="l2").fit(X, y)
    assert not np.array_equal(model.coef_, model.solution_.coef) and np.allclose(
        X.T @ model.solution_.coef, model.coef_
    )
    model.set_params(penalty="l1").fit(X, y)
    assert np.array_equal(model.coef_, model.solution_.coef)
    with pytest.raises(ValueError, match="penalty is 'l1' and kernel is 'rbf'"):
        rb.RankSVM(penalty="l1").fit(X, y)


@pytest.mark.parametrize("d", [1, 4])
def test_the_largest_basis_is_the_largest_number_of_weights(d):
    rng = np.random.default_rng(0)
    prefs = rb.Preferences.from_scores(rng.integers(0, 3, 12))
    path = rb.solve_path(rb.RankSVMProblem(rng.normal(size=(12, d)), prefs, "linear", penalty="l1"))
    weights = [path.solution(lam).weights for lam in path.breakpoints[1:] * (1 + 1e-7)]
    assert path.info["largest_basis"] == max((np.abs(w) > 1e-12).sum() for w in weights) == d
