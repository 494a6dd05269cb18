"""``rankbook predict``, ``evaluate`` and ``compare``: models on new items."""

import json
from contextlib import contextmanager
from typing import Annotated

import typer

from .fit import DataFiles, Name, several_files
from .options import Data, Json, Qid, Target, option
from .reading import (
    built_in_items,
    check_file,
    check_table,
    parse_names,
    spoken_warnings,
)
from .report import say

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
    from rankbook.data.table import Source, items_of, read_frame

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

    from rankbook.data.file_blocks import NumberedTable, cut, open_tables
    from rankbook.data.table import items_of, query_column

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


def scores_in(file, n):
    """The scores (n,) of a table with a column "score" and perhaps one of row numbers, "row".

    Raises
    ------
    ValueError
        If there is no such column, a score is no finite number, or the rows are not 0 to n - 1,
        each once.
    """
    import numpy as np

    from rankbook.data.table import Source, items_of, read_frame

    source = Source(file)
    frame = read_frame(source)
    scores = items_of(frame, source, ["score"], qid="none").X[:, 0]
    if scores.size != n:
        raise ValueError(
            f"{source} has {scores.size} scores; {n}, one for each row of the data, are accepted."
        )
    if "row" not in frame.columns:
        return scores
    row = frame["row"].to_numpy()
    if not np.array_equal(np.sort(row), np.arange(n)):
        raise ValueError(f"{source} has a column 'row' that is not 0 to {n - 1}, each once.")
    out = np.empty(n)
    out[row.astype(int)] = scores
    return out


def is_table(file):
    """Whether a file is one of scores, by its ending."""
    return file.removesuffix(".gz").lower().endswith((".csv", ".tsv", ".parquet"))


def ranking_of(file, data, target=None, qid=None, name=None, argument="MODEL"):
    """Items with scores y of a data file, and what a model, or a file of scores, gives them.

    The file came by the given argument.
    """
    check_file(argument, file)
    model = None if is_table(file) else load_model(file, argument)
    items = read_for(model, data, target, qid, name)
    if items.y is None:
        raise ValueError(
            f"target is None; name the column of {data} that says how good the items are."
        )
    scores = scores_in(file, len(items.y)) if model is None else model.predict(items.X)
    return items, scores


Ranking = typer.Argument(
    metavar="MODEL", help="A model's file, or a table of scores (.csv .tsv .parquet)."
)
Metrics = option(
    list[str],
    "disagreement, auc, ndcg@K, average_precision, reciprocal_rank, err, precision@K, recall@K,"
    " kendall_tau, ...: names separated by commas, or several times --metric. MRR is"
    " reciprocal_rank, MAP average_precision.",
    "--metric",
)
ByQuery = option(bool, "A row for each query.", "--by-query")


def evaluate(
    ranking: Annotated[str, Ranking],
    data: DataFiles,
    target: Target = None,
    qid: Qid = None,
    name: Name = None,
    metric: Metrics = None,
    by_query: ByQuery = False,
    as_json: Json = False,
):
    """Measure how well a model, or a file of scores, orders data.

    The target and the queries of a model are those that it was fitted to. A query with nothing to
    measure, as NDCG without a grade above 0, is left out of the mean, and it is said of how many.
    """
    from rankbook.app.measures import (
        USUAL,
        level_aucs,
        measures,
        measures_by_query,
        queries_counted,
    )

    metric = parse_names(metric) or None
    with spoken_warnings():
        files = several_files(data)
        if files is not None:
            return evaluate_files(ranking, files, target, qid, metric, by_query, as_json)
        items, scores = ranking_of(ranking, data[0], target, qid, name)
        if by_query:
            ids, values = measures_by_query(items.y, scores, items.qid, metric or USUAL[:4])
            return say_queries("all" if items.qid is None else ids, values, as_json)
        found = measures(items.y, scores, items.qid, metric)
        pairs = [] if metric else level_aucs(items.y, scores, items.qid)
        counted = queries_counted(items.y, scores, items.qid, found)
    queries = 1 if items.qid is None else len(set(items.qid))
    facts = dict(items=len(scores), queries=queries, metrics=found, queries_counted=counted)
    say_measures(facts | dict(level_auc=pairs), as_json)


def say_measures(facts, as_json):
    """Print measures, and over how many queries each is a mean, where some are left out."""
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    queries = facts["queries"]
    for name, value in facts["metrics"].items():
        some = facts["queries_counted"].get(name, queries)
        left_out = f"  over {some} of {queries} queries" if some < queries else ""
        typer.echo(f"{name:18}{value:.6f}{left_out}")
    for row in facts["level_auc"]:
        area = "no query has both" if row["auc"] is None else f"{row['auc']:.6f}"
        levels = f"auc {row['better']:g} > {row['worse']:g}"
        typer.echo(f"{levels:18}{area}")


def say_queries(ids, values, as_json):
    """Print a row for each query, under its id, as CSV or JSON."""
    import pandas as pd

    from rankbook.data.writers import json_rows, write_frame

    frame = pd.DataFrame(dict(qid=ids) | values)
    if as_json:
        typer.echo(json_rows(frame))
    else:
        write_frame(frame)


def blocks_for(model, files, target=None, qid=None):
    """The blocks of files as a model knows them, for its measures.

    Raises
    ------
    ValueError
        If there is no target, or no such column.
    """
    import pandas as pd

    from rankbook.data.file_blocks import NumberedTable, open_tables, read_blocks
    from rankbook.data.table import with_features

    first, features = open_tables(files)[0], columns_of(model)
    features = None if features is None else list(features)
    if isinstance(first, NumberedTable):
        return read_blocks(files, target, qid, features)
    known = known_columns(model, first.columns, target=target, qid=qid)
    if features is not None:  # says what the model misses
        with_features(pd.DataFrame(columns=first.columns), first, features)
    return read_blocks(files, known["target"], known["qid"], features)


def evaluate_files(ranking, files, target, qid, metric, by_query, as_json):
    """Measure how well a model orders files, block by block."""
    from rankbook.app.fitting import measures_of_blocks, measures_of_queries
    from rankbook.app.measures import USUAL

    if is_table(ranking):
        raise ValueError(
            f"MODEL is {ranking!r}, a table of scores, and DATA is several files; a model is "
            "accepted, or one file of data."
        )
    model = load_model(ranking)
    blocks = blocks_for(model, files, target, qid)
    if by_query:
        ids, values = measures_of_queries(blocks, model, metric or USUAL[:4])
        return say_queries(ids, values, as_json)
    facts = measures_of_blocks(blocks, model, metric)
    return say_measures(facts | (dict(level_auc=[]) if metric else {}), as_json)


First = typer.Argument(metavar="A", help="A model's file, or a table of scores.")
Second = typer.Argument(metavar="B", help="Another.")
Metric = option(str, "A mean over queries: ndcg@K, average_precision, pair_accuracy, ...")
Resamples = option(int, "Samples of queries, and exchanges of signs, to draw.")
Seed = option(int, "Of what is drawn.")


def compare(  # noqa: PLR0913 -- an option of the command each
    a: Annotated[str, First],
    b: Annotated[str, Second],
    data: Data,
    target: Target = None,
    qid: Qid = None,
    name: Name = None,
    metric: Metric = "ndcg@10",
    resamples: Resamples = 9999,
    seed: Seed = 0,
    as_json: Json = False,
):
    """Compare two rankings query by query, with paired tests."""
    from rankbook.metrics.compare import compare as compare_scores

    with spoken_warnings():
        items, first = ranking_of(a, data, target, qid, name, "A")
        second = ranking_of(b, data, target, qid, name, "B")[1]
        if items.qid is None:
            raise ValueError("data has no queries; data with query ids are accepted, see --qid.")
        found = compare_scores(
            items.y,
            first,
            second,
            items.qid,
            metric=metric,
            n_resamples=resamples,
            random_state=seed,
        )
    say(json.dumps(comparison_facts(found), indent=2) if as_json else str(found))


def comparison_facts(found):
    """A comparison as plain Python values; NaN, a p-value that there is not, is None."""
    return {name: None if value != value else value for name, value in vars(found).items()}
