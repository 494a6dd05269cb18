"""bpref against its definition, over all orders of ties, and against trec_eval."""

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


@pytest.mark.parametrize("levels", [1, 2, 3, 1000])
def test_the_expected_value_over_all_orders_of_ties(levels):
    for _ in range(30):
        n = int(RNG.integers(1, 7))
        y = RNG.integers(-1, 3, n).astype(float)
        y[RNG.integers(n)] = 1
        s = RNG.integers(0, levels, n)
        orders = {tuple(sorted(p, key=lambda i: -s[i])) for p in permutations(range(n))}
        mean = np.mean([plain_bpref(y[list(order)]) for order in orders])
        assert metrics.bpref(y, s) == pytest.approx(mean, rel=1e-13)
        judged = y >= 0
        assert metrics.bpref(y[judged], s[judged]) == pytest.approx(mean, rel=1e-13)


def test_queries_in_any_order_are_what_they_are_alone():
    n = 600
    y, s, qid = RNG.integers(-1, 3, n), RNG.permutation(n), RNG.integers(0, 60, n)
    for q, value in zip(*metrics.by_query("bpref", y, s, qid)):
        rows = np.flatnonzero(qid == q)
        grades = y[rows[np.argsort(-s[rows])]]
        if (grades > 0).any():
            assert value == pytest.approx(plain_bpref(grades), rel=1e-13)
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
