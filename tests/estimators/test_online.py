"""The estimators that learn from streams.

Against scikit-learn's own checks, exact optima, and bad input.
"""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import rankbook as rb
from rankbook.estimators.online import Monitor, OnlineRankSVM, OnlineSVC
from rankbook.problems.ranksvm import RankSVMProblem
from rankbook.problems.svm import MulticlassSVMProblem, SVMProblem


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    w = rng.normal(size=5)
    qid = rng.integers(0, 30, 600)
    return X, np.round(X @ w + rng.normal(size=600)), qid, rng


def ranking_excess(model, X, y, qid, lam, weight=None):
    """How far the objective per preference lies above its optimum, as a share."""
    prefs = rb.Preferences.from_scores(y, qid)
    c = np.ones(len(prefs)) if weight is None else weight[prefs.better] * weight[prefs.worse]
    problem = RankSVMProblem(X, prefs.reweighted(weight=c), kernel="linear")
    best = rb.solve(problem, lam * c.sum()).certificate.primal
    w = model.coef_
    return (lam * c.sum() / 2 * w @ w + c @ np.maximum(0, 1 - prefs.matvec(X @ w))) / best - 1


@pytest.mark.parametrize(
    "step, average, tol",
    [
        ("1/t", True, 1e-2),
        ("1/t", "plain", 1e-2),
        ("1/sqrt(t)", True, 1e-2),
        ("1/sqrt(t)", "plain", 1e-3),
    ],
)  # the last is slow, so its gains are small
def test_fit_comes_within_one_percent(stream, step, average, tol):
    X, y, qid, _ = stream
    model = OnlineRankSVM(lam=1e-2, step=step, average=average, tol=tol, random_state=1).fit(
        X, y, qid
    )
    assert model.converged_ and 0 <= ranking_excess(model, X, y, qid, 1e-2) < 0.01


def test_the_stream_does_as_well_as_the_whole(stream):
    X, y, qid, _ = stream
    model = OnlineRankSVM(lam=1e-2, random_state=1)
    for _ in range(20):
        for q in range(30):
            model.partial_fit(X[qid == q], y[qid == q])
    assert model.n_updates_ == 20 * len(rb.Preferences.from_scores(y, qid))
    assert ranking_excess(model, X, y, qid, 1e-2) < 0.02
    assert model.converged_


def test_item_weights(stream):
    X, y, qid, _ = stream
    weight = np.random.default_rng(1).uniform(0, 3, 600)
    model = OnlineRankSVM(lam=1e-2, tol=1e-3, random_state=1).fit(X, y, qid, sample_weight=weight)
    assert (
        ranking_excess(model, X, y, qid, 1e-2, weight)
        < 0.01
        < ranking_excess(
            OnlineRankSVM(lam=1e-2, random_state=1).fit(X, -y, qid), X, y, qid, 1e-2, weight
        )
    )


def test_weights_of_a_batch_are_steps(stream):
    X, y, qid, _ = stream
    whole = OnlineRankSVM(random_state=0).partial_fit(X, y, qid).n_updates_
    assert (
        OnlineRankSVM(random_state=0)
        .partial_fit(X, y, qid, sample_weight=np.full(600, 2.0))
        .n_updates_
        == 4 * whole
    )
    model = OnlineRankSVM(random_state=0, draws=0.3)
    for t in range(1, 11):
        model.partial_fit_pairs(X[:1], X[1:2])
        assert model.n_updates_ == int(np.floor(0.3 * t + 1e-9))  # fractions are carried over
    assert OnlineSVC(random_state=0).partial_fit(X, qid % 3, classes=[0, 1, 2]).n_updates_ == 1200


def test_zero_weights_remove(stream):
    X, y, qid, _ = stream
    weight = (np.arange(600) % 3 > 0).astype(float)
    a = OnlineRankSVM(lam=1e-2, random_state=0).fit(X, y, qid, sample_weight=weight)
    b = OnlineRankSVM(lam=1e-2, random_state=0).fit(X[weight > 0], y[weight > 0], qid[weight > 0])
    assert np.allclose(a.coef_, b.coef_)


def test_pairs_and_scores_are_one_stream(stream):
    X, *_ = stream
    a = OnlineRankSVM(random_state=0).partial_fit_pairs(X[:1], X[1:2])
    b = OnlineRankSVM(random_state=0).partial_fit(X[:2], [1, 0])
    assert np.allclose(a.coef_, b.coef_) and a.n_updates_ == b.n_updates_ == 1


def test_constant_memory():
    rng = np.random.default_rng(0)
    model, sizes = OnlineRankSVM(random_state=0), []
    for _ in range(40):
        model.partial_fit_pairs(rng.normal(size=(100, 3)), rng.normal(size=(100, 3)))
        sizes.append(len(pickle.dumps(model)))
    assert max(sizes) - sizes[0] < 1000


def test_a_pickled_stream_goes_on(stream):
    X, y, qid, _ = stream
    model = OnlineRankSVM(random_state=0).partial_fit(X, y, qid)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(model.partial_fit(X, y, qid).coef_, copy.partial_fit(X, y, qid).coef_)


def test_seeds(stream):
    X, y, qid, _ = stream
    fit = lambda seed: OnlineRankSVM(lam=1e-2, random_state=seed).fit(X, y, qid).coef_
    assert np.array_equal(fit(3), fit(3)) and not np.array_equal(fit(3), fit(4))


def test_not_converged_is_said_loudly(stream):
    X, y, qid, _ = stream
    with pytest.warns(ConvergenceWarning, match="after 2,000 steps"):
        model = OnlineRankSVM(max_updates=2000, random_state=0).fit(X, y, qid)
    assert not model.converged_ and model.n_updates_ == 2000


def test_no_early_triumph():
    """Steps of one length stand still around a point that is not the optimum.

    That is not convergence.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = OnlineRankSVM(lam=1e-7, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.set_params(max_updates=300_000).fit(X, X[:, 0])
    assert not model.converged_


def test_a_stream_that_turns_round_is_noticed():
    rng = np.random.default_rng(0)
    model, said = OnlineRankSVM(lam=1e-1, random_state=0), []
    for t in range(80):
        a, b = rng.normal(size=(2, 500, 3))
        first = (a - b)[:, 0] * (1 if t < 40 else -1) > 0
        model.partial_fit_pairs(np.where(first[:, None], a, b), np.where(first[:, None], b, a))
        said.append(model.converged_)
    assert said[30] and not all(said[40:])


def test_the_sample_is_uniform_over_the_stream():
    model = OnlineRankSVM(random_state=0)
    for t in range(100):
        model.partial_fit_pairs(np.full((50, 1), t + 1.0), np.zeros((50, 1)))
    seen = model._stream[1].rows[:, 0]
    assert (
        abs(seen.mean() - 50.5) < 5 * 28.9 / np.sqrt(1024)
        and seen.min() >= 1
        and len(np.unique(seen)) > 90
    )


# No preference


def test_a_batch_without_preference_teaches_nothing(stream):
    X, y, qid, _ = stream
    model = OnlineRankSVM(random_state=0).partial_fit(X[:10], np.ones(10))
    assert model.n_updates_ == 0 and not model.coef_.any() and not model.converged_
    model.partial_fit(X, y, qid)
    before = model.coef_
    assert np.array_equal(model.partial_fit(X[:1], y[:1]).coef_, before)
    assert np.array_equal(model.partial_fit(X[:9], np.arange(9), qid=np.arange(9)).coef_, before)
    assert np.array_equal(
        model.partial_fit(X[:9], np.arange(9), sample_weight=np.zeros(9)).coef_, before
    )
    for kind in (
        dict(y=np.ones(600)),
        dict(y=y, qid=np.arange(600)),
        dict(y=y, qid=qid, sample_weight=np.zeros(600)),
        dict(y=(np.arange(600) > 0) * 1.0, sample_weight=(np.arange(600) > 0) * 1.0),
    ):
        with pytest.raises(ValueError, match="no preference|sample_weight is zero for every item"):
            OnlineRankSVM().fit(X, **kind)


# Classification


@pytest.mark.parametrize("classes", [2, 4])
def test_classes_against_the_exact_optimum(stream, classes):
    X, y, _, _ = stream
    labels = np.digitize(y, np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1]))
    lam = 1e-2
    model = OnlineSVC(lam=lam, random_state=0, fit_intercept=False).fit(X, labels)
    if classes == 2:
        problem, w = SVMProblem(X, labels), model.coef_[None]
        assert model.coef_.shape == (5,)
    else:
        problem, w = MulticlassSVMProblem(X, labels), model.coef_
        assert w.shape == (4, 5)
    m = problem.n_preferences
    best = rb.solve(problem, lam * m).certificate.primal
    f = X @ w.T if classes > 2 else X @ w[0]
    found = lam * m / 2 * np.sum(w**2) + np.maximum(0, 1 - problem.prefs.matvec(f)).sum()
    assert model.converged_ and 0 <= found / best - 1 < 0.01


def test_linear_svc(stream):
    X, y, _, _ = stream
    model = OnlineSVC(lam=1e-2, fit_intercept=False, tol=1e-3, random_state=0).fit(X, y > 0)
    peer = LinearSVC(loss="hinge", fit_intercept=False, C=1 / (1e-2 * 600), max_iter=100_000).fit(
        X, y > 0
    )
    assert np.allclose(model.coef_, peer.coef_[0], atol=0.05 * np.linalg.norm(peer.coef_))


def test_slack_scales_of_examples(stream):
    X, y, _, _ = stream
    weight = np.random.default_rng(0).integers(0, 4, 600)
    a = OnlineSVC(lam=1e-2, tol=1e-3, random_state=0).fit(X, y > 0, sample_weight=weight)
    b = OnlineSVC(lam=1e-2, tol=1e-3, random_state=0).fit(
        np.repeat(X, weight, axis=0), np.repeat(y > 0, weight)
    )
    assert np.allclose(a.coef_, b.coef_, atol=0.05)
    with pytest.raises(ValueError, match="sample_weight is zero for every example"):
        OnlineSVC().fit(X, y > 0, sample_weight=np.zeros(600))


def test_intercept(stream):
    X, y, _, _ = stream
    model = OnlineSVC(lam=1e-3, random_state=0).fit(X, y > 2)
    assert model.intercept_ < 0 and np.ndim(model.intercept_) == 0
    assert np.allclose(model.decision_function(X), X @ model.coef_ + model.intercept_)
    assert OnlineSVC(lam=1e-3, fit_intercept=False).fit(X, y > 2).intercept_ == 0


# Bad input: said, and nothing half done

BAD = [
    (dict(lam=0), "lam is 0"),
    (dict(lam=np.nan), "lam is nan"),
    (dict(step="t"), "step is 't'"),
    (dict(average="sufix"), "average is 'sufix'"),
    (dict(tol=0), "tol is 0"),
    (dict(lam=1e-320), "lam is"),
]


@pytest.mark.parametrize("params, what", BAD)
@pytest.mark.parametrize("kind", [OnlineRankSVM, OnlineSVC])
def test_bad_parameters(stream, kind, params, what):
    X, y, _, _ = stream
    for method in ("fit", "partial_fit"):
        model = kind(**params)
        extra = {"classes": [False, True]} if kind is OnlineSVC and method == "partial_fit" else {}
        with pytest.raises(ValueError, match=what):
            getattr(model, method)(X, y > 0, **extra)
        assert not hasattr(model, "coef_") and not hasattr(model, "n_features_in_")


def test_bad_draws_and_limits(stream):
    X, y, _, _ = stream
    with pytest.raises(ValueError, match="draws is -1"):
        OnlineRankSVM(draws=-1).partial_fit(X, y)
    with pytest.raises(ValueError, match="max_updates is 0"):
        OnlineRankSVM(max_updates=0).fit(X, y)
    for scale, what in ((1e200, "sample_weight has 1e.200"), (1e10, "sample_weight requires")):
        with pytest.raises(ValueError, match=what):
            OnlineRankSVM().partial_fit(X, y, sample_weight=np.full(600, scale))


@pytest.mark.parametrize(
    "call, what",
    [
        (lambda m, X, y: m.partial_fit(X[:, :3], y), "X has 3 features"),
        (lambda m, X, y: m.partial_fit(X, y[:-1]), "one entry for each row"),
        (lambda m, X, y: m.partial_fit(X, y, qid=y[:-1]), "qid has shape"),
        (lambda m, X, y: m.partial_fit(X, y, sample_weight=y[:-1]), "sample_weight"),
        (lambda m, X, y: m.partial_fit(X, y, sample_weight=-np.ones(600)), "sample_weight has -1"),
        (lambda m, X, y: m.partial_fit(X, None), "y is None"),
        (lambda m, X, y: m.partial_fit(1e180 * X, y), "overflow"),
        (lambda m, X, y: m.partial_fit_pairs(X, X[1:]), "arrays of the same shape"),
        (lambda m, X, y: m.partial_fit_pairs(X[:, :2], X[:, :2]), "X has 2 features"),
        (lambda m, X, y: m.partial_fit_pairs(X[0], X[1]), "better has shape"),
        (
            lambda m, X, y: m.partial_fit(np.where(np.arange(5) == 3, np.nan, X), y),
            "row 0, column 3",
        ),
        (lambda m, X, y: m.fit(X[:, :3], np.ones(600)), "no preference"),
    ],
)
def test_a_refused_batch_changes_nothing(stream, call, what):
    X, y, qid, _ = stream
    model, other = (
        OnlineRankSVM(lam=1e-2, random_state=0).partial_fit(X, y, qid) for _ in range(2)
    )
    with pytest.raises(ValueError, match=what):
        call(model, X, y)
    assert np.array_equal(model.coef_, other.coef_) and model.n_features_in_ == 5
    assert np.array_equal(model.partial_fit(X, y, qid).coef_, other.partial_fit(X, y, qid).coef_)


def test_classes_are_checked(stream):
    X, y, _, _ = stream
    model = OnlineSVC(random_state=0)
    with pytest.raises(ValueError, match="classes is None in the first call"):
        model.partial_fit(X, y)
    model.partial_fit(X, np.arange(600) % 2, classes=[0, 1, 2])
    assert model.coef_.shape == (3, 5)
    before = model.coef_
    for y, classes, what in (
        (np.full(600, 3), None, "y has 3 at index 0"),
        (np.full(600, 1), [0, 1], r"classes is \[0, 1\]"),
        (np.linspace(0, 1, 600), None, "Unknown label type"),
    ):
        with pytest.raises(ValueError, match=what):
            model.partial_fit(X, y, classes=classes)
    assert model.coef_ is before
    times = np.zeros(600, dtype=[("died", bool), ("days", float)])
    with pytest.raises(ValueError, match="^y has the fields 'died', 'days'. Pass labels"):
        model.fit(X, times)


def test_read_only_and_strided(stream):
    X, y, qid, _ = stream
    frozen, wide = X.copy(), np.zeros((600, 10))
    frozen.flags.writeable = False
    wide[:, ::2] = X
    models = [
        OnlineRankSVM(lam=1e-2, random_state=0).fit(A, y, qid)
        for A in (X, frozen, wide[:, ::2], np.asfortranarray(X))
    ]
    assert all(np.array_equal(models[0].coef_, m.coef_) for m in models)


def test_monitor_standard_error():
    """On an objective that a learner cannot improve the gain is pure noise.

    The monitor says converged, not before it has compared.
    """
    model = OnlineRankSVM(lam=1.0, random_state=0)
    rng = np.random.default_rng(0)
    model.partial_fit_pairs(rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2)))
    assert (
        isinstance(model._stream[1], Monitor)
        and not model.converged_
        and model._stream[1].then is None
    )
    for _ in range(30):
        model.partial_fit_pairs(rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2)))
    assert model.converged_
    smooth = minimize(
        lambda w: w @ w / 2 + np.maximum(0, 1 - model._stream[1].rows @ w).mean(),
        np.zeros(2),
        method="Nelder-Mead",
    ).x
    assert np.linalg.norm(model.coef_ - smooth) < 0.15


@pytest.mark.parametrize("lam", [0.5, 0.01])
def test_offset_zero_is_the_algorithm_of_the_lecture(lam):
    """Section 1.4 of Bagnell's lecture with alpha_t = T / (lambda t), one preference at a time."""
    rng = np.random.default_rng(0)
    better, worse = rng.integers(-2, 3, size=(2, 200, 3)).astype(float)  # some of difference 0
    last = OnlineRankSVM(lam=lam, offset=0, average=False)
    mean = OnlineRankSVM(lam=lam, offset=0, average="plain")
    w, total = np.zeros(3), np.zeros(3)
    for t, (k, j) in enumerate(zip(better, worse), 1):
        difference = j - k
        gradient = lam * w
        if w @ difference > -1:
            gradient = gradient + difference
        w = w - gradient / (lam * t)
        total += w
        for model in (last, mean):
            model.partial_fit_pairs([k], [j])
        assert np.allclose(last.coef_, w, rtol=1e-12, atol=1e-12 / lam)
        assert np.allclose(mean.coef_, total / t, rtol=1e-12, atol=1e-12 / lam)
    assert not np.allclose(
        OnlineRankSVM(lam=lam, average=False).partial_fit_pairs(better, worse).coef_, w
    )


def two_weights(stream):
    """The stream's scores with two weights for each item, half of the worse ones 0."""
    X, y, qid, _ = stream
    rng = np.random.default_rng(7)
    a, b = rng.uniform(0.5, 2, 600), rng.integers(0, 2, 600).astype(float)
    return X, rb.Preferences.from_scores(y, qid).item_weighted(a, b)


def excess(model, X, prefs, lam):
    """How far the objective per preference lies above its optimum, as a share."""
    total = prefs.weight.sum()
    problem = RankSVMProblem(X, prefs, kernel="linear")
    best = rb.solve(problem, lam * total).certificate.primal
    return problem.certificate(lam * total, weights=model.coef_).primal / best - 1


def test_two_weights(stream):
    X, prefs = two_weights(stream)
    model = OnlineRankSVM(lam=1e-2).fit(X, prefs)
    assert not prefs.is_listed and model.by_query_ and model.converged_
    assert np.array_equal(OnlineRankSVM(lam=1e-2).fit(X, preferences=prefs).coef_, model.coef_)
    assert -1e-6 <= excess(model, X, prefs, 1e-2) <= 0.01


def test_two_weights_in_batches(stream):
    X, prefs = two_weights(stream)
    model, qid = OnlineRankSVM(lam=1e-2, draws=10), stream[2]
    for q in np.unique(qid):
        rows = np.flatnonzero(qid == q)
        model.partial_fit(X[rows], prefs[rows])
    assert abs(model.n_updates_ - 10 * prefs.weight.sum()) <= 1
    assert -1e-6 <= excess(model, X, prefs, 1e-2) <= 0.05
    before = model.coef_.copy()
    none = rb.Preferences.from_scores([0.0, 1.0]).item_weighted([1.0, 1.0], [0.0, 1.0])
    model.partial_fit(X[:2], none)  # such batches are normal
    assert np.array_equal(model.coef_, before)
    with pytest.raises(ValueError, match="none of positive weight"):
        OnlineRankSVM().fit(X[:2], none)
    with pytest.raises(ValueError, match="sample_weight"):
        model.partial_fit(X[:2], none, sample_weight=[1.0, 1.0])


@pytest.mark.parametrize("size, said", [(1e200, "a sum of 6e.200"), (1e-170, "products underflow")])
def test_weights_of_items_that_overflow_or_vanish(size, said):
    prefs = rb.Preferences.from_scores(np.arange(6.0))
    prefs = prefs.item_weighted(np.full(6, size), np.full(6, size) * (np.arange(6) < 4))
    with pytest.raises(ValueError, match=said):
        OnlineRankSVM(lam=1e-2).fit(np.eye(6), prefs)
    with pytest.raises(ValueError, match="better_weight has"):
        rb.RankRLS(kernel="linear").fit(np.eye(6), prefs)
