"""Probabilities and the expected area from two Gaussians, and the bound on the area."""

import warnings

import numpy as np
import pytest
from corpus import degenerate
from scipy.stats import multivariate_normal, norm
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

import rankbook as rb
from rankbook.problems.rayleigh import (
    auc_bound,
    class_posterior,
    expected_auc,
    largest_error,
    pair_cosines,
)

LINEAR = dict(kernel="linear", n_components=None, manifold_weight=0)


@pytest.mark.parametrize("name", degenerate(np.random.default_rng(0)))
def test_probabilities_are_those_of_the_densities(name):
    X = degenerate(np.random.default_rng(0))[name]
    X = X / max(1.0, np.abs(X).max())
    y = np.arange(24) % 3 % 2
    found = class_posterior(rb.RayleighProblem(X, y, **LINEAR), 0.1)
    log = {}
    for side in (1, 0):
        part = X[y == side]
        S = np.cov(part.T, bias=True).reshape((X.shape[1],) * 2) + 0.05 * np.eye(X.shape[1])
        log[side] = np.log(len(part)) + multivariate_normal(part.mean(axis=0), S).logpdf(X)
    expected = 1 / (1 + np.exp(log[0] - log[1]))
    assert np.allclose(found.predict_proba(X)[:, 1], expected, rtol=1e-7, atol=1e-10)


def test_it_is_quadratic_discriminant_analysis():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 3)), rng.integers(0, 2, 4000)
    X[y == 1] = X[y == 1] @ rng.normal(size=(3, 3)) + 0.5
    ours = class_posterior(rb.RayleighProblem(X, y, **LINEAR), 0.0).predict_proba(X)
    theirs = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    assert np.allclose(ours, theirs, atol=5e-3)  # scikit-learn divides by n - 1


def test_the_expected_area_is_that_of_gaussian_scores():
    scores = norm.ppf((np.arange(400) + 0.5) / 400)
    X = np.r_[1.5 * scores + 1, scores][:, None]
    problem = rb.RayleighProblem(X, np.repeat([1, 0], 400), **LINEAR)
    assert abs(expected_auc(problem, np.ones(1)) - rb.auc(np.repeat([1, 0], 400), X[:, 0])) < 2e-3


@pytest.mark.parametrize("seen", [0.0, 0.003, 0.5, 0.98])
@pytest.mark.parametrize("allowed", [1e-4, 0.1, 3.0])
def test_the_inverse_of_kl(seen, allowed):
    e = np.linspace(seen, 1, 200_001)[1:-1]
    with np.errstate(all="ignore"):
        kl = np.where(seen > 0, seen * np.log(seen / e), 0) + (1 - seen) * np.log(
            (1 - seen) / (1 - e)
        )
    brute = e[kl <= allowed].max(initial=seen)
    assert abs(largest_error(seen, allowed) - brute) < 2e-5


@pytest.mark.parametrize("name", degenerate(np.random.default_rng(0)))
@pytest.mark.parametrize("pivots", ["greedy", "pca"])
def test_the_bound_by_brute_force(name, pivots):
    X = degenerate(np.random.default_rng(0))[name]
    y = np.array([1, 0, -1] * 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = rb.RayleighProblem(X, y, n_components=5, pivots=pivots, manifold_weight=0)
    solution = rb.solve(problem, 0.01, solver="rayleigh")
    found, f, w = auc_bound(solution, 0.1, 3), solution.predict(X), solution.coef
    g = []
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            distance = 2 - 2 * np.exp(-np.sum((X[i] - X[j]) ** 2) / X.shape[1])
            size = np.linalg.norm(w) * np.sqrt(distance)
            same = distance < 1e-11
            g.append(-np.inf if same else (f[i] - f[j]) / size if np.any(w) else 0.0)
    assert np.allclose(np.sort(g), np.sort(pair_cosines(solution).ravel()), atol=1e-6)
    assert np.max(g) <= 1 + 1e-9
    wrong = norm.cdf(-found.scale * np.array(g)).mean()
    price = (found.scale**2 / 2 + np.log(9 * 3 / 0.1)) / 8
    assert np.isclose(found.randomised_auc, 1 - largest_error(wrong, price), atol=1e-6)
    assert found.size == 8 and found.auc == max(0, 2 * found.randomised_auc - 1)
    assert auc_bound(solution, 0.1).randomised_auc >= found.randomised_auc


def test_the_bound_takes_rayleigh_only():
    other = rb.solve(rb.RankRLSProblem(np.eye(4), [0, 1, 0, 1]), 1.0)
    with pytest.raises(TypeError, match="Pass a solution of a RayleighProblem"):
        auc_bound(other)
    problem = rb.RayleighProblem(np.eye(4), [0, 1, 0, 1], manifold_weight=0, n_components=2)
    with pytest.raises(ValueError, match="delta is 1"):
        auc_bound(rb.solve(problem, 1.0), 1)
    for wrong in (3, None, "rayleigh"):
        with pytest.raises(TypeError, match="solution is an?.*. Pass a Solution"):
            auc_bound(wrong)
