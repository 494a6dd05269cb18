"""A right solver, and what people get wrong: each class has one mistake."""

import ctypes
import os
import threading
import time
import warnings

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

    def breakpoint_scores(self, X_new):
        top, end = 2 * self.breakpoints[0], self.domain[0]
        lams = np.geomspace(top, end, 40)
        lams[-1] = end
        scores = [self.solution(lam).predict(X_new) for lam in lams]
        yield lams, lams[:, None] * np.array(scores)


class Right(rb.Solver):
    """The interior point, and what it does not have by itself: storages, lam = 0, paths."""

    name = "right"
    provides = frozenset({"solve", "path"})
    storages = frozenset({"float64", "float32", "csr"})
    signed_margins = hard_margin = True
    asked = AskedPath

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
        return self.asked(self, problem, np.geomspace(top, lam_min or 1e-6 * top, 5))


class Curved(Right):
    """Right, and without the linear kernel; numpy says whether it takes a problem."""

    kernels, storages = ("rbf",), frozenset({"float64"})

    def can_solve(self, problem):
        said = super().can_solve(problem)
        return np.isfinite(problem.X).all() if said is True else said


# Wrong answers


class Zeros(Right):
    def found(self, problem, lam):
        return dict(coef=np.zeros(problem.coef_shape))


class Flipped(Right):
    def found(self, problem, lam):
        return dict(coef=-super().found(problem, lam)["coef"])


class OverClaiming(Right):
    tol = 1e-17


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


class DefaultWidth(Right):
    """Computes the rbf kernel itself, and always with gamma = 1/d."""

    def found(self, problem, lam):
        if problem.kernel.name == "rbf":
            problem = rb.RankSVMProblem(problem.X, problem.prefs, kernel="rbf")
        return super().found(problem, lam)


class Cubic(Right):
    """Takes every polynomial for one of degree 3."""

    def found(self, problem, lam):
        kernel = problem.kernel
        if kernel.name == "poly":
            cubic = rb.kernels.Kernel("poly", kernel.gamma, coef0=kernel.coef0)
            problem = rb.RankSVMProblem(problem.X, problem.prefs, cubic)
        return super().found(problem, lam)


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


class LastPath(Right):
    """A path starts from what it answered last, and leaves a trace of it."""

    def path(self, problem, lam_min=None):
        path, last = super().path(problem, lam_min), []

        def read(problem, lam):
            found = self.found(problem, lam)
            last.append(found["coef"])
            return found | dict(coef=found["coef"] + 1e-9 * (last[-1] - last[0]))

        path.ask = read
        return path


class OnePath(Right):
    """All its paths share what the last one was about."""

    def path(self, problem, lam_min=None):
        path, self.last = super().path(problem, lam_min), problem

        def read(problem, lam):
            same = self.last.n_items == problem.n_items
            return self.found(problem, lam if same else 1.1 * lam)

        path.ask = read
        return path


class LoosePath(Right):
    """A path allows itself everything."""

    def path(self, problem, lam_min=None):
        path = super().path(problem, lam_min)
        path.tol, path.ask = 1.0, lambda problem, lam: dict(coef=np.zeros(problem.coef_shape))
        return path


class LinearPath(Right):
    """A path of another kernel is that of the linear one."""

    def path(self, problem, lam_min=None):
        path = super().path(problem, lam_min)
        if problem.kernel.name == "rbf":
            other = rb.RankSVMProblem(problem.X, problem.prefs, kernel="linear")
            path.ask = lambda problem, lam: self.found(other, lam)
        return path


class WeightlessPath(Right):
    """A path of another kernel than the linear one knows no weights."""

    def path(self, problem, lam_min=None):
        path = super().path(problem, lam_min)
        if problem.kernel.name == "rbf":
            prefs = problem.prefs.reweighted(None, problem.prefs.margin)
            path.ask = lambda problem, lam: self.found(problem.replaced(prefs=prefs), lam)
        return path


class SparsePath(Right):
    """A path takes the entries of a sparse matrix for the matrix."""

    def path(self, problem, lam_min=None):
        assert problem.storage != "csr" or np.isfinite(np.linalg.norm(problem.X))
        return super().path(problem, lam_min)


class UpsideDown(AskedPath):
    def breakpoint_scores(self, X_new):
        for lams, scores in super().breakpoint_scores(X_new):
            yield lams, -scores


class Mute(AskedPath):
    breakpoint_scores = rb.SolutionPath.breakpoint_scores


class Ends(AskedPath):
    def breakpoint_scores(self, X_new):
        for lams, scores in super().breakpoint_scores(X_new):
            yield lams[[0, -1]], scores[[0, -1]]


class Otherwise(Right):
    """Answers rightly for a lambda, and orders items the other way for a validation curve."""

    asked = UpsideDown


class Scoreless(Right):
    """Its paths have no scores for a validation curve."""

    asked = Mute


class TwoScores(Right):
    """A validation curve is told the two ends of a path, and a line in between."""

    asked = Ends


class Needy(Right):
    """A path has to be told where to end."""

    def path(self, problem, lam_min=None):
        return super().path(problem, 0.0 + lam_min)


class Pathless(Right):
    """Declares paths, and has a reason against each."""

    def can_follow(self, problem):
        return "its paths are not written yet."


# What goes together


class Branches(Right):
    """Has a branch for weights and one for margins: where both differ, it takes the first."""

    def found(self, problem, lam):
        prefs = problem.prefs
        if np.ptp(prefs.weight) and np.ptp(prefs.margin):
            problem = problem.replaced(prefs=prefs.reweighted(prefs.weight))
        return super().found(problem, lam)


class LinearWeights(Right):
    """Knows of weights with the linear kernel."""

    def found(self, problem, lam):
        prefs = problem.prefs
        if problem.kernel.name == "rbf":
            problem = problem.replaced(prefs=prefs.reweighted(None, prefs.margin))
        return super().found(problem, lam)


class SparseMargins(Right):
    """Knows of margins with dense items."""

    def found(self, problem, lam):
        prefs = problem.prefs
        if problem.storage == "csr" and np.ptp(prefs.margin):
            prefs = prefs.reweighted(prefs.weight)
            problem = rb.RankSVMProblem(problem.X, prefs, kernel="linear")
        return super().found(problem, lam)


class EqualWeights(Right):
    """Asks whether the weights differ, and not what they are."""

    def found(self, problem, lam):
        prefs = problem.prefs
        if np.ptp(prefs.weight) == 0:
            problem = problem.replaced(prefs=prefs.reweighted(None, prefs.margin))
        return super().found(problem, lam)


class EqualMargins(Right):
    """Asks whether the margins differ, and not what they are."""

    def found(self, problem, lam):
        prefs = problem.prefs
        if np.ptp(prefs.margin) == 0:
            problem = problem.replaced(prefs=prefs.reweighted(prefs.weight))
        return super().found(problem, lam)


class NoneTrue(Right):
    """Divides by the number of margins that are positive."""

    def found(self, problem, lam):
        1 / int((problem.prefs.margin > 0).sum())
        return super().found(problem, lam)


class Block(Right):
    """The loop over blocks of 32 ends with the last whole one, from the second on."""

    def found(self, problem, lam):
        found, n = super().found(problem, lam), problem.n_items
        whole = np.arange(n) < max(n % 32, 32 * (n // 32))
        coef = found["coef"] if problem.coef_shape != (n,) else whole * found["coef"]
        return found | dict(coef=coef)


class Thousand(Right):
    """Reads the first thousand preferences."""

    def found(self, problem, lam):
        prefs = problem.prefs
        if lam and len(prefs) > 1000:
            weight = np.where(np.arange(len(prefs)) < 1000, prefs.weight, 0.0)
            other = problem.replaced(prefs=prefs.reweighted(weight, prefs.margin))
            return dict(coef=super().found(other, lam)["coef"])
        return super().found(problem, lam)


class HardForFew(Right):
    """Finds the hard margin of twenty items, and not quite that of more."""

    def found(self, problem, lam):
        few = problem.n_items <= 20
        return super().found(problem, lam if lam or few else 1e-2 * problem.lam_max)


class SparseTop(Right):
    """Answers 0 above the largest lambda that matters, if items are sparse."""

    def found(self, problem, lam):
        found = super().found(problem, lam)
        above = problem.storage == "csr" and lam > problem.lam_max
        return dict(coef=0 * found["coef"]) if above else found


class Narrow(Right):
    """Uses the first 32 features; beyond them it sees none."""

    def found(self, problem, lam):
        if (
            problem.storage != "float64"
            or problem.X.shape[1] <= 32
            or problem.kernel.name != "linear"
        ):
            return super().found(problem, lam)
        return super().found(problem.replaced(X=problem.X[:, :32]), lam)


class HardMarginOfOnes(Right):
    """At lam = 0 all margins are 1."""

    def found(self, problem, lam):
        if not lam:
            problem = problem.replaced(prefs=problem.prefs.reweighted(problem.prefs.weight))
        return super().found(problem, lam)


class AtTheTop(Right):
    """Divides by the distance from the largest lambda."""

    def found(self, problem, lam):
        1 / (lam - problem.lam_max)
        return super().found(problem, lam)


class InTheMiddle(Right):
    """Changes its method between a hundredth and a ten-thousandth of the largest lambda."""

    def found(self, problem, lam):
        share = lam / (problem.lam_max or 1.0)
        return super().found(problem, 2 * lam if 1e-4 < share < 1e-3 else lam)


class Unpromising(Zeros):
    """Answers 0, and promises nothing."""

    tol = None


class Unrelated(Right):
    """Promises nothing, and its multipliers have nothing to do with its coefficients."""

    tol = None

    def found(self, problem, lam):
        return super().found(problem, lam) | dict(dual=problem.prefs.weight / 2)


# No answers


class ListOfFacts(Right):
    """What it says beside the answer is no dict."""

    def solve(self, problem, lam):
        return rb.Solution(problem, lam, **self.found(problem, lam), info=["all is well"])


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
    """Centres items that are not centred yet, as lent ones, where it can open them for writing."""

    def found(self, problem, lam):
        X, lent = problem.X, problem.is_centred and problem.offset is None
        if problem.storage == "float64" and lent and problem.is_factored:
            try:
                X.flags.writeable = True
            except ValueError:  # a mapped file that is read-only cannot be opened
                return super().found(problem, lam)
            X -= X.mean(axis=0)
            X.flags.writeable = False
        return super().found(problem, lam)


class Noisy(Right):
    """Declares to be deterministic, and is not."""

    def solve(self, problem, lam):
        found = self.found(problem, lam)
        scale = 1e-12 * np.abs(found["coef"]).max()
        noise = scale * np.random.default_rng().normal(size=problem.coef_shape)
        return rb.Solution(problem, lam, coef=found["coef"] + noise, dual=found["dual"])


class Seeding(Right):
    def found(self, problem, lam):
        np.random.seed(0)
        return super().found(problem, lam)


class Remembering(Right):
    """Knows a problem again by its items, lambda and number of preferences."""

    def __init__(self):
        self.known = {}

    def found(self, problem, lam):
        X = problem.X.toarray() if problem.storage == "csr" else problem.X
        kind = problem.kernel.name, problem.loss.name, problem.storage
        key = X.tobytes(), kind, lam, len(problem.prefs)
        if key not in self.known:
            self.known[key] = super().found(problem, lam)
        return self.known[key]


class RememberingOrders(Remembering):
    """Knows it by who is preferred and by what weight as well, and forgets the margins."""

    def found(self, problem, lam):
        prefs = problem.prefs
        key = lam, problem.kernel.name, problem.loss.name, problem.storage
        X = problem.X.toarray() if problem.storage == "csr" else problem.X
        arrays = X, prefs.better, prefs.worse, prefs.weight
        key += tuple(array.tobytes() for array in arrays)
        if key not in self.known:
            self.known[key] = Right.found(self, problem, lam)
        return self.known[key]


class Shared(Right):
    """Keeps the problem in itself while it works."""

    def found(self, problem, lam):
        self.problem, self.lam = problem, lam
        dual = super().found(problem, lam)["dual"]
        mine = self.problem, self.lam
        if mine[0] is not problem and mine[0].n_items == problem.n_items:
            dual = super().found(*mine)["dual"]
        return dict(coef=mine[0].prefs.rmatvec(dual) / (mine[1] or 1.0), dual=dual)


class Hiding(Right):
    """Shows no more warnings of one kind."""

    def found(self, problem, lam):
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        return super().found(problem, lam)


class Exporting(Right):
    """Tells the linear algebra how many threads to use, by the environment."""

    def found(self, problem, lam):
        os.environ["SOLVER_THREADS"] = "1"
        return super().found(problem, lam)


class Talking(Right):
    """Says on standard output how far it is."""

    def found(self, problem, lam):
        print(f"lam = {lam:g}: solved")
        return super().found(problem, lam)


class TalkingPaths(Right):
    def path(self, problem, lam_min=None):
        print("following")
        return super().path(problem, lam_min)


class SeedingPaths(Right):
    def path(self, problem, lam_min=None):
        np.random.seed(0)
        return super().path(problem, lam_min)


class CentringPaths(Right):
    """Centres lent items in place, for paths."""

    def path(self, problem, lam_min=None):
        X, lent = problem.X, problem.is_centred and problem.offset is None
        if problem.storage == "float64" and lent and X.base is not None and X.base.flags.writeable:
            X.base[...] -= X.mean(axis=0)
        return super().path(problem, lam_min)


class Busy(Right):
    """Declares all kernels, and refuses one whatever the problem."""

    def can_solve(self, problem):
        if problem.kernel.name == "poly":
            return "it has no time."
        return super().can_solve(problem)


class Weightless(Right):
    """Declares to take weights, and refuses them."""

    def can_solve(self, problem):
        fits = super().can_solve(problem)
        return "it has no time." if fits is True and np.ptp(problem.prefs.weight) else fits


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
            time.sleep(0.1)


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
