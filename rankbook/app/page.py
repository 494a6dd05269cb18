"""Pages of HTML that load no other files: text, tables, pictures and their style.

The functions escape all text except :class:`Html`. Other modules make :class:`Html` only from parts
that are escaped already.
"""

import io
import re
import warnings
from html import escape
from importlib.resources import files
from zlib import crc32

from ..base.limits import import_extra
from ..base.tables import in_line
from ..plots.axes import COLOURS

# a page may use its own scripts and styles, and loads no other files
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


class Html(str):
    """Text that is HTML already."""


def html(text):
    """Escape a text, unless it is HTML already, and show characters that control a terminal."""
    return text if isinstance(text, Html) else Html(escape(in_line(str(text))))


def element(name, *parts, **attributes):
    """Make an element of HTML; `class_` stands for the attribute "class"."""
    said = "".join(
        f' {key.strip("_").replace("_", "-")}="{html(value)}"' for key, value in attributes.items()
    )
    return Html(f"<{name}{said}>{''.join(map(html, parts))}</{name}>")


def paragraph(*parts, **attributes):
    """Make a paragraph, or nothing without text."""
    return element("p", *parts, **attributes) if any(parts) else Html("")


def bullets(texts):
    """Make a list of points, or nothing without texts."""
    return element("ul", *(element("li", text) for text in texts)) if texts else Html("")


def code(lines):
    """Make a block of code."""
    text = element("code", Html("\n".join(map(html, lines))))
    return element("pre", text, tabindex="0", role="group", aria_label="commands")


def table(caption, head, rows, words=1):
    """Make a table whose first `words` columns are text and all others numbers.

    A table that is wider than the window scrolls, also by keyboard.
    """
    kind = ["word" if j < words else "number" for j in range(len(head))]
    cells = [element("th", cell, scope="col", class_=each) for cell, each in zip(head, kind)]
    body = [
        element("tr", *(element("td", cell, class_=each) for cell, each in zip(row, kind)))
        for row in rows
    ]
    parts = element("caption", caption), element("thead", element("tr", *cells))
    found = element("table", *parts, element("tbody", *body))
    return element("div", found, class_="scroll", tabindex="0", role="group", aria_label=caption)


def facts(rows):
    """Make a list of names and values; rows without a value are left out."""
    pairs = [(name, value) for name, value in rows if value not in (None, "")]
    parts = (element("dt", name) + element("dd", value) for name, value in pairs)
    return element("dl", *map(Html, parts))


def span_bar(low, value, high, ends=(0.0, 1.0)):
    """Draw an interval and the value in it between two ends."""
    share = lambda x: f"{100 * min(1.0, max(0.0, (x - ends[0]) / (ends[1] - ends[0] or 1.0))):.1f}%"
    style = f"--low:{share(low)};--high:{share(high)};--at:{share(value)}"
    return element("span", class_="bar", style=style, aria_hidden="true")


def length_bar(value, largest):
    """Draw a number as a bar to the right of the middle, or to the left if it is negative."""
    share = 50 * abs(value) / (largest or 1.0)
    begin = 50.0 if value >= 0 else 50.0 - share
    kind = "length" if value >= 0 else "length minus"
    style = f"--low:{begin:.1f}%;--high:{begin + share:.1f}%"
    return element("span", class_=f"bar {kind}", style=style, aria_hidden="true")


def folded(title, *parts):
    """Make a part that opens on demand."""
    return element("details", element("summary", title), *parts)


def require_pictures(asked):
    """Raise an ImportError that names the extra to install if pictures cannot be drawn."""
    import_extra("matplotlib", "plots", asked)


def picture(draw, alt, caption="", size=(4.6, 2.7)):
    """Draw on a new Axes, and return it as a figure of SVG in the colours of the page.

    Parameters
    ----------
    draw : callable of an Axes
    alt : str
        What the picture shows, for people who cannot see it.
    caption : str
    size : (float, float)
        In inches.
    """
    import matplotlib
    from cycler import cycler
    from matplotlib.figure import Figure

    style = {"svg.fonttype": "none", "svg.hashsalt": "rankbook", "font.size": 10}
    style |= {"axes.prop_cycle": cycler(color=COLOURS), "axes.spines.top": False}
    style |= {"axes.spines.right": False, "text.parse_math": True}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # the browser supplies the fonts
        warnings.filterwarnings("ignore", r"(?s)Glyph .* missing from", UserWarning)
        warnings.filterwarnings("ignore", ".*Matplotlib currently does not support", UserWarning)
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata=dict(Date=None, Creator=None))
    svg = file.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    own = f"p{crc32(svg.encode()):08x}-"  # makes ids unique on a page with several pictures
    svg = re.sub(r'\bid="', f'id="{own}', svg)
    svg = re.sub(r"(url\(#|href=\"#)", rf"\1{own}", svg)
    for i, colour in enumerate(COLOURS):
        name = "currentColor" if colour == "#000000" else f"var(--c{i})"
        svg = re.sub(rf"(?<=[:\s]){colour}\b", name, svg, flags=re.IGNORECASE)
    svg = svg.replace("xlink:href=", "href=")
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{html(alt)}" ', 1)
    said = [element("figcaption", caption)] if caption else []
    return element("figure", Html(svg), *said)


def page(title, sections, foot):
    """Make a page from sections, triples of an id, a title and HTML; empty ones are left out."""
    style = files("rankbook.app").joinpath("report.css").read_text(encoding="utf-8")
    sections = [each for each in sections if each[2]]
    links = [element("a", name, href=f"#{place}") for place, name, _ in sections]
    parts = []
    for place, name, body in sections:
        label = element("h2", name, id=f"{place}-title")
        named = dict(id=place, aria_labelledby=f"{place}-title")
        parts.append(element("section", label, body, **named))
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f"<title>{html(title)}</title><style>{style}</style>"
    )
    body = element("header", element("h1", title), element("nav", *links, aria_label="sections"))
    body += element("main", *parts) + element("footer", foot)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'
