"""The SVMs for labels and classes: against qp, scikit-learn and brute force.

Also weights, certificates by mutation, and degenerate and bad input.
"""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC, LinearSVC

import rankbook as rb
from rankbook.problems.certificate import Solution
from rankbook.problems.ranksvm import RankSVMProblem
from rankbook.problems.svm import MulticlassSVMProblem, SVMProblem


@pytest.fixture(scope="module")
def three_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    return X, rng.integers(0, 3, 30), rng.uniform(0.2, 3, 30), rng.uniform(0.5, 2, 30)


KINDS = {
    "binary": lambda X, y, *args, **options: SVMProblem(X, y > 0, *args, **options),
    "classes": MulticlassSVMProblem,
}


def box_qp(A, K, weight, margin, lam):
    """The dual by L-BFGS-B.

    Returns multipliers of max a'margin - a'A K A'a / (2 lam) in 0 <= a <= weight.
    """
    Q = A @ K @ A.T / lam
    result = minimize(
        lambda a: (a @ Q @ a / 2 - a @ margin, Q @ a - margin),
        weight / 2,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, c) for c in weight],
        options=dict(maxiter=20_000, maxfun=50_000, ftol=1e-15, gtol=1e-9),
    )
    return result.x, -result.fun


# The objective and the dual are what the lecture writes


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("lam", [0.05, 1.0, 50.0])
def test_binary_by_its_definition(three_classes, kernel, lam):
    X, y, s, delta = three_classes
    problem, sign = SVMProblem(X, y > 0, kernel, weight=s, margin=delta), np.where(y > 0, 1.0, -1.0)
    K = problem.kernel.gram(X)
    beta = np.random.default_rng(1).normal(size=30) / 10
    assert problem.primal(beta, lam) == pytest.approx(
        lam / 2 * beta @ K @ beta + s @ np.maximum(0, delta - sign * (K @ beta))
    )
    dual, value = box_qp(np.diag(sign), K, s, delta, lam)
    found = rb.solve(problem, lam, solver="qp")
    assert found.certificate.primal == pytest.approx(
        value, rel=1e-6
    ) and found.certificate.is_optimal(1e-6)
    assert problem.certificate(lam, dual=dual).relative_gap < 1e-6


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("lam", [0.05, 1.0, 50.0])
def test_classes_by_brute_force(three_classes, kernel, lam):
    X, y, s, delta = three_classes
    problem = MulticlassSVMProblem(X, y, kernel, weight=s, margin=delta)
    K, rows, beta = problem.kernel.gram(X), [], np.random.default_rng(1).normal(size=(30, 3)) / 10
    f, loss = K @ beta, 0.0
    for i in range(30):
        for b in range(3):
            if b != y[i]:
                loss += s[i] * max(0, delta[i] - f[i, y[i]] + f[i, b])
                row = np.zeros((30, 3))
                row[i, y[i]], row[i, b] = 1, -1
                rows.append(row.ravel())
    assert problem.primal(beta, lam) == pytest.approx(lam / 2 * np.sum(beta * (K @ beta)) + loss)
    dual, value = box_qp(
        np.array(rows), np.kron(K, np.eye(3)), np.repeat(s, 2), np.repeat(delta, 2), lam
    )
    found = rb.solve(problem, lam)
    assert found.certificate.primal == pytest.approx(
        value, rel=1e-6
    ) and found.certificate.is_optimal(1e-6)
    assert problem.certificate(lam, dual=dual).relative_gap < 1e-6
    assert np.allclose(found.predict(X), K @ problem.prefs.rmatvec(found.dual) / lam, atol=1e-4)


def test_linear_svc(three_classes):
    X, y, s, _ = three_classes
    for weight in (None, s):
        ours = rb.solve(SVMProblem(X, y > 0, weight=weight), 2.0)
        peer = LinearSVC(
            loss="hinge", fit_intercept=False, C=0.5, tol=1e-10, max_iter=1_000_000
        ).fit(X, y > 0, sample_weight=weight)
        assert np.allclose(ours.problem.weights(ours.coef), peer.coef_[0], atol=1e-5)
    assert (ours.problem.classify(ours.coef, X) == peer.predict(X)).all()


def test_an_intercept_by_a_large_column(three_classes):
    X, y, *_ = three_classes
    ours = rb.solve(SVMProblem(np.c_[X, np.full(30, 1e3)], y > 0), 1.0)
    peer = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y > 0)
    assert np.allclose(
        ours.predict(np.c_[X, np.full(30, 1e3)]), peer.decision_function(X), atol=1e-2
    )


def test_classes_are_a_ranking(three_classes):
    X, y, s, delta = three_classes
    problem = MulticlassSVMProblem(X, y, "rbf", weight=s, margin=delta)
    gram = np.kron(problem.gram, np.eye(3))
    ranking = RankSVMProblem(gram, problem.joint.prefs, kernel="precomputed")
    assert ranking.lam_max == pytest.approx(problem.lam_max)
    for lam in (0.1, 3.0):
        assert rb.solve(ranking, lam).certificate.primal == pytest.approx(
            rb.solve(problem, lam).certificate.primal, rel=1e-7
        )


def test_precomputed_and_callable(three_classes):
    X, y, *_ = three_classes
    for kind in KINDS.values():
        reference = rb.solve(kind(X, y), 1.0).certificate.primal
        assert rb.solve(kind(X @ X.T, y, "precomputed"), 1.0).certificate.primal == pytest.approx(
            reference, rel=1e-7
        )
        assert rb.solve(kind(X, y, lambda A, B: A @ B.T), 1.0).certificate.primal == pytest.approx(
            reference, rel=1e-7
        )


@pytest.mark.parametrize("kind", KINDS)
def test_lam_max(three_classes, kind):
    X, y, s, delta = three_classes
    problem = KINDS[kind](X, y, weight=s, margin=delta)
    at = lambda factor: (
        problem.certificate(
            problem.lam_max * factor, dual=np.asarray(problem.prefs.weight)
        ).relative_gap
    )
    assert at(1 + 1e-9) < 1e-12 and at(2) < 1e-12 and at(0.9) > 1e-6


# The three ways to weight


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_replicas_are_slack_scales_and_margins_are_not(three_classes, kind, kernel):
    X, y, *_ = three_classes
    times = np.random.default_rng(2).integers(0, 4, 30)
    lam = 0.3
    copies, scaled, wider = (
        rb.solve(p, lam)
        for p in (
            KINDS[kind](np.repeat(X, times, axis=0), np.repeat(y, times), kernel),
            KINDS[kind](X, y, kernel, weight=times),
            KINDS[kind](X, y, kernel, margin=np.maximum(times, 1)),
        )
    )
    assert copies.certificate.primal == pytest.approx(scaled.certificate.primal, rel=1e-7)
    assert np.allclose(copies.predict(X), scaled.predict(X), atol=1e-4)
    assert not np.allclose(wider.predict(X), scaled.predict(X), atol=0.05)


# Certificates by mutation


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_every_flipped_sign_is_caught(three_classes, kind, kernel):
    X, y, s, delta = three_classes
    problem = KINDS[kind](X, y, kernel, weight=s, margin=delta)
    good = rb.solve(problem, 1.0)
    assert good.certificate.is_optimal(1e-6)
    for i in np.flatnonzero(good.dual > 1e-3 * good.dual.max()):
        dual = good.dual.copy()
        dual[i] *= -1
        bad = problem.certificate(1.0, good.coef, dual)
        assert (
            bad.box_violation > 1e-4
            and bad.dual < good.certificate.primal
            and not bad.is_optimal(1e-6)
        )
        dual[i] = problem.prefs.weight[i] * 1.5
        assert problem.certificate(1.0, good.coef, dual).box_violation > 0.4
    for index in np.ndindex(*good.coef.shape):
        if abs(good.coef[index]) > 1e-3:
            coef = good.coef.copy()
            coef[index] *= -1
            assert not problem.certificate(1.0, coef, good.dual).is_optimal(1e-6)
    assert not problem.certificate(1.0, -good.coef, good.dual).is_optimal()
    assert not problem.certificate(1.1, good.coef, good.dual).is_optimal()


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_for_any_answer(three_classes, kind):
    X, y, s, delta = three_classes
    problem, rng = KINDS[kind](X, y, weight=s, margin=delta), np.random.default_rng(3)
    best = rb.solve(problem, 1.0)
    for _ in range(30):
        coef, dual = rng.normal(size=problem.coef_shape) / 5, rng.uniform(-1, 2, problem.dual_shape)
        c = problem.certificate(1.0, coef, dual)
        assert c.dual <= best.certificate.primal + 1e-6 <= c.primal + 2e-6
        difference = coef - best.coef
        distance = np.sqrt(np.sum(difference * problem.matvec(difference)))
        assert distance <= problem.certificate(1.0, coef).radius * (1 + 1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_ramps_close_the_gap_at_the_optimum(three_classes, kind):
    X, y, *_ = three_classes
    problem = KINDS[kind](X, y, "rbf")
    lam = 1.5 * problem.lam_max
    best = rb.solve(problem, lam)
    assert problem.certificate(lam, best.coef).relative_gap < 1e-6
    soft = rb.solve(problem, 0.1 * problem.lam_max)
    assert 0 <= problem.certificate(0.1 * problem.lam_max, soft.coef).relative_gap < 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_coefficients_from_multipliers_alone(three_classes, kind):
    X, y, *_ = three_classes
    problem = KINDS[kind](X, y)
    best = rb.solve(problem, 1.0)
    other = Solution(problem, 1.0, dual=best.dual)
    assert other.coef.shape == problem.coef_shape and np.allclose(
        other.predict(X), best.predict(X), atol=1e-5
    )
    assert other.certificate.is_optimal(1e-5)


# The hard margin


@pytest.mark.parametrize("kind", KINDS)
def test_hard_margin_is_the_limit(three_classes, kind):
    X, y, _, delta = three_classes
    problem = KINDS[kind](X, y, "rbf", 2.0, margin=delta)
    hard = rb.solve(problem, 0)
    assert (
        hard.certificate.is_optimal(1e-6)
        and problem.prefs.matvec(problem.matvec(hard.coef)).min() >= delta.min() - 1e-6
    )
    soft = rb.solve(problem, 1e-5)
    assert soft.certificate.primal == pytest.approx(1e-5 * hard.certificate.primal, rel=1e-3)


@pytest.mark.parametrize("kind", [SVMProblem, MulticlassSVMProblem])
def test_no_hard_margin(kind):
    with pytest.raises(ValueError, match="no function satisfies all constraints"):
        rb.solve(kind([[1.0], [1.0], [2.0]], [0, 1, 1]), 0)


# Degenerate data


@pytest.mark.parametrize("kind", [SVMProblem, MulticlassSVMProblem])
@pytest.mark.parametrize(
    "X, y",
    [
        (np.ones((6, 2)), [0, 1, 0, 1, 0, 1]),
        (np.zeros((4, 1)), [0, 1, 1, 1]),
        (np.repeat(np.arange(3.0), 3)[:, None], [0, 1, 0, 1, 1, 1, 0, 0, 1]),
        (np.outer(np.arange(6.0), [1, 2, 3]), [0, 1, 0, 1, 0, 1]),
        (np.eye(2), [1, 0]),
    ],
    ids=["one point", "zeros", "duplicates", "rank one", "two"],
)
@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_degenerate(kind, X, y, lam):
    for kernel in ("linear", "rbf"):
        found = rb.solve(kind(X, y, kernel), lam)
        assert found.certificate.relative_gap < 1e-7 and found.certificate.box_violation == 0


def test_a_class_of_one_example_and_many_classes():
    problem = MulticlassSVMProblem(np.eye(6), [0, 1, 2, 3, 4, 4])
    found = rb.solve(problem, 0.1)
    assert found.certificate.is_optimal(1e-6) and problem.dual_shape == (24,)
    assert (problem.classify(found.coef, np.eye(6)) == [0, 1, 2, 3, 4, 4]).all()


def test_ties_go_to_the_first_class():
    problem = MulticlassSVMProblem([[1.0], [2.0]], ["b", "a"])
    assert problem.classify(np.zeros((2, 2)), [[3.0]]).tolist() == ["a"]
    assert SVMProblem([[1.0], [2.0]], ["b", "a"]).classify(np.zeros(2), [[3.0]]).tolist() == ["a"]


def test_read_only_strided_and_permuted(three_classes):
    X, y, s, _ = three_classes
    for kind in KINDS.values():
        reference = rb.solve(kind(X, y, weight=s), 1.0)
        frozen, wide = X.copy(), np.zeros((30, 6))
        frozen.flags.writeable = False
        wide[:, ::2] = X
        for A in (frozen, wide[:, ::2], np.asfortranarray(X)):
            assert np.allclose(rb.solve(kind(A, y, weight=s), 1.0).coef, reference.coef, atol=1e-6)
        order = np.random.default_rng(5).permutation(30)
        assert np.allclose(
            rb.solve(kind(X[order], y[order], weight=s[order]), 1.0).predict(X),
            reference.predict(X),
            atol=1e-5,
        )


@pytest.mark.parametrize("kind", KINDS)
def test_pickle_and_proof(three_classes, kind):
    X, y, *_ = three_classes
    found = rb.solve(KINDS[kind](X, y, "rbf"), 1.0)
    copy = pickle.loads(pickle.dumps(found))
    assert np.allclose(copy.predict(X), found.predict(X)) and copy.certificate.is_optimal(1e-6)
    assert found.proven([0, 1], [2, 3]).shape[0] == 2 and repr(found.problem) in (
        f"SVMProblem(30 examples, {found.problem.kernel!r})",
        f"MulticlassSVMProblem(30 examples, 3 classes, {found.problem.kernel!r})",
    )


# Bad input


@pytest.mark.parametrize(
    "args, options, what",
    [
        (([[1.0], [2.0]], [0, 0]), {}, "y has 1 class"),
        (([[1.0], [2.0]], [0]), {}, r"y has shape \(1,\)"),
        (([[1.0], [2.0]], [0, np.nan]), {}, "y has NaN at index 1"),
        (([[1.0], [np.inf]], [0, 1]), {}, "row 1, column 0"),
        (([1.0, 2.0], [0, 1]), {}, "X has shape"),
        (([[1.0], [2.0]], [0, 1], "rfb"), {}, "did you mean 'rbf'"),
        (([[1.0], [2.0]], [0, 1]), dict(weight=[1.0]), "weight has shape"),
        (([[1.0], [2.0]], [0, 1]), dict(weight=[1, -1]), "weight has -1"),
        (([[1.0], [2.0]], [0, 1]), dict(weight=[0, 0]), "weight is 0 for every example"),
        (([[1.0], [2.0]], [0, 1]), dict(margin=[1, 0]), "margin has 0"),
        (([[1.0], [2.0]], [0, 1]), dict(margin=[1, np.nan]), "margin has NaN"),
        (([[1.0, 2.0]] * 3, [0, 1, 1], "precomputed"), {}, "square Gram matrix"),
    ],
)
@pytest.mark.parametrize("kind", [SVMProblem, MulticlassSVMProblem])
def test_bad_input(kind, args, options, what):
    with pytest.raises(ValueError, match=what):
        kind(*args, **options)


def test_binary_takes_two_classes():
    with pytest.raises(ValueError, match="MulticlassSVMProblem takes more"):
        SVMProblem(np.eye(3), [0, 1, 2])


@pytest.mark.parametrize("lam", [-1, np.nan, np.inf, "1"])
def test_bad_lambda(three_classes, lam):
    with pytest.raises((ValueError, TypeError), match="lam is"):
        rb.solve(SVMProblem(three_classes[0], three_classes[1] > 0), lam)


def test_qp_refuses_the_dual_form_and_too_few_steps(three_classes):
    problem = SVMProblem(three_classes[0], three_classes[1] > 0)
    with pytest.raises(ValueError, match="form is 'dual'"):
        rb.solve(problem, 1.0, solver="qp", form="dual")
    with pytest.raises(RuntimeError, match="ended as"):
        rb.solve(problem, 0.1, solver="qp", max_iter=2)
    with pytest.raises(ValueError, match="cannot solve this problem"):
        rb.solve(problem, 1.0, solver="rls")
