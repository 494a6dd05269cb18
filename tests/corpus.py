"""Data on which methods fail first, for all tests."""

import numpy as np
import pytest

from rankbook.data.datasets import load
from rankbook.testing.corpus import GROUPS, degenerate_items

degenerate = degenerate_items  # items alone


def sparse_corpus():
    """Items and preferences by name: what makes problems with an L1 penalty degenerate."""
    groups = ("items", "queries", "weights", "margins", "scales")
    return {i.name: (i.X, i.prefs) for group in groups for i in GROUPS[group]}


def repeated(rng, X, copies, twin, constant):
    """Items (n, d) with the features or items that are asked for: copied, equal or constant."""
    n, d = X.shape
    if copies:
        X = X[rng.integers(0, n, n)]
    if twin:
        X[:, rng.integers(d)] = X[:, rng.integers(d)]
    if constant:
        X[:, rng.integers(d)] = rng.integers(0, 2)
    return X


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
