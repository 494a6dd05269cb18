"""Pictures of scores, decision functions and ROC curves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.validation import as_vector, require_kind
from ..metrics.pairs import auc
from ..metrics.queries import RankedLists
from ..paths.exact import SolutionPath
from .axes import COLOURS, SMALL, as_axes, as_names, plain, tex

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _counts_above(scores, good):
    """The distinct scores, highest first, and the counts of items at or above each.

    The counts are how many bad and how many good items score as much or more. O(n log n).
    """
    lists = RankedLists(good, scores)
    bad, good = (
        np.cumsum(lists.chain_total(which.astype(np.int64)))
        for which in (~lists.grade, lists.grade)
    )
    return -lists.key[lists.chain_first], bad, good


def _best_cut(scores, good):
    """The threshold between two scores with the fewest mistakes.

    Of several it is the one in the widest gap; it is None if all scores tie.
    """
    score, bad, good = _counts_above(scores, good)
    if score.size == 1:
        return None
    mistakes = (bad + good[-1] - good)[:-1]
    best = np.flatnonzero(mistakes == mistakes.min())
    i = best[np.argmax(score[best] - score[best + 1])]
    return (score[i] + score[i + 1]) / 2


def _grid(X, n=64, margin=0.06):
    """Coordinates (n,), (n,) of a grid around the points X (p, 2), and its points (n * n, 2)."""
    low, high = X.min(axis=0), X.max(axis=0)
    pad = np.where(high > low, margin * (high - low), 0.5)
    first, second = (np.linspace(a, b, n) for a, b in zip(low - pad, high + pad))
    return first, second, np.column_stack([a.ravel() for a in np.meshgrid(first, second)])


def _check_plane(path, lams, y):
    """The items (n, 2), the lambdas as a vector and y as given or None.

    They are refused where they cannot be drawn.
    """
    require_kind("path", path, SolutionPath)
    problem = path.problem
    if problem.kernel.name == "precomputed" or problem.X.shape[1] != 2:
        raise ValueError(
            f"path is of items of shape {problem.X.shape} and a {problem.kernel.name} kernel; "
            "items with two features are accepted, not a precomputed kernel."
        )
    lams = as_vector("lams", np.atleast_1d(lams), minimum=0.0)
    if lams.size == 0:
        raise ValueError("lams is empty; at least one lambda is accepted.")
    return problem.X, lams, None if y is None else as_vector("y", y, len(problem.X))


def _panels(axes, count):
    """`axes` as an array of `count` Axes, or those of a new figure."""
    if axes is not None:
        if (axes := np.array([as_axes(ax) for ax in np.ravel(axes)])).size != count:
            raise ValueError(
                f"axes has {axes.size} Axes for {count} lambdas; as many as lambdas are accepted."
            )
        return axes
    import matplotlib.pyplot as plt

    columns = 2 if count == 4 else min(count, 3)
    rows = -(-count // columns)
    fig, axes = plt.subplots(
        rows,
        columns,
        figsize=(min(2.4 * columns, 6), 2.3 * rows + 0.3),
        sharex=True,
        sharey=True,
        layout="constrained",
        squeeze=False,
    )
    for spare in axes.ravel()[count:]:
        spare.remove()
    for ax in axes.ravel()[count - columns : count]:
        ax.tick_params(labelbottom=True)  # those above a spare one, too
    return axes.ravel()[:count]


def _draw_function(ax, first, second, values, cut):
    """Filled contours of values (n, n) on a grid, light to dark, with a line at the cut."""
    from matplotlib import colormaps

    low, high = values.min(), values.max()
    if high > low:  # a constant has no contours
        ax.contourf(
            first,
            second,
            values,
            levels=np.linspace(low, high, 10),
            colors=colormaps["Greys"](np.linspace(0.02, 0.5, 9)),
            zorder=0,
        ).set_rasterized(True)  # a thousand corners otherwise
        if cut is not None and low < cut < high:
            ax.contour(
                first,
                second,
                values,
                levels=[cut],
                colors="black",
                linewidths=1.2,
                linestyles="solid",
                zorder=1,
            )


def _draw_points(ax, X, y):
    """Points, by level if there are levels: the higher of two as discs, the lower as triangles."""
    style = dict(s=16, linewidths=0.4, edgecolors="white", zorder=2)
    levels = () if y is None else np.unique(y)
    if len(levels) == 2:
        for level, marker, colour in zip(levels[::-1], "o^", COLOURS[1::-1]):
            ax.scatter(*X[y == level].T, marker=marker, color=colour, label=f"{level:g}", **style)
    elif y is None:
        ax.scatter(*X.T, color=COLOURS[0], **style)
    else:
        ax.scatter(*X.T, c=y, cmap="plasma", **style | dict(edgecolors="0.2"))


def plot_decision(
    path: SolutionPath,
    lams: ArrayLike,
    y: ArrayLike | None = None,
    axes: "Sequence[Axes] | np.ndarray | None" = None,
    names: Sequence[Any] | None = None,
) -> np.ndarray:
    """The ranking function of items in the plane at chosen lambdas, a panel for each.

    The picture is as figure 4 of Zapien et al. (2009).

    Parameters
    ----------
    path : RegularizationPath of a problem with two features
    lams : float or array-like of shape (q,)
        Inside ``path.domain``.
    y : array-like of shape (n,), optional
        Scores of the training items. Points are coloured by them; if there are two levels, a black
        line shows where f cuts them apart with the fewest mistakes (of several such cuts the one in
        the widest gap).
    axes : sequence of q matplotlib Axes, default a new figure's
    names : sequence of 2 names, optional
        Of the features, for the axes, as ``X.columns``.

    Returns
    -------
    ndarray of shape (q,) of matplotlib Axes
        Each shaded from the lowest f, light, to the highest, dark, in 9 equal steps of its own:
        only the order of scores means something. Costs 4096 evaluations of f a panel, O(n) each.

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
    X, lams, y = _check_plane(path, lams, y)
    features = None if names is None else as_names(names, 2, "feature")
    first, second, points = _grid(X)
    surfaces = [path.predict(points, lam).reshape(second.size, first.size) for lam in lams]
    two = y is not None and np.unique(y).size == 2
    cuts = [_best_cut(path.predict(X, lam), y == y.max()) if two else None for lam in lams]
    given, axes = axes is not None, _panels(axes, lams.size)
    for ax, lam, surface, cut in zip(axes, lams, surfaces, cuts):
        _draw_function(ax, first, second, surface, cut)
        _draw_points(ax, X, y)
        ax.set_title(rf"$\lambda = {tex(lam)}$", fontsize="medium")
    if features is not None:
        for ax in axes:
            ax.set(xlabel=features[0], ylabel=features[1])
            if not given:  # as their numbers, in the first column and below all only
                ax.label_outer()
    if y is not None and not given:
        key = (
            axes[0].get_legend_handles_labels()
            if two
            else axes[0].collections[-1].legend_elements()
        )
        axes[0].figure.legend(*key, title="y", loc="outside lower center", ncols=9, **SMALL)
    return axes


def plot_roc(
    y_true: ArrayLike, y_score: ArrayLike, ax: "Axes | None" = None, label: str | None = None
) -> "Axes":
    """The ROC curve of scores for items of two levels, with its area in the legend.

    Parameters
    ----------
    y_true : array-like of shape (n,), float
        Two different values; items of the higher one are good.
    y_score : array-like of shape (n,), float
    ax : matplotlib Axes, default a new figure's
        Several curves on one Axes get different colours.
    label : str, optional
        What the curve is called in the legend, before its area.

    Returns
    -------
    matplotlib Axes
        With the curve as last line: a straight segment for each distinct score. The area is
        :func:`rankbook.metrics.pairs.auc`.

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
