"""Scores from votes, beside direct minimisation of the objective and beside other packages."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import rankbook as rb
from rankbook.preferences.votes import Votes
from rankbook.problems import votes as module
from rankbook.problems.votes import covariance, fit_votes, refit, refit_resampled


def drawn(n, m, k=0, seed=0, weighted=False, ties=0.3):
    """Random votes (m,) on n items."""
    rng = np.random.default_rng(seed)
    score, first = rng.normal(size=n), rng.integers(0, n, m)
    second = (first + rng.integers(1, n, m)) % n
    features = rng.normal(size=(m, k))
    chance = expit(score[first] - score[second] + features.sum(axis=1) / 2)
    half, u = ties * chance * (1 - chance), rng.random(m)
    points = np.where(u < chance - half, 1.0, np.where(u < chance + half, 0.5, 0.0))
    weight = rng.integers(1, 4, m).astype(float) if weighted else None
    return Votes.of(first, second, points, n, weight=weight, features=features if k else None)


def derivatives(votes, fit):
    """Rows (m, p) of the votes, and the first and second derivatives of the loss, by numpy."""
    D = np.zeros((len(votes), fit.problem.n))
    at = np.arange(len(votes))
    D[at, votes.first] += 1
    D[at, votes.second] -= 1
    D = np.hstack([D, votes.features / fit.problem.scale])
    p = expit(D @ fit.w)
    return D, votes.weight * p - votes.points, votes.weight * p * (1 - p)


def of_equation_4(S, fit):
    """What is left of equation (4), and the standard error of gamma from one random vector."""
    M = np.linalg.solve(S + fit.lam * np.eye(len(S)), S)
    s = fit.w[: len(S)]
    left = np.trace(M) - min(2, fit.problem.rank / 2) - fit.lam * s @ s
    return left, np.sqrt(2 * (np.sum(M**2) - np.sum(np.diag(M) ** 2)))


CASES = [
    dict(n=6, m=80),
    dict(n=2, m=9),
    dict(n=12, m=100, k=2),
    dict(n=9, m=300, k=1, weighted=True),
    dict(n=30, m=35, seed=3),  # some items have no votes, and there are several groups
    dict(n=7, m=60, ties=0.0),
]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_equations_hold(case, sparse, monkeypatch):
    if sparse:
        monkeypatch.setattr(module, "MOST_DENSE", 1)
        monkeypatch.setattr(module, "PROBES", 2_000)
        monkeypatch.setattr(module, "OF_INTERVALS", 1e-11)
    votes = drawn(**case)
    fit = fit_votes(votes)
    (D, r, h), n = derivatives(votes, fit), votes.n_items
    prior = np.r_[np.full(n, fit.lam), np.ones(fit.problem.k)]
    assert np.abs(D.T @ r / fit.phi + prior * fit.w).max() < 1e-8
    assert np.isclose(fit.phi, max(0.05, 1 - votes.tied.sum() / 4 / h.sum()), rtol=1e-9)
    assert fit.certificate.relative_gap < 1e-12
    H = D.T @ (D * h[:, None]) / fit.phi
    V = np.linalg.inv(H + np.diag(prior))
    F = H[n:, n:] + np.eye(fit.problem.k)
    S = H[:n, :n] - H[:n, n:] @ np.linalg.solve(F, H[n:, :n])
    top = np.linalg.norm(S, 2)
    if 1e-9 * top < fit.lam < 900 * top:  # at an end there is no root
        left, error = of_equation_4(S, fit)
        assert abs(left) < (4 * error / np.sqrt(2_000 // n) if sparse else 1e-7)
    B = np.eye(len(V))
    for g in range(fit.problem.group.max() + 1):
        own = np.flatnonzero(fit.problem.group == g)
        B[np.ix_(own, own)] -= 1 / own.size
    close = dict(rtol=0, atol=1e-8)
    assert np.allclose(covariance(fit), B @ V @ B, **close)
    unit = np.arange(len(votes)) % 5
    E = np.zeros((5, len(V)))
    np.add.at(E, unit, D * (r / fit.phi)[:, None])
    known = B @ V @ (5 / 4 * E.T @ E + np.diag(prior)) @ V @ B
    assert np.allclose(covariance(fit, votes=replace(votes, unit=unit)), known, **close)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("davidson", [False, True])
def test_scores_minimise_the_objective(case, davidson):
    votes = drawn(**case)
    if davidson and not votes.tied.any():
        return
    fit = fit_votes(votes, 0.7, davidson)
    U = votes.features / fit.problem.scale

    def objective(w):
        n, k = votes.n_items, fit.problem.k
        t = w[votes.first] - w[votes.second] + U @ w[n : n + k]
        if davidson:
            loss = votes.weight * np.logaddexp(np.logaddexp(t / 2, -t / 2), w[-1])
            loss -= (votes.points - votes.weight / 2) * t + votes.tied * w[-1]
        else:
            loss = votes.weight * np.logaddexp(0, t) - votes.points * t
        return loss.sum() / fit.phi + fit.problem.prior(0.7) @ w**2 / 2

    best = minimize(objective, np.zeros(fit.problem.p), tol=1e-14)
    assert objective(fit.w) <= best.fun + 1e-9 and np.abs(fit.w - best.x).max() < 1e-4


def test_lambda_is_equal_with_and_without_decompositions(monkeypatch):
    votes = drawn(60, 2_000, k=1)
    exact = fit_votes(votes)
    monkeypatch.setattr(module, "MOST_EXACT", 1)
    improved = fit_votes(votes)
    assert np.isclose(exact.lam, improved.lam, rtol=1e-8)
    assert np.isclose(exact.used, improved.used, rtol=1e-6)
    assert np.abs(exact.w - improved.w).max() < 1e-8


def test_many_items_have_the_scores_and_intervals_of_few(monkeypatch):
    votes, n = drawn(300, 4_000, k=1), 300
    exact, chosen = fit_votes(votes), np.arange(0, 300, 30)
    monkeypatch.setattr(module, "MOST_DENSE", 1)
    monkeypatch.setattr(module, "PROBES", 100 * n)
    found = fit_votes(votes)
    assert type(found.curvature) is not type(exact.curvature)
    D, _, h = derivatives(votes, found)
    H = D.T @ (D * h[:, None]) / found.phi
    S = H[:n, :n] - np.outer(H[:n, n], H[n, :n]) / (H[n, n] + 1)
    left, error = of_equation_4(S, found)
    assert abs(left) < 4 * error / 10
    assert np.isclose(found.lam, exact.lam, rtol=0.02)
    known = covariance(fit_votes(votes, exact.lam), chosen)
    monkeypatch.setattr(module, "MOST_DENSE", 2_000)
    same = covariance(fit_votes(votes, exact.lam), chosen)
    assert np.allclose(np.diag(known), np.diag(same), rtol=1e-8)
    assert np.allclose(known, same, rtol=0, atol=1e-6 * same.max())


@pytest.mark.parametrize("units", [False, True])
@pytest.mark.parametrize("distinct", [False, True])
def test_resamples_are_equal_with_sparse_curvatures(units, distinct, monkeypatch):
    votes = drawn(20, 400, k=int(distinct))
    votes = replace(votes, unit=np.arange(400) % 40) if units else votes
    fit = fit_votes(votes, 0.8)
    dense = refit_resampled(fit, votes, 3, 0)
    assert np.abs(dense).max() > 0.1
    again = refit(fit.problem, 0.8, fit.phi, np.zeros(fit.problem.p))
    assert np.abs(again - fit.w).max() < 1e-6
    monkeypatch.setattr(module, "MOST_DENSE", 1)
    assert np.abs(refit_resampled(fit_votes(votes, 0.8), votes, 3, 0) - dense).max() < 1e-6


def test_a_sample_is_only_a_start(monkeypatch):
    votes = drawn(8, 20_000, k=2)
    whole = fit_votes(votes)
    monkeypatch.setattr(module, "MANY", 10**9)
    assert np.abs(whole.w - fit_votes(votes).w).max() < 1e-8


@pytest.mark.parametrize("davidson", [False, True])
def test_blocks_and_order_of_votes_do_not_matter(davidson, monkeypatch):
    from rankbook.preferences import votes as summing

    votes = replace(drawn(20, 400, k=2), unit=np.arange(400) % 9)
    whole = fit_votes(votes, 0.5, davidson)
    known = covariance(whole, votes=votes)
    monkeypatch.setattr(module, "BLOCK", 32)
    monkeypatch.setattr(summing, "UNSORTED", 0)
    fit = fit_votes(votes, 0.5, davidson)
    assert np.abs(fit.w - whole.w).max() < 1e-12
    assert np.allclose(covariance(fit, votes=votes), known, rtol=0, atol=1e-12)


@pytest.mark.parametrize("davidson", [False, True])
@pytest.mark.parametrize("r", [4, 60, 400, None])
@pytest.mark.parametrize("q", [1, 3, 12])
def test_gradients_of_units_are_summed_in_any_way(q, r, davidson, monkeypatch):
    monkeypatch.setattr(module, "ENTRIES", 30)  # several blocks of units
    votes = drawn(12, 400, k=1)
    unit = np.arange(400) if r is None else np.random.default_rng(0).permutation(400) % r
    votes = votes if r is None else replace(votes, unit=unit)
    fit = fit_votes(votes, 0.5, davidson)
    D = np.hstack([np.eye(12)[votes.first] - np.eye(12)[votes.second], votes.features])
    D = D / np.r_[np.ones(12), fit.problem.scale]
    t = D @ fit.w[:13]
    if davidson:
        value = np.exp([t / 2, -t / 2, np.full(400, fit.w[-1])])
        lead = (value[0] - value[1]) / 2 / value.sum(axis=0) - (votes.points - 0.5)
        D = np.c_[D * lead[:, None], value[2] / value.sum(axis=0) - votes.tied]
    else:
        D = D * (expit(t) - votes.points)[:, None]
    E = np.zeros((unit.max() + 1, fit.problem.p))
    np.add.at(E, unit, D / fit.phi)
    prior = np.diag(fit.problem.prior(fit.lam))
    share = 1.0 if r is None else r / (r - 1)
    V, chosen = np.linalg.inv(fit.curvature.H + prior), np.arange(q)
    B = np.zeros((fit.problem.p, q + 1))
    B[:12, :q], B[12, q] = (np.eye(12) - 1 / 12)[:, :q], 1.0
    known = B.T @ V @ (share * E.T @ E + prior) @ V @ B
    assert np.allclose(covariance(fit, chosen, votes), known, rtol=0, atol=1e-12)


def test_votes_need_no_compilation():
    fit = "rb.Leaderboard().fit(dict(winner=list('aab'), loser=list('bbc')))"
    code = f"import sys, rankbook as rb; {fit}; print('numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 300.0, 1e6])
def test_units_of_features_do_not_matter(factor):
    votes = drawn(10, 500, k=2)
    there = fit_votes(votes)
    other = fit_votes(replace(votes, features=votes.features * [factor, 1.0]))
    assert np.abs(other.scores - there.scores).max() < 1e-9 * np.ptp(there.scores)
    effects = there.theta / there.problem.scale, other.theta / other.problem.scale * [factor, 1]
    assert np.allclose(*effects, rtol=1e-8)


@pytest.mark.parametrize("many", [0, 10**9])
def test_equal_votes_are_summed(many, monkeypatch):
    from rankbook.preferences import votes as summing

    monkeypatch.setattr(summing, "MANY", many)
    rng = np.random.default_rng(0)
    votes = drawn(5, 300)
    for features in (None, rng.integers(-1, 2, (300, 1)).astype(float)):
        given = votes if features is None else replace(votes, features=features)
        rows, kind, of_lower = given.kinds()
        assert len(rows) <= 40 and (rows.first < rows.second).all()
        assert np.array_equal(np.minimum(*given.ends), rows.first[kind])
        assert np.array_equal(np.maximum(*given.ends), rows.second[kind])
        assert np.array_equal(np.bincount(kind, of_lower), rows.points)
        sign = np.where(given.first < given.second, 1.0, -1.0)[:, None]
        assert np.array_equal(sign * given.features, rows.features[kind])
        assert np.allclose(given.compared(), rows.compared())
        assert np.abs(fit_votes(given, 1.0).w - fit_votes(rows, 1.0).w).max() < 1e-9


def table(m=3_000, n=9, seed=0):
    """Votes on n names, and the scores of the maximum of the likelihood by rankbook."""
    votes = drawn(n, m, seed=seed)
    winner = np.array(["model_b", "tie", "model_a"])[(2 * votes.points).astype(int)]
    names = np.array([f"item {i}" for i in range(n)])
    frame = pd.DataFrame(dict(model_a=names[votes.first], model_b=names[votes.second]))
    columns = dict(home="model_a", away="model_b", result="winner")
    board = rb.Leaderboard(columns=columns, lam=1e-9, intervals=False)
    frame = frame.assign(winner=winner)
    return frame, pd.Series(board.fit(frame).score_, board.items_).sort_index()


@pytest.mark.peer("arena_rank")
def test_scores_are_those_of_arena_rank():
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    frame, known = table()
    data = PairDataset.from_pandas(frame)
    model = BradleyTerry(data.n_competitors, gtol=1e-12, ftol=0.0)
    model.fit(data)
    found = pd.Series(np.asarray(model.params["ratings"]), data.competitors).sort_index()
    assert np.abs(found - found.mean() - known).max() < 1e-6


@pytest.mark.peer("evalica")
def test_scores_are_those_of_evalica():
    from evalica import Winner, bradley_terry

    frame, known = table()
    winner = frame["winner"].map(dict(model_a=Winner.X, model_b=Winner.Y, tie=Winner.Draw))
    limits = dict(tolerance=1e-14, limit=100_000)
    result = bradley_terry(frame["model_a"], frame["model_b"], winner, **limits)
    found = np.log(result.scores).sort_index()
    assert np.abs(found - found.mean() - known).max() < 1e-6


@pytest.mark.peer("choix")
def test_scores_are_those_of_choix_without_a_prior():
    from choix import opt_pairwise

    frame, known = table()
    pairs = []
    for a, b, winner in frame.itertuples(index=False):
        won = [(int(a[5:]), int(b[5:]))] * (winner != "model_b")
        won += [(int(b[5:]), int(a[5:]))] * (winner != "model_a")
        pairs += won if winner == "tie" else won * 2
    found = opt_pairwise(len(known), pairs, method="Newton-CG", tol=1e-14)
    assert np.abs(found - found.mean() - known.to_numpy()).max() < 1e-6
