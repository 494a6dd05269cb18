"""What does exact cross-validation of RankRLS cost? Run by `pytest tests/benchmarks -s`; left out of a plain `pytest`. By the clock, the best of a few goes."""
import time

import numpy as np

import rankbook as rb
from rankbook.rls_pairs import leave_pair_out
from rankbook.rls_validation import held_out_scores

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
    scores, _ = best(lambda: held_out_scores(path, groups, LAMS))
    whole, model = best(lambda: rb.RankRLSCV(LAMS, cv="query").fit(X, y, qid=qid))
    print(f"\nn = 2000, 100 queries, 30 lambdas: fit {fit:.2f} s; all scores left out {scores:.2f} s, {scores / fit:.2f} fits; RankRLSCV with measure and fit {whole:.2f} s, {whole / fit:.2f} fits")
    assert model.certificate_.is_optimal(1e-9)
    assert scores < fit and whole < 2 * fit


def test_ten_folds_cost_less_than_two_fits():
    X, y, qid = items(2000, 20)
    fit, path = fitted(X, y, qid)
    seconds, _ = best(lambda: held_out_scores(path, np.arange(2000).reshape(10, -1), LAMS))
    print(f"\nn = 2000, 10 folds by query, 30 lambdas: {seconds:.2f} s, {seconds / fit:.2f} fits; trained again it is 10 fits of 1800")
    assert seconds < 2 * fit


def test_single_items_and_all_pairs():
    X, y, _ = items(2000, 20)
    fit, path = fitted(X, y)
    single, _ = best(lambda: held_out_scores(path, np.arange(2000)[:, None], LAMS))
    pairs, shares = best(lambda: leave_pair_out(path, LAMS[:3]))
    print(f"\nn = 2000: fit {fit:.2f} s; every item left out {single:.2f} s for 30 lambdas, {single / fit:.2f} fits; all 1,999,000 pairs {pairs / 3:.2f} s a lambda, {pairs / 3 / fit:.2f} fits")
    assert (shares < 0.5).all()
    assert single < fit / 2 and pairs / 3 < 2


def test_many_pairs_take_little_memory():
    import resource

    X, y, _ = items(3000, 20)
    path = rb.solve_path(rb.RankRLSProblem(X, y), solver="rls")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    leave_pair_out(path, LAMS[:1])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"\nn = 3000, all pairs: the peak of memory grows by {grown:.0f} MiB")
    assert grown < 400


def test_two_hundred_queries_of_twenty():
    X, y, qid = items(4000, 20)
    seconds, model = best(lambda: rb.RankRLSCV(LAMS[:20], cv="query").fit(X, y, qid=qid), 1)
    fit, _ = best(lambda: rb.solve_path(rb.RankRLSProblem(X, y, qid), solver="rls"), 1)
    print(f"\nn = 4000, 200 queries, 20 lambdas: kernel, fit and every query left out {seconds:.1f} s, {seconds / fit:.2f} times kernel and fit alone ({fit:.1f} s)")
    assert model.certificate_.is_optimal(1e-9)
    assert seconds < 12 and seconds < 1.5 * fit
