"""``rankbook evaluate``: metrics of a model or of scores."""

import json
from typing import Annotated

import typer

from .fit import Name
from .options import Json, Qid, Target, option
from .predict import columns_of, known_columns, load_model, read_for
from .reading import check_file, parse_names, spoken_warnings
from .several import DataFiles, several_files


def scores_in(file, n):
    """The scores (n,) of a table with a column "score" and perhaps one of row numbers, "row".

    Raises
    ------
    ValueError
        If there is no such column, a score is no finite number, or the rows are not 0 to n - 1,
        each once.
    """
    import numpy as np

    from rankbook.data.items import items_of, read_frame
    from rankbook.data.sources import Source

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

    from rankbook.data.file_blocks import open_tables, read_blocks
    from rankbook.data.items import with_features
    from rankbook.data.text_pieces import NumberedTable

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
    from rankbook.app.block_fitting import measures_of_blocks, measures_of_queries
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
