"""``rankbook rank``: a leaderboard from matches, votes or orders alone."""

import json
from typing import Annotated

import typer

from ...base.errors import ArgumentError
from .options import Columns, Json, Loser, Results, Ties, Weight, Winner, option
from .reading import (
    advice_on_form,
    asked_preferences,
    check_file,
    check_table,
    group_beside_orders,
    spoken_warnings,
)
from .report import say

Matches = Annotated[
    str,
    typer.Argument(
        metavar="MATCHES",
        help="File with votes, matches or orders (.csv .tsv .parquet, or PrefLib's .soc .soi .toc"
        " .toi, optionally with .gz), or - for standard input.",
        show_default=False,
    ),
]
Form = option(
    str,
    "What one row of the file contains; by default the form whose columns it has. pairs: winner and"
    " loser. matches: home, away and result, or two items and a column winner (see --results)."
    " counts: first, second, wins_first and wins_second. wins: an item, and its wins against each"
    " item of the header. rankings: ranking, item and rank (1 is best, equal ranks are ties), or"
    " --column rating=COLUMN, where higher is better. orders: a whole ranking, the items from left"
    " to right, best first; if the file has other columns, add --column item=FIRST,SECOND,..."
    " Errors count rows from 0 after the header.",
    values="pairs matches counts wins rankings orders",
)
Intervals = option(bool, "Add confidence intervals of scores and ranks.", "--intervals")
Level = option(float, "Confidence level of each interval.")
Method = option(
    str,
    "Method for the intervals. laplace (default): a normal approximation of the posterior."
    " bootstrap: refits to resampled votes or orders.",
    values="laplace bootstrap",
)
Group = option(
    str,
    "Column of groups for the bootstrap, such as the judge. All rows of a judge are drawn together"
    " because they are not independent.",
)
Out = option(str, "File to write the table to: .csv .tsv .parquet.", "-o", "--output")


def rank(  # noqa: PLR0913 -- an option of the command each
    matches: Matches,
    intervals: Intervals = False,
    level: Level = 0.95,
    method: Method = None,
    group: Group = None,
    form: Form = None,
    winner: Winner = None,
    loser: Loser = None,
    weight: Weight = None,
    results: Results = None,
    column: Columns = None,
    ties: Ties = None,
    output: Out = "-",
    as_json: Json = False,
):
    """Rank items from votes, matches or orders, without features.

    The command fits a Bradley-Terry model: one item beats another with probability 1 / (1 +
    exp(-difference of scores)). It chooses the regularization parameter lambda to match the spread
    of the scores, and prints it below the table. A tie counts as half a win for each side, unless
    you pass --ties.

    With --column home_advantage=yes the model adds an advantage to the score of the left side of a
    vote, or the home side of a match, and prints it below the table. --column pair_features=length
    adds an advantage in proportion to the column length. The command prints it for the root mean
    square of the column, for example length +0.759 per 300. The scores do not depend on the unit
    of the column.

    For orders of three or more items (--form rankings or orders), the command fits the
    Plackett-Luce model: the next item is chosen among the remaining ones with probability
    proportional to exp(score).
    """
    from rankbook.app.leaderboard import leaderboard
    from rankbook.base.tables import as_text
    from rankbook.base.validation import as_choice
    from rankbook.data.records import OF_ORDERS, read_records
    from rankbook.data.table import Source
    from rankbook.data.writers import TABLES, json_rows, write_frame

    check_table("--output", output, TABLES, matches)
    if as_json and output != "-":
        raise ArgumentError(
            f"--output is {output!r} and --json prints to standard output", "one of the two"
        )
    for name, given in (("level", level != 0.95), ("method", method is not None)):
        if given and not intervals:
            raise ArgumentError(f"--{name} is given", "--intervals with it")
    if group is not None and method != "bootstrap":
        raise ArgumentError(f"group is {group!r}", "--intervals --method bootstrap with it")
    if form is not None:
        as_choice("form", form, ("pairs", "matches", "counts", "wins", "rankings", "orders"))
    check_file("MATCHES", matches)
    named = dict(winner=winner, loser=loser, weight=weight, results=results)
    asked = asked_preferences([], matches, form=form, column=column, ties=ties, **named)
    columns = {name: value for name, value in asked.items() if name not in ("path", "form")}
    with spoken_warnings() as notes, advice_on_form():
        more = [] if group is None else [group]
        records, unit = read_records(None, Source(matches), form, columns, more), None
        if records.form == "clicks":
            raise ArgumentError(
                f"MATCHES is {matches!r}, a log of clicks",
                "votes, matches or orders",
                "rankbook fit ITEMS --preferences LOG learns from clicks.",
            )
        if records.form not in OF_ORDERS:
            records.columns.setdefault("ties", "half")
        elif group is not None:
            raise group_beside_orders(group)
        if group is None:
            prefs = records.make()
        else:
            prefs, unit = records.make_grouped(group)
        features = ["home_advantage"] * asked.get("home_advantage", False)
        given = asked.get("pair_features", [])
        features += [given] if isinstance(given, str) else given
        table, lam, remark, effects = leaderboard(prefs, intervals, level, method, unit, features)
    if as_json:
        facts = dict(items=json.loads(json_rows(table)), lam=lam, pair_features=effects)
        facts |= dict(notes=[*notes, *[remark] * bool(remark)])
        return typer.echo(json.dumps(facts, separators=(",", ":")))
    if output != "-":
        return write_frame(table, output, formulas=False)
    span = lambda low, high: f"{low}" if low == high else f"{low} to {high}"
    heads = ["rank", "item", "score", *["interval", "ranks"] * intervals, "comparisons"]
    rows = [heads]
    for row in table.itertuples():
        more = []
        if intervals:
            more = [f"{row.low:+.3f} to {row.high:+.3f}", span(row.rank_low, row.rank_high)]
        rows.append([str(row.rank), row.item, f"{row.score:+.3f}", *more, f"{row.comparisons:g}"])
    remarks = [remark] * bool(remark)
    for row in effects:
        size = f"{row['root_mean_square']:.4g}"
        remarks.append(f"{row['name']} {row['effect']:+.3f}" + f" per {size}" * (size != "1"))
    say(f"{as_text(rows)}\n({'; '.join([*remarks, f'lambda {lam:.6g}'])})")
