"""Ordinal regression: any ranker, every kind of label, and scikit-learn around it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import rankbook as rb


@pytest.fixture
def stars():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    return X, np.digitize(X[:, 0] + 0.5 * rng.normal(size=120), [-1, 0, 1])


@pytest.mark.parametrize("loss", ["error", "absolute"])
@pytest.mark.parametrize(
    "ranker",
    [
        None,
        rb.RankSVM(kernel="linear", solver="newton"),
        rb.RankRLS(),
        rb.RankRLSCV(lams=[1.0, 10.0], cv=3),
        rb.OnlineRankSVM(random_state=0),
        Ridge(),
        make_pipeline(StandardScaler(), rb.RankRLS()),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_any_ranker_is_cut_as_well_as_can_be(stars, ranker, loss):
    X, y = stars
    model = rb.OrdinalRanker(ranker, loss).fit(X, y)
    scores = model.ranker_.predict(X)
    measure = mean_absolute_error if loss == "absolute" else lambda a, b: np.mean(a != b)
    best = measure(y, model.predict(X))
    for moved in range(3):
        for place in scores:
            cuts = model.cuts_.copy()
            cuts[moved] = place
            assert best <= measure(y, np.digitize(scores, np.sort(cuts))) + 1e-12
    assert model.score(X, y) > 0.4 and model.n_features_in_ == 2


def test_labels_of_every_kind(stars):
    X, y = stars
    by_number = rb.OrdinalRanker().fit(X, y)
    for names in (np.array(list("abcd")), np.array([1.0, 2.0, 4.0, 9.0]), np.array([7, 8, 9, 10])):
        model = rb.OrdinalRanker().fit(X, names[y])
        assert np.array_equal(model.classes_, names) and model.predict(X).dtype == names.dtype
        assert np.array_equal(model.predict(X), names[by_number.predict(X)])
    booleans = rb.OrdinalRanker().fit(X, y > 1)
    assert booleans.predict(X).dtype == bool
    assert np.array_equal(booleans.decision_function(X) > 0, booleans.predict(X))


def test_frames_sparse_items_and_precomputed_kernels(stars):
    X, y = stars
    frame = pd.DataFrame(X, columns=["size", "age"])
    named = rb.OrdinalRanker().fit(frame, y)
    assert named.feature_names_in_.tolist() == ["size", "age"]
    assert not hasattr(named.fit(X, y), "feature_names_in_")
    linear = rb.OrdinalRanker(rb.RankSVM(kernel="linear", solver="newton"))
    assert np.array_equal(
        linear.fit(csr_array(X), y).predict(csr_array(X)), linear.fit(X, y).predict(X)
    )
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 2)
    pairwise = rb.OrdinalRanker(rb.RankSVM(kernel="precomputed"))
    shares = cross_val_score(pairwise, K, y, cv=3)
    assert np.allclose(shares, cross_val_score(rb.OrdinalRanker(), X, y, cv=3), atol=0.03)
    again = pickle.loads(pickle.dumps(named))
    assert np.array_equal(again.predict(X), named.predict(X))


def test_weights(stars):
    X, y = stars
    weight = np.random.default_rng(1).integers(0, 3, 120)
    ranker = rb.RankSVM(lam=1.0)  # the default lambda treats copies as more evidence
    heavy = rb.OrdinalRanker(ranker).fit(X, y, weight)
    copies = rb.OrdinalRanker(ranker).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert np.allclose(heavy.cuts_, copies.cuts_, atol=1e-6)
    none = rb.OrdinalRanker().fit(X, y, (y != 2).astype(float))
    assert none.classes_.tolist() == [0, 1, 2, 3] and 2 not in none.predict(X)
    assert none.cuts_[1] == none.cuts_[2]
    with pytest.raises(ValueError, match="the ranker does not accept weights"):
        rb.OrdinalRanker(rb.RankRLSCV(lams=[1.0])).fit(X, y, weight)
    with pytest.raises(ValueError, match="sample_weight is zero in every class, or in every"):
        rb.OrdinalRanker().fit(X, y, (y == 2).astype(float))


def test_two_classes_beside_a_support_vector_machine(stars):
    X, y = stars
    ours = rb.OrdinalRanker(rb.RankSVM(lam=10.0)).fit(X, y > 1)
    theirs = SVC(gamma=0.5).fit(X, y > 1)
    assert ours.score(X, y > 1) >= theirs.score(X, y > 1) - 0.03


@pytest.mark.parametrize("loss", ["error", "absolute"])
def test_the_decision_function_is_largest_for_the_class_that_is_predicted(stars, loss):
    X, y = stars
    for labels in (y, (y > 0) * 1 + (y > 2), (y != 1) * y):
        model = rb.OrdinalRanker(loss=loss).fit(X, labels)
        inside, cuts = model.decision_function(X), np.r_[-np.inf, model.cuts_, np.inf]
        assert inside.shape == (120, model.classes_.size)
        assert np.array_equal(model.classes_[inside.argmax(axis=1)], model.predict(X))
        for score, row in zip(model.ranker_.predict(X), inside):
            assert row.tolist() == [min(score - a, b - score) for a, b in zip(cuts, cuts[1:])]


def test_scores_on_a_cut_and_classes_without_scores():
    X, y = np.arange(6.0)[:, None] // 2, np.arange(6) // 2
    model = rb.OrdinalRanker(Ridge(alpha=1e-9)).fit(X, y)
    model.cuts_ = model.ranker_.predict([[0.5], [1.5]])
    assert np.allclose(model.decision_function([[0.5]]), [[0, 0, -1]])
    assert model.predict([[0.5]]).tolist() == [1]
    flat = rb.OrdinalRanker().fit(np.ones((5, 1)), [0, 0, 1, 2, 9])
    inside = flat.decision_function([[1.0]])[0]
    assert flat.predict([[1.0]])[0] == flat.classes_[inside.argmax()] == 0
    assert (inside[1:] == -np.inf).all()


def test_a_cut_that_nobody_is_above_leaves_the_scores_finite():
    model = rb.OrdinalRanker().fit(np.ones((3, 1)), [0, 0, 1])
    assert np.isinf(model.cuts_).all() and np.isfinite(model.decision_function([[1.0]])).all()
    assert model.predict([[1.0], [5.0]]).tolist() == [0, 0]


def test_ordered_categories_keep_their_order(stars):
    pl = pytest.importorskip("polars")
    X, y = stars
    names = np.array(["low", "mid", "high", "top"])
    ordered = pd.Categorical.from_codes(y, names, ordered=True)
    plain = rb.OrdinalRanker().fit(X, y)
    for labels in (ordered, pd.Series(ordered), pl.Series(names[y], dtype=pl.Enum(names))):
        model = rb.OrdinalRanker().fit(X, labels)
        assert model.classes_.tolist() == [*names]
        assert np.array_equal(model.predict(X), names[plain.predict(X)])
        with pytest.raises(ValueError, match="y consists of ordered categories.*Use the codes"):
            rb.RankSVM().fit(X, labels)
    # categories without items are no classes, and numbers are in the order of the categories
    some = pd.Categorical.from_codes(2 * (y > 1), [3, 1, 2], ordered=True)
    assert rb.OrdinalRanker().fit(X, some).classes_.tolist() == [3, 2]


def test_a_relation_of_duckdb_is_refused_with_what_reads_it(stars):
    class Relation:
        def __len__(self):
            return 120

        def __getitem__(self, column):
            raise TypeError("a relation is indexed by one column name")

        def df(self):
            raise NotImplementedError

    with pytest.raises(TypeError, match="y cannot be read as an array: .*; use y.df()"):
        rb.OrdinalRanker().fit(stars[0], Relation())


def test_declared_orders_of_numbers_and_of_a_table_with_one_column():
    y = pd.Series(pd.Categorical([0, 1, 2, 0], categories=[2, 1, 0], ordered=True))
    X = np.arange(4.0)[:, None]
    with pytest.raises(ValueError, match="y consists of ordered categories"):
        rb.RankSVM(kernel="linear").fit(X, y)
    assert rb.OrdinalRanker(rb.RankSVM(kernel="linear")).fit(X, y).classes_.tolist() == [2, 1, 0]
    with pytest.warns(DataConversionWarning):
        table = rb.OrdinalRanker(rb.RankSVM(kernel="linear")).fit(X, y.to_frame())
    assert table.classes_.tolist() == [2, 1, 0]
