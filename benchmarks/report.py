"""The table in Markdown and as CSV, and the machine it was made on."""

import csv
import io
import os
import platform
import shlex
from dataclasses import astuple, fields
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from itertools import takewhile
from pathlib import Path

from threadpoolctl import threadpool_info

from .common import Row
from .rivals import PINS, python_of, versions

PACKAGES = (
    "rankbook numpy scipy scikit-learn numba cvxpy cvxpy-base clarabel piqp lightgbm xgboost "
    "pynndescent lifelines scikit-survival"
).split()
HEADER = (
    "benchmark, what, items, ours (s), quality, peer, peer (s), ours / peer, peer's quality, note"
).split(", ")


def installed(package):
    """The version of a package, or "not installed"."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def processor():
    """The name of the processor."""
    if (file := Path("/proc/cpuinfo")).exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def load():
    """Processes that want a processor, the mean of the last minute, as text."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def machine_facts(command):
    """What the figures depend on as a dict of str: command, date, load, machine and versions.

    Call it before the measurements with the words of the command, and add the load after them.
    """
    blas = {
        f"{one['internal_api']} {one['version']}, threads: {one['num_threads']}"
        for one in threadpool_info()
        if one["user_api"] == "blas"
    }
    return {
        "command": shlex.join(command),
        "date": date.today().isoformat(),
        "load": load(),
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "BLAS": "; ".join(sorted(blas)),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        **{name: installed(name) for name in PACKAGES},
        **{f"{name} elsewhere": versions(name) for name in PINS if python_of(name).is_file()},
    }


def number(value, form=".3g"):
    """A number as the table shows it; nothing for None."""
    return "" if value is None else f"{value:{form}}"


def quality(measure, value):
    """A quality with its name."""
    return (
        "" if value is None else f"{measure} {number(value, '.0e' if 'gap' in measure else '.4g')}"
    )


def shown(value):
    """A cell that is no number with digits; nothing for None."""
    return "" if value is None else str(value)


def table_line(cells):
    """A line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def columns(kind):
    """The names of the table's columns for a kind of row."""
    return HEADER if kind is Row else [field.name for field in fields(kind)]


def markdown_head(kind=Row):
    """The first two lines of the table."""
    return table_line(columns(kind)) + "\n" + table_line(["---"] * len(columns(kind)))


def markdown_row(benchmark, row):
    """A row as a line of the table."""
    if not isinstance(row, Row):
        return table_line([number(x) if isinstance(x, float) else shown(x) for x in astuple(row)])
    return table_line(
        [
            benchmark,
            row.what,
            f"{row.items:,}",
            number(row.seconds),
            quality(row.measure, row.quality),
            row.peer,
            number(row.peer_seconds),
            number(row.ratio),
            quality(row.measure, row.peer_quality),
            row.note,
        ]
    )


def as_markdown(found, facts):
    """Table, remark and machine; `found` has pairs (benchmark, Row)."""
    kind = type(found[0][1])
    lines = [markdown_head(kind), *(markdown_row(*pair) for pair in found), "", kind.REMARK, ""]
    return "\n".join(lines + [f"- {name}: {value}" for name, value in facts.items()]) + "\n"


def head(facts):
    """The facts as lines that begin with `#`, which readers of a table skip."""
    return "".join(f"# {name}: {value}\n" for name, value in facts.items())


def read_facts(path):
    """The facts in the head of a table, as a dict of str; empty for a table without a head."""
    with Path(path).open(encoding="utf-8") as file:
        lines = [line[2:].rstrip("\n") for line in takewhile(lambda x: x.startswith("# "), file)]
    return dict(line.split(": ", 1) for line in lines)


def as_csv(found, facts):
    """The same as CSV, after the head."""
    text = io.StringIO()
    text.write(head(facts))
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["benchmark", *(field.name for field in fields(found[0][1]))])
    for benchmark, row in found:
        values = (f"{x:.4g}" if isinstance(x, float) else x for x in astuple(row))
        table.writerow([benchmark, *values])
    return text.getvalue()


def write_frame(path, frame, facts, float_format=None):
    """Write a data frame, after the head, to a file."""
    text = frame.to_csv(index=False, float_format=float_format, lineterminator="\n")
    Path(path).write_text(head(facts | {"load": f"{facts['load']} to {load()}"}) + text, "utf-8")
