"""Models that keep their standardization and column names."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.validation import as_positive, unknown_name
from ..data.blocks import Block, Blocks, Stored
from ..data.split import scaling
from ..estimators.base import fitted_attributes
from ..estimators.rankrls import RankRLS
from ..estimators.ranksvm import RankSVM
from ..estimators.rayleigh import RayleighRanker
from ..estimators.scaled import ScaledModel
from ..problems.ranksvm_blocks import BlockRankSVMProblem
from ..registry.solve import solve

FITTED = {"ranksvm": RankSVM, "rankrls": RankRLS}


def fit_items(
    block, features, method="ranksvm", *, preferences=None, standardize=True, about=(), **options
):
    """Fit an estimator to a block, and keep its scale and the names of its features.

    Parameters
    ----------
    block : Block
        With scores y, unless `preferences` are given.
    features : sequence of str
    method : {"ranksvm", "rankrls"}, default "ranksvm"
    preferences : Preferences, optional
        Between the rows of the block.
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
        If the method is unknown, or has no such option, or as the estimator's ``fit``.
    """
    if method not in FITTED:
        raise unknown_name("method", method, tuple(FITTED))
    given = {name: value for name, value in options.items() if value is not None}
    for name in given.keys() - FITTED[method]().get_params():
        raise ValueError(
            f"{name} is {given[name]!r}, and method is {method!r}, which has no {name}; "
            "ranksvm has one."
        )
    model, X, d = FITTED[method](**given), np.asarray(block.X, dtype=np.float64), len(features)
    centre, factor = scaling(X) if standardize else (np.zeros(d), np.ones(d))
    X = (X - centre) * factor
    if preferences is None:
        model.fit(X, block.y, block.qid)
    else:
        model.fit(X, preferences=preferences)
    return ScaledModel(model, centre, factor, features, dict(about))


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
    options |= {name: getattr(kernel, name) for name in kernel.PARAMETERS.get(kernel.name, ())}
    if settings["method"] == "rayleigh":
        n_components = None if kernel.name == "linear" else problem.data.subspace.pivots.size
        model = RayleighRanker(manifold_weight=0.0, n_components=n_components, **options)
        model._keep_solution(solution, classes_=np.unique(selection.data.y))
    else:
        model = FITTED[settings["method"]](**options)
        if settings["method"] == "ranksvm":
            model.set_params(graph=settings["graph"])
        by_query = selection.data.qid is not None
        model._keep_fit(fitted_attributes(solution) | dict(by_query_=by_query))
    model.n_features_in_ = selection.centre.size
    facts = dict(settings, disagreement=selection.disagreement, data=selection.data.name)
    names = selection.data.feature_names
    return ScaledModel(model, selection.centre, selection.factor, names, facts | dict(about))


@dataclass(frozen=True)
class ScaledReader:
    """What reads a block with its features scaled."""

    read: Any
    centre: np.ndarray
    factor: np.ndarray

    def __call__(self):
        """The block, of float64."""
        block = self.read()
        Z = block.X - self.centre
        Z *= self.factor
        return Block(Z, block.y, block.qid, block.weight, block.name, block.first, copy=False)


def fit_blocks(
    blocks, columns, *, lam=1.0, loss="hinge", standardize=True, about=(), progress=False, send=None
):
    """Fit a linear ranking SVM to blocks that are read, and keep their scale and columns.

    Parameters
    ----------
    blocks : Blocks
        As of :func:`rankbook.read_blocks`.
    columns : sequence of str
        Names of the features.
    lam : float > 0, default 1.0
    loss : {"hinge", "squared"}, default "hinge"
    standardize : bool, default True
        To mean 0 and deviation 1 of these items.
    about : dict, optional
        What else to keep with the model.
    progress : bool, default False
    send : callable, optional
        Of blocks; what it returns is worked with in their place.

    Returns
    -------
    model : ScaledModel
    facts : BlockFacts

    Raises
    ------
    ValueError, TypeError
        As :class:`rankbook.BlockRankSVMProblem`.
    """
    d, send = len(columns), send or (lambda blocks: blocks)
    centre, factor = np.zeros(d), np.ones(d)
    if standardize:
        centre, factor = scaling(send(blocks))
        readers = (ScaledReader(each.read, centre, factor) for each in blocks.items.values)
        blocks = Blocks(map(Stored, readers))
    problem = BlockRankSVMProblem(send(blocks), loss=loss)
    model = RankSVM(lam=lam, kernel="linear", loss=loss, solver="newton")
    solution = solve(problem, lam, solver="newton", progress=progress)
    model._keep_fit(fitted_attributes(solution) | dict(by_query_=problem.facts.has_ids))
    model.n_features_in_ = d
    return ScaledModel(model, centre, factor, columns, dict(about)), problem.facts
