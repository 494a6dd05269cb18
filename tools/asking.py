#!/usr/bin/env python
"""Ask about pairs of items in several ways, and write a table that a notebook draws.

The notebook is nbs/guides/asking.ipynb.

    python tools/asking.py

writes nbs/guides/asking.csv in some ten minutes: for each data set, kernel, lambda, way to ask and
seed the share of test pairs in the wrong order after so many questions. The data sets auto and
diabetes lie in the folder that RANKBOOK_DATA names.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

import rankbook as rb

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.report import machine_facts, write_frame  # noqa: E402

TABLE = ROOT / "nbs" / "guides" / "asking.csv"
POOL, START, BATCH, MOST, SEEDS = 150, 5, 5, 100, 20
KEPT = (5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)  # numbers of questions that are written down
DATA = ("progression", "auto", "cancer", "diabetes")
SETTINGS = [(name, kernel, 1.0) for name in DATA for kernel in ("rbf", "linear")]
SETTINGS += [("progression", kernel, 0.1) for kernel in ("rbf", "linear")]
WAYS = ("random", "score", "suggested")
PAIRS = np.column_stack(np.triu_indices(POOL, 1))


def items(name):
    """Standardized features, and what nobody knows but the user who is asked."""
    if name == "progression":
        X, y = load_diabetes(return_X_y=True)
    else:
        data = rb.datasets.load(name)
        X, y = data.X, data.y
    return scale(X), y


def choose(way, solution, asked, count, rng):
    """The next pairs (count, 2) of the pool to ask about."""
    if way == "suggested":
        return rb.suggest_pairs(solution, count, exclude=asked)
    code = lambda pairs: pairs.min(axis=1) * POOL + pairs.max(axis=1)
    left = PAIRS[~np.isin(code(PAIRS), code(asked))]
    if way == "random":
        return left[rng.choice(len(left), count, replace=False)]
    f = solution.predict(solution.problem.X)
    return left[np.abs(f[left[:, 0]] - f[left[:, 1]]).argsort(kind="stable")[:count]]


def errors(X, y, kernel, lam, way, seed, batch=BATCH):
    """The test error after each batch of questions, by number of questions.

    All ways begin with the same pairs, which have an answer. A pair of equal y has none, and counts
    as a question that was asked.
    """
    rng = np.random.default_rng(seed)
    place = rng.permutation(len(y))
    X, y, X_test, y_test = X[place[:POOL]], y[place[:POOL]], X[place[POOL:]], y[place[POOL:]]
    decided = PAIRS[y[PAIRS[:, 0]] != y[PAIRS[:, 1]]]
    asked, found = decided[rng.choice(len(decided), START, replace=False)], {}
    while True:
        better, worse = asked[y[asked[:, 0]] != y[asked[:, 1]]].T
        turned = y[better] < y[worse]
        better, worse = np.where(turned, worse, better), np.where(turned, better, worse)
        problem = rb.RankSVMProblem(X, rb.Preferences(better, worse, POOL), kernel=kernel)
        solution = rb.solve(problem, lam, solver="path")
        found[len(asked)] = rb.disagreement(y_test, solution.predict(X_test))
        if len(asked) >= MOST:
            return found
        asked = np.r_[asked, choose(way, solution, asked, batch, rng)]


def main():
    rows, facts = [], machine_facts(["python", "tools/asking.py"])
    runs = [(*setting, way, BATCH) for setting in SETTINGS for way in WAYS]
    runs += [("progression", kernel, 1.0, "suggested", 1) for kernel in ("rbf", "linear")]
    for name, kernel, lam, way, batch in runs:
        X, y = items(name)
        for seed in range(SEEDS):
            found = errors(X, y, kernel, lam, way, seed, batch)
            rows.append(
                dict(data=name, kernel=kernel, lam=lam, way=way, batch=batch, seed=seed)
                | {str(q): round(found[q], 4) for q in KEPT}
            )
        print(*rows[-1].values(), file=sys.stderr, flush=True)
    write_frame(TABLE, pd.DataFrame(rows), facts)


if __name__ == "__main__":
    main()
