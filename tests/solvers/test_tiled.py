"""The solver with products by tiles of the kernel matrix."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rankbook as rb
from rankbook.kernels.kernel import Kernel
from rankbook.problems.ranksvm import RankSVMProblem
from rankbook.solvers.tiled import solver

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
SCORE = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=120)
Y = np.digitize(SCORE, [-1, 0, 1])
TIME = -SCORE - SCORE.min() + 5


def targets():
    """Preferences of every kind."""
    counted = rb.Preferences.from_scores(Y)
    weight = rng.random(120)
    return {
        "counted": counted,
        "queries": rb.Preferences.from_scores(Y, np.arange(120) // 30),
        "item weights": rb.Preferences.from_scores(Y).item_weighted(weight),
        "levels": rb.Preferences.from_scores(Y, level_weight={(3, 0): 5.0}),
        "survival": rb.Preferences.from_survival(TIME, rng.random(120) < 0.6),
        "listed": rb.Preferences(
            counted.better[::7],
            counted.worse[::7],
            120,
            margin=rng.random(len(counted.better[::7])) + 0.1,
        ),
    }


TARGETS = targets()


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("lam", [100.0, 1.0])
def test_the_optimum_is_that_of_interior(name, loss, lam):
    problem = RankSVMProblem(X, TARGETS[name], loss=loss)
    found = rb.solve(problem, lam, "tiled")
    other = rb.solve(problem, lam, "interior").certificate
    assert found.certificate.relative_gap <= 1e-6
    assert found.certificate.primal - other.primal <= 2e-6 * other.primal
    assert found.certificate.dual <= other.primal * (1 + 1e-9)
    assert "gram" not in vars(RankSVMProblem(X, TARGETS[name], loss=loss))


@pytest.mark.parametrize("kernel", [Kernel("poly", degree=2), Kernel("rbf", gamma=3.0)])
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_constants_of_the_kernel_are_taken_out(kernel, shift):
    items = np.round(X, 2) * 128 / 100
    items = np.round(items * 64) / 64  # exact after a shift
    here, there = (
        rb.solve(RankSVMProblem(Z, TARGETS["counted"], kernel), 1e3, "tiled").certificate
        for Z in (items, items + (shift if kernel.name == "rbf" else 0.0))
    )
    assert max(here.relative_gap, there.relative_gap) <= 1e-6
    assert here.primal == pytest.approx(there.primal, rel=2e-6)


def test_counted_preferences_are_not_listed():
    for name in ("counted", "survival"):
        target = (
            rb.Preferences.from_scores(Y)
            if name == "counted"
            else rb.Preferences.from_survival(TIME, rng.random(120) < 0.6)
        )
        problem = RankSVMProblem(X, target)
        assert rb.solve(problem, 10.0, "tiled").certificate.relative_gap <= 1e-6
        assert not problem.prefs.is_listed


@pytest.mark.parametrize("loss", ["logistic", "plackett-luce"])
def test_smooth_losses(loss):
    target = TARGETS["counted"] if loss == "logistic" else rb.Preferences.from_scores(Y)
    problem = RankSVMProblem(X, target, loss=loss)
    found = rb.solve(problem, 3.0, ("tiled", dict(tol=1e-9)))
    other = rb.solve(problem, 3.0, "newton")
    assert found.certificate.relative_gap < 1e-8
    assert np.allclose(problem.matvec(found.coef), problem.matvec(other.coef), atol=1e-4)


def test_many_items_need_no_kernel_matrix(monkeypatch):
    monkeypatch.setattr(RankSVMProblem, "WHOLE", 100)
    problem = RankSVMProblem(X, TARGETS["counted"])
    found = rb.solve(problem, 5.0, "tiled")
    assert found.certificate.relative_gap <= 1e-6 and "gram" not in vars(problem)
    whole = RankSVMProblem(X, TARGETS["counted"])
    whole.gram  # noqa: B018
    again = whole.certificate(5.0, found.coef, found.dual)
    assert again.primal == pytest.approx(found.certificate.primal, rel=1e-10)
    assert again.dual == pytest.approx(found.certificate.dual, rel=1e-10)


def test_memory_is_stated_beforehand(monkeypatch):
    monkeypatch.setattr("rankbook.base.limits.available_memory", lambda: 1000)
    problem = RankSVMProblem(X, TARGETS["counted"])
    with pytest.raises(MemoryError, match="landmarks"):
        rb.solve(problem, 1.0, "tiled")


def test_more_landmarks_are_taken_only_where_they_fit(monkeypatch):
    asked, problem = [], RankSVMProblem(X, TARGETS["counted"])
    whole = solver.landmark_features

    def landmark_features(problem, p):
        asked.append(p)
        return whole(problem, p)

    monkeypatch.setattr(solver, "landmark_features", landmark_features)
    for room, is_enough in ((10**9, True), (solver.bytes_for(120, 16), False)):
        asked.clear()
        monkeypatch.setattr("rankbook.base.limits.available_memory", lambda room=room: room)
        monkeypatch.setattr(solver, "available_memory", lambda room=room: room)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            rb.solve(problem, 0.1, ("tiled", dict(landmarks=8)))
        assert asked[:2] == [8, 16] and (asked[-1] > 16) == is_enough


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("lam", [1e-3, 1e-6])
def test_at_a_small_lambda_the_bounds_hold_and_a_larger_gap_is_told(loss, lam):
    problem = RankSVMProblem(X, TARGETS["counted"], loss=loss)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = rb.solve(problem, lam, "tiled").certificate
    other = rb.solve(problem, lam, "interior").certificate
    assert found.dual <= other.primal and other.dual <= found.primal
    assert (found.relative_gap > 1e-6) == any("relative gap" in str(each.message) for each in told)
    assert found.relative_gap <= 1e-3


@pytest.mark.parametrize("landmarks", [5, 1000])
def test_few_landmarks_take_more_products_only(landmarks):
    problem = RankSVMProblem(X, TARGETS["counted"])
    found = rb.solve(problem, 100.0, ("tiled", dict(landmarks=landmarks)))
    assert found.certificate.relative_gap <= 1e-6


def test_a_call_gives_the_same_coefficients_each_time(monkeypatch):
    monkeypatch.setattr("rankbook.kernels.tiles.TILE", 17)
    problem = RankSVMProblem(X, TARGETS["counted"])
    first, again = (rb.solve(problem, 30.0, "tiled").coef for _ in range(2))
    assert np.array_equal(first, again)
