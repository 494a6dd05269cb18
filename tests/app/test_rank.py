"""``rankbook rank``: a leaderboard from votes or matches."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t
from shell import done, refused

import rankbook as rb

PLAYERS = np.array(["Ann", "Bob", "Cleo", "Dan", "=Eve"])


@pytest.fixture
def votes(tmp_path, monkeypatch):
    """Files of the same votes as pairs, with counts, and as matches with draws."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    k = rng.integers(0, 5, 300)
    l = (k + rng.integers(1, 5, 300)) % 5
    won = rng.random(300) < 1 / (1 + np.exp(k - l))  # the first are stronger
    pairs = pd.DataFrame(
        dict(winner=PLAYERS[np.where(won, k, l)], loser=PLAYERS[np.where(won, l, k)])
    )
    pairs.to_csv("votes.csv", index=False)
    pairs.value_counts().rename("votes").reset_index().to_csv("counts.csv", index=False)
    result = np.where(rng.random(300) < 0.1, "D", np.where(won, "H", "A"))
    pd.DataFrame(dict(home=PLAYERS[k], away=PLAYERS[l], result=result)).to_csv(
        "season.csv", index=False
    )
    return pairs


def table(*arguments):
    return pd.DataFrame(json.loads(done("rank", *arguments, "--json"))["items"])


def test_it_prints_a_table(votes):
    lines = done("rank", "votes.csv", "--intervals").splitlines()
    assert lines[0].split() == ["rank", "item", "score", "interval", "ranks", "comparisons"]
    assert [line.split()[1] for line in lines[1:6]] == PLAYERS.tolist()
    lam = rb.Leaderboard().fit(votes).lam_
    said = f"lambda {lam:.6g}"
    assert lines[6] == f"(95% for each interval, laplace; {said})" and len(lines) == 7
    plain = done("rank", "votes.csv").splitlines()
    assert plain[0].split() == ["rank", "item", "score", "comparisons"]
    assert plain[6:] == [f"({said})"]
    facts = json.loads(done("rank", "votes.csv", "--json"))
    assert facts["lam"] == pytest.approx(lam, rel=1e-9) and facts["pair_features"] == []


@pytest.mark.parametrize("method, near", [("laplace", 1e-6), ("bootstrap", 0.05)])
def test_it_is_what_order_intervals_gives(votes, method, near):
    facts = json.loads(
        done("rank", "votes.csv", "--intervals", "--level", "0.9", "--method", method, "--json")
    )
    prefs, said = rb.Preferences.from_pairs(votes), pd.DataFrame(facts["items"])
    model = rb.RankSVM(facts["lam"], kernel="linear", loss="logistic").fit(np.eye(5), prefs)
    found = rb.order_intervals(model, np.eye(5), method=method, level=0.9).to_frame()
    assert said["item"].tolist() == found.index.tolist() and facts["phi"] == 1
    assert np.allclose(said["score"], found["score"], atol=1e-6)
    for name in ("low", "high"):
        assert np.allclose(said[name], found[name], atol=near)
    ends = ["rank_low", "rank_high"]
    assert np.abs(said[ends].to_numpy() - found[ends]).max(axis=None) <= 1
    assert said["comparisons"].sum() == 600


def test_counts_of_votes_are_votes(votes):
    listed = table("votes.csv", "--intervals")
    counted = table("counts.csv", "--weight", "votes", "--intervals")
    assert np.allclose(
        counted[["low", "high", "comparisons"]], listed[["low", "high", "comparisons"]], atol=1e-3
    )
    drawn = table("counts.csv", "--weight", "votes", "--intervals", "--method", "bootstrap")
    again = table("votes.csv", "--intervals", "--method", "bootstrap")
    assert np.allclose(drawn["high"], again["high"], atol=0.1)


def test_a_draw_is_half_a_win_each_way(votes):
    found = table("season.csv", "--form", "matches", "--intervals")
    assert found["comparisons"].sum() == 600
    fewer = table("season.csv", "--form", "matches", "--ties", "drop")
    assert fewer["comparisons"].sum() < 600 and np.ptp(fewer["score"]) > np.ptp(found["score"])
    drawn = table("season.csv", "--form", "matches", "--intervals", "--method", "bootstrap")
    assert (drawn["high"] - drawn["low"]).mean() < (found["high"] - found["low"]).mean() * 1.3


def test_a_column_of_ties_is_read(votes):
    tied = votes.assign(tie=np.arange(len(votes)) % 4 == 0)
    tied.to_csv("tied.csv", index=False)
    prefs = rb.read_preferences("tied.csv", ties="half")
    assert prefs.n_ties == 75 and table("tied.csv").equals(table("tied.csv", "--column", "tie=tie"))
    assert "is a tie (75 of 300 rows are)" in refused("rank", "tied.csv", "--ties", "refuse")


@pytest.mark.parametrize("counted, unit", [(False, None), (True, "vote")])
def test_the_bootstrap_draws_votes(counted, unit):
    """Of counts, single votes are drawn and not rows."""
    rng = np.random.default_rng(0)
    k = rng.integers(0, 4, 60)
    rows = dict(winner=k, loser=(k + rng.integers(1, 4, 60)) % 4)
    weight = dict(weight=rng.integers(1, 5, 60)) if counted else {}
    prefs = rb.Preferences.from_pairs(rows, items=range(4), **weight)
    board = rb.Leaderboard(method="bootstrap").fit(prefs)
    model = rb.RankSVM(board.lam_, kernel="linear", loss="logistic").fit(np.eye(4), prefs)
    of = lambda unit: rb.order_intervals(model, np.eye(4), method="bootstrap", unit=unit)
    at = board.table_["item"].astype(int)
    width = (board.table_["high"] - board.table_["low"]).to_numpy()
    near = (of(unit).high - of(unit).low)[at]
    assert np.allclose(width, near, rtol=0.1)
    if counted:
        assert not np.allclose(width, (of(None).high - of(None).low)[at], rtol=0.1)


@pytest.fixture
def arena(tmp_path, monkeypatch):
    """A file of votes with two sides, ties, judges, lengths and a side that is preferred."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    k = rng.integers(0, 5, 500)
    l = (k + rng.integers(1, 5, 500)) % 5
    longer = rng.normal(size=500)
    left = rng.random(500) < 1 / (1 + np.exp(k - l - 1 - longer))
    winner = np.where(rng.random(500) < 0.2, "tie", np.where(left, "model_a", "model_b"))
    votes = dict(model_a=PLAYERS[k], model_b=PLAYERS[l], winner=winner, longer=longer)
    votes = pd.DataFrame(votes | dict(judge=rng.integers(0, 9, 500)))
    votes.to_csv("arena.csv", index=False)
    return votes


SIDES = ["home=model_a", "away=model_b", "result=winner"]
SIDES = ["--form", "matches", *(part for side in SIDES for part in ("--column", side))]


def test_votes_on_two_sides_are_recognised(arena):
    by_judge = ["--intervals", "--method", "bootstrap", "--group", "judge"]
    for more in ([], by_judge, ["--ties", "drop"], ["--column", "home_advantage=yes"]):
        pd.testing.assert_frame_equal(
            table("arena.csv", *more), table("arena.csv", *SIDES, *more), check_exact=True
        )
    arena.rename(columns=dict(winner="better")).to_csv("other.csv", index=False)
    assert table("other.csv", "--winner", "better").equals(table("arena.csv"))
    prefs = rb.read_preferences("arena.csv", ties="half")
    assert prefs.n_ties == (arena.winner == "tie").sum() == len(prefs) - 500
    arena.replace("tie", "nobody").to_csv("other.csv", index=False)
    assert "result (column 'winner') is 'nobody' in row" in refused("rank", "other.csv")
    arena.assign(winner="model_a").to_csv("other.csv", index=False)  # one side always won
    as_pairs = arena.rename(columns=dict(winner="w", model_a="winner", model_b="loser"))
    as_pairs.to_csv("same.csv", index=False)
    pd.testing.assert_frame_equal(table("other.csv"), table("same.csv"))
    arena.assign(loser="water").to_csv("other.csv", index=False)
    assert set(table("other.csv")["item"]) == {"model_a", "model_b", "tie", "water"}


def test_the_side_and_other_features_are_printed(arena):
    side = ["--column", "home_advantage=yes"]
    facts = json.loads(done("rank", "arena.csv", *side, "--json"))
    last = done("rank", "arena.csv", *side).splitlines()[-1]
    name, weight = last.strip("()").split("; ")[0].split()
    effect = facts["pair_features"][0]["effect"]
    assert name == "home_advantage" and abs(float(weight) - effect) < 1e-3 and 0.3 < effect < 1
    judged = " ".join(facts["notes"])
    assert "if those of one judge resemble each other" in judged
    both = ["--column", "home_advantage=yes", "--column", "pair_features=longer,judge"]
    last = done("rank", "arena.csv", *both, "--intervals").splitlines()[-1].strip("()").split("; ")
    assert [text.split()[0] for text in last[1:-1]] == ["home_advantage", "longer", "judge"]
    facts = json.loads(done("rank", "arena.csv", *both, "--intervals", "--json"))
    for row in facts["pair_features"]:
        assert row["low"] < row["effect"] < row["high"] and row["root_mean_square"] > 0


def test_numbers_are_names_and_gaps_are_no_items(tmp_path):
    pd.DataFrame(dict(winner=[10, 10, 70], loser=[70, 70, 10])).to_csv(
        tmp_path / "n.csv", index=False
    )
    found = table(tmp_path / "n.csv", "--intervals")
    assert found["item"].tolist() == ["10", "70"] and found["rank_high"].tolist() == [2, 2]


def test_a_table_has_no_formula(votes):
    done("rank", "votes.csv", "-o", "table.csv")
    with open("table.csv", encoding="utf-8") as file:
        assert "'=Eve" in file.read()
    assert pd.read_csv("table.csv")["rank"].tolist() == [1, 2, 3, 4, 5]


def test_leagues_without_a_match_are_not_compared(tmp_path):
    rows = [("a", "b")] * 9 + [("c", "d")] * 3 + [("d", "c")]
    pd.DataFrame(rows, columns=["winner", "loser"]).to_csv(tmp_path / "two.csv", index=False)
    facts = json.loads(done("rank", tmp_path / "two.csv", "--intervals", "--json"))
    assert "2 groups" in facts["notes"][1] and facts["lam"] > 0
    assert all(row["rank_high"] >= 3 for row in facts["items"])
    assert "2 groups that no comparison connects" in done("rank", tmp_path / "two.csv")


def test_wrong_calls(votes):
    assert "MATCHES is 'no.csv'" in refused("rank", "no.csv")
    assert "form is 'clicks'" in refused("rank", "votes.csv", "--form", "clicks")
    assert table("season.csv").equals(table("season.csv", "--form", "matches"))
    assert "no columns 'winner' and 'loser'" in refused("rank", "season.csv", "--form", "pairs")
    assert "level is 2" in refused("rank", "votes.csv", "--intervals", "--level", "2")
    assert "method is 'sandwich'" in refused(
        "rank", "votes.csv", "--intervals", "--method", "sandwich"
    )
    assert "--output" in refused("rank", "votes.csv", "-o", "votes.csv")
    assert "--output" in refused("rank", "votes.csv", "-o", "a.csv", "--json")
    assert "ties is 'refuse'" in refused(
        "rank", "season.csv", "--form", "matches", "--ties", "refuse"
    ).replace("--ties", "ties")


def test_units_are_drawn_together(votes):
    judged = votes.assign(judge=np.arange(300) % 20)
    judged.to_csv("judged.csv", index=False)
    given = ["judged.csv", "--intervals", "--method", "bootstrap"]
    found = table(*given, "--group", "judge")
    pd.testing.assert_frame_equal(table(*given, "--unit", "judge"), found)
    lam = json.loads(done("rank", "judged.csv", "--json"))["lam"]
    in_order = judged.sort_values("judge", kind="stable", ignore_index=True)
    prefs = rb.Preferences.from_pairs(in_order, items=sorted(PLAYERS))
    model = rb.RankSVM(lam, kernel="linear", loss="logistic").fit(np.eye(5), prefs)
    known = rb.order_intervals(model, np.eye(5), method="bootstrap", unit=in_order.judge)
    known = known.to_frame().set_index(np.array(sorted(PLAYERS))[known.order])
    found = found.set_index("item").loc[known.index]
    assert np.allclose(found.score, known.score, atol=1e-6)
    wider = np.sqrt(20 / 19) * t.ppf(0.975, 19) / norm.ppf(0.975)
    middle = known[["score"]].to_numpy()
    ends = middle + wider * (known[["low", "high"]] - middle)
    assert np.allclose(found[["low", "high"]], ends, atol=0.06)
    alone = table(*given).set_index("item").loc[known.index]
    assert not np.allclose(found.low, alone.low, atol=1e-3)
    cluster = table("judged.csv", "--intervals", "--group", "judge")
    by_hand = rb.Leaderboard(unit="judge").fit(judged).table_
    pd.testing.assert_frame_equal(cluster, by_hand, check_dtype=False)
    implied = table("judged.csv", "--group", "judge")
    pd.testing.assert_frame_equal(implied, cluster)
    said = refused("rank", *given, "--group", "sex")
    assert "--unit is 'sex'. Pass one of: judge, loser, winner" in said


def test_orders_are_ranked_by_plackett_luce(votes):
    rng = np.random.default_rng(0)
    rows = [
        sorted(rng.choice(5, 3, replace=False), key=lambda i: i - rng.gumbel()) for _ in "." * 90
    ]
    wide = pd.DataFrame(PLAYERS[np.array(rows)], columns=["best", "middle", "worst"])
    long = wide.stack().rename("player").reset_index()
    long.columns = ["judge", "rank", "player"]
    long["rank"] = long["rank"].map(dict(best=1, middle=2, worst=3))
    long.to_csv("long.csv", index=False)
    wide.assign(judge=range(90)).to_csv("wide.csv", index=False)
    orders = rb.Orders.from_rankings(rows)
    model = rb.RankSVM(kernel="linear", loss="plackett-luce")
    rb.match_prior(model, np.eye(5), orders)
    given = ["wide.csv", "--form", "orders", "--column", "item=best,middle,worst", "--intervals"]
    for method in ("laplace", "bootstrap"):
        found = rb.order_intervals(model, np.eye(5), method=method)
        said = table(*given, "--method", method).set_index("item").loc[PLAYERS]
        assert np.allclose(said.score, found.score, atol=1e-6)
        assert np.abs(said.high - found.high).max() < (1e-4 if method == "laplace" else 0.1)
        assert (said.comparisons == np.bincount(orders.item)).all()
    columns = ["--column", "ranking=judge", "--column", "item=player"]
    same = table("long.csv", "--form", "rankings", *columns).set_index("item").loc[PLAYERS]
    assert np.allclose(same.score, found.score, atol=1e-6)
    assert "--ties is 'half'" in refused("rank", *given, "--ties", "half")
    more = ["--method", "bootstrap", "--group", "judge"]
    said = refused("rank", *given, *more)
    assert (
        "--unit is 'judge', and the table contains orders. Omit --unit for orders" in said
        and "pass --form pairs" in said
    )
