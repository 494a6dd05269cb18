"""Ranked lists, names of metrics, means over queries and sums over blocks."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error

from rankbook import metrics
from rankbook.metrics.queries import (
    RankedLists,
    UndefinedMetric,
    by_query,
    empty_value,
    mean_over_queries,
    metric_sums,
    named,
    query_weights,
    running,
)


def test_running_totals_begin_anew_in_each_list():
    v, place = np.array([3, 4, 5, 0, 7, 2, 2]), np.array([0, 1, 2, 0, 1, 0, 1])
    assert running(np.add, v, place).tolist() == [3, 7, 12, 0, 7, 2, 4]
    assert running(np.multiply, v, place).tolist() == [3, 12, 60, 0, 0, 2, 4]
    assert running(np.add, v[:0], place[:0]).size == 0
    v, place = (
        np.random.default_rng(0).random(3000),
        np.concatenate([np.arange(1000), np.arange(2000)]),
    )
    assert np.allclose(running(np.add, v, place)[1000:], np.cumsum(v[1000:]), rtol=1e-14)
    assert np.allclose(running(np.multiply, v, place)[:50], np.cumprod(v[:50]), rtol=1e-14)


def test_lists_with_ties():
    lists = RankedLists(
        y_true=np.array([0.0, 1, 2, 3, 4]),
        y_score=np.array([0.3, 7.0, 0.1 + 0.2, 9.0, 5.0]),
        number=np.array([0, 0, 0, 0, 1]),
    )
    assert lists.order.tolist()[:2] == [3, 1] and lists.order[4] == 4
    assert lists.place.tolist() == [0, 1, 2, 3, 0] and lists.first.tolist() == [0, 4]
    assert lists.chain_first.tolist() == [0, 1, 2, 4]
    assert lists.chain_size.tolist() == [1, 1, 2, 1]
    assert lists.shared(lists.place + 1.0).tolist() == [1, 2, 3.5, 3.5, 1]
    assert lists.total(lists.grade).tolist() == [6, 4]
    assert lists.chain_place.tolist() == [0, 1, 2, 0]
    none = RankedLists(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.intp))
    assert none.total(np.zeros(0)).size == none.shared(np.zeros(0)).size == 0


def test_pairs_of_each_list():
    lists = RankedLists(
        np.array([2.0, 0, 1, 5, 5]), np.array([1.0, 1, 2, 3, 4]), np.array([0, 0, 0, 1, 1])
    )
    missed, with_ties, pairs = lists.pair_counts()
    assert (missed.tolist(), with_ties.tolist(), pairs.tolist()) == ([1, 0], [2, 0], [3, 0])


def test_names():
    assert named("ndcg@10") == (metrics.ndcg, dict(k=10)) and named("auc") == (metrics.auc, {})
    for wrong in ("ndgc@10", "MRR", "auc@10", "precision", "ndcg@ten"):
        with pytest.raises(ValueError):
            named(wrong)
    with pytest.raises(TypeError, match="metric is 10"):
        named(10)


def test_weights_and_values_of_empty_queries():
    assert query_weights(np.array([2.0, 2, 7, 2]), np.array([1, 1, 0, 1])).tolist() == [7, 2]
    assert np.isnan(empty_value("skip")) and empty_value(0) == 0 and empty_value(1.0) == 1
    for wrong in ("zero", 2, True, None):
        with pytest.raises(ValueError, match="empty is"):
            empty_value(wrong)


def test_a_function_of_ones_own_is_called_by_query():
    def best_on_top(y_true, y_score):
        return float(y_true[y_score.argmax()] == y_true.max())

    given = [0, 2, 1, 1, 0], [3, 1, 2, 9, 8], ["v", "u", "u", "v", "v"]
    ids, values = by_query(best_on_top, *given)
    assert ids.tolist() == ["u", "v"] and values.tolist() == [0, 1]

    def grade_of_the_best(y_true, y_score):
        if y_true.size == 1:
            raise UndefinedMetric("one item")
        return y_true[y_score.argmax()]

    given = grade_of_the_best, [7, 6, 0, 4, 9], [1, 2, 3, 4, 5], [1, 1, 2, 2, 3]
    values = by_query(*given)[1]
    assert mean_over_queries(values, "two items") == (6 + 4) / 2
    assert mean_over_queries(values, "two items", np.array([1, 3, 5])) == (6 + 3 * 4) / 4
    assert by_query(*given, empty=0)[1].tolist() == [6, 4, 0]


def test_a_function_of_ones_own_receives_the_weights_of_each_query():
    y, scores, qid, weight = [0, 2, 1, 4, 0], [3, 1, 2, 9, 8], [*"vuuvv"], [1.0, 3, 2, 0, 5]
    values = by_query(mean_absolute_error, y, scores, qid, weight)[1]
    assert values.tolist() == [(3 * 1 + 2 * 1) / 5, (1 * 3 + 0 * 5 + 5 * 8) / 6]


def test_sums_of_a_block():
    y, scores, qid = [2, 0, 1, 0, 1, 1], [3.0, 1.0, 2.0, 5.0, 4.0, 4.5], [7, 7, 7, 8, 8, 9]
    assert metric_sums("pair_accuracy", y, scores, qid) == (1.0, 2.0)  # query 9 has no pair
    assert metric_sums("pair_accuracy", y, scores, qid, empty=1) == (2.0, 3.0)
    assert metric_sums("disagreement", y, scores, qid) == (1.0, 4.0)
