"""Choice of lambda for a table of graded items, or with given parts."""

from dataclasses import dataclass, replace

import numpy as np

from ..base.errors import ArgumentError
from ..base.limits import unsaid
from ..base.status import Status
from ..base.tables import count
from ..base.validation import as_choice, as_matrix, as_positive, as_vector, unknown_name
from ..data.blocks import Blocks, CheckedBlock
from ..data.split import PreferredItems, prepare
from ..data.table import PARTS
from ..estimators.ranksvm import WIDE_RATIO
from ..kernels.kernel import Kernel
from ..metrics.pairs import auc, disagreement
from ..metrics.probabilities import brier_score, log_loss
from ..metrics.queries import by_query, find_metric
from ..paths.exact import RegularizationPath
from ..problems.certificate import Solution
from ..problems.losses import PENALTIES
from ..problems.rankrls import RankRLSProblem
from ..problems.ranksvm import RankSVMProblem, as_loss
from ..problems.rayleigh import RayleighProblem
from ..problems.sparse_bounds import as_factors, sparse_penalty, usual_lam_max
from ..registry.plugins import get_solver, of_one_lambda
from ..registry.solve import solve
from ..registry.solver import auto_options
from ..selection.curve import disagreement_error
from ..selection.search import Candidate, choose_from_curves, evaluate_path, restrict
from .measures import PROBABILITIES, measures

PARAMETERS = {name: had for name, had in Kernel.PARAMETERS.items() if name != "precomputed"}


CERTIFIED = ("lam", "primal", "dual", "gap", "relative_gap", "radius", "norm")
CERTIFIED += ("box_violation", "complementarity_violation")


def certified(certificate):
    """Return the numbers of a certificate as a dict; an infinite radius is None."""
    numbers = {name: float(getattr(certificate, name)) for name in CERTIFIED}
    return {name: each if np.isfinite(each) else None for name, each in numbers.items()}


METHODS, RULES = ("ranksvm", "rankrls", "rayleigh"), ("widest", "largest", "one_se")
COMPONENTS = 100


def check_method(method, data, graph, loss=None, penalty=None):
    """Refuse an unknown method, or one that cannot learn from the data.

    Parameters
    ----------
    method : {"ranksvm", "rankrls", "rayleigh"}
    data : Dataset or PreferredItems
    graph : {"full", "star"}
    loss, penalty : str or None

    Raises
    ------
    ValueError
        If "rayleigh" gets preferences, queries, other than two levels of y, or a star graph; if
        there are preferences and the graph is a star; or if the loss is unknown, or the method of
        a loss or a penalty is not "ranksvm".
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    for name, value in dict(loss=loss, penalty=penalty).items():
        if method != "ranksvm" and value is not None:
            raise ArgumentError(
                f"{name} is {value!r} and method is {method!r}",
                f"{name} only with method='ranksvm'",
            )
    as_loss(loss or "hinge")
    if isinstance(data, PreferredItems):
        if graph != "full":
            raise ArgumentError(f"graph is {graph!r}", "'full' for preferences")
        if method == "rayleigh":
            raise ArgumentError("method is 'rayleigh'", "'ranksvm' or 'rankrls' for preferences")
    if method != "rayleigh":
        return
    levels = np.unique(data.y).size
    for wrong, came, accepted in (
        (data.qid is not None, "data has queries", "data without queries"),
        (
            levels != 2,
            f"y has {levels} different values",
            "two (for unlabelled items, rankbook.RayleighRankerCV in Python)",
        ),
        (graph != "full", f"graph is {graph!r}", "'full'"),
    ):
        if wrong:
            raise ArgumentError(f"method is 'rayleigh' and {came}", accepted)


def penalty_of(data, kernel, loss, penalty=None, l1_ratio=None, penalty_factor=None):  # noqa: PLR0913
    """Return the penalty of a ranking SVM, with the factors of the features of a data set.

    Parameters
    ----------
    data : Dataset or PreferredItems
    kernel : dict
        Arguments of the kernel.
    loss : str or None
    penalty, l1_ratio, penalty_factor
        As in :class:`rankbook.RankSVM`; None means the default.

    Returns
    -------
    str or ElasticNet
    """
    penalty = "l2" if penalty is None else as_choice("penalty", penalty, tuple(PENALTIES))
    share = 0.5 if l1_ratio is None else l1_ratio
    factors = feature_factors(data, penalty_factor)
    return sparse_penalty(penalty, share, factors, Kernel(**kernel), as_loss(loss or "hinge"))


def feature_factors(data, penalty_factor):
    """Return the penalty factors (d,) of the features of a data set by name, or None."""
    names = data.feature_names if data.encoding is None else data.encoding.names
    return as_factors(penalty_factor, len(names), names)


def make_problem(method, part, graph, kernel, loss=None, penalty="l2"):  # noqa: PLR0913
    """Make the problem of a method on a training part.

    Parameters
    ----------
    method : {"ranksvm", "rankrls", "rayleigh"}
    part : Part
    graph : {"full", "star"}
    kernel : dict
        Arguments of the kernel.
    loss : str, optional
        Loss of "ranksvm"; the hinge by default.
    penalty : str or ElasticNet, default "l2"
        Penalty of "ranksvm".

    Returns
    -------
    RankSVMProblem, RankRLSProblem or RayleighProblem
    """
    if method == "ranksvm":
        how = dict(loss=loss or "hinge", penalty=penalty)
        return RankSVMProblem(part.X, part.prefs, Kernel(**kernel), **how)
    if method == "rankrls" and graph == "full" and part.y is not None:
        return RankRLSProblem(part.X, part.y, part.qid, kernel=Kernel(**kernel))
    if method == "rankrls":
        return RankRLSProblem(part.X, part.y, graph=part.prefs, kernel=Kernel(**kernel))
    p = None if kernel["kernel"] == "linear" else min(COMPONENTS, len(part.y))
    labels = (part.y == part.y.max()).astype(float)
    with unsaid("n_components is reduced"):  # the number is a default
        options = dict(unlabelled=False, manifold_weight=0.0, n_components=p)
        return RayleighProblem(part.X, labels, kernel=Kernel(**kernel), **options)


def mean_error(metric, part, scores):
    """Standard error of the mean of a metric over the queries of a part."""
    values = by_query(metric, part.y, scores, part.qid)[1]
    values = values[~np.isnan(values)]
    if values.size < 2:
        raise ArgumentError(
            f"rule is 'one_se' and {metric} has {values.size} query", "at least two queries"
        )
    return float(values.std(ddof=1) / np.sqrt(values.size))


def refuse_gram(kernel):
    """Raise a ValueError if a precomputed kernel is requested for a table of features."""
    if isinstance(kernel, str) and kernel == "precomputed":
        raise ArgumentError(
            "kernel is 'precomputed', but the data contain features, not kernel values",
            "'linear', 'poly' or 'rbf'",
        )


def wide_end(problem):
    """Return where the path of a sparse penalty ends with more features than items, else None."""
    n, d = problem.X.shape
    if not (problem.penalty.coef_is_weights and problem.loss.is_smooth and d > n):
        return None
    return WIDE_RATIO * usual_lam_max(problem) or None


def used_features(solution):
    """Return the number of features with a weight, None without a sparse penalty."""
    penalty = getattr(solution.problem, "penalty", None)
    is_sparse = getattr(penalty, "coef_is_weights", False)
    return int(np.count_nonzero(solution.weights)) if is_sparse else None


def kernels_to_try(kernel="rbf", gamma=None, degree=None, coef0=None):
    """Return the arguments of a kernel, for each gamma.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly"} or callable, default "rbf"
    gamma : float or sequence of floats, optional
        For rbf and poly; 1/d by default.
    degree, coef0
        For poly; see :class:`rankbook.kernels.kernel.Kernel`.

    Returns
    -------
    list of dict
    """
    refuse_gram(kernel)
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
            raise ArgumentError(
                f"{name} is {given[name]!r}, but the kernel is "
                f"{kernel if isinstance(kernel, str) else 'a callable'}",
                f"{name} only with {having}",
            )
    gammas = (
        as_vector("gamma", np.atleast_1d(given.pop("gamma")), minimum=0, strict=True).tolist()
        if gamma is not None
        else [None]
    )
    if not gammas:
        raise ArgumentError("gamma is empty", "at least one number")
    tries = [dict(kernel=kernel, gamma=value, **given) for value in gammas]
    Kernel(**tries[0])  # refuses a wrong degree or coef0
    return tries


@dataclass(frozen=True)
class ModelSelection:
    """A chosen model and the facts of the choice.

    Attributes
    ----------
    data : Dataset or PreferredItems
    parts : dict from "train", "validation" and perhaps "test" to Part
    candidates : list of dict
        For each kernel: gamma, status, breakpoints, minimum, width, seconds.
    best : Candidate
        The chosen candidate, with its curve on the lambdas that are considered.
    solution : Solution
        Solution at the chosen lambda, on the training part.
    disagreement : dict
        Disagreement of the solution on "validation" and, if it exists, "test".
    auc : float or None
        AUC on the test part, averaged over queries; None unless y has two levels.
    measured : dict
        Results of :func:`rankbook.app.measures.measures` for each of these parts, without "items";
        empty without scores.
    settings : dict
        The method, the split of the data, and the rule that chose lambda.
    centre, factor : ndarrays of shape (d,)
        What standardizes items.
    """

    data: object
    parts: dict
    candidates: list
    best: Candidate
    solution: Solution
    disagreement: dict
    auc: float | None
    measured: dict
    settings: dict
    centre: np.ndarray
    factor: np.ndarray

    def predict(self, X_new):
        """Return scores (p,) of raw items X_new (p, d), standardized like the training items."""
        X_new = as_matrix("X_new", X_new)
        if X_new.shape[1] != self.centre.size:
            raise ArgumentError(
                f"X_new has {count(X_new.shape[1], 'column')}",
                f"{count(self.centre.size, 'column')}, as in the data",
            )
        return self.solution.predict((X_new - self.centre) * self.factor)

    @property
    def notes(self):
        """Caveats about the result, a list of str.

        It is empty if the path is complete or reaches lam_min or the limits of doubles, the
        validation curve is not constant, the solution is optimal to 1e-6 and better than chance,
        and its predictions confirm the curve.
        """
        path, certificate, notes = self.best.path, self.solution.certificate, []
        is_pairs = self.best.curve.metric == "disagreement"
        by_chance = is_pairs and self.best.curve.minimum >= 0.5
        if path.status not in (Status.COMPLETE, Status.LAM_MIN, Status.ROUNDING):
            reason = path.info.get("reason", path.status.sentence)
            notes.append(
                f"The path ended early, at lambda {path.domain[0]:.6g}: {reason}. "
                "No smaller lambda was considered."
            )
        start = getattr(path.problem, "lam_max", np.inf)
        if start and self.best.curve.breaks[-1] >= start:
            notes.append(
                f"The path begins at lambda {start:.6g}, below all lambdas that were considered; "
                "above it only the scale of the function changes."
            )
        elif np.ptp(self.best.curve.values) == 0 and not by_chance:
            notes.append(
                "All lambdas order the validation data equally well, so these data do not favour "
                "the chosen one; more validation data may."
            )
        if by_chance:
            notes.append(
                "No lambda orders the validation data better than chance (0.5); "
                "another kernel or other features may."
            )
        if not certificate.is_optimal(1e-6):
            notes.append(f"The chosen solution is not optimal to 1e-6: {certificate}.")
        found = self.disagreement["validation"]
        expected = float(self.best.curve.at(self.solution.lam))
        if is_pairs and abs(found - expected) > 1e-9:
            notes.append(
                f"The validation curve promises a disagreement of {expected:.6g} "
                f"at the chosen lambda, but the predictions have {found:.6g}."
            )
        return notes

    def summary(self):
        """Return all facts as a dict of plain Python values, ready for JSON.

        The keys are data, split, method, loss, penalty, preferences, kernel, candidates, path,
        curve, chosen, disagreement, concordance (for survival times), auc, validation, test,
        certificate, solver, seconds and notes. An infinite end of an interval of lambda is None,
        and so are values of a missing test part.
        """
        best, settings, parts, data = self.best, self.settings, self.parts, self.data
        path, curve, certificate = best.path, best.curve, self.solution.certificate
        queries, groups = (
            None if ids is None else int(np.unique(ids).size) for ids in (data.qid, data.groups)
        )
        kernel = path.problem.kernel
        parameters = {
            name: getattr(best if name == "gamma" else kernel, name)
            for name in PARAMETERS.get(kernel.name, ())
        }
        survival = isinstance(data, PreferredItems) and data.is_survival
        searched, *intervals = (
            [float(low), float(high) if np.isfinite(high) else None]
            for low, high in ((curve.breaks[-1], curve.breaks[0]), *curve.best)
        )
        return dict(
            data=dict(
                name=data.name,
                items=data.X.shape[0],
                events=getattr(data, "events", None),
                features=data.X.shape[1],
                levels=None if data.y is None else int(np.unique(data.y).size),
                queries=queries,
                groups=groups,
            ),
            split=dict(
                how=settings["how"],
                seed=settings["seed"],
                standardized=settings["standardize"],
                items={name: len(part.rows) for name, part in parts.items()},
                queries=None
                if data.qid is None
                else {name: part.prefs.n_queries for name, part in parts.items()},
            ),
            method=settings["method"],
            loss=settings["loss"],
            penalty=settings["penalty"],
            preferences=dict(graph=settings["graph"])
            | {name: len(part.prefs) for name, part in parts.items()},
            kernel=dict(name=kernel.name) | parameters,
            candidates=self.candidates,
            path=dict(
                status=path.status,
                breakpoints=int(path.breakpoints.size),
                lam_max=float(path.breakpoints[0]) if path.breakpoints.size else None,
                lam_end=path.domain[0],
                info=path.info,
            ),
            curve=dict(
                searched=searched,
                intervals=int(curve.values.size),
                metric=curve.metric,
                maximize=curve.maximize,
                minimum=curve.optimum,
                best=intervals,
                exact=curve.exact,
            ),
            chosen=dict(
                lam=self.solution.lam,
                rule=settings["rule"],
                standard_error=settings["error"],
                gamma=best.gamma,
                features=used_features(self.solution),
            ),
            disagreement=self.disagreement,
            concordance={k: 1 - v for k, v in self.disagreement.items()} if survival else None,
            auc=self.auc,
            **{name: self.measured.get(name) for name in PARTS[1:]},
            certificate=certified(certificate),
            solver=path.solver,
            seconds=best.seconds,
            notes=self.notes,
        )

    def figure(self):
        """Draw the path, the curve and, for two levels without queries, the test ROC curve.

        A path is drawn if it has breakpoints and stores sets of preferences. The figure is made
        without pyplot, so no window opens.
        """
        from matplotlib.figure import Figure

        from rankbook.plots.curve import plot_validation_curve
        from rankbook.plots.items import plot_roc
        from rankbook.plots.path import plot_sets

        path = self.best.path
        with_path = isinstance(path, RegularizationPath) and path.breakpoints.size > 0
        with_roc = self.auc is not None and self.data.qid is None
        heights = [2.4] * with_path + [2.7] + [3.2] * with_roc
        figure = Figure(figsize=(6, sum(heights) + 0.5), layout="constrained")
        places = iter(figure.add_gridspec(len(heights), height_ratios=heights))
        above = figure.add_subplot(next(places)) if with_path else None
        if with_path:
            plot_sets(path, above)
            above.set(xlabel="", ylabel="training preferences")
            above.tick_params(labelbottom=False)
        below = figure.add_subplot(next(places), sharex=above)
        plot_validation_curve(self.best.curve, below, self.solution.lam)
        below.set_ylabel(f"validation {self.best.curve.metric}")
        if with_roc:
            test = self.parts["test"]
            roc = plot_roc(test.y, self.solution.predict(test.X), figure.add_subplot(next(places)))
            roc.set_title(f"test part, {count(test.y.size, 'item')}", fontsize="medium")
        train, wrong, gamma = self.parts["train"], self.disagreement, self.best.gamma
        kernel = self.best.path.problem.kernel.name + " kernel"
        kernel += f", gamma = {gamma:.3g}" if gamma else ""
        gap = max(abs(self.solution.certificate.relative_gap), 1e-16)  # below that it is rounding
        name = self.data.name if len(self.data.name) <= 40 else self.data.name[:39] + "…"
        said = ", ".join(f"{value:.2%} of {part}" for part, value in wrong.items())
        headline = (
            f"{name}: {count(train.rows.size, 'training item')}, "
            f"{count(len(train.prefs), 'preference')}, {kernel}\n"
            f"in the wrong order: {said} preferences; relative gap {gap:.0e}"
        )
        figure.suptitle(headline, fontsize="small", x=0.01, ha="left")
        return figure


def select_model(  # noqa: PLR0913 -- an option of the command each
    data,
    *,
    method="ranksvm",
    kernel="rbf",
    gamma=None,
    degree=None,
    coef0=None,
    loss=None,
    penalty=None,
    l1_ratio=None,
    penalty_factor=None,
    graph="full",
    lam_min=None,
    lam_max=None,
    rule="widest",
    metric="disagreement",
    standardize=True,
    seed=0,
    parts=PARTS,
    solver="auto",
    progress=False,
    **options,
):
    """Choose the model that ranks the validation part best.

    The function chooses lambda, and gamma if there are several values.

    Parameters
    ----------
    data : Dataset or PreferredItems
    method : {"ranksvm", "rankrls", "rayleigh"}, default "ranksvm"
        See :func:`make_problem`. "rayleigh" requires two levels of y, without queries or
        preferences.
    kernel, gamma, degree, coef0
        See :func:`kernels_to_try`. A path is computed for each gamma. The smallest minimum is
        chosen, then the smallest gamma, by the rule of :mod:`rankbook.selection.search`.
    loss : str, optional
        Loss of "ranksvm", as in :class:`rankbook.RankSVM`; the hinge by default.
    penalty, l1_ratio, penalty_factor : optional
        As in :class:`rankbook.RankSVM`. With more features than items, the path of a sparse penalty
        ends where that of :class:`rankbook.RankSVMCV` does.
    graph : {"full", "star"}, default "full"
        Graph of the training preferences; "rayleigh" requires "full".
    lam_min, lam_max : float > 0, optional
        Range of lambda, by default unlimited; lam_min also ends the path. Without it, a path of
        "newton" continues as long as the curve decreases.
    rule : {"widest", "largest", "one_se"}, default "widest"
        See :func:`rankbook.selection.curve.choose_lambda`; "one_se" takes the largest lambda within
        one standard error of the optimum; see :func:`rankbook.selection.curve.largest_within`.
    metric : str, default "disagreement"
        The metric of the validation part that chooses the model; see
        :func:`rankbook.selection.search.metric_curve`. Others than the default require grades.
    standardize : bool, default True
    seed : int, default 0
    parts : tuple of str, default all three
        See :func:`prepare`; at least "train" and "validation".
    solver : str, type or instance, default "auto"
        Solver of the path, with its `options`. "auto" is an exact path, or for large ranking SVMs
        an interpolation of certified solutions; ``("auto", dict(allow_plugins=True))`` may choose a
        plugin. "epsilon" interpolates the solutions of a solver for one lambda.
    progress : bool, default False
        Whether solvers show a progress bar if they have one.

    Returns
    -------
    ModelSelection

    Raises
    ------
    ValueError, TypeError
        For a wrong argument, before any computation, or if a part has no preference.
    MemoryError
        If the kernel matrix or the lists of preferences do not fit in memory.
    """
    kernels = kernels_to_try(kernel, gamma, degree, coef0)
    if rule not in RULES:
        raise unknown_name("rule", rule, RULES)
    low, high = (
        None if lam is None else as_positive(name, lam)
        for name, lam in (("lam_min", lam_min), ("lam_max", lam_max))
    )
    if metric != "disagreement":
        if metric != "error":
            find_metric(metric)  # refuse a wrong name before any work
        if data.y is None:
            raise ArgumentError(f"metric is {metric!r}", "'disagreement' for data without grades")
    if None not in (low, high) and low >= high:
        raise ArgumentError(
            f"lam_min is {lam_min!r} and lam_max is {lam_max!r}", "lam_min < lam_max"
        )
    if auto_options(solver) is None:
        get_solver(solver, **options)  # refuse a wrong name or option before any computation
    check_method(method, data, graph, loss, penalty)
    named = penalty
    if method == "ranksvm":
        penalty = penalty_of(data, kernels[0], loss, penalty, l1_ratio, penalty_factor)
    sparse = kernel == "linear" and method != "rayleigh"
    parts, how, centre, factor = prepare(data, graph, standardize, seed, parts, sparse)
    train, validation = parts["train"], parts["validation"]
    if validation.prefs.unit == "pair":
        validation.prefs.better  # lists them now: a lack of memory ends the command here
    follow, items = dict(progress=progress, **options), (validation.X, validation.prefs)
    tried, how_judged = [], dict(metric=metric, y=validation.y, qid=validation.qid)
    for each in kernels:
        problem = make_problem(method, train, graph, each, loss, penalty)
        end = wide_end(problem) if low is None and method == "ranksvm" else low
        found = evaluate_path(problem, *items, solver, end, how_judged, extend=True, **follow)
        has_gamma = "gamma" in PARAMETERS.get(problem.kernel.name, ())
        gamma = (each["gamma"] or 1.0 / train.X.shape[1]) if has_gamma else None
        tried.append(replace(found, curve=restrict(found.curve, low, high), gamma=gamma))

    def standard_error(at, lam):
        scores = tried[at].path.predict(validation.X, lam)
        if metric != "disagreement":
            return mean_error(metric, validation, scores)
        return disagreement_error(validation.prefs, scores, validation.qid)

    judge = standard_error if rule == "one_se" else None
    curves, gammas = [[each.curve] for each in tried], [each.gamma for each in tried]
    at, _, lam, error = choose_from_curves(curves, gammas, rule, judge)
    best = tried[at]
    candidates = [
        dict(
            gamma=each.gamma,
            status=each.path.status,
            breakpoints=int(each.path.breakpoints.size),
            minimum=each.curve.optimum,
            width=each.width,
            seconds=each.seconds,
        )
        for each in tried
    ]
    settings = dict(method=method, loss=loss, how=how, seed=seed, standardize=standardize)
    settings |= dict(graph=graph, rule=rule, metric=metric, error=error if judge else None)
    settings |= dict(penalty=named, l1_ratio=l1_ratio, penalty_factor=penalty_factor)
    solution = best.path.solution(lam)
    if method == "ranksvm" and not solution.certificate.is_optimal(1e-6):  # a path within 1e-3
        one = solver if auto_options(solver) is not None else get_solver(solver, **options)
        solution = solve(best.path.problem, lam, of_one_lambda(one), progress=progress)
    judged = {name: part for name, part in parts.items() if name != "train"}
    scores = {name: solution.predict(part.X) for name, part in judged.items()}
    wrong = {name: disagreement(part.prefs, scores[name]) for name, part in judged.items()}
    measured, area = {}, None
    if data.y is not None:
        for name, part in judged.items():
            blocks = Blocks([CheckedBlock(part.X, part.y, part.qid)])
            said = measures(blocks, solution)
            if metric in PROBABILITIES:
                value = dict(brier_score=brier_score, log_loss=log_loss)[metric]
                said["metrics"][metric] = value(part.y, scores[name], qid=part.qid)
            elif metric not in ("disagreement", "error", *said["metrics"]):
                more = measures(blocks, solution, [metric])
                for key in ("metrics", "queries_counted"):
                    said[key] = said[key] | more[key]
            measured[name] = {key: value for key, value in said.items() if key != "items"}
        if "test" in judged and np.unique(data.y).size == 2:
            area = auc(judged["test"].y, scores["test"], judged["test"].qid)
    return ModelSelection(
        data, parts, candidates, best, solution, wrong, area, measured, settings, centre, factor
    )
