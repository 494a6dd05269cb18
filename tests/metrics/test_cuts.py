"""Best cuts: against all cuts, under changes that must not matter, and at the ends of floats."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error

from rankbook.metrics import UndefinedMetric, best_cuts


def lost(scores, y, cuts, loss, weight=None):
    """The weighted mean loss of cuts."""
    given = np.unique(y)[(np.asarray(scores)[:, None] >= cuts).sum(axis=1)]
    if loss == "absolute":
        return mean_absolute_error(y, given, sample_weight=weight)
    return np.average(given != y, weights=weight)


def least(scores, y, loss, weight=None):
    """The same of the best of all cuts."""
    places = np.r_[np.unique(scores), np.inf]
    return min(
        lost(scores, y, np.array(cuts), loss, weight)
        for cuts in combinations_with_replacement(places, np.unique(y).size - 1)
    )


@pytest.mark.parametrize("loss", ["error", "absolute"])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_cuts_are_better(loss, k, weighted):
    rng = np.random.default_rng(k)
    for _ in range(60):
        n = rng.integers(1, 12)
        s, y = rng.integers(0, 6, n) / 3, rng.choice([-1.5, 0.0, 2.0, 2.5][:k], n)
        w = rng.uniform(0.1, 3, n) * (rng.random(n) < 0.8) if weighted else None
        if weighted and not w.any() or np.unique(y).size == n > 2:
            continue
        cuts = best_cuts(y, s, loss, w)
        assert cuts.size == np.unique(y).size - 1 and (np.diff(cuts[np.isfinite(cuts)]) >= 0).all()
        assert lost(s, y, cuts, loss, w) == pytest.approx(least(s, y, loss, w), abs=1e-12)


@pytest.mark.parametrize("loss", ["error", "absolute"])
def test_what_must_not_matter(loss):
    rng = np.random.default_rng(0)
    s, y, w = rng.integers(0, 40, 200) / 7, rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    cuts, order = best_cuts(y, s, loss, w), rng.permutation(200)
    assert np.array_equal(best_cuts(y[order], s[order], loss, w[order]), cuts)
    assert np.array_equal(best_cuts(np.repeat(y, w), np.repeat(s, w), loss), cuts)
    assert np.array_equal(
        best_cuts(y, s, loss, w * 2.0**1000), best_cuts(y, s, loss, w * 2.0**-1000)
    )
    assert np.allclose(best_cuts(y, 8 * s, loss, w), 8 * cuts)
    assert np.array_equal(best_cuts(3 * y + 5, s, loss, w), cuts)
    # the last bits of copies
    near = s * (1 + 1e-15 * rng.integers(-2, 3, 200))
    assert np.allclose(best_cuts(y, near, loss, w), cuts)


def test_many_levels_and_the_ends_of_floats():
    levels = np.arange(50.0)
    y = np.repeat(levels, 2)
    assert np.array_equal(best_cuts(y, y), levels[1:] - 0.5)
    tiny = 5e-324
    assert best_cuts([0, 1], [0.0, tiny], tie_tol=0).tolist() == [tiny]
    assert best_cuts([0, 1], [-1.7e308, 1.7e308]).tolist() == [0.0]


@pytest.mark.parametrize(
    "arguments, options, error, words",
    [
        (([], []), {}, UndefinedMetric, "y_true has no item"),
        (([1.0], [1.0]), dict(sample_weight=[0]), UndefinedMetric, "y_true has no item of weight"),
        (([1.0], [1.0]), dict(sample_weight=[-1]), ValueError, "sample_weight has -1"),
        (([1.0], [1.0]), dict(loss="eror"), ValueError, "loss is 'eror'.*did you mean 'error'"),
        (([1.0], [1.0, 2]), {}, ValueError, "y_score has shape"),
        (([1.0], [[1.0]]), {}, ValueError, "y_score has shape"),
        (([0.5, 0.1, 0.7], [1, 0, 1]), {}, ValueError, "`y_true` has 3 different levels"),
        (([1.0], [1.0]), dict(tie_tol=1), ValueError, "tie_tol is 1"),
    ],
)
def test_errors(arguments, options, error, words):
    with pytest.raises(error, match=words):
        best_cuts(*arguments, **options)
