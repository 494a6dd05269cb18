"""Plots of items: decision functions, ROC curves, reliability, risk groups, explained pairs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.errors import ArgumentError
from ..base.validation import as_count, as_vector, require_kind
from ..metrics.pairs import auc
from ..metrics.probabilities import Reliability
from ..metrics.queries import RankedLists
from ..metrics.risk_groups import RiskGroups, SurvivalCalibration
from ..paths.exact import SolutionPath
from .axes import COLOURS, SMALL, as_axes, import_matplotlib, plain, tex, tick_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..estimators.explain_pair import PairExplanation


def _counts_above(scores, good):
    """Return the distinct scores, highest first, and the counts of items at or above each.

    The counts are the numbers of bad and of good items with this score or a higher one. O(n log n).
    """
    lists = RankedLists(good, scores)
    bad, good = (
        np.cumsum(lists.chain_total(which.astype(np.int64)))
        for which in (~lists.grade, lists.grade)
    )
    return -lists.key[lists.chain_first], bad, good


def _best_cut(scores, good):
    """Return the threshold between two scores with the fewest mistakes.

    Of several, the function returns the threshold in the widest gap. It returns None if all scores
    tie.
    """
    score, bad, good = _counts_above(scores, good)
    if score.size == 1:
        return None
    mistakes = (bad + good[-1] - good)[:-1]
    best = np.flatnonzero(mistakes == mistakes.min())
    i = best[np.argmax(score[best] - score[best + 1])]
    return (score[i] + score[i + 1]) / 2


def _panels(axes, count):
    """Return `axes` as an array of `count` Axes, or the Axes of a new figure."""
    if axes is not None:
        if (axes := np.array([as_axes(ax) for ax in np.ravel(axes)])).size != count:
            raise ArgumentError(
                f"axes has {axes.size} Axes for {count} lambdas",
                f"{count} Axes, one for each lambda",
            )
        return axes
    plt = import_matplotlib()
    columns = 2 if count == 4 else min(count, 3)
    rows = -(-count // columns)
    style = dict(sharex=True, sharey=True, layout="constrained", squeeze=False)
    size = (min(2.4 * columns, 6), 2.3 * rows + 0.3)
    axes = plt.subplots(rows, columns, figsize=size, **style)[1].ravel()
    for spare in axes[count:]:
        spare.remove()
    for ax in axes[count - columns : count]:
        ax.tick_params(labelbottom=True)  # also on Axes above an unused one
    return axes[:count]


def plot_decision(
    path: SolutionPath,
    lams: ArrayLike,
    y: ArrayLike | None = None,
    axes: "Sequence[Axes] | np.ndarray | None" = None,
    names: Sequence[Any] | None = None,
) -> np.ndarray:
    """Plot the ranking function of items in the plane at chosen lambdas, one panel for each.

    The plot follows figure 4 of Zapien et al. (2009).

    Parameters
    ----------
    path : RegularizationPath of a problem with two features
    lams : float or array-like of shape (q,)
        Values of lambda inside ``path.domain``.
    y : array-like of shape (n,), optional
        Scores of the training items. Points are coloured by their scores. If there are two levels,
        a line shows the contour of f that separates them with the fewest mistakes (of several
        contours, the one in the widest gap).
    axes : sequence of q matplotlib Axes, default a new figure's
    names : sequence of 2 names, optional
        Names of the features for the axes, such as ``X.columns``; by default x1 and x2.

    Returns
    -------
    ndarray of shape (q,) of matplotlib Axes
        Each panel is shaded in nine equal steps from its lowest to its highest f, because only the
        order of scores has a meaning. A panel costs 4096 evaluations of f, O(n) each.

    Raises
    ------
    ValueError, TypeError
        If the items do not have two features, a lambda is outside the path's domain, or a shape is
        wrong.

    Examples
    --------
    >>> import rankbook as rb
    >>> data = rb.datasets.make_mixture(n_per_class=10)
    >>> problem = rb.RankSVMProblem(data.X, rb.Preferences.from_scores(data.y))
    >>> path = rb.solve_path(problem, lam_min=1.0, solver="path")
    >>> axes = rb.plots.plot_decision(path, [2.0, 5.0], data.y)
    >>> axes.shape
    (2,)
    """
    require_kind("path", path, SolutionPath)
    X, kernel = path.problem.X, path.problem.kernel.name
    if kernel == "precomputed" or X.shape[1] != 2:
        raise ArgumentError(
            f"path belongs to items of shape {X.shape} with the kernel {kernel!r}",
            "a path of items with two features, without a precomputed kernel",
        )
    lams = as_vector("lams", np.atleast_1d(lams), minimum=0.0)
    if lams.size == 0:
        raise ArgumentError("lams is empty", "at least one lambda")
    y = None if y is None else as_vector("y", y, len(X))
    features = None if names is None else tick_names(names, 2, "feature")
    low, high = X.min(axis=0), X.max(axis=0)
    pad = np.where(high > low, 0.06 * (high - low), 0.5)
    first, second = (np.linspace(a, b, 64) for a, b in zip(low - pad, high + pad))
    points = np.column_stack([a.ravel() for a in np.meshgrid(first, second)])
    surfaces = [path.predict(points, lam).reshape(second.size, first.size) for lam in lams]
    levels = () if y is None else np.unique(y)
    two = len(levels) == 2
    cuts = [_best_cut(path.predict(X, lam), y == levels[1]) if two else None for lam in lams]
    given, axes = axes is not None, _panels(axes, lams.size)
    from matplotlib import colormaps

    greys = colormaps["Greys"](np.linspace(0.02, 0.5, 9))
    style = dict(s=16, linewidths=0.4, edgecolors="white", zorder=2)
    for ax, lam, surface, cut in zip(axes, lams, surfaces, cuts):
        low, high = surface.min(), surface.max()
        if high > low:  # a constant has no contours
            shades = dict(levels=np.linspace(low, high, 10), colors=greys, zorder=0)
            filled = ax.contourf(first, second, surface, **shades)
            with warnings.catch_warnings():  # contours of matplotlib before 3.11 stay lines
                warnings.simplefilter("ignore", UserWarning)
                filled.set_rasterized(True)  # otherwise lines would have a thousand corners
            if cut is not None and low < cut < high:
                line = dict(colors="black", linewidths=1.2, linestyles="solid", zorder=1)
                ax.contour(first, second, surface, levels=[cut], **line)
        if two:  # discs for the higher level, triangles for the lower
            for level, marker, colour in zip(levels[::-1], "o^", COLOURS[1::-1]):
                discs = dict(marker=marker, color=colour, label=f"{level:g}")
                ax.scatter(*X[y == level].T, **discs, **style)
        elif y is None:
            ax.scatter(*X.T, color=COLOURS[0], **style)
        else:
            ax.scatter(*X.T, c=y, cmap="plasma", **style | dict(edgecolors="0.2"))
        ax.set_title(rf"$\lambda = {tex(lam)}$", fontsize="medium")
    first_name, second_name = ("$x_1$", "$x_2$") if features is None else features
    for ax in axes:
        ax.set(xlabel=first_name, ylabel=second_name)
        if not given:  # numbered; labels only in the first column and at the bottom
            ax.label_outer()
    if y is not None and not given:
        ax = axes[0]
        key = ax.get_legend_handles_labels() if two else ax.collections[-1].legend_elements()
        ax.figure.legend(*key, title="y", loc="outside lower center", ncols=9, **SMALL)
    return axes


def plot_roc(
    y_true: ArrayLike, y_score: ArrayLike, ax: "Axes | None" = None, label: str | None = None
) -> "Axes":
    """Plot the ROC curve of scores for items of two levels, with its area in the legend.

    Parameters
    ----------
    y_true : array-like of shape (n,), float
        Two different values; items with the higher value are good.
    y_score : array-like of shape (n,), float
    ax : matplotlib Axes, default a new figure's
        Several curves on one Axes get different colours.
    label : str, optional
        Name of the curve in the legend, before its area.

    Returns
    -------
    matplotlib Axes
        The last line is the curve, with a straight segment for each distinct score. The area is
        :func:`rankbook.metrics.auc`.

    Raises
    ------
    ValueError, TypeError
        If `y_true` does not have exactly two values, or shapes disagree.

    Examples
    --------
    >>> import rankbook as rb
    >>> ax = rb.plots.plot_roc([1, 0, 1, 0], [0.9, 0.1, 0.4, 0.5])
    >>> ax.get_legend().get_texts()[0].get_text()
    'AUC = 0.750'
    """
    area = auc(y_true, y_score)
    y_true, y_score = as_vector("y_true", y_true), as_vector("y_score", y_score)
    false, true = (
        np.r_[0, count] / count[-1] for count in _counts_above(y_score, y_true == y_true.max())[1:]
    )
    named = "" if label is None else f"{plain(label)}: "
    ax = as_axes(ax, (3.1, 2.9))
    ax.plot([0, 1], [0, 1], color="0.7", lw=0.8, zorder=1)
    ax.plot(false, true, lw=1.5, label=f"{named}AUC = {area:.3f}")
    ax.set(
        xlabel="false positive rate",
        ylabel="true positive rate",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
        aspect="equal",
    )
    ax.legend(loc="lower right", frameon=False)
    return ax


def plot_reliability(
    reliability: Reliability, ax: "Axes | None" = None, label: str | None = None
) -> "Axes":
    """Plot the reliability diagram of probabilities of preferences, or of survival.

    Parameters
    ----------
    reliability : Reliability or SurvivalCalibration
        Diagram from :func:`rankbook.metrics.reliability`, or from
        :func:`rankbook.metrics.survival_calibration`.
    ax : matplotlib Axes, default a new figure's
        Several diagrams on one Axes get different colours.
    label : str, optional
        Name of the diagram in the legend.

    Returns
    -------
    matplotlib Axes
        Axes with a point and its interval for each bin or group. Correct probabilities are on the
        grey diagonal; probabilities of a predicted winner that are too extreme are below it.

    Raises
    ------
    TypeError
        If `reliability` is not a Reliability.

    Examples
    --------
    >>> import rankbook as rb
    >>> found = rb.metrics.reliability([2, 1, 0], [0.4, 0.0, -3.0])
    >>> rb.plots.plot_reliability(found).get_ylabel()
    'observed share of wins'
    """
    require_kind("reliability", reliability, Reliability)
    ax = as_axes(ax, (3.1, 2.9))
    of_survival = isinstance(reliability, SurvivalCalibration)
    if not ax.lines:
        first = 0.0 if of_survival else 0.5
        ax.plot([first, 1], [first, 1], color="0.7", lw=0.8, zorder=1)
    bars = [reliability.observed - reliability.lower, reliability.upper - reliability.observed]
    bars = np.maximum(bars, 0.0)  # a share of 1 may exceed its upper end by a rounding error
    style = dict(fmt="o-", ms=4, lw=1.2, elinewidth=0.8, capsize=2)
    name = None if label is None else plain(label)
    ax.errorbar(reliability.predicted, reliability.observed, bars, label=name, **style)
    words = "probability of the predicted winner", "observed share of wins"
    if of_survival:
        words = [
            f"{each} to live beyond {reliability.time:g}" for each in ("predicted", "observed")
        ]
    ax.set(xlabel=words[0], ylabel=words[1])
    if label is not None:
        ax.legend(loc="best", **SMALL)
    return ax


def plot_risk_groups(groups: RiskGroups, ax: "Axes | None" = None) -> "Axes":
    """Plot the Kaplan-Meier curves of groups of patients, with their intervals.

    Parameters
    ----------
    groups : RiskGroups
        Result of :func:`rankbook.metrics.risk_groups`.
    ax : matplotlib Axes, default a new figure's

    Returns
    -------
    matplotlib Axes
        Axes with a line for each group, the group of the lowest scores first, and a shaded area for
        the interval at each time. Small marks show censored times.

    Raises
    ------
    TypeError
        If `groups` is not a RiskGroups.

    Examples
    --------
    >>> import rankbook as rb
    >>> y = rb.Preferences.from_survival([9, 4, 4, 2, 6], event=[1, 1, 0, 1, 0])
    >>> groups = rb.metrics.risk_groups(y, [3.0, 1.0, 2.0, 1.0, 0.0], groups=2)
    >>> rb.plots.plot_risk_groups(groups).get_ylabel()
    'share that lives longer'
    """
    require_kind("groups", groups, RiskGroups)
    ax = as_axes(ax)
    for i, curve in enumerate(groups.curves):
        start = min(0.0, float(curve.times[0]))
        times, colour = np.r_[start, curve.times], COLOURS[i % len(COLOURS)]
        share = np.r_[1.0, curve.survival]
        name = f"scores {groups.low[i]:.3g} to {groups.high[i]:.3g}, {curve.n_patients:,} patients"
        ax.step(times, share, where="post", color=colour, lw=1.2, label=name)
        ends = (np.r_[1.0, end] for end in (curve.lower, curve.upper))
        ax.fill_between(times, *ends, step="post", color=colour, alpha=0.15, lw=0)
        left = curve.censored > 0
        ax.plot(curve.times[left], curve.survival[left], "|", color=colour, ms=4, mew=0.6)
    ax.set(xlabel="time", ylabel="share that lives longer", ylim=(0, 1.02))
    ax.legend(loc="best", **SMALL)
    return ax


def plot_pair(
    explanation: "PairExplanation",
    ax: "Axes | None" = None,
    k: int = 10,
    names: Sequence[Any] | None = None,
) -> "Axes":
    """Plot the largest terms of a difference of two scores, and the difference, as bars.

    Parameters
    ----------
    explanation : PairExplanation
        Explanation from :func:`rankbook.explain_pair`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    k : int >= 1, default 10
        Number of terms to show. One more bar shows the sum of the others.
    names : sequence of 2 names, optional
        Names of the items a and b for the title; by default ``explanation.items``.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError, ValueError
        If an argument is of another kind.

    Examples
    --------
    >>> import rankbook as rb
    >>> model = rb.RankSVM(kernel="linear").fit([[0.0, 1.0], [1.0, 0.0], [3.0, 0.0]], [0, 1, 2])
    >>> ax = rb.plots.plot_pair(rb.explain_pair(model, 2, 0))
    """
    from ..estimators.explain_pair import PairExplanation  # scikit-learn requires it

    require_kind("explanation", explanation, PairExplanation)
    a, b = tick_names(explanation.items if names is None else names, 2, "item")
    rows = [*explanation.rows(as_count("k", k)), ("f(a) - f(b)", explanation.difference)]
    values = np.array([value for _, value in rows])
    ax = as_axes(ax, (4.4, 0.9 + 0.24 * len(rows)))
    places = np.r_[np.arange(len(rows) - 1), len(rows) - 0.6]
    colours = [COLOURS[0] if value >= 0 else COLOURS[1] for value in values[:-1]]
    ax.barh(places, values, color=[*colours, "0.35"], height=0.7, zorder=2)
    if math.isfinite(explanation.bound):
        band = dict(color="0.85", lw=0, zorder=0, label="not proven within")
        ax.axvspan(-explanation.bound, explanation.bound, **band)
        if explanation.bound > 0.01 * np.abs(values).max():
            ax.legend(loc="best", **SMALL)
    ax.axvline(0, color="black", lw=0.8, zorder=3)
    ax.set_yticks(places, [plain(name) for name, _ in rows])
    ax.invert_yaxis()
    said = "proven" if explanation.proven else "not proven"
    order = {1: f"{a} is above {b}", -1: f"{a} is below {b}", 0: f"{a} and {b} are equal"}
    title = f"{order[int(np.sign(explanation.difference))]}, {said}"
    ax.set(xlabel="contribution", title=title)
    return ax
