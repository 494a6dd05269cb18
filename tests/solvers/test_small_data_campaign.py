"""Small data sets of few values, where ties are the rule, through all that "auto" may choose.

A data set is made again from its number: ``random_data(17)``. Without --slow a sample of them is
solved, with --slow ten thousand. Linear programs (HiGHS) and cone programs (Clarabel), written from
the definition of the problem, say what the minimum is.
"""

from collections import defaultdict

import cvxpy as cp
import numpy as np
import pytest
from corpus import repeated
from scipy.optimize import linprog

import rankbook as rb

PARTS, WHOLE, SAMPLE, CONE = 8, 10_000, 30, 20  # cone programs for each 20th data set
EXACT, ROUNDING = 1e-9, 1e-12  # relative gaps: of exact solvers, and below zero
DEEP = 1e-5  # of lam_max: below it all solvers are held to the tolerance that they declare
KINDS = [
    (penalty, loss, kernel)
    for penalty, kernel in (("l1", "linear"), ("l2", "linear"), ("l2", "rbf"))
    for loss in ("hinge", "squared")
]


def random_data(number):
    """Binary, integer or one-decimal items (4 to 39, 1 to 7 features), and preferences.

    Some have copies, twin, constant or zero features, weights 0, 1 and 2, or one preference.
    """
    rng = np.random.default_rng([36, number])
    n, d, rare = int(rng.integers(4, 40)), int(rng.integers(1, 8)), rng.random(6) < 0.05
    X = (
        rng.integers(0, 2, (n, d)).astype(float),
        rng.integers(0, 3, (n, d)).astype(float),
        rng.normal(size=(n, d)).round(1),
    )[number % 3]
    X = repeated(rng, X, *rare[:3])
    if rare[3]:
        X[:] = X[0]
    y = rng.integers(0, int(rng.integers(2, 5)), n)
    y[0] = y[1] + 1
    prefs = rb.Preferences.from_scores(y, graph="star" if rng.random() < 0.2 else "full")
    if rare[4]:
        weight = rng.integers(0, 3, len(prefs)).astype(float)
        prefs = prefs.reweighted(np.where(np.arange(len(prefs)) == 0, 1.0, weight))
    if rare[5]:
        prefs = rb.Preferences([0], [1], n)
    return rng, X, prefs


def linear_program(X, prefs, lam):
    """The minimum for the hinge and the L1 penalty by HiGHS."""
    Z, d = prefs.incidence() @ X, X.shape[1]
    result = linprog(
        np.r_[np.full(2 * d, lam), prefs.weight],
        A_ub=-np.c_[Z, -Z, np.eye(len(prefs))],
        b_ub=-prefs.margin,
        options=dict(primal_feasibility_tolerance=1e-10, dual_feasibility_tolerance=1e-10),
    )
    assert result.status == 0
    return result.fun


def cone_program(X, prefs, lam, penalty, loss, kernel):
    """The minimum for any penalty and loss by Clarabel, in a factor of the kernel matrix."""
    if kernel != "linear":
        square = ((X[:, None] - X[None]) ** 2).sum(-1) / X.shape[1]
        K = np.exp(-square) if kernel == "rbf" else (X @ X.T / X.shape[1] + 1) ** 3
        value, vector = np.linalg.eigh(K)
        X = vector * np.sqrt(np.maximum(value, 0.0))
    w = cp.Variable(X.shape[1])
    short = cp.pos(prefs.margin - (prefs.incidence() @ X) @ w)
    cost = prefs.weight @ (short if loss == "hinge" else cp.square(short))
    norm = cp.norm1(w) if penalty == "l1" else cp.sum_squares(w) / 2
    problem = cp.Problem(cp.Minimize(lam * norm + cost))
    return problem.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)


def answers(problem, rng, number):
    """(lam, solver, its tolerance, solution) of all that "auto" may choose, one at a time.

    With L1 the path, too, at 1, lam_max, 1e-6 lam_max, where the solution jumps and anywhere; with
    L2 at one of these, and "qp" on a part of the data sets.
    """
    top = problem.penalty.lam_max(problem)  # of the hinge for the squared hinge and L2
    top = top if 0 < top < np.inf else 1.0
    anywhere = top * 10.0 ** rng.uniform(-4, 0)
    if problem.penalty.coef_is_weights:
        path = rb.solve_path(problem)
        assert path.status == "complete"
        jump = rng.choice(path.breakpoints) if path.breakpoints.size else top
        lams = (1.0, top, anywhere, 1e-6 * top, jump)
        for lam in lams[: 5 if number % CONE == 0 else 1] + (lams[1 + number % 4],):
            tol = EXACT if lam >= DEEP * top else rb.Solver.tol
            yield lam, "path", tol, path.solution(lam)
            yield lam, "auto", tol, rb.solve(problem, lam)
        return
    names = {"interior"} | ({"path"} if problem.loss.name == "hinge" else set())
    names |= {"newton"} if problem.is_factored else set()
    lam = (1.0, top, anywhere)[number % 3]
    if number % CONE == 0:
        names |= {"qp"}
        possible = names | ({"coordinate"} if problem.is_factored else {"ascent", "tiled"})
        possible |= {"newton"} if problem.loss.name == "squared" else set()
        found = {p.solver for p in rb.compare_solvers(problem, lam) if p.is_possible}
        assert found == possible - {"qp"}
    for name in sorted(names):
        solver = rb.get_solver(name)
        yield lam, name, EXACT if solver.exact else solver.tol, rb.solve(problem, lam, solver)


def campaign(numbers):
    """The failures of data sets; the extreme gaps of each solver are printed."""
    failures, gaps = [], defaultdict(list)
    for number in numbers:
        rng, X, prefs = random_data(number)
        for kind in KINDS:
            penalty, loss, kernel = kind
            problem, best = rb.RankSVMProblem(X, prefs, kernel, penalty=penalty, loss=loss), {}
            try:
                for lam, name, tol, solution in answers(problem, rng, number):
                    proof = solution.certificate
                    gaps[(*kind, name)].append(proof.relative_gap)
                    if not -ROUNDING <= proof.relative_gap <= tol or proof.box_violation > 1e-6:
                        failures.append((number, *kind, name, str(proof)))
                    if kind == KINDS[0] and lam not in best:
                        best[lam] = linear_program(X, prefs, lam), EXACT
                    elif number % CONE == 0 and lam not in best:
                        best[lam] = cone_program(X, prefs, lam, *kind), 1e-6
                    value = problem.primal(solution.coef, lam)
                    low, near = best.get(lam, (value, 0.0))
                    if abs(value - low) > near * max(1.0, low):
                        failures.append((number, *kind, name, f"{value} against {low}"))
            except Exception as error:
                failures.append((number, *kind, repr(error)))
    for key, found in sorted(gaps.items()):
        print(*key, f"{len(found)} solved, gaps {min(found):.1e} to {max(found):.1e}")
    print(*failures, sep="\n")
    return failures


@pytest.mark.parametrize("part", range(2))
def test_a_sample(part):
    assert campaign(range(part, SAMPLE, 2)) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_ten_thousand(part):
    assert campaign(np.array_split(np.arange(WHOLE), PARTS)[part].tolist()) == []
