"""Metrics of a model on blocks of scored items."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..base.errors import ArgumentError
from ..base.validation import query_numbers
from ..metrics.concordance_intervals import concordance_interval
from ..metrics.models import add_link, block_scores, with_advantages
from ..metrics.pairs import disagreement
from ..metrics.probabilities import reliability
from ..metrics.queries import RULES, UndefinedMetric, by_query, find_metric, metric_sums
from ..preferences.graph import Preferences
from ..preferences.names import refuse_pair_features

USUAL = ("disagreement", "ndcg@10", "average_precision", "reciprocal_rank", "kendall_tau", "auc")
PROBABILITIES = ("brier_score", "log_loss")
MOST_LEVELS, MOST_PAIRS = 6, 100_000_000  # preferences, for probabilities


def metric_of(name, model):
    """Return the function of a metric and its options, among them the link of the model.

    Raises an ArgumentError if the metric needs probabilities and the model has none.
    """
    metric, options = find_metric(name)
    try:
        return add_link(metric, options, model)
    except ArgumentError as error:
        raise ArgumentError(
            f"metric is {name!r} and MODEL has no probabilities",
            "a model fitted with --loss logistic, or a model that model.calibrate has calibrated",
        ) from error


def of_table_or_model(model, prefs, scores):
    """Return preferences without pair features, and scores with their effect in a model.

    A table of scores together with pair features raises an error.
    """
    prefs, scores = with_advantages(model, prefs, scores, "preferences")
    refuse_pair_features(
        prefs, "preferences", "A table of scores has no weights for the column pair_features."
    )
    return prefs, scores


@dataclass(frozen=True)
class BlockMeasures:
    """Sums of metrics over a block.

    Attributes
    ----------
    n_items, n_queries : int
    sums : tuple
        Sum and number for each metric, or a ValueError with the reason why it is undefined.
    levels : frozenset
        Levels of y.
    pairs : dict
        Sum and number of the AUC for each two levels (better, worse).
    """

    n_items: int
    n_queries: int
    sums: tuple
    levels: frozenset
    pairs: dict


def reliability_rows(prefs, scores, model):
    """Return the reliability diagram of a model with probabilities, a list of one dict a bin.

    The list is empty for other models, for survival times, and for more than a hundred million
    preferences.
    """
    if not hasattr(model, "link_") or prefs.survival is not None:
        return []
    if not 0 < len(prefs) <= MOST_PAIRS:
        return []
    prefs, scores = with_advantages(model, prefs, scores, "preferences")
    found = reliability(prefs, scores, link=model.link_)
    names = ("low", "high", "predicted", "observed", "lower", "upper", "count")
    rows = zip(*(getattr(found, name).tolist() for name in names))
    return [dict(zip((*names[:-1], "preferences"), row)) for row in rows]


def measure_block(block, model, names, most=np.inf):
    """Compute the :class:`BlockMeasures` of a block for the scores of a model.

    Metrics of probabilities are omitted above `most` preferences.
    """
    y, scores, qid = block.y, block_scores(block, model), block.qid
    levels, pairs = sorted(set(np.unique(y).tolist()), reverse=True), {}
    for better, worse in combinations(levels, 2) if len(levels) <= MOST_LEVELS else ():
        here = (y == better) | (y == worse)
        some = y[here], scores[here], None if qid is None else qid[here]
        pairs[better, worse] = metric_sums("auc", *some)
    sums = []
    for name in names:
        try:
            if name in PROBABILITIES and len(Preferences.from_scores(y, qid)) > most:
                raise UndefinedMetric(
                    f"{name} is omitted by default for more than {most:,} preferences",
                    f"fewer preferences, or metrics=[{name!r}]",
                )
            metric, options = metric_of(name, model)
            sums.append(metric_sums(metric, y, scores, qid, **options))
        except ValueError as error:  # grades that the metric refuses
            sums.append(error)
    n_queries = np.unique(query_numbers(qid, len(y))).size
    return BlockMeasures(len(y), n_queries, tuple(sums), frozenset(levels), pairs)


def together(first, second):
    """Add the :class:`BlockMeasures` of two blocks."""
    add = lambda a, b: (a[0] + b[0], a[1] + b[1])
    sums = tuple(
        next((each for each in pair if isinstance(each, ValueError)), None) or add(*pair)
        for pair in zip(first.sums, second.sums)
    )
    keys = first.pairs | second.pairs
    pairs = {k: add(first.pairs.get(k, (0, 0)), second.pairs.get(k, (0, 0))) for k in keys}
    sizes = first.n_items + second.n_items, first.n_queries + second.n_queries
    return BlockMeasures(*sizes, sums, first.levels | second.levels, pairs)


def measures(blocks, model, metrics=None):
    """Evaluate a model on blocks of items.

    Parameters
    ----------
    blocks : Blocks
        With scores y.
    model : object
        Model whose ``predict(X)`` returns scores.
    metrics : sequence of str, optional
        Names as in :func:`rankbook.metrics.by_query`; by default the usual metrics that are defined
        for these data. For a model with probabilities they include "brier_score" and "log_loss",
        unless a block has more than a hundred million preferences.

    Returns
    -------
    dict
        Numbers of "items" and "queries"; "metrics", a dict from names to values; "queries_counted",
        the number of queries in each mean (the disagreement is a mean over preferences); and
        "level_auc", the AUC of every two of three to six levels, a list of dict with "better",
        "worse" and "auc", which is None if no query has both.

    Raises
    ------
    ValueError
        If a name is unknown, or a requested metric or the disagreement is undefined.
    """
    names, most = tuple(metrics or USUAL), np.inf if metrics else MOST_PAIRS
    if metrics is None and hasattr(model, "link_"):
        names += PROBABILITIES
    for name in names:
        metric_of(name, model)  # refuse a wrong name before any work
    sums = blocks.reduce(measure_block, blocks.items, model, names, most, combine=together)
    found, counted = {}, {}
    for name, each in zip(names, sums.sums):
        try:
            if isinstance(each, ValueError):
                raise each
            rule = RULES[find_metric(name)[0]]
            if not each[1] > 0:
                raise UndefinedMetric(
                    f"data have no query with {rule.needs}", "at least one such query"
                )
        except ValueError:
            if metrics is not None or not found:  # without a disagreement there are no preferences
                raise
            continue
        found[name] = each[0] / each[1]
        if not rule.pooled:
            counted[name] = int(each[1])
    levels, rows = sorted(sums.levels, reverse=True), []
    if len(levels) > 2 and metrics is None:  # several AUCs instead of one
        found.pop("auc", None)
        counted.pop("auc", None)
    for better, worse in combinations(levels, 2) if 2 < len(levels) <= MOST_LEVELS else ():
        total, number = sums.pairs.get((better, worse), (0.0, 0.0))
        rows.append(dict(better=better, worse=worse, auc=total / number if number else None))
    sizes = dict(items=sums.n_items, queries=sums.n_queries)
    return sizes | dict(metrics=found, queries_counted=counted, level_auc=rows)


def block_query_values(block, model, names):
    """Return query ids (q,) of a block, or "all" without queries, and values (q, metrics)."""
    scores, values = block_scores(block, model), []
    for name in names:
        metric, options = metric_of(name, model)
        ids, each = by_query(metric, block.y, scores, block.qid, **options)
        values.append(each)
    return np.array(["all"]) if block.qid is None else ids, np.stack(values, axis=1)


def measures_by_query(blocks, model, names):
    """Return sorted ids of all queries (q,), and a dict from metrics to values (q,).

    A value is NaN where the metric is undefined.
    """
    for name in names:
        metric_of(name, model)
    both = lambda first, second: tuple(map(np.concatenate, zip(first, second)))
    ids, values = blocks.reduce(block_query_values, blocks.items, model, names, combine=both)
    order = np.argsort(ids, kind="stable")
    return ids[order], {name: values[order, j] for j, name in enumerate(names)}


def interval_of_concordance(target, scores, cluster=None):
    """Return the interval of a concordance by the jackknife, or None and why there is none.

    Parameters
    ----------
    target : Preferences or Orders
        Survival times of n patients.
    scores, cluster : ndarrays of shape (n,)
        Clusters may be None.

    Returns
    -------
    found : ConcordanceInterval or None
    why : str
    """
    try:
        found = concordance_interval(target, scores, cluster=cluster)
    except UndefinedMetric:
        return None, f"a {'patient' if cluster is None else 'cluster'} is in every comparable pair"
    if 0 < found.value < 1:
        return found, ""
    order = "right" if found.value else "wrong"
    return None, f"every comparable pair is in the {order} order, which shows no error"


OF_PREFERENCES = ("disagreement", "pair_accuracy")
OF_SURVIVAL = ("concordance", "disagreement")


def preference_measures(prefs, scores, metrics=None, model=None, cluster=None):
    """Evaluate scores on preferences by weighted shares; a tie counts one half.

    Parameters
    ----------
    prefs : Preferences
        Between n items.
    scores : ndarray of shape (n,)
    metrics : sequence of str, optional
        "disagreement" or "pair_accuracy"; by default both. For survival times "concordance", which
        is the pair accuracy, or "disagreement". For a model with probabilities and other
        preferences also "brier_score" and "log_loss".
    model : optional
        Model whose link gives probabilities.
    cluster : array-like of shape (n,), optional
        Ids of clusters of dependent rows, for the interval of the concordance.

    Returns
    -------
    dict
        Numbers of "items" and "preferences", and "metrics", a dict from names to values. For the
        concordance also "concordance_interval", the ends of its 95% interval; without one it is
        None, and "no_interval" says why. With clusters also their number, "clusters".
    """
    usual, what, others = OF_PREFERENCES, "with --preferences", PROBABILITIES
    if prefs.survival is not None:
        usual, what, others = OF_SURVIVAL, "for survival times", ()
    for name in metrics or ():
        if name not in (*usual, *others):
            raise ArgumentError(f"metric is {name!r}", f"{' or '.join(usual)} {what}")
    if others and metrics is None and hasattr(model, "link_") and len(prefs) <= MOST_PAIRS:
        usual += PROBABILITIES
    asked, n = metrics or usual, prefs.n_items
    judges = {name: metric_of(name, model) for name in asked if name in PROBABILITIES}
    prefs, scores = of_table_or_model(model, prefs, scores)
    wrong = disagreement(prefs, scores)
    values = dict(disagreement=wrong, pair_accuracy=1.0 - wrong, concordance=1.0 - wrong)
    for name, (metric, options) in judges.items():
        values[name] = metric(prefs, scores, **options)
    found = {name: values[name] for name in asked}
    facts = dict(items=n, preferences=len(prefs), metrics=found)
    if "concordance" in found:
        one, why = interval_of_concordance(prefs, scores, cluster)
        facts["concordance_interval"] = None if one is None else [one.low, one.high]
        facts |= {} if cluster is None else dict(clusters=np.unique(cluster).size)
        facts |= dict(no_interval=why) if why else {}
    return facts
