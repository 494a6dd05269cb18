"""Build a wheel of RLScore, which `python -m benchmarks rankrls` measures beside ours.

    python tools/build_rlscore.py FOLDER            clones its repository
    python tools/build_rlscore.py FOLDER --source CLONE
    pip install --no-deps FOLDER/rlscore-*.whl

What PyPI has, 0.8.1, does not build: its C files were written by a Cython of Python 3.7. The
repository builds with Cython 3 and numpy 2 as it is. The build takes an environment of its own in
FOLDER, a C compiler and about a minute; the wheel is for the Python that runs this script.
"""

import argparse
import subprocess
import sys
import venv
from pathlib import Path

REPOSITORY = "https://github.com/aatapa/RLScore"
COMMIT = "cc023e66743bd771e2d6efd3ec17f4a231547b43"
NEEDED = ("setuptools>=80", "setuptools-scm>=8", "wheel", "Cython>=3", "numpy>=2", "scipy>=1.13")


def build(folder, source):
    """The path of the wheel, made in a folder from a clone."""
    run = lambda *command: subprocess.run(command, check=True)
    folder.mkdir(parents=True, exist_ok=True)
    run("git", "clone", "--quiet", "--no-checkout", source, folder / "source")
    run("git", "-C", folder / "source", "checkout", "--quiet", COMMIT)
    venv.create(folder / "env", with_pip=True)
    pip = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "pip"
    run(pip, "install", "--quiet", *NEEDED)
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder)
    run(pip, "wheel", *options, folder / "source")
    return next(folder.glob("rlscore-*.whl"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a new folder")
    parser.add_argument("--source", default=REPOSITORY, help="a clone of its repository")
    options = parser.parse_args()
    print(build(options.folder.resolve(), options.source))
