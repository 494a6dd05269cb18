"""The factor of the active set.

Any history of entries and exits must leave what a fresh factorization would give.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankbook.paths.active_set import (
    apply_factor,
    backward,
    combine,
    factorize,
    forward,
    gather,
    hessian_entry,
    new_row,
    remove_preference,
)


def setting(seed, n=14, m=40, d=None):
    """A kernel (its factor if d is given), preferences and margins."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, d or n))
    better = rng.integers(0, n, m).astype(np.int32)
    worse = ((better + rng.integers(1, n, m)) % n).astype(np.int32)
    return (F @ F.T, F, better, worse, rng.uniform(0.5, 2, m), rng)


def dense_H(K, better, worse):
    return (K[better] - K[worse])[:, better] - (K[better] - K[worse])[:, worse]


@pytest.mark.parametrize("seed", range(3))
def test_entries_of_both_kinds_of_kernel(seed):
    K, F, better, worse, _, _ = setting(seed, d=3)
    H = dense_H(K, better, worse)
    for i in range(0, 40, 7):
        for j in range(40):
            args = better[i], worse[i], better[j], worse[j]
            assert hessian_entry(K, False, *args) == pytest.approx(H[i, j], abs=1e-12)
            assert hessian_entry(F, True, *args) == pytest.approx(H[i, j], abs=1e-12)


def test_an_entry_of_a_pair_with_itself_reversed_is_the_negative():
    K, F, better, worse, _, _ = setting(0)
    for matrix, factored in ((K, False), (F, True)):
        same = hessian_entry(matrix, factored, 2, 5, 2, 5)
        assert same > 0 and hessian_entry(matrix, factored, 2, 5, 5, 2) == -same


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
def test_triangular_solves(n):
    rng = np.random.default_rng(n)
    L = np.tril(rng.normal(size=(n + 3, n + 3))) + 5 * np.eye(n + 3)
    x = rng.normal(size=n + 3)
    y, z = x.copy(), x.copy()
    forward(L, n, y)
    backward(L, n, z)
    assert np.allclose(L[:n, :n] @ y[:n], x[:n]) and np.allclose(L[:n, :n].T @ z[:n], x[:n])
    assert np.array_equal(y[n:], x[n:]) and np.array_equal(z[n:], x[n:])  # no further than asked


def enter(K, factored, better, worse, delta, A, n, L, q, j):  # noqa: PLR0913 -- as in the function it checks
    """Append preference j the way the follower does; False if it depends on the others."""
    pivot, diagonal = new_row(K, factored, better, worse, A, n, j, L)
    if pivot <= 1e-10 * diagonal:
        return n
    L[n, n] = np.sqrt(pivot)
    q[n] = (delta[j] - L[n, :n] @ q[:n]) / L[n, n]
    A[n] = j
    return n + 1


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.integers(0, 5),
    st.booleans(),
    st.lists(st.tuples(st.booleans(), st.integers(0, 999)), max_size=60),
)
def test_any_history_leaves_the_factor_of_what_is_there(seed, factored, history):
    K, F, better, worse, delta, _ = setting(seed, d=6 if factored else None)
    matrix = F if factored else K
    room = 20
    A, L, q, n = np.zeros(room, dtype=np.int64), np.zeros((room, room)), np.zeros(room), 0
    cosines, sines, members = np.zeros(room), np.zeros(room), []
    for grows, k in history:
        if grows:
            j = k % better.size
            before, n = (
                n,
                enter(matrix, factored, better, worse, delta, A, n, L, q, j)
                if j not in members
                else n,
            )
            members += [j] * (n - before)
        elif n:
            n = remove_preference(A, n, k % n, L, q, cosines, sines)
            del members[k % (n + 1)]
    assert A[:n].tolist() == members
    H = dense_H(K, better, worse)[np.ix_(members, members)]
    lower = np.tril(L[:n, :n])
    assert np.allclose(lower @ lower.T, H, atol=1e-8) and (np.diagonal(lower) > 0).all()
    assert np.allclose(lower @ q[:n], delta[members], atol=1e-8)


@pytest.mark.parametrize("position", [0, 1, 4, 8])
def test_removing_any_position(position):
    K, F, _, _, delta, rng = setting(7)
    better = np.arange(9, dtype=np.int32)
    worse = (better + rng.integers(1, 14 - better)).astype(
        np.int32
    )  # each to a later item: independent
    A, L, q = np.arange(9), np.zeros((12, 12)), np.zeros(12)
    assert factorize(K, False, better, worse, delta, A, 9, L, q, 1e-10) == -1
    n = remove_preference(A, 9, position, L, q, np.zeros(12), np.zeros(12))
    left = np.delete(np.arange(9), position)
    fresh, q_fresh = np.zeros((12, 12)), np.zeros(12)
    factorize(K, False, better, worse, delta, left, 8, fresh, q_fresh, 1e-10)
    assert n == 8 and A[:8].tolist() == left.tolist()
    assert np.allclose(np.tril(L[:8, :8]), np.tril(fresh[:8, :8])) and np.allclose(
        q[:8], q_fresh[:8]
    )


@pytest.mark.parametrize(
    "better, worse",
    [([0, 2, 0, 2], [1, 1, 3, 3]), ([0, 0], [1, 1]), ([0, 1], [1, 0]), ([0, 1, 2], [1, 2, 0])],
    ids=["square", "twice", "both ways", "cycle"],
)
def test_dependent_preferences_have_no_pivot(better, worse):
    K, F, *_ = setting(3)
    better, worse = np.array(better, dtype=np.int32), np.array(worse, dtype=np.int32)
    m = better.size
    for matrix, factored in ((K, False), (F, True)):
        A, L, q = np.arange(m), np.zeros((m, m)), np.zeros(m)
        assert factorize(matrix, factored, better, worse, np.ones(m), A, m, L, q, 1e-12) == m - 1


def test_a_preference_between_copies_has_no_pivot_at_all():
    K = np.ones((3, 3))
    A, L, q = np.zeros(1, dtype=np.int64), np.zeros((1, 1)), np.zeros(1)
    assert factorize(K, False, np.array([0]), np.array([1]), np.ones(1), A, 1, L, q, 0.0) == 0
    assert new_row(K, False, np.array([0]), np.array([1]), A, 0, 0, L) == (0.0, 0.0)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 8, 11])
def test_gathering_and_combining(size):
    K, F, better, worse, _, rng = setting(size, d=4)
    A, v = rng.permutation(40)[:size].astype(np.int64), rng.normal(size=size)
    P = np.zeros((size, 14))
    P[np.arange(size), better[A]] += 1
    P[np.arange(size), worse[A]] -= 1
    slot, items, u = (
        np.full(14, -1),
        np.zeros(2 * size + 2, dtype=np.int64),
        np.full(2 * size + 2, np.nan),
    )
    count = gather(better, worse, A, size, v, slot, items, u)
    on_items = np.zeros(14)
    on_items[items[:count]] = u[:count]
    assert (
        np.unique(items[:count]).size == count
        and np.allclose(on_items, P.T @ v)
        and (slot == -1).all()
    )
    out = np.full(14, np.nan)
    combine(K, items, u, count, out, out.size)
    assert np.allclose(out, K @ P.T @ v)
    half, some = np.full(F.shape[1], np.nan), rng.permutation(14)[:5]
    combine(F, items, u, count, half, half.size)
    out = np.full(14, np.nan)
    apply_factor(F, half, some, 5, out)
    assert np.allclose(out[some], (K @ P.T @ v)[some]) and np.isnan(out).sum() == 9


def test_a_pair_and_its_reverse_cancel():
    better, worse = np.array([0, 1], dtype=np.int32), np.array([1, 0], dtype=np.int32)
    slot, items, u = np.full(3, -1), np.zeros(4, dtype=np.int64), np.zeros(4)
    count = gather(better, worse, np.arange(2), 2, np.ones(2), slot, items, u)
    assert count == 2 and not u[:2].any()
