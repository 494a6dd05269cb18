"""The kit is tested by solvers that are wrong: each is caught, by the check that is meant for it.

And no check is empty: each fails for some solver, and none for the right one.
"""

import traceback

import pytest
import wrong_solvers as wrong

from rankbook.testing import check_solver, parametrize_with_solver_checks
from rankbook.testing.kit import CHECKS, run_check, run_isolated

ANSWERS = (
    "certificate weights margins queries combinations kernels extremes storages hard_margin path "
    "layout memory"
).split()
ALL_WRONG = [*ANSWERS, "reference", "progress", "scales", "sizes"]
MUTANTS = {  # and what fails, the check that is meant first
    wrong.WrongShape: ["answers"],
    wrong.ListOfFacts: ["answers"],
    wrong.NotFinite: ["answers"],
    wrong.Raising: ["answers"],
    wrong.Zeros: ALL_WRONG,
    wrong.Flipped: ALL_WRONG,
    wrong.OverClaiming: [*ANSWERS, "scales", "sizes", "order"],
    wrong.Infeasible: ["dual"],
    wrong.Unrelated: ["dual"],
    wrong.Unpromising: ["progress"],
    wrong.Busy: ["accepts"],
    wrong.Weightless: ["accepts"],
    wrong.ForgetsWeights: ["weights", "dual", "combinations", "path", "memory"],
    wrong.ForgetsMargins: ["margins", "combinations", "hard_margin", "path", "memory"],
    wrong.ForgetsQueries: ["queries", "combinations", "sizes", "path"],
    wrong.EqualWeights: ["weights"],
    wrong.EqualMargins: ["margins", "path"],
    wrong.NoneTrue: ["margins"],
    wrong.Branches: ["combinations", "hard_margin", "path"],
    wrong.LinearWeights: ["combinations", "path"],
    wrong.SparseMargins: ["combinations"],
    wrong.Block: ["sizes", "hard_margin"],
    wrong.Thousand: ["sizes"],
    wrong.HardForFew: ["hard_margin"],
    wrong.SparseTop: ["extremes", "path"],
    wrong.Narrow: ["sizes"],
    wrong.AtTheTop: ["extremes", "path", "readings"],
    wrong.InTheMiddle: ["extremes"],
    wrong.HardMarginOfOnes: ["hard_margin"],
    wrong.ForgetsKernel: ["kernels", "combinations", "hard_margin", "path", "memory"],
    wrong.DefaultWidth: ["kernels"],
    wrong.Cubic: ["kernels"],
    wrong.Jitter: ["scales"],
    wrong.ShortSighted: ["extremes", "margins"],
    wrong.DenseOnly: ["storages", "combinations", "extremes", "path"],
    wrong.SoftMargin: ["hard_margin"],
    wrong.FlatPath: ["path", "path_and_solve"],
    wrong.ShortPath: ["path"],
    wrong.LoosePath: ["path"],
    wrong.LinearPath: ["path"],
    wrong.WeightlessPath: ["path"],
    wrong.SparsePath: ["path"],
    wrong.Otherwise: ["path"],
    wrong.Scoreless: ["path"],
    wrong.TwoScores: ["path"],
    wrong.Needy: ["path"],
    wrong.Pathless: ["path"],
    wrong.LastPath: ["readings"],
    wrong.OnePath: ["readings"],
    wrong.Positions: ["order"],
    wrong.Unlocking: ["layout"],
    wrong.Centring: ["unchanged"],
    wrong.CentringPaths: ["unchanged"],
    wrong.Remembering: ["memory", "hard_margin"],
    wrong.RememberingOrders: ["memory"],
    wrong.Shared: ["threads"],
    wrong.Hiding: ["surroundings"],
    wrong.Exporting: ["surroundings"],
    wrong.Talking: ["surroundings"],
    wrong.TalkingPaths: ["surroundings"],
    wrong.Noisy: ["deterministic"],
    wrong.Seeding: ["random_state"],
    wrong.SeedingPaths: ["random_state"],
    wrong.Locked: ["copies"],
    wrong.SaysYes: ["refuses"],
    wrong.SaysNo: ["refuses"],
    wrong.Priceless: ["cost"],
}
each_mutant = pytest.mark.parametrize("kind", MUTANTS, ids=lambda kind: kind.__name__)


def test_the_right_solver_passes_every_check_and_is_asked_all_of_them(amount):
    """Its path solves whenever it is read, so that the check "path" is for long runs."""
    checks = [name for name in CHECKS if name not in amount(("path",), ())]
    table = [run_check(name, wrong.Right) for name in checks]
    assert [row.outcome for row in table] == ["passed"] * len(checks), table


def test_a_right_solver_without_the_linear_kernel_passes(amount):
    checks = amount(("answers", "accepts", "certificate", "layout", "unchanged"), CHECKS)
    table = {name: run_check(name, wrong.Curved) for name in checks}
    outcomes = {name: row.outcome for name, row in table.items()}
    assert set(outcomes.values()) <= {"passed", "skipped"}, table
    assert outcomes["layout"] == outcomes["unchanged"] == "passed", table


LONG = {wrong.Needy, wrong.SparsePath, wrong.WeightlessPath, wrong.LinearPath}
LONG |= {wrong.Otherwise, wrong.TwoScores}


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] * (kind in LONG)) for kind in MUTANTS],
    ids=lambda kind: kind.__name__,
)
def test_a_wrong_solver_is_caught_by_the_check_that_is_meant(kind):
    result = run_check(MUTANTS[kind][0], kind)
    assert result.outcome == "failed", result
    assert " at lam = " in result.detail or "it declares " in result.detail, result


def test_every_check_catches_somebody():
    assert {check for failed in MUTANTS.values() for check in failed} == set(CHECKS)
    alone = {failed[0] for failed in MUTANTS.values() if len(failed) == 1}
    assert alone | {
        "certificate",
        "reference",
        "kernels",
        "storages",
        "weights",
        "margins",
        "queries",
        "extremes",
    } | {"path_and_solve"} == set(CHECKS)


@pytest.mark.slow
@each_mutant
def test_the_mutation_table(kind):
    table = check_solver(kind, isolated=False)
    assert {row.check for row in table.failed} == set(MUTANTS[kind]), table


@pytest.mark.parametrize("kind", [wrong.Zeros, wrong.Flipped], ids=lambda kind: kind.__name__)
def test_another_solver_finds_what_the_certificate_finds(kind):
    assert "that of qp" in run_check("reference", kind).detail


# A process of its own

GONE = {
    wrong.Endless: ("it did not end within 10 s", 10.0),
    wrong.Exiting: ("exit code 3", 120.0),
    wrong.Crashing: ("SIGSEGV", 120.0),
}


@pytest.mark.parametrize("kind", GONE, ids=lambda kind: kind.__name__)
def test_a_solver_that_never_comes_back_is_one_failed_row(kind):
    words, time_limit = GONE[kind]
    table = check_solver(kind, time_limit=time_limit)
    assert [row.check for row in table.failed] == ["answers"], table
    assert words in table[0].detail and "on 'plain' as RankSVMProblem" in table[0].detail
    assert all(row.outcome == "skipped" for row in table[1:])


def test_the_next_check_goes_on_in_another_process():
    checks = ["answers", "certificate", "refuses", "order", "cost"]
    found = list(run_isolated(checks, wrong.CrashesOnCycles, {}, 120.0))
    assert [(row.check, row.outcome) for row in found] == list(
        zip(checks, ["passed", "failed", "passed", "failed", "passed"])
    )
    assert all("SIGABRT" in row.detail for row in found if row.outcome == "failed")


@pytest.mark.slow
def test_all_other_checks_go_on_in_another_process():
    table = check_solver(wrong.CrashesOnCycles)
    failed = {row.check: row.detail for row in table.failed}
    asked = {"certificate", "reference", "dual", "path", "path_and_solve", "order"}
    assert set(failed) == asked, table
    assert all("SIGABRT" in detail and "'cycles" in detail for detail in failed.values())
    assert {row.outcome for row in table} == {"passed", "failed"}


def test_both_ways_of_running_agree():
    table = check_solver(wrong.WrongShape)
    assert table[0].detail == check_solver(wrong.WrongShape, isolated=False)[0].detail


# In pytest


def test_what_a_solver_raises_is_shown_with_its_own_traceback():
    mark = parametrize_with_solver_checks([wrong.Raising])
    check = next(case.values[1] for case in mark.args[1] if case.id.endswith("certificate"))
    with pytest.raises(AssertionError, match="singular matrix") as caught:
        check(wrong.Raising)
    shown = "".join(traceback.format_exception(caught.value))
    assert wrong.__file__ in shown and 'raise np.linalg.LinAlgError("singular matrix")' in shown


def test_a_check_that_finds_nothing_to_look_at_is_skipped_in_pytest():
    mark = parametrize_with_solver_checks(["path"])
    check = next(case.values[1] for case in mark.args[1] if case.id.endswith("storages"))
    with pytest.raises(pytest.skip.Exception, match="only items of float64"):
        check("path")
