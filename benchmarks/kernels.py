"""Kernels at small lambda: the solver of queries, one after the other, beside other solvers.

Each fit is a RankSVM with its certificate. The data have queries of 100 items with five equal
grades of a curved noisy score. The last row of a scale chooses lambda by a path of five folds.

    python -m benchmarks.kernels 1000000        one fit of a million items: two hours of one core
"""

import sys
import time

import numpy as np

import rankbook as rb

from .common import Row, compare, gap, peak_memory, timed

# items, lambda, relative gap, and solvers to compare with
FITS = {
    "tiny": [(200, "scale", 1e-2, ("tiled",))],
    "usual": [
        (5_000, "scale", 1e-6, ("interior", "tiled")),
        (5_000, 1.0, 1e-2, ("interior", "tiled")),
        (20_000, "scale", 1e-6, ()),
        (20_000, 1.0, 1e-2, ()),
    ],
    "full": [
        (20_000, "scale", 1e-6, ("interior", "tiled")),
        (20_000, 1.0, 1e-2, ("tiled",)),
        (100_000, "scale", 1e-2, ()),
        (100_000, 1.0, 1e-2, ()),
    ],
}
FOLDS = {"tiny": 600, "usual": 4_000, "full": 20_000}  # items of a cross-validation
END, EPS = 0.5, 1e-2  # smallest lambda of its paths, and their largest gap


def curved(n, d=20, size=100):
    """Items in queries, with five grades that each query has equally often."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    score = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    places = score.reshape(-1, size).argsort(axis=1).argsort(axis=1)
    return X, places.ravel() * 5 // size, np.arange(n) // size


def rows(scale, peers):
    """All rows."""
    X, y, qid = curved(200)
    rb.RankSVM(solver="ascent").fit(X, y, qid)  # compiles
    for n, lam, tol, others in FITS[scale]:
        X, y, qid = curved(n)
        fit = lambda name, **options: (
            lambda: rb.RankSVM(lam=lam, solver=(name, options)).fit(X, y, qid)  # noqa: B023
        )
        ours = fit("ascent", tol=tol)
        peer = {name: fit(name, tol=tol) for name in others}
        yield from compare(f"lam={lam}, gap of {tol:g}", n, ours, peer, dict(gap=gap))
        yield Row("peak of memory so far", n, measure="GB", quality=round(peak_memory(), 2))
    yield from folded(FOLDS[scale])


def folded(n):
    """Rows of a cross-validation down to lam = END."""
    X, y, qid = curved(n)
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid))
    ratio = min(0.5, END / problem.lam_max)
    model = rb.RankSVMCV(solver=("epsilon", dict(eps=EPS)), lam_min_ratio=ratio)
    seconds, _ = timed(lambda: model.fit(X, y, qid))
    said = f"{model.path_solver_}, lam_={model.lam_:.3g}"
    yield Row(f"RankSVMCV to lam={END:g}", n, seconds, "gap of paths", EPS, rounds=1, note=said)


def alone(n):
    """Print what one fit of n items at the default lambda to a gap of 1e-2 costs."""
    X, y, qid = curved(n)
    solver = "ascent", dict(tol=1e-2, progress=True)
    clock, processor = time.perf_counter(), time.process_time()
    model = rb.RankSVM(solver=solver).fit(X, y, qid)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    print(
        f"{n:,} items: {clock:,.0f} s, {processor:,.0f} s of processor time, "
        f"{peak_memory():.2f} GB, gap {gap(model):.2g}"
    )


if __name__ == "__main__":
    for size in sys.argv[1:]:
        alone(int(size))
