"""Losses and penalties are objects, and a problem is what is derived from one."""

import pickle
from copy import deepcopy
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

import rankbook as rb
from rankbook.problems.certificate import SmoothedDual
from rankbook.problems.losses import (
    PENALTIES,
    Hinge,
    SquaredHinge,
    as_penalty,
    correlation_error,
    feature_correlation,
)
from rankbook.problems.ranksvm import as_loss

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 3)), RNG.integers(0, 3, 30)
PREFS = rb.Preferences.from_scores(Y)


class Named(rb.RankSVMProblem):
    """A ranking SVM that carries a name."""

    name = "mine"


class Grades(rb.RankRLSProblem):
    """A RankRLS from another package."""


SOLVERS = [("path", {}), ("qp", {}), ("newton", {}), ("subgradient", {})]
SOLVERS += [("qp", dict(penalty="l1")), ("simplex", dict(penalty="l1"))]
SOLVERS += [("homotopy", dict(penalty="l1", loss="squared"))]
SOLVERS += [("newton", dict(loss="squared")), ("qp", dict(loss="squared"))]


@pytest.mark.parametrize(["solver", "options"], SOLVERS)
def test_a_derived_problem_is_solved_like_its_parent(solver, options):
    lam = 5.0
    mine, usual = (
        kind(X, PREFS, kernel="linear", **options) for kind in (Named, rb.RankSVMProblem)
    )
    found, expected = (rb.solve(problem, lam, solver=solver) for problem in (mine, usual))
    assert found.problem is mine and found.certificate == expected.certificate
    assert found.weights.tolist() == expected.weights.tolist()


@pytest.mark.parametrize("solver", ["path", "newton", "epsilon"])
def test_its_path_is_followed(solver):
    mine, usual = (kind(X, PREFS, kernel="linear") for kind in (Named, rb.RankSVMProblem))
    found, expected = (rb.solve_path(problem, 5.0, solver) for problem in (mine, usual))
    assert found.coef(6.0).tolist() == expected.coef(6.0).tolist()


@pytest.mark.parametrize("solver", ["rls", "qp"])
def test_so_is_one_of_least_squares(solver):
    mine, usual = (kind(X, Y.astype(float)) for kind in (Grades, rb.RankRLSProblem))
    assert np.allclose(rb.solve(mine, 1.0, solver).coef, rb.solve(usual, 1.0, solver).coef)


def test_what_is_derived_from_something_else_is_not_solved():
    with pytest.raises(ValueError, match="it takes RankSVMProblem and .*, not Grades"):
        rb.solve(Grades(X, Y.astype(float)), 1.0, solver="path")


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_the_conjugate_is_that_of_the_value(loss):
    loss = as_loss(loss)
    for a, c in [(0.0, 1.0), (0.3, 1.0), (1.5, 2.0), (0.7, 0.7)]:
        cost = lambda t: c * float(loss.value(np.array(t[0]))) - a * t[0]
        best = -min(minimize(cost, start, method="Nelder-Mead").fun for start in ([0.1], [-1.0]))
        assert np.isclose(loss.conjugate(np.array([a]), np.array([c])), best, atol=1e-7)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_the_derivative_is_that_of_the_value(loss):
    loss, t = as_loss(loss), np.array([-1.0, -0.2, 0.3, 1.7])
    slope = (loss.value(t + 1e-6) - loss.value(t - 1e-6)) / 2e-6
    assert np.allclose(loss.derivative.at(t), slope, atol=1e-5)
    assert np.allclose(loss.derivative.integral(t), loss.value(t))


def test_names_and_objects_mean_the_same_and_survive_a_pickle():
    one = rb.RankSVMProblem(X, PREFS, kernel="linear", loss="squared", penalty="l2")
    other = rb.RankSVMProblem(X, PREFS, kernel="linear", loss=one.loss, penalty=one.penalty)
    assert other.loss == one.loss == SquaredHinge() != Hinge()
    again = pickle.loads(pickle.dumps(one))
    assert again.loss == one.loss and again.penalty == one.penalty
    assert [as_penalty(name).name for name in PENALTIES] == list(PENALTIES)


@pytest.mark.parametrize(
    ["wrong", "message"],
    [
        (dict(loss="hing"), "loss is 'hing'"),
        (dict(loss="Cox"), "Cox's model is 'plackett-luce' with survival times"),
        (dict(loss=None), "loss is None"),
        (dict(penalty=["l1"]), "penalty is"),
        (dict(penalty=1), "penalty is 1"),
    ],
)
def test_what_is_neither_is_named(wrong, message):
    with pytest.raises((TypeError, ValueError), match=message):
        rb.RankSVMProblem(X, PREFS, kernel="linear", **wrong)


@pytest.mark.parametrize(
    ["problem", "name"],
    [
        (lambda: rb.RankSVMProblem(X, PREFS), "interior"),
        (lambda: rb.RankRLSProblem(X, Y.astype(float)), "rls"),
        (lambda: rb.SVMProblem(X, Y > 0), "qp"),
        (lambda: rb.RayleighProblem(X, Y > 0, n_components=3, n_neighbors=2), "rayleigh"),
    ],
)
def test_auto_finds_a_solver_for_every_problem(problem, name):
    assert rb.solve(problem(), 1.0, solver="auto").solver.startswith(name)


def test_at_the_hard_margin_what_weighs_nothing_proves_nothing():
    rows = np.array([[0.0, 0], [1, 0], [0, 1]])
    prefs = rb.Preferences([1, 2], [0, 0], 3, weight=[1, 0], margin=[1, 5])
    problem = rb.RankSVMProblem(rows, prefs, kernel="linear")
    found = problem.certificate(0.0, dual=np.array([1.0, 5.0]), weights=np.array([1.0, 5.0]))
    assert found.dual <= 0.5 and found.box_violation == 1.0 and not found.is_optimal()
    good = problem.certificate(0.0, dual=np.array([1.0, 0.0]), weights=np.array([1.0, 0.0]))
    assert good.is_optimal(1e-14) and good.dual <= 0.5 <= good.primal < 0.5 + 1e-12


def test_at_the_hard_margin_the_optimum_is_within_the_radius():
    rows = np.array([[0.0, 0], [1, 0], [0, 1]])
    problem = rb.RankSVMProblem(rows, rb.Preferences([1], [0], 3), kernel="linear")
    for scale in (0.1, 0.5, 1.0, 3.0, -1.0):
        found = problem.certificate(0.0, dual=np.ones(1), weights=np.array([scale, 0.0]))
        assert found.radius >= abs(scale - 1) * (1 - 1e-9)


def test_no_tie_is_called_certain():
    rows = np.array([[-1.0, 0], [1, 0], [0, 1], [0, 2]])  # 0 and 1 are mirror images
    prefs = rb.Preferences([2, 2, 3, 3, 3], [0, 1, 0, 1, 2], 4)
    problem = rb.RankSVMProblem(rows, prefs)
    path = rb.solve_path(problem)
    for lam in np.geomspace(1e-2, 1.0, 30) * problem.lam_max:
        assert not path.solution(lam).proven([0], [1]).any()
    coef = path.coef(1e18)
    assert not rb.Solution(problem, 1e18, coef=-coef).proven([3, 2], [0, 0]).any()


def test_multipliers_of_what_weighs_nothing_are_seen():
    rows = np.array([[0.0], [1.0], [2.0]])
    prefs = rb.Preferences([2, 1], [0, 0], 3, weight=[1, 0])
    problem = rb.RankSVMProblem(rows, prefs, kernel="linear", loss="squared")
    exact = rb.solve(problem, 1.0, solver="newton", tol=1e-10)
    for extra in (-5.0, 5.0, 1e6):
        slope = 2 * max(0.0, 1 - 2 * float(exact.weights[0]))
        found = problem.certificate(1.0, exact.coef, np.array([slope, extra]))
        assert found.box_violation >= 5 and found.is_optimal()  # the gap is of f alone


def test_a_replaced_attribute_forgets_what_followed_from_the_old_one():
    problem = rb.RankSVMProblem(X, PREFS, kernel="linear")
    problem.lam_max, problem.summed
    heavier = problem.replaced(prefs=PREFS.reweighted(np.full(len(PREFS), 10.0)))
    assert heavier.lam_max == pytest.approx(10 * problem.lam_max)
    for wrong in (dict(nonsense=3), dict(weight=np.ones(len(PREFS)))):
        with pytest.raises(TypeError, match="is not an attribute of a Preferences"):
            PREFS.replaced(**wrong)


@pytest.mark.parametrize("again", [lambda o: pickle.loads(pickle.dumps(o)), deepcopy])
def test_copies_are_read_only_too(again):
    problem = rb.RankSVMProblem(X, PREFS, kernel="linear")
    solution = again(rb.solve(problem, 1.0, solver="path"))
    kept = solution.problem.X, solution.problem.prefs.better, solution.weights
    assert not any(array.flags.writeable for array in kept)
    path = again(rb.solve_path(problem))
    assert not path.events.flags.writeable and not path.breakpoints.flags.writeable


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("lam", [-1.0, np.nan, np.inf, "1", None])
def test_a_certificate_asks_for_a_lambda(penalty, lam):
    problem = rb.RankSVMProblem(X, PREFS, kernel="linear", penalty=penalty, loss="squared")
    with pytest.raises((TypeError, ValueError), match="^lam is"):
        problem.certificate(lam, np.zeros(problem.n_coef))


@pytest.mark.parametrize("file", [3, None, b"path.npz", 1.5])
def test_what_is_no_file_is_named(file):
    with pytest.raises(TypeError, match="^file is"):
        rb.load(file)


def test_the_dual_of_the_smoothed_hinge_is_none_of_its_square():
    problem = rb.RankSVMProblem(X, PREFS, kernel="linear", loss="squared")
    with pytest.raises(TypeError, match="^dual is SmoothedDual"):
        problem.certificate(1.0, np.zeros(30), SmoothedDual(0.1))


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_correlations_are_exact_to_their_error(unit):
    rng = np.random.default_rng(0)
    X, dual = unit * rng.normal(size=(40, 3)), rng.random(200)
    better = rng.integers(0, 40, 200)
    worse = (better + rng.integers(1, 40, 200)) % 40
    problem = rb.RankSVMProblem(X, rb.Preferences(better, worse, 40), "linear", penalty="l1")
    error, found = correlation_error(problem, dual), feature_correlation(problem, dual)
    for feature, value in zip(X.T, found):
        ends = zip(dual, feature[better], feature[worse])
        exact = sum(Fraction(a) * (Fraction(x) - Fraction(z)) for a, x, z in ends)
        assert abs(exact - Fraction(value)) <= error
    assert error < 1e-12 * np.abs(found).max()
