"""The Rayleigh rankers: equal to the core, and warm equal to cold.

Also labels in every shape, and what they refuse.
"""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold

import rankbook as rb
from rankbook.estimators.rayleigh import (
    RayleighRanker,
    RayleighRankerCV,
    first_directions,
    fold_areas,
    grid_coefficients,
    label_folds,
    read_classes,
    with_signs,
)
from rankbook.kernels import neighbours as search
from rankbook.kernels.kernel import Kernel

nan = np.nan


@pytest.fixture(scope="module")
def half_labelled():
    """Items (90, 3), labels 0, 1 and -1, and what the labels really are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    X[80:] = X[:10]  # some items twice
    truth = (X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=90) > 0.7).astype(int)
    return X, np.where(rng.random(90) < 0.4, -1, truth), truth


@pytest.mark.parametrize("kernel, p", [("rbf", 10), ("linear", None)])
@pytest.mark.parametrize("pivots", ["greedy", "pca"])
def test_probabilities(half_labelled, kernel, p, pivots):
    X, y, truth = half_labelled
    options = dict(kernel=kernel, n_components=p, pivots=pivots)
    model = RayleighRanker(lam=0.1, **options).fit(X, y)
    share = model.predict_proba(X)
    assert share.shape == (90, 2) and np.allclose(share.sum(axis=1), 1)
    assert rb.auc(truth, share[:, 1]) > 0.8
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict_proba(X), share)
    assert np.allclose(copy.predict(X), model.predict(X))
    assert RayleighRankerCV(lams=0.1, cv=2, **options).fit(X, y).predict_proba(X).shape == (90, 2)


def test_pickle_and_clone(half_labelled):
    X, y, _ = half_labelled
    for model in (
        RayleighRanker(lam=0.3, random_state=1),
        RayleighRankerCV(n_components=[3, 9], random_state=1),
    ):
        copy = pickle.loads(pickle.dumps(model.fit(X, y)))
        assert np.array_equal(copy.predict(X), model.predict(X)) and copy.score(
            X, y
        ) == model.score(X, y)
        again = clone(model)
        assert again.get_params() == model.get_params()
        with pytest.raises(NotFittedError):
            again.score(X, y)
        assert np.array_equal(again.fit(X, y).predict(X), model.predict(X))


# The core

KERNELS = [
    dict(),
    dict(gamma=2.0),
    dict(kernel="linear"),
    dict(kernel="linear", n_components=None),
    dict(kernel="poly", degree=2, coef0=0.5),
    dict(pivots="random", random_state=3),
    dict(pivots="rpcholesky", random_state=3),
    dict(n_neighbors=4, metric="manhattan"),
]


@pytest.mark.filterwarnings("ignore:n_components is reduced")
@pytest.mark.parametrize("options", KERNELS, ids=str)
def test_it_is_the_core(options, half_labelled):
    X, y, truth = half_labelled
    model = RayleighRanker(lam=0.02, manifold_weight=50.0, **options).fit(X, y)
    given = {name: options[name] for name in ("gamma", "degree", "coef0") if name in options}
    others = {name: options[name] for name in options if name not in given}
    others["kernel"] = rb.kernels.Kernel(options.get("kernel", "rbf"), **given)
    problem = rb.RayleighProblem(X, y, manifold_weight=50.0, **others)
    answer = rb.solve(problem, 0.02, solver="rayleigh")
    assert (
        np.array_equal(model.solution_.coef, answer.coef)
        and np.array_equal(model.predict(X), answer.predict(X))
        and model.solver_ == answer.solver
    )
    assert model.certificate_.is_optimal(1e-12) and np.array_equal(
        model.decision_function(X), model.predict(X)
    )
    known = y >= 0
    assert model.score(X, y) == rb.auc(y[known], model.predict(X)[known]) and model.score(
        X, truth
    ) == rb.auc(truth, model.predict(X))
    assert np.isclose(
        model.score(X, truth), 1 - rb.disagreement(truth, model.predict(X)), rtol=0, atol=1e-12
    )


@pytest.mark.filterwarnings("ignore:n_components is reduced")
@pytest.mark.parametrize("options", KERNELS, ids=str)
def test_coefficients_make_the_scores(options, half_labelled):
    X, y, _ = half_labelled
    model = RayleighRanker(**options).fit(X, y)
    f = model.predict(X)
    if options.get("n_components", 1) is not None:
        kernel = model.solution_.problem.kernel
        assert np.allclose(
            kernel.cross(X, X[model.pivots_]) @ model.dual_coef_,
            f,
            rtol=0,
            atol=1e-8 * np.abs(f).max(),
        )
    assert hasattr(model, "coef_") == (options.get("kernel") == "linear")
    if hasattr(model, "coef_"):
        assert np.allclose(X @ model.coef_, f, rtol=0, atol=1e-10 * np.abs(f).max())
    other = model.set_params(kernel="rbf", n_components=4).fit(X, y)
    assert not hasattr(other, "coef_") and other.dual_coef_.shape == (4,)


def test_precomputed_agrees_with_rbf(half_labelled):
    X, y, _ = half_labelled
    K = Kernel("rbf", gamma=0.7).gram(X)
    a, b = RayleighRanker(gamma=0.7).fit(X, y), RayleighRanker(kernel="precomputed").fit(K, y)
    assert np.allclose(a.predict(X), b.predict(K), rtol=0, atol=1e-9)
    grid = dict(manifold_weights=[0, 50.0], n_components=[3, 8], random_state=0)
    a, b = (
        RayleighRankerCV(gamma=0.7, **grid).fit(X, y),
        RayleighRankerCV(kernel="precomputed", **grid).fit(K, y),
    )
    assert np.array_equal(a.cv_values_, b.cv_values_) and np.allclose(
        a.predict(X), b.predict(K), rtol=0, atol=1e-9
    )


def test_any_registered_solver(half_labelled):
    from rankbook.solvers.rayleigh.solver import RayleighSolver

    class Mine(RayleighSolver):
        name = "mine"

    X, y, _ = half_labelled
    rb.register_solver(Mine)
    try:
        assert RayleighRanker(solver="mine").fit(X, y).solver_.split()[0] == "mine"
    finally:
        rb.unregister_solver("mine")
    reference = RayleighRanker(solver="qp", lam=0.1).fit(X, y)
    assert np.allclose(
        reference.predict(X), RayleighRanker(lam=0.1).fit(X, y).predict(X), atol=1e-4
    )


# Labels


@pytest.mark.parametrize(
    "change",
    [
        lambda y: np.where(y < 0, nan, y),
        lambda y: np.where(y < 0, nan, 2 * y - 1.0),
        lambda y: np.where(y < 0, -1, y + 3),
        lambda y: y.astype(object),
        lambda y: y.tolist(),
        lambda y: y.astype(np.int8),
    ],
    ids=["nan", "minus one is a class", "grades", "object", "list", "int8"],
)
def test_labels_in_other_words(change, half_labelled):
    X, y, _ = half_labelled
    a, b = RayleighRanker().fit(X, y), RayleighRanker().fit(X, change(y))
    assert np.array_equal(a.predict(X), b.predict(X)) and b.score(X, change(y)) == a.score(X, y)
    assert np.array_equal(
        RayleighRankerCV(random_state=0).fit(X, change(y)).cv_values_,
        RayleighRankerCV(random_state=0).fit(X, y).cv_values_,
    )


def test_the_mark_can_be_given(half_labelled):
    X, y, truth = half_labelled
    a = RayleighRanker().fit(X, y)
    b = RayleighRanker(unlabelled=9).fit(X, np.where(y < 0, 9, 2 * y - 1))
    assert (
        np.array_equal(a.predict(X), b.predict(X))
        and b.classes_.tolist() == [-1, 1]
        and b.score(X, np.where(y < 0, 9, 2 * y - 1)) == a.score(X, y)
    )
    c = RayleighRanker(unlabelled=False).fit(X, 2 * truth - 1)
    assert np.array_equal(c.predict(X), RayleighRanker().fit(X, truth).predict(X))
    with pytest.raises(ValueError, match="y has 3 at index 1"):
        c.score(X[:3], [1, 3, -1])
    with pytest.raises(ValueError, match="y has 1 of the two classes"):
        a.score(X[:3], [-1, 1, -1])


@pytest.mark.parametrize(
    "y, error, match",
    [
        ([1, 0, 2] * 30, ValueError, "y has 3 classes"),
        ([1, -1] * 45, ValueError, "y holds -1 and 1 only"),
        ([0, -1] * 45, ValueError, "y holds -1 and 0 only"),
        ([-1] * 90, ValueError, "y has 0 classes among its 0 labelled"),
        ([nan] * 90, ValueError, "y has 0 classes"),
        ([1] * 90, ValueError, "y has 1 class among its 90"),
        ([1] * 89 + [0], ValueError, "89 labelled items of the better class and 1 of the worse"),
        ([1] + [0] * 10 + [-1] * 79, ValueError, "1 labelled items of the better class and 10"),
        (["ill", "well", "well"] * 30, TypeError, "an entry that is not a number"),
        (np.array(["ill", -1, 1] * 30, dtype=object), TypeError, "an entry that is not a number"),
        ([0, 1, np.inf] * 30, ValueError, "y has inf at index 2"),
        ([0, 1] * 44, ValueError, "one entry for each row"),
        (None, ValueError, "the target y is None"),
    ],
)
@pytest.mark.parametrize("model", [RayleighRanker(), RayleighRankerCV(cv=2)], ids=["one", "cv"])
def test_labels_that_are_refused(model, y, error, match, half_labelled):
    X, good, _ = half_labelled
    model = clone(model).fit(X, good)
    before = model.solution_
    with pytest.raises(error, match=match):
        model.fit(X, y)
    assert model.solution_ is before and model.n_features_in_ == 3


def test_two_marks_are_refused():
    with pytest.raises(ValueError, match="y has 3 classes"):
        read_classes([0, 1, -1, nan])
    with pytest.raises(ValueError, match="y has NaN at index 3"):
        read_classes([0, 1, -1, nan], unlabelled=-1)


def test_nan_is_found(half_labelled):
    X, y, _ = half_labelled
    bad = X.copy()
    bad[7, 1] = nan
    for model in (RayleighRanker(), RayleighRankerCV()):
        with pytest.raises(ValueError, match="row 7, column 1"):
            clone(model).fit(bad, y)
        with pytest.raises(ValueError, match="row 7, column 1"):
            model.fit(X, y).predict(bad)


@pytest.mark.parametrize(
    "params, error, match",
    [
        (dict(lam=-1), ValueError, "lam is -1"),
        (dict(manifold_weight=nan), ValueError, "manifold_weight is nan"),
        (dict(n_components=0), ValueError, "n_components is 0"),
        (dict(n_components="ten"), TypeError, "n_components is 'ten'"),
        (dict(n_neighbors=90), ValueError, "n_neighbors is 90"),
        (dict(kernel="rfb"), ValueError, "did you mean 'rbf'"),
        (dict(gamma=0), ValueError, "gamma is 0"),
        (dict(pivots="gredy"), ValueError, "did you mean 'greedy'"),
        (dict(solver="raleigh"), ValueError, "did you mean 'rayleigh'"),
        (dict(unlabelled="no"), ValueError, "unlabelled is 'no'"),
    ],
)
def test_bad_parameters(params, error, match, half_labelled):
    X, y, _ = half_labelled
    with pytest.raises(error, match=match):
        RayleighRanker(**params).fit(X, y)


# Permutation and copies


@pytest.mark.parametrize(
    "options",
    [
        dict(kernel="linear", n_components=None),
        dict(kernel="linear", n_components=3),
        dict(n_components=60, gamma=0.1, lam=0.1),
    ],
    ids=["line", "linear", "rbf"],
)
def test_order_of_items(options, half_labelled):
    """With a subspace of everything the order of the items makes no difference.

    Else the first pivot is the first item.
    """
    X, y, _ = half_labelled
    X = X[:80] if "gamma" not in options else X[:50]
    y = y[: len(X)]
    order = np.random.default_rng(0).permutation(len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer directions than asked for
        a, b = (
            RayleighRanker(manifold_weight=100.0, **options).fit(X[items], y[items])
            for items in (np.arange(len(X)), order)
        )
    f = a.predict(X)
    assert np.allclose(b.predict(X), f, rtol=0, atol=1e-6 * np.abs(f).max())


# Cross-validation

GRID = dict(
    lams=[1e-3, 0.1], manifold_weights=[0.0, 30.0, 1e4], n_components=[4, 12], gamma=[0.2, 2.0]
)


def again(model, X, y, folds):
    """The table by training again, entry by entry."""
    table = np.zeros([len(folds), *(len(axis) for axis in model.grid_.values())])
    own = {
        name: getattr(model, name)
        for name in ("n_neighbors", "kernel", "degree", "coef0", "pivots", "metric", "random_state")
    }
    for f, (train, test) in enumerate(folds):
        known = np.where(np.isin(np.arange(len(y)), train), y, -1)
        for index in np.ndindex(*table.shape[1:]):
            lam, weight, p, gamma = (axis[i] for axis, i in zip(model.grid_.values(), index))
            one = RayleighRanker(
                lam=lam, manifold_weight=weight, n_components=p, gamma=gamma, **own
            ).fit(X, known)
            table[(f, *index)] = rb.auc(y[test], one.predict(X[test]))
    return table


@pytest.mark.parametrize(
    "options",
    [
        dict(),
        dict(pivots="random"),
        dict(pivots="rpcholesky", n_neighbors=3),
        dict(kernel="poly", degree=2),
        dict(lams=[1e-3, 0.1, 1.0, 10.0]),
        dict(kernel="linear", n_components=None, gamma=None),
        dict(n_components=None),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:n_components is reduced")
def test_table_is_that_of_training_again(options, half_labelled):
    X, y, _ = half_labelled
    model = RayleighRankerCV(**GRID | dict(cv=3, random_state=0) | options).fit(X, y)
    folds = label_folds(3, X, np.where(y < 0, nan, y), 0)
    assert np.allclose(model.fold_values_, again(model, X, y, folds), rtol=0, atol=1e-12)
    assert (
        np.array_equal(model.cv_values_, model.fold_values_.mean(axis=0))
        and model.best_value_ == model.cv_values_.max()
    )
    cold = RayleighRanker(
        lam=model.lam_,
        manifold_weight=model.manifold_weight_,
        gamma=model.gamma_,
        random_state=0,
        **{
            k: v
            for k, v in (options | dict(n_components=model.n_components_)).items()
            if k not in ("lams", "gamma")
        },
    ).fit(X, y)
    assert (
        np.allclose(cold.predict(X), model.predict(X), rtol=1e-10, atol=1e-10)
        and model.certificate_.is_optimal(1e-12)
        and model.solver_ == cold.solver_
    )


@pytest.mark.parametrize("pivots", ["greedy", "random", "rpcholesky"])
def test_warm_is_cold(pivots, half_labelled):
    """Fewer directions, other labels, and a grid either way, to 1e-10."""
    X, y, truth = half_labelled
    options = dict(gamma=0.5, pivots=pivots, random_state=5)
    large = rb.RayleighProblem(X, truth, n_components=30, manifold_weight=7.0, **options)
    large.smallest_eigenvalue  # noqa: B018 -- which is not that of the others
    for p in (1, 2, 9, 30):
        small = rb.RayleighProblem(X, y, n_components=p, manifold_weight=7.0, **options)
        warm = first_directions(with_signs(large, small.data.signs), p)
        assert np.array_equal(warm.data.subspace.pivots, small.data.subspace.pivots)
        for name in ("matrix", "mean_difference", "X"):
            assert np.abs(getattr(warm, name) - getattr(small, name)).max() <= 1e-10
        a, b = (rb.solve(problem, 1e-2, solver="rayleigh") for problem in (warm, small))
        assert np.allclose(
            a.coef, b.coef, rtol=1e-10, atol=1e-10 * np.abs(b.coef).max()
        ) and np.allclose(a.predict(X[:7]), b.predict(X[:7]), rtol=1e-10, atol=1e-10)
        assert a.certificate.is_optimal(1e-12) and a.problem.n_items == 90
        assert np.isclose(
            warm.smallest_eigenvalue, small.smallest_eigenvalue, rtol=1e-8, atol=1e-14
        )
        corner = rb.RayleighProblem(X, truth, n_components=p, manifold_weight=7.0, **options)
        assert np.isclose(
            first_directions(large, p).smallest_eigenvalue,
            corner.smallest_eigenvalue,
            rtol=1e-8,
            atol=1e-14,
        )
        lams, weights = [1e-2, 1.0], [0.0, 7.0, 1e3]
        table = grid_coefficients(warm, lams, weights)
        assert np.allclose(
            table,
            np.stack([grid_coefficients(warm, [lam] * 4, weights)[0] for lam in lams]),
            rtol=0,
            atol=1e-9 * np.abs(table).max(),
        )
        assert np.allclose(table[0, 1], b.coef, rtol=0, atol=1e-9 * np.abs(b.coef).max())
    assert large.coef_shape == (30,) and np.array_equal(
        large.data.signs, 2 * truth - 1
    )  # as it was


def test_one_subspace_for_each_gamma_and_one_graph(half_labelled, monkeypatch):
    import rankbook.estimators.rayleigh as rayleigh_cv
    import rankbook.problems.rayleigh as rayleigh

    X, y, _ = half_labelled
    made = []
    count = lambda what, function: lambda *a, **k: (made.append(what), function(*a, **k))[1]
    graph = count("graph", rayleigh.neighbour_graph)
    monkeypatch.setattr(rayleigh_cv, "neighbour_graph", graph)
    monkeypatch.setattr(rayleigh, "neighbour_graph", graph)
    monkeypatch.setattr(rayleigh, "NystroemMap", count("subspace", rayleigh.NystroemMap))
    RayleighRankerCV(**GRID).fit(X, y)
    assert (
        made.count("graph") == 1 and made.count("subspace") == 3
    )  # two gammas, and the best once more
    made.clear()
    RayleighRankerCV(**GRID | dict(manifold_weights=0.0)).fit(X, y)
    assert "graph" not in made


def test_splitters_and_pairs_count_the_labelled_items(half_labelled):
    X, y, _ = half_labelled
    rows, splitter = np.flatnonzero(y >= 0), StratifiedKFold(3)
    a = RayleighRankerCV(**GRID, cv=splitter).fit(X, y)
    pairs = list(splitter.split(X[rows], y[rows]))
    b = RayleighRankerCV(**GRID, cv=pairs).fit(X, y)
    assert np.array_equal(a.fold_values_, b.fold_values_) and len(a.fold_values_) == 3
    part = [(train[::2], test) for train, test in pairs]  # what is in neither part is hidden, too
    c = RayleighRankerCV(**GRID, cv=part).fit(X, y)
    assert np.allclose(
        c.fold_values_,
        again(c, X, y, [(rows[train], rows[test]) for train, test in part]),
        rtol=0,
        atol=1e-12,
    )


def test_labels_of_a_fold_are_not_seen(half_labelled):
    X, y, _ = half_labelled
    problem = rb.RayleighProblem(X, y, n_components=12, manifold_weight=10.0)
    labels = np.where(y < 0, nan, y)
    fold = label_folds(3, X, labels, 0)[0]
    turned = labels.copy()
    turned[fold[1]] = 1 - turned[fold[1]]
    a, b = (
        fold_areas(problem, fold, one, [1e-3, 0.1], [0.0, 10.0], [5, 12])
        for one in (labels, turned)
    )
    assert np.allclose(a, 1 - b, rtol=0, atol=1e-12)


def test_jobs_make_no_difference(half_labelled):
    X, y, _ = half_labelled
    a, b = (RayleighRankerCV(**GRID, random_state=0, n_jobs=jobs).fit(X, y) for jobs in (None, 2))
    assert np.array_equal(a.fold_values_, b.fold_values_) and np.array_equal(
        a.predict(X), b.predict(X)
    )


@pytest.mark.parametrize(
    "y, cv, match",
    [
        (
            [1, 0] * 2 + [-1] * 86,
            2,
            (
                "cv leaves fold 1 of 2 with 1 labelled items of the better class to train on and "
                "1 of the worse"
            ),
        ),
        (
            [1] * 3 + [0] * 20 + [-1] * 67,
            2,
            r"cv leaves fold \d of 2 with 1 labelled items of the better",
        ),
        ([1] * 4 + [0] * 20 + [-1] * 66, 5, "no preference to validate"),
        ([1, 0] * 45, 1, "cv is 1"),
        ([1, 0] * 45, [], "cv has no fold"),
        ([1, 0] * 45, [(np.arange(80), np.arange(70, 90))], "trains on the item 70"),
        ([1, 0] * 45, [(np.arange(0, 80, 2), np.arange(80, 90))], "no preference to train on"),
    ],
)
def test_too_few_labels_for_the_folds(y, cv, match, half_labelled):
    X, good, _ = half_labelled
    model = RayleighRankerCV().fit(X, good)
    before = model.solution_
    with pytest.raises(ValueError, match=match):
        model.set_params(cv=cv).fit(X, y)
    assert model.solution_ is before


@pytest.mark.parametrize(
    "params, error, match",
    [
        (dict(lams=[]), ValueError, "lams is empty"),
        (dict(lams=[0.0]), ValueError, "lams has 0.0"),
        (dict(manifold_weights=[]), ValueError, "manifold_weights is empty"),
        (dict(manifold_weights=[-1.0]), ValueError, "manifold_weights has -1.0"),
        (dict(n_components=[]), ValueError, "n_components is empty"),
        (dict(n_components=[3, 0]), ValueError, "n_components is 0"),
        (dict(n_components=2.5), ValueError, "n_components is 2.5"),
        (dict(gamma=[]), ValueError, "gamma is empty"),
        (dict(gamma=[nan]), ValueError, "gamma has NaN"),
        (dict(cv="five"), TypeError, "cv is 'five'"),
        (dict(kernel="rfb"), ValueError, "did you mean 'rbf'"),
        (dict(metric="euclid"), ValueError, "euclid"),
    ],
)
def test_bad_grids(params, error, match, half_labelled):
    X, y, _ = half_labelled
    with pytest.raises(error, match=match):
        RayleighRankerCV(**params).fit(X, y)


@pytest.mark.parametrize(
    "X",
    [
        np.full((40, 2), 0.1),
        np.repeat(np.eye(2), 20, axis=0),
        np.outer(np.arange(40.0), [1.0, 2.0]),
    ],
    ids=["equal", "two points", "line"],
)
@pytest.mark.filterwarnings("ignore:n_components is reduced")
def test_degenerate_items(X):
    y = np.r_[[0, 1] * 10, [-1] * 20]
    model = RayleighRankerCV(n_components=[1, 5], gamma=[0.1, 1.0], cv=2, random_state=0).fit(X, y)
    assert np.isfinite(model.cv_values_).all() and model.certificate_.is_optimal(1e-9)
    if np.ptp(X) == 0:
        assert (model.cv_values_ == 0.5).all() and (
            model.lam_,
            model.n_components_,
            model.manifold_weight_,
            model.gamma_,
        ) == (1e-3, 1, 0.0, 0.1)


# neighbours


@pytest.mark.parametrize("estimator", [RayleighRanker, RayleighRankerCV])
def test_neighbours_are_searched_as_asked(half_labelled, monkeypatch, estimator):
    X, y, _ = half_labelled
    searches, nearest = [], search.nearest_neighbours
    for name in ("nearest_neighbours", "approximate_neighbours"):
        monkeypatch.setattr(
            search, name, lambda X, c, *metric, name=name: searches.append(name) or nearest(X, c)
        )
    models = [estimator(neighbours=how).fit(X, y) for how in ("auto", "exact", "approximate")]
    assert searches == ["nearest_neighbours"] * 2 + ["approximate_neighbours"]
    for model in models[1:]:
        assert np.array_equal(model.predict(X), models[0].predict(X))
    with pytest.raises(ValueError, match="neighbours is 'most'"):
        estimator(neighbours="most").fit(X, y)
    with pytest.raises(ValueError, match="'approximate' with the metric 'cosine'"):
        estimator(neighbours="approximate", metric="cosine").fit(X, y)


def test_of_equal_values_the_largest_lambda_is_taken_and_none_is_a_gamma():
    X = np.r_[np.arange(10.0), 100 + np.arange(10.0)][:, None] / 100
    y = np.repeat([0, 1], 10)
    options = dict(lams=[1e-3, 1.0, 10.0], manifold_weights=[9.0, 0.0], n_components=[2, 1], cv=2)
    model = RayleighRankerCV(gamma=[1.0, None], **options).fit(X, y)
    assert (model.cv_values_ == 1).all() and model.grid_["gammas"] == [1.0, None]
    assert (model.lam_, model.n_components_, model.manifold_weight_) == (10.0, 1, 0.0)
    assert model.gamma_ is None
    for gamma, named in (([None, -1.0], "^gamma has -1"), ([], "^gamma is empty")):
        with pytest.raises(ValueError, match=named):
            RayleighRankerCV(gamma=gamma).fit(X, y)
