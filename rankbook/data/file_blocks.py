"""Blocks from files that are read in pieces."""

import errno
import glob
import gzip
import io
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import accumulate, count, islice
from mmap import ACCESS_READ, mmap
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakSet, finalize

import numpy as np

from ..base.errors import ArgumentError
from ..base.files import open_locked, remove_if_dead
from ..base.limits import import_extra
from ..base.validation import as_count
from ..preferences.names import names_as_text
from .blocks import ARRAYS, Blocks, CheckedBlock, Stored
from .table import (
    CSVReader,
    Roles,
    Source,
    after_mark,
    check_names,
    data_lines,
    docids_of,
    empty_as_missing,
    find_roles,
    is_sparse,
    note_id_columns,
    numbered_frame,
    read_sparse,
    refuse_missing_qid,
    require_table,
    row_names,
    stored_names,
    warn_of_docids,
    without_first,
)

CHUNK = 1 << 16  # rows that are examined together
KEPT = 1 << 28  # largest number of bytes of all features for which blocks stay in memory
EACH = 160  # bytes for an item besides its features, for a fit by Newton's method


class Cuts:
    """Find the rows at which blocks begin: row 0, and the first query start at or after each goal.

    Parameters
    ----------
    goals : iterable of int
        Row numbers in ascending order.
    """

    def __init__(self, goals):
        self.goals, self.rows, self.last = iter(goals), 0, None
        self.goal = next(self.goals, None)

    def of(self, ids):
        """Return the block starts among the next m rows, whose query ids are given."""
        if not len(ids):
            return []
        first = self.rows
        begins = np.flatnonzero(np.r_[first == 0 or ids[0] != self.last, ids[1:] != ids[:-1]])
        found = [0] if first == 0 else []
        while self.goal is not None and (at := np.searchsorted(begins, self.goal - first)) < len(
            begins
        ):
            found.append(first + int(begins[at]))
            self.goal = next(self.goals, None)
        self.rows, self.last = first + len(ids), ids[-1]
        return sorted(set(found))


@dataclass(frozen=True)
class BlockReader:
    """Reader of a block, the rows of a table from `first` up to `stop`.

    For text, `place` is the position of these rows in the table's copy.
    """

    table: Any
    roles: Roles
    first: int
    stop: int
    place: int = 0

    @property
    def name(self):
        """Name of the block in errors."""
        return f"{self.table} (rows {self.first} to {self.stop - 1})"

    def __call__(self):
        """Read the block."""
        return self.table.block(self)


BUFFER = 1 << 20  # bytes that are read at a time from a column of a large row group


class ParquetTable:
    """Parquet file; `sizes` are the numbers of rows of its row groups."""

    is_numbered = False

    def __init__(self, source):
        self.path = str(source)
        self.stamp = self._stamp()
        parquet = self._opened()
        self.columns = stored_names(parquet.schema_arrow)
        check_names(self, self.columns)
        facts = parquet.metadata
        self.sizes = [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]

    def __str__(self):
        return self.path

    def _stamp(self):
        """Return the size and the modification time of the file."""
        facts = os.stat(self.path)
        return facts.st_size, facts.st_mtime_ns

    def _refuse_changed(self):
        """Raise an ArgumentError if the file has changed since it was first read."""
        if self._stamp() != self.stamp:
            raise ArgumentError(
                f"{self} has changed since it was first read",
                "Keep the file unchanged until the computation ends.",
            )

    def _opened(self, buffer=0):
        """Open the file with pyarrow, to read columns whole or some bytes at a time."""
        parquet = import_extra("pyarrow.parquet", "data", f"reading {self} as Parquet")
        try:
            return parquet.ParquetFile(self.path, buffer_size=buffer, pre_buffer=False)
        except (OSError, ValueError) as error:  # pyarrow raises only these two types of errors
            raise ValueError(f"{self} cannot be read as Parquet: {error}") from error

    def _goals(self, rows):
        """Return ends of row groups; small groups are joined and large ones divided evenly."""
        last = at = 0
        for size in self.sizes:
            if at > last and at + size - last > rows:
                yield (last := at)
            parts = -(-size // rows)
            for i in range(1, parts):
                yield (last := at + i * size // parts)
            at += size

    def pieces(self, roles, rows, whole):
        """Return (first, stop) of blocks of about `rows` rows; with `whole`, no query is split."""
        cuts, n, found = Cuts(self._goals(rows)), sum(self.sizes), []
        qid = [roles.qid] if whole and roles.qid is not None else []
        for batch in self._batches(qid, 0, n):
            ids = np.zeros(batch.num_rows) if whole else np.arange(batch.num_rows)
            found += cuts.of(_frame([batch], qid)[qid[0]].to_numpy() if qid else ids)
        return list(zip(found, [*found[1:], n]))

    def head(self, roles):
        """Return the first rows, up to CHUNK of them, as a data frame."""
        return _frame(list(self._batches(roles.columns, 0, CHUNK)), roles.columns)

    def _batches(self, columns, first, stop, rows=CHUNK):
        """Yield record batches of the rows from `first` up to `stop`."""
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

    def block(self, reader):
        """Read a block; ValueError if the file has changed since it was first read."""
        self._refuse_changed()
        columns, first, stop = reader.roles.columns, reader.first, reader.stop
        # a single batch is converted fastest
        frame = _frame(list(self._batches(columns, first, stop, stop - first)), columns)
        self._refuse_changed()
        frame = empty_as_missing(frame, reader.roles.names)
        return reader.roles.read(self, frame, first, reader.name)


def _frame(batches, columns):
    """Join record batches into one DataFrame, with one array for each type."""
    import pyarrow

    table = pyarrow.Table.from_batches(batches).select(columns)
    del batches[:]
    return table.to_pandas(self_destruct=True, ignore_metadata=True, use_threads=False)


COPIES = WeakSet()  # temporary files of this process that have a name


class OwnFile(io.BufferedWriter):
    """File for writing that is closed with its last reference."""

    def __del__(self):
        with suppress(OSError):  # the folder is full, which was reported before
            self.close()


class TextCopy:
    """Temporary file with the parsed contents of a text, so that the text is parsed once.

    The file has no name, so that it is gone when its process ends, even by a signal. When a reader
    is sent to another process, the contents are copied to a named file. That file is deleted with
    its last reader in the process that created it, or when that process ends; if a signal ended
    it, by the next process that sends a reader.
    """

    def __init__(self, path=None):
        self.path, self.file, self.naming = path, None, Lock()
        if path is None:
            self.file = OwnFile(tempfile.TemporaryFile("wb", buffering=0))

    def __reduce__(self):  # other processes only read it
        with self.naming:
            if self.path is None:
                with self._mapped() as contents, full_folder_named("the text", len(contents)):
                    self._move(contents)
        return TextCopy, (self.path,)

    def _move(self, contents):
        """Copy the contents to a file with a name, and close the unnamed file."""
        start = os.path.join(tempfile.gettempdir(), "rankbook")
        for left in glob.glob(f"{glob.escape(start)}.*.blocks"):
            remove_if_dead(left)
        named = OwnFile(open_locked(start, ".blocks", 0o600).detach())
        self.remove = finalize(self, _remove, named, os.getpid())
        COPIES.add(self)
        try:
            shutil.copyfileobj(contents, named)
            named.flush()
        except BaseException:
            self.remove()
            raise
        self.path = named.name
        self.file = named  # the other file is closed when no thread opens it any more

    def __deepcopy__(self, memo):
        return self

    def _mapped(self):
        """Map the contents to memory, because threads and forks share the file's position."""
        file = self.file  # before the path, see `_move`
        with nullcontext(file) if self.path is None else open(self.path, "rb") as file:
            return mmap(file.fileno(), 0, access=ACCESS_READ)

    def add(self, table, arrays):
        """Append arrays (a dict) of numbers or vectors of text, and return their position.

        Raises an OSError if the folder is full.
        """
        if hasattr(X := arrays["X"], "indptr"):
            parts = {f"X.{name}": getattr(X, name) for name in ("data", "indices", "indptr")}
            arrays = parts | {name: a for name, a in arrays.items() if name != "X"}
        objects = {name: a.tolist() for name, a in arrays.items() if a.dtype.kind == "O"}
        numbers = {name: a for name, a in arrays.items() if name not in objects}
        header, place = json.dumps([list(numbers), objects]).encode(), self.file.tell()
        with full_folder_named(table, sum(a.nbytes for a in numbers.values())):
            for array in (np.frombuffer(header, np.uint8), *numbers.values()):
                np.save(self.file, array, allow_pickle=False)
            self.file.flush()
        return place

    def read(self, table, place):
        """Read the arrays at a position."""
        try:
            with self._mapped() as file:
                file.seek(place)
                names, objects = json.loads(bytes(np.load(file)))
                found = {name: np.load(file) for name in names}
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"the copy of {table} in the temporary folder is gone, or on another machine: "
                f"{self.path}. Read the files again, with TMPDIR a folder that all workers share, "
                "or store the data as Parquet, which is not copied."
            ) from error
        return found | {name: np.array(words, object) for name, words in objects.items()}


@contextmanager
def full_folder_named(table, nbytes):
    """Raise an OSError that names the temporary folder if a copy does not fit in it."""
    folder = tempfile.gettempdir()
    try:
        if nbytes > shutil.disk_usage(folder).free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        yield
    except OSError as error:
        raise OSError(
            f"the copy of {table} that later passes read does not fit in the temporary folder "
            f"{folder} ({error}). Set the environment variable TMPDIR to a folder with more "
            "room, or store the data as Parquet, which is not copied."
        ) from error


def _remove(file, owner):
    """Delete a temporary file, but not in a fork of the process that made it."""
    if os.getpid() == owner:
        file.close()  # Windows cannot delete an open file
        with suppress(OSError):
            os.unlink(file.name)


def remove_copies():
    """Delete the temporary files of this process that have a name, before it ends."""
    for copy in list(COPIES):
        copy.remove()


class TextFile:
    """Text that is read again each time it is opened."""

    def __init__(self, source):
        self.path = str(source)

    def __str__(self):
        return self.path

    def open(self):
        """Open a binary stream of the text, unpacked if necessary."""
        packed = self.path.lower().endswith(".gz")
        return after_mark(gzip.open(self.path, "rb") if packed else open(self.path, "rb"))


class TextTable(TextFile):
    """Base class of text files, which are parsed once into a :class:`TextCopy`."""

    copy: TextCopy

    def pieces(self, roles, rows, whole):
        """As in :class:`ParquetTable`, with the position of each block in the copy of the text."""
        cuts, parts, found = Cuts(count(rows, rows)), [], []

        def close():
            if parts:
                arrays = {name: _stack_rows([part[name] for part in parts]) for name in parts[0]}
                first = found[-1][1] if found else 0
                stop = first + sum(part["X"].shape[0] for part in parts)
                found.append((first, stop, self.copy.add(self, arrays)))
                parts.clear()

        for arrays in self.chunks(roles, min(CHUNK, max(rows, 1000))):
            m, first = arrays["X"].shape[0], cuts.rows
            ids = arrays.get("qid", np.zeros(m)) if whole else np.arange(m)
            at = [row - first for row in cuts.of(ids)]
            for i, j in zip([0, *at], [*at, m]):
                if i < j:
                    parts.append({name: array[i:j] for name, array in arrays.items()})
                if j < m:
                    close()
        close()
        return found


def _stack_rows(arrays):
    """Stack arrays or sparse matrices vertically."""
    if isinstance(arrays[0], np.ndarray):
        return np.concatenate(arrays)
    from scipy.sparse import vstack

    width = max(A.shape[1] for A in arrays)
    for A in arrays:
        A.resize(A.shape[0], width)
    return vstack(arrays, format="csr")


class CSVText(TextTable):
    """Text table with a header.

    Attributes
    ----------
    words : set of str
        Columns of query ids that are read as text because some row has no integer.
    """

    is_numbered, is_text = False, True

    def __init__(self, source):
        super().__init__(source)
        self.reader = CSVReader(source)
        self.reader.source = TextFile(source)  # the source may hold the text in memory
        self.columns, self.words, self.logical = self.reader.columns, set(), {}

    def chunks(self, roles, rows):
        """Yield the arrays of successive rows, by the names that a block gives them."""
        first = 0
        for frame in self.reader.frames(roles.names, roles.texts, rows):
            if not len(frame):
                return
            self._require_one_kind(frame, roles, first)
            block = roles.read(self, frame, first)
            arrays = {name: getattr(block, name) for name in (*ARRAYS, "item_names")}
            if roles.qid in self.words:
                arrays["qid"] = names_as_text(row_names(self, frame[roles.qid], first))
            elif roles.qid is not None and block.qid.dtype.kind == "O":
                self.words.add(roles.qid)
            yield {name: array for name, array in arrays.items() if array is not None}
            first += len(frame)

    def head(self, roles):
        """Return the first rows, up to CHUNK of them, as a data frame."""
        return next(self.reader.frames(roles.names, roles.texts, CHUNK), ())

    def _require_one_kind(self, frame, roles, first):
        """Refuse a column of truth values in one part of the file and of numbers in another."""
        for name in set(roles.columns) - set(roles.names):
            is_logical = frame[name].dtype.kind == "b"
            if self.logical.setdefault(name, is_logical) != is_logical:
                kinds = ("True and False", "other values")
                one, other = kinds if is_logical else kinds[::-1]
                raise ArgumentError(
                    f"{self} has {one} in column {name!r} from about row {first}, and {other} "
                    "before",
                    "columns with one kind of value each",
                )

    def block(self, reader):
        """Read the block of a reader."""
        arrays = dict(y=None) | self.copy.read(self, reader.place)
        about = dict(name=reader.name, first=reader.first, feature_names=reader.roles.features)
        return CheckedBlock(**arrays, **about)


class NumberedText(TextTable):
    """SVMlight or LETOR text file.

    Attributes
    ----------
    indices : (int, int)
        The first feature, 0 or 1, and the last; common to files that are read together.
    entries : int
        Number of entries that its lines contain.
    stays_sparse : bool
        Whether its blocks stay sparse; common to files that are read together.
    has_ids : bool
        Whether its lines name queries.
    has_names : bool
        Whether all lines, of all files that are read together, name documents as LETOR does.
    some_names : bool
        Whether any line that was read has such a name.
    """

    is_numbered = True

    def __init__(self, source):
        super().__init__(source)
        _, line = next(data_lines(source), (1, b""))
        self.has_ids = any(word.startswith(b"qid:") for word in line.split(None, 2)[1:2])
        self.has_names = self.some_names = all(docids_of([line]))
        self.indices, self.entries, self.stays_sparse = (1, 0), 0, False

    @property
    def columns(self):
        """As in :func:`rankbook.data.table.read_frame`."""
        first, last = self.indices
        ids = ["qid"] * self.has_ids + ["docid"] * self.has_names
        return ["label", *ids, *(f"feature {j}" for j in range(first, last + 1))]

    def chunks(self, roles, rows):
        """As in :class:`CSVText`, with sparse X. The indices are known afterwards."""
        first, named = 0, self.has_names
        with self.open() as stream:
            while lines := list(islice(stream, rows)):
                X, y, qid = read_sparse(self, io.BytesIO(b"".join(lines)), first)
                if len(y) == 0:  # comments
                    continue
                if (qid is not None) != self.has_ids:
                    refuse_missing_qid(self)
                low, high = self.indices
                self.indices = 0 if (X.indices == 0).any() else low, max(high, X.shape[1] - 1)
                self.entries += X.nnz
                arrays = dict(X=X, y=y) | (dict(qid=qid) if self.has_ids else {})
                if named or not self.some_names and any(b"docid" in line for line in lines):
                    names = docids_of(line for line in lines if line.split(b"#")[0].strip())
                    self.has_names = self.has_names and all(names)
                    self.some_names = self.some_names or any(names)
                if named:
                    arrays["item_names"] = np.array(names, dtype=object)
                yield arrays
                first += len(y)

    def block(self, reader):
        """Read a block; features that no file mentions are 0."""
        from scipy.sparse import csr_array

        arrays, (low, high) = self.copy.read(self, reader.place), self.indices
        parts = tuple(arrays[f"X.{name}"] for name in ("data", "indices", "indptr"))
        X = without_first(csr_array(parts, shape=(len(arrays["y"]), high + 1)), low)
        X = X if self.stays_sparse else X.toarray()
        names = [f"feature {j}" for j in range(low, high + 1)]
        docids = arrays["item_names"] if self.has_names else None
        frame = numbered_frame(X, names, arrays["y"], arrays.get("qid"), docids)
        return reader.roles.read(self, frame, reader.first, reader.name)


def files_of(paths):
    """Return paths of files as a list of str, sorted for a pattern.

    Raises
    ------
    TypeError
        If `paths` is neither a path nor a list of paths.
    FileNotFoundError
        If no file matches a pattern.
    ValueError
        If there is no path, or a path occurs twice.
    """
    several = [paths] if isinstance(paths, (str, PathLike)) else paths
    if not isinstance(several, Sequence) or not all(
        isinstance(path, (str, PathLike)) for path in several
    ):
        raise ArgumentError(f"paths is {paths!r}", "a path, a pattern, or a list of them")
    found = []
    for path in map(os.fspath, several):
        some = (
            sorted(glob.glob(path)) if glob.has_magic(path) and not os.path.exists(path) else [path]
        )
        if not some:
            raise FileNotFoundError(f"paths is {path!r}: no file name matches it.")
        found += some
    if not found:
        raise ArgumentError("paths is empty", "at least one file")
    for i, path in enumerate(found):
        if path in found[:i]:
            raise ArgumentError(f"paths has {path!r} twice", "each file only once")
    return found


def open_table(path):
    """Open a file that is read in blocks.

    Parameters
    ----------
    path : str or path
        As in :func:`rankbook.data.table.read_table`, but not "-".

    Returns
    -------
    ParquetTable, CSVText or NumberedText

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If the file is empty, has other contents than its ending says, or cannot be read in pieces.
    """
    if str(path) == "-" or Path(path).is_fifo():
        raise ArgumentError(
            f"path is {str(path)!r}",
            "files, because standard input and pipes can be read only once",
        )
    source = Source(path)
    if source.kind == "Parquet":
        if source.content is not None:
            raise ArgumentError(
                f"{source} is Parquet compressed with gzip", "the uncompressed file"
            )
        return ParquetTable(source)
    if source.is_numbered:
        return NumberedText(source)
    return CSVText(source)


def require_file_columns(first, table, wanted, exactly):
    """Raise a ValueError if a file lacks a column or, if `exactly`, has an extra one."""
    here, known = set(table.columns), set(first.columns)
    missing = [name for name in wanted if name not in here]
    if missing:
        raise ValueError(
            f"{table} has no column {missing[0]!r}, which {first} has; "
            f"it has {', '.join(table.columns)}."
        )
    more = [name for name in table.columns if name not in known] if exactly else []
    if more:
        raise ArgumentError(
            f"{table} has a column {more[0]!r}, which {first} lacks",
            "files with the same columns, or the names of the features to read",
        )


def open_tables(paths):
    """Return the files of some paths as a list; ValueError if they are of two kinds."""
    tables = [open_table(path) for path in files_of(paths)]
    first = tables[0]
    for table in tables[1:]:
        if table.is_numbered != first.is_numbered:
            one, other = sorted((first, table), key=lambda t: not t.is_numbered)
            raise ArgumentError(f"{one} is SVMlight text and {other} is not", "files of one kind")
        if table.is_numbered and table.has_ids != first.has_ids:
            one, other = sorted((first, table), key=lambda t: t.has_ids)
            raise ArgumentError(
                f"{one} has no query ids, but {other} has them",
                "query ids in all files or in none",
            )
    return tables


def blocks_of_tables(tables, roles_of, rows=1 << 18, *, exactly=False, whole=True):
    """Return blocks of similar files, and the :class:`Roles` of their columns.

    Parameters
    ----------
    tables : list
    roles_of : function
        Function of a table and its columns that returns their roles.
    rows : int
        Approximate number of items in a block.
    exactly : bool
        Whether all files must have the same columns.
    whole : bool
        Whether queries stay in one block.
    """
    first, roles = tables[0], None
    if not first.is_numbered:
        roles = roles_of(first, first.columns)
        for table in tables[1:]:
            require_file_columns(first, table, first.columns if exactly else roles.columns, exactly)
        if exactly:  # the features are not chosen
            head = first.head(roles)
            each = "row" if len(head) < CHUNK else f"of its first {CHUNK:,} rows"
            note_id_columns(first, head, roles, each, way="drop=['{0}']")
    texts = [table for table in tables if isinstance(table, TextTable)]
    words = set()
    while True:
        copy, known = TextCopy() if texts else None, set(words)
        for table in texts:
            table.copy, table.words = copy, words
        found = [(table, p) for table in tables for p in table.pieces(roles, rows, whole)]
        if words == known:
            break  # otherwise words followed numbers, and the columns are read again as text
    if not found:
        raise ValueError(f"{first} has column names but no rows.")
    sizes = [stop - start for _, (start, stop, *_) in found]
    if first.is_numbered:
        low, high = (
            pick(ends) for pick, ends in zip((min, max), zip(*(t.indices for t in tables)))
        )
        entries, named = sum(t.entries for t in tables), all(t.has_names for t in tables)
        if not named and any(table.some_names for table in tables):
            table = next(table for table in tables if not table.has_names)
            lines = data_lines(table)
            warn_of_docids(table, *next(one for one in lines if not docids_of(one[1:])[0]))
        sparse = is_sparse(sum(sizes), high + 1 - low, entries)
        for table in tables:
            table.indices, table.has_names, table.stays_sparse = (low, high), named, sparse
            require_table(table, max(sizes), high, entries if sparse else None)
        roles = roles_of(first, first.columns)
    sparse = first.is_numbered and first.stays_sparse
    size = 12 * entries if sparse else 8 * len(roles.features) * sum(sizes)
    readers = (BlockReader(table, roles, *piece) for table, piece in found)
    nbytes = (size + EACH * sum(sizes)) / len(sizes)
    return Blocks(Stored(reader, size <= KEPT, nbytes) for reader in readers), roles


def read_blocks(
    paths: str | PathLike | Sequence[str | PathLike],
    target: str | None = None,
    qid: str | None = None,
    features: Sequence[str] | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    rows: int = 1 << 18,
    worse_weight: str | None = None,
) -> Blocks:
    """Read items to rank from files, as blocks of whole queries that are read when needed.

    Up to 256 MB of features stay in memory after the first pass; larger data are read again in
    every pass.

    Parameters
    ----------
    paths : str, path or list of them
        A file, a pattern such as ``"logs/*.parquet"``, or several of both: Parquet, CSV, or
        SVMlight/LETOR text as for :func:`rankbook.data.table.read_table`, all of one kind.
    target : str, optional
        The column to rank by. Required for CSV and Parquet; not allowed for SVMlight, which has a
        label.
    qid : str, optional
        The column with the query of each row, or "none". By default a column named qid, query,
        query_id, group or session.
    features : sequence of str, optional
        The feature columns; by default all columns without another role. Features that SVMlight
        text does not mention are 0.
    weight : str, optional
        The column of the item weights.
    drop : sequence of str, optional
        Columns to leave out.
    rows : int, default 2**18
        Approximate number of items in a block. Queries are not split, and the rows of a query must
        be contiguous.
    worse_weight : str, optional
        The column of the item weights as the worse item of a preference. `weight` is then the
        column of their weights as the better item; see :class:`rankbook.Block`.

    Returns
    -------
    Blocks
        Items are float64, or float32 if all features of a file are float32. SVMlight text that
        stays sparse becomes CSR; see :func:`rankbook.data.table.read_table`.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    OSError
        If a copy of text does not fit in the temporary folder.
    ValueError
        In the same cases as :func:`rankbook.data.table.read_table`, and if files differ in their
        columns. NaN, infinity and words raise an error with the file and the row: in text
        immediately, in Parquet when the block is read. A Parquet file that changes during use
        raises an error.

    Warns
    -----
    Assumption
        If query ids or decimal commas were guessed, or a feature of the first file has a different
        integer in each row, as ids have.

    Notes
    -----
    For Parquet, the function reads the column of queries once. A block of n items takes 16 n d
    bytes while it is read, and 8 n d bytes after that. Row groups should have about `rows` rows. In
    a larger group, each block also reads the rows that precede it. Text is parsed once and copied
    to a file in the temporary folder (see :func:`tempfile.gettempdir`), from which all passes read.
    The copy takes 8 bytes for each feature of a row; for SVMlight it takes 12 bytes for each entry.
    The file is deleted when the blocks are deleted, or when Python ends. It has no name until
    blocks are sent to other processes; Dask workers on other machines must share the folder.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankbook as rb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "table.csv")
    ...     _ = file.write_text("q,y,x\\n1,0,0.5\\n1,1,2\\n2,0,1\\n2,3,4\\n")
    ...     blocks = rb.read_blocks(file, target="y", qid="q", rows=1)
    ...     len(blocks), rb.BlockRankSVMProblem(blocks).n_preferences
    (2, 2)
    """
    given = dict(target=target, qid=qid, features=features, weight=weight, drop=drop)
    given |= dict(worse_weight=worse_weight)
    rows, tables = as_count("rows", rows), open_tables(paths)
    roles_of = lambda table, columns: find_roles(table, columns, **given)
    return blocks_of_tables(tables, roles_of, rows, exactly=features is None)[0]
