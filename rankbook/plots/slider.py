"""A slider of lambda for Jupyter."""

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.ownership import SetOnce, locked
from ..base.validation import as_matrix, as_numbers, as_positive, require_kind
from ..kernels.kernel import item_distance
from ..paths.exact import RegularizationPath, SolutionPath
from ..paths.rayleigh import ManifoldPath
from ..selection.curve import ValidationCurve, order_changes
from .axes import as_names, drawn_range, thin
from .path import lambdas, spread_ranks

TIE = 1e-10  # of the largest score: closer ones are equal, as on a validation curve


def slider_range(path, curve, lam):
    """The largest and the smallest lambda of a slider, and where it begins."""
    lower = max(path.domain[0], 0.0 if curve is None else curve.breaks[-1])
    lam = curve.choose() if lam is None and curve is not None else lam
    if lam is not None and as_positive("lam", lam) <= lower:
        raise ValueError(f"lam is {lam!r}; lam > {lower!r}, where path or curve end, is accepted.")
    points = path.breakpoints if path.breakpoints.size else getattr(path, "scale", ())
    marks = np.r_[points, () if curve is None else curve.breaks[1:-1], () if lam is None else lam]
    high, low = drawn_range(np.sort(marks)[::-1], lower)
    lam = float(np.sqrt(high * low) if lam is None else lam)
    # at its very end a curve has no value
    return float(high), min(lam, float(low * (1 + 1e-9) if lower > 0 else low)), lam


def interval_around(curve, lam, high, low):
    """The part (lower, upper) of a slider around lam where a curve is constant, or all of it."""
    if curve is None:
        return low, high
    j = np.searchsorted(-curve.breaks[1:-1], -lam, side="right")
    return tuple(np.clip(curve.breaks[[j + 1, j]], low, high).tolist())


NODES, AGREE = 200, 1e-7  # on a page, and what is no deviation


def interpolated(lam, lams, scores):
    """Scores (q, p) at the lambdas lam (q,), affine in 1 / lam between the nodes.

    The nodes lams (t,) fall, and lam lies between their ends; scores (t, p) are those there.
    """
    k = np.clip(np.searchsorted(-lams, -lam, side="left"), 1, lams.size - 1)
    t = (1 / lam - 1 / lams[k - 1]) / (1 / lams[k] - 1 / lams[k - 1])
    t = np.clip(t, 0, 1)[:, None]
    return (1 - t) * scores[k - 1] + t * scores[k]


def deviations(lams, scores, nodes, at_nodes):
    """How far scores (t, p) are from interpolated ones, in units of their span: (t,)."""
    span = np.ptp(scores, axis=1)
    off = np.abs(interpolated(lams, nodes, at_nodes) - scores).max(axis=1)
    return off / np.where(span > 0, span, 1.0)


def choose_nodes(lams, scores, start, most=NODES):
    """Indices of at most `most` of the falling `lams` (t,), and how far the others are then off.

    The two ends are nodes, and so is the index `start`. In each round every segment that is half as
    bad as the worst one, or worse, gets a node where it is worst.
    """
    nodes = np.unique([0, start, lams.size - 1])
    while True:
        off = deviations(lams, scores, lams[nodes], scores[nodes])
        if off.max() <= AGREE or nodes.size >= min(most, lams.size):
            return nodes, float(off.max())
        bad = np.argsort(-off, kind="stable")[: np.count_nonzero(off >= off.max() / 2)]
        segment = np.searchsorted(nodes, bad)
        worst = bad[np.sort(np.unique(segment, return_index=True)[1])]
        nodes = np.union1d(nodes, worst[: most - nodes.size])


def as_scores(path, items, lam):
    """The scores (p,) of items at lam, from their mean; refuses several scores for one."""
    f = np.asarray(path.predict(items, lam))
    if f.shape != items.shape[:1]:
        raise TypeError(
            f"path is a {type(path).__name__} with scores of shape {f.shape} for {items.shape[0]} "
            "items; one with a score for each item is accepted."
        )
    return f - f.mean()


READ, MOST_READ = 300, 20_000  # lambdas: solutions of a path, and breakpoints


def scores_along(path, items, high, low, lam):
    """Falling lambdas (t,) from high to low, lam among them, scores (t, p), and if they are exact.

    They are at the breakpoints if their scores come from one walk along an exact path, up to 20000
    of them; else solutions are read, at 300 even lambdas and up to 300 breakpoints.
    """
    exact = isinstance(path, RegularizationPath) and path.iterator is not None
    lams = np.array([high, lam, low]) if exact else np.r_[lambdas(path, READ, high, low), lam]
    lams = np.unique(lams)
    scores = np.array([as_scores(path, items, one) for one in lams])
    for at, rows in path.breakpoint_scores(items) if exact else ():  # lam f, from any number
        inside = (at > low) & (at < high)
        f = rows[inside] / at[inside, None]
        lams, scores = np.r_[lams, at[inside]], np.r_[scores, f - f.mean(axis=1, keepdims=True)]
    lams, first = np.unique(lams, return_index=True)
    kept = thin(lams[::-1], MOST_READ)
    kept = np.union1d(kept, np.searchsorted(-lams[::-1], -lam))
    return lams[::-1][kept], scores[first[::-1][kept]], exact and lams.size <= MOST_READ


def seven_digits(values):
    """The values of an array to seven digits."""
    short = [float(f"{value:.7g}") for value in np.ravel(values)]
    return np.array(short).reshape(np.shape(values))


def pair_distances(problem, items, a, b):
    """Distances (q,) of the items a and b (q,) in the space of f; infinite if not known."""
    kernel = getattr(problem, "kernel", None)
    if kernel is None or kernel.name == "precomputed":
        return np.full(a.size, np.inf)
    return np.array([item_distance(kernel, items[i], items[j]) for i, j in zip(a, b)])


def proven_order(path, items, low, high):
    """A matrix (p, p): whether an item is certainly above another between low and high.

    See the chapter for what that means. Costs the crossings of p^2 / 2 pairs and 9 certificates.
    """
    a, b = np.triu_indices(len(items), 1)
    distance, sign = pair_distances(path.problem, items, a, b), np.zeros(a.size)
    _, lam, pair, *_ = order_changes(path, items, a, b, TIE)
    stands = np.ones(a.size, dtype=bool)
    stands[pair[(lam > low * (1 + 1e-7)) & (lam < high * (1 - 1e-7))]] = False
    for lam in np.geomspace(low, high, 11)[1:-1]:
        solution = path.solution(lam)
        f = solution.predict(items)
        radius = solution.certificate.radius
        far = distance * radius * (1 + 1e-9) if np.isfinite(radius) else np.inf
        stands &= np.abs(f[a] - f[b]) > far + TIE * np.abs(f).max()
        sign = np.sign(f[a] - f[b])
    above = np.zeros((len(items),) * 2, dtype=bool)
    above[a, b], above[b, a] = stands & (sign > 0), stands & (sign < 0)
    return above


MOST_ITEMS, SOME_ITEMS = 24, 12  # in a list, and of many


def chosen_items(path, items, names, lam):
    """The items (p, d) of a slider, and their names."""
    problem, given = path.problem, items is not None
    X = as_matrix("items", items) if given else getattr(problem, "X", None)
    if X is None:
        raise ValueError(
            f"items is None, and a {type(problem).__name__} keeps none; items are accepted."
        )
    count = X.shape[0]
    own = getattr(getattr(problem, "prefs", None), "items", None)
    if names is None and not given and own is not None and len(own) == count:
        names = own
    as_names(names, count, "item")  # refuses what are none
    names = [str(name) for name in (range(count) if names is None else names)]
    if not given and count > MOST_ITEMS:
        which = spread_ranks(as_scores(path, X, lam), SOME_ITEMS)
        X, names = X[which], [names[i] for i in which]
    if not 2 <= X.shape[0] <= MOST_ITEMS:
        raise ValueError(f"items has {X.shape[0]} rows; 2 to {MOST_ITEMS} are accepted.")
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float), tuple(names)


class LambdaSlider(SetOnce):
    """A ranking of named items that follows lambda, beside the path and the validation curve.

    In a notebook it shows itself; on a static page it goes on working, without any network.

    Parameters
    ----------
    path : SolutionPath
        Of any solver that gives an item one score.
    curve : ValidationCurve, optional
        From :func:`rankbook.validation_curve`, or ``curve_`` of an estimator.
    items : array-like of shape (p, d), optional
        From 2 to 24 items to show; for a precomputed kernel (p, n). By default the items of the
        problem, of more than 24 twelve of evenly spread ranks where the slider begins.
    names : sequence, optional
        Of `items`; without these, of all items of the problem. By default those that the
        preferences have, else numbers.
    lam : float, optional
        Where the slider begins; by default ``curve.choose()``, without a curve the middle.

    Attributes
    ----------
    lam, high, low : float
        Where the slider begins, and its ends.
    names : tuple of str
    lams, scores : ndarrays of shape (t,) and (t, p)
        At most 200 falling lambdas, and the scores there, from their mean, to seven digits. In
        between they are affine in 1 / lam.
    error : float
        How far scores in between are off, in units of the span of all p of them. On an exact path
        1e-7 or less up to about 200 breakpoints, and with more, up to 20000, the largest deviation
        that there is; else the largest one found at up to 800 lambdas.
    interval : (float, float)
        Around `lam`, where the curve is constant; without a curve all of the slider.
    proven : ndarray of bool of shape (p, p)
        Whether an item is certainly above another in `interval`: the path changes their order
        nowhere in it, and the certificates at nine lambdas of it prove that order. For every lambda
        of it if the path `is_exact`.
    is_exact : bool
        Whether the path is, as those of the solver "path".
    breaks, values : ndarrays
        The curve as it is drawn: exact up to 600 breaks; of more, at 600 lambdas and in `interval`.

    Raises
    ------
    TypeError, ValueError
        If an argument is something else, there are too many items or other than p names, or `lam`
        is outside of path or curve.

    Notes
    -----
    One walk along an exact path, or at most 800 solutions read from another; and the crossings of
    p^2 / 2 pairs. As HTML at most 150 kB.

    Examples
    --------
    >>> import rankbook as rb
    >>> data = rb.datasets.make_mixture(n_per_class=10)
    >>> problem = rb.RankSVMProblem(data.X, rb.Preferences.from_scores(data.y))
    >>> path = rb.solve_path(problem, lam_min=1e-3, solver="path")
    >>> names = ["Ann", "Bea", "Cem", "Dov", "Eve"]
    >>> slider = rb.plots.LambdaSlider(path, items=data.X[::4], names=names)
    >>> slider.order(0.1)
    ['Eve', 'Dov', 'Ann', 'Bea', 'Cem']
    """

    def __init__(
        self,
        path: SolutionPath,
        curve: ValidationCurve | None = None,
        items: ArrayLike | None = None,
        names: Sequence[Any] | None = None,
        lam: float | None = None,
    ) -> None:
        require_kind("path", path, SolutionPath)
        if curve is not None:
            require_kind("curve", curve, ValidationCurve)
        self.high, self.low, self.lam = slider_range(path, curve, lam)
        items, self.names = chosen_items(path, items, names, self.lam)
        self.symbol = "weight" if isinstance(path, ManifoldPath) else "λ"
        self.curve, self.is_exact = curve, isinstance(path, RegularizationPath)
        lams, scores, exact = scores_along(path, items, self.high, self.low, self.lam)
        nodes, error = choose_nodes(lams, scores, np.searchsorted(-lams, -self.lam))
        self.lams, self.scores = locked(lams[nodes]), locked(seven_digits(scores[nodes]))
        self.error = error if exact else max(error, self.between(path, items))
        self.interval = interval_around(curve, self.lam, self.high, self.low)
        breaks, values = np.empty(0), np.empty(0)
        if curve is not None:
            breaks, values = curve_on_page(curve, self.high, self.low, self.interval)
        self.breaks, self.values = locked(breaks), locked(values)
        self.proven = locked(proven_order(path, items, *self.interval))

    def between(self, path, items):
        """The deviation in the middle between the nodes."""
        lams = np.sqrt(self.lams[1:] * self.lams[:-1])
        scores = np.array([as_scores(path, items, lam) for lam in lams])
        return float(deviations(lams, scores, self.lams, self.scores).max())

    def at(self, lam: ArrayLike) -> np.ndarray:
        """Scores (p,) at lam, or (q, p) at q of them, as the page computes them."""
        lam = as_numbers("lam", lam)
        for bad in lam[~((lam >= self.low) & (lam <= self.high))]:
            raise ValueError(f"lam is {bad}; {self.low!r} <= lam <= {self.high!r} is accepted.")
        return interpolated(np.ravel(lam), self.lams, self.scores).reshape(*lam.shape, -1)

    def order(self, lam: float) -> list[str]:
        """The names in the order at lam, the highest score first."""
        return [self.names[i] for i in np.argsort(-self.at(lam), kind="stable")]

    def __repr__(self) -> str:
        return (
            f"LambdaSlider({len(self.names)} items, lam from {self.high:.3g} to {self.low:.3g}, "
            f"begins at {self.lam:.3g})"
        )

    def _repr_html_(self) -> str:
        return slider_html(self)


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
