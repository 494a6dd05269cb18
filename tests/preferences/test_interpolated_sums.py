"""The logistic loss of large queries against sums over all pairs in extended precision."""

import numpy as np
import pytest

import rankbook as rb
from rankbook.preferences import logistic_sums, sums
from rankbook.preferences.logistic_sums import DIRECT, CountedLogistic
from rankbook.problems.smooth_losses import PairSums, SmoothPairLoss

EXTENDED = np.longdouble


def all_pairs(f, y, qid, better, worse):
    """Loss, minus its derivative and the diagonal of its Hessian, pair by pair."""
    counts = (y[:, None] > y) & (qid[:, None] == qid)
    f, better, worse = (each.astype(EXTENDED) for each in (f, better, worse))
    t, weight = f[:, None] - f, np.where(counts, better[:, None] * worse, 0)
    e = np.exp(-np.abs(t))
    loss = (weight * (np.maximum(-t, 0) + np.log1p(e))).sum()
    p, bent = weight * np.where(t > 0, e, 1) / (1 + e), weight * e / (1 + e) ** 2
    return loss, p.sum(axis=1) - p.sum(axis=0), bent.sum(axis=1) + bent.sum(axis=0)


def scores_of(rng, n):
    """Scores of any size, with ties, clusters and shifts."""
    f = rng.normal(size=n) * 10.0 ** rng.uniform(-3, 4)
    if rng.random() < 0.3:
        f = np.round(f)
    if rng.random() < 0.2:
        f = rng.choice(f, n) + 1e-9 * rng.normal(size=n)
    if rng.random() < 0.2:
        f = f + 10.0 ** rng.uniform(0, 9)
    return f


def grades_of(rng, n, f):
    """Grades with and without ties, some in the order of the scores."""
    y = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(0, rng.integers(2, 20), n)
    return y.astype(float) if rng.random() < 0.7 else f + rng.choice([0.0, 1e-3, 1.0]) * y


def check_case(seed, most=300):
    """Whether the errors of a random case are within the stated bounds; else the case."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, most))
    f = scores_of(rng, n)
    y = grades_of(rng, n, f)
    qid = np.zeros(n) if rng.random() < 0.6 else rng.integers(0, 4, n)
    decades = rng.choice([0, 3, 12])
    better, worse = 10.0 ** rng.uniform(-decades, decades, (2, n))
    if rng.random() < 0.3:
        better[rng.random(n) < 0.4] = worse[rng.random(n) < 0.4] = 0.0
    prefs = rb.Preferences.from_scores(y, qid).item_weighted(better, worse)
    if not len(prefs):
        return
    loss, gradient, diagonal = all_pairs(f, y, qid, better, worse)
    counted = CountedLogistic(prefs)
    found = counted.evaluate(f)
    error, slope_error = found.error, found.slope_error
    if error == 0:  # no query is large
        error, slope_error = (float(DIRECT * factor * loss) for factor in (1, 2))
    tiny = 1e-300  # numbers below it underflow
    assert abs(found.loss - loss) <= error + tiny, seed
    assert np.abs(found.score_gradient - gradient).sum() <= slope_error + tiny, seed
    v = np.where(np.arange(n) == rng.integers(n), 1.0, 0.0)
    bent = counted.curvature(found.bands, v)
    assert np.abs(bent @ v - diagonal @ v) <= 1e-6 * diagonal @ v + 1e-6 * (better + worse).max(), (
        seed
    )


@pytest.fixture
def few(monkeypatch):
    """Make queries of a few pairs large, and ranges of a few cells wide."""
    monkeypatch.setattr(logistic_sums, "CROSSOVER", 5)


extended = pytest.mark.skipif(np.finfo(EXTENDED).nmant < 63, reason="long double is not extended")


@extended
@pytest.mark.parametrize("cells", [41, 80])
def test_errors_are_within_their_bounds(few, monkeypatch, cells):
    monkeypatch.setattr(logistic_sums, "MOST_CELLS", cells)
    for seed in range(100):
        check_case(seed, 100)


@extended
@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.45])
@pytest.mark.parametrize("cells", [41, 80])
def test_errors_are_within_their_bounds_in_many_cases(few, monkeypatch, cells, share):
    monkeypatch.setattr(logistic_sums, "MOST_CELLS", cells)
    monkeypatch.setattr(logistic_sums, "SHARE", share)
    first = round(10_000 * (share > 0.1) + 5_000 * (cells > 41))
    for seed in range(first, first + 5_000):
        check_case(seed)


@extended
def test_losses_far_below_the_number_of_pairs_keep_their_digits(few):
    """The bound stays small relative to the loss of data that are nearly all in order."""
    f = np.sort(np.random.default_rng(0).uniform(0, 60, 400))
    ones = np.ones(400)
    found = CountedLogistic(rb.Preferences.from_scores(np.arange(400) // 40)).evaluate(f)
    loss, *_ = all_pairs(f, np.arange(400) // 40, ones, ones, ones)
    assert abs(found.loss - loss) <= found.error < 1e-10 * loss < 1e-11 * 72_000


def test_small_queries_state_no_error():
    prefs = rb.Preferences.from_scores(np.arange(300) % 7)
    found = CountedLogistic(prefs).evaluate(np.random.default_rng(0).normal(size=300))
    assert found.error == found.slope_error == 0


@pytest.mark.parametrize("storage", ["array", "blocks"])
def test_certificates_include_the_error(few, storage):
    """The interval of the minimum contains the minimum of the sums pair by pair."""
    rng = np.random.default_rng(1)
    X, y, qid = rng.normal(size=(240, 3)), rng.normal(size=240), np.repeat([1, 2], 120)
    if storage == "blocks":
        parts = [rb.Block(X[i : i + 120], y[i : i + 120], qid[i : i + 120]) for i in (0, 120)]
        problem = rb.BlockRankSVMProblem(rb.Blocks(parts), loss="logistic")
    else:
        prefs = rb.Preferences.from_scores(y, qid)
        problem = rb.RankSVMProblem(X, prefs, kernel="linear", loss="logistic")
    proof = rb.solve(problem, 10.0).certificate
    logistic_sums.CROSSOVER = 1 << 21  # the fixture restores it
    listed = rb.Preferences.from_scores(y, qid)
    exact = rb.RankSVMProblem(
        X, rb.Preferences(listed.better, listed.worse, 240), "linear", loss="logistic"
    )
    best = rb.solve(exact, 10.0)
    assert proof.dual <= best.certificate.primal and best.certificate.dual <= proof.primal
    assert proof.rounding > 0 and proof.relative_gap < 1e-8
    assert proof.radius < (2 * (proof.gap + 1e-12 * proof.primal) / 10) ** 0.5


class Hyperbola:
    name, margin, strip = "hyperbola", 0.5, (0.8, 0.5 * 0.36**-1.5)

    def value(self, t):
        return np.hypot(1.0, t) / 2 + t / 2

    def derivative(self, t):
        return 0.5 + t / np.hypot(1.0, t) / 2

    def second_derivative(self, t):
        return 0.5 * np.hypot(1.0, t) ** -3.0

    def conjugate(self, a):
        inside = np.clip(a, 0.0, 1.0)
        return np.where(a == inside, -np.sqrt(inside * (1 - inside)), np.inf)


@pytest.mark.parametrize("weights", ["none", "items", "levels"])
@pytest.mark.parametrize("unit", [0.1, 3.0, 1000.0])
def test_losses_of_users_are_those_of_the_list(few, monkeypatch, weights, unit):
    monkeypatch.setattr(sums, "CROSSOVER", 5)
    rng = np.random.default_rng(2)
    y, qid = rng.integers(0, 4, 200).astype(float), rng.integers(0, 2, 200)
    table = {(3.0, 1.0): 2.0, (2.0, 1.0): 0.0} if weights == "levels" else None
    prefs = rb.Preferences.from_scores(y, qid, level_weight=table)
    if weights == "items":
        prefs = prefs.item_weighted(rng.uniform(0, 2, 200), rng.uniform(0, 2, 200))
    f, v = unit * rng.normal(size=200), rng.normal(size=200)
    counted = SmoothPairLoss(Hyperbola()).summed(prefs)
    assert not prefs.is_listed
    found, listed = counted.evaluate(f), PairSums(Hyperbola(), prefs)
    expected = listed.evaluate(f)
    rounding = 1e-12 * abs(expected.loss)
    assert abs(found.loss - expected.loss) <= found.error + rounding
    assert abs(found.margin - expected.margin) <= 1e-11 * (1 + unit) * expected.loss
    difference = np.abs(found.score_gradient - expected.score_gradient).sum()
    assert difference <= found.slope_error + rounding
    bent = listed.curvature(expected.bands, v)
    assert np.allclose(counted.curvature(found.bands, v), bent, atol=1e-6 * np.abs(bent).max())
    assert counted.excess(f, 0.1) >= listed.excess(f, 0.1)


@pytest.mark.parametrize("strip", [(1.0,), (1.0, -1.0), (np.inf, 1.0), "wide"])
def test_a_strip_is_two_positive_numbers(strip):
    loss = Hyperbola()
    loss.strip = strip
    with pytest.raises(ValueError, match="strip"):
        SmoothPairLoss(loss)


def test_listed_pairs_have_no_large_query(monkeypatch):
    monkeypatch.setattr(sums, "CROSSOVER", 5)
    assert sums.has_large_query(rb.Preferences.from_scores([0, 0, 0, 1, 1]))
    assert not sums.has_large_query(rb.Preferences.from_scores([0, 0, 0, 1, 1], [0, 1, 1, 0, 1]))
    assert not sums.has_large_query(rb.Preferences([0, 1, 2, 3, 0, 0], [1, 2, 3, 4, 2, 3], 5))
