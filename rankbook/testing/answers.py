"""Checks of solutions."""

from functools import cache
from typing import Any

import numpy as np

from ..problems.losses import SquaredHinge
from ..problems.solution import Solution
from ..registry.plugins import HOME, installed_records, missing_modules
from ..registry.solve import solve
from .problems import ABOVE, CHANGED, EDGES, EXTREME, LOW, MIDDLE, lambdas
from .subject import CheckFailed, CheckSkipped, Subject


def check_answers(subject: Subject) -> None:
    """It takes each kind of problem it declares, and answers with finite numbers, one an item."""
    for name in ("problems", "provides", "kernels", "losses", "penalties", "storages"):
        if isinstance(getattr(subject.solver, name, ()), str):
            raise CheckFailed(f"{name} is a str; a tuple or set of names is accepted")
    promised = set(getattr(subject.solver, "provides", ()))
    if lacking := sorted(promised - subject.declared.provides):
        raise CheckFailed(f"it declares to provide {lacking[0]}, and has no such method")
    if not subject.declared.provides:
        raise CheckFailed("it provides neither solve nor path")
    if not any(True for _ in subject.problems("items", names=("plain",))):
        raise CheckFailed(
            f"it declares {', '.join(subject.declared.problems)} with the kernel "
            f"{subject.declared.first_kernel}, and takes no such problem"
        )
    for case in subject.cases("items", names=("plain",)):
        with subject.looking_at(case):
            answer = subject.answer(case.problem, case.lam)
            coef, scores = answer.coef, answer.predict(case.problem.X[:3])
            if coef.shape != case.problem.coef_shape or coef.dtype != np.float64:
                raise CheckFailed(f"coef has shape {coef.shape} and dtype {coef.dtype}")
            if len(scores) != len(case.problem.X[:3]) or not np.isfinite(scores).all():
                raise CheckFailed(f"scores of new items are {scores}")
            if not isinstance(answer.info, dict):
                raise CheckFailed(f"info is {answer.info!r}; a dict is accepted")
            if not isinstance(advice := answer.info.get("advice", ""), str):
                raise CheckFailed(f"info['advice'] is {advice!r}; a sentence is accepted")


def within(answer: Solution, tol: float) -> None:
    """Fail unless the relative gap of an answer is at most `tol`."""
    gap = answer.certificate.relative_gap
    if not abs(gap) <= tol:
        raise CheckFailed(f"the relative gap is {gap:.1e} and tol is {tol:g}")


def check_group(subject: Subject, group: str, lams: Any = lambdas, **choice: Any) -> None:
    """Fail unless every case of a group is solved to within `tol`."""
    tol = subject.tol
    for case in subject.cases(group, lams, **choice):
        with subject.looking_at(case):
            within(subject.answer(case.problem, case.lam), tol)


def check_certificate(subject: Subject) -> None:
    """The certified gap is within tol on ties, copies, grids, cycles and low rank."""
    check_group(subject, "items")


PRECISE = 1e-5  # a reference promises a smaller gap


def reference_for(subject: Subject, problem: Any) -> Any:
    """An instance of the library's own solver that takes the problem, or None.

    One that is not the solver under test, "qp" before others.
    """
    for solver in references():
        if type(subject.solver) is not type(solver) and solver.can_solve(problem) is True:
            return solver
    return None


@cache
def references() -> list[Any]:
    """The library's own solvers that promise enough, "qp" before others."""
    own = sorted((r for r in installed_records() if r.origin == HOME), key=lambda r: r.name != "qp")
    kinds = [kind for kind in (r.load() for r in own) if "solve" in kind.provides]
    solvers = [kind() for kind in kinds if not missing_modules(kind)]
    return [solver for solver in solvers if (solver.tol or 1) < PRECISE]


@cache
def minimum(problem: Any, lam: float, reference: Any) -> float:
    """The objective that a reference finds; once for all solvers that are asked in a process."""
    return solve(problem, lam, solver=reference).certificate.primal


CHOSEN = ("plain", "copies that contradict", "integer grid", "cycles", "d > n")


def check_reference(subject: Subject) -> None:
    """The objective is that of another solver."""
    tol, compared = subject.tol, 0
    for case in subject.cases("items", names=CHOSEN):
        if (reference := reference_for(subject, case.problem)) is None:
            continue
        compared += 1
        with subject.looking_at(case):
            mine = subject.answer(case.problem, case.lam).certificate.primal
            theirs = minimum(case.problem, case.lam, reference)
            if not abs(mine - theirs) <= (tol + PRECISE) * max(1.0, abs(theirs)):
                raise CheckFailed(
                    f"the objective is {mine:.10g}, and that of {reference.name} {theirs:.10g}"
                )
    if not compared:
        raise CheckSkipped("no other solver of the library takes its problems")


HALF = 0.5
WAYS = dict(
    items=("plain", "integer grid"),
    weights=("weighted copies",),
    margins=("integer margins on a grid",),
    queries=("queries",),
)


def check_progress(subject: Subject) -> None:
    """The objective comes half of the way from f = 0 to the minimum, whatever is promised."""
    for group, names in WAYS.items():
        for case in subject.cases(group, lambda p: lambdas(p, LOW), names=names):
            reference = reference_for(subject, case.problem)
            with subject.looking_at(case):
                mine = subject.answer(case.problem, case.lam).certificate
                zero = np.zeros(case.problem.coef_shape)
                zero = Solution(case.problem, case.lam, zero).certificate.primal
                best = reference and minimum(case.problem, case.lam, reference)
                best = mine.dual if best is None else best
                if not mine.primal <= zero - HALF * (zero - best):
                    raise CheckFailed(
                        f"the objective is {mine.primal:.4g}, {zero:.4g} where f = 0, and the "
                        f"minimum {best:.4g}"
                    )


BOX = 1e-8  # excess over the box [0, c], in units of c
ENOUGH = 16  # answers without multipliers, to believe that it returns none


def check_dual(subject: Subject) -> None:
    """Multipliers, where it returns them, are between 0 and the weights, and are those of f."""
    seen = 0
    for group, names in dict(weights=(), items=CHOSEN).items():
        for case in subject.cases(group, names=names):
            if case.problem.dual_shape is None or (not seen and subject.cases_seen > ENOUGH):
                continue
            with subject.looking_at(case):
                answer = subject.answer(case.problem, case.lam)
                seen += answer.dual is not None
                excess = answer.certificate.box_violation
                if excess > BOX:
                    raise CheckFailed(f"a multiplier is outside [0, c] by {excess:.1e} of c")
                same_function(answer, ROUGH if subject.promise is None else subject.promise)
    if not seen:
        raise CheckSkipped("it returns no multipliers")


ROUGH = 0.1  # where nothing is promised


def same_function(answer: Solution, tol: float) -> None:
    """Fail if lam/2 |f - P' dual / lam|^2 is more than tol: no more than the gap, if that is."""
    problem, given = answer.problem, answer.certificate
    if isinstance(answer.dual, np.ndarray) and not problem.coef_is_weights:
        other = answer.coef - Solution(problem, answer.lam, dual=answer.dual).coef
        square = answer.lam / 2 * np.sum(other * problem.matvec(other))
        if not square <= 2 * (tol + PRECISE) * max(1.0, given.primal):
            raise CheckFailed(f"lam/2 |f - P'dual/lam|^2 is {square:.1e}: the two disagree")


def check_weights(subject: Subject) -> None:
    """Weights matter, over ten orders of magnitude and where some are 0."""
    if not subject.declared.weights:
        raise CheckSkipped("it declares to take no weights")
    check_group(subject, "weights")


def check_margins(subject: Subject) -> None:
    """Margins matter, of all sizes, and signed ones if it takes them."""
    if not subject.declared.margins:
        raise CheckSkipped("it declares to take no margins")
    check_group(subject, "margins")
    if subject.declared.signed_margins:
        check_group(subject, "signed")


def check_queries(subject: Subject) -> None:
    """Items of different queries are not compared."""
    check_group(subject, "queries")


TOGETHER = (
    "weights and margins in queries",
    "weights and margins on a grid",
    "weights and signed margins",
)
APART = ("weights in queries", "margins in queries")


def check_combinations(subject: Subject) -> None:
    """Weights, margins and queries together, with every kernel and storage."""
    declared = subject.declared
    names = TOGETHER if declared.weights and declared.margins else APART
    choice = dict(lams=lambda p: lambdas(p, MIDDLE), names=names)
    on_labels = choice | dict(names=APART[:1], kinds=("LabelRankSVMProblem", "LabelRankRLSProblem"))
    for kernel in declared.kernels:
        check_group(subject, "combined", kernel=kernel, **choice)
        if names is TOGETHER:  # on labels there are no margins
            check_group(subject, "combined", kernel=kernel, **on_labels)
    for storage in sorted(declared.storages - {"float64"}):
        check_group(subject, "combined", kinds=("RankSVMProblem",), storage=storage, **choice)


def check_sizes(subject: Subject) -> None:
    """Two hundred items, forty features, forty queries, a thousand preferences."""
    check_group(subject, "large", lambda p: lambdas(p, MIDDLE))


def check_kernels(subject: Subject) -> None:
    """Every kernel it declares, on copies, a grid and low rank; and with other parameters."""
    kernels, first = subject.declared.kernels, subject.declared.first_kernel
    others = [kernel for kernel in kernels if kernel != first]
    changed = [name for name, options in CHANGED.items() if options["kernel"] in kernels]
    if not others and not changed:
        raise CheckSkipped(f"it takes the kernel {first} alone")
    names = ("plain", "copies that contradict", "integer grid", "rank one on integers")
    for kernel in others:
        check_group(subject, "items", lambda p: lambdas(p, LOW), kernel=kernel, names=names)
    for kernel in changed:
        check_group(subject, "items", lambda p: lambdas(p, LOW), kernel=kernel, names=names[:1])


def check_scales(subject: Subject) -> None:
    """Items far from the origin, in odd units, very small and very large."""
    check_group(subject, "scales")


def check_extremes(subject: Subject) -> None:
    """Lambdas that are very large and very small, and those at the largest that matters."""
    names = ("plain", "integer grid", "separable")
    check_group(subject, "items", names=names, lams=lambda p: lambdas(p, EXTREME))
    check_group(subject, "items", names=("plain",), lams=lambda p: lambdas(p, EDGES))
    for storage in sorted(subject.declared.storages - {"float64"}):
        choice = dict(kinds=("RankSVMProblem",), names=("plain",), storage=storage)
        check_group(subject, "items", lambda p: lambdas(p, ABOVE), **choice)


def check_storages(subject: Subject) -> None:
    """Every storage of items that it declares beyond float64."""
    others = sorted(subject.declared.storages - {"float64"})
    if not others:
        raise CheckSkipped("it takes items of float64 alone")
    names = ("plain", "integer grid", "separable", "one feature")
    for storage in others:
        check_group(subject, "items", kinds=("RankSVMProblem",), storage=storage, names=names)


SEPARABLE = {  # an order is separable more often than classes without an intercept
    "separable": ("RankSVMProblem", "RayleighProblem"),
    "d > n": ("RankSVMProblem", "SVMProblem", "MulticlassSVMProblem"),
}


def check_hard_margin(subject: Subject) -> None:
    """At lam = 0 the answer is the hard margin, with weights, margins and kernels as well."""
    if not subject.declared.hard_margin or "solve" not in subject.declared.provides:
        raise CheckSkipped("it declares no hard margin")
    for name, kinds in SEPARABLE.items():
        check_group(subject, "items", at_zero, kinds=kinds, names=(name,))
    choice = dict(kinds=("RankSVMProblem",), names=("many preferences",))
    check_group(subject, "large", at_zero, **choice)
    choice["names"] = ("separable, weights and margins",)
    for kernel in subject.declared.kernels:
        check_group(subject, "combined", at_zero, kernel=kernel, **choice)


def at_zero(problem: Any) -> tuple[float, ...]:
    """lam = 0; not for the squared hinge, which has no hard margin of its own."""
    return () if getattr(problem, "loss", None) == SquaredHinge() else (0.0,)
