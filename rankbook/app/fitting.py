"""Models that keep their standardization and column names."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..base.validation import as_positive, unknown_name
from ..data.blocks import Block, Blocks, Stored
from ..data.split import scaling
from ..estimators.base import fitted_attributes, keep_fit
from ..estimators.rankrls import RankRLS
from ..estimators.ranksvm import RankSVM
from ..estimators.rayleigh import RayleighRanker, keep_solution
from ..estimators.scaled import ScaledModel
from ..metrics.queries import RULES, block_scores, metric_sums, named, quotients
from ..problems.ranksvm_blocks import BlockRankSVMProblem
from ..registry.solve import solve
from .measures import MOST_LEVELS, USUAL, measures_by_query

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


def extent(block):
    """The number of items, and sum, minimum and maximum (d,) of their features."""
    X = block.X
    return len(X), X.sum(axis=0, dtype=np.float64), X.min(axis=0), X.max(axis=0)


def joined(first, second):
    """The extent of both."""
    (n, total, low, high), (m, more, lower, higher) = first, second
    return n + m, total + more, np.minimum(low, lower), np.maximum(high, higher)


def squares(block, centre):
    """The sum (d,) of the squared deviations of a block's features."""
    Z = block.X - centre
    return np.einsum("ij,ij->j", Z, Z)


def scaling_of(blocks):
    """What standardises the items of blocks: centre and factor (d,), 0 for a constant feature.

    Two passes. A ValueError if a column is too extreme for a variance.
    """
    n, total, low, high = blocks.reduce(extent, blocks.items, combine=joined)
    centre = total / n
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = np.sqrt(blocks.reduce(squares, blocks.items, centre) / n)
    constant = low == high
    for j in np.flatnonzero(~np.isfinite(deviation) | ~constant & (deviation == 0)):
        raise ValueError(
            f"column {j} of the features has entries between {low[j]:.3g} and {high[j]:.3g}, "
            "too extreme to compute their variance; rescale the column."
        )
    return centre, np.divide(1.0, deviation, out=np.zeros_like(deviation), where=~constant)


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


def scaled_blocks(blocks, centre, factor):
    """Blocks that are read and scaled."""
    readers = (ScaledReader(stored.read, centre, factor) for stored in blocks.items.values)
    return Blocks(map(Stored, readers))


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
        centre, factor = scaling_of(send(blocks))
        blocks = scaled_blocks(blocks, centre, factor)
    problem = BlockRankSVMProblem(send(blocks), loss=loss)
    model = RankSVM(lam=lam, kernel="linear", loss=loss, solver="newton")
    solution = solve(problem, lam, solver="newton", progress=progress)
    keep_fit(model, fitted_attributes(solution) | dict(by_query_=problem.facts.has_ids))
    model.n_features_in_ = d
    return ScaledModel(model, centre, factor, columns, dict(about)), problem.facts


@dataclass(frozen=True)
class BlockMeasures:
    """What a block says of measures.

    Attributes
    ----------
    n_items, n_queries : int
    sums : tuple
        For each measure its sum and number, or a ValueError that says why there is none.
    levels : frozenset
        Of the scores.
    pairs : dict
        From levels (better, worse) to sum and number of their AUC.
    """

    n_items: int
    n_queries: int
    sums: tuple
    levels: frozenset
    pairs: dict


def measured(block, model, names):
    """The :class:`BlockMeasures` of a block for the scores of a model."""
    y, scores, qid = block.y, block_scores(block, model), block.qid
    levels, pairs = sorted(set(np.unique(y).tolist()), reverse=True), {}
    for better, worse in combinations(levels, 2) if len(levels) <= MOST_LEVELS else ():
        here = (y == better) | (y == worse)
        some = y[here], scores[here], None if qid is None else qid[here]
        pairs[better, worse] = metric_sums("auc", *some)
    sums = []
    for name in names:
        try:
            sums.append(metric_sums(name, y, scores, qid))
        except ValueError as error:  # grades that it does not take
            sums.append(error)
    n_queries = 1 if qid is None else np.unique(qid).size
    return BlockMeasures(len(y), n_queries, tuple(sums), frozenset(levels), pairs)


def together(first, second):
    """The :class:`BlockMeasures` of both."""
    add = lambda a, b: (a[0] + b[0], a[1] + b[1])
    sums = tuple(
        next((each for each in pair if isinstance(each, ValueError)), None) or add(*pair)
        for pair in zip(first.sums, second.sums)
    )
    keys = first.pairs | second.pairs
    pairs = {k: add(first.pairs.get(k, (0, 0)), second.pairs.get(k, (0, 0))) for k in keys}
    sizes = first.n_items + second.n_items, first.n_queries + second.n_queries
    return BlockMeasures(*sizes, sums, first.levels | second.levels, pairs)


def measures_of_blocks(blocks, model, metrics=None):
    """Measures of a model on blocks, as :func:`rankbook.app.measures.measures` of all items.

    Returns
    -------
    dict
        items and queries, their numbers; metrics, a dict from names to numbers; queries_counted,
        over how many queries each is a mean; level_auc, a list of dict, as of
        :func:`rankbook.app.measures.level_aucs`.
    """
    names = USUAL if metrics is None else tuple(metrics)
    for name in names:
        named(name)  # a wrong one before any work
    sums = blocks.reduce(measured, blocks.items, model, names, combine=together)
    found = {}
    for name, each in zip(names, sums.sums):
        try:
            if isinstance(each, ValueError):
                raise each
            (found[name],) = quotients((each,), ((name, ()),))
        except ValueError:
            if metrics is not None or not found:  # without a disagreement there is no order
                raise
    levels = sorted(sums.levels, reverse=True)
    several = 2 < len(levels) <= MOST_LEVELS
    if len(levels) > 2 and metrics is None:  # as for all items in one place
        found.pop("auc", None)
    rows = []
    for better, worse in combinations(levels, 2) if several else ():
        total, number = sums.pairs.get((better, worse), (0.0, 0.0))
        rows.append(dict(better=better, worse=worse, auc=total / number if number else None))
    counted = {
        name: int(each[1])
        for name, each in zip(names, sums.sums)
        if name in found and not RULES[named(name)[0]].pooled
    }
    sizes = dict(items=sums.n_items, queries=sums.n_queries)
    return sizes | dict(metrics=found, queries_counted=counted, level_auc=rows)


def query_values(block, model, names):
    """Ids (q,) of a block's queries, and the values (q, metrics)."""
    ids, values = measures_by_query(block.y, block_scores(block, model), block.qid, names)
    return ids, np.stack([values[name] for name in names], axis=1)


def measures_of_queries(blocks, model, names):
    """Ids of all queries (q,), sorted, and a dict from names of metrics to values (q,)."""
    for name in names:
        named(name)
    ids, values = blocks.reduce(
        query_values,
        blocks.items,
        model,
        names,
        combine=lambda first, second: tuple(map(np.concatenate, zip(first, second))),
    )
    order = np.argsort(ids, kind="stable")
    return ids[order], {name: values[order, j] for j, name in enumerate(names)}
