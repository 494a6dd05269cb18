"""Choosing lambda for a table of graded items."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ..base.validation import as_matrix, as_positive, as_vector, unknown_name
from ..data.dataset import PARTS
from ..data.split import prepare
from ..kernels.kernel import Kernel
from ..metrics.pairs import auc, disagreement
from ..problems.solution import Solution
from ..registry.options import auto_options
from ..registry.plugins import get_solver
from ..selection.curve import ValidationCurve, validation_curve
from ..selection.one_se import disagreement_error, largest_within
from .facts import PARAMETERS, draw, notes_on, summarize
from .measures import level_aucs, measures
from .methods import check_method, follower


def kernels_to_try(kernel="rbf", gamma=None, degree=None, coef0=None):
    """Arguments of a kernel, for each gamma.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly"} or callable, default "rbf"
    gamma : float or sequence of floats, optional
        Of rbf and poly; 1/d by default.
    degree, coef0
        Of poly; see :class:`rankbook.kernels.kernel.Kernel`.

    Returns
    -------
    list of dict
    """
    if not callable(kernel) and kernel == "precomputed":
        raise ValueError(
            "kernel is 'precomputed', and the items of the data are features; "
            "linear, poly and rbf are accepted."
        )
    if not callable(kernel) and kernel not in PARAMETERS:
        raise unknown_name("kernel", kernel, (*PARAMETERS, "a callable"))
    given = {
        name: value
        for name, value in dict(gamma=gamma, degree=degree, coef0=coef0).items()
        if value is not None
    }
    for name in given:
        if callable(kernel) or name not in PARAMETERS[kernel]:
            having = " and ".join(other for other, names in PARAMETERS.items() if name in names)
            raise ValueError(
                f"{name} is {given[name]!r}, "
                f"but the kernel is {kernel if isinstance(kernel, str) else 'a callable'}; "
                f"{name} is accepted for {having}."
            )
    gammas = (
        as_vector("gamma", np.atleast_1d(given.pop("gamma")), minimum=0, strict=True).tolist()
        if gamma is not None
        else [None]
    )
    if not gammas:
        raise ValueError("gamma is empty; a number, or one or more of them, is accepted.")
    tries = [dict(kernel=kernel, gamma=value, **given) for value in gammas]
    Kernel(**tries[0])  # refuses a bad degree or coef0
    return tries


def restrict(curve, lam_min=None, lam_max=None):
    """A validation curve on a part of its range.

    Parameters
    ----------
    curve : ValidationCurve
    lam_min, lam_max : float > 0, optional
        Ends of the range; where None, those of the curve.

    Returns
    -------
    ValidationCurve

    Raises
    ------
    ValueError
        If nothing of the curve is left.
    """
    low, high = max(float(curve.breaks[-1]), lam_min or 0.0), np.inf if lam_max is None else lam_max
    if low >= high:
        raise ValueError(
            f"lam_max is {high!r}; a number above {low!r}, "
            "the lower end of the path or lam_min, is accepted."
        )
    inside = np.flatnonzero((curve.breaks[1:] < high) & (curve.breaks[:-1] > low))
    breaks = np.clip(curve.breaks[inside[0] : inside[-1] + 2], low, high)
    return ValidationCurve(
        breaks,
        curve.values[inside],
        tuple(float(end) for end in np.clip(curve.scale, low, high)),
        curve.maximize,
        curve.exact,
        curve.metric,
    )


@dataclass(frozen=True)
class Candidate:
    """A kernel, its path on the training part, and its curve on the validation part.

    Attributes
    ----------
    path : SolutionPath
    curve : ValidationCurve
        Restricted to the lambdas that are considered.
    gamma : float or None
        Of the kernel; None if it has none.
    seconds : dict
        What "path" and "curve" took, on the wall clock; what is followed later counts as "curve".
    """

    path: object
    curve: ValidationCurve
    gamma: float | None
    seconds: dict

    @property
    def width(self):
        """Factor of lambda that the widest best interval spans; at least 1.

        An interval counts up to a decade beyond the outermost breakpoints.
        """
        low, high = np.clip(
            np.array(self.curve.best).T, self.curve.scale[0] / 10, self.curve.scale[1] * 10
        )
        return float((high / low).max())

    @property
    def rank(self):
        """Sorts candidates, the best first: by the minimum, ties by the wider interval."""
        return self.curve.minimum, -self.width


def try_kernel(train, validation, kernel, follow, lam_min, lam_max):
    """Follow the path of one kernel and judge it.

    Parameters
    ----------
    train, validation : Part
    kernel : dict
        One of :func:`kernels_to_try`.
    follow : function
        Of the training part, the kernel and lam_min; gives a path.
    lam_min, lam_max : float or None

    Returns
    -------
    Candidate

    Raises
    ------
    KeyboardInterrupt
        If the path was interrupted: half a path is no ground for a choice.
    """
    start = perf_counter()
    path = follow(train, kernel, lam_min)
    if path.status == "interrupted":
        raise KeyboardInterrupt
    middle = perf_counter()
    curve = validation_curve(path, validation.X, validation.prefs)
    if lam_min is None:
        path, curve = deepen(path, curve, validation)
    name, gamma = path.problem.kernel.name, kernel["gamma"] or 1.0 / train.X.shape[1]
    return Candidate(
        path,
        restrict(curve, lam_min, lam_max),
        gamma if "gamma" in PARAMETERS.get(name, ()) else None,
        dict(path=middle - start, curve=perf_counter() - middle),
    )


def deepen(path, curve, validation):
    """A path that ended where nobody asked it to, and its curve, down to where the curve falls.

    Only the paths of the solver "newton" end so and can be resumed. Each time they go on for three
    powers of ten, as long as that makes the minimum smaller and the end is among the best.
    """
    falls = hasattr(path, "resume")
    while falls and path.status == "lam_min" and curve.best[-1][0] <= path.domain[0]:
        path, before = path.resume(1e-3 * path.domain[0]), curve.minimum
        curve = validation_curve(path, validation.X, validation.prefs)
        falls = curve.minimum < before
    return path, curve


@dataclass(frozen=True)
class ModelSelection:
    """A chosen model, and all that led to it.

    Attributes
    ----------
    data : Dataset
    parts : dict from "train", "validation", "test" to Part
    candidates : list of dict
        For each kernel tried: gamma, status, breakpoints, minimum, width, seconds.
    best : Candidate
    solution : Solution
        At the chosen lambda, on the training part.
    disagreement : dict
        Of the solution with the preferences of "validation" and "test".
    auc : float or None
        On the test part, averaged over queries; None if y has more than two levels.
    test : dict
        "metrics" and "level_auc" of its part, see :mod:`rankbook.app.measures`.
    settings : dict
        The method, and how the data were split and lambda was chosen.
    centre, factor : ndarrays of shape (d,)
        What standardises items.
    """

    data: object
    parts: dict
    candidates: list
    best: Candidate
    solution: Solution
    disagreement: dict
    auc: float | None
    test: dict
    settings: dict
    centre: np.ndarray
    factor: np.ndarray

    def predict(self, X_new):
        """Scores (p,) of raw new items X_new (p, d), standardised like those of training."""
        X_new = as_matrix("X_new", X_new)
        if X_new.shape[1] != self.centre.size:
            raise ValueError(
                f"X_new has {X_new.shape[1]} columns; "
                f"{self.centre.size}, as in the data, are accepted."
            )
        return self.solution.predict((X_new - self.centre) * self.factor)

    @property
    def notes(self):
        """What a careful reader should know, a list of str; see :func:`notes_on`."""
        return notes_on(self)

    def summary(self):
        """All facts as a dict of plain Python values, ready for JSON; see :func:`summarize`."""
        return summarize(self)

    def figure(self):
        """The path, the curve and, for two levels, the ROC curve; see :func:`draw`."""
        return draw(self)


def select_model(  # noqa: PLR0913 -- an option of the command each
    data,
    *,
    method="ranksvm",
    kernel="rbf",
    gamma=None,
    degree=None,
    coef0=None,
    graph="full",
    lam_min=None,
    lam_max=None,
    rule="widest",
    standardize=True,
    seed=0,
    solver="auto",
    progress=False,
    **options,
):
    """Choose the model that orders the validation part best.

    What is chosen is the lambda, and the gamma if there are several.

    Parameters
    ----------
    data : Dataset
    method : {"ranksvm", "rankrls", "rayleigh"}, default "ranksvm"
        See :func:`rankbook.app.methods.make_problem`. "rayleigh" takes two levels of y and no
        queries.
    kernel, gamma, degree, coef0
        See :func:`kernels_to_try`. Each gamma gets a path; the smallest minimum wins, of equal ones
        the wider interval.
    graph : {"full", "star"}, default "full"
        Preferences of the training part; "rayleigh" takes none but "full".
    lam_min, lam_max : float > 0, optional
        Lambdas to consider, by default all; lam_min also ends the path. Without it a path of
        "newton" goes as deep as the curve falls.
    rule : {"widest", "largest", "one_se"}, default "widest"
        See :func:`rankbook.selection.curve.choose_lambda`; "one_se" takes the largest lambda within
        one standard error of the minimum, see :mod:`rankbook.selection.one_se`.
    standardize : bool, default True
    seed : int, default 0
        See :func:`prepare`.
    solver : str, type or instance, default "auto"
        With its `options`. "auto" is an exact path, or for large ranking SVMs lines between
        certified solutions; ``("auto", dict(allow_plugins=True))`` may be a plugin. A solver of one
        lambda is used for such lines, by "epsilon".
    progress : bool, default False
        Whether solvers that have a bar show it.

    Returns
    -------
    ModelSelection

    Raises
    ------
    ValueError, TypeError
        For a bad argument, before any work is done; or if a part has no preference.
    MemoryError
        If the kernel matrix or the lists of preferences would not fit.
    """
    kernels, lams, follow = (
        kernels_to_try(kernel, gamma, degree, coef0),
        _check_lams(lam_min, lam_max, rule),
        follower(method, graph, solver, progress, options),
    )
    if auto_options(solver) is None:
        get_solver(solver, **options)  # a bad name or option should show before the work
    check_method(method, data, graph)
    parts, how, centre, factor = prepare(data, graph, standardize, seed)
    parts["validation"].prefs.better  # lists them now: a lack of memory should show before the work
    best, candidates = _best_candidate(parts, kernels, follow, lams)
    settings = dict(method=method, how=how, seed=seed, standardize=standardize)
    settings |= dict(graph=graph, rule=rule)
    lam, settings["error"] = _choose(best, parts["validation"], rule)
    solution = best.path.solution(lam)
    wrong, area, said = _judge(parts, solution, np.unique(data.y).size == 2)
    return ModelSelection(
        data, parts, candidates, best, solution, wrong, area, said, settings, centre, factor
    )


RULES = ("widest", "largest", "one_se")


def _check_lams(lam_min, lam_max, rule):
    """The range of lambda, refused if it is empty or the rule unknown."""
    if rule not in RULES:
        raise unknown_name("rule", rule, RULES)
    low, high = (
        None if lam is None else as_positive(name, lam)
        for name, lam in (("lam_min", lam_min), ("lam_max", lam_max))
    )
    if None not in (low, high) and low >= high:
        raise ValueError(
            f"lam_min is {lam_min!r} and lam_max is {lam_max!r}; lam_min < lam_max is accepted."
        )
    return low, high


def _best_candidate(parts, kernels, follow, lams):
    """The best of the candidates, and a row of facts about each."""
    best, rows = None, []
    for kernel in kernels:
        candidate = try_kernel(parts["train"], parts["validation"], kernel, follow, *lams)
        rows.append(
            dict(
                gamma=candidate.gamma,
                status=candidate.path.status,
                breakpoints=int(candidate.path.breakpoints.size),
                minimum=candidate.curve.minimum,
                width=candidate.width,
                seconds=candidate.seconds,
            )
        )
        best = candidate if best is None or candidate.rank < best.rank else best
    return best, rows


def _judge(parts, solution, two_levels):
    """Disagreement with validation and test preferences, and measures of the test part."""
    scores = {name: solution.predict(parts[name].X) for name in PARTS[1:]}
    test = parts["test"]
    wrong = {name: disagreement(parts[name].prefs, scores[name]) for name in scores}
    known = test.y, scores["test"], test.qid
    found = dict(metrics=measures(*known), level_auc=level_aucs(*known))
    return wrong, auc(*known) if two_levels else None, found


def _choose(candidate, validation, rule):
    """The lambda of a rule, and the standard error of the minimum where the rule asks for it."""
    curve = candidate.curve
    if rule != "one_se":
        return curve.choose(rule), None
    scores = candidate.path.predict(validation.X, curve.choose())
    error = disagreement_error(validation.prefs, scores, validation.qid)
    return largest_within(curve, error), error
