"""Reading and writing archives of arrays and JSON."""

import hashlib
import json
import math
import os
import platform
import re
import stat
import uuid
import zipfile
from contextlib import suppress
from pathlib import Path
from zlib import crc32

import numpy as np

from .validation import shown

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

MEMBERS = 10_000  # arrays that a file may hold
NUMBERS = "biuf"  # kinds of dtypes that a file may hold


def checksum(arrays):
    """The SHA-256 of named arrays, as 64 hexadecimal digits.

    It is taken over their names, types, shapes and bytes.
    """
    digest = hashlib.sha256()
    for name in sorted(arrays):
        a = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {a.dtype.str} {a.shape}\n".encode())
        digest.update(a.reshape(-1).view(np.uint8))
    return digest.hexdigest()


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
        raise TypeError(f"file is {shown(file)}; a name or a path is accepted.")
    if "\0" in str(file):
        raise ValueError(f"file is {shown(str(file))}; a name without null bytes is accepted.")
    return Path(file)


def _is_special(file):
    """Whether there is something that is neither a file nor a folder: a pipe, or a device."""
    try:
        mode = os.stat(file).st_mode
    except OSError:  # none is there
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def write_archive(file, kind, version, facts, arrays):
    """Write named arrays to one file.

    Parameters
    ----------
    file : str or path
        Its folder must exist; a file that is there is replaced.
    kind : str
        What the file is, for example "rankbook path".
    version : int
        Of the kind.
    facts : dict
        Whatever else there is to say: strings, numbers, lists.
    arrays : dict of str to ndarray
        Of numbers.

    Raises
    ------
    TypeError
        If an array holds anything but numbers.
    OSError
        If the file cannot be written; then nothing has changed.
    """
    header = json.dumps(dict(kind=kind, version=version, facts=facts), sort_keys=True)
    content = {
        "header": np.frombuffer(header.encode(), dtype=np.uint8),
        **{name: np.asarray(a) for name, a in arrays.items()},
    }
    for name, a in content.items():
        if a.dtype.kind not in NUMBERS:
            raise TypeError(
                f"arrays[{name!r}] has dtype {a.dtype}; arrays of numbers are accepted."
            )
    seal = np.frombuffer(checksum(content).encode(), dtype=np.uint8)
    write_whole(file, lambda handle: np.savez(handle, **content, sha256=seal))


def open_archive(file, accepted):
    """What a file holds that :func:`write_archive` wrote, of any kind and version.

    Parameters
    ----------
    file : str or path
    accepted : str
        What the caller takes, for errors.

    Returns
    -------
    header : dict
        Of "kind" (str), "version" (int) and "facts" (dict).
    arrays : dict of str to ndarray

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
    ValueError
        If the file is damaged or altered, or something else.

    Notes
    -----
    Reads the file once and keeps what is in it: as much memory as the file has bytes, whatever it
    says of itself.
    """
    content = _read_arrays(file, accepted)
    seal = bytes(content.pop("sha256", np.zeros(0, dtype=np.uint8))).decode("ascii", "replace")
    if "header" not in content or not seal:
        raise ValueError(
            f"file is {str(file)!r}, which holds arrays but is no {accepted}; "
            "a file written by rankbook is accepted."
        )
    if checksum(content) != seal:
        raise ValueError(
            f"file is {str(file)!r}, which has been altered: its checksum does not agree."
        )
    return _read_header(content.pop("header"), file, accepted), content


def read_archive(file, versions):
    """What a file holds, if it is of one of the kinds that the caller understands.

    Parameters
    ----------
    file : str or path
    versions : dict of str to int
        The kinds that the caller takes, each with the latest version that it understands.

    Returns
    -------
    kind : str
    facts : dict
    arrays : dict of str to ndarray

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError, ValueError
        As :func:`open_archive`, or for a file of another kind or of a later version.
    """
    accepted = " or ".join(versions) if len(versions) < 3 else "file of rankbook"
    header, content = open_archive(file, accepted)
    kind = header["kind"]
    if kind not in versions:
        raise ValueError(f"file is {str(file)!r}, a {kind}; a {accepted} is accepted.")
    if header["version"] > versions[kind]:
        raise ValueError(
            f"file is {str(file)!r}, a {kind} of version {header['version']}; "
            f"version {versions[kind]} or earlier is accepted: update rankbook."
        )
    return kind, header["facts"], content


def _read_header(text, file, kind):
    """The header of a file as a dict of kind, version and facts."""
    try:
        header = json.loads(bytes(text))
        kind_is_text = isinstance(header["kind"], str) and header["kind"].isprintable()
        known = type(header["version"]) is int and header["version"] >= 1
        if kind_is_text and known and isinstance(header["facts"], dict):
            return header
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise ValueError(
        f"file is {str(file)!r}, whose header is not that of a {kind}; "
        "a file written by rankbook is accepted."
    )


def _read_arrays(file, kind):
    """Every array of an npz file; a damaged one is a ValueError."""
    if _is_special(file):  # opening a pipe waits for its writer
        raise ValueError(f"file is {str(file)!r}, a device or a pipe; a {kind} is accepted.")
    with open(file, "rb") as handle:
        try:
            with zipfile.ZipFile(handle) as archive:
                members = _check_members(archive.infolist(), os.fstat(handle.fileno()).st_size)
                return {name: _read_array(archive, member) for name, member in members.items()}
        except Exception as error:  # whatever the readers of Python and NumPy stumble over
            raise ValueError(
                f"file is {str(file)!r}, which is no {kind}, or is damaged: {error}."
            ) from error


def _check_members(members, size):
    """The members of an archive by name.

    Raises a ValueError unless a file of `size` bytes holds each, as it is.
    """
    if len(members) > MEMBERS:
        raise ValueError(f"it has {len(members):,} arrays, and at most {MEMBERS:,} are accepted")
    by_name = {member.filename.removesuffix(".npy"): member for member in members}
    if len(by_name) < len(members):
        raise ValueError("two of its arrays have one name")
    for name, member in by_name.items():
        if not re.fullmatch(r"[\w.]+", name):
            raise ValueError(f"its array {name!r} has no plain name")
        if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
            raise ValueError(f"its array {name!r} is compressed")
    if sum(member.file_size for member in members) > size:
        raise ValueError("its arrays claim to be larger than the file")
    return by_name


def _read_array(archive, member):
    """One array of numbers, whose shape and type must agree with the bytes that are there."""
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise ValueError(f"{member.filename} has version {version} of NumPy's format")
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream)
        sound = dtype.kind in NUMBERS and all(n >= 0 for n in shape)
        if not sound or math.prod(shape) * dtype.itemsize != member.file_size - stream.tell():
            claim = f"{member.filename} claims shape {shape} of {dtype}"
            raise ValueError(f"{claim}, which is not what its {member.file_size} bytes hold")
    with archive.open(member) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)
