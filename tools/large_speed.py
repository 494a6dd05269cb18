#!/usr/bin/env python
"""Measure how soon a gap is proven on large data: Newton's method beside cutting planes.

Writes nbs/solvers/newton/speed.csv.

    python tools/large_speed.py [items]

100 000 items with 50 features in queries of 100 with 5 levels, 4 000 000 preferences. Processor
seconds on one thread, after compilation. The cutting planes are those of Joachims (2006) with the
line search of OCAS (Franc and Sonnenburg 2009): each adds one plane below the loss, a small
quadratic program (Clarabel) finds the minimum of all, and the next plane is taken on the way from
the best point to there.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time
from pathlib import Path

import clarabel
import numpy as np
import pandas as pd
from scipy import sparse

import rankbook as rb
from rankbook.preferences.sums import HINGE
from rankbook.solvers.newton.steps import minimise

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.report import machine_facts, write_frame  # noqa: E402

TABLE = ROOT / "nbs" / "solvers" / "newton" / "speed.csv"


def graded(n, d=50, size=100, levels=5, seed=0):
    """Items in queries of `size`, with `levels` equal levels cut from a noisy linear score."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d) / np.sqrt(d)
    score = X @ w + rng.normal(size=n)
    y = score.reshape(-1, size).argsort(axis=1).argsort(axis=1).ravel() * levels // size
    return rb.RankSVMProblem(
        X, rb.Preferences.from_scores(y, np.repeat(np.arange(n // size), size)), kernel="linear"
    )


def newton_gaps(problem, lam, tol):
    """(seconds, relative gap) after each step.

    The gap is that of the rounded objective, which is above the hinge.
    """
    start, found = time.process_time(), []
    minimise(
        problem,
        lam,
        tol,
        watch=lambda point, width: found.append(
            (time.process_time() - start, point.gap / point.value)
        ),
    )
    return found


def smallest_of_planes(G, b, lam):
    """Multipliers of the planes, and the minimum of lam/2 |w|^2 + max(b + G w)."""
    k, unit = len(b), max(1.0, np.abs(b).max())
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    A = sparse.csc_matrix(np.vstack([np.ones((1, k)), -np.eye(k)]))
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(k)]
    P = sparse.triu(sparse.csc_matrix(G @ G.T / lam / unit), format="csc")
    answer = clarabel.DefaultSolver(
        P, -b / unit, A, np.r_[1.0, np.zeros(k)], cones, settings
    ).solve()
    a = np.maximum(0.0, answer.x)
    a /= a.sum()
    return a, float(b @ a - np.sum((G.T @ a) ** 2) / (2 * lam))


def along(problem, lam, w, p, f, q):
    """The minimum over t >= 0 of the objective at w + t p, by bisection on its slope."""
    slope = lambda t: (
        lam * float((w + t * p) @ p)
        - float(problem.summed.evaluate(f + t * q, HINGE).score_gradient @ q)
    )
    low, high = 0.0, 1.0
    while slope(high) < 0:
        low, high = high, 2 * high
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return high


def bundle_gaps(problem, lam, tol, patience=300.0):
    """(seconds, relative gap) after each plane."""
    start, found, X = time.process_time(), [], problem.X
    best, planes, offsets, at = np.zeros(X.shape[1]), [], [], np.zeros(X.shape[1])
    while time.process_time() - start < patience:
        sums = problem.summed.evaluate(X @ at, HINGE)
        pulled = X.T @ sums.score_gradient
        planes.append(-pulled)
        offsets.append(sums.loss + pulled @ at)
        G = np.array(planes)
        a, lower = smallest_of_planes(G, np.array(offsets), lam)
        p = -G.T @ a / lam - best
        f, q = X @ best, X @ p
        t = along(problem, lam, best, p, f, q)
        best = best + t * p
        primal = lam / 2 * best @ best + problem.summed.evaluate(f + t * q, HINGE).loss
        found.append((time.process_time() - start, (primal - lower) / primal))
        if found[-1][1] <= tol:
            break
        at = 0.9 * best + 0.1 * (-G.T @ a / lam)
    return found


def main():
    problem = graded(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    rows, facts = [], machine_facts(["python", "tools/large_speed.py", *sys.argv[1:]])
    newton_gaps(graded(1000), 100.0, 1e-3)
    for share in (1e-1, 1e-2, 1e-3, 1e-4):
        for method, run in (("newton", newton_gaps), ("bundle", bundle_gaps)):
            found = run(problem, share * len(problem.prefs), 1e-4)
            print(
                method,
                share,
                *(
                    next((f"{s:.2f} s to {tol:g}" for s, gap in found if gap <= tol), "-")
                    for tol in (1e-2, 1e-3, 1e-4)
                ),
                len(found),
            )
            rows += [(method, share, f"{s:.3f}", f"{gap:.3g}") for s, gap in found]
    columns = ["method", "lam per preference", "seconds", "relative gap"]
    write_frame(TABLE, pd.DataFrame(rows, columns=columns), facts)


if __name__ == "__main__":
    main()
