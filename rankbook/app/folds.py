"""Choosing lambda for preferences by folds of items, pairs or groups."""

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from ..base.errors import ArgumentError
from ..base.tables import count
from ..base.validation import as_choice
from ..data.split import prepare
from ..estimators.rankrls import RankRLSCV
from ..estimators.ranksvm import RankSVMCV
from ..kernels.kernel import Kernel
from ..metrics.pairs import disagreement
from ..problems.rankrls import RankRLSProblem
from ..registry.solve import solve_path
from ..selection.curve import VALUE_TOL
from ..selection.folds import BY, pair_folds
from ..selection.leave_preference_out import preference_values
from ..selection.search import (
    align_curves,
    choose_from_curves,
    choose_from_table,
    value_by_other_folds,
)
from .select import certified, check_method, feature_factors, kernels_to_try, used_features

FOLDS = 5


@dataclass(frozen=True)
class FoldSelection:
    """A model whose lambda was chosen by folds of preferences, and the facts of the choice.

    Attributes
    ----------
    data : PreferredItems
    model : RankSVMCV or RankRLSCV
        Fitted to all training preferences, at the chosen lambda.
    sizes : list of dict
        For each fold, the numbers of "train" and "validation" preferences.
    disagreement : dict
        "held_out", the smallest mean over folds; "by_others"; see :func:`chosen_by_others`; and
        "test", the disagreement on the test preferences, or None.
    settings : dict
    seconds : float
    centre, factor : ndarrays of shape (d,)
        Standardization of the items.
    """

    data: object
    model: object
    sizes: list
    disagreement: dict
    settings: dict
    seconds: float
    centre: np.ndarray
    factor: np.ndarray

    @property
    def best(self):
        """Intervals (low, high) of lambda with the smallest mean; on a grid, single points."""
        if isinstance(self.model, RankSVMCV):
            return self.model.best_
        values, lams = self.model.cv_values_, np.sort(self.model.lams_)
        values = values[np.argsort(self.model.lams_), self.model.gammas_.index(self.model.gamma_)]
        good = np.flatnonzero(values <= values.min() + VALUE_TOL)
        runs = np.split(good, np.flatnonzero(np.diff(good) > 1) + 1)
        return [(float(lams[run[0]]), float(lams[run[-1]])) for run in runs[::-1]]

    @property
    def notes(self):
        """Caveats about the result, a list of str."""
        model, notes = self.model, []
        if self.disagreement["held_out"] >= 0.5:
            notes.append(
                "No lambda orders the left-out pairs better than chance (0.5); "
                "another kernel or other features may."
            )
        if not model.certificate_.is_optimal(1e-6):
            notes.append(f"The chosen solution is not optimal to 1e-6: {model.certificate_}.")
        dropped, number = model.n_dropped_, len(self.data.prefs["train"])
        if 2 * dropped > number and not self.data.is_survival:
            whole = self.data.prefs["train"].unit == "order"
            other = (
                "--fold-by order validates" if whole else "--fold-by pair, or --group, validates"
            )
            notes.append(
                f"{dropped} of {number} preferences are validated in no fold, because their items "
                f"are in different folds; {other} all."
            )
        if (by := self.settings["fold_by"]) in ("pair", "order"):
            notes.append(
                "The two parts of a fold share items, so the held-out disagreement holds for new "
                f"{by}s of known items; folds by item say how new items are ordered."
            )
        return notes

    def summary(self):
        """Return all facts as a dict of plain Python values, ready for JSON.

        The upper end of an interval of lambda is None where it is infinite.
        """
        model, settings, data = self.model, self.settings, self.data
        kernel = model.solution_.problem.kernel
        numbers = {name: getattr(kernel, name) for name in Kernel.PARAMETERS.get(kernel.name, ())}
        if "gamma" in numbers:
            numbers["gamma"] = numbers["gamma"] or 1.0 / data.X.shape[1]
        has_paths = isinstance(model, RankSVMCV)
        if has_paths:
            minima = [float(each.minimum) for each in model.gamma_curves_]
        else:
            minima = model.cv_values_.min(axis=0).tolist()
        m = len(data.prefs["train"])
        concordance = None
        if data.is_survival:
            concordance = {k: None if v is None else 1 - v for k, v in self.disagreement.items()}
        return dict(
            data=dict(
                name=data.name,
                items=data.X.shape[0],
                events=data.events,
                features=data.X.shape[1],
            ),
            preferences={name: len(prefs) for name, prefs in data.prefs.items()},
            folds=dict(
                by=settings["fold_by"],
                groups=settings["groups"],
                seed=settings["seed"],
                number=len(self.sizes),
                left_out=[m - each["train"] for each in self.sizes],
                validated=[each["validation"] for each in self.sizes],
                dropped=int(model.n_dropped_),
            ),
            standardized=settings["standardize"],
            method=settings["method"],
            loss=settings["loss"],
            penalty=settings["penalty"],
            kernel=dict(name=kernel.name) | numbers,
            candidates=[dict(gamma=g, minimum=v) for g, v in zip(model.gammas_, minima)],
            curve=dict(
                minimum=float(model.curve_.minimum) if has_paths else float(model.best_value_),
                best=[[low, high if np.isfinite(high) else None] for low, high in self.best],
                exact=model.curve_.exact,
                intervals=int(model.curve_.values.size) if has_paths else None,
                status=list(model.fold_status_) if has_paths else None,
            ),
            chosen=dict(
                lam=float(model.lam_),
                rule=settings["rule"] if has_paths else None,
                standard_error=float(model.standard_error_) if has_paths else None,
                gamma=numbers.get("gamma"),
                features=used_features(model.solution_),
            ),
            disagreement=self.disagreement,
            concordance=concordance,
            certificate=certified(model.certificate_),
            solver=model.solver_,
            seconds=dict(all=self.seconds),
            notes=self.notes,
        )

    def figure(self):
        """Draw the mean validation curve, without pyplot."""
        from matplotlib.figure import Figure

        from rankbook.plots.axes import lambda_axis
        from rankbook.plots.curve import plot_validation_curve

        figure = Figure(figsize=(6, 3.2), layout="constrained")
        ax, model = figure.add_subplot(), self.model
        if isinstance(model, RankSVMCV):
            plot_validation_curve(model.curve_, ax, model.lam_)
        else:
            column = model.gammas_.index(model.gamma_)
            ax.plot(model.lams_, model.cv_values_[:, column], "o-", ms=3)
            ax.plot(model.lam_, model.best_value_, "o", color="C1")
            ax.set_xscale("log")
            lambda_axis(ax, "disagreement")
        name = f"{self.data.name}: {count(len(self.data.prefs['train']), 'preference')}, "
        figure.suptitle(
            f"{name}{len(self.sizes)} folds by {self.settings['fold_by']}", fontsize="small"
        )
        return figure


def chosen_by_others(model, X, prefs, folds):
    """Return the mean disagreement of folds, each at the lambda that the others choose.

    A fold does not take part in the choice that it evaluates, so the mean has little optimism. For
    "ranksvm" no model is trained again, and the others choose lambda at the chosen gamma; for
    "rankrls" they choose gamma, too.

    Parameters
    ----------
    model : RankSVMCV or RankRLSCV
        Fitted to items X (n, d) and `prefs`.
    X, prefs
    folds : list of Fold
        Folds of the fit, at least three.

    Returns
    -------
    float
    """
    if isinstance(model, RankSVMCV):
        breaks, values = align_curves(model.fold_curves_)
        curves = [replace(model.curve_, breaks=breaks, values=each) for each in values]
        choose = lambda rest: choose_from_curves([rest], [None], model.rule).lam
        return value_by_other_folds(curves, choose, lambda curve, lam: curve.at(lam))

    def values_of(fold, gamma):
        kernel = Kernel(model.kernel, gamma, model.degree, model.coef0)
        follow = lambda some: solve_path(RankRLSProblem(X, graph=some, kernel=kernel), solver="rls")
        return preference_values(follow, prefs, [fold], model.lams_)[0]

    tables = [np.stack([values_of(fold, g) for g in model.gammas_], axis=1) for fold in folds]
    choose = lambda rest: choose_from_table(np.mean(rest, axis=0), model.lams_, model.gammas_)
    return value_by_other_folds(tables, choose, lambda table, at: table[at])


def compared_groups(groups, prefs):
    """Return the groups (n,) of items for folds, and the number of groups without preferences.

    Items of a group whose items occur in no preference of positive weight join the first other
    group. They change no fold's preferences, and each fold then has groups to validate.

    Parameters
    ----------
    groups : ndarray of shape (n,)
    prefs : Preferences or Orders
    """
    if prefs.unit == "order":
        items = prefs.item[prefs.choice_weight > 0]
    else:
        used = prefs.weight > 0
        items = np.concatenate([prefs.better[used], prefs.worse[used]])
    ids, number = np.unique(groups, return_inverse=True)
    known = np.zeros(ids.size, dtype=bool)
    known[number[items]] = True
    found = np.where(known[number], groups, ids[known.argmax()])
    return found, int(np.count_nonzero(~known))


def select_by_folds(  # noqa: PLR0913 -- an option of the command each
    data,
    *,
    fold_by="item",
    groups=None,
    method="ranksvm",
    kernel="rbf",
    gamma=None,
    degree=None,
    coef0=None,
    loss=None,
    penalty=None,
    l1_ratio=None,
    penalty_factor=None,
    rule="widest",
    standardize=True,
    seed=0,
    solver="auto",
    progress=False,
):
    """Choose the lambda with the smallest mean disagreement over five folds.

    Parameters
    ----------
    data : PreferredItems
        With preferences "train", which are used in the folds and in the final fit, and optionally
        "test", on which the final fit is evaluated.
    fold_by : {"item", "query", "pair", "group", "order"}, default "item"
        As in :class:`rankbook.RankSVMCV`; "query" if the groups of items are queries.
    groups : array-like of shape (n,) or (m,), optional
        As in :meth:`rankbook.RankSVMCV.fit`, for items or for the training preferences. With fewer
        than five groups, each group is a fold.
    method : {"ranksvm", "rankrls"}, default "ranksvm"
        Uses :class:`rankbook.RankSVMCV` or :class:`rankbook.RankRLSCV`.
    kernel, gamma, degree, coef0, loss, penalty, l1_ratio, penalty_factor, rule, standardize, solver
        As in :func:`rankbook.app.select.select_model`. Rule and solver apply to "ranksvm" only.
        Items are standardized by all items in training preferences.
    seed : int, default 0
        Shuffles the folds.
    progress : bool, default False

    Returns
    -------
    FoldSelection

    Raises
    ------
    ValueError, TypeError
        For a wrong argument, before any computation, or if a fold would have no preference.
    """
    start = perf_counter()
    as_choice("fold_by", fold_by, (*BY, "query"))
    by = "group" if fold_by == "query" else fold_by
    check_method(method, data, "full", loss, penalty)
    options = kernels_to_try(kernel, gamma, degree, coef0)[0] | dict(gamma=gamma)
    parts, _, centre, factor = prepare(data, standardize=standardize, sparse=kernel == "linear")
    rows, X, _, _, prefs = parts["train"]
    groups = groups[rows] if data.is_survival and groups is not None else groups
    ids = None if groups is None else np.unique(groups)
    cv = FOLDS if ids is None else min(FOLDS, max(2, ids.size))
    folds, _ = pair_folds(cv, X, prefs, by, groups, seed)
    sizes = [dict(train=len(fold.prefs), validation=len(fold.target)) for fold in folds]
    options |= dict(cv=cv, fold_by=by, random_state=seed)
    if method == "ranksvm":
        how = dict(loss=loss or "hinge", rule=rule, solver=solver, progress=progress)
        how |= dict(penalty=penalty or "l2", penalty_factor=feature_factors(data, penalty_factor))
        how |= {} if l1_ratio is None else dict(l1_ratio=l1_ratio)
        model = RankSVMCV(**options, **how)
    else:
        for name, value, accepted in (("rule", rule, "widest"), ("solver", solver, "auto")):
            if value != accepted:
                raise ArgumentError(
                    f"{name} is {value!r}", f"{accepted!r} for rankrls, whose folds try a grid"
                )
        model = RankRLSCV(**options)
    model.fit(X, preferences=prefs, groups=groups)
    if method == "ranksvm":
        model.set_params(progress=False)  # saved models show no progress
        held_out = float(model.curve_.at(model.lam_))
    else:
        held_out = model.best_value_
    others = chosen_by_others(model, X, prefs, folds) if len(folds) > 2 else None
    wrong = dict(held_out=held_out, by_others=others, test=None)
    if "test" in data.prefs:
        test = parts["test"]
        wrong["test"] = float(disagreement(test.prefs, model.predict(test.X)))
    settings = dict(method=method, fold_by=fold_by, groups=None if ids is None else len(ids))
    settings |= dict(penalty=penalty, loss=loss, seed=seed, standardize=standardize, rule=rule)
    seconds = perf_counter() - start
    return FoldSelection(data, model, sizes, wrong, settings, seconds, centre, factor)
