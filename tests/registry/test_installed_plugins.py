"""Plugins as their users meet them: built, installed by pip beside rankbook, and used."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parents[1] / "plugins"
LIST = """
import json, sys, rankbook as rb
rows = {(row["name"], row["origin"]): row["state"] for row in rb.list_solvers(allow_plugins=True)}
print(json.dumps({" of ".join(key): state for key, state in rows.items()}))
"""
USE = """
import numpy as np, rankbook as rb
rng = np.random.default_rng(0)
X, y = rng.normal(size=(40, 3)), rng.integers(0, 4, 40)
model, own = (rb.RankSVM(lam=2.0, solver=solver).fit(X, y) for solver in ("piqp", "path"))
assert model.solver_.startswith("piqp 1.0 (PIQP"), model.solver_
assert np.allclose(model.predict(X), own.predict(X), atol=1e-6)
assert model.certificate_.is_optimal(1e-8)
problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y))
path = rb.solve_path(problem, 1e-2, solver="epsilon", inner="piqp", eps=1e-3)
assert path.info["inner"].startswith("piqp 1.0"), path.info
assert max(path.solution(lam).certificate.relative_gap for lam in np.geomspace(1e-2, 50)) < 1e-3
rivals = rb.compare_solvers(problem, 2.0, allow_plugins=True)
assert any(p.solver == "piqp" and p.is_possible for p in rivals)
first = rb.solve(problem, 2.0, allow_plugins=True).solver
assert first.startswith(rivals[0].solver)
"""


MAIN = "from rankbook.app.cli.main import main; main()"


class Environment:
    """A Python that finds rankbook and what pip installed into a folder beside it.

    It is as it was before the installation if the folder is left out of its search path.
    """

    def __init__(self, folder, *sources):
        self.folder = folder
        if sources:
            options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target")
            self.run("-m", "pip", "install", *options, folder, *sources)

    def run(self, *arguments, code=0):
        """Standard output of python; with another code than 0 standard error."""
        path = os.pathsep.join(filter(None, (str(self.folder), os.environ.get("PYTHONPATH"))))
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            capture_output=True,
            text=True,
            env=os.environ | dict(PYTHONPATH=path),
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr if code else done.stdout

    def states(self):
        """The state of each solver."""
        return json.loads(self.run("-c", LIST))


@pytest.fixture(scope="module")
def install(tmp_path_factory):
    """A function that installs some of the plugins, from copies."""

    def install(*names):
        folder = tmp_path_factory.mktemp("plugins")
        sources = [shutil.copytree(PLUGINS / name, folder / "from" / name) for name in names]
        return Environment(folder / "to", *sources)

    return install


@pytest.fixture(scope="module")
def plain(install):
    """The state of each solver without a plugin."""
    return install().states()


@pytest.fixture(scope="module")
def wrong(install):
    """An environment with the plugins that go wrong."""
    return install("broken-import", "takes-a-name", "lacks-engine")


def test_a_real_plugin_from_installation_to_the_end(install, plain):
    pytest.importorskip("piqp")
    environment = install("rankbook-piqp")
    assert environment.states() == plain | {"piqp of rankbook-piqp 1.0": "ready"}
    environment.run("-c", USE)
    options = ("--graph", "star", "--lam-min", "1", "--json", "--solver", "piqp")
    facts = json.loads(environment.run("-c", MAIN, "select", "cancer", *options))
    assert facts["path"]["info"]["inner"].startswith("piqp 1.0")
    assert facts["certificate"]["relative_gap"] < 1e-3
    page = environment.run("-c", MAIN, "solvers", "piqp")
    assert "rankbook-piqp 1.0" in page and "max_iter=500" in page
    said = install().run("-c", MAIN, "select", "cancer", "--solver", "piqp", code=2)
    assert said.startswith("rankbook: error: --solver is 'piqp'") and said.count("\n") == 1


def test_plugins_that_go_wrong_are_rows_and_leave_the_others_as_they_are(wrong, plain):
    states = wrong.states()
    broken = states.pop("broken of broken-import 0.1")
    assert broken == "broken: RuntimeError: the licence server does not answer"
    assert states.pop("qp of takes-a-name 0.1") == "shadowed by rankbook"
    assert states.pop("lacking of lacks-engine 0.1") == "missing an_engine_that_nobody_has"
    assert states == plain


ASK = """
import rankbook as rb
print(type(rb.get_solver("qp")).__module__)
try:
    rb.get_solver("lacking")
except ImportError as error:
    print(error)
"""


def test_asking_for_one_says_what_is_wrong(wrong):
    said = wrong.run("-c", MAIN, "select", "cancer", "--solver", "broken", code=2)
    assert "'broken' of broken-import 0.1 cannot be loaded: RuntimeError" in said
    assert said.count("\n") == 1
    reference, lacking = wrong.run("-c", ASK).splitlines()
    assert reference.startswith("rankbook.solvers.qp")  # another one of that name is shadowed
    assert "needs an_engine_that_nobody_has, not installed here" in lacking


def test_a_new_solver_passes_every_check_at_once(tmp_path, amount):
    here = f"import os; os.chdir({str(tmp_path)!r}); {MAIN}"
    said = Environment(tmp_path).run("-c", here, "new-solver", "my-steps")
    assert said.endswith("now: pip install -e my-steps && pytest my-steps\n")
    environment = Environment(tmp_path / "to", tmp_path / "my-steps")
    few = amount(["-k", "answers or certificate or path"], [])
    options = ("-q", "-p", "no:cacheprovider", *few)
    found = environment.run("-m", "pytest", *options, tmp_path / "my-steps")
    assert " passed" in found and "failed" not in found
    assert environment.states()["my-steps of rankbook-my-steps 0.1.0"] == "ready"
    again = environment.run("-c", here, "new-solver", "my-steps", code=2)
    assert "a solver of rankbook-my-steps" in again
