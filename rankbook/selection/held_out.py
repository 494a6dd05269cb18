"""Evaluation of held-out predictions: groups of items, and metrics at every lambda."""

from functools import partial

import numpy as np

from .. import metrics
from ..base.errors import ArgumentError
from ..base.tables import count as count_of
from ..base.validation import as_count, query_numbers, unknown_name
from ..kernels.items import dense, matvec
from ..metrics.queries import RULES, find_metric
from ..preferences.graph import Preferences
from ..preferences.laplacians import members
from ..preferences.missed_pairs import TIE_TOL
from ..preferences.sums import query_totals
from ..problems.rankrls import as_lambdas, decompose
from ..problems.rankrls_statistics import RankingStatistics, basis_rows
from .folds import make_folds
from .leave_out import leave_out_predictions, leave_pair_out, left_out_scores, merge_ties, tie_share

METRICS = ("disagreement", "auc", "ndcg")  # metrics whose errors name y, not y_true


def validation_groups(cv, X, Y, query, by_item, random_state):
    """Return the groups of items to leave out, a list of int arrays, or "lpo".

    Parameters
    ----------
    cv : {"query", "loo", "lpo"}, int, splitter or iterable
    X, Y : ndarrays of shape (n, d) and (n, k)
    query : ndarray of shape (n,), int
        Numbers of the queries.
    by_item : bool
        Whether single items may be left out.
    random_state : None, int, numpy Generator or RandomState
        Shuffles the folds if `cv` is a number; see :func:`rankbook.selection.folds.make_folds`.

    Raises
    ------
    ValueError
        If `cv` does not fit the data, or would require training again.
    """
    if isinstance(cv, str):
        if cv not in ("query", "loo", "lpo"):
            raise unknown_name("cv", cv, ("query", "loo", "lpo", "a number of folds", "a splitter"))
        if cv == "query":
            groups = members(query)
            differ = sum(bool((Y[items] != Y[items[0]]).any()) for items in groups)
            if differ < 2:
                raise ArgumentError(
                    f"cv is 'query' and qid has {count_of(differ, 'query')} with two different "
                    "scores",
                    "at least 2 such queries, one for training and one for validation",
                )
            return groups
        if not by_item:
            raise ArgumentError(
                f"cv is {cv!r} and qid has {count_of(query.max() + 1, 'query')}: leaving out a "
                "part of one changes the weight of the rest of it",
                "cv='query' or a number of folds",
            )
        if query.size < 3:
            raise ArgumentError(
                f"cv is {cv!r} and X has {count_of(query.size, 'item')}", "at least 3 items"
            )
        return "lpo" if cv == "lpo" else list(np.arange(query.size)[:, None])
    level = Y[:, 0]
    if Y.shape[1] > 1:
        level = np.unique(Y, axis=0, return_inverse=True)[1].ravel().astype(float)
    folds = make_folds(cv, X, level, query if query.max() else None, random_state)
    for f, (train, test) in enumerate(folds):
        if not np.array_equal(np.sort(np.concatenate([train, test])), np.arange(len(Y))):
            raise ArgumentError(
                f"cv has fold {f}, whose two parts do not contain each of the {len(Y)} items once",
                "folds whose training part is all the rest",
            )
    return [test for _, test in folds]


def check_metric(metric, k=None):
    """Return a name in METRICS or a function of (y, scores, qid), and if greater is better."""
    function, options = find_metric(metric, {} if k is None else dict(k=as_count("k", k)))
    if function in RULES and RULES[function].has_link:
        raise ArgumentError(
            f"metric is {metric!r}, and scores of least squares are not log-odds",
            "a metric that depends only on the order of items",
        )
    if k is not None and function not in RULES:
        raise ArgumentError(f"k is {k!r}", "Omit k for a function of your own.")
    name = function.__name__ if function in RULES else None
    greater = name is None or not RULES[function].pooled
    if name in METRICS and not options:
        return name, greater
    return (partial(function, **options) if options else function), greater


def query_disagreement(y, label):
    """Return a function of scores that computes the mean share of wrong pairs.

    The mean is over the labels 0, 1, ... with two different y. O(n log n).
    """
    prefs = Preferences.from_scores(y, label)
    if len(prefs) == 0:
        raise ArgumentError(
            "y has no two different scores that are left out together",
            "at least one pair of different scores",
        )
    counts = query_totals(prefs)[1]
    if np.unique(counts[counts > 0]).size > 1:
        prefs = prefs.query_weighted()
    return lambda scores: metrics.disagreement(prefs, scores)


def measure(metric, scores, y, label, limits):
    """Compute the metric (l,) of held-out scores (l, N) for y (N,), by label (N,).

    Scores within `limits` (l,) are tied.
    """
    if metric == "auc" and np.unique(y).size > 2:
        raise ArgumentError(
            f"y has {np.unique(y).size} different values", "at most two values for the AUC"
        )
    if metric == "ndcg" and not 0 <= y.min() <= y.max() <= 1000:
        raise ArgumentError(
            f"y has the grade {y.min() if y.min() < 0 else y.max()}",
            "grades from 0 to 1000 for NDCG",
        )
    if metric == "disagreement":
        judge = query_disagreement(y, label)
    else:
        function = metric if callable(metric) else getattr(metrics, metric)
        judge = lambda s: function(y, s, label)
    judged = [judge(merge_ties(s, label, limit)) for s, limit in zip(scores, limits)]
    return np.array(judged, dtype=float)


def grid_values(path, groups, lams, metric, query):
    """Compute the metric (l,) of one path at every lambda.

    `groups` come from :func:`validation_groups`, or are "lpo".
    """
    if isinstance(groups, str):
        return leave_pair_out(path, lams, query).reshape(lams.size, -1).mean(axis=1)
    order = np.concatenate(groups)
    single = len(order) == len(groups)
    fold = np.zeros(order.size, dtype=np.intp)
    if not single:
        fold = np.repeat(np.arange(len(groups)), [len(h) for h in groups])
    label = np.unique(np.stack([fold, query[order]]), axis=1, return_inverse=True)[1].ravel()
    Y = path.problem.target.Y[order]
    scores = leave_out_predictions(path, groups, lams, level=single)
    scores = scores.reshape(lams.size, len(order), -1)
    # size of the terms of scores: y, or y times the largest eigenvalue / lam if that is smaller
    ratio = np.minimum(1.0, path.spectrum.values.max(initial=0.0) / lams)
    terms = ratio * np.abs(Y - Y.mean(axis=0)).max()
    limits = tie_share(path, lams) * np.abs(scores).max(axis=(1, 2)).clip(min=terms)
    columns = zip(scores.transpose(2, 0, 1), Y.T)
    return np.mean([measure(metric, s, y, label, limits) for s, y in columns], axis=0)


def block_disagreement(block, empty, V, values, right, lams):
    """Return sums (l,) of the shares of wrong pairs of held-out queries, and their number.

    Also return whether the block has item weights, as 0 or 1.
    """
    weighed = int(block.weight is not None or block.worse_weight is not None)
    Z = matvec(block.X, V) if empty.basis is None else basis_rows(empty, dense(block.X)) @ V
    number = query_numbers(block.qid, len(Z))
    scores = np.empty((lams.size, len(Z)))
    for items in members(number):
        root, y = np.sqrt(len(items)), block.y[items]
        R, e = (root * (part - part.mean(axis=0)) for part in (Z[items], y))
        scores[:, items] = left_out_scores(R, e, values, right, lams)
    count = int((query_totals(Preferences.from_scores(block.y, number))[1] > 0).sum())
    if count == 0:
        return np.zeros(lams.size), 0, weighed
    rounding = TIE_TOL * np.abs(scores).max(axis=1)
    return count * measure("disagreement", scores, block.y, number, rounding), count, weighed


def leave_query_out(blocks, statistics, lams):
    """Compute the mean share (l,) of wrong pairs of held-out queries at every lambda.

    Parameters
    ----------
    blocks : BlocksLike
        Without weights of items.
    statistics : RankingStatistics
        Statistics of these blocks.
    lams : array-like of shape (l,)
        Lambdas > 0.

    Returns
    -------
    ndarray of shape (l,)

    Raises
    ------
    ValueError
        If fewer than two queries have two different scores, or items have weights.

    Notes
    -----
    One pass over the items, O(n p^2 + l n s (s + p)) for queries of s items, and O(p^3) before it.
    """
    lams, p = as_lambdas(lams), statistics.n_features
    values, V = decompose(np.array(statistics.products[:p, :p]))
    right = V.T @ statistics.products[:p, p]
    options = V, values, right, lams
    empty = RankingStatistics(graph=statistics.graph)  # the basis without data, small to send
    empty.kernel, empty.basis = statistics.kernel, statistics.basis
    empty.factor = statistics.factor
    total, count, weighed = blocks.reduce(block_disagreement, blocks.items, empty, *options)
    if weighed:
        raise ArgumentError("blocks have item weights", "blocks without item weights")
    if count < 2:
        raise ArgumentError(
            f"blocks have {count_of(count, 'query')} with two different scores",
            "at least 2 such queries, one for training and one for validation",
        )
    return total / count
