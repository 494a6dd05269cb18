"""A model that is fitted again every night: from statistics, and from the weights of yesterday."""

import numpy as np
import pandas as pd
import pytest

import rankbook as rb


def data(seed, n=400):
    rng = np.random.default_rng(seed)
    X, qid = np.round(rng.normal(size=(n, 8)), 1), np.arange(n) // 10 + 1000 * seed
    y = np.clip(np.round(X[:, 0] - X[:, 1] / 2 + rng.normal(size=n)), -1, 2)
    return X, y, qid


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", [{}, dict(graph="identity")])
def test_statistics_give_the_fit_to_their_rows(options, weighted):
    X, y, qid = data(1)
    weight = np.random.default_rng(0).integers(0, 3, len(y)) if weighted else None
    qid = None if options else qid  # regression takes no queries
    statistics = rb.RankingStatistics(**options).add(X, y, qid, weight)
    model = rb.RankRLS(lam=3.0, kernel="linear", **options)
    whole = rb.RankRLS(lam=3.0, kernel="linear", **options).fit(X, y, qid, weight)
    assert np.allclose(model.fit(statistics).coef_, whole.coef_, rtol=1e-9)
    assert model.n_features_in_ == 8 and np.allclose(model.predict(X), whole.predict(X))
    before = statistics.n_items
    more = data(2)
    model.partial_fit(*more[: 2 if options else 3])
    assert statistics.n_items == before  # the model has its own
    if weight is None:
        both = [np.concatenate(pair) for pair in zip((X, y, data(1)[2]), more)]
        both = both[: 2 if options else 3]
        again = rb.RankRLS(lam=3.0, kernel="linear", **options).fit(*both)
        assert np.allclose(model.coef_, again.coef_, rtol=1e-9)


def test_statistics_with_a_basis():
    X, y, qid = data(1)
    statistics = rb.RankingStatistics(X[:20], kernel="rbf", gamma=0.1).add(X, y, qid)
    model = rb.RankRLS(lam=3.0, gamma=0.1).fit(statistics)
    whole = rb.RankRLS(lam=3.0, gamma=0.1, basis=X[:20]).fit(X, y, qid)
    assert np.allclose(model.predict(X), whole.predict(X), atol=1e-8)


@pytest.mark.parametrize(
    ("options", "given", "said"),
    [
        ({}, {}, "kernel of the estimator is Kernel.rbf.*statistics have Kernel.linear"),
        (dict(kernel="linear", graph="identity"), {}, "graph of the estimator is 'identity'"),
        (dict(kernel="linear", penalty="l1"), {}, "penalty of the estimator is l1"),
        (dict(kernel="linear", query_weight="equal"), {}, "query_weight of the estimator is equal"),
        (dict(kernel="linear", basis=3), {}, "basis is given"),
        (dict(kernel="linear"), dict(y=[1, 2]), "y is given and X is a RankingStatistics"),
    ],
)
def test_statistics_of_another_model_are_refused(options, given, said):
    statistics = rb.RankingStatistics().add(*data(1))
    with pytest.raises(ValueError, match=said):
        rb.RankRLS(**options).fit(statistics, **given)


def test_empty_and_level_statistics_are_refused():
    model = rb.RankRLS(kernel="linear")
    with pytest.raises(ValueError, match="RankingStatistics without items"):
        model.fit(rb.RankingStatistics())
    with pytest.raises(ValueError, match="no query with two different scores"):
        model.fit(rb.RankingStatistics().add([[0.0], [1.0]], [1, 1]))


@pytest.mark.parametrize("loss", ["squared", "logistic", "plackett-luce", "hinge"])
def test_the_weights_of_yesterday_save_steps(loss):
    X, y, qid = data(1, 3000)
    old = rb.RankSVM(lam=10.0, kernel="linear", loss=loss, solver="newton").fit(
        X[:2900], y[:2900], qid[:2900]
    )
    cold, warm = (rb.RankSVM(lam=10.0, kernel="linear", loss=loss, solver="newton") for _ in "ab")
    cold.fit(X, y, qid)
    warm.fit(X, y, qid, start=old)
    scale = np.abs(cold.coef_).max()
    assert np.allclose(cold.coef_, warm.coef_, atol=1e-3 * scale)
    assert warm.certificate_.is_optimal() and cold.certificate_.is_optimal()
    steps = [model.solution_.info["steps"] for model in (warm, cold)]
    assert steps[0] < steps[1] if loss in ("hinge", "logistic") else steps[0] <= steps[1]


def test_a_start_from_another_model_is_refused():
    X, y, qid = data(1)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    linear = rb.RankSVM(kernel="linear", loss="squared")
    old = rb.RankSVM(kernel="linear", loss="squared").fit(frame, y, qid)
    linear.fit(frame, y, qid, start=old)
    for model, rows, start, said in (
        (linear, frame, rb.RankSVM().fit(X[:30], y[:30]), "start is a RankSVM and the kernel"),
        (linear, frame, [1.0], "start is a list"),
        (rb.RankSVM(), X, old, "kernel is 'rbf'"),
        (linear, frame.rename(columns=dict(a="z")), old, "features with other names"),
        (linear, X[:, :3], rb.RankSVM(kernel="linear").fit(X, y), r"start has shape \(8,\)"),
        (rb.RankSVM(kernel="linear", solver="interior"), X, old, "solver is 'interior'"),
        (rb.RankSVM(kernel="linear", penalty="l1"), X, old, "penalty='l2'"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            model.fit(rows, y, qid, start=start)
