"""Calibration at a time and risk groups of a survival model, as facts and as text."""

import numpy as np

from ..base.errors import ArgumentError
from ..base.validation import as_count
from ..estimators.survival_curves import BaselineHazard
from ..metrics.models import ranker_of
from ..metrics.risk_groups import risk_groups, survival_calibration


def require_cox_model(model, at):
    """Refuse a model, or a table of scores, whose scores are not log hazard ratios."""
    if getattr(ranker_of(model), "loss", None) != "plackett-luce":
        raise ArgumentError(
            f"at is {at:g} and MODEL is not Cox's model, so it has no probabilities of survival",
            "a model of --loss plackett-luce",
        )


def cuts_of(scores, groups):
    """Cut points (groups - 1,) of training scores that divide them into groups of equal size."""
    count = as_count("groups", groups)
    cuts = np.quantile(scores, np.arange(1, count) / count)
    if (np.diff(cuts) <= 0).any():
        raise ArgumentError(
            f"groups is {groups}, and quantiles of the scores of the training set coincide",
            "a smaller number",
        )
    return cuts


def survival_facts(target, scores, *, at=None, groups=None, train=None):
    """Calibration at a time and risk groups of scores (n,).

    Parameters
    ----------
    target : Preferences or Orders
        Survival times of n patients.
    scores : ndarray of shape (n,)
    at : float, optional
        Time of a calibration, which needs `train`.
    groups : int, optional
        Number of risk groups, and of groups of the calibration.
    train : tuple, optional
        Survival times and scores of the training set. The baseline hazard and the cut points of
        risk groups are estimated from them.

    Returns
    -------
    facts : dict
        For each asked result a dict "risk_groups" or "calibration". Undefined numbers are None.
    texts : list of str
        The results as tables.
    """
    facts, texts = {}, []
    for name, each in dict(DATA=target, train=None if train is None else train[0]).items():
        if getattr(each, "queries", None) is not None:
            raise ArgumentError(
                f"{name} has strata", "survival times of one stratum, such as those of one hospital"
            )
    if groups is not None:
        cuts = groups if train is None else cuts_of(train[1], groups)
        found = risk_groups(target, scores, cuts)
        rows = zip(found.low, found.high, found.curves, found.expected)
        facts["risk_groups"] = dict(
            cuts=None if train is None else cuts.tolist(),
            groups=[
                dict(
                    low=float(low),
                    high=float(high),
                    patients=curve.n_patients,
                    events=int(curve.events.sum()),
                    expected=float(expected),
                    median=number(curve.median),
                )
                for low, high, curve, expected in rows
            ],
            chi_squared=number(found.statistic),
            df=found.df,
            p_value=number(found.p_value),
        )
        of = "of about equal size"
        if train is not None:
            of = "between quantiles of the training scores"
        texts.append(f"risk groups {of}\n{found}")
    if at is not None:
        hazard = BaselineHazard(*train)
        if at > hazard.last_time:
            last = f"{hazard.last_time:g}, the last time of the training set"
            raise ArgumentError(f"at is {at:g}", f"a time of at most {last}")
        more = {} if groups is None else dict(groups=groups)
        found = survival_calibration(target, hazard.survival(scores, at), at, **more)
        names = ("low", "high", "predicted", "observed", "lower", "upper", "count")
        rows = zip(*(getattr(found, name).tolist() for name in names))
        facts["calibration"] = dict(
            time=found.time,
            error=found.error,
            groups=[dict(zip((*names[:-1], "patients"), map(number, row))) for row in rows],
        )
        texts.append(
            f"probability to live beyond {at:g}, mean error {found.error:.4f}\n{found}",
        )
    return facts, texts


def number(value):
    """Return a number, or None if it is not finite."""
    return value if np.isfinite(value) else None
