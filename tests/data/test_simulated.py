"""The tables that come with the package: how they are made, and that fits find the truth."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankbook as rb

TOOL = Path(__file__).resolve().parents[2] / "tools" / "tables.py"


@pytest.fixture(scope="module")
def truth():
    """The module with the constants of the simulation."""
    spec = importlib.util.spec_from_file_location("tables", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_what_is_simulated():
    found = subprocess.run([sys.executable, TOOL, "--check"], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    sizes = [path.stat().st_size for path in (rb.datasets.TABLES).glob("*.csv")]
    assert len(sizes) == 5 and max(sizes) < 10_000


@pytest.mark.parametrize("name", ["votes", "matches", "clicks", "orders", "survival"])
def test_the_docstring_says_the_truth(name, truth):
    text = " ".join(getattr(rb.datasets, f"load_{name}").__doc__.split())
    facts = dict(
        votes=truth.ASSISTANTS | truth.JUDGES,
        matches=truth.CLUBS,
        clicks={},
        orders=truth.BEANS,
        survival={},
    )
    assert all(f"{item} {value:g}" in text for item, value in facts[name].items())
    numbers = dict(
        votes=[truth.VOTES, truth.VOTE_TIES],
        matches=[truth.HOME_ADVANTAGE, truth.MATCH_TIES],
        clicks=[*map(abs, truth.CLICK_WEIGHTS[::2]), truth.SESSIONS],
        orders=[truth.JURORS],
        survival=[*map(abs, truth.HAZARDS.values()), truth.SHAPE, truth.PATIENTS],
    )
    assert all(f"{number:g}" in text for number in numbers[name])
    assert "simulated" in text


def inside(board, truth, share):
    """Whether the intervals of a leaderboard cover this share of true scores, centred alike."""
    table = board.table_.set_index("item")
    known = np.array([truth[name] for name in table.index])
    known = known - known.mean()
    covered = (table["low"] <= known) & (known <= table["high"])
    return covered.mean() >= share


def test_orders(truth):
    board = rb.Leaderboard(intervals=True, lam=0.01).fit(rb.datasets.load_orders())
    assert inside(board, truth.BEANS, 1.0)


def test_matches(truth):
    sides = dict(home_advantage=True)
    board = rb.Leaderboard(columns=sides, ties="davidson", intervals=True, lam=0.01)
    board.fit(rb.datasets.load_matches())
    assert inside(board, truth.CLUBS, 0.85)
    row = board.pair_table_.iloc[0]
    assert row["low"] < truth.HOME_ADVANTAGE < row["high"]


def test_votes(truth):
    """Judges differ: those who agree with the scores most are the best by their own votes."""
    votes = rb.datasets.load_votes()
    board = rb.Leaderboard(ties="davidson", intervals=True, lam=0.01)
    of_five = board.fit(votes[votes["judge"] != "Finn"])
    assert inside(of_five, truth.ASSISTANTS, 0.85)
    right = votes["winner"].map(truth.ASSISTANTS) > votes["loser"].map(truth.ASSISTANTS)
    share = right[votes["tie"] == 0].groupby(votes["judge"]).mean()
    assert share[["Ada", "Ben"]].min() > share[["Eva", "Finn"]].max()


def test_clicks(truth):
    """Pairs with the hotel above that was skipped ignore the order of production."""
    log = rb.datasets.load_clicks()
    features = log[["price", "rating", "distance"]]
    model = rb.RankSVM(kernel="linear", loss="logistic").fit(
        features, log["click"], qid=log["session"]
    )
    assert np.array_equal(np.sign(model.coef_), np.sign(truth.CLICK_WEIGHTS))
    by_rank = log.groupby("rank")["click"].mean()
    assert by_rank[1] > 3 * by_rank[4]


def test_survival(truth):
    patients = rb.datasets.load_survival()
    features = patients[list(truth.HAZARDS)]
    features = features.fillna(features.mean())
    y = np.array(
        list(zip(patients["event"] == 1, patients["days"])),
        dtype=[("event", bool), ("time", float)],
    )
    model = rb.RankSVM(kernel="linear", loss="plackett-luce", lam=0.01)
    model.fit(features, y, qid=patients["clinic"].astype("category").cat.codes.to_numpy())
    found = -model.coef_
    assert np.allclose(found, list(truth.HAZARDS.values()), atol=0.3)
    assert abs(found[0] - 0.04) < 0.015
