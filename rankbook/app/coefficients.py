"""Tables of coefficients in files of models, and their text."""

import numpy as np

from ..base.errors import ArgumentError
from ..base.tables import as_text

STORED = ("coef", "se", "z", "p", "low", "high")
NOTICED = 0.01  # standard errors
MISSING = "rankbook fit --coefficients stores one."


def stored_table(table, cluster=None):
    """Convert a table of :func:`rankbook.coefficient_table` to plain values for a file.

    `cluster` is the name of the column of clusters.
    """
    columns = {name: table[name].tolist() for name in STORED}
    facts = dict(table.attrs) | ({} if cluster is None else dict(cluster=cluster))
    return dict(feature=table.index.tolist(), **columns, facts=facts)


def table_rows(file, facts):
    """Rows of the table in the facts of a file, as dicts, and facts about it.

    A ratio that overflows is None. If the table has categories, each row has their "reference", or
    None.

    Raises
    ------
    ValueError
        If the file has no table.
    """
    about = facts.get("about")
    table = about.get("coefficients") if isinstance(about, dict) else None
    if table is None:
        raise ArgumentError(
            f"file is {str(file)!r}, a model without a table of coefficients",
            "a model that has one",
            MISSING,
        )
    rows = []
    for each in zip(table["feature"], *(table[name] for name in STORED)):
        row = dict(zip(("feature", *STORED), each))
        with np.errstate(over="ignore"):
            ratios = np.exp([row["coef"], row["low"], row["high"]]).tolist()
        ratios = [value if np.isfinite(value) else None for value in ratios]
        row |= dict(zip(("ratio", "ratio_low", "ratio_high"), ratios))
        known = table["facts"].get("reference")
        rows.append(row if known is None else row | dict(reference=known.get(row["feature"])))
    return rows, table["facts"]


def table_cells(rows, facts):
    """Rows of the table as strings, the header first: coefficients, ratios and intervals."""
    digits = lambda value: "inf" if value is None else f"{value:.4g}"
    level = f"{100 * facts['level']:g}%"
    said = [("feature", "coef", facts["ratio"], f"{level} interval", "se", "z", "p")]
    for row in rows:
        ends = f"{digits(row['ratio_low'])} to {digits(row['ratio_high'])}"
        p = "< 0.0001" if row["p"] < 1e-4 else f"{row['p']:.4f}"
        numbers = [digits(row[name]) for name in ("coef", "ratio")]
        said.append((row["feature"], *numbers, ends, digits(row["se"]), f"{row['z']:.2f}", p))
    return said


def table_remarks(facts):
    """Lines below the table: lambda, the covariance, references, and the effect of the penalty."""
    by = f" by {facts['cluster']}" if "cluster" in facts else ""
    units = f"{by}, {facts['units']} {'clusters' if by else 'units'}" if "units" in facts else ""
    ties = f", ties by {facts['ties'].capitalize()}" if "ties" in facts else ""
    lines = [f"lambda {facts['lam']:.6g}, standard errors: {facts['covariance']}{units}{ties}"]
    if "reference" in facts:
        lines.append(f"reference: {'; '.join(dict.fromkeys(facts['reference'].values()))}")
    if (shift := facts["penalty_shift"]) > NOTICED:
        lines.append(f"the penalty moves coefficients by up to {shift:.2g} standard errors")
    if "undetermined" in facts:
        some = ", ".join(facts["undetermined"][:5]) + ", ..." * (len(facts["undetermined"]) > 5)
        lines.append(f"not determined by the data, but by the penalty: {some}")
    return lines


def table_text(rows, facts):
    """The table as text."""
    return "\n".join([as_text(table_cells(rows, facts)), *table_remarks(facts)])
