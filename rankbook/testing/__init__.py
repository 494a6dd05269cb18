"""Conformance checks for solvers, and the checks of scikit-learn that estimators fail."""

from .estimators import expected_failed_checks
from .kit import CheckTable, check_solver, parametrize_with_solver_checks

__all__ = ["CheckTable", "check_solver", "expected_failed_checks", "parametrize_with_solver_checks"]
