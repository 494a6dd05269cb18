"""How well survival times of patients are ordered, beside Cox's model, forests and boosting.

Three data sets of lifelines, in five folds; columns of words become columns of 0 and 1, patients
with a missing value are left out, and features are standardized with training statistics. Survival
SVMs, ours and scikit-survival's, choose lambda or alpha = 2 / lambda from the same grid by the
concordance of five inner folds, RankRLSCV by its own; the others have their defaults.

All methods score the same held-out patients. Only patients of one fold are compared, because scores
of different models have different scales. Intervals draw patients with replacement and keep the
scores, so they do not contain how a fit varies with the training data.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from time import process_time
from typing import ClassVar

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import rankbook as rb

from .survival import structured

GRID = 10.0 ** np.arange(-1.0, 5.1)  # lambda of survival SVMs
RESAMPLES = {"tiny": 20, "usual": 500, "full": 10_000}
SETS = {  # loader, columns of times and events, columns that are left out
    "GBSG2": ("load_gbsg2", "time", "cens", ()),
    "Rossi": ("load_rossi", "week", "arrest", ()),
    "lung": ("load_lung", "time", "status", ("inst", "meal.cal", "wt.loss")),
}
REFERENCE = "Cox"


@dataclass(frozen=True)
class Judged:
    """A method on a data set.

    Attributes
    ----------
    data : str
    patients, events, features : int
    method, package : str
    harrell, low, high : float, optional
        Harrell's concordance of the held-out patients, and its 95 % interval.
    uno : float, optional
        Uno's concordance, of pairs whose earlier time is below nine tenths of the times of events.
    difference, difference_low, difference_high : float, optional
        Harrell's concordance less that of Cox's model, with a 95 % interval.
    seconds : float, optional
        Of the processor: all five fits, with the choice of lambda.
    note : str
    """

    REMARK: ClassVar[str] = "Seconds are those of the processor, on one thread."

    data: str
    patients: int
    events: int
    features: int
    method: str
    package: str
    harrell: float | None = None
    low: float | None = None
    high: float | None = None
    uno: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    seconds: float | None = None
    note: str = ""


def data_of(name, scale):
    """Features (n, d), and survival times as scikit-survival has them."""
    from lifelines import datasets

    load, time, event, left_out = SETS[name]
    table = getattr(datasets, load)().drop(columns=list(left_out)).dropna()
    table = table[:150] if scale == "tiny" else table
    X = pd.get_dummies(table.drop(columns=[time, event]), drop_first=True, dtype=float)
    X = X.loc[:, X.nunique() > 1].to_numpy(float)
    return X, structured(table[time].to_numpy(float), table[event].to_numpy(bool))


class Cox:
    """Cox's model by lifelines; a higher score means a longer survival."""

    def fit(self, X, y):
        from lifelines import CoxPHFitter

        table = pd.DataFrame(X).assign(time=y["time"], event=y["event"])
        self.model = CoxPHFitter().fit(table, "time", "event")
        return self

    def predict(self, X):
        return -self.model.predict_log_partial_hazard(pd.DataFrame(X)).to_numpy()


class Negative:
    """A model of the risk, whose score is the negative."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        self.model.fit(X, y)
        return self

    def predict(self, X):
        return -self.model.predict(X)


def searched(model, **grid):
    """The model with the best concordance of five inner folds, by its own `score`."""
    return GridSearchCV(model, grid, cv=KFold(5, shuffle=True, random_state=0))


def methods():
    """Package and model of each method; None for a package that is not installed."""
    ours = {
        "linear SVM": searched(rb.RankSVM(kernel="linear", loss="squared"), lam=GRID),
        "linear RankRLS": rb.RankRLSCV(kernel="linear", random_state=0),
        "rbf RankRLS": rb.RankRLSCV(kernel="rbf", random_state=0),
    }
    found = {(name, "rankbook"): model for name, model in ours.items()}
    found[REFERENCE, "lifelines"] = Cox()
    names = ("linear SVM", "random survival forest", "boosted trees")
    if find_spec("sksurv") is None:
        return found | {(name, "scikit-survival"): None for name in names}
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis, RandomSurvivalForest
    from sksurv.svm import FastSurvivalSVM

    svm = FastSurvivalSVM(max_iter=1000, tol=1e-5, random_state=0)
    theirs = (
        searched(svm, alpha=2 / GRID),
        RandomSurvivalForest(random_state=0, n_jobs=1),
        GradientBoostingSurvivalAnalysis(random_state=0),
    )
    return found | {(n, "scikit-survival"): Negative(m) for n, m in zip(names, theirs)}


def held_out(model, X, y, folds):
    """Scores (n,) of patients by models that have not seen them, and processor seconds."""
    scores, spent = np.empty(len(y)), process_time()
    for train, test in folds:
        scaler = StandardScaler().fit(X[train])
        fitted = model.fit(scaler.transform(X[train]), y[train])
        scores[test] = fitted.predict(scaler.transform(X[test]))
    return scores, process_time() - spent


def drawn(y, scores, fold, resamples):
    """Harrell's concordance (resamples, methods) of patients drawn with replacement."""
    rng, n = np.random.default_rng(0), len(y)
    values = []
    for _ in range(resamples):
        weight = np.bincount(rng.integers(0, n, n), minlength=n).astype(float)
        prefs = rb.Preferences.from_survival(y["time"], y["event"], fold, weight)
        values.append([rb.metrics.concordance(prefs, s) for s in scores])
    return np.array(values)


def rows(scale, peers):
    """All rows."""
    for name in SETS:
        X, y = data_of(name, scale)
        fold = np.empty(len(y), dtype=int)
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y["event"]))
        for k, (_, test) in enumerate(folds):
            fold[test] = k
        size = dict(patients=len(y), events=int(y["event"].sum()), features=X.shape[1])
        models = methods()
        absent = {key for key, model in models.items() if model is None}
        found = {
            key: held_out(model, X, y, folds) for key, model in models.items() if key not in absent
        }
        keys, scores = list(found), [one[0] for one in found.values()]
        values = drawn(y, scores, fold, RESAMPLES[scale])
        reference = keys.index((REFERENCE, "lifelines"))
        uno = dict(train=y, tau=np.quantile(y["time"][y["event"]], 0.9))
        known = [rb.metrics.concordance(y, s, fold) for s in scores]
        for k, (key, s) in enumerate(zip(keys, scores)):
            low, high = np.quantile(values[:, k], [0.025, 0.975])
            row = dict(harrell=known[k], low=low, high=high, seconds=found[key][1])
            row |= dict(uno=rb.metrics.concordance(y, s, fold, **uno))
            if k != reference:
                apart = np.quantile(values[:, k] - values[:, reference], [0.025, 0.975])
                row |= dict(difference=known[k] - known[reference])
                row |= dict(zip(("difference_low", "difference_high"), apart))
            yield Judged(name, **size, method=key[0], package=key[1], **row)
        for key in absent:
            yield Judged(name, **size, method=key[0], package=key[1], note="not installed")
