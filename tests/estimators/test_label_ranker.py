"""Labels with features: new labels and sparse tables against the kernel of all pairs, and scores
that are computed by hand from the coefficients.
"""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook.base import limits
from rankbook.kernels import Kernel
from rankbook.problems.label_ranking import LabelRankSVMProblem

N, K, NEW, Q = 9, 6, 5, 4


def similar(A, B):
    return 1.0 / (1.0 + ((A[:, None] - B) ** 2).sum(axis=2))  # the Cauchy kernel


# a label kernel, and the kernel written out
LABEL_KERNELS = {
    "rbf": ("rbf", lambda A, B: np.exp(-((A[:, None] - B) ** 2).sum(axis=2) / A.shape[1])),
    "gamma": (
        Kernel("rbf", gamma=2.0),
        lambda A, B: np.exp(-2.0 * ((A[:, None] - B) ** 2).sum(axis=2)),
    ),
    "linear": ("linear", lambda A, B: A @ B.T),
    "poly": (Kernel("poly", gamma=1.0, degree=2), lambda A, B: (1 + A @ B.T) ** 2),
    "callable": (similar, similar),
}
KERNELS = {
    "rbf": lambda A, B: np.exp(-((A[:, None] - B) ** 2).sum(axis=2) / A.shape[1]),
    "linear": lambda A, B: A @ B.T,
}
TABLES = ("complete", "gaps", "ties", "copies of labels", "grid", "equal features")


def data(table="complete", seed=0):
    """Objects, scores and features of labels, then new objects and new labels."""
    rng = np.random.default_rng(seed)
    X, Y, L = rng.normal(size=(N, 3)), rng.normal(size=(N, K)), rng.normal(size=(K, 2))
    X_new, L_new = rng.normal(size=(NEW, 3)), rng.normal(size=(Q, 2))
    if table == "gaps":
        Y[rng.random(Y.shape) < 0.4] = np.nan
    if table == "ties":
        Y = rng.integers(0, 2, Y.shape).astype(float)
    if table == "copies of labels":
        L[3:] = L[:3]
    if table == "grid":
        X, L, X_new, L_new = (np.round(A) for A in (X, L, X_new, L_new))
    if table == "equal features":
        L[:] = L[0]
    return X, Y, L, X_new, L_new


def centred(F):
    return F - F.mean(axis=1, keepdims=True)


def by_all_pairs(method, k, label_k, tables, weight=None, lam=0.5):
    """Scores (p, q) of the ranker on all pairs, whose Gram matrix is the product."""
    X, Y, L, X_new, L_new = tables
    i, a = np.nonzero(~np.isnan(Y) & ((~np.isnan(Y)).sum(axis=1, keepdims=True) > 1))
    G = k(X, X)[np.ix_(i, i)] * label_k(L, L)[np.ix_(a, a)]
    if method == "rankrls":
        model = rb.RankRLS(lam=lam, kernel="precomputed")
    else:
        model = rb.RankSVM(lam=lam, kernel="precomputed", solver="interior")
    weight = None if weight is None else np.sqrt(weight)[i]  # a pair weighs the product
    model.fit(G, Y[i, a], qid=i, sample_weight=weight)
    cross = k(X_new, X)[:, None, i] * label_k(L_new, L)[None][:, :, a]
    p, q = len(X_new), len(L_new)
    return model.predict(cross.reshape(p * q, -1)).reshape(p, q)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("label_kernel", LABEL_KERNELS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_rankrls_is_the_ranker_with_the_joint_kernel(kernel, label_kernel, table):
    X, Y, L, X_new, L_new = data(table)
    given, label_k = LABEL_KERNELS[label_kernel]
    model = rb.LabelRanker(0.5, kernel=kernel, label_kernel=given).fit(X, Y, labels=L)
    assert model.certificate_.relative_gap < 1e-9
    for labels in (L_new, L, np.vstack([L[:1], L_new])):
        found = model.predict(X_new, labels=labels)
        known = by_all_pairs("rankrls", KERNELS[kernel], label_k, (X, Y, L, X_new, labels))
        assert np.abs(centred(found) - centred(known)).max() < 1e-10 * max(1, np.abs(known).max())
    assert np.allclose(model.predict(X_new, labels=L), model.predict(X_new), rtol=0, atol=1e-12)


@pytest.mark.parametrize("table", TABLES[:5])
@pytest.mark.parametrize("label_kernel", LABEL_KERNELS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_ranksvm_is_the_ranker_with_the_joint_kernel(kernel, label_kernel, table):
    X, Y, L, X_new, L_new = data(table)
    given, label_k = LABEL_KERNELS[label_kernel]
    options = dict(method="ranksvm", kernel=kernel, label_kernel=given, solver="interior")
    model = rb.LabelRanker(0.5, **options).fit(X, Y, labels=L)
    assert model.certificate_.relative_gap < 1e-6
    found = model.predict(X_new, labels=L_new)
    known = by_all_pairs("ranksvm", KERNELS[kernel], label_k, (X, Y, L, X_new, L_new))
    assert np.abs(centred(found) - centred(known)).max() < 1e-6 * max(1, np.abs(known).max())
    again = model.predict(X_new, labels=L)
    assert np.allclose(again, model.predict(X_new), rtol=0, atol=1e-9 * np.abs(again).max())


@pytest.mark.parametrize("method", ["rankrls", "ranksvm"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_weights_of_objects_count_for_new_labels(kernel, method):
    X, Y, L, X_new, L_new = tables = data("gaps")
    weight = np.array([0.0, 1, 2, 3, 0.5, 1, 1, 0, 2])
    model = rb.LabelRanker(0.5, method, kernel=kernel, label_kernel="rbf")
    model.fit(X, Y, sample_weight=weight, labels=L)
    known = by_all_pairs(method, KERNELS[kernel], LABEL_KERNELS["rbf"][1], tables, weight)
    found = model.predict(X_new, labels=L_new)
    tol = 1e-10 if method == "rankrls" else 1e-5
    assert np.abs(centred(found) - centred(known)).max() < tol * np.abs(known).max()


@pytest.mark.parametrize("method", ["rankrls", "ranksvm"])
@pytest.mark.parametrize("labels", [False, True])
def test_weights_below_1_are_a_larger_lambda(labels, method):
    """If all weights are 1/4, lambda is four times as large, in a fit and for the score."""
    X, Y, L, X_new, _ = data("gaps")
    options, more = (dict(label_kernel="rbf"), dict(labels=L)) if labels else ({}, {})
    solver = "qp" if method == "ranksvm" else "auto"
    few = rb.LabelRanker(0.5, method, solver=solver, **options)
    few.fit(X, Y, sample_weight=np.full(N, 0.25), **more)
    known = rb.LabelRanker(2.0, method, solver=solver, **options).fit(X, Y, **more)
    found, expected = few.predict(X_new), known.predict(X_new)
    assert np.allclose(centred(found), centred(expected), atol=1e-5 * np.abs(expected).max())
    score = few.score(X, Y, sample_weight=np.full(N, 0.25))
    assert score == pytest.approx(few.score(X, Y), rel=1e-12)


@pytest.mark.parametrize("method", ["rankrls", "ranksvm"])
def test_scores_of_new_labels_by_hand(method):
    X, Y, L, X_new, L_new = data("gaps")
    k, label_k = KERNELS["rbf"], LABEL_KERNELS["rbf"][1]
    model = rb.LabelRanker(0.5, method, label_kernel="rbf").fit(X, Y, labels=L)
    hand = k(X_new, X[model.support_]) @ model.pair_coef_ @ label_k(L, L_new)
    assert np.allclose(model.predict(X_new, labels=L_new), hand, rtol=0, atol=1e-12)
    assert np.allclose(model.pair_coef_ @ label_k(L, L), model.dual_coef_, rtol=0, atol=1e-12)
    linear = rb.LabelRanker(0.5, method, kernel="linear", label_kernel="rbf").fit(X, Y, labels=L)
    hand = X_new @ linear.pair_coef_ @ label_k(L, L_new)
    assert np.allclose(linear.predict(X_new, labels=L_new), hand, rtol=0, atol=1e-10)
    assert np.allclose(linear.pair_coef_ @ label_k(L, L), linear.coef_, rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", ["rankrls", "ranksvm"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_matrix_takes_its_cross_matrix(kernel, method):
    X, Y, L, X_new, L_new = data()
    label_k = LABEL_KERNELS["rbf"][1]
    options = dict(method=method, kernel=kernel)
    one = rb.LabelRanker(0.5, label_kernel="rbf", **options).fit(X, Y, labels=L)
    two = rb.LabelRanker(0.5, label_kernel=label_k(L, L), **options).fit(X, Y)
    found = [
        one.predict(X_new, labels=L_new),
        two.predict(X_new, labels=label_k(L_new, L)),
    ]
    assert np.allclose(*found, rtol=0, atol=1e-8)
    assert not hasattr(two, "labels_")
    assert not hasattr(rb.LabelRanker().fit(X, Y), "pair_coef_")
    before = one.predict(X_new, labels=L_new)
    one.set_params(label_kernel="linear")  # which a fit takes note of
    assert np.array_equal(one.predict(X_new, labels=L_new), before)
    assert not hasattr(one.set_params(label_kernel="identity").fit(X, Y), "labels_")


def test_a_precomputed_kernel_of_objects_goes_with_new_labels():
    X, Y, L, X_new, L_new = data()
    k = KERNELS["rbf"]
    one = rb.LabelRanker(label_kernel="rbf").fit(X, Y, labels=L)
    two = rb.LabelRanker(kernel="precomputed", label_kernel="rbf").fit(k(X, X), Y, labels=L)
    found = [one.predict(X_new, labels=L_new), two.predict(k(X_new, X), labels=L_new)]
    assert np.allclose(*found, rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", ["rankrls", "ranksvm"])
def test_all_landmarks_are_the_whole_kernel(method):
    X, Y, L, X_new, L_new = data("gaps")
    found = [
        rb.LabelRanker(0.5, method, label_kernel="rbf", approximate_kernel=p)
        .fit(X, Y, labels=L)
        .predict(X_new, labels=L_new)
        for p in (None, N)
    ]
    assert np.allclose(*map(centred, found), rtol=0, atol=1e-4 if method == "ranksvm" else 1e-8)


def sparse_table(n, d, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3)


SPARSE = {  # numbers of objects and features, and what is sparse
    "few features": (9, 4, "both"),
    "more features than objects": (9, 30, "both"),
    "objects": (9, 4, "objects"),
    "labels": (9, 4, "labels"),
}


@pytest.mark.parametrize("table", ["complete", "gaps"])
@pytest.mark.parametrize("case", SPARSE)
@pytest.mark.parametrize("method", ["rankrls", "ranksvm"])
def test_sparse_features_are_dense_ones(method, case, table):
    n, d, which = SPARSE[case]
    Y = data(table)[1]
    X, L = sparse_table(n, d, 1), sparse_table(K, 7, 2)
    X_new, L_new = sparse_table(NEW, d, 3), sparse_table(Q, 7, 4)
    X[2], L[1] = 0.0, 0.0  # empty rows
    at = csr_array if which != "labels" else np.asarray
    of = csr_array if which != "objects" else np.asarray
    options = dict(kernel="linear", label_kernel="linear")
    dense = rb.LabelRanker(0.5, method, **options).fit(X, Y, labels=L)
    model = rb.LabelRanker(0.5, method, **options).fit(at(X), Y, labels=of(L))
    assert model.certificate_.primal == pytest.approx(dense.certificate_.primal, rel=1e-6)
    assert model.certificate_.relative_gap < 1e-6
    tol = 1e-10
    if method == "ranksvm":  # what the two certificates allow
        radius = model.certificate_.radius + dense.certificate_.radius
        longest = [np.sqrt((A * A).sum(axis=1).max()) for A in (X_new, np.vstack([L, L_new]))]
        tol = radius * longest[0] * longest[1]
        assert tol < 0.1
    for labels in (None, L_new):
        known = dense.predict(X_new, labels=labels)
        given = None if labels is None else of(labels)
        assert np.allclose(model.predict(at(X_new), labels=given), known, rtol=0, atol=tol)
        assert np.allclose(model.predict(X_new, labels=labels), known, rtol=0, atol=tol)
        assert np.allclose(dense.predict(at(X_new), labels=given), known, rtol=0, atol=1e-12)
    if method == "rankrls":
        problem = model.solution_.problem
        assert np.allclose(problem.gram, dense.solution_.problem.gram, rtol=0, atol=1e-12)
        assert np.allclose(problem.diagonal, dense.solution_.problem.diagonal, rtol=1e-12)
        again = rb.solve(problem, 0.5, "rls")
        assert again.certificate.primal == pytest.approx(model.certificate_.primal, rel=1e-10)
        f = model.solution_.predict(problem.X)
        known = dense.solution_.predict(dense.solution_.problem.X)
        assert np.allclose(f - f.mean(), known - known.mean(), rtol=0, atol=1e-10)
        if problem.is_complete:
            path = rb.solve_path(problem, solver="kronecker")
            assert np.allclose(path.predict(problem.X, 0.5), f, rtol=0, atol=1e-8)
    else:
        assert isinstance(model.solution_.problem.X, csr_array) is (which != "labels")


def test_sparse_items_of_pairs_hold_no_zeros():
    X, Y = sparse_table(N, 40, 1), data()[1]
    problem = LabelRankSVMProblem(csr_array(X), Y, kernel="linear")
    assert np.count_nonzero(problem.X.data == 0) == 0 and problem.X.nnz == K * np.count_nonzero(X)
    dense = LabelRankSVMProblem(X, Y, kernel="linear")
    assert np.allclose(problem.X.toarray() + problem.offset, dense.X + dense.offset)


def test_sparse_items_that_do_not_fit_are_refused_first(monkeypatch):
    X, Y = csr_array(sparse_table(N, 40, 1)), data()[1]
    monkeypatch.setattr(limits, "available_memory", lambda: 10**4)
    with pytest.raises(MemoryError, match="products of features needs .* label kernel of lower"):
        LabelRankSVMProblem(X, Y, kernel="linear", label_kernel=np.eye(K) + 0.1)


def names(prefix, count):
    return [f"{prefix}{j}" for j in range(count)]


def test_names_of_new_labels_are_those_of_predictions(tmp_path):
    X, Y, L, X_new, L_new = data()
    table = pd.DataFrame(Y, columns=names("dish ", K))
    dishes = pd.DataFrame(L, index=table.columns, columns=["price", "salt"])
    menu = pd.DataFrame(L_new, index=names("new ", Q), columns=["price", "salt"])
    model = rb.LabelRanker(label_kernel="rbf").fit(X, table, labels=dishes)
    assert model.label_names_.tolist() == names("dish ", K)
    assert model.label_feature_names_.tolist() == ["price", "salt"]
    named = rb.LabelRanker(label_kernel="rbf").fit(X, Y, labels=dishes)
    assert named.label_names_.tolist() == names("dish ", K)  # from the features alone
    plain = model.predict(X_new, labels=L_new)
    model.set_output(predict="pandas").save(tmp_path / "m")
    for one in (model, rb.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        one.set_output(predict="pandas")
        found = one.predict(X_new, labels=menu)
        assert found.columns.tolist() == names("new ", Q) and np.array_equal(found, plain)
        assert one.predict(X_new).columns.tolist() == names("dish ", K)
        assert one.predict(X_new, labels=L_new).columns.tolist() == list(range(Q))
        assert np.array_equal(one.rank(X_new, labels=menu), np.argsort(-plain, axis=1))
    truth = pd.DataFrame(plain, columns=names("new ", Q))
    assert model.score(X_new, truth, labels=menu) == 1.0
    with pytest.raises(ValueError, match="y has 'new 3' as column 0. Pass 'new 0'"):
        model.score(X_new, truth[truth.columns[::-1]], labels=menu)
    with pytest.raises(ValueError, match="labels has 'salt' as column 0. Pass 'price'"):
        model.predict(X_new, labels=menu[["salt", "price"]])
    with pytest.raises(ValueError, match="labels has 'dish 5' as row 0. Pass 'dish 0'"):
        model.fit(X, table, labels=dishes[::-1])
    pl = pytest.importorskip("polars")
    found = model.set_output(predict="polars").predict(X_new, labels=menu)
    assert isinstance(found, pl.DataFrame) and found.columns == names("new ", Q)
    with pytest.raises(ValueError, match="labels has the name 'new 0' twice"):
        model.predict(X_new, labels=menu.iloc[[0, 1, 0]])  # one column less, in polars


def test_names_of_a_label_kernel_are_those_of_y():
    X, Y, L, X_new, _ = data()
    known, other = names("dish ", K), names("dish ", K)[::-1]
    table = pd.DataFrame(Y, columns=known)
    kernel = pd.DataFrame(L @ L.T, index=known, columns=known)
    plain = rb.LabelRanker(label_kernel=L @ L.T).fit(X, Y).predict(X_new)
    model = rb.LabelRanker(label_kernel=kernel).fit(X, table)
    assert np.array_equal(model.predict(X_new), plain)
    assert rb.LabelRanker(label_kernel=kernel).fit(X, Y).label_names_.tolist() == known
    for kernel_of_others, kind in ((kernel.loc[other, other], "row"), (kernel[other], "column")):
        with pytest.raises(ValueError, match=f"label_kernel has 'dish 5' as {kind} 0.*'dish 0'"):
            rb.LabelRanker(label_kernel=kernel_of_others).fit(X, table)
    with pytest.raises(ValueError, match="labels has 'dish 5' as column 0. Pass 'dish 0'"):
        model.predict(X_new, labels=kernel[other])
    with pytest.raises(ValueError, match="y has the name 'dish 0' twice"):
        model.fit(X, table.set_axis(["dish 0", *known[:-1]], axis=1))


def test_wrong_names_are_listed():
    X, Y, L, X_new, _ = data()
    table = pd.DataFrame(Y, columns=names("dish ", K))
    dishes = pd.DataFrame(L, index=table.columns, columns=["price", "salt"])
    model = rb.LabelRanker(label_kernel="rbf").fit(X, table, labels=dishes)
    for wrong, said in (
        (dishes[["price"]], "labels lacks the column 'salt'. Pass the columns 'price', 'salt'"),
        (dishes.assign(fat=1.0), "labels has the unknown column 'fat'. Pass the columns"),
        (dishes.set_axis(["a", "b"], axis=1), "lacks the columns .*unknown columns 'a', 'b'"),
    ):
        with pytest.raises(ValueError, match=said):
            model.predict(X_new, labels=wrong)
    menu = table.set_axis(names("new ", K), axis=1)
    with pytest.raises(ValueError, match="columns 'new 0', 'new 1', 'new 2' and 3 more.*labels="):
        model.score(X, menu)
    with pytest.raises(ValueError, match="labels lacks the row 'dish 5'. Pass the rows 'dish"):
        model.fit(X, table, labels=dishes[:-1])


def test_rows_in_another_order_are_refused():
    X, Y, _, _, _ = data()
    people = pd.DataFrame(X, index=names("person ", N))
    table = pd.DataFrame(Y, index=people.index)
    model = rb.LabelRanker().fit(people, table)
    for call in (model.fit, model.score, rb.LabelRankerCV().fit):
        with pytest.raises(ValueError, match="y has the index of X in another order.*y.loc"):
            call(people, table[::-1])
    for other in (table.reset_index(drop=True), Y):  # no names to match
        assert model.score(people, other) == model.score(people, table)


@pytest.mark.parametrize("method", ["rankrls", "ranksvm"])
@pytest.mark.parametrize("given", ["rbf", "linear", Kernel("poly", gamma=0.5, degree=2), "sparse"])
def test_files_hold_the_labels(given, method, tmp_path):
    X, Y, L, X_new, L_new = data()
    options = dict(method=method, label_kernel="linear" if given == "sparse" else given)
    for kernel in KERNELS:
        model = rb.LabelRanker(kernel=kernel, **options)
        model.fit(X, Y, labels=csr_array(L) if given == "sparse" else L).save(tmp_path / "m")
        again = rb.load(tmp_path / "m")
        assert np.array_equal(
            again.predict(X_new, labels=L_new), model.predict(X_new, labels=L_new)
        )


def test_search_and_pipelines_pass_labels_on():
    X, Y, L, X_new, L_new = data(seed=1)
    widths = [Kernel("rbf", gamma=g) for g in (0.1, 1.0)]
    search = GridSearchCV(rb.LabelRanker(), dict(label_kernel=widths, lam=[0.1, 1.0]), cv=3)
    search.fit(X, Y, labels=L)
    best = rb.LabelRanker(**search.best_params_).fit(X, Y, labels=L)
    found = search.best_estimator_.predict(X_new, labels=L_new)
    assert np.array_equal(found, best.predict(X_new, labels=L_new))
    pipeline = make_pipeline(StandardScaler(), rb.LabelRanker(label_kernel="rbf"))
    pipeline.fit(X, Y, labelranker__labels=L)
    scaler = StandardScaler().fit(X)
    plain = rb.LabelRanker(label_kernel="rbf").fit(scaler.transform(X), Y, labels=L)
    found = pipeline.predict(X_new, labels=L_new)
    assert np.array_equal(found, plain.predict(scaler.transform(X_new), labels=L_new))


def test_score_is_the_share_of_pairs_of_new_labels():
    X, Y, L, X_new, L_new = data()
    model = rb.LabelRanker(label_kernel="rbf").fit(X, Y, labels=L)
    truth, F = np.random.default_rng(5).normal(size=(NEW, Q)), model.predict(X_new, labels=L_new)
    truth[0, 0] = np.nan
    right = [
        (truth[i, a] > truth[i, b]) == (F[i, a] > F[i, b])
        for i in range(NEW)
        for a in range(Q)
        for b in range(a)
        if np.isfinite(truth[i, [a, b]]).all()
    ]
    assert model.score(X_new, truth, labels=L_new) == pytest.approx(np.mean(right))


def test_a_failed_fit_changes_nothing():
    X, Y, L, X_new, L_new = data()
    model = rb.LabelRanker(label_kernel="rbf").fit(X, Y, labels=L)
    before = model.predict(X_new, labels=L_new)
    with pytest.raises(ValueError, match="labels has 5 rows and y has 6 columns"):
        model.fit(X[:, :2], Y, labels=L[1:])
    assert np.array_equal(model.predict(X_new, labels=L_new), before)


X0, Y0, L0, X1, L1 = data()
WRONG = {
    "an unknown name": (
        lambda: rb.LabelRanker(label_kernel="rfb").fit(X0, Y0, labels=L0),
        "label_kernel is 'rfb'.*'rbf'",
    ),
    "precomputed": (
        lambda: rb.LabelRanker(label_kernel="precomputed").fit(X0, Y0, labels=L0),
        r"label_kernel is 'precomputed'. Pass the matrix \(k, k\) itself",
    ),
    "no features": (
        lambda: rb.LabelRanker(label_kernel="rbf").fit(X0, Y0),
        r"label_kernel is 'rbf' and labels is None. Pass the features \(k, p\)",
    ),
    "features and the identity": (
        lambda: rb.LabelRanker().fit(X0, Y0, labels=L0),
        "labels is given and label_kernel is 'identity'. Pass label_kernel='rbf'",
    ),
    "features and a matrix": (
        lambda: rb.LabelRanker(label_kernel=np.eye(K)).fit(X0, Y0, labels=L0),
        "labels is given and label_kernel is a matrix",
    ),
    "a missing feature": (
        lambda: rb.LabelRanker(label_kernel="rbf").fit(X0, Y0, labels=np.full((K, 2), np.nan)),
        "labels has NaN in row 0",
    ),
    "sparse features and rbf": (
        lambda: rb.LabelRanker(label_kernel="rbf").fit(X0, Y0, labels=csr_array(L0)),
        "labels is a sparse matrix and label_kernel is 'rbf'. Pass label_kernel='linear'",
    ),
    "sparse objects and rbf": (
        lambda: rb.LabelRanker().fit(csr_array(X0), Y0),
        "X is a sparse matrix and kernel is 'rbf'. Pass kernel='linear'",
    ),
    "sparse scores": (
        lambda: rb.LabelRanker().fit(X0, coo_array(([1.0, 2], ([0, 0], [1, 1])), shape=(3, 2))),
        "y has two entries in row 0, column 1. Pass one score for each label",
    ),
    "features as weights": (
        lambda: rb.LabelRanker(label_kernel="rbf").fit(X0, Y0, L0),
        "sample_weight has two dimensions.* Features of labels belong in labels=",
    ),
    "features as weights of a score": (
        lambda: rb.LabelRanker(label_kernel="rbf").fit(X0, Y0, labels=L0).score(X1, Y0, L1),
        "sample_weight has two dimensions.* Features of labels belong in labels=",
    ),
    "gaps and leave-one-out": (
        lambda: rb.LabelRankerCV(leave_out="pairs", cv="loo").fit(
            *(np.tile(each, (100, 1)) for each in (X0, np.where(np.eye(N, K), np.nan, Y0)))
        ),
        "cv is 'loo' and y has missing scores.* for instance cv=3",
    ),
    "other features": (
        lambda: rb.LabelRanker(label_kernel="rbf").fit(X0, Y0, labels=L0).predict(X1, L1[:, :1]),
        "labels has 1 column. Pass 2 columns, as in training",
    ),
    "other features, linear": (
        lambda: (
            rb.LabelRanker(label_kernel="linear")
            .fit(X0, Y0, labels=csr_array(L0))
            .predict(X1, L1[:, :1])
        ),
        "labels has 1 column. Pass 2 columns, as in training",
    ),
    "new labels and the identity": (
        lambda: rb.LabelRanker().fit(X0, Y0).predict(X1, labels=L1),
        "labels is given and the model compares no labels. Fit the model with a label_k",
    ),
    "features for a matrix": (
        lambda: rb.LabelRanker(label_kernel=np.eye(K)).fit(X0, Y0).predict(X1, labels=L1),
        r"labels has shape \(4, 2\). Pass kernel values of shape \(q, 6\)",
    ),
    "scores of other labels": (
        lambda: rb.LabelRanker(label_kernel="rbf").fit(X0, Y0, labels=L0).score(X0, Y0, labels=L1),
        "y has 6 columns. Pass 4 columns, as labels has rows",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_say_what_to_do(name):
    call, said = WRONG[name]
    with pytest.raises((TypeError, ValueError), match=said):
        call()


@pytest.mark.parametrize("ids", [["u1", "u1", "u2", "u2", "u3"], [10, 10, 20, 20, 30]])
def test_a_table_with_a_row_for_each_rating_is_a_matrix_after_pivot(ids):
    ratings = pd.DataFrame(dict(who=ids, dish=list("abacb"), stars=[5, 1, 2, 4, 3]))
    X = pd.DataFrame(dict(age=[1.0, 2.0, 3.0]), index=[ids[2], ids[0], ids[4]])
    with pytest.raises(ValueError, match=r"'who', 'dish' and 'stars' and 5 rows\. ") as found:
        rb.LabelRanker().fit(X, ratings)
    recipe = re.search(r"y\.(pivot\(.*\)\.reindex\(X\.index\))\.$", str(found.value))[1]
    assert recipe == "pivot(index='who', columns='dish', values='stars').reindex(X.index)"
    y = ratings.pivot(index="who", columns="dish", values="stars").reindex(X.index)
    expected = [[2, np.nan, 4], [5, 1, np.nan], [np.nan, 3, np.nan]]
    assert np.array_equal(y.to_numpy(), expected, equal_nan=True)
    model = rb.LabelRanker(lam=0.01).fit(X, y)
    assert list(model.label_names_) == ["a", "b", "c"]
    assert model.score(X, y) == 1
    with pytest.raises(ValueError, match="duplicate"):  # a rating twice
        ratings.replace({"dish": {"b": "a"}}).pivot(index="who", columns="dish", values="stars")


def test_long_ratings_beside_rows_of_features_for_each():
    ratings = pd.DataFrame(dict(who=["u1", "u1", "u2"], dish=list("aba"), stars=[5, 1, 2]))
    with pytest.raises(ValueError, match="and 3 rows. Pass 3 rows, one for each object.*pivot"):
        rb.LabelRanker().fit(np.eye(3), ratings)
    numbers = pd.DataFrame([[3, 2, 1], [3, 2, 1], [1, 2, 3]], columns=list("abc"))
    assert rb.LabelRanker().fit(np.eye(3), numbers).n_labels_ == 3


class TestNumbersAsNames:
    """Labels whose names are numbers, in a table of scores or of features."""

    X = pd.DataFrame([[1.0, 0], [0, 1]], index=["ann", "bob"])
    Y = pd.DataFrame([[3.0, 2, 1], [1, 2, 3]], index=X.index, columns=[1, 2, 3])
    L = pd.DataFrame([[0.0], [1.0], [2.0]], index=[1, 2, 3])
    kinds = dict(kernel="linear", label_kernel="linear", lam=0.1)

    def test_they_are_excluded_by_name(self):
        model = rb.LabelRanker(kernel="linear", lam=0.1).fit(self.X, self.Y)
        said = "^exclude leaves 1 of 2 users fewer than 3 items; the first is 'ann' with 1"
        with pytest.warns(rb.Assumption, match=said):
            found = model.recommend(self.X, 3, exclude=dict(user=["ann", "ann"], item=[1, 2]))
        assert found[found.user == "ann"]["item"].tolist() == [3]
        assert found[found.user == "bob"]["item"].tolist() == [3, 2, 1]

    def test_unknown_users_are_reported(self):
        model = rb.LabelRanker(kernel="linear", lam=0.1).fit(self.X, self.Y)
        every = model.recommend(self.X, 2)
        for table in (self.X, self.X.to_numpy()):
            seen = dict(user=["eve", "eve"], item=[1, 2])
            with pytest.warns(rb.Assumption, match="^exclude has no user of X.* user is 'eve'"):
                found = model.recommend(table, 2, exclude=seen)
            assert found["item"].tolist() == every["item"].tolist()
        assert len(model.recommend(self.X, 2, exclude=dict(user=["eve", "bob"], item=[1, 9]))) == 4
        assert len(model.recommend(self.X, 9)) == 6  # k above the number of labels is no gap

    def test_another_order_is_refused(self):
        with pytest.raises(ValueError, match="^labels has 3 as row 0. Pass 1, because names"):
            rb.LabelRanker(**self.kinds).fit(self.X, self.Y, labels=self.L.loc[[3, 2, 1]])
        kernel = pd.DataFrame(np.eye(3), index=[3, 1, 2], columns=[3, 1, 2])
        with pytest.raises(ValueError, match="^label_kernel has 3 as row 0. Pass 1"):
            rb.LabelRanker(label_kernel=kernel).fit(self.X, self.Y)

    def test_no_names_match_by_position(self):
        for labels in (self.L, self.L.reset_index(drop=True), self.L.to_numpy()):
            model = rb.LabelRanker(**self.kinds).fit(self.X, self.Y, labels=labels)
            assert model.recommend(self.X, 1)["item"].tolist() == [1, 3]


@pytest.mark.parametrize("leave_out", ["objects", "labels", "pairs", "both"])
def test_the_default_of_cv_serves_tables_with_gaps(leave_out):
    rng = np.random.default_rng(0)
    X, L = rng.normal(size=(12, 2)), rng.normal(size=(4, 2))
    Y = np.round(X @ L.T + rng.normal(size=(12, 4)) / 2, 1)
    given = dict(lams=[0.1, 10.0], leave_out=leave_out, kernel="linear", label_kernel="linear")
    whole = rb.LabelRankerCV(**given).fit(X, Y, labels=L)
    loo = rb.LabelRankerCV(**given, cv="loo").fit(X, Y, labels=L)
    assert whole.cv_ == loo.cv_ == "loo" and np.array_equal(whole.cv_values_, loo.cv_values_)
    Y[[0, 3, 7], [1, 2, 0]] = np.nan
    gaps = rb.LabelRankerCV(**given).fit(X, Y, labels=L)
    folds = dict(objects=5, pairs=5).get(leave_out, 2)  # of the four labels, two in a fold
    same = rb.LabelRankerCV(**given, cv=folds).fit(X, Y, labels=L)
    assert gaps.cv_ == folds and np.array_equal(gaps.cv_values_, same.cv_values_)
    assert gaps.get_params()["cv"] is None


def test_the_default_of_cv_serves_the_ranking_svm():
    X = np.random.default_rng(0).normal(size=(6, 2))
    given = dict(lams=[1.0, 10.0], method="ranksvm", kernel="linear")
    model = rb.LabelRankerCV(**given).fit(X, np.round(X @ [[1, 0, 1], [0, 1, 1]], 1))
    assert model.cv_ == 5 and model.lam_ in (1.0, 10.0)
