"""Readers of win matrices, counts of wins of either side, and counted orders."""

import numpy as np

from ..base.errors import ArgumentError, a_type
from ..base.tables import count
from ..base.validation import as_array, as_choice, as_items, as_matrix, as_vector, index_of
from .events import TIES, numbered_votes, ordered_pairs, ranking_rows
from .names import alike, as_names, column_names, column_of, has_columns, name_rows


def win_pairs(wins, items=None):
    """Make the arguments of :meth:`rankbook.Preferences.from_wins`.

    Returns
    -------
    found : tuple
        (better, worse, n_items, weight), row by row of the matrix. O(n^2), or O(n + m log m) for a
        sparse matrix with m entries.
    facts : dict
        `items`, the names of the items or None.
    """
    index = None
    if has_columns("wins", wins):
        wins, index = _named_wins(wins)
    if not hasattr(wins, "tocsr"):
        wins = as_array("wins", wins)
    if len(wins.shape) != 2 or wins.shape[0] != wins.shape[1]:
        raise ArgumentError(
            f"wins has shape {wins.shape}", "a square matrix, with a row and a column for each item"
        )
    n = wins.shape[0]
    names = np.arange(n) if index is None else index.to_numpy()
    better, worse, weight = _entries(wins, names.tolist())
    if items is not None and isinstance(items, str):
        raise ArgumentError(f"items is {items!r}", "a sequence of names, one for each row of wins")
    if index is not None:
        (rows,), n_items, known = name_rows(dict(wins=names), index if items is None else items)
        better, worse = rows[better], rows[worse]
    else:
        _, n_items, known = ([], n, None) if items is None else name_rows({}, items)
        if n_items != n:
            raise ArgumentError(
                f"items has {count(n_items, 'name')}",
                f"{count(n, 'name')}, one for each row of wins",
            )
    return (better, worse, n_items, weight), dict(items=known)


def _named_wins(wins):
    """Return a data frame with its columns in the order of its index, as an array, and the index.

    If the names of one of the two are whole numbers and the others are text, numbers are text.
    """
    import pandas as pd

    if index_of(wins) is None:
        raise ArgumentError(
            f"wins is {a_type(wins)}",
            "an array, or a pandas data frame whose index and columns are the names of the items",
        )
    both = alike([as_names("wins", names.to_numpy()) for names in (wins.index, wins.columns)])
    index, columns = (pd.Index(names, tupleize_cols=False) for names in both)
    for names, what in ((index, "rows"), (columns, "columns")):
        if names.has_duplicates:
            twice = names[names.duplicated()].tolist()[0]
            raise ArgumentError(f"wins has two {what} named {twice!r}", "distinct names")
    for names, others, what in ((index, columns, "column"), (columns, index, "row")):
        if lacking := [name for name in names.tolist() if name not in others]:
            raise ArgumentError(
                f"wins has no {what} for {lacking[0]!r}",
                "the same names in the index and the columns",
                "To add missing ones, call wins.reindex(index=names, columns=names, fill_value=0), "
                "where names is the union of both.",
            )
    return wins.iloc[:, columns.get_indexer(index)].to_numpy(), index


def _entries(wins, names):
    """Return row, column and value of the positive entries of a square matrix, row by row."""
    if hasattr(wins, "tocsr"):
        wins = as_items("wins", wins).copy()
        wins.sum_duplicates()
        wins = wins.tocoo()
        (i, j), value = wins.coords, wins.data
    else:
        from pandas import isna

        missing, itself = isna(wins), np.eye(len(wins), dtype=bool)
        if (missing & ~itself).any():
            k, l = (names[at] for at in np.argwhere(missing & ~itself)[0])
            raise ArgumentError(
                f"wins is missing for {k!r} against {l!r}",
                "a number in every place outside the diagonal",
                "If a missing number means that the two never met, call wins.fillna(0).",
            )
        wins = as_matrix("wins", np.where(missing, 0, wins) if missing.any() else wins)
        i, j = np.nonzero(wins)
        value = wins[i, j]
    wrong = np.flatnonzero((value < 0) | ((i == j) & (value != 0)))
    if wrong.size:
        k, l, v = names[i[wrong[0]]], names[j[wrong[0]]], value[wrong[0]]
        raise ArgumentError(
            f"wins is {v:g} for {k!r} against {'itself' if k == l else repr(l)}",
            (
                "0, or no number, on the diagonal"
                if k == l
                else "numbers of wins that are not negative"
            ),
        )
    if not value.any():
        raise ArgumentError("wins has no positive entry", "at least one win")
    won = value > 0
    return i[won], j[won], value[won].astype(np.float64)


def count_votes(counts, *, first, second, wins_first, wins_second, tie, items, ties="half"):
    """Read the votes of :meth:`rankbook.Preferences.from_counts`, at most three for each row.

    They are returned as by :func:`rankbook.preferences.events.numbered_votes`. O(n + m).
    """
    as_choice("ties", ties, TIES)
    if not has_columns("counts", counts):
        raise ArgumentError(f"counts is {a_type(counts)}", "a data frame, or a dict of columns")
    sides = column_of(counts, "first", first, coded=True)
    m = sides.size
    if not m:
        raise ArgumentError("table has no row", "at least one row")
    columns = dict(first=sides, second=column_of(counts, "second", second, m, coded=True))
    named = dict(wins_first=wins_first, wins_second=wins_second)
    if tie is None and "tie" in column_names(counts):
        tie = "tie"
    named |= {} if tie is None else dict(tie=tie)
    number = np.column_stack(
        [
            as_vector(argument, column_of(counts, argument, name, m), m, minimum=0.0)
            for argument, name in named.items()
        ]
    )
    votes = numbered_votes(columns, dict(items=items, table=True))
    row, kind = np.nonzero(number)
    if not row.size:
        raise ArgumentError("wins_first and wins_second are 0 in every row", "at least one win")
    if ties == "refuse" and (kind == 2).any():
        i = int(row[np.argmax(kind == 2)])
        raise ArgumentError(
            f"ties is 'refuse', and row {i} has {number[i, 2]:g} ties",
            "ties='drop', or ties='half' for half a win of each side",
        )
    ends = dict(first=votes["first"][row], second=votes["second"][row])
    points = np.array([1.0, 0.0, 0.5])[kind]
    return votes | ends | dict(points=points, weight=number[row, kind], row=row)


def order_weights(orders, weight, ranking, r):
    """Return the weights (r,) of orders, or None.

    Parameters
    ----------
    orders : sequence of sequences, data frame or dict of columns
    weight : str or array-like of shape (r,), optional
        A column of the table, equal in all rows of a ranking; or a number for each order, where the
        rankings of a table are in the order of their first rows.
    ranking : str or array-like
        The column of rankings.
    r : int

    Raises
    ------
    ValueError
        If a weight is negative, or two rows of a ranking have different weights.
    """
    if weight is None:
        return None
    if not (isinstance(weight, str) and has_columns("orders", orders)):
        return as_vector("weight", weight, r, minimum=0.0)
    from pandas import factorize

    each = column_of(orders, "weight", weight)
    each = as_vector("weight", each, minimum=0.0)
    ids = as_names("ranking", column_of(orders, "ranking", ranking, each.size))
    number = factorize(ids)[0]
    first = np.unique(number, return_index=True)[1]
    other = np.flatnonzero(each != each[first[number]])
    if other.size:
        j = other[0]
        i = first[number[j]]
        raise ArgumentError(
            f"weight is {each[i]:g} in row {i} and {each[j]:g} in row {j} of ranking "
            f"{ids[i : i + 1].tolist()[0]!r}",
            "one weight for all rows of a ranking",
        )
    return each[first]


def counted_rankings(orders, n_items, items, weight, **columns):
    """Make the arguments of :meth:`rankbook.Preferences.from_rankings`.

    The arguments are those of :func:`rankbook.preferences.events.ranking_rows` and `weight`, as for
    :func:`order_weights`. The third result is the number of the ranking of each preference.
    """
    rows, places, n_items, names = ranking_rows(orders, n_items, items, **columns)
    weight = order_weights(orders, weight, columns["ranking"], len(rows))
    pairs = [ordered_pairs(row, place) for row, place in zip(rows, places)]
    ties = sum(row.size * (row.size - 1) // 2 - ends[0].size for row, ends in zip(rows, pairs))
    kept = np.arange(len(rows)) if weight is None else np.flatnonzero(weight > 0)
    if not kept.size:
        raise ArgumentError("weight is 0 for every order", "at least one positive weight")
    better, worse = (np.concatenate(ends).astype(int) for ends in zip(*(pairs[i] for i in kept)))
    number = np.repeat(kept, [pairs[i][0].size for i in kept])
    facts = dict(n_queries=len(rows), items=names, n_ties=ties, graph="rankings")
    return (better, worse, n_items, None if weight is None else weight[number]), facts, number
