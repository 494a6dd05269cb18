"""What editors see: type checkers read a file that uses all that is public, and misspelt names."""

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rankbook as rb

PUBLIC = Path(__file__).parent / "public.py"
ESTIMATORS = [name for name in rb.__all__ if hasattr(getattr(rb, name), "fit")]


def names():
    """Every public name as it is written: rb.solve, rb.metrics.ndcg."""
    for name in rb.__all__:
        value = getattr(rb, name)
        yield from (
            [f"rb.{name}.{inner}" for inner in value.__all__]
            if inspect.ismodule(value)
            else [f"rb.{name}"]
        )


def test_the_file_uses_every_name():
    text = PUBLIC.read_text(encoding="utf-8")
    assert [name for name in names() if not re.search(rf"\b{re.escape(name)}\b", text)] == []


def by_pyright(*files):
    """Files and lines with errors, and what pyright says of them."""
    command = ["pyright", "--outputjson", "--level", "error", "--pythonpath", sys.executable]
    for one in json.loads(said_by(*command, *files))["generalDiagnostics"]:
        yield Path(one["file"]), one["range"]["start"]["line"] + 1, one["message"]


def by_mypy(*files):
    """Files and lines with errors, and what mypy says of them."""
    command = ["mypy", "--output", "json", "--cache-dir", os.devnull]
    for one in map(json.loads, said_by(*command, *files).splitlines()):
        yield Path(one["file"]).resolve(), one["line"], one["message"]


def said_by(module, *arguments):
    """What a type checker writes, which ends with 1 if it finds errors."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=PUBLIC.parents[2])
    assert result.returncode < 2, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize("found_by", [pytest.param(by_pyright, marks=pytest.mark.slow), by_mypy])
def test_misspelt_names_are_the_only_errors(tmp_path, found_by):
    wrong = [f"rb.{name}().fit(X, y).predikt" for name in ESTIMATORS]
    wrong += [f"print({name}x)" for name in names()]
    wrong += ["rb.RankRLS().partial_fit(X, y).predikt", "rb.OnlineSVC().partial_fit(X, y).predikt"]
    wrong += ["rb.RankSVM().set_params(lam=2.0).predikt", "rb.RankSVM().set_fit_request().predikt"]
    wrong += ["rb.solve(problem, 1.0).predikt", "rb.solve_path(problem).predikt"]
    wrong += ["rb.metrics.ndcg(y, y).predikt", "rb.metrics.compare(y, y, y, y).predikt"]
    head = ["import rankbook as rb", "X, y = [[0.0], [1.0]], [0, 1]"]
    head += ["problem = rb.RankSVMProblem(X, rb.Preferences([1], [0], 2))"]
    misspelt = tmp_path / "misspelt.py"
    misspelt.write_text("\n".join(head + wrong), encoding="utf-8")
    found = list(found_by(PUBLIC, misspelt))
    assert [error for error in found if error[0] != misspelt.resolve()] == []
    lines = {line for _, line, _ in found}
    assert [line for i, line in enumerate(head + wrong, 1) if (i in lines) != (line in wrong)] == []
