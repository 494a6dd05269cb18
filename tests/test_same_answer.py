"""The same call gives the same answer, to the bit.

It does so whatever the global random state is, which stays as it is.
"""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import rankbook as rb
from rankbook.data.split import split
from rankbook.kernels.basis import choose_basis
from rankbook.kernels.nystroem import NystroemMap

ESTIMATORS = [
    value
    for value in (getattr(rb, name) for name in rb.__all__)
    if isinstance(value, type)
    and issubclass(value, BaseEstimator)
    and value is not rb.Leaderboard  # which has tests of its own
]
DRAWING = [
    rb.RankRLS(basis=7),
    rb.RankRLS(basis=7, basis_method="kmeans++"),
    rb.RankRLS(basis=7, basis_method="rpcholesky"),
    rb.RankRLSCV(basis=9),
    rb.RankSVM(approximate_kernel=8),
    rb.RayleighRanker(pivots="random"),
    rb.RayleighRanker(pivots="rpcholesky"),
    rb.RayleighRankerCV(pivots="random"),
    rb.RankSVM(kernel="linear", solver=("subgradient", dict(max_passes=20))),
    rb.RankSVM(kernel="linear", solver="newton"),
    rb.RankSVM(solver="qp"),
    rb.RankSVM(kernel="linear", penalty="l1"),
    rb.RankSVM(kernel="linear", penalty="l1", solver="qp"),
    rb.RankSVMCV(kernel="linear", solver="newton"),
    rb.RankSVMCV(kernel="linear", penalty="l1"),
]


def made(kind):
    """An estimator as it comes, but for fewer steps where it learns from a stream."""
    return kind(**{"max_updates": 20_000} if "max_updates" in kind().get_params() else {})


def test_all_estimators_are_found():
    assert len(ESTIMATORS) >= 8 and rb.RankSVMCV in ESTIMATORS and rb.OnlineSVC in ESTIMATORS


def state():
    kind, keys, *rest = np.random.get_state()
    return kind, keys.tolist(), *rest


def twice(call):
    """What two calls give under different global states, which they leave as they are."""
    found, before = [], np.random.get_state()
    try:
        for seed in (1, 2):
            np.random.seed(seed)
            now = state()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(call())
            assert state() == now, "np.random was used"
    finally:
        np.random.set_state(before)
    return found


@pytest.mark.parametrize("queries", [False, True], ids=["items", "queries"])
@pytest.mark.parametrize("model", [*map(made, ESTIMATORS), *DRAWING], ids=repr)
def test_two_fits_predict_the_same_bits(model, queries, weighted_queries):
    X, y, qid, _ = weighted_queries
    labels = isinstance(
        model, (rb.RayleighRanker, rb.RayleighRankerCV, rb.OnlineSVC, rb.OrdinalRanker)
    )
    if labels and queries:
        pytest.skip("has no queries")
    options = {"qid": qid} if queries else {}
    target = (y > np.median(y)).astype(float) if labels else y
    if isinstance(model, rb.LabelRanker):  # a column for each label, a row is a query
        target, options = np.c_[y, -y, y**2], {}
    a, b = twice(lambda: clone(model).fit(X, target, **options))
    assert np.array_equal(a.predict(X), b.predict(X))
    assert getattr(a, "lam_", 0) == getattr(b, "lam_", 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda X, y: choose_basis(X, 9),
        lambda X, y: choose_basis(X, 9, "kmeans++"),
        lambda X, y: choose_basis(X, 9, "rpcholesky"),
        lambda X, y: NystroemMap(X, 9, pivots="random").pivots,
        lambda X, y: NystroemMap(X, 9, pivots="rpcholesky").features,
        lambda X, y: rb.RayleighProblem(X, y > np.median(y), unlabelled=False, pivots="random").X,
        lambda X, y: rb.OnlineRankSVM().partial_fit(X, y).partial_fit(X, -y).coef_,
        lambda X, y: rb.OnlineRankSVM().partial_fit_pairs(X[:45], X[45:]).coef_,
        lambda X, y: rb.solve_path(
            rb.RankSVMProblem(X, rb.Preferences.from_scores(y > np.median(y))),
            lam_min=10.0,
            solver="epsilon",
        ).coef(20.0),
        lambda X, y: rb.datasets.make_mixture(20).X,
        lambda X, y: split(rb.datasets.make_mixture(20))[0],
    ],
    ids=[
        "basis",
        "kmeans++",
        "rpcholesky",
        "random pivots",
        "drawn pivots",
        "Rayleigh",
        "partial_fit",
        "pairs",
        "epsilon",
        "mixture",
        "split",
    ],
)
def test_two_calls_give_the_same_bits(call, weighted_queries):
    a, b = twice(lambda: call(*weighted_queries[:2]))
    assert np.array_equal(a, b)


def test_a_seed_is_a_choice_and_a_generator_goes_on(weighted_queries):
    X = weighted_queries[0]
    assert np.array_equal(
        choose_basis(X, 9), choose_basis(X, 9, random_state=0)
    ) and not np.array_equal(choose_basis(X, 9), choose_basis(X, 9, random_state=1))
    for generator in (np.random.default_rng(0), np.random.RandomState(0)):
        assert not np.array_equal(
            choose_basis(X, 9, random_state=generator),
            choose_basis(X, 9, random_state=generator),
        )
