"""How fast is the path of the L1 penalty? Run by `pytest tests/benchmarks -s`.

Ratios within one run, by processor time, after compilation.
"""

import numpy as np
import pytest
from cpu_time import cpu

import rankbook as rb
from rankbook.data.datasets import load


def problem_of(name, step=1):
    data = load(name)
    X = ((data.X - data.X.mean(0)) / data.X.std(0))[::step]
    problem = rb.RankSVMProblem(
        X, rb.Preferences.from_scores(data.y[::step]), kernel="linear", penalty="l1"
    )
    problem.prefs.better, problem.lam_max  # listed before the clock runs
    return problem


@pytest.fixture(scope="module", autouse=True)
def compiled():
    small = problem_of("cancer", 20)
    rb.solve_path(small, solver="simplex").certificate(1.0)
    rb.solve(small, 1.0, solver="simplex")
    rb.solve(small, 1.0, solver="qp")


@pytest.mark.parametrize(
    "name, size", [("cancer", 75_684), pytest.param("auto", 75_245, marks=pytest.mark.data)]
)
def test_the_whole_path_against_twenty_linear_programs(name, size):
    problem = problem_of(name)
    assert len(problem.prefs) == size
    seconds, path = cpu(lambda: rb.solve_path(problem, solver="simplex"))
    assert path.status == "complete"
    lams = problem.lam_max * np.logspace(-0.2, -5, 20)
    programs, solutions = cpu(lambda: [rb.solve(problem, lam, solver="qp") for lam in lams])
    descents, others = cpu(lambda: [rb.solve(problem, lam, solver="simplex") for lam in lams])
    for lam, solution, other in zip(lams, solutions, others):
        found = path.certificate(lam)
        assert (
            found.relative_gap < 1e-9
            and solution.certificate.relative_gap < 1e-9
            and other.certificate.relative_gap < 1e-9
        )
        assert found.primal == pytest.approx(solution.certificate.primal, rel=1e-9)
    count = len(path.events)
    print(
        f"\n{name}, {size} preferences: {count} events, {len(path.breakpoints)} breakpoints in "
        f"{seconds:.2f} s, {count / seconds:.0f} events a second; "
        f"20 solves by qp {programs:.1f} s, {programs / seconds:.1f} times as long; 20 descents "
        f"{descents:.1f} s, {programs / descents:.1f} times as fast as qp"
    )
    assert seconds < programs / 5


def test_the_validation_curve_costs_about_its_path():
    problem = problem_of("cancer", 2)
    data = load("cancer")
    X, y = ((data.X - data.X.mean(0)) / data.X.std(0))[1::2], data.y[1::2]
    seconds, path = cpu(lambda: rb.solve_path(problem, solver="simplex"))
    rb.validation_curve(path, X[:20], rb.Preferences.from_scores(y[:20]))
    curve_seconds, curve = cpu(lambda: rb.validation_curve(path, X, rb.Preferences.from_scores(y)))
    print(f"\npath of {len(path.events)} events {seconds:.2f} s, {curve} in {curve_seconds:.2f} s")
    assert curve_seconds < 2 * seconds
