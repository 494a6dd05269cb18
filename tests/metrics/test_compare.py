"""Intervals and paired tests against enumeration, simulation and what must not change them."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from rankbook import metrics
from rankbook.metrics import UndefinedMetric, compare, interval
from rankbook.metrics.compare import bootstrap_interval, holm, sign_flip_p, wilcoxon_p


@pytest.fixture(scope="module")
def two():
    """Grades, the scores of two, query ids, for 40 queries of 8 items in no order."""
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(40), 8))
    y = rng.integers(0, 4, 320)
    a, b = (y + s * rng.normal(size=320) for s in (1.0, 1.8))
    return y, a, b, qid


@pytest.mark.parametrize("q", range(1, 13))
def test_the_randomization_test_is_exact_for_few_queries(q):
    rng = np.random.default_rng(q)
    for d in (rng.normal(size=q) + 0.5, rng.integers(-2, 4, q) / 10):
        sums = [abs(np.dot(signs, d)) for signs in product((1, -1), repeat=q)]
        share = np.mean(np.array(sums) >= abs(d.sum()) - 1e-9)
        assert sign_flip_p(d, 9999, 0) == pytest.approx(share, abs=1e-12)
        assert sign_flip_p(-d, 9999, 5) == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize("q", [13, 14, 19, 26])
def test_the_randomization_test_is_exact_where_exchanges_are_too_many_to_list(q):
    """Against counts of all sums, query by query, in integers."""
    rng = np.random.default_rng(q)
    for d in (rng.integers(1, 9, q), rng.integers(-3, 7, q), np.ones(q, dtype=int)):
        counts = {0: 1}
        for each in d.tolist():
            more = {}
            for total, count in counts.items():
                for signed in (total + each, total - each):
                    more[signed] = more.get(signed, 0) + count
            counts = more
        extreme = sum(count for total, count in counts.items() if abs(total) >= abs(d.sum()))
        share = extreme / 2**q
        for few in (d / 7, -d * 1e-200, rng.permutation(d) / 3):
            assert sign_flip_p(few, 9999, 0) == pytest.approx(share, rel=1e-13)
    assert sign_flip_p(np.ones(14), 128, 0) == 2 / 2**14 < sign_flip_p(np.ones(14), 127, 0)


def test_the_whole_of_it_for_ten_queries(two):
    y, a, b, qid = two
    rows = qid < 10
    found = compare(y[rows], a[rows], b[rows], qid[rows], metric="ndcg@3")
    d = np.subtract(*(metrics.by_query("ndcg@3", y[rows], s[rows], qid[rows])[1] for s in (a, b)))
    sums = [abs(np.dot(signs, d)) for signs in product((1, -1), repeat=d.size)]
    share = np.mean(np.array(sums) >= abs(d.sum()) - 1e-9)
    assert found.p_randomization == pytest.approx(share, abs=1e-12)
    ranks = pd.Series(np.abs(d[d != 0])).rank().to_numpy()
    signed = [abs(np.dot(signs, ranks)) for signs in product((1, -1), repeat=ranks.size)]
    observed = abs(np.dot(np.sign(d[d != 0]), ranks))
    if np.unique(np.abs(d[d != 0])).size == ranks.size:  # without ties scipy's is exact
        assert found.p_wilcoxon == pytest.approx(np.mean(np.array(signed) >= observed - 1e-9))
    assert (found.wins, found.losses) == ((d > 0).sum(), (d < 0).sum())
    assert found.difference == pytest.approx(d.mean()) and found.n_queries == 10


def test_many_queries_by_lot_are_near_the_normal_limit():
    from scipy.stats import norm

    d = np.random.default_rng(0).normal(size=400) + 0.1
    limit = 2 * norm.sf(abs(d.sum()) / np.sqrt((d**2).sum()))
    assert sign_flip_p(d, 9999, 0) == pytest.approx(limit, abs=0.012)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_interval_covers_as_often_as_it_says(weighted):
    """Values skewed as those of metrics are; the mean of each query's weight is 1."""
    rng = np.random.default_rng(0)
    covered, trials = 0, 300
    for trial in range(trials):
        values = rng.beta(2.0, 0.7, 60)
        weight = rng.choice([0.5, 1.5], 60) if weighted else np.ones(60)
        low, high = bootstrap_interval(values, weight, 0.9, 599, trial)
        covered += low <= 2.0 / 2.7 <= high
    assert abs(covered / trials - 0.9) < 3.5 * np.sqrt(0.9 * 0.1 / trials)


def test_what_must_not_change_the_answer(two):
    y, a, b, qid = two
    found = compare(y, a, b, qid)
    shuffle = np.random.default_rng(1).permutation(y.size)
    assert compare(y[shuffle], a[shuffle], b[shuffle], qid[shuffle]) == found
    assert compare(y, np.exp(a), 3 * b - 5, qid) == found  # the order only
    assert compare(y, a, b, [f"q{q:02}" for q in qid]) == found
    assert compare(y, a, b, qid, metric=metrics.ndcg, k=10) == found
    assert compare(y, a, b, qid, y * 0 + 2.0) == found  # equal weights are none
    assert compare(y, a, b, qid, random_state=0) == found
    assert compare(y, a, b, qid, random_state=1) != found
    frame = pd.DataFrame(dict(y=y, a=a, b=b, qid=qid)).sort_values("a")
    assert compare(frame.y, frame.a, frame.b, frame.qid) == found
    assert compare(y.tolist(), list(a), list(b), qid.tolist()) == found


def test_turned_round(two):
    y, a, b, qid = two
    one, other = compare(y, a, b, qid), compare(y, b, a, qid)
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    assert one.difference == -other.difference and one.p_wilcoxon == other.p_wilcoxon
    assert one.low == pytest.approx(-other.high) and one.high == pytest.approx(-other.low)
    assert one.p_randomization == pytest.approx(other.p_randomization, abs=0.02)


def test_weights_of_queries(two):
    y, a, b, qid = two
    weight = np.where(qid < 20, 0.0, 1.0 + qid % 3)
    found = compare(y, a, b, qid, weight, metric="ndcg@5")
    means = [metrics.ndcg(y, s, qid, weight, k=5) for s in (a, b)]
    assert (found.mean_a, found.mean_b) == pytest.approx(means) and found.n_queries == 20
    assert np.isnan(found.p_wilcoxon) and "none with weights" in str(found)
    twice = np.r_[np.arange(y.size), np.flatnonzero(qid % 2 == 0)]
    copies = np.r_[qid, qid[qid % 2 == 0] + 100]  # a query of weight 2 is as good as two of it
    weighed = interval(y, a, qid, 1.0 + (qid % 2 == 0))
    assert weighed.value == pytest.approx(interval(y[twice], a[twice], copies).value)
    alone = interval(y, a, qid, np.where(qid == 7, 1.0, 1e-300))  # one query decides
    assert alone.value == metrics.ndcg(y[qid == 7], a[qid == 7], k=10)
    assert alone.low <= alone.value <= alone.high and alone.high - alone.low > 0.05


def test_weights_of_items_do_not_weigh_queries(two):
    y, a, b, qid = two
    weight = 1.0 + np.arange(320) % 4
    found = compare(y, a, b, qid, weight, metric="pair_accuracy")
    assert found.mean_a == pytest.approx(metrics.pair_accuracy(y, a, qid, weight))
    assert not np.isnan(found.p_wilcoxon)


def test_empty_queries():
    y, a, b = [1, 0, 0, 1, 0, 0], [2, 1, 1, 2, 2, 1], [1, 2, 1, 2, 1, 2]
    qid = [1, 1, 2, 2, 3, 3]
    found = compare(y, a, b, qid, metric="ndcg")
    assert found.n_queries == 2 and (found.wins, found.ties) == (1, 1)
    filled = compare(y, a, b, qid, metric="ndcg", empty=0)
    assert filled.n_queries == 3 and filled.ties == 2
    assert filled.mean_a == pytest.approx(2 / 3)
    with pytest.raises(UndefinedMetric, match="no query with a grade above 0"):
        compare([0] * 6, a, b, qid)


def test_rounding_is_a_tie(two):
    y, a, b, qid = two
    metric = lambda y, s: float(s.sum())
    found = compare(y, a, a * (1 + 1e-15), qid, metric=metric)
    assert found.ties == 40 and found.p_randomization == 1


def test_a_function_of_ones_own(two):
    y, a, b, qid = two

    def best_on_top(y_true, y_score):
        return float(y_true[y_score.argmax()] == y_true.max())

    found = compare(y, a, b, qid, metric=best_on_top)
    assert found.metric == "best_on_top" and "best_on_top" in found._repr_html_()
    assert found.mean_a == metrics.by_query(best_on_top, y, a, qid)[1].mean()


def endless(y_true, y_score):
    return np.inf


def test_what_a_function_must_not_return(two):
    y, a, b, qid = two
    with pytest.raises(ValueError, match="^metric is endless, infinite for some query. Pass"):
        compare(y, a, b, qid, metric=endless)
    with pytest.raises(UndefinedMetric, match="a weight above 0. Pass at least one"):
        compare(y, a, b, qid, 0 * y)


def test_the_tables(two):
    y, a, b, qid = two
    found = compare(y, a, b, qid, metric="recall", k=3, empty=0, confidence=0.995)
    lines = str(found).splitlines()
    assert lines[0].split() == ["recall@3", "40", "queries"] and "99.5% interval" in str(found)
    assert f"{found.wins}, {found.ties}, {found.losses}" in found._repr_html_()
    assert "ndcg@10 (gain='linear')" in str(interval(y, a, qid, gain="linear", k=10, metric="ndcg"))


@pytest.mark.parametrize("seed", range(6))
def test_differences_that_rounding_alone_tells_apart_share_a_rank(seed):
    rng = np.random.default_rng(seed)
    thirds = np.r_[1, 3000 * rng.integers(1, 4, 9)] * rng.choice([-1, 1], 10)
    size = np.abs(thirds)
    rank = np.array([(size < s).sum() + ((size == s).sum() + 1) / 2 for s in size])
    sums = [signs @ rank for signs in map(np.array, product((0, 1), repeat=10))]
    observed = rank[thirds > 0].sum()
    share = 2 * min(np.mean(sums <= observed), np.mean(sums >= observed))
    noisy = thirds / 3 * (1 + 1e-15 * rng.normal(size=10))
    for scale in (1.0, 1e-9, 1e9):
        assert wilcoxon_p(scale * noisy, np.ones(10)) == pytest.approx(min(1.0, share))


@pytest.mark.parametrize("value", ["x", np.ones(2), [0.5]])
def test_a_function_that_returns_no_number(value):
    with pytest.raises(TypeError, match="^metric returned .*. Return a number for each query"):
        interval([1, 0, 1, 0], [1, 0, 1, 0], [1, 1, 2, 2], metric=lambda y, s: value)


def test_several_are_compared_with_one_and_corrected_by_holm(two):
    y, a, b, qid = two
    rng = np.random.default_rng(1)
    others = {"b": b, 3: y + 0.8 * rng.normal(size=320), "same": a, "worst": -a}
    found = compare(y, a, others, qid)
    alone = {name: compare(y, a, s, qid) for name, s in others.items()}
    assert list(found) == list(others)
    for kind in ("p_randomization", "p_wilcoxon"):
        plain = {name: getattr(one, kind) for name, one in alone.items()}
        for name, one in found.items():  # the definition, one value at a time
            below = [p for p in plain.values() if p <= plain[name]]
            steps = [min(1, sum(q >= p for q in plain.values()) * p) for p in below]
            assert getattr(one, kind) == pytest.approx(max(steps), abs=1e-15)
    assert found["worst"].p_wilcoxon < 0.05 < found["same"].p_wilcoxon == 1
    for name, one in found.items():
        assert one.n_compared == 4 and "p, Wilcoxon (Holm, 4)" in str(one)
        for fact in ("difference", "low", "high", "wins", "mean_a", "mean_b"):
            assert getattr(one, fact) == getattr(alone[name], fact)
    single = compare(y, a, {"b": b}, qid)["b"]
    assert single == alone["b"] and single.n_compared == 1


@pytest.mark.peer("statsmodels")
def test_holm_against_statsmodels():
    from statsmodels.stats import multitest

    rng = np.random.default_rng(0)
    for m in (1, 2, 5, 40):
        p = np.round(rng.random(m) ** 3, 2)  # with ties
        assert np.allclose(holm(p), multitest.multipletests(p, method="holm")[1], atol=1e-15)


def test_holm_keeps_what_there_is_no_p_value_of(two):
    y, a, b, qid = two
    found = compare(y, a, {"b": b, "c": -a}, qid, 1.0 + qid)
    assert all(np.isnan(one.p_wilcoxon) for one in found.values())
    assert np.isfinite([one.p_randomization for one in found.values()]).all()


@pytest.mark.parametrize(
    "b, said",
    [
        ({}, "b is an empty dict"),
        ({"x": [1.0]}, r"b\['x'\] has shape"),
        ({"x": None}, r"b\['x'\] is None"),
    ],
)
def test_dicts_that_hold_no_rankings(two, b, said):
    y, a, _, qid = two
    with pytest.raises((ValueError, TypeError), match=said):
        compare(y, a, b, qid)
