"""The page behind the slider of lambda."""

import json
from html import escape
from importlib.resources import files

import numpy as np

WIDTH, LEFT, RIGHT = 440, 46, 430  # of the picture, and its panels
PANEL, BELOW = (24, 170), (212, 276)  # upper and lower ends of the panels
MOST_BREAKS = 600  # of a curve on the page


def across(lam, high, low):
    """Where a lambda is in the picture."""
    return LEFT + (RIGHT - LEFT) * np.log(high / np.asarray(lam)) / np.log(high / low)


def heights(scores):
    """Scores (..., p) from 0, the lowest one, to 1, the highest; equal ones are halfway."""
    low, span = scores.min(axis=-1, keepdims=True), np.ptp(scores, axis=-1, keepdims=True)
    return np.where(span > 0, (scores - low) / np.where(span > 0, span, 1.0), 0.5)


def upward(share, panel):
    """Where a share from 0, below, to 1, above, is in a panel."""
    return panel[1] - share * (panel[1] - panel[0])


def line(x, y, kind, style=""):
    """A line through points of the picture."""
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
    return f'<polyline class="rb-{kind}"{style} points="{points}"/>'


def power(exponent):
    """A power of ten as text."""
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def ticks_svg(high, low, bottom, symbol):
    """Powers of ten below the panels, or the two ends where there are fewer than two."""
    first, last = int(np.floor(np.log10(high))), int(np.ceil(np.log10(low)))
    powers = range(first, last - 1, -max(1, round((first - last) / 6)))
    marks = [(10.0**e, power(e)) for e in powers]
    if len(marks) < 2:
        marks = [(high, f"{high:.3g}"), (low, f"{low:.3g}")]
    text = "".join(
        f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{said}</text>'
        for x, said in ((across(lam, high, low), said) for lam, said in marks)
    )
    return f'{text}<text x="{LEFT - 20}" y="{bottom + 16}" text-anchor="end">{symbol}</text>'


def panel_svg(panel, title):
    """A frame with its title."""
    top, bottom = panel
    return (
        f'<text x="{LEFT}" y="{top - 9}">{title}</text><rect class="rb-frame" x="{LEFT}" y="{top}" '
        f'width="{RIGHT - LEFT}" height="{bottom - top}"/>'
    )


def panel_marks(panel, words):
    """What the upper end of a panel is, and the lower one."""
    ends = zip((panel[0] + 9, panel[1]), words)
    return "".join(
        f'<text x="{LEFT - 5}" y="{y}" text-anchor="end">{said}</text>' for y, said in ends
    )


def mark_svg(x, panel):
    """The line at the lambda of the slider."""
    return f'<line class="rb-at" x1="{x:.1f}" x2="{x:.1f}" y1="{panel[0]}" y2="{panel[1]}"/>'


def curve_on_page(curve, high, low, around):
    """Falling breaks (s,) between high and low, and the values (s + 1,) around them.

    Of a curve with more than MOST_BREAKS the interval `around` is kept as it is.
    """
    breaks = curve.breaks[(curve.breaks < high) & (curve.breaks > low)]
    if breaks.size > MOST_BREAKS:
        kept = [end for end in around if low < end < high]
        breaks = np.unique(np.r_[np.geomspace(high, low, MOST_BREAKS)[1:-1], kept])[::-1]
        breaks = breaks[(breaks <= around[0]) | (breaks >= around[1])]
    ends = np.r_[high, breaks, low]
    return breaks, curve.at(np.sqrt(ends[1:] * ends[:-1]))


def metric_name(curve):
    """What a curve measures, in print."""
    return {"auc": "AUC", "ndcg": "NDCG"}.get(curve.metric, curve.metric)


def curve_svg(curve, breaks, values, high, low):
    """The lower panel: steps, and shades where they are best."""
    best = across(np.clip(np.array(curve.best)[:, ::-1], low, high), high, low)
    wide = (best[:, 1] - best[:, 0] >= 1) | (best[:, 0] == best[:, 0].min())
    shades = "".join(
        f'<rect class="rb-best" x="{x:.1f}" y="{BELOW[0]}" width="{max(1.0, end - x):.1f}" '
        f'height="{BELOW[1] - BELOW[0]}"/>'
        for x, end in best[wide]
    )
    x = np.repeat(across(np.r_[high, breaks, low], high, low), 2)[1:-1]
    steps = line(x, np.repeat(upward(heights(values), BELOW), 2), "steps")
    ends = np.unique([values.min(), values.max()])[::-1]
    marks = panel_marks(BELOW, [f"{value:.2g}" for value in ends])
    return shades + panel_svg(BELOW, f"validation {metric_name(curve)}") + marks + steps


WORDS = ["", "proven above the next", "proven below the next"]  # for whoever hears the list


def list_html(names, scores, proven):
    """The items in the order of their scores, each with its link to the next."""
    order, share = np.argsort(-scores, kind="stable"), heights(scores)
    rows = []
    for place, i in enumerate(order):
        after = order[place + 1] if place + 1 < order.size else None
        state = 0 if after is None else int(proven[i, after] + 2 * proven[after, i])
        rows.append(
            f'<li class="rb-row{("", " rb-lit", " rb-against")[state]}" data-item="{i}" '
            f'style="--p:{100 * place / max(1, order.size - 1):.0f}%;--s:{share[i]:.4f}">'
            f'<span class="rb-link"></span><span class="rb-bead"></span>'
            f'<span class="rb-name">{escape(names[i])}</span>'
            f'<span class="rb-unseen" style="order:3">{WORDS[state]}</span></li>'
        )
    return f'<ol class="rb-list" role="list">{"".join(rows)}</ol>'


def scores_svg(slider, now):
    """The upper panel: a line for each item, and a dot at the lambda of the slider."""
    lams = np.geomspace(slider.high, slider.low, 121)
    shares = heights(slider.at(lams))
    x, here = across(lams, slider.high, slider.low), heights(now)
    place = np.argsort(np.argsort(-now, kind="stable"), kind="stable")
    tint = [f' style="--p:{100 * k / max(1, now.size - 1):.0f}%"' for k in place]
    lines = "".join(line(x, upward(shares[:, i], PANEL), "line", tint[i]) for i in range(now.size))
    at = across(slider.lam, slider.high, slider.low)
    dots = "".join(
        f'<circle class="rb-item"{tint[i]} cx="{at:.1f}" cy="{upward(here[i], PANEL):.1f}" r="4"/>'
        for i in range(now.size)
    )
    frame = panel_svg(PANEL, "scores, between the last and the first")
    return frame + panel_marks(PANEL, ["first", "last"]) + lines + mark_svg(at, PANEL) + dots


def numbers(slider):
    """What the script computes with, as JSON."""
    proven = slider.proven.astype(int) + 2 * slider.proven.T
    data = dict(
        high=slider.high,
        low=slider.low,
        chosen=slider.lam,
        lams=slider.lams.tolist(),
        scores=slider.scores.tolist(),
        proven=["".join(map(str, row)) for row in proven],
        words=WORDS,
        panel=[LEFT, RIGHT, *PANEL],
        breaks=slider.breaks.tolist(),
    )
    if slider.curve is not None:
        ends = [float(slider.values.min()), float(slider.values.max())]
        below = [BELOW[1], BELOW[0], *ends]
        data |= dict(values=slider.values.tolist(), optimum=slider.curve.optimum, below=below)
    return json.dumps(data, separators=(",", ":"))


def picture_html(slider, now):
    """Both panels as one picture, for those who see it; in words, what is in it."""
    ends, curve = (slider.high, slider.low), slider.curve
    picture, bottom = scores_svg(slider, now), PANEL[1]
    what = "scores of the items along the path"
    if curve is not None:
        bottom, what = BELOW[1], what + ", and the validation curve"
        x, share = across(slider.lam, *ends), heights(np.r_[curve.at(slider.lam), slider.values])[0]
        picture += curve_svg(curve, slider.breaks, slider.values, *ends) + mark_svg(x, BELOW)
        picture += f'<circle class="rb-dot" cx="{x:.1f}" cy="{upward(share, BELOW):.1f}" r="4"/>'
    return (
        f'<svg viewBox="0 0 {WIDTH} {bottom + 22}" role="img" aria-label="{what}">{picture}'
        f"{ticks_svg(*ends, bottom, slider.symbol)}</svg>"
    )


def said_html(slider):
    """The line above the list: lambda, and what the curve is there."""
    said = f'{slider.symbol} = <b class="rb-lam">{slider.lam:.3g}</b>'
    curve = slider.curve
    if curve is not None:
        value, best = curve.at(slider.lam), abs(curve.at(slider.lam) - curve.optimum) <= 1e-12
        said += f' · {metric_name(curve)} <b class="rb-value">{value:.3g}</b> '
        said += f'<span class="rb-mark"{"" if best else " hidden"}>best</span>'
    return f'<p class="rb-said">{said}</p>'


def key_html(slider):
    """What a lit link means, or why there is none."""
    if not slider.proven.any():
        return '<p class="rb-key">No order is proven.</p>'
    low, high = slider.interval
    where = "for every" if slider.is_exact else "at nine"
    said = f"the function's order, proven {where} {slider.symbol} from {high:.3g} to {low:.3g}"
    return (
        f'<p class="rb-key"><span><i class="rb-yes"></i>{said}</span>'
        '<span><i class="rb-no"></i>proven the other way round</span>'
        '<span><i class="rb-open"></i>not proven</span></p>'
    )


def asset(ending):
    """The script of a slider, or its style, which lie beside this module."""
    return files("rankbook.plots").joinpath(f"slider.{ending}").read_text(encoding="utf-8").strip()


def slider_html(slider):
    """The whole slider."""
    now = slider.at(slider.lam)
    step = round(1000 * np.log(slider.high / slider.lam) / np.log(slider.high / slider.low))
    place = f"--left:{100 * LEFT / WIDTH:.2f}%;--wide:{100 * (RIGHT - LEFT) / WIDTH:.2f}%"
    return (
        f'<div class="rb-slider" role="group" aria-label="ranking along {slider.symbol}">'
        f"<style>{asset('css')}</style>"
        f"<div>{said_html(slider)}{list_html(slider.names, now, slider.proven)}{key_html(slider)}"
        f'</div><div class="rb-plot" style="{place}">{picture_html(slider, now)}'
        f'<input type="range" min="0" max="1000" value="{step}" hidden="hidden" '
        # or JupyterLab takes the arrow keys for its own
        'data-lm-suppress-shortcuts="true" '
        f'aria-label="{slider.symbol}, falling"/><button type="button" hidden="hidden">back to '
        f"{slider.symbol} = {slider.lam:.3g}</button></div>"
        "<noscript>A still picture: where scripts run, a slider moves it.</noscript>"
        f'<script type="application/json">{numbers(slider)}</script>'
        f"<script>{asset('js')}</script></div>"
    )
