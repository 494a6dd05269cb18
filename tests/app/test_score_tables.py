"""Tables of scores are joined with the data by row, by query and name, or by name."""

import json

import numpy as np
import pandas as pd
import pytest
from shell import done, refused, run

BY = ["--target", "label", "--qid", "qid"]
DATA = pd.DataFrame(
    dict(qid=[1, 1, 1, 2, 2, 2], docid=list("abcabc"), label=[2, 1, 0, 0, 1, 2], x=range(6))
)


def metrics(file, *options, data="data.csv"):
    found = done("evaluate", file, data, *BY, "--metric", "disagreement,ndcg@2", "--json", *options)
    return json.loads(found)["metrics"]


@pytest.fixture(autouse=True)
def data(workplace):
    DATA.to_csv("data.csv", index=False)


def table(name, **columns):
    pd.DataFrame(columns).to_csv(name, index=False)


def test_queries_and_names_join():
    table("same.csv", qid=DATA.qid, docid=DATA.docid, score=[0, 1, 2, 2, 1, 0])
    wrong = pd.read_csv("same.csv")
    assert metrics("same.csv")["disagreement"] == 1
    for seed in range(3):
        wrong.sample(frac=1, random_state=seed).to_csv("other.csv", index=False)
        assert metrics("other.csv") == metrics("same.csv")
        wrong.sample(frac=1, random_state=seed).to_parquet("other.parquet")
        assert metrics("other.parquet") == metrics("same.csv")
    said = run("evaluate", "other.csv", "data.csv", *BY).stderr
    assert "match by position" not in said


def test_a_list_from_the_best_to_the_worst():
    # rows of the best items first look perfect if they are laid beside sorted data
    DATA[:3].to_csv("data.csv", index=False)
    table("s.csv", docid=["b", "a", "c"], score=[3.0, 2.0, 1.0])
    expected = (1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3))
    assert np.isclose(metrics("s.csv")["ndcg@2"], expected, atol=1e-15)
    table("s.csv", docid=["c", "b", "a"], score=[3.0, 2.0, 1.0])
    assert metrics("s.csv")["disagreement"] == 1


@pytest.mark.parametrize("name", [["--name", "docid"], []])
def test_predictions_in_any_order_are_those_of_the_model(name):
    done("fit", "data.csv", *BY, "--kernel", "linear", "--name", "docid", "-o", "m")
    expected = metrics("m")
    done("predict", "m", "data.csv", "--ranked", "-o", "ranked.csv")
    ranked = pd.read_csv("ranked.csv")
    assert set(ranked) == {"rank", "row", "qid", "name", "score"}
    kept = {
        "ranked": ranked,
        "shuffled": ranked.sample(frac=1, random_state=1),
        "run": ranked[["qid", "name", "score"]].set_axis(["qid", "docid", "score"], axis=1),
        "without row": ranked.drop(columns="row"),
        "row": ranked[["row", "score"]],
    }
    for frame in kept.values():
        frame.to_csv("s.csv", index=False)
        assert metrics("s.csv", *name) == expected
        said = done("compare", "m", "s.csv", "data.csv", *BY, "--metric", "ndcg@2", "--json")
        assert json.loads(said)["difference"] == 0
    ranked[["rank", "qid", "score"]].to_csv("s.csv", index=False)
    assert "s.csv has a column 'rank' and no key" in refused("evaluate", "s.csv", "data.csv", *BY)


def test_without_a_key_rows_match_by_position_and_a_note_says_so():
    table("s.csv", score=[2, 1, 0, 0, 1, 2])
    found = run("evaluate", "s.csv", "data.csv", *BY)
    assert "disagreement      0.000000" in found.stdout
    assert "note: s.csv and data.csv have no key in common, so their rows match by" in found.stderr
    table("s.csv", qid=DATA.qid[::-1], score=range(6))
    said = refused("evaluate", "s.csv", "data.csv", *BY)
    assert "s.csv has qid '2' in row 0, where data.csv has '1' in row 0. Pass rows in" in said


@pytest.mark.parametrize(
    "columns, said",
    [
        (
            dict(qid=[1] * 3 + [2] * 2, docid=list("abcab")),
            "no score for qid '2', docid 'c' .row 5 of data",
        ),
        (dict(qid=[1, 1, 1, 2, 2, 3], docid=list("abcabc")), "has qid '3', docid 'c' in row 5"),
        (dict(qid=[1, 1, 1, 2, 2, 2], docid=list("abcabb")), "docid 'b' in rows 4 and 5"),
        (dict(qid=[1, 1, 1, 2, 2, 2], docid=[*"abcab", None]), "s.csv has no docid in row 5"),
        (dict(docid=list("abcabc")), "s.csv has docid 'a' in rows 0 and 3. Pass each item"),
        (dict(docid=list("abc")), "data.csv has docid 'a' in rows 0 and 3.*query ids in both"),
        (dict(row=[0, 1, 2, 3, 4, 6]), "s.csv has row '6' in row 5. Pass only items of data.csv"),
        (dict(row=[0, 1, 2, 3, 4, 4]), "s.csv has row '4' in rows 4 and 5"),
        (dict(row=range(5)), "s.csv has no score for row '5' .row 5 of data.csv"),
        (dict(row=range(6)[::-1], docid=list("abcabc")), "docid 'c' in row 5, where.*'a' in row 0"),
        (dict(), "s.csv has 5 scores. Pass 6 scores, one for each row"),
    ],
)
def test_wrong_keys_are_refused(columns, said):
    size = len(next(iter(columns.values()), range(5)))
    table("s.csv", **columns, score=range(size))
    found = refused("evaluate", "s.csv", "data.csv", *BY)
    assert pd.Series([found]).str.contains(said).all(), found


def test_keys_are_texts():
    DATA.assign(docid=[7, 70, 10**17 + 1, 1, 2, 3]).to_csv("data.csv", index=False)
    names = ["7", "70", "100000000000000001", "1", "2", "3"]
    table("s.csv", docid=names[::-1], score=[0, 1, 2, 2, 1, 0])
    assert metrics("s.csv")["disagreement"] == 1
    table("s.csv", docid=["007", *names[1:]], score=range(6))
    said = refused("evaluate", "s.csv", "data.csv", *BY)
    assert "s.csv has docid '007' in row 0. Pass only items of data.csv" in said
    DATA.assign(docid=["007", "7", *names[2:]]).to_csv("data.csv", index=False)
    table("s.csv", docid=["7", "007", *names[2:]], score=[1, 2, 0, 0, 1, 2])
    assert metrics("s.csv")["disagreement"] == 0


def test_columns_have_the_names_of_the_data():
    columns = {"qid": "Query", "docid": "Item"}
    DATA.rename(columns=columns).to_csv("data.csv", index=False)
    shuffled = DATA.assign(score=[0, 1, 2, 2, 1, 0]).sample(frac=1, random_state=0)
    roles = ["--target", "label", "--qid", "Query", "--name", "Item", "--metric", "disagreement"]
    for names in (columns, {"docid": "name"}, {"qid": "Query", "docid": "name"}):
        shuffled.rename(columns=names).drop(columns=["x", "label"]).to_csv("s.csv", index=False)
        assert done("evaluate", "s.csv", "data.csv", *roles) == "disagreement      1.000000\n"


def test_an_entry_time_is_mentioned():
    patients = pd.DataFrame(dict(Start=range(8), x=range(8), time=range(1, 9), dead=[0, 1] * 4))
    patients.to_csv("patients.csv", index=False)
    times = ["--time", "time", "--event", "dead", "--kernel", "linear", "-o", "m"]
    said = run("fit", "patients.csv", *times).stderr
    assert "note: feature: column 'Start' of patients.csv" in said and "--entry Start" in said
    patients.drop(columns="Start").to_csv("patients.csv", index=False)
    assert "Start" not in run("fit", "patients.csv", *times).stderr


def test_keys_of_parquet_are_floating_point_numbers():
    table("same.csv", qid=DATA.qid, docid=DATA.docid, score=range(6))
    same = pd.read_csv("same.csv").sample(frac=1, random_state=0)
    same.assign(qid=same.qid.astype(float)).to_parquet("floats.parquet")
    assert metrics("floats.parquet") == metrics("same.csv")
    rows = pd.DataFrame(dict(row=np.arange(6.0), score=range(6)))
    rows.to_parquet("rows.parquet")
    assert metrics("rows.parquet") == metrics("same.csv")
    rows.assign(row=rows.row + 0.5).to_parquet("rows.parquet")
    assert "rows.parquet: column 'row' is 0.5 in row 0" in refused(
        "evaluate", "rows.parquet", "data.csv", *BY
    )
