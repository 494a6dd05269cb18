"""How soon is the large linear problem certified? Run by `pytest tests/benchmarks -s`.

Add `--slow` for a million items.

Processor time on one thread, after compilation, with the certificate of the host. The same data and
more, beside cutting planes: `tools/large_speed.py`.
"""

import subprocess
import sys
import time

import numpy as np
import pytest

import rankbook as rb

pytestmark = pytest.mark.usefixtures("one_thread")

SHARES = (1e-1, 1e-2, 1e-3, 1e-4)


def graded(n, loss="hinge", d=50, size=100, levels=5, seed=0):
    """Items in queries of `size`, with `levels` equal levels cut from a noisy linear score."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d) / np.sqrt(d)
    y = (
        (X @ w + rng.normal(size=n)).reshape(-1, size).argsort(axis=1).argsort(axis=1).ravel()
        * levels
        // size
    )
    return rb.RankSVMProblem(
        X,
        rb.Preferences.from_scores(y, np.repeat(np.arange(n // size), size)),
        kernel="linear",
        loss=loss,
    )


def certified(problem, tol=1e-3):
    """Seconds to an answer and its certificate, for each lambda per preference.

    Reading the data is not counted.
    """
    rb.solve(graded(1000, problem.loss), 100.0, solver="newton").certificate  # compiles
    seconds = {}
    for share in SHARES:
        start = time.process_time()
        gap = rb.solve(
            problem, share * len(problem.prefs), solver="newton", tol=tol
        ).certificate.relative_gap
        seconds[share] = time.process_time() - start
        assert gap <= tol
    print(
        f"\n{len(problem.prefs):,} preferences, {problem.loss}, gap {tol:g}: "
        + ", ".join(f"{s:.2f} s at lam/m = {share:g}" for share, s in seconds.items()),
        end="",
    )
    return seconds


def test_four_million_preferences_take_less_than_two_seconds():
    problem = graded(100_000)
    assert len(problem.prefs) == 4_000_000
    assert max(certified(problem).values()) <= 2.0
    assert max(certified(problem, 1e-6).values()) <= 2.0
    assert not problem.prefs.is_listed


def test_the_squared_hinge_takes_less_than_two_seconds():
    assert max(certified(graded(100_000, "squared")).values()) <= 2.0


def test_a_certified_path_of_four_decades():
    problem = graded(100_000)
    rb.solve_path(graded(1000), solver="newton")
    start = time.process_time()
    path = rb.solve_path(problem, solver="newton", eps=1e-3)
    print(f"\npath: {path.info['solves']} solves, {time.process_time() - start:.1f} s", end="")
    lams = np.geomspace(path.domain[0], path.breakpoints[0], 20)
    assert max(path.certificate(lam).relative_gap for lam in lams) <= 1e-3


def test_time_grows_like_n_log_n():
    seconds = {}
    for n in (10_000, 30_000, 100_000):
        seconds[n] = np.median([sum(certified(graded(n, seed=seed)).values()) for seed in range(3)])
    power = np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)[0]
    print(f"\ntime grows as n^{power:.2f}", end="")
    assert power < 1.3


@pytest.mark.slow
def test_a_million_items_within_twelve_times_that_and_3_gb():
    code = (
        "import resource, test_bench_newton as b\np = b.graded(1_000_000)\ns = b.certified(p)\n"
        "print(); print(max(s.values()), "
        "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=__file__.rsplit("/", 1)[0]
    )
    assert run.returncode == 0, run.stderr
    print(run.stdout, end="")
    slowest, gib = map(float, run.stdout.split("\n")[-2].split())
    assert slowest <= 24.0 and gib <= 3 * 1e9 / 2**30
