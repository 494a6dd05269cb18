"""The command line: what it prints where, how it fails, and that it leaves nothing half done."""

import gzip
import json
import os
import re
import select as poll
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from shell import done, refused, run
from typer.testing import CliRunner

import rankbook as rb
from rankbook import __version__
from rankbook.app.cli.main import app
from rankbook.app.cli.reading import save_picture
from rankbook.app.cli.report import report
from rankbook.app.select import select_model
from rankbook.data.table import read_table
from rankbook.plots.slider import LambdaSlider

pytestmark = pytest.mark.usefixtures("workplace")

HEAVY = ["numba", "cvxpy", "matplotlib", "sklearn", "pandas", "scipy"]
COMMAND = [sys.executable, "-m", "rankbook"]


def write_items(name, queries=None, levels=3, n=80):
    """A small table or LETOR file; returns features and grades."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)).round(6)
    y = np.clip(
        np.round(X @ [1, 0.5, 0] + 0.5 * rng.normal(size=n) + (levels - 1) / 2), 0, levels - 1
    )
    qid = np.zeros(n, dtype=int) if queries is None else np.sort(rng.integers(0, queries, n))
    if Path(name).suffix == ".csv":
        np.savetxt(
            name,
            np.c_[qid, X, y],
            delimiter=",",
            header="query,a,b,c,grade",
            comments="",
            fmt="%.6f",
        )
        if queries is not None:  # query ids are words here
            lines = Path(name).read_text().splitlines()
            Path(name).write_text("\n".join([lines[0], *("q" + line for line in lines[1:])]) + "\n")
    else:
        words = [
            f"{y[i]:g} "
            + ("" if queries is None else f"qid:{qid[i]} ")
            + " ".join(f"{j + 1}:{x}" for j, x in enumerate(X[i]))
            for i in range(n)
        ]
        Path(name).write_text("\n".join(words) + "\n")
    return X, y, qid


def without_times(text):
    """The facts of a run, without what differs from run to run."""
    facts = json.loads(text)
    del facts["seconds"]
    for row in facts["candidates"]:
        del row["seconds"]
    return facts


class TestVerbose:
    def test_what_a_path_takes_is_said_first_and_elsewhere(self):
        write_items("games.csv", queries=20)
        options = ["games.csv", "--target", "grade", "--qid", "query", "--json"]
        quiet = run("select", *options)
        for flag in ("-v", "--verbose"):
            told = run("select", *options, flag, "--gamma", "0.1,1", "--lam-min", "1e-3")
            lines = told.stderr.splitlines()
            assert lines[0].startswith("2 paths of RankSVMProblem(") and "seconds" in lines[1]
            assert {line.split()[0] for line in lines[2:4]} == {"path", "epsilon"}
        told = run("select", *options, "-v")
        assert without_times(told.stdout) == without_times(quiet.stdout)
        assert quiet.stderr == "" and told.stderr.startswith("1 path of RankSVMProblem(")

    @pytest.mark.parametrize(
        "options",
        [
            ["--lam-min", "-1"],
            ["--gamma", "1", "--kernel", "linear"],
            ["--graph", "ful"],
            ["--seed", "-1"],
        ],
    )
    def test_a_bad_option_is_refused_as_without(self, options):
        write_items("games.csv")
        start = ["select", "games.csv", "--target", "grade", "--qid", "none"]
        assert refused(*start, *options, "-v") == refused(*start, *options)


class TestFiles:
    def test_csv_with_queries(self):
        _, _, qid = write_items("games.csv", queries=20)
        facts = json.loads(
            run("select", "games.csv", "--target", "grade", "--qid", "query", "--json").stdout
        )
        assert facts["data"] == dict(
            name="games",
            items=80,
            features=3,
            levels=3,
            queries=np.unique(qid).size,
            groups=None,
            events=None,
        )
        assert (
            sum(facts["split"]["queries"].values()) == np.unique(qid).size
            and facts["split"]["how"] == "by query, seed 0"
        )
        assert facts["auc"] is None

    def test_letor_gives_the_same_as_csv(self):
        write_items("games.csv", queries=20)
        write_items("games.letor", queries=20)
        table, letor = (
            json.loads(run("select", *arguments, "--json", "--kernel", "linear").stdout)
            for arguments in (["games.csv", "--target", "grade", "--qid", "query"], ["games.letor"])
        )
        assert letor["data"]["queries"] == table["data"]["queries"]
        # other ids are assigned in another order, so only what does not depend on the split is the
        # same
        assert sum(letor["split"]["items"].values()) == 80 and letor["solver"] == table["solver"]

    def test_letor_without_queries(self):
        write_items("games.svm")
        write_items("games.csv")
        both = [
            json.loads(run("select", *arguments, "--json").stdout)
            for arguments in (
                ["games.svm"],
                ["games.csv", "--target", "grade", "--qid", "none", "--no-standardize"],
                ["games.svm", "--no-standardize"],
            )
        ]
        assert (
            both[0]["data"]["queries"] is None
            and both[0]["split"]["how"] == "stratified by y, seed 0"
        )
        assert (
            both[2]["data"]["features"] == 3 and both[1]["data"]["features"] == 4
        )  # the column of queries, all 0, is a feature here
        assert both[2]["split"]["standardized"] is False

    def test_parquet(self):
        write_items("games.csv")
        pd.read_csv("games.csv").to_parquet("games.parquet")
        first, second = (
            json.loads(run("select", name, "--target", "grade", "--qid", "none", "--json").stdout)
            for name in ("games.csv", "games.parquet")
        )
        for key in (
            "data",
            "split",
            "preferences",
            "curve",
            "chosen",
            "disagreement",
            "certificate",
        ):
            assert first[key] == second[key]

    def test_a_folder_of_a_built_in_name(self):
        os.mkdir("auto")
        os.mkdir("cancer")
        assert (
            json.loads(run("select", "cancer", "--graph", "star", "--json").stdout)["data"]["items"]
            == 569
        )


class TestColumns:
    """What a column is taken for, and how to say otherwise."""

    @pytest.mark.parametrize(
        "name", ["qid", "query", "query_id", "group", "session", "Query_ID", "GROUP"]
    )
    def test_query_ids_by_name(self, name):
        write_items("games.csv", queries=20)
        text = Path("games.csv").read_text()
        Path("games.csv").write_text(text.replace("query", name, 1))
        told = run("select", "games.csv", "--target", "grade", "--qid", name, "--json")
        guessed = run("select", "games.csv", "--target", "grade", "--json")
        assert told.stderr == ""
        assert guessed.stderr == (
            f"rankbook: note: query ids: column '{name}' of games.csv; "
            "--qid none makes it a feature.\n"
        )
        assert without_times(guessed.stdout) == without_times(told.stdout)

    def test_none_makes_it_a_feature(self):
        write_items("games.csv")
        result = run("select", "games.csv", "--target", "grade", "--qid", "none", "--json")
        facts = json.loads(result.stdout)["data"]
        assert result.stderr == "" and facts["features"] == 4 and facts["queries"] is None

    def test_the_note_comes_before_the_error(self):
        write_items("games.csv")  # all of one query, which cannot be split
        result = run("select", "games.csv", "--target", "grade")
        note, error = result.stderr.splitlines()
        assert (
            result.exit_code == 2
            and note.startswith("rankbook: note: query ids: column 'query'")
            and "1 query to split" in error
        )

    def test_two_such_columns(self):
        write_items("games.csv", queries=9)
        Path("games.csv").write_text(
            Path("games.csv").read_text().replace("query,a,", "query,Session,", 1)
        )
        assert (
            "games.csv has 2 columns that may hold the query ids, 'query' and 'Session'. Name "
            "one of them with qid"
        ) in refused("select", "games.csv", "--target", "grade")
        both = run("select", "games.csv", "--target", "grade", "--drop", "Session", "--json")
        assert json.loads(both.stdout)["data"]["features"] == 2 and "column 'query'" in both.stderr

    def test_a_column_of_words_is_named_with_two_ways_out(self):
        write_items("games.csv", n=60)
        lines = Path("games.csv").read_text().splitlines()
        Path("games.csv").write_text(
            "\n".join(
                [
                    lines[0] + ",team,city",
                    *(f"{line},t{i % 12},c{i}" for i, line in enumerate(lines[1:])),
                ]
            )
        )
        line = refused("select", "games.csv", "--target", "grade", "--qid", "none")
        assert "'team' ('t0' in row 0), 'city' ('c0' in row 0)" in line
        ways = "--encode, or --drop team,city, or --name team"  # --qid was given
        assert f"(on the command line: {ways}; see the guide" in line
        assert "--drop team" in refused(
            "select", "games.csv", "--target", "grade", "--qid", "none", "--drop", "city"
        )
        for options in (
            ["--drop", "team,city"],
            ["--drop", "team", "--drop", "city"],
            ["--drop", " team, city,"],
        ):
            assert (
                json.loads(
                    run(
                        "select",
                        "games.csv",
                        "--target",
                        "grade",
                        "--qid",
                        "none",
                        *options,
                        "--json",
                    ).stdout
                )["data"]["features"]
                == 4
            )
        by_team = json.loads(
            run(
                "select",
                "games.csv",
                "--target",
                "grade",
                "--qid",
                "team",
                "--drop",
                "city,query",
                "--json",
            ).stdout
        )["data"]
        assert by_team["queries"] == 12 and by_team["features"] == 3

    @pytest.mark.parametrize(
        "arguments, says",
        [
            (
                ["games.csv", "--target", "grade", "--drop", "quarry"],
                "drop is 'quarry' (did you mean 'query'",
            ),
            (
                ["games.csv", "--target", "grade", "--drop", "a,grade"],
                "--target and --drop are both 'grade'",
            ),
            (
                ["games.csv", "--target", "grade", "--qid", "a", "--drop", "a"],
                "--qid and --drop are both 'a'",
            ),
            (["games.letor", "--drop", "a"], "drop is ['a']. Omit --drop for games.letor"),
            (["cancer", "--drop", "a"], "drop is ['a']. Omit --drop, because the built-in data"),
            (
                ["games.csv", "--target", "grade", "--qid", "query", "--drop", "a,b,c"],
                "no columns besides target 'grade' and qid 'query'",
            ),
        ],
    )
    def test_bad_drops(self, arguments, says):
        write_items("games.csv", queries=9)
        write_items("games.letor", queries=9)
        assert says in refused("select", *arguments)

    @pytest.mark.parametrize("queries", [None, 40])
    def test_a_column_of_groups_is_on_one_side(self, queries):
        write_items("games.csv", queries=queries, n=160)
        frame = pd.read_csv("games.csv")
        team = frame["query"].factorize()[0] % 12 if queries else np.arange(160) // 8
        frame.assign(team=[f"team {i}" for i in team]).to_csv("teams.csv", index=False)
        given = ["--target", "grade", "--group-split", "team", "--kernel", "linear"]
        given += ["--qid", "query"] if queries else ["--drop", "query"]
        facts = json.loads(run("select", "teams.csv", *given, "--json").stdout)
        assert facts["data"]["features"] == 3 and facts["data"]["groups"] == np.unique(team).size
        assert facts["split"]["how"] == "by group, seed 0"
        columns = dict(qid="query") if queries else dict(qid="none", drop=["query"])
        data = read_table("teams.csv", "grade", group_split="team", **columns)
        found = select_model(data, kernel="linear")
        owners = [set(team[part.rows]) for part in found.parts.values()]
        assert sum(map(len, owners)) == len(set.union(*owners)) == np.unique(team).size
        assert facts["disagreement"] == found.disagreement
        assert facts["chosen"]["lam"] == found.solution.lam

    def test_the_queries_may_be_the_groups(self):
        write_items("games.csv", queries=30)
        table = ["select", "games.csv", "--target", "grade", "--json"]
        plain, same = (run(*table, *more) for more in ([], ["--group-split", "query"]))
        facts = [json.loads(result.stdout) for result in (plain, same)]
        assert "column 'query'" in same.stderr and facts[1]["split"]["how"] == "by group, seed 0"
        assert facts[0]["disagreement"] == facts[1]["disagreement"]

    @pytest.mark.parametrize(
        "arguments, says",
        [
            (
                ["games.csv", "--target", "grade", "--group-split", "tem"],
                "--group-split is 'tem' (did you mean 'team'",
            ),
            (
                ["games.csv", "--target", "grade", "--group-split", "grade"],
                "--target and --group-split are both 'grade'",
            ),
            (
                ["games.csv", "--target", "grade", "--group-split", "team", "--drop", "team"],
                "--group-split and --drop are both 'team'",
            ),
            (
                ["games.csv", "--target", "grade", "--group-split", "team", "--qid", "game"],
                "--group-split has different entries in rows",
            ),
            (
                ["games.csv", "--target", "grade", "--group-split", "half", "--drop", "game"],
                "2 groups to split into 3 parts",
            ),
            (
                ["games.csv", "--target", "grade", "--group-split", "gap", "--qid", "game"],
                "has no group in row 1, column 'gap'",
            ),
            (["games.letor", "--group-split", "a"], "--group-split is 'a'. Omit --group-split for"),
            (
                ["cancer", "--group-split", "a"],
                "--group-split is 'a'. Omit --group-split, because the",
            ),
        ],
    )
    def test_bad_groups(self, arguments, says):
        write_items("games.csv", queries=9)
        write_items("games.letor", queries=9)
        row = np.arange(80)
        frame = pd.read_csv("games.csv").rename(columns={"query": "game"})
        frame = frame.assign(team=row % 7, half=row // 40)
        if "gap" in arguments:
            frame["gap"] = ["x", None] + ["x"] * 78
        frame.to_csv("games.csv", index=False)
        assert says in refused("select", *arguments)

    def test_a_target_of_words_is_not_to_be_dropped(self):
        Path("words.csv").write_text("y,x\ngood,1\nbad,2\n")
        line = refused("select", "words.csv", "--target", "y")
        assert "'y' ('good' in row 0). Rank by another column" in line and "--drop" not in line


class TestOtherFiles:
    def test_packed_tabs_semicolons_and_standard_input_give_the_same(self):
        write_items("games.csv", queries=20)
        text = Path("games.csv").read_text()
        Path("games.csv.gz").write_bytes(gzip.compress(text.encode()))
        Path("games.tsv").write_text(text.replace(",", "\t"))
        Path("semicolons.csv").write_text(text.replace(",", ";"))
        Path("commas.csv").write_text(text.replace(",", ";").replace(".", ","))
        options = ["--target", "grade", "--qid", "query", "--json"]
        expected = without_times(run("select", "games.csv", *options).stdout)
        for name in ("games.csv.gz", "games.tsv"):
            result = run("select", name, *options)
            assert without_times(result.stdout) == expected and result.stderr == ""
        for name, note in (
            ("semicolons", ""),
            ("commas", "rankbook: note: commas.csv is read with commas as decimal points.\n"),
        ):
            result = run("select", f"{name}.csv", *options)
            facts = without_times(result.stdout)
            assert (
                facts.pop("data").pop("name") == name
                and facts == {key: value for key, value in expected.items() if key != "data"}
                and result.stderr == note
            )
        for content in (text, gzip.compress(text.encode()), text.replace(",", "\t")):
            result = CliRunner().invoke(app, ["select", "-", *options], input=content)
            assert result.stderr == (
                "rankbook: note: standard input is read as CSV text, because it begins like that.\n"
            )
            facts = without_times(result.stdout)
            assert (
                facts["data"] == expected["data"] | dict(name="standard input")
                and facts["chosen"] == expected["chosen"]
            )

    def test_letor_on_standard_input(self):
        write_items("games.letor", queries=20)
        result = CliRunner().invoke(
            app, ["select", "-", "--json"], input=Path("games.letor").read_bytes()
        )
        assert result.stderr == (
            "rankbook: note: standard input is read as SVMlight text, because it begins like "
            "that.\n"
        )
        assert (
            without_times(result.stdout)["chosen"]
            == without_times(run("select", "games.letor", "--json").stdout)["chosen"]
        )

    @pytest.mark.parametrize(
        "content, says",
        [
            (b"", "standard input is empty"),
            (b"\xff\xfe\0", "standard input cannot be read as CSV text: "),
            (b"\x1f\x8bno", "standard input cannot be unpacked by gzip"),
            (b"one two\n1 2\n", "standard input has only one column"),
        ],
    )
    def test_bad_standard_input(self, content, says):
        result = CliRunner().invoke(app, ["select", "-", "--target", "y"], input=content)
        assert (
            result.exit_code == 2 and result.stdout == "" and says in result.stderr.splitlines()[-1]
        )

    def test_a_real_pipe(self):
        write_items("games.csv", queries=20)
        code = "from rankbook.__main__ import main; main()"
        with open("games.csv") as stream:
            result = subprocess.run(
                [sys.executable, "-c", code, "select", "-", "--target", "garde"],
                stdin=stream,
                capture_output=True,
                text=True,
            )
        assert (
            result.returncode == 2
            and "standard input is read as CSV text" in result.stderr
            and "did you mean 'grade'?" in result.stderr
        )

    def test_a_bad_line_of_a_letor_file(self):
        write_items("games.letor", queries=20)
        lines = Path("games.letor").read_text().splitlines()
        lines[56] = "2 qid:3 1:0.5 2:x 3:1"
        Path("games.letor").write_text("\n".join(["# games", "", *lines]) + "\n")
        assert "games.letor is not SVMlight text in line 59, '2 qid:3 1:0.5 2:x 3:1' (" in refused(
            "select", "games.letor"
        )


class TestOptions:
    def test_every_option_arrives(self):
        write_items("games.csv", n=120)
        facts = json.loads(
            run(
                "select",
                "games.csv",
                "--target",
                "grade",
                "--drop",
                "query",
                "--kernel",
                "poly",
                "--gamma",
                "0.1,0.2",
                "--degree",
                2,
                "--coef0",
                0.5,
                "--graph",
                "star",
                "--lam-min",
                0.01,
                "--lam-max",
                5,
                "--rule",
                "largest",
                "--no-standardize",
                "--seed",
                3,
                "--json",
            ).stdout
        )
        assert facts["kernel"] == dict(
            name="poly", gamma=facts["chosen"]["gamma"], degree=2, coef0=0.5
        )
        assert [row["gamma"] for row in facts["candidates"]] == [0.1, 0.2] and facts["chosen"][
            "rule"
        ] == "largest"
        assert 0.01 < facts["chosen"]["lam"] < 5 and facts["path"]["lam_end"] in (0.01, 0.0)
        assert (
            facts["preferences"]["graph"] == "star"
            and not facts["split"]["standardized"]
            and facts["split"]["seed"] == 3
        )

    def test_repeatable(self):
        first, second, other = (
            without_times(
                run("select", "cancer", "--graph", "star", "--seed", seed, "--json").stdout
            )
            for seed in (1, 1, 2)
        )
        assert first == second != other


@pytest.fixture(scope="module")
def facts():
    return json.loads(run("select", "cancer", "--graph", "star", "--json").stdout)


class TestReport:
    @pytest.mark.parametrize(
        "options, said",
        [
            ([], f"down to 0, complete (solver path {__version__})"),
            (
                ["--lam-min", "0.5"],
                f"down to 0, complete (solver path {__version__}); searched above 0.5",
            ),
            (
                ["--lam-min", "0.5", "--lam-max", "1"],
                f"down to 0, complete (solver path {__version__}); searched from 0.5 to 1",
            ),
            (["--lam-max", "2"], f"complete (solver path {__version__}); searched below 2"),
            (["--lam-min", "50"], f"down to 50, lam_min (solver path {__version__})"),
            (["--method", "rankrls", "--lam-min", "3"], f"{__version__}); searched above 3"),
        ],
    )
    def test_a_part_of_a_complete_path_is_not_called_the_whole(self, options, said):
        x = np.r_[np.arange(30.0), np.arange(30.0) + 300]  # separable, so the path ends by itself
        pd.DataFrame(dict(x=x, y=np.repeat([0, 1], 30))).to_csv("apart.csv", index=False)
        given = ["select", "apart.csv", "--target", "y", "--kernel", "linear", *options]
        (line,) = [one for one in run(*given).stdout.splitlines() if one.startswith("path")]
        assert line.endswith(said), line
        searched = json.loads(run(*given, "--json").stdout)["curve"]["searched"]
        number = dict(zip(options[::2], options[1::2]))
        assert searched[0] == float(number.get("--lam-min", 0))
        assert searched[1] == (float(number["--lam-max"]) if "--lam-max" in number else None)

    def test_the_text_tells_what_the_json_does(self, facts):
        text = run("select", "cancer", "--graph", "star")
        lines = {
            line[:13].strip(): line[13:] for line in text.stdout.splitlines() if line[:13].strip()
        }
        assert list(lines) == [
            "data",
            "split",
            "preferences",
            "kernel",
            "path",
            "minimum",
            "chosen",
            "disagreement",
            "validation",
            "test",
            "certificate",
            "time",
        ]
        for part in ("validation", "test"):
            ndcg, precision = map(facts[part]["metrics"].get, ("ndcg@10", "average_precision"))
            assert lines[part] == f"NDCG@10 {ndcg:.6f}, average precision {precision:.6f}"
        assert lines["data"] == "cancer: 569 items, 30 features, 2 levels"
        counts = facts["preferences"]
        assert lines["preferences"] == (
            f"{counts['train']} train (star graph), {counts['validation']} validation, "
            f"{counts['test']} test"
        )
        assert counts["train"] == facts["split"]["items"]["train"] - 1
        assert lines["chosen"].startswith(f"lambda {facts['chosen']['lam']:.6g}, gamma 0.0333333")
        assert (
            f"{facts['disagreement']['test']:.6f} test; AUC {facts['auc']:.6f} test"
            in lines["disagreement"]
        )
        assert (
            f"{facts['path']['breakpoints']} breakpoints" in lines["path"]
            and facts["solver"] in lines["path"]
        )
        assert all(f"{low:.8g} < lambda" in text.stdout for low, _ in facts["curve"]["best"][:5])

    def test_many_intervals_are_counted(self, facts):
        facts = facts | dict(
            curve=dict(
                searched=[0.0, None],
                exact=True,
                minimum=0.1,
                intervals=50,
                best=[[k, k + 0.5] for k in range(12)],
            ),
            chosen=facts["chosen"] | dict(lam=2.25),
        )
        text = "\n".join(report(facts))
        assert (
            text.count("< lambda <") == 5
            and "and 7 more" in text
            and "on 12 of 50 intervals" in text
        )

    @pytest.mark.parametrize("k", range(12))
    def test_the_chosen_interval_is_always_listed(self, facts, k):
        facts = facts | dict(
            curve=dict(
                searched=[0.0, None],
                exact=True,
                minimum=0.1,
                intervals=50,
                best=[[12 - j, 12.5 - j] for j in range(12)],
            ),
            chosen=facts["chosen"] | dict(lam=12.25 - k),
        )
        lines = report(facts)
        assert len([line for line in lines if f" {12 - k} < lambda < {12.5 - k}" in line]) == 1
        assert sum("< lambda <" in line for line in lines) == 5 + (k > 4) and any(
            f"and {7 - (k > 4)} more" in line for line in lines
        )

    @pytest.mark.parametrize(
        "low, high",
        [
            (1.0000001, 1.0000003),
            (0.123456781, 0.123456784),
            (3e-9, 3.0000001e-9),
            (1.0, 1.0 + 2**-50),
            (99999.99, 100000.01),
            (0.0, 1e-300),
            (7.0, None),
        ],
    )
    def test_numbers_show_that_the_choice_is_inside(self, facts, low, high):
        lam = 14.0 if high is None else (low + high) / 2
        text = "\n".join(
            report(
                facts
                | dict(
                    curve=dict(
                        searched=[0.0, None],
                        exact=True,
                        minimum=0.1,
                        intervals=3,
                        best=[[low, high]],
                    ),
                    chosen=facts["chosen"] | dict(lam=lam),
                )
            )
        )
        chosen = float(re.search(r"chosen       lambda ([^,]*),", text)[1])
        ends = re.search(r"\n             (\S+) < lambda(?: < (\S+))?\n", text)
        assert float(ends[1]) < chosen and (high is None or chosen < float(ends[2]))
        assert "lambda 14," in text if high is None else True

    @pytest.mark.parametrize("seed, gamma", [(5, 0.671), (89, 0.609)])
    def test_a_real_choice_beyond_the_fifth_interval(self, seed, gamma):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(20, 70), rng.integers(1, 8)
        X, y = rng.normal(size=(n, d)).round(2), rng.integers(0, rng.integers(2, 5), n)
        pd.DataFrame(X).assign(y=y).to_csv("noise.csv", index=False)
        text = run("select", "noise.csv", "--target", "y", "--gamma", gamma).stdout
        intervals = [
            (float(low), float(high))
            for low, high in re.findall(r"(\S+) < lambda < ([^\s,]+)", text)
        ]
        chosen = float(re.search(r"chosen       lambda ([^,]*),", text)[1])
        assert [low < chosen < high for low, high in intervals] == [False] * 5 + [
            True
        ] and ", the widest\n" in text

    def test_open_intervals_and_no_breakpoints(self, facts):
        facts = facts | dict(
            curve=dict(
                searched=[0.0, None], exact=True, minimum=0.5, intervals=1, best=[[0.0, None]]
            ),
            path=facts["path"] | dict(breakpoints=0, lam_max=None),
        )
        text = "\n".join(report(facts))
        assert "0 < lambda\n" in text and "path         0 breakpoints, complete (solver" in text

    def test_notes_go_to_stderr(self, monkeypatch):
        monkeypatch.setattr("rankbook.app.select.ModelSelection.notes", ["Beware."])
        result = run("select", "cancer", "--graph", "star", "--json")
        assert result.stderr == "rankbook: note: Beware.\n" and json.loads(result.stdout)[
            "notes"
        ] == ["Beware."]


class TestErrors:
    def test_unknown_data(self):
        assert (
            "no such file, and no built-in data set of this name; did you mean 'diabetes'?"
            in refused("select", "diabtes")
        )
        assert "Built in: auto, cancer" in refused("select", "zzz")

    @pytest.mark.parametrize(
        "arguments, says",
        [
            (["games.csv"], "--target is missing. Pass the name of a column of games.csv"),
            (["games.csv", "--target", "garde"], "did you mean 'grade'"),
            (["games.csv", "--target", "grade", "--qid", "quarry"], "did you mean 'query'"),
            (["games.letor", "--target", "grade"], "--target is 'grade'. Omit --target"),
            (
                ["cancer", "--target", "y"],
                "--target is 'y'. Omit --target, because the built-in data 'cancer'",
            ),
            (["lies.parquet"], "lies.parquet cannot be read as Parquet: "),
            (["words.csv", "--target", "y"], "columns that are not numbers"),
            (["empty.csv", "--target", "y"], "is empty"),
            (["folder"], "a folder"),
            (
                ["equal.csv", "--target", "y"],
                "data (4 items) has no preference: all targets are equal",
            ),
            (["cancer", "--kernel", "rfb"], "did you mean 'rbf'"),
            (["cancer", "--kernel", "linear", "--gamma", "1"], "but the kernel is linear"),
            (["cancer", "--gamma", "1,,2"], "--gamma is '1,,2'"),
            (["cancer", "--gamma", "-1"], "gamma has -1.0"),
            (["cancer", "--graph", "stra"], "did you mean 'star'"),
            (["cancer", "--rule", "wide"], "did you mean 'widest'"),
            (["cancer", "--solver", "pth"], "did you mean 'path'"),
            (
                ["cancer", "--solver", "path", "--solver-option", "max_event=5"],
                "--solver-option of the solver 'path' is 'max_event' (did you mean 'max_events'",
            ),
            (["cancer", "--solver-option", "max_events=5"], "--solver-option of the solver 'auto'"),
            (["cancer", "--solver-option", "allow_plugins=yes"], "allow_plugins is 'yes'"),
            (
                ["cancer", "--solver", "path", "--solver-option", "max_events"],
                "--solver-option is 'max_events'. Pass key=value",
            ),
            (
                ["cancer", "--solver", "rls", "--graph", "star"],
                "not RankSVMProblem. On the command line: --method, --kernel and --graph make",
            ),
            (["cancer", "--lam-min", "0"], "--lam-min is 0"),
            (["cancer", "--lam-min", "nan"], "--lam-min is nan"),
            (
                ["cancer", "--lam-min", "5", "--lam-max", "1"],
                "--lam-min is 5.0 and --lam-max is 1.0",
            ),
            (["cancer", "--gamma", "0,1"], "--gamma has 0.0"),
            (["cancer", "--lam-min", "2", "--lam-max", "1"], "Pass --lam-min < --lam-max"),
            (["cancer", "--degree", "2"], "degree is 2, but the kernel is rbf"),
            (["cancer", "--kernel", "poly", "--degree", "0"], "degree is 0"),
            (["cancer", "--seed", "-1"], "seed is -1"),
            (["cancer", "--plot", "a.doc"], "Pass a file that ends in .pdf, .png or .svg"),
            (["cancer", "--plot", "plot"], "not a known picture format"),
            (["cancer", "--plot", "none/a.png"], "no folder 'none'"),
            (["cancer", "--plot", "folder.png"], "a folder. Pass a file"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_one_line(self, arguments, says):
        write_items("games.csv", queries=9)
        write_items("games.letor", queries=9)
        os.mkdir("folder")
        os.mkdir("folder.png")
        Path("lies.parquet").write_text("a,b\n1,2\n")
        Path("words.csv").write_text("y,car\n1,ford\n2,fiat\n")
        Path("equal.csv").write_text("y,x\n1,1\n1,2\n1,3\n1,4\n")
        Path("empty.csv").touch()
        before = sorted(os.listdir())
        assert says in refused("select", *arguments)
        assert sorted(os.listdir()) == before

    def test_options_reach_the_solver(self):
        options = ("--graph", "star", "--json", "--solver-option")
        short = json.loads(
            run("select", "cancer", "--solver", "path", *options, "max_events=9").stdout
        )
        assert short["path"]["status"] == "max_events" and short["path"]["breakpoints"] <= 10
        text = run(
            "select", "cancer", "--verbose", *options, "allow_plugins=true", "--lam-min", "9"
        )
        assert text.exit_code == 0 and json.loads(text.stdout)["solver"].startswith("path")

    def test_a_lambda_out_of_reach_is_one_line_that_says_so(self):
        options = ("--graph", "star", "--solver", "interior", "--lam-min", "1e-300")
        result = run("select", "cancer", *options)
        assert result.exit_code == 2 and result.stdout == ""
        last = result.stderr.splitlines()[-1]
        assert last.startswith("rankbook: error: the inner solver 'interior")
        assert (
            "at lam = 1e-300, more than half of eps = 0.001" in last
            and "raised by the solver 'epsilon" in last
        )

    def test_a_plugin_may_be_chosen(self):
        import rankbook as registry

        class Quick(registry.Solver):
            name, provides = "quick", frozenset({"path"})
            cost = lambda self, problem, lam: 1e-9

            def path(self, problem, lam_min=None):
                return registry.get_solver("path").path(problem, lam_min)

        registry.register_solver(Quick)
        try:
            given = ("select", "cancer", "--graph", "star", "--lam-min", "9", "--json", "--verbose")
            found = run(*given, "--solver", "auto", "--solver-option", "allow_plugins=true")
            assert json.loads(found.stdout)["solver"] == "quick"
            assert found.stderr.index("quick") < found.stderr.index("epsilon")
            assert json.loads(run(*given).stdout)["solver"].startswith("path")
        finally:
            registry.unregister_solver("quick")

    def test_an_argument_that_a_solver_names_is_its_own(self):
        import rankbook as registry

        class Fails(registry.Solver):
            name, provides = "fails", frozenset({"path"})

            def path(self, problem, lam_min=None):
                raise self.error

        registry.register_solver(Fails)
        try:
            for error, says in (
                (ValueError("kernel is singular."), "error: kernel is singular. (raised by the"),
                (RuntimeError("no licence"), "error: no licence (raised by the solver 'fails')"),
            ):
                Fails.error = error
                assert says in refused("select", "cancer", "--graph", "star", "--solver", "fails")
            Fails.error = ZeroDivisionError("a bug")
            result = run("select", "cancer", "--graph", "star", "--solver", "fails")
            assert isinstance(result.exception, ZeroDivisionError)
        finally:
            registry.unregister_solver("fails")

    def test_a_solver_without_a_path_is_followed_by_epsilon(self):
        import rankbook as registry

        class Blind(registry.Solver):
            name = "blind"

            def solve(self, problem, lam):
                found = registry.get_solver("interior").solve(problem, lam)
                return registry.Solution(problem, lam, coef=found.coef, dual=found.dual)

        registry.register_solver(Blind)
        try:
            options = ("--graph", "star", "--lam-min", "1")
            text = run("select", "cancer", "--solver", "blind", *options).stdout
            assert f"(solver epsilon {__version__} through blind)" in text
        finally:
            registry.unregister_solver("blind")

    def test_parquet_without_pyarrow(self, monkeypatch):
        Path("a.parquet").write_bytes(b"PAR1")
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        text = refused("select", "a.parquet", "--target", "y")
        assert text.endswith('pyarrow, which is not installed: pip install "rankbook[data]"\n')

    def test_too_large(self, monkeypatch):
        monkeypatch.setattr("rankbook.base.limits.available_memory", lambda: 10_000)
        text = refused("select", "cancer")
        assert "bytes" in text and "--graph star" in text and "--kernel linear" in text

    @pytest.mark.parametrize(
        "arguments",
        [
            ["select"],
            ["select", "cancer", "--foo"],
            ["select", "cancer", "--lam-min", "small"],
            ["selct"],
        ],
    )
    def test_wrong_usage(self, arguments):
        result = run(*arguments)
        assert (
            result.exit_code == 2
            and result.stdout == ""
            and result.stderr.startswith("rankbook: error: ")
            and result.stderr.count("\n") == 1
            and "--help." in result.stderr
        )

    def test_a_bug_keeps_its_traceback(self, monkeypatch):
        monkeypatch.setattr("rankbook.app.select.prepare", lambda *_: 1 // 0)
        assert isinstance(run("select", "cancer").exception, ZeroDivisionError)

    def test_ctrl_c(self, monkeypatch):
        def interrupt(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("rankbook.app.select.prepare", interrupt)
        result = run("select", "cancer", "--plot", "a.png")
        assert result.exit_code == 130 and result.stdout == "" and os.listdir() == []


class TestPicture:
    @pytest.mark.parametrize(
        "ending, magic", [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")]
    )
    def test_kinds(self, ending, magic):
        assert run("select", "cancer", "--graph", "star", "--plot", f"a{ending}").exit_code == 0
        content = Path(f"a{ending}").read_bytes()
        assert content.startswith(magic) and len(content) > 5000 and os.listdir() == [f"a{ending}"]

    @pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
    def test_an_old_picture_survives_a_failure(self, error):
        def savefig(file, **_):
            file.write(b"half")
            raise error

        Path("a.png").write_text("old")
        with pytest.raises(error):
            save_picture(SimpleNamespace(savefig=savefig), Path("a.png"))
        assert os.listdir() == ["a.png"] and Path("a.png").read_text() == "old"

    def test_the_result_is_printed_although_the_picture_fails(self, monkeypatch):
        def fail(*_):
            raise OSError("the disk is full.")

        monkeypatch.setattr("rankbook.app.cli.select.save_picture", fail)
        result = run("select", "cancer", "--graph", "star", "--plot", "a.png", "--json")
        assert (
            result.exit_code == 2
            and "the disk is full" in result.stderr
            and json.loads(result.stdout)["data"]["items"] == 569
        )


def test_solvers():
    rows = json.loads(run("solvers", "--json").stdout)
    text = run("solvers").stdout
    assert {"path", "qp"} <= {row["name"] for row in rows} and all(
        row["name"] in text and row["state"] in text for row in rows
    )


def test_what_a_file_is(tmp_path):
    import rankbook as rb

    file = str(tmp_path / "m.rankbook")
    X = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 1.0]])
    rb.RankSVM(kernel="linear", lam=0.5).fit(X, [0, 1, 2]).save(file)
    text = run("info", file).stdout
    for said in ("rankbook model, version 2", "RankSVM", "lam=0.5", "relative gap"):
        assert said in text
    facts = json.loads(run("info", file, "--json").stdout)
    assert facts["class"] == "RankSVM" and facts["n_features_in"] == 2 and facts["readable"]
    rb.solve_path(rb.RankSVMProblem(X, rb.Preferences([0], [1], 3)), solver="path").save(file)
    assert "rankbook path" in run("info", file).stdout
    content = Path(file).read_bytes()
    Path(file).write_bytes(content[:-40])
    assert "m.rankbook" in refused("info", file) and "no such file" in refused("info", "no.file")


def test_version():
    from rankbook import __version__

    assert run("--version").stdout == f"rankbook {__version__}\n"


def test_help_names_every_option():
    text = run("select", "--help").stdout
    for option in (
        "--target",
        "--qid",
        "--drop",
        "--group-split",
        "--kernel",
        "--gamma",
        "--degree",
        "--coef0",
        "--graph",
        "--lam-min",
        "--lam-max",
        "--rule",
        "--no-standardize",
        "--seed",
        "--solver",
        "--plot",
        "--json",
    ):
        assert option in text
    text = run("--help").stdout
    assert "solvers" in text and "..." not in text.split("Commands:")[1]


@pytest.mark.parametrize(
    "typed, offered",
    [
        (["select", "x.csv", "--gr"], {"--graph", "--group", "--group-split"}),
        (["fit", "x.csv", "--pre"], {"--preferences"}),
        (["fit", "x.csv", "--col"], {"--column"}),
        (["predict", "m", "x.csv", "--ra"], {"--ranked"}),
        (["co"], {"compare", "convert"}),
        (["fit", "x.csv", "--form", "c"], {"clicks", "counts"}),
        (["fit", "x.csv", "--query-weight", "e"], {"equal"}),
        (["select", "x.csv", "--rule", "o"], {"one_se"}),
        (["path", "x.csv", "--graph", "f"], {"full"}),
    ],
)
def test_completion(typed, offered):
    words = dict(COMP_WORDS=" ".join(["rankbook", *typed]), COMP_CWORD=str(len(typed)))
    ask = os.environ | dict(COLUMNS="100") | dict(_RANKBOOK_COMPLETE="complete_bash") | words
    found = subprocess.run(COMMAND, env=ask, capture_output=True, text=True, check=True)
    assert set(found.stdout.split()) == offered


def test_the_help_of_a_command_has_examples_that_it_understands():
    from rankbook.app.cli.main import COMMANDS, EXAMPLES, load

    assert list(COMMANDS) == list(EXAMPLES)
    for name, lines in EXAMPLES.items():
        text = run(name, "--help").stdout
        assert COMMANDS[name][1] == text.splitlines()[2].strip()  # the line of rankbook --help
        for line in lines:
            program, command, *words = line.split()
            assert line in text and (program, command) == ("rankbook", name)
            load(name).make_context(name, words, resilient_parsing=False)


def test_the_first_example_of_each_command_runs(workplace):
    """They need nothing but the package, and the files of those before them."""
    from rankbook.app.cli.main import EXAMPLES

    for name, (line, *_) in EXAMPLES.items():
        if name not in ("check", "warm-up"):  # these two take minutes
            done(*line.split()[1:])


@pytest.mark.parametrize("short, long", [("-h", "--help"), ("-V", "--version")])
def test_short_names(short, long):
    assert done(short) == done(long)
    if short == "-h":
        assert done("rank", short) == done("rank", long) and "https://" in done(short)


def test_the_help_calls_values_and_arguments_plainly():
    """Types of Python, which typer shows by default, are not among them."""
    from rankbook.app.cli.main import COMMANDS

    for name in COMMANDS:
        text = done(name, "-h")
        assert not re.search(r"<\w+>|\b(TEXT|FLOAT|INTEGER|PATH)\b|[{}]", text), name
        assert "-q, --quiet" in text
    assert " predict [OPTIONS] MODEL DATA...\n" in done("predict", "-h")


class TestQuiet:
    def test_no_notes(self, workplace):
        Path("votes.csv").write_text("a,b,winner\nx,y,x\ny,z,z\n")
        loud = run("rank", "votes.csv")
        for quiet in (run("rank", "votes.csv", "-q"), run("--quiet", "rank", "votes.csv")):
            assert "rankbook: note: " in loud.stderr and quiet.stderr == ""
            assert loud.stdout == quiet.stdout
        assert "rankbook: note: " in run("rank", "votes.csv").stderr  # only that call

    def test_errors_are_printed(self):
        assert "there is no such file" in refused("rank", "gone.csv", "--quiet")

    @pytest.mark.parametrize(
        "line",
        [
            "fit clicks --target click --drop hotel --kernel linear -o m",
            "select clicks --target click --drop hotel --kernel linear -o m",
            "path clicks --target click --drop hotel --kernel linear --lam-min 9 -o m.csv",
            "path clicks --target click --drop hotel --kernel linear --lam-min 9 --save m.path",
            "convert cancer m.csv",
            "new-solver quiet-solver",
        ],
    )
    def test_no_summary_of_a_file(self, workplace, line):
        found = run(*line.split(), "-q")
        assert found.exit_code == 0 and (found.stdout, found.stderr) == ("", "")

    def test_results_are_printed(self, workplace):
        line = "fit clicks --target click --drop hotel --kernel linear --loss logistic -o m"
        assert json.loads(done(*line.split(), "-q", "--json"))["file"] == "m"
        table = [*line.split(), "--coefficients", "--robust"]
        loud, quiet = (done(*table, *more) for more in ((), ("-q",)))
        assert quiet.startswith("feature") and loud.endswith(f"\n\n{quiet}")
        select = "select clicks --target click --drop hotel --kernel linear -q"
        assert "chosen " in done(*select.split())
        path = "path clicks --target click --drop hotel --kernel linear --lam-min 9 -q"
        assert "RegularizationPath" in done(*path.split())


def test_the_output_has_one_name_in_every_command(workplace):
    done("fit", "clicks", "--target", "click", "--drop", "hotel", "-q", "--output", "a")
    for name in ("-o", "--out"):
        done("fit", "clicks", "--target", "click", "--drop", "hotel", "-q", name, "b")
        assert Path("a").read_bytes() == Path("b").read_bytes()


class TestTables:
    """The tables that come with the package, by their names."""

    @pytest.mark.parametrize("name", ["votes", "matches", "orders"])
    def test_a_name_is_the_file(self, name):
        file = Path(rb.__file__).parent / "data" / "tables" / f"{name}.csv"
        assert done("rank", name) == done("rank", file)

    def test_an_output_of_that_name_is_a_file_here(self, workplace):
        file = Path(rb.__file__).parent / "data" / "tables" / "votes.csv"
        before = file.read_bytes()
        done("fit", "clicks", "--target", "click", "--drop", "hotel", "-q", "-o", "votes")
        assert Path("votes").exists() and file.read_bytes() == before

    def test_the_list_says_what_each_needs(self, monkeypatch):
        monkeypatch.delenv("RANKBOOK_DATA", raising=False)
        lines = done("datasets").splitlines()
        assert any(re.match("votes +ready +360 simulated votes", line) for line in lines)
        assert any(re.match("mq2008 +by hand ", line) for line in lines)
        assert json.loads(done("datasets", "--json"))["clicks"] == "ready"

    def test_a_description_says_the_truth(self):
        text = done("datasets", "votes")
        assert "360 rows: winner, loser, tie, judge" in text and "Ash 1.5" in text
        facts = json.loads(done("datasets", "survival", "--json"))
        assert facts["rows"] == 200 and facts["columns"][:2] == ["days", "event"]


# In a process of its own, as users run it


@pytest.mark.parametrize(
    "arguments", [["--help"], ["select", "--help"], ["solvers"], ["--version"]]
)
def test_nothing_heavy_is_loaded(arguments):
    code = (
        "import sys; from rankbook.app.cli.main import app; "
        f"app({arguments}, standalone_mode=False); "
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "[]"


class Terminal:
    """A process whose stderr is a terminal; what it writes there is collected."""

    def __init__(self, *arguments):
        pty = pytest.importorskip("pty")
        termios = pytest.importorskip("termios")
        self.main, child = pty.openpty()
        termios.tcsetwinsize(child, (24, 100))  # a progress bar of no width is not drawn
        self.text = ""
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdout=subprocess.PIPE,
            stderr=child,
            text=True,
            env=os.environ | dict(COLUMNS="100"),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # a job in the background inherits that it is ignored
        os.close(child)

    def read(self, until=None, seconds=600):
        """Read stderr to its end, or until a pattern has been seen."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if poll.select([self.main], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.main, 65536).decode()
                except OSError:  # the other end is closed
                    return True
                if until and re.search(until, self.text):
                    return True
            elif self.process.poll() is not None:
                return True
        return False

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        os.close(self.main)


@pytest.fixture
def terminal():
    opened = []

    def start(*arguments):
        opened.append(Terminal(*arguments))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def test_a_real_run_on_a_terminal(terminal):
    first = terminal("select", "cancer", "--plot", "cancer.png", "--json")
    assert first.read()
    facts = json.loads(first.process.stdout.read())
    assert (
        first.process.wait() == 0
        and facts["certificate"]["relative_gap"] < 1e-8
        and facts["path"]["status"] == "complete"
    )
    compiled = facts["seconds"]["compiling"] > 0  # or an earlier test did, and its code was kept
    assert ("rankbook: compiling" in first.text) == compiled and "events" in first.text
    assert os.listdir() == ["cancer.png"]

    second = subprocess.run(
        [*COMMAND, "select", "cancer"], capture_output=True, text=True, check=True
    )
    assert second.stderr == ""  # no terminal: no progress, no chatter
    assert (
        f"{facts['path']['breakpoints']} breakpoints" in second.stdout
        and "compiling" not in second.stdout
    )


def test_checks_show_a_bar(terminal):
    process = terminal("check", "rls")
    assert process.read(until="checks"), process.text


def test_ctrl_c_on_the_path_keeps_no_half_files(terminal):
    process = terminal("select", "digits", "--plot", "digits.png", "--json")
    assert process.read(until="lam(bda)? [0-9.e+]+"), process.text
    process.process.send_signal(signal.SIGINT)
    assert process.read(seconds=60) and process.process.wait(60) == 130
    assert "rankbook: interrupted" in process.text and "Traceback" not in process.text
    assert process.process.stdout.read() == "" and os.listdir() == []


def test_a_read_only_model_is_not_replaced():
    Path("m").write_text("old")
    Path("m").chmod(0o444)
    said = refused("fit", "cancer", "--out", "m")
    assert "--output is 'm', a read-only file. Delete it or make it writable." in said
    assert Path("m").read_text() == "old"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("words", ["--help", "--version", "fit --help", "solvers"])
def test_a_full_disk_is_no_traceback(words):
    with open("/dev/full", "w") as full:
        command = [*COMMAND, *words.split()]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 2
    assert re.fullmatch("rankbook: error: .*No space left on device.*\n", ended.stderr)


def test_the_module_is_the_command():
    ended = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, f"rankbook {__version__}\n")


LOST = """
import signal, time
signal.signal(signal.{sent}, signal.{handler})
from rankbook.app.cli import main
class Finalized:
    def __del__(self):
        signal.raise_signal(signal.{sent})
def app(prog_name):
    try:
        {lose}
    except KeyboardInterrupt:
        pass
    time.sleep({seconds})
main.app = app
main.main()"""
SENT = "signal.raise_signal(signal.{sent})"


def losing(sent, lose=SENT, seconds=60, handler="SIG_DFL"):
    """Run a command that loses the exception of a signal, and the seconds it took."""
    code = LOST.format(sent=sent, lose=lose.format(sent=sent), seconds=seconds, handler=handler)
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert time.monotonic() - begin < 30
    return done


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
class TestSignals:
    @pytest.mark.parametrize("seconds", [0, 60])
    @pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM", "SIGHUP"])
    def test_one_whose_exception_is_lost_ends_the_command(self, sent, seconds):
        done = losing(sent, seconds=seconds)
        assert (done.returncode, done.stderr) == (130, "rankbook: interrupted\n")

    def test_one_in_a_finalizer_ends_the_command(self):
        done = losing("SIGTERM", "Finalized()")
        assert done.returncode == 130 and done.stderr.endswith("\nrankbook: interrupted\n")

    def test_printed_lines_reach_a_pipe(self, monkeypatch):
        monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
        done = losing("SIGTERM", "print('a line'); signal.raise_signal(signal.{sent})", 0)
        assert (done.returncode, done.stdout) == (130, "a line\n")

    def test_one_without_room_for_a_thread_is_an_interrupt(self, monkeypatch):
        def full(*given):
            raise RuntimeError("can't start new thread")

        from rankbook.app.cli import main

        monkeypatch.setattr(main, "start_new_thread", full)
        monkeypatch.setattr(main, "SIGNALS", [])
        with pytest.raises(KeyboardInterrupt):
            main._interrupt(signal.SIGTERM, None)
        assert main.SIGNALS == [signal.SIGTERM]

    @pytest.mark.parametrize("sent", ["SIGINT", "SIGHUP"])
    def test_one_that_is_ignored_stays_ignored(self, sent):
        """As in a background job and under nohup."""
        done = losing(sent, seconds=2, handler="SIG_IGN")
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["fit", "select"])
def test_a_feature_of_ids_is_spoken_of(workplace, command):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(dict(user_id=range(100, 140), x=rng.normal(size=40), y=np.arange(40) % 3))
    table.to_csv("t.csv", index=False)
    given = [command, "t.csv", "--target", "y", "--kernel", "linear", "-o", "m"]
    found = run(*given)
    assert found.exit_code == 0 and list(rb.load("m").columns) == ["user_id", "x"]
    assert (
        "note: features: column 'user_id' of t.csv has a different integer in each row, as ids "
        "have. For ids pass --name user_id or --drop user_id." in found.stderr
    )
    for more in ("--name", "--drop"):
        assert "different integer" not in run(*given, more, "user_id").stderr
        assert list(rb.load("m").columns) == ["x"]
    assert "different integer" not in run("predict", "m", "t.csv").stderr


def test_a_single_thing_has_no_plural(workplace, caplog):
    table = pd.DataFrame(dict(q=[1, 1, 1], x=[1.0, 2.0, 3.0], y=[0, 1, 2]))
    table.to_csv("t.csv", index=False)
    said = refused("select", "t.csv", "--target", "y", "--qid", "q")
    assert "data has 1 query to split into 3 parts" in said
    Path("pairs.csv").write_text("winner,loser\na,b\n")
    run("rank", "pairs.csv", "--explain")
    assert "1 row of form pairs" in caplog.text
    prefs = rb.Preferences.from_scores(table["y"])
    path = rb.solve_path(rb.RankSVMProblem(table[["x"]].to_numpy(), prefs, kernel="linear"))
    with pytest.raises(ValueError, match="^items has 1 row. Pass 2 to"):
        LambdaSlider(path, items=[[1.0]])
