"""Shared parts of the metrics by query: ranked lists, names, checks and means."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..base.errors import ArgumentError, a_type
from ..base.numerics import order_within
from ..base.validation import (
    as_array,
    as_count,
    as_ids,
    as_positive,
    as_vector,
    require_same_rows,
    unknown_name,
)
from ..preferences.events import column_names, has_columns, index_of
from ..preferences.graph import (
    Preferences,
    as_preferences,
    of_rows,
)
from ..preferences.laplacians import members
from ..preferences.missed_pairs import TIE_TOL, pairs_by_query, tie_chains, weight_scale
from ..preferences.names import refuse_pair_features
from ..preferences.orders import survival_target
from ..preferences.target import Target


def running(ufunc, v, place):
    """Accumulate v (n,) by `ufunc` (np.add or np.multiply) within each list.

    `place` (n,) counts from 0 in each list. O(n log(longest list)) time, O(n) for sums of
    integers.
    """
    if ufunc is np.add and v.dtype.kind == "i":  # exact, so that one pass suffices
        total = np.cumsum(v)
        return total - (total - v)[np.arange(v.size) - place]
    total, step, longest = v, 1, int(place.max(initial=0))
    while step <= longest:
        more = total.copy()
        ufunc(total[step:], total[:-step], out=more[step:], where=place[step:] >= step)
        total, step = more, 2 * step
    return total


class RankedLists:
    """Items of all queries in one array, best first within each query, with chains of ties.

    O(n log n), for the sort. Several threads sort if the queries of the items are in order; the
    sums that follow read memory and use one.

    Parameters
    ----------
    y_true, y_score : ndarray of shape (n,), float
    number : ndarray of shape (n,), int, optional
        The query of each item, 0 to q - 1 without a gap; one query by default.
    weight, worse : ndarrays of shape (n,), float, optional
        Weights of the items; with `worse`, as the better and as the worse item of a pair.

    Attributes
    ----------
    order : ndarray of shape (n,)
        The item at each position.
    grade, weight, worse, query : ndarrays of shape (n,)
        Grade, weights (or None) and query of the item at each position.
    key : ndarray of shape (n,)
        Minus its score, which rises within each list.
    first, size : ndarrays of shape (q,)
        The position where each list begins, and how many items it has.
    begin, place : ndarrays of shape (n,)
        Start of the list to which each position belongs, and the position within the list, from 0.
    chain_first, chain_size : ndarrays of shape (c,)
        Start and size of each chain of ties.
    """

    def __init__(self, y_true, y_score, number=None, weight=None, worse=None):
        number = np.zeros(y_true.size, dtype=np.intp) if number is None else number
        key = -y_score
        self.order = order_within(number, key)
        self.grade, self.query = y_true[self.order], number[self.order]
        self.key = key[self.order]
        cut = lambda weight: None if weight is None else weight[self.order]
        self.weight, self.worse = cut(weight), cut(worse)
        self.size = np.bincount(number)
        self.first = np.cumsum(self.size) - self.size
        self.begin = np.repeat(self.first, self.size)
        self.place = np.arange(y_true.size) - self.begin
        self.chain_first, self.chain_size = tie_chains(self.key, self.begin)

    def rising(self):
        """Return the level (0, 1, 2, ... in each list), the score and the weights of each item.

        Lists keep their positions, but scores increase within a list. O(n log n).
        """
        order = order_within(self.query, self.grade)
        grade = self.grade[order]
        higher = np.r_[False, grade[1:] > grade[:-1]] & (self.place > 0)
        count = np.cumsum(higher)
        number = np.empty_like(count)
        number[order] = count - count[self.begin]
        turned = 2 * self.begin + np.repeat(self.size, self.size) - 1 - np.arange(count.size)
        given = self.weight, self.worse
        weights = [None if weight is None else weight[turned] for weight in given]
        return number[turned], -self.key[turned], weights

    def pair_counts(self, tie_tol=TIE_TOL):
        """Count or weigh the pairs of each list: missed, missed or tied, and all (q,)."""
        if self.place.size == 0:
            return (np.zeros(0),) * 3
        grade, scores, weights = self.rising()
        return pairs_by_query(grade, scores, self.begin, as_tie_tol(tie_tol), *weights)

    @property
    def pair_units(self):
        """Units (q,) of the pair counts of each list: the products of its largest weights."""
        if self.weight is None:
            return 1.0
        worse = self.weight if self.worse is None else self.worse
        return weight_scale(self.weight, self.first) * weight_scale(worse, self.first)

    def total(self, v):
        """Sum v (n,) over each list, shape (q,)."""
        return np.add.reduceat(v, self.first)

    def chain_total(self, v):
        """Sum v (n,) over each chain, shape (c,)."""
        return np.add.reduceat(v, self.chain_first)

    def shared(self, v):
        """Average v (n,) over the chain of each position, shape (n,)."""
        if self.chain_size.size == v.size:  # no ties
            return v
        return np.repeat(self.chain_total(v) / self.chain_size, self.chain_size)

    @cached_property
    def chain_of_list(self):
        """Index (q,) of the first chain of each list."""
        return np.searchsorted(self.chain_first, self.first)

    @cached_property
    def chain_place(self):
        """Number (c,) of chains before each chain in its list."""
        first = self.chain_of_list
        return np.arange(self.chain_first.size) - np.repeat(
            first, np.diff(np.r_[first, self.chain_first.size])
        )


class UndefinedMetric(ArgumentError):
    """Error of a metric without a preference, or without a query for which it is defined.

    Examples
    --------
    >>> from rankbook import metrics
    >>> try:
    ...     metrics.auc([1, 1], [0.2, 0.3])
    ... except metrics.UndefinedMetric as error:
    ...     print(error)
    y_true has no query with two different values. Pass at least one such query.
    """

    def __init__(self, said, accepted="a query for which the metric is defined", advice=""):
        super().__init__(said, accepted, advice)  # a user's metric may raise it with one sentence


def refuse_swapped(y_true, y_score, argument="y_score"):
    """Refuse preferences in place of scores, and a row for each query as in scikit-learn."""
    if isinstance(y_score, Target):
        raise ArgumentError(
            f"{argument} is {a_type(y_score)}",
            "scores of shape (n,)",
            f"The order of arguments is (y_true, {argument}).",
        )
    shape = as_array(argument, y_score).shape
    if len(shape) != 2 or isinstance(y_true, Target) or has_columns("y_true", y_true):
        return
    if shape == as_array("y_true", y_true).shape:
        raise ArgumentError(
            f"y_true has shape {shape}",
            "an array of shape (n,), with one entry for each item",
            "For a row of each query, pass y_true.ravel(), y_score.ravel() and "
            f"qid=np.repeat(np.arange({shape[0]}), {shape[1]}).",
        )


class Rule(NamedTuple):
    """Rule by which a metric is computed for all queries at once.

    ``values(lists, **options)`` returns an array (q,), NaN for a query without what it `needs`.
    Weights belong to "items", "queries" or "pairs"; for pairs, items may have two weights. A metric
    with ``pooled(lists, **options)`` is a mean over preferences and not over queries, and a lower
    value is better. `pooled` returns for each list the sum over its preferences and their total
    weight, (q,) and (q,). A metric of probabilities has the option `link`.
    """

    values: Callable[..., np.ndarray]
    needs: str
    weighs: Literal["items", "queries", "pairs"] = "queries"
    pooled: Callable[..., tuple[np.ndarray, np.ndarray]] | None = None
    has_link: bool = False


RULES: dict[Callable, Rule] = {}
NAMES: dict[str, Callable] = {}
Metric = TypeVar("Metric", bound=Callable[..., float])


def counted_by(*rule: Any, name: str | None = None, **more: Any) -> Callable[[Metric], Metric]:
    """Register the :class:`Rule` of a metric, and its name if it differs from the function's."""

    def keep(metric: Metric) -> Metric:
        has_link = "link" in inspect.signature(metric).parameters
        RULES[metric] = Rule(*rule, has_link=has_link, **more)
        NAMES[name or metric.__name__] = metric
        return metric

    return keep


def takes_k(metric):
    """Return whether a metric has the option k, and whether it requires it."""
    k = inspect.signature(metric).parameters.get("k")
    return k is not None, k is not None and k.default is k.empty


SYNONYMS = dict(mrr="reciprocal_rank", map="average_precision", roc_auc="auc")
SYNONYMS |= dict(rbp="rank_biased_precision", rbo="rank_biased_overlap")


def split_metric(metric, k=None):
    """Split a metric into name and k: ("ndcg", 10) for ``"ndcg@10"``, or for "ndcg" and k=10.

    Synonyms used by other packages become names of this one; a function is returned unchanged.
    """
    if not isinstance(metric, str):
        return metric, k
    name, _, places = metric.partition("@")
    if not places.isdecimal():
        return SYNONYMS.get(metric, metric), k
    if k is not None:
        raise ArgumentError(f"k is {k!r}, and metric is {metric!r}", "a single k")
    if int(places) < 1:
        raise ArgumentError(f"metric is {metric!r}", f"at least one rank, such as {name}@10")
    return SYNONYMS.get(name, name), int(places)


def find_metric(metric, options=()):
    """Return the function and the options of a metric.

    The metric is a function or a name such as "map" or ``"ndcg@10"``.

    Raises
    ------
    TypeError
        If `metric` is neither, or an option is not one of the function's.
    ValueError
        If there is no such name (the message names the nearest one), or its k is missing.
    """
    options = dict(options)
    if isinstance(metric, str):
        (name, k), at = split_metric(metric, options.get("k")), "@" in metric
        if name not in NAMES or at and not takes_k(NAMES[name])[0]:
            whole = k if at and k is not None else "k"
            known = [n + f"@{whole}" * takes_k(f)[not at] for n, f in NAMES.items()]
            raise unknown_name("metric", metric, known)
        metric, options = NAMES[name], options | (dict(k=k) if at else {})
    if not callable(metric):
        raise ArgumentError(
            f"metric is {metric!r}", "a function of (y_true, y_score), or the name of a metric"
        )
    if metric in RULES:
        parameters = inspect.signature(metric).parameters.values()
        accepted = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
        unknown = sorted(set(options) - set(accepted))
        if unknown:
            raise ArgumentError(
                f"{unknown[0]} is not an option of the metric {metric.__name__}",
                f"only {', '.join(accepted)}" if accepted else "no options",
            )
        if takes_k(metric)[1] and options.get("k") is None:
            raise ArgumentError(f"k is None for {metric.__name__}", "an integer >= 1")
    return metric, options


def refuse_beside_preferences(y_true, **given):
    """Refuse arguments that the target (preferences or orders) already contains."""
    held = "orders" if y_true.unit == "order" else "preferences"
    for name, value in given.items():
        if value is not None:
            raise ArgumentError(
                f"{name} is given, and y_true is {a_type(y_true)}",
                f"Omit {name}, because {held} hold their queries and weights.",
            )


def as_pair_target(y_true, rows, argument="y_true", of="y_score", **others):
    """Return preferences between rows if `y_true` contains pairs or survival times, else `y_true`.

    Orders are returned unchanged. `others` are further arguments with an entry for each row; see
    :func:`rankbook.base.validation.require_same_rows`,
    :func:`rankbook.preferences.graph.as_preferences` and
    :func:`rankbook.preferences.orders.survival_target`.
    """
    y_true, others = survival_target(y_true), {of: rows} | others
    if isinstance(y_true, Target):
        require_same_rows(**others)
        return y_true if index_of(rows) is None else of_rows(y_true, rows, argument, of)
    if has_columns(argument, y_true):
        are_pairs = len(column_names(y_true)) > 1
    else:
        found = as_array(argument, y_true)
        kinds = "iuOUS" + "f" * (index_of(rows) is not None)  # names may be whole numbers
        are_pairs = found.ndim > 1 and found.shape[1] == 2 and found.dtype.kind in kinds
    if are_pairs:
        require_same_rows(**others)
        return as_preferences(y_true, rows, argument, of)
    require_same_rows(**others, **{argument: y_true})
    return y_true


def as_judged(y_true, y_score, qid=None, sample_weight=None):
    """Return the preferences of `y_true`, at least one, and scores (n,)."""
    refuse_swapped(y_true, y_score)
    y_true = as_pair_target(y_true, y_score, qid=qid, sample_weight=sample_weight)
    refuse_pair_features(
        y_true,
        "y_true",
        "Scores of items do not include the effect of pair features. For a model call "
        "model.score(X, y), model.calibrate(X, y) or rb.metrics.scorer(metric)(model, X, y).",
    )
    if isinstance(y_true, Target):
        y_score = as_vector("y_score", y_score, y_true.n_items)
        refuse_beside_preferences(y_true, qid=qid, sample_weight=sample_weight)
        if y_true.unit == "order" and not len(y_true):  # perhaps without an item of positive weight
            raise UndefinedMetric("y_true has no preference", "at least one preference")
        prefs, y_score = y_true.pairs_with(y_score)
    else:
        y_true = as_vector("y_true", y_true)
        if y_true.size == 0:
            as_vector("y_score", y_score, 0)
            raise UndefinedMetric("y_true has no preference", "at least one preference")
        prefs = Preferences.from_scores(y_true, qid)
        if sample_weight is not None:
            weight = as_vector("sample_weight", sample_weight, y_true.size, minimum=0.0)
            prefs = prefs.item_weighted(weight)
        y_score = as_vector("y_score", y_score, prefs.n_items)
    if not len(prefs) and not len(prefs.without_item_weights()):
        raise UndefinedMetric("y_true has no preference", "at least one preference")
    return prefs, y_score


def as_grades(y_true, qid=None, sample_weight=None, weighs="queries"):
    """Return `y_true` as a finite vector, query ids, weights and second weights of items, or None.

    Preferences that were made from scores contain all of these. Only metrics that weigh items or
    pairs use item weights, and only metrics that weigh pairs use two weights. Other preferences
    are refused because they have no grades.
    """
    if not isinstance(y_true, Preferences):
        return as_vector("y_true", y_true), qid, sample_weight, None
    if y_true.survival is not None:
        raise ArgumentError(
            "y_true holds survival times, which are not grades",
            "grades of shape (n,)",
            "For survival times call rb.metrics.concordance(y_true, y_score), concordance_interval "
            "or compare_concordances.",
        )
    refuse_beside_preferences(y_true, qid=qid, sample_weight=sample_weight)
    if y_true.scores is None:
        raise ArgumentError(
            "y_true holds pairs, which have no grades and no queries",
            "grades of shape (n,), or Preferences.from_scores(y, qid)",
            "For pairs call rb.metrics.pair_accuracy(y_true, y_score).",
        )
    if weighs == "queries":
        return y_true.scores, y_true.queries, None, None
    if y_true.has_pair_weights:
        raise ArgumentError(
            "y_true is a Preferences with weights of individual preferences",
            "weights of items",
            "For other weights call rb.disagreement(y_true, y_score).",
        )
    two = y_true.better_weight is not y_true.worse_weight
    if two and weighs != "pairs":
        raise ArgumentError(
            "y_true is a Preferences whose items have two weights",
            "one weight for each item",
            "For two weights call rb.disagreement(y_true, y_score).",
        )
    worse = y_true.worse_weight if two else None
    return y_true.scores, y_true.queries, y_true.better_weight, worse


def query_weights(weight, number):
    """Return the weights (q,) of the queries; refuse weights that differ within a query."""
    first = np.unique(number, return_index=True)[1]
    other = np.flatnonzero(weight != weight[first][number])
    if other.size:
        i, j = first[number[other[0]]], other[0]
        raise ArgumentError(
            f"sample_weight has {weight[i]} at index {i} and {weight[j]} at index {j}, two "
            "items of one query",
            "one weight for all items of a query, because this metric weighs queries",
        )
    return weight[first]


def empty_value(empty):
    """Return the value of a query without one: NaN for "skip", 0.0 or 1.0."""
    if isinstance(empty, str) and empty == "skip":
        return np.nan
    if isinstance(empty, (int, float, np.number)) and type(empty) is not bool and empty in (0, 1):
        return float(empty)
    raise ArgumentError(f"empty is {empty!r}", "'skip', 0 or 1")


def by_query(
    metric: str | Callable[..., float],
    y_true: ArrayLike | Preferences,
    y_score: ArrayLike,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    empty: Literal["skip", 0, 1] = "skip",
    **options: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Evaluate a metric on each query separately.

    Parameters
    ----------
    metric : str or callable
        Metric of this package or its name, such as "auc" or ``"ndcg@10"``; or any function
        ``metric(y_true, y_score)`` of the items of one query that returns a float. If
        `sample_weight` is given, the function receives it as ``sample_weight=``.
    y_true, y_score : array-like of shape (n,), float
        Grades of the items, and their scores. Preferences made from scores are accepted as
        grades with their queries, and with their item weights if the metric weighs items.
    qid : array-like of shape (n,), optional
        Query ids, in any order; one query by default.
    sample_weight : array-like of shape (n,), optional
        Weights >= 0 of the items.
    empty : {"skip", 0, 1}, default "skip"
        Value of a query for which the metric is undefined; "skip" gives NaN. Queries whose items
        all have weight 0 are NaN in any case.
    **options
        Options of the metric, such as ``k=10``.

    Returns
    -------
    ids : ndarray of shape (n_queries,)
        Distinct query ids, sorted; 0 if `qid` is None.
    values : ndarray of shape (n_queries,), float64
        Metric of each query; the value of `empty` where the metric is undefined.

    Raises
    ------
    TypeError, ValueError
        If the metric or an option does not exist, or an array is invalid.

    Notes
    -----
    O(n log n) for a metric of this package; other functions are called once per query.

    Examples
    --------
    >>> from rankbook.metrics import by_query
    >>> by_query("ndcg@1", [0, 2, 1, 1], [3.0, 1.0, 2.0, 1.0], qid=["v", "v", "u", "u"])[1].tolist()
    [1.0, 0.0]
    """
    metric, options = find_metric(metric, options)
    return query_lists(metric, y_true, y_score, qid, sample_weight, empty, options)[:2]


def query_lists(metric, y_true, y_score, qid, weight, empty, options):
    """Return ids and values (q,) of :func:`by_query`, query weights or None, and ranked lists.

    The lists are None for a metric that is not of this package.
    """
    fill, rule = empty_value(empty), RULES.get(metric)
    refuse_swapped(y_true, y_score)
    y_true = as_pair_target(y_true, y_score, qid=qid, sample_weight=weight)
    weighs = rule.weighs if rule else "queries"
    y_true, qid, weight, worse = as_grades(y_true, qid, weight, weighs)
    y_score = as_vector("y_score", y_score, y_true.size)
    number = np.zeros(y_true.size, dtype=np.intp)
    ids, number = (number[:1], number) if qid is None else as_ids("qid", qid, y_true.size)
    if weight is not None:
        weight = as_vector("sample_weight", weight, y_true.size, minimum=0.0)
    if rule is not None:
        of_queries = None
        if weight is not None and rule.weighs == "queries":
            of_queries, weight = query_weights(weight, number), None
        lists = RankedLists(y_true, y_score, number, weight, worse)
        values = rule.values(lists, **options)
        values = np.where(np.isnan(values), fill, values)
        if weight is not None and values.size:
            largest = lists.weight if worse is None else np.maximum(lists.weight, lists.worse)
            values[np.maximum.reduceat(largest, lists.first) == 0] = np.nan
        return ids, values, of_queries, lists
    values = []
    for i in members(number) if number.size else ():
        more = options if weight is None else options | dict(sample_weight=weight[i])
        try:
            value = metric(y_true[i], y_score[i], **more)
        except UndefinedMetric:
            value = np.nan
        if np.ndim(value) or isinstance(value, str):
            raise ArgumentError(f"metric returned {value!r}", "Return a number for each query.")
        values.append(fill if np.isnan(value) else value)
    return ids, np.array(values, dtype=np.float64), None, None


def mean_over_queries(values, needs, weight=None):
    """Average the values of the queries that are not NaN.

    All queries have equal weight, or the given ones.
    """
    defined = ~np.isnan(values) & (weight is None or weight > 0)
    if not defined.any():
        raise UndefinedMetric(
            f"y_true has no query with {needs}{' and a weight above 0' * (weight is not None)}",
            "at least one such query",
        )
    if weight is None:
        return float(values[defined].mean())
    return float(np.average(values[defined], weights=weight[defined] / weight[defined].max()))


def average_queries(metric, y_true, y_score, qid, sample_weight, empty, **options):
    """Average a metric of this package over queries.

    Raises the errors of :func:`by_query`, and UndefinedMetric if all queries are left out.
    """
    found = query_lists(metric, y_true, y_score, qid, sample_weight, empty, options)
    return mean_over_queries(found[1], RULES[metric].needs, found[2])


def as_tie_tol(tie_tol):
    """Check that a tolerance for ties is a number >= 0 and < 1."""
    tie_tol = as_positive("tie_tol", tie_tol, zero=True)
    if tie_tol >= 1:
        raise ArgumentError(f"tie_tol is {tie_tol!r}", "a number >= 0 and < 1")
    return tie_tol


def as_depth(k):
    """Check the number of ranks that count: an integer >= 1, or None for all."""
    return None if k is None else as_count("k", k)


def metric_sums(metric, y_true, y_score, qid=None, sample_weight=None, *, empty="skip", **options):
    """Sum a metric over queries, and count the queries or sum their weights.

    Parameters
    ----------
    metric, y_true, y_score, qid, sample_weight, empty, **options
        As in :func:`rankbook.metrics.by_query`.

    Returns
    -------
    total, number : float
        Their quotient is the metric. For a mean over preferences, their sum and total weight.
    """
    metric, options = find_metric(metric, options)
    _, values, weight, lists = query_lists(
        metric, y_true, y_score, qid, sample_weight, empty, options
    )
    if lists is not None and RULES[metric].pooled:
        lost, whole = RULES[metric].pooled(lists, **options)
        return float(lost.sum()), float(whole.sum())
    weight, there = np.ones(values.size) if weight is None else weight, ~np.isnan(values)
    return float(values[there] @ weight[there]), float(weight[there].sum())
