"""Both bounds of a certificate hold where rounding is all there is, against 80 digits."""

import mpmath as mp
import numpy as np
import pytest

import rankbook as rb


@pytest.fixture(autouse=True)
def eighty_digits():
    with mp.workdps(80):
        yield


def exact_kernel(X, Z, kernel, gamma):
    """The kernel matrix of the numbers as they are, as an mpmath matrix."""
    K, gamma = mp.matrix(len(X), len(Z)), mp.mpf(float(gamma))
    for i, x in enumerate(X.tolist()):
        for j, z in enumerate(Z.tolist()):
            pairs = [(mp.mpf(a), mp.mpf(b)) for a, b in zip(x, z)]
            if kernel == "rbf":
                K[i, j] = mp.exp(-gamma * sum((a - b) ** 2 for a, b in pairs))
            else:
                K[i, j] = (gamma * sum(a * b for a, b in pairs) + 1) ** 3
    return K


def vector(values):
    return mp.matrix([mp.mpf(float(v)) for v in values])


def least_squares_minimum(X, y, lam, kernel, gamma, basis):
    """The minimum of (y - f)'L(y - f) + lam |f|^2 over the span of the basis, one query."""
    n, lam = len(y), mp.mpf(float(lam))
    K, R = (exact_kernel(A, X[basis], kernel, gamma) for A in (X, X[basis]))
    L = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            L[i, j] = (n if i == j else 0) - 1
    A = K.T * L * K + lam * R  # of low rank for poly: the objective of nearly the best a is above
    a = mp.lu_solve(A + mp.mpf(10) ** -60 * max(A) * mp.eye(len(basis)), K.T * L * vector(y))
    r = vector(y) - K * a
    return (r.T * L * r)[0] + lam * (a.T * R * a)[0]


def near_singular(seed):
    """Items of which some are within 1e-9 to 1e-4 of others, a kernel and a lambda."""
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(5, 10)), int(rng.integers(2, 5))
    X = rng.normal(size=(n, int(rng.integers(1, 3))))
    near = int(rng.integers(1, r))
    shift = 10.0 ** rng.uniform(-9, -4, size=(near, 1)) * rng.normal(size=(near, X.shape[1]))
    X[:near] = X[r - 1] + shift
    if seed % 4 == 3:  # an outlier
        X[-1] *= 10.0 ** rng.uniform(1, 3)
    y = np.round(3 * np.sin(2 * X[:, 0]) + rng.normal(size=n))
    y[0] = y[1:].max() + 1
    return X, y, r, ("rbf", "rbf", "rbf", "poly")[seed % 4], 10.0 ** rng.uniform(-4, 3)


def test_the_bounds_of_a_basis_with_two_items_that_nearly_coincide():
    for h, lam, dropped in ((1e-7, 0.01, 0), (3e-7, 1.0, 0), (1e-8, 1.0, 1), (0.0, 1.0, 1)):
        X = np.r_[0, h, np.linspace(0.5, 3, 8)][:, None]
        y = np.r_[0, 0, np.round(3 * np.sin(X[2:, 0]))]
        model = rb.RankRLS(lam, kernel="rbf", gamma=0.5, basis=[0, 1]).fit(X, y)
        proof, basis = model.certificate_, [0] if h == 0 else [0, 1]
        minimum = least_squares_minimum(X, y, lam, "rbf", 0.5, basis)
        assert proof.dual <= minimum <= proof.primal and proof.dropped == dropped
        assert proof.is_optimal() == (h == 0)  # a copy is dropped without a loss
        assert proof.relative_gap <= (1.0 if h == 1e-8 else 0.03)
        assert ("optimal to the rounding" in str(proof)) == (h == 1e-7)
        assert ("items dropped from the basis" in str(proof)) == bool(dropped)
        assert 0 <= proof.gap <= proof.primal - proof.dual


@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 1000), marks=pytest.mark.slow)]
)
def test_no_lower_bound_of_least_squares_is_above_the_minimum(seeds):
    refused = []
    for seed in seeds:
        X, y, r, kernel, lam = near_singular(seed)
        basis = None if seed % 5 == 0 else np.arange(r)
        problem = rb.RankRLSProblem(X, y, kernel=kernel, gamma=0.5, basis=basis)
        try:
            proof = rb.solve(problem, lam).certificate
        except ArithmeticError as error:  # no wrong bound
            assert "lam" in str(error) and "singular" in str(error)
            refused.append(seed)
            continue
        whole = np.arange(len(y)) if basis is None else basis
        minimum = least_squares_minimum(X, y, lam, kernel, 0.5, whole)
        off = mp.mpf(10) ** -40 * (1 + abs(minimum))  # what the ridge of 1e-60 may add
        assert proof.dual <= minimum and minimum - off <= proof.primal, seed
    assert len(refused) <= len(seeds) // 50, refused


def dual_objective(K, prefs, dual, lam, loss):
    """The value of multipliers that are feasible."""
    a = vector(np.clip(dual, 0, prefs.weight if loss == "hinge" else None))
    v = mp.matrix(K.rows, 1)
    for i, (k, l) in enumerate(zip(prefs.better.tolist(), prefs.worse.tolist())):
        v[k], v[l] = v[k] + a[i], v[l] - a[i]
    own = mp.mpf(0) if loss == "hinge" else sum(x**2 for x in a) / 4
    return sum(a) - own - (v.T * K * v)[0] / (2 * mp.mpf(float(lam)))


def objective(K, prefs, coef, lam, loss):
    b = vector(coef)
    mean = sum(b) / len(b)
    b = b - mp.matrix([mean] * len(b))
    f, power = K * b, 1 if loss == "hinge" else 2
    pairs = zip(prefs.better.tolist(), prefs.worse.tolist())
    cost = sum(max(mp.mpf(0), 1 - f[k] + f[l]) ** power for k, l in pairs)
    return mp.mpf(float(lam)) / 2 * (b.T * f)[0] + cost


@pytest.mark.filterwarnings("ignore:the solver")
@pytest.mark.parametrize("seeds", [range(24), pytest.param(range(24, 400), marks=pytest.mark.slow)])
def test_no_bound_of_a_ranking_svm_is_on_the_wrong_side(seeds):
    for seed in seeds:
        X, y, _, kernel, lam = near_singular(seed)
        prefs, loss = rb.Preferences.from_scores(y), ("hinge", "squared")[seed // 4 % 2]
        if seed % 8 == 7:  # far beyond what the kernel matrix can hold
            X[-1] *= 1e6
        problem = rb.RankSVMProblem(X, prefs, kernel, gamma=0.5, loss=loss)
        K = exact_kernel(X, X, kernel, 0.5)
        rng = np.random.default_rng(seed)
        answers = [rng.uniform(size=len(prefs))]  # any multipliers prove something
        answers.append(rb.solve(problem, lam, "interior").dual)
        for dual in answers:
            if not isinstance(dual, np.ndarray):
                continue
            coef = prefs.rmatvec(np.clip(dual, 0, None)) / lam
            proof = problem.certificate(lam, coef, dual)
            assert proof.primal >= objective(K, prefs, coef, lam, loss), seed
            bound = dual_objective(K, prefs, dual, lam, loss)
            assert proof.dual <= max(bound, 0), seed
            assert proof.dual <= proof.primal and proof.gap >= 0
