"""``rankbook predict``: scores of new items."""

from contextlib import contextmanager
from typing import Annotated

import typer

from .fit import Name
from .options import Json, Qid, option
from .reading import built_in_items, check_file, check_table, spoken_warnings
from .several import DataFiles, several_files

Model = typer.Argument(
    metavar="MODEL", help="File that rankbook fit, rankbook select --save or Python wrote."
)
Scores = option(
    str,
    "Write the scores to this file: .csv .tsv .parquet; by default to standard output.",
    "-o",
    "--out",
)
Ranked = option(bool, "The best first, in each query.", "--ranked")
Formulas = option(
    bool,
    "Write text that begins with =, +, -, @ or a tab to .csv and .tsv files as it is; otherwise an"
    " apostrophe precedes it, so that no spreadsheet runs it as a formula.",
    "--formulas",
)


@contextmanager
def named(argument, file):
    """Say of a file that cannot be loaded by which argument it came."""
    if file == "-":
        raise ValueError(f"{argument} is '-', standard input; a file is accepted.")
    check_file(argument, file)
    try:
        yield
    except ValueError as error:
        said = str(error)
        raise ValueError(
            f"{argument} is{said[7:]}" if said.startswith("file is") else said
        ) from error


def load_model(file, argument="MODEL"):
    """The model of a file, given by the argument, which must be none of a path."""
    from rankbook.estimators.storage import load

    with named(argument, file):
        model = load(file)
    if not hasattr(model, "predict") or hasattr(model, "breakpoints"):
        raise ValueError(
            f"{argument} is {str(file)!r}, which holds {model!r}; a model is accepted."
        )
    return model


def columns_of(model):
    """The names of the columns that a model reads, or None."""
    names = getattr(model, "columns", None)
    return getattr(model, "feature_names_in_", None) if names is None else names


def read_for(model, data, target=None, qid=None, name=None):
    """The items of a file as a model knows them.

    The columns that it was told of hold for this file, too, if it has them.
    """
    from rankbook.data.items import items_of, read_frame
    from rankbook.data.sources import Source

    built_in = built_in_items(data, target, qid)
    if built_in is not None:
        return built_in
    source, features = Source(data), columns_of(model)
    frame = read_frame(source)
    known = known_columns(model, frame.columns, target, qid, name)
    return items_of(frame, source, None if features is None else list(features), **known)


def known_columns(model, columns, target=None, qid=None, name=None):
    """Target, qid and name, as a dict: those given, else those that a model was told of.

    What is none of the columns is None.
    """
    about = getattr(model, "about", {})
    known = {key: about.get(key) for key in ("target", "qid", "name")}
    known = {k: v if v in columns or v == "none" else None for k, v in known.items()}
    given = dict(target=target, qid=qid, name=name)
    return known | {k: v for k, v in given.items() if v is not None}


def predict(
    model: Annotated[str, Model],
    data: DataFiles,
    out: Scores = "-",
    qid: Qid = None,
    name: Name = None,
    ranked: Ranked = False,
    formulas: Formulas = False,
    as_json: Json = False,
):
    """Score items with a model from a file.

    Columns that the model does not know are ignored; one that it misses is an error.
    """
    from rankbook.data.writers import TABLES, json_rows, write_frame

    files = several_files(data)
    check_table("--out", out, TABLES, *(files or data), model)
    if as_json and out != "-":
        raise ValueError(
            f"--out is {out!r} and --json prints to standard output; one of the two is accepted."
        )
    with spoken_warnings(queries=ranked):
        found = load_model(model)
        if files is None:
            items = read_for(found, data[0], qid=qid, name=name)
            frame = score_table(items, found.predict(items.X))
        else:
            frame = predict_files(found, files, qid, name)
        frame = best_first(frame) if ranked else frame
    if as_json:
        typer.echo(json_rows(frame))
    else:
        write_frame(frame, out, formulas)


def score_table(items, scores):
    """Row, query, name and score of each item, as a DataFrame."""
    import pandas as pd

    columns = dict(row=range(len(scores)), qid=items.qid, name=items.name, score=scores)
    return pd.DataFrame({key: value for key, value in columns.items() if value is not None})


def best_first(frame):
    """The rows of a table of scores by score, in each query, with their rank."""
    import pandas as pd

    by = ["qid"] if "qid" in frame else []
    frame = frame.sort_values([*by, "score"], ascending=[True] * len(by) + [False], kind="stable")
    place = frame.groupby("qid").cumcount() if by else pd.Series(range(len(frame)), frame.index)
    frame.insert(0, "rank", place + 1)
    return frame


def predict_files(model, files, qid=None, name=None):
    """File, row, query, name and score of each item, as a DataFrame.

    Parameters
    ----------
    model : ScaledModel or estimator
    files : list of str
    qid, name : str, optional
        Columns, as of ``rankbook predict``.
    """
    import pandas as pd

    from rankbook.data.file_blocks import cut, open_tables
    from rankbook.data.items import items_of
    from rankbook.data.tables import query_column
    from rankbook.data.text_pieces import NumberedTable

    tables, features = open_tables(files), columns_of(model)
    first = tables[0]
    known = known_columns(model, first.columns, qid=qid, name=name)
    if isinstance(first, NumberedTable):
        known["qid"] = "qid" if first.has_ids else "none"
    elif known["qid"] is None:  # one guess for all pieces
        taken = (*(features or ()), known["name"])
        found = query_column(first, first.columns, known["target"], None, taken)
        known["qid"] = "none" if found is None else found
    query = None if known["qid"] == "none" else known["qid"]
    if query is not None and query not in first.columns:
        query = None  # items_of says so
    found = []
    for table, piece in cut(tables, query, 1 << 18, whole=query is not None):
        frame = table.frame(piece, table.columns, query)
        items = items_of(frame, table, features, **known, start=piece.first)
        scores = score_table(items, model.predict(items.X))
        scores["row"] += piece.first
        scores.insert(0, "file", str(table))
        found.append(scores)
    if not found:
        raise ValueError(f"{first} has names of columns but no rows.")
    return pd.concat(found, ignore_index=True)
