"""What all solutions cost: exact regularization paths of the ranking SVM.

Cancer and the mixture stand beside one solution by PIQP, where that is installed: a whole path
beside one lambda. At full scale also half a million preferences and more, where quality is the
microseconds of an event, and the memory of a process that follows one path and does nothing else.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import rankbook as rb

from .common import Row, cancer, compare, peak_memory, timed
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


def followed(graded, end):
    """Seconds, events and megabytes at the peak of one path of a :func:`graded_problem`.

    Small data first: the code is compiled, or read from disk, before the clock starts.
    """
    warm, problem = graded_problem(30, 4, 3, graded[-1]), graded_problem(*graded)
    rb.solve_path(warm, 1e-3 * warm.lam_max, solver="path")
    if not problem.is_factored:
        problem.gram  # noqa: B018
    lam_min = end * problem.lam_max if end else None
    seconds, path = timed(lambda: rb.solve_path(problem, lam_min, solver="path"))
    assert path.status == ("lam_min" if end else "complete"), path
    return seconds, len(path.events), 1e3 * peak_memory()


def alone(what, graded, end):
    """A path with nothing beside it, once, in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        seconds, count, peak = pool.submit(followed, graded, end).result()
    n, levels, *_ = graded
    better = n * n * (levels - 1) // (2 * levels)
    what = f"whole path, {what}, about {better:,} preferences"
    what += f" to {end:g} of lam_max" if end else " to its end"
    for measure, quality in (("microseconds an event", 1e6 * seconds / count), ("peak MB", peak)):
        yield Row(what, n, seconds, measure, quality, rounds=1)


def rows(scale, peers):
    """All rows."""
    if scale == "tiny":
        yield from beside_one_lambda("mixture", mixture(40), 1e-6)
        yield from alone("4 levels, linear", (30, 4, 3, "linear"), 1e-3)
        return
    yield from beside_one_lambda("mixture", mixture(200), 1e-6)
    yield from beside_one_lambda("cancer", cancer(), 2e-7)
    yield from alone("2 levels, rbf", (PLANE[scale], 2, 2, "rbf"), 1e-5)
    if scale == "full":
        yield from alone("203 levels, linear", (950, 203, 9, "linear"), 1e-6)
        yield from alone("203 levels, rbf", (950, 203, 9, "rbf"), 1e-3)
        yield from alone("28 levels, linear", (4000, 28, 10, "linear"), 1e-3)
        yield from alone("2 grades, linear", (5000, 2, 10, "linear"), 0)
