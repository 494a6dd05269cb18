"""Make the stored tables of a paper's notebook again.

They hold what takes too long for the notebook itself, and run times.

    python tools/paper_tables.py zapien2009
    python tools/paper_tables.py zapien2009_classes
    python tools/paper_tables.py tsivtsivadze
    python tools/paper_tables.py ralaivola2009
    python tools/paper_tables.py ralaivola2009_rivals

The first writes nbs/papers/zapien2009_trials.csv, nbs/papers/zapien2009_times.txt and
nbs/papers/zapien2009_dual.csv, the second nbs/papers/zapien2009_classes.csv (it needs statsmodels
and mord, which no extra brings), the third nbs/papers/tsivtsivadze_trials.csv,
nbs/papers/tsivtsivadze_basis.csv and nbs/papers/tsivtsivadze_costs.csv, the fourth
nbs/papers/ralaivola2009_trials.csv and nbs/papers/ralaivola2009_few.csv, the fifth
nbs/papers/ralaivola2009_subspaces.csv and nbs/papers/ralaivola2009_rivals.csv. The experiments are
defined in the notebooks: their cells that begin with the comment MARK are executed here.
"""

import argparse
import json
import os
import platform
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

import rankbook as rb

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.report import machine_facts, write_frame  # noqa: E402

PAPERS = ROOT / "nbs" / "papers"
MARK = "# Shared with tools/paper_tables.py"
PRINTED_SECONDS = {
    "mixture": "5.92 (0.41)",
    "auto": "74.17 (15.95)",
    "diabetes": "186.79 (240.33)",
    "cancer": "0.27 (0.14)",
}
COLUMNS = [
    "data",
    "graph",
    "trial",
    "pairs",
    "breakpoints",
    "status",
    "start",
    "lam",
    "gap",
    "free",
    "used",
    "validation",
    "order",
    "at_zero",
    "at_cut",
]


def shared(paper):
    """The names defined in the notebook's shared cells."""
    names = dict(np=np, rb=rb)
    for cell in json.loads((PAPERS / f"{paper}.ipynb").read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and source.startswith(MARK):
            exec(compile(source, f"{paper}.ipynb", "exec"), names)
    return names


def write(name, table, facts, digits):
    """Write a table of nbs/papers, with what made it in its head."""
    write_frame(PAPERS / f"{name}.csv", pd.DataFrame(table), facts, f"%.{digits}g")


def run_zapien2009(names):
    """Ten trials of each data set on both graphs, as a DataFrame."""
    run_trial = names["run_trial"]
    rows = []
    for name in PRINTED_SECONDS:
        for graph in ("star", "full"):
            run_trial(name, graph)  # compiles; its time is not counted
            rows += [run_trial(name, graph, trial=trial) for trial in names["TRIALS"]]
            orders = [row["order"] for row in rows if (row["data"], row["graph"]) == (name, graph)]
            print(f"{name}, {graph}: {np.mean(orders):.4f} in the wrong order", flush=True)
    return pd.DataFrame(rows)


def times(trials):
    """The table of run times as a text."""
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("rankbook", "numpy", "scipy", "numba")
    )
    lines = [
        (
            f"Machine-dependent: {platform.machine()}, {os.cpu_count()} cores, "
            f"Python {platform.python_version()}, {packages}."
        ),
        (
            "Seconds of processor time, mean (spread) of ten trials, standardised features, "
            "compilation not counted; made by python tools/paper_tables.py zapien2009."
        ),
        (
            "Printed are the times of the paper, star graph, on a machine and with a kernel "
            "it does not name."
        ),
        "",
        (
            f"{'data':10}{'graph':7}{'preferences':>12}{'breakpoints':>13}   "
            f"{'path':17}{'validation curve':19}{'printed'}"
        ),
    ]
    for (name, graph), rows in trials.groupby(["data", "graph"], sort=False):
        path, curve = (
            f"{values.mean():.3f} ({values.std(ddof=0):.3f})"
            for values in (rows.path_seconds, rows.curve_seconds)
        )
        printed = PRINTED_SECONDS[name] if graph == "star" else ""
        lines.append(
            f"{name:10}{graph:7}{rows.pairs.mean():>12.0f}{rows.breakpoints.mean():>13.0f}   "
            f"{path:17}{curve:19}{printed}".rstrip()
        )
    return "\n".join(lines) + "\n"


def make_dual(facts):
    """Time the path beside one solution, three trials of each data set and graph."""
    run_dual, rows = shared("zapien2009_claims")["run_dual"], []
    for name in PRINTED_SECONDS:
        for graph in ("star", "full"):
            rows += [run_dual(name, graph, trial) for trial in range(3)]
            print(f"{name}, {graph}: timed", flush=True)
    write("zapien2009_dual", rows, facts, 4)


def make_zapien2009(facts):
    """Run, and write the three tables."""
    trials = run_zapien2009(shared("zapien2009_experiment"))
    write("zapien2009_trials", trials[COLUMNS], facts, 8)
    (PAPERS / "zapien2009_times.txt").write_text(times(trials), encoding="utf-8")
    make_dual(facts)


def make_zapien2009_classes(facts):
    """Run every method for ordinal regression, and write the table."""
    names, rows = shared("zapien2009_claims"), []
    for data in names["DRAWS"]:
        for method in names["METHODS"]:
            rows += [names["run_trial"](data, trial, method) for trial in names["TRIALS"]]
            print(f"{data}, {method}: done", flush=True)
    facts |= {name: version(name) for name in ("statsmodels", "mord")}
    write("zapien2009_classes", rows, facts, 6)


def make_tsivtsivadze(facts):
    """Run every trial of every method, and write the table."""
    names, rows = shared("tsivtsivadze_experiment"), []
    for data, (_, extras) in names["ITEMS"].items():
        for trial in names["TRIALS"]:
            rows += [
                names["run_trial"](data, trial, method, extra)
                for method in ("RLS", "RankRLS")
                for extra in extras
            ]
            print(f"{data}, trial {trial}: done", flush=True)
    write("tsivtsivadze_trials", rows, facts, 12)
    make_basis(names, facts)


def make_basis(names, facts):
    """Compare ways to choose the basis, and time training and one more lambda."""
    rows = []
    names["run_basis"]("auto", 0)  # compiles and imports; its times are not counted
    for data in names["BASIS_SIZES"]:
        for trial in names["BASIS_TRIALS"]:
            rows += names["run_basis"](data, trial)
            print(f"{data}, trial {trial}: bases compared", flush=True)
    for name, table in (("basis", rows), ("costs", names["run_costs"]())):
        write(f"tsivtsivadze_{name}", table, facts, 8)


def make_ralaivola2009(facts):
    """Run every draw, and those with few labels; write both tables.

    Other rules for the pivots are run at p = 10 only.
    """
    names, rows, few = shared("ralaivola2009_experiment"), [], []
    for rule in names["RULES"]:
        for draw in names["DRAWS"]:
            rows += names["run_draw"](draw, rule, sizes=None if rule == "greedy" else [10])
            print(f"{rule} pivots, draw {draw}: done", flush=True)
    for share in names["OTHER_SHARES"]:
        rows += [
            row
            for draw in names["DRAWS"]
            for row in names["run_draw"](draw, percents=[10], sizes=[10, 200], share=share)
        ]
    for draw in names["FEW_DRAWS"]:
        few += names["run_few"](draw)
    for name, table in (("trials", rows), ("few", few)):
        write(f"ralaivola2009_{name}", table, facts, 8)


def make_ralaivola2009_rivals(facts):
    """Run every subspace and every rival; write both tables, with seconds of the processor.

    Principal directions depend on no draw, and are run once.
    """
    names, subspaces, rivals = shared("ralaivola2009_rivals"), [], []
    warnings.simplefilter("ignore", UserWarning)  # fewer directions than asked for, in small data
    for rule in names["SUB_RULES"]:
        names["run_subspace"](rule, 0, 5)  # its time is not counted
        for draw in names["SUB_DRAWS"] if rule != "pca" else [0]:
            for p in names["SUB_SIZES"]:
                subspaces += names["run_subspace"](rule, draw, p)
        print(f"{rule} directions: done", flush=True)
    names["run_rival"]("wine", 0, [10])  # compiles
    for data in names["RIVAL_DATA"]:
        for draw in names["rival_draws"](data):
            rivals += names["run_rival"](data, draw)
            print(f"{data}, draw {draw}: done", flush=True)
    for name, table in (("subspaces", subspaces), ("rivals", rivals)):
        write(f"ralaivola2009_{name}", table, facts, 8)


MAKERS = {
    "zapien2009": make_zapien2009,
    "zapien2009_classes": make_zapien2009_classes,
    "tsivtsivadze": make_tsivtsivadze,
    "ralaivola2009": make_ralaivola2009,
    "ralaivola2009_rivals": make_ralaivola2009_rivals,
}


def main(arguments=None):
    """Make the tables of one paper."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paper", choices=sorted(MAKERS))
    paper = parser.parse_args(arguments).paper
    try:
        MAKERS[paper](machine_facts(["python", "tools/paper_tables.py", paper]))
    except OSError as error:
        raise SystemExit(f"paper_tables: error: {error}") from None


if __name__ == "__main__":
    main()
