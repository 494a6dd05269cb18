"""Seeds and random generators."""

import numpy as np

from .errors import ArgumentError


def as_seed(random_state):
    """Convert a `random_state` to a seed, an int.

    Parameters
    ----------
    random_state : None, int from 0 to 2**32 - 1, numpy Generator or RandomState
        None means 0. From a generator a seed is drawn, so each call returns another one.

    Raises
    ------
    ArgumentError
        If `random_state` is something else, or an integer outside this range of scikit-learn.
    """
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    is_whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if not is_whole or not 0 <= random_state < 2**32:
        raise ArgumentError(
            f"random_state is {random_state!r}",
            "None, an integer from 0 to 2**32 - 1, a numpy Generator or a RandomState",
        )
    return int(random_state)
