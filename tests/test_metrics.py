"""Metrics: brute force on degenerate data, other programs where there are no ties, and what is refused."""
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rankbook.metrics import (
    UndefinedMetric,
    _count_lower,
    _listed_share,
    _tie_chains,
    _tie_ends,
    _tie_limit,
    auc,
    average_precision,
    by_query,
    disagreement,
    ndcg,
)
from rankbook.preferences import Preferences


def brute_disagreement(scores, prefs, tie_tol=1e-12):
    """The definition, pair by pair."""
    limit = tie_tol * max(abs(float(s)) for s in scores)
    missed = 0.0
    for k, l, w in zip(prefs.better, prefs.worse, prefs.weight):
        difference = float(scores[k]) - float(scores[l])
        missed += w * (0.5 if abs(difference) <= limit else float(difference < 0))
    return missed / prefs.weight.sum()


# Scores that tie exactly, by rounding, in chains, or nearly
near = st.builds(lambda a, b, c: a + b * c, st.integers(-3, 3), st.integers(-3, 3), st.sampled_from([0.0, 1e-16, 1e-13, 1e-12, 3e-12, 1e-3, 1.0]))
huge = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-300, 1e300, -1e300, 1.7e308, -1.7e308])
item = st.tuples(st.one_of(near, huge), st.integers(0, 5), st.integers(0, 2))


@settings(max_examples=400, deadline=None)
@given(st.lists(item, min_size=1, max_size=25), st.sampled_from([0.0, 1e-12, 1e-3, 0.4, 1.0]))
@example([(0.1 + 0.2 + 0.3, 1, 0), (0.3 + 0.2 + 0.1, 0, 0)], 1e-12)
@example([(100.0, 0, 0), (100.8, 1, 0), (101.6, 2, 0)], 0.01)
def test_counting_equals_listing_equals_the_definition(items, tie_tol):
    scores, y, qid = (np.array(column) for column in zip(*items))
    prefs = Preferences.from_scores(y, qid=qid)
    if len(prefs) == 0:
        with pytest.raises(UndefinedMetric):
            disagreement(scores, prefs, tie_tol)
        return
    value = disagreement(scores, prefs, tie_tol)
    assert prefs._pairs is None  # nothing was listed
    listed = Preferences(prefs.better, prefs.worse, prefs.n_items)
    assert value == disagreement(scores, listed, tie_tol) == brute_disagreement(scores, listed, tie_tol)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(near, huge), min_size=1, max_size=30), st.sampled_from([0.0, 1e-12, 1e-3, 1.0]), st.integers(1, 4))
def test_tie_ends_hold_exactly_the_ties(scores, tie_tol, n_queries):
    s = np.array(scores)
    query = np.sort(np.arange(s.size) % n_queries)
    s = s[np.lexsort((s, query))]
    query_start = np.searchsorted(query, query)
    limit = _tie_limit(s, tie_tol)
    a, b = _tie_ends(s, query_start, limit)
    starts, sizes = _tie_chains(s, query_start, limit)
    chain = np.repeat(np.arange(starts.size), sizes)
    for i in range(s.size):
        ties = [j for j in range(s.size) if query[j] == query[i] and abs(float(s[j]) - float(s[i])) <= limit]
        assert list(range(a[i], b[i])) == ties
        assert len(set(chain[ties])) == 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 300), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_count_lower(grades, random):
    grade, n = np.array(grades), len(grades)
    ends = np.sort([[random.randint(0, n), random.randint(0, n)] for _ in grades], axis=1)
    expected = [sum(g < grade[i] for g in grades[start:stop]) for i, (start, stop) in enumerate(ends)]
    assert _count_lower(grade, *ends.T).tolist() == expected


def test_many_levels_against_the_list():
    rng = np.random.default_rng(0)
    prefs = Preferences.from_scores(rng.standard_normal(700), qid=rng.integers(0, 5, 700))
    for scores in (rng.standard_normal(700), rng.integers(0, 50, 700), rng.standard_normal(700).cumsum()):
        for tie_tol in (0.0, 1e-12, 1e-3, 0.1):
            counted = disagreement(scores, prefs, tie_tol)
            assert counted == disagreement(scores, Preferences(prefs.better, prefs.worse, 700), tie_tol)


@pytest.mark.parametrize("graph", ["full", "star"])
def test_weights(graph):
    rng = np.random.default_rng(1)
    prefs = Preferences.from_scores(rng.integers(0, 4, 30), graph=graph)
    scores, weight = rng.integers(0, 6, 30), rng.random(len(prefs))
    weighted = prefs.reweighted(weight=weight)
    assert np.isclose(disagreement(scores, weighted), brute_disagreement(scores, weighted), rtol=1e-13)
    assert disagreement(scores, weighted) != disagreement(scores, prefs)
    ones, margins = prefs.reweighted(weight=np.ones(len(prefs))), prefs.reweighted(margin=np.full(len(prefs), 3.0))
    assert disagreement(scores, ones) == disagreement(scores, margins) == disagreement(scores, prefs) == brute_disagreement(scores, prefs)


def test_weights_that_overflow_in_a_sum():
    prefs = Preferences([0, 0, 1], [1, 2, 2], 3, weight=[1e308, 1e308, 1.5e308])
    assert np.isclose(disagreement([3, 1, 2], prefs), 1.5 / 3.5)
    tiny = prefs.reweighted(weight=[5e-324, 5e-324, 0])
    assert disagreement([2, 3, 1], tiny) == 1 / 2


@pytest.mark.parametrize("block", [1, 2, 7, 1000])
def test_blocks_do_not_matter(block):
    rng = np.random.default_rng(2)
    prefs = Preferences.from_scores(rng.integers(0, 3, 25))
    scores = rng.integers(0, 5, 25).astype(float)
    assert _listed_share(scores, prefs, 0.0, block=block) == disagreement(scores, prefs)


def test_cycles_and_repeated_pairs():
    votes = Preferences.from_rankings([[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    for scores in ([1, 2, 3], [0, 5, 1], [2, 1, 0]):
        assert disagreement(scores, votes) == brute_disagreement(scores, votes)
    assert disagreement([1, 1, 1], votes) == 1 / 2


def test_turning_the_order_round():
    rng = np.random.default_rng(3)
    prefs = Preferences.from_scores(rng.integers(0, 4, 50), qid=rng.integers(0, 6, 50))
    scores = rng.integers(0, 9, 50)
    assert np.isclose(disagreement(scores, prefs) + disagreement(-scores, prefs), 1)


def test_duplicates_through_a_matrix_product():
    """Copies of items, scored by a matrix product of whatever blocking, tie."""
    rng = np.random.default_rng(4)
    X = np.repeat(rng.standard_normal((40, 7)), 2, axis=0)
    coef = rng.standard_normal(80)
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1))
    scores = K @ coef
    shaken = scores * (1 + 2e-16 * rng.integers(-3, 4, 80))
    copies = Preferences(np.arange(0, 80, 2), np.arange(1, 80, 2), 80)
    assert disagreement(scores, copies) == disagreement(shaken, copies) == 1 / 2
    assert disagreement(shaken, copies, tie_tol=0) != 1 / 2
    y = rng.integers(0, 3, 80)
    assert ndcg(scores, y) == pytest.approx(ndcg(shaken, y), rel=1e-12)
    assert average_precision(scores, y) == average_precision(shaken, y)


def test_arrays_of_any_kind():
    y, scores = np.array([2, 0, 1, 0, 2, 1]), np.array([0.3, 0.2, 0.9, 0.4, 0.8, 0.1])
    prefs = Preferences.from_scores(y)
    expected = brute_disagreement(scores, prefs)
    frozen = scores.copy()
    frozen.flags.writeable = False
    wide = np.zeros((6, 2))
    wide[:, 1] = scores
    for form in (frozen, wide[:, 1], scores.tolist(), scores.astype(">f8"), scores[::-1].copy()[::-1]):
        assert disagreement(form, prefs) == expected
        assert ndcg(form, y) == ndcg(scores, y) and average_precision(form, y) == average_precision(scores, y)
        assert auc(form, y > 0) == auc(scores, y > 0)
    assert np.array_equal(frozen, scores)


@pytest.mark.parametrize("metric", [auc, ndcg, average_precision, lambda s, y, q=None: ndcg(s, y, q, k=3)])
def test_queries_in_any_order(metric):
    rng = np.random.default_rng(5)
    qid = np.array([f"q{i}" for i in rng.integers(0, 8, 120)])
    y, scores = rng.integers(0, 2, 120), rng.integers(0, 6, 120)
    one_by_one = [metric(scores[qid == q], y[qid == q]) for q in np.unique(qid)]
    assert np.isclose(metric(scores, y, qid), np.mean(one_by_one), rtol=1e-14)
    ids, values = by_query(metric, scores, y, qid)
    assert ids.tolist() == sorted(set(qid)) and values.tolist() == one_by_one
    shuffle = rng.permutation(120)
    assert np.isclose(metric(scores[shuffle], y[shuffle], qid[shuffle]), metric(scores, y, qid), rtol=1e-14)


def test_by_query_gives_each_query_its_own_items_in_their_order():
    seen = {}
    def record(s, y):
        seen[y[0]] = s.tolist()
        return len(s)
    ids, values = by_query(record, [1, 2, 3, 4, 5], [7, 9, 7, 8, 7], qid=[30, -1, 30, 2, 30])
    assert ids.tolist() == [-1, 2, 30] and values.tolist() == [1, 1, 3]
    assert seen == {7: [1, 3, 5], 9: [2], 8: [4]}


def test_by_query_lets_a_mistake_through():
    def broken(s, y):
        raise ValueError("my own")
    with pytest.raises(ValueError, match="my own"):
        by_query(broken, [1, 2], [1, 2])
    with pytest.raises(TypeError, match="metric is 'auc'"):
        by_query("auc", [1, 2], [1, 2])


def test_auc_is_one_minus_disagreement():
    rng = np.random.default_rng(6)
    for values in ((0, 1), (-1, 1), (False, True), (2.5, 7)):
        y, scores = np.array(values)[np.r_[0, 1, rng.integers(0, 2, 40)]], rng.integers(0, 12, 42)
        assert auc(scores, y) == 1 - disagreement(scores, Preferences.from_scores(y))


def test_against_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(7)
    for n in (2, 3, 10, 100):
        for levels in (2, 5, 10**6):
            scores = rng.integers(0, levels, n)
            y = np.r_[0, 1, rng.integers(0, 5, n - 2)].astype(float)
            assert np.isclose(auc(scores, y > 0), metrics.roc_auc_score(y > 0, scores), rtol=1e-13)
            assert np.isclose(average_precision(scores, y), metrics.average_precision_score(y > 0, scores), rtol=1e-13)
            for k in (None, 1, 2, n, n + 5):
                assert np.isclose(ndcg(scores, y, k=k), metrics.ndcg_score([2**y - 1], [scores], k=k), rtol=1e-12)


def test_ndcg_of_ties_is_the_mean_over_all_ways_to_break_them():
    from itertools import permutations
    y, scores = np.array([3.0, 0, 1, 0.5, 2]), np.array([1.0, 1, 4, 1, 4])
    for k in (1, 2, 4, None):
        broken = [ndcg(scores + 1e-3 * np.array(p), y, k=k) for p in permutations(range(5))]
        assert np.isclose(ndcg(scores, y, k=k), np.mean(broken), rtol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 5, 333])
def test_a_perfect_order_is_exactly_one(n):
    y = np.random.default_rng(n).integers(1, 5, n)
    scores = y + np.linspace(0, 0.5, n)
    assert ndcg(scores, y) == ndcg(scores, y, k=3) == 1 and average_precision(scores, y) == 1


def test_extreme_grades():
    assert ndcg([2, 1, 0], [1000, 0, 1000]) < 1 == ndcg([2, 0, 1], [1000, 0, 1000])
    with pytest.raises(ValueError, match="y has 1001.0 at index 1; grades from 0 to 1000"):
        ndcg([1, 2], [0, 1001])
    with pytest.raises(ValueError, match="y has -0.5 at index 0"):
        ndcg([1, 2], [-0.5, 1])


def test_all_scores_tie():
    y, qid = np.array([0, 1, 0, 1, 1, 0, 0]), [1, 1, 1, 2, 2, 2, 2]
    for constant in (0.0, 1.0, -1e300):
        scores = np.full(7, constant)
        assert auc(scores, y, qid) == 1 / 2
        assert disagreement(scores, Preferences.from_scores(y, qid)) == 1 / 2
        assert average_precision(scores, y, qid) == pytest.approx((1 / 3 + 2 / 4) / 2)


@pytest.mark.parametrize("metric, y", [(auc, [1, 1, 1, 1]), (auc, [0, 0, 1, 1]), (ndcg, [0, 0, 0, 0]), (average_precision, [0, -1, 0, -2]), (auc, [])])
def test_nothing_to_measure(metric, y):
    qid = np.arange(len(y)) // 2
    with pytest.raises(UndefinedMetric, match="y has no query with"):
        metric(np.arange(len(y)), y, qid)
    ids, values = by_query(metric, np.arange(len(y)), y, qid)
    assert ids.tolist() == np.unique(qid).tolist() and np.isnan(values).all()


def test_no_preference_and_no_weight():
    prefs = Preferences([0], [1], 2)
    for empty in (Preferences.from_scores([1, 1]), Preferences([], [], 2), prefs.reweighted(weight=[0])):
        with pytest.raises(UndefinedMetric, match="prefs has no"):
            disagreement([1, 2], empty)
    assert issubclass(UndefinedMetric, ValueError)


@pytest.mark.parametrize("call, error, words", [
    (lambda: disagreement([1, 2], [0, 1]), TypeError, "prefs is a list"),
    (lambda: disagreement([1, 2, 3], Preferences([0], [1], 2)), ValueError, r"scores has shape \(3,\); shape \(2,\)"),
    (lambda: disagreement([1, np.inf], Preferences([0], [1], 2)), ValueError, "scores has infinity at index 1"),
    (lambda: disagreement([1, 2], Preferences([0], [1], 2), tie_tol=-1), ValueError, "tie_tol is -1"),
    (lambda: disagreement([1, 2], Preferences([0], [1], 2), tie_tol="1"), TypeError, "tie_tol is '1'"),
    (lambda: auc([1, 2, 3], [0, 1]), ValueError, r"y has shape \(2,\)"),
    (lambda: auc([1, 2, 3], [0, 1, 2]), ValueError, "y has 3 different values"),
    (lambda: auc([1, 2], [0, 1], qid=[1]), ValueError, r"qid has shape \(1,\)"),
    (lambda: auc([1, 2], [0, np.nan]), ValueError, "y has NaN at index 1"),
    (lambda: auc([1, 2], [0, 1], qid=[1, np.nan]), ValueError, "qid has nan at index 1"),
    (lambda: ndcg([1, 2], [0, 1], k=0), ValueError, "k is 0"),
    (lambda: ndcg([1, 2], [0, 1], k=2.0), TypeError, "k is 2.0"),
    (lambda: ndcg([1, 2], [0, 1], k=True), TypeError, "k is True"),
    (lambda: average_precision([[1, 2]], [0, 1]), ValueError, r"scores has shape \(1, 2\)"),
    (lambda: average_precision(["a", "b"], [0, 1]), TypeError, "scores cannot be read as numbers"),
])
def test_refused(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert not isinstance(caught.value, UndefinedMetric)
