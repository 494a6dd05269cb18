"""Both bounds of a certificate hold where rounding is all there is, against 80 digits."""

import mpmath as mp
import numpy as np
import pytest
from scipy.sparse import csr_array

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


@pytest.mark.filterwarnings("ignore:the solver 'sparse-rls .* reached a relative gap")
@pytest.mark.filterwarnings("ignore:the solver")
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


@pytest.mark.filterwarnings("ignore:the solver")
@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 1000), marks=pytest.mark.slow)]
)
@pytest.mark.filterwarnings("ignore:the solver '(sparse-)?rls .* reached a relative gap")
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


def cost(t, loss):
    """The loss of a shortfall t of the margin 1, for weight 1."""
    if loss == "logistic":
        return mp.log1p(mp.exp(t - 1)) if t < 150 else t - 1
    return max(mp.mpf(0), t) ** (2 if loss == "squared" else 1)


def times(z, w):
    return sum(a * b for a, b in zip(z, w))


def on_margins(Z, c, lam, w):
    """The best weights with the preferences on the same side of their margins as at w (hinge)."""
    t = [1 - times(z, w) for z in Z]
    near = mp.mpf(10) ** -9 * max(1, *map(abs, t))
    short = [(ci, z) for ci, z, ti in zip(c, Z, t) if ti > near]
    w, basis = [sum(ci * z[j] for ci, z in short) / lam for j in range(len(w))], []
    for z in (z for z, ti in zip(Z, t) if abs(ti) <= near):  # move onto these margins
        length, rest, level = mp.sqrt(times(z, z)), z, mp.mpf(1)
        for q, at in basis:
            part = times(z, q)
            rest, level = [a - part * b for a, b in zip(rest, q)], level - part * at
        left = mp.sqrt(times(rest, rest))
        if left > mp.mpf(10) ** -12 * length:
            basis.append(([a / left for a in rest], level / left))
    for q, at in basis:
        w = [a + (at - times(w, q)) * b for a, b in zip(w, q)]
    return w


def newton_step(Z, c, lam, w, loss):
    H, b = lam * mp.eye(len(w)), mp.matrix([-lam * v for v in w])
    for ci, z in zip(c, Z):
        t = 1 - times(z, w)
        slope, bend = 2 * max(t, 0), 2 * (t > 0)
        if loss == "logistic":
            slope = 1 / (1 + mp.exp(1 - t))
            bend = slope * (1 - slope)
        for j, x in enumerate(z):
            b[j] += ci * slope * x
            for k, y in enumerate(z):
                H[j, k] += ci * bend * x * y
    return [a + x for a, x in zip(w, mp.lu_solve(H, b))]


def weighed(seed):
    """Few items on few places, preferences of weights over 6 or 16 decades, and a lambda."""
    rng = np.random.default_rng(seed)
    n, d, half = int(rng.integers(3, 10)), int(rng.integers(1, 4)), (3, 8)[seed % 2]
    X = rng.integers(0, 3, (n, d)).astype(float)
    if seed % 3 == 0:
        X = np.round(rng.normal(size=(n, d)), int(rng.integers(1, 9)))
    X = X[rng.integers(0, n, n)] if seed % 5 == 0 else X
    y, qid = rng.integers(0, 4, n).astype(float), rng.integers(0, 2, n)
    y[0] = y[1:].max() + 1
    if seed % 7 == 0 or not any(len(set(y[qid == q])) > 1 for q in (0, 1)):
        qid = np.zeros(n, int)
    prefs = rb.Preferences.from_scores(y, qid)
    prefs = prefs.item_weighted(*(10.0 ** rng.uniform(-half, half, n) for _ in range(2)))
    return X, y, qid, prefs, 10.0 ** rng.uniform(-3, 3)


FORMS = ("dense", "float32", "sparse", "listed", "blocks")


@pytest.mark.filterwarnings("ignore:the solver")
@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic"])
@pytest.mark.parametrize(
    "seeds",
    [
        range(10),
        *(pytest.param(range(a, a + 333), marks=pytest.mark.slow) for a in range(10, 3340, 333)),
    ],
)
def test_bounds_hold_for_weights_over_16_decades(seeds, loss):
    failed = []
    for seed in seeds:
        X, y, qid, prefs, lam = weighed(seed)
        listed = rb.Preferences(prefs.better, prefs.worse, len(y), prefs.weight)
        form, rng = FORMS[seed % 5], np.random.default_rng(seed)
        options = dict(kernel="linear", loss=loss)
        if form == "blocks":
            columns = X, y, qid, prefs.better_weight, prefs.worse_weight
            parts = ([each[qid == q] for each in columns] for q in set(qid.tolist()))
            blocks = rb.Blocks([rb.Block(*part[:4], worse_weight=part[4]) for part in parts])
            problem = rb.BlockRankSVMProblem(blocks, loss=loss)
        else:
            X = X.astype(np.float32) if form == "float32" else X
            items = csr_array(X) if form == "sparse" else X
            problem = rb.RankSVMProblem(items, listed if form == "listed" else prefs, **options)
        X = X.astype(float)
        answers = [rb.solve(problem, lam, "newton")]
        if loss != "logistic":  # a second opinion on the minimum
            other = rb.RankSVMProblem(X, listed, **options)
            try:
                answers.append(rb.solve(other, lam, "interior"))
            except ArithmeticError:
                failed.append(seed)
        found = [np.asarray(each.weights) for each in answers]
        Z = [list(vector(X[k]) - vector(X[l])) for k, l in zip(prefs.better, prefs.worse)]
        c, exact_lam = list(vector(prefs.weight)), mp.mpf(float(lam))

        def value(w):
            return exact_lam / 2 * times(w, w) + sum(
                ci * cost(1 - times(z, w), loss) for ci, z in zip(c, Z)
            )

        minimum = mp.inf
        for w in (list(vector(w)) for w in found):
            for _ in range(1 if loss == "hinge" else 8):
                minimum = min(minimum, value(w))
                step = on_margins if loss == "hinge" else newton_step
                w = step(Z, c, exact_lam, w, *(() if loss == "hinge" else (loss,)))
            minimum = min(minimum, value(w))
        moved = found[0] * (1 + 10.0 ** rng.uniform(-10, -2) * rng.normal(size=found[0].size))
        tried = [(problem.certificate(lam, weights=w), w) for w in (*found, moved, 0 * moved)]
        for proof, w in [*((a.certificate, w) for a, w in zip(answers, found)), *tried]:
            assert proof.dual <= minimum, (seed, form, proof.rounding)
            assert proof.primal >= value(list(vector(w))), (seed, form, proof.rounding)
    assert len(failed) <= len(seeds) // 10, failed


@pytest.mark.filterwarnings("ignore:the solver")
@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic"])
@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 400), marks=pytest.mark.slow)])
def test_no_order_of_identical_items_is_proven(seeds, loss):
    failed = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(5, 16)), int(rng.integers(8, 30))
        X = rng.normal(size=(n, 2))[rng.integers(0, 4, n)] * 10.0 ** rng.uniform(-2, 2)
        k = rng.integers(0, n, m)
        weight = rng.choice([0.1, 1, 5], m) if seed % 2 == 0 else 10.0 ** rng.uniform(-8, 8, m)
        prefs = rb.Preferences(k, (k + rng.integers(1, n, m)) % n, n_items=n, weight=weight)
        kernel = ("rbf", "linear", "poly")[seed % 3]
        gamma = None if kernel == "linear" else 0.5
        problem = rb.RankSVMProblem(X, prefs, kernel, gamma, loss=loss)
        i, j = np.triu_indices(n, 1)
        same = (X[i] == X[j]).all(axis=1)
        try:
            solution = rb.solve(problem, 10.0 ** rng.uniform(-3, 1))
        except ArithmeticError:  # no solution, no proof
            failed.append(seed)
        else:
            assert not solution.proven(i, j)[same].any(), (seed, kernel)
    assert len(failed) <= len(seeds) // 10, failed


def test_multipliers_of_another_shape_are_refused():
    prefs = rb.Preferences.from_scores([0, 1, 2])
    for options in ({}, {"kernel": "linear"}, {"kernel": "linear", "penalty": "l1"}):
        for loss in ("hinge", "squared"):
            problem = rb.RankSVMProblem([[0.0], [1.0], [3.0]], prefs, loss=loss, **options)
            coef = np.zeros(problem.coef_shape)
            for dual in (np.zeros(2), np.zeros((3, 1)), 0.0):
                with pytest.raises(ValueError, match=r"dual has shape .*shape \(3,\)"):
                    problem.certificate(1.0, coef, dual)
            assert problem.certificate(1.0, coef, [0.0, 0.0, 0.0]).dual == 0


@pytest.mark.filterwarnings("ignore:the solver")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic", "plackett-luce"])
def test_no_lower_bound_of_a_loss_above_0_is_below_0(loss, kernel):
    """Also far from the solution, where the multipliers of the coefficients give a negative one."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    prefs = rb.Preferences.from_scores(y)
    problem = rb.RankSVMProblem(X, prefs, kernel=kernel, loss=loss)
    for lam in (1e-9, 1e-3, 1.0):
        near = rb.solve(problem, lam)
        least = near.certificate.dual
        for size in (0.0, 1e-3, 1.0, 1e4):
            coef = near.coef + size * rng.normal(size=20)
            found = problem.certificate(lam, coef)
            assert found.dual >= 0 and found.gap <= found.primal
            assert found.dual <= near.certificate.primal and least >= 0


def test_a_loss_of_the_user_may_have_a_bound_below_0():
    class Lowered:
        """The squared loss less 5."""

        name = "lowered"
        value = staticmethod(lambda t: t**2 - 5)
        derivative = staticmethod(lambda t: 2 * t)
        conjugate = staticmethod(lambda a: a**2 / 4 + 5)

    X = np.random.default_rng(0).normal(size=(9, 2))
    found = rb.RankSVM(1e-3, kernel="linear", loss=Lowered()).fit(X, X[:, 0].round()).certificate_
    assert found.dual < 0 and found.is_optimal()
