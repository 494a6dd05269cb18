"""Jackknife of concordances: beside leaving out patients one at a time."""

import numpy as np
import pytest

import rankbook as rb
from rankbook.metrics import (
    UndefinedMetric,
    compare_concordances,
    concordance,
    concordance_interval,
)


def sample(seed, n=30, ties=True):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    if ties:
        x = x.round()
    time = rng.exponential(np.exp(x[:, 0]))
    time = np.ceil(4 * time) if ties else time
    return time, rng.random(n) < 0.6, x, rng


def left_out(target, score, **options):
    """The concordance without each patient, by computing it again."""
    n = len(score)
    rows = [np.delete(np.arange(n), i) for i in range(n)]
    return np.array([concordance(target(keep), score[keep], **options) for keep in rows])


def error_of(without):
    n = without.size
    return np.sqrt((n - 1) * without.var())


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_jackknife_equals_leaving_out_one_patient_at_a_time(seed, ties):
    """Also with weights, strata and Uno's weights."""
    time, event, x, rng = sample(seed, ties=ties)
    weight, stratum = rng.integers(1, 4, 30) * rng.random(30), rng.integers(2, size=30)
    whole = rb.Preferences.from_survival
    train = whole(np.r_[time, time.max() + 1], np.r_[event, False])
    cases = (
        (lambda at: whole(time[at], event[at]), {}),
        (lambda at: whole(time[at], event[at], stratum[at], weight[at]), {}),
        (lambda at: whole(time[at], event[at]), dict(train=train, tau=float(np.median(time)) + 1)),
    )
    for target, options in cases:
        y, (a, b, _) = target(np.arange(30)), x.T
        others = [left_out(target, score, **options) for score in (a, b)]
        one = concordance_interval(y, a, **options)
        assert one.value == concordance(y, a, **options) and one.n_patients == 30
        assert one.standard_error == pytest.approx(error_of(others[0]), rel=1e-9)
        assert one.low < one.value < one.high
        both = compare_concordances(y, a, b, **options)
        assert both.standard_error == pytest.approx(error_of(others[0] - others[1]), rel=1e-9)
        assert both.difference == both.value_a - both.value_b
        assert (both.low > 0 or both.high < 0) == (both.p_value < 0.05)


def test_the_interval_is_symmetric_in_log_odds_and_shorter_for_less_confidence():
    time, event, x, _ = sample(9, 80)
    y = rb.Preferences.from_survival(time, event)
    found = [concordance_interval(y, x[:, 0], confidence=c) for c in (0.95, 0.5)]
    for one, z in zip(found, (1.959963984540054, 0.6744897501960817)):
        ends = np.log(np.array([one.low, one.high]) / (1 - np.array([one.low, one.high])))
        middle = np.log(one.value / (1 - one.value))
        reach = z * one.standard_error / (one.value * (1 - one.value))
        assert np.allclose(ends, [middle - reach, middle + reach], rtol=1e-9)
    assert found[0].low < found[1].low < found[1].high < found[0].high


def test_orders_and_structured_arrays_are_targets_and_rows_of_weight_0_are_no_patients():
    time, event, x, _ = sample(2)
    y = np.rec.fromarrays([event, time], names="event,time")
    one = concordance_interval(y, x[:, 0])
    assert one == concordance_interval(rb.Orders.from_survival(time, event), x[:, 0])
    weight = np.r_[np.ones(30), np.zeros(5)]
    more = rb.Preferences.from_survival(np.r_[time, time[:5]], np.r_[event, event[:5]])
    longer = concordance_interval(more.item_weighted(weight), np.r_[x[:, 0], x[:5, 1]])
    assert longer.n_patients == 30
    assert longer.standard_error == pytest.approx(one.standard_error, rel=1e-12)


def test_equal_rankings_do_not_differ_and_one_patient_in_all_pairs_is_refused():
    time, event, x, _ = sample(3)
    y = rb.Preferences.from_survival(time, event)
    same = compare_concordances(y, x[:, 0], np.exp(x[:, 0]))
    assert (same.difference, same.low, same.high, same.p_value) == (0.0, 0.0, 0.0, 1.0)
    single = rb.Preferences.from_survival([1.0, 2.0, 3.0], [1, 0, 0])
    with pytest.raises(UndefinedMetric, match="^y_true has a patient in every comparable pair"):
        concordance_interval(single, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"^confidence is 95. Pass a number > 0 and < 1"):
        concordance_interval(y, x[:, 0], confidence=95)
    with pytest.raises(UndefinedMetric, match="^y_true has no comparable pair"):
        compare_concordances(rb.Preferences.from_survival([1, 2], [0, 0]), [1, 2], [2, 1])
    perfect = concordance_interval(rb.Preferences.from_survival([1, 2, 3, 4], [1] * 4), range(4))
    assert (perfect.low, perfect.high) == (1.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("slope, n", [(0.3, 100), (1.0, 100), (2.5, 100), (1.0, 40)])
def test_intervals_cover_the_concordance_of_the_population(slope, n):
    """And the test of two equally good models rejects in one case of twenty."""
    rng, runs, inside, rejected = np.random.default_rng(7), 300, 0, 0

    def draw(n):
        x, noise = rng.normal(size=n), rng.normal(size=(2, n))
        life, stop = rng.exponential(np.exp(slope * x)), rng.exponential(1.5, size=n)
        y = rb.Preferences.from_survival(np.ceil(10 * np.minimum(life, stop)), life <= stop)
        return y, x, *(x + noise)

    y, x, _, _ = draw(200_000)
    truth = concordance(y, x)
    for _ in range(runs):
        y, x, a, b = draw(n)
        found = concordance_interval(y, x)
        inside += found.low <= truth <= found.high
        rejected += compare_concordances(y, a, b).p_value < 0.05
    error = np.sqrt(0.05 * 0.95 / runs)
    assert abs(inside / runs - 0.95) < 3 * error
    assert abs(rejected / runs - 0.05) < 3 * error


def test_a_hundred_thousand_patients_take_no_list_of_pairs():
    rng = np.random.default_rng(0)
    x, n = rng.normal(size=(2, 100_000)), 100_000
    y = rb.Preferences.from_survival(rng.exponential(np.exp(x[0])), rng.random(n) < 0.5)
    found = compare_concordances(y, x[0], x[0] + x[1])
    assert 0 < found.standard_error < 0.002 and not y.is_listed


def test_a_difference_that_no_patient_changes_has_no_p_value():
    y = rb.Preferences.from_survival([1, 2, 3], [1, 1, 1])
    found = rb.metrics.compare_concordances(y, [1, 2, 3], [0, 0, 0])
    assert found.difference == 0.5 and np.isnan(found.p_value)
    assert (found.low, found.high) == (-1, 1)


def test_scores_are_refused_with_a_way_to_the_interval_of_their_pairs():
    rng = np.random.default_rng(0)
    y, score, qid = rng.integers(0, 4, 60) - 2.0, rng.normal(size=60), np.arange(60) // 20
    for target in (rb.Preferences.from_scores(y, qid), y):
        with pytest.raises(ValueError, match=r"from_survival\(y, \[True\] \* len\(y\), qid\)"):
            rb.metrics.concordance_interval(target, score)
    pairs = rb.Preferences.from_survival(y, [True] * len(y), qid)
    found = rb.metrics.concordance_interval(pairs, score)
    assert found.value == pytest.approx(1 - rb.disagreement(y, score, qid=qid), abs=1e-12)
    without = []
    for i in range(60):
        left = np.arange(60) != i
        without.append(1 - rb.disagreement(y[left], score[left], qid=qid[left]))
    error = np.sqrt(59 * np.var(without))
    assert found.standard_error == pytest.approx(error, rel=1e-9)
