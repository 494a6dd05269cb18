"""``rankbook fit``: a model at a given lambda."""

import json
import re
import sys
from contextlib import ExitStack, contextmanager
from logging import ERROR
from pathlib import Path
from time import perf_counter

from ...base.errors import ArgumentError
from .options import (
    Coef0,
    Degree,
    Drop,
    Graph,
    Json,
    OneGamma,
    Qid,
    Scale,
    SolverName,
    Target,
    option,
)
from .reading import (
    DataFiles,
    advice_on_words,
    check_file,
    check_place,
    open_blocks,
    parse_gammas,
    parse_names,
    several_files,
    spoken_warnings,
)
from .report import say

# what a fit in blocks can be asked for
ACCEPTED = dict(method=("ranksvm",), kernel=("linear", None), penalty=("l2", None))
ACCEPTED |= dict(loss=("hinge", "squared", None), graph=("full", None), solver=("newton", "auto"))


def refuse_in_blocks(**given):
    """A ValueError for an option of ``rankbook fit`` that blocks do not have."""
    for name, value in given.items():
        accepted = ACCEPTED.get(name, (None,))
        if value not in accepted:
            raise ArgumentError(
                f"{name} is {value!r}, and DATA is several files, which are read in blocks",
                f"{accepted[0]}",
            )


Workers = option(int, "Do the work in so many processes of this machine, by Dask; DATA are files.")
Scheduler = option(str, "Address of a Dask cluster that does the work, as tcp://HOST:8786.")


@contextmanager
def sending(workers=None, scheduler=None):
    """What sends blocks to a Dask cluster: a context that gives a function, None without one.

    A cluster of this machine ends with it.
    """
    if workers is None and scheduler is None:
        yield None
        return
    if None not in (workers, scheduler):
        raise ArgumentError(
            f"--workers is {workers} and --scheduler is {scheduler!r}", "one of the two"
        )
    from rankbook.base.limits import import_extra
    from rankbook.base.validation import as_count
    from rankbook.data.dask import dask_blocks

    asked = "--scheduler" if workers is None else "--workers"
    distributed = import_extra("distributed", "dask", asked)
    with ExitStack() as stack:
        if workers is not None:
            options = dict(
                threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=ERROR
            )
            cluster = distributed.LocalCluster(as_count("--workers", workers), **options)
            scheduler = stack.enter_context(cluster)
        client = stack.enter_context(distributed.Client(scheduler, timeout="10s"))
        yield lambda blocks: dask_blocks(blocks, client=client)


def number_of_queries(block):
    """Queries of a block."""
    from rankbook.base.validation import as_ids

    return 1 if block.qid is None else as_ids("qid", block.qid, len(block.qid))[0].size


FORMS = ("pairs", "matches", "clicks", "rankings")
NO_COLUMNS = ("items", "n_items", "ties")  # arguments that have other ways in
WHO = dict(  # the arguments that name items
    pairs=("winner", "loser"), matches=("home", "away"), clicks=("item",), rankings=("item",)
)


def parse_columns(texts):
    """The dict of ARGUMENT=COLUMN texts."""
    pairs = [text.partition("=") for text in texts or ()]
    for argument, sign, column in pairs:
        if not (argument and sign and column):
            raise ArgumentError(
                f"--column is {argument + sign + column!r}", "ARGUMENT=COLUMN, such as winner=home"
            )
        if re.search(r",\s*\w+=", column):
            raise ArgumentError(
                f"--column is {argument + sign + column!r}",
                "one ARGUMENT=COLUMN, and --column several times",
            )
    columns = {}
    for argument, _, column in pairs:
        if columns.setdefault(argument, column) != column:
            raise ArgumentError(
                f"--column is {argument}={columns[argument]} and {argument}={column}",
                "one column for each argument",
            )
    return columns


def _check_columns(source, known, make, columns):
    """Refuse arguments that `make` does not have, and columns that the file does not have."""
    import inspect

    from rankbook.base.validation import unknown_name

    taken = list(inspect.signature(make).parameters.values())[1:]
    accepted = {each.name: each.default for each in taken if each.name not in NO_COLUMNS}
    for name in columns:
        if name not in accepted:
            error = unknown_name("--column", name, accepted)
            if columns[name] in accepted:
                error.add_note(f"the argument comes first: --column {columns[name]}={name}")
            raise error
    named = {name: columns.get(name, name) for name, value in accepted.items() if value == name}
    named |= {name: columns[name] for name in columns if accepted[name] is None}
    missing = {
        name: column
        for name, columns_of_it in named.items()
        for column in columns_of_it.split(",")
        if column not in known
    }
    if missing:
        what = "columns" if len(missing) > 1 else "column"
        wanted = " and ".join(map(repr, missing.values()))
        ways = " ".join(f"--column {name}=COLUMN" for name in missing)
        raise ValueError(
            f"{source} has no {what} {wanted}; it has {', '.join(map(str, known))}. Say which "
            f"{'are' if len(missing) > 1 else 'is'} meant by {ways}, or what kind of file it is by "
            "--form."
        )


def read_preferences(file, form, columns, items, ties=None):
    """The preferences between items that stand in a file of their own.

    Parameters
    ----------
    file : str
    form : {"pairs", "matches", "clicks", "rankings"}
    columns : dict
        Names of columns by arguments of ``Preferences.from_<form>``.
    items : CheckedBlock
        Their names, or row numbers if they have none, are what the file speaks of.
    ties : str, optional
        What is done with ties.
    """
    import numpy as np

    from rankbook.base.validation import as_choice
    from rankbook.data.table import Source, read_frame
    from rankbook.preferences.graph import Preferences

    as_choice("form", form, FORMS)
    make = getattr(Preferences, f"from_{form}")
    if ties is not None and form not in ("pairs", "matches"):
        raise ArgumentError(f"ties is {ties!r}", f"None for {form}, which have no ties to decide")
    check_file("--preferences", file)
    source = Source(file)
    frame = read_frame(source)
    _check_columns(source, list(frame.columns), make, columns)
    if items.item_names is None:
        _refuse_names(source, frame, [columns.get(each, each) for each in WHO[form]])
    if form == "matches" and "result" in columns and "," in columns["result"]:
        columns = columns | dict(result=columns["result"].split(","))
    more = {} if ties is None else dict(ties=ties)
    rows = np.arange(len(items.X)) if items.item_names is None else items.item_names
    _refuse_repeated(rows)
    return make(frame, items=rows, **columns, **more)


def _refuse_names(source, frame, columns):
    """Refuse names where the items have none, and rows are meant by their numbers."""
    from pandas.api.types import is_numeric_dtype

    for column in columns:
        if len(frame) and not is_numeric_dtype(frame[column]):
            raise ArgumentError(
                f"{source} has {frame[column].iloc[0]!r} in the column {column!r}, but the "
                "items have no names",
                "--name COLUMN says where in DATA they are. Without it row numbers",
            )


def _refuse_repeated(names):
    """Refuse names of which two rows have the same."""
    import pandas as pd

    again = pd.Series(names).duplicated().to_numpy()
    if again.any():
        second = int(again.argmax())
        first = names.tolist().index(names.tolist()[second])
        raise ArgumentError(
            f"name has {names.tolist()[second]!r} in the rows {first} and {second}",
            "distinct names beside --preferences",
            "Where every row that was shown has features of its own, --target CLICKED "
            "--qid SESSION learns from one file.",
        )


Out = option(Path, "Write the model to this file.", "-o", "--out")
Name = option(str, "Column of a table that names the rows.")
Events = option(str, "File that says who was preferred to whom, in place of a target.")
Form = option(
    str,
    "Of that file, a row for each: pairs (winner, loser), matches (home, away, result: H, D, A or"
    " goals ahead), clicks (session, item, rank, click: all that was shown), rankings (ranking,"
    " item, rank: 1 is best, equal ranks are not compared).",
    values=" ".join(FORMS),
)
Columns = option(
    list[str],
    "ARGUMENT=COLUMN, where a column of that file has another name than above, as rank=position"
    " or, for two columns of goals, result=HOME,AWAY; or for more, as weight=votes,"
    " margin=difference (of goals), rule=last-click; several times.",
    "--column",
)
Ties = option(
    str,
    "Of matches that are drawn, and pairs with a column tie: refuse, drop or half.",
    values="refuse drop half",
)
Method = option(str, "ranksvm or rankrls.", values="ranksvm rankrls")
FitKernel = option(
    str,
    "rbf, linear or poly; rbf by default, linear for several files.",
    "--kernel",
    values="rbf linear poly",
)
Lam = option(
    float,
    "Regularization parameter; 1 by default. rankbook select chooses one for a target in one file,"
    " RankSVMCV in Python for preferences, too.",
)
C = option(float, "In its place the C of svm_rank_learn: lambda is queries / C.", "-c", "--c")
Loss = option(str, "Of ranksvm: hinge or squared.", values="hinge squared")
Penalty = option(str, "l2, or l1 for a linear kernel.", values="l1 l2")
QueryWeight = option(str, "equal: the preferences of each query weigh one in sum.", values="equal")


def fit(  # noqa: PLR0913 -- an option of the command each
    data: DataFiles,
    out: Out,
    target: Target = None,
    qid: Qid = None,
    name: Name = None,
    drop: Drop = None,
    preferences: Events = None,
    form: Form = "pairs",
    column: Columns = None,
    ties: Ties = None,
    method: Method = "ranksvm",
    lam: Lam = None,
    c: C = None,
    kernel: FitKernel = None,
    gamma: OneGamma = None,
    degree: Degree = None,
    coef0: Coef0 = None,
    loss: Loss = None,
    penalty: Penalty = None,
    graph: Graph = None,
    query_weight: QueryWeight = None,
    standardize: Scale = True,
    solver: SolverName = "auto",
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: Json = False,
):
    """Fit a ranker at one lambda, and write it to a file.

    It learns from all items: from a column of scores, or preferences in a file of their own.
    """
    files, start = several_files(data, always=(workers, scheduler) != (None, None)), perf_counter()
    check_place("--out", out, *(files or data), preferences)
    if "-" in data and preferences == "-":
        raise ArgumentError("DATA and --preferences are both '-', standard input", "one of them")
    if preferences is None:
        form = None if form == "pairs" else form
        for name_of, value in dict(form=form, column=column, ties=ties).items():
            if value:
                raise ArgumentError(f"{name_of} is {value!r}", "it beside --preferences")
    options = dict(kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, loss=loss)
    options |= dict(penalty=penalty, graph=graph, query_weight=query_weight, solver=solver)
    names = [Path(each).name for each in data]
    names = names if len(names) <= 3 else [*names[:3], "..."]
    about = dict(data=" ".join(names), method=method, target=target, qid=qid, name=name)
    how, prefs = dict(standardize=standardize, about=about), None
    with spoken_warnings():
        from rankbook.app.fitting import fit_blocks, fit_items, lam_of_c

        if files is not None:
            refuse_in_blocks(preferences=preferences, method=method, name=name, **options)
        columns = dict(target=target, qid=qid, name=name, drop=parse_names(drop))
        with advice_on_words(*(["name"] if files is None else []), "qid"):
            blocks, roles = open_blocks(data, files, needs_target=files is not None, **columns)
        if files is None and preferences is None and blocks.items.values[0].y is None:
            raise ArgumentError(
                "target is None",
                f"the column to rank by, one of: {', '.join(roles.features)}; or --preferences",
            )
        if preferences is not None:
            beside = dict(target=target, graph=graph, query_weight=query_weight)
            for name_of, value in beside.items():
                if value is not None:
                    raise ArgumentError(f"{name_of} is {value!r}", "None beside --preferences")
            (block,) = blocks.items.values
            prefs = read_preferences(preferences, form, parse_columns(column), block, ties)
        if None not in (lam, c):
            raise ArgumentError(f"lam is {lam!r} and c is {c!r}", "one of the two")
        if c is not None:
            lam = lam_of_c(c, blocks.reduce(number_of_queries, blocks.items))
        if files is None:
            (block,), options["gamma"] = blocks.items.values, one_gamma(gamma)
            model = fit_items(
                block, roles.features, method, preferences=prefs, lam=lam, **how, **options
            )
            n = len(block.X)
        else:
            how |= dict(lam=1.0 if lam is None else lam, loss=loss or "hinge")
            with sending(workers, scheduler) as send:
                progress = sys.stderr.isatty()
                model, facts = fit_blocks(
                    blocks, roles.features, **how, progress=progress, send=send
                )
            n = facts.n_items
        model.save(out)
    say_fit(model, n, prefs, out, perf_counter() - start, as_json)


def one_gamma(text):
    """A gamma, or None."""
    gammas = parse_gammas(text)
    if gammas is not None and len(gammas) > 1:
        raise ArgumentError(f"gamma is {text!r}", "one number, since there is one fit")
    return None if gammas is None else gammas[0]


def say_fit(model, n_items, prefs, file, seconds, as_json):
    """Print what was fitted to so many items, and how near to the optimum it is proven to be.

    The preferences are those that were given, or made from scores where the problem has them.
    """
    inner, certificate = model.model, model.model.certificate_
    prefs = getattr(inner.solution_.problem, "prefs", None) if prefs is None else prefs
    facts = dict(
        file=str(file),
        items=n_items,
        features=len(model.columns),
        preferences=None if prefs is None else len(prefs),
        model=type(inner).__name__,
        lam=float(inner.lam),
        kernel=inner.kernel,
        solver=inner.solver_,
        primal=float(certificate.primal),
        relative_gap=float(certificate.relative_gap),
        seconds=seconds,
    )
    if as_json:
        say(json.dumps(facts, indent=2))
        return
    known = "" if prefs is None else f", {len(prefs)} preferences"
    rows = (
        ("data", f"{facts['items']} items, {facts['features']} features{known}"),
        ("model", f"{facts['model']}, {facts['kernel']} kernel, lambda {facts['lam']:.6g}"),
        ("solver", facts["solver"]),
        ("certificate", f"objective {facts['primal']:.10g}, gap {abs(facts['relative_gap']):.1e}"),
        ("written", facts["file"]),
        ("time", f"{seconds:.1f} s"),
    )
    say("\n".join(f"{label:13}{text}" for label, text in rows))
