"""Sums over queries: added, merged and taken back in any order."""

import copy

import numpy as np
import pytest

import rankbook as rb
from rankbook.problems.rankrls_statistics import StatisticsProblem, merge_statistics


@pytest.fixture(scope="module")
def far_queries():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(12), rng.integers(1, 9, 12))
    X = rng.normal(size=(qid.size, 4)) * [1, 100, 0.01, 1] + 1000
    X[:, 3] = X[0, 3]
    return X, rng.normal(size=qid.size) + 50, qid


def make(kind, X):
    return rb.RankingStatistics(
        **({} if kind == "linear" else dict(basis=X[[0, 9, 20]], kernel=kind, gamma=1e-4))
    )


def block(far_queries, q):
    X, y, qid = far_queries
    return X[qid == q], y[qid == q], qid[qid == q]


@pytest.mark.filterwarnings("ignore:.*single item")
@pytest.mark.parametrize("kind", ["linear", "rbf"])
def test_any_order_and_any_grouping(far_queries, kind):
    X, y, qid = far_queries
    whole = make(kind, X).add(X, y, qid)
    rng = np.random.default_rng(1)
    for _ in range(5):
        parts = [make(kind, X).add(*block(far_queries, q)) for q in rng.permutation(12)]
        while len(parts) > 1:  # merged as chance has it
            i, j = rng.choice(len(parts), 2, replace=False)
            merged = merge_statistics(parts[i], parts[j])
            parts = [p for k, p in enumerate(parts) if k not in (i, j)] + [merged]
        scale = np.sqrt(np.outer(whole.products.diagonal(), whole.products.diagonal()))
        assert (np.abs(parts[0].products - whole.products) <= 1e-10 * scale + 1e-300).all()
        assert (parts[0].n_items, parts[0].n_queries, parts[0].n_pairs) == (
            qid.size,
            12,
            whole.n_pairs,
        )
    sizes = np.bincount(qid)
    assert whole.n_pairs == (sizes * (sizes - 1) // 2).sum()
    basis = None if kind == "linear" else [0, 9, 20]
    problem = rb.RankRLSProblem(
        X, y, qid=qid, kernel=kind, gamma=None if kind == "linear" else 1e-4, basis=basis
    )
    expected = rb.solve(problem, 0.7, solver="rls" if basis is None else "sparse-rls")
    found = rb.solve(StatisticsProblem(whole), 0.7)
    assert np.allclose(found.predict(X), expected.predict(X), rtol=1e-8)
    assert found.certificate.is_optimal(1e-10) and found.certificate.primal == pytest.approx(
        expected.certificate.primal, rel=1e-9
    )


@pytest.mark.parametrize("kind", ["linear", "rbf"])
def test_taking_back_is_never_having_had(far_queries, kind):
    X, y, qid = far_queries
    statistics = make(kind, X).add(X, y, qid)
    for q in range(8):
        statistics.remove(*block(far_queries, q))
        rest = make(kind, X).add(X[qid > q], y[qid > q], qid[qid > q])
        assert np.allclose(
            statistics.products, rest.products, rtol=1e-9, atol=1e-12 * np.abs(rest.products).max()
        )
        assert (statistics.n_items, statistics.n_queries, statistics.n_pairs, statistics.seen) == (
            rest.n_items,
            rest.n_queries,
            rest.n_pairs,
            rest.seen,
        )
        a, b = (rb.solve(StatisticsProblem(s), 0.5).predict(X) for s in (statistics, rest))
        assert np.allclose(a, b, rtol=1e-7, atol=1e-9 * np.abs(b).max())
    for q in range(8, 12):
        statistics.remove(*block(far_queries, q))
    assert (
        not statistics.products.any()
        and not statistics.seen
        and statistics.n_items == statistics.n_queries == statistics.n_pairs == 0
        and statistics.scatter == 0
    )
    statistics.add(X, y, qid)
    whole = make(kind, X).add(X, y, qid)
    assert np.array_equal(statistics.products, whole.products)
    assert statistics.scatter == whole.scatter > 0


def test_nothing_changes_when_it_raises(far_queries):
    X, y, qid = far_queries
    statistics = make("linear", X).add(*block(far_queries, 0)).add(*block(far_queries, 5))
    before = copy.deepcopy(statistics.__dict__)
    broken = y.copy()
    broken[-1] = np.nan
    for bad in (
        lambda: statistics.add(*block(far_queries, 5)),
        lambda: statistics.remove(*block(far_queries, 1)),
        lambda: statistics.add(X[:, :2], y),
        lambda: statistics.add(X, broken),
        lambda: statistics.add(X, np.c_[y, y]),
        lambda: statistics.add(X, y[:-1]),
        lambda: statistics.remove(X, y),
    ):
        with pytest.raises(ValueError):
            bad()
    assert all(
        np.array_equal(value, before[name])
        for name, value in statistics.__dict__.items()
        if name != "kernel"
    )


def test_what_does_not_fit_is_not_merged(far_queries):
    X, _, _ = far_queries
    one = make("linear", X).add(*block(far_queries, 0))
    for other in (
        make("rbf", X).add(*block(far_queries, 1)),
        make("linear", X).add(*block(far_queries, 0)),
        rb.RankingStatistics(graph="identity"),
        make("linear", X).add(block(far_queries, 2)[0][:, :3], *block(far_queries, 2)[1:]),
    ):
        with pytest.raises(ValueError):
            merge_statistics(one, other)
    empty = merge_statistics(one, rb.RankingStatistics())
    assert np.array_equal(empty.products, one.products) and empty.products is not one.products


def test_a_mean_far_away_costs_no_digits():
    rng = np.random.default_rng(2)
    X, y = rng.integers(-8, 9, (50, 3)).astype(float), rng.integers(0, 5, 50).astype(float)
    near, far = (
        rb.RankingStatistics().add(X, y),
        rb.RankingStatistics().add(X + 2.0**30, y + 2.0**30),
    )
    assert np.allclose(near.products, far.products, rtol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        dict(kernel="rbf"),
        dict(kernel="precomputed", basis=np.eye(2)),
        dict(graph="star"),
        dict(kernel="rfb", basis=np.eye(2)),
    ],
)
def test_bad_arguments(options):
    with pytest.raises(ValueError):
        rb.RankingStatistics(**options)


def test_several_columns_and_lambdas(far_queries):
    X, y, qid = far_queries
    Y = np.c_[y, -y]
    problem = StatisticsProblem(rb.RankingStatistics().add(X, Y, qid))
    path, solution = rb.solve_path(problem), rb.solve(problem, 1.0)
    assert path.coefs([0.1, 1.0]).shape == (2, 4, 2) and np.allclose(
        path.coefs([1.0])[0], solution.coef
    )
    assert np.allclose(solution.coef[:, 0], -solution.coef[:, 1])
    assert solution.certificate.is_optimal(1e-12)
    with pytest.raises(ValueError, match="X_new has 3 columns"):
        solution.predict(X[:, :3])


def test_preferences_with_two_weights():
    rng = np.random.default_rng(3)
    X, y, qid = rng.normal(size=(60, 3)), rng.integers(0, 4, 60), np.repeat(np.arange(6), 10)
    a, b = (rng.uniform(0, 2, 60) * (rng.random(60) < 0.7) for _ in range(2))
    b[qid == 2] = 0
    prefs = rb.Preferences.from_scores(y, qid).item_weighted(a, b)
    rows = np.split(np.arange(60), [20, 50])
    for basis in (None, X[:7]):
        kernel = "linear" if basis is None else "rbf"
        parts = [
            rb.RankingStatistics(basis, kernel=kernel).add(X[i], prefs[i], qid[i]) for i in rows
        ]
        whole = merge_statistics(*parts)
        assert (whole.n_queries, whole.n_pairs) == (6, len(prefs)) and not prefs.is_listed
        indices = None if basis is None else np.arange(7)
        problem = rb.RankRLSProblem(X, graph=prefs, kernel=kernel, basis=indices)
        solution = rb.solve(StatisticsProblem(whole), 0.5)
        expected = rb.solve(problem, 0.5)
        assert np.isclose(solution.certificate.primal, expected.certificate.primal, rtol=1e-9)
        differences = [each.predict(X) - each.predict(X[:1]) for each in (solution, expected)]
        assert np.allclose(*differences, rtol=1e-7, atol=1e-9)
        assert np.isclose(whole.scatter / whole.products[-1, -1], problem.gradient_scatter())
        nothing = whole.remove(X, prefs, qid)
        assert not nothing.products.any() and nothing.n_pairs == 0


def test_preferences_that_are_no_sums_are_refused():
    X, prefs = np.eye(3), rb.Preferences.from_scores([0.0, 1, 2])
    for wrong in (prefs.reweighted([1.0, 2, 3]), rb.Preferences([1], [0], 3)):
        with pytest.raises(ValueError, match="individual pairs"):
            rb.RankingStatistics().add(X, wrong)
    with pytest.raises(ValueError, match="graph is 'identity'"):
        rb.RankingStatistics(graph="identity").add(X, prefs)
    with pytest.raises(ValueError, match="item_weight is given"):
        rb.RankingStatistics().add(X, prefs, item_weight=[1.0, 1, 1])
