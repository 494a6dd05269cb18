"""Tables of items: data sets and their files."""

import codecs
import csv
import gzip
import html
import io
import os
import re
import sys
import warnings
import zlib
from array import array
from collections.abc import Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import ArgumentError, Assumption
from ..base.limits import import_extra, require_memory, warn
from ..base.tables import count as count_of
from ..base.tables import explain
from ..base.validation import (
    as_array,
    as_items,
    as_matrix,
    as_vector,
    describe_value,
    first_bad,
    first_of,
    require_same_rows,
    unknown_name,
)
from ..preferences.names import (
    as_names,
    categorical_of,
    column_of,
    has_columns,
    names_as_text,
)
from ..preferences.names import column_names as columns_in
from .blocks import CheckedBlock

PARTS = ("train", "validation", "test")


def _as_names(name, value, count, what):
    """Return a list of str, one for each column or row of X, or None."""
    if value is None:
        return None
    if np.ndim(value) != 1:
        raise ArgumentError(f"{name} is {value!r}", "a list of names")
    if len(value) != count:
        raise ArgumentError(
            f"{name} has length {len(value)}",
            f"{count_of(count, 'name')}, one for each {what} of X",
        )
    return [str(one) for one in value]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Items to rank, with their scores, queries and descriptions.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Features, one row for each item, not standardized; stored as float64, or as CSR if sparse.
    y : array-like of shape (n,)
        Scores; higher is preferred. Stored as float64.
    qid : array-like of int or str of shape (n,), optional
        The query of each row; only items of one query are compared. None means one query.
    name, description, source, licence : str, default ""
        Descriptive text: a short name, one sentence about the data, their authors and where to find
        them, and the terms of use.
    feature_names : list of str, optional
        One for each column of `X`; by default ``x0, x1, ...``.
    parts : array-like of str of shape (n,), optional
        "train", "validation" or "test", for data with their own split.
    groups : array-like of int or str of shape (n,), optional
        Group of each row, such as a user. A split keeps the rows of a group in one part. Items of
        different groups are still compared.
    item_names : list of str, optional
        Name of each row, for people.
    encoding : optional
        Conversion of text and gaps to features by the command line.

    Raises
    ------
    ValueError, TypeError
        If shapes disagree, `X` or `y` contains entries that are not finite numbers, or arguments
        from pandas have their rows in different orders.

    Examples
    --------
    >>> import rankbook as rb
    >>> data = rb.datasets.Dataset([[0.0, 1.0], [2.0, 3.0]], [0, 1], qid=[7, 7], name="two")
    >>> data
    Dataset 'two' (rows: 2; features: 2; y: 1 at 0, 1 at 1; queries: 1)
    >>> data.feature_names
    ['x0', 'x1']
    """

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray | None = None
    name: str = ""
    feature_names: list | None = None
    description: str = ""
    source: str = ""
    licence: str = ""
    parts: np.ndarray | None = None
    groups: np.ndarray | None = None
    item_names: list | None = None
    encoding: Any = None

    def __post_init__(self):
        each = ("X", "y", "qid", "parts", "groups", "item_names")
        require_same_rows(**{name: getattr(self, name) for name in each})
        X = (as_items if hasattr(self.X, "tocsr") else as_matrix)("X", self.X)
        n, d = X.shape
        if n == 0:
            raise ArgumentError(f"X has shape {X.shape}", "at least one row")
        features = _as_names("feature_names", self.feature_names, d, "column")
        found = dict(
            X=X, feature_names=[f"x{j}" for j in range(d)] if features is None else features
        )
        kinds = dict(qid=("iuU", "whole numbers or text"), parts=("U", "words"))
        kinds |= dict(groups=("iuU", "whole numbers or text"))
        for name, kind in kinds.items():
            value, (letters, accepted) = getattr(self, name), kind
            found[name] = labels = None if value is None else as_array(name, value)
            if value is None or labels.shape == (n,) and labels.dtype.kind in letters:
                continue
            raise ArgumentError(
                f"{name} has shape {labels.shape} and dtype {labels.dtype}",
                f"an array of shape ({n},) with {accepted}",
            )
        for part in [] if found["parts"] is None else np.unique(found["parts"]):
            if part not in PARTS:
                raise unknown_name("parts", str(part), PARTS)
        found |= dict(y=as_vector("y", self.y, n))
        found |= dict(item_names=_as_names("item_names", self.item_names, n, "row"))
        for field, value in found.items():
            object.__setattr__(self, field, value)  # the dataclass is frozen

    def _facts(self):
        """Return pairs (name, number) that describe the data set."""
        levels, sizes = np.unique(self.y, return_counts=True)
        few = ", ".join(f"{size} at {level:g}" for level, size in zip(levels, sizes))
        many = f"{len(levels)} levels from {levels[0]:g} to {levels[-1]:g}"
        facts = [("rows", str(len(self.y))), ("features", str(self.X.shape[1]))]
        facts.append(("y", few if len(levels) <= 5 else many))
        for name, ids in (("queries", self.qid), ("groups", self.groups)):
            facts += [] if ids is None else [(name, str(len(np.unique(ids))))]
        if self.parts is not None:
            sizes = [(np.sum(self.parts == part), part) for part in PARTS]
            facts.append(("parts", ", ".join(f"{size} {part}" for size, part in sizes if size)))
        return facts

    def __repr__(self) -> str:
        facts = "; ".join(f"{label}: {text}" for label, text in self._facts())
        return f"Dataset {self.name!r} ({facts})"

    def _repr_html_(self):
        about = dict(about=self.description, source=self.source, licence=self.licence)
        row = "<tr><th style='text-align:left'>{}</th><td style='text-align:left'>{}</td></tr>"
        rows = [*self._facts(), *about.items()]
        body = "".join(row.format(label, html.escape(text)) for label, text in rows if text)
        name = html.escape(self.name or "Dataset")
        return f"<table><caption><b>{name}</b></caption>{body}</table>"


GZIP = b"\x1f\x8b"
_FORMATS = {
    ".csv": "CSV text",
    ".tsv": "tab-separated text",
    ".parquet": "Parquet",
    ".svm": "SVMlight text",
    ".svmlight": "SVMlight text",
    ".letor": "SVMlight text",
    ".txt": "SVMlight text",
    ".dat": "SVMlight text",
    ".soc": "PrefLib text",
    ".soi": "PrefLib text",
    ".toc": "PrefLib text",
    ".toi": "PrefLib text",
}


def is_file_name(text):
    """Return whether a text has the ending of a data file, or contains a folder."""
    text = str(text).lower().removesuffix(".gz")
    return "/" in text or os.sep in text or text.endswith(tuple(_FORMATS))


STEP = 2**24  # bytes read at a time


def _read_all(name, stream):
    """Read all bytes of a stream; refuse more than fit in memory."""
    found = bytearray()
    while step := stream.read(STEP):
        found += step
        require_memory(2 * len(found), f"reading {name}", "read a smaller part of it")
    return bytes(found)


def after_mark(stream):
    """Return a binary stream at its beginning, after a byte order mark if there is one."""
    if stream.read(3) != codecs.BOM_UTF8:
        stream.seek(0)
    return stream


class Source:
    """A file, a pipe or standard input.

    It stores the name for error messages, the ending (None for standard input, and for a pipe
    without one), and the kind (see :func:`format_of`). Its bytes can be read several times.
    """

    def __init__(self, path):
        if not isinstance(path, (str, os.PathLike)):
            raise ArgumentError(f"path is {describe_value(path)}", "a str or a path")
        if path == "-":
            if sys.stdin is None:
                raise ArgumentError("path is '-', and standard input is closed", "a file")
            self.label = self.name = self.stem = "standard input"
            self.path, self.ending, content = None, None, _read_all(self, sys.stdin.buffer)
            packed = content.startswith(GZIP)
        else:
            self.path = path = Path(path)
            if path.is_dir():
                raise IsADirectoryError(f"path is {str(path)!r}, a folder. Pass a file.")
            if not path.exists():
                raise FileNotFoundError(f"path is {str(path)!r}: there is no such file.")
            if not (path.is_file() or path.is_fifo()):
                raise ArgumentError(f"path is {str(path)!r}, a device", "a file or a pipe")
            packed, is_pipe = path.suffix.lower() == ".gz", path.is_fifo()
            plain = path.with_suffix("") if packed else path
            self.label, self.name, self.stem = str(path), path.name, plain.stem
            self.ending = plain.suffix.lower()
            content = None
            if packed or is_pipe:
                with open(path, "rb") as stream:
                    content = _read_all(self, stream)
            if is_pipe and not self.ending:  # a pipe of a shell
                self.ending, packed = None, content.startswith(GZIP)
        self.content = content
        if packed:
            try:
                with gzip.open(io.BytesIO(content)) as stream:
                    self.content = _read_all(self, stream)
            except (OSError, EOFError, zlib.error) as error:
                raise ValueError(f"{self} cannot be unpacked by gzip: {error}.") from error
        if (path.stat().st_size if self.content is None else len(self.content)) == 0:
            raise ValueError(f"{self} is empty: it has 0 bytes.")
        self.kind = format_of(self)

    def __str__(self):
        return self.label

    def open(self):
        """Open a binary stream at the beginning, after a byte order mark."""
        stream = open(self.path, "rb") if self.content is None else io.BytesIO(self.content)
        return after_mark(stream)

    @property
    def is_numbered(self):
        """Whether the source is SVMlight text, whose feature names are numbers."""
        return self.kind == "SVMlight text"

    @property
    def is_text(self):
        """Whether the source is text with a header, whose cells have no type."""
        return self.kind in ("CSV text", "tab-separated text")


class FrameSource:
    """A table in memory, in place of the :class:`Source` of a file.

    Parameters
    ----------
    table : data frame of pandas or polars, Arrow table or dict of columns
    label : str
        Its name for error messages.
    """

    kind, is_numbered, is_text = "data frame", False, False

    def __init__(self, table, label="the table"):
        if not has_columns(label, table):
            raise ArgumentError(
                f"{label} is {describe_value(table)}", "a data frame, or a dict of columns"
            )
        self.table, self.label = table, label
        self.columns = {str(name): name for name in columns_in(table)}
        check_names(self, [str(name) for name in columns_in(table)])

    def __str__(self):
        return self.label

    def read(self, columns):
        """Return columns as a data frame of pandas, whose index numbers the rows."""
        import pandas as pd

        found, m = {}, None
        for name in columns:
            column = self.table[self.columns[name]]
            if isinstance(column, pd.Series):
                column = column.set_axis(range(len(column)))
            found[name] = column_of({name: column}, name, name, m, coded=True)
            m = len(found[name])
        return pd.DataFrame(found, copy=False)


def as_source(path):
    """Return the :class:`Source` of a path; a Source is returned unchanged."""
    if isinstance(path, Source | FrameSource):
        return path
    if isinstance(path, str) and path == "-":  # a notebook has no standard input
        raise ArgumentError(
            "path is '-'", "a file, because only the command line reads standard input"
        )
    return Source(path)


_SVMLIGHT_LINE = re.compile(r"\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s+(?:qid:\S+|\d+:[-+\d.])")


def format_of(source):
    """Return the format of a file by its ending, and of standard input by its first line."""
    if source.ending is not None:
        if source.ending not in _FORMATS:
            raise unknown_name(f"the ending of {source}", source.ending, _FORMATS)
        return _FORMATS[source.ending]
    lines = (line for line in lines_of(source) if line.strip() and not line.startswith("#"))
    first = next(lines, "")
    kind = "SVMlight text" if _SVMLIGHT_LINE.match(first) else "CSV text"
    kind = "Parquet" if first.startswith("PAR1") else kind
    warn(Assumption(f"{source} is read as {kind}, because it begins like that."))
    return kind


def lines_of(source):
    """Return the first lines of a text, a few hundred kB."""
    with source.open() as stream:
        return list(io.StringIO(stream.read(2**18).decode(errors="replace"), newline=None))


def check_names(path, names):
    """Refuse columns without a name, and names that occur twice."""
    places = {}
    for j, name in enumerate(names):
        if not name:
            raise ValueError(
                f"{path} has no name for column {j}. If it is an index saved by mistake, "
                "save the table without its index."
            )
        if places.setdefault(name, j) != j:
            raise ValueError(
                f"{path} has two columns named {name!r}: columns {places[name]} and {j}. "
                "Rename one."
            )


def not_a_number(column):
    """Return row and value of the first entry of a column that is not a number.

    The column contains words, dates or mixtures. For a numeric column the function returns None.
    """
    import pandas as pd

    # numbers stored as objects, such as integers beyond 64 bits
    exact = (
        "integer",
        "floating",
        "mixed-integer-float",
        "decimal",
    )
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.infer_dtype(column) in exact:
        return None
    bad = column.notna().to_numpy()
    # some words may be readable as numbers
    if pd.api.types.is_string_dtype(column.dropna()):
        bad = bad & pd.to_numeric(column, errors="coerce").isna().to_numpy()
    row = int(np.argmax(bad))
    return row, column.iloc[row]


_COMMA, _POINT = (
    re.compile(
        rf'(?:^|(?<=;))[ \t]*"?[-+]?(?:\d*{mark}\d+|\d+{mark})(?:[eE][-+]?\d+)?"?[ \t]*(?=;|$)',
        re.MULTILINE,
    )
    for mark in (",", r"\.")
)


def cells_of(line, mark):
    """Return the cells of a line of CSV text, without the text in quotes if the line is long."""
    if len(line) > csv.field_size_limit():  # csv refuses cells as long as those of a wrong mark
        return re.sub('"[^"]*"', "", line).split(mark)
    return next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])


def dialect_of(source):
    """Return the arguments of :func:`pandas.read_csv` that depend on the first lines of CSV text.

    The separator (comma, semicolon or tab) is the one that splits the header most often. Lines
    above the header that begin with # and have fewer cells are comments. Beside semicolons, commas
    are decimal points if more cells are numbers with a comma than numbers with a point.
    """
    lines = lines_of(source) or [""]  # a byte order mark alone has no line
    last = next((i for i, line in enumerate(lines) if line.strip() and line[0] != "#"), 0)
    marks = "\t" if source.kind == "tab-separated text" else ",;\t"
    mark = max(marks, key=lambda mark: len(cells_of(lines[last], mark)))
    # a header may begin with #, but a comment has fewer cells than the rows
    width = len(cells_of(lines[last], mark))
    header = next(i for i, line in enumerate(lines) if len(cells_of(line, mark)) >= width)
    if skipped := sum(line.startswith("#") for line in lines[:header]):
        what = "the first line is a comment" if skipped == 1 else f"{skipped} lines are comments"
        warn(Assumption(f"{source}: {what} and skipped."))
    rows = "".join(lines[header + 1 :])
    has_commas = mark == ";" and len(_COMMA.findall(rows)) > len(_POINT.findall(rows))
    if has_commas:
        warn(Assumption(f"{source} is read with commas as decimal points."))
    return dict(sep=mark, skiprows=header, decimal="," if has_commas else ".")


class WithoutNUL(io.RawIOBase):
    """A binary stream that refuses NUL bytes; some versions of pandas end a cell at one."""

    def __init__(self, stream):
        self.stream = stream

    def readable(self):
        """Return True."""
        return True

    def readinto(self, buffer):
        """Read bytes into a buffer; return how many."""
        size = self.stream.readinto(buffer)
        if b"\0" in bytes(buffer[:size]):
            raise ValueError("it has a NUL byte. Save it as UTF-8.")
        return size


@contextmanager
def open_csv(source):
    """Open CSV text as a binary stream without NUL bytes."""
    with source.open() as stream:
        yield io.BufferedReader(WithoutNUL(stream), 2**18)


@contextmanager
def csv_errors(source):
    """Add the name of the file to errors and warnings of pandas about a CSV file."""
    import pandas as pd

    try:
        with warnings.catch_warnings():  # pandas only warns if it drops the end of a row
            warnings.simplefilter("error", pd.errors.ParserWarning)
            yield
    except (ValueError, csv.Error, pd.errors.ParserWarning) as error:
        if "Calling read(nbytes) on source failed" in str(error):  # an exception without a text
            raise KeyboardInterrupt from error
        raise ValueError(f"{source} cannot be read as CSV text: {str(error).strip()}") from error


# cells that mean a missing number, as in pandas; a name is missing only if its cell is empty
GAPS = (
    ",#N/A,#N/A N/A,#NA,-1.#IND,-1.#QNAN,-NaN,-nan,1.#IND,1.#QNAN,<NA>,N/A,NA,NULL,NaN,None,n/a,"
    "nan,null"
).split(",")


class CSVReader:
    """Reader of CSV text with a header.

    Parameters
    ----------
    source : Source
    named : bool, default True
        Whether the header names the columns. In a win matrix it names items, which may be numbers,
        and the first cell does not matter.

    Attributes
    ----------
    columns : list of str
        Names of the columns.
    how : dict
        Arguments of :func:`pandas.read_csv`.
    """

    def __init__(self, source, named=True):
        if source.kind == "PrefLib text":
            ways = "For orders of voters, use rb.read_orders or `rankbook rank`."
            raise ArgumentError(f"{source} is {source.kind}", "a table", ways)
        import pandas as pd

        self.source = source
        with csv_errors(source), open_csv(source) as stream:
            self.how = dialect_of(source) | dict(skipinitialspace=True, encoding="utf-8")
            self.how |= dict(keep_default_na=False)
            header = pd.read_csv(stream, **self.how, header=None, nrows=1, dtype=str)
        self.columns = names = [str(name).strip() for name in header.iloc[0]]
        if named and pd.to_numeric(pd.Series(names), errors="coerce").notna().all():
            raise ValueError(
                f"{source} begins with numbers ({', '.join(names[:3])}, ...), "
                "not with column names. Add a first line of names."
            )
        check_names(source, names if named else names[1:])
        names[:1] = names[:1] if named else [""]
        self.how |= dict(header=0, names=names, index_col=False, low_memory=False)
        if [*map(int, pd.__version__.split(".")[:2])] < [3, 1]:
            self.how |= dict(float_precision="round_trip")  # the default of later versions
        self.how |= dict(skip_blank_lines=len(names) > 1)  # in one column they are values

    def frames(self, names=(), texts=(), rows=None, **options):
        """Yield data frames of `rows` rows each, or one of all, with further `options` of pandas.

        Cells of the columns `names` and `texts` are text; see :meth:`FrameReader.read`. A row that
        is longer than the header is an error.
        """
        import pandas as pd

        gaps = {column: [""] if column in names else GAPS for column in self.columns}
        gaps[len(self.columns)] = [""]  # a separator at the end of each row
        options |= dict(na_values=gaps, dtype=dict.fromkeys([*names, *texts], object))
        with open_csv(self.source) as stream:
            with csv_errors(self.source):
                found = pd.read_csv(stream, chunksize=rows, **self.how | options)
            found = iter([found] if rows is None else found)
            while True:
                with csv_errors(self.source):
                    frame = next(found, None)
                if frame is None:
                    return
                yield without_spaces(self.source, frame, names, texts)

    def read(self, names=(), columns=None, texts=(), coded=False):
        """Read all rows of some columns, or of all; see :meth:`FrameReader.read`."""
        (frame,) = self.frames(names, texts)
        frame = coded_text(frame, names) if coded else frame
        return frame if columns is None else frame[columns]

    def cells(self, column):
        """Return the distinct cells of a column of text."""
        (frame,) = self.frames([column], usecols=[column])
        return frame[column].unique()


def without_spaces(source, frame, names, texts):
    """Remove the spaces around cells of text; those that then mean a gap are missing.

    Cells of other columns than `names` and `texts` that then are numbers become numbers.
    """
    import pandas as pd

    for column in frame.columns[[kind.kind not in "biuf" for kind in frame.dtypes]]:
        words = [cell for cell in frame[column].dropna().unique() if isinstance(cell, str)]
        if any(word != word.strip() for word in words):
            cells = frame[column].map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
            cells = cells.mask(cells.isin([""] if column in names else GAPS))
            if column not in names and column not in texts:
                numbers = pd.to_numeric(cells, errors="coerce")
                cells = numbers if numbers.notna().equals(cells.notna()) else cells
            frame[column] = cells
    return frame


def stored_names(schema):
    """Return the names of the columns of a Parquet file, an index with a name among them.

    An index without a name is left out. Names are text; those of several levels are a tuple's text.
    """
    facts = schema.pandas_metadata or {}
    unnamed = {one for one in facts.get("index_columns", ()) if isinstance(one, str)}
    named = {one.get("field_name") for one in facts.get("columns", ()) if one["name"] is not None}
    return [name for name in schema.names if name not in unnamed - named]


def schema_of(source):
    """Return file and schema of a Parquet file, whose columns have distinct names."""
    import_extra("pyarrow", "data", f"reading {source} as Parquet")
    from pyarrow.parquet import read_schema

    file = source.path if source.content is None else io.BytesIO(source.content)
    try:
        schema = read_schema(file)
    except (OSError, ValueError) as error:  # pyarrow raises only these two types of errors
        raise ValueError(f"{source} cannot be read as Parquet: {error}") from error
    check_names(source, stored_names(schema))
    return file, schema


def has_index(schema):
    """Return whether a Parquet file has an index of pandas other than the numbers of the rows."""
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    return any(not isinstance(one, dict) or one.get("name") is not None for one in index)


def read_parquet(source, index=True):
    """Read a Parquet file as a data frame, in which an `index` with a name is the first columns."""
    import pandas as pd

    frame = read_arrow(source, pd.read_parquet)
    frame.columns = [str(name) for name in frame.columns]
    named = [name for name in frame.index.names if name is not None] if index else []
    check_names(source, [*map(str, named), *frame.columns])
    if named:
        frame = frame.reset_index(named)
        frame.columns = [str(name) for name in frame.columns]
    return frame


def read_arrow(source, read, width=None):
    """Return the result of a function that reads `width` columns of a Parquet file, or all."""
    file, _ = schema_of(source)
    from pyarrow.parquet import read_metadata

    try:
        rows, columns = (size := read_metadata(file)).num_rows, width or size.num_columns
        need = f"the table of {rows:,} rows and {columns:,} columns in {source}"
        require_memory(8 * rows * columns, need, "read a part of it by rankbook.read_blocks")
        return read(file)
    except (OSError, ValueError) as error:
        raise ValueError(f"{source} cannot be read as Parquet: {error}") from error


def read_columns(source, columns, names):
    """Read columns of a Parquet file without an index as a data frame.

    Text in the columns `names` becomes categorical, without an object for each cell.
    """
    _, schema = schema_of(source)
    import pyarrow as pa
    from pyarrow.parquet import read_table

    is_text = lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind)
    coded = [name for name in names if is_text(schema.field(name).type)]
    options = dict(columns=columns, read_dictionary=coded, pre_buffer=False)
    read = lambda file: read_table(file, **options).to_pandas(split_blocks=True, self_destruct=True)
    frame = read_arrow(source, read, len(columns))
    pa.default_memory_pool().release_unused()  # pyarrow keeps more than the size of the table
    return frame


def empty_as_missing(frame, names):
    """Return a data frame of Parquet in which empty text in the columns `names` is missing."""
    found = {}
    for name in names:
        if name in frame and frame[name].dtype.kind == "O":
            cells = frame[name].to_numpy(dtype=object)
            empty = np.array([isinstance(cell, str) and cell == "" for cell in cells], dtype=bool)
            if empty.any():
                found[name] = frame[name].mask(empty)
    return frame.assign(**found) if found else frame


def coded_text(frame, names):
    """Return a data frame whose columns `names` are categorical if all their cells are text.

    Empty strings in these columns become missing values.
    """
    import pandas as pd

    found = {}
    for name in names:
        column = frame[name]
        if not isinstance(column.dtype, pd.CategoricalDtype):
            if pd.api.types.infer_dtype(column) != "string":
                continue
            column = pd.Series(categorical_of(column), column.index)
        is_empty = column.cat.categories == ""
        found[name] = column.cat.remove_categories([""]) if is_empty.any() else column
    return empty_as_missing(frame.assign(**found), [name for name in names if name not in found])


class NotNumbers(ValueError):
    """Error for columns that cannot be features; `columns` are their names.

    `columns` does not contain the target. `gaps` are the names of all columns with a missing value.
    """

    def __init__(self, message, columns, gaps=()):
        super().__init__(message)
        self.columns, self.gaps = columns, gaps


ROWS_FROM_0 = "Rows are numbered from 0, after any header."


class Gap(ArgumentError):
    """Error for a missing value in a column."""

    column = None

    @classmethod
    def at(cls, source, column, row, what="nothing"):
        """Return the error for a row of a column."""
        place = f"{source} has {what} in row {row}, column {column!r}"
        error = cls(place, "finite numbers", ROWS_FROM_0)
        error.column = column
        return error


def finite_numbers(source, frame, target=None, start=0, fill=None):
    """Convert the columns of a data frame, whose first row has number `start`, to floats.

    The matrix is float64, or float32 if all columns are float32. Words, NaN and infinity are
    refused, and the error names the place. NaN is replaced by the `fill` value of its column, if
    there is one.
    """
    kinds = set(frame.dtypes)
    if len(kinds) == 1 and kinds <= {np.dtype(np.float64), np.dtype(np.float32)}:
        X = frame.to_numpy()
    else:
        refuse_words(source, frame, target, start)
        try:
            X = frame.to_numpy(dtype=np.float64, na_value=np.nan)
        except OverflowError:  # an integer of hundreds of digits is infinite as a float
            X = frame.astype(str).to_numpy(dtype=np.float64)
    X = X if fill is None else np.where(np.isnan(X), fill, X)
    return require_finite_rows(source, X, list(frame.columns), start=start)


def refuse_words(source, frame, target=None, start=0):
    """Raise :class:`NotNumbers` if columns are not numeric."""
    found = {name: place for name in frame.columns if (place := not_a_number(frame[name]))}
    if not found:
        return
    words = first_of(
        [f"{name!r} ({word!r} in row {start + i})" for name, (i, word) in found.items()]
    )
    features = [name for name in found if name != target]
    advice = "Drop them, take one for the query ids (qid)" if features else "Rank by another column"
    raise NotNumbers(
        f"{source} has columns that are not numbers: {words}. {advice}, "
        "or encode them as numbers first.",
        features,
        [name for name in frame.columns if name != target and frame[name].isna().any()],
    )


def require_finite_rows(source, X, names, line=None, start=0):
    """Return `X`, whose first row has number `start`, if all entries are finite.

    NaN and infinity are refused. The error names row, column and `line` of the first one.
    """
    bad = first_bad(X)
    if bad:
        row, j = bad
        if np.isnan(X[row, j]) and line is None:
            raise Gap.at(source, names[j], start + row, "nan or an empty cell")
        where = ROWS_FROM_0 if line is None else f"That is {line}."
        raise ArgumentError(
            f"{source} has {X[row, j]} in row {start + row}, column {names[j]!r}",
            "finite numbers",
            where,
        )
    return X


def require_ids(source, column, start=0, what="query id"):
    """Raise a ValueError if a row of a column, whose first row has number `start`, lacks an id.

    Floating-point ids that are too large to represent every integer are refused, too.
    """
    missing = column.isna().to_numpy()
    if missing.any():
        raise ValueError(
            f"{source} has no {what} in row {start + int(np.argmax(missing))}, "
            f"column {column.name!r}. Leave these rows out, or name their group."
        )
    kind = getattr(column.dtype, "categories", column).dtype.kind
    if kind == "f" and (inexact := np.abs(values := column.to_numpy()) >= 2**53).any():
        row = int(np.argmax(inexact))
        raise ArgumentError(
            f"{source} has the {what} {values[row]} in row {start + row}, column {column.name!r}",
            "whole numbers, text, or floating point numbers below 2**53",
        )


def row_names(source, column, start=0):
    """Return the names (n,) in a column, whose first row has number `start`.

    The names are integers if all of them are, else text; a missing name is "".
    """
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu":
        return as_names(column.name, column.to_numpy())
    missing, values = column.isna().to_numpy(), column.to_numpy(dtype=object)
    rows = start + np.flatnonzero(~missing)
    names = as_names(f"{source}: column {column.name!r}", values[~missing], rows)
    if not missing.any():
        return names
    found = np.full(missing.size, "", dtype=object)
    found[~missing] = names_as_text(names)
    return found


def ids_of(source, column, start=0):
    """Return ids (n,): integers if all are integers or their decimal text, else text."""
    ids = row_names(source, column, start)
    if ids.dtype.kind == "O" and all(map(_is_integer, set(ids))):
        return np.array(ids, dtype=np.int64) if getattr(source, "is_text", False) else ids
    return ids


def _is_integer(text):
    """Return whether a text is the decimal text of a 64-bit integer."""
    return isinstance(text, str) and re.fullmatch(r"0|-?[1-9]\d{0,17}", text) is not None


@dataclass(frozen=True)
class Roles:
    """Roles of the columns of a table: features, and optionally target, queries and others.

    Each role is the name of a column, or None; `features` is a tuple of names. Features are numeric
    columns unless an `encoding` converts them; see :class:`rankbook.data.encoding.Encoding`.
    """

    features: tuple
    target: str | None = None
    qid: str | None = None
    name: str | None = None
    weight: str | None = None
    group_split: str | None = None
    worse_weight: str | None = None
    time: str | None = None
    event: str | None = None
    entry: str | None = None
    cluster: str | None = None
    encoding: Any = None

    @property
    def names(self):
        """Columns that contain names or ids."""
        return list(
            dict.fromkeys(filter(None, (self.qid, self.name, self.group_split, self.cluster)))
        )

    @property
    def texts(self):
        """Features that are read as text, because a model has categories for them."""
        return [] if self.encoding is None else list(self.encoding.categories)

    @property
    def columns(self):
        """Columns with a role, features first."""
        others = (self.target, self.qid, self.name, self.weight, self.group_split)
        others += (self.worse_weight, self.time, self.event, self.entry, self.cluster)
        return [*self.features, *(column for column in others if column is not None)]

    def items(self, frame):
        """Return the features of a data frame; features that SVMlight text lacks are 0."""
        if isinstance(frame, SparseTable):
            return frame.items(self.features)
        lacking = {name: 0.0 for name in self.features if name not in frame.columns}
        return (frame.assign(**lacking) if lacking else frame)[list(self.features)]

    def _with_numbers(self, frame):
        """Return a data frame in which names that are also features or scores are numbers.

        Categories stay text; those that mean a gap are missing.
        """
        import pandas as pd

        roles = {*self.features, self.target, self.weight, self.worse_weight}
        roles |= {self.time, self.event, self.entry}
        shared = {}
        for column in roles.intersection(self.names):
            if column in self.texts:
                shared[column] = frame[column].where(~frame[column].isin(GAPS))
                continue
            with suppress(ValueError, TypeError):  # text stays, and is refused as a number
                shared[column] = pd.to_numeric(frame[column])
        if not shared:
            return frame
        if isinstance(frame, SparseTable):
            return replace(frame, others=frame.others.assign(**shared))
        return frame.assign(**shared)

    def read(self, source, frame, start=0, name="block"):
        """Make a :class:`rankbook.data.blocks.CheckedBlock` of a data frame from `source`.

        Its first row has number `start`. Numbers must be finite, and query ids must not be missing.
        The scores of survival times are a structured array.
        """
        if len(frame) == 0:
            raise ValueError(f"{source} has column names but no rows.")
        texts, frame = frame, self._with_numbers(frame)
        found, items = dict.fromkeys(("y", "qid", "item_names")), self.items(frame)
        if isinstance(frame, SparseTable):
            frame = frame[list(dict.fromkeys(self.columns[len(self.features) :]))]
        if self.target is not None:
            both = {self.target, *(self.features if self.encoding is None else ())}
            refuse_words(source, frame[[c for c in frame.columns if c in both]], self.target, start)
            found["y"] = finite_numbers(source, frame[[self.target]], self.target, start)[:, 0]
            found["y"] = y = found["y"].astype(np.float64, copy=False)
            for row in np.flatnonzero(np.abs(y) >= 2**53) + start:  # would tie with its neighbour
                if (value := int(frame[self.target].iloc[row - start])) != float(y[row - start]):
                    raise ArgumentError(
                        f"{source} has {value} in row {row}, column {self.target!r}, which a "
                        "float64 rounds",
                        "integers up to 2**53",
                    )
        if self.time is not None:
            found["y"] = self.read_survival(source, frame, start)
        names = None if source.is_numbered else self.features
        if self.encoding is None and hasattr(items, "indptr"):
            X = items
        elif self.encoding is None:
            X = finite_numbers(source, items, start=start)
        else:
            X, names = self.encoding.transform(source, items, start), self.encoding.names
        if self.qid is not None:
            if (self.target, self.time) != (None, None):
                require_ids(source, texts[self.qid], start)
            found["qid"] = ids_of(source, texts[self.qid], start)
        for role in ("weight", "worse_weight"):
            if (column := getattr(self, role)) is not None:
                given = finite_numbers(source, frame[[column]], start=start)[:, 0]
                found[role] = as_vector(f"{column!r} of {name}", given, minimum=0.0)
        if self.name is not None:
            found["item_names"] = row_names(source, texts[self.name], start)
        if self.cluster is not None:
            require_ids(source, texts[self.cluster], start, "cluster")
            found["cluster"] = ids_of(source, texts[self.cluster], start)
        return CheckedBlock(X, **found, name=name, first=start, feature_names=names)

    def read_survival(self, source, frame, start=0):
        """Return times and events of a data frame as a structured array of scikit-survival."""
        said = dict(time="a number", event="1 for the event and 0 for a censored time")
        said |= {} if self.entry is None else dict(entry="a number")
        for argument, wanted in said.items():
            column = frame[name := getattr(self, argument)]
            if found := not_a_number(column):
                place = f"column {name!r} of --{argument} has {str(found[1])!r}"
                row = f"(row {start + found[0]} of {source})"
                raise ValueError(f"{place} {row}. Write {wanted}.")
            if (missing := column.isna().to_numpy()).any():
                row = start + int(np.argmax(missing))
                raise ValueError(
                    f"{source} has no {argument} in row {row}, column {name!r}. "
                    "Leave this patient out."
                )
        time, seen = finite_numbers(source, frame[[self.time, self.event]], start=start).T
        wrong = np.flatnonzero((seen != 0) & (seen != 1))
        if wrong.size:
            raise ArgumentError(
                f"{source} has {seen[wrong[0]]:g} in row {start + wrong[0]}, column {self.event!r}",
                "1 where the event was seen and 0 where the time is censored",
                "If it is coded 1 and 2, subtract 1." * bool(seen[wrong[0]] == 2),
            )
        found = np.empty(len(time), dtype=[("event", bool), ("time", np.float64)])
        for row in np.flatnonzero(time < 0)[:1]:
            place = f"in row {start + row}, column {self.time!r} of {source}"
            asked = "is below 0; is it a code for a missing time?"
            warn(Assumption(f"time {time[row]:g} {place}, {asked}"))
        found["event"], found["time"] = seen == 1, time
        if self.entry is None:
            return found
        entry = finite_numbers(source, frame[[self.entry]], start=start)[:, 0]
        late = np.flatnonzero(entry >= time)
        if late.size:
            raise ArgumentError(
                f"{source} has an entry at {entry[late[0]]:g} in row {start + late[0]}, column "
                f"{self.entry!r}, where {self.time!r} is {time[late[0]]:g}",
                "Leave out rows without a time at risk.",
            )
        whole = np.empty(len(time), dtype=[*found.dtype.descr, ("entry", np.float64)])
        for name in found.dtype.names:
            whole[name] = found[name]
        whole["entry"] = entry
        return whole


def is_sparse(n, d, entries):
    """Return whether n rows of SVMlight text stay sparse: many features, nearly all 0."""
    return d > 1000 and 20 * entries < n * d


@dataclass(frozen=True)
class SparseTable:
    """Table of SVMlight text with sparse features and an interface like a data frame.

    Parameters
    ----------
    others : DataFrame
        The columns that are not features.
    X : csr_array of shape (n, d)
    features : list of str
        Names of the columns of X.
    """

    others: Any
    X: Any
    features: list

    @property
    def columns(self):
        """Names of all columns."""
        return [*self.others.columns, *self.features]

    def __len__(self):
        return len(self.others)

    def __contains__(self, name):
        return name in self.columns

    def __getitem__(self, names):
        """Return a column, or a data frame of a list of columns."""
        if isinstance(names, str):
            return self[[names]][names]
        features = [name for name in names if name not in self.others]
        columns = dict(zip(features, self.items(features).toarray().T))
        return self.others.assign(**columns)[names]

    def items(self, names):
        """Return the named features as a csr_array; features that are not here are 0."""
        from scipy.sparse import csr_array

        (n, d), places = self.X.shape, {name: j for j, name in enumerate(self.features)}
        X = csr_array((self.X.data, self.X.indices, self.X.indptr), shape=(n, d + 1))
        X = X[:, [places.get(name, d) for name in names]]
        X.sort_indices()
        return X


def stack(arrays):
    """Stack arrays, or items of which some are sparse, vertically."""
    if all(isinstance(A, np.ndarray) for A in arrays):
        return np.concatenate(arrays)
    from scipy.sparse import csr_array, vstack

    return vstack([csr_array(A) for A in arrays], format="csr")


def as_column_names(argument, value):
    """Return column names as a list or tuple; None means no names."""
    if value is None:
        return ()
    value = value.tolist() if hasattr(value, "tolist") else value  # an array or a pandas index
    if not isinstance(value, (list, tuple)) or not all(isinstance(each, str) for each in value):
        raise ArgumentError(f"{argument} is {describe_value(value)}", "a list of names")
    return value


def find_roles(
    source,
    columns,
    target=None,
    qid=None,
    *,
    features=None,
    drop=(),
    needs_target=True,
    of_model=False,
    **others,
):
    """Find the :class:`Roles` of the columns of a table.

    Parameters
    ----------
    source : Source or FileTable
        Named in errors.
    columns : list of str
    target, qid, name, weight, worse_weight, group_split : str, optional
        Columns. By default the target, if it is needed, and the query ids are found by their names
        among columns without another role, with an :class:`Assumption`. The default name is a
        column docid. ``qid="none"`` means no queries.
    cluster : str, optional
        Column of clusters of dependent rows, which may also hold the query ids or names.
    time, event : str, optional
        Columns of survival times and observed events, instead of a target. Query ids are then
        strata; by default there are none.
    entry : str, optional
        Column of times at which patients come under observation. A feature with a name such as
        "start" next to survival times causes an :class:`Assumption`.
    features, drop : sequence of str, optional
        By default the features are all columns without another role that are not dropped.
    needs_target : bool, default True
    of_model : bool, default False
        Whether the features are those of a model. One of them may also be the target; a table of
        scores has no features.

    Raises
    ------
    ValueError, TypeError
        If there is no target, no such column (the error suggests the nearest name), no feature, or
        a column with two roles.
    """
    given = dict.fromkeys(ROLES) | dict(target=target, qid=qid) | others
    for role, column in given.items():
        if not (column is None or isinstance(column, str)):
            raise ArgumentError(f"{role} is {describe_value(column)}", "the name of a column")
    drop = as_column_names("drop", drop)
    features = None if features is None else as_column_names("features", features)
    _check_survival(source, given)
    roles, because = dict(given), {role: "given" for role, column in given.items() if column}
    if given["time"] is not None:
        needs_target, roles["qid"] = False, qid or "none"
    if source.is_numbered:
        roles |= _numbered_roles(source, columns, given, drop, needs_target)
    notes, group = [], given["group_split"]
    effect = "makes it a feature" if features is None else "compares all rows"
    for role, (names, note) in GUESSED.items():
        if roles[role] is not None or role == "target" and not needs_target:
            continue
        busy = {*drop, *(features or ()), *roles.values()} - {group if role == "qid" else None}
        found = [column for column in columns if column.casefold() in names and column not in busy]
        if role == "qid" and len(found) > 1:
            found = [column for column in found if column != group]
            if len(found) > 1:
                raise ValueError(
                    f"{source} has {len(found)} columns that may hold the query ids, "
                    f"{' and '.join(map(repr, found))}. Name one of them with qid, or give "
                    "qid='none' to make all of them features."
                )
        if len(found) == 1:
            roles[role], because[role] = found[0], "its name"
            if note is not None:
                notes.append(note.format(column=found[0], source=source, effect=effect))
    if roles["target"] is None and needs_target:
        raise ArgumentError(
            "target is None",
            f"the name of a column of {source} to rank by, one of: {', '.join(columns)}",
        )
    roles["qid"] = None if roles["qid"] == "none" else roles["qid"]
    _check_columns(roles, drop, columns)
    others = {*roles.values(), *drop}
    free = [column for column in columns if column not in others]
    if features is None:
        features = free
    else:
        _check_features(source, features, columns if of_model else free, others, of_model)
    if not features and not of_model:
        main = ("target", "qid", "time", "event")
        named = [f"{role} {roles[role]!r}" for role in main if roles[role]]
        raise ValueError(
            f"{source} has no columns besides {' and '.join(named) or 'those left out'}. "
            "Add at least one feature."
        )
    used = [(c, role, because.get(role, "its format")) for role, c in roles.items() if c]
    some = ", ".join(map(str, features[:8])) + ", ..." * (len(features) > 8)
    if given["time"] is not None and given["entry"] is None and not of_model:
        for column in features:
            if column.casefold() in STARTS:
                notes.append(
                    f"feature: column {column!r} of {source}. If patients come under observation "
                    f"then, pass entry={column!r}; else rename the column."
                )
    for note in notes:
        warn(Assumption(note))
    used_columns = {*features, *roles.values()}
    left_over = [column for column in columns if column not in used_columns]
    explain(source, "each row is an item", used, left_over, [f"features: {some}"])
    return Roles(tuple(features), **roles)


SURVIVAL = ("time", "event", "entry")
ROLES = ("target", "qid", "name", "weight", "worse_weight", "group_split", "cluster", *SURVIVAL)
STARTS = {"start", "tstart", "start_time", "entry", "entry_time", "entry_age"}
# Roles that the name of a column decides, the most specific first: names and the note about it.
GUESSED = dict(
    name=(("docid",), None),
    target=(("target", "label"), "target: column {column!r} of {source}."),
    qid=(
        ("qid", "query", "query_id", "group", "session"),
        "query ids: column {column!r} of {source}; qid='none' {effect}.",
    ),
)


def _check_survival(source, given):
    """Refuse survival times without events, entries without times, or either with a target."""
    time, event = given["time"], given["event"]
    for (role, column), other in ((("time", time), "event"), (("event", event), "time")):
        if column is not None and given[other] is None:
            raise ArgumentError(f"{role} is {column!r} and {other} is None", "both or neither")
    if given["entry"] is not None and time is None:
        raise ArgumentError(f"entry is {given['entry']!r} and time is None", "time and event too")
    if time is not None and given["target"] is not None:
        raise ArgumentError(f"target is {given['target']!r}", "Omit target for survival times.")
    if time is not None and source.is_numbered:
        raise ArgumentError(f"time is {time!r}", f"Omit time for {source}, which is SVMlight text.")


def _numbered_roles(source, columns, given, drop, needs_target):
    """Return the roles that the format of SVMlight text defines."""
    if needs_target:
        for role, column in (given | dict(drop=drop or None)).items():
            if column is not None and role != "name":
                raise ArgumentError(
                    f"{role} is {column!r}",
                    f"Omit {role} for {source}, because SVMlight text has the label and qid in "
                    "each line and no names.",
                )
    return dict(
        target=given["target"] or "label",
        qid=given["qid"] or ("qid" if "qid" in columns else "none"),
        name=given["name"] or ("docid" if "docid" in columns else None),
    )


def _check_columns(roles, drop, columns):
    """Refuse unknown columns, and columns with two roles."""
    given = [*roles.items(), *(("drop", column) for column in drop)]
    given = [(role, column) for role, column in given if column is not None]
    for role, column in given:
        if column not in columns:
            raise unknown_name(role, column, columns)
    for (first, column), (second, other) in combinations(given, 2):
        allowed = first == second or first == "qid" and second in ("group_split", "cluster")
        if column == other and not allowed and "name" not in (first, second):
            raise ArgumentError(
                f"{first} and {second} are both {column!r}", "two different columns"
            )


def _check_features(source, features, known, others, of_model):
    """Refuse features that are unknown or given twice."""
    known_ones = set(known)
    unknown = [each for each in features if each not in known_ones]
    if source.is_numbered:  # features that no line mentions are 0
        unknown = [each for each in unknown if each in others or not each.startswith("feature ")]
    if unknown and of_model:
        raise ValueError(
            f"{source} has no column {unknown[0]!r}, which the model knows; "
            f"it has {first_of([*map(str, known)])}."
        )
    if unknown:
        raise unknown_name("features", unknown[0], known)
    if len(set(features)) < len(features):
        raise ArgumentError(f"features is {list(features)}", "each column only once")


class FrameReader:
    """Reader of a file as a data frame, whose columns are known before the rows are read.

    Attributes
    ----------
    source : Source or FrameSource
    columns : list of str

    Raises
    ------
    ValueError
        If the contents do not match the ending, or cannot be read.
    """

    def __init__(self, source):
        self.source, self.text, self.frame = source, None, None
        if isinstance(source, FrameSource):
            self.columns = list(source.columns)
        elif source.kind == "Parquet" and not has_index(schema := schema_of(source)[1]):
            self.columns = stored_names(schema)
        elif source.kind == "Parquet" or source.is_numbered:
            self.frame = read_parquet(source) if source.kind == "Parquet" else numbered_of(source)
            self.columns = list(self.frame.columns)
        else:
            self.text = CSVReader(source)
            self.columns = self.text.columns

    def read(self, names=(), columns=None, texts=(), coded=False):
        """Return the file, or some of its columns, as a pandas DataFrame or :class:`SparseTable`.

        Cells of the columns `names` of text stay text, and only empty ones are missing. Cells of
        the columns `texts` stay text, too, and those that mean a gap are missing. SVMlight
        text has the columns label, qid if it names queries, docid if it names documents as in
        LETOR, and the features. :func:`is_sparse` decides whether it stays sparse. Columns of names
        are categorical if they are text and `coded`.
        """
        if self.text is not None:
            return self.text.read(names, columns, texts, coded)
        if isinstance(self.source, FrameSource):
            frame = self.source.read(self.columns if columns is None else columns)
        elif self.frame is None and columns is not None:
            frame = read_columns(self.source, columns, names if coded else ())
        else:
            if self.frame is None:
                self.frame = read_parquet(self.source)
            frame = self.frame if columns is None else self.frame[columns]
        if coded:
            return coded_text(frame, names)
        return frame if self.source.is_numbered else empty_as_missing(frame, names)

    def cells(self, column):
        """Return the distinct cells of a column, those of text as text."""
        if self.text is not None:
            return self.text.cells(column)
        return self.read([column], [column], coded=True)[column].unique()


def read_frame(source, names=lambda columns: ()):
    """Read a file by :class:`FrameReader`; `names` returns the columns of names among all."""
    reader = FrameReader(source)
    return reader.read(names(reader.columns))


def numbered_of(source):
    """Read SVMlight text as a table."""
    return numbered_frame(*read_svmlight(source), require_docids(source))


def require_docids(source):
    """Return the names of documents in SVMlight text; None and a warning if one has no name."""
    with source.open() as stream:
        if not any(b"docid" in line for line in stream):
            return None
    lines = list(data_lines(source))
    found = docids_of(line for _, line in lines)
    if all(found):
        return found
    if any(found):
        warn_of_docids(source, *lines[found.index("")])


def warn_of_docids(source, number, line):
    """Warn of the first line of SVMlight text without a name if other lines have names."""
    said = f"{source}: {show_line(number, line)} has no #docid, so documents have no names."
    warn(Assumption(said))


def numbered_frame(X, names, y, qid, docids=None):
    """Return the results of :func:`read_svmlight` and :func:`docids_of` as a table."""
    import pandas as pd

    dense = isinstance(X, np.ndarray)
    frame = (
        pd.DataFrame(X, columns=names, copy=False) if dense else pd.DataFrame(index=range(len(y)))
    )
    if docids is not None:
        frame.insert(0, "docid", docids)
    if qid is not None:
        frame.insert(0, "qid", qid)
    frame.insert(0, "label", y)
    return frame if dense else SparseTable(frame, X, names)


def data_lines(source):
    """Yield number (from 1) and bytes of every line that is not only a comment."""
    with source.open() as stream:
        for number, line in enumerate(stream, start=1):
            if line.split(b"#")[0].strip():
                yield number, line


def show_line(number, line):
    """Format a line for an error."""
    return f"line {number}, {line.decode(errors='replace').strip()[:60]!r}"


def _bad_line(source, block=1000):
    """Describe the first line that scikit-learn cannot read, and the reason."""
    from sklearn.datasets import load_svmlight_file

    def reason(lines):
        try:
            load_svmlight_file(
                io.BytesIO(b"".join(line for _, line in lines)), query_id=True, zero_based=True
            )
        except (ValueError, OverflowError) as error:
            return error

    lines = data_lines(source)
    while part := list(islice(lines, block)):
        if reason(part):
            number, line = next(one for one in part if reason([one]))
            return f"{show_line(number, line)} ({str(reason([(number, line)]))[:80]})"
    raise AssertionError(f"every line of {source} can be read by itself")


class LinesWithIds:
    """Lines of a stream of SVMlight text; their query ids are collected in `ids`.

    scikit-learn can collect them, too, but it copies all of them for each line.
    """

    def __init__(self, stream):
        self.stream, self.ids = stream, array("q")

    def read(self, *size):
        """Read from the stream; scikit-learn recognizes a file by this method."""
        return self.stream.read(*size)

    def __iter__(self):
        for line in self.stream:
            words = line.split(None, 2)  # without a copy of the line
            if len(words) > 1 and words[1].startswith(b"qid") and b"#" not in words[0]:
                self.ids.append(int(words[1].partition(b"#")[0].partition(b":")[2]))
            yield line


def read_sparse(source, stream, first=None):
    """Read part of a file: sparse X whose column j is index j, labels, and query ids or None.

    `first` is the number of its first row; None means the whole file, which must have a feature.

    Raises
    ------
    ValueError
        If a line is not SVMlight text, or contains NaN or infinity.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(lines := LinesWithIds(stream), zero_based=True)
    except (ValueError, OverflowError) as error:
        raise ArgumentError(
            f"{source} is not SVMlight text in {_bad_line(source)}",
            "Write `label qid:query index:value ...`, with increasing indices.",
        ) from error
    refuse_rounded_labels(source, y, first or 0)
    qid = np.array(lines.ids, dtype=np.int64)
    if X.nnz == 0 and first is None:
        raise ArgumentError(
            f"{source} has {len(y)} labels and no feature",
            "Write lines of the form `label qid:query index:value ...`.",
        )
    if len(qid) not in (0, len(y)):
        refuse_missing_qid(source)
    for values, rows in ((y, None), (X.data, X.indptr)):
        if bad := first_bad(values):
            row = bad[0] if rows is None else int(np.searchsorted(rows, bad[0], "right")) - 1
            name = "label" if rows is None else f"feature {X.indices[bad[0]]}"
            row += first or 0
            line = show_line(*next(islice(data_lines(source), row, None)))
            require_finite_rows(source, values[bad].reshape(1, 1), [name], line, row)
    return X, y, qid if len(qid) else None


def refuse_rounded_labels(source, y, first):
    """Raise an ArgumentError for an integer label that a float64 rounds, in rows from `first`."""
    rows = np.flatnonzero(np.abs(y) >= 2**53)
    if not rows.size:
        return
    for row, (number, line) in enumerate(islice(data_lines(source), first, first + len(y))):
        label = line.split()[0]
        is_whole = abs(y[row]) >= 2**53 and label.lstrip(b"+-").isdigit()
        if is_whole and int(label) != float(y[row]):
            raise ArgumentError(
                f"{source} has a label that float64 cannot represent exactly, in "
                f"{show_line(number, line)}",
                "integers from -2**53 to 2**53",
            )


def refuse_missing_qid(source):
    """Raise a ValueError that shows the first line of SVMlight text without a query id."""
    without = next(one for one in data_lines(source) if b"qid:" not in one[1].split(b"#")[0])
    raise ArgumentError(
        f"{source} has qid on some of its lines and none in {show_line(*without)}",
        "qid on all lines or on none",
    )


def read_svmlight(source):
    """Read X (n, d), column names, labels (n,), and query ids or None of a file.

    X is a csr_array if :func:`is_sparse` decides so, otherwise dense.

    Raises
    ------
    ValueError
        If a line is no SVMlight text, or holds NaN or infinity.
    MemoryError
        If the table would not fit in memory.
    """
    with source.open() as stream:
        X, y, qid = read_sparse(source, stream)
    if qid is not None:
        note_queries_again(source, qid)
    low, width = 0 if (X.indices == 0).any() else 1, X.shape[1]
    n, d = X.shape[0], width - low
    X = without_first(X, low)
    stays = is_sparse(n, d, X.nnz)
    require_table(source, n, d, X.nnz if stays else None)
    return X if stays else X.toarray(), [f"feature {j}" for j in range(low, width)], y, qid


def note_queries_again(source, qid):
    """Warn if a query id of SVMlight text recurs after other ids. O(n + q log q)."""
    starts = np.flatnonzero(np.r_[True, qid[1:] != qid[:-1]])
    ids, first = np.unique(qid[starts], return_index=True)
    if ids.size == starts.size:
        return
    row = int(np.delete(starts, first)[0])
    line = show_line(*next(islice(data_lines(source), row, None)))
    warn(
        Assumption(
            f"query ids: {source} has query {qid[row]} again in {line}, after other queries. All "
            "rows with one id are one query; give different queries different ids."
        )
    )


def without_first(X, count):
    """Return a csr_array without its first `count` columns, which have no entry."""
    from scipy.sparse import csr_array

    return csr_array((X.data, X.indices - count, X.indptr), shape=(X.shape[0], X.shape[1] - count))


_DOCID = re.compile(rb"#.*?\bdocid\s*=\s*(\S+)")


def docids_of(lines):
    """Return the names in comments ``#docid = NAME`` as a list of str, "" without a name."""
    found = map(_DOCID.search, lines)
    return [each[1].decode(errors="replace") if each else "" for each in found]


def require_table(source, n, d, entries=None):
    """Raise a MemoryError if n rows of d features of SVMlight text do not fit in memory.

    If they stay sparse, `entries` is the number of stored entries.
    """
    # the numbers, with a mask or their indices, and the feature names
    numbers = 9 * n * d if entries is None else 24 * entries
    require_memory(
        numbers + 120 * d,
        f"the table of {n} rows and {d} features in {source}",
        "number the features without gaps, leave some out, or read blocks of fewer rows",
    )


def read_table(
    path: str | os.PathLike,
    target: str | None = None,
    qid: str | None = None,
    *,
    name: str | None = None,
    drop: Sequence[str] = (),
    group_split: str | None = None,
) -> Dataset:
    """Read items to rank from a file.

    Parameters
    ----------
    path : str or path
        CSV (``.csv`` with commas, semicolons or tabs, ``.tsv``; UTF-8, with a header), Parquet
        (``.parquet``; a named pandas index becomes a column), or SVMlight/LETOR (``.svm .svmlight
        .letor .txt .dat``); each may be compressed with gzip (``.csv.gz``).
    target : str, optional
        The column of the scores to rank by; higher is preferred. By default a column named target
        or label (in upper or lower case), reported by an :class:`Assumption`. Not allowed for
        SVMlight, which has a label.
    qid : str, optional
        The column with the query of each row, or "none". By default a column named qid, query,
        query_id, group or session (in upper or lower case), reported by an :class:`Assumption`. For
        CSV and Parquet only.
    name : str, optional
        The column with the names of the rows, which is not a feature; by default docid, if it
        exists. In LETOR text the name is the comment ``#docid = NAME``.
    drop : sequence of str, optional
        Columns to leave out. For CSV and Parquet only.
    group_split : str, optional
        Column of groups, such as users, which is not a feature. A split keeps the rows of a group
        in one part. For CSV and Parquet only.

    Returns
    -------
    Dataset
        All other columns are features, in the order of the file, as float64, not standardized.
        SVMlight text stays sparse (CSR) if it has more than 1000 features and mentions fewer than
        one in twenty entries; other text becomes dense. `item_names` comes from the column `name`.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If the file is empty, has an unknown ending, or its content does not match the ending; if
        there is no such column (the error suggests the nearest name), no feature, a column that is
        not numeric (:class:`NotNumbers`), NaN or infinity, or a line that is not SVMlight text. The
        error names the place in the file.
    MemoryError
        If an SVMlight file does not fit in memory.

    Warns
    -----
    Assumption
        If the target, query ids or decimal commas were guessed, or a query id of SVMlight text
        recurs after other queries.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankbook as rb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "table.csv")
    ...     _ = file.write_text("car,mpg,weight\\nbuick,15,3693\\nfiat,29,2130\\n")
    ...     data = rb.read_table(file, target="mpg", name="car")
    >>> data.y, data.feature_names, data.item_names
    (array([15., 29.]), ['weight'], ['buick', 'fiat'])
    """
    reader = FrameReader(as_source(path))
    more = dict(name=name, group_split=group_split, drop=drop)
    roles = find_dataset_roles(reader.source, reader.columns, target, qid, **more)
    return as_dataset(reader.source, reader.read(roles.names), roles)


def find_dataset_roles(source, columns, target, qid, **more):
    """Find the :class:`Roles` of the columns of a whole data set; see :func:`find_roles`."""
    if len(columns) == 1:
        raise ValueError(
            f"{source} has only one column, {columns[0]!r}. Write a target and at least "
            "one feature, separated by commas, semicolons or tabs."
        )
    return find_roles(source, columns, target, qid, **more)


# names of columns that usually hold ids, such as "id", "patient_id" and "customerID"
ID_NAME = re.compile(r"(?i:(^|[\W_])(id|ids|uid|uuid|idx|index|key|nr))$|[a-z]I[dD]$")
FEW, MANY = 3, 1000  # rows from which a name, or only different integers, suggest ids


def note_id_columns(source, frame, roles, rows="row", way="name='{0}' or drop=['{0}']"):
    """Note features that hold a different integer in each row, as ids do. O(n) for each.

    In tables of fewer than a thousand rows they must also be named like ids. `rows` names the rows
    of the frame, all of the source or some, and `way` the arguments that ids are passed by.
    """
    if isinstance(frame, SparseTable) or source.is_numbered or len(frame) < FEW:
        return
    found = []
    for name in roles.features:
        column = frame[name]
        if getattr(column.dtype, "kind", "O") not in "iu":
            continue
        if (len(frame) >= MANY or ID_NAME.search(name)) and column.iloc[:MANY].is_unique:
            found += [name] if column.is_unique else []
    if found:
        some = first_of([repr(name) for name in found], 5)
        one = len(found) == 1
        warn(
            Assumption(
                f"features: {'column' if one else 'columns'} {some} of {source} "
                f"{'has' if one else 'have'} a different integer in each {rows}, as ids have. "
                f"For ids pass {way.format(found[0])}."
            )
        )


def as_dataset(source, frame, roles):
    """Make a :class:`Dataset` of a data frame that was read from `source`."""
    note_id_columns(source, frame, roles)
    block, found = roles.read(source, frame), {}
    ids = dict(qid=block.qid)
    if roles.group_split is not None:
        require_ids(source, frame[roles.group_split], what="group")
        ids["groups"] = ids_of(source, frame[roles.group_split])
    for role, each in ids.items():
        if each is not None:
            found[role] = each if each.dtype.kind == "i" else names_as_text(each).astype(str)
    given = "" if source.is_numbered else f", ranked by {roles.target!r}"
    if given and roles.qid is not None:
        given += f", query ids from {roles.qid!r}"
    return Dataset(
        block.X,
        block.y,
        **found,
        name=source.stem,
        item_names=block.item_names,
        feature_names=roles.features if roles.encoding is None else roles.encoding.names,
        encoding=roles.encoding,
        description=f"Read from {source.name}{given}.",
        source=source.name,
    )
