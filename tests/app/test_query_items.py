"""Clicks whose items are pairs of a query and a document, in the shell and in Python."""

import json

import numpy as np
import pandas as pd
import pytest
from shell import done, refused, run

import rankbook as rb
from rankbook.app.folds import compared_groups

FORM = "--form clicks --column item=doc --kernel linear".split()


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Items and a log, in which each document occurs in every query; names are numbers."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("clicks")
    asked = ["007", "7", "12", "x y"]
    items = pd.DataFrame([(q, d) for q in asked for d in range(5)], columns=["q", "doc"])
    items[["a", "b"]] = rng.normal(size=(20, 2)).round(3)
    rows = []
    for session in range(200):
        query = asked[rng.integers(4)]
        for rank, row in enumerate(rng.permutation(np.flatnonzero(items["q"] == query)), 1):
            click = int(rng.random() < 1 / (1 + np.exp(-3 * items["a"][row])))
            rows.append((session, query, items["doc"][row], rank, click))
    log = pd.DataFrame(rows, columns=["session", "q", "doc", "rank", "click"])
    items.to_csv(folder / "items.csv", index=False)
    log.to_csv(folder / "log.csv", index=False)
    log.to_parquet(folder / "log.parquet")
    return folder, items, log


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_fit_is_that_of_python(tables, ending, tmp_path):
    folder, items, log = tables
    given = [folder / "items.csv", "--preferences", folder / f"log.{ending}", *FORM]
    saved = tmp_path / "m.rankbook"
    done("fit", *given, "--name", "q,doc", "--lam", "1", "-o", saved)
    keys = list(zip(items["q"], items["doc"]))
    prefs = rb.Preferences.from_clicks(log, item="doc", query="q", items=keys)
    X = items[["a", "b"]]
    Z = (X - X.mean()) / X.std(ddof=0)
    here = rb.RankSVM(kernel="linear", lam=1.0).fit(Z, preferences=prefs)
    found = rb.load(saved)
    assert np.allclose(found.model.coef_, here.coef_, rtol=1e-6)
    error = rb.disagreement(prefs, here.predict(Z))
    text = done("evaluate", saved, *given[:-2], "--name", "q,doc")
    assert f"{error:.6f}" in text
    table = done("predict", saved, folder / "items.csv").splitlines()
    assert table[0] == "row,name,score" and table[1].startswith('0,"007,0",')


def test_names_in_the_wrong_order_are_refused(tables, tmp_path):
    folder, items, log = tables
    items.rename(columns=dict(doc="item")).to_csv(tmp_path / "items.csv", index=False)
    log.rename(columns=dict(doc="item")).to_csv(tmp_path / "log.csv", index=False)
    given = [tmp_path / "items.csv", "--preferences", tmp_path / "log.csv", "--lam", "1"]
    text = refused("fit", *given, "--name", "item,q", "-o", tmp_path / "m")
    assert "--name is 'item,q', and its first column contains the items of clicks" in text
    assert not (tmp_path / "m").exists()
    done("fit", *given, "--name", "q,item", "-o", tmp_path / "m")


def test_grades_are_compared_within_the_queries_of_names(tables, tmp_path):
    folder, items, _ = tables
    given = [folder / "items.csv", "--preferences", folder / "log.csv", *FORM, "--name", "q,doc"]
    done("fit", *given, "--lam", "1", "-o", tmp_path / "m")
    grades = np.random.default_rng(0).integers(0, 3, len(items))
    items.assign(grade=grades).to_csv(tmp_path / "judged.csv", index=False)
    asked = ["evaluate", tmp_path / "m", tmp_path / "judged.csv", "--target", "grade"]
    found = run(*asked, "--json")
    assert "note: qid: the queries of" in found.stderr and "--qid none" in found.stderr
    value = json.loads(found.stdout)["metrics"]["disagreement"]
    scores = rb.load(tmp_path / "m").predict(items[["a", "b"]])
    assert value == pytest.approx(rb.disagreement(grades, scores, qid=items["q"]))
    whole = json.loads(done(*asked, "--qid", "none", "--json"))["metrics"]["disagreement"]
    assert whole == pytest.approx(rb.disagreement(grades, scores)) and whole != value


def test_other_commands_read_pairs_of_names(tables):
    folder, *_ = tables
    given = [folder / "items.csv", "--preferences", folder / "log.csv", *FORM]
    given += ["--name", "q,doc"]
    text = done("select", *given, "--group", "q")
    assert "20 items" in text
    assert "RegularizationPath" in done("path", *given, "--lam-min", "1")


def test_a_column_of_the_log_with_another_name(tables, tmp_path):
    folder, _, log = tables
    log.rename(columns=dict(q="asked")).to_csv(tmp_path / "log.csv", index=False)
    given = [folder / "items.csv", "--preferences", tmp_path / "log.csv", *FORM, "--lam", "1"]
    more = ["--column", "query=asked", "-o", tmp_path / "m.rankbook"]
    done("fit", *given, "--name", "q,doc", *more)
    text = refused("fit", *given, "--name", "doc", "--drop", "q", *more)
    assert "the items have no query names. Pass --name QUERY,ITEM" in text


def test_names_that_would_be_read_wrongly(tables, tmp_path):
    folder, items, _ = tables
    given = ["--preferences", folder / "log.csv", *FORM, "-o", tmp_path / "m.rankbook"]
    for wrong, text in (("a,b", "has the query 'a,b'"), ("", "has no name in row 3")):
        items.assign(q=items["q"].where(items.index != 3, wrong)).to_csv(
            tmp_path / "items.csv", index=False
        )
        assert text in refused("fit", tmp_path / "items.csv", *given, "--name", "q,doc")
    said = refused("fit", folder / "items.csv", *given, "--name", "q,dog")
    assert "--name is 'q,dog'" in said
    assert "Pass distinct names" in refused(
        "fit", folder / "items.csv", *given, "--name", "doc", "--drop", "q"
    )


def test_the_query_of_names_may_also_be_the_query_id(tables, tmp_path):
    items, saved = tables[1], tmp_path / "m.rankbook"
    items.assign(y=np.arange(20) % 5).to_csv(tmp_path / "y.csv", index=False)
    given = ["--target", "y", "--kernel", "linear", "--no-standardize", "--lam", "1"]
    done("fit", tmp_path / "y.csv", *given, "--qid", "q", "--name", "q,doc", "-o", saved)
    here = rb.RankSVM(1.0, "linear").fit(items[["a", "b"]], np.arange(20) % 5, items["q"])
    assert np.allclose(rb.load(saved).model.coef_, here.coef_, rtol=1e-6)
    table = done("predict", saved, tmp_path / "y.csv").splitlines()
    assert table[0] == "row,qid,name,score" and table[1].startswith('0,007,"007,0",')


def test_folds_are_whole_queries(tables):
    folder, items, log = tables
    given = [folder / "items.csv", "--preferences", folder / "log.csv", *FORM, "--name", "q,doc"]
    found = json.loads(done("select", *given, "--json"))
    assert found["folds"]["by"] == "query" and found["folds"]["groups"] == 4
    assert found["folds"]["dropped"] == 0
    X = items[["a", "b"]]
    keys = list(zip(items["q"], items["doc"]))
    prefs = rb.Preferences.from_clicks(log, item="doc", query="q", items=keys)
    model = rb.RankSVMCV("linear", cv=4, fold_by="group", random_state=0)
    model.fit((X - X.mean()) / X.std(ddof=0), preferences=prefs, groups=items["q"])
    assert np.isclose(found["chosen"]["lam"], model.lam_, rtol=1e-6)
    assert "4 by query, of 4 queries, seed 0" in done("select", *given)
    other = json.loads(done("select", *given, "--fold-by", "item", "--json"))
    assert other["folds"]["by"] == "item" and other["folds"]["dropped"] > 0
    by_judge = done("select", *given, "--group", "q")
    assert "by group, of 4 groups of preferences" in by_judge


def test_folds_by_query_that_do_not_exist(tables, tmp_path):
    folder, items, log = tables
    given = ["--preferences", folder / "log.csv", *FORM, "--name", "q,doc"]
    data = folder / "items.csv"
    assert "Pass --group with" in refused("select", data, *given, "--fold-by", "group")
    said = refused("select", data, *given, "--fold-by", "query", "--group", "q")
    assert "--fold-by is 'query', and a column of groups is given. Pass 'group'" in said
    one = log[log["q"] == "7"]
    one.to_csv(tmp_path / "log.csv", index=False)
    items[items["q"] == "7"].to_csv(tmp_path / "items.csv", index=False)
    given[1] = tmp_path / "log.csv"
    assert "DATA has one query" in refused("select", tmp_path / "items.csv", *given)
    plain = ["select", tmp_path / "items.csv", "--preferences", tmp_path / "log.csv", *FORM]
    said = refused(*plain, "--name", "doc", "--drop", "q", "--fold-by", "query")
    assert "--fold-by is 'query', but the preferences have no queries. Pass --name QUERY" in said


def test_a_metric_of_grades_is_refused_with_a_way_out(tables):
    folder, *_ = tables
    given = [folder / "items.csv", "--preferences", folder / "log.csv", *FORM, "--name", "q,doc"]
    for more in ([], ["--validation", folder / "log.csv"]):
        said = refused("select", *given, *more, "--metric", "ndcg@10")
        assert "--metric is 'ndcg@10'. Pass 'disagreement'" in said
        assert "--target CLICK --qid SESSION" in said


def test_a_model_remembers_its_names(tables, tmp_path):
    folder, *_ = tables
    given = [folder / "items.csv", "--preferences", folder / "log.csv", "--column", "item=doc"]
    saved, other = tmp_path / "m.rankbook", tmp_path / "other.rankbook"
    done("fit", *given, "--kernel", "linear", "--name", "q,doc", "-o", saved)
    done("select", *given, "--kernel", "linear", "--name", "q,doc", "-o", other)
    name = ["--name", "q,doc"]
    assert done("evaluate", saved, *given) == done("evaluate", saved, *given, *name)
    assert done("compare", saved, other, *given) == done("compare", saved, other, *given, *name)
    report = ["--report", tmp_path / "r.html"]
    assert done("evaluate", saved, *given, *report) == done("evaluate", saved, *given)


@pytest.fixture(scope="module")
def biased(tmp_path_factory):
    """Items and a log of two rankers, whose ranks are examined with the probability 1 / rank."""
    rng, folder = np.random.default_rng(3), tmp_path_factory.mktemp("biased")
    items = pd.DataFrame([(f"s{q}", d) for q in range(6) for d in range(5)], columns=["q", "doc"])
    items[["a", "b"]] = rng.normal(size=(30, 2)).round(3)
    rows = []
    for session in range(1500):
        q, ranker = rng.integers(6), rng.integers(2)
        mine = np.arange(5 * q, 5 * q + 5)
        order = mine[np.argsort(-items[["b", "a"][ranker]].to_numpy()[mine])]
        for rank, row in enumerate(order, 1):
            click = int(rng.random() < 1 / rank / (1 + np.exp(-2 * items["a"][row])))
            rows.append((session, f"s{q}", row % 5, rank, click))
    log = pd.DataFrame(rows, columns=["session", "q", "doc", "rank", "click"])
    items.to_csv(folder / "items.csv", index=False)
    log.to_csv(folder / "log.csv", index=False)
    return folder, items, log


def test_estimated_propensities_are_those_of_python(biased, tmp_path):
    folder, items, log = biased
    given = [folder / "items.csv", "--preferences", folder / "log.csv", *FORM, "--name", "q,doc"]
    saved = tmp_path / "m.rankbook"
    result = run("fit", *given, "--lam", "1", "--estimate-propensities", "-o", saved)
    assert result.exit_code == 0
    found = rb.click_propensities(log, item="doc", query="q")
    p = found.probability / found.probability.max()
    error = found.standard_error / found.probability.max()
    assert f"2: {p[2]:.3g} ± {error[2]:.1g}, 3: {p[3]:.3g}" in result.stderr
    keys = list(zip(items["q"], items["doc"]))
    given_p = log["rank"].map(p)
    prefs = rb.Preferences.from_clicks(log, item="doc", query="q", items=keys, propensity=given_p)
    X = items[["a", "b"]]
    Z = (X - X.mean()) / X.std(ddof=0)
    here = rb.RankSVM(kernel="linear", lam=1.0).fit(Z, preferences=prefs)
    assert np.allclose(rb.load(saved).model.coef_, here.coef_, rtol=1e-6)
    text = done("evaluate", saved, *given[:3], *FORM[:4], "--estimate-propensities")
    assert f"{rb.disagreement(prefs, here.predict(Z)):.6f}" in text


def test_propensities_of_the_training_log_weight_the_others(biased, tmp_path):
    folder, items, log = biased
    later = log[log["session"] < 90]
    later.to_csv(tmp_path / "later.csv", index=False)
    given = [folder / "items.csv", "--preferences", folder / "log.csv", *FORM, "--name", "q,doc"]
    given += ["--estimate-propensities", "--validation", tmp_path / "later.csv", "--json"]
    found = json.loads(done("select", *given))
    p = rb.click_propensities(log, item="doc", query="q").probability
    keys = list(zip(items["q"], items["doc"]))
    more = dict(item="doc", query="q", items=keys)
    weighted = [
        rb.Preferences.from_clicks(each, **more, propensity=each["rank"].map(p / p.max()))
        for each in (log, later)
    ]
    X = items[["a", "b"]]
    Z = ((X - X.mean()) / X.std(ddof=0)).to_numpy()
    model = rb.RankSVM(kernel="linear", lam=found["chosen"]["lam"])
    model.fit(Z, preferences=weighted[0])
    error = rb.disagreement(weighted[1], model.predict(Z))
    assert np.isclose(found["disagreement"]["validation"], error, rtol=1e-9)
    later.assign(rank=later["rank"] + 1).to_csv(tmp_path / "later.csv", index=False)
    said = run("select", *given).stderr
    assert "later.csv has the rank 6, which the log of --preferences does not have" in said


def test_propensities_that_cannot_be_estimated(biased, tmp_path):
    folder, _, log = biased
    given = [folder / "items.csv", *FORM, "--name", "q,doc", "--estimate-propensities"]
    given += ["-o", tmp_path / "m.rankbook", "--preferences"]
    fixed = log.assign(rank=log["doc"] + 1)
    fixed.to_csv(tmp_path / "log.csv", index=False)
    said = refused("fit", *given, tmp_path / "log.csv")
    assert "does not determine the propensity of rank" in said and "log.csv" in said
    for column in ("propensity=rank", "rule=skip-next"):
        said = refused("fit", *given, folder / "log.csv", "--column", column)
        assert f"--estimate-propensities is given and --column is {column}" in said
    pairs = pd.DataFrame(dict(winner=["s1,0"], loser=["s1,1"]))
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    said = refused(
        "fit", folder / "items.csv", "--name", "q,doc", *given[-4:], tmp_path / "pairs.csv"
    )
    assert "--name QUERY,ITEM reads clicks, unless --form names another form" in said
    more = [tmp_path / "pairs.csv", "--form", "pairs"]
    said = refused("fit", folder / "items.csv", "--name", "q,doc", *given[-4:], *more)
    assert "has the form 'pairs'. Pass a log of clicks" in said
    said = refused(
        "fit", folder / "items.csv", "--target", "a", "--estimate-propensities", *given[-3:-1]
    )
    assert "--estimate-propensities is given and --preferences is missing. Pass both" in said


def test_predictions_are_ranked_within_the_queries_of_names(tables, tmp_path):
    folder, items, _ = tables
    given = [folder / "items.csv", "--preferences", folder / "log.csv", *FORM, "--name", "q,doc"]
    saved, out = tmp_path / "m.rankbook", tmp_path / "out.csv"
    done("fit", *given, "--lam", "1", "-o", saved)
    found = run("predict", saved, folder / "items.csv", "--ranked", "-o", out)
    assert "note: qid: the queries of" in found.stderr and "--qid none" in found.stderr
    table = pd.read_csv(out, dtype=dict(qid=str))
    scores = rb.load(saved).predict(items[["a", "b"]])
    for query, part in table.groupby("qid"):
        rows = np.flatnonzero(items["q"] == query)
        assert part["row"].tolist() == rows[np.argsort(-scores[rows])].tolist()
        assert part["rank"].tolist() == [1, 2, 3, 4, 5]
    whole = ["predict", saved, folder / "items.csv", "--ranked", "--qid", "none", "-o", out]
    assert run(*whole).stderr == "" and pd.read_csv(out)["rank"].max() == 20
    for part, name in ((items[:10], "1"), (items[10:], "2")):
        part.to_csv(tmp_path / f"part{name}.csv", index=False)
    several = [tmp_path / "part1.csv", tmp_path / "part2.csv", "--ranked", "-o", out]
    done("predict", saved, *several)
    assert pd.read_csv(out)["rank"].max() == 5


def test_a_run_has_the_items_of_names(tables, tmp_path):
    folder, items, log = tables
    asked = dict(zip(["007", "7", "12", "x y"], ["007", "7", "12", "x"]))
    for name, table in (("items", items), ("log", log)):
        table.assign(q=table["q"].map(asked)).to_csv(tmp_path / f"{name}.csv", index=False)
    given = [tmp_path / "items.csv", "--preferences", tmp_path / "log.csv", *FORM]
    done("fit", *given, "--name", "q,doc", "--lam", "1", "-o", tmp_path / "m.rankbook")
    done("predict", tmp_path / "m.rankbook", tmp_path / "items.csv", "-o", tmp_path / "run.trec")
    lines = [line.split() for line in (tmp_path / "run.trec").read_text().splitlines()]
    assert {(q, d) for q, _, d, *_ in lines} == {
        (q, str(d)) for q in asked.values() for d in range(5)
    }


def test_folds_divide_the_queries_that_have_clicks(tables, tmp_path):
    folder, items, log = tables
    more = pd.concat([items, *(items.assign(q=items["q"] + f"/{k}") for k in range(9))])
    more.to_csv(tmp_path / "items.csv", index=False)
    few = log[log["q"] != "12"]
    few.to_csv(tmp_path / "log.csv", index=False)
    given = [tmp_path / "items.csv", "--preferences", tmp_path / "log.csv", *FORM]
    given += ["--name", "q,doc", "--json"]
    result = run("select", *given)
    found = json.loads(result.stdout)
    assert found["folds"]["by"] == "query" and found["folds"]["number"] == 3
    assert sum(found["folds"]["validated"]) == found["preferences"]["train"]
    assert "note: 37 of 40 queries have no preferences" in result.stderr
    few[few["q"] == "7"].to_csv(tmp_path / "log.csv", index=False)
    said = refused("select", *given)
    assert "DATA has one query with preferences. Pass several queries, or --fold-by pair." in said
    said = run("select", *given, "--fold-by", "item").stderr
    assert "Pass --fold-by pair" in said and "fewer folds" not in said
    done("select", *given, "--fold-by", "pair")


def test_groups_without_preferences_join_another():
    groups = np.array(["a", "b", "b", "c", "d", "d"])
    found, idle = compared_groups(groups, rb.Preferences([1, 4], [2, 5], 6, weight=[1.0, 0.0]))
    assert found.tolist() == ["b"] * 6 and idle == 3
    orders = rb.Orders.from_rankings([[4, 5], [1, 2]], items=range(6))
    assert compared_groups(groups, orders)[0].tolist() == ["b", "b", "b", "b", "d", "d"]


def test_the_advice_on_a_repeated_name_leads_to_a_model_without_the_rank(tables, tmp_path):
    log = tables[2].rename(columns=dict(click="clicked", rank="place")).drop(columns="q")
    log["now"] = np.random.default_rng(1).normal(size=len(log)).round(3)
    log.to_csv(tmp_path / "log.csv", index=False)
    given = [tmp_path / "log.csv", "--name", "doc", "--kernel", "linear", "--lam", "1"]
    given += ["-o", tmp_path / "m.rankbook"]
    clicks = ["--preferences", tmp_path / "log.csv", "--form", "clicks", "--column", "item=doc"]
    clicks += ["--column", "click=clicked", "--column", "rank=place"]
    said = run("fit", *given, *clicks).stderr
    assert "Pass distinct names with --preferences, one row for each item." in said
    advice = said[said.index("--target") : said.index(" in place")].split()
    done("fit", *given, *advice)
    found = rb.load(tmp_path / "m.rankbook")
    assert list(found.columns) == ["now"]
    Z = (log[["now"]] - log["now"].mean()) / log["now"].std(ddof=0)
    here = rb.RankSVM(1.0, "linear").fit(Z, log["clicked"], log["session"])
    assert np.allclose(found.model.coef_, here.coef_, rtol=1e-6)
    log.to_csv(tmp_path / "pairs.csv", index=False)
    said = run("fit", *given, *clicks[:2], "--form", "pairs").stderr
    assert said.endswith("one row for each item.\n")
