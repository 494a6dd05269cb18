"""Estimators on collections of Dask against the same data in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

import rankbook as rb

distributed = pytest.importorskip("distributed", reason='needs pip install "rankbook[dask]"')
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 4))
    table = pd.DataFrame(X, columns=list("abcd"))
    table["grade"] = np.round(X[:, 0] - X[:, 1] + rng.normal(size=240))
    return table.assign(query=np.arange(240) // 20, weight=rng.integers(1, 3, 240).astype(float))


def in_memory(table):
    return table[list("abcd")].to_numpy(), table.grade.to_numpy(), table["query"].to_numpy()


def on_dask(table, rows=60):
    return [da.from_array(v, chunks=(rows, *v.shape[1:])) for v in in_memory(table)]


MODELS = [
    rb.RankSVM(100.0, kernel="linear", solver=("newton", dict(tol=1e-8))),
    rb.RankRLS(2.0, kernel="linear"),
    rb.RankRLSCV(lams=[0.1, 1.0, 10.0], kernel="linear", cv="query"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_arrays(client, table, model):
    X, y, qid = in_memory(table)
    expected = model.fit(X, y, qid=qid).coef_
    radius = model.certificate_.radius
    items, grades, ids = on_dask(table)
    model.fit(items, grades, qid=ids)
    radius += model.certificate_.radius  # both are that near to the optimum
    assert radius < 1e-3 and model.n_features_in_ == 4
    assert np.linalg.norm(model.coef_ - expected) <= radius + 1e-12
    scores = model.predict(items)
    assert scores.chunks == ((60,) * 4,) and scores.dtype == float
    assert np.allclose(scores.compute(), X @ model.coef_)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_without_a_client(table, model):
    X, y, qid = in_memory(table)
    expected = clone(model).fit(X, y, qid=qid)
    frame = dd.from_pandas(table[[*"abcd", "grade", "query"]], npartitions=4, sort=False)
    with dask.config.set(scheduler="threads"):
        found = clone(model).fit(*on_dask(table))
        named = clone(model).fit(frame, "grade", "query")
        scores = found.predict(on_dask(table)[0])
        assert scores.chunks == ((60,) * 4,)
        assert np.allclose(scores.compute(), X @ found.coef_)
        scores = named.predict(frame[list("abcd")])
        assert np.allclose(scores.compute(), X @ named.coef_)
    radius = expected.certificate_.radius + found.certificate_.radius
    assert radius < 1e-3 and np.linalg.norm(found.coef_ - expected.coef_) <= radius + 1e-12
    assert np.array_equal(named.coef_, found.coef_)
    items, grades, ids = on_dask(table)
    fresh = clone(model)
    with dask.config.set(scheduler="threads"), pytest.raises(ValueError, match="blocks have no "):
        fresh.fit(items, 0 * grades, ids)
    assert not [name for name in vars(fresh) if name.endswith("_")]


def test_frames(client, table):
    frame = dd.from_pandas(table, npartitions=4, sort=False)
    model = rb.RankSVM(100.0, kernel="linear").fit(frame, "grade", "query", "weight")
    assert list(model.feature_names_in_) == list("abcd")
    scores = model.predict(frame[list("abcd")])
    plain = model.predict(table[list("abcd")])
    assert scores.compute().index.equals(table.index) and np.allclose(scores.compute(), plain)
    X, y, qid = in_memory(table)
    blocks = rb.Blocks(
        rb.Block(X[i : i + 60], y[i : i + 60], qid[i : i + 60], table.weight[i : i + 60])
        for i in range(0, 240, 60)
    )
    assert np.allclose(rb.RankSVM(100.0, kernel="linear").fit(blocks).coef_, model.coef_)


def test_names_of_features(client, table):
    frame = dd.from_pandas(table, npartitions=4, sort=False)
    blocks = rb.dask_blocks(frame, "grade", "query", "weight")
    model = rb.RankRLS(kernel="linear").fit(blocks)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert rb.metrics.over_blocks("disagreement", blocks, model) < 0.5
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list("bacd")]).compute()
    shuffled = dd.from_pandas(table.sample(frac=1, random_state=0), npartitions=3, sort=False)
    shuffled = rb.dask_blocks(shuffled, "grade", "query", shuffle=True)
    assert rb.RankRLS(kernel="linear").fit(shuffled).feature_names_in_[-1] == "weight"
    numbered = table[list("abcd")].set_axis(range(4), axis=1)
    items, grades, ids = (
        dd.from_pandas(each, npartitions=4, sort=False)
        for each in (numbered, table["grade"], table["query"])
    )
    assert not hasattr(model.fit(items, grades, qid=ids), "feature_names_in_")


def test_a_fit_that_fails_changes_nothing_and_frees_the_workers(client, table):
    items, grades, ids = on_dask(table)
    model = rb.RankSVM(100.0, kernel="linear").fit(items, grades, qid=ids)
    before = dict(vars(model))
    for given, words in (
        ((items, 0 * grades, ids), "blocks have no preference"),
        ((items, None, ids), "requires y to be passed"),
        ((items, grades, on_dask(table, 70)[2][:230]), "qid has 230 entries and X has 240 rows"),
        ((da.where(items > 2, np.nan, items), grades, ids), "partition .*: X has NaN in row"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(given[0], given[1], qid=given[2])
        assert vars(model) == before
    with pytest.raises(ValueError, match="preferences are given and X is a Dask collection"):
        model.fit(items, preferences=[(0, 1)])
    with pytest.raises(ValueError, match="kernel is 'rbf' and X holds blocks"):
        rb.RankSVM().fit(items, grades, qid=ids)


def test_partitions_cut_by_queries(client, table):
    with pytest.raises(ValueError, match="the query 3 in partition 0 and in partition 1"):
        rb.RankSVM(kernel="linear").fit(*on_dask(table, 70))


@pytest.mark.parametrize(
    "kind", [pytest.param("RankSVMCV", marks=pytest.mark.slow), "RankRLSCV", "GridSearchCV"]
)
def test_searches_on_the_cluster(client, table, kind):
    import joblib

    X, y, qid = in_memory(table)
    if kind == "GridSearchCV":
        folds = list(GroupKFold(3).split(X, y, qid))
        model = rb.RankRLS(kernel="linear")
        make = lambda: GridSearchCV(model, dict(lam=[0.1, 1.0]), cv=folds)
        fit, found = (lambda search: search.fit(X, y)), (lambda s: s.cv_results_["mean_test_score"])
    elif kind == "RankSVMCV":
        make = lambda: rb.RankSVMCV(kernel="linear", cv=3, n_jobs=2)
        fit, found = (lambda s: s.fit(X, y, qid=qid)), (lambda s: np.r_[s.lam_, s.coef_])
    else:
        make = lambda: rb.RankRLSCV(lams=[0.1, 1.0], gamma=[0.1, 1.0], cv=3, n_jobs=2)
        fit, found = (lambda s: s.fit(X, y, qid=qid)), (lambda s: s.cv_values_)
    here, before = found(fit(make())), count_done(client)
    with joblib.parallel_config("dask"):
        there = found(fit(make()))
    assert np.array_equal(here, there) and count_done(client) > before


def count_done(client):
    """How many tasks the workers have been given so far."""
    return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_fit_whose_cluster_goes_away_leaves_nothing_half_done(table, model, monkeypatch):
    from rankbook.data.dask import DaskBlocks

    options = dict(processes=False, dashboard_address="127.0.0.1:0")
    cluster = distributed.LocalCluster(n_workers=1, **options)
    client, sums, reduce = distributed.Client(cluster), [], DaskBlocks.reduce

    def reduce_once(self, *arguments, **options):
        if sums:
            client.close()
            cluster.close()
        sums.append(arguments)
        return reduce(self, *arguments, **options)

    monkeypatch.setattr(DaskBlocks, "reduce", reduce_once)
    items, grades, ids = on_dask(table)
    fresh = clone(model)
    failure = pytest.raises(ConnectionError, match="the Dask scheduler .* does not answer")
    with client.as_current(), failure:  # that of the other tests is current here
        fresh.fit(items, grades, qid=ids)
    assert len(sums) == 2 and not [name for name in vars(fresh) if name.endswith("_")]
