"""What comes with an extra: nothing of the main job needs it, and the rest says what to type."""

import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from packaging.requirements import Requirement

from rankbook import datasets
from rankbook.base import limits
from rankbook.data.table import read_table

ROOT = Path(__file__).resolve().parents[2]
OF_EXTRAS = {"cvxpy", "clarabel", "matplotlib", "typer", "pyarrow", "pooch", "pynndescent", "dask"}
MISSING = ', which is not installed: pip install "rankbook'
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


def run_without(packages, code, folder):
    """Run code in a folder, in a Python that lacks some packages."""
    absent = f"""
import sys
from importlib import util

class Absent:
    def find_spec(name, *rest):
        if name.split(".")[0] in {sorted(packages)}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Absent)
"""
    command = [sys.executable, "-c", absent + code]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def test_a_table_is_chosen_for_without_the_extra_data(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)).round(3)
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    table, picture = tmp_path / "a.csv", tmp_path / "a.svg"
    np.savetxt(table, np.c_[X, y], delimiter=",", header="a,b,y", comments="", fmt="%g")
    without = packages("data") | packages("large") | packages("dev") - {"rankbook"}
    code = f"""
sys.argv[1:] = ["select", {str(table)!r}, "--target", "y", "--plot", {str(picture)!r}]
from rankbook.__main__ import main
main()
"""
    result = run_without(without, code, tmp_path)
    assert result.returncode == 0, result.stderr
    assert "chosen" in result.stdout and picture.exists()


def test_every_estimator_works_with_the_core_alone(tmp_path):
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import release
    finally:
        sys.path.pop(0)
    result = run_without(OF_EXTRAS, release.CORE, tmp_path)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--version"], f'the command line needs typer{MISSING}[cli]"'),
        (["select", "cancer", "--plot", "a.svg"], f'--plot needs matplotlib{MISSING}[plots]"'),
    ],
)
def test_a_command_says_what_to_install(tmp_path, arguments, said):
    without = {"typer"} if "typer" in said else {"matplotlib"}
    code = f"sys.argv[1:] = {arguments}\nfrom rankbook.__main__ import main\nmain()"
    result = run_without(without, code, tmp_path)
    assert (result.returncode, result.stderr) == (2, f"rankbook: error: {said}\n")


def test_the_extras_bring_what_the_package_itself_does_not():
    assert packages("data") == {"pyarrow", "pooch"} and packages("large") == {"pynndescent"}
    assert packages("cli") == {"typer"} and packages("plots") == {"matplotlib"}
    assert packages("qp") == {"cvxpy-base", "clarabel"}
    assert extras_within("all") == {"cli", "data", "large", "plots", "qp"}
    peers = {"rankbook", "lightgbm", "xgboost", "piqp", "scikit-survival"}
    assert packages("benchmarks") == peers
    more = {"arena-rank", "choix", "evalica", "onnxruntime", "statsmodels"}
    assert packages("peers") == peers - {"piqp"} | more
    assert extras_within("dev") == {"all", "dask", "survival"}
    # a plugin that tests install wraps piqp
    assert packages("dev") & (packages("benchmarks") - {"rankbook"}) == {"piqp"}
    extras = (
        OF_EXTRAS | packages("data") | packages("large") | packages("benchmarks") | packages("dev")
    )
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


def test_memory_is_asked_of_windows(monkeypatch):
    def answer(status):
        assert status._obj.size == 64  # which Windows requires
        status._obj.free, status._obj.promised = 5, 3
        return 1

    library = SimpleNamespace(kernel32=SimpleNamespace(GlobalMemoryStatusEx=answer))
    monkeypatch.setattr(limits.ctypes, "windll", library, raising=False)
    monkeypatch.setattr(limits, "_lines", lambda path: [])
    monkeypatch.delattr(limits.os, "sysconf", raising=False)
    assert limits.available_memory() == 3
