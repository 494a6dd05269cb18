"""Model selection: the choice of a model and lambda from curves of paths or tables of grids.

All estimators with cross-validation and ``rankbook select`` follow the same rule:

1. Choose the models with the best value. Values that differ by at most 1e-12 count as equal,
   because sums of weights have rounding errors.
2. Among equally good models, choose the one with the smallest gamma; None counts as the smallest.
3. Among the best lambdas of this model, choose the middle of the widest interval. If several
   intervals are equally wide, choose the one with the largest lambdas. The lambdas of a grid are
   intervals of width 0, so the largest one is chosen.
4. In a table with more parameters, choose the smallest value of each, in the order of the table.

The rules "largest" and "one_se" change only the third step. The chapter
:doc:`/book/choosing_lambda` explains the rule, and the lambda of a refit on more data.
"""

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..base.errors import ArgumentError
from ..base.progress import for_worker
from ..base.status import Status
from ..metrics.queries import RULES, find_metric, metric_sums, split_metric
from ..registry.choice import choose_solver
from ..registry.plugins import of_paths
from ..registry.solve import solve_path
from ..registry.solver import auto_options
from .curve import METRICS, VALUE_TOL, ValidationCurve, largest_within, validation_curve


def choose_best(values, *sizes, maximize=False):
    """Choose the best entry of a table; among equal entries, the one with the smallest sizes.

    Parameters
    ----------
    values : array-like of shape (a, b, ...)
    *sizes : sequences of float or None, of lengths a, b, ...
        Sizes of the entries along each axis; None is the smallest. Equal entries are compared by
        their sizes along the last axis first, and then along the other axes in their order.
    maximize : bool, default False

    Returns
    -------
    tuple of int
        The index of the entry.
    """
    cost = -np.asarray(values) if maximize else np.asarray(values)
    equal = np.argwhere(cost <= cost.min() + VALUE_TOL).tolist()
    sizes = [[-np.inf if size is None else size for size in axis] for axis in sizes]
    return tuple(min(equal, key=lambda at: np.roll([s[i] for s, i in zip(sizes, at)], 1).tolist()))


def choose_from_table(values, lams, *parameters, maximize=False):
    """Choose an entry of a table of values on a grid.

    Parameters
    ----------
    values : ndarray of shape (l, ..., g)
        Value for each combination of lambda (first axis) and the other parameters.
    lams : array-like of shape (l,)
    *parameters : sequences of float or None
        Values of the other parameters, one sequence for each axis. The last parameter is gamma.
    maximize : bool, default False

    Returns
    -------
    tuple of int
        The index of the entry.
    """
    return choose_best(values, -np.asarray(lams), *parameters, maximize=maximize)


class Choice(NamedTuple):
    """A chosen model and lambda.

    Attributes
    ----------
    at : int
        Index of the chosen model.
    curves : list of ValidationCurve
        The mean curve of each model.
    lam : float
    error : float
        Standard error of the chosen model's mean value at the middle of the widest best interval;
        NaN if unknown.
    """

    at: int
    curves: list
    lam: float
    error: float


def choose_from_curves(folds, gammas, rule="widest", error=None):
    """Choose a model and a lambda from the curves of folds.

    Parameters
    ----------
    folds : list of lists of ValidationCurve
        For each model, the curves of its folds; a single split gives one curve.
    gammas : sequence of float or None
        The gamma of each model; None for the default, or for a kernel without gamma.
    rule : {"widest", "largest", "one_se"}, default "widest"
    error : function, optional
        ``error(at, lam)`` returns the standard error of model `at` at lam. It is called only if
        each model has a single curve.

    Returns
    -------
    Choice
    """
    curves = [mean_curve(each) for each in folds]
    (at,) = choose_best([c.optimum for c in curves], gammas, maximize=curves[0].maximize)
    curve, spread = curves[at], np.nan
    lam = curve.choose()
    values = [one.at(lam) for one in folds[at]]
    if len(values) > 1:
        spread = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    elif error is not None:
        spread = error(at, lam)
    if rule != "one_se":
        return Choice(at, curves, curve.choose(rule), spread)
    if np.isnan(spread):
        raise ArgumentError("rule is 'one_se', but cv has only one fold", "at least two folds")
    return Choice(at, curves, largest_within(curve, spread), spread)


def cv_results(curve, folds):
    """The curves of folds as scikit-learn's searches show the candidates of a grid.

    A candidate is an interval of lambda, those of the largest lambdas first. Its scores are the
    values of the metric, negative for metrics that are minimized, because larger scores are better.

    Parameters
    ----------
    curve : ValidationCurve
        The mean curve.
    folds : list of ValidationCurve

    Returns
    -------
    dict of ndarrays of shape (s,) and lists
        "param_lam", the middles of the intervals; "params", a list of dicts; "split0_test_score",
        a score for each fold; "mean_test_score" and "std_test_score"; "rank_test_score", 1 for the
        best, where values that differ by at most 1e-12 count as equal.
    """
    sign, lams = 1.0 if curve.maximize else -1.0, curve.middles
    scores = {f"split{i}_test_score": sign * fold.at(lams) + 0.0 for i, fold in enumerate(folds)}
    cost = -sign * curve.values
    ranks = 1 + np.searchsorted(np.sort(cost), cost - VALUE_TOL)
    return dict(
        param_lam=lams,
        params=[dict(lam=lam) for lam in lams.tolist()],
        **scores,
        mean_test_score=sign * curve.values + 0.0,  # 0 in place of -0
        std_test_score=np.std(list(scores.values()), axis=0),
        rank_test_score=ranks,
    )


def follow_path(problem, solver, lam_min=None, progress=False, **options):
    """Compute the path of a problem, at least down to its first breakpoint.

    Returns
    -------
    path : SolutionPath
    follower : str, type or instance
        The solver, or the class that "auto" chose.

    Raises
    ------
    KeyboardInterrupt
        If the path was interrupted. A part of the path is not returned, because it does not
        determine the best lambda.
    """
    if lam_min is not None:
        lam_min = min(lam_min, getattr(problem, "lam_max", np.inf)) or None
    chosen = choose_solver(problem, solver, "path", progress=progress, **options)
    path = solve_path(problem, lam_min, of_paths(chosen, progress))
    if path.status == Status.INTERRUPTED and "reason" not in path.info:
        raise KeyboardInterrupt
    return path, solver if auto_options(solver) is None else type(chosen)


@dataclass(frozen=True)
class Candidate:
    """A path on a training part and its curve on a validation part.

    Attributes
    ----------
    path : SolutionPath
    curve : ValidationCurve
    follower : str, type or instance
        The solver of the path, or the class that "auto" chose.
    seconds : dict
        Elapsed time of "path" and "curve"; extensions of the path count as "curve".
    gamma : float or None
        The parameter of the kernel; None for the default, or for a kernel without it.
    """

    path: Any
    curve: ValidationCurve
    follower: Any
    seconds: dict
    gamma: float | None = None

    @property
    def width(self):
        """Ratio of the ends of the widest best interval; at least 1.

        Intervals are cut off a factor of 10 beyond the outermost breakpoints.
        """
        ends = self.curve.scale[0] / 10, self.curve.scale[1] * 10
        low, high = np.clip(np.array(self.curve.best).T, *ends)
        return float((high / low).max())


GRID = 200  # lambdas at which a metric without an exact curve is measured


def metric_curve(path, X_val, target, metric="disagreement", y=None, qid=None):
    """The curve of any metric of queries: exact if :func:`validation_curve` has it, else on a grid.

    Parameters
    ----------
    path : SolutionPath
    X_val, target
        Items, and their preferences for the disagreement.
    metric : str
        Name as in :func:`rankbook.metrics.by_query`.
    y, qid : ndarrays of shape (p,)
        Grades and query ids, for other metrics.

    Returns
    -------
    ValidationCurve
        On a grid of :data:`GRID` lambdas, `exact` is False and the cost is O(GRID p log p).
    """
    if metric == "disagreement":
        return validation_curve(path, X_val, target)
    name, k = split_metric(metric)
    if name in METRICS and (k is None or name == "ndcg"):
        curve = validation_curve(path, X_val, y, qid=qid, metric=name, k=k)
        return replace(curve, metric=metric)
    function, options = find_metric(metric)
    if function not in RULES:
        raise ArgumentError(
            f"metric is {metric!r}", f"one of {', '.join(METRICS)}, or a metric of queries"
        )
    ends = path.scale if hasattr(path, "scale") else path.breakpoints[[-1, 0]]
    lams = np.geomspace(max(ends[0], path.domain[0]), ends[1], GRID + 2)[1:-1]
    scores = (path.predict(X_val, lam) for lam in lams)
    sums = [metric_sums(function, y, each, qid, **options) for each in scores]
    values = np.array([total / number if number else np.nan for total, number in sums])
    if np.isnan(values).any():
        raise ArgumentError(
            f"metric is {metric!r}", "a metric that is defined on the validation part"
        )
    curve = grid_curve(lams, values, metric, True)
    return replace(curve, breaks=np.r_[curve.breaks[:-1], path.domain[0]])


def evaluate_path(problem, X_val, target, solver, lam_min=None, how=None, extend=False, **options):
    """Compute the path of a problem and its curve on validation items.

    Parameters
    ----------
    problem : Problem
    X_val, target
        Items and preferences or scores as for :func:`rankbook.validation_curve`.
    solver : str, type or instance
    lam_min : float > 0, optional
        End of the path.
    how : dict, optional
        Further arguments of :func:`rankbook.validation_curve`, or with `y`, of
        :func:`metric_curve`.
    extend : bool, default False
        Whether to extend a path of "newton" beyond its default end. It is extended by three powers
        of ten at a time, as long as this improves the curve and the end is among the best lambdas.
    **options
        Further arguments of :func:`follow_path`.

    Returns
    -------
    Candidate
    """
    start = perf_counter()
    path, follower = follow_path(problem, solver, lam_min, **options)
    middle = perf_counter()
    how = how or {}
    measure = metric_curve if "y" in how else validation_curve
    curve = measure(path, X_val, target, **how)
    falls = extend and lam_min is None and hasattr(path, "resume")
    while falls and path.status == Status.LAM_MIN and curve.best[-1][0] <= path.domain[0]:
        path, before = path.resume(1e-3 * path.domain[0]), curve
        curve = measure(path, X_val, target, **how)
        gain = curve.optimum - before.optimum
        falls = gain > 0 if curve.maximize else gain < 0
    seconds = dict(path=middle - start, curve=perf_counter() - middle)
    return Candidate(path, curve, follower, seconds)


def restrict(curve, lam_min=None, lam_max=None):
    """Restrict a validation curve to a part of its range.

    Raises
    ------
    ValueError
        If the range does not overlap the curve.
    """
    low, high = max(float(curve.breaks[-1]), lam_min or 0.0), lam_max or np.inf
    if low >= high:
        raise ArgumentError(
            f"lam_max is {high!r}", f"a number above {low!r}, the lower end of the path or lam_min"
        )
    inside = np.flatnonzero((curve.breaks[1:] < high) & (curve.breaks[:-1] > low))
    breaks = np.clip(curve.breaks[inside[0] : inside[-1] + 2], low, high)
    scale = tuple(float(end) for end in np.clip(curve.scale, low, high))
    return replace(curve, breaks=breaks, values=curve.values[inside], scale=scale)


def rescale(curve, factor):
    """Return the curve as a function of factor * lambda."""
    scale = tuple(float(end) * factor for end in curve.scale)
    return replace(curve, breaks=curve.breaks * factor, scale=scale)


def align_curves(curves):
    """Represent several curves with common breaks.

    Parameters
    ----------
    curves : list of ValidationCurve
        Curves with the same upper end.

    Returns
    -------
    breaks : ndarray of shape (s + 1,)
        Decreasing; the last one is the highest lower end of a curve.
    values : ndarray of shape (len(curves), s)
    """
    end = max(one.breaks[-1] for one in curves)
    inner = np.unique(np.concatenate([one.breaks[1:-1] for one in curves]))[::-1]
    inner = inner[inner > end]
    values = [np.r_[one.values[0], one.at(inner)] for one in curves]  # at a break: the value below
    return np.r_[curves[0].breaks[0], inner, end], np.array(values)


def mean_curve(curves):
    """Compute the mean of K curves exactly. O(K s log s) for s breaks in total.

    Parameters
    ----------
    curves : list of ValidationCurve
        All to be minimized, or all to be maximized.

    Returns
    -------
    ValidationCurve
    """
    breaks, values = align_curves(curves)
    mean = values.mean(axis=0)
    keep = np.flatnonzero(np.r_[True, np.abs(np.diff(mean)) > VALUE_TOL])
    scale = min(one.scale[0] for one in curves), max(one.scale[1] for one in curves)
    breaks = np.r_[breaks[keep], breaks[-1]]
    return replace(curves[0], breaks=breaks, values=mean[keep], scale=scale)


def grid_curve(lams, values, metric, maximize):
    """Make a curve from values (l,) at lambdas (l,); each value holds for the nearest lambdas."""
    lams, first = np.unique(lams, return_index=True)
    lams, values = lams[::-1], values[first[::-1]]
    keep = np.flatnonzero(np.r_[True, np.abs(np.diff(values)) > VALUE_TOL])
    middles = np.sqrt(lams[keep[1:]] * lams[keep[1:] - 1])
    name = getattr(getattr(metric, "func", metric), "__name__", str(metric))
    ends, scale = np.r_[np.inf, middles, 0.0], (float(lams[-1]), float(lams[0]))
    return ValidationCurve(ends, values[keep], scale, maximize, exact=False, metric=name)


def value_by_other_folds(folds, choose, value):
    """Compute the mean value of the folds, each evaluated at the choice of the other folds.

    Parameters
    ----------
    folds : list
    choose : function
        Returns the choice of a list of folds.
    value : function
        Returns the value of a fold for a choice.

    Returns
    -------
    float
    """
    others = ([*folds[:f], *folds[f + 1 :]] for f in range(len(folds)))
    return float(np.mean([value(one, choose(rest)) for one, rest in zip(folds, others)]))


def run_parallel(function, arguments, n_jobs=None, progress=False):
    """Call a function with each tuple of arguments, in parallel by joblib.

    `progress` shows a bar over the calls.
    """
    from joblib import Parallel

    jobs = [for_worker(function)(*each) for each in arguments]
    if not progress:
        return Parallel(n_jobs=n_jobs)(jobs)
    from tqdm.auto import tqdm

    running = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    return list(tqdm(running, total=len(jobs), unit=" folds", leave=False))
