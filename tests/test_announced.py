"""Calls that would take long or need much memory: each says so before it begins."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import rankbook as rb
from rankbook.base import limits
from rankbook.registry import choice

rng = np.random.default_rng(0)
N = 40_000
X, SCORES, GRADES = rng.normal(size=(N, 10)), rng.normal(size=N), np.arange(N) % 3
ROWS = X[:12_000]
CONTINUOUS, GRADED = (rb.Preferences.from_scores(y) for y in (SCORES, GRADES))
SOME = rb.Preferences.from_scores(GRADES[:12_000])
TIMES = rb.Preferences.from_survival(np.arange(1.0, N + 1), event=np.ones(N, dtype=bool))


class Softplus:
    """The logistic loss as a loss of one's own."""

    name = "softplus"

    def value(self, t):
        return np.logaddexp(0, t)

    def derivative(self, t):
        return 1 / (1 + np.exp(-t))

    def conjugate(self, a):
        a = np.clip(a, 1e-300, 1 - 1e-16)
        return a * np.log(a) + (1 - a) * np.log1p(-a)


def problem(prefs=CONTINUOUS, **options):
    return rb.RankSVMProblem(X[: prefs.n_items], prefs, **options)


def linear(**options):
    return rb.RankSVM(kernel="linear", **options)


def fitted(p, **options):
    """A model of p teams."""
    prefs = rb.Preferences(rng.integers(0, p, 9 * p), (np.arange(9 * p) + 1) % p, n_items=p)
    keep = np.flatnonzero(prefs.better != prefs.worse)
    return rb.RankSVM(lam=1.0, **options).fit(rng.normal(size=(p, 5)), prefs[keep])


logistic = dict(kernel="linear", loss="logistic")
LONG = {
    "logistic": lambda: linear(loss="logistic").fit(X, SCORES),
    "logistic, lam": lambda: linear(loss="logistic", lam=1.0).fit(X, SCORES),
    "logistic, solve": lambda: rb.solve(problem(**logistic), 1.0),
    "logistic, newton": lambda: rb.solve(problem(**logistic), 1.0, solver="newton"),
    "logistic, path": lambda: rb.solve_path(problem(**logistic)),
    "logistic, sparse": lambda: linear(loss="logistic").fit(csr_array(X), SCORES),
    "logistic, signs": lambda: linear(loss="logistic", signs=np.ones(10)).fit(X, SCORES),
    "logistic, kernel": lambda: rb.RankSVM(loss="logistic", lam=1.0).fit(X, SCORES),
    "logistic, folds": lambda: rb.RankSVMCV(**logistic, cv=3).fit(ROWS, SCORES[:12_000]),
    "own loss": lambda: linear(loss=Softplus(), lam=1.0).fit(ROWS, SCORES[:12_000]),
    "plackett-luce, kernel": lambda: rb.RankSVM(loss="plackett-luce", lam=1.0).fit(X, SCORES),
    "hinge, kernel": lambda: rb.RankSVM(lam=1.0).fit(X, GRADES),
    "path": lambda: rb.RankSVM(solver="path").fit(ROWS, GRADES[:12_000]),
    "qp": lambda: rb.RankSVM(solver="qp").fit(ROWS[:3000], GRADES[:3000]),
    "exact path": lambda: rb.solve_path(problem(SOME), solver="path"),
    "epsilon": lambda: rb.solve_path(problem(SOME), solver="epsilon"),
    "any path": lambda: rb.solve_path(problem(SOME)),
    "newton, path": lambda: rb.solve_path(problem(GRADED, kernel="linear"), solver="newton"),
    "folds": lambda: rb.RankSVMCV(cv=3).fit(ROWS, GRADES[:12_000]),
    "rls": lambda: rb.RankRLS().fit(ROWS, GRADES[:12_000]),
    "rls, basis": lambda: rb.RankRLS(basis=9000).fit(ROWS, GRADES[:12_000]),
    "rls, folds": lambda: rb.RankRLSCV().fit(ROWS, GRADES[:12_000]),
    "labels": lambda: rb.LabelRanker().fit(ROWS, ROWS[:, :4]),
    "labels, folds": lambda: rb.LabelRankerCV().fit(ROWS, ROWS[:, :4]),
    "rayleigh": lambda: rb.RayleighRanker().fit(ROWS, GRADES[:12_000] > 0),
    "l1": lambda: linear(penalty="l1").fit(ROWS, GRADES[:12_000]),
    "l1, folds": lambda: rb.RankSVMCV(kernel="linear", penalty="l1", cv=3).fit(X, GRADES),
    "l1, path": lambda: rb.solve_path(problem(SOME, kernel="linear", penalty="l1")),
    "l1, squared": lambda: linear(penalty="l1", loss="squared", solver="homotopy").fit(X, GRADES),
    "lp": lambda: linear(penalty="l1", solver="lp").fit(ROWS[:4000], GRADES[:4000]),
    "dynamic_auc": lambda: rb.metrics.dynamic_auc(
        TIMES, SCORES, np.linspace(1, N - 1, 200_000), train=TIMES
    ),
    "intervals, draws": lambda: rb.order_intervals(
        fitted(60, **logistic), rng.normal(size=(2000, 5)), n_resamples=10_000
    ),
    "intervals, kernel": lambda: rb.order_intervals(
        fitted(60, loss="logistic"), rng.normal(size=(6000, 5)), n_resamples=100
    ),
    "intervals, bootstrap": lambda: rb.order_intervals(
        fitted(60, kernel="linear"), rng.normal(size=(5, 5)), n_resamples=1_000_000
    ),
    "intervals, quick bootstrap": lambda: rb.order_intervals(
        fitted(60, **logistic),
        rng.normal(size=(5, 5)),
        method="bootstrap",
        n_resamples=1_000_000,
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_call_is_announced_with_a_faster_way(name, monkeypatch):
    """The warning is an error here, so that nothing begins."""
    monkeypatch.setattr(choice, "available_memory", lambda: 64 * 2**30)
    monkeypatch.setattr(limits, "available_memory", lambda: 64 * 2**30)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".* is predicted to need")
        with pytest.raises(UserWarning, match="predicted to need .*; (use|pass) "):
            LONG[name]()
    assert not (CONTINUOUS.is_listed or GRADED.is_listed or SOME.is_listed)
