"""The command ``rankbook``: its subcommands, errors and exit codes."""

import inspect
import logging
import os
import signal
import sys
import time
from _thread import start_new_thread
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import fields, is_dataclass
from functools import cache, partial, wraps
from importlib import import_module
from typing import Annotated

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo

from rankbook.base.progress import interruptible

from .options import Explain, Quiet
from .report import LOG, at_level, say
from .words import error_in_words

DOCUMENTATION = "https://rankbook.github.io/rankbook"
WrongCall = typer.BadParameter.__base__  # every error of typer about the arguments


class Refusal(typer.BadParameter):
    """Error about the arguments, printed in one line like all other errors."""

    def show(self, file=None):
        """Print the line."""
        where = "rankbook" if self.ctx is None else self.ctx.command_path
        said = " ".join(self.message.split())
        stop = "" if said.endswith((".", "?")) else "."
        say(f"rankbook: error: {said}{stop} See {where} --help.", err=True)


@contextmanager
def in_one_line():
    """Raise a Refusal for an error about the arguments."""
    try:
        yield
    except Refusal:
        raise
    except WrongCall as error:
        raise Refusal(error.format_message(), error.ctx) from error


class Commands(TyperGroup):
    """The command and its subcommands."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.commands = dict.fromkeys(COMMANDS)

    def get_command(self, ctx, name):
        """Return a subcommand, whose module is imported only now."""
        return load(name) if name in COMMANDS else None

    def format_commands(self, ctx, formatter):
        """Write the list of subcommands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])

    def make_context(self, *args, **options):
        """Read the arguments before the subcommand."""
        with in_one_line():
            return super().make_context(*args, **options)

    def invoke(self, ctx):
        """Read the other arguments, and call the subcommand."""
        with in_one_line():
            return super().invoke(ctx)


class Command(TyperCommand):
    """A subcommand whose help shows each argument as its `metavar`, in every version of typer."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.named = [each for each in self.params if each.param_type_name == "argument"]
        for each in self.named:
            each.display_type_rich = lambda ctx: ""

    def parse_args(self, ctx, args):
        """Read the arguments; refuse an option of one value that is given twice."""
        if not ctx.resilient_parsing:
            given = self.make_parser(ctx).parse_args(args=list(args))[2]
            for param in {each.name: each for each in given}.values():
                once = param.param_type_name == "option" and not param.multiple
                flag = once and param.is_flag and not param.secondary_opts
                if once and not flag and not param.count and given.count(param) > 1:
                    names = " or ".join([*param.opts, *param.secondary_opts])
                    raise WrongCall(
                        f"{names} is given {given.count(param)} times. Pass it once.", ctx
                    )
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx):
        """Return the words after the command in the first line of its help."""
        return [self.options_metavar, *(each.metavar for each in self.named)]


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings=dict(help_option_names=["-h", "--help"]),
    epilog=f"Documentation: {DOCUMENTATION}",
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


def silence():
    """Hide all messages of the package except errors, in a context."""
    return at_level(LOG, logging.ERROR)


VERSION = typer.Option(
    "-V",
    "--version",
    callback=_print_version,
    is_eager=True,
    help="Print the version and exit.",
)


@app.callback()
def options(ctx: typer.Context, version: Annotated[bool, VERSION] = False, quiet: Quiet = False):
    """Options before a command; without a command, print the help."""
    if quiet:
        ctx.with_resource(silence())
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help(), err=True)
        raise typer.Exit(2)


OF_TABLES = ("select", "fit", "predict", "evaluate", "compare", "rank", "path", "convert")
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
    more = dict(explain=Explain) if command.__name__ in OF_TABLES else {}
    for name, hint in dict(more, quiet=Quiet).items():
        one = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False)
        parameters.append(one.replace(annotation=hint))
    hints = {each.name: each.annotation for each in parameters}
    names = [name for name, hint in hints.items() if isinstance(hint.__metadata__[0], OptionInfo)]
    options = {name: "--" + name.replace("_", "-") for name in names}
    spoken = partial(error_in_words, options=options)
    work = interruptible(command)

    @wraps(command)
    def run(explain=False, quiet=False, **given):
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        try:
            with silence() if quiet else nullcontext():
                return explained(work, given) if explain else work(**given)
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


def explained(work, given):
    """Call a command, and print what each column of a table is used as."""
    from .reading import spoken_roles

    with spoken_roles():
        return work(**given)


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


EXAMPLES = {  # the first of each command runs after the first ones of the commands above
    "select": (
        "rankbook select cancer -o cancer.rankbook",
        "rankbook select cars.csv --target mpg --drop name --kernel linear",
        "rankbook select clicks.csv --target click --qid session --drop position"
        " --group-split user",
        "rankbook select films.csv --name film --preferences votes.csv --group judge",
        "rankbook select survival --time days --event event --qid clinic --impute --kernel linear",
        "rankbook select train.txt --validation vali.txt --test test.txt --kernel linear",
    ),
    "fit": (
        "rankbook fit clicks --target click --qid session --drop rank,hotel --kernel linear"
        " -o clicks.rankbook",
        "rankbook fit cars.csv --target mpg --name name -o cars.rankbook",
        "rankbook fit items.csv --name item --preferences log.csv --form clicks"
        " --column rank=position -o m.rankbook",
        "rankbook fit teams.csv --name team --preferences season.csv --form matches"
        " --ties half --loss logistic --column home_advantage=yes -o m.rankbook",
        "rankbook fit seeds.csv --name seed --preferences farmers.csv --form orders"
        " --loss plackett-luce -o m.rankbook",
        "rankbook fit 'logs/*.parquet' --target grade --lam 1000 -o logs.rankbook",
    ),
    "predict": (
        "rankbook predict cancer.rankbook cancer --ranked -o ranked.csv",
        "rankbook predict cars.rankbook new.csv --name name --ranked",
        "rankbook predict letor.rankbook test.txt -o run.trec",
    ),
    "evaluate": (
        "rankbook evaluate clicks.rankbook clicks",
        "rankbook evaluate cars.rankbook new.csv --target mpg",
        "rankbook evaluate m.rankbook items.csv --preferences votes.csv --weight votes",
    ),
    "compare": (
        "rankbook compare clicks.rankbook clicks.rankbook clicks --metric ndcg@3",
        "rankbook compare a.rankbook b.rankbook new.letor --metric ndcg@5",
    ),
    "rank": (
        "rankbook rank votes --intervals",
        "rankbook rank matches --column home_advantage=yes --ties davidson",
        "rankbook rank orders --intervals",
        "rankbook rank season.csv --form matches --intervals --level 0.9 -o table.csv",
        "rankbook rank arena.csv --lam 1 --intervals --method bootstrap --unit judge",
        "rankbook rank arena.csv --column pair_features=len_a-len_b --scale elo -o ranks.md",
    ),
    "path": (
        "rankbook path clicks --target click --qid session --drop rank,hotel --kernel linear"
        " -o events.csv",
        "rankbook path train.txt --validation vali.txt --kernel linear",
    ),
    "convert": (
        "rankbook convert cancer cancer.svm",
        "rankbook convert train.txt train.parquet",
    ),
    "datasets": ("rankbook datasets", "rankbook datasets votes"),
    "info": ("rankbook info clicks.rankbook", "rankbook info clicks.rankbook --json"),
    "export": (
        "rankbook export clicks.rankbook",
        "rankbook export clicks.rankbook --format solr --name clicks -o model.json",
        "rankbook export cars.rankbook --format onnx -o cars.onnx",
    ),
    "check": ("rankbook check newton", "rankbook check my-solver --option tol=1e-8"),
    "new-solver": ("rankbook new-solver my-solver",),
    "solvers": ("rankbook solvers", "rankbook solvers path"),
    "warm-up": ("rankbook warm-up --jobs 2",),
}
COMMANDS = {  # the module of each, and the first line of its help
    "select": ("select", "Choose lambda on validation data, and certify the solution."),
    "fit": ("fit", "Fit a ranker for one value of lambda and save it."),
    "predict": ("predict_evaluate", "Score items, or compare pairs of items, with a saved model."),
    "evaluate": ("predict_evaluate", "Evaluate a model or a table of scores on labelled data."),
    "compare": ("predict_evaluate", "Compare two rankers by paired tests."),
    "rank": ("rank", "Rank items from votes, matches or orders, without features."),
    "path": ("path", "Compute the regularization path of the ranking SVM."),
    "convert": ("commands", "Convert data between CSV, Parquet and SVMlight/LETOR."),
    "datasets": ("commands", "List the built-in data sets, or describe one."),
    "info": ("commands", "Describe a saved model or path."),
    "export": ("commands", "Write a model for another program: a linear one as JSON, or ONNX."),
    "check": ("commands", "Test a solver on degenerate data."),
    "new-solver": ("commands", "Create the files of a new solver plugin."),
    "solvers": ("commands", "List the installed solvers, or import and describe one."),
    "warm-up": ("commands", "Compile the code that first calls need."),
}


@cache
def load(name):
    """Return a subcommand."""
    home = import_module(f".{COMMANDS[name][0]}", __package__)
    # \b keeps the lines as they are
    shown = "\n\n".join(f"\b\n{line}" for line in ("Examples:", *EXAMPLES[name]))
    one = typer.Typer(rich_markup_mode=None, add_completion=False)
    one.command(name, cls=Command, epilog=shown)(
        one_line_errors(getattr(home, name.replace("-", "_")))
    )
    return typer.main.get_command(one)


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
