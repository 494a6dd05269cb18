"""What editors see: a type checker reads a file that uses all that is public."""

import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rankbook as rb

PUBLIC = Path(__file__).parent / "public.py"


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


@pytest.mark.skipif(importlib.util.find_spec("pyright") is None, reason="pyright is not installed")
def test_pyright_finds_no_error():
    result = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--level", "error", "--pythonpath"]
        + [sys.executable, str(PUBLIC)],
        capture_output=True,
        text=True,
        cwd=PUBLIC.parents[2],
    )
    found = json.loads(result.stdout)["generalDiagnostics"]
    shown = [f"line {one['range']['start']['line'] + 1}: {one['message']}" for one in found]
    assert result.returncode == 0, "\n".join(shown)
