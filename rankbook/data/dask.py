"""Blocks from arrays and data frames of Dask, and blocks on a Dask cluster."""

import operator
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from ctypes import CDLL
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from weakref import WeakSet, ref

import numpy as np

from ..base.errors import ArgumentError, a_type
from ..base.limits import import_extra, require_memory
from ..base.ownership import own
from ..base.tables import count as count_of
from .blocks import (
    ARRAYS,
    GROUP,
    Block,
    Blocks,
    Parts,
    Stored,
    add_results,
    block_facts,
    facts_of,
    in_groups,
    nbytes_of,
    require_same,
)

if TYPE_CHECKING:
    from dask.distributed import Client


def require_scheduler(client):
    """Raise a ConnectionError unless the scheduler answers."""
    if client.status != "running":
        address = getattr(client.scheduler, "address", "that was given")
        raise ConnectionError(
            f"the Dask scheduler {address} does not answer (the client is {client.status}), and "
            "the data of its workers are lost. Pass a client of a running scheduler."
        )


LOST_AGAIN = (
    "workers are lost again and again over the same work, usually because they lack memory. "
    "Use workers with more memory, or smaller blocks."
)
PATIENCE, RESTARTS = 60.0, 4  # seconds that all workers may pause; losses of one worker


def wait_for(client, futures):
    """Wait for futures; RuntimeError if workers are lost repeatedly, or all of them pause.

    Dask counts only workers lost during a task, and resumes a worker only when it frees memory.
    """
    from distributed import TimeoutError, wait

    states = lambda dask_scheduler: {
        address: worker.status.name for address, worker in dask_scheduler.workers.items()
    }
    known, most, lost, active = {}, 0, 0, time.monotonic()
    while True:
        try:
            return wait(futures, timeout=1)
        except TimeoutError:
            if any(future.status == "error" for future in futures):
                return None
        found = client.run_on_scheduler(states)
        lost, most = lost + len(known.keys() - found.keys()), max(most, len(found))
        known = found
        if lost > RESTARTS * max(most, 1):
            raise RuntimeError(LOST_AGAIN)
        if set(found.values()) - {"paused"} or not most:
            active = time.monotonic()
        if time.monotonic() - active > PATIENCE:
            raise RuntimeError(
                f"all workers have paused or are gone for {PATIENCE:.0f} s, usually for lack of "
                "memory. Use workers with more memory, or smaller blocks."
            )


@contextmanager
def explaining(blocks):
    """Context that replaces Dask's error "cancelled" by one that names the missing block."""
    require_scheduler(blocks.client)
    if blocks.is_released:
        raise RuntimeError(
            "The blocks were released from the workers. Create them again, for example with "
            "rankbook.dask_blocks."
        )
    from distributed.scheduler import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise RuntimeError(LOST_AGAIN) from error
    except CancelledError as error:
        require_scheduler(blocks.client)
        gone, values = ("cancelled", "lost"), zip(blocks.names, blocks.items.values)
        lost = [name for name, value in values if getattr(value, "status", "") in gone]
        raise RuntimeError(
            f"{', '.join(lost[:3]) or 'a value'}{' and others' * (len(lost) > 3)}: lost, with the "
            "worker that had it. It was sent from memory and cannot be computed again. "
            "Send the blocks again, or let the workers read them."
        ) from error


class Step:
    """Deferred call of a function of parts, which knows where its values are once computed.

    Attributes
    ----------
    function, arguments
        Arguments that are steps are replaced by their value for the block; other arguments are
        equal for all blocks.
    values, place
        `values` are inputs of the tasks, one for each block, or None before they are computed. The
        value of a block is the entry at index `place` of its input, or with None the whole input.
    """

    def __init__(self, function=None, arguments=(), values=None, place=None):
        self.function, self.arguments, self.values, self.place = function, arguments, values, place
        self.parts = lambda: None  # steps that may ask for it

    def computed(self, values, place):
        """Record that the values are computed."""
        self.function, self.arguments, self.values, self.place = None, (), values, place


class StepParts(Parts):
    """Parts that are represented by a step."""

    def __init__(self, blocks, step):
        self.blocks, self.step = blocks, step
        step.parts = ref(self)

    @property
    def values(self):
        """Return futures of the values, one for each block."""
        return self.blocks.values_of(self.step)


@dataclass(frozen=True)
class Given:
    """Argument from an input of a task: the number of the input, and an index into it or None."""

    number: int
    place: int | None


@dataclass(frozen=True)
class Found:
    """Argument from an earlier step of the plan: the number of this step."""

    number: int


def make_plan(last):
    """Plan the work of a task for a step.

    Returns
    -------
    plan : list of (function, list of arguments)
    steps : list of Step
        Steps of the plan.
    given : list
        The block values that the plan needs.
    """
    plan, numbers, given = [], {}, {}

    def visit(step):
        if not isinstance(step, Step):
            return step
        if step.values is not None:
            return Given(
                given.setdefault(id(step.values), (len(given), step.values))[0], step.place
            )
        if step not in numbers:
            plan.append((step.function, [visit(each) for each in step.arguments]))
            numbers[step] = Found(len(plan) - 1)
        return numbers[step]

    visit(last)
    return plan, list(numbers), [values for _, values in given.values()]


@dataclass(frozen=True)
class Kept:
    """Data of a block on a worker. It reports its size, so that Dask leaves it in place."""

    values: list

    def __getitem__(self, place):
        return self.values[place]

    def __sizeof__(self):
        return nbytes_of(self.values)


@cache
def keep_freed_memory():
    """Let a worker's allocator keep freed arrays of some megabytes, as outside Dask.

    glibc raises its two thresholds to these values automatically unless one of them is set. Dask
    sets one for its workers, so each array would use new pages that the system clears first.
    """
    is_set = sys.platform == "linux" and "MALLOC_TRIM_THRESHOLD_" in os.environ
    if is_set and (mallopt := getattr(CDLL(None), "mallopt", None)):
        mallopt(-3, 32 << 20)  # M_MMAP_THRESHOLD
        mallopt(-1, 64 << 20)  # M_TRIM_THRESHOLD


def run_plan(plan, kept, *given):
    """Run a plan and return the value of its last step, after those of other kept steps.

    Stored blocks are read once.
    """
    keep_freed_memory()
    given, found = [each.read() if isinstance(each, Stored) else each for each in given], []

    def value(argument):
        if isinstance(argument, Found):
            return found[argument.number]
        if isinstance(argument, Given):
            whole = given[argument.number]
            return whole if argument.place is None else whole[argument.place]
        return argument

    for function, arguments in plan:
        found.append(function(*map(value, arguments)))
    return Kept([found[k] for k in (*kept, -1)]) if kept else found[-1]


LARGE = 1 << 16  # size in bytes above which an argument is sent once, not with each task


def itself(value):
    """Return the value; as a task, it holds data that are sent once."""
    return value


class DaskBlocks:
    """Blocks of whole queries on the workers of a Dask cluster.

    It has the interface of :class:`rankbook.data.blocks.Blocks`, and its sums equal those of Blocks
    to the last bit. :func:`rankbook.dask_blocks` creates it.

    Parameters
    ----------
    client : dask.distributed.Client
        Client of the cluster.
    values : sequence of Future or Stored
        The blocks. Futures stay on their workers; stored blocks are read by a worker for each sum.
    names : sequence of str
        Names of the blocks in errors.

    Attributes
    ----------
    items : Parts
        The blocks themselves.

    Raises
    ------
    ConnectionError
        If the scheduler does not answer during a sum.
    RuntimeError
        If a block is lost and cannot be computed again. The error names the block.
    """

    def __init__(self, client: "Client", values: Sequence[Any], names: Sequence[str]) -> None:
        self.client, self.names = client, tuple(names)
        self.is_released, self._steps, self._last = False, WeakSet(), ()
        self.items = Parts(self, values)
        self.is_stored = any(isinstance(value, Stored) for value in self.items.values)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"DaskBlocks({len(self)} blocks, {self.client.scheduler_info()['address']})"

    def map(self, function: Callable[..., Any], *arguments: Any) -> Parts:
        """Apply a function to each block; its values are :class:`Parts` on the workers.

        The values are computed with the first sum that needs them.
        """
        return StepParts(self, self._step(function, arguments))

    def reduce(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        combine: Callable[[Any, Any], Any] = add_results,
    ) -> Any:
        """Sum a function's values over the blocks, in their order and in groups."""
        with explaining(self):
            kept, futures = self._sent(self._step(function, arguments))
            found = self._picked(futures, len(kept)) if kept else futures
            while len(found) > GROUP:
                groups = [found[i : i + GROUP] for i in range(0, len(found), GROUP)]
                found = [self._once(partial(in_groups, combine), group) for group in groups]
            try:
                wait_for(self.client, found)
                answer = in_groups(combine, self.client.gather(found))
            except BaseException:  # also after an interrupt: do not wait for the others
                for future in (*futures, *found):
                    future.release()
                raise
        for place, step in enumerate(kept):
            step.computed(futures, place)
            self._steps.add(step)
        self._last = found  # released with the next message, not with a separate one
        return answer

    def values_of(self, step: Step) -> list:
        """Return futures of the values of a step, one for each block."""
        with explaining(self):
            kept, futures = self._sent(step)
            return self._picked(futures, len(kept)) if kept else futures

    def release(self) -> None:
        """Release the blocks and all values computed from them on the workers."""
        self.is_released, self._last = True, ()
        for values in (self.items.values, *(step.values for step in self._steps)):
            for value in values:
                getattr(value, "release", lambda: None)()

    def _step(self, function, arguments):
        """Create the step of a function; a large argument is sent immediately."""
        return Step(function, tuple(map(self._argument, arguments)))

    def _argument(self, argument):
        """Convert parts to a step, and an array to a copy, or to a future if it is large."""
        if isinstance(argument, StepParts):
            return argument.step
        if isinstance(argument, Parts):
            return Step(values=argument.values)
        if isinstance(argument, np.ndarray):
            argument = own(argument)
            if argument.nbytes > LARGE:
                return Step(values=(self._once(itself, argument),) * len(self))
        return argument

    def _once(self, function, value):
        """Return a future for ``function(value)``; the value is sent to the workers only once."""
        return self.client.submit(function, value, pure=False)

    def _sent(self, last):
        """Submit tasks for all blocks in one message; return kept steps and futures."""
        plan, steps, given = make_plan(last)
        places = [k for k, step in enumerate(steps[:-1]) if step.parts() is not None]
        function = partial(run_plan, plan, places)
        name = getattr(last.function, "__name__", type(last.function).__name__)
        futures = self.client.map(function, *given, key=name, pure=False)
        return [steps[k] for k in places], futures

    def _picked(self, futures, place):
        """Return futures for the entry at index `place` of the values of other futures."""
        return self.client.map(itemgetter(place), futures, key="result", pure=False)


SHARE = 0.4  # of a worker's memory for blocks; Dask moves data to disk above 0.6


def fit_on_workers(client, blocks):
    """Whether the workers have the memory to keep stored blocks, besides the data they have."""

    def free(dask_scheduler):
        workers = dask_scheduler.workers.values()
        return [SHARE * worker.memory_limit - worker.nbytes for worker in workers]

    there = client.run_on_scheduler(free) or [0.0]
    stored = [value for value in blocks.items.values if isinstance(value, Stored)]
    # each worker gets about the same number of blocks
    return sum(value.nbytes for value in stored) <= min(there) * len(there)


def sent_out(blocks: Blocks, client: "Client", keep: bool | None = None) -> DaskBlocks:
    """Send blocks of this process to the workers of a cluster; see :func:`rankbook.dask_blocks`."""
    values, read = list(blocks.items.values), [isinstance(v, Stored) for v in blocks.items.values]
    names = [getattr(value, "name", f"block {k}") for k, value in enumerate(values)]
    require_scheduler(client)
    try:
        own = [v for v, r in zip(values, read) if not r] or [None]
        sent = iter(client.scatter(own, hash=False))
    except OSError as error:  # a worker closed the connection
        raise RuntimeError(
            f"a worker was lost while blocks were sent to it ({error}). Use workers with more "
            "memory, or blocks that the workers read themselves."
        ) from error
    values = [value if is_read else next(sent) for value, is_read in zip(values, read)]
    if keep is None:
        keep = not blocks.is_stored or fit_on_workers(client, blocks)
    if any(read) and keep:
        values = client.map(partial(run_plan, [(itself, [Given(0, None)])], []), values, pure=False)
    return DaskBlocks(client, values, names)


def is_dask(value: Any) -> bool:
    """Return whether this is a collection of Dask, without importing Dask."""
    return hasattr(type(value), "__dask_graph__")


def known_rows(collection):
    """Return the rows of each partition, or None if Dask does not know all of them."""
    rows = getattr(collection, "chunks", ((np.nan,),))[0]
    return None if np.isnan(rows).any() else rows


def delayed_parts(collection, as_is=False):
    """Return the partitions of a collection as a list.

    If Dask reads small files together, a column has fewer partitions than its data frame. With
    `as_is` the column has the same partitions, but Dask then reads more than the column.
    """
    joins = hasattr(collection, "chunks") or not as_is
    parts = collection.to_delayed(optimize_graph=joins)
    return parts.ravel().tolist() if isinstance(parts, np.ndarray) else parts


def vector_partitions(name, value, count, rows):
    """Return the delayed partitions of a vector, one for each partition of X; Nones for None."""
    if value is None:
        return [None] * count
    if not is_dask(value) or value.ndim != 1:
        raise ArgumentError(
            f"{name} is {a_type(value)}",
            "a dask array or series (n,), or the name of a column of a dask data frame X",
        )
    own_rows = known_rows(value)
    if rows is not None and own_rows is not None and own_rows != rows:
        if sum(own_rows) != sum(rows):
            raise ArgumentError(
                f"{name} has {count_of(sum(own_rows), 'entry')} and X has "
                f"{count_of(sum(rows), 'row')}",
                "one entry for each row of X",
            )
        value = value.rechunk((rows,))
    parts = delayed_parts(value, as_is=True)
    if len(parts) != count:
        raise ArgumentError(
            f"{name} has {len(parts)} partitions and X has {count}",
            f"the whole data frame as X and the name of its column as {name}, because Dask "
            "joins files of which it reads few columns",
        )
    return parts


def as_block(name, first, *arrays, names=None):
    """Create the block of a partition on a worker; None if the partition is empty."""
    if arrays[0].shape[0] == 0:
        return None
    found = dict(zip(ARRAYS, arrays))
    return Block(**found, name=name, first=first, copy=False, feature_names=names)


def current_client():
    """Return the client that Dask would use, or None for another scheduler."""
    import dask

    distributed = sys.modules.get("distributed")  # without it there cannot be a client
    scheduler = dask.config.get("scheduler", None)
    if distributed is None or scheduler not in (None, "dask.distributed", "distributed"):
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def partition_blocks(client, X, given):
    """Return the :class:`DaskBlocks` of collections, or Blocks without a client.

    `given` contains collections or column names for the arguments other than X.
    """
    from dask import compute, delayed

    by_name = isinstance(given["y"], str) and hasattr(X, "columns")
    if not is_dask(X):
        raise ArgumentError(
            f"X is {a_type(X)}", "a dask array, a dask data frame or rankbook.Blocks"
        )
    if X.ndim != 2:
        raise ArgumentError(f"X has {X.ndim} dimensions", "a matrix (n, d)")
    X = X.rechunk({1: -1}) if hasattr(X, "rechunk") else X
    parts, rows = delayed_parts(X, as_is=not by_name), known_rows(X)
    firsts = [0] * len(parts) if rows is None else [0, *accumulate(rows)][:-1]
    places = [(f"partition {k}", first) for k, first in enumerate(firsts)]
    if by_name:
        for argument, column in given.items():
            if column is not None and column not in X.columns:
                raise ArgumentError(
                    f"{argument} is {column!r}, which X does not have",
                    f"one of {', '.join(map(str, X.columns))}",
                )
        named = [column for column in given.values() if column is not None]

        def block_of_frame(name, first, frame):
            vectors = [None if each is None else frame[each] for each in given.values()]
            return as_block(name, first, frame.drop(columns=named), *vectors)

        make = delayed(block_of_frame, pure=False)
        made = [make(*place, part) for place, part in zip(places, parts)]
    else:
        vectors = [vector_partitions(*each, len(parts), rows) for each in given.items()]
        make = delayed(as_block, pure=False)
        made = [make(*place, *some) for place, *some in zip(places, parts, *vectors)]
    if client is not None:
        blocks = DaskBlocks(client, client.compute(made), [name for name, _ in places])
        return without_empty(blocks)
    if rows is not None and isinstance(X._meta, np.ndarray):
        instead = "start a dask.distributed.Client, whose workers keep the partitions"
        require_memory(X.nbytes, "X, whose partitions are computed in this process,", instead)
    return blocks_here(compute(*made))


def blocks_here(blocks):
    """Return the nonempty blocks, in this process."""
    there = [block for block in blocks if block is not None]
    if not there:
        raise ArgumentError("X has no rows in any partition", "at least one row")
    return Blocks(there)


def without_empty(blocks):
    """Return the nonempty blocks."""
    there = blocks.reduce(lambda block: [block is not None], blocks.items, combine=operator.add)
    if not any(there):
        raise ArgumentError("X has no rows in any partition", "at least one row")
    keep = lambda values: [value for value, has in zip(values, there) if has]
    return DaskBlocks(blocks.client, keep(blocks.items.values), keep(blocks.names))


def query_sizes(block):
    """Return a list with one pair: the query ids of a block, and the number of rows of each."""
    if block.qid is None:
        raise ArgumentError(f"{block.name} has no qid", "query ids with shuffle=True")
    return [np.unique(block.qid, return_counts=True)]


def new_homes(found):
    """Choose the partition to which to move the rows of each query that spans several partitions.

    Parameters
    ----------
    found : list of (ids, rows)
        The queries of each partition.

    Returns
    -------
    dict
        Dict from pairs (from, to) of partitions to lists of query ids.
    """
    where, load = {}, [0] * len(found)
    for k, (ids, rows) in enumerate(found):
        for query, count in zip(ids.tolist(), rows.tolist()):
            where.setdefault(query, {})[k] = count
    for counts in where.values():
        if len(counts) == 1:
            load[next(iter(counts))] += sum(counts.values())
    moves = {}
    for query, counts in where.items():
        if len(counts) > 1:
            home = min(counts, key=lambda k: (load[k], k))
            load[home] += sum(counts.values())
            for k in set(counts) - {home}:
                moves.setdefault((k, home), []).append(query)
    return moves


def take_queries(block, ids, inside=True):
    """Return the block of the rows of some queries, or of all other rows; None if empty."""
    rows = np.isin(block.qid, np.asarray(ids).astype(block.qid.dtype), invert=not inside)
    pick = lambda value: None if value is None else value[rows]
    some = (pick(getattr(block, name)) for name in ARRAYS)
    return as_block(block.name, 0, *some, names=block.feature_names)


def join_blocks(name, blocks):
    """Join the blocks that are not None; None if there are none."""
    from scipy.sparse import vstack

    blocks = [block for block in blocks if block is not None]
    if not blocks:
        return None
    require_same([facts_of(block)[0] for block in blocks])
    stack = np.concatenate if all(isinstance(b.X, np.ndarray) for b in blocks) else vstack
    y, qid = (np.concatenate([getattr(block, key) for block in blocks]) for key in ("y", "qid"))
    weights = [None, None]
    if any(block.worse_weight is not None for block in blocks):
        weights = zip(*(block.both_weights for block in blocks))
    elif any(block.weight is not None for block in blocks):
        weights = [block.both_weights[0] for block in blocks], None
    weights = [None if each is None else np.concatenate(each) for each in weights]
    X = stack([block.X for block in blocks])
    return as_block(name, 0, X, y, qid, *weights, names=blocks[0].feature_names)


def whole_queries(blocks: Blocks | DaskBlocks) -> Blocks | DaskBlocks:
    """Move rows so that each query is in one block.

    Rows of a block keep their order, and rows of earlier blocks come first. O(n log n), and
    O(queries) in this process.
    """
    client, items = getattr(blocks, "client", None), blocks.items.values
    submit = (
        (lambda function, *given: function(*given))
        if client is None
        else partial(client.submit, pure=False)
    )
    names = [item.name for item in items] if client is None else blocks.names
    moves = new_homes(blocks.reduce(query_sizes, blocks.items, combine=operator.add))
    leaving = [[] for _ in items]
    pieces = [{} for _ in items]
    for (k, home), ids in moves.items():
        leaving[k] += ids
        pieces[home][k] = submit(take_queries, items[k], np.array(ids))
    for k, (item, ids) in enumerate(zip(items, leaving)):
        pieces[k][k] = (
            submit(partial(take_queries, inside=False), item, np.array(ids)) if ids else item
        )
    values = [
        part[k]
        if len(part) == 1 and not ids
        else submit(join_blocks, name, [part[j] for j in sorted(part)])
        for k, (name, part, ids) in enumerate(zip(names, pieces, leaving))
    ]
    if client is None:
        return blocks_here(values)
    return without_empty(DaskBlocks(client, values, names))


def dask_blocks(  # noqa: PLR0913 -- a data set, and where it goes
    X: Any,
    y: Any = None,
    qid: Any = None,
    weight: Any = None,
    client: "Client | None" = None,
    shuffle: bool = False,
    keep: bool | None = None,
    worse_weight: Any = None,
) -> DaskBlocks | Blocks:
    """Make blocks of whole queries on the workers of a Dask cluster, or in this process.

    Without a client, Dask's own scheduler computes the partitions once: "threads", "processes" or
    "synchronous", as set in ``dask.config``. The blocks are then in the memory of this process.

    Parameters
    ----------
    X : dask array of shape (n, d), dask data frame, or Blocks
        Items. Each partition becomes a block on its worker; float32 and sparse chunks are not
        converted. Blocks of this process are sent to the workers. A few large partitions are faster
        than many small ones, because each sum over the data needs a task for each partition.
    y : dask array or series of shape (n,), or str
        Scores, or the name of a column of the data frame X. `qid` and `weight` may be names, too.
        Columns passed by name are not used as features, and each file is read only once for all of
        them. Not allowed with Blocks.
    qid, weight : as `y`, optional
        Query ids, by default one query; item weights.
    client : dask.distributed.Client, optional
        Client of the cluster; by default the client that Dask would use, which is the newest unless
        ``dask.config`` names another scheduler.
    shuffle : bool, default False
        Whether to move the rows of a query that spans several partitions to one of them.
    keep : bool, optional
        Whether blocks from files are read only once and stay on the workers. By default they stay
        if they and the numbers computed from them take at most 40% of the workers' memory limit.
        If they take more, if the workers have no limit, or if the blocks are transformed, each sum
        over the data reads the files again.
    worse_weight : as `weight`, optional
        Weights of items as the worse item of a preference. Their weight as the better item is then
        `weight`, or 1 without it; see :class:`rankbook.Block`.

    Returns
    -------
    DaskBlocks, or Blocks without a client
        Argument of :class:`rankbook.BlockRankSVMProblem` and of an estimator's ``fit``.

    Raises
    ------
    ImportError
        If dask, or with a client distributed, is not installed.
    MemoryError
        Without a client, if the items of a dask array do not fit in this process.
    TypeError, ValueError
        If partitions do not agree, an entry is not finite, or, without `shuffle`, a query spans two
        partitions. The message names the partition and row, or the query and both partitions.
    ConnectionError
        If the connection to the scheduler is lost.

    Notes
    -----
    Dask recomputes partitions and reads files again, but blocks that this process sent out are lost
    if their worker dies. The function makes one pass over the data, and this process receives
    O(queries) numbers.

    Examples
    --------
    >>> import dask.array as da
    >>> import rankbook as rb
    >>> X, y = da.random.normal(size=(6, 2), chunks=(3, 2)), da.arange(6, chunks=3)
    >>> rb.dask_blocks(X, y, qid=y // 3)
    Blocks(2 blocks)
    >>> from dask.distributed import Client, LocalCluster
    >>> options = dict(n_workers=1, processes=False, dashboard_address="127.0.0.1:0")
    >>> blocks = rb.Blocks(rb.Block([[0.0], [1.0]], [0, 1], [q, q]) for q in (1, 2))
    >>> with LocalCluster(**options) as cluster, Client(cluster) as client:
    ...     model = rb.RankSVM(kernel="linear").fit(rb.dask_blocks(blocks, client=client))
    >>> model.predict([[2.0], [3.0]]).argsort().tolist()
    [0, 1]
    """
    import_extra("dask", "dask", "dask_blocks")
    client = current_client() if client is None else client
    if client is None:
        if isinstance(X, Blocks):
            raise ArgumentError(
                "client is None, and there is no current client",
                "a dask.distributed.Client",
                "Without one, fit the blocks themselves.",
            )
    else:
        distributed = import_extra("distributed", "dask", "dask_blocks with a client")
        if not isinstance(client, distributed.Client):
            raise ArgumentError(f"client is {a_type(client)}", "a dask.distributed.Client")
        if client.asynchronous:
            raise ArgumentError("client is asynchronous", "a synchronous client")
        require_scheduler(client)
    given = dict(y=y, qid=qid, weight=weight, worse_weight=worse_weight)
    if isinstance(X, Blocks):
        for name, value in given.items():
            if value is not None:
                raise ArgumentError(f"{name} is given and X is Blocks, which have it", "X alone")
        blocks = sent_out(X, client, keep)
    else:
        blocks = partition_blocks(client, X, given)
    if shuffle:
        blocks = whole_queries(blocks)
    elif not isinstance(X, Blocks):
        block_facts(blocks)
    if isinstance(X, Blocks):  # a worker may read them again, so copies of text are kept
        blocks.read_from = [value for value in X.items.values if isinstance(value, Stored)]
    return blocks
