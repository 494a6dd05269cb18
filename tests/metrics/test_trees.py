"""What the guides say of LightGBM and XGBoost, asked of these programs.

The guides are nbs/guides/metrics_elsewhere.ipynb and nbs/book/which.ipynb.
"""

import warnings

import numpy as np
import pytest

from rankbook import metrics


def of_lightgbm(metric, y, s, qid):
    """What LightGBM says of scores s: a first tree of items that are all alike adds nothing."""
    import lightgbm

    name, k = metric.split("@")
    X, group, found = np.zeros((len(y), 1)), np.unique(qid, return_counts=True)[1], {}
    options = dict(objective="lambdarank", metric=name, eval_at=[int(k)], verbosity=-1)
    start = np.asarray(s, dtype=float)
    data = lightgbm.Dataset(X, y, group=group, init_score=start)
    same = data.create_valid(X, y, group=group, init_score=start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        watch = lightgbm.record_evaluation(found)
        lightgbm.train(options | dict(num_threads=1), data, 1, [same], callbacks=[watch])
    return found["valid_0"][metric][0]


def of_xgboost(metric, y, s, qid):
    """What XGBoost says of scores s, which stand in place of its trees."""
    import xgboost

    data = xgboost.DMatrix(np.zeros((len(y), 1)), y, qid=qid)
    data.set_base_margin(np.asarray(s, dtype=float))
    options = dict(objective="rank:ndcg", eval_metric=metric, nthread=1, verbosity=0)
    return float(xgboost.train(options, data, 0).eval(data).split(":")[-1])


pytestmark = pytest.mark.peer("lightgbm", "xgboost")
BOTH = pytest.mark.parametrize("of", [of_lightgbm, of_xgboost])


@BOTH
def test_the_gain_is_exponential(of):
    y, s, qid = [1, 0, 2], [3, 2, 1], [0, 0, 0]
    assert metrics.ndcg(y, s) == pytest.approx(of("ndcg@3", y, s, qid))
    assert metrics.ndcg(y, s, gain="linear") != pytest.approx(of("ndcg@3", y, s, qid), abs=0.01)


@BOTH
@pytest.mark.parametrize("k", [1, 5, 10])
def test_a_query_with_nothing_to_find_counts_one(of, k):
    rng = np.random.default_rng(0)
    y, s, qid = rng.integers(0, 3, 300), rng.normal(size=300), np.repeat(np.arange(30), 10)
    y[:40] = 0
    assert metrics.ndcg(y, s, qid, k=k, empty=1) == pytest.approx(of(f"ndcg@{k}", y, s, qid))
    one = y > 0
    both = metrics.average_precision(one, s, qid, empty=1), of("map@10", one, s, qid)
    assert both[0] == pytest.approx(both[1])


@pytest.mark.parametrize("metric", ["ndcg@10", "map@10"])
def test_a_minus_sign_has_xgboost_count_zero(metric):
    y, s, qid = [1, 0, 0, 0], [1, 2, 2, 1], [1, 1, 2, 2]
    ours = metrics.ndcg if metric.startswith("ndcg") else metrics.average_precision
    for ending, empty in (("", 1), ("-", 0)):
        found = of_xgboost(metric + ending, y, s, qid)
        assert ours(y, s, qid, empty=empty) == pytest.approx(found)


@BOTH
def test_of_items_that_tie_the_first_row_is_first(of):
    assert of("ndcg@4", [1, 0, 0, 0], [7] * 4, [0] * 4) == 1
    last = of("ndcg@4", [0, 0, 0, 1], [7] * 4, [0] * 4)
    assert last == pytest.approx(metrics.ndcg([0, 0, 0, 1], [4, 3, 2, 1]))


@BOTH
def test_map_at_k_is_divided_by_what_fits_on_the_page(of):
    y, s = [1, 0, 1, 1], [4, 3, 2, 1]
    assert of("map@2", y, s, [0] * 4) == pytest.approx(1 / 2)  # one of the two places, found first
    assert of("map@4", y, s, [0] * 4) == pytest.approx(metrics.average_precision(y, s))


@pytest.mark.parametrize("penalty", [0.0, 1.0, 10.0])
def test_the_penalty_of_trees_is_one_of_leaves(penalty):
    """The value of a leaf is -G / (H + penalty), G and H sums over its items."""
    x, y = np.array([[0.0]] * 4 + [[1.0]] * 2), np.array([-1.0, -2, -3, -4, 7, 9])
    sums, sizes = np.array([y[:4].sum(), y[4:].sum()]), np.array([4, 2])
    expected = np.repeat(sums / (sizes + penalty), sizes)  # squares: G = -sum of y, H = items
    import lightgbm

    options = dict(objective="regression", boost_from_average=False, learning_rate=1.0)
    options |= dict(num_leaves=2, min_data_in_leaf=1, verbosity=-1, num_threads=1)
    tree = lightgbm.train(options | dict(lambda_l2=penalty), lightgbm.Dataset(x, y), 1)
    assert tree.predict(x) == pytest.approx(expected, rel=1e-6)
    import xgboost

    options = dict(max_depth=1, eta=1.0, base_score=0.0, min_child_weight=0, nthread=1)
    data = xgboost.DMatrix(x, y)
    tree = xgboost.train(options | dict(reg_lambda=penalty), data, 1)
    assert tree.predict(data) == pytest.approx(expected, rel=1e-6)
