"""Files of ONNX, read and scored by onnxruntime, against predict."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import rankbook as rb

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [1.0, 20.0, 0.01] + [0.0, 1990.0, 3.0]
Y = np.digitize((X - X.mean(axis=0)) @ [1.0, 0.1, 50.0] + RNG.normal(size=60), [-1, 0, 1])
SMALL = (X - X.mean(axis=0)) / X.std(axis=0)
MODELS = {
    "linear": rb.RankSVM(kernel="linear"),
    "several columns": rb.RankRLS(kernel="linear"),
    "rbf": rb.RankRLS(),
    "poly": rb.RankRLS(kernel="poly", degree=2, gamma=0.5),
    "ranking svm": rb.RankSVM(),
    "approximate": rb.RankSVM(approximate_kernel=20),
    "basis": rb.RankRLS(basis=15),
}
SCALED = {
    "scaled": make_pipeline(StandardScaler(), rb.RankSVM(kernel="linear")),
    "scaled rbf": make_pipeline(StandardScaler(), rb.RankRLS()),
    "two": make_pipeline(MinMaxScaler(), StandardScaler(), rb.RankSVM(approximate_kernel=10)),
}


def scores(model, rows):
    import onnxruntime

    session = onnxruntime.InferenceSession(rb.to_onnx(model))
    (found,) = session.run(["scores"], dict(X=np.asarray(rows, dtype=float)))
    return found


@pytest.mark.peer("onnxruntime")
@pytest.mark.parametrize("name", [*MODELS, *SCALED])
def test_scores_are_those_of_predict(name):
    model, rows = (MODELS[name], SMALL) if name in MODELS else (SCALED[name], X)
    y = np.c_[Y, -Y] if name == "several columns" else Y
    model.fit(rows, y)
    new = rows[:20] * 1.01
    wanted, found = model.predict(new).reshape(20, -1), scores(model, new)
    assert found.dtype == float and found.shape == wanted.shape
    differ = found - wanted
    assert np.ptp(wanted) > 0
    assert np.ptp(differ, axis=0).max() < 1e-8 * np.ptp(wanted)


@pytest.mark.peer("onnxruntime")
def test_a_label_ranker_has_a_column_for_each_label():
    model = rb.LabelRanker(kernel="linear").fit(SMALL, RNG.normal(size=(60, 4)))
    assert np.allclose(scores(model, SMALL), model.predict(SMALL), atol=1e-10)


@pytest.mark.filterwarnings("ignore:not converged")
def test_models_that_have_no_file_are_refused():
    with pytest.raises(TypeError, match="model is a str"):
        rb.to_onnx("model")
    model = make_pipeline(StandardScaler(), rb.OnlineRankSVM(max_updates=2000)).fit(X, Y)
    with pytest.raises(TypeError, match="model is an OnlineRankSVM"):
        rb.to_onnx(model)


@pytest.mark.peer("onnx")
def test_kernels_without_operators_are_refused():
    frame = pd.DataFrame(SMALL)
    for kernel, rows in (("precomputed", SMALL @ SMALL.T), (lambda A, B: A @ B.T, frame)):
        model = rb.RankRLS(kernel=kernel).fit(rows, Y)
        with pytest.raises((TypeError, ValueError), match="model has the"):
            rb.to_onnx(model)
