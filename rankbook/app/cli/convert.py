"""``rankbook convert`` and ``rankbook datasets``."""

import json
from typing import Annotated

import typer

from rankbook.app.cli.reading import (
    check_table,
    parse_names,
    read_data,
    refuse_two,
    spoken_warnings,
)

from .options import Data, Drop, Json, Qid, Target
from .report import say

Output = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="File to write: .csv .tsv .parquet, or .svm .svmlight .letor .txt .dat; or - for"
        " standard output, as CSV.",
        show_default=False,
    ),
]


def convert(
    data: Data,
    file: Output,
    target: Target = None,
    qid: Qid = None,
    drop: Drop = None,
    as_json: Json = False,
):
    """Write data in another format: CSV, Parquet or SVMlight/LETOR.

    A table then has the columns qid, if there are queries, target, and the features.
    """
    from rankbook.data.writers import NUMBERED, TABLES, write_dataset

    check_table("FILE", file, (*TABLES, *NUMBERED), data)
    refuse_two(as_json, file, "FILE")
    with spoken_warnings():
        found = read_data(data, target, qid, parse_names(drop))
        write_dataset(found, file)
    say(json.dumps(facts_about(found)) if as_json else repr(found), err=file == "-")


def facts_about(data):
    """What there is to say of a data set, as plain Python values."""
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


NAME = typer.Argument(metavar="[NAME]", help="One of them, in full; this reads it.")


def datasets(name: Annotated[str, NAME] = None, as_json: Json = False):
    """List the built-in data sets, or describe one."""
    from rankbook.base.validation import unknown_name
    from rankbook.data.datasets import list_datasets, load

    names = list_datasets()
    if name not in (None, *names):
        raise unknown_name("NAME", name, names)
    if name is None:
        typer.echo(json.dumps(names) if as_json else "\n".join(names))
        return
    data = load(name)
    if as_json:
        typer.echo(json.dumps(facts_about(data), indent=2))
        return
    about = (("about", data.description), ("source", data.source), ("licence", data.licence))
    say("\n".join([repr(data), *(f"{label}: {text}" for label, text in about if text)]))
