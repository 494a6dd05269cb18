"""Metrics of models: their scores, pair features, links, and sums over blocks."""

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..base.errors import ArgumentError, a_type
from ..base.limits import taken_by
from ..base.validation import describe_value
from ..preferences.graph import Preferences
from .queries import RULES, UndefinedMetric, find_metric, metric_sums


def ranker_of(model):
    """Return the ranker whose scores a model predicts.

    It is the last step of a pipeline, the best estimator of a search, or the `model` of a class
    that declares `predicts_as_model`, as :class:`rankbook.estimators.scaled.ScaledModel` does.
    """
    while True:
        if hasattr(model, "steps"):
            model = model.steps[-1][1]
        elif (best := getattr(model, "best_estimator_", None)) is not None:
            model = best
        elif getattr(model, "predicts_as_model", False):
            model = model.model
        else:
            return model


def add_link(metric, options, model):
    """Return the function and the options of a metric, with the model's link as option `link`.

    A link that is already among the options is kept.

    Raises
    ------
    ValueError
        If the metric needs probabilities and the model has none.
    """
    metric, options = find_metric(metric, options)
    if metric not in RULES or not RULES[metric].has_link or "link" in options:
        return metric, options
    ranker = ranker_of(model)
    if not hasattr(type(ranker), "link_"):
        raise ArgumentError(
            f"metric is {metric.__name__!r} and model is {a_type(ranker)}, which has no link_",
            "a rankbook model with probabilities",
            "If score differences are log-odds, pass link='logistic'.",
        )
    return metric, options | dict(link=ranker.link_)


def with_advantages(model, y, scores, argument="y"):
    """Convert pair features to advantages in the scores: preferences without them, new scores.

    Parameters
    ----------
    model : object
        The model that predicted the scores. One that was fitted without pair features gives them
        no weight.
    y : Preferences or other target
    scores : ndarray of shape (n,)
    argument : str
        Name of the target in messages.

    Returns
    -------
    y, scores
        Both unchanged without pair features, and if the model is not a ranker of this package.
    """
    u, ranker = getattr(y, "pair_features", None), ranker_of(model)
    if u is None or not hasattr(type(ranker), "predict_pair_proba"):
        return y, scores
    theta = getattr(ranker, "pair_coef_", None)
    if theta is None:
        return y.without_pair_features(), scores
    if u.shape[1] != theta.size:
        raise ArgumentError(
            f"{argument} has {u.shape[1]} pair features and the model was fitted with {theta.size}",
            f"{theta.size} pair features",
        )
    # both items get a positive part, so that an exchange of the items exchanges the scores
    ends = zip((y.better, y.worse), (u, -u))
    scores = np.concatenate([scores[rows] + np.maximum(v, 0) @ theta for rows, v in ends])
    first = np.arange(len(u))
    given = (None if (v == 1).all() else v for v in (y.weight, y.margin))
    apart = Preferences(first, first + len(u), 2 * len(u), *given)
    return apart.replaced(n_ties=y.n_ties), scores


def measure_model(metric, model, y, scores, qid=None, sample_weight=None, **options):
    """Compute a metric of a model from its scores of items, with its pair features and its link."""
    metric, options = add_link(metric, options, model)
    y, scores = with_advantages(model, y, scores)
    return metric(y, scores, qid, sample_weight, **options)


def over_blocks(
    metric: str | Callable[..., float],
    blocks: Any,
    model: Any,
    *,
    empty: Literal["skip", 0, 1] = "skip",
    **options: Any,
) -> float:
    """Compute a metric of a model on blocks of whole queries.

    Parameters
    ----------
    metric : str or callable
        As in :func:`rankbook.metrics.by_query`.
    blocks : Blocks
        Items with grades y; see :class:`rankbook.Blocks` and :func:`rankbook.read_blocks`. Their
        weights become the metric's ``sample_weight``. For survival times, 1 minus the disagreement
        is the concordance within strata.
    model : object
        Estimator or Solution, whose ``predict(X)`` returns scores.
    empty : {"skip", 0, 1}, default "skip"
        Value of a query for which the metric is undefined.
    **options
        Options of the metric, such as ``k=10``.

    Returns
    -------
    float
        The value of the metric on all items in memory, up to rounding: queries are added up in
        another order.

    Raises
    ------
    UndefinedMetric
        If the metric is undefined for every query. This error is a ValueError.
    TypeError, ValueError
        In the same cases as :func:`rankbook.metrics.by_query`.

    Notes
    -----
    One pass over the items, O(n d + n log n) for a linear function. The AUC requires at most two
    different values in each query; different queries may have different values.

    Examples
    --------
    >>> import rankbook as rb
    >>> X, y = [[0.0], [1.0], [3.0]], [0, 1, 2]
    >>> blocks = rb.Blocks([rb.Block(X, y, [1, 1, 1]), rb.Block(X, y, [2, 2, 2])])
    >>> model = rb.solve(rb.BlockRankSVMProblem(blocks), 0.1)
    >>> rb.metrics.over_blocks("ndcg@2", blocks, model)
    1.0
    """
    find_metric(metric, options)  # refuse a wrong name before any work
    if not hasattr(blocks, "reduce"):
        raise ArgumentError(
            f"blocks is {a_type(blocks)}",
            "rankbook.Blocks, or the result of rankbook.dask_blocks",
        )
    if not callable(getattr(model, "predict", None)):
        raise ArgumentError(
            f"model is {describe_value(model)}",
            "an estimator or a Solution, whose predict(X) gives scores",
        )
    sums = blocks.reduce(block_sums, blocks.items, model, ((metric, options),), empty)
    return quotients(sums, ((metric, options),))[0]


def block_scores(block, model):
    """Compute the scores of a block's items, with feature names if the model has them.

    For a block without names, scikit-learn's warning about them is silenced.
    """
    if block.feature_names is not None and getattr(model, "feature_names_in_", None) is not None:
        scores = model.predict(block.named_items())
    else:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            scores = model.predict(taken_by(model, block.X))
    if np.ndim(scores) > 1:
        raise ArgumentError(
            f"model gives {np.shape(scores)[1]} scores for each row",
            "a model with one score for each row",
            "To score label rankers and other models of several columns, call model.predict.",
        )
    return scores


def block_sums(block, model, metrics, empty="skip"):
    """Compute :func:`metric_sums` of some metrics (name, options) for one block, as a tuple."""
    scores, found = block_scores(block, model), []
    for each, more in (add_link(each, more, model) for each, more in metrics):
        if block.is_survival:
            known = preferences_for(each, more, block), scores
        elif block.worse_weight is None:
            known = block.y, scores, block.qid, block.weight
        else:
            known = block.preferences(), scores
        found.append(metric_sums(each, *known, empty=empty, **more))
    return tuple(found)


def preferences_for(metric, options, block):
    """Return the preferences of survival times, as those of scores for a metric of pairs."""
    prefs, rule = block.preferences(), RULES.get(find_metric(metric, options)[0])
    if rule is None or rule.weighs != "pairs":
        return prefs  # which the metric refuses
    level = 2 * np.unique(block.y["time"], return_inverse=True)[1] + ~block.y["event"]
    scored = Preferences.from_scores(level, block.qid)
    return scored.item_weighted(prefs.better_weight, prefs.worse_weight)


def quotients(sums, metrics):
    """Divide the sums of metrics over all blocks; UndefinedMetric if one has no query."""
    found = []
    for (total, number), (metric, options) in zip(sums, metrics):
        rule = RULES.get(find_metric(metric, options)[0])
        if not number > 0:
            needs = "a value" if rule is None else rule.needs
            raise UndefinedMetric(
                f"blocks have no query with {needs} and a weight above 0", "at least one such query"
            )
        found.append(total / number)
    return found
