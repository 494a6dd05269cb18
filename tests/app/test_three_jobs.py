"""Three jobs from files to a tested model and a ranking, typed as a new user would."""

import json

import numpy as np
import pandas as pd
import pytest
from shell import done, refused

import rankbook as rb
from rankbook.data.table import Dataset
from rankbook.data.writers import write_dataset

pytestmark = pytest.mark.usefixtures("workplace")


def test_a_log_of_clicks():
    """One `select` and one `predict`; the same order in five lines of Python."""
    rng, sessions = np.random.default_rng(0), 60
    items = pd.DataFrame(rng.normal(size=(30, 3)), columns=["price", "age", "rating"])
    items.insert(0, "item", [f"item {i}" for i in range(30)])
    worth = (items[["price", "age", "rating"]] @ [-1.0, 0.0, 2.0]).to_numpy()
    shown = np.array([rng.permutation(30)[:6] for _ in range(sessions)])
    log = pd.DataFrame(
        dict(
            session=np.repeat(np.arange(sessions), 6),
            item=items["item"].to_numpy()[shown.ravel()],
            position=np.tile(np.arange(1, 7), sessions),
            click=(worth[shown] == worth[shown].max(axis=1, keepdims=True)).astype(int).ravel(),
        )
    )
    for name, part in (("train", log[:240]), ("test", log[240:])):
        part.to_csv(f"{name}.csv", index=False)
    items[:20].to_csv("new.csv", index=False)
    items.to_csv("items.csv", index=False)
    clicks = ["--form", "clicks", "--column", "rank=position", "--kernel", "linear"]
    said = refused("select", "items.csv", "--preferences", "train.csv", *clicks[:2])
    assert "'item'" in said and "--name item" in said
    given = ["items.csv", "--name", "item", "--preferences", "train.csv"]
    assert "rank=COLUMN" in refused("select", *given, *clicks[:2])
    done("select", *given, *clicks, "--test", "test.csv", "--save", "m.rankbook")
    best = done("predict", "m.rankbook", "new.csv", "--ranked").splitlines()
    assert best[0] == "rank,row,name,score" and len(best) == 21
    assert best[1].split(",")[2] == items["item"][worth[:20].argmax()]
    held_out = ["evaluate", "m.rankbook", "items.csv", "--preferences", "test.csv", *clicks[:4]]
    assert json.loads(done(*held_out, "--json"))["metrics"]["disagreement"] < 0.1

    data = pd.read_csv("items.csv", index_col="item")
    prefs = rb.read_preferences("train.csv", "clicks", rank="position", items=data.index)
    model = rb.RankSVMCV(kernel="linear", fold_by="item").fit(data, preferences=prefs)
    scores = model.predict(data[:20])
    assert data.index[scores.argmax()] == best[1].split(",")[2]


@pytest.mark.peer("ir_measures")
def test_a_fold_of_letor():
    """One `select` with three files, and a run that trec_eval reads."""
    rng = np.random.default_rng(1)
    for part, first in (("train", 0), ("vali", 100), ("test", 200)):
        X, qid = rng.normal(size=(80, 5)).round(6), first + np.repeat(np.arange(8), 10)
        grade = np.digitize(X @ [2, -1, 0, 0, 1] + 0.3 * rng.normal(size=80), [0, 2])
        names = [f"GX{first + i:03d}" for i in range(80)]
        write_dataset(Dataset(X, grade, qid, item_names=names), f"{part}.txt")
    parts = ["--validation", "vali.txt", "--test", "test.txt"]
    said = done("select", "train.txt", *parts, "--kernel", "linear", "--save", "m.rankbook")
    assert "80 train (8 queries), 80 validation (8 queries), 80 test (8 queries)" in said
    done("predict", "m.rankbook", "test.txt", "-o", "run.trec")
    import ir_measures as ir

    test = rb.read_table("test.txt")
    grades = zip(test.qid, test.item_names, test.y)
    qrels = [ir.Qrel(str(q), name, int(grade)) for q, name, grade in grades]
    measure = ir.nDCG(gains={0: 0, 1: 1, 2: 3}) @ 10
    found = ir.calc_aggregate([measure], qrels, ir.read_trec_run("run.trec"))[measure]
    said = json.loads(done("evaluate", "m.rankbook", "test.txt", "--json"))
    assert found == pytest.approx(said["metrics"]["ndcg@10"], abs=1e-12) and found > 0.9


def test_a_table_of_votes_with_categories_and_gaps():
    """From votes between items with text and gaps to a saved model that ranks new items."""
    rng, n = np.random.default_rng(2), 60
    items = pd.DataFrame(
        dict(
            item=[f"flat {i}" for i in range(n)],
            size=rng.normal(70, 20, n).round(),
            district=rng.choice(["harbour", "hill", "old town"], n),
        )
    )
    charm = items["district"].map({"harbour": 1.0, "hill": 0.0, "old town": 2.0})
    worth = (items["size"] / 20 + 2 * charm).to_numpy()
    items.loc[[4, 8, 15], "size"], items.loc[[16, 23], "district"] = np.nan, None
    ends = np.array([rng.permutation(n)[:2] for _ in range(400)])
    won = np.where(worth[ends[:, 0]] > worth[ends[:, 1]], 0, 1)
    columns = dict(chosen=ends[np.arange(400), won], other=ends[np.arange(400), 1 - won])
    votes = pd.DataFrame({name: items["item"].to_numpy()[rows] for name, rows in columns.items()})
    votes["judges"] = rng.integers(1, 5, 400)
    votes[:300].to_csv("votes.csv", index=False)
    votes[300:].to_csv("new_votes.csv", index=False)
    items.to_csv("items.csv", index=False)
    given = ["items.csv", "--preferences", "votes.csv"]
    said = refused("select", *given)
    gaps = "with --impute for gaps in 'size', 'district'"
    assert f"--encode, {gaps}, or --drop item,district, or --name item" in said
    given += ["--name", "item"]
    assert "--encode" in refused("select", *given)
    assert "in row 4, column 'size'" in (said := refused("select", *given, "--encode"))
    assert "--impute" in said
    given += ["--encode", "--impute"]
    assert "Name them, such as --winner=COLUMN and --loser=COLUMN" in refused("select", *given)
    pairs = ["--winner", "chosen", "--loser", "other", "--weight", "judges"]
    done("select", *given, *pairs, "--kernel", "linear", "--save", "m.rankbook")
    measure = ["evaluate", "m.rankbook", "items.csv", "--preferences", "new_votes.csv", *pairs]
    assert json.loads(done(*measure, "--json"))["metrics"]["disagreement"] < 0.1
    best = done("predict", "m.rankbook", "items.csv", "--ranked").splitlines()[1]
    assert worth[int(best.split(",")[1])] > np.quantile(worth, 0.9)


def test_evaluate_counts_the_features_of_pairs():
    rng, names = np.random.default_rng(0), np.array(list("abcdefgh"))
    X, side = rng.normal(size=(8, 2)), rng.choice([-1, 1], 60)
    b = rng.integers(8, size=60)
    w = (b + rng.integers(1, 8, size=60)) % 8
    items = pd.DataFrame(dict(name=names, p=X[:, 0], q=X[:, 1]))
    items.to_csv("items.csv", index=False)
    votes = pd.DataFrame(dict(winner=names[b], loser=names[w], side=side))
    votes.to_csv("votes.csv", index=False)
    given = ["items.csv", "--name", "name", "--preferences", "votes.csv"]
    given += ["--column", "pair_features=side"]
    done("fit", *given, "--loss", "logistic", "--kernel", "linear", "-o", "m.rankbook")
    found = json.loads(done("evaluate", "m.rankbook", *given, "--json"))
    model, prefs = rb.load("m.rankbook"), rb.Preferences(b, w, 8, pair_features=side)
    accuracy = model.model.score(model.transform(X), prefs)
    assert found["metrics"]["pair_accuracy"] == pytest.approx(accuracy)
    assert (found["items"], found["preferences"]) == (8, 60)
    X = model.transform(X)
    p = model.model.predict_pair_proba(X[b], X[w], side)
    assert found["metrics"]["log_loss"] == pytest.approx(-np.log(p).mean())
    expected = rb.metrics.reliability(prefs, p, link=None)
    rows = found["reliability"]
    assert [row["observed"] for row in rows] == pytest.approx(expected.observed.tolist())
    done("fit", *given[:5], "--kernel", "linear", "-o", "other.rankbook")
    text = json.loads(done("compare", "m.rankbook", "other.rankbook", *given, "--json"))
    assert text["mean_a"] == pytest.approx(accuracy)
    other = rb.load("other.rankbook")
    neutral = rb.Preferences(b, w, 8)
    assert text["mean_b"] == pytest.approx(other.score(items[["p", "q"]], neutral))
    done("predict", "m.rankbook", *given[:3], "-o", "s.csv")
    for command in (["evaluate", "s.csv"], ["compare", "s.csv", "m.rankbook"]):
        said = refused(*command, *given)
        assert "preferences has pair_features" in said and "A table of scores has no" in said
