"""Arguments from pandas are joined: rows in another order are refused, everywhere alike."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook import metrics
from rankbook.problems.label_ranking import LabelRankSVMProblem
from rankbook.problems.svm import MulticlassSVMProblem

N = 12
NAMES = pd.Index([f"item {i}" for i in range(N)])
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(N, 2)), NAMES, ["size", "age"])
Y = pd.Series(np.tile([0, 1, 2], 4), NAMES)
BINARY = pd.Series(np.tile([0, 1], 6), NAMES)
TIME = pd.Series(np.arange(1.0, N + 1), NAMES)
EVENT = pd.Series(np.arange(N) % 3 > 0, NAMES)
QID = pd.Series(np.repeat([1, 2], 6), NAMES)
ONES = pd.Series(np.ones(N), NAMES)
SCORE = pd.Series(np.sin(np.arange(N)), NAMES)
TABLE = pd.DataFrame(rng.normal(size=(N, 3)), NAMES, ["tea", "milk", "water"])
TARGET = np.zeros(N, [("event", bool), ("time", float)])
TARGET["event"], TARGET["time"] = EVENT, TIME

LINEAR = rb.RankSVM(lam=1.0, kernel="linear")
FITTED = rb.RankSVM(lam=1.0, kernel="linear").fit(X, Y)
CHOICES = rb.RankSVM(lam=1.0, kernel="linear", loss="plackett-luce").fit(X, Y)
LABELS = rb.LabelRanker().fit(X, TABLE)
CLASSES = rb.OrdinalRanker(rb.RankSVM(lam=1.0, kernel="linear")).fit(X, Y)
with pytest.warns(ConvergenceWarning, match="not converged after 1,000 steps"):
    EXAMPLES = rb.OnlineSVC(max_updates=1000).fit(X, BINARY)
with pytest.warns(ConvergenceWarning, match="not converged after 1,000 steps"):
    STREAM = rb.OnlineRankSVM(max_updates=1000).fit(X, Y)
HALVES = rb.RayleighRanker(n_components=2, kernel="linear").fit(X, BINARY)
PATH = rb.solve_path(rb.RankSVMProblem(X, rb.Preferences.from_scores(Y), kernel="linear"))
LABEL_PATH = rb.solve_path(rb.SVMProblem(X, BINARY))

ITEMS = dict(X=X, y=Y, qid=QID, sample_weight=ONES)
JUDGED = dict(y_true=Y, y_score=SCORE, qid=QID, sample_weight=ONES)
TIMES = dict(time=TIME, event=EVENT, qid=QID, weight=ONES)
SURVIVORS = dict(y_score=SCORE, sample_weight=ONES)
PREFERENCES = rb.Preferences.from_scores(Y, QID)
PAIRS = rb.Preferences(PREFERENCES.better, PREFERENCES.worse, N)


def online():
    return rb.OnlineRankSVM(max_updates=1000)


CALLS = {  # each with its arguments, all of which have an entry for each item
    "RankSVM.fit": (LINEAR.fit, ITEMS),
    "RankSVM.fit(times)": (
        lambda X, qid, sample_weight: LINEAR.fit(X, TARGET, qid, sample_weight),
        dict(X=X, qid=QID, sample_weight=ONES),
    ),
    "RankSVM.score": (FITTED.score, ITEMS),
    "RankSVM.calibrate": (FITTED.calibrate, ITEMS),
    "RankSVMCV.fit": (rb.RankSVMCV("linear", cv=2).fit, ITEMS),
    "RankSVMCV.fit(groups)": (
        lambda X, groups: rb.RankSVMCV("linear", cv=GroupKFold(2), fold_by="group").fit(
            X, PAIRS, groups=groups
        ),
        dict(X=X, groups=QID),
    ),
    "RankRLS.fit": (rb.RankRLS(kernel="linear").fit, ITEMS),
    "RankRLS.partial_fit": (
        lambda **given: rb.RankRLS(kernel="linear").partial_fit(**given),
        ITEMS,
    ),
    "RankRLSCV.fit": (
        rb.RankRLSCV(lams=[1.0], cv="query", kernel="linear").fit,
        dict(X=X, y=Y, qid=QID),
    ),
    "RankRLSCV.fit(groups)": (
        lambda X, groups: rb.RankRLSCV(
            lams=[1.0], kernel="linear", cv=GroupKFold(2), fold_by="group"
        ).fit(X, PAIRS, groups=groups),
        dict(X=X, groups=QID),
    ),
    "OnlineRankSVM.fit": (online().fit, ITEMS),
    "OnlineRankSVM.partial_fit": (online().partial_fit, ITEMS),
    "OnlineRankSVM.score": (STREAM.score, ITEMS),
    "OnlineSVC.fit": (
        rb.OnlineSVC(max_updates=1000).fit,
        dict(X=X, y=BINARY, sample_weight=ONES, margin=ONES),
    ),
    "OnlineSVC.score": (EXAMPLES.score, dict(X=X, y=BINARY, sample_weight=ONES)),
    "RayleighRanker.fit": (
        rb.RayleighRanker(n_components=3, kernel="linear").fit,
        dict(X=X, y=BINARY),
    ),
    "RayleighRanker.score": (HALVES.score, dict(X=X, y=BINARY, sample_weight=ONES)),
    "LabelRanker.fit": (rb.LabelRanker().fit, dict(X=X, y=TABLE, sample_weight=ONES)),
    "LabelRanker.score": (LABELS.score, dict(X=X, y=TABLE, sample_weight=ONES)),
    "OrdinalRanker.fit": (
        rb.OrdinalRanker(rb.RankSVM(lam=1.0, kernel="linear")).fit,
        dict(X=X, y=Y, sample_weight=ONES),
    ),
    "OrdinalRanker.score": (CLASSES.score, dict(X=X, y=Y, sample_weight=ONES)),
    "predict_choice_proba": (CHOICES.predict_choice_proba, dict(X=X, qid=QID)),
    "Preferences.from_scores": (rb.Preferences.from_scores, dict(y=Y, qid=QID)),
    "Preferences.from_survival": (rb.Preferences.from_survival, TIMES),
    "Preferences.item_weighted": (
        PREFERENCES.item_weighted,
        dict(item_weight=ONES, worse_weight=ONES),
    ),
    "Orders.from_survival": (rb.Orders.from_survival, TIMES),
    "Block": (rb.Block, dict(X=X, y=Y, qid=QID, weight=ONES, worse_weight=ONES)),
    "RankRLSProblem": (rb.RankRLSProblem, dict(X=X, y=Y, qid=QID, item_weight=ONES)),
    "RankingStatistics.add": (
        lambda **given: rb.RankingStatistics(kernel="linear").add(**given),
        dict(X=X, y=Y, qid=QID, item_weight=ONES),
    ),
    "SVMProblem": (rb.SVMProblem, dict(X=X, y=BINARY, weight=ONES, margin=ONES)),
    "MulticlassSVMProblem": (MulticlassSVMProblem, dict(X=X, y=Y, weight=ONES, margin=ONES)),
    "RayleighProblem": (rb.RayleighProblem, dict(X=X, y=BINARY)),
    "LabelRankSVMProblem": (LabelRankSVMProblem, dict(X=X, y=TABLE, object_weight=ONES)),
    "suggest_pairs": (
        lambda X_new, qid: rb.suggest_pairs(FITTED.solution_, 1, qid, X_new),
        dict(X_new=X, qid=QID),
    ),
    "validation_curve": (
        lambda **given: rb.validation_curve(PATH, **given),
        dict(X_val=X, prefs_val=Y, qid=QID),
    ),
    "validation_curve(ndcg)": (
        lambda **given: rb.validation_curve(PATH, metric="ndcg", **given),
        dict(X_val=X, prefs_val=Y, qid=QID),
    ),
    "validation_curve(error)": (
        lambda **given: rb.validation_curve(LABEL_PATH, metric="error", **given),
        dict(X_val=X, prefs_val=BINARY),
    ),
    "scorer": (
        lambda **given: metrics.scorer("ndcg@2")(FITTED, **given),
        dict(X=X, y_true=Y, qid=QID, sample_weight=ONES),
    ),
    "calibrate": (rb.calibrate, JUDGED),
    "auc": (metrics.auc, JUDGED | dict(y_true=BINARY)),
    "by_query": (lambda **given: metrics.by_query("ndcg@2", **given), JUDGED),
    "interval": (metrics.interval, JUDGED),
    "compare": (
        lambda y_true, a, b, other, qid: metrics.compare(
            y_true, a, {"b": b, "other": other}, qid, n_resamples=100
        ),
        dict(y_true=Y, a=SCORE, b=-SCORE, other=TIME, qid=QID),
    ),
    "concordance": (
        lambda y_score, qid, sample_weight: metrics.concordance(
            TARGET, y_score, qid, sample_weight
        ),
        dict(y_score=SCORE, qid=QID, sample_weight=ONES),
    ),
    "dynamic_auc": (
        lambda **given: metrics.dynamic_auc(TARGET, times=[5.0], train=TARGET, **given),
        SURVIVORS,
    ),
    "survival_brier": (
        lambda y_proba, sample_weight: metrics.survival_brier(
            TARGET, y_proba, 5.0, sample_weight, train=TARGET
        ),
        dict(y_proba=SCORE**2, sample_weight=ONES),
    ),
    "concordance_interval": (
        lambda y_score, qid, sample_weight: metrics.concordance_interval(
            TARGET, y_score, qid, sample_weight
        ),
        dict(y_score=SCORE, qid=QID, sample_weight=ONES),
    ),
    "compare_concordances": (
        lambda **given: metrics.compare_concordances(TARGET, **given),
        dict(a=SCORE, b=-SCORE, qid=QID, sample_weight=ONES),
    ),
    "best_cuts": (metrics.best_cuts, dict(y_true=Y, y_score=SCORE, sample_weight=ONES)),
}
for name in """disagreement pair_accuracy kendall_tau ndcg average_precision reciprocal_rank
        precision_at_k recall_at_k hit_rate_at_k rank_biased_precision rank_biased_overlap err bpref
        infap brier_score log_loss reliability""".split():
    if hasattr(metrics, name):
        options = dict(k=2) if name.endswith("_at_k") else {}
        call = lambda metric=getattr(metrics, name), more=options, **given: metric(**given, **more)
        CALLS[name] = call, JUDGED
CASES = [(name, argument) for name, (_, given) in CALLS.items() for argument in list(given)[1:]]


@pytest.mark.parametrize("name, argument", CASES)
def test_rows_in_another_order_are_refused(name, argument):
    call, given = CALLS[name]
    wrong = given | {argument: given[argument][::-1]}
    with pytest.raises(ValueError, match="in another order: .*in row 0.*to_numpy"):
        call(**wrong)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_equal_rows_pass(name):
    call, given = CALLS[name]
    call(**given)


@pytest.mark.parametrize("name", ["RankSVM.fit", "ndcg", "Preferences.from_survival"])
def test_arguments_without_the_key_match_by_position(name):
    call, given = CALLS[name]
    for convert in (np.asarray, lambda v: v.reset_index(drop=True)):
        for argument in given:
            call(**given | {argument: convert(given[argument])})
            call(**{key: convert(v) if key != argument else v for key, v in given.items()})


def test_the_message_names_row_and_remedy():
    with pytest.raises(ValueError) as found:
        LINEAR.fit(X, Y[::-1])
    assert str(found.value) == (
        "y has the index of X in another order: 'item 11' in row 0, where X has 'item 0'. "
        "Pass y.loc[X.index], or y.to_numpy() to match rows by position."
    )
    assert LINEAR.fit(X, Y[::-1].loc[X.index]).score(X, Y) == FITTED.score(X, Y)
    other = Y.rename({"item 3": "item 33"})
    with pytest.raises(ValueError, match="y has the index 'item 33' in row 3, where X has 'item"):
        LINEAR.fit(X, other)


def test_numbered_rows_are_rows():
    numbered = X.reset_index(drop=True)
    y = Y.reset_index(drop=True)
    for wrong in (y[::-1], y.set_axis(range(1, N + 1)), y.set_axis(NAMES.str[5:])[::-1]):
        with pytest.raises(ValueError, match="y has the index"):
            LINEAR.fit(numbered, wrong)
    LINEAR.fit(numbered, y.set_axis(NAMES.str[5:]))  # "0", "1", ...


def test_names_that_occur_twice():
    names = [*NAMES[:-1], NAMES[0]]
    twice, y = X.set_axis(names), Y.set_axis(names)
    LINEAR.fit(twice, y)
    with pytest.raises(ValueError, match="or y.to_numpy"):
        LINEAR.fit(twice, y[::-1])
    gaps = X.set_axis([np.nan, *NAMES[1:]])
    LINEAR.fit(gaps, Y.set_axis(gaps.index.copy()))


@pytest.mark.parametrize("y", [Y, Y.reset_index(drop=True), Y.to_numpy()], ids=["s", "n", "a"])
def test_splits_of_accepted_rows_are_accepted(y):
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), LINEAR)
    assert np.isfinite(cross_val_score(model, X, y, error_score="raise")).all()
    assert np.isfinite(cross_val_score(LINEAR, X, y, error_score="raise")).all()
    search = GridSearchCV(LINEAR, dict(lam=[0.1, 1.0]), cv=3, error_score="raise")
    assert search.fit(X, y).best_score_ > 0


def test_tables_of_pairs_have_rows_of_their_own():
    votes = pd.DataFrame(dict(winner=NAMES[1:], loser=NAMES[:-1]))
    judges = pd.Series(np.arange(N - 1) % 3, votes.index)
    long = pd.concat([votes, votes[:1]]).set_axis(range(100, 100 + N))
    LINEAR.fit(X.reset_index(drop=True).set_axis(NAMES), long)
    LINEAR.fit(X, preferences=long)
    FITTED.score(X, long)
    rb.disagreement(long, SCORE)
    model = rb.RankSVMCV("linear", cv=3, fold_by="pair")
    model.fit(X, preferences=votes, groups=judges)
    for given in (dict(y=votes), dict(preferences=votes)):
        with pytest.raises(ValueError, match="groups has the index of (y|preferences) in another"):
            model.fit(X, **given, groups=judges[::-1])


def test_a_column_of_query_ids_is_mentioned():
    table = X.assign(QID=QID)
    with pytest.warns(rb.Assumption, match="X has a column 'QID'.*qid=X"):
        LINEAR.fit(table, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LINEAR.fit(table, Y, QID)
        LINEAR.fit(table, rb.Preferences.from_scores(Y, QID))
        LINEAR.fit(X.assign(qid2=QID), Y)


def test_group_sizes_and_rows_of_queries_are_recognised():
    with pytest.raises(ValueError, match=r"np.repeat\(np.arange\(len\(qid\)\), qid\)"):
        LINEAR.fit(X, Y, [5, 7])
    with pytest.raises(ValueError, match="Pass an array of shape .12,., one id for each item.$"):
        LINEAR.fit(X, Y, [5, 8])
    for score in (metrics.ndcg, rb.disagreement, metrics.auc):
        with pytest.raises(ValueError, match=r"y_true has shape \(1, 2\). .*one entry.*qid"):
            score([[1, 0]], [[0.2, 0.1]])


@pytest.mark.parametrize("argument", ["y", "qid", "item_names", "groups"])
def test_rows_of_a_dataset(argument):
    names = pd.Series(NAMES, NAMES)
    given = dict(X=X, y=Y, qid=QID, groups=QID, item_names=names)
    assert rb.datasets.Dataset(**given).item_names == list(NAMES)
    fresh = given[argument].reset_index(drop=True)
    rb.datasets.Dataset(**given | {argument: fresh})
    for wrong in (given[argument][::-1], fresh[::-1]):
        with pytest.raises(ValueError, match=f"(?s){argument}.*in row 0, where X.*to_numpy"):
            rb.datasets.Dataset(**given | {argument: wrong})


@pytest.mark.parametrize("name", ["RankSVM.fit", "ndcg", "Preferences.from_survival"])
def test_moved_numbers_beside_names(name):
    call, given = CALLS[name]
    for argument in list(given)[1:]:
        fresh = given[argument].reset_index(drop=True)
        call(**given | {argument: fresh})
        with pytest.raises(ValueError, match="has the index .*in row 0.*to_numpy"):
            call(**given | {argument: fresh[::-1]})
