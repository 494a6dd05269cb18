"""A path as a table, as text and in Jupyter."""

import numpy as np

from ..preferences.sums import margin_units

SETS = ("inactive", "free", "at bound")


def active_sizes(events):
    """The size of the active set after each event (T,)."""
    return np.cumsum((events["to"] == 1).astype(np.int64) - (events["from"] == 1))


def events_frame(path):
    """The events of a path as a pandas table, one row each, by decreasing lambda.

    Parameters
    ----------
    path : RegularizationPath

    Returns
    -------
    pandas.DataFrame
        Columns lam; pair, the index of the preference; better and worse, its items; from and to,
        each "inactive", "free" or "at bound"; and free, the number of free preferences after the
        event.
    """
    import pandas as pd

    events, prefs = path.events, path.problem.prefs
    word = lambda codes: pd.Categorical.from_codes(codes, SETS)
    return pd.DataFrame(
        {
            "lam": events["lam"],
            "pair": events["pair"],
            "better": prefs.better[events["pair"]],
            "worse": prefs.worse[events["pair"]],
            "from": word(events["from"]),
            "to": word(events["to"]),
            "free": active_sizes(events),
        }
    )


def path_summary(path):
    """What there is to say about a path in a few lines.

    Parameters
    ----------
    path : RegularizationPath

    Returns
    -------
    pandas.Series
        Of mixed types: status and its reason if any, solver, problem, events, and how the
        preferences stand at the lower end.
    """
    import pandas as pd

    events, prefs = path.events, path.problem.prefs
    sets = path.sets_after(len(events))
    facts = dict(
        status=path.status,
        reason=path.info.get("reason"),
        solver=path.solver or "unknown",
        kernel=repr(path.problem.kernel),
        items=prefs.n_items,
        preferences=len(prefs),
        graph=prefs.graph,
        lam_max=path.problem.lam_max,
        lam_end=path.domain[0],
        events=len(events),
        breakpoints=path.breakpoints.size,
        events_per_preference=len(events) / len(prefs),
        largest_free=int(active_sizes(events).max(initial=0)),
    )
    facts |= {
        f"{name.replace(' ', '_')}_at_end": int(np.count_nonzero(sets == code))
        for code, name in enumerate(SETS)
    }
    return pd.Series(
        {name: value for name, value in facts.items() if value is not None},
        name="path",
        dtype=object,
    )


WIDTH, HEIGHT, PAD = 300, 150, 24  # of a panel, in pixels
COLOURS = {"inactive": "#009E73", "free": "#D55E00", "at bound": "#0072B2"}


def scaled(values, low, high, length, offset):
    """Values from low to high, as pixels from offset to offset + length.

    high may be the smaller one.
    """
    return offset + np.clip((np.asarray(values) - low) / (high - low), 0, 1) * length


def polyline(x, y, colour):
    """A line through points in pixels."""
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def label(x, y, text, anchor="middle"):
    """Small text at a point in pixels."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="10" '
        f'text-anchor="{anchor}" fill="currentColor">{text}</text>'
    )


def counts_panel(path, low, high, points=150):
    """SVG of the shares of the three sets between the lambdas low and high (logarithms)."""
    events, m = path.events, len(path.problem.prefs)
    where = np.searchsorted(-events["lam"], -np.exp(np.linspace(high, low, points)), side="left")
    x = (
        scaled(np.linspace(high, low, points), high, low, WIDTH - 2 * PAD, PAD)
        if high > low
        else np.full(points, WIDTH / 2)
    )
    parts = []
    for code, name in enumerate(SETS):
        steps = np.r_[
            0, np.cumsum((events["to"] == code).astype(np.int64) - (events["from"] == code))
        ]
        share = (steps[where] + (m if name == "at bound" else 0)) / m
        parts.append(
            polyline(x, scaled(share, 0, 1, -(HEIGHT - 2 * PAD), HEIGHT - PAD), COLOURS[name])
        )
        parts.append(
            f'<g fill="{COLOURS[name]}" color="{COLOURS[name]}">'
            f"{label(PAD + 60 * code, 14, name, 'start')}</g>"
        )
    ends = [(PAD, np.exp(high), "start"), (WIDTH - PAD, np.exp(low), "end")]
    return "".join(
        parts + [label(x, HEIGHT - 8, f"lambda {lam:.2g}", anchor) for x, lam, anchor in ends]
    )


LOW, HIGH, BARS = -1.0, 3.0, 32  # of the differences shown, in margins; 0 and 1 are edges of bars


def difference_bars(path, lam):
    """The share of the weight in each bar (BARS,) at lam, and the share in the wrong order."""
    problem, prefs = path.problem, path.problem.prefs
    d = prefs.matvec(problem.matvec(path.coef(lam))) / margin_units(prefs.margin)
    bar = np.clip(np.floor((d - LOW) / (HIGH - LOW) * BARS), 0, BARS - 1).astype(np.int64)
    total = prefs.weight.sum()
    return np.bincount(bar, prefs.weight, BARS) / total, float(prefs.weight @ (d < 0)) / total


def frame_svg(lam, x, bars, wrong, shown):
    """The parts of the picture that depend on lambda.

    They are the line at x, the bars, the tallest one filling the panel, and a sentence.
    """
    width, tall = (WIDTH - 2 * PAD) / BARS, HEIGHT - 2 * PAD
    shape = "".join(
        f'<rect x="{WIDTH + PAD + i * width:.1f}" y="{HEIGHT - PAD - b * tall:.1f}" '
        f'width="{width - 0.5:.1f}" height="{b * tall:.1f}"/>'
        for i, b in enumerate(bars / bars.max())
        if b > 0
    )
    line = (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{PAD}" y2="{HEIGHT - PAD}" '
        'stroke="currentColor" stroke-dasharray="2"/>'
    )
    said = label(WIDTH + PAD, 14, f"lambda {lam:.3g}: {wrong:.2%} in the wrong order", "start")
    return (
        f'<g class="frame" style="display:{"inline" if shown else "none"}">{line}'
        f'<g fill="#457b9d">{shape}</g>{said}</g>'
    )


def path_html(path, frames=31):
    """A picture of a path with a slider for lambda, as self-contained HTML.

    Parameters
    ----------
    path : RegularizationPath
    frames : int
        Lambdas among which the slider moves; one reading of the path each.

    Returns
    -------
    str
    """
    from html import escape

    head = f"<div>{escape(repr(path))}</div>"
    if path.breakpoints.size == 0:
        return head
    high, low = np.log(path.breakpoints[0]), np.log(max(path.breakpoints[-1], path.domain[0]))
    lams = np.linspace(high, low, frames if high > low else 1)
    x = scaled(lams, high, low, WIDTH - 2 * PAD, PAD) if high > low else [WIDTH / 2]
    start = len(lams) // 2
    read = [
        difference_bars(path, max(float(np.exp(lam)), path.domain[0])) for lam in lams
    ]  # exp(log(end)) may round below the end
    pictures = "".join(
        frame_svg(np.exp(lam), at, *frame, t == start)
        for t, (lam, at, frame) in enumerate(zip(lams, x, read))
    )
    axis = "".join(
        label(scaled(v, LOW, HIGH, WIDTH - 2 * PAD, WIDTH + PAD), HEIGHT - 8, t)
        for v, t in ((LOW, "wrong"), (0, "0"), (1, "margin"), (HIGH, "right"))
    )
    change = (
        "this.parentNode.querySelectorAll('.frame').forEach("
        "(f, i) => f.style.display = i == this.value ? 'inline' : 'none')"
    )
    return (
        f'<div>{head}<svg role="img" '
        'aria-label="sets along the path, and differences of scores at one lambda" '
        f'width="{2 * WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {2 * WIDTH} {HEIGHT}">'
        f"{counts_panel(path, low, high)}{axis}{pictures}</svg><br/>"
        f'<input type="range" min="0" max="{len(lams) - 1}" value="{start}" '
        f'style="width:{WIDTH}px" aria-label="lambda" oninput="{change}"/></div>'
    )
