"""Blocks from files."""

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from rankbook.data.tables import (
    check_columns,
    finite_numbers,
    query_column,
    refuse_columns,
    require_finite_rows,
    require_ids,
)

from ..base.limits import require_memory
from ..base.ownership import locked
from ..base.validation import as_count, as_vector, unknown_name
from .blocks import Block, Blocks, Stored
from .pieces import ParquetTable, Piece
from .sources import Source, format_of
from .text_pieces import CSVTable, NumberedTable


def files_of(paths):
    """Paths of files, as a list of str; those of a pattern are sorted.

    Raises
    ------
    TypeError
        If `paths` is no path, and no list of them.
    FileNotFoundError
        If a pattern has no file.
    ValueError
        If there is none, or one twice.
    """
    several = [paths] if isinstance(paths, (str, PathLike)) else paths
    if not isinstance(several, Sequence) or not all(
        isinstance(path, (str, PathLike)) for path in several
    ):
        raise TypeError(f"paths is {paths!r}; a path, a pattern, or a list of them is accepted.")
    found = []
    for path in map(os.fspath, several):
        some = (
            sorted(glob.glob(path)) if glob.has_magic(path) and not os.path.exists(path) else [path]
        )
        if not some:
            raise FileNotFoundError(f"paths is {path!r}: no file has a name like this.")
        found += some
    if not found:
        raise ValueError("paths is empty; at least one file is accepted.")
    for i, path in enumerate(found):
        if path in found[:i]:
            raise ValueError(f"paths has {path!r} twice; each file once is accepted.")
    return found


def open_table(path):
    """A file that is to be read in pieces.

    Parameters
    ----------
    path : str or path
        As in :func:`rankbook.data.tables.read_table`, but not "-".

    Returns
    -------
    FileTable

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If it is empty, is not what its ending says, or cannot be read in pieces.
    """
    if str(path) == "-" or Path(path).is_fifo():
        raise ValueError(
            f"path is {str(path)!r}; files are accepted, as standard input and pipes are read once."
        )
    source = Source(path)
    kind = format_of(source)
    if kind == "Parquet":
        if source.content is not None:
            raise ValueError(f"{source} is Parquet packed by gzip; unpacked it is accepted.")
        return ParquetTable(source)
    if kind == "SVMlight text":
        return NumberedTable(source)
    return CSVTable(source, None if kind == "CSV text" else "\t")


@dataclass(frozen=True)
class Columns:
    """Names of the columns that are read: features, target, and perhaps queries and weights."""

    features: tuple
    target: str
    qid: str | None = None
    weight: str | None = None

    @property
    def names(self):
        """All of them, features first."""
        return [*self.features, *(c for c in (self.target, self.qid, self.weight) if c is not None)]


def columns_of(table, target=None, qid=None, features=None, weight=None, drop=()):
    """The :class:`Columns` of a file; see :func:`read_blocks`."""
    columns = table.columns
    if isinstance(table, NumberedTable):
        refuse_columns(table, target=target, qid=qid, weight=weight, drop=drop or None)
        target, qid = "label", "qid" if table.has_ids else "none"
    check_columns(table, columns, target, qid, drop)
    if isinstance(features, str):
        raise TypeError(f"features is {features!r}; a list of names is accepted.")
    if weight is not None and weight not in columns:
        raise unknown_name("weight", weight, columns)
    other = "makes it a feature" if features is None else "compares all rows"
    named = (*(features or ()), weight, *drop)
    query = query_column(table, columns, target, qid, named, other=other)
    others = {target, query, weight, *drop}
    if features is None:
        features = [name for name in columns if name not in others]
    for name in features:
        unseen = isinstance(table, NumberedTable) and name.startswith("feature ")
        if name in others or name not in columns and not unseen:
            raise unknown_name("features", name, [c for c in columns if c not in others])
    if not features:
        raise ValueError(
            f"{table} has no columns besides target {target!r} and qid {query!r}; "
            "at least one feature is needed."
        )
    found = Columns(tuple(features), target, query, weight)
    if len(set(found.names)) < len(found.names):
        raise ValueError(f"columns are {found.names}; each column once is accepted.")
    return found


def require_columns(first, table, wanted, exactly):
    """A ValueError if a file lacks a column, or, if they must agree exactly, has one too many."""
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise ValueError(
            f"{table} has no column {missing[0]!r}, which {first} has; "
            f"it has {', '.join(table.columns)}."
        )
    more = [name for name in table.columns if name not in first.columns] if exactly else []
    if more:
        raise ValueError(
            f"{table} has a column {more[0]!r}, which {first} has not; equal columns are "
            "accepted, or names of features."
        )


class FileBlock(Block):
    """A block whose numbers were checked as they were read."""

    def __post_init__(self, copy):
        for name in ("X", "y", "qid", "weight"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else locked(value))


@dataclass(frozen=True)
class BlockReader:
    """What reads a block from a piece of a file."""

    table: Any
    piece: Piece
    columns: Columns

    @property
    def name(self):
        """What an error calls the block."""
        return f"{self.table} (rows {self.piece.first} to {self.piece.stop - 1})"

    def __call__(self):
        """The :class:`FileBlock`."""
        columns, start = self.columns, self.piece.first
        frame = self.table.frame(self.piece, columns.names, columns.qid)
        X = numbers(self.table, frame.iloc[:, : len(columns.features)], start)
        y = finite_numbers(self.table, frame[[columns.target]], columns.target, start)[:, 0]
        qid = weight = None
        if columns.qid is not None:
            require_ids(self.table, frame[columns.qid], start)
            qid = frame[columns.qid].to_numpy()
        if columns.weight is not None:
            given = finite_numbers(self.table, frame[[columns.weight]], start=start)[:, 0]
            weight = as_vector(f"{columns.weight!r} of {self.name}", given, minimum=0.0)
        names = None if isinstance(self.table, NumberedTable) else columns.features
        return FileBlock(X, y, qid, weight, self.name, start, feature_names=names)


def numbers(table, frame, start):
    """The features (n, d) in a data frame, float32 if all of them are."""
    kinds = set(frame.dtypes)
    if len(kinds) == 1 and kinds <= {np.dtype(np.float64), np.dtype(np.float32)}:
        return require_finite_rows(table, frame.to_numpy(), list(frame.columns), start=start)
    return finite_numbers(table, frame, start=start)


def open_tables(paths):
    """The files that paths mean, a list of FileTable; a ValueError if they are of two kinds."""
    tables = [open_table(path) for path in files_of(paths)]
    first = tables[0]
    for table in tables[1:]:
        if isinstance(table, NumberedTable) != isinstance(first, NumberedTable):
            one, other = sorted((first, table), key=lambda t: not isinstance(t, NumberedTable))
            raise ValueError(
                f"{one} is SVMlight text and {other} is not; files of one kind are accepted."
            )
        if isinstance(table, NumberedTable) and table.has_ids != first.has_ids:
            one, other = sorted((first, table), key=lambda t: t.has_ids)
            raise ValueError(f"{one} has no qid and {other} has; in all or in none is accepted.")
    return tables


def require_width(table, width, pieces):
    """A MemoryError if the widest dense block of SVMlight text would not fit in memory."""
    rows = max(piece.stop - piece.first for _, piece in pieces)
    require_memory(
        (9 * rows + 70) * width,  # the numbers, a mask, and the names of the features
        f"a dense block of {rows} rows and {width} features in {table}",
        "number the features without gaps, or make blocks of fewer rows",
    )


def cut(tables, qid, rows, whole=True):
    """Pairs (table, piece) of all pieces of files, which from then on are read alike."""
    pieces = [(table, piece) for table in tables for piece in table.pieces(qid, rows, whole)]
    for table in tables:
        if isinstance(table, NumberedTable):
            first, last = zip(*(each.indices for each in tables))
            table.indices = min(first), max(last)
            require_width(table, max(last), pieces)
        if isinstance(table, CSVTable) and any(getattr(t, "ids_are_text", False) for t in tables):
            table.ids_are_text = True
    return pieces


def read_blocks(
    paths: str | PathLike | Sequence[str | PathLike],
    target: str | None = None,
    qid: str | None = None,
    features: Sequence[str] | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    rows: int = 1 << 18,
) -> Blocks:
    """Items to rank in files, as blocks of whole queries that are read when they are used.

    Parameters
    ----------
    paths : str, path or list of them
        A file, a pattern such as ``"logs/*.parquet"``, or several of both: Parquet, CSV, or
        SVMlight/LETOR text as for :func:`rankbook.data.tables.read_table`, all of one kind.
    target : str, optional
        The column to rank by. Needed for CSV and Parquet, refused for SVMlight, which has a label.
    qid : str, optional
        The column that names the query of a row, or "none"; by default found by its name.
    features : sequence of str, optional
        The columns that are features; by default all that are not named otherwise. Features that
        SVMlight text does not mention are 0.
    weight : str, optional
        The column of the weights of items.
    drop : sequence of str, optional
        Columns to leave out.
    rows : int, default 2**18
        About how many items a block has. A query is not cut; rows of a query must stand together.

    Returns
    -------
    Blocks
        Of values that are read each time. Items are float64, or float32 if all features of a file
        are.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        As :func:`rankbook.data.tables.read_table`, and if files differ in their columns. NaN,
        infinity and words are refused when the block is read, with the file and its row. A file
        that changes while it is used is refused.

    Warns
    -----
    Assumption
        If query ids, or decimal commas, were guessed.

    Notes
    -----
    One pass over the column of the queries, or over all text. A block of n items in Parquet takes
    16 n d bytes while it is read, and 8 n d then. Parquet should have row groups of about `rows`
    rows, and text should not be packed: either is else read from further in front for each block.

    Examples
    --------
    >>> import tempfile
    >>> import rankbook as rb
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("q,y,x\\n1,0,0.5\\n1,1,2\\n2,0,1\\n2,3,4\\n")
    ...     file.flush()
    ...     blocks = rb.read_blocks(file.name, target="y", qid="q", rows=1)
    ...     len(blocks), rb.BlockRankSVMProblem(blocks).n_preferences
    (2, 2)
    """
    rows, tables = as_count("rows", rows), open_tables(paths)
    first, roles = tables[0], (target, qid, features, weight, drop)
    if isinstance(first, NumberedTable):  # which features there are is known when it has been cut
        pieces = cut(tables, "qid", rows)
        columns = columns_of(first, *roles)
    else:
        columns = columns_of(first, *roles)
        for table in tables[1:]:
            wanted = first.columns if features is None else columns.names
            require_columns(first, table, wanted, features is None)
        pieces = cut(tables, columns.qid, rows)
    if not pieces:
        raise ValueError(f"{first} has names of columns but no rows.")
    return Blocks(Stored(BlockReader(table, piece, columns)) for table, piece in pieces)
