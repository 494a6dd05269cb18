"""The certificate of a plugin's answer refers to the problem that was asked."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import rankbook as rb
from rankbook.problems.certificate import Certificate
from rankbook.problems.ranksvm import RankSVMProblem
from rankbook.registry.solver import Solver

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def lie(*args, **options):
    """A certificate with a gap of 0."""
    return Certificate(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def without_weights(problem):
    none = np.zeros(problem.prefs.better.size)  # lists the preferences, too
    vars(problem.prefs).update(_pairs=problem.prefs._pairs._replace(weight=none))


FORGERIES = {
    "object.__setattr__": lambda p: object.__setattr__(p, "X", np.zeros_like(p.X)),
    "vars": lambda p: vars(p).update(X=np.zeros_like(p.X)),
    "the certificate": lambda p: vars(p).update(certificate=lie),
    "the weights": without_weights,
    "the number of items": lambda p: vars(p.prefs).update(n_items=1),
    **{
        f"the cached {name}": lambda p, name=name: vars(p).update({name: 0 * getattr(p, name)})
        for name in ("gram", "diagonal", "lam_max")
    },
}


class ForgedPath(rb.SolutionPath):
    def read(self, lam):
        return dict(coef=np.zeros(self.problem.coef_shape))

    def breakpoint_scores(self, X_new):
        yield np.array([2.0, 1.0]), np.zeros((2, len(X_new)))


class Zeros(Solver):
    """Answers zero; `forge` changes the problem when it is asked, at `moment`."""

    name, provides = "zeros", frozenset({"solve", "path"})
    forge, moment = staticmethod(lambda problem: None), "solve"

    def can_solve(self, problem):
        if self.moment == "can_solve":
            self.forge(problem)
        return super().can_solve(problem)

    def solve(self, problem, lam):
        if self.moment == "solve":
            self.forge(problem)
        return rb.Solution(problem, lam, coef=np.zeros(problem.coef_shape))

    def path(self, problem, lam_min=None):
        if self.moment == "solve":
            self.forge(problem)
        return ForgedPath(problem, np.array([2.0]), "lam_min", 1.0)


def data(n=30):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.round(2 * X[:, 0] + rng.normal(size=n))


def problem_of(kernel, weighted=True):
    X, y = data()
    prefs = rb.Preferences.from_scores(y)
    prefs = prefs.reweighted(np.full(len(prefs), 2.0)) if weighted else prefs
    return RankSVMProblem(X, prefs, kernel)


CALLS = {
    "solve": lambda solver: rb.solve(problem_of("rbf"), 1.0, solver=solver),
    "linear": lambda solver: rb.solve(problem_of("linear"), 1.0, solver=solver),
    "path": lambda solver: rb.solve_path(problem_of("rbf"), 1.0, solver=solver).solution(1.5),
    "ranker": lambda solver: rb.RankSVM(solver=solver).fit(*data()).solution_,
    "cv": lambda solver: rb.RankSVMCV(solver=solver, cv=2).fit(*data()).solution_,
}


MOMENTS = [(call, "solve") for call in CALLS] + [("solve", "can_solve")]


@pytest.mark.parametrize(("call", "moment"), MOMENTS)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_changed_problem_does_not_change_the_certificate(forgery, call, moment):
    forger = type("Forger", (Zeros,), dict(forge=staticmethod(FORGERIES[forgery]), moment=moment))
    true, found = CALLS[call](Zeros), CALLS[call](forger)
    assert found.certificate == true.certificate and true.certificate.relative_gap > 0.5
    assert found.problem.X.any() and found.problem.prefs.weight.all()


def test_a_plugin_that_predicts_its_cost_gets_a_copy(forget):
    cost = lambda self, problem, lam: vars(problem).update(X=0 * problem.X) or 1.0
    rb.register_solver(type("Forger", (Zeros,), dict(cost=cost)))
    problem = problem_of("rbf")
    assert "zeros" in str(rb.compare_solvers(problem, 1.0, allow_plugins=True))
    assert problem.X.any()


class Careless(Zeros):
    """A plugin for sparse items and RankRLS that changes parts of its problem."""

    problems = ("RankSVMProblem", "RankRLSProblem")
    storages = frozenset({"float64", "csr"})

    def solve(self, problem, lam):
        if hasattr(problem.X, "tocsr"):
            problem.X.data = 0 * problem.X.data
        else:
            vars(problem.target).update(b=0 * problem.target.b, Y=0 * problem.target.Y)
        return super().solve(problem, lam)


@pytest.mark.parametrize("storage", ["csr", "RankRLS"])
def test_parts_of_the_problem_are_copies(storage):
    X, y = data()
    if storage == "csr":
        problem = RankSVMProblem(csr_array(X), rb.Preferences.from_scores(y), "linear")
    else:
        problem = rb.RankRLSProblem(X, y)
    found = rb.solve(problem, 1.0, solver=Careless)
    assert found.certificate.relative_gap > 0.5
    assert rb.solve(problem, 1.0).certificate.primal < found.certificate.primal


def test_arrays_are_read_only():
    def write(problem):
        problem.X[:] = 0

    forger = type("Forger", (Zeros,), dict(forge=staticmethod(write)))
    with pytest.raises(ValueError, match="read-only"):
        rb.solve(problem_of("rbf"), 1.0, solver=forger)


def test_what_pretends_to_be_built_in_gets_a_copy():
    forger = type("Forger", (Zeros,), dict(forge=staticmethod(FORGERIES["vars"])))
    forger.__module__ = "rankbook.solvers.interior.solver"
    lent = rb.get_solver("interior")
    lent.solve = forger().solve
    for solver in (forger, lent):
        assert rb.solve(problem_of("rbf"), 1.0, solver=solver).certificate.relative_gap > 0.5


def test_a_solution_of_another_problem_is_refused():
    prefs = rb.Preferences.from_scores([0, 1])
    for other in (problem_of("rbf"), RankSVMProblem([[0.0], [0.0]], prefs, "linear")):
        zero = rb.Solution(other, 1.0, coef=np.zeros(other.coef_shape))
        solver = type("Other", (Zeros,), dict(solve=lambda *_, zero=zero: zero))
        with pytest.raises(TypeError, match="returned a Solution of another problem. Return a Sol"):
            rb.solve(problem_of("rbf"), 1.0, solver=solver)
        path = ForgedPath(other, np.array([2.0]), "lam_min", 1.0)
        solver = type("Other", (Zeros,), dict(path=lambda *_, path=path: path))
        with pytest.raises(TypeError, match="Return a SolutionPath of the given problem"):
            rb.solve_path(problem_of("rbf"), 1.0, solver=solver)


class AnyLambda(float):
    """Equal to every lambda but 0."""

    __hash__ = float.__hash__

    def __eq__(self, other):
        return other != 0.0

    def __ne__(self, other):
        return False


def test_a_lambda_that_equals_all_others_changes_no_certificate():
    class Elsewhere(Solver):
        name = "elsewhere"

        def solve(self, problem, lam):
            return rb.Solution(problem, AnyLambda(1e12), dual=np.array(problem.prefs.weight))

    found = rb.solve(problem_of("linear"), 1.0, solver=Elsewhere)
    assert type(found.lam) is float and found.certificate.relative_gap > 0.1


def test_a_solution_of_another_class_is_refused():
    class Changing(rb.Solution):
        pass

    class Vain(Solver):
        name = "vain"

        def solve(self, problem, lam):
            return Changing(problem, lam, coef=np.zeros(problem.coef_shape))

    with pytest.raises(TypeError, match="solver 'vain' returned Changing. Return a Solution of"):
        rb.solve(problem_of("linear"), 1.0, solver=Vain)


@pytest.mark.parametrize("name", ["certificate", "nearest", "predict"])
def test_a_path_with_its_own_certificate_is_refused(name):
    Own = type("Own", (ForgedPath,), {name: lambda *_: None, "__module__": __name__})

    class Follower(Zeros):
        def path(self, problem, lam_min=None):
            return Own(problem, np.array([2.0]), "lam_min", 1.0)

    with pytest.raises(TypeError, match=f"has its own method {name}"):
        rb.solve_path(problem_of("rbf"), 1.0, solver=Follower)


def test_a_path_that_makes_its_own_solutions_is_refused():
    kind = type("OwnSolutions", (ForgedPath,), dict(solution=lambda self, lam: None))
    path = lambda self, problem, lam_min: kind(problem, np.array([2.0]), "lam_min", 1.0)
    with pytest.raises(TypeError, match="OwnSolutions, which has its own method solution"):
        rb.solve_path(problem_of("rbf"), 1.0, solver=type("Own", (Zeros,), dict(path=path)))


def test_a_solver_may_keep_notes_on_its_copy():
    def use(problem):
        problem.prefs.better, problem.prefs.weight, problem.gram, problem.diagonal, problem.lam_max
        problem.summed, problem.feature_units if problem.is_factored else None
        problem.note = problem._note = 7

    honest = type("Honest", (Zeros,), dict(forge=staticmethod(use)))
    for kernel in ("rbf", "linear"):
        problem = problem_of(kernel, False)
        rb.solve(problem, 1.0, solver=honest)
        path = rb.solve_path(problem, 1.0, solver=honest)
        assert not hasattr(problem, "note") and path.problem is problem
        for other in (pickle.loads(pickle.dumps(path)), copy.deepcopy(path)):
            assert other.solution(1.5).lam == 1.5


def test_a_plugin_may_delegate_and_pickle():
    code = """if True:
        import copy, numpy as np, rankbook as rb

        class Delegating(rb.Solver):
            name, version, summary = "delegating", "1", "Calls newton."
            losses, kernels = frozenset({"hinge"}), ("linear",)
            problems = ("RankSVMProblem",)

            def solve(self, problem, lam):
                copy.copy(problem.prefs)  # the first copy of an instance writes to its class
                return rb.solve(problem, lam, "newton")

        rb.register_solver(Delegating)
        X = np.random.default_rng(0).normal(size=(20, 3))
        y = np.arange(20) % 4
        print(rb.RankSVM(0.1, kernel="linear", solver="delegating").fit(X, y).solver_)
    """
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout.startswith("delegating"), found.stderr
