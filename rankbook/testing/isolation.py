"""Running a check in a process of its own."""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rankbook.testing.answers import (
    check_answers,
    check_certificate,
    check_combinations,
    check_dual,
    check_extremes,
    check_hard_margin,
    check_kernels,
    check_margins,
    check_progress,
    check_queries,
    check_reference,
    check_scales,
    check_sizes,
    check_storages,
    check_weights,
)
from rankbook.testing.manners import (
    check_accepts,
    check_copies,
    check_cost,
    check_deterministic,
    check_layout,
    check_order,
    check_random_state,
    check_refuses,
    check_unchanged,
)

from ..base.types import SolverLike
from .paths import check_path, check_path_and_solve, check_readings
from .state import check_memory, check_surroundings, check_threads
from .subject import CheckFailed, CheckSkipped, Subject

CHECKS: dict[str, Callable[[Subject], None]] = dict(
    answers=check_answers,
    accepts=check_accepts,
    certificate=check_certificate,
    reference=check_reference,
    progress=check_progress,
    dual=check_dual,
    weights=check_weights,
    margins=check_margins,
    queries=check_queries,
    combinations=check_combinations,
    sizes=check_sizes,
    kernels=check_kernels,
    scales=check_scales,
    extremes=check_extremes,
    storages=check_storages,
    hard_margin=check_hard_margin,
    path=check_path,
    path_and_solve=check_path_and_solve,
    readings=check_readings,
    order=check_order,
    layout=check_layout,
    unchanged=check_unchanged,
    deterministic=check_deterministic,
    memory=check_memory,
    threads=check_threads,
    random_state=check_random_state,
    surroundings=check_surroundings,
    copies=check_copies,
    refuses=check_refuses,
    cost=check_cost,
)
GATE = "answers"  # where it fails, the other checks are skipped


@dataclass(frozen=True)
class CheckResult:
    """How a check ended.

    Attributes
    ----------
    check : str
    outcome : {"passed", "failed", "expected", "skipped"}
        "expected" for a failure that somebody gave a reason for.
    cases : int
        How many were looked at.
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
    """Do a check; one that found nothing to look at is skipped."""
    CHECKS[name](subject)
    if not subject.cases_seen:
        raise CheckSkipped("no problem that it takes is a case of this")


def run_check(
    name: str,
    solver: SolverLike,
    options: dict[str, Any] | None = None,
    tell: Callable[[str], None] = lambda case: None,
) -> CheckResult:
    """One check of :data:`CHECKS` in this process.

    Parameters
    ----------
    name : str
    solver, options
        As in :class:`rankbook.testing.subject.Subject`.
    tell : function
        Told every case before the solver sees it.
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
    except (Exception, SystemExit) as error:  # before a case: its class, its can_solve
        outcome, detail = "failed", f"{type(error).__name__}: {error}"
    return CheckResult(name, outcome, cases, detail, time.perf_counter() - begin)


JOB, SAID, PATH, PRINTED = "job.pickle", "said.jsonl", "path.json", "printed.txt"


def end_with(parent: int) -> None:
    """End this process when its parent is gone, who alone would stop what hangs."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def work(folder: str) -> None:
    """What the worker does: the checks of the job in a folder, telling each case and result."""
    threading.Thread(target=end_with, args=[os.getppid()], daemon=True).start()
    with open(Path(folder, SAID), "a", encoding="utf-8") as out:

        def say(**line):
            out.write(json.dumps(line) + "\n")
            out.flush()

        job = pickle.loads(Path(folder, JOB).read_bytes())
        for name in job["checks"]:
            say(begins=name)
            tell = lambda case: say(case=case)
            say(result=asdict(run_check(name, job["solver"], job["options"], tell)))


def start_worker(folder: Path, checks: list[str], solver: SolverLike, options: dict[str, Any]):
    """A process that works on some checks; its search path is that of this one."""
    from joblib import wrap_non_picklable_objects

    job = dict(checks=checks, solver=solver, options=options)
    packed = pickle.dumps(wrap_non_picklable_objects(job, keep_wrapper=False))
    (folder / JOB).write_bytes(packed)
    (folder / PATH).write_text(json.dumps([str(Path(part).resolve()) for part in sys.path]))
    (folder / SAID).write_text("")
    code = (
        "import json, sys; folder = sys.argv[1]; "
        f"sys.path[:] = json.load(open(folder + '/{PATH}')); "
        "from rankbook.testing.isolation import work; work(folder)"
    )
    command = [sys.executable, "-X", "faulthandler", "-c", code, str(folder)]
    with open(folder / PRINTED, "w", encoding="utf-8") as printed:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT
        )


PAUSE = 0.02  # seconds between two looks at what the worker says


class Waiting:
    """What a worker has said so far: results, and the check and the case it is at."""

    def __init__(self, folder: Path) -> None:
        self.file, self.read = folder / SAID, 0
        self.results: list[CheckResult] = []
        self.check, self.case, self.cases, self.begin = "", "", 0, time.monotonic()

    def look(self) -> list[CheckResult]:
        """The results that are new."""
        text, new = self.file.read_text(encoding="utf-8"), []
        lines = text[self.read :].splitlines(keepends=True)
        for line in lines:
            if not line.endswith("\n"):
                break  # it is still being written
            self.read += len(line)
            said = json.loads(line)
            if "result" in said:
                new.append(CheckResult(**said["result"]))
                self.check = ""
            elif "begins" in said:
                self.check, self.case, self.cases = said["begins"], "", 0
                self.begin = time.monotonic()
            else:
                self.case, self.cases = said["case"], self.cases + 1
        return new

    def failed(self, check: str, what: str) -> CheckResult:
        """The result of a check that did not come to an end."""
        at = f" on {self.case}" if self.case else " before the first case"
        seconds = time.monotonic() - self.begin
        return CheckResult(self.check or check, "failed", self.cases, what + at, seconds)


def ended_by(code: int, folder: Path) -> str:
    """Why a worker is gone, in words."""
    import signal

    if code < 0:
        return f"the interpreter was ended by {signal.Signals(-code).name}"
    lines = (folder / PRINTED).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    last = f" ({lines[-1]})" if code == 1 and lines else ""
    return f"the interpreter ended with exit code {code}{last}"


def run_isolated(
    checks: list[str], solver: SolverLike, options: dict[str, Any], time_limit: float
) -> Iterator[CheckResult]:
    """The results of checks in a worker, each as it comes; another worker after a hang or crash.

    Parameters
    ----------
    checks : list of str
    solver, options
        As in :class:`rankbook.testing.subject.Subject`; they have to survive a pickle.
    time_limit : float
        Seconds that a check may take.
    """
    left = list(checks)
    while left:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            worker, waiting = start_worker(folder, left, solver, options), Waiting(folder)
            try:
                while left:
                    code = worker.poll()
                    found, what = waiting.look(), ""
                    if not found and code is not None:
                        what = ended_by(code, folder)
                    elif not found and time.monotonic() - waiting.begin > time_limit:
                        what = f"it did not end within {time_limit:g} s"
                    found += [waiting.failed(left[0], what)] if what else []
                    for result in found:
                        left.remove(result.check)
                        yield result
                    if what:
                        break
                    time.sleep(0 if found else PAUSE)
            finally:
                worker.kill()
                worker.wait()
