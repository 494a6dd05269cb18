"""Limits of memory: where they are read from, and how every route refuses below one."""

import gzip
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from limited import run_limited
from shell import refused as refused_in_shell

import rankbook as rb
from rankbook.base import limits
from rankbook.data.table import Source, read_table

TREES = {  # files below the root, and the MiB that are available then
    "the machine": ({"proc/meminfo": "MemTotal: 9999 kB\nMemAvailable: 512000 kB\n"}, 500),
    "version 2": (
        {
            "proc/self/cgroup": "0::/a/b\n",
            "cgroup/a/b/memory.max": "max\n",
            "cgroup/a/b/memory.current": "0\n",
            "cgroup/a/memory.max": f"{300 << 20}\n",
            "cgroup/a/memory.current": f"{200 << 20}\n",
            "cgroup/a/memory.stat": f"anon 5\ninactive_file {10 << 20}\n",
        },
        110,
    ),
    "version 2 beside version 1": (
        {
            "proc/self/cgroup": "4:cpu,cpuacct:/c\n0::/\n",
            "cgroup/unified/memory.max": f"{80 << 20}\n",
            "cgroup/unified/memory.current": f"{90 << 20}\n",
        },
        0,
    ),
    "version 1": (
        {
            "proc/self/cgroup": "9:cpuset:/\n4:memory:/docker/x\n",
            "cgroup/memory/memory.limit_in_bytes": f"{64 << 20}\n",  # as a container sees its own
            "cgroup/memory/memory.usage_in_bytes": f"{32 << 20}\n",
            "cgroup/memory/memory.stat": f"total_inactive_file {1 << 20}\n",
        },
        33,
    ),
    "version 1 without a limit": (
        {
            "proc/self/cgroup": "4:memory:/\n",
            "cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "cgroup/memory/memory.usage_in_bytes": "0\n",
        },
        500,
    ),
}


@pytest.mark.parametrize("case", TREES)
def test_the_smallest_of_all_limits_counts(case, tmp_path, monkeypatch):
    files, expected = TREES[case]
    for name, text in {**TREES["the machine"][0], **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(limits, "PROC", str(tmp_path / "proc"))
    monkeypatch.setattr(limits, "CGROUP", str(tmp_path / "cgroup"))
    assert limits.available_memory() == expected << 20


linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/statm")


@linux
def test_the_address_space_counts():
    code = "from rankbook.base.limits import available_memory; assert 0 <= 50 - {} < 5"
    calls = [(code.format("available_memory() / 2**20"), 50 << 20), ("bytearray(2**27)", 2**26)]
    assert run_limited("import rankbook.base.limits", calls) == ["done", "builtins.MemoryError: "]


PRELUDE = """
import warnings
import clarabel, cvxpy
import numpy as np
import rankbook as rb
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
L1 = dict(kernel="linear", penalty="l1")
RANKERS = dict(
    gaussian=lambda: rb.RankSVM(),
    linear=lambda: rb.RankSVM(kernel="linear"),
    squared=lambda: rb.RankSVM(kernel="linear", loss="squared"),
    simplex=lambda: rb.RankSVM(**L1),
    homotopy=lambda: rb.RankSVM(**L1, loss="squared"),
    l1_qp=lambda: rb.RankSVM(**L1, solver="qp"),
    projected=lambda: rb.RankSVM(approximate_kernel="auto"),
    interior=lambda: rb.RankSVM(solver="interior"),
    path=lambda: rb.RankSVM(solver="path", kernel="linear"),
    newton=lambda: rb.RankSVM(solver="newton", kernel="linear"),
    subgradient=lambda: rb.RankSVM(solver="subgradient", kernel="linear"),
    rls=lambda: rb.RankRLS(),
    basis=lambda: rb.RankRLS(basis=20),
    rls_folds=lambda: rb.RankRLSCV(cv=2),
    folds=lambda: rb.RankSVMCV(cv=2, lam_min_ratio=1e-2),
    online=lambda: rb.OnlineRankSVM(),
    rayleigh=lambda: rb.RayleighRanker(),
    labels=lambda: rb.LabelRanker(),
    svm_qp=lambda: rb.RankSVM(solver="qp"),
    squared_qp=lambda: rb.RankSVM(solver="qp", loss="squared", kernel="linear"),
    rls_qp=lambda: rb.RankRLS(solver="qp"),
)
def run(name, n, queries):
    X = rng.normal(size=(n, 5))
    if name == "labels":
        model = RANKERS[name]().fit(X, X)
    elif name == "rayleigh":
        model = RANKERS[name]().fit(X, X[:, 0] > 0)
    else:
        y = np.digitize(X[:, 0] + np.sin(2 * X[:, 1]), [-1, 0, 1])
        model = RANKERS[name]().fit(X, y, qid=np.arange(n) % queries)
    model.predict(X)
for name in RANKERS:
    run(name, 60, 2)
"""
NAMES = """gaussian linear squared simplex homotopy l1_qp projected interior path newton subgradient
rls basis rls_folds folds online rayleigh labels svm_qp squared_qp rls_qp""".split()


def refusals(sizes, rooms):
    """What becomes of every ranker on some sizes (items, queries) with so many MiB left."""
    cases = [(name, *size, room) for name in NAMES for size in sizes for room in rooms]
    cases = [case for case in cases if case[:2] != ("homotopy", 1200)]  # many minutes each
    calls = [(f"run({name!r}, {n}, {q})", room << 20) for name, n, q, room in cases]
    return dict(zip(cases, run_limited(PRELUDE, calls), strict=True))


def in_our_words(said):
    """Whether a call worked, or was refused by the package."""
    return said == "done" or said.startswith("rankbook.base.limits.OutOfMemory: ")


@linux
@pytest.mark.slow
def test_every_ranker_refuses_in_the_words_of_the_package_at_any_room():
    found = refusals([(300, 6), (1200, 1)], [0, 1, 3, 10, 30, 60, 100, 200, 300])
    assert {case: said for case, said in found.items() if not in_our_words(said)} == {}


@linux
def test_every_ranker_refuses_in_the_words_of_the_package():
    found = refusals([(900, 1)], [2])
    assert {case: said for case, said in found.items() if not in_our_words(said)} == {}
    refused = {name for (name, *_), said in found.items() if said != "done"}
    small = {"online", "basis", "subgradient", "newton", "linear", "squared", "rayleigh"}
    assert refused >= set(NAMES) - small


@linux
@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "rb.Preferences.from_rankings([range(6000)])",
        "NystroemMap(np.random.default_rng(0).normal(size=(20_000, 3)), 3000)",
        "rb.datasets.make_mixture(10**8)",
        "rb.suggest_pairs(model.solution_, 5, X_new=np.zeros((3_000_000, 3)))",
    ],
)
def test_what_is_no_ranker_refuses_in_the_words_of_the_package(call):
    prelude = """import numpy as np, rankbook as rb
from rankbook.kernels.nystroem import NystroemMap
NystroemMap(np.eye(5)); rb.Preferences.from_rankings([range(5)]); rb.datasets.make_mixture(5)
model = rb.RankSVM(kernel="linear").fit(np.eye(3), [0, 1, 2])
rb.suggest_pairs(model.solution_, 1, X_new=np.eye(3))"""
    (said,) = run_limited(prelude, [(call, 90 << 20)])
    assert said.startswith("rankbook.base.limits.OutOfMemory: "), said


def endless(monkeypatch):
    """Standard input that never ends."""

    class Stream:
        def read(self, size):
            return b"1," * (size // 2)

    monkeypatch.setattr(limits, "available_memory", lambda: 10**8)
    monkeypatch.setattr(sys, "stdin", type("Input", (), dict(buffer=Stream())))


@pytest.mark.usefixtures("workplace")
def test_what_would_fill_the_memory_is_not_read(monkeypatch):
    Path("zeros.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"0" * 2**26))
    with zipfile.ZipFile("many.npz", "w") as archive:
        for k in range(10_001):
            archive.writestr(f"a{k}", b"")
    os.mkfifo("pipe")  # and no process writes into it
    table = dict(target="a")
    refused = (
        (read_table, "/dev/zero", table, "a device. Pass a file or a pipe"),
        (rb.load, "/dev/zero", {}, "a device or a pipe. Pass a rankbook file"),
        (rb.load, "pipe", {}, "a device or a pipe. Pass a rankbook file"),
        (rb.read_blocks, "pipe", table, "Pass files, because .* pipes can be read only once"),
        (rb.load, "many.npz", {}, "it has 10,001 arrays, and at most 10,000"),
    )
    for read, file, options, words in refused:
        with pytest.raises(ValueError, match=words):
            read(file, **options)
    for special in ("/dev/zero", "pipe"):
        assert "a device" in refused_in_shell("info", special)
    endless(monkeypatch)
    for file, label in (("-", "standard input"), ("zeros.csv.gz", "zeros.csv.gz")):
        with pytest.raises(MemoryError, match=f"reading {label} needs .* Read a smaller part"):
            read_table(Source(file), **table)
    frame = pd.DataFrame(dict(a=np.zeros(10**6), b=0.0))
    frame.to_parquet("wide.parquet")
    monkeypatch.setattr(limits, "available_memory", lambda: 10**6)
    with pytest.raises(MemoryError, match="1,000,000 rows and 2 columns in wide.parquet needs"):
        read_table("wide.parquet", **table)
