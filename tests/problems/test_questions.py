"""Pairs to ask about: the same as by looking at all of them, on whatever items."""

import numpy as np
import pytest
from corpus import degenerate
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import rankbook as rb
from rankbook.problems.certificate import Solution
from rankbook.problems.svm import MulticlassSVMProblem

CORPUS = degenerate(np.random.default_rng(3))
KERNELS = ("linear", "rbf", "poly", "precomputed")


def gram(X, kernel):
    """K of items, from first principles and measured from their mean."""
    X = X - X.mean(axis=0) if kernel in ("linear", "rbf") else X
    if kernel == "rbf":
        return np.exp(-cdist(X, X, "sqeuclidean") / X.shape[1])
    return X @ X.T if kernel in ("linear", "precomputed") else (X @ X.T / X.shape[1] + 1) ** 3


def every_pair(f, K, known, query):
    """All pairs {(i, j): radius} that may be asked about, by the definition."""
    found = {}
    tiny = 1e-13 * np.abs(f).max(initial=0)
    for i in range(len(f)):
        for j in range(i + 1, len(f)):
            square, size = K[i, i] + K[j, j] - 2 * K[i, j], K[i, i] + K[j, j]
            if query[i] != query[j] or (i, j) in known or square <= 1e-13 * size:
                continue
            gap = abs(f[i] - f[j])
            found[i, j] = 0.0 if gap <= tiny else gap / np.sqrt(square)
    return found


def check(pairs, k, f, allowed):
    """Whether `pairs` are the k of least radius, the item of the higher score first."""
    keys = [(min(p), max(p)) for p in pairs.tolist()]
    assert len(set(keys)) == len(keys) == min(k, len(allowed))
    radii = np.array([allowed[key] for key in keys])
    least = np.sort(list(allowed.values()))[:k]
    assert np.allclose(radii, least, rtol=1e-5, atol=1e-9 * (1 + np.abs(f).max()))
    assert (f[pairs[:, 0]] >= f[pairs[:, 1]] - 1e-12 * np.abs(f).max(initial=0)).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", CORPUS)
def test_the_least_radii_of_all_pairs(name, kernel):
    if name == "far" and kernel in ("poly", "precomputed"):
        pytest.skip("the reference has no digits left there")
    X, rng = CORPUS[name], np.random.default_rng(0)
    K = gram(X, kernel)
    better, worse = rng.permutation(24)[:20].reshape(2, 10)
    prefs = rb.Preferences(better, worse, 24)
    items = K if kernel == "precomputed" else X
    problem = rb.RankSVMProblem(items, prefs, kernel=kernel)
    known = {(min(p), max(p)) for p in zip(better.tolist(), worse.tolist())}
    for dual in (np.ones(10), rng.uniform(size=10), np.zeros(10)):
        solution = Solution(problem, 1.0, dual=dual)
        f = problem.scores(solution.position)
        for qid in (None, np.arange(24) % 3, np.arange(24)):
            query = np.zeros(24) if qid is None else qid
            for k in (1, 7, 1000):
                allowed = every_pair(f, K, known, query)
                check(rb.suggest_pairs(solution, k, qid), k, f, allowed)
    left_out = rb.suggest_pairs(solution, 5)
    allowed = every_pair(f, K, known | {tuple(sorted(p)) for p in left_out.tolist()}, query * 0)
    check(rb.suggest_pairs(solution, 9, exclude=left_out), 9, f, allowed)


@pytest.mark.parametrize("graph", ["full", "star"])
def test_scores_that_differ_are_known_and_their_queries_too(graph):
    rng = np.random.default_rng(1)
    X, y, qid = rng.normal(size=(30, 3)), rng.integers(0, 3, 30), rng.integers(0, 4, 30)
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid, graph))
    solution = rb.solve(problem, 1.0)
    pairs = rb.suggest_pairs(solution, 1000)
    assert (qid[pairs[:, 0]] == qid[pairs[:, 1]]).all() and (y[pairs[:, 0]] == y[pairs[:, 1]]).all()
    f, K = problem.scores(solution.position), gram(X, "rbf")
    known = {(i, j) for i in range(30) for j in range(i, 30) if qid[i] == qid[j] and y[i] != y[j]}
    check(pairs, 1000, f, every_pair(f, K, known, qid))
    across = rb.suggest_pairs(solution, 1000, qid=np.zeros(30))
    check(across, 1000, f, every_pair(f, K, known, np.zeros(30)))
    assert (qid[across[:, 0]] != qid[across[:, 1]]).any()


def test_pairs_that_the_certificate_leaves_open_come_first():
    rng = np.random.default_rng(2)
    problem = rb.RankSVMProblem(rng.normal(size=(40, 3)), rb.Preferences([0, 1], [2, 3], 40))
    dual = rb.solve(problem, 0.1).dual
    for factor in (0.9, 1 - 1e-5, 1 - 1e-8, 1.0):
        solution = Solution(problem, 0.1, dual=np.minimum(1, factor * dual))
        pairs = rb.suggest_pairs(solution, 1000)
        proven = solution.proven(*pairs.T)
        assert (np.diff(proven.astype(int)) >= 0).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_new_items_are_compared_as_if_they_were_in_training(kernel):
    rng = np.random.default_rng(4)
    X, prefs = rng.normal(size=(20, 3)), rb.Preferences([0, 1, 2], [3, 4, 5], 20)
    solution = rb.solve(rb.RankSVMProblem(X, prefs, kernel=kernel), 0.5)
    for X_new in (rng.normal(size=(25, 3)), np.repeat(rng.normal(size=(9, 3)), 2, axis=0)):
        f = solution.predict(X_new)
        query = np.arange(len(X_new)) % 2
        allowed = every_pair(f, gram(X_new, kernel), set(), query)
        check(rb.suggest_pairs(solution, 8, query, X_new), 8, f, allowed)
    assert rb.suggest_pairs(solution, 3, X_new=X[:1]).shape == (0, 2)


def test_rows_however_they_are_kept():
    rng = np.random.default_rng(5)
    X = np.where(rng.random((30, 6)) < 0.5, 0.0, rng.integers(-3, 4, (30, 6)))
    prefs = rb.Preferences.from_scores(np.arange(30) // 15)
    expected = None
    for items in (X, csr_array(X), X.astype(np.float32)):
        problem = rb.RankSVMProblem(items, prefs, kernel="linear")
        solution = Solution(problem, 1.0, weights=np.array([1.0, 2.0, 0.5, -1.0, 3.0, 0.25]))
        pairs = [rb.suggest_pairs(solution, 6), rb.suggest_pairs(solution, 6, X_new=items)]
        radii = [np.abs(X[p[:, 0]] - X[p[:, 1]]).sum(axis=1) > 0 for p in pairs]
        assert all(r.all() for r in radii)
        expected = pairs if expected is None else expected
        for a, b in zip(pairs, expected):
            gap = [np.abs((X[p[:, 0]] - X[p[:, 1]]) @ solution.weights) for p in (a, b)]
            assert np.allclose(*gap, atol=1e-6)


def test_least_squares_of_preferences_the_l1_penalty_and_a_narrow_kernel():
    rng = np.random.default_rng(6)
    X, prefs = rng.normal(size=(20, 3)), rb.Preferences([0, 1, 2], [3, 4, 5], 20)
    known = {(0, 3), (1, 4), (2, 5)}
    basis = np.arange(4)
    for problem, K in (
        (rb.RankRLSProblem(X, graph=prefs), gram(X, "rbf")),
        (rb.RankRLSProblem(X, graph=prefs, basis=basis), gram(X, "rbf")),
        (rb.RankSVMProblem(X, prefs, kernel="linear", penalty="l1"), gram(X, "linear")),
        (rb.RankSVMProblem(X, prefs, loss="squared"), gram(X, "rbf")),
    ):
        solution = rb.solve(
            problem,
            0.1,
        )
        f = solution.predict(X)
        check(rb.suggest_pairs(solution, 8), 8, f, every_pair(f, K, known, np.zeros(20)))
    K = gram(X, "rbf")
    narrow = rb.RankRLSProblem(K[:, basis], graph=prefs, kernel="precomputed", basis=basis)
    solution = rb.solve(narrow, 0.1)
    projected = K[:, basis] @ np.linalg.solve(K[np.ix_(basis, basis)], K[basis])
    f = solution.predict(K[:, basis])
    check(rb.suggest_pairs(solution, 8), 8, f, every_pair(f, projected, known, np.zeros(20)))


def test_the_solution_of_an_estimator():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(20, 3)), np.arange(20) // 10
    model = rb.RankSVM(kernel="linear").fit(X, y)
    pairs = rb.suggest_pairs(model.solution_, 3)
    assert (y[pairs[:, 0]] == y[pairs[:, 1]]).all()
    again = rb.suggest_pairs(model.solution_, 3, exclude=pairs[:, ::-1])
    assert not {frozenset(p) for p in pairs.tolist()} & {frozenset(p) for p in again.tolist()}


X6 = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    "options, error, text",
    [
        (dict(k=0), ValueError, "k is 0. Pass an integer >= 1"),
        (dict(k="3"), TypeError, "k is '3'"),
        (dict(k=1, qid=[0, 1]), ValueError, r"qid has shape \(2,\). Pass an array of shape \(6,\)"),
        (dict(k=1, exclude=[0, 1]), ValueError, r"exclude has shape \(2,\). Pass pairs"),
        (
            dict(k=1, exclude=[[0, 6]]),
            ValueError,
            "exclude has 6 at index 1. Pass item numbers from 0 to 5",
        ),
        (dict(k=1, exclude=[[0.0, 1.0]]), TypeError, "exclude has dtype float64"),
        (dict(k=1, X_new=np.zeros((3, 5))), ValueError, "X_new has"),
    ],
)
def test_errors_name_the_argument(options, error, text):
    one = rb.solve(rb.RankSVMProblem(X6, rb.Preferences([0], [1], 6)), 1.0)
    with pytest.raises(error, match=text):
        rb.suggest_pairs(one, **options)


def test_what_cannot_be_asked_about():
    scores = rb.solve(rb.RankRLSProblem(X6, np.arange(6.0)), 1.0)
    with pytest.raises(ValueError, match="X_new is None, and a RankRLSProblem without preferences"):
        rb.suggest_pairs(scores, 1)
    assert rb.suggest_pairs(scores, 1, X_new=X6).shape == (1, 2)
    given = rb.RankSVMProblem(np.eye(6), rb.Preferences([0], [1], 6), kernel="precomputed")
    with pytest.raises(ValueError, match="X_new is given and kernel is 'precomputed'"):
        rb.suggest_pairs(rb.solve(given, 1.0), 1, X_new=np.eye(6))
    classes = rb.solve(MulticlassSVMProblem(X6, [0, 1, 2, 0, 1, 2]), 1.0)
    with pytest.raises(ValueError, match="solution gives each item 3 scores"):
        rb.suggest_pairs(classes, 1, X_new=X6)
