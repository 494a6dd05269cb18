"""What all solutions cost: exact regularization paths of the ranking SVM.

Cancer and the mixture stand beside one solution by PIQP, where that is installed: a whole path
beside one lambda. At full scale also half a million preferences and more, where quality is the
microseconds of an event.
"""

import numpy as np

import rankbook as rb

from .common import Row, cancer, compare, timed
from .interior import quadratic_programs

PLANE = {"usual": 800, "full": 1600}


def events(path):
    """How many events a path has; nothing of a single solution."""
    return float(len(path.events)) if hasattr(path, "events") else None


def beside_one_lambda(what, problem, end):
    """A path down to `end` times lam_max, and one solution in its middle by PIQP."""
    problem.gram  # noqa: B018
    lam = np.sqrt(end) * problem.lam_max
    one = {"PIQP, one lambda": quadratic_programs(problem, lam)["PIQP"]}
    ours = lambda: rb.solve_path(problem, end * problem.lam_max)
    m = len(problem.prefs)
    return compare(
        f"whole path, {what}, {m:,} preferences", problem.n_items, ours, one, {"events": events}
    )


def mixture(n):
    """Two overlapping classes in the plane, all preferences."""
    data = rb.datasets.make_mixture(n // 2, seed=0)
    return rb.RankSVMProblem(data.X, rb.Preferences.from_scores(data.y), gamma=1.0)


def graded_problem(n, levels, d, kernel):
    """Items of one query in so many levels of equal size."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=n)
    y = np.searchsorted(np.quantile(score, np.linspace(0, 1, levels + 1)[1:-1]), score)
    return rb.RankSVMProblem(X, rb.Preferences.from_scores(y), kernel=kernel)


def alone(what, problem, end):
    """A path with nothing beside it, once: its seconds, and microseconds an event."""
    if not problem.is_factored:
        problem.gram  # noqa: B018
    seconds, path = timed(lambda: rb.solve_path(problem, end * problem.lam_max))
    what = f"whole path, {what}, {len(problem.prefs):,} preferences to {end:g} of lam_max"
    quality = 1e6 * seconds / len(path.events)
    return Row(what, problem.n_items, seconds, "microseconds an event", quality, rounds=1)


def rows(scale, peers):
    """All rows."""
    if scale == "tiny":
        yield from beside_one_lambda("mixture", mixture(40), 1e-6)
        yield alone("4 levels, linear", graded_problem(30, 4, 3, "linear"), 1e-3)
        return
    yield from beside_one_lambda("mixture", mixture(200), 1e-6)
    yield from beside_one_lambda("cancer", cancer(), 2e-7)
    yield alone("two classes in the plane, rbf", mixture(PLANE[scale]), 1e-5)
    if scale == "full":
        yield alone("203 levels, linear", graded_problem(950, 203, 9, "linear"), 1e-6)
        yield alone("203 levels, rbf", graded_problem(950, 203, 9, "rbf"), 1e-3)
        yield alone("28 levels, linear", graded_problem(4000, 28, 10, "linear"), 1e-3)
