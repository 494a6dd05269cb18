"""`rankbook check NAME`: what it prints, and its exit code."""

import json

from typer.testing import CliRunner

from rankbook.app.cli.main import app
from rankbook.testing.isolation import CHECKS


def run(*arguments):
    return CliRunner().invoke(app, ["check", *arguments])


def test_a_right_solver_exits_with_0():
    result = run("rls")
    assert result.exit_code == 0 and result.stdout.startswith("check ")
    assert "failed" not in result.stdout and result.stdout.count("\n") == len(CHECKS) + 1


def test_a_failure_exits_with_1_and_is_told_as_json():
    result = run("kronecker", "--json")
    rows = json.loads(result.stdout)
    assert result.exit_code == 1 and [row["check"] for row in rows] == list(CHECKS)
    assert [row["check"] for row in rows if row["outcome"] == "failed"] == ["path"]


def test_a_time_limit_is_kept():
    result = run("kronecker", "--time-limit", "0.001")
    assert result.exit_code == 1 and "it did not end within 0.001 s" in result.stdout


def test_a_slip_is_one_line_on_stderr():
    for arguments, words in ((["rsl"], "rls"), (["rls", "--time-limit", "-1"], "time")):
        result = run(*arguments)
        assert result.exit_code == 2 and result.stdout == "" and result.stderr.count("\n") == 1
        assert result.stderr.startswith("rankbook: error: ") and words in result.stderr
