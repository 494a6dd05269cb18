"""The command line as tests call it: in this process, with what it prints."""

from typer.testing import CliRunner

from rankbook.app.cli.main import app


def run(*arguments):
    """What a command prints, and its exit code."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def done(*arguments):
    """What a command prints that must succeed."""
    result = run(*arguments)
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result.stdout


def refused(*arguments):
    """The one line of a command that must fail with exit code 2 and print nothing else."""
    result = run(*arguments)
    assert result.exit_code == 2 and result.stdout == "", (result.stdout, result.exception)
    assert (
        result.stderr.startswith("rankbook: error: ")
        and result.stderr.count("\n") == 1
        and result.stderr.endswith("\n")
    )
    return result.stderr
