"""The path solver against the definition of its problem.

Exact everywhere, on ties above all, and never endless.
"""

import signal
import threading
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbook as rb
from rankbook.data.datasets import load, make_mixture
from rankbook.solvers.path import follower as following

DEPTH = 1e-5  # of lam_max: how far down a path must go
TOL = 1e-8  # of the relative gap


# What every path must be


def follow(problem, depth=DEPTH, **options):
    """A path, checked to have ended where it should, within 20 events a preference."""
    lam_min = None if depth is None else depth * problem.lam_max
    path = rb.solve_path(
        problem, lam_min=lam_min, max_events=20 * len(problem.prefs) + 200, **options
    )
    assert path.status in ("complete", "lam_min"), (path, path.info)
    assert path.domain[0] == (0 if path.status == "complete" else lam_min)
    check_events(path)
    return path


def check_events(path):
    """The log is a possible story.

    Lambdas fall, each preference leaves the set it was in, breakpoints are its distinct lambdas.
    """
    events, breaks = path.events, path.breakpoints
    assert (
        np.isfinite(events["lam"]).all()
        and (np.diff(events["lam"]) <= 0).all()
        and (np.diff(breaks) < 0).all()
    )
    assert np.array_equal(breaks, np.unique(events["lam"])[::-1])
    if breaks.size:
        assert breaks[0] == path.problem.lam_max
    order = np.lexsort((np.arange(len(events)), events["pair"]))
    pair, origin, to = (events[field][order] for field in ("pair", "from", "to"))
    first = np.r_[True, pair[1:] != pair[:-1]][: len(events)]
    assert (origin[first] == 2).all() and (origin[~first] == to[np.flatnonzero(~first) - 1]).all()
    assert (origin != to).all()


def random_lams(path, count=50, seed=0, depth=DEPTH):
    """Log-uniform over the domain, no deeper than depth * lam_max."""
    high = path.problem.lam_max or 1.0  # 0 when nothing ever happens: then any lambda will do
    low = max(path.domain[0], depth * high)
    return np.exp(np.random.default_rng(seed).uniform(np.log(low), np.log(high), count))


def check_exact(path, lams=None):
    """The host's certificate, and the duality gap once more by code of our own, at many lambdas."""
    problem = path.problem
    lams = random_lams(path) if lams is None else lams
    K, prefs = kernel_matrix(problem), problem.prefs
    for lam in lams:
        solution = path.solution(lam)
        found = solution.certificate
        assert (
            found.relative_gap <= TOL
            and found.box_violation == 0
            and found.complementarity_violation < 1e-6
        ), (lam / problem.lam_max, found)
        assert (solution.dual >= 0).all() and (solution.dual <= prefs.weight * (1 + 1e-14)).all()
        primal, dual = objectives(K, prefs, solution.coef, solution.dual, lam)
        assert abs(primal - dual) <= TOL * max(1, primal)
        computed = found.primal - found.rounding
        assert np.isclose(primal, computed, rtol=1e-9, atol=1e-12)


def kernel_matrix(problem):
    """The kernel matrix, written down by its definition."""
    X, kernel = problem.X, problem.kernel
    if kernel.name == "rbf":
        square = (
            ((X[:, None] - X[None]) ** 2).sum(-1)
            if X.size < 1e5
            else np.square(X).sum(1)[:, None] + np.square(X).sum(1) - 2 * X @ X.T
        )
        return np.exp(-(kernel.gamma or 1 / X.shape[1]) * square)
    return X @ X.T if kernel.name == "linear" else problem.gram


def objectives(K, prefs, coef, dual, lam):
    """Primal and dual objective, by their definitions."""
    f = K @ coef
    miss = np.maximum(0, prefs.margin - (f[prefs.better] - f[prefs.worse]))
    v = np.zeros(prefs.n_items)
    np.add.at(v, prefs.better, dual)
    np.subtract.at(v, prefs.worse, dual)
    return lam / 2 * coef @ f + prefs.weight @ miss, dual @ prefs.margin - v @ K @ v / (2 * lam)


def compare_with_qp(path, lams):
    """The primal objective is that of the QP solver, which shares nothing with this one."""
    pytest.importorskip("rankbook.solvers.qp.solver")
    for lam in lams:
        other = rb.solve(path.problem, lam, solver="qp").certificate.primal
        assert path.certificate(lam).primal == pytest.approx(other, rel=1e-6, abs=1e-9)


# The data sets, and what makes them hard


def standardised(name, rows=None):
    """Features of mean 0 and deviation 1, and scores; a random part of the rows."""
    data = load(name)
    part = slice(None) if rows is None else np.random.default_rng(0).permutation(len(data.y))[:rows]
    X, y = data.X[part], data.y[part]
    return (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1), y


def plain(X, y, rng, graph):
    return rb.RankSVMProblem(X, rb.Preferences.from_scores(y, graph=graph))


def duplicated(X, y, rng, graph):
    """A fifth of the rows twice, half of these copies with another's score.

    The copies contradict each other.
    """
    extra = rng.integers(0, len(y), len(y) // 5)
    scores = np.where(rng.random(extra.size) < 0.5, y[extra], rng.permutation(y)[: extra.size])
    return plain(np.r_[X, X[extra]], np.r_[y, scores], rng, graph)


def rounded(X, y, rng, graph):
    return plain(np.round(X), y, rng, graph)


def linear_2d(X, y, rng, graph):
    return rb.RankSVMProblem(X[:, :2], rb.Preferences.from_scores(y, graph=graph), kernel="linear")


def linear_2d_rounded(X, y, rng, graph):
    return linear_2d(np.round(X), y, rng, graph)


def random_labels(X, y, rng, graph):
    return plain(X, rng.permutation(y), rng, graph)


def shuffled_queries(X, y, rng, graph):
    return rb.RankSVMProblem(
        X, rb.Preferences.from_scores(y, qid=rng.integers(0, 7, len(y)), graph=graph)
    )


def weights_and_margins(X, y, rng, graph):
    prefs = rb.Preferences.from_scores(y, graph=graph)
    m = len(prefs)
    return rb.RankSVMProblem(
        X, prefs.reweighted(weight=rng.uniform(0.1, 10, m), margin=rng.uniform(0.5, 2, m))
    )


VARIANTS = [
    plain,
    duplicated,
    rounded,
    linear_2d,
    linear_2d_rounded,
    random_labels,
    shuffled_queries,
    weights_and_margins,
]
variants = pytest.mark.parametrize("variant", VARIANTS, ids=lambda f: f.__name__)
graphs = pytest.mark.parametrize("graph", ["full", "star"])
three = pytest.mark.parametrize(
    "name",
    [
        "cancer",
        pytest.param("auto", marks=pytest.mark.data),
        pytest.param("diabetes", marks=pytest.mark.data),
    ],
)


@variants
@graphs
def test_mixture(data_dir, variant, graph):
    path = follow(variant(*standardised("mixture"), np.random.default_rng(1), graph))
    check_exact(path)
    if graph == "star":
        compare_with_qp(path, random_lams(path, 2, seed=2))


@variants
@graphs
@three
def test_parts_of_the_data_sets(name, variant, graph):
    path = follow(variant(*standardised(name, rows=90), np.random.default_rng(1), graph))
    check_exact(path)
    if variant in (plain, weights_and_margins):
        compare_with_qp(path, random_lams(path, 1, seed=2))


def test_cancer_with_all_its_preferences():
    path = follow(plain(*standardised("cancer"), None, "full"))
    assert len(path.problem.prefs) == 75684
    check_exact(path)


@three
def test_star_graph_of_the_data_sets(name):
    path = follow(plain(*standardised(name), None, "star"))
    check_exact(path)
    compare_with_qp(path, random_lams(path, 1, seed=2))


@pytest.mark.slow
@variants
@graphs
@pytest.mark.parametrize("name", ["cancer", "auto", "diabetes"])
def test_data_sets(data_dir, name, variant, graph):
    path = follow(variant(*standardised(name), np.random.default_rng(1), graph))
    check_exact(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mixture", "cancer", "auto", "diabetes"])
@pytest.mark.parametrize(
    "variant", [plain, linear_2d, weights_and_margins], ids=lambda f: f.__name__
)
def test_data_sets_against_qp(data_dir, name, variant):
    path = follow(variant(*standardised(name), np.random.default_rng(1), "full"))
    compare_with_qp(path, random_lams(path, 3, seed=3))


# Against solutions that need no solver


def best_slope(z, weight, margin, lam):
    """The w that minimises lam/2 w^2 + sum c max(0, delta - w z).

    It is the root of a falling step function plus lam w.
    """
    steep = z != 0
    z, c, where = z[steep], weight[steep], margin[steep] / z[steep]
    left = lambda w: lam * w - (c * z)[np.where(z > 0, where >= w, where < w)].sum()
    right = lambda w: lam * w - (c * z)[np.where(z > 0, where > w, where <= w)].sum()
    places = np.unique(where)
    for low, high in zip(np.r_[-np.inf, places], np.r_[places, np.inf]):
        inside = low + 1 if high == np.inf else high - 1 if low == -np.inf else (low + high) / 2
        pull = left(inside) - lam * inside
        if low < -pull / lam < high:
            return -pull / lam
    return next(w for w in places if left(w) <= 1e-9 and right(w) >= -1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_one_feature_has_a_solution_in_closed_form(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (9, 1)).astype(float) if seed % 2 else rng.normal(size=(9, 1))
    prefs = rb.Preferences.from_scores(rng.integers(0, 3, 9))
    if seed > 2:
        prefs = prefs.reweighted(
            weight=rng.integers(1, 4, len(prefs)), margin=rng.integers(1, 3, len(prefs))
        )
    problem = rb.RankSVMProblem(X, prefs, kernel="linear")
    path = follow(problem, depth=None)
    z = X[prefs.better, 0] - X[prefs.worse, 0]
    for lam in np.geomspace(1e-4 * problem.lam_max, 2 * problem.lam_max, 60):
        w = best_slope(z, prefs.weight, prefs.margin, lam)
        assert path.predict([[1.0]], lam)[0] == pytest.approx(w, rel=1e-9, abs=1e-12)


def solution_by_enumeration(K, prefs, lam):
    """Scores P'f that satisfy the optimality conditions.

    They are found by trying every division into met, capped and active.
    """
    m = len(prefs)
    P = prefs.incidence().toarray()
    H = P @ K @ P.T / lam
    for sets in product((0, 1, 2), repeat=m):
        sets = np.array(sets)
        alpha = np.where(sets == 2, prefs.weight, 0.0)
        A = sets == 1
        alpha[A] = np.linalg.lstsq(H[np.ix_(A, A)], prefs.margin[A] - H[A] @ alpha, rcond=None)[0]
        slack = H @ alpha - prefs.margin
        inside = ((alpha > -1e-10) & (alpha < prefs.weight + 1e-10))[A].all() and (
            np.abs(slack[A]) < 1e-10
        ).all()
        if inside and (slack[sets == 0] > -1e-10).all() and (slack[sets == 2] < 1e-10).all():
            return H @ alpha
    raise AssertionError("no division of the preferences satisfies the conditions")


@pytest.mark.parametrize("seed", range(8))
def test_tiny_problems_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    n, m = 4, 5
    better = rng.integers(0, n, m)
    prefs = rb.Preferences(
        better,
        (better + rng.integers(1, n, m)) % n,
        n,
        weight=rng.integers(1, 4, m),
        margin=rng.integers(1, 3, m),
    )
    X = rng.integers(0, 3, (n, 2))
    problem = rb.RankSVMProblem(X, prefs, kernel=["linear", "rbf"][seed % 2])
    path = follow(problem)
    K = kernel_matrix(problem)
    for lam in random_lams(path, 6, seed=seed, depth=1e-3):
        ours = prefs.matvec(K @ path.coef(lam))
        assert np.allclose(ours, solution_by_enumeration(K, prefs, lam), atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_small_problems_by_a_general_minimiser(seed):
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (12, 2)), rng.integers(0, 3, 12)
    problem = rb.RankSVMProblem(
        X, rb.Preferences.from_scores(y, graph=["full", "star"][seed % 2]), gamma=0.3
    )
    prefs, path = problem.prefs, follow(problem)
    P = prefs.incidence().toarray()
    H = P @ kernel_matrix(problem) @ P.T
    for lam in random_lams(path, 3, seed=seed, depth=1e-2):
        result = minimize(
            lambda a: (a @ H @ a / (2 * lam) - a.sum(), H @ a / lam - 1),
            np.full(len(prefs), 0.5),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, 1)] * len(prefs),
            options=dict(ftol=1e-15, gtol=1e-10, maxiter=20000, maxfun=50000),
        )
        assert path.certificate(lam).dual == pytest.approx(-result.fun, rel=1e-6)
        assert path.certificate(lam).dual >= -result.fun * (1 - 1e-9)


@st.composite
def tiny_problems(draw):
    """Few items on a small integer grid, with any preferences between them.

    There are ties, copies, cycles, contradictions.
    """
    n = draw(st.integers(2, 9))
    grid = st.integers(0, 2)
    X = np.array(draw(st.lists(st.tuples(grid, grid), min_size=n, max_size=n)), dtype=float)
    pairs = draw(
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(1, n - 1)), min_size=1, max_size=20)
    )
    better = np.array([k for k, _ in pairs])
    worse = (better + np.array([step for _, step in pairs])) % n
    integers = lambda low, high: np.array(
        draw(st.lists(st.integers(low, high), min_size=len(pairs), max_size=len(pairs))),
        dtype=float,
    )
    weight = integers(0, 2) if draw(st.booleans()) else None
    if weight is not None and not weight.any():
        weight[0] = 1
    margin = integers(1, 2) if draw(st.booleans()) else None
    return rb.RankSVMProblem(
        X,
        rb.Preferences(better, worse, n, weight, margin),
        kernel=draw(st.sampled_from(["linear", "rbf", "poly"])),
    )


def is_flat(problem):
    """Whether no preference ever meets its margin, up to rounding."""
    return (
        problem.lam_max < 1e-12 * problem.prefs.weight.sum() * np.abs(kernel_matrix(problem)).max()
    )


def check_tiny(problem, depth):
    path = rb.solve_path(
        problem,
        lam_min=depth and problem.lam_max and depth * problem.lam_max or None,
        max_events=20 * len(problem.prefs) + 200,
    )
    assert path.status in ("complete", "lam_min"), path.info
    check_events(path)
    if not is_flat(problem):
        check_exact(path, random_lams(path, 12))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(tiny_problems(), st.sampled_from([None, DEPTH]))
def test_any_tiny_problem(problem, depth):
    check_tiny(problem, depth)


@pytest.mark.slow
@settings(max_examples=5000, deadline=None)
@given(tiny_problems(), st.sampled_from([None, DEPTH]))
def test_very_many_tiny_problems(problem, depth):
    check_tiny(problem, depth)


# Degenerate problems


def test_one_preference():
    problem = rb.RankSVMProblem(
        [[0.0], [2.0]], rb.Preferences([1], [0], 2, weight=[3.0]), kernel="linear"
    )
    path = follow(problem, depth=None)
    assert (
        problem.lam_max == 12 and path.status == "complete" and len(path.events) == 1
    )  # w = 6 / lam until 2 w = 1
    for lam, w in ((24, 0.25), (12, 0.5), (1, 0.5), (1e-6, 0.5), (0, 0.5)):
        assert path.predict([[1.0]], lam)[0] == pytest.approx(w, rel=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(
    "pairs",
    [([0], [1]), ([0, 1], [1, 0]), ([0, 1, 2], [1, 2, 0])],
    ids=["copies", "both ways", "cycle"],
)
def test_what_no_function_can_meet_is_complete_without_a_breakpoint(kernel, pairs):
    X = (
        np.ones((2, 1))
        if pairs == ([0], [1])
        else np.array([[0.0], [1.0], [3.0]])[: max(pairs[0]) + 1]
    )
    path = rb.solve_path(rb.RankSVMProblem(X, rb.Preferences(*pairs, len(X)), kernel))
    assert (path.status, path.breakpoints.size, path.domain[0]) == ("complete", 0, 0.0)
    check_exact(path, [1e-6, 1.0, 10.0])
    assert not path.coef(1.0).any() or kernel == "linear" or len(X) == 2
    with pytest.raises(ValueError, match="lam is 0"):
        path.coef(0)


def test_copies_that_contradict_each_other():
    X, y = standardised("cancer", rows=40)
    check_exact(follow(plain(np.r_[X, X, X], np.r_[y, y, 1 - y], None, "full"), depth=None))
    check_exact(follow(plain(np.r_[X, X[:30]], np.r_[y, 1 - y[:30]], None, "full"), depth=None))


def test_copies_that_contradict_each_other_completely():
    """Every item once good and once bad.

    The best function is 0, and no rounding error may start a path.
    """
    X, y = standardised("cancer", rows=40)
    path = rb.solve_path(plain(np.r_[X, X], np.r_[y, 1 - y], None, "full"))
    assert path.status == "complete"
    check_exact(path, [1e-6, 1.0, 100.0])


def test_rank_one_kernels():
    rng = np.random.default_rng(0)
    v, y = rng.normal(size=30), rng.integers(0, 3, 30)
    prefs = rb.Preferences.from_scores(y)
    by_factor = follow(rb.RankSVMProblem(v[:, None], prefs, "linear"))
    by_matrix = follow(rb.RankSVMProblem(np.outer(v, v), prefs, "precomputed"))
    for path in (by_factor, by_matrix):
        check_exact(path)
    for lam in random_lams(by_factor, 10):
        assert np.allclose(v * (v @ by_factor.coef(lam)), v * (v @ by_matrix.coef(lam)), atol=1e-9)


@pytest.mark.parametrize("d", [11, 40, 300])
def test_more_features_than_items(d):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, d)), rng.integers(0, 3, 10)
    check_exact(follow(rb.RankSVMProblem(X, rb.Preferences.from_scores(y), kernel="linear")))


@pytest.mark.parametrize("n", [10, 31, 60])
def test_identity_kernel(n):
    """Every item is its own dimension: nothing but ties, and an active set of n - 1."""
    path = follow(
        rb.RankSVMProblem(np.eye(n), rb.Preferences.from_scores(np.arange(n) % 3), "precomputed"),
        depth=None,
    )
    check_exact(path, random_lams(path, 20, depth=1e-3))


def test_kernel_of_ones_plus_identity_blocks():
    """Groups of equal items: rows of K are equal within a group."""
    group = np.arange(40) % 8
    K = (group[:, None] == group).astype(float) + 1
    check_exact(
        follow(
            rb.RankSVMProblem(
                K,
                rb.Preferences.from_scores(np.random.default_rng(0).integers(0, 4, 40)),
                "precomputed",
            )
        )
    )


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 30])
def test_smooth_and_rough_kernels(kernel, gamma):
    """Gram matrices of low rank to rounding, and ones that are nearly the identity."""
    X, y = standardised("cancer", rows=60)
    noisy = np.where(np.random.default_rng(0).random(60) < 0.2, 1 - y, y)
    check_exact(
        follow(
            rb.RankSVMProblem(
                X[:, :4],
                rb.Preferences.from_scores(noisy),
                kernel,
                gamma=None if kernel == "linear" else gamma,
            )
        )
    )


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_scale_of_the_kernel(scale):
    X, y = standardised("cancer", rows=60)
    base = plain(X, y, None, "full")
    scaled = rb.RankSVMProblem(scale * kernel_matrix(base), base.prefs, "precomputed")
    one, other = follow(base), follow(scaled)
    assert other.breakpoints[0] == pytest.approx(scale * one.breakpoints[0], rel=1e-12)
    check_exact(other)
    for lam in random_lams(one, 20):
        assert other.certificate(scale * lam).primal == pytest.approx(
            one.certificate(lam).primal, rel=1e-8
        )


def test_unequal_weights_over_six_decades():
    X, y = standardised("cancer", rows=60)
    prefs, rng = rb.Preferences.from_scores(y), np.random.default_rng(0)
    heavy = prefs.reweighted(
        weight=10 ** rng.uniform(-3, 3, len(prefs)), margin=10 ** rng.uniform(-1, 1, len(prefs))
    )
    check_exact(follow(rb.RankSVMProblem(X, heavy)))


# The same problem in other words


def check_same_function(one, other, X_one, X_other, times=1.0, lams=None):
    """Both paths give the same scores: at lam, and at lam times a factor."""
    for lam in random_lams(one, 12, depth=1e-4) if lams is None else lams:
        f, g = one.predict(X_one, lam), other.predict(X_other, times * lam)
        assert np.allclose(f, g, rtol=0, atol=1e-7 * np.abs(f).max())


@pytest.fixture(scope="module")
def small():
    X, y = standardised("cancer", rows=50)
    problem = plain(X, y, None, "full")
    return X, y, problem, follow(problem)


def test_other_shifts_of_the_margins_give_the_same_function(small):
    X, y, problem, path = small
    for options in (dict(seed=1), dict(perturbation=1e-7), dict(perturbation=1e-10)):
        check_same_function(path, follow(problem, **options), X, X)


def test_blocks_of_events_do_not_matter(small):
    X, y, problem, path = small
    for chunk in (1, 7, 100_000):
        assert np.array_equal(follow(problem, chunk=chunk).events, path.events)


def test_precomputed_and_callable_kernels_follow_the_same_path(small):
    X, y, problem, path = small
    rbf = lambda A, B: np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / X.shape[1])
    given, called = (
        rb.RankSVMProblem(rbf(X, X), problem.prefs, "precomputed"),
        rb.RankSVMProblem(X, problem.prefs, rbf),
    )
    check_same_function(path, follow(given), X, rbf(X, X))
    check_same_function(path, follow(called), X, X)


def test_layout_and_type_of_the_features(small):
    X, y, problem, path = small
    read_only = X.copy()
    read_only.flags.writeable = False
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    for same in (read_only, np.asfortranarray(X), wide[:, ::2], X[::-1].copy()[::-1], X.tolist()):
        assert np.array_equal(follow(plain(same, y, None, "full")).events, path.events)
    single = X.astype(np.float32)
    assert np.array_equal(
        follow(plain(single, y, None, "full")).events,
        follow(plain(single.astype(float), y, None, "full")).events,
    )
    whole = np.round(X).astype(np.int8)
    assert np.array_equal(
        follow(plain(whole, y, None, "full")).events,
        follow(plain(whole.astype(float), y, None, "full")).events,
    )


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_read_only_and_strided_kernels(small, kernel):
    X, y, problem, _ = small
    source = X[:, :3] if kernel == "linear" else kernel_matrix(problem)
    frozen = np.asfortranarray(source)
    frozen.flags.writeable = False
    reference = follow(rb.RankSVMProblem(np.ascontiguousarray(source), problem.prefs, kernel))
    assert np.array_equal(
        follow(rb.RankSVMProblem(frozen, problem.prefs, kernel)).events, reference.events
    )


# Preferences that weigh nothing


def test_a_weightless_preference_does_not_start_the_path():
    """Item 2 lies ten times as far out, but its preference has weight 0."""
    prefs = rb.Preferences([1, 2], [0, 0], 3, weight=[1.0, 0.0])
    problem = rb.RankSVMProblem([[0.0], [1.0], [10.0]], prefs, kernel="linear")
    path = follow(problem, depth=None)
    assert problem.lam_max == 1.0 and path.breakpoints.tolist() == [1.0]
    for lams, G in path.breakpoint_scores(np.array([[1.0], [0.0]])):
        assert (G[:, 0] >= G[:, 1]).all()  # lam w = min(1, lam)


# Where a path ends


def test_lam_min_cuts_the_same_path_short(small):
    X, y, problem, path = small
    lam_min = 0.03 * problem.lam_max
    short = rb.solve_path(problem, lam_min=lam_min)
    assert short.status == "lam_min" and short.domain == (lam_min, np.inf)
    assert np.array_equal(short.events, path.events[: len(short.events)])
    assert path.events["lam"][len(short.events)] < lam_min
    check_exact(short, [lam_min, 1.0001 * lam_min, *random_lams(short, 5)])


@pytest.mark.parametrize("factor", [1.0, 1.5, 1e6])
def test_lam_min_above_the_first_breakpoint(small, factor):
    X, y, problem, _ = small
    if factor > 1:
        with pytest.raises(ValueError, match="lam_min is .*, and lam_max is"):
            rb.solve_path(problem, lam_min=factor * problem.lam_max)
    path = rb.get_solver("path").path(problem, factor * problem.lam_max)
    assert path.status == "lam_min" and len(path.events) <= 1
    assert np.array_equal(path.dual(2 * factor * problem.lam_max), problem.prefs.weight)
    check_exact(path, [factor * problem.lam_max, 3 * factor * problem.lam_max])


@pytest.mark.parametrize("lam_min", [0, -1.0, np.nan, np.inf, "small", [1.0]])
def test_lam_min_that_makes_no_sense(small, lam_min):
    with pytest.raises((ValueError, TypeError), match="lam_min"):
        rb.solve_path(small[2], lam_min=lam_min)


def test_every_lambda_of_the_domain_is_answered(small):
    X, y, problem, path = small
    high, low = path.breakpoints[:-1], path.breakpoints[1:]
    wide = high > low * (1 + 1e-6)  # what is narrower comes from the shifts of the margins, of 1e-8
    check_exact(path, [path.breakpoints[0] * 10, *np.sqrt(low * high)[wide][::9]])
    for lam in [*path.breakpoints[::19], *np.sqrt(low * high)[~wide][::9]]:
        assert path.certificate(lam).relative_gap < 1e-7


@pytest.mark.parametrize("limit", [0, 1, 7, 500])
def test_max_events_ends_a_path_where_it_says(small, limit):
    X, y, problem, whole = small
    path = rb.solve_path(problem, max_events=limit)
    assert path.status == "max_events" and abs(len(path.events) - limit) <= 2
    assert np.array_equal(path.events, whole.events[: len(path.events)])
    check_exact(path, [path.domain[0], 1.001 * path.domain[0], 2 * problem.lam_max])
    with pytest.raises(ValueError, match="max_events"):
        path.coef(0.99 * path.domain[0])


def test_ctrl_c_ends_a_path_where_it_was_recorded(monkeypatch):
    """The interrupt comes when the compiled loop has moved on, and its events are lost.

    The path must end before them.
    """
    X, y = standardised("cancer", rows=80)
    problem, calls, real = plain(X, y, None, "full"), [], following.follow_exact

    def interrupted(*args):
        result = real(*args)
        calls.append(result)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(following, "follow_exact", interrupted)
    path = rb.solve_path(problem, chunk=300, keep_interrupted=True)
    assert path.status == "interrupted" and path.events.size
    check_events(path)
    check_exact(path, [path.domain[0], *random_lams(path, 20, depth=1e-9)])
    last = list(path.breakpoint_scores(X))[-1]
    assert last[0][-1] == path.domain[0]
    assert np.allclose(
        last[1][-1], path.domain[0] * path.predict(X, path.domain[0]), rtol=1e-6, atol=1e-9
    )


def test_a_signal_ends_a_path_where_it_was_recorded():
    problem = plain(*standardised("cancer"), None, "full")
    problem.gram  # built before the clock starts
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a background job may have been told to ignore it
    timer = threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    try:
        path = rb.solve_path(problem, keep_interrupted=True)
    except KeyboardInterrupt:
        pytest.skip("the signal came before or after the path")
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    if path.status == "complete":
        pytest.skip("the path was faster than the signal")
    assert path.status == "interrupted"
    check_exact(path, [path.domain[0], *random_lams(path, 5, depth=1e-9)])


def test_a_progress_bar_changes_nothing(small, capsys):
    X, y, problem, path = small
    assert np.array_equal(follow(problem, progress=True).events, path.events)
    assert "events" in capsys.readouterr().err


def test_one_solution_is_read_off_a_path(small):
    X, y, problem, path = small
    for lam in (2 * problem.lam_max, 0.1 * problem.lam_max, 1e-3 * problem.lam_max):
        solution = rb.solve(problem, lam, solver="path")
        assert solution.lam == lam and solution.certificate.is_optimal(TOL)
        assert np.allclose(
            solution.coef, path.coef(lam), rtol=1e-6, atol=1e-9 * np.abs(solution.coef).max()
        )


# The hard margin


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@graphs
def test_separable_data_end_in_the_hard_margin(kernel, graph):
    data = make_mixture(n_per_class=30, seed=2)
    problem = rb.RankSVMProblem(
        data.X + 5 * data.y[:, None], rb.Preferences.from_scores(data.y, graph=graph), kernel
    )
    path = follow(problem, depth=None)
    assert path.status == "complete" and path.certificate(0).is_optimal(1e-6)
    f = problem.matvec(path.coef(0))
    slack = problem.prefs.matvec(f) - 1
    assert abs(slack.min()) < 1e-7
    assert np.allclose(
        problem.matvec(path.coef(0.3 * path.breakpoints[-1])), f, atol=1e-7 * np.abs(f).max()
    )
    check_exact(
        path, [1e-3 * path.breakpoints[-1], 1e-6 * path.breakpoints[-1], path.breakpoints[-1]]
    )


def test_hard_margin_of_a_line():
    problem = rb.RankSVMProblem(
        [[0.0], [1.0], [3.0]], rb.Preferences.from_scores([0, 1, 2]), "linear"
    )
    assert follow(problem, depth=None).predict([[1.0]], 0)[0] == pytest.approx(1.0, rel=1e-12)


def test_hard_margin_is_refused_where_there_is_none():
    problem = rb.RankSVMProblem(
        [[0.0], [1.0], [3.0]], rb.Preferences.from_scores([0, 1, 0]), "linear"
    )
    path = follow(problem, depth=None)
    assert path.status == "complete" and path.predict([[1.0]], 1e-9)[0] == pytest.approx(-0.5)
    with pytest.raises(ValueError, match="lam is 0, and .* have their margin"):
        path.coef(0)


def test_an_exchange_stops_at_the_weight_of_an_active_preference():
    prefs = rb.Preferences([0, 0], [1, 1], 2, weight=[2.0, 3.0])
    problem = rb.RankSVMProblem([[1.0], [0.0]], prefs, kernel="linear")
    s, _ = following.start_active_set(problem, 0.0, 0)
    s.count.free, s.alpha[0], s.cap[0] = 1, 1.5, 2.0
    for rate, bound in ((-1.0, 0.5), (1.0, 1.5)):  # up to the weight, down to 0
        s.w[0] = rate
        assert following.exchange_step(s, 3.0, 1.0) == (bound, 0)


def test_the_largest_perturbation_is_reported():
    rng = np.random.default_rng(0)
    prefs = rb.Preferences.from_scores(rng.integers(0, 3, 30))
    path = rb.solve_path(rb.RankSVMProblem(rng.normal(size=(30, 2)), prefs))
    assert 0 < path.info["largest_perturbation"] < 1e-8  # rounding moved the margins by so much
