"""Types of arguments."""

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol, Union

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix

Items = Union[ArrayLike, "sparray", "spmatrix"]
KernelLike = Literal["linear", "rbf", "poly", "precomputed"] | Callable[..., Any]
GraphName = Literal["full", "star"]
Seed = int | np.random.Generator | np.random.RandomState | None
File = str | os.PathLike[str]
# a number, pairs (training, validation), or a splitter as in scikit-learn
Folds = int | Iterable[tuple[ArrayLike, ArrayLike]] | Any
# a name, a class, either with a dict of options, or an instance with solve or path
SolverLike = str | type | tuple[str | type, dict[str, Any]] | Any


class Problem(Protocol):
    """A problem that can be solved: it knows the shape of its coefficients and evaluates them."""

    @property
    def coef_shape(self) -> tuple[int, ...]: ...

    def primal(self, coef: np.ndarray, lam: float) -> float: ...
