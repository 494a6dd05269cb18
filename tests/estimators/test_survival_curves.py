"""Baseline hazards, by hand and by loops."""

import pickle

import numpy as np
import pytest

import rankbook as rb


def by_loop(time, event, f, weight, t):
    """Breslow's cumulative baseline hazard at a time."""
    total = 0.0
    for i in np.flatnonzero(event & (time <= t)):
        total += weight[i] / (weight @ (np.exp(-f) * (time >= time[i]))) if weight[i] else 0.0
    return total


@pytest.mark.parametrize("seed", range(10))
def test_the_hazard_is_that_of_a_loop(seed):
    """With ties, censored times and weights, among them 0; whatever the target's form."""
    rng = np.random.default_rng(seed)
    time, event = rng.integers(1, 9, 30).astype(float), rng.random(30) < 0.6
    f, weight = rng.normal(size=30), rng.integers(0, 3, 30) * rng.random(30)
    prefs = rb.Preferences.from_survival(time, event, weight=weight)
    asked = np.array([0.0, 1.0, 3.5, 8.0, 100.0])
    known = [by_loop(time, event, f, weight, t) for t in asked]
    for target in (prefs, rb.Orders.from_survival(time, event, weight=weight, ties="efron")):
        hazard = rb.BaselineHazard(target, f)
        assert np.allclose(hazard.cumulative_hazard([0.0], asked)[0], known)
        score = np.array([-1.0, 2.0])
        assert np.allclose(hazard.survival(score, 3.5), np.exp(-known[2] * np.exp(-score)))
        assert hazard.survival(score).shape == (2, hazard.times.size)
        assert np.all(np.diff(hazard.times) > 0) and np.all(np.diff(hazard.log_cumulative) > 0)
    y = np.rec.fromarrays([event, time], names="event,time")
    assert np.allclose(
        rb.BaselineHazard(y, f).cumulative_hazard([0.0], 8.0),
        by_loop(time, event, f, np.ones(30), 8),
    )


def test_far_scores_neither_overflow_nor_matter():
    """A constant in all scores leaves the curves as they are."""
    y, f = rb.Orders.from_survival([1.0, 2, 3, 4], [1, 0, 1, 1]), np.array([0.5, -1, 2, 0])
    one, far = rb.BaselineHazard(y, f), rb.BaselineHazard(y, f - 5e3)
    assert np.allclose(one.survival(f), far.survival(f - 5e3))
    assert np.isfinite(far.log_cumulative).all()
    again = pickle.loads(pickle.dumps(one))
    assert np.array_equal(again.survival(f), one.survival(f))
    with pytest.raises(ValueError, match="read-only"):
        again.times[0] = 0


@pytest.mark.parametrize(
    "target, score, words",
    [
        (rb.Orders.from_survival([1.0, 2.0], [0, 0]), [0, 0], "y_true has no event"),
        (rb.Orders.from_rankings([[0, 1]]), [0, 0], "y_true holds no survival times"),
        ([1.0, 2.0], [0, 0], "y_true is"),
        (rb.Orders.from_survival([1.0, 2.0], [1, 0]), [0], r"y_score has shape \(1,\)"),
        (rb.Orders.from_survival([1.0, 2.0], [1, 0]), [0, np.nan], "y_score has NaN at index 1"),
        (rb.Orders.from_survival([1, 2], [1, 1], qid=[0, 1]), [0, 0], r"strata.*y_true\[rows\]"),
    ],
)
def test_errors_name_the_argument(target, score, words):
    with pytest.raises(ValueError, match=words):
        rb.BaselineHazard(target, score)


@pytest.mark.parametrize("tau", [0.5, 1.0, 3.7, 8.0])
def test_the_restricted_mean_is_the_area_below_the_curve(tau):
    """By adding rectangles, with ties, weights and blocks of one patient."""
    rng = np.random.default_rng(0)
    time, event = rng.integers(1, 9, 60).astype(float), rng.random(60) < 0.6
    time[0], f, weight = 8.0, rng.normal(size=60), rng.integers(0, 3, 60) * rng.random(60)
    weight[0] = 1.0
    hazard = rb.BaselineHazard(rb.Preferences.from_survival(time, event, weight=weight), f)
    score = np.array([-3.0, 0.0, 2.0])
    area, ends = 0.0, [0.0, *hazard.times[hazard.times < tau], tau]
    for start, end in zip(ends[:-1], ends[1:]):
        area = area + hazard.survival(score, start) * (end - start)
    assert np.allclose(hazard.restricted_mean(score, tau), area, rtol=1e-12)
    assert (hazard.restricted_mean(score, tau) <= tau).all()


def test_the_restricted_mean_is_unknown_beyond_the_last_time():
    y = rb.Orders.from_survival([1.0, 2, 3, 9], [1, 0, 1, 0], weight=[1.0, 1, 1, 0])
    hazard = rb.BaselineHazard(y, np.zeros(4))
    assert hazard.last_time == 3.0  # the patient of weight 0 does not count
    with pytest.raises(
        ValueError, match="^tau is 4. Pass a time of at most 3, the last one of y_true"
    ):
        hazard.restricted_mean([0.0], 4)
    early = rb.BaselineHazard(rb.Orders.from_survival([-1.0, 2], [1, 1]), [0.0, 0])
    with pytest.raises(ValueError, match="^y_true has the time -1. Pass times >= 0"):
        early.restricted_mean([0.0], 1)
    assert hazard.restricted_mean([-800.0, 800.0], 3).tolist() == [1.0, 3.0]


@pytest.mark.peer("lifelines")
def test_without_features_the_area_is_that_below_the_estimate_of_nelson_and_aalen():
    from lifelines import NelsonAalenFitter

    rng = np.random.default_rng(1)
    time, event = rng.integers(1, 15, 80).astype(float), rng.random(80) < 0.6
    theirs = NelsonAalenFitter(nelson_aalen_smoothing=False).fit(time, event).cumulative_hazard_
    hazard = rb.BaselineHazard(rb.Preferences.from_survival(time, event), np.zeros(80))
    for tau in (4.5, 11.0):
        steps = theirs.loc[:tau].iloc[:, 0]
        area = np.exp(-steps.to_numpy()) @ np.diff([*steps.index, tau])
        assert hazard.restricted_mean([0.0], tau)[0] == pytest.approx(area, rel=1e-10)
