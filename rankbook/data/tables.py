"""Tables of graded items."""

import io
from itertools import combinations, islice

import numpy as np

from ..base.limits import require_memory, warn
from ..base.validation import first_bad, unknown_name
from .dataset import Dataset
from .readers import not_a_number, read_csv, read_parquet
from .sources import Assumption, Source, format_of


def check_columns(path, columns, target, qid, drop, group_split=None):
    """Refuse names that are not columns, or that are given two parts."""
    if target is None:
        raise ValueError(
            f"target is None; name the column of {path} to rank by, one of: {', '.join(columns)}."
        )
    if isinstance(drop, str) or not hasattr(drop, "__iter__"):
        raise TypeError(f"drop is {drop!r}; a list of names is accepted.")
    given = [
        ("target", target),
        ("qid", None if qid == "none" else qid),
        ("group_split", group_split),
        *(("drop", name) for name in drop),
    ]
    given = [(argument, value) for argument, value in given if value is not None]
    for argument, value in given:
        if value not in columns:
            raise unknown_name(argument, value, columns)
    for (first, value), (second, other) in combinations(given, 2):
        if value == other and first != second and (first, second) != ("qid", "group_split"):
            raise ValueError(
                f"{first} and {second} are both {value!r}; two different columns are accepted."
            )


_QUERY_NAMES = ("qid", "query", "query_id", "group", "session")


def query_column(path, columns, target, qid, drop, group_split=None, other="makes it a feature"):
    """The column of the query ids, or None: the one that is named, else one whose name says so.

    The column of the groups is one of them only if there is no other. What qid="none" does instead
    is said in the words of `other`.
    """
    if qid is not None:
        return None if qid == "none" else qid
    found = [
        name
        for name in columns
        if name.lower() in _QUERY_NAMES and name != target and name not in drop
    ]
    if len(found) > 1 and group_split in found:
        found.remove(group_split)
    if len(found) > 1:
        raise ValueError(
            f"{path} has {len(found)} columns that may hold the query ids, "
            f"{' and '.join(map(repr, found))}; "
            "name one of them with qid, or give qid='none' to make all of them features."
        )
    if not found:
        return None
    warn(Assumption(f"query ids: column {found[0]!r} of {path}; qid='none' {other}."))
    return found[0]


class NotNumbers(ValueError):
    """Columns that can be no features; `columns` has their names, without the target."""

    def __init__(self, message, columns):
        super().__init__(message)
        self.columns = columns


def finite_numbers(path, frame, target=None, start=0):
    """The columns of a data frame, whose first row is number `start`, as a float64 matrix.

    Words, NaN and infinity are refused with their place.
    """
    found = {name: place for name in frame.columns if (place := not_a_number(frame[name]))}
    words = ", ".join(
        f"{name!r} ({value!r} in row {start + row})" for name, (row, value) in found.items()
    )
    if found:
        features = [name for name in found if name != target]
        advice = (
            "Drop them, take one for the query ids (qid)" if features else "Rank by another column"
        )
        raise NotNumbers(
            f"{path} has columns that are not numbers: {words}. {advice}, "
            "or encode them as numbers first.",
            features,
        )
    try:
        X = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    except OverflowError:  # an integer of hundreds of digits, which is infinite as a float
        X = frame.astype(str).to_numpy(dtype=np.float64)
    return require_finite_rows(path, X, list(frame.columns), start=start)


def require_finite_rows(path, X, names, line=None, start=0):
    """`X` itself, whose first row is number `start`, if all of it is finite.

    NaN and infinity are refused with the row and column of the first, and what `line` says of
    the row.
    """
    bad = first_bad(X)
    if bad:
        row, j = bad
        what = f"{X[row, j]} (or nothing)" if np.isnan(X[row, j]) else str(X[row, j])
        where = "Rows count from 0, after any header." if line is None else f"That is {line(row)}."
        raise ValueError(
            f"{path} has {what} in row {start + row}, column {names[j]!r}; "
            f"only finite numbers are accepted. {where}"
        )
    return X


def require_ids(path, column, start=0, what="query id"):
    """A ValueError if a row, the first of which is number `start`, has no query id.

    Nor may it be a floating point number so large that it may stand for several whole ones.
    """
    missing = column.isna().to_numpy()
    if missing.any():
        raise ValueError(
            f"{path} has no {what} in row {start + int(np.argmax(missing))}, "
            f"column {column.name!r}; every row needs one."
        )
    values = column.to_numpy()
    if values.dtype.kind == "f" and (inexact := np.abs(values) >= 2**53).any():
        row = int(np.argmax(inexact))
        raise ValueError(
            f"{path} has the {what} {values[row]} in row {start + row}, column {column.name!r}; "
            "whole numbers, text, or floating point numbers below 2**53 are accepted."
        )


def _query_ids(path, column, what="query id"):
    """Whole numbers for the queries, or groups, of the rows."""
    import pandas as pd

    require_ids(path, column, what=what)
    if pd.api.types.is_integer_dtype(column):
        return column.to_numpy(dtype=np.int64)
    return pd.factorize(column)[0].astype(np.int64)


def _items_of_frame(source, frame, target, qid, drop, group_split=None):
    """A `Dataset` from a data frame that was read from `source`."""
    columns = list(frame.columns)
    if len(columns) == 1:
        raise ValueError(
            f"{source} has only one column, {columns[0]!r}; a target and at least one feature are "
            "needed, separated by commas, semicolons or tabs."
        )
    check_columns(source, columns, target, qid, drop, group_split)
    qid = query_column(source, columns, target, qid, drop, group_split)
    features = [name for name in columns if name not in (target, qid, group_split, *drop)]
    if not features:
        raise ValueError(
            f"{source} has no columns besides target {target!r} and qid {qid!r}; "
            "at least one feature is needed."
        )
    if len(frame) == 0:
        raise ValueError(f"{source} has names of columns but no rows.")
    numbers = finite_numbers(
        source, frame[[name for name in columns if name in (target, *features)]], target
    )
    at = [name for name in columns if name in (target, *features)].index(target)
    by = "" if qid is None else f", query ids from {qid!r}"
    return Dataset(
        np.delete(numbers, at, axis=1),
        numbers[:, at],
        qid=None if qid is None else _query_ids(source, frame[qid]),
        groups=None if group_split is None else _query_ids(source, frame[group_split], "group"),
        name=source.stem,
        feature_names=features,
        description=f"Read from {source.name}, ranked by {target!r}{by}.",
        source=source.name,
    )


def data_lines(source):
    """Number, counted from 1, and bytes of every line that holds more than a comment."""
    with source.open() as stream:
        for number, line in enumerate(stream, start=source.first_line):
            if line.split(b"#")[0].strip():
                yield number, line


def show_line(number, line):
    """A line for an error."""
    return f"line {number}, {line.decode(errors='replace').strip()[:60]!r}"


def _bad_line(source, block=1000):
    """The first line that scikit-learn does not read, and its reason."""
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


def _read_sparse(source, width=None):
    """Sparse X whose column j is index j of the file, labels, and query ids or None.

    The width is the number of columns, if it is known.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        with source.open() as stream:
            X, y, qid = load_svmlight_file(stream, n_features=width, query_id=True, zero_based=True)
    except (ValueError, OverflowError) as error:
        raise ValueError(
            f"{source} is not SVMlight text in {_bad_line(source)}; "
            "`label qid:query index:value ...` is accepted, indices rising."
        ) from error
    if X.nnz == 0 and width is None:
        raise ValueError(
            f"{source} has {len(y)} labels and no feature; "
            "lines `label qid:query index:value ...` are accepted."
        )
    if len(qid) not in (0, len(y)):
        without = next(one for one in data_lines(source) if b"qid:" not in one[1].split(b"#")[0])
        raise ValueError(
            f"{source} has qid on {len(qid)} of its {len(y)} lines and none in "
            f"{show_line(*without)}; on all or on none is accepted."
        )
    return X, y, qid if len(qid) else None


def read_svmlight(source, indices=None):
    """Dense X (n, d), names of its columns, labels (n,) and query ids or None of a file.

    Its indices, the first and the last, may be known; else those are meant that it mentions.

    Raises
    ------
    ValueError
        If a line is no SVMlight text, or holds NaN or infinity.
    MemoryError
        If the dense table would not fit in memory.
    """
    X, y, qid = _read_sparse(source, None if indices is None else indices[1] + 1)
    first = (0 if (X.indices == 0).any() else 1) if indices is None else indices[0]
    n, d = X.shape[0], X.shape[1] - first
    needed = (
        9 * n + 70
    ) * d  # the numbers, a mask of the finite ones, and the names of the features
    require_memory(
        needed,
        f"the dense table of {n} rows and {d} features in {source}",
        "number the features without gaps, or leave some out",
    )
    names = [f"feature {j}" for j in range(first, first + d)]
    line = lambda row: show_line(*next(islice(data_lines(source), row, None)))
    require_finite_rows(source, y[:, None], ["label"], line, source.first_row)
    X = X[:, first:].toarray()
    return require_finite_rows(source, X, names, line, source.first_row), names, y, qid


def _items_of_svmlight(source):
    """A `Dataset` from an SVMlight or LETOR file."""
    X, names, y, qid = read_svmlight(source)
    return Dataset(
        X,
        y,
        qid=qid,
        name=source.stem,
        feature_names=names,
        description=f"Read from {source.name}.",
        source=source.name,
    )


def refuse_columns(source, **given):
    """Refuse names of columns for a text without names."""
    for argument, value in given.items():
        if value is not None:
            raise ValueError(
                f"{argument} is {value!r}; None is accepted for {source}, "
                "since SVMlight text has no names: label and qid stand in each line."
            )


def read_table(path, target=None, qid=None, drop=(), group_split=None):
    """Read items to rank from a file.

    Parameters
    ----------
    path : str or path
        CSV (``.csv`` with commas, semicolons or tabs, ``.tsv``; UTF-8, with a header), Parquet
        (``.parquet``), or SVMlight/LETOR (``.svm .svmlight .letor .txt .dat``); each may be packed
        by gzip (``.csv.gz``). "-" is standard input, whose content says which.
    target : str, optional
        The column to rank by, higher is preferred. Needed for CSV and Parquet, refused for
        SVMlight, which has a label.
    qid : str, optional
        The column that names the query of a row, or "none". By default a column named qid, query,
        query_id, group or session, in any case, with an :class:`Assumption` that says so. For CSV
        and Parquet only.
    drop : sequence of str, optional
        Columns to leave out. For CSV and Parquet only.
    group_split : str, optional
        The column of what a row belongs to, such as a user: its rows stay in one part when the data
        are split. It is no feature. For CSV and Parquet only.

    Returns
    -------
    Dataset
        All other columns are features, in the order of the file, as float64, raw; SVMlight becomes
        dense.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If the file is empty, is not what its ending says, has an unknown ending, no such column
        (the nearest name is given), no features, a column that is not numeric
        (:class:`NotNumbers`), NaN or infinity (row and column of the first), or a line that is not
        SVMlight text (its number and text).
    MemoryError
        If an SVMlight file would not fit in memory as a dense table.

    Warns
    -----
    Assumption
        If query ids, decimal commas or the format of standard input were guessed.
    """
    source = Source(path)
    kind = format_of(source)
    if kind != "SVMlight text":
        frame = (
            read_parquet(source)
            if kind == "Parquet"
            else read_csv(source, None if kind == "CSV text" else "\t")
        )
        return _items_of_frame(source, frame, target, qid, drop, group_split)
    given = dict(target=target, qid=qid, drop=drop or None, group_split=group_split)
    refuse_columns(source, **given)
    return _items_of_svmlight(source)
