"""A right solver, and what people get wrong: each class has one mistake."""

import ctypes
import os
import threading

import numpy as np

import rankbook as rb

INNER = rb.get_solver("interior")


class AskedPath(rb.SolutionPath):
    """Solves when it is asked."""

    def __init__(self, solver, problem, lams):
        super().__init__(problem, np.array(lams), "lam_min", lams[-1])
        self.ask = solver.found

    def read(self, lam):
        return self.ask(self.problem, lam)


class Right(rb.Solver):
    """The interior point, and what it does not have by itself: storages, lam = 0, paths."""

    name = "right"
    provides = frozenset({"solve", "path"})
    storages = frozenset({"float64", "float32", "csr"})
    signed_margins = hard_margin = True

    def can_solve(self, problem):
        if hasattr(problem, "label_gram"):
            return "it takes no problems on labels."
        return super().can_solve(problem)

    def found(self, problem, lam):
        """Coefficients and multipliers."""
        if problem.storage != "float64":
            X = problem.X.toarray() if problem.storage == "csr" else np.array(problem.X)
            other = rb.RankSVMProblem(X.astype(float), problem.prefs, kernel="linear")
            return self.found(other, lam)
        answer = (INNER if lam else rb.get_solver("qp")).solve(problem, lam)
        return dict(coef=answer.coef, dual=answer.dual)

    def solve(self, problem, lam):
        return rb.Solution(problem, lam, **self.found(problem, lam))

    def cost(self, problem, lam):
        return 1e-3 * problem.n_items

    def path(self, problem, lam_min=None):
        top = problem.lam_max or 1.0
        return AskedPath(self, problem, np.geomspace(top, lam_min or 1e-6 * top, 5))


# Wrong answers


class Zeros(Right):
    def found(self, problem, lam):
        return dict(coef=np.zeros(problem.coef_shape))


class Flipped(Right):
    def found(self, problem, lam):
        return dict(coef=-super().found(problem, lam)["coef"])


class OverClaiming(Right):
    tol = 1e-14


class Infeasible(Right):
    """The multipliers at their bound are above it; clipped, they are right."""

    def found(self, problem, lam):
        found, c = super().found(problem, lam), problem.prefs.weight
        above = np.where(found["dual"] > 0.999 * c, 1.1, 1.0) if lam else 1.0
        return found | dict(dual=above * found["dual"])


class ForgetsWeights(Right):
    def found(self, problem, lam):
        prefs = problem.prefs.reweighted(None, problem.prefs.margin)
        return super().found(problem.replaced(prefs=prefs), lam)


class ForgetsMargins(Right):
    def found(self, problem, lam):
        prefs = problem.prefs.reweighted(problem.prefs.weight)
        return super().found(problem.replaced(prefs=prefs), lam)


class ForgetsQueries(Right):
    """Compares all items by their level, whatever their query."""

    def found(self, problem, lam):
        if problem.prefs.levels is None or len(np.unique(problem.prefs.levels[2])) == 1:
            return super().found(problem, lam)
        order, level, query = problem.prefs.levels
        y = np.zeros(len(order))
        y[order] = level - query
        prefs = rb.Preferences.from_scores(y)
        other = rb.RankSVMProblem(problem.gram, prefs, kernel="precomputed")
        return dict(coef=super().found(other, lam)["coef"])


class ForgetsKernel(Right):
    """Takes every kernel for the linear one."""

    def found(self, problem, lam):
        if problem.kernel.name == "linear":
            return super().found(problem, lam)
        other = rb.RankSVMProblem(problem.X, problem.prefs, kernel="linear")
        return super().found(other, lam)


class Jitter(Right):
    """Adds a billionth to the diagonal, whatever the kernel's own size."""

    def found(self, problem, lam):
        K = problem.gram if problem.storage == "float64" and lam else None
        if K is None:
            return super().found(problem, lam)
        other = rb.RankSVMProblem(K + 1e-9 * np.eye(len(K)), problem.prefs, kernel="precomputed")
        return super().found(other, lam)


class ShortSighted(Right):
    """Knows no lambda below a thousandth of the largest."""

    def found(self, problem, lam):
        return super().found(problem, lam and max(lam, 1e-3 * problem.lam_max))


class DenseOnly(Right):
    """Declares sparse items, and takes a norm of them that dense arrays have."""

    def found(self, problem, lam):
        assert np.isfinite(np.linalg.norm(problem.X))
        return super().found(problem, lam)


class SoftMargin(Right):
    """Declares to take lam = 0, and takes another."""

    def found(self, problem, lam):
        return super().found(problem, lam or problem.lam_max)


class FlatPath(Right):
    """The path has the answer at the largest lambda, everywhere."""

    def path(self, problem, lam_min=None):
        path = super().path(problem, lam_min)
        path.ask = lambda problem, lam: self.found(problem, problem.lam_max or 1.0)
        return path


class ShortPath(Right):
    """The path ends before the lambda that was asked for, and says that it did not."""

    def path(self, problem, lam_min=None):
        return super().path(problem, 0.5 * (problem.lam_max or 1.0))


# No answers


class WrongShape(Right):
    def found(self, problem, lam):
        return dict(coef=np.zeros(3))


class NotFinite(Right):
    def found(self, problem, lam):
        return dict(coef=np.full(problem.coef_shape, np.nan))


class Raising(Right):
    def found(self, problem, lam):
        raise np.linalg.LinAlgError("singular matrix")


# Bad manners


class Positions(Right):
    """Takes positions in the order of levels for items."""

    def found(self, problem, lam):
        prefs = problem.prefs
        if prefs.levels is None:
            return super().found(problem, lam)
        place = np.argsort(prefs.levels[0])
        ends = place[prefs.better], place[prefs.worse]
        prefs = rb.Preferences(*ends, prefs.n_items, prefs.weight, prefs.margin)
        return super().found(problem.replaced(prefs=prefs), lam)


class Unlocking(Right):
    """Opens the items for writing, as scratch memory; some memory cannot be opened."""

    def found(self, problem, lam):
        if problem.storage == "float64":
            X = problem.X.view()
            X.flags.writeable = True
        return super().found(problem, lam)


class Centring(Right):
    """Centres the items in place where they can be written."""

    def found(self, problem, lam):
        if problem.storage == "float64" and problem.X.flags.writeable:
            problem.X[...] -= problem.X.mean(axis=0)
        return super().found(problem, lam)


class Noisy(Right):
    """Declares to be deterministic, and is not."""

    def found(self, problem, lam):
        found = super().found(problem, lam)
        scale = 1e-12 * np.abs(found["coef"]).max()
        noise = scale * np.random.default_rng().normal(size=problem.coef_shape)
        return found | dict(coef=found["coef"] + noise)


class Seeding(Right):
    def found(self, problem, lam):
        np.random.seed(0)
        return super().found(problem, lam)


class Locked(Right):
    """Cannot be pickled."""

    def __init__(self):
        self.lock = threading.Lock()


class SaysYes(Right):
    def can_solve(self, problem):
        return True


class Priceless(Right):
    def cost(self, problem, lam):
        return float("nan")


class SaysNo(Right):
    """Refuses without a word."""

    def can_solve(self, problem):
        return super().can_solve(problem) is True


# The end of everything


class Endless(Right):
    def found(self, problem, lam):
        while lam:
            pass


class Exiting(Right):
    def found(self, problem, lam):
        os._exit(3)


class Crashing(Right):
    def found(self, problem, lam):
        ctypes.string_at(0)


class CrashesOnCycles(Right):
    def found(self, problem, lam):
        if problem.prefs.find_cycle():
            os.abort()
        return super().found(problem, lam)
