"""First calls: a fit or a command in a new process, before anything is compiled.

One peer is a second process, which finds the compiled code of the first one on disk. The other,
with `--wheel PYTHON`, is a first call in an environment in which a wheel with compiled code is
installed (`python tools/release.py dist` makes one), with an empty folder for what it compiles.
Processor seconds are those of the whole process, with the start of Python and all imports.
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
IMPORT = "import rankbook as rb; rb.RankSVM"
FIRST = {
    "RankSVMCV": FIT.format("RankSVMCV()"),
    "RankSVM, L1": FIT.format("RankSVM(kernel='linear', penalty='l1')"),
    "RankSVMCV, NDCG@10": FIT.format("RankSVMCV(metric='ndcg@10')"),
    "rankbook select cancer": SELECT,
    "RankSVM, newton": FIT.format("RankSVM(kernel='linear', solver='newton')"),
    "RankSVM, logistic": FIT.format("RankSVM(kernel='linear', loss='logistic')"),
    "OnlineRankSVM": FIT.format("OnlineRankSVM(max_updates=300)"),
    "import, rb.RankSVM": IMPORT,
}
CASES = {"tiny": [*FIRST][4:5], "usual": [*FIRST][:4], "full": [*FIRST]}


def run(code, folder, python=sys.executable):
    """Run code in a new process that keeps compiled code in a folder."""
    elsewhere = dict(cwd=folder, env=os.environ | dict(NUMBA_CACHE_DIR=folder, PYTHONPATH=""))
    here = dict(env=os.environ | dict(NUMBA_CACHE_DIR=folder))
    subprocess.run(
        [python, "-W", "ignore", "-c", code],
        **(here if python == sys.executable else elsewhere),
        check=True,
        stdout=subprocess.DEVNULL,
    )


def rows(scale, peers):
    """First calls, each beside a second one and the first one of a wheel."""
    wheel = peers.get("wheel")
    for what in CASES[scale]:
        with TemporaryDirectory() as folder, TemporaryDirectory() as other:

            def first():
                shutil.rmtree(folder)
                run(FIRST[what], folder)

            def first_of_wheel():
                shutil.rmtree(other)
                os.mkdir(other)
                run(FIRST[what], other, wheel)

            second = {"compiled before": lambda: run(FIRST[what], folder)}
            second |= {"wheel with compiled code": first_of_wheel} if wheel else {}
            yield from compare(f"first call: {what}", 60, first, second)
