"""RankRLS on many items: which way one lambda takes."""

import numpy as np
import pytest
import scipy.sparse

import rankbook as rb
from rankbook.kernels import Kernel
from rankbook.solvers.rls import solver
from rankbook.solvers.rls.sparse import SinglePreconditioner


@pytest.mark.parametrize("is_sparse", [True, False])
def test_many_wide_items_have_the_same_solution(is_sparse, monkeypatch):
    X = scipy.sparse.random(60, 90, 0.1, random_state=0, format="csr")
    y = np.random.default_rng(0).normal(size=60)
    problem = rb.RankRLSProblem(X if is_sparse else X.toarray(), y, kernel="linear")
    direct = rb.solve(problem, 0.1, "rls")
    monkeypatch.setattr(solver, "LARGE", 50)
    found = rb.solve(problem, 0.1, "rls")
    assert found.info["by"] == ("Cholesky" if is_sparse else "conjugate gradients")
    assert found.certificate.primal == pytest.approx(direct.certificate.primal, rel=1e-9)


def problems_of(kind, rng):
    """A problem of 300 items, or twice as many with copies."""
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 5, 300).astype(float)
    one, qid = np.zeros(300, dtype=int), np.arange(300) % 20
    if kind == "one query":
        return rb.RankRLSProblem(X, y, one)
    if kind == "queries":
        return rb.RankRLSProblem(X, np.c_[y, X[:, 0]], qid)
    if kind == "weights":
        return rb.RankRLSProblem(X, y, qid, item_weight=10.0 ** rng.integers(-2, 3, 300))
    if kind == "no weight":
        return rb.RankRLSProblem(X, y, qid, item_weight=(np.arange(300) % 3).astype(float))
    if kind == "identity":
        return rb.RankRLSProblem(X, y, graph="identity")
    if kind == "copies":
        return rb.RankRLSProblem(np.r_[X, X], np.r_[y, 4 - y], np.r_[qid, qid])
    if kind == "constant":
        return rb.RankRLSProblem(np.ones((300, 4)), y, one)
    if kind == "offset":
        return rb.RankRLSProblem(X + 1e8, y, one)
    if kind == "poly":
        X[7] *= 10
        return rb.RankRLSProblem(X, y, qid, kernel=Kernel("poly", degree=2))
    return rb.RankRLSProblem(X @ X.T, y, one, kernel="precomputed")


KINDS = ("one query", "queries", "weights", "no weight", "identity", "copies", "constant", "offset")


@pytest.mark.parametrize("kind", [*KINDS, "poly", "precomputed"])
@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e6])
def test_a_factor_in_single_precision_leads_to_the_solution(kind, lam, monkeypatch):
    problem = problems_of(kind, np.random.default_rng(0))
    direct = rb.solve(problem, lam, "rls")
    monkeypatch.setattr(solver, "LARGE", 50)
    found = rb.solve(problem, lam, "rls")
    assert found.info["by"] == "conjugate gradients", found.info
    assert found.certificate.primal == pytest.approx(direct.certificate.primal, rel=1e-6)
    assert found.certificate.relative_gap <= max(1e-8, 10 * direct.certificate.relative_gap)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_a_kernel_out_of_range_of_single_precision_has_a_solution(scale, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = scale * rng.normal(size=(80, 3)), rng.normal(size=80)
    kernel = Kernel("poly", degree=5, gamma=1.0, coef0=0.0)
    problem = rb.RankRLSProblem(X, y, kernel=kernel)
    lam = 0.1 * scale**10
    direct = rb.solve(problem, lam, "rls")
    monkeypatch.setattr(solver, "LARGE", 50)
    found = rb.solve(problem, lam, "rls")
    assert found.info["by"] == "conjugate gradients"
    assert found.certificate.primal == pytest.approx(direct.certificate.primal, rel=1e-6)


def test_one_query_takes_few_products(monkeypatch):
    """With a Nystroem map of 10 sqrt(n) landmarks it takes hundreds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    y = np.digitize(X[:, 0] + np.sin(2 * X[:, 1]), [-1, 0, 1, 2])
    monkeypatch.setattr(solver, "LARGE", 1000)
    for lam in (1e-2, 1.0, 1e2):
        found = rb.solve(rb.RankRLSProblem(X, y), lam, "rls")
        assert found.info["products"] <= 20 and found.certificate.is_optimal(1e-9)


def test_what_single_precision_cannot_factor_is_solved_directly(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(100.0, 1.0, size=(100, 5))
    problem = rb.RankRLSProblem(X, rng.normal(size=100), kernel=Kernel("poly", degree=3))
    with pytest.raises(ArithmeticError, match="single precision"):
        SinglePreconditioner(problem, 1e4)
    direct = rb.solve(problem, 1e4, solver="rls")
    monkeypatch.setattr(solver, "LARGE", 50)
    found = rb.solve(problem, 1e4, solver="rls")
    assert found.info["by"] == direct.info["by"] != "conjugate gradients"
    assert np.array_equal(found.coef, direct.coef)
