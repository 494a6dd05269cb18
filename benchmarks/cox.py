"""What Cox's model and orders cost, beside scikit-survival and lifelines.

Cox's model has 20 features, and half of the times are censored; scikit-survival's `alpha` is our
lambda, and lifelines' `penalizer` is lambda divided by the number of patients, for features in
units of their standard deviation. No two times are equal, so that all rules for ties agree. All
coefficients are measured by their "distance", the largest difference of a coefficient from our
optimum to rounding. Tolerances are such that all of them are below 1e-8.

Orders are drawn from the model of Plackett and Luce, each of ten items with their features; no
other package that we know fits them with features and a penalty.
"""

import numpy as np

import rankbook as rb

from .common import Row, compare, gap, if_installed, take_turns
from .survival import patients, structured

COX = {"tiny": (200,), "usual": (2_000, 100_000), "full": (2_000, 20_000, 100_000)}
ORDERED = {"tiny": 200, "usual": 100_000, "full": 100_000}
LIFELINES = 2_000  # patients at most
FEATURES, LAM = 20, 1.0


def fitted(X, target, tol=1e-15):
    """Ours, from the arrays to the coefficients and a certificate."""
    model = rb.RankSVM(LAM, "linear", loss="plackett-luce", solver=("newton", dict(tol=tol)))
    return model.fit(X, target())


def cox(n):
    """Ours beside scikit-survival, and beside lifelines for few patients."""
    X, time, event = patients(n, FEATURES)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    target = lambda: rb.Orders.from_survival(time, event)
    known = fitted(X, target, 1e-22).coef_

    def scikit_survival():
        from sksurv.linear_model import CoxPHSurvivalAnalysis

        return -CoxPHSurvivalAnalysis(LAM, tol=1e-14).fit(X, structured(time, event)).coef_

    def lifelines():
        import pandas as pd
        from lifelines import CoxPHFitter

        frame = pd.DataFrame(X).assign(time=time, event=event)
        precise = dict(fit_options=dict(precision=1e-9))
        return -CoxPHFitter(penalizer=LAM / n).fit(frame, "time", "event", **precise).params_

    peers = {"scikit-survival": if_installed("sksurv", scikit_survival)}
    if n <= LIFELINES:
        peers["lifelines"] = if_installed("lifelines", lifelines)
    distance = lambda found: float(np.abs(getattr(found, "coef_", found) - known).max())
    what = f"Cox, {FEATURES} features, {event.sum():,} events, lambda = {LAM:g}"
    return compare(what, n, lambda: fitted(X, target), peers, {"distance": distance})


def ordered(n):
    """Ours on orders of ten items."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(n, FEATURES)), rng.normal(size=FEATURES)
    score = (X @ w + rng.gumbel(size=n)).reshape(-1, 10)
    ranked = np.arange(n).reshape(-1, 10)[np.arange(n // 10)[:, None], np.argsort(-score)]
    times, (model,) = take_turns([lambda: fitted(X, lambda: rb.Orders.from_rankings(ranked), 1e-8)])
    what = f"{n // 10:,} orders of ten items, {FEATURES} features, lambda = {LAM:g}"
    yield Row(what, n, float(np.median(times)), "gap", gap(model), rounds=len(times))


def rows(scale, peers):
    """All rows."""
    for n in COX[scale]:
        yield from cox(n)
    yield from ordered(ORDERED[scale])
