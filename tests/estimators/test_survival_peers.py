"""Survival SVMs beside lifelines and scikit-survival, which share no code with ours."""

import numpy as np
import pandas as pd
import pytest

import rankbook as rb


def standardised(table, time, event):
    """Features without words and with mean 0 and deviation 1, times, and events."""
    X = table.drop(columns=[time, event]).select_dtypes("number").to_numpy(float)
    return (X - X.mean(0)) / X.std(0), table[time].to_numpy(float), table[event].to_numpy(bool)


@pytest.mark.peer("lifelines")
@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.filterwarnings("ignore:Starting with pandas version 4.0:DeprecationWarning:lifelines")
def test_a_fit_orders_patients_about_as_cox_does(loss):
    """On a set of lifelines, and the same value of the order as lifelines computes."""
    import lifelines
    from lifelines.datasets import load_rossi
    from lifelines.utils import concordance_index

    X, week, arrest = standardised(load_rossi(), "week", "arrest")
    y = rb.Preferences.from_survival(week, arrest)
    model = rb.RankSVM(kernel="linear", loss=loss, solver="newton").fit(X, y)
    value = concordance_index(week, model.predict(X), arrest)
    assert rb.metrics.concordance(y, model.predict(X)) == pytest.approx(value, abs=1e-12)
    table = pd.DataFrame(X).assign(week=week, arrest=arrest)
    cox = lifelines.CoxPHFitter().fit(table, "week", "arrest")
    assert value > cox.concordance_index_ - 0.02
    assert np.corrcoef(model.coef_, cox.params_.to_numpy())[0, 1] < -0.8  # a score is no risk


@pytest.mark.peer("sksurv")
@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.filterwarnings("ignore:Optimization did not converge")
def test_coefficients_are_those_of_scikit_survival(alpha):
    """Distinct times, because scikit-survival draws an order of tied ones at random."""
    from sksurv import svm

    rng = np.random.default_rng(0)
    n, d = 300, 5
    X = rng.normal(size=(n, d))
    life, end = rng.exponential(np.exp(X[:, 0] - X[:, 1])), rng.exponential(2, size=n)
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = life <= end, np.minimum(life, end)
    options = dict(alpha=alpha, max_iter=1000, tol=1e-9, random_state=0)
    exact = ("newton", dict(tol=1e-12))
    theirs = svm.FastSurvivalSVM(**options).fit(X, y)
    ours = rb.RankSVM(2 / alpha, "linear", loss="squared", solver=exact).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    assert np.allclose(ours.predict(X), -theirs.predict(X), rtol=1e-6, atol=1e-6)
    objective = ours.certificate_.primal
    assert theirs.optimizer_result_.fun * 2 / alpha == pytest.approx(objective, rel=1e-8)

    some = slice(0, 120)
    kernel = dict(kernel="rbf", gamma=1 / d)
    theirs = svm.FastKernelSurvivalSVM(**options, **kernel).fit(X[some], y[some])
    ours = rb.RankSVM(2 / alpha, "rbf", loss="squared").fit(X[some], y[some])
    expected = -theirs.predict(X)
    apart = ours.predict(X) - expected
    assert np.ptp(apart) < 1e-4 * np.ptp(expected)  # a constant is no matter of order
