"""Columns of tables, and the names of items in them."""

from collections.abc import Mapping
from decimal import Decimal
from unicodedata import normalize

import numpy as np

from ..base.errors import ArgumentError, Assumption, a_type
from ..base.limits import warn
from ..base.tables import count, refuse_unread
from ..base.validation import (
    as_array,
    as_count,
    as_matrix,
    as_vector,
    index_of,
    require_same_rows,
)

MAX_ITEMS = 2**31 - 1  # largest number of items
NUMBERS = int | float | np.integer | np.floating | Decimal


def column_of(table, argument, name, m=None, coded=False):
    """Return a column of a table as an array (m,), by its name, or the array given instead.

    Parameters
    ----------
    table : data frame or mapping
    argument : str
        Name of the argument, for the message.
    name : str or array-like of shape (m,)
    m : int, optional
    coded : bool, default False
        Whether to return a column of text of pandas as a Categorical of text; see :func:`as_coded`.

    Raises
    ------
    TypeError, ValueError
        If there is no such column, or it has another length, or if its pandas index differs from
        the table's.
    """
    convert = as_coded if coded else as_column
    if not isinstance(name, str):
        known = column_names(table) if isinstance(name, list | tuple) else ()
        if known and name and all(isinstance(each, str) and each in known for each in name):
            raise ArgumentError(
                f"{argument} is {name!r}, which names several columns",
                "one column, or an array with an entry for each row",
                "To join columns of text, pass for example table['query'] + '/' + "
                "table['document'].",
            )
        _require_rows(table, argument, name)
        column = convert(argument, name)
    else:
        known = column_names(table)
        if name not in known:
            shown = ", ".join(repr(each) for each in known)
            raise ArgumentError(
                f"{argument} is {name!r}, and the table has "
                f"{f'the columns {shown}' if known else 'no named columns'}",
                "the name of a column, or an array with an entry for each row",
            )
        _require_rows(table, argument, table[name])
        column = convert(argument, table[name])
    if column.ndim != 1 or m not in (None, column.size):
        raise ArgumentError(
            f"{argument} has shape {column.shape}",
            f"an array of shape ({'m' if m is None else m},), with an entry for each row",
        )
    return column


def _require_rows(table, argument, values):
    """Raise an error if values of pandas have the index of a table in another order."""
    parts = table.values() if isinstance(table, Mapping) else [table]  # which may be Series
    key = next((part for part in parts if index_of(part) is not None), None)
    require_same_rows(**{"table": key, argument: values})


def as_column(argument, values):
    """Convert values to an array; a list with text keeps the types of its entries."""
    if isinstance(values, list | tuple):
        kinds = set(map(type, values))
        is_mixed = len(kinds) > 1 and any(issubclass(kind, str) for kind in kinds)
        if is_mixed or kinds == {int} and max(map(abs, values)) >= 2**63:
            return objects(values)
    return as_array(argument, values)


def as_coded(argument, values):
    """Convert values to a pandas Categorical if they are text of pandas, else to an array.

    The categories of the Categorical are text, so checks of names need not visit every row.
    """
    if index_of(values) is None or values.ndim != 1 or values.dtype.kind != "O":
        return as_column(argument, values)
    import pandas as pd

    if isinstance(values.dtype, pd.StringDtype):
        return categorical_of(values)
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return as_column(argument, values)
    is_text = pd.api.types.infer_dtype(values.cat.categories) in ("string", "empty")
    return values.array if is_text else as_column(argument, values)


def categorical_of(values):
    """Return text of pandas (m,), with or without gaps, as a Categorical."""
    import pandas as pd

    code, text = pd.factorize(values)
    return pd.Categorical.from_codes(code, text)


def is_coded(column):
    """Return whether a column is a Categorical of text, from :func:`as_coded`."""
    return hasattr(column, "categories")


def codes_of(column):
    """Return the code (m,) of each row, -1 for a missing value, and the distinct values."""
    if is_coded(column):
        return column.codes, column.categories.to_numpy(dtype=object)
    from pandas import factorize

    return factorize(column)


def column_names(table):
    """Return the names of the columns of a data frame, a mapping or an Arrow table."""
    if isinstance(table, Mapping):
        return list(table)
    return list(getattr(table, "column_names", getattr(table, "columns", ())))


def has_columns(argument, value):
    """Return whether a table has named columns; raise an error for a lazy table."""
    if value is not None:
        refuse_unread(argument, value)
    return isinstance(value, Mapping) or hasattr(value, "columns")


def flags_of(argument, column, advice_on_2=""):
    """Read a column of True and False, or 1 and 0, as booleans.

    `advice_on_2` is added to the error about the number 2.
    """
    if column.dtype.kind == "b":
        return column
    values = column.tolist()
    number = int | float | np.number | np.bool_
    wrong = [i for i, v in enumerate(values) if not (isinstance(v, number) and v in (0, 1))]
    if wrong:
        raise ArgumentError(
            f"{argument} is {(value := values[wrong[0]])!r} in row {wrong[0]}",
            "True and False, or 1 and 0" + ", as numbers" * (str(value) in ("0", "1")),
            advice_on_2 if isinstance(value, number) and value == 2 else "",
        )
    return np.array(values, dtype=bool)


def features_of(table, value, m):
    """Read features (m, p) of pairs from columns of a table or numbers; None stays None."""
    if value is None:
        return None
    named = [value] if isinstance(value, str) else value
    if isinstance(named, list | tuple) and named and all(isinstance(v, str) for v in named):
        columns = [column_of(table, "pair_features", name, m) for name in named]
        names = ["pair_features"] if isinstance(value, str) else range(len(named))
        names = [j if isinstance(j, str) else f"pair_features[{j}]" for j in names]
        value = np.column_stack([as_vector(j, each, m) for j, each in zip(names, columns)])
    _require_rows(table, "pair_features", value)
    value = as_array("pair_features", value)
    value = as_matrix("pair_features", value[:, None] if value.ndim == 1 else value)
    if len(value) != m:
        raise ArgumentError(
            f"pair_features has length {len(value)}", f"{count(m, 'row')}, one for each pair"
        )
    return value


WAYS = (
    "RankSVM and RankSVMCV take them. With a linear kernel pass the two results of "
    "rankbook.extend_items(X, prefs) instead."
)


def refuse_pair_features(prefs, argument="prefs", advice=WAYS):
    """Raise an ArgumentError if preferences have pair features."""
    if getattr(prefs, "pair_features", None) is not None:
        raise ArgumentError(
            f"{argument} has pair_features",
            "preferences without them",
            advice,
        )


def refuse_missing(argument, column, unit="row"):
    """Refuse the first missing entry of a column: None, NaN, NaT or pandas.NA."""
    if column.dtype.kind in "iubUS":
        return
    from pandas import isna

    missing = np.flatnonzero(column.codes < 0 if is_coded(column) else isna(column))
    if missing.size:
        value = column[missing[0]]
        shown = "empty" if isinstance(value, float) else value
        raise ArgumentError(
            f"{argument} is {shown} in {unit} {missing[0]}",
            f"a name in every {unit}",
        )


def whole_number(value):
    """Return a name that is a number as an int; None for other numbers, and for names."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, NUMBERS):
        return None
    if isinstance(value, int | np.integer):
        return int(value)
    is_whole = value == value and abs(value) < 2**53 and value == int(value)
    return int(value) if is_whole else None


def as_names(argument, column, rows=None, unit="row"):
    """Return names as int64 if all are whole numbers, else as objects.

    Parameters
    ----------
    argument : str
        Name of the column, for errors.
    column : ndarray or Categorical of shape (m,)
        Whole numbers of any type, text, or other objects that can be hashed, such as tuples.
    rows : sequence of m int, optional
        Numbers of the rows for errors; by default from 0.
    unit : str, default "row"
        What an entry is, for errors.

    Returns
    -------
    ndarray of shape (m,)
        If text and whole numbers occur together, the numbers are their decimal text, so that the
        name 76 and the name "76" are equal. Whole numbers beyond 64 bits are Python's integers. A
        Categorical is returned unchanged.

    Raises
    ------
    ValueError
        If a name is missing, a fraction, a truth value or a list. O(m).
    """
    if column.dtype.kind in "iu" and (not column.size or column.max() < 2**63):
        return column.astype(np.int64)
    if column.dtype.kind == "U":
        return column.astype(object)
    refuse_missing(argument, column, unit)
    if is_coded(column):
        return column
    if column.dtype.kind == "f" and (np.abs(column) < 2**53).all() and (column % 1 == 0).all():
        return column.astype(np.int64)
    if column.dtype.kind in "mM":
        from pandas import Index

        column = Index(column).astype(object).to_numpy()
    kinds = set(map(type, column.tolist()))
    if kinds == {str}:
        return column
    values = column.tolist()
    for i, value in enumerate(values):
        is_number = isinstance(value, bool | np.bool_ | complex | np.complexfloating | NUMBERS)
        if type(value).__hash__ is None or is_number and whole_number(value) is None:
            raise ArgumentError(
                f"{argument} is {value!r} in {unit} {i if rows is None else rows[i]}",
                "a name, as text or a whole number",
            )
    whole = [whole_number(value) for value in values]
    if None not in whole:
        fits = all(-(2**63) <= value < 2**63 for value in whole)
        return np.array(whole, dtype=np.int64 if fits else object)
    text = any(issubclass(kind, str) for kind in kinds)
    for i, number in enumerate(whole):
        if number is not None:
            values[i] = str(number) if text else number
    return objects(values)


def names_as_text(names):
    """Return names from :func:`as_names` with their decimal text in place of whole numbers."""
    if names.dtype.kind == "i":
        return names.astype(str).astype(object)
    numbers = (int in set(map(type, names))) and [isinstance(name, int) for name in names]
    return np.where(numbers, names.astype(str), names) if numbers else names


def objects(values):
    """Return values as an array of objects, in which tuples stay single entries."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def alike(columns):
    """Return columns of names in forms that can be compared: all numbers, or no number.

    `columns` are results of :func:`as_names`. Whole numbers become text if another column has text.
    """
    if all(column.dtype.kind == "i" for column in columns):
        return columns
    kinds = lambda column: {str} if is_coded(column) else set(map(type, column))
    numbers = lambda column: column.dtype.kind == "i" or kinds(column) <= {int}
    texts = lambda column: column.dtype.kind == "O" and str in kinds(column)
    if any(map(texts, columns)):
        return [names_as_text(column) if numbers(column) else column for column in columns]
    return [column.astype(object) for column in columns]


def similar_names(names):
    """Return a note on distinct names that look alike, naming up to three pairs of them, or ""."""
    known, pairs = {}, []
    for name in names:
        if not isinstance(name, str):
            continue
        key = (name if name.isascii() else normalize("NFKC", name)).casefold()
        other = known.setdefault(" ".join(key.split()).lstrip("0") or "0", name)
        if other != name:
            show = ascii if normalize("NFC", other) == normalize("NFC", name) else repr
            pairs.append(f"{show(other)} and {show(name)}")
    if not pairs:
        return ""
    more = f" (and {len(pairs) - 3:,} more pairs)" if len(pairs) > 3 else ""
    return (
        f"the names {', '.join(pairs[:3])}{more} differ only by case, spaces, leading zeros or "
        "Unicode form; they are different items"
    )


def note_similar(argument, names):
    """Warn once if some distinct names look alike; see :func:`similar_names`."""
    if said := similar_names(names):
        warn(Assumption(f"{argument}: {said}."))


def name_rows(columns, items=None, n_items=None, *, table=False, by_row=True):
    """Return the rows of the names in some columns, the number of items, and their names.

    Parameters
    ----------
    columns : dict from str to ndarray or Categorical of shape (m,)
        Names, under the argument that they came as.
    items : "rows", "names", or sequence of distinct names, optional
        "rows" says that the columns hold row numbers, "names" that whole numbers in them are names.
        A sequence gives the name of each row. By default whole numbers are names if they come from
        a table, otherwise row numbers.
    n_items : int, optional
        The number of items; the columns then hold row numbers.
    table : bool, default False
        Whether the columns come from a file, a data frame or a dict of columns.
    by_row : bool, default True
        Whether columns have equal lengths and are numbered row by row, else one after the other.

    Returns
    -------
    rows : list of ndarray, int64
    n_items : int
    names : tuple or None
        None where the names are row numbers. Without `items` names are numbered in the order in
        which they appear.

    Raises
    ------
    ValueError
        If a name is missing, or not among the items (the error names its row); or if row numbers
        were neither asked for nor bounded, and most rows up to the largest do not occur.
    """
    unit = "row" if by_row else "place"
    if n_items is not None:
        if items is not None and not (isinstance(items, str) and items == "rows"):
            raise ArgumentError("items and n_items are both given", "only one of them")
        n_items, items = as_count("n_items", n_items, 1, MAX_ITEMS), "rows"
    if items is not None and not isinstance(items, str):
        return _looked_up(columns, _as_index(items), unit)
    found = {name: as_names(name, column, unit=unit) for name, column in columns.items()}
    whole = all(names.dtype.kind == "i" for names in found.values())
    if items not in (None, "rows", "names"):
        raise ArgumentError(f"items is {items!r}", "a sequence of names, 'rows' or 'names'")
    if items == "rows" or items is None and whole and not table:
        return *_row_numbers(found, n_items, unit, sure=items == "rows"), None
    mixed = alike(list(found.values()))
    if by_row and all(map(is_coded, mixed)):
        rows, names = _number_names(mixed)
    else:
        joined = np.column_stack(mixed).ravel() if by_row else np.concatenate(mixed)
        codes, names = codes_of(joined)
        codes = codes.astype(np.int64)
        ends = np.cumsum([each.size for each in mixed])[:-1]
        rows = list(codes.reshape(-1, len(mixed)).T) if by_row else np.split(codes, ends)
    names = tuple(names.tolist())
    if blank := [i for i, name in enumerate(names) if isinstance(name, str) and not name.strip()]:
        for argument, numbers in zip(found, rows):
            for i in np.flatnonzero(numbers == blank[0])[:1]:
                raise ArgumentError(
                    f"{argument} is {names[blank[0]]!r} in {unit} {i}", f"a name in every {unit}"
                )
    note_similar(next(iter(found)), names)
    return rows, len(names), names


def _number_names(columns):
    """Return the rows of names in Categoricals, and the names as they appear row by row."""
    codes, values = zip(*map(codes_of, columns))
    number, names = codes_of(np.concatenate(values))
    parts = np.split(number, np.cumsum([each.size for each in values])[:-1])
    late, m = len(columns) * codes[0].size, codes[0].size
    first = np.full(names.size, late)
    for i, (code, part) in enumerate(zip(codes, parts)):
        seen = np.full(part.size, late)
        seen[code[::-1]] = np.arange(m - 1, -1, -1) * len(columns) + i  # the last one stays
        first[part] = np.minimum(first[part], seen)
    order = np.argsort(first)[: np.count_nonzero(first < late)]
    rank = np.empty(names.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return [rank[part][code] for code, part in zip(codes, parts)], names[order]


def _row_numbers(columns, n_items, unit, sure):
    """Return columns of row numbers, and the number of items."""
    for argument, names in columns.items():
        if names.dtype.kind == "i":
            continue
        texts = [str(name) for name in names.tolist()]
        if not all(text.isdecimal() and str(int(text)) == text for text in texts):
            i = next(i for i, t in enumerate(texts) if not (t.isdecimal() and str(int(t)) == t))
            raise ArgumentError(
                f"{argument} is {names[i]!r} in {unit} {i}, and "
                + ("items is 'rows'" if n_items is None else f"n_items is {n_items}"),
                "row numbers, or items= with the names of the rows",
            )
        columns = columns | {argument: np.array([int(text) for text in texts])}
    high = MAX_ITEMS if n_items is None else n_items
    for argument, rows in columns.items():
        bad = np.flatnonzero((rows < 0) | (rows >= high))
        if bad.size:
            ways = "" if sure else "If they are names, pass items='names'."
            raise ArgumentError(
                f"{argument} is {rows[bad[0]]} in {unit} {bad[0]}",
                "row numbers of items, 0 or more"
                if n_items is None
                else f"item numbers from 0 to {high - 1}",
                ways,
            )
    largest = max((int(rows.max()) for rows in columns.values() if rows.size), default=-1)
    if not sure:
        used = np.unique(np.concatenate(list(columns.values()))).size
        if largest >= max(20, 2 * used):
            argument = next(a for a, rows in columns.items() if largest in rows)
            where = int(np.argmax(columns[argument] == largest))
            raise ArgumentError(
                f"{argument} is {largest} in {unit} {where}, "
                f"and only {used} of the numbers from 0 to {largest} occur",
                "items='names' if the numbers are names, or n_items= with the number of items if "
                "they are row numbers",
            )
    return list(columns.values()), 1 + largest if n_items is None else n_items


def _as_index(items):
    """Return names of rows as a pandas index; names of several levels are tuples."""
    import pandas as pd

    if isinstance(items, pd.MultiIndex):
        index = items.to_flat_index()
    elif isinstance(items, pd.Index):
        index = items
    else:
        refuse_unread("items", items)
        listed = isinstance(items, list | tuple | range)
        listed = listed and not any(isinstance(v, list) for v in items)
        if not listed and as_array("items", items).ndim != 1:
            raise ArgumentError(
                f"items is {a_type(items)}",
                "a sequence of names, one for each row, for instance X.index",
            )
        index = pd.Index(items if isinstance(items, range) else list(items), tupleize_cols=False)
    if index.hasnans:
        raise ArgumentError(
            f"items has a missing name at index {int(np.argmax(index.isna()))}", "distinct names"
        )
    return index


def _looked_up(columns, items, unit):
    """Look up the rows of names in an index; see :func:`name_rows`."""
    import pandas as pd

    given = [as_names(argument, column, unit=unit) for argument, column in columns.items()]
    known = as_names("items", items.to_numpy())
    *given, known = alike([*given, known])
    index = pd.Index(known, tupleize_cols=False)
    if index.has_duplicates:
        i = int(np.argmax(index.duplicated()))
        raise ArgumentError(f"items has a second {known[i]!r} at index {i}", "distinct names")
    numbered = is_numbered(items)
    if not numbered:
        note_similar("items", index)
    rows = []
    for argument, names in zip(columns, given):
        code, distinct = codes_of(names) if is_coded(names) else (slice(None), names)
        rows.append(index.get_indexer(distinct).astype(np.int64)[code])
        unknown = np.flatnonzero(rows[-1] < 0)
        if unknown.size:
            name = names[unknown[:1]].tolist()[0]
            key = lambda name: str(name).strip().casefold().lstrip("0")
            near = next((other for other in index if key(other) == key(name)), None)
            hint = "" if near is None else f" (it has {near!r})"
            raise ArgumentError(
                f"{argument} is {name!r} in {unit} {unknown[0]}, which is not among the "
                f"{len(index)} items{hint}",
                "the name of an item",
            )
    return rows, len(index), None if numbered else tuple(items.tolist())


def is_numbered(index):
    """Return whether a pandas index only counts the rows from 0."""
    import pandas as pd

    return index.equals(pd.RangeIndex(len(index)))


def refuse_twice(argument, values, shown, number, whole, ids):
    """Refuse a value that occurs twice within a whole, such as an item within a session.

    Parameters
    ----------
    argument : str
        What the values are, for the message.
    values, number : ndarrays of shape (m,)
        Values that can be sorted, and the number of the whole that each belongs to.
    shown : ndarray of shape (m,)
        The values as the caller wrote them.
    whole : str
        What the wholes are.
    ids : ndarray of shape (m,)
        Their names as the caller wrote them.
    """
    order = np.lexsort((values, number))
    again = (values[order][1:] == values[order][:-1]) & (number[order][1:] == number[order][:-1])
    if again.any():
        first, second = sorted(order[np.argmax(again) :][:2].tolist())
        raise ArgumentError(
            f"{argument} is {shown[first : first + 1].tolist()[0]!r} in rows {first} and "
            f"{second} of {whole} {ids[first : first + 1].tolist()[0]!r}",
            f"each {argument} only once in a {whole}",
        )
