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


def load_ipython_extension(ipython):
    """Set the style of a notebook's figures; ``%load_ext rankbook.plots.style`` calls it.

    Figures become SVG without a date, so equal figures are stored as equal text.
    """
    import matplotlib
    from cycler import cycler
    from matplotlib_inline.config import InlineBackend

    matplotlib.rcParams.update(STYLE | {"axes.prop_cycle": cycler(color=COLOURS)})
    backend = InlineBackend.instance(parent=ipython)
    backend.shell = ipython
    backend.figure_formats = {"svg"}
    backend.print_figure_kwargs = {"bbox_inches": "tight", "metadata": {"Date": None}}
