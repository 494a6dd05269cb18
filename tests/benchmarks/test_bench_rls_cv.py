"""What does exact cross-validation of RankRLS cost? Run by `pytest tests/benchmarks -s`.

It is left out of a plain `pytest`. Times are by the clock, the best of a few goes.
"""

import time
import tracemalloc

import numpy as np

import rankbook as rb
from rankbook.selection.leave_out import leave_out_predictions, leave_pair_out

LAMS = np.logspace(-3, 4, 30)


def best(function, times=2):
    """Least seconds of a few calls, and the last result."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def items(n, size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    return X, np.round(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n), 1), np.arange(n) // size


def fitted(X, y, qid=None):
    """Seconds of the kernel and the decomposition, and the path."""
    return best(lambda: rb.solve_path(rb.RankRLSProblem(X, y, qid), solver="rls"))


def test_leaving_out_every_query_costs_less_than_the_fit():
    X, y, qid = items(2000, 20)
    fit, path = fitted(X, y, qid)
    groups = np.arange(2000).reshape(-1, 20)
    scores, _ = best(lambda: leave_out_predictions(path, groups, LAMS))
    whole, model = best(lambda: rb.RankRLSCV(LAMS, cv="query").fit(X, y, qid=qid))
    print(
        f"\nn = 2000, 100 queries, 30 lambdas: fit {fit:.2f} s; all scores left out {scores:.2f} "
        f"s, {scores / fit:.2f} fits; RankRLSCV with measure and fit {whole:.2f} s, "
        f"{whole / fit:.2f} fits"
    )
    assert model.certificate_.is_optimal(1e-9)
    assert scores < fit and whole < 2 * fit


def test_ten_folds_cost_less_than_two_fits():
    X, y, qid = items(2000, 20)
    fit, path = fitted(X, y, qid)
    seconds, _ = best(lambda: leave_out_predictions(path, np.arange(2000).reshape(10, -1), LAMS))
    print(
        f"\nn = 2000, 10 folds by query, 30 lambdas: {seconds:.2f} s, {seconds / fit:.2f} fits; "
        "trained again it is 10 fits of 1800"
    )
    assert seconds < 2 * fit


def test_single_items_and_all_pairs():
    X, y, _ = items(2000, 20)
    fit, path = fitted(X, y)
    single, _ = best(lambda: leave_out_predictions(path, np.arange(2000)[:, None], LAMS))
    pairs, shares = best(lambda: leave_pair_out(path, LAMS[:3]))
    print(
        f"\nn = 2000: fit {fit:.2f} s; every item left out {single:.2f} s for 30 lambdas, "
        f"{single / fit:.2f} fits; all 1,999,000 pairs {pairs / 3:.2f} s a lambda, "
        f"{pairs / 3 / fit:.2f} fits"
    )
    assert (shares < 0.5).all()
    assert single < fit / 2 and pairs / 3 < 2


def test_many_pairs_take_little_memory():
    X, y, _ = items(3000, 20)
    path = rb.solve_path(rb.RankRLSProblem(X, y), solver="rls")
    tracemalloc.start()
    leave_pair_out(path, LAMS[:1])
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    print(
        f"\nn = 3000, all pairs: at most {peak:.0f} MiB beside the decomposition of "
        f"{path.spectrum.left.nbytes / 2**20:.0f} MiB"
    )
    assert peak < 300


def test_two_hundred_queries_of_twenty():
    """In turn, so that another program on the machine slows both down."""
    X, y, qid = items(4000, 20)
    whole, fits = [], []
    for _ in range(2):
        seconds, _ = best(lambda: rb.solve_path(rb.RankRLSProblem(X, y, qid), solver="rls"), 1)
        fits.append(seconds)
        seconds, model = best(lambda: rb.RankRLSCV(LAMS[:20], cv="query").fit(X, y, qid=qid), 1)
        whole.append(seconds)
    fit, seconds = min(fits), min(whole)
    print(
        f"\nn = 4000, 200 queries, 20 lambdas: kernel, fit and every query left out {seconds:.1f} "
        f"s, {seconds / fit:.2f} times kernel and fit alone ({fit:.1f} s)"
    )
    assert model.certificate_.is_optimal(1e-9)
    assert seconds < 1.3 * fit
    assert seconds < 12
