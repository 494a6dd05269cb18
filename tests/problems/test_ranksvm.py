"""Problems and certificates: nothing wrong may pass for optimal.

Every bad argument is refused in its own words.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbook as rb
from rankbook.kernels.kernel import Kernel
from rankbook.problems.certificate import SmoothedDual, Solution


def random_problem(seed, kernel="rbf", n=12, weights=True):
    rng = np.random.default_rng(seed)
    prefs = rb.Preferences.from_scores(rng.integers(0, 3, n))
    if weights:
        prefs = prefs.reweighted(
            weight=rng.uniform(0.1, 10, len(prefs)), margin=rng.uniform(0.5, 2, len(prefs))
        )
    return rb.RankSVMProblem(rng.normal(size=(n, 2)), prefs, kernel)


def optimum(problem, lam):
    """An optimal dual, from SciPy: not from any solver of ours."""
    from scipy.optimize import lsq_linear

    P = problem.prefs.incidence().toarray()
    K = problem.X @ problem.X.T if problem.is_factored else problem.gram
    H = P @ K @ P.T / lam
    values, vectors = np.linalg.eigh(H)
    keep = values > 1e-13 * values[-1]
    root = vectors[:, keep] * np.sqrt(values[keep])
    # the ridge makes the linear term expressible; it moves the optimum by less than 1e-8
    ridge = 1e-9 * values[-1]
    A = np.vstack([root.T, np.sqrt(ridge) * np.eye(len(P))])
    b = np.r_[np.zeros(root.shape[1]), problem.prefs.margin / np.sqrt(ridge)]
    return lsq_linear(A, b, (0, problem.prefs.weight), method="bvls", tol=1e-15, max_iter=5000).x


# The problem itself


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_objective_and_products_by_definition(kernel):
    problem = random_problem(0, kernel)
    prefs, coef = problem.prefs, np.random.default_rng(1).normal(size=12)
    K = {
        "linear": lambda X: X @ X.T,
        "rbf": lambda X: np.exp(-((X[:, None] - X) ** 2).sum(-1) / 2),
        "poly": lambda X: (X @ X.T / 2 + 1) ** 3,
    }[kernel](problem.X)
    coef -= coef.mean()  # as they are when they come from preferences
    f = K @ coef
    level = lambda f: f - f.mean()  # scores are defined up to a constant
    assert np.allclose(level(problem.matvec(coef)), level(f))
    miss = sum(
        c * max(0, d - f[k] + f[l])
        for k, l, c, d in zip(prefs.better, prefs.worse, prefs.weight, prefs.margin)
    )
    assert problem.primal(coef, 0.7) == pytest.approx(0.35 * coef @ f + miss)
    assert np.allclose(level(problem.predict(coef, problem.X)), level(f))
    assert np.allclose(problem.matvec(coef + 7), problem.matvec(coef)) and problem.primal(
        coef + 7, 0.7
    ) == pytest.approx(problem.primal(coef, 0.7))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_lam_max_is_where_the_first_preference_reaches_its_margin(kernel):
    problem = random_problem(1, kernel)
    capped = problem.prefs.weight
    assert problem.certificate(1.0001 * problem.lam_max, dual=capped).is_optimal(1e-10)
    assert not problem.certificate(0.99 * problem.lam_max, dual=capped).is_optimal(1e-10)


def test_lam_max_does_not_hear_preferences_without_weight():
    prefs = rb.Preferences([1, 2], [0, 0], 3, weight=[1.0, 0.0])
    assert rb.RankSVMProblem([[0.0], [1.0], [10.0]], prefs, kernel="linear").lam_max == 1.0


@pytest.mark.parametrize("entries", [1, 24, 100])
def test_prediction_in_blocks_is_prediction_in_one_piece(monkeypatch, entries):
    from rankbook.kernels import linear_map as kernel_map

    problem = random_problem(2)
    coef, X_new = (
        np.random.default_rng(0).normal(size=12),
        np.random.default_rng(1).normal(size=(31, 2)),
    )
    whole = problem.predict(coef, X_new)
    monkeypatch.setattr(kernel_map, "BLOCK", entries)
    assert np.allclose(problem.predict(coef, X_new), whole, rtol=1e-13)
    assert problem.predict(coef, np.empty((0, 2))).shape == (0,)


PREFS = rb.Preferences.from_scores([0, 1, 2])
X3 = np.arange(6.0).reshape(3, 2)


def with_bad(value):
    X = X3.copy()
    X[2, 1] = value
    return X


@pytest.mark.parametrize(
    "args, options, error, words",
    [
        ((X3[:2], PREFS), {}, ValueError, "X has 2 rows and prefs has 3 items"),
        ((X3.ravel(), PREFS), {}, ValueError, "X has shape"),
        ((X3[:, :0], PREFS), {}, ValueError, "X has shape"),
        ((with_bad(np.nan), PREFS), {}, ValueError, "X has NaN in row 2, column 1"),
        ((with_bad(-np.inf), PREFS), {}, ValueError, "X has -inf.* in row 2, column 1"),
        ((X3 * 1j, PREFS), {}, TypeError, "X has complex"),
        (
            (X3.astype(str), PREFS),
            {"kernel": "rfb"},
            ValueError,
            "kernel is 'rfb'.*did you mean 'rbf'",
        ),
        ((X3, [(1, 0)]), {}, TypeError, "prefs is a list"),
        ((X3, rb.Preferences.from_scores([1, 1, 1])), {}, ValueError, "prefs has no preference"),
        (
            (X3, rb.Preferences.from_scores([0, 1, 2], qid=[0, 1, 2])),
            {},
            ValueError,
            "prefs has no preference",
        ),
        ((X3, PREFS.reweighted(weight=np.zeros(3))), {}, ValueError, "weight 0"),
        ((X3, PREFS), {"kernel": "precomputed"}, ValueError, "square"),
        ((X3, PREFS), {"gamma": 0}, ValueError, "gamma is 0"),
        ((X3, PREFS), {"gamma": -1.0}, ValueError, "gamma is -1.0"),
        ((X3, PREFS), {"gamma": "auto"}, TypeError, "gamma is 'auto'"),
        ((X3, PREFS), {"kernel": Kernel("poly"), "gamma": 2.0}, ValueError, "gamma is 2.0, and"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_arguments_are_refused_in_their_name(args, options, error, words):
    with pytest.raises(error, match=words):
        rb.RankSVMProblem(*args, **options)


@pytest.mark.parametrize(
    "K, words",
    [
        (np.array([[1.0, 0.5], [0.4, 1.0]]), "not symmetric"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "negative eigenvalue"),
        (-np.eye(2), "negative eigenvalue"),
    ],
)
def test_matrices_that_are_no_kernels(K, words):
    prefs = rb.Preferences([0], [1], 2)
    with pytest.raises(ValueError, match=words):
        rb.RankSVMProblem(K, prefs, "precomputed").gram
    with pytest.raises(ValueError, match=words):
        rb.solve_path(rb.RankSVMProblem(np.eye(2), prefs, lambda A, B: K))


@pytest.mark.parametrize("lam", [0, -1.0, np.nan, np.inf, "1", None, [1.0]])
def test_lambdas_that_make_no_sense(lam):
    with pytest.raises((ValueError, TypeError), match="lam is"):
        rb.solve(random_problem(0), lam, solver="path")


def test_a_kernel_matrix_that_would_not_fit_is_refused_with_its_size(monkeypatch):
    problem = random_problem(0)
    monkeypatch.setattr("rankbook.base.limits.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"needs 1,152 bytes.*linear"):
        problem.gram
    assert "gram" not in vars(problem)  # nothing half done


def test_a_list_of_preferences_that_would_not_fit_is_refused_with_its_size(monkeypatch):
    problem = rb.RankSVMProblem(
        np.arange(100.0)[:, None], rb.Preferences.from_scores(np.arange(100) % 2), kernel="linear"
    )
    monkeypatch.setattr("rankbook.base.limits.available_memory", lambda: 60_000)
    with pytest.raises(MemoryError, match=r"2,500 preferences.*bytes.*star"):
        rb.solve_path(problem)


# Certificates


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_weak_duality_and_the_radius_hold_for_any_answer(seed, kernel):
    """However wrong an answer is, the true minimum lies between the bounds.

    The true function lies within the radius.
    """
    problem = random_problem(seed, kernel)
    rng = np.random.default_rng(seed)
    lam = 0.05 * problem.lam_max
    best = problem.certificate(lam, dual=optimum(problem, lam))
    assert best.relative_gap < 1e-6
    K = problem.X @ problem.X.T if kernel == "linear" else problem.gram
    exact = problem.prefs.rmatvec(optimum(problem, lam)) / lam
    for trial in range(20):
        noise = 10.0 ** rng.integers(-6, 2)
        coef = exact + noise * rng.normal(size=12)
        dual = (
            optimum(problem, lam) + noise * rng.normal(size=len(problem.prefs))
            if trial % 2
            else None
        )
        found = problem.certificate(lam, coef, dual)
        assert found.dual <= best.primal * (1 + 1e-12) and found.primal >= best.dual * (1 - 1e-12)
        assert found.gap >= -1e-12 * found.primal and found.relative_gap == found.gap / max(
            1, abs(found.primal)
        )
        distance = np.sqrt((coef - exact) @ K @ (coef - exact))
        rounding = np.sqrt(2 * 1e-12 * found.primal / lam)  # of the gap, as above
        assert distance <= np.hypot(found.radius, rounding) + best.radius


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_every_flipped_or_moved_multiplier_is_caught(kernel):
    problem = random_problem(5, kernel)
    prefs = problem.prefs
    lam = 0.02 * problem.lam_max
    dual = rb.solve(problem, lam, solver="path").dual
    assert problem.certificate(lam, dual=dual).is_optimal(1e-9)
    for i in range(len(prefs)):
        moved = [-dual[i]] if dual[i] else [-0.01 * prefs.weight[i], 0.3 * prefs.weight[i]]
        moved += [prefs.weight[i] * 1.01] if dual[i] == prefs.weight[i] else []
        for value in moved:
            wrong = dual.copy()
            wrong[i] = value
            found = problem.certificate(lam, dual=wrong)
            assert not found.is_optimal(1e-9), (i, dual[i], value)
            if value < 0 or value > prefs.weight[i]:
                assert found.box_violation == pytest.approx(
                    max(-value, value - prefs.weight[i]) / prefs.weight[i]
                )


def test_every_flipped_coefficient_is_caught():
    problem = random_problem(6)
    lam = 0.1 * problem.lam_max
    solution = rb.solve(problem, lam, solver="path")
    for i in np.flatnonzero(solution.coef):
        wrong = solution.coef.copy()
        wrong[i] *= -1
        assert not problem.certificate(lam, wrong, solution.dual).is_optimal(1e-6)
        assert not problem.certificate(lam, wrong).is_optimal(1e-6)


def test_multipliers_of_preferences_without_weight_must_be_zero():
    prefs = rb.Preferences([1, 2], [0, 0], 3, weight=[1.0, 0.0])
    problem = rb.RankSVMProblem([[0.0], [1.0], [10.0]], prefs, kernel="linear")
    assert problem.certificate(2.0, dual=np.array([1.0, 0.0])).is_optimal(1e-12)
    for wrong in (0.5, -0.5):
        assert problem.certificate(2.0, dual=np.array([1.0, wrong])).box_violation == 0.5


def test_nothing_that_is_not_a_number_is_certified():
    problem = random_problem(7)
    dual = problem.prefs.weight.copy()
    for bad in (np.nan, np.inf, -np.inf):
        wrong = dual.copy()
        wrong[3] = bad
        with np.errstate(invalid="ignore"):
            assert not problem.certificate(problem.lam_max, dual=wrong).is_optimal(1e300)
            assert not problem.certificate(problem.lam_max, coef=np.full(12, bad)).is_optimal(1e300)


def test_dual_without_multipliers_is_feasible_and_tight_at_the_optimum():
    problem = random_problem(8)
    for part in (0.5, 0.05, 0.005):
        lam = part * problem.lam_max
        coef = rb.solve(problem, lam, solver="path").coef
        dual = problem.penalty.feasible_dual(problem, problem.matvec(coef), lam)
        assert (dual >= 0).all() and (dual <= problem.prefs.weight).all()
        assert problem.certificate(lam, coef).gap >= 0
    zero = problem.certificate(problem.lam_max, coef=np.zeros(12))
    assert (
        zero.primal == pytest.approx(problem.prefs.weight @ problem.prefs.margin)
        and 0 < zero.gap <= zero.primal
    )


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(0, 10_000))
def test_a_proven_order_is_the_order_of_the_optimum(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(seed, ["linear", "rbf"][seed % 2], n=8)
    if not problem.lam_max:
        return
    lam = problem.lam_max * 10 ** rng.uniform(-3, 0)
    exact = rb.solve(problem, lam, solver="path")
    rough = Solution(problem, lam, coef=exact.coef + 10 ** rng.uniform(-8, -1) * rng.normal(size=8))
    i, j = np.triu_indices(8, 1)
    true, guess = problem.matvec(exact.coef), problem.matvec(rough.coef)
    proven = rough.proven(i, j)
    assert (np.sign(true[i] - true[j]) == np.sign(guess[i] - guess[j]))[proven].all()
    assert exact.proven(i, j).sum() >= proven.sum()


# The hard margin


@pytest.mark.parametrize(("penalty", "coef"), [("l2", [-1.0, 1.0, 0.0]), ("l1", [1.0])])
def test_the_hard_margin_measures_violations(penalty, coef):
    prefs = rb.Preferences.from_scores([0, 1, 2])
    problem = rb.RankSVMProblem([[0.0], [1.0], [2.0]], prefs, "linear", penalty=penalty)
    neighbours, outer = ((prefs.better - prefs.worse == step) * 1.0 for step in (1, 2))
    found = problem.certificate(0, np.array(coef), -neighbours)
    assert found.box_violation == 1  # each multiplier has the wrong sign
    found = problem.certificate(0, np.array(coef), outer)
    assert found.complementarity_violation == 1  # f exceeds that margin of 1 by 1


def test_misplaced_weights_and_slopes_are_measured():
    prefs = rb.Preferences.from_scores([0, 1, 2])
    X = [[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]]
    sparse = rb.RankSVMProblem(X, prefs, "linear", penalty="l1")
    first = ((prefs.better == 1) & (prefs.worse == 0)) * 1.0
    found = sparse.certificate(0, np.array([1.0, 0.5]), first)
    assert np.isclose(found.complementarity_violation, 1 / 3)  # nothing pulls at the second weight
    single = rb.RankSVMProblem(
        [[1.0], [0.0]], rb.Preferences.from_scores([1, 0]), "linear", loss="squared"
    )
    best = np.array([2 / 3, -2 / 3])  # (1 - w)^2 + w^2 / 2 is smallest at w = 2/3
    assert single.certificate(1.0, best, np.array([2 / 3])).is_optimal()


def test_multipliers_that_pull_more_than_the_norm_allows_are_measured():
    pair = rb.Preferences.from_scores([0, 1])
    sparse = rb.RankSVMProblem([[0.0], [1.0]], pair, "linear", penalty="l1")
    right, strong = (sparse.certificate(0, np.ones(1), np.array([mu])) for mu in (1.0, 3.0))
    assert right.is_optimal() and right.box_violation == 0
    assert strong.box_violation == 2 and np.allclose([strong.dual, right.dual], 1)


@pytest.mark.parametrize(("penalty", "least"), [("l1", 1.0), ("l2", 0.5)])
def test_a_function_that_falls_short_is_scaled_up_for_its_bound(penalty, least):
    pair = rb.Preferences.from_scores([0, 1])
    problem = rb.RankSVMProblem([[0.0], [1.0]], pair, "linear", penalty=penalty)
    half = np.array([0.5]) if penalty == "l1" else np.array([-0.5, 0.5])  # half of the margin
    assert np.isclose(problem.certificate(0, half).primal, least)


def test_hard_margin_certificates():
    problem = rb.RankSVMProblem(
        [[0.0], [1.0], [3.0]], rb.Preferences.from_scores([0, 1, 2]), "linear"
    )  # w >= 1
    prefs = problem.prefs
    tight = np.flatnonzero((prefs.better == 1) & (prefs.worse == 0))[0]
    mu = np.eye(3)[tight]
    good = problem.penalty.hard_certificate(problem, np.array([1.0]), mu)
    assert (
        good.dual <= 0.5 <= good.primal < 0.5 + 1e-12
        and good.is_optimal(1e-12)
        and problem.certificate(0, np.array([-1.0, 1.0, 0.0]), mu) == good
    )
    for w, dual in (
        (1.1, mu),
        (0.9, mu),
        (-1.0, mu),
        (0.0, mu),
        (1.0, -mu),
        (1.0, 2 * mu),
        (1.0, np.eye(3)[(tight + 1) % 3]),
        (1.0, 0 * mu),
        (1.0, None),
    ):
        found = problem.penalty.hard_certificate(problem, np.array([w]), dual)
        assert not found.is_optimal(1e-6), (w, dual, found)
        assert found.dual <= 0.5 <= found.primal


# Solutions


def test_solutions_complete_themselves_and_refuse_nonsense():
    problem = random_problem(9)
    m = len(problem.prefs)
    solution = Solution(problem, 2.0, dual=np.ones(m))
    assert np.allclose(solution.coef, problem.prefs.rmatvec(np.ones(m)) / 2)
    for options, words in (
        (dict(), "coef and dual are both None"),
        (dict(coef=np.ones(11)), "coef has shape"),
        (dict(dual=np.ones(m + 1)), "dual has shape"),
        (dict(coef=np.full(12, np.nan)), "coef"),
        (dict(dual=np.full(m, np.inf)), "dual"),
        (dict(dual=np.ones((m, 1))), "dual"),
    ):
        with pytest.raises(ValueError, match=words):
            Solution(problem, 2.0, **options)
    with pytest.raises(ValueError, match="lam = 0"):
        Solution(problem, 0, dual=np.ones(m))


def test_a_solution_predicts_what_its_path_predicts():
    problem = random_problem(10)
    path = rb.solve_path(problem)
    lam, X_new = 0.1 * problem.lam_max, np.random.default_rng(0).normal(size=(5, 2))
    assert np.array_equal(path.solution(lam).predict(X_new), path.predict(X_new, lam))
    with pytest.raises(ValueError, match="X_new has 3 columns. Pass 2 columns"):
        path.predict(np.ones((1, 3)), lam)


def test_a_solution_cannot_be_changed_under_its_certificate():
    problem = random_problem(11)
    dual = problem.prefs.weight.copy()
    solution = Solution(problem, 2 * problem.lam_max, dual=dual)
    with pytest.raises(AttributeError):
        solution.lam = 1.0
    assert solution.certificate.is_optimal(1e-10)
    assert "relative gap" in repr(solution) and "gap" in str(solution.certificate)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_correlations_beyond_lambda_are_measured_for_the_l1_penalty(loss):
    """The multipliers of w = 0 pull twice as strongly as is allowed at half of lam_max."""
    base = random_problem(12, "linear")
    problem = rb.RankSVMProblem(base.X, base.prefs, "linear", loss=loss, penalty="l1")
    prefs, w = problem.prefs, np.zeros(2)
    dual = prefs.weight * (2 * prefs.margin if loss == "squared" else 1.0)
    found = problem.certificate(problem.lam_max / 2, w, dual)
    assert np.isclose(found.box_violation, 1.0)
    assert problem.certificate(problem.lam_max, w, dual).box_violation < 1e-12


def test_scaled_multipliers_are_not_complementary():
    """The best multiple of all multipliers at lam = 0.01 lam_max leaves preferences short."""
    problem = random_problem(13, weights=False)
    lam = 0.01 * problem.lam_max
    found = problem.certificate(lam, np.zeros(12), SmoothedDual(0.1))
    assert found.complementarity_violation > 0.5  # of a margin, which all preferences lack


def test_rounding_may_move_a_preference_off_its_margin():
    """A heavy preference at its margin, whose slope is 0, counts; one beyond it does not.

    The scores are 1/4 and -1/4, for the items are centred.
    """
    at, beyond = (
        rb.RankSVMProblem(
            [[1.0], [0.0]], rb.Preferences([0], [1], 2, weight=[1e8], margin=[margin]), "linear"
        )
        .certificate(1.0, np.array([1.0, 0.0]), np.zeros(1))
        .rounding
        for margin in (0.5, 0.25)
    )
    assert at > 1e8 * np.finfo(float).eps > 1e6 * beyond


@pytest.mark.parametrize(
    "primal, relative", [(0.5, 0.25), (1.0, 0.25), (2.0, 0.125), (-4.0, 0.0625)]
)
def test_a_gap_is_relative_to_values_above_1(primal, relative):
    found = rb.Certificate.of(1.0, primal, primal - 0.25, 0.0)
    assert found.relative_gap == pytest.approx(relative, rel=1e-9)
