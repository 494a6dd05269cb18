"""What help() shows: an example for every public name, which runs, and no way into a blind alley.

Public are the names that rankbook, its metrics, kernels, plots, datasets and testing list, and the
public methods and properties of the classes among them.
"""

import doctest
import functools
import inspect
import pkgutil
import pydoc
import re
import sys
from types import ModuleType

import pytest

import rankbook
from rankbook import datasets, kernels, metrics, plots, testing

MODULES = [rankbook, metrics, kernels, plots, datasets, testing]
EXCEPTIONS = {"rankbook.data.datasets.PARTS": "a tuple of three words, without a docstring"}
FILES = ["load_mixture", "load_auto", "load_diabetes", "load_optdigits", "load_mq2008"]
STYLE = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
ROLE = re.compile(r":(?:func|class|meth|mod|data|attr|exc|obj):`~?([^`]*)`")
PRIVATE = re.compile(r"(?<![\w\]])_+[a-zA-Z]\w*")


def public_names():
    """Every public object but modules, once, by the first name that it has."""
    found = {}
    for module in MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            if not isinstance(value, ModuleType) and value not in found.values():
                found[f"{module.__name__}.{name}"] = value
    return found


def function_of(member):
    """The function behind a method or a property; None for other attributes of a class."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, functools.cached_property):
        return member.func
    member = getattr(member, "__func__", member)
    return member if inspect.isfunction(member) else None


def public_methods(cls):
    """The public methods and properties of a class that the package itself defines."""
    for name in dir(cls):
        function = function_of(inspect.getattr_static(cls, name))
        if not name.startswith("_") and function is not None:
            if function.__module__.startswith("rankbook."):
                yield name, function


def docstrings():
    """Of modules, public names and public methods: (docstring, where its words are looked up).

    They are looked up in a class and in the module where the docstring was written.
    """
    found = {module.__name__: (module.__doc__, [module]) for module in MODULES}
    for name, value in NAMES.items():
        if name in EXCEPTIONS:
            continue
        found[name] = (value.__doc__, [value, sys.modules[value.__module__]])
        if inspect.isclass(value):
            for method, function in public_methods(value):
                places = [value, sys.modules[function.__module__]]
                found[f"{name}.{method}"] = (function.__doc__ or "", places)
    return {name: (inspect.cleandoc(text), places) for name, (text, places) in found.items()}


NAMES = public_names()
DOCSTRINGS = docstrings()
EXAMPLES = {text: name for name, (text, _) in DOCSTRINGS.items() if ">>>" in text}


def test_the_public_names_are_found():
    assert len(NAMES) > 80 and len(DOCSTRINGS) > 2 * len(NAMES)
    assert {"rankbook.RankSVM", "rankbook.metrics.ndcg", "rankbook.testing.CheckTable"} <= set(
        NAMES
    )
    assert {"rankbook.RankSVM.fit", "rankbook.Preferences.from_pairs"} <= set(DOCSTRINGS)
    assert "rankbook.ValidationCurve.best" in DOCSTRINGS  # a property
    assert set(EXCEPTIONS) <= set(NAMES)
    assert all(f"rankbook.data.datasets.{name}" in NAMES for name in FILES)


def test_every_public_name_has_an_example():
    texts = {name: DOCSTRINGS[name][0] for name in set(NAMES) - set(EXCEPTIONS)}
    assert [n for n, text in texts.items() if "Examples\n--------\n>>>" not in text] == []


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            text,
            name,
            id=name.removeprefix("rankbook."),
            marks=[pytest.mark.data] if name.split(".")[-1] in FILES else [],
        )
        for text, name in EXAMPLES.items()
    ],
)
def test_an_example_gives_what_it_shows(text, name, workplace):
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    said = []
    doctest.DocTestRunner(optionflags=STYLE, verbose=False).run(test, out=said.append)
    if any("matplotlib" in type(value).__module__ for value in test.globs.values()):
        import matplotlib.pyplot as plt

        plt.close("all")
    assert not said, "".join(said)


def test_an_example_that_is_wrong_is_told():
    text = ">>> import rankbook as rb\n>>> len(rb.Preferences([1], [0], 2))\n2"
    test = doctest.DocTestParser().get_doctest(text, {}, "wrong", None, 0)
    said = []
    result = doctest.DocTestRunner(optionflags=STYLE, verbose=False).run(test, out=said.append)
    assert result.failed == 1 and "Got:\n    1" in "".join(said)


def leads_somewhere(target, places):
    """Whether a dotted name can be reached from one of some places, or imported."""
    parts = target.split(".")
    for place in places:
        try:
            functools.reduce(getattr, parts, place)
            return True
        except AttributeError:
            pass
    try:
        pkgutil.resolve_name(target)
        return True
    except (ImportError, AttributeError, ValueError):
        return False


def test_help_never_leads_to_a_private_name_or_nowhere():
    assert [
        (name, target)
        for name, (text, places) in DOCSTRINGS.items()
        for target in [*PRIVATE.findall(text), *ROLE.findall(text)]
        if PRIVATE.search(target) or not leads_somewhere(target, places)
    ] == []


def test_no_signature_has_a_private_name():
    private = re.compile(r"rankbook[\w.]*\._[a-zA-Z]\w*")
    shown = {name: pydoc.plain(pydoc.render_doc(value)) for name, value in NAMES.items()}
    assert [(n, private.findall(text)) for n, text in shown.items() if private.search(text)] == []


def test_blind_alleys_are_recognised():
    assert PRIVATE.findall("see `_solve` and rankbook.base._jit, not coef_ or |w|_1 or sum_j") == [
        "_solve",
        "_jit",
    ]
    assert leads_somewhere("from_pairs", [rankbook.Preferences])
    assert leads_somewhere("rankbook.kernels.kernel.Kernel", [rankbook])
    assert not leads_somewhere("rankbook.kernels.kernel.Kern", [rankbook])
    assert ROLE.findall("of :func:`rankbook.solve`, :class:`Solution`") == [
        "rankbook.solve",
        "Solution",
    ]
