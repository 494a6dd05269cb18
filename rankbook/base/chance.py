"""Seeds and random generators."""

import numpy as np

from .errors import ArgumentError


def as_seed(random_state):
    """The seed, an int, that a `random_state` stands for.

    Parameters
    ----------
    random_state : None, int from 0 to 2**32 - 1, numpy Generator or RandomState
        None stands for 0; a generator is drawn from, so that it gives another seed each time.

    Raises
    ------
    ArgumentError
        If it is something else, or an integer outside that range, which is scikit-learn's.
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
