"""Concordance, AUC and Brier score: beside loops over all pairs and other programs."""

import numpy as np
import pytest
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score

import rankbook as rb
from rankbook.metrics import UndefinedMetric, concordance, dynamic_auc, survival_brier


def sample(seed, n=40, largest=None, part=0.6):
    """Times, events and scores; with `largest`, small integers that tie in every way."""
    rng = np.random.default_rng(seed)
    if largest is None:
        return rng.exponential(size=n), rng.random(n) < part, rng.normal(size=n)
    time = rng.integers(1, largest + 1, n).astype(float)
    return time, rng.random(n) < part, rng.integers(0, 5, n).astype(float)


def structured(time, event):
    found = np.empty(len(time), dtype=[("died", bool), ("days", float)])
    found["died"], found["days"] = event, time
    return found


def share_observed(time, event, t):
    """G(t), the share whose observation lasts beyond t, by the definition."""
    share = 1.0
    for u in np.unique(time[~event & (time <= t)]):
        left = np.sum(~event & (time == u))
        share *= 1 - left / (left + np.sum(time > u))
    return share


def by_loop(time, event, score, weight=None, factor=None, stratum=None):
    """The share of comparable pairs in order; of each pair the earlier one weighs `factor`."""
    n = len(time)
    weight, factor = (np.ones(n) if v is None else v for v in (weight, factor))
    stratum = np.zeros(n) if stratum is None else stratum
    right = total = 0.0
    for i in range(n):
        for j in range(n):
            after = time[i] < time[j] or time[i] == time[j] and not event[j]
            if i != j and event[i] and after and stratum[i] == stratum[j]:
                w = weight[i] * weight[j] * factor[i]
                right += w * ((score[j] > score[i]) + 0.5 * (score[j] == score[i]))
                total += w
    return right / total


def inner_times(time, *shares):
    """Quantiles that some times exceed."""
    times = np.unique(np.quantile(time, shares))
    return times[times < time.max()]


SAMPLES = [(seed, largest) for seed in range(8) for largest in (None, 4, 15)]


@pytest.mark.parametrize("seed, largest", SAMPLES)
def test_harrell_and_uno_equal_a_loop_over_all_pairs(seed, largest):
    time, event, score = sample(seed, largest=largest)
    weight, stratum = (np.random.default_rng(seed).integers(0, 3, 40) for _ in range(2))
    y = structured(time, event)
    assert np.isclose(concordance(y, score), by_loop(time, event, score), rtol=1e-12)
    both = concordance(y, score, stratum, weight)
    assert np.isclose(both, by_loop(time, event, score, weight, None, stratum), rtol=1e-12)
    train_time, train_event, _ = sample(seed + 100, 80, largest)
    tau = float(np.quantile(time, 0.7))
    observed = lambda t: share_observed(train_time, train_event, t)
    factor = [1 / observed(t) ** 2 if t < tau else 0.0 for t in time]
    uno = concordance(y, score, train=structured(train_time, train_event), tau=tau)
    assert np.isclose(uno, by_loop(time, event, score, None, np.array(factor)), rtol=1e-12)


@pytest.mark.parametrize("seed, largest", SAMPLES)
def test_the_dynamic_auc_equals_a_loop_over_cases_and_controls(seed, largest):
    time, event, score = sample(seed, largest=largest)
    weight = np.random.default_rng(seed).integers(1, 4, 40)
    y = rb.Preferences.from_survival(time, event, weight=weight)
    times = inner_times(time, 0.5, 0.6, 0.75)
    values, mean = dynamic_auc(y, score, times, train=structured(time, event))
    by_hand = []
    for t in times:
        case, control = np.flatnonzero(event & (time <= t)), np.flatnonzero(time > t)
        w = np.array([weight[i] / share_observed(time, event, time[i]) for i in case])
        order = np.sign(score[control] - score[case][:, None]) / 2 + 0.5
        pair = w[:, None] * weight[control]
        by_hand.append((pair * order).sum() / pair.sum())
    assert np.allclose(values, by_hand, rtol=1e-12, atol=0)
    assert values.min() - 1e-12 <= mean <= values.max() + 1e-12
    (one,), mean = dynamic_auc(y, score, times[0], train=y)
    assert np.isclose(one, mean, rtol=1e-12)


@pytest.mark.peer("lifelines")
@pytest.mark.parametrize("seed, largest", SAMPLES)
def test_harrells_concordance_is_that_of_lifelines(seed, largest):
    from lifelines import utils

    time, event, score = sample(seed, 200, largest)
    theirs = utils.concordance_index(time, score, event)
    prefs = rb.Preferences.from_survival(time, event)
    assert abs(concordance(prefs, score) - theirs) <= 1e-12
    assert concordance(prefs, score) == rb.metrics.pair_accuracy(prefs, score)
    assert not prefs.is_listed


@pytest.mark.peer("sksurv")
@pytest.mark.slow
@pytest.mark.parametrize("seed, largest", SAMPLES)
def test_all_three_are_those_of_scikit_survival(seed, largest):
    import sksurv.metrics as theirs

    time, event, score = sample(seed, 200, largest, part=0.7)
    train_time, train_event, _ = sample(seed + 100, 400, largest, part=0.7)
    train_time, train_event = np.r_[train_time, time.max() + 1], np.r_[train_event, True]
    y, train = structured(time, event), structured(train_time, train_event)
    harrell = theirs.concordance_index_censored(event, time, -score)[0]
    assert abs(concordance(y, score) - harrell) <= 1e-12
    for tau in (None, float(np.quantile(time, 0.6))):
        uno = theirs.concordance_index_ipcw(train, y, -score, tau)[0]
        assert abs(concordance(y, score, train=train, tau=tau) - uno) <= 1e-12
    times = inner_times(time, 0.3, 0.45, 0.6, 0.75)
    values, mean = theirs.cumulative_dynamic_auc(train, y, -score, times)
    ours = dynamic_auc(y, score, times, train=train)
    assert np.abs(ours[0] - values).max() <= 1e-12 and abs(ours[1] - mean) <= 1e-12


@pytest.mark.parametrize("seed, largest", SAMPLES)
def test_the_brier_score_equals_a_loop_over_patients(seed, largest):
    time, event, _ = sample(seed, largest=largest)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, 40)
    train_time, train_event, _ = sample(seed + 100, 80, largest)
    train_time, train_event = np.r_[train_time, 99.0], np.r_[train_event, False]
    train = structured(train_time, train_event)
    times = np.unique(np.quantile(time, [0.2, 0.5, 0.7, 1.0]))
    p = rng.random((40, times.size))
    y = rb.Preferences.from_survival(time, event, weight=weight)
    values, integrated = survival_brier(y, p, times, train=train)
    observed = lambda t: share_observed(train_time, train_event, t)
    for value, t, s in zip(values, times, p.T):
        lost = 0.0
        for i in range(40):
            if event[i] and time[i] <= t:
                lost += weight[i] * s[i] ** 2 / observed(time[i])
            elif time[i] > t:
                lost += weight[i] * (1 - s[i]) ** 2 / observed(t)
        assert np.isclose(value, lost / weight.sum(), rtol=1e-12)
        one = survival_brier(structured(time, event), s, t, weight, train=train)
        assert np.isclose(one[0][0], value, rtol=1e-12) and one[1] == one[0][0]
    area = np.trapezoid(values, times) / (times[-1] - times[0])
    assert np.isclose(integrated, area, rtol=1e-12)


def test_the_brier_score_equals_the_stored_figures_of_scikit_survival():
    """Written by scikit-survival 0.28.0:

    brier_score(y, y, alive, times)[1].tolist(), integrated_brier_score(y, y, alive, times)
    """
    k = np.arange(60)
    time, event, score = 1.0 + k * 7 % 12, k * k % 5 < 3, k * 11 % 7
    y, times = structured(time, event), np.array([2.0, 5.0, 8.0, 10.5])
    alive = np.exp(-np.outer(np.exp(-score / 4), times) / 8)
    values, integrated = survival_brier(y, alive, times, train=y)
    known = [0.10291654801458416, 0.22260208285905098, 0.2767451747770357, 0.25957451919944036]
    assert np.allclose(values, known, rtol=1e-12, atol=0)
    assert np.isclose(integrated, 0.22443511179237385, rtol=1e-12)


@pytest.mark.peer("sksurv")
@pytest.mark.slow
@pytest.mark.parametrize("seed, largest", SAMPLES)
def test_the_brier_score_is_that_of_scikit_survival(seed, largest):
    import sksurv.metrics as theirs

    time, event, _ = sample(seed, 200, largest, part=0.7)
    train_time, train_event, _ = sample(seed + 100, 400, largest, part=0.7)
    train = structured(np.r_[train_time, time.max() + 1], np.r_[train_event, True])
    y, times = structured(time, event), inner_times(time, 0.3, 0.45, 0.6, 0.75)
    p = np.random.default_rng(seed).random((200, times.size))
    values, integrated = survival_brier(y, p, times, train=train)
    assert np.abs(values - theirs.brier_score(train, y, p, times)[1]).max() <= 1e-12
    assert abs(integrated - theirs.integrated_brier_score(train, y, p, times)) <= 1e-12


def test_probabilities_and_times_of_the_brier_score_are_checked():
    time, event, score = sample(0)
    y, late = structured(time, event), float(time.max()) + 1
    for p, times, train, words in (
        (score, 1.0, y, "y_proba has .* at index"),
        (np.full(40, 2.0), 1.0, y, "y_proba has 2 in row 0, column 0. Pass probabilities"),
        (
            np.full((40, 2), 0.5),
            1.0,
            y,
            r"y_proba has shape \(40, 2\). Pass an array of shape \(40, 1\)",
        ),
        (np.full((40, 2), 0.5), [2.0, 1.0], y, "times is .*increasing order"),
        (np.full(40, 0.5), 1.0, y[:1], "train has no patient under observation after"),
    ):
        with pytest.raises(ValueError, match=f"^{words}"):
            survival_brier(y, p, times, train=train)
    short = structured(np.array([0.5, 0.6]), np.array([True, False]))
    alive = structured(np.array([5.0, 6.0]), np.array([False, False]))
    with pytest.raises(ValueError, match="^train has no patient .* after 1, and times has it"):
        survival_brier(alive, [0.5, 0.5], 1.0, train=short)
    values, _ = survival_brier(y, np.zeros(40), late, train=structured([late + 1], [False]))
    assert values[0] == 0  # everyone has died or left by then


def test_whole_weights_count_as_copies_also_in_the_censoring_distribution():
    time, event, score = sample(3, largest=9)
    weight = np.random.default_rng(3).integers(0, 4, 40)
    rows = np.repeat(np.arange(40), weight)
    plain = rb.Preferences.from_survival(time, event)
    once, copies = rb.Preferences.from_survival(time, event, weight=weight), plain[rows]
    for tau in (5.0, 6.0):
        values = [
            concordance(y, s, train=y, tau=tau) for y, s in ((once, score), (copies, score[rows]))
        ]
        assert np.isclose(*values, rtol=1e-12)
    (a, mean), (b, other) = (
        dynamic_auc(y, s, [3, 5], train=y) for y, s in ((once, score), (copies, score[rows]))
    )
    assert np.allclose(a, b, rtol=1e-12) and np.isclose(mean, other, rtol=1e-12)


@pytest.mark.parametrize("size", [1e-170, 1e300])
def test_patients_may_weigh_anything_but_not_two_things(size):
    time, event, score = sample(5, largest=9)
    weight = np.random.default_rng(5).integers(0, 4, 40)
    plain, scaled = (
        rb.Preferences.from_survival(time, event, weight=w * weight) for w in (1, size)
    )
    one, other = (dynamic_auc(y, score, [3, 5], train=y) for y in (plain, scaled))
    assert np.allclose(one[0], other[0], rtol=1e-12) and np.isclose(one[1], other[1], rtol=1e-12)
    two = plain.item_weighted(weight, weight + 1)
    assert concordance(two, score) == 1 - rb.disagreement(two, score)
    for y, train, name in ((two, plain, "y_true"), (plain, two, "train")):
        with pytest.raises(ValueError, match=f"^{name} is a Preferences with two weights"):
            dynamic_auc(y, score, [3, 5], train=train)
    with pytest.raises(ValueError, match="^train is a Preferences with two weights"):
        concordance(plain, score, train=two)
    nobody = rb.Preferences.from_survival(time, event, weight=0 * weight)
    with pytest.raises(ValueError, match="^train has weight 0 for every patient"):
        concordance(plain, score, train=nobody)
    # a patient of weight 0 was not under observation
    late = np.r_[time, 99.0], np.r_[event, False]
    train = rb.Preferences.from_survival(*late, weight=np.r_[np.ones(40), 0.0])
    event_after = rb.Preferences.from_survival([50.0, 60.0], [1, 0])
    with pytest.raises(ValueError, match="^train has no patient under observation after 50"):
        concordance(event_after, [1.0, 2.0], train=train)


def test_a_million_patients_need_no_list():
    time, event, score = sample(0, 1_000_000)
    prefs = rb.Preferences.from_survival(time, event)
    assert 0.49 < concordance(prefs, score, train=prefs, tau=2.0) < 0.51
    assert not prefs.is_listed


def test_they_are_scorers_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = structured(np.exp(X[:, 0] + rng.normal(size=60)), rng.random(60) < 0.7)
    model = rb.RankSVM(kernel="linear", lam=1.0)
    for target in (y, rb.Preferences.from_survival(y["days"], y["died"])):
        plain = cross_val_score(model, X, target, cv=3)
        scorer = make_scorer(concordance)
        assert np.array_equal(plain, cross_val_score(model, X, target, cv=3, scoring=scorer))
        uno = make_scorer(concordance, train=y, tau=2.0)
        assert (cross_val_score(model, X, target, cv=3, scoring=uno) > 0.6).all()


def test_metrics_of_grades_name_the_concordance():
    time, event, score = sample(0)
    for y in (structured(time, event), rb.Preferences.from_survival(time, event)):
        for metric in (rb.metrics.ndcg, rb.metrics.kendall_tau):
            with pytest.raises(ValueError, match="survival times.*call rb.metrics.concordance"):
                metric(y, score)


def test_where_nothing_is_comparable_the_metric_is_undefined():
    for time, event in (([3, 5], [0, 0]), ([5, 5], [1, 1]), ([3, 5], [0, 1])):
        with pytest.raises(UndefinedMetric, match="^y_true has no comparable pair"):
            concordance(structured(np.array(time, float), np.array(event, bool)), [1.0, 2.0])
    y = structured(*sample(0)[:2])
    with pytest.raises(UndefinedMetric, match="^y_true has no event up to 0 or no time beyond it"):
        dynamic_auc(y, sample(0)[2], 0, train=y)


@pytest.mark.parametrize("times", [5, 100, [1, 5]])
def test_a_brier_score_ends_with_the_observation(times):
    y = rb.Preferences.from_survival([1, 2, 3, 4, 5], [1, 0, 0, 0, 0])
    alive = np.full((5, np.size(times)), 0.5)
    with pytest.raises(ValueError, match="^train .* times below"):
        survival_brier(y, alive, times, train=y)


def test_a_brier_score_at_the_last_event():
    dead = rb.Preferences.from_survival([1, 2, 3, 4, 5], np.ones(5))
    assert (
        survival_brier(dead, np.full(5, 0.5), 5, train=dead)[1] == 0.25
    )  # all are known to be dead
