"""Metrics as sums over blocks against the same of all items."""

import numpy as np
import pytest

import rankbook as rb
from rankbook import metrics
from rankbook.data.blocks import Stored


class First:
    """A model: the first feature."""

    def predict(self, X):
        return X[:, 0]


def made(levels=3, weighted=None, seed=0):
    rng = np.random.default_rng(seed)
    qid = np.sort(rng.integers(0, 40, 500))
    X = rng.normal(size=(500, 2)).round(1)  # with ties
    y = rng.integers(0, levels, 500)
    y[qid % 7 == 0] = 0  # nothing to measure
    weight = None
    if weighted == "queries":
        weight = rng.integers(0, 3, 40)[qid].astype(float)
    elif weighted == "items":
        weight = rng.integers(0, 3, 500).astype(float)
    return X, y, qid, weight


def cut(X, y, qid, weight, at=(3, 4, 20), stored=False):
    part = np.searchsorted(at, qid, side="right")
    pick = lambda i: None if weight is None else weight[i]
    blocks = [rb.Block(X[i], y[i], qid[i], pick(i)) for i in (part == k for k in range(4))]
    return rb.Blocks([Stored(lambda b=b: b) for b in blocks] if stored else blocks)


NAMED = {
    "ndcg@10": lambda *a, **o: metrics.ndcg(*a, k=10, **o),
    "average_precision": metrics.average_precision,
    "pair_accuracy": metrics.pair_accuracy,
    "reciprocal_rank": metrics.reciprocal_rank,
    "kendall_tau": metrics.kendall_tau,
    "precision@3": lambda *a, **o: metrics.precision_at_k(*a, k=3, **o),
    "auc": metrics.auc,
}


@pytest.mark.parametrize("empty", ["skip", 0, 1])
@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("weighted", [False, True])
def test_means_over_queries(name, empty, weighted):
    kind = "queries" if weighted else None
    X, y, qid, weight = made(2 if name in ("auc", "average_precision") else 3, kind)
    blocks = cut(X, y, qid, weight, stored=weighted)
    found = metrics.over_blocks(name, blocks, First(), empty=empty)
    whole = NAMED[name](y, X[:, 0], qid, weight, empty=empty)
    assert np.isclose(found, whole, rtol=1e-12, atol=0)


@pytest.mark.parametrize("weighted", [None, "items"])
def test_preferences_missed(weighted):
    X, y, qid, weight = made(weighted=weighted)
    found = metrics.over_blocks("disagreement", cut(X, y, qid, weight), First(), tie_tol=0.1)
    whole = metrics.disagreement(y, X[:, 0], qid, weight, tie_tol=0.1)
    assert np.isclose(found, whole, rtol=1e-12)


def test_items_that_weigh_and_functions_of_ones_own():
    X, y, qid, weight = made(weighted="items")
    found = metrics.over_blocks(metrics.pair_accuracy, cut(X, y, qid, weight), First())
    assert np.isclose(found, metrics.pair_accuracy(y, X[:, 0], qid, weight), rtol=1e-12)
    best = lambda y, s: float(y[np.argmax(s)])
    found = metrics.over_blocks(best, cut(X, y, qid, None), First())
    assert np.isclose(found, metrics.by_query(best, y, X[:, 0], qid)[1].mean(), rtol=1e-12)


def test_without_queries():
    X, y, _, _ = made()
    blocks = rb.Blocks([rb.Block(X, y)])
    assert metrics.over_blocks("ndcg", blocks, First()) == metrics.ndcg(y, X[:, 0])


def test_what_is_refused():
    X, y, qid, _ = made()
    blocks = cut(X, 0 * y, qid, None)
    with pytest.raises(metrics.UndefinedMetric, match="blocks have no query with .*"):
        metrics.over_blocks("ndcg@10", blocks, First())
    assert metrics.over_blocks("ndcg@10", blocks, First(), empty=1) == 1.0
    with pytest.raises(ValueError, match="did you mean 'ndcg@10'"):
        metrics.over_blocks("ndgc@10", blocks, First())
    with pytest.raises(ValueError, match="empty is 2"):
        metrics.over_blocks("ndcg@10", blocks, First(), empty=2)


def test_a_model_of_a_data_frame_measures_blocks_without_a_warning(recwarn):
    pd = pytest.importorskip("pandas")
    X, y, qid, _ = made()
    model = rb.RankRLS(kernel="linear").fit(pd.DataFrame(X, columns=["a", "b"]), y, qid=qid)
    found = metrics.over_blocks("pair_accuracy", cut(X, y, qid, None), model)
    assert not recwarn.list
    scores = model.predict(pd.DataFrame(X, columns=["a", "b"]))
    assert np.isclose(found, metrics.pair_accuracy(y, scores, qid), rtol=1e-12)


@pytest.mark.parametrize("empty", ["skip", 1])
@pytest.mark.parametrize("name", ["disagreement", "pair_accuracy"])
def test_two_weights(name, empty):
    X, y, qid, a = made(3, "items")
    b = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    rows = np.split(np.arange(len(y)), np.searchsorted(qid, [3, 4, 20]))
    blocks = rb.Blocks(rb.Block(X[i], y[i], qid[i], a[i], worse_weight=b[i]) for i in rows)
    prefs = rb.Preferences.from_scores(y, qid).item_weighted(a, b)
    options = {} if name == "disagreement" else dict(empty=empty)
    found = metrics.over_blocks(name, blocks, First(), **options)
    whole = getattr(metrics, name)(prefs, X[:, 0], **options)
    assert np.isclose(found, whole, rtol=1e-12, atol=0)
    k, l = np.nonzero((y[:, None] > y) & (qid[:, None] == qid))
    if name == "disagreement":
        lost = np.where(X[k, 0] == X[l, 0], 0.5, X[k, 0] < X[l, 0])
        assert np.isclose(found, (a[k] * b[l]) @ lost / (a[k] @ b[l]), rtol=1e-12, atol=0)
    with pytest.raises(ValueError, match="two weights"):
        metrics.over_blocks("average_precision", blocks, First())
    ndcg = metrics.over_blocks("ndcg@5", blocks, First())  # which does not weigh items
    assert np.isclose(ndcg, metrics.ndcg(y, X[:, 0], qid, k=5), rtol=1e-12)
