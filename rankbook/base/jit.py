"""Compilation with numba."""

import functools
import os
import pickle
import sys
import threading
from importlib.resources import files
from pathlib import Path
from types import FunctionType
from weakref import WeakSet

import numba
import numpy as np
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock
from numba.core.options import DefaultOptions
from numba.extending import typeof_impl

from rankbook.base.jit_cache import (
    cache_root,
    folder_name,
    keep_source,
    open_folder,
    source_files,
    source_stamp,
)

OPTIONS = dict(
    no_cfunc_wrapper=True, nogil=True, fastmath={"contract", "reassoc"}, error_model="numpy"
)


class Kept:
    """Where one process keeps its compiled code.

    Parameters
    ----------
    package : Path
        The folder of the package.
    """

    def __init__(self, package):
        self.package, self.files = package, source_files(package)
        self.stamp, self.possible = source_stamp(self.files), True  # False once the disk refused
        self._folder = None

    def folder(self, file):
        """The folder for a function that is defined in a file.

        It is None if its code must not or cannot be kept.
        """
        if (
            not self.possible
            or Path(file) not in self.files
            or source_stamp(self.files) != self.stamp
        ):
            return None
        if self._folder is None:
            self._folder = open_folder(cache_root(), folder_name(self.package))
            self.possible = self._folder is not None
        return self._folder

    def source(self, file):
        """Where a function that is kept says it is defined, and the folder; or twice None.

        See :func:`rankbook.base.jit_cache.keep_source`.
        """
        folder = self.folder(file)
        if folder is None:
            return None, None
        copy = folder / "sources" / Path(file).relative_to(self.package)
        try:
            keep_source(Path(file), copy)
        except OSError:
            self.possible = False
            return None, None
        return copy, folder

    @property
    def obstacle(self):
        """Why a function of the package is not kept."""
        return (
            "the sources changed since this process began"
            if self.possible
            else f"{cache_root()} cannot be used"
        )


KEPT = Kept(Path(str(files("rankbook"))))


_LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):
    for lock in (_LOCK, global_compiler_lock):  # a fork takes the last one first
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )


def twin(function, source=None, ending=""):
    """The same function under a longer qualified name, said to be defined in another file."""
    code = (
        function.__code__ if source is None else function.__code__.replace(co_filename=str(source))
    )
    other = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    other.__module__, other.__doc__, other.__qualname__ = (
        function.__module__,
        function.__doc__,
        function.__qualname__ + ending,
    )
    return other


def dispatcher(function, ending="", **options):
    """numba's version of a function, under its name and an ending.

    It is kept on disk where that is possible.
    """
    make = functools.partial(numba.njit, **OPTIONS, **options)
    source, folder = KEPT.source(function.__code__.co_filename)
    if source is not None:
        with _LOCK:
            before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
            try:
                made = make(twin(function, source, ending), cache=True)
            finally:
                numba.config.CACHE_DIR = before
        if folder in Path(made.stats.cache_path).parents:
            return made
    return make(twin(function, ending=ending))


SECONDS = 60  # all that one call needs, on a slow machine


class Waiting(event.TimingListener):
    """Says once on stderr that a process has to compile, and adds up the seconds."""

    said = False

    def on_start(self, event):
        """A compilation begins, perhaps inside another."""
        function = event.data["dispatcher"].py_func
        if not self.said and function.__module__.startswith("rankbook."):
            self.said = True
            kept = (
                "kept for next time"
                if event.data["dispatcher"].stats.cache_path
                else f"not kept, as {KEPT.obstacle}"
            )
            print(f"rankbook: compiling for up to {SECONDS} s, {kept}", file=sys.stderr, flush=True)
        super().on_start(event)

    @property
    def seconds(self):
        """Seconds of the compilations that ended."""
        return self.duration if self.done else 0.0


WAITING = Waiting()
event.register("numba:compile", WAITING)


class Compiled:
    """A function that compiled code and Python can call, compiled for each when first called.

    `py_func` is the function itself.
    """

    _all = WeakSet()

    def __init__(self, function, **options):
        functools.update_wrapper(self, function)
        self.options = self.targetoptions = options  # numba looks for `inline` in the latter
        self.py_func, self._inner, self._outer = function, None, None
        Compiled._all.add(self)

    def __call__(self, *args, **kwargs):
        try:
            return self.for_python(*args, **kwargs)
        except (
            OSError,
            EOFError,
            pickle.UnpicklingError,
        ):  # of the cache: compiled code opens no file
            if not KEPT.possible:
                raise
        with _LOCK:
            KEPT.possible = False
            for compiled in Compiled._all:
                compiled._inner = compiled._outer = None
        return self.for_python(*args, **kwargs)

    @property
    def for_compiled(self):
        """The version that compiled code calls."""
        with _LOCK:
            self._inner = self._inner or dispatcher(
                self.py_func, no_cpython_wrapper=True, **self.options
            )
            return self._inner

    @property
    def for_python(self):
        """The version that Python calls."""
        if self._outer is None:
            with _LOCK:
                self._outer = self._outer or dispatcher(self.py_func, ".for_python", **self.options)
        return self._outer


@typeof_impl.register(Compiled)
def _type_of(value, _):
    """What compiled code sees in place of a `Compiled`."""
    return numba.typeof(value.for_compiled)


def njit(function):
    """Compile a function with numba when it is first called; see :class:`Compiled`."""
    return np.errstate(all="ignore")(function) if numba.config.DISABLE_JIT else Compiled(function)


# an option that numba does not document, and may lose: then references are counted, and that is all
IN_PLACE = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


def in_place(function):
    """As :func:`njit`, for a function that makes no array but works in those that it is given.

    No references are counted, so it must not return one either, nor call what
    does. numba refuses a function that makes one.
    """
    return njit(function) if numba.config.DISABLE_JIT else Compiled(function, **IN_PLACE)


def in_caller(function):
    """As :func:`in_place`, for a function that calls others and is called by one.

    It is compiled as a part of that one; from Python it can be called alone.
    """
    return (
        njit(function)
        if numba.config.DISABLE_JIT
        else Compiled(function, inline="always", **IN_PLACE)
    )


def record(**numbers):
    """A record of named numbers, float64 or int64, which compiled code changes in place.

    A number is float64 if a float is given for it.
    """
    kinds = [(name, "f8" if isinstance(x, float) else "i8") for name, x in numbers.items()]
    return np.array([tuple(numbers.values())], dtype=kinds).view(np.recarray)[0]
