"""Brier score, log loss and reliability diagram: beside scikit-learn, lists and definitions."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve

import rankbook as rb
from rankbook.metrics import brier_score, by_query, log_loss, probabilities, reliability
from rankbook.metrics.probabilities import NumberedPairs, Sigmoid
from rankbook.preferences import logistic_sums, sums


def sample(seed, n=60):
    """Grades, queries, item weights, some of them 0, and scores."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, n) * rng.random(n)
    return rng.integers(4, size=n), rng.integers(5, size=n), weight, 2 * rng.normal(size=n)


def graphs(seed):
    """Preferences of every kind of storage, between 60 items."""
    y, qid, weight, _ = sample(seed)
    rng = np.random.default_rng(seed)
    counted = rb.Preferences.from_scores(y, qid)
    yield counted
    yield counted.item_weighted(weight)
    yield counted.item_weighted(weight, rng.random(60))
    yield rb.Preferences.from_scores(y, qid, level_weight={(3, 0): 5.0, (2, 1): 0.0})
    yield rb.Preferences.from_scores(y, qid, level_weight={(3, 0): 5.0}).item_weighted(weight)
    yield rb.Preferences.from_scores(y, qid, graph="star")
    yield rb.Preferences.from_scores(y, qid, margin="difference")
    yield counted.reweighted(rng.random(len(counted)))
    patients = rb.Preferences.from_survival(rng.integers(1, 9, 60), rng.random(60) < 0.6, qid)
    yield rb.Preferences(patients.better, patients.worse, patients.n_items)
    k, l = rng.integers(60, size=(2, 300))
    yield rb.Preferences(k[k != l], l[k != l], 60, weight=rng.random((k != l).sum()))


def by_list(prefs, f):
    """Outcomes, probabilities and weights of all preferences, in both orientations."""
    p = 1 / (1 + np.exp(f[prefs.worse] - f[prefs.better]))
    return np.repeat([1, 0], p.size), np.r_[p, 1 - p], np.tile(prefs.weight, 2)


@pytest.mark.parametrize("seed", range(3))
def test_the_scores_are_those_of_scikit_learn(seed):
    f = sample(seed)[-1]
    for prefs in graphs(seed):
        found = brier_score(prefs, f), log_loss(prefs, f)
        outcome, p, weight = by_list(prefs, f)
        expected = [
            sk.brier_score_loss(outcome, p, sample_weight=weight),
            sk.log_loss(outcome, p, sample_weight=weight),
        ]
        assert found == pytest.approx(expected, rel=1e-12)
        given = p[: len(prefs)]
        assert brier_score(prefs, given, link=None) == pytest.approx(expected[0], rel=1e-12)
        assert log_loss(prefs, given, link=None) == pytest.approx(expected[1], rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_diagram_is_that_of_scikit_learn(seed):
    f = sample(seed)[-1]
    for prefs in graphs(seed):
        found = reliability(prefs, f, bins=4)
        d, weight = f[prefs.better] - f[prefs.worse], prefs.weight
        p, edges = 1 / (1 + np.exp(-np.abs(d))), np.linspace(0.5, 1, 5)
        assert np.array_equal(found.low, edges[:-1]) and found.count.sum() == (weight > 0).sum()
        for i, (low, high) in enumerate(zip(found.low, found.high)):
            here = (p > low) & (p <= high)
            share = np.average(d[here] > 0, weights=weight[here])
            assert found.observed[i] == pytest.approx(share, rel=1e-12)
            mean = np.average(p[here], weights=weight[here])
            assert found.predicted[i] == pytest.approx(mean, rel=1e-12)
        if (weight == 1).all():
            observed, predicted = calibration_curve(d > 0, p, n_bins=8)
            assert np.allclose(found.observed, observed, rtol=1e-12, atol=0)
            assert np.allclose(found.predicted, predicted, rtol=1e-12, atol=0)
        gap = np.abs(found.predicted - found.observed)
        assert found.error == pytest.approx(np.average(gap, weights=found.weight))
        given = reliability(prefs, 1 / (1 + np.exp(-d)), link=None, bins=4)
        assert np.allclose(given.observed, found.observed)
        assert np.allclose(given.upper, found.upper) and np.all(given.count == found.count)


def test_the_interval_is_that_of_statsmodels_formula_and_covers():
    prefs = rb.Preferences([0] * 7 + [1] * 3, [1] * 7 + [0] * 3, n_items=2)
    found = reliability(prefs, [1.0, 0.0], confidence=0.9)
    from scipy.stats import binomtest

    interval = binomtest(7, 10).proportion_ci(0.9, method="wilson")
    assert (found.lower[0], found.upper[0]) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("seed", range(3))
def test_counted_preferences_are_not_listed_and_numbers_find_them(seed):
    f = sample(seed)[-1]
    for prefs in graphs(seed):
        if not prefs.is_counted or prefs.is_listed:
            continue
        brier_score(prefs, f), log_loss(prefs, f), reliability(prefs, f)
        assert not prefs.is_listed
        pairs = NumberedPairs(prefs)
        parts = list(pairs.blocks(size=7))
        k, l, weight = map(np.concatenate, zip(*parts))
        assert not prefs.is_listed and max(len(part[0]) for part in parts) <= 7
        there = prefs.weight > 0
        assert np.array_equal(k, prefs.better[there]) and np.array_equal(l, prefs.worse[there])
        assert np.allclose(weight, prefs.weight[there], rtol=1e-15)


@pytest.mark.parametrize("metric", [brier_score, log_loss])
def test_by_query_blocks_and_scorers_agree(metric):
    y, qid, weight, f = sample(4)
    name = metric.__name__
    ids, values = by_query(name, y, f, qid, weight)
    for query, value in zip(ids, values):
        here = qid == query
        assert value == pytest.approx(metric(y[here], f[here], None, weight[here]), rel=1e-12)
    X, model = f[:, None], rb.RankSVM(kernel="linear", loss="logistic", lam=1.0)
    model.fit(X, y, qid)
    whole = metric(y, model.predict(X), qid, weight)
    blocks = [rb.Block(X[q], y[q], qid[q], weight[q]) for q in (qid < 2, qid >= 2)]
    assert rb.metrics.over_blocks(name, rb.Blocks(blocks), model) == pytest.approx(whole, rel=1e-12)
    scorer = rb.metrics.scorer(name)
    found = scorer(model, X, y, qid, weight)
    assert found == pytest.approx(-whole, rel=1e-12)
    halved = by_query(name, y, f, qid, link=Sigmoid(0.5))[1]
    assert np.allclose(halved, by_query(name, y, f / 2, qid)[1], rtol=1e-12)


def test_weights_of_any_size_and_two_weights():
    y, qid, weight, f = sample(5)
    expected = log_loss(y, f, qid, weight)
    for unit in (1e-150, 1e160):
        assert log_loss(y, f, qid, unit * weight) == pytest.approx(expected, rel=1e-12)
        prefs = rb.Preferences.from_scores(y, qid).item_weighted(weight)
        listed = prefs.reweighted(unit**2 * prefs.weight if unit < 1 else 1e300 * prefs.weight)
        assert log_loss(listed, f) == pytest.approx(expected, rel=1e-12)


def test_ties_extremes_and_one_pair():
    half = rb.Preferences.from_pairs([("a", "b"), ("b", "c")], tie=[True, False], ties="half")
    f = np.array([0.3, 0.0, -1.0])
    p, q = 1 / (1 + np.exp(-0.3)), 1 / (1 + np.exp(-1.0))
    assert brier_score(half, f) == pytest.approx(
        (((1 - p) ** 2 + p**2) / 2 + (1 - q) ** 2) / 2, rel=1e-12
    )
    assert log_loss(half, f) == pytest.approx((-np.log(p * (1 - p)) / 2 - np.log(q)) / 2, rel=1e-12)
    with np.errstate(all="raise"):
        for metric, best, worst in ((brier_score, 0.0, 1.0), (log_loss, 0.0, 3e300)):
            assert metric([1, 0], [1.5e300, -1.5e300]) == best
            assert metric([0, 1], [1.5e300, -1.5e300]) == worst
        one = reliability([0, 1], [1.7e308, -1.7e308])
    assert one.observed[0] == 0 and one.lower[0] == 0 < one.upper[0] < 1 and one.predicted[0] == 1
    with np.errstate(over="ignore"):
        assert log_loss([0, 1], [1.7e308, -1.7e308]) > 1e300
    for metric in (brier_score, log_loss, reliability):
        with pytest.raises(rb.metrics.UndefinedMetric, match="^y_true has no preference"):
            metric([1, 1, 1], [0.0, 1.0, 2.0])
        with pytest.raises(rb.metrics.UndefinedMetric, match="of weight above 0"):
            metric([0, 1], [0.0, 1.0], None, [0.0, 0.0])


def test_probabilities_of_zero_cost_what_they_cost_in_scikit_learn():
    prefs = rb.Preferences([0, 1], [1, 2], n_items=3)
    expected = sk.log_loss([1, 1], [0.0, 1.0], labels=[0, 1])
    assert log_loss(prefs, [0.0, 1.0], link=None) == pytest.approx(expected, rel=1e-12)


class Lopsided:
    def probability(self, difference):
        return np.asarray(difference) > 0


def test_a_link_whose_probabilities_do_not_sum_to_1_is_refused():
    with pytest.raises(ValueError, match=r"^link has the probabilities \[0. 0. 1.\]"):
        brier_score([0, 1], [0.0, 1.0], link=Lopsided())


def test_a_link_that_decreases_is_refused_and_one_in_single_precision_is_not():
    y, scores = [0, 1], [0.0, 0.5]
    reverse = SimpleNamespace(probability=lambda d: expit(-np.asarray(d)))
    with pytest.raises(ValueError, match=r"^link has the probability 0.731\d+ at .* -1 and 0.268"):
        rb.metrics.log_loss(y, scores, link=reverse)
    single = SimpleNamespace(probability=lambda d: expit(np.asarray(d, dtype=np.float32)))
    assert np.isclose(rb.metrics.log_loss(y, scores, link=single), -np.log(expit(0.5)))


def test_the_log_loss_of_many_pairs_is_the_objective_of_the_logistic_loss():
    from rankbook.problems.ranksvm import as_loss

    rng = np.random.default_rng(6)
    y, f, weight = rng.integers(4, size=3000), 3 * rng.normal(size=3000), rng.random(3000)
    prefs = rb.Preferences.from_scores(y).item_weighted(weight)
    total = sum(part.sum() for *_, part in NumberedPairs(prefs).blocks())
    expected = as_loss("logistic").summed(prefs).evaluate(f).loss / total
    assert len(prefs) > 3_000_000 and log_loss(prefs, f) == pytest.approx(expected, rel=1e-12)


def interpolate_all(monkeypatch):
    """Make queries of a few pairs large."""
    for module, name in (
        (sums, "CROSSOVER"),
        (logistic_sums, "CROSSOVER"),
        (probabilities, "MANY"),
    ):
        monkeypatch.setattr(module, name, 5)


@pytest.mark.parametrize("metric", [brier_score, log_loss])
@pytest.mark.parametrize("unit", [1.0, 100.0])
@pytest.mark.parametrize("weights", ["none", "items", "levels"])
def test_interpolated_sums_are_those_of_the_pairs(monkeypatch, metric, unit, weights):
    rng = np.random.default_rng(0)
    y, qid, f = np.round(rng.normal(size=400)), np.arange(400) % 2, unit * rng.normal(size=400)
    table = {(1.0, 0.0): 3.0, (2.0, -1.0): 0.0} if weights == "levels" else None
    prefs = rb.Preferences.from_scores(y, qid, level_weight=table)
    if weights == "items":
        prefs = prefs.item_weighted(rng.uniform(0, 2, 400))
    expected = metric(prefs, f, link=Sigmoid(1.5))
    interpolate_all(monkeypatch)
    found = metric(prefs, f, link=Sigmoid(1.5))
    assert found == pytest.approx(expected, rel=1e-10)


def test_interpolated_sums_by_query(monkeypatch):
    rng = np.random.default_rng(1)
    y, qid, f = rng.normal(size=300), rng.integers(0, 5, 300), rng.normal(size=300)
    score = lambda: by_query(log_loss, y, f, qid)
    expected = score()
    interpolate_all(monkeypatch)
    assert np.allclose(score(), expected, rtol=1e-10)


def test_survival_times_are_refused_in_words_that_name_the_right_function():
    """A Brier score of pairs is not the Brier score of survival at a time."""
    rng = np.random.default_rng(0)
    time, event = rng.integers(1, 9, 40).astype(float), rng.random(40) < 0.6
    y = np.rec.fromarrays([event, time], names="event,time")
    prefs, orders = (each.from_survival(time, event) for each in (rb.Preferences, rb.Orders))
    p = rng.random(40)
    for target in (y, prefs, orders, prefs[:20]):
        given = target, p[: len(target) if target is y else target.n_items]
        for metric, name in (
            (brier_score, "rb.metrics.survival_brier"),
            (log_loss, "rb.metrics.survival_brier"),
            (reliability, "rb.metrics.survival_calibration"),
            (rb.calibrate, "rb.BaselineHazard"),
        ):
            with pytest.raises(ValueError, match=f"^y_true holds survival times. .*{name}; for"):
                metric(*given)
    with pytest.raises(ValueError, match="^y_true holds survival times"):
        brier_score(prefs, rng.random(len(prefs)), link=None)
    pairs = rb.Preferences(prefs.better, prefs.worse, prefs.n_items)  # as the message says
    assert 0 < brier_score(pairs, p) < 1
