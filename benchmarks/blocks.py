"""What a linear ranking SVM asks of a block of items, of a worker's network, and of a scheduler.

These are the numbers of a plan: seconds of the processor for one block that has been read, for
each thing that Newton's method asks of it; how often a solution asks; what a solution takes on a
block in this process, beside the same items without blocks; and what client and scheduler need, and
send, for a sum over so many blocks that compute nothing. Client and scheduler run in this process,
the worker in another, so the seconds of this process are theirs.
"""

import time
from collections import Counter
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import rankbook as rb
from rankbook.preferences.sums import smoothed_hinge

from .common import Row, compare, if_installed, timed
from .dask import counted_bytes, problem_on
from .files import SIZE, write

SIZES = {"tiny": (2_000, 5), "usual": (262_100, 50), "full": (262_100, 50)}
COUNTS = {"tiny": (2, 40), "usual": (16, 256, 1024), "full": (16, 256, 1024, 4096)}
PARTS = 16  # of the items, for the number of steps at a smaller size
SHARE = 1e-3  # lambda for each preference
ROUNDS = 3


class CountedBlocks(rb.Blocks):
    """Blocks that count their sums by name."""

    def reduce(self, function, *arguments, **options):
        """As in :class:`rankbook.Blocks`."""
        self.sums = getattr(self, "sums", Counter())
        self.sums[getattr(function, "__name__", "")] += 1
        return super().reduce(function, *arguments, **options)


def of_a_block(stored):
    """Rows of what is asked of one block."""
    block = stored.read()
    problem = rb.BlockRankSVMProblem(rb.Blocks([block]))
    w = np.ones(problem.X.shape[1]) / problem.X.shape[1]
    f = problem.X @ w
    bands = problem.sums_at(f, smoothed_hinge(1.0))[0].bands
    asked = {
        "read it from Parquet": stored.read,
        "sort its scores": lambda: rb.BlockRankSVMProblem(rb.Blocks([block])),
        "scores": lambda: problem.X @ w,
        "loss and slopes": lambda: problem.sums_at(f, smoothed_hinge(1.0)),
        "a product with the Hessian": lambda: problem.hessian_product(bands, w),
        "the Hessian": lambda: problem.hessian(bands),
    }
    for what, function in asked.items():
        yield from compare(f"a block: {what}", len(block.y), function, rounds=ROUNDS)
    kept = sum(each.nbytes for each in bands.bands.values[0].bands if isinstance(each, np.ndarray))
    kept += sum(each.nbytes for each in (block.X, block.y, block.qid, *f.values))
    yield Row("a block: memory", len(block.y), measure="bytes", quality=kept)


def beside_no_blocks(block):
    """Rows of a solution on one block in this process, and on the same items without blocks."""
    blocks = rb.BlockRankSVMProblem(rb.Blocks([block]))
    prefs = rb.Preferences.from_scores(block.y, block.qid)
    whole = rb.RankSVMProblem(block.X, prefs, kernel="linear", copy=False)
    lam = SHARE * len(prefs)
    ours, plain = (partial(rb.solve, each, lam, solver="newton") for each in (blocks, whole))
    gap = {"gap": lambda solution: solution.certificate.relative_gap}
    what = "one block in this process"
    yield from compare(what, len(block.y), ours, {"no blocks": plain}, gap, rounds=ROUNDS)


def of_a_solution(block):
    """Rows of the number of steps, and of the sums of a step."""
    for part in (PARTS, 1):
        m = len(block.y) // SIZE // part * SIZE
        blocks = CountedBlocks([rb.Block(block.X[:m], block.y[:m], block.qid[:m], copy=False)])
        problem = rb.BlockRankSVMProblem(blocks)
        solved = partial(rb.solve, problem, SHARE * problem.n_preferences, solver="newton")
        steps = solved().info["steps"]
        blocks.sums = Counter()
        seconds = [timed(solved)[0] for _ in range(ROUNDS)]
        yield Row("a solution", m, np.median(seconds), "steps", steps, rounds=ROUNDS)
        asked = dict(loss="totals_at", product="_product", Hessian="_hessian")
        counts = {name: blocks.sums.pop(function, 0) for name, function in asked.items()}
        for name, count in (*counts.items(), ("the rest", blocks.sums.total())):
            what = f"a solution: sums for {name}"
            yield Row(what, m, measure="sums a step", quality=count / steps / ROUNDS)


def nothing(block):
    """The sum of nothing is 0."""
    return 0.0


def of_a_sum(count, rounds):
    """A row of what client and scheduler need for a sum over so many blocks."""
    X, y = np.zeros((2, 1)), np.arange(2)
    blocks = rb.Blocks(rb.Block(X, y, [k, k], name=f"block {k}") for k in range(count))
    with problem_on(1, blocks) as problem:
        sent, spent = problem.blocks, []
        sent.reduce(nothing, sent.items)
        for _ in range(rounds):
            start = time.process_time()
            with counted_bytes() as sizes:
                sent.reduce(nothing, sent.items)
            spent.append((time.process_time() - start, sum(sizes)))
    seconds, traffic = np.median(spent, axis=0)
    numbers = dict(measure="bytes", quality=traffic, rounds=rounds)
    return Row("a sum over blocks: client and scheduler", count, seconds, **numbers)


def rows(scale, peers):
    """All rows; `items` are blocks in those of a sum over blocks."""
    n, d = SIZES[scale]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "items.parquet"
        write(path, n, d)
        [stored] = rb.read_blocks(path, "y", "qid", rows=2 * n).items.values
        yield from of_a_block(stored)
        yield from of_a_solution(stored.read())
        yield from beside_no_blocks(stored.read())
    if if_installed("distributed", None) is not None:
        yield Row("a sum over blocks", 0, note="distributed is not installed")
        return
    for count in COUNTS[scale]:
        yield of_a_sum(count, ROUNDS)
