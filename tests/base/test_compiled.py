"""Compiled code is kept where it may be and never stale.

It is announced when it has to be made, and not needed at all.
"""

import ast
import gc
import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.codegen import get_host_cpu_features

from rankbook.base import jit
from rankbook.base.jit import in_place, inner, njit
from rankbook.base.progress import telling_compilation

PACKAGE = Path(jit.__file__).parents[1]


@pytest.fixture
def checkout(tmp_path):
    """A copy of the package on which a test may work, beside a folder for its cache."""
    (tmp_path / "src" / "rankbook" / "base").mkdir(parents=True)
    for name in (
        "__init__.py",
        "__init__.pyi",
        "base/__init__.py",
        "base/errors.py",
        "base/jit.py",
        "base/messages.py",
        "base/tables.py",
    ):
        shutil.copy(PACKAGE / name, tmp_path / "src" / "rankbook" / name)
    write(tmp_path, "inner", "@njit\ndef factor():\n    return 2\n")
    write(
        tmp_path,
        "outer",
        "from rankbook.inner import factor\n@njit\ndef times(x):\n    return factor() * x\n",
    )
    return tmp_path


def write(checkout, name, text):
    (checkout / "src" / "rankbook" / f"{name}.py").write_text(
        f"from rankbook.base.jit import njit\n{text}"
    )


def environment(checkout, **variables):
    """That of a newcomer, but for the place of the cache."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("NUMBA_", "RANKBOOK_"))
    }
    return (
        kept
        | dict(
            XDG_CACHE_HOME=str(checkout / "cache"),
            NUMBA_CACHE_DIR=str(checkout / "cache"),
            PYTHONPATH=str(checkout / "src"),
            # Python's own cache knows a source by its size and the second of its last change
            PYTHONDONTWRITEBYTECODE="1",
        )
        | variables
    )


def start(checkout, code="from rankbook.outer import times; print(times(21))", **variables):
    return subprocess.Popen(
        [sys.executable, "-c", code],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=checkout,
        env=environment(checkout, **variables),
    )


def run(checkout, *code, **variables):
    """What a process prints on stdout and on stderr; it must not fail."""
    process = start(checkout, *code, **variables)
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out.strip(), err


def entries(checkout):
    return sorted(path.name for path in (checkout / "cache").rglob("*.nbc"))


def states(checkout):
    return list((checkout / "cache" / "rankbook" / "compiled").iterdir())


def test_the_second_process_compiles_nothing_and_says_nothing(checkout):
    first, said = run(checkout)
    assert first == "42" and said == "rankbook: compiling for up to 60 s, kept for next time\n"
    assert [name.split("-")[0] for name in entries(checkout)] == [
        "inner.factor",
        "outer.times",
    ]
    assert run(checkout) == ("42", "")
    assert not list((checkout / "src").rglob("*.nb?"))  # nothing is written beside the sources


def test_an_edit_in_a_function_that_is_called_elsewhere_is_seen(checkout):
    """The case in which numba's own cache is stale."""
    assert run(checkout)[0] == "42"
    write(checkout, "inner", "@njit\ndef factor():\n    return 3\n")
    out, said = run(checkout)
    assert out == "63" and "compiling" in said and len(states(checkout)) == 2


def test_functions_of_scripts_and_plugins_are_not_kept(checkout):
    (checkout / "src" / "plugin.py").write_text(
        "from rankbook.base.jit import njit\n@njit\ndef half(x):\n    return x / 2\n"
    )
    assert run(checkout, "from plugin import half; print(half(3.0))") == ("1.5", "")
    assert entries(checkout) == []


def test_without_a_writable_folder_there_is_no_cache_and_no_failure(checkout):
    (checkout / "cache").write_text("a file where a folder should be")
    out, said = run(checkout)
    assert (
        out == "42"
        and said.count("\n") == 1
        and "not kept" in said
        and str(checkout / "cache") in said
    )
    assert not list((checkout / "src").rglob("*.nb?"))


@pytest.mark.parametrize("when", ["before", "within"])
def test_a_folder_that_breaks_while_a_process_runs(checkout, when):
    """`within`: the disk fails when the first result is written, after one function was set up."""
    broken = "folder = jit.cache_folder(); shutil.rmtree(folder); folder.write_text('')\n"
    load = "from rankbook import outer\n"
    code = "import shutil; from rankbook.base import jit\n" + (
        broken + load if when == "before" else load + broken
    )
    out, said = run(checkout, f"{code}print(outer.times(21))")
    assert out == "42" and not list((checkout / "src").rglob("*.nb?"))


def flip(data):
    """Change the bit in the middle."""
    place = len(data) // 2
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@pytest.mark.parametrize("damage", [lambda data: data[:1000], flip], ids=["short", "flip"])
def test_an_entry_that_was_damaged_is_compiled_again(checkout, damage):
    run(checkout)
    for path in (checkout / "cache").rglob("*.nbc"):
        path.write_bytes(damage(path.read_bytes()))
    assert run(checkout)[0] == "42"
    assert run(checkout) == ("42", "")  # it was written again


def test_processes_that_start_together_all_get_it_right(checkout):
    processes = [start(checkout) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in processes] == ["42"] * 2
    assert run(checkout) == ("42", "")


WAIT = """
import os, sys, time
from pathlib import Path
own, waits, until, x = sys.argv[1:]
replace, calls = os.replace, []
def wait_and_replace(*paths):
    calls.append(paths)
    if len(calls) == int(waits):
        Path(own).touch()
        while not Path(until).exists():
            time.sleep(0.01)
    replace(*paths)
os.replace = wait_and_replace
from rankbook.outer import double
print(repr(double(eval(x))))
Path(own).touch()
"""


def test_two_processes_that_write_at_the_same_time_keep_their_own_code(checkout):
    """The first waits before its first file until the second waits before its second or ends."""
    write(checkout, "outer", "@njit\ndef double(x):\n    return x + x\n")
    (checkout / "wait.py").write_text(WAIT)

    def double(own, waits, until, x):
        return subprocess.Popen(
            [sys.executable, "wait.py", own, waits, until, x],
            text=True,
            stdout=subprocess.PIPE,
            cwd=checkout,
            env=environment(checkout),
        )

    first = double("first", "1", "second", "21")
    while not (checkout / "first").exists() and first.poll() is None:
        time.sleep(0.01)
    (checkout / "first").unlink()
    second = double("second", "2", "first", "0.25")
    assert [x.communicate(timeout=60)[0].strip() for x in (first, second)] == ["42", "0.5"]
    again = "from rankbook.outer import double; print(double(0.25), double(21))"
    assert run(checkout, again) == ("0.5 42", "")


def test_threads_that_start_together_make_one_version(checkout):
    code = (
        "from concurrent.futures import ThreadPoolExecutor; from rankbook.outer import times\n"
        "with ThreadPoolExecutor(8) as pool: print(set(pool.map(times, range(8))) == set(range(0, "
        "16, 2)), len(times.signatures))"
    )
    assert run(checkout, code)[0] == "True 1"


def test_the_setting_of_numba_stays_the_users(checkout):
    code = (
        "import numba; from rankbook.outer import times; "
        "before = numba.config.CACHE_DIR; times(1)\n"
        "print(before == numba.config.CACHE_DIR == __import__('os').environ['NUMBA_CACHE_DIR'])"
    )
    assert run(checkout, code)[0] == "True"


def test_the_folder_of_the_user_is_that_of_the_system(checkout):
    variables = environment(checkout)
    del variables["NUMBA_CACHE_DIR"]
    code = (
        "import platformdirs; from rankbook.base.jit import cache_root; "
        "print(cache_root()); print(platformdirs.user_cache_dir('rankbook'))"
    )
    found, expected = subprocess.run(
        [sys.executable, "-c", code],
        env=variables,
        cwd=checkout,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert Path(found) == Path(expected) / "compiled"


# Code that comes with the package

SHELF = "src/rankbook/compiled"


@pytest.fixture
def ship(monkeypatch):
    """The script that puts compiled code into a wheel."""
    monkeypatch.syspath_prepend(PACKAGE.parent / "tools")
    return importlib.import_module("ship")


@pytest.fixture
def shelf(checkout, ship):
    """The checkout with compiled code for a processor that is not this one, and an empty cache."""
    compiled = checkout / "compiled"
    compiled.mkdir(mode=0o700)
    code = "from rankbook.outer import times; times(21)"
    paths = dict(PYTHONPATH=str(checkout / "src"), PYTHONDONTWRITEBYTECODE="1")
    made = ship.compile_code(sys.executable, compiled, "generic", "", code, **paths)
    shutil.move(made, checkout / SHELF)
    return checkout


def test_shipped_code_is_run_and_nothing_is_written(shelf):
    before = {path: path.read_bytes() for path in (shelf / SHELF).iterdir()}
    assert len(before) == 3
    assert run(shelf) == ("42", "") and entries(shelf) == []
    assert before == {path: path.read_bytes() for path in (shelf / SHELF).iterdir()}
    shutil.rmtree(shelf / "cache")
    (shelf / "cache").write_text("a file where a folder should be")
    assert run(shelf) == ("42", "")


def test_other_types_and_code_of_users_are_compiled_beside_shipped_code(shelf):
    out, said = run(shelf, "from rankbook.outer import times; print(times(0.5), times(21))")
    assert out == "1.0 42" and "kept for next time" in said
    assert [name.split("-")[0] for name in entries(shelf)] == ["outer.times"]
    (shelf / "user.py").write_text(
        "import numba\nfrom rankbook.outer import times\n"
        "@numba.njit(cache=True)\ndef mine(x):\n    return times(x) + times(0.25)\n"
    )
    for _ in range(2):  # compiled, and from numba's own cache
        assert run(shelf, "from user import mine; print(mine(21))")[0] == "42.5"


@pytest.mark.parametrize("what", ["outer.times*", "label*"])
def test_shipped_code_that_was_damaged_is_compiled_again(shelf, what):
    (path,) = (shelf / SHELF).glob(what)
    damaged = flip(path.read_bytes())
    path.write_bytes(damaged)
    out, said = run(shelf)
    assert out == "42" and "compiling" in said and path.read_bytes() == damaged
    assert len(entries(shelf)) == (1 if what == "outer.times*" else 2)
    assert run(shelf) == ("42", "")


def test_code_is_compiled_if_numba_has_other_settings(shelf):
    for _ in range(2):  # each set of options has a folder of its own
        out, said = run(shelf, NUMBA_SLP_VECTORIZE="1")
        assert out == "42" and len(entries(shelf)) == 2
    assert said == "" and run(shelf, NUMBA_BOUNDSCHECK="1")[0] == "42"
    assert len(states(shelf)) == 2


def test_an_edit_of_the_sources_is_seen_beside_shipped_code(shelf):
    write(shelf, "inner", "@njit\ndef factor():\n    return 3\n")
    assert run(shelf)[0] == "63"


@pytest.fixture
def label(tmp_path, monkeypatch):
    """A function that writes a label; it fits this process but for what is given."""
    monkeypatch.setattr(jit, "SHIPPED", tmp_path)
    for name in ("CPU_NAME", "CPU_FEATURES"):
        monkeypatch.setattr(numba.config, name, None)

    def write_label(features=frozenset(), **other):
        jit.write_code(
            tmp_path / "label.nbc", jit.build_facts() | other, set(features), ("any", "", "")
        )
        return jit.shipped_processor.__wrapped__()

    return write_label


OTHER = dict(sources="0", python="cpython-310", system="plan9", machine="mips", numba="0.1")
OTHER |= dict(llvmlite="0.1", numpy="1", settings={})


@pytest.mark.parametrize("name", jit.SETTINGS)
def test_each_setting_of_numba_that_changes_code_is_a_fact(monkeypatch, name):
    before = jit.build_facts.__wrapped__()
    monkeypatch.setattr(numba.config, name, "another", raising=False)
    assert jit.build_facts.__wrapped__() != before


@pytest.mark.parametrize("fact", OTHER)
def test_shipped_code_of_other_versions_is_left(label, fact):
    assert label() == ("any", "", "")
    assert OTHER.keys() == jit.build_facts().keys()
    assert label(**{fact: OTHER[fact]}) is None


def test_shipped_code_needs_the_features_of_its_processor(label, ship, monkeypatch):
    features = {*get_host_cpu_features().split(",")}
    assert label(features) == ("any", "", "") and label(features | {"+telepathy"}) is None
    for _, needed, _ in ship.TARGETS.values():  # spelt as LLVM does
        if needed and platform.machine().lower() in ("x86_64", "amd64"):
            assert {x[1:] for x in needed.split()} <= {x[1:] for x in features}
    for name in ("CPU_NAME", "CPU_FEATURES"):
        with monkeypatch.context() as patch:
            patch.setattr(numba.config, name, "")
            assert label() is None


# What may be called from where


@inner
def multiply(a, factor):
    for i in range(a.size):
        a[i] *= factor


@inner
def multiply_each(rows, factor):
    for i in range(rows.shape[0]):
        multiply(rows[i], factor)


@in_place
def multiply_or_not(rows, wanted):
    if wanted:
        multiply_each(rows, 2)
        multiply_each(rows, 3)


def test_inner_functions_are_called_by_compiled_code_and_can_be_tried_alone():
    rows = np.ones((2, 2))
    multiply_or_not(rows, False)
    multiply_or_not(rows, True)
    assert (rows == 6).all()
    assert len(multiply_each.for_compiled.signatures) == 1  # not one for each literal number
    multiply(rows[0], 2)
    multiply_each(rows, 2)
    assert rows.tolist() == [[24, 24], [12, 12]]


def test_an_inner_function_is_kept_as_a_part_of_its_caller(checkout):
    write(checkout, "inner", "from .base.jit import inner\n@inner\ndef factor():\n    return 2\n")
    assert [run(checkout) for _ in range(2)][1] == ("42", "")
    assert [name.split("-")[0] for name in entries(checkout)] == ["outer.times"]


def test_a_call_says_how_much_of_it_was_compiling(monkeypatch, caplog):
    seconds = iter([1.0, 1.05, 2.0, 3.5])
    monkeypatch.setattr(jit.Waiting, "seconds", property(lambda self: next(seconds)))
    with telling_compilation("nothing"):
        pass
    with telling_compilation("RankSVM.fit"):
        pass
    assert caplog.messages == ["compiling took 1.5 of the 0.0 s of RankSVM.fit"]


def test_garbage_is_collected_again_after_compiling():
    for switch in (gc.enable, gc.disable):
        switch()
        before = gc.isenabled()
        njit(lambda x: x)(1)
        assert gc.isenabled() == before
    gc.enable()


@pytest.mark.parametrize("decorate", [njit, in_place, inner])
def test_switched_off_and_silent(decorate, monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    plain = decorate(lambda x, y: x // y)
    assert not hasattr(plain, "signatures") and plain(np.int64(1), np.int64(0)) == 0


# Without the compiler, as debuggers and the measurement of coverage need it

SOLVE = """
import json, sys, warnings
import numba, numpy as np
from scipy.sparse import csr_array
import rankbook as rb
warnings.simplefilter("error")
rng = np.random.default_rng(0)
X, y = np.round(2 * rng.normal(size=(12, 3))) / 2, rng.integers(0, 3, 12)
prefs, weight = rb.Preferences.from_scores(y), 1.0 + np.arange(12)
pairs, found, ran = rb.Preferences(prefs.better, prefs.worse, 12), {}, set()

def problem(X=X, kernel="linear", prefs=prefs, **options):
    return rb.RankSVMProblem(X, prefs, kernel, **options)

if numba.config.DISABLE_JIT:  # each call of a compiler would be noted, too
    sys.setprofile(lambda frame, *_: ran.add((frame.f_code.co_filename, frame.f_code.co_name)))
paths = dict(linear=problem(), listed=problem(prefs=pairs))
paths |= dict(rbf=problem(kernel="rbf"), l1=problem(penalty="l1"))
for name, one in paths.items():
    path = rb.solve_path(one, solver="simplex" if name == "l1" else "path")
    found[name] = [path.status, len(path.events), *path.coef(path.breakpoints[5])]
    for metric in ("disagreement", "ndcg", "average_precision", "reciprocal_rank", "error"):
        judged = y > 1 if metric == "error" else y
        curve = rb.validation_curve(path, X[::-1] + 0.1, judged, metric=metric)
        found[f"{name} {metric}"] = [len(curve.values), curve.optimum]
found["descent"] = [*rb.solve(problem(penalty="l1"), 1.0, solver="simplex").coef]
for loss in ("logistic", "squared", "plackett-luce"):
    sparse = problem(penalty="l1", loss=loss)
    found[f"sparse {loss}"] = [*rb.solve(sparse, 0.3 * sparse.lam_max, solver="sparse").coef]
found["ascent"] = [*rb.solve(problem(kernel="rbf"), 1.0, solver="ascent").coef]
found["newton path"] = [*rb.solve_path(problem(), solver="newton", lam_min=1.0).breakpoints]
for loss in ("hinge", "squared", "logistic", "plackett-luce"):
    found[f"newton {loss}"] = [*rb.solve(problem(loss=loss), 1.0, solver="newton").coef]
for loss in ("logistic", "plackett-luce"):
    one = problem(kernel="rbf", loss=loss)
    found[f"kernel {loss}"] = [*rb.solve(one, 1.0, solver="newton").coef]
two = prefs.item_weighted(weight, worse_weight=weight[::-1])
found["rls"] = [*rb.solve(rb.RankRLSProblem(X, graph=two), 1.0).coef]
for name, items in dict(dense=X, sparse=csr_array(X)).items():
    found[f"coordinate {name}"] = [*rb.solve(problem(items), 1.0, solver="coordinate").coef]
    model = rb.OnlineRankSVM(max_updates=300, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few steps, on purpose: they do not converge
        found[f"online {name}"] = [*model.fit(items, y, sample_weight=weight).coef_]
sys.setprofile(None)
print(json.dumps([found, sorted(ran)]))
"""


def compiled_functions():
    """(file, name) of every function of the package that numba compiles."""
    decorators = {"njit", "in_place", "inner", "inner_making"}
    for path in jit.PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                if decorators & {getattr(each, "id", "") for each in node.decorator_list}:
                    yield str(path), node.name


def test_everything_works_without_the_compiler():
    (compiled, _), (plain, ran) = (
        json.loads(
            subprocess.run(
                [sys.executable, "-c", SOLVE],
                env=os.environ | variables,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for variables in ({}, {"NUMBA_DISABLE_JIT": "1"})
    )
    assert compiled.keys() == plain.keys()
    for name in compiled:
        words, numbers = (
            [x for x in compiled[name] if isinstance(x, str) is kind] for kind in (True, False)
        )
        assert words == [x for x in plain[name] if isinstance(x, str)], name
        assert np.allclose(
            numbers, [x for x in plain[name] if not isinstance(x, str)], rtol=1e-5, atol=1e-6
        ), name
    functions, ran = set(compiled_functions()), set(map(tuple, ran))
    assert {file for file, _ in functions & ran} == {file for file, _ in functions}
    assert len(functions & ran) > 0.9 * len(functions)  # the others need hundreds of events


# Folders that another user could reach

PLANT = """
import hashlib, os, pickle, sys
from pathlib import Path

class Evil:
    def __reduce__(self):
        return os.system, (f"touch {sys.argv[2]}",)

data = pickle.dumps(Evil())
for file in Path(sys.argv[1]).rglob("*.nbc"):
    file.write_bytes(hashlib.sha256(data).digest() + data)
"""


def give_away(folder):
    """Let a folder belong to another user."""
    if os.geteuid():
        pytest.skip("only root can give a folder away")
    os.chown(folder, 4321, -1)


WEAK = {
    "group": lambda folder: folder.chmod(0o770),
    "others": lambda folder: folder.chmod(0o702),
    "sticky": lambda folder: folder.chmod(0o1777),
    "owner": give_away,
    "parent": lambda folder: folder.parent.chmod(0o777),
    "grandparent": lambda folder: folder.parents[2].chmod(0o720),
    "owner above": lambda folder: give_away(folder.parents[1]),
}


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"])
@pytest.mark.parametrize("how", WEAK)
def test_a_folder_that_another_user_could_change_is_refused(tmp_path, monkeypatch, how, variable):
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path / "cache"))
    root = jit.cache_root()
    assert root.is_relative_to(tmp_path)
    folder = jit.open_folder(root / "state")
    assert folder == root.resolve() / "state"
    (folder / "planted").write_text("x")
    WEAK[how](folder)
    with pytest.warns(RuntimeWarning, match="^compiled code is not kept, because .*/cache"):
        assert jit.open_folder(root / "state") is None
    assert (folder / "planted").exists()


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("is_weak", [False, True])
def test_code_that_another_user_could_have_planted_is_not_run(checkout, is_weak):
    run(checkout)
    subprocess.run([sys.executable, "-c", PLANT, checkout / "cache", checkout / "ran"], check=True)
    if is_weak:
        states(checkout)[0].chmod(0o777)
    before = sorted((checkout / "cache").rglob("*"))
    out, said = run(checkout)
    assert out == "42" and (checkout / "ran").exists() == (not is_weak)
    if is_weak:
        assert said.count("compiled code is not kept, because other users may write to") == 1
        assert "not kept, as" in said and sorted((checkout / "cache").rglob("*")) == before


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077])
def test_folders_are_private_whatever_the_umask(tmp_path, mask):
    before = os.umask(mask)
    try:
        folder = jit.open_folder(tmp_path / "a" / "compiled" / "state")
    finally:
        os.umask(before)
    for place in (folder, *folder.parents[:2]):
        assert place.stat().st_mode & 0o777 == 0o700 and place.is_relative_to(tmp_path.resolve())


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_below_a_sticky_one_is_kept(tmp_path):
    (tmp_path / "all").mkdir()
    (tmp_path / "all").chmod(0o1777)
    assert jit.open_folder(tmp_path / "all" / "state") is not None
