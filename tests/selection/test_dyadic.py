"""What a label ranker scores without objects, labels or pairs, against training again."""

from itertools import product

import mpmath
import numpy as np
import pytest

import rankbook as rb
from rankbook.preferences.missed_pairs import TIE_TOL
from rankbook.problems.label_ranking import LabelRankRLSProblem, LabelRankSVMProblem
from rankbook.selection.dyadic import (
    LEAVE_OUT,
    dyadic_values,
    fold_masks,
    leave_out_scores,
    retrained_scores,
    rounding_limits,
    seed_of_folds,
    single_masks,
    usual_cv,
)

LAMS = np.array([1e-2, 1.0, 1e3])


def rbf(A):
    return np.exp(-((A[:, None] - A) ** 2).sum(axis=2) / A.shape[1])


def features(rng, size, kind):
    """Random features (size, 3), on a grid of few values, with copies, or on a line."""
    if kind == "grid":
        return rng.integers(0, 2, size=(size, 3)).astype(float)
    A = rng.normal(size=(size, 3))
    if kind == "copies":
        A[1::2] = A[0]
    return A * [1, 0, 0] if kind == "line" else A


def trained(K, L, Y, mask, lam):
    """All scores (n, k) of RankRLS on the pairs of a mask, by one dense system of these pairs."""
    i, a = np.nonzero(mask & (mask.sum(axis=1, keepdims=True) > 1))
    sizes = np.bincount(i, minlength=len(K))
    root = np.sqrt(sizes[i]) * (np.eye(len(i)) - (i[:, None] == i) / sizes[i])
    kernel = K[np.ix_(i, i)] * L[np.ix_(a, a)]
    coef = np.zeros(mask.shape)
    inner = root @ kernel @ root.T + lam * np.eye(len(i))
    coef[i, a] = root.T @ np.linalg.solve((inner + inner.T) / 2, root @ Y[i, a])
    return K @ coef @ L


def without(leave_out, shape, i, a):
    """The mask of the training set that a pair's score is predicted from."""
    mask = np.ones(shape, dtype=bool)
    if leave_out == "pairs":
        mask[i, a] = False
    if leave_out in ("objects", "both"):
        mask[i] = False
    if leave_out in ("labels", "both"):
        mask[:, a] = False
    return mask


def relative(scores, a, leave_out):
    others = scores if leave_out == "objects" else np.delete(scores, a)
    return scores[a] - others.mean()


def trained_again(leave_out, K, L, Y, lam):
    return np.array(
        [
            relative(trained(K, L, Y, without(leave_out, Y.shape, i, a), lam)[i], a, leave_out)
            for i, a in np.ndindex(Y.shape)
        ]
    ).reshape(Y.shape)


def path_of(X, Y, kernel="rbf", **options):
    problem = LabelRankRLSProblem(X, Y, kernel=kernel, **options)
    return rb.solve_path(problem, solver="kronecker")


@pytest.mark.parametrize("leave_out", LEAVE_OUT)
@pytest.mark.parametrize("labels", ["plain", "grid", "copies", "line"])
@pytest.mark.parametrize("objects", ["plain", "grid", "copies", "line"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_each_setting_against_training_again(kernel, objects, labels, leave_out):
    for seed, (n, k) in enumerate([(2, 3), (7, 4), (4, 6)]):
        rng = np.random.default_rng(seed)
        X, A = features(rng, n, objects), features(rng, k, labels)
        K, L = (X @ X.T if kernel == "linear" else rbf(X)), A @ A.T if n == 4 else rbf(A)
        Y = rng.integers(0, 3, size=(n, k)).astype(float)
        Y[0, :2] = 0, 1
        if leave_out in ("labels", "both") and not np.triu(L, 1).any():
            continue  # refused, as for the identity
        items = K if kernel == "precomputed" else X
        found = leave_out_scores(path_of(items, Y, kernel, label_kernel=L), leave_out, LAMS)
        for scores, lam in zip(found, LAMS):
            assert np.abs(scores - trained_again(leave_out, K, L, Y, lam)).max() < 1e-8


@pytest.mark.parametrize("leave_out", ["objects", "pairs"])
def test_labels_that_share_nothing(leave_out):
    rng = np.random.default_rng(0)
    for k in (2, 5):
        X, Y = rng.normal(size=(6, 2)), rng.normal(size=(6, k))
        found = leave_out_scores(path_of(X, Y), leave_out, LAMS)
        for scores, lam in zip(found, LAMS):
            again = trained_again(leave_out, rbf(X), np.eye(k), Y, lam)
            assert np.abs(scores - again).max() < 1e-8


def test_an_object_that_alone_has_a_feature():
    """Of a linear kernel: its leverage is 1, and what is left says nothing about the feature."""
    rng = np.random.default_rng(0)
    X, A, Y = rng.normal(size=(8, 3)), rng.normal(size=(5, 2)), rng.normal(size=(8, 5))
    X[:, 2] = 0
    X[3] = 0, 0, 1e3
    path = path_of(X, Y, "linear", label_kernel=rbf(A))
    assert np.abs(leave_out_scores(path, "objects", LAMS)[:, 3]).max() < 1e-8
    for leave_out, lam in product(LEAVE_OUT, LAMS):
        again = trained_again(leave_out, X @ X.T, rbf(A), Y, lam)
        assert np.abs(leave_out_scores(path, leave_out, lam)[0] - again).max() < 1e-8


@pytest.mark.parametrize("leave_out", LEAVE_OUT)
def test_tiny_scores_keep_their_digits(leave_out):
    rng = np.random.default_rng(0)
    X, A, Y = rng.normal(size=(5, 2)), rng.normal(size=(4, 2)), 10 + rng.normal(size=(5, 4))
    found = leave_out_scores(path_of(X, Y, label_kernel=rbf(A)), leave_out, [1e10])[0]
    again = trained_again(leave_out, rbf(X), rbf(A), Y, 1e10)
    assert np.abs(again).max() < 1e-8 and np.abs(found - again).max() < 1e-8 * np.abs(again).max()


def table(rng, n=8, k=6, gaps=0.0):
    X, A = rng.normal(size=(n, 2)), rng.normal(size=(k, 2))
    Y = rng.integers(0, 4, size=(n, k)).astype(float)
    Y[rng.random((n, k)) < gaps] = np.nan
    return X, rbf(A), Y


@pytest.mark.parametrize("leave_out", LEAVE_OUT)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_folds_against_training_again(gaps, kernel, leave_out):
    X, L, Y = table(np.random.default_rng(1), gaps=gaps)
    K = X @ X.T if kernel == "linear" else rbf(X)
    items = K if kernel == "precomputed" else X
    problem = LabelRankRLSProblem(items, Y, kernel=kernel, label_kernel=L)
    values, scores = dyadic_values(problem, LAMS, leave_out, 3, 5)
    counted = [[] for _ in LAMS]
    for train, judged in fold_masks(leave_out, ~np.isnan(Y), 3, 5):
        for l, lam in enumerate(LAMS):
            f = trained(K, L, Y, train, lam)
            for i in range(len(Y)):
                a, b = (judged[i].nonzero()[0][end] for end in np.triu_indices(judged[i].sum(), 1))
                assert np.allclose(scores[l, i, a] - scores[l, i, b], f[i, a] - f[i, b], atol=1e-8)
                side = np.sign(Y[i, a] - Y[i, b])
                met = np.sign(np.round(f[i, a] - f[i, b], 7)) * side
                if side.any():
                    counted[l].append(np.mean((1 - met[side != 0]) / 2))
    assert np.allclose(values, [np.mean(each) for each in counted], rtol=0, atol=1e-12)
    assert np.array_equal(np.isnan(scores[0]), np.isnan(Y))


@pytest.mark.parametrize("leave_out", LEAVE_OUT)
def test_one_at_a_time_is_judged_within_each_object(leave_out):
    X, L, Y = table(np.random.default_rng(2))
    values, scores = dyadic_values(LabelRankRLSProblem(X, Y, label_kernel=L), LAMS, leave_out)
    for value, F in zip(values, scores):
        assert value == pytest.approx(
            np.mean([rb.disagreement(rb.Preferences.from_scores(y), f) for y, f in zip(Y, F)])
        )


def tiny_table(seed):
    """A table of few objects and labels, of which about a third of the scores is missing."""
    rng = np.random.default_rng(seed)
    n, k = rng.integers(3, 7), rng.integers(3, 6)
    Y = rng.integers(0, 4, (n, k)).astype(float)
    Y[rng.random((n, k)) < 0.3] = np.nan
    Y[(~np.isnan(Y)).sum(axis=1) == 1] = np.nan  # a single score has no preference
    return rng.normal(size=(n, 2)), rbf(rng.normal(size=(k, 2))), Y


def has_two_scores(Y, mask):
    return any(np.unique(y[known]).size > 1 for y, known in zip(Y, mask))


@pytest.mark.parametrize("leave_out", LEAVE_OUT)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_one_at_a_time_with_gaps_against_training_again(kernel, leave_out):
    empty = 0
    for seed in range(12):
        X, L, Y = tiny_table(seed)
        there, K = ~np.isnan(Y), X @ X.T if kernel == "linear" else rbf(X)
        learns = lambda i, a: has_two_scores(Y, there & without(leave_out, Y.shape, i, a))
        if not any(learns(i, a) for i, a in np.argwhere(there)):
            continue
        problem = LabelRankRLSProblem(X, Y, kernel=kernel, label_kernel=L)
        values, scores = dyadic_values(problem, LAMS, leave_out)
        for l, lam in enumerate(LAMS):
            again = np.full(Y.shape, np.nan)
            for i, a in np.argwhere(there):
                mask = there & without(leave_out, Y.shape, i, a)
                empty += not learns(i, a)
                again[i, a] = relative(trained(K, L, Y, mask, lam)[i], a, leave_out)
            assert np.allclose(scores[l], again, rtol=0, atol=1e-8, equal_nan=True)
            wrong, size = [], np.nanmax(np.abs(again))
            for y, f in zip(Y, again / size):
                known = np.flatnonzero(~np.isnan(y))
                a, b = (known[end] for end in np.triu_indices(known.size, 1))
                side, met = np.sign(y[a] - y[b]), np.sign(np.round(f[a] - f[b], 9))
                if side.any():
                    wrong.append(np.mean((1 - (met * side)[side != 0]) / 2))
            assert values[l] == pytest.approx(np.mean(wrong), abs=1e-12)
    assert empty or leave_out in ("objects", "pairs")


@pytest.mark.parametrize("leave_out", LEAVE_OUT)
def test_the_default_fits_all_tiny_tables_that_can_be_judged(leave_out):
    fitted = 0
    for seed in range(150):
        X, L, Y = tiny_table(seed)
        there = ~np.isnan(Y)
        problem = LabelRankRLSProblem(X, Y, kernel="linear", label_kernel=L)
        cv = usual_cv(problem, leave_out)
        parts = (
            single_masks(leave_out, there)
            if cv == "loo"
            else fold_masks(leave_out, there, cv, seed_of_folds(leave_out, Y, cv, 0))
        )
        learns = [has_two_scores(Y, train) for train, _ in parts]
        assert all(learns) or cv == "loo"
        alone = (there & without(leave_out, Y.shape, i, a) for i, a in np.argwhere(there))
        assert any(learns) == any(has_two_scores(Y, mask) for mask in alone)
        fitted += any(learns)
    assert fitted > 140


@pytest.mark.parametrize("leave_out", LEAVE_OUT)
def test_one_at_a_time_of_the_ranking_svm(leave_out):
    X, L, Y = tiny_table(4)
    problem = LabelRankSVMProblem(X, Y, kernel="linear", label_kernel=L)
    _, (scores,) = dyadic_values(problem, [0.5], leave_out)
    for i, a in np.argwhere(~np.isnan(Y))[:6]:
        rest = np.where(without(leave_out, Y.shape, i, a), Y, np.nan)
        model = rb.LabelRanker(0.5, "ranksvm", kernel="linear", label_kernel=L).fit(X, rest)
        assert np.isclose(scores[i, a], relative(model.predict(X)[i], a, leave_out), atol=1e-3)


@pytest.mark.parametrize("leave_out", LEAVE_OUT)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_folds_of_the_ranking_svm(kernel, leave_out):
    X, L, Y = table(np.random.default_rng(3))
    problem = LabelRankSVMProblem(X, Y, kernel=kernel, label_kernel=L)
    train, judged = list(fold_masks(leave_out, ~np.isnan(Y), 2, 0))[1]
    scores, limits = retrained_scores(problem, Y, train, judged, np.array([0.1, 2.0]))
    assert limits.tolist() == [TIE_TOL * max(f.max(), -f.min()) for f in scores]
    rest = np.where(train, Y, np.nan)
    for f, lam in zip(scores, (0.1, 2.0)):
        model = rb.LabelRanker(lam, "ranksvm", kernel=kernel, label_kernel=L).fit(X, rest)
        again = model.predict(X)[np.ix_(judged.any(axis=1), judged.any(axis=0))]
        apart = f - again
        assert np.abs(apart - apart.mean(axis=1, keepdims=True)).max() < 1e-3
    values, _ = dyadic_values(problem, [0.1, 2.0], leave_out, 2, 0)
    assert ((values > 0) & (values < 1)).all()


def test_scores_of_chance_are_wrong_for_half_of_the_pairs():
    """A label's own score does not lower its prediction, as the known mean of the others would."""
    X, L, Y = table(np.random.default_rng(4), n=30)
    problem = LabelRankRLSProblem(X, np.random.default_rng(0).permuted(Y, axis=1), label_kernel=L)
    for leave_out in LEAVE_OUT:
        values, _ = dyadic_values(problem, [1e2, 1e8], leave_out)
        assert (np.abs(values - 0.5) < 0.1).all()


@pytest.mark.slow
@pytest.mark.parametrize("leave_out, cv", [(o, "loo") for o in LEAVE_OUT[:3]] + [("both", 5)])
def test_a_thousand_objects_and_labels_take_less_than_a_minute(leave_out, cv):
    """Of one core, for 30 lambdas."""
    from time import process_time

    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(0)
    X, A = rng.normal(size=(1000, 3)), rng.normal(size=(1000, 3))
    Y = rbf(X) @ rng.normal(size=(1000, 1000)) @ rbf(A)
    Y += Y.std() * rng.normal(size=Y.shape)
    rb.disagreement(rb.Preferences.from_scores([0, 1]), [0.0, 1.0])  # compiles
    with threadpool_limits(1):
        start = process_time()
        problem = LabelRankRLSProblem(X, Y, label_kernel=rbf(A))
        values, _ = dyadic_values(problem, np.logspace(-4, 6, 30), leave_out, cv)
        spent = process_time() - start
    print(f"{leave_out}, cv={cv}: {spent:.1f} s")
    assert spent < 60 and 0.1 < values.min() < 0.45


# LabelRankerCV


@pytest.mark.parametrize("leave_out", LEAVE_OUT)
def test_the_best_lambda_is_fitted_to_all_data(leave_out):
    rng = np.random.default_rng(5)
    X, A, Y = rng.normal(size=(9, 2)), rng.normal(size=(5, 2)), rng.normal(size=(9, 5))
    model = rb.LabelRankerCV(LAMS, leave_out, label_kernel="rbf").fit(X, Y, labels=A)
    scores = leave_out_scores(path_of(X, Y, label_kernel=rbf(A)), leave_out, LAMS)
    assert np.allclose(model.cv_predictions_, scores[list(LAMS).index(model.lam_)], atol=1e-10)
    assert model.best_value_ == model.cv_values_.min() == model.cv_values_[LAMS == model.lam_]
    assert model.curve_.at(model.lam_) == model.best_value_
    once = rb.LabelRanker(model.lam_, label_kernel="rbf").fit(X, Y, labels=A)
    assert np.array_equal(model.predict(X, labels=A[:2]), once.predict(X, labels=A[:2]))


def test_of_equal_values_the_largest_lambda_is_taken():
    X, Y = np.arange(4.0)[:, None], np.tile([2.0, 1.0, 0.0], (4, 1))
    model = rb.LabelRankerCV([1.0, 10.0, 0.1]).fit(X, Y)
    assert (model.cv_values_ == 0).all() and model.lam_ == 10.0


def test_folds_with_sparse_objects_are_those_of_dense_ones():
    from scipy.sparse import csr_array

    X, L, Y = table(np.random.default_rng(6), gaps=0.2)
    options = dict(cv=2, kernel="linear", label_kernel=L)
    for leave_out in LEAVE_OUT:
        models = [
            rb.LabelRankerCV([0.1, 1.0], leave_out, **options).fit(items, Y)
            for items in (X, csr_array(X))
        ]
        known = ~np.isnan(Y)
        scores = [model.cv_predictions_[known] for model in models]
        assert np.allclose(*scores, atol=1e-8)


def test_folds_are_drawn_with_a_seed():
    X, L, Y = table(np.random.default_rng(7))
    fit = lambda seed: rb.LabelRankerCV([1.0], "pairs", 3, label_kernel=L, random_state=seed)
    scores = [fit(seed).fit(X, Y).cv_predictions_ for seed in (None, 0, 1)]
    assert np.array_equal(scores[0], scores[1]) and not np.allclose(scores[0], scores[2])


def test_an_approximate_kernel_of_all_objects_is_exact():
    X, L, Y = table(np.random.default_rng(8))
    for leave_out in LEAVE_OUT:
        values = [
            rb.LabelRankerCV(LAMS, leave_out, label_kernel=L, approximate_kernel=p).fit(X, Y)
            for p in (None, 8)
        ]
        assert np.allclose(*(model.cv_predictions_ for model in values), atol=1e-7)


@pytest.mark.parametrize("labels", [[0.3] * 3, [0.3, 0.1 + 0.2, 0.3]])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("leave_out", LEAVE_OUT)
def test_equal_labels_tie(leave_out, kernel, labels):
    """Equal to the last bit, or except for it."""
    X = np.random.default_rng(0).normal(size=(4, 2))
    Y = np.random.default_rng(1).integers(0, 3, (4, 3)).astype(float)
    options = dict(leave_out=leave_out, kernel=kernel, label_kernel="linear")
    model = rb.LabelRankerCV(lams=[1e-6, 1.0, 100.0], **options).fit(X, Y, labels=np.c_[labels])
    assert (model.cv_predictions_ == 0).all() and (model.cv_values_ == 0.5).all()


def with_digits(leave_out, K, L, Y, lam):
    """Relative scores (n, k) by functions trained again with 50 digits."""
    mp, out = mpmath.mp, np.empty(Y.shape)
    for i, a in np.ndindex(Y.shape):
        rows = list(zip(*np.nonzero(without(leave_out, Y.shape, i, a))))
        G = mp.matrix([[K[p[0]][q[0]] * L[p[1]][q[1]] for q in rows] for p in rows])
        laplacian = np.array([[-float(p[0] == q[0]) for q in rows] for p in rows])
        laplacian -= np.diag(laplacian.sum(axis=1))
        laplacian = mp.matrix(laplacian.tolist())
        A, y = laplacian * G + mp.mpf(lam) * mp.eye(len(rows)), mp.matrix([Y[p] for p in rows])
        coef = mp.lu_solve(A, laplacian * y)
        scores = [
            mp.fsum(c * K[i][q[0]] * L[b][q[1]] for c, q in zip(coef, rows))
            for b in range(Y.shape[1])
        ]
        others = [s for b, s in enumerate(scores) if leave_out == "objects" or b != a]
        out[i, a] = scores[a] - mp.fsum(others) / len(others)
    return out


@pytest.mark.parametrize("rank", [2, 4])
@pytest.mark.parametrize("leave_out", LEAVE_OUT)
def test_values_far_below_the_largest_eigenvalue_are_exact_for_linear_labels(leave_out, rank):
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.normal(size=(4, rank)))[0] * np.arange(1, rank + 1)
    A = rng.normal(size=(4, 2))
    Y = rng.integers(0, 4, (4, 4)).astype(float)
    with mpmath.workdps(50):
        K, L = ((mpmath.matrix(B) * mpmath.matrix(B).T).tolist() for B in (X, A))
        problem = LabelRankRLSProblem(X, Y, kernel="linear", label_kernel=A @ A.T)
        for lam in (1e-10, 1e-13, 1e-16):
            values, found = dyadic_values(problem, [lam], leave_out)
            scores = with_digits(leave_out, K, L, Y, lam)
            assert np.allclose(found[0], scores, rtol=0, atol=1e-12)
            differ = [i for i in range(len(Y)) if np.ptp(Y[i]) > 0]
            wrong = [rb.disagreement(Y[i], scores[i]) for i in differ]
            assert values[0] == pytest.approx(np.mean(wrong), abs=1e-12)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_last_bits_of_a_label_do_not_order_it_in_any_fold(seed, gaps):
    """Also if another fold has scores a million times smaller."""
    X, _, Y = table(np.random.default_rng(9), gaps=gaps)
    A, X[0], values = np.array([0.3, 0.3, -1.0, 2.0, 0.3, 0.3]), 1e6 * X[0], []
    for last in (0.0, 2.0**-54):
        A[1::3] += last
        problem = LabelRankRLSProblem(X, Y, kernel="linear", label_kernel=np.outer(A, A))
        values.append(dyadic_values(problem, [1e3, 1e5, 1e6], "objects", 2, seed)[0])
    assert np.allclose(*values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("largest", [0.0, 10.0])
def test_limits_of_ties_in_closed_form(largest):
    """The eigenvalues are 1, 4 and 900 of the objects, and 1 twice of the labels."""
    Y = np.array([[5.0, 6, 7], [7, 5, 6], [6, 7, 5]])
    path = path_of(np.diag([1.0, 4.0, 900.0]), Y, "precomputed")
    scores = np.zeros((2, 3, 3))
    scores[:, 1, 2] = -largest
    limits = rounding_limits(path, scores, np.array([3.0, 5400.0]))
    shares = 2.0**-48 * (1 + 900 / (1 + 1)), 1e-12
    assert limits == pytest.approx(np.maximum(largest, [1, 0.5]) * shares, rel=1e-9, abs=0)


def test_orders_that_rounding_errors_hide_are_reported():
    rng = np.random.default_rng(0)
    X, Y = np.repeat(rng.normal(size=(6, 2)), 2, axis=1), rng.integers(0, 4, (6, 4))
    X = np.hstack([X] * 3)  # more features than objects, of rank 2
    problem = LabelRankRLSProblem(X, Y, kernel="linear")
    with pytest.warns(RuntimeWarning, match="lams has values up to 1e-15"):
        values, _ = dyadic_values(problem, [1.0, 1e-15], "objects")
    assert values[1] == 0.5
