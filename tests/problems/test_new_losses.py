"""Losses that the package does not know, solved by every solver whose needs they meet."""

import subprocess
import sys
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

import rankbook as rb
from rankbook.preferences.sums import Derivative, TargetLoss, loss_of
from rankbook.problems.losses import Hinge, Loss, scaled_dual
from rankbook.problems.ranksvm import LOSSES, as_loss
from rankbook.problems.smooth_losses import PairSums

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), RNG.integers(0, 4, 40)
PREFS = rb.Preferences.from_scores(Y)
NAMES = [row["name"] for row in rb.list_solvers() if row["origin"].startswith("rankbook")]


@dataclass(frozen=True)
class Rounded(Loss):
    """The hinge with a parabola around the margin, a ramp that compiled code counts."""

    name, least, derivative = "rounded", 0.0, Derivative(0.5, 0.5, 1.0)

    def value(self, t):
        """The loss of shortfalls t."""
        return self.derivative.integral(t)

    def scaling(self, lam, sums, norm, width=0.0):
        """The conjugate of slopes s is (s^2 - s) / 2, and all margins are 1."""
        return scaled_dual(1.5 * sums.margin, norm / lam + sums.square, 1.0)

    def excess(self, problem, f, e, dual=None):
        """The curvature of a pair is at most 1."""
        return 2 * e**2 * len(problem.prefs)


class Squares:
    """The rule t^2 for a pair."""

    value = staticmethod(np.square)
    derivative = staticmethod(lambda t: 2 * t)
    second_derivative = staticmethod(lambda t: np.full(t.shape, 2.0))
    conjugate = staticmethod(lambda a: a**2 / 4)


class Equal(Loss):
    """The square of a pair's shortfall, summed over a list."""

    name, least, value = "equal", 0.0, staticmethod(np.square)

    def summed(self, target):
        """The sum over the list."""
        return PairSums(Squares(), target)


class Twice(TargetLoss):
    """Sums of the hinge, times two."""

    def __init__(self, prefs):
        self.once = loss_of(prefs)

    def evaluate(self, scores, derivative):
        """The sums at scores (n,)."""
        found = self.once.evaluate(scores, derivative)
        parts = "loss", "margin", "square", "score_gradient"
        return replace(found, **{part: 2 * getattr(found, part) for part in parts})

    def curvature(self, bands, v):
        """The Hessian times v."""
        return 2 * self.once.curvature(bands, v)

    def full_score_gradient(self):
        """The score gradient if all fall short."""
        return 2 * self.once.full_score_gradient()

    def largest_rise(self, scores, noise=0.0):
        """The largest difference of scores."""
        return self.once.largest_rise(scores, noise)


class Doubled(Hinge):
    """Twice the hinge, which is not smooth."""

    name, summed = "doubled", Twice

    def value(self, t):
        """The loss of shortfalls t."""
        return 2 * super().value(t)

    def reads_list(self, problem, dual):
        """Its sums are never those of a list."""
        return False

    def excess(self, problem, f, e, dual=None):
        """Twice that of the hinge."""
        return 2 * super().excess(problem, f, e)


class Bare(Doubled):
    """A loss without a smoothed form."""

    name, smoothed = "bare", None


NEW = [Rounded(), Equal(), Doubled()]


def objective(loss, lam):
    """The objective of weights w, from a list of pairs made here."""
    pairs = [X[i] - X[j] for i, j in product(range(40), repeat=2) if Y[i] > Y[j]]
    Z = np.array(pairs)
    return lambda w: lam / 2 * w @ w + loss.value(1 - Z @ w).sum()


def takers(problem, method):
    """The solvers with needs that take a problem, by name."""
    made = {name: rb.get_solver(name) for name in NAMES}
    return {
        name
        for name, solver in made.items()
        if method in solver.provides and solver.needs and solver.can_solve(problem) is True
    }


@pytest.mark.parametrize("loss", NEW, ids=lambda loss: loss.name)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_every_solver_whose_needs_it_meets_solves_it(loss, kernel, monkeypatch):
    monkeypatch.setitem(LOSSES, loss.name, loss)  # by name, as rankbook's own
    problem = rb.RankSVMProblem(X, PREFS, kernel=kernel, loss=loss.name)
    names, is_linear = takers(problem, "solve"), kernel == "linear"
    of_kernels = {"tiled", "newton"} if loss.is_smooth else {"tiled"}
    assert names == ({"newton"} if is_linear else of_kernels)
    found = [rb.solve(problem, 2.0, solver=name) for name in (*sorted(names), "auto")]
    assert all(solution.certificate.is_optimal() for solution in found)
    assert all(np.isclose(one.certificate.primal, found[0].certificate.primal) for one in found)
    if is_linear:
        value = objective(loss, 2.0)
        w, proof = found[0].weights, found[0].certificate
        assert np.isclose(proof.primal, value(w))
        for start in (w, 2 * w, np.zeros(3)):
            assert minimize(value, start, method="Nelder-Mead").fun >= proof.dual


@pytest.mark.parametrize("loss", NEW, ids=lambda loss: loss.name)
def test_its_path_is_followed(loss):
    problem = rb.RankSVMProblem(X, PREFS, kernel="linear", loss=loss)
    names = takers(problem, "path")
    assert names == ({"newton", "epsilon"} if loss.is_smooth else {"newton"})
    for name in (*sorted(names), "auto"):
        path = rb.solve_path(problem, 1.0, solver=name)
        assert path.certificate(2.0).relative_gap <= 1e-3


@pytest.mark.parametrize("loss", NEW, ids=lambda loss: loss.name)
def test_an_estimator_takes_it_with_the_default_lambda(loss):
    model = rb.RankSVM(kernel="linear", loss=loss).fit(X, Y)
    assert model.certificate_.is_optimal()
    hinge = rb.RankSVM(kernel="linear").fit(X, Y)
    assert 0.1 < model.lam_ / hinge.lam_ < 10


def test_twice_the_hinge_is_the_hinge_with_twice_the_weights():
    twice = rb.Preferences(PREFS.better, PREFS.worse, 40, weight=np.full(len(PREFS), 2.0))
    expected = rb.solve(rb.RankSVMProblem(X, twice, kernel="linear"), 2.0, solver="interior")
    problem = rb.RankSVMProblem(X, PREFS, kernel="linear", loss=Doubled())
    found = rb.solve(problem, 2.0, solver="newton")
    assert np.isclose(found.certificate.primal, expected.certificate.primal, rtol=1e-6)


@pytest.mark.parametrize("solver", sorted({"newton", "epsilon", "interior", "qp"}))
def test_a_loss_that_lacks_a_need_is_refused(solver):
    problem = rb.RankSVMProblem(X, PREFS, kernel="linear", loss=Bare())
    assert takers(problem, "solve") == set()
    solve = rb.solve_path if solver == "epsilon" else rb.solve
    with pytest.raises(ValueError, match="takes the loss .*not bare, which none of rankbook's own"):
        solve(problem, 1.0, solver=solver)


def test_the_refusal_names_the_needs():
    said = rb.get_solver("newton").can_solve(rb.RankSVMProblem(X, PREFS, loss=Bare()))
    assert said.startswith("it takes the loss any with smoothed, not bare")


class Descent(rb.Solver):
    """A solver of losses with a prox, which none of rankbook's has."""

    name, summary, tol = "prox-descent", "Twice nothing.", None
    losses, needs = frozenset(), ("prox",)

    def solve(self, problem, lam):
        """The function 0."""
        return rb.Solution(problem, lam, coef=np.zeros(problem.coef_shape), solver="prox-descent")


def test_a_plugin_may_need_a_method_of_its_own_losses():
    mine = type("Mine", (Rounded,), dict(name="mine", prox=lambda self, t: t))
    problem = rb.RankSVMProblem(X, PREFS, kernel="linear", loss=mine())
    assert np.isfinite(rb.solve(problem, 1.0, solver=Descent).certificate.primal)
    with pytest.raises(ValueError, match="it takes the loss any with prox, not rounded"):
        rb.solve(rb.RankSVMProblem(X, PREFS, kernel="linear", loss=Rounded()), 1.0, solver=Descent)


def test_needs_are_names():
    wrong = type("Wrong", (Descent,), dict(needs="prox"))
    with pytest.raises(TypeError, match="needs of Wrong is 'prox'"):
        rb.get_solver(wrong)


def test_no_new_loss_takes_the_name_of_another():
    taken = type("Mine", (Rounded,), dict(name="hinge"))()
    with pytest.raises(ValueError, match="loss has the name 'hinge', which is taken"):
        as_loss(taken)
    assert as_loss(Hinge()) == Hinge()


@pytest.mark.parametrize("penalty", ["l1", "elastic-net"])
def test_sparse_penalties_take_only_losses_that_they_certify(penalty):
    kinked = type("Kinked", (Rounded,), dict(is_smooth=False))()
    with pytest.raises(ValueError, match=f"penalty is '{penalty}' and loss is 'rounded'"):
        rb.RankSVMProblem(X, PREFS, kernel="linear", penalty=penalty, loss=kinked)


FIRST_FIT = """
import sys, numpy as np, rankbook as rb
rng = np.random.default_rng(0)
X, options = rng.normal(size=(40, 3)), dict(kernel="rbf")
y = np.round(X[:, 0] + rng.normal(size=40))
options |= dict(lam=float(sys.argv[1])) if sys.argv[1] != "scale" else {}
assert rb.RankSVM(**options).fit(X, y).certificate_.is_optimal()
made = {name for name, module in sys.modules.items() if name.startswith("rankbook.")
        for one in list(vars(module).values()) if getattr(one, "signatures", None)}
print(sorted(made), "numba" in sys.modules)
"""


@pytest.mark.parametrize("lam", ["scale", "1.0"])
def test_a_first_fit_of_few_items_compiles_nothing(lam):
    call = [sys.executable, "-c", FIRST_FIT, lam]
    found = subprocess.run(call, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["[]", "False"] and found.stderr == ""


@pytest.mark.parametrize("name", [None, "", 3])
def test_a_loss_without_a_name_is_refused(name):
    nameless = type("Nameless", (Loss,), {} if name is None else dict(name=name))
    with pytest.raises(ValueError, match="loss has the name"):
        rb.RankSVM(loss=nameless()).fit([[0.0], [1.0]], [0, 1])
