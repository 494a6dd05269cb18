"""``rankbook path``: the events of a regularization path as a table."""

import json
import sys
from pathlib import Path

from ...base.errors import ArgumentError
from .options import (
    Coef0,
    Data,
    Degree,
    Drop,
    Graph,
    Json,
    Kernel,
    LamMin,
    OneGamma,
    Qid,
    Scale,
    Target,
    option,
)
from .reading import (
    check_place,
    check_table,
    parse_gammas,
    parse_names,
    read_data,
    refuse_two,
    spoken_warnings,
)
from .report import say

Events = option(
    str, "Write the events to this file: .csv .tsv .parquet; - for standard output.", "-o", "--out"
)
Keep = option(Path, "Keep the whole path in this file, for rankbook.load.", "--save")


def whole_path(data, kernel, gamma, degree, coef0, graph, lam_min, standardize):
    """The exact path of the ranking SVM on all items of a data set."""
    from rankbook.app.select import kernels_to_try
    from rankbook.data.split import scaling
    from rankbook.kernels.kernel import Kernel
    from rankbook.preferences.graph import Preferences
    from rankbook.problems.ranksvm import RankSVMProblem
    from rankbook.registry.solve import solve_path

    kernels = kernels_to_try(kernel, parse_gammas(gamma), degree, coef0)
    if len(kernels) > 1:
        raise ArgumentError(f"gamma is {gamma!r}", "one number, since there is one path")
    centre, factor = scaling(data.X) if standardize else (0.0, 1.0)
    prefs = Preferences.from_scores(data.y, data.qid, graph)
    if len(prefs) == 0:
        raise ArgumentError(
            f"data ({len(data.y)} items) has no preference: all y are equal"
            f"{'' if data.qid is None else ' in every query'}",
            "at least one",
        )
    problem = RankSVMProblem((data.X - centre) * factor, prefs, Kernel(**kernels[0]))
    return solve_path(problem, lam_min, solver="path", progress=sys.stderr.isatty())


def path(  # noqa: PLR0913 -- an option of the command each
    data: Data,
    out: Events = None,
    save: Keep = None,
    target: Target = None,
    qid: Qid = None,
    drop: Drop = None,
    kernel: Kernel = "rbf",
    gamma: OneGamma = None,
    degree: Degree = None,
    coef0: Coef0 = None,
    graph: Graph = "full",
    lam_min: LamMin = None,
    standardize: Scale = True,
    as_json: Json = False,
):
    """Follow every solution of the ranking SVM; write the events.

    All items are learnt from. Without -o a summary is printed.
    """
    from rankbook.data.writers import TABLES, write_frame

    if save is not None:
        check_place("--save", save, data, out)
    if out is not None:
        check_table("--out", out, TABLES, data)
    refuse_two(as_json, out)
    with spoken_warnings():
        items = read_data(data, target, qid, parse_names(drop))
        found = whole_path(items, kernel, gamma, degree, coef0, graph, lam_min, standardize)
        if save is not None:
            found.save(save)
        if out is not None:
            write_frame(found.to_frame(), out)
    said = json.dumps(path_facts(found)) if as_json else repr(found)
    say(said, err=out == "-")


def path_facts(path):
    """How far a path goes and how it ended, as plain Python values."""
    return dict(
        status=path.status,
        events=len(path.events),
        breakpoints=int(path.breakpoints.size),
        lam_max=float(path.problem.lam_max),
        lam_end=path.domain[0],
        preferences=len(path.problem.prefs),
        items=path.problem.prefs.n_items,
        solver=path.solver,
    )
