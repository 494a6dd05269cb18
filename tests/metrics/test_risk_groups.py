"""Kaplan-Meier curves, log-rank test and calibration: by definition, by figures of others."""

import numpy as np
import pytest

import rankbook as rb
from rankbook.metrics import UndefinedMetric, risk_groups, survival_calibration

# Written by lifelines 0.30.3 (Python 3.11) for the patients and groups of `stored`:
#   km = KaplanMeierFitter().fit(time[group == g], event[group == g])
#   km.survival_function_at_times(TIMES).tolist()
#   km.confidence_interval_survival_function_.loc[:8.0].iloc[-1].tolist()
#   restricted_mean_survival_time(km, 9.5), km.median_survival_time_
#   multivariate_logrank_test(time, group, event)  # test_statistic, p_value
TIMES = [2.0, 5.0, 8.0, 10.5]
STORED = [
    (
        [0.9444444444444446, 0.6956845238095243, 0.45654296875000033, 0.11413574218750006],
        [0.1912211890604134, 0.6896205986362081],
        (6.973564995659725, 8.0),
    ),
    (
        [0.9182608695652179, 0.8285060477280161, 0.6382565108423235, 0.4550532531005454],
        [0.40272129587907407, 0.8011768112854049],
        (7.90555373942102, 10.0),
    ),
    (
        [0.8156862745098038, 0.608437314319667, 0.41721415839062886, 0.41721415839062886],
        [0.15213451563190106, 0.6664326009237269],
        (6.367286308462777, 7.0),
    ),
]
LOG_RANK = (2.0192701316331916, 0.3643519197831519)


def stored():
    """Sixty patients with ties of every kind, and a score of seven values."""
    k = np.arange(60)
    return 1.0 + k * 7 % 12, k * k % 5 < 3, k * 11 % 7


def sample(seed, n=60, largest=9, shift=0.0):
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 5, n).astype(float)
    time = np.ceil(largest * rng.random(n) ** (1 / (1 + shift * score)))
    return time, rng.random(n) < 0.6, score, rng


def test_curves_and_test_equal_the_stored_figures_of_lifelines():
    time, event, score = stored()
    found = risk_groups(rb.Preferences.from_survival(time, event), score, [1, 4])
    for curve, (survival, ends, (mean, median)) in zip(found.curves, STORED, strict=True):
        assert np.allclose(curve.at(TIMES), survival, rtol=1e-8, atol=0)
        last = np.searchsorted(curve.times, 8.0, side="right") - 1
        assert np.allclose([curve.lower[last], curve.upper[last]], ends, rtol=1e-8, atol=0)
        assert curve.restricted_mean(9.5) == pytest.approx(mean, rel=1e-8)
        assert curve.median == median
    assert (found.statistic, found.p_value) == pytest.approx(LOG_RANK, rel=1e-8)


@pytest.mark.peer("lifelines")
@pytest.mark.filterwarnings("ignore:Starting with pandas")
@pytest.mark.parametrize("seed", range(6))
def test_curves_and_test_equal_lifelines(seed):
    from lifelines import KaplanMeierFitter
    from lifelines.statistics import multivariate_logrank_test
    from lifelines.utils import restricted_mean_survival_time

    time, event, score, _ = sample(seed, 150, 6 + 5 * seed, 0.3)
    found = risk_groups(rb.Preferences.from_survival(time, event), score, 3)
    theirs = multivariate_logrank_test(time, found.group, event)
    assert found.statistic == pytest.approx(theirs.test_statistic, rel=1e-8)
    assert found.p_value == pytest.approx(theirs.p_value, rel=1e-8)
    for g, curve in enumerate(found.curves):
        km = KaplanMeierFitter().fit(time[found.group == g], event[found.group == g])
        there = curve.survival > 0
        their = km.survival_function_at_times(curve.times).to_numpy()
        assert np.allclose(curve.survival, their, rtol=0, atol=1e-8)
        ends = km.confidence_interval_survival_function_.loc[curve.times].to_numpy()[there]
        assert np.allclose(np.c_[curve.lower, curve.upper][there], ends, rtol=0, atol=1e-8)
        tau = curve.times[-1] - 0.5
        mean = restricted_mean_survival_time(km, tau)
        assert curve.restricted_mean(tau) == pytest.approx(mean, rel=1e-8)
        assert curve.median == km.median_survival_time_


@pytest.mark.parametrize("seed", range(8))
def test_log_rank_is_that_of_a_loop_over_the_events(seed):
    time, event, score, _ = sample(seed)
    found = risk_groups(rb.Preferences.from_survival(time, event), score, [0, 2])
    Z, V = np.zeros(3), np.zeros((3, 3))
    for t in np.unique(time[event]):
        n = np.array([np.sum((time >= t) & (found.group == g)) for g in range(3)])
        d = np.array([np.sum((time == t) & event & (found.group == g)) for g in range(3)])
        Z += d - d.sum() * n / n.sum()
        if n.sum() > 1:
            part = np.diag(n / n.sum()) - np.outer(n, n) / n.sum() ** 2
            V += d.sum() * (n.sum() - d.sum()) / (n.sum() - 1) * part
    statistic = Z[:2] @ np.linalg.solve(V[:2, :2], Z[:2])
    assert (found.statistic, found.df) == (pytest.approx(statistic, rel=1e-9), 2)
    observed = [curve.events.sum() for curve in found.curves]
    assert np.allclose(observed - found.expected, Z)


def test_a_weight_counts_copies_and_others_are_refused():
    time, event, score, rng = sample(0)
    weight = rng.integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weight)
    once = rb.Preferences.from_survival(time, event, weight=weight)
    copies = rb.Preferences.from_survival(time[rows], event[rows])
    one, other = risk_groups(once, score), risk_groups(copies, score[rows])
    assert str(one) == str(other) and one.statistic == other.statistic
    assert np.array_equal(one.group[rows], other.group)
    p = rng.random(60)
    assert str(survival_calibration(once, p, 4)) == str(survival_calibration(copies, p[rows], 4))
    half = rb.Preferences.from_survival(time, event, weight=np.where(weight == 1, 0.5, weight))
    with pytest.raises(ValueError, match=r"^y_true has the weight 0\.5 at index .*whole numbers"):
        risk_groups(half, score)
    with pytest.raises(ValueError, match="^y_true has strata"):
        risk_groups(rb.Preferences.from_survival(time, event, qid=weight), score)


def test_groups_of_one_hazard_that_never_meet_events_have_fewer_degrees_of_freedom():
    """A group without anyone at risk at an event adds nothing to the test."""
    time, event = [1.0, 1.0, 5.0, 6.0, 7.0, 8.0], [0, 0, 1, 1, 1, 1]
    y = rb.Preferences.from_survival(time, event)
    found = risk_groups(y, [0, 0, 1, 2, 1, 2], [0, 1])
    assert found.df == 1 and found.expected[0] == 0
    alone = risk_groups(y[np.arange(2, 6)], [1, 2, 1, 2], [1])
    assert found.statistic == pytest.approx(alone.statistic, rel=1e-12)
    together = risk_groups(rb.Preferences.from_survival([3.0, 3.0], [1, 1]), [0, 1], 2)
    assert (together.df, together.p_value) == (0, 1.0)  # all die at once


def test_curves_end_at_zero_or_are_unknown():
    died = risk_groups(rb.Preferences.from_survival([1, 2, 4], [1, 0, 1]), [0, 0, 0], 1).curves[0]
    assert died.at([0.5, 1, 9]).tolist() == pytest.approx([1.0, 2 / 3, 0.0])
    assert np.isnan([died.lower[-1], died.upper[-1]]).all() and died.median == 4
    assert died.restricted_mean(100) == pytest.approx(1 + 3 * 2 / 3)
    left = risk_groups(rb.Preferences.from_survival([1, 2, 4], [1, 0, 0]), [0, 0, 0], 1).curves[0]
    assert np.isnan(left.at(5)[0]) and left.median == np.inf
    with pytest.raises(ValueError, match="^tau is 5. Pass at most 4, the last time"):
        left.restricted_mean(5)
    early = risk_groups(rb.Preferences.from_survival([-1, 2], [1, 0]), [0, 0], 1).curves[0]
    with pytest.raises(ValueError, match="^y_true has the time -1"):
        early.restricted_mean(1)


def test_calibration_compares_the_mean_with_kaplan_meier_in_groups_of_equal_size():
    time, event, _, rng = sample(1, 200)
    p = rng.random(200)
    found = survival_calibration(rb.Preferences.from_survival(time, event), p, 4.0, groups=4)
    order = np.argsort(p)
    for g, rows in enumerate(np.split(order, 4)):
        share = 1.0
        for t in np.unique(time[rows][event[rows] & (time[rows] <= 4)]):
            here = time[rows]
            share *= 1 - np.sum(event[rows] & (here == t)) / np.sum(here >= t)
        assert found.observed[g] == pytest.approx(share, rel=1e-12)
        assert found.predicted[g] == pytest.approx(p[rows].mean(), rel=1e-12)
        assert (found.low[g], found.high[g], found.count[g]) == (p[rows].min(), p[rows].max(), 50)
        assert found.lower[g] < share < found.upper[g]
    assert found.error == pytest.approx(np.abs(found.predicted - found.observed).mean())
    few = survival_calibration(rb.Preferences.from_survival(time, event), np.round(p), 4.0)
    assert few.count.size == 2  # groups of equal probabilities are joined
    ax = rb.plots.plot_reliability(found)
    assert ax.get_xlabel() == "predicted to live beyond 4"


def test_errors_name_the_argument():
    y = rb.Preferences.from_survival([1.0, 2.0, 3.0], [1, 1, 0])
    for call, words in (
        (lambda: risk_groups(y, [1.0, 1.0, 1.0]), "groups is 3, and group .* has no patient"),
        (lambda: risk_groups(y, [1.0, 2.0, 3.0], [2.0, 1.0]), "groups is .*increasing cut points"),
        (lambda: risk_groups(y, [1.0, 2.0]), r"y_score has shape \(2,\)"),
        (lambda: survival_calibration(y, [0.5, 2.0, 0.1], 1), "y_proba has 2 in row 1, column 0"),
        (lambda: survival_calibration(y, [0.5, 0.2], 1), r"y_proba has shape \(2,\). Pass"),
        (lambda: rb.plots.plot_risk_groups(3), "groups is an int"),
    ):
        with pytest.raises((ValueError, TypeError), match=f"^{words}"):
            call()
    with pytest.raises(UndefinedMetric, match="^y_true has no patient under observation after 3"):
        survival_calibration(y, [0.5, 0.6, 0.7], 4, groups=1)
