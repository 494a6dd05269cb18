"""Build the wheel and the sdist, and try both in fresh environments.

    python tools/release.py            with every installed Python that settings.ini admits
    python tools/release.py dist       and keep both files in the folder dist

`twine check` looks at the metadata. The wheel is tried on each Python, the sdist on the lowest.
With no extra, every estimator, paths, a curve, intervals and saving must work, in less than LARGEST
MB. With the extra `all`, a model is fitted, chosen, saved and loaded, the command line ranks with
it, and the plugin that `rankbook new-solver` writes is installed and solves a problem. All of this
happens in a temporary folder outside the clone, with an empty cache.

For each Python, `tools/ship.py` makes a second wheel with compiled code for computers of this kind.
It is tried in the same way, and by the calls that users make first, and nothing may be compiled.
Without a folder to keep the wheels in, only the first Python gets one.
"""

import configparser
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import ship

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 600  # MB of an environment without pip
CORE = """
import numpy as np, pandas as pd, rankbook as rb
from rankbook.data.writers import write_frame
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
y = (X @ [1.0, -1.0, 0.5]).round().clip(-1, 1)
labels = rng.permuted(np.tile(np.arange(4.0), (40, 1)), axis=1)
votes = pd.DataFrame(rng.choice([*"ABCD"], (60, 2)), columns=["winner", "loser"])
logistic = rb.RankSVM(kernel="linear", loss="logistic")
for model in (
    rb.RankSVM(), rb.RankSVM(kernel="linear"), rb.RankSVM(kernel="linear", penalty="l1"), logistic,
    rb.RankSVM(kernel="linear", loss="plackett-luce"), rb.RankSVMCV(kernel="linear", cv=3),
    rb.RankRLS(), rb.RankRLSCV(), rb.RayleighRanker(), rb.RayleighRankerCV(), rb.OrdinalRanker(),
    rb.OnlineRankSVM(), rb.OnlineSVC(),
):
    assert model.fit(X, y).score(X, y) > 0.5, model
for model in (rb.LabelRanker(), rb.LabelRankerCV()):
    assert model.fit(X, labels).predict(X).shape == labels.shape, model
assert len(rb.Leaderboard().fit(votes[votes["winner"] != votes["loser"]]).table_) == 4
problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), "linear")
path = rb.solve_path(problem)
curve = rb.validation_curve(path, X, y)
assert path.certificate(1.0).is_optimal(1e-8) and rb.choose_lambda(curve) > 0
assert rb.order_intervals(logistic, X).rank.max() == 40 and len(rb.compare_solvers(problem)) > 3
logistic.save("core.rankbook")
assert np.array_equal(rb.load("core.rankbook").predict(X), logistic.predict(X))
states = {row["name"]: row["state"] for row in rb.list_solvers()}
assert states.pop("qp") == 'missing cvxpy: pip install "rankbook[qp]"', states
assert set(states.values()) == {"ready"}, states
for extra, needy in dict(
    qp=lambda: rb.solve(problem, 0.0),
    plots=lambda: rb.plots.plot_validation_curve(curve),
    data=lambda: write_frame(X, "items.parquet"),
).items():
    try:
        needy()
    except ImportError as error:
        assert str(error).endswith(f': pip install "rankbook[{extra}]"'), error
    else:
        raise AssertionError(f"nothing needs the extra {extra}")
"""
SMOKE = """
import numpy as np, pandas as pd, rankbook as rb
assert rb.__version__ == {version!r} and {clone!r} not in rb.__file__, (rb.__version__, rb.__file__)
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
y = (X @ [1.0, -1.0, 0.5]).round()
model = rb.RankSVMCV(kernel="linear", cv=3).fit(X, y)
assert model.certificate_.is_optimal(1e-8) and model.score(X, y) > 0.95
reference = rb.solve(rb.RankSVMProblem(X, rb.Preferences.from_scores(y), "linear"), 1.0, "qp")
assert reference.certificate.is_optimal(1e-6)
model.save("model.rankbook")
assert np.array_equal(rb.load("model.rankbook").predict(X), model.predict(X))
X.to_csv("items.csv", index=False)
assert len(rb.datasets.load_votes()) == 360
"""
PLUGIN = """
import rankbook as rb
data = rb.datasets.make_mixture(n_per_class=10)
model = rb.RankSVM(kernel="linear", solver="my-steps").fit(data.X, data.y)
assert model.solver_.startswith("my-steps") and model.certificate_.relative_gap < 1e-3
"""
# the calls that users make first
FIRST = """
import sys, numpy as np, rankbook as rb
from rankbook.app.cli.main import main
X = np.random.default_rng(0).normal(size=(60, 3))
y = (X @ [1.0, -1.0, 0.5]).round().clip(0)
rb.RankSVMCV().fit(X, y)
rb.RankSVMCV(metric="ndcg@10").fit(X, y)
rb.RankSVM(kernel="linear", penalty="l1").fit(X, y)
rb.RankSVMCV(kernel="linear", penalty="l1").fit(X, y)
sys.argv = ["rankbook", "select", "cancer"]
main()
"""


def settings():
    """The settings of the package, from settings.ini."""
    parser = configparser.ConfigParser(delimiters=["="])
    parser.read(ROOT / "settings.ini", encoding="utf-8")
    return parser["DEFAULT"]


def run(*command, cwd, **environ):
    """Run a command; a failure ends the script with what was printed."""
    return ship.run(*command, cwd=cwd, env=os.environ | environ)


def find_python(version):
    """A Python such as "3.12" that runs: this one, one on the path or one of pyenv; or None."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [sys.executable, shutil.which(f"python{version}")]
    found += sorted(pyenv.glob(f"{version}.*/bin/python"))
    asks = "import sys; print('%d.%d' % sys.version_info[:2])"
    for python in filter(None, found):
        said = subprocess.run([python, "-c", asks], capture_output=True, text=True)
        if said.stdout.strip() == version:
            return python
    return None


def build(tools, folder):
    """The wheel and the sdist of the clone, with metadata that an index takes."""
    run(tools, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    files = [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]
    run(tools, "-m", "twine", "check", "--strict", *files, cwd=folder)
    return files


def try_out(tools, python, file, folder):
    """Install a file into a new environment; use it without extras, then as a newcomer does."""
    run(tools, "-m", "uv", "venv", "--quiet", "--python", python, folder, cwd=ROOT)
    bin = folder / ("Scripts" if sys.platform == "win32" else "bin")
    install = [tools, "-m", "uv", "pip", "install", "--quiet", "--python", bin / "python"]
    run(*install, file, cwd=folder)
    own = dict(NUMBA_CACHE_DIR=str(folder / "cache"), PYTHONPATH="", MPLBACKEND="agg")
    if file.name.endswith("-none-any.whl"):
        size = sum(each.lstat().st_size for each in folder.rglob("*")) / 1e6
        print(f"{file.name} without extras: {size:.0f} MB", flush=True)
        if size > LARGEST:
            raise SystemExit(f"expected at most {LARGEST} MB")
        run(bin / "python", "-c", CORE, cwd=folder, **own)
    run(*install, "pip", f"rankbook[all] @ {file.as_uri()}", cwd=folder)
    smoke = SMOKE.format(version=settings()["version"], clone=str(ROOT))
    run(bin / "python", "-c", smoke, cwd=folder, **own)
    ranked = run(
        bin / "rankbook", "predict", "model.rankbook", "items.csv", "--ranked", cwd=folder, **own
    )
    if len(ranked.splitlines()) != 41:
        raise SystemExit(f"rankbook predict printed something else than 40 items:\n{ranked}")
    run(bin / "rankbook", "new-solver", "my-steps", cwd=folder, **own)
    run(bin / "python", "-m", "pip", "install", "--quiet", "./my-steps", cwd=folder, **own)
    run(bin / "python", "-c", PLUGIN, cwd=folder, **own)
    if not file.name.endswith(("-none-any.whl", ".tar.gz")):
        run(bin / "python", "-c", FIRST, cwd=folder, **own)
        if compiled := sorted(path.name for path in (folder / "cache").rglob("*.nbc")):
            raise SystemExit(f"{file.name} has no compiled code of {', '.join(compiled)}")
    return bin / "python"


def main(arguments):
    """Build, try out, keep."""
    if len(arguments) > 1 or arguments[:1] == ["--help"]:
        raise SystemExit(__doc__.strip())
    lowest, highest = (int(settings()[key].split(".")[1]) for key in ("min_python", "max_python"))
    pythons = {f"3.{i}": find_python(f"3.{i}") for i in range(lowest, highest + 1)}
    here = {version: python for version, python in pythons.items() if python}
    if not here:
        raise SystemExit(f"None of Python {', '.join(pythons)} is here.")
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp)
        venv.create(folder / "tools", with_pip=True)
        tools = folder / "tools" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        run(tools, "-m", "pip", "install", "--quiet", "build", "twine", "uv", "wheel", cwd=folder)
        (folder / "dist").mkdir()
        wheel, sdist = build(tools, folder / "dist")
        for file in (wheel, sdist):
            print(f"{file.name}: {file.stat().st_size / 1e3:.0f} kB", flush=True)
        for version, python in here.items():
            installed = try_out(tools, python, wheel, folder / version)
            print(f"Python {version}: {wheel.name} works", flush=True)
            if ship.target() and (arguments or python == next(iter(here.values()))):
                made = ship.ship(wheel, installed, folder / "dist", tools)
                try_out(tools, python, made, folder / f"{version}.compiled")
                print(f"Python {version}: {made.name} works", flush=True)
        version, python = next(iter(here.items()))
        try_out(tools, python, sdist, folder / "sdist")
        print(f"Python {version}: {sdist.name} works", flush=True)
        for version in sorted(set(pythons) - set(here)):
            print(f"Python {version} is not here: skipped")
        if arguments:
            shutil.copytree(folder / "dist", arguments[0], dirs_exist_ok=True)


if __name__ == "__main__":
    main(sys.argv[1:])
