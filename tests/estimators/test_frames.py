"""Tables of pandas and polars in, and what comes back beside arrays."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import rankbook as rb

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
pytestmark = pytest.mark.filterwarnings(
    f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning"
)


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
    cuts=lambda y, f, q, w: rb.metrics.best_cuts(f, y, sample_weight=w).tolist(),
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
        with pytest.raises(
            TypeError, match=rf"^{name} has {what}.* in column 'colour'; columns of"
        ):
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
        with pytest.raises(ValueError, match="^X has NaN in row 2, column 0; only finite"):
            model.predict(gaps)
    empty = frame("polars").with_columns(size=pl.Series([None] * 40))
    with pytest.raises(ValueError, match="^X has NaN in row 0, column 0; only finite"):
        rb.RankSVM().fit(empty, Y)
