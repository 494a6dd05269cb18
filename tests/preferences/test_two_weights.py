"""A weight of each item as the better and one as the worse, against a list of the pairs."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import rankbook as rb
from rankbook.base.errors import ArgumentError
from rankbook.metrics import auc, average_precision, by_query, pair_accuracy
from rankbook.paths.files import _preferences
from rankbook.preferences.missed_pairs import missed_share
from rankbook.preferences.sums import (
    HINGE,
    SQUARED,
    ListedLoss,
    crossed_edges,
    loss_of,
    query_totals,
    smoothed_hinge,
)


def listed_by_loops(y, qid, better, worse, levels):
    """Every pair with positive weights of its items, as the definition says it."""
    n, order = len(y), np.lexsort((y, qid)).tolist()  # that of the list, by which paths break ties
    pairs = [
        (k, l)
        for k in order
        for l in order
        if qid[k] == qid[l] and y[k] > y[l] and better[k] > 0 and worse[l] > 0
    ]
    weight = [better[k] * worse[l] * levels.get((y[k], y[l]), 1.0) for k, l in pairs]
    return rb.Preferences(*np.array(pairs, dtype=int).reshape(-1, 2).T, n, weight)


def problem(seed, features=None):
    """Items, preferences with two weights, some 0, and their list; None if no pair counts.

    Some have copies of items, integer grids, several queries, weights of levels, or only 0 and 1.
    """
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 26)), features or int(rng.integers(1, 5))
    X = rng.normal(size=(n, d)) if seed % 2 else rng.integers(0, 3, (n, d)).astype(float)
    if seed % 4 < 2:
        X[rng.integers(0, n, n // 3)] = X[rng.integers(0, n, n // 3)]
    y, qid = rng.integers(0, rng.integers(2, 7), n).astype(float), rng.integers(0, 3, n)
    qid = qid if rng.random() < 0.6 else np.zeros(n)
    better, worse = (
        rng.choice([0.0, 0.5, 1.0, 3.0], n, p=[p, 0.2, 0.3, 0.5 - p]) for p in (0.2, 0.4)
    )
    better = better if rng.random() < 0.7 else np.ones(n)
    worse = worse if rng.random() < 0.7 else (worse > 0).astype(float)
    levels = {(1.0, 0.0): rng.choice([0.0, 0.5, 2.0])} if {0.0, 1.0} <= set(y) else {}
    levels = levels if rng.random() < 0.3 else {}
    listed = listed_by_loops(y, qid, better, worse, levels)
    prefs = rb.Preferences.from_scores(y, qid, level_weight=levels or None)
    prefs = prefs.item_weighted(better, worse)
    return (rng, X, prefs, listed) if listed.weight.any() else None


def problems(seeds, features=None):
    """Those of :func:`problem` in which a pair counts."""
    return filter(None, (problem(seed, features) for seed in seeds))


def table(prefs):
    ends = prefs.better.tolist(), prefs.worse.tolist()
    return sorted(zip(*ends, prefs.weight.tolist(), prefs.margin.tolist()))


def close(a, b, scale=1.0):
    return np.allclose(a, b, rtol=1e-9, atol=1e-9 * max(1.0, scale))


def test_counted_sums_are_those_of_the_list(amount):
    for rng, X, prefs, listed in problems(range(amount(100, 1000))):
        loss, slow, v = loss_of(prefs), ListedLoss(listed), rng.normal(size=len(X))
        for scores in (rng.normal(size=len(X)), rng.integers(0, 4, len(X)) / 2, np.zeros(len(X))):
            for shape in (HINGE, SQUARED, smoothed_hinge(0.7)):
                one, other = loss.evaluate(scores, shape), slow.evaluate(scores, shape)
                for name in ("loss", "margin", "square", "worst", "score_gradient"):
                    assert close(getattr(one, name), getattr(other, name), other.loss)
                bent = loss.curvature(one.bands, v), slow.curvature(other.bands, v)
                assert close(*bent, other.loss)
            assert loss.largest_rise(scores) == slow.largest_rise(scores)
            assert np.isclose(*(missed_share(each, scores) for each in (prefs, listed)), rtol=1e-12)
        assert close(loss.full_score_gradient(), slow.full_score_gradient())
        assert np.isclose(query_totals(prefs)[1].sum(), listed.weight.sum(), rtol=1e-12)
        assert prefs.level_weight is not None or not prefs.is_listed
        assert len(prefs) == len(listed) and table(prefs) == table(listed)


EXACT = [
    ("path", dict(kernel="rbf")),
    ("path", dict(kernel="linear")),
    ("simplex", dict(kernel="linear", penalty="l1")),
    ("homotopy", dict(kernel="linear", penalty="l1", loss="squared")),
]
NEAR = [
    ("newton", dict(kernel="linear")),
    ("newton", dict(kernel="linear", loss="squared")),
    ("interior", dict(kernel="rbf")),
    ("interior", dict(kernel="rbf", loss="squared")),
]


def pair_of(X, prefs, listed, options):
    one, other = (rb.RankSVMProblem(X, each, **options) for each in (prefs, listed))
    assert one.lam_max == other.lam_max or np.isclose(one.lam_max, other.lam_max, rtol=1e-12)
    assert close(one.gradient_scatter(), other.gradient_scatter())
    return one, other


def moved_dual(dual, prefs, listed):
    """Multipliers in the order of the list."""
    place = {ends: i for i, ends in enumerate(zip(prefs.better, prefs.worse))}
    return dual[[place[ends] for ends in zip(listed.better, listed.worse)]]


def same_certificates(one, other, lam, solution):
    """A solution's objective and bounds are the same for both."""
    dual = solution.dual if isinstance(solution.dual, np.ndarray) else None
    if dual is None:
        a, b = (each.certificate(lam, solution.coef) for each in (one, other))
        assert close(a.primal, b.primal)
        return
    moved = moved_dual(dual, one.prefs, other.prefs)
    a, b = one.certificate(lam, solution.coef, dual), other.certificate(lam, solution.coef, moved)
    assert close(a.primal, b.primal) and close(a.dual, b.dual, abs(a.primal))


@pytest.mark.parametrize("case", NEAR, ids=lambda case: f"{case[0]}-{'-'.join(case[1].values())}")
def test_one_lambda(case, amount):
    name, options = case
    for rng, X, prefs, listed in problems(range(amount(12, 250))):
        one, other = pair_of(X, prefs, listed, options)
        top = one.lam_max if np.isfinite(one.lam_max) else 10.0
        if not top:
            continue
        lam = top * rng.choice([0.03, 0.3])
        solution = rb.solve(one, lam, solver=name)
        assert solution.certificate.relative_gap <= 2e-6
        same_certificates(one, other, lam, solution)
        found = rb.solve(other, lam, solver=name).certificate
        assert found.relative_gap <= 2e-6
        both = found, solution.certificate
        primal = min(each.primal for each in both)
        assert max(each.dual for each in both) <= primal * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("case", EXACT, ids=lambda case: f"{case[0]}-{'-'.join(case[1].values())}")
def test_exact_paths(case, amount, tmp_path):
    name, options = case
    for rng, X, prefs, listed in problems(range(amount(8, 250)), features=3):
        one, other = pair_of(X, prefs, listed, options)
        if not one.lam_max:
            continue
        path, same = (rb.solve_path(each, solver=name) for each in (one, other))
        ends = [each.domain[0] for each in (path, same)]  # "rounding" may end one a little earlier
        assert max(ends) <= 1e-10 * one.lam_max
        for lam in one.lam_max * np.array([0.9, 0.3, 0.1, 0.02]):
            a, b = path.certificate(lam), same.certificate(lam)
            assert close(a.primal, b.primal) and close(a.dual, b.dual, a.primal)
        new, *_ = problems(range(1000 * len(X), 1000 * len(X) + 30), features=3)
        curves = [rb.validation_curve(path, new[1], each) for each in new[2:]]
        assert np.array_equal(curves[0].breaks, curves[1].breaks)
        assert np.allclose(curves[0].values, curves[1].values, rtol=0, atol=1e-12)
        if name == "path":
            part = rb.solve_path(one, solver=name, max_events=7)
            part.save(tmp_path / "part")
            loaded = rb.load(tmp_path / "part")
            stored, whole = loaded.problem.prefs, loaded.resume()
            assert table(stored) == table(prefs) and whole.domain[0] <= 1e-10 * one.lam_max
            if prefs.level_weight is None:
                assert np.array_equal(stored.worse_weight, prefs.worse_weight)
                assert stored.is_counted
            for lam in one.lam_max * np.geomspace(0.99, 0.01, 8):
                f, g = (one.matvec(each.coef(lam)) for each in (whole, path))
                assert np.allclose(f, g, rtol=0, atol=1e-11 * max(1e-9, np.abs(g).max()))


def test_a_path_of_small_gap():
    for _, X, prefs, listed in problems(range(4)):
        one, other = pair_of(X, prefs, listed, dict(kernel="rbf"))
        if one.lam_max:
            path = rb.solve_path(one, solver="epsilon", lam_min=0.05 * one.lam_max)
            for lam in one.lam_max * np.array([0.7, 0.1]):
                gap = path.certificate(lam).relative_gap
                assert gap <= 1e-3 and close(
                    gap,
                    other.certificate(
                        lam, path.coef(lam), moved_dual(path.dual(lam), prefs, listed)
                    ).relative_gap,
                )


GRADES, QID = np.array([2.0, 1, 1, 0, 0, 1, 0]), np.array([5, 5, 5, 5, 5, 2, 2])
BETTER, WORSE = np.array([1.0, 0, 2, 1, 0, 3, 1]), np.array([1.0, 1, 0, 0, 2, 1, 1])
FULL = rb.Preferences.from_scores(GRADES, QID)


def graphs():
    pairs = rb.Preferences([0, 1, 2, 0, 3], [1, 2, 0, 3, 6], 7, margin=[1, 2, 3, 4, 5.0])
    yield "full", FULL
    yield "star", rb.Preferences.from_scores(GRADES, QID, graph="star")
    yield "difference", rb.Preferences.from_scores(GRADES, QID, margin="difference")
    yield "level", rb.Preferences.from_scores(GRADES, QID, level_weight={(2, 0): 3.0})
    yield "pairs", pairs
    yield "rankings", rb.Preferences.from_rankings([[0, 1, 2], [2, 6, 0]], n_items=7)


@pytest.mark.parametrize("graph", list(graphs()), ids=lambda graph: graph[0])
def test_every_graph_drops_what_weighs_nothing(graph):
    prefs, rng = graph[1], np.random.default_rng(0)
    base = prefs.weight if prefs.level_weight is not None else np.ones(len(prefs))
    weight = BETTER[prefs.better] * WORSE[prefs.worse] * base
    all_pairs = zip(prefs.better.tolist(), prefs.worse.tolist(), weight, prefs.margin.tolist())
    expected = sorted(pair for pair in all_pairs if pair[2] > 0)
    two = prefs.item_weighted(BETTER, WORSE)
    assert 0 < len(two) == len(expected) < len(prefs) and table(two) == expected
    # later weights bring pairs back, and the order of the list stays
    again, direct = two.item_weighted(WORSE + 1, BETTER), prefs.item_weighted(WORSE + 1, BETTER)
    assert np.array_equal(again.better, direct.better) and table(again) == table(direct)
    ones = two.item_weighted(np.ones(7))
    assert np.array_equal(ones.better, prefs.better) and np.array_equal(ones.margin, prefs.margin)
    # other weights of the pairs that are there
    cost = rng.random(len(two))
    other = two.reweighted(cost)
    assert np.array_equal(other.better, two.better) and np.array_equal(other.weight, cost)
    assert len(two.reweighted()) == len(two) and two.reweighted().better_weight is None
    # rows, repeated and in another order
    rows = np.array([6, 0, 2, 4, 4, 1, 5])
    assert table(two[rows]) == table(prefs[rows].item_weighted(BETTER[rows], WORSE[rows]))
    assert two[rows].is_counted == two.is_counted
    for copied in (pickle.loads(pickle.dumps(two)), copy.deepcopy(two)):
        assert table(copied) == expected
        assert table(copied.item_weighted(np.ones(7))) == table(ones)


def test_one_weight_is_one_array():
    one = FULL.item_weighted(BETTER)
    copies = pickle.loads(pickle.dumps(one)), copy.deepcopy(one), one[::-1], one.query_weighted()
    for each in (one, *copies):
        assert each.better_weight is each.worse_weight and not each.better_weight.flags.writeable
    assert FULL.better_weight is FULL.worse_weight is None
    two = FULL.item_weighted(BETTER, BETTER.copy())
    assert two.better_weight is not two.worse_weight and table(two) == table(one)


def test_queries_weigh_what_is_asked():
    two = FULL.item_weighted(BETTER, WORSE).query_weighted([3.0, 0.5])
    assert np.allclose([two.weight[QID[two.better] == q].sum() for q in (2, 5)], [3.0, 0.5])
    none = FULL.item_weighted(BETTER, WORSE).query_weighted([0.0, 1.0])
    assert set(QID[none.better]) == {5} and np.isclose(none.weight.sum(), 1)


def test_levels_that_no_preference_crosses_are_joined():
    # censored, died, censored, censored, died, died, censored: three runs that end with a death
    died, edges = np.array([0.0, 1, 0, 0, 1, 1, 0]), np.arange(8)
    assert crossed_edges(np.ones(7), died, edges, np.array([0, 7])).tolist() == [0, 2, 5, 6, 7]
    assert crossed_edges(died, np.ones(7), edges, np.array([0, 7])).tolist() == [0, 1, 4, 5, 7]
    two = crossed_edges(np.ones(7), died, edges, np.array([0, 3, 7]))  # queries
    assert two.tolist() == [0, 2, 3, 5, 6, 7]
    assert crossed_edges(np.ones(7), np.ones(7), edges, np.array([0, 7])).tolist() == list(edges)


def test_what_counts_nothing_is_refused():
    with pytest.raises(ArgumentError, match="^worse_weight has"):
        FULL.item_weighted(BETTER, -WORSE)
    with pytest.raises(ArgumentError, match=r"^worse_weight has shape \(6,\)"):
        FULL.item_weighted(BETTER, WORSE[1:])
    none = FULL.item_weighted(GRADES == 0, GRADES > 0)
    assert len(none) == 0 and none.better.size == 0
    with pytest.raises(ValueError, match="weight 0 for every preference"):
        rb.RankSVMProblem(np.eye(7), none)
    with pytest.raises(ValueError, match="none of positive weight"):
        rb.RankSVM().fit(np.eye(7), preferences=none)
    with pytest.raises(ValueError, match="no preference of weight above 0"):
        rb.disagreement(none, GRADES)
    with pytest.raises(ArgumentError, match="whose items have two weights"):
        average_precision(FULL.item_weighted(BETTER, WORSE), GRADES)


@pytest.mark.parametrize("size", [1e-170, 1e80, 1e170])
@pytest.mark.parametrize("kernel, loss", [("linear", "hinge"), ("rbf", "squared")])
def test_weights_whose_products_overflow_or_vanish_are_refused(size, kernel, loss):
    two = FULL.item_weighted(size * BETTER, size * WORSE)
    model = rb.RankSVM(kernel=kernel, loss=loss)
    for prefs in (
        two,
        two[::-1],
        rb.Preferences.from_survival(GRADES + 1, WORSE > 0, weight=np.full(7, size)),
    ):
        with pytest.raises(ArgumentError, match="^prefs has weights of preferences that sum to"):
            model.fit(np.eye(7), prefs)
    if size == 1e80:  # large, and known
        assert np.isclose(two.query_weighted().weight.sum(), 2)
    else:
        with pytest.raises(ArgumentError, match="^weights of preferences in a query sum to"):
            two.query_weighted()


def shares_by_loops(y, qid, better, worse, scores):
    """The weighted share of pairs in the right order, of the queries that have one."""
    found = {}
    for q in np.unique(qid):
        pairs = [(k, l) for k in range(len(y)) for l in range(len(y)) if y[k] > y[l]]
        pairs = [(k, l) for k, l in pairs if qid[k] == q == qid[l]]
        met = [(scores[k] > scores[l]) + 0.5 * (scores[k] == scores[l]) for k, l in pairs]
        weight = np.array([better[k] * worse[l] for k, l in pairs])
        if weight.any():
            found[q] = weight @ met / weight.sum()
    return found


@pytest.mark.parametrize("metric", [pair_accuracy, auc])
def test_metrics_by_query(metric):
    rng = np.random.default_rng(4)
    for _ in range(60):
        n = int(rng.integers(3, 30))
        y, qid = rng.integers(0, 2 if metric is auc else 4, n).astype(float), rng.integers(0, 3, n)
        better, worse = rng.choice([0.0, 0.5, 1.0, 2.0], (2, n))
        scores = rng.integers(0, 4, n).astype(float)
        prefs = rb.Preferences.from_scores(y, qid).item_weighted(better, worse)
        expected = shares_by_loops(y, qid, better, worse, scores)
        if not expected:
            with pytest.raises(rb.metrics.UndefinedMetric):
                metric(prefs, scores)
            continue
        assert np.isclose(metric(prefs, scores), np.mean(list(expected.values())), rtol=1e-12)
        values = by_query(metric, prefs, scores)[1]
        assert np.allclose(values[~np.isnan(values)], list(expected.values()), rtol=1e-12)


def test_the_estimator_takes_two_weights():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, 0.5, 0.0] + rng.normal(size=60)
    seen = (rng.random(60) < 0.5).astype(float)
    target = rb.Preferences.from_scores(y).item_weighted(np.ones(60), seen)
    listed = rb.Preferences(target.better, target.worse, 60)
    for kernel in ("linear", "rbf"):
        one, other = (rb.RankSVM(1.0, kernel=kernel, loss="squared") for _ in range(2))
        one.fit(X, target)
        other.fit(X, preferences=listed)
        assert np.allclose(one.predict(X), other.predict(X), rtol=0, atol=1e-5)
        assert np.isclose(one.score(X, target), other.score(X, listed), rtol=1e-6)
    chosen = rb.RankSVMCV(cv=3, random_state=0).fit(X, target)
    same = rb.RankSVMCV(cv=3, random_state=0).fit(X, listed)
    assert np.isclose(chosen.lam_, same.lam_, rtol=1e-6)


def test_pairs_that_do_not_count_may_be_asked_about():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    prefs = rb.Preferences.from_scores([0, 1, 2, 3]).item_weighted(np.ones(4), [1, 0, 1, 1])
    solution = rb.solve(rb.RankSVMProblem(X, prefs, kernel="linear"), 0.1)
    asked = {tuple(sorted(pair)) for pair in rb.suggest_pairs(solution, 6).tolist()}
    assert asked == {(1, 2), (1, 3)}


def test_files_of_version_0_2_number_all_pairs():
    weight = np.array([0.0, 1, 2, 0, 1, 1, 1])
    stored = dict(graph="full", n_items=7, n_queries=2, scores=GRADES, queries=QID)
    prefs = _preferences(**stored, item_weight=weight)
    assert np.array_equal(prefs.better, FULL.better) and np.array_equal(prefs.worse, FULL.worse)
    assert np.array_equal(prefs.weight, weight[FULL.better] * weight[FULL.worse])
    kept = _preferences(**stored, item_weight=weight + 1)
    assert kept.is_counted and np.array_equal(kept.better_weight, weight + 1)
    with pytest.raises(ValueError, match="worse_weight alone"):
        _preferences(**stored, worse_weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert table(_preferences(**stored, better_weight=BETTER, worse_weight=WORSE)) == table(
            FULL.item_weighted(BETTER, WORSE)
        )
