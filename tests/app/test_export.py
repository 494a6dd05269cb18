"""A saved model in the format of another program."""

import json

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


def test_what_cannot_be_exported(model, tmp_path):
    assert "--format is 'xml'" in refused("export", model, "--format", "xml")
    assert "no such file" in refused("export", tmp_path / "none").lower()
    rb.RankSVM().fit(FRAME[["title"]], FRAME["good"]).save(tmp_path / "rbf.rankbook")
    assert "not linear" in refused("export", tmp_path / "rbf.rankbook")
