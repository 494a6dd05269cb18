"""scikit-learn's base classes and decorator, with types for mypy.

scikit-learn has no type annotations. mypy therefore takes its classes for Any, and finds no
misspelt attribute of a class that inherits from them. mypy reads the first definition of a name, in
a branch that never runs, too; pyright skips the branch and infers the types of scikit-learn itself.
"""

from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import metaestimators

Function = TypeVar("Function", bound=Callable[..., Any])

if False:

    class BaseEstimator:
        """What every estimator has."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {}

        def set_params(self, **params: Any) -> Self:
            return self

        def get_metadata_routing(self) -> Any: ...

    class ClassifierMixin:
        """What every classifier has."""

        def score(
            self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
        ) -> float:
            return float(np.mean(np.asarray(y)))

else:
    from sklearn.base import BaseEstimator as BaseEstimator  # type: ignore
    from sklearn.base import ClassifierMixin as ClassifierMixin  # type: ignore


def available_if(check: Callable[[Any], bool]) -> Callable[[Function], Function]:
    """scikit-learn's decorator of a method that an estimator has only if `check` of it is true."""
    return metaestimators.available_if(check)
