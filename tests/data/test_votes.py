"""Votes of files and tables: names by their distinct cells, ties, and groups."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankbook as rb
from rankbook.data.records import read_records
from rankbook.data.table import FrameSource

pytestmark = pytest.mark.filterwarnings("ignore:.*differ only by case", "ignore:.*are the items")

FORMS = {
    "pairs": dict(ties="half"),
    "matches": dict(ties="drop", pair_features=["x"]),
    "clicks": dict(rule="skip-above"),
    "rankings": {},
}


def table(form, seed=0, m=60):
    """Return random records of a form, with gaps in no column, and a column judge."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 7, m)
    second = (first + rng.integers(1, 7, m)) % 7
    name = np.array(["007", "7", "tea", "Tea", "NA", "x y", "-1"])
    frame = pd.DataFrame(dict(judge=np.array(["u", "v", "w"])[rng.integers(0, 3, m)]))
    if form == "pairs":
        frame = frame.assign(winner=name[first], loser=name[second], tie=rng.random(m) < 0.3)
    elif form == "matches":
        frame = frame.assign(model_a=name[first], model_b=name[second], x=rng.normal(size=m))
        frame["winner"] = np.array(["model_a", "model_b", "tie", "both_bad"])[rng.integers(0, 4, m)]
    else:
        role = "session" if form == "clicks" else "ranking"
        units = np.repeat(np.arange(m // 4), 4)
        frame = frame.assign(**{role: units}, rank=np.tile(np.arange(1, 5), m // 4))
        frame["item"] = np.concatenate([rng.permutation(name)[:4] for _ in range(m // 4)])
        frame["judge"] = frame.judge.to_numpy()[units]
        if form == "clicks":
            frame["click"] = rng.random(m) < 0.4
    return frame


def weights(prefs, rows=slice(None)):
    """Return the weight of each pair of names, with the features of the pair."""
    found = {}
    features = np.zeros((len(prefs), 0)) if prefs.pair_features is None else prefs.pair_features
    parts = (prefs.better, prefs.worse, prefs.weight, features)
    for k, l, c, z in zip(*(part[rows] for part in parts)):
        key = prefs.items[k], prefs.items[l], *z.tolist()
        found[key] = found.get(key, 0) + c
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_group_has_the_preferences_of_its_rows(form, kind, tmp_path):
    frame = table(form)
    for name, part in [("all", frame), *frame.groupby("judge")]:
        write = part.to_csv if kind == "csv" else part.to_parquet
        write(tmp_path / f"{name}.{kind}", index=False)
    options = None, FORMS[form], ["judge"]
    records = read_records(rb.Preferences, tmp_path / f"all.{kind}", *options)
    prefs, group = records.make_grouped("judge")
    assert group.shape == (len(prefs),) and weights(prefs) == weights(records.make())
    for number, judge in enumerate(frame.judge.unique()):
        alone = read_records(rb.Preferences, tmp_path / f"{judge}.{kind}", *options).make()
        assert weights(prefs, group == number) == weights(alone)


def test_many_groups_cost_no_more_than_few(tmp_path):
    frame = table("matches", m=3000).assign(judge=np.arange(3000).astype(str))
    frame.to_parquet(file := tmp_path / "t.parquet")
    records = read_records(None, file, None, dict(ties="half"), ["judge"])
    prefs, group = records.make_grouped("judge")
    tie = frame.winner.isin(["tie", "both_bad"]).to_numpy()
    assert group.tolist() == np.repeat(np.arange(3000), 1 + tie).tolist()
    assert len(prefs) == 3000 + tie.sum()


def test_a_session_of_two_groups_is_refused():
    log = table("clicks")
    log.loc[5, "judge"] = "another"
    records = read_records(None, FrameSource(log), None, {}, ["judge"])
    with pytest.raises(ValueError, match="which has two values in the session 1 of the table"):
        records.make_grouped("judge")


def test_a_tie_is_one_vote():
    frame = table("matches")
    records = read_records(None, FrameSource(frame), None, dict(pair_features="x"))
    votes = records.votes()
    name = np.array(votes["items"])
    assert name[votes["first"]].tolist() == frame.model_a.tolist()
    assert name[votes["second"]].tolist() == frame.model_b.tolist()
    points = frame.winner.map(dict(model_a=1, model_b=0, tie=0.5, both_bad=0.5))
    assert votes["points"].tolist() == points.tolist() and votes["row"].tolist() == list(range(60))
    assert votes["features"].ravel().tolist() == frame.x.tolist() and votes["weight"] is None


def test_counts_are_votes_with_weights():
    counts = dict(first=["a", "b"], second=["b", "c"], wins_first=[2, 0], wins_second=[1, 3])
    votes = read_records(None, FrameSource(counts | dict(tie=[4, 0])), None, {}).votes()
    assert votes["items"] == ("a", "b", "c") and votes["features"] is None
    columns = (votes[key].tolist() for key in ("first", "second", "points", "weight", "row"))
    known = [(0, 1, 1, 2, 0), (0, 1, 0, 1, 0), (0, 1, 0.5, 4, 0), (1, 2, 0, 3, 1)]
    assert list(zip(*columns)) == known


def test_orders_have_no_votes():
    records = read_records(None, FrameSource(table("rankings")), None, {})
    with pytest.raises(ValueError, match="the table has the form 'rankings'"):
        records.votes()


@pytest.mark.parametrize("form", [*FORMS])
def test_tables_in_memory_are_read_like_files(form, tmp_path):
    frame = table(form)
    frame.to_parquet(file := tmp_path / "t.parquet")
    whole = read_records(None, file, None, FORMS[form], ["judge"]).make()
    moved = frame.set_axis(frame.index[::-1])
    kinds = [moved, moved.astype(object), frame.astype(dict(judge="category"))]
    kinds += [pl.from_pandas(frame), frame.to_dict("list"), pl.from_pandas(frame).to_arrow()]
    for one in kinds:
        found = read_records(None, FrameSource(one), None, FORMS[form], ["judge"]).make()
        if form == "rankings":
            assert found.item.tolist() == whole.item.tolist() and found.items == whole.items
        else:
            assert weights(found) == weights(whole) and found.items == whole.items


@pytest.mark.parametrize("dtype", ["str", "string", "category", object])
def test_names_are_numbered_and_refused_alike_in_every_type_of_text(dtype):
    text = pd.DataFrame(dict(winner=["c", "a", "b", "c"], loser=["a", "b", "c", "b"]))
    typed = text.astype(dtype)
    plain = rb.Preferences.from_pairs(text.to_dict("list"))
    assert plain.items == ("c", "a", "b")
    for how in ({}, dict(items=["b", "c", "a", "d"])):
        found = rb.Preferences.from_pairs(typed, **how)
        known = rb.Preferences.from_pairs(text.to_dict("list"), **how)
        assert found.items == known.items and found.better.tolist() == known.better.tolist()
    assert rb.Preferences.from_pairs(typed.iloc[1:2]).items == ("a", "b")
    beside = typed.assign(loser=[10, 11, 12, 13])
    assert rb.Preferences.from_pairs(beside).items == ("c", "10", "a", "11", "b", "12", "13")
    for frame, how, said in (
        (typed.assign(loser=typed.winner), {}, "winner and loser are both 'c' in row 0"),
        (typed.assign(loser=typed.loser.where(typed.loser != "c")), {}, "loser is .* in row 2"),
        (typed, dict(items=["a", "b"]), "winner is 'c' in row 0, which is not among the 2 items"),
    ):
        with pytest.raises(ValueError, match=said):
            rb.Preferences.from_pairs(frame, **how)
    matches = typed.rename(columns=dict(winner="home", loser="away")).assign(result=typed.winner)
    assert rb.Preferences.from_matches(matches).better.tolist() == plain.better.tolist()
    matches["result"] = typed.winner.where(typed.winner != "b")
    with pytest.raises(ValueError, match="result is missing in row 2"):
        rb.Preferences.from_matches(matches)


def test_categories_of_numbers_are_numbers():
    frame = pd.DataFrame(dict(winner=[30, 10], loser=[10, 20])).astype("category")
    assert rb.Preferences.from_pairs(frame).items == (30, 10, 20)


def test_empty_and_unnamed_columns_of_parquet(tmp_path):
    frame = pd.DataFrame({"winner": ["a", ""], "loser": ["b", "c"], "model.x": ["u", "v"]})
    frame.to_parquet(file := tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="t.parquet: winner is empty in row 1"):
        rb.read_preferences(file)
    assert rb.read_preferences(file, winner="model.x").items == ("u", "b", "v", "c")
    frame.set_index("winner").iloc[:1].to_parquet(file)
    assert rb.read_preferences(file).items == ("a", "b")


def test_tables_without_columns_or_values_are_refused():
    for table, said in (
        ([("a", "b")], "the table is .*. Pass a data frame"),
        (pl.DataFrame(dict(winner=["a"])).lazy(), "holds no values yet"),
        (
            dict(winner=["a", "b"], loser=["b"]),
            r"loser has shape \(1,\). Pass an array of shape \(2,\)",
        ),
        (dict(winner=["a"], loser=[""]), "the table: loser is empty in row 0"),
    ):
        with pytest.raises((ValueError, TypeError), match=said):
            read_records(None, FrameSource(table), None, {}).make()
    with pytest.raises(ValueError, match="rb.Preferences.from_wins reads a data frame"):
        read_records(None, FrameSource(dict(a=[0, 1])), "wins", {}).make()
    with pytest.raises((ValueError, TypeError), match="a str or a path"):
        rb.read_preferences(dict(winner=["a"], loser=["b"]))


def test_errors_about_a_side_name_it():
    matches = dict(home=["a", "b"], away=["b", None], result=["H", "A"])
    with pytest.raises(ValueError, match="away is .* in row 1"):
        rb.Preferences.from_matches(pd.DataFrame(matches))
