"""Votes in tables, with their sampling units, dates and groups."""

import re
from dataclasses import dataclass, field, replace

import numpy as np

from ..base.errors import ArgumentError
from ..base.tables import count
from ..base.validation import as_ids, describe_value
from ..preferences.events import pairs_of
from ..preferences.votes import Votes
from .records import OF_ORDERS, VOTES, read_records
from .table import FrameSource, Source, require_ids

JUDGES = "judge user annotator rater voter session".split()  # parts of names of sampling units
UNIX = (1e8, 1e11)  # numbers in this range are Unix times in seconds, from 1973 on
DAYS = dict(h=1 / 24, d=1.0, w=7.0) | {"": 1.0}


@dataclass(frozen=True, eq=False)
class VoteTable:
    """Votes of a table, with the units, features and groups that it contains.

    Attributes
    ----------
    votes : Votes
        With the numbers of their units.
    features : tuple of str
        Names of the pair features.
    notes : list of str
    groups : dict from str to (ndarray of shape (m,), sequence)
        For some columns, the index of each vote's value, and the values.
    factor : ndarray of shape (m,), optional
        Weight of each vote by its age.
    """

    votes: Votes
    features: tuple = ()
    notes: tuple = ()
    groups: dict = field(default_factory=dict)
    factor: np.ndarray | None = None

    def rows(self, chosen):
        """Return a table of the chosen votes."""
        groups = {name: (code[chosen], values) for name, (code, values) in self.groups.items()}
        factor = None if self.factor is None else self.factor[chosen]
        return replace(self, votes=self.votes.rows(chosen), groups=groups, factor=factor)


def read_votes(  # noqa: PLR0913 -- what a table of votes may hold
    table, columns, unit=(), units=None, by=(), date=None, since=None, half_life=None, ties="half"
):
    """Read a table of votes, with sampling units, groups and weights by age.

    Parameters
    ----------
    table : Source, str, path, data frame or dict of columns
    columns : dict
        Arguments of :func:`rankbook.read_preferences`.
    unit, by : sequence of str
        Columns of sampling units and of groups.
    units : array-like of shape (m,), optional
        The unit of each row, in place of columns.
    date : str, optional
        Column of dates.
    since : str or date, optional
        Earlier votes are left out.
    half_life : str or float, optional
        Age at which the weight of a vote is halved: a text such as "90d", or a number of days.
    ties : str
        "refuse" raises an error for ties.

    Returns
    -------
    VoteTable or Orders
    """
    import pandas as pd

    columns = dict(columns or {})
    form = columns.pop("form", None)
    is_file = isinstance(table, str | Source) or hasattr(table, "__fspath__")
    source = table if is_file else FrameSource(table, "votes")
    more = dict.fromkeys(unit, "unit") | dict.fromkeys(by, "by")
    more |= {} if date is None else {date: "date"}
    records = read_records(None, source, form, columns, more)
    if records.form == "clicks":
        raise ArgumentError(
            f"votes is {str(records.source)!r}, a log of clicks",
            "votes, matches or orders",
            "To learn from clicks, use RankSVM, or rankbook fit ITEMS --preferences LOG.",
        )
    if records.form not in VOTES:
        for name, role in [*more.items(), *[("an array", "unit")] * (units is not None)]:
            raise ArgumentError(
                f"{role} is {name!r}, and the table contains {records.form}",
                f"Omit {role} for {records.form}.",
            )
        made = records.make()
        return made if records.form in OF_ORDERS else VoteTable(Votes.of_preferences(made))
    if "ties" in columns:
        raise ArgumentError(
            f"columns has ties={columns['ties']!r}", "Set ties= of the leaderboard instead."
        )
    given, frame, notes = records.votes(), records.frame, []
    if ties == "refuse":
        pairs_of(given, "refuse")
    if given["margin"] is not None:
        raise ArgumentError("votes have margins", "votes without margins")
    names = ("first", "second", "points", "n_items", "weight", "features", "items")
    votes, row = Votes.of(**{name: given[name] for name in names}), given["row"]
    features = records.columns.get("pair_features") or []
    features = [features] if isinstance(features, str) else list(features)
    features = ["home_advantage"] * bool(records.columns.get("home_advantage")) + features

    def numbered(name, role):
        """Return the code of each entry of a column and the texts; 1 and "1" have one code."""
        require_ids(records.source, frame[name], what=role)
        code, values = pd.factorize(frame[name])
        of_text, values = pd.factorize(np.array([str(value) for value in values], dtype=object))
        return of_text[code], values

    number = None
    if unit:
        codes = [numbered(name, "unit")[0] for name in unit]
        number = np.unique(codes, axis=1, return_inverse=True)[1] if codes[1:] else codes[0]
    elif units is not None:
        number = as_ids("unit", units, len(frame))[1]
    elif looks := [c for c in records.left_over if any(j in c.casefold() for j in JUDGES)]:
        notes.append(
            f"votes count as independent; if those of one {looks[0]} resemble each other, "
            f"intervals are too short unless the unit is {looks[0]!r}"
        )
    groups = {}
    for name in by:
        code, values = numbered(name, "group")
        groups[name] = code[row], values.tolist()
    if number is not None:
        votes = replace(votes, unit=number[row])
    found = VoteTable(votes, tuple(map(str, features)), notes, groups)
    if date is None:
        return found
    what = lambda cell: "no date" if pd.isna(cell) else f"the date {cell!r}"
    day = days_of(frame[date], lambda i: f"{records.source} has {what(i[1])} in row {i[0]}")
    latest, keep = day.max(), np.ones(len(row), dtype=bool)
    if half_life is not None:
        half = as_days("half_life", half_life)
        found = replace(found, factor=0.5 ** ((latest - day[row]) / half))
        notes.append(f"the weight of a vote halves in {half:g} days")
    if since is not None:
        first = days_of(pd.Series([since]), lambda i: f"since is {i[1]!r}")[0]
        if first > latest:
            raise ArgumentError(f"since is {since!r}, after the last vote", "an earlier date")
        keep = day[row] >= first
        n_old = int((~keep).sum())
        verb = "is" if n_old == 1 else "are"
        notes.append(f"{count(n_old, 'vote', ',')} before {since} {verb} left out")
    return found if keep.all() else found.rows(keep)


def days_of(column, said):
    """Convert dates to days (m,) since 1970; `said` describes a row and its cell in an error.

    The column may contain pandas dates, ISO 8601 text or Unix times in seconds.
    """
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy(), column.cat.categories
    else:
        codes, values = pd.factorize(column)
    values = pd.Series(values)
    if not pd.api.types.is_datetime64_any_dtype(values):
        number = pd.to_numeric(values.astype(str), errors="coerce")
        is_time = number.between(*UNIX)
        text = values.astype(str).where(~is_time)
        values = pd.to_datetime(text, format="ISO8601", errors="coerce", utc=True)
        values = values.fillna(pd.to_datetime(number.where(is_time), unit="s", utc=True))
    values = pd.to_datetime(values, utc=True)
    days = np.r_[(values - pd.Timestamp(0, tz="UTC")) / pd.Timedelta("1D"), np.nan][codes]
    if (wrong := np.isnan(days)).any():
        row = int(np.argmax(wrong))
        where = said((row, column.iloc[row]))
        where += f", column {column.name!r}" if column.name is not None else ""
        raise ArgumentError(
            where,
            "dates such as 2026-11-29, times such as "
            "2026-11-29T10:30:00Z, or Unix times in seconds",
        )
    return days


def as_column_list(argument, value):
    """Return names of columns as a list; the argument is one name, a list or None."""
    found = [value] if isinstance(value, str) else [] if value is None else value
    is_list = isinstance(found, list | tuple) and (len(found) > 0 or value is None)
    if not (is_list and all(isinstance(name, str) and name for name in found)):
        raise ArgumentError(
            f"{argument} is {describe_value(value)}", "the name of a column, or a list"
        )
    return list(found)


def as_days(argument, value):
    """Convert a length of time to days: a number, a timedelta, or text such as 90d, 12h or 8w."""
    found = np.nan
    if hasattr(value, "total_seconds"):
        found = value.total_seconds() / 86400
    elif match := re.fullmatch(r"\s*(\d+\.?\d*)\s*([hdw]?)\s*", str(value), re.IGNORECASE):
        found = float(match[1]) * DAYS[match[2].lower()]
    if not 0 < found < np.inf:
        raise ArgumentError(f"{argument} is {value!r}", "a time > 0 such as '90d' or '12h'")
    return found
