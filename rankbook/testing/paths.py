"""Checks of paths."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base.status import Status
from ..paths.exact import SolutionPath
from ..registry.solve import solve_path
from .checks import APART, TOGETHER, require_gap, same_objective
from .corpus import GROUPS, cached_problem, instance_lambdas, unit_of
from .subject import Case, CheckFailed, CheckSkipped, Subject

ENDS = (Status.COMPLETE, Status.LAM_MIN, Status.DEVIANCE, Status.ROUNDING)
ROUTES = (
    "plain",
    "copies that contradict",
    "integer grid",
    "cycles",
    "separable",
    "one preference",
)
END_RATIO = 1e-3  # share of the largest lambda at which a path should end


def deep(problem: Any) -> tuple[float, ...]:
    """Return the lambda at which a path of a problem should end."""
    return instance_lambdas(problem, (END_RATIO,))


def where(path: Any, lam_min: float) -> list[float]:
    """Return lambdas above, at and between some breakpoints of a path, and near its end."""
    points = path.breakpoints[:: max(1, len(path.breakpoints) // 5)]
    points = points[points > max(lam_min, path.domain[0])]
    top = points[0] if len(points) else 2 * lam_min
    between = [*np.sqrt(points[1:] * points[:-1]), (top * lam_min) ** 0.5]
    return [2 * top, *points, *between, 1.001 * max(lam_min, path.domain[0])]


MAX_GAP = 1e-2  # largest gap that a path may declare


def require_route(subject: Subject, path: Any, problem: Any, end: float) -> None:
    """Fail unless a path goes down to its end with solutions within its tol."""
    promise = subject.promise
    if promise is not None and (path.tol is None or not path.tol <= max(MAX_GAP, promise)):
        raise CheckFailed(
            f"the path's tol is {path.tol}, and that of the solver {promise:g}; "
            f"{max(MAX_GAP, promise):g} is the most"
        )
    steps = np.diff(path.breakpoints)
    if path.status not in ENDS or not (steps < 0).all():
        raise CheckFailed(
            f"its status is {path.status!r}, and of {len(steps)} steps from one "
            f"breakpoint to the next {np.sum(steps < 0)} go down"
        )
    ends_early = path.status in (Status.ROUNDING, Status.DEVIANCE)
    if not ends_early and path.domain[0] > 1.001 * end:
        raise CheckFailed(f"it ends at {path.domain[0]:.3g} and says {path.status!r}")
    for lam in where(path, end):
        if lam > path.domain[0] and path.tol is not None:
            require_gap(subject.certified(path.solution(lam), problem, lam), path.tol)


CLOSE, LINES = 1e-3, 0.1  # relative errors of scores: at breakpoints, and between two of them


def away(scores: np.ndarray, wanted: np.ndarray) -> float:
    """Return the relative distance of scores (p,) from an affine function of others."""
    if not np.isfinite(scores).all():
        return np.inf
    parts = [part - part.mean() for part in (scores, wanted)]
    sizes = [np.linalg.norm(part) for part in parts]
    alike = [size <= 1e-12 * np.abs(part).max() for size, part in zip(sizes, (scores, wanted))]
    if any(alike):  # rounding errors remain
        return 0.0 if all(alike) else np.inf
    return float(np.linalg.norm(parts[0] / sizes[0] - parts[1] / sizes[1]))


def require_scores(path: Any, problem: Any) -> None:
    """Fail unless the scores at breakpoints order new items as the solutions do."""
    X = problem.X.toarray() if getattr(problem, "storage", "") == "csr" else problem.X
    X_new = (X[:5].astype(float) + X[5:10]) / 2  # items outside the problem, as in a curve
    blocks = [tuple(map(np.asarray, block)) for block in path.breakpoint_scores(X_new)]
    shapes = [(lams.shape, G.shape) for lams, G in blocks]
    if not shapes or any((*one, len(X_new)) != two for one, two in shapes):
        raise CheckFailed(
            f"breakpoint_scores of {len(X_new)} items has blocks of the shapes {shapes}"
        )
    lams, G = (np.concatenate(part) for part in zip(*blocks))
    first, (end, _) = path.breakpoints[:1], path.domain
    if not (np.diff(lams) <= 0).all() or lams[-1] > (1 + CLOSE) * end or (lams[0] <= first).any():
        raise CheckFailed(
            f"breakpoint_scores goes from lam = {lams[0]:.6g} to {lams[-1]:.6g}, and of "
            f"{len(lams) - 1} steps {np.sum(np.diff(lams) > 0)} go up; from above the first "
            f"breakpoint down to {end:.6g} is accepted"
        )
    close = max(CLOSE, min(LINES, (path.tol or 1.0) ** 0.5))
    wanted = lambda lam: path.solution(float(lam)).predict(X_new)
    for between in np.geomspace(lams[0], max(lams[-1], END_RATIO * lams[0]), 6)[1:-1]:
        i = int(np.searchsorted(-lams, -between, side="left")) - 1  # the segment around it
        part = (lams[i] - between) / (lams[i] - lams[i + 1])
        line = (1 - part) * G[i] + part * G[i + 1]
        given = min(away(row, wanted(lams[i])) for row in G[lams == lams[i]])
        for lam, most, apart in (
            (lams[i], close, given),
            (between, LINES, away(line, wanted(between))),
        ):
            if not apart <= most:
                raise CheckFailed(
                    f"breakpoint_scores at lam = {lam:.6g} are not a positive multiple of what the "
                    f"solution there predicts: apart by {apart:.1g} of their size"
                )


def routes(subject: Subject) -> Iterator[Case]:
    """Yield the cases whose paths are computed."""
    declared, first = subject.declared, subject.declared.first_kernel
    groups = dict(
        items=ROUTES, queries=(), weights=("weighted copies",), margins=(), combined=TOGETHER
    )
    for group, names in groups.items():
        yield from subject.cases(group, deep, names=names)
    for kernel in declared.kernels:
        if kernel != first:
            yield from subject.cases("items", deep, names=("plain",), kernel=kernel)
            both = TOGETHER[0], APART[0]
            yield from subject.cases("combined", deep, names=both, kernel=kernel)
    for storage in sorted(declared.storages - {"float64"}):
        choice = dict(kinds=("RankSVMProblem",), storage=storage)
        yield from subject.cases("items", deep, names=("plain", "integer grid"), **choice)


def check_path(subject: Subject) -> None:
    """Check that solutions and scores of a path are within tol, and that it reaches its end."""
    if "path" not in subject.declared.provides:
        raise CheckSkipped("it provides no path")
    for case in routes(subject):
        if not subject.follows(case.problem):
            continue
        with subject.looking_at(case):
            path = solve_path(case.problem, case.lam, solver=subject.solver)
            require_route(subject, path, case.problem, case.lam)
            own = type(path).breakpoint_scores is not SolutionPath.breakpoint_scores
            kinds = ("RankSVMProblem", "RankRLSProblem")[: 1 + own]
            if case.name == "plain" and case.variant.kind in kinds:
                require_scores(path, case.problem)
    for case in subject.cases("items", deep, names=("plain",)):
        if subject.follows(case.problem):
            with subject.looking_at(case):
                path = solve_path(case.problem, solver=subject.solver)
                low = max(case.lam, path.domain[0])
                require_route(subject, path, case.problem, min(low, 0.5 * unit_of(case.problem)))
    if not subject.cases_seen:
        raise CheckFailed("it declares paths, but returns none for any small problem")


def check_path_and_solve(subject: Subject) -> None:
    """Check that path and solve reach the same objective."""
    if subject.declared.provides != {"solve", "path"}:
        raise CheckSkipped("it provides only one of solve and path")
    for case in subject.cases("items", names=ROUTES):
        if not subject.follows(case.problem):
            continue
        with subject.looking_at(case):
            path = subject.path_below(case.problem, case.lam)
            if case.lam <= path.domain[0]:
                continue
            one = subject.certified(path.solution(case.lam), case.problem, case.lam)
            other = subject.answer(case.problem, case.lam)
            tol = (path.tol or 0) + subject.tol
            same_objective(one.certificate.primal, other.certificate.primal, tol, "that of solve")


def check_readings(subject: Subject) -> None:
    """Check that the answers of a path do not depend on earlier calls."""
    if "path" not in subject.declared.provides:
        raise CheckSkipped("it provides no path")
    plain, *_, grid = GROUPS["items"][:5]
    for case in subject.cases("items", deep, names=("plain",)):
        between = cached_problem(case.variant, grid, subject.declared.first_kernel)
        if not subject.follows(case.problem):
            continue
        with subject.looking_at(case):
            path = solve_path(case.problem, case.lam, solver=subject.solver)
            lams = [lam for lam in where(path, case.lam) if lam > path.domain[0]]
            coefs = lambda path, lam: path.solution(lam).coef.tobytes()
            first = {lam: coefs(path, lam) for lam in lams}
            if subject.takes(between) and subject.follows(between):
                other = solve_path(between, deep(between)[0], solver=subject.solver)
                other.solution(unit_of(between))
            for lam in lams[::-1]:
                if coefs(path, lam) != first[lam]:
                    raise CheckFailed(
                        "the second call of solution(lam) returns other coefficients than the "
                        f"first at lam = {lam:.3g}"
                    )
            if not subject.declared.deterministic:
                continue
            again = solve_path(case.problem, case.lam, solver=subject.solver)
            if coefs(again, lams[-1]) != first[lams[-1]]:
                raise CheckFailed(
                    "the first call of solution(lam) of a new path returns other coefficients than "
                    f"a later call at lam = {lams[-1]:.3g}"
                )
