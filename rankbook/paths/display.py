"""Displays of a path as a table, as text and in Jupyter."""

import numpy as np

from ..preferences.sums import margin_units

SETS = ("inactive", "free", "at bound")


def active_sizes(events):
    """Return the size of the active set after each event (T,)."""
    return np.cumsum((events["to"] == 1).astype(np.int64) - (events["from"] == 1))


def events_frame(path):
    """Return the events of a path as a pandas table, one row each, by decreasing lambda.

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
    """Summarize a path in a few lines.

    Parameters
    ----------
    path : RegularizationPath

    Returns
    -------
    pandas.Series
        Status and its reason if any, solver, problem, events, and the sets of the preferences at
        the lower end.
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


WIDTH, HEIGHT, PAD = 300, 150, 24  # size of a panel, in pixels
COLOURS = {"inactive": "#009E73", "free": "#D55E00", "at bound": "#0072B2"}
LOW, HIGH, BARS = -1.0, 3.0, 32  # range of the differences, in margins; 0 and 1 are edges of bars


def label(x, y, text, anchor="middle"):
    """Return small text at a point in pixels."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="10" '
        f'text-anchor="{anchor}" fill="currentColor">{text}</text>'
    )


def difference_bars(path, lam):
    """Return the share of the weight in each bar (BARS,) at lam, and in the wrong order."""
    problem, prefs = path.problem, path.problem.prefs
    d = prefs.matvec(problem.matvec(path.coef(lam))) / margin_units(prefs.margin)
    bar = np.clip(np.floor((d - LOW) / (HIGH - LOW) * BARS), 0, BARS - 1).astype(np.int64)
    total = prefs.weight.sum()
    return np.bincount(bar, prefs.weight, BARS) / total, float(prefs.weight @ (d < 0)) / total


def path_html(path, frames=31):
    """Return a picture of a path with a slider for lambda, as self-contained HTML.

    Parameters
    ----------
    path : RegularizationPath
    frames : int
        Number of lambdas of the slider; the path is evaluated once for each.

    Returns
    -------
    str
    """
    from html import escape

    head = f"<div>{escape(repr(path))}</div>"
    if path.breakpoints.size == 0:
        return head
    high, low = np.log(path.breakpoints[0]), np.log(max(path.breakpoints[-1], path.domain[0]))
    wide, tall, m, parts = WIDTH - 2 * PAD, HEIGHT - 2 * PAD, len(path.problem.prefs), []
    across = lambda logs: PAD + np.linspace(0, wide, len(logs)) if high > low else [WIDTH / 2]
    # the shares of the three sets, from the largest lambda to the smallest
    logs = np.linspace(high, low, 150 if high > low else 1)
    where = np.searchsorted(-path.events["lam"], -np.exp(logs), side="left")
    for code, name in enumerate(SETS):
        entered = (path.events["to"] == code).astype(np.int64) - (path.events["from"] == code)
        count = np.r_[0, np.cumsum(entered)][where] + (m if name == "at bound" else 0)
        points = zip(across(logs), HEIGHT - PAD - tall * count / m)
        parts.append(
            f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" '
            f'stroke="{COLOURS[name]}" stroke-width="1.5"/>'
            f'<g fill="{COLOURS[name]}" color="{COLOURS[name]}">'
            f"{label(PAD + 60 * code, 14, name, 'start')}</g>"
        )
    for x, lam, anchor in ((PAD, high, "start"), (WIDTH - PAD, low, "end")):
        parts.append(label(x, HEIGHT - 8, f"lambda {np.exp(lam):.2g}", anchor))
    for at, text in ((LOW, "wrong"), (0, "0"), (1, "margin"), (HIGH, "right")):
        x = WIDTH + PAD + (at - LOW) / (HIGH - LOW) * wide
        parts.append(label(x, HEIGHT - 8, text))
    # each frame has the line at its lambda, bars (the tallest fills the panel) and words
    logs = np.linspace(high, low, frames if high > low else 1)
    start, width = len(logs) // 2, wide / BARS
    for t, (x, lam) in enumerate(zip(across(logs), np.exp(logs))):
        bars, wrong = difference_bars(path, max(float(lam), path.domain[0]))  # exp(log()) rounds
        shape = "".join(
            f'<rect x="{WIDTH + PAD + i * width:.1f}" y="{HEIGHT - PAD - b * tall:.1f}" '
            f'width="{width - 0.5:.1f}" height="{b * tall:.1f}"/>'
            for i, b in enumerate(bars / bars.max())
            if b > 0
        )
        words = f"lambda {lam:.3g}: {wrong:.2%} in the wrong order"
        parts.append(
            f'<g class="frame" style="display:{"inline" if t == start else "none"}">'
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{PAD}" y2="{HEIGHT - PAD}" '
            f'stroke="currentColor" stroke-dasharray="2"/><g fill="#457b9d">{shape}</g>'
            f"{label(WIDTH + PAD, 14, words, 'start')}</g>"
        )
    change = (
        "this.parentNode.querySelectorAll('.frame').forEach("
        "(f, i) => f.style.display = i == this.value ? 'inline' : 'none')"
    )
    return (
        f'<div>{head}<svg role="img" '
        'aria-label="sets along the path, and differences of scores at one lambda" '
        f'width="{2 * WIDTH}" height="{HEIGHT}" viewBox="0 0 {2 * WIDTH} {HEIGHT}">'
        f"{''.join(parts)}</svg><br/>"
        f'<input type="range" min="0" max="{len(logs) - 1}" value="{start}" '
        f'style="width:{WIDTH}px" aria-label="lambda" oninput="{change}"/></div>'
    )
