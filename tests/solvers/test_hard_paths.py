"""Paths of small hard problems, whole: the certificate along them, and the minimum by others.

Far below lam_max, where rounding widens certificates, bounds in a hundred digits judge both the
solver `path` and its certificate. This solver perturbs margins by 1e-8 where preferences tie, so
its gaps may be larger than those of the others.

A problem is made again from its number: ``random_problem(17)``. Without --slow a sample of them is
followed, with --slow three thousand of the solver `path` and a thousand of each solver of L1 paths.
"""

from collections import Counter, defaultdict

import numpy as np
import pytest
from test_path_campaign import TOL, answer, decimal_bounds, decimal_factor
from test_small_data_campaign import DEEP, EXACT, ROUNDING, cone_program, linear_program

import rankbook as rb
from rankbook.kernels.kernel import Kernel

WHOLE, SAMPLE, CONE = 5000, 50, 7  # cone programs for each 7th problem
KINDS = [
    ("l2", "hinge", "linear"),
    ("l2", "hinge", "rbf"),
    ("l2", "hinge", "poly"),
    ("l1", "hinge", "linear"),
    ("l1", "squared", "linear"),
]
SOLVERS = dict(zip(KINDS, ("path", "path", "path", "simplex", "homotopy")))


def random_problem(number):
    """Items at few places, of low rank or with copies, and preferences in up to three queries.

    Graphs are full or stars; some weights are 0, 1 or 2.
    """
    rng = np.random.default_rng([37, number])
    n, d = int(rng.integers(6, 31)), int(rng.integers(1, 6))
    X = (
        lambda: rng.choice([-1.0, 1.0], (n, d)),
        lambda: rng.integers(0, 4, (n, d)).astype(float),
        lambda: (rng.integers(-2, 3, (n, 1)) @ rng.integers(-2, 3, (1, d))).astype(float),
        lambda: rng.normal(size=(n, d)).round(1),
        lambda: rng.normal(size=(n, d)),
    )[rng.integers(5)]()
    if rng.random() < 0.4:
        X = X[rng.integers(0, max(2, n // 2), n)]
    y, qid = rng.integers(0, rng.integers(2, 6), n), rng.integers(0, rng.integers(1, 4), n)
    y[:2], qid[:2] = [0, 1], 0
    prefs = rb.Preferences.from_scores(y, qid, graph=rng.choice(["full", "star"]))
    if rng.random() < 0.3:
        weight = rng.integers(0, 3, len(prefs)).astype(float)
        weight[0] = 1.0
        prefs = prefs.reweighted(weight)
    return rng, X, prefs


def lambdas(path, rng):
    """Lambdas above lam_max, at a breakpoint, between two, at any place, and at the lower end."""
    top, low = path.problem.penalty.lam_max(path.problem) or 1.0, path.domain[0]
    if not path.breakpoints.size:
        return top, max(low, 0.1 * top)
    breaks = np.sort(path.breakpoints)
    k = int(rng.integers(breaks.size))
    between = np.sqrt(breaks[k] * breaks[min(k + 1, breaks.size - 1)])
    anywhere = breaks[0] * (top / breaks[0]) ** rng.random()
    return 2 * top, breaks[k], between, max(low, anywhere), low or rng.uniform(0.01, 1) * breaks[0]


def campaign(numbers):
    """The failures of problems; statuses and the extreme gaps of each kind are printed."""
    failures, counts, gaps, compared = [], Counter(), defaultdict(list), 0
    deepest = dict.fromkeys(KINDS, 0.0)
    for number in numbers:
        rng, X, prefs = random_problem(number)
        penalty, loss, kernel = kind = KINDS[number % len(KINDS)]
        options = dict(kernel=kernel)
        options |= {} if kernel == "linear" else dict(gamma=1 / X.shape[1])
        options |= dict(degree=3, coef0=1.0) if kernel == "poly" else {}
        problem = rb.RankSVMProblem(X, prefs, Kernel(**options), penalty=penalty, loss=loss)
        try:
            path = rb.solve_path(problem, solver=SOLVERS[kind])
            counts[(*kind, path.status)] += 1
            top = problem.penalty.lam_max(problem) or 1.0
            for lam in lambdas(path, rng):
                solution = path.solution(lam)
                proof, value = solution.certificate, problem.primal(solution.coef, lam)
                deep, gap = lam < DEEP * top, proof.relative_gap
                gaps[kind].append((gap, number))
                is_bound = gap >= -ROUNDING
                if deep and penalty == "l2":
                    factor = decimal_factor(X, options)
                    high, low = map(float, decimal_bounds(prefs, factor, lam, *answer(path, lam)))
                    is_bound &= proof.dual <= high + ROUNDING * max(1.0, high)
                    is_bound &= proof.primal >= low - ROUNDING * max(1.0, high)
                    gap = (high - low) / max(1.0, high)
                    deepest[kind] = max(deepest[kind], gap)
                tol = TOL if penalty == "l2" else rb.Solver.tol if deep else EXACT
                if not (is_bound and gap <= tol):
                    failures.append((number, *kind, path.status, lam / top, gap, str(proof)))
                if kind == KINDS[3]:
                    low, near = linear_program(X, prefs, lam), EXACT
                elif number % CONE == 0 and not deep:
                    low, near = cone_program(X, prefs, lam, *kind), 1e-6
                else:
                    continue
                compared += 1
                if abs(value - low) > near * max(1.0, low):
                    failures.append((number, *kind, lam / top, f"{value} against {low}"))
            if path.status not in ("complete", "rounding"):
                failures.append((number, *kind, path.status, path.info.get("reason", "")))
        except Exception as error:
            failures.append((number, *kind, repr(error)))
    for kind in KINDS:
        found = ", ".join(f"{c} {key[-1]}" for key, c in counts.items() if key[:3] == kind)
        least, most = min(gaps[kind]), max(gaps[kind])
        print(
            *kind,
            f"{found}; {len(gaps[kind])} gaps, {least[0]:.1e} (problem {least[1]}) to "
            f"{most[0]:.1e} (problem {most[1]}), in a hundred digits at most {deepest[kind]:.1e}",
        )
    print(f"{compared} minima by others", *failures, sep="\n")
    return failures


def test_a_sample():
    assert campaign(range(SAMPLE)) == []


@pytest.mark.slow
def test_five_thousand():
    assert campaign(range(WHOLE)) == []
