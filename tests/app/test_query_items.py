"""Clicks whose items are pairs of a query and a document, in the shell and in Python."""

import numpy as np
import pandas as pd
import pytest
from shell import done, refused

import rankbook as rb

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
    assert "the items have no names of queries. Pass --name QUERY,ITEM" in text


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
    assert "Pass different names" in refused(
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
