"""tools/sync.py in a small project: what it writes, and that it deletes nothing written by hand."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULE, NOTEBOOK = "rankbook/metrics/pairs.py", "nbs/metrics/pairs.ipynb"
CELL = """#| export
from rankbook.metrics.queries import (
    longer,
    name,
)
from rankbook.base.errors import ArgumentError

def double(x):
    return name(x) + longer(x)"""


def git(root, *arguments):
    named = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    return subprocess.run(
        ["git", *named, *arguments], cwd=root, check=True, capture_output=True, text=True
    ).stdout


def sync(root, *arguments):
    return subprocess.run(
        [sys.executable, "tools/sync.py", *arguments], cwd=root, capture_output=True, text=True
    )


def write_notebook(path, cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    made = [
        dict(cell_type=kind, id=f"c{i}", metadata={}, source=source.splitlines(keepends=True))
        | (dict(execution_count=None, outputs=[]) if kind == "code" else {})
        for i, (kind, source) in enumerate(cells)
    ]
    kernel = dict(display_name="python3", language="python", name="python3")
    notebook = dict(cells=made, metadata=dict(kernelspec=kernel), nbformat=4, nbformat_minor=5)
    path.write_text(json.dumps(notebook))


def edit(root, name, old, new):
    path = root / name
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    """A project of one notebook, exported and committed."""
    pytest.importorskip("nbdev")
    root = tmp_path_factory.mktemp("sync") / "project"
    shutil.copytree(ROOT / "tools", root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("settings.ini", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    for name in ("", "metrics/"):
        (root / "rankbook" / name).mkdir(parents=True)
        (root / "rankbook" / name / "__init__.py").touch()
    write_notebook(root / "nbs/index.ipynb", [("markdown", "# A project\n\nIts first words.")])
    cells = [("markdown", "# Pairs\n\n> Pairs of items.")]
    cells += [("code", "#| default_exp metrics.pairs"), ("code", CELL)]
    write_notebook(root / NOTEBOOK, cells)
    git(root, "init", "-q")
    assert sync(root).returncode == 0
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Export")
    return root


@pytest.fixture
def root(committed, tmp_path):
    return Path(shutil.copytree(committed, tmp_path / "project"))


def test_imports_are_relative_and_sorted_and_the_module_is_formatted(root):
    assert sync(root, "--check").returncode == 0
    text = (root / MODULE).read_text()
    imports = [line for line in text.splitlines() if line.startswith("from")]
    assert imports == ["from ..base.errors import ArgumentError", "from .queries import ("]
    assert "__all__" not in text and "\n\n\ndef double" in text
    assert "Its first words." in (root / "README.md").read_text()


@pytest.mark.parametrize("name", [MODULE, "README.md"])
def test_lines_written_by_hand_stay_and_are_named(root, name):
    path = root / name
    mine = path.read_text() + "# mine\n"
    path.write_text(mine)
    edit(root, NOTEBOOK, "return name(x)", "return name(2 * x)")
    done = sync(root)
    assert done.returncode == 1
    assert f"{name}, which is made from nbs/" in done.stderr and "+# mine" in done.stderr
    assert path.read_text() == mine
    assert set(git(root, "status", "--porcelain").split()) == {"M", name, NOTEBOOK}
    path.unlink()
    assert sync(root).returncode == 0 and "# mine" not in path.read_text()


def test_a_notebook_may_change_again_and_again_or_go(root):
    for old, new in [("name(x)", "name(2 * x)"), ("name(2 * x)", "name(3 * x)")]:
        edit(root, NOTEBOOK, f"return {old}", f"return {new}")
        assert sync(root).returncode == 0
        assert f"return {new} + longer(x)" in (root / MODULE).read_text()
    assert sync(root, "--check").returncode == 1
    (root / NOTEBOOK).unlink()
    assert sync(root).returncode == 0 and not (root / MODULE).exists()


def test_what_a_merge_brought_is_not_written_by_hand(root):
    git(root, "checkout", "-qb", "other")
    edit(root, NOTEBOOK, "return name(x)", "return name(2 * x)")
    assert sync(root).returncode == 0
    git(root, "commit", "-qam", "Double")
    git(root, "checkout", "-q", "main")
    edit(root, NOTEBOOK, "return name(x)", "return name(5 * x)")
    assert sync(root).returncode == 0
    git(root, "commit", "-qam", "Multiply by five")
    with pytest.raises(subprocess.CalledProcessError):
        git(root, "merge", "other")
    git(root, "checkout", "--theirs", NOTEBOOK, MODULE)
    edit(root, NOTEBOOK, "return name(2 * x)", "return name(10 * x)")
    assert sync(root).returncode == 0
    assert "return name(10 * x)" in (root / MODULE).read_text()


def test_a_committed_edit_stays_until_its_notebook_changes(root):
    with open(root / MODULE, "a") as file:
        file.write("# mine\n")
    git(root, "commit", "-qam", "Edit by hand")
    (root / ".git" / "written-by-sync.json").unlink()  # as in a fresh clone
    done = sync(root, "--check")
    assert done.returncode == 1 and "+# mine" in done.stderr
    assert "# mine" in (root / MODULE).read_text()
