"""Data on which methods fail first, for all tests."""

import numpy as np
import pytest

import rankbook as rb
from rankbook.data.datasets import load


def degenerate(rng, far=1e5):
    """Items (24, d) by name: copies, grids, constants, low rank, more features than items.

    Those of "far" lie that far from the origin.
    """
    X = rng.normal(size=(24, 3))
    return dict(
        generic=X,
        duplicates=np.repeat(X[:8], 3, axis=0),
        grid=rng.integers(0, 2, (24, 3)).astype(float),
        constant_column=np.c_[X, np.ones(24)],
        all_constant=np.full((24, 2), 0.1),
        rank_one=np.outer(np.arange(24.0), [1.0, 2.0]),
        wide=rng.normal(size=(24, 60)),
        far=X + far,
    )


def sparse_corpus():
    """Items and preferences by name: what makes problems with an L1 penalty degenerate."""
    rng = np.random.default_rng(7)
    A, y = rng.normal(size=(16, 4)), rng.integers(0, 3, 16)
    grid = rng.integers(-1, 2, (18, 3)).astype(float)
    full = rb.Preferences.from_scores
    m = len(full(y))
    return {
        "plain": (A, full(y)),
        "star": (A, full(y, graph="star")),
        "queries": (A, full(y, qid=rng.integers(0, 4, 16))),
        "copies that contradict": (np.r_[A, A], full(np.r_[y, y[::-1]])),
        "copies that agree": (np.r_[A, A], full(np.r_[y, y])),
        "integer grid": (grid, full(rng.integers(0, 3, 18))),
        "binary features": (
            rng.integers(0, 2, (20, 6)).astype(float),
            full(rng.integers(0, 2, 20)),
        ),
        "rank one": (np.outer(A[:, 0], [1.0, 2.0, -0.5]), full(y)),
        "rank one on integers": (np.outer(np.arange(10), [1.0, 2.0]), full(rng.integers(0, 3, 10))),
        "twin features": (np.c_[A, A, -A[:, :1]], full(y)),
        "constant columns": (np.c_[np.full(16, 0.1), A, np.full(16, -7.3)], full(y)),
        "cycles": (A, rb.Preferences([0, 1, 2, 3, 4, 5, 5], [1, 2, 0, 4, 5, 3, 0], 16)),
        "both ways": (A, rb.Preferences([0, 1, 2, 3], [1, 0, 3, 2], 16)),
        "repeated preferences": (grid, rb.Preferences([0, 0, 0, 1, 1, 5], [1, 1, 2, 2, 2, 9], 18)),
        "weights, some 0": (A, full(y).reweighted(weight=rng.integers(0, 3, m).astype(float))),
        "weights of all sizes": (A, full(y).reweighted(weight=10.0 ** rng.integers(-4, 5, m))),
        "margins": (grid[:16], full(y).reweighted(margin=rng.integers(1, 4, m).astype(float))),
        "margins of all sizes": (A, full(y).reweighted(margin=10.0 ** rng.uniform(-2, 2, m))),
        "d > n": (rng.normal(size=(8, 30)), full(np.arange(8))),
        "d > n, integers": (rng.integers(-1, 2, (9, 25)).astype(float), full(np.arange(9) % 3)),
        "separable": (A + 5 * y[:, None], full(y)),
        "separable integers": (grid + 3 * (np.arange(18) % 3)[:, None], full(np.arange(18) % 3)),
        "one preference": (A, rb.Preferences([3], [5], 16)),
        "one feature": (A[:, :1], full(y)),
        "nothing to learn": (np.ones((5, 2)), full(np.arange(5))),
        "far from the origin": (A + 1e5, full(y)),
        "units of all sizes": (A * [1e-4, 1, 1e3, 1e5], full(y)),
        "not contiguous": (np.asfortranarray(A)[::-1], full(y)),
    }


def standardised(name, rows):
    """Some rows of a data set, every column with mean 0 and deviation 1, and their scores."""
    data = load(name)
    part = np.random.default_rng(0).permutation(len(data.y))[:rows]
    X, y = data.X[part], data.y[part]
    return (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1), y


def real_data(test):
    """A test of data sets by name, each as it is, rounded, and with random labels."""
    names = [
        "cancer",
        *(pytest.param(name, marks=pytest.mark.data) for name in ("auto", "diabetes")),
    ]
    changes = ["as it is", "rounded", "random labels"]
    test = pytest.mark.parametrize("name", names)(test)
    return pytest.mark.parametrize("change", changes)(test)


def changed(name, rows, change):
    """Some rows of a data set, and their scores, with one of the changes of `real_data`."""
    X, y = standardised(name, rows)
    if change == "random labels":
        y = np.random.default_rng(1).permutation(y)
    return np.round(X) if change == "rounded" else X, y
