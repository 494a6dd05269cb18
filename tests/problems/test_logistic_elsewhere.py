"""The logistic loss equals logistic regression on differences, and choix on one-hot features."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

import rankbook as rb

N = 36
EXACT = ("newton", dict(tol=1e-20))  # whose gap is no rounding error: weights go by its root
beyond_rounding = pytest.mark.filterwarnings("ignore:the solver .* reached a relative gap")


def items(kind, rng):
    X = rng.normal(size=(N, 3))
    return {
        "generic": X,
        "duplicates": np.repeat(X[:9], 4, axis=0),
        "grid": rng.integers(0, 3, (N, 3)).astype(float),
        "rank one": np.outer(rng.integers(0, 5, N), [1.0, -2.0, 0.5]),
        "constant column": np.c_[X[:, :2], np.ones(N)],
        "separable": X,
        "far": X + 1e4,
        "millions": X * 1e6,
        "millionths": X * 1e-6,
        "mixed units": X * [1e3, 1.0, 1e-3],
        "wide": rng.normal(size=(N, 60)),
    }[kind]


KINDS = ["generic", "duplicates", "grid", "rank one", "constant column", "separable", "far"]
KINDS += ["millions", "millionths", "mixed units", "wide"]


def of(kind, weights, seed=0):
    rng = np.random.default_rng(seed)
    X, qid = items(kind, rng), np.arange(N) % 3
    y = rng.integers(0, 4, N).astype(float)
    if kind == "separable":
        y = np.round(X @ [1.0, 2.0, 0.0], 1)
    prefs = rb.Preferences.from_scores(y, qid)
    if weights == "pairs":
        prefs = prefs.reweighted(10.0 ** rng.uniform(-2, 2, len(prefs)))
    elif weights == "items":
        prefs = prefs.item_weighted(*rng.uniform(0, 3, (2, N)))
    return X, prefs


def regression(X, prefs, lam, **options):
    """The weights of scikit-learn's classifier of differences, each with both signs."""
    Z = X[prefs.better] - X[prefs.worse]
    unit = np.abs(Z).max()  # its stopping rule is absolute
    weight = np.r_[prefs.weight, prefs.weight] / 2
    found = LogisticRegression(
        C=unit**2 / lam, fit_intercept=False, tol=1e-14, max_iter=10_000, **options
    ).fit(np.r_[Z, -Z] / unit, np.repeat([1, 0], len(Z)), weight)
    return found.coef_[0] / unit


@beyond_rounding
@pytest.mark.parametrize("weights", ["none", "pairs", "items"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_scikit_learns_regression_of_differences(kind, weights):
    X, prefs = of(kind, weights)
    unit = X.std() ** 2 * prefs.weight.sum()
    for share in (1e-3, 1e-1):
        lam = share * unit
        solver = "newton-cholesky" if X.shape[1] < N else "newton-cg"
        theirs = regression(X, prefs, lam, solver=solver)
        problem = rb.RankSVMProblem(X, prefs, kernel="linear", loss="logistic")
        answer = rb.solve(problem, lam, solver=EXACT)
        far = np.abs(answer.weights - theirs).max()
        assert far <= 1e-8 * max(np.abs(theirs).max(), 1.0 if X.std() > 0.1 else 0.0)
        assert answer.certificate.relative_gap < 1e-8


def test_it_is_the_minimum_by_a_solver_of_scipys():
    X, prefs = of("generic", "pairs")
    Z = X[prefs.better] - X[prefs.worse]
    cost = lambda w: w @ w / 2 + prefs.weight @ np.logaddexp(0, -Z @ w)
    best = minimize(cost, np.zeros(3), method="Nelder-Mead", options=dict(xatol=1e-10, fatol=1e-12))
    proof = rb.solve(rb.RankSVMProblem(X, prefs, kernel="linear", loss="logistic"), 1.0).certificate
    assert proof.dual <= best.fun <= proof.primal * (1 + 1e-9) + 1e-6


@beyond_rounding
def test_sparse_items_and_float32_give_the_same():
    X, prefs = of("grid", "items")
    whole, sparse, single = (
        rb.solve(rb.RankSVMProblem(A, prefs, kernel="linear", loss="logistic"), 1.0, EXACT).weights
        for A in (X, csr_array(X), X.astype(np.float32))
    )
    assert np.allclose(whole, sparse, atol=1e-10) and np.allclose(whole, single, atol=1e-6)


@pytest.mark.parametrize("tol", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("kind", KINDS)
def test_the_certificate_is_as_small_as_asked_for(kind, tol):
    X, prefs = of(kind, "none")
    problem = rb.RankSVMProblem(X, prefs, kernel="linear", loss="logistic")
    lam = 1e-3 * X.std() ** 2 * len(prefs)
    proof = rb.solve(problem, lam, solver=("newton", dict(tol=tol))).certificate
    assert proof.relative_gap <= tol and proof.is_optimal(1e-6)


def tournament(n, games, seed):
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=n)
    a, b = rng.integers(0, n, (2, games))
    a, b = a[a != b], b[a != b]
    wins = rng.random(a.size) < 1 / (1 + np.exp(strength[b] - strength[a]))
    return np.where(wins, a, b), np.where(wins, b, a)


@pytest.mark.peer("choix")
@beyond_rounding
@pytest.mark.parametrize("method", ["opt_pairwise", "ilsr_pairwise"])
def test_one_hot_items_give_the_strengths_of_bradley_and_terry(method):
    import choix

    winner, loser = tournament(12, 600, 1)
    data = list(zip(winner.tolist(), loser.tolist()))
    theirs = getattr(choix, method)(12, data, **dict(tol=1e-12) if "opt" in method else {})
    prefs = rb.Preferences(winner, loser, 12)
    model = rb.RankSVM(1e-9, "linear", loss="logistic", solver=EXACT)
    found = model.fit(np.eye(12), prefs).predict(np.eye(12))
    assert np.abs(found - found.mean() - (theirs - theirs.mean())).max() < 1e-6


@pytest.mark.peer("choix")
@beyond_rounding
@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_with_a_penalty_it_is_choix_with_the_same(alpha):
    """choix.opt_pairwise minimises alpha |theta|^2 + loss: lam = 2 alpha."""
    import choix

    winner, loser = tournament(15, 100, 2)
    data = list(zip(winner.tolist(), loser.tolist()))
    theirs = choix.opt_pairwise(15, data, alpha=alpha, method="Newton-CG", tol=1e-14)
    problem = rb.RankSVMProblem(
        np.eye(15), rb.Preferences(winner, loser, 15), kernel="linear", loss="logistic"
    )
    found = rb.solve(problem, 2 * alpha, solver=EXACT).predict(np.eye(15))
    assert np.abs(found - found.mean() - (theirs - theirs.mean())).max() < 1e-8
