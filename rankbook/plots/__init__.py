"""Plots of paths, validation curves, items and scores."""

from .curve import plot_validation_curve
from .intervals import plot_intervals
from .items import plot_decision, plot_pair, plot_reliability, plot_risk_groups, plot_roc
from .path import plot_path, plot_sets
from .slider import LambdaSlider

__all__ = [
    "LambdaSlider",
    "plot_decision",
    "plot_intervals",
    "plot_pair",
    "plot_path",
    "plot_reliability",
    "plot_risk_groups",
    "plot_roc",
    "plot_sets",
    "plot_validation_curve",
]
