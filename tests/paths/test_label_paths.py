"""Paths of support vector machines, by their ranking: against qp and by hand."""

import pickle

import numpy as np
import pytest

import rankbook as rb
from rankbook.problems.svm import MulticlassSVMProblem, SVMProblem


def examples(name):
    """Features (n, d) and a number for each example that makes classes."""
    rng = np.random.default_rng(len(name))
    X = rng.normal(size=(30, 3))
    if name == "integer grid":
        X = rng.integers(0, 3, (30, 3)).astype(float)
    if name == "every example twice":
        X = np.r_[X[:15], X[:15]]
    if name == "rank one":
        X = np.outer(X[:, 0], [1.0, 2, -1])
    if name == "separable":
        return X, X[:, 0] - X[:, 1]
    if name == "far from the origin":
        X = X + 100
    return X, X[:, 0] - X[:, 1] + rng.normal(size=30)


CASES = [
    "plain",
    "integer grid",
    "every example twice",
    "rank one",
    "separable",
    "far from the origin",
]


def problem_of(name, k, kernel, **options):
    X, score = examples(name)
    y = np.digitize(score, np.quantile(score, np.arange(1, k) / k))
    kind = SVMProblem if k == 2 else MulticlassSVMProblem
    return kind(X, y, kernel=kernel, **options)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", CASES)
def test_the_path_is_optimal_and_agrees_with_qp(name, k, kernel):
    problem = problem_of(name, k, kernel)
    path = rb.solve_path(problem)
    assert path.breakpoints[0] == pytest.approx(problem.lam_max, rel=1e-6)
    for lam in (2 * problem.lam_max, 0.3 * problem.lam_max, 1e-3 * problem.lam_max):
        answer, reference = path.solution(lam), rb.solve(problem, lam, solver="qp")
        assert answer.coef.shape == problem.coef_shape and answer.dual.shape == problem.dual_shape
        assert answer.certificate.relative_gap < 1e-8
        top = max(1.0, reference.certificate.primal)
        assert answer.certificate.primal < reference.certificate.primal + 1e-8 * top
        assert answer.certificate.primal > reference.certificate.dual - 1e-8 * top


def test_weights_and_margins_are_those_of_the_examples():
    rng = np.random.default_rng(1)
    options = dict(weight=rng.integers(0, 3, 30).astype(float), margin=rng.uniform(0.5, 2, 30))
    for k in (2, 3):
        problem = problem_of("plain", k, "rbf", **options)
        answer, lam = rb.solve_path(problem).solution(1.0), 1.0
        reference = rb.solve(problem, lam, solver="qp")
        assert answer.certificate.relative_gap < 1e-8
        assert answer.certificate.primal == pytest.approx(reference.certificate.primal, rel=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("k", [2, 3])
def test_one_lambda_by_the_solver_path(k, kernel):
    problem = problem_of("plain", k, kernel)
    answer = rb.solve(problem, 0.5, solver="path")
    assert answer.certificate.relative_gap < 1e-9 and answer.solver.startswith("path")


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("k", [2, 3])
def test_scores_at_breakpoints_are_those_of_the_solutions(k, kernel):
    problem = problem_of("plain", k, kernel)
    path, new = rb.solve_path(problem), np.random.default_rng(5).normal(size=(7, 3))
    for lams, rows in path.breakpoint_scores(new):
        for lam, row in zip(lams[::9], rows[::9]):
            if path.domain[0] < lam:
                scores = lam * path.predict(new, lam)
                scores = np.append(scores, 0) if k == 2 else scores.ravel()
                assert row - row[-1] == pytest.approx(scores - scores[-1], abs=1e-6 * lam)


def test_a_path_survives_pickling():
    path = rb.solve_path(problem_of("plain", 3, "linear"))
    again = pickle.loads(pickle.dumps(path))
    assert np.array_equal(again.coef(0.5), path.coef(0.5))


def test_a_hard_margin_ends_the_path_of_separable_classes():
    problem = problem_of("separable", 2, "linear")
    path = rb.solve_path(problem)
    assert path.status == "complete"
    hard = path.solution(0.0)
    margins = problem.prefs.matvec(hard.predict(problem.X))
    assert margins.min() == pytest.approx(1.0, rel=1e-6)
    assert hard.certificate.relative_gap < 1e-6


@pytest.mark.parametrize(
    "options", [dict(metric="auc"), dict(metric="ndcg", k=3), dict(qid=np.zeros(30))]
)
def test_a_curve_of_labels_counts_wrong_labels_only(options):
    path = rb.solve_path(problem_of("plain", 3, "linear"))
    X, score = examples("plain")
    with pytest.raises(ValueError, match="Pass 'error' without qid"):
        rb.validation_curve(path, X, score > 0, **(dict(metric="error") | options))
