"""How well held-out queries are ordered, and how long the fit takes, beside boosted trees.

LGBMRanker (lambdarank) and XGBRanker (rank:pairwise) with their defaults, ours with theirs or with
the option that is named, all on one thread. Nothing is tuned, but for the lambda that RankRLSCV
chooses in five folds. nDCG has gains 2**y - 1 and counts ten places; the disagreement is the share
of preferences in the wrong order.

Data are generated, nonlinear in two of twenty features; and MQ2008, the first fold as its authors
split it, where the folder RANKBOOK_DATA has it.
"""

import os
from pathlib import Path

import numpy as np

import rankbook as rb

from .common import Row, compare, graded, if_installed

SIZES = {"tiny": 600, "usual": 2000, "full": 5000}


def lightgbm_ranker(X, y, qid):
    """LGBMRanker; it gets the sizes of queries that are in order."""
    import lightgbm

    order = np.argsort(qid, kind="stable")
    sizes = np.unique(qid[order], return_counts=True)[1]
    model = lightgbm.LGBMRanker(n_jobs=1, random_state=0, verbosity=-1)
    return model.fit(X[order], y[order].astype(int), group=sizes)


def xgboost_ranker(X, y, qid):
    """XGBRanker with the pairwise loss; queries must be in order."""
    import xgboost

    order = np.argsort(qid, kind="stable")
    model = xgboost.XGBRanker(objective="rank:pairwise", n_jobs=1, random_state=0)
    return model.fit(X[order], y[order], qid=qid[order])


def judged(name, models, train, held_out, rounds=3):
    """Rows of our models beside the boosted trees, on one data set."""
    X, y, qid = held_out
    measures = {
        "nDCG@10": lambda model: rb.metrics.ndcg(y, model.predict(X), qid, k=10),
        "disagreement": lambda model: rb.disagreement(y, model.predict(X), qid),
    }
    peers = {
        "LightGBM": if_installed("lightgbm", lambda: lightgbm_ranker(*train)),
        "XGBoost": if_installed("xgboost", lambda: xgboost_ranker(*train)),
    }
    for what, model in models.items():
        ours = lambda: model.fit(*train)  # noqa: B023
        yield from compare(f"{name}: {what}", len(train[1]), ours, peers, measures, rounds)


def generated(scale):
    """As many items to train on as are held out."""
    n = SIZES[scale]
    X, y, qid = graded(2 * n, d=20)
    models = {
        "RankSVM()": rb.RankSVM(),
        'RankSVM(kernel="linear")': rb.RankSVM(kernel="linear"),
        "RankRLS()": rb.RankRLS(),
        "RankRLSCV()": rb.RankRLSCV(),
    }
    parts = (X[:n], y[:n], qid[:n]), (X[n:], y[n:], qid[n:])
    return judged("generated", models, *parts, rounds=1 if scale == "tiny" else 3)


def mq2008():
    """The first fold of MQ2008; one row that says so where its files are not."""
    folder = os.environ.get("RANKBOOK_DATA")
    if not folder or not (Path(folder) / "letor_mq2008").is_dir():
        return [Row("mq2008", 0, note="not there: RANKBOOK_DATA names no folder that has it")]
    data = rb.datasets.load("mq2008")
    train, held_out = (
        (data.X[data.parts == part], data.y[data.parts == part], data.qid[data.parts == part])
        for part in ("train", "test")
    )
    models = {
        'RankSVM(kernel="linear")': rb.RankSVM(kernel="linear"),
        "RankSVM(approximate_kernel=200)": rb.RankSVM(approximate_kernel=200),
        'RankRLS(kernel="linear")': rb.RankRLS(kernel="linear"),
    }
    return judged("MQ2008", models, train, held_out)


def rows(scale, peers):
    """All rows."""
    yield from generated(scale)
    if scale != "tiny":
        yield from mq2008()
