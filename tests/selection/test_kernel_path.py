"""What a path along the widths promises between them, against refits"""

import numpy as np
import pytest

import rankbook as rb

LAM = 0.01


def items(kind, rng, n=24):
    X = rng.normal(size=(n, 2))
    if kind == "mixture":
        X[n // 2 :] = 4 + 0.3 * X[n // 2 :]
    y = X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=n)
    if kind == "ties":
        return X, np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(float)
    if kind == "duplicates":  # the same items, partly with other scores
        X[n // 2 :], y[n // 2 : -4] = X[: n // 2], y[: n // 2 - 4]
    return X, y


@pytest.mark.parametrize(
    "kind, settings",
    [
        ("mixture", {}),
        ("ties", {}),
        ("duplicates", {}),
        ("ties", dict(loss="squared")),
        ("ties", dict(kernel=rb.kernels.Kernel("poly", degree=2))),
    ],
)
def test_the_gap_between_widths_is_what_was_asked_for(kind, settings):
    rng = np.random.default_rng(3)
    X, y = items(kind, rng)
    prefs = rb.Preferences.from_scores(y)
    path = rb.kernel_path(rb.RankSVMProblem(X, prefs, **settings), LAM, np.geomspace(0.05, 5, 6))
    middle = np.sqrt(path.gammas[1:] * path.gammas[:-1])
    widths = np.r_[middle, np.exp(rng.uniform(np.log(0.03), np.log(8), 6)), path.gammas[[0, -1]]]
    name = "poly" if "kernel" in settings else "rbf"
    settings = [settings | dict(kernel=rb.kernels.Kernel(name, g, degree=2)) for g in widths]
    problems = [rb.RankSVMProblem(X, prefs, **each) for each in settings]
    best = [rb.solve(problem, LAM, "qp").certificate.primal for problem in problems]
    for tol in (None, 1e-2, 1e-5):
        for gamma, problem, optimum in zip(widths, problems, best):
            found = path.solution(gamma, tol)
            proven = found.certificate.relative_gap
            primal = problem.primal(found.coef, LAM)
            assert -1e-6 < (primal - optimum) / primal <= proven + 1e-6
            assert tol is None or proven <= tol
        if tol is None:  # the bound is wide, so that the tolerances are a demand
            assert np.allclose(
                path.gaps, [path.solution(g).certificate.relative_gap for g in middle]
            )
            assert path.gaps.max() > 0.02


def test_interpolation_is_of_second_order_and_exact_at_the_solved_widths():
    X, y = items("mixture", np.random.default_rng(3))
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y))
    coarse, fine = (rb.kernel_path(problem, 1.0, np.geomspace(0.05, 5, g)) for g in (10, 40))
    assert fine.gaps.max() < coarse.gaps.max() / 8  # 4 were first order, 16 second
    for gamma, answer in zip(coarse.gammas, coarse.solutions):
        assert np.array_equal(coarse.solution(gamma).coef, answer.coef)


def test_one_width_none_between_and_a_wrong_tolerance():
    problem = rb.RankSVMProblem([[0.0], [1.0], [3.0]], rb.Preferences.from_scores([0, 1, 2]))
    path = rb.kernel_path(problem, 0.1, [1.0])
    assert path.gaps.shape == (0,)
    assert path.solution(7.0, tol=1e-6).certificate.relative_gap <= 1e-6
    with pytest.raises(ValueError, match="^tol is 0"):
        path.solution(7.0, tol=0)
