"""Win matrices and PrefLib files as preferences, and LightGBM's files of query sizes."""

import numpy as np
import pandas as pd
import pytest
from shell import done, refused, run

import rankbook as rb
from rankbook.data.forms import find_whole, read_group_sizes, read_wins

WINS = pd.DataFrame([[0, 3, 1], [2.5, 0, 0], [1, 4, 0]], ["007", "NA", "7"], ["007", "NA", "7"])


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return write


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_a_win_matrix_in_a_file(tmp_path, ending):
    """Names are text of cells: 007 and 7 differ, and NA is a name."""
    file = tmp_path / f"wins{ending}"
    shown = WINS[["7", "NA", "007"]]
    if ending == ".parquet":
        shown.to_parquet(file)
    else:
        shown.to_csv(file, sep="\t" if ending == ".tsv" else ",")
    found = read_wins(file)
    with pytest.warns(rb.Assumption, match="'007' and '7' differ only"):
        prefs = rb.Preferences.from_wins(found)
    assert prefs.items == ("007", "NA", "7")
    expected = rb.Preferences.from_wins(WINS.to_numpy())
    for name in ("better", "worse", "weight"):
        assert np.array_equal(getattr(prefs, name), getattr(expected, name))


def test_empty_cells_spaces_and_a_first_column_with_a_name(write):
    file = write("wins.csv", "winner; b ; a\n a ;2;\nb ; ;1.5\n")
    found = read_wins(file)
    assert found.isna().to_numpy().tolist() == [[False, True], [True, False]]
    prefs = rb.Preferences.from_wins(found)
    assert prefs.items == ("a", "b") and prefs.weight.tolist() == [2, 1.5]


@pytest.mark.parametrize(
    "name, text, said",
    [
        ("w.csv", ",a,b\na,0,x\nb,1,0\n", r"w.csv has 'x' for 'a' against 'b'. Pass numbers"),
        ("w.csv", ",a,a\na,0,1\nb,1,0\n", r"two columns named 'a'"),
        ("w.csv", ",a,b\n", r"column names but no rows"),
        ("w.svm", "1 1:2\n", r"w.svm is SVMlight text. Pass a win matrix"),
    ],
)
def test_what_is_no_win_matrix_in_a_file(write, name, text, said):
    with pytest.raises(ValueError, match=said):
        read_wins(write(name, text))


SOI = """\
# NUMBER ALTERNATIVES: 3
# ALTERNATIVE NAME 1: tea
# ALTERNATIVE NAME 2: milk
7: 2,1
3: 1
"""


def test_whole_files_are_read_without_names_of_columns(write):
    soi, wins = write("drinks.soi", SOI), write("wins.csv", ",a,b\na,0,2\nb,1,0\n")
    find = lambda path, form=None, kind=rb.Preferences, **options: find_whole(
        kind, path, form, options
    )
    read = lambda *given, items=None, **options: find(*given, **options).make(items)
    prefs = read(soi)
    assert prefs.items == ("tea", "milk", "3") and prefs.weight.tolist() == [7]
    assert (prefs.better.tolist(), prefs.worse.tolist()) == ([1], [0])
    orders = read(soi, "orders", rb.Orders, unranked="last")
    assert orders.choice_weight.tolist() == [7, 7, 0, 3, 0, 0]
    assert read(soi, None, None, items=["3", "milk", "tea"]).item.tolist() == [1, 2, 2]
    assert read(wins, "wins", items=["b", "a"]).weight.tolist() == [2, 1]
    assert find(wins) is None and find(wins, "orders", rb.Orders) is None
    for call, said in (
        (lambda: read(soi, "matches"), "form is 'matches'. Pass 'orders'"),
        (lambda: read(soi, weight="n"), "weight is given with the PrefLib file drinks.soi. Pass"),
        (
            lambda: read(soi, "orders", rb.Orders, rank="n"),
            "rank is given with .*. Pass only top or unr",
        ),
        (lambda: read(wins, "wins", winner="n"), "winner is given with the win matrix wins"),
        (lambda: read(soi, items=["tea"]), r"drinks.soi: orders\[0\] is 'milk' in place 0, which"),
        (lambda: read(wins, "wins", items=["a"]), "wins.csv: wins is 'b' in row 1, which is not"),
    ):
        with pytest.raises(ValueError, match=said):
            call()


def test_sizes_are_query_ids(write):
    file = write("rank.train.query", "2\n1\n\n3\n")
    assert read_group_sizes(file, 6).tolist() == [0, 0, 1, 2, 2, 2]
    with pytest.raises(
        ValueError, match=r"query has sizes that sum to 6. Pass sizes that sum to 7, the number"
    ):
        read_group_sizes(file, 7)
    with pytest.raises(ValueError, match=r"other has '1.5' in line 2. Write the number of rows"):
        read_group_sizes(write("other", "1\n1.5\n"), 2)


def test_convert_joins_data_and_query_sizes(write):
    lines = ["2 1:0.5 2:1", "1 1:0.25", "0 2:3", "1 1:2", "0 1:1"]
    write("rank.svm", "\n".join(lines))
    write("rank.train.query", "3\n2\n")
    done("convert", "rank.svm", "train.svm", "--group-sizes", "rank.train.query")
    data = rb.read_table("train.svm")
    assert data.qid.tolist() == [0, 0, 0, 1, 1] and data.y.tolist() == [2, 1, 0, 1, 0]
    assert data.X.tolist() == [[0.5, 1], [0.25, 0], [0, 3], [2, 0], [1, 0]]
    model = rb.RankSVM(kernel="linear").fit(data.X, data.y, data.qid)
    assert (
        run("fit", "train.svm", "--kernel", "linear", "--no-standardize", "-o", "m").exit_code == 0
    )
    assert np.allclose(rb.load("m").model.coef_, model.coef_, atol=1e-6)
    twice = ["convert", "train.svm", "other.svm", "--group-sizes", "rank.train.query"]
    assert "DATA has query ids. Omit --group-sizes, or pass DATA without query ids" in refused(
        *twice
    )
    gone = ["convert", "rank.svm", "other.svm", "--group-sizes", "gone.query"]
    assert "--group-sizes is 'gone.query': there is no such file" in refused(*gone)
