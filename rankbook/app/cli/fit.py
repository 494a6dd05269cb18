"""``rankbook fit``: a model at a given lambda."""

import inspect
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


FORMS = ("pairs", "matches", "clicks", "rankings")
NO_COLUMNS = ("items", "n_items", "ties")  # arguments that have other ways in
WHO = dict(  # the arguments that name items
    pairs=("winner", "loser"), matches=("home", "away"), clicks=("item",), rankings=("item",)
)


def parse_columns(texts):
    """The dict of ARGUMENT=COLUMN texts."""
    columns = {}
    for text in texts or ():
        argument, _, column = text.partition("=")
        if not (argument and column):
            raise ArgumentError(f"--column is {text!r}", "ARGUMENT=COLUMN, such as winner=home")
        if re.search(r",\s*\w+=", column):
            accepted = "one ARGUMENT=COLUMN, and --column several times"
            raise ArgumentError(f"--column is {text!r}", accepted)
        if columns.setdefault(argument, column) != column:
            raise ArgumentError(
                f"--column is {argument}={columns[argument]} and {text}",
                "one column for each argument",
            )
    return columns


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
    import pandas as pd

    from rankbook.base.validation import as_choice, unknown_name
    from rankbook.data.table import Source, read_frame
    from rankbook.preferences.graph import Preferences

    as_choice("form", form, FORMS)
    make = getattr(Preferences, f"from_{form}")
    if ties is not None and form not in ("pairs", "matches"):
        raise ArgumentError(f"ties is {ties!r}", f"None for {form}, which have no ties to decide")
    check_file("--preferences", file)
    source = Source(file)
    frame = read_frame(source)
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
    pairs = [(name, column) for name, some in named.items() for column in some.split(",")]
    if missing := {name: column for name, column in pairs if column not in frame.columns}:
        what, are = ("columns", "are") if len(missing) > 1 else ("column", "is")
        ways = " ".join(f"--column {name}=COLUMN" for name in missing)
        raise ValueError(
            f"{source} has no {what} {' and '.join(map(repr, missing.values()))}; it has "
            f"{', '.join(map(str, frame.columns))}. Say which {are} meant by {ways}, or what kind "
            "of file it is by --form."
        )
    if items.item_names is None:
        for column in (columns.get(each, each) for each in WHO[form]):
            if len(frame) and not pd.api.types.is_numeric_dtype(frame[column]):
                raise ArgumentError(
                    f"{source} has {frame[column].iloc[0]!r} in the column {column!r}, but the "
                    "items have no names",
                    "row numbers, or --name COLUMN, the column of DATA with the names of items",
                )
    if form == "matches" and "," in columns.get("result", ""):
        columns = columns | dict(result=columns["result"].split(","))
    rows = np.arange(len(items.X)) if items.item_names is None else items.item_names
    if (again := pd.Series(rows).duplicated().to_numpy()).any():
        second, names = int(again.argmax()), rows.tolist()
        raise ArgumentError(
            f"name has {names[second]!r} in the rows {names.index(names[second])} and {second}",
            "distinct names beside --preferences",
            "Where every row that was shown has features of its own, --target CLICKED "
            "--qid SESSION learns from one file.",
        )
    return make(frame, items=rows, **columns, **({} if ties is None else dict(ties=ties)))


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
                raise ArgumentError(f"{name_of} is {value!r}", "--preferences with it")
    options = dict(kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, loss=loss)
    options |= dict(penalty=penalty, graph=graph, query_weight=query_weight, solver=solver)
    names = [Path(each).name for each in data]
    names = names if len(names) <= 3 else [*names[:3], "..."]
    about = dict(data=" ".join(names), method=method, target=target, qid=qid, name=name)
    how, prefs = dict(standardize=standardize, about=about), None
    with spoken_warnings():
        from rankbook.app.fitting import fit_model, lam_of_c

        if files is not None:
            asked = dict(preferences=preferences, method=method, name=name) | options
            for name_of, value in asked.items():
                if value not in (accepted := ACCEPTED.get(name_of, (None,))):
                    several = "and DATA is several files, which are read in blocks"
                    raise ArgumentError(
                        f"{name_of} is {value!r}, {several}", " or ".join(map(str, accepted))
                    )
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
            raise ArgumentError(f"lam is {lam!r} and -c is {c!r}", "one of the two")
        if c is not None:
            queries = lambda block: 1 if block.qid is None else len(set(block.qid.tolist()))
            lam = lam_of_c(c, blocks.reduce(queries, blocks.items))
        options |= dict(lam=lam, gamma=parse_gammas(gamma, one=True))
        if files is not None:
            options |= dict(kernel="linear", solver="newton", progress=sys.stderr.isatty())
        with sending(workers, scheduler) as send:
            how |= dict(preferences=prefs, send=send)
            model = fit_model(blocks, roles.features, method, **how, **options)
    inner, certificate = model.model, model.model.certificate_
    problem = inner.solution_.problem
    inner.set_params(**({} if files is None else dict(progress=False)))
    prefs = getattr(problem, "prefs", None) if prefs is None else prefs
    model.save(out)
    facts = dict(
        file=str(out),
        items=(n := len(blocks.items.values[0].X) if files is None else problem.facts.n_items),
        features=len(model.columns),
        preferences=None if prefs is None else len(prefs),
        model=type(inner).__name__,
        lam=float(inner.lam),
        kernel=inner.kernel,
        solver=inner.solver_,
        primal=float(certificate.primal),
        relative_gap=float(certificate.relative_gap),
        seconds=perf_counter() - start,
    )
    known = "" if prefs is None else f", {len(prefs)} preferences"
    rows = dict(
        data=f"{n} items, {facts['features']} features{known}",
        model=f"{facts['model']}, {facts['kernel']} kernel, lambda {facts['lam']:.6g}",
        solver=facts["solver"],
        certificate=f"objective {facts['primal']:.10g}, gap {abs(facts['relative_gap']):.1e}",
        written=facts["file"],
        time=f"{facts['seconds']:.1f} s",
    )
    text = "\n".join(f"{label:13}{row}" for label, row in rows.items())
    say(json.dumps(facts, indent=2) if as_json else text)
