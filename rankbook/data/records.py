"""Readers of preference files: pairs, matches, clicks, rankings and orders."""

import inspect
from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np

from ..base.errors import ArgumentError
from ..base.validation import as_choice, unknown_name
from ..preferences.graph import Preferences
from ..preferences.orders import Orders
from .table import as_source, read_frame

FORMS = ("pairs", "matches", "clicks", "rankings", "orders")


def read_preferences(
    path: str | PathLike,
    form: Literal["pairs", "matches", "clicks", "rankings", "orders"] = "pairs",
    *,
    items: Sequence[Any] | None = None,
    **columns: str,
) -> Preferences:
    """Read preferences between items from a file.

    Parameters
    ----------
    path : str or path
        A table with a header: CSV, TSV or Parquet, packed by gzip or not, as for
        :func:`rankbook.read_table`.
    form : {"pairs", "matches", "clicks", "rankings", "orders"}, default "pairs"
        Meaning of a row. "pairs": a winner and a loser. A table without a column loser, whose
        column winner contains the names of two other columns, such as model_a and model_b, is read
        as "matches" between these two, the left one at home. A column tie marks ties. "matches":
        home, away and result. "clicks": a session, an item shown in it, its rank and whether it was
        clicked. "rankings": a ranking, an item and its rank (1 is best). "orders": a whole ranking,
        the items from left to right, best first. Columns may have any names, and cells at the end
        may be empty. If the table has other columns, name the columns of the items: ``item=["best",
        "middle", "worst"]``.
    items : sequence of n distinct names, optional
        The name of each item, for instance ``data.item_names``. By default integers are row
        numbers, and other names are numbered as they first appear.
    **columns
        Arguments of :meth:`rankbook.Preferences.from_pairs`, or of the method of another form:
        names of columns, such as ``winner="chosen"``, ``weight="votes"`` or ``rank="position"``,
        and options, such as ``ties="half"``. By default a column has the name of its argument.

    Returns
    -------
    Preferences

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If the file cannot be read, lacks a column, or has a row that is not a preference. The error
        names the file and the row, counted from 0 after the header.

    Examples
    --------
    >>> import tempfile, rankbook as rb
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("chosen,other,votes\\ntea,milk,3\\ntea,water,1\\n")
    ...     file.flush()
    ...     prefs = rb.read_preferences(file.name, winner="chosen", loser="other", weight="votes")
    >>> prefs.items, prefs.weight
    (('tea', 'milk', 'water'), array([3., 1.]))
    """
    as_choice("form", form, FORMS)
    return _read(Preferences, path, form, items, columns)


def read_orders(
    path: str | PathLike,
    form: Literal["rankings", "orders"] = "rankings",
    *,
    items: Sequence[Any] | None = None,
    **columns: Any,
) -> Orders:
    """Read orders of items from a file, for ``loss="plackett-luce"``.

    Parameters
    ----------
    path, form, items
        As in :func:`read_preferences`.
    **columns
        Arguments of :meth:`rankbook.Orders.from_rankings`: names of columns, such as
        ``rank="position"``, and options, such as ``unranked="last"``.

    Returns
    -------
    Orders

    Raises
    ------
    FileNotFoundError, IsADirectoryError, ValueError
        In the same cases as :func:`read_preferences`.

    Examples
    --------
    >>> import tempfile, rankbook as rb  # a row for each judge, the best item first
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("first,second,third\\ntea,milk,water\\nmilk,tea,\\n")
    ...     file.flush()
    ...     orders = rb.read_orders(file.name, "orders")
    >>> orders, orders.items
    (Orders(items=3, orders=2, choices=3), ('tea', 'milk', 'water'))
    """
    as_choice("form", form, ("rankings", "orders"))
    return _read(Orders, path, form, items, columns)


def _read(kind, path, form, items, columns):
    """Read preferences or orders, as `kind` says, from a file."""
    source = as_source(path)
    frame = read_frame(source)
    form, columns = form_of(frame, form, columns)
    if form == "pairs" and "tie" in frame.columns:  # a tie is not a win
        columns = dict(tie="tie") | columns
    make = getattr(kind, "from_rankings" if form == "orders" else f"from_{form}")
    taken = list(inspect.signature(make).parameters.values())[1:]
    defaults = {each.name: each.default for each in taken if each.name not in ("items", "n_items")}
    for name in columns:
        if name not in defaults:
            raise unknown_name("columns", name, defaults)
    of_table = {name: columns.get(name, name) for name, had in defaults.items() if had == name}
    if form == "orders":  # columns with any names
        some = columns.pop("item", list(frame.columns))
        of_table = dict(item=[some] if isinstance(some, str) else list(some))
    named = {name: value for name, value in columns.items() if not isinstance(value, int)}
    of_table |= {name: named[name] for name in named if defaults[name] is None}
    missing = {
        name: column
        for name, some in of_table.items()
        for column in ([some] if isinstance(some, str) else some)
        if column not in frame.columns
    }
    if missing:
        what, are = ("columns", "are") if len(missing) > 1 else ("column", "is")
        raise ValueError(
            f"{source} has no {what} {' and '.join(map(repr, missing.values()))}; it has "
            f"{', '.join(map(str, frame.columns))}. Say which {are} meant by "
            f"{', '.join(f'{name}=COLUMN' for name in missing)}, or give another form."
        )
    if len(frame) == 0:
        raise ValueError(f"{source} has names of columns but no rows.")
    frame = frame[of_table["item"]] if form == "orders" else frame
    try:
        return make(orders_of(source, frame) if form == "orders" else frame, items=items, **columns)
    except ArgumentError as error:
        if error.argument not in of_table:
            raise
        raise error.renamed(f"{source}: {error.argument}") from error


def form_of(frame, form, columns):
    """Return the form and columns of a table; pairs may turn out to be matches.

    This is the case if there is no column loser, and the column winner contains the names of two
    other columns.
    """
    winner = columns.get("winner", "winner")
    if form != "pairs" or {"loser", "tie"} & columns.keys() or "loser" in frame.columns:
        return form, columns
    if winner not in frame.columns:
        return form, columns
    names = set(frame[winner].dropna().unique())
    sides = [name for name in frame.columns if name in names and name != winner]
    if len(sides) != 2:
        return form, columns
    others = {name: value for name, value in columns.items() if name != "winner"}
    return "matches", dict(home=sides[0], away=sides[1], result=winner) | others


def orders_of(source, frame):
    """Return the items of each row of a table (r, k), left to right; empty cells end a row.

    Raises
    ------
    ValueError
        If an empty cell precedes a nonempty one, or the column names are items.
    """
    if set(frame.columns).issubset(frame.to_numpy(dtype=object).ravel().tolist()):
        raise ValueError(
            f"{source} begins with {', '.join(frame.columns)}, which are items; expected names of "
            "columns in the first row."
        )
    here = frame.notna().to_numpy()
    row, column = np.nonzero(here[:, 1:] & ~here[:, :-1])
    if row.size:
        raise ValueError(
            f"{source} has an empty cell in row {row[0]}, column {frame.columns[column[0]]!r}, and "
            "items after it; expected empty cells at the end of a row only."
        )
    numbers = frame.select_dtypes("float")  # integers, read as floats in columns that end early
    whole = [name for name in numbers if (numbers[name].dropna() % 1 == 0).all()]
    cells = frame.astype(dict.fromkeys(whole, "Int64")).to_numpy(dtype=object)
    return [cell[known].tolist() for cell, known in zip(cells, here)]
