"""Sparse paths of smooth losses, beside scikit-survival, skglm, celer, liblinear and saga.

Each program computes the L1 solutions of the same lambdas, from lam_max to 0.05 lam_max: a hundred
for Cox's model and the logistic loss of pairs, and every tenth of them for liblinear and saga,
whose seconds are for these ten. Ours has a relative gap of at most 1e-6 at each lambda.

The "worst gap" of every program is the largest relative gap over its lambdas that our certificate
proves of its weights, at their own dual point. Weights with a small error of the optimality
conditions can have a much smaller "worst excess", the distance of the objective from a lower bound
that ours proves with a gap of 1e-9, relative to the objective. A program gets its default tolerance
unless its name says another.
"""

import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp

import rankbook as rb
from rankbook.solvers.sparse.steps import Follower

from .common import compare, if_installed
from .rivals import rival
from .survival import structured

COX = {
    "tiny": ((60, 100),),
    "usual": ((300, 20_000), (5_000, 2_000)),
    "full": ((300, 20_000), (5_000, 2_000), (500, 100_000)),
}
PAIRS = {"tiny": (100, 200, 300), "usual": (2_000, 20_000, 20_000), "full": (2_000, 20_000, 20_000)}
LAST, COUNT, TOL = 0.05, 100, 1e-6


def patients(n, d):
    """Features, times and events; ten features have an effect."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(n, d)), np.zeros(d)
    w[:10] = rng.normal(size=10) / 2
    life, end = np.exp(0.7 * rng.gumbel(size=n) - X @ w), np.exp(1 + rng.normal(size=n))
    return X, np.minimum(life, end), life <= end


def votes(n, d, m):
    """Sparse items (n, d) with 1 % of the entries, and m pairs of them, better and worse."""
    rng = np.random.default_rng(0)
    draw = dict(density=0.01, random_state=rng, data_sampler=rng.standard_normal)
    X, w = sp.csr_array(sp.random_array((n, d), **draw)), np.zeros(d)
    w[: min(100, d)] = 3 * rng.normal(size=min(100, d))
    first, second = rng.integers(0, n, (2, m))
    first, second = first[first != second], second[first != second]
    wins = (X @ w)[first] - (X @ w)[second] + rng.logistic(size=first.size) > 0
    return X, np.where(wins, first, second), np.where(wins, second, first)


def lambdas(problem):
    """The lambdas of all programs, largest first."""
    return problem.lam_max * np.geomspace(1, LAST, COUNT)


def followed(make, lams, tol=TOL):
    """Weights (k, d) for each of k lambdas, of the problem that `make` makes."""
    follower, found = Follower(make()), []
    for lam in lams:
        follower.minimise(lam, tol)
        found.append(follower.coef)
    return np.array(found)


def measures(problem, lams):
    """The worst gap and the worst excess of weights (k, d), for k of the lambdas."""
    best = [
        problem.certificate(lam, w).dual
        for lam, w in zip(lams, followed(lambda: problem, lams, 1e-9))
    ]

    def each(found):
        return zip(np.arange(len(lams))[:: len(lams) // len(found)], found)

    def gap(found):
        return max(problem.certificate(lams[i], w).relative_gap for i, w in each(found))

    def excess(found):
        return max(1 - best[i] / problem.primal(w, lams[i]) for i, w in each(found))

    return {"worst gap": gap, "worst excess": lambda found: max(0.0, excess(found))}


def cox(n, d):
    """Cox's model beside Coxnet of scikit-survival, and skglm."""
    X, time, event = patients(n, d)
    orders = rb.Orders.from_survival(time, event)
    make = lambda: rb.RankSVMProblem(X, orders, kernel="linear", loss="plackett-luce", penalty="l1")
    problem = make()
    lams = lambdas(problem)

    def coxnet(**options):
        from sksurv.linear_model import CoxnetSurvivalAnalysis

        options |= dict(l1_ratio=1.0, alphas=lams / n, max_iter=10**6)
        found = CoxnetSurvivalAnalysis(**options).fit(X, structured(time, event))
        weights = -found.coef_.T
        return np.vstack([weights, np.repeat(weights[-1:], len(lams) - len(weights), axis=0)])

    precise = dict(tol=1e-12)
    peers = {"Coxnet": if_installed("sksurv", coxnet)}
    if n * d <= 10**6 and not isinstance(peers["Coxnet"], str):
        peers["Coxnet(tol=1e-12)"] = lambda: coxnet(**precise)
    for tol in (1e-4, 1e-6):
        peers[f"skglm(tol={tol:g})"] = rival("skglm", "sparse_cox", X, time, event, lams / n, tol)
    what = f"Cox, {n:,} patients, {d:,} features, {COUNT} lambdas"
    return compare(what, n, lambda: followed(make, lams), peers, measures(problem, lams), rounds=1)


def pairs(n, d, m):
    """The logistic loss of pairs of sparse items; celer, liblinear and saga take differences."""
    X, better, worse = votes(n, d, m)
    prefs = rb.Preferences(better, worse, n)
    make = lambda: rb.RankSVMProblem(X, prefs, kernel="linear", loss="logistic", penalty="l1")
    problem = make()
    lams, turn = lambdas(problem), np.where(np.arange(better.size) % 2, 1.0, -1.0)
    Z = sp.csc_matrix(sp.diags_array(turn) @ (X[better] - X[worse]))

    def logistic(solver):
        from sklearn.linear_model import LogisticRegression

        options = dict(penalty="l1", solver=solver, fit_intercept=False, random_state=0)
        model = lambda lam: LogisticRegression(C=1 / lam, tol=1e-4, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # saga's hundred passes, and a renamed penalty
            return np.array([model(lam).fit(Z, turn).coef_[0] for lam in lams[:: COUNT // 10]])

    of_sklearn = ("liblinear", "saga")
    peers = {f"{name}, ten lambdas": partial(logistic, name) for name in of_sklearn}
    for tol in (1e-4, 1e-6):
        peers[f"celer(tol={tol:g})"] = rival("celer", "sparse_logistic", Z, turn, lams, tol)
    what = f"logistic, {better.size:,} pairs, {n:,} x {d:,} at 1 %, {COUNT} lambdas"
    return compare(what, n, lambda: followed(make, lams), peers, measures(problem, lams), rounds=1)


def rows(scale, peers):
    """All rows."""
    for n, d in COX[scale]:
        yield from cox(n, d)
    yield from pairs(*PAIRS[scale])
