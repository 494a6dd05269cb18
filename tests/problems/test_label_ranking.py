"""Label ranking against the explicit kernel of all pairs, qp and closed forms, with gaps, ties."""

import itertools
import pickle

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array
from sklearn.kernel_ridge import KernelRidge

import rankbook as rb
from rankbook.kernels.kernel import Kernel
from rankbook.problems.label_ranking import (
    LabelFeatures,
    LabelRankRLSProblem,
    LabelRankSVMProblem,
)
from rankbook.problems.svm import MulticlassSVMProblem
from rankbook.solvers.rls.kronecker import CompletePreconditioner

N, K = 8, 4
ALIKE = np.ones((K, K)) + np.diag([0.0, 1, 0, 2])  # labels 0 and 2 are copies


def awkward(kind):
    """Objects, scores, label kernel and weights."""
    rng = np.random.default_rng(0)
    X, Y, L, weight = rng.normal(size=(N, 2)), rng.normal(size=(N, K)), np.eye(K), None
    if kind == "copies of objects":
        X[4:] = X[:4]
    if kind == "ties":
        Y = rng.integers(0, 2, (N, K)).astype(float)
        Y[0] = 1.0
    if kind == "grid":
        X, Y = np.round(X), np.round(Y)
    if kind == "one object":
        X, Y = X[:1], Y[:1]
    if kind == "labels alike":
        L = ALIKE
    if kind == "gaps":
        Y[rng.random(Y.shape) < 0.4] = np.nan
        Y[2], Y[3, 1:] = np.nan, np.nan
        L = ALIKE
    if kind == "empty rows":
        Y[[1, 5]] = np.nan
    if kind == "weights":
        weight = np.array([0.0, 1, 2, 3, 0.5, 1, 1, 0])
        L = ALIKE
    if kind == "gaps and weights":
        Y[rng.random(Y.shape) < 0.3] = np.nan
        weight = np.array([0.0, 1, 2, 3, 0.5, 1, 1, 0])
    return X, Y, L, weight


KINDS = [
    "copies of objects",
    "ties",
    "grid",
    "one object",
    "labels alike",
    "gaps",
    "empty rows",
    "weights",
    "gaps and weights",
]
# a name, its options, and the kernel written out
KERNELS = {
    "rbf": (dict(gamma=0.5), lambda A, B: np.exp(-((A[:, None] - B) ** 2).sum(-1) / 2)),
    "linear": ({}, lambda A, B: A @ B.T),
    "poly": (dict(gamma=1.0, degree=2), lambda A, B: (1 + A @ B.T) ** 2),
}


def explicit(X, Y, L, weight, k):
    """The same problem on rows that are numbers of pairs, with the Gram matrix of all of them."""
    there = ~np.isnan(Y) & (np.isfinite(Y).sum(axis=1, keepdims=True) > 1)
    i, a = np.nonzero(there)
    G = k(X, X)[np.ix_(i, i)] * L[np.ix_(a, a)]
    w = None if weight is None else np.sqrt(weight)[i]
    return G, Y[there], i, w


def centred(F):
    return F - F.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("lam", [1e-4, 0.3, 1e3])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", KINDS)
def test_rankrls_is_that_of_all_pairs(kind, name, lam):
    (X, Y, L, weight), (options, k) = awkward(kind), KERNELS[name]
    problem = LabelRankRLSProblem(
        X, Y, Kernel(name, **options), label_kernel=L, object_weight=weight
    )
    G, y, i, w = explicit(X, Y, L, weight, k)
    plain = rb.RankRLSProblem(G, y, i, kernel="precomputed", item_weight=w)
    one, two = rb.solve(problem, lam, "kronecker"), rb.solve(plain, lam, "rls")
    assert "gram" not in vars(problem)
    assert one.certificate.is_optimal(1e-9)
    mine = problem.primal(one.coef, lam)
    assert mine == pytest.approx(plain.primal(two.coef, lam), rel=1e-8, abs=1e-12)
    (ii, a) = problem.pairs
    f, g = G @ one.coef, G @ two.coef
    for query in np.unique(ii):
        own = ii == query
        assert np.allclose(f[own] - f[own].mean(), g[own] - g[own].mean(), atol=1e-8)
    F = problem.label_function(one.position).predict(X)
    assert np.allclose(F[problem.pairs], f, atol=1e-8)
    if problem.is_complete:
        assert np.allclose(rb.solve_path(problem, solver="auto").coef(lam), one.coef)


@pytest.mark.parametrize("kind", KINDS)
def test_rankrls_is_what_qp_finds(kind):
    X, Y, L, weight = awkward(kind)
    problem = LabelRankRLSProblem(X, Y, label_kernel=L, object_weight=weight)
    one, two = rb.solve(problem, 0.3, "auto"), rb.solve(problem, 0.3, "qp")
    assert one.solver.startswith("kronecker")
    assert one.certificate.primal <= two.certificate.primal + 1e-10
    assert one.certificate.primal == pytest.approx(two.certificate.primal, rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["rbf", "linear"])
def test_ranksvm_is_that_of_all_pairs(kind, name):
    (X, Y, L, weight), (options, k) = awkward(kind), KERNELS[name]
    problem = LabelRankSVMProblem(
        X, Y, Kernel(name, **options), label_kernel=L, object_weight=weight
    )
    G, y, i, w = explicit(X, Y, L, weight, k)
    prefs = rb.Preferences.from_scores(y, i)
    prefs = prefs if w is None else prefs.item_weighted(w)
    plain = rb.RankSVMProblem(G, prefs, kernel="precomputed")
    one, two = rb.solve(problem, 0.3, "qp"), rb.solve(plain, 0.3, "qp")
    assert one.certificate.primal == pytest.approx(two.certificate.primal, rel=1e-7)
    assert one.certificate.relative_gap < 1e-6
    exact = rb.solve(problem, 0.3, "path" if w is None else "interior")
    assert exact.certificate.primal == pytest.approx(two.certificate.primal, rel=1e-7)
    F = problem.label_function(exact.position).predict(X)[problem.pairs]
    slack = prefs.margin - prefs.matvec(F)
    loss = prefs.weight @ np.maximum(0, slack)
    assert loss == pytest.approx(
        exact.certificate.primal - 0.15 * exact.certificate.norm**2, rel=1e-6
    )


@pytest.mark.parametrize("name", ["rbf", "linear"])
def test_the_multiclass_svm_is_the_ranking_svm_on_labels(name):
    rng = np.random.default_rng(1)
    number, X = np.arange(18) % 3, rng.normal(size=(18, 2))
    classes = rb.solve(MulticlassSVMProblem(X, number, kernel=name), 0.5, "qp")
    ranked = LabelRankSVMProblem(X, np.eye(3)[number], kernel=name)
    # one value that three codes agree on
    values = [rb.solve(ranked, 0.5, s).certificate.primal for s in ("qp", "interior", "path")]
    assert np.allclose(values, classes.certificate.primal, rtol=1e-8)
    model = rb.LabelRanker(0.5, "ranksvm", kernel=name).fit(X, np.eye(3)[number])
    F, C = model.predict(X), classes.predict(X)
    assert np.allclose(F, C, atol=1e-3)


@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_the_identity_on_labels_is_regression_of_centred_rows(lam):
    X, Y, _, _ = awkward("none")
    model = rb.LabelRanker(lam, gamma=0.5).fit(X, Y)
    ridge = KernelRidge(alpha=lam / K, kernel="rbf", gamma=0.5).fit(X, centred(Y))
    new = np.random.default_rng(2).normal(size=(20, 2))
    assert np.abs(model.predict(new) - ridge.predict(new)).max() < 1e-8


def test_with_gaps_it_is_not():
    X, Y, _, _ = awkward("none")
    Y[0, 0] = np.nan
    model = rb.LabelRanker(gamma=0.5).fit(X, Y)
    rows = np.where(np.isnan(Y), 0.0, Y - np.nanmean(Y, axis=1, keepdims=True))
    ridge = KernelRidge(alpha=1 / K, kernel="rbf", gamma=0.5).fit(X, rows)
    assert np.abs(model.predict(X) - ridge.predict(X)).max() > 1e-3


def test_a_weight_of_two_is_a_copy():
    X, Y, L, _ = awkward("gaps")
    weight = np.array([1.0, 2, 1, 1, 2, 1, 1, 2])
    again = np.repeat(np.arange(N), weight.astype(int))
    for method in ("rankrls", "ranksvm"):
        model = rb.LabelRanker(0.5, method, label_kernel=L)
        one = model.fit(X, Y, sample_weight=weight).predict(X)
        two = model.fit(X[again], Y[again]).predict(X)
        tol = 1e-8 if method == "rankrls" else 1e-3
        assert np.allclose(centred(one), centred(two), atol=tol), method


def test_a_precomputed_kernel_and_a_stored_model():
    X, Y, L, _ = awkward("gaps")
    k, new = KERNELS["rbf"][1], np.random.default_rng(3).normal(size=(4, 2))
    given = rb.LabelRanker(kernel="precomputed", label_kernel=L).fit(k(X, X), Y)
    named = rb.LabelRanker(gamma=0.5, label_kernel=L).fit(X, Y)
    assert np.allclose(given.predict(k(new, X)), named.predict(new), atol=1e-10)
    again = pickle.loads(pickle.dumps(named))
    assert np.array_equal(again.rank(new), named.rank(new))
    assert set(named.support_) <= set(range(N)) and named.dual_coef_.shape[1] == K


def test_strings_have_labels_too():
    words = ["ab", "ba", "abab", "c", "cab", "bb"]
    overlap = lambda a, b: float(len(set(a) & set(b)))
    kernel = rb.kernels.over(words, overlap)
    Y = np.array([[w.count(c) for c in "abc"] for w in words], float)
    features = np.array([[c in w for c in "abc"] for w in words], float)
    strings = rb.LabelRanker(kernel=kernel).fit(kernel.items, Y)
    vectors = rb.LabelRanker(kernel="linear").fit(features, Y)
    assert np.allclose(strings.predict(kernel.add(["bc"])), vectors.predict([[0, 1, 1]]), atol=1e-8)


def test_rank_and_score():
    X, Y, _, _ = awkward("none")
    model = rb.LabelRanker(1e-6, gamma=5.0).fit(X, Y)
    assert np.array_equal(model.rank(X), np.argsort(-Y, axis=1)) and model.score(X, Y) == 1.0
    Y[:, 0] = np.nan
    assert model.score(X, Y) == 1.0 and model.score(X, -Y) == 0.0
    level = rb.LabelRanker(label_kernel=np.ones((K, K))).fit(X, Y)
    assert level.score(X, Y) == 0.5


WRONG = [
    (dict(), dict(y=np.ones(N)), r"y has shape \(8,\)"),
    (dict(), dict(y=np.ones((N, 1))), r"y has shape \(8, 1\)"),
    (dict(), dict(y=np.ones((N, K))), "no two different scores in any row"),
    (dict(), dict(y=np.full((N, K), np.inf)), "y has inf in row 0, column 0"),
    (dict(), dict(y=np.eye(N)[1:]), "y has 7 entries and X has 8 rows"),
    (dict(method="rls"), {}, "method is 'rls'"),
    (dict(label_kernel="linear"), {}, "label_kernel is 'linear'"),
    (dict(label_kernel=np.eye(3)), {}, r"label_kernel has shape \(3, 3\)"),
    (dict(label_kernel=-np.eye(K)), {}, "label_kernel has the negative eigenvalue"),
    (dict(kernel="precomputed"), {}, "square Gram matrix"),
    (dict(), dict(sample_weight=np.zeros(N)), "sample_weight is zero"),
    (dict(lam=0), {}, "lam is 0"),
]


@pytest.mark.parametrize(("options", "given", "words"), WRONG, ids=[w for *_, w in WRONG])
def test_errors_say_what_came(options, given, words):
    X, Y, _, _ = awkward("none")
    with pytest.raises(ValueError, match=words):
        rb.LabelRanker(**options).fit(X, **dict(y=Y) | given)


def test_a_path_with_gaps_says_what_to_do():
    X, Y, L, _ = awkward("gaps")
    problem = LabelRankRLSProblem(X, Y, label_kernel=L)
    with pytest.raises(ValueError, match="y has missing scores"):
        rb.solve_path(problem, solver="kronecker")
    path = rb.solve_path(problem, solver="rls")
    assert np.allclose(path.coef(0.3), rb.solve(problem, 0.3, "kronecker").coef, atol=1e-8)


def test_lambda_is_chosen_exactly_on_pairs():
    """A path and a validation curve on labels are those of the Gram matrix of all pairs."""
    X, Y, L, _ = awkward("none")
    problem = LabelRankSVMProblem(X, Y, gamma=0.5, label_kernel=L)
    G, y, i, _ = explicit(X, Y, L, None, KERNELS["rbf"][1])
    plain = rb.RankSVMProblem(G, rb.Preferences.from_scores(y, i), kernel="precomputed")
    one, two = rb.solve_path(problem), rb.solve_path(plain)
    rng = np.random.default_rng(4)
    new, wanted = rng.normal(size=(5, 2)), rng.normal(size=(5, K))
    rows = np.c_[np.repeat(new, K, axis=0), np.tile(np.arange(K), 5)]
    cross = np.kron(KERNELS["rbf"][1](new, X), L)
    prefs = rb.Preferences.from_scores(wanted.ravel(), np.repeat(np.arange(5), K))
    curves = [rb.validation_curve(p, A, prefs) for p, A in ((one, rows), (two, cross))]
    assert curves[0].minimum == curves[1].minimum
    for lam in np.geomspace(problem.lam_max, 1e-4 * problem.lam_max, 7):
        f, g = one.predict(rows, lam).reshape(5, K), two.predict(cross, lam).reshape(5, K)
        assert np.allclose(centred(f), centred(g), atol=1e-6)


def test_ties_are_resolved_by_lot_and_only_ties():
    X, Y = np.random.default_rng(1).normal(size=(2, 12, 3))
    model = rb.LabelRanker(kernel="linear").fit(X, Y)
    X_new = np.vstack([X, np.zeros((600, 3))])
    orders = [model.rank(X_new, seed) for seed in (0, 1, np.random.default_rng(2))]
    for order in orders:
        assert np.array_equal(order[:12], model.rank(X))
        assert np.array_equal(np.sort(order, axis=1), np.tile(np.arange(3), (612, 1)))
        assert np.abs(np.bincount(order[12:, 0]) - 200).max() < 60
    assert (orders[0] != orders[1]).any() and (orders[0] != orders[2]).any()
    assert np.array_equal(orders[0], model.rank(X_new, 0))
    with pytest.raises(TypeError, match="random_state is 'a'"):
        model.rank(X, "a")


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
@pytest.mark.parametrize("labels", ["identity", "correlated", "low rank"])
@pytest.mark.parametrize("grid", [False, True])
def test_the_curve_of_a_kronecker_path_is_that_of_the_pairs(kernel, labels, grid):
    rng = np.random.default_rng(3)
    X, X_val, Y, Y_val = (rng.normal(size=(n, d)) for n, d in ((9, 2), (6, 2), (9, 4), (6, 4)))
    if grid:
        X, X_val, Y, Y_val = (np.round(A) for A in (X, X_val, Y, Y_val))
        X[4:6], Y[7] = X[0], np.nan
    M = rng.normal(size=(4, 4 if labels == "correlated" else 2))
    L = "identity" if labels == "identity" else M @ M.T
    if kernel == "precomputed":
        X, X_val = X @ X.T + 1, np.arange(6)[:, None]
    problem = LabelRankRLSProblem(X, Y, kernel=kernel, label_kernel=L)
    pairs = np.c_[np.repeat(X_val, 4, axis=0), np.tile(np.arange(4), 6)]
    prefs = rb.Preferences.from_scores(Y_val.ravel(), np.repeat(np.arange(6), 4))
    paths = [rb.solve_path(problem, solver=solver) for solver in ("kronecker", "rls")]
    lams = np.geomspace(*paths[0].scale, 7)[1:-1]
    scores = paths[0].shares(lams) @ paths[0].components(pairs).T
    # what is seen of a pair is its score up to one number for each object
    differ = lambda f: f.reshape(-1, 6, 4) - f.reshape(-1, 6, 4).mean(axis=2, keepdims=True)
    one_by_one = np.array([rb.solve(problem, lam, "rls").predict(pairs) for lam in lams])
    size = np.abs(differ(one_by_one)).max(axis=(1, 2), keepdims=True)
    assert np.allclose(differ(scores) / size, differ(one_by_one) / size, atol=1e-6)
    one, two = (rb.validation_curve(path, pairs, prefs) for path in paths)
    assert not one.exact and one.metric == "disagreement"
    middle = np.geomspace(1e-3, 10, 50)
    away = [np.abs(one.breaks[1:-1] / lam - 1).min(initial=1.0) > 1e-4 for lam in middle]
    assert np.allclose(one.at(middle[away]), two.at(middle[away]), atol=1e-9)
    scores = [paths[0].predict(pairs, lam) for lam in middle[away]]
    expected = [rb.metrics.disagreement(prefs, f) for f in scores]
    if not grid:
        assert np.allclose(one.at(middle[away]), expected)


def test_what_is_no_pair_of_a_kronecker_path():
    rng = np.random.default_rng(0)
    path = rb.solve_path(LabelRankRLSProblem(rng.normal(size=(5, 2)), rng.normal(size=(5, 3))))
    prefs = rb.Preferences([0], [1], 2)
    with pytest.raises(ValueError, match="X_new has 2 columns. Pass 3 columns, as in training"):
        rb.validation_curve(path, np.zeros((2, 2)), prefs)
    with pytest.raises(ValueError, match="the number of a label is 3 in row 1"):
        rb.validation_curve(path, np.array([[0, 0, 0], [0, 0, 3.0]]), prefs)


def test_the_preconditioner_inverts_a_table_without_gaps():
    rng = np.random.default_rng(0)
    problem = LabelRankRLSProblem(rng.normal(size=(6, 2)), rng.normal(size=(6, 4)))
    graph, lam, v = problem.graph, 0.5, rng.normal(size=(24, 1))
    v = CompletePreconditioner(problem, lam)(v), v
    product = graph.root_transposed(problem.matvec(graph.root(v[0])[:, 0]))[:, None] + lam * v[0]
    assert np.allclose(product, v[1])


@pytest.mark.parametrize("spread", [0.0, 1.0])
@pytest.mark.parametrize("unit", [1e-2, 1e2])
def test_largest_scores_bound_products_with_the_kernel_of_pairs(unit, spread):
    """Exactly if all objects are equal."""
    rng = np.random.default_rng(0)
    X, a = spread * rng.normal(size=(N, 2)), rng.normal(size=(N * K, 1))
    problem = LabelRankRLSProblem(X, rng.normal(size=(N, K)), label_kernel=ALIKE * unit)
    objects = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    true = np.kron(objects, ALIKE * unit) @ np.abs(a)
    bound = problem.largest_scores(a)
    assert (bound >= true * (1 - 1e-12)).all()
    assert spread or np.allclose(bound, true, rtol=1e-12)


def test_many_labels_and_a_small_lambda_are_certified_without_a_warning():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    ranks = np.argsort(np.argsort(X @ rng.normal(size=(5, 300)), axis=1), axis=1)
    for lam in (1e-4, 1e-6):
        found = rb.LabelRanker(lam=lam).fit(X, ranks).certificate_
        assert found.is_optimal(1e-6) and found.rounding <= 1e-6 * found.primal


@pytest.mark.parametrize("weighted", [False, True])
def test_the_gap_of_coefficients_is_above_the_distance_from_the_minimum(weighted):
    rng = np.random.default_rng(1)
    X, y, qid = rng.normal(size=(30, 2)), rng.normal(size=30), np.repeat(np.arange(5), 6)
    weight = rng.uniform(0.1, 3.0, 30) if weighted else None
    problem = rb.RankRLSProblem(X, y, qid=qid, item_weight=weight)
    best = rb.solve(problem, 0.1)
    for size in (1e-8, 1e-4, 1.0):
        coef = best.coef + size * rng.normal(size=30)
        f = problem.scores(coef[:, None])
        gap = problem.gap_of_coefficients(coef[:, None], f, 0.1)
        assert gap >= problem.primal(coef, 0.1) - best.certificate.primal - 1e-12
    at_best = problem.gap_of_coefficients(
        best.coef[:, None], problem.matvec(best.coef)[:, None], 0.1
    )
    assert at_best < 1e-12


def by_pairs(X, Z, Y, lam, weight):
    """Weights (d, r) from one row for each pair of labels of an object."""
    rows, differences = [], []
    for i, row in enumerate(Y):
        for a, b in itertools.combinations(np.flatnonzero(~np.isnan(row)), 2):
            root = np.sqrt(weight[i])
            rows.append(root * np.kron(X[i], Z[a] - Z[b]))
            differences.append(root * (row[a] - row[b]))
    A = np.array(rows)
    unit = np.eye(A.shape[1]) * np.sqrt(lam)  # least squares of the rows, not normal equations
    right = np.r_[differences, np.zeros(len(unit))]
    return np.linalg.lstsq(np.r_[A, unit], right)[0].reshape(X.shape[1], -1)


def awkward_features(kind):
    """Objects, features of labels, scores with gaps, and weights of objects."""
    rng = np.random.default_rng(1)
    X, Z, Y = rng.normal(size=(30, 3)), rng.normal(size=(9, 2)), rng.normal(size=(30, 9))
    Y[rng.random(Y.shape) < 0.6] = np.nan
    Y[0], Y[1, 1:] = np.nan, np.nan
    weight = np.ones(30)
    if kind == "weights":
        weight = rng.integers(0, 3, 30).astype(float)
    if kind == "years":
        Z[:, 0] = 1990 + rng.integers(0, 30, 9)
    if kind == "copies":
        X[:, 2], Z[:, 1] = X[:, 1], -Z[:, 0]
    if kind == "integers":
        X, Z, Y = np.round(X), np.round(Z), np.round(Y)
    if kind == "constant":
        X[:, 0], Z[:, 0] = 1.0, 1.0
    if kind == "complete":
        Y = rng.normal(size=(30, 9))
    return X, Z, Y, weight


@pytest.mark.parametrize("lam", [1e-6, 0.3, 1e3])
@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize(
    "kind", ["gaps", "weights", "years", "copies", "integers", "constant", "complete"]
)
def test_few_weights_are_those_of_all_pairs_of_labels(kind, direct, lam, monkeypatch):
    from rankbook.solvers.rls import kronecker

    monkeypatch.setattr(kronecker, "DIRECT", 2000 if direct else 0)
    X, Z, Y, weight = awkward_features(kind)
    given = dict(kernel="linear", label_kernel=LabelFeatures(Z), object_weight=weight)
    problem = LabelRankRLSProblem(X, Y, **given)
    assert problem.weight_shape == (6,) and problem.n_items > 6
    solution = rb.solve(problem, lam)
    relative = lambda W: X @ W @ (Z - Z.mean(axis=0)).T
    expected = relative(by_pairs(X, Z, Y, lam, weight))
    found = relative(solution.weights.reshape(3, 2))
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()
    assert solution.certificate.is_optimal(1e-10)
    if lam > 1e-3:  # below, the kernel of pairs has too few digits
        by_items = rb.solve(problem, lam, "rls")
        assert np.isclose(by_items.certificate.primal, solution.certificate.primal, rtol=1e-9)
    values = solution.predict(problem.X)
    assert np.allclose(values, problem.scores(solution.position), atol=1e-10 * np.abs(values).max())
    again = problem.scores(problem.weights(solution.coef))
    assert np.ptp(again - values) < 1e-6 * np.ptp(values) + 1e-12


def test_sparse_scores_and_objects_are_dense_ones():
    X, Z, Y, weight = awkward_features("weights")
    i, a = np.nonzero(~np.isnan(Y))
    Y[i[0], a[0]] = 0.0  # a stored 0 is a score
    fits = [
        LabelRankRLSProblem(
            objects, scores, "linear", label_kernel=LabelFeatures(labels), object_weight=weight
        )
        for objects in (X, csr_array(X))
        for labels in (Z, csr_array(Z))
        for scores in (
            Y,
            coo_array((Y[i, a], (i, a)), Y.shape),
            csc_array((Y[i, a], (i, a)), Y.shape),
        )
    ]
    answers = [rb.solve(problem, 0.5).weights for problem in fits]
    assert np.allclose(answers, answers[0], rtol=1e-10)
    rbf = [
        LabelRankRLSProblem(X, problem) for problem in (Y, csr_array((Y[i, a], (i, a)), Y.shape))
    ]
    assert np.array_equal(*(rb.solve(problem, 0.5).coef for problem in rbf))


def test_a_path_with_gaps_and_few_weights():
    X, Z, Y, _ = awkward_features("gaps")
    problem = LabelRankRLSProblem(X, Y, "linear", label_kernel=LabelFeatures(Z))
    path, lams = rb.solve_path(problem), np.array([1e-3, 1.0, 1e3])
    for lam, w in zip(lams, path.weights(lams)):
        one = rb.solve(problem, lam)
        assert np.allclose(path.solution(lam).weights, one.weights, rtol=1e-10)
        assert np.allclose(w, one.weights, rtol=1e-6)
    rows = problem.X[:5]
    parts = path.shares(lams) @ path.components(rows).T
    assert np.allclose(parts, [path.predict(rows, lam) for lam in lams])


def test_a_table_of_many_labels_needs_no_kernel_matrix():
    rng, n, k = np.random.default_rng(2), 300, 5000
    i, a = np.repeat(np.arange(n), 20), rng.integers(0, k, 20 * n)
    i, a = np.unique(np.c_[i, a], axis=0).T
    y = csr_array((rng.integers(1, 6, i.size).astype(float), (i, a)), (n, k))
    X, Z = rng.normal(size=(n, 4)), rng.normal(size=(k, 3))
    model = rb.LabelRanker(kernel="linear", label_kernel="linear").fit(X, y, labels=Z)
    assert "label_gram" not in vars(model.solution_.problem)
    assert model.solution_.info["by"] == "normal equations"
    assert np.allclose(model.pair_coef_ @ (Z @ Z[:2].T), model.predict(np.eye(4))[:, :2])


@pytest.mark.parametrize("direct", [True, False])
def test_a_label_without_scores_has_the_score_zero(direct, monkeypatch):
    from rankbook.solvers.rls import kronecker

    monkeypatch.setattr(kronecker, "DIRECT", 2000 if direct else 0)
    X, _, Y, _ = awkward_features("gaps")
    Y[:, 4] = np.nan
    problem = LabelRankRLSProblem(X, Y, "linear")
    assert problem.has_weights
    scores = problem.label_function(rb.solve(problem, 0.5).position).predict(X)
    assert not scores[:, 4].any() and scores[:, 3].all()
