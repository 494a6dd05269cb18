"""Numbers at the ends of what floats can hold, and kernels judged by their own scale.

Such numbers give an answer, or an error that says what to change.
"""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rankbook as rb
from rankbook.base.limits import solvable
from rankbook.kernels.kernel import Kernel
from rankbook.kernels.nystroem import RULES, NystroemMap

rng = np.random.default_rng(0)
BASE, GRADES, HALVES = rng.normal(size=(12, 3)), np.arange(12) % 3.0, np.arange(12) % 2.0
ITEMS = dict(
    huge=BASE * 1e150,
    huger=BASE * 1e300,
    tiny=BASE * 1e-150,
    tinier=BASE * 1e-300,
    constant=np.ones((12, 3)),
    zero=np.zeros((12, 3)),
    copies=np.repeat(BASE[:3], 4, axis=0),
    a_line=np.outer(np.arange(12.0), [1, 2, 3]),
    mixed=BASE * [1e150, 1, 1e-150],
    close=1 + 1e-15 * BASE,
    wide=rng.normal(size=(12, 40)) * 1e100,
)
LAMS = (1.0, 1e-300, 1e300)


def svm(solver, kernel="linear", loss="hinge", penalty="l2"):
    prefs = rb.Preferences.from_scores(GRADES)
    return lambda X, lam: (
        rb.solve(
            rb.RankSVMProblem(X, prefs, kernel, loss=loss, penalty=penalty), lam, solver=solver
        ).certificate
    )


def rls(**options):
    return lambda X, lam: rb.RankRLS(lam=lam, **options).fit(X, GRADES).predict(X)


def rayleigh(**options):
    return lambda X, lam: rb.RayleighRanker(lam=lam, **options).fit(X, HALVES).predict(X)


QUICK = {
    f"svm {solver} {kernel}": svm(solver, kernel)
    for solver, kernel in (
        ("path", "linear"),
        ("path", "rbf"),
        ("path", "poly"),
        ("newton", "linear"),
    )
}
QUICK |= {"squared newton": svm("newton", loss="squared"), "l1 qp": svm("qp", penalty="l1")}
for kernel in ("linear", "rbf", "poly"):
    QUICK |= {
        f"rls {kernel}": rls(kernel=kernel),
        f"rls basis {kernel}": rls(kernel=kernel, basis=4, random_state=0),
        f"rayleigh {kernel}": rayleigh(kernel=kernel, n_components=5),
    }
QUICK |= {
    "rls given basis": lambda X, lam: rb.RankRLS(lam=lam, basis=X[:4]).fit(X, GRADES).predict(X),
    "rls blocks": lambda X, lam: (
        rb.RankRLS(lam=lam, kernel="linear").partial_fit(X, GRADES).predict(X)
    ),
    "rls precomputed": lambda X, lam: (
        rb.RankRLS(lam=lam, kernel="precomputed").fit(X @ X.T, GRADES).predict(X @ X.T)
    ),
    "rls path": lambda X, lam: rb.solve_path(rb.RankRLSProblem(X, GRADES), solver="rls").coef(lam),
    "rls folds": lambda X, lam: (
        rb.RankRLSCV(lams=[lam, 2 * lam], kernel="linear", cv=3, random_state=0)
        .fit(X, GRADES)
        .predict(X)
    ),
    "rls pairs": lambda X, lam: (
        rb.RankRLSCV(lams=[lam, 2 * lam], kernel="linear", cv="pairs").fit(X, GRADES).predict(X)
    ),
    "svm precomputed": lambda X, lam: (
        rb.RankSVM(lam=lam, kernel="precomputed").fit(X @ X.T, GRADES).predict(X @ X.T)
    ),
    "rayleigh plain": rayleigh(kernel="linear", n_components=None),
    "rayleigh path": lambda X, lam: rb.solve_path(
        rb.RayleighProblem(X, HALVES, n_components=5), solver="rayleigh"
    ).coef(lam),
    "rayleigh folds": lambda X, lam: (
        rb.RayleighRankerCV(lams=[lam, 2 * lam], cv=2, manifold_weights=[0, 1], random_state=0)
        .fit(X, HALVES)
        .predict(X)
    ),
    "online": lambda X, lam: rb.OnlineRankSVM(lam=lam, max_updates=2000).fit(X, GRADES).coef_,
    "online classes": lambda X, lam: rb.OnlineSVC(lam=lam, max_updates=2000).fit(X, GRADES).coef_,
}
CONE = {
    "svm qp linear": svm("qp"),
    "svm qp poly": svm("qp", "poly"),
    "rls qp poly": rls(kernel="poly", solver="qp"),
    "rayleigh qp": rayleigh(kernel="poly", n_components=5, solver="qp"),
    "classes qp": lambda X, lam: (
        rb.solve(rb.SVMProblem(X, 2 * HALVES - 1, "poly"), lam, solver="qp").coef
    ),
}


def tried(call, X, lam):
    """None, or what was raised.

    No LinAlgError is accepted, nor anything that is no number's fault.
    """
    try:
        with np.errstate(all="ignore"):
            call(X, lam)
    except (ValueError, ArithmeticError, RuntimeError) as error:
        assert not isinstance(error, np.linalg.LinAlgError), error
        return error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("items", ITEMS)
@pytest.mark.parametrize("call", QUICK)
def test_no_failure_of_linear_algebra_surfaces(call, items):
    for lam in LAMS:
        tried(QUICK[call], ITEMS[items], lam)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("items", ["huge", "huger", "tinier", "constant", "mixed"])
@pytest.mark.parametrize("call", CONE)
def test_nor_from_the_cone_solver(call, items):
    tried(CONE[call], ITEMS[items], 1.0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "call, items, lam, words",
    [
        ("rls poly", "huge", 1.0, "squares of larger numbers overflow"),
        ("rls linear", "huger", 1.0, "squares of larger numbers overflow"),
        ("rls basis poly", "a_line", 1e-300, "larger lam"),
        ("rls blocks", "huger", 1.0, "squares of larger numbers overflow"),
    ],
)
def test_the_error_says_what_to_change(call, items, lam, words):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        error = tried(QUICK[call], ITEMS[items], lam)
    if error is None and lam == 1e-300:  # on some processors rounding leaves the matrix regular
        assert any(issubclass(warning.category, ConvergenceWarning) for warning in seen)
        return
    assert isinstance(error, (ArithmeticError, ValueError)) and words in str(error)


def test_a_plugin_is_no_exception():
    class Stumbles(rb.Solver):
        name = "stumbles"

        def solve(self, problem, lam):
            raise np.linalg.LinAlgError("oops")

    problem = rb.RankSVMProblem(BASE, rb.Preferences.from_scores(GRADES), "linear")
    with pytest.raises(ArithmeticError, match="stumbles.*lam = 2.0.*oops.*larger lam"):
        rb.solve(problem, 2.0, solver=Stumbles())
    with pytest.raises(ArithmeticError, match="^the rope overflows"), solvable("the rope"):
        np.linalg.cholesky(-np.eye(2))


# Kernels that are kernels to rounding


def gram(seed):
    """A valid Gram matrix, of whatever rank and scale."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 60))
    r = int(rng.integers(1, n + 5))
    Z, kind = rng.normal(size=(n, r)) * 10.0 ** rng.integers(-12, 13), seed % 5
    if kind == 1:
        Z = Z * 10.0 ** rng.uniform(-6, 6, size=(1, r))
    elif kind == 2:
        Z = Z * 10.0 ** rng.uniform(-6, 6, size=(n, 1))
    elif kind == 3:
        Z = (
            np.repeat(Z[: n // 2 + 1], 2, axis=0)[:n]
            + 1e-9 * rng.normal(size=(n, r)) * np.abs(Z).max()
        )
    elif kind == 4:
        return Kernel("rbf", gamma=10.0 ** rng.uniform(-6, 1)).gram(
            rng.normal(size=(n, 2))
        ) * 10.0 ** rng.integers(-12, 13)
    return Z @ Z.T


SEEDS = [*range(0, 400), 1384, 4109, 4763, 5399]  # the last ones were refused once


@pytest.mark.filterwarnings("ignore:n_components is reduced")
@pytest.mark.parametrize("rule", RULES)
def test_every_kernel_is_accepted_at_its_own_scale(rule):
    for seed in SEEDS:
        K = gram(seed)
        for p in (3, len(K)):
            F = NystroemMap(K, p, kernel="precomputed", pivots=rule, random_state=seed).features
        assert np.abs(F @ F.T - K).max() <= 1e-9 * np.abs(K).max(), seed
        assert np.allclose(Kernel("precomputed").gram(K), K, rtol=1e-12, atol=0)


@pytest.mark.filterwarnings("ignore:n_components is reduced")
@pytest.mark.parametrize("rule", RULES)
def test_a_negative_eigenvalue_is_refused_at_every_scale(rule):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(6, 40))
        Q, values = np.linalg.qr(rng.normal(size=(n, n)))[0], np.abs(rng.normal(size=n))
        values[0] = -1e-6 * values.max()
        K = (Q * values) @ Q.T * 10.0 ** rng.integers(-12, 13)
        K = (K + K.T) / 2
        with pytest.raises(ValueError, match="positive semi-definite"):
            NystroemMap(K, n, kernel="precomputed", pivots=rule, random_state=seed)
        with pytest.raises(ValueError, match="negative eigenvalue"):
            Kernel("precomputed").gram(K)


def test_an_eigenvalue_is_judged_by_the_largest_one_however_many_items_there_are():
    K = np.eye(1000)
    K[0, 0] = -1e-6
    with pytest.raises(ValueError, match="negative eigenvalue"):
        Kernel("precomputed").gram(K)


# A first block that says nothing yet


@pytest.mark.parametrize(
    "make",
    [
        lambda: rb.RankRLS(kernel="linear"),
        lambda: rb.RankRLS(basis=np.eye(2)),
        lambda: rb.OnlineRankSVM(random_state=0),
    ],
)
@pytest.mark.parametrize(
    "first",
    [
        ([[1.0, 2.0]], [3.0], [7]),
        ([[1.0, 2.0], [0.0, 1.0]], [3.0, 3.0], [7, 7]),
        ([[1.0, 2.0], [0.0, 1.0]], [3.0, 1.0], [7, 8]),
    ],
    ids=["one item", "a tie", "two queries"],
)
@pytest.mark.filterwarnings("ignore:[12] of [23] queries have a single item")
def test_the_first_block_may_have_no_preference(make, first):
    X, y, qid = np.eye(2), [0.0, 1.0], [1, 1]
    model = make().partial_fit(first[0], first[1], first[2])
    assert model.n_features_in_ == 2 and not model.predict(X).any()
    assert np.diff(model.partial_fit(X, y, qid).predict(X))[0] > 0
    if isinstance(model, rb.RankRLS):  # it has been counted, and cannot come twice
        assert model.statistics_.n_items == 2 + len(first[0])
        with pytest.raises(ValueError, match="7"):
            model.partial_fit(first[0], first[1], first[2])
        together = make().fit(np.r_[first[0], X], np.r_[first[1], y], qid=np.r_[first[2], qid])
        assert np.allclose(
            model.predict(X), together.predict(X), rtol=1e-9
        )  # a tie, too, is learned from: equal scores are asked for


def test_a_whole_fit_without_a_preference_is_still_refused():
    for fit in (
        lambda: rb.RankRLS(kernel="linear").fit(np.eye(3), np.ones(3)),
        lambda: rb.RankRLS(basis=np.eye(3)).fit(np.eye(3), np.ones(3)),
        lambda: rb.RankRLS(kernel="linear").fit(iter([(np.eye(3), np.ones(3), [0, 0, 0])])),
        lambda: rb.OnlineRankSVM().fit(np.eye(3), np.ones(3)),
    ):
        with pytest.raises(ValueError, match="two different scores|no preference"):
            fit()
