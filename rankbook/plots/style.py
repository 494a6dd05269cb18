"""Style of figures in notebooks."""

from .axes import COLOURS

STYLE = {
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.dpi": 150,  # in an SVG this affects only rasterized parts
    "figure.figsize": (5.4, 2.9),
    "font.size": 11,
    "legend.fontsize": "small",
    "svg.hashsalt": "rankbook",  # equal figures have equal names of their parts
    "xtick.labelsize": "small",
    "ytick.labelsize": "small",
}

BEFORE = []  # what the style replaced: parameters of matplotlib, and formats of figures


def load_ipython_extension(ipython):
    """Set the style of a notebook's figures; ``%load_ext rankbook.plots.style`` calls it.

    Figures become SVG without a date, so equal figures are stored as equal text.
    ``%unload_ext rankbook.plots.style`` restores what was set before.
    """
    import matplotlib
    from cycler import cycler
    from matplotlib_inline.config import InlineBackend

    backend = InlineBackend.instance(parent=ipython)
    backend.shell = ipython
    style = STYLE | {"axes.prop_cycle": cycler(color=COLOURS)}
    if not BEFORE:
        BEFORE.append({name: matplotlib.rcParams[name] for name in style})
        BEFORE.append((backend.figure_formats, backend.print_figure_kwargs))
    matplotlib.rcParams.update(style)
    backend.figure_formats = {"svg"}
    backend.print_figure_kwargs = {"bbox_inches": "tight", "metadata": {"Date": None}}


def unload_ipython_extension(ipython):
    """Restore the style; ``%unload_ext rankbook.plots.style`` calls it."""
    import matplotlib
    from matplotlib_inline.config import InlineBackend

    backend = InlineBackend.instance(parent=ipython)
    backend.figure_formats, backend.print_figure_kwargs = BEFORE.pop()
    matplotlib.rcParams.update(BEFORE.pop())
