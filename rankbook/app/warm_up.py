"""Compilation of the code that first calls need, for an image or before a course.

``tools/ship.py`` runs it for the compiled code in the wheels of a release. Therefore it must call
whatever the README and the guides compile; ``tests/app/test_warm_up.py`` compares.
"""

import warnings
from contextlib import redirect_stderr
from io import StringIO

import numpy as np

from ..base.jit import cache_folder, cache_root
from ..base.progress import progress_bar


def example():
    """Return items, grades and queries, enough of them that every fit uses compiled code."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, np.digitize(X[:, 0] + rng.normal(size=120), [-1, 0, 1]), np.repeat(np.arange(6), 20)


def fit_l1():
    """Fit with the L1 penalty."""
    from ..estimators.ranksvm import RankSVM

    X, y, _ = example()
    RankSVM(kernel="linear", penalty="l1").fit(X, y)


def follow_l1():
    """Choose lambda on exact paths of the L1 penalty."""
    from ..estimators.ranksvm import RankSVMCV

    X, y, _ = example()
    RankSVMCV(kernel="linear", penalty="l1").fit(X, y)


def follow_sparse():
    """Choose lambda on sparse paths of smooth losses."""
    from ..estimators.ranksvm import RankSVMCV

    X, y, _ = example()
    for loss in ("logistic", "plackett-luce"):
        options = dict(kernel="linear", penalty="l1", loss=loss, lam_min_ratio=0.1)
        RankSVMCV(**options, cv=2).fit(X, y)


def follow_paths():
    """Choose lambda on exact paths by disagreement."""
    from ..estimators.ranksvm import RankSVMCV

    X, y, qid = example()
    RankSVMCV(kernel="linear").fit(X, y)
    RankSVMCV(cv=2).fit(X, y, qid=qid)


def follow_graded_measures():
    """Choose lambda by NDCG and other measures of a whole order."""
    from ..estimators.ranksvm import RankSVMCV

    X, y, qid = example()
    for metric in ("ndcg@10", "ndcg", "average_precision"):
        judged = y > 1 if metric == "average_precision" else y
        RankSVMCV(cv=2, metric=metric).fit(X, judged, qid=qid)


def minimise_losses():
    """Fit all losses with a linear and with an rbf kernel."""
    from ..estimators.rankrls import RankRLS
    from ..estimators.ranksvm import RankSVM

    X, y, qid = example()
    for kernel in ("linear", "rbf"):
        for loss in ("hinge", "squared", "logistic", "plackett-luce"):
            RankSVM(kernel=kernel, loss=loss).fit(X, y, qid=qid)
        RankRLS(kernel=kernel).fit(X, y, qid=qid)
    RankSVM(kernel="linear", signs=[1, 0, 0]).fit(X, y, qid=qid)


def step_through_preferences():
    """Fit preference by preference: dual coordinate ascent and online."""
    from ..estimators.online import OnlineRankSVM
    from ..preferences.graph import Preferences
    from ..problems.ranksvm import RankSVMProblem
    from ..registry.solve import solve

    X, y, _ = example()
    graded = Preferences.from_scores(y)
    listed = Preferences(graded.better, graded.worse, len(y))
    solve(RankSVMProblem(X, graded, "linear"), 1.0, "coordinate")
    for loss in ("hinge", "squared"):
        for solver in ("ascent", "tiled"):
            solve(RankSVMProblem(X, graded, "rbf", loss=loss), 1.0, solver)
    for prefs in (graded, listed):
        OnlineRankSVM(max_updates=300).fit(X, preferences=prefs)


# the longest first
STEPS = (
    follow_l1,
    follow_paths,
    fit_l1,
    minimise_losses,
    step_through_preferences,
    follow_sparse,
    follow_graded_measures,
)


def run_step(number):
    """Run a step in silence."""
    with warnings.catch_warnings(), redirect_stderr(StringIO()):
        warnings.simplefilter("ignore")
        STEPS[number]()


def warm_up(n_jobs=-1, progress=False):
    """Compile the code that first calls need and keep it on disk.

    Parameters
    ----------
    n_jobs : int
        Number of processes; -1: one for each core.
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    int
        Number of functions that were compiled, counted for each combination of argument types.

    Raises
    ------
    OSError
        If compiled code cannot be kept.
    """
    from joblib import Parallel, delayed

    folder = cache_folder()
    if folder is None:
        raise OSError(
            f"compiled code cannot be kept in {cache_root()}. Set NUMBA_CACHE_DIR to a folder of "
            "your own."
        )
    before = len(list(folder.glob("*.nbc")))
    steps = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator")(
        delayed(run_step)(i) for i in range(len(STEPS))
    )
    with progress_bar(progress, "steps") as show:
        for done, _ in enumerate(steps, start=1):
            show(done, "compiled")
    return len(list(folder.glob("*.nbc"))) - before
