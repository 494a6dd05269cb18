"""One constraint at a time.

Draws, steps, averages against plain Python, answers against qp, and bad input.
"""

import numpy as np
import pytest

import rankbook as rb
from rankbook.preferences.graph import Preferences
from rankbook.problems.ranksvm import RankSVMProblem
from rankbook.problems.svm import MulticlassSVMProblem, SVMProblem
from rankbook.solvers.subgradient.solver import SubgradientSolver
from rankbook.solvers.subgradient.steps import (
    Descent,
    draw_preference,
    find,
    level_sampler,
    list_sampler,
    make_table,
    sampler_of,
    steps_between,
)


@pytest.fixture(scope="module")
def graded_queries():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(120, 4)), rng.integers(0, 8, 120)
    return X, np.round(X @ [1, -1, 0.5, 0] + 0.5 * rng.normal(size=120)), qid


def ranking(graded_queries, **options):
    X, y, qid = graded_queries
    return RankSVMProblem(X, Preferences.from_scores(y, qid, **options), kernel="linear")


def problems(graded_queries):
    X, y, qid = graded_queries
    rng, prefs = np.random.default_rng(1), Preferences.from_scores(y, qid)
    m = len(prefs)
    weighted = prefs.reweighted(weight=rng.integers(0, 4, m), margin=rng.uniform(0.5, 2, m))
    return {
        "scores": ranking(graded_queries),
        "star": ranking(graded_queries, graph="star"),
        "weighted": RankSVMProblem(X, weighted, kernel="linear"),
        "items": RankSVMProblem(X, prefs.item_weighted(rng.integers(0, 3, 120)), kernel="linear"),
        "two weights": RankSVMProblem(
            X, prefs.item_weighted(*rng.integers(0, 3, (2, 120))), kernel="linear"
        ),
        "rankings": RankSVMProblem(
            X,
            Preferences.from_rankings([np.argsort(-y[:40]), np.arange(30, 60)], 120),
            kernel="linear",
        ),
        "binary": SVMProblem(
            X, y > 0, weight=rng.uniform(0, 2, 120), margin=rng.uniform(0.5, 2, 120)
        ),
        "classes": MulticlassSVMProblem(X, np.clip(y, -1, 1), weight=rng.uniform(0, 2, 120)),
    }


NAMES = "scores, star, weighted, items, two weights, rankings, binary, classes".split(", ")


# Draws


@pytest.mark.parametrize("seed", range(5))
def test_find_is_searchsorted(seed):
    rng = np.random.default_rng(seed)
    weight = rng.exponential(size=200) ** 4 * (rng.random(200) < 0.6)
    table = make_table(weight)
    for x in np.r_[rng.random(2000), 0.0, 1 - 2.0**-53] * table.ends[-1]:
        assert find(table, x) == min(
            np.searchsorted(table.ends, x, side="right"), np.flatnonzero(weight)[-1]
        )


@pytest.mark.parametrize("name", NAMES)
def test_draws_have_the_weights_as_frequencies(graded_queries, name):
    problem = problems(graded_queries)[name]
    prefs, sampler, state, n = (
        problem.prefs,
        sampler_of(problem),
        np.array([9], dtype=np.uint64),
        40_000,
    )
    drawn = [draw_preference(sampler, state) for _ in range(n)]
    expected = {}
    for k, l, c, delta in zip(prefs.better, prefs.worse, prefs.weight, prefs.margin):
        expected[int(k), int(l)] = expected.get((int(k), int(l)), 0) + c
    total = sum(expected.values())
    assert sampler.table.ends[-1] == pytest.approx(total)
    counts = {}
    for k, l, _ in drawn:
        counts[int(k), int(l)] = counts.get((int(k), int(l)), 0) + 1
    assert all(expected.get(pair, 0) > 0 for pair in counts)
    chi = sum(
        (counts.get(pair, 0) - n * c / total) ** 2 / (n * c / total)
        for pair, c in expected.items()
        if c > 0
    )
    freedom = sum(c > 0 for c in expected.values()) - 1
    assert abs(chi - freedom) < 5 * np.sqrt(2 * freedom)
    margins = {
        (int(k), int(l)): delta for k, l, delta in zip(prefs.better, prefs.worse, prefs.margin)
    }
    assert all(margins[int(k), int(l)] == delta for k, l, delta in drawn[:200])


def test_scores_are_not_listed(graded_queries):
    X, y, qid = graded_queries
    for prefs in (
        Preferences.from_scores(y, qid),
        Preferences.from_scores(y, qid).item_weighted(np.arange(120.0)),
        Preferences.from_scores(y, qid).item_weighted(np.ones(120), np.arange(120) % 2.0),
    ):
        problem = RankSVMProblem(X, prefs, kernel="linear")
        found = rb.solve(problem, 1.0, solver="subgradient", max_passes=2, tol=None)
        assert not prefs.is_listed and np.isfinite(found.coef).all()
        with pytest.warns(UserWarning, match="relative gap"):
            rb.solve(problem, 1e-6, solver="subgradient", max_passes=2)
        assert not prefs.is_listed


def test_levels_and_lists_draw_alike(graded_queries):
    """The same darts hit the same preferences, listed or not."""
    X, y, qid = graded_queries
    prefs = Preferences.from_scores(y, qid)
    a, b = level_sampler(prefs.levels), list_sampler(prefs.better, prefs.worse)
    one, two = np.array([4], dtype=np.uint64), np.array([4], dtype=np.uint64)
    assert [draw_preference(a, one)[:2] for _ in range(500)] == [
        draw_preference(b, two)[:2] for _ in range(500)
    ]


def test_no_preference_has_no_weight():
    assert level_sampler(Preferences.from_scores([1.0, 1.0]).levels).table.ends[-1] == 0


# Steps and averages, against the pseudo-code of the lecture


def by_hand(problem, lam, count, seed, step, offset):
    """Weights after each step, from dense matrices and nothing clever."""
    k, d = (problem.coef_shape[1] if len(problem.coef_shape) > 1 else 1), problem.X.shape[1]
    sampler, state, w, trail = (
        sampler_of(problem),
        np.array([seed], dtype=np.uint64),
        np.zeros((k, d)),
        [],
    )
    x = lambda i: problem.X[i // k] if i >= 0 else np.zeros(d)
    for t in range(1, count + 1):
        better, worse, margin = draw_preference(sampler, state)
        D = np.zeros((k, d))
        D[better % k if better >= 0 else 0] += x(better)
        D[worse % k if worse >= 0 else 0] -= x(worse)
        alpha = (
            1 / (lam * (t + offset))
            if step == "1/t"
            else 1 / (lam * np.sqrt(max(offset, 1) * (t + offset)))
        )
        w = w - alpha * (lam * w - (D if margin > np.sum(w * D) else 0))
        trail.append(w)
    return np.array(trail)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("step", ["1/t", "1/sqrt(t)"])
@pytest.mark.parametrize("offset", [0.0, 3.0, 500.0])
def test_steps_and_averages(graded_queries, name, step, offset):
    problem, lam, count = problems(graded_queries)[name], 0.05, 3000
    trail = by_hand(problem, lam, count, 7, step, offset)
    shape, n = trail.shape[1:], int(np.prod(problem.coef_shape))
    begin = 1 << (count.bit_length() - 2)  # a suffix begins at the power of two before the last
    for average, expected in (
        (False, trail[-1]),
        ("plain", trail.mean(axis=0)),
        ("suffix", trail[begin:].mean(axis=0)),
    ):
        learner = Descent(lam, shape, n, step, average, 7, offset)
        for part in (1, 63, 64, 1000, 1872):  # in several goes
            learner.run(problem.X, sampler_of(problem), part)
        w, coef = learner.read()
        assert learner.updates == count
        assert np.allclose(w, expected, rtol=1e-8, atol=1e-9 * np.abs(trail).max())
        assert np.allclose(
            problem.X.T @ coef.reshape(len(problem.X), -1),
            w.T,
            rtol=1e-8,
            atol=1e-9 * np.abs(trail).max(),
        )


def test_blocks_do_not_change_anything(graded_queries):
    problem = ranking(graded_queries)
    one, many = (Descent(0.1, (1, 4), 0, seed=3) for _ in range(2))
    one.run(problem.X, sampler_of(problem), 128)
    for _ in range(2):
        many.run(problem.X, sampler_of(problem), 64)
    assert np.array_equal(one.read()[0], many.read()[0])


# Answers


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lam", [1.0, 30.0])
def test_within_the_tolerance_of_qp(graded_queries, name, lam):
    problem = problems(graded_queries)[name]
    found, best = (
        rb.solve(problem, lam, solver="subgradient", tol=0.02),
        rb.solve(problem, lam, solver="qp"),
    )
    assert found.coef.shape == problem.coef_shape and found.info["converged"]
    assert -1e-9 <= found.certificate.primal / best.certificate.primal - 1 <= 0.02
    assert found.certificate.relative_gap <= 0.02


@pytest.mark.parametrize(
    "step, average, offset",
    [
        ("1/t", "suffix", None),
        ("1/t", "plain", None),
        ("1/sqrt(t)", "suffix", None),
        ("1/t", False, None),
        ("1/t", "suffix", 0.0),
    ],
)
def test_every_rule_arrives(graded_queries, step, average, offset):
    problem, lam = ranking(graded_queries), 10.0
    best = rb.solve(problem, lam).certificate.primal
    found = rb.solve(
        problem,
        lam,
        solver="subgradient",
        step=step,
        average=average,
        offset=offset,
        tol=None,
        max_passes=500_000 / len(problem.prefs),
    )
    assert 0 <= found.certificate.primal / best - 1 < 0.01
    assert not found.info["converged"] and found.info["checks"] == 0


def test_seeds_and_the_info(graded_queries):
    problem = ranking(graded_queries)
    solve = lambda seed: rb.solve(problem, 10.0, solver="subgradient", seed=seed, tol=0.05)
    assert not np.array_equal(solve(1).coef, solve(2).coef)
    info = solve(1).info
    assert (
        info["passes"] == info["updates"] / len(problem.prefs)
        and info["gap"] <= 0.05
        and info["checks"] >= 1
    )
    assert info["before_all"] == (info["updates"] < len(problem.prefs))
    with pytest.warns(
        UserWarning, match="tolerance of 0.001. Pass a larger max_passes than for these 40 steps."
    ):
        short = rb.solve(
            problem, 1e-3, solver="subgradient", max_passes=40 / len(problem.prefs), tol=1e-3
        )
    assert (
        short.info["updates"] == 40 and not short.info["converged"] and not short.info["before_all"]
    )


def test_checks_are_not_more_often_than_they_cost(graded_queries):
    problem = ranking(graded_queries)
    found = rb.solve(problem, 1.0, solver="subgradient", tol=0.02)
    assert found.info["checks"] * steps_between(problem) <= found.info["updates"] + steps_between(
        problem
    )


def test_float32_items(graded_queries):
    X, y, qid = graded_queries
    problem = RankSVMProblem(X.astype(np.float32), Preferences.from_scores(y, qid), kernel="linear")
    found = rb.solve(problem, 10.0, solver="subgradient")
    assert found.certificate.primal == pytest.approx(
        rb.solve(ranking(graded_queries), 10.0).certificate.primal, rel=0.01
    )


# Degenerate data

DEGENERATE = {
    "one point": (np.ones((6, 2)), Preferences.from_scores([0, 1, 2, 0, 1, 2])),
    "zeros": (np.zeros((3, 1)), Preferences.from_scores([0, 1, 2])),
    "cycle": (np.arange(3.0)[:, None], Preferences([0, 1, 2], [1, 2, 0], 3)),
    "twins that disagree": (np.array([[1.0], [1.0]]), Preferences([0, 1], [1, 0], 2)),
    "one-level queries": (
        np.arange(6.0)[:, None],
        Preferences.from_scores([1, 1, 0, 1, 2, 2], [0, 0, 1, 1, 2, 2]),
    ),
    "rank one": (np.outer(np.arange(5.0), [1, 2]), Preferences.from_scores([0, 2, 1, 3, 2])),
    "one pair": (np.array([[0.0], [1e6]]), Preferences([1], [0], 2)),
    "copies": (np.repeat(np.eye(3), 3, axis=0), Preferences.from_scores([0, 1, 2] * 3)),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("lam", [0.1, 1e4])
def test_degenerate(name, lam):
    X, prefs = DEGENERATE[name]
    problem = RankSVMProblem(X, prefs, kernel="linear")
    found = rb.solve(problem, lam, solver="subgradient", tol=None, max_passes=300_000 / len(prefs))
    best = rb.solve(problem, lam, solver="qp").certificate.primal
    assert found.certificate.primal == pytest.approx(best, rel=0.01, abs=0.01)


def test_read_only_strided_and_permuted(graded_queries):
    X, y, qid = graded_queries
    wide = np.zeros((120, 8))
    wide[:, ::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    coefs = [
        rb.solve(ranking((A, y, qid)), 10.0, solver="subgradient").coef
        for A in (X, frozen, wide[:, ::2], np.asfortranarray(X))
    ]
    assert all(np.array_equal(coefs[0], coef) for coef in coefs)
    order = np.random.default_rng(0).permutation(120)
    other = rb.solve(ranking((X[order], y[order], qid[order])), 10.0, solver="subgradient")
    assert other.certificate.primal == pytest.approx(
        rb.solve(ranking(graded_queries), 10.0).certificate.primal, rel=0.01
    )


def test_a_heavy_preference_is_as_good_as_copies(graded_queries):
    X, y, qid = graded_queries
    prefs = Preferences.from_scores(y, qid)
    double = prefs.reweighted(weight=np.full(len(prefs), 2.0))
    listed = Preferences(np.repeat(prefs.better, 2), np.repeat(prefs.worse, 2), 120)
    a, b = (
        rb.solve(
            RankSVMProblem(X, p, kernel="linear"),
            10.0,
            solver="subgradient",
            tol=None,
            max_passes=passes,
        )
        for p, passes in ((double, 20), (listed, 10))
    )
    assert a.info["updates"] == b.info["updates"] and np.allclose(a.coef, b.coef)


# Bad input


def test_what_it_does_not_take(graded_queries):
    X, y, qid = graded_queries
    assert "not rbf" in SubgradientSolver().can_solve(SVMProblem(X, y > 0, "rbf"))
    assert SubgradientSolver().can_solve(MulticlassSVMProblem(X, y)) is True
    with pytest.raises(ValueError, match="lam is 0"):
        rb.solve(ranking(graded_queries), 0, solver="subgradient")


@pytest.mark.parametrize("scale, lam", [(1e200, 1.0), (1.0, 1e-310)])
def test_overflow_is_an_error_that_names_its_cause(graded_queries, scale, lam):
    X, y, qid = graded_queries
    with pytest.raises(
        ValueError,
        match="lam is .* and X has entries up to|X has .* squares of larger numbers overflow",
    ):
        rb.solve(ranking((scale * X, y, qid)), lam, solver="subgradient", tol=None)


@pytest.mark.parametrize("seed", range(20))
def test_pairs_of_weight_0_are_never_drawn(seed):
    """Weights of many sizes, most of them 0, and draws at both ends of every interval."""
    rng = np.random.default_rng(seed)
    y, qid = rng.integers(0, 4, 50).astype(float), rng.integers(0, 3, 50)
    a, b = 10 ** rng.uniform(-9, 9, (2, 50)) * (rng.random((2, 50)) < 0.3)
    prefs = Preferences.from_scores(y, qid).item_weighted(a, b)
    sampler, state = level_sampler(prefs.levels, a, b), np.array([seed], dtype=np.uint64)
    k, l = np.nonzero((y[:, None] > y) & (qid[:, None] == qid))
    assert sampler.table.ends[-1] == pytest.approx(float(a[k] @ b[l]), rel=1e-9)
    for _ in range(5000):
        better, worse, _ = draw_preference(sampler, state)
        assert a[better] > 0 and b[worse] > 0 and qid[better] == qid[worse] and y[better] > y[worse]


def test_two_weights_without_a_pair_have_no_weight():
    prefs = Preferences.from_scores([0.0, 1, 2])
    nothing = level_sampler(prefs.levels, np.ones(3), np.array([0.0, 0, 1]))
    assert nothing.table.ends[-1] == 0
