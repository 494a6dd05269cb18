"""The tables of measurements that notebooks show: what made each of them, and with which version.

A table is older than the package if its minor version is. Measure it again with the command in its
head, or name it in OLD with the reason why it was not.
"""

import configparser
import importlib.util
import re
from pathlib import Path

import pytest

NBS = Path(__file__).resolve().parents[1] / "nbs"
TABLES = sorted(path.relative_to(NBS).as_posix() for path in NBS.rglob("*.csv"))
OLD = {}
# What the head of a table states; other packages stand beside these.
FACTS = ["command", "date", "load", "processor", "cores", "BLAS", "system", "Python", "rankbook"]
FACTS += ["numpy", "scipy", "scikit-learn", "numba"]


def head(text):
    """The facts that a table states before its first row, as a dict of str."""
    lines = text.splitlines()
    found = {}
    while lines and lines[0].startswith("# "):
        name, _, value = lines.pop(0)[2:].partition(": ")
        found[name] = value
    return found


def minor(version):
    """The first two numbers of a version."""
    return tuple(map(int, re.match(r"(\d+)\.(\d+)", version).groups()))


def fault(facts, now):
    """What is wrong with the head of a table for a version of the package, or ""."""
    if missing := [name for name in FACTS if not facts.get(name)]:
        return f"does not state {', '.join(missing)}"
    oldest = facts.get("oldest rows", facts["rankbook"]).removeprefix("rankbook ")
    if minor(oldest) < minor(now):
        return f"was measured with {oldest}: {facts['command']}"
    return ""


@pytest.fixture(scope="module")
def now():
    settings = configparser.ConfigParser(delimiters=["="])
    settings.read(NBS.parent / "settings.ini", encoding="utf-8")
    return settings["DEFAULT"]["version"]


def test_stored_tables_are_of_this_version(now):
    faults = {
        name: what
        for name in TABLES
        if (what := fault(head((NBS / name).read_text(encoding="utf-8")), now))
    }
    assert {name: faults[name] for name in faults if name not in OLD} == {}
    assert sorted(OLD) == sorted(set(OLD) & set(faults)), "a table in OLD is of this version"
    assert all(OLD.values())


def test_a_head_is_judged_by_its_oldest_rows():
    whole = dict.fromkeys(FACTS, "stated")
    judged = lambda now, **facts: fault(whole | facts, now)
    assert judged("0.3.0.dev0", rankbook="0.3.0.dev0") == ""
    assert judged("0.3.2", rankbook="0.3.0") == ""
    assert judged("0.10.0", rankbook="0.9.0").startswith("was measured with 0.9.0")
    assert "0.2.0" in judged("0.3.0", rankbook="0.3.0", **{"oldest rows": "rankbook 0.2.0"})
    assert judged("0.3.0", rankbook="0.3.0", date="") == "does not state date"
    assert fault(head("a,b\n1,2\n"), "0.3.0").startswith("does not state command")


def test_a_table_states_no_folder_of_the_machine():
    texts = {name: (NBS / name).read_text(encoding="utf-8") for name in TABLES}
    commands = [head(text).get("command", "") for text in texts.values()]
    assert not [command for command in commands if re.search(r"(^|\s)/", command)]


def test_contributing_names_the_command_of_each_table():
    guide = (NBS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [name for name in TABLES if f"`nbs/{name}`" not in guide] == []


def script(name):
    """A script of tools/ as a module."""
    path = NBS.parent / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_scripts_of_the_speed_tables_run(monkeypatch):
    large, path = script("large_speed"), script("path_speed")
    problem = large.graded(1000)
    for run in (large.newton_gaps, large.bundle_gaps):
        assert 0 <= run(problem, 0.1 * len(problem.prefs), 1e-2)[-1][1] <= 1e-2
    monkeypatch.setattr(path, "EVENTS", 100)
    name, small = next(path.problems())
    rows = list(path.segments(name, small))
    assert len(rows) > 3 and all(row["m"] == 625 and row["free"] > 0 for row in rows)
    assert all(a["lam"] > b["lam"] for a, b in zip(rows, rows[1:]))
