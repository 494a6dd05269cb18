"""Base class of targets: preferences and orders of items."""

from typing import NoReturn

import numpy as np

from ..base.errors import ArgumentError
from ..base.ownership import SetOnce, as_read_only


class Target(SetOnce):
    """Target of a problem, an estimator or a metric: the known order of some items.

    :class:`rankbook.Preferences` and :class:`rankbook.Orders` are targets. A target has the number
    of its items `n_items`, their names `items` or None, and `queries` and `survival` as numbers and
    times of the items (n,), or None. Its length is the number of its preferences or choices, and
    `weight` their weights (m,). ``target[rows]`` is the target of some rows, and
    ``pairs_with(scores)`` returns the preferences that it stands for, with the scores that they
    compare. ``compared_items()`` returns the rows that occur in them.

    The values set here are defaults for targets that do not store preferences.

    Attributes
    ----------
    unit : str
        Unit of the target, a pair or an order.
    use : str
        Where the target can be passed, for messages.
    is_counted, is_product, is_listed, has_pair_weights, has_positive_margins, levels, pair_features
        As for :class:`rankbook.Preferences`.
    """

    ndim = 1
    unit: str
    use: str
    n_items: int
    items: tuple | None
    queries: np.ndarray | None
    survival: np.ndarray | None
    is_counted = is_product = is_listed = has_pair_weights = False
    has_positive_margins = True
    levels = pair_features = graph = None

    @property
    def shape(self) -> tuple[int]:
        """(n_items,): an entry for each item, as scikit-learn requires of a target y."""
        return (self.n_items,)

    def facts_of(self, rows):
        """Names, queries and survival times of some rows (p,)."""
        names = None if self.items is None else tuple(self.items[i] for i in rows.tolist())
        cut = lambda values: None if values is None else as_read_only(values[rows])
        return dict(items=names, queries=cut(self.queries), survival=cut(self.survival))

    def __array__(self, dtype=None, copy=None) -> NoReturn:
        name = type(self).__name__
        raise ArgumentError(
            f"{name} cannot be converted to an array of numbers", "an array here", self.use
        )
