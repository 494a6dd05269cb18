"""Running all conformance checks of a solver."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..base.tables import as_html, as_text
from ..base.types import SolverLike
from ..base.validation import as_positive
from ..registry.options import with_options
from ..registry.plugins import find_record, portable
from .isolation import CHECKS, GATE, CheckResult, look, run_check, run_isolated
from .subject import CheckSkipped, Subject


class CheckTable(list[CheckResult]):
    """How the checks ended, in their order; a table in a terminal and in Jupyter.

    Examples
    --------
    >>> from rankbook.testing import check_solver
    >>> found = check_solver("rls", isolated=False)
    >>> found.failed, any(result.outcome == "passed" for result in found)
    ([], True)
    """

    COLUMNS = ("check", "outcome", "cases", "")

    @property
    def failed(self) -> list[CheckResult]:
        """The checks that failed, and not as expected."""
        return [result for result in self if result.outcome == "failed"]

    @property
    def cells(self) -> list[tuple[str, ...]]:
        """The table's rows as texts, the head first."""
        rows = ((r.check, r.outcome, str(r.cases or ""), r.detail) for r in self)
        return [self.COLUMNS, *rows]

    def __repr__(self) -> str:
        return as_text(self.cells)

    def _repr_html_(self) -> str:
        return as_html(self.cells)


TIME_LIMIT = 120.0  # seconds of one check; the first may have to compile


def as_known(expected: Mapping[str, str] | None) -> dict[str, str]:
    """Expected failures as a dict from names of checks to reasons."""
    expected = dict(expected or {})
    if unknown := sorted(set(expected) - set(CHECKS)):
        raise ValueError(
            f"expected_failed_checks names {', '.join(unknown)}; {', '.join(CHECKS)} are accepted."
        )
    return expected


def sent(solver: SolverLike) -> SolverLike:
    """A solver as another process can find it: a class that was registered here for its name."""
    if isinstance(name := with_options(solver, {})[0], str):
        find_record(name)  # an unknown name is an error here already
    return portable(solver)


def judged(result: CheckResult, expected: Mapping[str, str]) -> CheckResult:
    """A result in the light of the reasons for failures."""
    if result.outcome == "failed" and result.check in expected:
        return replace(result, outcome="expected", detail=expected[result.check])
    return result


def check_solver(
    solver: SolverLike,
    *,
    expected_failed_checks: Mapping[str, str] | None = None,
    isolated: bool = True,
    time_limit: float = TIME_LIMIT,
) -> CheckTable:
    """Put a solver through the checks of :data:`rankbook.testing.isolation.CHECKS`.

    Parameters
    ----------
    solver : str, type or instance, or a pair of a str or type and a dict of options
        A registered name, a class, or an instance.
    expected_failed_checks : dict of str to str, optional
        Names of checks that may fail, with the mathematical reason.
    isolated : bool, default True
        Whether the checks run in another process, where a hang or a crash of the interpreter is
        one failed check. The solver has to survive a pickle then.
    time_limit : float > 0, default 120.0
        Seconds that a check may take, if isolated.

    Returns
    -------
    CheckTable
        A list of results, one for each check. If the first fails, the others are skipped.

    Raises
    ------
    ValueError, ImportError
        If the solver, or the name of a check, is unknown; if the plugin cannot be imported.

    Examples
    --------
    >>> from rankbook.testing import check_solver
    >>> found = check_solver("rls", isolated=False)
    >>> found[0].check, found[0].outcome, found.failed
    ('answers', 'passed', [])
    """
    expected = as_known(expected_failed_checks)
    given, options = with_options(sent(solver), {})
    time_limit = as_positive("time_limit", time_limit)

    def run(names):
        if isolated:
            return run_isolated(names, given, options, time_limit)
        return (run_check(name, given, options) for name in names)

    results = run(list(CHECKS))
    table = CheckTable([judged(next(results), expected)])
    if table.failed:
        results.close()
        names = [name for name in CHECKS if name != GATE]
        table += (CheckResult(name, "skipped", 0, f"{GATE} failed") for name in names)
    table += (judged(result, expected) for result in results)
    return table


class SolverCheck:
    """A check that can be called with a solver, and shows as its name."""

    def __init__(self, name: str, isolated: bool, time_limit: float) -> None:
        self.name, self.isolated, self.time_limit = name, isolated, time_limit

    def __call__(self, solver: SolverLike) -> CheckResult:
        """Run it; a failure is an AssertionError, and what was skipped is skipped in pytest."""
        import pytest

        if not self.isolated:
            try:
                subject = Subject(solver)
                look(self.name, subject)  # whatever it raises keeps its traceback
            except CheckSkipped as reason:
                pytest.skip(str(reason))
            return CheckResult(self.name, "passed", subject.cases_seen)
        result = next(run_isolated([self.name], sent(solver), {}, self.time_limit))
        if result.outcome == "skipped":
            pytest.skip(result.detail)
        assert result.outcome == "passed", f"{self.name}: {result.detail}"
        return result

    def __repr__(self) -> str:
        return self.name


def parametrize_with_solver_checks(
    solvers: Iterable[SolverLike],
    *,
    expected_failed_checks: Callable[[SolverLike], Mapping[str, str] | None] | None = None,
    isolated: bool = False,
    time_limit: float = TIME_LIMIT,
) -> Any:
    """A decorator that makes a test of every check of every solver.

    Parameters
    ----------
    solvers : iterable of str, type or instance
    expected_failed_checks : function of a solver, optional
        Gives a dict of names of checks and reasons, or None; the tests are strict xfails.
    isolated : bool, default False
        Whether each check runs in a process of its own, with a time limit.
    time_limit : float > 0, default 120.0
        Seconds.

    Returns
    -------
    decorator
        For a test with the arguments ``solver`` and ``check``, which calls ``check(solver)``.

    Examples
    --------
    >>> from rankbook.testing import parametrize_with_solver_checks
    >>> @parametrize_with_solver_checks(["rls"])
    ... def test_rls(solver, check):
    ...     check(solver)
    >>> test_rls.pytestmark[0].name
    'parametrize'
    """
    import pytest

    cases = []
    for solver in solvers:
        expected = as_known(expected_failed_checks and expected_failed_checks(solver))
        label = solver if isinstance(solver, str) else getattr(solver, "name", "") or repr(solver)
        for name in CHECKS:
            marks = (
                [pytest.mark.xfail(reason=expected[name], strict=True)] if name in expected else []
            )
            check = SolverCheck(name, isolated, as_positive("time_limit", time_limit))
            cases.append(pytest.param(solver, check, id=f"{label}-{name}", marks=marks))
    return pytest.mark.parametrize("solver, check", cases)
