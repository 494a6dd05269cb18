"""Intervals of leaderboards contain the true scores and ranks, or a note doubts them."""

from importlib import import_module
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import rankbook as rb
from rankbook.preferences.votes import Votes
from rankbook.problems.votes import fit_votes

CELLS = {
    "no ties": dict(votes=30),
    "ties": dict(votes=30, ties=0.3, mechanism="calibrated"),
    "ties at random": dict(votes=30, ties=0.6, mechanism="at random"),
    "ties as an outcome": dict(votes=50, ties=0.3, mechanism="davidson", fit="davidson"),
    "judges": dict(items=12, votes=200, judges=20, sizes="equal"),
    "unequal judges": dict(items=12, votes=200, judges=10, sizes="unequal"),
    "decaying weights": dict(votes=100, weights="decay"),
    "a feature": dict(votes=30, feature=True),
    "uneven pairs": dict(votes=30, pairs="uneven"),
    "decaying weights of judges": dict(
        items=12, votes=200, judges=20, sizes="equal", weights="decay"
    ),
    "orders": dict(votes=30, places=4),
}
NOTED = {
    "few votes": (dict(votes=10), 0.9),
    "two items": (dict(items=2, votes=20), 0.9),
    "bootstrap": (dict(votes=30, method="bootstrap"), 0.85),
    "equal items in orders": (dict(votes=30, spread=0.0, places=4), 0.95),
    "equal items": (dict(votes=30, spread=0.0), 0.95),
    "nearly all ties": (dict(votes=100, spread=0.0, ties=0.95, mechanism="at random"), 0.95),
}


@pytest.fixture
def coverage(root, monkeypatch):
    """The benchmark of this name."""
    monkeypatch.syspath_prepend(str(root))
    return import_module("benchmarks.coverage")


def simulated(coverage, cell, repetitions):
    """Means over the repetitions, and the standard error of the coverage of scores."""
    found = [coverage.contained(coverage.Cell(**cell), seed) for seed in range(repetitions)]
    means = {name: np.mean([one[name] for one in found]) for name in ("score", "rank", "noted")}
    return means, np.std([one["score"] for one in found]) / np.sqrt(repetitions)


@pytest.mark.parametrize("name", CELLS)
def test_intervals_cover_what_they_promise(coverage, amount, name):
    means, error = simulated(coverage, CELLS[name], amount(10, 400))
    assert abs(means["score"] - 0.95) <= 0.02 + 3 * error
    assert means["rank"] >= 0.95 and means["noted"] <= 0.1


@pytest.mark.parametrize("name", NOTED)
def test_other_intervals_have_a_note(coverage, amount, name):
    cell, least = NOTED[name]
    means, error = simulated(coverage, cell, amount(10, 400))
    assert means["score"] >= least - 3 * error
    assert means["rank"] >= 0.95 and means["noted"] >= 0.9


def notes(rows, **more):
    """Notes of a leaderboard of rows (item, item, winner or "tie")."""
    table = pd.DataFrame(rows, columns=["a", "b", "winner"])
    columns = dict(home="a", away="b", result="winner")
    return rb.Leaderboard(columns=columns, **more).fit(table).notes_


PAIRS = list(combinations("stuvwxyz", 2))
PLENTY = [(*pair, side) for pair in PAIRS for side in ["a"] * 15 + ["b"] * 5]


@pytest.mark.parametrize(
    "rows, says",
    [
        (PLENTY, ""),
        ([("x", "y", side) for side in ["a"] * 60 + ["b"] * 30], "with only 2 items"),
        (PLENTY[::5], "fewer than 30 votes on an item"),
        ([(*pair, "tie") for pair in PAIRS] * 20, "nearly all votes are ties"),
        ([(*pair, side) for pair in PAIRS for side in ("a", "b")] * 20, "hardly differ"),
    ],
)
def test_a_note_names_the_reason(rows, says):
    said = "; ".join(notes(rows))
    assert says in said and bool(says) == bool(said)
    assert ("all votes are ties" in says) == bool(notes(rows, intervals=False))


def test_fractions_count_the_votes_that_they_are_worth():
    rng = np.random.default_rng(0)
    a, weight = rng.integers(0, 5, 200), rng.random(200)
    ends, points = (a, (a + rng.integers(1, 5, 200)) % 5), rng.integers(0, 3, 200) / 2
    votes = Votes.of(*ends, points, 5, weight=weight)
    found = fit_votes(votes.counted())
    assert np.isclose(votes.counted().weight.sum(), weight.sum() ** 2 / (weight**2).sum())
    again = fit_votes(Votes.of(*ends, points, 5, weight=7 * weight).counted())
    assert np.isclose(found.lam, again.lam) and np.allclose(found.scores, again.scores)
    halves = Votes.of(*ends, points, 5, weight=np.full(200, 0.5)).counted()
    assert (halves.weight == 1).all() and (halves.points == points).all()


def test_unequal_units_count_as_fewer():
    unit = np.repeat([0, 1, 2], [10, 10, 10])
    votes = lambda unit: Votes([0] * 30, [1] * 30, np.ones(30), None, None, None, 2, unit=unit)
    assert votes(None).freedom() == np.inf and votes(unit).freedom() == 2
    assert 1 < votes(np.repeat([0, 1, 2], [14, 14, 2])).freedom() < 2
    assert votes(np.repeat([0, 1, 2], [28, 1, 1])).freedom() == 1


def test_few_judges_widen_the_bootstrap(coverage):
    judges = dict(items=6, votes=300, judges=6, sizes="equal")
    votes = coverage.drawn(coverage.Cell(**judges), 0)[0]
    boards = {
        method: coverage.fitted(coverage.Cell(**judges, method=method), votes)
        for method in ("laplace", "bootstrap")
    }
    width = {name: (each.table_.high - each.table_.low).mean() for name, each in boards.items()}
    assert width["bootstrap"] == pytest.approx(width["laplace"], rel=0.2)
    assert boards["bootstrap"].errors_.df == boards["laplace"].errors_.df < 5


def test_a_tiny_lambda_gives_maximum_likelihood():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 6, 3000)
    votes = Votes.of(a, (a + rng.integers(1, 6, 3000)) % 6, rng.integers(0, 3, 3000) / 2, 6)
    first, other = (fit_votes(votes, lam) for lam in (1e-6, 1e-12))
    assert np.allclose(first.scores, other.scores, atol=1e-6) and other.n_steps < 20
