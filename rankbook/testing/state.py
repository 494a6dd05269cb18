"""Checks that a solver keeps and changes nothing."""

import gc
import io
import logging
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from tempfile import TemporaryDirectory
from threading import Barrier, Thread
from typing import Any

import numpy as np

from .answers import within
from .corpus import Instance, repeated
from .problems import Variant, instances, unit_of
from .subject import Case, CheckFailed, Subject, describe


def alike() -> list[Instance]:
    """Instances with the same items and number of preferences, and the first of them again."""
    plain = instances("items")[0]
    plain = replace(plain, X=np.array(plain.X))  # to lend
    return [
        plain,
        replace(plain, name="other weights", weight=repeated(1, 3, 0.5)),
        replace(plain, name="other margins", margin=repeated(1, 3, 0.5)),
        replace(plain, name="other grades", y=plain.y.max() - plain.y[::-1]),
        plain,
    ]


def look_alikes(subject: Subject) -> Iterator[tuple[str, Variant, Any]]:
    """(name, variant, problem) of each kind, and with each kernel."""
    first = subject.declared.first_kernel
    for kernel in sorted(subject.declared.kernels, key=lambda kernel: kernel != first):
        for instance in alike()[: None if kernel == first else 1]:
            for variant in subject.variants():
                lends = variant.kind == "RankSVMProblem" and kernel in ("linear", "rbf", "poly")
                options = dict(copy=False) if lends else {}
                problem = variant.problem(instance, kernel, **options)
                if problem is not None and subject.takes(problem):
                    yield instance.name, variant, problem


def check_memory(subject: Subject) -> None:
    """What was solved before makes no difference to problems that look alike."""
    tol, lam = subject.tol, {}
    for name, variant, problem in look_alikes(subject):
        kind = variant.kind
        lam.setdefault(kind, 0.1 * unit_of(problem))
        with subject.looking_at(Case(name, variant, problem, lam[kind])):
            within(subject.answer(problem, lam[kind]), tol)
            if subject.declared.provides == {"solve", "path"} and subject.follows(problem):
                subject.path_below(problem, lam[kind])


@contextmanager
def hasty_threads() -> Iterator[None]:
    """Python changes from one thread to another as often as it can."""
    kept = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(kept)


def at_once(ask: Any, orders: list[list[Any]]) -> list[tuple[Any, Any]]:
    """(case, answer or error) of some threads that begin together, each with its own order."""
    ready, found = Barrier(len(orders)), []

    def run(order):
        ready.wait()
        for case in order:
            try:
                found.append((case, ask(case)))
            except Exception as error:  # told by the thread that waits
                found.append((case, error))

    threads = [Thread(target=run, args=(order,), daemon=True) for order in orders]
    with hasty_threads():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return found


def check_threads(subject: Subject) -> None:
    """One instance, asked by two threads at once, answers each as it does alone."""
    cases = list(subject.cases("items", names=("plain", "integer grid")))
    alone = {}
    for case in cases:
        with subject.looking_at(case):
            alone[case] = subject.answer(case.problem, case.lam)
    ask = lambda case: subject.answer(case.problem, case.lam)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = at_once(ask, [cases, cases[::-1]])
    for case, answer in found:
        with subject.looking_at(case):
            if isinstance(answer, Exception):
                raise CheckFailed(f"{describe(answer)}, in a thread beside another,") from answer
            one, two = alone[case].certificate.primal, answer.certificate.primal
            if not abs(one - two) <= 2 * (subject.promise or 1e-2) * max(1.0, abs(one)):
                raise CheckFailed(
                    f"the objective is {one:.10g}, and {two:.10g} in a thread beside another"
                )


def surroundings() -> dict[str, Any]:
    """The settings of this process, by what they are called."""
    return {
        "the list of warnings filters": list(warnings.filters),
        "the environment": dict(os.environ),
        "the current folder": os.getcwd(),
        "the limit of recursion": sys.getrecursionlimit(),
        "the handler of Ctrl-C": signal.getsignal(signal.SIGINT),
        "the level of logging": logging.getLogger().level,
        "whether garbage is collected": gc.isenabled(),
    }


BEGINNING = dict(os.environ)  # before any solver that is checked here was asked


def replace_environment(new: dict[str, str]) -> None:
    """Make the environment the one that is given."""
    if dict(os.environ) != new:
        os.environ.clear()
        os.environ.update(new)


@contextmanager
def unlikely_surroundings() -> Iterator[None]:
    """Settings that nobody chooses, quiet ones; what was there before comes back."""
    environment, folder, depth = dict(os.environ), os.getcwd(), sys.getrecursionlimit()
    level, collects = logging.getLogger().level, gc.isenabled()
    handler = signal.getsignal(signal.SIGINT)
    with warnings.catch_warnings(), TemporaryDirectory() as elsewhere:
        warnings.resetwarnings()
        warnings.filterwarnings("ignore", message=".*")
        replace_environment(BEGINNING)
        os.chdir(elsewhere)
        sys.setrecursionlimit(depth + 7)
        logging.getLogger().setLevel(logging.WARNING + 1)
        try:
            yield
        finally:
            replace_environment(environment)
            os.chdir(folder)
            sys.setrecursionlimit(depth)
            logging.getLogger().setLevel(level)
            (gc.enable if collects else gc.disable)()
            if signal.getsignal(signal.SIGINT) is not handler:
                signal.signal(signal.SIGINT, handler)


def check_surroundings(subject: Subject) -> None:
    """Settings of the process are left as they are, and nothing is printed."""
    for case in subject.cases("items", names=("plain",)):
        with subject.looking_at(case), redirect_stdout(io.StringIO()) as printed:
            with unlikely_surroundings():
                subject.answers(case.problem, case.lam)
            with unlikely_surroundings():
                before = surroundings()
                subject.answers(case.problem, case.lam)
                for name, now in surroundings().items():
                    if now != before[name]:
                        raise CheckFailed(f"{name} was changed")
            if text := printed.getvalue():
                raise CheckFailed(f"it printed {text[:80]!r} to standard output")
