"""Templates of a solver plugin."""

import keyword
import re
import sys
from pathlib import Path
from string import Template

from ..base.archive import write_whole
from ..registry.plugins import AT_RUN_TIME, installed_records

SOLVER = Template('''"""$summary"""

import numpy as np
import rankbook as rb


class $cls(rb.Solver):
    """Accelerated projected gradient ascent on the dual of the ranking SVM.

    Parameters
    ----------
    max_steps : int, default 50_000
        Each costs two products with the kernel matrix.
    """

    name, tol = "$name", 1e-3
    summary = "$summary"

    def __init__(self, max_steps=50_000):
        self.max_steps = max_steps

    def solve(self, problem, lam):
        """The solution at one lam > 0."""
        prefs, rate = problem.prefs, lam / largest_eigenvalue(problem)
        a = ahead = np.zeros_like(prefs.weight)  # ahead: where momentum has carried a
        t = 1.0
        for step in range(1, self.max_steps + 1):
            short = prefs.margin - prefs.matvec(problem.matvec(prefs.rmatvec(ahead))) / lam
            new = np.clip(ahead + rate * short, 0.0, prefs.weight)
            if step % 20 == 1 and relative_gap(problem, lam, new) <= self.tol / 2:
                break
            if (ahead - new) @ (new - a) > 0:  # it overshot: begin again without momentum
                t = 1.0
            t, last = (1 + np.sqrt(1 + 4 * t * t)) / 2, t
            a, ahead = new, new + (last - 1) / t * (new - a)
        coef = prefs.rmatvec(new) / lam
        return rb.Solution(problem, lam, coef=coef, dual=new, info=dict(steps=step))


def largest_eigenvalue(problem):
    """Of P K P', by the power method and a little enlarged; no matrix is formed."""
    a, size = problem.prefs.matvec(np.cos(np.arange(problem.n_items))), 1.0
    for _ in range(30):
        a = problem.prefs.matvec(problem.matvec(problem.prefs.rmatvec(a)))
        size = np.linalg.norm(a) or 1.0  # 0 if all items are alike
        a = a / size
    return 1.1 * size


def relative_gap(problem, lam, a):
    """Between primal and dual at multipliers a, over max(1, primal)."""
    prefs, u = problem.prefs, problem.prefs.rmatvec(a)
    f = problem.matvec(u) / lam
    primal = u @ f / 2 + prefs.weight @ np.maximum(prefs.margin - prefs.matvec(f), 0.0)
    return (primal - prefs.margin @ a + u @ f / 2) / max(1.0, primal)
''')


PROJECT = Template("""[build-system]
requires = ["setuptools>=70"]
build-backend = "setuptools.build_meta"

[project]
name = "$dist"
version = "0.1.0"
description = "$summary"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["numpy", "rankbook"]

[project.entry-points."rankbook.solvers"]
$name = "$module:$cls"

[tool.setuptools]
py-modules = ["$module"]
""")

TEST = Template('''"""$cls passes every check of rankbook.testing."""

from rankbook.testing import parametrize_with_solver_checks


@parametrize_with_solver_checks(["$name"])
def test_conformance(solver, check):
    check(solver)
''')

README = Template("""# $dist

$summary A solver of [rankbook](https://pypi.org/project/rankbook).

    pip install -e .                  # make it known
    rankbook solvers $name            # what it declares
    pytest                            # every check
    rankbook check $name              # the same as a table
    rankbook select cancer --graph star --lam-min 1 --solver $name

In Python, `rb.RankSVM(solver="$name")` uses it.
""")
FILES = {
    "pyproject.toml": PROJECT,
    "README.md": README,
    "$module.py": SOLVER,
    "test_$module.py": TEST,
}


TAKEN = ("rankbook", "tests", "conftest", "build", "dist", "venv")  # folders with a meaning


def check_new_name(name):
    """Refuse a name that no solver can have, or that one has already.

    Raises
    ------
    ValueError
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ValueError(
            f"NAME is {name!r}; small letters, digits and single hyphens between them, beginning "
            "with a letter, are accepted."
        )
    if meaning := meaning_of(name):
        raise ValueError(
            f"NAME is {name!r}, {meaning}; another name, such as '{name}-solver', is accepted."
        )
    owners = {
        record.name: record.origin for record in (*installed_records(), *AT_RUN_TIME.values())
    }
    if name in owners:
        raise ValueError(f"NAME is {name!r}, a solver of {owners[name]}; a new name is accepted.")


def meaning_of(name):
    """What else a name stands for, in words; empty if nothing."""
    if name == "auto":
        return "which stands for a choice"
    if name in TAKEN or name.split("-")[-1] == "test":  # pytest takes *_test.py for tests
        return "which pytest and other tools take for something else"
    if keyword.iskeyword(name) or keyword.iskeyword(name.title()):
        return "a keyword of Python"
    if name.replace("-", "_") in sys.stdlib_module_names:
        return "a module of Python's own"
    return ""


def write_new_solver(name, folder="."):
    """Write a distribution with a solver that works.

    Parameters
    ----------
    name : str
        Of the solver. The distribution is called rankbook-name, and the new folder name.
    folder : str or path, default "."
        Where the new folder is made.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ValueError
        If it is no name, or taken.
    FileExistsError
        If there is such a folder or file.
    """
    check_new_name(name)
    place = Path(folder) / name
    if place.exists():
        raise FileExistsError(f"NAME is {name!r}, but {str(place)!r} is there already.")
    words = dict(
        name=name,
        dist=f"rankbook-{name}",
        module=f"rankbook_{name.replace('-', '_')}",
        cls="".join(word.capitalize() for word in name.split("-")),
        summary="Projected gradient ascent on the dual, accelerated.",
    )
    place.mkdir(parents=True)
    files = [place / Template(file).substitute(words) for file in FILES]
    for file, text in zip(files, FILES.values()):
        content = text.substitute(words).encode()
        write_whole(file, lambda handle, content=content: handle.write(content))
    return files
