"""Names of metrics, metrics of one's own, means over queries and sums over blocks."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error

from rankbook import metrics
from rankbook.metrics.queries import (
    UndefinedMetric,
    by_query,
    find_metric,
    mean_over_queries,
    metric_sums,
)


def test_names():
    assert find_metric("ndcg@10") == (metrics.ndcg, dict(k=10)) and find_metric("auc") == (
        metrics.auc,
        {},
    )
    for wrong in ("ndgc@10", "MRR", "auc@10", "precision", "ndcg@ten"):
        with pytest.raises(ValueError):
            find_metric(wrong)
    with pytest.raises(TypeError, match="metric is 10"):
        find_metric(10)


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
