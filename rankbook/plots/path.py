"""Plots of a regularization path, and of the sets of preferences along it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..base.errors import ArgumentError, a_type
from ..base.validation import as_choice, as_count, require_kind
from ..paths.exact import (
    AT_BOUND,
    FREE,
    INACTIVE,
    LabelPath,
    RegularizationPath,
    SolutionPath,
    first_sets,
)
from ..paths.spectral import ManifoldPath
from .axes import ABOVE, COLOURS, SMALL, as_axes, drawn_range, lambda_axis, plain, thin, tick_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NAMED = 20  # most curves in a legend of given names


def spread_ranks(values, count=6):
    """Return the indices of values with `count` evenly spread ranks, largest first."""
    order = np.argsort(-values, kind="stable")
    return order[
        np.unique(np.linspace(0, values.size - 1, min(count, values.size)).round().astype(int))
    ]


def _as_choice(which, size, what):
    """Return `which` as a vector of indices below size."""
    chosen = np.atleast_1d(which)
    if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
        raise ArgumentError(
            f"which has shape {chosen.shape} and dtype {chosen.dtype}",
            f"one or more integer indices of {what}",
        )
    for bad in chosen[(chosen < 0) | (chosen >= size)]:
        raise ArgumentError(f"which contains {bad}", f"indices of {what} from 0 to {size - 1}")
    return chosen


def plotted_lambdas(path, n, high, low):
    """Return at most 2 n decreasing lambdas: n evenly spread ones, and breakpoints."""
    points = path.breakpoints
    points = points[(points <= high) & (points >= low)]
    return np.unique(np.r_[np.geomspace(high, low, n), points[thin(points, n)]])[::-1]


def is_binary(problem):
    """Return whether each preference concerns a single example, y f(x) >= margin."""
    return hasattr(problem, "classes_") and len(problem.coef_shape) == 1


def _margin_curves(path, lams, which, names):
    """Return labels and values (len(lams), q) of the margins of preferences along the path.

    Also return what they belong to, the label of their axis, and the distinct margins.
    """
    problem, prefs = path.problem, path.problem.prefs
    if which is None:
        f = problem.scores(problem.position(path.coef(lams[-1])))
        which = spread_ranks(prefs.matvec(f))
    which = _as_choice(which, len(prefs), "preferences")
    better, worse = prefs.better[which], prefs.worse[which]
    # entries are items, or (example, class); the score of the entry -1 is 0
    entries, classes = np.r_[better, worse], getattr(prefs, "coef_shape", (0, 1))[1]
    rows, where = np.unique(np.maximum(entries, 0) // classes, return_inverse=True)
    scores = np.array([path.predict(problem.X[rows], lam).ravel() for lam in lams])
    scores = scores[:, where * classes + entries % classes] * (entries >= 0)
    count = problem.X.shape[0]
    names, labels = tick_names(_item_names(problem, names, count), count, "item"), []
    for k, l in zip(better.tolist(), worse.tolist()):
        if is_binary(problem):
            labels.append(names[max(k, l)])
        elif classes > 1:
            example, first = divmod(k, classes)
            a, b = plain(problem.classes_[first]), plain(problem.classes_[l % classes])
            labels.append(rf"{names[example]}: {a} $\succ$ {b}")
        else:
            a, b = names[k], names[l]
            numbers = a.isdigit() and b.isdigit()
            labels.append(rf"${a} \succ {b}$" if numbers else rf"{a} $\succ$ {b}")
    values = scores[:, : which.size] - scores[:, which.size :]
    what, axis = "preference", r"$f(x_k) - f(x_l)$"
    if is_binary(problem):
        what, axis = "example", r"$y\, f(x)$"
    return labels, values, what, axis, np.unique(prefs.margin[which])


def _item_names(problem, names, count):
    """Return names of `count` items: the given ones, those of the preferences, or None."""
    if names is None and len(getattr(problem.prefs, "items", None) or ()) == count:
        return problem.prefs.items
    return names


def _number_curves(path, lams, which, names, weights=False):
    """Return curves of coefficients or feature weights, row by row for a matrix."""
    problem, (what, axis) = path.problem, _coef_names(path.problem)
    several = len(problem.coef_shape) > 1
    if weights and what not in ("feature", "component"):
        table = np.array([path.solution(lam).weights for lam in lams])
        what = "feature" + (", class" if hasattr(problem, "classes_") else ", column") * several
    else:
        table = np.array([path.coef(lam) for lam in lams])
    one, shape = "feature" if weights else what.partition(",")[0], table.shape[1:]
    if what == "item" and hasattr(problem, "prefs"):
        names = _item_names(problem, names, shape[0])
    names, table = tick_names(names, shape[0], one), table.reshape(len(table), -1)
    size = np.abs(table[-1])
    used = np.flatnonzero(size >= 1e-6 * size.max())  # the others are nearly 0
    if which is None:
        which = used[spread_ranks(table[-1, used])]
    plural = f"{one}s" if weights or what in ("item", "feature") else "coefficients"
    which = _as_choice(which, table.shape[1], plural)
    labels = [names[i] for i in which] if len(shape) == 1 else []
    if not labels:
        columns = getattr(problem, "classes_", range(shape[1]))
        places = (np.unravel_index(i, shape) for i in which)
        labels = [f"{names[i]}, {plain(columns[j])}" for i, j in places]
    return labels, table[:, which], what, r"weight $w$" if weights else axis, ()


def _coef_names(problem):
    """Return what a coefficient belongs to, and the label of its axis."""
    coefficient, weight = r"coefficient $\beta$", r"weight $w$"
    if len(problem.coef_shape) > 1:
        return "item, class" if hasattr(problem, "classes_") else "item, column", coefficient
    if hasattr(problem, "manifold_weight"):
        return "feature" if problem.data.subspace is None else "component", weight
    if getattr(problem, "basis", None) is not None:
        return "basis item", coefficient
    return ("feature", weight) if problem.coef_is_weights else ("item", coefficient)


DRAWN = {
    "margins": _margin_curves,
    "coef": _number_curves,
    "weights": partial(_number_curves, weights=True),
}


def plot_path(
    path: SolutionPath,
    what: Literal["margins", "coef", "weights"] | None = None,
    which: ArrayLike | None = None,
    ax: "Axes | None" = None,
    n: int = 300,
    names: Sequence[Any] | None = None,
) -> "Axes":
    """Plot margins of preferences, coefficients of items, or feature weights along a path.

    Parameters
    ----------
    path : SolutionPath
        Path of any solver. For a support vector machine, the curves show the constraints of
        examples instead of preferences. For a :class:`rankbook.paths.spectral.ManifoldPath`, the
        horizontal axis is the manifold weight instead of lambda.
    what : {"margins", "coef", "weights"}, optional
        "margins" are the differences f(better) - f(worse) of preferences, "coef" the coefficients
        of items or of a basis, and "weights" the feature weights of a linear function. By default
        weights with an L1 penalty, otherwise margins if the problem has preferences, otherwise
        coefficients. The coefficients of the linear Rayleigh problem are weights, too.
    which : array-like of int, optional
        Indices of the preferences, coefficients or weights to draw; a matrix is numbered row by
        row. Colours follow this order, and a curve has the same colour in the plots of two paths.
        By default up to six are drawn, chosen so that their values at the smallest lambda drawn
        have evenly spread ranks.
    ax : matplotlib Axes, default a new figure's
    n : int, default 300
        Curves are evaluated at n evenly spread lambdas and at the breakpoints (at most n of them,
        evenly spread).
    names : sequence, optional
        Names for the legend. For margins and coefficients, pass the names of all items (with a
        basis, the names of its items), such as ``X.index``; for weights the names of all features,
        such as ``X.columns``. By default the names in the preferences, otherwise numbers.

    Returns
    -------
    matplotlib Axes
        Its lines are the curves in the order of their last values, largest first, and a dashed line
        at the margin if all preferences share it.

    Raises
    ------
    TypeError
        If `path` is not a path, or its problem has no preferences or weights to draw.
    ValueError, TypeError
        If `what` is unknown, an index of `which` is out of range, there are more or fewer `names`,
        or `n` or `ax` is invalid.

    Notes
    -----
    At most 2 n solutions are read from the path: for T events, m preferences and |A| active ones
    O(n (T + m + |A|^3)).

    Examples
    --------
    >>> import rankbook as rb
    >>> prefs = rb.Preferences.from_scores([0, 1, 2])
    >>> problem = rb.RankSVMProblem([[0.0], [1.0], [3.0]], prefs, kernel="linear")
    >>> ax = rb.plots.plot_path(rb.solve_path(problem, solver="path"))
    >>> ax.get_xscale(), len(ax.lines)
    ('log', 4)
    """
    require_kind("path", path, SolutionPath)
    problem = path.problem
    kind, has_margins = _coef_names(problem)[0], hasattr(problem, "prefs")
    if what is None:
        what = "weights" if kind == "feature" else "margins" if has_margins else "coef"
    else:
        what = as_choice("what", what, DRAWN)
        about = f"what is {what!r} and path is {a_type(path)} of {a_type(problem)}"
        if what == "margins" and not has_margins:
            raise ArgumentError(f"{about}, which has no preferences", "what='coef'")
        if what == "weights" and not problem.has_weights and kind not in ("feature", "component"):
            raise ArgumentError(
                f"{about}, whose function has no feature weights",
                "what='coef', or 'weights' for a linear kernel",
            )
    points = path.breakpoints
    if not points.size and hasattr(path, "scale"):
        points = np.array(path.scale)[::-1]
    lams = plotted_lambdas(path, as_count("n", n, 2), *drawn_range(points, path.domain[0]))
    labels, values, title, axis, margins = DRAWN[what](path, lams, which, names)
    ax = as_axes(ax)
    # the vertical axis is linear up to a power of ten near unit, and logarithmic beyond
    if len(margins):
        unit = margins[-1]
    else:  # without breakpoints the first lambda is arbitrary, and coefficients are tiny there
        unit = np.abs(values[0]).max() if path.breakpoints.size else np.median(np.abs(values[-1]))
    if (top := np.abs(values).max()) > 30 * unit > 0:
        decade = np.floor(np.log10(unit))
        scale = max(1.0, (np.log10(top) - decade) / 6)
        ax.set_yscale("symlog", linthresh=10**decade, linscale=scale)
    count = len(labels)
    few = count <= len(COLOURS)
    colours = COLOURS
    if not few:  # many curves are shaded from first to last
        from matplotlib import colormaps

        colours = colormaps["viridis"](np.linspace(0, 0.92, count))
    # wider first, so that coinciding lines remain visible
    widths = np.linspace(2.4, 1.1, count) if few else np.full(count, 0.8)
    order, lines = np.argsort(-values[-1], kind="stable"), []
    hues = order if few and which is not None else range(count)
    for j, hue, width in zip(order, hues, widths):
        lines += ax.plot(lams, values[:, j], color=colours[hue], lw=width, label=labels[j])
    if few or (names is not None and count <= NAMED):
        # with explicit lines, because a name may begin with an underscore
        beside = dict(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        ax.legend(lines, [line.get_label() for line in lines], title=title, **beside, **SMALL)
    if len(margins) == 1:
        ax.axhline(margins[0], color="0.5", lw=0.8, ls="--", zorder=1)
    lambda_axis(ax, axis)
    if isinstance(path, ManifoldPath):
        ax.set_xlabel("manifold weight (decreasing)")
    return ax


def plot_sets(path: SolutionPath, ax: "Axes | None" = None) -> "Axes":
    """Plot the numbers of inactive, free and bound preferences along a path.

    Parameters
    ----------
    path : RegularizationPath or LabelPath
        Path of the solver "path", because other solvers store no sets. On the path of a support
        vector machine, the preferences are the constraints of its examples.
    ax : matplotlib Axes, default a new figure's

    Returns
    -------
    matplotlib Axes
        Axes with one step line for each of the sets inactive, at bound and free. A step reaches
        from its lambda down to the next.

    Raises
    ------
    TypeError
        If `path` is another object.

    Notes
    -----
    O(T) for T events. Of more than 1000 breakpoints, 1000 evenly spread ones are drawn; the sizes
    drawn at them are exact.

    Examples
    --------
    >>> import rankbook as rb
    >>> prefs = rb.Preferences.from_scores([0, 1, 2])
    >>> problem = rb.RankSVMProblem([[0.0], [1.0], [3.0]], prefs, kernel="linear")
    >>> ax = rb.plots.plot_sets(rb.solve_path(problem, solver="path"))
    >>> [line.get_label() for line in ax.lines]
    ['inactive', 'at bound', 'free']
    """
    require_kind("path", path, SolutionPath)
    problem = path.problem
    if isinstance(path, LabelPath):
        path = path.ranking_path
    if not isinstance(path, RegularizationPath):
        raise ArgumentError(
            f"path is {a_type(path)}, which keeps no sets of preferences",
            "a RegularizationPath or a LabelPath, of the solver 'path'",
        )
    events = path.events
    change = np.zeros((events.size, 3), dtype=np.int64)
    change[np.arange(events.size), events["from"]] -= 1
    change[np.arange(events.size), events["to"]] += 1
    # the last of the events at one lambda
    last = np.flatnonzero(np.r_[events["lam"][1:] < events["lam"][:-1], True][: events.size])
    start = np.bincount(first_sets(path.problem.prefs), minlength=3)  # above lam_max
    sizes = start + np.r_[np.zeros((1, 3), dtype=np.int64), np.cumsum(change, axis=0)[last]]
    high, low = drawn_range(path.breakpoints, path.domain[0])
    kept = thin(path.breakpoints, 1000)
    x, rows = np.r_[high, path.breakpoints[kept], low], np.r_[0, kept + 1, path.breakpoints.size]
    ax = as_axes(ax)
    for which, name, colour, width in (
        (INACTIVE, "inactive", COLOURS[2], 2.4),
        (AT_BOUND, "at bound", COLOURS[0], 1.6),
        (FREE, "free", COLOURS[1], 0.9),
    ):
        ax.plot(x, sizes[rows, which], drawstyle="steps-post", color=colour, lw=width, label=name)
    lambda_axis(ax, "examples" if is_binary(problem) else "preferences")
    ax.set_yscale("symlog", linthresh=1)
    ax.yaxis.set_major_formatter("{x:.0f}")
    ax.set_ylim(-0.1, 1.5 * len(path.problem.prefs))
    ax.legend(ncols=3, **ABOVE)
    return ax
