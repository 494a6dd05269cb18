"""A saved model in the format of another program."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from shell import done, refused

import rankbook as rb

FRAME = pd.DataFrame(
    dict(title=[0.0, 3.0, 1.0, 5.0], year=[1990, 2001, 1984, 2010], good=[0, 1, 0, 2])
)


@pytest.fixture
def model(tmp_path):
    FRAME.to_csv(tmp_path / "d.csv", index=False)
    file = tmp_path / "m.rankbook"
    done("fit", tmp_path / "d.csv", "--target", "good", "--kernel", "linear", "-o", file)
    return file


@pytest.mark.parametrize("format", ["plain", "elasticsearch", "solr"])
def test_the_text_is_that_of_python(model, format, tmp_path):
    text = done("export", model, "--format", format, "--name", "films")
    assert text == rb.to_json(rb.load(model), format, "films") + "\n"
    done("export", model, "--format", format, "--name", "films", "-o", tmp_path / "x.json")
    assert (tmp_path / "x.json").read_text(encoding="utf-8") == text
    assert "year" in json.dumps(json.loads(text))
    assert done("export", model, "--format", format, "--name", "films", "-o", "-") == text


def test_what_cannot_be_exported(model, tmp_path):
    assert "--format is 'xml'" in refused("export", model, "--format", "xml")
    assert "no such file" in refused("export", tmp_path / "none").lower()
    rb.RankSVM().fit(FRAME[["title"]], FRAME["good"]).save(tmp_path / "rbf.rankbook")
    assert "not linear" in refused("export", tmp_path / "rbf.rankbook")
    assert "and another argument names" in refused("export", model, "-o", model)


@pytest.mark.parametrize(
    "format, name, accepted",
    [
        ("onnx", "d.csv", ".onnx"),
        ("onnx", "m.json", ".onnx"),
        ("plain", "d.csv", ".json"),
        ("solr", "m.onnx", ".json"),
        ("elasticsearch", "m.json.gz", ".json"),
    ],
)
def test_an_ending_of_another_format_is_refused(model, tmp_path, format, name, accepted):
    (tmp_path / name).write_text("kept")
    said = refused("export", model, "--format", format, "-o", tmp_path / name)
    assert f"and --format is {format}. Pass a file that ends in {accepted}." in said
    assert (tmp_path / name).read_text() == "kept"


@pytest.mark.peer("onnxruntime")
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_onnx_scores_as_predict_does(kernel, model, tmp_path):
    import onnxruntime

    data, file = tmp_path / "d.csv", tmp_path / "m.onnx"
    done("fit", data, "--target", "good", "--kernel", kernel, "-o", model)
    done("export", model, "--format", "onnx", "-o", file)
    session = onnxruntime.InferenceSession(file)
    names = json.loads(session.get_modelmeta().custom_metadata_map["features"])
    assert names == ["title", "year"]
    (found,) = session.run(["scores"], dict(X=FRAME[names].to_numpy(dtype=float)))
    wanted = rb.load(model).predict(FRAME[names])
    differ = found.ravel() - wanted
    assert np.ptp(differ) < 1e-8 * np.ptp(wanted)
    written = file.read_bytes()
    assert "Omit --name" in refused("export", model, "--format", "onnx", "--name", "m", "-o", file)
    assert "Pass a file" in refused("export", model, "--format", "onnx")
    assert file.read_bytes() == written


def test_onnx_that_is_not_installed(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    said = refused("export", model, "--format", "onnx", "-o", tmp_path / "m.onnx")
    assert 'pip install "rankbook[onnx]"' in said and "--format onnx needs onnx" in said
    assert not (tmp_path / "m.onnx").exists()
