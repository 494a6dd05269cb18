"""Linear models as JSON, for scoring in other programs."""

import json
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from ..base.errors import ArgumentError, a_type
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
        raise ArgumentError(
            f"model has the step {type(step).__name__}{clipped}",
            ", ".join(kind.__name__ for kind in SCALERS) + " without clip",
            "Pass the ranker alone, model[-1], and transform items elsewhere.",
        )
    check_is_fitted(step)
    if isinstance(step, MinMaxScaler):
        return step.scale_, step.min_
    centred = getattr(step, "with_mean", getattr(step, "with_centering", False))
    centre = (step.mean_ if isinstance(step, StandardScaler) else step.center_) if centred else 0.0
    factor = np.ones(d) if step.scale_ is None else 1.0 / step.scale_
    return factor, -factor * centre


def fold_scaling(model):
    """Return names (or None), weights (d,) and offset of a linear model of raw features."""
    model = getattr(model, "best_estimator_", model)  # best estimator of a search
    if isinstance(model, Pipeline):
        names, weights, offset = fold_scaling(model[-1])
        for _, step in reversed(model.steps[:-1]):
            factor, shift = affine(step, weights.size)
            weights, offset = weights * factor, offset + float(weights @ shift)
        return getattr(model, "feature_names_in_", names), weights, offset
    if isinstance(model, ScaledModel):
        if model.encoding is not None:
            raise ArgumentError(
                "model encodes text or gaps of a table", "a model of numbers without gaps"
            )
        names, weights, offset = fold_scaling(model.model)
        weights = weights * model.factor
        return model.columns or names, weights, offset - float(weights @ model.centre)
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
            f"model gives {weights.shape[1]} scores for each item", "a model with one score"
        )
    return getattr(model, "feature_names_in_", None), weights, 0.0


def to_json(model: Any) -> str:
    """Export a linear ranker as JSON, for scoring in another program.

    Parameters
    ----------
    model : estimator
        A fitted ranker with ``kernel="linear"``, a search or pipeline that ends in one and whose
        other steps are StandardScaler, MinMaxScaler, MaxAbsScaler or RobustScaler, or a model of
        the command line without encoded columns.

    Returns
    -------
    str
        A JSON object with the lists "names" and "weights", which have an entry for each raw
        feature, and "offset". The score is the offset plus the sum of weights times features.
        Weights and offset include the scaling. Features without names are called x0, x1 and so on.

    Raises
    ------
    ValueError, TypeError
        If `model` is something else, or not linear in its raw features.

    Notes
    -----
    Numbers are written with enough digits to be read back exactly. The exported scores equal
    ``predict`` up to rounding, relative to the largest product of weight and feature.

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
    names, weights, offset = fold_scaling(model)
    names = [f"x{j}" for j in range(weights.size)] if names is None else [str(n) for n in names]
    found = dict(names=names, weights=weights.tolist(), offset=float(offset))
    return json.dumps(found, allow_nan=False, ensure_ascii=False)
