"""Long tables of ratings, joined by key, and recommendations from them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import rankbook as rb

N, K = 40, 15


def tables(names="text", seed=0):
    """Features of users and items in a shuffled order, and long ratings in another one."""
    rng = np.random.default_rng(seed)
    users, items = np.arange(N) * 3 + 100, np.arange(K) * 7 + 1000  # names that are numbers
    if names == "text":
        users, items = [f"u{i}" for i in users], [f"i{a}" for a in items]
    X = pd.DataFrame(rng.normal(size=(N, 3)), index=rng.permutation(users), columns=list("abc"))
    Z = pd.DataFrame(rng.normal(size=(K, 2)), index=rng.permutation(items), columns=list("pq"))
    long = pd.DataFrame(itertools.product(users, items), columns=["user", "item"])
    long = long[rng.random(len(long)) < 0.4].sample(frac=1, random_state=seed)
    return X, Z, long.assign(rating=rng.integers(0, 6, len(long)).astype(float))


@pytest.mark.parametrize("names", ["text", "numbers"])
def test_ratings_are_joined_by_name(names):
    X, Z, long = tables(names)
    found = rb.read_ratings(long, X, Z)
    assert found.y.nnz == len(long)  # a rating of 0 is a rating
    for row in long.itertuples():
        i, a = X.index.get_loc(row.user), Z.index.get_loc(row.item)
        assert found.y[i, a] == row.rating
    wide = long.pivot(index="user", columns="item", values="rating")
    wide = wide.reindex(index=X.index, columns=Z.index)
    model = rb.LabelRanker(kernel="linear", label_kernel="linear")
    scores = [np.asarray(model.fit(X, y, labels=Z).predict(X)) for y in (found.y, wide.to_numpy())]
    assert np.allclose(*scores, atol=1e-10)
    renamed = long.rename(columns=dict(user="who", item="what", rating="n")).to_dict("series")
    again = rb.read_ratings(renamed, X, Z, user="who", item="what", rating="n")
    assert np.array_equal(again.y.toarray(), found.y.toarray())


def wrong(long, change):
    long = long.copy()
    if change == "repeated":
        return pd.concat([long, long.head(2)])
    if change == "missing":
        long.iloc[3, 2] = np.nan
    if change == "infinite":
        long.iloc[3, 2] = np.inf
    if change == "user":
        long.iloc[3, 0] = "stranger"
    if change == "empty item":
        long.iloc[3, 1] = None
    if change == "types":
        return long.assign(item=long["item"].str[1:].astype(int))
    if change == "column":
        return long.rename(columns=dict(rating="count"))
    return long


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("repeated", "ratings has 2 repeated rows, for example user '.*groupby.*sum"),
        ("missing", "ratings has 1 row without a 'rating'.*dropna"),
        ("infinite", "rating has inf"),
        ("user", "1 row whose 'user' is not in the index of users, among them 'stranger'.*isin"),
        ("empty item", "1 row whose 'item' is not in the index of items, among them (None|nan)"),
        ("types", "'item' is not in the index of items.*No name agrees.*int64"),
        ("column", "ratings has no column 'rating' .its columns are 'user', 'item', 'count'"),
    ],
)
def test_wrong_rows_are_refused(change, said):
    X, Z, long = tables()
    with pytest.raises(ValueError, match=said):
        rb.read_ratings(wrong(long, change), X, Z)


def test_tables_of_features_need_names():
    X, Z, long = tables()
    with pytest.raises((TypeError, ValueError), match="users is an ndarray.*set_index"):
        rb.read_ratings(long, X.to_numpy(), Z)
    with pytest.raises(ValueError, match="items has the name '.*' twice"):
        rb.read_ratings(long, X, pd.concat([Z, Z]))


@pytest.mark.filterwarnings("ignore:exclude leaves")
@pytest.mark.parametrize("names", ["text", "numbers"])
@pytest.mark.parametrize("k", [1, 4, K, 100])
def test_recommendations_are_the_best_of_what_is_left(names, k, monkeypatch, tmp_path):
    X, Z, long = tables(names)
    Z.iloc[3] = Z.iloc[5]  # ties
    ratings = rb.read_ratings(long, X, Z)
    model = rb.LabelRanker(kernel="linear", label_kernel="linear")
    model.fit(X, ratings.y, labels=Z).save(tmp_path / "model")
    model = rb.load(tmp_path / "model")
    whole = model.recommend(X.iloc[::-1], k, exclude=long)
    monkeypatch.setattr("rankbook.estimators.label_ranker.BLOCK", 7 * K)
    parts = model.recommend(X.iloc[::-1], k, exclude=long)
    assert parts.equals(whole)
    scores = pd.DataFrame(np.asarray(model.predict(X)), index=X.index, columns=Z.index)
    seen = set(zip(long["user"], long["item"]))
    rows = iter(whole.itertuples(index=False))
    for user in X.index[::-1]:
        left = [item for item in Z.index if (user, item) not in seen]
        best = sorted(left, key=lambda item: -round(scores.loc[user, item], 10))[:k]
        found = [next(rows) for _ in best]
        assert [row.item for row in found] == best
        assert [row.rank for row in found] == list(range(1, len(best) + 1))
        assert all(row.user == user for row in found)
        assert np.allclose([row.score for row in found], scores.loc[user, best], atol=1e-12)
    assert next(rows, None) is None


@pytest.mark.filterwarnings("ignore:exclude leaves")
def test_seen_pairs_as_a_matrix_and_new_items():
    X, Z, long = tables()
    ratings = rb.read_ratings(long, X, Z)
    model = rb.LabelRanker(kernel="linear", label_kernel="linear")
    model.fit(X, ratings.y, labels=Z)
    by_name, by_place = (model.recommend(X, 3, exclude=seen) for seen in (long, ratings.y))
    assert by_name.equals(by_place)
    new = pd.DataFrame(np.eye(2), index=["n1", "n2"], columns=list("pq"))
    only = model.recommend(X, 1, labels=new, exclude=dict(user=X.index, item=["n1"] * N))
    assert set(only["item"]) == {"n2"} and len(only) == N
    nothing = csr_array(np.ones((N, K)))
    assert model.recommend(X, 3, exclude=nothing).empty


@pytest.mark.parametrize(
    ("exclude", "said"),
    [
        (dict(user=[1]), "exclude has no column 'item'"),
        (dict(user=["u100"], item=[5]), "exclude has no item of the model .its first item is 5"),
        (csr_array((2, 2)), r"exclude has shape \(2, 2\)"),
    ],
)
def test_wrong_exclusions_are_refused(exclude, said):
    X, Z, long = tables()
    model = rb.LabelRanker(kernel="linear", label_kernel="linear")
    model.fit(X, rb.read_ratings(long, X, Z).y, labels=Z)
    with pytest.raises(ValueError, match=said):
        model.recommend(X, 1, exclude=exclude)
