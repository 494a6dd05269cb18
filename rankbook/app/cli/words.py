"""Errors and warnings of Python in the words of the command line."""

import re

from ...base.errors import ArgumentError

OPTIONS = (
    "entry event graph kernel l1_ratio lam loss method penalty penalty_factor qid query_weight"
    " solver ties time weight"
)
OPTIONS = {name: "--" + name.replace("_", "-") for name in OPTIONS.split()}
RENAMED = dict(groups="--group-split", random_state="--seed", n_resamples="--resamples")
RENAMED |= dict(signs="--sign", option="--solver-option", columns="--column")
RENAMED |= dict(y_true="DATA", y="DATA", model="MODEL")
COLUMNS = (  # what --column names
    "away click clip first home home_advantage item margin pair_features propensity query rank"
    " ranking rating result rule second session tie wins_first wins_second"
)
COLUMNS = {name: f"--column {name}" for name in COLUMNS.split()}
ONLY_IN_PYTHON = (
    (r"\b(precomputed|callable), ", ""),
    (r", a callable(?=\.)", ""),
    (r" \(did you mean '(a callable|precomputed)'\?\)", ""),
    (r", (an integer .*), a numpy Generator or a RandomState", r" or \1"),
    (r'\bapproximate_kernel(="\w+"| with a lam that is not too small)?, ', ""),
    (r", or the listed pairs of rb\.Preferences\.from_survival\(.*?\)", ""),
    (r" To weigh orders, pass weights to rb\.Orders\.", ""),
    (r"\bcall (?=model\.)", "in Python call "),
    (r"\brobust=True\b", "--robust"),
    (r"; cluster=(None|no value)\b", ", without --cluster"),
    (r"\bpass name='(.*)' or drop=\['\1'\]", r"pass --name \1 or --drop \1"),
    (r"\bpass drop=\['(.*)'\]", r"pass --drop \1"),
    (r"\bUse fewer folds, or (?=fold_by=)", "Pass "),
    (r"\ball y are\b", "all targets are"),
    (r"\bgraded y_true\b", "graded targets"),
)


def error_in_words(error, options):
    """Return the text of an error, with the options of a command for arguments of Python.

    Parameters
    ----------
    error : Exception
    options : dict
        The option of each argument of the command.
    """
    words = RENAMED | options
    if not isinstance(error, ArgumentError):
        argument, space, rest = str(error).partition(" ")
        argument = words.get(argument, argument) if rest.startswith(("is ", "has ")) else argument
        return text_in_words(argument + space + rest, words)
    argument, accepted = error.argument, re.sub(r"\bNone\b(?!')", "no value", error.accepted)
    if accepted.startswith(f"Omit {argument} for the form"):
        words = COLUMNS | words
    named = rf"\b{re.escape(argument)}(?= only )|(?<=^Omit ){re.escape(argument)}\b"
    accepted = re.sub(named, words.get(argument, argument), accepted)
    beside = re.compile(rf"\b(and|but) ({'|'.join(words)}) (is None\b|is|are|has)")
    verb = lambda found: "is missing" if found[3] == "is None" else found[3]
    option = lambda found: f"{found[1]} {words[found[2]]} {verb(found)}"
    given = re.sub("^is True\\b", "is given", error.given)
    given = "is missing" if given == "is None" else given
    given = beside.sub(option, given) if argument in words else given
    said = ArgumentError(f"{words.get(argument, argument)} {given}", accepted, error.advice)
    return text_in_words(str(said), OPTIONS | words)


def text_in_words(text, words=OPTIONS):
    """Return a text with options of the command line for arguments of Python."""
    for python, plain in ONLY_IN_PYTHON:
        text = re.sub(python, plain, text)
    cells = lambda found: (
        (found[1] or "--results ") + re.sub("[' ]", "", found[2]).replace(":", "=")
    )
    text = re.sub(r"(?:(--results is )|(?:a dict such as )?results=)\{(.*?)\}", cells, text)
    named = rf"(?<![-\w.'])({'|'.join(words)})"
    value = lambda found: f"{words[found[1]]} {found[2]}" + (f" or {found[3]}" if found[3] else "")
    text = re.sub(rf"""{named}=['"]([\w-]+)['"](?: or ['"]([\w-]+)['"])?""", value, text)
    for name in {"lam_min", "lam_max"} & words.keys():
        text = text.replace(name, words[name])
    if text.startswith("--column is "):
        return text
    columns = COLUMNS | words
    named = rf"(?<!--column )(?<!--column is )(?<![-\w.'])({'|'.join(columns)})="
    return re.sub(named, lambda found: f"{columns[found[1]]}=", text)
