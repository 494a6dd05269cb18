"""Measure how long each solver of the ranking SVM takes, for nbs/registry/choice.ipynb.

    python tools/costs.py               writes nbs/registry/costs.csv, in a quarter of an hour
    python tools/costs.py path qp       measures these solvers anew, and keeps the other rows

Each case runs in a fresh Python on one thread, so that what a solver has to import and to load
counts, too; what has to be compiled was compiled before. Times are processor seconds.
"""

import csv
import os
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "nbs" / "registry" / "costs.csv"
COLUMNS = [
    "solver",
    "kernel",
    "loss",
    "items",
    "features",
    "block",
    "graph",
    "margin",
    "preferences",
    "lam",
    "lam_max",
    "seconds",
    "gap",
    "fall",
    "rank",
]


def cases():
    """(solver, kernel, loss, items, features, items of a query) of each case.

    With a seventh, lam is that share of lam_max, and else so many preferences times 1e-4; the
    eighth is the graph, if it is not the full one. The ninth is "listed" for pairs with the margin
    one, and "noisy" or "exact" for margins that are differences of scores with noise or without.
    """
    for n, block in product((100, 400, 1000, 2000), (50, 100_000)):
        yield "interior", "rbf", "hinge", n, 10, min(n, block)
    for n, block in ((500, 50), (5000, 50), (50_000, 50), (500, 500), (2000, 2000)):
        yield "interior", "linear", "hinge", n, 10, block
        yield "newton", "linear", "hinge", n, 10, block
    yield "newton", "linear", "hinge", 200_000, 10, 50
    yield "newton", "linear", "hinge", 20_000, 100, 50
    yield "interior", "linear", "hinge", 20_000, 100, 50
    yield "interior", "rbf", "squared", 400, 10, 50
    yield "newton", "linear", "squared", 5000, 10, 50
    for n, block in ((50, 50), (100, 100), (200, 200), (200, 50), (400, 50)):
        yield "path", "rbf", "hinge", n, 10, block
        yield "qp", "rbf", "hinge", n, 10, block
    for n, block in ((100, 50), (400, 50), (800, 50), (800, 100), (200, 200), (400, 400)):
        yield "whole path", "rbf", "hinge", n, 10, block
    for n, block in ((400, 50), (2000, 50), (400, 400)):
        yield "whole path", "linear", "hinge", n, 10, block
    for n, features, block in ((300, 100, 300), (600, 30, 600), (1000, 100, 50), (200, 200, 200)):
        yield "whole path", "linear", "hinge", n, features, block
    for n, features, block in ((1200, 20, 20), (600, 10, 600), (400, 3, 400)):
        yield "whole path", "rbf", "hinge", n, features, block
    for n, block in ((100, 100), (400, 400), (1000, 50)):
        yield "path", "linear", "hinge", n, 10, block
        yield "qp", "linear", "hinge", n, 10, block
    for share in (1e-1, 1e-2, 1e-3, 1e-5):
        for n, features in ((200_000, 10), (20_000, 100)):
            yield "newton", "linear", "hinge", n, features, 50, share
        yield "newton", "linear", "squared", 200_000, 10, 50, share
        for n, block in ((200, 200), (800, 50)):
            yield "path", "rbf", "hinge", n, 10, block, share
        yield "path", "linear", "hinge", 400, 10, 400, share
        yield "path", "linear", "hinge", 4000, 10, 50, share
        yield "interior", "rbf", "hinge", 1000, 10, 50, share
        yield "interior", "linear", "hinge", 5000, 10, 50, share
        yield "qp", "rbf", "hinge", 200, 10, 200, share
    for n in (1000, 2000, 4000, 8000):
        yield "path", "rbf", "hinge", n, 10, n, None, "star"
    for n in (500, 1000):
        yield "whole path", "rbf", "hinge", n, 10, n, None, "star"
        yield "interior", "rbf", "hinge", n, 10, n, None, "star"
    for margin, share in product(("listed", "noisy", "exact"), (1e-4, 1e-7)):
        for n in (500, 1000) if margin == "exact" else (500, 1000, 2000):
            yield "newton", "linear", "hinge", n, 10, n, share, "full", margin
    for share in (1e-6, 1e-8):
        yield "newton", "linear", "hinge", 500, 10, 500, share, "full", "exact"


def made(  # noqa: PLR0913 -- what a case is made of
    kernel, loss, items, features, block, graph, margin
):
    """The problem of a case."""
    import numpy as np

    import rankbook as rb

    rng = np.random.default_rng(0)
    X = rng.normal(size=(items, features))
    noisy = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=items)
    qid = np.arange(items) % (items // block)
    if margin in ("noisy", "exact"):
        y = noisy if margin == "noisy" else X @ rng.normal(size=features)
        prefs = rb.Preferences.from_scores(y, qid, graph=graph, margin="difference")
    else:
        prefs = rb.Preferences.from_scores(np.digitize(noisy, [-1, 0, 1, 2]), qid, graph=graph)
    if margin == "listed":
        prefs = rb.Preferences(prefs.better, prefs.worse, items)
    return rb.RankSVMProblem(X, prefs, kernel=kernel, loss=loss)


def measure(solver, lam, *case):
    """Processor seconds and relative gap of a solution, or of the path down to lam."""
    began = time.process_time()
    import rankbook as rb

    problem = made(*case)
    if solver == "whole path":
        path = rb.solve_path(problem, lam)
        seconds, gap = time.process_time() - began, path.certificate(path.domain[0]).relative_gap
    else:
        answer = rb.solve(problem, lam, solver=solver)
        seconds, gap = time.process_time() - began, answer.certificate.relative_gap
    return round(seconds, 4), f"{gap:.0e}"


def measured(  # noqa: PLR0913 -- what a case is made of
    solver, kernel, loss, items, features, block, share=None, graph="full", margin="one"
):
    """A row of the table: the median of three, each in its own process."""
    from rankbook.registry.choice import effective_rank, work_of

    problem = made(kernel, "hinge", items, features, block, graph, margin)
    lam_max, m = problem.lam_max, len(problem.prefs)
    share = 1e-6 if solver == "whole path" else share
    lam = f"{1e-4 * m if share is None else share * lam_max:.4g}"
    case = solver, kernel, loss, *map(str, (items, features, block)), graph, margin
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, __file__, solver, lam, *case[1:]]
    found = [
        subprocess.run(
            command, env={**os.environ, **threads}, capture_output=True, text=True, check=True
        )
        .stdout.strip()
        .split(",")
        for _ in range(3)
    ]
    median = sorted(found, key=lambda one: float(one[0]))[1]
    fall = f"{work_of(problem, float(lam)).fall:.2f}"
    rank = features if kernel == "linear" else round(effective_rank(problem))
    return [*case, m, lam, f"{lam_max:.4g}", *median, fall, rank]


def main():
    """Measure all cases, those of some solvers, or the one case that is asked for."""
    if len(sys.argv) > 8:
        solver, lam, kernel, loss, *sizes, graph, margin = sys.argv[1:]
        print(*measure(solver, float(lam), kernel, loss, *map(int, sizes), graph, margin), sep=",")
        return
    asked, rows = sys.argv[1:], []
    with OUT.open(newline="", encoding="utf-8") as file:
        known = [row for row in csv.reader(file)][1:]
    for case in cases():
        if asked and case[0] not in asked:
            continue
        rows.append(measured(*case))
        print(*rows[-1], flush=True)
    kept = [row for row in known if asked and row[0] not in asked]
    with OUT.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *kept, *rows])


if __name__ == "__main__":
    main()
