"""Preferences from pairs, orders, clicks and matches, against plain loops over the records."""

import os
import subprocess
import sys
from collections import Counter
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbook as rb
from rankbook.preferences.events import RULES, ids_of_preferences, tie_halves

NAMES = list("abcdefg")


def counted(prefs):
    """The total weight of each (better, worse, margin), by names."""
    names = range(prefs.n_items) if prefs.items is None else prefs.items
    total = Counter()
    for k, l, c, delta in zip(prefs.better, prefs.worse, prefs.weight, prefs.margin):
        total[names[k], names[l], float(delta)] += float(c)
    return total


def records(m, seed=0):
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(NAMES, 2, replace=False) for _ in range(m)]
    return pd.DataFrame(
        dict(
            winner=[str(a) for a, _ in pairs],
            loser=[str(b) for _, b in pairs],
            votes=rng.integers(1, 5, m),
            ahead=rng.integers(-2, 4, m),
            drawn=rng.random(m) < 0.3,
        )
    )


class Polars:
    """A frame with nothing but names of columns and columns."""

    def __init__(self, frame):
        self.columns = list(frame.columns)
        self.found = {name: frame[name].to_numpy() for name in self.columns}

    def __getitem__(self, name):
        return self.found[name]


@pytest.mark.parametrize("ties", ["drop", "half"])
def test_pairs_with_weights_margins_and_ties(ties):
    frame, expected = records(40), Counter()
    options = dict(weight="votes", margin="ahead", tie="drawn", ties=ties)
    for row in frame.itertuples():
        if not row.drawn:
            expected[row.winner, row.loser, float(row.ahead)] += row.votes
        elif ties == "half":
            expected[row.winner, row.loser, float(row.ahead)] += row.votes / 2
            expected[row.loser, row.winner, float(row.ahead)] += row.votes / 2
    for items in (None, NAMES[::-1], pd.Index([*NAMES, "z"]), np.array(NAMES)):
        prefs = rb.Preferences.from_pairs(frame, items=items, **options)
        assert counted(prefs) == expected == counted(prefs.merged())
        assert prefs.n_ties == frame.drawn.sum() == prefs.merged().n_ties
        assert items is None or prefs.items == tuple(items)
        assert len(prefs.merged()) == len(expected)


def test_tables_of_any_kind_give_the_same():
    frame = records(12)
    expected = counted(rb.Preferences.from_pairs(frame, weight="votes"))
    tables = [
        {name: frame[name].tolist() for name in frame},
        Polars(frame),
        frame.set_index(frame.votes + 100),
        frame.astype({"winner": "category"}),
        frame.astype({"winner": object, "loser": object}),
    ]
    pyarrow = pytest.importorskip("pyarrow")
    tables.append(pyarrow.Table.from_pandas(frame))
    for table in tables:
        assert counted(rb.Preferences.from_pairs(table, weight="votes")) == expected
    pairs = list(zip(frame.winner, frame.loser))
    for same in (pairs, np.array(pairs), iter(pairs), [list(pair) for pair in pairs]):
        assert counted(rb.Preferences.from_pairs(same, weight=frame.votes)) == expected


def test_row_numbers_need_no_names():
    prefs = rb.Preferences.from_pairs([(3, 1), (0, 2)])
    assert prefs.n_items == 4 and prefs.items is None and prefs.better.tolist() == [3, 0]
    named = rb.Preferences.from_pairs([(30, 10)], items=[10, 20, 30])
    assert named.better.tolist() == [2] and named.worse.tolist() == [0] and named.n_items == 3
    assert rb.Preferences.from_pairs([(0, 2)], items=pd.RangeIndex(5)).items is None
    floats = pd.DataFrame(dict(winner=[3.0], loser=[1.0]))
    assert rb.Preferences.from_pairs(floats, items=[1, 3]).better.tolist() == [1]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_names_are_refused(missing):
    frame = pd.DataFrame(dict(winner=["a", "b"], loser=["b", missing]), dtype=object)
    for items in (None, ["a", "b"], ["a", "b", missing]):
        with pytest.raises(ValueError, match="missing name|loser is .* in row 1"):
            rb.Preferences.from_pairs(frame, items=items)


def test_orders_with_groups():
    orders = [["a", ["b", "c"], "d"], [("d", "a")], ["e"], [], [{"b"}, "a"]]
    expected = Counter()
    for order in orders:
        places = [part if isinstance(part, list | tuple | set) else [part] for part in order]
        for i, upper in enumerate(places):
            for lower in places[i + 1 :]:
                expected.update({(k, l, 1.0): 1.0 for k in upper for l in lower})
    prefs = rb.Preferences.from_rankings(orders)
    assert counted(prefs) == expected and prefs.n_ties == 2 and prefs.n_queries == 5
    assert prefs.items == ("a", "b", "c", "d", "e")
    again = rb.Preferences.from_rankings(orders, items=NAMES)
    assert counted(again) == expected and again.n_items == 7
    rows = [[0, [1, 2], 3], [(3, 0)], [4], [], [{1}, 0]]
    plain = rb.Preferences.from_rankings(rows)
    assert np.array_equal(plain.better, prefs.better) and plain.items is None
    assert np.array_equal(rb.Preferences.from_rankings(np.array([[2, 0, 1]])).worse, [0, 1, 1])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(NAMES), st.integers(1, 4)), unique_by=lambda p: p[0]),
        min_size=1,
        max_size=6,
    ).filter(any),
    st.randoms(),
)
def test_orders_in_a_table(orders, random):
    rows = [(f"r{i}", item, rank) for i, order in enumerate(orders) for item, rank in order]
    random.shuffle(rows)
    expected, ties = Counter(), 0
    for order in orders:
        for k, upper in order:
            expected.update({(k, l, 1.0): 1.0 for l, lower in order if upper < lower})
            ties += sum(l != k and upper == lower for l, lower in order)
    frame = pd.DataFrame(rows, columns=["who", "item", "rank"])
    prefs = rb.Preferences.from_rankings(frame, items=NAMES, ranking="who")
    assert counted(prefs) == expected and 2 * prefs.n_ties == ties
    assert prefs.n_queries == sum(map(bool, orders)) and prefs.n_items == len(NAMES)
    number = frame.assign(item=frame.item.map(NAMES.index))
    same = rb.Preferences.from_rankings(number, n_items=len(NAMES), ranking=frame.who)
    assert same.items is None and np.array_equal(same.better, prefs.better)
    columns = {"ranking": frame.who.tolist(), "item": frame.item.tolist(), "rank": frame["rank"]}
    assert counted(rb.Preferences.from_rankings(columns)) == expected


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), unique_by=lambda p: p[0]),
        min_size=1,
        max_size=6,
    ).filter(any),
    st.randoms(),
)
def test_clicks_by_each_rule(sessions, random):
    rows = [
        (f"s{s}", item, place * 1.5, click)
        for s, shown in enumerate(sessions)
        for place, (item, click) in enumerate(shown)
    ]
    random.shuffle(rows)
    log = pd.DataFrame(rows, columns=["session", "item", "rank", "click"])
    expected = {rule: Counter() for rule in RULES}
    for shown in sessions:
        clicks = [place for place, (_, click) in enumerate(shown) if click]
        for i in clicks:
            for j, (other, click) in enumerate(shown):
                key = (shown[i][0], other, 1.0)
                if i != j:
                    expected["all-others"][key] += 1.0
                if not click and j < i:
                    expected["skip-above"][key] += 1.0
                    expected["last-click"][key] += float(i == clicks[-1])
                if not click and j == i + 1:
                    expected["skip-next"][key] += 1.0
    for rule, total in expected.items():
        prefs = rb.Preferences.from_clicks(log, rule=rule)
        assert counted(prefs) == +total
        assert sorted(prefs.items) == sorted(set(log.item))
        assert len(prefs) == len(+total)
    assert counted(rb.Preferences.from_clicks(log)) == +expected["all-others"]


def test_a_log_without_a_skip_has_no_preference():
    log = dict(session=[1, 1], item=["a", "b"], rank=[1, 2], click=[True, True])
    prefs = rb.Preferences.from_clicks(log, rule="skip-above", items=["b", "a", "c"])
    assert len(prefs) == 0 and prefs.n_items == 3


def test_a_column_of_ties_overrules_goals():
    matches = dict(home=["a", "b"], away=["b", "c"], hg=[3, 1], ag=[1, 2], drawn=[True, False])
    prefs = rb.Preferences.from_matches(matches, result=("hg", "ag"), tie="drawn", ties="half")
    assert prefs.n_ties == 1
    assert counted(prefs) == {("a", "b", 1.0): 0.5, ("b", "a", 1.0): 0.5, ("c", "b", 1.0): 1.0}


@pytest.mark.parametrize("ties", ["drop", "half"])
@pytest.mark.parametrize("margin", ["one", "difference"])
def test_matches_by_letters_differences_and_goals(ties, margin):
    frame = records(50, seed=1).rename(columns=dict(winner="home", loser="away"))
    frame["hg"] = 3
    frame["ag"] = 3 - frame.ahead
    frame["letter"] = np.array(["A", "D", "H"])[np.sign(frame.ahead) + 1]
    expected = Counter()
    for row in frame.itertuples():
        delta = 1.0 if margin == "one" else float(abs(row.ahead))
        sides = (row.home, row.away) if row.ahead > 0 else (row.away, row.home)
        if row.ahead:
            expected[*sides, delta] += row.votes
        elif ties == "half":
            expected[*sides, delta] += row.votes / 2
            expected[*sides[::-1], delta] += row.votes / 2
    results = ["ahead", ("hg", "ag"), ["hg", "ag"], frame.ahead.to_numpy()]
    for result in results + ["letter"] * (margin == "one"):
        prefs = rb.Preferences.from_matches(
            frame, result=result, margin=margin, weight="votes", ties=ties, items=NAMES
        )
        assert counted(prefs) == expected and prefs.n_ties == (frame.ahead == 0).sum()


def test_merged_preferences_pose_the_same_problem():
    frame, X = records(60, seed=2), np.random.default_rng(0).normal(size=(7, 2))
    prefs = rb.Preferences.from_pairs(frame, weight="votes", tie="drawn", ties="half", items=NAMES)
    one, other = (
        rb.solve(rb.RankSVMProblem(X, each, kernel="linear"), 1.0, "qp").certificate.primal
        for each in (prefs, prefs.merged())
    )
    assert len(prefs.merged()) < len(prefs) and np.isclose(one, other, rtol=1e-8)


def test_names_of_two_levels_are_tuples():
    levels = pd.MultiIndex.from_tuples([("b", 0), ("a", 1), ("a", 2)])
    frame = pd.DataFrame(dict(winner=[("a", 1), ("a", 2)], loser=[("b", 0), ("a", 1)]))
    for items in (levels, list(levels), tuple(levels), [("b", 0), ("a", 1), ("a", 2)]):
        prefs = rb.Preferences.from_pairs(frame, items=items)
        assert prefs.items == tuple(levels) and prefs.better.tolist() == [1, 2]
    X = pd.DataFrame(dict(x=[0.0, 1.0, 2.0]), index=levels)
    model = rb.RankSVM(kernel="linear").fit(X, preferences=frame)
    assert model.coef_[0] > 0
    uneven = [("a",), ("a", 1)]
    again = rb.Preferences.from_pairs([uneven], items=uneven)
    assert again.items == tuple(uneven)


def test_flags_and_goals_of_numpy_in_columns_of_objects():
    def column(*values):
        out = np.empty(len(values), dtype=object)
        out[:] = values
        return out

    log = dict(session=[1, 1], item=["a", "b"], rank=[1, 2])
    for flags in ((np.int64(0), np.int64(1)), (np.False_, np.True_), (0.0, 1.0)):
        prefs = rb.Preferences.from_clicks(log | dict(click=column(*flags)))
        assert counted(prefs) == {("b", "a", 1.0): 1.0}
    games = dict(home=["a", "b"], away=["b", "c"], result=column(2, np.int64(-1)))
    prefs = rb.Preferences.from_matches(games, margin="difference")
    assert counted(prefs) == {("a", "b", 2.0): 1.0, ("c", "b", 1.0): 1.0}


def test_a_set_has_one_order_in_every_process():
    call = "import rankbook as rb; print(rb.Preferences.from_rankings([['a', set('bcdef')]]).items)"
    for seed in ("1", "2"):
        run = [sys.executable, "-c", call]
        environment = os.environ | dict(PYTHONHASHSEED=seed)
        found = subprocess.run(run, capture_output=True, text=True, env=environment, check=True)
        assert found.stdout.strip() == str(tuple("abcdef"))


@pytest.mark.parametrize("what", ["pairs", "orders", "log", "matches"])
def test_a_table_without_values_is_refused(what):
    polars = pytest.importorskip("polars")
    make = dict(pairs="from_pairs", orders="from_rankings", log="from_clicks")
    method = getattr(rb.Preferences, make.get(what, "from_matches"))
    with pytest.raises(
        TypeError, match=rf"^{what} is a LazyFrame.* Pass the DataFrame that .collect"
    ):
        method(polars.DataFrame(dict(winner=[1], loser=[0])).lazy())


@pytest.mark.parametrize(
    ("make", "records", "kind", "said"),
    [
        ("from_pairs", [{"a", "b"}], ValueError, "^pairs has {.* in row 0"),
        ("from_pairs", [("a", ["b"])], TypeError, r"^loser is \['b'\] in row 0"),
        ("from_rankings", [["a"], ["b", None]], ValueError, r"^orders\[1\] is None in place 1"),
        ("from_rankings", [["a", ["b", ["c"]]]], TypeError, r"^orders\[0\] is \['c'\] in place 2"),
    ],
)
def test_names_that_are_none(make, records, kind, said):
    with pytest.raises(kind, match=said + ".* Pass"):
        getattr(rb.Preferences, make)(records)


def test_a_wrong_argument_is_reported_under_the_name_of_the_public_class():
    with pytest.raises(TypeError, match=r"^Preferences\.from_pairs\(\) got an unexpected"):
        rb.Preferences.from_pairs([(0, 1)], winners="a")


@pytest.mark.parametrize("left, right", [("model_a", "model_b"), ("A", "B"), ("home", "away")])
def test_the_winner_may_be_the_name_of_its_column(left, right):
    votes = {left: ["x", "y", "x"], right: ["y", "z", "z"], "winner": [left, right, "tie"]}
    given = dict(home=left, away=right, ties="half", items=["x", "y", "z"])
    prefs = rb.Preferences.from_matches(votes, result="winner", **given)
    by_letters = rb.Preferences.from_matches(votes, result=np.array(["H", "A", "D"]), **given)
    assert prefs.better.tolist() == [0, 2, 0, 2] and prefs.n_ties == 1
    if left != "A":
        assert np.array_equal(prefs.better, by_letters.better)


@pytest.mark.parametrize("advantage", [False, True])
def test_halves_of_ties_among_wins_that_look_alike(advantage):
    """Wins of the same two items in opposite directions follow each other often."""
    rng = np.random.default_rng(0)
    k = rng.integers(0, 3, 400)
    frame = pd.DataFrame(dict(home=k, away=(k + rng.integers(1, 3, 400)) % 3))
    frame["result"] = rng.choice(["H", "D", "A"], 400)
    prefs = rb.Preferences.from_matches(frame, ties="half", home_advantage=advantage)
    tie = (frame.result == "D").to_numpy()
    row = np.repeat(np.arange(400), 1 + tie)
    second = np.r_[False, row[1:] == row[:-1]]
    assert np.array_equal(tie_halves(prefs), second) and second.sum() == tie.sum()
    judge = rng.integers(0, 9, 400)
    found, number = ids_of_preferences("unit", judge, prefs)
    assert np.array_equal(found[number], judge[row])
    found, number = ids_of_preferences("unit", judge[row], prefs)
    assert np.array_equal(found[number], judge[row])
    with pytest.raises(ValueError, match=rf"unit has shape \(3,\).*{len(row)},.*400,"):
        ids_of_preferences("unit", [1, 2, 3], prefs)
    dropped = rb.Preferences.from_matches(frame, ties="drop", home_advantage=advantage)
    assert not tie_halves(dropped).any() and not tie_halves(prefs.merged()).any()


def test_rows_keep_the_halves_of_their_ties():
    prefs = rb.Preferences.from_matches(
        dict(home=list("aabc"), away=list("bccd"), result=list("DDHD")), ties="half"
    )
    part = prefs[[0, 1, 2]]
    assert prefs.n_ties == 3 and part.n_ties == 2
    assert tie_halves(part).sum() == 2 and not tie_halves(prefs[[1, 2]]).any()


VOTES = pd.DataFrame(dict(winner=list("abc"), loser=list("bca"), tie=[0, 0, 1]))


def test_a_column_tie_marks_ties_without_being_named():
    with pytest.raises(ValueError, match="ties is 'refuse', and row 2 is a tie"):
        rb.Preferences.from_pairs(VOTES)
    half = rb.Preferences.from_pairs(VOTES, ties="half")
    named = rb.Preferences.from_pairs(VOTES, tie="tie", ties="half")
    assert half.weight.tolist() == named.weight.tolist() == [1.0, 1.0, 0.5, 0.5]
    assert half.n_ties == 1 and len(rb.Preferences.from_pairs(VOTES, tie=[0, 0, 0])) == 3
    games = VOTES.rename(columns=dict(winner="home", loser="away")).assign(result=["H", "A", "H"])
    with pytest.raises(ValueError, match="ties is 'refuse', and row 2 is a tie"):
        rb.Preferences.from_matches(games)
    assert rb.Preferences.from_matches(games.assign(tie=0)).better.tolist() == [0, 2, 2]
    scores = pd.Series([1.0, 2.0, 3.0], list("abc"))
    with pytest.raises(ValueError, match="y_true has a tie in row 2. .*ties='half', items=y_score"):
        rb.disagreement(VOTES, scores)
    assert rb.disagreement(VOTES[:2], scores) == 1.0


GAMES = pd.DataFrame(dict(home=list("abc"), away=list("bca"), first=[1, 0, 0], second=[0, 1, 1]))
COUNTS = pd.DataFrame(
    dict(first=list("abc"), second=list("bca"), wins_first=[3, 1, 2], wins_second=[1, 1, 1])
)
LONG = pd.DataFrame(dict(ranking=[1, 1, 1], item=list("abc"), rank=[1, 2, 3]))
LOG = pd.DataFrame(
    dict(session=[1, 1, 2, 2], item=list("abba"), rank=[1, 2, 1, 2], click=[1, 0, 0, 1])
)
READERS = {
    "from_pairs": (
        rb.Preferences.from_pairs,
        VOTES[:2],
        dict(weight=[1.0, 2.0], margin=[1.0, 2.0]),
    ),
    "from_pairs of winners": (rb.Preferences.from_pairs, VOTES[:2], dict(winner=["a", "a"])),
    "features of pairs": (rb.Preferences.from_pairs, VOTES[:2], dict(pair_features=[1.0, 2.0])),
    "ties": (rb.Preferences.from_pairs, VOTES[:2], dict(tie=[False, False])),
    "from_matches": (
        rb.Preferences.from_matches,
        GAMES,
        dict(result=["H", "A", "H"], weight=[1.0, 2.0, 3.0]),
    ),
    "from_counts": (
        rb.Preferences.from_counts,
        COUNTS,
        dict(wins_first=[3, 1, 2], wins_second=[1, 1, 1]),
    ),
    "from_rankings": (rb.Preferences.from_rankings, LONG, dict(rank=[3, 2, 1])),
    "from_clicks": (
        rb.Preferences.from_clicks,
        LOG,
        dict(click=[1, 0, 0, 1], propensity=[1.0, 0.5, 1.0, 0.5]),
    ),
    "click_propensities": (rb.click_propensities, LOG, dict(click=[1, 1, 1, 1])),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", READERS)
def test_series_beside_a_table_have_its_index(name):
    read, table, given = READERS[name]
    index = [f"row {i}" for i in range(len(table))]
    for known in (table.reset_index(drop=True), table.set_axis(index)):
        series = {key: pd.Series(value, known.index) for key, value in given.items()}
        expected, found = read(known, **given), read(known, **series)
        if isinstance(found, rb.Preferences):
            assert found.weight.tolist() == expected.weight.tolist()
            assert found.better.tolist() == expected.better.tolist()
        columns = {key: known[key] for key in known}
        for key, value in series.items():
            moved = series | {key: value[::-1]}
            for each in (known, columns):
                with pytest.raises(ValueError, match=f"{key} has the index of table in another"):
                    read(each, **moved)
            read(known, **moved | {key: value[::-1].to_numpy()})
        with pytest.raises(ValueError, match="in another order"):
            read(columns | {next(iter(known)): known.iloc[::-1, 0]}, **series)


def test_names_that_are_whole_floats_in_plain_lists():
    scores = pd.Series([3.0, 2.0, 1.0], [1.0, 2.0, 3.0])
    assert rb.disagreement([(1.0, 2.0), (2.0, 3.0)], scores) == 0.0
    assert rb.disagreement(np.array([(2.0, 1.0), (2.0, 3.0)]), scores) == 0.5
    assert rb.metrics.pair_accuracy([(1.0, 2.0), (3.0, 2.0)], scores) == 0.5
    with pytest.raises(ValueError, match="y_true is 1.5 in row 0. Pass a name|winner is 1.5"):
        rb.disagreement([(1.5, 2.5)], scores)
    with pytest.raises(ValueError, match=r"y_true has shape \(2, 2\)"):
        rb.disagreement([(1.0, 2.0), (2.0, 3.0)], [1.0, 2.0])


NO_IDS = [[1.5, 1.5, 2, 2], [True, True, False, False], [1, "a", 0.5, 1], [1j, 1j, 2, 2]]
NO_IDS += [[Decimal(1)] * 2 + [Decimal(text)] * 2 for text in ("1.5", "NaN", "Infinity")]


@pytest.mark.parametrize("qid", NO_IDS)
def test_query_ids_are_whole_numbers_or_text(qid):
    y, X = [0, 1, 0, 1], np.arange(4.0)[:, None]
    qid = np.array(qid, dtype=object if "a" in qid else None)
    calls = [
        lambda: rb.Preferences.from_scores(y, qid),
        lambda: rb.RankSVM(kernel="linear").fit(X, y, qid),
        lambda: rb.Block(X, y, qid),
        lambda: rb.metrics.ndcg(y, y, qid),
        lambda: rb.RankRLSProblem(X, y, qid),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="qid has .* at index .. Pass ids as whole numbers"):
            call()
    dates = pd.to_datetime(["2026-01-01", "2026-01-02"]).repeat(2)
    for ids in (np.array([1.0, 1.0, 2.0, 2.0]), [Decimal(1)] * 2 + [Decimal("1E100")] * 2, dates):
        assert len(rb.Preferences.from_scores(y, ids)) == 2
