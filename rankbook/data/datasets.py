"""Built-in data sets and the sources of their files."""

import hashlib
import inspect
import os
from collections import namedtuple
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import ArgumentError
from ..base.limits import import_extra, within_memory
from ..base.validation import as_choice, as_count
from .table import PARTS, Dataset, is_file_name, read_table

if TYPE_CHECKING:
    from pandas import DataFrame

# one file of a data set: its path below RANKBOOK_DATA, checksum, and address, or instructions to
# obtain it
_File = namedtuple("_File", "path sha256 url by_hand", defaults=(None, ""))
_PIMA = "https://raw.githubusercontent.com/jbrownlee/Datasets/master/pima-indians-diabetes.data.csv"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
_MIXTURE_BY_HAND = (
    "The book's page publishes these points only as an R file; write them as CSV with R: "
    'load(url("https://web.stanford.edu/~hastie/ElemStatLearn/datasets/ESL.mixture.rda")); '
    "m <- ESL.mixture; "
    'writeLines(c("x1,x2,y", sprintf("%.19f,%.19f,%d", m$x[, 1], m$x[, 2], as.integer(m$y))), '
    '"mixture_example.csv")'
)
_LETOR = (
    "https://www.microsoft.com/en-us/research/project/"
    "letor-learning-rank-information-retrieval/letor-4-0/"
)
_MQ2008_BY_HAND = f"Download MQ2008 from {_LETOR}, where its terms are, and unpack S1.txt to S5.txt"
_MQ2008_SHA256 = (
    "cbd42504549a2388f6c0aefdb506f22074225b574c7a5df10194174c9b00e4e0",
    "055ac792cb8f7d5a029090b8acbfb6c57323339d1371251bf2465ac182aa8605",
    "a03fe2b6e76479de60fecdb37d560a40a4e899b0cd685553d2da31ea205af1ab",
    "a239850bc6fe960ad08c2b7b0d99db90fe976dd93a15358e98036591b4e7a2ac",
    "c68c52feb1ecae7f17b64c8e2fda2098302681bbd4ea5fad8c73a1d32a1cf2b2",
)


_FILES = {
    "auto": _File(
        "auto_mpg/auto-mpg.data",
        "48b830e11feee5572525f8f1691ddb9d38d3d7b7063edcd8fca672c2a5e17d8d",
        _UCI + "auto-mpg/auto-mpg.data",
    ),
    "diabetes": _File(
        "pima/pima-indians-diabetes.data.csv",
        "6bfe5d0f379d17a0e0819b996407e3c09bf80febd4287f2ed212190dfff154af",
        _PIMA,
    ),
    "optdigits.tra": _File(
        "optdigits/optdigits.tra",
        "e1b683cc211604fe8fd8c4417e6a69f31380e0c61d4af22e93cc21e9257ffedd",
        _UCI + "optdigits/optdigits.tra",
    ),
    "optdigits.tes": _File(
        "optdigits/optdigits.tes",
        "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8",
        _UCI + "optdigits/optdigits.tes",
    ),
    "mixture": _File(
        "esl_mixture/mixture_example.csv",
        "5be962dfcf5e7f7e485c0d886ad77b38fb309181b9901963e77c466dec548dde",
        by_hand=_MIXTURE_BY_HAND,
    ),
    **{
        f"mq2008.S{k}": _File(f"letor_mq2008/S{k}.txt", sha256, by_hand=_MQ2008_BY_HAND)
        for k, sha256 in enumerate(_MQ2008_SHA256, start=1)
    },
}


TABLES = Path(__file__).with_name("tables")  # written by tools/tables.py


def find_file(key):
    """Return the path of one of `_FILES` after checking its checksum."""
    file = _FILES[key]
    folder = os.environ.get("RANKBOOK_DATA")
    if folder and not Path(folder).is_dir():
        raise NotADirectoryError(
            f"The environment variable RANKBOOK_DATA is {folder!r}, which is not a folder."
        )
    if folder and (path := Path(folder) / file.path).exists():
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != file.sha256:
            raise ValueError(
                f"{path} has sha256 {found}, expected {file.sha256}: it is not the original file. "
                "Replace it with the original."
            )
        return path
    place = (
        f"put the file at $RANKBOOK_DATA/{file.path} (sha256 {file.sha256}), where the "
        "environment variable RANKBOOK_DATA names a folder of yours"
    )
    if file.url is None:
        raise FileNotFoundError(
            f"{file.path} is not in RANKBOOK_DATA and cannot be downloaded automatically. "
            f"{file.by_hand}; and {place}."
        )
    pooch = import_extra("pooch", "data", f"downloading {file.url}")
    target = Path(pooch.os_cache("rankbook")) / file.path
    where = dict(fname=target.name, path=target.parent)
    try:
        return Path(pooch.retrieve(file.url, f"sha256:{file.sha256}", **where))
    except OSError as error:
        raise OSError(
            f"{file.url} could not be downloaded ({error}). Try again, or {place}."
        ) from error


__all__ = [
    "load_votes",
    "load_matches",
    "load_clicks",
    "load_orders",
    "load_survival",
    "load_cancer",
    "load_digits",
    "make_mixture",
    "load_mixture",
    "load_auto",
    "load_diabetes",
    "load_optdigits",
    "load_mq2008",
    "list_datasets",
    "load",
    "PARTS",
    "Dataset",
]


def _read_shipped(name):
    """Read one of the tables that come with the package."""
    import pandas as pd

    return pd.read_csv(TABLES / f"{name}.csv")


def load_votes() -> "DataFrame":
    """Load 360 simulated votes of six judges on the answers of eight assistants.

    A judge votes by Davidson's model: the log odds of a win against a loss are the difference of
    the scores, times the factor of the judge, and the probability of a tie is 0.5 times the
    geometric mean of the probabilities of win and loss. The scores in logits are Ash 1.5, Birch
    1.1, Cedar 0.7, Elm 0.3, Fir -0.3, Hazel -0.7, Larch -1.1 and Maple -1.5. The factors are Ada
    1.6, Ben 1.3, Cleo 1, Dan 1, Eva 0.7 and Finn 0, and Finn therefore guesses. A leaderboard of
    all votes has smaller differences.

    Returns
    -------
    DataFrame
        Columns winner, loser, tie (1 if neither side won) and judge.

    Examples
    --------
    >>> import rankbook as rb
    >>> rb.Leaderboard().fit(rb.datasets.load_votes()).table_["item"][:3].tolist()
    ['Ash', 'Birch', 'Cedar']
    """
    return _read_shipped("votes")


def load_matches() -> "DataFrame":
    """Load 112 simulated football matches of eight clubs in two seasons.

    Each club plays every other club at home and away. The results follow Davidson's model: the log
    odds of a home win against a home defeat are the difference of the scores plus a home advantage
    of 0.5, and the probability of a draw is 0.8 times the geometric mean of the probabilities of
    home win and home defeat. The scores in logits are Ayr 1.1, Bury 0.6, Corby 0.3, Derby 0.1,
    Exeter -0.2, Frome -0.4, Goole -0.6 and Hull -0.9.

    Returns
    -------
    DataFrame
        Columns date, home, away and result, such as 2-1.

    Examples
    --------
    >>> import rankbook as rb
    >>> board = rb.Leaderboard(columns={"home_advantage": True})
    >>> board.fit(rb.datasets.load_matches()).table_["item"][0]
    'Ayr'
    """
    return _read_shipped("matches")


def load_clicks() -> "DataFrame":
    """Load 80 simulated sessions of a hotel search with five results each.

    The search shows five of ten hotels in a good order: by their utility, -0.25 price (in tens of
    euros) + rating - 0.4 distance (in km), plus noise with standard deviation 1. A user examines
    rank r with probability 1/r and clicks on an examined hotel with log odds utility - 4.852.
    Clicks therefore favour the hotels that were shown first.

    Returns
    -------
    DataFrame
        Columns session, rank, hotel, price, rating, distance and click.

    Examples
    --------
    >>> import rankbook as rb
    >>> log = rb.datasets.load_clicks()
    >>> features = log[["price", "rating", "distance"]]
    >>> model = rb.RankSVM(kernel="linear").fit(features, log["click"], qid=log["session"])
    >>> (model.coef_ > 0).tolist()
    [False, True, False]
    """
    return _read_shipped("clicks")


def load_orders() -> "DataFrame":
    """Load 60 simulated orders of five coffees, one by each juror.

    The orders follow the Plackett-Luce model with the scores Arusha 1.2, Boma 0.6, Cauca 0, Dipilto
    -0.4 and Embu -1.4. Some jurors name only the best three.

    Returns
    -------
    DataFrame
        Columns ranking (the number of the juror), item and rank, from 1 for the best.

    Examples
    --------
    >>> import rankbook as rb
    >>> orders = rb.Orders.from_rankings(rb.datasets.load_orders())
    >>> rb.Leaderboard().fit(orders).table_["item"][0]
    'Arusha'
    """
    return _read_shipped("orders")


def load_survival() -> "DataFrame":
    """Load 200 simulated patients of three clinics, followed for up to two years.

    The survival times follow Cox's model with a Weibull baseline of shape 1.3. The log hazard is
    0.04 (age - 60) + 0.6 marker - 0.8 treated; the hazard is multiplied by 1.6 in the clinic East
    and by 0.6 in South. About half of the times are censored, and some values of the marker are
    missing.

    Returns
    -------
    DataFrame
        Columns days, event (0 if the time is censored), clinic, age, marker and treated.

    Examples
    --------
    >>> import rankbook as rb
    >>> patients = rb.datasets.load_survival()
    >>> int(patients["event"].sum()), int(patients["marker"].isna().sum())
    (104, 11)
    """
    return _read_shipped("survival")


def load_cancer() -> Dataset:
    """Load the Wisconsin breast cancer data: 569 tumours, malignant preferred to benign.

    Returns
    -------
    Dataset
        X (569, 30); y is 1 for the 212 malignant and 0 for the 357 benign tumours: 75684
        preferences.

    Examples
    --------
    >>> import rankbook as rb
    >>> rb.datasets.load_cancer().feature_names[:2]
    ['mean radius', 'mean texture']
    """
    from sklearn.datasets import load_breast_cancer

    raw = load_breast_cancer()
    return Dataset(
        raw.data,
        1.0 - raw.target,
        name="cancer",
        feature_names=raw.feature_names,
        description=(
            "569 tumours, 30 measurements of their cell nuclei; "
            "malignant (y = 1) is preferred to benign (y = 0)."
        ),
        source=(
            "Wolberg, Mangasarian, Street and Street (1993), "
            "Breast Cancer Wisconsin (Diagnostic), UCI; comes with scikit-learn"
        ),
        licence="CC BY 4.0",
    )


def load_digits() -> Dataset:
    """Load handwritten digits; the digit is the relevance grade, 0 to 9.

    Returns
    -------
    Dataset
        X (1797, 64), the ink, 0 to 16, in each of 8 x 8 pixels; y is the digit.

    Examples
    --------
    >>> import rankbook as rb
    >>> rb.datasets.load_digits().X.shape
    (1797, 64)
    """
    from sklearn import datasets

    raw = datasets.load_digits()
    return Dataset(
        raw.data,
        raw.target,
        name="digits",
        feature_names=raw.feature_names,
        description=(
            "1797 handwritten digits in 8 x 8 pixels; the digit itself is the relevance: "
            "9 is preferred to 8, 8 to 7."
        ),
        source=(
            "Alpaydin and Kaynak (1998), Optical Recognition of Handwritten Digits, UCI, "
            "test part; comes with scikit-learn"
        ),
        licence="CC BY 4.0",
    )


def _mixture_means(rng):
    """Draw ten means for class 0 and ten for class 1, shape (2, 10, 2)."""
    centres = np.array([[1.0, 0.0], [0.0, 1.0]])
    return centres[:, None, :] + rng.standard_normal((2, 10, 2))


@within_memory("make_mixture")
def make_mixture(n_per_class: int = 100, seed: int = 0) -> Dataset:
    """Draw the two-class Gaussian mixture of Hastie, Tibshirani and Friedman (2009), section 2.3.3.

    Different seeds give different means, and therefore different problems. The same seed and size
    always give the same data.

    Parameters
    ----------
    n_per_class : int, default 100
        Number of points of each class, at least 1.
    seed : int, default 0

    Returns
    -------
    Dataset
        X (2 n_per_class, 2); y is 0 in the first half, 1 in the second.

    Raises
    ------
    TypeError, ValueError
        If `n_per_class` is not a whole number or is below 1.

    Examples
    --------
    >>> import rankbook as rb
    >>> data = rb.datasets.make_mixture(n_per_class=3)
    >>> data.X.shape, data.y.tolist()
    ((6, 2), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    """
    n_per_class, seed = as_count("n_per_class", n_per_class), as_count("seed", seed, 0)
    rng = np.random.default_rng(seed)
    means = _mixture_means(rng)
    y = np.repeat([0, 1], n_per_class)
    X = means[y, rng.integers(10, size=y.size)] + rng.normal(scale=np.sqrt(0.2), size=(y.size, 2))
    return Dataset(
        X,
        y,
        name=f"mixture (seed {seed})",
        feature_names=["x1", "x2"],
        description=(
            f"{n_per_class} random points from each of two mixtures of ten Gaussians in the plane."
        ),
        source="Drawn by the recipe of Hastie, Tibshirani and Friedman (2009), section 2.3.3",
        licence="none needed: random numbers",
    )


def load_mixture() -> Dataset:
    """Load the 200 points of the mixture in The Elements of Statistical Learning.

    Returns
    -------
    Dataset
        X (200, 2); y is 0 or 1, 100 rows each: 10000 preferences.

    Examples
    --------
    >>> import rankbook as rb
    >>> rb.datasets.load_mixture().X.shape
    (200, 2)
    """
    table = np.loadtxt(find_file("mixture"), delimiter=",", skiprows=1)
    return Dataset(
        table[:, :2],
        table[:, 2],
        name="mixture",
        feature_names=["x1", "x2"],
        description=(
            "The 200 published points of two mixtures of ten Gaussians in the plane, "
            "100 of each class."
        ),
        source=(
            "Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, "
            "page of the book"
        ),
        licence="published with the book; the R package that carries it is under the GPL",
    )


AUTO = "cylinders, displacement, horsepower, weight, acceleration, model year, origin"
DIABETES = "pregnancies, glucose, blood pressure, skin thickness, insulin, body-mass index"
DIABETES += ", pedigree, age"


def load_auto() -> Dataset:
    """Load cars of the years 1970 to 1982, ranked by miles per gallon.

    Returns
    -------
    Dataset
        X (392, 7); y in miles per gallon, 127 levels: 75245 preferences. Six of the 398 published
        rows lack horsepower and are dropped. `item_names` are the names of the cars.

    Examples
    --------
    >>> import rankbook as rb
    >>> rb.datasets.load_auto().feature_names
    ['cylinders', 'displacement', 'horsepower', 'weight', 'acceleration', 'model year', 'origin']
    """
    lines = find_file("auto").read_text(encoding="ascii").splitlines()
    rows = [line.split("\t") for line in lines]  # a tab precedes the name of the car
    rows = [(numbers.split(), name.strip('"')) for numbers, name in rows if "?" not in numbers]
    table = np.array([numbers for numbers, _ in rows], dtype=np.float64)
    return Dataset(
        table[:, 1:],
        table[:, 0],
        name="auto",
        feature_names=AUTO.split(", "),
        description="392 cars and their miles per gallon; 6 of the 398 lack horsepower: left out.",
        source="Quinlan (1993), Auto MPG, UCI",
        licence="CC BY 4.0",
        item_names=[name for _, name in rows],
    )


def load_diabetes() -> Dataset:
    """Load the Pima Indians diabetes data: 768 women, diabetes preferred to none.

    Returns
    -------
    Dataset
        X (768, 8); y is 1 for the 268 women who developed diabetes, else 0: 134000 preferences.
        Zeros in columns 1 to 5 are missing values, which are kept.

    Examples
    --------
    >>> import rankbook as rb
    >>> int(rb.datasets.load_diabetes().y.sum())
    268
    """
    table = np.loadtxt(find_file("diabetes"), delimiter=",")
    return Dataset(
        table[:, :8],
        table[:, 8],
        name="diabetes",
        feature_names=DIABETES.split(", "),
        description=(
            "768 Pima women; diabetes (y = 1) is preferred to none (y = 0); "
            "zeros that stand for missing values are kept."
        ),
        source=(
            "Smith, Everhart, Dickson, Knowler and Johannes (1988), Pima Indians Diabetes, "
            "once in UCI"
        ),
        licence="unclear: do not redistribute",
    )


def load_optdigits() -> Dataset:
    """Load handwritten digits with their own training and test sets.

    The digit is the relevance grade, 0 to 9.

    Returns
    -------
    Dataset
        X (5620, 64), the ink, 0 to 16; y is the digit; `parts` is "train" for 3823 rows, then
        "test" for 1797.

    Examples
    --------
    >>> import rankbook as rb
    >>> data = rb.datasets.load_optdigits()
    >>> data.X[data.parts == "test"].shape
    (1797, 64)
    """
    train, test = (
        np.loadtxt(find_file(f"optdigits.{ending}"), delimiter=",") for ending in ("tra", "tes")
    )
    table = np.vstack([train, test])
    return Dataset(
        table[:, :64],
        table[:, 64],
        name="optdigits",
        feature_names=[f"pixel_{i}_{j}" for i in range(8) for j in range(8)],
        parts=np.repeat(["train", "test"], [len(train), len(test)]),
        description=(
            "5620 handwritten digits in 8 x 8 pixels, "
            "training and test by different writers; the digit itself is the relevance."
        ),
        source="Alpaydin and Kaynak (1998), Optical Recognition of Handwritten Digits, UCI",
        licence="CC BY 4.0",
    )


def load_mq2008(fold: int = 1) -> Dataset:
    """Load LETOR 4.0 MQ2008: web documents judged for 784 queries, with the authors' split.

    Parameters
    ----------
    fold : {1, 2, 3, 4, 5}, default 1
        Fold 1 uses S1, S2, S3 for training, S4 for validation and S5 for testing; fold 2 starts
        with S2, and so on.

    Returns
    -------
    Dataset
        X (15211, 46), each feature scaled to [0, 1] within its query by the authors; y is 0, 1 or
        2. `qid`, `parts` and `item_names` (document names) are set, too.

    Raises
    ------
    ValueError
        If `fold` is not 1 to 5.

    Examples
    --------
    >>> import rankbook as rb
    >>> data = rb.datasets.load_mq2008(fold=1)
    >>> data.X.shape, len(set(data.qid))
    ((15211, 46), 784)
    """
    if fold not in (1, 2, 3, 4, 5):
        raise ArgumentError(f"fold is {fold!r}", "an integer from 1 to 5")
    pieces = [(int(fold) - 1 + j) % 5 + 1 for j in range(5)]
    loaded = [read_table(find_file(f"mq2008.S{k}")) for k in pieces]
    return Dataset(
        np.vstack([each.X for each in loaded]),
        np.concatenate([each.y for each in loaded]),
        qid=np.concatenate([each.qid for each in loaded]),
        name=f"mq2008 fold {int(fold)}",
        feature_names=loaded[0].feature_names,
        item_names=[name for each in loaded for name in each.item_names],
        parts=np.repeat(
            ["train", "train", "train", "validation", "test"], [len(each.y) for each in loaded]
        ),
        description=(
            "15211 web documents judged 0 to 2 for 784 queries, "
            "with the authors' own split into training, validation and test queries."
        ),
        source="Qin and Liu (2013), Introducing LETOR 4.0 Datasets, MQ2008",
        licence="for research use",
    )


_LOADERS = {
    "auto": load_auto,
    "cancer": load_cancer,
    "clicks": load_clicks,
    "diabetes": load_diabetes,
    "digits": load_digits,
    "matches": load_matches,
    "mixture": load_mixture,
    "mq2008": load_mq2008,
    "optdigits": load_optdigits,
    "orders": load_orders,
    "survival": load_survival,
    "votes": load_votes,
}

NAMES = tuple(_LOADERS)


def list_datasets() -> dict[str, str]:
    """List the names that `load` accepts, in alphabetical order, and what each needs.

    Returns
    -------
    dict from str to str
        "ready" for data that load now; else "download", "download with rankbook[data]" if the
        package for downloads is missing, or "by hand" if the file must be put in the folder
        RANKBOOK_DATA first.

    Examples
    --------
    >>> import rankbook as rb
    >>> rb.datasets.list_datasets()["votes"]
    'ready'
    """
    return {name: _need(name) for name in _LOADERS}


def _need(name):
    """Return what a data set needs before it loads."""
    files = [file for key, file in _FILES.items() if key.split(".")[0] == name]
    folder = os.environ.get("RANKBOOK_DATA")
    if all(folder and (Path(folder) / file.path).exists() for file in files):
        return "ready"
    if any(file.url is None for file in files):
        return "by hand"
    from platformdirs import user_cache_path  # which pooch uses, too

    if all((user_cache_path("rankbook") / file.path).exists() for file in files):
        return "ready"
    return "download" if find_spec("pooch") else "download with rankbook[data]"


def about(name):
    """Describe a data set in one line, and simulated tables with their true parameters."""
    text = inspect.getdoc(_LOADERS[name]).partition("\n\nReturns\n")[0]
    return text.removeprefix("Load ").removeprefix("the ")


def load(name: str) -> Any:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        One of `list_datasets()`. "mq2008" loads its first fold.

    Returns
    -------
    Dataset or DataFrame
        The raw data; features are not standardized. The tables "votes", "matches", "clicks",
        "orders" and "survival" are pandas data frames.

    Raises
    ------
    ValueError
        If no data set has this name, or the file of the data set differs from the original.
    OSError
        If the file of the data set is not in the folder RANKBOOK_DATA and cannot be downloaded.

    Examples
    --------
    >>> import rankbook as rb
    >>> rb.datasets.load("cancer").X.shape
    (569, 30)
    """
    if isinstance(name, (str, os.PathLike)) and is_file_name(name):
        raise ArgumentError(
            f"name is {str(name)!r}, which looks like a file",
            f"the name of a data set, or call rankbook.read_table({str(name)!r})",
        )
    return _LOADERS[as_choice("name", name, _LOADERS)]()
