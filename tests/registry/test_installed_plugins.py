"""Plugins as their users meet them: built, installed by pip beside rankbook, used, uninstalled."""

import json
import shutil
import site
import subprocess
import sys
import venv
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
assert rb.explain(problem, 2.0, allow_plugins=True)[0].solver == "piqp"
assert rb.solve(problem, 2.0, allow_plugins=True).solver.startswith("piqp")
"""


class Environment:
    """A virtual environment that sees what is installed here, rankbook among it, and its own."""

    def __init__(self, folder):
        venv.create(folder, with_pip=True)
        self.python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        own = Path(self.run("-c", "import site; print(site.getsitepackages()[0])").strip())
        # what is installed in ours may be links itself, which a plain line would not follow
        lines = [f"import site; site.addsitedir({place!r})" for place in site.getsitepackages()]
        (own / "ours.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def run(self, *arguments, code=0):
        """Standard output of python; with another code than 0 standard error."""
        done = subprocess.run([self.python, *arguments], capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr if code else done.stdout

    def install(self, *source):
        """Build a folder and install it, without looking for anything elsewhere."""
        options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation")
        self.run("-m", "pip", "install", *options, *map(str, source))

    def states(self):
        """The state of each solver."""
        return json.loads(self.run("-c", LIST))


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("venv"))


@pytest.fixture
def install(environment, tmp_path):
    """A function that installs one of the plugins for a test, from a copy."""
    done = []

    def install(name):
        environment.install(shutil.copytree(PLUGINS / name, tmp_path / name))
        done.append(name)

    yield install
    for name in done:
        environment.run("-m", "pip", "uninstall", "--quiet", "--yes", name)


def test_a_real_plugin_from_installation_to_the_end(environment, install):
    pytest.importorskip("piqp")
    before = environment.states()
    install("rankbook-piqp")
    assert environment.states() == before | {"piqp of rankbook-piqp 1.0": "ready"}
    environment.run("-c", USE)
    main = "from rankbook.app.cli.main import main; main()"
    options = ("--graph", "star", "--lam-min", "1", "--json", "--solver", "piqp")
    facts = json.loads(environment.run("-c", main, "select", "cancer", *options))
    assert facts["path"]["info"]["inner"].startswith("piqp 1.0")
    assert facts["certificate"]["relative_gap"] < 1e-3
    page = environment.run("-c", main, "solvers", "piqp")
    assert "rankbook-piqp 1.0" in page and "max_iter=500" in page
    environment.run("-m", "pip", "uninstall", "--quiet", "--yes", "rankbook-piqp")
    assert environment.states() == before
    said = environment.run("-c", main, "select", "cancer", "--solver", "piqp", code=2)
    assert said.startswith("rankbook: error: --solver is 'piqp'") and said.count("\n") == 1


def test_plugins_that_go_wrong_are_rows_and_disturb_nobody(environment, install):
    before = environment.states()
    for name in ("broken-import", "takes-a-name", "lacks-engine"):
        install(name)
    states = environment.states()
    broken = states.pop("broken of broken-import 0.1")
    assert broken == "broken: RuntimeError: the licence server does not answer"
    assert states.pop("qp of takes-a-name 0.1") == "shadowed by rankbook"
    assert states.pop("lacking of lacks-engine 0.1") == "missing an_engine_that_nobody_has"
    assert states == before


@pytest.mark.parametrize(
    ("plugin", "name", "words"),
    [
        ("broken-import", "broken", "'broken' of broken-import 0.1 cannot be loaded: RuntimeError"),
        ("lacks-engine", "lacking", "needs an_engine_that_nobody_has, not installed here"),
    ],
)
def test_asking_for_one_says_what_is_wrong(environment, install, plugin, name, words):
    install(plugin)
    main = "from rankbook.app.cli.main import main; main()"
    said = environment.run("-c", main, "select", "cancer", "--solver", name, code=2)
    assert words in said and said.count("\n") == 1


def test_the_reference_stays_ours(environment, install):
    install("takes-a-name")
    code = "import rankbook as rb; print(type(rb.get_solver('qp')).__module__)"
    assert environment.run("-c", code).startswith("rankbook.solvers.qp")


def test_a_new_solver_passes_every_check_at_once(environment, tmp_path):
    main = "import os; os.chdir({!r}); from rankbook.app.cli.main import main; main()"
    here = main.format(str(tmp_path))
    said = environment.run("-c", here, "new-solver", "my-steps")
    assert said.endswith("now: pip install -e my-steps && pytest my-steps\n")
    try:
        environment.install("--editable", tmp_path / "my-steps")
        found = environment.run(
            "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path / "my-steps"
        )
        assert " passed" in found and "failed" not in found
        assert environment.states()["my-steps of rankbook-my-steps 0.1.0"] == "ready"
        again = environment.run("-c", here, "new-solver", "my-steps", code=2)
        assert "a solver of rankbook-my-steps" in again
    finally:
        environment.run("-m", "pip", "uninstall", "--quiet", "--yes", "rankbook-my-steps")
