"""Base classes and a decorator of scikit-learn, with types for mypy.

scikit-learn has no type annotations. mypy therefore treats its classes as Any and cannot find
misspelt attributes of their subclasses. mypy uses the first definition of a name, even in a branch
that never runs. pyright skips this branch and infers the types of scikit-learn itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import metaestimators

from .validation import require_same_rows

Function = TypeVar("Function", bound=Callable[..., Any])

if False:

    class BaseEstimator:
        """Base class of estimators."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {}

        def set_params(self, **params: Any) -> Self:
            return self

        def get_metadata_routing(self) -> Any: ...

    class ClassifierMixin:
        """Base class of classifiers."""

        def score(
            self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
        ) -> float:
            return float(np.mean(np.asarray(y)))

else:
    from sklearn.base import BaseEstimator as BaseEstimator  # type: ignore
    from sklearn.base import ClassifierMixin as Mixin  # type: ignore

    class ClassifierMixin(Mixin):
        """Base class of classifiers."""

        def score(self, X, y, sample_weight=None):
            """Return the accuracy: the share of items whose predicted class is y.

            Parameters
            ----------
            X : array-like of shape (n, d)
            y : array-like of shape (n,)
            sample_weight : array-like of shape (n,), optional
                Weights >= 0 of the items.

            Returns
            -------
            float

            Raises
            ------
            ValueError
                If arguments from pandas have different indexes.
            """
            require_same_rows(X=X, y=y, sample_weight=sample_weight)
            return super().score(X, y, sample_weight)


def available_if(check: Callable[[Any], bool]) -> Callable[[Function], Function]:
    """Decorate a method that an estimator has only if `check(estimator)` is true."""
    return metaestimators.available_if(check)
