"""Private read-only copies."""

from copy import copy
from functools import cached_property
from types import FunctionType
from typing import Any, Self

import numpy as np

from .errors import ArgumentError, a_type


def own(A):
    """Return a read-only, C-ordered copy of an array of the same type, or None for None."""
    return None if A is None else as_read_only(np.array(A, order="C"))


def as_read_only(A):
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
                f"{name} of {a_type(self)} cannot be changed. Make a new {type(self).__name__}."
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
            raise ArgumentError(f"{min(unknown)} is not an attribute of {a_type(self)}", known)
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
                return views.setdefault(id(value), as_read_only(value))
            if type(value) is tuple:
                return tuple(map(kept, value))
            return type(value)(*map(kept, value)) if hasattr(value, "_fields") else value

        vars(self).update((name, kept(value)) for name, value in state.items())


LENT = "rankbook.kernels", "rankbook.preferences", "rankbook.problems", "scipy.sparse"


def lend(value: Any, known: dict[int, Any] | None = None) -> Any:
    """Return a copy of a problem for a plugin. It shares the arrays, which are read-only.

    The parts of the problem are copied, too. `known` are the copies of values, by their ids.
    """
    known = {} if known is None else known
    if id(value) in known:
        return known[id(value)]
    other = value
    if isinstance(value, np.ndarray) and value.flags.writeable:
        other = as_read_only(value)
    elif isinstance(value, tuple):
        parts = [lend(part, known) for part in value]
        other = type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    elif hasattr(value, "__dict__") and type(value).__module__.startswith(LENT):
        other = known[id(value)] = object.__new__(type(value))
        vars(other).update((name, lend(part, known)) for name, part in list(vars(value).items()))
    known[id(value)] = other
    return other
