"""Checks of solutions, errors, options, and side effects of a solver."""

import copy
import io
import os
import pickle
import random
import signal
import sys
import warnings
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cache
from itertools import product
from numbers import Real
from operator import attrgetter
from tempfile import TemporaryDirectory
from threading import Barrier, Thread
from typing import Any

import numpy as np

from ..problems.certificate import Solution
from ..registry.plugins import HOME, installed_records, missing_modules
from ..registry.solve import solve
from ..registry.solver import VOCABULARY, Solver, asked_of
from .corpus import (
    ABOVE,
    CHANGED,
    EDGES,
    EXTREME,
    GROUPS,
    LOW,
    MIDDLE,
    VARIANTS,
    cached_problem,
    instance_lambdas,
    repeated_values,
    unit_of,
)
from .subject import Case, CheckFailed, CheckSkipped, Subject, describe


def check_answers(subject: Subject) -> None:
    """Check that the solver solves each declared kind, with finite coefficients."""
    if not any(True for _ in subject.problems("items", names=("plain",))):
        raise CheckFailed(
            f"it declares {', '.join(subject.declared.problems)} with the kernel "
            f"{subject.declared.first_kernel}, but accepts no such problem"
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
                raise CheckFailed(f"info is {answer.info!r}, not a dict")
            if not isinstance(advice := answer.info.get("advice", ""), str):
                raise CheckFailed(f"info['advice'] is {advice!r}, not a sentence")


def require_gap(answer: Solution, tol: float) -> None:
    """Fail unless the relative gap of an answer is at most `tol`."""
    gap = answer.certificate.relative_gap
    if not abs(gap) <= tol:
        raise CheckFailed(f"the relative gap is {gap:.1e} and tol is {tol:g}")


def same_objective(one: float, two: float, tol: float, other: str) -> None:
    """Fail unless two objectives agree to within a relative tolerance."""
    if not abs(one - two) <= tol * max(1.0, abs(one), abs(two)):
        raise CheckFailed(f"the objective is {one:.10g}, and {other} {two:.10g}")


def solve_group(subject: Subject, group: str, lams: Any = instance_lambdas, **choice: Any) -> None:
    """Fail unless every case of a group is solved to within `tol`."""
    tol = subject.tol
    for case in subject.cases(group, lams, **choice):
        with subject.looking_at(case):
            require_gap(subject.answer(case.problem, case.lam), tol)


def check_certificate(subject: Subject) -> None:
    """Check that the certified gap is within tol on ties, copies, grids, cycles and low rank."""
    solve_group(subject, "items")


PRECISE = 1e-5  # the reference promises a smaller gap


def reference_for(subject: Subject, problem: Any) -> Any:
    """Return one of the library's own solvers that supports the problem, or None.

    It is not the solver under test; "qp" is preferred.
    """
    for solver in references():
        if type(subject.solver) is not type(solver) and solver.can_solve(problem) is True:
            return solver
    return None


@cache
def references() -> list[Any]:
    """Return the library's own solvers with a sufficient tol, "qp" first."""
    own = sorted((r for r in installed_records() if r.origin == HOME), key=lambda r: r.name != "qp")
    kinds = [kind for kind in (r.load() for r in own) if "solve" in kind.provides]
    solvers = [kind() for kind in kinds if not missing_modules(kind)]
    return [solver for solver in solvers if (solver.tol or 1) < PRECISE]


@cache
def minimum(problem: Any, lam: float, reference: Any) -> float:
    """Return the objective of a reference solver, cached in a process."""
    return solve(problem, lam, solver=reference).certificate.primal


CHOSEN = ("plain", "copies that contradict", "integer grid", "cycles", "d > n")


def check_reference(subject: Subject) -> None:
    """Check the objective against another solver."""
    tol, compared = subject.tol, 0
    for case in subject.cases("items", names=CHOSEN):
        if (reference := reference_for(subject, case.problem)) is None:
            continue
        compared += 1
        with subject.looking_at(case):
            mine = subject.answer(case.problem, case.lam).certificate.primal
            theirs = minimum(case.problem, case.lam, reference)
            same_objective(mine, theirs, tol + PRECISE, f"that of {reference.name}")
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
    """Check that the objective is at least halfway from f = 0 to the minimum."""
    for group, names in WAYS.items():
        for case in subject.cases(group, lambda p: instance_lambdas(p, LOW), names=names):
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


BOX = 1e-8  # largest excess over the box [0, c], in units of c
ROUGH = 0.1  # if no relative gap is promised
ENOUGH = 16  # number of answers without multipliers before the check is skipped


def check_dual(subject: Subject) -> None:
    """Check that returned multipliers are between 0 and the weights, and belong to f."""
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
                if not isinstance(answer.dual, np.ndarray) or case.problem.coef_is_weights:
                    continue
                f, other = answer.coef, Solution(case.problem, case.lam, dual=answer.dual).coef
                square = case.lam / 2 * np.sum((f - other) * case.problem.matvec(f - other))
                tol = (ROUGH if subject.promise is None else subject.promise) + PRECISE
                if not square <= 2 * tol * max(1.0, answer.certificate.primal):
                    raise CheckFailed(
                        "coef and dual give different functions: lam/2 |f - P'dual/lam|^2 is "
                        f"{square:.1e}"
                    )
    if not seen:
        raise CheckSkipped("it returns no multipliers")


def check_weights(subject: Subject) -> None:
    """Check weights, over ten orders of magnitude and with zeros."""
    if not subject.declared.weights:
        raise CheckSkipped("it declares that it does not support weights")
    solve_group(subject, "weights")


def check_margins(subject: Subject) -> None:
    """Check margins of all sizes, and signed margins if the solver supports them."""
    if not subject.declared.margins:
        raise CheckSkipped("it declares that it does not support margins")
    solve_group(subject, "margins")
    if subject.declared.signed_margins:
        solve_group(subject, "signed")


def check_queries(subject: Subject) -> None:
    """Check that items of different queries are not compared."""
    solve_group(subject, "queries")


TOGETHER = (
    "weights and margins in queries",
    "weights and margins on a grid",
    "weights and signed margins",
)
APART = ("weights in queries", "margins in queries")


def check_combinations(subject: Subject) -> None:
    """Check weights, margins and queries together, with every kernel and storage."""
    declared = subject.declared
    names = TOGETHER if declared.weights and declared.margins else APART
    choice = dict(lams=lambda p: instance_lambdas(p, MIDDLE), names=names)
    on_labels = choice | dict(names=APART[:1], kinds=("LabelRankSVMProblem", "LabelRankRLSProblem"))
    for kernel in declared.kernels:
        solve_group(subject, "combined", kernel=kernel, **choice)
        if names is TOGETHER:  # problems on labels have no margins
            solve_group(subject, "combined", kernel=kernel, **on_labels)
    for storage in sorted(declared.storages - {"float64"}):
        solve_group(subject, "combined", kinds=("RankSVMProblem",), storage=storage, **choice)


def check_sizes(subject: Subject) -> None:
    """Check 200 items with 40 features and 1000 preferences in 40 queries."""
    solve_group(subject, "large", lambda p: instance_lambdas(p, MIDDLE))


def check_kernels(subject: Subject) -> None:
    """Check every declared kernel on copies, a grid and low rank, and with other parameters."""
    kernels, first = subject.declared.kernels, subject.declared.first_kernel
    others = [kernel for kernel in kernels if kernel != first]
    changed = [name for name, kernel in CHANGED.items() if kernel.name in kernels]
    if not others and not changed:
        raise CheckSkipped(f"it takes the kernel {first} alone")
    names = ("plain", "copies that contradict", "integer grid", "rank one on integers")
    for kernel in others:
        solve_group(
            subject, "items", lambda p: instance_lambdas(p, LOW), kernel=kernel, names=names
        )
    for kernel in changed:
        solve_group(
            subject, "items", lambda p: instance_lambdas(p, LOW), kernel=kernel, names=names[:1]
        )


def check_scales(subject: Subject) -> None:
    """Check items far from the origin, in odd units, very small and very large."""
    solve_group(subject, "scales")


def check_extremes(subject: Subject) -> None:
    """Check very large and very small lambdas, and lambdas near the largest breakpoint."""
    names = ("plain", "integer grid", "separable")
    solve_group(subject, "items", names=names, lams=lambda p: instance_lambdas(p, EXTREME))
    solve_group(subject, "items", names=("plain",), lams=lambda p: instance_lambdas(p, EDGES))
    for storage in sorted(subject.declared.storages - {"float64"}):
        choice = dict(kinds=("RankSVMProblem",), names=("plain",), storage=storage)
        solve_group(subject, "items", lambda p: instance_lambdas(p, ABOVE), **choice)


def check_storages(subject: Subject) -> None:
    """Check every declared storage of items other than float64."""
    others = sorted(subject.declared.storages - {"float64"})
    if not others:
        raise CheckSkipped("it accepts only items of float64")
    names = ("plain", "integer grid", "separable", "one feature")
    for storage in others:
        solve_group(subject, "items", kinds=("RankSVMProblem",), storage=storage, names=names)


SEPARABLE = {  # orders are separable more often than classes without an intercept
    "separable": ("RankSVMProblem", "RayleighProblem"),
    "d > n": ("RankSVMProblem", "SVMProblem", "MulticlassSVMProblem"),
}


def check_hard_margin(subject: Subject) -> None:
    """Check the hard margin at lam = 0, also with weights, margins and kernels."""
    if not subject.declared.hard_margin or "solve" not in subject.declared.provides:
        raise CheckSkipped("it declares no hard margin")
    for name, kinds in SEPARABLE.items():
        solve_group(subject, "items", at_zero, kinds=kinds, names=(name,))
    choice = dict(kinds=("RankSVMProblem",), names=("many preferences",))
    solve_group(subject, "large", at_zero, **choice)
    choice["names"] = ("separable, weights and margins",)
    for kernel in subject.declared.kernels:
        solve_group(subject, "combined", at_zero, kernel=kernel, **choice)


def at_zero(problem: Any) -> tuple[float, ...]:
    """Yield cases at lam = 0, without smooth losses, which have no hard margin of their own."""
    loss = getattr(problem, "loss", None)
    return () if loss is not None and loss.is_smooth else (0.0,)


WITHOUT_ITEMS = {"StatisticsProblem"}  # sums over items, of which no small problem is made here
BY_ROW = ("RayleighProblem", "LabelRankSVMProblem", "LabelRankRLSProblem")  # labels, a basis
SETTING = dict(items=("plain", "copies that contradict", "cycles"), queries=("queries",))


def check_order(subject: Subject) -> None:
    """Check that the objective does not depend on the order of rows and query names."""
    tol, kernel = subject.tol, subject.declared.first_kernel
    for group, names in SETTING.items():
        for instance, variant, problem in subject.problems(group, names=names):
            if variant.kind in BY_ROW or dict(variant.options).get("basis"):
                continue
            order = np.random.default_rng(3).permutation(len(instance.X))
            other = variant.problem(instance.permuted(order), kernel)
            for lam in instance_lambdas(problem):
                with subject.looking_at(Case(f"{instance.name}, permuted", variant, other, lam)):
                    one, two = (subject.answer(p, lam).certificate.primal for p in (problem, other))
                    same_objective(one, two, 2 * tol, "permuted")
    if not subject.cases_seen:
        raise CheckSkipped("its problems choose items by row number")


FEW = ("plain", "integer grid")


def bits(answer: Any) -> tuple[bytes, bytes]:
    """Return the bytes of coefficients and multipliers of a solution."""
    dual = answer.dual if isinstance(answer.dual, np.ndarray) else np.zeros(0)
    return answer.coef.tobytes(), dual.tobytes()


def check_deterministic(subject: Subject) -> None:
    """Check that equal calls give equal bits, from one instance and from another."""
    if not subject.declared.deterministic:
        raise CheckSkipped("it declares that it is not deterministic")
    for case in subject.cases("items", names=FEW):
        with subject.looking_at(case):
            solvers = (subject.solver, subject.solver, subject.fresh())
            found = [subject.answers(case.problem, case.lam, s) for s in solvers]
            for same in zip(*found):
                if (count := len(set(map(bits, same)))) > 1:
                    raise CheckFailed(f"three calls gave {count} answers")


def random_states() -> tuple[Any, ...]:
    """Return the states of the global generators of NumPy and Python."""
    kind, keys, *rest = np.random.get_state()
    return kind, keys.tobytes(), *rest, random.getstate()


def check_random_state(subject: Subject) -> None:
    """Check that the global generators of NumPy and Python are not used."""
    kept = np.random.get_state(), random.getstate()
    try:
        for case in subject.cases("items", names=FEW):
            with subject.looking_at(case):
                np.random.random(), random.random()  # a state that no seed produces
                before = random_states()
                subject.answers(case.problem, case.lam)
                if random_states() != before:
                    raise CheckFailed("a global random generator was used")
    finally:
        np.random.set_state(kept[0])
        random.setstate(kept[1])


HELD = ("X", "prefs.weight", "prefs.margin", "prefs.better", "prefs.worse", "target.b", "gram")


def copy_arrays(problem: Any) -> list[Any]:
    """Return copies of the arrays of a problem."""
    found = []
    for name in HELD:
        try:
            found.append(np.array(attrgetter(name)(problem)))
        except AttributeError:  # other kinds of problems
            found.append(None)
    return found


def lend_items(how: str, instance: Any) -> np.ndarray:
    """Return the items of an instance as a caller's array."""
    X = np.array(instance.X, order="C")
    if how == "every other row":
        return np.repeat(X, 2, axis=0)[::2]
    if how == "backwards":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if how == "read-only":  # like a mapped file, which cannot be made writable
        return np.frombuffer(X.tobytes()).reshape(X.shape)
    return np.asfortranarray(X) if how == "Fortran order" else X


def lent_problems(subject: Subject, *ways: str) -> Any:
    """Yield (way, variant, problem) of ranking SVMs that borrow their items."""
    kernel = subject.declared.first_kernel
    for variant in VARIANTS:
        for instance in GROUPS["items"][:5] if variant.kind == "RankSVMProblem" else ():
            for how in ways if kernel in ("linear", "rbf", "poly") else ():
                borrower = replace(instance, X=lend_items(how, instance))
                problem = variant.problem(borrower, kernel, copy=False)
                if problem is not None and subject.takes(problem):
                    yield f"{instance.name}, {how}", variant, problem


def check_unchanged(subject: Subject) -> None:
    """Check that the arrays of a problem and of its caller are unchanged."""
    cases = [*subject.problems("items", names=FEW), *subject.problems("weights")]
    named = [  # own problems, so that changes have no effect elsewhere
        (instance.name, variant, variant.problem(instance, subject.declared.first_kernel))
        for instance, variant, _ in cases
    ]
    for name, variant, problem in [*named, *lent_problems(subject, "writable")]:
        lam = instance_lambdas(problem)[0]
        with subject.looking_at(Case(name, variant, problem, lam)):
            before = copy_arrays(problem)
            subject.answers(problem, lam)
            for what, was, now in zip(HELD, before, copy_arrays(problem)):
                if was is not None and not np.array_equal(was, now):
                    raise CheckFailed(f"{what} of the problem was overwritten")


def check_layout(subject: Subject) -> None:
    """Check borrowed arrays that are read-only, or of any order in memory."""
    ways = ("read-only", "Fortran order", "every other row", "backwards")
    for name, variant, problem in lent_problems(subject, *ways):
        lam = instance_lambdas(problem)[0]
        with subject.looking_at(Case(name, variant, problem, lam)):
            if subject.promise is not None:
                require_gap(subject.answer(problem, lam), subject.promise)
            if "solve" in subject.declared.provides and subject.follows(problem):
                subject.path_below(problem, lam)
    if not subject.cases_seen:
        raise CheckSkipped("it does not accept problems without a copy of their items")


def check_copies(subject: Subject) -> None:
    """Check that pickled and copied solvers work, and that solutions can be pickled."""
    from joblib import wrap_non_picklable_objects  # classes of a notebook are pickled by value

    for case in subject.cases("items", names=("plain",)):
        with subject.looking_at(case):
            kept = subject.answers(case.problem, case.lam)
            sent = wrap_non_picklable_objects((subject.solver,), keep_wrapper=False)
            for solver in (pickle.loads(pickle.dumps(sent))[0], copy.deepcopy(subject.solver)):
                for mine, answer in zip(kept, subject.answers(case.problem, case.lam, solver)):
                    other = pickle.loads(pickle.dumps(answer)).certificate.primal
                    tol = 2 * (subject.declared.tol or 1.0)
                    same_objective(mine.certificate.primal, other, tol, "that of a copy")


def ordinary(subject: Subject) -> Any:
    """Yield (features, problem) of small ordinary problems; features are declarations."""
    declared, plain = subject.declared, GROUPS["items"][0]
    settings = [(plain, kernel, {}) for kernel in declared.kernels]
    settings += [(plain, "linear", dict(storage=s)) for s in declared.storages - {"float64"}]
    of = dict(weights=GROUPS["weights"][-2], margins=GROUPS["margins"][1])
    chosen = dict(queries=GROUPS["queries"][0]) | {
        name: instance for name, instance in of.items() if getattr(declared, name)
    }
    first = declared.first_kernel
    for variant in subject.variants():
        kinds = variant.names & set(declared.problems)
        for instance, kernel, options in settings:
            if not options or variant.kind == "RankSVMProblem":
                problem = cached_problem(variant, instance, kernel, **options)
                known = {variant.kind} & kinds  # derived problems may be refused
                yield {f"{kind} with the kernel {kernel}" for kind in known} | kinds, problem
        for name, instance in chosen.items():
            yield (
                {f"{kind} with {name}" for kind in kinds},
                cached_problem(variant, instance, first),
            )


def check_accepts(subject: Subject) -> None:
    """Check that the solver accepts an ordinary problem of everything that it declares."""
    said = {}
    for features, problem in ordinary(subject):
        if problem is None or Solver.can_solve(subject.declared, problem) is not True:
            continue
        subject.cases_seen += 1
        for what, (asked, _) in asked_of(subject.declared, problem).items():
            features.add(f"the {what} {asked}")
        fits = subject.agrees(problem)
        for feature in features:
            said.setdefault(feature, []).append(fits)
    for name in sorted(set(subject.declared.problems) - set(said) - WITHOUT_ITEMS):
        raise CheckFailed(
            f"it declares {name}, but none of the small problems satisfies the other declarations"
        )
    for feature, answers in said.items():
        if not any(fits is True for fits in answers):
            raise CheckFailed(
                f"it declares {feature}, but refuses all small problems of that kind: {answers[0]}"
            )


def beyond(subject: Subject) -> Any:
    """Yield (name of the instance, variant, problem) that the solver does not declare."""
    declared = subject.declared
    plain = GROUPS["items"][0]
    for variant in VARIANTS:
        options = dict(variant.options)
        linear = "signed" in options or options.get("penalty") == "l1"
        for kernel in ("linear",) if linear else VOCABULARY["kernels"]:
            yield plain.name, variant, cached_problem(variant, plain, kernel)
    wanted = dict(
        weights=declared.weights,
        margins=declared.margins,
        signed=declared.signed_margins or not declared.margins,
    )
    for group in (group for group, takes in wanted.items() if not takes):
        for instance in GROUPS[group]:
            for variant in VARIANTS:
                yield (
                    instance.name,
                    variant,
                    cached_problem(variant, instance, declared.first_kernel),
                )
    for storage in sorted({"float32", "csr"} - declared.storages):
        for variant in VARIANTS[:2]:
            name = f"{plain.name}, {storage}"
            yield name, variant, cached_problem(variant, plain, "linear", storage=storage)


def check_refuses(subject: Subject) -> None:
    """Check that undeclared problems are refused with a sentence."""
    for name, variant, problem in beyond(subject):
        if problem is None or Solver.can_solve(subject.declared, problem) is True:
            continue
        lam = instance_lambdas(problem)[0]
        with subject.looking_at(Case(name, variant, problem, lam)):
            said = subject.solver.can_solve(problem)
            if not (isinstance(said, str) and said.strip()):
                raise CheckFailed(f"can_solve returned {said!r} and not a sentence")
            try:
                subject.answer(problem, lam)
            except (ValueError, TypeError) as error:
                if len(str(error)) < 10:
                    raise CheckFailed(
                        "the error of a refused problem is too short to explain the refusal: "
                        f"{error!r}"
                    ) from error
            else:
                raise CheckFailed("the solver solved a problem that can_solve refuses")


def check_cost(subject: Subject) -> None:
    """Check that its predicted cost is a number of seconds."""
    if type(subject.solver).cost is Solver.cost:
        raise CheckSkipped("it does not predict its cost")
    for case in subject.cases("items"):
        for lam in (case.lam, *([None] if "path" in subject.declared.provides else [])):
            with subject.looking_at(case):
                seconds = subject.solver.cost(case.problem, lam)
                if not (isinstance(seconds, Real) and 0 <= seconds < np.inf):
                    raise CheckFailed(f"cost returned {seconds!r}, not seconds >= 0,")


def check_memory(subject: Subject) -> None:
    """Check that earlier solutions do not affect similar problems."""
    tol, lam, first = subject.tol, {}, subject.declared.first_kernel
    plain = replace(GROUPS["items"][0], X=np.array(GROUPS["items"][0].X))  # to lend
    alike = [  # equal items and numbers of preferences, and the first problem again
        plain,
        replace(plain, name="other weights", weight=repeated_values(1, 3, 0.5)),
        replace(plain, name="other margins", margin=repeated_values(1, 3, 0.5)),
        replace(plain, name="other grades", y=plain.y.max() - plain.y[::-1]),
        plain,
    ]
    kernels = sorted(subject.declared.kernels, key=lambda kernel: kernel != first)
    settings = [(first, instance) for instance in alike] + [(k, plain) for k in kernels[1:]]
    for (kernel, instance), variant in product(settings, subject.variants()):
        lends = variant.kind == "RankSVMProblem" and kernel in ("linear", "rbf", "poly")
        problem = variant.problem(instance, kernel, **(dict(copy=False) if lends else {}))
        if problem is None or not subject.takes(problem):
            continue
        at = lam.setdefault(variant.kind, 0.1 * unit_of(problem))
        with subject.looking_at(Case(instance.name, variant, problem, at)):
            require_gap(subject.answer(problem, at), tol)
            if subject.declared.provides == {"solve", "path"} and subject.follows(problem):
                subject.path_below(problem, at)


def check_threads(subject: Subject) -> None:
    """Check that one instance gives correct answers to two threads at once."""
    cases = list(subject.cases("items", names=("plain", "integer grid")))
    alone, found, ready = {}, [], Barrier(2)
    for case in cases:
        with subject.looking_at(case):
            alone[case] = subject.answer(case.problem, case.lam)

    def run(order):
        ready.wait()
        for case in order:
            try:
                found.append((case, subject.answer(case.problem, case.lam)))
            except Exception as error:  # reported by the thread that waits
                found.append((case, error))

    threads = [Thread(target=run, args=(order,), daemon=True) for order in (cases, cases[::-1])]
    interval = sys.getswitchinterval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.setswitchinterval(1e-6)  # switches threads as often as possible
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(interval)
    for case, answer in found:
        with subject.looking_at(case):
            if isinstance(answer, Exception):
                raise CheckFailed(f"{describe(answer)}, in one of two threads,") from answer
            one, two = alone[case].certificate.primal, answer.certificate.primal
            same_objective(one, two, 2 * (subject.promise or 1e-2), "in one of two threads")


def surroundings() -> dict[str, Any]:
    """Return the settings of this process by name."""
    return {
        "the list of warnings filters": list(warnings.filters),
        "the environment": dict(os.environ),
        "the current folder": os.getcwd(),
        "the handler of Ctrl-C": signal.getsignal(signal.SIGINT),
    }


def check_surroundings(subject: Subject) -> None:
    """Check that the solver changes no settings of the process and prints nothing."""
    for case in subject.cases("items", names=("plain",)):
        kept = surroundings()
        with (
            subject.looking_at(case),
            redirect_stdout(io.StringIO()) as printed,
            TemporaryDirectory() as elsewhere,
        ):
            warnings.resetwarnings()
            warnings.filterwarnings("ignore", message=".*")
            os.chdir(elsewhere)
            try:
                before = surroundings()
                subject.answers(case.problem, case.lam)
                for name, now in surroundings().items():
                    if now != before[name]:
                        raise CheckFailed(f"{name} was changed")
            finally:
                os.environ.clear()
                os.environ.update(kept["the environment"])
                os.chdir(kept["the current folder"])
                if signal.getsignal(signal.SIGINT) is not kept["the handler of Ctrl-C"]:
                    signal.signal(signal.SIGINT, kept["the handler of Ctrl-C"])
            if text := printed.getvalue():
                raise CheckFailed(f"it printed {text[:80]!r} to standard output")
