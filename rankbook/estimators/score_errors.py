"""Errors of scores, a normal law or draws, and comparisons of two items."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from ..base.tables import Tabled


def half_width(draws):
    """Return half the width of the middle 68.27% of draws (..., R).

    For normal draws this is the standard deviation.
    """
    low, high = np.quantile(draws, norm.cdf([-1.0, 1.0]), axis=-1)
    return (high - low) / 2


class Errors:
    """Errors of estimates, whose standard deviations have `df` degrees of freedom."""

    @property
    def law(self):
        """Distribution of an error divided by its estimated standard deviation."""
        return student(self.df) if np.isfinite(self.df) else norm()

    def _widened(self, moved, rng):
        """Convert normal draws (q, R) to draws of the t distribution."""
        if not np.isfinite(self.df):
            return moved
        return moved / np.sqrt(rng.chisquare(self.df, moved.shape[1]) / self.df)


@dataclass(frozen=True, eq=False)
class NormalErrors(Errors):
    """Normal errors of q estimates, or those of the t distribution with df degrees of freedom.

    `name` is the method: "laplace", or "sandwich" for the covariance (5) of the chapter on votes.
    """

    covariance: np.ndarray
    df: float = np.inf
    name: str = "laplace"

    @property
    def size(self):
        """Number of estimates."""
        return len(self.covariance)

    def deviations(self):
        """Deviations (q,) of the estimates."""
        return np.sqrt(np.diag(self.covariance).clip(0))

    def of_differences(self, q):
        """Deviations (q, q) of the differences of the first q estimates, 0 for rounding errors."""
        V = self.covariance[:q, :q]
        square = np.diag(V)[:, None] + np.diag(V) - 2 * V
        return np.sqrt(np.where(square > 1e-12 * np.diag(V).max(initial=0.0), square, 0.0))

    def of_difference(self, i, j):
        """Deviation of the difference of two estimates, 0 for a rounding error."""
        return self.of_differences(1 + max(i, j))[i, j]

    def draws(self, order, number, seed):
        """Draws (q, number) of the errors of some estimates (q,).

        The root of their covariance is symmetric, so the draws of an estimate hardly change if
        rounding errors change the covariance.
        """
        e, Q = np.linalg.eigh(self.covariance[np.ix_(order, order)])
        rng = np.random.default_rng(seed)
        moved = (Q * np.sqrt(e.clip(0))) @ (Q.T @ rng.normal(size=(len(order), number)))
        return self._widened(moved, rng)


@dataclass(frozen=True, eq=False)
class DrawnErrors(Errors):
    """Errors (q, R) in resamples; finite degrees of freedom `df` give draws with longer tails."""

    moved: np.ndarray
    df: float = np.inf
    name: ClassVar[str] = "bootstrap"

    @property
    def size(self):
        """Number of estimates."""
        return len(self.moved)

    def deviations(self):
        """Deviations (q,) of the estimates, half the width of the middle 68.27% of resamples."""
        return half_width(self.moved)

    def of_differences(self, q):
        """Deviations (q, q) of the differences of the first q estimates."""
        return np.array([half_width(self.moved[:q] - each) for each in self.moved[:q]])

    def of_difference(self, i, j):
        """Deviation of the difference of two estimates."""
        return half_width(self.moved[i] - self.moved[j])

    def draws(self, order, number, seed):
        """The errors (q, R) of some estimates (q,) in all resamples."""
        return self._widened(self.moved[order], np.random.default_rng(seed))


@dataclass(frozen=True)
class Comparison(Tabled):
    """Two items of a leaderboard compared with each other.

    Attributes
    ----------
    a, b : str
    difference, low, high : float
        Score of `a` minus score of `b`, and its interval, in the unit of the table.
    probability : float
        Probability that `a` has the higher score, given the votes.
    p_value : float
        Two-sided p-value for the hypothesis that the scores are equal.
    level : float

    Examples
    --------
    >>> import rankbook as rb
    >>> board = rb.Leaderboard().fit(dict(winner=list("aaaabaa"), loser=list("bbbbabb")))
    >>> found = board.compare("a", "b")
    >>> found.decided, found.difference > 0
    (False, True)
    """

    a: str
    b: str
    difference: float
    low: float
    high: float
    probability: float
    p_value: float
    level: float

    @property
    def decided(self) -> bool:
        """Whether the interval of the difference excludes 0."""
        return self.low > 0 or self.high < 0

    def _facts(self):
        said = "undecided"
        if self.decided:
            said = f"{self.a if self.difference > 0 else self.b} is better"
        span = f"{100 * self.level:g}% interval {self.low:+.3g} to {self.high:+.3g}"
        return [
            ("difference", f"{self.difference:+.3g}, {span}"),
            (f"{self.a} is better", f"with probability {self.probability:.3g}"),
            ("p-value", f"{self.p_value:.2g}"),
            ("decision", said),
        ]

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self._facts())
