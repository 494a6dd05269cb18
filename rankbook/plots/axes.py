"""Axes, colours and line styles that all pictures share."""

import numpy as np

from ..base.errors import ArgumentError

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"]
SMALL = dict(frameon=False, fontsize="small", title_fontsize="small", handlelength=1.4)
ABOVE = dict(  # where a legend covers no data
    loc="lower center", bbox_to_anchor=(0.5, 1.0), columnspacing=1.2, **SMALL
)


def as_axes(ax, size=(4.4, 2.9)):
    """`ax`, or the Axes of a new figure of this size in inches."""
    import matplotlib.pyplot as plt

    if ax is None:
        return plt.subplots(figsize=size, layout="constrained")[1]
    if not isinstance(ax, plt.Axes):
        raise ArgumentError(f"ax is a {type(ax).__name__}", "a matplotlib Axes")
    return ax


def drawn_range(points, lower, upper=np.inf):
    """Largest and smallest lambda of a picture of the decreasing `points`.

    An end that is infinite or 0 is cut off beyond them.
    """
    marks = np.r_[upper, points, lower]
    marks = marks[np.isfinite(marks) & (marks > 0)]
    first, last = (marks[0], marks[-1]) if marks.size else (1.0, 1.0)
    # more than a decade in all
    margin = max(1.5, (first / last) ** 0.05, 4 / (first / last) ** 0.5)
    return upper if np.isfinite(upper) else first * margin, lower if lower > 0 else last / margin


def tex(x):
    """x to three digits as TeX: 0.125, or 2.5 times a power of ten."""
    digits, _, power = f"{x:.3g}".partition("e")
    return rf"{digits} \times 10^{{{int(power)}}}" if power else digits


def lambda_axis(ax, ylabel):
    """Name the axes and make the horizontal one that of a falling lambda.

    Its limits keep following what is drawn.
    """
    ax.set_xscale("log")
    ax.xaxis.set_inverted(True)
    ax.margins(x=0)
    ax.set(xlabel=r"$\lambda$ (decreasing)", ylabel=ylabel)
    if np.ptp(np.floor(np.log10(ax.get_xlim()))) < 2:  # a power of ten at most
        ax.xaxis.set_minor_formatter(lambda x, _: f"{x:g}" if f"{x:e}"[0] in "25" else "")


def thin(breaks, n):
    """Indices of at most n of the decreasing `breaks`, evenly spread in log lambda.

    The first and the last are among them.
    """
    if breaks.size <= n:
        return np.arange(breaks.size)
    return np.unique(
        np.searchsorted(-breaks, -np.geomspace(breaks[0], breaks[-1], n)).clip(0, breaks.size - 1)
    )


def plain(name):
    """A name as text of a picture, where dollar signs would begin a formula."""
    return str(name).replace("$", r"\$")


def as_names(names, count, what):
    """A name for each of `count` things of a kind: those given, or numbers from 0."""
    if names is None:
        return [str(i) for i in range(count)]
    accepted = f"{count} names, one for each {what}"
    if isinstance(names, (str, bytes)) or not hasattr(names, "__len__"):
        raise ArgumentError(f"names is a {type(names).__name__}", accepted)
    if len(names) != count:
        raise ArgumentError(f"names has {len(names)} entries", accepted)
    return [plain(name) for name in names]
