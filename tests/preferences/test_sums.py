"""Sums over all preferences, counted by merging.

They are compared with the plain double loop, on whatever hypothesis comes up with.
"""

from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbook as rb
from rankbook.preferences.sums import (
    HINGE,
    SQUARED,
    CountedLoss,
    Derivative,
    ListedLoss,
    loss_of,
    smoothed_hinge,
)
from rankbook.problems.certificate import SmoothedDual

STRAIGHT = Derivative(0.5, 0.5, 4.0, 0.5 - 2.0)  # the line of a smaller width, in the band of 1
DERIVATIVES = [HINGE, SQUARED, *(smoothed_hinge(h) for h in (1e-6, 0.25, 1.0, 7.0)), STRAIGHT]


def double_loop(y, qid, weight, scores, derivative):
    """Loss, sum of slopes, sum of squares, score_gradient and worst shortfall, pair by pair."""
    loss = margin = square = 0.0
    score_gradient, worst = np.zeros(len(y)), -np.inf
    for k in range(len(y)):
        for l in range(len(y)):
            if qid[k] == qid[l] and y[k] > y[l] and weight[k] * weight[l] > 0:
                t, c = 1 - (scores[k] - scores[l]), weight[k] * weight[l]
                a = float(derivative.at(np.float64(t)))
                loss, margin, square, worst = (
                    loss + c * float(derivative.integral(np.float64(t))),
                    margin + c * a,
                    square + c * a * a,
                    max(worst, t),
                )
                score_gradient[k], score_gradient[l] = (
                    score_gradient[k] + c * a,
                    score_gradient[l] - c * a,
                )
    return loss, margin, square, worst, score_gradient


@st.composite
def queries(draw):
    n = draw(st.integers(2, 40))
    y = draw(st.lists(st.integers(0, draw(st.integers(1, 12))), min_size=n, max_size=n))
    qid = draw(st.lists(st.integers(0, draw(st.integers(0, 5))), min_size=n, max_size=n))
    weight = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n))
    # multiples of 1/8 put pairs exactly on margins and band ends, without rounding
    scores = draw(st.lists(st.integers(-40, 40), min_size=n, max_size=n))
    return np.array(y, float), np.array(qid), np.array(weight), np.array(scores) / 8


@settings(max_examples=150, deadline=None)
@given(queries(), st.sampled_from(DERIVATIVES))
def test_counting_is_the_double_loop(data, derivative):
    y, qid, weight, scores = data
    prefs = rb.Preferences.from_scores(y, qid).item_weighted(weight)
    if len(prefs) == 0 or not copy(prefs).weight.any():  # a copy, for asking lists the pairs
        return
    assert not prefs.is_listed
    sums = CountedLoss(prefs).evaluate(scores, derivative)
    loss, margin, square, worst, score_gradient = double_loop(y, qid, weight, scores, derivative)
    scale = 1 + abs(loss)
    assert np.allclose(
        [sums.loss, sums.margin, sums.square],
        [loss, margin, square],
        rtol=1e-11,
        atol=1e-11 * scale,
    )
    assert sums.worst == worst
    assert np.allclose(sums.score_gradient, score_gradient, rtol=1e-11, atol=1e-11 * scale)


@settings(max_examples=80, deadline=None)
@given(queries(), st.sampled_from(DERIVATIVES), st.integers(0, 99))
def test_curvature_is_that_of_the_listed_pairs(data, derivative, seed):
    y, qid, weight, scores = data
    prefs = rb.Preferences.from_scores(y, qid).item_weighted(weight)
    if len(prefs) == 0 or not copy(prefs).weight.any():  # a copy, for asking lists the pairs
        return
    v = np.random.default_rng(seed).normal(size=len(y))
    counted, listed = CountedLoss(prefs), ListedLoss(prefs)
    one, other = counted.evaluate(scores, derivative), listed.evaluate(scores, derivative)
    (
        counted.evaluate(-scores, SQUARED),
        listed.evaluate(-scores, SQUARED),
    )  # what comes later changes nothing
    assert np.allclose(
        counted.curvature(one.bands, v), listed.curvature(other.bands, v), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("levels", [2, 3, 33, 3000])
def test_large_levels_real_valued_relevance_and_any_order_of_items(derivative, levels):
    rng = np.random.default_rng(levels)
    n = 3000
    y, qid, scores = (
        rng.integers(0, levels, n).astype(float),
        rng.integers(0, 2, n),
        rng.normal(size=n) * 3,
    )
    prefs = rb.Preferences.from_scores(y, qid)
    counted, listed = (
        CountedLoss(prefs).evaluate(scores, derivative),
        ListedLoss(prefs).evaluate(scores, derivative),
    )
    for one, other in zip(
        (counted.loss, counted.margin, counted.square, counted.worst),
        (listed.loss, listed.margin, listed.square, listed.worst),
    ):
        assert np.isclose(one, other, rtol=1e-10)
    assert np.allclose(counted.score_gradient, listed.score_gradient, rtol=1e-9, atol=1e-7)


def test_large_scores_and_small_bands_keep_their_digits():
    rng = np.random.default_rng(1)
    y, scores = rng.integers(0, 3, 500), rng.normal(size=500) * 1e6
    prefs = rb.Preferences.from_scores(y)
    for derivative in (HINGE, smoothed_hinge(1e-3), SQUARED):
        counted, listed = (
            CountedLoss(prefs).evaluate(scores, derivative),
            ListedLoss(prefs).evaluate(scores, derivative),
        )
        assert np.isclose(counted.loss, listed.loss, rtol=1e-10)
        assert np.allclose(
            counted.score_gradient,
            listed.score_gradient,
            rtol=1e-8,
            atol=1e-8 * np.abs(listed.score_gradient).max(),
        )


def test_who_is_counted_and_who_is_listed():
    y = [0, 1, 2, 1]
    full = rb.Preferences.from_scores(y)
    assert isinstance(loss_of(full), CountedLoss) and isinstance(
        loss_of(full.item_weighted([1, 2, 3, 0])), CountedLoss
    )
    for other in (
        rb.Preferences.from_scores(y, graph="star"),
        full.reweighted(margin=[2] * 5),
        full.reweighted(weight=[2] * 5),
        rb.Preferences([0], [1], 4),
        rb.Preferences.from_rankings([[0, 1]]),
        full.reweighted(margin=[2] * 5).item_weighted([1, 1, 1, 1]),
    ):
        assert isinstance(loss_of(other), ListedLoss)


def block_sums(X, loss, w, derivative):
    """The sums of a block of whole queries, and their slope gathered on the features."""
    sums = loss.evaluate(X @ w, derivative)
    return sums, X.T @ sums.score_gradient


def test_blocks_add_up():
    rng = np.random.default_rng(3)
    X, y, qid, w = (
        rng.normal(size=(90, 4)),
        rng.integers(0, 4, 90),
        rng.integers(0, 9, 90),
        rng.normal(size=4),
    )
    for derivative in DERIVATIVES:
        whole, gradient = block_sums(X, loss_of(rb.Preferences.from_scores(y, qid)), w, derivative)
        parts = [
            block_sums(
                X[qid % 3 == r],
                loss_of(rb.Preferences.from_scores(y[qid % 3 == r], qid[qid % 3 == r])),
                w,
                derivative,
            )
            for r in range(3)
        ]
        assert np.isclose(sum(part.loss for part, _ in parts), whole.loss) and np.allclose(
            sum(g for _, g in parts), gradient
        )
        assert max(part.worst for part, _ in parts) == whole.worst


# Certificates from sums


@pytest.mark.parametrize("seed", range(6))
def test_certificates_by_sums_are_those_of_the_list(seed):
    rng = np.random.default_rng(seed)
    X, y, qid = (
        rng.integers(-2, 3, size=(40, 3)).astype(float),
        rng.integers(0, 4, 40),
        rng.integers(0, 3, 40),
    )
    coef, lam = rng.normal(size=40) / 40, 10.0 ** rng.integers(-2, 3)
    summed = rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid), kernel="linear")
    listed = rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid), kernel="linear")
    listed.prefs.better
    by_sums, by_list = summed.certificate(lam, coef), listed.certificate(lam, coef)
    assert not summed.prefs.is_listed
    assert (
        np.isclose(by_sums.primal, by_list.primal)
        and np.isclose(by_sums.dual, by_list.dual)
        and np.isclose(by_sums.radius, by_list.radius)
    )
    assert (
        by_sums.complementarity_violation >= by_list.complementarity_violation - 1e-12
        and by_sums.box_violation == 0
    )
    for width in (0.0, 0.3):
        dual = SmoothedDual(width).multipliers(listed.prefs, listed.matvec(coef))
        ruled, given = (
            summed.certificate(lam, coef, SmoothedDual(width)),
            listed.certificate(lam, coef, dual),
        )
        assert ruled.dual >= given.dual - 1e-9 * abs(given.primal)  # the best point of its ray
        assert np.isclose(summed.primal(coef, lam), listed.primal(coef, lam)) and np.isclose(
            summed.lam_max, listed.lam_max
        )


def test_no_certificate_of_sums_accepts_a_wrong_sign():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    for loss in ("hinge", "squared"):
        problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), kernel="linear", loss=loss)
        answer = rb.solve(problem, 5.0, solver="newton", tol=1e-9)
        assert answer.certificate.relative_gap < 1e-9
        for wrong in (-answer.coef, 0.9 * answer.coef, 1.1 * answer.coef):
            assert problem.certificate(5.0, wrong, answer.dual).relative_gap > 1e-4
        for item in range(0, 60, 7):
            flipped = answer.coef.copy()
            flipped[item] *= -1
            if flipped[item] != 0:
                assert problem.certificate(5.0, flipped, answer.dual).relative_gap > 1e-7


def test_the_dual_of_the_squared_hinge_is_below_every_primal():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), kernel="rbf", loss="squared")
    lowest = rb.solve(problem, 0.3, solver="qp").certificate.primal
    for _ in range(50):
        dual = rng.exponential(size=len(problem.prefs)) * 10.0 ** rng.integers(-3, 2)
        assert problem.certificate(0.3, rng.normal(size=30), dual).dual <= lowest * (1 + 1e-9)
        assert problem.certificate(0.3, rng.normal(size=30)).dual <= lowest * (1 + 1e-9)


def test_a_graph_that_weighs_nothing_is_refused_without_listing():
    prefs = rb.Preferences.from_scores([0, 1, 0, 1], [0, 0, 1, 1]).item_weighted([1, 0, 0, 1])
    with pytest.raises(ValueError, match="weight 0 for every preference"):
        rb.RankSVMProblem(np.ones((4, 1)), prefs, kernel="linear")
    assert not prefs.is_listed


def test_preferences_of_weight_zero_do_not_count_for_the_worst():
    scores = np.array([0.0, 5.0, 1.0])
    prefs = rb.Preferences([0, 2], [1, 0], 3, weight=[0, 1])
    assert ListedLoss(prefs).evaluate(scores, HINGE).worst == 0.0
    full = rb.Preferences.from_scores([2, 1, 0]).item_weighted([1, 0, 1])
    assert (
        CountedLoss(full).evaluate(scores, HINGE).worst
        == ListedLoss(full).evaluate(scores, HINGE).worst
        == 2.0
    )
    X, weight = np.array([[0.0], [1.0], [3.0]]), [0.0, 1.0, 1.0]
    some = rb.Preferences.from_scores([0, 1, 2])
    kept = rb.Preferences(some.better[1:], some.worse[1:], 3)
    fresh = rb.Preferences.from_scores([0, 1, 2]).reweighted(weight=weight)
    assert np.isclose(
        rb.RankSVMProblem(X, fresh, kernel="linear").lam_max,
        rb.RankSVMProblem(X, kept, kernel="linear").lam_max,
        rtol=1e-12,
    )


@settings(max_examples=100, deadline=None)
@given(queries())
def test_what_follows_from_the_levels_alone(data):
    y, qid, weight, scores = data
    prefs = rb.Preferences.from_scores(y, qid).item_weighted(weight)
    if len(prefs) == 0 or not copy(prefs).weight.any():  # a copy, for asking lists the pairs
        return
    counted, listed = CountedLoss(prefs), ListedLoss(prefs)
    assert np.allclose(
        counted.full_score_gradient(), listed.full_score_gradient()
    ) and counted.largest_rise(scores) == listed.largest_rise(scores)
    assert counted.largest_rise(scores, 1.5) == listed.largest_rise(scores, 1.5)


def test_the_width_of_a_smoothed_hinge_is_measured_in_margins():
    """Listed preference of margin 4, short of it by 0.2: by a twentieth of its margin."""
    prefs = rb.Preferences([0], [1], 2, margin=[4.0])
    sums = ListedLoss(prefs).evaluate(np.array([3.8, 0.0]), smoothed_hinge(0.5))
    assert np.allclose(sums.score_gradient, [0.6, -0.6]) and np.isclose(sums.worst, 0.05)


@pytest.mark.parametrize("worse", [False, True])
@pytest.mark.parametrize("derivative", DERIVATIVES)
def test_sums_at_zero_are_those_near_zero(derivative, worse):
    rng = np.random.default_rng(0)
    prefs = rb.Preferences.from_scores(rng.integers(0, 4, 60), rng.integers(0, 5, 60))
    a, b = rng.integers(0, 3, (2, 60)).astype(float)
    prefs = prefs.item_weighted(a, worse_weight=b if worse else None)
    loss, zero, v = CountedLoss(prefs), np.zeros(60), rng.normal(size=60)
    at, near = (loss.evaluate(scores, derivative) for scores in (zero, zero + 1e-300))
    for name in ("loss", "margin", "square", "score_gradient", "worst"):
        assert getattr(at, name) == pytest.approx(getattr(near, name), rel=1e-12)
    curved = loss.curvature(near.bands, v)
    np.testing.assert_allclose(loss.curvature(at.bands, v), curved, rtol=1e-9, atol=1e-9)
