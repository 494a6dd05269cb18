"""Compilation with numba, and named records of arrays for compiled code.

The loops of the package are Python functions. numba compiles each of them when it is first called
and keeps the compiled code on disk. A clone therefore needs no compiler, and the code in a chapter
of the book is the code that runs. A release has wheels with compiled code for the usual computers;
it is read where numba would compile the same, and elsewhere numba compiles. More than half of the
time of a compilation is spent in numba's own Python, which infers types and writes LLVM's
intermediate code; LLVM takes the rest. Three rules keep this time short:

- Functions that only compiled code calls are an :class:`Inner`. Their types are inferred once, and
  LLVM optimizes them only as a part of the functions that Python calls.
- Compiled functions use loops in place of assignments of slices and ``np.argsort``, which take ten
  times as long to compile.
- Python collects no garbage during a compilation.

``python -m benchmarks cold`` measures first calls.
"""

import gc
import hashlib
import os
import pickle
import platform
import stat
import sys
import tempfile
import warnings
from contextlib import suppress
from functools import cached_property, lru_cache, reduce, update_wrapper
from pathlib import Path
from uuid import uuid4
from zlib import crc32

import llvmlite
import numba
import numpy as np
import platformdirs
from llvmlite.ir import IntType
from numba.core import cgutils, event, types
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary, get_host_cpu_features
from numba.core.compiler import Compiler, CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.options import DefaultOptions
from numba.core.serialize import dumps
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from .errors import ArgumentError
from .messages import LOG

PACKAGE = Path(__file__).parents[1]
SHIPPED = PACKAGE / "compiled"  # in wheels for one system and version of Python: tools/ship.py
# Sums may be reordered and fused; NaN and infinity keep their meaning.
OPTIONS = dict(
    no_cfunc_wrapper=True, nogil=True, fastmath={"contract", "reassoc"}, error_model="numpy"
)
# No reference counts: an option that numba does not document. Without it they are counted.
IN_PLACE = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
WORD = IntType(64)

if hasattr(os, "register_at_fork"):  # a child process would wait forever for a thread that compiles
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


def cache_root():
    """Return the folder that contains one folder of compiled code for each source version."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(chosen) / "rankbook" if chosen else Path(platformdirs.user_cache_dir("rankbook"))
    return folder / "compiled"


def weakness(folder):
    """Return the reason why another user could put code into a folder, or None.

    The folder and those above it must belong to this user or to root, and no other user may write
    to them. A folder above it may be open if it has the sticky bit, like ``/tmp``: other users
    cannot replace a folder in it that is not theirs.
    """
    if os.name != "posix":
        return None
    for place in (folder, *folder.parents):
        facts = place.stat()
        if facts.st_uid not in (os.geteuid(), 0):
            return f"{place} belongs to another user"
        is_safe = place != folder and facts.st_mode & stat.S_ISVTX
        if facts.st_mode & 0o022 and not is_safe:
            return f"other users may write to {place}"
    return None


def open_folder(folder):
    """Create a folder for compiled code that only this user may enter.

    Returns
    -------
    Path or None
        The folder with links resolved; None if the folder cannot be written. If another user could
        write to it, the function warns and returns None; see :func:`weakness`.
    """
    folder = Path(os.path.realpath(folder))
    try:
        for place in reversed([folder, *folder.parents]):
            if not place.is_dir():
                place.mkdir(0o700, exist_ok=True)
        if reason := weakness(folder):
            warnings.warn(
                f"compiled code is not kept, because {reason}. Remove that permission, or set "
                "NUMBA_CACHE_DIR to a folder of your own.",
                RuntimeWarning,
                stacklevel=2,
            )
            return None
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    return folder


# Settings of numba that change compiled code.
SETTINGS = (
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "EXTEND_VARIABLE_LIFETIMES",
    "LLVM_REFPRUNE_PASS",
    "LLVM_REFPRUNE_FLAGS",
    "USING_SVML",
)


@lru_cache
def build_facts():
    """Return all facts on which compiled code depends, except the processor.

    All sources count, because a compiled function contains the code of the functions that it calls.
    """
    sources = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        sources.update(path.read_bytes())
    return dict(
        sources=sources.hexdigest(),
        python=sys.implementation.cache_tag + getattr(sys, "abiflags", ""),
        system=sys.platform,
        machine=platform.machine().lower(),
        numba=numba.__version__,
        llvmlite=llvmlite.__version__,
        numpy=np.__version__.split(".")[0],
        settings={name: str(getattr(numba.config, name, None)) for name in SETTINGS},
    )


@lru_cache
def cache_folder():
    """Return the user's folder for these sources and this compiler, or None; see `open_folder`."""
    name = hashlib.sha256(repr(build_facts()).encode()).hexdigest()[:16]
    return open_folder(cache_root() / name)


def write_code(path, *content):
    """Replace a file by some objects and their digest; errors of writing are ignored."""
    data = dumps(content)
    unfinished = path.with_suffix(f".{uuid4().hex}")
    try:
        unfinished.write_bytes(hashlib.sha256(data).digest() + data)
        os.replace(unfinished, path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()


def read_code(path):
    """Return the objects in a file, or None if there are none or the digest does not fit."""
    with suppress(OSError):
        stored = path.read_bytes()
        if hashlib.sha256(stored[32:]).digest() == stored[:32]:
            return pickle.loads(stored[32:])


@lru_cache
def shipped_processor():
    """Return the processor for which the package contains compiled code, or None.

    The code counts only if the sources, the compiler and its settings are those of this process,
    and if this computer has all features of that processor.
    """
    config, label = numba.config, read_code(SHIPPED / "label.nbc")
    if label and config.CPU_NAME is None and config.CPU_FEATURES is None:
        facts, features, processor = label
        if facts == build_facts() and features <= {*get_host_cpu_features().split(",")}:
            return processor


class Cache(NullCache):
    """Compiled code of one function on disk, a file for each tuple of argument types and processor.

    Code is read from the package, if there is any for this computer, or from the user's folder. New
    code is kept in the user's folder, if there is one.

    numba's own cache has an index of numbered files. Two processes that add different types at the
    same time can number their files equally, so that one type later runs the other's code. Here the
    name of a file is a digest of the types, so that only equal code is replaced.
    """

    def __init__(self, function, folder):
        line = function.__code__.co_firstlineno
        name = f"{function.__module__.partition('.')[2]}.{function.__qualname__}"
        self.name, self.folder = f"{name}-{line}", folder

    @property
    def cache_path(self):
        """Folder in which new code is kept, or None."""
        return self.folder and str(self.folder)

    def file_name(self, key):
        """Return the name of the file for a key: argument types and processor."""
        return f"{self.name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def load_overload(self, signature, target_context):
        """Return the compiled function for some argument types, or None."""
        target_context.refresh()
        own = target_context.codegen().magic_tuple()
        for folder, processor in (SHIPPED, shipped_processor()), (self.folder, own):
            if folder and processor:
                key = signature, processor
                found = read_code(folder / self.file_name(key))
                if found and found[0] == key:
                    return CompileResult._rebuild(target_context, *found[1])

    def save_overload(self, signature, result):
        """Save a compiled function."""
        if self.folder and not result.library.has_dynamic_globals:
            key = signature, result.codegen.magic_tuple()
            write_code(self.folder / self.file_name(key), key, result._reduce())


def njit(function, **options):
    """Compile a function when it is first called, and cache functions of the package on disk.

    If NUMBA_DISABLE_JIT switches numba off, return the function itself. Like compiled code, it does
    not warn about an overflow or a division by zero.
    """
    if numba.config.DISABLE_JIT:
        return np.errstate(all="ignore")(function)
    made = numba.njit(function, pipeline_class=WholeCompiler, **OPTIONS, **options)
    file = Path(function.__code__.co_filename)
    if file.is_relative_to(PACKAGE) and file.is_file():
        made._cache = Cache(function, cache_folder())
    return made


def in_place(function):
    """Like :func:`njit`, for a function that allocates no arrays.

    References are not counted, so the function must not return an array or call a function that
    returns one. numba refuses a function that allocates an array.
    """
    return njit(function, **IN_PLACE)


class WholeCompiler(Compiler):
    """numba's compiler without garbage collection, which would take a tenth of the time."""

    def compile_extra(self, function):
        """Compile a function for some argument types."""
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(function)
        finally:
            if collects:
                gc.enable()


class IncludedCode(JITCodeLibrary):
    """LLVM code of a function that is only included in other functions.

    LLVM optimizes and translates it there, as a part of its callers. By default numba would do both
    for each function alone, and again for each of its callers.
    """

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalized = True

    def get_pointer_to_function(self, name):
        """Return no address, because there is no machine code."""
        return 0

    @property
    def codegen(self):
        """Return the object that stores addresses of Python objects; none are needed here."""
        return self

    def set_env(self, name, env):
        """Store no address."""


class IncludedCompiler(Compiler):
    """numba's compiler, stopped at the code that other functions include."""

    def compile_extra(self, function):
        """Compile a function for the types of some arguments."""
        self.state.library = IncludedCode(self.state.targetctx.codegen(), function.__qualname__)
        return super().compile_extra(function)


class Inner:
    """A function that only compiled code calls.

    It is compiled with each function that calls it, and kept on disk as a part of that function
    only. A call from Python, for example in a test, compiles another version, which is not kept.
    """

    def __init__(self, function, **options):
        self.py_func, self.options = function, OPTIONS | options
        self.for_compiled = numba.njit(
            function, pipeline_class=IncludedCompiler, no_cpython_wrapper=True, **self.options
        )
        update_wrapper(self, function)

    def __call__(self, *args):
        return self.for_python(*args)

    @cached_property
    def for_python(self):
        """Version that Python calls."""
        return numba.njit(self.py_func, **self.options)


class InnerType(types.Dispatcher):
    """numba's type of an :class:`Inner`, which is compiled once for all literal numbers."""

    def get_call_type(self, context, args, kws):
        """Return the signature of a call."""
        return super().get_call_type(context, [types.unliteral(x) for x in args], kws)


register_model(InnerType)(models.OpaqueModel)  # like numba's own functions


@typeof_impl.register(Inner)
def type_of_inner(function, _):
    """Return numba's type of an :class:`Inner`."""
    return InnerType(function.for_compiled)


def inner(function):
    """Like :func:`in_place`, for a function that only compiled code calls; compiles faster."""
    return njit(function) if numba.config.DISABLE_JIT else Inner(function, **IN_PLACE)


def inner_making(function):
    """Like :func:`inner`, for a function that allocates arrays; references are counted."""
    return njit(function) if numba.config.DISABLE_JIT else Inner(function)


class Waiting(event.TimingListener):
    """Listener that announces the first compilation and sums the seconds."""

    said = False

    def on_start(self, event):
        """Handle the start of a compilation, which may be inside another."""
        made = event.data["dispatcher"]
        if not self.said and made.py_func.__module__.startswith("rankbook."):
            self.said = True
            kept = (
                "kept for next time"
                if made.stats.cache_path
                else f"not kept, as {cache_root()} cannot be used"
            )
            LOG.info("compiling for up to 60 s, %s", kept)
        super().on_start(event)

    @property
    def seconds(self):
        """Seconds of all finished compilations."""
        return self.duration if self.done else 0.0


WAITING = Waiting()
event.register("numba:compile", WAITING)


def record(**numbers):
    """Return a record of named numbers that compiled code can change in place.

    A number given as a float is stored as float64, any other number as int64.
    """
    kinds = [(name, "f8" if isinstance(x, float) else "i8") for name, x in numbers.items()]
    return np.array([tuple(numbers.values())], dtype=kinds).view(np.recarray)[0]


class Bundle:
    """Base class that passes a named tuple of arrays to compiled code as one pointer.

    A subclass has this class as the first parent and ``namedtuple(...)`` as the second. Compiled
    code reads ``s.name`` and changes the entries of arrays. It cannot replace an array or return a
    bundle.
    """

    __slots__ = ()

    @property
    def table(self):
        """Addresses of all fields, and shapes and strides of arrays, as bytes of int64.

        Computed at each call, because a copy of a bundle has other addresses.
        """
        words = []
        for field in self:
            words.append(field.__array_interface__["data"][0])
            if isinstance(field, np.ndarray):
                words += [*field.shape, *field.strides]
        return np.array(words, dtype=np.int64).tobytes()


class BundleType(types.Type):
    """numba's type of a bundle: the type of each field, and the field's position in the table."""

    def __init__(self, label, fields):
        self.key_fields, self.fields, self.places, words = fields, dict(fields), {}, 0
        for name, kind in fields:
            self.places[name] = words
            words += 1 + 2 * getattr(kind, "ndim", 0)
        # part of the name of each function that takes one, so it should be short
        super().__init__(f"{label}_{crc32(repr(fields).encode()):08x}")

    @property
    def key(self):
        """Key that distinguishes the type from other types."""
        return self.name, self.key_fields


@typeof_impl.register(Bundle)
def type_of_bundle(bundle, _):
    """Return numba's type of a bundle.

    Raises
    ------
    TypeError
        If a field is neither an array nor a record.
    """
    fields = tuple((name, numba.typeof(x)) for name, x in zip(bundle._fields, bundle))
    for name, kind in fields:
        if not isinstance(kind, (types.Array, types.Record)):
            raise ArgumentError(f"{name} is of numba's type {kind}", "an array or a record")
    return BundleType(type(bundle).__name__, fields)


register_model(BundleType)(models.OpaqueModel)  # a pointer


@unbox(BundleType)
def table_of(kind, bundle, c):
    """Return the pointer to a bundle that comes from Python."""
    table = c.pyapi.object_getattr_string(bundle, "table")
    return NativeValue(c.pyapi.bytes_as_string(table), cleanup=lambda: c.pyapi.decref(table))


@infer_getattr
class FieldTypes(AttributeTemplate):
    """Resolver of the types of a bundle's fields."""

    key = BundleType

    def generic_resolve(self, kind, name):
        """Return the type of the named field, or None."""
        return kind.fields.get(name)


def load_word(builder, table, place):
    """Load the word at index `place` of a constant table."""
    words = builder.bitcast(table, WORD.as_pointer())
    word = builder.load(builder.gep(words, [WORD(place)]))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


@lower_getattr_generic(BundleType)
def load_field(context, builder, kind, table, name):
    """Load the array or record of this name."""
    field, place = kind.fields[name], kind.places[name]
    address = load_word(builder, table, place)
    if isinstance(field, types.Record):
        return builder.inttoptr(address, context.get_value_type(field))
    words = [load_word(builder, table, place + 1 + i) for i in range(2 * field.ndim)]
    shape, strides = words[: field.ndim], words[field.ndim :]
    array = context.make_array(field)(context, builder)
    array.data = builder.inttoptr(address, array.data.type)
    array.shape, array.strides = (cgutils.pack_array(builder, x, WORD) for x in (shape, strides))
    array.nitems = reduce(builder.mul, shape, WORD(1))
    array.itemsize = WORD(context.get_abi_sizeof(context.get_data_type(field.dtype)))
    array.meminfo = array.parent = cgutils.get_null_value(array.parent.type)  # Python owns it
    return array._getvalue()
