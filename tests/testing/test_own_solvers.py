"""The library's own solvers pass the kit; what they may fail they declare, with a reason."""

import numpy as np
import pytest

import rankbook as rb
from rankbook.problems.label_ranking import LabelRankRLSProblem
from rankbook.testing import check_solver, parametrize_with_solver_checks
from rankbook.testing.corpus import GROUPS

OWN = {row["name"]: row["name"] for row in rb.list_solvers() if row["origin"][:9] == "rankbook "}
# it promises a hundredth, for which the smallest lambdas here take minutes
OWN["subgradient"] = rb.get_solver("subgradient", tol=0.1, max_passes=300)
# paths of fewer solves, and fewer steps; with their defaults, they are checked below
OWN["epsilon"] = rb.get_solver("epsilon", eps=1e-2)
OWN["newton"] = rb.get_solver("newton", eps=1e-2)
OWN["tiled"] = rb.get_solver("tiled", tol=1e-4)


# The checks that take longest of solvers that are slow, or call another one: with --slow. Each of
# these solvers still meets the whole degenerate corpus in the check certificate, and qp is the
# reference of the others.
STATE = {"layout", "unchanged", "deterministic", "memory", "threads", "surroundings", "copies"}
LARGE = {"kernels", "combinations", "sizes", "scales", "extremes", "storages"}
PARTS = {"reference", "dual", "weights", "margins", "queries", "progress", "random_state"}
LONG = {
    "epsilon": STATE | LARGE | PARTS | {"path", "order", "path_and_solve", "readings", "refuses"},
    "qp": STATE | LARGE | PARTS - {"weights", "margins"} | {"order"},
    "tiled": {"sizes"},
    "subgradient": {"layout", "storages", "combinations"},
}


def name_of(solver):
    return getattr(solver, "name", solver)


every_check = parametrize_with_solver_checks(OWN.values())
is_long = [
    case.values[1].name in LONG.get(name_of(case.values[0]), ()) for case in every_check.args[1]
]


@pytest.mark.parametrize(
    "solver, check", [case for case, long in zip(every_check.args[1], is_long) if not long]
)
def test_own_solver(solver, check):
    check(solver)


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_rankbook_check_finds_no_failure(name):
    """All checks, with default options and within the default time."""
    found = check_solver(name)
    assert found.failed == [], found


def test_all_own_solvers_are_asked():
    assert {"path", "qp", "interior", "newton", "rls"} <= set(OWN) and len(OWN) >= 13


@pytest.mark.parametrize("solver", ["qp", "rls", "kronecker"])
def test_a_kernel_on_labels_that_is_0_everywhere(solver):
    """What the kit found in qp: there is no feature at all."""
    problem = LabelRankRLSProblem(np.zeros((3, 2)), [[0, 1], [1, 0], [2, 0]], kernel="linear")
    answer = rb.solve(problem, 1.0, solver=solver)
    assert answer.certificate.is_optimal() and not problem.matvec(answer.coef).any()
    assert problem.matvec(np.zeros((6, 0))).shape == (6, 0)


@pytest.mark.parametrize("solver", ["qp", "interior", "newton"])
def test_borrowed_items_far_from_the_origin_have_the_squared_hinge_s_solution(solver):
    plain = GROUPS["items"][0]
    for far in (0.0, 10.0):
        problem = rb.RankSVMProblem(
            plain.X + far, plain.prefs, kernel="linear", loss="squared", copy=False
        )
        assert rb.solve(problem, 1.0, solver=solver).certificate.relative_gap < 1e-6
