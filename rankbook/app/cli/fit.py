"""``rankbook fit``: a model at a given lambda."""

import json
import shlex
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from logging import ERROR
from pathlib import Path
from time import perf_counter

from ...base.errors import ArgumentError
from . import options as opt
from .pages import Report, check_report, write_report
from .predict_evaluate import load_model
from .reading import (
    DataFiles,
    advice_on_words,
    asked_preferences,
    check_model,
    open_file_blocks,
    parse_gammas,
    parse_names,
    parse_signs,
    penalty_options,
    preferences_between,
    refuse_beside,
    require_cox,
    several_files,
    spoken_warnings,
)
from .report import count, say, shows_bars, summarize

# options of a fit in blocks
ACCEPTED = dict(method=("ranksvm",), kernel=("linear", None), penalty=("l2", None))
ACCEPTED |= dict(
    loss=("hinge", "squared", "logistic", None), graph=("full", None), solver=("newton", "auto")
)


Workers = opt.option(int, "Number of Dask worker processes on this machine. DATA must be files.")
Scheduler = opt.option(
    str,
    "Address of a Dask cluster that does the computation, such as tcp://HOST:8786.",
    metavar="ADDRESS",
)


@contextmanager
def sending(workers=None, scheduler=None):
    """Context with a function that sends blocks to a Dask cluster, or None.

    A local cluster is closed at its end.
    """
    if workers is None and scheduler is None:
        yield None
        return
    if None not in (workers, scheduler):
        raise ArgumentError(
            f"--workers is {workers} and --scheduler is {scheduler!r}", "only one of the two"
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


Output = opt.option(Path, "File to write the model to.", "-o", "--output", "--out")
Method = opt.option(str, "Method: ranksvm or rankrls.", values="ranksvm rankrls")
Lam = opt.option(
    float,
    "Regularization parameter lambda, in units of the summed loss of all preferences (default:"
    " that of the model of --start, or computed from the scale of the data). rankbook select"
    " chooses it by validation.",
)
C = opt.option(
    float,
    "Parameter C of svm_rank_learn, instead of --lam: lambda = number of queries / C.",
    "-c",
    "--c",
)
Signs = opt.option(
    list[str],
    "Monotonicity constraint for a linear kernel. NAME=+1: the score never decreases when the"
    " feature increases. NAME=-1: the score never increases. Can be repeated.",
    "--sign",
    metavar="NAME=SIGN",
)
QueryWeight = opt.option(
    str,
    "equal: scale the weights of preferences so that they sum to 1 in each query.",
    values="equal",
)


Start = opt.option(
    str,
    "Model of an earlier fit to the same features, with --kernel linear: Newton's method starts at"
    " its weights and takes fewer steps. The lambda of a model with the same loss is used, too,"
    " unless you pass --lam or -c. The file may be that of --output. Leave the option out of the"
    " first fit, because the file must exist.",
    "--start",
    metavar="MODEL",
)
Coefficients = opt.option(
    bool,
    "Print a table of coefficients with hazard or odds ratios, standard errors, intervals and p"
    " values, and keep it in the model for rankbook info. The table needs --kernel linear and"
    " --loss plackett-luce or logistic. For the usual unpenalized table add --lam 1e-6. With"
    " --encode, ratios of categories refer to one of them; see --reference.",
    "--coefficients",
)
Reference = opt.option(
    list[str],
    "Category that the others of its column are compared with in the table of --coefficients, with"
    " --encode (default: the first in sorted order). The text is a whole name of a feature, so"
    " columns and categories may contain =. Can be repeated for other columns.",
    "--reference",
    metavar="COLUMN=CATEGORY",
)
Robust = opt.option(bool, "Standard errors of --coefficients by the sandwich estimate.", "--robust")
Cluster = opt.option(
    str,
    "Column of clusters of dependent rows, such as the patient of each row or the hospital, for"
    " standard errors of --coefficients by the sandwich estimate. With --preferences a column of"
    " that file, such as the judge.",
    metavar="COLUMN",
)


@dataclass
class FitKernel(opt.KernelOptions):
    """Kernel of a fit."""

    kernel: opt.option(
        str,
        "Kernel: rbf (default), linear (default for several files) or poly.",
        "--kernel",
        values="rbf linear poly",
    ) = None


def fit(  # noqa: PLR0913 -- an option of the command each
    *,
    data: DataFiles,
    output: Output,
    roles: opt.TrainingRoles,
    learnt: opt.Learnt,
    preferences: opt.Events = None,
    records: opt.EventOptions,
    method: Method = "ranksvm",
    lam: Lam = None,
    c: C = None,
    kernel: FitKernel,
    loss: opt.Loss = None,
    sparse: opt.SparseOptions,
    sign: Signs = None,
    graph: opt.Graph = None,
    query_weight: QueryWeight = None,
    tied_events: opt.TiedEvents = None,
    coefficients: Coefficients = False,
    reference: Reference = None,
    robust: Robust = False,
    cluster: Cluster = None,
    standardize: opt.Scale = True,
    solver: opt.SolverName = "auto",
    start: Start = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    report_file: Report = None,
    as_json: opt.Json = False,
):
    """Fit a ranker for one value of lambda and save it.

    All items of DATA are used for training. The preferences come from a column of targets, two
    columns of survival times, or a separate file of preferences.
    """
    files, begin = several_files(data, always=(workers, scheduler) != (None, None)), perf_counter()
    check_model("--output", output, *(files or data), preferences)
    check_report(report_file, *(files or data), output, preferences)
    if report_file is not None and files is not None:
        raise ArgumentError(
            f"--report is {str(report_file)!r} and DATA names several files", "one file as DATA"
        )
    asked = asked_preferences(data, preferences, **vars(records), loss=loss, name=roles.name)
    options = vars(kernel) | dict(loss=loss, graph=graph) | penalty_options(sparse)
    options |= dict(query_weight=query_weight, solver=solver)
    names = [Path(each).name for each in data]
    names = names if len(names) <= 3 else [*names[:3], "..."]
    columns = vars(roles) | dict(drop=parse_names(roles.drop))
    about = dict(data=" ".join(names), method=method) | {key: columns[key] for key in opt.ABOUT}
    how, prefs, clusters = dict(standardize=standardize, about=about), None, None
    with spoken_warnings() as notes:
        from rankbook.app.fitting import fit_model, lam_of_c
        from rankbook.preferences.orders import survival_target, with_ties

        if start is not None and files is None:
            if (method, kernel.kernel) != ("ranksvm", "linear"):
                raise ArgumentError(
                    f"start is {start!r}, and the model is not a linear ranking SVM",
                    "--kernel linear and --method ranksvm",
                )
            how["start"] = load_model(start, "start")

        if files is not None:
            given = dict(preferences=preferences, method=method, name=roles.name, start=start)
            given |= options
            given |= dict(time=roles.time, event=roles.event, entry=roles.entry, cluster=cluster)
            given |= {key: value or None for key, value in vars(learnt).items()}
            for name_of, value in given.items():
                if value not in (accepted := ACCEPTED.get(name_of, (None,))):
                    several = "and DATA names several files, which are read in blocks"
                    raise ArgumentError(
                        f"{name_of} is {value!r}, {several}", " or ".join(map(str, accepted))
                    )
        columns |= dict(learnt=[key for key, value in vars(learnt).items() if value])
        if cluster is not None and not coefficients:
            raise ArgumentError(f"cluster is {cluster!r} and --coefficients is missing", "both")
        columns |= dict(cluster=cluster) if asked is None else {}
        one = files is None
        parts = dict(name=roles.name, qid=roles.qid) if one else dict(qid=roles.qid)
        with advice_on_words(roles.target, one, **parts):
            blocks, found = open_file_blocks(data, files, needs_target=asked is None, **columns)
        if asked is not None:
            refuse_beside(time=roles.time, event=roles.event, entry=roles.entry)
            refuse_beside(target=roles.target, graph=graph, query_weight=query_weight)
            (block,) = blocks.items.values
            group = {} if cluster is None else dict(group=cluster, argument="cluster")
            prefs = preferences_between(asked, block.X.shape[0], block.item_names, **group)
            prefs, clusters = (prefs, None) if cluster is None else prefs
        if tied_events is not None:
            require_cox("tied_events", tied_events, roles.time, loss)
            (block,) = blocks.items.values
            prefs = with_ties(survival_target(block.y, block.qid), tied_events)
        if robust and not coefficients:
            raise ArgumentError("robust is True and --coefficients is missing", "both")
        likely = loss in ("plackett-luce", "logistic") and kernel.kernel == "linear"
        if coefficients and not (likely and sparse.penalty in (None, "l2") and not sign):
            raise ArgumentError(
                "coefficients is True, but this model has no table of coefficients",
                "--kernel linear and --loss plackett-luce or logistic, without --sign",
            )
        if reference and not coefficients:
            raise ArgumentError(
                f"reference is {reference[0]!r} and --coefficients is missing", "both"
            )
        if reference:
            from rankbook.estimators.coefficients import references

            references(found.encoding, reference)  # refuses unknown ones before the fit
        if None not in (lam, c):
            raise ArgumentError(f"lam is {lam!r} and -c is {c!r}", "only one of the two")
        why = "" if (lam, c) != (None, None) else ", the default for the scale of these data"
        if start is not None and why:
            earlier = getattr(how["start"], "model", how["start"])
            if getattr(earlier, "loss", None) == (loss or "hinge"):
                lam, why = earlier.lam_, ", that of --start"
            else:
                why += ", because the model of --start has another loss"
        if c is not None:
            queries = lambda block: 1 if block.qid is None else len(set(block.qid.tolist()))
            lam = lam_of_c(c, blocks.reduce(queries, blocks.items))
        options |= dict(lam=lam, gamma=parse_gammas(kernel.gamma, one=True))
        options |= dict(signs=parse_signs(sign))
        if files is not None:
            options |= dict(kernel="linear", solver="newton")
        if method == "ranksvm":
            options |= dict(progress=shows_bars())
        with sending(workers, scheduler) as send:
            how |= dict(preferences=prefs, send=send, encoding=found.encoding)
            model = fit_model(blocks, found.features, method, **how, **options)
        if coefficients:
            from rankbook.app.coefficients import stored_table
            from rankbook.estimators.coefficients import coefficient_table

            if cluster is not None and clusters is None:
                (block,) = blocks.items.values
                clusters = block.cluster
            more = dict(robust=robust, cluster=clusters, reference=reference or ())
            table = coefficient_table(model, **more)
            model.about["coefficients"] = stored_table(table, cluster)
    inner, certificate = model.model, model.model.certificate_
    problem = inner.solution_.problem
    if method == "ranksvm":
        inner.set_params(progress=False)  # saved models show no progress
    prefs = getattr(problem, "prefs", None) if prefs is None else prefs
    survival = None if files is not None else blocks.items.values[0].y
    survival = None if survival is None or survival.dtype.names is None else survival
    model.save(output)
    if report_file is not None:
        (block,) = blocks.items.values
        given = (block.y, block.qid) if asked is None else ()
        more = dict(names=block.item_names, notes=notes, preferences=prefs if asked else None)
        more["commands"] = [shlex.join(["rankbook", "evaluate", str(output), "NEW.csv"])]
        write_report(report_file, model, block.X, *given, title=Path(data[0]).name, **more)
    facts = dict(
        file=str(output),
        items=(n := blocks.items.values[0].X.shape[0] if files is None else problem.facts.n_items),
        events=None if survival is None else int(survival["event"].sum()),
        features=model.centre.size,
        preferences=None if prefs is None else len(prefs),
        model=type(inner).__name__,
        lam=float(inner.lam_),
        kernel=inner.kernel,
        solver=inner.solver_,
        primal=float(certificate.primal),
        relative_gap=float(certificate.relative_gap),
        seconds=perf_counter() - begin,
    )
    known = "" if prefs is None else f", {count(len(prefs), 'preference')}"
    events = "" if survival is None else f", {count(facts['events'], 'event')}"
    rows = dict(
        data=f"{count(n, 'item')}{events}, {count(facts['features'], 'feature')}{known}",
        model=f"{facts['model']}, {facts['kernel']} kernel, lambda {facts['lam']:.6g}{why}",
        solver=facts["solver"],
        certificate=f"objective {facts['primal']:.10g}, gap {abs(facts['relative_gap']):.1e}",
        written=facts["file"],
        time=f"{facts['seconds']:.1f} s",
    )
    if coefficients:
        from rankbook.app.coefficients import table_rows, table_text

        table = table_rows(output, dict(about=model.about))
        facts["coefficients"] = table[0]
    if as_json:
        return say(json.dumps(facts, indent=2))
    summarize("\n".join(f"{label:13}{row}" for label, row in rows.items()) + "\n" * coefficients)
    if coefficients:
        say(table_text(*table))
