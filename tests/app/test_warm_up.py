"""`rankbook warm-up` compiles what first calls need; the README and the guides then wait for none.

The compiled code of a release is what it compiles.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankbook.app import warm_up

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ["index", *(f"guides/{path.stem}" for path in (ROOT / "nbs/guides").glob("*.ipynb"))]


def test_the_functions_that_the_steps_compiled_are_counted(tmp_path, monkeypatch, capsys):
    def step():
        print("rankbook: compiling", file=sys.stderr)
        (tmp_path / "function.nbc").touch()

    monkeypatch.setattr(warm_up, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(warm_up, "STEPS", (step,))
    assert [warm_up.warm_up(n_jobs=1) for _ in range(2)] == [1, 0]
    assert capsys.readouterr().err == ""


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "cache").write_text("a file where a folder should be")
    result = subprocess.run(
        [sys.executable, "-m", "rankbook", "warm-up"],
        capture_output=True,
        text=True,
        env=os.environ | dict(NUMBA_CACHE_DIR=str(tmp_path / "cache")),
    )
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith("rankbook: error: compiled code cannot be kept in ")


@pytest.mark.slow
@pytest.mark.data
def test_the_guides_compile_nothing_after_it(tmp_path):
    tmp_path.chmod(0o700)
    environ = os.environ | dict(NUMBA_CACHE_DIR=str(tmp_path))
    subprocess.run([sys.executable, "-m", "rankbook", "warm-up"], env=environ, check=True)
    before = {path.name for path in tmp_path.rglob("*.nbc")}
    assert len(before) > 30
    run = [sys.executable, ROOT / "tools" / "notebooks.py", *GUIDES]
    subprocess.run(run, env=environ, check=True)
    assert {path.name for path in tmp_path.rglob("*.nbc")} - before == set()
