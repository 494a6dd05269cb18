"""Several files on the command line: fitted, scored and measured in blocks, as one would be."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import done, refused, run

import rankbook as rb
from rankbook.data import file_blocks
from rankbook.data.table import Dataset
from rankbook.data.writers import write_dataset, write_frame

pytestmark = pytest.mark.usefixtures("workplace")


def documents(n=240, levels=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)) * [1, 10, 0.1, 1]
    X[:, 3] = 2.0  # a constant
    y = np.digitize(X @ [1, 0.1, 10, 0] + rng.normal(size=n), np.linspace(-1, 1, levels - 1))
    names = [f"feature {j}" for j in range(1, 5)]
    items = [f"d{i}" for i in range(n)]
    return Dataset(X, y, qid=np.sort(rng.integers(0, 24, n)), feature_names=names, item_names=items)


def rows_of(data, rows):
    names = [data.item_names[i] for i in np.flatnonzero(rows)]
    parts = data.X[rows], data.y[rows], data.qid[rows]
    return Dataset(*parts, feature_names=data.feature_names, item_names=names)


@pytest.fixture(params=["parquet", "csv", "letor"])
def ending(request):
    """The ending of files whole, 0, 1 and 2, which hold together what the first does."""
    data = documents()
    write_dataset(data, f"whole.{request.param}")
    for k in range(3):
        write_dataset(rows_of(data, data.qid % 3 == k), f"{k}.{request.param}")
    return request.param


def told(ending):
    return [] if ending == "letor" else ["--target", "target", "--qid", "qid"]


@pytest.mark.parametrize(
    "options", [[], ["--lam", "3", "--no-standardize"], ["--loss", "squared"], ["-c", "2"]]
)
def test_a_fit_is_that_of_the_whole(ending, options, amount):
    if options and ending != amount("csv", ending):
        pytest.skip("slow: run with --slow")
    said = []
    for files, more in (
        ([f"?.{ending}"], []),
        ([f"whole.{ending}"], ["--kernel", "linear", "--solver", "newton"]),
    ):
        columns = told(ending)
        text = done("fit", *files, *columns, *options, *more, "-o", "m.rankbook", "--json")
        model = rb.load("m.rankbook")
        said.append((json.loads(text), model, model.model.certificate_.radius))
    (ours, model, near), (theirs, other, as_near) = said
    for name in ("items", "features", "model", "kernel"):
        assert ours[name] == theirs[name]
    assert np.isclose(ours["lam"], theirs["lam"], rtol=1e-12, atol=0)  # sums in another order
    assert np.isclose(ours["primal"], theirs["primal"], rtol=2e-6)
    apart = np.linalg.norm(model.model.coef_ - other.model.coef_)
    assert ours["relative_gap"] <= 1e-6 and apart <= near + as_near  # of the optimum
    assert model.about["data"] == f"?.{ending}" and ours["solver"].startswith("newton ")


def test_scores_and_measures_are_those_of_the_whole(ending):
    done("fit", f"[012].{ending}", *told(ending), "-o", "m.rankbook")
    model, data = rb.load("m.rankbook"), documents()
    done("predict", "m.rankbook", f"2.{ending}", f"0.{ending}", "-o", "scores.csv")
    found = pd.read_csv("scores.csv")
    wholes = [rows_of(data, data.qid % 3 == k) for k in (2, 0)]
    expected = np.concatenate([model.predict(each.X) for each in wholes])
    assert np.allclose(found["score"], expected, rtol=1e-12)
    assert found["row"].tolist() == [i for each in wholes for i in range(len(each.y))]
    assert found["qid"].tolist() == [q for each in wholes for q in each.qid]
    assert found["name"].tolist() == [name for each in wholes for name in each.item_names]
    assert found["file"].unique().tolist() == [f"2.{ending}", f"0.{ending}"]
    best = json.loads(done("predict", "m.rankbook", f"?.{ending}", "--ranked", "--json"))
    assert [row["rank"] for row in best if row["qid"] == 5] == [*range(1, sum(data.qid == 5) + 1)]

    for more in ([], ["--metric", "ndcg@3", "--metric", "auc"][:2], ["--by-query"]):
        ours, theirs = (
            json.loads(done("evaluate", "m.rankbook", f"{name}.{ending}", *more, "--json"))
            for name in ("?", "whole")
        )
        if "--by-query" in more:
            ours, theirs = (pd.DataFrame(each) for each in (ours, theirs))
            pd.testing.assert_frame_equal(ours, theirs)
            continue
        assert ours["items"] == theirs["items"] == 240
        assert list(ours["metrics"]) == list(theirs["metrics"])
        assert np.allclose(*(list(e["metrics"].values()) for e in (ours, theirs)), rtol=1e-12)
        for a, b in zip(ours["level_auc"], theirs["level_auc"], strict=True):
            assert a["better"] == b["better"] and np.isclose(a["auc"], b["auc"], rtol=1e-12)
    assert done("evaluate", "m.rankbook", f"?.{ending}") == done(
        "evaluate", "m.rankbook", f"whole.{ending}"
    )


@pytest.mark.parametrize(
    "options, words",
    [
        (["--kernel", "rbf"], "--kernel is 'rbf', and DATA names several files"),
        (["--method", "rankrls"], "--method is 'rankrls', and DATA names several files"),
        (["--solver", "qp"], "--solver is 'qp', and DATA names several files"),
        (["--graph", "star"], "--graph is 'star', and DATA names several files"),
        (["--gamma", "1"], "--gamma is '1', and DATA names several files"),
        (["--penalty", "l1"], "--penalty is 'l1', and DATA names several files"),
        (["--query-weight", "equal"], "--query-weight is 'equal', and DATA names several files"),
        (["--preferences", "p.csv"], "preferences is 'p.csv', and DATA names several files"),
        (["--name", "qid"], "--name is 'qid', and DATA names several files"),
        (["--lam", "1", "-c", "2"], "--lam is 1.0 and -c is 2.0. Pass only one of the two"),
        (["--lam", "-1"], "--lam is -1.0"),
        (["--target", "grade"], "--target is 'grade'"),
        (["--drop", "none"], "--drop is 'none'"),
    ],
)
def test_what_blocks_cannot_do(options, words):
    for k in range(2):
        write_dataset(rows_of(documents(), documents().qid % 2 == k), f"{k}.csv")
    columns = ["--qid", "qid", *(["--target", "target"] if "--target" not in options else [])]
    assert words in refused("fit", "0.csv", "1.csv", *columns, *options, "-o", "m.rankbook")
    assert not Path("m.rankbook").exists()


def test_files_that_are_none():
    assert "DATA is '*.csv': no file" in refused("fit", "*.csv", "--target", "y", "-o", "m")
    write_dataset(documents(), "a.csv")
    write_dataset(documents(), "b.csv")
    columns = ["--target", "target", "--qid", "qid"]
    assert "'c.csv': there is no such" in refused("fit", "a.csv", "c.csv", *columns, "-o", "m")
    assert "DATA has 'a.csv' twice" in refused("fit", "a.csv", "a.csv", *columns, "-o", "m")
    said = refused("fit", "a.csv", "b.csv", *columns, "-o", "m")
    assert "the query 0 in a.csv (rows 0 to 239) and in b.csv" in said


def test_what_a_model_misses():
    data = documents()
    write_dataset(data, "a.csv")
    done("fit", "?.csv", "--target", "target", "--qid", "qid", "-o", "m.rankbook")
    frame = pd.read_csv("a.csv").drop(columns="feature 2")
    for k in range(2):
        frame[frame.qid % 2 == k].to_csv(f"b{k}.csv", index=False)
    for command in ("predict", "evaluate"):
        said = refused(command, "m.rankbook", "b?.csv")
        assert "b0.csv has no column 'feature 2', which the model knows" in said
    frame["feature 2"] = np.arange(len(frame), dtype=float)
    frame.loc[frame.index[-1], "feature 2"] = np.nan
    frame[:200].to_csv("b0.csv", index=False)
    frame[200:].to_csv("b1.csv", index=False)
    for command in ("predict", "evaluate"):
        assert "b1.csv has nan or an empty cell in row 39, column 'feature 2'" in refused(
            command, "m.rankbook", "b?.csv"
        )
    pd.DataFrame(dict(score=[1.0])).to_csv("scores.csv", index=False)
    said = refused("evaluate", "scores.csv", "b0.csv", "b1.csv")
    assert "MODEL is 'scores.csv', a table of scores, and DATA names several files" in said
    assert "metric is 'ndgc@5'" in refused(
        "evaluate", "m.rankbook", "a.csv", "b0.csv", "--metric", "ndgc@5"
    )


class TestCluster:
    """The same work by processes of Dask."""

    def files(self):
        pytest.importorskip("distributed", reason="needs dask and distributed")
        data = documents()
        for k in range(3):
            write_dataset(rows_of(data, data.qid % 3 == k), f"{k}.parquet")
        return ["--target", "target", "--qid", "qid"]

    @pytest.mark.slow
    def test_two_workers(self):
        columns = self.files()
        said = [
            json.loads(done("fit", "?.parquet", *columns, *more, "-o", "m.rankbook", "--json"))
            for more in ([], ["--workers", "2"])
        ]
        ours, theirs = said
        assert np.isclose(ours["primal"], theirs["primal"], rtol=1e-10)
        assert ours["items"] == theirs["items"] == 240 and theirs["relative_gap"] <= 1e-6
        one = json.loads(
            done("fit", "0.parquet", *columns, "--workers", 1, "-o", "m.rankbook", "--json")
        )
        assert one["solver"].startswith("newton") and one["items"] < 240

    @pytest.mark.slow
    def test_a_cluster_that_runs_already(self):
        columns = self.files()
        from distributed import LocalCluster

        with LocalCluster(1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
            at = cluster.scheduler_address
            text = done("fit", "?.parquet", *columns, "--scheduler", at, "-o", "m", "--json")
        assert json.loads(text)["items"] == 240

    def test_what_is_refused(self):
        columns = self.files()
        fit = ["fit", "?.parquet", *columns, "-o", "m"]
        said = refused(*fit, "--workers", 2, "--scheduler", "tcp://127.0.0.1:1")
        assert (
            "--workers is 2 and --scheduler is 'tcp://127.0.0.1:1'. Pass only one of the two"
            in said
        )
        assert "--workers is 0" in refused(*fit, "--workers", 0)
        assert "--kernel is 'rbf'" in refused(*fit, "--workers", 2, "--kernel", "rbf")

    def test_without_dask(self, monkeypatch):
        columns = self.files()
        monkeypatch.setitem(sys.modules, "distributed", None)
        said = refused("fit", "?.parquet", *columns, "--workers", 2, "-o", "m")
        assert '--workers needs distributed, which is not installed: pip install "rank' in said


@pytest.mark.parametrize("line", [0, 1, 239])
def test_names_that_some_lines_lack_are_none(line):
    data = documents()
    write_dataset(data, "whole.letor")
    done("fit", "whole.letor", "--kernel", "linear", "-o", "m.rankbook")
    assert rb.read_table("whole.letor").item_names == data.item_names
    lines = Path("whole.letor").read_text().splitlines()
    lines[line] = lines[line].partition("#")[0]
    Path("some.letor").write_text("\n".join(lines) + "\n")
    with pytest.warns(rb.Assumption, match=f"line {line + 1}, .* has no #docid"):
        assert rb.read_table("some.letor").item_names is None
    for files in (["some.letor"], ["whole.letor", "some.letor"]):
        head = done("predict", "m.rankbook", *files).splitlines()[0]
        assert "name" not in head and head.endswith("row,qid,score")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_feature_of_ids_is_spoken_of(ending, monkeypatch):
    """As for one file. Of a large file only the first rows are examined, and the note says this."""
    rng = np.random.default_rng(0)
    for k, n in enumerate((40, 30)):
        table = dict(user_id=np.arange(n) + 40 * k, x=rng.normal(size=n), y=np.arange(n) % 3, q=k)
        write_frame(pd.DataFrame(table), f"{k}.{ending}")
    given = ["fit", f"0.{ending}", f"1.{ending}", "--target", "y", "--qid", "q", "-o", "m"]
    said = f"column 'user_id' of 0.{ending} has a different integer in each row, as ids have. For "
    noted = run(*given)
    assert noted.exit_code == 0, noted.stderr
    assert f"note: features: {said}ids pass --drop user_id." in noted.stderr
    assert list(rb.load("m").columns) == ["user_id", "x"]
    assert "different integer" not in run(*given, "--drop", "user_id").stderr
    assert list(rb.load("m").columns) == ["x"]
    assert "different integer" not in run("predict", "m", *given[1:3]).stderr
    with pytest.warns(rb.Assumption, match=r"For ids pass drop=\['user_id'\]\.$"):
        rb.read_blocks(f"?.{ending}", target="y", qid="q")
    monkeypatch.setattr(file_blocks, "CHUNK", 25)
    with pytest.warns(rb.Assumption, match="a different integer in each of its first 25 rows, as"):
        rb.read_blocks(f"?.{ending}", target="y", qid="q")
