"""SVMlight text that stays sparse: read, fitted, scored, measured, chosen and written as dense."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, random_array
from shell import done, refused

import rankbook as rb
from rankbook.data import file_blocks, table
from rankbook.data.split import scaling, standardise

pytestmark = pytest.mark.usefixtures("workplace")
N, D = 60, 1100


def write(name, seed, beyond=0, n=N):
    """Items of queries numbered from 10 `seed`, of D + `beyond` features; the third has none."""
    rng = np.random.default_rng(seed)
    X = random_array((n, D + beyond), density=0.01, rng=rng, format="lil")
    X[:, 4] = 1 + rng.random((n, 1))  # a feature that all mention, and one that is constant
    X[:, 6] = 2.0
    X[2] = 0
    X[0, D + beyond - 1] = 3.0
    X = X.tocsr()
    y = np.round(2 * X[:, 4].toarray().ravel() + X.sum(axis=1) / 9 + rng.normal(size=n) / 4)
    with open(name, "w") as file:
        for i in range(n):
            row = slice(X.indptr[i], X.indptr[i + 1])
            words = [f"{j + 1}:{x!r}" for j, x in zip(X.indices[row], X.data[row].tolist())]
            file.write(f"{y[i]:g} qid:{10 * seed + i // 10} {' '.join(words)} #docid = d{i}\n")
    return X.toarray(), y


@pytest.fixture
def files():
    """Training items, and new ones with features that training lacks."""
    write("train.svm", 0)
    write("new.svm", 1, beyond=30)


@pytest.fixture
def both(monkeypatch):
    """A function's values where text stays sparse, and where it becomes dense."""

    def values(function):
        found = [function()]
        with monkeypatch.context() as patched:
            for module in (table, file_blocks):
                patched.setattr(module, "is_sparse", lambda n, d, entries: False)
            return *found, function()

    return values


def test_read_table():
    X, y = write("train.svm", 0)
    data = rb.read_table("train.svm")
    assert isinstance(data.X, csr_array) and data.X.dtype == np.float64
    assert np.array_equal(data.X.toarray(), X) and np.array_equal(data.y, y)
    assert data.qid.tolist() == [i // 10 for i in range(N)] and data.item_names[59] == "d59"
    assert len(data.feature_names) == D and data.feature_names[-1] == f"feature {D}"
    assert "1100" in repr(data)


@pytest.mark.parametrize("d, entries, sparse", [(1000, 0, False), (1001, 50, True)])
def test_what_stays_sparse(d, entries, sparse):
    assert table.is_sparse(1, d, entries) == sparse
    assert not table.is_sparse(1, 1001, 51)


def test_scaling_is_that_of_dense_items():
    X, _ = write("train.svm", 0)
    (zero, factor), (centre, other) = scaling(csr_array(X)), scaling(X)
    assert not zero.any() and np.allclose(factor, other, rtol=1e-12)
    assert (factor[X.max(axis=0) == X.min(axis=0)] == 0).all()
    sparse = standardise(csr_array(X), zero, factor)
    assert isinstance(sparse, csr_array)
    assert np.allclose(sparse.toarray() - centre * factor, standardise(X, centre, other))
    assert np.allclose(standardise(csr_array(X), centre, factor), standardise(X, centre, factor))


FITS = [
    ["--kernel", "linear"],
    ["--kernel", "linear", "--no-standardize", "--loss", "squared"],
    ["--kernel", "rbf"],
    ["--kernel", "linear", "--method", "rankrls", "--encode", "--impute"],
]


@pytest.mark.parametrize("options", FITS)
def test_fit_and_predict(files, both, options):
    def scores():
        fit = json.loads(done("fit", "train.svm", *options, "--lam", "5", "--out", "m", "--json"))
        assert (fit["items"], fit["features"]) == (N, D)
        done("predict", "m", "new.svm", "--out", "scores.csv")
        measured = json.loads(done("evaluate", "m", "new.svm", "--json"))["metrics"]
        return rb.load("m"), pd.read_csv("scores.csv"), measured

    (sparse, one, measured), (dense, other, as_dense) = both(scores)
    assert one["name"].tolist() == other["name"].tolist()
    gap = one["score"] - other["score"]
    scale = np.ptp(other["score"])
    assert np.ptp(gap) < 2e-3 * scale  # only differences count: the centre adds a constant
    assert measured.keys() == as_dense.keys()
    assert sparse.centre.any() == (options == FITS[2]) or "--no-standardize" in options
    # a model takes items of either kind, whatever it was fitted to
    X = rb.read_table("train.svm").X
    for model in (sparse, dense):
        assert np.allclose(model.predict(X), model.predict(X.toarray()), atol=1e-8 * scale)


def test_several_files(files, both):
    write("more.svm", 2)

    def scores():
        done("fit", "train.svm", "more.svm", "--lam", "5", "--out", "m")
        done("predict", "m", "new.svm", "more.svm", "--out", "scores.csv")
        return rb.read_blocks(["train.svm", "more.svm"]), pd.read_csv("scores.csv")["score"]

    (blocks, one), (_, other) = both(scores)
    assert all(isinstance(block.X, csr_array) for block in blocks)
    assert np.ptp(one - other) < 2e-3 * np.ptp(other)


@pytest.mark.parametrize("kernel, method", [("linear", "rankrls"), ("rbf", "ranksvm")])
def test_select(files, both, kernel, method):
    def chosen():
        call = ("select", "train.svm", "--kernel", kernel, "--method", method, "--json")
        return json.loads(done(*call, "--save", "m"))

    one, other = both(chosen)
    assert one["chosen"]["lam"] == pytest.approx(other["chosen"]["lam"], rel=1e-6)
    assert one["disagreement"] == pytest.approx(other["disagreement"])


def test_parts_of_which_one_is_dense(files, both):
    with open("dense.svm", "w") as file:
        words = " ".join(f"{j}:{j % 7 + 1}" for j in range(1, D + 1))
        file.writelines(f"{i % 3} qid:9{i} {words}\n{(i + 1) % 3} qid:9{i} 5:1\n" for i in range(9))

    def chosen():
        call = ("select", "train.svm", "--validation", "dense.svm", "--kernel", "linear")
        return json.loads(done(*call, "--method", "rankrls", "--json"))["disagreement"]

    one, other = both(chosen)
    assert one == pytest.approx(other)


@pytest.mark.parametrize("file", ["copy.svm", "copy.csv", "copy.parquet"])
def test_convert(files, both, file):
    def written():
        done("convert", "train.svm", file)
        content = open(file, "rb").read()
        return content if file.endswith("svm") else rb.read_table(file, "target", "qid").X.tolist()

    one, other = both(written)
    assert one == other


def test_one_item_and_a_column_of_features(files):
    with open("one.svm", "w") as file:
        file.write("0 3:1 1050:2\n")
    done("fit", "train.svm", "--kernel", "linear", "--out", "m")
    done("predict", "m", "one.svm", "--name", "feature 3", "--out", "scores.csv")
    assert pd.read_csv("scores.csv")["name"].tolist() == [1.0]


def test_a_dense_table_that_would_not_fit(files, monkeypatch):
    monkeypatch.setattr("rankbook.base.limits.available_memory", lambda: 400_000)
    monkeypatch.setattr("rankbook.data.table.require_memory", lambda *given: None)
    said = refused("fit", "train.svm", "--kernel", "rbf", "--out", "m")
    assert "a dense table of 60 rows needs" in said and "Use a linear kernel" in said


def test_names_of_billions_of_features():
    with open("wide.svm", "w") as file:
        file.write("1 1999999999:1\n0 1:1\n")
    with pytest.raises(MemoryError, match="2 rows and 1999999999 features in wide.svm needs"):
        rb.read_table("wide.svm")
