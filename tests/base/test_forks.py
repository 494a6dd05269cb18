"""A process forked while a thread fits, compiles or has solved by Clarabel can fit as well."""

import os
import subprocess
import sys

import pytest

PRELUDE = """
import os, signal, threading, time, warnings
import numpy as np
import rankbook as rb
from numba.core.compiler_lock import global_compiler_lock
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(300, 4))
held = threading.Event()
def beside(work):
    threading.Thread(target=work, daemon=True).start()
    assert held.wait(60)
def in_child(call, *args):
    child = os.fork()
    if not child:
        signal.alarm(20)
        call(*args)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print("status", status, flush=True)
    os._exit(0)
"""
CASES = dict(
    fit="""
def slow(A, B):
    held.set()
    time.sleep(30)
def fit(kernel=lambda A, B: A @ B.T):
    problem = rb.RankSVMProblem(X[:9], rb.Preferences.from_scores(X[:9, 0]), kernel=kernel)
    problem.lam_max
beside(lambda: fit(slow))
in_child(fit)
""",
    compilation="""
from rankbook.base.jit import njit
function = njit(lambda x: x + 1)
def compile_slowly():
    with global_compiler_lock:
        held.set()
        time.sleep(1)
beside(compile_slowly)
in_child(function, 1)
""",
    clarabel="""
fit = lambda: rb.RankRLS(solver="qp").fit(X, X[:, 0])
fit()
in_child(fit)
""",
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("case", CASES)
def test_a_forked_child_does_not_wait_for_ever(case):
    command = [sys.executable, "-c", PRELUDE + CASES[case]]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.stdout == "status 0\n", ended.stderr
