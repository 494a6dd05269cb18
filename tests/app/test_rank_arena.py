"""From the file of a public arena to a published table, by one command."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import done, refused

import rankbook as rb

MODELS = ["model-x", "gpt_4", "a|b", "<b>", "=run", "last"]
STYLE = ["--column", "pair_features=length"]
FULL = [*STYLE, "--intervals", "--unit", "judge", "--scale", "elo"]


@pytest.fixture(autouse=True)
def votes(tmp_path, monkeypatch):
    """A file with model_a, model_b, winner, judge, language, lengths and times."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    a, b = np.array([rng.choice(6, 2, replace=False) for _ in range(1500)]).T
    length = np.round(300 * rng.normal(size=1500))
    ahead = 0.4 * (b - a) + length / 600 + rng.logistic(size=1500)
    tie = rng.choice(["tie", "both_bad", "tie (bothbad)"], 1500)
    winner = np.where(np.abs(ahead) < 0.4, tie, np.where(ahead > 0, "model_a", "model_b"))
    names = np.array(MODELS)
    table = dict(model_a=names[a], model_b=names[b], winner=winner)
    table |= dict(judge=rng.integers(0, 40, 1500), language=rng.choice(["en", "zh"], 1500))
    table |= dict(length=length, tstamp=1.7e9 + 86400 * rng.integers(0, 300, 1500))
    table = pd.DataFrame(table)
    table.to_csv("arena.csv", index=False)
    table.to_parquet("arena.parquet")
    return table


def board(**options):
    columns = dict(home="model_a", away="model_b", result="winner", pair_features=["length"])
    return rb.Leaderboard(columns=columns, **options).fit("arena.csv")


def test_one_command_makes_a_table_to_publish():
    assert done("rank", "arena.parquet", *FULL, "-o", "ranks.md") == ""
    head, line, *rows, space, remark = Path("ranks.md").read_text().splitlines()
    assert head == "| rank | item | score | interval | ranks | comparisons |"
    assert len(rows) == 6 and all(row.count(" | ") == 5 for row in rows) and space == ""
    assert rows[0].startswith("| 1 | model-x | 1") and r"a\|b" in rows[2] and r"\<b" in rows[3]
    assert remark.startswith("95% for each interval, sandwich; length +") and "per 2" in remark
    assert "votes of one judge may depend on each other (40 of them)" in remark
    assert Path("ranks.md").read_text() == board(unit="judge", scale="elo").to_markdown() + "\n"


def test_every_format_has_notes_pair_features_and_lambda():
    known = board(unit="judge", scale="elo", by="language")
    for ending in ("csv", "tsv", "parquet", "json", "html", "tex"):
        done("rank", "arena.csv", *FULL, "--by", "language", "-o", f"ranks.{ending}")
    expected = known.to_frame()
    found = [pd.read_parquet("ranks.parquet"), pd.read_csv("ranks.csv", keep_default_na=False)]
    found.append(pd.read_csv("ranks.tsv", sep="\t", keep_default_na=False))
    for each in found:
        each["item"] = each["item"].str.removeprefix("'")
        pd.testing.assert_frame_equal(each, expected, check_dtype=False)
    assert (expected.groupby(["by", "value"])["lam"].nunique() == 1).all()
    assert expected["remarks"].str.contains("length +", regex=False).all()
    facts = json.loads(Path("ranks.json").read_text())
    assert facts == json.loads(done("rank", "arena.csv", *FULL, "--by", "language", "--json"))
    assert np.isclose(facts["lam"], known.lam_) and np.isclose(facts["phi"], known.phi_)
    assert facts["phi"] < 0.9 and "40 of them" in " ".join(facts["notes"])
    (row,) = facts["pair_features"]
    assert row["name"] == "length" and row["low"] < row["effect"] < row["high"]
    assert np.isclose(row["weight"], known.pair_coef_[0])
    assert np.isclose(row["root_mean_square"], known.pair_scale_[0])
    assert [(each["by"], each["value"]) for each in facts["tables"]] == list(known.tables_)
    for each, (_, part) in zip(facts["tables"], known.tables_.items(), strict=True):
        assert np.isclose(each["lam"], part.lam_) and len(each["items"]) == 6
    assert [row["item"] for row in facts["changes"]] == known.table_["item"].tolist()
    page, paper = Path("ranks.html").read_text(), Path("ranks.tex").read_text()
    assert "&lt;b&gt;" in page and "<b>" not in page.replace("<body>", "") and "zh" in page
    assert r"gpt\_4" in paper and r"95\% for each" in paper and paper.count(r"\hline") == 4


def test_tables_by_value_are_printed_with_the_changes():
    text = done("rank", "arena.csv", *STYLE, "--by", "language")
    parts = text.split("\n\n")
    assert [part.splitlines()[0] for part in parts] == [
        "all votes:",
        "language en:",
        "language zh:",
        "ranks:",
    ]
    assert parts[-1].splitlines()[1].split() == ["item", "all", "votes", "language", "en"] + [
        "language",
        "zh",
    ]


def test_options_are_the_parameters():
    given = ["--scale", "elo", "--anchor", "gpt_4=1200", "--date", "tstamp", "--half-life", "90d"]
    given += ["--since", "2023-12-01", "--min-votes", "10", "--balance", "--lam", "0.5"]
    given += ["--intervals", "--simultaneous", "--ties", "davidson", "--json"]
    facts = json.loads(done("rank", "arena.csv", *STYLE, *given))
    same = board(
        scale="elo",
        anchor=("gpt_4", 1200.0),
        date="tstamp",
        half_life="90d",
        since="2023-12-01",
        min_votes=10,
        balance=True,
        lam=0.5,
        simultaneous=True,
        ties="davidson",
    )
    pd.testing.assert_frame_equal(pd.DataFrame(facts["items"]), same.table_, check_dtype=False)
    assert np.isclose(facts["nu"], same.tie_) and facts["lam"] == 0.5 and facts["phi"] == 1
    assert "all intervals together" in facts["notes"][-6] and len(same.notes_) == 5
    drawn = json.loads(
        done("rank", "arena.csv", *STYLE, "--intervals", "--rank-method", "credible", "--json")
    )
    same = board(rank_method="credible").table_
    pd.testing.assert_frame_equal(pd.DataFrame(drawn["items"]), same, check_dtype=False)


@pytest.mark.parametrize(
    "given", [["--unit", "judge"], ["--simultaneous"], ["--rank-method", "steps"]]
)
def test_options_of_intervals_ask_for_them(given):
    short, long = (
        done("rank", "arena.csv", "--json", *more, *given) for more in ([], ["--intervals"])
    )
    assert short == long and "rank_low" in short


def test_a_plot_is_written():
    done("rank", "arena.csv", "--intervals", "--plot", "ranks.svg")
    assert "<svg" in Path("ranks.svg").read_text()
    assert "--plot is 'ranks.txt'" in refused("rank", "arena.csv", "--plot", "ranks.txt")


@pytest.mark.parametrize(
    "given, expected",
    [
        (["--anchor", "nobody=3"], "--anchor is 'nobody'. Pass one of"),
        (["--anchor", "gpt_4"], "--anchor is 'gpt_4'. Pass NAME=NUMBER"),
        (["--ties", "win"], "--ties is 'win'. Pass one of"),
        (["--scale", "chess"], "--scale is 'chess'. Pass one of"),
        (["--lam", "0"], "--lam is 0"),
        (
            ["--half-life", "90d"],
            "--half-life is '90d' and --date is missing. Pass a column of dates, such as --date",
        ),
        (
            ["--date", "language", "--since", "2024-01-01"],
            "arena.csv has the date 'zh' in row 0, column 'language'",
        ),
        (["--date", "tstamp", "--since", "soon"], "--since is 'soon'. Pass dates"),
        (["--by", "sex"], "--by is 'sex'. Pass one of: judge, language"),
        (["--min-votes", "100000"], "--min-votes is 100000. Pass at most"),
        (["-o", "ranks.doc"], "the ending of 'ranks.doc'"),
        (["--ties", "refuse"], "is a tie"),
        (["--date", "tstamp"], "Pass --half-life 90d or --since 2026-01-01 as well"),
        (["--date", "winner", "--since", "2024-01-01"], "has the date 'model_"),
    ],
)
def test_wrong_options(given, expected):
    assert expected in refused("rank", "arena.csv", *given)


@pytest.mark.parametrize(
    "column, cell, given, expected",
    [
        ("tstamp", "", ["--date", "tstamp", "--half-life", "9d"], "has no date in row 7, column"),
        (
            "length",
            "long",
            STYLE,
            "(column 'length') cannot be read as numbers ('long' at index 7)",
        ),
        ("length", "", STYLE, "(column 'length') has NaN at index 7"),
        ("judge", " ", ["--unit", "judge", "--intervals"], "has no unit in row 7, column 'judge'"),
    ],
)
def test_errors_name_the_row_and_the_column(votes, column, cell, given, expected):
    votes[column] = votes[column].astype(object)
    votes.loc[7, column] = cell
    votes.to_csv("arena.csv", index=False)
    assert expected in refused("rank", "arena.csv", *given)


def test_pairs_of_items_are_units(votes):
    """A column may have two roles."""
    text = done("rank", "arena.csv", "--intervals", "--unit", "model_a,model_b")
    assert "votes of one model_a and model_b may depend on each other (30 of them)" in text
    pair = votes["model_a"] + " " + votes["model_b"]
    columns = dict(home="model_a", away="model_b", result="winner")
    known = rb.Leaderboard(columns=columns).fit(votes, unit=pair)
    again = rb.Leaderboard(columns=columns, unit=["model_a", "model_b"]).fit(votes)
    pd.testing.assert_frame_equal(again.table_, known.table_)
    assert "winner model_a:" in done("rank", "arena.csv", "--by", "winner")


@pytest.mark.parametrize("ending", ["json", "md", "csv"])
def test_notes_of_the_reader_are_in_files(votes, ending):
    votes["model_b"] = votes["model_b"].replace({"last": "Last"})
    votes.assign(n=2).to_csv("arena.csv", index=False)
    done("rank", "arena.csv", "-o", f"ranks.{ending}")
    text = Path(f"ranks.{ending}").read_text()
    assert text.count("column 'n' is not used") == (8 if ending == "csv" else 1) - (ending == "csv")
    assert "rankbook: note" not in text and "weight=" not in text
    if ending == "json":
        said = json.loads(text)["notes"]
        assert said[0].startswith("arena.csv: column 'n' is not used, so all rows have weight 1")
        assert sum("'last' and 'Last' differ" in note for note in said) == 1


def test_ties_of_orders_are_not_half_wins_without_a_note(tmp_path):
    rows = "1,a,1\n1,b,2\n1,c,2\n2,b,1\n2,a,2\n2,c,3\n"
    (tmp_path / "r.csv").write_text("ranking,item,rank\n" + rows)
    for ties in ([], ["--ties", "half"]):
        text = done("rank", "r.csv", *ties)
        assert "ties of orders are counted by the method 'breslow'" in text
    said = refused("rank", "r.csv", "--ties", "drop")
    assert "--ties is 'drop', and the votes are orders. Omit --ties for orders" in said
    (tmp_path / "r.csv").write_text("ranking,item,rank\n" + rows.replace("c,2", "c,3"))
    assert "breslow" not in done("rank", "r.csv", "--ties", "half")


def test_clicks_are_refused(votes):
    clicks = dict(session=[1, 1, 2, 2], item=list("abab"), rank=[1, 2, 1, 2], click=[0, 1, 1, 0])
    pd.DataFrame(clicks).to_csv("clicks.csv", index=False)
    said = refused("rank", "clicks.csv")
    assert "MATCHES is 'clicks.csv', a log of clicks. Pass votes, matches or orders" in said


def test_a_difference_of_columns_is_a_feature():
    votes, rng = pd.read_csv("arena.csv"), np.random.default_rng(0)
    for side in "ab":
        votes[f"len-{side}"] = rng.integers(100, 900, len(votes))
    votes = votes.assign(longer=votes["len-a"] - votes["len-b"])
    fit = lambda feature: rb.Leaderboard(columns=dict(pair_features=feature)).fit(votes)
    known, found, one_sided = fit("longer"), fit(["len-a - len-b"]), fit("len-a")
    assert found.features_ == ("len-a - len-b",)
    assert np.array_equal(found.score_, known.score_)
    assert any("one sign in all votes" in note and "len-a" in note for note in one_sided.notes_)
    assert not any("one sign" in note for note in found.notes_)
    votes.drop(columns="longer").to_csv("lengths.csv", index=False)
    told = done("rank", "lengths.csv", "--column", "pair_features=len-a-len-b", "--json")
    told = {each["item"]: each["score"] for each in json.loads(told)["items"]}
    assert np.allclose([told[name] for name in known.items_], known.score_, rtol=1e-9)
    said = refused("rank", "lengths.csv", "--column", "pair_features=len-a-len-c")
    assert "has no column 'len-a-len-c'" in said
