"""Readers of win matrices, of counted orders in rows, and of LightGBM's files of query sizes."""

import numpy as np

from ..base.errors import ArgumentError
from ..base.validation import as_choice, unknown_name
from ..preferences.graph import Preferences
from .preflib import is_preflib, read_preflib
from .table import as_source, check_names, csv_errors, head_of, open_csv, read_parquet

COUNTS = ("n", "count", "counts", "votes", "voters", "ballots", "weight", "freq", "frequency")


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
    if source.is_numbered:
        raise ArgumentError(f"{source} is {source.kind}", "a win matrix in CSV, TSV or Parquet")
    if source.kind == "Parquet":
        frame = read_parquet(source)
        if isinstance(frame.index, pd.RangeIndex):
            frame = frame.set_index(frame.columns[0])
        frame.index = frame.index.map(str)
    else:
        mark, skipped = head_of(source)
        mark = mark if source.kind == "CSV text" else "\t"
        how = dict(sep=mark, skiprows=skipped, skipinitialspace=True, encoding="utf-8-sig")
        with csv_errors(source), open_csv(source, mark) as stream:
            frame = pd.read_csv(stream, **how, header=None, dtype=str, keep_default_na=False)
        frame = frame.fillna("").set_index(0)
        frame = frame.set_axis(frame.iloc[0], axis=1).iloc[1:]
    check_names(source, list(frame.columns))
    if not len(frame):
        raise ValueError(f"{source} has names of columns but no rows.")
    numbers = frame.replace("", np.nan).apply(pd.to_numeric, errors="coerce")
    wrong = np.argwhere((numbers.isna() & frame.notna() & (frame != "")).to_numpy())
    if wrong.size:
        i, j = wrong[0]
        raise ArgumentError(
            f"{source} has {frame.iloc[i, j]!r} for {frame.index[i]!r} against "
            f"{frame.columns[j]!r}",
            "a number of wins, in a row and a column for each item",
        )
    return numbers


def read_whole(kind, path, form, items, options):
    """Read a PrefLib file or a win matrix, whose columns need no names; None for other files.

    Parameters
    ----------
    kind : type
        Preferences or Orders.
    path, form, items
        As in :func:`rankbook.read_preferences`. A PrefLib file has the items of its header unless
        `items` are given.
    options : dict
        For Orders of a PrefLib file, arguments of :meth:`rankbook.Orders.from_rankings`.

    Raises
    ------
    OSError, ValueError
        If the file cannot be read, or the form or an option does not fit it.
    """
    if is_preflib(path):
        as_choice("form", form, ("pairs", "rankings", "orders"))
        known = () if kind is Preferences else ("top", "unranked", "ties")
    elif form == "wins":
        known = ()
    else:
        return None
    for name in options:
        if name not in known:
            what = "a PrefLib file" if is_preflib(path) else "a win matrix"
            if not known:
                raise ArgumentError(f"{name} is given with {what}", "no names of columns")
            raise unknown_name("columns", name, known)
    try:
        if form == "wins":
            return kind.from_wins(read_wins(path), items=items)
        found = read_preflib(path)
        items = found.items if items is None else items
        return kind.from_rankings(found.orders, items=items, weight=found.weight, **options)
    except ArgumentError as error:
        if error.argument.startswith(("wins", "orders")):
            raise error.renamed(f"{path}: {error.argument}") from error
        raise


def item_columns(source, frame, weight=None):
    """Return the columns of the items of a table whose rows are orders.

    Parameters
    ----------
    source : Source
    frame : DataFrame
    weight : str, optional
        The column of weights, which contains no items.

    Raises
    ------
    ValueError
        If a column seems to contain numbers of voters and not items: its cells are numbers, and
        other columns contain names, or its own name says so.
    """
    columns = [name for name in frame.columns if name != weight]
    numeric = {name: _are_numbers(frame[name]) for name in columns}
    for name in columns:
        if numeric[name] and (not all(numeric.values()) or name.strip().lower() in COUNTS):
            raise ArgumentError(
                f"{source} has numbers in the column {name!r}",
                "columns of items, best first",
                f"If they count voters, pass weight={name!r}; if they are items, or the column "
                "should be ignored, pass item= with the columns of the items.",
            )
    return columns


def _are_numbers(column):
    """Return whether all cells of a column that are not empty are numbers, or text of numbers."""
    import pandas as pd

    known = column[column.notna() & (column != "")]
    return bool(len(known)) and bool(pd.to_numeric(known, errors="coerce").notna().all())


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
            f"{path} has {lines[wrong[0]]!r} in line {wrong[0] + 1}", "a number of rows"
        )
    sizes = np.array([int(line) for line in lines if line], dtype=np.int64)
    if (total := int(sizes.sum())) != n:
        raise ArgumentError(
            f"{path} has sizes that sum to {total}", f"{n}, the number of rows of the data"
        )
    return np.repeat(np.arange(sizes.size), sizes)
