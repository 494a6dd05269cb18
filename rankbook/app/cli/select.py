"""``rankbook select``: a certified choice of lambda."""

import json
import sys
from pathlib import Path

import typer

from .options import (
    Coef0,
    Data,
    Degree,
    Drop,
    Gamma,
    Graph,
    GroupSplit,
    Json,
    Kernel,
    LamMax,
    LamMin,
    Method,
    Plot,
    Qid,
    Rule,
    Scale,
    Seed,
    SolverName,
    SolverOption,
    Target,
    Verbose,
    option,
)
from .reading import (
    check_picture,
    check_place,
    parse_gammas,
    parse_names,
    parse_options,
    read_data,
    save_picture,
    spoken_warnings,
)
from .report import count, report, say


def _foretell(data, options):
    """Say on stderr what a path of a ranking SVM is expected to take, one for each gamma."""
    from rankbook.app.select import kernels_to_try
    from rankbook.base.validation import as_positive
    from rankbook.data.split import prepare
    from rankbook.kernels.kernel import Kernel
    from rankbook.problems.ranksvm import RankSVMProblem
    from rankbook.registry.choice import compare_solvers
    from rankbook.registry.solver import auto_options

    names = ("kernel", "gamma", "degree", "coef0")
    kernels = kernels_to_try(**{name: options[name] for name in names})
    parts = prepare(data, options["graph"], options["standardize"], options["seed"])[0]
    problem = RankSVMProblem(parts["train"].X, parts["train"].prefs, Kernel(**kernels[0]))
    lam = None if options["lam_min"] is None else as_positive("lam_min", options["lam_min"])
    typer.echo(f"{count(len(kernels), 'path')} of {problem!r}, each expected to take", err=True)
    auto = auto_options(options["solver"]) or {}
    typer.echo(str(compare_solvers(problem, lam, "path", **auto)), err=True)


Save = option(Path, "Keep the chosen model in this file, for rankbook predict.", "--save")


def select(  # noqa: PLR0913 -- an option of the command each
    data: Data,
    target: Target = None,
    qid: Qid = None,
    drop: Drop = None,
    group_split: GroupSplit = None,
    method: Method = "ranksvm",
    kernel: Kernel = "rbf",
    gamma: Gamma = None,
    degree: Degree = None,
    coef0: Coef0 = None,
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
    """Choose lambda by validation data, and certify the choice.

    Its whole range is searched for the best order of the validation part, and the solution there
    comes with a proof that it is optimal.
    """
    options = dict(method=method, kernel=kernel, degree=degree, coef0=coef0, graph=graph)
    options |= dict(lam_min=lam_min, lam_max=lam_max, rule=rule, standardize=standardize)
    with spoken_warnings():
        if save is not None:
            check_place("--save", save, data, plot)
        if plot is not None:
            check_picture(plot)
        of_solver = parse_options(solver_option, "--solver-option")
        options |= dict(seed=seed, solver=(solver, of_solver) if of_solver else solver)
        options |= dict(gamma=parse_gammas(gamma))
        columns = dict(source=data, target=target, qid=qid, drop=parse_names(drop))
        columns |= dict(group_split=group_split)
        from rankbook.app.fitting import chosen_model
        from rankbook.app.select import select_model
        from rankbook.base.jit import WAITING

        found = read_data(**columns)
        if verbose and method == "ranksvm":
            _foretell(found, options)
        elif verbose:
            typer.echo(f"{method}: one decomposition, nothing is predicted", err=True)
        before = WAITING.seconds
        result = select_model(found, progress=sys.stderr.isatty(), **options)
        facts = result.summary()
        facts["seconds"] = facts["seconds"] | dict(compiling=WAITING.seconds - before)
        say(json.dumps(facts, indent=2, allow_nan=False) if as_json else "\n".join(report(facts)))
        for note in facts["notes"]:
            say(f"rankbook: note: {note}", err=True)
        if save is not None:
            chosen_model(result, dict(target=target, qid=qid)).save(save)
        if plot is not None:
            save_picture(result.figure(), plot)
