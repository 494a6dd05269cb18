"""What one lambda of the ranking SVM with a kernel costs, and how small a gap it proves.

PIQP is measured where it is installed, Clarabel always; both get the dual in node variables from
the solver "qp", with its tight tolerances. Wide and sparse items of a linear kernel, too. At
full scale also 5000 and 10000 items, and RankSVMCV on 1000.
"""

import numpy as np
from scipy.sparse import random_array

import rankbook as rb
from rankbook.solvers.qp.solver import qp_backends

from .common import cancer, compare, gap, graded

LAMS = {"tiny": (100.0,), "usual": (10.0, 0.1), "full": (100.0, 10.0, 1.0, 0.1, 0.01)}
SIZES = {"tiny": (100,), "usual": (1000, 2500), "full": (1000, 2500, 5000, 10_000)}
LINEAR = {"tiny": 200, "usual": 20_000, "full": 20_000}
PLANE = {"tiny": 160, "usual": 1600, "full": 1600}
WIDE = {
    "tiny": ((60, 100),),
    "usual": ((3000, 2000),),
    "full": ((3000, 500), (3000, 2000), (3000, 20_000)),
}
GAP = {"gap": gap}


def quadratic_programs(problem, lam):
    """The same problem by the backends of cvxpy."""
    known = qp_backends()
    return {
        name: (lambda backend=backend: rb.solve(problem, lam, solver="qp", backend=backend))
        if backend in known
        else "not installed"
        for name, backend in (("Clarabel", "CLARABEL"), ("PIQP", "PIQP"))
    }


def one_lambda(scale):
    """Cancer's full graph at several lambdas; the kernel matrix is there."""
    if scale == "tiny":
        X, y, qid = graded(60)
        problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid))
    else:
        problem = cancer()
    problem.gram  # noqa: B018
    for lam in LAMS[scale]:
        what = f"one lambda, rbf, {len(problem.prefs):,} preferences, lambda = {lam:g}"
        ours = lambda: rb.solve(problem, lam, solver="interior")  # noqa: B023
        yield from compare(what, problem.n_items, ours, quadratic_programs(problem, lam), GAP)


def as_it_comes(scale):
    """RankSVM at one lambda: the kernel matrix, the solution and its certificate."""
    fit = rb.RankSVM(lam=1.0).fit
    for n in SIZES[scale]:
        X, y, qid = graded(n)
        yield from compare("RankSVM(lam=1), rbf", n, lambda: fit(X, y, qid), None, GAP)  # noqa: B023


def cross_validated(n=1000):
    """RankSVMCV() with its defaults, five whole paths and a fit."""
    X, y, qid = graded(n)
    return compare("RankSVMCV(), rbf", n, lambda: rb.RankSVMCV().fit(X, y, qid), None, GAP)


def factors(scale):
    """Kernels with a thin factor: a linear one, and a smooth one in the plane."""
    n = LINEAR[scale]
    X, y, qid = graded(n)
    linear = rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid), kernel="linear")
    ours = lambda: rb.solve(linear, 1.0, solver="interior")
    newton = {"our newton": lambda: rb.solve(linear, 1.0, solver="newton")}
    what = f"one lambda, linear, {len(linear.prefs):,} preferences, lambda = 1"
    yield from compare(what, n, ours, newton, GAP)
    n = PLANE[scale]
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(n, 2))
    y = (plane[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)
    smooth = rb.RankSVMProblem(plane, rb.Preferences.from_scores(y, np.arange(n) % 16))
    ours = lambda: rb.solve(smooth, 1.0, solver="interior")
    yield from compare("one lambda, rbf in the plane, lambda = 1", n, ours, None, GAP)


def wide(scale):
    """Linear kernels in queries of 20, sparse items of 30 numbers and, up to 2000 features, dense.

    Shares are of the lam_max of the hinge, for either loss.
    """
    rng = np.random.default_rng(0)
    for n, d in WIDE[scale]:
        sparse = random_array((n, d), density=30 / d, rng=rng, format="csr")
        for X in (sparse, rng.normal(size=(n, d))) if d <= 2000 else (sparse,):
            score = X @ rng.normal(size=d)
            y = np.digitize(score / score.std() + 0.5 * rng.normal(size=n), [-1, 0, 1])
            prefs = rb.Preferences.from_scores(y, np.arange(n) // 20)
            largest = rb.RankSVMProblem(X, prefs, kernel="linear").lam_max
            for loss in ("hinge", "squared"):
                problem = rb.RankSVMProblem(X, prefs, kernel="linear", loss=loss)
                for share in (1e-1, 1e-2, 1e-4):
                    lam = share * largest
                    ours = lambda: rb.solve(problem, lam, solver="interior")  # noqa: B023
                    what = f"one lambda, {problem.storage}, d = {d}, {loss}, {share:g} lam_max"
                    yield from compare(what, n, ours, None, GAP, 1)


def rows(scale, peers):
    """All rows."""
    yield from as_it_comes(scale)
    yield from one_lambda(scale)
    yield from factors(scale)
    yield from wide(scale)
    if scale == "full":
        yield from cross_validated()
