"""Blocks from files against the same files read as a whole."""

import contextlib
import copy
import errno
import gc
import gzip
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rankbook as rb
from rankbook.base import files
from rankbook.data import file_blocks
from rankbook.data.blocks import block_facts
from rankbook.data.file_blocks import Cuts, ParquetTable, files_of
from rankbook.data.table import Dataset, NotNumbers, read_table
from rankbook.data.writers import write_dataset

pytestmark = pytest.mark.usefixtures("workplace")
NAMES = ["a.parquet", "a.csv", "a.tsv", "a.txt", "a.csv.gz", "a.txt.gz"]


@pytest.fixture(autouse=True)
def reading(monkeypatch):
    """Small files are read in every pass, as large ones are."""
    monkeypatch.setattr(file_blocks, "KEPT", 0)


def made(n=300, d=3, queries=20, seed=0, first=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.2, 0.0, rng.normal(size=(n, d)))
    X[0, -1] = 1.0  # so that text knows how many features there are
    qid = first + np.sort(rng.integers(0, queries, n))
    names = [f"feature {j + 1}" for j in range(d)]
    return Dataset(X, rng.integers(0, 3, n), qid=qid, feature_names=names)


def roles(name):
    return {} if ".txt" in name else dict(target="target", qid="qid")


def parts(blocks, *names):
    return [np.concatenate(blocks.map(getattr, blocks.items, name).values) for name in names]


def same(blocks, *wholes):
    """Whether blocks hold what data sets do, in their order, to the last bit."""
    for name, found in zip(("X", "y", "qid"), parts(blocks, "X", "y", "qid")):
        assert np.array_equal(found, np.concatenate([getattr(data, name) for data in wholes]))
    block_facts(blocks)  # each query is in one block
    return True


class TestSameAsTheWhole:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("rows", [1, 7, 100, 10_000])
    def test_one_file(self, name, rows):
        write_dataset(made(), name)
        blocks = rb.read_blocks(name, **roles(name), rows=rows)
        assert same(blocks, read_table(name, **roles(name)))
        assert len(blocks) == {1: 20, 10_000: 1}.get(rows, len(blocks)) and blocks.is_stored

    @pytest.mark.parametrize("name", NAMES)
    def test_several_files(self, name):
        names = [f"{k}{name}" for k in range(3)]
        for k, each in enumerate(names):
            write_dataset(made(seed=k, first=100 * k), each)
        wholes = [read_table(each, **roles(name)) for each in names]
        assert same(rb.read_blocks(f"?{name}", **roles(name), rows=50), *wholes)
        some = rb.read_blocks([Path(names[1]), names[0]], **roles(name))
        assert len(some) == 2 and same(some, wholes[1], wholes[0])

    @pytest.mark.parametrize("group", [1, 3, 64, 1000])
    @pytest.mark.parametrize("rows", [1, 40, 200])
    def test_queries_over_row_groups(self, group, rows):
        data = made()
        frame = pd.DataFrame(data.X, columns=data.feature_names)
        frame = frame.assign(y=data.y, qid=data.qid)
        frame.to_parquet("a.parquet", row_group_size=group, index=False)
        blocks = rb.read_blocks("a.parquet", "y", "qid", rows=rows)
        assert same(blocks, read_table("a.parquet", "y", "qid"))
        largest = np.bincount(data.qid).max()
        sizes = [len(y) for y in blocks.map(getattr, blocks.items, "y").values]
        assert max(sizes) <= 2 * rows + 2 * largest

    @pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.txt"])
    def test_queries_over_chunks(self, name, monkeypatch):
        monkeypatch.setattr("rankbook.data.file_blocks.CHUNK", 7)
        data = made()
        write_dataset(data, name)
        assert same(rb.read_blocks(name, **roles(name), rows=20), read_table(name, **roles(name)))

    def test_one_huge_query_and_single_items(self):
        data = made(queries=1)
        qid = np.r_[data.qid[:-2] + 5, 1, 2]
        write_dataset(Dataset(data.X, data.y, qid=qid), "a.parquet")
        blocks = rb.read_blocks("a.parquet", "target", "qid", rows=1)
        assert blocks.map(len, blocks.map(getattr, blocks.items, "y")).values == (298, 1, 1)

    @pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.svm"])
    def test_without_queries_a_file_is_one_block(self, name):
        data = made()
        write_dataset(Dataset(data.X, data.y), name)
        given = {} if name == "a.svm" else dict(target="target", qid="none")
        blocks = rb.read_blocks(name, **given, rows=10)
        assert len(blocks) == 1 and blocks.items.values[0].read().qid is None
        assert np.array_equal(*parts(blocks, "X"), data.X)


class TestColumns:
    def test_chosen_features_weights_and_order(self):
        frame = pd.DataFrame(dict(w=[1, 2], b=[3.0, 4], q=[1, 1], a=[5, 6], y=[0, 1]))
        frame.to_parquet("a.parquet", index=False)
        block = rb.read_blocks("a.parquet", "y", "q", ["a", "b"], "w").items.values[0].read()
        assert block.X.tolist() == [[5, 3], [6, 4]] and block.weight.tolist() == [1, 2]
        block = rb.read_blocks("a.parquet", "y", "q", drop=["w"]).items.values[0].read()
        assert block.X.tolist() == [[3, 5], [4, 6]] and block.weight is None

    @pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
    def test_two_weights(self, name):
        frame = pd.DataFrame(dict(w=[1.0, 2], x=[3.0, 4], q=[1, 1], e=[0.0, 1], y=[0, 1]))
        (frame.to_parquet if name == "a.parquet" else frame.to_csv)(name, index=False)
        both = dict(weight="w", worse_weight="e")
        [block] = rb.read_blocks(name, "y", "q", **both)
        assert block.X.tolist() == [[3], [4]] and block.feature_names == ("x",)
        assert block.weight.tolist() == [1, 2] and block.worse_weight.tolist() == [0, 1]
        [block] = rb.read_blocks(name, "y", "q", ["x"], worse_weight="e")
        assert block.weight is None and block.worse_weight.tolist() == [0, 1]
        with pytest.raises(ValueError, match="worse_weight is 'z'. Pass one of"):
            rb.read_blocks(name, "y", "q", worse_weight="z")
        with pytest.raises(ValueError, match="weight and worse_weight are both 'e'"):
            rb.read_blocks(name, "y", "q", weight="e", worse_weight="e")
        frame.assign(e=[0.0, -1]).to_csv("b.csv", index=False)
        with pytest.raises(ValueError, match="'e' of"):
            list(rb.read_blocks("b.csv", "y", "q", worse_weight="e"))

    def test_single_precision_stays(self):
        frame = pd.DataFrame(dict(a=np.arange(3, dtype="f4"), b=np.ones(3, "f4"), y=[0, 1, 2]))
        frame.to_parquet("a.parquet", index=False)
        block = rb.read_blocks("a.parquet", "y").items.values[0].read()
        assert block.X.dtype == np.float32 and block.y.dtype == np.float64

    def test_a_query_column_that_is_guessed_is_said_once(self):
        pd.DataFrame(dict(qid=[1, 1], y=[0, 1], a=[1.0, 2.0])).to_csv("a.csv", index=False)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            block_facts(rb.read_blocks("a.csv", "y"))
        assert len(said) == 1 and "query ids: column 'qid' of a.csv" in str(said[0].message)

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_text_of_all_sorts(self, end):
        rows = ['q;y;x;"a note"', "007;1;1,5;0", "", "007;0;2;0", '"a;7";1;-3,25;0', '"a;7";0;0;1']
        Path("a.csv").write_bytes(end.join(rows).encode("utf-8-sig"))
        with pytest.warns(UserWarning, match="commas as decimal points") as said:
            blocks = rb.read_blocks("a.csv", "y", "q", rows=1)
            X, qid = parts(blocks, "X", "qid")
        assert len(said) == 1 and len(blocks) == 2
        assert qid.tolist() == ["007", "007", "a;7", "a;7"]
        assert X.tolist() == [[1.5, 0], [2, 0], [-3.25, 0], [0, 1]]

    def test_line_breaks_in_quotes(self):
        Path("a.csv").write_text('q,y,x\n"a\nb",1,2\n"a\nb",0,3\nc,1,4\nc,0,5\n')
        blocks = rb.read_blocks("a.csv", "y", "q", rows=1)
        assert parts(blocks, "qid")[0].tolist() == ["a\nb", "a\nb", "c", "c"]

    def test_ids_that_become_words_between_two_chunks(self, monkeypatch):
        monkeypatch.setattr("rankbook.data.file_blocks.CHUNK", 3)
        write(a_csv="q,y,x\n1,0,1\n1,1,2\n2,0,3\n2,1,4\na,0,5\na,1,6\na,0,7\n3,1,8\n")
        blocks = rb.read_blocks("a.csv", "y", "q", rows=1)
        assert block_facts(blocks).rows == [2, 2, 3, 1]
        assert parts(blocks, "qid")[0].tolist() == [*"1122aaa3"]

    def test_spaces_around_names(self):
        write(a_csv=" q , y ,x \n1,0,5\n1,1,6\n2,0,7\n")
        assert block_facts(rb.read_blocks("a.csv", "y", "q", rows=1)).rows == [2, 1]

    def test_names_of_features_reach_the_estimator(self):
        write(a_csv="q,b,y,a\n1,0.5,0,1\n1,1,1,2\n", b_csv="a,y,q,b\n3,0,2,1\n4,1,2,0\n")
        blocks = rb.read_blocks("?.csv", "y", "q")
        model = rb.RankSVM(kernel="linear").fit(blocks)
        assert model.feature_names_in_.tolist() == ["b", "a"]
        frame = pd.DataFrame(dict(b=[0.0], a=[1.0]))
        assert model.predict(frame).tolist() == [model.coef_[1]]
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(frame[["a", "b"]])
        assert rb.metrics.over_blocks("disagreement", blocks, model) == 0
        Path("a.txt").write_text("1 qid:1 1:2\n0 qid:1 2:1\n")  # LETOR has no names
        assert not hasattr(model.fit(rb.read_blocks("a.txt")), "feature_names_in_")

    def test_features_that_one_file_does_not_mention(self):
        Path("1.txt").write_text("1 qid:1 1:2\n0 qid:1 2:1\n")
        Path("2.txt").write_text("# nothing\n1 qid:2 4:3\n0 qid:2\n")
        (X,) = parts(rb.read_blocks("?.txt"), "X")
        assert X.tolist() == [[2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 3], [0, 0, 0, 0]]
        (X,) = parts(rb.read_blocks("?.txt", features=["feature 4", "feature 9"]), "X")
        assert X.tolist() == [[0, 0], [0, 0], [3, 0], [0, 0]]


def write(**texts):
    for name, text in texts.items():
        Path(name.replace("_", ".")).write_text(text)


CSV = "q,y,x\n1,0,1\n1,1,2\n2,0,3\n2,1,4\n"
CUT_TEXT = "1 qid:1 1:2\n" * 1000 + "0 1:1\n"  # ids are missing after a thousand lines


class TestRefused:
    @pytest.mark.parametrize(
        "text, error, words",
        [
            (CSV + "3,1,\n", ValueError, r"b.csv has nan .* in row 4, column 'x'"),
            (CSV + "3,1,inf\n", ValueError, r"b.csv has inf in row 4, column 'x'"),
            (CSV + "3,1,red\n", NotNumbers, r"b.csv has columns .* 'x' \('red' in row 4\)"),
            (CSV + ",1,5\n", ValueError, r"b.csv has no query id in row 4, column 'q'"),
            (CSV + "3,1,5,9\n", ValueError, r"b.csv cannot be read as CSV .* line 6, saw 4"),
            (CSV + "1,1,5\n", ValueError, r"query 1 in b.csv \(rows 0 .* and in b.csv \(rows 4"),
        ],
    )
    def test_a_row_is_named_as_in_the_file(self, text, error, words):
        write(b_csv=text)
        with pytest.raises(error, match=words):
            block_facts(rb.read_blocks("b.csv", "y", "q", rows=1))

    def test_a_line_of_svmlight_text(self):
        write(a_txt="1 qid:1 1:2\n0 qid:1 1:1\n\n1 qid:2 1:nan\n")
        with pytest.raises(ValueError, match=r"row 2, column 'feature 1'.* line 4, '1 qid:2"):
            block_facts(rb.read_blocks("a.txt", rows=1))
        write(a_txt="1 qid:1 1:2\n0 qid:1 2:1 1:3\n")
        with pytest.raises(ValueError, match="a.txt is not SVMlight text in line 2"):
            block_facts(rb.read_blocks("a.txt"))
        write(a_txt="1 qid:1 1:2\n0 qid:1 one:1\n")
        with pytest.raises(ValueError, match="a.txt is not SVMlight text in line 2"):
            rb.read_blocks("a.txt")
        for text in ("1 qid:1 1:2\n0 1:1\n", "1 1:2\n0 qid:1 1:1\n", "\n" * 999 + CUT_TEXT):
            write(a_txt=text)
            line = 2000 if text.endswith(CUT_TEXT) else 2 - text.startswith("1 1")
            with pytest.raises(ValueError, match=f"a.txt has qid on some .* none in line {line}, "):
                rb.read_blocks("a.txt", rows=1)

    def test_a_query_in_two_files(self):
        write(a_csv=CSV, b_csv="q,y,x\n2,0,1\n")
        with pytest.raises(ValueError, match=r"query 2 in a.csv .* b.csv .*: sort .* by query"):
            rb.BlockRankSVMProblem(rb.read_blocks("?.csv", "y", "q"))

    @pytest.mark.parametrize(
        "other, given, words",
        [
            ("q,y,z\n3,1,2\n", {}, "b.csv has no column 'x', which a.csv has; it has q, y, z"),
            ("q,y,x,z\n3,1,2,3\n", {}, "b.csv has a column 'z', which a.csv lacks"),
            ("q,y,z\n3,1,2\n", dict(features=["x"]), "b.csv has no column 'x'"),
            (CSV, dict(target="grade"), "target is 'grade'. Pass one of: q, x, y"),
            (
                CSV,
                dict(target=None),
                "target is None. Pass the name of a column of a.csv to rank by",
            ),
            (CSV, dict(qid="qd"), "qid is 'qd'.*did you mean 'q'"),
            (CSV, dict(weight="w"), "weight is 'w'. Pass one of: q, x, y"),
            (CSV, dict(drop=["w"]), "drop is 'w'. Pass one of: q, x, y"),
            (CSV, dict(features=["y"]), "features is 'y'. Pass 'x'"),
            (CSV, dict(features=[]), "a.csv has no columns besides target 'y' and qid 'q'"),
            (
                CSV,
                dict(weight="y"),
                "target and weight are both .y.. Pass two different columns",
            ),
            (CSV, dict(rows=0), "rows is 0"),
        ],
    )
    def test_columns(self, other, given, words):
        write(a_csv=CSV, b_csv=other)
        with pytest.raises(ValueError, match=words):
            rb.read_blocks("?.csv", **(dict(target="y", qid="q") | given))

    def test_files(self):
        write(a_csv=CSV, b_txt="1 qid:1 1:2\n", c_txt="1 1:2\n", d_csv="q,y,x\n")
        with pytest.raises(ValueError, match="b.txt is SVMlight text and a.csv is not"):
            rb.read_blocks(["a.csv", "b.txt"], "y", "q")
        with pytest.raises(ValueError, match="c.txt has no query ids, but b.txt has"):
            rb.read_blocks("?.txt")
        with pytest.raises(ValueError, match="target is 'y'. Omit target for b.txt"):
            rb.read_blocks("b.txt", "y")
        with pytest.raises(ValueError, match="d.csv has column names but no rows"):
            rb.read_blocks("d.csv", "y", "q")
        assert len(rb.read_blocks(["a.csv", "d.csv"], "y", "q")) == 1
        with pytest.raises(FileNotFoundError, match="'\\*.parquet': no file name matches it"):
            rb.read_blocks("*.parquet", "y")
        with pytest.raises(FileNotFoundError, match="'e.csv': there is no such file"):
            rb.read_blocks("e.csv", "y")
        with pytest.raises(TypeError, match="paths is 3. Pass a path"):
            rb.read_blocks(3)
        for wrong, words in (([], "paths is empty"), (["a.csv"] * 2, "'a.csv' twice")):
            with pytest.raises(ValueError, match=words):
                files_of(wrong)
        with pytest.raises(ValueError, match="standard input and pipes can be read only once"):
            rb.read_blocks("-", "y")
        Path("a.parquet").write_bytes(b"PAR1 and then nothing")
        with pytest.raises(ValueError, match="a.parquet cannot be read as Parquet"):
            rb.read_blocks("a.parquet", "y")
        Path("a.parquet.gz").write_bytes(gzip.compress(b"PAR1"))
        with pytest.raises(ValueError, match="Parquet compressed with gzip. Pass the uncompressed"):
            rb.read_blocks("a.parquet.gz", "y")

    @pytest.mark.parametrize("id", ["inf", "9007199254740993.0"])
    @pytest.mark.parametrize("read", [rb.read_blocks, read_table])
    def test_ids_in_text_are_text(self, id, read):
        write(a_csv=CSV + f"{id},1,1\n{id}0,1,1\n")
        data = read("a.csv", "y", "q")
        qid = data.qid if read is read_table else next(iter(data)).qid
        assert qid.tolist()[-2:] == [id, f"{id}0"]

    @pytest.mark.parametrize("read", [rb.read_blocks, read_table])
    def test_a_target_that_would_tie_with_its_neighbour(self, read):
        write(a_csv=f"q,y,x\n1,{2**53},1\n1,{2**53 + 2},2\n1,{2**53 + 1},3\n")
        with pytest.raises(ValueError, match="has 9007199254740993 in row 2, column 'y', which a"):
            block_facts(read("a.csv", "y", "q"))

    def test_ids_of_two_kinds(self):
        frame = pd.DataFrame(dict(q=[1, 1], y=[0, 1], x=[1.0, 2.0]))
        frame.to_parquet("a.parquet")
        frame.assign(q=["1", "1"]).to_parquet("b.parquet")
        with pytest.raises(ValueError, match="b.parquet .* has query ids that are text, and those"):
            block_facts(rb.read_blocks("?.parquet", "y", "q"))

    def test_a_feature_of_a_huge_number(self):
        write(a_txt="1 qid:1 1:2\n", b_txt="1 qid:2 1:2 2000000000:1\n")
        with pytest.raises(MemoryError, match="table of 1 rows and 2000000000 features"):
            rb.read_blocks("?.txt")
        write(b_txt="1 qid:2 1:2 2000000000000:1\n")
        with pytest.raises(ValueError, match="b.txt is not SVMlight text in line 1, .* too large"):
            rb.read_blocks("?.txt")

    def test_a_parquet_file_that_changes(self):
        write_dataset(made(), "a.parquet")
        blocks = rb.read_blocks("a.parquet", "target", "qid")
        write_dataset(made(seed=1), "a.parquet")
        with pytest.raises(ValueError, match="a.parquet has changed since it was first read"):
            block_facts(blocks)
        blocks = rb.read_blocks("a.parquet", "target", "qid")
        os.remove("a.parquet")
        with pytest.raises(FileNotFoundError):
            block_facts(blocks)


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.txt"])
def test_small_files_are_read_once(name, monkeypatch):
    write_dataset(data := made(), name)
    each_time = rb.read_blocks(name, **roles(name), rows=100)
    size = 8 * data.X.size
    read, calls = file_blocks.BlockReader.__call__, []
    monkeypatch.setattr(
        file_blocks.BlockReader, "__call__", lambda self: calls.append(self.name) or read(self)
    )
    for limit, is_stored in ((size, False), (size - 1, True)):
        monkeypatch.setattr(file_blocks, "KEPT", limit)
        blocks = rb.read_blocks(name, **roles(name), rows=100)
        assert len(blocks) > 1 and blocks.is_stored is is_stored
        calls.clear()
        assert same(blocks, data) and same(blocks, data)
        assert (len(calls) == len(blocks)) is not is_stored
        sent = pickle.loads(pickle.dumps(blocks.items.values[0]))
        calls.clear()  # another process gets the recipe, not the numbers
        assert np.array_equal(sent.value.X, next(iter(each_time)).X) and calls


def copies():
    """The temporary files with copies of text that have a name."""
    return [*Path(tempfile.gettempdir()).iterdir()]


def copied(process):
    """The size of the largest file without a name that a process has open."""
    found = [0]
    for link in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):  # closed in the meantime
            if os.readlink(link).startswith(tempfile.gettempdir()):
                found.append(os.stat(link).st_size)
    return max(found)


def opened():
    """The temporary files that this process has open, also those without a name."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # of the listing itself
            found += [os.readlink(link)]
    return [path for path in found if path.startswith(tempfile.gettempdir())]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A temporary folder of the test's own, which must be empty at its end."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield place
    gc.collect()
    assert not list(place.iterdir())


FIT = """
import sys, rankbook as rb
from rankbook.data.blocks import block_facts
blocks = rb.read_blocks("a.csv", "target", "qid", rows=50)
print("read", flush=True)
{}
"""


@pytest.mark.usefixtures("folder")
class TestCopiesOfText:
    """Text is parsed once, into a temporary file."""

    @pytest.mark.parametrize("name", ["a.csv", "a.txt.gz"])
    def test_later_passes_read_the_copy(self, name):
        write_dataset(made(), name)
        whole, blocks = read_table(name, **roles(name)), rb.read_blocks(name, **roles(name))
        assert not copies() and same(blocks, whole)
        write_dataset(made(seed=1), name)
        assert same(blocks, whole)  # of one moment, whatever becomes of the file
        os.remove(name)
        assert same(blocks, whole)
        descriptors = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc") else 1
        del blocks  # no garbage collection is needed
        assert not os.path.exists("/proc") or len(os.listdir("/proc/self/fd")) == descriptors - 1

    def test_it_lives_as_long_as_a_reader(self):
        write_dataset(made(), "a.csv")
        blocks = rb.read_blocks("a.csv", **roles("a.csv"), rows=50)
        X = blocks.items.values[0].read().X
        for other in (copy.deepcopy(blocks.items.values), [*blocks.items.values[:1]]):
            blocks = None
            assert not copies() and np.array_equal(other[0].read().X, X)
        sent = pickle.loads(pickle.dumps(other[0]))
        assert len(copies()) == 1 and copies()[0].stat().st_mode & 0o777 == 0o600
        for one in (other[0], sent, pickle.loads(pickle.dumps(sent))):
            assert np.array_equal(one.read().X, X)
        assert len(copies()) == 1
        del other, one
        assert not copies()
        with pytest.raises(FileNotFoundError, match="the copy of a.csv in the temporary folder is"):
            sent.read()

    @pytest.mark.parametrize("text", [CSV + "3,1,\n", CSV + "3,1,2,3\n", CSV + ",1,1\n"])
    def test_it_is_gone_after_an_error(self, text):
        write(a_csv=text)
        with pytest.raises(ValueError, match=r"a.csv"):
            rb.read_blocks("a.csv", "y", "q")
        gc.collect()
        assert not copies()

    @pytest.mark.parametrize("end", ["", "1 / 0", "block_facts(None)"])
    def test_it_is_gone_when_python_ends(self, end):
        write_dataset(made(), "a.csv")
        found = subprocess.run([sys.executable, "-c", FIT.format(end)], capture_output=True)
        assert found.stdout == b"read\n" and found.returncode == bool(end)
        assert not copies()

    @pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="open files of a process")
    @pytest.mark.parametrize("sent", ["INT", "TERM", "HUP"])
    @pytest.mark.parametrize("line", [False, True])
    def test_it_is_gone_after_a_signal(self, line, sent):
        data = made(20_000, 5, 400)
        write_dataset(data, "a.csv")
        write_dataset(made(20_000, 5, 400, 1, 1000), "b.csv")
        call = FIT.format("while True: block_facts(blocks)")
        if line:
            call = "from rankbook.app.cli.main import main; main()"
        command = [sys.executable, "-c", SIGNAL + call]
        if line:
            command += ["fit", "?.csv", "--target", "target", "--qid", "qid", "--lam", "1e-9"]
            command += ["-o", "m"]
        run = subprocess.Popen(command, stderr=subprocess.PIPE)
        while copied(run.pid) < 100_000:
            assert run.poll() is None
            time.sleep(0.01)
        assert not copies()
        number = getattr(signal, f"SIG{sent}")
        run.send_signal(number)
        said = run.communicate(timeout=60)[1]
        if line:
            assert run.returncode == 130 and said.endswith(b"rankbook: interrupted\n")
        else:
            assert run.returncode == -number
        assert not copies() and not os.path.exists("m")

    @pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
    def test_the_next_one_removes_what_a_killed_process_shared(self):
        write_dataset(made(), "a.csv")
        share = "import pickle, time; pickle.dumps([*blocks.items.values]); print(1, flush=True)"
        pipes = dict(stdout=subprocess.PIPE, text=True)
        command = [sys.executable, "-c", FIT.format(f"{share}; time.sleep(99)")]
        killed, alive = (subprocess.Popen(command, **pipes) for _ in range(2))
        for process in (killed, alive):
            assert [process.stdout.readline() for _ in range(2)] == ["read\n", "1\n"]
        killed.kill()
        killed.wait()
        assert len(copies()) == 2
        blocks = rb.read_blocks("a.csv", **roles("a.csv"))
        assert len(copies()) == 2
        pickle.dumps([*blocks.items.values])
        assert len(copies()) == 2  # of `alive` and of this process
        alive.terminate()
        alive.wait()
        pickle.dumps([*rb.read_blocks("a.csv", **roles("a.csv")).items.values])
        for process in (killed, alive):
            process.stdout.close()

    def test_no_room(self, monkeypatch):
        write(a_csv=CSV)
        monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(9, 9, 0))
        words = r"copy of a.csv .* does not fit in the temporary folder .*temporary \(.*No space"
        with pytest.raises(OSError, match=words + ".*Set the environment variable TMPDIR"):
            rb.read_blocks("a.csv", "y", "q")

    def test_a_disk_that_becomes_full(self, monkeypatch):
        def full(*arguments, **options):
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

        write(a_csv=CSV)
        monkeypatch.setattr(np, "save", full)
        with pytest.raises(OSError, match="does not fit in .*quota"):
            rb.read_blocks("a.csv", "y", "q")

    @pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="open files of a process")
    def test_a_copy_that_is_shared_is_stored_once(self):
        write_dataset(made(), "a.csv")
        table = rb.read_blocks("a.csv", **roles("a.csv"), rows=50).items.values[0].read.table
        assert opened() and not copies()
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(pickle.dumps, [table] * 8))
        assert opened() == [*map(str, copies())] and len(copies()) == 1

    def test_a_disk_that_is_full_when_it_is_shared(self, monkeypatch):
        def full(*arguments, **options):
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

        write_dataset(made(), "a.csv")
        blocks = rb.read_blocks("a.csv", **roles("a.csv"))
        stored = blocks.items.values[0].read
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "copyfileobj", full)
            with pytest.raises(OSError, match="does not fit in .*quota.*TMPDIR"):
                pickle.dumps(stored)
        assert not copies()
        sent = pickle.loads(pickle.dumps(stored))
        assert np.array_equal(sent().X, stored().X)

    @pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
    def test_other_users_can_open_it_at_no_time(self, monkeypatch):
        modes, lock = [], files.fcntl.flock

        def locked(handle, how):
            modes.append(os.fstat(handle.fileno()).st_mode & 0o777)
            lock(handle, how)

        write_dataset(made(), "a.csv")
        blocks = rb.read_blocks("a.csv", **roles("a.csv"))
        monkeypatch.setattr(files.fcntl, "flock", locked)
        pickle.dumps(blocks.items.values[0].read)
        assert modes == [0o600]

    def test_no_folder_for_it(self, monkeypatch):
        write(a_csv=CSV)
        monkeypatch.setattr(tempfile, "tempdir", "/nowhere/at/all")
        with pytest.raises(FileNotFoundError, match="/nowhere/at/all"):
            rb.read_blocks("a.csv", "y", "q")

    def test_memory_is_that_of_a_block(self, monkeypatch):
        import tracemalloc

        monkeypatch.setattr("rankbook.data.file_blocks.CHUNK", 1000)
        data = made(60_000, 8, 6_000)
        write_dataset(data, "a.csv")
        write_dataset(data, "a.txt")
        for name in ("a.csv", "a.txt"):
            rb.read_blocks(name, **roles(name))  # what is imported does not count
            tracemalloc.start()
            blocks = rb.read_blocks(name, **roles(name), rows=2000)
            blocks.reduce(len, blocks.map(getattr, blocks.items, "y"))
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert most < data.X.nbytes / 2


# as if no background job had been told to ignore them
SIGNAL = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_of_lines(end):
    text = CSV.replace("x", "x,'a note'").replace("1\n", "1,5\n").replace("2\n", "2,6\n")
    text = text.replace("3\n", "3,7\n").replace("4\n", "4,8\n")
    Path("a.csv").write_bytes(text.replace("\n", end).encode())
    blocks = rb.read_blocks("a.csv", "y", "q", rows=1)
    assert len(blocks) == 2 and same(blocks, read_table("a.csv", "y", "q"))


@pytest.mark.parametrize("name", NAMES)
def test_what_reads_a_block_can_be_sent(name):
    write_dataset(made(), name)
    for stored in rb.read_blocks(name, **roles(name), rows=100).items.values:
        sent = pickle.dumps(stored.read)
        assert len(sent) < 2000
        ours, theirs = stored.read(), pickle.loads(pickle.dumps(pickle.loads(sent)()))
        assert np.array_equal(ours.X, theirs.X) and ours.name == theirs.name


@pytest.mark.parametrize(
    "name",
    ["a.parquet", *(pytest.param(f"a.{end}", marks=pytest.mark.slow) for end in ("csv", "txt"))],
)
def test_a_solution_is_that_of_the_whole(name):
    data = made()
    write_dataset(data, name)
    prefs = rb.Preferences.from_scores(data.y, data.qid)
    one = rb.solve(
        rb.RankSVMProblem(data.X, prefs, kernel="linear"), 2.0, solver="newton", tol=1e-9
    )
    many = rb.BlockRankSVMProblem(rb.read_blocks(name, **roles(name), rows=100))
    found = rb.solve(many, 2.0, tol=1e-9)
    assert many.n_preferences == len(prefs)
    assert np.allclose(found.weights, one.weights, rtol=1e-4, atol=1e-6)
    assert found.certificate.relative_gap <= 1e-9


def test_blocks_begin_between_queries(tmp_path):
    """The same blocks of the same rows from each kind of file: [q, q], [r, r, r], [s]."""
    frame = pd.DataFrame(dict(q=[7, 7, 3, 3, 3, 5], x=[0.0, 0.25, 0.5, 0.75, 1.0, 2.0], y=0.0))
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=4)
    lines = (f"0 qid:{q} 1:{x}\n" for q, x, _ in frame.itertuples(index=False))
    (tmp_path / "a.svm").write_text("# a comment\n" + "".join(lines))
    for name in ("a.csv", "a.parquet", "a.svm"):
        given = {} if name == "a.svm" else dict(target="y", qid="q")
        blocks = rb.read_blocks(tmp_path / name, **given, rows=2)
        assert blocks.map(getattr, blocks.items, "first").values == (0, 2, 5)
        assert blocks.items.values[1].read().X.ravel().tolist() == [0.5, 0.75, 1.0]


@pytest.mark.parametrize("text, expected", [("7,7,3,3", [0, 2]), ("7,3,7,3", [0, 2, 3])])
def test_goals_move_to_the_next_query(text, expected):
    ids, cuts = np.array(text.split(",")), Cuts([2, 3])
    assert [row for some in (ids[:3], ids[:0], ids[3:]) for row in cuts.of(some)] == expected


def test_ids_of_several_types_in_one_block_stay_apart(tmp_path, monkeypatch):
    monkeypatch.setattr("rankbook.data.file_blocks.CHUNK", 6)
    ids = np.repeat(np.arange(2**63 - 3, 2**63 + 3, dtype=np.uint64), 2)
    lines = [f"{i % 2},{i},{q}" for i, q in enumerate(ids)] + ["0,1,0.5", "1,2,0.5", "0,1,.5"]
    for more in ("", "1,1\n0,1,1\n0,1,01\n"):  # integers first, text later
        file = tmp_path / "a.csv"
        head = "0,0,7\n1,0,7\n" * 4 * bool(more)
        file.write_text("y,x,q\n" + head + "\n".join(lines) + "\n")
        blocks = rb.read_blocks(str(file), target="y", qid="q", rows=3)
        counts = rb.BlockRankSVMProblem(blocks).n_preferences
        assert counts == 7 + 16 * bool(more)  # one for each query, and 4 times 4 of the first


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    file, rng = tmp_path / "t.parquet", np.random.default_rng(0)
    write = lambda n: pd.DataFrame(rng.normal(size=(n, 3)), columns=list("aby")).to_parquet(file)
    write(60)
    blocks, batches = rb.read_blocks(file, target="y", rows=20), ParquetTable._batches

    def changing(self, *given):
        yield from batches(self, *given)
        write(70)

    monkeypatch.setattr(ParquetTable, "_batches", changing)
    with pytest.raises(ValueError, match="has changed since it was first read"):
        blocks.items.values[0].read()
