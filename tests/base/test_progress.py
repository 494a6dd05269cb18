"""The bar that solvers share."""

from cProfile import Profile

import numpy as np
import pytest

import rankbook as rb
from rankbook.base import progress
from rankbook.base.progress import progress_bar


def test_a_bar_counts_and_says_how_far(capsys):
    bar = progress_bar(True, "steps")
    with bar as tell:
        for step in range(1, 4):
            tell(step, f"gap {10.0**-step:.0e}")
        assert bar.bar.n == 3 and "gap 1e-03" in str(bar.bar) and "steps" in str(bar.bar)
    assert bar.bar.disable  # closed
    assert "steps" in capsys.readouterr().err


def test_a_bar_says_how_far_this_step_is_not_the_last_one(capsys):
    bar = progress_bar(True, "steps")
    with bar as tell:
        bar.bar.mininterval = 0  # draw every step
        for step in range(1, 4):
            tell(step, f"gap {10.0**-step:.0e}")
    drawn = capsys.readouterr().err.split("\r")
    for step in range(1, 4):
        line = next(line for line in drawn if line.startswith(f"{step}.00 steps"))
        assert f"gap {10.0**-step:.0e}" in line


def test_an_exception_closes_it():
    bar = progress_bar(True, "steps")
    with pytest.raises(KeyboardInterrupt), bar:
        raise KeyboardInterrupt
    assert bar.bar.disable


def test_a_silent_one_says_nothing(capsys):
    with progress_bar(False, "steps") as tell:
        tell(1, "gap 1")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "solver, penalty, unit", [("epsilon", "l2", "solves"), ("simplex", "l1", "events")]
)
def test_a_path_shows_a_bar_only_if_asked(capsys, solver, penalty, unit):
    problem = small_problem(penalty)
    silent = rb.solve_path(problem, solver=solver)
    assert unit not in capsys.readouterr().err
    shown = rb.solve_path(problem, solver=solver, progress=True)
    assert unit in capsys.readouterr().err
    assert np.array_equal(shown.breakpoints, silent.breakpoints)


def test_subgradient_steps_show_a_bar_only_if_asked(capsys):
    problem = small_problem()
    silent = rb.solve(problem, 1.0, solver="subgradient")
    assert "steps" not in capsys.readouterr().err
    shown = rb.solve(problem, 1.0, solver="subgradient", progress=True)
    assert "steps" in capsys.readouterr().err and np.array_equal(shown.coef, silent.coef)


def test_conjugate_gradients_show_a_bar_only_if_asked(capsys):
    problem = rb.RankRLSProblem(np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 3)
    options = dict(solver="rls", directions=5)
    silent = rb.solve(problem, 0.1, **options)
    assert "products" not in capsys.readouterr().err
    shown = rb.solve(problem, 0.1, progress=True, **options)
    assert "products" in capsys.readouterr().err and np.array_equal(shown.coef, silent.coef)


def small_problem(penalty="l2"):
    X = np.random.default_rng(0).normal(size=(40, 3))
    prefs = rb.Preferences.from_scores(np.arange(40) % 3)
    return rb.RankSVMProblem(X, prefs, kernel="linear", penalty=penalty)


def test_a_profiler_sees_the_work_of_a_fit():
    profile = Profile()
    profile.runcall(rb.RankSVM(kernel="linear", solver="newton").fit, np.eye(4), np.arange(4.0))
    names = {code.co_name for entry in profile.getstats() if hasattr(code := entry.code, "co_name")}
    assert "choose_solver" in names


def no_thread(*args):
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize("start", [no_thread, lambda function, args: 1])
def test_a_call_whose_thread_cannot_begin_is_made_all_the_same(start, monkeypatch):
    """The second starter is that of a thread that finds no memory to begin."""
    monkeypatch.setattr(progress, "start_new_thread", start)
    assert progress.interruptible(lambda a, b: a - b)(5, b=2) == 3
