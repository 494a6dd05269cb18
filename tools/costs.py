"""Measure how long each solver of the ranking SVM takes, for nbs/registry/cost.ipynb.

    python tools/costs.py               writes nbs/registry/costs.csv, in a quarter of an hour

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
    "preferences",
    "seconds",
    "gap",
]


def cases():
    """(solver, kernel, loss, items, features, items of a query) of each case."""
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
    for n, block in ((100, 100), (400, 400), (1000, 50)):
        yield "path", "linear", "hinge", n, 10, block
        yield "qp", "linear", "hinge", n, 10, block


def measure(solver, kernel, loss, items, features, block):
    """Preferences, processor seconds and relative gap of one case, in this process."""
    began = time.process_time()
    import numpy as np

    import rankbook as rb

    rng = np.random.default_rng(0)
    X = rng.normal(size=(items, features))
    noisy = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=items)
    prefs = rb.Preferences.from_scores(
        np.digitize(noisy, [-1, 0, 1, 2]), np.arange(items) % (items // block)
    )
    problem = rb.RankSVMProblem(X, prefs, kernel=kernel, loss=loss)
    if solver == "whole path":
        path = rb.solve_path(problem, 1e-6 * problem.lam_max)
        seconds, gap = time.process_time() - began, path.certificate(path.domain[0]).relative_gap
    else:
        answer = rb.solve(problem, 1e-4 * len(prefs), solver=solver)
        seconds, gap = time.process_time() - began, answer.certificate.relative_gap
    return len(prefs), round(seconds, 4), f"{gap:.0e}"


def main():
    """Measure all cases, each in its own process, or the one case that is asked for."""
    if len(sys.argv) > 1:
        solver, kernel, loss, *sizes = sys.argv[1:]
        print(*measure(solver, kernel, loss, *map(int, sizes)), sep=",")
        return
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    rows = []
    for case in cases():
        command = [sys.executable, __file__, *map(str, case)]
        results = [
            subprocess.run(
                command, env={**os.environ, **threads}, capture_output=True, text=True, check=True
            )
            .stdout.strip()
            .split(",")
            for _ in range(3)
        ]
        rows.append([*case, *sorted(results, key=lambda found: float(found[1]))[1]])
        print(*rows[-1], flush=True)
    with OUT.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
