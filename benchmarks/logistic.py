"""What the logistic loss and Plackett-Luce cost beside the hinge, and beside LogisticRegression.

Linear functions are solved by "newton" for both losses of pairs, to the tolerance that "auto" has.
With a kernel the peer is the hinge by "interior". scikit-learn's LogisticRegression gets the
differences of all preferences as two classes without an intercept, C = 1 / lam, and makes them on
the way; every answer is judged by how far its objective is above a lower bound proven by ours.

All pairs of one query are summed by interpolation. Their peer is the former way, pair by pair, up
to 10,000 items. The peak memory is that of the process.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

import rankbook as rb
from rankbook.preferences import logistic_sums

from .common import compare, gap, graded, linear_graded, peak_memory
from .linear import DIFFERENCES, SHARE, differences, excess

SIZES = {"tiny": 200, "usual": 100_000, "full": 100_000}
KERNEL = {"tiny": 60, "usual": 1000, "full": 2000}
GAP = {"gap": gap}
ONE_QUERY = {"tiny": (2500,), "usual": (10_000, 40_000), "full": (10_000, 40_000, 1_000_000)}
PAIRWISE = 10_000  # items up to which the pairs of one query are visited


def problem_of(X, y, qid, loss, kernel="linear"):
    """The ranking SVM on all preferences, or all choices."""
    prefs = rb.Preferences.from_scores(y, qid)
    return rb.RankSVMProblem(X, prefs, kernel=kernel, loss=loss)


def solved(X, y, qid, lam, loss, kernel="linear", solver="newton"):
    """The solution of a problem that is made on the way, with its certificate."""
    answer = rb.solve(problem_of(X, y, qid, loss, kernel), lam, solver=solver)
    assert answer.certificate.relative_gap < 1e-5
    return answer


def linear(scale):
    """Items in queries of a hundred and five levels: four million preferences."""
    X, y, qid = linear_graded(SIZES[scale])
    m = len(rb.Preferences.from_scores(y, qid))
    for share in (1e-2, 1e-3, 1e-4):
        lam = share * m
        what = f"one lambda, linear, logistic loss, {m:,} preferences, lambda = {lam:g}"
        ours = lambda: solved(X, y, qid, lam, "logistic")  # noqa: B023
        hinge = {"our hinge": lambda: solved(X, y, qid, lam, "hinge")}  # noqa: B023
        yield from compare(what, len(X), ours, hinge, GAP)


def beside_scikit_learn(n, size):
    """LogisticRegression of differences."""
    X, y, qid = linear_graded(n, size=size)
    problem = problem_of(X, y, qid, "logistic")
    m = len(problem.prefs)
    lam = SHARE * m
    model = LogisticRegression(C=1 / lam, fit_intercept=False, tol=1e-6, max_iter=1000)
    peers = {"LogisticRegression": lambda: model.fit(*differences(X, problem.prefs)).coef_.ravel()}
    what = f"one lambda, linear, logistic loss, {m:,} preferences, lambda = {lam:g}"
    ours = lambda: solved(X, y, qid, lam, "logistic").weights
    return compare(what, n, ours, peers, excess(problem, lam))


def kernels(scale):
    """All pairs of one query, and the order of all of its items, with the rbf kernel."""
    n = KERNEL[scale]
    X, _, _ = graded(n)
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * np.random.default_rng(1).normal(size=n)
    m = n * (n - 1) // 2
    for share in (1e-3, 1e-5):
        lam = share * m
        what = f"one lambda, rbf, logistic loss, {m:,} preferences, lambda = {lam:g}"
        ours = lambda: solved(X, y, None, lam, "logistic", "rbf")  # noqa: B023
        hinge = {"our hinge": lambda: solved(X, y, None, lam, "hinge", "rbf", "interior")}  # noqa: B023
        yield from compare(what, n, ours, hinge, GAP)
    for lam in (1.0, 1e-3):
        what = f"one lambda, rbf, Plackett-Luce, an order of {n:,} items, lambda = {lam:g}"
        ours = lambda: solved(X, y, None, lam, "plackett-luce", "rbf")  # noqa: B023
        yield from compare(what, n, ours, None, GAP)


def path(scale):
    """All lambdas of four decades with a kernel, each with a relative gap of at most 1e-3."""
    n = KERNEL[scale] // 2
    X, y, qid = graded(n)
    problem = problem_of(X, y, qid, "logistic", "rbf")
    ours = lambda: rb.solve_path(problem, solver="newton")
    return compare(f"path, rbf, logistic loss, {len(problem.prefs):,} preferences", n, ours)


def proven(answer):
    """The relative gap of a fitted model between the bounds moved outwards by their errors."""
    certificate = answer.certificate_
    return (certificate.primal - certificate.dual) / certificate.primal


def pair_by_pair(fit):
    """A fit that visits every pair."""
    before, logistic_sums.CROSSOVER = logistic_sums.CROSSOVER, np.inf
    try:
        return fit()
    finally:
        logistic_sums.CROSSOVER = before


def one_query(scale):
    """All pairs of one query, without ties and in five grades, with the default lambda."""
    for n in ONE_QUERY[scale]:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 20))
        score = X @ rng.normal(size=20) / 2 + rng.logistic(size=n)
        for levels in (n, 5):
            y = np.floor(levels / n * score.argsort().argsort())
            fit = lambda: rb.RankSVM(kernel="linear", loss="logistic").fit(X, y)  # noqa: B023
            peers = {"pair by pair": lambda: pair_by_pair(fit)} if n <= PAIRWISE else None  # noqa: B023
            m = len(rb.Preferences.from_scores(y))
            what = f"fit, linear, logistic loss, {m:,} preferences of one query, {levels:,} levels"
            measures = {
                "gap": gap,
                "proven gap": proven,
                "peak memory, GB": lambda _: peak_memory(),
            }
            yield from compare(what, n, fit, peers, measures)


def rows(scale, peers):
    """All rows."""
    yield from one_query(scale)
    yield from linear(scale)
    for n, size in DIFFERENCES[scale]:
        yield from beside_scikit_learn(n, size)
    yield from kernels(scale)
    yield from path(scale)
