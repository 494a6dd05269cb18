"""Problems and estimators of the methods that ``select`` and ``fit`` offer."""

import warnings

import numpy as np

from ..base.validation import unknown_name
from ..problems.rankrls import RankRLSProblem
from ..problems.ranksvm import RankSVMProblem
from ..problems.rayleigh import RayleighProblem
from ..registry.choice import choose_solver
from ..registry.plugins import of_paths
from ..registry.solve import solve_path

METHODS = ("ranksvm", "rankrls", "rayleigh")


def check_method(method, data, graph):
    """Refuse an unknown method, or one that cannot learn from the data.

    Parameters
    ----------
    method : {"ranksvm", "rankrls", "rayleigh"}
    data : Dataset
    graph : {"full", "star"}

    Raises
    ------
    ValueError
        Also if "rayleigh" is given queries, other than two levels of y, or a star graph.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if method != "rayleigh":
        return
    levels = np.unique(data.y).size
    for wrong, came, accepted in (
        (data.qid is not None, "data has queries", "data without queries are"),
        (
            levels != 2,
            f"y has {levels} different values",
            "two (for unlabelled items, rankbook.RayleighRankerCV in Python) are",
        ),
        (graph != "full", f"graph is {graph!r}", "'full' is"),
    ):
        if wrong:
            raise ValueError(f"method is 'rayleigh' and {came}; {accepted} accepted for it.")


COMPONENTS = 100


def make_problem(method, part, graph, kernel):
    """What a method makes of a training part.

    Parameters
    ----------
    method : {"ranksvm", "rankrls", "rayleigh"}
    part : Part
    graph : {"full", "star"}
    kernel : dict
        Arguments of the kernel.

    Returns
    -------
    RankSVMProblem, RankRLSProblem or RayleighProblem
    """
    if method == "ranksvm":
        return RankSVMProblem(part.X, part.prefs, **kernel)
    if method == "rankrls" and graph == "full":
        return RankRLSProblem(part.X, part.y, part.qid, **kernel)
    if method == "rankrls":
        return RankRLSProblem(part.X, part.y, graph=part.prefs, **kernel)
    p = None if kernel["kernel"] == "linear" else min(COMPONENTS, len(part.y))
    labels = (part.y == part.y.max()).astype(float)
    with warnings.catch_warnings():
        # nobody asked for this number, so nobody needs to hear that fewer span everything
        warnings.filterwarnings("ignore", "n_components is reduced")
        return RayleighProblem(
            part.X, labels, unlabelled=False, manifold_weight=0.0, n_components=p, **kernel
        )


def follower(method, graph, solver, progress, options):
    """The function that makes a problem of a training part and follows its solutions."""

    def follow(train, kernel, lam_min):
        problem = make_problem(method, train, graph, kernel)
        # above lam_max nothing has begun: the path then ends at lam_max
        top = getattr(problem, "lam_max", np.inf)
        end = lam_min if lam_min is None or lam_min <= top else top or None
        chosen = choose_solver(problem, solver, "path")
        return solve_path(problem, end, of_paths(chosen, progress, **options))

    return follow
