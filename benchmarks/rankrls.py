"""What RankRLS costs: `OMP_NUM_THREADS=1 python benchmarks/rankrls.py`.

A line for each figure: what, seconds, and the ratio to a peer in the same run. Medians of three
rounds, in each of which ours and the peer take turns; ratios are medians of ratios.
"""

import time

import numpy as np
from scipy.linalg import cho_factor

import rankbook as rb
from rankbook.preferences.laplacians import QueryGraph
from rankbook.problems.scatter import block_rows, side_by_side, total_scatter
from rankbook.selection.leave_pair_out import leave_pair_out, leave_pair_out_predictions


def seconds(function):
    """Seconds of a call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def show(what, ours, peer, name, rounds=3):
    """Print how long `ours` takes, and the ratio to `peer`."""
    times = np.array([(seconds(peer), seconds(ours)) for _ in range(rounds)])
    ratio = np.median(times[:, 1] / times[:, 0])
    peer_seconds, own_seconds = np.median(times, axis=0)
    print(
        f"{what}: {own_seconds:.3f} s, {ratio:.2f} times {name} of {peer_seconds:.3f} s", flush=True
    )


def items(n, d=10):
    """Items, and scores with ties."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.round(X[:, 0] + rng.normal(size=n), 1)


def one_lambda(n=4000):
    """One lambda of a kernel, the kernel matrix being there."""
    X, y = items(n)
    for what, qid in (("one query", None), ("200 queries", np.arange(n) % 200)):
        problem = rb.RankRLSProblem(X, y, qid)
        K = problem.gram

        def factor(K=K):
            A = np.array(K)
            A[np.diag_indices(n)] += 1.0
            cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)

        def solve(problem=problem):
            answer = rb.solve(problem, 1.0, solver="rls")
            assert answer.info["by"] == "Cholesky" and answer.certificate.is_optimal(1e-12)

        show(f"one lambda with certificate, n = {n}, {what}", solve, factor, "a Cholesky factor")
    fit = lambda: rb.RankRLS(lam=1.0).fit(X, y)
    show(f"RankRLS().fit with kernel and certificate, n = {n}", fit, factor, "a Cholesky factor")
    decompose = lambda: np.linalg.eigh(K)
    show(f"one lambda with certificate, n = {n}", solve, decompose, "numpy's eigh", 1)


def beyond_memory(n=20_000):
    """Conjugate gradients without the kernel matrix, certificate included."""
    X, y = items(n)
    problem = rb.RankRLSProblem(X, y, np.arange(n) // 20)
    answers = []

    def solve():
        answer = rb.solve(problem, 100.0, solver="rls", directions=500)
        assert answer.certificate.is_optimal(1e-9)
        answers.append(answer)

    what = f"one lambda with certificate, n = {n}, kernel not kept"
    show(what, solve, lambda: problem.matvec(y), "one product", 1)
    assert "gram" not in vars(problem)
    print(f"{what}: {answers[0].info['products']} products, {8 * n * n / 2**30:.1f} GiB not kept")


def all_pairs(n=2000):
    """All pairs left out."""
    X, y = items(n)
    path = rb.solve_path(rb.RankRLSProblem(X, y), solver="rls")
    first, second = np.triu_indices(n, 1)
    U = np.array(path.spectrum.left)
    product = lambda: U @ (U + 1.0).T
    values = lambda: leave_pair_out_predictions(path, first, second, [1.0])
    show(f"values of all {first.size} pairs, n = {n}", values, product, "a product of n x n")
    shares = lambda: leave_pair_out(path, [1.0])
    show(f"share of these in the wrong order, n = {n}", shares, product, "a product of n x n")


def products():
    """X' L X of items in any order, next to X'X."""
    rng = np.random.default_rng(0)
    for n, d in ((100_000, 50), (100_000, 200), (20_000, 1000)):
        X, y = rng.normal(size=(n, d)), rng.normal(size=(n, 1))
        by_query, rows = np.arange(n) // 100, block_rows(d + 1)
        orders = {
            "by query": by_query,
            "in any order": rng.permutation(by_query),
            "in one query": None,
            "in queries of any size and order": rng.integers(0, 1000, n) ** 2 // 1000,
        }
        for what, qid in orders.items():
            graph = QueryGraph(qid, n)
            ours = lambda: total_scatter(graph, side_by_side([X, y], (d, 1), rows), rows)  # noqa: B023
            show(f"X'LX, n = {n}, d = {d}, {what}", ours, lambda: X.T @ X, "X'X", 9)  # noqa: B023


def main():
    """All figures."""
    one_lambda()
    all_pairs()
    products()
    beyond_memory()


if __name__ == "__main__":
    main()
