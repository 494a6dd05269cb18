"""Time and memory of a linear ranking SVM on items in files.

The items are written piece by piece into a temporary folder (TMPDIR), 8 bytes for each number: 4 GB
for ten million with 50 features. Each measurement is a process of its own, whose peak memory is
what the system says. "In memory" is the same problem with all items read at once.

The full benchmark also solves a problem of a billion preferences in large queries.

Text is measured from reading to the answer: three files of LETOR, beside Parquet and memory; and a
CSV file that Dask's workers read. For the latter, seconds are the processor time of this process
plus that of the busiest worker, which is what a clock shows if each process has its own processor.
"""

import json
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from sklearn.base import clone

import rankbook as rb
from rankbook.data.datasets import find_file
from rankbook.data.table import read_table
from rankbook.data.writers import write_dataset

from .common import Row, compare, cpu_seconds, gap, if_installed, peak_memory, timed
from .dask import cluster

CSV = {"tiny": (2_000, 5), "usual": (300_000, 50), "full": (1_000_000, 50)}
SIZES = {"tiny": (2_000, 5), "usual": (1_000_000, 50), "full": (10_000_000, 50)}
ROWS = 1 << 18  # of a row group, and of a block
SIZE = 100  # items of a query
BILLION = (2_500_000, 20, 1000)  # items, features, and items of a query for 10^9 preferences
BLOCKS = 6  # of a CSV file
LARGEST = 1_000_000  # items that are read at once, too
SHARE = 1e-3  # lambda for each preference


def write(path, n, d, size=SIZE):
    """Items with five levels of a noisy linear score, a row group at a time."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    rng = np.random.default_rng(0)
    w, writer = rng.normal(size=d) / np.sqrt(d), None
    names = ["y", "qid", *(f"x{j}" for j in range(d))]
    for first in range(0, n, ROWS // size * size):
        m = min(ROWS // size * size, n - first)
        X = rng.normal(size=(d, m))
        score = (w @ X + rng.normal(size=m)).reshape(-1, size)
        y = score.argsort(axis=1).argsort(axis=1).ravel() * 5 // size
        table = pyarrow.table([y, np.arange(first, first + m) // size, *X], names=names)
        options = dict(compression="none", use_dictionary=False)
        writer = writer or ParquetWriter(path, table.schema, **options)
        writer.write_table(table, row_group_size=ROWS)
    writer.close()


def items_of(block):
    """The number of items of a block, which is read for it."""
    return len(block.y)


def whole_of(path):
    """The problem with all items in memory."""
    data = rb.read_blocks(path, "y", "qid", rows=10**12).items.values[0].read()
    prefs = rb.Preferences.from_scores(data.y, data.qid)
    return rb.RankSVMProblem(data.X, prefs, kernel="linear", copy=False)


def measure(path, how):
    """Facts about a solution, as a dict; what is compiled is compiled before."""
    X, y = np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) % 5
    small = rb.Blocks([rb.Block(X, y, np.arange(200) // 20)])
    rb.solve(rb.BlockRankSVMProblem(small), 1.0)
    before, facts, start, spent = peak_memory(), {}, perf_counter(), cpu_seconds()
    if how == "blocks":
        blocks = rb.read_blocks(path, "y", "qid", rows=ROWS)
        facts["cut"], start = perf_counter() - start, perf_counter()
        blocks.reduce(items_of, blocks.items)
        facts["pass"], start = perf_counter() - start, perf_counter()
        problem = rb.BlockRankSVMProblem(blocks)
    else:
        problem = whole_of(path)
    facts["made"], start = perf_counter() - start, perf_counter()
    lam = SHARE * problem.n_preferences
    solution = rb.solve(problem, lam, solver="newton")
    facts["gap"] = solution.certificate.relative_gap
    facts["preferences"] = problem.n_preferences
    facts |= dict(solved=perf_counter() - start, steps=solution.info["steps"])
    return facts | dict(processor=cpu_seconds() - spent, before=before, peak=peak_memory())


def measured(path, how):
    """The same, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.files", str(path), how]
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root)
    return json.loads(done.stdout.splitlines()[-1])


def of_letor():
    """Rows of the fit of three text files, beside the same items in Parquet and in memory."""
    what = "one lambda, linear, hinge loss, from three text files of LETOR"
    try:
        texts = [find_file(f"mq2008.S{k}") for k in (1, 2, 3)]
    except FileNotFoundError as error:
        yield Row(what, 0, note=str(error))
        return
    model = rb.RankSVM(1.0, kernel="linear", solver="newton")
    whole = lambda: [read_table(path) for path in texts]

    def in_memory():
        data = whole()
        X, y, qid = (np.concatenate([getattr(d, name) for d in data]) for name in ("X", "y", "qid"))
        return clone(model).fit(X, y, qid)

    def command(*arguments):
        options = ["--lam", "1", "--kernel", "linear", "--solver", "newton", "-o", "model"]
        run = [sys.executable, "-c", "from rankbook.app.cli.main import main; main()", "fit"]
        run += [*map(str, arguments), *options]
        return partial(subprocess.run, run, check=True, capture_output=True, cwd=folder)

    with TemporaryDirectory() as folder:
        for path, data in zip(texts, whole()):
            write_dataset(data, Path(folder) / f"{path.stem}.parquet")
        Path(folder, "all.txt").write_bytes(b"".join(path.read_bytes() for path in texts))
        read = lambda: rb.read_blocks(f"{folder}/*.parquet", "target", "qid")
        ours = lambda: clone(model).fit(rb.read_blocks(texts))
        theirs = {"Parquet": lambda: clone(model).fit(read()), "in memory": in_memory}
        n = sum(len(data.y) for data in whole())
        yield from compare(what, n, ours, theirs, {"gap": gap})
        parquet = command("*.parquet", "--target", "target", "--qid", "qid")
        theirs = {"Parquet": parquet, "one file, in memory": command("all.txt")}
        yield from compare(f"{what}: `rankbook fit`", n, command(*texts), theirs)


def busiest(client):
    """Processor seconds of this process and of the busiest worker, since both began."""
    return time.process_time(), client.run(time.process_time)


def of_workers(scale):
    """Rows of the fit of a CSV file by one worker and by two, parsed by this process."""
    from pyarrow.csv import write_csv
    from pyarrow.parquet import read_table as read_parquet

    n, d = CSV[scale]
    what, rounds = f"one lambda, linear, hinge loss, from CSV, {d} features", 3
    if if_installed("distributed", None) is not None:
        yield Row(what, n, note="distributed is not installed")
        return
    model = rb.RankSVM(SHARE * n * SIZE * 2 / 5, kernel="linear")  # five equal levels
    with TemporaryDirectory() as folder, cluster(1) as one, cluster(2) as two:
        path = Path(folder) / "items.csv"
        write(path.with_suffix(".parquet"), n, d)
        write_csv(read_parquet(path.with_suffix(".parquet")), path)
        found, parse = [], timed(lambda: rb.read_blocks(path, "y", "qid", rows=n // BLOCKS))[0]
        for _ in range(rounds + 1):  # in the first, workers compile
            taken = []
            for client in (one, two):
                before, start = busiest(client), perf_counter()
                blocks = rb.read_blocks(path, "y", "qid", rows=n // BLOCKS)
                clone(model).fit(rb.dask_blocks(blocks, client=client))
                clock, after = perf_counter() - start, busiest(client)
                work = max(after[1][worker] - before[1][worker] for worker in after[1])
                taken.append((after[0] - before[0] + work, clock))
            found.append(taken)
    seconds, clocks = np.median(found[1:], axis=0).T
    note = f"of it parsing {parse:.1f} s; wall clock: {clocks[0]:.1f} s and {clocks[1]:.1f} s"
    peer = dict(peer="1 worker", peer_seconds=seconds[0], ratio=seconds[1] / seconds[0])
    yield Row(f"{what}, 2 workers", n, seconds[1], **peer, rounds=rounds, note=note)


def rows(scale, peers):
    """All rows."""
    yield from of_letor()
    yield from of_workers(scale)
    yield from of_parquet(*SIZES[scale])
    if scale == "full":
        yield from of_parquet(*BILLION)


def of_parquet(n, d, size=SIZE):
    """Rows of a solution from Parquet, beside the items in memory unless there are too many."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "items.parquet"
        write(path, n, d, size)
        ours = measured(path, "blocks")
        theirs = measured(path, "memory") if n <= LARGEST else None
    what = f"one lambda, linear, hinge loss, from Parquet, {d} features"
    note = (
        f"{ours['preferences']:,} preferences; wall clock: cut {ours['cut']:.1f} s, "
        f"a pass {ours['pass']:.2f} s, problem {ours['made']:.1f} s, "
        f"{ours['steps']} steps {ours['solved']:.1f} s"
    )
    for name, measure in (("peak", "peak memory, GB"), ("gap", "gap")):
        row = dict(measure=measure, quality=ours[name], rounds=1, note=note)
        if theirs is not None:
            ratio = ours["processor"] / theirs["processor"]
            row |= dict(peer="in memory", peer_seconds=theirs["processor"], ratio=ratio)
            row |= dict(peer_quality=theirs[name])
        yield Row(what, n, ours["processor"], **row)
        note = ""


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
