"""What RankRLS costs, beside what a matrix of its size must cost, scikit-learn and RLScore.

scikit-learn's KernelRidge and Ridge are a yardstick: regression of as many items, not ranking.
RLScore's GlobalRankRLS minimizes our objective with regparam = lambda, so that our certificate
judges its answer, too. With the L1 penalty and one query, RankRLS is the lasso of skglm and celer
with alpha = lambda / (2 n^2) on centred data; both get 50 values of lambda, each from the one
before, where ours computes all. Theirs are judged by the worst gap of these values.
"""

import numpy as np
from scipy.linalg import cho_factor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

import rankbook as rb
from rankbook.preferences.laplacians import QueryGraph
from rankbook.problems.rankrls import block_rows, side_by_side, total_scatter
from rankbook.selection.leave_out import leave_pair_out, leave_pair_out_predictions

from .common import compare, gap, rounded
from .rivals import rival

ONE_LAMBDA = {"tiny": 100, "usual": 3000, "full": 4000}
LINEAR = {"tiny": 200, "usual": 100_000, "full": 1_000_000}
PAIRS = {"tiny": 50, "usual": 1500, "full": 2000}
SPARSE = {"tiny": (60, 20), "usual": (2000, 500), "full": (2000, 2000)}  # items, and features
LAMS, SMALLEST = 50, 1e-2  # values of lambda, and the smallest relative to the largest
PRODUCTS = {
    "tiny": ((200, 5),),
    "usual": ((100_000, 50), (20_000, 200)),
    "full": ((100_000, 50), (100_000, 200), (20_000, 1000)),
}
BEYOND = {"tiny": 200, "usual": 17_000, "full": 20_000}  # from 16,385 on K is not kept
GAP = {"gap": gap}


def factor(K):
    """A Cholesky factor of K + I."""
    A = np.array(K)
    A[np.diag_indices(len(A))] += 1.0
    return cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)


def one_lambda(scale):
    """One lambda of a kernel, the kernel matrix being there; then the whole fit."""
    n = ONE_LAMBDA[scale]
    X, y = rounded(n)
    for what, qid in (("one query", None), ("many queries", np.arange(n) % min(200, n // 2))):
        problem = rb.RankRLSProblem(X, y, qid)
        K = problem.gram

        def solve(problem=problem):
            answer = rb.solve(problem, 1.0, solver="rls")
            assert answer.info["by"] == "Cholesky" and answer.certificate.is_optimal(1e-12)
            return answer

        peers = {"a Cholesky factor": lambda K=K: factor(K)}
        yield from compare(f"one lambda with certificate, {what}, lambda = 1", n, solve, peers, GAP)
    peers = {"numpy's eigh": lambda: np.linalg.eigh(K)}
    yield from compare(f"one lambda with certificate, {what}, lambda = 1", n, solve, peers, GAP, 1)
    whole = rb.RankRLSProblem(X, y)

    def judged(found):
        return (
            gap(rb.Solution(whole, 1.0, found, None, ""))
            if isinstance(found, np.ndarray)
            else gap(found)
        )

    peers = {
        "a Cholesky factor": lambda: factor(K),
        "KernelRidge": lambda: KernelRidge(kernel="rbf").fit(X, y),
        "RLScore": rival("rlscore", "rlscore", X, y, 1.0, 1 / X.shape[1]),
    }
    fit = lambda: rb.RankRLS(lam=1.0).fit(X, y)
    what = "RankRLS(lam=1), kernel and certificate included"
    yield from compare(what, n, fit, peers, {"gap": judged})


def sparse_path(scale):
    """All lambdas of the L1 penalty, beside the lasso at some of them."""
    n, d = SPARSE[scale]
    X, y = rounded(n, d)
    X[:, d // 2 :] += X[:, : d - d // 2]  # features that go together
    problem = rb.RankRLSProblem(X, y, kernel="linear", penalty="l1")
    lams = problem.lam_max * np.geomspace(0.99, SMALLEST, LAMS)
    arrays = X - X.mean(axis=0), y - y.mean(), lams / (2.0 * n**2)

    def worst(found):
        if isinstance(found, np.ndarray):
            found = [problem.certificate(lam, w) for lam, w in zip(lams, found.T)]
        else:
            found = [found.certificate(lam) for lam in lams]
        return max(one.relative_gap for one in found)

    ours = lambda: rb.solve_path(
        rb.RankRLSProblem(X, y, kernel="linear", penalty="l1"), lam_min=lams[-1]
    )
    peers = {name: rival(name, name, *arrays) for name in ("skglm", "celer")}
    what = f"all lambdas of the L1 penalty, d = {d}"
    return compare(what, n, ours, peers, {"worst gap": worst})


def linear(scale):
    """The linear fit, in the time of sums over items."""
    X, y = rounded(LINEAR[scale], 50)
    fit = lambda: rb.RankRLS(lam=1.0, kernel="linear").fit(X, y)
    peers = {"Ridge": lambda: Ridge().fit(X, y)}
    return compare('RankRLS(lam=1, kernel="linear"), d = 50', len(y), fit, peers, GAP)


def all_pairs(scale):
    """All pairs left out."""
    n = PAIRS[scale]
    X, y = rounded(n)
    path = rb.solve_path(rb.RankRLSProblem(X, y), solver="rls")
    first, second = np.triu_indices(n, 1)
    U = np.array(path.spectrum.left)
    product = {"a product of n x n": lambda: U @ (U + 1.0).T}
    values = lambda: leave_pair_out_predictions(path, first, second, [1.0])
    yield from compare(f"values of all {first.size:,} pairs left out", n, values, product)
    shares = lambda: leave_pair_out(path, [1.0])
    yield from compare("share of these in the wrong order", n, shares, product)


def products(scale):
    """X' L X of items in any order, next to X'X."""
    rng = np.random.default_rng(0)
    for n, d in PRODUCTS[scale]:
        X, y = rng.normal(size=(n, d)), rng.normal(size=(n, 1))
        by_query, block = np.arange(n) // 100, block_rows(d + 1)
        orders = {
            "by query": by_query,
            "in any order": rng.permutation(by_query),
            "in one query": None,
            "in queries of any size and order": rng.integers(0, 1000, n) ** 2 // 1000,
        }
        for what, qid in orders.items():
            graph = QueryGraph(qid, n)
            ours = lambda: total_scatter(graph, side_by_side([X, y], (d, 1), block), block)  # noqa: B023
            yield from compare(f"X'LX, d = {d}, {what}", n, ours, {"X'X": lambda: X.T @ X}, None, 9)  # noqa: B023


def beyond_memory(scale):
    """Conjugate gradients without the kernel matrix, certificate included."""
    n = BEYOND[scale]
    X, y = rounded(n)
    problem = rb.RankRLSProblem(X, y, np.arange(n) // 20)
    directions = min(500, n // 4)

    def solve():
        answer = rb.solve(problem, 100.0, solver="rls", directions=directions)
        assert answer.certificate.is_optimal(1e-9)
        return answer

    product = {"one product": lambda: problem.matvec(y)}
    measures = GAP | {"products:": lambda answer: getattr(answer, "info", {}).get("products")}
    what = "one lambda with certificate, kernel not kept, lambda = 100"
    yield from compare(what, n, solve, product, measures, 1)
    assert scale == "tiny" or "gram" not in vars(problem)


def rows(scale, peers):
    """All rows."""
    for part in (one_lambda, sparse_path, linear, all_pairs, products, beyond_memory):
        yield from part(scale)
