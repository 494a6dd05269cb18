"""Votes: comparisons of two items, each a win of one of them or a tie."""

from dataclasses import dataclass, replace

import numpy as np

from ..base.errors import ArgumentError
from .events import tie_halves

FEW = 0.5  # votes are summed if at most this share of a sample of their features are distinct
SAMPLE = 20_000  # votes in the sample
UNSORTED = 1 << 16  # largest number of pairs of items whose votes may be in any order
MANY = 4_000_000  # numbers that are counted in one array
BLOCK = 1 << 16  # rows of features handled together
INFLATED = 10  # times the variance that an effect would have alone; then votes hardly determine it


def are_counts(weight):
    """Whether weights are numbers of votes or orders.

    Whole numbers are, and so are larger multiples of 1/2, where ties count as half wins.
    """
    step = 0.5 if weight.max(initial=0.0) > 1 else 1.0
    return bool((weight % step == 0).all())


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes between pairs of n items; a row may stand for several equal votes.

    Attributes
    ----------
    first, second : ndarrays of shape (m,), int
    weight : ndarray of shape (m,)
        Number of votes of a row.
    points : ndarray of shape (m,)
        Points of the first item: 1 for a win and 1/2 for a tie, summed over the votes of a row.
    tied : ndarray of shape (m,)
        Number of ties among the votes of a row.
    features : ndarray of shape (m, p)
        Pair features as seen from the first item.
    n_items : int
    items : tuple, optional
        Names of the items.
    unit : ndarray of shape (m,), int, optional
        Number of the judge, or of another sampling unit, of each row.
    """

    first: np.ndarray
    second: np.ndarray
    weight: np.ndarray
    points: np.ndarray
    tied: np.ndarray
    features: np.ndarray
    n_items: int
    items: tuple | None = None
    unit: np.ndarray | None = None

    @classmethod
    def of(cls, first, second, points, n_items, *, weight=None, features=None, items=None):
        """Create them from individual votes: points (m,) of the first item are 1, 1/2 or 0."""
        m = len(first)
        weight = np.ones(m) if weight is None else np.asarray(weight, dtype=float)
        if features is None:
            features = np.empty((m, 0))
        return cls(
            np.asarray(first, dtype=np.int32),
            np.asarray(second, dtype=np.int32),
            weight,
            points * weight,
            np.where(points == 0.5, weight, 0.0),
            np.ascontiguousarray(features, dtype=float),
            n_items,
            items,
        )

    @classmethod
    def of_preferences(cls, prefs, unit=None):
        """Create them from a list of preferences, and the unit (m,) of each.

        The two halves of a tie become one vote.
        """
        if not (prefs.margin == 1).all():
            raise ArgumentError("votes have margins", "preferences without margins")
        half = tie_halves(prefs)
        is_tie = np.r_[half[1:], False][~half]
        weight = np.where(is_tie, 2.0, 1.0) * prefs.weight[~half]
        features = None if prefs.pair_features is None else prefs.pair_features[~half]
        points = np.where(is_tie, 0.5, 1.0)
        ends = prefs.better[~half], prefs.worse[~half]
        more = dict(weight=weight, features=features, items=prefs.items)
        found = cls.of(*ends, points, prefs.n_items, **more)
        return found if unit is None else replace(found, unit=unit[~half])

    @classmethod
    def of_orders(cls, orders):
        """Create votes from orders of at most two items, or return None for longer orders.

        Two items that share a place are tied.
        """
        size = np.bincount(orders.order)
        late = orders.entry is not None
        if late or size.max(initial=0) > 2 or (orders.risk_weight != 1).any():
            return None
        start = np.flatnonzero(size[orders.order] == 2)[::2]
        ends = orders.item[start], orders.item[start + 1]
        points = np.where(orders.group[start] == orders.group[start + 1], 0.5, 1.0)
        more = dict(weight=orders.choice_weight[start], items=orders.items)
        return cls.of(*ends[:: -1 if orders.lowest_first else 1], points, orders.n_items, **more)

    def __len__(self):
        return len(self.first)

    @property
    def ends(self):
        """The first and the second items."""
        return self.first, self.second

    def rows(self, chosen):
        """Some of the rows."""
        names = ("first", "second", "weight", "points", "tied", "features", "unit")
        parts = {name: getattr(self, name) for name in names}
        found = {name: part[chosen] for name, part in parts.items() if part is not None}
        return replace(self, **found)

    def weighted(self, factor):
        """The votes with their weights times a factor (m,)."""
        parts = {name: getattr(self, name) * factor for name in ("weight", "points", "tied")}
        return replace(self, **parts)

    def among(self, kept):
        """The votes between some items, given as booleans (n,). Other votes are dropped."""
        if kept.all():
            return self
        place = np.cumsum(kept) - 1
        found = self.rows(kept[self.first] & kept[self.second])
        names = range(self.n_items) if self.items is None else self.items
        items = tuple(name for name, keep in zip(names, kept) if keep)
        ends = (place[end].astype(np.int32) for end in found.ends)
        return replace(
            found, **dict(zip(("first", "second"), ends)), n_items=len(items), items=items
        )

    def compared(self):
        """Number (n,) of votes on each item."""
        return sum(np.bincount(end, self.weight, self.n_items) for end in self.ends)

    @property
    def are_counts(self):
        """Whether the weights are numbers of votes."""
        return are_counts(self.weight)

    def counted(self):
        """Return the votes, with weights scaled if they are not numbers of votes.

        Votes of weights w carry the information of (sum w)^2 / sum w^2 equal votes. The scaled
        weights have this sum.
        """
        if self.are_counts:
            return self
        parts = dict(weight=self.weight, points=self.points, tied=self.tied)
        scale = self.weight.sum() / (self.weight**2).sum()
        return replace(self, **{name: scale * part for name, part in parts.items()})

    def balanced(self, least):
        """Return the votes with weights that give all pairs of items the same total weight.

        A pair with fewer than `least` votes gets a smaller weight, in proportion. The sum of all
        weights does not change.
        """
        from pandas import factorize

        ends = np.sort(self.ends, axis=0).astype(np.int64)
        pair = factorize(ends[0] * self.n_items + ends[1])[0]
        factor = 1 / np.maximum(np.bincount(pair, self.weight), least)[pair]
        return self.weighted(factor * (self.weight.sum() / (self.weight @ factor)))

    def confounded(self, names):
        """Names of the features (p,) whose effects the votes hardly tell apart.

        "the first place" is the effect of a feature that is 1 in all votes, such as home_advantage.
        O(m p^2).
        """
        U, names = self.features, [*names, "the first place"]
        if not U.size:
            return []
        size, G = np.r_[np.abs(U).max(axis=0), 1.0], np.zeros((len(names),) * 2)
        for i in range(0, len(U), BLOCK):
            part = np.c_[U[i : i + BLOCK], np.ones(len(U[i : i + BLOCK]))] / size
            G += (part.T * self.weight[i : i + BLOCK]) @ part
        root = np.sqrt(G.diagonal())
        G /= root[:, None] * root
        if names[0] == "home_advantage" and np.isclose(G[0, -1], 1):
            G = G[:-1, :-1]
        e, Q = np.linalg.eigh(G)
        inflation = Q**2 @ (1 / np.maximum(e, 1e-12))
        return [name for name, times in zip(names, inflation) if times > INFLATED]

    def one_sided(self, names):
        """Names of the features (p,) that have one sign in all votes, unless one is constant."""
        low, high = self.features.min(axis=0), self.features.max(axis=0)
        if (low == high).any():  # it measures the advantage of the first place
            return []
        return [n for n, a, b in zip(names, low, high) if a >= 0 or b <= 0]

    def freedom(self):
        """Degrees of freedom of a variance from the units, infinite without units.

        Units with m votes each count as (sum m)^2 / sum m^2 units of equal size.
        """
        if self.unit is None:
            return np.inf
        size = np.bincount(self.unit, self.weight)
        return max(1.0, size.sum() ** 2 / (size**2).sum() - 1)

    def _by_pair(self):
        """The votes without units, by pair if there are many pairs, and the row of each vote."""
        found, place = replace(self, unit=None), np.arange(len(self))
        if self.n_items**2 <= UNSORTED:
            return found, place
        order = np.argsort(self.first.astype(np.int64) * self.n_items + self.second)
        row = np.empty_like(place)
        row[order] = place
        return found.rows(order), row

    def kinds(self):
        """Equal votes as rows of their own, the item with the lower number first.

        Votes are not joined if a sample of them has mostly distinct features. Rows are in the order
        of their pairs, except votes on few items that are not joined. O(m log m).

        Returns
        -------
        found : Votes
            A row of each kind, whose counts are those of all votes of the kind; without units.
        kind : ndarray of shape (m,), int
            The row of each vote.
        points : ndarray of shape (m,)
            Points of the first item of that row.
        """
        from pandas import factorize

        features, n = self.features, self.n_items
        if features.size:
            some = features[:: max(1, len(features) // SAMPLE)]
            if len(np.unique(some, axis=0)) > FEW * len(some):
                return *self._by_pair(), self.points
        swap = self.first > self.second
        low, high = np.where(swap, self.ends[::-1], self.ends)
        points = np.where(swap, self.weight - self.points, self.points)
        pair = code = low.astype(np.int64) * n + high
        del low, high
        if features.size:
            features = np.where(swap[:, None], -1.0, 1.0) * features + 0.0
            for column in features.T:
                number, values = factorize(column)
                code = dense_ranks(code)[0].astype(np.int64) * len(values) + number
        kind, codes = dense_ranks(code)
        some = np.empty(len(codes), dtype=np.intp)
        some[kind] = np.arange(len(kind))
        ends = (end.astype(np.int32) for end in np.divmod(pair[some], n))
        counts = (np.bincount(kind, each) for each in (self.weight, points, self.tied))
        return Votes(*ends, *counts, features[some], n, self.items), kind, points


def dense_ranks(code):
    """Return the ranks (m,) of numbers (m,) among the distinct ones, and the sorted distinct ones.

    Parameters
    ----------
    code : ndarray of shape (m,), int
        Numbers >= 0.
    """
    if code.max(initial=0) < MANY:
        used = np.bincount(code) > 0
        return (np.cumsum(used, dtype=np.int32) - np.int32(1))[code], np.flatnonzero(used)
    order = np.argsort(code)
    new = np.r_[True, np.diff(code[order]) > 0]
    rank = np.empty(len(code), dtype=np.int32)
    rank[order] = np.cumsum(new, dtype=np.int32) - np.int32(1)
    return rank, code[order[new]]
