"""Preferences that are left out, and the estimator that chooses by them.

Everything is compared with learning again, by a solver of its own from the definition.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import GroupKFold, KFold

import rankbook as rb
from rankbook.selection.folds import pair_folds
from rankbook.selection.leave_preference_out import left_out_differences, preference_groups

LAMS = np.array([1e-2, 0.3, 5.0, 1e3])
N, M = 24, 90
KERNELS = {
    "linear": dict(kernel="linear"),
    "rbf": dict(kernel="rbf", gamma=0.4),
    "poly": dict(kernel="poly", degree=2),
    "precomputed": dict(kernel="precomputed"),
    "wide": dict(kernel="linear"),
    "basis": dict(kernel="rbf", gamma=0.4, basis=np.arange(0, N, 3)),
}


def data(kind, seed=0):
    """Items, preferences with weights (some 0) and margins of any sign, and groups."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 40 if kind == "wide" else 3))
    X[5] = X[6]
    pairs = np.array([rng.choice(N, 2, replace=False) for _ in range(M)])
    pairs[7] = pairs[8][::-1]
    weight = np.where(rng.random(M) < 0.1, 0.0, rng.uniform(0.2, 3, M))
    prefs = rb.Preferences(*pairs.T, N, weight, rng.normal(1, 1, M))
    X = X @ X.T + 1.0 if kind == "precomputed" else X
    return X, prefs, rng.permutation(np.arange(N) % 4)


def gram(X, options):
    kernel = options["kernel"]
    if kernel == "precomputed":
        return X
    if kernel == "rbf":
        return np.exp(-options["gamma"] * ((X[:, None] - X) ** 2).sum(axis=2))
    return X @ X.T if kernel == "linear" else (X @ X.T / X.shape[1] + 1.0) ** 2


def learnt_again(X, prefs, kept, lam, options):
    """Scores (N,) of ridge regression on the differences of some preferences."""
    K, kept = gram(X, options), np.flatnonzero(kept)
    P = prefs.incidence().toarray()[kept]
    c, d = prefs.weight[kept], prefs.margin[kept]
    if "basis" in options:
        values, V = np.linalg.eigh(K[np.ix_(options["basis"], options["basis"])])
        Z = K[:, options["basis"]] @ (V / np.sqrt(values))
        D = P @ Z
        normal = D.T @ (c[:, None] * D) + lam * np.eye(Z.shape[1])
        return Z @ np.linalg.solve(normal, D.T @ (c * d))
    root = np.sqrt(c)
    Q = root[:, None] * (P @ K @ P.T) * root
    return K @ P.T @ (root * np.linalg.solve(Q + lam * np.eye(len(kept)), root * d))


@pytest.mark.parametrize("kind", KERNELS)
def test_differences_are_those_of_learning_again(kind):
    X, prefs, _ = data(kind)
    options = KERNELS[kind]
    if kind == "poly":
        options = dict(kernel=rb.kernels.Kernel(**options))
    solver = "sparse-rls" if "basis" in options else "rls"
    path = rb.solve_path(rb.RankRLSProblem(X, graph=prefs, **options), solver=solver)
    rng = np.random.default_rng(1)
    removed = [np.array([7])] + [
        rng.choice(M, size, replace=False) for size in (1, 2, 3, 9, 30, 60)
    ]
    judged = [out[:4] for out in removed]
    found = left_out_differences(path, removed, judged, LAMS)
    for lam, row in zip(LAMS, found):
        expected = []
        for out, asked in zip(removed, judged):
            kept = np.ones(M, dtype=bool)
            kept[out] = False
            f = learnt_again(X, prefs, kept, lam, options)
            expected.append((f[prefs.better] - f[prefs.worse])[asked])
        assert np.allclose(row, np.concatenate(expected), rtol=0, atol=1e-8)


def shares(X, prefs, parts, lam, options, pooled):
    """The disagreement of parts (left out, judged), by learning again."""
    missed, total = [], []
    for out, asked in parts:
        f = learnt_again(X, prefs, ~out, lam, options)
        d, w = (f[prefs.better] - f[prefs.worse])[asked], prefs.weight[asked]
        missed.append(w @ ((d < -1e-9) + 0.5 * (np.abs(d) <= 1e-9)))
        total.append(w.sum())
    missed, total = np.array(missed), np.array(total)
    return missed.sum() / total.sum() if pooled else (missed / total).mean()


def parts_of(cv, by, X, prefs, group):
    """The parts by definition: masks (m,) of what is left out and of what is judged."""
    ends = prefs.better, prefs.worse
    if cv == "lpo":
        for pair in {tuple(sorted(p)) for p in np.column_stack(ends).tolist()}:
            inside = np.isin(ends[0], pair) & np.isin(ends[1], pair)
            touched = np.isin(ends[0], pair) | np.isin(ends[1], pair)
            if prefs.weight[inside].any():
                yield (inside if by == "pair" else touched), inside
    elif cv == "query":
        for g in range(4):
            first, last = (group[end] == g for end in ends)
            yield first | last, first & last
    else:
        for fold in pair_folds(cv, X, prefs, by, group)[0]:
            if by == "pair":
                rows = set(zip(*(v.tolist() for v in (fold.target.better, fold.target.worse))))
                inside = np.array([p in rows for p in zip(*(v.tolist() for v in ends))])
                yield inside, inside
            else:
                first, last = (np.isin(end, fold.test) for end in ends)
                yield first | last, first & last


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize(
    "cv, by",
    [(3, "item"), (4, "pair"), (2, "group"), ("lpo", "pair"), ("lpo", "item"), ("query", "group")],
)
def test_the_estimator_s_table_is_that_of_learning_again(kind, cv, by):
    X, prefs, group = data(kind)
    options = KERNELS[kind]
    group = group if by == "group" else None
    model = rb.RankRLSCV(LAMS, cv=cv, fold_by=by, **options).fit(X, preferences=prefs, groups=group)
    parts = list(parts_of(cv, by, X, prefs, group))
    for lam, value in zip(LAMS, model.cv_values_[:, 0]):
        assert np.isclose(
            value, shares(X, prefs, parts, lam, options, cv == "lpo"), rtol=0, atol=1e-8
        )
    assert model.n_dropped_ == M - np.any([asked for _, asked in parts], axis=0).sum()
    one = rb.RankRLS(model.lam_, **options).fit(X, preferences=prefs)
    P = prefs.incidence()
    assert np.allclose(P @ model.predict(X), P @ one.predict(X), rtol=0, atol=1e-8)


def test_splitters_pairs_names_and_several_gammas():
    X, prefs, group = data("rbf")
    pairs = rb.Preferences(prefs.better, prefs.worse, len(X))
    tried = dict(lams=LAMS, gamma=[0.1, 0.4], fold_by="item")
    a = rb.RankRLSCV(cv=KFold(3), **tried).fit(X, preferences=pairs)
    b = rb.RankRLSCV(cv=list(KFold(3).split(X)), n_jobs=2, **tried).fit(X, preferences=pairs)
    assert np.array_equal(a.cv_values_, b.cv_values_) and a.cv_values_.shape == (4, 2)
    assert np.array_equal(a.predict(X), b.predict(X)) and a.gamma_ in (0.1, 0.4)
    one = rb.RankRLSCV(LAMS, gamma=0.1, cv=KFold(3)).fit(X, preferences=pairs)
    assert np.allclose(one.cv_values_[:, 0], a.cv_values_[:, 0], rtol=0, atol=1e-12)
    by = rb.RankRLSCV(LAMS, cv=GroupKFold(2), fold_by="group")
    assert by.fit(X, preferences=pairs, groups=group).best_value_ > 0
    drawn = [
        rb.RankRLSCV(LAMS, basis=9, cv=3, random_state=4).fit(X, preferences=pairs).predict(X)
        for _ in range(2)
    ]
    assert np.array_equal(*drawn)


def test_folds_are_those_of_the_ranking_svm():
    X, prefs, group = data("linear")
    for by in ("item", "pair", "group"):
        of = group if by == "group" else None
        svm = rb.RankSVMCV("linear", cv=3, fold_by=by, solver="path").fit(
            X, preferences=prefs.reweighted(prefs.weight), groups=of
        )
        rls = rb.RankRLSCV(LAMS, "linear", cv=3, fold_by=by).fit(X, preferences=prefs, groups=of)
        assert svm.n_dropped_ == rls.n_dropped_


@pytest.mark.parametrize(
    "options, given, said",
    [
        (dict(fold_by="items"), {}, "fold_by is 'items'.*did you mean 'item'"),
        (dict(cv="loo"), {}, "cv is 'loo'.*A single item has no preference"),
        (dict(cv="query"), {}, "cv is 'query'.*fold_by='item'"),
        (dict(cv="lpo", fold_by="group"), dict(groups=np.arange(N) % 3), "cv is 'lpo'.*'group'"),
        (dict(cv="query", fold_by="group"), {}, "fold_by is 'group' and groups is None"),
        (dict(cv=3, fold_by="group"), {}, "fold_by is 'group' and groups is None"),
        (dict(), dict(qid=np.arange(N) % 3), "preferences and qid are both given"),
        (dict(), dict(y=np.arange(N)), "preferences and y are both given"),
        (dict(metric="auc"), {}, "metric is 'auc' and preferences are given"),
        (dict(graph="identity"), {}, "preferences and graph are both given"),
        (dict(cv=1), {}, "cv is 1"),
        (dict(basis=N + 1, cv=3), {}, "basis"),
    ],
)
def test_what_is_refused(options, given, said):
    X, prefs, _ = data("rbf")
    model = rb.RankRLSCV(LAMS, **options)
    with pytest.raises(ValueError, match=said):
        model.fit(X, preferences=prefs, **given)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_too_little_to_leave_out_is_refused():
    X, _, _ = data("rbf")
    two = rb.Preferences([0, 1], [1, 0], N)
    for by in ("pair", "item"):
        with pytest.raises(ValueError, match="preferences compare only one pair of items"):
            rb.RankRLSCV(LAMS, cv="lpo", fold_by=by).fit(X, preferences=two)
    with pytest.raises(ValueError, match="fold_by is 'pair', which requires preferences"):
        rb.RankRLSCV(LAMS, fold_by="pair").fit(X, np.arange(N))
    problem = rb.RankRLSProblem(X, np.arange(N))
    path = rb.solve_path(problem, solver="rls")
    with pytest.raises(ValueError, match="path belongs to a problem with scores y"):
        left_out_differences(path, [np.arange(2)], [np.arange(2)], [1.0])
    with pytest.raises(TypeError, match="path is an int"):
        left_out_differences(3, [np.arange(2)], [np.arange(2)], [1.0])
    weighted = rb.RankRLSProblem(X, np.arange(N), graph=csr_array(np.ones((N, N))))
    with pytest.raises(ValueError, match="path belongs to a problem with scores y"):
        path = rb.solve_path(weighted, solver="rls")
        left_out_differences(path, [np.arange(2)], [np.arange(2)], [1.0])


def test_groups_that_cannot_be_judged_are_counted():
    prefs = rb.Preferences([0, 1, 2, 3], [1, 2, 3, 0], 4, weight=[1.0, 1.0, 1.0, 0.0])
    groups, n_dropped = preference_groups("lpo", None, prefs, "item")
    assert [out.tolist() for out in groups.removed] == [[0, 1, 3], [1, 2, 3]]
    assert [asked.tolist() for asked in groups.judged] == [[0], [2]] and n_dropped == 2


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("cv, fold_by", [(4, "item"), (3, "pair"), (3, "group"), ("lpo", "pair")])
def test_two_weights_as_listed_pairs(kernel, cv, fold_by):
    """Training parts that are counted give the values of lists."""
    rng = np.random.default_rng(0)
    n = 36 if cv != "lpo" else 16
    X, y = rng.normal(size=(n, 3)), rng.integers(0, 5, n).astype(float)
    a, b = rng.uniform(0.5, 2, n), rng.integers(0, 2, n).astype(float)
    prefs = rb.Preferences.from_scores(y).item_weighted(a, b)
    listed = rb.Preferences(prefs.better, prefs.worse, n, weight=prefs.weight)
    groups = np.arange(n) % 6 if fold_by == "group" else None
    cv = list(KFold(cv).split(X)) if fold_by == "item" else cv
    options = dict(lams=[0.01, 1.0, 100.0], kernel=kernel, cv=cv, fold_by=fold_by)
    ours, theirs = (
        rb.RankRLSCV(**options).fit(X, preferences=each, groups=groups) for each in (prefs, listed)
    )
    assert np.allclose(ours.cv_values_, theirs.cv_values_, rtol=0, atol=1e-9)
    assert ours.lam_ == theirs.lam_ and ours.n_dropped_ == theirs.n_dropped_
    assert np.array_equal(
        rb.RankRLSCV(**options).fit(X, prefs, groups=groups).cv_values_, ours.cv_values_
    )
