"""The command ``rankbook``: its subcommands, errors and exit codes."""

import os
import re
import sys
from contextlib import contextmanager
from typing import Annotated

import typer

from .commands import check, convert, datasets, info, new_solver, solvers
from .fit import fit
from .path import path
from .predict_evaluate import compare, evaluate, predict
from .report import say
from .select import select

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help=(
        "Learn to rank from preferences: "
        "follow every solution of the ranking SVM, choose lambda exactly, certify the choice."
    ),
)


def _print_version(asked):
    """Print the version and end, if asked."""
    if asked:
        from rankbook import __version__

        typer.echo(f"rankbook {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
):
    """Options that come before a command."""


OPTIONS = "target qid drop method kernel gamma degree coef0 graph lam_min lam_max rule seed solver"
OPTIONS += " lam c name form ties metric loss penalty query_weight group_split groups"
ARGUMENT = re.compile(  # an option, as an error of Python names it
    rf"^({OPTIONS.replace(' ', '|')})(?= (is|has) )|\blam_(min|max)\b|^option(?= )"
)
CALL = re.compile(rf"\b({OPTIONS.replace(' ', '|')})='(\w+)'")  # as it is written in Python
CANNOT = "cannot solve this problem: "  # how the refusal of a problem begins
ABSENT = ((" is None; ", " is missing; "), ("; None is accepted", "; it is not accepted"))


@contextmanager
def one_line_errors():
    """Turn errors that are meant for the user into one line and an exit code.

    The code is 2 for errors and 130 for Ctrl-C.
    """
    try:
        yield
    except BrokenPipeError:
        raise  # whoever reads the output stopped reading; Typer ends in silence
    except MemoryError as error:
        _fail(
            error,
            "On the command line: --graph star makes fewer preferences, "
            "--kernel linear needs no kernel matrix.",
        )
    except (ValueError, TypeError, OSError, ImportError) as error:
        _fail(error)
    except (RuntimeError, ArithmeticError) as error:
        if type(error) not in (RuntimeError, ArithmeticError):
            raise  # of these kinds a solver that fails speaks; those derived from them are bugs
        _fail(error)
    except KeyboardInterrupt:
        _end_interrupted()


def _end_interrupted():
    """Say that Ctrl-C ended the command, with the code that a shell gives it."""
    typer.echo("rankbook: interrupted", err=True)
    raise typer.Exit(130) from None


def _fail(error, *advice):
    """Say what is wrong on stderr, in one line with the notes that solvers add, and end.

    An argument is named as the option that it came by; one that a solver names is its own.
    """
    cause = error
    while (cause := cause.__cause__ or cause.__context__) is not None:
        if isinstance(cause, KeyboardInterrupt):  # an import turned it into another error
            _end_interrupted()
    said, notes = str(error), [f"({note})" for note in getattr(error, "__notes__", ())]
    if CANNOT in said:
        advice += ("On the command line: --method, --kernel and --graph make the problem.",)
    if not any(note.startswith("(raised by the solver ") for note in notes):
        said = CALL.sub(r"--\1 \2", ARGUMENT.sub(_option_for, said))
        for of_python, of_the_shell in ABSENT:  # nobody can type None
            said = said.replace(of_python, of_the_shell)
    say("rankbook: error: " + " ".join(" ".join([said, *notes, *advice]).split()), err=True)
    raise typer.Exit(2) from None


def _option_for(found):
    """The option that an argument came by; options of a solver come by one of their own."""
    name = found[0].replace("_", "-")
    return "--" + {"option": "solver-option", "groups": "group-split"}.get(name, name)


EXAMPLES = {
    select: (
        "rankbook select cars.csv --target mpg --drop name --save cars.rankbook",
        "rankbook select clicks.csv --target click --qid session --group-split user",
    ),
    fit: (
        "rankbook fit cars.csv --target mpg --name name -o cars.rankbook",
        "rankbook fit items.csv --name item --preferences log.csv --form clicks"
        " --column rank=position -o m.rankbook",
        "rankbook fit teams.csv --name team --preferences season.csv --form matches"
        " --ties half -o m.rankbook",
        "rankbook fit 'logs/*.parquet' --target grade --lam 1000 -o logs.rankbook",
    ),
    predict: ("rankbook predict cars.rankbook new.csv --name name --ranked",),
    evaluate: ("rankbook evaluate cars.rankbook new.csv --target mpg",),
    compare: ("rankbook compare a.rankbook b.rankbook new.letor --metric ndcg@5",),
}
COMMANDS = (select, fit, predict, evaluate, compare, path, convert, datasets)
COMMANDS += (info, check, new_solver, solvers)
for command in COMMANDS:
    # \b keeps the lines as they are
    shown = "\n\n".join(f"\b\n{line}" for line in ("Examples:", *EXAMPLES.get(command, ())))
    app.command(epilog=shown if command in EXAMPLES else None)(one_line_errors()(command))


def main():
    """What the command `rankbook` runs."""
    try:
        app(prog_name="rankbook")
    except (KeyboardInterrupt, SystemExit) as end:
        if getattr(end, "code", 130) != 130:
            raise
        sys.stdout.flush()
        os._exit(130)  # at once: what was interrupted may still be in compiled code
