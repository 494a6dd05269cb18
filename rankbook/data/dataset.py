"""Data sets: items, scores and query ids."""

import html
from dataclasses import dataclass

import numpy as np

from ..base.validation import as_array, as_matrix, as_vector, unknown_name

PARTS = ("train", "validation", "test")


def _as_labels(name, value, size, kind, accepted):
    """`value` as an array of shape (size,) whose dtype is of the given kind."""
    labels = as_array(name, value)
    if labels.shape != (size,) or labels.dtype.kind not in kind:
        raise ValueError(
            f"{name} has shape {labels.shape} and dtype {labels.dtype}; "
            f"shape ({size},) and {accepted} are accepted."
        )
    return labels


def _as_parts(value, size):
    """The name of each row's part, one of `PARTS`."""
    parts = _as_labels("parts", value, size, "U", "words")
    for part in np.unique(parts):
        if part not in PARTS:
            raise unknown_name("parts", str(part), PARTS)
    return parts


def _as_names(name, value, count, what):
    """A list of str, one for each column or row of X, or None."""
    if value is None:
        return None
    if np.ndim(value) != 1:
        raise TypeError(f"{name} is {value!r}; a list of names is accepted.")
    if len(value) != count:
        raise ValueError(
            f"{name} has {len(value)} names; {count} are accepted, one for each {what} of X."
        )
    return [str(one) for one in value]


def _checked_fields(data):
    """The fields of a `Dataset` as arrays of the promised shapes and types."""
    X = as_matrix("X", data.X)
    n, d = X.shape
    if n == 0:
        raise ValueError(f"X has shape {X.shape}; at least one row is accepted.")
    features = _as_names("feature_names", data.feature_names, d, "column")
    names = [f"x{j}" for j in range(d)] if features is None else features
    qid = None if data.qid is None else _as_labels("qid", data.qid, n, "iu", "whole numbers")
    parts = None if data.parts is None else _as_parts(data.parts, n)
    groups = data.groups
    if groups is not None:
        groups = _as_labels("groups", groups, n, "iuU", "whole numbers or words")
    found = dict(X=X, y=as_vector("y", data.y, n), qid=qid, feature_names=names)
    rows = _as_names("item_names", data.item_names, n, "row")
    return found | dict(parts=parts, groups=groups, item_names=rows)


def _facts(data):
    """Pairs (what, how many) that describe a `Dataset`."""
    levels, sizes = np.unique(data.y, return_counts=True)
    few = ", ".join(f"{size} at {level:g}" for level, size in zip(levels, sizes))
    many = f"{len(levels)} levels from {levels[0]:g} to {levels[-1]:g}"
    facts = [
        ("rows", str(len(data.y))),
        ("features", str(data.X.shape[1])),
        ("y", few if len(levels) <= 5 else many),
    ]
    if data.qid is not None:
        facts.append(("queries", str(len(np.unique(data.qid)))))
    if data.groups is not None:
        facts.append(("groups", str(len(np.unique(data.groups)))))
    if data.parts is not None:
        facts.append(
            (
                "parts",
                ", ".join(
                    f"{np.sum(data.parts == part)} {part}" for part in PARTS if part in data.parts
                ),
            )
        )
    return facts


def _facts_as_html(data):
    """A small table for notebooks."""
    rows = _facts(data) + [
        ("about", data.description),
        ("source", data.source),
        ("licence", data.licence),
    ]
    row = "<tr><th style='text-align:left'>{}</th><td style='text-align:left'>{}</td></tr>"
    body = "".join(row.format(label, html.escape(text)) for label, text in rows if text)
    return f"<table><caption><b>{html.escape(data.name or 'Dataset')}</b></caption>{body}</table>"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Items to rank, with what is known about them.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Features, one row an item; kept as float64, not standardised.
    y : array-like of shape (n,)
        Scores; higher is preferred. Kept as float64.
    qid : array-like of int of shape (n,), optional
        The query of each row; only items of one query are compared. None means one query.
    name, description, source, licence : str, default ""
        For the reader: a word, a sentence, who made the data and where they are found, under which
        terms.
    feature_names : list of str, optional
        One for each column of `X`; default ``x0, x1, ...``.
    parts : array-like of str of shape (n,), optional
        "train", "validation" or "test" for data that come with their own split.
    groups : array-like of int or str of shape (n,), optional
        What each row belongs to, such as a user: the rows of one group stay in one part when the
        data are split. Items of different groups are compared all the same.
    item_names : list of str, optional
        What each row is called, for the reader.

    Raises
    ------
    ValueError, TypeError
        If shapes disagree, or `X` or `y` holds anything but finite numbers.

    Examples
    --------
    >>> import rankbook as rb
    >>> data = rb.datasets.Dataset([[0.0, 1.0], [2.0, 3.0]], [0, 1], qid=[7, 7], name="two")
    >>> data
    Dataset 'two' (rows: 2; features: 2; y: 1 at 0, 1 at 1; queries: 1)
    >>> data.feature_names
    ['x0', 'x1']
    """

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray | None = None
    name: str = ""
    feature_names: list | None = None
    description: str = ""
    source: str = ""
    licence: str = ""
    parts: np.ndarray | None = None
    groups: np.ndarray | None = None
    item_names: list | None = None

    def __post_init__(self):
        for field, value in _checked_fields(self).items():
            object.__setattr__(self, field, value)  # the dataclass is frozen

    def __repr__(self) -> str:
        return (
            f"Dataset {self.name!r} ("
            + "; ".join(f"{label}: {text}" for label, text in _facts(self))
            + ")"
        )

    def _repr_html_(self):
        return _facts_as_html(self)
