"""Named records of arrays for compiled code."""

from functools import reduce
from zlib import crc32

import numba
import numpy as np
from llvmlite.ir import IntType
from numba.core import cgutils, types
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

WORD = IntType(64)


class Bundle:
    """What makes a named tuple of arrays and records one pointer in compiled code.

    A class of bundles has it as its first parent, and ``namedtuple(...)`` as its second. Compiled
    code reads ``s.name`` and changes what is in the arrays; it cannot put another array in
    place, nor return a bundle.
    """

    __slots__ = ()

    @property
    def table(self):
        """The address of each field, and the shape and strides of an array, as bytes of int64.

        Made anew when asked for, as the copy of a bundle has other addresses.
        """
        words = []
        for field in self:
            words.append(field.__array_interface__["data"][0])
            if isinstance(field, np.ndarray):
                words += [*field.shape, *field.strides]
        return np.array(words, dtype=np.int64).tobytes()


class BundleType(types.Type):
    """numba's type of a bundle: the type of each field, and its place in the table."""

    def __init__(self, label, fields):
        self.key_fields, self.fields, self.places, words = fields, dict(fields), {}, 0
        for name, kind in fields:
            self.places[name] = words
            words += 1 + 2 * getattr(kind, "ndim", 0)
        # a part of the name of each function that takes one, so it should be short
        super().__init__(f"{label}_{crc32(repr(fields).encode()):08x}")

    @property
    def key(self):
        """What tells it from other types."""
        return self.name, self.key_fields


@typeof_impl.register(Bundle)
def type_of_bundle(bundle, _):
    """The type of a bundle.

    Raises
    ------
    TypeError
        If a field is neither an array nor a record.
    """
    fields = tuple((name, numba.typeof(x)) for name, x in zip(bundle._fields, bundle))
    for name, kind in fields:
        if not isinstance(kind, (types.Array, types.Record)):
            raise TypeError(f"{name} is of numba's type {kind}; an array or a record is accepted.")
    return BundleType(type(bundle).__name__, fields)


register_model(BundleType)(models.OpaqueModel)  # a pointer


@unbox(BundleType)
def table_of(kind, bundle, c):
    """The pointer for a bundle that comes from Python."""
    table = c.pyapi.object_getattr_string(bundle, "table")
    return NativeValue(c.pyapi.bytes_as_string(table), cleanup=lambda: c.pyapi.decref(table))


@infer_getattr
class FieldTypes(AttributeTemplate):
    """Which type a field has."""

    key = BundleType

    def generic_resolve(self, kind, name):
        """The type of the field of this name, or None."""
        return kind.fields.get(name)


def load_word(builder, table, place):
    """A word of a table that does not change."""
    words = builder.bitcast(table, WORD.as_pointer())
    word = builder.load(builder.gep(words, [WORD(place)]))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


@lower_getattr_generic(BundleType)
def load_field(context, builder, kind, table, name):
    """The array or record of this name."""
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
