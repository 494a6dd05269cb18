"""``rankbook select``: a certified choice of lambda."""

import json
import sys
from pathlib import Path

import typer

from ...base.errors import ArgumentError
from .options import (
    Coef0,
    Columns,
    Data,
    Degree,
    Drop,
    Encode,
    Event,
    Events,
    Form,
    Gamma,
    Graph,
    GroupSplit,
    Impute,
    Json,
    Kernel,
    LamMax,
    LamMin,
    Loser,
    Loss,
    Method,
    Name,
    Plot,
    Qid,
    Results,
    Rule,
    Scale,
    Seed,
    SolverName,
    SolverOption,
    Target,
    Test,
    Ties,
    Time,
    Validation,
    Verbose,
    Weight,
    Winner,
    option,
)
from .parts import read_parts_of
from .reading import (
    asked_preferences,
    check_picture,
    check_place,
    parse_gammas,
    parse_names,
    parse_options,
    save_picture,
    spoken_warnings,
)
from .report import count, fold_report, report, say


def _foretell(prepared, options):
    """Print the predicted time and memory of the paths, one for each gamma, to stderr."""
    from rankbook.app.select import kernels_to_try, make_problem
    from rankbook.base.validation import as_positive
    from rankbook.registry.choice import compare_solvers
    from rankbook.registry.solver import auto_options

    names = ("kernel", "gamma", "degree", "coef0")
    kernels = kernels_to_try(**{name: options[name] for name in names})
    problem = make_problem("ranksvm", prepared, "full", kernels[0], options["loss"])
    lam = None if options["lam_min"] is None else as_positive("lam_min", options["lam_min"])
    typer.echo(f"{count(len(kernels), 'path')} of {problem!r}, each expected to take", err=True)
    auto = auto_options(options["solver"]) or {}
    typer.echo(str(compare_solvers(problem, lam, "path", **auto)), err=True)


Save = option(Path, "File to save the chosen model to, for rankbook predict.", "--save")


FoldBy = option(
    str,
    "What a fold leaves out with --preferences: item (no item is in both parts; the default), pair,"
    " group (the default with --group or --group-split) or, with --loss plackett-luce, order.",
    values="item pair group order",
)
Group = option(
    str,
    "Column of the preference file, such as the judge. All rows of a judge stay in one fold.",
)


def select(  # noqa: PLR0913 -- an option of the command each
    data: Data,
    validation: Validation = None,
    test: Test = None,
    target: Target = None,
    time: Time = None,
    event: Event = None,
    qid: Qid = None,
    name: Name = None,
    drop: Drop = None,
    group_split: GroupSplit = None,
    encode: Encode = False,
    impute: Impute = False,
    preferences: Events = None,
    form: Form = None,
    winner: Winner = None,
    loser: Loser = None,
    weight: Weight = None,
    results: Results = None,
    column: Columns = None,
    ties: Ties = None,
    fold_by: FoldBy = None,
    group: Group = None,
    method: Method = "ranksvm",
    kernel: Kernel = "rbf",
    gamma: Gamma = None,
    degree: Degree = None,
    coef0: Coef0 = None,
    loss: Loss = None,
    graph: Graph = "full",
    lam_min: LamMin = None,
    lam_max: LamMax = None,
    rule: Rule = "widest",
    standardize: Scale = True,
    seed: Seed = 0,
    solver: SolverName = "auto",
    solver_option: SolverOption = None,
    plot: Plot = None,
    save: Save = None,
    as_json: Json = False,
    verbose: Verbose = False,
):
    """Choose lambda on validation data, and certify the solution.

    The command searches the whole range of lambda for the value that ranks the validation set best.
    It splits DATA at random into training, validation and test sets, unless you pass files. For
    preferences and survival times without a validation file, it uses five-fold cross-validation.
    The duality gap proves that the chosen solution is optimal. For an L1 penalty or monotonicity
    constraints, use rankbook fit.
    """
    options = dict(method=method, kernel=kernel, degree=degree, coef0=coef0, loss=loss, rule=rule)
    options |= dict(standardize=standardize, seed=seed)
    files = {part: f for part, f in dict(validation=validation, test=test).items() if f is not None}
    with spoken_warnings():
        if save is not None:
            check_place("--save", save, data, plot, preferences, *files.values())
        if plot is not None:
            check_picture(plot)
        of_solver = parse_options(solver_option, "--solver-option")
        options |= dict(solver=(solver, of_solver) if of_solver else solver)
        options |= dict(gamma=parse_gammas(gamma))
        asked = dict(form=form, column=column, ties=ties, results=results)
        asked |= dict(winner=winner, loser=loser, weight=weight)
        asked |= dict(loss=loss)
        asked = asked_preferences([data], preferences, **asked)
        compares = asked is not None or time is not None
        by_folds = compares and validation is None
        taken = (("fold_by", fold_by, compares), ("group", group, asked is not None))
        for name_of, value, is_taken in taken:
            if value is not None and not (is_taken and by_folds):
                need = "no value beside --validation" if is_taken else "--preferences with it"
                raise ArgumentError(f"{name_of} is {value!r}", need)
        if compares and not by_folds and group_split is not None:
            raise ArgumentError(f"group_split is {group_split!r}", "no value beside --validation")
        if None not in (group, group_split):
            raise ArgumentError(
                f"group is {group!r} and --group-split is {group_split!r}", "one of the two"
            )
        from rankbook.app.fitting import chosen_model
        from rankbook.app.folds import select_by_folds
        from rankbook.app.select import check_method, select_model
        from rankbook.base.jit import WAITING
        from rankbook.data.split import prepare
        from rankbook.data.table import PARTS

        columns = dict(target=target, time=time, event=event, qid=qid, name=name)
        columns |= dict(drop=parse_names(drop))
        columns |= dict(group_split=group_split, group=group, seed=seed)
        columns |= dict(learnt=["encode"] * encode + ["impute"] * impute)
        found, groups = read_parts_of(data, files, asked, **columns)
        check_method(method, found, graph, loss)
        options |= dict(progress=sys.stderr.isatty())
        before, parts = WAITING.seconds, PARTS if validation is None or test else PARTS[:2]
        ends = dict(lam_min=lam_min, lam_max=lam_max)
        if verbose and method == "ranksvm":
            how = standardize, seed, parts, kernel == "linear"
            _foretell(prepare(found, graph, *how)[0]["train"], options | ends)
        elif verbose:
            typer.echo(f"{method}: one decomposition, nothing is predicted", err=True)
        if by_folds:
            for name_of, value in ends.items():
                if value is not None:
                    raise ArgumentError(
                        f"{name_of} is {value!r}", "no value where lambda is chosen by folds"
                    )
            by = fold_by or ("item" if groups is None else "group")
            if by != "group" and groups is not None:
                raise ArgumentError(f"fold_by is {by!r} beside a column of groups", "'group'")
            if by == "group" and groups is None:
                raise ArgumentError(
                    "fold_by is 'group'",
                    "--group with a column of --preferences, or --group-split with one of DATA",
                )
            by = "pair" if group is not None else by  # whole groups of pairs
            try:
                result = select_by_folds(found, fold_by=by, groups=groups, **options)
            except ArgumentError as error:
                of_group = group is not None and error.argument == "groups"
                raise error.renamed("group") if of_group else error
        else:
            result = select_model(found, graph=graph, parts=parts, **options, **ends)
        facts = result.summary()
        facts["seconds"] = facts["seconds"] | dict(compiling=WAITING.seconds - before)
        lines = fold_report if by_folds else report
        say(json.dumps(facts, indent=2, allow_nan=False) if as_json else "\n".join(lines(facts)))
        for note in facts["notes"]:
            say(f"rankbook: note: {note}", err=True)
        if save is not None:
            about = {key: columns[key] for key in ("target", "time", "event", "qid", "name")}
            chosen_model(result, about).save(save)
        if plot is not None:
            save_picture(result.figure(), plot)
