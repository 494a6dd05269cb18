"""An approximate kernel and what it proves of the exact one: `python benchmarks/projected.py [n]`.

Seconds, the peak of memory, and both gaps, for n items (50000 by default) with 20 features.
"""

import resource
import sys
import time
import warnings

import numpy as np

import rankbook as rb


def main(n=50_000):
    """Fit, then prove."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    y = np.digitize(X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=n), [-1, 0, 1, 2])
    for count in (200, 1000):
        start = time.perf_counter()
        model = rb.RankSVM(lam=1e4, gamma=0.01, approximate_kernel=count)
        model.fit(X, y, np.arange(n) // 100)
        fitted = time.perf_counter() - start
        exact = model.exact_certificate_
        proven = time.perf_counter() - start - fitted
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{n} items on {count}: fit {fitted:.1f} s, gap {model.certificate_.relative_gap:.0e}; "
            f"gap for the kernel itself {exact.relative_gap:.1e}, proven in {proven:.1f} s; "
            f"{peak:.2f} GiB at most",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
