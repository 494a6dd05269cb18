"""One function and one objective, whichever way a problem is asked."""

import numpy as np
import pytest

import rankbook as rb
from rankbook.problems.label_ranking import LabelRankRLSProblem, LabelRankSVMProblem

RNG = np.random.default_rng(0)
X, Y, B = RNG.normal(size=(6, 2)), np.arange(6.0), np.arange(1.0, 7.0)
PREFS = rb.Preferences.from_scores(Y)
LAPLACE = lambda A, C: np.exp(-np.abs(A[:, None] - C[None]).sum(axis=-1))
PROBLEMS = {
    **{f"svm {k}": lambda k=k: rb.RankSVMProblem(X, PREFS, k) for k in ("rbf", "poly", "linear")},
    "svm borrowed": lambda: rb.RankSVMProblem(X, PREFS, "linear", copy=False),
    "svm callable": lambda: rb.RankSVMProblem(X, PREFS, LAPLACE),
    "svm gram": lambda: rb.RankSVMProblem(LAPLACE(X, X), PREFS, "precomputed"),
    **{f"rls {k}": lambda k=k: rb.RankRLSProblem(X, Y, kernel=k) for k in ("rbf", "linear")},
    "rls basis": lambda: rb.RankRLSProblem(X, Y, basis=range(6)),
    "rls identity": lambda: rb.RankRLSProblem(X, Y, graph="identity"),
    "labels": lambda: LabelRankRLSProblem(X[:2], np.arange(6.0).reshape(2, 3)),
    "labels svm": lambda: LabelRankSVMProblem(X[:2], np.arange(6.0).reshape(2, 3)),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_coefficients_that_do_not_add_up_to_0_are_one_function_everywhere(name):
    problem = PROBLEMS[name]()
    solution = rb.Solution(problem, 1.0, B)
    K = LAPLACE(X, X)
    items = K if name == "svm gram" else problem.X
    f = problem.predict(B, items)
    for other in (problem.matvec(B), problem.matvec(solution.coef), solution.predict(items)):
        assert np.ptp(f - other) < 1e-12 * np.abs(f).max()  # differences are all that counts
    objective = problem.primal(B, 1.0)
    assert problem.primal(solution.coef, 1.0) == pytest.approx(objective, rel=1e-12)
    assert solution.certificate.primal == pytest.approx(objective, rel=1e-12)
    if hasattr(problem, "prefs"):  # the loss of the predictions themselves
        short = np.maximum(0.0, problem.prefs.margin - problem.prefs.matvec(f))
        assert problem.primal(B, 1e-14) == pytest.approx(problem.prefs.weight @ short, rel=1e-9)


class OwnPrimal(rb.RankSVMProblem):
    def primal(self, coef, lam):
        return 7.0


class Mixed:
    def smooth_loss(self, w):
        return 0.0, w


class OwnLoss(Mixed, rb.RankRLSProblem):
    pass


class OwnSVM(rb.SVMProblem):
    lam_max = 3.0


OVERRIDES = [
    (lambda: OwnPrimal(X, PREFS), "OwnPrimal, which redefines primal of RankSVMProblem"),
    (lambda: OwnLoss(X, Y), "OwnLoss, which redefines smooth_loss of RankRLSProblem"),
    (lambda: OwnSVM(X, [0, 1, 0, 1, 0, 1]), "OwnSVM, which redefines lam_max of SVMProblem"),
]


@pytest.mark.parametrize(["make", "words"], OVERRIDES)
def test_a_subclass_with_an_objective_of_its_own_is_refused(make, words):
    for call in (lambda: rb.solve(make(), 1.0), lambda: rb.solve_path(make())):
        with pytest.raises(TypeError, match=words):
            call()


def test_a_path_over_widths_refuses_an_objective_of_its_own():
    with pytest.raises(TypeError, match="OwnPrimal, which redefines primal"):
        rb.kernel_path(OwnPrimal(X, PREFS), 1.0, [0.1, 1.0])
