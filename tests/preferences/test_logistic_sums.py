"""The logistic loss of counted preferences, against the same summed pair by pair."""

import numpy as np
import pytest

import rankbook as rb
from rankbook.preferences.logistic_sums import CountedLogistic
from rankbook.preferences.sums import SummedLoss, total_weight
from rankbook.problems.smooth_losses import Logistic, PairSums, SmoothPairLoss

N = 150


def graded(seed, weights, levels=5):
    rng = np.random.default_rng(seed)
    y, qid = rng.integers(0, levels, N).astype(float), rng.integers(0, 4, N)
    prefs = rb.Preferences.from_scores(y, qid)
    if weights == "one":
        return prefs.item_weighted(rng.uniform(0, 2, N))
    if weights == "two":
        better, worse = rng.uniform(0, 2, (2, N)) * (rng.random((2, N)) < 0.6)
        return prefs.item_weighted(better, worse)
    if weights == "few":
        return prefs.item_weighted(rng.integers(0, 3, N), rng.integers(0, 2, N))
    if weights == "query":
        return rb.Preferences.from_scores(y, qid, query_weight="equal")
    if weights == "levels":
        pairs = {(4.0, 0.0): 3.0, (1.0, 0.0): 0.0, (3.0, 2.0): 0.5}
        return rb.Preferences.from_scores(y, qid, level_weight=pairs)
    if weights == "survival":
        return rb.Preferences.from_survival(y + 1, rng.random(N) < 0.5, qid)
    return prefs


WEIGHTS = ["none", "one", "two", "few", "query", "levels", "survival"]
SCORES = {
    "ordinary": lambda rng: rng.normal(size=N),
    "equal": lambda rng: np.zeros(N),
    "grid": lambda rng: rng.integers(-2, 3, N).astype(float),
    "far": lambda rng: 1e6 + rng.normal(size=N),
    "edge": lambda rng: 300 * np.sign(rng.normal(size=N)),
    "wide": lambda rng: 1e4 * rng.normal(size=N),
    "huge": lambda rng: 1e200 * rng.normal(size=N),
    "outlier": lambda rng: np.where(np.arange(N) == 7, 1e5, rng.normal(size=N)),
    "tiny": lambda rng: 1e-9 * rng.normal(size=N),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", SCORES)
def test_counted_is_listed(weights, kind):
    prefs, rng = graded(0, weights), np.random.default_rng(1)
    f, v = SCORES[kind](rng), rng.normal(size=(N, 3))
    counted = SmoothPairLoss(Logistic()).summed(prefs)
    assert prefs.is_counted and not prefs.is_listed
    found = counted.evaluate(f)
    bent, H = counted.curvature_columns(found.bands, v), counted.curvature_matrix(found.bands)
    one = counted.curvature(found.bands, v[:, 0])
    listed = PairSums(Logistic(), prefs)
    expected = listed.evaluate(f)
    assert np.isclose(found.loss, expected.loss, rtol=1e-12)
    size = np.abs(expected.score_gradient).max()
    far = 1 + 1e-16 * np.abs(f).max() if kind != "huge" else 1.0
    assert np.allclose(
        found.score_gradient, expected.score_gradient, rtol=0, atol=1e-11 * far * size + 1e-300
    )
    expected_bent = listed.curvature_columns(expected.bands, v)
    bound = 1e-11 * far * max(np.abs(expected_bent).max(), 1e-300)
    assert np.allclose(bent, expected_bent, rtol=0, atol=bound)
    assert np.allclose(one, bent[:, 0], rtol=0, atol=bound)
    assert np.allclose(H @ v, bent, rtol=0, atol=10 * bound)
    if kind != "huge":
        dual = expected.loss + f @ expected.score_gradient
        size = expected.loss + np.abs(f) @ np.abs(expected.score_gradient)
        assert abs(found.margin - dual) <= 1e-12 * size


@pytest.mark.parametrize("weights", WEIGHTS)
def test_it_rises_above_its_tangent_by_no_more(weights):
    prefs, rng = graded(2, weights), np.random.default_rng(3)
    counted = SmoothPairLoss(Logistic()).summed(prefs)
    assert isinstance(counted, SummedLoss if weights == "levels" else CountedLogistic)
    assert np.isclose(counted.excess(np.zeros(N), 1.0), total_weight(prefs) / 2)
    for unit in (0.0, 0.1, 3.0):
        f, e = unit * rng.normal(size=N), 0.5
        found, move = counted.evaluate(f), e * np.sign(rng.normal(size=N))
        rise = counted.evaluate(f + move).loss - found.loss + move @ found.score_gradient
        assert 0 <= rise <= counted.excess(f, e)


def test_tiles_meet():
    """Queries of more items than a tile has, and levels that end within one."""
    rng = np.random.default_rng(4)
    y = np.repeat([0.0, 1.0, 2.0], [700, 513, 50])
    prefs, f = rb.Preferences.from_scores(y), 3 * rng.normal(size=y.size)
    found, expected = (
        s.evaluate(f)
        for s in (SmoothPairLoss(Logistic()).summed(prefs), PairSums(Logistic(), prefs))
    )
    assert np.isclose(found.loss, expected.loss, rtol=1e-13)
    assert np.allclose(found.score_gradient, expected.score_gradient, atol=1e-9)


def test_the_problem_lists_nothing():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(3000, 3)), rng.integers(0, 4, 3000)
    prefs = rb.Preferences.from_scores(y)
    model = rb.RankSVM(kernel="linear", loss="logistic").fit(X, prefs)
    assert not prefs.is_listed and model.certificate_.relative_gap < 1e-6
    assert not model.solution_.problem.prefs.is_listed


def test_heavy_pairs_far_apart_keep_their_loss():
    prefs = rb.Preferences.from_scores(np.arange(40) % 2).item_weighted(np.full(40, 1e8))
    f = np.where(np.arange(40) % 2, 35.0, 0.0)
    found = SmoothPairLoss(Logistic()).summed(prefs).evaluate(f)
    expected = 400 * 1e16 * np.log1p(np.exp(-35))
    assert found.loss == pytest.approx(expected, rel=1e-12)
    assert found.margin == pytest.approx(expected + f @ found.score_gradient, rel=1e-12)
