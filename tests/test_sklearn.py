"""scikit-learn's habits: its own checks on every estimator as it comes and in other settings.

Also metadata that is routed, names of columns, and no private function.
"""

import ast
import warnings
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.inspection import partial_dependence
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import rankbook as rb
from rankbook.kernels.basis import choose_basis
from rankbook.kernels.nystroem import NystroemMap
from rankbook.testing import expected_failed_checks


class OfTwoLabels:
    """A label ranker for the checks, whose targets have a single column: it is one of two labels.

    The other is its negative, so that both are as far apart as the column says.
    """

    @staticmethod
    def table(y):
        column = np.asarray(y)
        single = column.ndim == 1 or (column.ndim == 2 and column.shape[1] == 1)
        numbers = all(isinstance(x, (int, float)) for x in column.ravel().tolist())
        return np.c_[column, -column] if single and numbers else y

    def score(self, X, y, sample_weight=None):
        return super().score(X, self.table(y), sample_weight)


class TwoLabels(OfTwoLabels, rb.LabelRanker):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, self.table(y), sample_weight)


class TwoLabelsCV(OfTwoLabels, rb.LabelRankerCV):
    def fit(self, X, y=None):
        return super().fit(X, self.table(y))


ESTIMATORS = [
    value
    for value in (getattr(rb, name) for name in rb.__all__)
    if isinstance(value, type)
    and issubclass(value, BaseEstimator)
    and value not in (rb.LabelRanker, rb.LabelRankerCV, rb.Leaderboard)  # of other tables
] + [TwoLabels, TwoLabelsCV]
needs_routing = pytest.mark.skipif(
    [*map(int, sklearn.__version__.split(".")[:2])] < [1, 8],
    reason="before scikit-learn 1.8 a pipeline does not pass query ids on to score",
)
# Settings far from the defaults; the second list with --slow.
OTHER_SETTINGS = [
    rb.RankSVM(lam=1.0),
    rb.RankRLS(lam=1.0),
    rb.RankSVM(loss="squared", approximate_kernel=8),
    rb.RankRLS(basis=2),
    rb.RankRLSCV(lams=[0.1, 1.0], kernel="linear", cv="loo"),
    rb.RayleighRanker(pivots="rpcholesky", random_state=0),
    rb.OnlineSVC(average="plain", fit_intercept=False, max_updates=50_000),
]
MORE_SETTINGS = [
    rb.RankSVM(lam=1.0, kernel="linear"),
    rb.RankSVM(lam=1.0, kernel="linear", penalty="l1"),
    rb.RankSVM(graph="star", solver="path"),
    rb.RankSVM(kernel="linear", solver="newton"),
    rb.RankSVMCV(),
    rb.RankSVMCV(kernel="linear", cv=2, rule="one_se", random_state=0),
    rb.RankRLS(lam=1.0, kernel="linear"),
    rb.RankRLS(lam=1.0, graph="identity", kernel="poly"),
    rb.RankRLSCV(cv=2, random_state=0),
    rb.RankRLSCV(lams=[0.1, 1.0], gamma=[0.1, 1.0], cv="lpo"),
    rb.RayleighRanker(manifold_weight=0),
    rb.RayleighRanker(kernel="linear", n_components=None),
    rb.RayleighRankerCV(cv=2, random_state=0),
    rb.RayleighRankerCV(
        lams=[1e-3, 0.1, 1.0],
        manifold_weights=[0, 10],
        n_components=[2, 5],
        gamma=[0.1, 1.0],
        cv=2,
    ),
    rb.OnlineRankSVM(average=False, step="1/sqrt(t)", max_updates=20_000),
    rb.OnlineSVC(lam=1e-2, max_updates=200_000),
]
QUICK = {"max_updates": 20_000, "lam_min_ratio": 1e-2}
RANKERS = [kind for kind in ESTIMATORS if "qid" in signature(kind.fit).parameters]
WEIGHTED = [kind for kind in ESTIMATORS if "sample_weight" in signature(kind.fit).parameters]


def make(kind):
    """An estimator as it comes, but for fewer steps of a stream and a shorter path."""
    return kind(**{name: QUICK[name] for name in QUICK if name in kind().get_params()})


def checks(*estimators):
    """scikit-learn's checks of estimators, of which the declared ones fail."""
    return parametrize_with_checks(
        list(estimators),
        expected_failed_checks=lambda one: (
            {"check_regressors_train": "it predicts both labels"}
            if isinstance(one, OfTwoLabels)
            else expected_failed_checks(one)
        ),
    )


@checks(*map(make, ESTIMATORS))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_as_it_comes(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", [rb.LabelRanker(), rb.LabelRankerCV()], ids=repr)
def test_label_rankers_fail_what_they_declare(model):
    """In one test, as pytest takes much longer to write down a failure than to see it."""
    declared = expected_failed_checks(model)
    found = check_estimator(model, expected_failed_checks=declared, on_fail=None, on_skip=None)
    failed = {one["check_name"] for one in found if one["status"] in ("failed", "xfail")}
    assert failed == {one["check_name"] for one in found} & set(declared) and len(failed) > 20


@checks(*OTHER_SETTINGS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:approximate_kernel is 8, but only 4 items are used")
def test_in_another_setting(estimator, check):
    check(estimator)


@pytest.mark.slow
@checks(*MORE_SETTINGS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_in_more_settings(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "model",
    [
        rb.RankSVM(),
        rb.RankSVMCV(kernel="linear", cv=2),
        rb.RankRLS(),
        rb.RankRLSCV(cv=2).set_output(predict="pandas"),
        rb.OnlineRankSVM(max_updates=2000),
        make_pipeline(StandardScaler(), rb.RankSVM(kernel="linear")),
        GridSearchCV(rb.RankRLS(), dict(lam=[0.1, 1.0]), cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_partial_dependence_is_the_mean_score(model):
    X, y = table()
    found = partial_dependence(clone(model).fit(X, y), X, ["age"], grid_resolution=5)
    fitted = clone(model).fit(X, y)
    means = [np.mean(fitted.predict(X.assign(age=age))) for age in found["grid_values"][0]]
    assert np.allclose(found["average"], [means]) and np.ptp(means) > 0


def test_partial_dependence_has_a_row_for_each_label():
    X, y = table()
    model = rb.LabelRanker().fit(X, np.c_[y, -y, y**2])
    found = partial_dependence(model, X, ["age"], grid_resolution=5)
    means = [model.predict(X.assign(age=age)).mean(axis=0) for age in found["grid_values"][0]]
    assert np.allclose(found["average"], np.transpose(means))


def test_failures_are_declared_of_estimators_of_rankbook():
    with pytest.raises(TypeError, match="^estimator is a type. Pass an instance of a rankbook"):
        expected_failed_checks(rb.RankSVM)


def test_no_private_function_of_scikit_learn():
    found = []
    for path in (Path(rb.__file__).parent).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sklearn":
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
                found += [
                    f"{path.name}: {node.module}.{name}" for name in names if name.startswith("_")
                ]
            elif isinstance(node, ast.Import):
                found += [
                    f"{path.name}: {alias.name}"
                    for alias in node.names
                    if alias.name.startswith("sklearn") and "._" in alias.name
                ]
    assert found == []


# Metadata that is routed


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def share_in_order(scores, y, qid=None, weight=None):
    """The weighted share of pairs in order, pair by pair."""
    qid, weight = (
        np.zeros(len(y)) if qid is None else qid,
        np.ones(len(y)) if weight is None else weight,
    )
    above, below = np.nonzero((y[:, None] > y) & (qid[:, None] == qid))
    first, second = scores[above], scores[below]
    tied = np.abs(first - second) <= 1e-12 * np.maximum(np.abs(first), np.abs(second))
    ahead = np.where(tied, 0.5, first > second)
    return np.average(ahead, weights=weight[above] * weight[below])


def by_hand(model, X, y, qid, weight_fit=None, weight_score=None):
    """The scores of folds by query, in a loop."""
    part, found = lambda values, rows: None if values is None else values[rows], []
    for train, test in GroupKFold(3).split(X, y, qid):
        scaler, options = StandardScaler().fit(X[train]), dict(qid=qid[train])
        if weight_fit is not None:
            options["sample_weight"] = weight_fit[train]
        fitted = clone(model).fit(scaler.transform(X[train]), y[train], **options)
        found.append(
            share_in_order(
                fitted.predict(scaler.transform(X[test])),
                y[test],
                qid[test],
                part(weight_score, test),
            )
        )
    return found


@needs_routing
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_grid_search_over_a_pipeline(routing, weighted_queries):
    X, y, qid, _ = weighted_queries
    model = rb.RankSVM(kernel="linear").set_fit_request(qid=True).set_score_request(qid=True)
    lams = [0.1, 10.0, 1000.0]
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), model), {"ranksvm__lam": lams}, cv=GroupKFold(3)
    ).fit(X, y, groups=qid, qid=qid)
    table = np.array([grid.cv_results_[f"split{f}_test_score"] for f in range(3)]).T
    assert np.allclose(
        table, [by_hand(rb.RankSVM(lam, "linear"), X, y, qid) for lam in lams], rtol=0, atol=1e-9
    )
    assert grid.best_params_ == {"ranksvm__lam": lams[table.mean(axis=1).argmax()]}
    assert grid.score(X, y, qid=qid) == pytest.approx(
        share_in_order(grid.predict(X), y, qid), abs=1e-12
    )


@needs_routing
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", RANKERS, ids=lambda kind: kind.__name__)
def test_cross_validate(routing, weighted_queries, kind, weighted):
    X, y, qid, weight = weighted_queries
    model, params = (
        make(kind).set_fit_request(qid=True).set_score_request(qid=True),
        dict(groups=qid, qid=qid),
    )
    weight_fit = weight if weighted and kind in WEIGHTED else None
    if weighted:
        params["sample_weight"] = weight
        model.set_score_request(qid=True, sample_weight=True)
    if weight_fit is not None:
        model.set_fit_request(qid=True, sample_weight=True)
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
    found = cross_validate(pipeline, X, y, cv=GroupKFold(3), params=params, error_score="raise")[
        "test_score"
    ]
    assert np.allclose(
        found,
        by_hand(make(kind), X, y, qid, weight_fit, weight if weighted else None),
        rtol=0,
        atol=1e-9,
    )
    alone = cross_validate(model, X, y, cv=GroupKFold(3), params=params, error_score="raise")[
        "test_score"
    ]
    assert np.isfinite(alone).all()


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_what_may_be_routed(routing, kind):
    requests = kind().get_metadata_routing()
    assert "sample_weight" in requests.score.requests
    assert (
        ("qid" in requests.score.requests) == ("qid" in requests.fit.requests) == (kind in RANKERS)
    )
    assert ("sample_weight" in requests.fit.requests) == (kind in WEIGHTED)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "kind", [rb.RayleighRanker, rb.RayleighRankerCV, rb.OnlineSVC], ids=lambda kind: kind.__name__
)
def test_labels_in_a_pipeline(routing, weighted_queries, kind):
    X, y, _, weight = weighted_queries
    labels = (y > np.median(y)).astype(float)
    plain = make_pipeline(StandardScaler(), make(kind)).fit(X, labels)
    assert np.isfinite(plain.score(X, labels))  # a pipeline passes sample_weight, be it None
    model = make_pipeline(StandardScaler(), make(kind).set_score_request(sample_weight=True)).fit(
        X, labels
    )
    scores = model.decision_function(X)
    expected = (
        np.average((scores > 0) == labels, weights=weight)
        if kind is rb.OnlineSVC
        else share_in_order(scores, labels, None, weight)
    )
    assert model.score(X, labels, sample_weight=weight) == pytest.approx(expected, abs=1e-12)


# score


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", RANKERS, ids=lambda kind: kind.__name__)
def test_score_counts_pairs(weighted_queries, kind):
    X, y, qid, weight = weighted_queries
    model = make(kind).fit(X, y, qid=qid)
    scores = model.predict(X)
    for ids in (0 * qid, qid):
        for w in (None, weight, list(weight), pd.Series(weight)):
            assert model.score(X, y, ids, w) == pytest.approx(
                share_in_order(scores, y, ids, None if w is None else weight), abs=1e-12
            )
    assert model.score(X, y, qid) == model.score(X, y, qid, np.ones(90))
    twice = np.repeat(np.arange(90), weight.astype(int))
    assert model.score(X, y, qid, weight) == pytest.approx(
        model.score(X[twice], y[twice], qid[twice]), abs=1e-12
    )
    for bad, what in (
        (weight[1:], "sample_weight has shape"),
        (-weight, "sample_weight has -"),
        (0 * weight, "sample_weight|weight above 0"),
    ):
        with pytest.raises(ValueError, match=what):
            model.score(X, y, qid, bad)


@pytest.mark.parametrize(
    "kind", [rb.RayleighRanker, rb.RayleighRankerCV], ids=lambda kind: kind.__name__
)
def test_score_counts_pairs_of_labels(weighted_queries, kind):
    X, y, _, weight = weighted_queries
    labels = (y > np.median(y)).astype(float)
    labels[::5], known = -1, np.arange(90) % 5 > 0
    model = make(kind).fit(X, labels)
    for w in (None, weight):
        expected = share_in_order(
            model.predict(X)[known], labels[known], None, None if w is None else weight[known]
        )
        assert model.score(X, labels, w) == pytest.approx(expected, abs=1e-12)
    for bad, what in (
        (weight[1:], "sample_weight has shape"),
        (-weight, "sample_weight has -"),
        (weight * (labels == -1), "sample_weight|weight above 0"),
    ):
        with pytest.raises(ValueError, match=what):
            model.score(X, labels, bad)


# Columns with names


def table(n=40):
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.normal(size=(n, 2)), columns=["size", "age"]), rng.normal(size=n)


TEXT = {
    "objects": lambda n: np.array(["red", "green"] * (n // 2), dtype=object),
    "strings": lambda n: pd.array(["red", "green"] * (n // 2), dtype="string"),
    "digits": lambda n: np.array(["1.5", "2.5"] * (n // 2), dtype=object),
    "some": lambda n: np.array([1.0, "red"] * (n // 2), dtype=object),
}
OTHER = {
    "words": lambda n: pd.Categorical(["red", "green"] * (n // 2)),
    "numbers": lambda n: pd.Categorical([1, 2] * (n // 2)),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_a_column_that_holds_no_numbers_is_named(kind):
    X, y = table()
    y = y if kind in RANKERS else (y > 0).astype(float)
    fitted = make(kind).fit(X.assign(colour=1.0), y)
    before = fitted.predict(X.assign(colour=1.0))
    for what, columns in (
        ("text", TEXT),
        ("categories", OTHER),
        ("entries of type datetime64", {"dates": lambda n: pd.date_range("2024-05-01", periods=n)}),
    ):
        for column in columns.values():
            bad = X.assign(colour=column(40))
            for call in (
                lambda: make(kind).fit(bad, y),
                lambda: fitted.fit(bad, y),
                lambda: fitted.predict(bad),
                lambda: fitted.score(bad, y),
            ):
                with pytest.raises(
                    TypeError,
                    match=f"^X has {what}.* in column 'colour'. Leave the column out",
                ):
                    call()
    assert np.array_equal(fitted.predict(X.assign(colour=1.0)), before)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_columns_of_numbers_of_every_kind_pass_and_keep_their_names(kind):
    X, y = table()
    X = X.assign(
        whole=np.arange(40),
        flag=np.arange(40) % 3 == 0,
        nullable=pd.array([1, 2] * 20, dtype="Int64"),
        objects=np.array([1, 2.5] * 20, dtype=object),
    )
    y = y if kind in RANKERS else (y > 0).astype(float)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*feature names")
        model = make(kind).fit(X, y)
        assert model.feature_names_in_.tolist() == list(X.columns)
        assert np.array_equal(
            model.predict(X),
            make(kind).fit(X.to_numpy(dtype=float), y).predict(X.to_numpy(dtype=float)),
        )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[X.columns[::-1]])


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_a_failed_fit_leaves_everything_as_it_was(kind):
    X, y = table()
    y = y if kind in RANKERS else (y > 0).astype(float)
    nothing, few = (
        np.zeros(40),
        X[["age"]].assign(other=X["size"] ** 2, third=1.0),
    )  # one level only: no estimator can learn from it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model, fresh = make(kind).fit(X, y), make(kind)
    before = vars(model).copy(), model.predict(X)
    for estimator in (model, fresh):
        with pytest.raises(ValueError):
            estimator.fit(few, nothing)
    assert vars(model).keys() == before[0].keys() and all(
        vars(model)[name] is value for name, value in before[0].items()
    )
    assert np.array_equal(model.predict(X), before[1])
    with pytest.raises(NotFittedError):
        fresh.predict(few)


def test_a_failed_block_leaves_everything_as_it_was():
    X, y = table()
    model = rb.RankRLS(kernel="linear").partial_fit(X, y)
    for call in (
        lambda: model.fit(iter([(X.to_numpy()[:, :1], np.zeros(39))])),
        lambda: model.fit(iter([])),
        lambda: model.partial_fit(X, y[1:]),
    ):
        with pytest.raises(ValueError):
            call()
        assert (
            model.n_features_in_ == 2
            and model.feature_names_in_.tolist() == ["size", "age"]
            and np.isfinite(model.predict(X)).all()
        )


@pytest.mark.parametrize("column", [*TEXT.values(), *OTHER.values()], ids=[*TEXT, *OTHER])
def test_problems_name_the_column_too(column):
    X, y = table()
    bad, prefs = X.assign(colour=column(40)), rb.Preferences.from_scores(y)
    solution = rb.solve(rb.RankSVMProblem(X, prefs), 1.0)
    for name, call in (
        ("X", lambda: rb.RankSVMProblem(bad, prefs)),
        ("X", lambda: rb.RankRLSProblem(bad, y)),
        ("X", lambda: choose_basis(bad, 3)),
        ("X", lambda: NystroemMap(bad, 3)),
        ("X_new", lambda: solution.predict(bad[["colour", "age"]])),
    ):
        with pytest.raises(
            TypeError, match=f"^{name} has .* in column 'colour'. Leave the column out"
        ):
            call()


def test_an_interrupted_fit_leaves_the_features_as_they_were(monkeypatch):
    X, y = table()
    model = rb.RankSVM().fit(X, y)

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("rankbook.estimators.ranksvm.solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[["age"]], y)
    assert model.n_features_in_ == 2 and model.feature_names_in_.tolist() == ["size", "age"]
