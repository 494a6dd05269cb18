"""A path against what one does without it: a grid of 20 lambdas, each a solve.

Run by `pytest tests/benchmarks -s`.
"""

import time

import numpy as np
import pytest
from cpu_time import cpu

import rankbook as rb
from rankbook.data.datasets import load, make_mixture

GRID = np.geomspace(0.5, 1e-4, 20)  # of lam_max


def standardised(name):
    data = load(name)
    return (data.X - data.X.mean(0)) / data.X.std(0), data.y


def ready(X, y, kernel):
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), kernel)
    problem.prefs.better, problem.lam_max
    return problem


@pytest.fixture(scope="module", autouse=True)
def compiled():
    data = make_mixture(n_per_class=10, seed=0)
    for kernel in ("rbf", "linear"):
        problem = ready(data.X, data.y, kernel)
        rb.solve_path(problem)
        rb.solve(problem, 1.0, solver="qp")


def svc_on_differences(problem, lam):
    """scikit-learn's SVC on the differences of features.

    Half of them are turned round so that both classes occur; the whole spectrum of K is the
    features.
    """
    from sklearn.svm import SVC

    K = problem.gram
    values, vectors = np.linalg.eigh(K)
    Z = vectors * np.sqrt(np.maximum(values, 0))
    turn = np.where(np.arange(len(problem.prefs)) % 2, 1.0, -1.0)
    D = (Z[problem.prefs.better] - Z[problem.prefs.worse]) * turn[:, None]
    return lambda: (
        SVC(kernel="linear", C=1 / lam, tol=1e-3, cache_size=1000).fit(D, turn).coef_.ravel()
        @ np.linalg.pinv(Z)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mixture", "cancer"])
def test_whole_path_against_qp_at_20_lambdas(name):
    X, y = (
        (make_mixture(seed=0).X, make_mixture(seed=0).y)
        if name == "mixture"
        else standardised(name)
    )
    problem = ready(X, y, "rbf")
    path_seconds, path = cpu(lambda: rb.solve_path(problem))
    count = (
        20 if name == "mixture" else 2
    )  # a solve of Cancer takes some seconds; two stand for twenty
    lams = problem.lam_max * GRID[:: 20 // count]
    grid_seconds, solutions = cpu(lambda: [rb.solve(problem, lam, solver="qp") for lam in lams])
    grid_seconds *= 20 / count
    for lam, solution in zip(lams, solutions):
        assert path.certificate(lam).primal == pytest.approx(solution.certificate.primal, rel=1e-6)
    print(
        f"\n{name}: whole path {path_seconds:.2f} s, qp at 20 lambdas {grid_seconds:.1f} s: "
        f"{grid_seconds / path_seconds:.0f} times as long"
    )
    assert path_seconds < grid_seconds / 5


@pytest.mark.slow
def test_whole_path_against_svc_on_differences_at_20_lambdas():
    """Against SVC on 4900 preferences of the mixture.

    SVC's time grows with the square of their number, so 75 684 are out of its reach.
    """
    data = make_mixture(n_per_class=70, seed=0)
    problem = ready(data.X, data.y, "rbf")
    path_seconds, path = cpu(lambda: rb.solve_path(problem))
    spent = 0.0
    for lam in problem.lam_max * GRID:
        one, coef = cpu(svc_on_differences(problem, lam))
        spent += one
        theirs = problem.certificate(lam, coef)
        assert path.certificate(lam).primal <= theirs.primal * (1 + 1e-9)
    print(
        f"\nmixture of {len(problem.prefs)} preferences: whole path {path_seconds:.2f} s, SVC at "
        f"20 lambdas {spent:.1f} s: {spent / path_seconds:.0f} times as long"
    )
    assert path_seconds < spent / 5


@pytest.mark.slow
def test_objectives_of_cancer():
    """Two interior-point solvers agree on 538.948, 97.1957 and 10.1342 at lambda 10, 1 and 0.1."""
    problem = ready(*standardised("cancer"), "rbf")
    path = rb.solve_path(problem)
    for lam, objective in ((10, 538.948), (1, 97.1957), (0.1, 10.1342)):
        assert float(f"{path.certificate(lam).primal:.6g}") == objective


@pytest.mark.slow
@pytest.mark.data
def test_diabetes_to_1e_7_takes_less_than_a_minute():
    problem = ready(*standardised("diabetes"), "rbf")
    start = time.perf_counter()
    path = rb.solve_path(problem, lam_min=1e-7 * problem.lam_max)
    wall = time.perf_counter() - start
    print(
        f"\ndiabetes: {len(path.events)} events down to 1e-7 lam_max in {wall:.1f} s, largest "
        f"active set {path.info['largest_free']}"
    )
    assert path.status in ("complete", "lam_min") and wall < 60


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["star", "queries"])
def test_20000_items_with_50_features(kind):
    """Ten thousand events of a linear kernel.

    There is no array of n x n, and an event costs tens of microseconds.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 50))
    y = np.digitize(X @ rng.normal(size=50) + 3 * rng.normal(size=len(X)), [0.0, 5.0, 10.0, 14.0])
    prefs = (
        rb.Preferences.from_scores(y, graph="star")
        if kind == "star"
        else rb.Preferences.from_scores(y, np.repeat(np.arange(500), 40))
    )
    problem = rb.RankSVMProblem(X, prefs, "linear")
    prefs.better, problem.lam_max
    spent, path = cpu(lambda: rb.solve_path(problem, max_events=10_000))
    each = 1e6 * spent / len(path.events)
    print(
        f"\n{kind}: {len(prefs)} preferences, {each:.0f} microseconds an event, down to "
        f"{path.domain[0] / problem.lam_max:.2f} lam_max"
    )
    assert (
        "gram" not in problem.__dict__
        and path.status == "max_events"
        and path.certificate(path.domain[0]).relative_gap < 1e-8
    )
    assert each < 100
