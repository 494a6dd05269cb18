"""Calibration at a time and risk groups of a survival model, as facts and as text."""

from dataclasses import dataclass

import numpy as np

from ..base.errors import ArgumentError, Assumption
from ..base.limits import warn
from ..base.validation import as_count
from ..estimators.survival_curves import BaselineHazard
from ..metrics.models import ranker_of
from ..metrics.risk_groups import (
    RiskGroups,
    SurvivalCalibration,
    risk_groups,
    survival_calibration,
)


def require_cox_model(model, at):
    """Refuse a model, or a table of scores, whose scores are not log hazard ratios.

    A model that does not know its target, because Python saved it, counts as Cox's model. This
    emits an Assumption.
    """
    said, about = None, getattr(model, "about", {})
    if getattr(ranker_of(model), "loss", None) != "plackett-luce":
        said = "is not Cox's model"
    elif "time" in about and about["time"] is None:
        said = "was fitted to orders, not to survival times"
    if said is not None:
        raise ArgumentError(
            f"at is {at:g} and MODEL {said}, so it has no probabilities of survival",
            "a model fitted with --time, --event and --loss plackett-luce",
        )
    if "time" not in about:
        warn(
            Assumption(
                "at: MODEL does not say what it was fitted to and counts as Cox's model of "
                "survival times. The probabilities of a model of orders have no meaning."
            )
        )


def cuts_of(scores, groups):
    """Cut points (groups - 1,) of training scores that divide them into groups of equal size."""
    count = as_count("groups", groups)
    cuts = np.quantile(scores, np.arange(1, count) / count)
    if (np.diff(cuts) <= 0).any():
        raise ArgumentError(
            f"groups is {groups}, but quantiles of the training scores coincide",
            "a smaller number",
        )
    return cuts


@dataclass(frozen=True)
class SurvivalResult:
    """A result of :func:`survival_results`.

    Attributes
    ----------
    title : str
        What the table contains.
    found : RiskGroups or SurvivalCalibration
    cuts : ndarray or None
        Cut points of risk groups that come from the training set.
    """

    title: str
    found: RiskGroups | SurvivalCalibration
    cuts: np.ndarray | None = None

    @property
    def key(self):
        """Name of the result among the facts."""
        return "risk_groups" if isinstance(self.found, RiskGroups) else "calibration"

    def __str__(self):
        return f"{self.title}\n{self.found}"

    @property
    def facts(self):
        """The numbers as a dict; undefined ones are None."""
        found = self.found
        if self.key == "calibration":
            names = ("low", "high", "predicted", "observed", "lower", "upper", "count")
            rows = zip(*(getattr(found, name).tolist() for name in names))
            groups = [dict(zip((*names[:-1], "patients"), map(number, row))) for row in rows]
            return dict(time=found.time, error=found.error, groups=groups)
        groups = [
            dict(
                low=float(low),
                high=float(high),
                patients=curve.n_patients,
                events=int(curve.events.sum()),
                expected=float(expected),
                median=number(curve.median),
            )
            for low, high, curve, expected in zip(
                found.low, found.high, found.curves, found.expected
            )
        ]
        return dict(
            cuts=None if self.cuts is None else self.cuts.tolist(),
            groups=groups,
            chi_squared=number(found.statistic),
            df=found.df,
            p_value=number(found.p_value),
        )


def survival_results(target, scores, *, at=None, groups=None, train=None):
    """Risk groups of scores (n,), and their calibration at a time.

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
    list of SurvivalResult
        The requested ones.
    """
    results = []
    for name, each in dict(DATA=target, train=None if train is None else train[0]).items():
        if getattr(each, "queries", None) is not None:
            raise ArgumentError(
                f"{name} has strata", "survival times of one stratum, such as those of one hospital"
            )
    if groups is not None:
        cuts = None if train is None else cuts_of(train[1], groups)
        of = "of about equal size" if cuts is None else "between quantiles of the training scores"
        found = risk_groups(target, scores, groups if cuts is None else cuts)
        results.append(SurvivalResult(f"risk groups {of}", found, cuts))
    if at is not None:
        hazard = BaselineHazard(*train)
        if at > hazard.last_time:
            last = f"{hazard.last_time:g}, the last time of the training set"
            raise ArgumentError(f"at is {at:g}", f"a time of at most {last}")
        more = {} if groups is None else dict(groups=groups)
        found = survival_calibration(target, hazard.survival(scores, at), at, **more)
        title = f"probability to live beyond {at:g}, mean error {found.error:.4f}"
        results.append(SurvivalResult(title, found))
    return results


def number(value):
    """Return a number, or None if it is not finite."""
    return value if np.isfinite(value) else None
