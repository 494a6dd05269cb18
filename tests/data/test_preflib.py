"""PrefLib files, in the present format and in the older one."""

import gzip
import warnings

import numpy as np
import pytest

import rankbook as rb
from rankbook.data.preflib import is_preflib, read_preflib

HEADER = """\
# FILE NAME: teas.toi
# TITLE: Teas: a tasting
# DATA TYPE: toi
# NUMBER ALTERNATIVES: 4
# NUMBER VOTERS: 10
# NUMBER UNIQUE ORDERS: 3
# ALTERNATIVE NAME 1: Assam
# ALTERNATIVE NAME 2: Earl Grey, decaf
# ALTERNATIVE NAME 3: 007
# ALTERNATIVE NAME 4: NA
"""
OLD = """\
4
1,Assam
2,Earl Grey, decaf
3,007
4,NA
10,10,3
"""
NAMES = ["Assam", "Earl Grey, decaf", "007", "NA"]


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return file

    return write


ORDERS = {
    "soc": ("1,2,3,4 4,3,2,1 2,1,4,3", ["1234", "4321", "2143"]),
    "soi": ("1,2 4,3,2,1 2", ["12", "4321", "2"]),
    "toc": ("1,{2,3,4} {4,3},2,1 2,1,4,3", [["1", "234"], ["43", "2", "1"], "2143"]),
    "toi": ("1,{2,3} 4 {1,2}", [["1", "23"], "4", ["12"]]),
}


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("kind", ORDERS)
def test_each_kind_of_orders(write, kind, old):
    text, expected = ORDERS[kind]
    mark = "," if old else ": "
    lines = [f"{count}{mark}{order}\n" for count, order in zip((5, 3, 2), text.split())]
    found = read_preflib(write(f"teas.{kind}", (OLD if old else HEADER) + "".join(lines)))
    named = lambda group: [NAMES[int(k) - 1] for k in group]
    expected = [[named(g) if len(g) > 1 else named(g)[0] for g in order] for order in expected]
    assert found.orders == expected and found.items == NAMES
    assert found.weight.tolist() == [5, 3, 2] and found.title == ("" if old else "Teas: a tasting")


def test_the_counts_are_weights_and_unranked_alternatives_are_items(write):
    """Of the pairs of {2, 3} < 1, the tie is not compared; alternative 4 is in no order."""
    file = write("teas.toi", HEADER.replace("ORDERS: 3", "ORDERS: 2") + "7: 1,{2,3}\n3: 3,1\n")
    orders, weight, items, _ = read_preflib(file)
    prefs = rb.Preferences.from_rankings(orders, items=items, weight=weight)
    assert prefs.items == tuple(NAMES) and prefs.n_items == 4 and prefs.n_ties == 1
    assert list(zip(prefs.better, prefs.worse, prefs.weight)) == [(0, 1, 7), (0, 2, 7), (2, 0, 3)]
    choices = rb.Orders.from_rankings(orders, items=items, weight=weight)
    assert choices.weight.tolist() == [7, 7, 7, 3] and choices.n_items == 4


def test_a_packed_file_with_spaces_blank_lines_and_other_line_ends(tmp_path):
    text = HEADER.replace("\n", "\r\n") + "\r\n 5 : 1 , { 2,3 } \r\n3: 4\r\n\r\n2: {1,2}\r\n"
    file = tmp_path / "teas.TOI.gz"
    file.write_bytes(gzip.compress(text.encode("utf-8-sig")))
    assert is_preflib(file) and not is_preflib("teas.csv")
    found = read_preflib(file)
    assert found.orders[0] == ["Assam", ["Earl Grey, decaf", "007"]] and found.weight.sum() == 10


def test_names_that_are_missing_are_numbers(write):
    text = "# NUMBER ALTERNATIVES: 3\n# ALTERNATIVE NAME 2:\n# ALTERNATIVE NAME 3: tea\n1: 3,1\n"
    assert read_preflib(write("x.soi", text)).items == ["1", "2", "tea"]


def test_counts_that_differ_from_the_header_are_said(write):
    file = write("teas.soi", HEADER + "5: 1,2\n3: 2,1\n1: 1,2\n")
    with pytest.warns(rb.Assumption) as said:
        found = read_preflib(file)
    words = sorted(str(each.message).removeprefix(f"{file} ") for each in said)
    assert words == [
        "has 2 different orders, and its header says 3. The lines of the orders count.",
        "has 9 voters, and its header says 10. The lines of the orders count.",
    ]
    assert np.array_equal(found.weight, [5, 3, 1])


@pytest.mark.parametrize(
    "name, text, said",
    [
        (
            "a.soc",
            HEADER + "10: 1,2,3\n",
            r"'10: 1,2,3' in line 11, with 3 of 4 .*name the file \.soi",
        ),
        (
            "a.toc",
            HEADER + "10: 1,{2,3}\n",
            r"line 11, with 3 of 4 alternatives.*name the file \.toi",
        ),
        ("a.soi", HEADER + "10: 1,{2,3}\n", r"line 11, with a tie. Name the file \.toi"),
        ("a.soc", HEADER + "10: 1,{2,3},4\n", r"line 11, with a tie. Name the file \.toc"),
        ("a.soi", HEADER + "10: 1,5\n", r"line 11, with the alternative 5. Use .* 1 to 4"),
        ("a.soi", HEADER + "5: 1\n\n5: 2,1,2\n", r"line 13, with the alternative 2 twice"),
        (
            "a.toi",
            HEADER + "10: 1,{2,3\n",
            r"'10: 1,\{2,3' in line 11. Write the number of voters",
        ),
        (
            "a.soi",
            HEADER + "1,2,3\n",
            r"'1,2,3' in line 11. Write the number of voters, .* as 12: 1,3,2",
        ),
        (
            "a.soi",
            OLD + "10: 1,2\n",
            r"'10: 1,2' in line 7. Write the number of voters, .* as 12,1,3,2",
        ),
        ("a.soi", HEADER, r"has no order. Pass"),
        ("a.soi", "", r"is empty. Pass"),
        ("a.soi", HEADER.replace("S: 4", "S: four") + "1: 1\n", r"S: four' in line 4. Write"),
        ("a.soi", HEADER.replace("S: 4", "S: 3") + "1: 1\n", r"alternative 4 in line 10. Number"),
        ("a.soi", HEADER.replace("NA\n", "007\n") + "1: 1\n", r"name '007' .*lines 9 and 10\)"),
        ("a.soi", "winner,loser\na,b\n", r"'winner,loser' in line 1. Write a whole number"),
        ("a.soi", "2\n1,a\nb\n3,3,1\n3,1,2\n", r"'b' in line 3. Write NUMBER,NAME"),
        ("a.soi", "2\n1,a\n2,b\n", r"ends after 2 lines of names. Write"),
        ("a.soi", "2\n1,a\n2,b\n3,3\n3,1,2\n", r"'3,3' in line 4. Write a whole number"),
        ("a.wmd", HEADER + "1: 1\n", r"^the ending of .* Pass one of: \.soc, \.soi"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(write, name, text, said):
    with warnings.catch_warnings(), pytest.raises(ValueError, match=said):
        warnings.simplefilter("error")
        read_preflib(write(name, text))


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "a.soi").write_bytes(b"# TITLE: caf\xe9\n")
    with pytest.raises(ValueError, match="is not UTF-8 text"):
        read_preflib(tmp_path / "a.soi")
    with pytest.raises(FileNotFoundError):
        read_preflib(tmp_path / "b.soi")


@pytest.mark.parametrize("old", [False, True])
def test_two_names_of_one_alternative(write, old):
    text = OLD.replace("2,Earl", "1,Earl") if old else HEADER.replace("NAME 2", "NAME 1")
    lines = (2, 3) if old else (7, 8)
    said = f"names the alternative 1 twice \\(lines {lines[0]} and {lines[1]}\\)"
    with pytest.raises(ValueError, match=said):
        read_preflib(write("a.soi", text + ("10,1,2\n" if old else "10: 1,2\n")))


@pytest.mark.parametrize("name", ["ALTERNATIVE NAME 1: 2", "ALTERNATIVE NAME 3: 2"])
def test_a_name_that_is_the_number_of_another(write, name):
    text = f"# NUMBER ALTERNATIVES: 3\n# {name}\n1: 1,2,3\n"
    said = "alternative 2 has no name and is called by its number, and line 2 names alternative"
    with pytest.raises(ValueError, match=said):
        read_preflib(write("a.soc", text))


@pytest.mark.parametrize("cut", [False, True])
def test_broken_gzip(tmp_path, cut):
    file = tmp_path / "teas.soi.gz"
    text = (HEADER + "10: 1,2\n").encode()
    file.write_bytes(gzip.compress(text)[:-12] if cut else text)
    for read in (read_preflib, rb.read_orders):
        with pytest.raises(ValueError, match=r"teas\.soi\.gz cannot be unpacked by gzip: "):
            read(file)
