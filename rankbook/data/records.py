"""Files of preferences between items: pairs, matches, clicks and rankings."""

import inspect
from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

from ..base.errors import ArgumentError
from ..base.validation import as_choice, unknown_name
from ..preferences.graph import Preferences
from .table import as_source, read_frame

FORMS = ("pairs", "matches", "clicks", "rankings")


def read_preferences(
    path: str | PathLike,
    form: Literal["pairs", "matches", "clicks", "rankings"] = "pairs",
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
    form : {"pairs", "matches", "clicks", "rankings"}, default "pairs"
        What a row is. "pairs": a winner and a loser. "matches": home, away and result. "clicks": a
        session, an item that it showed, its rank and whether it was clicked. "rankings": a ranking,
        an item and its rank, 1 for the best.
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
        If the file cannot be read, lacks a column, or has a row that is no preference; the file and
        the row, counted from 0 after the header, are named.

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
    source = as_source(path)
    frame = read_frame(source)
    make = getattr(Preferences, f"from_{form}")
    taken = list(inspect.signature(make).parameters.values())[1:]
    defaults = {each.name: each.default for each in taken if each.name not in ("items", "n_items")}
    for name in columns:
        if name not in defaults:
            raise unknown_name("columns", name, defaults)
    of_table = {name: columns.get(name, name) for name, had in defaults.items() if had == name}
    of_table |= {name: columns[name] for name in columns if defaults[name] is None}
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
    try:
        return make(frame, items=items, **columns)
    except ArgumentError as error:
        if error.argument not in of_table:
            raise
        raise error.renamed(f"{source}: {error.argument}") from error
