"""What comes with an extra: nothing of the main job needs it, and the rest says what to type."""

import subprocess
import sys
from importlib.metadata import requires

import numpy as np
import pytest
from packaging.requirements import Requirement

from rankbook import datasets
from rankbook.base import limits
from rankbook.data.table import read_table

PIP = r'which is not installed: pip install "rankbook\[data\]"'


def packages(extra):
    """What an extra brings, or what is brought without one."""
    found = map(Requirement, requires("rankbook"))
    return {
        one.name
        for one in found
        if (
            one.marker is None
            if extra is None
            else one.marker and one.marker.evaluate({"extra": extra})
        )
    }


def extras_within(extra):
    """Which extras of rankbook itself an extra brings."""
    found = map(Requirement, requires("rankbook"))
    ours = (one for one in found if one.name == "rankbook" and f'"{extra}"' in str(one.marker))
    return set().union(*(one.extras for one in ours))


def test_reading_parquet_without_pyarrow_says_what_to_type(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=rf"a.parquet as Parquet needs pyarrow, {PIP}") as caught:
        read_table(tmp_path / "a.parquet", target="y")
    assert caught.value.name == "pyarrow"


def test_downloading_without_pooch_says_what_to_type(monkeypatch):
    monkeypatch.delenv("RANKBOOK_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=rf"downloading http.*auto-mpg.data needs pooch, {PIP}"):
        datasets.load("auto")


def test_a_table_is_chosen_for_without_any_extra(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)).round(3)
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    table, picture = tmp_path / "a.csv", tmp_path / "a.svg"
    np.savetxt(table, np.c_[X, y], delimiter=",", header="a,b,y", comments="", fmt="%g")
    without = sorted(packages("data") | packages("large") | packages("dev") - {"rankbook"})
    code = f"""
import sys

class Absent:
    def find_spec(name, *rest):
        if name.split(".")[0] in {without}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent)
sys.argv[1:] = ["select", {str(table)!r}, "--target", "y", "--plot", {str(picture)!r}]
from rankbook.app.cli.main import main

main()
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "chosen" in result.stdout and picture.exists()


def test_the_extras_bring_what_the_package_itself_does_not():
    assert packages("data") == {"pyarrow", "pooch"} and packages("large") == {"pynndescent"}
    peers = {"rankbook", "lightgbm", "xgboost", "piqp", "scikit-survival"}
    assert packages("benchmarks") == peers
    more = {"arena-rank", "choix", "evalica", "statsmodels"}
    assert packages("peers") == peers - {"piqp"} | more
    assert extras_within("dev") == {"data", "large", "dask", "survival"}
    # a plugin that tests install wraps piqp
    assert packages("dev") & (packages("benchmarks") - {"rankbook"}) == {"piqp"}
    extras = packages("data") | packages("large") | packages("benchmarks") | packages("dev")
    assert not packages(None) & extras


def test_memory_is_asked_of_the_system(monkeypatch):
    def no_file(*args, **kwargs):
        raise FileNotFoundError

    assert 2**20 < limits.available_memory() < 2**60
    if sys.platform == "linux":
        built_in = limits.os.sysconf("SC_PHYS_PAGES") * limits.os.sysconf("SC_PAGE_SIZE")
        assert limits.available_memory() < built_in
        monkeypatch.setattr(limits, "open", no_file, raising=False)
        assert limits.available_memory() == built_in
    monkeypatch.delattr(limits.os, "sysconf", raising=False)
    monkeypatch.setattr(limits, "open", no_file, raising=False)
    assert limits.available_memory() == float("inf")
    limits.require_memory(2**80, "everything", "nothing")
