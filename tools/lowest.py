"""Run the tests with the lowest versions that settings.ini admits, or with the newest there are.

    python3.11 tools/lowest.py                        lowest versions of all that settings.ini names
    python3.13 tools/lowest.py --newest               newest versions
    python3.11 tools/lowest.py tests/solvers/test_qp.py
                                                      only some tests; what follows goes to pytest

An environment is made for it in a temporary folder, with the Python that runs this script, and
removed afterwards. The versions are found by uv, which is installed there, too. Only the lowest
Python is right for the lowest versions: those that came out before a newer Python do not install on
it.
"""

import configparser
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# matplotlib 3.10.0 uses names that pyparsing 3.3 deprecates, and some tests refuse any warning.
OF_THEIR_TIME = ["pyparsing==3.2.0"]


def run(*command):
    """Run a command in the root; a failure ends the script with its exit code."""
    print("+", *command, flush=True)
    result = subprocess.run(command, cwd=ROOT)
    if result.returncode:
        raise SystemExit(result.returncode)


def settings():
    """What settings.ini says of the package."""
    parser = configparser.ConfigParser(delimiters=["="])
    parser.read(ROOT / "settings.ini", encoding="utf-8")
    return parser["DEFAULT"]


def main(arguments):
    """Make the environment, say what is in it, run pytest."""
    newest = "--newest" in arguments
    lowest_python = settings()["min_python"]
    if not newest and f"{sys.version_info.major}.{sys.version_info.minor}" != lowest_python:
        raise SystemExit(
            f"This is Python {sys.version_info.major}.{sys.version_info.minor}; "
            f"the lowest versions need Python {lowest_python}, the lowest one."
        )
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        run(python, "-m", "pip", "install", "--quiet", "uv")
        run(
            python,
            "-m",
            "uv",
            "pip",
            "install",
            "--quiet",
            "--python",
            python,
            "--resolution",
            "highest" if newest else "lowest-direct",
            "--editable",
            ".[dev]",
            *([] if newest else OF_THEIR_TIME),
        )
        run(python, "-m", "pip", "list")
        run(
            python,
            "-m",
            "pytest",
            "-q",
            "-W",
            "default",  # other versions warn of other things
            *(argument for argument in arguments if argument != "--newest"),
        )


if __name__ == "__main__":
    main(sys.argv[1:])
