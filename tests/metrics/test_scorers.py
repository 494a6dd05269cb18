"""Scorers in scikit-learn's tools: query ids arrive, by routing and by an index."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook.metrics import scorer

GRID = dict(ranksvm__lam=[0.01, 1.0, 100.0])
NAMES = "auc pair_accuracy ndcg@3 err precision@2 recall@2 reciprocal_rank kendall_tau".split()


@pytest.fixture(scope="module")
def graded(weighted_queries):
    X, y, qid, weight = weighted_queries
    return X, np.digitize(y, np.quantile(y, [0.3, 0.6, 0.9])), qid, weight


def pipeline(**options):
    return make_pipeline(StandardScaler(), rb.RankSVM(kernel="linear", solver="newton", **options))


def by_hand(model, X, y, qid, splits, metric):
    """The metric of each left-out part of a pipeline fitted with query ids."""
    for train, test in splits:
        fitted = sklearn.clone(model).fit(X[train], y[train], ranksvm__qid=qid[train])
        yield metric(y[test], fitted.predict(X[test]), qid[test])


def test_a_grid_search_by_routing(graded):
    X, y, qid, _ = graded
    splits = list(GroupKFold(3).split(X, y, qid))
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(
            StandardScaler(),
            rb.RankSVM(kernel="linear", solver="newton").set_fit_request(qid=True),
        )
        search = GridSearchCV(model, GRID, cv=GroupKFold(3), scoring=scorer("ndcg@3"))
        search.fit(X, y, qid=qid, groups=qid)
    for i, lam in enumerate(GRID["ranksvm__lam"]):
        metric = lambda y, s, q: rb.metrics.ndcg(y, s, q, k=3)
        expected = list(by_hand(pipeline(lam=lam), X, y, qid, splits, metric))
        found = [search.cv_results_[f"split{fold}_test_score"][i] for fold in range(3)]
        assert found == expected


def test_a_grid_search_without_routing(graded):
    X, y, qid, _ = graded
    rows = pd.Index([f"row {i}" for i in range(len(y))])
    series = pd.Series(y, index=rows)
    scoring = scorer("ndcg@3", queries=pd.Series(qid, index=rows).sample(frac=1, random_state=0))
    search = GridSearchCV(pipeline(), GRID, cv=GroupKFold(3), scoring=scoring)
    search.fit(X, series, groups=qid, ranksvm__qid=qid)
    metric = lambda y, s, q: rb.metrics.ndcg(y, s, q, k=3)
    splits = list(GroupKFold(3).split(X, y, qid))
    expected = list(by_hand(pipeline(lam=1.0), X, y, qid, splits, metric))
    assert [search.cv_results_[f"split{fold}_test_score"][1] for fold in range(3)] == expected


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_by_name(graded, name):
    X, y, qid, _ = graded
    y = y > 1 if name == "auc" else y
    model = rb.RankSVM(kernel="linear").fit(X, y, qid)
    with sklearn.config_context(enable_metadata_routing=True):
        value = scorer(name)(model, X, y, qid=qid)
    assert value == np.nanmean(rb.metrics.by_query(name, y, model.predict(X), qid)[1])


def test_several_at_once_and_the_sign(graded):
    X, y, qid, _ = graded
    scoring = {name: scorer(name) for name in ("disagreement", "pair_accuracy")}
    with sklearn.config_context(enable_metadata_routing=True):
        model = rb.RankSVM(kernel="linear").set_fit_request(qid=True)
        params = dict(qid=qid, groups=qid)
        found = cross_validate(model, X, y, cv=GroupKFold(3), scoring=scoring, params=params)
    assert (found["test_disagreement"] < 0).all() and (found["test_pair_accuracy"] > 0).all()


def test_weights_where_they_are_asked_for(graded):
    X, y, qid, _ = graded
    weight = 1.0 + qid  # of queries
    model = rb.RankSVM(kernel="linear").fit(X, y, qid)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = scorer("ndcg").set_score_request(qid=True, sample_weight=True)
        value = asks(model, X, y, qid=qid, sample_weight=weight)
    assert value == rb.metrics.ndcg(y, model.predict(X), qid, weight)


def test_it_is_copied_and_pickled(graded):
    X, y, qid, _ = graded
    model = rb.RankSVM(kernel="linear").fit(X, y)
    series = pd.Series(qid)
    for made in (scorer("ndcg@3"), scorer("ndcg", k=3, queries=series)):
        for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
            assert again(model, X, pd.Series(y)) == made(model, X, pd.Series(y))
        assert "ndcg" in repr(made)


def test_queries_are_its_own(graded):
    X, y, qid, _ = graded
    model = rb.RankSVM(kernel="linear").fit(X, y, qid)
    series = pd.Series(qid.copy())
    made = scorer("ndcg@3", queries=series)
    before = made(model, X, pd.Series(y))
    series[:] = 0
    assert made(model, X, pd.Series(y)) == before != made(model, X[:50], pd.Series(y[:50]))


def test_processes(graded):
    X, y, qid, _ = graded
    with sklearn.config_context(enable_metadata_routing=True):
        model = rb.RankSVM(kernel="linear").set_fit_request(qid=True)
        options = dict(cv=GroupKFold(3), scoring=scorer("err"), params=dict(qid=qid, groups=qid))
        one, two = (cross_val_score(model, X, y, n_jobs=jobs, **options) for jobs in (1, 2))
    assert (one == two).all()


@pytest.mark.parametrize("name", ["log_loss", "brier_score"])
def test_probabilities_are_those_of_the_model(graded, name):
    X, y, qid, _ = graded
    target, metric = rb.Preferences.from_scores(y, qid), getattr(rb.metrics, name)
    hinge = rb.RankSVM(kernel="linear").fit(X, target)
    inside = make_pipeline(StandardScaler(), rb.RankRLS(kernel="linear")).fit(X, target)
    for model in (hinge, inside):
        with pytest.raises(ValueError, match="whose scores are not log-odds"):
            scorer(name)(model, X, target)
    with pytest.raises(ValueError, match="LinearRegression, which has no link_.*link='logistic'"):
        scorer(name)(LinearRegression().fit(X, y), X, y)
    declared = scorer(name, link="logistic")(LinearRegression().fit(X, y), X, y)
    assert declared == -metric(y, LinearRegression().fit(X, y).predict(X))
    hinge.calibrate(X, target)
    expected = -metric(target, hinge.predict(X), link=hinge.link_)
    assert scorer(name)(hinge, X, target) == expected
    assert scorer(name, link="logistic")(hinge, X, target) == -metric(target, hinge.predict(X))
    blocks = rb.Blocks([rb.Block(X, y, qid)])
    found = rb.metrics.over_blocks(name, blocks, hinge)
    assert found == pytest.approx(-expected, rel=1e-12)
    with pytest.raises(ValueError, match="whose scores are not log-odds"):
        rb.metrics.over_blocks(name, blocks, rb.RankSVM(kernel="linear").fit(X, target))
    with pytest.raises(ValueError, match="Solution, which has no link_"):
        rb.metrics.over_blocks(name, blocks, hinge.solution_)
    with pytest.raises(ValueError, match=f"metric is '{name}', and scores of least squares"):
        rb.RankRLSCV(kernel="linear", metric=name).fit(X, y)
