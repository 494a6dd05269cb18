"""Files of the user: what is read, and what is refused."""

import codecs
import gzip
import io
import json
import os
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from shell import done

import rankbook as rb
from rankbook.base.errors import Assumption
from rankbook.data.forms import read_wins
from rankbook.data.split import read_parts
from rankbook.data.table import NotNumbers, Source, read_table

pytestmark = pytest.mark.usefixtures("workplace")
large_numbers = pytest.mark.skipif(
    [*map(int, pd.__version__.split(".")[:2])] < [3, 1],
    reason="pandas before 3.1 reads numbers exactly, but takes the largest ones for words",
)


def put(name, content):
    content = content.encode() if isinstance(content, str) else content
    Path(name).write_bytes(content)
    return name


TABLE = "age,mpg,race\n3,18.5,b\n4,15,a\n5,9,b\n"
LETOR = "2 qid:10 1:0.5 3:1 # inc = 1\n0 qid:10 2:0.25\n1 qid:7 1:1\n"


class TestRead:
    @pytest.mark.parametrize("name", ["cars.csv", "CARS.CSV", "cars.more.csv"])
    def test_csv(self, name):
        data = read_table(put(name, TABLE), target="mpg", qid="race")
        assert data.X.tolist() == [[3], [4], [5]] and data.y.tolist() == [18.5, 15, 9]
        assert data.qid.tolist() == ["b", "a", "b"]
        assert (
            data.feature_names == ["age"]
            and data.name == Path(name).stem
            and name in data.description
        )
        assert data.X.flags.c_contiguous

    @pytest.mark.parametrize("name", ["a.svm", "a.svmlight", "a.letor", "a.txt", "a.dat"])
    def test_letor(self, name):
        data = read_table(put(name, LETOR))
        assert data.X.tolist() == [[0.5, 0, 1], [0, 0.25, 0], [1, 0, 0]] and isinstance(
            data.X, np.ndarray
        )
        assert data.y.tolist() == [2, 0, 1] and data.qid.tolist() == [10, 10, 7]
        assert data.feature_names == ["feature 1", "feature 2", "feature 3"]

    def test_svmlight_without_queries_and_from_zero(self):
        data = read_table(put("a.svm", "1 0:2 1:3\n-1 1:4\n"))
        assert (
            data.X.tolist() == [[2, 3], [0, 4]]
            and data.qid is None
            and data.feature_names == ["feature 0", "feature 1"]
        )

    def test_svmlight_line_of_zeros_comes_first(self):
        assert read_table(put("a.svm", "1\n0 2:3\n")).X.tolist() == [[0, 0], [0, 3]]
        assert read_table(put("a.svm", "1 qid:4\n0 qid:4 2:3\n")).qid.tolist() == [4, 4]

    def test_parquet(self):
        frame = pd.DataFrame(
            {
                "y": pd.array([1, 2], dtype="Int64"),
                "yes": [True, False],
                "u": np.array([1, 2], dtype="uint8"),
                "q": [2**40, 5],
            }
        )
        frame.to_parquet("a.parquet")
        data = read_table("a.parquet", target="y", qid="q")
        assert (
            data.X.tolist() == [[1, 1], [0, 2]]
            and data.feature_names == ["yes", "u"]
            and data.qid.tolist() == [2**40, 5]
        )

    def test_path_object_and_pathlike(self):
        put("cars.csv", "y,x\n1,2\n")
        assert read_table(Path("cars.csv"), target="y").y.tolist() == [1]

    @pytest.mark.parametrize(
        "text",
        [
            "y,x\r\n1,2\r\n",
            codecs.BOM_UTF8 + b"y,x\n1,2\n",
            "y,x\n1,2",
            "y, x\n1, 2\n",
            '"y","x"\n"1","2"\n',
            "y,x\n\n1,2\n\n",
            "y,x\n1,2,\n",
        ],
    )
    def test_dialects_of_csv(self, text):
        data = read_table(put("a.csv", text), target="y")
        assert data.X.tolist() == [[2]] and data.y.tolist() == [1] and data.feature_names == ["x"]

    def test_names_that_look_missing(self):
        assert read_table(put("a.csv", "NA,null\n1,2\n"), target="NA").feature_names == ["null"]

    def test_letters_cut_by_the_end_of_the_head(self):
        filler = "# " + "x" * (2**16 - 3) + "é\n"
        assert filler.encode()[2**16 - 1 : 2**16 + 1] == "é".encode()
        assert read_table(put("a.svm", filler + "1 1:2\n")).y.tolist() == [1]

    @large_numbers
    def test_integers_beyond_64_bits(self):
        assert read_table(
            put("a.csv", "y,x\n1,2\n2,99999999999999999999999\n"), target="y"
        ).X.tolist() == [[2], [1e23]]

    def test_random_numbers_survive(self):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.standard_normal((50, 4)), columns=list("abcd"))
        frame.to_csv("a.csv", index=False)
        frame.to_parquet("a.parquet")
        lines = [
            f"{row[0]!r} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row[1:], start=1))
            for row in frame.to_numpy().tolist()
        ]
        put("a.svm", "\n".join(lines))
        csv, parquet, svm = (
            read_table("a.csv", target="a"),
            read_table("a.parquet", target="a"),
            read_table("a.svm"),
        )
        assert np.array_equal(parquet.X, frame[list("bcd")].to_numpy()) and np.array_equal(
            parquet.y, frame["a"]
        )
        for other in (csv, svm):
            assert np.allclose(other.X, parquet.X, rtol=1e-15, atol=0) and np.allclose(
                other.y, parquet.y, rtol=1e-15, atol=0
            )

    def test_published_files(self, data_dir):
        from rankbook.data.datasets import load_mixture, load_mq2008

        piece, fold = read_table(data_dir / "letor_mq2008" / "S5.txt"), load_mq2008(1)
        test = fold.parts == "test"
        assert (
            np.array_equal(piece.X, fold.X[test])
            and np.array_equal(piece.qid, fold.qid[test])
            and np.array_equal(piece.y, fold.y[test])
        )
        points, mixture = (
            read_table(data_dir / "esl_mixture" / "mixture_example.csv", target="y"),
            load_mixture(),
        )
        assert np.allclose(points.X, mixture.X, rtol=1e-15, atol=0) and np.array_equal(
            points.y, mixture.y
        )


def parquet_bytes():
    pd.DataFrame({"y": [1, 2], "x": [3, 4]}).to_parquet("made.parquet")
    return Path("made.parquet").read_bytes()


GARBAGE = bytes(range(256)) * 20


class TestNotWhatTheEndingSays:
    @pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt", "a.svm", "a.parquet"])
    @pytest.mark.parametrize(
        "content",
        [
            "parquet",
            TABLE.replace(",", "|"),
            LETOR,
            "# comment\n" + LETOR,
            "-1.5e3 qid:3 12:1e-3\n",
            GARBAGE,
            b"a\0b\n",
            b"\xff\xfey\0,\0x\0",
            "prénom,y\n".encode("latin-1"),
            gzip.compress(b"y,x\n1,2\n", mtime=0),
        ],
    )
    def test_other_contents(self, name, content):
        is_right = isinstance(content, str) and ":1" in content and name in ("a.txt", "a.svm")
        if is_right or (name, content) == ("a.parquet", "parquet"):
            return
        put(name, parquet_bytes() if content == "parquet" else content)
        for read in (read_table, rb.read_blocks):
            with pytest.raises(ValueError, match="a[.]|^target is"):
                read(name, target="y")

    @pytest.mark.parametrize(
        "content",
        [
            TABLE,
            "hello world\n",
            "1,2\n",
            "1 qid:x 1:2\n",
            "1 2:1 1:1\n",
            "1 -1:1\n",
            "1 99999999999:1\n",
        ],
    )
    def test_text_named_svmlight(self, content):
        with pytest.raises(ValueError, match="a.txt is not SVMlight text") as caught:
            read_table(put("a.txt", content))
        assert repr(content.splitlines()[0]) in str(caught.value)

    def test_garbage_behind_a_good_beginning(self):
        with pytest.raises(ValueError, match="a.txt is not SVMlight text"):
            read_table(put("a.txt", b"1 1:2\n" * 20000 + GARBAGE))
        with pytest.raises(ValueError, match=r"in line 20001, "):
            read_table("a.txt")
        with pytest.raises(ValueError, match="a.csv cannot be read as CSV"):
            read_table(put("a.csv", b"y,x\n" + b"1,2\n" * 40000 + b"\xe9,1\n"), target="y")

    def test_parquet_cut_off(self):
        with pytest.raises(ValueError, match="a.parquet cannot be read as Parquet"):
            read_table(put("a.parquet", parquet_bytes()[:-20]), target="y")

    @pytest.mark.parametrize("name", ["a.xlsx", "a", "a.cvs", "a.csv.zip"])
    def test_unknown_ending(self, name):
        with pytest.raises(
            ValueError, match=r"the ending of a.* Pass one of: \.csv, \.dat, \.letor, \.parquet"
        ):
            read_table(put(name, TABLE))

    def test_near_ending(self):
        with pytest.raises(ValueError, match="did you mean '.parquet'"):
            read_table(put("a.parqet", TABLE))


class TestNothingThere:
    def test_no_file(self):
        with pytest.raises(FileNotFoundError, match="path is 'none.csv'"):
            read_table("none.csv")

    def test_folder(self):
        Path("data.csv").mkdir()
        with pytest.raises(IsADirectoryError, match="path is 'data.csv', a folder"):
            read_table("data.csv")

    @pytest.mark.parametrize("path", [None, 3, ["a.csv"], b"a.csv"])
    def test_not_a_path(self, path):
        with pytest.raises(TypeError, match="path is"):
            read_table(path)

    @pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.txt"])
    def test_empty(self, name):
        with pytest.raises(ValueError, match=f"{name} is empty"):
            read_table(put(name, ""))

    def test_only_blank_lines(self):
        with pytest.raises(ValueError, match="a.csv cannot be read as CSV text: No columns"):
            read_table(put("a.csv", "\n\n"), target="y")
        with pytest.raises(ValueError, match="0 labels"):
            read_table(put("a.svm", "# only a comment\n\n"))

    def test_only_a_header(self):
        with pytest.raises(ValueError, match="a.csv has column names but no rows"):
            read_table(put("a.csv", "y,x\n"), target="y")
        pd.DataFrame({"y": [], "x": []}).to_parquet("a.parquet")
        with pytest.raises(ValueError, match="a.parquet has column names but no rows"):
            read_table("a.parquet", target="y")

    def test_no_features(self):
        with pytest.raises(ValueError, match="2 labels and no feature"):
            read_table(put("a.svm", "1\n2\n"))
        with pytest.raises(ValueError, match="no columns besides target 'y' and qid 'q'"):
            read_table(put("a.csv", "y,q\n1,2\n"), target="y", qid="q")


class TestColumns:
    @pytest.mark.parametrize("text", ["y\n1\n2\n", "y x\n1 2\n", "y:x\n1:2\n", '"y,x"\n"1,2"\n'])
    def test_one_column(self, text):
        with pytest.raises(ValueError, match="a.csv has only one column, 'y.*commas"):
            read_table(put("a.csv", text), target="y")

    def test_one_column_of_parquet(self):
        pd.DataFrame({"y": [1]}).to_parquet("a.parquet")
        with pytest.raises(ValueError, match="a.parquet has only one column, 'y'"):
            read_table("a.parquet", target="y")

    def test_no_target(self):
        with pytest.raises(ValueError, match="target is None. .* one of: age, mpg, race"):
            read_table(put("a.csv", TABLE))

    @pytest.mark.parametrize(
        "arguments, says",
        [
            (dict(target="mgp"), "target is 'mgp'.*did you mean 'mpg'"),
            (dict(target="mpg", qid="rac"), "qid is 'rac'.*did you mean 'race'"),
            (dict(target=0), "target is 0. Pass the name of a column"),
            (dict(target="mpg", qid="mpg"), "target and qid are both 'mpg'"),
        ],
    )
    def test_missing_column(self, arguments, says):
        with pytest.raises(ValueError, match=says):
            read_table(put("a.csv", TABLE), **arguments)

    @pytest.mark.parametrize("argument", ["target", "qid"])
    def test_svmlight_has_no_columns(self, argument):
        with pytest.raises(ValueError, match=f"{argument} is 'y'. Omit {argument}"):
            read_table(put("a.svm", LETOR), **{argument: "y"})

    @pytest.mark.parametrize(
        "header, says",
        [
            ("1,2", "begins with numbers"),
            ("0,1", "begins with numbers"),
            (",y", "no name for column 0"),
            ("y,", "no name for column 1"),
            ("y,x,y", "two columns named 'y': columns 0 and 2"),
        ],
    )
    def test_header(self, header, says):
        row = ",".join("3" for _ in header.split(","))
        with pytest.raises(ValueError, match=f"a.csv .*{says}"):
            read_table(put("a.csv", f"{header}\n{row}\n"), target="y")

    def test_row_longer_than_the_header(self):
        for text in ("y,x\n1,2,3\n4,5,6\n", "y,x\n1,2\n4,5,6\n"):
            with pytest.raises(
                ValueError, match="a.csv cannot be read as CSV text: .*(length|saw 3)"
            ):
                read_table(put("a.csv", text), target="y")

    def test_open_quote(self):
        with pytest.raises(ValueError, match="a.csv cannot be read as CSV"):
            read_table(put("a.csv", 'y,x\n1,"3\n'), target="y")


class TestValues:
    @pytest.mark.parametrize(
        "text, says",
        [
            ("y,a,b\n1,2,3\n1,2,\n1,,3\n", "nan .*row 1, column 'b'"),
            ("y,a,b\n1,2,nan\n", "nan .*row 0, column 'b'"),
            ("y,a,b\n1,2\n", "nan .*row 0, column 'b'"),
            ("y,a,b\n1,2,3\n,2,3\n", "nan .*row 1, column 'y'"),
            ("y,a,b\n1,inf,3\n", "inf in row 0, column 'a'"),
            pytest.param("y,a,b\n1,1e400,3\n", "inf in row 0, column 'a'", marks=large_numbers),
        ],
    )
    def test_not_finite(self, text, says):
        with pytest.raises(ValueError, match=f"a.csv has {says}"):
            read_table(put("a.csv", text), target="y")

    @pytest.mark.parametrize(
        "text, says",
        [
            ("1 1:0.5\n2 1:1 2:nan\n", "nan .*row 1, column 'feature 2'"),
            ("1 0:inf\n", "inf in row 0, column 'feature 0'"),
            ("1 1:1\nnan 1:2\n", "nan .*row 1, column 'label'"),
        ],
    )
    def test_not_finite_svmlight(self, text, says):
        with pytest.raises(ValueError, match=f"a.svm has {says}"):
            read_table(put("a.svm", text))

    def test_missing_in_parquet(self):
        pd.DataFrame({"y": [1, 2], "x": pd.array([3, None], dtype="Int64")}).to_parquet("a.parquet")
        with pytest.raises(ValueError, match="a.parquet has nan .*row 1, column 'x'"):
            read_table("a.parquet", target="y")

    def test_words_are_named_with_their_place(self):
        with pytest.raises(
            ValueError,
            match=(
                r"'name' \('ford' in row 0\), 'hp' \('\?' in row 1\). Drop them, take one for the "
                r"query ids"
            ),
        ):
            read_table(put("a.csv", "y,name,hp\n1,ford,130\n2,fiat,?\n"), target="y")
        with pytest.raises(ValueError, match=r"'y' \('good' in row 0\)"):
            read_table(put("a.csv", "y,x\ngood,1\n"), target="y")

    @pytest.mark.parametrize(
        "column",
        [
            pd.to_datetime(["2020-01-01", "2021-01-01"]),
            pd.to_timedelta([1, 2]),
            pd.to_datetime(["2020-01-01", "2021-01-01"]).date,
            [b"a", b"b"],
            [[1], [2]],
            [None, None],
            ["1", "2"],
        ],
    )
    def test_other_types(self, column):
        pd.DataFrame({"y": [1, 2], "x": column}).to_parquet("a.parquet")
        with pytest.raises(ValueError, match="a.parquet has columns that are not numbers: 'x'"):
            read_table("a.parquet", target="y")

    def test_query_without_id(self):
        with pytest.raises(ValueError, match="no query id in row 1, column 'q'"):
            read_table(put("a.csv", "q,y,x\n1,1,2\n,1,3\n"), target="y", qid="q")

    @pytest.mark.parametrize("text", ["1 qid:1 1:2\n0 1:3\n", "1 1:2\n0 qid:1 1:3\n"])
    def test_qid_on_some_lines(self, text):
        with pytest.raises(
            ValueError, match=r"qid on some of its lines and none in line [12], '[01] 1:[23]'"
        ):
            read_table(put("a.svm", text))

    def test_too_large_for_memory(self):
        with pytest.raises(MemoryError, match="40 rows and 1999999999 features in a.svm needs"):
            read_table(put("a.svm", "1 1999999999:1\n" * 40))


def piped(content, monkeypatch):
    """`content` on standard input."""
    monkeypatch.setattr(
        "sys.stdin",
        SimpleNamespace(
            buffer=io.BytesIO(content.encode() if isinstance(content, str) else content)
        ),
    )
    return Source("-")


def silently(*arguments, **named):
    """`read_table`, which must assume nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_table(*arguments, **named)


def same(a, b):
    return (
        np.array_equal(a.X, b.X)
        and np.array_equal(a.y, b.y)
        and np.array_equal(a.qid, b.qid)
        and a.feature_names == b.feature_names
    )


class TestPackedAndPiped:
    @pytest.mark.parametrize(
        "name", ["cars.csv", "cars.tsv", "cars.parquet", "cars.letor", "CARS.SVM"]
    )
    def test_gz(self, name):
        content = (
            LETOR
            if name.endswith(("letor", "SVM"))
            else TABLE.replace(",", "\t")
            if name.endswith("tsv")
            else TABLE
        )
        named = {} if content == LETOR else dict(target="mpg", qid="race")
        if name.endswith("parquet"):
            pd.read_csv(io.StringIO(TABLE)).to_parquet(name)
        else:
            put(name, content)
        plain = silently(name, **named)
        packed = silently(put(f"{name}.gz", gzip.compress(Path(name).read_bytes())), **named)
        assert (
            same(plain, packed) and packed.name == Path(name).stem and packed.source == f"{name}.gz"
        )

    @pytest.mark.parametrize(
        "content, says",
        [
            (b"", "cannot be unpacked|is empty"),
            (b"y,x\n1,2\n", "cannot be unpacked by gzip: Not a gzipped file"),
            (gzip.compress(b"y,x\n1,2\n" * 99, mtime=0)[:-12], "cannot be unpacked by gzip"),
            (gzip.compress(b"", mtime=0), "is empty"),
        ],
    )
    def test_bad_gz(self, content, says):
        with pytest.raises(ValueError, match=f"a.csv.gz ({says})"):
            read_table(put("a.csv.gz", content), target="y")

    @pytest.mark.parametrize(
        "content, says",
        [
            (TABLE, "CSV text"),
            (TABLE.replace(",", ";"), "CSV text"),
            (TABLE.replace(",", "\t"), "CSV text"),
            (LETOR, "SVMlight text"),
            (None, "Parquet"),
        ],
    )
    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    def test_standard_input(self, content, says, pack, monkeypatch):
        named = (
            dict(target="y")
            if content is None
            else {}
            if content == LETOR
            else dict(target="mpg", qid="race")
        )
        content = parquet_bytes() if content is None else content.encode()
        with pytest.warns(Assumption, match=f"standard input is read as {says}") as said:
            data = read_table(piped(pack(content), monkeypatch), **named)
        assert len(said) == 1 and said[0].filename == __file__ and data.name == "standard input"
        assert same(
            data,
            silently(
                put(
                    {"CSV text": "a.csv", "Parquet": "a.parquet", "SVMlight text": "a.svm"}[says],
                    content,
                ),
                **named,
            ),
        )

    def test_standard_input_that_is_no_table(self, monkeypatch):
        for content, says in (
            ("", "standard input is empty"),
            (
                b"a\0b",
                "standard input cannot be read as CSV text: it has a NUL byte",
            ),
        ):
            with pytest.raises(ValueError, match=says), warnings.catch_warnings():
                warnings.simplefilter("ignore", Assumption)
                read_table(piped(content, monkeypatch))


@pytest.mark.parametrize("text", ["winner,loser\na,b\0\n", "winner,loser,x\0\na,b,1\n"])
def test_a_nul_byte_is_refused(tmp_path, text):
    (tmp_path / "votes.csv").write_text(text)
    with pytest.raises(ValueError, match="votes.csv cannot be read as CSV text: it has a NUL byte"):
        rb.read_preferences(tmp_path / "votes.csv")


class TestSeparators:
    @pytest.mark.parametrize("mark", [",", ";", "\t"])
    @pytest.mark.parametrize("quoted", [False, True])
    def test_the_header_tells(self, mark, quoted):
        header = mark.join(
            ['"weight, kg; net"', '"mpg"', '"name"'] if quoted else ["weight", "mpg", "name"]
        )
        data = silently(
            put("a.csv", f"{header}\n3{mark}18.5{mark}7\n4{mark}15{mark}8\n"), target="mpg"
        )
        assert (
            data.X.tolist() == [[3, 7], [4, 8]]
            and data.y.tolist() == [18.5, 15]
            and data.feature_names == ["weight, kg; net" if quoted else "weight", "name"]
        )

    @pytest.mark.parametrize("mark", [",", ";", "\t"])
    def test_a_header_is_longer_than_a_cell_of_csv(self, mark):
        other = dict(zip(",;\t", ";,;"))[mark]
        names = [f"{j:05}{other}{j:05}" for j in range(14_000)]
        header = mark.join(["y", *(f'"{name}"' for name in names)])
        rows = [mark.join(map(str, range(row, row + 14_001))) for row in (3, 5)]
        data = silently(put("a.csv", "\n".join([header, *rows])), target="y")
        assert len(header) > 2**17 and data.feature_names == names
        assert data.y.tolist() == [3, 5] and data.X[:, -1].tolist() == [14_003, 14_005]

    def test_an_error_names_the_first_of_many_columns(self):
        header = ",".join(f"x{j}" for j in range(30))
        put("a.csv", f"y,{header}\n" + f"1{',a' * 30}\n2{',b' * 30}\n")
        with pytest.raises(ValueError, match=r"'x9' \('a' in row 0\), and 20 more\. Drop"):
            read_table("a.csv", target="y")

    @pytest.mark.parametrize(
        "name, text",
        [
            ("pipe.csv", "y|x\n1|2\n"),
            ("semicolons.tsv", "y;x\n1;2\n"),
            ("commas.tsv", "y\tx\n1,5\t2,5\n"),
            ("commas.csv", "y,x\n1,5,2,5\n3,5,1,5\n"),
            ("quoted.csv", 'y,x\n"1,5","2,5"\n'),
            ("rows.csv", "y,x\n1;5\n2;6\n"),
            ("header.csv", "y;x\n1,5\n2,6\n"),
            ("late.csv", "y;x\n" + "1;2\n" * 70_000 + "1,5;2\n"),
            ("twice.csv", "y,x, x \n1,2,3\n"),
            ("long.csv", "y,x\n1,2\n2,3,4\n"),
            ("short.csv", "y,x\n1,2\n2\n"),
            ("thousands.csv", "y,x\n1,1 000\n"),
            ("nul.csv", "y,x\n1\0,2\n"),
            ("mark.csv", "\ufeff"),
        ],
    )
    def test_no_number_is_read_wrongly(self, name, text):
        put(name, text)
        for read in (read_table, rb.read_blocks):
            with warnings.catch_warnings(), pytest.raises(ValueError, match=f"{name}|^target is"):
                warnings.simplefilter("ignore", Assumption)
                read(name, target="y")

    def test_tsv_is_separated_by_tabs_alone(self):
        data = silently(put("a.tsv", "a,b;c\ty\n1\t2\n"), target="y")
        assert data.feature_names == ["a,b;c"]
        with pytest.raises(ValueError, match="a.tsv has only one column"):
            read_table(put("a.tsv", TABLE), target="mpg")

    def test_decimal_commas(self):
        with pytest.warns(Assumption, match="a.csv is read with commas as decimal points") as said:
            data = read_table(put("a.csv", "y;x;n\n1,5;-2,5e1;3\n2;0;4\n"), target="y")
        assert (
            said[0].filename == __file__
            and data.X.tolist() == [[-25, 3], [0, 4]]
            and data.y.tolist() == [1.5, 2]
        )
        assert silently(put("a.csv", "y;x\n1.5;2\n"), target="y").y.tolist() == [1.5]

    @pytest.mark.parametrize("text", ["y;x\n1,5;2.5\n", "y;x\n1,5;2\n2.5;3\n", "y;x\n1.234,5;2\n"])
    def test_commas_and_points_are_not_mixed(self, text):
        with (
            warnings.catch_warnings(),
            pytest.raises(NotNumbers, match="columns that are not numbers"),
        ):
            warnings.simplefilter("ignore", Assumption)
            read_table(put("a.csv", text), target="y")


class TestQueryColumn:
    @pytest.mark.parametrize(
        "name", ["qid", "query", "query_id", "group", "session", "QID", "Session"]
    )
    def test_taken_and_said(self, name):
        put("a.csv", f"{name},x,y\nu,1,2\nv,3,4\nu,5,6\n")
        with pytest.warns(
            Assumption,
            match=re.escape(f"query ids: column '{name}' of a.csv; qid='none' makes it a feature."),
        ) as said:
            data = read_table("a.csv", target="y")
        assert (
            len(said) == 1
            and said[0].filename == __file__
            and same(data, silently("a.csv", target="y", qid=name))
        )
        assert (
            data.qid.tolist() == ["u", "v", "u"]
            and data.feature_names == ["x"]
            and f"query ids from '{name}'" in data.description
        )

    def test_otherwise(self):
        put("a.csv", "group,x,y,query\n7,1,2,1\n8,3,4,1\n")
        data = silently("a.csv", target="y", qid="none")
        assert (
            data.qid is None
            and data.feature_names == ["group", "x", "query"]
            and "query ids" not in data.description
        )
        assert silently("a.csv", target="y", qid="x").feature_names == ["group", "query"]
        assert silently("a.csv", target="y", drop=["group", "query"]).qid is None
        assert silently("a.csv", target="group", drop=["query"]).feature_names == ["x", "y"]
        with pytest.raises(
            ValueError,
            match=(
                "a.csv has 2 columns that may hold the query ids, 'group' and 'query'. Name one "
                "of them with qid, or give qid='none'"
            ),
        ):
            read_table("a.csv", target="y")

    @pytest.mark.parametrize("name", ["groups", "race", "my_query", "query id"])
    def test_other_names_are_features(self, name):
        assert silently(put("a.csv", f"{name},x,y\n1,2,3\n"), target="y").feature_names == [
            name,
            "x",
        ]

    def test_parquet_too(self):
        pd.DataFrame(dict(Group=[3, 3], x=[1, 2], y=[1, 2])).to_parquet("a.parquet")
        with pytest.warns(Assumption, match="column 'Group'"):
            assert read_table("a.parquet", target="y").qid.tolist() == [3, 3]


class TestDrop:
    def test_columns_are_left_out(self):
        data = silently(
            put("a.csv", "name,x,y,z\nford,1,2,?\nfiat,3,4,5\n"), target="y", drop=["name", "z"]
        )
        assert data.feature_names == ["x"] and data.X.tolist() == [[1], [3]]

    @pytest.mark.parametrize(
        "arguments, error, says",
        [
            (dict(drop=["nmae"]), ValueError, "drop is 'nmae'.*did you mean 'name'"),
            (dict(drop=["y"]), ValueError, "target and drop are both 'y'"),
            (dict(drop="name"), TypeError, "drop is 'name'. Pass a list"),
            (dict(drop=["x"], qid="x"), ValueError, "qid and drop are both 'x'"),
            (dict(drop=["name", "x"]), ValueError, "no columns besides target 'y'"),
        ],
    )
    def test_bad(self, arguments, error, says):
        with pytest.raises(error, match=says):
            read_table(put("a.csv", "name,x,y\nford,1,2\n"), target="y", **arguments)

    def test_svmlight_has_nothing_to_drop(self):
        with pytest.raises(ValueError, match=r"drop is \['x'\]. Omit drop for a.svm"):
            read_table(put("a.svm", LETOR), drop=["x"])

    def test_words_have_names(self):
        with pytest.raises(NotNumbers) as caught:
            read_table(put("a.csv", "y,name,x\ngood,ford,a\n"), target="y")
        assert caught.value.columns == ["name", "x"] and "'y' ('good' in row 0)" in str(
            caught.value
        )


class TestBadLine:
    @pytest.mark.parametrize(
        "bad, text",
        [
            ("1 qid:1 1:0.5 2:", None),
            ("x qid:1 1:1", None),
            ("1 qid:1 2:1 1:1", None),
            ("1 qid:1 1:1 1:2", None),
            ("1 qid:q 1:1", None),
            ("1 qid:1 -1:1", None),
            ("1 qid:1 a:1", None),
            ("1 qid:1 99999999999:1", None),
            ("age,mpg", None),
            ("1 qid:1 1:x # comment", None),
            ("1 qid:1 " + "1:x" * 50, ("1 qid:1 " + "1:x" * 50)[:60]),
            ("1 qid:1 1:\xe9", None),
        ],
    )
    @pytest.mark.parametrize("before", [0, 1, 999, 1000, 2500])
    def test_its_number_and_text(self, bad, text, before):
        """Blank lines and comments count as lines, as they do in an editor."""
        lines = [
            "# head",
            "",
            *["2 qid:1 1:0.5 3:1 # fine"] * before,
            bad,
            "1 qid:1 1:3",
            "also bad",
        ]
        with pytest.raises(
            ValueError,
            match=re.escape(
                f"a.letor is not SVMlight text in line {before + 3}, {text or bad!r} ("
            ),
        ):
            read_table(put("a.letor", "\n".join(lines)))

    def test_packed(self):
        with pytest.raises(
            ValueError, match=re.escape("a.txt.gz is not SVMlight text in line 2, '1 1:x' (")
        ):
            read_table(put("a.txt.gz", gzip.compress(b"1 1:2\n1 1:x\n")))

    def test_a_number_that_is_none(self):
        with pytest.raises(
            ValueError,
            match=re.escape(
                "a.svm has nan in row 1, column 'feature 2'. Pass finite numbers. "
                "That is line 4, '2 1:1 2:nan'."
            ),
        ):
            read_table(put("a.svm", "1 1:0.5\n# more\n\n2 1:1 2:nan\n"))


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["63", "pipe.csv"])
def test_a_pipe_is_a_file_that_is_read_once(name, packed):
    content = TABLE.encode()
    expected = read_table(put("a.csv", content), "mpg", "race")
    name += ".gz" * (packed and "." in name)  # a name with an ending must say what it holds
    os.mkfifo(name)
    with ThreadPoolExecutor(1) as pool, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        written = pool.submit(put, name, gzip.compress(content) if packed else content)
        assert same(read_table(name, "mpg", "race"), expected)
        written.result()


def test_closed_standard_input_is_refused(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(ValueError, match="^path is '-', and standard input is closed. Pass"):
        Source("-")


@pytest.mark.parametrize("read", [rb.read_table, rb.read_preferences, rb.read_orders])
def test_standard_input_is_for_the_command_line(read):
    with pytest.raises(
        ValueError, match="^path is '-'. Pass a file, because only the command line"
    ):
        read("-")


def test_spaces_around_names_do_not_count():
    found = read_table(put("a.csv", "age , mpg ,race \n3,18.5,b\n4,15,a\n"), "mpg", "race")
    assert found.feature_names == ("age",) or found.feature_names == ["age"]


def test_orders_are_read_from_rows_or_from_places():
    wide = put("wide.csv", "first,second,third\ntea,milk,water\nmilk,tea,\nwater,,\n")
    long = "ranking,item,rank\n1,tea,1\n1,milk,2\n1,water,3\n2,milk,1\n2,tea,2\n3,water,1\n"
    names = ["water", "milk", "tea"]
    found = rb.read_orders(wide, "orders", items=names)
    same = rb.read_orders(put("long.csv", long), items=names)
    for one in (found, same):
        assert one.item.tolist() == [2, 1, 0, 1, 2, 0] and one.order.tolist() == [0, 0, 0, 1, 1, 2]
    prefs = [
        rb.read_preferences(wide, "orders", items=names),
        rb.read_preferences("long.csv", "rankings", items=names),
    ]
    assert [[*zip(each.better, each.worse)] for each in prefs] == [
        [(2, 1), (2, 0), (1, 0), (1, 2)]
    ] * 2
    first = rb.read_orders(wide, "orders", items=names, top=1, unranked="last")
    assert len(first) == 3 and first.choice_weight.tolist() == [1, 0, 0] * 3
    numbered = rb.read_orders(put("rows.csv", "best,next\n0,1\n2,\n"), "orders")
    assert numbered.item.tolist() == [0, 1, 2] and numbered.items == ("0", "1", "2")


def test_orders_stand_in_some_of_the_columns():
    put("farmers.csv", "farmer,best,middle\nf1,rye,oat\nf2,oat,\nf3,oat,rye\n")
    found = rb.read_orders("farmers.csv", "orders", item=["best", "middle"], items=["oat", "rye"])
    assert found.item.tolist() == [1, 0, 0, 0, 1] and found.order.tolist() == [0, 0, 1, 2, 2]
    single = rb.read_orders("farmers.csv", "orders", item="best", items=["oat", "rye"])
    assert single.item.tolist() == [1, 0, 0]
    with pytest.raises(ValueError, match="farmers.csv has no column 'midle'; it has farmer, best"):
        rb.read_orders("farmers.csv", "orders", item=["best", "midle"])


@pytest.mark.parametrize(
    "text, options, said",
    [
        ("a,b\n1,2\n,3\n", {}, r"wide.csv has an empty cell in row 1, column 'a', and items after"),
        ("a,b\nx,x\n", {}, r"wide.csv: row 0 is \['x', 'x'\]. Pass a sequence of different"),
        ("a,b\n", {}, "wide.csv has column names but no rows"),
        ("x,y\ny,z\nz,x\n", {}, "wide.csv begins with x, y, which are items. Pass names of c"),
        ("a,b\nx,y\n", dict(rank="a"), "rank is 'a', but orders is not a table"),
        ("a,b\nx,y\n", dict(items=["x"]), "wide.csv: row 0 is 'y' in place 1, which is not among"),
    ],
)
def test_orders_that_cannot_be_read(text, options, said):
    put("wide.csv", text)
    for read in (rb.read_orders, rb.read_preferences):
        with pytest.raises(ValueError, match=said):
            read("wide.csv", "orders", **options)
    with pytest.raises(ValueError, match="^form is 'pairs'. Pass one of: orders, rankings"):
        rb.read_orders("wide.csv", "pairs")


class TestCategoriesAreText:
    """The category of a cell does not depend on the other rows of its file."""

    @pytest.fixture
    def model(self):
        zips, levels = ["01", "1", "a", "NA"] * 6, ["true", "", "false", "x"] * 6
        rows = [f"{i % 3},{zips[i]},{levels[i]},{i}" for i in range(24)]
        put("tr.csv", "\n".join(["y,zip,level,x", *rows]))
        done("fit", "tr.csv", "--target", "y", "--encode", "--impute", "-o", "m")
        return rb.load("m")

    def scores(self, *options):
        return [row["score"] for row in json.loads(done("predict", "m", *options, "--json"))]

    def test_cells_of_training(self, model):
        assert model.encoding.categories["zip"] == ["01", "1", "a"]
        rows = ["0,TRUE,1", "1,FALSE,2", "0,TRUE,3", "1,,4", "2,TRUE,5", "1,FALSE,6"] * 4
        put("b.csv", "\n".join(["y,level,x", *rows]))
        done("fit", "b.csv", "--target", "y", "--encode", "--impute", "-o", "b")
        assert rb.load("b").encoding.categories == dict(level=["FALSE", "TRUE"])

    def test_one_file_or_blocks(self, model):
        cells = ["01", "1", "a", "", "NA", "01", "1"]
        put(
            "all.csv",
            "zip,level,x\n" + "".join(f"{cell},true,{i}\n" for i, cell in enumerate(cells)),
        )
        whole = pytest.approx(self.scores("all.csv"))
        for i, cell in enumerate(cells):
            put(f"part{i}.csv", f"zip,level,x\n{cell},true,{i}\n")
        parts = [self.scores(f"part{i}.csv") for i in range(len(cells))]
        assert [one for part in parts for one in part] == whole
        assert self.scores(*(f"part{i}.csv" for i in range(len(cells)))) == whole
        named = json.loads(done("predict", "m", "all.csv", "--name", "zip", "--json"))
        assert [row["score"] for row in named] == whole

    def test_training_in_parts(self):
        head = "y,zip,x\n"
        put("tr.csv", head + "".join(f"{i % 3},{'01' if i % 2 else 'a'},{i}\n" for i in range(12)))
        put("va.csv", head + "".join(f"{i % 3},01,{i}\n" for i in range(12)))
        read = dict(train="tr.csv", validation="va.csv", test="va2.csv")
        put("va2.csv", Path("va.csv").read_text())
        data = read_parts(read, "y", learnt=["encode"])
        assert data.X[12:, 1].tolist() == [1] * 24


def test_spaces_around_cells_are_no_part_of_them():
    rows = [["name", "x", "y"]] + [[f"n{i}", f"{i}", f"{i % 5}"] for i in range(2000)]
    rows[100][0] = '5" pipe'
    rows[200][0], rows[300][0], rows[401][1] = '" quoted "', '"two \n lines" ', '"400" '
    put("t.csv", "\n".join(" , ".join(row) + "  " for row in rows) + "\n")
    names = [row[0].strip('" ') for row in rows[1:]]
    with pytest.warns(rb.Assumption, match="column 'x' of t.csv has a different integer"):
        data = read_table("t.csv", target="y", name="name")
    assert data.item_names == names and data.X[:, 0].tolist() == list(range(2000))
    (block,) = rb.read_blocks("t.csv", target="y", features=["x"], qid="name")
    assert block.qid.tolist() == names and block.X.tolist() == data.X.tolist()


class TestParquetOfPandas:
    """Indexes, names of several levels and empty text, in Parquet."""

    FRAME = pd.DataFrame(dict(y=[0, 1, 2, 0], x=[1.0, 2, 3, 5], doc=["a", "", "c", "d"]))

    def test_names_of_several_levels(self):
        frame = self.FRAME[["y", "x"]]
        frame.columns = pd.MultiIndex.from_tuples([("a", "y"), ("a", "x")])
        frame.to_parquet("t.parquet")
        data = read_table("t.parquet", target="('a', 'y')")
        assert data.feature_names == ["('a', 'x')"] and data.X[:, 0].tolist() == [1, 2, 3, 5]
        (block,) = rb.read_blocks("t.parquet", target="('a', 'y')")
        assert block.X.tolist() == data.X.tolist()

    def test_two_columns_of_one_name(self):
        parquet = pytest.importorskip("pyarrow.parquet")
        columns = [[1, 2], [3, 4], [5, 6]]
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.table([pyarrow.array(c) for c in columns], names=["y", "x", "x"])
        parquet.write_table(table, "t.parquet")
        for read in (read_table, rb.read_blocks):
            with pytest.raises(ValueError, match="two columns named 'x': columns 1 and 2"):
                read("t.parquet", target="y")

    def test_index_with_a_name(self):
        pairs = pd.DataFrame(dict(winner=["a", "b", "a"], loser=["b", "c", "c"]))
        pairs.set_index("winner").to_parquet("p.parquet")
        found = rb.read_preferences("p.parquet", winner="winner", loser="loser")
        assert len(found) == 3
        self.FRAME.set_index("x").to_parquet("t.parquet")
        data = read_table("t.parquet", target="y", name="doc")
        assert data.feature_names == ["x"] and data.X[:, 0].tolist() == [1, 2, 3, 5]
        (block,) = rb.read_blocks("t.parquet", target="y", features=["x"])
        assert block.X.tolist() == data.X.tolist()
        self.FRAME.set_index(["x", "doc"]).to_parquet("t.parquet")
        assert read_table("t.parquet", target="y", name="doc").X.tolist() == data.X.tolist()

    def test_index_without_a_name(self):
        self.FRAME.iloc[[2, 0, 1]].to_parquet("t.parquet")
        assert read_table("t.parquet", target="y", name="doc").feature_names == ["x"]
        (block,) = rb.read_blocks("t.parquet", target="y", drop=["doc"])
        assert block.X[:, 0].tolist() == [3, 1, 2]

    def test_empty_text_is_missing(self):
        self.FRAME.to_parquet("t.parquet")
        self.FRAME.to_csv("t.csv", index=False)
        for name in ("t.csv", "t.parquet"):
            with pytest.raises(ValueError, match="has no query id in row 1, column 'doc'"):
                read_table(name, target="y", qid="doc")
            with pytest.raises(ValueError, match="has no query id in row 1, column 'doc'"):
                list(rb.read_blocks(name, target="y", qid="doc"))
            with pytest.raises(ValueError, match=r"group in row 1, column 'doc'"):
                read_table(name, target="y", group_split="doc")
        frame = pd.DataFrame(dict(winner=["a", ""], loser=["b", "c"]))
        frame.to_parquet("p.parquet")
        frame.to_csv("p.csv", index=False)
        for name in ("p.csv", "p.parquet"):
            with pytest.raises(ValueError, match="winner is empty in row 1"):
                rb.read_preferences(name, winner="winner", loser="loser")


class TestLongRows:
    """Rows that are longer than the header, and headers that are missing."""

    @pytest.mark.parametrize("before", [0, 2500])
    def test_long_row(self, before):
        put("t.csv", "# note\ny,x,z\n" + "1,2,3\n" * before + '\n1,2,"a, b",4\n' + "1,2,3\n" * 5)
        said = r"t\.csv cannot be read as CSV text: .*(loss of data|Expected 3 fields)"
        for read in (read_table, rb.read_blocks, lambda file, **_: rb.read_preferences(file)):
            with pytest.raises(ValueError, match=said), warnings.catch_warnings():
                warnings.simplefilter("ignore", Assumption)
                read("t.csv", target="y")

    def test_blank_lines(self):
        for read in (read_table, rb.read_blocks, read_wins):
            with pytest.raises(ValueError, match=r"t\.csv cannot be read as CSV text: No columns"):
                read(put("t.csv", "\n\n\n"))

    @pytest.mark.parametrize("end", ["", ","])
    def test_win_matrix_with_a_separator_at_the_end_of_rows(self, end):
        wins = read_wins(put("w.csv", f",a,b\na,0,1{end}\nb,2,0{end}\n"))
        assert wins.to_numpy().tolist() == [[0, 1], [2, 0]]
        assert [*wins.index] == [*wins.columns] == ["a", "b"]
        with pytest.raises(ValueError, match=r"w\.csv cannot be read as CSV text"):
            read_wins(put("w.csv", ",a,b\na,0,1\nb,2,0,7\n"))


def test_labels_of_svmlight_text_that_float64_rounds_are_refused(tmp_path):
    file = tmp_path / "t.svmlight"
    lines = ["1 qid:1 1:1 2:2", "9007199254740992 qid:1 1:2", "# text", "{} qid:1 2:3"]
    for label in ("9007199254740993", "-9007199254740995", "9" * 400):
        file.write_text("\n".join(lines).format(label))
        for read in (rb.read_table, lambda file: rb.read_blocks(file, rows=1)):
            with pytest.raises(ValueError, match="cannot represent exactly, in line 4, '-?9"):
                read(file)
    for label in ("9007199254740994", "1e300", "3.5"):
        file.write_text("\n".join(lines).format(label))
        assert rb.read_table(file).y[2] == float(label)


def test_a_query_that_comes_again_in_letor_is_reported(tmp_path):
    file = tmp_path / "l.txt"
    file.write_text("# head\n1 qid:7 1:1\n0 qid:8 1:2\n2 qid:8 1:3\n0 qid:7 1:4 #docid = a\n")
    with pytest.warns(rb.Assumption) as said:
        data = rb.read_table(file)
    (text,) = {str(each.message) for each in said if "query ids" in str(each.message)}
    assert f"query ids: {file} has query 7 again in line 5, '0 qid:7 1:4" in text
    assert data.qid.tolist() == [7, 8, 8, 7]
    file.write_text("1 qid:7 1:1\n0 qid:7 1:4\n1 qid:3 1:2\n2 qid:3 1:3\n")
    assert rb.read_table(file).qid.tolist() == [7, 7, 3, 3]


@pytest.mark.parametrize("missing", [0, 2])
def test_a_line_without_docid_is_reported_in_memory_and_in_blocks(tmp_path, missing):
    lines = [f"{i % 2} qid:{i // 2} 1:{i}" for i in range(5)]
    named = [f"{line} #docid = {i:03d}" for i, line in enumerate(lines)]
    file = tmp_path / "l.txt"
    file.write_text("\n".join(named))
    whole = [f"{i:03d}" for i in range(5)]
    assert rb.read_table(file).item_names == whole
    blocks = rb.read_blocks(file, rows=2).items.values
    assert [name for block in blocks for name in block.read().item_names] == whole
    named[missing] = lines[missing]
    file.write_text("\n".join(named))
    line = f"line {missing + 1}, '{lines[missing]}' has no #docid, so documents have no names"
    with pytest.warns(rb.Assumption, match=line):
        assert rb.read_table(file).item_names is None
    with pytest.warns(rb.Assumption, match=line):
        blocks = rb.read_blocks(file, rows=2).items.values
    assert {block.read().item_names for block in blocks} == {None}
    file.write_text("\n".join(lines))
    assert rb.read_table(file).item_names is None
    rb.read_blocks(file, rows=2)


def test_parts_of_which_one_has_names_are_reported(tmp_path):
    lines = [f"{i % 2} qid:{i // 2} 1:{i}" for i in range(6)]
    train, test = tmp_path / "train.txt", tmp_path / "test.txt"
    train.write_text("\n".join(f"{line} #docid = d{i}" for i, line in enumerate(lines[:4])))
    test.write_text("\n".join(lines[4:]))
    with pytest.warns(rb.Assumption, match=f"{test} has documents without #docid and {train}"):
        assert read_parts(dict(train=train, test=test)).item_names is None


@pytest.mark.parametrize(
    "name, n, said",
    [
        ("patient_id", 5, True),
        ("customerID", 5, True),
        ("Index", 5, True),
        ("weight", 1200, True),
        ("weight", 999, False),
        ("paid", 5, False),
        ("covid", 5, False),
        ("id", 2, False),
    ],
)
def test_a_column_of_different_integers_is_spoken_of(tmp_path, name, n, said):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.permutation(n) * 7, "x": rng.normal(size=n), "y": range(n)})
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    for ending in ("csv", "parquet"):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            data = rb.read_table(tmp_path / f"t.{ending}", target="y")
        assert data.feature_names == [name, "x"]
        texts = [str(each.message) for each in found]
        assert texts == [] if not said else f"column {name!r}" in texts[0] and len(texts) == 1
        if said:
            assert f"pass name='{name}' or drop=['{name}']" in texts[0]
    for other in (dict(name=name), dict(drop=[name])):
        rb.read_table(tmp_path / "t.csv", target="y", **other)
    again = table.assign(**{name: [*table[name][:-1], table[name][0]]})
    again.to_csv(tmp_path / "t.csv", index=False)
    rb.read_table(tmp_path / "t.csv", target="y")
    table.astype({name: float}).add({name: 0.5, "x": 0, "y": 0}).to_csv(
        tmp_path / "t.csv", index=False
    )
    rb.read_table(tmp_path / "t.csv", target="y")
