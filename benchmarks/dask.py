"""What a linear ranking SVM costs on the workers of a Dask cluster.

Workers are processes of this machine with one thread each. Seconds are of the clock, medians
of rounds in which all take turns: with one worker beside the same blocks in this process, and
with two workers and twice the items beside one worker (weak scaling: the ratio is 1 if a step takes
as long). Data are sent before the clock starts. Both run to the same answer, bit for bit.

A fit from Parquet on one worker that keeps the blocks, as by default where they fit in its memory,
is timed beside one whose worker reads them again for each sum. Seconds are of the processor, of
client, scheduler and worker together, and include the first reading.

The bytes that travel are counted in this process, which holds client and scheduler: everything that
they write for a step of Newton's method, but for heartbeats.
"""

import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import rankbook as rb

from .common import Row, if_installed, linear_graded

SIZES = {"tiny": 1600, "usual": 1_000_000, "full": 1_000_000}
BLOCKS = 2  # of a worker
SHARE = 1e-3  # lambda for each preference


def in_blocks(n, blocks):
    """Items in memory, in so many blocks of whole queries."""
    X, y, qid = linear_graded(n)
    cuts = 100 * np.linspace(0, n // 100, blocks + 1).astype(int)
    return rb.Blocks(
        rb.Block(X[i:j], y[i:j], qid[i:j], name=f"block {k}", copy=False)
        for k, (i, j) in enumerate(zip(cuts, cuts[1:]))
    )


def solved(problem):
    """Weights and number of steps of one solution, and its seconds for a step."""
    start = time.perf_counter()
    answer = rb.solve(problem, SHARE * problem.n_preferences, solver="newton")
    steps = answer.info["steps"]
    return (time.perf_counter() - start) / steps, answer.weights, steps


@contextmanager
def cluster(workers):
    """The client of a cluster of so many processes."""
    from dask.distributed import Client, LocalCluster

    options = dict(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with LocalCluster(**options) as started, Client(started) as client:
        yield client


@contextmanager
def problem_on(workers, blocks):
    """The problem on a cluster of so many processes."""
    with cluster(workers) as client:
        yield rb.BlockRankSVMProblem(rb.dask_blocks(blocks, client=client))


def of_parquet(n, rounds):
    """A row of a fit from Parquet by a worker that keeps the blocks, beside one that does not."""
    from .files import write

    with TemporaryDirectory() as folder, cluster(1) as client:
        path = Path(folder) / "items.parquet"
        write(path, n, 50)

        def fit(keep):
            blocks = rb.read_blocks(path, "y", "qid")
            spread = rb.dask_blocks(blocks, client=client, keep=keep)
            weights = solved(rb.BlockRankSVMProblem(spread))[1]
            spread.release()
            return weights

        def seconds(keep):
            spent = lambda: time.process_time() + sum(client.run(time.process_time).values())
            before = spent()
            fit(keep)
            return spent() - before

        fit(None), fit(False)  # compile
        times = np.array([[seconds(None), seconds(False)] for _ in range(rounds)])
    ours, theirs = np.median(times, axis=0)
    peer = dict(peer="read for each sum", peer_seconds=theirs, rounds=rounds)
    ratio = np.median(times[:, 0] / times[:, 1])
    return Row("a fit from Parquet on Dask, 1 worker", n, ours, ratio=ratio, **peer)


@contextmanager
def counted_bytes():
    """A list of the bytes of each message that client and scheduler write."""
    from distributed.comm import tcp

    write, sizes = tcp.TCP.write, []

    async def counted(self, message, *args, **options):
        size = await write(self, message, *args, **options)
        if not (isinstance(message, dict) and "heartbeat" in str(message.get("op", ""))):
            sizes.append(size)
        return size

    tcp.TCP.write = counted
    try:
        yield sizes
    finally:
        tcp.TCP.write = write


def rows(scale, peers):
    """All rows."""
    n, rounds = SIZES[scale], 1 if scale == "tiny" else 3
    if if_installed("distributed", None) is not None:
        yield Row("linear ranking SVM on Dask", n, note="distributed is not installed")
        return
    one, two = in_blocks(n, BLOCKS), in_blocks(2 * n, 2 * BLOCKS)
    here = rb.BlockRankSVMProblem(one)
    with problem_on(1, one) as single, problem_on(2, two) as double:
        times = []
        for _ in range(rounds + 1):  # the first one compiles
            found = [solved(problem) for problem in (here, single, double)]
            assert np.array_equal(found[0][1], found[1][1])  # the same answer, to the last bit
            times.append([seconds for seconds, *_ in found])
    times = np.array(times[1:] if rounds > 1 else times)
    memory, alone, both = np.median(times, axis=0)
    what = "a step of Newton's method on Dask"
    overhead = dict(peer="in memory", peer_seconds=memory, ratio=alone / memory, rounds=rounds)
    yield Row(f"{what}, 1 worker", n, alone, **overhead)
    scaling = dict(peer="1 worker", peer_seconds=alone, ratio=both / alone, rounds=rounds)
    yield Row(f"{what}, 2 workers", 2 * n, both, **scaling)
    yield of_parquet(n, rounds)
    for size in (n // 4, n):
        with problem_on(1, in_blocks(size, BLOCKS)) as problem:
            solved(problem)
            with counted_bytes() as sizes:
                steps = solved(problem)[2]
            yield Row(f"{what}, bytes", size, measure="bytes", quality=sum(sizes) / steps)
