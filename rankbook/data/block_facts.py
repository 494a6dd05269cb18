"""Checks and facts of blocks."""

import operator
from dataclasses import dataclass
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from ..base.limits import LARGEST, SMALLEST, refuse_huge
from ..kernels.items import storage_of
from .blocks import BlocksLike, naming


class FactsOfBlock(NamedTuple):
    """Name, shape, storage, sorted ids, names of features and largest size of an entry."""

    name: str
    shape: tuple
    storage: str
    ids: Any
    feature_names: Any
    size: float


def facts_of(block):
    """The :class:`FactsOfBlock` of one block, in a list. An entry that is too large is refused."""
    values = block.X if isinstance(block.X, np.ndarray) else block.X.data
    size = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if size > LARGEST:
        with naming(block):
            refuse_huge("X", block.X)
    ids = None if block.qid is None else np.unique(block.qid)
    return [
        FactsOfBlock(block.name, block.X.shape, storage_of(block.X), ids, block.feature_names, size)
    ]


def kind_of_ids(ids):
    """Numbers, text, or a type: ids of two kinds are never equal."""
    kind = ids.dtype.kind
    if kind in "biuf" or kind == "O" and isinstance(ids[0], Number):
        return "numbers"
    if kind == "U" or isinstance(ids[0], str):
        return "text"
    return type(ids[0]).__name__ if kind == "O" else ids.dtype.name


@dataclass(frozen=True)
class BlockFacts:
    """What a data set in blocks holds.

    Attributes
    ----------
    n_items, n_features : int
    rows : list of int
        Items of each block.
    storages : set of str
        Of {"float64", "float32", "csr"}.
    feature_names : tuple of str, or None
    has_ids : bool
        Whether the items have query ids.
    """

    n_items: int
    n_features: int
    rows: list
    storages: set
    feature_names: Any = None
    has_ids: bool = False


def require_same(found):
    """A ValueError if blocks differ in features or their names, or in the kind of their ids."""
    first, *others = found
    for other in others:
        if other.shape[1] != first.shape[1]:
            raise ValueError(
                f"{other.name} has {other.shape[1]} features and {first.name} has "
                f"{first.shape[1]}; equal numbers are accepted."
            )
        if other.feature_names != first.feature_names:
            _refuse_names(first, other)
        if (other.ids is None) or (first.ids is None):
            lacking = other if other.ids is None else first
            raise ValueError(
                f"{lacking.name} has no qid, and there are {len(found)} blocks; "
                "query ids for every block are accepted."
            )
        if (theirs := kind_of_ids(other.ids)) != (kind := kind_of_ids(first.ids)):
            raise ValueError(
                f"{other.name} has query ids that are {theirs}, and those of {first.name} are "
                f"{kind}; ids of one kind are accepted."
            )


def _refuse_names(*two):
    """A ValueError that says where the names of two blocks differ."""
    lacking = [each.name for each in two if each.feature_names is None]
    if lacking:
        raise ValueError(
            f"{lacking[0]} has no names of features, and another block has; names in all or in "
            "none are accepted."
        )
    (a, one), (b, other) = ((each.name, each.feature_names) for each in two)
    j = next(j for j, (x, y) in enumerate(zip(one, other)) if x != y)
    raise ValueError(
        f"{b} has {other[j]!r} in column {j} and {a} has {one[j]!r}; equal names in one order are "
        "accepted."
    )


def require_whole(found):
    """A ValueError if a query is in two blocks. O(queries)."""
    seen = {}
    for block in found:
        for query in [] if block.ids is None else block.ids.tolist():
            if query in seen:
                raise ValueError(
                    f"the query {query!r} is in {seen[query]} and in {block.name}; "
                    "queries that are in one block each are accepted: sort the items by query, or "
                    "on Dask take rankbook.dask_blocks(..., shuffle=True)."
                )
            seen[query] = block.name


def block_facts(blocks: BlocksLike) -> BlockFacts:
    """What is in the blocks, after one pass over them. O(n d + n log n).

    Raises
    ------
    ValueError
        If blocks differ in their features or the kind of their query ids, a query is in two of
        them, or entries are too large or too small for their squares.
    """
    return as_facts(blocks.reduce(facts_of, blocks.items, combine=operator.add))


def as_facts(found):
    """The :class:`BlockFacts` of a list of FactsOfBlock."""
    found = [
        each._replace(name=f"block {k}") if each.name == "block" else each
        for k, each in enumerate(found)
    ]
    require_same(found)
    require_whole(found)
    if 0 < (size := max(block.size for block in found)) < SMALLEST:
        raise ValueError(
            f"X has no number above {size:g} in size; numbers of {SMALLEST:g} and above, or 0, are "
            "accepted, for squares of smaller ones vanish."
        )
    rows, first = [block.shape[0] for block in found], found[0]
    storages = {block.storage for block in found}
    names, has_ids = first.feature_names, first.ids is not None
    return BlockFacts(sum(rows), first.shape[1], rows, storages, names, has_ids)
