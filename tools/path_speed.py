#!/usr/bin/env python
"""Measure what an event of a path costs, and write a table that a notebook draws.

The notebook is nbs/solvers/path/solver.ipynb.

    python tools/path_speed.py

writes nbs/solvers/path/speed.csv: for segments of some thousand events of several paths the number
of preferences m, the mean size of the active set, the length of the neighbour list, and the
processor time of an event in microseconds. Times depend on the machine.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import rankbook as rb
from rankbook.data.datasets import load, make_mixture
from rankbook.paths.exact import End
from rankbook.solvers.path.run import Continuation, begin, run_chunk

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.report import machine_facts, write_frame  # noqa: E402

TABLE = ROOT / "nbs" / "solvers" / "path" / "speed.csv"
EVENTS = 4096  # of a segment


def standardised(name):
    """Features of mean 0 and deviation 1, and scores."""
    data = load(name)
    return (data.X - data.X.mean(0)) / data.X.std(0), data.y


def problems():
    """Names and problems, small ones first."""
    for n in (25, 50, 100, 200, 400):
        data = make_mixture(n_per_class=n, seed=0)
        yield f"mixture {2 * n}", rb.RankSVMProblem(data.X, rb.Preferences.from_scores(data.y))
    for name in ("auto", "cancer", "diabetes"):
        X, y = standardised(name)
        yield name, rb.RankSVMProblem(X, rb.Preferences.from_scores(y))
    rng = np.random.default_rng(0)
    for n in (1250, 5000, 20000):
        X = rng.normal(size=(n, 50))
        y = np.digitize(X @ rng.normal(size=50) + 3 * rng.normal(size=n), [0.0, 5.0, 10.0])
        yield (
            f"star of {n}, linear",
            rb.RankSVMProblem(X, rb.Preferences.from_scores(y, graph="star"), kernel="linear"),
        )


def segments(name, problem):
    """One row for each segment of a path down to 1e-6 lam_max."""
    run = begin(problem, Continuation(1e-6 * problem.lam_max, EVENTS, 1e-8, 0))
    code = End.LOG_FULL
    while code == End.LOG_FULL:
        start, before = time.process_time(), run.total
        code = run_chunk(run, EVENTS)
        seconds, events = time.process_time() - start, run.events[before : run.total]
        if len(events) < EVENTS // 2:
            continue
        size = run.checkpoints[-2].active.size + np.cumsum(
            (events["to"] == 1).astype(int) - (events["from"] == 1)
        )
        near = int(run.state.count.near)
        yield dict(
            problem=name,
            m=len(problem.prefs),
            free=round(float(size.mean()), 1),
            near=near,
            lam=float(f"{run.checkpoints[-1].lam / problem.lam_max:.3g}"),
            microseconds=round(1e6 * seconds / len(events), 2),
        )


def main():
    warm = make_mixture(n_per_class=10, seed=0)
    for kernel in ("rbf", "linear"):  # compiles
        rb.solve_path(rb.RankSVMProblem(warm.X, rb.Preferences.from_scores(warm.y), kernel))
    rows, facts = [], machine_facts(["python", "tools/path_speed.py"])
    for name, problem in problems():
        problem.prefs.better, problem.lam_max
        new = list(segments(name, problem))
        rows += new
        print(
            f"{name}: {len(problem.prefs)} preferences, "
            f"{np.mean([r['microseconds'] for r in new] or [np.nan]):.1f} microseconds an event",
            flush=True,
        )
    write_frame(TABLE, pd.DataFrame(rows), facts)


if __name__ == "__main__":
    main()
