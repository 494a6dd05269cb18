"""Files of arrays and JSON, written whole or not at all, and read without running code."""

import errno
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

from .errors import ArgumentError, a_type
from .ownership import as_read_only
from .validation import describe_value

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

VERSION = 2  # format version of all files; version 1 was never released and cannot be read
MEMBERS = 10_000  # largest number of arrays in a file
NUMBERS = "biuf"  # allowed kinds of dtypes
BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")  # included in numpy
LARGEST_TEXT = 10**7  # bytes of an array: a short file must not request a long one
DEEPEST = 50  # levels of nested values; a fitted model has about ten


# Whole files


def write_whole(file, write):
    """Let `write` fill a new file, which then replaces the given file in one step.

    Parameters
    ----------
    file : str or path
        It gets the permissions of any new file. A link is followed. A pipe or a device, such as
        /dev/stdout, is written directly because it cannot be replaced.
    write : callable
        Takes a binary file, open for writing.

    Raises
    ------
    OSError
        If there is no such folder, or the file is read-only or cannot be written. An existing file
        is then unchanged.
    """
    file = as_path(file)
    place = Path(os.path.realpath(file))
    # temporary files of this target begin like this; a random name follows
    start = place.parent / f".{crc32(os.fsencode(f'{platform.node()} {place.name}')):08x}"
    handle = None
    try:
        if _is_special(file):
            with open(file, "wb") as device:
                write(device)
            return
        if is_read_only(place):
            advice = "The file is read-only; delete it or make it writable"
            raise PermissionError(errno.EACCES, advice, str(file))
        for left in place.parent.glob(f"{start.name}.*.part"):
            remove_if_dead(left)
        with open_locked(start, ".part") as handle:
            write(handle)
            handle.flush()
            os.fsync(handle.fileno())
            if fcntl is None:  # Windows cannot rename an open file
                handle.close()
            os.replace(handle.name, place)  # must precede the release of the lock
    except OSError as error:
        if error.errno is None or not str(error.filename or start).startswith(str(start)):
            raise
        raise type(error)(
            error.errno, error.strerror, str(file)
        ) from error  # under the name that the caller knows
    finally:
        if handle is not None:
            Path(handle.name).unlink(missing_ok=True)


def is_read_only(file):
    """Return whether a file exists and is read-only, for this user or for everybody."""
    try:
        return not (os.stat(file).st_mode & 0o222 and os.access(file, os.W_OK))
    except OSError:  # there is no such file
        return False


def open_locked(start, ending, mode=0o666):
    """Open a new file for writing and lock it; the lock ends with the process.

    The file never has more permissions than `mode`.
    """
    while True:
        name = f"{start}.{uuid.uuid4().hex}{ending}"
        handle = open(name, "xb", opener=lambda path, flags: os.open(path, flags, mode))
        with suppress(OSError):  # the file system has no locks
            if fcntl:
                fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.exists(handle.name):  # otherwise another save removed it before it was locked
            return handle
        handle.close()


def remove_if_dead(file):
    """Remove a temporary file unless a living process has it open."""
    with suppress(OSError):  # the file is locked, or gone
        if fcntl is None:  # Windows cannot remove open files
            os.unlink(file)
            return
        with open(file, "r+b") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(file)


def as_path(file):
    """Convert a file name to a path, or refuse it."""
    if not isinstance(file, str | os.PathLike):
        raise ArgumentError(f"file is {describe_value(file)}", "a name or a path")
    if "\0" in str(file):
        raise ArgumentError(f"file is {describe_value(str(file))}", "a name without null bytes")
    return Path(file)


def _is_special(file):
    """Return whether the path is a pipe or a device, neither a file nor a folder."""
    try:
        mode = os.stat(file).st_mode
    except OSError:  # there is no such file
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


# Archives: a header in JSON, and arrays of numbers, as an npz file


def write_archive(file, kind, facts, arrays, number=VERSION):
    """Write facts and named arrays to one file.

    Parameters
    ----------
    file : str or path
        Its folder must exist; an existing file is replaced.
    kind : str
        Kind of the file, for example "rankbook path".
    facts : dict
        Values that JSON can represent.
    arrays : dict of str to ndarray
        Of numbers.
    number : int
        The version of the format.

    Raises
    ------
    OSError
        If the file cannot be written. An existing file is then unchanged.
    """
    header = json.dumps(dict(kind=kind, version=number, facts=facts), sort_keys=True)
    arrays = {"header": np.frombuffer(header.encode(), dtype=np.uint8), **arrays}
    write_whole(file, lambda handle: np.savez(handle, **arrays))


def open_archive(file):
    """Read the header (a dict of kind, version and facts) and the arrays of a file.

    Any kind and version is accepted.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
    ValueError
        If the file is damaged or was not written by rankbook.

    Notes
    -----
    The file is read once. It takes as much memory as it has bytes, whatever sizes its header
    claims. The checksums of the zip format detect damage.
    """
    if _is_special(file):  # opening a pipe would wait for its writer
        raise ArgumentError(f"file is {str(file)!r}, a device or a pipe", "a rankbook file")
    with open(file, "rb") as handle:
        try:
            with zipfile.ZipFile(handle) as archive:
                arrays = _read_arrays(archive, os.fstat(handle.fileno()).st_size)
        except Exception as error:  # any error of the readers of Python and NumPy
            raise ArgumentError(
                f"file is {str(file)!r}, which is not a rankbook file or is damaged: {error}",
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
        f"file is {str(file)!r}, whose header is not the header of a rankbook file",
        "a file that rankbook wrote",
    )


def is_archive(file):
    """Return whether a file has the format of rankbook's files, reading only its list of parts."""
    try:
        with zipfile.ZipFile(file) as archive:
            return "header.npy" in archive.namelist()
    except Exception:  # zipfile raises errors of many types for a damaged file
        return False


def read_archive(file, kinds):
    """Read the kind, the facts and the arrays of a file, whose kind must be one of `kinds`.

    Raises the errors of :func:`open_archive`, and a ValueError for another kind or for a file that
    is not in the current format version.
    """
    header, arrays = open_archive(file)
    kind, number = header["kind"], header["version"]
    if kind not in kinds:
        raise ArgumentError(
            f"file is {str(file)!r}, a rankbook file of the kind {kind!r}",
            f"a file of the kind {' or '.join(map(repr, kinds))}",
        )
    if number != VERSION:
        fix = "Update rankbook." if number > VERSION else "Fit the model and save it again."
        raise ArgumentError(
            f"file is {str(file)!r}, a {kind} of format version {number}",
            fix,
        )
    return kind, header["facts"], arrays


def _read_arrays(archive, size):
    """Read the arrays of an archive by name.

    Raises a ValueError unless each array is stored uncompressed in the file of `size` bytes, and
    its shape and type agree with the number of its bytes.
    """
    members, arrays = archive.infolist(), {}
    if len(members) > MEMBERS:
        raise ValueError(f"it has {len(members):,} arrays, and at most {MEMBERS:,} are read")
    if sum(member.file_size for member in members) > size:
        raise ValueError("its arrays are compressed, or claim to be larger than the file")
    for member in members:
        name = member.filename.removesuffix(".npy")
        if name in arrays:
            raise ValueError("two of its arrays have the same name")
        if not re.fullmatch(r"[\w.]+", name):
            raise ValueError(f"its array {name!r} has a name with special characters")
        if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
            raise ValueError(f"its array {name!r} is compressed")
        with archive.open(member) as stream:
            if np.lib.format.read_magic(stream) != (1, 0):
                raise ValueError(f"{name!r} has a later version of NumPy's format")
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
            sound = dtype.kind in NUMBERS and all(n >= 0 for n in shape)
            if not sound or math.prod(shape) * dtype.itemsize != member.file_size - stream.tell():
                claim = f"{name!r} claims shape {shape} of {dtype}"
                raise ValueError(f"{claim}, which does not match its {member.file_size} bytes")
            stream.seek(0)
            arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
    return arrays


# Values: models and paths as JSON and arrays


class Storable(NamedTuple):
    """Functions that take objects of a class (not of subclasses) apart and restore them."""

    kind: type
    parts_of: Callable[[Any], dict[str, Any]]
    made_of: Callable[..., Any]


class Unstorable(ValueError):
    """Error for a value that a file cannot store; the message names its position."""


class ValueWriter:
    """Writer of values as JSON that collects their arrays.

    Parameters
    ----------
    kinds : dict of str to Storable
        Classes of objects that may be written, by their names in the file.

    Attributes
    ----------
    arrays : dict of str to ndarray
        Arrays by their positions among the values.

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
        """Convert a value to JSON; an object that occurs twice is written once.

        Parameters
        ----------
        value : object
        where : str
            Place of the value, used for the names of arrays and in errors.

        Raises
        ------
        Unstorable
            If the value, or a part of it, has a type that a file cannot store.
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
        self.seen[id(value)] = number, value  # kept, so that its id is not reused
        if kind in (np.ndarray, np.memmap):
            return {"$array": self._array(value, where), "number": number}
        if kind not in self.kinds:
            raise Unstorable(f"{where} is {a_type(value)}, which a file cannot store")
        name, entry = self.kinds[kind]
        parts = [[k, self.write(v, f"{where}.{k}")] for k, v in entry.parts_of(value).items()]
        return {"$object": name, "number": number, "parts": parts}

    def _array(self, array, where):
        """Store an array of numbers and return its name; return a vector of text as a list."""
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
            f"{where} has dtype {array.dtype}, which a file cannot store. "
            "Pass numbers, or a vector of text"
        )


def save_values(file, kind, kinds, values):
    """Write a file of values.

    Parameters
    ----------
    file : str or path
    kind : str
        Kind of the file.
    kinds : dict of str to Storable
        Classes of objects that may occur among the values.
    values : dict of str to object

    Raises
    ------
    Unstorable
        If a value, or a part of one, has a type that a file cannot store.
    OSError
        If the file cannot be written.
    """
    writer = ValueWriter(kinds)
    written = {name: writer.write(value, name) for name, value in values.items()}
    facts = dict(values=written, written_by=f"rankbook {version('rankbook')}")
    write_archive(file, kind, facts, writer.arrays)


def _require_small(text, objects, where):
    """Refuse an array of text that takes too much memory at the width of its longest word."""
    size = 0 if objects else 4 * len(text) * max(map(len, text), default=0)
    if size > LARGEST_TEXT:
        raise Unstorable(
            f"{where} is an array of text of {size:,} bytes, which a file cannot store. "
            f"Pass one of dtype object, or of at most {LARGEST_TEXT:,} bytes"
        )


class ValueReader:
    """Reader of values that a :class:`ValueWriter` has written.

    Parameters
    ----------
    kinds : dict of str to Storable
        Classes of objects that may be created.
    arrays : dict of str to ndarray
        Arrays of the values; they become read-only.
    """

    def __init__(self, kinds: dict[str, Storable], arrays: dict[str, np.ndarray]) -> None:
        self.kinds, self.seen = kinds, {}
        self.read_so_far, self.size, self.depth = 0, 0, 0
        self.arrays = {name: as_read_only(array) for name, array in arrays.items()}

    def read(self, written: Any) -> Any:
        """Convert JSON to a value.

        Raises
        ------
        ValueError, KeyError, TypeError
            If the JSON is not a value, its parts do not fit together, or following its references
            to earlier values makes it many times larger or too deep.
        """
        (size, depth), self.size, self.depth = (self.size, self.depth), 1, 0
        self.read_so_far += 1
        value = self._value(written)
        self.size, self.depth = size + self.size, max(depth, self.depth + 1)
        if self.depth > DEEPEST or self.size > 1000 + 10 * self.read_so_far:
            raise ValueError("its values are nested too deeply, or refer to one another too often")
        return value

    def _value(self, written):
        """Convert JSON to a value, and count its size and depth in `size` and `depth`."""
        match written:
            case list():
                return [self.read(item) for item in written]
            case {"$float": "inf" | "-inf" | "nan" as text}:
                return float(text)
            case {"$number": [str(name), number]}:
                dtype = np.dtype(name)
                if dtype.kind not in NUMBERS or dtype.hasobject:
                    raise ValueError(f"{dtype} is not a numeric type")
                return dtype.type(self.read(number))
            case {"$tuple": items}:
                return tuple(self.read(items))
            case {"$dict": pairs}:
                return {self.read(key): self.read(item) for key, item in pairs}
            case {"$random": state}:
                return self._random(**self.read(state))
            case {"$same": number}:  # counted with its whole size and depth
                value, self.size, self.depth = self.seen[number]
                return value
            case {"$array": str(name), "number": number}:
                value = self.arrays[name]
            case {"$array": {"text": text, "objects": objects}, "number": number}:
                if not all(isinstance(word, str) for word in text):
                    raise ValueError("a vector of text contains a value that is not text")
                _require_small(text, objects, "a vector")
                value = as_read_only(np.array(text, dtype=object if objects else np.str_))
            case {"$object": name, "number": number, "parts": parts}:
                if name not in self.kinds:
                    raise ValueError(f"{name!r} is not a known kind of object")
                value = self.kinds[name].made_of(**{k: self.read(part) for k, part in parts})
            case dict():
                raise ValueError(f"{describe_value(written)} is not a stored value")
            case _:
                return written
        self.seen[number] = value, self.size, self.depth
        return value

    def _random(self, kind, state):
        """Return one of numpy's own generators in a given state."""
        name = state["bit_generator"]
        if kind not in ("Generator", "RandomState") or name not in BIT_GENERATORS:
            raise ValueError(f"{kind} of {name} is not one of numpy's generators")
        bits = getattr(np.random, name)(0)
        made = getattr(np.random, kind)(bits)
        if kind == "Generator":
            bits.state = state
        else:
            made.set_state(state)
        return made
