"""Ctrl-C ends fits in threads other than the main thread, which Python does not tell about it."""

import os
import signal
import subprocess
import sys
import time

import pytest

PRELUDE = """
import os, signal, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import rankbook as rb
X = np.random.default_rng(0).normal(size=(20, 3))
seconds, begun, done = 20.0, [], threading.Semaphore(0)
def kernel(A, B):
    if not begun:
        begun.append(os.write(1, b"begun\\n"))
    time.sleep(seconds)  # like compiled code, which an exception ends only when it returns
    return A @ B.T
def fit():
    try:
        problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(X[:, 0]), kernel=kernel)
        rb.solve(problem, 1.0)
        os.write(1, b"done\\n")
    except KeyboardInterrupt:
        os.write(1, b"ended\\n")
    finally:
        done.release()
def start(count):
    threads = [threading.Thread(target=fit) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads
def left_as_it_was():
    assert signal.getsignal(signal.SIGINT) is handler
handler = signal.getsignal(signal.SIGINT)
"""
JOIN = """
try:
    for thread in threads:
        thread.join()
except KeyboardInterrupt:
    os.write(1, b"main\\n")
    for thread in threads:
        done.acquire(timeout=5)  # an interrupted join of Python 3.11 counts as done
left_as_it_was()
"""
CASES = {
    "threads": ("threads = start(2)" + JOIN, ["ended", "ended", "main"]),
    "main thread ends": ("start(2)\ndone.acquire()", ["ended", "ended"]),
    "beside the main thread": ("threads = start(1)\nfit()" + JOIN, ["ended", "ended"]),
    "pool": (
        """
try:
    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(fit) for _ in range(2)]:
            future.result()
except KeyboardInterrupt:
    os.write(1, b"main\\n")
left_as_it_was()
""",
        ["ended", "ended", "main"],
    ),
}
HANDLED = """
seconds = 2.5
handler = lambda *_: os.write(1, b"handled\\n")
signal.signal(signal.SIGINT, handler)
threads = start(1)
""" + JOIN.replace("left_as_it_was", "")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def interrupted(code):
    """The words that a program prints after Ctrl-C, its return code, and its seconds since."""
    process = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    with process:
        try:
            assert process.stdout.readline() == "begun\n", process.stderr.read()
            time.sleep(0.5)  # for the main thread to wait, and the other fit to begin
            begun = time.monotonic()
            process.send_signal(signal.SIGINT)
            words, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    said = [line for line in errors.splitlines() if not line.startswith("rankbook: compiling")]
    assert not said or said[-1] == "KeyboardInterrupt"
    return sorted(words.split()), process.returncode, time.monotonic() - begun


@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_ends_all_fits(case):
    code, expected = CASES[case]
    words, status, seconds = interrupted(code)
    assert words == expected and seconds < 2
    assert status == (0 if "main thread ends" not in case else -signal.SIGINT)


def test_a_program_that_handles_ctrl_c_itself_goes_on():
    words, status, _ = interrupted(HANDLED)
    assert words == ["done", "handled"] and status == 0
