"""bpref and infAP against their definitions, over all orders of ties, and against trec_eval."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from rankbook import metrics

RNG = np.random.default_rng(0)


def plain_bpref(grades):
    """bpref of grades in their order, as trec_eval computes it; negative ones are unjudged."""
    relevant, rest = (grades > 0).sum(), (grades == 0).sum()
    above, total = 0, 0.0
    for grade in grades:
        if grade > 0:
            total += 1 - min(above, relevant) / min(relevant, rest) if above else 1
        above += grade == 0
    return total / relevant


def plain_infap(grades):
    """infAP of grades in their order, as trec_eval computes it; -2 is outside the pool."""
    found, rest, waiting, total = 0, 0, 0, 0.0
    for j, grade in enumerate(grades):
        if grade > 0:
            found += 1
            if j == 0:
                total += 1
            else:
                pool = (found - 1 + rest + waiting) / j
                share = (found - 1 + 1e-5) / (found - 1 + rest + 2e-5)
                total += 1 / (j + 1) + j / (j + 1) * pool * share
        rest += grade == 0
        waiting += grade == -1
    return total / found


def mean_over_orders(plain, y, s):
    """The mean of a metric of a list of grades over all orders of tied items."""
    orders = {tuple(sorted(p, key=lambda i: -s[i])) for p in permutations(range(len(y)))}
    return np.mean([plain(y[list(order)]) for order in orders])


@pytest.mark.parametrize("levels", [1, 2, 3, 1000])
def test_the_expected_value_over_all_orders_of_ties(levels):
    for _ in range(30):
        n = int(RNG.integers(1, 7))
        y, s = RNG.integers(-2, 3, n).astype(float), RNG.integers(0, levels, n)
        y[RNG.integers(n)] = 1
        mean, judged = mean_over_orders(plain_bpref, y, s), y >= 0
        assert metrics.bpref(y, s) == pytest.approx(mean, rel=1e-13)
        assert metrics.bpref(y[judged], s[judged]) == pytest.approx(mean, rel=1e-13)
        mean = mean_over_orders(plain_infap, y, s)
        unpooled = -2 if (y == -2).any() else None
        assert metrics.infap(y, s, unpooled=unpooled) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("judged", [0.02, 0.5, 0.98])
def test_infap_of_large_ties_is_the_mean_over_random_orders(judged):
    n = 800
    y = np.where(RNG.random(n) < judged, RNG.integers(0, 2, n), RNG.integers(-2, 0, n))
    y[0], s = 1, RNG.integers(0, 3, n)
    orders = (np.lexsort((RNG.random(n), -s)) for _ in range(200))
    found = [plain_infap(y[order]) for order in orders]
    value = metrics.infap(y, s, unpooled=-2)
    assert abs(value - np.mean(found)) < 4 * np.std(found) / 200**0.5


def test_infap_reports_a_mark_that_does_not_occur():
    y, s = [1, -1, 0, 1, -0.5], [5, 4, 3, 2, 1]
    with pytest.warns(UserWarning, match="unpooled is -2, .* negative values include -1, -0.5"):
        found = metrics.infap(y, s, unpooled=-2)
    assert found == metrics.infap(y, s)
    with pytest.warns(UserWarning, match="has no negative values"):
        metrics.by_query("infap", [1, 0, 1], [3, 2, 1], [0, 0, 1], unpooled=-2)


@pytest.mark.parametrize("unpooled", [0, 1.0, np.nan, "-2", [-2]])
def test_infap_refuses_marks_that_are_judgments(unpooled):
    with pytest.raises(ValueError, match=r"^unpooled is .* Pass a negative number"):
        metrics.infap([1, -2], [2, 1], unpooled=unpooled)


def test_infap_outside_the_pool_by_name_in_evaluations():
    y, s, qid = [1, -2, -1, 0, 1, -2], [3, 4, 5, 3, 2, 1], [1, 1, 1, 2, 2, 2]
    _, values = metrics.by_query("infap", y, s, qid, unpooled=-2)
    assert values == pytest.approx([plain_infap([-1, -2, 1]), plain_infap([0, 1, -2])])
    mean = metrics.interval(y, s, qid, metric="infap", unpooled=-2).value
    assert mean == pytest.approx(values.mean(), rel=1e-13)


@pytest.mark.parametrize(("name", "plain"), [("bpref", plain_bpref), ("infap", plain_infap)])
def test_queries_in_any_order_are_what_they_are_alone(name, plain):
    n = 600
    y, s, qid = RNG.integers(-1, 3, n), RNG.permutation(n), RNG.integers(0, 60, n)
    for q, value in zip(*metrics.by_query(name, y, s, qid)):
        rows = np.flatnonzero(qid == q)
        grades = y[rows[np.argsort(-s[rows])]]
        if (grades > 0).any():
            assert value == pytest.approx(plain(grades), rel=1e-12)
        else:
            assert np.isnan(value)


@pytest.mark.peer("ir_measures")
def test_against_trec_eval():
    import ir_measures

    n = 3000
    y, s, qid = RNG.integers(-1, 3, n), RNG.permutation(n) * 1.0, RNG.integers(0, 100, n)
    frame = pd.DataFrame(dict(query_id=qid.astype(str), doc_id=np.arange(n).astype(str)))
    run, known = frame.assign(score=s), frame.assign(relevance=y)[y >= 0]
    names = ["Bpref", "nDCG@10", "AP"]
    theirs = {
        (str(each.measure), each.query_id): each.value
        for name in names
        for each in ir_measures.iter_calc([ir_measures.parse_measure(name)], known, run)
    }
    ids, values = metrics.by_query("bpref", y, s, qid)
    assert np.allclose(values, [theirs["Bpref", str(q)] for q in ids], rtol=0, atol=1e-12)
    # with unjudged documents left out of the run, all metrics are those of condensed lists
    short = run[y >= 0]
    found = {
        (str(each.measure), each.query_id): each.value
        for name in names[1:3]
        for each in ir_measures.iter_calc([ir_measures.parse_measure(name)], known, short)
    }
    for name, mine, options in (
        ("nDCG@10", "ndcg@10", dict(gain="linear")),
        ("AP", "average_precision", {}),
    ):
        ids, values = metrics.by_query(mine, y[y >= 0], s[y >= 0], qid[y >= 0], **options)
        assert np.allclose(values, [found[name, str(q)] for q in ids], rtol=0, atol=1e-10)


@pytest.mark.peer("ir_measures")
def test_infap_against_trec_eval():
    import ir_measures

    n = 3000
    y, s, qid = RNG.integers(-2, 3, n), RNG.permutation(n) * 1.0, RNG.integers(0, 100, n)
    frame = pd.DataFrame(dict(query_id=qid.astype(str), doc_id=np.arange(n).astype(str)))
    run, lines = frame.assign(score=s), frame.assign(relevance=y)
    for known, unpooled in ((lines, None), (lines[y > -2], -2)):  # a line for each pooled document
        theirs = {
            each.query_id: each.value
            for each in ir_measures.iter_calc([ir_measures.infAP], known, run)
        }
        ids, values = metrics.by_query("infap", y, s, qid, empty=0, unpooled=unpooled)
        assert np.allclose(values, [theirs[str(q)] for q in ids], rtol=0, atol=1e-12)
