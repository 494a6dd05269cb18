"""The style of pictures in notebooks."""

from .axes import COLOURS

STYLE = {
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.dpi": 150,  # in an SVG, only of what is rasterized
    "figure.figsize": (5.4, 2.9),
    "font.size": 11,
    "legend.fontsize": "small",
    "svg.hashsalt": "rankbook",  # the same picture has the same names for its parts
    "xtick.labelsize": "small",
    "ytick.labelsize": "small",
}


def load_ipython_extension(ipython):
    """Give the pictures of a notebook their style; ``%load_ext rankbook.plots.style`` calls it.

    They become SVG without a date: the same picture is stored as the same text.
    """
    import matplotlib
    from cycler import cycler
    from matplotlib_inline.config import InlineBackend

    matplotlib.rcParams.update(STYLE | {"axes.prop_cycle": cycler(color=COLOURS)})
    backend = InlineBackend.instance(parent=ipython)
    backend.shell = ipython
    backend.figure_formats = {"svg"}
    backend.print_figure_kwargs = {"bbox_inches": "tight", "metadata": {"Date": None}}
