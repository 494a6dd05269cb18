"""Validation curves of paths without breakpoints, against one solution after the other."""

import numpy as np
import pytest

import rankbook as rb

RNG = np.random.default_rng(0)
N, P = 50, 60
X, X_VAL = RNG.normal(size=(N, 3)), RNG.normal(size=(P, 3))
Y, Y_VAL = X[:, 0] + RNG.normal(size=N), np.round(X_VAL[:, 0] + RNG.normal(size=P))
QID, QID_VAL = np.arange(N) % 5, np.arange(P) % 6


def problems():
    grid = np.round(X)
    return {
        "items": rb.RankRLSProblem(X, Y, kernel="rbf"),
        "queries": rb.RankRLSProblem(X, Y, qid=QID, kernel="rbf"),
        "weights of a linear function": rb.RankRLSProblem(X, Y, qid=QID, kernel="linear"),
        "a basis": rb.RankRLSProblem(X, Y, kernel="rbf", basis=np.arange(0, N, 5)),
        "integer grid": rb.RankRLSProblem(grid, np.round(Y), kernel="rbf"),
        "every item twice": rb.RankRLSProblem(
            np.r_[X[:25], X[:25]], np.r_[Y[:25], Y[:25] + 1], kernel="rbf"
        ),
        "Rayleigh": rb.RayleighProblem(
            X, np.where(np.arange(N) < 30, (Y > 0).astype(float), np.nan)
        ),
    }


PROBLEMS = problems()


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_curve_is_that_of_its_solutions(name):
    path = rb.solve_path(PROBLEMS[name])
    prefs = rb.Preferences.from_scores(Y_VAL, QID_VAL)
    curve = rb.validation_curve(path, X_VAL, prefs)
    assert not curve.exact and "approximate" in repr(curve)
    lams = np.geomspace(max(curve.scale[0], 1e-9), curve.scale[1], 200)
    one_by_one = [rb.disagreement(prefs, path.predict(X_VAL, lam)) for lam in lams]
    assert np.isclose(curve.at(lams), one_by_one).all()
    lam = curve.choose()
    assert rb.disagreement(prefs, path.predict(X_VAL, lam)) == pytest.approx(curve.minimum)


@pytest.mark.parametrize("name", PROBLEMS)
def test_scores_are_sums_of_components(name):
    path, lams = rb.solve_path(PROBLEMS[name]), np.array([0.1, 3.0])
    scores = path.shares(lams) @ path.components(X_VAL).T
    assert np.allclose(scores, [path.predict(X_VAL, lam) for lam in lams], atol=1e-8)


@pytest.mark.parametrize("metric", ["auc", "ndcg"])
def test_other_metrics(metric):
    path = rb.solve_path(PROBLEMS["queries"])
    grades = np.clip(Y_VAL, 0, 1 if metric == "auc" else 3)
    grades = (grades > 0).astype(float) if metric == "auc" else grades
    k = dict(k=4) if metric == "ndcg" else {}
    curve = rb.validation_curve(path, X_VAL, grades, qid=QID_VAL, metric=metric, **k)
    measure = getattr(rb.metrics, metric)
    lams = np.geomspace(1e-3, 1e4, 200)
    found = [measure(grades, path.predict(X_VAL, lam), QID_VAL, **k) for lam in lams]
    assert curve.maximize and np.isclose(curve.at(lams), found).all()


def test_the_weight_of_unlabelled_items():
    from rankbook.paths.spectral import ManifoldPath

    path = ManifoldPath(PROBLEMS["Rayleigh"], 1.0)
    curve = rb.validation_curve(path, X_VAL, rb.Preferences.from_scores(Y_VAL))
    weights = np.geomspace(*curve.scale, 100)
    one_by_one = [rb.disagreement(Y_VAL, f) for f in path.predictions(X_VAL, weights)]
    assert np.isclose(curve.at(weights), one_by_one).all()


def test_several_columns_are_refused():
    path = rb.solve_path(rb.RankRLSProblem(X, np.c_[Y, Y]))
    with pytest.raises(ValueError, match="path has 2 columns of scores. Pass a path with one"):
        rb.validation_curve(path, X_VAL, rb.Preferences.from_scores(Y_VAL))


def test_a_problem_where_nothing_can_be_learnt():
    path = rb.solve_path(rb.RankRLSProblem(np.ones((4, 1)), [0.0, 1, 2, 3], kernel="linear"))
    curve = rb.validation_curve(path, X_VAL[:, :1], rb.Preferences.from_scores(Y_VAL))
    assert curve.values.size >= 1 and np.isfinite(curve.values).all()


def test_where_f_is_0_all_items_tie():
    problem = rb.RankRLSProblem(
        [[0.0], [1.0], [0.0]], [1.0, 2.0, 2.0], [0, 0, 0], item_weight=[1.0, 0.0, 1.0]
    )
    new = np.array([[0.3], [-0.5], [1.3], [2.0]])
    curve = rb.validation_curve(rb.solve_path(problem), new, rb.Preferences.from_scores(range(4)))
    assert curve.values.tolist() == [0.5]
