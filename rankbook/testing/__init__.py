"""Conformance checks for solvers."""

from .kit import CheckTable, check_solver, parametrize_with_solver_checks

__all__ = ["CheckTable", "check_solver", "parametrize_with_solver_checks"]
