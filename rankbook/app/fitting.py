"""Models that keep their standardization and column names."""

from types import SimpleNamespace

import numpy as np
from sklearn.preprocessing import FunctionTransformer

from ..base.errors import ArgumentError
from ..base.limits import taken_by
from ..base.validation import as_positive, first_of, unknown_name
from ..data.blocks import Stored
from ..data.split import scaling, standardise
from ..estimators.base import fitted_attributes
from ..estimators.rankrls import RankRLS
from ..estimators.ranksvm import RankSVM
from ..estimators.rayleigh import RayleighRanker
from ..estimators.scaled import ScaledModel
from ..problems.free_features import naming_features
from ..problems.signs import as_signs
from ..problems.sparse_bounds import as_factors
from .folds import FoldSelection
from .select import feature_factors, refuse_gram

FITTED = {"ranksvm": RankSVM, "rankrls": RankRLS}


def fit_model(
    blocks,
    features,
    method="ranksvm",
    *,
    preferences=None,
    encoding=None,
    standardize=True,
    about=(),
    send=None,
    **options,
):
    """Fit an estimator to blocks, with standardization and feature names.

    Parameters
    ----------
    blocks : Blocks
        As in :func:`rankbook.read_blocks`, for a linear ranking SVM; or a single block in memory,
        with scores y unless `preferences` are given.
    features : sequence of str
        Names of the features, or of the columns before encoding.
    method : {"ranksvm", "rankrls"}, default "ranksvm"
    preferences : Preferences, optional
        Preferences between the rows of the block.
    encoding : Encoding, optional
        The encoding of the features of a block in memory, saved with the model.
    standardize : bool, default True
        Whether to scale to mean 0 and standard deviation 1; sparse items are not centred.
    about : dict, optional
        What else to keep with the model.
    send : callable, optional
        Called with the blocks after reading; the fit uses the returned blocks.
    **options
        Options of the estimator; None means the default. `signs` and `penalty_factor` may be dicts
        keyed by feature name. `start` is a fitted linear model of the same features; a ranking SVM
        of data in memory starts at its weights.

    Returns
    -------
    ScaledModel

    Raises
    ------
    ValueError, TypeError
        If the method is unknown or lacks an option, or the estimator's ``fit`` fails.
    """
    if method not in FITTED:
        raise unknown_name("method", method, tuple(FITTED))
    given = {name: value for name, value in options.items() if value is not None}
    start = given.pop("start", None)
    for name in given.keys() - FITTED[method]().get_params():
        raise ArgumentError(
            f"{name} is {given[name]!r}", f"Omit {name}, which the method {method!r} does not have."
        )
    refuse_gram(given.get("kernel"))
    names = features if encoding is None else encoding.names
    d, send = len(names), send or (lambda blocks: blocks)
    if "signs" in given:  # standardization drops the names
        given["signs"] = as_signs(given["signs"], d, names)
    if "penalty_factor" in given:
        given["penalty_factor"] = as_factors(given["penalty_factor"], d, names)
    model = FITTED[method](**given)
    centre, factor = np.zeros(d), np.ones(d)
    if isinstance(blocks.items.values[0], Stored):
        scaler = FunctionTransformer()  # without names; the ScaledModel checks them
        if standardize:
            centre, factor = scaling(send(blocks))
            scaler.set_params(func=standardise, kw_args=dict(centre=centre, factor=factor))
        model.fit(send(blocks.transform(scaler)))
    else:
        (block,) = blocks.items.values
        X = taken_by(model, block.X).astype(np.float64, copy=False)
        centre, factor = scaling(X) if standardize else (centre, factor)
        data = dict(y=block.y, qid=block.qid)
        data = data if preferences is None else dict(preferences=preferences)
        if start is not None:
            data["start"] = SimpleNamespace(coef_=start_weights(start, names, factor))
        with naming_features(names):
            model.fit(standardise(X, centre, factor), **data)
    return ScaledModel(model, centre, factor, features, dict(about), encoding)


def start_weights(start, names, factor):
    """Return the weights (d,) of a fitted model for features that are multiplied by `factor`.

    Features are matched by name. A feature of factor 0, a constant, has weight 0.
    """
    encoding, inner = getattr(start, "encoding", None), getattr(start, "model", start)
    known = getattr(start, "columns", getattr(start, "feature_names_in_", None))
    known = known if encoding is None else encoding.names
    weights = getattr(inner, "coef_", None)
    if weights is None:
        raise ArgumentError("start is a model without feature weights", "a linear model")
    quoted = lambda names: first_of([repr(str(name)) for name in names])
    if known is None:
        raise ArgumentError(
            "start has no feature names", f"a model with the features {quoted(names)}"
        )
    place = {name: j for j, name in enumerate(known)}
    if set(names) != place.keys():
        raise ArgumentError(
            f"start has the features {quoted(known)}", f"a model with the features {quoted(names)}"
        )
    weights = (weights * getattr(start, "factor", 1.0))[[place[name] for name in names]]
    return np.divide(weights, factor, out=np.zeros(len(names)), where=factor > 0)


def lam_of_c(c, n_queries):
    """Convert C of SVM^rank to the equivalent lambda, q / C.

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
    """Convert the model of a search to a model that can be saved.

    Parameters
    ----------
    selection : ModelSelection or FoldSelection
    about : dict, optional
        What else to keep with the model.

    Returns
    -------
    ScaledModel
        Its `about` contains the facts of the choice of lambda.
    """
    facts = dict(selection.settings, disagreement=selection.disagreement, data=selection.data.name)
    encoding, names = selection.data.encoding, selection.data.feature_names
    names = names if encoding is None else encoding.columns
    parts = selection.centre, selection.factor, names, facts | dict(about), encoding
    if isinstance(selection, FoldSelection):
        return ScaledModel(selection.model, *parts)
    solution, problem = selection.solution, selection.solution.problem
    kernel, settings = problem.kernel, selection.settings
    options = dict(lam=solution.lam, kernel=kernel.name)
    options |= {name: getattr(kernel, name) for name in kernel.PARAMETERS.get(kernel.name, ())}
    if settings["method"] == "rayleigh":
        n_components = None if kernel.name == "linear" else problem.data.subspace.pivots.size
        model = RayleighRanker(manifold_weight=0.0, n_components=n_components, **options)
        model._keep_solution(solution, classes_=np.unique(selection.data.y))
    else:
        model = FITTED[settings["method"]](**options)
        if settings["method"] == "ranksvm":
            model.set_params(graph=settings["graph"], loss=settings["loss"] or "hinge")
            factors = feature_factors(selection.data, settings["penalty_factor"])
            given = dict(penalty=settings["penalty"], l1_ratio=settings["l1_ratio"])
            given |= dict(penalty_factor=factors)
            model.set_params(**{name: each for name, each in given.items() if each is not None})
        by_query = selection.data.qid is not None
        model._keep_fit(fitted_attributes(solution) | dict(by_query_=by_query))
    model.n_features_in_ = selection.centre.size
    return ScaledModel(model, *parts)
