"""Measure rankbook beside other packages, and print a table with ratios.

    python -m benchmarks                        all of it: about 15 minutes
    python -m benchmarks linear quality         some
    python -m benchmarks which --out which.csv  which method for which data: ten minutes more
    python -m benchmarks default                what the default lambda loses: three minutes
    python -m benchmarks cores                  two threads beside one: two minutes
    python -m benchmarks concordance            survival times: two minutes
    python -m benchmarks clicks                 clicks with position bias: ten minutes
    python -m benchmarks click_rules            rules for clicks on good and bad rankers: 15 minutes
    python -m benchmarks leaves                 leaves of boosted trees: two minutes
    python -m benchmarks coverage               intervals of leaderboards: an hour
    python -m benchmarks order_intervals        intervals of other models: ten minutes
    python -m benchmarks choice                 what "auto" takes: half an hour
    python -m benchmarks forecast               what calls say they take: ten minutes
    python -m benchmarks rates                  what predictions of other calls are fitted to
    python -m benchmarks --full --out all.md    larger data: an hour or more

Peers that are not installed get a line that says so: pip install "rankbook[benchmarks]" brings
LightGBM, XGBoost, PIQP, lifelines and scikit-survival, and python -m benchmarks.rivals those that
need an environment of their own: arena-rank, celer, choix, evalica, RLScore and skglm.
"""

import argparse
import os
import sys
import warnings
from importlib import import_module
from pathlib import Path

import scipy.linalg  # noqa: F401 -- its BLAS is there when threads are limited
from threadpoolctl import threadpool_limits

from rankbook.base.validation import unknown_name

from .report import (
    as_csv,
    as_markdown,
    load,
    machine_facts,
    markdown_head,
    markdown_row,
    read_facts,
)

NAMES = {
    "interior": "one lambda of a ranking SVM with a kernel, beside PIQP and Clarabel",
    "paths": "all solutions, beside one solution by PIQP",
    "linear": "a linear ranking SVM, beside SVM^rank, liblinear-ranksvm and scikit-learn",
    "sparse": "sparse items and small queries, beside LinearSVC on all differences",
    "logistic": "the logistic loss and Plackett-Luce, beside the hinge and LogisticRegression",
    "rankrls": "RankRLS, beside factors and products of its size, scikit-learn and RLScore",
    "ratings": "ratings of items by users with features, beside the normal equations",
    "quality": "held-out queries, beside LightGBM and XGBoost",
    "projected": "an approximate kernel, and what it proves of the exact one",
    "kernels": "kernels at small lambda, beside other solvers; cross-validation of many items",
    "files": "a linear ranking SVM on items in files, beside memory; text beside Parquet",
    "rayleigh": "Rayleigh rankers on many items, beside scikit-learn",
    "dask": "a linear ranking SVM on Dask, beside memory, with one worker and two",
    "blocks": "what a block, a solution and a scheduler cost: the numbers of a plan",
    "survival": "a survival SVM on censored times, beside scikit-survival",
    "cox": "Cox's model and orders, beside scikit-survival and lifelines",
    "sparse_path": "L1 paths of many features, beside scikit-survival, skglm, celer and liblinear",
    "leaderboard": "competitors ranked from votes, beside arena-rank, evalica and choix",
    "overheads": "metrics, single precision and reading of text, beside other packages",
    "cold": "first calls, which compile, beside second ones",
    "cores": "jobs with two threads beside one; a table of its own",
    "which": "all methods beside LightGBM and XGBoost, tuned alike; a table of its own",
    "default": "the default lambda beside lam = 1 and cross-validation; a table of its own",
    "concordance": "survival times, beside Cox, forests and boosting; a table of its own",
    "clicks": "clicks with position bias, with and without propensities; a table of its own",
    "click_rules": "what each rule learns from clicks on good and bad rankers; its own table",
    "leaves": "ranking SVMs on the leaves of LightGBM, beside LightGBM; a table of its own",
    "coverage": "how often intervals of a leaderboard contain the truth; a table of its own",
    "order_intervals": "the same for the intervals of other models; a table of its own",
    "choice": 'what "auto" takes beside the quickest solver; a table of its own',
    "rates": "other losses, solvers and paths, whose predictions are fitted; its own table",
    "forecast": "what 100 calls are predicted to take, beside what they take; its own table",
}
ALONE = (
    "cores",
    "which",
    "default",
    "concordance",
    "clicks",
    "click_rules",
    "leaves",
    "coverage",
    "order_intervals",
    "choice",
    "rates",
    "forecast",
)


def benchmark_name(text):
    """A name of a benchmark; the error names the nearest."""
    if text not in NAMES:
        raise argparse.ArgumentTypeError(str(unknown_name("NAME", text, NAMES)))
    return text


def program(text):
    """The path of a program that the user has built."""
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"{text!r} is no file; the path of a program is accepted.")
    if not os.access(text, os.X_OK):
        raise argparse.ArgumentTypeError(
            f"{text!r} may not be executed; the path of a program is accepted."
        )
    return str(Path(text).absolute())


def table(text):
    """The path of a file that can be written."""
    path = Path(text)
    if path.is_dir() or not os.access(path.absolute().parent, os.W_OK):
        raise argparse.ArgumentTypeError(
            f"{text!r} cannot be written; a file in a folder that can be written to is accepted."
        )
    return path


def parse(arguments):
    """The options."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog="NAME is one of\n" + "".join(f"  {n:10} {what}\n" for n, what in NAMES.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", type=benchmark_name)
    scale = parser.add_mutually_exclusive_group()
    for flag, says in (("full", "larger data"), ("tiny", "data that only show that it runs")):
        scale.add_argument(
            f"--{flag}", dest="scale", action="store_const", const=flag, default="usual", help=says
        )
    parser.add_argument("--out", type=table, metavar="FILE", help="a table: .csv, else Markdown")
    parser.add_argument("--svm-rank", type=program, metavar="PATH", help="svm_rank_learn")
    parser.add_argument(
        "--liblinear", type=program, metavar="PATH", help="train of liblinear-ranksvm"
    )
    parser.add_argument(
        "--wheel",
        type=program,
        metavar="PATH",
        help="of cold: Python of an environment with the wheel of a release",
    )
    parser.add_argument(
        "--solver",
        dest="solvers",
        action="append",
        metavar="NAME",
        help="of choice: a solver that is measured anew; the other rows of --out are kept",
    )
    parser.add_argument(
        "--repetitions", type=int, metavar="R", help="of coverage: repetitions, by default 1000"
    )
    options = parser.parse_args(arguments)
    for name in ALONE:
        if name in options.names and len(set(options.names)) > 1:
            parser.error(f"{name!r} has columns of its own, so it is run alone.")
    return options


def run(names, scale, peers):
    """Pairs (benchmark, Row); each benchmark has run at a tiny scale before, not measured.

    What must be compiled or imported is there then.
    """
    for name in names:
        rows = import_module(f"benchmarks.{name}").rows
        if scale != "tiny" and name not in ALONE:  # their rows are not about seconds
            list(rows("tiny", peers))  # so that a program that fails does so at once
        for row in rows(scale, peers):
            yield name, row


def command(arguments):
    """The call as a list of words; programs that the user has built are named without a folder."""
    words = [Path(word).name if Path(word).is_absolute() else word for word in arguments]
    return ["python", "-m", "benchmarks", *words]


def main(arguments=None):
    """Measure, print, write."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parse(arguments)
    warnings.simplefilter("ignore")
    names = options.names or [name for name in NAMES if name not in ALONE]
    found = []
    with threadpool_limits(1):
        facts = machine_facts(command(arguments))
        if names == ["choice"] and options.out and options.out.exists():
            old = read_facts(options.out)
            facts["oldest rows"] = old.get("oldest rows", f"rankbook {old['rankbook']}")
        peers = dict(svm_rank=options.svm_rank, liblinear=options.liblinear, wheel=options.wheel)
        peers |= dict(solvers=options.solvers, out=options.out, repetitions=options.repetitions)
        for pair in run(names, options.scale, peers):
            if not found:
                print(markdown_head(type(pair[1])))
            print(markdown_row(*pair), flush=True)
            found.append(pair)
    facts["load"] += f" to {load()}"
    print(
        f"\n{type(found[0][1]).REMARK}\n",
        *(f"- {name}: {value}" for name, value in facts.items()),
        sep="\n",
    )
    if options.out:
        as_text = as_csv if options.out.suffix == ".csv" else as_markdown
        options.out.write_text(as_text(found, facts), encoding="utf-8")
        print(f"wrote {options.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
