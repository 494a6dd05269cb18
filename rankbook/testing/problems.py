"""Problems of every kind from one data set."""

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..problems.label_ranking import LabelRankRLSProblem, LabelRankSVMProblem
from ..problems.rankrls import RankRLSProblem
from ..problems.ranksvm import RankSVMProblem
from ..problems.rayleigh import RayleighProblem
from ..problems.svm import MulticlassSVMProblem, SVMProblem
from .corpus import GROUPS, Instance

CHANGED: dict[str, dict[str, Any]] = {  # kernels whose parameters are not the defaults
    "rbf, changed": dict(kernel="rbf", gamma=0.7),
    "poly, changed": dict(kernel="poly", gamma=0.5, degree=2, coef0=0.5),
}


def laplace(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """exp(-|a - b|_1 / d) for rows of A (n, d) and B (p, d), (n, p)."""
    return np.exp(-np.abs(A[:, None, :] - B[None, :, :]).mean(axis=2))


def with_kernel(X: np.ndarray, kernel: str) -> tuple[np.ndarray, dict[str, Any]]:
    """Items for a kernel by name, or one of :data:`CHANGED`, and the options that ask for it."""
    if kernel in CHANGED:
        return X, dict(CHANGED[kernel])
    if kernel == "precomputed":
        return laplace(X, X), dict(kernel=kernel)
    return X, dict(kernel=laplace if kernel == "callable" else kernel)


def stored(X: np.ndarray, storage: str) -> Any:
    """Items kept as "float64", "float32" or "csr"."""
    if storage == "csr":
        from scipy.sparse import csr_array

        return csr_array(X)
    return X.astype(np.float32) if storage == "float32" else X


def ranking(i, kernel, loss="hinge", penalty="l2", storage="float64", **options):
    """A RankSVMProblem."""
    X, chosen = with_kernel(i.X, kernel)
    X = stored(X, storage) if kernel == "linear" else X
    return RankSVMProblem(X, i.prefs, loss=loss, penalty=penalty, **chosen, **options)


def per_example(i):
    """Weights and margins of the examples of an instance, as options."""
    n = len(i.X)
    return dict(weight=i.weight and i.weight(n), margin=i.margin and i.margin(n))


def two_classes(i, kernel):
    """An SVMProblem."""
    if i.pairs is not None or i.qid is not None:
        return None
    X, chosen = with_kernel(i.X, kernel)
    return SVMProblem(X, i.y > i.y.min(), **chosen, **per_example(i))


def many_classes(i, kernel):
    """A MulticlassSVMProblem."""
    if i.pairs is not None or i.qid is not None:
        return None
    X, chosen = with_kernel(i.X, kernel)
    return MulticlassSVMProblem(X, i.y, **chosen, **per_example(i))


def least_squares(i, kernel, penalty="l2", basis=False):
    """A RankRLSProblem."""
    X, chosen = with_kernel(i.X, kernel)
    chosen |= dict(penalty=penalty, basis=[0, 2, 4] if basis else None)
    if i.pairs is not None or i.margin is not None:
        return RankRLSProblem(X, graph=i.prefs, **chosen)
    return RankRLSProblem(X, i.y, i.qid, item_weight=i.weight and i.weight(len(X)), **chosen)


def label_grades(i):
    """Grades (n, 3) of three labels; some are missing if there are queries."""
    Y = (i.y[:, None] + np.arange(len(i.y))[:, None] * np.arange(3)) % 3
    if i.qid is not None:
        Y[::3, 2] = np.nan
        Y[1, :2] = np.nan  # one label alone is compared with nothing
    return Y


def on_labels(i, kernel, make, **options):
    """A problem on labels, a LabelRankSVMProblem or a LabelRankRLSProblem."""
    if i.pairs is not None or i.margin is not None:
        return None
    few = slice(10 if len(i.X) < 100 else 50)
    X, chosen = with_kernel(i.X[few] - i.X[few].mean(axis=0), kernel)
    weight = i.weight and i.weight(len(i.X))[few]
    return make(X, label_grades(i)[few], object_weight=weight, **chosen, **options)


def bipartite(i, kernel):
    """A RayleighProblem."""
    if i.pairs is not None or i.qid is not None or i.weight or i.margin or np.ptp(i.X) == 0:
        return None
    X, chosen = with_kernel(i.X, kernel)
    y = (i.y > i.y.min()).astype(float)
    y[1:-1:3] = np.nan
    return RayleighProblem(X, y, n_components=None if kernel == "linear" else 5, **chosen)


MAKERS = {
    "RankSVMProblem": (ranking, {}),
    "LabelRankSVMProblem": (on_labels, dict(make=LabelRankSVMProblem)),
    "SVMProblem": (two_classes, {}),
    "MulticlassSVMProblem": (many_classes, {}),
    "RankRLSProblem": (least_squares, {}),
    "LabelRankRLSProblem": (on_labels, dict(make=LabelRankRLSProblem)),
    "RayleighProblem": (bipartite, {}),
}


CLASSES = (
    RankSVMProblem,
    LabelRankSVMProblem,
    SVMProblem,
    MulticlassSVMProblem,
    RankRLSProblem,
    LabelRankRLSProblem,
    RayleighProblem,
)
NAMES = {kind.__name__: {base.__name__ for base in kind.__mro__} for kind in CLASSES}


@dataclass(frozen=True)
class Variant:
    """A kind of problem, with options that belong to it."""

    kind: str
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def names(self) -> set[str]:
        """What a solver may declare to take it: the names of its class and of those above."""
        return NAMES[self.kind]

    def problem(self, instance: Instance, kernel: str, **more: Any) -> Any:
        """The problem on an instance, or None if the kind refuses it."""
        make, fixed = MAKERS[self.kind]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of queries with one item, for instance
            try:
                return make(instance, kernel, **fixed, **dict(self.options), **more)
            except (ValueError, TypeError):  # one example of a class, sparse items for "l1"
                return None

    def __str__(self) -> str:
        said = (f"{name}={value!r}" for name, value in self.options)
        return f"{self.kind}({', '.join(said)})"


VARIANTS = [
    *(
        Variant("RankSVMProblem", (("loss", loss), ("penalty", penalty)))
        for penalty in ("l2", "l1")
        for loss in ("hinge", "squared")
    ),
    *(Variant("LabelRankSVMProblem", (("loss", loss),)) for loss in ("hinge", "squared")),
    Variant("SVMProblem"),
    Variant("MulticlassSVMProblem"),
    Variant("RankRLSProblem", (("penalty", "l2"),)),
    Variant("RankRLSProblem", (("penalty", "l1"),)),
    Variant("RankRLSProblem", (("penalty", "l2"), ("basis", True))),
    Variant("LabelRankRLSProblem"),
    Variant("RayleighProblem"),
]


@cache
def instances(group: str) -> tuple[Instance, ...]:
    """The instances of a group, always the same ones; their items are read-only."""
    found = tuple(GROUPS[group]())
    for instance in found:
        instance.X.flags.writeable = False
    return found


@cache
def made(variant: Variant, instance: Instance, kernel: str, **more: Any) -> Any:
    """:meth:`Variant.problem`, made once for an instance of :func:`instances`."""
    return variant.problem(instance, kernel, **more)


def unit_of(problem: Any) -> float:
    """The largest lambda at which something happens, or where there is none that of the kernel.

    1 for a problem whose items are all alike.
    """
    top = float(getattr(problem, "lam_max", np.inf))
    if not np.isfinite(top):
        own = problem.matrix.diagonal() if hasattr(problem, "matrix") else problem.diagonal
        top = float(np.max(own))
    return top or 1.0


ORDINARY, LOW, MIDDLE = (0.5, 0.02), (0.02,), (0.1,)  # in units
EXTREME, EDGES, ABOVE = (1e3, 1e-5), (1.001, 1.0, 0.999, 5e-4), (10.0, 1.001)


def lambdas(problem: Any, shares: tuple[float, ...] = ORDINARY) -> tuple[float, ...]:
    """Where a problem is asked about: shares of its unit."""
    unit = unit_of(problem)
    return tuple(share * unit for share in shares)
