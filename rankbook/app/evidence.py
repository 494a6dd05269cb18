"""Data that models are judged by: metrics with intervals, and paired comparisons."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import t as student

from ..base.errors import ArgumentError
from ..base.validation import as_array, as_ids, as_vector, query_numbers, require_kind
from ..metrics.compare import compare, holm, interval
from ..metrics.concordance_intervals import compare_concordances
from ..metrics.models import ranker_of
from ..metrics.pairs import TIE_TOL, disagreement
from ..metrics.probabilities import brier_score, log_loss
from ..metrics.queries import RULES, UndefinedMetric, by_query, find_metric
from ..preferences.events import index_of
from ..preferences.graph import Preferences, as_preferences
from ..preferences.missed_pairs import miss_loss
from ..preferences.orders import survival_target
from .measures import interval_of_concordance, of_table_or_model

LEVEL = 0.95  # of every interval
MOST_PAIRS = 5_000_000  # preferences that are listed one by one
BY_QUERY = ("ndcg@10", "average_precision", "reciprocal_rank", "kendall_tau", "pair_accuracy")
WORDS = dict(pair_accuracy="pairs in the right order")
WORDS |= dict(brier_score="Brier score", kendall_tau="Kendall's tau")


def name_of(metric):
    """Return the printed name of a metric."""
    return WORDS.get(metric, metric.replace("ndcg", "NDCG").replace("_", " "))


@dataclass(eq=False)
class Evidence:
    """Data that models are judged by, and how each model orders them.

    Attributes
    ----------
    prefs : Preferences
        Orders become pairs of items, unless they are too many survival times to list.
    names : list of str
        Names of the items.
    y, qid : ndarrays of shape (n,), or None
    X : items, or None
    what : str
        Short name of the data, such as "the test part".
    of_fit : bool
        Whether models were fitted to them.
    cluster : ndarray of shape (n,), or None
        Ids of clusters of dependent patients.
    target : Preferences or Orders
        The preferences or orders as given.
    intervals : dict
        For each model of survival times, the interval of its concordance, or None, and why there is
        none.
    scores, missed : dict of ndarrays (n,) and (m,)
        For each model, the scores of the items, and the loss of each preference: 1 if it is in the
        wrong order and 1/2 if both items tie.
    """

    prefs: Preferences
    names: list
    y: np.ndarray | None = None
    qid: np.ndarray | None = None
    X: Any = None
    what: str = ""
    of_fit: bool = False
    cluster: np.ndarray | None = None
    target: Any = field(init=False)
    intervals: dict = field(default_factory=dict)
    scores: dict = field(default_factory=dict)
    missed: dict = field(default_factory=dict)

    def __post_init__(self):
        self.target = self.prefs
        if self.prefs.unit == "order":  # as pairs of items
            self.prefs, item = self.prefs.counted_pairs()
            if len(self.prefs) <= MOST_PAIRS or not self.of_survival:
                pairs, n = self.prefs, self.target.n_items
                ends = item[pairs.better], item[pairs.worse]
                self.prefs = Preferences(*ends, n, weight=pairs.weight)
        self.query = query_numbers(self.qid, self.target.n_items)
        if self.target.queries is not None and self.qid is None:
            self.query = query_numbers(self.target.queries, self.target.n_items)
        self.listed = len(self.prefs) <= MOST_PAIRS

    @property
    def of_survival(self):
        """Whether the data are survival times."""
        return self.target.survival is not None

    @property
    def measured(self):
        """Whether models have a share of pairs in the right order."""
        return self.listed or self.of_survival

    @property
    def units(self):
        """Independent units: queries, or items if there are fewer than two queries.

        For survival times patients, rows if patients enter late, or clusters.
        """
        if self.of_survival:
            alone = "rows" if "entry" in self.target.survival.dtype.names else "patients"
            return alone if self.cluster is None else "clusters"
        return "queries" if self.query.max(initial=0) > 0 else "items"

    @property
    def n_units(self):
        """Number of queries, or of items, with preferences; of patients or clusters."""
        prefs = self.prefs
        if self.of_survival:
            ids = np.arange(self.target.n_items) if self.cluster is None else self.cluster
            known = (one.n_patients for one, _ in self.intervals.values() if one is not None)
            return next(known, np.unique(ids).size)
        if self.units == "queries":
            return np.unique(self.query[prefs.better]).size
        return np.union1d(prefs.better, prefs.worse).size

    @property
    def by_query(self):
        """Whether metrics are means over several queries of graded items."""
        return self.y is not None and self.units == "queries"

    @property
    def label(self):
        """Name of the share of pairs in the right order."""
        return "concordance" if self.of_survival else "of the pairs in the right order"

    def judge(self, name, model, scores):
        """Store the scores of a model and its loss of each preference."""
        self.scores[name] = scores
        if self.of_survival:
            self.intervals[name] = interval_of_concordance(self.target, scores, self.cluster)
        if self.listed:
            prefs, given = of_table_or_model(model, self.prefs, scores)
            ends = given[prefs.better], given[prefs.worse]
            self.missed[name] = miss_loss(*ends, TIE_TOL, np.abs(given).max(initial=0.0))

    def mean_of_pairs(self, values):
        """Return the weighted mean of values (m,), its standard error and degrees of freedom."""
        prefs, weight = self.prefs, self.prefs.weight / self.prefs.weight.sum()
        mean = float(weight @ values)
        moved = weight * (values - mean)
        if self.units == "queries":
            sums = np.bincount(self.query[prefs.better], moved)
        else:
            n = prefs.n_items
            sums = np.bincount(prefs.better, moved, n) + np.bincount(prefs.worse, moved, n)
        freedom = max(1, np.count_nonzero(sums) - 1)
        return mean, float(np.linalg.norm(sums) * np.sqrt(1 + 1 / freedom)), freedom

    def error(self, name):
        """Return the standard error of the share of a model, or None if it has none."""
        if self.of_survival:
            found, _ = self.intervals[name]
            return None if found is None else found.standard_error
        return self.mean_of_pairs(self.missed[name])[1] if self.listed else None

    def share(self, name):
        """Return the share of pairs in the right order with its interval, (value, low, high)."""
        if self.of_survival:
            found, _ = self.intervals[name]
            if found is None:
                return 1.0 - disagreement(self.target, self.scores[name]), np.nan, np.nan
            return found.value, found.low, found.high
        mean, error, freedom = self.mean_of_pairs(1.0 - self.missed[name])
        reach = float(student.ppf((1 + LEVEL) / 2, freedom)) * error
        if error <= 1e-12:  # all pairs are right, or all wrong, so no error can be estimated
            return mean, np.nan, np.nan
        return mean, max(0.0, mean - reach), min(1.0, mean + reach)

    def rows(self, name, model):
        """Return the metrics of a model: name, value, low and high."""
        found = []
        if self.by_query:
            for metric in BY_QUERY[:-1]:
                try:
                    one = interval(self.y, self.scores[name], self.qid, metric=metric)
                except ValueError:  # undefined for these grades, or defined for a single query only
                    continue
                found.append((name_of(metric), one.value, one.low, one.high))
        if self.measured:
            found.append((self.label.removeprefix("of the "), *self.share(name)))
            if hasattr(model, "link_") and not self.of_survival:
                given = of_table_or_model(model, self.prefs, self.scores[name])
                for metric in (brier_score, log_loss):
                    value = metric(*given, link=model.link_)
                    found.append((name_of(metric.__name__), value, np.nan, np.nan))
        return found


def evidence_of(  # noqa: PLR0913 -- the data of a report
    models, X, y, qid, preferences, names, what="the given data", cluster=None
):
    """Read the data that models are judged by, and score them."""
    if preferences is not None:
        if y is not None or qid is not None:
            raise ArgumentError(
                "preferences are given together with y or qid", "either preferences, or y and qid"
            )
        if not hasattr(X, "shape"):
            X = as_array("X", X)
        if np.ndim(X) != 2:
            raise ArgumentError(f"X has shape {np.shape(X)}", "an array of shape (n, d)")
        prefs, y = as_preferences(preferences, X), None
    else:
        prefs = survival_target(y, qid)
        if prefs is y:
            y = as_vector("y", y)
            prefs = Preferences.from_scores(y, qid)
        else:
            y = None
    if not len(prefs):
        raise ArgumentError(
            "y has no preference: no two items of a query differ", "at least one preference"
        )
    n, index = prefs.n_items, index_of(X)
    if names is None:
        names = next((each for each in (prefs.items, index) if each is not None), None)
    else:
        as_ids("names", names, n)
    names = [f"row {i}" for i in range(n)] if names is None else list(map(str, names))
    qid = None if qid is None else np.asarray(qid)
    found = Evidence(prefs, names, y, qid, X, what, cluster=cluster)
    for name, model in models.items():
        scores = model.predict(X) if hasattr(model, "predict") else model
        if np.shape(scores) != (n,):
            said = f"models has {name!r} with scores of shape {np.shape(scores)}"
            raise ArgumentError(said, f"{n} scores, one for each item")
        found.judge(name, model, as_vector("models", scores))
        found.of_fit |= was_fitted_to(model, X)
    return found


def was_fitted_to(model, X):
    """Return whether a model was fitted to exactly these items, by the items that it keeps."""
    problem = getattr(getattr(ranker_of(model), "solution_", None), "problem", None)
    kept, given = getattr(problem, "X", None), X
    if hasattr(model, "centre"):
        given = model.transform(X)
    elif len(getattr(best := getattr(model, "best_estimator_", model), "steps", ())) > 1:
        given = best[:-1].transform(X)
    given = np.asarray(given)
    if not isinstance(kept, np.ndarray) or kept.shape != given.shape:
        return False
    if given.dtype.kind not in "fiu":
        return False
    moved = kept - given  # a fit may have moved all items by the same vector
    return bool(np.abs(moved - moved[0]).max() <= 1e-9 * np.abs(given).max())


def comparison_rows(evidence, best, metric):
    """Compare the best model with each other one.

    Returns
    -------
    list of dict
        With "name", "value", "difference", "low", "high", "p", "wins" and "losses".
    """
    others = [name for name in evidence.scores if name != best]
    rows = []
    if evidence.by_query:
        beside = {name: evidence.scores[name] for name in others}
        given = evidence.y, evidence.scores[best], beside, evidence.qid
        for name, one in compare(*given, metric=metric).items():
            row = dict(name=name, value=one.mean_b, difference=one.difference, low=one.low)
            row |= dict(high=one.high, p=one.p_randomization, wins=one.wins, losses=one.losses)
            rows.append(row)
        return rows
    for name in others:
        d = evidence.missed[name] - evidence.missed[best]
        if evidence.of_survival:
            mean, low, high, p = difference_of_concordances(evidence, best, name)
        else:
            mean, error, freedom = evidence.mean_of_pairs(d)
            reach = float(student.ppf((1 + LEVEL) / 2, freedom)) * error
            low, high = mean - reach, mean + reach
            # all units agree: only their number, and not their error, tells how sure that is
            certain = 0.5 ** (evidence.n_units - 1) if mean else 1.0
            p = float(2 * student.sf(abs(mean) / error, freedom)) if error > 1e-12 else certain
        row = dict(name=name, value=evidence.share(name)[0], difference=mean, low=low, high=high)
        rows.append(row | dict(p=p, wins=int((d > 0).sum()), losses=int((d < 0).sum())))
    for row, p in zip(rows, holm([row["p"] for row in rows])):
        row["p"] = float(p)
    return rows


def difference_of_concordances(evidence, best, other):
    """Return the difference of two concordances, the ends of its interval, and its p-value.

    Without an estimate of its error, the interval is -1 to 1 and the p-value 1.
    """
    scores = evidence.scores[best], evidence.scores[other]
    try:
        one = compare_concordances(evidence.target, *scores, cluster=evidence.cluster)
    except UndefinedMetric:  # a patient, or a cluster, is in all pairs
        return evidence.share(best)[0] - evidence.share(other)[0], -1.0, 1.0, 1.0
    return one.difference, one.low, one.high, one.p_value if one.p_value >= 0 else 1.0


def means_of(evidence, metric):
    """Return the mean of the main metric for each model."""
    if not evidence.by_query:
        return {name: evidence.share(name)[0] for name in evidence.scores}
    values = {
        name: by_query(metric, evidence.y, scores, evidence.qid)[1]
        for name, scores in evidence.scores.items()
    }
    known = ~np.isnan(np.array(list(values.values()))).any(axis=0)
    return {name: float(each[known].mean()) for name, each in values.items()}


def is_pooled(metric):
    """Return whether a metric, given by name, is a mean over preferences and not over queries."""
    function, _ = find_metric(metric)
    return function in RULES and RULES[function].pooled is not None


def main_metric(evidence, metric):
    """Return the metric that models are compared by: the given one, or the usual one."""
    if metric is None and not evidence.by_query:
        return BY_QUERY[-1]
    if metric is not None:
        require_kind("metric", metric, str)
        if is_pooled(metric):
            said = f"metric is {metric!r}, a mean over preferences"
            raise ArgumentError(said, f"a mean over queries, such as {BY_QUERY[-1]!r}")
        return metric
    try:
        interval(evidence.y, evidence.y, evidence.qid, metric=BY_QUERY[0], n_resamples=100)
    except ValueError:  # grades below 0, or one query with a grade above 0
        return BY_QUERY[-1]
    return BY_QUERY[0]
