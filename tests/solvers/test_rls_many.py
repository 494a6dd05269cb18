"""RankRLS on many items: which way one lambda takes."""

import numpy as np
import pytest
import scipy.sparse

import rankbook as rb
from rankbook.solvers.rls import solver


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
