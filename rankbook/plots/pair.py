"""Pictures of an explained pair."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.validation import as_count, require_kind
from .axes import COLOURS, SMALL, as_axes, as_names, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankbook.estimators.explain_pair import PairExplanation


def plot_pair(
    explanation: "PairExplanation",
    ax: "Axes | None" = None,
    k: int = 10,
    names: Sequence[Any] | None = None,
) -> "Axes":
    """The largest terms of a difference of two scores, and the difference, as bars.

    Parameters
    ----------
    explanation : PairExplanation
        From :func:`rankbook.explain_pair`.
    ax : Axes, optional
        By default of a new figure.
    k : int >= 1, default 10
        How many terms; the others are one bar more.
    names : sequence of 2 names, optional
        Of the items a and b, for the title; the features have those of the data frame of the fit.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError, ValueError
        If an argument is something else.

    Examples
    --------
    >>> import rankbook as rb
    >>> model = rb.RankSVM(kernel="linear").fit([[0.0, 1.0], [1.0, 0.0], [3.0, 0.0]], [0, 1, 2])
    >>> ax = rb.plots.plot_pair(rb.explain_pair(model, 2, 0))
    """
    from rankbook.estimators.explain_pair import PairExplanation  # scikit-learn comes with it

    require_kind("explanation", explanation, PairExplanation)
    a, b = ("a", "b") if names is None else as_names(names, 2, "item")
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
