"""Leave-query-out over blocks against the same in one place, and against training again."""

import numpy as np
import pytest

import rankbook as rb
from rankbook.selection.held_out import leave_query_out, validation_groups

LAMS = np.logspace(-3, 4, 9)


def data(grid, seed=0, n=160, queries=25):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 4)).astype(float) if grid else rng.normal(size=(n, 4))
    qid = np.sort(rng.integers(0, queries, n))
    return X, np.round(X[:, 0] - X[:, 1] + rng.normal(size=n)), qid


def cut(X, y, qid, at=(4, 5, 17)):
    ends = [0, *np.searchsorted(qid, at), len(y)]
    return rb.Blocks(rb.Block(X[i:j], y[i:j], qid[i:j]) for i, j in zip(ends, ends[1:]))


@pytest.mark.parametrize("basis", [None, 5])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore:1 of 24 queries have a single item")
def test_equal_to_training_again(basis, seed):
    X, y, qid = data(False, seed)
    options = dict(kernel="linear") if basis is None else dict(basis=X[:basis])
    statistics = rb.RankRLS(**options).fit(cut(X, y, qid)).statistics_
    curve = leave_query_out(cut(X, y, qid), statistics, LAMS)
    for lam, value in zip(LAMS[::4], curve[::4]):
        shares = []
        for q in np.unique(qid):
            out = qid == q
            if np.unique(y[out]).size > 1:
                model = rb.RankRLS(lam, **options).fit(X[~out], y[~out], qid=qid[~out])
                shares.append(rb.disagreement(y[out], model.predict(X[out])))
        assert np.isclose(value, np.mean(shares), atol=1e-12)


def test_equal_to_one_place_on_continuous_items():
    X, y, qid = data(False, 7)
    statistics = rb.RankRLS(kernel="linear").fit(cut(X, y, qid)).statistics_
    whole = rb.RankRLSCV(lams=LAMS, kernel="linear", cv="query").fit(X, y, qid=qid)
    curve = leave_query_out(cut(X, y, qid), statistics, LAMS)
    assert np.allclose(curve, whole.cv_values_[:, 0], atol=1e-12)


def test_ties_of_a_grid_stay_ties():
    X, y, qid = data(True)
    statistics = rb.RankRLS(kernel="linear").fit(cut(X, y, qid)).statistics_
    whole = rb.RankRLSCV(lams=LAMS, kernel="linear", cv="query").fit(X, y, qid=qid)
    curve = leave_query_out(cut(X, y, qid), statistics, LAMS)
    assert np.allclose(curve, whole.cv_values_[:, 0], atol=1e-12)


def test_what_is_refused():
    X, y, qid = data(False)
    statistics = rb.RankRLS(kernel="linear").fit(cut(X, y, qid)).statistics_
    weighted = rb.Blocks([rb.Block(X, y, qid, weight=np.ones(len(y)))])
    with pytest.raises(ValueError, match="item weights"):
        leave_query_out(weighted, statistics, LAMS)
    with pytest.raises(ValueError, match="lams"):
        leave_query_out(cut(X, y, qid), statistics, [0.0])
    with pytest.raises(ValueError, match="1 query with two different scores"):
        leave_query_out(rb.Blocks([rb.Block(X, y)]), statistics, LAMS)


@pytest.mark.parametrize("seed", [None, 0])
def test_folds_of_equal_columns_are_those_of_one(seed):
    X, y, _ = data(False)
    groups = lambda Y: validation_groups(4, X, Y, np.zeros(len(y), int), True, seed)
    one, two = groups(y[:, None]), groups(np.column_stack([y, 2 * y]))
    assert len(one) == len(two) == 4 and all(map(np.array_equal, one, two))
