"""Linear models as JSON, for scoring in other programs and search engines."""

import json
from typing import Any, Literal

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from ..base.errors import ArgumentError, a_type
from ..base.validation import as_choice, describe_value
from .base import Ranker
from .online import OnlineRankSVM
from .scaled import ScaledModel

SCALERS = StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler


def affine(step, d):
    """Return factors and shifts (d,) of a fitted scaler: x becomes factor * x + shift."""
    if isinstance(step, str | None):  # "passthrough"
        return np.ones(d), np.zeros(d)
    if not isinstance(step, SCALERS) or getattr(step, "clip", False):
        clipped = " with clip=True" if isinstance(step, SCALERS) else ""
        names = [kind.__name__ for kind in SCALERS]
        raise ArgumentError(
            f"model has the step {type(step).__name__}{clipped}",
            f"a pipeline whose other steps are {', '.join(names[:-1])} or {names[-1]} without "
            "clip, or the ranker alone, its last step",
        )
    check_is_fitted(step)
    if isinstance(step, MinMaxScaler):
        return step.scale_, step.min_
    centred = getattr(step, "with_mean", getattr(step, "with_centering", False))
    centre = (step.mean_ if isinstance(step, StandardScaler) else step.center_) if centred else 0.0
    factor = np.ones(d) if step.scale_ is None else 1.0 / step.scale_
    return factor, -factor * centre


def linear_part(model):
    """Return names (or None), weights, factors and shifts (d,) of a linear model's raw features.

    The score is the sum of weight * (factor * feature + shift).
    """
    model = getattr(model, "best_estimator_", model)  # best estimator of a search
    if isinstance(model, Pipeline):
        names, weights, factor, shift = linear_part(model[-1])
        for _, step in reversed(model.steps[:-1]):
            of_step, moved = affine(step, weights.size)
            factor, shift = factor * of_step, factor * moved + shift
        return getattr(model, "feature_names_in_", names), weights, factor, shift
    if isinstance(model, ScaledModel):
        if model.encoding is not None:
            raise ArgumentError(
                "model encodes text or gaps of a table",
                "a model that was fitted to numbers without gaps",
            )
        names, weights, factor, shift = linear_part(model.model)
        factor, shift = factor * model.factor, shift - factor * model.factor * model.centre
        return model.columns or names, weights, factor, shift
    if not isinstance(model, Ranker | OnlineRankSVM):
        raise ArgumentError(
            f"model is {a_type(model)}",
            "a linear ranker, or a pipeline or search that ends in one",
        )
    check_is_fitted(model)
    weights = vars(model).get("coef_")
    if weights is None or "nystroem_map_" in vars(model):
        raise ArgumentError("model is not linear in its features", "a model with kernel='linear'")
    if weights.ndim > 1:
        raise ArgumentError(
            f"model gives {weights.shape[1]} scores for each item",
            "a model with one score for each item",
        )
    ones, zeros = np.ones(weights.size), np.zeros(weights.size)
    return getattr(model, "feature_names_in_", None), weights, ones, zeros


def plain(name, names, weights, factor, shift):
    """Weights of raw features, with the scaling inside."""
    return dict(names=names, weights=(weights * factor).tolist(), offset=float(weights @ shift))


def normalised(weights, factor, shift):
    """Convert a scaling to the form (x - average) / deviation: weights, averages and deviations.

    All arrays have shape (d,). A feature with factor 0 is constant and gets the weight 0.
    """
    sign, size = np.sign(factor), np.where(factor == 0, 1.0, np.abs(factor))
    return weights * sign, -shift * sign / size, 1 / size


def solr(name, names, weights, factor, shift):
    """A LinearModel of Solr's learning to rank."""
    weights, centre, spread = normalised(weights, factor, shift)
    kind, features = "org.apache.solr.ltr.norm.StandardNormalizer", []
    for each, c, s in zip(names, centre.tolist(), spread.tolist()):
        norm = dict(norm={"class": kind, "params": dict(avg=repr(c), std=repr(s))})
        features.append(dict(name=each) | (norm if (c, s) != (0, 1) else {}))
    return {
        "class": "org.apache.solr.ltr.model.LinearModel",
        "name": name,
        "features": features,
        "params": dict(weights=dict(zip(names, weights.tolist()))),
    }


def elasticsearch(name, names, weights, factor, shift):
    """A linear model of Elasticsearch's or OpenSearch's plugin for learning to rank."""
    weights, centre, spread = normalised(weights, factor, shift)
    definition = json.dumps(dict(zip(names, weights.tolist())), allow_nan=False)
    model = {"type": "model/linear", "definition": definition}
    norms = {
        each: dict(standard=dict(mean=c, standard_deviation=s))
        for each, c, s in zip(names, centre.tolist(), spread.tolist())
        if (c, s) != (0, 1)
    }
    model |= dict(feature_normalizers=norms) if norms else {}
    return dict(model=dict(name=name, model=model))


FORMATS = dict(plain=plain, elasticsearch=elasticsearch, solr=solr)


def to_json(
    model: Any,
    format: Literal["plain", "elasticsearch", "solr"] = "plain",
    name: str = "rankbook",
) -> str:
    """Export a linear ranker as JSON, for scoring in another program or a search engine.

    Parameters
    ----------
    model : estimator
        A fitted ranker with ``kernel="linear"``, a search or pipeline that ends in one and whose
        other steps are StandardScaler, MinMaxScaler, MaxAbsScaler or RobustScaler, or a model of
        the command line without encoded columns.
    format : {"plain", "elasticsearch", "solr"}, default "plain"
        "elasticsearch" is the body of the request that creates a model from a set of features, in
        the plugin for learning to rank of Elasticsearch or OpenSearch; "solr" is a file for Solr's
        model store.
    name : str, default "rankbook"
        Name of the model in a search engine.

    Returns
    -------
    str
        For "plain", a JSON object with the lists "names" and "weights", which have an entry for
        each raw feature, and "offset". The score is the offset plus the sum of weights times
        features. Weights and offset include the scaling. For a search engine, the scaling becomes
        normalizers. The features of the engine must have the names of the model's features.
        Features of a model that was fitted to an array have no names and are called x0, x1 and so
        on by column. Fit a data frame to give them names.

    Raises
    ------
    ValueError, TypeError
        If `model` is of another kind, or not linear in its raw features.

    Notes
    -----
    Numbers are written with enough digits to be read back exactly. The exported scores equal
    ``predict`` up to rounding, relative to the largest product of weight and feature. Search
    engines compute in single precision.

    Examples
    --------
    >>> import json
    >>> import rankbook as rb
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> model = make_pipeline(MinMaxScaler(), rb.RankSVM(lam=0.5, kernel="linear"))
    >>> text = rb.to_json(model.fit([[0.0, 9.0], [2.0, 5.0], [4.0, 9.0]], [0, 1, 2]))
    >>> sorted(json.loads(text))
    ['names', 'offset', 'weights']
    """
    make = FORMATS[as_choice("format", format, FORMATS)]
    if not (isinstance(name, str) and name):
        raise ArgumentError(f"name is {describe_value(name)}", "the name of the model")
    names, *linear = linear_part(model)
    names = [f"x{j}" for j in range(linear[0].size)] if names is None else [str(n) for n in names]
    if format != "plain" and len(set(names)) < len(names):
        raise ArgumentError(
            "model has two features of the same name", "a model whose feature names are distinct"
        )
    return json.dumps(make(name, names, *linear), allow_nan=False, ensure_ascii=False)
