"""Ctrl-C at random moments ends every long call within two seconds, while it compiles, too."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
BEGIN = """
import signal, warnings
signal.signal(signal.SIGINT, signal.default_int_handler)
warnings.simplefilter("ignore")
import numpy as np, rankbook as rb
rng = np.random.default_rng(0)
def data(n, d, levels=0):
    X = rng.normal(size=(n, d))
    y = X[:, 0] + rng.normal(size=n)
    return X, np.round(levels * y) if levels else y
def problem(n, d, levels=0, **options):
    X, y = data(n, d, levels)
    return rb.RankSVMProblem(X, rb.Preferences.from_scores(y), **options)
"""
CALLS = {  # what is made before, and the call
    "path": ("p = problem(1200, 5, gamma=1.0)", "rb.solve_path(p, solver='path')"),
    "one lambda of a path": (
        "p = problem(1200, 5, gamma=1.0)",
        "rb.solve(p, 1e-3, solver='path')",
    ),
    "epsilon": ("p = problem(2500, 5)", "rb.solve_path(p, 1e-3, solver='epsilon')"),
    "interior": ("p = problem(4000, 5, gamma=5.0)", "rb.solve(p, 1e-4, solver='interior')"),
    "newton": (
        "p = problem(400_000, 50, 5, kernel='linear')",
        "rb.solve(p, 1e-3, solver='newton')",
    ),
    "newton path": (
        "p = problem(20_000, 50, 5, kernel='linear', loss='squared')",
        "rb.solve_path(p, 1e-6, solver='newton')",
    ),
    "subgradient": (
        "p = problem(3000, 20, kernel='linear')",
        "rb.solve(p, 1e-4, solver=('subgradient', dict(max_passes=10**7)))",
    ),
    "simplex": (
        "p = problem(2400, 60, kernel='linear', penalty='l1')",
        "rb.solve(p, 1.0, solver='simplex')",
    ),
    "simplex path": (
        "p = problem(1000, 60, kernel='linear', penalty='l1')",
        "rb.solve_path(p, solver='simplex')",
    ),
    "homotopy": (
        "p = problem(1500, 100, kernel='linear', penalty='l1', loss='squared')",
        "rb.solve_path(p, solver='homotopy')",
    ),
    "lp": (
        "p = problem(1500, 40, kernel='linear', penalty='l1')",
        "rb.solve(p, 1.0, solver='lp')",
    ),
    "qp": ("p = problem(2000, 5, kernel='linear')", "rb.solve(p, 1.0, solver='qp')"),
    "rls": ("X, y = data(9000, 5)", "rb.RankRLS(kernel='rbf').fit(X, y)"),
    "tiled": (
        "p = problem(20_000, 5, 3, gamma=1.0)",
        "rb.solve(p, 10.0, solver='tiled')",
    ),
    "rls tiles": ("X, y = data(16_000, 5)", "rb.RankRLS(kernel='rbf').fit(X, y)"),
    "rls cv": ("X, y = data(6000, 5)", "rb.RankRLSCV(kernel='rbf').fit(X, y)"),
    "kronecker": (
        "X, Y = data(10_000, 5)[0], rng.normal(size=(10_000, 10))",
        "rb.LabelRanker(kernel='rbf').fit(X, Y)",
    ),
    "estimator": ("X, y = data(6000, 5)", "rb.RankSVM(gamma=1.0).fit(X, y)"),
    "cv": ("X, y = data(700, 5)", "rb.RankSVMCV(gamma=1.0).fit(X, y)"),
    "landmarks": (
        "X, y = data(30_000, 5)",
        "rb.RankSVM(gamma=1.0, approximate_kernel=1500).fit(X, y)",
    ),
}
SHORT = ("path", "simplex", "qp", "kronecker")


CHILD = """
{begin}
{setup}
print("ready", flush=True)
try:
    {call}
    print("done", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise
"""


def interrupted(command, delay, cache):
    """Seconds from the signal to the next line or the end, the code, and what was printed."""
    environment = os.environ | dict(NUMBA_CACHE_DIR=str(cache), OMP_NUM_THREADS="1")
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # a background job may have been told to ignore the signal
    heed = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(command, env=environment, preexec_fn=heed, **pipes)
    try:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        time.sleep(delay)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        line = process.stdout.readline()
        seconds = time.monotonic() - begin
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    return seconds, process.returncode, line + out + err


def check(call, delay, cache):
    """Whether a call was interrupted, which then raises KeyboardInterrupt soon."""
    setup, call_ = CALLS[call]
    code = CHILD.format(begin=BEGIN, setup=setup, call=call_)
    seconds, status, text = interrupted([sys.executable, "-c", code], delay, cache)
    print(f"\n{call} after {delay:.2f} s: {seconds:.2f} s, status {status}")
    if "done" in text:
        return False  # it was over before
    assert text.startswith("interrupted"), text
    assert status == -signal.SIGINT, text
    assert seconds < LIMIT, (call, delay, seconds)
    return True


LIMIT = 2.0 * float(os.environ.get("RANKBOOK_PATIENCE", "1"))  # above 1 on a machine that is busy


@pytest.mark.parametrize("call", SHORT)
def test_a_long_call_ends(call, tmp_path):
    assert check(call, 1.5, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_random_moments(call, tmp_path):
    """The first compiles, as nothing is kept yet; the others find what was kept."""
    delays = np.random.default_rng(sum(map(ord, call))).uniform(0, 6, 4)
    assert any([check(call, delay, tmp_path) for delay in delays])


@pytest.mark.parametrize(
    "delay",
    [0.05, 1.0, *(pytest.param(d, marks=pytest.mark.slow) for d in np.linspace(0.1, 8, 30))],
)
def test_in_the_shell_the_status_is_130(delay, tmp_path):
    """At any moment: while modules are imported, while the path compiles, on the path."""
    code = "print('ready', flush=True); from rankbook.app.cli.main import main; main()"
    command = [sys.executable, "-c", code, "select", "digits"]
    seconds, status, text = interrupted(command, delay, tmp_path)
    print(f"\nafter {delay:.2f} s: {seconds:.2f} s, status {status}")
    assert status in (130, -signal.SIGINT), text  # a shell calls both 130
    assert seconds < LIMIT, (delay, seconds)
