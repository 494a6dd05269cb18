"""The share of wrong labels along the path of a support vector machine, label by label."""

import numpy as np
import pytest

import rankbook as rb
from rankbook.problems.label_ranking import LabelRankRLSProblem
from rankbook.problems.svm import MulticlassSVMProblem


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("kind", [rb.SVMProblem, MulticlassSVMProblem])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("grid", [False, True])
def test_it_is_what_classify_says(kind, k, kernel, grid):
    if kind is rb.SVMProblem and k == 3:
        pytest.skip("takes two classes")
    rng = np.random.default_rng(k)
    X, X_val = rng.normal(size=(2, 24, 2))
    if grid:
        X, X_val = np.round(X), np.round(X_val)
    y, y_val = rng.integers(0, k, (2, 24))
    y[:k] = np.arange(k)
    problem = kind(X, y, kernel=kernel)
    path = rb.solve_path(problem)
    curve = rb.validation_curve(path, X_val, y_val, metric="error")
    low = max(path.domain[0], 1e-6)
    for lam in np.geomspace(low, 3 * (problem.lam_max or 1.0), 120)[1:]:
        wrong = np.mean(problem.classify(path.coef(lam), X_val) != y_val)
        near = np.abs(curve.breaks[1:-1] / lam - 1).min(initial=1.0) < 1e-6
        assert near or curve.at(lam) == pytest.approx(wrong)


def test_symmetric_data_tie_whatever_the_last_bit_is():
    """Classes 0 and 1 mirror each other, and the first of them is the label of every tie."""
    X = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [-1, -1], [-1, -1]], dtype=float)
    grid = np.array([(a, b) for a in range(-2, 3) for b in range(-2, 3)], dtype=float)
    problem, labels = MulticlassSVMProblem(X, [0, 1, 2, 2, 0, 1]), np.arange(25) % 3
    path = rb.solve_path(problem)
    curve = rb.validation_curve(path, grid, labels, metric="error")
    for lam in (0.03, 0.3, 1.7, 3.0, 7.0):
        coef = path.coef(lam)
        found = problem.classify(coef, grid)
        assert 1 not in found and curve.at(lam) == np.mean(found != labels)
        assert (found == [problem.classify(coef, x[None])[0] for x in grid]).all()
        swapped = problem.classify(coef[:, [1, 0, 2]], grid)
        assert (swapped == found).all()


@pytest.mark.parametrize(
    ("kind", "labels"), [(rb.SVMProblem, [0, 1, 0, 1]), (MulticlassSVMProblem, [0, 1, 2, 1])]
)
def test_ties_count_as_they_are_classified(kind, labels):
    X = np.array([[0.0], [1.0], [-1.0], [2.0]])
    problem = kind(X, labels)
    path = rb.solve_path(problem)
    curve = rb.validation_curve(path, X, labels, metric="error")
    assert curve.at(0.5) == np.mean(problem.classify(path.coef(0.5), X) != labels)


def test_what_a_path_of_labels_does_not_take():
    X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    path = rb.solve_path(rb.SVMProblem(X, y))
    with pytest.raises(ValueError, match="k is 3. Omit k for error"):
        rb.validation_curve(path, X, y, metric="error", k=3)
    with pytest.raises(ValueError, match="metric is 'disagreement'"):
        rb.validation_curve(path, X, y)
    with pytest.raises(TypeError, match="prefs_val is a Preferences"):
        rb.validation_curve(path, X, rb.Preferences.from_scores(y), metric="error")


def test_paths_whose_solver_is_chosen():
    X = np.random.default_rng(0).normal(size=(6, 2))
    prefs = rb.Preferences.from_scores([0, 1, 2, 0, 1, 2])
    squared = rb.RankSVMProblem(X, prefs, kernel="linear", loss="squared")
    stored = rb.RankSVMProblem(X.astype(np.float32), prefs, kernel="linear")
    for problem in (squared, stored):
        assert rb.solve_path(problem).solver.startswith("newton")
    some = LabelRankRLSProblem(X[:3], np.array([[0, 1, 2.0], [2, 1, np.nan], [0, 2, 1]]))
    assert rb.solve_path(some).solver.startswith("rls")


def test_nothing_to_measure_is_refused():
    X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    path = rb.solve_path(rb.SVMProblem(X, y))
    with pytest.raises(ValueError, match="X_val has 0 rows. Pass at least one example"):
        rb.validation_curve(path, X[:0], y[:0], metric="error")
    with pytest.raises(TypeError, match=r"prefs_val is None. Pass labels of shape \(2,\)"):
        rb.validation_curve(path, X, None, metric="error")
    ranking = rb.solve_path(rb.RankSVMProblem(X, rb.Preferences.from_scores(y)))
    for metric in ("auc", "ndcg", "error"):
        with pytest.raises(ValueError, match="X_val has 0 rows. Pass at least one item"):
            rb.validation_curve(ranking, X[:0], y[:0], metric=metric)
