"""Models as JSON and arrays."""

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .archive import NUMBERS
from .ownership import locked

BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")  # that numpy comes with
LARGEST_TEXT = 10**7  # bytes of an array of fixed width: a short file must not ask for a long one
DEEPEST = 50  # levels of values inside values; a fitted model has about ten


class Storable(NamedTuple):
    """How objects of a class are taken apart and put together; the class must be that itself."""

    kind: type
    parts_of: Callable[[Any], dict[str, Any]]
    made_of: Callable[..., Any]


class Unstorable(ValueError):
    """A value that a file cannot hold, with its place among the values."""


def _plain(value, where, writer):
    """JSON for None, bools, strings and numbers, or None for anything else; in a list of one."""
    kind = type(value)
    if value is None or kind in (bool, str, int):
        return [value]
    if kind is float:
        return [value if math.isfinite(value) else {"$float": repr(value)}]
    if isinstance(value, (np.number, np.bool_)) and value.dtype.kind in NUMBERS:
        return [{"$number": [value.dtype.str, writer.write(value.item(), where)]}]
    return None


def _require_small(text, objects, where):
    """Refuse an array of text in which one long word would make room for each of many."""
    size = 0 if objects else 4 * len(text) * max(map(len, text), default=0)
    if size > LARGEST_TEXT:
        raise Unstorable(
            f"{where} is an array of text of {size:,} bytes, which a file cannot hold; "
            f"one of dtype object, or of at most {LARGEST_TEXT:,} bytes, is accepted"
        )


def _random_state(value):
    """The kind and the state of a numpy generator as a dict."""
    if isinstance(value, np.random.RandomState):
        return dict(kind="RandomState", state=value.get_state(legacy=False))
    return dict(kind="Generator", state=value.bit_generator.state)


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
    """

    def __init__(self, kinds: dict[str, Storable]) -> None:
        self.kinds = {entry.kind: (name, entry) for name, entry in kinds.items()}
        self.arrays, self.seen = {}, {}

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
        if plain := _plain(value, where, self):
            return plain[0]
        if id(value) in self.seen:
            return {"$same": self.seen[id(value)][0]}
        if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            items = [self.write(item, f"{where}.{i}") for i, item in enumerate(value)]
            return items if type(value) is list else {"$tuple": items}
        if type(value) is dict:
            pairs = [
                [self.write(key, where), self.write(part, f"{where}.{key}")]
                for key, part in value.items()
            ]
            return {"$dict": pairs}
        if isinstance(value, (np.random.Generator, np.random.RandomState)):
            return {"$random": self.write(_random_state(value), where)}
        return self._object(value, where)

    def _object(self, value, where):
        """An array, or an object of one of the kinds."""
        number = len(self.seen)
        self.seen[id(value)] = number, value  # kept, so that nothing else gets its id
        if type(value) is np.ndarray:
            return {"$array": self._array(value, where), "number": number}
        if type(value) not in self.kinds:
            raise Unstorable(f"{where} is a {type(value).__name__}, which a file cannot hold")
        name, entry = self.kinds[type(value)]
        parts = [[k, self.write(v, f"{where}.{k}")] for k, v in entry.parts_of(value).items()]
        return {"$object": name, "number": number, "parts": parts}

    def _array(self, array, where):
        """The name of an array of numbers; for a vector of text the text itself."""
        if array.dtype.kind in NUMBERS:
            name = re.sub(r"[^\w.]", "_", where, flags=re.ASCII)
            name = name if name not in self.arrays else f"{name}.{len(self.arrays)}"
            self.arrays[name] = array
            return name
        text = array.tolist()
        if array.ndim == 1 and all(type(word) is str for word in text):
            _require_small(text, array.dtype.kind == "O", where)
            return dict(text=text, objects=array.dtype.kind == "O")
        raise Unstorable(f"{where} has dtype {array.dtype}, which a file cannot hold")


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
        if isinstance(written, list):
            return [self.read(item) for item in written]
        if not isinstance(written, dict):
            return written
        mark = next((key for key in written if key.startswith("$")), None)
        read = dict(
            [
                ("$float", self._float),
                ("$number", self._number),
                ("$tuple", lambda items: tuple(self.read(items))),
                ("$dict", lambda pairs: {self.read(key): self.read(item) for key, item in pairs}),
                ("$random", self._random),
                ("$same", self._same),
            ]
        ).get(mark)
        if read is not None:
            return read(written[mark])
        if mark not in ("$array", "$object"):
            raise ValueError(f"{mark} is no mark of a value")
        value = (self._array if mark == "$array" else self._object)(written)
        self.seen[written["number"]] = value, self.size, self.depth
        return value

    def _same(self, number):
        """The earlier value with this number, which counts with its whole size and depth."""
        value, self.size, self.depth = self.seen[number]
        return value

    def _float(self, text):
        if text not in ("inf", "-inf", "nan"):
            raise ValueError(f"{text!r} is no float")
        return float(text)

    def _number(self, written):
        dtype = np.dtype(str(written[0]))
        if dtype.kind not in NUMBERS or dtype.hasobject:
            raise ValueError(f"{dtype} is no type of a number")
        return dtype.type(self.read(written[1]))

    def _random(self, written):
        said = self.read(written)
        name = said["state"]["bit_generator"]
        if said["kind"] not in ("Generator", "RandomState") or name not in BIT_GENERATORS:
            raise ValueError(f"{said['kind']} of {name} is no generator of numpy's own")
        bits = getattr(np.random, name)(0)
        made = getattr(np.random, said["kind"])(bits)
        if said["kind"] == "Generator":
            bits.state = said["state"]
        else:
            made.set_state(said["state"])
        return made

    def _array(self, written):
        if isinstance(written["$array"], str):
            return self.arrays[written["$array"]]
        text, objects = written["$array"]["text"], written["$array"]["objects"]
        if not all(isinstance(word, str) for word in text):
            raise ValueError("a vector of text holds what is none")
        _require_small(text, objects, "a vector")
        return locked(np.array(text, dtype=object if objects else np.str_))

    def _object(self, written):
        if written["$object"] not in self.kinds:
            raise ValueError(f"{written['$object']!r} is no kind of object that is known here")
        parts = {key: self.read(part) for key, part in written["parts"]}
        return self.kinds[written["$object"]].made_of(**parts)
