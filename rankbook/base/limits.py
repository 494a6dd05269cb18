"""Limits of memory and arithmetic, and warnings."""

import ctypes
import math
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np

from .errors import ArgumentError
from .progress import WAITING

try:
    from resource import RLIM_INFINITY, RLIMIT_AS, RLIMIT_DATA, getrlimit
except ImportError:  # Windows
    RLIMIT_AS = RLIMIT_DATA = RLIM_INFINITY = None

PROC, CGROUP = "/proc", "/sys/fs/cgroup"
UNLIMITED = 2**62  # bytes; version 1 reports about 2^63 if there is no limit
GROUP_FILES = {  # by version: folders of the tree, limit, memory in use, memory that can be freed
    1: (("memory", ""), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: (("", "unified"), "memory.max", "memory.current", "inactive_file"),
}


class OutOfMemory(MemoryError):
    """MemoryError whose message comes from this package."""


def _lines(path):
    """Return the lines of a small system file, or no lines if the file does not exist."""
    try:
        with open(path, encoding="ascii") as file:
            return file.read().splitlines()
    except (OSError, ValueError):
        return []


def _windows_memory():
    """Return the bytes that Windows has free or can still promise; infinity on other systems."""
    names = "total free most_promised promised most_virtual virtual extended".split()
    fields = [("size", ctypes.c_uint32), ("load", ctypes.c_uint32)]
    fields += [(name, ctypes.c_uint64) for name in names]
    status = type("MemoryStatus", (ctypes.Structure,), dict(_fields_=fields))()
    status.size = ctypes.sizeof(status)
    libraries = getattr(ctypes, "windll", None)
    if libraries is None or not libraries.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return math.inf
    return min(status.free, status.promised)


def available_memory():
    """Bytes that this process may still allocate by the smallest of all limits, or infinity."""
    meminfo = dict([line.split()[:2] for line in _lines(f"{PROC}/meminfo")])
    if "MemAvailable:" in meminfo:
        rooms = [1024 * int(meminfo["MemAvailable:"])]
    elif hasattr(os, "sysconf") and {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= os.sysconf_names.keys():
        rooms = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    else:
        rooms = [_windows_memory()]
    for line in _lines(f"{PROC}/self/cgroup"):
        _, controllers, group = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        trees, limit, usage, cache = GROUP_FILES[1 if controllers else 2]
        names = group.strip("/").split("/")
        # the enclosing groups have limits, too
        for tree, depth in product(trees, range(len(names) + 1)):
            folder = "/".join([CGROUP, tree, *names[:depth]])
            for most in _lines(f"{folder}/{limit}"):
                if most != "max" and int(most) < UNLIMITED:
                    used = int(_lines(f"{folder}/{usage}")[0])
                    stat = dict([line.split() for line in _lines(f"{folder}/memory.stat")])
                    rooms.append(int(most) - used + int(stat.get(cache, 0)))
    for kind, column in ((RLIMIT_AS, 0), (RLIMIT_DATA, 5)):
        if kind is not None and (most := getrlimit(kind)[0]) != RLIM_INFINITY:
            for pages in _lines(f"{PROC}/self/statm"):
                rooms.append(most - int(pages.split()[column]) * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(rooms))


def as_sentence(text):
    """Return a text with a capital letter and a full stop.

    Examples
    --------
    >>> as_sentence("use fewer items")
    'Use fewer items.'
    """
    return f"{text[:1].upper()}{text[1:]}."


def require_memory(nbytes, what, instead):
    """Raise a MemoryError if `nbytes` bytes are not available.

    In the message, `what` is the subject of the sentence, and `instead` is an imperative that names
    an alternative.
    """
    available = available_memory()
    if nbytes > available:
        raise OutOfMemory(
            f"{what} needs {nbytes:,} bytes ({in_words(nbytes)}), "
            f"but only {in_words(available)} are available. {as_sentence(instead)}"
        )


MINUTE = 60.0  # seconds that a call may take unannounced
ANNOUNCED = ContextVar("ANNOUNCED", default=False)  # whether an outer call has warned


def announce_time(seconds, what, instead):
    """Warn if a call is predicted to need more than a minute, but not forever.

    A solver that refuses the call has an infinite prediction, and raises an error of its own.

    In the message, `what` is the subject of the sentence, and `instead` is an imperative that names
    a faster way. After a warning, no call within the context that this function returns warns.
    """
    if is_long := MINUTE < seconds < math.inf and not ANNOUNCED.get():
        warn(f"{what} is predicted to need {duration(seconds)}. {as_sentence(instead)}")
    return _announced() if is_long else nullcontext()


@contextmanager
def _announced():
    token = ANNOUNCED.set(True)
    try:
        yield
    finally:
        ANNOUNCED.reset(token)


def duration(seconds):
    """Format a predicted time of a minute or more."""
    for unit, length in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:,.0f} {unit}"
    return "a minute"


def in_words(nbytes):
    """Format a number of bytes in MiB or GiB."""
    return f"{nbytes / 2**30:.1f} GiB" if nbytes >= 2**30 else f"{nbytes / 2**20:.0f} MiB"


@contextmanager
def within_memory(
    what: str, instead: str = "use fewer items, or a limit of memory that is higher"
) -> Iterator[None]:
    """Context that turns a failed allocation into a MemoryError that names the cause.

    Arguments as in :func:`require_memory`. Errors of this package pass unchanged, and so do errors
    with notes, because they come from plugins.
    """
    try:
        yield
    except MemoryError as error:
        if isinstance(error, OutOfMemory) or getattr(error, "__notes__", None):
            raise
        detail = f" ({error})" if str(error) else ""
        raise OutOfMemory(
            f"{what} needs more memory than the {in_words(available_memory())} that are "
            f"available{detail}. {as_sentence(instead)}"
        ) from error


def written_out(table, instead="use the sparse table"):
    """Convert a sparse table (rows, columns) to an array; MemoryError if it does not fit.

    An array is returned as it is.
    """
    if isinstance(table, np.ndarray):
        return table
    require_memory(8 * math.prod(table.shape), f"a dense table of {table.shape[0]:,} rows", instead)
    return table.toarray()


def taken_by(model, X):
    """Convert items to an array if the estimator's tags exclude sparse items.

    An object without tags gets the items unchanged.
    """
    from sklearn.utils import get_tags

    if isinstance(X, np.ndarray) or not hasattr(model, "__sklearn_tags__"):
        return X
    sparse = get_tags(model).input_tags.sparse
    return X if sparse else written_out(X, "use a linear kernel, or fewer rows")


def has_shipped_code():
    """Return whether this installation contains compiled code for this computer.

    Without a folder of compiled code, numba is not imported.
    """
    if not (Path(__file__).parents[1] / "compiled").is_dir():
        return False
    from .jit import shipped_processor

    return shipped_processor() is not None


def import_extra(name, extra, job):
    """Import the module `name`, or raise an ImportError with the command that installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(
            f'{job} needs {package}, which is not installed: pip install "rankbook[{extra}]"',
            name=package,
        ) from error


LARGEST, SMALLEST = 1e100, 1e-150


def refuse_huge(name, A):
    """Raise a ValueError if an entry exceeds LARGEST, or if all are below SMALLEST but not 0.

    `A` is a finite array or a CSR matrix.
    """
    values = A if isinstance(A, np.ndarray) else A.data
    if values.dtype.kind == "f" and values.flags.c_contiguous:
        with np.errstate(over="ignore", invalid="ignore"):
            square = float(np.dot(flat := values.reshape(-1), flat))
        if values.size * SMALLEST**2 < square <= LARGEST**2:  # one pass is nearly always enough
            return
    size = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if 0 < size < SMALLEST:
        raise ArgumentError(
            f"{name} has no number above {size:g} in absolute value",
            f"numbers of at least {SMALLEST:g}, because the squares of smaller numbers underflow",
        )
    if size <= LARGEST:
        return
    A = A if values is A else A.tocoo()
    at = np.argwhere(np.abs(values if values is A else A.data) > LARGEST)[0]
    value, at = (
        (A[tuple(at)], at) if values is A else (A.data[at[0]], [axis[at[0]] for axis in A.coords])
    )
    where = f"in row {at[0]}, column {at[1]}" if len(at) == 2 else f"at index {at[0]}"
    raise ArgumentError(
        f"{name} has {value} {where}",
        f"numbers up to {LARGEST:g} in absolute value, because the squares of larger numbers "
        "overflow",
    )


@contextmanager
def solvable(what):
    """Context that turns a failure of linear algebra into an ArithmeticError with advice."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        raise ArithmeticError(
            f"{what} overflows, or is numerically singular ({error}). "
            "Use features (or a kernel) of moderate scale, or a larger lam."
        ) from error


def require_finite(A, what):
    """Raise an ArithmeticError if a matrix has overflowed."""
    if not np.isfinite(A).all():
        raise ArithmeticError(f"{what} overflows. Use features (or a kernel) of moderate scale.")


INSIDE = ("rankbook", "sklearn", "contextlib")  # packages that are not the user's code


UNSAID = ContextVar("UNSAID", default=())  # first words of warnings that are left out


@contextmanager
def unsaid(words):
    """Context in which :func:`warn` leaves out warnings that begin with these words.

    Filters of the module `warnings` belong to all threads, and this context to one.
    """
    token = UNSAID.set((*UNSAID.get(), words))
    try:
        yield
    finally:
        UNSAID.reset(token)


def warn(message, category=UserWarning):
    """Issue a warning that points to the first line outside this package and scikit-learn."""
    if str(message).startswith(UNSAID.get()):
        return
    frame, waiting = sys._getframe(1), next(iter(WAITING.get()), None)
    while frame.f_globals.get("__name__", "").split(".")[0] in INSIDE:
        if frame.f_back is not None:
            frame = frame.f_back
        elif waiting is not None:  # continue in the thread that waits for this one
            frame, waiting = waiting, None
        else:
            break
    where, names = (frame.f_code.co_filename, frame.f_lineno), frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, *where, names.get("__name__"), registry)
