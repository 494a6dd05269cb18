"""Blocks from files that are read in pieces."""

import glob
import gzip
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, count, islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..base.limits import import_extra, require_memory
from ..base.validation import as_count
from .blocks import Blocks, Stored
from .table import (
    Roles,
    Source,
    check_names,
    chosen_decimals,
    data_lines,
    find_roles,
    numbered_frame,
    read_csv,
    read_svmlight,
    separator_of,
    show_line,
    with_columns,
)

CHUNK = 1 << 16  # rows that are looked at together


@dataclass(frozen=True)
class Piece:
    """Rows of a file from `first` up to `stop`; in text its bytes, and its first line's number."""

    first: int
    stop: int
    begin: int = 0
    end: int = 0
    line: int = 1


def cuts(chunks, goals):
    """Rows at which pieces may begin, one for each goal, with where they are; the end is the last.

    Parameters
    ----------
    chunks : iterable of (ids, places)
        What names the queries of some rows (m,), and whole numbers (m, 2) that say where a row is.
        The last chunk has one place, of the end, and no ids.
    goals : iterable of int
        Rows, rising.

    Returns
    -------
    list of (row, place)
    """
    goals, first, last = iter(goals), 0, None
    goal, found = next(goals, None), []
    for ids, places in chunks:
        if len(ids) == 0:  # the end
            return [*found, (first, tuple(map(int, places[0])))]
        begins = np.flatnonzero(np.r_[first == 0 or ids[0] != last, ids[1:] != ids[:-1]])
        if first == 0:
            found.append((0, tuple(map(int, places[0]))))
        while goal is not None and (at := np.searchsorted(begins, goal - first)) < begins.size:
            i = int(begins[at])
            if first + i > found[-1][0]:
                found.append((first + i, tuple(map(int, places[i]))))
            goal = next(goals, None)
        first, last = first + len(ids), ids[-1]


class FileTable:
    """A file that is read in pieces.

    Attributes
    ----------
    path : str
        As errors call it.
    columns : list of str
    first_row, first_line : int
        Numbers of what comes first.
    """

    first_row, first_line, is_numbered = 0, 1, False

    def __init__(self, source):
        self.path = str(source)
        self.stamp = self._stamp()

    def __str__(self):
        return self.path

    def _stamp(self):
        """Size and time of the last change."""
        facts = os.stat(self.path)
        return facts.st_size, facts.st_mtime_ns

    def require_unchanged(self):
        """A ValueError if the file has changed since it was looked at."""
        if self._stamp() != self.stamp:
            raise ValueError(
                f"{self} has changed since it was looked at; a file that stays as it is until "
                "the computation ends is accepted."
            )

    def pieces(self, qid=None, rows=CHUNK, whole=True):
        """The pieces (a list) of about so many rows.

        No query is cut: rows with the same id in the column `qid`, or all rows where it is None;
        unless whole is False.
        """
        found = cuts(self.chunks(qid, whole), self.goals(rows))
        return [
            Piece(row, stop, begin, end, line)
            for (row, (begin, line)), (stop, (end, _)) in zip(found, found[1:])
        ]

    def goals(self, rows):
        """Rows at which a piece would best begin."""
        return count(rows, rows)


def ids_of(numbers, whole):
    """What takes the place of ids for rows (m,) of these numbers: one query, or one for each."""
    return np.zeros(len(numbers)) if whole else numbers


BUFFER = 1 << 20  # bytes of a column of a large row group that are read at a time


class ParquetTable(FileTable):
    """A Parquet file; `sizes` are the rows of its row groups."""

    def __init__(self, source):
        super().__init__(source)
        parquet = self._opened()
        self.columns = [str(name) for name in parquet.schema_arrow.empty_table().to_pandas()]
        check_names(self, self.columns)
        facts = parquet.metadata
        self.sizes = [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]

    def _opened(self, buffer=0):
        """The file of pyarrow, which reads columns whole, or so many bytes at a time."""
        parquet = import_extra("pyarrow.parquet", "data", f"reading {self} as Parquet")
        try:
            return parquet.ParquetFile(self.path, buffer_size=buffer, pre_buffer=False)
        except (OSError, ValueError) as error:  # every error of pyarrow is one of the two
            raise ValueError(f"{self} cannot be read as Parquet: {error}") from error

    def goals(self, rows):
        """Ends of row groups, small ones together; those of equal parts of large ones."""
        last = at = 0
        for size in self.sizes:
            if at > last and at + size - last > rows:
                yield (last := at)
            parts = -(-size // rows)
            for i in range(1, parts):
                yield (last := at + i * size // parts)
            at += size

    def chunks(self, qid, whole):
        """Ids and places of rows, see :func:`cuts`."""
        first = 0
        for batch in self._batches([] if qid is None else [qid], 0, sum(self.sizes)):
            m = batch.num_rows
            numbers = np.arange(first, first + m)
            ids = ids_of(numbers, whole) if qid is None else _frame([batch], [qid])[qid].to_numpy()
            yield ids, np.zeros((m, 2), np.int64)
            first += m
        yield (), [(0, 1)]

    def _batches(self, columns, first, stop, rows=CHUNK):
        """Record batches of so many rows or fewer, with the rows from `first` up to `stop`."""
        ends = list(accumulate(self.sizes))
        groups = [i for i, n in enumerate(self.sizes) if ends[i] > first and ends[i] - n < stop]
        at = ends[groups[0]] - self.sizes[groups[0]] if groups else 0
        try:
            large = any(self.sizes[i] > 2 * rows for i in groups)
            file = self._opened(BUFFER if large else 0)
            for batch in file.iter_batches(rows, groups, columns):
                rows = slice(max(first - at, 0), min(stop - at, batch.num_rows))
                if rows.start < rows.stop:
                    yield batch.slice(rows.start, rows.stop - rows.start)
                at += batch.num_rows
                if at >= stop:
                    return
        except (OSError, ValueError) as error:
            raise ValueError(f"{self} cannot be read as Parquet: {error}") from error

    def frame(self, piece, columns, ids=None):
        """Some columns of a piece as a DataFrame; `ids` is for text."""
        self.require_unchanged()
        rows = piece.stop - piece.first  # one batch is brought into one array soonest
        batches = list(self._batches(columns, piece.first, piece.stop, rows))
        return _frame(batches, columns)


def _frame(batches, columns):
    """Columns of record batches as one DataFrame, those of one type in one array."""
    import pyarrow

    table = pyarrow.Table.from_batches(batches).select(columns)
    del batches[:]
    return table.to_pandas(self_destruct=True, ignore_metadata=True, use_threads=False)


class Excerpt:
    """Bytes of a file, for the readers: in place of a :class:`rankbook.data.table.Source`."""

    def __init__(self, table, piece, before=b""):
        self.label, self.first_row, self.first_line = str(table), piece.first, piece.line
        with opened(table.path) as stream:
            stream.seek(piece.begin)
            self.content = before + stream.read(piece.end - piece.begin)

    def __str__(self):
        return self.label

    def open(self):
        """A binary stream, from the beginning."""
        return io.BytesIO(self.content)


def opened(path):
    """A binary stream of the text in a file, packed or not."""
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else open(path, "rb")


def records(stream):
    """Place, number of the line and bytes of every row of CSV text; empty lines are left out."""
    place, number = 0, 1
    for line in stream:
        raw, lines = line, 1
        while raw.count(b'"') % 2 and (more := next(stream, b"")):
            raw, lines = raw + more, lines + 1
        if raw.strip():
            yield place, number, raw
        place, number = place + len(raw), number + lines


class CSVTable(FileTable):
    """Text with a header; `ids_are_text` is known when it has been cut."""

    def __init__(self, source, separator=None):
        super().__init__(source)
        self.separator, self.decimal = separator or separator_of(source), "."
        with opened(self.path) as stream:
            rows = list(islice(records(stream), 1 + CHUNK))
        (_, _, self.header), *rows = rows
        self.header = self.header.rstrip(b"\r\n") + b"\n"
        if b"\r" in self.header:
            raise ValueError(
                f"{self} has a carriage return alone at the end of a line; a line feed, or both, "
                "is accepted in files that are read in blocks."
            )
        start = Piece(0, 0, 0, rows[-1][0] + len(rows[-1][2]) if rows else len(self.header))
        read = lambda decimal: read_csv(Excerpt(self, start), self.separator, decimal)
        frame = read(".")
        if self.separator == ";":
            commas = read(",")
            self.decimal = "," if chosen_decimals(self, frame, commas) is commas else "."
        self.columns = list(frame.columns)
        self.ids_are_text = False

    def chunks(self, qid, whole):
        """Ids and places of rows, see :func:`cuts`."""
        kinds, first, before, run = set(), 0, [], 0
        with opened(self.path) as stream:
            rows, end = islice(records(stream), 1, None), (0, 1)
            while some := list(islice(rows, CHUNK)):
                places = np.array([row[:2] for row in some])
                numbers = np.arange(first, first + len(some))
                ids = ids_of(numbers, whole)
                if qid is not None:  # the row before them is read alike, be it a number or a word
                    lines = [*before, *(row[2] for row in some)]
                    found = self._ids(qid, lines, first - len(before))
                    ids = run + np.r_[[0][len(before) :], (found[1:] != found[:-1]).cumsum()]
                    before, run = lines[-1:], ids[-1]
                    kinds.add(found.dtype.kind)
                yield ids, places
                first, end = first + len(some), (some[-1][0] + len(some[-1][2]), 0)
        self.ids_are_text = not kinds <= set("iuf")
        yield (), [end]

    def _ids(self, qid, rows, first):
        """The ids of some rows."""
        import pandas as pd

        content = io.BytesIO(self.header + b"".join(rows))
        options = dict(sep=self.separator, skipinitialspace=True, index_col=False)
        try:
            at = self.columns.index(qid)
            found = pd.read_csv(content, usecols=[at], **options).iloc[:, 0]
        except (pd.errors.ParserError, UnicodeDecodeError) as error:
            raise ValueError(f"{self} cannot be read as CSV text: {error}") from error
        if len(found) != len(rows):
            raise ValueError(
                f"{self} has {len(rows)} lines from row {first} on, which are read as {len(found)} "
                "rows; quotation marks in pairs, and no line of separators alone, are accepted."
            )
        return found.to_numpy()

    def frame(self, piece, columns, ids=None):
        """Some columns of a piece as a DataFrame; the column `ids` as text if it has any."""
        self.require_unchanged()
        excerpt = Excerpt(self, piece, self.header)
        types = {ids: str} if ids is not None and self.ids_are_text else None
        try:
            frame = read_csv(excerpt, self.separator, self.decimal, types)
        except ValueError as error:
            error.add_note(f"This part of the file begins in line {piece.line}.")
            raise
        if len(frame) != piece.stop - piece.first:
            raise ValueError(
                f"{self} has {piece.stop - piece.first} lines from row {piece.first} on, which are "
                f"read as {len(frame)} rows; quotation marks in pairs are accepted."
            )
        return frame[list(columns)]


class NumberedTable(FileTable):
    """SVMlight or LETOR text.

    Attributes
    ----------
    indices : (int, int)
        The first feature, 0 or 1, and the last. Files that are read together have them in common.
    has_ids : bool
        Whether its lines name queries.
    """

    is_numbered = True

    def __init__(self, source):
        super().__init__(source)
        _, line = next(data_lines(source), (1, b""))
        self.has_ids = any(word.startswith(b"qid:") for word in line.split(None, 2)[1:2])
        self.indices = (1, 0)

    @property
    def columns(self):
        """As in :func:`rankbook.data.table.read_frame`."""
        first, last = self.indices
        ids = ["qid"] if self.has_ids else []
        return ["label", *ids, *(f"feature {j}" for j in range(first, last + 1))]

    def chunks(self, qid, whole):
        """Ids and places of rows, see :func:`cuts`; the indices are known afterwards."""
        first, place = 0, 0
        with opened(self.path) as stream:
            ids, places = [], []
            for number, line in enumerate(stream, start=1):
                body = line.partition(b"#")[0]
                if words := body.split(None, 2):
                    ids.append(self._looked_at(number, line, words))
                    places.append((place, number))
                place += len(line)
                if len(ids) == CHUNK:
                    yield self._chunk(ids, places, first, whole)
                    first, ids, places = first + len(ids), [], []
        if ids:
            yield self._chunk(ids, places, first, whole)
        yield (), [(place, 0)]

    def _chunk(self, ids, places, first, whole):
        """Ids and places of some rows."""
        numbers = np.arange(first, first + len(ids))
        ids = np.array(ids) if self.has_ids and whole else ids_of(numbers, whole)
        return ids, np.array(places)

    def _looked_at(self, number, line, words):
        """The id of a line, after its indices have been noted."""
        try:
            named = len(words) > 1 and words[1].startswith(b"qid:")
            id = int(words[1][4:]) if named else None
            features = b" ".join(words[2 if named else 1 :])
            if b":" in features:
                low = int(features.partition(b":")[0])
                high = int(features.rpartition(b":")[0].split()[-1])
                self.indices = (0 if low == 0 else self.indices[0], max(self.indices[1], high))
        except ValueError as error:
            raise ValueError(
                f"{self} is not SVMlight text in {show_line(number, line)}; "
                "`label qid:query index:value ...` is accepted, indices rising."
            ) from error
        if named != self.has_ids:
            raise ValueError(
                f"{self} has qid on some of its lines and not on all, see "
                f"{show_line(number, line)}; on all or on none is accepted."
            )
        return id

    def frame(self, piece, columns, ids=None):
        """Some columns of a piece as a DataFrame; features that no file mentions are 0."""
        self.require_unchanged()
        X, names, y, qid = read_svmlight(Excerpt(self, piece), self.indices)
        frame = numbered_frame(X, names, y, qid if self.has_ids else None)
        return with_columns(frame, columns)


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
        As in :func:`rankbook.data.table.read_table`, but not "-".

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
    if source.kind == "Parquet":
        if source.content is not None:
            raise ValueError(f"{source} is Parquet packed by gzip; unpacked it is accepted.")
        return ParquetTable(source)
    if source.is_numbered:
        return NumberedTable(source)
    return CSVTable(source, None if source.kind == "CSV text" else "\t")


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


@dataclass(frozen=True)
class BlockReader:
    """What reads a block from a piece of a file."""

    table: Any
    piece: Piece
    roles: Roles

    @property
    def name(self):
        """What an error calls the block."""
        return f"{self.table} (rows {self.piece.first} to {self.piece.stop - 1})"

    def __call__(self):
        """The block."""
        frame = self.table.frame(self.piece, self.roles.columns, self.roles.qid)
        return self.roles.read(self.table, frame, self.piece.first, self.name)


def open_tables(paths):
    """The files that paths mean, a list of FileTable; a ValueError if they are of two kinds."""
    tables = [open_table(path) for path in files_of(paths)]
    first = tables[0]
    for table in tables[1:]:
        if table.is_numbered != first.is_numbered:
            one, other = sorted((first, table), key=lambda t: not t.is_numbered)
            raise ValueError(
                f"{one} is SVMlight text and {other} is not; files of one kind are accepted."
            )
        if table.is_numbered and table.has_ids != first.has_ids:
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
        if table.is_numbered:
            first, last = zip(*(each.indices for each in tables))
            table.indices = min(first), max(last)
            require_width(table, max(last), pieces)
        if isinstance(table, CSVTable) and any(getattr(t, "ids_are_text", False) for t in tables):
            table.ids_are_text = True
    return pieces


def blocks_of_tables(tables, roles_of, rows=1 << 18, *, exactly=False, whole=True):
    """Blocks of files that are read alike, and the :class:`Roles` of their columns.

    Parameters
    ----------
    tables : list of FileTable
    roles_of : function
        Of a table and its columns.
    rows : int
        About how many items a block has.
    exactly : bool
        Whether the files must have equal columns.
    whole : bool
        Whether queries are not cut.
    """
    first = tables[0]
    if first.is_numbered:  # which features there are is known when it has been cut
        pieces = cut(tables, "qid", rows, whole)
    roles = roles_of(first, first.columns)
    if not first.is_numbered:
        for table in tables[1:]:
            require_columns(first, table, first.columns if exactly else roles.columns, exactly)
        pieces = cut(tables, roles.qid, rows, whole)
    if not pieces:
        raise ValueError(f"{first} has names of columns but no rows.")
    return Blocks(Stored(BlockReader(table, piece, roles)) for table, piece in pieces), roles


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
        SVMlight/LETOR text as for :func:`rankbook.data.table.read_table`, all of one kind.
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
        As :func:`rankbook.data.table.read_table`, and if files differ in their columns. NaN,
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
    given = dict(target=target, qid=qid, features=features, weight=weight, drop=drop)
    rows, tables = as_count("rows", rows), open_tables(paths)
    roles_of = lambda table, columns: find_roles(table, columns, **given)
    return blocks_of_tables(tables, roles_of, rows, exactly=features is None)[0]
