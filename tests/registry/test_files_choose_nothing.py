"""Files that name a plugin, refer to themselves, or hold what commands a terminal or a table."""

import io
import json
import sys
import time

import numpy as np
import pandas as pd
import pytest
from shell import done, refused, run

import rankbook as rb
from rankbook.base.errors import ArgumentError
from rankbook.base.files import open_archive, write_archive
from rankbook.data.writers import write_frame
from rankbook.estimators.saving import KIND

ESCAPE = "a\x1b]0;title\x07\x9b2J\u202eb"
X, Y = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [2.0, 2.0]]), [0, 1, 2, 1]


def changed(source, file, change):
    """A copy of a file whose values and arrays are changed."""
    header, arrays = open_archive(source)
    change(header["facts"]["values"], arrays)
    write_archive(file, header["kind"], header["facts"], arrays)
    return file


# Plugins


def test_a_path_imports_no_plugin_unless_the_caller_allows_it(tmp_path, install, forget):
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(Y))
    path = rb.solve_path(problem, solver="path", max_events=2)
    path.save(tmp_path / "a")
    marker = tmp_path / "imported"
    source = f"import rankbook\n\nopen({str(marker)!r}, 'w').close()\n\n"
    source += "class Zero(rankbook.Solver):\n    name, provides = 'zero', {'path'}\n"
    source += "    def path(self, problem, lam_min): pass\n"
    source += "    def restore(self, path, go_on): path.continuation = 'mine'\n"
    install("strange", source)
    file = changed(
        tmp_path / "a", tmp_path / "b", lambda values, _: values.update(solver="zero 1.0")
    )

    loaded = rb.load(file)
    assert not marker.exists() and loaded.continuation is None
    assert np.array_equal(loaded.breakpoints, path.breakpoints)
    with pytest.raises(ValueError, match="cannot be resumed.*'zero' is a plugin.*allow_plugins"):
        loaded.resume()
    assert rb.load(file, allow_plugins=True).continuation == "mine" and marker.exists()
    assert rb.load(tmp_path / "a").resume().status == "complete"


# References


def model_file(file, values):
    """A file of a model, whatever its values are."""
    write_archive(file, KIND, dict(values=values), {})
    return file


def objects(number, parameter, inside):
    """A written OrdinalRanker that is not fitted, with two parameters."""
    parts = [["params", {"$dict": [["ranker", inside], [parameter, inside]]}]]
    parts += [["fitted", {"$dict": []}]]
    return {"$object": "OrdinalRanker", "number": number, "parts": parts}


def doubling(levels):
    """Objects each of which refers twice to the one before: 2 ** levels of them."""
    found = [objects(0, "loss", 1)]
    found += [objects(i, "loss", {"$same": i - 1}) for i in range(1, levels)]
    return found


def chain(levels):
    """Objects each of which refers once to the one before."""
    found = [objects(0, "loss", 1)]
    for i in range(1, levels):
        found.append(objects(i, "loss", {"$same": i - 1}))
        found[-1]["parts"][0][1]["$dict"][1][1] = "x"
    return found


def nested(levels):
    """Lists inside lists."""
    value = []
    for _ in range(levels):
        value = [value]
    return value


HOSTILE = dict(doubling=doubling(40), chain=chain(300), nested=nested(120), shallow=doubling(12))


@pytest.mark.parametrize("name", HOSTILE)
def test_references_that_multiply_are_refused(tmp_path, name):
    file, start = model_file(tmp_path / "a", dict(model=HOSTILE[name])), time.perf_counter()
    with pytest.raises(ValueError, match="nested too deeply, or refer to one another too often"):
        rb.load(file)
    assert time.perf_counter() - start < 1


def test_references_of_our_own_files_are_read(tmp_path):
    """One array in five hundred places, and a graph of many items in two."""
    rows = np.arange(4)
    prefs = rb.Preferences([0, 1], [2, 3], n_items=4)
    model = rb.RankSVMCV("linear", cv=[(rows, rows)] * 2, solver="path").fit(X, Y)
    shared = rb.RankRLS(graph=prefs).fit(X, Y)
    model.set_params(cv=[(rows, rows)] * 500).save(tmp_path / "a")
    shared.save(tmp_path / "b")
    assert len(rb.load(tmp_path / "a").cv) == 500
    assert repr(rb.load(tmp_path / "b")) == repr(shared)


# Headers


@pytest.mark.parametrize("kind", [["rankbook path"], {}, 3, None, f"rankbook path{ESCAPE}"])
@pytest.mark.parametrize("read", [rb.load, "info"])
def test_a_kind_that_is_no_plain_text_is_refused(tmp_path, kind, read):
    header = json.dumps(dict(kind=kind, version=1, facts={})).encode()
    arrays = dict(header=np.frombuffer(header, dtype=np.uint8))
    np.savez(tmp_path / "a.npz", **arrays)
    if read == "info":
        assert "header is not the header of" in refused("info", tmp_path / "a.npz")
        return
    with pytest.raises(ValueError, match="header is not the header of") as raised:
        read(tmp_path / "a.npz")
    assert type(raised.value) is ArgumentError


# Screens


def is_clean(text):
    return not any(mark in text for mark in ("\x1b", "\x07", "\x9b", "\u202e", "\r"))


def test_what_a_file_says_cannot_command_a_terminal(tmp_path):
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(Y))
    rb.solve_path(problem, solver="path", max_events=2).save(tmp_path / "p")
    frame = pd.DataFrame(X, columns=[ESCAPE, "b"])
    rb.RankSVM(kernel="linear").fit(frame, Y).save(tmp_path / "m")

    bad = changed(tmp_path / "p", tmp_path / "q", lambda values, _: values.update(solver=ESCAPE))
    with pytest.raises(ValueError, match="solver is"):
        rb.load(bad)
    assert is_clean(done("info", bad))

    def reason(values, _):
        values.update(info={"$dict": [["reason", ESCAPE]]}, solver="gone 1.0")

    path = rb.load(changed(tmp_path / "p", tmp_path / "r", reason))
    path.info["reason"] = ESCAPE
    with pytest.raises(ValueError) as raised:
        path.resume()
    assert is_clean(str(raised.value)) and "\\x1b" in str(raised.value)

    said = done("info", tmp_path / "m")
    assert is_clean(said) and "\\x1b" in said
    frame.assign(y=Y).to_csv(tmp_path / "d.csv", index=False)
    said = run("fit", tmp_path / "d.csv", "--target", ESCAPE, "-o", tmp_path / "n").output
    said += run("fit", tmp_path / "d.csv", "-o", tmp_path / "n").output
    assert is_clean(said) and "rankbook: " in said
    explained = rb.explain_pair(rb.RankSVM(kernel="linear").fit(frame, Y), X[0], X[1])
    assert is_clean(str(explained)) and "\\x1b" in str(explained)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_names_are_escaped_on_a_terminal_and_kept_in_a_pipe(monkeypatch, is_terminal):
    out = io.StringIO()
    out.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stdout", out)
    write_frame(pd.DataFrame(dict(name=[ESCAPE], score=[-1.5])))
    assert is_clean(out.getvalue()) == is_terminal
    assert out.getvalue().endswith(",-1.5\n")


# Spreadsheets

CELLS = {
    "=cmd|'/C calc'!A0": True,
    "+1+cmd": True,
    "-2+3": True,
    "@SUM(A1)": True,
    "\t=1": True,
    "\r=1": True,
    "-3": False,
    "+4.5e-6": False,
    "-.5": False,
    "-": True,
    "a=b": False,
    "": False,
    "'=1": False,
}


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_text_that_is_a_formula_gets_an_apostrophe(tmp_path, ending):
    file, names = tmp_path / f"a{ending}", list(CELLS)
    numbers = -np.arange(1.0, len(CELLS) + 1)
    frame = pd.DataFrame(dict(qid=pd.Categorical(names), name=names, score=numbers))
    read = dict(sep="\t" if ending == ".tsv" else ",", keep_default_na=False, lineterminator="\n")
    write_frame(frame, file, formulas=False)
    again = pd.read_csv(file, **read, dtype=dict(qid=str, name=str))
    expected = [f"'{text}" if runs else text for text, runs in CELLS.items()]
    assert again["name"].tolist() == again["qid"].tolist() == expected
    assert again["score"].tolist() == numbers.tolist()
    write_frame(frame, file)
    assert pd.read_csv(file, **read, dtype=str)["name"].tolist() == names


def test_predict_writes_no_formulas_unless_asked(tmp_path):
    rb.RankSVM(kernel="linear").fit(X, Y).save(tmp_path / "m")
    table = pd.DataFrame(X, columns=["a", "b"]).assign(who=["=1+1", "x", "-2", "@me"])
    table.to_csv(tmp_path / "d.csv", index=False)
    call = ("predict", tmp_path / "m", tmp_path / "d.csv", "--name", "who")
    for more, expected in (
        (("-o", tmp_path / "o.csv"), ["'=1+1", "x", "-2", "'@me"]),
        (("-o", tmp_path / "o.csv", "--formulas"), ["=1+1", "x", "-2", "@me"]),
        ((), ["=1+1", "x", "-2", "@me"]),
    ):
        said = done(*call, *more)
        found = pd.read_csv(tmp_path / "o.csv" if more else io.StringIO(said))
        assert found["name"].tolist() == expected
