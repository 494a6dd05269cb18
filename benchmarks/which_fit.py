"""One method of `which` on one split, tuned and fitted in a process of its own.

    python -m benchmarks.which_fit METHOD FITS SECONDS OUT.json SPLIT.npz ...

A *fit* takes the training part and is judged on the validation part. What comes free with a fit may
be chosen as well: every lambda of a path or of a decomposition, the number of trees. At most FITS
fits are made and none begins after SECONDS; the best one is made again from both parts, and scores
the test part. For those that choose by themselves (the names with CV) the validation part is their
one fold.
"""

import json
import re
import sys
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np

import rankbook as rb

from .which_data import Split, generated

LAMS = np.logspace(-3, 9, 37)  # of RankRLS
SHARES = (0.02, 0.1, 0.5, 2.0, 8.0)  # of 1/d: widths of a kernel
TREES = (5, 10, 25, 50, 100, 200, 400)


def quality(name):
    """A function (y, score, qid) that judges the validation part."""
    return rb.metrics.auc if name == "auc" else lambda y, s, qid: rb.metrics.ndcg(y, s, qid, k=10)


class Trial:
    """A split in the form in which a method sees it, and what it may spend."""

    def __init__(self, split, fits, seconds, scale=True):
        self.split, self.fits, self.seconds, self.done = split, fits, seconds, 0
        self.X, self.y, self.qid = split.of("train", "validation")
        role = split.role[np.isin(split.role, ["train", "validation"])]
        self.train, self.held = np.flatnonzero(role == "train"), np.flatnonzero(role != "train")
        self.shift, self.factor = np.zeros(self.X.shape[1]), np.ones(self.X.shape[1])
        if split.scaled and scale:
            self.shift, deviation = self.X.mean(axis=0), self.X.std(axis=0)
            self.factor = 1 / np.where(deviation > 0, deviation, 1)
        self.X = self.scaled(self.X)
        self.gammas = np.array(SHARES) / self.X.shape[1]
        self.folds = dict(cv=[(self.train, self.held)])

    def scaled(self, X):
        """Features as the method sees them."""
        return (X - self.shift) * self.factor

    def rows(self, of):
        """X, y and qid of some rows."""
        return self.X[of], self.y[of], self.qid[of]

    def search(self, fit, configurations):
        """The best configuration; `fit` returns a dict of functions that predict, by option."""
        start, best, judge = time.process_time(), (-np.inf,), quality(self.split.choose)
        X, y, qid = self.rows(self.held)
        for options in configurations:
            if self.done == self.fits or time.process_time() - start > self.seconds:
                break
            self.done += 1
            for free, predict in fit(*self.rows(self.train), options).items():
                if (value := judge(y, predict(X), qid)) > best[0]:
                    best = value, options, free
        _, options, free = best
        return fit(self.X, self.y, self.qid, options)[free], options | dict(free)


def rank_svm(trial):
    """Linear; every lambda of a path."""
    model = rb.RankSVMCV(
        kernel="linear",
        solver="newton" if len(trial.y) > 2000 else "auto",
        metric=trial.split.choose,
        k=10 if trial.split.choose == "ndcg" else None,
        **trial.folds,
    ).fit(trial.X, trial.y, trial.qid)
    trial.done = 1
    return model.predict, dict(lam=model.lam_)


def rank_svm_rbf(trial):
    """The rbf kernel projected on 500 items, widths and lambdas."""

    def fit(X, y, qid, options):
        few = min(500, len(y))
        return {(): rb.RankSVM(approximate_kernel=few, **options).fit(X, y, qid).predict}

    total = float(len(rb.Preferences.from_scores(trial.y[trial.train], trial.qid[trial.train])))
    lams = total * np.array([1e-2, 1e-3, 1e-4])
    gammas = trial.gammas[[2, 1, 3, 0, 4]]  # the middle ones first
    return trial.search(fit, [dict(lam=lam, gamma=g) for g, lam in product(gammas, lams)])


def rank_rls(trial, **options):
    """Every lambda of a grid from one decomposition for each width of the kernel."""
    metric = "auc" if trial.split.choose == "auc" else quality("ndcg")
    model = rb.RankRLSCV(LAMS, metric=metric, **options, **trial.folds)
    model.fit(trial.X, trial.y, trial.qid)
    trial.done = len(model.gammas_)
    found = dict(lam=model.lam_) | ({} if model.gamma_ is None else dict(gamma=model.gamma_))
    return model.predict, found


def rank_rls_rbf(trial):
    """With 1000 items that carry coefficients, or all if there are fewer."""
    basis = 1000 if len(trial.y) > 1000 else None
    return rank_rls(trial, kernel="rbf", gamma=trial.gammas, basis=basis)


def rayleigh(trial):
    """Two classes; sees the unlabelled items, too. The grid is that of the chapter on the paper."""
    more = trial.scaled(trial.split.of("unlabelled")[0])
    X, y = np.vstack([trial.X, more]), np.r_[trial.y, np.full(len(more), -1.0)]
    grid = dict(manifold_weights=[0.0, 1e2, 1e4, 1e6], n_components=[10, 50, 200])
    model = rb.RayleighRankerCV(gamma=trial.gammas, **grid, **trial.folds).fit(X, y)
    trial.done = len(trial.gammas)
    names = "gamma_", "manifold_weight_", "n_components_"
    return model.predict, {name[:-1]: getattr(model, name) for name in names}


def online(trial):
    """A stochastic subgradient, linear."""

    def fit(X, y, qid, options):
        return {(): rb.OnlineRankSVM(max_updates=1_000_000, **options).fit(X, y, qid).predict}

    return trial.search(fit, [dict(lam=10.0**e) for e in (-3, -2, -4, -1, -5, 0)])


def drawn(grid, count=1000, seed=0):
    """Options drawn from a grid, those of the package's defaults first."""
    rng = np.random.default_rng(seed)
    yield {}
    for _ in range(count):
        yield {name: values[rng.integers(len(values))] for name, values in grid.items()}


def lightgbm(trial, objective):
    """Lambdarank, or the log-loss of two classes."""
    import lightgbm as lgb

    fixed = dict(objective=objective, num_threads=1, verbosity=-1, seed=0, deterministic=True)
    grid = dict(
        num_leaves=[4, 7, 15, 31],
        learning_rate=[0.03, 0.05, 0.1],
        min_data_in_leaf=[2, 5, 20, 50],
        lambda_l2=[0.0, 1.0, 10.0],
        feature_fraction=[0.5, 0.8, 1.0],
        lambdarank_truncation_level=[10, 30, 100, 1000],
    )

    def fit(X, y, qid, options):
        group = None if objective == "binary" else np.unique(qid, return_counts=True)[1]
        data = lgb.Dataset(X, y, group=group, params=dict(verbosity=-1))
        model = lgb.train(fixed | options, data, max(TREES))
        predict = lambda k: lambda X: model.predict(X, num_iteration=k)
        return {(("trees", k),): predict(k) for k in TREES}

    return trial.search(fit, drawn(grid))


def xgboost(trial, objective):
    """The gradient of a pairwise loss, weighted by the change in NDCG or not."""
    import xgboost as xgb

    fixed = dict(objective=objective, nthread=1, seed=0, verbosity=0)
    grid = dict(
        max_depth=[2, 3, 4, 6],
        eta=[0.03, 0.1, 0.3],
        min_child_weight=[0.1, 1.0, 10.0],
        reg_lambda=[0.1, 1.0, 10.0],
        colsample_bytree=[0.5, 0.8, 1.0],
        lambdarank_pair_method=["topk", "mean"],
    )

    def fit(X, y, qid, options):
        model = xgb.train(fixed | options, xgb.DMatrix(X, y, qid=qid), max(TREES))
        predict = lambda k: lambda X: model.predict(xgb.DMatrix(X), iteration_range=(0, k))
        return {(("trees", k),): predict(k) for k in TREES}

    return trial.search(fit, drawn(grid))


METHODS = {
    "RankSVMCV, linear": rank_svm,
    "RankSVM, rbf": rank_svm_rbf,
    "RankRLSCV, linear": lambda trial: rank_rls(trial, kernel="linear"),
    "RankRLSCV, rbf": rank_rls_rbf,
    "RayleighRankerCV": rayleigh,
    "OnlineRankSVM": online,
    "LightGBM, lambdarank": lambda trial: lightgbm(trial, "lambdarank"),
    "LightGBM, binary": lambda trial: lightgbm(trial, "binary"),
    "XGBoost, rank:ndcg": lambda trial: xgboost(trial, "rank:ndcg"),
    "XGBoost, rank:pairwise": lambda trial: xgboost(trial, "rank:pairwise"),
}
TWO_CLASSES = ("RayleighRankerCV", "LightGBM, binary")  # do not apply to grades


def memory(key):
    """Megabytes of this process by /proc: "VmRSS" now, "VmHWM" at most; NaN on other systems."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(re.search(rf"{key}:\s+(\d+) kB", status)[1]) / 1024
    except (OSError, TypeError):
        return float("nan")


def measured(method, split, fits, seconds):
    """Scores of the test part, what was chosen, fits, seconds, and memory in megabytes."""
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    except OSError:
        pass
    before, start = memory("VmRSS"), time.process_time()
    trial = Trial(split, fits, seconds, scale="Boost" not in method and "GBM" not in method)
    predict, chosen = METHODS[method](trial)
    spent = time.process_time() - start
    score = predict(trial.scaled(split.of("test")[0]))
    return dict(
        score=np.asarray(score, dtype=float).tolist(),
        chosen={k: v if isinstance(v, str) else float(f"{v:.3g}") for k, v in chosen.items()},
        fits=trial.done,
        seconds=spent,
        memory=memory("VmHWM") - before,
    )


def main(method, fits, seconds, out, *files):
    """Read splits, measure, and write what is found for each."""
    warnings.simplefilter("ignore")
    METHODS[method](Trial(list(generated())[-1], 1, 1.0))  # imports and compiles
    found = []
    for file in files:
        with np.load(file) as arrays:
            split = Split(**{k: v if v.ndim else v.item() for k, v in arrays.items()})
        found.append(measured(method, split, int(fits), float(seconds)))
    Path(out).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
