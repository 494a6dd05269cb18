"""Metrics of places against brute force over the orders of ties, and against other programs.

The definitions are written out here item by item.
"""

import shutil
from itertools import permutations

import numpy as np
import pytest

from rankbook import metrics
from rankbook.data import datasets

RNG = np.random.default_rng(0)


def plain_rr(y, k):
    return next((1 / (r + 1) for r, grade in enumerate(y[:k]) if grade > 0), 0.0)


def plain_err(y, k, top=4):
    value, reading = 0.0, 1.0
    for r, grade in enumerate(y[:k]):
        stop = (2.0**grade - 1) / 2**top
        value, reading = value + reading * stop / (r + 1), reading * (1 - stop)
    return value


def plain_precision(y, k):
    return sum(grade > 0 for grade in y[:k]) / k


def plain_recall(y, k):
    return sum(grade > 0 for grade in y[:k]) / sum(grade > 0 for grade in y)


def plain_hit(y, k):
    return float(any(grade > 0 for grade in y[:k]))


def plain_rbp(y, k, p=0.8):
    return (1 - p) * sum(p**r for r, grade in enumerate(y[:k]) if grade > 0)


def plain_rbo(one, other, k, p):
    """The extrapolated overlap of two lists without ties, as it is published."""
    overlap = [len({*one[:d]} & {*other[:d]}) / d for d in range(1, k + 1)]
    head = sum(share * p ** (d + 1) for d, share in enumerate(overlap))
    return overlap[-1] * p**k + (1 - p) / p * head


def plain_ndcg(y, k, gain):
    dcg = lambda grades: sum(gain(g) / np.log2(r + 2) for r, g in enumerate(grades[:k]))
    return dcg(y) / dcg(sorted(y, reverse=True))


PLAIN = {
    "reciprocal_rank": (plain_rr, {}),
    "err": (plain_err, dict(max_grade=4)),
    "precision": (plain_precision, {}),
    "recall": (plain_recall, {}),
    "hit": (plain_hit, {}),
    "rank_biased_precision": (plain_rbp, {}),
    "ndcg": (lambda y, k: plain_ndcg(y, k, lambda g: 2.0**g - 1), {}),
    "linear ndcg": (lambda y, k: plain_ndcg(y, k, float), dict(gain="linear")),
}


def at(name, y, s, k, qid=None, **options):
    """The metric of this package at k."""
    return metrics.by_query(f"{name.split()[-1]}@{k}", y, s, qid, **options)[1]


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("levels", [1, 2, 3, 1000])
def test_the_expected_value_over_all_orders_of_ties(name, levels):
    plain, options = PLAIN[name]
    for trial in range(12):
        n = int(RNG.integers(1, 7))
        y = RNG.integers(0, 5, n).astype(float)
        y[RNG.integers(n)] = RNG.integers(1, 5)
        s = RNG.integers(0, levels, n)
        for k in (1, 2, 3, n, n + 4):
            orders = {
                tuple(int(i) for i in sorted(p, key=lambda i: -s[i]))
                for p in permutations(range(n))
            }  # sorted keeps the order of ties that the permutation has
            mean = np.mean([plain(y[list(order)], k) for order in orders])
            assert at(name, y, s, k, **options)[0] == pytest.approx(mean, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("name", PLAIN)
def test_queries_in_any_order_are_what_they_are_alone(name):
    plain, options = PLAIN[name]
    n = 400
    y, s, qid = RNG.integers(0, 5, n), RNG.permutation(n), RNG.integers(0, 60, n)
    ids, values = metrics.by_query(f"{name.split()[-1]}@5", y, s, qid, **options)
    for q, value in zip(ids, values):
        there = np.flatnonzero(qid == q)
        grades = y[there[np.argsort(-s[there])]].astype(float)
        if (grades > 0).any():
            assert value == pytest.approx(plain(grades, 5), rel=1e-13)
        else:
            assert np.isnan(value)


def test_a_long_chain_of_ties_against_lots():
    y = np.r_[np.zeros(90), 1, 1, 1, 2, 2, 3.0]
    scores = RNG.random((4000, y.size))
    for name in ("reciprocal_rank@20", "err@20"):
        found = [metrics.by_query(name, y, s)[1][0] for s in scores]
        value = metrics.by_query(name, y, np.ones(y.size))[1][0]
        assert abs(np.mean(found) - value) < 4 * np.std(found) / np.sqrt(len(found))


def test_chains_of_all_lengths_at_once():
    """Chains are grouped by their length; alone each gives the same."""
    sizes = [1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 64, 65]
    qid = np.repeat(np.arange(len(sizes)), sizes)
    y = RNG.integers(0, 3, qid.size)
    for name in ("reciprocal_rank", "err"):
        options = dict(max_grade=2) if name == "err" else {}
        values = metrics.by_query(name, y, np.zeros(qid.size), qid, empty=0, **options)[1]
        for q, value in enumerate(values):
            rows = qid == q
            alone = metrics.by_query(name, y[rows], np.zeros(rows.sum()), empty=0, **options)[1][0]
            assert value == pytest.approx(alone, rel=1e-14)


NAMES = ["reciprocal_rank", "err", "precision@3", "recall@3", "ndcg", "ndcg@3", "kendall_tau"]


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_of_queries(name):
    metric, options = metrics.queries.find_metric(name)
    y, s, qid = RNG.integers(0, 3, 90), RNG.integers(0, 9, 90), RNG.permutation(np.arange(90) % 9)
    weight = np.array([0, 1, 2, 3, 0, 1, 2, 5, 7.0])
    values = metrics.by_query(name, y, s, qid)[1]
    mean = metric(y, s, qid, weight[qid], **options)
    assert mean == pytest.approx(np.average(values, weights=weight), rel=1e-14)
    with pytest.raises(ValueError, match="two items of one query. Pass one weight for all"):
        metric(y, s, qid, np.arange(90.0), **options)
    with pytest.raises(metrics.UndefinedMetric, match="and a weight above 0"):
        metric(y, s, qid, np.zeros(90), **options)


@pytest.mark.parametrize("name", NAMES + ["auc", "pair_accuracy", "average_precision"])
def test_empty_queries_count_what_is_said(name):
    metric, options = metrics.queries.find_metric(name)
    y, s, qid = [0, 0, 0, 1, 0, 0], [1, 2, 3, 9, 4, 4], [1, 1, 2, 2, 2, 3]
    one = metric(y[2:5], s[2:5], **options)
    assert metric(y, s, qid, **options) == metric(y, s, qid, **options, empty="skip") == one
    assert metric(y, s, qid, **options, empty=0) == pytest.approx(one / 3)
    assert metric(y, s, qid, **options, empty=1) == pytest.approx((one + 2) / 3)
    assert metric(y[:2], s[:2], **options, empty=1) == 1
    with pytest.raises(metrics.UndefinedMetric, match="Pass at least one"):
        metric(y[:2], s[:2], **options)
    for nothing in ({}, dict(empty=1)):  # no query has no mean
        with pytest.raises(metrics.UndefinedMetric, match="Pass at least one"):
            metric([], [], **options, **nothing)


def test_a_query_whose_items_weigh_nothing_is_left_out_in_any_case():
    y, s, qid, weight = (
        [1, 0, 1, 0, 0, 0],
        [1, 2, 2, 1, 1, 2],
        [1, 1, 2, 2, 3, 3],
        [0, 0, 1, 1, 1, 1],
    )
    for name in ("auc", "pair_accuracy", "average_precision"):
        metric = getattr(metrics, name)
        assert metric(y, s, qid, weight) == 1 and metric(y, s, qid, weight, empty=0) == 1 / 2
        values = metrics.by_query(name, y, s, qid, weight, empty=0)[1]
        assert np.isnan(values[0]) and values[1:].tolist() == [1, 0]


def test_linear_gain_of_any_size():
    for scale in (5e-324, 1e-300, 1.0, 1e307):
        y = np.array([3.0, 0, 1]) * scale
        value = metrics.ndcg(y, [2, 3, 1], gain="linear")
        assert value == pytest.approx(metrics.ndcg([3, 0, 1], [2, 3, 1], gain="linear"), rel=1e-13)
    mixed = metrics.by_query(
        "ndcg", [1e-300, 0, 1e300, 0], [2, 1, 2, 1], [1, 1, 2, 2], gain="linear"
    )
    assert mixed[1].tolist() == [1, 1]


def test_arrays_of_any_kind():
    import pandas as pd

    y, s, qid = [2, 0, 1, 0, 1], [0.5, 0.25, 0.75, 0.25, 0.0], list("aabbb")
    frame = pd.DataFrame(dict(y=y, s=s, qid=qid), index=[9, 8, 7, 6, 5])
    for name in (*NAMES, "pair_accuracy"):
        expected = metrics.by_query(name, y, s, qid)[1]
        for form in (np.float32, np.float16, ">f8"):
            single = metrics.by_query(name, np.array(y, form), np.array(s, form), np.array(qid))[1]
            assert np.array_equal(single, expected)
        assert np.array_equal(metrics.by_query(name, frame.y, frame.s, frame.qid)[1], expected)


# Other programs, on real grades


@pytest.fixture(scope="module")
def letor(data_dir):
    """Grades, scores without ties, and query ids of MQ2008: all 784 queries."""
    data = datasets.load_mq2008()
    score = data.X @ np.random.default_rng(1).normal(size=data.X.shape[1])
    rank = np.empty(len(score))
    rank[np.argsort(score, kind="stable")] = np.arange(len(score))
    return data.y, rank, data.qid


def theirs(measure, letor):
    """What ir_measures says of each query, in the order of sorted ids."""
    import ir_measures

    y, s, qid = letor
    words = [str(q) for q in qid]
    qrels = [ir_measures.Qrel(q, str(i), int(g)) for i, (q, g) in enumerate(zip(words, y))]
    run = [ir_measures.ScoredDoc(q, str(i), float(v)) for i, (q, v) in enumerate(zip(words, s))]
    found = {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, run)}
    return np.array([found[str(q)] for q in np.unique(qid)])


def measures():
    """Names of ours, with options, and of theirs."""
    for k in (1, 5, 10):
        yield f"precision@{k}", {}, f"P@{k}"
        yield f"recall@{k}", {}, f"R@{k}"
        yield f"hit@{k}", {}, f"Success@{k}"
        yield f"ndcg@{k}", dict(gain="linear"), f"nDCG@{k}"
        yield f"ndcg@{k}", {}, f"nDCG(gains={{0:0,1:1,2:3}})@{k}"
    yield "reciprocal_rank", {}, "RR"
    yield "average_precision", {}, "AP"
    yield "rbp", {}, "RBP(p=0.8,rel=1)"
    yield "rbp", dict(p=0.95), "RBP(p=0.95,rel=1)"
    yield "ndcg", dict(gain="linear"), "nDCG"


@pytest.mark.peer("ir_measures", "cwl")
@pytest.mark.parametrize("name, options, measure", list(measures()))
def test_against_ir_measures(letor, name, options, measure):
    import ir_measures

    other = theirs(ir_measures.parse_measure(measure), letor)
    _, values = metrics.by_query(name, *letor, **options)
    empty = np.isnan(values)
    assert 0 < empty.sum() < values.size / 2 and not other[empty].any()  # they count 0
    assert np.allclose(values[~empty], other[~empty], rtol=0, atol=1e-10)
    metric, k = metrics.queries.find_metric(name, options)
    assert metric(*letor, **k, empty=0) == pytest.approx(other.mean(), abs=1e-10)


@pytest.mark.peer("ir_measures")
@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is written in Perl")
@pytest.mark.parametrize("k", [5, 20])
def test_err_against_gdeval(letor, k):
    """Its highest grade is 4, and it prints five digits."""
    import ir_measures

    other = theirs(ir_measures.ERR @ k, letor)
    values = metrics.by_query(f"err@{k}", *letor, max_grade=4, empty=0)[1]
    assert np.allclose(values, other, rtol=0, atol=5.1e-6)


def test_against_scikit_learn_and_scipy(letor):
    from scipy.stats import kendalltau
    from sklearn import metrics as sk

    y, s, qid = letor
    s = np.floor(s / 500)  # with ties
    number = np.unique(qid, return_inverse=True)[1]
    found = {name: metrics.by_query(name, y, s, qid)[1] for name in ("ndcg@10", "kendall_tau")}
    found["linear"] = metrics.by_query("ndcg", y, s, qid, gain="linear")[1]
    found["ap"] = metrics.by_query("average_precision", y, s, qid)[1]
    found["auc"] = metrics.by_query("auc", y > 0, s, qid)[1]
    for q in range(number.max() + 1):
        grades, scores = y[number == q], s[number == q]
        other = {"kendall_tau": kendalltau(grades, scores).statistic}
        if grades.any() and grades.size > 1:
            other["ndcg@10"] = sk.ndcg_score([2**grades - 1], [scores], k=10)
            other["linear"] = sk.ndcg_score([grades], [scores])
            other["ap"] = sk.average_precision_score(grades > 0, scores)
        if 0 < (grades > 0).sum() < grades.size:
            other["auc"] = sk.roc_auc_score(grades > 0, scores)
        if (grades != grades[0]).any() and (scores == scores[0]).all():
            other["kendall_tau"] = 0.0  # where scipy says NaN
        for name, value in other.items():
            assert found[name][q] == pytest.approx(value, abs=1e-10, nan_ok=True), (name, q)


def test_tau_of_real_numbers():
    from scipy.stats import kendalltau

    y, s = RNG.normal(size=(2, 2000))
    s += y
    assert metrics.kendall_tau(y, s) == pytest.approx(kendalltau(y, s).statistic, rel=1e-12)
    assert metrics.kendall_tau(y, y) == 1 == -metrics.kendall_tau(y, -y)


@pytest.mark.parametrize("p", [0.1, 0.9, 0.999])
def test_overlap_without_ties_is_the_published_formula(p):
    for n in (2, 3, 10, 500):
        y, s = RNG.permutation(n), RNG.permutation(n)
        one, other = np.argsort(-y), np.argsort(-s)
        for k in (1, 2, n - 1, n, 2 * n):
            value = metrics.rank_biased_overlap(y, s, k=k, p=p)
            assert value == pytest.approx(plain_rbo(one, other, min(k, n), p), abs=1e-12)
            assert value == pytest.approx(metrics.rank_biased_overlap(s, y, k=k, p=p), abs=1e-14)
        assert metrics.rank_biased_overlap(y, y, p=p) == pytest.approx(1, abs=1e-12)
    assert metrics.rank_biased_overlap(y, y, p=1e-320) == 1.0  # 1 / p is infinite


def test_overlap_of_a_long_list_needs_its_head_only():
    y, s = RNG.permutation(100_000), RNG.permutation(100_000)
    y[:50] += 10**6
    s[:50] += 10**6
    value = plain_rbo(np.argsort(-y)[:2000], np.argsort(-s)[:2000], 2000, 0.9)
    assert metrics.rank_biased_overlap(y, s) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("levels", [2, 3, 5])
def test_overlap_is_the_expected_value_over_the_orders_of_ties(levels):
    orders = list(permutations(range(5)))
    for _ in range(5):
        y, s = np.r_[0, 1, RNG.integers(0, levels, 3)], RNG.integers(0, levels, 5)
        ones, others = ([np.lexsort((o, -v)) for o in orders] for v in (y, s))
        for k in (1, 3, 5):
            mean = np.mean([plain_rbo(a, b, k, 0.8) for a in ones for b in others])
            assert metrics.rank_biased_overlap(y, s, k=k, p=0.8) == pytest.approx(mean, abs=1e-12)


def test_overlap_of_many_ties_is_that_of_each_query_and_a_simulation():
    y, s = RNG.integers(0, 4, 3000), RNG.integers(0, 1500, 3000)
    qid = RNG.integers(0, 3, 3000)
    ids, values = metrics.by_query("rbo", y, s, qid, p=0.99)
    for q, value in zip(ids, values):
        mine, theirs = y[qid == q], s[qid == q]
        assert value == metrics.rank_biased_overlap(mine, theirs, p=0.99)
        draws = []
        for _ in range(100):
            lists = (np.lexsort((RNG.random(mine.size), -v)) for v in (mine, theirs))
            draws.append(plain_rbo(*lists, 600, 0.99))
        assert abs(np.mean(draws) - value) < 4 * np.std(draws) / 10 + 0.99**600
