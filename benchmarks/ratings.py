"""Ratings of items by users with features, beside the normal equations of the weights.

The peer is the least that numpy does: a product for each user, one product for all, and a solution.
It has no certificate. Both are judged by the relative gap of the objective at their weights.
"""

import numpy as np
from scipy.sparse import csr_array

import rankbook as rb
from rankbook.problems.label_ranking import LabelFeatures, LabelRankRLSProblem

from .common import compare

TABLES = {  # users, items, ratings
    "tiny": ((60, 40, 1000),),
    "usual": ((500, 200, 94_000), (6000, 4000, 1_000_000)),
    "full": ((500, 200, 94_000), (6000, 4000, 1_000_000), (30_000, 10_000, 10_000_000)),
}
D, Q, LAM = 21, 30, 100.0  # features of users and of items


def table(n, k, count):
    """Features of users and items, and ratings as a CSR array."""
    rng = np.random.default_rng(0)
    X, Z, W = rng.normal(size=(n, D)), rng.normal(size=(k, Q)), rng.normal(size=(D, Q)) / 8
    i, a = np.nonzero(rng.random((n, k)) < count / (n * k))
    scores = np.einsum("ij,ij->i", (X @ W)[i], Z[a])
    grades = np.clip(np.round(3 + scores / 2 + rng.normal(size=i.size)), 1, 5)
    return X, Z, csr_array((grades, (i, a)), (n, k))


def normal_equations(X, Z, Y):
    """The weights, from the sums of each user."""
    C, h = np.empty((len(X), Q * Q)), np.zeros((D, Q))
    for i, x in enumerate(X):
        part = slice(Y.indptr[i], Y.indptr[i + 1])
        z, y = Z[Y.indices[part]], Y.data[part]
        m, s = len(y), z.sum(axis=0)
        C[i] = (m * z.T @ z - np.outer(s, s)).ravel()
        h += np.outer(x, m * z.T @ y - s * y.sum())
    G = ((X[:, :, None] * X[:, None, :]).reshape(len(X), -1).T @ C).reshape(D, D, Q, Q)
    G = G.transpose(0, 2, 1, 3).reshape(D * Q, D * Q)
    return np.linalg.solve(G + LAM * np.eye(D * Q), h.ravel())


def rows(scale, peers):
    """The rows of the table."""
    for n, k, count in TABLES[scale]:
        X, Z, Y = table(n, k, count)
        problem = LabelRankRLSProblem(X, Y, "linear", label_kernel=LabelFeatures(Z))

        def judged(found, problem=problem):
            if not isinstance(found, np.ndarray):
                found = found.solution_.weights
            return problem.certificate(LAM, weights=found).relative_gap

        def fit(X=X, Y=Y, Z=Z):
            model = rb.LabelRanker(lam=LAM, kernel="linear", label_kernel="linear")
            return model.fit(X, Y, labels=Z)

        beside = {"normal equations": lambda X=X, Y=Y, Z=Z: normal_equations(X, Z, Y)}
        what = f"LabelRanker with certificate, {n:,} users, {k:,} items, {D * Q} weights"
        yield from compare(what, Y.nnz, fit, beside, {"gap": judged})
