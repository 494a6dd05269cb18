"""An approximate kernel, what its answer proves of the exact one, and the exact one itself.

First kernels on many items without a kernel matrix in double precision: seconds of the fit beside
those that its products with the matrix alone would take, gap, and memory. Then approximations:
seconds of the fit and of the proof, and both gaps.
"""

import resource

import numpy as np

import rankbook as rb

from .common import Row, compare, gap, graded, timed

WHOLE = {"tiny": (200,), "usual": (5_000,), "full": (20_000, 100_000)}  # items
SIZES = {"tiny": (200, (20,)), "usual": (10_000, (200, 1000)), "full": (50_000, (200, 1000))}


def rows(scale, peers):
    """All rows."""
    yield from whole(scale)
    n, counts = SIZES[scale]
    X, y, qid = graded(n, d=20)
    for count in counts:
        model = rb.RankSVM(lam=n / 5, gamma=0.01, approximate_kernel=count)
        fit = lambda: model.fit(X, y, qid)  # noqa: B023
        what = f"RankSVM(lam={n / 5:g}, gamma=0.01, approximate_kernel={count})"
        yield from compare(what, n, fit, None, {"gap": gap})
        exact = lambda: model.solution_.problem.exact_certificate(model.solution_)  # noqa: B023
        proven = {"gap for the kernel itself": lambda certificate: certificate.relative_gap}
        yield from compare(f"{what}, its proof", n, exact, None, proven)
    yield memory(n)


def memory(n):
    """The row of the most memory that this process has taken so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return Row("peak of memory so far", n, measure="GiB", quality=float(np.round(peak, 2)))


def whole(scale):
    """Rows of the ranking SVM and RankRLS with a kernel on all items."""
    for n in WHOLE[scale]:
        X, y, qid = graded(n)
        models = {
            f"RankSVM(lam={n / 2:g}), gap of 1e-2": rb.RankSVM(
                lam=n / 2, solver=("tiled", dict(tol=1e-2))
            )
        }
        if n <= 20_000:
            models |= {
                f"RankSVM(lam={n / 2:g})": rb.RankSVM(lam=n / 2, solver="tiled"),
                "RankRLS(lam=1)": rb.RankRLS(lam=1.0),
                "RankRLS(lam=1), one query": rb.RankRLS(lam=1.0),
            }
        for what, model in models.items():
            group = None if "one query" in what else qid
            seconds, _ = timed(lambda: model.fit(X, y, group))  # noqa: B023
            problem, info = model.solution_.problem, model.solution_.info
            products = info.get("products", 0)  # none for few items, whose matrix is factored
            limit = products * timed(lambda: problem.tiles.matvec(problem.X[:, 0]))[0]  # noqa: B023
            proof = model.certificate_
            yield Row(
                what,
                n,
                seconds,
                "gap",
                proof.relative_gap,
                f"{products} products",
                limit if products else None,
                seconds / limit if products else None,
                rounds=1,
            )
            if proof.relative_residual:
                yield Row(what, n, measure="residual", quality=proof.relative_residual)
            yield memory(n)
