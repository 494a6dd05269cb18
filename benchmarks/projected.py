"""An approximate kernel, and what its answer proves of the exact one.

Seconds of the fit and of the proof, both gaps, and the peak of memory.
"""

import resource

import numpy as np

import rankbook as rb

from .common import Row, compare, gap, graded

SIZES = {"tiny": (200, (20,)), "usual": (10_000, (200, 1000)), "full": (50_000, (200, 1000))}


def rows(scale, peers):
    """All rows."""
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
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    yield Row("peak of memory of this process", n, measure="GiB", quality=float(np.round(peak, 2)))
