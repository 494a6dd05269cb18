"""Own losses that are not convex, and own losses with a bend that is nearly a kink."""

import numpy as np
import pytest
from scipy.special import expit, xlogy

import rankbook as rb


class Own:
    """A loss from three functions."""

    name = "own"

    def __init__(self, value, derivative, conjugate):
        self.value, self.derivative, self.conjugate = value, derivative, conjugate


# -t^2 has no minimum for small lambda, and the others for no lambda, although the objective has a
# local minimum with a gap of 0 for large lambda
NOT_CONVEX = {
    "concave": Own(lambda t: -(t**2), lambda t: -2 * t, lambda a: -(a**2) / 4),
    "cubic": Own(lambda t: t**3, lambda t: 3 * t**2, lambda a: 2 * (np.abs(a) / 3) ** 1.5),
    "exponential": Own(
        lambda t: -np.exp(t), lambda t: -np.exp(t), lambda a: a * np.log(np.abs(a)) - a
    ),
}


@pytest.mark.parametrize("name", NOT_CONVEX)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("lam", [0.01, 1e3])
def test_a_loss_that_is_not_convex_is_refused(name, kernel, lam):
    X = np.random.default_rng(0).normal(size=(12, 2))
    said = "loss 'own' has a derivative that falls from .*. Pass a convex loss"
    with pytest.raises(ValueError, match=said):
        rb.RankSVM(lam, kernel=kernel, loss=NOT_CONVEX[name]).fit(X, X[:, 0].round())


def softened(e):
    """The loss e log(1 + exp(t / e)), a hinge at 0 with a bend of width e."""

    def conjugate(a):
        inside = np.clip(a, 0, 1)
        lost = e * (xlogy(inside, inside) + xlogy(1 - inside, 1 - inside))
        return np.where(a == inside, lost, np.inf)

    return Own(lambda t: e * np.logaddexp(0, t / e), lambda t: expit(t / e), conjugate)


@pytest.mark.parametrize("e", [1.0, 1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_nearly_kinked_losses_with_weights_over_eight_decades(e, kernel):
    """The minimum lies between that of the hinge and that plus e log 2 for each unit of weight."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    prefs = rb.Preferences.from_scores(y)
    prefs = prefs.reweighted(10.0 ** rng.uniform(-4, 4, len(prefs)))
    found = rb.RankSVM(0.1, kernel=kernel, loss=softened(e)).fit(X, prefs).certificate_
    assert found.relative_gap <= 1e-6
    hinge = rb.solve(rb.RankSVMProblem(X, prefs, kernel=kernel), 0.1, solver="qp").certificate
    # the margin is 1 for both, so the losses differ by at most e log 2
    assert hinge.dual <= found.primal
    assert found.dual <= hinge.primal + e * np.log(2) * prefs.weight.sum()


def test_a_kink_that_is_too_sharp_is_announced():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
    prefs = rb.Preferences.from_scores(y)
    prefs = prefs.reweighted(10.0 ** rng.uniform(-4, 4, len(prefs)))
    with pytest.warns(UserWarning, match="reached a relative gap of"):
        found = rb.RankSVM(0.01, kernel="linear", loss=softened(1e-9)).fit(X, prefs).certificate_
    assert not found.is_optimal()


@pytest.mark.parametrize("lam", [1e-3, 1.0])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_loss_that_is_unbounded_below_has_a_minimum_and_a_certificate(lam, scale):
    """With the loss t, the weights are the sum of all differences of items, divided by lambda."""
    rng = np.random.default_rng(0)
    X, y = scale * rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    only = lambda a: np.where(np.abs(a - 1) < 1e-9, 0.0, np.inf)
    falling = Own(lambda t: 1.0 * t, lambda t: np.ones_like(t), only)
    model = rb.RankSVM(lam, kernel="linear", loss=falling).fit(X, y)
    better, worse = np.nonzero(y[:, None] > y)
    total = (X[better] - X[worse]).sum(axis=0)
    least = better.size - total @ total / (2 * lam)
    assert np.allclose(model.coef_, total / lam, rtol=1e-9)
    assert model.certificate_.primal == pytest.approx(least, rel=1e-12)
    assert model.certificate_.is_optimal()
