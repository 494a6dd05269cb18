"""Models that keep their standardization and column names."""

import numpy as np

from ..base.validation import as_positive, unknown_name
from ..data.split import scaling
from ..estimators.base import fitted_attributes, keep_fit
from ..estimators.rankrls import RankRLS
from ..estimators.ranksvm import RankSVM
from ..estimators.rayleigh import RayleighRanker, keep_solution
from ..estimators.scaled import ScaledModel

FITTED = {"ranksvm": RankSVM, "rankrls": RankRLS}


def estimator_of(method, options):
    """An estimator with the options that were given (those that are not None).

    Parameters
    ----------
    method : {"ranksvm", "rankrls"}
    options : dict

    Raises
    ------
    ValueError
        If the method is unknown, or has no such option.
    """
    if method not in FITTED:
        raise unknown_name("method", method, tuple(FITTED))
    given = {name: value for name, value in options.items() if value is not None}
    accepted = FITTED[method]().get_params()
    for name, value in given.items():
        if name not in accepted:
            raise ValueError(
                f"{name} is {value!r}, and method is {method!r}, which has no {name}; "
                "ranksvm has one."
            )
    return FITTED[method](**given)


def fit_items(items, method="ranksvm", *, preferences=None, standardize=True, about=(), **options):
    """Fit an estimator to items, and keep their scale and the names of their columns.

    Parameters
    ----------
    items : ItemTable
        With scores y, unless `preferences` are given.
    method : {"ranksvm", "rankrls"}, default "ranksvm"
    preferences : Preferences, optional
        Between the rows of `items`.
    standardize : bool, default True
        To mean 0 and deviation 1 of these items.
    about : dict, optional
        What else to keep with the model.
    **options
        Of the estimator; those that are None are left at their default.

    Returns
    -------
    ScaledModel

    Raises
    ------
    ValueError, TypeError
        As the estimator's ``fit``.
    """
    d = items.X.shape[1]
    model = estimator_of(method, options)
    centre, factor = scaling(items.X) if standardize else (np.zeros(d), np.ones(d))
    X = (items.X - centre) * factor
    if preferences is None:
        model.fit(X, items.y, items.qid)
    else:
        model.fit(X, preferences=preferences)
    return ScaledModel(model, centre, factor, items.features, dict(about))


def lam_of_c(c, n_queries):
    """The lambda at which our objective has the optimum of SVM^rank's with its C: q / C.

    Parameters
    ----------
    c : float > 0
    n_queries : int

    Returns
    -------
    float
    """
    return n_queries / as_positive("c", c)


def chosen_model(selection, about=()):
    """The model of a search as one that can be saved.

    Parameters
    ----------
    selection : ModelSelection
    about : dict, optional
        What else to keep with the model.

    Returns
    -------
    ScaledModel
        Its `about` has how lambda was chosen.
    """
    solution, problem = selection.solution, selection.solution.problem
    kernel, settings = problem.kernel, selection.settings
    options = dict(lam=solution.lam, kernel=kernel.name)
    if kernel.name in ("rbf", "poly"):
        options["gamma"] = kernel.gamma
    if kernel.name == "poly":
        options |= dict(degree=kernel.degree, coef0=kernel.coef0)
    if settings["method"] == "rayleigh":
        n_components = None if kernel.name == "linear" else problem.data.subspace.pivots.size
        model = RayleighRanker(manifold_weight=0.0, n_components=n_components, **options)
        keep_solution(model, solution, classes_=np.unique(selection.data.y))
    else:
        model = FITTED[settings["method"]](**options)
        if settings["method"] == "ranksvm":
            model.set_params(graph=settings["graph"])
        by_query = selection.data.qid is not None
        keep_fit(model, fitted_attributes(solution) | dict(by_query_=by_query))
    model.n_features_in_ = selection.centre.size
    facts = dict(settings, disagreement=selection.disagreement, data=selection.data.name)
    names = selection.data.feature_names
    return ScaledModel(model, selection.centre, selection.factor, names, facts | dict(about))
