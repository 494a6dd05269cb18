"""Estimators on blocks against the same data in one place."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import rankbook as rb
from rankbook.data.blocks import Stored


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    X, qid = rng.normal(size=(300, 6)), np.sort(rng.integers(0, 20, 300))
    y = np.round(X[:, 0] + 0.5 * rng.normal(size=300))
    return X, y, qid, rng.integers(0, 3, 300).astype(float)


def cut(X, y, qid, weight=None, at=(5, 11)):
    part = np.searchsorted(at, qid, side="right")
    return rb.Blocks(
        rb.Block(X[i], y[i], qid[i], None if weight is None else weight[i], name=f"b{k}")
        for k, i in ((k, np.flatnonzero(part == k)) for k in range(len(at) + 1))
    )


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("weighted", [False, True])
def test_ranksvm(data, loss, weighted):
    X, y, qid, weight = data
    weight = weight if weighted else None
    model = rb.RankSVM(5.0, kernel="linear", loss=loss).fit(cut(X, y, qid, weight))
    whole = rb.RankSVM(5.0, kernel="linear", loss=loss, solver=("newton", dict(tol=1e-9)))
    whole.fit(X, y, qid=qid, sample_weight=weight)
    assert np.isclose(model.certificate_.primal, whole.certificate_.primal, rtol=1e-6)
    assert np.allclose(model.predict(X), X @ model.coef_) and model.n_features_in_ == 6
    assert model.certificate_.relative_gap <= 1e-6 and model.solver_.startswith("newton")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("graph", [None, "identity"])
def test_rankrls(data, weighted, graph):
    X, y, qid, weight = data
    weight = weight if weighted else None
    model = rb.RankRLS(0.5, kernel="linear", graph=graph).fit(cut(X, y, qid, weight))
    whole = rb.RankRLS(0.5, kernel="linear", graph=graph)
    whole.fit(X, y, qid=None if graph else qid, sample_weight=weight)
    assert np.allclose(model.coef_, whole.coef_, rtol=1e-10)
    again = model.partial_fit(X[:10], y[:10], qid=np.full(10, 99))
    assert again.statistics_.n_queries == np.unique(qid).size + 1


@pytest.mark.parametrize("weighted", [False, True])
def test_queries_of_equal_weight(data, weighted):
    X, y, qid, weight = data
    weight = weight if weighted else None
    options = dict(kernel="linear", query_weight="equal")
    svm, rls = (cls(0.05, **options) for cls in (rb.RankSVM, rb.RankRLS))
    whole = rb.RankRLS(0.05, **options).fit(X, y, qid=qid, sample_weight=weight)
    assert np.allclose(rls.fit(cut(X, y, qid, weight)).coef_, whole.coef_, rtol=1e-10)
    whole = rb.RankSVM(0.05, **options, solver=("newton", dict(tol=1e-9)))
    whole.fit(X, y, qid=qid, sample_weight=weight)
    primal = svm.fit(cut(X, y, qid, weight)).certificate_.primal
    assert np.isclose(primal, whole.certificate_.primal, rtol=1e-5)


def test_rankrls_with_a_basis(data):
    X, y, qid, _ = data
    model = rb.RankRLS(0.5, basis=X[:9]).fit(cut(X, y, qid))
    whole = rb.RankRLS(0.5, basis=X[:9]).fit(X, y, qid=qid)
    assert np.allclose(model.predict(X), whole.predict(X), rtol=1e-9)
    drawn = [rb.RankRLS(0.5, basis=30, random_state=3).fit(cut(X, y, qid)) for _ in range(2)]
    assert np.array_equal(drawn[0].predict(X), drawn[1].predict(X))
    assert drawn[0].score(X, y, qid) > 0.75
    items = {tuple(row) for row in X}
    assert all(tuple(row) in items for row in drawn[0].function_.items)


@pytest.mark.parametrize("options", [dict(kernel="linear"), dict(basis=7), dict(gamma=[0.1, 1.0])])
def test_rankrls_cv(data, options):
    X, y, qid, _ = data
    options = dict(options, basis=X[:7]) if "kernel" not in options else options
    lams = np.logspace(-2, 3, 6)
    model = rb.RankRLSCV(lams, cv="query", **options).fit(cut(X, y, qid))
    assert model.cv_values_.shape == (6, np.size(options.get("gamma")))
    for gamma, column in zip(model.gammas_, model.cv_values_.T):
        kinds = dict(kernel=options.get("kernel", "rbf"), gamma=gamma, basis=options.get("basis"))
        for lam, value in zip(lams[::3], column[::3]):
            shares = []
            for q in np.unique(qid):
                out = qid == q
                if np.unique(y[out]).size > 1:
                    rest = rb.RankRLS(lam, **kinds).fit(X[~out], y[~out], qid=qid[~out])
                    shares.append(rb.disagreement(y[out], rest.predict(X[out])))
            assert np.isclose(value, np.mean(shares), atol=1e-12)
    best = rb.RankRLS(model.lam_, **dict(kinds, gamma=model.gamma_)).fit(X, y, qid=qid)
    assert np.allclose(model.predict(X), best.predict(X), rtol=1e-8)
    assert model.n_features_in_ == 6 and model.best_value_ == model.cv_values_.min()


def test_sparse_blocks(data):
    X, y, qid, _ = data
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    blocks = cut(csr_array(X), y, qid)
    assert np.allclose(
        rb.RankRLS(0.5, kernel="linear").fit(blocks).coef_,
        rb.RankRLS(0.5, kernel="linear").fit(X, y, qid=qid).coef_,
    )
    assert rb.RankSVM(5.0, kernel="linear").fit(blocks).certificate_.relative_gap <= 1e-6


@pytest.mark.parametrize(
    ("model", "given", "words"),
    [
        (rb.RankSVM(), {}, "kernel is 'rbf' and X holds blocks. Pass 'linear'"),
        (
            rb.RankSVM(kernel="linear", penalty="l1"),
            {},
            "penalty is 'l1' and X holds blocks. Pass 'l2' with blocks. Sparse penalties need",
        ),
        (rb.RankSVM(kernel="linear", graph="star"), {}, "graph is 'star' and X holds blocks"),
        (rb.RankSVM(kernel="linear", query_weight=[1.0]), {}, r"query_weight is \[1.0\] and X hol"),
        (rb.RankRLS(kernel="linear", query_weight=[1.0]), {}, r"query_weight is \[1.0\] and X hol"),
        (
            rb.RankRLS(kernel="linear", query_weight="equal", graph="identity"),
            {},
            "query_weight is given and graph",
        ),
        (rb.RankSVM(kernel="linear"), dict(qid=[1]), "qid is given and X holds blocks"),
        (rb.RankSVM(kernel="linear", lam=-1.0), {}, "lam is -1.0"),
        (rb.RankSVM(kernel="linear", solver="qp"), {}, "float64, not blocks"),
        (rb.RankRLS(), {}, "kernel is 'rbf' and basis is None"),
        (rb.RankRLS(basis=[0, 1]), {}, "basis has row numbers and X holds blocks"),
        (rb.RankRLS(basis=1000), {}, "basis is 1000"),
        (rb.RankRLS(kernel="linear", penalty="l1"), {}, "penalty is 'l1' and X holds blocks"),
        (rb.RankRLS(kernel="linear"), dict(y=[1]), "y is given and X holds blocks"),
        (rb.RankRLSCV(kernel="linear"), {}, "cv is 5 and X holds blocks. Pass 'query'"),
        (rb.RankRLSCV(kernel="linear", cv="query", metric="ndcg"), {}, "metric is 'ndcg' and X"),
        (rb.RankRLSCV(kernel="linear", cv="query"), dict(qid=[1]), "qid is given and X holds"),
    ],
)
def test_what_is_no_sum_is_refused_and_nothing_is_fitted(data, model, given, words):
    before = dict(vars(model))
    with pytest.raises(ValueError, match=words):
        model.fit(cut(*data[:3]), **given)
    assert vars(model) == before


def test_a_refit_forgets_names_and_keeps_its_fit_after_an_error(data):
    pd = pytest.importorskip("pandas")
    X, y, qid, _ = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = rb.RankSVM(5.0, kernel="linear").fit(frame, y, qid=qid)
    with pytest.raises(ValueError, match="no preference"):
        model.fit(rb.Blocks([rb.Block(X, np.zeros(300))]))
    assert list(model.feature_names_in_) == list("abcdef")
    model.fit(cut(X, y, qid))
    assert not hasattr(model, "feature_names_in_")


FITTED = (
    rb.RankSVM(5.0, kernel="linear"),
    rb.RankRLS(kernel="linear"),
    rb.RankRLSCV([0.1, 1.0], kernel="linear", cv="query"),
)


@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_names_of_features(data, model, tmp_path):
    pd = pytest.importorskip("pandas")
    X, y, qid, _ = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    by_query = np.argsort(qid, kind="stable")
    frame, y, qid = frame.iloc[by_query], y[by_query], qid[by_query]
    cuts = np.searchsorted(qid, [0, 7, 100])
    parts = [slice(i, j) for i, j in zip(cuts, cuts[1:])]
    blocks = rb.Blocks(rb.Block(frame.iloc[i], y[i], qid[i]) for i in parts)
    model = clone(model).fit(blocks)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.feature_names_in_.dtype == object and model.n_features_in_ == 6
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list("bacdef")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        share = rb.metrics.over_blocks("disagreement", blocks, model)
    assert np.isclose(share, 1 - model.score(frame, y, qid))
    other = rb.Blocks([rb.Block(frame[list("bacdef")], y, qid)])
    with pytest.raises(ValueError, match="feature names should match"):
        rb.metrics.over_blocks("disagreement", other, model)
    model.save(tmp_path / "a.rb")
    assert rb.load(tmp_path / "a.rb").feature_names_in_.tolist() == list("abcdef")
    model.fit(cut(*data[:3]))
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_blocks_that_do_not_fit_together(model):
    X, y = np.eye(4), [0.0, 1, 2, 3]
    first = rb.Block(X, y, [1, 1, 2, 2], name="first")
    for other, words in (
        (rb.Block(X, y, ["1", "1", "4", "4"], name="other"), "other has query ids that are text"),
        (
            rb.Block(X, y, [3, 3, 2, 2], name="other"),
            "blocks have the query 2 in first and in other",
        ),
        (rb.Block(X, y, name="other"), "other has no qid, and there are 2 blocks"),
        (rb.Block(X[:, :3], y, [3] * 4, name="other"), "other has 3 features and first has 4"),
        (rb.Block(1e200 * X, y, [3] * 4, name="other"), r"other: X has 1e\+200 in row 0"),
    ):
        model = clone(model)
        with pytest.raises(ValueError, match=words):
            model.fit(rb.Blocks([first, other]))
        assert vars(model) == vars(clone(model))


def test_weights_that_are_all_zero():
    X, y = np.eye(4), [0.0, 1, 2, 3]
    blocks = rb.Blocks([rb.Block(X, y, [1, 1, 2, 2], [0, 0, 1, 0])])
    with pytest.raises(
        ValueError, match="blocks have no preference of positive weight: .* Pass at least one"
    ):
        rb.RankSVM(kernel="linear").fit(blocks)


@pytest.mark.parametrize("kind", ["array", "float32", "frame", "csr", "stored"])
def test_blocks_scaled_by_scikit_learn(kind):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    n, d = 120, 4
    raw = np.where(rng.random((n, d)) < 0.3, 0.0, rng.normal(size=(n, d)))
    X = (raw + (kind != "csr")) * [1e-3, 1.0, 50.0, 1e4]
    y, qid = np.round(raw[:, 0] - raw[:, 3] + rng.normal(size=n)), np.arange(n) // 15
    names = list("abcd")
    as_kind = dict(
        float32=lambda A: A.astype(np.float32),
        frame=lambda A: pd.DataFrame(A, columns=names),
        csr=csr_array,
    ).get(kind, lambda A: A)
    weight = rng.integers(1, 3, n).astype(float)
    parts = [
        rb.Block(as_kind(X[s]), y[s], qid[s], weight[s], name=f"part {s.start}", first=s.start)
        for s in (slice(0, 15), slice(15, 75), slice(75, 120))
    ]
    blocks = (
        rb.Blocks(Stored(lambda b=b: b) for b in parts) if kind == "stored" else rb.Blocks(parts)
    )
    scaler = StandardScaler(with_mean=kind != "csr")
    for block in blocks:
        scaler.partial_fit(block.named_items())
    whole = clone(scaler).fit(X)
    assert np.allclose(scaler.var_, whole.var_, rtol=1e-5)
    scaled = blocks.transform(scaler)
    assert scaled.is_stored is blocks.is_stored and len(scaled) == 3
    for block, before in zip(scaled, blocks):
        found = block.X.toarray() if kind == "csr" else block.X
        A = before.X.toarray() if kind == "csr" else before.X
        assert np.allclose(found, whole.transform(A), rtol=1e-5, atol=1e-4)
        assert block.X.dtype == before.X.dtype and block.first == before.first
        assert block.name == before.name and np.array_equal(block.weight, before.weight)
    options = dict(lam=5.0, kernel="linear", solver=("newton", dict(tol=1e-9)))
    model = rb.RankSVM(**options).fit(scaled)
    at_once = rb.RankSVM(**options).fit(whole.transform(X), y, qid, weight)
    assert np.allclose(model.coef_, at_once.coef_, rtol=1e-4, atol=1e-6)
    pipeline = make_pipeline(scaler, model)
    new = as_kind(X[:7])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(
            pipeline.predict(new), at_once.predict(whole.transform(X[:7])), rtol=1e-3
        )
        quality = rb.metrics.over_blocks("pair_accuracy", blocks, pipeline)
    assert np.isclose(quality, rb.metrics.over_blocks("pair_accuracy", scaled, model))


def test_transformers_that_do_not_fit():
    from sklearn.preprocessing import StandardScaler

    blocks = rb.Blocks([rb.Block([[0.0, 1.0], [1.0, 2.0]], [0, 1], name="a.csv")])
    with pytest.raises(
        ValueError, match="transformer is 3. Pass a fitted scikit-learn transformer"
    ):
        blocks.transform(3)
    with pytest.raises(ValueError, match="a.csv: This StandardScaler instance is not fitted yet"):
        blocks.transform(StandardScaler())
    with pytest.raises(
        ValueError, match="a.csv: X has 2 features, but StandardScaler is expecting 1"
    ):
        blocks.transform(StandardScaler().fit([[0.0], [1.0]]))
    names = (
        StandardScaler()
        .set_output(transform="pandas")
        .fit(pd.DataFrame({"u": [0, 1], "v": [2, 1]}))
    )
    named = rb.Blocks([rb.Block(pd.DataFrame({"u": [0.0, 1], "v": [1.0, 2]}), [0, 1])])
    assert next(iter(named.transform(names))).feature_names == ("u", "v")


def test_lambda_for_blocks_by_a_path_and_held_out_items():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(240, 4)), np.arange(240) // 20
    y = np.round(X[:, 0] - X[:, 1] + rng.normal(size=240))
    blocks = rb.Blocks(
        rb.Block(X[i : i + 60], y[i : i + 60], qid[i : i + 60]) for i in (0, 60, 120)
    )
    held_out = X[180:], y[180:], qid[180:]
    with pytest.raises(
        ValueError, match=r"X is Blocks. .* With blocks, choose lambda by rankbook.val"
    ):
        rb.RankSVMCV(kernel="linear", cv=3).fit(blocks)
    path = rb.solve_path(rb.BlockRankSVMProblem(blocks), 20.0, "newton", eps=1e-3)  # as it says
    with pytest.raises(
        ValueError, match=r"X_val is Blocks\(3 blocks\). .* Pass the items of one bl"
    ):
        rb.validation_curve(path, blocks, y)
    curve = rb.validation_curve(path, *held_out[:2], qid=held_out[2])
    judged = rb.Blocks([rb.Block(*held_out)])
    for lam in (curve.choose(), *np.geomspace(21.0, 5000.0, 20)):
        found = rb.metrics.over_blocks("disagreement", judged, path.solution(lam))
        assert np.isclose(found, curve.at(lam))


@pytest.mark.parametrize("model", [rb.RankSVM, rb.RankRLS])
def test_a_gamma_of_no_use_is_refused_as_in_memory(model):
    X, y = [[0.0], [1.0], [3.0]], [0, 1, 2]
    for given in ((X, y), (rb.Blocks([rb.Block(X, y)]),)):
        with pytest.raises(ValueError, match="gamma is 1, and kernel is 'linear', which has no"):
            model(kernel="linear", gamma=1).fit(*given)


@pytest.mark.parametrize("query_weight", [None, "equal"])
def test_two_weights(data, query_weight):
    X, y, qid, better = data
    worse = np.random.default_rng(2).integers(0, 2, len(y)).astype(float)
    worse[qid > 11] = 0  # a block without a preference
    rows = np.split(np.arange(len(y)), np.searchsorted(qid, [6, 12]))
    both = lambda i: dict(weight=better[i], worse_weight=worse[i])
    blocks = rb.Blocks(rb.Block(X[i], y[i], qid[i], **both(i)) for i in rows)
    prefs = rb.Preferences.from_scores(y, qid).item_weighted(better, worse)
    prefs = prefs if query_weight is None else prefs.query_weighted()
    options = dict(kernel="linear", query_weight=query_weight)
    model = rb.RankRLS(**options).fit(blocks)
    whole = rb.RankRLS(kernel="linear").fit(X, prefs)
    assert np.isclose(model.lam_, whole.lam_, rtol=1e-9)
    assert np.allclose(model.coef_, whole.coef_, rtol=1e-9)
    assert np.isclose(model.certificate_.primal, whole.certificate_.primal, rtol=1e-9)
    for loss in ("hinge", "squared"):
        model = rb.RankSVM(**options, loss=loss).fit(blocks)
        whole = rb.RankSVM(kernel="linear", loss=loss, solver="newton").fit(X, prefs)
        assert np.isclose(model.lam_, whole.lam_, rtol=1e-9)
        assert np.isclose(model.certificate_.primal, whole.certificate_.primal, rtol=1e-6)
    with pytest.raises(ValueError, match="item weights"):
        rb.RankRLSCV(cv="query", kernel="linear").fit(blocks)
    with pytest.raises(ValueError, match="graph is 'identity'"):
        rb.RankRLS(kernel="linear", graph="identity").fit(blocks)


def test_partial_fit_of_preferences_with_two_weights(data):
    X, y, qid, better = data
    worse = np.random.default_rng(2).integers(0, 2, len(y)).astype(float)
    prefs = rb.Preferences.from_scores(y).item_weighted(better, worse)
    whole = rb.RankRLS(0.5, kernel="linear").fit(X[:200], prefs[:200])
    grown = whole.partial_fit(X[200:], prefs[200:]).coef_
    pair = rb.RankRLS(0.5, kernel="linear").partial_fit(X[200:], prefs[200:])
    assert np.allclose(pair.partial_fit(X[:200], prefs[:200]).coef_, grown, rtol=1e-9)
    halves = [
        np.r_[prefs[i].better, prefs[i].worse].reshape(2, -1) + i.start
        for i in (slice(0, 200), slice(200, 300))
    ]
    listed = rb.Preferences(
        *np.hstack(halves), 300, weight=np.r_[prefs[:200].weight, prefs[200:].weight]
    )
    assert np.allclose(grown, rb.RankRLS(0.5, kernel="linear").fit(X, preferences=listed).coef_)
    single = rb.RankRLS(kernel="linear").fit(X[:3], preferences=rb.Preferences([1], [0], 3))
    with pytest.raises(ValueError, match="individual pairs"):
        single.partial_fit(X, y, qid)


@pytest.mark.parametrize("kind", [rb.RankSVM, rb.RankRLS])
@pytest.mark.parametrize("given", [dict(gamma=1), dict(degree=0), dict(coef0=-1)])
def test_parameters_of_a_linear_kernel_are_judged_alike_in_blocks_and_in_memory(kind, given):
    X, y = np.arange(8.0).reshape(4, 2) ** 2, np.array([0, 1, 2, 1])
    words = []
    for rows in ((X, y), (rb.Blocks([rb.Block(X, y, np.ones(4, int))]),)):
        with pytest.raises(ValueError) as refused:
            kind(kernel="linear", **given).fit(*rows)
        words.append(str(refused.value))
    assert words[0] == words[1]
