"""`rankbook check NAME`: what it prints, and its exit code."""

import json

from typer.testing import CliRunner

from rankbook.app.cli.main import app
from rankbook.registry.plugins import AT_RUN_TIME, register_solver
from rankbook.solvers.rls.kronecker import KroneckerSolver
from rankbook.testing.kit import CHECKS


def run(*arguments):
    return CliRunner().invoke(app, ["check", *arguments])


def test_a_right_solver_exits_with_0():
    """It says of some problems, in its own words, that it has no path of them."""
    result = run("kronecker")
    assert result.exit_code == 0 and result.stdout.startswith("check ")
    assert "failed" not in result.stdout and result.stdout.count("\n") == len(CHECKS) + 1


class Boasting(KroneckerSolver):
    """Says that it has a path of every table."""

    def can_follow(self, problem):
        return True

    def path(self, problem, lam_min=None):
        return KroneckerSolver().path(problem, lam_min)


def test_a_failure_exits_with_1_and_is_told_as_json():
    register_solver(Boasting, "boasting")
    try:
        result = run("boasting", "--json")
    finally:
        del AT_RUN_TIME["boasting"]
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


def test_options_reach_the_solver_and_are_compared_with_what_it_has():
    result = run("rls", "--option", "directions=-1")
    assert result.exit_code == 2 and "directions is -1" in result.stderr and not result.stdout
    for given, words in (
        ("colour=red", "--option of the solver 'rls' is 'colour'"),
        ("tol", "--option is 'tol'. Pass key=value"),
        ("directions=few", "directions is 'few'"),
    ):
        result = run("rls", "--option", given)
        assert result.exit_code == 2 and words in result.stderr and not result.stdout


def test_an_option_of_the_name_of_the_kit_is_the_solvers():
    import rankbook as rb
    from rankbook.testing import check_solver

    class Limited(rb.Solver):
        name, seen = "limited", []

        def __init__(self, time_limit=1.0, isolated=0):
            Limited.seen.append((time_limit, isolated))

        def solve(self, problem, lam):
            raise ValueError("it gives up")

    table = check_solver((Limited, dict(time_limit=-3, isolated=7)), isolated=False)
    assert table.failed and set(Limited.seen) == {(-3, 7)}


def test_an_unknown_name_in_a_pair_is_refused_before_any_check():
    import pytest

    from rankbook.testing import check_solver

    with pytest.raises(ValueError, match="solver is 'rsl'.*did you mean 'rls'"):
        check_solver(("rsl", {}))
