"""The Rayleigh coefficient against formulas, the quadratic program and scikit-learn.

It is the normalized one; degenerate data come first.
"""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from corpus import degenerate
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer

import rankbook as rb
from rankbook.kernels.kernel import Kernel
from rankbook.kernels.neighbours import normalized_laplacian
from rankbook.paths.spectral import ManifoldPath, SpectralPath
from rankbook.problems.rayleigh import check_labels, rayleigh_quotient

LAMS = (1e-3, 0.1, 10.0)
LINE = dict(kernel="linear", n_components=None)


def quiet(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rb.RayleighProblem(*args, **options)


def solve(problem, lam, **options):
    return rb.solve(problem, lam, solver="rayleigh", **options)


def sample(rng, n=60, d=3, unlabelled=0.3):
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + X[:, -1] ** 2 + rng.normal(size=n) / 2 > 0.5).astype(int)
    y[rng.random(n) < unlabelled] = -1
    y[:4] = [0, 0, 1, 1]
    return X, y


def matrices(problem, y):
    """S, X'LX / n^2 and the difference, from the features by the plainest formulas."""
    F, W = problem.X, problem.data.graph.toarray()
    n, degree = len(F), W.sum(axis=1)
    root = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1)), 0)
    L = np.diag((degree > 0) * 1.0) - root[:, None] * W * root
    S = sum(
        np.mean([np.outer(x, x) for x in F[y == c] - F[y == c].mean(axis=0)], axis=0)
        for c in (0, 1)
    )
    return S, F.T @ L @ F / n**2, F[y == 1].mean(axis=0) - F[y == 0].mean(axis=0)


# Exactness


@pytest.mark.parametrize(
    "options",
    [
        LINE,
        dict(kernel="linear", n_components=2),
        dict(n_components=7),
        dict(kernel="poly", n_components=7, pivots="random"),
        dict(n_components=7, pivots="rpcholesky", n_neighbors=5),
        dict(n_components=7, metric="manhattan"),
    ],
)
@pytest.mark.parametrize("weight", [0.0, 1.0, 1e4])
def test_against_the_formula(options, weight):
    X, y = sample(np.random.default_rng(1))
    problem = rb.RayleighProblem(X, y, manifold_weight=weight, random_state=0, **options)
    S, E, delta = matrices(problem, y)
    for lam in LAMS:
        A = S + weight * E + lam * np.eye(len(delta))
        answer = solve(problem, lam)
        assert np.allclose(
            answer.coef, np.linalg.solve(A, delta), rtol=1e-9, atol=1e-11
        ) and answer.certificate.is_optimal(1e-14)
        assert np.isclose(
            answer.certificate.quotient, delta @ np.linalg.solve(A, delta)
        ) and np.isclose(answer.certificate.quotient_max, answer.certificate.quotient)
        assert np.isclose(
            answer.certificate.primal, answer.coef @ A @ answer.coef / 2 - answer.coef @ delta
        )


@pytest.mark.parametrize("pivots", ["greedy", "random", "rpcholesky", "pca"])
@pytest.mark.parametrize("weight", [0.0, 1e4])
@pytest.mark.parametrize("kernel", [Kernel("rbf", 0.5), Kernel("rbf", 1e-3), Kernel("poly", 0.5)])
def test_all_directions_are_the_kernelised_form(kernel, weight, pivots):
    """Equation (5) over all functions of the kernel, as n equations of its matrix; with copies."""
    rng = np.random.default_rng(2)
    X, y = sample(rng)
    X = np.r_[np.round(X), X[:5]]
    y = np.r_[y, y[:5]]
    problem = rb.RayleighProblem(
        X, y, manifold_weight=weight, n_components=None, kernel=kernel, pivots=pivots
    )
    K, n = kernel.cross(X, X), len(X)
    M, right = np.zeros((n, n)), np.zeros(n)
    for label, sign in ((1, 1), (0, -1)):
        e = (y == label) * 1.0
        M += (np.diag(e) - np.outer(e, e) / e.sum()) / e.sum()
        right += sign * e / e.sum()
    if weight:
        M += weight / n**2 * normalized_laplacian(problem.data.graph).toarray()
    new = rng.normal(size=(9, 3))
    for lam in LAMS:
        beta = np.linalg.solve(lam * np.eye(n) + M @ K, right)
        answer = solve(problem, lam)
        for items in (X, new):
            scores = kernel.cross(items, X) @ beta
            assert np.allclose(answer.predict(items), scores, atol=1e-8 * np.abs(scores).max())
        assert answer.certificate.is_optimal(1e-12)
        assert np.isclose(
            answer.certificate.primal, beta @ K @ (M @ K @ beta / 2 + lam * beta / 2 - right)
        )


def test_it_maximises_the_quotient():
    X, y = sample(np.random.default_rng(1))
    problem = rb.RayleighProblem(X, y, manifold_weight=10.0, n_components=4)
    A = problem.matrix + 0.01 * np.eye(4)
    found = minimize(
        lambda w: -rayleigh_quotient(w, problem.mean_difference, A),
        np.ones(4),
        method="Nelder-Mead",
        options=dict(xatol=1e-9, fatol=1e-13, maxiter=4000),
    )
    answer = solve(problem, 0.01)
    assert np.isclose(
        -found.fun, answer.certificate.quotient, rtol=1e-7
    ) and -found.fun <= answer.certificate.quotient_max * (1 + 1e-12)
    assert np.allclose(
        found.x / np.linalg.norm(found.x) * np.sign(found.x @ problem.mean_difference),
        answer.coef / answer.certificate.norm,
        atol=1e-3,
    )


@pytest.mark.parametrize("name", degenerate(np.random.default_rng(0), far=100))
@pytest.mark.parametrize(
    "options",
    [LINE, dict(kernel="linear"), {}, dict(kernel=rb.kernels.Kernel("poly", degree=2))],
    ids=["line", "linear", "rbf", "poly"],
)
def test_against_the_quadratic_program(name, options):
    rng = np.random.default_rng(0)
    X, y = degenerate(rng, far=100)[name], np.r_[0, 0, 1, 1, rng.choice([0, 1, -1], 20)]
    problem = quiet(X, y, manifold_weight=100.0, **options)
    scale = np.abs(problem.X).max() ** 2  # lam in units of the features
    for lam in (1e-2 * scale, scale):
        ours, theirs = solve(problem, lam), rb.solve(problem, lam, solver="qp")
        assert ours.certificate.is_optimal(1e-10) and theirs.certificate.is_optimal(1e-10)
        size = max(np.abs(ours.predict(X)).max(), np.abs(problem.mean_difference).max())
        assert np.allclose(
            problem.matvec(ours.coef), problem.matvec(theirs.coef), atol=1e-6 * max(size, 1e-6)
        )


@pytest.mark.parametrize("weight", [0.0, 300.0])
def test_without_lambda_against_the_quadratic_program(weight):
    X, y = sample(np.random.default_rng(2))
    problem = rb.RayleighProblem(X, y, manifold_weight=weight, n_components=5)
    ours, theirs = solve(problem, 0.0), rb.solve(problem, 0.0, solver="qp")
    assert ours.certificate.is_optimal(1e-12) and np.allclose(
        ours.coef, theirs.coef, rtol=1e-6, atol=1e-6 * np.abs(ours.coef).max()
    )
    with pytest.raises(ValueError, match="form is 'dual'"):
        rb.solve(problem, 1.0, solver="qp", form="dual")


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_against_the_linear_discriminant(solver, share):
    """With equal priors it averages the covariances, as eq. (4) does.

    With its own it does so only if the classes are balanced.
    """
    rng = np.random.default_rng(0)
    y = (np.arange(400) < 400 * share).astype(int)
    X = rng.normal(size=(400, 3)) * np.where(y[:, None], [1.0, 3, 0.5], 1) + y[:, None]
    w = solve(rb.RayleighProblem(X, y, manifold_weight=0, **LINE), 0.0).coef
    cosine = lambda v: v @ w / np.linalg.norm(v) / np.linalg.norm(w)
    assert np.isclose(
        cosine(LinearDiscriminantAnalysis(solver, priors=[0.5, 0.5]).fit(X, y).coef_[0]),
        1,
        atol=1e-12,
    )
    assert np.isclose(
        cosine(LinearDiscriminantAnalysis(solver).fit(X, y).coef_[0]), 1, atol=1e-12
    ) == (share == 0.5)


# Paths


@pytest.mark.parametrize("options", [LINE, dict(n_components=12)])
def test_paths_against_separate_solutions(options):
    X, y = sample(np.random.default_rng(3))
    problem = rb.RayleighProblem(X, y, manifold_weight=20.0, **options)
    path = rb.solve_path(problem, solver="rayleigh")
    lams, weights = np.logspace(-5, 4, 10), np.r_[0, np.logspace(-2, 8, 11)]
    assert (
        isinstance(path, SpectralPath)
        and path.status == "complete"
        and path.solver.startswith("rayleigh")
    )
    for lam, coef, f in zip(lams, path.coefs(lams), path.predictions(X, lams)):
        one = solve(problem, lam)
        assert np.allclose(
            coef, one.coef, rtol=1e-8, atol=1e-8 * np.abs(one.coef).max()
        ) and np.allclose(f, one.predict(X), atol=1e-8 * np.abs(f).max())
        assert path.certificate(lam).is_optimal(1e-10)
    along = rb.solve_path(problem, solver="rayleigh", along="manifold_weight", lam=0.01)
    assert isinstance(along, ManifoldPath) and along.lam == 0.01 and along.problem is problem
    for weight, coef, f in zip(weights, along.coefs(weights), along.predictions(X, weights)):
        one = solve(problem.with_manifold_weight(weight), 0.01)
        assert np.allclose(
            coef, one.coef, rtol=1e-8, atol=1e-8 * np.abs(one.coef).max()
        ) and np.allclose(f, one.predict(X), atol=1e-8 * np.abs(f).max())
        assert (
            along.certificate(weight).is_optimal(1e-10)
            and np.allclose(along.coef(weight), coef, rtol=1e-12)
            and np.allclose(along.predict(X, weight), f)
        )
    assert along.solution(3.0).problem.manifold_weight == 3.0 and along.solution(3.0).lam == 0.01


def test_another_manifold_weight_computes_nothing_again(monkeypatch):
    X, y = sample(np.random.default_rng(3))
    problem = rb.RayleighProblem(X, y, n_components=5)
    for name in ("NystroemMap", "neighbour_graph", "class_moments", "laplacian_form"):
        monkeypatch.setattr(
            f"rankbook.problems.rayleigh.{name}",
            lambda *args, **options: pytest.fail("computed again"),
        )
    other = problem.with_manifold_weight(7.0)
    assert (
        other.data is problem.data
        and other.X is problem.X
        and other.manifold_weight == 7.0
        and problem.manifold_weight == 1.0
    )
    assert np.allclose(
        other.matrix - problem.matrix, 6 * problem.data.laplacian_form
    ) and not np.isclose(other.smallest_eigenvalue, problem.smallest_eigenvalue)


def test_no_graph_without_a_manifold_weight(monkeypatch):
    X, y = sample(np.random.default_rng(3))
    expected = rb.RayleighProblem(X, y, n_components=5).matrix
    calls = []
    from rankbook.kernels import neighbours as manifold

    monkeypatch.setattr(
        "rankbook.problems.rayleigh.neighbour_graph",
        lambda *args, **options: calls.append(1) or manifold.neighbour_graph(*args, **options),
    )
    problem = rb.RayleighProblem(X, y, n_components=5, manifold_weight=0)
    solve(problem, 1.0)
    assert not calls
    assert np.allclose(problem.with_manifold_weight(1.0).matrix, expected) and np.allclose(
        problem.with_manifold_weight(2.0).matrix - problem.matrix, 2 * (expected - problem.matrix)
    )
    assert len(calls) == 1


@pytest.mark.parametrize(
    "options, match",
    [
        (dict(along="gamma"), "along is 'gamma'"),
        (dict(along="manifold_weight"), "lam is None and along is 'manifold_weight'"),
        (dict(lam=1.0), "lam is 1.0 and along is 'lam'"),
        (dict(along="manifold_weight", lam=0.0), "lam is 0.0"),
        (dict(along="manifold_weight", lam=-1), "lam is -1"),
    ],
)
def test_bad_paths(options, match):
    problem = rb.RayleighProblem(*sample(np.random.default_rng(3)), n_components=5)
    with pytest.raises(ValueError, match=match):
        rb.solve_path(problem, solver="rayleigh", **options)
    path = rb.solve_path(problem, solver="rayleigh", along="manifold_weight", lam=1.0)
    for read in (path.coef, path.coefs, path.certificate):
        with pytest.raises(ValueError, match="-1"):
            read(-1.0)


# Predictions and invariances


@pytest.mark.parametrize(
    "options",
    [
        LINE,
        {},
        dict(pivots="random"),
        dict(pivots="rpcholesky"),
        dict(kernel="poly"),
        dict(kernel=lambda A, B: (1 + A @ B.T) ** 2),
    ],
)
def test_predictions_are_the_function(options):
    rng = np.random.default_rng(4)
    X, y = sample(rng)
    problem = rb.RayleighProblem(X, y, random_state=0, **options)
    answer, new = solve(problem, 0.1), rng.normal(size=(9, 3))
    assert np.allclose(answer.predict(X), problem.X @ answer.coef, atol=1e-10) and problem.predict(
        answer.coef, np.empty((0, 3))
    ).shape == (0,)
    subspace = problem.data.subspace
    if subspace is not None:
        K = problem.kernel.cross(new, X[subspace.pivots])
        assert np.allclose(answer.predict(new), K @ subspace.expansion(answer.coef), atol=1e-9)
    with pytest.raises(ValueError, match="as in training"):
        answer.predict(new[:, :2])
    again = pickle.loads(pickle.dumps(answer)) if not callable(options.get("kernel")) else answer
    assert (again.predict(new) == answer.predict(new)).all()
    f = problem.matvec(answer.coef)
    assert answer.proven([np.argmax(f)], [np.argmin(f)]).all() and not answer.proven([3], [3]).any()


def test_large_predictions_come_in_blocks(monkeypatch):
    X, y = sample(np.random.default_rng(4))
    problem = rb.RayleighProblem(X, y, n_components=6)
    answer = solve(problem, 0.1)
    expected = answer.predict(X)
    monkeypatch.setattr("rankbook.kernels.nystroem.BLOCK", 40)
    assert np.allclose(answer.predict(X), expected)


@pytest.mark.parametrize(
    "options", [LINE, dict(n_components=8), dict(kernel="poly", n_components=8)]
)
def test_the_order_of_items_does_not_matter(options):
    rng = np.random.default_rng(5)
    X, y = sample(rng)
    order, new = (
        np.r_[0, 1 + rng.permutation(59)],
        rng.normal(size=(20, 3)),
    )  # the first item is the first pivot of an rbf kernel, where all are tied
    a, b = (
        solve(
            rb.RayleighProblem(X[i], y[i], manifold_weight=50.0, n_neighbors=3, **options), 0.1
        ).predict(new)
        for i in (np.arange(60), order)
    )
    assert np.allclose(a, b, atol=1e-9)


def test_unlabelled_items_may_come_any_way():
    X, y = sample(np.random.default_rng(6))
    labelled = y >= 0
    order = np.r_[np.flatnonzero(labelled), np.flatnonzero(~labelled)]
    expected = solve(rb.RayleighProblem(X[order], y[order], manifold_weight=50.0), 0.1).predict(X)
    signs = np.where(y == 1, 1, -1)
    some_nan = np.where(y < 0, np.nan, y)
    for y_other, options in (
        (some_nan, {}),
        (np.where(y < 0, np.nan, signs), {}),
        (some_nan, dict(unlabelled=np.nan)),
        (np.where(y < 0, 7, y), dict(unlabelled=7)),
        (np.where(y < 0, 0, signs), dict(unlabelled=0)),
        (y, dict(unlabelled=-1)),
    ):
        problem = rb.RayleighProblem(X[order], y_other[order], manifold_weight=50.0, **options)
        assert np.allclose(solve(problem, 0.1).predict(X), expected)
    for labels in (y, y == 1, signs):
        problem = rb.RayleighProblem(
            X[labelled], labels[labelled], X_unlabelled=X[~labelled], manifold_weight=50.0
        )
        assert np.allclose(solve(problem, 0.1).predict(X), expected) and problem.n_items == 60
    without = rb.RayleighProblem(
        X[labelled], signs[labelled], unlabelled=False, manifold_weight=50.0
    )
    assert without.n_items == labelled.sum() and not np.allclose(
        solve(without, 0.1).predict(X), expected
    )


def test_a_gram_matrix_is_its_kernel():
    X, y = sample(np.random.default_rng(7))
    K = Kernel("linear").gram(X)
    a = solve(rb.RayleighProblem(X, y, kernel="linear", n_components=3, manifold_weight=80.0), 0.1)
    b = solve(
        rb.RayleighProblem(K, y, kernel="precomputed", n_components=3, manifold_weight=80.0), 0.1
    )
    assert np.allclose(a.coef, b.coef) and np.allclose(
        a.predict(X), b.predict(K)
    )  # the distances of the linear kernel are those of the items


def test_a_transformer_finds_the_neighbours():
    X, y = sample(np.random.default_rng(7))
    a, b = (
        solve(rb.RayleighProblem(X, y, manifold_weight=80.0, n_neighbors=3, metric=m), 0.1).coef
        for m in ("euclidean", KNeighborsTransformer(n_neighbors=3))
    )
    assert np.allclose(a, b)


def test_a_lonely_point_is_charged_nothing():
    X, y = sample(np.random.default_rng(8))
    X, y = np.r_[X, [[50.0, 50, 50]]], np.r_[y, -1]
    with pytest.warns(UserWarning, match="fewer than n_neighbors = 2"):
        problem = rb.RayleighProblem(
            X, y, manifold_weight=10.0, metric=RadiusNeighborsTransformer(radius=1.0), **LINE
        )
    S, E, delta = matrices(problem, y)
    assert problem.data.graph.sum(axis=1)[60] == 0 and np.allclose(problem.data.laplacian_form, E)
    assert solve(problem, 0.1).certificate.is_optimal(1e-14) and np.allclose(
        solve(problem, 0.1).coef, np.linalg.solve(S + 10 * E + 0.1 * np.eye(3), delta)
    )


# Degenerate data


@pytest.mark.parametrize("name", degenerate(np.random.default_rng(0), far=100))
@pytest.mark.parametrize("pivots", ["greedy", "random", "rpcholesky"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_degenerate_data(name, pivots, kernel):
    X, y = (
        degenerate(np.random.default_rng(0), far=100)[name],
        np.r_[np.tile([0, 1], 9), np.full(6, -1)],
    )
    problem = quiet(X, y, kernel=kernel, pivots=pivots, random_state=0, manifold_weight=100.0)
    for lam in (1e-3, 1.0):
        answer = solve(problem, lam)
        assert answer.certificate.is_optimal(1e-9)
        assert np.allclose(
            answer.predict(X),
            problem.matvec(answer.coef),
            atol=1e-6 * max(1, np.abs(answer.predict(X)).max()),
        )
        same = (X[:, None] == X).all(axis=2)
        f = answer.predict(X)
        assert np.abs((f[:, None] - f)[same]).max() <= 1e-9 * max(
            1, np.abs(f).max()
        )  # copies score alike


def test_rank_one_and_constant_kernels():
    x, y = np.arange(10.0), np.tile([0, 1], 5)
    with pytest.warns(UserWarning, match="reduced from 10 to 1"):
        line = rb.RayleighProblem(np.outer(x, x), y, kernel="precomputed", manifold_weight=0)
    assert np.allclose(np.abs(line.X[:, 0]), x) and np.isclose(
        abs(solve(line, 1.0).coef[0]), 1 / (16 + 1)
    )  # means differ by 1, variances are 8 and 8
    constant = quiet(np.ones((10, 3)), y)
    assert (
        constant.coef_shape == (1,)
        and solve(constant, 1.0).coef == 0
        and solve(constant, 1.0).certificate.is_optimal(1e-15)
    )
    assert solve(constant.with_manifold_weight(0.0), 0.0).coef == 0


def test_classes_that_are_the_same():
    X = np.random.default_rng(0).normal(size=(20, 3))
    problem = rb.RayleighProblem(
        np.r_[X, X], np.repeat([0, 1], 20), manifold_weight=0, n_components=6
    )
    answer = solve(problem, 0.1)
    assert (
        np.abs(answer.coef).max() < 1e-13
        and answer.certificate.is_optimal(1e-14)
        and answer.certificate.quotient < 1e-25
    )


def test_lambda_zero_with_a_singular_matrix_is_refused():
    X, _ = sample(np.random.default_rng(0))
    few = rb.RayleighProblem(
        X, np.r_[0, 1, 0, 1, np.full(56, -1)], n_components=10, manifold_weight=0
    )
    with pytest.raises(
        ValueError, match="lam is 0.0, where the matrix of equation \\(5\\) is numerically singular"
    ):
        solve(few, 0.0)
    with pytest.raises(ValueError, match="singular"):
        ManifoldPath(few, 0.0)
    assert few.certificate(0.0, np.ones(10)).gap == np.inf and not few.certificate(
        0.0, np.ones(10)
    ).is_optimal(1e300)
    assert solve(few.with_manifold_weight(1e4), 0.0).certificate.relative_residual < 1e-9


# The certificate


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.floats(1e-6, 1e3), st.floats(0, 1e5), st.floats(1e-9, 10))
def test_the_certificate_bounds_what_it_says(seed, lam, weight, noise):
    rng = np.random.default_rng(seed)
    problem = rb.RayleighProblem(*sample(rng, 30, 2), n_components=4, manifold_weight=weight)
    A = problem.matrix + lam * np.eye(4)
    best = np.linalg.solve(A, problem.mean_difference)
    w = best * rng.choice([1, 1, -1, 3]) + noise * rng.normal(size=4)
    found, least = problem.certificate(lam, w), problem.primal(best, lam)
    slack = 1e-9 * max(abs(found.primal), abs(least))
    assert found.dual <= least + slack and found.primal - least <= found.gap + slack
    assert np.linalg.norm(w - best) <= found.radius * (1 + 1e-9) + 1e-9 * np.linalg.norm(best)
    assert found.quotient <= -2 * least + 2 * slack and -2 * least <= found.quotient_max + 2 * slack
    assert (
        found.lam == lam and np.isclose(found.norm, np.linalg.norm(w)) and "quotient" in str(found)
    )


def test_every_flipped_sign_is_caught():
    problem = rb.RayleighProblem(
        *sample(np.random.default_rng(0)), n_components=8, manifold_weight=30.0
    )
    coef = solve(problem, 1e-3).coef
    for i in range(8):
        assert not problem.certificate(1e-3, np.where(np.arange(8) == i, -coef, coef)).is_optimal(
            1e-5
        )
    for change in (-coef, 2 * coef, 0 * coef):
        assert not problem.certificate(1e-3, change).is_optimal(1e-2)
    assert not problem.with_manifold_weight(60.0).certificate(1e-3, coef).is_optimal(1e-5)


# Refusals


@pytest.mark.parametrize(
    "y, options, match",
    [
        (
            [1, -1, 1, -1],
            {},
            (
                "y holds -1 and 1 only, where -1 can mean a worse item or an unlabelled one. "
                "Pass unlabelled=False"
            ),
        ),
        (
            [1, -1, 1, -1],
            dict(unlabelled=-1),
            "2 labelled items of the better class and 0 of the worse",
        ),
        ([0, 1, 0, 0], {}, "1 labelled items of the better class and 3 of the worse"),
        ([0, 0, 0, 0], {}, "0 labelled items of the better class"),
        ([1, 1, 1, 1], {}, "0 of the worse"),
        ([-1, -1, -1, -1], {}, "0 labelled items of the better"),
        ([0, 0, -1, -1], {}, "0 labelled items of the better"),
        ([np.nan] * 4, {}, "0 labelled items"),
        ([0, 1, -1, np.nan], {}, "y has -1 at index 2"),
        ([0, 0, 1, 2], {}, "y has 2 at index 3"),
        ([0, 0, 1, np.inf], {}, "y has inf at index 3"),
        ([0, 0, 1, 1, -1], dict(unlabelled=False), "y has -1 at index 4"),
        ([-1, 0, 1, 0], dict(unlabelled=False), "y has -1 at index 0"),
        ([0, 0, 1, np.nan], dict(unlabelled=-1), "y has NaN at index 3, and unlabelled is -1"),
        ([0, 0, 1, np.nan], dict(unlabelled=False), "y has NaN at index 3"),
        ([0, 0, 1, 1], dict(unlabelled=True), "unlabelled is True"),
        ([0, 0, 1, 1], dict(unlabelled="none"), "unlabelled is 'none'"),
        ([[0, 0, 1, 1]], {}, "y has shape \\(1, 4\\)"),
    ],
)
def test_labels_that_are_refused(y, options, match):
    with pytest.raises(ValueError, match=match):
        check_labels(y, np.size(y), **options)


@pytest.mark.parametrize("y", [["a", "b"], [None, 1], [1j, 0]])
def test_labels_that_are_no_numbers(y):
    with pytest.raises(TypeError, match="y has dtype"):
        check_labels(y, 2)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.sampled_from([-1.0, 0.0, 1.0, np.nan]), min_size=1, max_size=12),
    st.sampled_from([None, False, -1, 0, 1, np.nan]),
    st.booleans(),
)
def test_labels_are_read_right_or_not_at_all(y, unlabelled, separate):
    """Whatever comes, nothing is read two ways.

    1 is the better class, one other value the worse, one other is unlabelled.
    """
    y = np.array(y)
    try:
        signs = check_labels(y, y.size, unlabelled, separate)
    except ValueError:
        return
    assert (
        (y[signs == 1] == 1).all()
        and len(set(y[signs == -1])) == 1
        and set(y[signs == -1]) <= {-1.0, 0.0}
    )
    marks = y[signs == 0]
    assert len(np.unique(marks)) <= 1 and not set(marks) & set(y[signs != 0])
    assert min((signs == 1).sum(), (signs == -1).sum()) >= 2
    if unlabelled is not None:
        assert (np.isnan(marks) == np.isnan(float(unlabelled))).all() and (
            unlabelled is not False or marks.size == 0
        )


@pytest.mark.parametrize(
    "options, match",
    [
        (dict(n_components=0), "n_components is 0"),
        (dict(n_neighbors=6), "n_neighbors is 6. Pass an integer from 1 to 5"),
        (dict(n_neighbors=0), "n_neighbors is 0"),
        (dict(manifold_weight=-1), "manifold_weight is -1"),
        (dict(manifold_weight=np.nan), "manifold_weight is nan"),
        (dict(gamma=0), "gamma is 0"),
        (dict(metric="euclidian"), "metric"),
        (dict(pivots="gready"), "did you mean 'greedy'"),
        (dict(kernel="rfb"), "did you mean 'rbf'"),
        (dict(X_unlabelled=np.eye(5)), "X_unlabelled has 5 columns and X has 6"),
        (dict(X_unlabelled=np.full((1, 6), np.nan)), "X_unlabelled has NaN in row 0, column 0"),
        (
            dict(kernel="precomputed", X_unlabelled=np.eye(6)),
            "X_unlabelled is given and kernel is 'precomputed'",
        ),
        (dict(kernel="precomputed", X=np.ones((6, 2))), "square Gram matrix"),
        (
            dict(kernel="precomputed", metric="cosine"),
            "kernel is 'precomputed'. Pass metric='euclidean'",
        ),
        (dict(X=np.where(np.eye(6) == 1, np.nan, 0)), "X has NaN in row 0, column 0"),
        (dict(y=[0, 1]), r"y has shape \(2,\). Pass an array of shape \(6,\)"),
    ],
)
def test_refusals(options, match):
    with pytest.raises(ValueError, match=match):
        quiet(**{**dict(X=np.eye(6), y=[0, 1] * 3), **options})


def test_other_solvers_say_no():
    problem = rb.RayleighProblem(*sample(np.random.default_rng(0)))
    for solver in ("path", "rls"):
        with pytest.raises(ValueError, match="not RayleighProblem"):
            rb.solve_path(problem, solver=solver)
    with pytest.raises(ValueError, match="not RankRLSProblem"):
        solve(rb.RankRLSProblem(np.eye(3), [0.0, 1, 2]), 1.0)
    with pytest.raises(ValueError, match="lam is -1"):
        solve(problem, -1)


def test_arrays_may_be_read_only_or_not_contiguous():
    X, y = sample(np.random.default_rng(0), d=6)
    part, labels = X[::2, ::2], y[::2]
    expected = solve(rb.RayleighProblem(part.copy(), labels.copy()), 0.1).coef
    part.flags.writeable = labels.flags.writeable = False
    before = part.copy()
    for options in ({}, LINE):
        solve(rb.RayleighProblem(part, labels, **options), 0.1)
    assert (solve(rb.RayleighProblem(part, labels), 0.1).coef == expected).all() and (
        part == before
    ).all()
    own = np.ascontiguousarray(part)
    rb.RayleighProblem(own, labels, **LINE)
    assert (own == before).all()


@pytest.mark.parametrize(
    "options",
    [
        dict(kernel="linear", n_components=None),
        dict(n_components=10),
        dict(n_components=10, pivots="random"),
    ],
)
def test_memory_grows_with_the_items_not_with_their_pairs(options):
    n, d = 20_000, 5
    rng = np.random.default_rng(0)
    X, y = sample(rng, n, d)
    tracemalloc.start()
    answer = solve(rb.RayleighProblem(X, y, **options), 0.1)
    answer.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert answer.certificate.is_optimal(1e-12) and peak < 8 * n * 200 < 8 * n * n / 90
