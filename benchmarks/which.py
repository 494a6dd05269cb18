"""Which one should I use? Our methods, LightGBM and XGBoost, tuned alike, on seven data sets.

Same splits, same budget, one thread, and a process for each method and split (the draws of one data
set share it); `which_fit` says what a budget is, `which_data` what is split how. All see the same
training part, are chosen on the same validation part, fitted again to both, and judged on the same
test part.

Intervals are bootstraps by query, by game, or by draw of the labels. Each of ours is compared, pair
by pair, with the peer that is the best *on the test part*, which favours the peers.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import numpy as np

import rankbook as rb

from .which_data import tasks
from .which_fit import METHODS, TWO_CLASSES

BUDGETS = {"tiny": (2, 1.0), "usual": (12, 8.0), "full": (48, 60.0)}
TINY = ("RankRLSCV, linear", "RayleighRankerCV", "LightGBM, lambdarank")
METRICS = {"NDCG@10": "ndcg@10", "MAP": "average_precision", "pair accuracy": "pair_accuracy"}
PEERS = {"LightGBM": "lightgbm", "XGBoost": "xgboost"}
RESAMPLES = 1999
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")


@dataclass(frozen=True)
class Judged:
    """A method on a data set, or on a part of it, by one metric.

    Attributes
    ----------
    data, part, method : str
        The part is "all", or for instance "fold 1".
    metric : str
    value, low, high : float, optional
        A mean over units, and its 95 % interval.
    units : int
    unit : str
    versus : str
        The peer with the best value on the same test part.
    difference, difference_low, difference_high, p : float, optional
        Ours less the peer's, with a 95 % interval, and the p-value of the randomization test.
    fits : int
        At most, of all parts.
    seconds : float, optional
        Of the processor: tuning and last fit, mean of the parts.
    memory : float, optional
        Megabytes at the peak above those before, at most.
    chosen : str
        Options of the last fit, as JSON.
    note : str
    """

    REMARK: ClassVar[str] = (
        "Seconds are those of the processor, on one thread; memory is that of the peak, less what "
        "there was before the first fit."
    )

    data: str
    part: str
    method: str
    metric: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    units: int = 0
    unit: str = ""
    versus: str = ""
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p: float | None = None
    fits: int = 0
    seconds: float | None = None
    memory: float | None = None
    chosen: str = ""
    note: str = ""


def package(method):
    """The package of a peer, None for ours."""
    return PEERS.get(method.split(",")[0])


def run_alone(method, files, budget, folder):
    """What a process of its own finds for some splits; a str that says how it failed."""
    out = Path(folder) / "found.json"
    command = [sys.executable, "-m", "benchmarks.which_fit", method, *map(str, budget), str(out)]
    done = subprocess.run(
        command + files,
        cwd=Path(__file__).parents[1],
        env=os.environ | {f"{name}_NUM_THREADS": "1" for name in THREADS},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        return f"failed: {(done.stderr.splitlines() or ['without a word'])[-1]}"
    return json.loads(out.read_text(encoding="utf-8"))


def found_by(method, splits, budget):
    """What a method finds for each split, or a str that says why nothing."""
    if splits[0].unit != "draw" and method in TWO_CLASSES:
        return "does not apply: for two classes"
    if package(method) and find_spec(package(method)) is None:
        return "not installed"
    found = []
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / f"{k}.npz") for k in range(len(splits))]
        for split, file in zip(splits, files):
            np.savez(file, **asdict(split))
        for some in [files] if splits[0].unit == "draw" else [[file] for file in files]:
            found += (new := run_alone(method, some, budget, folder))
            if isinstance(new, str):
                return new
    return found


def pooled(splits):
    """Grades and queries of the test items of some splits; the same items again are new ones."""
    _, y, qid = zip(*(split.of("test") for split in splits))
    part = np.repeat(np.arange(len(splits)), [len(q) for q in qid])
    both = np.column_stack([part, np.concatenate(qid)])
    return np.concatenate(y), np.unique(both, axis=0, return_inverse=True)[1].ravel()


def judged(part, splits, found):
    """Rows of all methods on the test items of some splits together."""
    y, qid = pooled(splits)
    for name, metric in METRICS.items():
        grades = y >= splits[0].relevant if name == "MAP" else y
        scores = {m: np.concatenate([one["score"] for one in f]) for m, f in found.items()}
        rows = {}
        for method, score in scores.items():
            known = rb.metrics.interval(grades, score, qid, metric=metric, n_resamples=RESAMPLES)
            rows[method] = Judged(
                splits[0].data,
                part,
                method,
                name,
                known.value,
                known.low,
                known.high,
                known.n_queries,
                splits[0].unit,
                fits=max(one["fits"] for one in found[method]),
                seconds=float(np.mean([one["seconds"] for one in found[method]])),
                memory=max(one["memory"] for one in found[method]),
                chosen=json.dumps(found[method][0]["chosen"]) if len(splits) == 1 else "",
            )
        peers = [row for row in rows.values() if package(row.method) and part == "all"]
        best = max(peers, key=lambda row: row.value).method if peers else ""
        for method, row in rows.items():
            yield (
                row
                if package(method) or not best
                else replace(
                    row, versus=best, **against(grades, scores[method], scores[best], qid, metric)
                )
            )


def against(y, ours, theirs, qid, metric):
    """The columns of a paired comparison."""
    one = rb.metrics.compare(y, ours, theirs, qid, metric=metric, n_resamples=RESAMPLES)
    low, high = one.low, one.high
    return dict(
        difference=one.difference, difference_low=low, difference_high=high, p=one.p_randomization
    )


def rows(scale, peers):
    """All rows."""
    methods = TINY if scale == "tiny" else tuple(METHODS)
    for data, make in tasks(scale).items():
        if isinstance(make, str):
            yield Judged(data, "all", "", note=make)
            continue
        splits, found = list(make()), {}
        for method in methods:
            one = found_by(method, splits, BUDGETS[scale])
            if isinstance(one, str):
                yield Judged(data, "all", method, note=one)
            else:
                found[method] = one
        yield from judged("all", splits, found)
        if splits[0].unit == "query" and len(splits) > 1:
            for k, split in enumerate(splits):
                yield from judged(split.part, [split], {m: f[k : k + 1] for m, f in found.items()})
