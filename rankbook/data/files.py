"""Downloading and verifying files of data sets."""

import hashlib
import os
from collections import namedtuple
from pathlib import Path

from ..base.limits import import_extra

# one file of a data set: its place under RANKBOOK_DATA, its fingerprint, its address,
# or how to come by it without one
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


def _require_sha256(path, expected):
    """Refuse a file whose content is not the published one."""
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != expected:
        raise ValueError(
            f"{path} has sha256 {found}, expected {expected}: it is not the original file. "
            "Replace it by the original."
        )


def _download(file):
    """The path of the file in the cache, fetched first if it is not there yet."""
    place = (
        f"put the file at $RANKBOOK_DATA/{file.path} (sha256 {file.sha256}), where the "
        "environment variable RANKBOOK_DATA names a folder of yours"
    )
    if file.url is None:
        raise FileNotFoundError(
            f"{file.path} is not in RANKBOOK_DATA and cannot be downloaded for you. "
            f"{file.by_hand}; and {place}."
        )
    pooch = import_extra("pooch", "data", f"downloading {file.url}")
    target = Path(pooch.os_cache("rankbook")) / file.path
    try:
        return Path(
            pooch.retrieve(file.url, f"sha256:{file.sha256}", fname=target.name, path=target.parent)
        )
    except OSError as error:
        raise OSError(
            f"{file.url} could not be downloaded ({error}). Try again, or {place}."
        ) from error


def find_file(key):
    """The path of one of `_FILES`, its fingerprint checked."""
    file = _FILES[key]
    folder = os.environ.get("RANKBOOK_DATA")
    if folder and not Path(folder).is_dir():
        raise NotADirectoryError(
            f"The environment variable RANKBOOK_DATA is {folder!r}, which is not a folder."
        )
    if folder and (path := Path(folder) / file.path).exists():
        _require_sha256(path, file.sha256)
        return path
    return _download(file)
