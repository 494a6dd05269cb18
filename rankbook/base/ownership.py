"""Private read-only copies, and seals against changes."""

from copy import copy
from functools import cached_property
from types import FunctionType, NoneType
from typing import Any, Self

import numpy as np

from .errors import ArgumentError, a_type


def own(A):
    """Return a read-only, C-ordered copy of an array of the same type, or None for None."""
    return None if A is None else locked(np.array(A, order="C"))


def locked(A):
    """Return a read-only view of an array that has no other reference."""
    view = A.view()
    view.flags.writeable = False
    return view


def writable(view):
    """Return an array as writable for compiled code, which must not write to it.

    For read-only arrays the code would have to be compiled again.
    """
    if view.flags.writeable or not getattr(view.base, "flags", view.flags).writeable:
        return view
    opened = view.view()
    opened.flags.writeable = True
    return opened


def writable_matrix(A):
    """Return a C-ordered writable matrix; a copy if the given matrix is neither."""
    return np.require(writable(A), requirements=("C", "W"))


class SetOnce:
    """Base class of objects whose public attributes can be set only once."""

    def __setattr__(self, name, value):
        made = isinstance(
            getattr(type(self), name, None), (FunctionType, property, cached_property)
        )
        if (name in self.__dict__ or made) and not name.startswith("_"):
            raise AttributeError(
                f"{name} of {a_type(self)} is set once; "
                f"make a new {type(self).__name__} to change it."
            )
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        raise AttributeError(f"{name} of {a_type(self)} cannot be removed.")

    def replaced(self, **values: Any) -> Self:
        """Make a shallow copy with other values of some existing attributes.

        Values computed from the attributes are not copied; they are computed again when read.
        """
        made = {
            name
            for kind in type(self).__mro__
            for name, value in vars(kind).items()
            if isinstance(value, cached_property)
        }
        unknown = set(values) - set(vars(self)) - made
        if unknown:
            known = ", ".join(name for name in vars(self) if not name.startswith("_"))
            raise ArgumentError(f"{min(unknown)} is no attribute that {a_type(self)} keeps", known)
        other = copy(self)
        for name in made:
            vars(other).pop(name, None)
        vars(other).update(values)
        return other

    def __setstate__(self, state):
        """Restore an object from a pickle or a copy, with read-only arrays."""
        views = {}  # shared arrays stay shared

        def kept(value):
            if isinstance(value, np.ndarray) and value.flags.writeable:
                return views.setdefault(id(value), locked(value))
            return value

        vars(self).update(
            (name, tuple(map(kept, value)) if type(value) is tuple else kept(value))
            for name, value in state.items()
        )


# random factors of the words of a checksum; sums of 512 products stay below 2^53 and are exact
KEY = np.random.default_rng().integers(1, 1 << 13, (512, 2)).astype(float)


def checksum(A):
    """Return a checksum of the contents, shape, type and lock of an array. O(size)."""
    if A.dtype.hasobject:
        return hash((A.shape, A.tobytes()))
    raw = np.ravel(A, order="K").view(np.uint8)
    whole = raw.size // 2048 * 2048
    words = raw[:whole].view(np.int32).reshape(-1, 512)
    parts = [(words[i : i + 512].astype(float) @ KEY).tobytes() for i in range(0, len(words), 512)]
    rest = raw[whole:].tobytes()
    return hash((A.shape, A.strides, A.dtype.str, A.flags.writeable, *parts, rest))


def same(one, other):
    """Return whether two values of a cached attribute agree."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return checksum(one) == checksum(other)
    if type(one) is type(other) is tuple:
        return len(one) == len(other) and all(map(same, one, other))
    return one == other if isinstance(one, (int, float, str)) else True


class Seal:
    """Record of an object's contents that detects later changes.

    A copy or a pickle of a seal is None, because a seal belongs to one object.
    """

    KINDS = ("rankbook.kernels", "rankbook.preferences", "rankbook.problems", "scipy.sparse")

    def __init__(self, owner: Any) -> None:
        self.owner, self.held, self.arrays = owner, {}, {}
        self._look("", owner)

    def __reduce__(self):
        return type(None), ()

    def _look(self, label, value):
        """Record an array, or the attributes of an object and of its classes."""
        if id(value) in self.held or id(value) in self.arrays:
            return
        if isinstance(value, np.ndarray):
            self.arrays[id(value)] = label, value, checksum(value)
        elif isinstance(value, tuple):
            for part in value:
                self._look(label, part)
        elif isinstance(value, SetOnce) or type(value).__module__.startswith(self.KINDS):
            for each in (value, *type(value).__mro__[:-1]):
                if not str(getattr(each, "__module__", "")).startswith("scipy.") or each is value:
                    self.held[id(each)] = label, each, dict(vars(each))
            for name, part in self.held[id(value)][2].items():  # other threads may add entries
                if not isinstance(part, (int, float, str, NoneType)):
                    self._look(f"{label}.{name}".lstrip("."), part)

    def check(self, who: str) -> None:
        """Raise a RuntimeError that names `who` if the object was changed, and restore
        attributes."""
        found = [label for label, A, known in self.arrays.values() if checksum(A) != known]
        for label, part, before in self.held.values():
            now = vars(part)
            # copyreg notes __slotnames__ in a class when it first copies an instance
            new = now.keys() - before - {"__slotnames__"}
            for name in [n for n in before if now.get(n) is not before[n]] + [*new]:
                # computing or dropping a cached value is allowed
                was, value, known = before.get(name), now.get(name), getattr(type(part), name, None)
                made = name.startswith("_") or isinstance(known, cached_property)
                unknown = name not in before and not hasattr(type(part), name)
                kept = made and (was is None or value is None or same(was, value))
                if isinstance(part, type) or not (unknown or kept):
                    found.append(f"{label}.{name}".lstrip("."))
                if isinstance(part, type):
                    setattr(part, name, before[name]) if name in before else delattr(part, name)
                elif name in before:
                    now[name] = before[name]
                else:
                    now.pop(name, None)
        if found:
            raise RuntimeError(
                f"{who} changed `{found[0]}` of the {type(self.owner).__name__} that it was given, "
                "so its answer is refused. Make the problem anew, and use another solver."
            )
