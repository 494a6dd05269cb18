"""``rankbook info``: what a saved model or path is, without loading it."""

import json
import textwrap
from typing import Annotated, Any

import typer

from .predict import named
from .report import say


def info_lines(facts: dict[str, Any]) -> list[str]:
    """Lines of text about a file.

    Parameters
    ----------
    facts : dict
        From :func:`rankbook.estimators.storage.file_facts`.

    Returns
    -------
    list of str
    """
    plain = ("class", "solver", "status", "written_by")
    later = "" if facts["readable"] else ", which this rankbook cannot read"
    rows = [("file", f"{facts['file']}, {facts['bytes']} bytes")]
    rows += [("kind", f"{facts['kind']}, version {facts['version']}{later}")]
    rows += [(name.replace("_", " "), facts[name]) for name in plain if name in facts]
    given = facts.get("parameters") or facts.get("problem") or {}
    rows += [("parameters", _pairs(given))] if given and isinstance(given, dict) else []
    sizes = {name: facts[name] for name in ("n_features_in", "lam", "gamma") if name in facts}
    rows += [("fitted", _pairs(sizes))] if sizes else []
    names = facts.get("feature_names_in") or facts.get("columns")
    rows += [("features", ", ".join(names))] if isinstance(names, list) else []
    rows += [("about", _pairs(facts["about"]))] if facts.get("about") else []
    for name in ("certificate", "exact_certificate"):
        if isinstance(facts.get(name), dict):
            rows.append((name.split("_")[0], _certificate_line(facts[name], "exact" in name)))
    rows += [("arrays" * (not i), text) for i, text in enumerate(_array_lines(facts["arrays"]))]
    rows.append(("checksum", f"SHA-256, {facts['checksum']}"))
    wide = dict(width=100, subsequent_indent=" " * 13, break_long_words=False)
    return [textwrap.fill(f"{label:13}{text}", **wide) for label, text in rows]


def _pairs(values):
    """name=value, one after another."""
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def _certificate_line(certificate, exact):
    """Primal, dual and gap, and what they are of."""
    primal, dual, gap = (float(certificate[k]) for k in ("primal", "dual", "relative_gap"))
    of = ", of the kernel itself" if exact else ""
    return f"primal {primal:.10g}, dual {dual:.10g}, relative gap {abs(gap):.1e}{of}"


def _array_lines(arrays):
    """The name of each array without what all names have in common, and its type and shape."""
    return [f"{name.removeprefix('model.fitted.')}: {shape}" for name, shape in arrays.items()]


FileName = Annotated[str, typer.Argument(metavar="FILE", help="Of a saved model or path.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


def info(file: FileName, as_json: AsJson = False):
    """Say what a saved model or path is.

    That is its class, parameters, sizes, certificate and checksum.
    """
    from rankbook.estimators.storage import file_facts

    with named("FILE", file):
        facts = file_facts(file)
    text = json.dumps(facts, indent=2, allow_nan=False) if as_json else "\n".join(info_lines(facts))
    say(text)
