"""Limits of memory and arithmetic, and warnings."""

import math
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import product

import numpy as np

from .errors import ArgumentError
from .progress import WAITING

try:
    from resource import RLIM_INFINITY, RLIMIT_AS, RLIMIT_DATA, getrlimit
except ImportError:  # Windows
    RLIMIT_AS = RLIMIT_DATA = RLIM_INFINITY = None

PROC, CGROUP = "/proc", "/sys/fs/cgroup"
UNLIMITED = 2**62  # bytes; where there is no limit, version 1 gives about 2^63
GROUP_FILES = {  # by version: folders of the tree, the limit, what is used, and what can be dropped
    1: (("memory", ""), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: (("", "unified"), "memory.max", "memory.current", "inactive_file"),
}


class OutOfMemory(MemoryError):
    """A MemoryError whose message is this package's own."""


def _lines(path):
    """The lines of a small file of the system; none without the file."""
    try:
        with open(path, encoding="ascii") as file:
            return file.read().splitlines()
    except (OSError, ValueError):
        return []


def available_memory():
    """Bytes that this process may still take: the smallest of all limits; infinity if unknown."""
    meminfo = dict(line.split()[:2] for line in _lines(f"{PROC}/meminfo"))
    if "MemAvailable:" in meminfo:
        rooms = [1024 * int(meminfo["MemAvailable:"])]
    elif hasattr(os, "sysconf") and {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= os.sysconf_names.keys():
        rooms = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    else:
        rooms = [math.inf]
    for line in _lines(f"{PROC}/self/cgroup"):
        _, controllers, group = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        trees, limit, usage, cache = GROUP_FILES[1 if controllers else 2]
        names = group.strip("/").split("/")
        # the groups around it have limits, too
        for tree, depth in product(trees, range(len(names) + 1)):
            folder = "/".join([CGROUP, tree, *names[:depth]])
            for most in _lines(f"{folder}/{limit}"):
                if most != "max" and int(most) < UNLIMITED:
                    used = int(_lines(f"{folder}/{usage}")[0])
                    stat = dict(line.split() for line in _lines(f"{folder}/memory.stat"))
                    rooms.append(int(most) - used + int(stat.get(cache, 0)))
    for kind, column in ((RLIMIT_AS, 0), (RLIMIT_DATA, 5)):
        if kind is not None and (most := getrlimit(kind)[0]) != RLIM_INFINITY:
            for pages in _lines(f"{PROC}/self/statm"):
                rooms.append(most - int(pages.split()[column]) * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(rooms))


def require_memory(nbytes, what, instead):
    """A MemoryError up front if `nbytes` bytes are not available.

    `what` needs them is the subject of the sentence that says so, and `instead` an imperative:
    what to do instead.
    """
    available = available_memory()
    if nbytes > available:
        raise OutOfMemory(
            f"{what} needs {nbytes:,} bytes ({in_words(nbytes)}), "
            f"and {in_words(available)} are available; {instead}."
        )


def in_words(nbytes):
    """A number of bytes as text, in MiB or GiB."""
    return f"{nbytes / 2**30:.1f} GiB" if nbytes >= 2**30 else f"{nbytes / 2**20:.0f} MiB"


@contextmanager
def within_memory(
    what: str, instead: str = "use fewer items, or a limit of memory that is higher"
) -> Iterator[None]:
    """A context that turns a failed allocation into a MemoryError that says what needed memory.

    Arguments as in :func:`require_memory`. Its own errors pass unchanged, and so do errors with
    notes, which come from plugins.
    """
    try:
        yield
    except MemoryError as error:
        if isinstance(error, OutOfMemory) or getattr(error, "__notes__", None):
            raise
        detail = f" ({error})" if str(error) else ""
        raise OutOfMemory(
            f"{what} needs more memory than the {in_words(available_memory())} that are "
            f"available{detail}; {instead}."
        ) from error


def written_out(table, instead="use the sparse table"):
    """A sparse table (rows, columns) as an array; a MemoryError if that would not fit.

    An array is returned as it is.
    """
    if isinstance(table, np.ndarray):
        return table
    require_memory(8 * math.prod(table.shape), f"a dense table of {table.shape[0]:,} rows", instead)
    return table.toarray()


def taken_by(model, X):
    """Items as an estimator takes them: as an array if its tags say that it takes no sparse ones.

    Whatever has no tags gets the items as they are.
    """
    from sklearn.utils import get_tags

    if isinstance(X, np.ndarray) or not hasattr(model, "__sklearn_tags__"):
        return X
    sparse = get_tags(model).input_tags.sparse
    return X if sparse else written_out(X, "use a linear kernel, or fewer rows")


def import_extra(name, extra, job):
    """The module `name`; without it an ImportError says that `job` needs it and what to type."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f'{job} needs {name}, which is not installed: pip install "rankbook[{extra}]"',
            name=name,
        ) from error


LARGEST, SMALLEST = 1e100, 1e-150


def refuse_huge(name, A):
    """A ValueError for an entry above LARGEST, or if all are below SMALLEST but not 0.

    `A` is a finite array, or a CSR matrix, of which the data are looked at.
    """
    values = A if isinstance(A, np.ndarray) else A.data
    if values.dtype.kind == "f" and values.flags.c_contiguous:
        with np.errstate(over="ignore", invalid="ignore"):
            square = float(np.dot(flat := values.reshape(-1), flat))
        if values.size * SMALLEST**2 < square <= LARGEST**2:  # one pass decides nearly always
            return
    size = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if 0 < size < SMALLEST:
        raise ArgumentError(
            f"{name} has no number above {size:g} in size",
            f"numbers of {SMALLEST:g} and above, or 0, since squares of smaller ones vanish",
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
        f"numbers up to {LARGEST:g} in size, since squares of larger ones overflow",
    )


@contextmanager
def solvable(what):
    """A context: where linear algebra fails on `what`, an ArithmeticError says what to change."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        raise ArithmeticError(
            f"{what} overflows, or is singular to rounding ({error}); "
            "features (or a kernel) of moderate scale, or a larger lam, are needed."
        ) from error


def require_finite(A, what):
    """An ArithmeticError if a matrix has overflown."""
    if not np.isfinite(A).all():
        raise ArithmeticError(
            f"{what} overflows; features (or a kernel) of moderate scale are needed."
        )


INSIDE = ("rankbook", "sklearn", "contextlib")  # packages whose lines the user did not write


def warn(message, category=UserWarning):
    """Warn in the name of the first line outside this package and scikit-learn."""
    frame, waiting = sys._getframe(1), next(iter(WAITING.get()), None)
    while frame.f_globals.get("__name__", "").split(".")[0] in INSIDE:
        if frame.f_back is not None:
            frame = frame.f_back
        elif waiting is not None:  # go on in the thread that waits for this one
            frame, waiting = waiting, None
        else:
            break
    where, names = (frame.f_code.co_filename, frame.f_lineno), frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, *where, names.get("__name__"), registry)
