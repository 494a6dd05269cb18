"""Messages go through logging: shown by default, and silenced by logging's own means."""

import subprocess
import sys

import pytest

USUAL = "rankbook: compiling for a test\n"
LOGGER = 'logging.getLogger("rankbook")'


@pytest.mark.parametrize(
    "before, shown",
    [
        ("", USUAL),
        (f'{LOGGER}.setLevel("WARNING")', ""),
        (f"{LOGGER}.handlers.clear()", ""),
        (f"{LOGGER}.removeHandler({LOGGER}.handlers[0])", ""),
        ("logging.disable(logging.INFO)", ""),
        ("logging.basicConfig()", "INFO:rankbook:compiling for a test\n"),
        ("logging.getLogger().addHandler(logging.NullHandler())", ""),
    ],
)
def test_a_message_is_shown_once_or_not_at_all(before, shown):
    code = f"import logging, rankbook\n{before}\n{LOGGER}.info('compiling for a test')"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("", shown)


def test_a_level_set_before_the_import_remains():
    code = f"import logging; {LOGGER}.setLevel(40); import rankbook; print({LOGGER}.level)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).stdout == b"40\n"


@pytest.mark.parametrize("level, told", [("INFO", True), ("WARNING", False)])
def test_columns_of_tables_are_told_on_request(tmp_path, level, told):
    (tmp_path / "votes.csv").write_text("winner,loser\na,b\n")
    code = (
        "import logging, rankbook as rb\n"
        f"logging.getLogger('rankbook.tables').setLevel({level!r})\n"
        "rb.read_preferences('votes.csv')"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert result.stderr.startswith("rankbook: votes.csv: ") == told
    assert told or result.stderr == ""
