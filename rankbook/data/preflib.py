"""Reader of PrefLib files: orders of alternatives, each with a number of voters."""

import gzip
import re
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..base.errors import ArgumentError, Assumption
from ..base.limits import warn
from ..base.tables import count as count_of
from ..base.validation import unknown_name

ENDINGS = (".soc", ".soi", ".toc", ".toi")  # strict or with ties, complete or incomplete
_GROUP = r"\{\s*\d+(?:\s*,\s*\d+)*\s*\}|\d+"
_LINE = rf"(\d+(?:\.\d+)?)\s*%s\s*((?:{_GROUP})(?:\s*,\s*(?:{_GROUP}))*)"
NEW, OLD = re.compile(_LINE % ":"), re.compile(_LINE % ",")  # lines of an order
_FACT = re.compile(r"#\s*([^:]+?)\s*:\s*(.*)")
_NAMED = re.compile(r"ALTERNATIVE NAME (\d+)")


class PrefLib(NamedTuple):
    """Contents of a PrefLib file.

    `orders` are lists of names, best first, in which tied alternatives form a list. `weight` (r,)
    contains the number of voters of each order, and `items` the names of all alternatives, ranked
    or not. `title` is the title in the header, or "".
    """

    orders: list
    weight: np.ndarray
    items: list
    title: str


def is_preflib(path):
    """Return whether a file name has an ending of PrefLib's orders, compressed with gzip or not."""
    return file_ending(path) in ENDINGS


def file_ending(path):
    """Return the ending of a file name in lower case, without .gz."""
    return Path(str(path).lower().removesuffix(".gz")).suffix


def read_preflib(path):
    """Read a PrefLib file of orders.

    Parameters
    ----------
    path : str or path
        ``.soc`` or ``.soi`` (orders without ties, complete or incomplete), ``.toc`` or ``.toi``
        (orders with ties), in the present format, whose header begins with ``#``, or in the format
        before 2022, which begins with the number of alternatives. It may be packed by gzip.

    Returns
    -------
    PrefLib
        An alternative without a name has its number as the name. Some ``.toc`` files are made from
        ``.soi`` files, with all unranked alternatives as a last tie; read the ``.soi`` file if
        unranked does not mean worse.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If a line is not an order, an order contains an alternative twice or an unknown one, or the
        orders do not agree with the ending. The error names the line.

    Warns
    -----
    Assumption
        If the numbers of voters or of different orders are not those of the header.
    """
    ending = file_ending(path)
    if ending not in ENDINGS:
        raise unknown_name(f"the ending of {path}", ending, ENDINGS)
    packed = str(path).lower().endswith(".gz")
    with open(str(path), "rb") as stream:
        content = stream.read()
    try:
        content = gzip.decompress(content) if packed else content
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} cannot be unpacked by gzip: {error}.") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{path} is not UTF-8 text ({error})", "a PrefLib file") from error
    lines = [(i, line.strip()) for i, line in enumerate(text.splitlines(), start=1)]
    lines = [(i, line) for i, line in lines if line]
    if not lines:
        raise ArgumentError(f"{path} is empty", "a PrefLib file")
    is_new = lines[0][1].startswith("#")
    facts, names, rest = (_header if is_new else _old_header)(path, lines)
    items = [names[k][1] or str(k) for k in sorted(names)]
    if not rest:
        raise ArgumentError(
            f"{path} has no order", "a file with a line for each order below the header"
        )
    first = {}
    for k, item in enumerate(items, start=1):
        if first.setdefault(item, k) != k:
            raise _same_names(path, names, item, first[item], k)
    read = [_order(path, NEW if is_new else OLD, ending, i, line, items) for i, line in rest]
    weight, orders = np.array([count for count, _ in read]), [order for _, order in read]
    found = dict(voters=float(weight.sum()), orders=len(set(map(repr, orders))))
    for what, number in found.items():
        if facts.get(what, number) != number:
            warn(
                Assumption(
                    f"{path} has {number:.15g} {'different ' * (what == 'orders')}{what}, and its "
                    f"header says {facts[what]}. The lines of the orders count."
                )
            )
    return PrefLib(orders, weight, items, facts.get("title", ""))


def _header(path, lines):
    """Read a header of lines with #: return its facts, the names by number, and the other lines."""
    facts, names = {}, {}
    numbers = {"NUMBER VOTERS": "voters", "NUMBER UNIQUE ORDERS": "orders"}
    numbers["NUMBER ALTERNATIVES"] = "alternatives"
    for i, line in lines:
        found = _FACT.fullmatch(line)
        if found is None:
            continue
        key, value = found.groups()
        if key in numbers and value:
            facts[numbers[key]] = _count(path, i, line, value)
        elif key == "TITLE":
            facts["title"] = value
        elif named := _NAMED.fullmatch(key):
            _add_name(path, names, int(named[1]), i, value)
    n = facts.get("alternatives", len(names))
    return facts, _all_names(path, names, n), [each for each in lines if each[1][0] != "#"]


def _old_header(path, lines):
    """Read a header before 2022: return its facts, the names by number, and the other lines."""
    (i, line), rest = lines[0], lines[1:]
    n, names = _count(path, i, line, line), {}
    for i, line in rest[:n]:
        number, comma, name = line.partition(",")
        if not comma or not number.strip().isdigit():
            raise ArgumentError(
                f"{path} has {line!r} in line {i}",
                f"Write NUMBER,NAME there, in one line for each of {n} alternatives.",
            )
        _add_name(path, names, int(number), i, name.strip())
    if len(rest) <= n:
        raise ArgumentError(
            f"{path} ends after {count_of(len(rest), 'line')} of names",
            f"Write {count_of(n, 'name')}, and then a line with the numbers of voters and orders.",
        )
    i, line = rest[n]
    voters, _, unique = (_count(path, i, line, word) for word in (line.split(",") + ["", ""])[:3])
    return dict(voters=voters, orders=unique), _all_names(path, names, n), rest[n + 1 :]


def _add_name(path, names, number, i, name):
    """Add the name of an alternative in line i; refuse a second one."""
    if number in names:
        raise ArgumentError(
            f"{path} names the alternative {number} twice (lines {names[number][0]} and {i})",
            "Change one of the two numbers in the file.",
        )
    names[number] = (i, name)


def _same_names(path, names, item, one, other):
    """Return the error for two alternatives with one name; unnamed ones are called by number."""
    numbers = sorted((one, other), key=lambda k: bool(names[k][1]))  # the one without a name first
    lines = [names[k][0] for k in numbers]
    place = f"lines {min(lines)} and {max(lines)}"
    if not names[numbers[0]][1]:
        place = (
            f"alternative {numbers[0]} has no name and is called by its number, and line "
            f"{lines[1]} names alternative {numbers[1]} so"
        )
    return ArgumentError(
        f"{path} has the name {item!r} for two alternatives ({place})",
        "Change one of the two names in the file.",
    )


def _count(path, i, line, word):
    """Convert a word of a header line to a whole number, or refuse it."""
    if not word.strip().isdigit():
        raise ArgumentError(f"{path} has {line!r} in line {i}", "Write a whole number there.")
    return int(word)


def _all_names(path, names, n):
    """Return the line and the name of each alternative from 1 to n; a missing name is ""."""
    beyond = [k for k in names if not 1 <= k <= n]
    if beyond:
        raise ArgumentError(
            f"{path} names the alternative {beyond[0]} in line {names[beyond[0]][0]}",
            f"Number the alternatives from 1 to {n}.",
        )
    return {k: names.get(k, (0, "")) for k in range(1, n + 1)}


def _order(path, form, ending, i, line, items):
    """Return the number of voters of a line, and their order as names and lists of tied names."""
    found, place = form.fullmatch(line), f"{path} has {_short(line)} in line {i}"
    if found is None:
        example = "12: 1,3,2 or 12: 1,{2,3}" if form is NEW else "12,1,3,2 or 12,1,{2,3}"
        raise ArgumentError(
            place, f"Write the number of voters, then their order, such as {example}."
        )
    groups = [
        [int(word) for word in re.findall(r"\d+", group)] for group in re.findall(_GROUP, found[2])
    ]
    ranked = [k for group in groups for k in group]
    if wrong := [k for k in ranked if not 1 <= k <= len(items)]:
        raise ArgumentError(
            f"{place}, with the alternative {wrong[0]}", f"Use alternatives from 1 to {len(items)}."
        )
    if len(set(ranked)) < len(ranked):
        twice = next(k for k in ranked if ranked.count(k) > 1)
        raise ArgumentError(
            f"{place}, with the alternative {twice} twice", "Name each alternative only once."
        )
    if ending[1] == "s" and len(groups) < len(ranked):
        raise ArgumentError(
            f"{place}, with a tie",
            f"Name the file .t{ending[2:]}, because {ending} files have no ties.",
        )
    if ending[3] == "c" and len(ranked) < len(items):
        raise ArgumentError(
            f"{place}, with {len(ranked)} of {len(items)} alternatives",
            f"Rank all alternatives, or name the file {ending[:3]}i if the others are unranked.",
        )
    names = [[items[k - 1] for k in group] for group in groups]
    return float(found[1]), [group if len(group) > 1 else group[0] for group in names]


def _short(line):
    """Return a line for a message, at most 40 characters of it."""
    return repr(line if len(line) <= 40 else f"{line[:37]}...")
