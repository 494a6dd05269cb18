"""First calls: a fit or a command in a new process, before anything is compiled.

The peer is a second process, which finds the compiled code of the first one on disk. Processor
seconds are those of the whole process, with the start of Python and all imports.
"""

import os
import shutil
import subprocess
import sys
from tempfile import TemporaryDirectory

from .common import compare

FIT = """
import numpy as np, rankbook as rb
X = np.random.default_rng(0).normal(size=(60, 3))
rb.{}.fit(X, (X @ [1.0, -1.0, 0.5]).round().clip(0))
"""
SELECT = """
import sys
from rankbook.app.cli.main import main
sys.argv = ["rankbook", "select", "cancer"]
main()
"""
FIRST = {
    "RankSVM, L1": FIT.format("RankSVM(kernel='linear', penalty='l1')"),
    "RankSVMCV, linear": FIT.format("RankSVMCV(kernel='linear')"),
    "rankbook select cancer": SELECT,
    "RankSVM, newton": FIT.format("RankSVM(kernel='linear', solver='newton')"),
    "RankSVM, logistic": FIT.format("RankSVM(kernel='linear', loss='logistic')"),
    "RankSVMCV, NDCG@10": FIT.format("RankSVMCV(metric='ndcg@10')"),
    "OnlineRankSVM": FIT.format("OnlineRankSVM(max_updates=300)"),
}
CASES = {"tiny": [*FIRST][3:4], "usual": [*FIRST][1:3], "full": [*FIRST]}


def run(code, folder):
    """Run code in a new process that keeps compiled code in a folder."""
    environ = os.environ | dict(NUMBA_CACHE_DIR=folder)
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=environ,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def rows(scale, peers):
    """First calls, each beside a second one."""
    for what in CASES[scale]:
        with TemporaryDirectory() as folder:

            def first():
                shutil.rmtree(folder)
                run(FIRST[what], folder)

            second = {"compiled before": lambda: run(FIRST[what], folder)}
            yield from compare(f"first call: {what}", 60, first, second)
