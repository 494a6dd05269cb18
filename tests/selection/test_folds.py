"""Which items are left out together.

They are evenly assigned, the same ones every time unless a shuffle is asked for.
"""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

import rankbook as rb
from rankbook.kernels.basis import choose_basis
from rankbook.kernels.nystroem import NystroemMap
from rankbook.selection.folds import fold_numbers, make_folds, stratified_items, stratified_queries

RNG = np.random.default_rng


@pytest.fixture(scope="module", params=["real", "sorted", "graded", "constant"])
def scores(request):
    y = RNG(0).normal(size=103)
    return {"real": y, "sorted": np.sort(y), "graded": np.round(y), "constant": np.zeros(103)}[
        request.param
    ]


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize("k", [2, 5, 7])
def test_each_fold_gets_its_share_of_every_stretch_and_every_level(scores, k, seed):
    fold = stratified_items(scores, k, None if seed is None else RNG(seed))
    order = np.argsort(scores, kind="stable")
    for end in range(0, 103 - 103 % k, k):  # any number of lowest items, up to those that tie
        below = scores < scores[order[end]]
        assert np.ptp(np.bincount(fold[below], minlength=k)) <= 1
    for level in np.unique(scores):
        assert np.ptp(np.bincount(fold[scores == level], minlength=k)) <= 1
    assert np.ptp(np.bincount(fold, minlength=k)) <= 1


def test_by_hand():
    assert stratified_items(np.array([3.0, 1, 2, 1, 3]), 2).tolist() == [
        1,
        0,
        0,
        1,
        0,
    ]  # 1, 3, 2, 0, 4 by score
    assert stratified_items(np.zeros(5), 3).tolist() == [0, 1, 2, 0, 1]
    assert stratified_queries(np.array([0, 1, 1, 2, 2, 2]), 2).tolist() == [1, 1, 1, 0, 0, 0]


def test_a_sorted_table_is_spread():
    y = np.arange(100.0)
    for fold in (stratified_items(y, 5), stratified_items(y, 5, RNG(0))):
        means = [y[fold == f].mean() for f in range(5)]
        assert max(means) - min(means) < 5


def test_queries_go_as_scikit_learn_deals_groups():
    query = np.repeat(np.arange(12), RNG(1).permutation(np.arange(1, 25, 2)))  # twelve sizes
    shuffle = RNG(2).permutation(query.size)
    for q in (query, query[shuffle]):
        fold = fold_numbers(np.zeros(query.size), q, 4)
        for f, (_, test) in enumerate(GroupKFold(4).split(q, groups=q)):
            assert np.array_equal(np.flatnonzero(fold == f), test)


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_queries_stay_whole_and_folds_balanced(seed):
    sizes = RNG(3).integers(1, 30, 40)
    query = RNG(4).permutation(np.repeat(np.arange(40), sizes))
    fold = fold_numbers(np.zeros(query.size), query, 5, None if seed is None else RNG(seed))
    assert all(np.unique(fold[query == q]).size == 1 for q in range(40))
    assert np.ptp(np.bincount(fold)) <= sizes.max()


def test_one_query_is_none(scores):
    assert np.array_equal(
        fold_numbers(scores, np.zeros(103, dtype=int), 5), fold_numbers(scores, None, 5)
    )


@pytest.mark.parametrize(
    "query",
    [None, np.arange(60) % 20, np.repeat(np.arange(20), [1] * 10 + [5] * 10)],
    ids=["items", "equal queries", "two sizes"],
)
def test_chance_only_if_asked_for(query):
    y = RNG(5).normal(size=60)
    folds = lambda state: np.array(
        [np.isin(np.arange(60), test) for _, test in make_folds(4, None, y, query, state)]
    )
    assert np.array_equal(folds(None), folds(None)) and np.array_equal(folds(3), folds(3))
    assert not np.array_equal(folds(None), folds(3)) and not np.array_equal(folds(4), folds(3))
    for generator in (RNG(0), np.random.RandomState(0)):
        assert not np.array_equal(folds(generator), folds(generator))
    apart = {tuple(map(tuple, folds(seed))) for seed in range(20)}
    assert (
        len({frozenset(parts) for parts in apart}) > 15
    )  # other parts, not only other numbers for them


@pytest.mark.parametrize(
    "state, error",
    [(True, TypeError), ("0", TypeError), (0.5, TypeError), (-1, ValueError), (2**32, ValueError)],
)
def test_what_is_no_random_state(state, error):
    X, y = RNG(6).normal(size=(30, 2)), np.arange(30.0)
    for call in (
        lambda: make_folds(3, X, y, None, state),
        lambda: choose_basis(X, 3, random_state=state),
        lambda: NystroemMap(X, 3, random_state=state),
        lambda: rb.RankSVMCV(random_state=state).fit(X, y),
        lambda: rb.RankRLS(basis=3, random_state=state).fit(X, y),
        lambda: rb.OnlineRankSVM(random_state=state).fit(X, y),
        lambda: rb.RayleighRanker(random_state=state).fit(X, y > 15),
    ):
        with pytest.raises(error, match=f"random_state is {state!r}"):
            call()
