"""Intervals of scores and ranks: against dense algebra, refits by hand, and on degenerate data."""

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array
from scipy.special import expit
from scipy.stats import norm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook.estimators.order_intervals import (
    Units,
    bootstrap_draws,
    determined_groups,
    match_prior,
    refits,
    seconds_of_match,
)
from rankbook.preferences.events import tie_halves


def votes(n=6, m=150, seed=0, spread=1.0):
    """Votes between n items of increasing strength."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, n, m)
    l = (k + rng.integers(1, n, m)) % n
    f = spread * np.linspace(-1, 1, n)
    won = rng.random(m) < expit(f[k] - f[l])
    return rb.Preferences(np.where(won, k, l), np.where(won, l, k), n)


def board(prefs, X=None, lam=0.5, **options):
    X = np.eye(prefs.n_items) if X is None else X
    options = dict(loss="logistic", solver=("newton", dict(tol=1e-9))) | options
    return rb.RankSVM(lam=lam, kernel="linear", **options).fit(X, prefs)


def curvature(model, prefs, X):
    """X'BX of the logistic loss by dense algebra, and the differences (m, d)."""
    D = X[prefs.better] - X[prefs.worse]
    p = expit(-(D @ model.coef_))
    return (D * (prefs.weight * p * (1 - p))[:, None]).T @ D, D, p


@pytest.mark.parametrize("features", [False, True])
def test_laplace_is_the_posterior_covariance(features):
    prefs = votes()
    X = np.random.default_rng(1).normal(size=(6, 3)) if features else np.eye(6)
    model = board(prefs, X)
    H = curvature(model, prefs, X)[0]
    M = X - X.mean(axis=0)
    covariance = M @ np.linalg.inv(H + 0.5 * np.eye(X.shape[1])) @ M.T
    found = rb.order_intervals(model, X, level=0.9)
    width = norm.ppf(0.95) * np.sqrt(np.diag(covariance))
    assert np.allclose(found.score, M @ model.coef_) and found.method == "laplace"
    assert np.allclose(found.high - found.score, width, rtol=1e-6)
    assert np.allclose(found.score - found.low, width, rtol=1e-6)
    of_pairs = np.sqrt(np.add.outer(np.diag(covariance), np.diag(covariance)) - 2 * covariance)
    difference = found.score[:, None] - found.score
    sure = np.abs(difference) > norm.ppf(0.95) * of_pairs + 1e-9
    assert np.array_equal(found.decided != 0, sure & ~np.eye(6, dtype=bool))


def test_laplace_of_a_kernel_is_that_of_its_features():
    prefs, X = votes(), np.random.default_rng(1).normal(size=(6, 3))
    linear = rb.order_intervals(board(prefs, X), X)
    options = dict(lam=0.5, loss="logistic", solver=("newton", dict(tol=1e-9)))
    kernel = rb.RankSVM(kernel="precomputed", **options).fit(X @ X.T, prefs)
    found = rb.order_intervals(kernel, X @ X.T)
    assert np.allclose(found.low, linear.low, atol=1e-5)
    assert np.array_equal(found.decided, linear.decided)
    poly = rb.RankSVM(kernel="poly", degree=1, gamma=1.0, **options).fit(X, prefs)
    new = np.r_[X[:2], np.random.default_rng(2).normal(size=(3, 3))]
    with_kernel, plain = (rb.order_intervals(m, new) for m in (poly, board(prefs, X)))
    assert np.allclose(with_kernel.high, plain.high, atol=1e-5)
    tied = tied_games()
    with_kernel = rb.RankSVM(kernel="precomputed", **options).fit(X @ X.T, tied)
    found, plain = rb.order_intervals(with_kernel, X @ X.T), rb.order_intervals(board(tied, X), X)
    assert np.allclose(found.high, plain.high, atol=1e-5)


def test_the_bootstrap_spreads_as_the_sandwich():
    prefs, X = votes(m=2000), np.eye(6)
    model = board(prefs)
    H, D, p = curvature(model, prefs, X)
    J = (D * (p**2)[:, None]).T @ D
    inverse, M = np.linalg.inv(H + 0.5 * np.eye(6)), X - X.mean(axis=0)
    sandwich = np.sqrt(np.diag(M @ inverse @ J @ inverse @ M.T))
    found = rb.order_intervals(model, X, method="bootstrap", n_resamples=4000)
    assert np.allclose((found.high - found.low) / 2 / norm.ppf(0.975), sandwich, rtol=0.06)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared"])
@pytest.mark.parametrize("judged", [False, True])
def test_a_resample_is_a_refit_with_rows_repeated(loss, judged):
    prefs, X = votes(m=40), np.random.default_rng(1).normal(size=(6, 3))
    model = board(prefs, X, loss=loss)
    judge = np.random.default_rng(3).integers(0, 8, 40) if judged else None
    units = Units(prefs, judge)
    found = refits(model.solution_.problem, model.lam_, X, units, 5, range(3))
    for k, scores in enumerate(found.T):
        drawn = np.random.default_rng([5, k]).integers(0, units.count, units.count)
        number = np.arange(40) if judge is None else np.unique(judge, return_inverse=True)[1]
        rows = np.concatenate([np.flatnonzero(number == unit) for unit in drawn])
        again = rb.Preferences(prefs.better[rows], prefs.worse[rows], 6)
        by_hand = board(again, X, lam=model.lam_, loss=loss).predict(X)
        assert np.allclose(scores - scores.mean(), by_hand - by_hand.mean(), atol=2e-3)


def test_votes_are_drawn_as_if_they_were_listed():
    prefs = votes(m=300)
    model = board(prefs.merged())
    options = dict(method="bootstrap", n_resamples=3000)
    counted = rb.order_intervals(model, np.eye(6), unit="vote", **options)
    listed = rb.order_intervals(board(prefs), np.eye(6), random_state=1, **options)
    assert np.allclose(counted.high - counted.low, listed.high - listed.low, rtol=0.08)
    units = Units(prefs.merged(), "vote")
    assert units.draws == 300 and units.drawn(0, 1).sum() == 300


def test_the_two_halves_of_a_tie_are_drawn_together():
    table = dict(winner=list("abab"), loser=list("bcca"), tie=[1, 0, 1, 0])
    prefs = rb.Preferences.from_pairs(table, tie="tie", ties="half")
    units = Units(prefs, None)
    assert units.count == 4 and np.array_equal(units.size, np.ones(4))
    weight = units.weighted(np.array([3, 0, 0, 1]))
    pairs = zip(weight.better.tolist(), weight.worse.tolist(), weight.weight.tolist())
    assert {(k, l): c for k, l, c in pairs if c} == {(0, 1): 1.5, (1, 0): 2.5}


def tied_games(n=6, m=400):
    """Matches, two fifths of them ties."""
    rng = np.random.default_rng(0)
    home = rng.integers(0, n, m)
    away = (home + rng.integers(1, n, m)) % n
    won = np.where(rng.random(m) < expit((home - away) / 2), "H", "A")
    games = dict(home=home, away=away, result=np.where(rng.random(m) < 0.4, "D", won))
    return rb.Preferences.from_matches(games, ties="half")


def test_ties_make_the_posterior_narrower():
    prefs = tied_games()
    model = match_prior(rb.RankSVM(kernel="linear", loss="logistic"), np.eye(6), prefs)
    found, other = rb.order_intervals(model, np.eye(6)), rb.Leaderboard().fit(prefs)
    assert 0.5 < other.phi_ < 0.8
    assert model.lam_ == pytest.approx(other.phi_ * other.lam_, rel=1e-4)
    assert found.matched_lam == pytest.approx(model.lam_, rel=1e-4)
    table = other.table_.set_index("item").loc[list(found.names)]
    assert np.allclose(found.low, table.low, atol=1e-4)
    assert np.allclose(found.high, table.high, atol=1e-4)
    games = prefs.better, prefs.worse, prefs.weight
    p = expit(model.coef_[games[0]] - model.coef_[games[1]])
    phi = 1 - prefs.n_ties / 4 / (games[2] @ (p * (1 - p)))
    H = curvature(model, prefs, np.eye(6))[0]
    V = phi * np.linalg.inv(H + model.lam_ * np.eye(6))
    width = norm.ppf(0.975) * np.sqrt(
        np.diag(V - V.mean(axis=0) - V.mean(axis=1)[:, None]) + V.mean()
    )
    assert np.allclose(found.high - found.score, width, rtol=1e-6)


def test_ties_of_the_same_two_items_may_follow_each_other():
    table = dict(home=list("aabaab"), away=list("bbabcc"), result=list("DDDHDH"))
    prefs = rb.Preferences.from_matches(table, ties="half")
    assert tie_halves(prefs).tolist() == [False, True] * 3 + [False, False, True, False]
    units = Units(prefs, "vote")
    assert units.draws == 6 and np.array_equal(units.size, np.ones(6))
    rng, rows = np.random.default_rng(0), [("a", "b", "D"), ("b", "c", "D")] * 40
    rows = rows + [("a", "b", "H"), ("b", "c", "H"), ("c", "a", "A")] * 8
    width = []
    for order in (np.arange(len(rows)), np.lexsort(np.array(rows).T), rng.permutation(len(rows))):
        columns = zip(*[rows[i] for i in order])
        table = dict(zip(("home", "away", "result"), columns))
        prefs = rb.Preferences.from_matches(table, ties="half", items=list("abc"))
        found = rb.order_intervals(board(prefs), np.eye(3), method="bootstrap", n_resamples=500)
        width.append(found.high - found.low)
    assert np.allclose(width[1:], width[0], rtol=0.2)


def test_features_that_tell_nothing_apart_have_no_prior():
    model = rb.RankSVM(kernel="linear", loss="logistic")
    with pytest.raises(ValueError, match="X has equal rows for the items that are compared"):
        match_prior(model, np.ones((6, 2)), votes(m=50))


@pytest.mark.parametrize("unit", ["query", "item"])
def test_scores_are_drawn_by_query_or_item(unit):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    qid = np.repeat(np.arange(8), 5)
    for model in (
        rb.RankSVM(kernel="linear", loss="logistic", lam=1.0),
        rb.RankRLS(kernel="linear", lam=1.0),
    ):
        model.fit(X, y, qid)
        problem = model.solution_.problem
        units = Units(rb.Preferences.from_scores(y, qid), unit)
        scores = refits(problem, 1.0, X, units, 0, [0])[:, 0]
        rows = np.random.default_rng([0, 0]).integers(0, units.count, units.count)
        if unit == "query":
            copies = np.bincount(rows, minlength=8)
            weight = np.sqrt(copies)[qid]
        else:
            weight = np.bincount(rows, minlength=40)
        by_hand = type(model)(kernel="linear", lam=1.0)
        if hasattr(model, "loss") and isinstance(model, rb.RankSVM):
            by_hand.set_params(loss="logistic")
        by_hand = by_hand.fit(X, y, qid, weight).predict(X)
        assert np.allclose(scores - scores.mean(), by_hand - by_hand.mean(), atol=1e-4)


def test_it_does_not_depend_on_processes_or_on_the_order_of_rows():
    prefs, X = votes(), np.random.default_rng(1).normal(size=(6, 3))
    model = board(prefs, X)
    for method in ("laplace", "bootstrap"):
        one = rb.order_intervals(model, X, method=method, n_resamples=200)
        for n_jobs in (2,) * (method == "bootstrap"):
            other = rb.order_intervals(model, X, method=method, n_resamples=200, n_jobs=n_jobs)
            assert np.array_equal(one.low, other.low)
        order = np.array([3, 1, 5, 0, 4, 2])
        other = rb.order_intervals(model, X[order], method=method, n_resamples=200)
        for name in ("score", "low", "high"):
            assert np.allclose(getattr(other, name), getattr(one, name)[order], atol=1e-9)
        for name in ("rank", "rank_low", "rank_high"):
            assert np.array_equal(getattr(other, name), getattr(one, name)[order])
        assert np.array_equal(other.decided, one.decided[np.ix_(order, order)])
        shifted = rb.order_intervals(board(prefs, X + 100.0), X + 100.0, method=method)
        assert np.allclose(shifted.score, one.score, atol=1e-5)


@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("method", ["laplace", "bootstrap"])
def test_intervals_are_consistent(method, simultaneous):
    model = board(votes(spread=2.0))
    found = rb.order_intervals(model, np.eye(6), method=method, simultaneous=simultaneous)
    assert np.array_equal(found.decided, -found.decided.T)
    assert (found.rank_low <= found.rank).all() and (found.rank <= found.rank_high).all()
    assert np.isclose(found.score.mean(), 0) and (found.low < found.high).all()
    if simultaneous:
        assert np.array_equal(found.rank_low, 1 + (found.decided < 0).sum(axis=1))
        each = rb.order_intervals(model, np.eye(6), method=method)
        assert (found.low < each.low).all() and (found.rank_low <= each.rank_low).all()
        assert (np.abs(found.decided) <= np.abs(each.decided)).all()
    wider = rb.order_intervals(model, np.eye(6), method=method, level=0.99)
    each = rb.order_intervals(model, np.eye(6), method=method, level=0.9)
    assert (wider.low < each.low).all() and (wider.rank_high >= each.rank_high).all()


@pytest.mark.parametrize("method", ["laplace", "bootstrap"])
def test_items_that_are_not_connected_are_not_ordered(method):
    pairs = [(0, 1), (1, 0), (0, 1), (2, 3), (2, 3), (3, 2)] * 30 + [(2, 3)] * 200
    prefs = rb.Preferences(*zip(*pairs), n_items=5)
    for X in (np.eye(5), csr_array(eye_array(5))):
        found = rb.order_intervals(board(prefs, X, lam=2.0), X, method=method)
        assert len(set(found.group[[0, 2, 4]])) == 3 and found.group[0] == found.group[1]
        assert not found.decided[4].any() and not found.decided[:2, 2:].any()
        assert found.decided[2, 3] == 1 and "3 groups" in found.remark
        assert (found.rank_low[4], found.rank_high[4]) == (1, 5)
        assert np.isinf(found.low[4]) and np.isfinite(found.low[:4]).all()
        assert np.allclose(found.score[[0, 2]], -found.score[[1, 3]])


def test_features_connect_items():
    """Groups of queries are connected by features, as far as these vary within queries."""
    X = np.array([[0.0, 0], [1, 0], [2, 0], [5, 0], [5, 1], [7, 0]])
    prefs = rb.Preferences([1, 3], [0, 2], n_items=6)
    problem = board(prefs, X).solution_.problem
    group = determined_groups(problem, X)
    assert group[0] == group[1] == group[2] == group[3] == group[5] != group[4]
    new = np.array([[0.5, 0.3], [9.0, 0.3], [3.0, 1.0]])
    assert determined_groups(problem, new).tolist() in ([0, 0, 1], [1, 1, 0])
    wide = np.random.default_rng(0).normal(size=(6, 50))
    assert len(set(determined_groups(board(prefs, wide).solution_.problem, wide))) == 4


def test_large_and_small_items_agree_on_groups(monkeypatch):
    from rankbook.estimators import order_intervals as module

    prefs, X = votes(), np.random.default_rng(0).normal(size=(6, 4))
    X[:, 3] = X[:, 0] + X[:, 1]
    new = np.random.default_rng(1).normal(size=(5, 4))
    new[:2, 3] = new[:2, 0] + new[:2, 1]
    problem = board(prefs, X).solution_.problem
    dense = determined_groups(problem, new)
    monkeypatch.setattr(module, "DENSE", 0)
    assert np.array_equal(determined_groups(problem, new), dense)
    assert dense[0] == dense[1] and len(set(dense)) == 4


def test_units_and_groups_of_votes_are_those_of_preferences():
    rng = np.random.default_rng(0)
    k = rng.integers(0, 4, 200)
    games = dict(home=k, away=(k + rng.integers(1, 4, 200)) % 4, result=rng.choice([*"HDA"], 200))
    prefs = rb.Preferences.from_matches(games, ties="half")
    judge, times = rng.integers(0, 8, 200), 1 + (games["result"] == "D")
    model, options = board(prefs), dict(method="bootstrap", n_resamples=100)
    by_vote, by_preference, each = (
        rb.order_intervals(model, np.eye(4), unit=unit, **options)
        for unit in (judge, np.repeat(judge, times), np.arange(200))
    )
    assert np.array_equal(by_vote.low, by_preference.low)
    assert np.array_equal(each.low, rb.order_intervals(model, np.eye(4), **options).low)
    lams = [
        rb.RankSVMCV("linear", loss="logistic", fold_by="pair", cv=2)
        .fit(np.eye(4), prefs, groups=groups)
        .lam_
        for groups in (judge, np.repeat(judge, times))
    ]
    assert lams[0] == lams[1]


@pytest.mark.parametrize("method", ["laplace", "bootstrap"])
def test_ties_alone_order_nothing(method):
    k, l = np.triu_indices(5, 1)
    prefs = rb.Preferences(np.r_[k, l], np.r_[l, k], n_items=5, weight=np.full(20, 2.5))
    found = rb.order_intervals(board(prefs), np.eye(5), method=method)
    assert not found.decided.any() and (found.rank == 1).all() and np.allclose(found.score, 0)
    assert (found.rank_low == 1).all() and (found.rank_high == 5).all()


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_votes_that_all_agree_prove_nothing_to_the_bootstrap(loss):
    """Without any variation in the data a resample tells nothing; the posterior counts votes."""
    prefs = rb.Preferences([0] * 3, [1] * 3, n_items=2)
    model = board(prefs, lam=1e-2, loss=loss)
    found = rb.order_intervals(model, np.eye(2), method="bootstrap", n_resamples=100)
    assert not found.decided.any() and np.isinf(found.low).all()
    if loss == "logistic":
        for count, sure in ((3, 0), (300, 1)):
            prefs = rb.Preferences([0], [1], n_items=2, weight=[count])
            found = rb.order_intervals(board(prefs, lam=1.0), np.eye(2))
            assert found.decided[0, 1] == sure


def test_equal_items():
    model = board(votes())
    for method in ("laplace", "bootstrap"):
        found = rb.order_intervals(model, np.eye(6)[[0, 0, 5]], method=method)
        assert found.decided[0, 1] == 0 and found.rank[0] == found.rank[1]


def test_a_pipeline_and_names():
    import pandas as pd

    prefs = votes()
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(6, 2)), index=list("abcdef"))
    X.columns = ["x", "y"]
    model = make_pipeline(StandardScaler(), rb.RankSVM(kernel="linear", loss="logistic"))
    model.fit(X, prefs)
    found = rb.order_intervals(model, X)
    assert sorted(found.names) == list("abcdef")
    frame = found.to_frame()
    assert frame.index.name == "item" and frame["rank"].tolist() == [1, 2, 3, 4, 5, 6]
    assert frame.index[0] == found.names[found.order[0]]
    named = rb.Preferences.from_pairs([("tea", "milk"), ("milk", "tea"), ("tea", "jam")])
    assert rb.order_intervals(board(named), np.eye(3)).names == ("tea", "milk", "jam")
    assert rb.order_intervals(board(named), np.eye(3)[::-1]).names == ("0", "1", "2")


def test_it_shows_a_table():
    found = rb.order_intervals(board(votes()), np.eye(6))
    lines = repr(found).splitlines()
    assert lines[0].split() == ["rank", "item", "score", "interval", "ranks"] and len(lines) == 8
    assert "<table>" in found._repr_html_() and "95% for each interval, laplace" in lines[-1]
    many = rb.order_intervals(board(votes(60, 400)), np.eye(60), n_resamples=100)
    assert "20 more" in repr(many)


def test_a_matched_prior_has_the_variance_of_the_weights():
    rng = np.random.default_rng(0)
    n, truth = 60, 0.7 * rng.normal(size=60)
    k = rng.integers(0, n, 6000)
    l = (k + rng.integers(1, n, 6000)) % n
    won = rng.random(6000) < expit(truth[k] - truth[l])
    prefs = rb.Preferences(np.where(won, k, l), np.where(won, l, k), n)
    model = match_prior(rb.RankSVM(kernel="linear", loss="logistic"), np.eye(n), prefs)
    assert 0.55 < 1 / np.sqrt(model.lam_) < 0.85
    found = rb.order_intervals(model, np.eye(n))
    assert found.matched_lam == pytest.approx(model.lam_, rel=0.02)
    k, l = np.triu_indices(5, 1)
    ties = rb.Preferences(np.r_[k, l], np.r_[l, k], n_items=5)
    with pytest.warns(UserWarning, match="lambda is at its upper limit"):
        model = match_prior(rb.RankSVM(kernel="linear", loss="logistic"), np.eye(5), ties)
    assert model.lam_ > 100


def test_its_picture():
    found = rb.order_intervals(board(votes()), np.eye(6))
    ax = rb.plots.plot_intervals(found)
    assert [t.get_text() for t in ax.get_yticklabels()] == [found.names[i] for i in found.order]
    bars = ax.collections[0].get_segments()
    assert [bar[:, 0].tolist() for bar in bars] == [
        [found.rank_low[i], found.rank_high[i]] for i in found.order
    ]
    ax = rb.plots.plot_intervals(found, by="score", k=2)
    assert len(ax.get_yticklabels()) == 2 and ax.get_xlabel() == "score"


def test_draws_are_made_once_for_each_seed():
    model = board(votes())
    solution = model.solution_
    one, other = (
        bootstrap_draws(solution, np.eye(6), Units(solution.problem.prefs, None), 100, None, seed)
        for seed in (0, 1)
    )
    assert not np.array_equal(one.moved, other.moved)


def orders(r=60, n=5, seed=0):
    """Orders of n items of rising strength."""
    rng = np.random.default_rng(seed)
    gumbel = np.linspace(-1, 1, n) + rng.gumbel(size=(r, n))
    return np.argsort(-gumbel, axis=1)


def choice_loss(rows, f):
    """Minus the logarithm of the probability of orders, by its definition."""
    return sum(np.log(np.exp(f[row[i:]]).sum()) - f[row[i]] for row in rows for i in range(4))


def test_orders_have_a_posterior_and_a_bootstrap():
    rows, X = orders(), np.eye(5)
    target = rb.Orders.from_rankings(rows.tolist())
    options = dict(kernel="linear", loss="plackett-luce", solver=("newton", dict(tol=1e-9)))
    model = rb.RankSVM(lam=0.5, **options).fit(X, target)
    H, step = np.empty((5, 5)), 1e-4 * np.eye(5)
    for i in range(5):
        for j in range(5):
            signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
            values = [
                s * t * choice_loss(rows, model.coef_ + s * step[i] + t * step[j]) for s, t in signs
            ]
            H[i, j] = sum(values) / 4e-8
    M = np.eye(5) - 0.2
    width = np.sqrt(np.diag(M @ np.linalg.inv(H + 0.5 * np.eye(5)) @ M.T)) * norm.ppf(0.975)
    found = rb.order_intervals(model, X)
    assert found.method == "laplace" and np.allclose(found.high - found.score, width, rtol=1e-3)
    drawn = rb.order_intervals(model, X, method="bootstrap", n_resamples=100)
    assert np.allclose((drawn.high - drawn.low) / (found.high - found.low), 1, atol=0.4)
    scores = refits(model.solution_.problem, 0.5, X, Units(target, None), 3, [4])[:, 0]
    numbers = np.random.default_rng([3, 4]).integers(0, 60, 60)
    again = rb.RankSVM(lam=0.5, **options).fit(X, rb.Orders.from_rankings(rows[numbers].tolist()))
    assert np.allclose(scores - scores.mean(), again.coef_ - again.coef_.mean(), atol=1e-2)


def test_counted_orders_are_drawn_like_single_ones():
    """An order of weight w is w voters; other weights than whole numbers are refused."""
    rows, voters = orders()[:6].tolist(), [12, 7, 5, 9, 4, 3]
    single = [row for row, w in zip(rows, voters) for _ in range(w)]
    options = dict(lam=0.5, kernel="linear", loss="plackett-luce")
    counted = rb.Orders.from_rankings(rows, n_items=5, weight=voters)
    few = rb.RankSVM(**options).fit(np.eye(5), counted)
    many = rb.RankSVM(**options).fit(np.eye(5), rb.Orders.from_rankings(single, n_items=5))
    assert counted.order_weight.tolist() == voters
    units = Units(counted, "vote")
    assert units.draws == units.drawn(0, 0).sum() == 40
    of = dict(method="bootstrap", n_resamples=400)
    found = rb.order_intervals(few, np.eye(5), unit="vote", **of)
    expected = rb.order_intervals(many, np.eye(5), **of)
    assert np.allclose((found.high - found.low) / (expected.high - expected.low), 1, atol=0.2)
    half = rb.RankSVM(**options).fit(np.eye(5), rb.Orders.from_rankings(rows, weight=[0.5] * 6))
    with pytest.raises(ValueError, match="unit is 'vote' and a weight is 0.5. Pass whole"):
        rb.order_intervals(half, np.eye(5), unit="vote", **of)
    uneven = rb.Orders.from_preferences(
        rb.Preferences.from_scores([2, 1, 0]).item_weighted([1.0, 2.0, 1.0])
    )
    with pytest.raises(ValueError, match="unit is 'vote' and the choices of an order have differ"):
        Units(uneven, "vote")


def test_survival_times_have_a_posterior():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    time = rng.exponential(np.exp(X[:, 0]))
    target = rb.Orders.from_survival(time, rng.random(80) < 0.8)
    model = rb.RankSVM(lam=0.1, kernel="linear", loss="plackett-luce").fit(X, target)
    found = rb.order_intervals(model, np.array([[1.0, 0.0], [-1.0, 0.0]]))
    assert found.decided[0, 1] == 1
    with pytest.raises(ValueError, match="^unit is 'order', and there is only one"):
        rb.order_intervals(model, X, method="bootstrap")


def pairs_of_votes(effect, seed=0, m=200):
    """Votes on eight items of different strengths, with two pair features of the same effect."""
    rng = np.random.default_rng(seed)
    a, b = np.array([rng.choice(8, 2, replace=False) for _ in range(m)]).T
    u = np.column_stack([np.ones(m), rng.normal(scale=300, size=m)])
    ahead = (b - a) / 4 + effect * (u[:, 0] + u[:, 1] / 300) + rng.logistic(size=m)
    win = ahead > 0
    ends = np.where(win, a, b), np.where(win, b, a)
    return rb.Preferences(*ends, 8, pair_features=np.where(win[:, None], u, -u))


def matched(prefs, **options):
    model = rb.RankSVM(kernel="linear", loss="logistic")
    return rb.match_prior(model, np.eye(8), prefs, **options)


def test_pair_features_without_effect_leave_the_prior_of_the_items():
    prefs = pairs_of_votes(0.0)
    found, alone = matched(prefs), matched(prefs.without_pair_features())
    assert found.pair_lam == 1.0 and alone.pair_lam is None
    assert found.lam_ == pytest.approx(alone.lam_, rel=0.05)
    np.testing.assert_allclose(found.coef_, alone.coef_, atol=0.05)


@pytest.mark.filterwarnings("ignore:the data show no difference")
def test_equal_items_leave_the_effects_of_pair_features():
    prefs = pairs_of_votes(1.0)
    equal = rb.Preferences(
        np.r_[prefs.better, prefs.worse],
        np.r_[prefs.worse, prefs.better],
        8,
        pair_features=np.tile(prefs.pair_features, (2, 1)),
    )
    model = matched(equal)
    assert np.abs(model.coef_).max() < 1e-3 * np.abs(model.pair_coef_ * model.pair_scale_).min()


@pytest.mark.parametrize("pairs", [False, True])
def test_matched_priors_are_those_of_the_equation(pairs):
    prefs = pairs_of_votes(0.7)
    model = matched(prefs, pairs=pairs, tol=1e-6)
    differences = np.eye(8)[prefs.better] - np.eye(8)[prefs.worse]
    Z = np.hstack([differences, prefs.pair_features / model.pair_scale_])
    w = np.r_[model.coef_, model.pair_coef_ * model.pair_scale_]
    p = 1 / (1 + np.exp(-Z @ w))
    prior = np.repeat([model.lam_, model.pair_lam], [8, 2])
    H = (Z.T * (p * (1 - p))) @ Z + np.diag(prior)
    known = 1 - prior * np.linalg.inv(H).diagonal()
    match = lambda part: max(known[part].sum() - 2, known[part].sum() / 4) / (w[part] @ w[part])
    assert match(slice(8)) == pytest.approx(model.lam_, rel=1e-4)
    if pairs:
        assert match(slice(8, 10)) == pytest.approx(model.pair_lam, rel=1e-4)
    found = rb.order_intervals(model, np.eye(8))
    assert found.matched_lam == pytest.approx(model.lam_, rel=1e-4)


@pytest.mark.parametrize("p", [2, 3, 5, 8])
def test_any_number_of_items_has_intervals_beside_pair_features(p):
    """They are compared where pair features are 0, as by the same model of the weights."""
    rng = np.random.default_rng(0)
    k = rng.integers(0, 5, 80)
    ends, Z = (k, (k + rng.integers(1, 5, 80)) % 5), rng.normal(size=(80, 2))
    X, X_new = rng.normal(size=(5, 3)), rng.normal(size=(p, 3))
    options = dict(kernel="linear", loss="logistic", solver=("newton", dict(tol=1e-12)))
    model = rb.RankSVM(1.0, **options).fit(X, rb.Preferences(*ends, 5, pair_features=Z))
    found, centre = rb.order_intervals(model, X_new), np.eye(p) - 1 / p
    assert found.names == tuple(map(str, range(p)))
    assert np.allclose(found.score, centre @ X_new @ model.coef_)
    w, D = np.r_[model.coef_, model.pair_coef_], np.c_[X[ends[0]] - X[ends[1]], Z]
    chance = expit(D @ w)
    prior = (model.solution_.weights / w) ** 2  # of the scaled pair features
    assert np.allclose(D.T @ (1 - chance), prior * w, atol=1e-5)
    H = (D.T * (chance * (1 - chance))) @ D + np.diag(prior)
    rows = np.c_[centre @ X_new, np.zeros((p, 2))]
    width = norm.ppf(0.975) * np.sqrt(np.diag(rows @ np.linalg.inv(H) @ rows.T))
    assert np.allclose(found.high - found.score, width, rtol=1e-4, atol=1e-12)


def test_a_prior_of_pair_features_needs_pair_features():
    prefs = pairs_of_votes(0.0)
    flat = rb.Preferences(prefs.better, prefs.worse, 8, pair_features=np.zeros((200, 1)))
    for wrong in (prefs.without_pair_features(), flat):
        with pytest.raises(ValueError, match="pairs is True and y has no pair feature"):
            matched(wrong, pairs=True)


@pytest.mark.parametrize(
    "seeds", [(45, *range(8)), pytest.param(range(8, 300), marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_identical_items_are_never_decided(seeds, kernel):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = 10
        X = rng.normal(size=(4, 3))[rng.integers(0, 4, n)]
        k = rng.integers(0, n, 30)
        prefs = rb.Preferences(k, (k + rng.integers(1, n, 30)) % n, n_items=n)
        model = rb.RankSVM(lam=0.3, loss="logistic", kernel=kernel).fit(X, prefs)
        found = rb.order_intervals(model, X, n_resamples=100)
        same = (X[:, None] == X).all(axis=-1)
        assert not found.decided[same].any(), seed
        i, j = np.nonzero(same)  # their rank intervals overlap, too
        assert (found.rank_low[i] <= found.rank_high[j]).all(), seed


@pytest.mark.parametrize("n", [3, 5, 6, 10])
@pytest.mark.parametrize("dense", [True, False])
def test_an_item_that_was_never_compared_has_no_interval(n, dense, monkeypatch):
    if not dense:
        monkeypatch.setattr("rankbook.estimators.order_intervals.DENSE", 0)
    X = [[0.1]] * n + [[0.2]]  # the mean of n times 0.1 is not 0.1
    prefs = rb.Preferences(np.arange(n - 1), np.arange(1, n), n_items=n + 1)
    model = rb.RankSVM(lam=1.0, kernel="linear", loss="logistic").fit(X, prefs)
    found = rb.order_intervals(model, X, n_resamples=100)
    assert found.group.tolist() == [0] * n + [1]
    assert found.low[n] == -np.inf and found.high[n] == np.inf


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("method", ["laplace", "bootstrap"])
@pytest.mark.parametrize("has_sides", [False, True])
def test_training_items_keep_their_names(has_sides, method, kernel):
    """Also if a model has features of pairs, for which the items are extended."""
    rng, names = np.random.default_rng(0), ["ant", "bee", "cat", "dog"]
    k = rng.integers(0, 4, 60)
    l = (k + rng.integers(1, 4, 60)) % 4
    pairs = [(names[i], names[j]) for i, j in zip(k, l)]
    sides = rng.normal(size=60) if has_sides else None
    prefs = rb.Preferences.from_pairs(pairs, items=names)
    prefs = rb.Preferences(prefs.better, prefs.worse, 4, pair_features=sides).replaced(
        items=prefs.items
    )
    model = rb.RankSVM(1.0, kernel=kernel, loss="logistic").fit(np.eye(4), prefs)
    options = dict(method=method, n_resamples=100)
    assert rb.order_intervals(model, np.eye(4), **options).names == tuple(names)
    others = rb.order_intervals(model, np.eye(4)[::-1], **options)  # as many, but others
    assert others.names == ("0", "1", "2", "3")
    assert rb.order_intervals(model, np.eye(4)[:2], **options).names == ("0", "1")


@pytest.mark.parametrize("has_sides", [False, True])
def test_a_single_item_has_no_interval(has_sides):
    sides = np.ones(3) if has_sides else None
    prefs = rb.Preferences([0, 1, 0], [1, 2, 2], n_items=3, pair_features=sides)
    model = rb.RankSVM(1.0, kernel="linear", loss="logistic").fit(np.eye(3), prefs)
    with pytest.raises(ValueError, match="^X has 1 row. Pass at least two items"):
        rb.order_intervals(model, np.eye(3)[:1])


@pytest.mark.parametrize("lam", [1e-3, 1.0, 400.0])
def test_a_prior_without_a_match_ends_at_its_limit(lam):
    prefs = rb.Preferences([0, 1, 2], [2, 0, 1], n_items=3, weight=[1, 1, 2])
    model = rb.RankSVM(lam=lam, kernel="linear", loss="logistic")
    with pytest.warns(UserWarning, match="lambda is at its upper limit"):
        rb.match_prior(model, np.eye(3), prefs)
    assert np.isclose(model.lam_, 1250, rtol=1e-3)  # 1000 times the largest curvature, 5/4


@pytest.mark.parametrize("loss", ["logistic", "plackett-luce"])
@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
def test_blocks_have_the_intervals_of_arrays(loss, kind):
    """Also where a feature is constant in each query, or a query has one grade or weight 0."""
    rng = np.random.default_rng(7)
    n, d = 120, 4
    X, qid = rng.normal(size=(n, d)).round(3), np.arange(n) // 20
    X[:, 3] = qid % 3
    y, weight = np.round(X[:, 0] + rng.normal(size=n)), np.where(qid == 2, 0.0, 1.5)
    y[qid == 4] = 1.0
    X = csr_array(X) if kind == "csr" else X.astype(kind)
    new = np.c_[rng.normal(size=(6, 3)), [0, 0, 0, 1, 1, 1]]
    model = rb.RankSVM(1.0, "linear", loss=loss)
    if loss == "plackett-luce":
        weight = None
    parts = [np.flatnonzero(qid // 2 == k) for k in range(3)]
    blocks = rb.Blocks(
        [rb.Block(X[i], y[i], qid[i], None if weight is None else weight[i]) for i in parts]
    )
    known = rb.order_intervals(model.fit(X, y, qid, sample_weight=weight), new)
    found = rb.order_intervals(model.fit(blocks), new)
    assert np.allclose(found.low, known.low, atol=1e-5) and np.isfinite(known.low).all()
    assert np.array_equal(found.decided, known.decided) and (found.decided[:3, 3:] == 0).all()
    assert np.isclose(found.matched_lam, known.matched_lam, rtol=1e-5)


def test_a_bootstrap_of_blocks_is_refused():
    X, y = np.arange(6.0)[:, None], [0, 1, 2, 0, 2, 1]
    model = rb.RankSVM(1.0, "linear", loss="logistic").fit(rb.Blocks([rb.Block(X, y)]))
    with pytest.raises(ValueError, match="bootstrap needs the training items in memory"):
        rb.order_intervals(model, X, method="bootstrap")


def test_a_feature_that_is_constant_in_queries_and_large_joins_no_groups():
    """For example a time in seconds: differences of it within a query are not known."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(6), 5)
    time = 1.7e9 + 1e6 * rng.random(6)[qid]
    X, y = np.c_[rng.normal(size=30), time], rng.integers(0, 3, 30)
    model = rb.RankSVM(1.0, "linear", loss="logistic").fit(X, y, qid)
    new = np.c_[rng.normal(size=300), 1.7e9 + 1e6 * rng.random(300)]
    assert len(set(determined_groups(model.solution_.problem, new))) == 300


def test_the_prediction_counts_items_where_the_loss_does_not_visit_pairs():
    """2e10 preferences of one query; the covariance of 200,000 items takes about half a second."""
    X, y = np.zeros((200_000, 10)), np.arange(200_000.0)
    assert 1 < seconds_of_match("logistic", X, y) < 60
    one, ten = (seconds_of_match("logistic", X[:n], y[:n]) for n in (20_000, 200_000))
    assert 8 < ten / one < 15  # n log n, not n^2
    grades = rb.Preferences.from_scores(y % 7)
    assert seconds_of_match("logistic", X, grades) < seconds_of_match("logistic", X, y)
