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
    from rankbook.app.select import kernels_to_try
    from rankbook.data.split import scaling
    from rankbook.data.writers import TABLES, write_frame
    from rankbook.kernels.kernel import Kernel
    from rankbook.preferences.graph import Preferences
    from rankbook.problems.ranksvm import RankSVMProblem
    from rankbook.registry.solve import solve_path

    if save is not None:
        check_place("--save", save, data, out)
    if out is not None:
        check_table("--out", out, TABLES, data)
    refuse_two(as_json, out)
    with spoken_warnings():
        items = read_data(data, target, qid, parse_names(drop))
        options, *_ = kernels_to_try(kernel, parse_gammas(gamma, one=True), degree, coef0)
        centre, factor = scaling(items.X) if standardize else (0.0, 1.0)
        prefs = Preferences.from_scores(items.y, items.qid, graph)
        if len(prefs) == 0:
            where = "" if items.qid is None else " in every query"
            said = f"data ({len(items.y)} items) has no preference: all y are equal{where}"
            raise ArgumentError(said, "at least one")
        problem = RankSVMProblem((items.X - centre) * factor, prefs, Kernel(**options))
        found = solve_path(problem, lam_min, solver="path", progress=sys.stderr.isatty())
        if save is not None:
            found.save(save)
        if out is not None:
            write_frame(found.to_frame(), out)
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
    say(json.dumps(facts) if as_json else repr(found), err=out == "-")
