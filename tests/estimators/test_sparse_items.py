"""Sparse items in every linear estimator: no dense copy, and the answer to dense items."""

import tracemalloc
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import rankbook as rb
from rankbook.kernels.basis import choose_basis
from rankbook.kernels.items import products

N, D = 120, 40
RNG = np.random.default_rng(0)
DENSE = np.round(RNG.normal(size=(N, D)) * (RNG.random((N, D)) < 0.15), 2)
DENSE[:, 7] = DENSE[5] = 0.0  # an empty column and an empty row
QID = np.repeat(np.arange(12), 10)
Y = np.digitize(DENSE[:, :5].sum(axis=1) + 0.3 * RNG.normal(size=N), [-0.5, 0, 0.5])


def unsorted(X):
    """CSR with explicit zeros, and columns in falling order."""
    A = sparse.csr_matrix(X + 3.0 * (X == 0) * (np.arange(X.size).reshape(X.shape) % 50 == 0))
    A.data[A.data == 3.0] = 0.0
    rows = [slice(i, j) for i, j in zip(A.indptr, A.indptr[1:])]
    A.indices = np.concatenate([A.indices[row][::-1] for row in rows])
    A.data = np.concatenate([A.data[row][::-1] for row in rows])
    A.has_sorted_indices = A.has_canonical_format = False
    return A


STORES = {
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "coo": sparse.coo_array,
    "unsorted": unsorted,
    "float32": lambda X: sparse.csr_array(X.astype(np.float32)),
}
linear = dict(kernel="linear")
signs = np.r_[1, -1, 0, np.ones(D - 3)].astype(int)
ESTIMATORS = {  # and what they are fitted to besides X
    "hinge": (rb.RankSVM(lam=2.0, solver=("newton", dict(tol=1e-7)), **linear), dict(y=Y, qid=QID)),
    "default": (rb.RankSVM(**linear), dict(y=Y, qid=QID)),
    "squared": (
        rb.RankSVM(lam=2.0, loss="squared", solver=("newton", dict(tol=1e-9)), **linear),
        dict(y=Y, qid=QID),
    ),
    "logistic": (rb.RankSVM(lam=2.0, loss="logistic", **linear), dict(y=Y, qid=QID)),
    "plackett-luce": (rb.RankSVM(lam=2.0, loss="plackett-luce", **linear), dict(y=Y, qid=QID)),
    "signs": (rb.RankSVM(lam=2.0, signs=signs, solver="newton", **linear), dict(y=Y, qid=QID)),
    "subgradient": (rb.RankSVM(lam=50.0, solver="subgradient", **linear), dict(y=Y, qid=QID)),
    "l1": (rb.RankSVM(lam=20.0, penalty="l1", solver="simplex", **linear), dict(y=Y, qid=QID)),
    "l1 squared": (
        rb.RankSVM(lam=20.0, penalty="l1", loss="squared", **linear),
        dict(y=Y, qid=QID),
    ),
    "l1 signs": (rb.RankSVM(lam=20.0, penalty="l1", signs=signs, **linear), dict(y=Y, qid=QID)),
    "RankSVMCV": (rb.RankSVMCV(cv=3, **linear), dict(y=Y, qid=QID)),
    "RankSVMCV l1": (rb.RankSVMCV(cv=3, penalty="l1", **linear), dict(y=Y, qid=QID)),
    "RankRLS": (rb.RankRLS(lam=3.0, **linear), dict(y=Y, qid=QID)),
    "RankRLS one query": (rb.RankRLS(lam=3.0, **linear), dict(y=Y)),
    "RankRLS identity": (rb.RankRLS(lam=3.0, graph="identity", **linear), dict(y=Y)),
    "RankRLS columns": (rb.RankRLS(lam=3.0, **linear), dict(y=np.c_[Y, -Y], qid=QID)),
    "RankRLS preferences": (
        rb.RankRLS(lam=3.0, **linear),
        dict(preferences=rb.Preferences([0, 3, 7], [1, 9, 2], N)),
    ),
    "RankRLS basis": (rb.RankRLS(lam=3.0, basis=np.arange(0, N, 4), **linear), dict(y=Y, qid=QID)),
    "RankRLS l1": (rb.RankRLS(lam=50.0, penalty="l1", **linear), dict(y=Y, qid=QID)),
    "RankRLSCV": (rb.RankRLSCV(lams=[0.1, 1.0, 10.0], cv="query", **linear), dict(y=Y, qid=QID)),
    "RankRLSCV loo": (rb.RankRLSCV(lams=[0.1, 1.0, 10.0], cv="loo", **linear), dict(y=Y)),
    "OnlineRankSVM": (rb.OnlineRankSVM(lam=1e-2), dict(y=Y, qid=QID)),
    "OnlineSVC": (rb.OnlineSVC(lam=1e-2), dict(y=Y)),
    "OnlineSVC two": (rb.OnlineSVC(lam=1e-2), dict(y=Y > 1)),
    "OrdinalRanker": (rb.OrdinalRanker(rb.RankSVM(lam=2.0, **linear)), dict(y=Y)),
    "LabelRanker": (rb.LabelRanker(lam=2.0, **linear), dict(y=np.c_[Y, -Y, Y % 2])),
}


@contextmanager
def never_dense(*shapes):
    """An AssertionError if a sparse matrix of one of these shapes is written out."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
            whole = kind.toarray

            def toarray(self, *args, whole=whole, **options):
                assert self.shape not in shapes and self.shape[::-1] not in shapes
                return whole(self, *args, **options)

            patch.setattr(kind, "toarray", toarray)
        yield


def fitted(name, X):
    model, given = ESTIMATORS[name]
    return clone(model).fit(X, **given)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_sparse_items_give_the_answer_to_dense_ones(name, store):
    if store not in ("csr_array", "float32") and name not in ("hinge", "l1", "RankRLS"):
        pytest.skip("one estimator of each kind for other storages")
    X = STORES[store](DENSE)
    before = X.data.copy()
    dense = DENSE.astype(X.dtype).astype(float)
    found = fitted(name, X)
    predicted = np.asarray(found.predict(X), dtype=float)
    expected = np.asarray(fitted(name, dense).predict(dense), dtype=float)
    scale = np.ptp(expected)
    assert scale > 0
    # the path of sparse items is approximate, and lambda is chosen on it
    tol = 0.05 if name == "RankSVMCV" else 2e-4
    assert np.abs(predicted - expected).max() <= tol * scale
    assert np.array_equal(before, X.data)
    certificate = getattr(found, "certificate_", None)
    if certificate is not None and name != "subgradient":
        assert certificate.relative_gap <= 1e-4
    if store == "float32" and (solution := getattr(found, "solution_", None)) is not None:
        assert solution.problem.X.dtype == np.float32 or name == "LabelRanker"


@pytest.mark.parametrize("kind", [int, bool, np.uint8])
def test_whole_numbers(kind):
    X = (DENSE > 0).astype(kind)
    for name in ("hinge", "RankRLS", "OnlineRankSVM"):
        one, other = (fitted(name, A).predict(A) for A in (sparse.csr_array(X), X))
        assert np.allclose(one, other, atol=1e-5 * np.ptp(other))


PATHS = {
    "newton": (partial(rb.RankSVMProblem, loss="squared"), "newton"),
    "simplex": (partial(rb.RankSVMProblem, penalty="l1"), "simplex"),
    "homotopy": (partial(rb.RankSVMProblem, penalty="l1", loss="squared"), "homotopy"),
    "least squares": (lambda X, prefs, kernel: rb.RankRLSProblem(X, Y, QID, kernel=kernel), "rls"),
}


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("columns", [D, 400])
def test_paths_and_validation_curves(name, columns):
    make, solver = PATHS[name]
    X = sparse.csr_array(np.hstack([DENSE] * (columns // D)))
    prefs = rb.Preferences.from_scores(Y, QID)
    curves = []
    for A in (X, X.toarray()):
        problem = make(A, prefs, kernel="linear")
        lam_min = None if solver == "rls" else problem.lam_max / 50 if solver != "newton" else 1.0
        path = rb.solve_path(problem, lam_min, solver=solver)
        curves.append(rb.validation_curve(path, A, prefs))
    one, other = curves
    lams = np.logspace(0.1, 1.5, 20) * (lam_min or 1.0)
    assert np.allclose(one.at(lams), other.at(lams), atol=2e-2)


def streamed(model, X):
    return model.fit(iter([(X[:60], Y[:60], QID[:60]), (X[60:], Y[60:], QID[60:])]))


def grown(model, X):
    model.fit(X[:60], Y[:60], qid=QID[:60])
    return model.partial_fit(X[60:], Y[60:], qid=QID[60:])


def of_blocks(model, X):
    blocks = [rb.Block(X[i : i + 40], Y[i : i + 40], QID[i : i + 40]) for i in (0, 40, 80)]
    return model.fit(rb.Blocks(blocks))


ways = dict(streamed=streamed, grown=grown, of_blocks=of_blocks)


@pytest.mark.parametrize("way", ways)
@pytest.mark.parametrize("basis", [None, 20, DENSE[:20]], ids=["no basis", "number", "items"])
@pytest.mark.parametrize("kind", [float, np.float32])
def test_rankrls_by_parts(way, basis, kind):
    one, other = (
        ways[way](rb.RankRLS(lam=3.0, basis=basis, **linear), A).predict(A)
        for A in (sparse.csr_array(DENSE.astype(kind)), DENSE.astype(kind).astype(float))
    )
    assert np.abs(one - other).max() <= 1e-9 * np.ptp(other)


def test_rankrls_by_counted_preferences_in_parts():
    prefs = rb.Preferences.from_scores(Y, QID)
    one, other = (
        rb.RankRLS(lam=3.0, **linear).partial_fit(A, prefs).predict(A)
        for A in (sparse.csr_array(DENSE), DENSE)
    )
    assert np.abs(one - other).max() <= 1e-9 * np.ptp(other)


def test_products_of_sparse_items():
    A = sparse.csr_array(DENSE)
    assert np.allclose(products(A, A[:5]), DENSE @ DENSE[:5].T, rtol=1e-12)


@pytest.mark.parametrize("basis", [[0, 2, 4], list(range(9)), [0, 1, 2, 4]])
def test_dependent_items_of_a_basis(basis):
    """Item 4 is a copy of item 2, and 9 items have 6 features that are not 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 7)) * (rng.random((12, 7)) < 0.6)
    X[:, 3], X[4], y = 0.0, X[2], rng.normal(size=12)
    one, other = (
        rb.RankRLSProblem(A, y, kernel="linear", basis=basis) for A in (sparse.csr_array(X), X)
    )
    assert np.array_equal(one.outside, other.outside)
    found, expected = rb.solve(one, 0.1), rb.solve(other, 0.1)
    assert np.allclose(found.predict(X), expected.predict(X), atol=1e-9)
    assert found.certificate.primal == pytest.approx(expected.certificate.primal)


@pytest.mark.parametrize("method", ["random", "rpcholesky"])
def test_choice_of_a_basis(method):
    chosen = [choose_basis(A, 9, method, "linear") for A in (sparse.csr_array(DENSE), DENSE)]
    assert np.array_equal(*chosen)
    with pytest.raises(TypeError, match="X is a sparse matrix"):
        choose_basis(sparse.csr_array(DENSE), 9, "kmeans++", "linear")


def test_parts_of_a_million_features_are_refused_before_they_are_read():
    X = sparse.csr_array((4, 10_000_000))
    with pytest.raises(MemoryError, match="10,000,000 features needs.*Fit to all sparse items"):
        rb.RankRLS(**linear).partial_fit(X, [0, 1, 2, 3])


def test_pipelines_of_texts():
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    texts = ["a good book", "a bad book", "good", "bad film", "a film"]
    model = make_pipeline(TfidfVectorizer(), rb.RankSVM(**linear)).fit(texts, [2, 0, 2, 0, 1])
    found = rb.explain_pair(model, ["good film"], ["bad film"])
    assert found.difference == pytest.approx(np.subtract(*model.predict(["good film", "bad film"])))
    assert found.rows(1)[0][0] in ("good", "bad") and "good" in found.names
    with pytest.raises(ValueError, match="a has 2 rows"):
        rb.explain_pair(model, ["good", "film"], ["bad"])


def wide(n, d, nonzeros, seed=0):
    """Items with so many nonzeros, grades, and queries of 20."""
    rng = np.random.default_rng(seed)
    parts = rng.normal(size=n * nonzeros), rng.integers(0, d, n * nonzeros)
    X = sparse.csr_array((*parts, np.arange(0, n * nonzeros + 1, nonzeros)), shape=(n, d))
    y = np.digitize(X @ rng.normal(size=d) + rng.normal(size=n), [-5, 0, 5])
    return X, y, np.arange(n) // 20


WIDE = {
    "hinge": rb.RankSVM(lam=20.0, **linear),
    "squared": rb.RankSVM(lam=20.0, loss="squared", solver="newton", **linear),
    "logistic": rb.RankSVM(lam=20.0, loss="logistic", **linear),
    "signs": rb.RankSVM(lam=20.0, signs=np.ones(5000), loss="squared", **linear),
    "simplex": rb.RankSVM(lam=50.0, penalty="l1", **linear),
    "homotopy": rb.RankSVM(lam=100.0, penalty="l1", loss="squared", **linear),
    "RankSVMCV": rb.RankSVMCV(cv=2, loss="squared", solver="newton", lam_min_ratio=0.1, **linear),
    "RankRLS": rb.RankRLS(lam=10.0, **linear),
    "RankRLS l1": rb.RankRLS(lam=200.0, penalty="l1", **linear),
    "RankRLSCV": rb.RankRLSCV(lams=[1.0, 100.0], cv="query", **linear),
    "OnlineRankSVM": rb.OnlineRankSVM(lam=0.01, max_updates=50_000),
}


@pytest.mark.filterwarnings("ignore:not converged")
@pytest.mark.parametrize("name", WIDE)
def test_wide_items_are_never_written_out(name, monkeypatch):
    X, y, qid = wide(300, 5000, 30)
    monkeypatch.setattr("rankbook.solvers.newton.steps.BLOCK", 1_000_000)  # entries of a block
    with never_dense(X.shape):
        model = clone(WIDE[name]).fit(X, y, qid=qid)
        scores = model.predict(X)
    expected = clone(WIDE[name]).fit(X.toarray(), y, qid=qid).predict(X.toarray())
    assert np.abs(scores - expected).max() <= 2e-3 * np.ptp(expected)
    assert getattr(model, "lam_", 1.0) > 0


BIG = {
    "RankSVM": rb.RankSVM(lam=1000.0, loss="squared", solver=("newton", dict(tol=1e-3)), **linear),
    "RankRLS": rb.RankRLS(lam=300.0, **linear),
    "OnlineRankSVM": rb.OnlineRankSVM(max_updates=20_000),
}


@pytest.mark.filterwarnings("ignore:not converged")
@pytest.mark.parametrize("name", BIG)
@pytest.mark.parametrize(
    "shape",
    [(3000, 20_000), pytest.param((100_000, 1_000_000), marks=pytest.mark.slow)],
    ids=["20,000 features", "1,000,000 features"],
)
def test_memory_of_wide_items(name, shape):
    clone(BIG[name]).fit(*wide(200, 50, 5)[:2])  # compiles
    X, y, qid = wide(*shape, 30)
    tracemalloc.start()
    try:
        model = clone(BIG[name]).fit(X, y, qid=qid)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * np.prod(shape) / 2  # half of what the items would take
    assert model.score(X, y, qid=qid) > 0.6
