"""The first cell of the notebooks: what it installs and reads where a notebook runs alone."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "nbs").exists(), reason="the notebooks of a clone")


@pytest.fixture(scope="module")
def opening():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import opening

        return opening
    finally:
        sys.path.remove(str(ROOT / "tools"))


def notebooks():
    return sorted((ROOT / "nbs").rglob("*.ipynb"))


def test_every_notebook_begins_with_it(opening):
    """Otherwise run tools/sync.py."""
    wrong = []
    for path in notebooks():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        others = [cell for cell in cells if cell.get("id") != opening.NAME]
        if code and "".join(code[0]["source"]) != opening.source(path, others):
            wrong.append(path.name)
        assert not code or code[0]["metadata"]["tags"] == ["remove-cell"] and not code[0]["outputs"]
    assert wrong == []


def test_it_names_optional_packages(opening):
    code = "import numpy\nfrom lifelines import KaplanMeierFitter\nimport polars as pl\n"
    code += 'rb.datasets.load("auto")\nif find_spec("lightgbm"):\n    import lightgbm\n'
    assert list(opening.needs(code)) == ["rankbook", "lifelines", "polars", "pooch"]
    assert list(opening.needs('rb.RankSVM(solver="auto")')) == ["rankbook"]
    assert opening.needs("")["rankbook"].endswith("@git+https://github.com/rankbook/rankbook")


def run(code, tmp_path, monkeypatch, missing=()):
    """Run the cell in an empty folder where these packages are missing; return what it asks for."""
    asked = dict(installed=[], read=[])
    from importlib import util

    find = util.find_spec
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(util, "find_spec", lambda name: None if name in missing else find(name))
    monkeypatch.setattr("subprocess.run", lambda command, check: asked["installed"].append(command))
    monkeypatch.setattr(
        "urllib.request.urlretrieve", lambda address, name: asked["read"].append((address, name))
    )
    exec(code, {})
    return asked


def test_it_reads_tables_that_are_not_there(opening, tmp_path, monkeypatch):
    path = ROOT / "nbs" / "book" / "which.ipynb"
    code = opening.source(path, json.loads(path.read_text(encoding="utf-8"))["cells"])
    address = "https://raw.githubusercontent.com/rankbook/rankbook/main/nbs/book/which.csv"
    assert run(code, tmp_path, monkeypatch) == dict(installed=[], read=[(address, "which.csv")])
    (tmp_path / "which.csv").touch()
    assert run(code, tmp_path, monkeypatch)["read"] == []


def test_it_installs_what_is_missing(opening, tmp_path, monkeypatch):
    path = ROOT / "nbs" / "book" / "survival.ipynb"
    code = opening.source(path, json.loads(path.read_text(encoding="utf-8"))["cells"])
    (installed,) = run(code, tmp_path, monkeypatch, ["rankbook", "lifelines"])["installed"]
    assert installed[1:5] == ["-m", "pip", "install", "--quiet"] and len(installed) == 7
    assert installed[5].startswith("rankbook") and installed[6].startswith("lifelines>=")
