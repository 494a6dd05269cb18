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
def votes(n, m, d=0):
    a, b = rng.integers(0, n, m), rng.integers(0, n - 1, m)
    b += b >= a
    return rb.Preferences(a, b, n_items=n, pair_features=rng.normal(size=(m, d)) if d else None)
def logistic(**options):
    return rb.RankSVM(loss="logistic", lam=1.0, **options)
def scores(n):
    return rng.integers(0, 5, n), rng.normal(size=n), np.sort(rng.integers(0, n // 20, n))
def times(n):
    pairs = list(zip(rng.random(n) > 0.5, rng.exponential(size=n)))
    return np.array(pairs, dtype=[("event", bool), ("time", float)])
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
    "qp": ("p = problem(2000, 5, kernel='linear')", "rb.solve(p, 1.0, solver='qp')"),
    "rls": ("X, y = data(9000, 5)", "rb.RankRLS(kernel='rbf').fit(X, y)"),
    "tiled": (
        "p = problem(20_000, 5, 3, gamma=1.0)",
        "rb.solve(p, 10.0, solver='tiled')",
    ),
    "ascent": (
        "X, y = data(20_000, 5, 2)\n"
        "p = rb.RankSVMProblem(X, rb.Preferences.from_scores(y, np.arange(20_000) // 100))",
        "rb.solve(p, 0.1, solver='ascent')",
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
    "match prior": (
        "p, model = votes(4000, 30_000), logistic(kernel='linear')",
        "rb.match_prior(model, np.eye(4000), p)",
    ),
    "intervals": (
        "X, y = data(4000, 5, 1); model = logistic(gamma=1.0).fit(X, y)",
        "rb.order_intervals(model, X, method='laplace')",
    ),
    "intervals of weights": (
        "X, p = np.eye(4000), votes(4000, 30_000); model = logistic(kernel='linear').fit(X, p)",
        "rb.order_intervals(model, X, method='laplace')",
    ),
    "bootstrap": (
        "X, p = np.eye(500), votes(500, 30_000); model = logistic(kernel='linear').fit(X, p)",
        "rb.order_intervals(model, X, method='bootstrap', n_resamples=2000)",
    ),
    "pair features": (
        "p = votes(4000, 60_000, 20)",
        "logistic(kernel='linear').fit(np.eye(4000), p)",
    ),
    "extended items": (
        "X, p = rng.normal(size=(20_000, 50)), votes(20_000, 3_000_000, 20)",
        "rb.extend_items(X, p)",
    ),
    "orders": (
        "o = rb.Orders.from_rankings([rng.permutation(3000)[:50] for _ in range(2000)], "
        "n_items=3000)",
        "rb.RankSVM(kernel='linear', loss='plackett-luce', lam=1.0).fit(np.eye(3000), o)",
    ),
    "default lambda": (
        "from rankbook.problems.scale import default_lam; p = problem(20_000, 300, gamma=0.01)",
        "default_lam(p)",
    ),
    "largest lambda": ("p = problem(20_000, 300, gamma=0.01)", "rb.solve_path(p, 1e-3)"),
    "kernel matrix": ("p = problem(16_000, 500, gamma=1.0)", "p.gram"),
    "precomputed": (
        "X = rng.normal(size=(5000, 5000)); X = X @ X.T",
        "rb.RankSVMProblem(X, votes(5000, 100), 'precomputed').gram",
    ),
    "certificate": (
        "p = problem(60_000, 100, 3, gamma=1.0); f = 1e-6 * rng.normal(size=60_000)",
        "rb.Solution(p, 1.0, coef=f).certificate",
    ),
    "predictions": (
        "X, y = data(5000, 500); model = rb.RankRLS(kernel='rbf').fit(X, y)",
        "model.predict(np.repeat(X, 40, axis=0))",
    ),
    "score": (
        "X, y = data(2000, 500); model = rb.RankRLS(kernel='rbf').fit(X, y)",
        "model.score(np.repeat(X, 100, axis=0), np.repeat(y, 100))",
    ),
    "kernel map": (
        "from rankbook.kernels.nystroem import NystroemMap; X = data(40_000, 100)[0]",
        "NystroemMap(X, 3000, gamma=0.01)",
    ),
    "principal directions": (
        "X = data(6000, 20)[0]",
        "NystroemMap(X, 3000, gamma=0.1, pivots='pca')",
    ),
    "basis": (
        "from rankbook.kernels.basis import choose_basis; X = data(40_000, 100)[0]",
        "choose_basis(X, 3000, gamma=0.01)",
    ),
    "kernel path": (
        "p = problem(3000, 5, gamma=1.0)",
        "rb.kernel_path(p, 1e-3, np.geomspace(0.01, 10, 30))",
    ),
    "comparison of solvers": (
        "p = problem(12_000, 500, gamma=1.0)",
        "rb.compare_solvers(p)",
    ),
    "rayleigh": ("X, y = data(6000, 5)", "rb.RayleighRanker(kernel='rbf').fit(X, y > 0)"),
    "rayleigh cv": ("X, y = data(4000, 5)", "rb.RayleighRankerCV(kernel='rbf').fit(X, y > 0)"),
    "label ranker cv": (
        "X, Y = data(6000, 5)[0], rng.normal(size=(6000, 10))",
        "rb.LabelRankerCV(kernel='rbf').fit(X, Y)",
    ),
    "validation curve": (
        "p = problem(500, 5, gamma=1.0); s = rb.solve_path(p); X, y = data(20_000, 5)",
        "rb.validation_curve(s, X, y)",
    ),
    "predictions of a path": (
        "p = problem(500, 5, gamma=1.0); s = rb.solve_path(p); X = np.repeat(p.X, 400, axis=0)",
        "[s.predict(X, lam) for lam in np.geomspace(s.domain[0], 0.1, 50)]",
    ),
    "suggestions": (
        "p = problem(3000, 5, 1, gamma=1.0); s = rb.solve(p, 10.0)",
        "rb.suggest_pairs(s, X_new=data(20_000, 5)[0])",
    ),
    "calibration": ("y, f, _ = scores(20_000)", "rb.calibrate(f + rng.normal(size=f.size), f)"),
    "disagreement": ("y, f, _ = scores(30_000_000)", "rb.disagreement(y, f)"),
    "rank correlation": (
        "y, f, _ = scores(20_000_000); g = rng.permutation(f)",
        "rb.metrics.kendall_tau(g, f)",
    ),
    "ndcg": ("y, f, q = scores(20_000_000)", "rb.metrics.ndcg(y, f, q)"),
    "comparison": (
        "y, f, q = scores(4_000_000); g = rng.permutation(f)",
        "rb.metrics.compare(y, f, {'b': g}, q)",
    ),
    "cuts": ("y, f, _ = scores(20_000_000)", "rb.metrics.best_cuts(y, f)"),
    "auc over time": (
        "y, at = times(1_000_000), np.linspace(0.1, 2, 100); f = rng.normal(size=len(y))",
        "rb.metrics.dynamic_auc(y, f, at)",
    ),
    "preferences": (
        "_, f, q = scores(40_000_000)",
        "rb.Preferences.from_scores(f, q)",
    ),
    "online": ("X, y = data(400_000, 20, 1)", "rb.OnlineRankSVM().fit(X, y)"),
    "ordinal": (
        "X, y = data(1500, 5, 1)",
        "rb.OrdinalRanker(rb.RankSVMCV(gamma=1.0)).fit(X, y.clip(-2, 2).astype(int))",
    ),
    "table": (
        "import pandas as pd; frame = pd.DataFrame(rng.normal(size=(400_000, 40))); "
        "frame.add_prefix('x').to_csv('t.csv', index=False)",
        "rb.read_table('t.csv', 'x0')",
    ),
    "lines": (
        "open('t.txt', 'w').write('1 qid:1 1:0.5 2:0.25 3:1.5 4:2 5:7.5\\n' * 4_000_000)",
        "rb.read_table('t.txt')",
    ),
}
SHORT = (
    "path",
    "simplex",
    "qp",
    "kronecker",
    "match prior",
    "default lambda",
    "intervals of weights",
)


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
    """Seconds from the signal to the next line or the end, the code, and what was printed.

    Code is compiled into the folder `cache`, or taken from the user's cache if that is None.
    """
    environment = os.environ | dict(OMP_NUM_THREADS="1")
    if cache is not None:
        environment |= dict(NUMBA_CACHE_DIR=str(cache))
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cache)
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


LATE = np.linspace(1, 20, 10)
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


def rank(folder):
    """A file of votes, which `rankbook rank` needs 20 s for."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 3000, (2, 30_000))
    lines = [f"{a},{b}" for a, b in zip(first, second) if a != b]
    (folder / "votes.csv").write_text("\n".join(["winner,loser", *lines]) + "\n")


@pytest.mark.parametrize("delay", [4.0, *(pytest.param(d, marks=pytest.mark.slow) for d in LATE)])
def test_rank_in_the_shell(delay, tmp_path):
    rank(tmp_path)
    code = "from rankbook.app.cli.main import main; print('ready', flush=True); main()"
    command = [sys.executable, "-c", code, "rank", str(tmp_path / "votes.csv"), "--intervals"]
    seconds, status, text = interrupted(command, delay, None)
    assert status == 130 and text.endswith("rankbook: interrupted\n") and seconds < LIMIT


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


PARENT = """
import os, sys, time
from joblib import Parallel
from rankbook.base.progress import for_worker

def job(number):
    os.write(1, f"{os.getpid()}\\n".encode())  # at once, as both write
    time.sleep(600)

Parallel(n_jobs=2, verbose=0)(for_worker(job)(i) for i in range(2))
"""


def test_workers_end_with_their_parent():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    workers = [int(parent.stdout.readline()) for _ in range(2)]
    parent.kill()
    begin = time.monotonic()
    assert parent.stdout.read() == ""  # ends when the last process that can write has ended
    assert time.monotonic() - begin < 10 and len(set(workers)) == 2
    parent.wait()
    parent.stdout.close()
