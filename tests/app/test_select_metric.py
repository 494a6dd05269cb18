"""Lambda chosen by any metric of graded queries: the curve is what the predictions have."""

import json

import numpy as np
import pandas as pd
import pytest
from shell import done

from rankbook.app.select import select_model
from rankbook.data.table import Dataset
from rankbook.metrics import by_query

EXACT = ["ndcg@10", "ndcg", "average_precision", "mrr"]
GRID = ["precision@3", "err@5", "kendall_tau", "recall@2"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X, qid = np.round(rng.normal(size=(160, 3)), 1), np.arange(160) // 8
    y = np.clip(np.round(X[:, 0] + X[:, 1] ** 2 / 2 + rng.normal(size=160) / 2), 0, 3)
    return Dataset(X, y, qid=qid)


@pytest.mark.parametrize("metric", EXACT + GRID)
@pytest.mark.parametrize("method", ["ranksvm", "rankrls"])
def test_no_lambda_is_better(data, metric, method):
    found = select_model(data, method=method, kernel="linear", metric=metric)
    curve, path, part = found.best.curve, found.best.path, found.parts["validation"]
    mean = lambda lam: np.nanmean(by_query(metric, part.y, path.predict(part.X, lam), part.qid)[1])
    lams = np.geomspace(*curve.scale, 52)[1:-1]
    lams = lams[lams > curve.breaks[-1]]
    if metric in EXACT:
        assert np.allclose([curve.at(lam) for lam in lams], [mean(lam) for lam in lams], atol=1e-9)
        assert curve.optimum >= max(map(mean, lams)) - 1e-9
    value = found.measured["validation"]["metrics"]
    key = dict(mrr="reciprocal_rank").get(metric, metric)
    said = value[metric] if metric in value else value[key]
    assert curve.metric == metric and np.isclose(said, curve.optimum, atol=1e-9)
    assert np.isclose(mean(found.solution.lam), curve.optimum, atol=1e-9)
    assert np.isclose(found.summary()["curve"]["minimum"], curve.optimum)


def test_one_standard_error_of_a_metric(data):
    best, found = (
        select_model(data, kernel="linear", metric="ndcg@5", rule=rule)
        for rule in ("largest", "one_se")
    )
    part = found.parts["validation"]
    values = by_query(
        "ndcg@5", part.y, best.best.path.predict(part.X, best.best.curve.choose()), part.qid
    )[1]
    error = np.std(values, ddof=1) / np.sqrt(values.size)
    assert np.isclose(found.settings["error"], error)
    assert found.solution.lam >= best.solution.lam
    assert found.best.curve.at(found.solution.lam) >= best.best.curve.optimum - error - 1e-9


def test_in_the_shell(data, tmp_path):
    frame = pd.DataFrame(data.X, columns=list("abc")).assign(qid=data.qid, grade=data.y)
    frame.to_csv(tmp_path / "d.csv", index=False)
    roles = [str(tmp_path / "d.csv"), "--target", "grade", "--qid", "qid", "--kernel", "linear"]
    facts = json.loads(done("select", *roles, "--metric", "precision@3", "--json"))
    assert facts["curve"]["metric"] == "precision@3" and facts["curve"]["maximize"]
    text = done("select", *roles, "--metric", "ndcg@10")
    assert "ndcg@10 of the validation part" in text and "maximum" in text


@pytest.mark.parametrize(
    ("metric", "said"),
    [("wrong", "metric is 'wrong'"), ("ndcg@0", "at least one rank"), ("log_loss", "log_loss")],
)
def test_wrong_metrics(data, metric, said):
    with pytest.raises((TypeError, ValueError), match=said):
        select_model(data, kernel="linear", metric=metric)


@pytest.mark.parametrize("metric", ["log_loss", "brier_score"])
def test_probabilities_are_measured_on_each_part(data, metric):
    found = select_model(data, kernel="linear", loss="logistic", metric=metric)
    part = found.parts["test"]
    difference = lambda i, j: found.solution.predict(part.X[[i, j]]) @ [1, -1]
    total = pairs = 0.0
    for i in range(len(part.y)):
        for j in np.flatnonzero((part.qid == part.qid[i]) & (part.y < part.y[i])):
            p = 1 / (1 + np.exp(-difference(i, j)))
            total, pairs = total + (-np.log(p) if metric == "log_loss" else (1 - p) ** 2), pairs + 1
    assert np.isclose(found.measured["test"]["metrics"][metric], total / pairs, rtol=1e-9)
