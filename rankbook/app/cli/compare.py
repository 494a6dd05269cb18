"""``rankbook compare``: a test of the difference between two rankings."""

import json
from typing import Annotated

import typer

from .evaluate import ranking_of
from .fit import Name
from .options import Data, Json, Qid, Target, option
from .reading import spoken_warnings
from .report import say

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
