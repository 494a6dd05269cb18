"""Formats of files, by ending and content."""

import codecs
import gzip
import io
import math
import os
import re
import sys
import zlib
from pathlib import Path

from ..base.limits import require_memory, warn
from ..base.validation import unknown_name

GZIP = b"\x1f\x8b"
_FORMATS = {
    ".csv": "CSV text",
    ".tsv": "tab-separated text",
    ".parquet": "Parquet",
    ".svm": "SVMlight text",
    ".svmlight": "SVMlight text",
    ".letor": "SVMlight text",
    ".txt": "SVMlight text",
    ".dat": "SVMlight text",
}


def _existing_file(path):
    """`path` as a Path to a file that exists."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path is {path!r}; a str or a path is accepted.")
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"path is {str(path)!r}, a folder; a file is accepted.")
    if not path.exists():
        raise FileNotFoundError(f"path is {str(path)!r}: there is no such file.")
    if not (path.is_file() or path.is_fifo()):
        raise ValueError(f"path is {str(path)!r}, a device; a file or a pipe is accepted.")
    return path


STEP, RATIO = 2**24, 200  # bytes read at a time; the largest factor by which gzip may unpack


def _read_all(name, stream, most=math.inf):
    """All bytes of a stream; an error if they are more than `most`, or than memory can hold."""
    found = bytearray()
    while step := stream.read(STEP):
        found += step
        if len(found) > most:
            raise ValueError(
                f"{name} unpacks to more than {RATIO} times its size, which no table does; "
                "if it is a table, unpack it with gunzip."
            )
        require_memory(2 * len(found), f"reading {name}", "read a smaller part of it")
    return bytes(found)


def _unpacked(name, packed):
    """The bytes that gzip packed."""
    try:
        with gzip.open(io.BytesIO(packed)) as stream:
            return _read_all(name, stream, max(STEP, RATIO * len(packed)))
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name} cannot be unpacked by gzip: {error}.") from error


class Source:
    """A file, a pipe or standard input.

    It knows how errors call it, the ending of its format (None for standard input, and for a pipe
    without one), and its bytes, as often as asked for.
    """

    first_row, first_line = 0, 1  # numbers of what comes first

    def __init__(self, path):
        if path == "-":
            if sys.stdin is None:
                raise ValueError("path is '-', and standard input is closed; a file is accepted.")
            self.label = self.name = self.stem = "standard input"
            self.path, self.ending, content = None, None, _read_all(self, sys.stdin.buffer)
            packed = content.startswith(GZIP)
        else:
            self.path = path = _existing_file(path)
            packed, is_pipe = path.suffix.lower() == ".gz", path.is_fifo()
            plain = path.with_suffix("") if packed else path
            self.label, self.name, self.stem = str(path), path.name, plain.stem
            self.ending = plain.suffix.lower()
            content = None
            if packed or is_pipe:
                with open(path, "rb") as stream:
                    content = _read_all(self, stream)
            if is_pipe and not self.ending:  # one that a shell made
                self.ending, packed = None, content.startswith(GZIP)
        self.content = _unpacked(self, content) if packed else content
        if (path.stat().st_size if self.content is None else len(self.content)) == 0:
            raise ValueError(f"{self} is empty: it has 0 bytes.")

    def __str__(self):
        return self.label

    def open(self):
        """A binary stream, from the beginning."""
        return open(self.path, "rb") if self.content is None else io.BytesIO(self.content)


_SVMLIGHT_LINE = re.compile(r"\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s+(?:qid:\S+|\d+:[-+\d.])")


def content_of(source):
    """What the file holds by its first bytes, and its first line.

    The kinds are Parquet, binary data, SVMlight text and other text.
    """
    with source.open() as stream:
        head = stream.read(2**16)
    for name, magic in (("Parquet", b"PAR1"), ("gzip data", GZIP)):
        if head.startswith(magic):
            return name, ""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(
            head
        )  # may stop in the middle of a letter
    except UnicodeDecodeError:
        return "binary data or not UTF-8", ""
    if "\0" in text:
        return "binary data or not UTF-8", ""
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    first = next(lines, "")
    return ("SVMlight text" if _SVMLIGHT_LINE.match(first) else "other text"), first[:60]


class Assumption(UserWarning):
    """What a file was taken for without having been told."""


def format_of(source):
    """The format that the ending promises, unless the content says otherwise.

    For standard input it is what the content says.
    """
    (found, first), ending = content_of(source), source.ending
    if ending is None:
        kind = "CSV text" if found == "other text" else found
        if kind not in _FORMATS.values():
            raise ValueError(
                f"{source} is {found}; "
                "CSV, Parquet and SVMlight text are accepted, packed by gzip or not."
            )
        warn(Assumption(f"{source} is read as {kind}, since it begins like that."))
        return kind
    if ending not in _FORMATS:
        raise unknown_name(f"the ending of {source}", ending, _FORMATS)
    promised = _FORMATS[ending]
    if found == promised or found == "other text" and promised != "Parquet":
        return promised
    found = f"text that begins {first!r}" if found == "other text" else found
    fitting = [source.stem + ending for ending, name in _FORMATS.items() if name == found]
    fitting = [f"{source.name}.gz"] if found == "gzip data" else fitting
    advice = (
        f"Name it {' or '.join(fitting)}."
        if fitting
        else "Convert it, or name it by its true format."
    )
    raise ValueError(f"{source} is {found}, not {promised} as its ending {ending} says. {advice}")
