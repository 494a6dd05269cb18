"""Columns of text and gaps on the command line: beside scikit-learn's own pipeline."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import done, refused, run
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import rankbook as rb
from rankbook.data.encoding import Encoding
from rankbook.data.split import split
from rankbook.data.table import Dataset

pytestmark = pytest.mark.usefixtures("workplace")

BOTH = ["--encode", "--impute"]
NUMBERS, TEXTS = ["size", "age", "new"], ["colour", "code"]


@pytest.fixture
def table():
    """Items with text, words that are numbers, truth values and gaps, in items.csv."""
    rng, n = np.random.default_rng(1), 40
    table = pd.DataFrame(
        dict(
            colour=rng.choice(["red", "green", "blue"], n),
            size=rng.normal(50, 10, n).round(2),
            code=[*rng.choice(["1", "2"], n - 2), "x", "x"],
            age=rng.integers(1, 9, n),
            new=rng.choice([True, False], n),
            grade=rng.integers(0, 4, n),
        )
    )
    table.loc[[3, 17], "size"], table.loc[[5, 9, 17], "colour"] = np.nan, None
    table.to_csv("items.csv", index=False)
    return table


def pipeline(lam):
    text = make_pipeline(
        SimpleImputer(strategy="most_frequent"),
        OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
    )
    encode = make_column_transformer((SimpleImputer(), NUMBERS), (text, TEXTS))
    return make_pipeline(encode, StandardScaler(), rb.RankSVM(kernel="linear", lam=lam))


def as_objects(table):
    return table.astype(dict.fromkeys(NUMBERS, float)).astype(dict.fromkeys(TEXTS, object))


def test_a_fit_is_that_of_a_pipeline(table):
    given = ["items.csv", "--target", "grade", "--kernel", "linear", "--lam", "2"]
    said = json.loads(done("fit", *given, *BOTH, "-o", "m", "--json"))
    assert said["features"] == 9
    new = table.assign(colour=["green"] * 38 + [None, "mauve"], size=[np.nan] + [40.0] * 39)
    new.drop(columns="grade").to_csv("new.csv", index=False)
    result = run("predict", "m", "new.csv", "-o", "scores.csv")
    assert "'mauve' in row 39, column 'colour', which is not among the 3 categ" in result.stderr
    model = pipeline(2.0).fit(as_objects(table), table["grade"])
    expected = model.predict(as_objects(new.fillna(dict(colour=np.nan))))
    assert np.allclose(pd.read_csv("scores.csv")["score"], expected, rtol=1e-9, atol=1e-9)
    loaded = rb.load("m")
    columns = ["colour", "size", "code", "age", "new"]
    assert loaded.columns == tuple(columns)
    with pytest.warns(UserWarning, match="mauve"):
        assert np.allclose(loaded.predict(new[columns]), expected)
    text = done("info", "m")
    assert "categories   colour: blue, green, red; code: 1, 2, x\n" in text
    assert f"gaps         size={table['size'].mean():.10g}" in text and ", colour='" in text
    said = json.loads(done("evaluate", "m", "items.csv", "--json"))
    known = model.predict(as_objects(table))
    wrong = rb.disagreement(table["grade"], known)
    assert said["metrics"]["disagreement"] == pytest.approx(wrong, abs=1e-12)


def test_each_option_does_its_part(table):
    given = ["fit", "items.csv", "--target", "grade", "-o", "m"]
    ways = "--encode, with --impute for gaps in 'colour', 'size', or --drop colour,code"
    assert f"{ways}, or --name colour, or --qid colour" in refused(*given)
    assert f"{ways}, or --qid colour; see" in refused(*given, "--name", "age")
    assert "the guide 'Use data frames" in refused(*given, "--impute")
    assert "in row 3, column 'size'" in refused(*given, "--encode")
    assert "--impute, or --drop size" in refused(*given, "--encode")
    said = refused(*given, "--encode", "--drop", "size")
    assert "nothing in row 5, column 'colour'" in said and "--impute, or --drop colour" in said
    assert not Path("m").exists()
    done(*given, "--impute", "--drop", "colour,code")
    done(*given, "--encode", "--drop", "colour,size")
    table.assign(age=np.nan).to_csv("items.csv", index=False)
    assert "no value in column 'age'. Drop the column" in refused(*given, *BOTH)
    table.assign(grade=[np.nan, *table["grade"][1:]]).to_csv("items.csv", index=False)
    said = refused(*given, *BOTH)
    assert "in row 0, column 'grade'" in said and "--impute" not in said
    table.assign(size=[np.inf, *table["size"][1:]]).to_csv("items.csv", index=False)
    assert "inf in row 0, column 'size'" in refused(*given, *BOTH)


def test_a_column_of_names_is_spoken_of(table):
    table.assign(who=[f"w{i}" for i in range(40)]).to_csv("items.csv", index=False)
    result = run("fit", "items.csv", "--target", "grade", *BOTH, "-o", "m")
    assert "no two rows of items.csv have the same text in column 'who'" in result.stderr
    assert result.exit_code == 0


def test_times_are_no_categories(table):
    days = pd.date_range("2020-01-01", periods=40)
    table.assign(day=days).to_parquet("items.parquet")
    said = refused("fit", "items.parquet", "--target", "grade", *BOTH, "-o", "m")
    assert "'day'" in said and "--drop day" in said


def test_what_has_nothing_to_encode():
    for more, said in (
        (["cancer", "--encode"], "--encode is given. Omit --encode for the built-in data"),
        (
            ["a.csv", "b.csv", "--impute", "--target", "y"],
            "--impute is given, and DATA names several",
        ),
    ):
        for name in ("a.csv", "b.csv"):
            pd.DataFrame(dict(x=[1, 2], y=[0, 1])).to_csv(name, index=False)
        assert said in refused("fit", *more, "-o", "m")


def test_spaces_around_cells_belong_to_no_category():
    rows = range(30)
    tidy = [(f"{i % 7}" if i % 5 else "NA", "red" if i % 2 else "blue", i % 3) for i in rows]
    for name, space in (("tidy", ""), ("wide", " ")):
        lines = (f"{x}{space},{c}{space},{y}\n" for x, c, y in tidy)
        Path(f"{name}.csv").write_text("x,c,y\n" + "".join(lines))
        done("fit", f"{name}.csv", "--target", "y", *BOTH, "--kernel", "linear", "-o", name)
    assert rb.load("tidy").encoding == rb.load("wide").encoding
    assert done("predict", "wide", "wide.csv") == done("predict", "tidy", "tidy.csv")


def test_features_of_one_name_are_refused(table):
    more = {"a": ["b=c", "x"] * 20, "a=b": ["c", "x"] * 20}
    table.assign(**more).to_csv("m.csv", index=False)
    given = ["fit", "m.csv", "--target", "grade", *BOTH, "-o", "m"]
    said = refused(*given)
    assert "has columns 'a' and 'a=b', which both make a feature 'a=b=c'. Rename one" in said
    first = sorted(set(table["colour"].dropna()))[0]
    table.assign(**{f"colour={first}": np.arange(40) % 3}).to_csv("m.csv", index=False)
    assert f"which both make a feature 'colour={first}'" in refused(*given)


def test_numbers_with_another_decimal_mark_are_no_categories():
    late = "x;y\n" + "".join(f"{i % 7};{i % 3}\n" for i in range(70000)) + "0,5;1\n" * 80000
    Path("late.csv").write_text(late)
    Path("quoted.csv").write_text('x;y\n"0,5";1\n"1,";2\n"2,5"\t;3\n')
    said = refused("fit", "late.csv", "--target", "y", "--encode", "-o", "m")
    assert "late.csv has '0,5' in column 'x', which is not read as a number" in said
    done("fit", "quoted.csv", "--target", "y", "--encode", "--kernel", "linear", "-o", "m")
    assert rb.load("m").encoding is None


def test_several_files_are_coded_as_one(table):
    done("fit", "items.csv", "--target", "grade", *BOTH, "-o", "m")
    whole = pd.read_csv(pd.io.common.StringIO(done("predict", "m", "items.csv")))["score"]
    for name, rows in (("a", slice(0, 10)), ("b", slice(10, 38)), ("c", slice(38, 40))):
        table[rows].to_csv(f"part_{name}.csv", index=False)
    parts = done("predict", "m", "part_a.csv", "part_b.csv", "part_c.csv")
    assert np.allclose(pd.read_csv(pd.io.common.StringIO(parts))["score"], whole)


@pytest.mark.parametrize(
    "wrong",
    [
        dict(categories=dict(other=["a"])),
        dict(categories=dict(a=[3])),
        dict(fill=dict(a="b")),
        dict(fill=dict(a="b", b="c")),
        dict(columns=("a", 3)),
    ],
)
def test_parts_of_an_encoding_fit_together(wrong):
    good = dict(columns=("a", "b"), categories=dict(a=["u", "v"]), fill=dict(a="u", b=1.0))
    assert Encoding(**good).names == ("b", "a=u", "a=v")
    with pytest.raises(ValueError, match="do not belong together"):
        Encoding(**good | wrong)


def test_select_learns_from_the_rows_of_training(table):
    given = ["items.csv", "--target", "grade", "--kernel", "linear", "--seed", "3"]
    done("select", *given, *BOTH, "--save", "m")
    rows = split(Dataset(np.zeros((40, 1)), table["grade"]), 3)[0] == "train"
    fill = rb.load("m").encoding.fill
    assert fill["size"] == pytest.approx(table["size"][rows].mean(), rel=1e-12)
    assert fill["colour"] == table["colour"][rows].mode()[0] and not rows.all()
    assert "--encode, with --impute for gaps in 'colour', 'size', or --drop colour,code" in refused(
        "select", *given
    )


@pytest.mark.parametrize("folds", [True, False])
def test_select_and_fit_code_items_of_preferences_alike(table, folds):
    table["item"] = [f"i{i}" for i in range(40)]
    table.drop(columns="grade").to_csv("items.csv", index=False)
    ends = np.random.default_rng(0).integers(0, 40, (120, 2))
    k, l = ends[table["grade"].to_numpy()[ends[:, 0]] > table["grade"].to_numpy()[ends[:, 1]]].T
    votes = pd.DataFrame(dict(winner=table["item"][k].array, loser=table["item"][l].array))
    votes[:40].to_csv("votes.csv", index=False)
    votes[40:].to_csv("more.csv", index=False)
    given = ["items.csv", "--name", "item", "--preferences", "votes.csv", "--kernel", "linear"]
    given += ["--no-standardize"]  # select takes the scale of the items that are compared
    done("select", *given, *BOTH, *([] if folds else ["--validation", "more.csv"]), "--save", "s")
    lam = json.loads(done("info", "s", "--json"))["lam"]
    done("fit", *given, *BOTH, "--lam", lam, "-o", "f")
    chosen, fitted = rb.load("s"), rb.load("f")
    assert chosen.encoding == fitted.encoding and chosen.columns == fitted.columns
    found, expected = (
        pd.read_csv(pd.io.common.StringIO(done("predict", each, "items.csv")))["score"]
        for each in ("s", "f")
    )
    assert np.allclose(np.diff(found), np.diff(expected), rtol=1e-5, atol=1e-5)


def test_files_of_parts_are_coded_as_the_training_file(table):
    for name, rows in (("train", slice(0, 20)), ("validation", slice(20, 30))):
        table[rows].to_csv(f"{name}.csv", index=False)
    table[30:].assign(colour="mauve").to_csv("test.csv", index=False)
    given = ["train.csv", "--validation", "validation.csv", "--test", "test.csv", *BOTH]
    given += ["--target", "grade", "--kernel", "linear"]
    said = refused("select", *given)  # a column of numbers in the training file
    assert "test.csv has columns that are not numbers: 'code' ('x' in row 8)" in said
    result = run("select", *given, "--drop", "code", "--save", "m")
    assert result.exit_code == 0, result.stderr
    assert "test.csv has 'mauve' in row 0" in result.stderr
    assert rb.load("m").encoding.fill["size"] == pytest.approx(table["size"][:20].mean())


def test_a_model_from_a_file_explains_and_scores_rows_of_the_table(table):
    done("fit", "items.csv", "--target", "grade", "--lam", "2", *BOTH, "-o", "m")
    model, items = rb.load("m"), table.drop(columns="grade").rename(index="item {}".format)
    scores = pd.Series(model.predict(items), index=items.index)
    a, b = "item 0", "item 5"  # a gap in the second
    for one, two in ((items.loc[a], items.loc[b]), (items.loc[[a]], items.loc[[b]])):
        why = rb.explain_pair(model, one, two)
        assert why.items == (a, b) and why.names[:3] == tuple(NUMBERS)
        assert why.difference == pytest.approx(scores[a] - scores[b], abs=1e-10)
    with pytest.raises(ValueError, match="^a has no column 'size'"):
        rb.explain_pair(model, items.loc[a].drop("size"), items.loc[b])
    judged = [("item 1", "item 2"), ("item 3", "item 4"), ("item 6", "item 7")]
    met = np.mean([scores[better] > scores[worse] for better, worse in judged])
    assert model.score(items, preferences=judged) == pytest.approx(met)
    assert model.score(items, table.grade) == 1 - rb.disagreement(table.grade, scores)
    assert model.lam_ == 2.0 and model.certificate_ is model.model.certificate_


def test_new_items_that_a_model_cannot_read(table):
    table[["size", "age", "grade"]].fillna(0).to_csv("numbers.csv", index=False)
    done("fit", "numbers.csv", "--target", "grade", "-o", "plain")
    done(
        "fit", "items.csv", "--target", "grade", "--encode", "--drop", "size,colour", "-o", "coded"
    )
    for model, column, value, said in (
        ("plain", "age", "old", "(a model reads text if it was fitted with --encode)"),
        ("plain", "age", np.nan, "(a model fills gaps if it was fitted with --impute)"),
        ("coded", "code", None, "(a model fills gaps if it was fitted with --impute)"),
    ):
        new = table.fillna({"size": 0.0})
        new[column] = [*table[column][1:], value]
        new.to_csv("new.csv", index=False)
        assert said in refused("predict", model, "new.csv")
        if model == "plain":
            assert said in refused("predict", model, "numbers.csv", "new.csv")
    new.assign(age="old", code="1").to_csv("new.csv", index=False)
    assert "--encode" not in refused("predict", "coded", "new.csv")
