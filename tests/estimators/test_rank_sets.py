"""Decisions on pairs, beside the steps down written out."""

import numpy as np
import pytest

from rankbook.estimators import rank_sets as module
from rankbook.estimators.rank_sets import stepped_down


def plain(score, moved, deviation, level, together):
    """Decisions (p, p): each step computes the ratios of all pairs that are left."""
    p = len(score)
    difference = score[:, None] - score
    ratios = np.abs(moved[:, None] - moved) / deviation[:, :, None]
    decided = np.zeros((p, p), dtype=bool)
    possible = np.isfinite(deviation) & ~np.eye(p, dtype=bool)
    for rows in [np.arange(p)] if together else np.arange(p)[:, None]:
        while (left := possible[rows] & ~decided[rows]).any():
            largest = np.where(left[:, :, None], ratios[rows], 0.0).max(axis=(0, 1))
            bound = np.quantile(largest, level, method="higher")
            new = left & (np.abs(difference[rows]) / deviation[rows] > bound)
            if not new.any():
                break
            decided[rows] |= new
    return np.where(decided, np.sign(difference), 0)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0, 10.0])
@pytest.mark.parametrize("p", [2, 3, 25])
def test_decisions_are_those_of_plain_steps(p, spread, together, monkeypatch):
    monkeypatch.setattr(module, "ENTRIES", 1_000)  # several blocks of items
    rng = np.random.default_rng(p)
    root = np.diag(rng.gamma(2, 0.1, p)) + 0.02 * rng.normal(size=(p, p))
    moved = root @ rng.normal(size=(p, 300))
    moved[-1] *= p != 3  # an item without error
    deviation = (moved[:, None] - moved).std(axis=2)
    deviation[np.eye(p, dtype=bool)] = np.inf
    if p > 3:
        deviation[0, 1] = deviation[1, 0] = np.inf  # cannot be decided
    score = spread * rng.normal(size=p)
    known = plain(score, moved, deviation, 0.9, together)
    assert np.array_equal(stepped_down(score, moved, deviation, 0.9, together), known)
    assert (known != 0).any() == (spread > 0.3) or 0 < spread < 10
