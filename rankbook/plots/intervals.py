"""Plots of intervals of ranks and scores."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from ..base.validation import as_choice, as_count, require_kind
from ..estimators.order_intervals import OrderIntervals
from .axes import COLOURS, as_axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_intervals(
    intervals: OrderIntervals,
    ax: "Axes | None" = None,
    by: Literal["rank", "score"] = "rank",
    k: int = 30,
) -> "Axes":
    """Plot the rank of each item and a bar from its best to its worst possible rank.

    Parameters
    ----------
    intervals : OrderIntervals
    ax : matplotlib Axes, default a new figure's
    by : {"rank", "score"}, default "rank"
        Whether to draw intervals of ranks or of scores. Infinite intervals have no bar.
    k : int, default 30
        Number of items to show.

    Returns
    -------
    matplotlib Axes
        Axes with the bars as a collection and the estimates as a line.

    Examples
    --------
    >>> import numpy as np, rankbook as rb
    >>> prefs = rb.Preferences([0, 0, 1], [1, 2, 2], n_items=3, weight=[9, 9, 7])
    >>> model = rb.RankSVM(lam=1.0, kernel="linear", loss="logistic").fit(np.eye(3), prefs)
    >>> ax = rb.plots.plot_intervals(rb.order_intervals(model, np.eye(3)))
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_yticklabels()]
    ('rank', ['0', '1', '2'])
    """
    require_kind("intervals", intervals, OrderIntervals)
    by, shown = as_choice("by", by, ("rank", "score")), intervals.order[: as_count("k", k)]
    ax = as_axes(ax, (4.4, 0.8 + 0.2 * len(shown)))
    if by == "rank":
        value, low, high = intervals.rank, intervals.rank_low, intervals.rank_high
    else:
        value, low, high = intervals.score, intervals.low, intervals.high
    value, low, high = (
        np.where(np.isfinite(each[shown]), each[shown], np.nan) for each in (value, low, high)
    )
    place = np.arange(len(shown))
    ax.hlines(place, low, high, color=COLOURS[5], lw=3)
    ax.plot(value, place, "o", color=COLOURS[0], ms=4)
    ax.set_yticks(place, [plain(intervals.names[i]) for i in shown])
    ax.set(xlabel=by, ylim=(len(shown) - 0.5, -0.5))
    if by == "rank":
        ax.xaxis.get_major_locator().set_params(integer=True)
    return ax
