"""Does `auto` take the quickest solver? All that can solve a ranking SVM, on a grid of problems.

    python -m benchmarks choice --out nbs/registry/costs.csv                    what it lacks
    python -m benchmarks choice --out nbs/registry/costs.csv --solver newton    this solver anew

Every solution is computed in a fork of one process that has solved a small problem of every kind by
every solver, so that nothing is imported or compiled meanwhile; what a first call takes for that
has rows of its own. A fork is stopped after LIMIT seconds, or PATIENCE times as long as the best
takes, and its seconds are then a lower bound. The cost model of nbs/registry/choice.ipynb is fitted
to the table, which takes half an hour without a file to begin with.

A row of "auto" has the time in which `choose_solver` decides and that of the solver it takes; the
ratio is to the quickest.
"""

import csv
import json
import os
import signal
import traceback
from dataclasses import dataclass, fields, replace
from itertools import cycle
from time import process_time
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

import rankbook as rb
from rankbook.base.limits import OutOfMemory
from rankbook.registry.choice import CALLS, bytes_of, choose_solver, work_of
from rankbook.registry.plugins import get_solver, installed_records
from rankbook.registry.solver import HOME, Solver, solver_fit

LIMIT = {"tiny": 1.0, "usual": 20.0, "full": 120.0}  # processor seconds of a solution
FIRST, PATIENCE = 0.25, 4.0  # seconds that all may take at first; times the best, then
ROOM = 4 * 2**30  # bytes
SHORT = 0.1  # seconds: the fastest of three solutions counts
ENTRIES = 30  # nonzeros of a sparse item
LOSSES = "hinge", "squared"
SHARES = (0.3, 1e-2, 1e-4, 1e-6), (0.1, 1e-3, 1e-5)  # of lam_max, in turns


@dataclass(frozen=True)
class Cost:
    """A solver at one lambda of a problem.

    Attributes
    ----------
    kernel, loss, storage : str
    items, features : int
    query : int
        Items of a query.
    graph : {"full", "star"}
    margin : {"one", "untied", "listed", "noisy", "exact"}
        One for preferences counted from five grades or from scores without ties, or for listed
        ones; or differences of scores with noise or without.
    share : float
        lam / lam_max, with the lam_max of the hinge.
    solver : str
        "auto", or a solver; "whole path" is the path from lam_max to lam.
    seconds : float
        Of the processor; at the least, if it was stopped.
    gap : float, optional
    ratio, again : float, optional
        Of "auto": to the best, each with a share 1 / CALLS of what a first call takes more, and
        without it.
    note : str
        "stopped", or "not solved" where the gap is too large; "first", the seconds that a first
        call takes more; what "auto" took.
    preferences, density, block, fall, rank, levels
        As in :class:`rankbook.registry.choice.Work`.
    """

    REMARK: ClassVar[str] = "Seconds are those of the processor; ratios of one run count."

    kernel: str
    loss: str
    storage: str
    items: int
    features: int
    query: int
    graph: str
    margin: str
    share: float
    solver: str = ""
    seconds: float = 0.0
    gap: float | None = None
    ratio: float | None = None
    again: float | None = None
    note: str = ""
    preferences: int = 0
    density: float = 1.0
    block: float = 0.0
    fall: float = 0.0
    rank: float = np.inf
    levels: float = 0.0

    @property
    def case(self):
        """What tells problems and lambdas apart."""
        return tuple(f"{getattr(self, field.name)}" for field in fields(self)[:9])


def grid(scale):
    """Cases (kernel, loss, storage, items, features, items of a query, graph, margin)."""
    linear = ("linear", "hinge", "dense")
    if scale == "tiny":
        yield *linear, 60, 4, 20, "full", "one"
        yield "rbf", "squared", "dense", 40, 4, 40, "star", "one"
        yield "linear", "hinge", "csr", 60, 90, 5, "full", "listed"
        return
    for n, d, query in (
        *((100, 2, 5), (100, 20, 100), (100, 200, 20), (100, 2000, 100), (100, 20_000, 20)),
        *((300, 2, 300), (300, 20, 20), (300, 200, 5), (300, 200, 300), (300, 2000, 20)),
        *((1000, 2, 20), (1000, 20, 5), (1000, 20, 1000), (1000, 200, 20), (1000, 200, 1000)),
        *((1000, 2000, 20), (1000, 20_000, 5), (3000, 20, 20), (3000, 200, 100), (3000, 500, 20)),
        *((3000, 50, 3000), (10_000, 2, 5), (10_000, 20, 100), (10_000, 100, 20)),
        *((10_000, 500, 1000), (30_000, 50, 30), (100_000, 10, 5), (100_000, 50, 100)),
        (100_000, 20, 100_000),
    ):
        yield *linear, n, d, query, "full", "one"
    for n, d, query in (
        *((100, 20, 20), (300, 200, 20), (1000, 20, 1000), (1000, 500, 20), (3000, 100, 20)),
        *((10_000, 20, 100), (100_000, 20, 20), (1000, 5000, 5)),
    ):
        yield "linear", "squared", "dense", n, d, query, "full", "one"
    for n, d, query in (
        *((300, 2000, 20), (3000, 500, 20), (3000, 2000, 20), (3000, 20_000, 20)),
        *((3000, 2000, 3000), (30_000, 1000, 30), (30_000, 20_000, 10), (200_000, 1000, 20)),
    ):
        yield "linear", "hinge", "csr", n, d, query, "full", "one"
    for n, d, query in ((300, 500, 20), (3000, 500, 20), (3000, 20_000, 20), (30_000, 2000, 30)):
        yield "linear", "squared", "csr", n, d, query, "full", "one"
    for n, d, query in (
        *((100, 10, 100), (100, 3, 5), (300, 10, 20), (300, 10, 300), (1000, 20, 20)),
        *((500, 3, 500), (1000, 10, 100), (2000, 10, 50), (4000, 10, 5)),
    ):
        yield "rbf", "hinge", "dense", n, d, query, "full", "one"
    for n, d, query in ((100, 10, 20), (300, 10, 300), (1000, 10, 20)):
        yield "rbf", "squared", "dense", n, d, query, "full", "one"
    for kernel, n in (("rbf", 300), ("rbf", 1000), ("rbf", 2000), ("linear", 1000)):
        yield kernel, "hinge", "dense", n, 10, n, "star", "one"
    for margin in ("listed", "noisy", "exact"):
        for n, d, query in ((300, 10, 300), (700, 10, 700), (1000, 50, 20), (10_000, 100, 10)):
            yield *linear, n, d, query, "full", margin
        yield "linear", "squared", "dense", 1000, 20, 50, "full", margin
    yield *linear, 1_000_000, 10, 5, "full", "one"
    for n, d, query in ((2000, 10, 2000), (4000, 3, 100), (4000, 10, 4000)):
        yield "rbf", "hinge", "dense", n, d, query, "full", "one"
    for n in (3000, 5000):
        yield "rbf", "squared", "dense", n, 10, 20, "full", "one"
        yield "rbf", "hinge", "dense", n, 10, 20, "full", "one"
    for n, d, query in ((10_000, 10, 20), (10_000, 20, 100), (20_000, 20, 100)):
        yield "rbf", "hinge", "dense", n, d, query, "full", "one"
    yield "rbf", "squared", "dense", 10_000, 20, 100, "full", "one"
    yield "rbf", "squared", "dense", 2000, 10, 200, "full", "one"
    for n, d, query in ((3000, 20, 3000), (30_000, 50, 30_000), (100_000, 20, 100_000)):
        yield *linear, n, d, query, "full", "untied"
        yield "linear", "squared", "dense", n, d, query, "full", "untied"
    if scale == "full":
        for n, d, query in ((3000, 2000, 20), (100_000, 200, 20), (1_000_000, 5, 100)):
            yield *linear, n, d, query, "full", "one"


def items(case):
    """Items and their scores, from which :func:`made` makes a problem."""
    _, _, storage, n, d, _, _, margin = case
    rng = np.random.default_rng(0)
    if storage == "csr":
        count = min(ENTRIES, d)
        where = rng.integers(0, d, n * count), np.arange(0, n * count + 1, count)
        X = csr_array((rng.normal(size=n * count), *where), shape=(n, d))
        X.sum_duplicates()
    else:
        X = rng.normal(size=(n, d))
    true = X @ rng.normal(size=d)
    if margin == "exact":
        return X, true
    if storage == "csr":
        return X, true / true.std() + 0.5 * rng.normal(size=n)
    return X, X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=n)


def made(case, X, score):
    """The problem of a case."""
    kernel, loss, _, n, _, query, graph, margin = case
    qid = np.arange(n) % max(1, n // query)
    if margin in ("noisy", "exact"):
        prefs = rb.Preferences.from_scores(score, qid, graph=graph, margin="difference")
    elif margin == "untied":
        prefs = rb.Preferences.from_scores(score, qid, graph=graph)
    else:
        prefs = rb.Preferences.from_scores(np.digitize(score, [-1, 0, 1, 2]), qid, graph=graph)
    if margin == "listed":
        prefs = rb.Preferences(prefs.better, prefs.worse, n)
    return rb.RankSVMProblem(X, prefs, kernel=kernel, loss=loss)


def forked(function):
    """What a function returns, as JSON keeps it, in a fork; None if a timer ended it."""
    read, write = os.pipe()
    if not (pid := os.fork()):
        try:
            os.close(read)
            os.write(write, json.dumps(function()).encode())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    status = os.waitpid(pid, 0)[1]
    if status and not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF):
        raise RuntimeError(f"a fork ended with the status {status}")
    return json.loads(text) if text else None


def solved(make, lam, solver, limit):
    """Seconds and relative gap of a solution, the fastest of three if it is short.

    None if the solver refuses because its memory would not suffice; it is then among the stopped.
    """
    found = []
    while len(found) < 3 and sum(seconds for seconds, _ in found) < SHORT:
        problem = make()
        signal.setitimer(signal.ITIMER_PROF, limit)  # each may take as long
        start = process_time()
        if solver == "whole path":
            path = rb.solve_path(problem, lam, "path")
            gap = path.certificate(path.domain[0]).relative_gap
        else:
            try:
                gap = rb.solve(problem, lam, solver).certificate.relative_gap
            except OutOfMemory:
                return None
        found.append((process_time() - start, float(gap)))
        signal.setitimer(signal.ITIMER_PROF, 0)
    return min(found)


def measured(make, lam, names, row, limit, best=np.inf):
    """The rows of some solvers at one lambda; those that need longer than others are stopped.

    All begin with a short limit. It rises until one has ended, and the others may then take
    PATIENCE times as long as the best.
    """
    left, done, now = list(names), [], max(FIRST, PATIENCE * best) if best < np.inf else FIRST
    while left:
        for name in list(left):
            found = forked(lambda: solved(make, lam, name, min(now, limit)))
            if found is not None:
                note = "" if found[1] <= Solver.tol else "not solved"
                done.append(replace(row, solver=name, seconds=found[0], gap=found[1], note=note))
                left.remove(name)
                best = best if note else min(best, found[0])
        if now >= min(limit, PATIENCE * best):
            now = min(now, limit)
            return done + [replace(row, solver=name, seconds=now, note="stopped") for name in left]
        now = min(PATIENCE * now, PATIENCE * best)
    return done


def decided(make, lam):
    """Seconds in which "auto" decides, the least of three, and the name of what it takes."""
    found = []
    for _ in range(3):
        problem = make()
        start = process_time()
        name = choose_solver(problem, at=lam).name
        found.append((process_time() - start, name))
    return min(found)


def small(kernel, loss="hinge", storage="dense"):
    """A problem that everything is warmed with."""
    case = kernel, loss, storage, 40, 3, 20, "full", "one"
    return lambda: made(case, *items(case))


def takes(problem):
    """The own solvers that can take a problem, and promise what "auto" asks for."""
    found = []
    for name in [record.name for record in installed_records() if record.origin == HOME]:
        solver = get_solver(name)
        if "solve" in solver.provides and (solver.tol or np.inf) <= Solver.tol:
            found += [name] if solver_fit(solver, problem, "solve") is True else []
    return found


def memory(solver, work):
    """Bytes that a solver needs; "qp" factors a matrix with a row for each preference."""
    if solver == "qp" and not work.stores_gram:
        return 200 * work.preferences * work.entries / work.items
    return bytes_of(solver, work)


def began(solver):
    """Seconds that the first solution of a small problem takes more than the next."""
    make = small("linear")
    if solver not in takes(make()):
        make = small("rbf")
    seconds = []
    for _ in range(3):
        problem, start = make(), process_time()
        rb.solve(problem, 1.0, solver)
        seconds.append(process_time() - start)
    return seconds[0] - min(seconds)


def known(path):
    """The rows of a file, by case and solver."""
    kinds = {field.name: field.type for field in fields(Cost)}
    found = {}
    if path is None or not path.exists():
        return found
    with path.open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(line for line in file if not line.startswith("#")):
            read = lambda name, text: (
                text
                if kinds[name] is str
                else None
                if not text
                else kinds[name](text)
                if kinds[name] in (int, float)
                else float(text)
            )
            row = Cost(**{name: read(name, line[name]) for name in kinds})
            found[row.case, row.solver] = row
    return found


def best_of(rows):
    """The seconds of the quickest solver that was not stopped."""
    return min((row.seconds for row in rows if not row.note), default=np.inf)


def of_problem(case, shares, limit, anew, kept, first):
    """The rows of a problem at some lambdas.

    Those in `kept` are not measured, unless their solver is in `anew`.
    """
    data = items(case)
    make = lambda: made(case, *data)
    problem = make()
    lam_max, work = float(problem.penalty.lam_max(problem)), work_of(problem)
    about = {name: getattr(work, name) for name in ("preferences", "density", "block", "levels")}
    names, stopped = [name for name in takes(problem) if memory(name, work) < ROOM], {}
    for share in shares:
        lam = share * lam_max
        work = work_of(problem, lam)
        row = Cost(*case, share, **about, fall=work.fall, rank=work.rank)
        old = {name: one for (at, name), one in kept.items() if at == row.case and name not in anew}
        done = [old[name] for name in names if name in old]
        again = [name for name in names if name not in old and name not in stopped]
        done += measured(make, lam, again, row, limit, best_of(done))
        # a smaller lambda takes no less time
        again = [one for one in stopped if stopped[one] < min(limit, PATIENCE * best_of(done))]
        done += measured(make, lam, again, row, limit, best_of(done))
        done += [
            replace(row, solver=name, seconds=seconds, note="stopped")
            for name, seconds in stopped.items()
            if name not in again
        ]
        stopped = {one.solver: one.seconds for one in done if one.note and one.solver not in old}
        yield from done
        found = {one.solver: one for one in done}
        if "whole path" in old:
            yield old["whole path"]
        elif share == min(shares) and "path" in found and not found["path"].note:
            yield from measured(make, lam, ["whole path"], row, 2 * found["path"].seconds)
        seconds, name = forked(lambda: decided(make, lam))
        if name in found and (best := best_of(done)) < np.inf:
            seconds += found[name].seconds
            ten = [replace(one, seconds=one.seconds + first[one.solver] / CALLS) for one in done]
            ratio = (seconds + first[name] / CALLS) / best_of(ten)
            yield replace(
                row, solver="auto", seconds=seconds, ratio=ratio, again=seconds / best, note=name
            )


def rows(scale, peers):
    """All rows; the last ones say in how many cases "auto" is near the best."""
    kept = known(peers.get("out"))
    kinds = ("linear", "dense"), ("rbf", "dense"), ("linear", "csr")
    problems = [small(kernel, loss, storage) for kernel, storage in kinds for loss in LOSSES]
    names = list(dict.fromkeys(name for make in problems for name in takes(make())))
    anew = peers.get("solvers") or ()
    first, autos = {}, []
    for name in names:
        row = Cost("linear", "hinge", "dense", 40, 3, 20, "full", "one", 1.0, name, note="first")
        if name not in anew and (row.case, name) in kept:
            row = kept[row.case, name]
        else:
            forked(lambda: began(name))  # compiles
            row = replace(row, seconds=forked(lambda: began(name)))
        first[name] = row.seconds
        yield row
    for make in problems:
        for name in takes(make()):
            rb.solve(make(), 1.0, name)
    for case, shares in zip(grid(scale), cycle(SHARES)):
        for row in of_problem(case, shares, LIMIT[scale], anew, kept, first):
            autos += [row] if row.solver == "auto" else []
            yield row
    for what in ("ratio", "again"):
        ratios = np.array([getattr(row, what) for row in autos])
        near = np.mean(ratios <= 1.5)
        note = f"{what}: {near:.1%} of {len(ratios)} within 1.5, at most {ratios.max():.2f}"
        yield Cost("", "", "", 0, 0, 0, "", "", 0.0, "auto", note=note)
