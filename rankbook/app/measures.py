"""Metrics of a scored table."""

from itertools import combinations

import numpy as np

from ..metrics.pairs import auc
from ..metrics.queries import RULES, UndefinedMetric, by_query, named

USUAL = ("disagreement", "ndcg@10", "average_precision", "reciprocal_rank", "kendall_tau", "auc")
MOST_LEVELS = 6


def measures(y, scores, qid=None, metrics=None):
    """Measures of an order, a dict from names to numbers.

    Parameters
    ----------
    y, scores : ndarrays of shape (n,)
        What is known of the items, and their scores.
    qid : ndarray of shape (n,), optional
    metrics : sequence of str, optional
        Names as in :func:`rankbook.metrics.by_query`; by default the usual ones, without those that
        these data do not have.

    Raises
    ------
    ValueError
        If a name is unknown, or a measure that was asked for, or the disagreement, is not defined.
    """
    found = {}
    for name in USUAL if metrics is None else metrics:
        function, options = named(name)
        try:
            found[name] = float(function(y, scores, qid, **options))
        except ValueError:  # an undefined one, or grades that it does not take
            if metrics is not None or not found:  # without a disagreement there is no order
                raise
    return found


def level_aucs(y, scores, qid=None):
    """The AUC of every two of at most six levels, the higher ones first.

    Parameters
    ----------
    y, scores : ndarrays of shape (n,)
    qid : ndarray of shape (n,), optional

    Returns
    -------
    list of dict
        With "better", "worse" and "auc", which is None if no query has both. Empty for more than
        six levels, and for less than three, where one number says all.
    """
    levels = np.unique(y)[::-1]
    if not 2 < levels.size <= MOST_LEVELS:
        return []
    rows = []
    for better, worse in combinations(levels, 2):
        here = (y == better) | (y == worse)
        try:
            area = float(auc(y[here], scores[here], None if qid is None else qid[here]))
        except UndefinedMetric:
            area = None
        rows.append(dict(better=float(better), worse=float(worse), auc=area))
    return rows


def measures_by_query(y, scores, qid, metrics):
    """Ids of the queries (q,), and a dict from names to values (q,), NaN where undefined."""
    ids, values = None, {}
    for name in metrics:
        ids, values[name] = by_query(name, y, scores, qid)
    return ids, values


def queries_counted(y, scores, qid, metrics):
    """Over how many queries each metric is a mean, by its name.

    A query is left out where there is nothing to measure, as NDCG without a grade above 0. The
    disagreement is not among them: it is a mean over preferences.
    """
    means = [name for name in metrics if not RULES[named(name)[0]].pooled]
    values = measures_by_query(y, scores, qid, means)[1]
    return {name: int(np.isfinite(found).sum()) for name, found in values.items()}
