"""What every test may rely on: data if there are any, no stale compiled code, --slow."""
import os
from pathlib import Path

import pytest

# Before any test imports rankbook: compiled code cached by an earlier run can be older than the source (numba#1833).
# .ci/run, whose cache is born and dies with the run, sets 1 and keeps it.
os.environ.setdefault("RANKBOOK_JIT_CACHE", "0")
os.environ.setdefault("MPLBACKEND", "agg")


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))


@pytest.fixture(scope="session")
def root():
    """The root of the checkout."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def data_dir():
    """The folder of data files named by RANKBOOK_DATA; without the variable the test is skipped."""
    folder = os.environ.get("RANKBOOK_DATA")
    if not folder:
        pytest.skip("RANKBOOK_DATA does not name a folder of data files")
    if not Path(folder).is_dir():
        pytest.fail(f"RANKBOOK_DATA is {folder!r}, which is not a folder")
    return Path(folder)
