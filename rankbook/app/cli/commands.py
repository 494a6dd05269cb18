"""Small commands: convert, datasets, info, export, check, new-solver, solvers and warm-up."""

import json
import textwrap
from dataclasses import asdict, replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from rankbook.base.errors import ArgumentError

from . import options as opt
from .predict_evaluate import name_argument
from .reading import (
    check_file,
    check_place,
    check_table,
    parse_names,
    parse_options,
    read_data,
    refuse_two,
    spoken_warnings,
)
from .report import certificate_line, count, say, shows_bars, summarize

Output = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="File to write: .csv .tsv .parquet, or .svm .svmlight .letor .txt .dat; or - for CSV"
        " on standard output.",
        show_default=False,
    ),
]


GroupSizes = opt.option(
    str,
    "LightGBM's file of query sizes (rank.train.query), with the number of rows of a query in each"
    " line, for DATA without query ids.",
    "--group-sizes",
    metavar="FILE",
)


def convert(
    data: opt.Data,
    file: Output,
    target: opt.Target = None,
    qid: opt.Qid = None,
    drop: opt.Drop = None,
    group_sizes: GroupSizes = None,
    as_json: opt.Json = False,
):
    """Convert data between CSV, Parquet and SVMlight/LETOR.

    The columns of a table are qid (if there are queries), target, docid (if items have names) and
    the features.
    """
    from rankbook.data.forms import read_group_sizes
    from rankbook.data.writers import NUMBERED, TABLES, write_dataset

    check_table("FILE", file, (*TABLES, *NUMBERED), data)
    refuse_two(as_json, file, "FILE")
    with spoken_warnings():
        found = read_data(data, target, qid, parse_names(drop))
        if group_sizes is not None:
            if found.qid is not None:
                raise ArgumentError(
                    f"--group-sizes is {group_sizes!r} and DATA has query ids",
                    "Omit --group-sizes, or pass DATA without query ids.",
                )
            check_file("--group-sizes", group_sizes)
            found = replace(found, qid=read_group_sizes(group_sizes, len(found.y)))
        write_dataset(found, file)
    if as_json:
        return say(json.dumps(facts_about(found)))
    summarize(repr(found), err=file == "-")


def facts_about(data):
    """Describe a data set by plain Python values."""
    import numpy as np

    levels, sizes = np.unique(data.y, return_counts=True)
    return dict(
        name=data.name,
        rows=len(data.y),
        features=list(data.feature_names),
        levels=len(levels),
        smallest=float(levels[0]),
        largest=float(levels[-1]),
        queries=None if data.qid is None else int(np.unique(data.qid).size),
        description=data.description,
        source=data.source,
        licence=data.licence,
    )


NAME = typer.Argument(metavar="[NAME]", help="Data set to load and describe.")


def datasets(name: Annotated[str, NAME] = None, as_json: opt.Json = False):
    """List the built-in data sets, or describe one.

    The list shows which of them load now, and which need a download, the extra rankbook[data], or a
    file in the folder that the environment variable RANKBOOK_DATA names. In every other command, a
    name can replace the file of data; a file of this name comes first.
    """
    from rankbook.base.tables import as_text
    from rankbook.base.validation import unknown_name
    from rankbook.data.datasets import about, list_datasets, load

    names = list_datasets()
    if name not in (None, *names):
        raise unknown_name("NAME", name, list(names))
    if name is None:
        rows = [[each, need, about(each).splitlines()[0]] for each, need in names.items()]
        return say(json.dumps(names) if as_json else as_text(rows))
    data = load(name)
    if hasattr(data, "columns"):  # a table
        facts = dict(name=name, rows=len(data), columns=list(data.columns))
        facts |= dict(description=about(name), file=opt.table_file(name))
        text = f"{name}, {count(len(data), 'row')}: {', '.join(data.columns)}"
        parts = (("about", facts["description"]), ("file", facts["file"]))
    else:
        facts, text = facts_about(data), repr(data)
        parts = (("about", data.description), ("source", data.source), ("licence", data.licence))
    lines = [text, *(f"{label}: {part}" for label, part in parts if part)]
    say(json.dumps(facts, indent=2) if as_json else "\n".join(lines))


MOST_WEIGHTS, MOST_NAMES = 20, 100
FileName = Annotated[str, typer.Argument(metavar="FILE", help="Saved model or path.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


Coefficients = opt.option(
    bool,
    "Print the table of coefficients that rankbook fit --coefficients stored. A model has no"
    " training data: for other standard errors fit again with --robust or --cluster.",
    "--coefficients",
)


def info(file: FileName, coefficients: Coefficients = False, as_json: AsJson = False):
    """Describe a saved model or path.

    The description contains its class, parameters, sizes and certificate, and the weights of a
    linear model.
    """
    from rankbook.app.coefficients import table_rows, table_text
    from rankbook.estimators.saving import file_facts

    with name_argument("FILE", file):
        facts = file_facts(file)
        if coefficients:
            table = table_rows(file, facts)
            return say(json.dumps(table[0], indent=2) if as_json else table_text(*table))
    if as_json:
        return say(json.dumps(facts, indent=2, allow_nan=False))
    pairs = lambda values: ", ".join(f"{name}={value!r}" for name, value in values.items())
    plain = ("class", "solver", "status", "written_by")
    later = "" if facts["readable"] else ", which this rankbook cannot read"
    rows = [("file", f"{facts['file']}, {facts['bytes']} bytes")]
    rows += [("kind", f"{facts['kind']}, version {facts['version']}{later}")]
    rows += [(name.replace("_", " "), facts[name]) for name in plain if name in facts]
    given = facts.get("parameters") or facts.get("problem") or {}
    rows += [("parameters", pairs(given))] if given and isinstance(given, dict) else []
    sizes = {name: facts[name] for name in ("n_features_in", "lam", "gamma") if name in facts}
    rows += [("fitted", pairs(sizes))] if sizes else []
    names = facts.get("feature_names_in") or facts.get("columns")
    if isinstance(names, list):
        more = f" and {len(names) - MOST_NAMES:,} more (--json: all)" * (len(names) > MOST_NAMES)
        rows += [("features", ", ".join(names[:MOST_NAMES]) + more)]
    if weights := facts.get("weights"):
        by_size = sorted(range(len(weights)), key=lambda j: -abs(weights[j]["weight"]))
        used = [j for j in by_size if weights[j]["weight"]] or by_size
        shown = [weights[j] for j in sorted(used[:MOST_WEIGHTS])]
        some = f"the largest {len(shown)} of {len(weights)}"
        if len(shown) == len(used) < len(weights):
            some = f"the {len(shown)} of {len(weights)} that are not 0"
        about = [some] * (len(shown) < len(weights))
        about += ["of standardized features"] * facts["standardized"]
        text = ", ".join(f"{row['name']} {row['weight']:.6g}" for row in shown)
        rows.append(("weights", f"{', '.join(about)}: {text}" if about else text))
    if theta := facts.get("pair_weights"):
        rows.append(("of pairs", ", ".join(f"{weight:.6g}" for weight in theta)))
    encoding = facts.get("encoding") or dict(categories={}, fill={})
    categories = (f"{name}: {', '.join(found)}" for name, found in encoding["categories"].items())
    rows += [("categories", "; ".join(categories))] if encoding["categories"] else []
    fill = encoding["fill"]
    more = f" and {len(fill) - MOST_WEIGHTS:,} more (--json: all)" * (len(fill) > MOST_WEIGHTS)
    rows += [("gaps", pairs(dict(islice(fill.items(), MOST_WEIGHTS))) + more)] if fill else []
    about = {k: v for k, v in (facts.get("about") or {}).items() if k != "coefficients"}
    rows += [("about", pairs(about))] if about else []
    for name in ("certificate", "exact_certificate"):
        if isinstance(facts.get(name), dict):
            of = ", of the kernel itself" if "exact" in name else ""
            rows.append((name.split("_")[0], certificate_line(facts[name], of)))
    for i, (name, shape) in enumerate(facts["arrays"].items()):
        rows.append(("arrays" * (not i), f"{name.removeprefix('model.fitted.')}: {shape}"))
    wide = dict(width=100, subsequent_indent=" " * 13, break_long_words=False)
    say("\n".join(textwrap.fill(f"{label:13}{text}", **wide) for label, text in rows))


Format = opt.option(
    str,
    "plain: names, weights and offset. elasticsearch: the body for _createmodel of the plugin for"
    " learning to rank of Elasticsearch or OpenSearch. solr: a file for Solr's model store. onnx: a"
    " linear or kernel model for runtimes of ONNX (needs rankbook[onnx]).",
    values="plain elasticsearch solr onnx",
)
ModelName = opt.option(
    str, "Name of the model in a search engine (default: rankbook).", metavar="NAME"
)
Exported = opt.option(
    Path,
    "File to write: .onnx for --format onnx, else .json or - for standard output.",
    "-o",
    "--output",
)


def export(
    file: Annotated[str, typer.Argument(metavar="MODEL", help="Saved model.")],
    format: Format = "plain",
    name: ModelName = None,
    output: Exported = Path("-"),
):
    """Write a model for another program: a linear one as JSON, or ONNX.

    The feature names in a search engine must equal the names in the model. The scaling of features
    is part of the result. In Python, use rb.to_json and rb.to_onnx.
    """
    from rankbook.base.files import write_whole
    from rankbook.base.limits import import_extra
    from rankbook.estimators.linear_json import to_json
    from rankbook.estimators.onnx_model import to_onnx
    from rankbook.estimators.saving import load

    is_text = format != "onnx"
    if not is_text or str(output) != "-":
        check_place("--output", output, file)
        if output.suffix.lower() != (ending := ".json" if is_text else ".onnx"):
            said = f"--output is {str(output)!r} and --format is {format}"
            raise ArgumentError(said, f"a file that ends in {ending}")
    if not is_text:
        import_extra("onnx", "onnx", "--format onnx")
        if name is not None:
            raise ArgumentError(f"name is {name!r} and --format is onnx", "Omit name.")
    with name_argument("MODEL", file):
        name = "rankbook" if name is None else name
        content = to_json(load(file), format, name) if is_text else to_onnx(load(file))
    if str(output) == "-":
        return say(content)
    content = f"{content}\n".encode() if is_text else content
    write_whole(output, lambda handle: handle.write(content))


Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of a solver; see rankbook solvers.")
]
Options = Annotated[
    list[str],
    typer.Option("--option", metavar="KEY=VALUE", help="Option of the solver. Can be repeated."),
]
TimeLimit = opt.option(float, "Time limit of each case of a check in seconds.", metavar="SECONDS")
AsJson = Annotated[bool, typer.Option("--json", help="Print the table as JSON.")]


def check(
    solver: Name, option: Options = None, time_limit: TimeLimit = 120.0, as_json: AsJson = False
):
    """Test a solver on degenerate data.

    The exit code is 1 if a check fails.
    """
    from rankbook.registry.plugins import get_solver
    from rankbook.testing.kit import check_solver

    asked = (solver, parse_options(option, "--option"))
    try:
        get_solver(asked)
    except ArgumentError as error:  # the name is an argument here
        name = "NAME" if error.argument == "solver" else error.argument
        raise error.renamed(name) from error
    table = check_solver(asked, time_limit=time_limit, progress=shows_bars())
    say(json.dumps([asdict(row) for row in table], indent=2) if as_json else str(table))
    if table.failed:
        raise typer.Exit(1)


NewName = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the solver and of its folder.")
]


def new_solver(name: NewName):
    """Create the files of a new solver plugin.

    The generated solver works and passes its tests. Replace its algorithm with yours.
    """
    from rankbook.app.new_solver import write_new_solver

    for file in write_new_solver(name):
        summarize(f"wrote {file}")
    test = f"pytest {name}" if find_spec("pytest") else f"rankbook check {name}"
    summarize(f"now: pip install -e {name} && {test}")


def solvers(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="Solver to import and describe.")
    ] = None,
    allow_plugins: Annotated[
        bool, typer.Option("--allow-plugins", help="Import plugins to find out which are broken.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
):
    """List the installed solvers, or import and describe one."""
    from rankbook.registry.plugins import as_page, list_solvers, rows_about

    table = list_solvers(allow_plugins) if name is None else rows_about(name)
    if as_json:
        typer.echo(json.dumps(list(table), indent=2))
    else:
        say("\n\n".join(map(as_page, table)) if name else str(table))


def warm_up(
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            min=1,
            metavar="NUMBER",
            help="Number of processes. Default: one for each core.",
        ),
    ] = None,
):
    """Compile the code that first calls need.

    The compiled code is kept in your cache folder, or below NUMBA_CACHE_DIR. Run the command again
    after an update of rankbook, numba or Python. Wheels for your system may contain compiled code.
    """
    from rankbook.app.warm_up import warm_up
    from rankbook.base.jit import cache_folder

    begin = perf_counter()
    number = warm_up(jobs or -1, shows_bars())
    summarize(
        f"{number} functions compiled in {perf_counter() - begin:.0f} s, kept in {cache_folder()}"
    )
