"""Features that belong to pairs, on extended items, against the formula with an explicit theta."""

import pickle

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook.estimators.scaled import ScaledModel
from rankbook.problems.pair_features import PairItems

N, D, M = 12, 3, 50
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, D))
BETTER = RNG.integers(N, size=M)
WORSE = (BETTER + 1 + RNG.integers(N - 1, size=M)) % N
WEIGHT = RNG.uniform(0.5, 2, M)
FEATURES = {
    "side": RNG.choice([-1.0, 1.0], (M, 1)),
    "side and neutral, and a number": np.column_stack(
        [RNG.integers(-1, 2, M), RNG.integers(-2, 3, M) / 2]
    ),
    "numbers": RNG.normal(size=(M, 2)),
    "zeros": np.zeros((M, 2)),
    "ones": np.ones((M, 1)),
    "of rank 1": np.outer(RNG.normal(size=M), [1.0, 2.0]),
}


def given(u, **options):
    return rb.Preferences(BETTER, WORSE, N, pair_features=u, **options)


def root_mean_square(u, weight=None):
    return np.sqrt(np.average(u**2, axis=0, weights=weight))


def by_cvxpy(F, u, lam, pair_lam, weight, margin=1.0, penalty="l2", signs=None):
    """The weights of features F of items, theta, and the objective."""
    w, theta = cp.Variable(F.shape[1]), cp.Variable(u.shape[1])
    z = (F[BETTER] - F[WORSE]) @ w + u @ theta
    effect = cp.multiply(root_mean_square(u, weight), theta)
    size = (
        lam * cp.norm1(w) + pair_lam * cp.norm1(effect)
        if penalty == "l1"
        else (lam * cp.sum_squares(w) + pair_lam * cp.sum_squares(effect)) / 2
    )
    limits = [] if signs is None else [cp.multiply(signs, w) >= 0]
    problem = cp.Problem(cp.Minimize(size + weight @ cp.pos(margin - z)), limits)
    exact = dict(tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return problem.solve(solver="CLARABEL", **exact), w.value, theta.value


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize("solver", ["path", "qp", "interior"])
def test_linear_solutions_are_those_with_an_explicit_theta(name, solver):
    u, margin = FEATURES[name], RNG.uniform(0.5, 1.5, M)
    prefs = given(u, weight=WEIGHT, margin=margin)
    model = rb.RankSVM(lam=0.7, kernel="linear", solver=solver, pair_lam=0.4).fit(X, prefs)
    value, w, theta = by_cvxpy(X, u, 0.7, 0.4, WEIGHT, margin)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(model.coef_, w, atol=1e-6)
    if u.any():
        np.testing.assert_allclose(model.pair_coef_, theta, atol=1e-6)
    else:
        assert not model.pair_coef_.any()
    assert (
        model.predict(X) == pytest.approx(X @ model.coef_) and model.pair_coef_.shape == u[0].shape
    )


@pytest.mark.parametrize("kernel", ["rbf", "poly", "precomputed", lambda A, B: (A @ B.T + 1) ** 2])
@pytest.mark.parametrize("name", ["side", "numbers", "zeros"])
def test_kernels(kernel, name):
    u = FEATURES[name]
    model = rb.RankSVM(lam=0.7, kernel="rbf" if kernel == "precomputed" else kernel, pair_lam=0.4)
    K = model._kernel(None).gram(X)
    rows = K if kernel == "precomputed" else X
    model = model.set_params(kernel=kernel).fit(rows, given(u))
    F = np.linalg.cholesky(K + 1e-12 * np.eye(N))
    value, w, theta = by_cvxpy(F, u, 0.7, 0.4, np.ones(M))
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(model.pair_coef_, theta if u.any() else 0, atol=1e-5)
    np.testing.assert_allclose(np.ptp(model.predict(rows) - F @ w), 0, atol=1e-5)
    assert set(model.support_) <= set(range(N)) and model.certificate_.is_optimal()


def test_the_exact_path_is_optimal_everywhere():
    problem = rb.RankSVMProblem(*rb.extend_items(X, given(FEATURES["side"])), kernel="linear")
    path = rb.solve_path(problem)
    for lam in (3.0, 0.3, 0.03):
        value, w, theta = by_cvxpy(X, FEATURES["side"], lam, lam, np.ones(M))
        one = path.solution(lam)
        assert one.certificate.primal == pytest.approx(value, rel=1e-8)
        np.testing.assert_allclose(one.function.weights, np.r_[w, theta], atol=1e-5)


def test_the_l1_penalty_and_signs():
    u, signs = FEATURES["numbers"], np.array([1, -1, 0])
    for options in (dict(penalty="l1"), dict(signs=signs)):
        model = rb.RankSVM(lam=1.5, kernel="linear", pair_lam=0.6, **options).fit(X, given(u))
        value, *_, theta = by_cvxpy(X, u, 1.5, 0.6, np.ones(M), **options)
        assert model.certificate_.primal == pytest.approx(value, rel=1e-6)
        np.testing.assert_allclose(model.pair_coef_, theta, atol=1e-4)
    assert (model.coef_ * signs >= 0).all()


def test_sparse_and_single_precision_items():
    u = FEATURES["side"]
    dense = rb.RankSVM(lam=1.0, kernel="linear").fit(X, given(u))
    sparse = rb.RankSVM(lam=1.0, kernel="linear").fit(csr_array(X), given(u))
    assert abs(sparse.pair_coef_ - dense.pair_coef_) <= sparse.certificate_.radius + 1e-6
    single, _ = rb.extend_items(X.astype(np.float32), given(u))
    assert single.dtype == np.float32


def test_a_side_at_most_doubles_the_items():
    found = PairItems.of(given(FEATURES["side"]))
    assert found.prefs.n_items <= 2 * N and set(np.unique(found.features)) == {0.0, 1.0}
    assert PairItems.of(given(np.zeros(M))).prefs.n_items == np.unique([BETTER, WORSE]).size
    z = found.features[found.prefs.better] - found.features[found.prefs.worse]
    assert np.array_equal(z, FEATURES["side"])
    assert np.array_equal(found.rows[found.prefs.better], BETTER)


@pytest.mark.parametrize("kernel, penalty", [("linear", "l2"), ("linear", "l1"), ("rbf", "l2")])
def test_by_default_an_effect_is_penalised_like_a_difference_of_scores(kernel, penalty):
    u, options = FEATURES["numbers"], dict(kernel=kernel, penalty=penalty)
    prefs = given(u, weight=WEIGHT)  # the comparisons connect all items
    K, c = rb.RankSVM(kernel=kernel)._kernel(None).gram(X), np.bincount(BETTER, WEIGHT, N)
    c = (c + np.bincount(WORSE, WEIGHT, N)) / (2 * WEIGHT.sum())
    square = 2 * (c @ K.diagonal() - c @ K @ c)
    pair_lam = 0.7 / (square if penalty == "l2" else np.sqrt(square))
    alone = rb.RankSVM(**options).fit(X, given(None, weight=WEIGHT))
    for lam, factor in ((0.7, 1.0), ("scale", alone.lam_ / 0.7)):
        model = rb.RankSVM(lam, **options).fit(X, prefs)
        told = rb.RankSVM(model.lam_, pair_lam=factor * pair_lam, **options).fit(X, prefs)
        assert model.lam_ == pytest.approx(0.7 * factor, rel=1e-12)
        np.testing.assert_allclose(model.pair_coef_, told.pair_coef_, rtol=1e-6)
        np.testing.assert_allclose(model.predict(X), told.predict(X), atol=1e-6)


def test_one_pair():
    prefs = rb.Preferences([0], [1], 2, pair_features=[-1.0])
    model = rb.RankSVM(lam=1.0, kernel="linear", pair_lam=1.0).fit([[0.0], [1.0]], prefs)
    assert model.pair_coef_ == pytest.approx([-0.5]) and model.coef_ == pytest.approx([-0.5])
    assert model.score([[0.0], [1.0]], prefs) == 1.0


def test_score_counts_the_pair_features():
    u = FEATURES["numbers"]
    model = rb.RankSVM(lam=0.1, kernel="linear").fit(X, given(u, weight=WEIGHT))
    z = (X[BETTER] - X[WORSE]) @ model.coef_ + u @ model.pair_coef_
    assert model.score(X, given(u, weight=WEIGHT)) == pytest.approx(WEIGHT @ (z > 0) / WEIGHT.sum())
    neutral = (X[BETTER] - X[WORSE]) @ model.coef_ > 0
    assert model.score(X, given(None)) == pytest.approx(neutral.mean())
    with pytest.raises(ValueError, match="y has 1 pair features and the model was fitted with 2"):
        model.score(X, given(FEATURES["side"]))


NUMBERS = FEATURES["numbers"]
PATH = rb.solve_path(rb.RankSVMProblem(X, given(None), kernel="linear"))
RIDGE = rb.solve_path(rb.RankRLSProblem(X, graph=given(None), kernel="linear"))
METRICS = {
    "disagreement": lambda z, w: -(w @ ((z < 0) + (z == 0) / 2)) / w.sum(),
    "pair_accuracy": lambda z, w: w @ ((z > 0) + (z == 0) / 2) / w.sum(),
    "log_loss": lambda z, w: w @ np.logaddexp(0, -z) / w.sum(),
    "brier_score": lambda z, w: w @ (1 / (1 + np.exp(z))) ** 2 / w.sum(),
}


def differences(model, items=X, u=NUMBERS):
    coef = getattr(model, "pair_coef_", np.zeros(u.shape[1]))
    scores = model.predict(items)
    return scores[BETTER] - scores[WORSE] + u @ coef


@pytest.mark.parametrize("name", METRICS)
def test_a_scorer_measures_what_the_model_predicts(name):
    model = rb.RankSVM(loss="logistic", kernel="linear").fit(X, given(NUMBERS, weight=WEIGHT))
    sign = -1 if name in ("log_loss", "brier_score") else 1
    expected = sign * METRICS[name](differences(model), WEIGHT)
    asked = given(NUMBERS, weight=WEIGHT)
    assert rb.metrics.scorer(name)(model, X, asked) == pytest.approx(expected, rel=1e-12)
    scaled = ScaledModel(model, np.ones(D), np.full(D, 0.5))
    assert rb.metrics.scorer(name)(scaled, 2 * X + 1, asked) == pytest.approx(expected, rel=1e-12)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), rb.RankSVM(loss="logistic", kernel="linear")),
        dict(ranksvm__lam=[0.1, 10.0]),
        scoring=rb.metrics.scorer(name),
        cv=2,
    ).fit(X, asked)
    best = search.best_estimator_
    expected = sign * METRICS[name](differences(best[-1], best[0].transform(X)), WEIGHT)
    assert search.score(X, asked) == pytest.approx(expected, rel=1e-12)
    neutral = rb.RankSVM(loss="logistic", kernel="linear").fit(X, given(None))
    expected = sign * METRICS[name](differences(neutral), WEIGHT)
    assert rb.metrics.scorer(name)(neutral, X, asked) == pytest.approx(expected, rel=1e-12)


def test_the_log_loss_of_a_scorer_is_that_of_predicted_probabilities():
    prefs = given(NUMBERS)
    model = rb.RankSVM(kernel="linear").fit(X, prefs).calibrate(X, prefs, method="isotonic")
    p = model.predict_pair_proba(X[BETTER], X[WORSE], NUMBERS)
    assert np.array_equal(model.link_.probability(differences(model)), p)
    expected = rb.metrics.log_loss(prefs, p, link=None)
    assert -rb.metrics.scorer("log_loss")(model, X, prefs) == pytest.approx(expected, rel=1e-12)
    found = cross_val_score(
        rb.RankSVM(loss="logistic", kernel="linear"),
        X,
        prefs,
        cv=[(np.arange(N), np.arange(N))],
        scoring=rb.metrics.scorer("log_loss"),
    )
    model = rb.RankSVM(loss="logistic", kernel="linear").fit(X, prefs)
    p = model.predict_pair_proba(X[BETTER], X[WORSE], NUMBERS)
    assert -found[0] == pytest.approx(-np.log(p).mean(), rel=1e-12)


@pytest.mark.parametrize(
    "measure",
    [
        rb.disagreement,
        rb.metrics.pair_accuracy,
        rb.metrics.log_loss,
        rb.metrics.brier_score,
        rb.metrics.reliability,
        rb.metrics.auc,
        rb.metrics.ndcg,
        rb.calibrate,
        lambda prefs, f: rb.metrics.compare(prefs, f, f, np.zeros(N)),
        lambda prefs, f: rb.metrics.scorer("disagreement")(DummyRegressor().fit(X, f), X, prefs),
        lambda prefs, f: rb.validation_curve(PATH, X, prefs),
        lambda prefs, f: rb.validation_curve(RIDGE, X, prefs),
    ],
)
def test_scores_alone_do_not_measure_preferences_with_pair_features(measure):
    with pytest.raises(ValueError, match="has pair_features|y_true holds pairs|the full graph"):
        measure(given(NUMBERS), np.arange(float(N)))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_suggestions_and_proofs_are_of_items_and_not_of_an_inner_table(kernel):
    prefs = rb.Preferences([0, 1, 2], [1, 2, 0], 3, pair_features=[1.0, 1.0, 1.0])
    solution = rb.RankSVM(kernel=kernel, loss="logistic", lam=1.0).fit(np.eye(3), prefs).solution_
    for given in (dict(), dict(exclude=[[0, 1]]), dict(qid=[1, 1, 1])):
        with pytest.raises(ValueError, match="pair features.*Pass X_new"):
            rb.suggest_pairs(solution, 3, **given)
    with pytest.raises(ValueError, match="pair features"):
        solution.proven([0], [1])
    items = np.hstack([np.eye(3), np.zeros((3, 1))])
    assert rb.suggest_pairs(solution, 3, X_new=items).max() == 2
    assert len(rb.suggest_pairs(solution, 3, X_new=items, exclude=[[0, 1], [1, 2]])) == 1
    assert rb.suggest_pairs(solution, 3, [0, 1, 1], items).tolist() in ([[1, 2]], [[2, 1]])


def test_preferences_keep_their_features():
    u = FEATURES["numbers"]
    prefs, rows = given(u, weight=WEIGHT), [3, 0, 7, 7, 5, 2, 9]
    part = prefs[rows]
    pairs = {(b, w, *v) for b, w, v in zip(BETTER, WORSE, u.tolist())}
    kept = zip(part.better, part.worse, part.pair_features.tolist())
    assert {(rows[b], rows[w], *v) for b, w, v in kept} <= pairs and len(part)
    without = prefs.item_weighted(np.arange(N) % 2)
    assert np.array_equal(without.pair_features, u[(BETTER % 2) * (WORSE % 2) > 0])
    assert np.array_equal(without.item_weighted(np.ones(N)).pair_features, u)
    assert np.array_equal(prefs.reweighted().pair_features, u)
    assert np.array_equal(pickle.loads(pickle.dumps(prefs)).pair_features, u)
    assert "pair features=2" in repr(prefs) and prefs.pair_features.flags.writeable is False
    twice = rb.Preferences([0, 0, 0], [1, 1, 1], 2, pair_features=[1.0, -1.0, 1.0]).merged()
    assert twice.weight.tolist() == [1, 2] and twice.pair_features.ravel().tolist() == [-1, 1]


def test_cross_validation_carries_the_features():
    prefs = given(FEATURES["side"])
    scores = cross_val_score(rb.RankSVM(lam=1.0, kernel="linear"), X, prefs, cv=2)
    for score, test in zip(scores, (np.arange(6), np.arange(6, 12))):
        train = np.setdiff1d(np.arange(N), test)
        model = rb.RankSVM(lam=1.0, kernel="linear").fit(X[train], prefs[train])
        assert score == model.score(X[test], prefs[test])


@pytest.mark.parametrize("fold_by", ["pair", "item"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_folds_judge_with_the_features(kernel, fold_by):
    prefs, parts = given(FEATURES["numbers"]), np.arange(M if fold_by == "pair" else N) % 2
    rows = rb.RankSVM()._kernel(None).gram(X) if kernel == "precomputed" else X
    cv = [(np.flatnonzero(parts == 0), np.flatnonzero(parts == 1))]
    model = rb.RankSVMCV(kernel=kernel, cv=cv, fold_by=fold_by).fit(rows, prefs)
    if fold_by == "item":
        train, test = (prefs[part] for part in cv[0])
        known = rows[np.ix_(cv[0][0], cv[0][0])] if kernel == "precomputed" else rows[cv[0][0]]
        asked = rows[np.ix_(cv[0][1], cv[0][0])] if kernel == "precomputed" else rows[cv[0][1]]
    else:
        train, test = (
            rb.Preferences(BETTER[at], WORSE[at], N, pair_features=FEATURES["numbers"][at])
            for at in cv[0]
        )
        known = asked = rows
    share = len(train) / len(prefs)
    one = rb.RankSVM(lam=model.lam_ * share, kernel=kernel, gamma=model.gamma_).fit(known, train)
    assert model.curve_.minimum == pytest.approx(1 - one.score(asked, test))
    assert model.pair_coef_.shape == (2,)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_models_keep_their_pair_coef(kernel, tmp_path):
    model = rb.RankSVM(lam=1.0, kernel=kernel).fit(X, given(FEATURES["side"]))
    model.save(tmp_path / "model.rankbook")
    for other in (rb.load(tmp_path / "model.rankbook"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.pair_coef_, model.pair_coef_)
        assert np.array_equal(other.pair_scale_, root_mean_square(FEATURES["side"]))
        assert np.array_equal(other.predict(X), model.predict(X))
    plain = model.fit(X, given(None))
    assert not hasattr(plain, "pair_coef_") and not hasattr(clone(model), "pair_coef_")


def test_a_data_frame_names_its_items_and_columns():
    table = pd.DataFrame(X, index=[f"team {i}" for i in range(N)], columns=["a", "b", "c"])
    games = pd.DataFrame({"winner": table.index[BETTER], "loser": table.index[WORSE]})
    games["home"] = FEATURES["side"][:, 0]
    prefs = rb.Preferences.from_pairs(games, items=table.index, pair_features="home")
    model = rb.RankSVM(lam=1.0, kernel="linear", signs={"a": 1}).fit(table, preferences=prefs)
    assert model.pair_coef_.shape == (1,) and list(model.feature_names_in_) == ["a", "b", "c"]


def test_columns_of_a_file(tmp_path):
    (tmp_path / "votes.csv").write_text("winner,loser,left,longer\na,b,1,3.5\nb,c,-1,-2\n")
    prefs = rb.read_preferences(tmp_path / "votes.csv", pair_features=["left", "longer"])
    assert prefs.pair_features.tolist() == [[1, 3.5], [-1, -2]]
    with pytest.raises(ValueError, match="no column 'right'"):
        rb.read_preferences(tmp_path / "votes.csv", pair_features=["left", "right"])


def test_sides_of_matches_and_ties():
    games = dict(home=["a", "b", "c"], away=["b", "c", "a"], result=["H", "A", "D"], gap=[2, 3, 5])
    read = dict(ties="half", home_advantage=True, pair_features="gap")
    prefs = rb.Preferences.from_matches(games, **read)
    assert prefs.pair_features.tolist() == [[1, 2], [-1, -3], [1, 5], [-1, -5]]
    assert prefs.weight.tolist() == [1, 1, 0.5, 0.5] and prefs.n_ties == 1
    assert [prefs.items[i] for i in prefs.better] == ["a", "c", "c", "a"]
    dropped = rb.Preferences.from_matches(games, **read | dict(ties="drop"))
    assert dropped.pair_features.tolist() == [[1, 2], [-1, -3]]
    tied = rb.Preferences.from_pairs(
        dict(winner=["a"], loser=["b"], tie=[1], u=[1.0]), tie="tie", ties="half", pair_features="u"
    )
    assert tied.pair_features.tolist() == [[1], [-1]]


def test_points_of_chess_are_no_goals():
    games = dict(home=["a", "b"], away=["b", "a"], result=[0.5, 1.0], other=[0.5, 0.0])
    with pytest.raises(ValueError, match="result contains only the winner"):
        rb.Preferences.from_matches(games, ties="half", margin="difference")
    known = rb.Preferences.from_matches(games, ties="half")
    prefs = rb.Preferences.from_matches(games, result=("result", "other"), ties="half")
    assert known.better.tolist() == prefs.better.tolist()
    assert prefs.better.tolist() == [0, 1, 1] and prefs.weight.tolist() == [0.5, 0.5, 1.0]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda p: rb.RankRLS().fit(X, p), "preferences has pair_features"),
        (lambda p: rb.RankRLSCV().fit(X, p), "preferences has pair_features"),
        (lambda p: rb.OnlineRankSVM().fit(X, p), "preferences has pair_features"),
        (lambda p: rb.RankSVMProblem(X, p), "prefs has pair_features"),
        (lambda p: rb.RankRLSProblem(X, graph=p), "graph has pair_features"),
        (
            lambda p: rb.RankSVM(approximate_kernel=5).fit(X, p),
            "preferences has pair_features",
        ),
        (lambda p: rb.extend_items(X, p.without_pair_features()), "without pair_features"),
        (lambda p: rb.extend_items(X[:3], p), "X has 3 rows and prefs has 12 items"),
        (lambda p: given(np.ones(3)), "pair_features has length 3"),
        (lambda p: given(np.full(M, np.nan)), "pair_features"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call(given(FEATURES["side"]))


def test_other_estimators_take_extended_items():
    u = FEATURES["side"]
    items, extended = rb.extend_items(X, given(u))
    model = rb.RankRLS(lam=1.0, kernel="linear").fit(items, extended)
    A = np.hstack([X[BETTER] - X[WORSE], u])
    w = np.linalg.solve(A.T @ A + np.eye(4), A.T @ np.ones(M))
    np.testing.assert_allclose(model.coef_, w, atol=1e-10)


@pytest.mark.filterwarnings("ignore:the solver")
@pytest.mark.parametrize("name", FEATURES)
def test_the_logistic_loss_is_that_of_scikit_learn_on_differences(name):
    u = FEATURES[name]
    precise = dict(loss="logistic", solver=("newton", dict(tol=1e-18)))
    model = rb.RankSVM(0.7, "linear", pair_lam=0.7, **precise).fit(X, given(u, weight=WEIGHT))
    w = by_scikit_learn(np.hstack([X[BETTER] - X[WORSE], u / model.pair_scale_]), WEIGHT, 0.7)
    effects = model.pair_coef_ * model.pair_scale_
    np.testing.assert_allclose(np.r_[model.coef_, effects], w, atol=1e-8)


@pytest.mark.filterwarnings("ignore:the solver")
def test_a_tie_is_half_a_win_each_way_for_the_logistic_loss():
    won = np.random.default_rng(1).choice(["H", "D", "A"], M)
    games = dict(home=BETTER, away=WORSE, result=won)
    read = dict(ties="half", home_advantage=True, items=range(N))
    precise = dict(loss="logistic", solver=("newton", dict(tol=1e-18)))
    model = rb.RankSVM(0.7, "linear", pair_lam=0.7, **precise)
    model.fit(X, rb.Preferences.from_matches(games, **read))
    share = np.select([won == "H", won == "A"], [1.0, 0.0], 0.5)
    A = np.column_stack([X[BETTER] - X[WORSE], np.ones(M)])
    w = by_scikit_learn(np.r_[A, -A], np.r_[share, 1 - share], 0.7)
    np.testing.assert_allclose(np.r_[model.coef_, model.pair_coef_], w, atol=1e-8)


def test_probabilities_count_the_features():
    u = FEATURES["numbers"]
    model = rb.RankSVM(0.7, loss="logistic").fit(X, given(u))
    z = model.predict(X[BETTER]) - model.predict(X[WORSE]) + u @ model.pair_coef_
    found = model.predict_pair_proba(X[BETTER], X[WORSE], pair_features=u)
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-z)), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:the solver")
def test_davidsons_model_is_a_choice_among_three():
    outcome, lam = np.random.default_rng(1).integers(3, size=M), 0.7
    one, zero = np.ones((M, 1)), np.zeros((M, 1))
    wins = [np.hstack([X[BETTER], one, zero]), np.hstack([X[WORSE], zero, zero])]
    V = np.stack([*wins, np.hstack([(X[BETTER] + X[WORSE]) / 2, one / 2, one])], axis=1)
    places = 3 * np.arange(M)[:, None] + (np.arange(3) + outcome[:, None]) % 3
    orders = rb.Orders.from_rankings(places, n_items=3 * M, top=1)
    precise = dict(loss="plackett-luce", solver=("newton", dict(tol=1e-18)))
    model = rb.RankSVM(lam, "linear", **precise).fit(V.reshape(3 * M, -1), orders)

    def davidson(w):
        """The penalised likelihood by its formula, with strengths, home advantage and nu."""
        k, l = (
            np.exp(rows @ w[:D] + side * w[D]) for rows, side in ((X[BETTER], 1), (X[WORSE], 0))
        )
        shares = np.column_stack([k, l, np.exp(w[D + 1]) * np.sqrt(k * l)])
        p = shares / shares.sum(axis=1, keepdims=True)
        residual = p - np.eye(3)[outcome]
        value = lam / 2 * w @ w - np.log(p[np.arange(M), outcome]).sum()
        H = np.einsum("ikd,ik,ike->de", V, p, V) - np.einsum(
            "id,ie->de", *[np.einsum("ikd,ik->id", V, p)] * 2
        )
        return value, lam * w + np.einsum("ikd,ik->d", V, residual), H + lam * np.eye(D + 2)

    best = minimize(
        lambda w: davidson(w)[0],
        np.zeros(D + 2),
        jac=lambda w: davidson(w)[1],
        hess=lambda w: davidson(w)[2],
        method="trust-exact",
        options=dict(gtol=1e-12),
    )
    np.testing.assert_allclose(model.coef_, best.x, atol=1e-8)


@pytest.mark.parametrize("options", [dict(loss="logistic"), dict(method="bootstrap")])
def test_intervals_of_an_order_are_those_on_neutral_ground(options):
    games = dict(home=BETTER, away=WORSE, result=np.random.default_rng(1).choice(["H", "D"], M))
    prefs = rb.Preferences.from_matches(games, ties="half", home_advantage=True, items=range(N))
    method = {k: options.pop(k) for k in ("method",) if k in options} | dict(n_resamples=100)
    model = rb.RankSVM(0.7, "linear", pair_lam=0.7, **options).fit(X, prefs)
    found = rb.order_intervals(model, X, **method)
    items, extended = rb.extend_items(X, prefs)
    known = rb.RankSVM(0.7, "linear", **options).fit(items, extended)
    same = rb.order_intervals(known, np.hstack([X, np.zeros((N, 1))]), **method)
    for name in ("score", "low", "high", "rank_low", "decided"):
        np.testing.assert_allclose(getattr(found, name), getattr(same, name), atol=1e-6)
    named = pd.DataFrame(X, index=[f"team {i}" for i in range(N)])
    assert rb.order_intervals(model, named, **method).names[0] == "team 0"
    x = rb.RankSVM(0.7, **options).fit(X, prefs)
    assert np.allclose(rb.order_intervals(x, X, **method).score, x.predict(X) - x.predict(X).mean())


def by_scikit_learn(A, weight, lam):
    """The weights of a logistic regression without intercept on differences A (m, d)."""
    model = LogisticRegression(
        C=1 / lam, fit_intercept=False, solver="newton-cholesky", tol=1e-12, max_iter=1000
    )
    kept = np.r_[weight, weight] > 0
    Z, sign = np.r_[A, -A], np.repeat([1, 0], len(A))
    return model.fit(Z[kept], sign[kept], np.r_[weight, weight][kept] / 2).coef_[0]
