"""What metrics, single precision and text cost, beside other packages and double precision.

Each row is something that ends where another package does the same work: NDCG beside scikit-learn,
a table of CSV text beside pandas and pyarrow (with one thread), LETOR text beside scikit-learn's
reader with and without query ids. Ours checks the text, too. Items in single precision stand beside
those in double precision.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.metrics import ndcg_score

import rankbook as rb
from rankbook import metrics

from .common import compare, gap, if_installed, linear_graded

DOCUMENTS = {"tiny": 2_000, "usual": 1_000_000, "full": 1_000_000}
FITS = {
    "tiny": ((400, 5),),
    "usual": ((200_000, 50), (50_000, 400)),
    "full": ((1_000_000, 50), (200_000, 400)),
}
TEXT = {"tiny": (200, 3), "usual": (100_000, 20), "full": (500_000, 50)}
SIZE = 100  # items of a query


def metric_rows(scale):
    """Metrics by query; scikit-learn gets a row for each query."""
    n = DOCUMENTS[scale]
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 5, n), np.arange(n) // SIZE
    double = y + 2 * rng.normal(size=n)
    by_query = y.reshape(-1, SIZE), double.reshape(-1, SIZE)
    for name in ("ndcg", "average_precision", "err", "reciprocal_rank"):
        metric = getattr(metrics, name)
        peer = {"ndcg_score": lambda: ndcg_score(*by_query)} if name == "ndcg" else {}
        for scores in (double, double.astype(np.float32)):
            ours = lambda: metric(y, scores, qid)  # noqa: B023
            yield from compare(f"{name}, scores {scores.dtype}", n, ours, peer, rounds=9)


def fit_rows(scale):
    """Linear fits of items in single precision beside double precision."""
    for n, d in FITS[scale]:
        double, y, qid = linear_graded(n, d)
        lam = 1e-3 * len(rb.Preferences.from_scores(y, qid))
        single = double.astype(np.float32)
        for name, model in {
            "RankSVM, hinge": rb.RankSVM(lam=lam, kernel="linear"),
            "RankSVM, squared": rb.RankSVM(lam=lam, kernel="linear", loss="squared"),
            "RankRLS": rb.RankRLS(lam=lam, kernel="linear"),
        }.items():
            fit = lambda X: model.fit(X, y, qid)  # noqa: B023
            peers = {"float64": lambda: fit(double)}  # noqa: B023
            what = f"{name}, float32, d = {d}"
            yield from compare(what, n, lambda: fit(single), peers, {"gap": gap})  # noqa: B023


def text_rows(scale):
    """Reading text."""
    import pandas as pd

    def with_pyarrow():
        from pyarrow.csv import ReadOptions, read_csv

        return read_csv(table, read_options=ReadOptions(use_threads=False))

    n, d = TEXT[scale]
    X, y, qid = linear_graded(n, d)
    with TemporaryDirectory() as folder:
        table, letor = str(Path(folder) / "table.csv"), str(Path(folder) / "letor.txt")
        columns = {"y": y, "qid": qid} | {f"x{j}": X[:, j] for j in range(d)}
        pd.DataFrame(columns).to_csv(table, index=False)
        dump_svmlight_file(X.round(6), y, letor, zero_based=False, query_id=qid)
        peers = {
            "pandas": lambda: pd.read_csv(table),
            "pyarrow": if_installed("pyarrow", with_pyarrow),
        }
        yield from compare(
            f"CSV text, d = {d}", n, lambda: rb.read_table(table, "y", "qid"), peers, rounds=5
        )
        peers = {
            "scikit-learn": lambda: load_svmlight_file(letor, query_id=True),
            "without ids": lambda: load_svmlight_file(letor),
        }
        yield from compare(f"LETOR text, d = {d}", n, lambda: rb.read_table(letor), peers)


def rows(scale, peers):
    """All rows."""
    for part in (metric_rows, fit_rows, text_rows):
        yield from part(scale)
