"""Probabilities on the command line: measures of them, and those of pairs."""

import json

import numpy as np
import pandas as pd
import pytest
from shell import done, refused

import rankbook as rb

pytestmark = pytest.mark.usefixtures("workplace")
RNG = np.random.default_rng(0)


@pytest.fixture
def cars():
    """Items with four grades in two queries; a logistic model m and a hinge model h of them."""
    table = pd.DataFrame(RNG.normal(size=(60, 2)).round(3), columns=["a", "b"])
    table.insert(0, "name", [f"car {i}" for i in range(60)])
    table["y"] = np.digitize(table.a + 0.5 * RNG.normal(size=60), [-1, 0, 1])
    table["q"] = np.arange(60) % 2
    table.to_csv("cars.csv", index=False)
    given = ["fit", "cars.csv", "--target", "y", "--qid", "q", "--name", "name"]
    done(*given, "--kernel", "linear", "--loss", "logistic", "-o", "m")
    done(*given, "--kernel", "linear", "-o", "h")
    return table


def test_evaluate_has_brier_score_and_log_loss_of_models_with_probabilities(cars):
    model = rb.load("m")
    scores = model.predict(cars[["a", "b"]])
    given = cars.y, scores, cars.q
    expected = [rb.metrics.brier_score(*given), rb.metrics.log_loss(*given)]
    found = json.loads(done("evaluate", "m", "cars.csv", "--json"))["metrics"]
    assert [found["brier_score"], found["log_loss"]] == pytest.approx(expected, rel=1e-12)
    diagram = rb.metrics.reliability(*given)
    rows = json.loads(done("evaluate", "m", "cars.csv", "--json"))["reliability"]
    assert [row["observed"] for row in rows] == pytest.approx(diagram.observed.tolist())
    assert [row["preferences"] for row in rows] == diagram.count.tolist()
    text = done("evaluate", "m", "cars.csv")
    won = f"won, {diagram.low[0]:g} to {diagram.high[0]:g}"
    assert f"{won:18}{diagram.observed[0]:.6f}, predicted {diagram.predicted[0]:.6f}, " in text
    assert f"log_loss          {expected[1]:.6f}\n" in text
    one = json.loads(done("evaluate", "m", "cars.csv", "--metric", "log_loss", "--json"))
    assert one["metrics"] == dict(log_loss=found["log_loss"])
    rows = done("evaluate", "m", "cars.csv", "--by-query", "--metric", "brier_score", "--json")
    by_query = rb.metrics.by_query("brier_score", *given)[1]
    assert [row["brier_score"] for row in json.loads(rows)] == pytest.approx(by_query, rel=1e-12)


def test_others_have_none_until_they_are_calibrated(cars):
    assert "log_loss" not in done("evaluate", "h", "cars.csv")
    said = refused("evaluate", "h", "cars.csv", "--metric", "log_loss")
    assert "MODEL has no probabilities. Pass a model fitted with --loss logistic" in said
    done("predict", "m", "cars.csv", "-o", "s.csv")
    said = refused("evaluate", "s.csv", "cars.csv", "--target", "y", "--metric", "brier_score")
    assert "MODEL has no probabilities. Pass a model fitted with --loss logistic" in said
    model = rb.load("h").calibrate(cars[["a", "b"]], cars.y, qid=cars.q)
    model.save("c")
    assert json.loads(done("info", "c", "--json"))["calibration"]["slope"] == model.link_.slope
    found = json.loads(done("evaluate", "c", "cars.csv", "--json"))["metrics"]
    scores = model.predict(cars[["a", "b"]])
    expected = rb.metrics.log_loss(cars.y, scores, cars.q, link=model.link_)
    assert found["log_loss"] == pytest.approx(expected, rel=1e-12)


def test_preferences_are_judged_by_probabilities_too_and_survival_times_are_not(cars):
    votes = pd.DataFrame(dict(winner=["car 1", "car 2", "car 3"], loser=["car 4"] * 3))
    votes.to_csv("votes.csv", index=False)
    given = ["evaluate", "m", "cars.csv", "--name", "name", "--preferences", "votes.csv"]
    whole = json.loads(done(*given, "--json"))
    found = whole["metrics"]
    assert sum(row["preferences"] for row in whole["reliability"]) == 3
    assert "won, 0." in done(*given)
    prefs = rb.Preferences.from_pairs(votes, items=cars.name)
    scores = rb.load("m").predict(cars[["a", "b"]])
    assert found["brier_score"] == pytest.approx(rb.metrics.brier_score(prefs, scores), rel=1e-12)
    assert list(found) == ["disagreement", "pair_accuracy", "brier_score", "log_loss"]
    one = json.loads(done(*given, "--json", "--metric", "log_loss"))["metrics"]
    assert one == dict(log_loss=found["log_loss"])
    cars.assign(died=True).to_csv("lives.csv", index=False)
    given = ["evaluate", "m", "lives.csv", "--time", "y", "--event", "died"]
    assert list(json.loads(done(*given, "--json"))["metrics"]) == ["concordance", "disagreement"]
    said = refused(*given, "--metric", "brier_score")
    assert "--metric is 'brier_score'. Pass concordance or disagreement for survival" in said


def test_predict_gives_the_probabilities_of_pairs(cars):
    pairs = pd.DataFrame(dict(home=["car 1", "car 2"], away=["car 2", "car 1"]))
    pairs.to_csv("pairs.csv", index=False)
    done("predict", "m", "cars.csv", "--pairs", "pairs.csv", "-o", "p.csv")
    found = pd.read_csv("p.csv")
    assert list(found) == ["home", "away", "probability"]
    X = cars[["a", "b"]]
    expected = rb.load("m").predict_pair_proba(X[1:2], X[2:3])[0]
    assert found.probability.tolist() == pytest.approx([expected, 1 - expected], rel=1e-12)
    pd.DataFrame(dict(a=[1], b=[2])).to_csv("rows.csv", index=False)
    rows = json.loads(done("predict", "m", "cars.csv", "--pairs", "pairs.csv", "--json"))
    assert rows[0]["probability"] == pytest.approx(expected)
    assert "not log-odds" in refused("predict", "h", "cars.csv", "--pairs", "pairs.csv")
    pairs.assign(home="car 99").to_csv("other.csv", index=False)
    said = refused("predict", "m", "cars.csv", "--pairs", "other.csv")
    assert "home is 'car 99' in row 0, which is not among the" in said
    pairs.assign(more=1).to_csv("three.csv", index=False)
    assert "pairs has 3 columns. Pass two" in refused(
        "predict", "m", "cars.csv", "--pairs", "three.csv"
    )
    assert "together with several files" in refused(
        "predict", "m", "cars.csv", "--pairs", "pairs.csv", "--ranked"
    )
