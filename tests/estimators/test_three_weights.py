"""Copies, slack scales and margins from the interface of the estimators.

Against problems solved by `qp`, on ties, copies of items and contradictory preferences.
"""

import numpy as np
import pytest

import rankbook as rb
from rankbook.problems.svm import MulticlassSVMProblem


@pytest.fixture(params=range(4))
def awkward(request):
    """Items on a grid with copies, and preferences that repeat and contradict each other."""
    rng = np.random.default_rng(request.param)
    X = rng.integers(-2, 3, (9, 2)).astype(float)
    X[1] = X[0]
    better = rng.integers(0, 9, 25)
    worse = (better + rng.integers(1, 9, 25)) % 9
    times = rng.integers(0, 4, 25)
    times[0] = 1
    return X, rb.Preferences(better, worse, 9), times


@pytest.mark.filterwarnings("ignore:approximate_kernel is 9")
@pytest.mark.parametrize("options", [{}, dict(kernel="linear"), dict(approximate_kernel=9)])
def test_a_ranking_svm_takes_weights_and_margins_of_preferences(awkward, options):
    X, prefs, times = awkward
    copies = rb.Preferences(np.repeat(prefs.better, times), np.repeat(prefs.worse, times), 9)
    wider = prefs.reweighted(weight=times, margin=1.0 + times)
    kernel = options.get("kernel", "rbf")
    for given in (copies, prefs.reweighted(weight=times), wider):
        model = rb.RankSVM(lam=0.5, **options).fit(X, preferences=given)
        exact = rb.solve(rb.RankSVMProblem(X, given, kernel=kernel), 0.5, solver="qp")
        assert model.certificate_.primal == pytest.approx(exact.certificate.primal, rel=1e-5)
        assert np.allclose(model.predict(X), exact.predict(X), atol=1e-2)


def test_preferences_of_scores_are_the_scores(awkward):
    X, _, times = awkward
    y, qid = np.arange(9) % 3, np.arange(9) // 5
    prefs = rb.Preferences.from_scores(y, qid)
    one, two = rb.RankSVM().fit(X, y, qid), rb.RankSVM().fit(X, preferences=prefs)
    assert np.array_equal(one.predict(X), two.predict(X))
    weight = 1.0 + times[:9]
    one = rb.RankSVM().fit(X, y, qid, weight)
    two = rb.RankSVM().fit(X, preferences=prefs.item_weighted(weight))
    assert np.array_equal(one.predict(X), two.predict(X))


@pytest.mark.parametrize(
    "extra, error, said",
    [
        (dict(preferences=3), TypeError, "preferences is an int. Pass"),
        (dict(preferences=rb.Preferences([0], [1], 8)), ValueError, "8 items, and X has 9 rows"),
        (
            dict(preferences=rb.Preferences([0], [1], 9, weight=[0.0])),
            ValueError,
            "preferences has 1 preference, none of positive weight|weight",
        ),
        (dict(y=np.arange(9)), ValueError, "preferences and y are both given"),
        (dict(qid=np.arange(9)), ValueError, "preferences and qid are both given"),
        (dict(sample_weight=np.ones(9)), ValueError, "preferences and sample_weight are both"),
    ],
)
def test_preferences_are_refused_by_name(extra, error, said):
    X = np.arange(18.0).reshape(9, 2)
    model = rb.RankSVM()
    with pytest.raises(error, match=said):
        model.fit(X, **(dict(preferences=rb.Preferences([0], [1], 9)) | extra))
    assert not [name for name in vars(model) if name.endswith("_")]


def test_neither_scores_nor_preferences():
    with pytest.raises(ValueError, match="requires y to be passed.*preferences"):
        rb.RankSVM().fit(np.ones((3, 1)))


def value(problem, w, lam):
    """The objective of a linear problem at weights w."""
    return problem.primal(np.linalg.lstsq(problem.X.T, w, rcond=None)[0], lam)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("margins", [False, True])
def test_a_stream_of_weighted_pairs_comes_close_to_the_exact_solution(awkward, weighted, margins):
    X, prefs, times = awkward
    weight = times.astype(float) if weighted else np.ones(25)
    margin = 1.0 + times if margins else np.ones(25)
    lam = 0.02 * weight.sum()
    problem = rb.RankSVMProblem(X, prefs.reweighted(weight=weight, margin=margin), kernel="linear")
    best = rb.solve(problem, lam, solver="qp").certificate.primal
    learner = rb.OnlineRankSVM(lam=0.02, draws=3000).partial_fit_pairs(
        X[prefs.better],
        X[prefs.worse],
        weight=weight if weighted else None,
        margin=margin if margins else None,
    )
    assert value(problem, learner.coef_, lam) <= 1.01 * best
    assert learner.n_updates_ == 3000 * weight.sum()


def test_ones_change_nothing_and_zeros_teach_nothing():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 50, 3))
    plain = rb.OnlineRankSVM().partial_fit_pairs(a, b).coef_
    assert np.array_equal(
        plain, rb.OnlineRankSVM().partial_fit_pairs(a, b, margin=np.ones(50)).coef_
    )
    silent = rb.OnlineRankSVM().partial_fit_pairs(a, b, weight=np.zeros(50))
    assert silent.n_updates_ == 0 and not silent.coef_.any()
    before = rb.OnlineRankSVM().partial_fit_pairs(a, b)
    after = before.coef_.copy()
    before.partial_fit_pairs(b, a, weight=np.zeros(50))
    assert np.array_equal(before.coef_, after) and before.n_updates_ == 50


def test_fractions_of_a_step_are_kept():
    a, b = np.ones((4, 1)), np.zeros((4, 1))
    learner = rb.OnlineRankSVM()
    for steps in (1, 2, 3):
        learner.partial_fit_pairs(a, b, weight=np.full(4, 0.25))
        assert learner.n_updates_ == steps
    for _ in range(2):
        learner.partial_fit_pairs(a, b, weight=[0.5, 0, 0, 0])
    assert learner.n_updates_ == 4


@pytest.mark.parametrize(
    "extra, said",
    [
        (dict(weight=[1.0]), r"weight has shape \(1,\). Pass an array of shape \(2,\)"),
        (dict(weight=[1.0, -1.0]), "weight has -1.0 at index 1"),
        (dict(weight=[1e200, 1.0]), "weight has a sum of 1e[+]200"),
        (dict(margin=[1.0, 0.0]), "margin has 0.0 at index 1"),
        (dict(margin=[np.inf, 1.0]), "margin has infinity at index 0"),
        (dict(margin=[1e200, 1.0]), "margin has 1e[+]200 at index 0"),
        (dict(margin=1.0), "margin"),
    ],
)
def test_bad_weights_and_margins_change_nothing(extra, said):
    a, b = np.ones((2, 1)), np.zeros((2, 1))
    learner = rb.OnlineRankSVM().partial_fit_pairs(a, b)
    before = learner.coef_.copy()
    with pytest.raises(ValueError, match=said):
        learner.partial_fit_pairs(a, b, **extra)
    assert np.array_equal(learner.coef_, before) and learner.n_updates_ == 2
    if "margin" in extra:
        with pytest.raises(ValueError, match=said):
            rb.OnlineSVC().fit(a, [0, 1], **extra)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("partial", [False, True])
def test_labels_take_margins(classes, partial):
    rng = np.random.default_rng(classes)
    y = np.arange(30) % classes
    X = np.round(rng.normal(size=(30, 2)) + np.eye(3, 2)[y], 1)
    weight, margin = rng.integers(1, 3, 30).astype(float), rng.integers(1, 4, 30).astype(float)
    kind = rb.SVMProblem if classes == 2 else MulticlassSVMProblem
    problem = kind(X, y, weight=weight, margin=margin)
    lam = 0.05 * weight.sum() * (classes - 1)
    best = rb.solve(problem, lam, solver="qp").certificate.primal
    model = rb.OnlineSVC(0.05, fit_intercept=False, tol=1e-4, draws=2000 if partial else 1.0)
    if partial:
        model.partial_fit(X, y, np.arange(classes), sample_weight=weight, margin=margin)
    else:
        model.fit(X, y, sample_weight=weight, margin=margin)
    assert value(problem, model.coef_.T, lam) <= 1.01 * best
