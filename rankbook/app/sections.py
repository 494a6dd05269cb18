"""Sections of a report, as HTML; a section that does not apply is empty."""

import platform
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import pairwise

import numpy as np

from ..base.errors import ArgumentError
from ..base.tables import in_line
from ..estimators.leaderboard_text import boards_of, cells, remarks
from ..kernels.linear_map import KernelFunction, LinearFunction
from ..metrics.models import ranker_of
from ..metrics.probabilities import reliability
from ..metrics.queries import by_query
from ..paths.exact import RegularizationPath
from ..plots.axes import COLOURS, lambda_axis, plain
from ..plots.curve import plot_validation_curve
from ..plots.items import plot_reliability, plot_risk_groups
from ..plots.path import plot_sets
from ..plots.slider import LambdaSlider
from ..selection.curve import ValidationCurve
from .coefficients import table_cells, table_remarks, table_rows
from .evidence import name_of
from .measures import of_table_or_model
from .page import (
    Html,
    bullets,
    code,
    element,
    facts,
    folded,
    length_bar,
    paragraph,
    picture,
    span_bar,
    table,
)

SHOWN, FEW, MOST_ROWS = 10, 20, 50  # worst queries; queries for an interval; items of a table
SLIDER = 300  # items and breakpoints up to which a path has a slider
RULES = dict(
    widest="the middle of the widest interval of lambdas with the best value",
    largest="the largest lambda with the best value",
    one_se="the largest lambda within one standard error of the best value",
)


def percent(x):
    """Format a share as a percentage."""
    if 0.9995 <= x < 1:
        return "over 99.9%"
    return f"{100 * x:.1f}%"


def short(x):
    """Format a number with four digits, and with an exponent only if it is far from 1."""
    rounded = float(f"{x:.4g}")
    return f"{rounded:,g}" if 1e-4 <= abs(x) < 1e6 else f"{rounded:g}"


def among(names, most=5):
    """Write names as a list in a sentence, at most some of them."""
    shown = [str(name) for name in names[:most]]
    more = len(names) - len(shown)
    shown += [f"{more} others"] if more else []
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


@dataclass(eq=False)
class Choice:
    """How lambda was chosen: a curve or a grid, and the error at the chosen value."""

    lam: float
    how: str
    curve: ValidationCurve | None = None
    grid: tuple | None = None
    error: float | None = None
    rule: str = ""
    gammas: list = field(default_factory=list)
    gamma: float | None = None
    optimism: float | None = None

    @property
    def within(self):
        """Ends of the lambdas around the choice whose values are within one standard error.

        All of them are within one standard error of the best value. None without an error.
        """
        if self.curve is None or not self.error:
            return None
        high, low = self.curve.breaks[:-1], self.curve.breaks[1:]
        far = np.abs(self.curve.values - self.curve.optimum) > self.error
        above, below = (
            np.flatnonzero(far & (low >= self.lam)),
            np.flatnonzero(far & (high <= self.lam)),
        )
        top = low[above[-1]] if above.size else high[0]
        return float(high[below[0]] if below.size else low[-1]), float(top)


def choice_of(model):
    """Return the choice of a fitted estimator, or None if it was given its lambda."""
    ranker = ranker_of(model)
    rule = RULES.get(getattr(ranker, "rule", None), "")
    if hasattr(ranker, "fold_curves_"):
        gammas = [(g, c.optimum) for g, c in zip(ranker.gammas_, ranker.gamma_curves_)]
        how = f"{len(ranker.fold_curves_)} folds of the training data"
        error = getattr(ranker, "standard_error_", None)
        more = dict(gammas=gammas, gamma=ranker.gamma_)
        return Choice(ranker.lam_, how, ranker.curve_, error=error, rule=rule, **more)
    if hasattr(ranker, "cv_values_") and np.ndim(ranker.cv_values_) == 2:
        values, lams = np.asarray(ranker.cv_values_), np.asarray(ranker.lams_)
        column = ranker.gammas_.index(ranker.gamma_) if hasattr(ranker, "gammas_") else 0
        return Choice(ranker.lam_, "held-out training data", grid=(lams, values[:, column]))
    return None


def weights_of(model, features, X):
    """Return features, weights and the change of the score for one standard deviation, or None.

    The features of a pipeline are those of its last step. The changes are None where the standard
    deviations are unknown.
    """
    ranker, model = ranker_of(model), getattr(model, "best_estimator_", model)
    if len(getattr(model, "steps", ())) > 1:
        steps = model[:-1]
        with suppress(AttributeError, ValueError):  # a step of a user's own has no names
            features = steps.get_feature_names_out(features)
        X = None if X is None else steps.transform(X)
    function = getattr(ranker, "function_", None)
    if not isinstance(function, LinearFunction) or np.ndim(function.weights) != 1:
        return None
    weights = function.weights
    encoding = getattr(model, "encoding", None)
    given = getattr(model, "columns", None) if encoding is None else encoding.names
    given = getattr(ranker, "feature_names_in_", None) if given is None else given
    names = features if features is not None and len(features) == weights.size else given
    names = [f"x{j}" for j in range(weights.size)] if names is None else list(names)
    if hasattr(model, "centre"):  # features have standard deviation 1
        return names, weights, weights
    if X is None or hasattr(X, "tocsr") or np.shape(X)[1:] != weights.shape:
        return names, weights, None
    effect = weights * np.asarray(X, dtype=float).std(axis=0)
    return names, weights, effect if np.isfinite(effect).all() else None


def answer_section(best, sure, steps):
    """Return the three answers: the best model, how sure it is, and what to do next."""
    boxes = []
    for head, (big, *more) in (("The result", best), ("How sure is it?", sure)):
        parts = element("h3", head), element("p", big, class_="big"), *map(paragraph, more)
        boxes.append(element("div", *parts))
    boxes.append(element("div", element("h3", "What next?"), bullets(steps)))
    return element("div", *boxes, class_="answers")


def read_section(rows, notes):
    """Return what was read, and the notes of the readers."""
    said = [element("h3", "Notes"), bullets(list(dict.fromkeys(notes)))] if notes else []
    return Html(facts(rows) + "".join(said))


def between(low, high):
    """Describe an interval of lambdas."""
    if np.isinf(high):
        return f"above {short(low)}"
    return f"from {short(low)} to {short(high)}" if low > 0 else f"below {short(high)}"


def choice_section(choice):
    """Return the validation curve with the chosen lambda and its uncertainty."""
    if choice is None:
        return ""
    texts, rows = [f"lambda = {short(choice.lam)} was chosen on {choice.how}."], []
    if choice.curve is not None:
        curve, value = choice.curve, float(choice.curve.at(choice.lam))
        texts[0] = f"{texts[0][:-1]}: it is {choice.rule}." if choice.rule else texts[0]
        best = next((ends for ends in curve.best if ends[0] <= choice.lam <= ends[1]), None)
        if best is not None:
            texts.append(f"All lambdas {between(*best)} give the same value.")
        metric = name_of(curve.metric)
        texts.append(f"The {metric} there is {value:.4f}.")
        if choice.error:
            texts[-1] = f"{texts[-1][:-1]}, with a standard error of {choice.error:.4f}."
            texts.append(
                f"All lambdas {between(*choice.within)} reach the best value within one standard "
                "error, so these data hardly tell them apart."
            )

        def draw(ax):
            plot_validation_curve(curve, ax, choice.lam)
            if choice.error:
                ax.errorbar(choice.lam, value, choice.error, color=COLOURS[1], capsize=3, lw=1)

        alt = f"{metric} at each lambda; the chosen lambda {short(choice.lam)} is marked"
        shown = picture(draw, alt, "Shaded: the best lambdas. Bar: plus or minus a standard error.")
    else:
        lams, values = choice.grid
        order, best = np.argsort(lams), float(np.min(values))

        def draw(ax):
            ax.plot(lams[order], values[order], "o-", ms=3)
            ax.axvline(choice.lam, color=COLOURS[1], lw=1)
            lambda_axis(ax, "value")

        at = np.flatnonzero(lams == choice.lam)
        if at.size and at[0] in (lams.argmin(), lams.argmax()):
            texts.append("It is an end of the grid; a wider grid may contain a better one.")
        alt = (
            f"value at {lams.size} lambdas, the smallest {best:.4g}; {short(choice.lam)} is chosen"
        )
        shown = picture(draw, alt, "The values at a grid of lambdas; the line marks the choice.")
    if len(choice.gammas) > 1:
        head = ["gamma", "best value"]
        body = [[f"{g:.4g}", f"{v:.4f}"] for g, v in choice.gammas]
        rows.append(table("The best value of each gamma", head, body, words=0))
        texts.append(f"gamma = {short(choice.gamma)} was chosen in the same way.")
    if choice.optimism is not None:
        texts.append(
            "The best of many values tends to be too good. If the lambda of each fold is chosen on "
            f"the other folds, the value is {choice.optimism:.4f}."
        )
    words = element("div", *map(paragraph, texts), *rows)
    return element("div", element("div", shown), words, class_="beside")


def certificate_section(certificate, model=None):
    """Return the certificate in a sentence."""
    if certificate is None or not np.isfinite(certificate.relative_gap):
        return ""
    gap = abs(float(certificate.relative_gap))
    close = f"to within {gap:.0e} of its value"
    close = "to the accuracy of the computer" if gap < 1e-14 else close
    said = (
        f"The objective of this model is proven optimal {close}, among all functions with this "
        "kernel and this lambda. rankbook computed the bound from the solution alone, whichever "
        "solver found it."
    )
    if gap > 1e-3:
        said = (
            f"The objective of this model may be up to {percent(gap)} above the smallest possible "
            "one. Fit it again with a smaller tolerance, or with another solver."
        )
    rows = [("objective", f"{float(certificate.primal):.10g}")]
    rows.append(("lower bound", f"{float(certificate.dual):.10g}"))
    rows.append(("solver", getattr(model, "solver_", None)))
    return Html(paragraph(said) + facts(rows))


def metrics_section(evidence, models, best):
    """Return the metrics of each model with their intervals."""
    if evidence is None:
        return ""
    parts = [paragraph(f"Measured on {evidence.what}.")]
    if evidence.of_fit:
        parts.append(paragraph("The model was fitted to these data, so the values are too good."))
    for name in sorted(models, key=lambda name: name != best):
        rows, model = [], models[name]
        for metric, value, low, high in evidence.rows(name, model):
            known = np.isfinite(low)
            span = f"{low:.3f} to {high:.3f}" if known else ""
            bar = span_bar(low, value, high) if known and low >= 0 else ""
            rows.append([metric, f"{value:.3f}", span, bar])
        head = ["metric", "value", "95% interval", "from 0 to 1"]
        shown = table(f"Metrics of {name}" if len(models) > 1 else "Metrics", head, rows)
        parts.append(shown if name == best else folded(name, shown))
    if evidence.of_survival and (why := evidence.intervals[best][1]):
        parts.append(paragraph(f"The concordance has no interval, because {why}."))
    units = evidence.units
    number = evidence.n_units
    said = f"Intervals treat {units} as independent ({number:,} of them)."
    if units == "queries" and (rest := 1 + evidence.query.max() - number):
        said += f" {rest:,} other queries have no preference and do not count."
    if number < FEW:
        said += f" With fewer than {FEW} {units}, intervals are often too short."
    return Html("".join([*parts, paragraph(said)]))


def comparison_section(evidence, best, means, rows, metric):
    """Return the comparison of the best model with the others."""
    if not rows:
        return ""
    unit = "queries" if evidence.by_query else "pairs"
    reach = max(max(abs(row["low"]), abs(row["high"])) for row in rows)
    body = [[best, f"{means[best]:.4f}", "", "", "", "", ""]]
    for row in sorted(rows, key=lambda row: row["difference"]):
        ends = row["low"], row["difference"], row["high"]
        span = f"{row['low']:+.4f} to {row['high']:+.4f}"
        bar = span_bar(*ends, ends=(-reach, reach))
        wins = f"{row['wins']} : {row['losses']}"
        body.append(
            [row["name"], f"{row['value']:.4f}", f"{row['difference']:+.4f}", span, bar]
            + [f"{row['p']:.2g}", wins]
        )
    head = ["model", metric, "best minus this", "95% interval", f"± {reach:.2g}", "p-value"]
    said = f"{best} has the highest mean. The p-values come from paired tests"
    said += ", corrected for the number of comparisons." if len(rows) > 1 else "."
    head.append(f"{unit} won : lost")
    return Html(table(f"{best} compared with each other model", head, body) + paragraph(said))


def histogram(values, alt, label, what):
    """Draw the distribution of values."""

    def draw(ax):
        bins = min(20, max(5, int(np.sqrt(values.size))))
        few = np.ptp(values) < 1e-9  # values that differ by rounding errors
        reach = (values.mean() - 0.5, values.mean() + 0.5) if few else None
        ax.hist(values, bins=bins, range=reach, color=COLOURS[5])
        ax.axvline(values.mean(), color=COLOURS[1], lw=1.5)
        ax.set(xlabel=label, ylabel=f"number of {what}")
        ax.yaxis.get_major_locator().set_params(integer=True)

    return picture(draw, alt, f"The line marks the mean, {values.mean():.3f}.")


def worst_section(evidence, name, metric):
    """Return the distribution over queries, or over items, and the worst of them by name."""
    if evidence is None:
        return ""
    scores = evidence.scores[name]
    if evidence.by_query:
        ids, values = by_query(metric, evidence.y, scores, evidence.qid)
        number = np.searchsorted(ids, evidence.qid)
        known = np.flatnonzero(~np.isnan(values))
        if known.size < 2:
            return ""
        order = known[np.argsort(values[known], kind="stable")][:SHOWN]
        rows = []
        for q in order:
            items = np.flatnonzero(number == q)
            y, s = evidence.y[items], scores[items]
            top, best = s.argmax(), np.where(y == y.max(), s, -np.inf).argmax()
            found = f"{evidence.names[items[top]]} (grade {y[top]:g})"
            wanted = (
                f"{evidence.names[items[best]]} (grade {y[best]:g}), at {1 + (s > s[best]).sum()}"
            )
            rows.append([str(ids[q]), found, wanted, f"{items.size}", f"{values[q]:.3f}"])
        head = ["query", "ranked first", "first of the best items, and its rank", "items"]
        head.append(name_of(metric))
        shown, words, caption, what = values[known], 3, "The worst queries", "queries"
        label = name_of(metric)
    elif evidence.listed:
        prefs, missed = evidence.prefs, evidence.missed[name] * evidence.prefs.weight
        n, w = prefs.n_items, prefs.weight
        total = np.bincount(prefs.better, w, n) + np.bincount(prefs.worse, w, n)
        below, above = np.bincount(prefs.better, missed, n), np.bincount(prefs.worse, missed, n)
        known = np.flatnonzero(total > 0)
        share = (below + above)[known] / total[known]
        pairs = np.bincount(prefs.better, minlength=n) + np.bincount(prefs.worse, minlength=n)
        rows = []
        for k in np.lexsort((-total[known], -share))[:SHOWN]:
            i = known[k]
            where = "too low" if below[i] > above[i] else "too high"
            row = [evidence.names[i], where, f"{pairs[i]:,}", percent(share[k])]
            rows += [row] if share[k] > 0 else []
        head = ["item", "mostly ranked", "pairs", "in the wrong order"]
        shown, words, caption, what = share, 2, "The worst items", "items"
        label = "share of pairs in the wrong order"
    else:
        return ""
    if not rows:
        return paragraph("No pair is in the wrong order.")
    alt = f"{label} of {shown.size} {what}: mean {shown.mean():.3f}, worst {rows[0][-1]}"
    figure = histogram(shown, alt, label, what)
    return Html(figure + table(caption, head, rows, words))


def known_cells(rows):
    """Return rows of texts without undefined numbers; the first column has names."""
    kept = lambda cell: "" if "nan" in cell.split() else cell
    return [[name, *map(kept, cells)] for name, *cells in rows]


def risk_groups_section(result):
    """Return Kaplan-Meier curves of risk groups, their table and the log-rank test."""
    if result is None:
        return ""
    groups = result.found
    head, *rows = groups.cells
    alt = f"share of {len(groups.curves)} risk groups that lives longer, for each time"
    said = "Shaded: 95% intervals. Small marks: censored times."
    shown = picture(lambda ax: plot_risk_groups(groups, ax), alt, said, (4.6, 3.2))
    words = table(result.title.capitalize(), head, rows) + paragraph(groups._test())
    return element("div", element("div", shown), element("div", Html(words)), class_="beside")


def calibration_section(result):
    """Return predicted and observed probabilities of survival at a time."""
    if result is None:
        return ""
    found = result.found
    head, *rows = found.cells
    alt = "observed share for each predicted probability; correct ones are on the diagonal"
    said = "Correct probabilities are on the grey line."
    shown = picture(lambda ax: plot_reliability(found, ax), alt, said)
    return Html(shown + table(result.title.capitalize(), head, rows))


def coefficients_section(model):
    """Return the table of coefficients that a model contains."""
    about = getattr(model, "about", None) or {}
    if about.get("coefficients") is None:
        return ""
    found = table_rows("", dict(about=about))
    head, *rows = known_cells(table_cells(*found))
    title = f"{found[1]['ratio'].capitalize()}s and coefficients"
    remarks = paragraph("; ".join(table_remarks(found[1])))
    return Html(table(title, head, rows) + remarks)


def matter_section(model, features, X, names):
    """Return the weights of a linear model, or the items that matter for a kernel."""
    function = getattr(ranker_of(model), "function_", None)
    if (found := weights_of(model, features, X)) is not None:
        features, weights, effect = found
        size = weights if effect is None else effect
        order = np.argsort(-np.abs(size), kind="stable")
        largest = np.abs(size).max(initial=0.0)
        rows = [
            [features[j], length_bar(size[j], largest)]
            + [f"{size[j]:+.4g}"] * (effect is not None)
            + [f"{weights[j]:+.4g}"]
            for j in order
        ]
        if effect is None:
            head, title = ["feature", "size", "weight"], "Weights, each in the unit of its feature"
        else:
            head = ["feature", "effect", "of one standard deviation", "weight"]
            title = "The score changes by the effect if the feature rises by one standard deviation"
        parts = [table(title, head, rows[:MOST_ROWS], words=2)]
        zero = int((weights == 0).sum())
        said = f"{zero} of {weights.size} weights are 0." if zero else ""
        if len(rows) > MOST_ROWS:
            said += f" The table shows the {MOST_ROWS} largest effects."
        return Html("".join(parts) + paragraph(said.strip()))
    if not isinstance(function, KernelFunction) or np.ndim(function.coef) != 1:
        return ""
    size = np.abs(function.coef)
    order = np.argsort(-size, kind="stable")[:SHOWN]
    said = (
        f"The score of an item is a sum over {function.coef.size:,} of {function.n_items:,} "
        "training items: coefficient times similarity. Items with a positive coefficient raise the "
        "scores of similar items."
    )
    known = names is not None and len(names) == function.n_items
    rows = [
        [names[i] if known else f"training row {i}", length_bar(function.coef[k], size.max())]
        + [f"{function.coef[k]:+.4g}"]
        for k, i in ((k, int(function.support[k])) for k in order)
    ]
    head = ["training item", "size", "coefficient"]
    return Html(paragraph(said) + table("The largest coefficients", head, rows, words=2))


def reliability_section(evidence, name, model):
    """Return the reliability diagram of a model with probabilities."""
    if evidence is None or not evidence.listed or model is None:
        return ""
    if evidence.of_survival:
        return ""
    given = of_table_or_model(model, evidence.prefs, evidence.scores[name])
    found = reliability(*given, link=model.link_)
    inside = (found.lower <= found.predicted) & (found.predicted <= found.upper)
    said = (
        "The interval of every bin contains the predicted probability."
        if inside.all()
        else "In some bins the interval of the share of wins does not contain the predicted "
        "probability. model.calibrate(X_val, y_val) may correct that."
    )
    alt = "observed share of wins for each predicted probability; correct ones are on the diagonal"
    shown = picture(
        lambda ax: plot_reliability(found, ax), alt, "Correct probabilities are on the grey line."
    )
    rows = zip(*(getattr(found, each).tolist() for each in ("predicted", "observed", "count")))
    body = [[f"{p:.3f}", f"{o:.3f}", f"{round(c):,}"] for p, o, c in rows]
    head = ["predicted", "observed", "preferences"]
    beside = table("Predicted and observed shares of wins", head, body, words=0)
    beside = element("div", paragraph(said), beside)
    return element("div", element("div", shown), beside, class_="beside")


def repeat_section(commands, models):
    """Return commands that repeat the result, and versions."""
    parts = [code(commands)] if commands else []
    if models and not commands:
        shown = {name: model for name, model in models.items() if hasattr(model, "get_params")}
        parts = [code([f"{name} = {model!r}" for name, model in shown.items()])] if shown else []
    versions = ", ".join(f"{each} {version(each)}" for each in ("rankbook", "numpy", "scipy"))
    return Html(
        "".join(parts) + paragraph(f"Computed by {versions}, Python {platform.python_version()}.")
    )


def path_section(path, curve, names):
    """Return a slider of lambda for small paths, else a picture of the sets."""
    n = getattr(getattr(path.problem, "prefs", None), "n_items", SLIDER + 1)
    lam = None if curve is None else curve.choose()
    if n <= SLIDER and path.breakpoints.size <= SLIDER:
        try:
            return Html(LambdaSlider(path, curve, names=names, lam=lam)._repr_html_())
        except (ArgumentError, AttributeError):  # several scores an item, or no items
            return ""
    if not isinstance(path, RegularizationPath) or path.breakpoints.size == 0:
        return ""
    alt = "numbers of preferences in each active set along the path"
    return picture(lambda ax: plot_sets(path, ax), alt)


def ranks_section(board):
    """Return the table of ranks and scores with intervals, and the intervals as a picture."""
    parts = []
    for title, each in boards_of(board):
        head, *rows = cells(each)
        ends = None
        if "low" in each.table_:
            found = each.table_[["low", "high"]].to_numpy()
            ends = np.nanmin(found), np.nanmax(found)
            bars = [
                span_bar(row.low, row.score, row.high, ends) if np.isfinite(row.low) else ""
                for row in each.table_.itertuples()
            ]
            rows = [[*row[:3], bar, *row[3:]] for row, bar in zip(rows, bars)]
            head = [*head[:3], f"{ends[0]:.3g} to {ends[1]:.3g}", *head[3:]]
        rows = [[row[1], row[0], *row[2:]] for row in rows]
        head = [head[1], head[0], *head[2:]]
        caption = f"Ranks and scores{', ' if title else ''}{title}"
        shown = table(caption, head, rows[:MOST_ROWS])
        if len(rows) > MOST_ROWS:
            rest = table("The other items", head, rows[MOST_ROWS:])
            shown += folded(f"{len(rows) - MOST_ROWS} more items", rest)
        shown += paragraph("; ".join(remarks(each)))
        parts.append(folded(title, Html(shown)) if title and each is not board else Html(shown))
    k = min(30, len(board.table_))

    def draw(ax):
        t, place = board.table_.head(k), np.arange(k)
        ax.hlines(place, t["rank_low"], t["rank_high"], color=COLOURS[5], lw=3)
        ax.plot(t["rank"], place, "o", color=COLOURS[0], ms=4)
        names = map(in_line, t["item"])
        cut = [each if len(each) <= 24 else f"{each[:23]}…" for each in names]
        ax.set_yticks(place, [plain(each) for each in cut])
        ax.set(xlabel="rank", ylim=(k - 0.5, -0.5))
        ax.xaxis.get_major_locator().set_params(integer=True)

    if "rank_low" in board.table_:
        alt = f"rank of each item with its interval, {k} of {len(board.table_)} items"
        size = (4.6, 0.8 + 0.22 * k)
        said = "The bar goes from the best to the worst rank in the interval."
        parts.insert(1, picture(draw, alt, said, size))
    return Html("".join(parts))


def neighbours_section(board):
    """Return how often neighbours in the table would win against each other."""
    names = board.table_["item"].tolist()[: SHOWN + 1]
    rows = []
    for a, b in pairwise(names):
        try:
            found = board.compare(a, b)
        except ArgumentError:
            continue
        win = float(board.predict_proba(a, b)[0, 0])
        decided = "decided" if found.decided else "open"
        rows.append([a, b, decided, percent(win), percent(found.probability)])
    if not rows:
        return ""
    head = ["item", "the next one", "order", "wins a vote", "is better, with probability"]
    return table("Each of the first items against the next one", head, rows, words=3)
