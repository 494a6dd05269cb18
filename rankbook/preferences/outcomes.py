"""Outcomes of matches and votes: letters, names, scores, differences and points."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..base.errors import ArgumentError
from ..base.validation import as_vector
from .names import as_names, codes_of, column_names, column_of, names_as_text, whole_number

RESULTS = ("difference", "winner", "points")
AHEAD = dict(home=1.0, tie=0.0, away=-1.0)
TIES = ("tie", "draw", "both", "both_bad", "bothbad", "tie (bothbad)", "tie (both bad)")
LETTERS = dict(H=1.0, D=0.0, A=-1.0)
WORDS = {
    "home and away": dict(home=1.0, away=-1.0),
    "left and right": dict(left=1.0, right=-1.0),
}
HALVES = {"1/2": 0.5, "½": 0.5}
_SCORE = r"((?:0|[1-9]\d{0,2})(?:\.\d+)?|1/2|½)"  # no part of a date or a time such as 05
_SCORES = re.compile(rf"{_SCORE}\s*[-:–]\s*{_SCORE}")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of m matches.

    Attributes
    ----------
    ahead : ndarray of shape (m,)
        Positive if the home side won, 0 for a tie, negative if the away side won.
    reading : str
        How the results were read, for people.
    is_difference : bool
        Whether `ahead` is a difference of goals.
    """

    ahead: np.ndarray
    reading: str
    is_difference: bool = False

    @property
    def counts(self):
        """Number of wins of the home side, of ties, and of wins of the away side."""
        sign = np.sign(self.ahead)
        return {name: int((sign == value).sum()) for name, value in AHEAD.items()}


def _cell(value):
    """Return the text of a cell, a whole number without decimals; None for a missing one."""
    if isinstance(value, str):
        return str(value) if value.strip() else None
    number = whole_number(value)
    if number is None:
        return None if value is None or value != value else str(value)
    return str(number)


def _as_number(text):
    """Return the number that a text is, else None."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else HALVES.get(text)


def _lead(text):
    """Return the lead of the first side in a text such as 2-1 or 1/2-1/2, else None."""
    found = _SCORES.fullmatch(text.strip())
    return _as_number(found[1]) - _as_number(found[2]) if found else None


def side_words(home, away):
    """Return words that denote the sides in columns named `home` and `away`.

    These are the names of the columns, and the parts in which they differ, such as a and b of
    model_a and model_b.
    """
    if not (isinstance(home, str) and isinstance(away, str)):
        return {}
    words = {home: 1.0, away: -1.0}
    a, b = (re.findall(r"[A-Z]?[a-z]+|\d+|[A-Z]+(?![a-z])", name) for name in (home, away))
    parts = [(x, y) for x, y in zip(a, b) if x.casefold() != y.casefold()]
    if len(a) == len(b) and len(parts) == 1:
        words |= dict(zip(parts[0], (1.0, -1.0)))
    return words


class _Cells:
    """Cells of a column of results, by their distinct texts.

    Attributes
    ----------
    texts : list of str
    code : ndarray of shape (m,), int
        Number of the text of each row; -1 in rows that are ties for another reason.
    sides : list of (float, ndarray of shape (m,), dict)
        1 for the home side and -1 for the away side, the number of its name in each row, and the
        number of each name, as text.
    """

    def __init__(self, column, sides, tie):
        self.sides = []
        for argument, value, side in (("home", 1.0, sides[0]), ("away", -1.0, sides[1])):
            code, names = codes_of(as_names(argument, side))
            known = {name: k for k, name in enumerate(names_as_text(names).tolist())}
            self.sides.append((value, code, known))
        codes, values = codes_of(column)
        texts = [*map(_cell, values), None]
        missing = np.array([text is None for text in texts])[codes]
        played = np.ones(column.size, bool) if tie is None else ~tie
        if (missing & played).any():
            raise ArgumentError(
                f"result is missing in row {int(np.argmax(missing & played))}",
                "a result in every row",
                "If an empty cell is a tie, pass results={'': 'tie'}.",
            )
        self.code = np.full(column.size, -1)
        used = np.flatnonzero(np.bincount(codes[played], minlength=len(texts)))
        number = np.zeros(len(texts), dtype=np.int64)
        number[used] = np.arange(used.size)
        self.code[played] = number[codes[played]]
        self.texts = [texts[k] for k in used]

    def read(self, reading, values, is_difference=False):
        """Return outcomes from a value for each text; None if a text has none."""
        if None in values:
            return None
        ahead = np.r_[np.array(values, dtype=float), 0.0][self.code]
        return Outcomes(ahead, reading, is_difference)

    @cached_property
    def named(self):
        """1 in rows whose text is the name of the home side, -1 of the away side, else NaN."""
        sign = np.full(self.code.size, np.nan)
        for spelt in (_key, str):  # 107.0 is 107, where ids with gaps were written as floats
            for value, code, known in reversed(self.sides):
                number = np.array([*(known.get(spelt(text), -1) for text in self.texts), -1])
                if (number >= 0).any():
                    sign[number[self.code] == code] = value
        return sign

    def winners(self, values, names_first=False):
        """Return the outcomes, or the number of the first row whose text has no outcome.

        `values` are the outcomes of the texts. A text of value None is the name of the winner;
        with `names_first`, names take precedence over values.
        """
        ahead = np.array([*(np.nan if v is None else v for v in values), 0.0])[self.code]
        first, second = (self.named, ahead) if names_first else (ahead, self.named)
        ahead = np.where(np.isnan(first), second, first)
        wrong = np.flatnonzero(np.isnan(ahead))
        return int(wrong[0]) if wrong.size else Outcomes(ahead, "the name of the winner")

    def at(self, row):
        """Return the text of a row."""
        return self.texts[self.code[row]]


def read_outcomes(matches, result, sides, results=None, tie=None, names=(None, None)):  # noqa: PLR0913
    """Read the outcomes of m matches.

    Parameters
    ----------
    matches : table
    result : str, array-like of shape (m,), or two of them
        One column, or the goals (or points) of the home side and of the away side.
    sides : pair of ndarrays of shape (m,)
        Names of the items at home and away.
    results : {"difference", "winner", "points"} or dict, optional
        Meaning of the results: the goals of the home side minus those of the other, the name of the
        winner, or the points of the home side (1, 1/2 or 0). A dict maps the text of a cell to
        "home", "tie" or "away"; cells that it lacks are the name of the winner. By default the
        meaning must be certain.
    tie : ndarray of shape (m,), bool, optional
        Rows that are ties, whatever their result says.
    names : pair of str
        Columns of the sides; their names may be results.

    Returns
    -------
    Outcomes

    Raises
    ------
    ValueError
        If a result is missing, unknown or ambiguous. O(m).
    """
    known = results is None or isinstance(results, dict)
    if not (known or isinstance(results, str) and results in RESULTS):
        raise ArgumentError(f"results is {results!r}", f"{', '.join(map(repr, RESULTS))} or a dict")
    if _are_two(matches, result, sides[0].size):
        if results not in (None, "difference"):
            raise ArgumentError(
                f"results is {results!r} and result is two columns", "Omit results."
            )
        goals = [
            as_vector(f"result[{i}]", column_of(matches, f"result[{i}]", name), sides[0].size)
            for i, name in enumerate(result)
        ]
        ahead = goals[0] - goals[1]
        return Outcomes(np.where(tie, 0.0, ahead) if tie is not None else ahead, "goals", True)
    column = column_of(matches, "result", result, sides[0].size, coded=True)
    if isinstance(results, dict) and "" in results:
        if results[""] != "tie":
            raise ArgumentError(
                f"results maps the empty cell to {results['']!r}", "'tie' for the empty cell"
            )
        code, values = codes_of(column)
        empty = np.array([*(_cell(value) is None for value in values), True])[code]
        results, tie = (
            {k: v for k, v in results.items() if k},
            empty if tie is None else tie | empty,
        )
    cells = _Cells(column, sides, tie)
    if isinstance(results, dict):
        return _read_by_mapping(cells, results)
    if results == "winner":
        found = cells.winners(list(map(_tie, cells.texts)), names_first=True)
        return _sure(cells, found, "the name of a side, or 'tie'")
    numbers = [_as_number(text) for text in cells.texts]
    if results == "difference":
        if not np.isnan(cells.named[cells.code >= 0]).any() and not _are_codes(cells):
            raise ArgumentError(
                f"result is {cells.at(0)!r} in row 0, the name of a side", "results='winner'"
            )
        found = cells.read("goals of the home side minus those of the other", numbers, True)
        return _sure(cells, found or _first(cells, numbers), "a number")
    points = [value if value in (0.0, 0.5, 1.0) else None for value in numbers]
    points = [None if value is None else 2 * value - 1 for value in points]
    if results == "points":
        found = cells.read("points of the home side", points)
        return _sure(cells, found or _first(cells, points), "1, 1/2 or 0 points of the home side")
    if cells.texts and None not in numbers:
        return _numeric(cells, numbers, points)
    return _read_by_words(cells, side_words(*names), names)


def _are_codes(cells):
    """Return whether all texts may be codes or small differences."""
    return set(map(_key, cells.texts)) <= set("0123")


def _tie(text):
    """Return 0 for a word that means a tie, else None."""
    return 0.0 if text.strip().casefold() in TIES else None


def _are_two(matches, result, m):
    """Return whether results are two columns: two names of columns, or two arrays of m numbers."""
    if not (isinstance(result, tuple | list) and len(result) == 2):
        return False
    known = column_names(matches)
    if all(isinstance(each, str) for each in result):
        return set(result) <= set(known) or m != 2
    return all(not isinstance(each, str) and np.ndim(each) == 1 for each in result)


def _first(cells, values):
    """Return the first row whose text has no value."""
    return int(np.isin(cells.code, [k for k, v in enumerate(values) if v is None]).argmax())


def _sure(cells, found, accepted):
    """Return outcomes; a row in their place is refused."""
    if isinstance(found, Outcomes):
        return found
    raise ArgumentError(f"result is {cells.at(found)!r} in row {found}", accepted)


def _read_by_mapping(cells, results):
    """Read results by a dict from texts to "home", "tie" and "away"."""
    wrong = next((value for value in results.values() if value not in AHEAD), None)
    if wrong is not None:
        raise ArgumentError(f"results has the value {wrong!r}", "'home', 'tie' or 'away'")
    known = {}
    for key, value in results.items():
        if known.setdefault(_key(key), AHEAD[value]) != AHEAD[value]:
            first = next(other for other in results if _key(other) == _key(key))
            raise ArgumentError(
                f"results has {results[first]!r} for {first!r} and {value!r} for {key!r}, which "
                "stand for the same cells",
                "only one meaning for each text",
            )
    values = [known.get(_key(text)) for text in cells.texts]
    if found := cells.read("as given by results", values):
        return found
    keys = ", ".join(map(repr, known))
    return _sure(cells, cells.winners(values), f"one of {keys} of results, or the name of a side")


def _key(cell):
    """Return the text of a cell as a key of a mapping, in which 1.0 is 1."""
    text = (_cell(cell) or "").strip()
    number = _as_number(text)
    return text if number is None or number % 1 else f"{number:.0f}"


def _numeric(cells, numbers, points):
    """Read numbers if their meaning is certain."""
    named, found = cells.winners([None] * len(numbers)), None
    if min(numbers) < 0:
        found = cells.read("goals of the home side minus those of the other", numbers, True)
    elif 0.5 in numbers and None not in points:
        found = cells.read("points of the home side", points)
    if not isinstance(named, Outcomes) and found is not None:
        return found
    if isinstance(named, Outcomes) and found is None and not _are_codes(cells):
        return named
    few = ", ".join(sorted(cells.texts)[:3])
    raise ArgumentError(
        f"result holds numbers ({few}), whose meaning is not certain",
        "results='points' (1, 1/2 or 0 of the home side), 'winner' (names), 'difference' (goals), "
        "or a dict such as results={'1': 'home', '0': 'tie', '2': 'away'}",
    )


def _read_by_words(cells, own, names):
    """Read text by the only vocabulary that has all of it, or by the names of the winners."""
    texts, ties = [text.strip() for text in cells.texts], list(map(_tie, cells.texts))
    either = lambda words: [t if w is None else w for w, t in zip(words, ties)]
    exact = [own.get(text) for text in texts]
    small = {word.casefold(): sign for word, sign in own.items()}
    named = f"the sides {names[0]} and {names[1]}"
    found = [cells.read(named, either(exact))]
    found.append(cells.read("letters H, D and A", either([LETTERS.get(text) for text in texts])))
    found.append(cells.read("goals of both sides", list(map(_lead, texts)), True))
    if found[0] is None:
        lower = [LETTERS.get(text.upper()) if text.islower() else None for text in texts]
        found.append(cells.read("letters h, d and a", either(lower)))
        for reading, words in {named: small, **WORDS}.items():
            found.append(cells.read(reading, either([words.get(t.casefold()) for t in texts])))
    winners = cells.winners(ties)
    found = [each for each in (*found, winners) if isinstance(each, Outcomes)]
    if not found:
        known = {*small, *LETTERS, *(word for words in WORDS.values() for word in words)}
        sure = [t if t is not None else True if x in known else None for x, t in zip(texts, ties)]
        rows = [_first(cells, sure), winners]
        own = [repr(name) for name in names if name is not None]
        raise ArgumentError(
            f"result is {cells.at(row := max(rows))!r} in row {row}",
            f"'H', 'D' and 'A', {', '.join(own)}{', ' * bool(own)}the name of the winner, 'tie', "
            "goals such as '2-1', or results= with the meaning of each cell",
        )
    others = [*found[1:], Outcomes(cells.named, "the name of the winner")]
    if found[0] is not winners and "H" not in texts:  # a word may be the name of a side as well
        ahead = np.array([*(np.nan if v is None else v for v in exact), np.nan])[cells.code]
        others.append(Outcomes(ahead, named))
    for other in others:
        differ = np.sign(other.ahead) != np.sign(found[0].ahead)
        differ = np.flatnonzero(differ & ~np.isnan(other.ahead))
        if differ.size:
            raise ArgumentError(
                f"result is {cells.at(differ[0])!r} in row {differ[0]}, which may be "
                f"{found[0].reading} or {other.reading}",
                "results='winner', or a dict such as results={'A': 'home', 'B': 'away'}",
            )
    return found[0]
