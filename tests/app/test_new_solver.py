"""Names that a new solver may not have, since they mean something else."""

import os
import subprocess
import sys

import pytest

from rankbook.app.new_solver import write_new_solver

TAKEN = {
    "test": "pytest",
    "my-test": "pytest",
    "tests": "pytest",
    "conftest": "pytest",
    "build": "pytest",
    "rankbook": "pytest",
    "class": "a keyword of Python",
    "lambda": "a keyword of Python",
    "none": "a keyword of Python",
    "json": "a module of Python's own",
    "random": "a module of Python's own",
    "auto": "stands for a choice",
    "path": "a solver of rankbook",
}


@pytest.mark.parametrize(("name", "words"), TAKEN.items())
def test_a_name_that_means_something_else_is_refused_with_a_suggestion(tmp_path, name, words):
    with pytest.raises(ValueError, match=f"^NAME is '{name}', .*{words}.*. Pass ") as caught:
        write_new_solver(name, tmp_path)
    assert os.listdir(tmp_path) == []
    if name != "path":
        suggested = str(caught.value).split("such as '")[1].split("'")[0]
        assert write_new_solver(suggested, tmp_path)


LONG = [pytest.param(name, marks=pytest.mark.slow) for name in ("testing", "tester", "a", "t2")]


@pytest.mark.parametrize("name", ["test-solver", "solver", *LONG])
def test_pytest_finds_one_file_of_tests(tmp_path, name):
    write_new_solver(name, tmp_path)
    module = name.replace("-", "_")
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, f"--rootdir={tmp_path}", name], cwd=tmp_path, capture_output=True, text=True
    )
    found = {line.split("::")[0] for line in done.stdout.splitlines() if "::" in line}
    seen = {os.path.basename(file) for file in found}
    # it is not installed here, so that the name in the test is unknown only when it runs
    assert seen == {f"test_rankbook_{module}.py"}, done.stdout + done.stderr
