"""Public names with their parameters, and the list of them in the last version.

python tests/public_names.py    write the list, as a step of each release
"""

import inspect
from functools import cached_property
from pathlib import Path
from types import FunctionType

import rankbook as rb

STORED = Path(__file__).with_suffix(".txt")
METHODS = FunctionType, property, cached_property
MODULES = "datasets", "kernels", "metrics", "plots", "testing"


def signature(thing):
    """The signature of what has one; otherwise an empty one."""
    try:
        return inspect.signature(thing)
    except (TypeError, ValueError):
        return inspect.Signature()


def own_members(kind):
    """Public attributes of a class that a class of this package defines."""
    ours = [each for each in kind.__mro__ if each.__module__.startswith("rankbook")]
    return {name: found for each in ours[::-1] for name, found in vars(each).items()}


def public_objects():
    """Return a dict from each public name to the function, class or property."""
    objects = {f"rb.{name}": getattr(rb, name) for name in rb.__all__ if name not in MODULES}
    for name in MODULES:
        module = getattr(rb, name)
        objects |= {f"rb.{name}.{each}": getattr(module, each) for each in module.__all__}
    for name, kind in list(objects.items()):
        for member, found in own_members(kind).items() if inspect.isclass(kind) else ():
            method = getattr(found, "__func__", found)
            if not member.startswith("_") and isinstance(method, METHODS):
                objects[f"{name}.{member}"] = method
    return objects


def public_names():
    """Return a dict from each public name to the set of its parameters."""
    found = {name: set(signature(thing).parameters) for name, thing in public_objects().items()}
    return {name: parameters - {"self"} for name, parameters in found.items()}


def stored_names():
    """Return the names of the last version as :func:`public_names` does."""
    lines = STORED.read_text(encoding="utf-8").splitlines()
    pairs = [line.rstrip(")").split("(") for line in lines if not line.startswith("#")]
    return {name: set(filter(None, listed.split(", "))) for name, listed in pairs}


if __name__ == "__main__":
    names = sorted(public_names().items())
    lines = [f"{name}({', '.join(sorted(found))})" for name, found in names]
    text = "\n".join([f"# {rb.__version__}", *lines, ""])
    STORED.write_text(text, encoding="utf-8")
