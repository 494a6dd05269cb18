"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer


def option(kind, help, *names, values=None):
    """The type of an option of the command line, with its help.

    Give `names` if they are not the argument's, and as `values`, words in a text, what the shell
    may complete; other words are refused where the option is used.
    """

    def complete(incomplete: str):
        return [word for word in values.split() if word.startswith(incomplete)]

    return Annotated[
        kind, typer.Option(*names, help=help, autocompletion=complete if values else None)
    ]


FORMATS = (
    "Built-in data set; file: .csv .tsv .parquet, or SVMlight/LETOR .svm .svmlight .letor .txt"
    " .dat, also with .gz; or - for standard input"
)
QUERIES = (
    "Column of a table that names the query of a row, or none; by default qid, query, query_id,"
    " group or session if there is one."
)
Data = Annotated[str, typer.Argument(metavar="DATA", help=FORMATS, show_default=False)]
Target = option(str, "Column of a table to rank by, higher is preferred.")
Time = option(
    str,
    "Column of survival times, up to the event or the end of observation; with --event, in place of"
    " a target. Longer is preferred, and --qid names strata.",
)
Event = option(str, "Column of 1 where the event was seen, and 0 where the time is censored.")
Qid = option(str, QUERIES)
GroupSplit = option(
    str,
    "Column of a table, such as users, whose rows stay together in one part: training, validation"
    " or test; no feature.",
)
Drop = option(
    list[str],
    "Columns of a table to leave out: names separated by commas, or several times --drop.",
)
Validation = option(
    str,
    "File of the validation part, in the format of DATA, which is then the training part; with"
    " --preferences, a file of preferences between the same items.",
)
Test = option(str, "File of the test part, likewise.")
Name = option(str, "Column of a table that names the rows.")
Events = option(str, "File of preferences between items, in place of a target.", "--preferences")
Form = option(
    str,
    "What a row of that file is: pairs (winner, loser, or winner with the names of the columns of"
    " the two sides), matches (home, away, result: H, D, A or"
    " goals ahead, or the winner's column), clicks (session, item, rank, click: all shown),"
    " rankings (ranking, item, rank: 1 is best, equal ranks are tied), orders (a whole ranking: its"
    " items from left to right, best first; --column item=FIRST,SECOND,... if there are other"
    " columns).",
    values="pairs matches clicks rankings orders",
)
Winner = option(str, "Of pairs: the column of the preferred item; by default winner.")
Loser = option(str, "Of pairs: the column of the other item; by default loser.")
Weight = option(str, "Of pairs and matches: a column of weights; 1 by default.")
Columns = option(
    list[str],
    "ARGUMENT=COLUMN, where another column of that file has another name than above, as"
    " rank=position or, for two columns of goals, result=HOME,AWAY; or for more, as"
    " margin=difference (of goals), home_advantage=yes, pair_features=COLUMN, rule=last-click;"
    " several times.",
    "--column",
)
Ties = option(
    str,
    "Of matches that are drawn, and pairs with a column tie: refuse, drop or half.",
    values="refuse drop half",
)

Encode = option(
    bool,
    "Turn each column of text into columns of zeros and ones, one for each text (one-hot). The"
    " model keeps the texts; a text that is new to it becomes zeros.",
    "--encode",
)
Impute = option(
    bool,
    "Fill gaps: with the mean in a column of numbers, with the most frequent text in the others."
    " The model keeps these values.",
    "--impute",
)
Gamma = option(
    str,
    "Of rbf and poly: a number, or several separated by commas to search; 1/features by default.",
)
OneGamma = option(str, "Of rbf and poly: a number; 1/features by default.")
Scale = option(
    bool,
    "Scale features to mean 0 and deviation 1 of the items learnt from.",
    "--standardize/--no-standardize",
)
Rule = option(
    str,
    "widest: the middle of the widest best interval; largest: the largest best lambda; "
    "one_se: the largest lambda within one standard error of the best.",
    values="widest largest one_se",
)
Method = option(
    str,
    "ranksvm, rankrls, or rayleigh for two levels of the target.",
    values="ranksvm rankrls rayleigh",
)
Kernel = option(str, "rbf, linear or poly.", values="rbf linear poly")
Loss = option(
    str,
    "Of ranksvm: hinge, squared, logistic (for probabilities of pairs) or plackett-luce (for"
    " rankings, orders, and Cox's model of survival times); hinge by default.",
    values="hinge squared logistic plackett-luce",
)
Degree = option(int, "Of poly; 3 by default.")
Coef0 = option(float, "Of poly; 1 by default.")
Graph = option(str, "Training preferences: full or star.", values="full star")
LamMin = option(
    float, "Smallest lambda to consider; the path ends there. No choice by folds takes it."
)
LamMax = option(float, "Largest lambda to consider. No choice by folds takes it.")
Seed = option(int, "Of the split.")
SolverName = option(str, "Name of a solver, or auto.")
SolverOption = Annotated[
    list[str],
    typer.Option(metavar="KEY=VALUE", help="Of the solver, see rankbook solvers; several times."),
]
Plot = option(Path, "Write a picture to this file: .pdf, .png or .svg.")
Json = option(bool, "Print the result as JSON.", "--json")
Verbose = option(
    bool,
    "First say on stderr what following a path of ranksvm is expected to take.",
    "--verbose",
    "-v",
)
