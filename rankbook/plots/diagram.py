"""Diagrams of boxes and arrows."""

from ..base.errors import ArgumentError
from .axes import COLOURS, import_matplotlib

LETTER, LINE, PAD, GAP = 0.085, 0.17, 0.13, 0.42  # inches


def place_boxes(rows, width):
    """Place boxes: (x, y, width, height) of each name, with the centre (x, y), in inches.

    Parameters
    ----------
    rows : list of list of str
        Rows from top to bottom. A name may have several lines; an empty name leaves a gap.
    width : float
        Width of the picture.

    Returns
    -------
    boxes : dict from str to tuple of float
    height : float
        Height of the picture.

    Raises
    ------
    ValueError
        If a name occurs twice, or a row is wider than the picture.

    Notes
    -----
    Proportional to the letters of all names.
    """
    boxes, top = {}, 0.0
    for row in rows:
        tall = max(name.count("\n") + 1 for name in row) * LINE + PAD
        slot, right = width / len(row), 0.0
        for i, name in enumerate(row):
            wide = max(map(len, name.split("\n"))) * LETTER + 2 * PAD
            if not name:
                continue
            if name in boxes:
                raise ArgumentError(f"rows has {name!r} twice", "distinct names")
            if (i + 0.5) * slot - wide / 2 < right - 1e-9 or (i + 0.5) * slot + wide / 2 > width:
                raise ValueError(f"rows has no room for {name!r} in {width:g} inches.")
            right = (i + 0.5) * slot + wide / 2
            high = (name.count("\n") + 1) * LINE + PAD
            boxes[name] = ((i + 0.5) * slot, -top - tall / 2, wide, high)
        top += tall + GAP
    return boxes, top - GAP


MIDDLE = dict(ha="center", va="center")
PAPER = dict(facecolor="white", edgecolor="none", pad=1)


def draw_diagram(rows, arrows, marked=(), width=5.6):
    """Draw boxes in rows, and arrows between them.

    Parameters
    ----------
    rows : list of list of str
        Names of boxes, as in :func:`place_boxes`.
    arrows : list of tuple of str
        Start and end of each arrow, and optionally the words beside it.
    marked : list of str, optional
        Boxes to fill with a colour.
    width : float, default 5.6
        Width of the picture, in inches.

    Returns
    -------
    Axes
        Axes of a new figure.

    Raises
    ------
    ValueError
        If there is no room, a name occurs twice, or an arrow or mark refers to a missing box.

    Notes
    -----
    Proportional to the number of boxes and arrows.
    """
    boxes, height = place_boxes(rows, width)
    for name in [*(end for arrow in arrows for end in arrow[:2]), *marked]:
        if name not in boxes:
            raise ValueError(
                f"there is no box {name!r}; the boxes are {', '.join(map(repr, boxes))}."
            )
    plt = import_matplotlib()
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    figure = plt.figure(figsize=(width, height + 0.1), layout="none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, width), ylim=(-height - 0.05, 0.05))
    ax.axis("off")
    patches = {}
    for name, (x, y, wide, tall) in boxes.items():
        colour = COLOURS[5] if name in marked else "#f4f4f4"
        patches[name] = FancyBboxPatch(
            (x - wide / 2 + 0.06, y - tall / 2 + 0.06),
            wide - 0.12,
            tall - 0.12,
            boxstyle="round,pad=0.05",
            facecolor=colour,
            edgecolor="#666666",
            linewidth=0.8,
        )
        ax.add_patch(patches[name])
        ax.text(x, y, name, fontsize=10, linespacing=1.1, **MIDDLE)
    for start, end, *words in arrows:
        (x0, y0), (x1, y1) = boxes[start][:2], boxes[end][:2]
        ends = dict(patchA=patches[start], patchB=patches[end], shrinkA=2, shrinkB=2)
        line = dict(arrowstyle="-|>", mutation_scale=9, color=COLOURS[0], linewidth=1, zorder=0.5)
        ax.add_patch(FancyArrowPatch((x0, y0), (x1, y1), **ends, **line))
        for text in words:
            x, y = (x0 + x1) / 2, (y0 + y1) / 2
            if y0 == y1:  # above the arrow, in the middle between the edges
                x += (boxes[start][2] - boxes[end][2]) / 4 * (1 if x0 < x1 else -1)
                y += 0.1
            ax.text(x, y, text, fontsize=8.5, style="italic", **MIDDLE, bbox=PAPER)
    return ax
