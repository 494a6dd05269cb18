"""Preferences as the target y: scikit-learn's tools split them with the items.

Against loops by hand over the same folds, in which every preference is looked at.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor, StackingRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook.metrics import scorer
from rankbook.metrics.queries import RULES

N = 60
LAMS = [0.1, 1e4]
FOLDS = KFold(3, shuffle=True, random_state=0)
MODELS = [
    rb.RankSVM(0.5, "linear"),
    rb.RankSVM(0.5, approximate_kernel=10),
    rb.RankSVMCV("linear", cv=3, lam_min_ratio=1e-2),
    rb.RankRLS(0.5),
    rb.RankRLS(0.5, basis=12),
    rb.RankRLSCV(LAMS, "linear", cv=3),
    rb.OnlineRankSVM(0.1, tol=0.1),
]


def data():
    """Items, pairs (better, worse) of them, and grades with queries that differ as a whole."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 3)) * [1, 5, 1] + [0, 50, 0]
    f = X @ [1.0, 0.4, -0.5]
    ends = np.array([rng.choice(N, 2, replace=False) for _ in range(500)])
    pairs = np.where((f[ends[:, :1]] > f[ends[:, 1:]]), ends, ends[:, ::-1])
    qid = rng.permutation(np.arange(N) % 6)
    y = np.round(f - f.min() + 30 * rng.permutation(6)[qid])
    return X, pairs, y, qid


X, PAIRS, Y, QID = data()
TARGETS = dict(
    pairs=rb.Preferences(*PAIRS.T, N, weight=1.0 + np.arange(500) % 3),
    grades=rb.Preferences.from_scores(Y, QID),
)


def pipeline(lam=0.1):
    return make_pipeline(StandardScaler(), rb.RankSVM(lam, "linear"))


def right(kind, scores, rows):
    """The weighted share of preferences between some rows that their scores agree with."""
    if kind == "pairs":
        place = {row: i for i, row in enumerate(rows.tolist())}
        found = [
            (w, scores[place[k]] > scores[place[l]])
            for (k, l), w in zip(PAIRS.tolist(), TARGETS[kind].weight)
            if k in place and l in place
        ]
    else:
        found = [
            (1.0, scores[i] > scores[j])
            for i, a in enumerate(rows)
            for j, b in enumerate(rows)
            if Y[a] > Y[b] and QID[a] == QID[b]
        ]
    weights, met = np.array(found, dtype=float).T
    return np.average(met, weights=weights)


def fitted(kind, rows, lam=0.1):
    """A pipeline fitted to some rows, and what it was told put together by hand."""
    if kind == "grades":
        return pipeline(lam).fit(X[rows], Y[rows], ranksvm__qid=QID[rows])
    place = {row: i for i, row in enumerate(rows.tolist())}
    kept = [i for i, (k, l) in enumerate(PAIRS.tolist()) if k in place and l in place]
    ends = [[place[row] for row in PAIRS[kept, j].tolist()] for j in (0, 1)]
    prefs = rb.Preferences(*ends, len(rows), weight=TARGETS[kind].weight[kept])
    return pipeline(lam).fit(X[rows], ranksvm__preferences=prefs)


@pytest.fixture(params=[False, True], ids=["plain", "routing"])
def routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


@pytest.mark.parametrize("kind", TARGETS)
def test_scikit_learn_splits_the_target_with_the_items(kind, routing):
    target, options = TARGETS[kind], dict(cv=FOLDS, error_score="raise")
    with sklearn.config_context(enable_metadata_routing=False):
        models = [[fitted(kind, train, lam) for lam in LAMS] for train, _ in FOLDS.split(X)]
        tests = [test for _, test in FOLDS.split(X)]
        table = np.array(
            [
                [right(kind, model.predict(X[test]), test) for model in both]
                for both, test in zip(models, tests)
            ]
        )
    assert np.allclose(cross_val_score(pipeline(), X, target, **options), table[:, 0], atol=1e-9)
    found = cross_validate(pipeline(), X, target, scoring=scorer("disagreement"), **options)
    assert np.allclose(1 + found["test_score"], table[:, 0], atol=1e-9)
    grid = GridSearchCV(pipeline(), dict(ranksvm__lam=LAMS), **options).fit(X, target)
    assert np.allclose(grid.cv_results_["mean_test_score"], table.mean(axis=0), atol=1e-9)
    assert grid.score(X, target) == pytest.approx(right(kind, grid.predict(X), np.arange(N)))
    scores = cross_val_predict(pipeline(), X, target, cv=FOLDS)
    for (model, _), test in zip(models, tests):
        assert np.allclose(scores[test], model.predict(X[test]), atol=1e-6)
    _, _, curve = learning_curve(pipeline(), X, target, train_sizes=[1.0], **options)
    assert np.allclose(curve[0], table[:, 0], atol=1e-9)
    (train, test), *_ = FOLDS.split(X)
    drop = permutation_importance(models[0][0], X[test], target[test], n_repeats=3, random_state=0)
    assert drop.importances_mean[1] > 0.3 and np.isfinite(drop.importances).all()
    model = pipeline().fit(*train_test_split(X, target, random_state=0)[::2])
    _, held, _, judged = train_test_split(X, target, random_state=0)
    chosen = train_test_split(np.arange(N), random_state=0)[1]
    assert model.score(held, judged) == pytest.approx(right(kind, model.predict(held), chosen))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_table_of_other_pairs_is_sent_to_preferences(model):
    names = [f"item {i}" for i in range(N)]
    items = pd.DataFrame(X, index=names)
    pairs = pd.DataFrame(dict(better=names[:20], worse=names[20:40]))
    with pytest.raises(ValueError, match="^y has the columns 'better', 'worse'.*preferences="):
        clone(model).fit(items, pairs)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_every_ranker_learns_the_same_from_a_target(model):
    pairs, weight = TARGETS["pairs"], 1.0 + np.arange(N) % 2
    expected = clone(model).fit(X, preferences=pairs)
    assert np.array_equal(clone(model).fit(X, pairs).predict(X), expected.predict(X))
    assert not expected.by_query_
    weights = [None] if isinstance(model, rb.RankRLSCV) else [None, weight]
    for w in weights:
        options = dict(qid=QID) if w is None else dict(qid=QID, sample_weight=w)
        target = TARGETS["grades"] if w is None else TARGETS["grades"].item_weighted(w)
        a, b = clone(model).fit(X, Y, **options), clone(model).fit(X, target)
        assert np.array_equal(a.predict(X), b.predict(X)) and a.by_query_ and b.by_query_
        assert a.score(X, Y, QID, w) == pytest.approx(b.score(X, target), abs=1e-12)
        again = pickle.loads(pickle.dumps(b))
        assert again.by_query_ and not hasattr(clone(b), "by_query_")
        assert not b.fit(X, Y).by_query_
    for beside in (dict(qid=QID), dict(preferences=pairs)):
        with pytest.raises(ValueError, match="y is a Preferences"):
            clone(model).fit(X, TARGETS["grades"], **beside)
    if (
        hasattr(model, "partial_fit")
        and not model.get_params().get("basis")
        and "Online" in repr(model)
    ):
        assert clone(model).partial_fit(X, pairs).score(X, pairs) > 0.6
        assert clone(model).partial_fit(X, TARGETS["grades"]).partial_fit(X, Y).by_query_
    if weights == [None]:
        with pytest.raises(
            ValueError, match="item weights, and RankRLSCV does not accept item weights"
        ):
            clone(model).fit(X, TARGETS["grades"].item_weighted(weight))


def test_statistics_take_the_scores_of_a_target_and_no_pairs():
    model = rb.RankRLS(kernel="linear").partial_fit(X, TARGETS["grades"])
    expected = rb.RankRLS(kernel="linear").partial_fit(X, Y, QID)
    assert np.array_equal(model.coef_, expected.coef_) and model.by_query_
    with pytest.raises(ValueError, match="individual pairs, which partial_fit cannot add"):
        model.partial_fit(X, TARGETS["pairs"])


@pytest.mark.parametrize("metric", RULES, ids=lambda metric: metric.__name__)
def test_every_metric_takes_a_target(metric):
    scores, weight = X[:, 1], 1.0 + np.arange(N) % 2
    options = dict(k=5) if "_at_k" in metric.__name__ else {}
    two = metric.__name__ == "auc"
    y = (Y % 30 > 5).astype(float) if two else Y % 30
    target = rb.Preferences.from_scores(y, QID)
    assert metric(target, scores, **options) == metric(y, scores, QID, **options)
    rows = np.random.default_rng(0).integers(0, N, 40)
    part = metric(y[rows], scores[rows], QID[rows], **options)
    assert metric(target[rows], scores[rows], **options) == pytest.approx(part, abs=1e-12)
    weighted = target.item_weighted(weight)
    counts = RULES[metric].weighs != "queries"
    expected = metric(y, scores, QID, weight if counts else None, **options)
    assert metric(weighted, scores, **options) == pytest.approx(expected, abs=1e-12)
    ids, values = rb.metrics.by_query(metric, target, scores, **options)
    alone = rb.metrics.by_query(metric, y, scores, QID, **options)[1]
    assert np.array_equal(values, alone, equal_nan=True)
    with pytest.raises(ValueError, match="qid is given, and y_true is a Preferences"):
        metric(target, scores, QID, **options)
    if metric is not rb.disagreement:
        lost = {
            rb.metrics.brier_score: lambda d: expit(-d) ** 2,
            rb.metrics.log_loss: lambda d: np.logaddexp(0, -d),
        }.get(metric)
        single = target.reweighted(1.0 + np.arange(len(target)) % 3)
        if lost is not None:  # of pairs, each with its weight
            for prefs in (TARGETS["pairs"], single):
                by_hand = lost(scores[prefs.better] - scores[prefs.worse])
                by_hand = np.average(by_hand, weights=prefs.weight)
                assert metric(prefs, scores) == pytest.approx(by_hand, rel=1e-12)
        elif metric is not rb.metrics.pair_accuracy:
            with pytest.raises(ValueError, match=r"call rb.metrics.pair_accuracy\(y_true, y_score"):
                metric(TARGETS["pairs"], scores, **options)
        if counts and lost is None:
            with pytest.raises(ValueError, match="weights of individual"):
                metric(single, scores, **options)


def test_intervals_and_comparisons_take_a_target():
    for function, scores in ((rb.metrics.interval, [X[:, 1]]), (rb.metrics.compare, X.T[:2])):
        options = dict(metric="pair_accuracy", random_state=0)
        target = function(TARGETS["grades"], *scores, None, **options)
        assert target == function(Y, *scores, QID, **options)


# Row numbers, which no split renumbers


def test_row_numbers_are_refused_and_preferences_are_split():
    few = PAIRS[(PAIRS < N - 20).all(axis=1)]  # they are rows of every training part, too
    Z = X - X.mean(axis=0)
    model, options = rb.RankSVM(0.1, "linear"), dict(cv=KFold(3, shuffle=True, random_state=1))
    for rows in (few, few.tolist(), dict(winner=few[:, 0], loser=few[:, 1])):
        with pytest.raises(TypeError, match=r"rb.Preferences\(better, worse, n_items=len\(X\)\)"):
            cross_val_predict(model, Z, params=dict(preferences=rows), **options)
    prefs = rb.Preferences(*few.T, n_items=N)
    for call in (dict(y=prefs), dict(params=dict(preferences=prefs))):
        scores = cross_val_predict(model, Z, **call, **options)
        assert 1 - rb.disagreement(TARGETS["pairs"], scores) > 0.95


# Queries that scikit-learn drops


def test_a_pipeline_that_drops_query_ids_is_not_judged():
    model = pipeline().fit(X, Y, ranksvm__qid=QID)
    whole = np.zeros(N)
    wrong = 1 - rb.disagreement(Y, model.predict(X))
    assert wrong < 0.7 and right("grades", model.predict(X), np.arange(N)) > 0.95
    judges = [
        lambda *a, **k: model.score(*a),
        model[-1].score,
        *(
            lambda *a, name=name, **k: scorer(name)(model, *a, **k)
            for name in ("ndcg@5", "disagreement")
        ),
    ]
    for judge in judges:
        with pytest.raises(
            ValueError, match="the model was fitted with query ids. Pass qid .*zeros"
        ):
            judge(X, Y, qid=None)
        assert np.isfinite(judge(X, TARGETS["grades"]))
    assert model[-1].score(StandardScaler().fit_transform(X), Y, whole) == pytest.approx(wrong)
    assert scorer("disagreement")(model, X, Y, qid=whole) == pytest.approx(wrong - 1)


def test_a_search_that_drops_query_ids_finds_nothing():
    options = dict(cv=GroupKFold(3))
    calls = dict(groups=QID, ranksvm__qid=QID)
    for scoring in (None, scorer("ndcg@5"), [scorer("err")][0]):
        grid = GridSearchCV(pipeline(), dict(ranksvm__lam=LAMS), scoring=scoring, **options)
        with pytest.raises(ValueError, match="the model was fitted with query ids"):
            clone(grid).set_params(error_score="raise").fit(X, Y, **calls)
        with (
            pytest.warns(UserWarning, match="the model was fitted with query ids"),
            pytest.warns(UserWarning, match="of the test scores are non-finite"),
        ):
            grid.fit(X, Y, **calls)
        assert np.isnan(grid.cv_results_["mean_test_score"]).all()
    with pytest.raises(ValueError, match="the model was fitted with query ids"):
        grid.score(X, Y)


def test_permutation_test_score_takes_grades():
    with pytest.raises(IndexError, match="permutation_test_score .* pass it grades as y"):
        permutation_test_score(MODELS[0], X, TARGETS["grades"], cv=FOLDS, n_permutations=2)
    grades = np.round(X @ [1.0, 0.4, -0.5])
    score, others, _ = permutation_test_score(MODELS[0], X, grades, cv=FOLDS, n_permutations=2)
    assert score > max(others)


@pytest.mark.parametrize("scoring", [None, "ndcg@5", "disagreement"])
def test_a_target_finds_what_routing_finds(scoring):
    folds = list(GroupKFold(3).split(X, Y, QID))
    options = dict(cv=folds, scoring=scoring and scorer(scoring), error_score="raise")
    plain = GridSearchCV(pipeline(), dict(ranksvm__lam=LAMS), **options).fit(X, TARGETS["grades"])
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = rb.RankSVM(0.1, "linear").set_fit_request(qid=True).set_score_request(qid=True)
        model = make_pipeline(StandardScaler(), ranker)
        grid = GridSearchCV(model, dict(ranksvm__lam=LAMS), **options).fit(X, Y, qid=QID)
        scores = cross_val_predict(model, X, Y, cv=folds, params=dict(qid=QID))
    for name in ("mean_test_score", "std_test_score"):
        assert np.allclose(plain.cv_results_[name], grid.cv_results_[name], rtol=0, atol=1e-12)
    again = cross_val_predict(pipeline(), X, TARGETS["grades"], cv=folds)
    assert np.array_equal(scores, again)


def test_several_scorers_at_once(routing):
    names = ("ndcg@5", "disagreement", "kendall_tau")
    found = cross_validate(
        pipeline(), X, TARGETS["grades"], cv=FOLDS, scoring={name: scorer(name) for name in names}
    )
    for i, (train, test) in enumerate(FOLDS.split(X)):
        scores = pipeline().fit(X[train], TARGETS["grades"][train]).predict(X[test])
        value = rb.metrics.ndcg(Y[test], scores, QID[test], k=5)
        assert found["test_ndcg@5"][i] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("kind", TARGETS)
def test_ensembles_that_need_numbers_refuse_a_target(kind, routing):
    ranker = rb.RankSVM(0.1, "linear")
    for model in (
        StackingRegressor([("one", ranker), ("two", Ridge())]),
        StackingRegressor([("two", Ridge())], ranker),
        BaggingRegressor(ranker, n_estimators=2),
        rb.OrdinalRanker(ranker),
        rb.RayleighRanker(),
        rb.OnlineSVC(),
        rb.LabelRanker(),
    ):
        with pytest.raises(
            TypeError, match="Preferences cannot be converted to an array .* RankSVM"
        ):
            model.fit(X, TARGETS[kind])
    with pytest.raises(TypeError, match="Preferences cannot be converted to an array of numbers"):
        cross_val_score(ranker, X, TARGETS[kind], cv=StratifiedKFold(3))
    # with grades, scikit-learn takes rankers for regressors
    assert StackingRegressor([("one", ranker)], Ridge()).fit(X, Y).predict(X).shape == (N,)
    assert BaggingRegressor(ranker, n_estimators=2).fit(X, Y).predict(X).shape == (N,)


def test_a_bag_splits_query_ids_that_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = rb.RankSVM(0.1, "linear").set_fit_request(qid=True)
        bag = BaggingRegressor(ranker, n_estimators=2, random_state=0).fit(X, Y, qid=QID)
    for one, rows in zip(bag.estimators_, bag.estimators_samples_):
        assert np.array_equal(one.coef_, clone(ranker).fit(X[rows], Y[rows], QID[rows]).coef_)
        assert np.array_equal(one.coef_, clone(ranker).fit(X[rows], TARGETS["grades"][rows]).coef_)
    with pytest.raises(ValueError, match="the model was fitted with query ids"):
        scorer("ndcg@5")(bag, X, Y)
    assert scorer("pair_accuracy")(bag, X, TARGETS["grades"]) > 0.95


def test_the_memory_of_queries_survives_a_file(tmp_path):
    blocks = rb.Blocks([rb.Block(X, Y, QID)])
    for model in (
        *(clone(model).fit(X, Y, QID) for model in MODELS[:2]),
        rb.RankSVM(kernel="linear").fit(blocks),
        rb.RankRLS(kernel="linear").fit(blocks),
        rb.RankRLS(kernel="linear").fit(iter([(X, Y, QID)])),
        rb.RankRLSCV(LAMS, "linear", cv="query").fit(blocks),
    ):
        model.save(tmp_path / "m")
        for one in (model, rb.load(tmp_path / "m")):
            with pytest.raises(ValueError, match="the model was fitted with query ids"):
                one.score(X, Y)
            assert one.score(X, Y, QID) == one.score(X, TARGETS["grades"])
    one = rb.RankSVM(kernel="linear").fit(rb.Blocks([rb.Block(X, Y)]))
    assert np.isfinite(one.score(X, Y))
    del one.by_query_  # a model of an earlier version does not know
    assert np.isfinite(one.score(X, Y))
