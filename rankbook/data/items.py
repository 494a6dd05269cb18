"""Tables of new items, with the columns that a model needs."""

from dataclasses import dataclass

import numpy as np

from ..base.validation import unknown_name
from .readers import read_csv, read_parquet
from .sources import Source, format_of
from .tables import finite_numbers, query_column, read_svmlight


def read_frame(source):
    """What a file holds, as a pandas DataFrame.

    Parameters
    ----------
    source : Source

    Returns
    -------
    DataFrame
        SVMlight text has the columns label, qid if it names queries, and the features.

    Raises
    ------
    ValueError
        If the file is not what its ending says, or cannot be read.
    """
    kind = format_of(source)
    if kind == "Parquet":
        return read_parquet(source)
    if kind != "SVMlight text":
        return read_csv(source, None if kind == "CSV text" else "\t")
    import pandas as pd

    X, names, y, qid = read_svmlight(source)
    frame = pd.DataFrame(X, columns=names, copy=False)
    if qid is not None:
        frame.insert(0, "qid", qid)
    frame.insert(0, "label", y)
    return frame


@dataclass(frozen=True, eq=False)
class ItemTable:
    """Items from a file, with whatever else it says of them.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Features, finite.
    features : list of str
        Their names.
    y : ndarray of shape (n,) or None
        Scores, if a target was named, or of SVMlight text.
    qid, name : ndarray of shape (n,) or None
        What names the query of a row, and the row itself, as in the file.
    """

    X: np.ndarray
    features: list
    y: np.ndarray | None = None
    qid: np.ndarray | None = None
    name: np.ndarray | None = None


def read_items(path, features=None, *, target=None, qid=None, name=None, drop=()):
    """Items from a file, whether or not it says how good they are.

    Parameters
    ----------
    path : str or path
        As in :func:`rankbook.data.tables.read_table`.
    features : sequence of str, optional
        Columns to read, in this order; other columns are ignored. By default all that are not named
        otherwise. Features that SVMlight text does not mention are 0.
    target, name : str, optional
        Columns of scores and of the rows' names.
    qid : str, optional
        The column that names the query of a row, or "none"; by default found by its name.
    drop : sequence of str, optional
        Columns to leave out, where `features` is None.

    Returns
    -------
    ItemTable

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If a column is missing (the nearest name is given), is not numeric or holds NaN or infinity,
        or if there are no rows.
    """
    source = Source(path)
    return items_of(read_frame(source), source, features, target, qid, name, drop)


def items_of(  # noqa: PLR0913 -- a part of a table each
    frame, source, features=None, target=None, qid=None, name=None, drop=(), start=0
):
    """The items of a DataFrame that was read from `source`, from row `start` on.

    See :func:`read_items`.
    """
    columns = list(frame.columns)
    for argument, value in (("target", target), ("qid", qid), ("name", name)):
        if value is not None and (argument, value) != ("qid", "none") and value not in columns:
            raise unknown_name(argument, value, columns)
    for value in drop:
        if value not in columns:
            raise unknown_name("drop", value, columns)
    if len(frame) == 0:
        raise ValueError(f"{source} has names of columns but no rows.")
    if is_numbered(frame):  # the format says what its columns are
        target, qid = target or "label", qid or ("qid" if "qid" in columns else None)
    other = "makes it a feature" if features is None else "compares all rows"
    others = (*(features or ()), name, *drop)
    query = query_column(source, columns, target, qid, others, other=other)
    if features is None:
        features = [c for c in columns if c not in (target, query, name, *drop)]
        if not features:
            raise ValueError(f"{source} has no columns left for features; one or more are needed.")
    else:
        frame = with_features(frame, source, features)
    own = lambda column: None if column is None else frame[column].to_numpy()
    y = None if target is None else finite_numbers(source, frame[[target]], start=start)[:, 0]
    X = finite_numbers(source, frame[list(features)], start=start)
    return ItemTable(X, list(features), y, own(query), own(name))


def is_numbered(frame):
    """Whether a frame has the columns of SVMlight text."""
    return frame.columns[0] == "label" and str(frame.columns[-1]).startswith("feature ")


def with_features(frame, source, features):
    """The frame, with features that SVMlight text does not mention as zeros.

    In other tables a missing column is a ValueError.
    """
    missing = [c for c in features if c not in frame.columns]
    if not missing:
        return frame
    if not (is_numbered(frame) and all(c.startswith("feature ") for c in missing)):
        raise ValueError(
            f"{source} has no column {missing[0]!r}, which the model knows; "
            f"it has {', '.join(map(str, frame.columns))}."
        )
    return frame.assign(**dict.fromkeys(missing, 0.0))
