"""Cross-validation along the path, on folds of every kind.

It is compared with fitting and counting, and goes through scikit-learn's own checks.
"""

import pickle

import numpy as np
import pytest
from joblib import parallel_config
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

import rankbook as rb
from rankbook import metrics
from rankbook.estimators.ranksvm import RankSVMCV
from rankbook.kernels.kernel import Kernel
from rankbook.registry.solve import solve
from rankbook.selection.curve import ValidationCurve
from rankbook.selection.folds import make_folds
from rankbook.selection.search import align_curves, choose_from_curves, mean_curve, rescale


@pytest.fixture(scope="module")
def graded():
    """Queries of different sizes in no order, grades 0 to 3, copies of items across queries."""
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(12), np.arange(4, 16)))
    X = np.round(2 * rng.normal(size=(qid.size, 2))) / 2
    return X, np.clip(np.round(X[:, 0] + rng.normal(size=qid.size)), 0, 3), qid


# The curve


def counted(model, X, y, qid, fold, lams, weight=None):
    """The metric of one fold, from a fit of its training part at the lambda for each of `lams`.

    It is None where it hangs on rounding.
    """
    train, test = fold
    part = lambda items: rb.Preferences.from_scores(y[items], None if qid is None else qid[items])
    pairs = lambda items, w: (
        part(items)
        if w is None
        else part(items).reweighted(
            weight=w[items][part(items).better] * w[items][part(items).worse]
        )
    )
    prefs, whole = pairs(train, weight), pairs(np.arange(y.size), weight)
    pairwise = model.kernel == "precomputed"
    problem = rb.RankSVMProblem(
        X[np.ix_(train, train)] if pairwise else X[train], prefs, model.kernel, model.gamma
    )
    path = rb.solve_path(problem, 1e-6 * problem.lam_max)
    rows, place = np.unique(
        X[np.ix_(test, train)] if pairwise else X[test], axis=0, return_inverse=True
    )
    query, judged = None if qid is None else qid[test], pairs(test, weight)

    def value(s):
        order = np.argsort(s)
        gap = np.diff(s[order], prepend=s[order[0]]) / np.abs(s).max()
        if ((gap > 1e-11) & (gap < 1e-6)).any():
            return None
        s[order] = np.cumsum(gap > 1e-11)  # ties are exact
        s = s[place.ravel()]
        if model.metric == "disagreement":
            return metrics.disagreement(judged, s)
        if model.metric == "auc":
            return metrics.auc(y[test], s, query)
        return metrics.ndcg(y[test], s, query, k=model.k)

    share = prefs.weight.sum() / whole.weight.sum()
    return [value(path.predict(rows, lam * share)) for lam in lams]


CASES = {
    "rbf": dict(),
    "linear": dict(kernel="linear"),
    "star": dict(graph="star"),
    "ndcg": dict(metric="ndcg"),
    "ndcg@3": dict(metric="ndcg", k=3),
}


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
@pytest.mark.parametrize("queries", [False, True], ids=["items", "queries"])
def test_every_fold_curve_is_brute_force_and_the_mean_is_their_mean(graded, options, queries):
    X, y, qid = graded
    qid = qid if queries else None
    model = RankSVMCV(cv=3, random_state=0, **options).fit(X, y, qid=qid)
    number = None if qid is None else np.unique(qid, return_inverse=True)[1]
    folds = make_folds(3, X, y, number, 0)
    lams = np.exp(
        np.random.default_rng(0).uniform(
            np.log(model.curve_.breaks[-1] * 1.01), np.log(2 * model.curve_.scale[1]), 25
        )
    )
    assert np.allclose(
        model.curve_.at(lams),
        np.mean([c.at(lams) for c in model.fold_curves_], axis=0),
        rtol=0,
        atol=1e-12,
    )
    if options.get("graph") == "star":
        return
    checked = 0
    for fold, curve in zip(folds, model.fold_curves_):
        for lam, value in zip(lams, counted(model, X, y, qid, fold, lams[:12])):
            if value is not None:
                assert curve.at(lam) == pytest.approx(value, abs=1e-12)
                checked += 1
    assert checked >= 24


def test_k_may_stand_in_the_name(graded):
    X, y, qid = graded
    one, other = (
        RankSVMCV(kernel="linear", cv=3, **options).fit(X, y, qid=qid)
        for options in (dict(metric="ndcg@3"), dict(metric="ndcg", k=3))
    )
    assert np.array_equal(one.curve_.breaks, other.curve_.breaks)
    assert np.array_equal(one.curve_.values, other.curve_.values) and one.lam_ == other.lam_
    whole = RankSVMCV(kernel="linear", cv=3, metric="ndcg").fit(X, y, qid=qid)
    assert not np.array_equal(one.curve_.values, whole.curve_.values)


def test_auc_is_brute_force(mixture):
    model = RankSVMCV(metric="auc", cv=4, random_state=1, gamma=1.0).fit(mixture.X, mixture.y)
    for fold, curve in zip(make_folds(4, mixture.X, mixture.y, None, 1), model.fold_curves_):
        lams = model.lam_ * np.array([0.1, 1, 10])
        values = counted(model, mixture.X, mixture.y, None, fold, lams)
        assert curve.at(lams) == pytest.approx(values, abs=1e-12)
    other = RankSVMCV(cv=4, random_state=1, gamma=1.0).fit(mixture.X, mixture.y)
    assert other.lam_ == model.lam_ and other.curve_.minimum == pytest.approx(
        1 - model.curve_.optimum
    )


def test_item_weights_count_on_both_sides(mixture):
    weight = np.random.default_rng(0).integers(0, 4, 60).astype(float)
    model = RankSVMCV(cv=3, random_state=0, gamma=1.0).fit(
        mixture.X, mixture.y, sample_weight=weight
    )
    for fold, curve in zip(make_folds(3, mixture.X, mixture.y, None, 0), model.fold_curves_):
        lams = model.lam_ * np.array([0.3, 1, 3])
        values = counted(model, mixture.X, mixture.y, None, fold, lams, weight)
        assert curve.at(lams) == pytest.approx(values, abs=1e-12)


def test_precomputed_agrees_with_rbf(mixture):
    K = Kernel("rbf", gamma=0.7).gram(mixture.X)
    a, b = (
        RankSVMCV(gamma=0.7, random_state=0).fit(mixture.X, mixture.y),
        RankSVMCV(kernel="precomputed", random_state=0).fit(K, mixture.y),
    )
    assert a.lam_ == pytest.approx(b.lam_, rel=1e-6) and np.allclose(
        a.curve_.values, b.curve_.values
    )
    assert np.allclose(np.diff(a.predict(mixture.X)), np.diff(b.predict(K)), atol=1e-6)


def test_the_l1_penalty(mixture):
    X = np.c_[mixture.X, np.random.default_rng(0).normal(size=(60, 5))]
    model = RankSVMCV(kernel="linear", penalty="l1", cv=3, random_state=0).fit(X, mixture.y)
    assert (
        model.coef_.shape == (7,)
        and not hasattr(model, "dual_coef_")
        and model.curve_.at(model.lam_) == model.curve_.optimum
    )
    train, test = make_folds(3, X, mixture.y, None, 0)[0]
    share = len(rb.Preferences.from_scores(mixture.y[train])) / len(
        rb.Preferences.from_scores(mixture.y)
    )
    problem = rb.RankSVMProblem(
        X[train], rb.Preferences.from_scores(mixture.y[train]), "linear", penalty="l1"
    )
    f = solve(problem, model.lam_ * share, "simplex").predict(X[test])
    assert metrics.disagreement(mixture.y[test], f) == pytest.approx(
        model.fold_curves_[0].at(model.lam_)
    )


def test_twice_the_data_twice_the_lambda(mixture):
    """Every query twice, both in the same fold: sums double, and lambda with them."""
    qid = np.arange(60) % 8
    folds = [(np.flatnonzero(qid % 4 != f), np.flatnonzero(qid % 4 == f)) for f in range(4)]
    double = [tuple(np.r_[part, part + 60] for part in fold) for fold in folds]
    once = RankSVMCV(gamma=1.0, cv=folds).fit(mixture.X, mixture.y, qid=qid)
    twice = RankSVMCV(gamma=1.0, cv=double).fit(
        np.r_[mixture.X, mixture.X],
        np.r_[mixture.y, mixture.y],
        qid=np.r_[qid, qid + 8],
    )
    assert twice.lam_ == pytest.approx(2 * once.lam_, rel=1e-5) and np.allclose(
        twice.predict(mixture.X), once.predict(mixture.X), atol=1e-4
    )


# Choosing


def test_the_refit_is_the_fit_at_the_chosen_lambda(mixture):
    model = RankSVMCV(gamma=1.0, random_state=0).fit(mixture.X, mixture.y)
    assert np.array_equal(
        rb.RankSVM(solver="path", lam=model.lam_, gamma=1.0).fit(mixture.X, mixture.y).dual_coef_,
        model.dual_coef_,
    )
    assert (
        model.solution_.lam == model.lam_
        and model.certificate_.is_optimal(1e-8)
        and model.best_ == model.curve_.best
    )
    assert any(low < model.lam_ < high for low, high in model.best_)


@pytest.mark.parametrize(
    "options", [dict(penalty="l1"), dict(penalty="l1", loss="squared"), dict(solver="path")]
)
def test_the_model_is_the_optimum_that_the_curve_judged(options):
    """One fold trains on all that counts and judges items of weight 0, where optima are several."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(6, 20)), int(rng.integers(2, 6))
        X, y = rng.integers(0, 3, (n + 12, d)).astype(float), rng.integers(0, 3, n + 12)
        y[:2] = y[-2:] = [0, 2]
        cv, weight = [(np.arange(n + 12), np.arange(n, n + 12))], np.r_[np.ones(n), np.zeros(12)]
        model = RankSVMCV(kernel="linear", cv=cv, metric="ndcg", **options)
        model.fit(X, y, sample_weight=weight)
        scores = model.predict(X[n:]) - model.predict(X[:1])
        value = metrics.ndcg(y[n:], np.round(scores / max(1e-300, np.abs(scores).max()), 9))
        assert model.curve_.at(model.lam_) == pytest.approx(value, abs=1e-9), seed


@pytest.mark.parametrize("metric", ["disagreement", "auc"])
def test_the_rules(mixture, metric):
    fit = {
        rule: RankSVMCV(gamma=1.0, random_state=0, rule=rule, metric=metric).fit(
            mixture.X, mixture.y
        )
        for rule in ("widest", "largest", "one_se")
    }
    curve, error = fit["widest"].curve_, fit["widest"].standard_error_
    values = [c.at(fit["widest"].lam_) for c in fit["widest"].fold_curves_]
    assert error == pytest.approx(np.std(values, ddof=1) / np.sqrt(5)) and error > 0
    assert (
        curve.at(fit["largest"].lam_) == curve.optimum and fit["largest"].lam_ >= fit["widest"].lam_
    )
    careful = fit["one_se"].lam_
    assert (
        abs(curve.at(careful) - curve.optimum) <= error + 1e-12 and careful >= fit["largest"].lam_
    )
    above = np.geomspace(careful * 1.5, 100 * curve.scale[1], 2000)
    top = curve.breaks[1 + np.flatnonzero(curve.breaks[1:] < careful)[0] - 1]
    assert (np.abs(curve.at(above[above > top * (1 + 1e-9)]) - curve.optimum) > error).all()


def curve_of(breaks, values, maximize=False):
    return ValidationCurve(
        np.array(breaks, dtype=float),
        np.array(values, dtype=float),
        (min(b for b in breaks if b > 0), 100.0),
        maximize,
    )


def test_means_by_hand():
    a, b = curve_of([np.inf, 8, 2, 0], [1, 0, 2]), curve_of([np.inf, 4, 2, 1], [0, 1, 3])
    breaks, values = align_curves([a, b])
    assert breaks.tolist() == [np.inf, 8, 4, 2, 1] and values.tolist() == [
        [1, 0, 0, 2],
        [0, 0, 1, 3],
    ]
    mean = mean_curve([a, b])
    assert mean.breaks.tolist() == [np.inf, 8, 4, 2, 1] and mean.values.tolist() == [
        0.5,
        0,
        0.5,
        2.5,
    ]
    assert (
        mean_curve([a]).values.tolist() == a.values.tolist()
        and mean_curve([a, a]).breaks.tolist() == a.breaks.tolist()
    )
    flat = mean_curve([curve_of([np.inf, 8, 1], [0, 1]), curve_of([np.inf, 8, 1], [1, 0])])
    assert flat.values.tolist() == [0.5] and flat.breaks.tolist() == [np.inf, 1]
    assert rescale(a, 3).breaks.tolist() == [np.inf, 24, 6, 0] and rescale(a, 3).at(23.9) == a.at(
        7.9
    )


def test_a_mean_knows_what_it_measures():
    curve = ValidationCurve(np.array([np.inf, 1.0]), np.ones(1), (1.0, 1.0), True, metric="auc")
    mean = mean_curve([rescale(curve, 2.0)] * 2)
    assert mean.metric == "auc" and mean.maximize and mean.breaks[-1] == 2


def test_a_fold_that_ended_early_ends_the_mean():
    mean = mean_curve(
        [curve_of([np.inf, 8, 2, 0.5], [1, 0, 2]), curve_of([np.inf, 30, 20], [0, 1])]
    )
    assert mean.breaks.tolist() == [np.inf, 30, 20] and mean.values.tolist() == [0.5, 1.0]
    with pytest.raises(ValueError, match="lam is"):
        mean.at(10)


def test_one_standard_error_of_a_single_fold(mixture):
    curve = curve_of([np.inf, 4, 1], [0, 1])
    assert np.isnan(choose_from_curves([[curve]], [None], "widest").error)
    with pytest.raises(ValueError, match="only one fold"):
        choose_from_curves([[curve]], [None], "one_se")


# Folds


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.parametrize(
    "cv",
    [KFold(3, shuffle=True, random_state=0), StratifiedKFold(3), GroupKFold(3)],
    ids=lambda cv: type(cv).__name__,
)
def test_any_splitter(graded, cv):
    X, y, qid = graded
    model = RankSVMCV(cv=cv).fit(X, y, qid=qid)
    same = RankSVMCV(cv=list(cv.split(X, y, qid))).fit(X, y, qid=qid)
    assert same.lam_ == model.lam_ and len(same.fold_curves_) == cv.get_n_splits(X, y, qid)


def test_masks_and_generators(mixture):
    test = np.arange(60) % 4 == 0
    a = RankSVMCV(cv=((~t, t) for t in (test, np.roll(test, 1)))).fit(mixture.X, mixture.y)
    b = RankSVMCV(
        cv=[(np.flatnonzero(~t), np.flatnonzero(t)) for t in (test, np.roll(test, 1))]
    ).fit(mixture.X, mixture.y)
    assert a.lam_ == b.lam_


def test_query_ids_of_any_kind_in_any_order(graded):
    X, y, qid = graded
    names, order = (
        np.array([f"q{q:02d}" for q in qid]),
        np.random.default_rng(1).permutation(qid.size),
    )
    folds = [(np.flatnonzero(qid % 3 != f), np.flatnonzero(qid % 3 == f)) for f in range(3)]
    back = np.argsort(order)
    a = RankSVMCV(cv=folds).fit(X, y, qid=names)
    b = RankSVMCV(cv=[tuple(back[part] for part in fold) for fold in folds]).fit(
        X[order], y[order], qid=qid[order]
    )
    assert a.lam_ == pytest.approx(b.lam_, rel=1e-5) and np.allclose(
        a.predict(X), b.predict(X), atol=1e-4
    )


# Where it runs


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_the_backend_in_force_changes_nothing(mixture, backend):
    alone = RankSVMCV(random_state=0, lam_min_ratio=1e-2).fit(mixture.X, mixture.y)
    with parallel_config(backend=backend, n_jobs=2):
        ambient = RankSVMCV(random_state=0, lam_min_ratio=1e-2).fit(mixture.X, mixture.y)
    assert ambient.lam_ == alone.lam_ and np.array_equal(ambient.dual_coef_, alone.dual_coef_)
    assert all(
        np.array_equal(a.breaks, b.breaks) and np.array_equal(a.values, b.values)
        for a, b in zip(ambient.fold_curves_, alone.fold_curves_)
    )


def test_jobs_and_the_bar(mixture, capsys):
    alone = RankSVMCV(random_state=0, lam_min_ratio=1e-2).fit(mixture.X, mixture.y)
    assert capsys.readouterr().err == ""
    with parallel_config(backend="threading"):
        shown = RankSVMCV(random_state=0, lam_min_ratio=1e-2, n_jobs=2, progress=True).fit(
            mixture.X, mixture.y
        )
    assert shown.lam_ == alone.lam_ and "folds" in capsys.readouterr().err


def test_the_same_seed_the_same_folds(mixture):
    a, b, c = (RankSVMCV(random_state=seed).fit(mixture.X, mixture.y) for seed in (0, 0, 1))
    assert a.lam_ == b.lam_ and not np.array_equal(a.curve_.values, c.curve_.values)


# The estimator


def test_lam_min_ratio(mixture):
    whole, short = (
        RankSVMCV(random_state=0, lam_min_ratio=ratio).fit(mixture.X, mixture.y)
        for ratio in (None, 1e-1)
    )
    assert (
        set(whole.fold_status_) <= {"complete", "rounding"}
        and whole.curve_.breaks[-1] < 1e-8 * whole.curve_.scale[1]
    )
    assert set(short.fold_status_) == {"lam_min"} and short.curve_.breaks[-1] > 0
    lams = np.geomspace(short.curve_.breaks[-1] * 1.001, 2 * short.curve_.scale[1], 100)
    assert (
        np.array_equal(short.curve_.at(lams), whole.curve_.at(lams))
        and short.lam_ > short.curve_.breaks[-1]
    )


def test_pickle_and_clone(mixture):
    model = RankSVMCV(random_state=0, cv=3).fit(mixture.X, mixture.y)
    copy = pickle.loads(pickle.dumps(model))
    assert (
        copy.lam_ == model.lam_
        and np.array_equal(copy.predict(mixture.X), model.predict(mixture.X))
        and copy.curve_.at(1.0) == model.curve_.at(1.0)
    )
    assert clone(model).cv == 3 and not hasattr(clone(model), "lam_")
    assert rb.RankSVMCV is RankSVMCV


def test_attributes_of_an_earlier_fit_go(mixture):
    model = RankSVMCV(kernel="linear", cv=3, random_state=0).fit(mixture.X, mixture.y)
    assert np.allclose(mixture.X @ model.coef_, model.predict(mixture.X))
    model.set_params(kernel="rbf").fit(mixture.X, mixture.y)
    assert not hasattr(model, "coef_") and model.dual_coef_.shape == (60,)


def test_refit_after_an_error_keeps_the_old_model(mixture):
    model = RankSVMCV(cv=3, random_state=0).fit(mixture.X, mixture.y)
    before = model.lam_, model.dual_coef_
    for y, options in [
        (np.zeros(60), {}),
        (mixture.y, dict(rule="best")),
        (mixture.y, dict(solver="pth")),
    ]:
        with pytest.raises(ValueError):
            clone(model).set_params(**options).fit(mixture.X, y)
        with pytest.raises(ValueError):
            model.set_params(**({"rule": "widest", "solver": "auto"} | options)).fit(mixture.X, y)
        assert model.lam_ == before[0] and model.dual_coef_ is before[1]


@pytest.mark.parametrize(
    "options, error, what",
    [
        (dict(cv=1), ValueError, "cv is 1"),
        (dict(cv=0), ValueError, "cv is 0"),
        (dict(cv=True), TypeError, "cv is True"),
        (dict(cv="five"), TypeError, "cv is 'five'"),
        (dict(cv=2.5), TypeError, "cv is 2.5"),
        (dict(cv=[]), ValueError, "cv has no fold"),
        (dict(cv=60), ValueError, "no preference to validate"),
        (dict(rule="best"), ValueError, "rule is 'best'"),
        (dict(metric="acu"), ValueError, "did you mean 'auc'"),
        (dict(metric="auc", k=3), ValueError, "k is 3"),
        (dict(metric="auc@3"), ValueError, "k is 3. Omit k for auc"),
        (dict(metric="ndcg@0"), ValueError, "metric is 'ndcg@0'. Pass at least one rank"),
        (dict(metric="ndcg@3", k=3), ValueError, "k is 3, and metric is 'ndcg@3'"),
        (dict(metric="precision@3"), ValueError, "metric is 'precision@3'"),
        (dict(lam_min_ratio=0.0), ValueError, "lam_min_ratio is 0"),
        (dict(lam_min_ratio=1.0), ValueError, "lam_min_ratio is 1"),
        (dict(lam_min_ratio=-1), ValueError, "lam_min_ratio is -1"),
        (dict(kernel="rfb"), ValueError, "did you mean 'rbf'"),
        (dict(solver="pth"), ValueError, "did you mean 'path'"),
        (dict(graph="ful"), ValueError, "did you mean 'full'"),
    ],
)
def test_bad_parameters(mixture, options, error, what):
    with pytest.raises(error, match=what):
        RankSVMCV(**options).fit(mixture.X, mixture.y)


def test_bad_data(mixture):
    X = mixture.X.copy()
    X[7, 1] = np.nan
    for args, what in [
        ((X, mixture.y), "row 7, column 1"),
        ((mixture.X, np.zeros(60)), "no preference"),
        ((mixture.X, mixture.y[1:]), "Pass one entry for each row"),
    ]:
        with pytest.raises(ValueError, match=what):
            RankSVMCV(random_state=0).fit(*args)
    with pytest.raises(ValueError, match="qid"):
        RankSVMCV().fit(mixture.X, mixture.y, qid=np.arange(59))
    with pytest.raises(ValueError, match="sample_weight"):
        RankSVMCV(random_state=0).fit(mixture.X, mixture.y, sample_weight=-np.ones(60))


@pytest.mark.parametrize("metric", ["disagreement", "auc"])
def test_the_best_of_several_gammas_is_the_one_of_its_own_fit(metric):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=40) > 0).astype(float)
    gammas = [3.0, 0.3, 3.0, 0.03]
    several = rb.RankSVMCV(gamma=gammas, cv=3, metric=metric).fit(X, y)
    each = [rb.RankSVMCV(gamma=g, cv=3, metric=metric).fit(X, y) for g in (0.03, 0.3, 3.0)]
    values = [one.curve_.optimum for one in each]
    best = int(np.argmax(values) if metric == "auc" else np.argmin(values))
    assert several.gammas_ == [0.03, 0.3, 3.0] and several.gamma_ == several.gammas_[best]
    assert [curve.optimum for curve in several.gamma_curves_] == values
    assert several.lam_ == each[best].lam_
    assert np.array_equal(several.predict(X), each[best].predict(X))


@pytest.mark.parametrize("gamma", [[], [1.0, 0.0], [np.nan], [[1.0]]])
def test_gammas_that_make_no_sense_are_refused(gamma):
    model = rb.RankSVMCV(gamma=gamma)
    with pytest.raises(ValueError, match="gamma"):
        model.fit(np.arange(10.0)[:, None], np.arange(10) % 2)
    assert not hasattr(model, "lam_")


def some_orders():
    """Thirty items in the plane, and forty noisy orders of six of them."""
    rng = np.random.default_rng(2)
    X, orders = rng.normal(size=(30, 2)), []
    for _ in range(40):
        some = rng.permutation(30)[:6]
        orders.append(some[np.argsort(-(2 * X[some, 0] + rng.gumbel(size=6)))].tolist())
    return X, rb.Orders.from_rankings(orders, n_items=30)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_logistic_loss_is_chosen_along_certified_paths(kernel):
    data = rb.datasets.make_mixture(n_per_class=20)
    options = dict(kernel=kernel, loss="logistic", cv=3, lam_min_ratio=1e-3)
    model = rb.RankSVMCV(**options).fit(data.X, data.y)
    assert model.path_solver_.startswith("newton") and model.fold_status_ == ["lam_min"] * 3
    assert model.certificate_.relative_gap < 1e-6
    low, high = model.best_[0]
    assert low < model.lam_ < high
    path = model.path_
    for lam in (2 * path.domain[0], path.breakpoints[0]):
        assert path.certificate(lam).relative_gap <= 1e-3
    # a fold by hand
    folds = make_folds(3, data.X, data.y, None)
    train, test = folds[0]
    prefs = rb.Preferences.from_scores(data.y[train])
    lam = model.lam_ * len(prefs) / len(rb.Preferences.from_scores(data.y))
    problem = rb.RankSVMProblem(data.X[train], prefs, kernel=kernel, loss="logistic")
    alone = rb.solve(problem, lam).predict(data.X[test])
    near = rb.disagreement(data.y[test], alone)
    assert model.fold_curves_[0].at(model.lam_) == pytest.approx(near, abs=0.02)


@pytest.mark.parametrize("fold_by", ["item", "order", "group"])
def test_orders_have_folds_of_items_and_of_orders(fold_by):
    X, orders = some_orders()
    groups = np.arange(30) % 5 if fold_by == "group" else None
    model = rb.RankSVMCV("linear", loss="plackett-luce", fold_by=fold_by, lam_min_ratio=1e-3)
    model.fit(X, preferences=orders, groups=groups)
    assert (model.n_dropped_ == 0) == (fold_by == "order")
    assert model.curve_.minimum < 0.3 and model.certificate_.relative_gap < 1e-6
    again = rb.RankSVM(lam=model.lam_, kernel="linear", loss="plackett-luce").fit(X, orders)
    assert np.allclose(again.coef_, model.coef_)


def test_choices_that_no_fold_validates_are_counted():
    X, orders = np.eye(4), rb.Orders.from_rankings([[0, 1, 2, 3]])
    halves = [([0, 1], [2, 3]), ([2, 3], [0, 1])]
    model = rb.RankSVMCV("linear", loss="plackett-luce", cv=halves).fit(X, preferences=orders)
    assert model.n_dropped_ == 1  # of three; 0 before 1, and 2 before 3, are validated


def test_folds_of_orders_with_groups_leave_out_a_judge():
    from sklearn.model_selection import LeaveOneGroupOut

    X, orders = some_orders()
    options = dict(loss="plackett-luce", cv=LeaveOneGroupOut(), lam_min_ratio=1e-2)
    judges = np.arange(40) % 4
    model = rb.RankSVMCV("linear", fold_by="order", **options)
    model.fit(X, preferences=orders, groups=judges)
    assert len(model.fold_curves_) == 4
    with pytest.raises(ValueError, match="40 groups go with fold_by='order'"):
        rb.RankSVMCV(fold_by="group", **options).fit(X, preferences=orders, groups=judges)
    with pytest.raises(ValueError, match="fold_by is 'pair' and preferences are Orders"):
        rb.RankSVMCV(fold_by="pair", loss="plackett-luce").fit(X, preferences=orders)
    with pytest.raises(ValueError, match="fold_by is 'order' and preferences are Preferences"):
        rb.RankSVMCV(fold_by="order").fit(np.eye(2), preferences=rb.Preferences([0], [1], 2))


def test_survival_times_choose_cox():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    prefs = rb.Preferences.from_survival(
        np.exp(X[:, 0] + rng.gumbel(size=60)), rng.random(60) < 0.7
    )
    model = rb.RankSVMCV("linear", loss="plackett-luce", lam_min_ratio=1e-3).fit(X, prefs)
    assert model.curve_.minimum < 0.4 and model.certificate_.relative_gap < 1e-6


def test_negative_grades_are_refused_by_their_own_name():
    X = np.arange(12.0)[:, None]
    with pytest.raises(ValueError, match="y has -1.0 at index 0. Pass numbers >= 0"):
        rb.RankSVMCV("linear", metric="ndcg@10", cv=3).fit(X, np.arange(12.0) % 3 - 1)


@pytest.mark.parametrize("loss", ["logistic", "squared", "plackett-luce"])
def test_smooth_losses_choose_the_same_lambda_for_dense_and_sparse_items(loss, amount):
    for seed in range(amount(4, 60)):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.6)
        y = np.clip(np.round(X @ rng.normal(size=5) + rng.normal(size=40)), -1, 1)
        dense, sparse = (
            RankSVMCV("linear", loss=loss, cv=3).fit(items, y) for items in (X, csr_array(X))
        )
        assert sparse.lam_ == pytest.approx(dense.lam_, rel=1e-3), seed
        assert sparse.curve_.minimum == pytest.approx(dense.curve_.minimum, abs=1e-12)
