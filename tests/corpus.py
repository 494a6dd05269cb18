"""Data on which methods fail first, for all tests."""

import numpy as np


def degenerate(rng, far=1e5):
    """Items (24, d) by name: copies, grids, constants, low rank, more features than items.

    Those of "far" lie that far from the origin.
    """
    X = rng.normal(size=(24, 3))
    return dict(
        generic=X,
        duplicates=np.repeat(X[:8], 3, axis=0),
        grid=rng.integers(0, 2, (24, 3)).astype(float),
        constant_column=np.c_[X, np.ones(24)],
        all_constant=np.full((24, 2), 0.1),
        rank_one=np.outer(np.arange(24.0), [1.0, 2.0]),
        wide=rng.normal(size=(24, 60)),
        far=X + far,
    )
