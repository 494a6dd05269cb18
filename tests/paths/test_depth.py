"""How far down the path can be trusted.

To 1e-8 of lam_max on the worst data there are, and to 0 where all preferences can be met.
"""

import numpy as np
import pytest

import rankbook as rb
from rankbook.data.datasets import load, make_mixture

DEPTH, TOL = 1e-8, 1e-8


def largest_gap(path, count=200, seed=0):
    """The largest relative gap at random lambdas of the path, down to DEPTH * lam_max."""
    top = path.problem.lam_max
    low = max(path.domain[0], DEPTH * top)
    lams = np.exp(np.random.default_rng(seed).uniform(np.log(low), np.log(top), count))
    found = [path.certificate(lam) for lam in lams]
    assert max(c.box_violation for c in found) == 0
    return max(c.relative_gap for c in found)


def to_the_depth(problem, **options):
    path = rb.solve_path(problem, lam_min=DEPTH * problem.lam_max, **options)
    assert path.status in ("complete", "lam_min"), (path, path.info)
    return path


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("seed", range(3))
def test_random_labels_with_copies_that_contradict_each_other(kernel, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 2 + seed))
    X = np.r_[X, X[:25], X[:10]]
    problem = rb.RankSVMProblem(
        X, rb.Preferences.from_scores(rng.integers(0, 2 + seed, len(X))), kernel
    )
    path = to_the_depth(problem)
    assert largest_gap(path) <= TOL


@pytest.mark.parametrize("seed", range(3))
def test_integer_grids_with_random_labels(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (80, 3)).astype(float)
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(rng.integers(0, 3, 80)), gamma=0.5)
    path = to_the_depth(problem)
    assert largest_gap(path) <= TOL


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("copies", [0, 200])
def test_diabetes_with_all_its_134000_preferences(copies):
    """Noisy data: the active set passes 300.

    With copies of 200 people under shuffled labels it is noisier still.
    """
    data, rng = load("diabetes"), np.random.default_rng(0)
    X, y = (data.X - data.X.mean(0)) / data.X.std(0), data.y
    if copies:
        again = rng.permutation(len(y))[:copies]
        X, y = np.r_[X, X[again]], np.r_[y, rng.permutation(y[again])]
    path = to_the_depth(rb.RankSVMProblem(X, rb.Preferences.from_scores(y)))
    gap = largest_gap(path)
    print(
        f"\n{len(path.problem.prefs)} preferences, {len(path.events)} events, {path.status}, "
        f"largest active set {path.info['largest_free']}, largest gap {gap:.1e}"
    )
    assert path.info["largest_free"] > 300 and gap <= TOL


# The hard margin


def separable(kernel, graph, seed):
    data = make_mixture(n_per_class=25, seed=seed)
    return rb.RankSVMProblem(
        data.X + 5 * data.y[:, None], rb.Preferences.from_scores(data.y, graph=graph), kernel
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("graph", ["full", "star"])
@pytest.mark.parametrize("seed", range(2))
def test_at_zero_the_path_is_the_hard_margin_of_qp(kernel, graph, seed):
    problem = separable(kernel, graph, seed)
    path, hard = rb.solve_path(problem), rb.solve(problem, 0, solver="qp")
    assert path.status == "complete" and path.domain[0] == 0
    ours, theirs = path.certificate(0), hard.certificate
    assert ours.relative_gap <= TOL and ours.primal == pytest.approx(theirs.primal, rel=1e-6)
    f, g = problem.matvec(path.coef(0)), problem.matvec(hard.coef)
    assert np.ptp(f - g) <= 2 * theirs.radius * np.sqrt(problem.diagonal.max()) * 2 + 1e-6 * np.ptp(
        g
    )  # the solution is unique in f


def test_at_zero_with_weights_margins_and_weight_zero():
    """Positive weights do not matter, margins do, for both solvers alike.

    What weighs nothing does not count.
    """
    problem, rng = separable("linear", "full", 0), np.random.default_rng(0)
    m = len(problem.prefs)
    weight, margin = rng.uniform(0.5, 2, m), rng.uniform(0.5, 2, m)
    weight[margin > 1.9] = 0
    weighed = rb.RankSVMProblem(problem.X, problem.prefs.reweighted(weight, margin), "linear")
    path, hard = rb.solve_path(weighed), rb.solve(weighed, 0, solver="qp")
    assert path.certificate(0).primal == pytest.approx(hard.certificate.primal, rel=1e-6)
    w = weighed.X.T @ path.coef(0)
    slack = weighed.prefs.matvec(weighed.X @ w) / margin - 1
    assert (
        slack[weight > 0].min() == pytest.approx(0, abs=1e-8) and slack[weight == 0].min() < -1e-3
    )


def test_close_to_zero_nothing_jumps():
    problem = separable("linear", "full", 1)
    path = rb.solve_path(problem)
    last = path.breakpoints[-1]
    for lam in (last, 0.5 * last, 1e-3 * last, 1e-9 * last):
        assert np.allclose(
            problem.matvec(path.coef(lam)), problem.matvec(path.coef(0)), rtol=1e-9, atol=1e-9
        )
        assert path.certificate(lam).relative_gap <= TOL
