"""The kit finds what is wrong with a loss, and names the function and the point."""

import numpy as np
import pytest
from scipy.special import expit, xlogy

import rankbook as rb
from rankbook.problems.smooth_losses import Logistic
from rankbook.testing import check_loss
from rankbook.testing.losses import check_strip
from rankbook.testing.subject import CheckFailed


class Smoothed:
    """The hinge with a parabola of width h about its corner."""

    name, h = "smoothed", 1.0

    def value(self, t):
        return np.where(t > self.h / 2, t, np.maximum(t + self.h / 2, 0) ** 2 / (2 * self.h))

    def derivative(self, t):
        return np.clip(0.5 + t / self.h, 0.0, 1.0)

    def second_derivative(self, t):
        return np.where(np.abs(t) < self.h / 2, 1 / self.h, 0.0)

    def conjugate(self, a):
        return np.where((a >= 0) & (a <= 1), self.h / 2 * a * (a - 1), np.inf)


class Narrow(Smoothed):
    h = 1e-3


class Squares:
    """A loss that is large on both sides, without a second derivative."""

    name, margin = "squares", 2.0

    def value(self, t):
        return t**2

    def derivative(self, t):
        return 2 * t

    def conjugate(self, a):
        return a**2 / 4


class Exponential:
    """As of RankBoost; it overflows, and so does its derivative."""

    name, margin = "exponential", 0.0

    def value(self, t):
        return np.exp(t)

    derivative = second_derivative = value

    def conjugate(self, a):
        with np.errstate(invalid="ignore"):
            return np.where(a >= 0, xlogy(a, np.maximum(a, 0)) - a, np.inf)


class Huber:
    """The squared hinge that goes on as a line, and has no second derivative."""

    name = "huber"

    def value(self, t):
        return np.where(t <= 0, 0.0, np.where(t < 2, t**2, 4 * t - 4))

    def derivative(self, t):
        return 2 * np.clip(t, 0.0, 2.0)

    def conjugate(self, a):
        return np.where((a >= 0) & (a <= 4), a**2 / 4, np.inf)


class LogCosh:
    """A loss of both signs, as for regression of differences."""

    name = "log-cosh"

    def value(self, t):
        return np.logaddexp(t, -t) - np.log(2)

    def derivative(self, t):
        return np.tanh(t)

    def conjugate(self, a):
        inside = np.clip(a, -1.0, 1.0)
        found = (xlogy(1 + inside, 1 + inside) + xlogy(1 - inside, 1 - inside)) / 2
        return np.where(np.abs(a) <= 1, found, np.inf)


class OtherLogistic(Logistic):
    """The logistic loss under another name and with a margin."""

    name, margin = "other", 1.0


def test_the_logistic_loss_passes():
    found = check_loss(Logistic())
    assert not found.failed
    assert [row.check for row in found if row.outcome == "skipped"] == ["strip", "probability"]


@pytest.mark.parametrize("wrong", [(1.5, 1.0), (0.8, 0.4)])
def test_a_wrong_strip_fails(wrong):
    class Bell:
        strip = 0.8, 0.5 * 0.36**-1.5

        def second_derivative(self, t):
            return 0.5 * np.hypot(1.0, t) ** -3.0

    loss = Bell()
    check_strip(loss)
    loss.strip = wrong
    with pytest.raises(CheckFailed, match="strip is"):
        check_strip(loss)


@pytest.mark.parametrize("loss", [Smoothed, Squares, OtherLogistic, Huber, LogCosh, Exponential])
def test_other_losses_pass(loss):
    assert check_loss(loss()).failed == []


def test_a_nearly_kinked_loss_is_correct_though_its_answers_may_be_rough():
    failed = check_loss(Narrow()).failed
    assert [row.check for row in failed] in ([], ["answers"])  # with weights over eight decades
    assert all("'wide' with weights at lam = 0.01" in row.detail for row in failed)


def changed(base=Smoothed, **methods):
    return type("Wrong", (base,), dict(name="wrong") | methods)()


once = []


def grows(self, t):
    once.append(1)
    return Smoothed.value(self, t) + 1e-6 * len(once)


def writes(self, t):
    t += 1e-9
    return Smoothed.value(self, t)


WRONG = {
    # what is wrong: the loss, a check that fails, what it says
    "conjugate too small": (
        changed(conjugate=lambda s, a: Smoothed.conjugate(s, a) - 1e-4),
        "conjugate",
        r"conjugate\(",
    ),
    "conjugate too large": (
        changed(conjugate=lambda s, a: Smoothed.conjugate(s, a) + 1e-4),
        "conjugate",
        r"conjugate\(",
    ),
    "conjugate of half": (
        changed(Squares, conjugate=lambda s, a: a**2 / 2),
        "conjugate",
        r"a t - value\(t\)",
    ),
    "conjugate finite outside": (
        changed(conjugate=lambda s, a: 0.5 * a * (a - 1)),
        "conjugate",
        r"less than a t - value\(t\)",
    ),
    "conjugate NaN outside": (
        changed(conjugate=lambda s, a: np.where((a >= 0) & (a <= 1), 0.5 * a * (a - 1), np.nan)),
        "conjugate",
        "nan, neither a number",
    ),
    "conjugate nowhere": (changed(conjugate=lambda s, a: 0 * a), "conjugate", "derivative"),
    "derivative doubled": (
        changed(derivative=lambda s, t: 2 * Smoothed.derivative(s, t)),
        "derivative",
        r"derivative\(.*\) is .*, and value has slopes from",
    ),
    "derivative off by little": (
        changed(Squares, derivative=lambda s, t: 2.001 * t),
        "derivative",
        r"derivative\(",
    ),
    "derivative turned round": (
        changed(Squares, derivative=lambda s, t: -2 * t),
        "derivative",
        r"derivative\(",
    ),
    "hinge": (
        changed(
            value=lambda s, t: np.maximum(t, 0.0),
            derivative=lambda s, t: np.where(t > 0, 1.0, 0.0),
            conjugate=lambda s, a: np.where((a >= 0) & (a <= 1), 0.0, np.inf),
            second_derivative=lambda s, t: 0 * t,
        ),
        "derivative",
        "derivative jumps from 0 to 1 at t = ",
    ),
    "ramp": (
        changed(value=lambda s, t: np.clip(t, 0.0, 1.0)),
        "convexity",
        "value is not convex between t = ",
    ),
    "wave": (
        changed(value=lambda s, t: t + 0.5 * np.sin(t), derivative=lambda s, t: 1 + np.cos(t) / 2),
        "convexity",
        "not convex",
    ),
    "curvature doubled": (
        changed(second_derivative=lambda s, t: 2 * Smoothed.second_derivative(s, t)),
        "second_derivative",
        "second_derivative is .* on average from t = ",
    ),
    "curvature negative": (
        changed(second_derivative=lambda s, t: -Smoothed.second_derivative(s, t)),
        "second_derivative",
        "below 0, near t = ",
    ),
    "naive logistic": (
        changed(
            Logistic,
            margin=0.0,
            value=lambda s, t: np.log(1 + np.exp(t)),
            derivative=lambda s, t: expit(t),
        ),
        "large_shortfalls",
        r"value\(750\) is inf, and the derivative there is 1",
    ),
    "NaN far out": (
        changed(derivative=lambda s, t: np.exp(t) / (1 + np.exp(t)), value=Logistic.value),
        "large_shortfalls",
        "is nan",
    ),
    "name of ours": (changed(name="hinge"), "protocol", "is taken"),
    "no name": (changed(name=""), "protocol", "name"),
    "margin": (changed(margin=np.inf), "protocol", "margin inf"),
    "no conjugate": (changed(conjugate=None), "protocol", "no method conjugate"),
    "float32": (
        changed(value=lambda s, t: Smoothed.value(s, t).astype(np.float32)),
        "arrays",
        "value of float64 .* is float32",
    ),
    "a sum": (changed(value=lambda s, t: Smoothed.value(s, t).sum()), "arrays", "value"),
    "a list": (changed(derivative=lambda s, t: list(t)), "arrays", "is list"),
    "of all": (
        changed(value=lambda s, t: Smoothed.value(s, t) + t[0]),
        "arrays",
        "depends on the other entries",
    ),
    "chance": (changed(value=grows), "arrays", "or on chance"),
    "writes": (changed(value=writes), "arrays", "writes to the array"),
    "raises": (changed(value=lambda s, t: 1 / 0), "arrays", "ZeroDivisionError"),
    "infinite": (
        changed(value=lambda s, t: np.where(t > 20, np.inf, Smoothed.value(s, t))),
        "arrays",
        r"value\(.*\) is .*inf",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_found_and_named(name):
    loss, check, words = WRONG[name]
    with np.errstate(all="ignore"):
        found = {row.check: row for row in check_loss(loss).failed}
    assert check in found, found
    import re

    assert re.search(words, found[check].detail), found[check].detail


def test_a_class_is_no_loss():
    [row, *others] = check_loss(Smoothed)
    assert "loss is the class Smoothed. Pass an object, Smoothed()" in row.detail
    assert {each.outcome for each in others} == {"skipped"}
    with pytest.raises(TypeError, match="loss is the class Smoothed"):
        rb.RankSVM(loss=Smoothed).fit([[0.0], [1.0]], [0, 1])


def test_one_that_cannot_be_pickled_is_found():
    class Local(Smoothed):
        pass

    assert [row.check for row in check_loss(Local()).failed] == ["pickle"]


def test_a_probability_is_checked():
    class Sure(Smoothed):
        def probability(self, d):
            return (d > 0).astype(float)

    class Falling(Smoothed):
        def probability(self, d):
            return expit(-d)

    assert "probability(0)" in check_loss(Sure()).failed[0].detail
    assert "falls" in check_loss(Falling()).failed[0].detail
