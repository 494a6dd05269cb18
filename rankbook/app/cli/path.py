"""``rankbook path``: the events of a regularization path as a table."""

import json
import math
from dataclasses import replace
from pathlib import Path

from . import options as opt
from .pages import Report, check_report, write_report
from .parts import read_parts_of
from .reading import (
    asked_preferences,
    check_model,
    check_table,
    parse_gammas,
    parse_names,
    refuse_two,
    spoken_warnings,
)
from .report import best_lines, count, say, shows_bars, summarize

Output = opt.option(
    str,
    "File to write the events to: .csv .tsv .parquet, or - for standard output.",
    "-o",
    "--output",
    "--out",
    metavar="FILE",
)
Keep = opt.option(Path, "File to save the whole path to, for rankbook.load in Python.", "--save")


def path(  # noqa: PLR0913 -- an option of the command each
    *,
    data: opt.Data,
    output: Output = None,
    save: Keep = None,
    validation: opt.Validation = None,
    test: opt.Test = None,
    roles: opt.TrainingRoles,
    preferences: opt.Events = None,
    records: opt.EventOptions,
    kernel: opt.KernelOptions,
    graph: opt.Graph = "full",
    lam_min: opt.LamMin = None,
    standardize: opt.Scale = True,
    report_file: Report = None,
    as_json: opt.Json = False,
):
    """Compute the regularization path of the ranking SVM.

    The command writes the events of the path to a table. All items of DATA are used for training.
    Without -o the command prints a summary. With a validation or test set, the table has a column
    with the share of its preferences that are in the wrong order just below each event.
    """
    from rankbook.app.select import check_method, kernels_to_try
    from rankbook.data.split import prepare
    from rankbook.data.table import Dataset
    from rankbook.data.writers import TABLES, write_frame
    from rankbook.kernels.kernel import Kernel
    from rankbook.problems.ranksvm import RankSVMProblem
    from rankbook.registry.solve import solve_path
    from rankbook.selection.curve import validation_curve

    files = {part: f for part, f in dict(validation=validation, test=test).items() if f is not None}
    if save is not None:
        check_model("--save", save, data, output, preferences, *files.values())
    if output is not None:
        check_table("--output", output, TABLES, data, preferences, *files.values())
    check_report(report_file, data, output, save, preferences, *files.values())
    refuse_two(as_json, output)
    with spoken_warnings() as notes:
        asked = asked_preferences([data], preferences, **vars(records), name=roles.name)
        columns = vars(roles) | dict(drop=parse_names(roles.drop))
        items, _ = read_parts_of(data, files, asked, **columns)
        gamma = parse_gammas(kernel.gamma, one=True)
        options, *_ = kernels_to_try(**vars(kernel) | dict(gamma=gamma))
        check_method("ranksvm", items, graph)
        if isinstance(items, Dataset) and not files:
            items = replace(items, parts=None)  # all items of a built-in data set
        parts = prepare(items, graph, standardize, parts=("train", *files))[0]
        train = parts["train"]
        problem = RankSVMProblem(train.X, train.prefs, Kernel(**options))
        found = solve_path(problem, lam_min, solver="path", progress=shows_bars())
        curves = {part: validation_curve(found, parts[part].X, parts[part].prefs) for part in files}
        if save is not None:
            found.save(save)
        given = ()
        if "validation" in parts:
            given = parts["validation"].X, None, None
        prefs = parts["validation"].prefs if given else None
        title = f"Regularization path of {data}"
        write_report(report_file, found, *given, preferences=prefs, title=title, notes=notes)
        if output is not None:
            table = found.to_frame()
            for part, curve in curves.items():
                inside = table["lam"] > curve.breaks[-1]
                table.loc[inside, part] = curve.at(table["lam"][inside].to_numpy())
            write_frame(table, output)
    facts = dict(
        status=found.status,
        events=len(found.events),
        breakpoints=int(found.breakpoints.size),
        lam_max=float(found.problem.lam_max),
        lam_end=found.domain[0],
        preferences=len(found.problem.prefs),
        items=found.problem.prefs.n_items,
        solver=found.solver,
    )
    text = [repr(found)]
    if getattr(items, "events", None) is not None:
        sizes = f"{count(items.X.shape[0], 'item')}, {count(items.events, 'event')}"
        text.append(f"{'data':13}{sizes} of survival times")
    if "validation" in curves:
        curve = curves["validation"]
        lam = curve.choose()
        best = [[low, high if high < math.inf else None] for low, high in curve.best]
        chosen = dict(lam=lam, best=best, minimum=curve.minimum)
        chosen |= {part: float(each.at(lam)) for part, each in curves.items()}
        facts |= dict(chosen=chosen)
        shown = dict(
            minimum=curve.minimum, best=best, exact=curve.exact, intervals=curve.values.size
        )
        rows, said = best_lines(shown, lam)
        rows.append(("chosen", f"{said} (middle of the widest interval)"))
        if test is not None:
            rows.append(("test", f"{chosen['test']:.6f} of the test preferences there"))
        text += [f"{label:13}{row}" for label, row in rows]
    if as_json:
        return say(json.dumps(facts))
    (say if (output, save) == (None, None) else summarize)("\n".join(text), err=output == "-")
