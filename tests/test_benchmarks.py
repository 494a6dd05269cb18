"""Does `python -m benchmarks` run, with and without the peers? What it measures, nobody tests."""

import sys
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.usefixtures("one_thread")

NAMES = ["interior", "paths", "linear", "rankrls", "quality", "projected", "rayleigh"]


@pytest.fixture(autouse=True)
def from_root(root, monkeypatch):
    """The folder benchmarks lies beside the package."""
    monkeypatch.syspath_prepend(str(root))


def part(name):
    return import_module(f"benchmarks.{name}")


def run(*arguments):
    part("__main__").main(list(arguments))


def test_help_lists_the_names(capsys):
    with pytest.raises(SystemExit) as ended:
        run("--help")
    printed = capsys.readouterr().out
    assert ended.value.code == 0 and list(part("__main__").NAMES) == NAMES
    assert all(f"\n  {name} " in printed for name in NAMES)


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["linaer"], "NAME is 'linaer'; did you mean 'linear'? Accepted: interior, linear, paths"),
        (["--svm-rank", "nowhere"], "'nowhere' is no file; the path of a program is accepted."),
        (["--full", "--tiny"], "not allowed with"),
        (["--liblinear", __file__], "may not be executed; the path of a program is accepted."),
        (["--out", "nowhere/table.md"], "'nowhere/table.md' cannot be written; a file in a"),
        (["--out", "."], "'.' cannot be written; a file in a folder that can be written to is"),
    ],
)
def test_what_is_unknown_is_refused(capsys, arguments, says):
    with pytest.raises(SystemExit) as ended:
        run(*arguments)
    assert ended.value.code == 2 and says in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_each_runs_on_tiny_data(name):
    module = part(name)
    rows = list(module.rows("tiny", {}))
    assert rows and module.__doc__
    for row in rows:
        assert row.seconds is not None or row.quality is not None or row.note
        assert row.ratio is None or row.ratio > 0


def test_a_missing_peer_gets_a_row_that_says_so(capsys, monkeypatch):
    monkeypatch.setattr(part("common"), "find_spec", lambda name: None)
    monkeypatch.setattr(part("interior"), "qp_backends", lambda: ["CLARABEL"])
    run("quality", "interior", "linear", "--tiny")
    lines = capsys.readouterr().out.splitlines()
    for peer, why in (
        ("LightGBM", "not installed"),
        ("XGBoost", "not installed"),
        ("PIQP", "not installed"),
        ("SVM^rank", "not given: --svm-rank PATH"),
        ("liblinear-ranksvm", "not given: --liblinear PATH"),
    ):
        assert any(f"| {peer} |" in line and line.endswith(f"| {why} |") for line in lines)


@pytest.mark.parametrize("name", ["a.csv", "a.md"])
def test_a_table_is_written(workplace, tmp_path, name):
    run("projected", "--tiny", "--out", name)
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert "processor: " in text and "numpy: " in text
    if name.endswith(".csv"):
        table = pd.read_csv(name, comment="#")
        assert (table.benchmark == "projected").all() and table["items"].eq(200).all()
    else:
        assert text.startswith("| benchmark | what |") and "\n| projected | " in text


def test_ours_and_its_peers_take_turns():
    calls = []
    ours, other = lambda: calls.append("ours") or 1.0, lambda: calls.append("other") or 2.0
    peers, measures = {"other": other, "gone": "not installed"}, {"twice": lambda x: 2 * x}
    there, absent = part("common").compare("a", 3, ours, peers, measures)
    assert calls == ["ours", "other"] * 3 and there.rounds == 3
    assert (there.quality, there.peer_quality, there.peer) == (2.0, 4.0, "other")
    assert (absent.peer, absent.note, absent.seconds) == ("gone", "not installed", None)


PROGRAM = """\
import sys

*options, file, model = sys.argv[1:]
assert options == {options!r} and " qid:" in open(file).readline()
open(model, "w").write({text!r})
"""
MODELS = {
    "svm_rank": "SVM-light Version V6.20\n0 # threshold b, a SV (with alpha*y)\n2 1:0.5 3:-1 #\n",
    "liblinear": "solver_type L2R_L2LOSS_RANKSVM\nnr_feature 3\nbias -1\nw\n1 \n0 \n-2 \n",
}


@pytest.mark.parametrize("name", MODELS)
def test_a_program_trains_on_a_file_and_its_model_is_read(name, tmp_path):
    linear = part("linear")
    options = ["-c", "2"]
    (tmp_path / "program.py").write_text(PROGRAM.format(options=options, text=MODELS[name]))
    (tmp_path / "train.txt").write_text("1 qid:1 1:0.5\n")
    read = {"svm_rank": linear.weights_of_svm_rank, "liblinear": linear.weights_of_liblinear}[name]
    command = [sys.executable, str(tmp_path / "program.py"), *options]
    weights = linear.trained(command, tmp_path / "train.txt", read, 3)
    assert np.array_equal(weights, [1.0, 0.0, -2.0])
