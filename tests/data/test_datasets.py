"""The data sets: facts against their published descriptions, and where their files come from."""

import hashlib
import http.server
import threading
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

from rankbook import datasets
from rankbook.data.datasets import list_datasets, load, load_mq2008, make_mixture
from rankbook.data.table import Dataset

SHIPPED = {"clicks", "matches", "orders", "survival", "votes"}  # see test_simulated.py


def level_sizes(y):
    return np.unique(y, return_counts=True)[1]


def full_preferences(y, qid=None):
    """Pairs of one query whose y differ, counted pair by pair."""
    qid = np.zeros(len(y)) if qid is None else qid
    return sum(int(np.sum(y[qid == q][:, None] > y[qid == q])) for q in np.unique(qid))


def star_preferences(y):
    """Sum of s_up + s_low - 1 over neighbouring levels."""
    sizes = level_sizes(y)
    return int(np.sum(sizes[:-1] + sizes[1:] - 1))


class TestDataset:
    def test_converts_and_names(self):
        data = Dataset([[1, 2], [3, 4]], [0, 1])
        assert data.X.dtype == data.y.dtype == np.float64
        assert data.feature_names == ["x0", "x1"]
        assert data.qid is None and data.parts is None

    def test_is_frozen(self):
        data = Dataset([[1, 2], [3, 4]], [0, 1])
        with pytest.raises(FrozenInstanceError):
            data.y = np.zeros(2)

    @pytest.mark.parametrize(
        "change, says",
        [
            (dict(y=[0]), r"y has shape \(1,\)"),
            (dict(qid=[1]), r"qid has shape \(1,\)"),
            (dict(qid=[1.0, 2.0]), "qid .* float64.*whole numbers"),
            (dict(parts=["train"]), "parts has shape"),
            (dict(parts=["train", "valid"]), "parts is 'valid'"),
            (dict(feature_names=["a"]), "feature_names has length 1. Pass 2 names"),
            (dict(item_names=["a"]), r"item_names has length 1\. "),
            (dict(y=[0, np.inf]), "y has infinity at index 1"),
            (dict(X=[[1, 2], [3, np.nan]]), "X has NaN in row 1, column 1"),
            (dict(X=np.empty((0, 2)), y=[]), "at least one row"),
            (dict(X=[1, 2]), r"X has shape \(2,\)"),
        ],
    )
    def test_bad_fields(self, change, says):
        with pytest.raises(ValueError, match=says):
            Dataset(**{"X": [[1, 2], [3, 4]], "y": [0, 1], **change})

    def test_words_are_a_type_error(self):
        with pytest.raises(TypeError, match="X cannot be read as numbers"):
            Dataset([["a"], ["b"]], [0, 1])

    def test_shows_itself(self):
        data = Dataset(
            np.ones((8, 1)), np.arange(8), qid=[1] * 4 + [2] * 4, name="a <b>", parts=["test"] * 8
        )
        assert repr(data) == (
            "Dataset 'a <b>' (rows: 8; features: 1; y: 8 levels from 0 to 7; queries: 2; "
            "parts: 8 test)"
        )
        page = data._repr_html_()
        assert "a &lt;b&gt;" in page and "8 levels from 0 to 7" in page and "<b>a <b>" not in page


class TestEmbedded:
    def test_cancer(self, monkeypatch):
        monkeypatch.delenv("RANKBOOK_DATA", raising=False)
        from sklearn.datasets import load_breast_cancer

        data, raw = load("cancer"), load_breast_cancer()
        assert data.X.shape == (569, 30) and np.array_equal(data.X, raw.data)
        assert raw.target_names[0] == "malignant"
        assert np.array_equal(data.y == 1, raw.target == 0)
        assert list(level_sizes(data.y)) == [357, 212]
        assert (full_preferences(data.y), star_preferences(data.y)) == (75684, 568)

    def test_digits(self, monkeypatch):
        monkeypatch.delenv("RANKBOOK_DATA", raising=False)
        data = load("digits")
        assert data.X.shape == (1797, 64) and list(np.unique(data.y)) == list(range(10))

    def test_every_load_is_fresh(self):
        first = load("cancer")
        first.X[:] = 0
        assert load("cancer").X.any()


class TestNames:
    def test_list(self):
        known = "auto cancer clicks diabetes digits matches mixture mq2008 optdigits orders"
        assert list(list_datasets()) == [*known.split(), "survival", "votes"]
        list_datasets().clear()
        assert list_datasets()

    @pytest.mark.parametrize(
        "name, near", [("Cancer", "cancer"), ("optdigit", "optdigits"), ("mq2007", "mq2008")]
    )
    def test_nearest(self, name, near):
        with pytest.raises(ValueError, match=f"name is '{name}'.*did you mean '{near}'"):
            load(name)

    @pytest.mark.parametrize("name", [None, 3, ["cancer"]])
    def test_not_a_name(self, name):
        with pytest.raises(ValueError, match="Pass one of: auto, cancer"):
            load(name)


class TestMakeMixture:
    @pytest.mark.parametrize("n", [1, 7, 100])
    def test_sizes(self, n):
        data = make_mixture(n)
        assert data.X.shape == (2 * n, 2) and list(data.y) == [0] * n + [1] * n

    def test_seed(self):
        assert np.array_equal(make_mixture(seed=5).X, make_mixture(seed=5).X)
        assert not np.any(make_mixture(seed=5).X == make_mixture(seed=6).X)

    @pytest.mark.parametrize("seed", range(3))
    def test_moments(self, seed):
        data = make_mixture(40_000, seed=seed)
        means = datasets._mixture_means(np.random.default_rng(seed))
        for c in (0, 1):
            X = data.X[data.y == c]
            assert np.allclose(X.mean(axis=0), means[c].mean(axis=0), atol=0.05)
            assert np.allclose(
                np.cov(X.T, bias=True), np.cov(means[c].T, bias=True) + np.eye(2) / 5, atol=0.05
            )

    def test_centres_of_the_classes(self):
        draws = [make_mixture(20, seed=seed) for seed in range(400)]
        means = [
            np.mean([data.X[data.y == c].mean(axis=0) for data in draws], axis=0) for c in (0, 1)
        ]
        assert np.allclose(means, [[1, 0], [0, 1]], atol=0.1)

    @pytest.mark.parametrize(
        "n, error", [(0, ValueError), (-1, ValueError), (2.5, ValueError), ("10", TypeError)]
    )
    def test_bad_size(self, n, error):
        with pytest.raises(error, match="n_per_class is"):
            make_mixture(n)


@pytest.mark.data
class TestFiles:
    @pytest.mark.parametrize(
        "name, shape, full, star",
        [
            ("mixture", (200, 2), 10000, 199),
            ("auto", (392, 7), 75245, 656),
            ("diabetes", (768, 8), 134000, 767),
        ],
    )
    def test_sizes_and_preferences(self, name, shape, full, star):
        data = load(name)
        assert data.X.shape == shape and len(data.feature_names) == shape[1]
        assert (full_preferences(data.y), star_preferences(data.y)) == (full, star)

    def test_mixture(self):
        data = load("mixture")
        assert list(level_sizes(data.y)) == [100, 100]
        assert data.X[0, 0] == 2.5260929678784913577 and data.X[0, 1] == 0.3210504457363648201

    def test_auto(self):
        data = load("auto")
        assert len(np.unique(data.y)) == 127
        assert "6 of the 398" in data.description
        assert data.X[0].tolist() == [8, 307, 130, 3504, 12, 70, 1] and data.y[0] == 18
        assert set(data.X[:, 6]) == {1, 2, 3}

    def test_diabetes_keeps_its_zeros(self):
        data = load("diabetes")
        assert list(level_sizes(data.y)) == [500, 268]
        assert (data.X[:, 4] == 0).sum() == 374 and "zeros" in data.description

    def test_optdigits(self):
        from sklearn.datasets import load_digits

        data, raw = load("optdigits"), load_digits()
        train, test = data.parts == "train", data.parts == "test"
        assert (train.sum(), test.sum(), len(data.y)) == (3823, 1797, 5620)
        assert np.array_equal(data.X[test], raw.data) and np.array_equal(data.y[test], raw.target)
        assert data.X.min() == 0 and data.X.max() == 16

    def test_mq2008_fold_1(self):
        data = load("mq2008")
        assert data.X.shape == (15211, 46) and data.X.min() == 0 and data.X.max() == 1
        assert set(data.y) == {0, 1, 2} and len(np.unique(data.qid)) == 784
        sizes = {
            part: (np.sum(data.parts == part), len(np.unique(data.qid[data.parts == part])))
            for part in datasets.PARTS
        }
        assert sizes == {"train": (9630, 471), "validation": (2707, 157), "test": (2874, 156)}
        assert [
            full_preferences(data.y[data.parts == part], data.qid[data.parts == part])
            for part in datasets.PARTS
        ] == [19933 + 16542 + 15850, 14239, 14361]

    def test_mq2008_folds_are_a_cycle(self):
        pieces = {}
        preferences = {1: 19933, 2: 16542, 3: 15850, 4: 14239, 5: 14361}
        for fold in range(1, 6):
            data = load_mq2008(fold)
            test, validation, train = (
                {*data.qid[data.parts == part]} for part in ("test", "validation", "train")
            )
            assert not test & validation and not test & train and not validation & train
            assert len(test | validation | train) == 784
            k = (fold + 3) % 5 + 1
            assert (
                full_preferences(data.y[data.parts == "test"], data.qid[data.parts == "test"])
                == preferences[k]
            )
            pieces[k] = test
            if fold > 1:
                assert validation == pieces[(k - 2) % 5 + 1]
        assert len(set.union(*pieces.values())) == 784

    @pytest.mark.parametrize("fold", [0, 6, "1", None])
    def test_bad_fold(self, fold):
        with pytest.raises(ValueError, match="fold is"):
            load_mq2008(fold)

    def test_data_are_raw_and_described(self):
        for name in list_datasets().keys() - SHIPPED:
            data = load(name)
            assert data.description and data.source and data.licence and data.name
            assert data.description.count(". ") == 0  # one sentence
            assert abs(data.X.mean()) > 1e-3


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A web server on this machine, and an empty cache.

    With them comes the list of the paths that were asked for.
    """
    folder, cache, asked = tmp_path / "www", tmp_path / "cache", []
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def log_message(self, *args):
            asked.append(self.path)

    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=web.serve_forever, daemon=True)
    thread.start()
    import pooch

    monkeypatch.setattr(pooch, "os_cache", lambda project: cache / project)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("RANKBOOK_DATA", raising=False)
    yield folder, f"http://127.0.0.1:{web.server_port}", asked
    web.shutdown()
    web.server_close()
    thread.join()


CARS = (
    b'18.0 8 307.0 130.0 3504. 12.0 70 1\t"a"\n25.0 4 98.00 ? 2046. 19.0 71 1\t"b"\n24.0 4 113.0 '
    b'95.00 2372. 15.0 70 3\t"c"\n'
)


def pretend(monkeypatch, content, url):
    """Make `content` the original of the auto data, at this address."""
    file = datasets._File("auto_mpg/auto-mpg.data", hashlib.sha256(content).hexdigest(), url)
    monkeypatch.setitem(datasets._FILES, "auto", file)
    return file


class TestDownload:
    def test_downloads_once(self, server, monkeypatch, tmp_path):
        folder, address, asked = server
        (folder / "cars").write_bytes(CARS)
        pretend(monkeypatch, CARS, f"{address}/cars")
        data = load("auto")
        assert data.y.tolist() == [18, 24] and data.X[1].tolist() == [4, 113, 95, 2372, 15, 70, 3]
        assert (tmp_path / "cache" / "rankbook" / "auto_mpg" / "auto-mpg.data").read_bytes() == CARS
        load("auto")
        assert len(asked) == 1

    def test_a_damaged_cache_is_fetched_again(self, server, monkeypatch, tmp_path):
        folder, address, asked = server
        (folder / "cars").write_bytes(CARS)
        pretend(monkeypatch, CARS, f"{address}/cars")
        load("auto")
        (tmp_path / "cache" / "rankbook" / "auto_mpg" / "auto-mpg.data").write_bytes(CARS[:50])
        assert load("auto").y.tolist() == [18, 24] and len(asked) == 2

    def test_wrong_hash(self, server, monkeypatch, tmp_path):
        folder, address, _ = server
        (folder / "cars").write_bytes(CARS + b"#")
        file = pretend(monkeypatch, CARS, f"{address}/cars")
        with pytest.raises(ValueError) as caught:
            load("auto")
        for part in ("auto-mpg.data", file.sha256, hashlib.sha256(CARS + b"#").hexdigest()):
            assert part in str(caught.value)
        assert not (tmp_path / "cache" / "rankbook" / "auto_mpg" / "auto-mpg.data").exists()

    def test_missing_on_the_server(self, server, monkeypatch):
        _, address, _ = server
        file = pretend(monkeypatch, CARS, f"{address}/gone")
        with pytest.raises(
            OSError, match="could not be downloaded.*404.*RANKBOOK_DATA/auto_mpg/auto-mpg.data"
        ) as caught:
            load("auto")
        assert file.sha256 in str(caught.value) and isinstance(caught.value.__cause__, OSError)

    def test_no_server(self, server, monkeypatch):
        pretend(monkeypatch, CARS, "http://127.0.0.1:9/cars")
        with pytest.raises(OSError, match="could not be downloaded"):
            load("auto")

    def test_folder_without_the_file_downloads(self, server, monkeypatch, tmp_path):
        folder, address, asked = server
        (folder / "cars").write_bytes(CARS)
        pretend(monkeypatch, CARS, f"{address}/cars")
        monkeypatch.setenv("RANKBOOK_DATA", str(tmp_path))
        assert load("auto").y.tolist() == [18, 24] and len(asked) == 1

    @pytest.mark.parametrize(
        "name, hint", [("mixture", "ESL.mixture.rda"), ("mq2008", "letor-4-0")]
    )
    def test_no_address(self, server, name, hint):
        with pytest.raises(FileNotFoundError, match="RANKBOOK_DATA") as caught:
            load(name)
        assert hint in str(caught.value) and "sha256" in str(caught.value)


class TestFolder:
    def put(self, folder, content):
        (folder / "auto_mpg").mkdir()
        (folder / "auto_mpg" / "auto-mpg.data").write_bytes(content)

    def test_read_from_the_folder(self, monkeypatch, tmp_path):
        self.put(tmp_path, CARS)
        pretend(monkeypatch, CARS, None)
        monkeypatch.setenv("RANKBOOK_DATA", str(tmp_path))
        assert load("auto").y.tolist() == [18, 24]

    def test_wrong_hash(self, monkeypatch, tmp_path):
        self.put(tmp_path, CARS)
        monkeypatch.setenv("RANKBOOK_DATA", str(tmp_path))
        with pytest.raises(ValueError) as caught:
            load("auto")
        for part in (
            str(Path("auto_mpg") / "auto-mpg.data"),
            datasets._FILES["auto"].sha256,
            hashlib.sha256(CARS).hexdigest(),
        ):
            assert part in str(caught.value)

    def test_no_such_folder(self, monkeypatch, tmp_path):
        monkeypatch.setenv("RANKBOOK_DATA", str(tmp_path / "nowhere"))
        with pytest.raises(NotADirectoryError, match="RANKBOOK_DATA is .*nowhere"):
            load("auto")
