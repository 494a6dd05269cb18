"""Names of metrics, metrics of one's own, means over queries and sums over blocks."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error

from rankbook import metrics
from rankbook.base import numerics
from rankbook.base.numerics import order_within, sorted_within
from rankbook.metrics.queries import (
    UndefinedMetric,
    by_query,
    find_metric,
    mean_over_queries,
    metric_sums,
    running,
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


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize(
    "keys",
    [
        [0.0, -0.0, 1e-320, -1e-320, 1e300, -1e300, 1e-45, -1e-45, 3.5e38, -3.5e38],
        [0.0, -0.0, 1.5, -1.5, 2.0**-149, -(2.0**127), 3.0],  # which float32 holds
        [0.1, 0.1 + 1e-17, -0.1, np.nextafter(0.1, 1)],
    ],
)
@pytest.mark.parametrize("part", [3, numerics.PART])
def test_an_order_within_numbers_is_stable_and_exact(keys, is_sorted, part, monkeypatch):
    monkeypatch.setattr(numerics, "PART", part)
    rng = np.random.default_rng(0)
    for n in range(60):
        number, key = rng.integers(0, 1 + n // 9, n), rng.choice(keys, n)
        number = np.sort(number) if is_sorted else number
        order = np.lexsort((key, number))
        assert order_within(number, key).tolist() == order.tolist()
        assert (sorted_within(number, key) == key[order]).all()


def test_running_sums_and_products_begin_anew_in_each_list():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 40, 50)
    place = np.concatenate([np.arange(k) for k in sizes])
    for v in (rng.integers(0, 9, place.size), rng.random(place.size)):
        parts = np.split(v, np.cumsum(sizes)[:-1])
        for ufunc in (np.add, np.multiply):
            expected = np.concatenate([ufunc.accumulate(part) for part in parts])
            np.testing.assert_allclose(running(ufunc, v, place), expected, rtol=1e-14)
