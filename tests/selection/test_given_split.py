"""A given training and validation set in the classes that choose lambda."""

import numpy as np
import pytest
from sklearn.model_selection import PredefinedSplit

import rankbook as rb

TRAIN, VALID = np.arange(60), np.arange(60, 96)
PART = np.repeat([-1, 0], [60, 36])
LAMS = [0.1, 1.0, 10.0]


def data():
    """96 items of 16 queries, with grades 0, 1 and 2."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(96, 3))
    y = np.clip(np.round(X[:, 0] + 0.5 * rng.normal(size=96) + 1), 0, 2)
    return X, y, np.arange(96) // 6


SPLITS = [PredefinedSplit(PART), [(TRAIN, VALID)], [(PART < 0, PART == 0)], [(range(60), VALID)]]


@pytest.mark.parametrize("cv", SPLITS, ids=["PredefinedSplit", "rows", "masks", "range"])
@pytest.mark.filterwarnings("error")
def test_the_path_of_the_training_set_is_judged_by_the_validation_set(cv):
    X, y, qid = data()
    model = rb.RankSVMCV("linear", cv=cv, lam_min_ratio=None).fit(X, y, qid=qid)
    known, asked = (rb.Preferences.from_scores(y[at], qid[at]) for at in (TRAIN, VALID))
    path = rb.solve_path(rb.RankSVMProblem(X[TRAIN], known, "linear"))
    curve = rb.validation_curve(path, X[VALID], asked)
    assert np.array_equal(model.curve_.values, curve.values)
    total = len(rb.Preferences.from_scores(y, qid)) / len(known)
    assert np.isclose(model.lam_, curve.choose() * total)
    whole = rb.RankSVM(model.lam_, "linear").fit(X, y, qid=qid)
    assert np.allclose(model.coef_, whole.coef_, rtol=1e-6)
    with pytest.raises(ValueError, match="rule is 'one_se', but cv has only one fold"):
        rb.RankSVMCV("linear", cv=[(TRAIN, VALID)], rule="one_se").fit(X, y, qid=qid)


def test_rankrls_is_trained_on_the_training_set_and_judged_by_the_other():
    X, y, qid = data()
    judged = rb.Preferences.from_scores(y[VALID], qid[VALID]).query_weighted("equal")
    fits = [rb.RankRLS(lam, "linear").fit(X[TRAIN], y[TRAIN], qid=qid[TRAIN]) for lam in LAMS]
    wrong = [rb.disagreement(judged, fit.predict(X[VALID])) for fit in fits]
    for cv in (PredefinedSplit(PART), [(TRAIN, VALID)]):
        model = rb.RankRLSCV(LAMS, "linear", cv=cv).fit(X, y, qid=qid)
        assert np.allclose(model.cv_values_[:, 0], wrong)
    with pytest.raises(ValueError, match="two parts do not contain each of the 96 items once"):
        rb.RankRLSCV(LAMS, cv=[(TRAIN[:50], VALID)]).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="holds 4 of the 6 items of a query"):
        rb.RankRLSCV(LAMS, cv=[(np.arange(62), np.arange(62, 96))]).fit(X, y, qid=qid)


def test_preferences_of_items_or_of_pairs_are_split():
    X, y, qid = data()
    graded = rb.Preferences.from_scores(y, qid)
    prefs = rb.Preferences(graded.better, graded.worse, 96)
    model = rb.RankSVMCV("linear", cv=[(TRAIN, VALID)]).fit(X, preferences=prefs)
    path = rb.solve_path(rb.RankSVMProblem(X[TRAIN], prefs[TRAIN], "linear"), lam_min=1e-4)
    curve = rb.validation_curve(path, X[VALID], prefs[VALID])
    assert np.isclose(model.curve_.minimum, curve.minimum)
    assert model.n_dropped_ == len(prefs) - len(prefs[VALID])
    pairs = np.arange(len(prefs)) % 3 == 0  # the validation set
    known, asked = (rb.Preferences(prefs.better[at], prefs.worse[at], 96) for at in (~pairs, pairs))
    for cv in ([(~pairs, pairs)], PredefinedSplit(np.where(pairs, 0, -1))):
        model = rb.RankRLSCV(LAMS, "linear", cv=cv, fold_by="pair").fit(X, preferences=prefs)
        fits = [rb.RankRLS(lam, "linear").fit(X, preferences=known) for lam in LAMS]
        wrong = [rb.disagreement(asked, fit.predict(X)) for fit in fits]
        assert np.allclose(model.cv_values_[:, 0], wrong)
        model = rb.RankSVMCV("linear", cv=cv, fold_by="pair").fit(X, preferences=prefs)
        path = rb.solve_path(rb.RankSVMProblem(X, known, "linear"), lam_min=1e-4)
        assert np.isclose(model.curve_.minimum, rb.validation_curve(path, X, asked).minimum)


def test_rayleigh_sees_the_labelled_items_only():
    X, y, _ = data()
    labels = np.where(np.arange(96) % 4 == 3, np.nan, (y >= 1) * 1.0)
    labelled = np.flatnonzero(~np.isnan(labels))
    part = PART[labelled]
    options = dict(lams=1.0, manifold_weights=[100.0], n_components=5)
    model = rb.RayleighRankerCV(cv=PredefinedSplit(part), **options).fit(X, labels)
    judged = labelled[part == 0]
    hidden = labels.copy()
    hidden[judged] = np.nan
    one = rb.RayleighRanker(1.0, 100.0, 5).fit(X, hidden)
    area = rb.metrics.auc(labels[judged], one.predict(X[judged]))
    assert np.isclose(model.best_value_, area)
    with pytest.raises(ValueError, match=r"cv\[0\]\[1\] has 72 at index"):
        rb.RayleighRankerCV(cv=PredefinedSplit(PART), **options).fit(X, labels)
