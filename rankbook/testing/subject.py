"""The solver under test, its declarations, and failures."""

from __future__ import annotations

import copy
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..base.types import SolverLike
from ..problems.certificate import Solution
from ..registry.plugins import get_solver
from ..registry.solve import solve, solve_path
from ..registry.solver import FEATURES, Solver, solver_fit
from .corpus import GROUPS, VARIANTS, Instance, Variant, cached_problem, instance_lambdas, unit_of


class CheckFailed(AssertionError):
    """Error of a solver, with the case that shows it."""


class CheckSkipped(Exception):
    """Reason why a check has no cases."""


@dataclass(frozen=True, eq=False)
class Case:
    """A problem, a lambda, and their origin."""

    name: str
    variant: Variant
    problem: Any
    lam: float

    def __str__(self) -> str:
        return f"{self.name!r} as {self.problem!r} at lam = {self.lam:.3g}"


class Declaration:
    """Declarations of a solver, with tuples converted to sets."""

    def __init__(self, solver: Solver) -> None:
        for name in ("problems", "kernels", "weights", "margins", "signed_margins", "hard_margin"):
            setattr(self, name, getattr(solver, name))
        self.signs, self.needs = solver.signs, solver.needs
        for name in (*FEATURES.values(), "provides"):
            setattr(self, name, set(getattr(solver, name)))
        self.largest, self.deterministic = solver.largest, solver.deterministic
        self.tol = solver.tol

    @property
    def first_kernel(self) -> str:
        """Kernel of cases that do not concern kernels."""
        return "linear" if "linear" in self.kernels else min(self.kernels)


def describe(error: BaseException) -> str:
    """Describe an error with its notes and the line that raised it."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    where = f"{Path(frame.filename).name}, line {frame.lineno}"
    return f"{type(error).__name__} in {where}: {str(error).rstrip('.')}{notes}"


class Subject:
    """A solver under test.

    Parameters
    ----------
    solver : str, type or instance
    options : dict, optional
        Passed to the class.
    tell : function, optional
        Called with a description of each case before the solver runs it, to show where it hangs.

    Attributes
    ----------
    solver : the instance
    declared : Declaration
    cases_seen : int
    """

    def __init__(
        self,
        solver: SolverLike,
        options: dict[str, Any] | None = None,
        tell: Callable[[str], None] = lambda case: None,
    ) -> None:
        self.given, self.options, self.tell = solver, options or {}, tell
        self.solver = self.fresh()
        self.declared, self.cases_seen = Declaration(self.solver), 0

    def fresh(self) -> Any:
        """Return another instance; a given instance is copied."""
        made = get_solver(self.given, **self.options)
        return made if isinstance(self.given, (str, type)) else copy.deepcopy(made)

    def takes(self, problem: Any) -> bool:
        """Return whether the solver declares that it supports a problem, and accepts it."""
        return Solver.can_solve(self.declared, problem) is True and self.agrees(problem) is True

    def agrees(self, problem: Any) -> Any:
        """Return the result of the solver's own `can_solve` for a problem."""
        said = self.solver.can_solve(problem)
        return bool(said) if isinstance(said, np.bool_) else said

    def follows(self, problem: Any) -> bool:
        """Return whether it has a path of a problem that it supports."""
        return "path" in self.declared.provides and solver_fit(self.solver, problem, "path") is True

    def variants(self, kinds: tuple[str, ...] = ()) -> list[Variant]:
        """Return the kinds that it declares, of all kinds by default."""
        declared = set(self.declared.problems)
        return [v for v in VARIANTS if v.names & declared and v.kind in (kinds or (v.kind,))]

    def problems(
        self,
        group: str,
        kernel: str = "",
        names: tuple[str, ...] = (),
        kinds: tuple[str, ...] = (),
        **options: Any,
    ) -> Iterator[tuple[Instance, Variant, Any]]:
        """Yield instances of a group with the problems that the solver supports.

        By default all names and kinds. The options belong to the kind.
        """
        kernel = kernel or self.declared.first_kernel
        for variant in self.variants(kinds):
            for instance in GROUPS[group]:
                if instance.name not in (names or (instance.name,)):
                    continue
                problem = cached_problem(variant, instance, kernel, **options)
                if problem is not None and self.takes(problem):
                    yield instance, variant, problem

    def cases(
        self, group: str, lams: Callable[[Any], tuple[float, ...]] = instance_lambdas, **choice: Any
    ) -> Iterator[Case]:
        """Yield the cases of a group, at lambdas that depend on the problem."""
        for instance, variant, problem in self.problems(group, **choice):
            for lam in lams(problem):
                yield Case(instance.name, variant, problem, lam)

    @contextmanager
    def looking_at(self, case: Case) -> Iterator[None]:
        """Announce a case, count it, and name it in errors."""
        self.tell(str(case))
        self.cases_seen += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        except CheckSkipped:
            raise
        except CheckFailed as error:
            raise CheckFailed(f"{error} on {case}") from error.__cause__
        except Exception as error:
            raise CheckFailed(f"{describe(error)} on {case}") from error

    def answer(self, problem: Any, lam: float, solver: Any = None) -> Solution:
        """Return the solution of the solver, or of another instance."""
        if "solve" in self.declared.provides:
            return solve(problem, lam, solver=self.solver if solver is None else solver)
        path = self.path_below(problem, lam, solver)
        return self.certified(path.solution(lam), problem, lam)

    def path_below(self, problem: Any, lam: float, solver: Any = None) -> Any:
        """Return a path that ends a little below a lambda."""
        solver = self.solver if solver is None else solver
        return solve_path(problem, min(0.9 * lam, unit_of(problem)), solver=solver)

    def answers(self, problem: Any, lam: float, solver: Any = None) -> list[Solution]:
        """Yield the answers of all methods that it provides: solve and path."""
        found = [self.answer(problem, lam, solver)]
        if "solve" in self.declared.provides and self.follows(problem):
            path = self.path_below(problem, lam, solver)
            if lam > path.domain[0]:  # another check tests how far it comes
                found.append(self.certified(path.solution(lam), problem, lam))
        return found

    def certified(self, answer: Any, problem: Any, lam: float) -> Solution:
        """Return an answer of a path, certified by the library."""
        if not isinstance(answer, Solution) or answer.problem is not problem or answer.lam != lam:
            raise CheckFailed(
                f"the path answered with {answer!r}, not a Solution of it at that lam"
            )
        return Solution.said_by(answer, answer.solver, problem, lam)

    @property
    def tol(self) -> float:
        """Return the promised relative gap; without a promise the check is skipped."""
        if self.promise is None:
            raise CheckSkipped("tol is None: it promises no relative gap")
        return self.promise

    @cached_property
    def promise(self) -> float | None:
        """Return the promised gap or None; for solvers with paths only, the gap of the path."""
        if "solve" in self.declared.provides:
            return self.declared.tol
        for _, _, problem in self.problems("items", names=("plain",)):
            return solve_path(problem, 0.5 * unit_of(problem), solver=self.solver).tol
        return self.declared.tol
