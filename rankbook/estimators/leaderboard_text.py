"""Leaderboards as text, Markdown, HTML, LaTeX, JSON and tables for files."""

import json
import re
from html import escape

import numpy as np
import pandas as pd

from ..base.tables import as_html, as_text
from ..data.writers import TABLES, ending_of, json_rows, write_bytes, write_frame

TEXTS = (".md", ".html", ".tex", ".json")
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
LATEX |= {each: rf"\{each}" for each in "&%$#_{}"}
LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
PAGE = '<!DOCTYPE html>\n<meta charset="utf-8">\n<title>Leaderboard</title>\n'


def boards_of(board):
    """Titles and leaderboards: all votes, and those of each value of a column."""
    tables = getattr(board, "tables_", {})
    rest = [(f"{name} {value}", each) for (name, value), each in tables.items()]
    return [("all votes" if tables else "", board), *rest]


def cells(board, most=None):
    """Header and rows of a leaderboard as strings."""
    table = board.table_ if most is None else board.table_.head(most)
    number, has = numbers(board), table.columns.__contains__
    heads = ["rank", "item", "score"]
    heads += ["interval"] * has("low") + ["ranks"] * has("rank_low") + ["comparisons"]
    heads += ["notes"] * bool((table["notes"] != "").any())
    rows = [heads]
    for row in table.itertuples():
        found = [str(row.rank), row.item, number(row.score)]
        if has("low"):
            is_known = not np.isnan(row.low)
            found.append(f"{number(row.low)} to {number(row.high)}" if is_known else "")
        if has("rank_low"):
            low, high = row.rank_low, row.rank_high
            found.append(f"{low}" if low == high else f"{low} to {high}")
        found.append(f"{round(row.comparisons, 1):.12g}")
        rows.append([*found, *[row.notes] * (heads[-1] == "notes")])
    return rows


def numbers(board, signed=False):
    """Function that formats numbers on the scale of a leaderboard."""
    if board.settings_["scale"] == "elo":
        return lambda value: f"{value:{'+' if signed else ''}.0f}"
    return lambda value: f"{value:+.3f}"


def remarks(board, features=True):
    """Return remarks on intervals, and the notes; with `features` also pair features and lambda."""
    said, number, pairs = [], numbers(board, signed=True), board.pair_table_
    if board.errors_ is not None:
        given = board.settings_
        which = "all intervals together" if given["simultaneous"] else "each interval"
        said.append(f"{100 * given['level']:g}% for {which}, {board.errors_.name}")
    for row in pairs.itertuples() if features else ():
        span = f" ({number(row.low)} to {number(row.high)})" if "low" in pairs else ""
        per = "" if f"{row.per:.4g}" == "1" else f" per {row.per:.4g}"
        said.append(f"{row.feature} {number(row.effect)}{span}{per}")
    return [*said, *board.notes_, *[f"lambda {board.lam_:.6g}"] * features]


def changes(board):
    """Return the header and rows of the table of ranks by value, or [] without values."""
    if not hasattr(board, "changes_"):
        return []
    table = board.changes_
    shown = lambda value: value if isinstance(value, str) else "" if value is pd.NA else f"{value}"
    return [list(table), *([shown(each) for each in row] for row in table.itertuples(index=False))]


def text(board, most=None):
    """A leaderboard as text for a terminal, with at most some rows of each table."""
    parts = []
    for title, each in boards_of(board):
        more = 0 if most is None else len(each.table_) - most
        said = remarks(each) if more <= 0 else [f"and {more} more", *remarks(each)]
        body = as_text(cells(each, most)) + (f"\n({'; '.join(said)})" if said else "")
        parts.append(f"{title}:\n{body}" if title else body)
    if rows := changes(board):
        parts.append(f"ranks:\n{as_text(rows if most is None else rows[: most + 1])}")
    return "\n\n".join(parts)


def markdown(board):
    """A leaderboard in Markdown."""

    clean = lambda cell: re.sub(r"\s+", " ", re.sub(r"([\\|`*_<\[\]])", r"\\\1", cell))

    def table(rows):
        line = lambda row: f"| {' | '.join(map(clean, row))} |"
        return "\n".join([line(rows[0]), line(["---"] * len(rows[0])), *map(line, rows[1:])])

    parts = []
    for title, each in boards_of(board):
        parts += [f"## {clean(title)}"] * bool(title)
        parts += [table(cells(each)), clean("; ".join(remarks(each)))]
    if rows := changes(board):
        parts += ["## ranks", table(rows)]
    return "\n\n".join(filter(None, parts))


def html(board, most=None):
    """A leaderboard as a fragment of HTML."""
    parts = []
    for title, each in boards_of(board):
        parts += [f"<h3>{escape(title)}</h3>"] * bool(title) + [as_html(cells(each, most))]
        parts.append(f"<p>{escape('; '.join(remarks(each)))}</p>")
    if rows := changes(board):
        parts += ["<h3>ranks</h3>", as_html(rows)]
    return "".join(parts)


def latex(board):
    """A leaderboard as tables of LaTeX."""
    clean = lambda cell: "".join(LATEX.get(each, each) for each in " ".join(cell.split()))

    def table(rows):
        line = lambda row: " & ".join(map(clean, row)) + r" \\"
        columns = "".join("l" if head in ("item", "notes") else "r" for head in rows[0])
        body = [rf"\begin{{tabular}}{{{columns}}}", line(rows[0]), r"\hline", *map(line, rows[1:])]
        return "\n".join([*body, r"\end{tabular}"])

    parts = []
    for title, each in boards_of(board):
        parts += [rf"\paragraph{{{clean(title)}}}"] * bool(title) + [table(cells(each))]
        parts.append(clean("; ".join(remarks(each))))
    if rows := changes(board):
        parts += [r"\paragraph{ranks}", table(rows)]
    return "\n\n".join(parts)


def facts(board):
    """A leaderboard as a dict for JSON."""

    def one(each):
        read = lambda frame: json.loads(json_rows(frame))
        features = each.pair_table_.rename(columns=dict(feature="name", per="root_mean_square"))
        features.insert(1, "weight", each.pair_coef_)
        found = dict(items=read(each.table_), pair_features=read(features))
        found |= dict(lam=each.lam_, phi=each.phi_)
        found |= dict(nu=each.tie_) if hasattr(each, "tie_") else {}
        return found | dict(notes=remarks(each, features=False))

    found = one(board)
    if tables := getattr(board, "tables_", {}):
        named = [dict(by=name, value=value) for name, value in tables]
        found["tables"] = [name | one(each) for name, each in zip(named, tables.values())]
        found["changes"] = json.loads(json_rows(board.changes_))
    return found


def frame(board):
    """All tables as one data frame, with lambda, phi and the remarks of each table in columns."""
    parts = []
    keys = [("", ""), *getattr(board, "tables_", {})]
    for (name, value), (_, each) in zip(keys, boards_of(board)):
        table = each.table_.assign(lam=each.lam_, phi=each.phi_, remarks="; ".join(remarks(each)))
        if len(keys) > 1:
            table.insert(0, "value", value)
            table.insert(0, "by", name)
        parts.append(table)
    return pd.concat(parts, ignore_index=True) if parts[1:] else parts[0]


def write(board, file):
    """Write a leaderboard to a file in the format of its ending."""
    ending, packed = ending_of(file, (*TABLES, *TEXTS))
    if ending in TABLES:
        return write_frame(frame(board), file, formulas=False)
    if ending == ".json":
        content = json.dumps(facts(board), separators=(",", ":"))
    else:
        content = {".md": markdown, ".tex": latex, ".html": lambda b: PAGE + html(b)}[ending](board)
    write_bytes(file, f"{content}\n".encode(), packed)
