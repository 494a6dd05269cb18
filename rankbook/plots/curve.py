"""Plots of validation curves."""

from typing import TYPE_CHECKING

import numpy as np

from ..base.validation import as_positive, require_kind
from ..selection.curve import ValidationCurve
from .axes import ABOVE, COLOURS, as_axes, drawn_range, lambda_axis, plain, tex

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_validation_curve(
    curve: ValidationCurve,
    ax: "Axes | None" = None,
    lam: float | None = None,
    label: str | None = None,
) -> "Axes":
    """Plot a validation curve as a step function.

    Its optimal intervals are shaded and the chosen lambda is marked.

    Parameters
    ----------
    curve : ValidationCurve
    ax : matplotlib Axes, default a new figure's
        Several curves on one Axes get different colours.
    lam : float, optional
        The lambda to mark; by default ``curve.choose()``.
    label : str, optional
        Name of the curve in the legend, which then also shows the value at the mark.

    Returns
    -------
    matplotlib Axes
        Axes with two more lines and one more collection. The first line contains breaks and values
        as steps; an infinite break, or a break at 0, is cut off at the edge of the plot. The second
        line is the mark, and the collection shows the optimal intervals.

    Raises
    ------
    ValueError
        If `lam` is not in the domain of the curve.

    Examples
    --------
    >>> import rankbook as rb
    >>> curve = rb.ValidationCurve([float("inf"), 2.0, 1.0, 0.1], [0.5, 0.2, 0.3], scale=(0.1, 4.0))
    >>> ax = rb.plots.plot_validation_curve(curve)
    >>> ax.get_xscale(), ax.get_ylabel()
    ('log', 'disagreement')
    """
    require_kind("curve", curve, ValidationCurve)
    breaks, values = curve.breaks, curve.values
    lam = as_positive("lam", curve.choose() if lam is None else lam)
    said = rf"$\lambda = {tex(lam)}$, value {curve.at(lam):.3g}"
    high, low = drawn_range(
        np.sort(np.r_[breaks[1:-1], curve.scale, lam])[::-1], breaks[-1], breaks[0]
    )
    ax = as_axes(ax)
    steps = COLOURS[len(ax.lines) // 2 % len(COLOURS)]  # the Axes may already have other artists
    mark, shade = (COLOURS[1], COLOURS[4]) if label is None else (steps, steps)
    ax.plot(
        np.r_[high, breaks[1:-1], low],
        np.r_[values, values[-1]],
        drawstyle="steps-post",
        color=steps,
        lw=1.2,
        label=None if label is None else f"{plain(label)}: {said}",
    )
    bars = [(max(a, low), min(b, high) - max(a, low)) for a, b in curve.best]
    style = dict(alpha=0.35, lw=0.8, zorder=0)
    optimum = "maximum" if curve.maximize else "minimum"
    ax.broken_barh(
        bars,
        (0, 1),
        transform=ax.get_xaxis_transform(),
        color=shade,
        label=optimum if label is None else None,
        **style,
    )
    ax.plot(lam, curve.at(lam), "o", color=mark, ms=5, label=said if label is None else None)
    lambda_axis(
        ax, {"auc": "AUC", "ndcg": "NDCG"}.get(curve.metric, curve.metric.replace("_", " "))
    )
    ax.legend(ncols=2 if label is None else 1, **ABOVE)
    return ax
