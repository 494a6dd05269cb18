"""Conformance checks of a solver."""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..base.errors import ArgumentError
from ..base.progress import progress_bar
from ..base.tables import as_html, as_text
from ..base.types import SolverLike
from ..base.validation import as_positive
from ..registry.plugins import find_record, portable
from ..registry.solver import with_options
from . import checks, paths
from .subject import CheckFailed, CheckSkipped, Subject

CHECKS: dict[str, Callable[[Subject], None]] = {  # all functions check_... of the two modules
    name.removeprefix("check_"): check
    for name, check in (vars(checks) | vars(paths)).items()
    if name.startswith("check_")
}
GATE = "answers"  # if it fails, the other checks are skipped


@dataclass(frozen=True)
class CheckResult:
    """Result of a check.

    Attributes
    ----------
    check : str
    outcome : {"passed", "failed", "expected", "skipped"}
        "expected" for a failure with a given reason.
    cases : int
        Number of cases.
    detail : str
        The case that shows the failure, or the reason.
    seconds : float
    """

    check: str
    outcome: str
    cases: int = 0
    detail: str = ""
    seconds: float = 0.0


def look(name: str, subject: Subject) -> None:
    """Run a check; it is skipped if it has no cases."""
    CHECKS[name](subject)
    if not subject.cases_seen:
        raise CheckSkipped("no problem that it takes is a case of this")


def run_check(
    name: str,
    solver: SolverLike,
    options: dict[str, Any] | None = None,
    tell: Callable[[str], None] = lambda case: None,
) -> CheckResult:
    """Run one check of :data:`CHECKS` in this process.

    Parameters
    ----------
    name : str
    solver, options
        As in :class:`rankbook.testing.subject.Subject`.
    tell : function
        Called with each case before the solver receives it.
    """
    begin, outcome, detail, cases = time.perf_counter(), "passed", "", 0
    try:
        subject = Subject(solver, options, tell)
        try:
            look(name, subject)
        finally:
            cases = subject.cases_seen
    except CheckSkipped as reason:
        outcome, detail = "skipped", str(reason)
    except CheckFailed as error:
        outcome, detail = "failed", str(error)
    except (Exception, SystemExit) as error:  # errors before a case, in its class or can_solve
        outcome, detail = "failed", f"{type(error).__name__}: {error}"
    return CheckResult(name, outcome, cases, detail, time.perf_counter() - begin)


WORKER = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from rankbook.testing.kit import work; work()"
)


def work() -> None:
    """Run the checks of the job on standard input, and print a line for each step."""
    job = pickle.load(sys.stdin.buffer)
    parent, out = os.dup(0), os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # redirects what a solver prints

    def end_with_parent():
        os.read(parent, 1)  # returns when the parent ends; this also stops a hanging solver
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    for name in job["checks"]:
        print(json.dumps(dict(check=name)), file=out)
        tell = lambda case: print(json.dumps(dict(case=case)), file=out)
        result = run_check(name, job["solver"], job["options"], tell)
        print(json.dumps(dict(result=asdict(result))), file=out)
    out.close()
    os._exit(0)


def run_isolated(
    checks: list[str], solver: SolverLike, options: dict[str, Any], time_limit: float
) -> Iterator[CheckResult]:
    """Yield the results of checks from a worker; restart it after a hang or crash.

    Parameters
    ----------
    checks : list of str
    solver, options
        As in :class:`rankbook.testing.subject.Subject`; they must be picklable.
    time_limit : float
        Time limit of a case in seconds.
    """
    from joblib import wrap_non_picklable_objects

    path = json.dumps([str(Path(part).resolve()) for part in sys.path])
    command, pipe = [sys.executable, "-X", "faulthandler", "-c", WORKER, path], subprocess.PIPE
    left = list(checks)
    while left:
        job = dict(checks=left, solver=solver, options=options)
        packed = pickle.dumps(wrap_non_picklable_objects(job, keep_wrapper=False))
        with tempfile.TemporaryFile() as printed:
            worker = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=printed)
            said: queue.SimpleQueue[bytes] = queue.SimpleQueue()

            def listen(worker=worker, said=said):
                for line in worker.stdout:
                    said.put(line)
                said.put(b"")

            listener = threading.Thread(target=listen, daemon=True)
            listener.start()
            try:
                with suppress(OSError):
                    worker.stdin.write(packed)
                    worker.stdin.flush()
                check, case, cases, what = left[0], "", 0, ""
                start = begin = time.monotonic()  # of the check, and of the case
                while left and not what:
                    try:
                        line = said.get(timeout=max(0.0, begin + time_limit - time.monotonic()))
                    except queue.Empty:
                        what = f"it did not end within {time_limit:g} s"
                        continue
                    if not line.endswith(b"\n"):
                        code = worker.wait()
                        what = f"the interpreter ended with exit code {code}"
                        if code < 0:
                            what = f"the interpreter was ended by {signal.Signals(-code).name}"
                        elif code == 1:
                            printed.seek(0)
                            text = printed.read().decode("utf-8", errors="replace").strip()
                            what += f" ({text.splitlines()[-1]})" if text else ""
                        continue
                    step = json.loads(line)
                    if "check" in step:
                        check, case, cases = step["check"], "", 0
                        start = begin = time.monotonic()
                    elif "case" in step:
                        case, cases, begin = step["case"], cases + 1, time.monotonic()
                    else:
                        left.remove(check)
                        yield CheckResult(**step["result"])
                if what:
                    left.remove(check)
                    what += f" on {case}" if case else " before the first case"
                    yield CheckResult(check, "failed", cases, what, time.monotonic() - start)
            finally:
                worker.kill()
                worker.wait()
                listener.join()
                worker.stdout.close()
                with suppress(OSError):
                    worker.stdin.close()


class CheckTable(list[CheckResult]):
    """Results of the checks in order, displayed as a table.

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
        """Checks that failed unexpectedly."""
        return [result for result in self if result.outcome == "failed"]

    @property
    def cells(self) -> list[tuple[str, ...]]:
        """Rows of the table as strings, the header first."""
        rows = ((r.check, r.outcome, str(r.cases or ""), r.detail) for r in self)
        return [self.COLUMNS, *rows]

    def __repr__(self) -> str:
        return as_text(self.cells)

    def _repr_html_(self) -> str:
        return as_html(self.cells)


TIME_LIMIT = 120.0  # seconds for one case; the first may have to compile


def declared_failures(solver: SolverLike) -> Mapping[str, str]:
    """Return the checks that a solver declares that it may fail, with the reasons."""
    kind = with_options(solver, {})[0]
    kind = find_record(kind).load() if isinstance(kind, str) else kind
    return getattr(kind, "expected_failed_checks", {})


def as_reasons(expected: Mapping[str, str] | None) -> dict[str, str]:
    """Return expected failures as a dict from names of checks to reasons."""
    expected = dict(expected or {})
    if unknown := sorted(set(expected) - set(CHECKS)):
        raise ArgumentError(
            f"expected_failed_checks names {', '.join(unknown)}",
            f"only names among {', '.join(CHECKS)}",
        )
    return expected


def as_importable(solver: SolverLike) -> SolverLike:
    """Return a solver that another process can import: the class instead of its name."""
    if isinstance(name := with_options(solver, {})[0], str):
        find_record(name)  # raises an error for an unknown name
    return portable(solver)


def check_solver(
    solver: SolverLike,
    *,
    expected_failed_checks: Mapping[str, str] | None = None,
    isolated: bool = True,
    time_limit: float = TIME_LIMIT,
    progress: bool = False,
) -> CheckTable:
    """Run the checks of :data:`rankbook.testing.kit.CHECKS` on a solver.

    Parameters
    ----------
    solver : str, type or instance, or a pair of a str or type and a dict of options
        A registered name, a class, or an instance.
    expected_failed_checks : dict of str to str, optional
        Names of checks that may fail in addition to those that the solver declares, with the
        reasons.
    isolated : bool, default True
        Whether to run the checks in another process. A hang or a crash of the interpreter then
        counts as one failed check. The solver must be picklable.
    time_limit : float > 0, default 120.0
        Time limit of each case of a check in seconds, if isolated.
    progress : bool, default False
        Whether to show a progress bar.

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
    given, options = with_options(as_importable(solver), {})
    expected = as_reasons({**declared_failures(given), **(expected_failed_checks or {})})
    time_limit = as_positive("time_limit", time_limit)

    def run(names):
        if isolated:
            return run_isolated(names, given, options, time_limit)
        return (run_check(name, given, options) for name in names)

    table = CheckTable()
    with progress_bar(progress, "checks") as show:
        for result in run(list(CHECKS)):
            if result.outcome == "failed" and result.check in expected:
                result = replace(result, outcome="expected", detail=expected[result.check])
            table.append(result)
            show(len(table), result.check)
            if result.check == GATE and result.outcome == "failed":
                names = [name for name in CHECKS if name != GATE]
                table += (CheckResult(name, "skipped", 0, f"{GATE} failed") for name in names)
                break
    return table


class SolverCheck:
    """Check that can be called with a solver and is displayed by its name."""

    def __init__(self, name: str, isolated: bool, time_limit: float) -> None:
        self.name, self.isolated, self.time_limit = name, isolated, time_limit

    def __call__(self, solver: SolverLike) -> CheckResult:
        """Run the check; a failure is an AssertionError, and skipped checks are skipped in
        pytest."""
        import pytest

        if not self.isolated:
            try:
                subject = Subject(solver)
                look(self.name, subject)  # other errors keep their tracebacks
            except CheckSkipped as reason:
                pytest.skip(str(reason))
            except CheckFailed:
                if self.name in (reasons := declared_failures(solver)):
                    pytest.xfail(reasons[self.name])
                raise
            return CheckResult(self.name, "passed", subject.cases_seen)
        result = next(run_isolated([self.name], as_importable(solver), {}, self.time_limit))
        if result.outcome == "skipped":
            pytest.skip(result.detail)
        if result.outcome == "failed" and self.name in (reasons := declared_failures(solver)):
            pytest.xfail(reasons[self.name])
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
    """Decorate a test that runs for every check of every solver.

    Parameters
    ----------
    solvers : iterable of str, type or instance
    expected_failed_checks : function of a solver, optional
        Function that returns a dict from names of checks to reasons, or None. The decorator marks
        the tests of these checks as strict xfails (expected failures). A failure that the solver
        declares is an xfail, too.
    isolated : bool, default False
        Whether to run each check in its own process, with a time limit.
    time_limit : float > 0, default 120.0
        Time limit of each case in seconds, if isolated.

    Returns
    -------
    decorator
        Decorator of a test with the arguments ``solver`` and ``check`` that calls
        ``check(solver)``.

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
        expected = as_reasons(expected_failed_checks and expected_failed_checks(solver))
        label = solver if isinstance(solver, str) else getattr(solver, "name", "") or repr(solver)
        for name in CHECKS:
            marks = (
                [pytest.mark.xfail(reason=expected[name], strict=True)] if name in expected else []
            )
            check = SolverCheck(name, isolated, as_positive("time_limit", time_limit))
            cases.append(pytest.param(solver, check, id=f"{label}-{name}", marks=marks))
    return pytest.mark.parametrize("solver, check", cases)
