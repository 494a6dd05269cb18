"""Checks of users' own pair losses."""

import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..preferences.graph import Preferences
from ..problems.ranksvm import RankSVMProblem, as_loss
from ..problems.smooth_losses import PairLoss
from ..registry.solve import solve
from .corpus import degenerate_items
from .kit import CheckResult, CheckTable
from .subject import CheckFailed, CheckSkipped

NEAR = 30.0  # shortfalls up to which a loss must be finite
FAR = 1e3  # shortfalls up to which it may overflow but not be wrong


def points() -> np.ndarray:
    """Return sorted shortfalls (m,): random numbers of several sizes, integers, and 0."""
    rng = np.random.default_rng(0)
    random = np.concatenate([scale * rng.normal(size=200) for scale in (1e-3, 0.3, 3.0)])
    return np.unique(np.r_[np.clip(random, -NEAR, NEAR), np.arange(-5.0, 6.0), -NEAR, NEAR])


def require_all(holds: Any, tell: Callable[[int], str]) -> None:
    """Raise CheckFailed with `tell(i)` for the first i at which `holds` is False."""
    wrong = np.flatnonzero(~np.asarray(holds))
    if wrong.size:
        raise CheckFailed(tell(int(wrong[0])))


def check_protocol(loss: PairLoss) -> None:
    """Check for a name, the methods, and a numeric margin."""
    as_loss(loss)


def check_arrays(loss: PairLoss) -> None:
    """Check that each function maps an array (m,) to another, entry by entry."""
    t = points()
    slopes = np.asarray(loss.derivative(t.copy()))
    for name, x in (
        ("value", t),
        ("derivative", t),
        ("second_derivative", t),
        ("conjugate", slopes),
    ):
        if not hasattr(loss, name):
            continue
        given = x.copy()
        found = getattr(loss, name)(given)
        is_right = isinstance(found, np.ndarray) and found.shape == x.shape
        if not (is_right and found.dtype == np.float64):
            kind = f"{found.dtype} of shape {found.shape}" if is_right else type(found).__name__
            raise CheckFailed(f"{name} of float64 of shape {x.shape} is {kind}, not such an array")
        require_all(given == x, lambda i, name=name: f"{name} writes to the array that it is given")
        if name != "conjugate":
            require_all(
                np.isfinite(found),
                lambda i, x=x, name=name, found=found: f"{name}({x[i]:.6g}) is {found[i]}",
            )
        back = np.asarray(getattr(loss, name)(x[::-1].copy()))[::-1]
        close = (back == found) | (np.abs(back - found) <= 1e-12 * (1 + np.abs(found)))
        require_all(
            close,
            lambda i, x=x, name=name: (
                f"{name}({x[i]:.6g}) depends on the other entries of the array, or on chance"
            ),
        )


def check_convexity(loss: PairLoss) -> None:
    """Check that no chord is below the loss."""
    t, rng = points(), np.random.default_rng(1)
    s = np.r_[rng.permutation(t), t[1:], t[-1]]
    t = np.r_[t, t]
    at, above, below = (loss.value(x) for x in ((s + t) / 2, s, t))
    noise = 1e-12 * (1 + np.abs(above) + np.abs(below))
    require_all(
        at <= (above + below) / 2 + noise,
        lambda i: (
            f"value is not convex between t = {t[i]:.6g} and {s[i]:.6g}: {at[i]:.6g} in the "
            f"middle, and {(above[i] + below[i]) / 2:.6g} on the chord"
        ),
    )


def check_derivative(loss: PairLoss) -> None:
    """Check that the derivative is continuous and between the slopes of adjacent chords."""
    t = points()
    found, value = loss.derivative(t), loss.value(t)
    for step in (1e-4, 1e-2, 1.0):
        right, left = (
            (loss.value(t + step) - value) / step,
            (value - loss.value(t - step)) / step,
        )
        noise = 1e-14 * (1 + np.abs(value)) / step + 1e-12 * np.abs(found)
        require_all(
            (left - noise <= found) & (found <= right + noise),
            lambda i, left=left, right=right, step=step: (
                f"derivative({t[i]:.6g}) is {found[i]:.6g}, and value has slopes from "
                f"{left[i]:.6g} to {right[i]:.6g} within {step:g} of it"
            ),
        )
    low, high = t[:-1].copy(), t[1:].copy()
    for _ in range(60):  # continue in the half in which the slope rises more
        middle = (low + high) / 2
        a, b, c = (loss.derivative(x) for x in (low, middle, high))
        first = b - a > c - b
        low, high = np.where(first, low, middle), np.where(first, middle, high)
        if (high - low).max() < 1e-11:
            break
    a, b = loss.derivative(low), loss.derivative(high)
    require_all(
        b - a <= 1e-3 * max(1.0, float(np.ptp(found))),
        lambda i: f"derivative jumps from {a[i]:.6g} to {b[i]:.6g} at t = {low[i]:.6g}",
    )


def check_second_derivative(loss: Any) -> None:
    """Check the second derivative, if there is one: at least 0, and the slope of the first."""
    if not hasattr(loss, "second_derivative"):
        raise CheckSkipped("it is optional, and slopes are compared instead")
    t, width, count = points(), 0.02, 200
    inside = t[:, None] + width * (np.arange(count) + 0.5) / count
    bent = loss.second_derivative(inside.ravel()).reshape(inside.shape)
    require_all(
        bent.min(axis=1) >= 0,
        lambda i: f"second_derivative is {bent[i].min():.6g}, below 0, near t = {t[i]:.6g}",
    )
    ahead, at = loss.derivative(t + width), loss.derivative(t)
    rise, mean = (ahead - at) / width, bent.mean(axis=1)
    noise = 1e-4 * (1 + np.abs(mean)) + 0.02 * np.ptp(bent, axis=1) + 1e-12 * np.abs(at)
    require_all(
        np.abs(rise - mean) <= noise,
        lambda i: (
            f"second_derivative is {mean[i]:.6g} on average from t = {t[i]:.6g} to "
            f"{t[i] + width:.6g}, where the derivative rises by {rise[i]:.6g} for each unit"
        ),
    )


def check_strip(loss: Any) -> None:
    """Check the second derivative against its bound in a strip of complex shortfalls, if stated.

    The bound M limits coefficient k of a Chebyshev series to 2 M rho^-k.
    """
    if getattr(loss, "strip", None) is None:
        raise CheckSkipped("it is optional")
    (width, most), k = loss.strip, np.arange(32)
    middle, angle = np.arange(-NEAR, NEAR, max(width / 2, 0.01)), (np.arange(64) + 0.5) * np.pi / 64
    t = middle[:, None] + width * np.cos(angle)
    bent = loss.second_derivative(t.ravel()).reshape(t.shape)
    size = np.abs(bent @ np.cos(angle[:, None] * k)) / 32
    fits = (size <= most * (2.001 * (1 + 2**0.5) ** -k + 1e-12)).all(axis=1)
    require_all(
        fits & (bent.max(axis=1) <= most * (1 + 1e-12)),
        lambda i: (
            f"strip is {loss.strip}, but near t = {middle[i]:.6g} the second derivative is not at "
            f"most {most:.6g} for imaginary parts up to {width:.6g}"
        ),
    )


def check_conjugate(loss: PairLoss) -> None:
    """Check the Fenchel-Young inequality, with equality at the derivative."""
    t = points()
    slope, value = loss.derivative(t), loss.value(t)
    lost = loss.conjugate(slope)
    gap = value + lost - slope * t
    noise = 1e-10 * (1 + np.abs(value) + np.abs(slope * t))
    say = lambda i: (
        f"conjugate({slope[i]:.6g}) is {lost[i]:.9g}, and at t = {t[i]:.6g}, where that is the "
        f"derivative, a t - value(t) is {slope[i] * t[i] - value[i]:.9g}"
    )
    require_all(np.abs(gap) <= noise, say)
    # arbitrary slopes, also slopes that the loss does not have
    low, high = slope.min(), slope.max()
    far = max(1.0, high - low)
    a = np.r_[slope, low - far * np.array([1e-6, 0.1, 3]), high + far * np.array([1e-6, 0.1, 3])]
    with np.errstate(all="ignore"):
        lost = np.asarray(loss.conjugate(a))
        wide = np.r_[t, FAR * np.array([-1000.0, -1, 1, 1000])]
        cost = loss.value(wide)
        gap = cost + lost[:, None] - a[:, None] * wide
    if np.isnan(lost).any() or (lost == -np.inf).any():
        i = int(np.flatnonzero(np.isnan(lost) | (lost == -np.inf))[0])
        raise CheckFailed(f"conjugate({a[i]:.6g}) is {lost[i]}, neither a number nor infinity")
    size = 1 + np.abs(np.where(np.isfinite(cost), cost, 0)) + np.abs(a[:, None] * wide)
    wrong = np.argwhere(gap < -1e-10 * size)
    if wrong.size:
        i, j = wrong[0]
        raise CheckFailed(
            f"conjugate({a[i]:.6g}) is {lost[i]:.6g}, less than a t - value(t) = "
            f"{a[i] * wide[j] - cost[j]:.6g} at t = {wide[j]:.6g}"
        )


def check_large_shortfalls(loss: PairLoss) -> None:
    """Check large shortfalls: no NaN, and finite values wherever the derivative is finite."""
    t = FAR * np.array([-1e3, -10, -1, -0.75, 0.75, 1, 10, 1e3])
    with np.errstate(all="ignore"):
        value, slope = loss.value(t), loss.derivative(t)
    require_all(
        ~(np.isnan(value) | np.isnan(slope)),
        lambda i: f"value({t[i]:g}) is {value[i]} and derivative({t[i]:g}) is {slope[i]}",
    )
    require_all(
        np.isfinite(value) | (np.isinf(slope) | (np.abs(slope) > 1e100)),
        lambda i: f"value({t[i]:g}) is {value[i]}, and the derivative there is {slope[i]:g}",
    )


def check_probability(loss: Any) -> None:
    """Check the probability, if there is one: increasing, and opposite pairs sum to 1."""
    if not hasattr(loss, "probability"):
        raise CheckSkipped("it is optional")
    d = points()
    found, other = (np.asarray(loss.probability(x)) for x in (d, -d))
    if not found.shape == other.shape == d.shape:
        raise CheckFailed(f"probability of shape {d.shape} has shape {found.shape}")
    require_all(
        (found >= 0) & (found <= 1) & (np.abs(found + other - 1) <= 1e-9),
        lambda i: (
            f"probability({d[i]:.6g}) is {found[i]:.6g} and probability({-d[i]:.6g}) {other[i]:.6g}"
            ", which are not shares of 1"
        ),
    )
    require_all(
        np.diff(found) >= -1e-12,
        lambda i: f"probability falls from {found[i]:.6g} to {found[i + 1]:.6g} at d = {d[i]:.6g}",
    )


def check_pickle(loss: PairLoss) -> None:
    """Check that a pickled copy, as in joblib and scikit-learn, is the same loss."""
    t, copied = points(), pickle.loads(pickle.dumps(loss))
    require_all(
        copied.value(t) == loss.value(t), lambda i: f"a pickle has another value({t[i]:.6g})"
    )


def check_answers(loss: PairLoss) -> None:
    """Check that solutions of "newton" are certified to 1e-6, also on degenerate data."""
    rng = np.random.default_rng(2)
    grades, qid = rng.integers(0, 3, 24), np.arange(24) % 2
    graded = Preferences.from_scores(grades, qid)
    for name, X in degenerate_items(rng).items():
        for what, prefs in (
            ("", graded),
            (" with weights", graded.reweighted(10.0 ** rng.uniform(-4, 4, len(graded)))),
        ):
            problem = RankSVMProblem(X, prefs, kernel="linear", loss=loss)
            for lam in (0.01, 10.0):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a large gap, which is the failure
                    proof = solve(problem, lam, solver=("newton", dict(tol=1e-8))).certificate
                if not proof.is_optimal():
                    raise CheckFailed(f"on items {name!r}{what} at lam = {lam:g}: {proof}")


CHECKS = {
    name.removeprefix("check_"): check
    for name, check in list(vars().items())
    if name.startswith("check_")
}


def results(loss: PairLoss) -> Iterator[CheckResult]:
    """Yield results of all checks; others are skipped if "protocol" or "arrays" fails."""
    begun = True
    for name, check in CHECKS.items():
        outcome, detail = "passed", ""
        if not begun:
            outcome, detail = "skipped", "protocol or arrays failed"
        else:
            try:
                check(loss)
            except CheckSkipped as reason:
                outcome, detail = "skipped", str(reason)
            except CheckFailed as error:
                outcome, detail = "failed", str(error)
            except Exception as error:  # an error of the loss's own methods
                outcome, detail = "failed", f"{type(error).__name__}: {error}"
        begun = begun and not (outcome == "failed" and name in ("protocol", "arrays"))
        yield CheckResult(name, outcome, detail=detail)


def check_loss(loss: PairLoss) -> CheckTable:
    """Check whether a pair loss follows its protocol.

    Parameters
    ----------
    loss : PairLoss
        An object with a name and the methods of :class:`rankbook.PairLoss`.

    Returns
    -------
    CheckTable
        A list of results: protocol, arrays, convexity, first and second derivative by differences,
        the bound in a strip, the conjugate by the Fenchel-Young inequality, large shortfalls, the
        probability, a pickle, and certified solutions on degenerate data. The detail of a failure
        names the function and the point.

    Notes
    -----
    The functions are checked at about 600 shortfalls between -30 and 30 and at a few larger ones.
    Passing the checks does not prove that the functions are correct everywhere. The checks take a
    few seconds.

    Examples
    --------
    >>> import numpy as np
    >>> from rankbook.testing import check_loss
    >>> class Squares:
    ...     name = "squares"
    ...     def value(self, t): return t**2
    ...     def derivative(self, t): return 2 * t
    ...     def conjugate(self, a): return a**2 / 3  # a mistake: a**2 / 4
    >>> for row in check_loss(Squares()).failed[:1]:
    ...     print(row.check)
    conjugate
    """
    return CheckTable(results(loss))
