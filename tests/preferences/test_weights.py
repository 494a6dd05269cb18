"""Weights by query and by pair of levels: what is counted against what is listed."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbook as rb
from rankbook.preferences.sums import (
    HINGE,
    SQUARED,
    ListedLoss,
    loss_of,
    query_totals,
    smoothed_hinge,
)
from rankbook.selection.folds import make_folds


def by_loops(y, qid, item, levels, queries):
    """Every preference with its weight, as the definition says it."""
    pairs = [
        (k, l) for k in range(len(y)) for l in range(len(y)) if qid[k] == qid[l] and y[k] > y[l]
    ]
    weight = np.array([item[k] * item[l] * levels.get((y[k], y[l]), 1.0) for k, l in pairs])
    if queries is not None:
        ids = sorted(set(qid.tolist()))
        goal = dict(zip(ids, np.ones(len(ids)) if isinstance(queries, str) else queries))
        total = {q: sum(w for w, (k, _) in zip(weight, pairs) if qid[k] == q) for q in ids}
        weight = np.array(
            [
                w * (goal[qid[k]] / total[qid[k]] if total[qid[k]] else 1.0)
                for w, (k, _) in zip(weight, pairs)
            ]
        )
    better, worse = np.array(pairs, dtype=int).reshape(-1, 2).T
    return rb.Preferences(better, worse, len(y), weight)


@st.composite
def weighed(draw):
    """Graded items of some queries, weights of all kinds, and both forms of the preferences."""
    n = draw(st.integers(2, 25))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    y, qid = rng.integers(0, 4, n).astype(float), rng.integers(0, 4, n) * 3
    scores = np.unique(y).tolist()
    levels = {
        (a, b): float(rng.choice([0.0, 0.5, 3.0]))
        for a in scores
        for b in scores
        if a > b and rng.random() < 0.6
    }
    queries = draw(st.sampled_from([None, "equal", "array"]))
    queries = rng.uniform(0, 2, np.unique(qid).size) if queries == "array" else queries
    item = rng.choice([0.0, 1.0, 2.5], n) if draw(st.booleans()) else np.ones(n)
    prefs = rb.Preferences.from_scores(y, qid, level_weight=levels if levels else None)
    prefs = prefs if (item == 1).all() else prefs.item_weighted(item)
    prefs = prefs if queries is None else prefs.query_weighted(queries)
    return prefs, by_loops(y, qid, item, levels, queries), rng


@settings(max_examples=120, deadline=None)
@given(weighed())
def test_counted_sums_are_those_of_the_list(case):
    prefs, listed, rng = case
    assert prefs.is_counted and not prefs.is_listed
    loss, slow = loss_of(prefs), ListedLoss(listed)
    if not listed.weight.any():
        return
    s, v = rng.normal(size=(2, prefs.n_items))
    for shape in (HINGE, SQUARED, smoothed_hinge(0.5)):
        one, other = loss.evaluate(s, shape), slow.evaluate(s, shape)
        scale = max(1.0, other.loss)
        for name in ("loss", "margin", "square", "worst", "score_gradient"):
            assert np.allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-10 * scale)
        bent = loss.curvature(one.bands, v), slow.curvature(other.bands, v)
        assert np.allclose(*bent, rtol=0, atol=1e-10 * scale)
    assert np.allclose(loss.full_score_gradient(), slow.full_score_gradient(), atol=1e-10)
    assert np.isclose(loss.largest_rise(s), slow.largest_rise(s))
    assert not prefs.is_listed
    assert np.isclose(query_totals(prefs)[1].sum(), listed.weight.sum(), rtol=1e-10)
    by_pair = {(k, l): w for k, l, w in zip(listed.better, listed.worse, listed.weight)}
    found = [by_pair.pop((k, l)) for k, l in zip(prefs.better, prefs.worse)]
    assert np.allclose(prefs.weight, found, rtol=1e-10) and not any(by_pair.values())


@pytest.fixture
def graded():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 5))
    y = np.clip(np.round(X @ [1, 1, 0, 0, 0.5] + rng.normal(size=200)), 0, 3)
    return X, y, np.repeat(np.arange(6), [80, 50, 40, 20, 8, 2])


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_newton_solves_the_weighted_problem_without_a_list(graded, loss):
    X, y, qid = graded
    table = {(3.0, 0.0): 4.0, (2.0, 0.0): 2.0, (3.0, 2.0): 0.0}
    prefs = rb.Preferences.from_scores(y, qid, query_weight="equal", level_weight=table)
    listed = rb.Preferences(prefs.better, prefs.worse, 200, prefs.weight)
    prefs = rb.Preferences.from_scores(y, qid, query_weight="equal", level_weight=table)
    options = dict(kernel="linear", loss=loss)
    one = rb.solve(rb.RankSVMProblem(X, prefs, **options), 0.01, "newton")
    assert not prefs.is_listed and one.certificate.relative_gap < 1e-6
    other = rb.solve(rb.RankSVMProblem(X, listed, **options), 0.01, "qp")
    assert np.isclose(one.certificate.primal, other.certificate.primal, rtol=2e-6)
    assert rb.RankSVMProblem(X, prefs, **options).primal(one.coef, 0.01) == pytest.approx(
        rb.RankSVMProblem(X, listed, **options).primal(one.coef, 0.01), rel=1e-10
    )


@pytest.mark.parametrize("solver", ["qp", "path", "interior", "newton", "subgradient"])
def test_every_solver_takes_the_weights(graded, solver):
    X, y, qid = (part[::4] for part in graded)
    table = {(3.0, 0.0): 4.0, (2.0, 0.0): 2.0}
    make = lambda: rb.Preferences.from_scores(y, qid, query_weight="equal", level_weight=table)
    listed = rb.Preferences(make().better, make().worse, 50, make().weight)
    best = rb.solve(rb.RankSVMProblem(X, listed, kernel="linear"), 0.1, "qp").certificate.primal
    options = dict(tol=0.05) if solver == "subgradient" else {}
    found = rb.solve(rb.RankSVMProblem(X, make(), kernel="linear"), 0.1, solver, **options)
    rough = 0.1 if solver == "subgradient" else 1e-5
    assert best * (1 - 1e-6) <= found.certificate.primal <= best * (1 + rough)


@pytest.mark.parametrize("graph, margin", [("star", "one"), ("full", "difference")])
def test_weights_of_listed_graphs(graded, graph, margin):
    _, y, qid = graded
    options = dict(graph=graph, margin=margin)
    plain = rb.Preferences.from_scores(y, qid, **options)
    prefs = rb.Preferences.from_scores(
        y, qid, query_weight="equal", level_weight={(3.0, 0.0): 4.0}, **options
    )
    weight = np.where((y[plain.better] == 3) & (y[plain.worse] == 0), 4.0, 1.0)
    weight /= np.bincount(qid[plain.better], weight)[qid[plain.better]]
    assert np.allclose(prefs.weight, weight) and np.array_equal(prefs.margin, plain.margin)
    assert np.array_equal(prefs.better, plain.better)


@pytest.mark.parametrize("sample", [False, True])
@pytest.mark.parametrize("graph", ["full", "star"])
def test_the_estimator_weighs_queries(graded, graph, sample):
    X, y, qid = graded
    weight = np.random.default_rng(0).uniform(0.5, 2, 200) if sample else None
    prefs = rb.Preferences.from_scores(y, qid, graph)
    c = np.ones(len(prefs)) if weight is None else weight[prefs.better] * weight[prefs.worse]
    total = np.bincount(qid[prefs.better], c, 6)
    for asked in ("equal", [1.0, 2, 3, 0, 5, 6]):
        goal = np.ones(6) if asked == "equal" else np.array(asked)
        options = dict(lam=0.05, kernel="linear", solver="qp")
        model = rb.RankSVM(graph=graph, query_weight=asked, **options).fit(X, y, qid, weight)
        goals = np.divide(goal, total, out=np.zeros(6), where=total > 0)
        listed = prefs.reweighted(c * goals[qid[prefs.better]])
        same = rb.RankSVM(**options).fit(X, preferences=listed)
        assert np.allclose(model.coef_, same.coef_, atol=1e-5)
        assert np.isclose(model.certificate_.primal, same.certificate_.primal, rtol=1e-6)


@pytest.mark.parametrize("given", ["equal", np.arange(1.0, 7.0)])
def test_folds_weigh_their_queries(graded, given):
    X, y, qid = graded
    options = dict(kernel="linear", cv=2, lam_min_ratio=1e-2)
    model = rb.RankSVMCV(query_weight=given, **options).fit(X, y, qid)
    goal = np.ones(6) if isinstance(given, str) else given
    whole = rb.Preferences.from_scores(y, qid, query_weight=goal)
    assert np.isclose(model.solution_.problem.prefs.weight.sum(), whole.weight.sum())
    for (train, test), curve in zip(make_folds(2, X, y, qid), model.fold_curves_):
        prefs, asked = (
            rb.Preferences.from_scores(y[rows], qid[rows], query_weight=goal[np.unique(qid[rows])])
            for rows in (train, test)
        )
        lam = model.lam_ * prefs.weight.sum() / whole.weight.sum()
        problem = rb.RankSVMProblem(X[train], prefs, kernel="linear")
        f = rb.solve(problem, lam, "path").predict(X[test])
        assert np.isclose(rb.disagreement(asked, f), curve.at(model.lam_))


def test_copies_are_read_only(graded):
    _, y, qid = graded
    prefs = rb.Preferences.from_scores(y, qid, level_weight={(3.0, 0.0): 4.0})
    for same in (copy.deepcopy(prefs), pickle.loads(pickle.dumps(prefs))):
        assert not any(part.flags.writeable for part in same.level_weight)
        assert np.array_equal(same.weight, prefs.weight)


def test_a_path_with_weights_of_levels_is_stored(graded, tmp_path):
    X, y, qid = (part[::5] for part in graded)
    prefs = rb.Preferences.from_scores(y, qid, level_weight={(3.0, 0.0): 4.0})
    path = rb.solve_path(rb.RankSVMProblem(X, prefs.query_weighted(), kernel="linear"))
    path.save(tmp_path / "p.npz")
    again, lam = rb.load(tmp_path / "p.npz"), path.breakpoints[5]
    assert np.array_equal(again.coef(lam), path.coef(lam))
    assert np.allclose(again.problem.prefs.weight, path.problem.prefs.weight)


@pytest.mark.parametrize("asked", ["equal", [2.0, 0.5, 0.0, 3.0, 1.0]])
@pytest.mark.parametrize(
    "options",
    [dict(kernel="linear"), dict(), dict(basis=np.arange(0, 40, 3)), dict(kernel="poly")],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_least_squares_with_weights_of_queries_is_the_explicit_list(asked, options, weighted):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40).astype(float)
    qid = rng.permutation(np.repeat([7, 2, 9, 4, 5], [3, 12, 8, 16, 1]))
    weight = rng.integers(0, 3, 40) / 2 if weighted else np.ones(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a query of one item
        model = rb.RankRLS(lam=0.1, query_weight=asked, **options)
        found = model.fit(X, y, qid, weight if weighted else None).predict(X)
    i, j = np.triu_indices(40, 1)
    i, j = (v[qid[i] == qid[j]] for v in (i, j))
    number = np.unique(qid, return_inverse=True)[1][i]
    of_pair = weight[i] * weight[j]
    goal = np.ones(5) if isinstance(asked, str) else np.asarray(asked)
    of_pair *= (goal / np.maximum(np.bincount(number, of_pair, 5), 1e-300))[number]
    listed = rb.Preferences(i, j, 40, of_pair, y[i] - y[j])
    explicit = rb.RankRLS(lam=0.1, **options).fit(X, preferences=listed).predict(X)
    assert np.allclose(
        listed.matvec(found), listed.matvec(explicit), rtol=0, atol=1e-10 * np.abs(found).max()
    )


def test_least_squares_takes_weights_of_levels_by_preferences():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 3, 30).astype(float)
    qid = rng.integers(0, 4, 30)
    table = {(2, 0): 3.0, (1, 0): 0.5}
    options = dict(level_weight=table, query_weight="equal", margin="difference")
    prefs = rb.Preferences.from_scores(y, qid, **options)
    w = rb.RankRLS(lam=0.3, kernel="linear").fit(X, preferences=prefs).coef_
    normal, right = 0.3 * np.eye(3), np.zeros(3)
    for q in range(4):
        pairs = [(a, b) for a in range(30) for b in range(30) if qid[a] == qid[b] == q]
        pairs = [(a, b, table.get((y[a], y[b]), 1.0)) for a, b in pairs if y[a] > y[b]]
        total = sum(c for *_, c in pairs)
        for a, b, c in pairs:
            d = X[a] - X[b]
            normal += c / total * np.outer(d, d)
            right += c / total * (y[a] - y[b]) * d
    assert np.allclose(w, np.linalg.solve(normal, right), rtol=0, atol=1e-10)


def test_least_squares_learns_queries_alike_from_blocks():
    rng = np.random.default_rng(7)
    X, y, qid = rng.normal(size=(40, 3)), rng.normal(size=40), np.repeat([3, 1, 2], [5, 25, 10])
    model = rb.RankRLS(kernel="linear", query_weight="equal")
    whole = model.fit(X, y, qid).coef_
    parts = [(X[qid == q], y[qid == q], qid[qid == q]) for q in (3, 1, 2)]
    assert np.allclose(model.fit(iter(parts)).coef_, whole, rtol=0, atol=1e-12)
    model = rb.RankRLS(kernel="linear", query_weight="equal").fit(*parts[0])
    for part in parts[1:]:
        model.partial_fit(*part)
    assert np.allclose(model.coef_, whole, rtol=0, atol=1e-12)


def test_online_queries_weigh_as_their_items_do():
    rng = np.random.default_rng(8)
    X, qid = rng.normal(size=(60, 3)), np.repeat([3, 1, 2], [6, 34, 20])
    y, weight = rng.integers(0, 3, 60).astype(float), rng.integers(1, 3, 60).astype(float)
    prefs = rb.Preferences.from_scores(y, qid).item_weighted(weight)
    for asked in ("equal", [1.0, 3.0, 0.5]):
        by_items = prefs.query_weighted(asked).better_weight
        online = rb.OnlineRankSVM(lam=0.02, query_weight=asked).fit(X, y, qid, weight)
        same = rb.OnlineRankSVM(lam=0.02).fit(X, y, qid, by_items)
        assert np.array_equal(online.coef_, same.coef_)
        total = prefs.query_weighted(asked).weight.sum()
        exact = rb.RankSVM(0.02 * total, kernel="linear", solver="qp", query_weight=asked)
        exact.fit(X, y, qid, weight)
        problem = exact.solution_.problem
        reached = problem.certificate(0.02 * total, weights=online.coef_).primal
        assert reached < 1.02 * exact.certificate_.primal
    batch = rb.OnlineRankSVM(query_weight="equal").partial_fit(X, y, qid)
    assert batch.n_updates_ == 3  # a step for each query


def test_equal_weights_of_queries_without_preferences():
    for graph in ("full", "star"):
        prefs = rb.Preferences.from_scores([1, 1, 2], [0, 0, 1], graph=graph, query_weight="equal")
        assert len(prefs) == 0
