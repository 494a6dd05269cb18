"""How much faster jobs are with two threads than with one.

Seconds of the clock, because the processor's are the same. They mean something only if the machine
has nothing else to do: the load is that of the last minute.
"""

import os
import time
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

import rankbook as rb
from rankbook.kernels import Kernel
from rankbook.kernels.kernel import rbf_matrix
from rankbook.kernels.tiles import KernelTiles
from rankbook.preferences.sums import SQUARED, CountedLoss
from rankbook.selection.leave_out import leave_pair_out

from .common import graded, linear_graded
from .kernels import curved

SHARE = {"tiny": 100, "usual": 1, "full": 1}
ROUNDS = 5


@dataclass(frozen=True)
class CoreRow:
    """A job with one thread and with two, medians of rounds in which they take turns."""

    REMARK: ClassVar[str] = (
        "clock_1 and clock_2 are seconds of the clock, medians of five rounds; processor_1 and "
        "processor_2 those of the processor. The speed-up is the median of the ratios."
    )

    what: str
    clock_1: float
    clock_2: float
    speed_up: float
    processor_1: float
    processor_2: float
    load: float


def sums(y, qid=None):
    """Loss and derivatives of all preferences at random scores."""
    loss = CountedLoss(rb.Preferences.from_scores(y, qid))
    scores = np.random.default_rng(1).normal(size=len(y))
    return lambda: loss.curvature(loss.evaluate(scores, SQUARED).bands, scores)


def fit(X, y, qid=None):
    """A linear ranking SVM."""
    return lambda: rb.RankSVM(kernel="linear").fit(X, y, qid=qid)


def jobs(share):
    """Pairs (what, function)."""
    rng, n, few = np.random.default_rng(0), 1_000_000 // share, 10_000 // share
    X, v = rng.normal(size=(few, 20)), rng.normal(size=few)
    yield "sums over queries of 100", sums(rng.integers(0, 5, n), np.arange(n) // 100)
    yield "sums over one query of five grades", sums(rng.integers(0, 5, n))
    yield "sums over one query without ties", sums(rng.normal(size=n // 2))
    yield "linear fit, queries of 100", fit(*linear_graded(max(200, n // 5)))
    Z, noise = rng.normal(size=(20 * few, 20)), rng.normal(size=20 * few)
    yield "linear fit, one query without ties", fit(Z, Z[:, 0] + noise)
    for dtype in (np.float64, np.float32):
        tiles = KernelTiles(X, Kernel("rbf"), True, dtype)
        yield f"product with tiles, rbf, {np.dtype(dtype).name}", partial(tiles.matvec, v)
    yield "kernel matrix, rbf", partial(rbf_matrix, X, X[: few // 2], 0.05)
    yield "centred kernel matrix, rbf", partial(Kernel("rbf").centred_gram, X[: few // 2])
    X, y, _ = graded(max(100, few // 10))
    path = rb.solve_path(rb.RankRLSProblem(X, y))
    yield "pairs left out, RankRLS", lambda: leave_pair_out(path, np.logspace(-3, 3, 20))
    X, y, qid = graded(max(40, 400 // share), size=40)
    Z, grades, queries = graded(max(100, 4000 // share), seed=1)
    path = rb.solve_path(rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid), kernel="rbf"))
    valid = rb.Preferences.from_scores(grades, queries)
    yield "validation curve, rbf", lambda: rb.validation_curve(path, Z, valid)
    X, y, qid = curved(max(200, 2 * few))
    ascent = rb.RankSVM(lam=1.0, solver=("ascent", dict(tol=1e-2)))
    yield "ascent, rbf, lam = 1", lambda: ascent.fit(X, y, qid)
    grades, scores, queries = rng.integers(0, 5, 8 * n), rng.normal(size=8 * n), np.arange(8 * n)
    for metric in (rb.metrics.ndcg, rb.metrics.average_precision, rb.metrics.err):
        judge = partial(metric, grades, scores, queries // 100)
        yield f"{metric.__name__} of 80,000 queries of 100", judge
    better, worse = rng.integers(0, 100, few * 5), rng.integers(1, 100, few * 5)
    votes = rb.Preferences(better, (better + worse) % 100, n_items=100)
    board = rb.Leaderboard(method="bootstrap", n_draws=100)
    yield "bootstrap of a leaderboard", lambda: board.fit(votes)


def timed(threads, function):
    """Seconds of the clock and of the processor that a call takes with so many threads."""
    with threadpool_limits(threads):
        clock, processor = time.perf_counter(), time.process_time()
        function()
        return time.perf_counter() - clock, time.process_time() - processor


def rows(scale, peers):
    """All rows."""
    for what, function in jobs(SHARE[scale]):
        function()  # compiles
        found = np.array([[timed(k, function) for k in (1, 2)] for _ in range(ROUNDS)])
        (clock_1, processor_1), (clock_2, processor_2) = np.median(found, axis=0).tolist()
        ratio = float(np.median(found[:, 0, 0] / found[:, 1, 0]))
        load = os.getloadavg()[0]
        yield CoreRow(what, clock_1, clock_2, ratio, processor_1, processor_2, load)
