"""Pieces on several threads: equal results, limits, errors."""

import os
import subprocess
import sys
import threading
import time

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import rankbook as rb
from rankbook.base import numerics
from rankbook.base import progress as threads
from rankbook.base.progress import in_threads, interruptible, thread_count
from rankbook.kernels import Kernel
from rankbook.kernels.kernel import rbf_matrix
from rankbook.kernels.tiles import KernelTiles
from rankbook.metrics import by_query
from rankbook.preferences import counting
from rankbook.preferences.sums import SQUARED, CountedLoss, smoothed_hinge
from rankbook.problems import votes
from rankbook.selection import crossings, leave_out
from rankbook.selection.leave_out import leave_pair_out
from rankbook.solvers.ascent import steps

rng = np.random.default_rng(0)
FREE = pytest.mark.skipif(thread_count() < 2, reason="one processor, or limits of one thread")


def counted_sums(y, qid=None, **options):
    prefs = rb.Preferences.from_scores(y, qid, **options)
    scores, v = rng.normal(size=(2, len(y)))

    def sums():
        loss, found = CountedLoss(prefs), []
        for derivative in (SQUARED, smoothed_hinge(0.5)):
            at = loss.evaluate(scores, derivative)
            found += [at.loss, at.margin, at.square, at.worst, at.score_gradient]
            found.append(loss.curvature(at.bands, v))
        return found

    return sums


def product(kernel, n, dtype=np.float64, columns=()):
    X, v = rng.normal(size=(n, 3)), rng.normal(size=(n, *columns))
    return lambda: [KernelTiles(X, kernel, True, dtype).matvec(v)]


def bootstrap(n=60):
    a, b = rng.integers(0, n, 3000), rng.integers(1, n, 3000)
    votes = rb.Preferences(a, (a + b) % n, n_items=n)
    board = rb.Leaderboard(method="bootstrap", n_draws=100)
    return lambda: [board.fit(votes).table_[end].to_numpy() for end in ("low", "high")]


def pairs_left_out(n=300):
    X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    path = rb.solve_path(rb.RankRLSProblem(X, y))
    return lambda: [leave_pair_out(path, np.array([0.1, 1.0, 1e3]))]


def changes(kernel):
    X, y, V = rng.normal(size=(60, 3)), rng.integers(0, 4, 60), rng.normal(size=(150, 3))
    prefs = rb.Preferences.from_scores(rng.integers(0, 4, 150), np.arange(150) // 30)
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), kernel=kernel)
    path = rb.solve_path(problem)
    return lambda: [*crossings.crossings(path, V, prefs.better, prefs.worse)]


def many_queries(n=6000):
    y, scores, qid = rng.integers(0, 5, n), rng.normal(size=(2, n)), np.arange(n) // 30
    scores[1] = np.round(scores[1], 1)  # ties, and numbers that float32 rounds
    names = "ndcg", "average_precision", "err", "disagreement"
    return lambda: [by_query(name, y, s, qid)[1] for name in names for s in scores]


def ascent(kernel, n=300):
    X, y = rng.normal(size=(n, 3)), rng.integers(0, 5, n)
    prefs = rb.Preferences.from_scores(y, np.arange(n) // 10)

    def solution():
        found = rb.solve(rb.RankSVMProblem(X, prefs, kernel=kernel), 1.0, "ascent")
        return [found.coef, found.dual]

    return solution


n = 60_000
X, Z = rng.normal(size=(1500, 3)), rng.normal(size=(400, 3))
PLACES = {
    "sums over queries": counted_sums(rng.integers(0, 5, n), np.sort(rng.integers(0, n // 50, n))),
    "sums, weights": counted_sums(rng.integers(0, 5, n), np.arange(n) // 99, query_weight="equal"),
    "sums, one query of few levels": counted_sums(rng.integers(0, 3, n)),
    "sums, one query without ties": counted_sums(rng.normal(size=n)),
    "sums, a large query beside small ones": counted_sums(
        rng.normal(size=n), np.maximum(0, np.arange(n) - n // 2) // 10
    ),
    "tiles": product(Kernel("rbf"), 2100),
    "tiles, single precision": product(Kernel("rbf"), 2100, np.float32),
    "tiles, several columns": product(Kernel("rbf"), 1600, columns=(40,)),
    "tiles, poly": product(Kernel("poly"), 1100),
    "rbf matrix": lambda: [rbf_matrix(X, Z, 0.3), rbf_matrix(X, Z, 0.3, np.expm1)],
    "centred rbf matrix": lambda: [Kernel("rbf").centred_gram(X)],
    "bootstrap of a leaderboard": bootstrap(),
    "pairs left out": pairs_left_out(),
    "metrics of many queries": many_queries(),
    "changes of sign along a path": changes("rbf"),
    "changes of sign along a path, linear": changes("linear"),
    "ascent over groups": ascent("rbf"),
    "ascent over groups, poly": ascent(Kernel("poly", degree=2)),
    "centred poly matrix": lambda: [Kernel("poly").centred_gram(X[:300])],
}


@pytest.mark.parametrize("place", PLACES)
def test_the_number_of_threads_changes_no_bit(place, monkeypatch):
    """1, 2 and 4 threads compute the same result to the last bit."""
    used, found = set(), []
    monkeypatch.setattr(threads, "WORTH", 0.0)
    monkeypatch.setattr(leave_out, "PAIRS", 1 << 16)
    monkeypatch.setattr(votes, "LONG", 0.0)
    monkeypatch.setattr(crossings, "PAIRS", 50)
    monkeypatch.setattr(numerics, "PART", 500)
    for name, size in dict(KEPT=50_000, PIECE=10_000, WIDE=50, ROOM=5_000, TILE=20).items():
        monkeypatch.setattr(steps, name, size)
    begin = threads.start_new_thread
    monkeypatch.setattr(threads, "start_new_thread", lambda *a: used.add(count) or begin(*a))
    for count in (1, 2, 4):
        monkeypatch.setattr(threads, "thread_count", lambda count=count: count)
        with threadpool_limits(1):
            found.append(PLACES[place]())
    assert used >= {2, 4}  # and 1: the thread of an interruptible call
    for one, *others in zip(*found):
        assert all(np.array_equal(one, other) for other in others)


@pytest.mark.parametrize("sizes", [[7], [3, 1, 1, 9, 2], [1, 1, 30, 1], [40], [5, 4]])
def test_pieces_of_a_tree_compute_the_sums_of_the_whole(sizes, monkeypatch):
    """Small pieces give the sums of one piece; every level is in exactly one piece."""
    y = np.concatenate([rng.integers(0, max(2, k // 2), k) for k in sizes])
    prefs = rb.Preferences.from_scores(y, np.repeat(np.arange(len(sizes)), sizes))
    scores, v = rng.normal(size=(2, len(y)))
    found = []
    for piece in (1000, 12, 5, 1):
        monkeypatch.setattr(counting, "PIECE", piece)
        loss = CountedLoss(prefs)
        at = loss.evaluate(scores, smoothed_hinge(0.5))
        numbers = at.loss, at.margin, at.square, at.worst
        found.append(np.r_[numbers, at.score_gradient, loss.curvature(at.bands, v)])
        edges = [piece.edges for piece in loss.tree[0][0][0]]
        assert np.array_equal(np.unique(np.concatenate(edges)), loss.edges)
        assert sum(part.size - 1 for part in edges) == loss.edges.size - 1
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-13, atol=1e-13)


def two_threads(monkeypatch):
    monkeypatch.setattr(threads, "thread_count", lambda: 2)


def test_an_error_ends_the_call(monkeypatch):
    """The error of a piece is raised, and no further piece begins."""
    two_threads(monkeypatch)
    begun = []

    def fail(i):
        begun.append(i)
        time.sleep(0.01)
        if i == 3:
            raise ValueError("third")

    with pytest.raises(ValueError, match="third"):
        in_threads(fail, range(100), 1.0)
    assert len(begun) < 10 and not threads.INSIDE.get()


def test_pieces_keep_the_context(monkeypatch):
    """NumPy's settings of errors hold in all threads, and pieces start no threads."""
    two_threads(monkeypatch)
    seen = set()

    def overflow(i):
        seen.add(threading.get_ident())
        time.sleep(0.005)
        assert threads.INSIDE.get()
        return np.exp(np.full(3, 1e3))[0]

    with np.errstate(over="ignore"):
        assert in_threads(overflow, range(20), 1.0) == [np.inf] * 20
    assert len(seen) == 2


def test_threads_that_cannot_start_are_not_needed(monkeypatch):
    """Without memory for a thread, the calling thread computes all pieces."""
    two_threads(monkeypatch)

    def refuse(*arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "start_new_thread", refuse)
    assert in_threads(abs, [-1, 2, -3], 1.0) == [1, 2, 3]


def test_short_computations_start_no_threads(monkeypatch):
    """Below WORTH the number of threads is not even asked for."""
    monkeypatch.setattr(threads, "thread_count", lambda: pytest.fail("asked"))
    assert in_threads(abs, [-1, 2], threads.WORTH) == [1, 2] and in_threads(abs, [-1], 9.0) == [1]


@FREE
def test_limits_are_respected(monkeypatch):
    """Limits of BLAS and numba hold, also for the thread of an interruptible call."""
    asked = interruptible(thread_count)
    assert thread_count() == asked() >= 2
    with threadpool_limits(1):
        assert thread_count() == asked() == 1
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 1)
    assert thread_count() == asked() == 1


SET = """
import numba
numba.set_num_threads(1)
from rankbook.base.progress import thread_count
from rankbook.base.progress import in_threads, interruptible, thread_count
print(thread_count(), interruptible(thread_count)())
"""
POOL = """
from concurrent.futures import ProcessPoolExecutor
from joblib import Parallel, delayed
from rankbook.base.progress import thread_count
if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        print(pool.submit(thread_count).result())
    for backend in ("loky", "threading", "multiprocessing"):
        print(*Parallel(2, backend=backend)([delayed(thread_count)()] * 2))
"""


@pytest.mark.parametrize("script, expected", [(SET, "1 1"), (POOL, "1 1 1 1 1 1 1")])
def test_pools_and_masks(script, expected, tmp_path):
    """Workers of pools use one thread, and so does a call after numba.set_num_threads(1)."""
    file = tmp_path / "script.py"
    file.write_text(script)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert done.stdout.split() == expected.split(), done.stderr


def test_other_threads_use_one():
    """A thread that you start may be one of many, for example of Dask."""
    found = []
    thread = threading.Thread(target=lambda: found.append(thread_count()))
    thread.start()
    thread.join()
    assert found == [1]


@FREE
def test_a_leaderboard_of_few_items_uses_one_thread_of_blas(monkeypatch):
    """Its matrices are small. The limits hold again afterwards."""
    count = lambda: [library["num_threads"] for library in threads.blas_libraries().info()]
    before, seen, plain = count(), [], votes.fit_votes
    monkeypatch.setattr(votes, "fit_votes", lambda *given: seen.append(count()) or plain(*given))
    rb.Leaderboard().fit(rb.Preferences([0, 1, 2, 0], [1, 2, 0, 2], 3))
    assert max(before) > 1 and seen == [[1] * len(before)] and count() == before


OF_BLAS = """
import hashlib
import numpy as np
import rankbook as rb
from rankbook.base.progress import blas_libraries, on_one_blas_thread, thread_count
from rankbook.registry import solve
from rankbook.solvers.newton.solver import NewtonSolver

count = lambda: max(library["num_threads"] for library in blas_libraries().info())
ran, plain, alone = [], NewtonSolver.solve, thread_count()


def counted(self, problem, lam):
    nested = on_one_blas_thread(lambda: (count(), thread_count() == alone))()
    ran.append((count(), thread_count() == alone, nested))
    return plain(self, problem, lam)


NewtonSolver.solve = counted
X = np.random.default_rng(0).normal(size=(4000, 50))
for most in (solve.SMALL_MATRIX, 50):
    solve.SMALL_MATRIX = most
    model = rb.RankSVM(kernel="linear", lam=1.0, solver="newton").fit(X, X[:, 0] > X[:, 1])
    print(count(), *ran.pop(), hashlib.sha256(model.coef_).hexdigest() if most > 50 else "")
"""


def test_blas_has_one_thread_in_a_solver_of_small_matrices():
    """Two threads give the digits of one, and limits of users hold in other solvers and after."""
    said = {}
    for n in ("1", "2"):
        env = os.environ | dict(OPENBLAS_NUM_THREADS=n, MKL_NUM_THREADS=n, NUMBA_NUM_THREADS=n)
        ended = subprocess.run(
            [sys.executable, "-c", OF_BLAS], env=env, capture_output=True, text=True, check=True
        )
        said[n] = ended.stdout.splitlines()
        *most, digest = said[n][0].split()
        assert " ".join(most) == f"{n} 1 True (1, True)"
        assert said[n][1].strip() == f"{n} {n} True (1, True)"
    assert said["1"][0].split()[-1] == said["2"][0].split()[-1] == digest
