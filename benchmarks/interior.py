"""What one lambda of the ranking SVM costs: `python benchmarks/interior.py [full]`.

A line for each figure: what, seconds, steps, the gap that the certificate proves, and where a peer
is named, the ratio to it in the same run. PIQP is measured where it is installed, Clarabel always;
both get the dual in node variables from the solver "qp". With "full" also 5000 and 10000 items, and
RankSVMCV on 1000.
"""

import sys
import time
import warnings

import numpy as np

import rankbook as rb


def graded(n, d=10, size=100, seed=0):
    """Items in queries of `size`, with five levels of a smooth noisy score."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, [-1, 0, 1, 2]), np.arange(n) // size


def cancer(kernel="rbf"):
    """Wisconsin's breast cancers with standardized features, all preferences."""
    data = rb.datasets.load("cancer")
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    return rb.RankSVMProblem(X, rb.Preferences.from_scores(data.y), kernel=kernel)


def timed(function):
    """Seconds of a call, and what it returned."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def show(what, seconds, answer, ratio=""):
    """Print one figure."""
    gap = answer.certificate.relative_gap
    steps = f"{answer.info['steps']} steps, " if "steps" in answer.info else ""
    print(f"{what}: {seconds:.2f} s, {steps}gap {gap:.0e}{ratio}", flush=True)


def backends():
    """Options of the peers that are installed."""
    from rankbook.solvers.qp.solver import qp_backends

    return [name for name in ("CLARABEL", "PIQP") if name in qp_backends()]


def one_lambda(lams=(100.0, 10.0, 1.0, 0.1, 0.01)):
    """Cancer's full graph at several lambdas, beside quadratic programs."""
    problem = cancer()
    problem.gram  # noqa: B018
    for lam in lams:
        seconds, answer = timed(lambda lam=lam: rb.solve(problem, lam, solver="interior"))
        show(f"Cancer, {len(problem.prefs)} preferences, lam = {lam:g}", seconds, answer)
        for backend in backends():
            other, peer = timed(lambda: rb.solve(problem, lam, solver="qp", backend=backend))
            show(f"  {backend}", other, peer, f"; interior takes {seconds / other:.2f} of it")


def as_it_comes(sizes=(1000, 2500)):
    """RankSVM() with its defaults: the kernel matrix, the solution and its certificate."""
    for n in sizes:
        X, y, qid = graded(n)
        seconds, model = timed(lambda: rb.RankSVM().fit(X, y, qid))
        show(f"RankSVM(), {n} items: {model.solver_}", seconds, model.solution_)


def cross_validated(n=1000):
    """RankSVMCV() with its defaults, five whole paths and a fit."""
    X, y, qid = graded(n)
    seconds, model = timed(lambda: rb.RankSVMCV().fit(X, y, qid))
    show(f"RankSVMCV(), {n} items, folds by {model.path_solver_}", seconds, model.solution_)


def factors(n=20_000):
    """Kernels with a thin factor: a linear one, and a smooth one in the plane."""
    X, y, qid = graded(n)
    linear = rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid), kernel="linear")
    seconds, answer = timed(lambda: rb.solve(linear, 1.0, solver="interior"))
    show(f"linear, {n} items, {len(linear.prefs)} preferences", seconds, answer)
    other, peer = timed(lambda: rb.solve(linear, 1.0, solver="newton"))
    show("  newton", other, peer, f"; interior takes {seconds / other:.1f} of it")
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(1600, 2))
    y = (plane[:, 0] + 0.5 * rng.normal(size=1600) > 0).astype(int)
    smooth = rb.RankSVMProblem(plane, rb.Preferences.from_scores(y, np.arange(1600) % 16))
    seconds, answer = timed(lambda: rb.solve(smooth, 1.0, solver="interior"))
    show(f"rbf in the plane, 1600 items, rank {answer.info['unknowns']}", seconds, answer)


def main():
    """All figures."""
    warnings.simplefilter("ignore")
    as_it_comes((1000, 2500, 5000, 10_000) if "full" in sys.argv[1:] else (1000, 2500))
    one_lambda()
    factors()
    if "full" in sys.argv[1:]:
        cross_validated()


if __name__ == "__main__":
    main()
