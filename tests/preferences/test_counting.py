"""Squares over pairs of levels against the same pairs one by one, degenerate data first."""

import numpy as np
import pytest

import rankbook as rb
from rankbook.preferences.laplacians import PreferenceGraph

N = 40


def made(rng, kind):
    """Scores, query ids and the two weights of N items."""
    y, qid = rng.integers(0, 5, N).astype(float), rng.integers(0, 4, N)
    a, b = (rng.random(N) * (rng.random(N) < 0.7) for _ in range(2))
    if kind == "ties":
        y[qid < 3] = 1.0  # one query has a pair
    elif kind == "never worse":
        b[:] = np.arange(N) == N // 2
    elif kind == "never better":
        a[y > y.min()] = 0.0
    elif kind == "one item a query":
        qid = np.r_[0, 0, np.arange(1, N - 1)]
        y[:2] = [0.0, 1.0]
        a[:2] = b[:2] = 1.0
    elif kind == "all different":
        y, qid = rng.permutation(N).astype(float), np.zeros(N, dtype=int)
    elif kind == "wide":
        a, b = 10 ** rng.uniform(-90, 90, (2, N))
    return y, qid, a, b


KINDS = "plain, ties, never worse, never better, one item a query, all different, wide".split(", ")


def listed(y, qid, a, b):
    """The pairs (better, worse) with a weight, and their weights, by comparing all items."""
    k, l = np.nonzero((y[:, None] > y) & (qid[:, None] == qid) & (np.outer(a, b) > 0))
    return k, l, a[k] * b[l]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(10))
def test_sums_and_roots(kind, seed):
    rng = np.random.default_rng(seed)
    y, qid, a, b = made(rng, kind)
    k, l, c = listed(y, qid, a, b)
    graph = PreferenceGraph(rb.Preferences.from_scores(y, qid).item_weighted(a, b))
    v = rng.normal(size=(N, 3)) + rng.normal(size=3) * 100
    for margin in (0.0, 1.0):
        short = margin - (v[k] - v[l])
        loss, half = graph.squares(v, margin)
        assert np.allclose(loss, c @ short**2, rtol=1e-12, atol=0)
        terms, expected, size = c[:, None] * short, np.zeros((N, 3)), np.zeros((N, 3))
        for ends, sign in ((k, -1), (l, 1)):
            np.add.at(expected, ends, sign * terms)
            np.add.at(size, ends, c[:, None] * (margin + np.abs(v[k]) + np.abs(v[l])))
        assert (np.abs(half - expected) <= 1e-13 * size).all()
    L = np.zeros((N, N))
    for ends in ((k, k, 1), (l, l, 1), (k, l, -1), (l, k, -1)):
        np.add.at(L, ends[:2], ends[2] * c)
    _, kept = graph.factor
    F = graph.root(np.eye(kept.size))
    size = np.outer(*2 * [np.sqrt(L.diagonal())])
    assert (np.abs(F @ F.T - L) <= 1e-13 * size).all()
    assert (
        np.abs(graph.root_transposed(np.eye(N)) - F.T) <= 1e-13 * np.abs(F).max(axis=0)[:, None]
    ).all()
    t = rng.normal(size=(kept.size, 2))
    if kind != "wide":  # F is then far from singular
        assert np.allclose(graph.root_solved(F @ t), t, rtol=1e-6, atol=1e-8)
        assert np.linalg.matrix_rank(L) == kept.size
    touched = np.zeros(N, dtype=bool)
    touched[k] = touched[l] = True
    flat = np.where(touched, 7.0 + qid, rng.normal(size=N))[:, None]
    assert graph.is_level(flat)
    if touched.any():
        flat[k[0]] += 1
        assert not graph.is_level(flat)
        same = graph.components[touched]
        assert np.array_equal(
            np.unique(same, return_inverse=True)[1], np.unique(qid[touched], return_inverse=True)[1]
        )
    assert len(np.unique(graph.components[~touched])) == (~touched).sum()
