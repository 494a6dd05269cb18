"""What one lambda of a survival SVM costs, beside scikit-survival.

Half of the survival times are censored. A pair of patients is comparable if the shorter time ended
in an event, and no two times are equal: of tied times scikit-survival draws an order at random,
and ours compares an event with a censoring of the same time, but not two events.

scikit-survival minimizes `|w|^2/2 + alpha/2` times the sum of `max(0, 1 - (f_i - f_j))^2` over all
comparable pairs, ours `lam/2 |w|^2` plus that sum: lam = 2 / alpha, and our objective is lam times
theirs. Its coefficients are ours, but its `predict` returns the risk, the negative of the score.
The "excess gap" of every answer is the distance of its objective from a lower bound that ours
proves, relative to this bound. Tolerances are such that all of them reach 1e-8.

With a kernel, ours takes its landmarks from all items, so that the approximate kernel is the exact
one. Newton's method then works on a factor of the kernel matrix and counts the pairs; "our
interior", the solver for exact kernels, lists them.

A million patients are fitted in a separate process, so that the system can measure its peak
memory.
"""

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

import rankbook as rb

from .common import Row, compare, cpu_seconds, if_installed
from .files import peak_memory

LINEAR = {"tiny": (200,), "usual": (10_000, 30_000), "full": (10_000, 30_000, 100_000)}
MANY = {"tiny": 5_000, "usual": 1_000_000, "full": 1_000_000}
KERNEL = {"tiny": 100, "usual": 2_000, "full": 2_000}
ALONE = 10_000  # items with a kernel at full scale, without a peer
ALPHA = 1.0
SHARE = 1e-3  # lambda for each preference
OPTIMIZERS = ("avltree", "rbtree")
TOLERANCES = {"linear": 1e-5, "kernel": 1e-6}  # of scikit-survival


def patients(n, d=10, seed=0):
    """Features, times and events: exponential times, half of them censored."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d) / np.sqrt(d)
    life, end = rng.exponential(np.exp(-X @ w)), rng.exponential(size=n)
    return X, np.minimum(life, end), life <= end


def structured(time, event):
    """Survival times as scikit-survival has them."""
    y = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event, time
    return y


def fitted(kind, X, y, lam, **options):
    """A survival SVM of scikit-survival with our lambda."""
    from sksurv import svm

    model = getattr(svm, kind)(alpha=2 / lam, max_iter=1000, random_state=0, **options)
    return model.fit(X, y)


def linear(n):
    """Ours beside both trees of scikit-survival, from the arrays to the coefficients."""
    X, time, event = patients(n)
    y, lam = structured(time, event), 2 / ALPHA
    make = lambda: rb.RankSVMProblem(
        X, rb.Preferences.from_survival(time, event), "linear", loss="squared"
    )
    problem = make()
    bound = rb.solve(problem, lam, solver="newton", tol=1e-11).certificate.dual

    def excess(weights):
        return max(0.0, problem.certificate(lam, weights=weights).primal / bound - 1)

    def theirs(optimizer):
        options = dict(optimizer=optimizer, tol=TOLERANCES["linear"])
        run = lambda: fitted("FastSurvivalSVM", X, y, lam, **options).coef_
        return if_installed("sksurv", run)

    peers = {f"scikit-survival, {name}": theirs(name) for name in OPTIMIZERS}
    ours = lambda: rb.solve(make(), lam, solver="newton", tol=1e-8).weights
    what = f"linear, squared loss, {len(problem.prefs):,} preferences, lambda = {lam:g}"
    return compare(what, n, ours, peers, {"excess gap": excess})


def kernelized(n, lam=None):
    """Ours with an rbf kernel; beside scikit-survival and the interior point if lambda is given."""
    X, time, event = patients(n)
    prefs, y = rb.Preferences.from_survival(time, event), structured(time, event)
    beside, lam = lam is not None, SHARE * len(prefs) if lam is None else lam
    problem = rb.RankSVMProblem(X, prefs, "rbf", loss="squared")
    options = dict(kernel="rbf", gamma=problem.kernel.gamma, optimizer="rbtree")
    options |= dict(tol=TOLERANCES["kernel"])
    theirs = lambda: fitted("FastKernelSurvivalSVM", X, y, lam, **options).coef_

    def listed():
        again = rb.Preferences.from_survival(time, event)
        return rb.solve(rb.RankSVMProblem(X, again, "rbf", loss="squared"), lam, solver="interior")

    def proven(answer):
        if isinstance(answer, rb.RankSVM):
            return answer.exact_certificate_.relative_gap
        coef = answer if isinstance(answer, np.ndarray) else answer.coef
        return problem.certificate(lam, coef=coef).relative_gap

    peers = {"scikit-survival, rbtree": if_installed("sksurv", theirs), "our interior": listed}
    model = rb.RankSVM(lam, "rbf", loss="squared", approximate_kernel=n)
    ours = lambda: model.fit(X, structured(time, event))
    what = f"rbf, squared loss, {len(prefs):,} preferences, lambda = {lam:.4g}"
    return compare(what, n, ours, peers if beside else None, {"gap": proven})


def measure(n):
    """Facts about one fit, as a dict; what is compiled is compiled before."""
    fit = rb.RankSVM(2 / ALPHA, "linear", loss="squared").fit
    X, time, event = patients(200)
    fit(X, structured(time, event))
    X, time, event = patients(n)
    y, start, spent = structured(time, event), perf_counter(), cpu_seconds()
    model = fit(X, y)
    return dict(
        gap=model.certificate_.relative_gap,
        clock=perf_counter() - start,
        processor=cpu_seconds() - spent,
        peak=peak_memory(),
    )


def many(n):
    """Rows of the fit to many patients in memory, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.survival", str(n)]
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root)
    found = json.loads(done.stdout.splitlines()[-1])
    what, note = "RankSVM, linear, squared loss, lambda = 2", f"wall clock: {found['clock']:.1f} s"
    for name, measure in (("peak", "peak memory, GB"), ("gap", "gap")):
        yield Row(what, n, found["processor"], measure, found[name], rounds=1, note=note)


def rows(scale, peers):
    """All rows."""
    for n in LINEAR[scale]:
        yield from linear(n)
    yield from many(MANY[scale])
    yield from kernelized(KERNEL[scale], 2 / ALPHA)
    if scale == "full":
        yield from kernelized(ALONE)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
