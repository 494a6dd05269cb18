"""How fast does one learn from one preference at a time, and how well?

Run by `pytest tests/benchmarks -s`; `--slow` for the large problem.

Processor time on one thread, after compilation. The reference optimum is that of a smoothed hinge
by L-BFGS, over all preferences.
"""

import time

import numpy as np
import pytest
from scipy.optimize import minimize

import rankbook as rb
from rankbook.solvers.subgradient.steps import sampler_of

pytestmark = pytest.mark.usefixtures("one_thread")


def graded(queries, size, d, noise=1.0, seed=0):
    """Items in random order, in queries of 5 equal levels cut from a noisy linear score."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(queries * size, d)), rng.normal(size=d)
    score = X @ w + noise * np.linalg.norm(w) * rng.normal(size=len(X))
    y = score.reshape(queries, size).argsort(axis=1).argsort(axis=1).ravel() // (size // 5)
    order = rng.permutation(len(X))
    return X[order], y[order].astype(float), np.repeat(np.arange(queries), size)[order]


def optimum(problem, lam):
    """An upper bound on the minimum of the objective per preference, off by less than 1e-4.

    It is the objective at the minimiser of a hinge smoothed over 1%.
    """
    X, prefs, m = problem.X, problem.prefs, len(problem.prefs)

    def smooth(w, h):
        short = 1 - prefs.matvec(X @ w)
        a = np.clip(short / h + 0.5, 0, 1)
        loss = np.where(
            short > h / 2, short, np.where(short < -h / 2, 0, (short + h / 2) ** 2 / (2 * h))
        )
        return lam / 2 * w @ w + loss.mean(), lam * w - X.T @ prefs.rmatvec(a) / m

    w = np.zeros(X.shape[1])
    for h in (1.0, 0.1, 0.01):
        w = minimize(
            smooth,
            w,
            (h,),
            jac=True,
            method="L-BFGS-B",
            options=dict(maxiter=300, ftol=1e-12, gtol=1e-9),
        ).x
    return per_preference(problem, w, lam)


def per_preference(problem, w, lam):
    return lam / 2 * w @ w + np.maximum(0, 1 - problem.prefs.matvec(problem.X @ w)).mean()


def problem_of(queries, size, d, **options):
    X, y, qid = graded(queries, size, d, **options)
    return rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid), kernel="linear")


def one_pass(problem, lam, **options):
    """Seconds and weights after as many steps as there are preferences."""
    start = time.process_time()
    solution = rb.solve(
        problem, lam * len(problem.prefs), solver="subgradient", tol=None, max_passes=1, **options
    )
    return time.process_time() - start, problem.weights(solution.coef)


@pytest.fixture(scope="module", autouse=True)
def compiled():
    one_pass(problem_of(2, 10, 3), 0.1)


def test_a_million_steps_a_second():
    """100000 items with 50 features and 4000000 preferences, drawn, fetched and learnt from.

    Coefficients and averages are kept.
    """
    problem = problem_of(1000, 100, 50)
    assert len(problem.prefs) == 4_000_000
    seconds, _ = min((one_pass(problem, 1e-2) for _ in range(2)), key=lambda pair: pair[0])
    assert not problem.prefs.is_listed
    print(f"\n{len(problem.prefs) / seconds / 1e6:.2f} million steps a second")
    assert len(problem.prefs) / seconds > 1e6


def test_a_draw_costs_little():
    """Draws alone, against draws and steps."""
    from rankbook.base.jit import njit
    from rankbook.solvers.subgradient.steps import draw_preference

    @njit
    def many(sampler, state, count):
        total = 0
        for _ in range(count):
            total += draw_preference(sampler, state)[0]
        return total

    sampler, state = sampler_of(problem_of(1000, 100, 5)), np.array([1], dtype=np.uint64)
    many(sampler, state, 10)
    start = time.process_time()
    many(sampler, state, 4_000_000)
    seconds = time.process_time() - start
    print(f"\n{1e9 * seconds / 4e6:.0f} ns a draw")
    assert seconds < 1.0


@pytest.mark.parametrize("lam", [1e-2, 1e-3])
def test_one_pass_over_a_small_problem(lam):
    problem = problem_of(100, 100, 20)
    best = optimum(problem, lam)
    excess = per_preference(problem, one_pass(problem, lam)[1], lam) / best - 1
    print(
        f"\n{len(problem.prefs)} preferences, lam/m = {lam:g}: {100 * excess:.3f} % above the "
        "optimum after one pass"
    )
    assert excess < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("noise", [1.0, 0.1])
@pytest.mark.parametrize("lam", [1e-2, 1e-3])
def test_one_pass_over_four_million_preferences(lam, noise):
    problem = problem_of(1000, 100, 50, noise=noise)
    best = optimum(problem, lam)
    print(f"\nlam/m = {lam:g}, noise {noise:g}, optimum {best:.5f}; above it after one pass:")
    for options in (
        dict(),
        dict(offset=0.0),
        dict(average="plain"),
        dict(average="plain", offset=0.0),
        dict(average=False),
        dict(step="1/sqrt(t)"),
        dict(step="1/sqrt(t)", average="plain"),
    ):
        excess = per_preference(problem, one_pass(problem, lam, **options)[1], lam) / best - 1
        print(f"  {100 * excess:8.3f} %  {options or 'by default'}")
        if not options:
            assert excess < 0.01


@pytest.mark.slow
def test_converged_before_all_was_seen():
    problem = problem_of(1000, 100, 50)
    start = time.process_time()
    solution = rb.solve(problem, 1e-2 * len(problem.prefs), solver="subgradient")
    seconds = time.process_time() - start
    info = solution.info
    print(
        f"\nproven gap {info['gap']:.1e} after {info['passes']:.2f} passes and {info['checks']} "
        f"checks, {seconds:.1f} s"
    )
    assert info["converged"] and info["before_all"]
