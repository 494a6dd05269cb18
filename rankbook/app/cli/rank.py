"""``rankbook rank``: a leaderboard from matches, votes or orders alone."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ...base.errors import ArgumentError
from . import options as opt
from .pages import Report, check_report, write_report
from .reading import (
    advice_on_form,
    asked_preferences,
    check_file,
    check_picture,
    check_table,
    group_beside_orders,
    parse_names,
    save_picture,
    spoken_warnings,
)
from .report import say

Matches = Annotated[
    str,
    typer.Argument(
        metavar="MATCHES",
        help="Name of a built-in table, unless a file has this name; file with votes, matches or"
        " orders (.csv .tsv .parquet, or PrefLib's .soc .soi .toc .toi, optionally with .gz); or -"
        " for standard input.",
        show_default=False,
        callback=opt.file_of,
    ),
]


@dataclass
class RankRecords(opt.RecordOptions):
    """How the votes are read."""

    form: opt.option(
        str,
        "What one row of the file contains; by default the form whose columns it has. pairs:"
        " winner and loser. matches: home, away and result, or two items and a column winner (see"
        " --results). counts: first, second, wins_first and wins_second. wins: an item, and its"
        " wins against each item of the header. rankings: ranking, item and rank (1 is best, equal"
        " ranks are ties), or --column rating=COLUMN, where higher is better. orders: a whole"
        " ranking, the items from left to right, best first; if the file has other columns, add"
        " --column item=FIRST,SECOND,... Errors count rows from 0 after the header.",
        values="pairs matches counts wins rankings orders",
        metavar="FORM",
    ) = None
    ties: opt.option(
        str,
        "half (default): a tie counts as half a win for each side. drop: ties do not count."
        " davidson: a tie has a probability of its own. refuse: a tie is an error.",
        values="half drop davidson refuse",
    ) = None


Intervals = opt.option(
    bool,
    "Add confidence intervals of scores and ranks. Options such as --unit and --method imply it.",
    "--intervals",
)
Level = opt.option(float, "Confidence level of each interval.")
Method = opt.option(
    str,
    "Method for the intervals. laplace (default): a normal approximation of the posterior."
    " bootstrap: refits to resampled votes.",
    values="laplace bootstrap",
)
Unit = opt.option(
    str,
    "Column of independent units, such as judges or days; several are separated by commas. The"
    " votes of a unit may depend on each other. The bootstrap draws whole units.",
    "--unit",
    "--group",
    metavar="COLUMNS",
)
Lam = opt.option(
    float,
    "Precision of the normal prior of the scores. By default it is estimated from the votes. The"
    " likelihood is divided by phi, which is below 1 if ties count as half wins.",
)
Simultaneous = opt.option(
    bool, "Make all intervals hold together at the confidence level.", "--simultaneous"
)
RankMethod = opt.option(
    str,
    "Method for the intervals of ranks. steps (default): from the pairs that the votes decide."
    " credible: percentiles of drawn ranks, which are shorter, but rarely contain the ranks of"
    " equal items.",
    values="steps credible",
)
ScaleOf = opt.option(str, "Unit of the scores: logit (default) or elo.", values="logit elo")
Anchor = opt.option(
    str,
    "An item and its score. By default the mean of the scores is 0, or 1000 for elo.",
    metavar="NAME=NUMBER",
)
By = opt.option(
    str,
    "Columns separated by commas, such as language,category. The command adds a table for each"
    " value of each column, and the ranks in all tables side by side.",
    metavar="COLUMNS",
)
Date = opt.option(str, "Column of dates, for --since and --half-life.", metavar="COLUMN")
Since = opt.option(str, "Leave out votes before this date.", metavar="DATE")
HalfLife = opt.option(
    str,
    "Age at which a vote has half its weight, such as 90d, counted from the latest vote.",
    metavar="AGE",
)
MinVotes = opt.option(
    int,
    "Show only items with this many votes, ranked among themselves. Votes on other items still"
    " count.",
)
Balance = opt.option(
    bool,
    "Give all pairs of items the same total weight, however often they are compared. A pair with"
    " fewer than 50 votes has a smaller weight, in proportion.",
    "--balance",
)
Out = opt.option(
    str,
    "File to write the tables to: .md .html .tex .csv .tsv .parquet .json.",
    "-o",
    "--output",
    metavar="FILE",
)


def rank(  # noqa: PLR0913 -- an option of the command each
    *,
    matches: Matches,
    intervals: Intervals = False,
    level: Level = 0.95,
    method: Method = None,
    unit: Unit = None,
    simultaneous: Simultaneous = False,
    rank_method: RankMethod = None,
    records: RankRecords,
    lam: Lam = None,
    scale: ScaleOf = "logit",
    anchor: Anchor = None,
    by: By = None,
    date: Date = None,
    since: Since = None,
    half_life: HalfLife = None,
    min_votes: MinVotes = 0,
    balance: Balance = False,
    output: Out = "-",
    plot: opt.Plot = None,
    report_file: Report = None,
    as_json: opt.Json = False,
):
    """Rank items from votes, matches or orders, without features.

    The command fits a Bradley-Terry model: one item beats another with probability 1 / (1 +
    exp(-difference of scores)). It chooses the precision of the prior, lambda, to match the spread
    of the scores, and prints it below the table. A tie counts as half a win for each side, unless
    you pass --ties.

    With --column home_advantage=yes the model adds an advantage to the score of the left side of a
    vote, or the home side of a match. --column pair_features=length adds an advantage in proportion
    to the column length. The command prints advantages below the table, for a column at its root
    mean square, for example length +0.759 per 300. The scores do not depend on the unit of the
    column.

    For orders of three or more items (--form rankings or orders), the command fits the
    Plackett-Luce model: the next item is chosen among the remaining ones with probability
    proportional to exp(score).
    """
    from rankbook.base.validation import as_choice
    from rankbook.data.table import Source
    from rankbook.data.writers import TABLES
    from rankbook.estimators import leaderboard_text
    from rankbook.estimators.leaderboard import Leaderboard

    check_table("--output", output, (*TABLES, *leaderboard_text.TEXTS), matches)
    if plot is not None:
        check_picture(plot)
    check_report(report_file, matches, output, plot)
    if as_json and output != "-":
        raise ArgumentError(
            f"--output is {output!r} and --json prints to standard output", "only one of the two"
        )
    intervals = intervals or any((level != 0.95, method, unit, simultaneous, rank_method))
    intervals = intervals or report_file is not None
    form = records.form
    if form is not None:
        as_choice("form", form, ("pairs", "matches", "counts", "wins", "rankings", "orders"))
    if anchor is not None:
        anchor = parse_anchor(anchor)
    check_file("MATCHES", matches)
    columns = asked_preferences([], matches, **vars(records))
    ties = columns.pop("ties", "half") if form not in ("rankings", "orders") else "half"
    columns = {name: value for name, value in columns.items() if name != "path"}
    names = lambda text: None if text is None else parse_names([text])
    unit = names(unit)
    board = Leaderboard(
        columns=columns,
        ties=ties,
        unit=unit[0] if unit is not None and len(unit) == 1 else unit,
        lam=lam,
        intervals=intervals,
        level=level,
        simultaneous=simultaneous,
        rank_method=rank_method or "steps",
        scale=scale,
        anchor=anchor,
        min_votes=min_votes,
        balance=balance,
        date=date,
        since=since,
        half_life=half_life,
        by=names(by),
        **({} if method is None else dict(method=method)),
    )
    with spoken_warnings() as notes, advice_on_form():
        try:
            board.fit(Source(matches))
        except ArgumentError as error:
            if error.argument == "votes":
                raise error.renamed("MATCHES") from error
            if error.argument == "unit" and ", and the " in error.given:
                raise group_beside_orders(board.unit, "unit") from error
            raise
    if plot is not None:
        save_picture(board.plot(k=len(board.items_)).figure, plot)
    write_report(report_file, board, notes=notes, title=f"Ranking of {Path(matches).name}")
    if output != "-" or as_json:
        known = board.notes_
        board.notes_ = [text for text in notes if not any(each in text for each in known)] + known
    if output != "-":
        return board.write(output)
    if as_json:
        return typer.echo(json.dumps(leaderboard_text.facts(board), separators=(",", ":")))
    say(leaderboard_text.text(board))


def parse_anchor(text):
    """Read an item and its score from NAME=NUMBER."""
    name, _, number = text.rpartition("=")
    try:
        return name or None, float(number)
    except ValueError:
        raise ArgumentError(f"--anchor is {text!r}", "NAME=NUMBER") from None
