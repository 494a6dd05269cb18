"""Files of arrays and JSON, written whole or not at all, and read without running code."""

import json
import math
import os
import platform
import re
import stat
import uuid
import zipfile
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from .errors import ArgumentError
from .ownership import locked
from .validation import shown

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

VERSION = 2  # of the format of all files; version 1 was never released and is not read
MEMBERS = 10_000  # arrays that a file may hold
NUMBERS = "biuf"  # kinds of dtypes that a file may hold
BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")  # that numpy comes with
LARGEST_TEXT = 10**7  # bytes of an array of fixed width: a short file must not ask for a long one
DEEPEST = 50  # levels of values inside values; a fitted model has about ten


# Whole files


def write_whole(file, write):
    """Let `write` fill a new file beside the given one, then put it in its place in one step.

    Parameters
    ----------
    file : str or path
        Its permissions are those of any new file. A link stays and leads where it led; a pipe or
        a device, as /dev/stdout, is written into, as nothing can be put in its place.
    write : callable
        Takes a binary file, open for writing.

    Raises
    ------
    OSError
        If there is no such folder, or the file cannot be written; what was there stays as it was.
    """
    file = as_path(file)
    place = Path(os.path.realpath(file))
    # parts of this target on this machine begin like this; a random name follows
    start = place.parent / f".{crc32(os.fsencode(f'{platform.node()} {place.name}')):08x}"
    handle = None
    try:
        if _is_special(file):
            with open(file, "wb") as device:
                write(device)
            return
        for left in place.parent.glob(f"{start.name}.*.part"):
            _remove_if_dead(left)
        with _open_locked(start) as handle:
            write(handle)
            handle.flush()
            os.fsync(handle.fileno())
            if fcntl is None:  # Windows renames no file that is open
                handle.close()
            os.replace(handle.name, place)  # before the lock is released
    except OSError as error:
        if error.errno is None or not str(error.filename or start).startswith(str(start)):
            raise
        raise type(error)(
            error.errno, error.strerror, str(file)
        ) from error  # in the name that the caller knows
    finally:
        if handle is not None:
            Path(handle.name).unlink(missing_ok=True)


def _open_locked(start):
    """A new file, open for writing and locked; the lock ends with the process."""
    while True:
        handle = open(f"{start}.{uuid.uuid4().hex}.part", "xb")
        with suppress(OSError):  # a file system without locks
            if fcntl:
                fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.exists(handle.name):  # else another save removed it before it was locked
            return handle
        handle.close()


def _remove_if_dead(half):
    """Remove a half-written file unless a living process has it open."""
    with suppress(OSError):  # it is locked, or gone
        if fcntl is None:  # Windows does not remove files that are open
            half.unlink()
            return
        with open(half, "r+b") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            half.unlink()


def as_path(file):
    """A file as a path; an error for what cannot name one."""
    if not isinstance(file, str | os.PathLike):
        raise ArgumentError(f"file is {shown(file)}", "a name or a path")
    if "\0" in str(file):
        raise ArgumentError(f"file is {shown(str(file))}", "a name without null bytes")
    return Path(file)


def _is_special(file):
    """Whether there is something that is neither a file nor a folder: a pipe, or a device."""
    try:
        mode = os.stat(file).st_mode
    except OSError:  # none is there
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


# Archives: a header in JSON, and arrays of numbers, as an npz file


def write_archive(file, kind, facts, arrays, number=VERSION):
    """Write facts and named arrays to one file.

    Parameters
    ----------
    file : str or path
        Its folder must exist; a file that is there is replaced.
    kind : str
        What the file is, for example "rankbook path".
    facts : dict
        What JSON can hold.
    arrays : dict of str to ndarray
        Of numbers.
    number : int
        The version of the format.

    Raises
    ------
    OSError
        If the file cannot be written; then nothing has changed.
    """
    header = json.dumps(dict(kind=kind, version=number, facts=facts), sort_keys=True)
    arrays = {"header": np.frombuffer(header.encode(), dtype=np.uint8), **arrays}
    write_whole(file, lambda handle: np.savez(handle, **arrays))


def open_archive(file):
    """The header (a dict of kind, version and facts) and the arrays of a file.

    The kind and the version may be any.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
    ValueError
        If the file is damaged or something else.

    Notes
    -----
    Reads the file once and keeps what is in it: as much memory as the file has bytes, whatever it
    says of itself. The checksums of the zip format find damage.
    """
    if _is_special(file):  # opening a pipe waits for its writer
        raise ArgumentError(f"file is {str(file)!r}, a device or a pipe", "a file of rankbook")
    with open(file, "rb") as handle:
        try:
            with zipfile.ZipFile(handle) as archive:
                arrays = _read_arrays(archive, os.fstat(handle.fileno()).st_size)
        except Exception as error:  # whatever the readers of Python and NumPy stumble over
            raise ArgumentError(
                f"file is {str(file)!r}, no file of rankbook, or a damaged one: {error}",
                "a file that rankbook wrote",
            ) from error
    try:
        header = json.loads(bytes(arrays.pop("header")))
        is_text = isinstance(header["kind"], str) and header["kind"].isprintable()
        known = type(header["version"]) is int and header["version"] >= 1
        if is_text and known and isinstance(header["facts"], dict):
            return header, arrays
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise ArgumentError(
        f"file is {str(file)!r}, whose header is not that of a file of rankbook",
        "a file written by rankbook",
    )


def read_archive(file, kinds):
    """The kind, facts and arrays of a file of one of these kinds and of the version in use.

    Raises as :func:`open_archive`, and a ValueError for a file of another kind or version.
    """
    header, arrays = open_archive(file)
    kind, number = header["kind"], header["version"]
    if kind not in kinds:
        raise ArgumentError(f"file is {str(file)!r}, a {kind}", "a file of rankbook")
    if number != VERSION:
        fix = "update rankbook" if number > VERSION else "fit and save it again"
        raise ArgumentError(
            f"file is {str(file)!r}, a {kind} of format version {number}",
            f"version {VERSION}: {fix}",
        )
    return kind, header["facts"], arrays


def _read_arrays(archive, size):
    """The arrays of an archive by name.

    Raises a ValueError unless a file of `size` bytes holds each as it is, and the shape and type of
    each agree with the bytes that are there.
    """
    members, arrays = archive.infolist(), {}
    if len(members) > MEMBERS:
        raise ValueError(f"it has {len(members):,} arrays, and at most {MEMBERS:,} are read")
    if sum(member.file_size for member in members) > size:
        raise ValueError("its arrays are compressed, or claim to be larger than the file")
    for member in members:
        name = member.filename.removesuffix(".npy")
        if name in arrays:
            raise ValueError("two of its arrays have one name")
        if not re.fullmatch(r"[\w.]+", name):
            raise ValueError(f"its array {name!r} has no plain name")
        if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
            raise ValueError(f"its array {name!r} is compressed")
        with archive.open(member) as stream:
            if np.lib.format.read_magic(stream) != (1, 0):
                raise ValueError(f"{name!r} has a later version of NumPy's format")
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
            sound = dtype.kind in NUMBERS and all(n >= 0 for n in shape)
            if not sound or math.prod(shape) * dtype.itemsize != member.file_size - stream.tell():
                claim = f"{name!r} claims shape {shape} of {dtype}"
                raise ValueError(f"{claim}, which is not what its {member.file_size} bytes hold")
            stream.seek(0)
            arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
    return arrays


# Values: models and paths as JSON and arrays


class Storable(NamedTuple):
    """How objects of a class, and of no class below it, are taken apart and put together."""

    kind: type
    parts_of: Callable[[Any], dict[str, Any]]
    made_of: Callable[..., Any]


class Unstorable(ValueError):
    """A value that a file cannot hold, with its place among the values."""


class ValueWriter:
    """Writes values as JSON, and gathers their arrays.

    Parameters
    ----------
    kinds : dict of str to Storable
        The objects that it may write, by the names that a file gives them.

    Attributes
    ----------
    arrays : dict of str to ndarray
        By the place of each among the values.

    Examples
    --------
    >>> import numpy as np
    >>> from rankbook.base.files import ValueReader, ValueWriter
    >>> weights, writer = np.array([1.0, 2.0]), ValueWriter({})
    >>> text = writer.write(dict(w=weights, again=weights, limit=float("inf"), pair=(1, 2)), "m")
    >>> list(writer.arrays)
    ['m.w']
    >>> back = ValueReader({}, writer.arrays).read(text)
    >>> back["again"] is back["w"], back["limit"], back["pair"]
    (True, inf, (1, 2))
    """

    def __init__(self, kinds: dict[str, Storable]) -> None:
        self.kinds = {entry.kind: (name, entry) for name, entry in kinds.items()}
        self.arrays: dict[str, np.ndarray] = {}
        self.seen: dict[int, tuple[int, Any]] = {}

    def write(self, value: Any, where: str) -> Any:
        """The value as JSON; what stands in two places is written once.

        Parameters
        ----------
        value : object
        where : str
            Its place among the values, for the names of arrays and for errors.

        Raises
        ------
        Unstorable
            If it, or a part of it, is of a type that no file can hold.
        """
        kind = type(value)
        if value is None or kind in (bool, str, int):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"$float": repr(value)}
        if isinstance(value, (np.number, np.bool_)) and value.dtype.kind in NUMBERS:
            return {"$number": [value.dtype.str, self.write(value.item(), where)]}
        if id(value) in self.seen:
            return {"$same": self.seen[id(value)][0]}
        if kind is list or kind is tuple:
            items = [self.write(item, f"{where}.{i}") for i, item in enumerate(value)]
            return items if kind is list else {"$tuple": items}
        if kind is dict:
            pairs = [
                [self.write(key, where), self.write(part, f"{where}.{key}")]
                for key, part in value.items()
            ]
            return {"$dict": pairs}
        if isinstance(value, np.random.RandomState):
            state = dict(kind="RandomState", state=value.get_state(legacy=False))
            return {"$random": self.write(state, where)}
        if isinstance(value, np.random.Generator):
            state = dict(kind="Generator", state=value.bit_generator.state)
            return {"$random": self.write(state, where)}
        number = len(self.seen)
        self.seen[id(value)] = number, value  # kept, so that nothing else gets its id
        if kind in (np.ndarray, np.memmap):
            return {"$array": self._array(value, where), "number": number}
        if kind not in self.kinds:
            raise Unstorable(f"{where} is a {kind.__name__}, which a file cannot hold")
        name, entry = self.kinds[kind]
        parts = [[k, self.write(v, f"{where}.{k}")] for k, v in entry.parts_of(value).items()]
        return {"$object": name, "number": number, "parts": parts}

    def _array(self, array, where):
        """The name of an array of numbers; for a vector of text the text itself."""
        if array.dtype.kind in NUMBERS:
            name = re.sub(r"[^\w.]", "_", where, flags=re.ASCII)
            name = name if name not in self.arrays else f"{name}.{len(self.arrays)}"
            self.arrays[name] = array
            return name
        text, objects = array.tolist(), array.dtype.kind == "O"
        if array.ndim == 1 and all(type(word) is str for word in text):
            _require_small(text, objects, where)
            return dict(text=text, objects=objects)
        raise Unstorable(
            f"{where} has dtype {array.dtype}, which a file cannot hold; "
            "expected numbers, or a vector of text"
        )


def save_values(file, kind, kinds, values):
    """Write a file of values.

    Parameters
    ----------
    file : str or path
    kind : str
        What the file is.
    kinds : dict of str to Storable
        The objects that may be among the values.
    values : dict of str to object

    Raises
    ------
    Unstorable
        If a value, or a part of one, is of a type that no file can hold.
    OSError
        If the file cannot be written.
    """
    writer = ValueWriter(kinds)
    written = {name: writer.write(value, name) for name, value in values.items()}
    facts = dict(values=written, written_by=f"rankbook {version('rankbook')}")
    write_archive(file, kind, facts, writer.arrays)


def _require_small(text, objects, where):
    """Refuse an array of text in which one long word would make room for each of many."""
    size = 0 if objects else 4 * len(text) * max(map(len, text), default=0)
    if size > LARGEST_TEXT:
        raise Unstorable(
            f"{where} is an array of text of {size:,} bytes, which a file cannot hold; "
            f"expected one of dtype object, or of at most {LARGEST_TEXT:,} bytes"
        )


class ValueReader:
    """Reads what a :class:`ValueWriter` has written.

    Parameters
    ----------
    kinds : dict of str to Storable
        The objects that it may make.
    arrays : dict of str to ndarray
        That belong to the values; they become read-only.
    """

    def __init__(self, kinds: dict[str, Storable], arrays: dict[str, np.ndarray]) -> None:
        self.kinds, self.seen = kinds, {}
        self.read_so_far, self.size, self.depth = 0, 0, 0
        self.arrays = {name: locked(array) for name, array in arrays.items()}

    def read(self, written: Any) -> Any:
        """The value of some JSON.

        Raises
        ------
        ValueError, KeyError, TypeError
            If it is not a value, its parts do not fit together, or it becomes many times larger or
            too deep when its references to earlier values are followed.
        """
        (size, depth), self.size, self.depth = (self.size, self.depth), 1, 0
        self.read_so_far += 1
        value = self._value(written)
        self.size, self.depth = size + self.size, max(depth, self.depth + 1)
        if self.depth > DEEPEST or self.size > 1000 + 10 * self.read_so_far:
            raise ValueError("its values are nested too deep, or refer to one another too often")
        return value

    def _value(self, written):
        """The value of some JSON; its size and depth are counted in `size` and `depth`."""
        match written:
            case list():
                return [self.read(item) for item in written]
            case {"$float": "inf" | "-inf" | "nan" as text}:
                return float(text)
            case {"$number": [str(name), number]}:
                dtype = np.dtype(name)
                if dtype.kind not in NUMBERS or dtype.hasobject:
                    raise ValueError(f"{dtype} is no type of a number")
                return dtype.type(self.read(number))
            case {"$tuple": items}:
                return tuple(self.read(items))
            case {"$dict": pairs}:
                return {self.read(key): self.read(item) for key, item in pairs}
            case {"$random": state}:
                return self._random(**self.read(state))
            case {"$same": number}:  # counts with its whole size and depth
                value, self.size, self.depth = self.seen[number]
                return value
            case {"$array": str(name), "number": number}:
                value = self.arrays[name]
            case {"$array": {"text": text, "objects": objects}, "number": number}:
                if not all(isinstance(word, str) for word in text):
                    raise ValueError("a vector of text holds what is none")
                _require_small(text, objects, "a vector")
                value = locked(np.array(text, dtype=object if objects else np.str_))
            case {"$object": name, "number": number, "parts": parts}:
                if name not in self.kinds:
                    raise ValueError(f"{name!r} is no kind of object that is known here")
                value = self.kinds[name].made_of(**{k: self.read(part) for k, part in parts})
            case dict():
                raise ValueError(f"{shown(written)} is no value")
            case _:
                return written
        self.seen[number] = value, self.size, self.depth
        return value

    def _random(self, kind, state):
        """A generator of numpy's own in this state."""
        name = state["bit_generator"]
        if kind not in ("Generator", "RandomState") or name not in BIT_GENERATORS:
            raise ValueError(f"{kind} of {name} is no generator of numpy's own")
        bits = getattr(np.random, name)(0)
        made = getattr(np.random, kind)(bits)
        if kind == "Generator":
            bits.state = state
        else:
            made.set_state(state)
        return made
