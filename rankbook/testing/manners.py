"""Checks of errors, options and limits."""

import copy
import pickle
import random
from dataclasses import replace
from numbers import Real
from operator import attrgetter
from typing import Any

import numpy as np

from ..registry.declaration import asked_of, declared_fit
from .answers import within
from .problems import VARIANTS, Variant, instances, lambdas, made
from .subject import Case, CheckFailed, CheckSkipped, Subject

SETTING = dict(items=("plain", "copies that contradict", "cycles"), queries=("queries",))


def has_order(variant: Variant) -> bool:
    """Whether a kind of problem is the same whatever the order of its rows.

    Labels, and a basis, are chosen by row.
    """
    by_row = ("RayleighProblem", "LabelRankSVMProblem", "LabelRankRLSProblem")
    return variant.kind not in by_row and not dict(variant.options).get("basis")


def check_order(subject: Subject) -> None:
    """Rows in another order, and queries of other names, give the same objective."""
    tol, kernel = subject.tol, subject.declared.first_kernel
    for group, names in SETTING.items():
        for instance, variant, problem in subject.problems(group, names=names):
            if not has_order(variant):
                continue
            order = np.random.default_rng(3).permutation(len(instance.X))
            other = variant.problem(instance.permuted(order), kernel)
            for lam in lambdas(problem):
                with subject.looking_at(Case(f"{instance.name}, permuted", variant, other, lam)):
                    one, two = (subject.answer(p, lam).certificate.primal for p in (problem, other))
                    if not abs(one - two) <= 2 * tol * max(1.0, abs(one)):
                        raise CheckFailed(f"the objective is {one:.10g}, and permuted {two:.10g}")
    if not subject.cases_seen:
        raise CheckSkipped("its problems choose items by their row")


FEW = ("plain", "integer grid")


def bits(answer: Any) -> tuple[bytes, bytes]:
    """Coefficients and multipliers of an answer, to the bit."""
    dual = answer.dual if isinstance(answer.dual, np.ndarray) else np.zeros(0)
    return answer.coef.tobytes(), dual.tobytes()


def check_deterministic(subject: Subject) -> None:
    """The same call gives the same bits, from one instance and from another."""
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
    """The states of the global generators of NumPy and Python, to compare."""
    kind, keys, *rest = np.random.get_state()
    return kind, keys.tobytes(), *rest, random.getstate()


def check_random_state(subject: Subject) -> None:
    """The global generators of NumPy and Python are left as they are."""
    kept = np.random.get_state(), random.getstate()
    try:
        for case in subject.cases("items", names=FEW):
            with subject.looking_at(case):
                np.random.random(), random.random()  # in no state that a seed leads to
                before = random_states()
                subject.answers(case.problem, case.lam)
                if random_states() != before:
                    raise CheckFailed("a global random generator was used")
    finally:
        np.random.set_state(kept[0])
        random.setstate(kept[1])


HELD = ("X", "prefs.weight", "prefs.margin", "prefs.better", "prefs.worse", "target.b", "gram")


def held(problem: Any) -> list[Any]:
    """Copies of the arrays that a problem holds."""
    found = []
    for name in HELD:
        try:
            found.append(np.array(attrgetter(name)(problem)))
        except AttributeError:  # another kind of problem
            found.append(None)
    return found


def lent(how: str, instance: Any) -> np.ndarray:
    """The items of an instance, as an array of the caller's."""
    X = np.array(instance.X, order="C")
    if how == "every other row":
        return np.repeat(X, 2, axis=0)[::2]
    if how == "backwards":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if how == "read-only":  # as a mapped file is: nobody can open it for writing
        return np.frombuffer(X.tobytes()).reshape(X.shape)
    return np.asfortranarray(X) if how == "Fortran order" else X


def lent_problems(subject: Subject, *ways: str) -> Any:
    """(way, variant, problem) of ranking SVMs that borrow their items."""
    kernel = subject.declared.first_kernel
    for variant in VARIANTS:
        for instance in instances("items")[:5] if variant.kind == "RankSVMProblem" else ():
            for how in ways if kernel in ("linear", "rbf", "poly") else ():
                borrower = replace(instance, X=lent(how, instance))
                problem = variant.problem(borrower, kernel, copy=False)
                if problem is not None and subject.takes(problem):
                    yield f"{instance.name}, {how}", variant, problem


def check_unchanged(subject: Subject) -> None:
    """The arrays of a problem, and of a caller who lends them, are left as they are."""
    cases = [*subject.problems("items", names=FEW), *subject.problems("weights")]
    named = [  # problems of its own: nobody else sees what becomes of them
        (instance.name, variant, variant.problem(instance, subject.declared.first_kernel))
        for instance, variant, _ in cases
    ]
    for name, variant, problem in [*named, *lent_problems(subject, "writable")]:
        lam = lambdas(problem)[0]
        with subject.looking_at(Case(name, variant, problem, lam)):
            before = held(problem)
            subject.answers(problem, lam)
            for what, was, now in zip(HELD, before, held(problem)):
                if was is not None and not np.array_equal(was, now):
                    raise CheckFailed(f"{what} of the problem was overwritten")


def check_layout(subject: Subject) -> None:
    """Lent arrays may be read-only, and of any order in memory."""
    ways = ("read-only", "Fortran order", "every other row", "backwards")
    for name, variant, problem in lent_problems(subject, *ways):
        lam = lambdas(problem)[0]
        with subject.looking_at(Case(name, variant, problem, lam)):
            if subject.promise is not None:
                within(subject.answer(problem, lam), subject.promise)
            if "solve" in subject.declared.provides and subject.follows(problem):
                subject.path_below(problem, lam)
    if not subject.cases_seen:
        raise CheckSkipped("it takes no problem that borrows its items")


def through_pickle(solver: Any) -> Any:
    """What a worker of joblib gets; classes of a notebook travel by value."""
    from joblib import wrap_non_picklable_objects

    return pickle.loads(pickle.dumps(wrap_non_picklable_objects((solver,), keep_wrapper=False)))[0]


def check_copies(subject: Subject) -> None:
    """The solver, pickled or copied, solves as before; its solutions can be pickled."""
    for case in subject.cases("items", names=("plain",)):
        with subject.looking_at(case):
            kept = subject.answers(case.problem, case.lam)
            for make in (through_pickle, copy.deepcopy):
                copies = subject.answers(case.problem, case.lam, make(subject.solver))
                for mine, answer in zip(kept, copies):
                    one = mine.certificate.primal
                    other = pickle.loads(pickle.dumps(answer)).certificate.primal
                    allowed = 2 * (subject.declared.tol or 1.0)
                    if not abs(one - other) <= allowed * max(1.0, abs(one)):
                        raise CheckFailed(
                            f"the objective is {one:.10g}, and that of a copy {other:.10g}"
                        )


def ordinary(subject: Subject) -> Any:
    """(features, problem) of small ordinary problems; a feature is what is declared, in words."""
    declared, plain = subject.declared, instances("items")[0]
    settings = [(plain, kernel, {}) for kernel in declared.kernels]
    settings += [(plain, "linear", dict(storage=s)) for s in declared.storages - {"float64"}]
    of = dict(weights=instances("weights")[-2], margins=instances("margins")[1])
    chosen = dict(queries=instances("queries")[0]) | {
        name: instance for name, instance in of.items() if getattr(declared, name)
    }
    first = declared.first_kernel
    for variant in subject.variants():
        kinds = variant.names & set(declared.problems)
        for instance, kernel, options in settings:
            if not options or variant.kind == "RankSVMProblem":
                problem = made(variant, instance, kernel, **options)
                known = {variant.kind} & kinds  # what is derived from it may be refused
                yield {f"{kind} with the kernel {kernel}" for kind in known} | kinds, problem
        for name, instance in chosen.items():
            yield {f"{kind} with {name}" for kind in kinds}, made(variant, instance, first)


def check_accepts(subject: Subject) -> None:
    """What it declares, it takes: an ordinary problem of each kind, kernel, loss and storage."""
    said = {}
    for features, problem in ordinary(subject):
        if problem is None or declared_fit(subject.declared, problem) is not True:
            continue
        subject.cases_seen += 1
        for what, (asked, _) in asked_of(subject.declared, problem).items():
            features.add(f"the {what} {asked}")
        fits = subject.agrees(problem)
        for feature in features:
            said.setdefault(feature, []).append(fits)
    for name in sorted(set(subject.declared.problems) - set(said)):
        raise CheckFailed(f"it declares {name}, and no small problem that is one fits the rest")
    for feature, answers in said.items():
        if not any(fits is True for fits in answers):
            raise CheckFailed(
                f"it declares {feature}, and refuses all small problems of that: {answers[0]}"
            )


def beyond(subject: Subject) -> Any:
    """(instance's name, variant, problem) that the solver does not declare."""
    declared = subject.declared
    kernels = ("linear", "rbf", "poly", "precomputed", "callable")
    plain = instances("items")[0]
    for variant in VARIANTS:
        for kernel in kernels if "l1" not in str(variant) else ("linear",):
            yield plain.name, variant, made(variant, plain, kernel)
    wanted = dict(
        weights=declared.weights,
        margins=declared.margins,
        signed=declared.signed_margins or not declared.margins,
    )
    for group in (group for group, takes in wanted.items() if not takes):
        for instance in instances(group):
            for variant in VARIANTS:
                yield instance.name, variant, made(variant, instance, declared.first_kernel)
    for storage in sorted({"float32", "csr"} - declared.storages):
        for variant in VARIANTS[:2]:
            name = f"{plain.name}, {storage}"
            yield name, variant, made(variant, plain, "linear", storage=storage)


def check_refuses(subject: Subject) -> None:
    """What it does not declare is refused, in words."""
    can_solve = getattr(subject.solver, "can_solve", None)
    hint = "" if can_solve else " (rb.Solver as a base class does that)"
    for name, variant, problem in beyond(subject):
        if problem is None or declared_fit(subject.declared, problem) is True:
            continue
        lam = lambdas(problem)[0]
        with subject.looking_at(Case(name, variant, problem, lam)):
            said = None if can_solve is None else can_solve(problem)
            if can_solve is not None and not (isinstance(said, str) and said.strip()):
                raise CheckFailed(f"can_solve returned {said!r} and not a sentence")
            try:
                subject.answer(problem, lam)
            except (ValueError, TypeError) as error:
                if len(str(error)) < 10:
                    raise CheckFailed(f"it was refused with {error!r}") from error
            else:
                raise CheckFailed(f"it was answered, and not refused{hint}")


def check_cost(subject: Subject) -> None:
    """What it says that it costs is a number of seconds."""
    if not hasattr(subject.solver, "cost"):
        raise CheckSkipped("it does not say what it costs")
    for case in subject.cases("items"):
        for lam in (case.lam, *([None] if "path" in subject.declared.provides else [])):
            with subject.looking_at(case):
                seconds = subject.solver.cost(case.problem, lam)
                if not (isinstance(seconds, Real) and 0 <= seconds < np.inf):
                    raise CheckFailed(f"cost returned {seconds!r}; seconds >= 0 are accepted,")
