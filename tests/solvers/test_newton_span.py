"""Weights of newton stay in the span of the items, where these have a low rank."""

import numpy as np
import pytest

import rankbook as rb


def low_rank(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 60)), int(rng.integers(3, 30))
    rank = int(rng.integers(1, min(n, d)))
    X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) * 10.0 ** rng.integers(-2, 3, d)
    if seed % 3 == 0:  # ones and zeros with a copy and a sum of columns
        X = rng.integers(0, 2, size=(n, d)).astype(float)
        X = np.c_[X, X[:, :1], X[:, :1] + X[:, 1:2]]
    return X, np.round(X @ rng.normal(size=X.shape[1]) / 10 + rng.normal(size=n)), rng


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("seed", range(12))
def test_coefficients_and_weights_are_one_function(seed, loss):
    X, y, rng = low_rank(seed)
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), "linear", loss=loss)
    for lam in (1e-2, 10.0):
        solution = rb.solve(problem, lam, "newton")
        assert solution.certificate.relative_gap <= 1e-6
        implied = problem.weights(solution.coef)
        assert np.allclose(implied, solution.weights, rtol=0, atol=1e-8 * np.abs(implied).max())


@pytest.mark.parametrize("d", [40, 1200])  # fewer items than features
def test_copies_of_items_and_of_features(d):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(10, d // 2)), 2, axis=0)
    X = np.c_[X, 3 * X]
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(rng.normal(size=20)), "linear")
    w = rb.solve(problem, 1.0, "newton").weights
    inside = problem.X.T @ np.linalg.lstsq(problem.X.T, w, rcond=1e-10)[0]
    assert np.linalg.norm(w - inside) < 1e-9 * np.linalg.norm(w)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("seed", range(5))
def test_preferences_between_identical_items_teach_nothing(seed, loss):
    rng = np.random.default_rng(seed)
    order = rng.permutation(30)
    X, qid = np.repeat(rng.normal(size=(10, 3)), 3, axis=0)[order], np.repeat(range(10), 3)[order]
    y = rng.normal(size=30)
    model = rb.RankSVM(kernel="linear", loss=loss, solver="newton").fit(X, y, qid=qid)
    assert not model.predict(X).any() and model.score(X, y, qid=qid) == 0.5
    assert model.certificate_.is_optimal()
