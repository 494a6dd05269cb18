"""The stored tables of the paper notebooks: made by the code that is there now, whole, and fit to be published."""
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOL, PAPERS = ROOT / "tools" / "paper_tables.py", ROOT / "nbs" / "papers"
DATA = ["mixture", "auto", "diabetes", "cancer"]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("paper_tables", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def names(tool):
    """What the notebook's shared cells define."""
    return tool.shared("zapien2009")


@pytest.fixture(scope="module")
def trials():
    return pd.read_csv(PAPERS / "zapien2009_trials.csv")


def check_row(trials, new):
    """A trial run now is the one that is stored."""
    keys = ["data", "graph", "trial"]
    found = trials[(trials[keys] == [new[key] for key in keys]).all(axis=1)]
    assert len(found) == 1
    old = found.iloc[0]
    assert {key: new[key] for key in ("pairs", "active", "used", "status")} == {key: old[key] for key in ("pairs", "active", "used", "status")}
    for key in ("start", "lam"):
        assert np.isclose(new[key], old[key], rtol=1e-4), key
    for key in ("validation", "order", "at_zero", "at_cut"):
        assert np.isclose(new[key], old[key], atol=1e-6, equal_nan=True), key
    assert np.isclose(new["breakpoints"], old.breakpoints, rtol=0.01)      # two that differ by rounding may count once
    assert abs(new["gap"]) <= 1e-8


def test_the_table_is_in_step_with_the_code(trials, names):
    for trial in names["TRIALS"]:
        check_row(trials, names["run_trial"]("cancer", trial=trial))


@pytest.mark.parametrize("name", DATA[:3])
def test_the_table_is_in_step_where_the_data_are_files(name, trials, names, data_dir):
    for trial in (0, 1):
        check_row(trials, names["run_trial"](name, trial=trial))


def test_an_altered_table_is_noticed(trials, names):
    altered = trials.copy()
    altered.loc[altered.data == "cancer", "order"] += 1e-3
    with pytest.raises(AssertionError, match="order"):
        check_row(altered, names["run_trial"]("cancer"))


def test_the_table_is_whole(tool, trials, names):
    assert list(trials.columns) == tool.COLUMNS
    expected = [(name, graph, trial) for name in DATA for graph in ("star", "full") for trial in names["TRIALS"]]
    assert list(trials[["data", "graph", "trial"]].itertuples(index=False, name=None)) == expected
    assert (trials.status == "complete").all() and (trials.gap.abs() <= 1e-6).all()


def test_the_times_belong_to_the_trials(trials):
    first, *_, head = (PAPERS / "zapien2009_times.txt").read_text(encoding="utf-8").splitlines()[:5]
    assert first.startswith("Machine-dependent: ") and " cores" in first
    assert head.split()[:2] == ["data", "graph"]
    lines = [line.split() for line in (PAPERS / "zapien2009_times.txt").read_text(encoding="utf-8").splitlines()[5:]]
    means = trials.groupby(["data", "graph"], sort=False)[["pairs", "breakpoints"]].mean().round().astype(int)
    assert [(*line[:2], int(line[2]), int(line[3])) for line in lines] == [(*key, *row) for key, row in zip(means.index, means.values.tolist())]


@pytest.fixture(scope="module")
def sparse_names(tool):
    return tool.shared("tsivtsivadze")


@pytest.fixture(scope="module")
def sparse_trials():
    return pd.read_csv(PAPERS / "tsivtsivadze_trials.csv")


def test_the_sparse_table_is_whole(sparse_trials, sparse_names):
    expected = [(data, trial, method, extra) for data, (_, extras) in sparse_names["ITEMS"].items() for trial in sparse_names["TRIALS"]
                for method in ("RLS", "RankRLS") for extra in extras]
    assert list(sparse_trials[["data", "trial", "method", "extra"]].itertuples(index=False, name=None)) == expected
    few = sparse_trials.data.map({data: few for data, (few, _) in sparse_names["ITEMS"].items()})
    assert (sparse_trials.r == sparse_trials.queries * few).all() and (sparse_trials.m == sparse_trials.queries * (few + sparse_trials.extra)).all()
    assert sparse_trials[["cv", "test"]].stack().between(0, 0.5).all()


@pytest.mark.parametrize("trial, method, extra", [(0, "RankRLS", 2), (3, "RLS", 0)])
def test_the_sparse_table_is_in_step_with_the_code(trial, method, extra, sparse_trials, sparse_names, data_dir):
    new = sparse_names["run_trial"]("sushi", trial, method, extra)
    old = sparse_trials.set_index(["data", "trial", "method", "extra"]).loc[("sushi", trial, method, extra)]
    assert np.isclose([new[key] for key in old.index], old.values.astype(float), atol=1e-6).all()


@pytest.mark.parametrize("file", sorted(PAPERS.glob("*.txt")) + sorted(PAPERS.glob("*.csv")), ids=lambda file: file.name)
def test_stored_tables_name_no_machine(file):
    import platform

    text = file.read_text(encoding="utf-8")
    assert "/home" not in text and "/tmp" not in text and "/work" not in text
    assert platform.node() == "" or platform.node() not in text


def run_tool(*arguments):
    return subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True)


def test_help_says_what_is_written():
    result = run_tool("--help")
    assert result.returncode == 0
    for file in ("zapien2009_trials.csv", "zapien2009_times.txt", "tsivtsivadze_trials.csv"):
        assert file in result.stdout


def test_an_unknown_paper_is_refused_with_the_known_ones():
    result = run_tool("zapien2008")
    assert result.returncode == 2 and "zapien2008" in result.stderr and "zapien2009" in result.stderr and "tsivtsivadze" in result.stderr
