"""Small degenerate data sets, and problems of all kinds on them."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ..kernels.kernel import Kernel
from ..preferences.graph import Preferences
from ..problems.label_ranking import LabelRankRLSProblem, LabelRankSVMProblem
from ..problems.rankrls import RankRLSProblem
from ..problems.ranksvm import RankSVMProblem
from ..problems.rayleigh import RayleighProblem
from ..problems.svm import MulticlassSVMProblem, SVMProblem

HINGES = "hinge", "squared"


def degenerate_items(rng: np.random.Generator, far: float = 1e5) -> dict[str, np.ndarray]:
    """Return items (24, d) by name: copies, grids, constants, low rank, many features.

    `far` is the distance of some items from the origin.
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
    """Items and preferences between them.

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
        Weights and margins of preferences or examples.
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
        """Preferences with weights and margins."""
        if self.pairs is None:
            prefs = Preferences.from_scores(self.y, self.qid)
        else:
            prefs = Preferences(*self.pairs, len(self.X))
        weight, margin = (make and make(len(prefs)) for make in (self.weight, self.margin))
        if weight is None and margin is None:
            return prefs
        return prefs.reweighted(weight, margin)

    def permuted(self, order: np.ndarray) -> "Instance":
        """Return the instance with rows and pairs in another order and other query names."""
        place, pairs = np.argsort(order), self.pairs
        if pairs is not None:
            pairs = tuple(place[np.asarray(ends)][::-1] for ends in pairs)
        qid = None if self.qid is None else 7 - self.qid[order]
        return replace(self, X=self.X[order], y=self.y[order], qid=qid, pairs=pairs)


def item_instances() -> list[Instance]:
    """Yield instances with one query, weights 1 and margins 1."""
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
    """Yield instances with several queries, some of them without preferences."""
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


def scattered_powers(low: float, high: float) -> Callable[[int], np.ndarray]:
    """Return a function of a length that makes shuffled powers of ten from low to high."""

    def powers(m):
        return 10.0 ** np.random.default_rng(m).permutation(np.linspace(low, high, m))

    return powers


def repeated_values(*values: float) -> Callable[[int], np.ndarray]:
    """Return a function of a length that repeats the values."""
    return lambda m: np.resize(np.array(values), m)


def all_groups() -> dict[str, list[Instance]]:
    """Return instances by their special property; their items are read-only."""
    items, queries = item_instances(), query_instances()
    plain, _, contradiction, _, grid = items[:5]
    separable = next(i for i in items if i.name == "separable")
    both = dict(weight=repeated_values(2, 0.5, 1, 3), margin=repeated_values(1, 3, 0.5))
    signed = both | dict(margin=repeated_values(1, -0.5))
    # more items, queries and features than a block contains
    X = np.random.default_rng(9).normal(size=(200, 40))
    in_query, thirds = np.tile([0.0, 0.0, 1.0, 1.0, 2.0], 40), np.arange(56) * 3 // 56 * 1.0
    groups = dict(
        items=items,
        queries=queries,
        weights=[  # of preferences, or of examples
            replace(plain, name="weights over ten orders", weight=scattered_powers(-5, 5)),
            replace(plain, name="weights, some 0", weight=repeated_values(2, 0, 1, 3, 0)),
            replace(contradiction, name="weighted copies", weight=scattered_powers(-1, 1)),
            replace(grid, name="integer weights on a grid", weight=repeated_values(1, 3, 2)),
            replace(plain, name="constant weights", weight=repeated_values(3)),
        ],
        margins=[
            replace(plain, name="margins of all sizes", margin=scattered_powers(-2, 2)),
            replace(grid, name="integer margins on a grid", margin=repeated_values(1, 3, 2)),
            replace(plain, name="constant margins", margin=repeated_values(0.5)),
        ],
        signed=[
            replace(plain, name="signed margins", margin=repeated_values(1, -0.5, 2)),
            replace(grid, name="signed margins on a grid", margin=repeated_values(1, 0, -1, 2)),
            replace(plain, name="all margins negative", margin=repeated_values(-1, -0.5, -2)),
        ],
        combined=[
            replace(queries[0], name="weights in queries", weight=both["weight"]),
            replace(queries[0], name="margins in queries", margin=both["margin"]),
            replace(queries[0], name="weights and margins in queries", **both),
            replace(grid, name="weights and margins on a grid", **both),
            replace(queries[0], name="weights and signed margins", **signed),
            replace(separable, name="separable, weights and margins", **both),
        ],
        large=[
            Instance("many queries", X, in_query, np.arange(200) // 5),
            Instance("many items", X, (np.arange(200) >= 197).astype(float)),
            Instance("many preferences", X[:56, :4] + 5 * thirds[:, None], thirds),
        ],
        scales=[
            replace(plain, name="far from the origin", X=plain.X + 1e5),
            replace(plain, name="units of all sizes", X=plain.X * [1e-4, 1, 1e3, 1e5]),
            replace(plain, name="small items", X=plain.X * 1e-4),
            replace(plain, name="large items", X=plain.X * 1e4),
        ],
    )
    for instance in (instance for group in groups.values() for instance in group):
        instance.X.flags.writeable = False
    return groups


GROUPS = all_groups()


CHANGED = {  # kernels whose parameters are not the defaults
    "rbf, changed": Kernel("rbf", gamma=0.7),
    "poly, changed": Kernel("poly", gamma=0.5, degree=2, coef0=0.5),
}


def laplace(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return exp(-|a - b|_1 / d) for rows of A (n, d) and B (p, d), shape (n, p)."""
    return np.exp(-np.abs(A[:, None, :] - B[None, :, :]).mean(axis=2))


def with_kernel(X: np.ndarray, kernel: str) -> tuple[np.ndarray, dict[str, Any]]:
    """Return items and options for a kernel by name, or for one of :data:`CHANGED`."""
    if kernel in CHANGED:
        return X, dict(kernel=CHANGED[kernel])
    if kernel == "precomputed":
        return laplace(X, X), dict(kernel=kernel)
    return X, dict(kernel=laplace if kernel == "callable" else kernel)


def ranking(i, kernel, loss="hinge", penalty="l2", storage="float64", signed=False, **options):
    """Make a RankSVMProblem whose items are stored as "float64", "float32" or "csr".

    With `signed`, the signs of the weights are +1, -1 and 0 in turn.
    """
    X, chosen = with_kernel(i.X, kernel)
    chosen |= dict(signs=np.resize([1, -1, 0], X.shape[1])) if signed else {}
    if storage == "float32":
        X = X.astype(np.float32)
    elif storage == "csr":
        from scipy.sparse import csr_array

        X = csr_array(X)
    return RankSVMProblem(X, i.prefs, loss=loss, penalty=penalty, **chosen, **options)


def classes(i, kernel, make):
    """Make an SVMProblem or a MulticlassSVMProblem."""
    if i.pairs is not None or i.qid is not None:
        return None
    X, chosen = with_kernel(i.X, kernel)
    n, y = len(X), i.y > i.y.min() if make is SVMProblem else i.y
    chosen |= dict(weight=i.weight and i.weight(n), margin=i.margin and i.margin(n))
    return make(X, y, **chosen)


def least_squares(i, kernel, penalty="l2", basis=False):
    """Make a RankRLSProblem."""
    X, chosen = with_kernel(i.X, kernel)
    chosen |= dict(penalty=penalty, basis=[0, 2, 4] if basis else None)
    if i.pairs is not None or i.margin is not None:
        return RankRLSProblem(X, graph=i.prefs, **chosen)
    return RankRLSProblem(X, i.y, i.qid, item_weight=i.weight and i.weight(len(X)), **chosen)


def on_labels(i, kernel, make, **options):
    """Make a LabelRankSVMProblem or a LabelRankRLSProblem on three labels."""
    if i.pairs is not None or i.margin is not None:
        return None
    few = slice(10 if len(i.X) < 100 else 50)
    X, chosen = with_kernel(i.X[few] - i.X[few].mean(axis=0), kernel)
    weight = i.weight and i.weight(len(i.X))[few]
    Y = (i.y[few, None] + np.arange(len(X))[:, None] * np.arange(3)) % 3
    if i.qid is not None:
        Y[::3, 2] = np.nan
        Y[1, :2] = np.nan  # a single label is compared with nothing
    return make(X, Y, object_weight=weight, **chosen, **options)


def bipartite(i, kernel):
    """Make a RayleighProblem."""
    if i.pairs is not None or i.qid is not None or i.weight or i.margin or np.ptp(i.X) == 0:
        return None
    X, chosen = with_kernel(i.X, kernel)
    y = (i.y > i.y.min()).astype(float)
    y[1:-1:3] = np.nan
    return RayleighProblem(X, y, n_components=None if kernel == "linear" else 5, **chosen)


MAKERS = {
    RankSVMProblem: (ranking, {}),
    LabelRankSVMProblem: (on_labels, dict(make=LabelRankSVMProblem)),
    SVMProblem: (classes, dict(make=SVMProblem)),
    MulticlassSVMProblem: (classes, dict(make=MulticlassSVMProblem)),
    RankRLSProblem: (least_squares, {}),
    LabelRankRLSProblem: (on_labels, dict(make=LabelRankRLSProblem)),
    RayleighProblem: (bipartite, {}),
}
CLASSES = {kind.__name__: kind for kind in MAKERS}


@dataclass(frozen=True)
class Variant:
    """Kind of problem, with its options."""

    kind: str
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def names(self) -> set[str]:
        """Names by which a solver may declare the kind: its class and base classes."""
        return {base.__name__ for base in CLASSES[self.kind].__mro__}

    def problem(self, instance: Instance, kernel: str, **more: Any) -> Any:
        """Return the problem on an instance, or None if the kind refuses it."""
        make, fixed = MAKERS[CLASSES[self.kind]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # for example with queries of one item
            try:
                return make(instance, kernel, **fixed, **dict(self.options), **more)
            except (
                ValueError,
                TypeError,
            ):  # such as one example of a class, sparse items for "l1"
                return None

    def __str__(self) -> str:
        said = (f"{name}={value!r}" for name, value in self.options)
        return f"{self.kind}({', '.join(said)})"


VARIANTS = [
    *(
        Variant("RankSVMProblem", (("loss", loss), ("penalty", penalty)))
        for penalty in ("l2", "l1")
        for loss in HINGES
    ),
    *(
        Variant("RankSVMProblem", (("loss", loss), ("penalty", penalty), ("signed", True)))
        for penalty in ("l2", "l1")
        for loss in HINGES
    ),
    *(Variant("LabelRankSVMProblem", (("loss", loss),)) for loss in HINGES),
    Variant("RankSVMProblem", (("loss", "squared"), ("penalty", "elastic-net"))),
    *(
        Variant("RankSVMProblem", (("loss", "logistic"), ("penalty", penalty), *signed))
        for penalty in ("l2", "l1", "elastic-net")
        for signed in ((), (("signed", True),))
    ),
    Variant("LabelRankSVMProblem", (("loss", "logistic"),)),
    Variant("SVMProblem"),
    Variant("MulticlassSVMProblem"),
    Variant("RankRLSProblem", (("penalty", "l2"),)),
    Variant("RankRLSProblem", (("penalty", "l1"),)),
    Variant("RankRLSProblem", (("penalty", "l2"), ("basis", True))),
    Variant("LabelRankRLSProblem"),
    Variant("RayleighProblem"),
]


@cache
def cached_problem(variant: Variant, instance: Instance, kernel: str, **more: Any) -> Any:
    """Return :meth:`Variant.problem`, cached for instances of :data:`GROUPS`."""
    return variant.problem(instance, kernel, **more)


def unit_of(problem: Any) -> float:
    """Return the largest breakpoint, or else the kernel's largest diagonal entry.

    Return 1 for a problem whose items are all equal.
    """
    top = float(getattr(problem, "lam_max", np.inf))
    if not np.isfinite(top):
        own = problem.matrix.diagonal() if hasattr(problem, "matrix") else problem.diagonal
        top = float(np.max(own))
    return top or 1.0


ORDINARY, LOW, MIDDLE = (0.5, 0.02), (0.02,), (0.1,)  # in units
EXTREME, EDGES, ABOVE = (1e3, 1e-5), (1.001, 1.0, 0.999, 5e-4), (10.0, 1.001)


def instance_lambdas(problem: Any, shares: tuple[float, ...] = ORDINARY) -> tuple[float, ...]:
    """Return the lambdas at which a problem is solved, as multiples of its unit."""
    unit = unit_of(problem)
    return tuple(share * unit for share in shares)
