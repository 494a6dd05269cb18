"""Readers of win matrices, PrefLib files and query sizes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.errors import ArgumentError
from ..base.tables import count, explain
from ..base.validation import as_choice
from ..preferences.graph import Preferences
from ..preferences.orders import Orders
from .preflib import is_preflib, read_preflib
from .table import CSVReader, FrameSource, as_source, check_names, read_parquet


def read_wins(path):
    """Read a win matrix from a table, for :meth:`rankbook.Preferences.from_wins`.

    Parameters
    ----------
    path : str, path or Source
        CSV, TSV or Parquet. The first column contains the names of the winners, the header the
        names of the losers, and the name of the first column does not matter. Empty cells are
        missing.

    Returns
    -------
    DataFrame
        Its index and its columns are text.

    Raises
    ------
    OSError, ValueError
        If the file cannot be read, or a cell is not a number; the error names the place.
    """
    import pandas as pd

    source = as_source(path)
    if source.is_numbered or isinstance(source, FrameSource):
        ways = "rb.Preferences.from_wins reads a data frame."
        raise ArgumentError(
            f"{source} is {source.kind}", "a win matrix in CSV, TSV or Parquet", ways
        )
    if source.kind == "Parquet":
        frame = read_parquet(source, index=False)
        if isinstance(frame.index, pd.RangeIndex):
            frame = frame.set_index(frame.columns[0])
        frame.index = frame.index.map(str)
    else:
        reader = CSVReader(source, named=False)
        frame = reader.read(reader.columns).fillna("").set_index("")
    check_names(source, list(frame.columns))
    if not len(frame):
        raise ValueError(f"{source} has column names but no rows.")
    numbers = frame.replace("", np.nan).apply(pd.to_numeric, errors="coerce")
    wrong = np.argwhere((numbers.isna() & frame.notna() & (frame != "")).to_numpy())
    if wrong.size:
        i, j = wrong[0]
        raise ArgumentError(
            f"{source} has {frame.iloc[i, j]!r} for {frame.index[i]!r} against "
            f"{frame.columns[j]!r}",
            "numbers of wins, in a row and a column for each item",
        )
    return numbers


@dataclass
class WholeFile:
    """A PrefLib file or a win matrix, which has no columns to name.

    It has the attributes and methods of :class:`rankbook.data.records.Records` that readers use.

    Attributes
    ----------
    source : Source, str or path
    kind : type
        Preferences or Orders.
    form : {"orders", "wins"}
    columns : dict
        Options of the method that makes orders, such as `unranked`.
    """

    source: Any
    kind: type
    form: str
    columns: dict

    def make(self, items=None):
        """Return preferences or orders; `items` are all alternatives of a file by default."""
        try:
            if self.form == "wins":
                wins = read_wins(self.source)
                rows = [("the first", "names of the winners", "the form"), ("others", "losers", "")]
                explain(self.source, f"a win matrix of {count(len(wins), 'row')}", rows)
                return self.kind.from_wins(wins, items=items)
            found = read_preflib(self.source)
            what = (
                f"{count(len(found.orders), 'order')} of {count(found.weight.sum(), 'voter', 'g')} "
                "(by its ending)"
            )
            explain(self.source, what, [("number before an order", "weight", "its format")])
            items = found.items if items is None else items
            options = dict(items=items, weight=found.weight, **self.columns)
            return self.kind.from_rankings(found.orders, **options)
        except ArgumentError as error:
            if not error.argument.startswith(("wins", "orders")):
                raise
            raise error.renamed(f"{self.source}: {error.argument}") from error

    def make_grouped(self, group, items=None):
        """Refuse groups, which the file does not contain."""
        raise ArgumentError(
            f"group is {group!r}, and each line of {self.source} counts many votes",
            "a table of individual votes",
        )


def find_whole(kind, path, form, options):
    """Return the :class:`WholeFile` of a PrefLib file or a win matrix; None for other files.

    Parameters
    ----------
    kind : type, optional
        Preferences or Orders; by default Orders for PrefLib files.
    path : Source, str or path
    form : str or None
        "wins" for a win matrix.
    options : dict
        For Orders of a PrefLib file, arguments of :meth:`rankbook.Orders.from_rankings`.

    Raises
    ------
    ValueError
        If the form or an option does not fit the file.
    """
    if not (preflib := is_preflib(path)) and form != "wins":
        return None
    if preflib and form is not None:
        as_choice("form", form, ("orders",))
    kind = kind or (Orders if preflib else Preferences)
    known = ("top", "unranked", "ties") if preflib and kind is Orders else ()
    for name in options:
        if name not in known:
            what = "the PrefLib file" if preflib else "the win matrix"
            raise ArgumentError(
                f"{name} is given with {what} {path}",
                f"only {' or '.join(known)}" if known else "no column names",
            )
    return WholeFile(path, kind, "orders" if preflib else "wins", options)


def read_group_sizes(path, n):
    """Read query ids (n,) from LightGBM's file of query sizes.

    Parameters
    ----------
    path : str or path
        A text file, such as ``rank.train.query``, with the number of rows of a query in each line.
    n : int
        Number of rows of the data.

    Returns
    -------
    ndarray of shape (n,), int64
        The number of each row's query, from 0.

    Raises
    ------
    OSError, ValueError
        If the file cannot be read, a line is not a number, or the sizes do not sum to n.
    """
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    wrong = [i for i, line in enumerate(lines) if line and not line.isdecimal()]
    if wrong:
        raise ArgumentError(
            f"{path} has {lines[wrong[0]]!r} in line {wrong[0] + 1}",
            "Write the number of rows of one query in each line.",
        )
    sizes = np.array([int(line) for line in lines if line], dtype=np.int64)
    if (total := int(sizes.sum())) != n:
        raise ArgumentError(
            f"{path} has sizes that sum to {total}",
            f"sizes that sum to {n}, the number of rows of the data",
        )
    return np.repeat(np.arange(sizes.size), sizes)
