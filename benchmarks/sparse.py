"""Sparse items and few preferences: the solver `coordinate` beside LinearSVC on all differences.

scikit-learn's LinearSVC, with C = 1 / lam, runs coordinate descent on a table of the differences
`x_k - x_l` of all preferences, half of them with the sign reversed. The table is made before the
clock starts. The "excess gap" is the objective less a proven lower bound, relative to the
objective. LinearSVC gets the largest tolerance, a power of ten, at which its excess gap is at most
ours or 1e-6. If it reaches this gap at none of them in 20,000 passes, it gets the tolerance 1e-4.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

import rankbook as rb

from .common import compare, linear_graded, sparse_graded
from .linear import differences, problem_of

WIDTHS = {"tiny": (50,), "usual": (500, 20_000), "full": (500, 2000, 20_000)}
DENSE = {"tiny": (5,), "usual": (50,), "full": (10, 50)}
LAMBDAS = {"tiny": (1e-3,), "usual": (1e-3,), "full": (1e-2, 1e-3, 1e-4)}  # for each preference
TOLERANCES, LAST, MOST = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5), 1e-4, 20_000


def table(X, prefs):
    """The differences of all preferences as LinearSVC takes them, and their classes."""
    if isinstance(X, np.ndarray):
        return differences(X, prefs)
    turn = np.where(np.arange(len(prefs)) % 2, 1.0, -1.0)
    Z = sp.csr_matrix(sp.diags_array(turn) @ (X[prefs.better] - X[prefs.worse]))
    Z.indices, Z.indptr = Z.indices.astype(np.int32), Z.indptr.astype(np.int32)
    return Z, turn


def beside_linear_svc(name, X, y, qid, loss, share):
    """Ours and LinearSVC to the same gap; the search for its tolerance is not timed."""
    problem = problem_of(X, y, qid, loss)
    m = len(problem.prefs)
    lam, data = share * m, table(X, problem.prefs)
    bound = rb.solve(problem, lam, solver="coordinate", tol=1e-8, max_passes=10**5).certificate.dual

    def excess(weights):
        primal = problem.certificate(lam, weights=weights).primal
        return max(0.0, primal - bound) / primal

    def ours():
        return rb.solve(problem_of(X, y, qid, loss), lam, solver="coordinate").weights

    def theirs(tol):
        kind = "squared_hinge" if loss == "squared" else loss
        options = dict(C=1 / lam, fit_intercept=False, random_state=0, max_iter=MOST)
        return LinearSVC(loss=kind, dual=True, tol=tol, **options).fit(*data).coef_.ravel()

    goal = max(1e-6, excess(ours()))
    tol = next((tol for tol in TOLERANCES if excess(theirs(tol)) <= goal), LAST)
    what = f"one lambda, {name}, {loss} loss, {m:,} preferences, lambda = {lam:g}"
    peers = {f"LinearSVC(tol={tol:g})": lambda: theirs(tol)}
    return compare(what, len(y), ours, peers, {"excess gap": excess})


def rows(scale, peers):
    """All rows."""
    n = 60 if scale == "tiny" else 3000
    data = {f"sparse, d = {d:,}": sparse_graded(n, d) for d in WIDTHS[scale]}
    data |= {f"dense, d = {d}": linear_graded(n // 3, d, 20) for d in DENSE[scale]}
    for name, (X, y, qid) in data.items():
        for loss in ("hinge", "squared"):
            for share in LAMBDAS[scale]:
                yield from beside_linear_svc(name, X, y, qid, loss, share)
