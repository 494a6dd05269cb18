"""The logistic loss of large queries against sums over all pairs in extended precision."""

import numpy as np
import pytest

import rankbook as rb
from rankbook.preferences import logistic_sums
from rankbook.preferences.logistic_sums import DIRECT, CountedLogistic

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
