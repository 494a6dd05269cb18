"""Options that several commands share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

TABLES = Path(__file__).parents[2] / "data" / "tables"  # of rankbook.data.datasets


def table_file(name):
    """Return the file of a table that comes with the package, or None."""
    path = TABLES / f"{name}.csv"
    return str(path) if name and name.isidentifier() and path.is_file() else None


def file_of(name):
    """Return the file of a table that comes with the package; other names are unchanged.

    A file of this name in the current folder takes precedence.
    """
    if isinstance(name, (list, tuple)):
        return [file_of(each) for each in name]
    return name if name and Path(name).is_file() else table_file(name) or name


KINDS = {float: "NUMBER", int: "NUMBER", Path: "FILE"}  # what the help calls a value


def option(kind, help, *names, values=None, metavar=None, callback=None):
    """Return the type of a command-line option, with its help.

    Pass `names` if they differ from the argument, and `values`, a text of words that the shell
    completes. Other words are refused when the option is used. The help calls the value `metavar`.
    """
    metavar = metavar or KINDS.get(kind) or (values and values.replace(" ", "|"))

    def complete(incomplete: str):
        return [word for word in values.split() if word.startswith(incomplete)]

    more = dict(autocompletion=complete if values else None, callback=callback)
    return Annotated[kind, typer.Option(*names, help=help, metavar=metavar, **more)]


FORMATS = (
    "Name of a built-in data set, unless a file has this name; file in CSV (.csv), TSV (.tsv),"
    " Parquet (.parquet) or SVMlight/LETOR format (.svm .svmlight .letor .txt .dat), optionally"
    " with .gz; or - for standard input"
)
QUERIES = (
    "Column with the query of each row, or 'none'. By default the column qid, query, query_id,"
    " group or session, if the table has one."
)
Data = Annotated[
    str, typer.Argument(metavar="DATA", help=FORMATS, show_default=False, callback=file_of)
]
Target = option(str, "Column to rank by; higher values are preferred.", metavar="COLUMN")
Qid = option(str, QUERIES, metavar="COLUMN")
Drop = option(
    list[str],
    "Columns to ignore, separated by commas. The option can be repeated.",
    metavar="COLUMNS",
)
Validation = option(
    str,
    "Validation set, a file in the same format as DATA. DATA is then the training set. With"
    " --preferences, a file of preferences between the same items.",
    metavar="FILE",
    callback=file_of,
)
Test = option(
    str,
    "Test set, a file of the same kind as for --validation.",
    metavar="FILE",
    callback=file_of,
)
Name = option(
    str,
    "Column with the names of the items; for clicks also QUERY,ITEM, the two columns whose pairs"
    " name the items.",
    metavar="COLUMN",
)
Events = option(
    str,
    "File of preferences between the items of DATA. Replaces --target.",
    "--preferences",
    metavar="FILE",
    callback=file_of,
)
Scale = option(
    bool,
    "Scale features to mean 0 and standard deviation 1 on the training set.",
    "--standardize/--no-standardize",
)
Kernel = option(str, "Kernel: rbf, linear or poly.", values="rbf linear poly")
Loss = option(
    str,
    "Loss of ranksvm: hinge (default), squared, logistic (gives probabilities of pairs) or"
    " plackett-luce (for rankings, orders, and Cox's model of survival times).",
    values="hinge squared logistic plackett-luce",
    metavar="LOSS",
)
TiedEvents = option(
    str,
    "Events at the same time, for --loss plackett-luce and --time: breslow (default) or efron.",
    values="breslow efron",
)
Graph = option(
    str,
    "Training preferences. full: all pairs with different targets. star: only pairs of"
    " neighbouring levels that contain the representative item of one of them (far fewer pairs).",
    values="full star",
)
LamMin = option(
    float, "Smallest lambda to consider; the path ends there. Not available with cross-validation."
)
SolverName = option(
    str, "Name of a solver, or auto to choose one by predicted cost.", metavar="SOLVER"
)
Plot = option(Path, "Write a picture to this file: .pdf, .png or .svg.")
Json = option(bool, "Print the result as JSON.", "--json")
Explain = option(
    bool, "Print to stderr what each column of a table is used as, and why.", "--explain"
)
Quiet = option(
    bool,
    "Print no notes, warnings or progress bars, and no summary of a result that is written to a"
    " file.",
    "-q",
    "--quiet",
)


ABOUT = ("target", "time", "event", "entry", "qid", "name")  # roles that a model keeps


@dataclass
class RoleOptions:
    """Roles of the columns of DATA."""

    target: Target = None
    time: option(
        str,
        "Column of survival times, up to the event or the end of observation. Use it with --event"
        " instead of --target. Longer times are preferred, and --qid names the strata.",
        metavar="COLUMN",
    ) = None
    event: option(
        str,
        "Column that is 1 if the event was observed and 0 if the time is censored.",
        metavar="COLUMN",
    ) = None
    entry: option(
        str,
        "Column of the times at which patients come under observation, for late entry and for"
        " features that change: a row is at risk after its entry, up to --time.",
        metavar="COLUMN",
    ) = None
    qid: Qid = None
    name: Name = None


@dataclass
class TrainingRoles(RoleOptions):
    """Roles of training data, and columns to leave out."""

    drop: Drop = None


@dataclass
class Learnt:
    """Encodings learnt from the training rows."""

    encode: option(
        bool,
        "Encode text columns one-hot. The model keeps the categories; a new category is encoded"
        " as zeros.",
        "--encode",
    ) = False
    impute: option(
        bool,
        "Fill missing values with the mean of numeric columns and the most frequent category of"
        " text columns. The model keeps these values.",
        "--impute",
    ) = False


@dataclass
class RecordOptions:
    """How a file of preferences is read."""

    form: option(
        str,
        "What one row of the preference file contains; by default the form whose columns it has."
        " pairs: winner and loser. matches: home, away and result, or two items and a column"
        " winner (see --results). counts: first, second, wins_first and wins_second. wins: an"
        " item, and its wins against each item of the header. clicks: session, item, rank and"
        " click, with one row for each item shown; a clicked item is preferred to all others of"
        " its session. rankings: ranking, item and rank (1 is best, equal ranks are ties). orders:"
        " a whole ranking, the items from left to right, best first; if the file has other"
        " columns, add --column item=FIRST,SECOND,...",
        values="pairs matches counts wins clicks rankings orders",
        metavar="FORM",
    ) = None
    winner: option(
        str, "Column of the preferred item (default: winner). For --form pairs.", metavar="COLUMN"
    ) = None
    loser: option(
        str, "Column of the other item (default: loser). For --form pairs.", metavar="COLUMN"
    ) = None
    weight: option(
        str,
        "Column of weights, such as numbers of voters (default: all weights are 1). For --form"
        " pairs, matches, rankings and orders.",
        metavar="COLUMN",
    ) = None
    results: option(
        str,
        "What the results of matches mean: winner (the name of the winner), difference (goals of"
        " the home side minus goals of the other), points (1, 0.5 or 0 of the home side), or a"
        " list such as 1=home,X=tie,2=away. By default only results of certain meaning are"
        " accepted: H, D and A,"
        " the name of the winner or of its column, tie, or scores such as 2-1.",
        metavar="MEANING",
    ) = None
    column: option(
        list[str],
        "ARGUMENT=COLUMN tells which column of the preference file holds what --form expects, for"
        " example rank=position, or result=HOME,AWAY for two columns of goals. It also passes"
        " options: margin=difference (margins from the goal difference), home_advantage=yes,"
        " pair_features=COLUMN, propensity=COLUMN (the probability that the rank of a click is"
        " examined), rule=skip-above (for clicks on results in random order only). The option can"
        " be repeated.",
        "--column",
        metavar="ARGUMENT=COLUMN",
    ) = None
    ties: option(
        str,
        "What to do with draws in matches, and with pairs marked in a column tie: refuse, drop,"
        " or half (half a win for each side).",
        values="refuse drop half",
    ) = None


@dataclass
class SparseOptions:
    """The penalty of a ranking SVM."""

    penalty: option(
        str,
        "Penalty: l2 (default), l1 or elastic-net, which use few features (--kernel linear).",
        values="l1 l2 elastic-net",
    ) = None
    l1_ratio: option(
        float,
        "Share of the L1 norm in --penalty elastic-net, above 0 and at most 1 (default: 0.5).",
    ) = None
    penalty_factor: option(
        list[str],
        "Factor of the penalty of a feature, for --penalty l1 and elastic-net (default: 1). NAME=0"
        " does not penalize NAME, such as the age of patients beside thousands of genes. Can be"
        " repeated.",
        "--penalty-factor",
        metavar="NAME=FACTOR",
    ) = None


@dataclass
class EventOptions(RecordOptions):
    """How a file of preferences between items of DATA is read."""

    estimate_propensities: option(
        bool,
        "Estimate from the clicks how often each rank is examined, and weight each click by the"
        " inverse of this propensity. For --form clicks, if items were shown at several ranks. The"
        " propensities of --preferences also weight the clicks of --validation and --test.",
        "--estimate-propensities",
    ) = False


@dataclass
class KernelOptions:
    """The kernel and its parameters."""

    kernel: Kernel = "rbf"
    gamma: option(
        str,
        "Parameter of the kernels rbf and poly (default: 1/number of features).",
        metavar="NUMBER",
    ) = None
    degree: option(int, "Degree of the poly kernel (default: 3).") = None
    coef0: option(float, "Constant of the poly kernel (default: 1).") = None
