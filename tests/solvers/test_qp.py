"""The QP solver against SciPy, against itself, and on everything degenerate."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import rankbook as rb
from rankbook.preferences.graph import Preferences
from rankbook.problems.ranksvm import RankSVMProblem
from rankbook.registry.plugins import list_solvers
from rankbook.registry.solve import solve
from rankbook.solvers.qp.programs import _features, dual_form, primal_form, reduce_problem
from rankbook.solvers.qp.solver import QPSolver, qp_backends

FORMS = ("primal", "dual")


def random_weights(prefs, rng, zeros=False):
    weight = rng.uniform(0.1, 10, len(prefs))
    if zeros:
        weight[rng.random(len(prefs)) < 0.3] = 0
        weight[0] = 1
    return prefs.reweighted(weight, rng.uniform(0.5, 2, len(prefs)))


def corpus(n, seed, kernel):
    """Problems that are degenerate in one way each, by name."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), np.r_[0, 1, rng.integers(0, 3, n - 2)]
    full = Preferences.from_scores(y)
    better = rng.integers(0, n, 2 * n)
    tangle = Preferences(better, (better + rng.integers(1, n, 2 * n)) % n, n)
    cases = {
        "plain": (X, full),
        "star": (X, Preferences.from_scores(y, graph="star")),
        "queries": (X, Preferences.from_scores(y, qid=np.r_[4, 4, rng.integers(3, 6, n - 2)])),
        "weights": (X, random_weights(full, rng)),
        "weight 0": (X, random_weights(full, rng, zeros=True)),
        "cycles": (X, tangle),
        "duplicates": (np.repeat(X, 2, axis=0)[:n], full),
        "contradictory duplicates": (np.repeat(X, 2, axis=0)[:n], random_weights(tangle, rng)),
        "grid": (np.round(X), full),
        "rank 1": (np.outer(np.arange(n), [1, 2]), random_weights(full, rng)),
        "two columns": (X[:, :2], full),
        "wide": (rng.normal(size=(n, 2 * n)), full),
        "one point": (np.ones((n, 2)), full),
        "far away": (X + (1000 if kernel != "poly" else 10), full),
        "large": (100 * X, full),
    }
    return {
        name: RankSVMProblem(items, prefs, kernel=kernel) for name, (items, prefs) in cases.items()
    }


NAMES = list(corpus(3, 0, "linear"))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("name", NAMES)
def test_both_forms_certify_from_the_largest_to_the_smallest_lambda(name, kernel, amount):
    for n in amount((12,), (3, 12)):
        problem = corpus(n, 5 * n, kernel)[name]
        for ratio in amount((1e-5, 0.1), (1e-5, 1e-3, 0.1, 1.0, 10.0)):
            lam = ratio * (problem.lam_max or 1.0)
            answers = [QPSolver(form).solve(problem, lam).certificate for form in FORMS]
            for c in answers:
                assert c.relative_gap <= 1e-7 and c.box_violation == 0
            assert answers[0].primal == pytest.approx(answers[1].primal, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("form", FORMS)
def test_precomputed_and_callable_kernels_of_low_rank(form):
    rng = np.random.default_rng(1)
    X, prefs = rng.normal(size=(15, 2)), Preferences.from_scores(rng.integers(0, 4, 15))
    linear, given = (
        RankSVMProblem(X, prefs, kernel="linear"),
        RankSVMProblem(X @ X.T, prefs, kernel="precomputed"),
    )
    called = RankSVMProblem(X, prefs, kernel=lambda A, B: A @ B.T)
    answers = [QPSolver(form).solve(p, 0.3) for p in (linear, given, called)]
    assert all(s.certificate.relative_gap < 1e-8 and s.info["rank"] == 2 for s in answers)
    scores = [p.prefs.matvec(p.matvec(s.coef)) for p, s in zip((linear, given, called), answers)]
    np.testing.assert_allclose(scores, [scores[0]] * 3, atol=1e-6)


def box_dual(problem, lam, upper):
    """The optimum of equation (8) by L-BFGS-B, with the dense m x m matrix."""
    P = problem.prefs.incidence().toarray()
    H, delta = P @ problem.gram @ P.T / lam, problem.prefs.margin
    start = np.zeros(len(delta)) if upper is None else np.array(upper) / 2
    bounds = [(0, None)] * len(delta) if upper is None else list(zip(np.zeros(len(delta)), upper))
    found = minimize(
        lambda a: (a @ H @ a / 2 - delta @ a, H @ a - delta),
        start,
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options=dict(maxiter=20_000, maxfun=100_000, ftol=1e-16, gtol=1e-10, maxcor=30),
    )
    return -found.fun


def primal_optimum(problem, lam):
    """The optimum of equation (6) by SLSQP, in features and slacks.

    The features are X itself, or a Cholesky factor of K.
    """
    R = problem.X if problem.is_factored else np.linalg.cholesky(problem.kernel.gram(problem.X))
    prefs, d = problem.prefs, R.shape[1]
    A = np.hstack([prefs.incidence() @ R, np.eye(len(prefs))])
    found = minimize(
        lambda v: lam / 2 * v[:d] @ v[:d] + prefs.weight @ v[d:],
        np.r_[np.zeros(d), prefs.margin],
        jac=lambda v: np.r_[lam * v[:d], prefs.weight],
        bounds=[(None, None)] * d + [(0, None)] * len(prefs),
        method="SLSQP",
        constraints=dict(type="ineq", fun=lambda v: A @ v - prefs.margin, jac=lambda v: A),
        options=dict(maxiter=1000, ftol=1e-12),
    )
    return found.fun


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_scipy_on_tiny_problems(form, kernel, seed):
    rng = np.random.default_rng(seed)
    prefs = random_weights(Preferences.from_scores(np.r_[0, 1, rng.integers(0, 3, 4)]), rng)
    problem = RankSVMProblem(rng.normal(size=(6, 2)), prefs, kernel=kernel)
    for lam in (0.5, 5.0, 50.0):
        found = QPSolver(form).solve(problem, lam).certificate.primal
        assert found == pytest.approx(primal_optimum(problem, lam), rel=1e-6)
        assert found == pytest.approx(box_dual(problem, lam, prefs.weight), rel=1e-6)


# ---------------------------------------------------------------- invariances


def test_weight_zero_is_as_good_as_absent_and_items_without_preference_get_no_coefficient():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(9, 2))
    with_zero = RankSVMProblem(X, Preferences([0, 1, 7], [2, 3, 8], 9, weight=[1, 2, 0]))
    without = RankSVMProblem(X, Preferences([0, 1], [2, 3], 9, weight=[1, 2]))
    for form in FORMS:
        a, b = (QPSolver(form).solve(p, 0.1) for p in (with_zero, without))
        assert a.dual[2] == 0 and not a.coef[4:].any() and a.info["unknowns"] == b.info["unknowns"]
        np.testing.assert_allclose(a.coef, b.coef, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_of_weights_margins_and_kernel_do_not_matter(unit):
    rng = np.random.default_rng(4)
    X, prefs = rng.normal(size=(10, 2)), Preferences.from_scores(rng.integers(0, 3, 10))
    reference = QPSolver().solve(RankSVMProblem(X, prefs, kernel="linear"), 0.5).certificate.primal
    heavy = RankSVMProblem(X, prefs.reweighted(weight=np.full(len(prefs), unit)), kernel="linear")
    wide = RankSVMProblem(X, prefs.reweighted(margin=np.full(len(prefs), unit)), kernel="linear")
    long = RankSVMProblem(X * unit, prefs, kernel="linear")
    for form in FORMS:
        solver = QPSolver(form)
        assert solver.solve(heavy, 0.5 * unit).certificate.primal / unit == pytest.approx(
            reference, rel=1e-7
        )
        assert solver.solve(wide, 0.5 / unit).certificate.primal / unit == pytest.approx(
            reference, rel=1e-7
        )
        assert solver.solve(long, 0.5 * unit**2).certificate.primal == pytest.approx(
            reference, rel=1e-7
        )


def test_features_of_a_singular_kernel_reproduce_its_distances():
    rng = np.random.default_rng(5)
    X = np.repeat(rng.normal(size=(6, 2)), 2, axis=0)
    for kernel in ("linear", "rbf", "poly"):
        problem = RankSVMProblem(X, Preferences.from_scores(np.arange(12)), kernel=kernel)
        Z, pinv, blur = _features(problem, np.arange(12))
        K = problem.gram
        squared = ((Z[:, None] - Z) ** 2).sum(axis=2)
        np.testing.assert_allclose(
            squared, K.diagonal()[:, None] + K.diagonal() - 2 * K, atol=1e-12
        )
        assert Z.shape[1] == {"linear": 2, "rbf": 5, "poly": 5}[kernel]
        assert np.sqrt(squared[0, 1]) <= blur < np.sqrt(squared[0, 2])


# ---------------------------------------------------------------- hard margin


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("form", FORMS)
def test_hard_margin_is_the_limit_of_the_soft_one_and_agrees_with_scipy(form, kernel):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(8, 2))
    prefs = Preferences.from_scores(np.round(3 * X[:, 0]))
    problem = RankSVMProblem(
        X, prefs.reweighted(margin=rng.uniform(0.5, 2, len(prefs))), kernel=kernel
    )
    hard = QPSolver(form).solve(problem, 0)
    assert (
        hard.lam == 0
        and hard.certificate.is_optimal(1e-6)
        and hard.certificate.relative_gap <= 1e-8
        and (hard.dual >= 0).all()
    )
    np.testing.assert_allclose(
        problem.matvec(problem.prefs.rmatvec(hard.dual)) @ hard.coef,
        hard.coef @ problem.matvec(hard.coef),
        rtol=1e-6,
    )
    assert hard.certificate.primal == pytest.approx(box_dual(problem, 1.0, None), rel=1e-5)
    lam = 0.5 / hard.dual.max()  # so small that every alpha = lam mu is inside its box
    soft = QPSolver(form).solve(problem, lam)
    assert soft.certificate.primal == pytest.approx(lam * hard.certificate.primal, rel=1e-6)
    np.testing.assert_allclose(
        problem.prefs.matvec(problem.matvec(soft.coef)),
        problem.prefs.matvec(problem.matvec(hard.coef)),
        rtol=1e-5,
        atol=1e-5,
    )


def test_hard_margin_ignores_preferences_of_weight_zero():
    """As the limit of lambda to 0 does: for any lambda > 0 they cost nothing.

    Not even a cycle of theirs is in the way.
    """
    problem = RankSVMProblem(
        [[0.0], [1], [2]],
        Preferences([1, 2, 0], [0, 1, 1], 3, weight=[1, 0, 0], margin=[1, 4, 1]),
        kernel="linear",
    )
    solution = solve(problem, 0)
    assert problem.X.T @ solution.coef == pytest.approx([1.0], rel=1e-6) and solution.dual[
        1:
    ].tolist() == [0, 0]
    assert solution.certificate.is_optimal(1e-6)
    assert problem.X.T @ solve(problem, 1e-4).coef == pytest.approx([1.0], rel=1e-6)


def can_be_met(problem):
    """Whether a linear program finds a direction that gets every preference right."""
    q = reduce_problem(problem, 0.0)
    A = q.P @ q.Z
    length = np.linalg.norm(A, axis=1)
    if length.min() <= 1e-7:
        return False
    A, r = A / length[:, None], A.shape[1]
    found = linprog(
        np.r_[np.zeros(r), -1],
        A_ub=np.c_[-A, np.ones(len(A))],
        b_ub=np.zeros(len(A)),
        bounds=[(-1, 1)] * r + [(None, None)],
    )
    return -found.fun > 1e-7


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_hard_margin_is_solved_or_refused_as_a_linear_program_says(kernel, amount):
    verdicts = set()
    for n, seed in amount(((4, 0), (7, 1)), ((4, 0), (7, 1), (14, 2))):
        for name, problem in corpus(n, seed, kernel).items():
            possible = can_be_met(problem)
            for form in FORMS:
                try:
                    assert QPSolver(form).solve(problem, 0).certificate.relative_gap <= 1e-6
                    verdict = "solved"
                except ValueError as error:
                    assert "contradict" in str(error) or "no ranking function of the" in str(error)
                    verdict = "refused"
                assert (verdict == "solved") == possible, (name, n, form)
                verdicts.add(verdict)
    assert verdicts == {"solved", "refused"}


@pytest.mark.parametrize("form", FORMS)
def test_nearly_impossible_preferences(form):
    """Two directions at an angle of pi - h leave only functions of norm 2 / h.

    They are found up to a point, and refused beyond it.
    """
    for h in (1e-1, 1e-2, 1e-3):
        problem = RankSVMProblem(
            [[0, 0], [1, 0], [-1, h]], Preferences([1, 2], [0, 0], 3), kernel="linear"
        )
        assert QPSolver(form).solve(problem, 0).certificate.primal == pytest.approx(
            0.5 + 2 / h**2, rel=1e-6
        )
    problem = RankSVMProblem(
        [[0, 0], [1, 0], [-1, 1e-9]], Preferences([1, 2], [0, 0], 3), kernel="linear"
    )
    with pytest.raises(
        ValueError,
        match=(
            "no ranking function of the linear kernel satisfies all preferences.*working precision"
        ),
    ):
        QPSolver(form).solve(problem, 0)


def test_a_cycle_is_shown():
    problem = RankSVMProblem(np.eye(5), Preferences([3, 0, 1, 2], [4, 1, 2, 0], 5))
    with pytest.raises(ValueError, match="they prefer 0 to 1, 1 to 2 and 2 to 0. Use lam > 0"):
        QPSolver().solve(problem, 0)
    assert QPSolver().solve(problem, 1.0).certificate.relative_gap < 1e-8


def test_two_items_that_prefer_each_other_are_a_cycle():
    with pytest.raises(ValueError, match="they prefer 0 to 1 and 1 to 0"):
        QPSolver().solve(RankSVMProblem(np.eye(2), Preferences([0, 1], [1, 0], 2)), 0)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_twins_are_named_by_their_own_indices(kernel):
    X = np.random.default_rng(7).normal(size=(9, 3))
    X[8] = X[4]
    with pytest.raises(
        ValueError, match=f"of the {kernel} kernel .* item 8 is preferred to item 4"
    ):
        QPSolver().solve(RankSVMProblem(X, Preferences([8, 2], [4, 6], 9), kernel=kernel), 0)


# ---------------------------------------------------------------- backends and errors


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("backend", ["CLARABEL", "PIQP", "OSQP", "SCS", "HIGHS"])
def test_backends_agree(backend, form):
    if backend not in qp_backends():
        pytest.skip(f"{backend} is not installed")
    rng = np.random.default_rng(8)
    problem = RankSVMProblem(
        rng.normal(size=(12, 3)),
        random_weights(Preferences.from_scores(rng.integers(0, 3, 12)), rng),
    )
    for ratio in (0.1, 1.0):
        lam = ratio * problem.lam_max
        reference = QPSolver().solve(problem, lam)
        found = QPSolver(form, backend.lower()).solve(problem, lam)
        assert (
            found.certificate.relative_gap <= 1e-6
            and backend in found.solver
            and found.solver.startswith("cvxpy ")
        )
        assert found.certificate.primal == pytest.approx(reference.certificate.primal, rel=1e-6)


@pytest.mark.parametrize(
    "backend, message",
    [
        ("CLARABLE", "did you mean 'CLARABEL'"),
        ("osq", "did you mean 'OSQP'"),
        ("SCIPY", "Pass one of: .*CLARABEL"),
        ("no such", "Pass one of: .*CLARABEL"),
    ],
)
def test_a_backend_that_is_unknown_or_takes_no_qp_is_refused(backend, message):
    problem = RankSVMProblem(np.eye(2), Preferences([0], [1], 2))
    with pytest.raises(ValueError, match=f"backend is .*{message}"):
        QPSolver(backend=backend).solve(problem, 1.0)


def test_a_backend_that_is_not_installed_is_refused():
    import cvxpy as cp

    missing = sorted({"GUROBI", "MOSEK", "XPRESS", "COPT"} - set(cp.installed_solvers()))
    with pytest.raises(ValueError, match=f"backend is '{missing[0]}'"):
        QPSolver(backend=missing[0]).solve(RankSVMProblem(np.eye(2), Preferences([0], [1], 2)), 1.0)


def test_wrong_arguments():
    problem = RankSVMProblem(np.eye(2), Preferences([0], [1], 2))
    with pytest.raises(TypeError, match="backend is 3"):
        QPSolver(backend=3).solve(problem, 1.0)
    with pytest.raises(TypeError, match="no_such_setting"):
        QPSolver(no_such_setting=1).solve(problem, 1.0)


def hard_to_solve():
    rng = np.random.default_rng(9)
    return RankSVMProblem(rng.normal(size=(15, 3)), Preferences.from_scores(rng.integers(0, 3, 15)))


@pytest.mark.parametrize("form", FORMS)
def test_an_unfinished_backend_is_an_error_that_says_status_and_gap(form):
    with pytest.raises(
        RuntimeError,
        match=(
            f"CLARABEL ended as user_limit with a relative gap of .* on the {form} "
            "form at lam = 0.01"
        ),
    ):
        QPSolver(form, max_iter=2).solve(hard_to_solve(), 0.01)
    with pytest.raises(
        RuntimeError, match="SCS ended as optimal_inaccurate with a relative gap of"
    ):
        QPSolver(form, "SCS", max_iters=3).solve(hard_to_solve(), 0.01)


def test_the_hard_margin_trusts_no_status():
    """An unfinished hard margin is neither returned nor called impossible, whatever its status."""
    with pytest.raises(
        RuntimeError,
        match="CLARABEL ended as optimal .* at lam = 0, although the problem has a solution",
    ):
        QPSolver(tol_gap_abs=0.1, tol_gap_rel=0.1, tol_feas=0.1).solve(hard_to_solve(), 0)


def test_an_inaccurate_end_is_accepted_on_the_strength_of_its_certificate():
    problem = hard_to_solve()
    found = QPSolver("primal", tol_gap_abs=1e-30, tol_gap_rel=1e-30, tol_feas=1e-30).solve(
        problem, 0.01
    )
    assert found.info["status"] == "optimal_inaccurate" and found.certificate.relative_gap <= 1e-8


def test_a_program_that_would_not_fit_is_refused_before_a_preference_is_listed():
    prefs = Preferences.from_scores(np.arange(200_000) % 2)
    with pytest.raises(MemoryError, match="25,480,812,435,456 bytes.*star"):
        QPSolver().solve(RankSVMProblem(np.zeros((200_000, 1)), prefs, kernel="linear"), 1.0)
    assert prefs._pairs is None


def test_through_the_registry():
    found = solve(hard_to_solve(), 0.5, solver="qp", form="dual", backend="OSQP")
    assert found.solver.startswith("qp ") and "cvxpy " in found.solver and "OSQP " in found.solver
    assert solve(hard_to_solve(), 0).certificate.relative_gap <= 1e-8
    row = next(row for row in list_solvers() if row["name"] == "qp")
    assert (
        row["state"] == "ready"
        and row["provides"] == "solve"
        and row["origin"].startswith("rankbook")
    )


def test_importing_the_module_imports_nothing_heavy():
    heavy = "cvxpy", "sklearn", "numba", "scipy.sparse", "matplotlib", "pandas"
    code = (
        f"import sys, rankbook.solvers.qp.solver; print([m for m in {heavy} if m in sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


# ---------------------------------------------------------------- size


@pytest.fixture(scope="module")
def cancer():
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    return RankSVMProblem(
        X, Preferences.from_scores((data.target == 0).astype(float)), kernel="rbf"
    )


def test_auto_takes_the_smaller_form(cancer):
    star = RankSVMProblem(
        cancer.X, Preferences.from_scores((np.arange(569) < 212).astype(float), graph="star")
    )
    assert QPSolver().solve(star, 1.0).info["form"] == "dual"
    line = RankSVMProblem(cancer.X, star.prefs, kernel="linear")
    solution = QPSolver().solve(line, 1.0)
    assert (solution.info["form"], solution.info["rank"]) == ("primal", 30)
    assert solution.certificate.relative_gap <= 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("lam, optimum", [(10.0, 538.948), (1.0, 97.1957), (0.1, 10.1342)])
def test_cancer_with_all_preferences(cancer, lam, optimum):
    assert cancer.n_preferences == 75684
    solution = QPSolver().solve(cancer, lam)
    assert (
        solution.certificate.relative_gap <= 1e-8
        and solution.certificate.primal == pytest.approx(optimum, rel=1e-5)
    )


@pytest.mark.slow
def test_cancer_hard_margin_and_a_linear_kernel_of_rank_30(cancer):
    hard = QPSolver().solve(cancer, 0)
    assert hard.certificate.is_optimal(1e-7) and 0.1 * hard.certificate.primal == pytest.approx(
        10.1342, rel=1e-5
    )
    line = RankSVMProblem(cancer.X, cancer.prefs, kernel="linear")
    for form in FORMS:
        assert QPSolver(form).solve(line, 1e-5 * line.lam_max).certificate.relative_gap <= 1e-8


def weighted(loss):
    rng = np.random.default_rng(0)
    prefs = Preferences.from_scores(rng.integers(0, 3, 12))
    prefs = prefs.reweighted(rng.uniform(0.5, 4, len(prefs)), rng.uniform(0.5, 4, len(prefs)))
    return RankSVMProblem(rng.normal(size=(12, 2)), prefs, loss=loss)


def test_the_squared_hinge_with_margins_of_all_sizes():
    assert abs(QPSolver().solve(weighted("squared"), 0.3).certificate.relative_gap) < 1e-6


def test_both_forms_give_the_scores_of_their_multipliers():
    import cvxpy as cp

    q = reduce_problem(weighted("hinge"), 0.3)
    for form in (primal_form, dual_form):
        program, read = form(cp, q)
        program.solve(solver="CLARABEL")
        alpha, scores = read()
        implied = q.Z @ (q.Z.T @ (q.P.T @ alpha))
        apart = scores - implied
        assert np.allclose(apart, apart[0], atol=1e-4 * np.abs(implied).max())


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_the_logistic_loss_by_exponential_cones(kernel):
    X, y = np.random.default_rng(0).normal(size=(24, 3)), np.arange(24) % 4
    prefs = rb.Preferences.from_scores(y, np.arange(24) % 3).item_weighted(1.0 + np.arange(24) % 5)
    problem = rb.RankSVMProblem(X, prefs, kernel=kernel, loss="logistic")
    for lam in (100.0, 1.0, 0.01):
        reference = rb.solve(problem, lam, solver="qp").certificate
        assert reference.relative_gap < 1e-6
        ours = rb.solve(problem, lam, solver="newton", tol=1e-9).certificate
        assert ours.primal == pytest.approx(reference.primal, rel=1e-8)


def test_signs_with_the_logistic_loss():
    X, y = np.random.default_rng(0).normal(size=(24, 3)), np.arange(24) % 4
    options = dict(kernel="linear", loss="logistic", signs=[1, -1, 0])
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), **options)
    weights = rb.solve(problem, 1.0, solver="qp").coef
    assert weights[0] >= 0 >= weights[1]
    ours = rb.solve(problem, 1.0, solver="newton", tol=1e-9)
    assert np.allclose(weights, ours.coef, atol=1e-5)


def test_what_exponential_cones_do_not_take():
    X, prefs = np.eye(3), rb.Preferences.from_scores([0, 1, 2])
    problem = rb.RankSVMProblem(X, prefs, loss="logistic")
    with pytest.raises(ValueError, match="'OSQP', which has no exponential cones"):
        rb.solve(problem, 1.0, solver="qp", backend="OSQP")
    with pytest.raises(ValueError, match="'auto' or 'primal' for loss='logistic'"):
        rb.solve(problem, 1.0, solver="qp", form="dual")

    class Cubic:
        name = "cubic"

        def value(self, t):
            return np.maximum(0, t) ** 3

        def derivative(self, t):
            return 3 * np.maximum(0, t) ** 2

        def conjugate(self, a):
            return 2 * (np.maximum(0, a) / 3) ** 1.5

    with pytest.raises(ValueError, match="not cubic, which"):
        rb.solve(rb.RankSVMProblem(X, prefs, loss=Cubic()), 1.0, solver="qp")
