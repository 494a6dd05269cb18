"""Survival times as targets of estimators, searches, folds and paths, beside listed pairs."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook.base.errors import ArgumentError

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 4))
LIFE, END = np.exp(X[:, 0] - X[:, 1] + RNG.normal(size=N)), RNG.exponential(3, size=N)
TIME, EVENT = np.ceil(4 * np.minimum(LIFE, END)), LIFE <= END  # whole numbers, many of them equal
CENTRE = RNG.integers(0, 3, N)


def structured(time=TIME, event=EVENT, fields=("died", "days")):
    """Survival times as scikit-survival has them; the fields in either order."""
    kinds = {"died": bool, "days": float}
    found = np.empty(len(time), dtype=[(name, kinds[name]) for name in fields])
    found["died"], found["days"] = event, time
    return found


def listed(time=TIME, event=EVENT, stratum=None, weight=None):
    """The comparable pairs by a loop."""
    stratum = np.zeros(len(time)) if stratum is None else stratum
    after = lambda i, j: time[i] < time[j] or time[i] == time[j] and not event[j]
    rows = range(len(time))
    pairs = [
        (j, i)
        for i in rows
        for j in rows
        if i != j and event[i] and after(i, j) and stratum[i] == stratum[j]
    ]
    better, worse = np.array(pairs).T
    weight = None if weight is None else weight[better] * weight[worse]
    return rb.Preferences(better, worse, len(time), weight)


MODELS = [
    rb.RankSVM(0.5, "linear"),
    rb.RankSVM(0.5, "linear", loss="squared"),
    rb.RankSVM(20.0, "linear", penalty="l1"),
    rb.RankSVM(0.5, "rbf"),
    rb.RankSVM(0.5, "rbf", loss="squared"),
    rb.RankRLS(0.5, "linear"),
    rb.RankRLS(0.5, "rbf"),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_fit_is_that_of_the_listed_pairs(model):
    weight = RNG.integers(0, 3, N).astype(float)
    for stratum, w in ((None, None), (CENTRE, None), (None, weight), (CENTRE, weight)):
        expected = model.fit(X, listed(stratum=stratum, weight=w)).predict(X)
        prefs = rb.Preferences.from_survival(TIME, EVENT, stratum, w)
        assert np.allclose(model.fit(X, prefs).predict(X), expected, atol=1e-5)
        value = model.score(X, prefs)
        for fields in (("died", "days"), ("days", "died")):
            y = structured(fields=fields)
            assert np.allclose(model.fit(X, y, stratum, w).predict(X), expected, atol=1e-5)
            assert abs(model.score(X, y, stratum, w) - value) < 1e-12
        if stratum is not None:
            with pytest.raises(ValueError, match="qid is None, and the model was fitted with"):
                model.score(X, structured())


def test_the_online_learner_meets_the_optimum():
    y = structured()
    online = rb.OnlineRankSVM(0.05, tol=1e-3, random_state=0).fit(X, y)
    exact = rb.RankSVM(0.05 * len(listed()), "linear").fit(X, y)
    assert online.score(X, y) == pytest.approx(exact.score(X, y), abs=0.02)
    assert np.allclose(online.coef_, exact.coef_, atol=0.1)


def test_searches_pipelines_and_folds_take_survival_times():
    y = structured()
    pipeline = make_pipeline(StandardScaler(), rb.RankSVM(kernel="linear"))
    grid = dict(ranksvm__lam=[1.0, 10.0])
    found = [GridSearchCV(pipeline, grid, cv=3).fit(X, t) for t in (y, listed())]
    values = [each.cv_results_["mean_test_score"] for each in found]
    assert np.allclose(*values, atol=1e-12) and found[0].best_score_ > 0.6
    values = cross_val_score(pipeline, X, y, cv=KFold(4))
    by_hand = []
    for train, test in KFold(4).split(X):
        scores = pipeline.fit(X[train], y[train]).predict(X[test])
        by_hand.append(1 - rb.disagreement(listed(TIME[test], EVENT[test]), scores))
    assert np.allclose(values, by_hand, atol=1e-12)


@pytest.mark.parametrize("loss, penalty", [("hinge", "l2"), ("squared", "l2"), ("hinge", "l1")])
def test_the_choice_by_folds_is_that_of_the_listed_pairs(loss, penalty):
    model = rb.RankSVMCV("linear", loss=loss, penalty=penalty, cv=3)
    of_pairs = model.fit(X, listed())
    facts = of_pairs.n_dropped_, of_pairs.lam_, of_pairs.curve_.minimum
    fitted = model.fit(X, structured())
    assert fitted.n_dropped_ == facts[0]
    assert np.isclose(fitted.lam_, facts[1], rtol=1e-6)
    assert np.isclose(fitted.curve_.minimum, facts[2], atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_least_squares_choose_by_the_same_folds(kernel):
    model = rb.RankRLSCV(kernel=kernel)
    of_pairs = model.fit(X, listed())
    facts = of_pairs.n_dropped_, of_pairs.lam_, of_pairs.best_value_
    fitted = model.fit(X, structured())
    assert np.allclose((fitted.n_dropped_, fitted.lam_, fitted.best_value_), facts, rtol=1e-9)


def test_folds_have_early_and_late_events_and_censored_times():
    from rankbook.selection.folds import pair_folds

    prefs = rb.Preferences.from_survival(TIME, EVENT)
    folds, dropped = pair_folds(5, X, prefs)
    assert not prefs.is_listed
    assert dropped == len(prefs) - sum(len(fold.target) for fold in folds)
    for fold in folds:
        assert abs(EVENT[fold.test].mean() - EVENT.mean()) < 0.2
        assert abs(np.log(TIME[fold.test]).mean() - np.log(TIME).mean()) < 0.4
    numbers = np.full(N, -1)
    for f, fold in enumerate(folds):
        numbers[fold.test] = f
    pairs = listed()
    assert dropped == np.sum(numbers[pairs.better] != numbers[pairs.worse])


@pytest.mark.parametrize("options", [{}, dict(kernel="rbf"), dict(penalty="l1")], ids=repr)
def test_the_curve_of_a_path_is_the_concordance_at_every_lambda(options):
    train, test = np.arange(N) % 2 == 0, np.arange(N) % 2 == 1
    options = dict(kernel="linear") | options
    prefs = rb.Preferences.from_survival(TIME, EVENT)
    problem = rb.RankSVMProblem(X[train], prefs[train], **options)
    path = rb.solve_path(problem, 1e-3 * problem.lam_max)
    pairs = listed(TIME[test], EVENT[test])
    for target in (prefs[test], structured()[test]):
        curve = rb.validation_curve(path, X[test], target)
        for j in range(curve.values.size):
            high, low = curve.breaks[j : j + 2]
            lam = np.sqrt(min(high, 2 * problem.lam_max) * low)
            s = path.predict(X[test], lam)
            right = (s[pairs.better] > s[pairs.worse]) + (s[pairs.better] == s[pairs.worse]) / 2
            assert abs(1 - curve.values[j] - right.mean()) < 1e-12
    assert any(low < curve.choose() < high for low, high in curve.best)


def test_rows_keep_their_times_and_censored_patients_stay_the_better_ones():
    prefs = rb.Preferences.from_survival(TIME, EVENT, CENTRE)
    rows = RNG.integers(0, N, 30)
    part, again = prefs[rows], rb.Preferences.from_survival(TIME[rows], EVENT[rows], CENTRE[rows])
    assert np.array_equal(part.survival, again.survival) and len(part) == len(again)
    for made in (prefs, prefs.item_weighted(np.ones(N)), prefs.query_weighted("equal")):
        assert len(made) == len(listed(stratum=CENTRE)) and EVENT[made.worse].all()


@pytest.mark.parametrize(
    "time, event, said",
    [
        ([3.0, np.nan], [1, 0], r"^time has NaN at index 1. Pass finite numbers"),
        ([3.0], [1, 0], r"^time has 1 entries and event has 2. Pass arrays of equal length"),
        ([3.0, 1.0], [2, 0], r"^event is 2 in row 0. Pass True and False, or 1 and 0"),
        ([3.0, 1.0], [True, None], r"^event is None in row 1"),
        ([], [], r"^time has shape \(0,\). Pass at least one time"),
        ([["a"], ["b"]], [1, 0], r"^time cannot be read as numbers"),
    ],
)
def test_wrong_times_are_refused(time, event, said):
    with pytest.raises(ArgumentError, match=said):
        rb.Preferences.from_survival(time, event)


@pytest.mark.parametrize("model", [rb.RankSVM(), rb.RankRLS(), rb.OnlineRankSVM(), rb.RankSVMCV()])
def test_without_a_comparable_pair_a_fit_says_so(model):
    for time, event in ((TIME, np.zeros(N, bool)), (np.ones(N), np.ones(N, bool))):
        with pytest.raises(ArgumentError, match="^y has no comparable pair of survival times"):
            model.fit(X, structured(time, event))
    wrong = np.zeros(N, dtype=[("died", int), ("days", float)])
    with pytest.raises(ArgumentError, match="^y has the fields 'died', 'days'. Pass two"):
        model.fit(X, wrong)


def test_a_patient_censored_at_the_time_of_an_event_outlives_it():
    prefs = rb.Preferences.from_survival([1.0, 1.0, 2.0], [True, False, True])
    assert sorted(zip(prefs.better.tolist(), prefs.worse.tolist())) == [(1, 0), (2, 0)]
