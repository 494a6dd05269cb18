"""Where the origin lies does not matter, nor the unit of a feature."""

import warnings

import numpy as np
import pytest
from scipy.linalg import solve as dense_solve
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

import rankbook as rb
from rankbook.kernels.kernel import Kernel
from rankbook.problems.certificate import Solution

OFFSETS = [1e4, 1e6, 1e8]


def grid_items(n=40, d=3, seed=0, digits=20):
    """Items on a grid of 2^-digits, so that an offset of up to 1e8 is added exactly."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) * 2**digits) / 2**digits
    return X, np.round(X @ rng.normal(size=d) + rng.normal(size=n)), np.arange(n) % 3


@pytest.mark.parametrize("storage", ["float64", "float32", "csr"])
def test_newton_on_stored_items_does_not_see_an_offset(storage):
    X, y, qid = grid_items(200, digits=6)
    X = np.c_[X, np.where(np.arange(200) % 4, 0.0, X[:, 0])]
    far = X + [1e4, 1e4, 1e4, 0]
    store = dict(float64=lambda Z: Z, float32=lambda Z: Z.astype(np.float32), csr=csr_array)[
        storage
    ]
    prefs = rb.Preferences.from_scores(y, qid)
    a, b = (
        rb.solve(rb.RankSVMProblem(store(Z), prefs, kernel="linear"), 1.0, solver="newton")
        for Z in (X, far)
    )
    assert b.problem.storage == storage and b.certificate.primal == pytest.approx(
        a.certificate.primal, rel=1e-6
    )
    assert storage != "csr" or b.problem.X.nnz <= np.count_nonzero(far)


def test_an_rbf_kernel_close_to_constant_keeps_its_digits():
    X, y, _ = grid_items(20)
    prefs = rb.Preferences.from_scores(y)
    flat = rb.RankSVMProblem(X, prefs, gamma=1e-12)
    exact = rb.RankSVMProblem(
        X * np.sqrt(2e-12), prefs, kernel="linear"
    )  # the limit: k - 1 is -gamma |x - y|^2
    lam = 1e-3 * exact.lam_max
    assert flat.lam_max == pytest.approx(exact.lam_max, rel=1e-9)
    a, b = rb.solve_path(flat, lam_min=lam), rb.solve_path(exact, lam_min=lam)
    assert a.status == "lam_min" and a.certificate(lam).relative_gap < 1e-9
    assert a.certificate(lam).primal == pytest.approx(b.certificate(lam).primal, rel=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_a_constant_added_to_a_kernel_changes_nothing(kernel):
    X, y, _ = grid_items(15)
    K = Kernel(kernel).gram(X)
    prefs = rb.Preferences.from_scores(y)
    plain, shifted = (
        rb.solve_path(rb.RankSVMProblem(M, prefs, kernel="precomputed"), lam_min=0.01)
        for M in (K, K + 1e4)
    )
    assert [shifted.certificate(lam).primal for lam in (0.02, 1.0)] == pytest.approx(
        [plain.certificate(lam).primal for lam in (0.02, 1.0)], rel=1e-7
    )


# Units of features


def exact_rls(X, y, lam):
    """Weights of RankRLS in long double by Gaussian elimination; one query."""
    Z, t = (v.astype(np.longdouble) for v in (X, y))
    Z, t = Z - Z.mean(axis=0), t - t.mean()
    n, d = Z.shape
    A, b = n * (Z.T @ Z) + lam * np.eye(d), n * (Z.T @ t)
    unit = np.sqrt(A.diagonal())
    A, b = A / unit / unit[:, None], b / unit
    w = dense_solve(A.astype(float), b.astype(float))
    for _ in range(5):
        w = w + dense_solve(A.astype(float), (b - A @ w).astype(float))
    return (w / unit).astype(float)


def test_weights_of_features_in_other_units():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)) * [1e6, 1, 1e3]
    y = X @ [1e-6, 1.0, 1e-3]
    model = rb.RankRLS(kernel="linear", lam=1e-3).fit(X, y)
    assert (
        np.allclose(model.coef_, exact_rls(X, y, 1e-3), rtol=1e-8)
        and model.certificate_.relative_gap < 1e-9
    )


def test_mixed_units_at_random(amount):
    """No solution is off by more than 1e-6, unless a warning says so."""
    wrong, warned, count = 0, 0, amount(60, 400)
    for number in range(count):
        rng = np.random.default_rng(number)
        n, d = rng.integers(5, 40), rng.integers(2, 5)
        scales = 10.0 ** rng.uniform(-6, 6, d)
        X = rng.normal(size=(n, d)) * scales
        y, lam = X @ (rng.normal(size=d) / scales) + rng.normal(size=n), 10.0 ** rng.uniform(-4, 4)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = rb.RankRLS(kernel="linear", lam=lam).fit(X, y)
        exact = exact_rls(X, y, lam)
        error = np.abs((model.coef_ - exact) * scales).max() / np.abs(exact * scales).max()
        said = any(issubclass(w.category, ConvergenceWarning) for w in caught)
        warned += said
        wrong += error > 1e-6 and not said
    print(f"\n{wrong} wrong without a word, {warned} warned of {count}")
    assert wrong == 0 and warned <= 0.05 * count


# A poor answer is never silent


class Lazy(rb.Solver):
    """A solver that promises much and returns nothing."""

    name, tol = "lazy", 1e-3

    def solve(self, problem, lam):
        return Solution(problem, lam, coef=np.zeros(problem.n_items))


def test_a_plugin_that_misses_its_tolerance_is_heard_everywhere():
    X, y, _ = grid_items(20)
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y))
    with pytest.warns(
        ConvergenceWarning,
        match=r"lazy.*relative gap of .* at lam = 0.5, above its tolerance of 0.001",
    ):
        rb.solve(problem, 0.5, solver=Lazy())
    with pytest.warns(ConvergenceWarning, match="lazy"):
        rb.RankSVM(solver=Lazy()).fit(X, y)
    path = rb.solve_path(problem)
    path.tol = -1.0  # nothing is as good as that
    with pytest.warns(ConvergenceWarning, match="its tolerance of -1"):
        path.predict(X, path.breakpoints[1])
    Lazy.tol = None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rb.solve(problem, 0.5, solver=Lazy())


def test_good_answers_come_without_a_word():
    X, y, qid = grid_items(40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (
            rb.RankSVM(),
            rb.RankSVM(kernel="linear"),
            rb.RankSVM(kernel="linear", solver="newton"),
            rb.RankRLS(),
            rb.RankRLS(kernel="linear"),
            rb.RankSVM(solver="qp"),
        ):
            model.fit(X, y, qid=qid)
