"""Blocks from Dask arrays and data frames."""

import operator
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.limits import import_extra
from .block_facts import block_facts, facts_of, require_same
from .blocks import Block, Blocks
from .dask_blocks import DaskBlocks, require_scheduler, sent_out

if TYPE_CHECKING:
    from dask.distributed import Client


def is_dask(value: Any) -> bool:
    """Whether this is a collection of Dask; imports nothing."""
    return hasattr(type(value), "__dask_graph__")


def known_rows(collection):
    """Rows of each partition, or None where Dask does not know them all."""
    rows = getattr(collection, "chunks", ((np.nan,),))[0]
    return None if np.isnan(rows).any() else rows


def delayed_parts(collection, as_is=False):
    """The partitions of a collection, one after the other.

    A column of a data frame is in fewer than the frame, where Dask reads small files together; if
    `as_is`, it is in the same, for which more than the column is read.
    """
    joins = hasattr(collection, "chunks") or not as_is
    parts = collection.to_delayed(optimize_graph=joins)
    return parts.ravel().tolist() if isinstance(parts, np.ndarray) else parts


def item_partitions(X, as_is=False):
    """Delayed partitions of items, and how many rows each has, or None."""
    if not is_dask(X):
        raise TypeError(
            f"X is a {type(X).__name__}; a dask array, a dask data frame or rankbook.Blocks is "
            "accepted."
        )
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions; a matrix (n, d) is accepted.")
    X = X.rechunk({1: -1}) if hasattr(X, "rechunk") else X
    return delayed_parts(X, as_is), known_rows(X)


def vector_partitions(name, value, count, rows):
    """Delayed partitions of a vector, as many as the items have; Nones for None."""
    if value is None:
        return [None] * count
    if not is_dask(value) or value.ndim != 1:
        raise TypeError(
            f"{name} is a {type(value).__name__}; a dask array or series (n,), or the name of a "
            "column of a dask data frame X, is accepted."
        )
    own_rows = known_rows(value)
    if rows is not None and own_rows is not None and own_rows != rows:
        if sum(own_rows) != sum(rows):
            raise ValueError(
                f"{name} has {sum(own_rows)} entries and X has {sum(rows)} rows; equal numbers are "
                "accepted."
            )
        value = value.rechunk((rows,))
    parts = delayed_parts(value, as_is=True)
    if len(parts) != count:
        raise ValueError(
            f"{name} has {len(parts)} partitions and X has {count}; the same are accepted. Dask "
            "joins files when it reads few of their columns: of a data frame better take X whole, "
            f"and {name} as the name of its column."
        )
    return parts


def as_block(name, first, X, y, qid, weight, names=None):
    """The block of a partition, on a worker; None if it is empty."""
    if X.shape[0] == 0:
        return None
    return Block(X, y, qid, weight, name, first, copy=False, feature_names=names)


def block_of_frame(name, first, frame, columns):
    """The same for a pandas frame; `columns` are names of y, qid and weight."""
    target = [None if column is None else frame[column] for column in columns]
    items = frame.drop(columns=[column for column in columns if column is not None])
    return as_block(name, first, items, *target)


def require_columns_of(frame, columns):
    """A ValueError unless a data frame has the columns."""
    for argument, column in zip(("y", "qid", "weight"), columns):
        if column is not None and column not in frame.columns:
            raise ValueError(
                f"{argument} is {column!r}, which X does not have; one of "
                f"{', '.join(map(str, frame.columns))} is accepted."
            )


def partition_blocks(client, X, y, qid, weight):
    """The :class:`DaskBlocks` of collections."""
    from dask import delayed

    by_name = isinstance(y, str) and hasattr(X, "columns")
    parts, rows = item_partitions(X, as_is=not by_name)
    firsts = [0] * len(parts) if rows is None else [0, *accumulate(rows)][:-1]
    places = [(f"partition {k}", first) for k, first in enumerate(firsts)]
    if by_name:
        require_columns_of(X, (y, qid, weight))
        make = delayed(partial(block_of_frame, columns=(y, qid, weight)), pure=False)
        made = [make(*place, part) for place, part in zip(places, parts)]
    else:
        given = (("y", y), ("qid", qid), ("weight", weight))
        vectors = [vector_partitions(*each, len(parts), rows) for each in given]
        make = delayed(as_block, pure=False)
        made = [make(*place, *some) for place, *some in zip(places, parts, *vectors)]
    blocks = DaskBlocks(client, client.compute(made), [name for name, _ in places])
    return without_empty(blocks)


def without_empty(blocks):
    """The blocks that there are."""
    there = blocks.reduce(_is_there, blocks.items, combine=operator.add)
    if not any(there):
        raise ValueError("X has no rows in any partition; at least one row is accepted.")
    keep = lambda values: [value for value, has in zip(values, there) if has]
    return DaskBlocks(blocks.client, keep(blocks.items.values), keep(blocks.names))


def _is_there(block):
    """Whether there is a block, in a list."""
    return [block is not None]


def query_sizes(block):
    """The ids of a block's queries, and their numbers of rows, in a list."""
    if block.qid is None:
        raise ValueError(f"{block.name} has no qid; query ids are accepted with shuffle=True.")
    return [np.unique(block.qid, return_counts=True)]


def new_homes(found):
    """Where the rows of queries go that are in several partitions.

    Parameters
    ----------
    found : list of (ids, rows)
        The queries of each partition.

    Returns
    -------
    dict
        Of pairs (from, to) of partitions, to lists of ids.
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


def rows_of(block, ids, inside=True):
    """The block of the rows of some queries, or of all other rows; None if there are none."""
    rows = np.isin(block.qid, np.asarray(ids).astype(block.qid.dtype), invert=not inside)
    pick = lambda value: None if value is None else value[rows]
    some = map(pick, (block.X, block.y, block.qid, block.weight))
    return as_block(block.name, 0, *some, block.feature_names)


def joined(name, blocks):
    """One block of the rows of all that are there; None if none is."""
    from scipy.sparse import vstack

    blocks = [block for block in blocks if block is not None]
    if not blocks:
        return None
    require_same([facts_of(block)[0] for block in blocks])
    stack = np.concatenate if all(isinstance(b.X, np.ndarray) for b in blocks) else vstack
    y, qid = (np.concatenate([getattr(block, key) for block in blocks]) for key in ("y", "qid"))
    weight = None
    if any(block.weight is not None for block in blocks):  # items without one weigh 1
        weights = [np.ones(len(b.y)) if b.weight is None else b.weight for b in blocks]
        weight = np.concatenate(weights)
    X = stack([block.X for block in blocks])
    return as_block(name, 0, X, y, qid, weight, blocks[0].feature_names)


def whole_queries(blocks: DaskBlocks) -> DaskBlocks:
    """Blocks in which no query is in two: rows of those that were have moved.

    Rows of a block keep their order, those of earlier blocks come first. O(n log n), and O(queries)
    in this process.
    """
    client, items = blocks.client, blocks.items.values
    moves = new_homes(blocks.reduce(query_sizes, blocks.items, combine=operator.add))
    leaving = [[] for _ in items]
    pieces = [{} for _ in items]
    for (k, home), ids in moves.items():
        leaving[k] += ids
        pieces[home][k] = client.submit(rows_of, items[k], np.array(ids), pure=False)
    for k, (item, ids) in enumerate(zip(items, leaving)):
        staying = partial(rows_of, ids=np.array(ids), inside=False)
        pieces[k][k] = client.submit(staying, item, pure=False) if ids else item
    values = [
        part[k]
        if len(part) == 1 and not ids
        else client.submit(joined, name, [part[j] for j in sorted(part)], pure=False)
        for k, (name, part, ids) in enumerate(zip(blocks.names, pieces, leaving))
    ]
    return without_empty(DaskBlocks(client, values, blocks.names))


def as_client(client):
    """The client, or that of this process."""
    distributed = import_extra("distributed", "dask", "dask_blocks")
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError as error:
            raise ValueError(
                "client is None, and no client was made; a dask.distributed.Client is accepted."
            ) from error
    if not isinstance(client, distributed.Client):
        raise TypeError(
            f"client is a {type(client).__name__}; a dask.distributed.Client is accepted."
        )
    if client.asynchronous:
        raise ValueError("client is asynchronous; one that waits for answers is accepted.")
    require_scheduler(client)
    return client


def dask_blocks(  # noqa: PLR0913 -- a data set, and where it goes
    X: Any,
    y: Any = None,
    qid: Any = None,
    weight: Any = None,
    client: "Client | None" = None,
    shuffle: bool = False,
    keep: bool = False,
) -> DaskBlocks:
    """A data set on the workers of a Dask cluster, as blocks of whole queries.

    Parameters
    ----------
    X : dask array of shape (n, d), dask data frame, or Blocks
        Items: partitions become blocks where they are; float32 and sparse chunks are kept as they
        are. Or the blocks of this process, to be sent out. A few large partitions are quicker than
        many small ones: each sum over the data takes a task for each.
    y : dask array or series of shape (n,), or str
        Their scores, or the name of the column of a data frame X; so are `qid` and `weight`, which
        are no features then, and files are read once. Not given with Blocks.
    qid, weight : the same, optional
        What names their queries, by default one query; weights of items.
    client : dask.distributed.Client, optional
        By default the one that was made last.
    shuffle : bool, default False
        Whether rows of queries that span partitions move to one of them.
    keep : bool, default False
        Whether blocks that are read from files are read once and stay on the workers; by default
        each sum reads them again.

    Returns
    -------
    DaskBlocks
        For :class:`rankbook.BlockRankSVMProblem`.

    Raises
    ------
    ImportError
        Without dask and distributed.
    TypeError, ValueError
        If partitions do not agree, an entry is not finite (with partition and row), or, without
        `shuffle`, a query spans two partitions (with all three names).
    ConnectionError
        If the scheduler is gone.

    Notes
    -----
    Blocks of this process have no recipe: where their worker dies they are lost. Partitions and
    files are computed or read again. A pass over the data; O(queries) comes to this process.

    Examples
    --------
    >>> import rankbook as rb
    >>> from dask.distributed import Client, LocalCluster
    >>> options = dict(n_workers=1, processes=False, dashboard_address="127.0.0.1:0")
    >>> blocks = rb.Blocks(rb.Block([[0.0], [1.0]], [0, 1], [q, q]) for q in (1, 2))
    >>> with LocalCluster(**options) as cluster, Client(cluster) as client:
    ...     model = rb.RankSVM(kernel="linear").fit(rb.dask_blocks(blocks, client=client))
    >>> model.predict([[2.0], [3.0]]).argsort().tolist()
    [0, 1]
    """
    client = as_client(client)
    if isinstance(X, Blocks):
        for name, value in (("y", y), ("qid", qid), ("weight", weight)):
            if value is not None:
                raise ValueError(
                    f"{name} is given and X is Blocks, which have it; None is accepted."
                )
        blocks = sent_out(X, client, keep)
    else:
        blocks = partition_blocks(client, X, y, qid, weight)
    if shuffle:
        return whole_queries(blocks)
    if not isinstance(X, Blocks):
        block_facts(blocks)
    return blocks
