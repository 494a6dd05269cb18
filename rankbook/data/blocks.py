"""Blocks of whole queries, sums over blocks, and their properties."""

import operator
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import InitVar, dataclass
from functools import cached_property, reduce
from itertools import islice
from numbers import Number
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ..base.errors import ArgumentError, a_type
from ..base.limits import LARGEST, SMALLEST, refuse_huge
from ..base.ownership import own
from ..base.progress import on_one_blas_thread
from ..base.tables import count
from ..base.validation import (
    as_count,
    as_flag,
    as_ids,
    as_items,
    as_vector,
    describe_value,
    is_iterable,
    require_kind,
    require_same_rows,
)
from ..kernels.items import matvec, own_rows, read_only_view, rmatvec, storage_of
from ..preferences.events import survival_fields
from ..preferences.graph import Preferences
from ..preferences.orders import survival_target


def as_feature_names(X, given=None):
    """Return the column names of items, a tuple of str, or None if there are no names.

    Raises a TypeError if only some columns of a data frame have text names, or the argument is not
    a list of text, and a ValueError if its length is wrong.
    """
    if given is None:
        names = tuple(getattr(X, "columns", ()))
        if not any(isinstance(name, str) for name in names):
            return None
    elif isinstance(given, str) or not is_iterable(given):
        raise ArgumentError(f"feature_names is {given!r}", "a list of names")
    else:
        names = tuple(given)
    d = np.shape(X)[1]
    if not all(isinstance(name, str) for name in names):
        whose = "X has columns named" if given is None else "feature_names has"
        raise ArgumentError(
            f"{whose} {', '.join(map(repr, names[:5]))}",
            "only names that are text" + ", or no names at all" * (given is None),
        )
    if len(names) != d:
        raise ArgumentError(
            f"feature_names has length {len(names)}",
            f"{count(d, 'name')}, one for each column of X",
        )
    return tuple(map(str, names))


ARRAYS = ("X", "y", "qid", "weight", "worse_weight")  # of a block, one entry for each item


@dataclass(frozen=True, eq=False)
class Block:
    """Whole queries of a data set.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Items, at least one. float32 and CSR are not converted.
    y : array-like of shape (n,)
        Scores of the items, where higher scores are preferred, or survival times in a structured
        array, as in scikit-survival, with strata as `qid`; see
        :meth:`rankbook.Preferences.from_survival`.
    qid : array-like of shape (n,), optional
        Query ids; by default the block is one query.
    weight : array-like of shape (n,), optional
        Item weights >= 0. The weight of a preference is the product of its two item weights.
    name : str, default "block"
        Name of the block in error messages.
    first : int, default 0
        Row number of the first item of the block in the source.
    copy : bool, default True
        Whether the block keeps copies. With False it refers to your arrays where no conversion is
        needed, and you must not change them.
    feature_names : sequence of str of length d, optional
        By default the column names of a data frame X, unless these are numbers.
    worse_weight : array-like of shape (n,), optional
        Weights of the items as the worse item of a preference. Their weight as the better item is
        then `weight`, or 1 without it; see :meth:`rankbook.Preferences.item_weighted`. Not allowed
        for survival times.

    Raises
    ------
    TypeError, ValueError
        If there is no item, lengths differ, or an entry is not finite. The message names the block.

    Examples
    --------
    >>> import numpy as np, rankbook as rb
    >>> rb.Block([[0.0], [1.0], [3.0]], [0, 1, 2], qid=[7, 7, 7]).X.shape
    (3, 1)
    >>> times = np.array([(True, 3.0), (False, 2.0)], dtype=[("event", bool), ("time", float)])
    >>> rb.Block([[0.0], [1.0]], times).is_survival
    True
    """

    X: Any  # arrays after construction
    y: Any
    qid: Any = None
    weight: Any = None
    name: str = "block"
    first: int = 0
    copy: InitVar[bool] = True
    feature_names: Any = None
    worse_weight: Any = None

    def __post_init__(self, copy):
        require_kind("name", self.name, str)
        as_count("first", self.first, 0)
        as_flag("copy", copy)
        with name_block(self):
            found = _as_block(self.X, self.y, self.qid, self.weight, self.worse_weight)
            names = as_feature_names(self.X, self.feature_names)
        found = dict(zip(ARRAYS, found), feature_names=names)
        self.__setstate__({name: _own_copy(value, copy) for name, value in found.items()})

    @property
    def is_survival(self) -> bool:
        """Whether y contains survival times, in the fields event and time."""
        return self.y is not None and self.y.dtype.names is not None

    @property
    def both_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights (n,) of the items as the better and as the worse one; 1 by default."""
        better = np.ones(len(self.y)) if self.weight is None else self.weight
        return better, better if self.worse_weight is None else self.worse_weight

    def preferences(self) -> Preferences:
        """Preferences made from the scores or times in each query, with the item weights."""
        if self.is_survival:
            return survival_target(self.y, self.qid, self.weight)
        prefs = Preferences.from_scores(self.y, self.qid)
        if self.weight is None and self.worse_weight is None:
            return prefs
        return prefs.item_weighted(self.both_weights[0], self.worse_weight)

    def named_items(self) -> Any:
        """X as a data frame that shares its memory, if X has names; sparse items unchanged."""
        if self.feature_names is None or not isinstance(self.X, np.ndarray):
            return self.X
        import pandas as pd

        return pd.DataFrame(self.X, columns=list(self.feature_names), copy=False)

    def __sizeof__(self):
        return nbytes_of(vars(self))

    def __setstate__(self, state):
        # arrays from another process may be unaligned
        vars(self).update({name: _own_copy(value, copy=False) for name, value in state.items()})


@dataclass(frozen=True, eq=False)
class CheckedBlock(Block):
    """Block of a table whose numbers were checked while they were read.

    It may lack scores y. `item_names` are the names of its rows, if it has names, and `cluster` the
    ids of their clusters.
    """

    item_names: Any = None
    cluster: Any = None

    def __post_init__(self, copy):
        for name in ARRAYS:
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else read_only_view(value))


@contextmanager
def name_block(block):
    """Name the block in an error message."""
    try:
        yield
    except (TypeError, ValueError) as error:
        from_row = f" (from row {block.first})" if block.first else ""
        if isinstance(error, ArgumentError):
            raise error.renamed(f"{block.name}{from_row}: {error.argument}") from error
        raise ValueError(f"{block.name}{from_row}: {error}") from error


def _own_copy(value, copy):
    """Return a read-only copy, or a view of aligned arrays; other values unchanged."""
    if isinstance(value, np.ndarray):
        return own(value) if copy or not value.flags.aligned else read_only_view(value)
    if not hasattr(value, "indptr"):
        return value
    aligned = value.data.flags.aligned and value.indices.flags.aligned
    return own_rows(value) if copy or not aligned else read_only_view(value)


def nbytes_of(value):
    """Return the bytes of all arrays in a value, its items and its attributes."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    value = value if isinstance(value, (dict, tuple, list)) else getattr(value, "__dict__", ())
    return sum(map(nbytes_of, value.values() if isinstance(value, dict) else value))


def _as_block(X, y, qid, *weights):
    """Return arrays of equal length with finite entries."""
    require_same_rows(X=X, y=y, qid=qid, **dict(zip(("weight", "worse_weight"), weights)))
    X = as_items("X", X)
    n = X.shape[0]
    if n == 0:
        raise ArgumentError("X has no rows", "at least one row")
    if qid is not None:
        as_ids("qid", qid, n)
        qid = np.asarray(qid)
    y = _as_target(y, n)
    if y.dtype.names is not None and weights[1] is not None:
        raise ArgumentError(
            "worse_weight is given and y contains survival times",
            "only weight, because censored patients are never the worse ones",
        )
    named = zip(("weight", "worse_weight"), weights)
    weights = [None if w is None else as_vector(name, w, n, minimum=0.0) for name, w in named]
    return X, y, qid, *weights


def _as_target(y, n):
    """Return scores (n,), or survival times in a structured array."""
    if (fields := survival_fields(y)) is None:
        return as_vector("y", y, n)
    found = np.empty(n, dtype=[("event", bool), ("time", np.float64)])
    found["time"], found["event"] = as_vector("y", fields[0], n), fields[1]
    return found


class Parts:
    """One value for each block, stored where the block is.

    Parts of vectors support sums, products with a number, and the product ``a @ b``.

    Attributes
    ----------
    blocks : BlocksLike
    values : tuple
        One value for each block, in the form in which `blocks` stores them.
    """

    __array_ufunc__ = None  # so that numpy's numbers leave the product to this class

    def __init__(self, blocks, values):
        self.blocks, self.values = blocks, tuple(values)

    def __add__(self, other):
        return self.blocks.map(operator.add, self, other)

    def __sub__(self, other):
        return self.blocks.map(operator.sub, self, other)

    def __rmul__(self, number):
        return self.blocks.map(operator.mul, number, self)

    def __matmul__(self, other):
        return self.blocks.reduce(dot, self, other)


@on_one_blas_thread
def dot(first, second):
    """Return the product of two vectors of one block."""
    return first @ second


GROUP = 32  # number of results that are added one after the other


def add_results(first, second):
    """Add the results of two blocks: numbers, arrays, or tuples of these entry by entry."""
    if isinstance(first, tuple):
        return tuple(map(add_results, first, second))
    return first + second


def in_groups(combine, values):
    """Combine all values in groups of GROUP in order, then the groups in the same way."""
    values = iter(values)
    found = [reduce(combine, islice(values, GROUP - 1), first) for first in values]
    return found[0] if len(found) == 1 else in_groups(combine, found)


@dataclass(frozen=True)
class Stored:
    """Value that is read at each use or, with `keeps`, at the first use only.

    `nbytes` is the memory that a block and the values computed from it need, if known.
    """

    read: Callable[[], Any]
    keeps: bool = False
    nbytes: float = np.inf

    @cached_property
    def _kept(self):
        return self.read()

    @property
    def value(self):
        """Return the value."""
        return self._kept if self.keeps else self.read()

    def __reduce__(self):  # each process reads it itself
        return Stored, (self.read, self.keeps, self.nbytes)


@dataclass(frozen=True)
class Transformed:
    """Reader of a block whose items are changed by a fitted scikit-learn transformer."""

    read: Callable[[], Block]
    transformer: Any

    def __call__(self):
        """Read the block. It has feature names if the transformer returns a data frame."""
        block = self.read()
        is_named = getattr(self.transformer, "feature_names_in_", None) is not None
        with name_block(block):
            X = self.transformer.transform(block.named_items() if is_named else block.X)
        others = {name: getattr(block, name) for name in ARRAYS[1:]}
        return Block(X, **others, name=block.name, first=block.first, copy=False)


class Blocks:
    """Blocks of whole queries in this process, in memory or read when they are needed.

    ``for block in blocks`` iterates over them.

    Parameters
    ----------
    blocks : iterable of Block or Stored
        Blocks of whole queries, at least one.

    Attributes
    ----------
    items : Parts
        The blocks themselves.

    Raises
    ------
    TypeError, ValueError
        If there are no blocks, or an entry is not a block.

    Examples
    --------
    >>> import numpy as np, rankbook as rb
    >>> blocks = rb.Blocks(rb.Block(np.ones((n, 1)), np.arange(n)) for n in (2, 3))
    >>> blocks.reduce(lambda block, w: float(block.X.sum() * w), blocks.items, 10.0)
    50.0
    """

    # whether reading the items costs more than the computation
    is_stored = False

    def __init__(self, blocks: Iterable[Block | Stored]) -> None:
        if not is_iterable(blocks):
            raise ArgumentError(f"blocks is {a_type(blocks)}", "a list of Block")
        blocks = tuple(blocks)
        if not blocks:
            raise ArgumentError("blocks is empty", "at least one block")
        for k, block in enumerate(blocks):
            if not isinstance(block, (Block, Stored)):
                raise ArgumentError(f"blocks[{k}] is {a_type(block)}", "rankbook.Block")
        self._blocks = blocks
        self.is_stored = any(isinstance(block, Stored) and not block.keeps for block in blocks)

    @property
    def items(self) -> Parts:
        """Blocks of this object."""
        return Parts(self, self._blocks)  # new at each call: a file ends with its last reference

    def transform(self, transformer: Any) -> "Blocks":
        """Return the same blocks with items ``transformer.transform(X)``.

        Parameters
        ----------
        transformer : object
            A fitted transformer, such as scikit-learn's StandardScaler after ``partial_fit`` on
            each block. It receives data frames if it was fitted to data frames, otherwise arrays.

        Returns
        -------
        Blocks
            Blocks that are read at each use are transformed each time.

        Examples
        --------
        >>> import rankbook as rb
        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn.preprocessing import StandardScaler
        >>> blocks = rb.Blocks([rb.Block([[100.0], [300.0]], [0, 1])])
        >>> scaler = StandardScaler()
        >>> for block in blocks:
        ...     _ = scaler.partial_fit(block.X)
        >>> model = rb.RankSVM(kernel="linear").fit(blocks.transform(scaler))
        >>> pipeline = make_pipeline(scaler, model)  # both are fitted: it takes raw items
        >>> pipeline.predict([[100.0], [300.0]]).argsort().tolist()
        [0, 1]
        """
        if not callable(getattr(transformer, "transform", None)):
            raise ArgumentError(
                f"transformer is {describe_value(transformer)}",
                "a fitted scikit-learn transformer, such as a StandardScaler",
            )

        def changed(block):
            if isinstance(block, Stored):
                return Stored(Transformed(block.read, transformer), block.keeps)
            return Transformed(lambda: block, transformer)()

        return Blocks(map(changed, self._blocks))

    def __len__(self) -> int:
        return len(self._blocks)

    def __iter__(self) -> Iterator[Block]:
        return self._values(lambda block: block, (self.items,))

    def __repr__(self) -> str:
        return f"Blocks({len(self)} blocks{', read when used' * self.is_stored})"

    def map(self, function: Callable[..., Any], *arguments: Any) -> Parts:
        """Apply a function to each block, and return the values as :class:`Parts`."""
        return Parts(self, list(self._values(function, arguments)))

    def reduce(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        combine: Callable[[Any, Any], Any] = add_results,
    ) -> Any:
        """Sum a function's values over the blocks, in their order."""
        return in_groups(combine, self._values(function, arguments))

    def _values(self, function, arguments):
        """Yield the function's values, block by block; the next block is read meanwhile."""

        def at(number):
            found = [a.values[number] if isinstance(a, Parts) else a for a in arguments]
            return [value.value if isinstance(value, Stored) else value for value in found]

        if not self.is_stored:
            yield from (function(*at(number)) for number in range(len(self)))
            return
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(at, 0)
            for number in range(1, len(self) + 1):
                values = ahead.result()
                ahead = reader.submit(at, number) if number < len(self) else None
                yield function(*values)


@runtime_checkable
class BlocksLike(Protocol):
    """Interface of blocks that methods use: :class:`Blocks`, or blocks in other places."""

    is_stored: bool

    @property
    def items(self) -> Parts: ...

    def __len__(self) -> int: ...

    def map(self, function: Callable[..., Any], *arguments: Any) -> Parts:
        """As in :class:`Blocks`."""
        ...

    def reduce(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        combine: Callable[[Any, Any], Any] = add_results,
    ) -> Any:
        """As in :class:`Blocks`."""
        ...


def require_blocks(argument, value):
    """Raise a TypeError unless the argument is a set of blocks."""
    if not isinstance(value, BlocksLike):
        raise ArgumentError(
            f"{argument} is {a_type(value)}",
            "rankbook.Blocks, or the result of rankbook.dask_blocks",
        )


@on_one_blas_thread
def times_items(block, w):
    """Return X w (n,) of one block."""
    return matvec(block.X, w)


@on_one_blas_thread
def items_times(block, v):
    """Return X' v (d,) of one block."""
    return rmatvec(block.X, v)


@dataclass(frozen=True)
class BlockedItems:
    """Items of all blocks as a matrix X: ``X @ w`` are Parts, ``X.T @ v`` is a vector.

    O(n d) each.
    """

    blocks: BlocksLike
    shape: tuple[int, int]
    is_transposed: bool = False

    dtype = np.dtype(np.float64)  # of the products

    @property
    def T(self):  # noqa: N802 -- as numpy calls it
        """Transposed matrix."""
        return BlockedItems(self.blocks, self.shape[::-1], not self.is_transposed)

    def __matmul__(self, other):
        if self.is_transposed:
            return self.blocks.reduce(items_times, self.blocks.items, other)
        return self.blocks.map(times_items, self.blocks.items, other)


class FactsOfBlock(NamedTuple):
    """Facts about a block, such as its shape, storage, sorted ids, names and kind of target."""

    name: str
    shape: tuple
    storage: str
    ids: Any
    feature_names: Any
    size: float
    is_survival: bool = False


def facts_of(block):
    """Return the :class:`FactsOfBlock` of one block in a list; refuse entries too large."""
    values = block.X if isinstance(block.X, np.ndarray) else block.X.data
    size = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if size > LARGEST:
        with name_block(block):
            refuse_huge("X", block.X)
    ids = None if block.qid is None else np.unique(block.qid)
    about = storage_of(block.X), ids, block.feature_names, size, block.is_survival
    return [FactsOfBlock(block.name, block.X.shape, *about)]


def kind_of_ids(ids):
    """Return the kind of ids: numbers, text, or a type. Ids of two kinds are never equal."""
    kind = ids.dtype.kind
    if kind in "biuf" or kind == "O" and isinstance(ids[0], Number):
        return "numbers"
    if kind == "U" or isinstance(ids[0], str):
        return "text"
    return type(ids[0]).__name__ if kind == "O" else ids.dtype.name


@dataclass(frozen=True)
class BlockFacts:
    """Properties of a data set in blocks.

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
    """Raise a ValueError if blocks differ in features, feature names, or kind of ids."""
    first, *others = found
    for other in others:
        if other.shape[1] != first.shape[1]:
            raise ArgumentError(
                f"{other.name} has {count(other.shape[1], 'feature')} and {first.name} has "
                f"{first.shape[1]}",
                "blocks with the same number of features",
            )
        if other.feature_names != first.feature_names:
            _refuse_names(first, other)
        if other.is_survival != first.is_survival:
            timed, scored = (other, first) if other.is_survival else (first, other)
            raise ArgumentError(
                f"{timed.name} has survival times and {scored.name} has scores",
                "the same kind of y in all blocks",
            )
        if (other.ids is None) or (first.ids is None):
            lacking = other if other.ids is None else first
            raise ArgumentError(
                f"{lacking.name} has no qid, and there are {len(found)} blocks",
                "query ids for every block",
            )
        if (theirs := kind_of_ids(other.ids)) != (kind := kind_of_ids(first.ids)):
            raise ArgumentError(
                f"{other.name} has query ids that are {theirs}, and those of {first.name} are "
                f"{kind}",
                "query ids of one kind",
            )


def _refuse_names(*two):
    """Raise an ArgumentError that reports where the feature names of two blocks differ."""
    lacking = [each.name for each in two if each.feature_names is None]
    if lacking:
        raise ArgumentError(
            f"{lacking[0]} has no feature names, but another block has",
            "names in all blocks or in none",
        )
    (a, one), (b, other) = ((each.name, each.feature_names) for each in two)
    j = next(j for j, (x, y) in enumerate(zip(one, other)) if x != y)
    raise ArgumentError(
        f"{b} has {other[j]!r} in column {j} and {a} has {one[j]!r}",
        "the same names in the same order",
    )


def require_whole(found):
    """Raise a ValueError if a query is in two blocks. O(queries)."""
    seen = {}
    for block in found:
        for query in [] if block.ids is None else block.ids.tolist():
            if query in seen:
                raise ArgumentError(
                    f"blocks have the query {query!r} in {seen[query]} and in {block.name}",
                    "all items of a query in one block: sort them by query, or on Dask use "
                    "rankbook.dask_blocks(..., shuffle=True)",
                )
            seen[query] = block.name


def block_facts(blocks: BlocksLike) -> BlockFacts:
    """Return the properties of blocks after one pass over them. O(n d + n log n).

    Raises
    ------
    ValueError
        If blocks differ in their features or the kind of their query ids, a query is in two of
        them, or entries are too large or too small for their squares.
    """
    return as_facts(blocks.reduce(facts_of, blocks.items, combine=operator.add))


def as_facts(found):
    """Combine a list of FactsOfBlock into :class:`BlockFacts`."""
    found = [
        each._replace(name=f"block {k}") if each.name == "block" else each
        for k, each in enumerate(found)
    ]
    require_same(found)
    require_whole(found)
    if 0 < (size := max(block.size for block in found)) < SMALLEST:
        raise ArgumentError(
            f"X has no number above {size:g} in absolute value",
            f"numbers of at least {SMALLEST:g}, because the squares of smaller numbers underflow",
        )
    rows, first = [block.shape[0] for block in found], found[0]
    storages = {block.storage for block in found}
    names, has_ids = first.feature_names, first.ids is not None
    return BlockFacts(sum(rows), first.shape[1], rows, storages, names, has_ids)
