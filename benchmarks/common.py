"""What all benchmarks share: a row of the table, timing in turns, and data.

Every benchmark is a module with a function `rows(scale, peers)` that yields rows. The scale is
"tiny", "usual" or "full"; `peers` has the paths of programs that the user has built.
"""

import resource
import time
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

import rankbook as rb

from .rivals import Elsewhere

SCALES = ("tiny", "usual", "full")
PATIENCE = 20.0  # processor seconds after which no further round begins


@dataclass(frozen=True)
class Row:
    """A line of the table: ours, and a peer beside it if there is one.

    Attributes
    ----------
    what : str
    items : int
    seconds, peer_seconds : float, optional
        Of the processor, medians of `rounds` rounds.
    ratio : float, optional
        Ours to the peer's, the median of the ratios of the rounds.
    measure : str
        What `quality` and `peer_quality` are, for instance "gap".
    note : str
        For instance why a peer was not measured.
    """

    REMARK: ClassVar[str] = (
        "Seconds are those of the processor, medians of up to three rounds in which ours and its "
        "peers take turns, and depend on the machine and on what else runs on it; ratios of one "
        "run are what counts."
    )

    what: str
    items: int
    seconds: float | None = None
    measure: str = ""
    quality: float | None = None
    peer: str = ""
    peer_seconds: float | None = None
    ratio: float | None = None
    peer_quality: float | None = None
    rounds: int = 0
    note: str = ""


def cpu_seconds():
    """Processor seconds of this process, and of those that it started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def peak_memory():
    """Peak memory of this process in GB.

    On Linux getrusage would count what the parent held when it forked.
    """
    facts = Path("/proc/self/status")
    if facts.exists():
        lines = dict(line.partition(":")[::2] for line in facts.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024 / 1e9
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e9  # bytes on macOS


def timed(function):
    """Processor seconds of a call, and what it returned.

    Of a pair of functions the second does all but the work; its seconds are subtracted. A call in
    another process has measured its own.
    """
    function, *besides = function if isinstance(function, tuple) else (function,)
    start = cpu_seconds()
    result = function()
    if isinstance(result, Elsewhere):
        return max(result.seconds, 1e-6), result.result
    seconds = cpu_seconds() - start - sum(timed(other)[0] for other in besides)
    return max(seconds, 1e-6), result


def take_turns(functions, rounds=3):
    """Seconds (rounds, functions) of calls that take turns, and the last results.

    The first round is always whole; no other begins after PATIENCE.
    """
    times, start = [], cpu_seconds()
    while len(times) < rounds and (not times or cpu_seconds() - start < PATIENCE):
        taken, results = zip(*map(timed, functions))
        times.append(taken)
    return np.array(times), results


def compare(what, items, ours, peers=None, measures=None, rounds=3):
    """Rows of ours beside each of its peers; in each round all of them run.

    Parameters
    ----------
    what : str
    items : int
    ours : callable
    peers : dict, optional
        A function (or a pair, see :func:`timed`) for each name, or a str that says why the peer is
        not there.
    measures : dict, optional
        Names of qualities, and functions that take what ours or a peer returned; rows for each.
    rounds : int, default 3

    Returns
    -------
    list of Row
    """
    peers = peers or {}
    there = {name: run for name, run in peers.items() if not isinstance(run, str)}
    times, results = take_turns([ours, *there.values()], rounds)
    seconds, ratios = np.median(times, axis=0), np.median(times[:, :1] / times, axis=0)
    rows, measures = [], measures or {"": lambda result: None}
    for measure, quality in measures.items():
        value, *others = map(quality, results)
        one = Row(what, items, seconds[0], measure, value, rounds=len(times))
        rows += [
            replace(one, peer=name, peer_seconds=spent, ratio=ratio, peer_quality=other)
            for name, spent, ratio, other in zip(there, seconds[1:], ratios[1:], others)
        ] or [one]
    absent = {name: why for name, why in peers.items() if name not in there}
    return rows + [Row(what, items, peer=name, note=why) for name, why in absent.items()]


def if_installed(package, function):
    """The function of a peer if its package is there, else the note that it is not."""
    return "not installed" if find_spec(package) is None else function


def gap(answer):
    """The relative gap that the certificate proves, of an answer or a fitted model."""
    certificate = getattr(answer, "certificate", None) or getattr(answer, "certificate_", None)
    return None if certificate is None else certificate.relative_gap


# Data


def graded(n, d=10, size=100, seed=0):
    """Items in queries of `size`, with five levels of a smooth noisy score."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, [-1, 0, 1, 2]), np.arange(n) // size


def linear_graded(n, d=50, size=100, levels=5, seed=0):
    """Items in queries of `size`, with equal levels cut from a noisy linear score."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d) / np.sqrt(d)
    score = (X @ w + rng.normal(size=n)).reshape(-1, size)
    y = score.argsort(axis=1).argsort(axis=1).ravel() * levels // size
    return X, y, np.arange(n) // size


def sparse_graded(n, d, entries=30, size=20, levels=5, seed=0):
    """As :func:`linear_graded`, for CSR items with so many entries each."""
    rng = np.random.default_rng(seed)
    columns = np.concatenate([np.sort(rng.choice(d, entries, replace=False)) for _ in range(n)])
    ends = np.arange(0, n * entries + 1, entries, dtype=np.int32)
    parts = rng.normal(size=n * entries), columns.astype(np.int32), ends
    X = csr_array(parts, shape=(n, d))
    score = X @ rng.normal(size=d) / entries**0.5 + rng.normal(size=n)
    y = score.reshape(-1, size).argsort(axis=1).argsort(axis=1).ravel() * levels // size
    return X, y, np.arange(n) // size


def rounded(n, d=10):
    """Items in one query, and scores with ties."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.round(X[:, 0] + rng.normal(size=n), 1)


def cancer(kernel="rbf"):
    """Wisconsin's breast cancers with standardized features, all preferences."""
    data = rb.datasets.load("cancer")
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    return rb.RankSVMProblem(X, rb.Preferences.from_scores(data.y), kernel=kernel)


def sheet(n, d=64):
    """Items (n, d) near a curved sheet of 8 dimensions."""
    rng = np.random.default_rng(0)
    curved = np.tanh(rng.normal(size=(n, 8)) @ rng.normal(size=(8, d)) / 8**0.5)
    return curved + 0.05 * rng.normal(size=(n, d))


def noise(n, d=64):
    """Items (n, d) that fill all dimensions alike."""
    return np.random.default_rng(0).normal(size=(n, d))


def half_labelled(X):
    """Classes 0 and 1 (n,), and -1 for half of the items."""
    rng = np.random.default_rng(1)
    scores = X[:, 0] + X[:, 1] ** 2
    y = (scores + scores.std() * rng.normal(size=len(X)) > np.median(scores)).astype(int)
    y[rng.random(len(X)) >= 0.5] = -1
    return y
