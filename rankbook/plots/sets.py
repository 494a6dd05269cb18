"""Pictures of the sets of preferences along a path."""

from typing import TYPE_CHECKING

import numpy as np

from ..base.validation import require_kind
from ..paths.exact import (
    AT_BOUND,
    FREE,
    INACTIVE,
    LabelPath,
    RegularizationPath,
    SolutionPath,
    first_sets,
)
from .axes import ABOVE, COLOURS, as_axes, drawn_range, lambda_axis, thin
from .path import is_binary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_sets(path: SolutionPath, ax: "Axes | None" = None) -> "Axes":
    """How many preferences are inactive, free and at bound along a path.

    Parameters
    ----------
    path : RegularizationPath or LabelPath
        Of the solver "path"; on the path of a support vector machine the preferences are the
        constraints of its examples. Other solvers keep no sets.
    ax : matplotlib Axes, default a new figure's

    Returns
    -------
    matplotlib Axes
        With a line for each of inactive, at bound, free: steps, each from its lambda down to the
        next.

    Raises
    ------
    TypeError
        If it is another path, or no path.

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
        raise TypeError(
            f"path is a {type(path).__name__}, which keeps no sets of preferences; a "
            "RegularizationPath or a LabelPath, of the solver 'path', is accepted."
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
