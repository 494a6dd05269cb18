"""Tables of pandas and polars in, and what comes back beside arrays."""

import inspect
import pickle
import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

import rankbook as rb
from rankbook.estimators.scaled import ScaledModel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = np.digitize(X[:, 0] + X[:, 1] + 0.5 * RNG.normal(size=40), [-1, 1])
QID, WEIGHT = np.tile(list("abcde"), 8), np.tile([1.0, 2, 3, 1, 2], 8)
COLUMNS, INDEX = ["size", "age"], [f"item {i}" for i in range(40)]
BINARY = ("RayleighRanker", "RayleighRankerCV")
NAMES = [
    *("RankSVM", "RankSVMCV", "RankRLS", "RankRLSCV", "RayleighRanker", "RayleighRankerCV"),
    *("OnlineRankSVM", "OnlineSVC", "OrdinalRanker"),
]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(params=["pandas", "polars"])
def kind(request):
    pytest.importorskip(request.param)
    return request.param


def frame(kind, columns=COLUMNS, rows=X):
    if kind == "pandas":
        return pd.DataFrame(rows, columns=columns, index=INDEX[: len(rows)])
    import polars as pl

    return pl.DataFrame(dict(zip(columns, np.asarray(rows).T)))


def series(kind, values):
    if kind == "pandas":
        return pd.Series(values, index=INDEX[: len(values)])
    import polars as pl

    return pl.Series(values)


def fresh(name):
    few = dict(max_updates=20_000) if name.startswith("Online") else {}
    return getattr(rb, name)(**few)


def fitted(name, A=X, wrap=np.asarray):
    y = (Y > 0).astype(float) if name in BINARY else Y
    return fresh(name).fit(A, wrap(y))


# Frames in


@pytest.mark.parametrize("name", NAMES)
def test_estimators_take_frames_as_they_take_arrays(name, kind):
    model, plain = fitted(name, frame(kind), lambda y: series(kind, y)), fitted(name)
    assert list(model.feature_names_in_) == COLUMNS
    predicted = model.predict(frame(kind))
    assert type(predicted) is np.ndarray and np.array_equal(predicted, plain.predict(X))
    y = (Y > 0).astype(float) if name in BINARY else Y
    assert model.score(frame(kind), series(kind, y)) == plain.score(X, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame(kind)[["age", "size"]])


@pytest.mark.parametrize("name", [n for n in NAMES if n not in BINARY])
def test_queries_and_weights_may_be_series(name, kind):
    model, given = fresh(name), inspect.signature(getattr(rb, name).fit).parameters
    extra = {k: v for k, v in dict(qid=QID, sample_weight=WEIGHT).items() if k in given}
    wrapped = {k: series(kind, v) for k, v in extra.items()}
    scores = model.fit(frame(kind), series(kind, Y), **wrapped).predict(frame(kind))
    assert np.array_equal(scores, fresh(name).fit(X, Y, **extra).predict(X))
    share = model.score(frame(kind), series(kind, Y), **wrapped)
    assert share == model.score(frame(kind), Y, **extra)


def test_label_ranker_takes_frames(kind):
    scores = np.c_[X, X[:, 0] - X[:, 1]]
    labels = frame(kind, ["a", "b", "c"], scores)
    model, plain = rb.LabelRanker().fit(frame(kind), labels), rb.LabelRanker().fit(X, scores)
    assert np.array_equal(model.predict(frame(kind)), plain.predict(X))
    assert np.array_equal(model.rank(frame(kind)), plain.rank(X))
    assert model.score(frame(kind), labels) == plain.score(X, scores)


METRICS = dict(
    auc=lambda y, f, q, w: rb.auc(y, f, q, w),
    disagreement=lambda y, f, q, w: rb.disagreement(y, f, q, w),
    ndcg=lambda y, f, q, w: rb.metrics.ndcg(y, f, q, w, k=5),
    average_precision=lambda y, f, q, w: rb.metrics.average_precision(y, f, q, w),
    err=lambda y, f, q, w: rb.metrics.err(y, f, q, w),
    reciprocal_rank=lambda y, f, q, w: rb.metrics.reciprocal_rank(y, f, q, w),
    precision=lambda y, f, q, w: rb.metrics.precision_at_k(y, f, q, w, k=5),
    recall=lambda y, f, q, w: rb.metrics.recall_at_k(y, f, q, w, k=5),
    kendall=lambda y, f, q, w: rb.metrics.kendall_tau(y, f, q, w),
    accuracy=lambda y, f, q, w: rb.metrics.pair_accuracy(y, f, q, w),
    cuts=lambda y, f, q, w: rb.metrics.best_cuts(y, f, sample_weight=w).tolist(),
    by_query=lambda y, f, q, w: rb.metrics.by_query("ndcg@5", y, f, q)[1].tolist(),
    interval=lambda y, f, q, w: rb.metrics.interval(y, f, q, metric="ndcg@5").value,
    compare=lambda y, f, q, w: rb.metrics.compare(y, f, w, q, metric="ndcg@5").difference,
    preferences=lambda y, f, q, w: rb.Preferences.from_scores(y, q).incidence().toarray().tolist(),
)


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_take_series_as_they_take_arrays(metric, kind):
    y = (Y > 0).astype(int) if metric in ("average_precision", "auc") else Y
    call = METRICS[metric]
    found = call(*(series(kind, v) for v in (y, X[:, 0], QID, WEIGHT)))
    assert found == call(y, X[:, 0], QID, WEIGHT)


def test_problems_and_explanations_take_frames(kind):
    prefs = rb.Preferences.from_scores(series(kind, Y))
    path = rb.solve_path(rb.RankSVMProblem(frame(kind), prefs), lam_min=1.0)
    plain = rb.solve_path(rb.RankSVMProblem(X, rb.Preferences.from_scores(Y)), lam_min=1.0)
    assert np.array_equal(path.predict(frame(kind), 2.0), plain.predict(X, 2.0))
    curve = rb.validation_curve(path, frame(kind), prefs)
    assert np.array_equal(curve.values, rb.validation_curve(plain, X, prefs).values)
    model = rb.RankSVM(kernel="linear").fit(frame(kind), Y)
    rows = (lambda i: frame(kind).iloc[i]) if kind == "pandas" else (lambda i: frame(kind)[i])
    assert rb.explain_pair(model, rows(0), rows(1)).names == tuple(COLUMNS)
    assert rb.explain_pair(model, rows(0), rows(1)).difference == pytest.approx(
        np.subtract(*model.predict(frame(kind))[:2])
    )


# What is no number in a frame of polars; tests/test_sklearn.py has that of pandas

ODD = dict(
    text=("text", lambda pl: pl.Series(["1.5", "red"] * 20)),
    mixed=("text", lambda pl: pl.Series([1.5, "red"] * 20, dtype=pl.Object)),
    categories=("categories", lambda pl: pl.Series(["1", "2"] * 20, dtype=pl.Categorical)),
    enum=("categories", lambda pl: pl.Series(["1", "2"] * 20, dtype=pl.Enum(["1", "2"]))),
    dates=("entries of type Date", lambda pl: pl.Series([1, 2] * 20).cast(pl.Date)),
    spans=("entries of type Duration", lambda pl: pl.Series([1, 2] * 20).cast(pl.Duration)),
    lists=("entries of type List", lambda pl: pl.Series([[1.0]] * 40)),
)


@pytest.mark.parametrize("odd", ODD)
def test_a_column_of_polars_without_numbers_is_named(odd):
    pl = pytest.importorskip("polars")
    what, column = ODD[odd]
    bad = frame("polars").with_columns(colour=column(pl))
    model = rb.RankSVM().fit(frame("polars"), Y)
    prefs = rb.Preferences.from_scores(Y)
    for name, call in (
        ("X", lambda: rb.RankSVM().fit(bad, Y)),
        ("X", lambda: model.predict(bad)),
        ("X", lambda: rb.OnlineRankSVM().fit(bad, Y)),
        ("X", lambda: rb.RankSVMProblem(bad, prefs)),
        ("X_new", lambda: model.solution_.predict(bad)),
    ):
        with pytest.raises(TypeError, match=rf"^{name} has {what}.* in column 'colour'\."):
            call()


def test_columns_of_polars_with_numbers_of_every_kind_pass():
    pl = pytest.importorskip("polars")
    more = dict(
        whole=pl.Series(range(40), dtype=pl.UInt8),
        flag=pl.Series([True, False] * 20),
        money=pl.Series(["1.50", "2.25"] * 20).cast(pl.Decimal(10, 2)),
        objects=pl.Series([1, 2.5] * 20, dtype=pl.Object),
    )
    table = frame("polars").with_columns(**more)
    numbers = np.c_[X, np.arange(40), [1, 0] * 20, [1.5, 2.25] * 20, [1, 2.5] * 20]
    model = rb.RankSVM().fit(table, Y)
    assert np.array_equal(model.predict(table), rb.RankSVM().fit(numbers, Y).predict(numbers))
    for hole in (None, float("nan")):
        gaps = table.with_columns(size=pl.Series([1.0, 2.0, hole] + [0.5] * 37))
        with pytest.raises(ValueError, match="^X has NaN in row 2, column 0. Pass finite"):
            model.predict(gaps)
    empty = frame("polars").with_columns(size=pl.Series([None] * 40))
    with pytest.raises(ValueError, match="^X has NaN in row 0, column 0. Pass finite"):
        rb.RankSVM().fit(empty, Y)


# Predictions with an index


@pytest.mark.parametrize("name", NAMES)
def test_predictions_have_the_index_of_a_data_frame(name):
    model = fitted(name, frame("pandas"))
    plain = model.predict(frame("pandas"))
    assert type(plain) is np.ndarray and model.set_output(predict="pandas") is model
    turned = frame("pandas").iloc[::-1]
    found = model.predict(turned)
    assert isinstance(found, pd.Series) and found.index.equals(turned.index)
    assert found.name == ("class" if name in ("OnlineSVC", "OrdinalRanker") else "score")
    assert found.reindex(INDEX).to_numpy() == pytest.approx(plain, rel=1e-12, abs=1e-12)
    y = (Y > 0).astype(float) if name in BINARY else Y
    share = model.score(frame("pandas"), y)
    assert model.set_output().predict(turned).index.equals(turned.index)  # None changes nothing
    model.set_output(predict="default")
    assert np.array_equal(model.predict(frame("pandas")), plain)
    assert share == model.score(frame("pandas"), y)


def test_other_items_are_numbered_and_polars_has_no_index():
    model = rb.RankSVM(kernel="linear").fit(X, Y).set_output(predict="pandas")
    from scipy.sparse import csr_array

    for items in (X, X.tolist(), csr_array(X)):
        assert model.predict(items).index.equals(pd.RangeIndex(40))
    pl = pytest.importorskip("polars")
    named = rb.RankSVM().fit(frame("polars"), Y)
    scores = named.predict(frame("polars"))
    assert named.set_output(predict="pandas").predict(frame("polars")).index.tolist()[-1] == 39
    found = named.set_output(predict="polars").predict(frame("polars"))
    assert isinstance(found, pl.Series) and found.name == "score"
    assert np.array_equal(found.to_numpy(), scores)


def test_a_label_ranker_predicts_tables():
    model = rb.LabelRanker().fit(frame("pandas"), np.c_[X, X[:, 0] - X[:, 1]])
    scores, order = model.predict(frame("pandas")), model.rank(frame("pandas"))
    found = model.set_output(predict="pandas").predict(frame("pandas"))
    assert found.index.tolist() == INDEX and np.array_equal(found, scores)
    assert np.array_equal(model.rank(frame("pandas")), order)
    pl = pytest.importorskip("polars")
    found = model.set_output(predict="polars").predict(frame("pandas"))
    assert isinstance(found, pl.DataFrame) and np.array_equal(found.to_numpy(), scores)


def test_clones_searches_pipelines_and_pickles_keep_it(tmp_path):
    asked = rb.RankSVM(kernel="linear").set_output(predict="pandas")
    search = GridSearchCV(asked, dict(lam=[0.1, 10.0]), cv=2).fit(frame("pandas"), Y)
    assert search.predict(frame("pandas")).index.tolist() == INDEX
    bare = make_pipeline(StandardScaler(), clone(asked)).fit(frame("pandas"), Y)
    assert bare.predict(frame("pandas")).index.equals(pd.RangeIndex(40))  # the index was lost
    whole = make_pipeline(StandardScaler(), clone(asked)).set_output(transform="pandas")
    assert whole.fit(frame("pandas"), Y).predict(frame("pandas")).index.tolist() == INDEX
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert again.predict(frame("pandas")).index.tolist() == INDEX
    again.save(tmp_path / "m.rankbook")
    assert type(rb.load(tmp_path / "m.rankbook").predict(frame("pandas"))) is np.ndarray
    stacked = cross_val_predict(asked, frame("pandas"), Y, cv=2)
    assert type(stacked) is np.ndarray and stacked.shape == (40,)


def test_an_ordinal_ranker_takes_a_ranker_that_predicts_series():
    inner = rb.RankSVM().set_output(predict="pandas")
    model, plain = rb.OrdinalRanker(inner).fit(frame("pandas"), Y), rb.OrdinalRanker().fit(X, Y)
    assert model.ranker_.predict(frame("pandas")).index.tolist() == INDEX
    for ask in ("predict", "decision_function"):
        found = getattr(model, ask)(frame("pandas"))
        assert type(found) is np.ndarray and np.array_equal(found, getattr(plain, ask)(X))


def test_a_wrong_container_changes_nothing():
    model = rb.RankSVM().fit(frame("pandas"), Y).set_output(predict="pandas")
    with pytest.raises(ValueError, match="^predict is 'panda'.*did you mean 'pandas'"):
        model.set_output(predict="panda")
    assert isinstance(model.predict(frame("pandas")), pd.Series)


# What a fitted model shows


def shown(model):
    """Rows of the table below scikit-learn's diagram, and the diagram."""
    html = model._repr_mimebundle_()["text/html"]
    assert model._repr_html_()[-200:] == html[-200:]
    diagram, _, table = html.rpartition("<table><tr><th>fitted</th>")
    rows = re.findall(r"<td style='text-align:left'>(.*?)</td>", table)
    return dict(zip(rows[::2], rows[1::2])), diagram


@pytest.mark.parametrize("name", NAMES)
def test_a_fitted_model_shows_solver_certificate_and_size(name):
    model = fresh(name)
    before = model._repr_mimebundle_()["text/html"]
    assert "sk-top-container" in before and "<th>fitted</th>" not in before
    facts, diagram = shown(fitted(name, frame("pandas")))
    assert "sk-top-container" in diagram and "Fitted" in diagram
    assert {"solver", "lambda", "certificate", "size"} <= set(facts)
    if not name.startswith("Online"):
        assert re.match(r"relative gap -?\d\.\de[-+]\d\d; f, of norm", facts["certificate"])
        assert "40 items" in facts["size"] and f" {rb.__version__}" in facts["solver"]


def test_the_facts_are_those_of_the_fit(tmp_path):
    rows = np.c_[X, RNG.normal(size=40)]
    model = rb.RankSVM(lam=50.0, kernel="linear", penalty="l1").fit(rows, Y)
    facts, _ = shown(model)
    used, pairs = np.count_nonzero(model.coef_), len(rb.Preferences.from_scores(Y))
    assert used < 3 and facts["lambda"] == "50" and facts["solver"] == model.solver_
    what = f"3 weights, {used} of them not 0"
    assert facts["size"] == f"{what}, from 40 items and {pairs} preferences"
    assert "optimum" not in facts["certificate"]  # a linear program has no ball
    model.save(tmp_path / "m.rankbook")
    again, _ = shown(rb.load(tmp_path / "m.rankbook"))
    assert again == facts | dict(size=what)
    svm = rb.RankSVM().fit(X, Y)
    assert f"coefficients of {len(svm.support_)} items, from" in shown(svm)[0]["size"]
    few = rb.RankSVM(approximate_kernel=5).fit(X, Y)
    assert shown(few)[0]["size"].startswith("weights of 5 landmarks, from 40 items")
    streamed = rb.RankRLS(kernel="linear").fit(iter([(X, Y)]))
    assert shown(streamed)[0]["size"] == f"2 weights, from {len(X)} items"


def test_pictures_can_be_switched_off_and_pipelines_keep_theirs():
    model = rb.RankSVM(kernel="linear").fit(X, Y)
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}
    pipeline = make_pipeline(StandardScaler(), rb.RankSVM(kernel="linear")).fit(X, Y)
    html = estimator_html_repr(pipeline)
    assert html.count("RankSVM") > 1 and "<th>fitted</th>" not in html
    assert "sk-top-container" in estimator_html_repr(model)


# Labels, scaled models, and tables that are not there yet


def test_names_of_labels_are_those_of_predictions(kind, tmp_path):
    scores = np.c_[X, X[:, 0] - X[:, 1]]
    labels = frame(kind, ["tea", "milk", "cola"], scores)
    for model in (rb.LabelRanker(), rb.LabelRanker(kernel="linear", method="ranksvm")):
        model.fit(frame(kind), labels).save(tmp_path / "m")
        plain = model.predict(frame(kind))
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            share = model.score(X, scores)
        assert list(model.label_names_) == ["tea", "milk", "cola"]
        for one in (model, rb.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
            table = one.set_output(predict=kind).predict(frame(kind))
            assert list(table.columns) == ["tea", "milk", "cola"]
            assert np.array_equal(np.asarray(table), plain)
            assert one.score(frame(kind), labels) == share
        with pytest.raises(ValueError, match="y has 'cola' as column 0. Pass 'tea'"):
            model.score(frame(kind), labels[["cola", "milk", "tea"]])
        assert not hasattr(model.fit(X, scores), "label_names_")  # numbers again
    numbered = rb.LabelRanker().fit(X, pd.DataFrame(scores)).set_output(predict="pandas")
    assert numbered.predict(X).columns.tolist() == [0, 1, 2]


def test_a_scaled_model_predicts_what_was_asked_for(tmp_path):
    from rankbook.estimators.scaled import ScaledModel

    A, centre, factor = frame("pandas"), X.mean(axis=0), 1 / X.std(axis=0)
    rows = (X - centre) * factor
    for ranker, y in (
        (rb.RankSVM(kernel="linear"), Y),
        (rb.OrdinalRanker(rb.RankRLS()), np.array(["a", "b", "c"])[Y]),
        (rb.LabelRanker(), frame("pandas", ["p", "q"])),
    ):
        ScaledModel(ranker.fit(rows, y), centre, factor, COLUMNS).save(tmp_path / "m")
        model = rb.load(tmp_path / "m")
        plain = model.predict(A)
        assert type(plain) is np.ndarray
        found = model.set_output(predict="pandas").predict(A)
        assert found.index.tolist() == INDEX and np.array_equal(np.asarray(found), plain)
        assert model.predict(X).index.tolist() == list(range(40))
        if found.ndim == 2:
            assert found.columns.tolist() == ["p", "q"]
        assert np.array_equal(model.set_output(predict="default").predict(A), plain)
    pl = pytest.importorskip("polars")
    scaled = ScaledModel(rb.RankRLS().fit(rows, Y), centre, factor).set_output(predict="polars")
    assert isinstance(scaled.predict(A), pl.Series)
    with pytest.raises(ValueError, match="predict is 'numpy'"):
        scaled.set_output(predict="numpy")


def test_a_lazy_frame_is_refused_in_words():
    pl = pytest.importorskip("polars")
    from rankbook.estimators.scaled import ScaledModel

    lazy, y = frame("polars").lazy(), pl.DataFrame({"y": Y}).lazy()
    said = r"is a LazyFrame, which holds no values yet. Pass the DataFrame that \.collect\(\)"
    scaled = ScaledModel(rb.RankRLS().fit(X, Y), np.zeros(2), np.ones(2), COLUMNS)
    labels = rb.LabelRanker().fit(X, X)
    for name, call in (
        ("X_new", lambda: scaled.predict(lazy)),
        ("X", lambda: labels.predict(lazy)),
        ("y", lambda: labels.score(X, lazy)),
        ("y", lambda: rb.LabelRanker().fit(X, lazy)),
        ("X", lambda: rb.RankSVMProblem(lazy, rb.Preferences.from_scores(Y))),
        ("y_true", lambda: rb.metrics.ndcg(y, Y)),
        ("X", lambda: rb.RankSVM().fit(lazy, preferences=[(0, 1)])),
        ("qid", lambda: rb.RankSVM().fit(X, Y, qid=y)),
    ):
        with pytest.raises(TypeError, match=f"{name} {said}"):
            call()
    for name in NAMES:
        target = (Y > 0).astype(float) if name in BINARY else Y
        with pytest.raises(TypeError, match=f"X {said}"):
            fresh(name).fit(lazy, target)
        with pytest.raises(TypeError, match=f"X {said}"):
            fitted(name).predict(lazy)
        with pytest.raises(TypeError, match=f"y {said}"):
            fresh(name).fit(X, y)


NEARLY = np.array([1.0, 3.0, 1.0 + 1e-13, -2.0, 3.0 * (1 - 1e-13), 0.0])


@pytest.mark.parametrize(
    "model",
    [
        rb.RankSVM(kernel="linear"),
        rb.RankSVMCV(kernel="linear", cv=2),
        rb.RankRLS(kernel="linear"),
        rb.RankRLSCV(kernel="linear", cv=2),
        rb.OnlineRankSVM(max_updates=2000),
        rb.OrdinalRanker(rb.RankSVM(kernel="linear")),
    ],
    ids=lambda model: type(model).__name__,
)
def test_rank_is_best_first_and_ties_keep_their_order(model):
    X = np.arange(12.0)[:, None]
    model = clone(model).fit(X, np.arange(12) // 4)
    new = pd.DataFrame({"x": NEARLY}, list("abcdef"))
    assert model.rank(new.to_numpy()).tolist() == [1, 4, 0, 2, 5, 3]
    model.set_output(predict="pandas")
    with pytest.warns(UserWarning, match="X has feature names, but .* was fitted without"):
        assert list(model.rank(new)) == list("beacfd")
    assert model.rank(new.to_numpy()).tolist() == [1, 4, 0, 2, 5, 3]
    for bad in (np.zeros((3, 2)), np.zeros(3), [["a"]]):
        with pytest.raises((ValueError, TypeError)):
            model.rank(bad)
    with pytest.raises(NotFittedError):
        clone(model).rank(new)


@pytest.mark.parametrize("kind", [rb.RayleighRanker, rb.RayleighRankerCV])
def test_rank_of_two_classes(kind):
    X = np.arange(12.0)[:, None]
    model = kind(kernel="linear", n_components=None).fit(X, np.arange(12) // 6)
    assert model.rank(NEARLY[:, None]).tolist() == [1, 4, 0, 2, 5, 3]


def test_rank_of_a_scaled_model_reads_raw_items():
    model = rb.RankSVM(kernel="linear").fit(np.arange(12.0)[:, None], np.arange(12) // 4)
    scaled = ScaledModel(model, [5.0], [-0.1], columns=["x"])
    new = pd.DataFrame({"x": NEARLY}, list("abcdef"))
    assert scaled.rank(new).tolist() == [3, 5, 0, 2, 1, 4]
    assert list(scaled.set_output(predict="pandas").rank(new)) == list("dfacbe")


def test_several_columns_have_no_one_rank():
    model = rb.RankRLS(kernel="linear").fit(X, np.c_[Y, -Y])
    with pytest.raises(ValueError, match="^y had 2 columns in fit, but rank needs one score"):
        model.rank(X)
