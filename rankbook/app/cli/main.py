"""The command ``rankbook``: its subcommands, errors and exit codes."""

import inspect
import os
import signal
import sys
import time
from _thread import start_new_thread
from contextlib import nullcontext, suppress
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from typing import Annotated

import typer
from typer.models import OptionInfo

from rankbook.base.progress import interruptible

from .commands import check, convert, datasets, info, new_solver, solvers, warm_up
from .fit import fit
from .options import Explain
from .path import path
from .predict_evaluate import compare, evaluate, predict
from .rank import rank
from .reading import spoken_roles
from .report import say
from .select import select
from .words import error_in_words

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help=(
        "Learn to rank from preferences: compute the ranking SVM for every lambda, choose lambda"
        " on validation data, and certify the solution."
    ),
)


def _print_version(asked):
    """Print the version and exit, if requested."""
    if asked:
        from rankbook import __version__

        typer.echo(f"rankbook {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
):
    """Options before a command."""


OF_TABLES = (select, fit, predict, evaluate, compare, rank, path, convert)
CANNOT = "cannot solve this problem: "  # start of a message that refuses a problem


def one_line_errors(command):
    """Wrap a command so that errors for the user become one line and an exit code.

    The code is 2 for errors and 130 for Ctrl-C. Errors name the option of an argument. A parameter
    annotated with a dataclass, a group of options, becomes an option for each field.
    """
    parameters, groups = [], {}
    for parameter in inspect.signature(command).parameters.values():
        if is_dataclass(parameter.annotation):
            groups[parameter.name] = parameter.annotation
            parameters += inspect.signature(parameter.annotation).parameters.values()
        else:
            parameters.append(parameter)
    if command in OF_TABLES:
        more = inspect.Parameter("explain", inspect.Parameter.KEYWORD_ONLY, default=False)
        parameters.append(more.replace(annotation=Explain))
    hints = {each.name: each.annotation for each in parameters}
    names = [name for name, hint in hints.items() if isinstance(hint.__metadata__[0], OptionInfo)]
    options = {name: "--" + name.replace("_", "-") for name in names}
    spoken = partial(error_in_words, options=options)
    work = interruptible(command)

    @wraps(command)
    def run(explain=False, **given):
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        try:
            with spoken_roles() if explain else nullcontext():
                return work(**given)
        except BrokenPipeError:
            raise  # the reader of the output has stopped; Typer exits silently
        except MemoryError as error:
            advice = "On the command line: --graph star makes fewer preferences, "
            _fail(error, spoken, advice + "--kernel linear needs no kernel matrix.")
        except (ValueError, TypeError, OSError, ImportError) as error:
            _fail(error, spoken)
        except (RuntimeError, ArithmeticError) as error:
            if type(error) not in (RuntimeError, ArithmeticError):
                raise  # failing solvers raise these types; derived types are bugs
            _fail(error, spoken)
        except KeyboardInterrupt:
            raise typer.Exit(130) from None

    keyword = inspect.Parameter.KEYWORD_ONLY
    run.__signature__ = inspect.Signature([each.replace(kind=keyword) for each in parameters])
    run.__annotations__ = hints
    return run


def _fail(error, spoken, *advice):
    """Print an error with its notes to stderr in one line, and exit.

    `spoken` replaces arguments by options of the command line, except arguments of a solver.
    """
    cause = error
    while (cause := cause.__cause__ or cause.__context__) is not None:
        if isinstance(cause, KeyboardInterrupt):  # an import wrapped it in another error
            raise typer.Exit(130) from None
    said, notes = str(error), [f"({note})" for note in getattr(error, "__notes__", ())]
    if CANNOT in said:
        advice += ("On the command line: --method, --kernel and --graph make the problem.",)
    if not any(note.startswith("(raised by the solver ") for note in notes):
        said = spoken(error)
    say("rankbook: error: " + " ".join(" ".join([said, *notes, *advice]).split()), err=True)
    raise typer.Exit(2) from None


EXAMPLES = {
    select: (
        "rankbook select cars.csv --target mpg --drop name --save cars.rankbook",
        "rankbook select clicks.csv --target click --qid session --drop position"
        " --group-split user",
        "rankbook select films.csv --name film --preferences votes.csv --group judge",
        "rankbook select patients.csv --time days --event died --qid hospital --kernel linear",
        "rankbook select train.txt --validation vali.txt --test test.txt --kernel linear",
    ),
    fit: (
        "rankbook fit cars.csv --target mpg --name name -o cars.rankbook",
        "rankbook fit items.csv --name item --preferences log.csv --form clicks"
        " --column rank=position -o m.rankbook",
        "rankbook fit teams.csv --name team --preferences season.csv --form matches"
        " --ties half --loss logistic --column home_advantage=yes -o m.rankbook",
        "rankbook fit seeds.csv --name seed --preferences farmers.csv --form orders"
        " --loss plackett-luce -o m.rankbook",
        "rankbook fit 'logs/*.parquet' --target grade --lam 1000 -o logs.rankbook",
    ),
    predict: (
        "rankbook predict cars.rankbook new.csv --name name --ranked",
        "rankbook predict letor.rankbook test.txt -o run.trec",
    ),
    evaluate: (
        "rankbook evaluate cars.rankbook new.csv --target mpg",
        "rankbook evaluate m.rankbook items.csv --preferences votes.csv --weight votes",
    ),
    compare: ("rankbook compare a.rankbook b.rankbook new.letor --metric ndcg@5",),
    rank: (
        "rankbook rank votes.csv --intervals",
        "rankbook rank season.csv --form matches --intervals --level 0.9 -o table.csv",
        "rankbook rank arena.csv --column home_advantage=yes --intervals --method bootstrap --group"
        " judge",
    ),
    path: ("rankbook path train.txt --validation vali.txt --kernel linear -o events.csv",),
    convert: ("rankbook convert train.txt train.parquet",),
}
COMMANDS = (*OF_TABLES, datasets)
COMMANDS += (info, check, new_solver, solvers, warm_up)
for command in COMMANDS:
    # \b keeps the lines as they are
    shown = "\n\n".join(f"\b\n{line}" for line in ("Examples:", *EXAMPLES.get(command, ())))
    app.command(epilog=shown if command in EXAMPLES else None)(one_line_errors(command))


SIGNALS = []  # numbers of the signals received


def main():
    """Entry point of the command `rankbook`."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # Windows has no SIGHUP; nohup ignores it
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) != signal.SIG_IGN:
            signal.signal(getattr(signal, name), _interrupt)
    try:
        try:
            app(prog_name="rankbook")
        finally:
            sys.stdout.flush()
    except OSError as error:  # while Typer prints a help text, or at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more
        if not getattr(error.__context__, "code", 0):  # the command has not failed already
            say(f"rankbook: error: the output cannot be written: {error.strerror}.", err=True)
        sys.exit(2)
    finally:
        if SIGNALS:
            _end_process()


def _interrupt(number, frame):
    """Raise KeyboardInterrupt, and end the process soon if that is lost.

    An exception disappears in an import, or in a callback of compiled code or of the garbage
    collector. The thread is started without a lock, because the signal may have come while one was
    held.
    """
    SIGNALS.append(number)
    with suppress(RuntimeError):  # no more threads can be started
        start_new_thread(_end_late, ())
    raise KeyboardInterrupt


def _end_late():
    """End a process that has not ended after 1.5 seconds."""
    time.sleep(1.5)
    _end_process()


def _end_process():
    """Report the interrupt, delete temporary files and exit at once.

    Compiled code may still be running.
    """
    try:
        os.write(2, b"rankbook: interrupted\n")
        if "rankbook.data.file_blocks" in sys.modules:
            sys.modules["rankbook.data.file_blocks"].remove_copies()
    finally:
        os._exit(130)
