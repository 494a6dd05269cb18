"""Folds of preferences: each preference is where it should be, by plain loops."""

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeavePGroupsOut,
    StratifiedGroupKFold,
)

import rankbook as rb
from rankbook.metrics.pairs import disagreement
from rankbook.selection.folds import pair_folds


@pytest.fixture(params=range(3))
def graph(request):
    rng = np.random.default_rng(request.param)
    ends = np.array([rng.choice(25, 2, replace=False) for _ in range(300)])
    prefs = rb.Preferences(*ends.T, 25, rng.uniform(0, 2, 300), rng.uniform(0.5, 2, 300))
    return rng.normal(size=(25, 3)), prefs, rng.integers(0, 8, 25)


def rows(prefs, items):
    """The preferences by the numbers of the items in the whole, with weights and margins."""
    return sorted(
        zip(items[prefs.better], items[prefs.worse], prefs.weight, prefs.margin, strict=True)
    )


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize("by", ["item", "pair", "group"])
def test_every_preference_is_trained_on_validated_or_dropped(graph, by, seed):
    X, prefs, group = graph
    whole = rows(prefs, np.arange(25))
    folds, dropped = pair_folds(4, X, prefs, by, group if by == "group" else None, seed)
    validated = sorted(row for fold in folds for row in rows(fold.target, fold.test))
    assert len(folds) == 4 and len(validated) + dropped == 300 and set(validated) <= set(whole)
    for fold in folds:
        if by == "pair":
            assert rows(fold.prefs, fold.train) == sorted(
                set(whole) - set(rows(fold.target, fold.test))
            )
            continue
        for part, given in ((fold.train, fold.prefs), (fold.test, fold.target)):
            inside = set(part.tolist())
            assert rows(given, part) == [row for row in whole if {*row[:2]} <= inside]
        assert sorted([*fold.train, *fold.test]) == list(range(25))
        if by == "group":
            assert not set(group[fold.train]) & set(group[fold.test])
    again, _ = pair_folds(4, X, prefs, by, group if by == "group" else None, seed)
    assert all(np.array_equal(a.target.better, b.target.better) for a, b in zip(folds, again))


def test_splitters_and_given_parts(graph):
    X, prefs, group = graph
    for cv in (GroupKFold(3), list(GroupKFold(3).split(X, None, group))):
        folds, _ = pair_folds(cv, X, prefs, "group", group)
        assert len(folds) == 3
        assert not set(group[folds[0].train]) & set(group[folds[0].test])
    folds, dropped = pair_folds(KFold(5), X, prefs, "pair")
    assert dropped == 0 and [len(fold.target) for fold in folds] == [60] * 5
    folds, dropped = pair_folds([(np.arange(200), np.arange(200, 250))], X, prefs, "pair")
    assert dropped == 250 and len(folds[0].prefs) == 200


def test_preferences_of_scores_among_some_items_are_those_of_their_scores():
    y, qid = np.arange(20) % 4, np.arange(20) // 7
    items = np.random.default_rng(0).permutation(20)[:12]
    some = rb.Preferences.from_scores(y, qid)[items]
    alone = rb.Preferences.from_scores(y[items], qid[items])
    assert rows(some, items) == rows(alone, items)


@pytest.mark.parametrize("by", ["item", "pair", "group"])
def test_the_curve_of_the_estimator_is_brute_force(graph, by):
    X, prefs, group = graph
    group = group if by == "group" else None
    options = dict(gamma=0.5, cv=3, lam_min_ratio=1e-2)
    model = rb.RankSVMCV(fold_by=by, **options).fit(X, preferences=prefs, groups=group)
    folds, dropped = pair_folds(3, X, prefs, by, group)
    assert model.n_dropped_ == dropped
    for lam in model.lam_ * np.array([1.0, 3.3]):
        for fold, curve in zip(folds, model.fold_curves_):
            problem = rb.RankSVMProblem(X[fold.train], fold.prefs, gamma=0.5)
            at = lam * fold.prefs.weight.sum() / prefs.weight.sum()
            f = rb.solve(problem, at, "path").predict(X[fold.test])
            assert np.isclose(disagreement(fold.target, f), curve.at(lam))
    final = rb.RankSVM(lam=model.lam_, gamma=0.5, solver="path").fit(X, preferences=prefs)
    assert np.allclose(final.predict(X), model.predict(X))


@pytest.mark.parametrize("model", [rb.RankSVMCV("linear"), rb.RankRLSCV([0.3, 9.0], "linear")])
def test_a_splitter_of_groups_needs_groups(graph, model):
    X, prefs, _ = graph
    splitters = (
        GroupKFold(2),
        GroupShuffleSplit(),
        LeaveOneGroupOut(),
        LeavePGroupsOut(2),
        StratifiedGroupKFold(2),
    )
    for cv in splitters:
        for by in ("item", "pair"):
            model.set_params(cv=cv, fold_by=by)
            with pytest.raises(ValueError, match="^cv is .* and groups is None. .*fold_by='pair'"):
                model.fit(X, preferences=prefs)
    model.set_params(cv=KFold(3), fold_by="pair").fit(X, preferences=prefs)


def test_what_is_refused_leaves_nothing_behind(graph):
    X, prefs, group = graph
    for options, more, said in (
        (dict(metric="auc"), {}, "metric is 'auc' and preferences are given"),
        (dict(fold_by="query"), {}, "fold_by is 'query'"),
        (dict(fold_by="group"), {}, "fold_by is 'group' and groups is None"),
        (dict(fold_by="group"), dict(groups=np.zeros(25)), "groups has only one id"),
        (
            dict(fold_by="pair"),
            dict(groups=group),
            "Pass an array of shape .300,. with one id per .* 25 groups .* fold_by='group'",
        ),
        (dict(fold_by="group"), dict(groups=np.arange(300)), "300 groups .* fold_by='pair'"),
        ({}, dict(groups=group), "groups is given and fold_by is 'item'. .*fold_by='pair' for gr"),
        ({}, dict(qid=group), "preferences and qid are both given"),
        ({}, dict(y=group), "preferences and y are both given"),
        ({}, dict(sample_weight=np.ones(25)), "preferences and sample_weight are both given"),
        (dict(cv=1), {}, "cv is 1"),
        (
            dict(fold_by="pair", cv=9),
            dict(groups=np.arange(300) % 4),
            "cv leaves fold 5 of 9 no preference .* to validate with fold_by='pair', of 4 groups",
        ),
        (
            dict(cv=25),
            {},
            "cv leaves fold 1 of 25 no preference .* to validate with fold_by='item'",
        ),
    ):
        model = rb.RankSVMCV(**options)
        with pytest.raises(ValueError, match=said):
            model.fit(X, preferences=prefs, **more)
        assert not [name for name in vars(model) if name.endswith("_")]
    with pytest.raises(ValueError, match="fold_by is 'pair', which requires preferences"):
        rb.RankSVMCV(fold_by="pair").fit(X, group)
    for model in (rb.RankSVMCV(), rb.RankRLSCV()):
        with pytest.raises(ValueError, match="groups is given with scores"):
            model.fit(X, group, groups=group)


@pytest.mark.parametrize("model", [rb.RankSVMCV("linear"), rb.RankRLSCV([0.3, 9.0], "linear")])
def test_one_judge_is_left_out_after_the_other(graph, model):
    X, prefs, _ = graph
    judge = np.array(["Ann", "Bob", "Cleo"])[np.random.default_rng(5).integers(0, 3, 300)]
    model.set_params(cv=LeaveOneGroupOut(), fold_by="pair").fit(X, preferences=prefs, groups=judge)
    ends = prefs.better, prefs.worse, prefs.weight, prefs.margin
    part = lambda at: rb.Preferences(ends[0][at], ends[1][at], 25, ends[2][at], ends[3][at])
    parts = list(LeaveOneGroupOut().split(judge, groups=judge))
    assert len(parts) == 3 and model.n_dropped_ == 0
    if isinstance(model, rb.RankRLSCV):
        for lam, value in zip(model.lams_, model.cv_values_[:, 0]):
            one = rb.RankRLS(lam, "linear")
            found = [
                rb.disagreement(part(test), one.fit(X, preferences=part(train)).predict(X))
                for train, test in parts
            ]
            assert value == pytest.approx(np.mean(found), abs=1e-12)
        model.set_params(cv="query").fit(X, preferences=prefs, groups=judge)
        assert model.cv_values_[-1, 0] == pytest.approx(np.mean(found), abs=1e-12)
        return
    for (train, test), curve in zip(parts, model.fold_curves_):
        for lam in model.lam_ * np.array([0.7, 1.0, 5.0]):
            at = lam * part(train).weight.sum() / prefs.weight.sum()
            f = rb.solve(rb.RankSVMProblem(X, part(train), kernel="linear"), at, "qp").predict(X)
            assert rb.disagreement(part(test), f) == pytest.approx(curve.at(lam), abs=1e-9)
