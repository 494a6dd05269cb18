"""Scores by hand from the JSON of a linear model, against predict."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

import rankbook as rb
from rankbook.estimators.scaled import ScaledModel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [1.0, 20.0, 0.01] + [0.0, -50.0, 3.0]
Y = np.digitize(X @ [1.0, 0.1, 50.0] + RNG.normal(size=60), [140, 145, 150])
HALF = (Y > 1).astype(int)
SVM = rb.RankSVM(kernel="linear")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def scores_by_hand(text, rows):
    """Scores of rows, by nothing but the text and sums; and the size of their largest term."""
    model = json.loads(text)
    assert set(model) == {"names", "weights", "offset"}
    terms = [
        [w * x for w, x in zip(model["weights"], row, strict=True)] + [model["offset"]]
        for row in rows.tolist()
    ]
    return np.array([math.fsum(row) for row in terms]), np.abs(terms).max()


MODELS = {
    "svm": SVM,
    "l1": rb.RankSVM(kernel="linear", penalty="l1"),
    "svm cv": rb.RankSVMCV(kernel="linear", cv=3),
    "rls": rb.RankRLS(kernel="linear"),
    "rls cv": rb.RankRLSCV(kernel="linear", cv=3),
    "online": rb.OnlineRankSVM(max_updates=2000),
    "standard": make_pipeline(StandardScaler(), SVM),
    "uncentred": make_pipeline(StandardScaler(with_mean=False), SVM),
    "centred": make_pipeline(StandardScaler(with_std=False), SVM),
    "range": make_pipeline(MinMaxScaler((-1, 3)), rb.RankRLS(kernel="linear")),
    "largest": make_pipeline(MaxAbsScaler(), SVM),
    "robust": make_pipeline(RobustScaler(), SVM),
    "robust, uncentred": make_pipeline(RobustScaler(with_centering=False), SVM),
    "robust, unscaled": make_pipeline(RobustScaler(with_scaling=False), SVM),
    "two": make_pipeline(MinMaxScaler(), "passthrough", StandardScaler(), SVM),
    "nested": make_pipeline(MaxAbsScaler(), make_pipeline(StandardScaler(), SVM)),
    "search": GridSearchCV(make_pipeline(StandardScaler(), SVM), dict(ranksvm__lam=[1, 9]), cv=2),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_scores_by_hand(model):
    new = X[:20] * [1.0, 1.5, 0.8]
    for items in (X, pd.DataFrame(X, columns=["size", "Größe", "3"])):
        text = rb.to_json(model.fit(items, Y))
        names = ["x0", "x1", "x2"] if items is X else ["size", "Größe", "3"]
        assert json.loads(text)["names"] == names
        wanted = model.predict(new if items is X else pd.DataFrame(new, columns=names))
        found, largest = scores_by_hand(text, new)
        assert np.ptp(wanted) > 0
        assert np.allclose(found, wanted, rtol=0, atol=1e-12 * largest)


@pytest.mark.parametrize("components", [None, 2, 3])
def test_scores_of_a_rayleigh_ranker_by_hand(components):
    model = rb.RayleighRanker(kernel="linear", n_components=components, lam=1.0)
    model = make_pipeline(StandardScaler(), model).fit(X, HALF)
    found, largest = scores_by_hand(rb.to_json(model), X)
    assert np.allclose(found, model.predict(X), rtol=0, atol=1e-12 * largest)


def test_scores_of_a_model_of_the_command_line_by_hand():
    centre, factor = X.mean(axis=0), 1 / X.std(axis=0)
    inner = rb.RankSVM(kernel="linear").fit((X - centre) * factor, Y)
    for columns, names in ((None, ["x0", "x1", "x2"]), (["a", "b", "c"], ["a", "b", "c"])):
        model = ScaledModel(inner, centre, factor, columns)
        found, largest = scores_by_hand(rb.to_json(model), X)
        assert np.allclose(found, model.predict(X), rtol=0, atol=1e-12 * largest)
        assert json.loads(rb.to_json(model))["names"] == names


REFUSED = {
    "kernel": (rb.RankSVM(), "not linear"),
    "subspace": (rb.RankSVM(kernel="poly", degree=1, approximate_kernel=3), "not linear"),
    "scaler": (
        make_pipeline(Normalizer(), SVM),
        "has the step Normalizer. Pass a pipeline whose",
    ),
    "rotation": (make_pipeline(PCA(2), SVM), "has the step PCA"),
    "clipped": (make_pipeline(MinMaxScaler(clip=True), SVM), "MinMaxScaler with clip=True"),
    "classes": (rb.OrdinalRanker(SVM), "is an OrdinalRanker"),
    "scaler alone": (StandardScaler(), "is a StandardScaler"),
}


@pytest.mark.parametrize("model, said", REFUSED.values(), ids=REFUSED)
def test_what_is_not_linear_in_raw_features_is_refused(model, said):
    with pytest.raises((ValueError, TypeError), match=f"^model .*{said}"):
        rb.to_json(model.fit(X, Y))


def test_other_refusals():
    several = rb.RankRLS(kernel="linear").fit(X, np.c_[Y, -Y])
    with pytest.raises(ValueError, match="^model gives 2 scores for each item"):
        rb.to_json(several)
    for model in (SVM, make_pipeline(StandardScaler(), SVM)):
        with pytest.raises(NotFittedError):
            rb.to_json(clone(model))


def engine_scores(text, frame):
    """Scores of a search engine, by nothing but the text, and the name of the model."""
    found = json.loads(text)
    if "class" in found:
        assert found["class"] == "org.apache.solr.ltr.model.LinearModel"
        norms = {f["name"]: f["norm"] for f in found["features"] if "norm" in f}
        assert {f["name"] for f in found["features"]} == set(found["params"]["weights"])
        kinds = {norm["class"] for norm in norms.values()}
        assert kinds <= {"org.apache.solr.ltr.norm.StandardNormalizer"}
        pairs = {
            k: (float(n["params"]["avg"]), float(n["params"]["std"])) for k, n in norms.items()
        }
        weights, name = found["params"]["weights"], found["name"]
    else:
        (model,) = found.values()
        name, model = model["name"], model["model"]
        assert model["type"] == "model/linear"
        weights = json.loads(model["definition"])  # a text within the text
        norms = {k: v["standard"] for k, v in model.get("feature_normalizers", {}).items()}
        pairs = {k: (n["mean"], n["standard_deviation"]) for k, n in norms.items()}
    assert all(deviation > 0 for _, deviation in pairs.values())
    total = 0.0
    for each, weight in weights.items():
        mean, deviation = pairs.get(each, (0.0, 1.0))
        total = total + weight * (frame[each].to_numpy() - mean) / deviation
    return total, name, pairs


@pytest.mark.parametrize("format", ["elasticsearch", "solr"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_scores_of_a_search_engine_by_hand(model, format):
    frame = pd.DataFrame(X, columns=["size", "Größe", "3"])
    text = rb.to_json(model.fit(frame, Y), format, "films")
    found, name, _ = engine_scores(text, frame)
    wanted = model.predict(frame)
    assert name == "films" and np.allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())


def test_a_constant_feature_and_one_without_scaling_have_no_normalizer():
    frame = pd.DataFrame(X, columns=list("abc")).assign(d=4.0)
    constant = make_pipeline(StandardScaler(), clone(SVM)).fit(frame, Y)
    for format in ("elasticsearch", "solr"):
        found, _, pairs = engine_scores(rb.to_json(constant, format), frame)
        assert np.allclose(found, constant.predict(frame)) and set("abc") <= set(pairs)
        assert not engine_scores(rb.to_json(clone(SVM).fit(frame, Y), format), frame)[2]


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="format is 'xml'"):
        rb.to_json(SVM.fit(X, Y), "xml")
