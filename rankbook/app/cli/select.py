"""``rankbook select``: a certified choice of lambda."""

import json
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from ...base.errors import ArgumentError
from . import options as opt
from .pages import Report, check_report, write_report
from .parts import read_parts_of
from .reading import (
    asked_preferences,
    check_model,
    check_picture,
    has_pair_names,
    parse_gammas,
    parse_names,
    parse_options,
    penalty_options,
    require_cox,
    save_picture,
    spoken_warnings,
)
from .report import count, fold_report, note, report, say, shows_bars, summarize

SPARSE = "loss", "penalty", "l1_ratio", "penalty_factor"


def _foretell(data, prepared, options):
    """Print the predicted time and memory of the paths, one for each gamma, to stderr."""
    from rankbook.app.select import kernels_to_try, make_problem, penalty_of
    from rankbook.base.validation import as_positive
    from rankbook.registry.choice import compare_solvers
    from rankbook.registry.solver import auto_options

    names = ("kernel", "gamma", "degree", "coef0")
    kernels = kernels_to_try(**{name: options[name] for name in names})
    penalty = penalty_of(data, kernels[0], *(options[name] for name in SPARSE))
    problem = make_problem("ranksvm", prepared, "full", kernels[0], options["loss"], penalty)
    lam = None if options["lam_min"] is None else as_positive("lam_min", options["lam_min"])
    typer.echo(f"{count(len(kernels), 'path')} of {problem!r}, each expected to take", err=True)
    auto = auto_options(options["solver"]) or {}
    typer.echo(str(compare_solvers(problem, lam, "path", **auto)), err=True)


GroupSplit = opt.option(
    str,
    "Column of groups, such as users. All rows of a group are assigned to the same part (training,"
    " validation or test). The column is not used as a feature.",
    metavar="COLUMN",
)
Rule = opt.option(
    str,
    "How to choose lambda. widest: the middle of the widest interval with the lowest validation"
    " error. largest: the largest lambda with this error. one_se: the largest lambda whose error"
    " is within one standard error of it.",
    values="widest largest one_se",
)
Metric = opt.option(
    str,
    "Metric of the validation part that chooses lambda: disagreement, or for graded data any metric"
    " of rankbook evaluate, such as ndcg@10, average_precision, auc or precision@5. The curve of"
    " ndcg, auc, average_precision and reciprocal_rank is exact; others are measured on a grid.",
    metavar="NAME",
)
Method = opt.option(
    str,
    "ranksvm, rankrls, or rayleigh (for targets with two levels).",
    values="ranksvm rankrls rayleigh",
)
LamMax = opt.option(float, "Largest lambda to consider. Not available with cross-validation.")
Seed = opt.option(int, "Random seed of the split.")
SolverOption = Annotated[
    list[str],
    typer.Option(
        metavar="KEY=VALUE", help="Option of the solver; see rankbook solvers. Can be repeated."
    ),
]
Verbose = opt.option(
    bool,
    "Print the predicted time and memory of the path to stderr before it starts.",
    "--verbose",
    "-v",
)
Output = opt.option(
    Path, "File to save the chosen model to, for rankbook predict.", "-o", "--output", "--save"
)


FoldBy = opt.option(
    str,
    "What a fold leaves out with --preferences: item (no item is in both parts; the default), query"
    " (the default with --name QUERY,ITEM), pair, group (the default with --group or --group-split)"
    " or, with --loss plackett-luce, order.",
    values="item query pair group order",
)
Group = opt.option(
    str,
    "Column of the preference file, such as the judge. All rows of a judge stay in one fold.",
    metavar="COLUMN",
)


@dataclass
class Kernels(opt.KernelOptions):
    """Kernels to choose from."""

    gamma: opt.option(
        str,
        "Parameter of the kernels rbf and poly: a number, or several numbers separated by commas to"
        " choose from (default: 1/number of features).",
        metavar="NUMBERS",
    ) = None


def folds_of(fold_by, groups, of_queries):
    """Return what a fold leaves out, by default or as given, and the groups for it or None.

    `groups` are those of a given column, or if `of_queries` is true, the queries of items.
    """
    default = "query" if of_queries else "item" if groups is None else "group"
    by = default if fold_by is None else fold_by
    if of_queries and by != "query":
        groups = None
    if by not in ("group", "query") and groups is not None or by == "query" and default == "group":
        raise ArgumentError(f"fold_by is {by!r}, and a column of groups is given", "'group'")
    if by == "group" and groups is None:
        raise ArgumentError(
            "fold_by is 'group', but no groups are given",
            "--group with a column of --preferences, or --group-split with one of DATA",
        )
    if by == "query" and not of_queries:
        raise ArgumentError(
            "fold_by is 'query', but the preferences have no queries",
            "--name QUERY,ITEM, the columns of clicks that name query and item",
        )
    if by == "query" and len(set(groups)) == 1:
        raise ArgumentError(
            "DATA has one query with preferences", "several queries, or --fold-by pair"
        )
    return by, groups


def select(  # noqa: PLR0913 -- an option of the command each
    *,
    data: opt.Data,
    validation: opt.Validation = None,
    test: opt.Test = None,
    roles: opt.TrainingRoles,
    group_split: GroupSplit = None,
    learnt: opt.Learnt,
    preferences: opt.Events = None,
    records: opt.EventOptions,
    fold_by: FoldBy = None,
    group: Group = None,
    method: Method = "ranksvm",
    kernel: Kernels,
    loss: opt.Loss = None,
    sparse: opt.SparseOptions,
    tied_events: opt.TiedEvents = None,
    graph: opt.Graph = "full",
    lam_min: opt.LamMin = None,
    lam_max: LamMax = None,
    rule: Rule = "widest",
    metric: Metric = "disagreement",
    standardize: opt.Scale = True,
    seed: Seed = 0,
    solver: opt.SolverName = "auto",
    solver_option: SolverOption = None,
    plot: opt.Plot = None,
    report_file: Report = None,
    output: Output = None,
    as_json: opt.Json = False,
    verbose: Verbose = False,
):
    """Choose lambda on validation data, and certify the solution.

    The command searches the whole range of lambda for the value that ranks the validation set best.
    It splits DATA at random into training, validation and test sets, unless you pass files. For
    preferences and survival times without a validation file, it uses five-fold cross-validation.
    The duality gap bounds the distance of the chosen solution from the optimum. To choose few of
    many features, add --penalty l1 --kernel linear --loss logistic (or plackett-luce) --rule
    one_se. For monotonicity constraints, use rankbook fit.
    """
    options = vars(kernel) | dict(method=method, loss=loss, rule=rule)
    options |= dict(standardize=standardize, seed=seed)
    files = {part: f for part, f in dict(validation=validation, test=test).items() if f is not None}
    with spoken_warnings() as notes:
        if output is not None:
            check_model("--output", output, data, plot, preferences, *files.values())
        if plot is not None:
            check_picture(plot)
        check_report(report_file, data, output, plot, preferences, *files.values())
        of_solver = parse_options(solver_option, "--solver-option")
        options |= dict(solver=(solver, of_solver) if of_solver else solver)
        options |= dict(gamma=parse_gammas(kernel.gamma)) | penalty_options(sparse)
        asked = asked_preferences([data], preferences, **vars(records), loss=loss, name=roles.name)
        compares = asked is not None or roles.time is not None
        by_folds = compares and validation is None
        taken = (("fold_by", fold_by, compares), ("group", group, asked is not None))
        for name_of, value, is_taken in taken:
            if value is not None and not (is_taken and by_folds):
                if is_taken:
                    need = f"Omit {name_of} if --validation is given."
                    raise ArgumentError(f"{name_of} is {value!r}", need)
                raise ArgumentError(f"{name_of} is {value!r} and --preferences is missing", "both")
        if compares and metric != "disagreement":
            raise ArgumentError(
                f"metric is {metric!r}",
                "'disagreement' for preferences and survival times, which have no grades",
                "For clicks, --target CLICK --qid SESSION on a table with a row for each result"
                " shown takes any metric, and rankbook evaluate --metric measures the chosen model"
                " on graded queries."
                if asked is not None
                else "",
            )
        if compares and not by_folds and group_split is not None:
            raise ArgumentError(
                f"group_split is {group_split!r}", "Omit group_split if --validation is given."
            )
        if None not in (group, group_split):
            raise ArgumentError(
                f"group is {group!r} and --group-split is {group_split!r}", "only one of the two"
            )
        from rankbook.app.fitting import chosen_model
        from rankbook.app.folds import compared_groups, select_by_folds
        from rankbook.app.select import check_method, select_model
        from rankbook.base.jit import WAITING
        from rankbook.data.split import prepare
        from rankbook.data.table import PARTS
        from rankbook.preferences.orders import with_ties
        from rankbook.problems.free_features import naming_features

        columns = vars(roles) | dict(drop=parse_names(roles.drop))
        columns |= dict(group_split=group_split, group=group, seed=seed)
        columns |= dict(learnt=[key for key, value in vars(learnt).items() if value])
        found, groups = read_parts_of(data, files, asked, **columns)
        if tied_events is not None:
            require_cox("tied_events", tied_events, roles.time, loss)
            both = {part: with_ties(each, tied_events) for part, each in found.prefs.items()}
            found = replace(found, prefs=both)
        check_method(method, found, graph, loss, sparse.penalty)
        options |= dict(progress=shows_bars())
        before, parts = WAITING.seconds, PARTS if validation is None or test else PARTS[:2]
        ends = dict(lam_min=lam_min, lam_max=lam_max)
        if verbose and method == "ranksvm":
            how = standardize, seed, parts, kernel.kernel == "linear"
            _foretell(found, prepare(found, graph, *how)[0]["train"], options | ends)
        elif verbose:
            typer.echo(f"{method}: one decomposition, nothing is predicted", err=True)
        names = found.feature_names if found.encoding is None else found.encoding.names
        if by_folds:
            for name_of, value in ends.items():
                if value is not None:
                    raise ArgumentError(
                        f"{name_of} is {value!r}",
                        f"Omit {name_of} where lambda is chosen by folds.",
                    )
            of_queries = asked is not None and has_pair_names(asked) and not (group or group_split)
            n_groups, n_idle = 0, 0
            if asked is not None and groups is not None and group is None:
                n_groups = len(set(groups))
                groups, n_idle = compared_groups(groups, found.prefs["train"])
            by, groups = folds_of(fold_by, groups, of_queries)
            if n_idle and by in ("query", "group"):
                what = count(n_groups, by)
                note(f"{n_idle} of {what} have no preferences; the folds divide the others.")
            by = "pair" if group is not None else by  # whole groups of pairs
            try:
                with naming_features(names):
                    result = select_by_folds(found, fold_by=by, groups=groups, **options)
            except ArgumentError as error:
                of_group = group is not None and error.argument == "groups"
                raise error.renamed("group") if of_group else error
        else:
            options |= dict(metric=metric)
            with naming_features(names):
                result = select_model(found, graph=graph, parts=parts, **options, **ends)
        facts = result.summary()
        facts["seconds"] = facts["seconds"] | dict(compiling=WAITING.seconds - before)
        lines = fold_report if by_folds else report
        if as_json:
            say(json.dumps(facts, indent=2, allow_nan=False))
        else:
            (say if output is None else summarize)("\n".join(lines(facts)))
        for text in facts["notes"]:
            note(text)
        if output is not None:
            about = {key: columns[key] for key in opt.ABOUT}
            chosen_model(result, about).save(output)
        if plot is not None:
            save_picture(result.figure(), plot)
        next_one = (
            [] if output is None else [shlex.join(["rankbook", "predict", str(output), "NEW.csv"])]
        )
        write_report(report_file, result, commands=next_one, title=f"Model for {data}", notes=notes)
