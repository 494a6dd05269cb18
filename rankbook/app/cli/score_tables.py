"""Scores from a table, joined with the rows of the data by their keys."""

import numpy as np

from ...base.errors import ArgumentError, Assumption
from ...base.limits import warn


def scores_in(file, block, roles, data):
    """Read scores (n,) of the items of a block from a table with a column "score".

    Rows are joined by a column "row", by query id and name, or by name alone, whichever both tables
    have. Keys are compared as text. Without a key, rows match by position, with an
    :class:`Assumption`.

    Parameters
    ----------
    file : str
    block : Block
    roles : Roles
        Of the columns of the block. The table of scores has its query ids and names in columns of
        the same names, or in "qid" and "name" as in the output of rankbook predict.
    data : str
        Name of the block in messages.

    Raises
    ------
    ValueError
        If there is no score, a score is not finite, a key is missing, unknown or there twice, or
        query ids or names of joined rows differ.
    """
    from rankbook.data.table import Source, find_roles, read_frame

    known = dict(qid=block.qid, name=block.item_names)
    known = {role: ids for role, ids in known.items() if ids is not None}

    def keys_among(columns):
        found = {"row": "row"} if "row" in columns else {}
        for role in known:
            same = [name for name in (getattr(roles, role), role) if name in columns]
            found |= {role: same[0]} if same else {}
        return found

    source, n = Source(file), block.X.shape[0]
    frame = read_frame(source, lambda columns: list(keys_among(columns).values()))
    how = dict(features=["score"], needs_target=False, of_model=True)
    scores = find_roles(source, list(frame.columns), qid="none", **how).read(source, frame).X[:, 0]
    columns, known = keys_among(frame.columns), {"row": np.arange(n)} | known
    theirs = {role: as_keys(source, name, frame[name]) for role, name in columns.items()}
    ours = {role: as_keys(data, name, known[role]) for role, name in columns.items()}
    by = ["row"] if "row" in columns else list(columns) if "name" in columns else []
    if by:
        parts = [list(zip(*(keys[role] for role in by))) for keys in (theirs, ours)]
        rows = match_keys(source, data, *parts, [columns[role] for role in by])
    else:
        refuse_sorted(source, frame.columns, scores.size, n)
        rows = np.arange(n)
    for role, name in columns.items():
        for i, (row, key) in enumerate(zip(rows, ours[role])):
            if theirs[role][row] != key:
                raise ArgumentError(
                    f"{source} has {name} {theirs[role][row]!r} in row {row}, where {data} has "
                    f"{key!r} in row {i}",
                    f"tables that agree where {by[0]} is equal" if by else "rows in the same order",
                )
    if not by:
        warn(
            Assumption(
                f"{source} and {data} have no key in common, so their rows match by position. A "
                "column 'row', or item names in both tables (--name), would join them."
            )
        )
    return scores[rows]


def as_keys(table, name, column):
    """Return the entries of a column as text, 2.0 as "2"; missing ones are refused."""
    import pandas as pd

    from rankbook.preferences.names import as_names, names_as_text

    missing = np.asarray(pd.isna(column)) | np.array([key == "" for key in column.tolist()])
    if missing.any():
        row = int(missing.argmax())
        raise ArgumentError(f"{table} has no {name} in row {row}", f"a {name} in each row")
    names = as_names(f"{table}: column {name!r}", np.asarray(column))
    return [str(key) for key in names_as_text(names).tolist()]


def match_keys(source, data, theirs, ours, names):
    """Return the row in `theirs` of each key in `ours`.

    Keys are tuples, and `names` are the names of their parts.
    """
    shown = lambda key: ", ".join(f"{name} {part!r}" for name, part in zip(names, key))
    places = []
    for table, keys in ((source, theirs), (data, ours)):
        place = {}
        for row, key in enumerate(keys):
            if (first := place.setdefault(key, row)) != row:
                raise ArgumentError(
                    f"{table} has {shown(key)} in rows {first} and {row}",
                    "each item only once",
                    "To tell the two apart, pass query ids in both tables, or a column 'row' in "
                    "the table of scores." * ("row" not in names),
                )
        places.append(place)
    for row, key in enumerate(theirs):
        if key not in places[1]:
            raise ArgumentError(f"{source} has {shown(key)} in row {row}", f"only items of {data}")
    for row, key in enumerate(ours):
        if key not in places[0]:
            raise ArgumentError(
                f"{source} has no score for {shown(key)} (row {row} of {data})",
                "a score for each item",
            )
    return np.array([places[0][key] for key in ours], dtype=np.intp)


def refuse_sorted(source, columns, size, n):
    """Refuse a table without keys that has another length or lists items by their rank."""
    if size != n:
        raise ArgumentError(
            f"{source} has {size} scores", f"{n} scores, one for each row of the data"
        )
    if "rank" in columns:
        raise ArgumentError(
            f"{source} has a column 'rank' and no key, so its rows are in another order",
            "a column 'row', or item names in both tables",
            "rankbook predict --ranked writes the column 'row'.",
        )
