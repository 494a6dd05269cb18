"""Reports of the role of each column of a table."""

import logging

from ..base.tables import as_text

LOG = logging.getLogger("rankbook.tables")  # a message of level INFO for each table


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
