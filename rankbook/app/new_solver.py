"""Templates of a solver plugin."""

import keyword
import re
import sys
from pathlib import Path
from string import Template

from ..base.errors import ArgumentError
from ..base.files import write_whole
from ..registry.plugins import AT_RUN_TIME, installed_records

FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "$module.py": "module.py",
    "test_$module.py": "test_module.py",
}
TAKEN = ("rankbook", "tests", "conftest", "build", "dist", "venv")  # folders with a special meaning


def write_new_solver(name, folder="."):
    """Write a distribution with a working solver.

    Parameters
    ----------
    name : str
        Name of the solver and of the new folder. The distribution is called rankbook-NAME.
    folder : str or path, default "."
        Where to create the new folder.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ValueError
        If the name is invalid or taken.
    FileExistsError
        If the folder or file already exists.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ArgumentError(
            f"NAME is {name!r}",
            "a name of lowercase letters, digits and single hyphens that begins with a letter and "
            "does not end with a hyphen",
        )
    taken = name in TAKEN or name.split("-")[-1] == "test"  # pytest takes *_test.py for tests
    for holds, meaning in (
        (name == "auto", "which stands for a choice"),
        (taken, "which pytest and other tools take for something else"),
        (keyword.iskeyword(name) or keyword.iskeyword(name.title()), "a keyword of Python"),
        (name.replace("-", "_") in sys.stdlib_module_names, "a module of Python's own"),
    ):
        if holds:
            raise ArgumentError(
                f"NAME is {name!r}, {meaning}", f"another name, such as '{name}-solver'"
            )
    for record in (*installed_records(), *AT_RUN_TIME.values()):
        if record.name == name:
            raise ArgumentError(f"NAME is {name!r}, a solver of {record.origin}", "a new name")
    place = Path(folder) / name
    if place.exists():
        raise FileExistsError(f"NAME is {name!r}, but {str(place)!r} already exists.")
    words = dict(
        name=name,
        dist=f"rankbook-{name}",
        module=f"rankbook_{name.replace('-', '_')}",
        cls="".join(word.capitalize() for word in name.split("-")),
        summary="Projected gradient ascent on the dual, accelerated.",
    )
    place.mkdir(parents=True)
    files, templates = [], Path(__file__).with_name("new_solver_files")
    for file, template in FILES.items():
        text = (templates / f"{template}.txt").read_text("utf-8")
        content = Template(text).substitute(words).encode()
        files.append(place / Template(file).substitute(words))
        write_whole(files[-1], lambda handle, content=content: handle.write(content))
    return files
