"""The ranking SVM with a kernel by block-coordinate ascent of the dual over groups of items."""

import copy
from types import MappingProxyType

import numpy as np

from ...base.errors import ArgumentError, a_type
from ...base.limits import available_memory, in_words
from ...base.progress import on_one_blas_thread, progress_bar
from ...base.validation import as_count, as_positive
from ...problems.certificate import Solution
from ...problems.scale import comparison_groups
from ...registry.solver import Solver

LARGEST = 2000  # items of a group, whose kernel matrix is kept
RANGE = 1e-30, 1e30  # of the largest kernel value, for tiles in single precision
BYTES = 130  # bytes for each preference, including its list and the certificate


class AscentSolver(Solver):
    """Solver for the ranking SVM with a kernel, which optimizes one query at a time.

    Parameters
    ----------
    tol : float, default 1e-6
        Relative gap at which the solver stops, over max(1, objective).
    max_sweeps : int, default 2000
        Largest number of sweeps over the queries.
    start : Solution, optional
        Of a problem with the same items and preferences at another lam, with multipliers, to start
        from.
    seed : int >= 0, default 0
        Seed of the order in which queries and preferences are visited.
    progress : bool, default False
        Whether to show a bar over the sweeps, with the gap.

    Notes
    -----
    A sweep takes O(n^2) time, the time of a product with the kernel matrix, and O(m q) for m
    preferences in queries of q items. A gap of 0.01 takes 4 sweeps if lam is the default, and more
    the smaller lam is. Tiles of the kernel matrix are kept in single precision in up to 4 GiB; the
    others are computed in each sweep, on several threads. The result does not depend on their
    number.

    If rounding errors prevent `tol`, the solver returns its best solution, and the certificate
    gives its gap.
    """

    name = "ascent"
    losses = frozenset({"hinge", "squared"})
    kernels = tuple(name for name in Solver.kernels if name != "linear")
    signed_margins = True
    exact = False
    requires = ("numba",)
    summary = (
        "The ranking SVM with a kernel on thousands of items in queries of up to 2,000: ascent of "
        "the dual query by query, with momentum."
    )
    expected_failed_checks = MappingProxyType(
        {"extremes": "lam of 1e-7 lam_max takes more sweeps than max_sweeps, which it says."}
    )
    reference = "Shalev-Shwartz and Zhang (2016); Nesterov (1983)"

    def __init__(self, tol=Solver.tol, max_sweeps=2000, start=None, seed=0, progress=False):
        self.tol, self.start = as_positive("tol", tol), start
        self.max_sweeps = as_count("max_sweeps", max_sweeps, 1)
        if start is not None and not isinstance(start, Solution):
            raise ArgumentError(f"start is {a_type(start)}", "a Solution")
        self.seed, self.progress = as_count("seed", seed, 0, 2**32 - 1), progress
        self.prepared_for = None

    def can_solve(self, problem):
        """True, or the reason why not."""
        fits = super().can_solve(problem)
        if fits is not True:
            return fits
        sizes = np.bincount(comparison_groups(problem.prefs))
        if (largest := int(sizes.max())) > LARGEST:
            return (
                f"it takes at most {LARGEST:,} items that are compared with each other, not "
                f"{largest:,}, for which it would keep too many multipliers; tiled keeps none."
            )
        top = 1.0 if problem.kernel.name == "rbf" else float(problem.tiles.diagonal().max())
        if not RANGE[0] <= top <= RANGE[1]:
            return (
                f"its tiles are in single precision, and the largest kernel value is {top:.3g}; "
                "scale the features or the kernel, or use interior."
            )
        needed = BYTES * problem.n_preferences + 8 * int(sizes @ sizes)
        if needed > available_memory():
            return (
                f"it needs {in_words(needed)} for the multipliers of "
                f"{problem.n_preferences:,} preferences, which tiled counts."
            )
        return True

    @on_one_blas_thread
    def prepare(self, problem):
        """A copy of this solver that keeps the tiles of a problem, for several lambdas."""
        from .steps import Groups, GroupTiles

        made = copy.copy(self)
        groups = Groups(problem.prefs)
        made.prepared_for = problem, groups, GroupTiles(problem, groups)
        return made

    @on_one_blas_thread
    def solve(self, problem, lam):
        """The solution at one lam > 0. ``info`` has the number of sweeps."""
        from .steps import GroupAscent

        prepared = self.prepared_for
        if prepared is None or prepared[0] is not problem:
            prepared = self.prepare(problem).prepared_for
        ascent = GroupAscent(*prepared, self.seed)
        ascent.start(lam, None if self.start is None else self.multipliers(problem))
        with progress_bar(self.progress, "sweeps") as tell:
            found, net, sweeps = ascent.run(self.tol, self.max_sweeps, tell)
        groups, coef, dual = prepared[1], np.zeros(problem.n_items), np.zeros(len(problem.prefs))
        coef[groups.order], dual[groups.pairs] = net / lam, found
        advice = f"A larger lam, more max_sweeps or solver='tiled' may help; these were {sweeps:,}."
        return Solution(problem, lam, coef, dual, info=dict(sweeps=sweeps, advice=advice))

    def multipliers(self, problem):
        """The multipliers of the start."""
        dual = self.start.dual
        if not isinstance(dual, np.ndarray) or dual.shape != problem.dual_shape:
            raise ArgumentError(
                f"start has {'no multipliers' if dual is None else a_type(dual)}",
                f"a Solution with multipliers of shape {problem.dual_shape}",
            )
        return dual
