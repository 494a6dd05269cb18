"""Pairs in every form that fit takes: metrics, scores of models and scorers, pair by pair."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook import metrics

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(20, 2)), [f"item {i}" for i in range(20)], ["a", "b"])
PAIRS = np.array([RNG.choice(20, 2, replace=False) for _ in range(50)])
NAMES = X.index.to_numpy()[PAIRS]
FORMS = dict(
    named=pd.DataFrame(NAMES[:, ::-1], columns=["loser", "winner"]).assign(judge="Ann"),
    in_order=pd.DataFrame(NAMES, columns=["clicked", "skipped"]),
    columns=dict(winner=NAMES[:, 0], loser=NAMES[:, 1]),
    array=NAMES,
    tuples=[tuple(pair) for pair in NAMES.tolist()],
    preferences=rb.Preferences.from_pairs(NAMES, items=X.index),
)
MODEL = rb.RankSVM(kernel="linear").fit(X, preferences=NAMES)
SCORES = pd.Series(np.round(MODEL.predict(X), 1), X.index)  # some tie
LISTS = ["ndcg", "map", "mrr", "err", "kendall_tau", "precision@3", "recall@3"]


def wrong(scores):
    """The share of pairs in the wrong order, one pair after the other."""
    return np.mean([scores[w] < scores[l] or 0.5 * (scores[w] == scores[l]) for w, l in NAMES])


@pytest.mark.parametrize("form", FORMS)
def test_every_form_counts_the_same_pairs(form):
    given = FORMS[form]
    for scores in (SCORES, SCORES.iloc[::-1]) if form != "preferences" else (SCORES,):
        assert rb.disagreement(given, scores) == pytest.approx(wrong(SCORES), abs=1e-12)
        assert metrics.pair_accuracy(given, scores) == pytest.approx(1 - wrong(SCORES), abs=1e-12)
    exact = wrong(pd.Series(MODEL.predict(X), X.index))
    assert MODEL.score(X, preferences=given) == pytest.approx(1 - exact, abs=1e-12)
    assert MODEL.score(X, given) == MODEL.score(X, preferences=given)
    assert metrics.scorer("disagreement")(MODEL, X, given) == pytest.approx(-exact, abs=1e-12)
    other = rb.RankSVM(kernel="linear").fit(X, preferences=given)
    assert np.array_equal(other.coef_, MODEL.coef_)


def test_a_table_of_pairs_is_a_target():
    votes = FORMS["named"]
    assert np.array_equal(rb.RankSVM(kernel="linear").fit(X, votes).coef_, MODEL.coef_)
    model = make_pipeline(StandardScaler(), rb.RankSVM(kernel="linear"))
    model.set_output(transform="pandas").fit(X, votes)
    assert model.score(X, votes) == pytest.approx(
        1 - rb.disagreement(votes, pd.Series(model.predict(X), X.index))
    )
    with pytest.raises(ValueError, match="y is a DataFrame and preferences is given"):
        rb.RankSVM().fit(X, votes, preferences=votes)


@pytest.mark.parametrize("metric", LISTS)
def test_metrics_of_lists_name_a_call_that_works(metric):
    function, options = metrics.queries.find_metric(metric)
    for given in (FORMS["named"], FORMS["preferences"]):
        for call in (
            lambda: function(given, SCORES, **options),
            lambda: metrics.by_query(metric, given, SCORES),
            lambda: metrics.interval(given, SCORES, None, metric=metric),
            lambda: metrics.compare(given, SCORES, SCORES, None, metric=metric),
            lambda: metrics.scorer(metric)(MODEL, X, given),
        ):
            with pytest.raises(ValueError, match=r"call rb.metrics.pair_accuracy\(y_true, y_score"):
                call()
        assert metrics.pair_accuracy(given, SCORES) > 0.5
    with pytest.raises(ValueError, match="call rb.metrics.pair_accuracy"):
        metrics.auc(FORMS["named"], SCORES)


def test_what_has_no_names_is_told_how_to_keep_them():
    scores = SCORES.to_numpy()
    for call in (
        lambda: rb.disagreement(NAMES, scores),
        lambda: metrics.pair_accuracy(NAMES, pd.Series(scores)),
        lambda: MODEL.score(X.to_numpy(), NAMES),
        lambda: rb.RankSVM().fit(X.to_numpy(), preferences=NAMES),
        lambda: make_pipeline(StandardScaler(), rb.RankSVM()).fit(X, FORMS["named"]),
    ):
        with pytest.raises(
            ValueError,
            match="has no names. .*items=names.*(set_output|Series.y)",
        ):
            call()
    with pytest.raises(ValueError, match=r"holds row numbers, .* n_items=len\(y_score\)"):
        rb.disagreement(PAIRS, scores)
    with pytest.raises(ValueError, match="y_true has the item 'item 0' where y_score.index has"):
        rb.disagreement(FORMS["preferences"], SCORES.iloc[::-1])
    with pytest.raises(ValueError, match="y has the item 'item 0' where X.index has"):
        MODEL.score(X.iloc[::-1], FORMS["preferences"])
    with pytest.raises(ValueError, match="y_true does not fit y_score: winner is 'tea'"):
        rb.disagreement([("tea", "item 1")], SCORES)
    with pytest.raises(ValueError, match="y is None. Pass scores"):
        MODEL.score(X)
    with pytest.raises(ValueError, match="preferences and qid are both given"):
        MODEL.score(X, qid=np.zeros(20), preferences=NAMES)
