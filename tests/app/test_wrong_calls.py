"""Every command, called wrongly: one line that says what, exit code 2, and nothing written.

One case for each option and each way to be wrong; tests/test_errors.py has the messages of Python.
"""

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import run

from rankbook.app.cli.main import COMMANDS, load

pytestmark = pytest.mark.usefixtures("workplace")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a table of every kind, a model and a path, right and wrong ones."""
    folder, home = tmp_path_factory.mktemp("wrong"), os.getcwd()
    os.chdir(folder)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 2)).round(3), columns=["a", "b"])
    table["grade"] = (table.a > 0) + (table.b > 0) * 1
    table["race"] = np.arange(40) // 4
    table.to_csv("good.csv", index=False)
    table.assign(a=[np.nan, *table.a[1:]]).to_csv("nan.csv", index=False)
    table.assign(b=[*table.b[:-1], np.inf]).to_csv("inf.csv", index=False)
    table.assign(race=7).to_csv("one.csv", index=False)
    table.assign(grade=1).to_csv("equal.csv", index=False)
    table.assign(word="x").to_csv("words.csv", index=False)
    table[["a", "grade", "race"]].to_csv("few.csv", index=False)
    table[:0].to_csv("none.csv", index=False)
    pd.DataFrame(dict(winner=[0, 1], loser=[1, 2])).to_csv("pairs.csv", index=False)
    pd.DataFrame(dict(row=range(40), score=range(40))).to_csv("scores.csv", index=False)
    Path("empty.csv").touch()
    Path("empty.rankbook").touch()
    for name in ("folder", "folder.csv", "folder.svg", "folder.rankbook"):
        Path(name).mkdir()
    Path("text.rankbook").write_text("a model\n")
    given = ["good.csv", "--qid", "race", "--kernel", "linear"]
    for command in (
        ["fit", *given, "--target", "grade", "-o", "m.rankbook"],
        ["path", *given, "--target", "grade", "--save", "p.rankbook"],
    ):
        assert run(*command).exit_code == 0
    whole = Path("m.rankbook").read_bytes()
    Path("half.rankbook").write_bytes(whole[: len(whole) // 2])
    at = whole.index(b"function_.weights") + 600
    Path("flipped.rankbook").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    os.chdir(home)
    return folder


GRADE = ["--target", "grade"]
TARGET = [*GRADE, "--qid", "race"]
PLAIN = ["fit", "good.csv", "--qid", "none", "-o", "new.rankbook"]
FIT = [*TARGET, "-o", "new.rankbook"]

NO_FOLDER = "', but .* no folder 'gone'"
A_FOLDER = "', a folder. Pass a file"

# what is wrong, the arguments, and what the one line says: the argument, what came, what is taken
CALLS = [
    # a file that is wrong in another way for each command, and two ways for fit
    *(
        (f"{what} for {command[0]}", [*command[:at], file, *command[at:]], said)
        for command, at, what, file, said in (
            (
                ["fit", *FIT],
                1,
                "a missing file",
                "gone.csv",
                r"DATA is 'gone\.csv': there is no su",
            ),
            (["fit", *FIT], 1, "no rows", "none.csv", r"none\.csv has column names but no ro"),
            (
                ["select", *TARGET],
                1,
                "a folder",
                "folder",
                "DATA is 'folder', a folder. Pass a file",
            ),
            (
                ["path", *TARGET, "-o", "new.csv"],
                1,
                "an empty file",
                "empty.csv",
                r"empty\.csv is empty: it has 0 bytes",
            ),
            (
                ["convert", "new.csv", *TARGET],
                1,
                "a missing file",
                "gone.csv",
                r"DATA is 'gone\.csv': there is no such file",
            ),
            (
                ["predict", "m.rankbook", "-o", "new.csv"],
                2,
                "NaN",
                "nan.csv",
                r"nan\.csv has nan or an empty cell in row 0, column 'a'. Pass fin",
            ),
            (
                ["evaluate", "m.rankbook", *TARGET],
                2,
                "infinity",
                "inf.csv",
                r"inf\.csv has inf in row 39, column 'b'. Pass finite",
            ),
            (
                ["compare", "m.rankbook", "m.rankbook", *TARGET],
                3,
                "a missing file",
                "gone.csv",
                r"DATA is 'gone\.csv': there is no such file",
            ),
        )
    ),
    # models that are none
    *(
        (f"{what} for {command[0]}", [command[0], file, *command[1:]], said)
        for command, what, file, said in (
            (["info"], "no model", "gone.rankbook", r"gone\.rankbook.*no such file"),
            (["info"], "a folder for a model", "folder", r"folder"),
            (["info"], "an empty model", "empty.rankbook", r"empty\.rankbook.*(empty|not)"),
            (
                ["predict", "good.csv", "-o", "new.csv"],
                "text for a model",
                "text.rankbook",
                r"text\.rankbook.* not ",
            ),
            (["evaluate", "good.csv", *TARGET], "half a model", "half.rankbook", "half.rankbook"),
            (
                ["compare", "m.rankbook", "good.csv", *TARGET],
                "a model with a flipped bit",
                "flipped.rankbook",
                r"flipped\.rankbook",
            ),
        )
    ),
    (
        "a solver of other problems",
        ["select", "good.csv", *TARGET, "--solver", "rls"],
        "--solver is 'rls .*, which cannot solve",
    ),
    (
        "a loss of another method",
        ["fit", "good.csv", *FIT, "--method", "rankrls", "--loss", "hinge"],
        "--loss is 'hinge'. Omit --loss, which the method 'rankrls'",
    ),
    ("a model on stdin", ["predict", "-", "good.csv"], "MODEL is '-', standard input. Pass a file"),
    ("another model on stdin", ["compare", "m.rankbook", "-", "good.csv", *TARGET], "B is '-', st"),
    (
        "everything on stdin",
        ["fit", "-", "--preferences", "-", "-o", "new.rankbook"],
        "DATA and --preferences are both '-' .standard input.",
    ),
    ("no such data set", ["datasets", "cancr"], "NAME is 'cancr'.*did you mean 'cancer'"),
    (
        "a path for a model",
        ["predict", "p.rankbook", "good.csv"],
        r"MODEL is 'p\.rankbook', which holds .*. Pass a model",
    ),
    *(
        (
            f"fewer features for {command}",
            [command, "m.rankbook", "few.csv", *more],
            r"few\.csv has no column 'b', which the model knows; it has a, grade, race",
        )
        for command, more in (("predict", ["-o", "new.csv"]), ("evaluate", TARGET))
    ),
    # columns and other names
    *(
        (
            f"an unknown {option} for {command[0]}",
            [*command, *more, option, value],
            rf"{option} is '{value}'.*did you mean '{near}'.*Pass one of: ",
        )
        for command, option, value, near, more in (
            (["convert", "good.csv", "new.csv"], "--target", "grad", "grade", ()),
            (["path", "good.csv", "-o", "new.csv"], "--qid", "rac", "race", GRADE),
            (["select", "good.csv"], "--kernel", "lniear", "linear", GRADE),
            (["select", "good.csv"], "--graph", "ful", "full", GRADE),
            (["select", "good.csv"], "--rule", "widst", "widest", GRADE),
            (["select", "good.csv"], "--group-split", "rce", "race", GRADE),
            (["fit", "good.csv", "-o", "new.rankbook"], "--method", "rankrl", "rankrls", GRADE),
            (["fit", "good.csv", "-o", "new.rankbook"], "--solver", "newtn", "newton", GRADE),
            (["evaluate", "m.rankbook", "good.csv"], "--metric", "ndgc@5", "ndcg@5", GRADE),
        )
    ),
    # options of numbers and words
    *(
        (f"{said} for {command[0]}", [*command, *wrong], said)
        for command, wrong, said in (
            (["fit", "good.csv", *FIT], ["--lam", "0"], "--lam is 0"),
            (["fit", "good.csv", *FIT], ["--c", "-1"], "--c is -1"),
            (["path", "good.csv", *TARGET, "-o", "new.csv"], ["--lam-min", "-1"], "--lam-min is -"),
            (["select", "good.csv", *TARGET], ["--lam-max", "nan"], "--lam-max is nan"),
            (["select", "good.csv", *TARGET], ["--gamma", "x"], "--gamma is 'x'. Pass a num"),
            (
                ["fit", "good.csv", *FIT],
                ["--penalty-factor", "a=-1"],
                "--penalty-factor is 'a=-1'. Pass NAME=FACTOR with a number >= 0",
            ),
            (
                ["fit", "good.csv", *FIT],
                ["--sign", "a=1", "--sign", "a=-1"],
                "--sign names 'a' twice",
            ),
            (["fit", "good.csv", *FIT], ["--kernel", "poly", "--degree", "0"], "--degree is 0"),
            (["select", "good.csv", *TARGET], ["--seed", "-1"], "--seed is -1. Pass an int"),
        )
    ),
    (
        "a metric of wrong depth",
        ["evaluate", "m.rankbook", "good.csv", *TARGET, "--metric", "ndcg@0"],
        "--metric is 'ndcg@0'. Pass at least one rank, such as ndcg@10",
    ),
    (
        "a comparison by no mean over queries",
        ["compare", "m.rankbook", "m.rankbook", "good.csv", *TARGET, "--metric", "disagreement"],
        "--metric is disagreement, a mean over preferences. Pass a mean over queries",
    ),
    (
        "a comparison without queries",
        ["compare", "scores.csv", "scores.csv", "good.csv", "--target", "grade", "--qid", "none"],
        r"data has no queries. Pass data with query ids \(--qid\)",
    ),
    (
        "two columns for one argument",
        ["fit", "few.csv", "--preferences", "pairs.csv", "-o", "new.rankbook"]
        + ["--column", "winner=winner", "--column", "winner=loser"],
        "--column is winner=winner and winner=loser. Pass one column for each argument",
    ),
    ("columns of words", ["fit", "words.csv", *FIT], "'word' .*--drop word, or --name word"),
    ("columns of words to select", ["select", "words.csv", *TARGET], "'word' .*--drop word"),
    (
        "no target",
        ["fit", "good.csv", "-o", "new.rankbook"],
        "--target is missing. Pass the name of a column of good.csv to rank by, one of: a, b",
    ),
    # one query, equal grades
    (
        "one query to split",
        ["select", "one.csv", *TARGET],
        "data has 1 query to split into 3 parts. Pass at least 3, one for each part",
    ),
    *(
        (f"equal grades for {command[0]}", [*command, *TARGET], said)
        for command, said in (
            (
                ["select", "equal.csv"],
                r"data \(40 items\) has no preference: all targets are equal",
            ),
            (["fit", "equal.csv", "-o", "new.rankbook"], "DATA has no preference: all scores are"),
            (["path", "equal.csv", "-o", "new.csv"], r"data \(40 items\) has no preference"),
            (
                ["evaluate", "m.rankbook", "equal.csv"],
                "data have no query with two different grades",
            ),
        )
    ),
    # preferences in a file of their own
    *(
        (
            f"preferences: {said}",
            [*PLAIN, *given],
            said,
        )
        for given, said in (
            (["--preferences", "gone.csv"], "--preferences is 'gone.csv': there is no such file"),
            (["--preferences", "folder"], "--preferences is 'folder', a folder"),
            (["--preferences", "empty.csv"], "empty.csv is empty"),
            (["--preferences", "pairs.csv", "--form", "pair"], "--form is 'pair'.*did you mean"),
            (
                ["--preferences", "pairs.csv", "--form", "rankings"],
                "pairs.csv has no columns 'ranking' and 'item' and 'rank'; it has winner, loser. "
                "Name the columns with --column ranking=COLUMN",
            ),
            (
                ["--preferences", "pairs.csv", "--column", "winer=winner"],
                "--column is 'winer'.*did you mean 'winner'",
            ),
            (
                ["--preferences", "pairs.csv", "--column", "weight=votes"],
                "pairs.csv has no column 'votes'; .*with --weight=COLUMN",
            ),
            (
                ["--preferences", "pairs.csv", "--ties", "drp"],
                "--ties is 'drp'.*did you mean",
            ),
            (
                ["--preferences", "pairs.csv", "--form", "clicks", "--ties", "drop"],
                "--ties is 'drop'. Omit --ties for clicks",
            ),
            (
                ["--preferences", "pairs.csv", "--form", "clicks", "--column", "query=race"],
                "--column is query=race, but the items have no query names. Pass --name",
            ),
            (
                ["--preferences", "pairs.csv", "--target", "grade"],
                "--target is 'grade'. Omit --target",
            ),
            (
                ["--preferences", "pairs.csv", "--name", "race"],
                "--name has '0' in rows 0 and 1. Pass distinct names",
            ),
        )
    ),
    # places to write to
    *(
        (f"{option} of {start[0]} is {file}", [*start, option, file], f"{option} is '{file}{said}")
        for start, option, file, said in (
            (["select", "good.csv", *TARGET], "--output", "gone/n.rankbook", NO_FOLDER),
            (["select", "good.csv", *TARGET], "--plot", "folder.svg", A_FOLDER),
            (["fit", "good.csv", *TARGET], "--output", "folder.rankbook", A_FOLDER),
            (["path", "good.csv", *TARGET], "--save", "folder.rankbook", A_FOLDER),
            (["path", "good.csv", *TARGET], "--output", "gone/n.csv", NO_FOLDER),
            (["predict", "m.rankbook", "good.csv"], "--output", "folder.csv", A_FOLDER),
        )
    ),
    ("no folder to convert to", ["convert", "good.csv", "gone/n.csv", *TARGET], "FILE is 'gone/n"),
    (
        "a model on stdout",
        ["fit", "good.csv", *TARGET, "-o", "-"],
        "--output is '-', .* not text",
    ),
    (
        "a model over its data",
        ["fit", "good.csv", *TARGET, "-o", "good.csv"],
        "--output is 'good.csv', and another argument names",
    ),
    *(
        (
            f"{start[0]} over another table",
            [*start, *TARGET, option, "few.csv"],
            f"{option} is 'few.csv', an existing file that is not a file of rankbook. Pass another",
        )
        for start, option in (
            (["fit", "good.csv"], "--output"),
            (["select", "good.csv"], "--output"),
            (["path", "good.csv"], "--save"),
        )
    ),
    (
        "a model over its preferences",
        ["fit", "good.csv", "--qid", "none", "--preferences", "pairs.csv", "-o", "./pairs.csv"],
        "--output is 'pairs.csv', and another argument names",
    ),
    (
        "scores over their items",
        ["predict", "m.rankbook", "good.csv", "-o", "good.csv"],
        "--output is 'good.csv', and another argument names",
    ),
    (
        "data over themselves",
        ["convert", "good.csv", "good.csv", *TARGET],
        "FILE is 'good.csv', and another argument names",
    ),
    (
        "two outputs to one file",
        ["path", "good.csv", *TARGET, "-o", "new.csv", "--save", "new.csv"],
        "--save is 'new.csv', and another argument names",
    ),
    (
        "no ending of a table",
        ["predict", "m.rankbook", "good.csv", "-o", "new.doc"],
        "'new.doc' is '.doc'",
    ),
    ("no ending of data", ["convert", "good.csv", "new.doc", *TARGET], "'new.doc' is '.doc'"),
    (
        "no ending of a picture",
        ["select", "good.csv", *TARGET, "--plot", "new.doc"],
        "--plot is 'new.doc'",
    ),
    *(
        (f"two outputs of {command[0]} to standard output", [*command, "--json"], said)
        for command, said in (
            (
                ["path", "good.csv", *TARGET, "-o", "-"],
                "--output is '-' and --json prints to",
            ),
            (["convert", "good.csv", "-", *TARGET], "FILE is '-' and --json prints to standard"),
            (
                ["predict", "m.rankbook", "good.csv", "-o", "new.csv"],
                "--output is 'new.csv' and",
            ),
        )
    ),
]


def check(arguments, said):
    """The call is refused in one line, on stderr alone, and changes no file."""
    before = {name: name.stat().st_mtime_ns for name in Path().rglob("*")}
    result = run(*arguments)
    assert result.exit_code == 2 and result.stdout == "", (result.stdout, result.exception)
    *notes, line = result.stderr.splitlines()
    assert line.startswith("rankbook: error: ") and re.search(said, line), line
    assert all(note.startswith("rankbook: note: ") for note in notes)
    assert "Traceback" not in result.stderr and "Errno" not in line
    assert {name: name.stat().st_mtime_ns for name in Path().rglob("*")} == before


@pytest.mark.parametrize("arguments, said", [call[1:] for call in CALLS], ids=[c[0] for c in CALLS])
def test_a_wrong_call_is_one_line(files, monkeypatch, arguments, said):
    monkeypatch.chdir(files)
    check(arguments, said)


def test_a_wrong_call_with_json_is_one_line_on_stderr(files, monkeypatch):
    """One call of every command that has --json."""
    monkeypatch.chdir(files)
    commands = {name: load(name) for name in COMMANDS}
    with_json = {n for n, c in commands.items() if any("--json" in p.opts for p in c.params)}
    first = {call[0]: (call, said) for _, call, said in reversed(CALLS) if "--json" not in call}
    for name in with_json & set(first):
        call, said = first[name]
        if name == "predict":  # --out and --json do not go together
            call = call[: call.index("-o")]
        check([*call, "--json"], said)
    assert {"select", "fit", "path", "predict", "evaluate", "compare", "info"} <= with_json


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["evaluate"],
        ["fit", "good.csv"],
        ["predict", "m.rankbook"],
        ["fit", "good.csv", "--lamda", "1"],
        ["fit", "good.csv", "-o", "new.rankbook", "--lam", "small"],
        ["compare", "m.rankbook", "m.rankbook", "good.csv", "--resamples", "1.5"],
        ["solve", "good.csv"],
    ],
    ids=" ".join,
)
def test_wrong_usage(files, monkeypatch, arguments):
    monkeypatch.chdir(files)
    result = run(*arguments)
    assert result.exit_code == 2 and not Path("new.rankbook").exists()
    assert result.stdout == ""
    assert not arguments or result.stderr.startswith("rankbook: error: ")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("option, file", [("--output", "n.rankbook"), ("--plot", "n.png")])
def test_a_folder_that_cannot_be_written_to(files, monkeypatch, option, file):
    monkeypatch.chdir(files)
    monkeypatch.setattr(os, "access", lambda *_: False)
    result = run("select", "good.csv", *TARGET, option, file)
    assert result.exit_code == 2 and result.stdout == ""
    assert f"{option} is '{file}', but the folder '.' cannot be written to" in result.stderr


@pytest.mark.parametrize("file", ["empty", "model"])
def test_a_model_replaces_an_empty_file_and_another_model(files, tmp_path, file):
    """Such as a file that mktemp made, and the model of yesterday."""
    place, old = tmp_path / "m", (files / "m.rankbook").read_bytes()
    place.write_bytes(b"" if file == "empty" else old)
    result = run("fit", files / "good.csv", *TARGET, "--lam", "3", "-o", place)
    assert result.exit_code == 0 and place.read_bytes() not in (b"", old)
