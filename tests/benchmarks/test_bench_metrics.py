"""How fast are the metrics? Run by `pytest tests/benchmarks -s`; left out of a plain `pytest`.

A thousand queries of a hundred items are measured in a tenth of a second, by processor time.
"""

from functools import partial

import numpy as np
import pytest
from cpu_time import cpu

from rankbook import metrics

pytestmark = pytest.mark.usefixtures("one_thread")

best = partial(cpu, rounds=5, of=min)
RNG = np.random.default_rng(0)
N = 100_000
Y, S, QID = RNG.integers(0, 5, N), RNG.normal(size=N), np.repeat(np.arange(1000), 100)
NAMES = (
    "ndcg ndcg@10 average_precision reciprocal_rank err err@10 precision@10 recall@10 "
    "pair_accuracy kendall_tau disagreement"
).split()


@pytest.mark.parametrize("name", [*NAMES, "auc"])
def test_a_thousand_queries_of_a_hundred_items(name):
    metric, options = metrics.queries.find_metric(name)
    y = Y > 1 if name == "auc" else Y
    seconds, value = best(lambda: metric(y, S, QID, **options))
    print(f"\n{name}: {seconds * 1e3:.0f} ms, {value:.4f}")
    assert seconds < 0.1


@pytest.mark.parametrize("name", ["ndcg@10", "err", "reciprocal_rank", "pair_accuracy"])
@pytest.mark.parametrize("levels", [1, 10])
def test_ties_do_not_cost_much(name, levels):
    metric, options = metrics.queries.find_metric(name)
    seconds, value = best(lambda: metric(Y, np.floor(S * levels / 8), QID, **options))
    print(f"\n{name}, scores at about {levels} levels: {seconds * 1e3:.0f} ms, {value:.4f}")
    assert seconds < 0.5


def test_one_query_of_a_hundred_thousand():
    for name in NAMES:
        metric, options = metrics.queries.find_metric(name)
        seconds, _ = best(lambda: metric(Y, S, **options))
        print(f"\n{name}: {seconds * 1e3:.0f} ms")
        assert seconds < 0.25


def test_a_comparison_of_a_thousand_queries():
    other = S + RNG.normal(size=N)
    seconds, found = cpu(lambda: metrics.compare(Y, S, other, QID), rounds=3, of=min)
    print(f"\ncompare, 9999 resamples: {seconds:.2f} s\n{found}")
    assert seconds < 2
