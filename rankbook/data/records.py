"""Readers of preference files: pairs, matches, clicks, rankings and orders."""

import inspect
import logging
import re
from collections.abc import Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, combinations
from os import PathLike
from typing import Any, Literal

import numpy as np

from ..base.errors import ArgumentError, Assumption
from ..base.limits import warn
from ..base.tables import LOG, explain
from ..base.tables import count as count_of
from ..base.validation import as_choice, as_vector, unknown_name
from ..preferences.counts import count_votes, counted_rankings
from ..preferences.events import QUERY_NAMES, log_pairs, match_votes, pair_votes, pairs_of
from ..preferences.graph import Preferences
from ..preferences.names import column_of, flags_of
from ..preferences.orders import Orders
from ..preferences.outcomes import read_outcomes, side_words
from ..preferences.propensities import click_propensities
from .forms import find_whole
from .table import FrameReader, as_source, require_ids

# The roles of each form: the arguments of its method that are columns. A role with * is required;
# cells of "name" and "result" are read as text.
FORMS = {
    "pairs": "winner*:name loser*:name weight margin tie pair_features",
    "matches": "home*:name away*:name result*:result tie weight pair_features",
    "clicks": "session*:name item*:name rank* click* propensity query:name",
    "rankings": "ranking*:name item*:name rank* weight",  # or rating, a negative rank
    "orders": "item*:names weight",
    "counts": "first*:name second*:name wins_first* wins_second* tie",
    "wins": "",
}
OF_ORDERS = ("rankings", "orders")
UNITS = dict(clicks="session", rankings="ranking")  # rows that form preferences together
VOTES = dict(pairs=pair_votes, matches=match_votes, counts=count_votes)  # readers of votes
METHODS = dict(orders="from_rankings")  # of other forms: from_FORM
COUNTS = (
    "weight",
    "weights",
    "count",
    "counts",
    "votes",
    "n",
)  # of votes, if a column is left over


@dataclass
class Records:
    """A file or table of records, and the arguments of the method that reads it.

    Attributes
    ----------
    source : Source or FrameSource
    kind : type
        Preferences or Orders.
    form : str
    frame : DataFrame
    columns : dict
        Arguments of the method: names of columns, and options.
    roles : dict from str to str or list of str
        The columns among these arguments.
    left_over : list of str
        Columns of the table that are not used.
    """

    source: Any
    kind: type
    form: str
    frame: Any
    columns: dict
    roles: dict = field(default_factory=dict)
    left_over: list = field(default_factory=list)

    @property
    def method(self):
        """The method that reads the form."""
        return getattr(self.kind, METHODS.get(self.form, f"from_{self.form}"))

    def make(self, items=None):
        """Return preferences or orders."""
        frame, columns = self.frame, self.columns
        with self._named_columns():
            if self.form != "orders":
                return self.method(frame, items=items, **columns)
            item = self.roles["item"]
            if "weight" in columns:
                columns = columns | dict(weight=frame[columns["weight"]].to_numpy())
            orders = orders_of(self.source, frame[[item] if isinstance(item, str) else list(item)])
            return self.method(orders, items="names" if items is None else items, **columns)

    def votes(self, items=None):
        """Return the votes of pairs, matches or counts, in which a tie is one vote.

        Returns
        -------
        dict
            As from :func:`rankbook.preferences.events.numbered_votes`.
        """
        if self.form not in VOTES:
            raise ArgumentError(f"{self.source} has the form {self.form!r}", "votes or matches")
        with self._named_columns():
            return VOTES[self.form](**self._arguments(items))

    def _arguments(self, items):
        """Return all arguments of the reader of the form, defaults included."""
        bound = inspect.signature(self.method).bind(self.frame, items=items, **self.columns)
        bound.apply_defaults()
        return {name: value for name, value in bound.arguments.items() if name != "ties"}

    @contextmanager
    def _named_columns(self):
        """Add the names of file and column to errors about an argument."""
        try:
            yield
        except ArgumentError as error:
            role, _, index = error.argument.removesuffix("]").partition("[")
            where, column = f"{self.source}: {role}", self.roles.get(role, role)
            if role == "orders" and index:
                where = f"{self.source}: row {index}"
            elif role not in self.roles:
                error.add_note(f"in {self.source}")
                raise
            elif column != role:
                where += f" (column {column[int(index)] if index else column!r})"
            raise error.renamed(where) from error

    def outcomes(self):
        """Return the outcomes of matches."""
        frame, names = self.frame, [self.roles["home"], self.roles["away"]]
        sides = [column_of(frame, "home", name, coded=True) for name in names]
        tie = self.roles.get("tie")
        tie = None if tie is None else flags_of("tie", column_of(frame, "tie", tie))
        results = self.columns.get("results")
        return read_outcomes(frame, self.columns["result"], sides, results, tie, names)

    def propensities(self):
        """Return the propensities of the ranks of clicks; see :func:`rb.click_propensities`."""
        names = ("item", "rank", "click", "query")
        with self._named_columns():
            roles = {name: self.roles[name] for name in names if name in self.roles}
            return click_propensities(self.frame, **roles)

    def make_grouped(self, group, items=None):
        """Return preferences in the order of the rows, and the index (m,) of each one's group.

        Repeated preferences from the clicks of one group are merged, as in a log that contains only
        this group.

        Raises
        ------
        ValueError
            If a row has no group, or a session or ranking has rows of two groups.
        """
        from pandas import factorize

        if self.form == "counts":
            raise ArgumentError(
                f"group is {group!r}, and the table contains counts", "individual votes or matches"
            )
        with self._named_columns():
            given = self._arguments(items)
            if self.form in VOTES:
                ties = self.columns.get("ties", "refuse")
                found, facts, row = pairs_of(VOTES[self.form](**given), ties)
            else:
                read = log_pairs if self.form == "clicks" else counted_rankings
                found, facts, row = read(**given)
        require_ids(self.source, self.frame[group], what="group")
        number = factorize(self.frame[group])[0]
        if self.form in UNITS:
            unit = self.frame[self.roles[UNITS[self.form]]]
            first = np.unique(factorize(unit)[0], return_index=True)[1]
            torn = np.flatnonzero(number != number[first][factorize(unit)[0]])
            if torn.size:
                raise ArgumentError(
                    f"group is {group!r}, which has two values in the {UNITS[self.form]} "
                    f"{unit.iloc[torn[0]]} of {self.source}",
                    f"one group for each {UNITS[self.form]}",
                )
            if self.form == "rankings":
                row = first[row]
        prefs, number = Preferences(*found).replaced(**facts), number[row]
        if self.form != "clicks":
            return prefs, number
        keys = np.column_stack([number, prefs.better, prefs.worse])
        keys, place = np.unique(keys, axis=0, return_inverse=True)
        weight = np.bincount(place.ravel(), prefs.weight)
        number, better, worse = keys.T
        return Preferences(better, worse, prefs.n_items, weight).replaced(**facts), number


def read_preferences(
    path: str | PathLike,
    form: Literal["pairs", "matches", "counts", "wins", "clicks", "rankings", "orders"]
    | None = None,
    *,
    items: Sequence[Any] | Literal["rows", "names"] | None = None,
    **columns: Any,
) -> Preferences:
    """Read preferences between items from a file.

    Parameters
    ----------
    path : str or path
        A table with a header: CSV, TSV or Parquet, compressed with gzip or not, as for
        :func:`rankbook.read_table`. Or a PrefLib file of orders: ``.soc``, ``.soi``, ``.toc`` or
        ``.toi``, whose numbers of voters are the weights.
    form : {"pairs", "matches", "counts", "wins", "clicks", "rankings", "orders"}, optional
        Meaning of a row. "pairs": a winner and a loser. "matches": home, away and result, or two
        items and a column winner, as in votes on two models. "counts": two items, first and second,
        and their numbers of wins, wins_first and wins_second. "wins": the name of an item, and its
        wins against the items of the header. "clicks": a session, an item shown in it, its rank and
        whether it was clicked; a clicked item is preferred to all others of its session.
        "rankings": a ranking, an item and its rank (1 is best); ``rating="stars"`` names a column
        whose higher values are better. "orders": a whole ranking, the items from left to right,
        best first; cells at the end may be empty. If the table has other columns, name the columns
        of the items: ``item=["best", "middle", "worst"]``. By default the form is the one whose
        columns the table has.
    items : sequence of n distinct names, "rows" or "names", optional
        The name of each item, for instance ``data.item_names``. By default names are numbered as
        they first appear. "rows" means that the table contains row numbers.
    **columns
        Arguments of :meth:`rankbook.Preferences.from_pairs`, or of the method of another form:
        names of columns, such as ``winner="chosen"``, ``weight="votes"`` or ``rank="position"``,
        and options, such as ``ties="half"`` or ``results="winner"``. By default a column has the
        name of its argument, in upper or lower case. In pairs and matches, a column named tie marks
        the ties. In `pair_features`, ``"len_a-len_b"`` is the difference of two columns.

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

    Warns
    -----
    Assumption
        If a decision was left open: which columns are the two sides, a column of counts that is not
        used, names that differ only by case, spaces, leading zeros or Unicode form, spaces in
        quotes.

    Notes
    -----
    Names are the text of their cells: 007 and 7 differ, NA is a name, and only an empty cell is
    missing. Spaces around an unquoted cell are ignored. The logger "rankbook.tables" reports at
    level INFO what each column was used as.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankbook as rb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "table.csv")
    ...     _ = file.write_text("chosen,other,votes\\ntea,milk,3\\ntea,water,1\\n")
    ...     prefs = rb.read_preferences(file, winner="chosen", loser="other", weight="votes")
    >>> prefs.items, prefs.weight
    (('tea', 'milk', 'water'), array([3., 1.]))
    """
    return read_records(Preferences, path, form, columns).make(items)


def read_orders(
    path: str | PathLike,
    form: Literal["rankings", "orders"] | None = None,
    *,
    items: Sequence[Any] | Literal["rows", "names"] | None = None,
    **columns: Any,
) -> Orders:
    """Read orders of items from a file, for ``loss="plackett-luce"``.

    Parameters
    ----------
    path, items
        As in :func:`read_preferences`.
    form : {"rankings", "orders"}, optional
        As in :func:`read_preferences`. By default "rankings" if the table has its columns,
        otherwise "orders".
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

    Warns
    -----
    Assumption
        As in :func:`read_preferences`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankbook as rb  # a row for each judge, the best item first
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "table.csv")
    ...     _ = file.write_text("first,second,third\\ntea,milk,water\\nmilk,tea,\\n")
    ...     orders = rb.read_orders(file, "orders")
    >>> orders, orders.items
    (Orders(items=3, orders=2, choices=3), ('tea', 'milk', 'water'))
    """
    return read_records(Orders, path, form, columns).make(items)


def roles_of(form):
    """Return the roles of a form: (required, kind) by argument."""
    found = {}
    for word in FORMS[form].split():
        role, _, kind = word.partition(":")
        found[role.rstrip("*")] = role.endswith("*"), kind
    return found


def options_of(kind, form):
    """Return the arguments of the method that reads a form, except the names of the items."""
    kind = kind or (Orders if form in OF_ORDERS else Preferences)
    method = getattr(kind, METHODS.get(form, f"from_{form}"))
    arguments = list(inspect.signature(method).parameters)[1:]
    return [name for name in arguments if name not in ("items", "n_items")]


def same_name(columns, name):
    """Return the column with a name, or the only one that differs by case alone; else None."""
    if name in columns:
        return name
    found = [column for column in columns if str(column).casefold() == name.casefold()]
    return found[0] if len(found) == 1 else None


def read_records(kind, path, form, columns, more=()):
    """Read a file of records.

    Parameters
    ----------
    kind : type, optional
        Preferences or Orders; by default Orders for the forms "rankings" and "orders".
    path : str, path, Source or FrameSource
    form : str or None
    columns : dict
        Arguments of the method that reads the form: names of columns, and options.
    more : sequence of str, or dict
        Other columns, whose cells are names; a dict maps them to arguments, for errors.

    Returns
    -------
    Records
    """
    forms = OF_ORDERS if kind is Orders else tuple(FORMS)
    if form is not None:
        as_choice("form", form, forms)
    if (whole := find_whole(kind, path, form, columns)) is not None:
        return whole
    source = as_source(path)
    reader = FrameReader(source)
    known = list(reader.columns)
    is_rated = "rating" in columns and form in (None, "rankings")
    if is_rated:  # a higher rating is a better rank
        columns = {"rank" if name == "rating" else name: c for name, c in columns.items()}
    asked, why = columns, "as given"
    arguments = {name for each in forms if form in (None, each) for name in options_of(kind, each)}
    for name in columns:
        if name not in arguments and not (form == "pairs" and name in options_of(kind, "matches")):
            raise unknown_name("columns", name, sorted(arguments))
    if form in (None, "pairs", "matches"):
        form, columns, why = find_form(reader, form, columns, forms)
    kind = kind or (Orders if form in OF_ORDERS else Preferences)
    options = options_of(kind, form)
    for name in columns:
        if name not in options:
            raise ArgumentError(
                f"{name} is {columns[name]!r}", f"Omit {name} for the form {form!r} of {source}."
            )
    roles, reasons = find_columns(reader, form, columns, options)
    reasons |= {role: why for role in columns.keys() - asked.keys()}
    for column in more:
        if column not in known:
            role = more[column] if isinstance(more, dict) else "group"
            raise unknown_name(role, column, known)
    named = {role: [c] if isinstance(c, str) else list(c) for role, c in roles.items()}
    is_text = {role: bool(role_kind) for role, (_, role_kind) in roles_of(form).items()}
    is_text["result"] = len(named.get("result", ())) == 1  # two columns contain goals
    text = [c for role in roles if is_text[role] for c in named[role]]
    differences = {c: difference_of(c, known) for c in named.get("pair_features", ())}
    differences = {c: pair for c, pair in differences.items() if pair is not None}
    wanted = [*chain.from_iterable(named.values()), *chain.from_iterable(differences.values())]
    wanted = [c for c in dict.fromkeys([*wanted, *more]) if c not in differences]
    beside = QUERY_NAMES if form == "clicks" else ()  # from_clicks warns of names they share
    read = dict.fromkeys([*wanted, *(c for c in beside if c in known)])
    frame = reader.read(list(dict.fromkeys([*text, *more])), list(read), coded=True)
    if len(frame) == 0:
        raise ValueError(f"{source} has column names but no rows.")
    for name, pair in differences.items():
        first, second = (as_vector(each, frame[each].to_numpy()) for each in pair)
        frame[name] = first - second
    if is_rated and form == "rankings":
        rating = as_vector("rating", frame[roles["rank"]].to_numpy())
        frame, reasons["rank"] = frame.assign(**{roles["rank"]: -rating}), "given, as a rating"
    if form == "orders":
        columns = {name: value for name, value in columns.items() if name != "item"}
    else:
        columns = columns | roles
    left_over = [c for c in known if c not in wanted]
    note_counts(source, left_over, roles, options)
    records = Records(source, kind, form, frame, columns, roles, left_over)
    explain_records(records, why, reasons, more, left_over)
    return records


def difference_of(name, known):
    """Return the two known columns (a, b) of a name "a-b" that is not itself a column, or None."""
    parts = str(name).split("-") if name not in known else ()
    ends = [("-".join(parts[:i]).strip(), "-".join(parts[i:]).strip()) for i in range(len(parts))]
    found = [pair for pair in ends[1:] if pair[0] in known and pair[1] in known]
    return found[0] if len(found) == 1 else None


def find_columns(reader, form, columns, options):
    """Return the column or columns of each role, and the reasons; refuse missing columns."""
    known, roles, reasons, missing = list(reader.columns), {}, {}, []
    for role, (required, kind) in roles_of(form).items():
        column = columns.get(role)
        if role not in options and kind != "names":
            continue
        if isinstance(column, str | list | tuple):
            roles[role], reasons[role] = column, "given"
        elif column is None and kind == "names":
            items = [name for name in known if name != columns.get("weight")]
            roles[role] = find_order_columns(reader.source, reader, items)
            reasons[role] = "all columns are items, the best first"
        elif column is None and (required or role == "tie"):
            if (found := same_name(known, role)) is not None:
                roles[role], reasons[role] = found, "its name"
            else:
                missing += [role] * required
    given = [(role, [c] if isinstance(c, str) else c) for role, c in roles.items()]
    lost = {
        role: c
        for role, some in given
        for c in some
        if c not in known and not (role == "pair_features" and difference_of(c, known))
    }
    lost |= {role: role for role in missing}
    if lost:
        what = "columns" if len(lost) > 1 else "column"
        raise ValueError(
            f"{reader.source} has no {what} {' and '.join(map(repr, lost.values()))}; it has "
            f"{', '.join(map(str, known))}. Name the {what} with "
            f"{', '.join(f'{name}=COLUMN' for name in lost)}, or give another form."
        )
    return roles, reasons


def note_counts(source, left_over, roles, options):
    """Warn about a column that looks like counts and is not used."""
    if "weight" not in options or "weight" in roles:
        return
    for column in left_over:
        if column.casefold() in COUNTS:
            text = f"{source}: column {column!r} is not used, so all rows have weight 1"
            return warn(Assumption(f"{text}; weight={column!r} counts its rows that many times."))


def explain_records(records, why, reasons, more, left_over):
    """Log the role of each column in a file of records."""
    if not LOG.isEnabledFor(logging.INFO):
        return
    shown = lambda column: column if isinstance(column, str) else ", ".join(column)
    roles = [(shown(column), role, reasons[role]) for role, column in records.roles.items()]
    roles += [(column, "group", "given") for column in more]
    facts = []
    if records.form == "matches":
        with suppress(ValueError):  # the reader raises it, too, with the name of the file
            found = records.outcomes()
            counts = ", ".join(f"{count} {name}" for name, count in found.counts.items())
            facts.append(f"results: {found.reading} ({counts})")
    what = f"{count_of(len(records.frame), 'row')} of form {records.form} ({why})"
    explain(records.source, what, roles, left_over, facts)


class UnknownForm(ValueError):
    """Error for a table of unknown form; `suggested` are arguments that may read it, or None."""

    def __init__(self, suggested, message):
        given = ", ".join(f"{name}={value!r}" for name, value in (suggested or {}).items())
        others = "Name them, such as winner=COLUMN and loser=COLUMN."
        super().__init__(f"{message} {f'Try {given}.' if given else others}")
        self.suggested, self.plain = suggested, message


def suggest_matches(reader):
    """Return arguments that may read a table as matches: two columns with names in common."""
    frame = reader.read(reader.columns, reader.columns)
    cells = {column: set(frame[column].dropna()) for column in frame}
    share = lambda a, b: len(cells[a] & cells[b]) / max(1, len(cells[a] | cells[b]))
    pairs = combinations([c for c in frame if not frame[c].isna().any()], 2)
    home, away = max(pairs, key=lambda pair: share(*pair), default=(None, None))
    if home is None or share(home, away) < 0.2:
        return None
    sides = [frame[side].to_numpy() for side in (home, away)]
    more, rest = (
        dict(form="matches", home=home, away=away),
        [c for c in frame if c not in (home, away)],
    )
    for column in rest:
        with suppress(ValueError):
            read_outcomes(frame, column, sides, names=(home, away))
            return more | dict(result=column)
    goals = [c for c in rest if frame[c].astype(str).str.fullmatch(r"\d+(\.\d+)?").all()]
    both = [pair for pair in combinations(goals, 2) if are_sides(*pair)]
    if len(both) == 1:
        return more | dict(result=",".join(both[0]))
    named = [c for c in rest if re.search("result|winner|won|wins|score|outcome", c, re.IGNORECASE)]
    if len(named) == 1:  # the next error asks what its cells mean
        return more | dict(result=named[0])
    return None if rest else dict(form="pairs", winner=home, loser=away)


def find_form(reader, form, columns, forms):
    """Return the form of a table, its columns, and the reason.

    A table with a column winner but no column loser has the form "matches"; two other columns
    contain the sides.
    """
    has = lambda role: role in columns or same_name(reader.columns, role) is not None
    whole = lambda name: all(has(role) for role, (need, _) in roles_of(name).items() if need)
    if form in (None, "pairs") and "pairs" in forms and whole("pairs"):
        return "pairs", columns, "as given" if form else "it has the columns winner and loser"
    if form in (None, "matches") and "matches" in forms and whole("matches"):
        why = "as given" if form else "it has the columns home, away and result"
        return "matches", columns, why
    winner = columns.get("winner") or columns.get("result") or same_name(reader.columns, "winner")
    if "matches" in forms and isinstance(winner, str) and winner in reader.columns:
        wanted = [c for c in (columns.get("home"), columns.get("away")) if c is not None]
        found = (wanted, "given") if len(wanted) == 2 else find_sides(reader, winner, columns)
        if found is not None and "loser" not in columns:
            (home, away), why = found
            if why in ("the only others", "their names"):
                said = (
                    f"{reader.source}: {home!r} and {away!r} are the items of a row, and {winner!r}"
                )
                warn(Assumption(f"{said} is the result; home= and away= name other columns."))
            others = {name: value for name, value in columns.items() if name != "winner"}
            more = dict(home=home, away=away, result=winner)
            return "matches", more | others, f"{why}, beside the column {winner}"
    if form is not None:
        return form, columns, "as given"
    for name in forms[2:] if "matches" in forms else forms:
        if name not in ("orders", "wins") and whole(name):
            return name, columns, "it has the columns of this form"
    if "matches" not in forms:
        return "orders", columns, "it lacks the columns ranking, item and rank"
    raise UnknownForm(
        suggest_matches(reader),
        f"{reader.source} has the columns {', '.join(map(str, reader.columns))}, which fit no form "
        "of records.",
    )


def find_sides(reader, winner, columns):
    """Return the two columns of the items among which the winners are, and the reason; or None."""
    taken = {winner, *(c for c in columns.values() if isinstance(c, str))}
    taken |= {same_name(reader.columns, "tie")}
    rest = [column for column in reader.columns if column not in taken]
    if one := [columns[side] for side in ("home", "away") if side in columns]:
        beside = [
            c for c in rest if are_sides(*([one[0], c] if "home" in columns else [c, one[0]]))
        ]
        both = [*one, *beside] if "home" in columns else [*beside, *one]
        return (both, "their names") if len(beside) == 1 else None
    cells = set(reader.cells(winner))
    pairs = [(a, b) for i, a in enumerate(rest) for b in rest[i + 1 :] if are_sides(a, b)]
    named = [column for column in rest if column in cells]
    if len(named) == 2:
        return named, f"{winner} contains the column names"
    if len(named) == 1 and (beside := [pair for pair in pairs if named[0] in pair]):
        return beside[0], f"{winner} contains the name of a column"
    if len(rest) == 2:
        return rest, "the only others"
    return (pairs[0], "their names") if len(pairs) == 1 else None


def are_sides(first, second):
    """Return whether two columns are named like the two sides of a comparison."""
    words = [word.casefold() for word in side_words(first, second)][2:]
    return tuple(words) in {("a", "b"), ("1", "2"), ("left", "right"), ("home", "away")}


def find_order_columns(source, reader, known):
    """Return all columns of a table of orders; refuse one that looks like a voter or a count."""
    frame = reader.read(known, known)
    cells = {column: set(frame[column].dropna()) for column in known}
    counts = {c: all(str(cell).replace(".", "", 1).isdigit() for cell in cells[c]) for c in known}
    for column in known:
        rest = [cells[other] for other in known if other != column]
        joined = set().union(*rest)
        if not cells[column] or cells[column] & joined or sum(map(len, rest)) == len(joined):
            continue  # it shares names with another column, or no two columns share names
        numbers = counts[column] and not all(counts[other] for other in known if other != column)
        if len(cells[column]) == 1 and not numbers:
            continue  # such as an item that is always first
        what = "counts" if numbers else "names of voters"
        rest = [other for other in known if other != column]
        raise ValueError(
            f"{source} has the column {column!r}, whose cells occur in no other column and look "
            f"like {what}. Name the columns of the items, best first: item={','.join(rest)}"
            + (f", or weight={column} for counts." if what == "counts" else ".")
        )
    return list(known)


def orders_of(source, frame):
    """Return the items of each row of a table (r, k) from left to right, up to an empty cell.

    Raises
    ------
    ValueError
        If an empty cell precedes a nonempty one, or the column names are items.
    """
    if set(frame.columns).issubset(frame.to_numpy(dtype=object).ravel().tolist()):
        raise ValueError(
            f"{source} begins with {', '.join(frame.columns)}, which are items. Pass names of "
            "columns in the first row."
        )
    here = frame.notna().to_numpy()
    row, column = np.nonzero(here[:, 1:] & ~here[:, :-1])
    if row.size:
        raise ValueError(
            f"{source} has an empty cell in row {row[0]}, column {frame.columns[column[0]]!r}, and "
            "items after it. Pass empty cells at the end of a row only."
        )
    cells = frame.to_numpy(dtype=object)
    return [cell[known].tolist() for cell, known in zip(cells, here)]
