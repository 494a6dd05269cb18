"""Reports of models, leaderboards and paths as one page of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.utils.validation import check_is_fitted

from ..base.errors import ArgumentError, a_type
from ..base.files import write_whole
from ..base.tables import count, in_line
from ..base.types import File
from ..data.blocks import as_feature_names
from ..estimators.leaderboard import Leaderboard
from ..metrics.models import ranker_of
from ..paths.exact import SolutionPath
from ..selection.curve import validation_curve
from . import sections as part
from .evidence import (
    LEVEL,
    MOST_PAIRS,
    Evidence,
    comparison_rows,
    evidence_of,
    main_metric,
    means_of,
    name_of,
)
from .fitting import chosen_model
from .folds import FoldSelection
from .page import Html, element, page, require_pictures
from .sections import FEW, RULES, Choice, among, choice_of, percent, short
from .select import ModelSelection

MOST_MORE = 100  # times as many data, above which more data are no advice
CHANCE = "a random order has 50%"


class Report:
    """Page of HTML that :func:`report` returns.

    Attributes
    ----------
    html : str
        The whole page. It loads no other files.
    title : str

    Examples
    --------
    >>> import rankbook as rb
    >>> X, y = [[0.0], [1.0], [2.0]], [0, 1, 2]
    >>> rb.report(rb.RankSVM(kernel="linear").fit(X, y), X, y).html[:15]
    '<!DOCTYPE html>'
    """

    def __init__(self, title: str, html: str) -> None:
        self.title, self.html = title, html

    def save(self, file: File) -> None:
        """Write the page to a file, whole or not at all."""
        text = self.html.encode("utf-8", errors="backslashreplace")
        write_whole(file, lambda handle: handle.write(text))

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.html) / 1000:.0f} kB)"

    def _repr_html_(self) -> str:
        style = "width:100%;height:80vh;border:1px solid #8888"
        return f'<iframe title="report" style="{style}" srcdoc="{escape(self.html)}"></iframe>'


def report(  # noqa: PLR0913 -- data as for a metric, and texts of the page
    models: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    *,
    preferences: Any = None,
    names: Sequence[Any] | None = None,
    metric: str | None = None,
    title: str | None = None,
    commands: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Report:
    """Make a page of HTML about a model, several models, a leaderboard or a path.

    The page begins with three answers: which model is best, how certain this is and what to do
    next. The next parts are the data, the choice of lambda, metrics with intervals, the worst
    queries or items by name, weights, the reliability of probabilities, and the certificate, where
    they exist. The page follows the light or dark mode of the reader's system, and loads no other
    files.

    Parameters
    ----------
    models : fitted model, list or dict of models, Leaderboard, or SolutionPath
        Estimators, pipelines, searches, or objects with `predict`. In a dict, whose keys are names,
        a model may also be an array of scores of the rows of X.
    X : array-like of shape (n, d), optional
        Items that were not used in the fit. For a path, the validation data for choosing lambda.
    y, qid : array-like of shape (n,), optional
        Their grades or survival times, and query ids.
    preferences : Preferences, Orders or pairs of names, optional
        Preferences between the rows of X, in place of y.
    names : sequence of n names, optional
        Names of the items; by default those of the preferences or the index of X.
    metric : str, optional
        Metric of queries to compare models by, such as ``"ndcg@5"``. The default is
        ``"ndcg@10"``, or the share of pairs in the right order if there are no queries.
    title : str, optional
    commands, notes : sequence of str
        Commands that repeat the result, and remarks on the data.

    Returns
    -------
    Report
        With the attribute `html` and the method ``save(file)``. Jupyter shows the page.

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong, several models are given without data, or the data have no
        preference.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    Intervals of metrics over queries come from the bootstrap. Shares of pairs have intervals of
    Student's t, for which queries are independent, or items if there is one query. The concordance
    of survival times has the interval of :func:`rankbook.metrics.concordance_interval`, and two
    models of them are compared by :func:`rankbook.metrics.compare_concordances`. A model of
    ``rankbook fit --coefficients`` has its table of coefficients on the page.

    Examples
    --------
    >>> import rankbook as rb
    >>> votes = dict(winner=list("aaaabaa"), loser=list("bbbbabb"))
    >>> rb.report(rb.Leaderboard().fit(votes)).title
    'Leaderboard'
    """
    page_of = dict(metric=metric, title=title, commands=commands, notes=notes)
    return make_report(models, X, y, qid, preferences=preferences, names=names, **page_of)


def make_report(  # noqa: PLR0913 -- as report, and what a command has computed
    models,
    X=None,
    y=None,
    qid=None,
    *,
    preferences=None,
    names=None,
    metric=None,
    title=None,
    commands=(),
    notes=(),
    cluster=None,
    results=(),
):
    """Make the page of :func:`report`.

    Other parameters are those of :func:`report`.

    Parameters
    ----------
    cluster : ndarray of shape (n,), optional
        Ids of clusters of dependent patients, for the interval of the concordance.
    results : sequence of SurvivalResult
        Risk groups and calibration to show.
    """
    require_pictures("report")
    title = None if title is None else as_texts("title", [title])[0]
    commands, notes = as_texts("commands", commands), as_texts("notes", notes)
    about = dict(metric=metric, title=title, commands=commands, notes=notes, rows=[])
    go_on = [Html(f"Go on with {element('code', command)}") for command in commands[1:]]
    about |= dict(steps=go_on, names=None, path="", results={each.key: each for each in results})
    evidence, given = None, y is not None or preferences is not None
    if isinstance(models, Leaderboard):
        check_is_fitted(models)
        title, sections = report_of_board(models, about)
    elif isinstance(models, ModelSelection | FoldSelection):
        title, sections = report_of_models(*of_selection(models, about))
    elif isinstance(models, SolutionPath):
        if given:
            evidence = evidence_of({}, X, y, qid, preferences, names, "the validation data")
        title, sections = report_of_path(models, evidence, about)
    else:
        models = as_models(models)
        if given:
            given = dict(cluster=cluster)
            evidence = evidence_of(models, X, y, qid, preferences, names, **given)
        elif len(models) > 1:
            raise ArgumentError("y is None, and there are several models", "y to compare them")
        title, sections = report_of_models(models, evidence, about)
    foot = f"Written by rankbook {version('rankbook')}. The page loads no other files."
    return Report(title, page(title, sections, foot))


def as_texts(argument, value):
    """Convert a sequence of texts to a list."""
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise ArgumentError(f"{argument} is {value!r}", "a list of strings")
    return list(value)


def as_models(models):
    """Return models as a dict from names."""
    if not isinstance(models, dict):
        given = models if isinstance(models, list | tuple) else [models]
        if bad := [each for each in given if not hasattr(each, "predict")]:
            said = "a model with predict, or a dict of scores by name"
            raise ArgumentError(f"models has {a_type(bad[0])}", said)
        kinds = [type(ranker_of(each)).__name__ for each in given]
        number = [f" {kinds[: i + 1].count(kind)}" for i, kind in enumerate(kinds)]
        names = [k if kinds.count(k) == 1 else k + i for k, i in zip(kinds, number)]
        models = dict(zip(names, given))
    if not models:
        raise ArgumentError("models is empty", "at least one model")
    for name, each in models.items():
        if isinstance(each, type) or (not hasattr(each, "predict") and np.ndim(each) != 1):
            said = f"models has {name!r}, {a_type(each)}"
            raise ArgumentError(said, "a model with predict, or scores of the rows of X")
    if len({str(name) for name in models}) < len(models):
        raise ArgumentError("models has names that are equal as text", "names that differ as text")
    return {str(name): each for name, each in models.items()}


def model_words(model):
    """Describe a model in a few words: class, kernel, loss and lambda."""
    ranker = ranker_of(model)
    words = [type(ranker).__name__ if hasattr(ranker, "get_params") else "a table of scores"]
    for name in ("kernel", "loss"):
        given = getattr(ranker, name, None)
        words += [f"{given} {name}"] if isinstance(given, str) else []
    lam = getattr(ranker, "lam_", None)
    words += [f"lambda {short(lam)}"] if isinstance(lam, float) else []
    return ", ".join(words)


def data_rows(evidence):
    """Describe the data that a model is judged by as names and values."""
    prefs, X = evidence.prefs, evidence.X
    rows = [("measured on", evidence.what), ("items", f"{evidence.target.n_items:,}")]
    if evidence.units == "queries":
        sizes = np.bincount(evidence.query)
        rows.append(
            ("queries", f"{sizes.size:,}, of {sizes.min()} to {count(sizes.max(), 'item')}")
        )
    if np.ndim(X) == 2:
        rows.append(("features", f"{np.shape(X)[1]:,}"))
    if evidence.of_survival:
        events = int(evidence.target.survival["event"].sum())
        rows.append(("events", f"{events:,} observed, others censored"))
        if evidence.target.queries is not None:
            rows.append(("strata", f"{np.unique(evidence.target.queries).size:,}"))
    if evidence.y is not None:
        levels = np.unique(evidence.y)
        rows.append(("grades", f"{levels.size} different, {levels[0]:g} to {levels[-1]:g}"))
    return [*rows, ("preferences", f"{len(prefs):,}"), ("ties", f"{prefs.n_ties or ''}")]


def interval_words(low, high):
    """Describe an interval of shares, if there is one."""
    return f"95% interval {percent(low)} to {percent(high)}; " if np.isfinite(low) else ""


def more_data(p, level=LEVEL):
    """Return how many times as much data would give a two-sided p-value of 1 - level."""
    z = norm.isf(p / 2)
    return max(1.1, float((norm.isf((1 - level) / 2) / z) ** 2)) if z > 0 else np.inf


def answer_of_one(model, evidence, name, choice, about):
    """Return the three answers about one model: what it is, how sure it is, what to do next."""
    top, steps = [about.get("words") or model_words(model)], []
    if evidence is None or not evidence.measured:
        missing = f"This needs test data with at most {MOST_PAIRS:,} preferences."
        sure = about.get("sure") or ["Not measured", missing]
        if "sure" not in about:
            steps.append("Measure the model on data that were not used in the fit.")
    else:
        value, low, high = evidence.share(name)
        sure = [f"{percent(value)} {evidence.label}"]
        sure.append(f"{interval_words(low, high)}{CHANCE}. Measured on {evidence.what}.")
        if evidence.of_fit:
            said = "Measure the model on rows that it was not fitted to"
            steps.append(f"{said}; its values on these are too good.")
        elif low <= 0.5:
            steps.append(
                "The interval reaches 50% or less, so these data do not show that the model "
                "is better than chance. Try more data, other features or another kernel."
            )
        elif high - low > 0.1:
            said = f"The interval is {100 * (high - low):.0f} points wide. Four times as many"
            steps.append(f"{said} {evidence.units} would halve it.")
        what = "queries" if evidence.by_query else "items"
        said = f"Look at the worst {what}: do they lack a feature, or are labels wrong?"
        steps.append(
            said if value < 1 else "Measure the model on more data, which may show errors."
        )
    is_selected = bool(getattr(model, "about", {}).get("rule"))  # by `rankbook select`
    given = getattr(ranker_of(model), "lam", None) is not None
    if choice is None and given and not is_selected:
        steps.append("lambda was not chosen on data. RankSVMCV and rankbook select choose it.")
    return top, sure, [*steps, *about["steps"]]


def answer_of_several(models, evidence, best, means, rows, said, about):
    """Return the three answers about several models."""
    more = f"{said}: {means[best]:.4f}. {model_words(models[best])}."
    near = max(rows, key=lambda row: row["p"])
    unsure = [row["name"] for row in rows if not (row["p"] < 0.05 and row["difference"] > 0)]
    about_near = (
        f"{best} minus {near['name']}: {near['difference']:+.4f}, 95% interval "
        f"{near['low']:+.4f} to {near['high']:+.4f}, p = {near['p']:.2g}."
    )
    top = [f"{best} is {'ahead' if unsure else 'best'}", more]
    if not unsure:
        sure = [f"Better than {among([row['name'] for row in rows])}, p < 0.05", about_near]
        return (
            top,
            sure,
            [f"Use {best}.", "Look at its worst cases before you do.", *about["steps"]],
        )
    sure = [f"Not sure: {among(unsure)} may be as good", about_near]
    ratio = more_data(near["p"])
    said = f"Even {MOST_MORE} times as many {evidence.units} would not decide this difference."
    if ratio <= MOST_MORE:
        said = f"To decide this difference takes about {ratio:.1f} times as many {evidence.units}."
    return top, sure, [said, "Until then, take the simpler or faster model.", *about["steps"]]


def report_of_models(models, evidence, about):
    """Return title and sections of one model or several."""
    metric = None if evidence is None else main_metric(evidence, about["metric"])
    best, rows, means, of = next(iter(models)), [], {}, ""
    if len(models) > 1:
        if not evidence.listed and not evidence.by_query:
            said = f"y has {len(evidence.prefs):,} preferences"
            raise ArgumentError(said, f"at most {MOST_PAIRS:,} preferences, or query ids")
        means = means_of(evidence, metric)
        best = max(models, key=means.get)
        rows, of = comparison_rows(evidence, best, metric), f": {best}"
    model, said = models[best], ""
    choice = about.get("choice") or choice_of(model)
    if evidence is not None:
        said = name_of(metric) if evidence.by_query else evidence.label
    if rows:
        answer = answer_of_several(models, evidence, best, means, rows, said, about)
    else:
        answer = answer_of_one(model, evidence, best, choice, about)
    ranker, X = ranker_of(model), None if evidence is None else evidence.X
    features = about.get("features") or (as_feature_names(X) if hasattr(X, "columns") else None)
    certificate = about.get("certificate") or getattr(ranker, "certificate_", None)
    read = [*about["rows"], *([] if evidence is None else data_rows(evidence))]
    link, results = ranker if hasattr(ranker, "link_") else None, about["results"]
    sections = [
        ("answer", "Answer", part.answer_section(*answer)),
        ("comparison", "Comparison", part.comparison_section(evidence, best, means, rows, said)),
        ("choice", f"How lambda was chosen{of}", part.choice_section(choice)),
        ("metrics", "Metrics", part.metrics_section(evidence, models, best)),
        ("groups", "Risk groups", part.risk_groups_section(results.get("risk_groups"))),
        ("calibration", "Calibration", part.calibration_section(results.get("calibration"))),
        ("worst", f"The worst cases{of}", part.worst_section(evidence, best, metric)),
        ("coefficients", f"Coefficients{of}", part.coefficients_section(model)),
        ("matters", f"What matters{of}", part.matter_section(model, features, X, about["names"])),
        ("reliability", f"Reliability{of}", part.reliability_section(evidence, best, link)),
        ("path", "Along the path", about["path"]),
        ("read", "What was read", part.read_section(read, about["notes"])),
        ("certificate", f"Certificate{of}", part.certificate_section(certificate, ranker)),
        ("repeat", "Repeat it", part.repeat_section(about["commands"], models)),
    ]
    usual = best if len(models) == 1 else f"Comparison of {len(models)} models"
    return about["title"] or usual, sections


def report_of_path(path, evidence, about):
    """Return title and sections of a path, and of its best solution if there are data."""
    about["title"] = about["title"] or "Regularization path"
    high = path.breakpoints[0] if path.breakpoints.size else np.inf
    about["rows"] = [
        ("lambda", f"{short(high)} down to {short(path.domain[0])}; {path.status.sentence}"),
        ("breakpoints", f"{path.breakpoints.size:,}"),
        ("solver", path.solver),
        *about["rows"],
    ]
    if evidence is not None:
        curve = validation_curve(path, evidence.X, evidence.prefs)
        solution = path.solution(curve.choose())
        scores = solution.predict(evidence.X)
        evidence.judge("Solution", solution, scores)
        more = dict(error=evidence.error("Solution"), rule=RULES["widest"])
        choice = Choice(solution.lam, evidence.what, curve, **more)
        about |= dict(choice=choice, certificate=solution.certificate)
        about["words"] = f"lambda {short(solution.lam)} is best"
        about["path"] = part.path_section(path, curve, about["names"])
        about["steps"].append(
            "lambda was chosen on these data; measure the solution on other data."
        )
        return report_of_models({"Solution": solution}, evidence, about)
    top = [f"{path.breakpoints.size:,} breakpoints", f"From lambda {short(high)} downwards."]
    sure = ["No lambda is chosen yet", "Validation data are needed to choose one."]
    steps = ["Add validation data: --validation FILE, or X and y in Python."]
    return about["title"], [
        ("answer", "Answer", part.answer_section(top, sure, steps)),
        ("path", "Along the path", part.path_section(path, None, about["names"])),
        ("read", "What was read", part.read_section(about["rows"], about["notes"])),
        ("repeat", "Repeat it", part.repeat_section(about["commands"], {})),
    ]


def answer_of_board(board):
    """Return the three answers of a leaderboard."""
    items, steps = board.table_, []
    first = items["item"].iloc[0]
    top = [
        f"{first} is first",
        f"of {len(items):,} items, with score {items['score'].iloc[0]:.4g}.",
    ]
    if "rank_low" not in items:
        sure = ["Unknown", "The ranks have no intervals."]
        return top, sure, ["Add --intervals, or intervals=True, to see how sure the ranks are."]
    others = [each for each in items.loc[items["rank_low"] == 1, "item"] if each != first]
    level = f"{100 * board.settings_['level']:g}%"
    sure = ["No other item may be first"]
    if others:
        sure = [f"Not sure: {among(others)} may be first, too"]
    sure.append(f"{first} is first with a probability of about {board.top(1)[first]:.0%}.")
    sure.append(f"Intervals hold with probability {level}.")
    for other in others[:1]:
        said = "votes that connect the two."
        if board.group_[board._places("a", [first])] == board.group_[board._places("b", [other])]:
            ratio = more_data(board.compare(first, other).p_value, board.settings_["level"])
            said = f"about {ratio:.1f}" if ratio <= MOST_MORE else f"more than {MOST_MORE}"
            unit = board.unit if isinstance(board.unit, str) else "unit"
            of = "votes on the two" if board.unit is None else f"values of {unit!r}"
            said += f" times as many {of}."
        steps.append(f"To separate {first} from {other}, collect {said}")
    if few := items.loc[items["comparisons"] < FEW, "item"].tolist():
        steps.append(f"Collect votes on {among(few)}: each has fewer than {FEW}.")
    if board.unit is None:
        steps.append("If judges gave several votes each, name their column: --unit or unit=.")
    return top, sure, steps


def report_of_board(board, about):
    """Return title and sections of a leaderboard."""
    rows = [*about["rows"], ("items", f"{len(board.items_):,}")]
    rows.append(("comparisons of two items", f"{board.compared_.sum() / 2:,.6g}"))
    rows.append(("comparisons of an item", f"{board.compared_.mean():,.4g} on average"))
    rows.append(("lambda", f"{short(board.lam_)}, the precision of the prior of the scores"))
    model = {} if about["commands"] else {"board": board}
    return about["title"] or "Leaderboard", [
        ("answer", "Answer", part.answer_section(*answer_of_board(board))),
        ("ranks", "Ranks", part.ranks_section(board)),
        ("neighbours", "Neighbours", part.neighbours_section(board)),
        ("read", "What was read", part.read_section(rows, [*about["notes"], *board.notes_])),
        ("certificate", "Certificate", part.certificate_section(board.certificate_)),
        ("repeat", "Repeat it", part.repeat_section(about["commands"], model)),
    ]


def gap_rows(data):
    """Describe the missing values of a data set."""
    fill = {} if data.encoding is None else data.encoding.fill
    shown = [
        f"{name} with {v:.4g}" if isinstance(v, float) else f"{name} with {v}"
        for name, v in fill.items()
    ]
    return [("missing values", f"filled: {among(shown)}" if fill else "none")]


def of_selection(selection, about):
    """Return models, evidence and facts of a choice by ``rankbook select``."""
    model, data = chosen_model(selection), selection.data
    ranker, n = model.model, data.X.shape[0]
    given = getattr(data, "item_names", None)
    given = getattr(data, "prefs", dict(train=None))["train"].items if data.y is None else given
    names = [f"row {i}" for i in range(n)] if given is None else [in_line(str(i)) for i in given]
    about["features"] = data.feature_names if data.encoding is None else data.encoding.names
    about["notes"] = [*about["notes"], *selection.notes]
    rows = [("data", data.name), ("items", f"{n:,}"), ("features", f"{data.X.shape[1]:,}")]
    name, events = type(ranker).__name__, getattr(data, "events", None)
    rows += [] if events is None else [("events", f"{events:,} observed, others censored")]
    if isinstance(selection, FoldSelection):
        wrong, choice = selection.disagreement, choice_of(ranker)
        choice.how = f"{len(selection.sizes)} folds by {selection.settings['fold_by']}"
        choice.optimism = wrong["by_others"]
        about |= dict(choice=choice, names=names)
        rows += [(f"{each} preferences", f"{len(some):,}") for each, some in data.prefs.items()]
        evidence = None
        if "test" in data.prefs:
            evidence = Evidence(data.prefs["test"], names, what="the test preferences")
            evidence.judge(name, ranker, model.predict(data.X))
        else:
            right = 1 - (wrong["held_out"] if wrong["by_others"] is None else wrong["by_others"])
            reach = student.isf((1 - LEVEL) / 2, len(selection.sizes) - 1)
            reach *= choice.error or np.nan
            said = interval_words(max(0.0, right - reach), min(1.0, right + reach))
            label = "concordance" if data.is_survival else "of the pairs in the right order"
            said = f"{said}{CHANCE}. Measured by cross-validation."
            about["sure"] = [f"{percent(right)} {label}", said]
            about["steps"].append("Keep some preferences out of all folds, for --test.")
        about["rows"] = [*rows, *gap_rows(data)]
        return {name: model}, evidence, about
    each = "test" if "test" in selection.parts else "validation"
    held, validation = selection.parts[each], selection.parts["validation"]
    judge = Evidence(validation.prefs, [], validation.y, validation.qid)
    judge.judge(name, ranker, selection.solution.predict(validation.X))
    rule, curve = RULES[selection.settings["rule"]], selection.best.curve
    lam = float(selection.solution.lam)
    choice = Choice(lam, "the validation part", curve, error=judge.error(name), rule=rule)
    choice.gammas = [(row["gamma"], row["minimum"]) for row in selection.candidates]
    choice.gamma = selection.best.gamma
    shown = [names[i] for i in held.rows] if len(held.rows) == held.prefs.n_items else names
    evidence = Evidence(held.prefs, shown, held.y, held.qid, what=f"the {each} part")
    evidence.judge(name, ranker, selection.solution.predict(held.X))
    for key, some in selection.parts.items():
        sizes = dict(item=some.rows.size, query=some.prefs.n_queries, preference=len(some.prefs))
        sizes = {
            what: size for what, size in sizes.items() if what != "query" or data.qid is not None
        }
        rows.append((key, ", ".join(count(size, what, ",") for what, size in sizes.items())))
    about["rows"] = [*rows, ("split", selection.settings["how"]), *gap_rows(data)]
    about |= dict(choice=choice, names=[names[i] for i in selection.parts["train"].rows])
    about["words"] = (
        f"{name}, {selection.best.path.problem.kernel.name} kernel, lambda {short(lam)}"
    )
    if each == "validation":
        about["steps"].append(
            "lambda was chosen on the validation part, so pass --test with other data."
        )
    about["path"] = part.path_section(selection.best.path, curve, about["names"])
    return {name: model}, evidence, about
