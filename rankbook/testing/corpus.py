"""Small degenerate data sets."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..preferences.graph import Preferences


def degenerate_items(rng: np.random.Generator, far: float = 1e5) -> dict[str, np.ndarray]:
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


@dataclass(frozen=True, eq=False)
class Instance:
    """Items and what is known of their order.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Grades.
    qid : ndarray of shape (n,), optional
    pairs : tuple of two ndarrays of shape (m,), int, optional
        Better and worse items, instead of grades.
    weight, margin : function of a length, optional
        What weighs preferences or examples, and their margins.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray | None = None
    pairs: tuple[np.ndarray, np.ndarray] | None = None
    weight: Callable[[int], np.ndarray] | None = None
    margin: Callable[[int], np.ndarray] | None = None

    @property
    def prefs(self) -> Preferences:
        """The preferences, with weights and margins."""
        if self.pairs is None:
            prefs = Preferences.from_scores(self.y, self.qid)
        else:
            prefs = Preferences(*self.pairs, len(self.X))
        weight, margin = (make and make(len(prefs)) for make in (self.weight, self.margin))
        if weight is None and margin is None:
            return prefs
        return prefs.reweighted(weight, margin)

    def permuted(self, order: np.ndarray) -> "Instance":
        """The same with rows and pairs in another order, and other names for the queries."""
        place, pairs = np.argsort(order), self.pairs
        if pairs is not None:
            pairs = tuple(place[np.asarray(ends)][::-1] for ends in pairs)
        qid = None if self.qid is None else 7 - self.qid[order]
        return replace(self, X=self.X[order], y=self.y[order], qid=qid, pairs=pairs)


def item_instances() -> list[Instance]:
    """Instances with one query, weights 1 and margins 1."""
    rng = np.random.default_rng(7)
    A, y = rng.normal(size=(16, 4)), np.sort(rng.integers(0, 3, 16)).astype(float)
    grid = rng.integers(-1, 2, (18, 3)).astype(float)
    binary = rng.integers(0, 2, (20, 6)).astype(float)
    thirds, zeros = np.arange(18) // 6 * 1.0, np.zeros(16)
    star = Preferences.from_scores(y, graph="star")
    return [
        Instance("plain", A, y),
        Instance("star", A, y, pairs=(star.better, star.worse)),
        Instance("copies that contradict", np.r_[A, A[::-1]], np.sort(np.r_[y, y])),
        Instance("copies that agree", np.repeat(A, 2, axis=0), np.repeat(y, 2)),
        Instance("integer grid", grid, np.sort(rng.integers(0, 3, 18)).astype(float)),
        Instance("binary features", binary, np.arange(20) // 10 * 1.0),
        Instance("rank one", np.outer(A[:, 0], [1.0, 2.0, -0.5]), y),
        Instance("rank one on integers", np.outer(np.arange(10), [1.0, 2.0]), np.arange(10) // 4),
        Instance("twin features", np.c_[A, A, -A[:, :1]], y),
        Instance("constant columns", np.c_[np.full(16, 0.1), A, np.full(16, -7.3)], y),
        Instance("cycles", A, zeros, pairs=([0, 1, 2, 3, 4, 5, 5], [1, 2, 0, 4, 5, 3, 0])),
        Instance("both ways", A, zeros, pairs=([0, 1, 2, 3], [1, 0, 3, 2])),
        Instance(
            "repeated preferences",
            grid,
            np.zeros(18),
            pairs=([0, 0, 0, 1, 1, 5], [1, 1, 2, 2, 2, 9]),
        ),
        Instance("d > n", rng.normal(size=(8, 30)), np.arange(8.0)),
        Instance("d > n, integers", rng.integers(-1, 2, (9, 25)).astype(float), np.arange(9) // 3),
        Instance("separable", A + 5 * y[:, None], y),
        Instance("separable integers", grid + 3 * thirds[:, None], thirds),
        Instance("one preference", A, zeros, pairs=([3], [5])),
        Instance("one feature", A[:, :1], y),
        Instance("one item above all", A, np.r_[np.zeros(15), 1.0]),
        Instance("nothing to learn", np.ones((5, 2)), np.arange(5.0)),
    ]


def query_instances() -> list[Instance]:
    """Instances with several queries, some of which compare nothing."""
    rng = np.random.default_rng(8)
    A, grid = rng.normal(size=(16, 4)), rng.integers(-1, 2, (16, 3)).astype(float)
    quarters, grades = np.arange(16) // 4, np.tile([0.0, 0.0, 1.0, 2.0], 4)
    level = np.where(quarters == 1, 3.0, grades)
    alone = np.r_[quarters[:12], 4, 5, 6, 7]
    return [
        Instance("queries", A, grades, quarters),
        Instance("queries on a grid", grid, grades, quarters),
        Instance("queries of one level", A, level, quarters),
        Instance("queries of one item", A, grades, alone),
    ]


def scattered(low: float, high: float) -> Callable[[int], np.ndarray]:
    """A function of a length that gives powers of ten from low to high, in no order."""

    def powers(m):
        return 10.0 ** np.random.default_rng(m).permutation(np.linspace(low, high, m))

    return powers


def repeated(*values: float) -> Callable[[int], np.ndarray]:
    """A function of a length that gives the values again and again."""
    return lambda m: np.resize(np.array(values), m)


def weight_instances() -> list[Instance]:
    """Instances whose preferences, or examples, do not weigh the same."""
    plain, _, contradiction, _, grid = item_instances()[:5]
    return [
        replace(plain, name="weights over ten orders", weight=scattered(-5, 5)),
        replace(plain, name="weights, some 0", weight=repeated(2, 0, 1, 3, 0)),
        replace(contradiction, name="weighted copies", weight=scattered(-1, 1)),
        replace(grid, name="integer weights on a grid", weight=repeated(1, 3, 2)),
        replace(plain, name="constant weights", weight=repeated(3)),
    ]


def margin_instances() -> list[Instance]:
    """Instances whose preferences, or examples, have positive margins other than 1."""
    plain, *_, grid = item_instances()[:5]
    return [
        replace(plain, name="margins of all sizes", margin=scattered(-2, 2)),
        replace(grid, name="integer margins on a grid", margin=repeated(1, 3, 2)),
        replace(plain, name="constant margins", margin=repeated(0.5)),
    ]


def signed_instances() -> list[Instance]:
    """Instances some of whose margins are 0 or negative."""
    plain, *_, grid = item_instances()[:5]
    return [
        replace(plain, name="signed margins", margin=repeated(1, -0.5, 2)),
        replace(grid, name="signed margins on a grid", margin=repeated(1, 0, -1, 2)),
        replace(plain, name="all margins negative", margin=repeated(-1, -0.5, -2)),
    ]


def combined_instances() -> list[Instance]:
    """Instances with several of weights, margins and queries at once."""
    grid, queries = item_instances()[4], query_instances()[0]
    separable = next(i for i in item_instances() if i.name == "separable")
    both = dict(weight=repeated(2, 0.5, 1, 3), margin=repeated(1, 3, 0.5))
    signed = both | dict(margin=repeated(1, -0.5))
    return [
        replace(queries, name="weights in queries", weight=both["weight"]),
        replace(queries, name="margins in queries", margin=both["margin"]),
        replace(queries, name="weights and margins in queries", **both),
        replace(grid, name="weights and margins on a grid", **both),
        replace(queries, name="weights and signed margins", **signed),
        replace(separable, name="separable, weights and margins", **both),
    ]


def large_instances() -> list[Instance]:
    """Instances with more items, queries and features than a block holds."""
    X = np.random.default_rng(9).normal(size=(200, 40))
    in_query, thirds = np.tile([0.0, 0.0, 1.0, 1.0, 2.0], 40), np.arange(56) * 3 // 56 * 1.0
    return [
        Instance("many queries", X, in_query, np.arange(200) // 5),
        Instance("many items", X, (np.arange(200) >= 197).astype(float)),
        Instance("many preferences", X[:56, :4] + 5 * thirds[:, None], thirds),
    ]


def scale_instances() -> list[Instance]:
    """Instances far from the origin, in odd units, very small and very large."""
    plain = item_instances()[0]
    A = plain.X
    return [
        replace(plain, name="far from the origin", X=A + 1e5),
        replace(plain, name="units of all sizes", X=A * [1e-4, 1, 1e3, 1e5]),
        replace(plain, name="small items", X=A * 1e-4),
        replace(plain, name="large items", X=A * 1e4),
    ]


GROUPS: dict[str, Callable[[], list[Instance]]] = dict(
    items=item_instances,
    queries=query_instances,
    weights=weight_instances,
    margins=margin_instances,
    signed=signed_instances,
    combined=combined_instances,
    large=large_instances,
    scales=scale_instances,
)
