"""Checks of solvers and losses, and expected failures of scikit-learn's checks."""

from .estimators import expected_failed_checks
from .kit import CheckTable, check_solver, parametrize_with_solver_checks
from .losses import check_loss

__all__ = [
    "CheckTable",
    "check_loss",
    "check_solver",
    "expected_failed_checks",
    "parametrize_with_solver_checks",
]
