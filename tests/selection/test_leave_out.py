"""Pairs left out, by products of matrices or one by one, against each other and retraining."""

import numpy as np
import pytest

import rankbook as rb
import rankbook.selection.leave_out as module
from rankbook.selection.leave_out import (
    leave_pair_out,
    leave_pair_out_predictions,
    rounding_share,
)

LAMS = np.array([1e-2, 1.0, 30.0])
MAKE = {
    "rbf": dict(kernel="rbf"),
    "linear": dict(kernel="linear"),
    "regression": dict(kernel="rbf", graph="identity"),
    "linear regression": dict(kernel="linear", graph="identity"),
}


def data(n=40, k=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.round(X[:, :k] + rng.normal(size=(n, k)), 1)


@pytest.mark.parametrize("options", MAKE.values(), ids=MAKE)
@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_products_and_single_pairs_agree(options, rows, monkeypatch):
    X, Y = data()
    path = rb.solve_path(rb.RankRLSProblem(X, Y, **options), solver="rls")
    i, j = np.triu_indices(40, 1)
    order = np.random.default_rng(1).permutation(i.size)
    i, j = np.r_[i[order], j[:50]], np.r_[j[order], i[:50]]  # no order, and some turned round twice
    monkeypatch.setattr(module, "PAIRS", rows * 40)
    found = []
    for fetch in (0, 1e9):
        monkeypatch.setattr(module, "FETCH", fetch)
        found.append(leave_pair_out_predictions(path, i, j, LAMS))
    assert found[0].shape == (3, i.size, 2) and not np.isnan(found[0]).any()
    assert np.allclose(*found, rtol=1e-9, atol=1e-11)
    turned = leave_pair_out_predictions(path, j, i, LAMS)
    assert np.allclose(turned, -found[0], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("options", MAKE.values(), ids=MAKE)
def test_against_retraining(options):
    X, Y = data(15, 1)
    y = Y[:, 0]
    path = rb.solve_path(rb.RankRLSProblem(X, y, **options), solver="rls")
    i, j = np.triu_indices(15, 1)
    found = leave_pair_out_predictions(path, i, j, LAMS)
    for m in range(i.size):
        pair = [i[m], j[m]]
        rest = np.setdiff1d(np.arange(15), pair)
        for lam, value in zip(LAMS, found[:, m]):
            problem = rb.RankRLSProblem(X[rest], y[rest], **options)
            scores = rb.solve(problem, lam, solver="rls").predict(X[pair])
            assert value == pytest.approx(scores[0] - scores[1], rel=1e-6, abs=1e-9)
    right = found * np.sign(y[i] - y[j])
    counted = y[i] != y[j]
    shares = ((right < 0) + 0.5 * (right == 0))[:, counted].mean(axis=1)
    assert np.allclose(leave_pair_out(path, LAMS), shares)


@pytest.mark.parametrize(
    "first, second, match",
    [
        ([], [], "no group|dtype|vector"),
        ([0, 3], [1, 3], r"groups\[1\] has an item twice"),
        ([0, 1], [1, 15], r"groups\[1\]"),
        ([0, -1], [1, 2], r"groups\[1\]"),
        ([0.0], [1.0], r"groups\[0\]"),
        ([0, 1], [1], "shape"),
    ],
)
def test_bad_pairs_are_refused(first, second, match):
    X, Y = data(15, 1)
    path = rb.solve_path(rb.RankRLSProblem(X, Y[:, 0]), solver="rls")
    with pytest.raises(ValueError, match=match):
        leave_pair_out_predictions(path, first, second, LAMS)


@pytest.mark.parametrize("scale", [1e-5, 1.0])
@pytest.mark.parametrize("options", MAKE.values(), ids=MAKE)
def test_tiny_scores_keep_their_digits(options, scale):
    """At large lambda, and for small features, against retraining."""
    if scale < 1 and options == MAKE["regression"]:
        pytest.skip("1 - k of the kernel itself, which is not centred, has six digits")
    X, Y = data(12, 2)
    X, lams = scale * X, np.array([1e-4, 1.0, 1e4, 1e6]) * (1.0 if scale < 1 else 1e6)
    gamma = dict(gamma=1.0) if options["kernel"] == "rbf" else {}
    path = rb.solve_path(rb.RankRLSProblem(X, Y, **options, **gamma), solver="rls")
    i, j = np.triu_indices(12, 1)
    found = leave_pair_out_predictions(path, i, j, lams)
    expected = np.empty_like(found)
    for m in range(i.size):
        pair = [i[m], j[m]]
        rest = np.setdiff1d(np.arange(12), pair)
        retrained = rb.RankRLSProblem(X[rest], Y[rest], **options, **gamma)
        scores = rb.solve_path(retrained, solver="rls").predictions(X[pair], lams)
        expected[:, m] = scores[:, 0] - scores[:, 1]
    size = np.abs(expected).max(axis=1, keepdims=True)
    assert (size[2:] < 1e-6).all() and (np.abs(found - expected) <= 1e-9 * size).all()
    apart = Y[i] - Y[j]
    wrong = np.where(apart != 0, expected * apart < 0, np.nan)
    assert np.allclose(leave_pair_out(path, lams), np.nanmean(wrong, axis=1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_preferences_that_are_counted_as_listed_ones(kernel):
    """Scores with a graph of preferences: whole components are left out."""
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(30, 3)), rng.normal(size=30), np.arange(30) % 5
    a, b = (rng.integers(0, 3, 30).astype(float) for _ in range(2))
    prefs = rb.Preferences.from_scores(y, qid).item_weighted(a, b)
    listed = rb.Preferences(prefs.better, prefs.worse, 30, weight=prefs.weight)
    paths = [
        rb.solve_path(rb.RankRLSProblem(X, y, graph=each, kernel=kernel), solver="rls")
        for each in (prefs, listed)
    ]
    groups = [np.flatnonzero(qid == q) for q in range(5)]
    ours, theirs = (module.leave_out_predictions(path, groups, [0.1, 10.0]) for path in paths)
    for q in range(5):  # up to a constant
        rows = slice(6 * q, 6 * q + 6)
        compared = np.isin(groups[q], np.r_[prefs.better, prefs.worse])
        gap = (ours - theirs)[:, rows][:, compared]
        assert np.ptp(gap, axis=1).max(initial=0.0) <= 1e-9 * np.abs(theirs).max()


@pytest.mark.parametrize(
    "values, zeros, least",
    [
        ([1.0, 1e-5, 1e-17], 1, 1e-5),
        ([1.0, 1e-5, 1e-17], 0, 0.0),
        ([1.0, 1e-5, 0.0, -1e-17], 1, 0.0),
        ([1.0, 1e-5], 1, 1e-5),
    ],
)
def test_eigenvalues_known_to_be_zero_cost_no_digits(values, zeros, least):
    """16 roundings of 1 + the largest eigenvalue over the least, both plus lambda."""
    share = rounding_share(np.array(values), [1e-7, 1.0], zeros)
    assert share == pytest.approx([2.0**-48 * (1 + 1 / (least + 1e-7)), 1e-12], rel=1e-9, abs=0)
