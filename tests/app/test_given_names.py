"""Options that are given twice, and names of files that are also names of built-in data."""

from pathlib import Path

import pandas as pd
import pytest
from shell import done, refused, run

import rankbook as rb

pytestmark = pytest.mark.usefixtures("workplace")


def write_items(file):
    pd.DataFrame(dict(a=[0.0, 1.0, 2.0, 4.0], grade=[0, 1, 1, 2])).to_csv(file, index=False)


@pytest.mark.parametrize(
    "options, said",
    [
        (["-o", "a.rankbook", "--out", "b.rankbook"], "-o or --output or --out is given 2 times"),
        (["-o", "a.rankbook", "--lam", "1", "--lam", "2"], "--lam is given 2 times"),
        (
            ["-o", "a.rankbook", "--standardize", "--no-standardize"],
            "--standardize or --no-standardize is given 2 times",
        ),
    ],
    ids=["output", "lam", "standardize"],
)
def test_an_option_of_one_value_is_given_once(options, said):
    write_items("d.csv")
    assert said in refused("fit", "d.csv", "--target", "grade", *options)
    assert not list(Path.cwd().glob("*.rankbook"))


def test_options_of_several_values_and_flags_may_be_repeated():
    write_items("d.csv")
    pd.read_csv("d.csv").assign(b=1.0, c=[1, 0, 0, 1]).to_csv("d.csv", index=False)
    given = ["fit", "d.csv", "--target", "grade", "--drop", "b", "--drop", "c", "-q", "-q"]
    done(*given, "-o", "m.rankbook")
    assert list(rb.load("m.rankbook").columns) == ["a"]


@pytest.mark.parametrize("name", ["cancer", "votes"])
@pytest.mark.parametrize("command", ["fit", "select", "path", "convert", "rank"])
def test_a_file_with_the_name_of_built_in_data_is_not_passed_over(command, name):
    write_items(name)
    more = dict(fit=["-o", "m.rankbook"], convert=["out.csv"]).get(command, [])
    argument = "MATCHES" if command == "rank" else "DATA"
    said = refused(command, name, *more)
    assert f"{argument} is '{name}', which is both a file in this folder and a built-in" in said
    Path(name).rename("other")
    assert "both a file" not in run(command, name, *more).stderr
