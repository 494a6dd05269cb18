"""Held-out scores of RankRLS, and the estimator that chooses by them.

The scores are compared with training again on the rest, on degenerate data.
"""

import pickle
from functools import partial

import numpy as np
import pytest
from scipy.sparse import block_diag
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, ShuffleSplit

import rankbook as rb
from rankbook import metrics
from rankbook.estimators.rankrls import RankRLSCV
from rankbook.kernels.kernel import Kernel
from rankbook.preferences.sums import query_totals
from rankbook.problems.rankrls_statistics import StatisticsProblem
from rankbook.selection.folds import make_folds
from rankbook.selection.held_out import query_disagreement
from rankbook.selection.leave_out import (
    leave_out_predictions,
    leave_pair_out,
    leave_pair_out_predictions,
    merge_ties,
    tie_share,
)

LAMS = np.array([1e-3, 0.1, 1.0, 20.0, 1e4])
pytestmark = pytest.mark.filterwarnings("ignore:.*queries have a single item")


def items(kind, columns=1, seed=0):
    """Items (30, d), scores with ties, and queries of 1 to 7 items in no order.

    "copies" repeats items inside and across queries.
    """
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(8), [1, 7, 5, 1, 6, 2, 4, 4]))
    X = 0.3 * rng.normal(size=(30, 40)) if kind == "wide" else rng.normal(size=(30, 3))
    if kind == "copies":
        X = X[rng.integers(0, 9, 30)]
    y = np.round(X[:, :columns] + rng.normal(size=(30, columns))) + qid[:, None]
    return X, y[:, 0] if columns == 1 else y, qid


def laplacian(qid, n, graph):
    """L, dense, from its definition."""
    if isinstance(graph, str):
        return np.eye(n)
    W = (qid[:, None] == qid).astype(float) if graph is None else graph
    return np.diag(W.sum(axis=1)) - W


def dense(K, y, L, rest, h, lam):
    """Scores of h from equation (7) on the rest, in its symmetric form.

    That is A = R (R K R + lam)^-1 R y with the root R of L.
    """
    values, V = np.linalg.eigh(L)
    R = V * np.sqrt(np.maximum(values, 0)) @ V.T
    return (
        K[np.ix_(h, rest)]
        @ R
        @ np.linalg.solve(R @ K[np.ix_(rest, rest)] @ R + lam * np.eye(rest.size), R @ y[rest])
    )


def trained(X, y, qid, graph, options, rest, h, intercept):
    """Scores (l, s) or (l, s, k) of h after training on the rest.

    They come from the solver and from the formula, which have to agree.
    """
    K = rb.RankRLSProblem(X, y, graph="identity", **options).gram
    query = np.zeros(len(y), dtype=int) if qid is None else qid
    L = laplacian(
        query[rest],
        rest.size,
        graph[np.ix_(rest, rest)] if isinstance(graph, np.ndarray) else graph,
    )
    part = X[np.ix_(rest, rest)] if options.get("kernel") == "precomputed" else X[rest]
    kept = graph[np.ix_(rest, rest)] if isinstance(graph, np.ndarray) else graph
    problem = rb.RankRLSProblem(
        part, y[rest], None if graph is not None or qid is None else qid[rest], kept, **options
    )
    path = rb.solve_path(problem, solver="rls")
    new = X[np.ix_(h, rest)] if options.get("kernel") == "precomputed" else X[h]
    f = path.predictions(new, LAMS)
    means = path.predictions(part, LAMS).mean(axis=1)
    for i in (0, 3):
        level = (
            means[i] - dense(K, y, L, rest, rest, LAMS[i]).mean(axis=0)
            if problem.is_centred
            else 0.0
        )  # scores are defined up to a constant
        assert np.allclose(
            f[i] - level,
            dense(K, y, L, rest, h, LAMS[i]),
            rtol=0,
            atol=1e-8 * max(1, np.abs(y).max()),
        )
    return f + (y[rest].mean(axis=0) - means)[:, None] if intercept else f


def agree(quick, slow, part=None):
    """Whether scores (l, N) agree.

    With the parts (N,) given, they are compared within these, up to a level of each part.
    """
    assert quick.shape == slow.shape
    for a, b in zip(quick, slow):  # at every lambda
        size = np.abs(b).max()
        for p in () if part is None else np.unique(part):
            a[part == p] -= a[part == p].mean(axis=0) - b[part == p].mean(axis=0)
        assert np.abs(a - b).max() <= 1e-8 * size


def parts_of(groups, query):
    """The part of each item of groups: its group and query."""
    return np.concatenate([1000 * g + query[h] for g, h in enumerate(groups)])


OPTIONS = {
    "rbf": dict(gamma=0.3),
    "linear": dict(kernel="linear"),
    "poly": dict(kernel=rb.kernels.Kernel("poly", degree=2)),
    "precomputed": dict(kernel="precomputed"),
}


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("kind", ["plain", "copies", "wide"])
@pytest.mark.parametrize("kernel", OPTIONS)
@pytest.mark.parametrize("folds", [None, 3])
def test_whole_queries(kernel, kind, columns, folds):
    X, y, qid = items(kind, columns)
    X = X @ X.T if kernel == "precomputed" else X
    fold = qid if folds is None else qid % folds
    groups = [np.flatnonzero(fold == f) for f in np.unique(fold)]
    path = rb.solve_path(rb.RankRLSProblem(X, y, qid, **OPTIONS[kernel]), solver="rls")
    quick = leave_out_predictions(path, groups, LAMS)
    slow = [
        trained(X, y, qid, None, OPTIONS[kernel], np.setdiff1d(np.arange(30), h), h, False)
        for h in groups
    ]
    agree(quick, np.concatenate(slow, axis=1), parts_of(groups, qid))


@pytest.mark.parametrize("graph", [None, "identity"])
@pytest.mark.parametrize("kind", ["plain", "copies", "wide"])
@pytest.mark.parametrize("kernel", OPTIONS)
@pytest.mark.parametrize("folds", [30, 4, "overlapping"])
def test_any_items_of_one_query(kernel, kind, graph, folds):
    X, y, _ = items(kind, 1)
    X = X @ X.T if kernel == "precomputed" else X
    groups = (
        [np.array([3, 1, 29]), np.array([1, 2]), np.arange(28)]
        if folds == "overlapping"
        else [np.flatnonzero(np.arange(30) % folds == f) for f in range(folds)]
    )
    path = rb.solve_path(rb.RankRLSProblem(X, y, graph=graph, **OPTIONS[kernel]), solver="rls")
    quick = leave_out_predictions(path, groups, LAMS)
    slow = [
        trained(
            X, y, None, graph, OPTIONS[kernel], np.setdiff1d(np.arange(30), h), h, graph is None
        )
        for h in groups
    ]
    agree(quick, np.concatenate(slow, axis=1))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("sizes", [(9, 1, 12, 8), (2, 25, 3)])
def test_components_of_a_graph_of_weights(kernel, sizes):
    X, y, _ = items("copies")
    rng = np.random.default_rng(1)
    blocks = []
    for s in sizes:
        W = rng.uniform(size=(s, s)) * (rng.uniform(size=(s, s)) < 0.4) + np.diag(np.ones(s - 1), 1)
        blocks.append(np.triu(W, 1) + np.triu(W, 1).T)
    order = rng.permutation(30)
    W = block_diag(blocks).toarray()[np.ix_(order, order)]
    part = np.repeat(np.arange(len(sizes)), sizes)[order]
    groups = [np.flatnonzero(part == c) for c in range(len(sizes))] + [np.flatnonzero(part < 2)]
    path = rb.solve_path(rb.RankRLSProblem(X, y, graph=W, **OPTIONS[kernel]), solver="rls")
    quick = leave_out_predictions(path, groups, LAMS)
    slow = [
        trained(X, y, None, W, OPTIONS[kernel], np.setdiff1d(np.arange(30), h), h, False)
        for h in groups
    ]
    agree(quick, np.concatenate(slow, axis=1), parts_of(groups, part))


@pytest.mark.parametrize("large", [False, True], ids=["queries", "folds"])
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("graph", [None, "identity"])
def test_a_basis_stays(graph, columns, large):
    """Trained again with the items of the basis given by themselves.

    Leaving them out then does not take them from the basis.
    """
    X, y, qid = items("plain", columns)
    R = np.array([0, 7, 11, 20])
    fold = qid % 2 if large else qid
    groups = [np.flatnonzero(fold == f) for f in np.unique(fold)]
    problem = rb.RankRLSProblem(X, y, qid if graph is None else None, graph, gamma=0.3, basis=R)
    quick = leave_out_predictions(rb.solve_path(problem, solver="sparse-rls"), groups, LAMS)
    at = 0
    for h in groups:
        rest = np.setdiff1d(np.arange(30), h)
        again = StatisticsProblem(
            rb.RankingStatistics(X[R], graph, kernel="rbf", gamma=0.3).add(
                X[rest], y[rest], qid[rest]
            )
        )
        agree(
            quick[:, at : at + h.size],
            np.array([rb.solve(again, lam).predict(X[h]) for lam in LAMS]),
        )
        at += h.size


@pytest.mark.parametrize("chunk", [1, 200, 1 << 20])
@pytest.mark.parametrize("s", [31, 32, 33, 40])
def test_around_the_size_where_the_route_changes(s, chunk, monkeypatch):
    monkeypatch.setattr("rankbook.selection.leave_out.CHUNK", chunk)
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(3 * s, 2)), np.repeat(np.arange(3), s)
    y = X[:, 0] + rng.normal(size=3 * s)
    path = rb.solve_path(rb.RankRLSProblem(X, y, qid), solver="rls")
    groups = [np.flatnonzero(qid == q) for q in range(3)]
    slow = [
        trained(X, y, qid, None, {}, np.setdiff1d(np.arange(3 * s), h), h, False) for h in groups
    ]
    agree(
        leave_out_predictions(path, groups, LAMS),
        np.concatenate(slow, axis=1),
        parts_of(groups, qid),
    )


# Pairs


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("graph", [None, "identity"])
@pytest.mark.parametrize("kind", ["plain", "copies", "wide"])
@pytest.mark.parametrize("kernel", OPTIONS)
def test_every_pair(kernel, kind, graph, columns, monkeypatch):
    X, y, _ = items(kind, columns)
    X, y = X[:6], y[:6]
    X = X @ X.T if kernel == "precomputed" else X
    path = rb.solve_path(rb.RankRLSProblem(X, y, graph=graph, **OPTIONS[kernel]), solver="rls")
    i, j = np.triu_indices(6, 1)
    quick = leave_pair_out_predictions(path, i, j, LAMS)
    slow, limit = [], tie_share(path, LAMS)
    for a, b in zip(i, j):
        f = trained(
            X,
            y,
            None,
            graph,
            OPTIONS[kernel],
            np.setdiff1d(np.arange(6), [a, b]),
            np.array([a, b]),
            False,
        )
        slow.append(f[:, 0] - f[:, 1])
    slow = np.stack(slow, axis=1)
    agree(quick, slow)
    size = np.abs(y - (y.mean(axis=0) if graph is None else 0)).max(axis=0)
    limits = np.multiply.outer(limit, size).reshape(LAMS.size, 1, *y.shape[1:])
    turned = slow * np.sign(y[i] - y[j])
    wrong = np.where(np.abs(turned) <= limits, 0.5, turned < 0)
    counts = y[i] != y[j]
    shares = (wrong * counts).sum(axis=1) / counts.sum(axis=0)
    assert np.allclose(leave_pair_out(path, LAMS), shares, rtol=0, atol=1e-12)
    monkeypatch.setattr("rankbook.selection.leave_out.PAIRS", 17)  # blocks of two rows
    assert np.allclose(leave_pair_out(path, LAMS), shares, rtol=0, atol=1e-12)


def test_pairs_of_equal_items_tie():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 2)), 3, axis=0)
    y = rng.normal(size=60)
    lams = np.logspace(-6, 4, 12)
    for kernel in ("rbf", "linear"):
        path = rb.solve_path(rb.RankRLSProblem(X, y, kernel=kernel), solver="rls")
        f = leave_pair_out_predictions(path, np.arange(0, 60, 3), np.arange(1, 60, 3), lams)
        assert (np.abs(f) <= tie_share(path, lams)[:, None] * np.abs(y - y.mean()).max()).all()
    same = rb.solve_path(rb.RankRLSProblem(np.ones((5, 1)), y[:5]), solver="rls")
    assert np.array_equal(leave_pair_out(same, lams), np.full(12, 0.5))


@pytest.mark.parametrize("kernel, scale, lam", [("linear", 1e6, 1e-4), ("rbf", 1.0, 1e-12)])
@pytest.mark.filterwarnings("ignore:the solver 'rls .* reached a relative gap")
def test_small_lambdas_and_large_features_make_no_ties(kernel, scale, lam):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) * [scale, 1.0]
    y = np.round(2 * X[:, 1] + 0.1 * rng.normal(size=30))
    parts = [(np.setdiff1d(np.arange(30), held), held) for held in np.arange(30).reshape(5, 6)]
    found = rb.RankRLSCV([lam], kernel=kernel, cv=parts).fit(X, y).cv_values_.ravel()
    again = [rb.RankRLS(lam, kernel=kernel).fit(X[a], y[a]).score(X[b], y[b]) for a, b in parts]
    assert found[0] == pytest.approx(1 - np.mean(again), abs=1e-12) and found[0] < 0.4


def test_pairs_only_inside_queries():
    X, y, qid = items("plain")
    path = rb.solve_path(rb.RankRLSProblem(X, y, graph="identity"), solver="rls")
    i, j = np.triu_indices(30, 1)
    keep = (qid[i] == qid[j]) & (y[i] != y[j])
    f = leave_pair_out_predictions(path, i[keep], j[keep], LAMS) * np.sign(y[i] - y[j])[keep]
    assert np.allclose(leave_pair_out(path, LAMS, qid), (f < 0).mean(axis=1))


# What is refused


def test_groups_that_cannot_be_left_out():
    X, y, qid = items("plain")
    path = rb.solve_path(rb.RankRLSProblem(X, y, qid), solver="rls")
    with pytest.raises(ValueError, match=r"groups\[0\] holds 1 of the"):
        leave_out_predictions(path, [np.flatnonzero(qid == 1)[:1]], LAMS)
    with pytest.raises(ValueError, match="several queries"):
        leave_pair_out(path, LAMS)
    with pytest.raises(ValueError, match="lams has"):
        leave_out_predictions(path, [np.flatnonzero(qid == 1)], [1.0, 0.0])
    W = np.ones((30, 30)) - np.eye(30)
    weighted = rb.solve_path(rb.RankRLSProblem(X, y, graph=W), solver="rls")
    with pytest.raises(ValueError, match="connected component"):
        leave_out_predictions(weighted, [[0]], LAMS)
    prefs = rb.solve_path(
        rb.RankRLSProblem(X, graph=rb.Preferences([0, 1], [2, 3], 30)), solver="rls"
    )
    with pytest.raises(ValueError, match="graph has margins"):
        leave_out_predictions(prefs, [[0, 2]], LAMS)
    with pytest.raises(TypeError, match="path is a SolutionPath"):
        leave_out_predictions(
            rb.SolutionPath(path.problem, np.empty(0), "complete", 0.0), [[0]], LAMS
        )
    with pytest.raises(ValueError, match="2 items"):
        leave_pair_out(rb.solve_path(rb.RankRLSProblem(X[:2], [0.0, 1.0]), solver="rls"), LAMS)


def test_settled_ties_keep_the_order():
    rng = np.random.default_rng(0)
    s, group = np.round(rng.normal(size=200), 1), rng.integers(0, 3, 200)
    noisy = s + 1e-14 * rng.normal(size=200)
    settled = merge_ties(noisy, group, 1e-12)
    for g in range(3):
        a, b = settled[group == g], s[group == g]
        assert np.array_equal(np.sign(a[:, None] - a), np.sign(b[:, None] - b))


# The estimator


@pytest.fixture(scope="module")
def tied_queries():
    """Queries of 3 to 14 items in no order, scores with ties, copies of items."""
    rng = np.random.default_rng(3)
    qid = rng.permutation(np.repeat(np.arange(12), np.arange(3, 15)))
    X = np.round(2 * rng.normal(size=(qid.size, 3))) / 2
    return (
        X,
        np.clip(np.round(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=qid.size)), 0, 3),
        100 - 2 * qid,
    )


TRIED = [1e-2, 1.0, 50.0]


def again(model, X, y, qid, folds, metric):
    """The mean of a metric, by label, after training on every rest with RankRLS."""
    table = np.zeros((len(TRIED), len(model.gammas_)))
    for column, gamma in enumerate(model.gammas_):
        for row, lam in enumerate(TRIED):
            f, labels, items = [], [], []
            for fold, (train, test) in enumerate(folds):
                one = rb.RankRLS(lam=lam, kernel=model.kernel, gamma=gamma, graph=model.graph)
                one.fit(X[train], y[train], qid=None if qid is None or model.graph else qid[train])
                intercept = (
                    y[train].mean() - one.predict(X[train]).mean()
                    if qid is None and not model.graph
                    else 0
                )
                f, items = np.r_[f, one.predict(X[test]) + intercept], np.r_[items, test]
                labels += [
                    (0 if len(test) == 1 else fold, 0 if qid is None else q)
                    for q in (test * 0 if qid is None else qid[test])
                ]
            label = np.unique(labels, axis=0, return_inverse=True)[1].ravel()
            values = []
            for one in np.unique(label):
                here, known = f[label == one], y[items.astype(int)][label == one]
                if metric != "disagreement" or np.unique(known).size > 1:
                    try:
                        values.append(
                            metrics.disagreement(known, here)
                            if metric == "disagreement"
                            else metric(known, here)
                        )
                    except metrics.UndefinedMetric:
                        continue
            table[row, column] = np.mean(values)
    return table


@pytest.mark.parametrize("graph", [None, "identity"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize(
    "cv, metric",
    [
        ("query", "disagreement"),
        ("query", "ndcg"),
        (3, "disagreement"),
        (3, "average_precision"),
        (GroupKFold(4), "disagreement"),
    ],
    ids=str,
)
def test_table_by_query_is_that_of_training_again(tied_queries, cv, kernel, graph, metric):
    X, y, qid = tied_queries
    model = RankRLSCV(
        TRIED,
        kernel,
        gamma=None if kernel == "linear" else [0.2, 1.0],
        cv=cv,
        metric=metric,
        graph=graph,
        random_state=0,
    ).fit(X, y, qid=qid)
    folds = (
        make_folds(cv, X, y, np.unique(qid, return_inverse=True)[1], 0)
        if cv != "query"
        else [(np.flatnonzero(qid != q), np.flatnonzero(qid == q)) for q in np.unique(qid)]
    )
    assert np.allclose(
        model.cv_values_,
        again(
            model,
            X,
            y,
            qid,
            folds,
            metric if metric == "disagreement" else getattr(metrics, metric),
        ),
        rtol=0,
        atol=1e-12,
    )
    best = model.cv_values_.min() if metric == "disagreement" else model.cv_values_.max()
    assert model.best_value_ == best


@pytest.mark.parametrize("graph", [None, "identity"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize(
    "cv", ["loo", 3, ShuffleSplit(5, test_size=0.3, random_state=0)], ids=["loo", "3", "shuffle"]
)
def test_table_by_item_is_that_of_training_again(tied_queries, cv, kernel, graph):
    X, y = tied_queries[0][:40], tied_queries[1][:40]
    model = RankRLSCV(
        TRIED, kernel, gamma=None if kernel == "linear" else 0.5, cv=cv, graph=graph, random_state=0
    ).fit(X, y)
    folds = (
        make_folds(cv, X, y, None, 0)
        if cv != "loo"
        else [(np.delete(np.arange(40), i), np.array([i])) for i in range(40)]
    )
    assert np.allclose(
        model.cv_values_, again(model, X, y, None, folds, "disagreement"), rtol=0, atol=1e-12
    )


def test_pairs_are_an_unbiased_area(tied_queries):
    X, y = tied_queries[0][:16], (tied_queries[1][:16] > 1).astype(float)
    model = RankRLSCV(TRIED, gamma=0.5, cv="lpo").fit(X, y)
    table = np.zeros(3)
    pairs = [(i, j) for i in np.flatnonzero(y == 1) for j in np.flatnonzero(y == 0)]
    for row, lam in enumerate(TRIED):
        for i, j in pairs:
            rest = np.setdiff1d(np.arange(16), [i, j])
            f = rb.RankRLS(lam=lam, gamma=0.5).fit(X[rest], y[rest]).predict(X[[i, j]])
            table[row] += (0.5 if abs(f[0] - f[1]) < 1e-12 else f[0] < f[1]) / len(pairs)
    assert np.allclose(model.cv_values_[:, 0], table, rtol=0, atol=1e-12)


def test_the_final_fit_is_that_of_rankrls(tied_queries):
    X, y, qid = tied_queries
    for options in (
        dict(gamma=[0.1, 0.5]),
        dict(kernel="linear"),
        dict(basis=[0, 5, 9, 30]),
        dict(kernel="poly", degree=2, coef0=0.5),
        dict(graph="identity", gamma=0.3),
    ):
        model = RankRLSCV(TRIED, cv=3, random_state=0, **options).fit(X, y, qid=qid)
        one = rb.RankRLS(lam=model.lam_, **options | dict(gamma=model.gamma_)).fit(
            X, y, qid=None if "graph" in options else qid
        )
        assert (
            np.allclose(model.predict(X), one.predict(X), rtol=0, atol=1e-9)
            and model.solver_ == one.solver_
        )
        assert model.certificate_.is_optimal(1e-10) and hasattr(model, "coef_") == (
            model.kernel == "linear"
        )
    assert not hasattr(
        RankRLSCV(kernel="linear").fit(X, y).set_params(kernel="rbf").fit(X, y), "coef_"
    )


def test_precomputed_several_columns_and_jobs(tied_queries):
    X, y, qid = tied_queries
    K = Kernel("rbf", gamma=0.4).gram(X)
    a = RankRLSCV(TRIED, gamma=0.4, cv="query").fit(X, y, qid=qid)
    b = RankRLSCV(TRIED, kernel="precomputed", cv="query").fit(K, y, qid=qid)
    assert np.allclose(a.cv_values_, b.cv_values_) and np.allclose(
        np.diff(a.predict(X)), np.diff(b.predict(K))
    )
    c = RankRLSCV(TRIED, gamma=0.4, cv="query").fit(X, X[:, 0], qid=qid)
    both = RankRLSCV(TRIED, gamma=0.4, cv="query").fit(X, np.column_stack([y, X[:, 0]]), qid=qid)
    assert np.allclose(both.cv_values_, (a.cv_values_ + c.cv_values_) / 2) and both.predict(
        X
    ).shape == (len(X), 2)
    serial, parallel = (
        RankRLSCV(TRIED, gamma=[0.1, 0.4], cv=3, basis=20, random_state=1, n_jobs=j).fit(
            X, y, qid=qid
        )
        for j in (None, 2)
    )
    assert np.array_equal(serial.cv_values_, parallel.cv_values_) and np.array_equal(
        serial.predict(X), parallel.predict(X)
    )
    assert (
        np.array_equal(pickle.loads(pickle.dumps(serial)).predict(X), serial.predict(X))
        and clone(serial).basis == 20
    )


def test_metrics_by_function(tied_queries):
    X, y, qid = tied_queries
    table = lambda metric: RankRLSCV(TRIED, cv="query", metric=metric).fit(X, y, qid=qid).cv_values_
    assert np.array_equal(table("disagreement"), table(metrics.disagreement)) and np.array_equal(
        table("ndcg"), table(metrics.ndcg)
    )
    assert np.array_equal(
        table(partial(metrics.ndcg, k=2)), table(lambda y, s, q: metrics.ndcg(y, s, q, k=2))
    )
    first = RankRLSCV(TRIED, cv="query", metric="ndcg", k=2).fit(X, y, qid=qid)
    assert np.array_equal(table(partial(metrics.ndcg, k=2)), first.cv_values_)
    assert np.array_equal(table("ndcg@2"), first.cv_values_)
    for name, function in (
        ("mrr", metrics.reciprocal_rank),
        ("precision@3", lambda y, s, q: metrics.precision_at_k(y, s, q, k=3)),
        ("err@3", lambda y, s, q: metrics.err(y, s, q, k=3)),
    ):
        assert np.array_equal(table(name), table(function))
    for options, said in (
        (dict(k=2), "k is not an option of the metric disagreement"),
        (dict(k=0, metric="ndcg"), "k is 0"),
        (dict(k=3, metric="ndcg@2"), "k is 3, and metric is 'ndcg@2'"),
        (dict(k=3, metric=lambda y, s, q: 0.0), "k is 3. Omit k for a function"),
        (dict(metric="precision"), "k is None for precision_at_k"),
    ):
        with pytest.raises(ValueError, match=said):
            RankRLSCV(TRIED, **options).fit(X, y, qid=qid)
    model = RankRLSCV(TRIED, cv="query", metric=lambda y, s, q: float(np.abs(s).sum())).fit(
        X, y, qid=qid
    )
    assert model.best_value_ == model.cv_values_.max()  # greater is better


def test_mean_of_queries_with_different_numbers_of_pairs():
    rng = np.random.default_rng(0)
    label, y, s = (
        rng.integers(0, 6, 60),
        rng.integers(0, 3, 60).astype(float),
        np.round(rng.normal(size=60)),
    )
    y[label == 2] = 1.0  # nothing to order
    assert query_totals(rb.Preferences.from_scores(y, label))[1].tolist() == [
        len(rb.Preferences.from_scores(y[label == q])) for q in range(6)
    ]
    by_query = [metrics.disagreement(y[label == q], s[label == q]) for q in range(6) if q != 2]
    assert np.isclose(query_disagreement(y, label)(s), np.mean(by_query), rtol=0, atol=1e-14)


def test_equal_items_of_a_query_left_out_tie():
    rng = np.random.default_rng(0)
    X, qid = np.repeat(rng.normal(size=(10, 2)), 4, axis=0), np.repeat(np.arange(10), 4)
    model = RankRLSCV(cv="query").fit(
        X, rng.normal(size=40), qid=qid
    )  # all items of a query are equal
    assert np.array_equal(model.cv_values_, np.full((30, 1), 0.5)) and model.lam_ == 1e6


@pytest.mark.parametrize(
    "options, match",
    [
        (dict(lams=[0.0]), "lams has 0.0"),
        (dict(lams=[-1.0]), "lams has -1.0"),
        (dict(lams=[]), "lams is empty"),
        (dict(lams=[np.nan]), "lams has NaN"),
        (dict(gamma=[]), "gamma is empty"),
        (dict(gamma=[1, 0]), "gamma has 0.0"),
        (dict(metric="mapp"), "metric is 'mapp'"),
        (dict(cv="quary"), "did you mean 'query'"),
        (dict(cv="loo"), "cv is 'loo'"),
        (dict(cv="lpo"), "cv is 'lpo'"),
        (dict(cv=0), "cv is 0"),
        (dict(cv=13), "cv leaves fold"),
        (dict(cv=ShuffleSplit(3, random_state=0)), r"holds \d+ of the"),
        (
            dict(cv=[(np.arange(50), np.arange(50, 60))]),
            "folds whose training part is all the rest",
        ),
        (dict(graph="weights"), "graph is a str"),
        (dict(basis=0), "basis is 0"),
        (dict(basis=[1, 1]), "basis contains item 1"),
        (dict(kernel="rfb"), "did you mean 'rbf'"),
        (dict(metric="auc"), "y has 4 different values"),
    ],
)
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_bad_arguments(tied_queries, options, match):
    X, y, qid = tied_queries
    model = RankRLSCV(TRIED, random_state=0).fit(X, y, qid=qid)
    before = model.dual_coef_
    with pytest.raises(ValueError, match=match):
        model.set_params(**options).fit(X, y, qid=qid)
    assert model.dual_coef_ is before


def test_too_little_to_leave_out():
    X, y = np.arange(8.0)[:, None], np.arange(8.0)
    with pytest.raises(ValueError, match="cv is 'query' and qid has 1 query"):
        RankRLSCV(cv="query").fit(X, y)
    with pytest.raises(ValueError, match="cv is 'query' and qid has 1 query"):
        RankRLSCV(cv="query").fit(X, np.r_[1.0, 1.0, y[2:]], qid=[0, 0, 1, 1, 1, 1, 1, 1])
    with pytest.raises(ValueError, match="X has 2 items"):
        RankRLSCV(cv="lpo").fit(X[:2], y[:2])
    for cv in ("lpo", "loo", 2):
        with pytest.raises(ValueError, match="y has no two different|cv leaves"):
            RankRLSCV(cv=cv).fit(X, np.ones(8))
    with pytest.raises(ValueError, match="y has no pair of different scores to leave out"):
        RankRLSCV(cv="lpo", graph="identity").fit(X, y, qid=np.arange(8))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("queries", [True, False])
def test_a_lambda_far_above_all_eigenvalues_gives_no_noise(kernel, queries):
    """Scores are a millionth of a millionth of y there, and order the items all the same."""
    rng = np.random.default_rng(0)
    X = 1e-6 * rng.normal(size=(90, 4))
    y = np.round(1e6 * X @ [1, 2, 0, -1] + 0.5 * rng.normal(size=90))
    qid = np.repeat(np.arange(3), 30) if queries else None
    folds = [
        (np.flatnonzero(np.arange(90) // 30 != g), np.arange(30 * g, 30 * g + 30)) for g in range(3)
    ]
    lams = [1e-4, 1.0, 1e3, 1e6]
    options = dict(kernel=kernel) | (dict(gamma=0.3) if kernel == "rbf" else {})
    found = rb.RankRLSCV(lams=lams, cv=folds, **options).fit(X, y, qid).cv_values_.ravel()
    of = lambda rows: None if qid is None else qid[rows]
    again = [
        np.mean(
            [
                rb.disagreement(
                    y[out],
                    rb.RankRLS(lam=lam, **options).fit(X[rest], y[rest], of(rest)).predict(X[out]),
                    of(out),
                )
                for rest, out in folds
            ]
        )
        for lam in lams
    ]
    assert found == pytest.approx(again, abs=1e-12) and max(found) < 0.1


@pytest.mark.parametrize(
    "model, far",
    [
        (rb.RankRLS(lam=3.0, kernel="linear"), 1e4),
        (rb.RankRLS(lam=3.0, kernel="linear", basis=20, random_state=0), 0.0),
        (rb.RankRLSCV(kernel="linear"), 1e4),
    ],
)
def test_many_items_stay_in_single_precision(model, far):
    rng = np.random.default_rng(0)
    X, qid = (rng.normal(size=(2500, 6)) + far).astype(np.float32), np.arange(2500) // 10
    y = rng.integers(0, 4, 2500) + X[:, 0] - far
    single, double = (clone(model).fit(items, y, qid) for items in (X, X.astype(np.float64)))
    assert single.solution_.problem.storage == "float32"
    assert np.allclose(single.predict(X), double.predict(X), rtol=1e-9, atol=1e-12)
    assert single.lam_ == double.lam_ and single.certificate_.relative_gap < 1e-9
