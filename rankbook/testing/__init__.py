"""Conformance checks for solvers, and what estimators do not pass of scikit-learn's."""

from .estimators import expected_failed_checks
from .kit import CheckTable, check_solver, parametrize_with_solver_checks

__all__ = ["CheckTable", "check_solver", "expected_failed_checks", "parametrize_with_solver_checks"]
