"""Preferences in place of scores: what every estimator makes of them.

Against the same preferences as a problem of their own.
"""

import numpy as np
import pandas as pd
import pytest

import rankbook as rb

N = 30


@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N, 3))
    better, worse = np.array([rng.choice(N, 2, replace=False) for _ in range(80)]).T
    names = [f"n{i}" for i in rng.permutation(N)]
    return pd.DataFrame(X, columns=list("abc"), index=names), np.c_[better, worse]


MODELS = [
    rb.RankSVM(lam=0.5),
    rb.RankSVM(lam=0.5, kernel="linear", loss="squared"),
    rb.RankSVM(lam=0.5, approximate_kernel=10),
    rb.RankRLS(lam=0.5),
    rb.RankRLS(lam=0.5, kernel="linear"),
    rb.RankRLS(lam=0.5, basis=12),
    rb.RankRLS(lam=0.5, kernel="linear", penalty="l1"),
    rb.OnlineRankSVM(lam=0.1, tol=0.1),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_pairs_names_and_preferences_are_the_same(model, data):
    frame, pairs = data
    X, names = frame.to_numpy(), np.array(frame.index)[pairs]
    prefs = rb.Preferences(*pairs.T, N)
    expected = model.fit(X, preferences=prefs).predict(X)
    for items, given in (
        (frame, names),
        (frame, names.tolist()),
        (frame, [tuple(pair) for pair in names]),
        (frame, pd.DataFrame(names, columns=["winner", "loser"])),
        (frame, pd.DataFrame(names[:, ::-1], columns=["loser", "winner"]).assign(judge="Ann")),
        (frame, pd.DataFrame(names, columns=["clicked", "skipped"])),
        (frame, rb.Preferences.from_pairs(names, items=frame.index)),
        (frame.reset_index(drop=True), pairs),
    ):
        assert np.array_equal(model.fit(items, preferences=given).predict(items), expected)
    turned = frame.iloc[::-1]  # by name rows may stand anywhere
    again = model.fit(turned, preferences=names).predict(frame)
    drawn = isinstance(model, rb.OnlineRankSVM) or model.get_params().get("basis")
    if not drawn and not model.get_params().get("approximate_kernel"):
        assert np.allclose(again, expected, atol=2e-2)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_what_is_refused_leaves_nothing_behind(model, data):
    frame, pairs = data
    X, names = frame.to_numpy(), np.array(frame.index)[pairs]
    fresh = type(model)(**model.get_params())
    other = rb.Preferences.from_pairs(names)  # rows as they come, not as in X
    prefs = rb.Preferences(*pairs.T, N)
    for items, given, beside, said in (
        (X, pairs, dict(y=np.arange(N)), "preferences and y are both given"),
        (X, pairs, dict(qid=np.arange(N)), "preferences and qid are both given"),
        (X, pairs, dict(sample_weight=np.ones(N)), "preferences and sample_weight are both"),
        (X, pairs, {}, "preferences holds row numbers, .*n_items=len"),
        (X, 7, {}, "preferences is an int. Pass a data frame, or pairs"),
        (X, names, {}, r"X has no names. .*from_pairs.* set_output\(transform='pandas'\)"),
        (frame.reset_index(drop=True), names, {}, "X has no names. .* set_output"),
        (frame, names[:, :1], {}, "preferences has .* in row 0. Pass pairs"),
        (frame, [], {}, "preferences does not fit X: table has no row"),
        (frame, 7, {}, "preferences is an int"),
        (frame, pairs, {}, "preferences does not fit X: winner is .* not among the 30 items"),
        (frame, pd.DataFrame(names).assign(judge=1), {}, "has the columns 0, 1, 'judge'. Pass"),
        (frame, other, {}, "preferences has the item .* where X.index has"),
        (X, rb.Preferences([0], [1], N - 1), {}, "29 items, and X has 30 rows"),
        (X, rb.Preferences([0], [1], N, weight=[0.0]), {}, "none of positive weight"),
        (X, rb.Preferences.from_scores(np.ones(N)), {}, "0 preferences, none"),
        (1e200 * X, prefs, {}, "X has"),
        (np.where(X == X[3, 1], np.nan, X), prefs, {}, "X has NaN in row 3, column 1"),
    ):
        with pytest.raises((ValueError, TypeError), match=said):
            fresh.fit(items, preferences=given, **beside)
        assert not [name for name in vars(fresh) if name.endswith("_")]


def test_a_graph_or_a_foreign_basis_beside_preferences_is_refused(data):
    X, pairs = data[0].to_numpy(), data[1]
    prefs = rb.Preferences(*pairs.T, N)
    for options in (dict(graph="identity"), dict(graph=prefs)):
        with pytest.raises(ValueError, match="preferences and graph are both given"):
            rb.RankRLS(**options).fit(X, preferences=prefs)
    with pytest.raises(ValueError, match="preferences is given and basis holds items"):
        rb.RankRLS(basis=X[:3]).fit(X, preferences=prefs)
    with pytest.raises(ValueError, match="preferences is given and X is an iterator"):
        rb.RankRLS(kernel="linear").fit(iter([(X, pairs[:, 0])]), preferences=pairs)
    with pytest.raises(ValueError, match="margin has -1.0"):
        prefs = rb.Preferences([0, 1], [1, 2], N, margin=[1.0, -1.0])
        rb.OnlineRankSVM().fit(X, preferences=prefs)


def test_weights_margins_and_halves_reach_the_problem(data):
    X, pairs = data[0].to_numpy(), data[1]
    rng = np.random.default_rng(0)
    prefs = rb.Preferences.from_pairs(
        pairs,
        weight=rng.uniform(0.5, 2, 80),
        margin=rng.uniform(0.5, 2, 80),
        tie=rng.random(80) < 0.2,
        ties="half",
        items=range(N),
    )
    w = rb.RankSVM(lam=0.5, kernel="linear").fit(X, preferences=prefs).coef_
    short = prefs.margin - prefs.incidence() @ (X @ w)
    assert np.isclose(
        0.25 * w @ w + prefs.weight @ np.maximum(short, 0),
        rb.solve(rb.RankSVMProblem(X, prefs, kernel="linear"), 0.5, "qp").certificate.primal,
        rtol=1e-5,
    )
    w = rb.RankRLS(lam=0.5, kernel="linear").fit(X, preferences=prefs).coef_
    Z = prefs.incidence() @ X
    normal = Z.T @ (prefs.weight[:, None] * Z) + 0.5 * np.eye(3)
    assert np.allclose(w, np.linalg.solve(normal, Z.T @ (prefs.weight * prefs.margin)))
