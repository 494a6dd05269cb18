"""Newton's method with signs and more features than items."""

from time import perf_counter

import numpy as np
import pytest

import rankbook as rb


def problem_of(n, d, seed, signs, **options):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, :5] @ [1.0, 2.0, 3.0, -1.0, 1.0] + rng.normal(size=n)
    signs = rng.integers(-1, 2, d) if signs == "mixed" else np.ones(d)
    prefs = rb.Preferences.from_scores(y)
    return rb.RankSVMProblem(X, prefs, kernel="linear", signs=signs, **options)


@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic"])
@pytest.mark.parametrize("signs", ["mixed", "positive"])
@pytest.mark.parametrize("lam", [1e-3, 1.0, 100.0])
def test_the_solution_agrees_with_the_quadratic_program(loss, signs, lam):
    problem = problem_of(12, 40, 1, signs, loss=loss)
    found, exact = (rb.solve(problem, lam, solver=name) for name in ("newton", "qp"))
    assert found.certificate.relative_gap <= 1e-6
    assert found.certificate.primal == pytest.approx(exact.certificate.primal, rel=2e-6, abs=2e-6)
    assert (problem.signs * found.weights >= 0).all()


@pytest.mark.parametrize("shape, lam", [((60, 1200), 1.0), ((60, 300), 1e-3)])
def test_it_ends_soon(shape, lam):
    problem = problem_of(*shape, 0, "mixed")
    start = perf_counter()
    solution = rb.solve(problem, lam, solver="newton")
    assert solution.certificate.relative_gap <= 1e-6
    assert solution.info["steps"] < 200 and perf_counter() - start < 30


@pytest.mark.slow
@pytest.mark.parametrize("lam", [1e-3, 1.0, 1000.0])
def test_it_ends_within_a_minute_for_200_items_with_4000_features(lam):
    start = perf_counter()
    solution = rb.solve(problem_of(200, 4000, 0, "mixed"), lam, solver="newton")
    assert solution.certificate.relative_gap <= 1e-6 and perf_counter() - start < 60
