"""Altered files: refused or read, and then used, in bounded time and memory, without a crash."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("fuzzing.py")


def campaign(what, count, seed):
    """What became of altered files, a dict; see :mod:`fuzzing`."""
    call = [sys.executable, SCRIPT, what, str(count), str(seed)]
    done = subprocess.run(call, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory as Linux has them")
@pytest.mark.parametrize(
    "count, seed", [(150, 0), pytest.param(5000, 1000, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("what", ["load", "read"])
def test_altered_files_are_refused_or_can_be_used(what, count, seed):
    found = campaign(what, count, seed)
    assert found.pop("wrong") == []
    assert found["refused"] > count / 4 and found["used"] > count / 20
    assert sum(found.values()) == count
