"""Readers of CSV, SVMlight and Parquet files."""

import csv
import io
import warnings
from functools import partial

import numpy as np

from ..base.limits import import_extra, require_memory, warn
from .sources import Assumption


def _is_number(word):
    """Whether a word can be read as a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def check_names(path, names):
    """Refuse columns that have no name, or that of another."""
    for j, name in enumerate(names):
        if not name:
            raise ValueError(
                f"{path} has no name for column {j}. If it is an index saved by mistake, "
                "save the table without its index."
            )
        if name in names[:j]:
            raise ValueError(
                f"{path} has two columns named {name!r}: columns {names.index(name)} and {j}; "
                "rename one."
            )


def not_a_number(column):
    """The first entry of a column that is not a number: its row and itself.

    The column is of words, dates or mixtures; in a column of numbers the answer is None.
    """
    import pandas as pd

    # numbers kept as objects, such as integers beyond 64 bits
    exact = (
        "integer",
        "floating",
        "mixed-integer-float",
        "decimal",
    )
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.infer_dtype(column) in exact:
        return None
    bad = column.notna().to_numpy()
    # among words, some may be readable as numbers
    if pd.api.types.is_string_dtype(column.dropna()):
        bad = bad & pd.to_numeric(column, errors="coerce").isna().to_numpy()
    row = int(np.argmax(bad))
    return row, column.iloc[row]


def _check_header(path, names):
    """Refuse a first line of a CSV file that is not its header."""
    if all(_is_number(name) for name in names):
        raise ValueError(
            f"{path} begins with numbers ({', '.join(names[:3])}, ...), "
            "not with the names of its columns; add a first line of names."
        )
    check_names(path, names)


def separator_of(source):
    """What separates columns: comma, semicolon or tab, by which gives the header most names."""
    with (
        source.open() as stream,
        io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text,
    ):
        header = next((line for line in text if line.strip()), "")
    counts = {
        mark: len(next(csv.reader([header], delimiter=mark, skipinitialspace=True)))
        for mark in ",;\t"
    }
    return max(counts, key=counts.get)


def chosen_decimals(source, points, commas):
    """The table with fewer columns of words, of one read with decimal points and one with commas.

    That it is the commas is said.
    """
    words = [
        sum(not_a_number(table[name]) is not None for name in table.columns)
        for table in (points, commas)
    ]
    if words[1] >= words[0]:
        return points
    warn(Assumption(f"{source} is read with commas as decimal points."))
    return commas


def read_csv(source, separator=None, decimal=None, dtype=None):
    """A CSV file as a data frame; a row longer than the header is an error.

    What separates columns, the decimal point and types of some columns may be known.
    """
    import pandas as pd

    def read(**options):
        with source.open() as stream:
            return pd.read_csv(
                stream, sep=separator, skipinitialspace=True, encoding="utf-8", **options
            )

    try:
        separator = separator or separator_of(source)
        header = read(header=None, nrows=1, dtype=str, keep_default_na=False)
        _check_header(source, [str(name).strip() for name in header.iloc[0]])
        read = partial(read, skip_blank_lines=header.shape[1] > 1)  # in one column they are values
        # pandas only warns when it drops the end of a row
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            whole = dict(index_col=False, low_memory=False, dtype=dtype)
            frame = read(**whole, decimal=decimal or ".")
            commas = read(**whole, decimal=",") if separator == ";" and decimal is None else None
    except (
        pd.errors.ParserError,
        pd.errors.EmptyDataError,
        pd.errors.ParserWarning,
        UnicodeDecodeError,
        csv.Error,
    ) as error:
        raise ValueError(f"{source} cannot be read as CSV text: {error}") from error
    frame = frame if commas is None else chosen_decimals(source, frame, commas)
    return frame.rename(columns=str.strip)


def read_parquet(source):
    """A Parquet file as a data frame."""
    import pandas as pd

    import_extra("pyarrow", "data", f"reading {source} as Parquet")
    from pyarrow.parquet import read_metadata

    try:
        file = source.path if source.content is None else io.BytesIO(source.content)
        rows, columns = (size := read_metadata(file)).num_rows, size.num_columns
        need = f"the table of {rows:,} rows and {columns:,} columns in {source}"
        require_memory(8 * rows * columns, need, "read a part of it by rankbook.read_blocks")
        frame = pd.read_parquet(file).rename(columns=str)
    except (OSError, ValueError) as error:  # every error of pyarrow is one of the two
        raise ValueError(f"{source} cannot be read as Parquet: {error}") from error
    check_names(source, list(frame.columns))
    return frame
