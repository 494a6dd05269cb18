"""Win matrices, counts of wins of either side and counted orders, against plain loops."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix, csr_array

import rankbook as rb
from rankbook.preferences.events import tie_halves

NAMES = ["d", "a", "c", "b"]
WINS = np.array([[0, 3, 0, 1], [2, 0, 4, 0], [0, 0, 0, 2.5], [6, 1, 0.5, 0]])
FRAME = pd.DataFrame(WINS, NAMES, NAMES)


def total(prefs):
    """The weight of each (better, worse), by names."""
    names = range(prefs.n_items) if prefs.items is None else prefs.items
    found = Counter()
    for k, l, w in zip(prefs.better, prefs.worse, prefs.weight):
        found[names[k], names[l]] += float(w)
    return found


EXPECTED = {
    (a, b): WINS[i, j] for i, a in enumerate(NAMES) for j, b in enumerate(NAMES) if WINS[i, j]
}


@pytest.mark.parametrize(
    "wins",
    [
        FRAME,
        FRAME[["b", "c", "a", "d"]],
        FRAME.where(~np.eye(4, dtype=bool)),
        FRAME.astype(object).where(~np.eye(4, dtype=bool), None),
        FRAME.rename_axis("winner").rename_axis("loser", axis=1),
    ],
    ids=["plain", "columns in another order", "NaN", "None", "axes with names"],
)
def test_a_frame_is_joined_by_name(wins):
    before = wins.copy()
    prefs = rb.Preferences.from_wins(wins)
    assert total(prefs) == EXPECTED and prefs.items == tuple(NAMES) and prefs.n_ties == 0
    ordered = rb.Preferences.from_wins(wins, items=sorted(NAMES))
    assert total(ordered) == EXPECTED and ordered.items == tuple(sorted(NAMES))
    pd.testing.assert_frame_equal(wins, before)


def test_integers_in_the_index_and_text_in_the_columns_are_the_same_names():
    """A CSV file of a frame has text as its header."""
    wins = pd.DataFrame([[4, 0], [0, 2]], index=[20, 7], columns=["7", "20"])
    assert total(rb.Preferences.from_wins(wins)) == {("20", "7"): 4, ("7", "20"): 2}


@pytest.mark.parametrize("wins", [WINS, WINS.tolist(), csr_array(WINS), coo_matrix(WINS)])
def test_rows_of_a_matrix_are_items(wins):
    prefs = rb.Preferences.from_wins(wins)
    assert prefs.items is None and prefs.n_items == 4
    rows = {(NAMES[k], NAMES[l]): w for (k, l), w in total(prefs).items()}
    assert rows == EXPECTED == total(rb.Preferences.from_wins(wins, items=NAMES))


def test_a_sparse_matrix_sums_repeated_entries_and_is_not_changed():
    entries = ([1, 2, 5.0, 0], ([0, 0, 2, 1], [1, 1, 0, 1]))
    wins = coo_matrix(entries, shape=(3, 3)).tocsr()
    stored = wins.data.copy()
    assert total(rb.Preferences.from_wins(wins)) == {(0, 1): 3, (2, 0): 5}
    assert np.array_equal(wins.data, stored)


def test_a_win_matrix_and_its_single_wins_have_one_fit():
    """A win of weight w is w wins."""
    wins = np.array([[0, 3, 1], [1, 0, 2], [2, 4, 0]])
    single = [(i, j) for i in range(3) for j in range(3) for _ in range(wins[i, j])]
    fits = [
        rb.RankSVM(lam=0.1, kernel="linear", loss="logistic").fit(np.eye(3), prefs).coef_
        for prefs in (
            rb.Preferences.from_wins(wins),
            rb.Preferences(*np.transpose(single), n_items=3),
        )
    ]
    assert np.allclose(*fits, atol=1e-8)


@pytest.mark.parametrize(
    "wins, said",
    [
        (np.zeros((2, 3)), r"^wins has shape \(2, 3\). Pass a square matrix"),
        (np.zeros((2, 2)), r"^wins has no positive entry. Pass"),
        ([[0, -1], [2, 0]], r"^wins is -1 for 0 against 1. Pass"),
        ([[0, np.nan], [2, 0]], r"^wins is missing for 0 against 1. Pass .*fillna"),
        ([[1, 1], [2, 0]], r"^wins is 1 for 0 against itself. Pass 0"),
        (csr_array([[1, 1], [2, 0]]), r"^wins is 1 for 0 against itself. Pass 0"),
        (FRAME.drop(columns="a"), r"^wins has no column for 'a'. Pass .*reindex"),
        (FRAME.drop(index="a"), r"^wins has no row for 'a'. Pass .*reindex"),
        (FRAME.set_axis(["d", "d", "c", "b"]), r"^wins has two rows named 'd'. Pass"),
        (FRAME.replace(3, -3), r"^wins is -3 for 'd' against 'a'. Pass"),
        (FRAME.astype(str), r"^wins cannot be read as numbers"),
        (dict(a=[0, 1], b=[1, 0]), r"^wins is a dict. Pass"),
        (None, r"^wins is None. Pass"),
    ],
)
def test_what_is_no_win_matrix(wins, said):
    with pytest.raises(ValueError, match=said):
        rb.Preferences.from_wins(wins)


def test_names_of_another_number():
    with pytest.raises(ValueError, match=r"^items has 3 names. Pass 4 names"):
        rb.Preferences.from_wins(WINS, items=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"^items is 'rows'. Pass a sequence"):
        rb.Preferences.from_wins(WINS, items="rows")
    with pytest.raises(ValueError, match=r"^wins is 'c' in row 2, which is not among"):
        rb.Preferences.from_wins(FRAME, items=["a", "b", "d", "e"])


def counts(**columns):
    table = dict(
        left=["a", "b", "a", "c"],
        right=["b", "a", "c", "d"],
        won=[5, 1, 0, 0],
        lost=[2, 0, 3, 0],
        even=[0, 4, 0, 0],
    )
    return pd.DataFrame(table | columns)


NAMED = dict(first="left", second="right", wins_first="won", wins_second="lost")


@pytest.mark.parametrize("ties", ["drop", "half"])
def test_counts_of_wins_are_weights(ties):
    prefs = rb.Preferences.from_counts(counts(), **NAMED, tie="even", ties=ties)
    half = 2 if ties == "half" else 0
    assert total(prefs) == {("a", "b"): 5 + half, ("b", "a"): 2 + 1 + half, ("c", "a"): 3}
    assert prefs.items == ("a", "b", "c", "d") and prefs.n_ties == 1
    assert tie_halves(prefs).sum() == (ties == "half")


def test_counts_without_ties_and_between_rows():
    table = counts().drop(columns="even")
    prefs = rb.Preferences.from_counts(table, **NAMED, items=["d", "c", "b", "a"])
    assert total(prefs) == {("a", "b"): 5, ("b", "a"): 3, ("c", "a"): 3}
    assert prefs.items == ("d", "c", "b", "a")
    table = dict(first=[2, 0], second=[1, 2], wins_first=[1.5, 0], wins_second=[0, 2])
    for items, names in (("rows", None), (None, (2, 1, 0)), (range(4), None)):
        numbered = rb.Preferences.from_counts(table, items=items)
        assert numbered.items == names and total(numbered) == {(2, 1): 1.5, (2, 0): 2}


@pytest.mark.parametrize(
    "table, more, said",
    [
        (counts(), dict(tie="even"), r"^ties is 'refuse', and row 1 has 4 ties"),
        (counts(right=["b", "a", "c", "c"]), {}, r"^first and second are both 'c' in row 3"),
        (counts(won=[1, 2, -3, 4]), {}, r"^wins_first has -3.0 at index 2. Pass"),
        (counts(lost=[1, 2, np.nan, 4]), {}, r"^wins_second has NaN at index 2. Pass"),
        (counts(won=0, lost=0), {}, r"^wins_first and wins_second are 0 in every row. Pass"),
        (counts()[:0], {}, r"^table has no row. Pass"),
        (counts(), dict(wins_first="wins"), r"^wins_first is 'wins', and the table has"),
        ([("a", "b", 1, 2)], {}, r"^counts is a list. Pass"),
    ],
)
def test_what_is_no_table_of_counts(table, more, said):
    with pytest.raises(ValueError, match=said):
        rb.Preferences.from_counts(table, **(NAMED | more))


ORDERS, WEIGHT = [["a", "b", "c"], ["c", ["a", "b"]], ["b", "a"], ["d", "a"]], [3, 2.0, 1.5, 0]


def long_table():
    rows = [
        (name, place, who, WEIGHT[who])
        for who, order in enumerate(ORDERS)
        for place, group in enumerate(order)
        for name in (group if isinstance(group, list) else [group])
    ]
    return pd.DataFrame(rows, columns=["item", "rank", "ranking", "votes"])


def test_the_weight_of_an_order_is_that_of_its_pairs():
    expected = {("a", "b"): 3, ("a", "c"): 3, ("b", "c"): 3} | {("c", "a"): 2, ("c", "b"): 2}
    expected[("b", "a")] = 1.5
    table = long_table()
    mixed = table.sample(frac=1, random_state=1)
    for orders, weight in ((ORDERS, WEIGHT), (table, WEIGHT), (table, "votes"), (mixed, "votes")):
        prefs = rb.Preferences.from_rankings(orders, weight=weight)
        assert total(prefs) == expected and set(prefs.items) == set("abcd")
        assert prefs.n_ties == 1 and prefs.n_queries == 4
    assert not tie_halves(rb.Preferences.from_rankings(ORDERS, weight=[1.0] * 4)).any()


def test_opposite_orders_are_no_tie():
    """Pairs of equal weight in either direction, beside as many ties."""
    prefs = rb.Preferences.from_rankings(
        [["a", "b"], ["b", "a"], ["a", ["b", "c"]]], weight=[2] * 3
    )
    assert prefs.n_ties == 1 and not tie_halves(prefs).any()


def test_a_counted_order_is_that_many_orders():
    kept = ORDERS[:3]
    many = [order for order, w in zip(kept, (3, 2, 1)) for _ in range(w)]
    few = rb.Orders.from_rankings(kept, weight=[3, 2, 1])
    assert len(few) == 2 + 3 + 1 and few.weight.sum() == 13 == len(rb.Orders.from_rankings(many))
    table = long_table().query("ranking < 3").replace(1.5, 1.0)
    X = np.eye(3)
    fits = [
        rb.RankSVM(lam=0.1, kernel="linear", loss="plackett-luce").fit(X, each).coef_
        for each in (few, rb.Orders.from_rankings(table, weight="votes"))
        + (rb.Orders.from_rankings(many),)
    ]
    assert np.allclose(fits[0], fits[1], atol=1e-10) and np.allclose(fits[0], fits[2], atol=1e-7)


@pytest.mark.parametrize("kind", [rb.Preferences, rb.Orders])
def test_wrong_weights_of_orders(kind):
    table = long_table()
    table.loc[2, "votes"] = 4
    with pytest.raises(
        ValueError, match=r"^weight is 3 in row 0 and 4 in row 2 of ranking 0. Pass"
    ):
        kind.from_rankings(table, weight="votes")
    with pytest.raises(
        ValueError, match=r"^weight has shape \(2,\). Pass an array of shape \(4,\)"
    ):
        kind.from_rankings(ORDERS, weight=[1, 2])
    with pytest.raises(ValueError, match=r"^weight has -1.0 at index 1. Pass"):
        kind.from_rankings(ORDERS, weight=[1, -1, 1, 1])
    with pytest.raises(ValueError, match=r"^weight is 'count', and the table has the columns"):
        kind.from_rankings(table, weight="count")


def test_every_order_of_weight_zero():
    with pytest.raises(ValueError, match="^weight is 0 for every order. Pass"):
        rb.Preferences.from_rankings(ORDERS, weight=[0] * 4)
