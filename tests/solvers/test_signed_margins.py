"""Margins of any sign: the solvers that take them agree, and the others say that they do not."""

import numpy as np
import pytest

import rankbook as rb

LAMS = (100.0, 3.0, 0.3, 1e-2)


def data(name, zeros=False):
    """Items and preferences whose margins have any sign."""
    rng = np.random.default_rng(len(name))
    n, d = 24, 2
    X = rng.normal(size=(n, d))
    if name == "integer grid":
        X = rng.integers(0, 3, (n, d)).astype(float)
    if name == "every item twice":
        X = np.r_[X[:12], X[:12]]
    if name == "rank one":
        X = np.outer(X[:, 0], [1.0, 2.0])
    y = np.round(X[:, 0] + 0.5 * rng.normal(size=n), 0 if name == "ties" else 3)
    b, w = np.triu_indices(n, 1)
    both = np.r_[b, w], np.r_[w, b]
    margin = y[both[0]] - y[both[1]] - 0.3137
    if zeros:
        margin[rng.random(margin.size) < 0.2] = 0.0
    weight = rng.uniform(0.5, 2, margin.size) if name == "weights" else None
    prefs = rb.Preferences(*both, n, weight=weight, margin=margin)
    return X, prefs


CASES = ["plain", "weights", "integer grid", "every item twice", "rank one", "ties"]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", CASES)
def test_path_interior_and_qp_agree(name, kernel):
    problem = rb.RankSVMProblem(*data(name), kernel=kernel)
    path = rb.solve_path(problem)
    assert path.status in ("complete", "rounding", "lam_min")
    for lam in (2 * problem.lam_max, *LAMS):
        if lam <= path.domain[0]:
            continue
        exact, inner = path.solution(lam), rb.solve(problem, lam, solver="interior")
        reference = rb.solve(problem, lam, solver="qp")
        for answer, tol in ((exact, 1e-8), (inner, 1e-7), (reference, 1e-5)):
            assert answer.certificate.is_optimal(tol), (lam, answer.certificate)
        top = max(1.0, exact.certificate.primal)
        assert abs(exact.certificate.primal - reference.certificate.primal) < 1e-5 * top
        assert abs(exact.certificate.primal - inner.certificate.primal) < 1e-7 * top


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("name", CASES)
def test_margins_of_zero(name, loss):
    problem = rb.RankSVMProblem(*data(name, zeros=True), loss=loss)
    for lam in LAMS:
        inner, reference = (rb.solve(problem, lam, solver=s) for s in ("interior", "qp"))
        assert inner.certificate.relative_gap < 1e-7
        assert inner.certificate.primal == pytest.approx(reference.certificate.primal, rel=1e-5)


def test_all_margins_zero_or_negative_leave_nothing_to_do():
    X, prefs = data("plain")
    for margin in (-1.0, 0.0):
        problem = rb.RankSVMProblem(X, prefs.reweighted(margin=np.full(len(prefs), margin)))
        answer = rb.solve(problem, 1.0)
        assert answer.certificate.primal < 1e-10 and np.abs(answer.predict(X)).max() < 1e-6
    path = rb.solve_path(rb.RankSVMProblem(X, prefs.reweighted(margin=np.full(len(prefs), -1.0))))
    assert path.solution(1.0).certificate.is_optimal(1e-12) and not path.predict(X, 0.1).any()


def test_the_epsilon_insensitive_loss_is_two_hinges():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 3))
    y, eps, lam = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=20), 0.2, 0.5
    b, w = np.triu_indices(20, 1)
    margin = np.r_[y[b] - y[w], y[w] - y[b]] - eps
    prefs = rb.Preferences(np.r_[b, w], np.r_[w, b], 20, margin=margin)
    answer = rb.solve(rb.RankSVMProblem(X, prefs, kernel="linear"), lam, solver="path")

    import cvxpy as cp

    v = cp.Variable(3)
    short = cp.pos(cp.abs((y[b] - y[w]) - (X[b] - X[w]) @ v) - eps)
    direct = cp.Problem(cp.Minimize(lam / 2 * cp.sum_squares(v) + cp.sum(short)))
    direct.solve(solver="CLARABEL")
    assert answer.certificate.primal == pytest.approx(direct.value, rel=1e-7)
    assert answer.weights == pytest.approx(v.value, abs=1e-4)


def test_margins_of_differences():
    y, qid = np.array([3.0, 1.0, 1.0, 2.5, 0.0]), np.array([0, 0, 0, 1, 1])
    prefs = rb.Preferences.from_scores(y, qid, margin="difference")
    assert prefs.margin.tolist() == (y[prefs.better] - y[prefs.worse]).tolist()
    assert (prefs.margin > 0).all() and len(prefs) == 3
    with pytest.raises(ValueError, match="margin is 'diff'"):
        rb.Preferences.from_scores(y, margin="diff")


def test_a_path_is_stored_resumed_and_validated(tmp_path):
    X, prefs = data("plain")
    problem = rb.RankSVMProblem(X, prefs)
    whole, part = rb.solve_path(problem), rb.solve_path(problem, max_events=20)
    part.save(tmp_path / "part.npz")
    again = rb.load(tmp_path / "part.npz").resume()
    for name in ("pair", "from", "to"):
        assert np.array_equal(again.events[name], whole.events[name])
    assert np.allclose(again.events["lam"], whole.events["lam"], rtol=1e-9, atol=0)
    rng = np.random.default_rng(0)
    new, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    curve = rb.validation_curve(whole, new, rb.Preferences.from_scores(y))
    for lam in np.geomspace(1e-3, 2 * problem.lam_max, 40):
        assert curve.at(lam) == pytest.approx(rb.disagreement(y, whole.predict(new, lam)))


@pytest.mark.parametrize("solver", ["newton", "subgradient", "epsilon"])
def test_others_say_that_they_take_positive_margins_only(solver):
    problem = rb.RankSVMProblem(*data("plain"), kernel="linear")
    run = rb.solve_path if solver == "epsilon" else rb.solve
    with pytest.raises(ValueError, match="positive margins only"):
        run(problem, 1.0, solver=solver)


def test_what_makes_no_sense_is_refused():
    X, prefs = data("plain", zeros=True)
    with pytest.raises(ValueError, match="penalty 'l1'"):
        rb.RankSVMProblem(X, prefs, kernel="linear", penalty="l1")
    problem = rb.RankSVMProblem(X, prefs)
    with pytest.raises(ValueError, match="no margin of 0"):
        rb.solve_path(problem, solver="path")
    one_way = rb.Preferences([0, 1], [1, 2], 3, margin=[1.0, -1.0])
    for solver in ("qp", "path"):
        with pytest.raises(ValueError, match="lam is 0"):
            rb.solve(rb.RankSVMProblem(X[:3], one_way), 0.0, solver=solver).certificate  # noqa: B018
    with pytest.raises(ValueError, match="Pass finite numbers"):
        prefs.reweighted(margin=np.full(len(prefs), np.nan))
