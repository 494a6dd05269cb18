"""Metrics against brute force on degenerate data, and what they refuse.

Where there are no ties, they are compared with other programs.
"""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rankbook as rb
from rankbook.base import progress
from rankbook.metrics import pairs
from rankbook.metrics.graded import average_precision, ndcg
from rankbook.metrics.pairs import auc, disagreement
from rankbook.metrics.queries import UndefinedMetric, by_query
from rankbook.preferences.graph import Preferences
from rankbook.preferences.missed_pairs import _listed_share, count_lower, tie, tie_chains, tie_ends


def brute_disagreement(prefs, scores, tie_tol=1e-12):
    """The definition, pair by pair."""
    missed = 0.0
    for k, l, w in zip(prefs.better, prefs.worse, prefs.weight):
        tied = abs(float(scores[k]) - float(scores[l])) <= tie_tol * max(
            abs(scores[k]), abs(scores[l])
        )
        missed += w * (0.5 if tied else float(scores[k] < scores[l]))
    return missed / prefs.weight.sum()


# Scores that tie exactly, by rounding, in chains, or nearly
near = st.builds(
    lambda a, b, c: a + b * c,
    st.integers(-3, 3),
    st.integers(-3, 3),
    st.sampled_from([0.0, 1e-16, 1e-13, 1e-12, 3e-12, 1e-3, 1.0]),
)
huge = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-300, 1e300, -1e300, 1.7e308, -1.7e308])
item = st.tuples(st.one_of(near, huge), st.integers(0, 5), st.integers(0, 2))


@settings(max_examples=400, deadline=None)
@given(st.lists(item, min_size=1, max_size=25), st.sampled_from([0.0, 1e-12, 1e-3, 0.4, 0.9]))
@example([(0.1 + 0.2 + 0.3, 1, 0), (0.3 + 0.2 + 0.1, 0, 0)], 1e-12)
@example([(100.0, 0, 0), (100.8, 1, 0), (101.6, 2, 0)], 0.01)
def test_counting_equals_listing_equals_the_definition(items, tie_tol):
    scores, y, qid = (np.array(column) for column in zip(*items))
    prefs = Preferences.from_scores(y, qid=qid)
    if len(prefs) == 0:
        with pytest.raises(UndefinedMetric):
            disagreement(prefs, scores, tie_tol=tie_tol)
        return
    value = disagreement(y, scores, qid, tie_tol=tie_tol)
    assert (
        value == disagreement(prefs, scores, tie_tol=tie_tol) and prefs._pairs is None
    )  # nothing was listed
    listed = Preferences(prefs.better, prefs.worse, prefs.n_items)
    assert (
        value
        == disagreement(listed, scores, tie_tol=tie_tol)
        == brute_disagreement(listed, scores, tie_tol)
    )


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(near, huge), min_size=1, max_size=30),
    st.sampled_from([0.0, 1e-12, 1e-3, 0.9]),
    st.integers(1, 4),
)
def test_tie_ends_hold_exactly_the_ties(scores, tie_tol, n_queries):
    s = np.array(scores)
    query = np.sort(np.arange(s.size) % n_queries)
    s = s[np.lexsort((s, query))]
    query_start = np.searchsorted(query, query)
    a, b = tie_ends(s, query_start, tie_tol)
    starts, sizes = tie_chains(s, query_start, tie_tol)
    chain = np.repeat(np.arange(starts.size), sizes)
    for i in range(s.size):
        ties = [j for j in range(s.size) if query[j] == query[i] and tie(s[j], s[i], tie_tol)]
        assert list(range(a[i], b[i])) == ties
        assert len(set(chain[ties])) == 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 300), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_count_lower(grades, random):
    grade, n = np.array(grades), len(grades)
    ends = np.sort([[random.randint(0, n), random.randint(0, n)] for _ in grades], axis=1)
    expected = [
        sum(g < grade[i] for g in grades[start:stop]) for i, (start, stop) in enumerate(ends)
    ]
    assert count_lower(grade, *ends.T).tolist() == expected


def test_many_levels_against_the_list():
    rng = np.random.default_rng(0)
    prefs = Preferences.from_scores(rng.standard_normal(700), qid=rng.integers(0, 5, 700))
    for scores in (
        rng.standard_normal(700),
        rng.integers(0, 50, 700),
        rng.standard_normal(700).cumsum(),
    ):
        for tie_tol in (0.0, 1e-12, 1e-3, 0.1):
            counted = disagreement(prefs, scores, tie_tol=tie_tol)
            assert counted == disagreement(
                Preferences(prefs.better, prefs.worse, 700), scores, tie_tol=tie_tol
            )


@pytest.mark.parametrize("graph", ["full", "star"])
def test_weights(graph):
    rng = np.random.default_rng(1)
    prefs = Preferences.from_scores(rng.integers(0, 4, 30), graph=graph)
    scores, weight = rng.integers(0, 6, 30), rng.random(len(prefs))
    weighted = prefs.reweighted(weight=weight)
    assert np.isclose(
        disagreement(weighted, scores), brute_disagreement(weighted, scores), rtol=1e-13
    )
    assert disagreement(weighted, scores) != disagreement(prefs, scores)
    ones, margins = (
        prefs.reweighted(weight=np.ones(len(prefs))),
        prefs.reweighted(margin=np.full(len(prefs), 3.0)),
    )
    assert (
        disagreement(ones, scores)
        == disagreement(margins, scores)
        == disagreement(prefs, scores)
        == brute_disagreement(prefs, scores)
    )


def test_weights_that_overflow_in_a_sum():
    prefs = Preferences([0, 0, 1], [1, 2, 2], 3, weight=[1e308, 1e308, 1.5e308])
    assert np.isclose(disagreement(prefs, [3, 1, 2]), 1.5 / 3.5)
    tiny = prefs.reweighted(weight=[5e-324, 5e-324, 0])
    assert disagreement(tiny, [2, 3, 1]) == 1 / 2


@pytest.mark.parametrize("block", [1, 2, 7, 1000])
def test_blocks_do_not_matter(block):
    rng = np.random.default_rng(2)
    prefs = Preferences.from_scores(rng.integers(0, 3, 25))
    scores = rng.integers(0, 5, 25).astype(float)
    assert _listed_share(prefs, scores, 0.0, block=block) == disagreement(prefs, scores)


def test_cycles_and_repeated_pairs():
    votes = Preferences.from_rankings([[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    for scores in ([1, 2, 3], [0, 5, 1], [2, 1, 0]):
        assert disagreement(votes, scores) == brute_disagreement(votes, scores)
    assert disagreement(votes, [1, 1, 1]) == 1 / 2


def test_turning_the_order_round():
    rng = np.random.default_rng(3)
    prefs = Preferences.from_scores(rng.integers(0, 4, 50), qid=rng.integers(0, 6, 50))
    scores = rng.integers(0, 9, 50)
    assert np.isclose(disagreement(prefs, scores) + disagreement(prefs, -scores), 1)


def test_duplicates_through_a_matrix_product():
    """Copies of items, scored by a matrix product of whatever blocking, tie."""
    rng = np.random.default_rng(4)
    X = np.repeat(rng.standard_normal((40, 7)), 2, axis=0)
    coef = rng.standard_normal(80)
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1))
    scores = K @ coef
    shaken = scores * (1 + 2e-16 * rng.integers(-3, 4, 80))
    copies = Preferences(np.arange(0, 80, 2), np.arange(1, 80, 2), 80)
    assert disagreement(copies, scores) == disagreement(copies, shaken) == 1 / 2
    assert disagreement(copies, shaken, tie_tol=0) != 1 / 2
    y = rng.integers(0, 3, 80)
    assert ndcg(y, scores) == pytest.approx(ndcg(y, shaken), rel=1e-12)
    assert average_precision(y, scores) == average_precision(y, shaken)


def test_arrays_of_any_kind():
    y, scores = np.array([2, 0, 1, 0, 2, 1]), np.array([0.3, 0.2, 0.9, 0.4, 0.8, 0.1])
    prefs = Preferences.from_scores(y)
    expected = brute_disagreement(prefs, scores)
    frozen = scores.copy()
    frozen.flags.writeable = False
    wide = np.zeros((6, 2))
    wide[:, 1] = scores
    for form in (
        frozen,
        wide[:, 1],
        scores.tolist(),
        scores.astype(">f8"),
        scores[::-1].copy()[::-1],
    ):
        assert disagreement(prefs, form) == expected
        assert ndcg(y, form) == ndcg(y, scores) and average_precision(y, form) == average_precision(
            y, scores
        )
        assert auc(y > 0, form) == auc(y > 0, scores)
    assert np.array_equal(frozen, scores)


@pytest.mark.parametrize(
    "metric", [auc, ndcg, average_precision, lambda y, s, q=None: ndcg(y, s, q, k=3)]
)
def test_queries_in_any_order(metric):
    rng = np.random.default_rng(5)
    qid = np.array([f"q{i}" for i in rng.integers(0, 8, 120)])
    y, scores = rng.integers(0, 2, 120), rng.integers(0, 6, 120)
    one_by_one = [metric(y[qid == q], scores[qid == q]) for q in np.unique(qid)]
    assert np.isclose(metric(y, scores, qid), np.mean(one_by_one), rtol=1e-14)
    ids, values = by_query(metric, y, scores, qid)
    assert ids.tolist() == sorted(set(qid)) and values.tolist() == one_by_one
    shuffle = rng.permutation(120)
    assert np.isclose(
        metric(y[shuffle], scores[shuffle], qid[shuffle]), metric(y, scores, qid), rtol=1e-14
    )


def test_by_query_gives_each_query_its_own_items_in_their_order():
    seen = {}

    def record(y, s):
        seen[y[0]] = s.tolist()
        return len(s)

    ids, values = by_query(record, [7, 9, 7, 8, 7], [1, 2, 3, 4, 5], qid=[30, -1, 30, 2, 30])
    assert ids.tolist() == [-1, 2, 30] and values.tolist() == [1, 1, 3]
    assert seen == {7: [1, 3, 5], 9: [2], 8: [4]}


def test_by_query_lets_a_mistake_through():
    def broken(y, s):
        raise ValueError("my own")

    with pytest.raises(ValueError, match="my own"):
        by_query(broken, [1, 2], [1, 2])
    with pytest.raises(TypeError, match="metric is 3"):
        by_query(3, [1, 2], [1, 2])
    assert by_query("auc", [1, 2], [1, 2])[1] == 1


def test_auc_is_one_minus_disagreement():
    rng = np.random.default_rng(6)
    for values in ((0, 1), (-1, 1), (False, True), (2.5, 7)):
        y, scores = np.array(values)[np.r_[0, 1, rng.integers(0, 2, 40)]], rng.integers(0, 12, 42)
        assert auc(y, scores) == 1 - disagreement(Preferences.from_scores(y), scores)


def test_against_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(7)
    for n in (2, 3, 10, 100):
        for levels in (2, 5, 10**6):
            scores = rng.integers(0, levels, n)
            y = np.r_[0, 1, rng.integers(0, 5, n - 2)].astype(float)
            assert np.isclose(auc(y > 0, scores), metrics.roc_auc_score(y > 0, scores), rtol=1e-13)
            assert np.isclose(
                average_precision(y, scores),
                metrics.average_precision_score(y > 0, scores),
                rtol=1e-13,
            )
            for k in (None, 1, 2, n, n + 5):
                assert np.isclose(
                    ndcg(y, scores, k=k), metrics.ndcg_score([2**y - 1], [scores], k=k), rtol=1e-12
                )


def test_ndcg_of_ties_is_the_mean_over_all_ways_to_break_them():
    from itertools import permutations

    y, scores = np.array([3.0, 0, 1, 0.5, 2]), np.array([1.0, 1, 4, 1, 4])
    for k in (1, 2, 4, None):
        broken = [ndcg(y, scores + 1e-3 * np.array(p), k=k) for p in permutations(range(5))]
        assert np.isclose(ndcg(y, scores, k=k), np.mean(broken), rtol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 5, 333])
def test_a_perfect_order_is_exactly_one(n):
    y = np.random.default_rng(n).integers(1, 5, n)
    scores = y + np.linspace(0, 0.5, n)
    assert ndcg(y, scores) == ndcg(y, scores, k=3) == 1 and average_precision(y, scores) == 1


def test_extreme_grades():
    assert ndcg([1000, 0, 1000], [2, 1, 0]) < 1 == ndcg([1000, 0, 1000], [2, 0, 1])
    with pytest.raises(
        ValueError, match="y_true has 1001.0 at index 1. Pass grades from 0 to 1000"
    ):
        ndcg([0, 1001], [1, 2])
    with pytest.raises(ValueError, match="y_true has -0.5 at index 0"):
        ndcg([-0.5, 1], [1, 2])


def test_all_scores_tie():
    y, qid = np.array([0, 1, 0, 1, 1, 0, 0]), [1, 1, 1, 2, 2, 2, 2]
    for constant in (0.0, 1.0, -1e300):
        scores = np.full(7, constant)
        assert auc(y, scores, qid) == 1 / 2
        assert disagreement(Preferences.from_scores(y, qid), scores) == 1 / 2
        assert average_precision(y, scores, qid) == pytest.approx((1 / 3 + 2 / 4) / 2)


@pytest.mark.parametrize(
    "metric, y",
    [
        (auc, [1, 1, 1, 1]),
        (auc, [0, 0, 1, 1]),
        (ndcg, [0, 0, 0, 0]),
        (average_precision, [0, -1, 0, -2]),
        (auc, []),
    ],
)
def test_nothing_to_measure(metric, y):
    qid = np.arange(len(y)) // 2
    with pytest.raises(UndefinedMetric, match="y_true has no query with"):
        metric(y, np.arange(len(y)), qid)
    ids, values = by_query(metric, y, np.arange(len(y)), qid)
    assert ids.tolist() == np.unique(qid).tolist() and np.isnan(values).all()


def test_no_preference_and_no_weight():
    prefs = Preferences([0], [1], 2)
    for empty in (
        Preferences.from_scores([1, 1]),
        Preferences([], [], 2),
        prefs.reweighted(weight=[0]),
    ):
        with pytest.raises(UndefinedMetric, match="y_true has no"):
            disagreement(empty, [1, 2])
    assert issubclass(UndefinedMetric, ValueError)


def test_sentinels_leave_the_order_of_the_others():
    y, scores = np.arange(10), np.linspace(0, 1, 10)
    for sentinel in (-1e9, -1e15, -1e300):
        assert disagreement(np.r_[y, -1, -1, -1], np.r_[scores, sentinel, sentinel, sentinel]) == 0
        assert disagreement(np.r_[y, -1], np.r_[-scores, sentinel]) == 45 / 55
        never = np.full(30, sentinel)
        assert (
            disagreement(
                np.r_[np.zeros(30), y], np.r_[never, scores], np.r_[np.zeros(30), np.ones(10)]
            )
            == 0
        )
        assert (
            rb.auc(np.r_[np.zeros(30), y > 4], np.r_[never, scores])
            == 1
            == ndcg(np.r_[np.zeros(30), y], np.r_[never, scores])
        )


# Weights of items


def weighted_brute(y, scores, qid, weight):
    prefs = Preferences.from_scores(y, qid)
    return brute_disagreement(prefs.reweighted(weight[prefs.better] * weight[prefs.worse]), scores)


weights = st.one_of(
    st.just(0.0), st.integers(1, 3).map(float), st.floats(-12, 12).map(lambda e: 10.0**e)
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(near, st.integers(0, 4), st.integers(0, 2), weights), min_size=1, max_size=20
    )
)
@example(
    [
        (0.0, 0, 0, 1e12),
        (1.0, 0, 0, 1e12),
        (0.0, 0, 1, 1e-12),
        (1.0, 1, 1, 1e-12),
        (0.0, 1, 1, 1e-12),
    ]
)
def test_a_pair_weighs_the_product_of_its_items(items):
    """However different the weights are, and without a list of pairs."""
    scores, y, qid, weight = (np.array(column) for column in zip(*items))
    prefs = Preferences.from_scores(y, qid)
    if len(prefs) == 0 or not (weight[prefs.better] * weight[prefs.worse]).any():
        with pytest.raises(UndefinedMetric, match="y_true has no preference"):
            disagreement(y, scores, qid, weight)
        return
    graph = Preferences.from_scores(y, qid).item_weighted(weight)
    value = disagreement(y, scores, qid, weight)
    assert value == disagreement(graph, scores)
    assert 0 <= value <= 1 and np.isclose(
        value, weighted_brute(y, scores, qid, weight), rtol=1e-9, atol=1e-12
    )
    assert (
        not graph.is_listed and graph.weight.any() and disagreement(graph, scores) == value
    )  # listed or not
    assert disagreement(y, scores, qid, np.ones(y.size)) == disagreement(y, scores, qid)


def test_item_weights_of_a_million_pairs_are_not_listed(monkeypatch):
    def refuse(self):
        raise AssertionError("listed")

    rng = np.random.default_rng(8)
    y, scores, weight = rng.integers(0, 5, 3000), rng.standard_normal(3000), rng.random(3000)
    expected = disagreement(
        Preferences(
            (prefs := Preferences.from_scores(y)).better,
            prefs.worse,
            3000,
            weight[prefs.better] * weight[prefs.worse],
        ),
        scores,
    )
    monkeypatch.setattr(Preferences, "_list", refuse)
    assert np.isclose(disagreement(y, scores, sample_weight=weight), expected, rtol=1e-12)


def test_weights_against_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(10)
    for n in (2, 3, 10, 100):
        for levels in (2, 5, 10**6):
            y, scores, weight = (
                np.r_[0, 1, rng.integers(0, 2, n - 2)],
                rng.integers(0, levels, n),
                rng.random(n),
            )
            weight[rng.random(n) < 0.2] = 0
            weight[:2] += 0.1
            assert np.isclose(
                auc(y, scores, sample_weight=weight),
                metrics.roc_auc_score(y, scores, sample_weight=weight),
                rtol=1e-12,
            )
            assert np.isclose(
                disagreement(y, scores, sample_weight=weight),
                1 - metrics.roc_auc_score(y, scores, sample_weight=weight),
                rtol=1e-10,
                atol=1e-14,
            )
            assert np.isclose(
                average_precision(y, scores, sample_weight=weight),
                metrics.average_precision_score(y, scores, sample_weight=weight),
                rtol=1e-12,
            )
    grades, scores, weight = (
        rng.integers(0, 4, (20, 9)),
        rng.integers(0, 6, (20, 9)),
        rng.random(20),
    )
    grades[:, 0] = 1  # no query without a grade, where the two differ
    weight[3] = 0
    qid, shuffle = np.repeat(np.arange(20), 9), rng.permutation(180)
    for k in (None, 1, 5):
        ours = ndcg(
            grades.ravel()[shuffle],
            scores.ravel()[shuffle],
            qid[shuffle],
            np.repeat(weight, 9)[shuffle],
            k=k,
        )
        assert np.isclose(
            ours, metrics.ndcg_score(2.0**grades - 1, scores, k=k, sample_weight=weight), rtol=1e-12
        )


def test_the_mean_over_queries_with_weights():
    """Item weights say nothing of how much a query counts, except where nothing counts.

    Those of NDCG say nothing else.
    """
    y, scores, qid = [0, 1, 0, 1, 0, 1], [1, 2, 2, 1, 1, 2], [1, 1, 2, 2, 3, 3]
    assert auc(y, scores, qid) == 2 / 3 and np.isclose(average_precision(y, scores, qid), 5 / 6)
    assert (
        auc(y, scores, qid, [5, 5, 1, 1, 1, 1]) == 2 / 3
        and auc(y, scores, qid, [1, 1, 1, 1, 0, 1]) == 1 / 2
    )
    second = 1 / np.log2(3)
    assert (
        np.isclose(ndcg(y, scores, qid, [5, 5, 1, 1, 1, 1]), (5 + second + 1) / 7)
        and ndcg(y, scores, qid, [1, 1, 0, 0, 0, 0]) == 1
    )
    for metric in (disagreement, auc, average_precision, ndcg):
        with pytest.raises(UndefinedMetric, match="y_true has no"):
            metric(y, scores, qid, np.zeros(6))


def test_by_query_hands_on_weights():
    def weighed(y, s, sample_weight):
        return float(sample_weight @ y)

    assert by_query(weighed, [1, 2, 3], [0, 0, 0], ["b", "a", "b"], [10, 20, 30])[1].tolist() == [
        40,
        100,
    ]
    ids, values = by_query(auc, [0, 1, 0, 1], [1, 2, 3, 4], [1, 1, 2, 2], [1, 1, 0, 1])
    assert values[0] == 1 and np.isnan(values[1])


# One table of calls for each metric. Equal is what scikit-learn gives, or what was counted by hand.

Y, S, Q, W = [0, 1, 1, 0], [1.0, 3.0, 2.0, 2.0], [7, 7, 8, 8], [1, 2, 3, 4]
FULL, BY_QUERY = Preferences.from_scores(Y), Preferences.from_scores(Y, Q)
GOOD = {
    disagreement: [
        ((Y, S), {}, 1 / 8),
        ((FULL, S), {}, 1 / 8),
        ((Y, S, Q), {}, 1 / 4),
        ((BY_QUERY, S), {}, 1 / 4),
        ((Y, S, None, W), {}, 6 / 25),
        ((FULL.item_weighted(W), S), {}, 6 / 25),
        ((Y, S), dict(qid=Q, sample_weight=W), 6 / 14),
        ((Preferences([1, 1], [0, 2], 4), S), {}, 0.0),
        ((Y, S), dict(tie_tol=0.9), 1 / 2),
        ((np.array(Y) > 0, S), {}, 1 / 8),
    ],
    auc: [
        ((Y, S), {}, 7 / 8),
        ((FULL, S), {}, 7 / 8),
        ((Y, S, Q), {}, 3 / 4),
        ((BY_QUERY, S), {}, 3 / 4),
        ((Y, S, None, W), {}, 19 / 25),
        ((FULL.item_weighted(W), S), {}, 19 / 25),
        ((BY_QUERY.item_weighted([1, 2, 0, 4]), S), {}, 1.0),
        ((Y, S), dict(qid=Q, sample_weight=W), 3 / 4),
    ],
    average_precision: [
        ((Y, S), {}, (1 + 2 / 3) / 2),
        ((Y, S, Q), {}, (1 + 1 / 2) / 2),
        ((Y, S, None, W), {}, (2 + 3 * 5 / 9) / 5),
        ((Y, S), dict(qid=Q, sample_weight=W), (1 + 3 / 7) / 2),
    ],
    ndcg: [
        ((Y, S, Q), {}, (1 + (1 + 1 / np.log2(3)) / 2) / 2),
        ((Y, S, Q, [1, 1, 3, 3]), {}, (1 + 3 * (1 + 1 / np.log2(3)) / 2) / 4),
        ((Y, S), dict(k=1), 1.0),
        ((Y, S, None, [2] * 4), dict(k=1), 1.0),
    ],
}
EVERY = [
    (
        (S, FULL),
        {},
        TypeError,
        r"y_score is a Preferences.*The order of arguments is \(y_true, y_score\)",
    ),
    ((FULL, FULL), {}, TypeError, "y_score is a Preferences"),
    ((Y, S[:3]), {}, ValueError, r"y_score has shape \(3,\). Pass an array of shape \(4,\)"),
    ((Y, [1, np.inf, 0, 0]), {}, ValueError, "y_score has infinity at index 1"),
    (([0, np.nan, 1, 1], S), {}, ValueError, "y_true has NaN at index 1"),
    ((Y, list("abcd")), {}, TypeError, "y_score cannot be read as numbers"),
    ((list("abcd"), S), {}, TypeError, "y_true cannot be read as numbers"),
    ((Y, [S]), {}, ValueError, r"y_score has shape \(1, 4\)"),
    (([Y], S), {}, ValueError, r"y_true has shape \(1, 4\)"),
    ((Y, S, [1]), {}, ValueError, r"qid has shape \(1,\)"),
    ((Y, S, [1, np.nan, 1, 1]), {}, ValueError, "qid has NaN at index 1"),
    ((Y, S, Q, [1]), {}, ValueError, r"sample_weight has shape \(1,\)"),
    ((Y, S, Q, [1, 1, 1, -1]), {}, ValueError, "sample_weight has -1.0 at index 3"),
    ((Y, S, Q, [1, 1, np.nan, 1]), {}, ValueError, "sample_weight has NaN at index 2"),
]
WITH_PREFERENCES = [
    ((FULL, S, Q), {}, ValueError, "qid is given, and y_true is a Preferences. Omit qid"),
    ((FULL, S), dict(sample_weight=W), ValueError, "sample_weight is given, and y_true"),
]
WITHOUT = [
    ((Preferences([1], [0], 4), S), {}, TypeError, "y_true holds pairs, which have no grades")
]
BAD = {
    disagreement: WITH_PREFERENCES
    + [
        (
            (FULL, [1.0, 2.0]),
            {},
            ValueError,
            r"y_score has shape \(2,\). Pass an array of shape \(4,\)",
        ),
        ((Y, S), dict(tie_tol=-1), ValueError, "tie_tol is -1"),
        ((Y, S), dict(tie_tol="1"), TypeError, "tie_tol is '1'"),
    ],
    auc: WITH_PREFERENCES
    + [
        (
            ([0, 1, 2, 0], S),
            {},
            ValueError,
            r"y_true has 3 different values .*The order of arguments is \(y_true, y_score\)",
        ),
        ((S, Y), {}, ValueError, "y_true has 3 different values"),
        (
            (Preferences([1], [0], 4), S),
            {},
            ValueError,
            "y_true is Preferences.*call rb.metrics.pair_accuracy",
        ),
        ((Preferences.from_scores(S), S), {}, ValueError, "at most two levels"),
        ((Preferences.from_scores(Y, graph="star"), S), {}, ValueError, "the full graph"),
        ((FULL.reweighted([1, 2, 3, 4]), S), {}, ValueError, "without weights of individual pairs"),
    ],
    average_precision: WITHOUT,
    ndcg: WITHOUT
    + [
        ((Y, S), dict(k=0), ValueError, "k is 0"),
        ((Y, S), dict(k=2.5), ValueError, "k is 2.5"),
        ((Y, S), dict(k=True), TypeError, "k is True"),
        (
            (Y, S, Q, W),
            {},
            ValueError,
            (
                "sample_weight has 1.0 at index 0 and 2.0 at index 1, two items of one query. "
                "Pass one weight"
            ),
        ),
        ((Y, S), dict(sample_weight=W), ValueError, "two items of one query"),
    ],
}


@pytest.mark.parametrize("metric", GOOD)
def test_good_calls(metric):
    for arguments, named, value in GOOD[metric]:
        assert metric(*arguments, **named) == pytest.approx(value, rel=1e-14, abs=1e-16), (
            arguments,
            named,
        )


@pytest.mark.parametrize("metric", BAD)
def test_bad_calls(metric):
    for arguments, named, error, words in EVERY + BAD[metric]:
        with pytest.raises(error, match=words) as caught:
            metric(*arguments, **named)
        assert not isinstance(caught.value, UndefinedMetric)


def test_by_query_has_the_same_order():
    ids, values = by_query(auc, y_true=Y, y_score=S, qid=Q, sample_weight=W)
    assert ids.tolist() == [7, 8] and values.tolist() == [1, 1 / 2]
    for arguments, named, error, words in EVERY + WITHOUT:
        with pytest.raises(error, match=words):
            by_query(auc, *arguments, **named)


@pytest.mark.parametrize("metric", GOOD)
def test_all_metrics_share_a_signature(metric):
    from inspect import signature

    names = list(signature(metric).parameters)
    assert names[:4] == ["y_true", "y_score", "qid", "sample_weight"]
    assert list(signature(by_query).parameters)[:5] == ["metric", *names[:4]]


@pytest.mark.parametrize("metric", [disagreement, auc, pairs.kendall_tau])
def test_only_large_calls_start_a_thread(metric, monkeypatch):
    started, start = [], progress.start_new_thread
    counted = lambda *given: started.append(metric) or start(*given)
    monkeypatch.setattr(progress, "start_new_thread", counted)
    for n, threads in ((10, 0), (pairs.LARGE + 1, 1)):
        y = np.arange(n) % 2
        metric(y, y_score=np.arange(n))
        assert len(started) == threads
