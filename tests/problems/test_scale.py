"""The default lambda: its value by hand, what leaves the function as it is, and degenerate data."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import rankbook as rb
from rankbook.data.blocks import Block, Blocks
from rankbook.kernels.items import column_squares, square_norms
from rankbook.kernels.kernel import Kernel
from rankbook.preferences.graph import Preferences
from rankbook.problems.scale import L1_SHARE, SCALE, default_lam, row_scatter


@pytest.fixture
def data():
    """Sixty items of four features, with grades, and five queries of unequal size."""
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(60, 4)), rng.integers(0, 5, 60)
    X[qid == 2] += 3.0
    return X, np.digitize(X[:, 0] + rng.normal(size=60), [-0.5, 0.5]), qid


def features(problem):
    """Rows (n, n or d) whose products are the kernel of a problem."""
    if problem.kernel.name == "linear":
        return problem.X if isinstance(problem.X, np.ndarray) else problem.X.toarray()
    values, V = np.linalg.eigh(problem.gram)
    return V * np.sqrt(np.maximum(values, 0.0))


def by_hand(Z, k, l, slope, cost, group):
    """S / L(0) from lists of pairs: their slopes and their costs at f = 0, and groups of items."""
    g = np.zeros(len(Z))
    np.add.at(g, k, slope)
    np.add.at(g, l, -np.asarray(slope))
    total = 0.0
    for one in np.unique(group):
        z, w = Z[group == one], g[group == one] ** 2
        if w.any():
            total += w @ ((z - w @ z / w.sum()) ** 2).sum(axis=1)
    return total / np.sum(cost)


KERNELS = {
    "linear": dict(kernel="linear"),
    "rbf": dict(kernel="rbf"),
    "poly": dict(kernel="poly"),
    "callable": dict(kernel=lambda a, b: 1 + a @ b.T),
}


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", ["scores", "weighted", "levels", "star", "list", "margins"])
def test_a_ranking_svm_has_the_value_by_hand(data, kind, kernel, loss):
    X, y, qid = data
    rng, group = np.random.default_rng(1), qid
    prefs = Preferences.from_scores(y, qid, graph="star" if kind == "star" else "full")
    if kind == "weighted":
        prefs = prefs.item_weighted(rng.integers(0, 3, 60))
    elif kind == "levels":
        prefs = Preferences.from_scores(y, qid, level_weight={(2, 0): 3.0, (2, 1): 0.5})
    elif kind in ("list", "margins"):
        k, l = np.arange(0, 60, 2), np.arange(1, 60, 2)  # every pair is a group of its own
        margin = None if kind == "list" else rng.normal(size=30)
        prefs = Preferences(k, l, 60, weight=rng.random(30), margin=margin)
        group = np.arange(60) // 2
    problem = rb.RankSVMProblem(X, prefs, loss=loss, **KERNELS[kernel])
    found = problem.gradient_scatter()
    assert prefs.is_listed == (kind in ("star", "list", "margins"))
    t = np.maximum(0, prefs.margin)
    slope, cost = (t > 0, t) if loss == "hinge" else (2 * t, t**2)
    sums = prefs.weight * slope, prefs.weight * cost
    expected = by_hand(features(problem), prefs.better, prefs.worse, *sums, group)
    assert np.isclose(found, expected, rtol=1e-9)
    assert np.isclose(default_lam(problem), SCALE * expected, rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", ["queries", "weighted", "columns", "graph", "margins", "identity"])
def test_rankrls_has_the_value_by_hand(data, kind, kernel):
    X, y, qid = data
    rng, group = np.random.default_rng(1), qid
    k, l = np.triu_indices(60, 1)
    same = qid[k] == qid[l]
    k, l, weight, Y = k[same], l[same], np.ones(same.sum()), 1.0 * y[:, None]
    options = dict(qid=qid, **KERNELS[kernel])
    if kind == "weighted":
        own = rng.integers(0, 3, 60)
        options, weight = options | dict(item_weight=own), own[k] * own[l]
    elif kind == "columns":
        Y = np.c_[y, rng.normal(size=60)]
    elif kind in ("graph", "margins"):
        k, l, weight = np.arange(0, 60, 2), np.arange(1, 60, 2), rng.random(30)
        graph, group = Preferences(k, l, 60, weight, rng.normal(size=30)), np.arange(60) // 2
        options = options | dict(qid=None, graph=graph)
    elif kind == "identity":
        options = options | dict(qid=None, graph="identity")
    given = None if kind == "margins" else Y if kind == "columns" else Y[:, 0]
    problem = rb.RankRLSProblem(X, given, **options)
    Z = features(problem)
    if kind == "identity":
        expected = 4 * y**2 @ (Z**2).sum(axis=1) / (y @ y)
    else:
        D = graph.margin[:, None] if kind == "margins" else Y[k] - Y[l]
        g = np.zeros((60, D.shape[1]))
        np.add.at(g, k, 2 * weight[:, None] * D)
        np.add.at(g, l, -2 * weight[:, None] * D)
        w, expected = (g**2).sum(axis=1), 0.0
        for one in np.unique(group):
            z, share = Z[group == one], w[group == one]
            middle = share @ z / max(share.sum(), 1e-300)
            expected += share @ ((z - middle) ** 2).sum(axis=1)
        expected /= (weight @ D**2).sum()
    assert np.isclose(problem.gradient_scatter(), expected, rtol=1e-9)


def test_a_basis_counts_by_what_it_spans(data):
    """A basis of all items is no basis; statistics know the same number as the problem."""
    X, y, qid = data
    alone = rb.RankRLSProblem(X, y, qid).gradient_scatter()
    whole = rb.RankRLSProblem(X, y, qid, basis=np.arange(60)).gradient_scatter()
    assert np.isclose(whole, alone, rtol=1e-6)
    few = rb.RankRLSProblem(X, y, qid, basis=[0, 7, 7 + 1, 30])
    assert few.gradient_scatter() < alone
    sums = rb.RankingStatistics(X[[0, 7, 8, 30]], kernel="rbf").add(X, y, qid)
    assert np.isclose(sums.scatter / sums.products[-1, -1], few.gradient_scatter(), rtol=1e-9)
    sums.remove(X, y, qid)
    assert sums.scatter == 0.0


def test_the_l1_penalty_takes_a_share_of_the_largest_lambda(data):
    X, y, qid = data
    for problem in (
        rb.RankSVMProblem(X, Preferences.from_scores(y, qid), kernel="linear", penalty="l1"),
        rb.RankRLSProblem(X, y, qid, kernel="linear", penalty="l1"),
    ):
        assert default_lam(problem) == L1_SHARE * problem.lam_max
    for kind in (rb.RankSVM, rb.RankRLS):
        model = kind(kernel="linear", penalty="l1").fit(X, y, qid)
        far = kind(kernel="linear", penalty="l1").fit(1e3 * X, y, qid)
        assert model.coef_.any() and np.isclose(far.lam_, 1e3 * model.lam_)
        assert np.allclose(1e3 * far.coef_, model.coef_, atol=1e-6)


# Changes that leave the fitted function as it is. Solvers: exact ones, or to 1e-12.

EXACT = {
    "hinge, rbf": (rb.RankSVM, dict(solver="path")),
    "hinge, linear": (rb.RankSVM, dict(kernel="linear", solver="path")),
    "hinge, poly": (rb.RankSVM, dict(kernel="poly", solver="path")),
    "squared, linear": (
        rb.RankSVM,
        dict(kernel="linear", loss="squared", solver=("newton", dict(tol=1e-12))),
    ),
    "rls, rbf": (rb.RankRLS, {}),
    "rls, linear": (rb.RankRLS, dict(kernel="linear")),
    "rls, basis": (rb.RankRLS, dict(basis=[3, 20, 41, 55])),
}


@pytest.fixture(params=EXACT)
def make(request):
    """A function that makes an estimator, with further options."""
    kind, options = EXACT[request.param]
    return lambda **more: kind(**options | more)


def scores(model, X):
    """Scores of items, less their mean."""
    f = model.predict(X)
    return f - f.mean()


def close(one, other, made):
    tol = 3e-6 if "newton" in made.solver_ else 1e-9
    return np.linalg.norm(one - other) <= tol * np.linalg.norm(one)


def test_four_copies_of_every_preference_give_the_same_function(make, data):
    X, y, qid = data
    prefs = Preferences.from_scores(y, qid)
    once = Preferences(prefs.better, prefs.worse, 60)
    four = Preferences(np.tile(prefs.better, 4), np.tile(prefs.worse, 4), 60)
    heavy = Preferences(prefs.better, prefs.worse, 60, np.full(len(prefs), 0.1))
    model = make().fit(X, preferences=once)
    for other, factor in ((four, 4.0), (heavy, 0.1)):
        again = make().fit(X, preferences=other)
        assert np.isclose(again.lam_, factor * model.lam_, rtol=1e-12)
        assert close(scores(model, X), scores(again, X), model)


@pytest.mark.parametrize("how", ["sample", "query"])
def test_weights_times_a_constant_give_the_same_function(make, data, how):
    X, y, qid = data
    weight = np.random.default_rng(2).integers(1, 4, 60) if how == "sample" else np.arange(1.0, 6)
    found = []
    for factor in (1.0, 7.0):
        if how == "sample":
            found.append(make().fit(X, y, qid, sample_weight=factor * weight))
        else:
            found.append(make(query_weight=factor * weight).fit(X, y, qid))
    power = 2 if how == "sample" else 1  # a pair weighs the product of its items
    assert np.isclose(found[1].lam_, 7.0**power * found[0].lam_, rtol=1e-10)
    assert close(*(scores(model, X) for model in found), found[0])


def test_units_of_the_features_do_not_count(make, data):
    X, y, qid = data
    has_gamma = make().kernel != "linear"
    model = make(**dict(gamma=0.25) if has_gamma else {}).fit(X, y, qid)
    for unit in (1e-3, 1e3):
        far = make(**dict(gamma=0.25 / unit**2) if has_gamma else {}).fit(unit * X, y, qid)
        assert np.isclose(far.lam_, model.lam_ * (1.0 if has_gamma else unit**2), rtol=1e-10)
        assert close(scores(model, X), scores(far, unit * X), model)


@pytest.mark.parametrize("unit", [1e-3, 50.0])
def test_the_unit_of_scores_or_margins_is_that_of_the_function(make, data, unit):
    X, y, qid = data
    if isinstance(make(), rb.RankRLS):
        one, other = (make().fit(X, factor * y, qid) for factor in (1.0, unit))
        assert np.isclose(one.lam_, other.lam_, rtol=1e-12)
    else:
        prefs = Preferences.from_scores(y, qid, margin="difference")
        one, other = (
            make().fit(X, preferences=prefs.reweighted(margin=factor * prefs.margin))
            for factor in (1.0, unit)
        )
        power = -1 if one.loss == "hinge" else 0
        assert np.isclose(other.lam_, unit**power * one.lam_, rtol=1e-12)
    assert close(scores(one, X), scores(other, X) / unit, one)


def test_neither_the_order_of_rows_nor_names_of_queries_count(make, data):
    X, y, qid = data
    order = np.random.default_rng(3).permutation(60)
    basis = make().get_params().get("basis")
    more = {} if basis is None else dict(basis=[int(np.flatnonzero(order == i)[0]) for i in basis])
    model = make().fit(X, y, qid)
    names = np.array(list("edcba"))[qid[order]]
    mixed = make(**more).fit(X[order], y[order], names)
    assert np.isclose(mixed.lam_, model.lam_, rtol=1e-12)
    assert close(scores(model, X), scores(mixed, X), model)


def test_an_offset_of_the_features_does_not_count(data):
    X, y, qid = data
    for kind in (rb.RankSVM, rb.RankRLS):
        near_by, far = (kind(kernel="linear").fit(X + c, y, qid).lam_ for c in (0.0, 1e6))
        assert np.isclose(near_by, far, rtol=1e-8)


def test_a_list_of_the_pairs_is_the_same_as_scores(data):
    X, y, qid = data
    prefs = Preferences.from_scores(y, qid)
    listed = Preferences(prefs.better, prefs.worse, 60)
    one, other = rb.RankSVM().fit(X, y, qid).lam_, rb.RankSVM().fit(X, listed).lam_
    assert np.isclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_items_are_read_in_blocks_of_any_length(data, block, monkeypatch):
    X, _, group = data
    weight = np.random.default_rng(0).random(60)
    whole = row_scatter(X.__getitem__, 4, weight, group)
    monkeypatch.setattr("rankbook.problems.scale.ENTRIES", 4 * block)
    assert np.isclose(row_scatter(X.__getitem__, 4, weight, group), whole, rtol=1e-13)


def test_forms_of_the_items_do_not_count(data):
    X, y, qid = data
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    wanted = rb.RankSVM(kernel="linear").fit(X, y, qid).lam_
    assert np.isclose(rb.RankSVM(kernel="linear").fit(csr_array(X), y, qid).lam_, wanted)
    single = rb.RankSVM(kernel="linear", solver="newton").fit(X.astype(np.float32), y, qid)
    assert np.isclose(single.lam_, wanted, rtol=1e-6)
    K = rb.RankSVM(kernel="precomputed").fit(X @ X.T, y, qid)
    assert np.isclose(K.lam_, wanted)


def blocks_of(X, y, qid, weight=None):
    some = [np.isin(qid, part) for part in ([0, 1], [2], [3, 4])]
    weigh = lambda rows: None if weight is None else weight[rows]
    return Blocks([Block(X[r], y[r], qid[r], weigh(r)) for r in some])


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("query_weight", [None, "equal"])
def test_blocks_of_a_ranking_svm_have_the_lambda_of_memory(data, loss, query_weight):
    X, y, qid = data
    model = rb.RankSVM(kernel="linear", loss=loss, query_weight=query_weight, solver="newton")
    weight = np.arange(60) % 3 * 1.0
    for given in (None, weight):
        wanted = model.fit(X, y, qid, sample_weight=given).lam_
        assert np.isclose(model.fit(blocks_of(X, y, qid, given)).lam_, wanted, rtol=1e-12)


@pytest.mark.parametrize("options", [dict(kernel="linear"), dict(basis=[[0.0] * 4, [1.0] * 4])])
def test_blocks_and_streams_of_rankrls_have_the_lambda_of_memory(data, options):
    X, y, qid = data
    model, weight = rb.RankRLS(**options), np.arange(60) % 3 * 1.0
    for given in (None, weight):
        at_once = model.fit(X, y, qid, sample_weight=given)
        lam, f = at_once.lam_, at_once.predict(X)
        in_blocks = model.fit(blocks_of(X, y, qid, given))
        assert np.isclose(in_blocks.lam_, lam, rtol=1e-12) and np.allclose(f, model.predict(X))
        part = lambda q: (qid == q).nonzero()[0]
        queries = [(X[part(q)], y[part(q)], qid[part(q)]) for q in range(5)]
        queries = [(*q, None if given is None else given[part(k)]) for k, q in enumerate(queries)]
        assert np.isclose(model.fit(iter(queries)).lam_, lam, rtol=1e-12)
        growing = rb.RankRLS(**options)
        for query in queries:
            growing.partial_fit(*query)
        assert np.isclose(growing.lam_, lam, rtol=1e-12)


# Cost


def test_preferences_of_scores_are_not_listed(data, monkeypatch):
    X, y, qid = data
    monkeypatch.setattr(Preferences, "_list", lambda self: pytest.fail("listed"))
    for options in (dict(loss="hinge"), dict(loss="squared")):
        rb.RankSVM(kernel="linear", solver="newton", **options).fit(X, y, qid)
    for prefs in (
        Preferences.from_scores(y, qid).item_weighted(np.arange(60) % 3),
        Preferences.from_scores(y, qid, level_weight={(2, 0): 3.0}),
    ):
        assert default_lam(rb.RankSVMProblem(X, prefs)) > 0


@pytest.mark.parametrize("with_queries", [False, True])
def test_the_kernel_matrix_is_made_once(data, monkeypatch, with_queries):
    X, y, qid = data
    made, calls = Kernel.centred_gram, []
    monkeypatch.setattr(Kernel, "centred_gram", lambda *a: calls.append(len(a[1])) or made(*a))
    for model in (rb.RankSVM(), rb.RankRLS()):
        calls.clear()
        model.fit(X, y, qid if with_queries else None)
        assert calls == [60]


def test_a_kernel_too_large_to_keep_is_made_by_queries(data, monkeypatch):
    X, y, qid = data
    for ids in (qid, None):
        kept = rb.RankRLSProblem(X, y, ids).gradient_scatter()
        with monkeypatch.context() as patched:
            patched.setattr(rb.RankRLSProblem, "WHOLE", 10)
            assert np.isclose(rb.RankRLSProblem(X, y, ids).gradient_scatter(), kept, rtol=1e-10)


# Degenerate data

LINE = np.array([[0.0], [1.0], [3.0]])


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize(
    "X, prefs",
    [
        (LINE, Preferences([0, 1], [1, 2], 3, margin=[0.0, 0.0])),
        (LINE, Preferences([0, 1], [1, 2], 3, margin=[0.0, -2.0])),
        (LINE, Preferences([0, 1, 2], [1, 2, 0], 3, weight=[0.3, 0.1 + 0.2, 0.3])),
        (np.full((3, 1), 0.1), Preferences([2, 2, 1], [0, 1, 0], 3)),
        (np.full((3, 1), 1e9 / 3), Preferences([2, 2, 1], [0, 1, 0], 3)),
    ],
    ids=["margins of 0", "margins below 0", "a cycle", "copies", "copies far away"],
)
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_where_every_lambda_gives_the_zero_function_it_is_one(X, prefs, kernel, loss):
    problem = rb.RankSVMProblem(X, prefs, kernel=kernel, loss=loss)
    assert default_lam(problem) == 1.0
    for lam in (1e-3, 1.0, 1e3):
        zero = rb.Solution(problem, lam, coef=np.zeros(3)).certificate
        assert zero.gap <= 1e-9
    model = rb.RankSVM(kernel=kernel, loss=loss).fit(X, preferences=prefs)
    assert model.lam_ == 1.0


def test_features_that_are_constant_in_every_query_leave_nothing_to_learn():
    """They differ between queries, by much, and their kernel has rounding errors."""
    level = np.repeat([0.1, 1e3 / 3, -7e5 / 9], 4)[:, None]
    y, qid = np.tile([0, 1, 2, 3], 3), np.repeat([0, 1, 2], 4)
    for kind in (rb.RankSVM, rb.RankRLS):
        for kernel in ("linear", "rbf"):
            model = kind(kernel=kernel).fit(level, y, qid)
            assert model.lam_ == 1.0 and np.ptp(model.predict(level[:4])) == 0
    assert rb.RankSVM(kernel="linear").fit(blocks_like(level, y, qid)).lam_ == 1.0
    assert rb.RankSVM(kernel="linear").fit(csr_array(level), y, qid).lam_ == 1.0
    assert rb.RankRLS(basis=3).fit(level, y, qid).lam_ == 1.0


def blocks_like(X, y, qid):
    return Blocks([Block(X[qid == q], y[qid == q], qid[qid == q]) for q in np.unique(qid)])


def test_a_stream_that_has_taught_nothing_yet_has_a_lambda():
    model = rb.RankRLS(kernel="linear").partial_fit([[0.0], [1.0]], [3, 3], qid=[1, 1])
    assert model.lam_ == 1.0 and not model.coef_.any()
    assert model.partial_fit([[0.0], [2.0]], [0, 1], qid=[2, 2]).lam_ != 1.0


@pytest.mark.parametrize("size", [1e-90, 1e-30, 1e30, 1e90])
def test_extreme_weights_and_scores_have_a_finite_lambda(data, size):
    X, y, qid = data
    prefs = Preferences.from_scores(y, qid)
    heavy = Preferences(prefs.better, prefs.worse, 60, np.full(len(prefs), size))
    ratio = default_lam(rb.RankSVMProblem(X, heavy)) / default_lam(rb.RankSVMProblem(X, prefs))
    assert np.isclose(ratio, size, rtol=1e-10)
    far = rb.RankRLSProblem(X, size * y, qid).gradient_scatter()
    assert np.isclose(far, rb.RankRLSProblem(X, y, qid).gradient_scatter(), rtol=1e-10)


# The parameter


def test_other_words_are_refused(data):
    X, y, qid = data
    for kind in (rb.RankSVM, rb.RankRLS):
        with pytest.raises(ValueError, match="lam is 'scal'. Pass a number > 0, or 'scale'."):
            kind(lam="scal").fit(X, y, qid)
        with pytest.raises(ValueError, match="lam is 0.0. Pass a finite number > 0"):
            kind(lam=0.0).fit(X, y, qid)
    for kind in (rb.OnlineRankSVM, rb.RayleighRanker):
        with pytest.raises(ValueError, match="lam is 'scale'. Pass a finite number > 0"):
            kind(lam="scale").fit(X, y > 0)


def test_a_number_is_used_as_it_is(data):
    X, y, qid = data
    for kind in (rb.RankSVM, rb.RankRLS):
        model = kind(lam=0.37).fit(X, y, qid)
        assert model.lam_ == model.certificate_.lam == model.solution_.lam == 0.37
        default = kind().fit(X, y, qid)
        assert default.lam == "scale" and default.lam_ == default.certificate_.lam != 0.37


def test_a_file_keeps_the_word_and_the_number(data, tmp_path):
    X, y, qid = data
    for kind in (rb.RankSVM, rb.RankRLS):
        model = kind().fit(X, y, qid)
        model.save(tmp_path / "m.rankbook")
        again = rb.load(tmp_path / "m.rankbook")
        assert (again.lam, again.lam_) == ("scale", model.lam_)


@pytest.mark.parametrize("count", [10, "auto"])
def test_a_projected_kernel_has_the_lambda_of_its_features(data, count):
    X, y, qid = data
    model = rb.RankSVM(approximate_kernel=count).fit(X, y, qid)
    assert model.lam_ == default_lam(model.solution_.problem)
    exact = rb.RankSVM().fit(X, y, qid).lam_
    assert 0.3 * exact < model.lam_ <= 1.0001 * exact


def test_single_precision_and_sparse_items_have_the_lambda_of_their_double_copy():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(60, 2)) + 1e4).astype(np.float32)
    X[0] = 0  # so that no column is shifted
    y, qid = rng.integers(0, 3, 60), np.r_[0, 0, np.ones(58)]
    copies = X, X.astype(np.float64), csr_array(X), csr_array(X.astype(np.float64))
    for fit in (rb.RankSVM(kernel="linear"), rb.RankSVM(kernel="linear", loss="squared")):
        lams = [fit.fit(Z, y, qid).lam_ for Z in copies]
        assert np.allclose(lams, lams[1], rtol=1e-6)
    lams = [rb.RankRLS(kernel="linear").fit(Z, y, qid).lam_ for Z in copies]
    assert np.allclose(lams, lams[1], rtol=1e-6)


def test_squares_of_single_precision_are_summed_in_double_precision():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(500, 30)) * 10.0 ** rng.integers(-15, 15, 30)).astype(np.float32)
    exact = X.astype(np.float64) ** 2
    for Z in (X, csr_array(X)):
        assert np.allclose(square_norms(Z), exact.sum(axis=1), rtol=1e-14)
        assert np.allclose(column_squares(Z), exact.sum(axis=0), rtol=1e-13)
    problem = rb.RankSVMProblem(csr_array(X), Preferences.from_scores(np.arange(500)), "linear")
    assert np.allclose(problem.feature_units**-2, exact.sum(axis=0), rtol=1e-13)
