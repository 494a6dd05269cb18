"""Errors and notes of the command line name its options, not arguments of Python."""

import json

import numpy as np
import pandas as pd
import pytest
from shell import done, refused, run

pytestmark = pytest.mark.usefixtures("workplace")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Items with grades and times, votes with a length, and orders."""
    folder = tmp_path_factory.mktemp("words")
    rng = np.random.default_rng(0)
    items = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    items["grade"], items["race"] = (items.a > 0) + (items.b > 0) * 1, np.arange(40) // 4
    items.to_csv(folder / "items.csv", index=False)
    items.assign(grade=1).to_csv(folder / "equal.csv", index=False)
    votes = pd.DataFrame(dict(winner=[0, 1, 2, 3], loser=[1, 2, 3, 4], length=[3.0, -1, 2, 5]))
    votes.to_csv(folder / "votes.csv", index=False)
    votes.drop(columns="length").to_csv(folder / "pairs.csv", index=False)
    sides = pd.DataFrame(dict(x=["p", "q", "r"], y=["q", "r", "p"], winner=["p", "tie", "r"]))
    sides.to_csv(folder / "sides.csv", index=False)
    (folder / "orders.csv").write_text("first,second,third,n\nu,v,w,2\nv,u,w,31\nw,v,u,4\n")
    return folder


TARGET = ["--target", "grade", "--qid", "race"]
FIT = ["fit", "items.csv", *TARGET, "-o", "new.rankbook"]
SELECT = ["select", "items.csv", *TARGET]
PAIRS = ["fit", "items.csv", "--preferences", "votes.csv", "-o", "new.rankbook"]


@pytest.mark.parametrize(
    "arguments, said",
    [
        ([*FIT, "--kernel", "callable"], "--kernel is 'callable'. Pass one of: linear, poly,"),
        ([*SELECT, "--kernel", "precompute"], "--kernel is 'precompute'. Pass one of: linear"),
        (
            [*FIT, "--kernel", "precomputed"],
            "--kernel is 'precomputed', but the data contain features, not kernel values. "
            "Pass 'linear',",
        ),
        (
            ["rank", "orders.csv", "--form", "orders", "--column", "item=first,second,third"]
            + ["--weight", "n", "--balance"],
            "--balance is given, and the votes are orders. Omit --balance for orders.",
        ),
        (
            ["rank", "pairs.csv", "--results", "1=home,2=away"],
            "--results is 1=home,2=away. Omit --results",
        ),
        (
            [*PAIRS, "--form", "clicks", "--column", "rule=first"],
            "--column rule is 'first'. Pass one of: all-others, last-click, skip-above, skip-n",
        ),
        (
            [*FIT, "--kernel", "poly", "--sign", "a=1"],
            "--sign is given and --kernel is 'poly'. Omit --sign, or pass --kernel linear.",
        ),
        (
            [*FIT, "--penalty", "elastic-net", "--kernel", "linear"],
            "--penalty is 'elastic-net' and --loss is 'hinge'. Pass",
        ),
        (
            [*FIT, "--kernel", "linear", "--gamma", "1"],
            "--gamma is 1.0, and --kernel is 'linear', which has no gamma. Omit --gamma.",
        ),
        (
            [*SELECT, "--kernel", "linear", "--degree", "2"],
            "--degree is 2, but the kernel is linear. Pass --degree only with poly.",
        ),
        (
            [*SELECT, "--method", "rankrls", "--loss", "hinge"],
            "--loss is 'hinge' and --method is 'rankrls'. Pass --loss only with --method ranksvm.",
        ),
        (
            [*SELECT, "--loss", "plackett-luce", "--graph", "star"],
            "--graph is 'star', which is not a sequence of choices. Pass --graph full.",
        ),
        (
            [*FIT, "--loss", "plackett-luce", "--query-weight", "equal"],
            "--query-weight is 'equal' and --loss is 'plackett-luce', which sums over choices. "
            "Omit --query-weight.\n",
        ),
        (
            ["fit", "items.csv", "--time", "a", "-o", "new.rankbook"],
            "--time is 'a' and --event is missing. Pass both or neither.",
        ),
        (["fit", "equal.csv", *FIT[2:]], "error: DATA has no preference: all scores are equal"),
        (
            [*FIT[:3], "race", *FIT[4:]],
            "--target and --qid are both 'race'. Pass two different columns.",
        ),
        (
            [*PAIRS, "--column", "pair_features=size"],
            "with --column pair_features=COLUMN, or give",
        ),
        (
            [*PAIRS, "--column", "propensity=length"],
            "--column propensity is 'length'. Omit --column propensity for the form 'pairs'",
        ),
        (
            ["rank", "orders.csv", "--form", "orders"],
            "first: --column item=first,second,third, or --weight=n for counts.",
        ),
    ],
)
def test_errors_name_options(files, monkeypatch, arguments, said):
    monkeypatch.chdir(files)
    assert said in refused(*arguments)


def test_a_model_without_probabilities_is_named_model(files, monkeypatch):
    monkeypatch.chdir(files)
    done("fit", "items.csv", *TARGET, "--kernel", "linear", "-o", "hinge.rankbook")
    said = refused("predict", "hinge.rankbook", "items.csv", "--pairs", "pairs.csv")
    assert "error: MODEL is a RankSVM with --loss hinge" in said
    assert "Pass RankSVM with --loss logistic" in said
    assert "in Python call model.calibrate" in said
    same = ["compare", "hinge.rankbook", "hinge.rankbook", "items.csv", *TARGET]
    expected = "--seed is -1. Pass no value or an integer from 0 to 2**32 - 1."
    assert expected in refused(*same, "--seed", "-1")


def test_notes_name_options(files, monkeypatch):
    monkeypatch.chdir(files)
    result = run("rank", "sides.csv")
    assert result.exit_code == 0
    assert "; --column home= and --column away= name other columns." in result.stderr


def test_a_solver_that_refuses_is_not_announced(files, monkeypatch):
    """The time of a solver that does not take a problem is infinite, and no prediction."""
    monkeypatch.chdir(files)
    assert "which cannot solve this problem" in refused(*SELECT, "--solver", "newton")


def test_json_has_lambda_and_the_weights_of_pair_features(files, monkeypatch):
    monkeypatch.chdir(files)
    facts = json.loads(done("rank", "votes.csv", "--column", "pair_features=length", "--json"))
    (row,) = facts["pair_features"]
    assert row["name"] == "length" and facts["lam"] > 0
    assert row["root_mean_square"] == pytest.approx(np.sqrt(np.mean([9, 1, 4, 25])))
    assert row["effect"] == pytest.approx(row["weight"] * row["root_mean_square"])
    line = done("rank", "votes.csv", "--column", "pair_features=length").splitlines()[-1]
    size = f"{row['root_mean_square']:.4g}"
    assert f"length {row['effect']:+.3f} per {size}; lambda {facts['lam']:.6g})" in line


def test_an_approximate_path_keeps_its_breakpoints(files, monkeypatch):
    monkeypatch.chdir(files)
    text = done(*SELECT, "--kernel", "linear", "--loss", "squared")
    assert " breakpoints, lambda " in text and " intervals, approximate" in text
