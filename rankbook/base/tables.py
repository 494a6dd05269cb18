"""Tables for terminals and Jupyter."""

import logging
import re
from html import escape

from .errors import ArgumentError, a_type

# control characters except tab and newline, line separators, and marks of the direction of writing
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)


def printable(text):
    """Replace characters that control a terminal by escapes."""
    return UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text)


def in_line(text):
    """Replace characters that control a terminal, tabs and ends of lines by escapes."""
    return printable(text).replace("\t", "\\t").replace("\n", "\\n")


def count(number, what, spec=""):
    """Format a count: 1 item, 2 items, 2 queries; `spec` formats the number, such as ",".

    Examples
    --------
    >>> count(1, "query"), count(2, "query"), count(12000, "row", ",")
    ('1 query', '2 queries', '12,000 rows')
    """
    several = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number:{spec}} {what if number == 1 else several}"


def as_text(rows):
    """Format rows of texts, the header first, as a table for a terminal."""
    rows = [[in_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    )


LOG = logging.getLogger("rankbook.tables")  # a message of level INFO for each table that is read
if LOG.level == logging.NOTSET:
    LOG.setLevel(logging.WARNING)  # shown on request


def explain(source, what, roles, left_over=(), facts=()):
    """Log the role of each column of a table.

    Parameters
    ----------
    source : object
        Its text names the table.
    what : str
        What a row is, and how this was decided.
    roles : sequence of (str, str, str)
        Column, role, and reason.
    left_over : sequence of str
        Columns that are not used.
    facts : sequence of str
        Further lines.
    """
    if not LOG.isEnabledFor(logging.INFO):
        return
    rows = [("column", "used as", "because"), *(tuple(map(str, role)) for role in roles)]
    rest = ", ".join(map(str, left_over)) or "none"
    lines = [f"{source}: {what}", as_text(rows), f"columns not used: {rest}", *facts]
    LOG.info("%s", "\n".join(lines))


def as_html(rows):
    """Format rows of texts, the header first, as a table for Jupyter."""
    head, *body = [[escape(cell) for cell in row] for row in rows]
    lines = [[f"<th>{cell}</th>" for cell in head]]
    lines += [[f"<td style='text-align:left'>{cell}</td>" for cell in row] for row in body]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in map(''.join, lines))}</table>"


class Tabled:
    """Base class of objects that Jupyter shows as a table of their class and facts."""

    def _facts(self) -> list[tuple[str, str]]:
        """Return names and values."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return as_html([(type(self).__name__, ""), *self._facts()])


def columns_of(table):
    """Return the columns of a data frame, () of anything else and of a polars LazyFrame."""
    return table.columns if hasattr(table, "shape") and hasattr(table, "columns") else ()


def refuse_unread(name, value):
    """Refuse objects without values: None, polars LazyFrames, arrays with masked entries."""
    if value is None:
        raise ArgumentError(f"{name} is None", "an array")
    import numpy as np  # here, because the help of the command line is shown without it

    rows = value if isinstance(value, list | tuple) else ()
    if np.ma.MaskedArray in map(type, (value, *rows)) and any(map(np.ma.is_masked, (value, *rows))):
        raise ArgumentError(
            f"{name} is a masked array that hides entries",
            "Leave the masked items out, or fill them with .filled().",
        )
    if hasattr(value, "collect_schema") and hasattr(value, "collect"):
        if not hasattr(value, "__array__"):
            raise ArgumentError(
                f"{name} is {a_type(value)}, which holds no values yet",
                "the DataFrame that .collect() returns",
            )
