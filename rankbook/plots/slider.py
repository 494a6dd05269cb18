"""Slider of lambda for Jupyter."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.errors import ArgumentError, a_type
from ..base.ownership import SetOnce, as_read_only
from ..base.tables import count as count_of
from ..base.validation import as_matrix, as_numbers, as_positive, require_kind
from ..kernels.kernel import item_distance
from ..paths.exact import RegularizationPath, SolutionPath
from ..paths.spectral import ManifoldPath
from ..preferences.missed_pairs import PATH_TIE_TOL
from ..selection.curve import ValidationCurve, order_changes
from .axes import drawn_range, thin, tick_names
from .path import plotted_lambdas, spread_ranks

NODES, AGREE = 200, 1e-7  # on a page; largest deviation that counts as none


def interpolate(lam, lams, scores):
    """Interpolate scores (q, p) at the lambdas lam (q,), affine in 1 / lam between the nodes.

    The nodes lams (t,) decrease, their scores are (t, p), and lam lies between their ends.
    """
    k = np.clip(np.searchsorted(-lams, -lam, side="left"), 1, lams.size - 1)
    # not by reciprocals, which overflow or agree
    t = (lams[k - 1] - lam) / (lams[k - 1] - lams[k]) * (lams[k] / lam)
    t = np.clip(t, 0, 1)[:, None]
    return (1 - t) * scores[k - 1] + t * scores[k]


def deviations(lams, scores, nodes, at_nodes):
    """Return the deviation (t,) of scores (t, p) from interpolated ones, relative to their span."""
    span = np.ptp(scores, axis=1)
    off = np.abs(interpolate(lams, nodes, at_nodes) - scores).max(axis=1)
    return off / np.where(span > 0, span, 1.0)


def choose_nodes(lams, scores, start, most=NODES):
    """Choose at most `most` of the decreasing `lams` (t,) as nodes; return the error of the rest.

    The two ends and the index `start` are nodes. In each round, every segment with at least half
    the largest error gets a node where its error is largest.
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
    """Return the scores (p,) of items at lam minus their mean; refuse several scores an item."""
    f = np.asarray(path.predict(items, lam))
    if f.shape != items.shape[:1]:
        raise ArgumentError(
            f"path is {a_type(path)} with scores of shape {f.shape} for {items.shape[0]} items",
            "a path with a score for each item",
        )
    return f - f.mean()


READ, MOST_READ = 300, 20_000  # numbers of lambdas: solutions of a path, and breakpoints


def scores_along(path, items, high, low, lam):
    """Return decreasing lambdas (t,) that contain lam, scores (t, p), and whether they are exact.

    On an exact path the lambdas are its breakpoints, up to 20000 of them. Otherwise they are 300
    evenly spread lambdas and up to 300 breakpoints.
    """
    exact = isinstance(path, RegularizationPath) and path.iterator is not None
    lams = (
        np.array([high, lam, low]) if exact else np.r_[plotted_lambdas(path, READ, high, low), lam]
    )
    lams = np.unique(lams)
    scores = np.array([as_scores(path, items, one) for one in lams])
    for at, rows in path.breakpoint_scores(items) if exact else ():  # lam f, up to a constant
        inside = (at > low) & (at < high)
        f = rows[inside] / at[inside, None]
        lams, scores = np.r_[lams, at[inside]], np.r_[scores, f - f.mean(axis=1, keepdims=True)]
    lams, first = np.unique(lams, return_index=True)
    kept = thin(lams[::-1], MOST_READ)
    kept = np.union1d(kept, np.searchsorted(-lams[::-1], -lam))
    return lams[::-1][kept], scores[first[::-1][kept]], exact and lams.size <= MOST_READ


def proven_order(path, items, low, high):
    """Return a boolean matrix (p, p): whether one item is provably above another.

    The two items must not cross between the lambdas `low` and `high`, and certificates must prove
    their order at nine lambdas between them.

    The cost is that of the crossings of p^2 / 2 pairs and of nine certificates.
    """
    (a, b), kernel = np.triu_indices(len(items), 1), getattr(path.problem, "kernel", None)
    distance, sign = np.full(a.size, np.inf), np.zeros(a.size)
    if kernel is not None and kernel.name != "precomputed":  # distance of two items
        distance = np.array([item_distance(kernel, items[i], items[j]) for i, j in zip(a, b)])
    _, lam, pair, *_ = order_changes(path, items, a, b)
    stands = np.ones(a.size, dtype=bool)
    stands[pair[(lam > low * (1 + 1e-7)) & (lam < high * (1 - 1e-7))]] = False
    for lam in np.geomspace(low, high, 11)[1:-1]:
        solution = path.solution(lam)
        f = solution.predict(items)
        radius = solution.certificate.radius
        far = distance * radius * (1 + 1e-9) if np.isfinite(radius) else np.inf
        stands &= np.abs(f[a] - f[b]) > far + PATH_TIE_TOL * np.abs(f).max()
        sign = np.sign(f[a] - f[b])
    above = np.zeros((len(items),) * 2, dtype=bool)
    above[a, b], above[b, a] = stands & (sign > 0), stands & (sign < 0)
    return above


MOST_ITEMS, SOME_ITEMS = 24, 12  # in a list, and chosen from more


def chosen_items(path, items, names, lam):
    """Return the items (p, d) of a slider, and their names."""
    problem, given = path.problem, items is not None
    X = as_matrix("items", items) if given else getattr(problem, "X", None)
    if X is None:
        raise ArgumentError(
            f"items is None, and the problem of the path, {a_type(problem)}, does not store its "
            "items",
            "items of shape (n, d)",
        )
    count = X.shape[0]
    own = getattr(getattr(problem, "prefs", None), "items", None)
    if names is None and not given and own is not None and len(own) == count:
        names = own
    tick_names(names, count, "item")  # refuses other names
    names = [str(name) for name in (range(count) if names is None else names)]
    if not given and count > MOST_ITEMS:
        which = spread_ranks(as_scores(path, X, lam), SOME_ITEMS)
        X, names = X[which], [names[i] for i in which]
    if not 2 <= X.shape[0] <= MOST_ITEMS:
        raise ArgumentError(f"items has {count_of(X.shape[0], 'row')}", f"2 to {MOST_ITEMS} rows")
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float), tuple(names)


MOST_BREAKS = 600  # points of a curve on the page
WIDTH, LEFT, RIGHT = 440, 46, 430  # width of the picture, and ends of its panels
PANEL, BELOW = (24, 170), (212, 276)  # upper and lower ends of the panels


WORDS = ["", *(f", proven to rank {way} the next item" for way in ("above", "below"))]  # read aloud


def share_of(lam, high, low):
    """Return how far a lambda lies from high (0) to low (1), on the logarithmic scale."""
    return (np.log(high) - np.log(lam)) / (np.log(high) - np.log(low))


def across(lam, high, low):
    """Return the horizontal position of a lambda in the picture."""
    return LEFT + (RIGHT - LEFT) * share_of(lam, high, low)


def heights(scores):
    """Scale scores (..., p) to the range from 0 (lowest) to 1 (highest); equal ones to 1/2."""
    low, span = scores.min(axis=-1, keepdims=True), np.ptp(scores, axis=-1, keepdims=True)
    return np.where(span > 0, (scores - low) / np.where(span > 0, span, 1.0), 0.5)


def upward(share, panel):
    """Return the vertical position of a share from 0 (bottom) to 1 (top) in a panel."""
    return panel[1] - share * (panel[1] - panel[0])


def svg(tag, text="", **attributes):
    """Return an SVG element, with floats rounded to a tenth."""
    said = ""
    for name, value in attributes.items():
        value = f"{value:.1f}" if isinstance(value, float) else value
        said += f' {name.strip("_").replace("_", "-")}="{value}"'
    return f"<{tag}{said}>{text}</{tag}>" if text else f"<{tag}{said}/>"


def svg_line(x, y, **attributes):
    """Return a line through points of the picture."""
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
    return svg("polyline", **attributes, points=points)


def svg_panel(panel, title, words):
    """Return a frame with its title and the labels of its upper and lower ends."""
    top, bottom = panel
    size = dict(x=LEFT, y=top, width=RIGHT - LEFT, height=bottom - top)
    frame = svg("text", title, x=LEFT, y=top - 9) + svg("rect", class_="rb-frame", **size)
    for y, said in zip((top + 9, bottom), words):
        frame += svg("text", said, x=LEFT - 5, y=y, text_anchor="end")
    return frame


def asset(ending):
    """Read the script or the style of a slider, which are files beside this module."""
    return files("rankbook.plots").joinpath(f"slider.{ending}").read_text(encoding="utf-8").strip()


class LambdaSlider(SetOnce):
    """Slider of lambda for a ranking of items, beside the path and the validation curve.

    Jupyter displays it, and it also works on a static page without a network.

    Parameters
    ----------
    path : SolutionPath
        Path of any solver, if each item has one score.
    curve : ValidationCurve, optional
        Curve from :func:`rankbook.validation_curve`, or ``curve_`` of an estimator.
    items : array-like of shape (p, d), optional
        From 2 to 24 items to show; for a precomputed kernel, their kernel (p, n). By default all
        items of the problem. If there are more than 24, twelve items with evenly spread ranks at
        the initial lambda are shown.
    names : sequence, optional
        Names of the items shown; if `items` is not given, names of all items of the problem. By
        default the names in the preferences, otherwise numbers.
    lam : float, optional
        Initial lambda; by default ``curve.choose()``, or without a curve the middle of the range.

    Attributes
    ----------
    lam, high, low : float
        Initial lambda, and the two ends of the slider.
    names : tuple of str
    lams, scores : ndarrays of shape (t,) and (t, p)
        At most 200 decreasing lambdas, and the scores at them minus their mean, to seven digits.
        Between two lambdas the scores are affine in 1 / lam.
    error : float
        Largest error of the scores between two lambdas, in units of the span of all p scores. On an
        exact path it is at most 1e-7 up to about 200 breakpoints, and the true maximum up to 20000
        breakpoints. Otherwise it is the largest error found at up to 800 lambdas.
    interval : (float, float)
        Interval around `lam` in which the curve is constant; without a curve, the whole range.
    proven : ndarray of bool of shape (p, p)
        Whether an item is certainly above another in `interval`: the path does not change their
        order there, and the certificates at nine of its lambdas prove that order. If the path
        `is_exact`, this holds for every lambda of the interval.
    is_exact : bool
        Whether the path is exact, as the solver "path" computes it.
    breaks, values : ndarrays
        The curve as drawn: exact if it has at most 600 breaks, otherwise its values at 600 lambdas
        and in `interval`.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, there are too many items, the number of names is not p,
        or `lam` is outside the range of the path or the curve.

    Notes
    -----
    The cost is one pass along an exact path, or at most 800 solutions of another path, and the
    crossings of p^2 / 2 pairs. The HTML has at most 150 kB.

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
        lower = max(path.domain[0], 0.0 if curve is None else curve.breaks[-1])
        lam = curve.choose() if lam is None and curve is not None else lam
        if lam is not None and as_positive("lam", lam) <= lower:
            raise ArgumentError(f"lam is {lam!r}", f"lam > {lower!r}, where the path or curve ends")
        points = path.breakpoints if path.breakpoints.size else getattr(path, "scale", ())
        marks = np.r_[
            points, () if curve is None else curve.breaks[1:-1], () if lam is None else lam
        ]
        high, low = drawn_range(np.sort(marks)[::-1], lower)
        self.lam = lam = float(np.sqrt(high) * np.sqrt(low) if lam is None else lam)
        # a curve has no value exactly at its end
        low = min(lam, float(low * (1 + 1e-9) if lower > 0 else low))
        self.high, self.low = high, low = float(high), low
        items, self.names = chosen_items(path, items, names, lam)
        self.symbol = "weight" if isinstance(path, ManifoldPath) else "λ"
        self.curve, self.is_exact = curve, isinstance(path, RegularizationPath)
        lams, scores, exact = scores_along(path, items, high, low, lam)
        nodes, error = choose_nodes(lams, scores, np.searchsorted(-lams, -lam))
        short = [[float(f"{value:.7g}") for value in row] for row in scores[nodes]]
        self.lams, self.scores = as_read_only(lams[nodes]), as_read_only(np.array(short))
        if not exact:  # scores between the nodes are read again
            lams = np.sqrt(self.lams[1:]) * np.sqrt(self.lams[:-1])
            scores = np.array([as_scores(path, items, one) for one in lams])
            error = max(error, float(deviations(lams, scores, self.lams, self.scores).max()))
        breaks, values, interval = np.empty(0), np.empty(0), (low, high)
        if curve is not None:
            k = np.searchsorted(-curve.breaks[1:-1], -lam, side="right")
            interval = tuple(np.clip(curve.breaks[[k + 1, k]], low, high).tolist())
            breaks = curve.breaks[(curve.breaks < high) & (curve.breaks > low)]
            if breaks.size > MOST_BREAKS:  # the interval is not rounded
                kept = [end for end in interval if low < end < high]
                breaks = np.unique(np.r_[np.geomspace(high, low, MOST_BREAKS)[1:-1], kept])[::-1]
                breaks = breaks[(breaks <= interval[0]) | (breaks >= interval[1])]
            ends = np.r_[high, breaks, low]
            values = curve.at(np.sqrt(ends[1:]) * np.sqrt(ends[:-1]))
        self.breaks, self.values = as_read_only(breaks), as_read_only(values)
        self.error, self.interval = error, interval
        self.proven = as_read_only(proven_order(path, items, *interval))

    def at(self, lam: ArrayLike) -> np.ndarray:
        """Return scores (p,) at lam, or (q, p) at q lambdas, as the page computes them."""
        lam = as_numbers("lam", lam)
        for bad in lam[~((lam >= self.low) & (lam <= self.high))]:
            raise ArgumentError(f"lam is {bad}", f"a value from {self.low!r} to {self.high!r}")
        return interpolate(np.ravel(lam), self.lams, self.scores).reshape(*lam.shape, -1)

    def order(self, lam: float) -> list[str]:
        """Return the names in their order at lam, the highest score first."""
        return [self.names[i] for i in np.argsort(-self.at(lam), kind="stable")]

    def __repr__(self) -> str:
        return (
            f"LambdaSlider({len(self.names)} items, lam from {self.high:.3g} to {self.low:.3g}, "
            f"begins at {self.lam:.3g})"
        )

    def _repr_html_(self) -> str:
        now, symbol = self.at(self.lam), self.symbol
        step = round(1000 * share_of(self.lam, self.high, self.low))
        place = f"--left:{100 * LEFT / WIDTH:.2f}%;--wide:{100 * (RIGHT - LEFT) / WIDTH:.2f}%"
        said = f'{symbol} = <b class="rb-lam">{self.lam:.3g}</b>'
        if self.curve is not None:
            value = self.curve.at(self.lam)
            best = "" if abs(value - self.curve.optimum) <= 1e-12 else " hidden"
            said += f' · {self._metric()} <b class="rb-value">{value:.3g}</b> '
            said += f'<span class="rb-mark"{best}>best</span>'
        key = "No order is proven."
        if self.proven.any():
            low, high = self.interval
            where = "for every" if self.is_exact else "at nine"
            key = (
                f'<span><i class="rb-yes"></i>the function\'s order, proven {where} {symbol} '
                f"from {high:.3g} to {low:.3g}</span>"
                '<span><i class="rb-no"></i>proven the other way round</span>'
                '<span><i class="rb-open"></i>not proven</span>'
            )
        return (
            f'<div class="rb-slider" role="group" aria-label="ranking along {symbol}">'
            f"<style>{asset('css')}</style>"
            f'<div><p class="rb-said">{said}</p>{self._list(now)}<p class="rb-key">{key}</p>'
            f'</div><div class="rb-plot" style="{place}">{self._picture(now)}'
            f'<input type="range" min="0" max="1000" value="{step}" hidden="hidden" '
            # otherwise JupyterLab handles the arrow keys
            'data-lm-suppress-shortcuts="true" '
            f'aria-label="{symbol}, falling"/><button type="button" hidden="hidden">back to '
            f"{symbol} = {self.lam:.3g}</button></div>"
            "<noscript>A still picture: where scripts run, a slider moves it.</noscript>"
            f'<script type="application/json">{self._numbers()}</script>'
            f"<script>{asset('js')}</script></div>"
        )

    def _metric(self):
        """Return the printed name of the curve's metric."""
        return {"auc": "AUC", "ndcg": "NDCG"}.get(self.curve.metric, self.curve.metric)

    def _list(self, now):
        """Return the items in the order of their scores, each with its link to the next item."""
        order, share = np.argsort(-now, kind="stable"), heights(now)
        rows = []
        for place, i in enumerate(order):
            after = order[place + 1] if place + 1 < order.size else None
            state = 0 if after is None else int(self.proven[i, after] + 2 * self.proven[after, i])
            rows.append(
                f'<li class="rb-row{("", " rb-lit", " rb-against")[state]}" data-item="{i}" '
                f'style="--p:{100 * place / max(1, order.size - 1):.0f}%;--s:{share[i]:.4f}">'
                f'<span class="rb-link"></span><span class="rb-bead"></span>'
                f'<span class="rb-name">{escape(self.names[i])}</span>'
                f'<span class="rb-unseen" style="order:3">{WORDS[state]}</span></li>'
            )
        return f'<ol class="rb-list" role="list">{"".join(rows)}</ol>'

    def _picture(self, now):
        """Return both panels as one picture, with a description in words."""
        high, low, curve = self.high, self.low, self.curve
        at, bottom, what = (
            across(self.lam, high, low),
            PANEL[1],
            "scores of the items along the path",
        )
        lams, count = np.geomspace(high, low, 121), now.size
        x, y = across(lams, high, low), upward(heights(self.at(lams)), PANEL)
        place, here = np.argsort(np.argsort(-now, kind="stable"), kind="stable"), heights(now)
        tint = [f"--p:{100 * k / max(1, count - 1):.0f}%" for k in place]
        parts = [svg_panel(PANEL, "scores between the last and the first", ["first", "last"])]
        parts += [svg_line(x, y[:, i], class_="rb-line", style=tint[i]) for i in range(count)]
        parts.append(svg("line", class_="rb-at", x1=at, x2=at, y1=PANEL[0], y2=PANEL[1]))
        for i in range(count):  # a dot for each item at the lambda of the slider
            point = dict(cx=at, cy=upward(here[i], PANEL), r=4)
            parts.append(svg("circle", class_="rb-item", style=tint[i], **point))
        if curve is not None:  # steps, shades where they are best, and a dot
            bottom, what = BELOW[1], what + ", and the validation curve"
            best = across(np.clip(np.array(curve.best)[:, ::-1], low, high), high, low)
            wide = (best[:, 1] - best[:, 0] >= 1) | (best[:, 0] == best[:, 0].min())
            for x, end in best[wide]:
                size = dict(y=BELOW[0], width=max(1.0, end - x), height=BELOW[1] - BELOW[0])
                parts.append(svg("rect", class_="rb-best", x=x, **size))
            ends = np.unique([self.values.min(), self.values.max()])[::-1]
            said = [f"{value:.2g}" for value in ends]
            parts.append(svg_panel(BELOW, f"validation {self._metric()}", said))
            x = np.repeat(across(np.r_[high, self.breaks, low], high, low), 2)[1:-1]
            y = np.repeat(upward(heights(self.values), BELOW), 2)
            parts.append(svg_line(x, y, class_="rb-steps"))
            parts.append(svg("line", class_="rb-at", x1=at, x2=at, y1=BELOW[0], y2=BELOW[1]))
            y = upward(heights(np.r_[curve.at(self.lam), self.values])[0], BELOW)
            parts.append(svg("circle", class_="rb-dot", cx=at, cy=y, r=4))
        # powers of ten below the panels, or the two ends if there are fewer than two
        first, last = int(np.floor(np.log10(high))), int(np.ceil(np.log10(low)))
        raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
        powers = range(first, last - 1, -max(1, round((first - last) / 6)))
        marks = [(10.0**e, "10" + str(e).translate(raised)) for e in powers]
        if len(marks) < 2:
            marks = [(end, f"{end:.3g}") for end in (high, low)]
        for lam, said in marks:
            x = across(lam, high, low)
            parts.append(svg("text", said, x=x, y=bottom + 16, text_anchor="middle"))
        parts.append(svg("text", self.symbol, x=LEFT - 20, y=bottom + 16, text_anchor="end"))
        view = f"0 0 {WIDTH} {bottom + 22}"
        return svg("svg", "".join(parts), viewBox=view, role="img", aria_label=what)

    def _numbers(self):
        """Return the data of the script as JSON."""
        proven = self.proven.astype(int) + 2 * self.proven.T
        data = dict(
            high=self.high,
            low=self.low,
            chosen=self.lam,
            lams=self.lams.tolist(),
            scores=self.scores.tolist(),
            proven=["".join(map(str, row)) for row in proven],
            words=WORDS,
            panel=[LEFT, RIGHT, *PANEL],
            breaks=self.breaks.tolist(),
        )
        if self.curve is not None:
            ends = [float(self.values.min()), float(self.values.max())]
            below = [BELOW[1], BELOW[0], *ends]
            data |= dict(values=self.values.tolist(), optimum=self.curve.optimum, below=below)
        return json.dumps(data, separators=(",", ":"))
