"""Scorers for scikit-learn from metrics by query."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..base.errors import ArgumentError, a_type
from ..base.validation import as_ids
from ..preferences.target import Target
from .models import measure_model
from .queries import RULES, as_pair_target, find_metric

if TYPE_CHECKING:
    from pandas import Series


def refuse_without_ids(model, y, qid):
    """Refuse to score a model without query ids if it was fitted with them.

    This includes models inside a pipeline, search or other meta-estimator.
    """
    known = isinstance(y, Target)
    inside, seen = [model] if qid is None and not known else [], set()
    while inside:
        one = inside.pop()
        if getattr(one, "by_query_", False):
            raise ValueError(
                "qid is None, and the model was fitted with query ids. Pass qid "
                "(np.zeros(len(X)) if all items belong to one query). In a pipeline or search, "
                "pass y=rb.Preferences.from_scores(y, qid=qid), which scikit-learn splits with its "
                "queries, or route qid by set_score_request(qid=True)."
            )
        if isinstance(one, list | tuple):
            inside += one
        elif hasattr(one, "get_params") and id(one) not in seen:
            seen.add(id(one))
            inside += [v for k, v in vars(one).items() if k.endswith("_") or k == "steps"]


class QueryScorer:
    """Scorer that evaluates an estimator with a metric; :func:`scorer` creates it.

    Parameters
    ----------
    metric : callable
    sign : {1, -1}
        -1 if lower values of the metric are better.
    options : dict
        Options of the metric.
    queries : pandas.Series, optional
        Query ids by the index of y.
    """

    def __init__(self, metric, sign, options, queries=None):
        self.metric, self.sign, self.options, self.queries = metric, sign, options, None
        if queries is not None:
            if not hasattr(queries, "loc") or getattr(queries, "ndim", 0) != 1:
                raise ArgumentError(
                    f"queries is {a_type(queries)}",
                    "a pandas Series of query ids by the index of y",
                )
            as_ids("queries", queries, len(queries))
            if not queries.index.is_unique:
                label = queries.index[queries.index.duplicated()][0]
                raise ArgumentError(
                    f"queries has {label!r} twice in its index", "unique row labels"
                )
            self.queries = queries.copy()
        self._requests = dict(qid=True if queries is None else None, sample_weight=None)

    def __call__(self, estimator, X, y_true, qid=None, sample_weight=None):
        """Return the metric, with a sign such that greater is better."""
        if self.queries is not None:
            qid = self._looked_up(y_true)
        y_true = as_pair_target(y_true, X, "y", "X", qid=qid, sample_weight=sample_weight)
        refuse_without_ids(estimator, y_true, qid)
        scores = np.asarray(estimator.predict(X))
        given = self.metric, estimator, y_true, scores, qid, sample_weight
        return self.sign * measure_model(*given, **self.options)

    def set_score_request(self, *, qid: Any = True, sample_weight: Any = None) -> Self:
        """Declare which metadata scikit-learn passes to this scorer."""
        self._requests = dict(qid=qid, sample_weight=sample_weight)
        return self

    def get_metadata_routing(self):
        """Return the metadata request for scikit-learn."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        for name, alias in self._requests.items():
            request.score.add_request(param=name, alias=alias)
        return request

    def _accept_sample_weight(self):
        return True  # scikit-learn requires it of scorers that are combined

    def _looked_up(self, y_true):
        """Return the query ids of the rows of y, by its index."""
        if not hasattr(y_true, "index") or callable(y_true.index):
            raise ArgumentError(
                f"y is {a_type(y_true)}",
                "a pandas Series with the row labels of queries as its index",
            )
        unknown = y_true.index.difference(self.queries.index, sort=False)
        if len(unknown):
            raise ArgumentError(
                f"y has the row {unknown[0]!r}, which is not in the index of queries",
                "rows of queries",
            )
        return self.queries.loc[y_true.index]

    def __repr__(self) -> str:
        more = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"scorer({self.metric.__name__}{more}{', queries=...' * (self.queries is not None)})"


def scorer(
    metric: str | Callable[..., float],
    *,
    queries: "Series | None" = None,
    **options: Any,
) -> QueryScorer:
    """Make a scorer for scikit-learn's GridSearchCV, cross_val_score and others.

    The scorer evaluates a metric on the scores of ``predict`` and takes `qid` by metadata routing.
    For preferences with pair features, it adds the effect of these features to the scores of
    rankers of this package. Metrics of probabilities use the link of the ranker, or its calibration
    if there is one.

    Parameters
    ----------
    metric : str or callable
        Name of a metric, such as "auc" or ``"ndcg@10"``, or a metric of :mod:`rankbook.metrics`.
        :func:`rankbook.disagreement` gets a minus sign, because larger values of a scorer must be
        better.
    queries : pandas.Series, optional
        Query ids by the index of y, for use without metadata routing. y must then be a Series.
    **options
        Options of the metric, such as ``k=10, empty=0``. ``link="logistic"`` computes the log loss
        and the Brier score of models that have no link.

    Returns
    -------
    QueryScorer
        Callable as ``scorer(estimator, X, y)``, like scorers of
        :func:`sklearn.metrics.make_scorer`, with ``qid=`` if scikit-learn routes it. It can be
        pickled. It raises a ValueError without query ids if the estimator was fitted with them.

    Raises
    ------
    ValueError
        If no metric has this name (the message names the nearest one), or an option has an invalid
        value.
    TypeError
        If `metric` is neither a name nor a metric of this package, or has no such option.

    Notes
    -----
    To weight queries, use ``scorer(...).set_score_request(qid=True, sample_weight=True)``. If y is
    :class:`rankbook.Preferences` made from scores with query ids, neither routing nor `queries` is
    needed. Without any of these, all items of a fold form one query.

    Examples
    --------
    >>> from rankbook.metrics import scorer
    >>> scorer("ndcg@10")
    scorer(ndcg, k=10)
    """
    function, options = find_metric(metric, options)
    rule = RULES.get(function)
    if rule is None:
        raise ArgumentError(
            f"metric is {function!r}",
            "a metric of rankbook.metrics, or its name",
            "For another function, use sklearn.metrics.make_scorer.",
        )
    function([0, 1], [0, 1], **options)  # refuses wrong options
    return QueryScorer(function, -1 if rule.pooled else 1, options, queries)
