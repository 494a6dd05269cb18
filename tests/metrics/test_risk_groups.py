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


def test_an_observed_share_of_0_has_no_interval_and_the_table_says_why():
    y = rb.Preferences.from_survival([1, 2, 3, 9, 9, 9], [1, 1, 1, 1, 0, 0])
    found = survival_calibration(y, [0.1, 0.1, 0.2, 0.8, 0.9, 0.9], 5, groups=2)
    assert found.observed[0] == 0 and np.isnan(found.lower[0]) and np.isnan(found.upper[0])
    shown = str(found).splitlines()
    assert "0.0000    none: no patient left  3" in shown[1] and "nan" not in str(found)
    assert "1.0000    1.0000 to 1.0000" in shown[2]


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


def late_sample(seed, n=80):
    """Patients with ties who enter at whole times, many of them late, in three groups."""
    time, event, score, rng = sample(seed, n, 14, 0.3)
    entry = np.maximum(-1.0, time - rng.integers(1, 12, n))
    entry[:15] = -1.0  # some patients of each group are observed from the start
    score[:15] = np.arange(15) % 5
    time[:5] = 15.0  # and until the end
    return time, event, entry, score, rng


# Written by lifelines 0.30.3 and statsmodels 0.15.0 (Python 3.11) for `late_sample(0)`:
#   late, group = entry + 0.5, np.searchsorted([1, 3], score)  # both have entries at t at risk at t
#   km = KaplanMeierFitter().fit(time[group == g], event[group == g], entry=late[group == g])
#   km.survival_function_at_times([3.0, 7.0, 12.0]).tolist()
#   km.confidence_interval_survival_function_.loc[:7.0].iloc[-1].tolist()
#   survdiff(time, event.astype(int), group, entry=late)  # statistic and p-value
LATE = [
    (
        [0.8520710059171598, 0.6014618865297598, 0.38555249136523084],
        [0.3427484979769457, 0.7855409443316269],
    ),
    ([0.8, 0.6093750000000001, 0.29124540441176483], [0.3530077477787497, 0.7900805423337462]),
    ([1.0, 0.6428571428571429, 0.4132653061224491], [0.2529033700867142, 0.8676199984012177]),
]
LATE_LOG_RANK = (0.2191464309563802, 0.8962165450370564)


@pytest.mark.filterwarnings("ignore:no patient of the group:UserWarning")
def test_late_entries_have_the_stored_figures_of_lifelines_and_statsmodels():
    time, event, entry, score, _ = late_sample(0)
    found = risk_groups(rb.Orders.from_survival(time, event, entry=entry), score, [1, 3])
    for curve, (survival, ends) in zip(found.curves, LATE, strict=True):
        assert np.allclose(curve.at([3.0, 7.0, 12.0]), survival, rtol=1e-8, atol=0)
        last = np.searchsorted(curve.times, 7.0, side="right") - 1
        assert np.allclose([curve.lower[last], curve.upper[last]], ends, rtol=1e-8, atol=0)
    assert (found.statistic, found.p_value) == pytest.approx(LATE_LOG_RANK, rel=1e-8)


@pytest.mark.peer("lifelines")
@pytest.mark.filterwarnings("ignore:Starting with pandas")
@pytest.mark.filterwarnings("ignore:no patient of the group:UserWarning")
@pytest.mark.parametrize("seed", range(4))
def test_curves_of_late_entries_equal_lifelines(seed):
    from lifelines import KaplanMeierFitter

    time, event, entry, score, _ = late_sample(seed)
    found = risk_groups(rb.Orders.from_survival(time, event, entry=entry), score, [1, 3])
    for g, curve in enumerate(found.curves):
        part = found.group == g
        km = KaplanMeierFitter().fit(time[part], event[part], entry=entry[part] + 0.5)
        there = curve.survival > 0
        their = km.survival_function_at_times(curve.times).to_numpy()
        assert np.allclose(curve.survival, their, rtol=0, atol=1e-10)
        ends = km.confidence_interval_survival_function_.loc[curve.times].to_numpy()[there]
        assert np.allclose(np.c_[curve.lower, curve.upper][there], ends, rtol=0, atol=1e-10)


@pytest.mark.filterwarnings("ignore:no patient of the group:UserWarning")
@pytest.mark.parametrize("seed", range(6))
def test_late_entries_are_those_of_a_loop_over_the_events(seed):
    """Log-rank test, curves and calibration; a structured array and weights count alike."""
    time, event, entry, score, rng = late_sample(seed)
    y = rb.Orders.from_survival(time, event, entry=entry)
    found = risk_groups(y, score, [0, 2])
    Z, V, alive = np.zeros(3), np.zeros((3, 3)), np.ones(3)
    for t in np.unique(time[event]):
        here = (entry < t) & (t <= time)
        n = np.array([np.sum(here & (found.group == g)) for g in range(3)])
        d = np.array([np.sum((time == t) & event & (found.group == g)) for g in range(3)])
        alive *= 1 - np.divide(d, n, np.zeros(3), where=n > 0)
        Z += d - d.sum() * n / n.sum()
        if n.sum() > 1:
            part = np.diag(n / n.sum()) - np.outer(n, n) / n.sum() ** 2
            V += d.sum() * (n.sum() - d.sum()) / (n.sum() - 1) * part
    assert found.statistic == pytest.approx(Z[:2] @ np.linalg.solve(V[:2, :2], Z[:2]), rel=1e-9)
    assert np.allclose([curve.survival[-1] for curve in found.curves], alive)
    assert [curve.n_patients for curve in found.curves] == np.bincount(found.group).tolist()
    calibrated = survival_calibration(y, (score + 1) / 9, 6.0, groups=1)
    assert calibrated.observed[0] == risk_groups(y, score, 1).curves[0].at(6.0)[0]
    fields = [("died", bool), ("entry", float), ("days", float)]
    structured = np.array(list(zip(event, entry, time)), dtype=fields)
    assert str(risk_groups(structured, score, [0, 2])) == str(found)
    weight = rng.integers(0, 4, 80)
    rows = np.repeat(np.arange(80), weight)
    once = rb.Orders.from_survival(time, event, weight=weight, entry=entry)
    assert str(risk_groups(once, score, [0, 2])) == str(risk_groups(y[rows], score[rows], [0, 2]))
    p = rng.random(80)
    one, other = (survival_calibration(*each, 5, 2) for each in ((once, p), (y[rows], p[rows])))
    assert str(one) == str(other)


def test_entries_before_all_times_change_nothing():
    time, event, score, rng = sample(3)
    late = rb.Orders.from_survival(time, event, entry=np.zeros(60))
    plain, p = rb.Preferences.from_survival(time, event), rng.random(60)
    one, other = risk_groups(late, score), risk_groups(plain, score)
    assert str(one) == str(other) and one.statistic == other.statistic
    assert str(survival_calibration(late, p, 4)) == str(survival_calibration(plain, p, 4))


def test_rows_of_a_patient_in_one_group_are_one_patient():
    """A patient split into intervals changes neither the curves nor the test."""
    time, event, score, rng = sample(4)
    middle = np.floor(time * rng.random(60))
    rows = np.r_[np.arange(60), np.flatnonzero(middle > 0)]
    first = np.arange(rows.size) < 60
    cut = np.where(middle[rows] > 0, middle[rows], time[rows])
    parts = rb.Orders.from_survival(
        np.where(first, cut, time[rows]),
        event[rows] & ~(first & (middle[rows] > 0)),
        entry=np.where(first, 0.0, middle[rows]),
    )
    one = risk_groups(parts, score[rows], [1, 3])
    other = risk_groups(rb.Preferences.from_survival(time, event), score, [1, 3])
    assert one.statistic == pytest.approx(other.statistic, rel=1e-12)
    for a, b in zip(one.curves, other.curves):
        assert np.allclose(a.at(b.times), b.survival, rtol=1e-12)


def test_a_time_without_patients_is_announced():
    y = rb.Orders.from_survival([2, 6, 7, 9], [1, 1, 0, 0], entry=[0, 3, 3, 0])
    with pytest.warns(
        UserWarning, match="of scores 0 to 1 is under observation right after 2, .*than 2:"
    ):
        risk_groups(y, [0, 1, 1, 2], [1])
    with pytest.warns(UserWarning, match="of probabilities 0.1 to 0.3 is under observation"):
        survival_calibration(y[[0, 1, 2]], [0.2, 0.1, 0.3], 5, groups=1)
    found = survival_calibration(y[[0, 1, 2]], [0.2, 0.1, 0.3], 2, groups=1)  # not after the time
    assert found.observed[0] == 0
    strata = rb.Orders.from_survival([2, 6, 7], [1, 1, 0], [0, 0, 1], entry=[0, 3, 3])
    with pytest.raises(ValueError, match="^y_true has strata"):
        risk_groups(strata, [0, 1, 1])


@pytest.mark.parametrize("n", range(1, 61))
def test_a_median_has_no_rounding_errors(n):
    """With an event at each of the times 1 to n, half of the patients are dead at n / 2."""
    y = rb.Orders.from_survival(np.arange(1.0, n + 1), np.ones(n, bool))
    (curve,) = risk_groups(y, np.zeros(n), 1).curves
    assert curve.median == (n + 1) // 2
