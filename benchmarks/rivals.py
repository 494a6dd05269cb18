"""Other packages in environments of their own, with pinned versions, for programs that run here.

    python -m benchmarks.rivals             install all: about two minutes
    python -m benchmarks.rivals choix       install some

A package may pin a version of numpy that ours does not go with, so each gets its own environment
and its own process, which receives arrays and measures its own seconds. The environments are in the
user's cache, about a gigabyte in all; without one, rows of the table say that it is missing.
"""

import pickle
import subprocess
import sys
import venv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

import platformdirs

ROOT = Path(__file__).resolve().parents[1]
PINS = {
    "arena-rank": ("arena-rank==0.1.1",),
    "celer": ("celer==0.7.4",),
    "choix": ("choix==0.4.1",),
    "evalica": ("evalica==0.4.2", "pandas==2.3.3"),
    "rlscore": ("numpy==2.3.5", "scipy==1.16.3", "setuptools==80.9.0"),  # and the wheel, see below
    "skglm": ("skglm==0.5",),
}


@dataclass(frozen=True)
class Elsewhere:
    """What a call in another process returned, and the processor seconds that it took there."""

    seconds: float
    result: object


def python_of(name):
    """The Python of the environment of a rival, which is there once it is installed."""
    folder = Path(platformdirs.user_cache_dir("rankbook")) / "rivals" / name
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / Path(sys.executable).name


def install(name):
    """Make the environment of a rival anew; after an error it is removed."""
    run = lambda *command: subprocess.run([*map(str, command)], check=True)
    python = python_of(name)
    pip = python, "-m", "pip", "install", "--quiet"
    try:
        venv.create(python.parents[1], clear=True, with_pip=True)
        run(*pip, *PINS[name])
        if name == "rlscore":  # the release on PyPI does not build
            with TemporaryDirectory() as folder:
                run(sys.executable, ROOT / "tools" / "build_rlscore.py", folder)
                run(*pip, "--no-deps", *Path(folder).glob("rlscore-*.whl"))
    except BaseException:
        rmtree(python.parents[1], ignore_errors=True)
        raise


@lru_cache
def process(name):
    """A process in the environment of a rival, which waits for jobs."""
    command = [python_of(name), Path(__file__).with_name("rival_jobs.py")]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


@lru_cache
def versions(name):
    """The versions of a rival and of numpy in its environment."""
    names = {pin.partition("==")[0] for pin in PINS[name]} | {name, "numpy"}
    code = (
        "import sys, importlib.metadata as m; print(*(f'{n} {m.version(n)}' for n in sys.argv[1:]))"
    )
    command = [python_of(name), "-c", code, *sorted(names)]
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout.strip()


def rival(name, job, *arguments):
    """A function that runs a job of `rival_jobs.py`, or the note that the rival is missing.

    Parameters
    ----------
    name, job : str
    *arguments
        Arrays and numbers.
    """
    if not python_of(name).is_file():
        return "not installed: python -m benchmarks.rivals"

    def run():
        child = process(name)
        pickle.dump((job, arguments), child.stdin)
        child.stdin.flush()
        try:
            seconds, result = pickle.load(child.stdout)
        except EOFError:
            raise RuntimeError(f"{name} failed: {' '.join(map(str, child.args))}") from None
        return Elsewhere(seconds, result)

    return run


def main(names):
    """Install the rivals with these names, or all."""
    if unknown := set(names) - set(PINS):
        raise SystemExit(f"NAME is {unknown.pop()!r}. Pass one of: {', '.join(PINS)}.")
    for name in names or PINS:
        install(name)
        versions.cache_clear()
        print(f"{name}: {versions(name)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
