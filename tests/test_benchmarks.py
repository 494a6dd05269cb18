"""Does `python -m benchmarks` run, with and without the peers? Its measurements are not tested."""

import sys
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

pytestmark = pytest.mark.usefixtures("one_thread")

ALONE = (
    "cores",
    "which",
    "default",
    "concordance",
    "clicks",
    "click_rules",
    "leaves",
    "coverage",
    "order_intervals",
    "choice",
    "rates",
    "forecast",
)  # with columns of their own
NAMES = [
    "interior",
    "paths",
    "linear",
    "sparse",
    "logistic",
    "rankrls",
    "ratings",
    "quality",
    "projected",
    "kernels",
    "files",
    "rayleigh",
    "dask",
    "blocks",
    "survival",
    "cox",
    "sparse_path",
    "leaderboard",
    "overheads",
    "cold",
    *ALONE,
]


@pytest.fixture(autouse=True)
def from_root(root, monkeypatch):
    """The folder benchmarks lies beside the package."""
    monkeypatch.syspath_prepend(str(root))


def part(name):
    return import_module(f"benchmarks.{name}")


def run(*arguments):
    part("__main__").main(list(arguments))


def test_help_lists_the_names(capsys):
    with pytest.raises(SystemExit) as ended:
        run("--help")
    printed = capsys.readouterr().out
    assert ended.value.code == 0 and list(part("__main__").NAMES) == NAMES
    assert all(f"\n  {name} " in printed for name in NAMES)


@pytest.mark.parametrize(
    "arguments, says",
    [
        (
            ["linaer"],
            "NAME is 'linaer' (did you mean 'linear'?). Pass one of: blocks, choice, ",
        ),
        (["--svm-rank", "nowhere"], "'nowhere' is no file; the path of a program is accepted."),
        (["--full", "--tiny"], "not allowed with"),
        (["which", "linear"], "'which' has columns of its own, so it is run alone."),
        (["linear", "default"], "'default' has columns of its own, so it is run alone."),
        (["--liblinear", __file__], "may not be executed; the path of a program is accepted."),
        (["--out", "nowhere/table.md"], "'nowhere/table.md' cannot be written; a file in a"),
        (["--out", "."], "'.' cannot be written; a file in a folder that can be written to is"),
    ],
)
def test_what_is_unknown_is_refused(capsys, arguments, says):
    with pytest.raises(SystemExit) as ended:
        run(*arguments)
    assert ended.value.code == 2 and says in capsys.readouterr().err


SLOW = {"dask": [pytest.mark.slow]}  # starts clusters of other processes: a minute


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=SLOW.get(n, ())) for n in NAMES if n not in ALONE]
)
@pytest.mark.filterwarnings("ignore:Starting with pandas version 4.0:DeprecationWarning:lifelines")
def test_each_runs_on_tiny_data(name):
    module = part(name)
    rows = list(module.rows("tiny", {}))
    assert rows and module.__doc__
    for row in rows:
        assert row.seconds is not None or row.quality is not None or row.note
        assert row.ratio is None or row.ratio > 0


def test_a_missing_peer_gets_a_row_that_says_so(capsys, monkeypatch):
    monkeypatch.setattr(part("common"), "find_spec", lambda name: None)
    monkeypatch.setattr(part("interior"), "qp_backends", lambda: ["CLARABEL"])
    run("quality", "interior", "linear", "--tiny")
    lines = capsys.readouterr().out.splitlines()
    for peer, why in (
        ("LightGBM", "not installed"),
        ("XGBoost", "not installed"),
        ("PIQP", "not installed"),
        ("SVM^rank", "not given: --svm-rank PATH"),
        ("liblinear-ranksvm", "not given: --liblinear PATH"),
    ):
        assert any(f"| {peer} |" in line and line.endswith(f"| {why} |") for line in lines)


class TestRivals:
    @pytest.fixture
    def here(self, tmp_path, monkeypatch):
        """The Python of the tests in place of that of a rival, and a module named choix."""
        rivals = part("rivals")
        monkeypatch.setattr(rivals, "python_of", lambda name: Path(sys.executable))
        code = (
            "def opt_pairwise(n, pairs, **options):\n    import numpy\n    return numpy.arange(n)"
        )
        (tmp_path / "choix.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        rivals.process.cache_clear()
        yield rivals
        for name in ("choix", "evalica"):
            child = rivals.process(name)
            child.stdin.close()
            child.stdout.close()
            child.wait()
        rivals.process.cache_clear()

    def test_a_job_runs_elsewhere_and_measures_itself(self, here):
        names = np.array(["b", "a"]), np.array(["a", "c"]), np.array(["tie", "model_a"])
        seconds, found = part("common").timed(here.rival("choix", "choix", *names))
        assert 0 < seconds < 5 and found == {"a": 0, "b": 1, "c": 2}

    def test_a_failure_is_told(self, here):
        with pytest.raises(RuntimeError, match="evalica failed"):
            here.rival("evalica", "evalica", 1, 2, 3)()

    def test_a_missing_one_is_a_note(self, monkeypatch, tmp_path):
        rivals = part("rivals")
        monkeypatch.setattr(rivals, "python_of", lambda name: tmp_path / "python")
        assert rivals.rival("skglm", "skglm") == "not installed: python -m benchmarks.rivals"
        with pytest.raises(SystemExit, match="NAME is 'nobody'. Pass one of: arena-rank, celer"):
            rivals.main(["nobody"])

    def test_an_environment_without_its_package_is_removed(self, monkeypatch, tmp_path):
        """One that is left would be taken for an installed rival."""
        rivals, python = part("rivals"), tmp_path / "skglm" / "bin" / "python"
        monkeypatch.setattr(rivals, "python_of", lambda name: python)
        created = lambda folder, **options: (folder / "bin").mkdir(parents=True)
        monkeypatch.setattr(rivals.venv, "create", created)
        with pytest.raises(OSError, match="python"):
            rivals.install("skglm")
        assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def judged(root):
    """The rows of `which` on tiny data, without peers."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(root))
        module = part("which")
        patched.setattr(module, "find_spec", lambda name: None)
        return list(module.rows("tiny", {}))


@pytest.mark.slow
def test_which_has_a_row_for_each_metric(judged):
    module = part("which")
    measured = [row for row in judged if row.metric]
    assert {row.metric for row in measured} == set(module.METRICS)
    assert {row.part for row in measured} == {"all", "fold 1", "fold 2"}
    assert all(row.low <= row.value <= row.high and row.units > 1 for row in measured)
    assert all(row.fits and row.seconds > 0 and not row.versus for row in measured)
    assert {(row.data, row.method, row.note) for row in judged if row.note} == {
        ("generated", "RayleighRankerCV", "does not apply: for two classes"),
        ("generated", "LightGBM, lambdarank", "not installed"),
        ("two classes", "LightGBM, lambdarank", "not installed"),
    }


@pytest.mark.slow
def test_which_pools_the_queries_of_folds(judged):
    linear = {
        row.part: row
        for row in judged
        if row.data == "generated" and row.method.startswith("RankRLS") and row.metric == "NDCG@10"
    }
    folds = [linear[f"fold {k}"] for k in (1, 2)]
    assert linear["all"].units == sum(fold.units for fold in folds)
    assert np.isclose(linear["all"].value, np.mean([fold.value for fold in folds]))


def test_which_keeps_to_its_budget():
    """Three fits to the 80 items that train, then the best, here the first, to the 160 of both."""
    trial, calls = part("which_fit").Trial(next(part("which_data").generated()), 3, 60.0), []
    fit = lambda X, y, qid, options: calls.append(len(y)) or {(): lambda X: X[:, 0]}
    predict, found = trial.search(fit, [dict(lam=k) for k in range(9)])
    assert calls == [80, 80, 80, 160] and trial.done == 3 and found == dict(lam=0)


def test_the_default_lambda_is_compared_on_every_set_by_every_method():
    module = part("default")
    found = list(module.rows("tiny", {}))
    names = {(row.data, row.method) for row in found}
    assert names == {(d, m) for d in ("generated", "two classes") for m in module.METHODS}
    for row in found:
        lams, along = (np.array(text.split(), dtype=float) for text in (row.lams, row.accuracies))
        assert np.allclose(lams, row.scatter * module.GRID, rtol=1e-5)
        assert len(along) == len(lams) and ((along >= 0) & (along <= 1)).all()
        # nearest places of the grid: the default is one of them but for its constant
        near = np.searchsorted(lams, row.lam_default) + np.array([-1, 0])
        assert along[near].min() - 0.05 <= row.default <= along[near].max() + 0.05
        assert row.distances > 0 and row.folds > 0 and 0 < row.one <= 1


@pytest.mark.slow
@pytest.mark.peer("lifelines")
@pytest.mark.filterwarnings("ignore:Starting with pandas version 4.0:DeprecationWarning:lifelines")
@pytest.mark.filterwarnings("ignore:(Column [0-9]+ have very low variance|Newton-Raphson)")
def test_survival_times_are_ordered_beside_cox():
    module = part("concordance")
    found = list(module.rows("tiny", {}))
    assert {row.data for row in found} == set(module.SETS)
    for row in found:
        if row.note:
            assert row.package == "scikit-survival" and row.note == "not installed"
        else:
            assert row.low <= row.harrell <= row.high and 0 <= row.uno <= 1 and row.seconds > 0
            assert (row.difference is None) == (row.method == module.REFERENCE)


@pytest.mark.slow
def test_clicks_are_learnt_from_in_each_way():
    module = part("clicks")
    found = {row.method: row for row in module.rows("tiny", {})}
    weighted = {"propensities known", "propensities estimated"}
    weighted |= {f"propensities known, clip {clip}" for clip in module.CLIPS}
    assert set(found) == weighted | {"skip-above", module.NAIVE, module.GRADES, module.PRODUCTION}
    for row in found.values():
        assert row.seeds == 2 and row.ndcg_low <= row.ndcg <= row.ndcg_high <= 1.3
        assert len(row.ndcgs.split()) == len(row.disagreements.split()) == 2


def test_the_share_recovered():
    recovered = part("clicks").recovered
    naive, grades = np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.4, 0.7])
    share, low, high = recovered((naive + grades) / 2, naive, grades)
    assert np.allclose([share, low, high], 0.5)
    assert recovered(grades, naive, naive + [-1, 0, 1]) == (None, None, None)


@pytest.mark.parametrize("name", ["a.csv", "a.md"])
def test_a_table_is_written(workplace, tmp_path, name):
    run("projected", "--tiny", "--out", name)
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert "processor: " in text and "numpy: " in text
    if name.endswith(".csv"):
        table = pd.read_csv(name, comment="#")
        assert (table.benchmark == "projected").all() and table["items"].eq(200).all()
    else:
        assert text.startswith("| benchmark | what |") and "\n| projected | " in text


def test_ours_and_its_peers_take_turns():
    calls = []
    ours, other = lambda: calls.append("ours") or 1.0, lambda: calls.append("other") or 2.0
    peers, measures = {"other": other, "gone": "not installed"}, {"twice": lambda x: 2 * x}
    there, absent = part("common").compare("a", 3, ours, peers, measures)
    assert calls == ["ours", "other"] * 3 and there.rounds == 3
    assert (there.quality, there.peer_quality, there.peer) == (2.0, 4.0, "other")
    assert (absent.peer, absent.note, absent.seconds) == ("gone", "not installed", None)


PROGRAM = """\
import sys

*options, file, model = sys.argv[1:]
assert options == {options!r} and " qid:" in open(file).readline()
open(model, "w").write({text!r})
"""
MODELS = {
    "svm_rank": "SVM-light Version V6.20\n0 # threshold b, a SV (with alpha*y)\n2 1:0.5 3:-1 #\n",
    "liblinear": "solver_type L2R_L2LOSS_RANKSVM\nnr_feature 3\nbias -1\nw\n1 \n0 \n-2 \n",
}


@pytest.mark.parametrize("name", MODELS)
def test_a_program_trains_on_a_file_and_its_model_is_read(name, tmp_path):
    linear = part("linear")
    options = ["-c", "2"]
    (tmp_path / "program.py").write_text(PROGRAM.format(options=options, text=MODELS[name]))
    (tmp_path / "train.txt").write_text("1 qid:1 1:0.5\n")
    read = {"svm_rank": linear.weights_of_svm_rank, "liblinear": linear.weights_of_liblinear}[name]
    command = [sys.executable, str(tmp_path / "program.py"), *options]
    weights = linear.trained(command, tmp_path / "train.txt", read, 3)
    assert np.array_equal(weights, [1.0, 0.0, -2.0])


def test_auto_is_compared_with_all_that_can_solve(tmp_path, capsys):
    """A second run with one solver keeps the times of the others."""
    table = tmp_path / "costs.csv"
    run("choice", "--tiny", "--out", str(table))
    before = pd.read_csv(table, comment="#")
    run("choice", "--tiny", "--out", str(table), "--solver", "interior")
    after = pd.read_csv(table, comment="#")
    facts = part("report").read_facts(table)
    assert facts["oldest rows"] == f"rankbook {facts['rankbook']}"
    assert facts["command"].endswith("costs.csv --solver interior")
    key = ["kernel", "loss", "storage", "share", "solver"]
    kept = lambda found: found[~found.solver.isin(["interior", "auto"])].set_index(key).sort_index()
    assert kept(before).equals(kept(after)) and set(before.solver) == set(after.solver)
    auto = after[(after.solver == "auto") & after.share.gt(0)]
    assert len(auto) == auto.note.isin(before.solver).sum() > 8 and (auto.again >= 1).all()
    ended = before[before.note.isna() & (before.solver != "whole path")]
    assert (ended.gap <= 1e-6).all() and (before.seconds >= 0).all()
    assert "within 1.5, at most" in capsys.readouterr().out


@pytest.mark.slow
def test_rates_are_measured_with_all_sizes_on_which_predictions_depend():
    from rankbook.registry import choice

    found = list(part("rates").rows("tiny", {}))
    kinds = {part: {row.kind for row in found if row.part == part} for part in ("smooth", "other")}
    assert kinds["other"] == set(choice.OTHERS) == set(choice.OTHER_TERMS)
    assert kinds["smooth"] | {"interpolated"} >= {"visited", "listed", "sorted", "interpolated"}
    assert {row.kind for row in found if row.part == "path"} == set(choice.SOLVES)
    for row in found:
        assert row.seconds > 0 and row.items > 0
        if row.part == "other":
            sizes = row.items, row.preferences, row.columns
            assert choice.seconds_of_other(row.kind, *sizes) > 0


def test_a_call_says_what_it_is_predicted_to_need():
    forecast = part("forecast")
    call = forecast.at(("linear", "hinge", "dense", 60, 3, 20, "full", "one"), "newton")
    row = forecast.timed("one", call)
    assert row.said == "the solver 'newton' for one solution" and row.predicted > 0 < row.seconds
    assert row.ratio == row.predicted / row.seconds
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call()  # says nothing afterwards


@pytest.mark.parametrize(
    "name", ["coverage", pytest.param("order_intervals", marks=pytest.mark.slow)]
)
def test_coverages_are_shares(name):
    with parallel_config("threading"):  # another process might not find the benchmarks
        found = list(part(name).rows("tiny", dict(repetitions=2)))
    assert found and all(0 <= row.score <= 1 and 0 <= row.rank <= 1 for row in found)
    assert all(row.repetitions == (2 if name == "coverage" else 4) for row in found)


def test_the_leaderboards_of_coverage_are_different():
    module = part("coverage")
    cells = list(module.cells())
    assert len(set(cells)) == len(cells) > 60
    for cell in cells[::7]:
        votes, score, effect = module.drawn(cell, 0)
        assert votes.n_items == score.size == cell.items and effect.size == cell.feature
        assert abs(score.mean()) < 1e-8
        if cell.places == 2:
            assert votes.compared().mean() <= cell.votes
        else:
            assert votes.n_orders * cell.places <= cell.votes * cell.items
