"""Probabilities of preferences and their calibration: beside scikit-learn and the truth."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import entr, expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook.base.errors import ArgumentError
from rankbook.estimators import calibration
from rankbook.estimators.calibration import METHODS, Isotonic
from rankbook.estimators.scaled import ScaledModel
from rankbook.metrics.probabilities import Sigmoid

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(900, 4)), np.array([1.0, -1.0, 0.5, 0.0])
TRAIN, HELD, TEST = np.split(np.arange(900), 3)


def truth(a, b):
    return 1 / (1 + np.exp((b - a) @ W))


def votes(rows, count, rng=RNG, n_items=900):
    """Preferences between rows of X by the Bradley-Terry model of X W."""
    k, l = rng.choice(rows, (2, count))
    k, l = k[k != l], l[k != l]
    first = rng.random(k.size) < truth(X[k], X[l])
    return rb.Preferences(np.where(first, k, l), np.where(first, l, k), n_items=n_items)


LEARNT, KNOWN = votes(TRAIN, 2000), votes(HELD, 3000)
MODELS = {
    "hinge": rb.RankSVM(kernel="linear"),
    "squared": rb.RankSVM(kernel="linear", loss="squared"),
    "logistic": rb.RankSVM(kernel="linear", loss="logistic"),
    "rls": rb.RankRLS(kernel="linear"),
    "rls rbf": rb.RankRLS(gamma=0.02),
    "online": rb.OnlineRankSVM(lam=1e-3, tol=0.1),
}


def fitted(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(MODELS[name]).fit(X, LEARNT)


@pytest.mark.parametrize("method, error", [("sigmoid", 0.03), ("isotonic", 0.04)])
@pytest.mark.parametrize("name", MODELS)
def test_where_the_truth_is_bradley_terry_calibrated_probabilities_come_near(name, method, error):
    model = fitted(name)
    scores = model.predict(X)
    assert model.calibrate(X, KNOWN, method=method) is model
    assert np.array_equal(model.predict(X), scores)
    k, l = RNG.choice(TEST, (2, 4000))
    p = model.predict_pair_proba(X[k], X[l])
    assert np.abs(p - truth(X[k], X[l])).mean() < error
    assert np.allclose(p + model.predict_pair_proba(X[l], X[k]), 1, rtol=0, atol=1e-15)
    order = np.argsort(scores[k] - scores[l])
    assert np.all(np.diff(p[order]) >= -1e-9)  # predictions of other rows round otherwise
    d = np.sort(scores[k] - scores[l])
    assert np.all(np.diff(model.link_.probability(d)) >= -1e-15)


def test_calibration_lowers_the_losses_of_test_preferences():
    model, test = fitted("hinge"), votes(TEST, 10_000)
    before = rb.metrics.log_loss(test, model.predict(X))
    model.calibrate(X, KNOWN)
    after = rb.metrics.log_loss(test, model.predict(X), link=model.link_)
    best = rb.metrics.log_loss(test, X @ W)
    assert after < before and after - best < 0.01
    assert rb.metrics.reliability(test, model.predict(X), link=model.link_).error < 0.03
    pairs = X[test.better], X[test.worse]
    given = rb.metrics.log_loss(test, model.predict_pair_proba(*pairs), link=None)
    assert given == pytest.approx(after, rel=1e-9)


def test_the_sigmoid_has_the_largest_likelihood():
    from scipy.optimize import minimize_scalar

    f = X[:300] @ W + RNG.normal(size=300)
    prefs = votes(np.arange(300), 3000, n_items=300)
    weight = RNG.random(len(prefs))
    prefs = prefs.reweighted(weight)
    d, m = prefs.matvec(f), len(prefs)

    def loss(slope):
        wrong, right = np.logaddexp(0, slope * d), np.logaddexp(0, -slope * d)
        return weight @ ((m + 1) * right + wrong) / (m + 2)

    found = minimize_scalar(loss, (0.1, 1.0), tol=1e-12).x
    assert rb.calibrate(prefs, f).slope == pytest.approx(found, rel=1e-6)
    assert rb.calibrate(prefs, 1000 * f).slope == pytest.approx(found / 1000, rel=1e-6)


def test_isotonic_is_that_of_scikit_learn_in_both_orientations():
    f = X[:300] @ W + RNG.normal(size=300)
    prefs = votes(np.arange(300), 500, n_items=300)
    d, least = prefs.matvec(f), 1 / (len(prefs) + 2)
    model = IsotonicRegression(y_min=least, y_max=1 - least, out_of_bounds="clip")
    model.fit(np.r_[d, -d], np.repeat([1.0, 0.0], d.size))
    link = rb.calibrate(prefs, f, method="isotonic")
    grid = np.linspace(-10, 10, 1001)
    assert np.allclose(link.probability(grid), model.predict(grid), rtol=0, atol=1e-12)
    # by the definition: no other increasing function with these values has a smaller error
    assert rb.metrics.brier_score(prefs, f, link=link) <= rb.metrics.brier_score(
        prefs, f, link=rb.calibrate(prefs, f)
    )


def test_ties_count_as_half_a_win_each_way():
    f, k, l = np.array([1.0, 0.0]), np.repeat([0, 1], [6, 4]), np.repeat([1, 0], [6, 4])
    drawn = rb.Preferences([0, 0, 1], [1, 1, 0], 2, weight=[2.0, 4.0, 4.0])
    for method in METHODS:
        p = rb.calibrate(rb.Preferences(k, l, 2), f, method=method).probability(1.0)
        assert p == pytest.approx(0.6, abs=0.05)
        assert rb.calibrate(drawn, f, method=method).probability(1.0) == pytest.approx(0.6, abs=0.1)


@pytest.mark.parametrize("method", METHODS)
def test_votes_may_be_added_up_first(method):
    f = X[:5] @ W
    prefs = votes(np.arange(5), 200, n_items=5)
    one, merged = (rb.calibrate(each, f, method=method) for each in (prefs, prefs.merged()))
    d = np.linspace(-4, 4, 9)
    assert np.allclose(one.probability(d), merged.probability(d), rtol=0, atol=1e-9)
    tiny = rb.calibrate(prefs.reweighted(np.full(len(prefs), 1e-3)), f, method=method)
    assert np.allclose(one.probability(d), tiny.probability(d), rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore:y_score orders most")  # the slope is 0 but for rounding
@pytest.mark.filterwarnings("error")
def test_the_slope_of_few_whole_numbers_needs_no_line_search():
    f = [-1, 2, 1, 2, -2, 1, -2]
    prefs = rb.Preferences.from_scores([1, 1, 0, 2, 2, 2, 1])
    d, m = prefs.matvec(np.array(f, dtype=float)), len(prefs)
    slope = rb.calibrate(prefs, f).slope
    assert (d * ((m + 1) / (m + 2) - Sigmoid(slope).probability(d))).sum() == pytest.approx(0)


@pytest.mark.parametrize("method", METHODS)
def test_degenerate_scores_give_neither_nan_nor_overflow(method):
    differences = np.array([-np.inf, -1e308, -1.0, -1e-300, 0.0, 1e-300, 1.0, 1e308, np.inf])
    cases = [
        ([0, 1], [0.0, 1.0]),
        ([0, 1], [1.0, 0.0]),
        ([0, 1], [2.0, 2.0]),
        ([0, 1, 2], [-1.7e308, 0.0, 1.7e308]),
        ([0, 1, 2], [0.0, 5e-324, 1e-300]),
        ([0, 1, 2, 3], [0.0, 1e-200, 1.0, 1e200]),
        ([0, 1, 1, 2], [0.0, 0.0, 1.0, 1.0]),
    ]
    for y, f in cases:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "y_score orders most")
            link = rb.calibrate(y, f, method=method)
            p = link.probability(differences)
        assert np.isfinite(p).all() and np.all(np.diff(p) >= 0) and p[4] == 0.5
        assert np.allclose(p + p[::-1], 1, rtol=0, atol=1e-15)


def test_scores_in_the_wrong_order_give_a_half_and_a_warning():
    for method in METHODS:
        with pytest.warns(UserWarning, match="orders most preferences wrongly"):
            link = rb.calibrate([0, 1, 2], [3.0, 2.0, 1.0], method=method)
        assert np.all(link.probability(np.array([-9.0, 0.0, 9.0])) == 0.5)


def test_many_counted_preferences_are_drawn_and_not_listed(monkeypatch):
    y, qid = RNG.integers(4, size=900), RNG.integers(3, size=900)
    f = y + RNG.normal(size=900)
    prefs = rb.Preferences.from_scores(y, qid)
    whole = rb.calibrate(prefs, f).slope
    assert not prefs.is_listed
    monkeypatch.setattr(calibration, "MAX_PAIRS", 20_000)
    assert rb.calibrate(prefs, f).slope == pytest.approx(whole, rel=1e-9)  # none are drawn
    links = [rb.calibrate(prefs, f, method="isotonic", random_state=seed) for seed in (None, 0, 1)]
    some = [float(link.probability(0.7)) for link in links]
    assert not prefs.is_listed and some[0] == some[1] != some[2]
    assert np.allclose(some, expit(0.7 * whole), rtol=0.1)
    weighted = prefs.item_weighted(RNG.integers(0, 3, 900))
    listed = rb.Preferences(weighted.better, weighted.worse, 900, weight=weighted.weight)
    monkeypatch.undo()
    assert rb.calibrate(weighted, f).slope == pytest.approx(rb.calibrate(listed, f).slope, rel=1e-9)


def test_query_ids_weights_survival_and_pairs_by_name():
    rows = X[:60]
    y, qid = (rows @ W + RNG.normal(size=60)).round(), RNG.integers(3, size=60)
    model = rb.RankRLS(kernel="linear").fit(rows, y, qid)
    with pytest.raises(ValueError, match="qid is None, and the model was fitted with query ids"):
        model.calibrate(rows, y)
    slope = model.calibrate(rows, y, qid).calibration_.slope
    prefs = rb.Preferences.from_scores(y, qid)
    assert slope == model.calibrate(rows, preferences=prefs).calibration_.slope
    assert slope == rb.calibrate(y, model.predict(rows), qid).slope
    weight = RNG.integers(0, 3, 60)
    weighted = rb.calibrate(prefs.item_weighted(weight), model.predict(rows)).slope
    assert model.calibrate(rows, y, qid, weight).calibration_.slope == weighted
    patients = rb.Preferences.from_survival(np.exp(rows @ W), RNG.random(60) < 0.7)
    model.fit(rows, patients)
    with pytest.raises(ValueError, match=r"^y_true holds survival times.* rb\.BaselineHazard\b"):
        model.calibrate(rows, patients)
    model.calibrate(rows, rb.Preferences(patients.better, patients.worse, patients.n_items))
    assert model.predict_pair_proba(rows[:1], rows[1:2]).shape == (1,)
    frame = pd.DataFrame(rows, index=[f"team {i}" for i in range(60)], columns=list("abcd"))
    pairs = [("team 1", "team 2"), ("team 2", "team 3"), ("team 3", "team 1")]
    named = rb.RankSVM(kernel="linear").fit(frame, preferences=pairs)
    named.calibrate(frame, preferences=pairs).set_output(predict="pandas")
    p = named.predict_pair_proba(frame.loc[["team 1"]], frame.loc[["team 5"]])
    assert isinstance(p, np.ndarray) and p.shape == (1,)
    with pytest.raises(ValueError, match="feature names"):
        named.predict_pair_proba(frame[list("dcba")], frame)


def test_logistic_probabilities_are_the_sigmoid_of_the_difference_and_swap():
    model = fitted("logistic")
    d = (X[:300] - X[300:600]) @ model.coef_
    p = model.predict_pair_proba(X[:300], X[300:600])
    assert np.allclose(p, 1 / (1 + np.exp(-d)), rtol=1e-10)
    assert model.link_ == Sigmoid() and not hasattr(model, "calibration_")
    far = model.predict_pair_proba(1e6 * X[:5], -1e6 * X[:5])
    assert np.all((far == 0) | (far == 1))


def test_features_of_pairs_count_in_probabilities_and_calibration():
    rng = np.random.default_rng(1)
    k, l, side = *rng.choice(TRAIN, (2, 3000)), rng.choice([-1.0, 1.0], 3000)
    there = k != l
    k, l, side = k[there], l[there], side[there]
    first = rng.random(k.size) < 1 / (1 + np.exp((X[l] - X[k]) @ W - 0.8 * side))
    ends = np.where(first, k, l), np.where(first, l, k)
    prefs = rb.Preferences(*ends, 900, pair_features=np.where(first, side, -side))
    for loss in ("logistic", "hinge"):
        model = rb.RankSVM(kernel="linear", loss=loss).fit(X, prefs).calibrate(X, prefs)
        for home in (1.0, -1.0, 0.0):
            p = model.predict_pair_proba(X[:300], X[300:600], np.full(300, home))
            exact = 1 / (1 + np.exp((X[300:600] - X[:300]) @ W - 0.8 * home))
            assert np.abs(p - exact).mean() < 0.03
        assert np.array_equal(p, model.predict_pair_proba(X[:300], X[300:600]))
        with pytest.raises(
            ValueError, match="^pair_features has 2 columns. Pass 1 column, as many as"
        ):
            model.predict_pair_proba(X[:3], X[3:6], np.ones((3, 2)))


def test_choices_are_the_softmax_within_queries_and_two_items_agree(tmp_path):
    orders = rb.Orders.from_rankings([RNG.permutation(30).tolist() for _ in range(5)])
    model = rb.RankSVM(kernel="linear", loss="plackett-luce").fit(X[:30], orders)
    qid = RNG.integers(4, size=30)
    p, e = model.predict_choice_proba(X[:30], qid), np.exp(model.predict(X[:30]))
    assert np.allclose(p, e / np.bincount(qid, e)[qid], rtol=1e-12)
    pair = model.predict_pair_proba(X[:1], X[1:2])[0]
    assert model.predict_choice_proba(X[:2]) == pytest.approx([pair, 1 - pair], rel=1e-12)
    far = model.predict_choice_proba(1e6 * X[:30])
    assert np.isfinite(far).all() and far.sum() == pytest.approx(1)
    assert model.predict_choice_proba(X[:1], ["a"]) == [1.0]
    with pytest.raises(ValueError, match="^qid has"):
        model.predict_choice_proba(X[:3], [1, 2])


def test_survival_times_have_pair_probabilities_and_no_choices(tmp_path):
    rng = np.random.default_rng(2)
    time = rng.exponential(np.exp(X @ W))
    end = rng.exponential(3.0, size=900)
    patients = rb.Preferences.from_survival(np.minimum(time, end), time <= end)
    model = rb.RankSVM(kernel="linear", loss="plackett-luce").fit(X[:600], patients[:600])
    p = model.predict_pair_proba(X[TEST], X[TEST[::-1]])
    # exponential lives of hazards exp(-X W): the first is longer with this probability
    assert np.abs(p - truth(X[TEST], X[TEST[::-1]])).mean() < 0.03
    model.save(tmp_path / "m")
    for one in (model, rb.load(tmp_path / "m")):
        with pytest.raises(ValueError, match="^model was fitted to survival times, whose first"):
            one.predict_choice_proba(X[:3])
    model.fit(X[TRAIN], np.round(X[TRAIN] @ W)).predict_choice_proba(X[:3])


class Probit:
    """The loss -log Phi(-t), whose preferences have the probabilities Phi(d)."""

    name, margin = "probit", 0.0

    def value(self, t):
        from scipy.special import log_ndtr

        return -log_ndtr(-t)

    def derivative(self, t):
        from scipy.special import log_ndtr

        return np.exp(-(t**2) / 2 - log_ndtr(-t)) / np.sqrt(2 * np.pi)

    def conjugate(self, a):
        return np.where(a >= 0, 0.0, np.inf)

    def probability(self, difference):
        from scipy.special import ndtr

        return ndtr(difference)


def test_a_loss_of_ones_own_may_have_probabilities():
    model = fitted("hinge").set_params(loss=Probit())
    d = model.predict(X[:5]) - model.predict(X[5:10])
    assert np.array_equal(model.predict_pair_proba(X[:5], X[5:10]), Probit().probability(d))
    assert rb.metrics.log_loss(KNOWN, model.predict(X), link=model.link_) > 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["hinge", "rls", "online"])
def test_files_pickles_and_copies_keep_a_calibration_and_clones_and_fits_do_not(
    name, method, tmp_path
):
    model = fitted(name).calibrate(X, KNOWN, method=method)
    expected = model.predict_pair_proba(X[:9], X[9:18])
    model.save(tmp_path / "m.rankbook")
    for other in (
        rb.load(tmp_path / "m.rankbook"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ):
        assert np.array_equal(other.predict_pair_proba(X[:9], X[9:18]), expected)
    assert not hasattr(clone(model), "calibration_")
    with pytest.raises(NotFittedError):
        clone(model).predict_pair_proba(X[:9], X[9:18])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, LEARNT)
    assert not hasattr(model, "calibration_") and not hasattr(model, "link_")
    with pytest.raises(ValueError, match=r"not log-odds. .* model.calibrate\(X_val, y_val\)"):
        model.predict_pair_proba(X[:9], X[9:18])


def test_learning_on_drops_a_calibration_and_an_error_does_not():
    model = fitted("online").calibrate(X, KNOWN)
    with pytest.raises(ValueError, match="^method is 'x'"):
        model.calibrate(X, KNOWN, method="x")
    assert hasattr(model, "calibration_")
    model.partial_fit(X[:10], np.arange(10))
    assert not hasattr(model, "calibration_")


def test_files_with_another_calibration_are_refused(tmp_path):
    model = fitted("rls")
    for wrong in (
        Sigmoid(-1.0),
        Isotonic(np.array([1.0, 2.0]), np.array([0.9, 0.8])),
        Isotonic(np.array([-1.0]), np.array([0.9])),
        3.0,
    ):
        model.calibration_ = wrong
        model.save(tmp_path / "m.rankbook")
        with pytest.raises(ValueError, match="parts do not fit together"):
            rb.load(tmp_path / "m.rankbook")


def test_the_last_step_of_a_pipeline_is_calibrated():
    pipeline = make_pipeline(StandardScaler(), rb.RankSVM(kernel="linear")).fit(X, LEARNT)
    scale, ranker = pipeline[:-1], pipeline[-1]
    ranker.calibrate(scale.transform(X), KNOWN)
    p = ranker.predict_pair_proba(scale.transform(X[:9]), scale.transform(X[9:18]))
    link = rb.calibrate(KNOWN, pipeline.predict(X))
    d = pipeline.predict(X[:9]) - pipeline.predict(X[9:18])
    assert np.allclose(p, link.probability(d), rtol=1e-12)


def test_a_scaled_model_of_the_command_line_has_probabilities(tmp_path):
    from rankbook.estimators.scaled import ScaledModel

    centre, factor = X.mean(axis=0), 1 / X.std(axis=0)
    inner = rb.RankSVM(kernel="linear", loss="logistic").fit((X - centre) * factor, LEARNT)
    model = ScaledModel(inner, centre, factor, list("abcd"))
    expected = inner.predict_pair_proba(*((each - centre) * factor for each in (X[:5], X[5:10])))
    assert np.array_equal(model.predict_pair_proba(X[:5], X[5:10]), expected)
    model.calibrate(X, KNOWN).save(tmp_path / "m.rankbook")
    again = rb.load(tmp_path / "m.rankbook")
    assert again.link_ == model.link_ != Sigmoid()


def test_several_scores_for_each_item_are_refused_with_a_way_out():
    Y = np.c_[X[:30] @ W, -(X[:30] @ W)] + RNG.normal(size=(30, 2))
    labels = rb.LabelRanker().fit(X[:30], Y)
    with pytest.raises(
        ValueError, match=r"^X has 2 scores for each row. Pass one score for each row. For pairs"
    ):
        labels.calibrate(X[:30], Y)
    scores = labels.predict(X[:30])
    link = rb.calibrate(Y.ravel(), scores.ravel(), np.repeat(np.arange(30), 2))
    assert np.all(np.abs(link.probability(scores[:, 0] - scores[:, 1]) - 0.5) <= 0.5)


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (lambda d: np.where(np.abs(d) > 1, np.nan, 0.5), "has the probability nan at"),
        (
            lambda d: np.where(np.abs(d) > 1, 0.5 + np.sign(d) * 1.5, 0.5),
            "the probability -1.0|2.0",
        ),
        (lambda d: 0.5, "link has shape|Pass an array of numbers of that shape"),
        (lambda d: 0.5 if len(d) > 3 else d / 4 + 0.5, r"of type float64 and shape \(\)"),
        (lambda d: np.full(len(d), "half"), "^link .*half"),
        (lambda d: (np.sign(d) + 1) / 2 + 0.1, "probability.d. . probability.-d. = 1"),
    ],
)
def test_probabilities_of_an_own_loss_are_checked_where_they_are_used(probability, words):
    class Own:
        name = "own"
        value = staticmethod(lambda t: np.logaddexp(0.0, t))
        derivative = staticmethod(lambda t: 1 / (1 + np.exp(-t)))
        conjugate = staticmethod(lambda a: -entr(a) - entr(1 - a))

    Own.probability = staticmethod(probability)
    items = np.array([[-9.0], [-3.0], [0.0], [1.0], [5.0], [8.0]])
    y, ends = np.arange(6.0), (items, items[::-1])
    model = rb.RankSVM(0.1, kernel="linear", loss=Own()).fit(items, y)
    uses = [
        lambda: model.predict_pair_proba(*ends),
        lambda: rb.metrics.scorer("log_loss")(model, items, y),
        lambda: rb.metrics.brier_score(y, model.predict(items), link=model.link_),
        lambda: rb.metrics.reliability(y, model.predict(items), link=model.link_),
        lambda: rb.metrics.by_query("log_loss", y, model.predict(items), link=model.link_),
    ]
    for use in uses:
        with pytest.raises((ValueError, TypeError), match=words) as caught:
            use()
        assert isinstance(caught.value, ArgumentError), caught.value


def test_a_scaled_model_takes_pair_features():
    prefs = rb.Preferences([0, 1, 2], [1, 2, 0], 3, pair_features=[1.0, -1.0, 0.5])
    items, u = np.array([[0.0, 3.0], [1.0, 5.0], [2.0, -1.0]]), [1.0, 0.0, -2.0]
    model = rb.RankSVM(kernel="linear", loss="logistic", lam=1.0).fit(items, prefs)
    scaled = ScaledModel(model, [1.0, -2.0], [0.5, 4.0])
    raw = items / [0.5, 4.0] + [1.0, -2.0]
    found = scaled.predict_pair_proba(raw, raw[::-1], u)
    assert np.allclose(found, model.predict_pair_proba(items, items[::-1], u), rtol=1e-12)
    assert not np.allclose(found, scaled.predict_pair_proba(raw, raw[::-1]))


def test_an_error_about_names_of_features_names_the_side():
    table = pd.DataFrame(X[:9], columns=list("uvwxyz")[: X.shape[1]])
    model = rb.RankSVM(kernel="linear", loss="logistic").fit(table, np.arange(9))
    turned = table[table.columns[::-1]]
    with pytest.raises(ValueError, match="^b does not fit the model: The feature names should"):
        model.predict_pair_proba(table, turned)
    with pytest.raises(ValueError, match="^a does not fit the model: The feature names should"):
        model.predict_pair_proba(turned, table)
    d = X.shape[1]
    inner = rb.RankSVM(kernel="linear", loss="logistic").fit(X[:9], np.arange(9))
    scaled = ScaledModel(inner, np.zeros(d), np.ones(d), list(table.columns))
    with pytest.raises(ValueError, match="^b has the columns"):
        scaled.predict_pair_proba(table, turned)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sigmoid_of_many_grades_uses_all_pairs(monkeypatch, weighted):
    rng = np.random.default_rng(0)
    y = np.round(rng.normal(size=300), 1)
    f, weight = 2 * y + 3 * rng.normal(size=300), rng.uniform(1, 3, 300) if weighted else None
    expected = rb.calibrate(y, f, sample_weight=weight)
    monkeypatch.setattr(calibration, "MAX_PAIRS", 1000)
    found = rb.calibrate(y, f, sample_weight=weight)
    assert found.slope == pytest.approx(expected.slope, rel=1e-9)
    assert rb.calibrate(y, np.zeros(300)).slope == 0
    with pytest.warns(UserWarning, match="orders most preferences wrongly"):
        assert rb.calibrate(y, -f).slope == 0
