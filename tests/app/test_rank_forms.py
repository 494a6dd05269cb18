"""Counted votes and rankings on the command line, each read by name, against single votes."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import done, refused

import rankbook as rb

ORDERS = [["tea", "milk", "water"], ["milk", "tea"], ["water", "milk"]]
VOTERS = [30, 12, 8]
WINS = np.array([[0, 7, 2], [3, 0, 5], [8, 4, 0]])
SOI = """\
# NUMBER ALTERNATIVES: 4
# NUMBER VOTERS: 50
# NUMBER UNIQUE ORDERS: 3
# ALTERNATIVE NAME 1: tea
# ALTERNATIVE NAME 2: milk
# ALTERNATIVE NAME 3: water
# ALTERNATIVE NAME 4: wine
30: 1,2,3
12: 2,1
8: 3,2
"""


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = list("abc")
    pd.DataFrame(WINS, names, names)[["c", "a", "b"]].to_csv("wins.csv")
    i, j = np.triu_indices(3, 1)
    table = dict(first=np.array(names)[i], second=np.array(names)[j])
    table |= dict(wins_first=WINS[i, j], wins_second=WINS[j, i])
    pd.DataFrame(table).to_csv("counts.csv", index=False)
    votes = [(names[k], names[l]) for k in range(3) for l in range(3) for _ in range(WINS[k, l])]
    pd.DataFrame(votes, columns=["winner", "loser"]).to_csv("votes.csv", index=False)
    padded = [[*order, None][:3] for order in ORDERS]
    wide = pd.DataFrame(padded, columns=["best", "second", "third"])
    wide.assign(voters=VOTERS).to_csv("orders.csv", index=False)
    single = [order for order, n in zip(padded, VOTERS) for _ in range(n)]
    pd.DataFrame(single, columns=["best", "second", "third"]).to_csv("single.csv", index=False)
    rows = [
        (who, item, place, VOTERS[who])
        for who, order in enumerate(ORDERS)
        for place, item in enumerate(order, start=1)
    ]
    long = pd.DataFrame(rows, columns=["ranking", "item", "rank", "voters"])
    long.to_csv("long.csv", index=False)
    Path("election.soi").write_text(SOI)


def table(*arguments):
    found = pd.DataFrame(json.loads(done("rank", *arguments, "--json"))["items"])
    return found.set_index("item").sort_index()


@pytest.mark.parametrize("given", [["wins.csv", "--form", "wins"], ["counts.csv"]])
def test_counted_wins_are_single_votes(given):
    pd.testing.assert_frame_equal(table(*given), table("votes.csv"), rtol=1e-6)


@pytest.mark.parametrize(
    "given",
    [
        ["orders.csv", "--form", "orders", "--weight", "voters"],
        ["long.csv", "--weight", "voters"],
        ["election.soi"],
    ],
)
def test_counted_orders_are_single_voters(given):
    expected = table("single.csv", "--form", "orders")
    pd.testing.assert_frame_equal(table(*given), expected, rtol=1e-5, check_dtype=False)
    assert expected.comparisons.to_dict() == dict(tea=42, milk=50, water=38)


def test_the_readers_give_the_same():
    wins = rb.read_preferences("wins.csv", "wins", items=list("abc"))
    counts = rb.read_preferences("counts.csv", items=list("abc")).merged()
    assert np.array_equal(wins.weight, counts.weight) and np.array_equal(wins.better, counts.better)
    orders = rb.read_orders("election.soi")
    wide = rb.read_orders("orders.csv", "orders", weight="voters", items=orders.items)
    assert orders.items == ("tea", "milk", "water", "wine")
    for name in ("item", "order", "choice_weight"):
        assert np.array_equal(getattr(orders, name), getattr(wide, name))
    assert rb.read_orders("election.soi", unranked="last").item.size == 12
    assert len(rb.read_preferences("election.soi")) == 5


def test_wrong_forms_are_refused():
    assert "weight=voters for counts" in refused("rank", "orders.csv", "--form", "orders")
    assert "is PrefLib text. Pass a table. For orders of voters, use rb.read_orders" in refused(
        "fit", "election.soi", "-o", "m"
    )
    assert "winner is given with the win matrix wins.csv" in refused(
        "rank", "wins.csv", "--form", "wins", "--winner", "a"
    )
    assert "form is 'matches'. Pass 'orders'" in refused(
        "rank", "election.soi", "--form", "matches"
    )
    assert "has no columns 'first' and 'second' and 'wins_first'" in refused(
        "rank", "votes.csv", "--form", "counts"
    )


def test_preferences_between_items_with_features():
    pd.DataFrame(dict(name=list("abcd"), x=[1.0, 2, 3, 4])).to_csv("items.csv", index=False)
    given = ["fit", "items.csv", "--name", "name", "--preferences", "wins.csv", "--form", "wins"]
    assert "6 preferences" in done(*given, "--kernel", "linear", "-o", "m")
