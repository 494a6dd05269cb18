"""The library's own solvers pass the kit; what they may fail has a mathematical reason."""

import numpy as np
import pytest

import rankbook as rb
from rankbook.testing import check_solver, parametrize_with_solver_checks
from rankbook.testing.isolation import CHECKS, run_check
from rankbook.testing.kit import CheckTable

REASONS = {
    "kronecker": {
        "path": "K x L on a table with gaps has no product of eigenvectors, so that all lambdas "
        "do not come from one decomposition; it solves at one lambda by iterations"
    },
}
OWN = sorted(
    row["name"] for row in rb.list_solvers() if row["origin"].startswith("rankbook ")
)


@parametrize_with_solver_checks(
    [name for name in OWN if name != "subgradient"], expected_failed_checks=REASONS.get
)
def test_own_solver(solver, check):
    check(solver)
