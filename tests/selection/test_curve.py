"""The validation curve against counting.

At thousands of lambdas, on ties above all, and in every best interval.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.signal import find_peaks
from scipy.sparse import csr_array

import rankbook as rb
from rankbook import metrics
from rankbook.data.datasets import make_mixture
from rankbook.metrics.pairs import disagreement
from rankbook.selection import crossings
from rankbook.selection.curve import ValidationCurve, choose_lambda, disagreement_error

LOW = 1e-5


def mixture_parts(seed=1, n=100):
    """Training and validation halves of the mixture, two classes."""
    data = make_mixture(n_per_class=n, seed=seed)
    train = np.arange(2 * n) % 2 == 0
    return data.X[train], data.y[train], data.X[~train], data.y[~train]


def follow(X, prefs, kernel="rbf", depth=LOW, **options):
    problem = rb.RankSVMProblem(X, prefs, kernel, **options)
    return rb.solve_path(problem, lam_min=None if depth is None else depth * problem.lam_max)


def random_lams(path, count, lowest=LOW, seed=0):
    low = max(path.domain[0], lowest * path.problem.lam_max)
    return np.exp(
        np.random.default_rng(seed).uniform(np.log(low), np.log(3 * path.problem.lam_max), count)
    )


def counted(path, X_val, prefs, lam):
    """The disagreement counted pair by pair, equal rows scored once.

    It is None where it hangs on the tenth digit of a score.

    Scores read from a path are good to some 1e-11 of the largest one. Differences beyond 1e-7 are
    real, those below 1e-10 ties. In between are pairs that just cross at this lambda.
    """
    rows, place = np.unique(X_val, axis=0, return_inverse=True)
    scores = path.predict(rows, lam)[place.ravel()]
    d = (scores[prefs.better] - scores[prefs.worse]) / np.abs(scores).max()
    if ((np.abs(d) > 1e-10) & (np.abs(d) < 1e-7)).any():
        return None
    return prefs.weight @ np.where(np.abs(d) <= 1e-10, 0.5, d < 0) / prefs.weight.sum()


def check_by_counting(path, X_val, prefs, count=100, lowest=LOW, curve=None):
    """The curve is what counting gives, wherever counting can decide."""
    curve = rb.validation_curve(path, X_val, prefs) if curve is None else curve
    check_shape(curve, path)
    lams = random_lams(path, count, lowest)
    values = [counted(path, X_val, prefs, lam) for lam in lams]
    known = [i for i, value in enumerate(values) if value is not None]
    assert len(known) > 0.9 * count
    wrong = [
        (lams[i], curve.at(lams[i]), values[i])
        for i in known
        if abs(curve.at(lams[i]) - values[i]) > 1e-12
    ]
    assert not wrong, f"{len(wrong)} of {len(known)} lambdas, the first {wrong[0]}"
    return curve


def check_shape(curve, path):
    breaks, values = curve.breaks, curve.values
    assert breaks.size == values.size + 1 and breaks[0] == np.inf and breaks[-1] == path.domain[0]
    assert (np.diff(breaks) < 0).all() and (values[1:] != values[:-1]).all()
    assert (values >= -1e-12).all() and (values <= 1 + 1e-12).all()


# Exactly equal, on data in general position

GENERIC = {
    "rbf": lambda X, y, V, v, rng: (
        X,
        rb.Preferences.from_scores(y),
        "rbf",
        V,
        rb.Preferences.from_scores(v),
    ),
    "linear": lambda X, y, V, v, rng: (
        X,
        rb.Preferences.from_scores(y),
        "linear",
        V,
        rb.Preferences.from_scores(v),
    ),
    "star": lambda X, y, V, v, rng: (
        X,
        rb.Preferences.from_scores(y, graph="star"),
        "rbf",
        V,
        rb.Preferences.from_scores(v, graph="star"),
    ),
    "star linear": lambda X, y, V, v, rng: (
        X,
        rb.Preferences.from_scores(y, graph="star"),
        "linear",
        V,
        rb.Preferences.from_scores(v),
    ),
    "queries": lambda X, y, V, v, rng: (
        X,
        rb.Preferences.from_scores(y, qid=rng.integers(0, 3, len(y))),
        "rbf",
        V,
        rb.Preferences.from_scores(v, qid=rng.integers(0, 5, len(v))),
    ),
    "levels": lambda X, y, V, v, rng: (
        X,
        rb.Preferences.from_scores(np.round(X[:, 0] + rng.normal(size=len(y)))),
        "rbf",
        V,
        rb.Preferences.from_scores(np.round(V[:, 0])),
    ),
    "rankings": lambda X, y, V, v, rng: (
        X,
        rb.Preferences.from_scores(y),
        "rbf",
        V,
        rb.Preferences.from_rankings([rng.permutation(len(v))[:20] for _ in range(3)], len(v)),
    ),
    "few": lambda X, y, V, v, rng: (
        X[::7],
        rb.Preferences.from_scores(y[::7]),
        "rbf",
        V[:6],
        rb.Preferences([0, 2, 4], [1, 3, 5], 6),
    ),
    "poly": lambda X, y, V, v, rng: (
        X,
        rb.Preferences.from_scores(y),
        "poly",
        V,
        rb.Preferences.from_scores(v),
    ),
}


@pytest.mark.parametrize("case", GENERIC.values(), ids=GENERIC)
def test_the_curve_is_brute_force_at_random_lambdas(case, amount):
    X, prefs, kernel, X_val, prefs_val = case(*mixture_parts(), np.random.default_rng(0))
    path = follow(X, prefs, kernel)
    curve = rb.validation_curve(path, X_val, prefs_val)
    check_shape(curve, path)
    lams = random_lams(path, amount(100, 1000))
    assert np.array_equal(
        curve.at(lams), [disagreement(prefs_val, path.predict(X_val, lam)) for lam in lams]
    )


def test_the_curve_is_brute_force_for_a_precomputed_kernel():
    X, y, V, v = mixture_parts()
    kernel = lambda A, B: np.exp(-((A[:, None] - B[None]) ** 2).sum(-1))
    path = follow(kernel(X, X), rb.Preferences.from_scores(y), "precomputed")
    curve = rb.validation_curve(path, kernel(V, X), rb.Preferences.from_scores(v))
    by_name = rb.validation_curve(
        follow(X, rb.Preferences.from_scores(y), gamma=1.0), V, rb.Preferences.from_scores(v)
    )
    lams = random_lams(path, 1000)
    assert np.array_equal(curve.at(lams), by_name.at(lams))
    assert np.array_equal(
        curve.at(lams[:100]),
        [disagreement(v, path.predict(kernel(V, X), lam)) for lam in lams[:100]],
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("metric", ["disagreement", "ndcg", "average_precision", "auc"])
def test_sparse_validation_items_have_the_curve_of_dense_ones(dtype, metric):
    rng = np.random.default_rng(0)
    for shift in (0, 1000):
        X, V = (rng.integers(-3, 4, (n, 4)) * (rng.random((n, 4)) < 0.6) + shift for n in (30, 40))
        path = follow(X, rb.Preferences.from_scores(rng.integers(0, 3, 30)), "linear")
        v, items = rng.integers(0, 2, 40), V.astype(dtype)
        dense, sparse = (
            rb.validation_curve(path, each, v, metric=metric) for each in (items, csr_array(items))
        )
        assert np.array_equal(dense.values, sparse.values)
        assert np.allclose(dense.breaks, sparse.breaks, rtol=1e-9)
    with pytest.raises(ValueError, match="X_val has 5 columns"):
        rb.validation_curve(path, csr_array(np.ones((40, 5))), v)


def test_no_segment_lies_between_two_blocks_of_scores(monkeypatch):
    X, y, V, v = mixture_parts(n=20)
    path = follow(X @ X.T, rb.Preferences.from_scores(y), "precomputed")
    whole = rb.validation_curve(path, V @ X.T, v)
    monkeypatch.setattr(crossings, "ENTRIES", 3 * len(V))  # an odd number of breakpoints
    parts = rb.validation_curve(path, V @ X.T, v)
    assert np.array_equal(whole.values, parts.values)
    assert np.allclose(whole.breaks, parts.breaks, rtol=1e-12)


def test_weighted_validation_preferences():
    X, y, V, v = mixture_parts()
    prefs = rb.Preferences.from_scores(v)
    weight = np.random.default_rng(0).uniform(0.1, 10, len(prefs))
    weight[::5] = 0
    path = follow(X, rb.Preferences.from_scores(y))
    check_by_counting(path, V, prefs.reweighted(weight=weight, margin=weight + 1))
    scaled = rb.validation_curve(path, V, prefs.reweighted(weight=1e-9 * weight))
    curve = rb.validation_curve(path, V, prefs.reweighted(weight=weight))
    assert np.allclose(scaled.breaks, curve.breaks) and np.allclose(scaled.values, curve.values)
    kept = np.flatnonzero(weight)
    without = rb.validation_curve(
        path, V, rb.Preferences(prefs.better[kept], prefs.worse[kept], len(v), weight[kept])
    )
    lams = random_lams(path, 200)
    assert np.allclose(without.at(lams), curve.at(lams), rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("name", ["cancer", "mixture", "auto", "diabetes"])
def test_the_curve_of_real_data(data_dir, name, kernel):
    from rankbook.data.datasets import load

    data = load(name)
    X, part = (
        (data.X - data.X.mean(0)) / data.X.std(0),
        np.random.default_rng(0).random(len(data.y)) < 0.5,
    )
    path = follow(X[part], rb.Preferences.from_scores(data.y[part]), kernel)
    check_by_counting(path, X[~part], rb.Preferences.from_scores(data.y[~part]), count=5000)


# Ties


def mirrored(X):
    return np.r_[X, X * [-1, 1]]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_items_on_an_integer_grid(kernel):
    X, y, V, v = mixture_parts()
    path = follow(np.round(X), rb.Preferences.from_scores(y), kernel)
    check_by_counting(path, np.round(V), rb.Preferences.from_scores(v))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("change", [lambda X: X, np.round], ids=["as they are", "rounded"])
def test_the_training_items_themselves(kernel, change):
    """Two active preferences with one item in common tie their other items, on any data.

    The reason is that f(k) - f(l) = 1 = f(k) - f(l').
    """
    X = change(mixture_parts()[0])
    score = (
        np.argsort(np.argsort(X[:, 0] + np.random.default_rng(0).normal(size=len(X)))) * 4 // len(X)
    )
    prefs = rb.Preferences.from_scores(score)
    check_by_counting(follow(X, prefs, kernel), X, prefs)


@pytest.mark.parametrize("case", ["linear", "rbf on a grid"])
def test_mirror_images_tie_when_the_training_data_are_their_own_mirror_image(case):
    X, y, V, _ = mixture_parts()
    change = np.round if case == "rbf on a grid" else lambda Z: Z
    path = follow(change(mirrored(X)), rb.Preferences.from_scores(np.r_[y, y]), case.split()[0])
    V, n = change(V), len(V)
    curve = rb.validation_curve(
        path, mirrored(V), rb.Preferences(np.arange(n), np.arange(n) + n, 2 * n)
    )
    assert (curve.at(random_lams(path, 2000)) == 0.5).mean() > 0.995


def test_small_scores_are_no_ties():
    """Four items far from all training items, each 6 to one side of the outermost.

    Their scores are a hundred millionth of the largest, and as exact as any.
    """
    X, y, V, _ = mixture_parts()
    path = follow(X, rb.Preferences.from_scores(y), gamma=0.5)
    far = np.array(
        [
            X[X[:, j].argmax() if s > 0 else X[:, j].argmin()] + s * 6.0 * np.eye(2)[j]
            for j in (0, 1)
            for s in (1, -1)
        ]
    )
    prefs = rb.Preferences([4, 4, 5, 6, 5], [5, 6, 7, 7, 6], 8)
    curve = rb.validation_curve(path, np.r_[V[:4], far], prefs)
    for lam in random_lams(path, 150):
        f = path.predict(np.r_[V[:4], far], lam)
        d = np.abs(prefs.matvec(f)) / np.abs(f).max()
        assert d.max() < 1e-6
        if d.min() > 1e-9:
            assert curve.at(lam) == disagreement(prefs, f)


def test_equal_rows_tie_and_weigh_like_one():
    X, y, V, v = mixture_parts()
    path = follow(X, rb.Preferences.from_scores(y))
    twice = rb.validation_curve(
        path, np.r_[V, V], rb.Preferences(np.arange(len(V)), np.arange(len(V)) + len(V), 2 * len(V))
    )
    assert twice.values.tolist() == [0.5] and twice.best == [(path.domain[0], np.inf)]
    once, four = (
        rb.validation_curve(path, np.r_[(V,) * k], rb.Preferences.from_scores(np.r_[(v,) * k]))
        for k in (1, 2)
    )
    assert np.array_equal(once.values, four.values) and np.allclose(
        once.breaks, four.breaks, rtol=1e-12
    )


def test_preferences_turned_round_turn_the_curve_upside_down():
    X, y, V, v = mixture_parts()
    path, prefs = follow(X, rb.Preferences.from_scores(y)), rb.Preferences.from_scores(v)
    curve = rb.validation_curve(path, V, prefs)
    turned = rb.validation_curve(path, V, rb.Preferences(prefs.worse, prefs.better, len(v)))
    assert np.array_equal(turned.breaks, curve.breaks) and np.allclose(
        turned.values, 1 - curve.values
    )


# To both ends


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("distance", [0, 6], ids=["overlapping", "separable"])
def test_a_complete_path_down_to_nothing(kernel, distance):
    X, y, V, v = mixture_parts(n=40)
    path = follow(
        X + distance * y[:, None], rb.Preferences.from_scores(y, graph="star"), kernel, depth=None
    )
    assert path.status == "complete"
    curve = check_by_counting(path, V, rb.Preferences.from_scores(v), lowest=1e-3)
    last = path.breakpoints[-1]
    end = {curve.at(last * factor) for factor in (0.99, 0.5, 1e-3, 1e-6, 1e-9, 1e-15)}
    assert (
        end == {counted(path, V, rb.Preferences.from_scores(v), 0.5 * last)}
        if distance
        else len(end) >= 1
    )
    assert min(curve.breaks[1:-1], default=np.inf) > 1e-12 * path.problem.lam_max
    assert curve.at(curve.choose()) == curve.minimum


def test_above_the_first_breakpoint_nothing_changes():
    X, y, V, v = mixture_parts()
    path = follow(X, rb.Preferences.from_scores(y))
    curve = rb.validation_curve(path, V, rb.Preferences.from_scores(v))
    assert curve.breaks[1] < path.breakpoints[0] * (1 + 1e-6)
    assert curve.at(1e9 * path.breakpoints[0]) == curve.at(1.001 * path.breakpoints[0])


@pytest.mark.parametrize("limit", [0, 1, 40])
def test_a_path_that_was_stopped_early(limit):
    X, y, V, v = mixture_parts()
    path = rb.solve_path(rb.RankSVMProblem(X, rb.Preferences.from_scores(y)), max_events=limit)
    curve = rb.validation_curve(path, V, rb.Preferences.from_scores(v))
    check_shape(curve, path)
    for lam in np.geomspace(path.domain[0] * (1 + 1e-9), 2 * path.problem.lam_max, 30)[1:]:
        assert curve.at(lam) == disagreement(v, path.predict(V, lam))
    with pytest.raises(ValueError, match="lam is"):
        curve.at(path.domain[0] / 2)


@pytest.mark.parametrize("chunk", [1, 3, 50, 10_000])
def test_where_the_path_was_cut_into_blocks_does_not_show(chunk):
    X, y, V, v = mixture_parts(n=30)
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y))
    prefs = rb.Preferences.from_scores(v)
    path = rb.solve_path(problem, lam_min=LOW * problem.lam_max, chunk=chunk)
    check_by_counting(path, V, prefs, count=300)


# The scores on which it rests


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("distance", [0, 6], ids=["overlapping", "separable"])
def test_knots_are_the_solutions_read_one_by_one(kernel, distance):
    """lam f of new items, between any two breakpoints, is what the solution there says.

    The breakpoints are more than a rounding error apart.
    """
    X, y, V, _ = mixture_parts()
    path = follow(X + distance * y[:, None], rb.Preferences.from_scores(y), kernel)
    rng, upper = np.random.default_rng(0), None
    for lams, G in path.breakpoint_scores(V):
        assert (np.diff(lams) <= 0).all() and G.shape == (lams.size, len(V))
        assert upper is None or lams[0] == upper
        upper = lams[-1]
        wide = np.flatnonzero(lams[:-1] > lams[1:] * (1 + 1e-6))
        for t in rng.permutation(wide)[:8]:
            part = rng.random()
            lam = part * lams[t] + (1 - part) * lams[t + 1]
            f, g = (
                lam * path.predict(V, lam),
                part * G[t] + (1 - part) * G[t + 1],
            )  # equal up to a level of all items
            assert np.allclose(g - g.mean(), f - f.mean(), rtol=0, atol=1e-7 * np.abs(f).max())
    assert upper == path.domain[0]


# A second implementation


def curve_by_sorting(path, X_val, prefs):
    """Midpoints of all intervals between crossings, and the disagreement there.

    Every segment is taken by itself, two solutions read in each.
    """
    ends = np.r_[
        4 * path.problem.lam_max, path.breakpoints, path.domain[0] or path.breakpoints[-1] / 100
    ]
    middles, values = [], []
    for high, low in zip(ends[:-1], ends[1:]):
        if high < low * (1 + 1e-6):
            continue
        a, b = high - (high - low) / 3, low + (high - low) / 3
        G = np.array([lam * path.predict(X_val, lam) for lam in (a, b)])
        d = G[:, prefs.better] - G[:, prefs.worse]
        d[np.abs(d) < 1e-9 * np.abs(G).max(axis=1, keepdims=True)] = 0
        slope = (d[0] - d[1]) / (a - b)
        with np.errstate(divide="ignore", invalid="ignore"):
            roots = a - d[0] / slope
        inside = np.unique(roots[(roots > low) & (roots < high)])
        places = np.r_[low, inside, high]
        for left, right in zip(places[:-1], places[1:]):
            if right > left * (1 + 1e-6):
                lam = (left + right) / 2
                now = d[0] + slope * (lam - a)
                now[(d == 0).all(axis=0)] = 0
                middles.append(lam)
                values.append(prefs.weight @ np.where(now == 0, 0.5, now < 0) / prefs.weight.sum())
    return np.array(middles), np.array(values)


@pytest.mark.parametrize("seed", range(8))
def test_tiny_curves_by_sorting_the_crossings(seed):
    rng = np.random.default_rng(seed)
    X, y, V = rng.normal(size=(10, 2)), rng.integers(0, 2, 10), rng.normal(size=(7, 2))
    if seed % 2:
        X, V = np.round(2 * X), np.round(2 * V)
    prefs = rb.Preferences.from_scores(np.arange(7) % 4)
    prefs = prefs.reweighted(weight=rng.integers(1, 4, len(prefs))) if seed > 3 else prefs
    path = follow(X, rb.Preferences.from_scores(y), "linear" if seed % 4 < 2 else "rbf")
    curve = rb.validation_curve(path, V, prefs)
    middles, values = curve_by_sorting(path, V, prefs)
    assert len(middles) >= 3 and np.allclose(curve.at(middles), values, rtol=0, atol=1e-12)
    changes = 1 + (np.abs(np.diff(values)) > 1e-12).sum()
    assert (
        curve.breaks[:-2] / curve.breaks[1:-1] > 1 + 1e-5
    ).sum() + 1 <= changes + 1  # and no others, but for rounding


def test_three_items_on_a_line_by_hand():
    """One feature for the first preference, one for the second.

    Here w = (1, 2) / lam while both are capped.
    """
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    path = follow(X, rb.Preferences([1, 2], [0, 0], 3), "linear", depth=None)
    # w_1 = min(1, 1/lam), w_2 = min(1/2, 2/lam): the items (1, 0) and (0, 1) cross where
    # 1/lam = 1/2
    curve = rb.validation_curve(path, [[1.0, 0.0], [0.0, 1.0]], rb.Preferences([0], [1], 2))
    assert np.allclose(curve.breaks, [np.inf, 2, 0]) and curve.values.tolist() == [1.0, 0.0]
    assert (
        len(curve.best) == 1
        and curve.best[0] == pytest.approx((0, 2))
        and not np.isclose(path.breakpoints, 2).any()
    )


# Best intervals, and the choice


@pytest.fixture(scope="module")
def chosen():
    X, y, V, v = mixture_parts()
    path, prefs = follow(X, rb.Preferences.from_scores(y)), rb.Preferences.from_scores(v)
    return path, V, prefs, rb.validation_curve(path, V, prefs)


def test_best_intervals_are_best_inside_and_not_beyond(chosen):
    path, V, prefs, curve = chosen
    assert curve.minimum == min(curve.values) and curve.best
    for low, high in curve.best:
        for part in (0.01, 0.3, 0.99):
            lam = low**part * high ** (1 - part)
            assert curve.at(lam) == curve.minimum == disagreement(prefs, path.predict(V, lam))
        width = 1e-4 * (high - low)
        for lam in (low - width, high + width):
            if path.domain[0] < lam < np.inf:
                assert curve.at(lam) > curve.minimum
                assert disagreement(prefs, path.predict(V, lam)) > curve.minimum


def test_no_lambda_is_better_and_every_best_one_lies_in_an_interval(chosen):
    path, V, prefs, curve = chosen
    for lam in np.exp(
        np.random.default_rng(5).uniform(
            np.log(path.domain[0]), np.log(3 * path.breakpoints[0]), 400
        )
    ):
        value = disagreement(prefs, path.predict(V, lam))
        assert value >= curve.minimum
        assert (value == curve.minimum) == any(low < lam < high for low, high in curve.best)


@pytest.mark.parametrize("metric", ["disagreement", "auc", "ndcg"])
def test_local_minima_are_those_of_counting_and_of_scipy(metric):
    X, y, V, v = mixture_parts(n=40)
    path = follow(X, rb.Preferences.from_scores(y), gamma=1.0)
    target = rb.Preferences.from_scores(v) if metric == "disagreement" else v
    curve = rb.validation_curve(path, V, target, metric=metric)
    count = disagreement if metric == "disagreement" else getattr(rb.metrics, metric)
    high = np.r_[3 * path.breakpoints[0], curve.breaks[1:-1]]
    values = [count(target, path.predict(V, lam)) for lam in np.sqrt(high * curve.breaks[1:])]
    cost = np.r_[np.inf, -np.array(values) if curve.maximize else values, np.inf]
    expected = [
        (curve.breaks[j + 1], curve.breaks[j])
        for j in range(len(values))
        if cost[j] > cost[j + 1] < cost[j + 2]
    ]
    found = curve.local_minima()
    assert found == expected and len(found) > 5 and set(curve.best) <= set(found)
    peaks, _ = find_peaks(-np.r_[2.0, cost[1:-1], 2.0])
    assert [pair[1] for pair in found] == curve.breaks[peaks - 1].tolist()


@pytest.mark.parametrize(
    "values, where", [([0.5], [0]), ([0.5, 0.2], [1]), ([0.2, 0.5], [0]), ([0.1, 0.4, 0.1], [0, 2])]
)
def test_local_minima_at_the_ends(values, where):
    breaks = np.r_[np.inf, np.arange(len(values) - 1.0, -1, -1)]
    curve = ValidationCurve(breaks, np.array(values), (1.0, 1.0))
    assert curve.local_minima() == [(breaks[j + 1], breaks[j]) for j in where]
    top = ValidationCurve(breaks, 1 - np.array(values), (1.0, 1.0), maximize=True)
    assert top.local_minima() == curve.local_minima()


@pytest.mark.parametrize("rule", ["widest", "largest"])
def test_the_choice_is_one_of_the_best(chosen, rule):
    path, V, prefs, curve = chosen
    lam = curve.choose(rule)
    assert lam == choose_lambda(curve, rule) and curve.at(lam) == curve.minimum == disagreement(
        prefs, path.predict(V, lam)
    )
    inside = [(low, high) for low, high in curve.best if low < lam < high]
    assert len(inside) == 1
    widths = [high / low for low, high in curve.best]
    if rule == "largest":
        assert inside[0] == curve.best[0] and lam > 0.9 * inside[0][1]
    else:
        assert widths[curve.best.index(inside[0])] == max(widths) and lam == pytest.approx(
            np.sqrt(inside[0][0] * inside[0][1])
        )


def by_hand(breaks, values, scale):
    return ValidationCurve(np.array(breaks), np.array(values), scale)


@pytest.mark.parametrize(
    "breaks, values, scale, widest, largest",
    [
        (
            [np.inf, 10, 1, 0],
            [0.1, 0.2, 0.3],
            (1, 10),
            (10, 100),
            (10, 100),
        ),  # a decade beyond the first breakpoint
        (
            [np.inf, 10, 1, 0],
            [0.3, 0.2, 0.1],
            (1, 10),
            (0.1, 1),
            (0.1, 1),
        ),  # a decade below the last
        (
            [np.inf, 10, 1, 0.5],
            [0.3, 0.2, 0.1],
            (0.5, 10),
            (0.5, 1),
            (0.5, 1),
        ),  # no further than the path
        ([np.inf, 10, 9, 1, 0.5], [0.3, 0.1, 0.2, 0.1], (0.5, 10), (0.5, 1), (9, 10)),
        ([np.inf, 0], [0.5], (1, 10), (0.1, 100), (0.1, 100)),
        (
            [np.inf, 100, 1e-6, 0],
            [0.3, 0.2, 0.1],
            (1, 10),
            (1e-9, 1e-6),
            (1e-9, 1e-6),
        ),  # wholly below the cut
    ],
)
def test_rules_by_hand(breaks, values, scale, widest, largest):
    curve = by_hand(breaks, values, scale)
    for rule, (low, high) in (("widest", widest), ("largest", largest)):
        lam = curve.choose(rule)
        assert low < lam < high and curve.at(lam) == curve.minimum


@pytest.mark.parametrize("rule", ["narrowest", "", None, 3])
def test_unknown_rules(rule):
    with pytest.raises(ValueError, match="rule is"):
        by_hand([np.inf, 1, 0], [0.1, 0.2], (1, 1)).choose(rule)


def test_reading_a_curve():
    curve = by_hand([np.inf, 10, 1, 0.5], [0.3, 0.1, 0.2], (0.5, 10))
    assert (
        curve.at(10) == 0.1 and curve.at(1) == 0.2 and curve.at(1e99) == 0.3
    )  # at a break the interval below
    assert curve.at(np.array([[20, 5], [2, 0.6]])).tolist() == [[0.3, 0.1], [0.1, 0.2]]
    for bad in (0.5, 0.1, 0, -1, np.nan, [1, np.nan], [5, 0.4]):
        with pytest.raises(ValueError, match="lam is"):
            curve.at(bad)
    assert "3 intervals" in repr(curve) and "0.1" in repr(curve)


# What is refused


def test_arguments_that_make_no_sense():
    X, y, V, v = mixture_parts(n=10)
    path, prefs = follow(X, rb.Preferences.from_scores(y)), rb.Preferences.from_scores(v)
    bad = V.copy()
    bad[3, 1] = np.nan
    for args, error, words in [
        (
            (V, rb.Preferences.from_scores(np.ones(len(v)))),
            ValueError,
            "prefs_val has no preference",
        ),
        (
            (V, rb.Preferences.from_scores(v, qid=np.arange(len(v)))),
            ValueError,
            "prefs_val has no preference",
        ),
        ((V, prefs.reweighted(weight=np.zeros(len(prefs)))), ValueError, "prefs_val"),
        ((V[1:], prefs), ValueError, "X_val has 9 rows and prefs_val has 10 items"),
        ((V[:, :1], prefs), ValueError, "X_(val|new) has 1 column. Pass"),
        ((bad, prefs), ValueError, "X_val has (?i:nan) in row 3, column 1"),
        ((V, rb.Preferences([0], [1], 10)[:9]), ValueError, "X_val has 10 rows"),
        ((V.ravel(), prefs), ValueError, "X_val has shape"),
    ]:
        with pytest.raises(error, match=words):
            rb.validation_curve(path, *args)


def test_too_few_columns_are_refused_for_a_linear_kernel_too():
    X, y, V, v = mixture_parts(n=10)
    path = follow(X, rb.Preferences.from_scores(y), "linear")
    for wrong in (V[:, :1], np.c_[V, V]):
        with pytest.raises(ValueError, match="X_(val|new) has . columns?. Pass"):
            rb.validation_curve(path, wrong, rb.Preferences.from_scores(v))


def test_a_path_without_a_walker_is_refused():
    X, y, V, v = mixture_parts(n=10)
    path = follow(X, rb.Preferences.from_scores(y))
    path.iterator = None
    with pytest.raises(ValueError, match="iterator"):
        rb.validation_curve(path, V, rb.Preferences.from_scores(v))


# AUC and NDCG


def snapped(path, X_val, lam):
    """Scores with ties made exact, equal rows scored once.

    They are None where the order hangs on the tenth digit.
    """
    rows, place = np.unique(X_val, axis=0, return_inverse=True)
    scores = path.predict(rows, lam)
    order = np.argsort(scores)
    gap = np.diff(scores[order], prepend=scores[order[0]]) / np.abs(scores).max()
    if ((gap > 1e-10) & (gap < 1e-7)).any():
        return None
    whole = np.empty_like(scores)
    whole[order] = np.cumsum(gap > 1e-10)
    return whole[place.ravel()]


METRICS = {
    "auc": lambda y, s, qid: metrics.auc(y > 1, s, qid),
    "ndcg": metrics.ndcg,
    "ndcg@1": lambda *a: metrics.ndcg(*a, k=1),
    "ndcg@5": lambda *a: metrics.ndcg(*a, k=5),
    "ndcg@999": lambda *a: metrics.ndcg(*a, k=999),
}

RANKED = {
    "general": lambda X: X,
    "grid": np.round,
    "copies": lambda X: np.r_[X[:30], X[:30], np.round(X[:30])],
    "mirrored": lambda X: np.r_[X[:40], X[:40] * [-1, 1]],
}


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("queries", [6, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", RANKED)
def test_auc_and_ndcg_are_brute_force(case, queries, kernel):
    """For "mirrored" the training items are their own mirror image.

    Mirrored items thus tie, all along.
    """
    X, y, V, _ = mixture_parts(n=60)
    if case == "mirrored" and kernel == "rbf":  # ties of the sixteenth digit, as above
        X, V = np.round(X), np.round(V)
    X, V = (
        (mirrored(X), RANKED[case](V)) if case == "mirrored" else (RANKED[case](X), RANKED[case](V))
    )
    path = follow(X, rb.Preferences.from_scores(np.resize(y, len(X))), kernel, depth=1e-4)
    rng = np.random.default_rng(0)
    qid, grades = rng.integers(0, queries, len(V)), rng.integers(0, 4, len(V)).astype(float)
    qid[:2] = 99  # a query of two items of no use
    grades[:2] = 0
    lams = random_lams(path, 60, 1e-4)
    scores = [snapped(path, V, lam) for lam in lams]
    known = [i for i, s in enumerate(scores) if s is not None]
    assert len(known) > 50
    for name, brute in METRICS.items():
        metric, _, k = name.partition("@")
        curve = rb.validation_curve(
            path,
            V,
            grades > 1 if metric == "auc" else grades,
            qid=qid,
            metric=metric,
            k=int(k) if k else None,
        )
        check_shape(curve, path)
        assert (
            curve.maximize
            and curve.optimum == curve.values.max()
            and all(
                curve.at(np.sqrt(max(a, b / 2) * b)) == pytest.approx(curve.optimum, rel=1e-14)
                for a, b in curve.best
                if b < np.inf
            )
        )
        exact = np.array([brute(grades, scores[i], qid) for i in known])
        wrong = np.flatnonzero(np.abs(curve.at(lams[known]) - exact) > 1e-12)
        assert wrong.size == 0, (
            f"{name}: {wrong.size} of {exact.size}, the first {lams[known][wrong[0]]}: "
            f"{curve.at(lams[known])[wrong[0]]} and {exact[wrong[0]]}"
        )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("case", RANKED)
def test_the_error_at_the_best_cut_is_brute_force(case, kernel):
    """Every threshold is tried, at random lambdas and just beside the breaks and breakpoints."""
    X, y, V, _ = mixture_parts(n=60)
    if case == "mirrored" and kernel == "rbf":
        X, V = np.round(X), np.round(V)
    X = mirrored(X) if case == "mirrored" else RANKED[case](X)
    V = RANKED[case](V)
    path = follow(X, rb.Preferences.from_scores(np.resize(y, len(X))), kernel, depth=1e-4)
    good = np.random.default_rng(1).random(len(V)) < 1 / (1 + np.exp(-V[:, 0]))
    curve = rb.validation_curve(path, V, good, metric="error")
    check_shape(curve, path)
    assert not curve.maximize and curve.optimum == curve.values.min()
    beside = np.r_[curve.breaks[1:-1], path.breakpoints[1:]]
    beside = beside[:: max(1, beside.size // 20)]
    lams = np.r_[random_lams(path, 40, 1e-4), beside * (1 + 1e-6), beside * (1 - 1e-6)]
    lams = lams[lams > path.domain[0]]
    known = 0
    for lam in lams:
        scores = snapped(path, V, lam)
        if scores is not None:
            known += 1
            cuts = np.r_[np.unique(scores), np.inf]
            expected = min(np.mean((scores >= cut) != good) for cut in cuts)
            assert curve.at(lam) == pytest.approx(expected, abs=1e-12), lam
    assert known > 40


def test_the_error_of_a_validation_set_without_an_order():
    X, y, V, v = mixture_parts(n=40)
    path = follow(X, rb.Preferences.from_scores(y))
    tied = rb.validation_curve(path, np.ones((5, 2)), [1, 1, 0, 1, 0], metric="error")
    assert tied.values.tolist() == [0.4]
    twice = np.r_[np.arange(len(v)), np.arange(len(v))]
    curve = rb.validation_curve(path, V, v, metric="error")
    double = rb.validation_curve(path, V[twice], v[twice], metric="error")
    assert np.allclose(curve.breaks, double.breaks) and np.allclose(curve.values, double.values)
    both = rb.validation_curve(path, V[twice], np.r_[v, v.max() - v], metric="error")
    assert both.values.tolist() == [0.5]


@pytest.mark.parametrize(
    "options", [dict(solver="epsilon", eps=0.1), dict(solver="newton", eps=0.1)]
)
def test_the_error_along_paths_that_are_not_exact(options):
    X, y, V, v = mixture_parts(n=30)
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), "linear")
    path = rb.solve_path(problem, lam_min=1e-3 * problem.lam_max, **options)
    curve = rb.validation_curve(path, V, v, metric="error")
    for lam in random_lams(path, 100, 1e-3):
        scores = path.predict(V, lam)
        cuts = np.r_[np.unique(scores), np.inf]
        assert curve.at(lam) == min(np.mean((scores >= cut) != (v == v.max())) for cut in cuts)


def test_the_auc_of_one_query_is_one_minus_the_disagreement():
    X, y, V, v = mixture_parts(n=40)
    path = follow(X, rb.Preferences.from_scores(y))
    auc, wrong = (
        rb.validation_curve(path, V, v, metric="auc"),
        rb.validation_curve(path, V, rb.Preferences.from_scores(v)),
    )
    assert np.array_equal(auc.breaks, wrong.breaks) and np.allclose(
        auc.values, 1 - wrong.values, rtol=0, atol=1e-12
    )
    assert auc.best == wrong.best and auc.choose() == wrong.choose() and "maximum" in repr(auc)


def test_metrics_that_make_no_sense():
    X, y, V, v = mixture_parts(n=10)
    path, prefs = follow(X, rb.Preferences.from_scores(y)), rb.Preferences.from_scores(v)
    for target, options, error, words in [
        (v, dict(metric="acu"), ValueError, "metric is 'acu'.*did you mean 'auc'"),
        (
            rb.Preferences([0], [1], 10),
            dict(metric="map"),
            TypeError,
            "prefs_val holds pairs.*metric='disagreement'",
        ),
        (prefs, dict(qid=v), ValueError, "qid is given"),
        (prefs, dict(qid=v, metric="auc"), ValueError, "qid is given"),
        (prefs, dict(k=3), ValueError, "k is 3"),
        (np.zeros(10), dict(metric="mrr"), ValueError, "no query with a grade above 0"),
        (v, dict(metric="auc", k=3), ValueError, "k is 3"),
        (v, dict(metric="ndcg", k=0), ValueError, "k is 0"),
        (v[1:], dict(metric="ndcg"), ValueError, "prefs_val has shape"),
        (np.arange(10), dict(metric="auc"), ValueError, "10 different values"),
        (np.ones(10), dict(metric="auc"), ValueError, "no query with two"),
        (np.zeros(10), dict(metric="ndcg"), ValueError, "no query with a grade above 0"),
        (-np.ones(10), dict(metric="ndcg"), ValueError, "prefs_val has -1"),
        (np.full(10, 2000.0), dict(metric="ndcg"), ValueError, "prefs_val has the grade 2000"),
        (v, dict(metric="auc", qid=v[1:]), ValueError, "qid"),
        (np.ones(10), dict(metric="error"), ValueError, "1 different value. Pass two"),
        (np.arange(10), dict(metric="error"), ValueError, "10 different values. Pass two"),
        (v, dict(metric="error", qid=v), ValueError, "qid is given. Omit"),
        (v, dict(metric="error", k=3), ValueError, "k is 3"),
    ]:
        with pytest.raises(error, match=words):
            rb.validation_curve(path, V, target, **options)
    assert rb.validation_curve(path, V, np.ones(10), metric="ndcg").values.tolist() == [1.0]


@pytest.mark.parametrize("grid", [False, True])
@pytest.mark.parametrize(
    "name, metric",
    [("map", rb.metrics.average_precision), ("mrr", rb.metrics.reciprocal_rank)],
)
def test_average_precision_and_reciprocal_rank_are_those_of_the_metrics(name, metric, grid):
    rng = np.random.default_rng(3)
    X, V = rng.normal(size=(40, 3)), rng.normal(size=(30, 3))
    if grid:
        X, V = np.round(X), np.round(V)
    y, v, qid = rng.integers(0, 3, 40), rng.integers(0, 3, 30), rng.integers(0, 4, 30)
    v[qid == 3] = 0  # a query with no relevant item
    path = follow(X, rb.Preferences.from_scores(y))
    curve = rb.validation_curve(path, V, v, qid=qid, metric=name)
    assert curve.maximize and curve.metric == metric.__name__ and curve.values.size > 1
    inside = np.sqrt(curve.breaks[1:-1] * np.maximum(curve.breaks[2:], 1e-3))
    lams = np.r_[np.geomspace(path.domain[0] + 1e-3, 2 * curve.scale[1], 200), inside]
    near = np.abs(curve.breaks[1:-1, None] / lams - 1).min(axis=0) < 1e-6
    found = [metric(v, path.predict(V, lam), qid) for lam in lams[~near]]
    assert np.allclose(curve.at(lams[~near]), found, rtol=0, atol=1e-12)
    prefs = rb.Preferences.from_scores(v, qid)
    assert np.array_equal(rb.validation_curve(path, V, prefs, metric=name).values, curve.values)


def test_a_curve_takes_what_fit_takes():
    X, y, V, v = mixture_parts(n=10)
    path = follow(X, rb.Preferences.from_scores(y))
    qid = np.arange(len(v)) % 3
    prefs = rb.Preferences.from_scores(v, qid)
    curve = rb.validation_curve(path, V, prefs)
    assert np.array_equal(rb.validation_curve(path, V, v, qid=qid).values, curve.values)
    rows = pd.DataFrame(V, [f"v{i}" for i in range(len(V))])
    names = rows.index.to_numpy()[np.column_stack([prefs.better, prefs.worse])]
    for given in (names, pd.DataFrame(names), pd.DataFrame(names, columns=["winner", "loser"])):
        assert np.array_equal(rb.validation_curve(path, rows, given).values, curve.values)
    for metric in ("auc", "ndcg", "error"):
        scored = rb.Preferences.from_scores(v)
        both = [rb.validation_curve(path, V, each, metric=metric).values for each in (v, scored)]
        assert np.array_equal(*both)
    with pytest.raises(ValueError, match="prefs_val holds names, .* X_val has no names"):
        rb.validation_curve(path, V, names)


# Screening


def test_everything_ties_for_long():
    """Items so far away that all scores are 0: nothing can be left out, and nothing changes."""
    X, y, V, v = mixture_parts(n=60)
    path = follow(X, rb.Preferences.from_scores(y), depth=1e-3)
    curve = rb.validation_curve(path, V + 1e4, rb.Preferences.from_scores(v))
    assert curve.values.tolist() == [0.5]


@pytest.mark.parametrize(
    "kernel, options",
    [
        ("poly", {}),
        (lambda A, B: np.exp(-np.abs(A[:, None] - B[None]).sum(-1)), {}),
        ("rbf", dict(gamma=50.0)),
    ],
    ids=["poly", "laplace", "narrow"],
)
def test_screening_finds_what_all_scores_find(kernel, options):
    from rankbook.selection.crossings import crossings, score_block, trace_block

    X, y, V, v = mixture_parts(n=60)
    path, prefs = (
        follow(X, rb.Preferences.from_scores(y), kernel, **options),
        rb.Preferences.from_scores(v),
    )
    first, found, *_ = crossings(path, V, prefs.better, prefs.worse)
    signs, lam = first.copy(), []
    for lams, G in path.breakpoint_scores(V):
        lam.append(
            trace_block(
                score_block(lams, G, 1e-10), prefs.better, prefs.worse, np.ones(len(prefs)), signs
            )[0]
        )
    assert found.size == sum(map(len, lam)) and np.allclose(
        np.sort(found), np.sort(np.concatenate(lam)), rtol=1e-8
    )


@pytest.mark.parametrize("rule", ["widest", "largest"])
def test_the_choice_is_inside_of_the_narrowest_interval(rule):
    """Intervals of a few floating-point numbers, as a bound on lambda may leave them.

    Here exp(log(lam)) is further off.
    """
    rng = np.random.default_rng(0)
    for _ in range(300):
        low = high = 10.0 ** rng.uniform(-8, 8)
        for _ in range(rng.integers(1, 6)):
            high = np.nextafter(high, np.inf)
        curve = ValidationCurve(
            np.array([np.inf, high, low, 0.0]), np.array([0.5, 0.1, 0.4]), (low / 10, high * 10)
        )
        assert low < curve.choose(rule) <= high and curve.at(curve.choose(rule)) == curve.minimum


def test_the_standard_error_ties_scores_as_the_curve_does():
    """Scores that differ by rounding alone tie in both."""
    prefs = rb.Preferences.from_scores([0, 1, 0, 1, 1])
    equal = np.array([0.3, 0.3, -2.0, 1.1, 0.3])
    for noise in np.random.default_rng(0).uniform(-1e-13, 1e-13, (20, 5)):
        assert disagreement_error(prefs, equal + noise) == disagreement_error(prefs, equal)
    loss, weight = np.array([0.5, 0, 0.5, 0, 0, 0]), 1 / 6  # by better and worse item
    pairs = [(1, 0), (1, 2), (4, 0), (4, 2), (3, 0), (3, 2)]
    influence = [
        sum(weight * (l - loss.mean()) for l, ends in zip(loss, pairs) if i in ends)
        for i in range(5)
    ]
    assert np.isclose(disagreement_error(prefs, equal), np.linalg.norm(influence))
    items = np.array([[0.3], [0.3 + 1e-13], [-2.0], [1.1], [0.3 - 1e-13]])
    problem = rb.RankSVMProblem([[0.0], [1.0]], rb.Preferences([1], [0], 2), kernel="linear")
    curve = rb.validation_curve(rb.solve_path(problem, solver="path"), items, prefs)
    assert np.isclose(curve.minimum, loss.mean())
