"""Axes, colours and line styles that all plots share."""

import numpy as np

from ..base.errors import ArgumentError, a_type
from ..base.limits import import_extra
from ..base.tables import count as count_of

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"]
SMALL = dict(frameon=False, fontsize="small", title_fontsize="small", handlelength=1.4)
ABOVE = dict(  # position at which a legend covers no data
    loc="lower center", bbox_to_anchor=(0.5, 1.0), columnspacing=1.2, **SMALL
)


def import_matplotlib():
    """Import matplotlib.pyplot, or raise an ImportError with the command that installs it."""
    return import_extra("matplotlib.pyplot", "plots", "a figure")


def as_axes(ax, size=(4.4, 2.9)):
    """Return `ax`, or the Axes of a new figure of this size in inches."""
    plt = import_matplotlib()
    if ax is None:
        return plt.subplots(figsize=size, layout="constrained")[1]
    if not isinstance(ax, plt.Axes):
        raise ArgumentError(f"ax is {a_type(ax)}", "a matplotlib Axes")
    return ax


def drawn_range(points, lower, upper=np.inf):
    """Return the largest and smallest lambda of a plot of the decreasing `points`.

    An infinite end, or an end at 0, is cut off beyond the points.
    """
    marks = np.r_[upper, points, lower]
    marks = marks[np.isfinite(marks) & (marks > 0)]
    first, last = (marks[0], marks[-1]) if marks.size else (1.0, 1.0)
    span = np.log(first) - np.log(last)
    # more than a decade in all
    margin = max(1.5, min(10.0, np.exp(0.05 * span)), 4 / np.exp(span / 2))
    return upper if np.isfinite(upper) else first * margin, lower if lower > 0 else last / margin


def tex(x):
    """Format x with three digits as TeX: 0.125, or 2.5 times a power of ten."""
    digits, _, power = f"{x:.3g}".partition("e")
    return rf"{digits} \times 10^{{{int(power)}}}" if power else digits


def lambda_axis(ax, ylabel):
    """Label the axes, and make the horizontal axis a decreasing lambda.

    Its limits continue to follow the data.
    """
    ax.set_xscale("log")
    ax.xaxis.set_inverted(True)
    ax.margins(x=0)
    ax.set(xlabel=r"$\lambda$ (decreasing)", ylabel=ylabel)
    if np.ptp(np.floor(np.log10(ax.get_xlim()))) < 2:  # at most one power of ten
        ax.xaxis.set_minor_formatter(lambda x, _: f"{x:g}" if f"{x:e}"[0] in "25" else "")


def thin(breaks, n):
    """Return indices of at most n of the decreasing `breaks`, evenly spread in log lambda.

    They include the first and the last one.
    """
    if breaks.size <= n:
        return np.arange(breaks.size)
    return np.unique(
        np.searchsorted(-breaks, -np.geomspace(breaks[0], breaks[-1], n)).clip(0, breaks.size - 1)
    )


def plain(name):
    """Escape dollar signs in a name, which would begin a formula in a plot."""
    return str(name).replace("$", r"\$")


def tick_names(names, count, what):
    """Return `count` names: the given ones, or numbers from 0."""
    if names is None:
        return [str(i) for i in range(count)]
    accepted = f"{count_of(count, 'name')}, one for each {what}"
    if isinstance(names, (str, bytes)) or not hasattr(names, "__len__"):
        raise ArgumentError(f"names is {a_type(names)}", accepted)
    if len(names) != count:
        raise ArgumentError(f"names has length {len(names)}", accepted)
    return [plain(name) for name in names]
