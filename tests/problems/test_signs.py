"""Signs of weights against cvxpy, which uses neither the projection nor our solvers."""

from contextlib import suppress
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook.problems.signs import nearest
from rankbook.solvers.newton.steps import face_step, signed_step

TOL = 1e-8  # relative, between two objectives
SHARES = 1.01, 0.99, 0.3, 0.01  # of lam_max
KINDS = [(penalty, loss) for penalty in ("l2", "l1") for loss in ("hinge", "squared")]
SOLVERS = {
    ("l2", "hinge"): [("newton", dict(tol=1e-9)), ("qp", {})],
    ("l2", "squared"): [("newton", dict(tol=1e-9)), ("qp", {})],
    ("l1", "hinge"): [("qp", {}), ("simplex", {})],
    ("l1", "squared"): [("qp", {}), ("homotopy", {})],
}


def least(X, prefs, lam, penalty, loss, signs):
    """The minimum as the definition has it; at lam = 0 that of the hard margin."""
    counted = prefs.weight > 0
    c, margin = prefs.weight[counted], prefs.margin[counted]
    unit = 1 / np.maximum(np.abs(X).max(axis=0), 1e-3)
    v = cp.Variable(X.shape[1])  # the weights in units of their features
    w = cp.multiply(unit, v)
    rise = ((X[prefs.better[counted]] - X[prefs.worse[counted]]) * unit) @ v
    kept = [cp.multiply(signs, v) >= 0]
    price = cp.sum_squares(w) / 2 if penalty == "l2" else cp.norm1(w)
    if lam == 0:
        size, objective, kept = 1.0, price, [*kept, rise >= margin]
    else:
        short = cp.Variable(c.size, nonneg=loss == "hinge")
        kept = [*kept, short >= margin - rise]
        squares = cp.sum_squares(cp.multiply(np.sqrt(c), short))
        cost = c @ short if loss == "hinge" else squares
        size = c @ (margin if loss == "hinge" else margin**2)
        objective = (lam * price + cost) / size
    program = cp.Problem(cp.Minimize(objective), kept)
    for tol in (1e-11, 1e-10, 1e-9):  # as tight as Clarabel can
        tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tol)
        with suppress(cp.SolverError):
            program.solve(solver="CLARABEL", max_iter=500, **tight)
            break
    return program.value * size


def drawn(i):
    """Items, preferences and signs: ties, copies of items and features, grids, weights, margins."""
    rng = np.random.default_rng(i)
    n, d = int(rng.integers(4, 26)), int(rng.integers(1, 9))
    X = rng.normal(size=(n, d))
    if i % 5 == 1:
        X = rng.integers(-2, 3, (n, d)).astype(float)
    elif i % 5 == 2:
        X = np.repeat(X, 2, axis=0)[:n]
    elif i % 5 == 3:
        X = X[:, rng.integers(0, d, d)]
    elif i % 5 == 4:
        X = X * 10.0 ** rng.integers(-1, 2, d)
    y = np.r_[0, 1, rng.integers(0, 3, n - 2)]
    prefs = rb.Preferences.from_scores(y, np.r_[0, 0, rng.integers(0, 2, n - 2)] * (i % 3 == 0))
    if i % 7 == 1:
        m = int(rng.integers(3, 40))
        better = rng.integers(0, n, m)
        worse = (better + rng.integers(1, n, m)) % n
        weight = np.r_[1, rng.integers(0, 3, m - 1)]
        prefs = rb.Preferences(better, worse, n, weight=weight, margin=rng.uniform(0.2, 2, m))
    signs = rng.integers(-1, 2, d)
    if i % 11 == 0:  # against what every preference says of its feature
        signs = -np.sign(X.T @ prefs.rmatvec(prefs.weight * prefs.margin)).astype(int)
    return X, prefs, signs if signs.any() else np.ones(d, dtype=int)


def asked(i, penalty, loss):
    """A drawn problem, and what its lambdas are shares of."""
    X, prefs, signs = drawn(i)
    problem = rb.RankSVMProblem(X, prefs, "linear", penalty=penalty, loss=loss, signs=signs)
    return problem, problem.penalty.lam_max(problem) or 1.0


def compare(i, kind, solvers, shares):
    X, prefs, signs = drawn(i)
    problem, top = asked(i, *kind)
    for share in shares:
        best = least(X, prefs, share * top, *kind, signs)
        for name, options in solvers:
            answer = rb.solve(problem, share * top, solver=name, **options)
            proof, said = answer.certificate, (i, kind, share, name)
            assert abs(proof.primal - best) <= TOL * max(1.0, best), said
            assert proof.dual <= best * (1 + TOL) + TOL and proof.relative_gap <= 1e-6, said
            assert (problem.signs * answer.weights >= 0).all(), said
            if problem.lam_max == 0:  # to its tolerance for an interior point
                assert np.abs(answer.weights).max() <= (1e-7 if name == "qp" else 0.0), said


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("i", range(60))
def test_minimum(i):
    kind = KINDS[i % 4]
    compare(i, kind, SOLVERS[kind][:1], [SHARES[i // 4 % 4]])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", range(0, 500, 100))
def test_minimum_of_500(start, kind):
    for i in range(start, start + 100):
        compare(i, kind, SOLVERS[kind], [SHARES[i % 4]])


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_for_any_answer(kind):
    for i in range(8):
        problem, top = asked(i, *kind)
        best = least(*drawn(i)[:2], 0.2 * top, *kind, problem.signs)
        rng = np.random.default_rng(i)
        for _ in range(5):
            w = nearest(problem.signs, rng.normal(size=problem.n_coef) / 3)
            dual = problem.prefs.weight * rng.uniform(size=problem.n_preferences)
            proof = problem.certificate(0.2 * top, w, dual)
            assert proof.dual <= best * (1 + TOL) and best <= proof.primal * (1 + TOL)
            j = np.flatnonzero(problem.signs)[0]
            w[j] = -1e-300 * problem.signs[j]
            assert problem.certificate(0.2 * top, w, dual).primal == np.inf == problem.primal(w, 1)


def test_ball_holds_the_optimum():
    problem, top = asked(9, "l2", "hinge")
    best = rb.solve(problem, 0.1 * top, solver="qp").weights
    for tol in (0.3, 1e-2, 1e-4):
        answer = rb.solve(problem, 0.1 * top, solver="newton", tol=tol)
        assert np.linalg.norm(answer.weights - best) <= answer.certificate.radius + 1e-6
    assert len(rb.suggest_pairs(answer, k=2)) == 2


def test_hard_margin():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 4))
    prefs = rb.Preferences.from_scores(X @ [1.0, 0.2, -0.1, 0])
    for signs in ([1, 0, 1, 0], [0, 0, 1, -1]):
        problem = rb.RankSVMProblem(X, prefs, "linear", signs=signs)
        answer = rb.solve(problem, 0.0)
        best = least(X, prefs, 0.0, "l2", "hinge", signs)
        assert np.isclose(answer.certificate.primal, best, rtol=1e-7)
        assert answer.certificate.is_optimal()
        wrong = problem.certificate(0.0, -answer.weights)
        assert wrong.primal == np.inf
    impossible = rb.RankSVMProblem(X, prefs, "linear", signs=[-1, 0, 0, 0])
    with pytest.raises(ValueError, match="no function satisfies all constraints"):
        rb.solve(impossible, 0.0)


FOLLOWED = [
    ("l2", "hinge", "newton", {}, 1e-3),
    ("l2", "squared", "newton", {}, 1e-3),
    ("l2", "hinge", "epsilon", dict(inner="newton"), 1e-3),
    ("l2", "hinge", "epsilon", dict(inner="qp", eps=1e-4), 1e-4),
    ("l1", "hinge", "simplex", {}, 1e-9),
    ("l1", "squared", "homotopy", {}, 1e-9),
]


@pytest.mark.parametrize("penalty, loss, solver, options, eps", FOLLOWED)
def test_paths(tmp_path, penalty, loss, solver, options, eps):
    for i in (2, 5, 8, 14):
        problem, top = asked(i, penalty, loss)
        path = rb.solve_path(problem, 1e-3 * top, solver=solver, **options)
        path.save(tmp_path / "path.rankbook")
        again = rb.load(tmp_path / "path.rankbook")
        assert (again.problem.signs == problem.signs).all()
        for lam in np.geomspace(3 * top, 1.001e-3 * top, 9):
            w, proof = path.coef(lam), path.certificate(lam)
            best = least(*drawn(i)[:2], lam, penalty, loss, problem.signs)
            assert (problem.signs * w >= 0).all() and (again.coef(lam) == w).all()
            assert proof.relative_gap <= eps and proof.primal <= best + eps * max(1, best) + TOL
        X_new = np.random.default_rng(0).normal(size=(9, problem.n_coef))
        curve = rb.validation_curve(path, X_new, rb.Preferences.from_scores(np.arange(9)))
        lam = rb.choose_lambda(curve)
        assert np.isclose(
            rb.disagreement(np.arange(9), path.predict(X_new, lam)), curve.minimum, atol=1e-12
        )


class Unaware(rb.Solver):
    """A plugin from before there were signs, which takes whatever it is given."""

    name, provides, summary = "unaware", {"solve", "path"}, "Solves without signs."
    losses, penalties = {"hinge", "squared"}, {"l2", "l1"}

    def can_solve(self, problem):
        return True

    def cost(self, problem, lam):
        return 0.0

    def solve(self, problem, lam):
        raise AssertionError("it was given signs")

    path = solve


@pytest.mark.parametrize("kind", KINDS)
def test_solvers_that_know_no_signs_are_refused(kind):
    problem, top = asked(3, *kind)
    for solver in (Unaware, Unaware(), "interior", "path", "subgradient"):
        with pytest.raises(ValueError, match="cannot solve this problem: it takes"):
            rb.solve(problem, 0.1 * top, solver=solver)
    with pytest.raises(ValueError, match="it takes no signs of weights, which rankbook's own"):
        rb.solve_path(problem, 0.1 * top, solver=Unaware)
    epsilon = "it takes no signs of weights" if kind[0] == "l2" else "it takes the"
    with pytest.raises(ValueError, match=epsilon):
        rb.solve_path(problem, 0.1 * top, solver=("epsilon", dict(inner=Unaware())))
    rb.register_solver(Unaware)
    try:
        answer = rb.solve(problem, 0.1 * top, allow_plugins=True)
        path = rb.solve_path(problem, 0.1 * top, allow_plugins=True)
    finally:
        rb.unregister_solver("unaware")
    assert "unaware" not in answer.solver + path.solver


def test_a_wrong_answer_is_noticed():
    class Ignores(rb.Solver):
        name, summary, signs = "ignores", "Declares signs, and ignores them.", True

        def solve(self, problem, lam):
            free = rb.RankSVMProblem(problem.X, problem.prefs, "linear")
            return rb.Solution(problem, lam, weights=rb.solve(free, lam, solver="qp").weights)

    X, prefs, _ = drawn(3)
    free = rb.solve(rb.RankSVMProblem(X, prefs, "linear"), 10.0, solver="qp").weights
    problem = rb.RankSVMProblem(X, prefs, "linear", signs=-np.sign(free))
    with pytest.warns(UserWarning, match="relative gap of inf"):
        answer = rb.solve(problem, 10.0, solver=Ignores)
    assert answer.certificate.box_violation > 0 and not answer.certificate.is_optimal()


# Estimators

NAMES = ["income", "assets", "age", "debt"]
SIGNS = dict(income=1, assets=1, debt=-1)


def applicants(n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    y = np.round(X @ [1.0, -0.4, 0.5, 0.3] + rng.normal(size=n))
    return pd.DataFrame(X, columns=NAMES), y


@pytest.mark.parametrize("penalty, loss", KINDS[:2] + KINDS[3:])
def test_scores_are_monotone(penalty, loss):
    X, y = applicants()
    model = rb.RankSVM(kernel="linear", penalty=penalty, loss=loss, signs=SIGNS).fit(X, y)
    same = rb.RankSVM(kernel="linear", penalty=penalty, loss=loss, signs=[1, 1, 0, -1])
    assert (same.fit(X.to_numpy(), y).coef_ == model.coef_).all()
    assert model.certificate_.relative_gap <= 1e-6 and "signs" in repr(model)
    free = rb.RankSVM(kernel="linear", penalty=penalty, loss=loss, lam=model.lam_).fit(X, y)
    assert free.coef_[1] < 0 < free.coef_[3]  # so that the signs matter
    rng = np.random.default_rng(1)
    for name, sign in SIGNS.items():
        for step in (1e-12, 1.0, 1e6):
            items = pd.DataFrame(rng.normal(size=(50, 4)), columns=NAMES)
            moved = items.assign(**{name: items[name] + step})
            assert (sign * (model.predict(moved) - model.predict(items)) >= 0).all()


def test_a_series_names_features():
    X, y = applicants()
    fitted = lambda signs, items=X: rb.RankSVM(kernel="linear", signs=signs).fit(items, y).coef_
    asked = pd.Series(dict(debt=-1, income=1, assets=1))
    assert (fitted(asked) == fitted(SIGNS)).all()
    assert (fitted(pd.Series([1, 1, 0, -1])) == fitted(SIGNS)).all()  # one that names nothing
    for signs, items, message in (
        (asked, X.to_numpy(), "X has no names"),
        (pd.concat([asked, asked[:1]]), X, "signs has the name 'debt' twice"),
        (
            asked.rename(dict(debt="det")),
            X,
            r"signs names the feature 'det' \(did you mean 'debt'\?\)",
        ),
        ([True, True, False, False], X, "signs holds True and False. Pass -1, 0 or 1"),
        (dict(debt=np.True_), X, r"signs\['debt'\] is np.True_"),
        (dict(debt=np.array([1])), X, r"signs\['debt'\] is array"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted(signs, items)


def test_storages_and_blocks_agree():
    X, y = applicants()
    X, qid, signs = X.to_numpy().astype(np.float32), np.repeat([0, 1, 2], 40), [1, 1, 0, -1]
    model = lambda **more: rb.RankSVM(lam=3.0, kernel="linear", signs=signs, **more)
    whole = model().fit(X.astype(float), y, qid=qid).coef_
    for items in (X, csr_array(X)):
        assert np.allclose(model(solver="newton").fit(items, y, qid=qid).coef_, whole, atol=1e-4)
    parts = [rb.Block(X[qid == q], y[qid == q], qid[qid == q]) for q in range(3)]
    blocks = rb.Blocks(parts)
    fitted = model().fit(blocks)
    assert np.allclose(fitted.coef_, whole, atol=1e-4) and fitted.certificate_.relative_gap <= 1e-6
    lent = rb.RankSVMProblem(
        X, rb.Preferences.from_scores(y, qid), "linear", copy=False, signs=signs
    )
    assert np.isclose(rb.solve(lent, 3.0).certificate.primal, fitted.certificate_.primal, rtol=1e-6)
    assert not rb.BlockRankSVMProblem(blocks, signs=np.zeros(4)).coef_is_weights
    with pytest.raises(ValueError, match="signs is a dict of features by name, but X has no names"):
        rb.RankSVM(kernel="linear", signs=dict(age=1)).fit(blocks)


def test_pipelines_files_and_folds(tmp_path):
    X, y = applicants()
    scaler = StandardScaler().set_output(transform="pandas")
    line = make_pipeline(scaler, rb.RankSVM(kernel="linear", signs=SIGNS)).fit(
        X * [1, 100, 1, 1], y
    )
    plain = rb.RankSVM(kernel="linear", signs=SIGNS).fit((X - X.mean()) / X.std(ddof=0), y)
    assert np.allclose(line[-1].coef_, plain.coef_, rtol=1e-3, atol=1e-6)
    plain.save(tmp_path / "model.rankbook")
    again = rb.load(tmp_path / "model.rankbook")
    assert again.signs == SIGNS and (again.coef_ == plain.coef_).all()
    for loss in ("hinge", "squared"):
        cv = rb.RankSVMCV(kernel="linear", loss=loss, cv=3, signs=SIGNS).fit(X, y)
        assert (np.array([1, 1, 0, -1]) * cv.coef_ >= 0).all() and "newton" in cv.path_solver_
        at = rb.RankSVM(lam=cv.lam_, kernel="linear", loss=loss, signs=SIGNS).fit(X, y)
        assert (at.coef_ == cv.coef_).all()
        best = rb.validation_curve(cv.path_, X.to_numpy(), rb.Preferences.from_scores(y))
        assert 0 < best.minimum < 0.5


def test_preferences_of_a_pair_explain_the_whole_score():
    X, y = applicants(40)
    model = rb.RankSVM(kernel="linear", signs=SIGNS, solver="qp").fit(X, y)
    assert (model.coef_[[0, 2]] != 0).all() and (model.coef_ == 0).any()
    found = rb.explain_pair(model, X.iloc[3], X.iloc[5], by="preferences")
    assert np.isclose(found.contributions.sum(), found.difference, rtol=1e-9)
    left = dict(zip(found.names, found.contributions)).get("what the multipliers leave open", 0)
    assert abs(left) <= 1e-6 * abs(found.difference)


def test_a_tiny_weight_does_not_stop_newton():
    X = [
        [0.2, 0.4, 0.2, 0.3, -0.7, -0.8, -1.3],
        [0.6, 0.5, -0.5, 0.1, -1, 0.6, -0.8],
        [0, 1.1, -0.1, 0.2, 2.5, 2, 0.9],
        [0, 3.1, -0.4, 0.8, 1.4, -0.2, -1.1],
        [-1.1, -0.3, -1.5, 1.3, -1.3, -1.1, 1.7],
    ]
    prefs = rb.Preferences.from_scores([1, 0, 0, 0, 0], [2, 2, 1, 2, 2])
    signs = [1, 1, -1, 1, -1, 0, 1]
    problem = rb.RankSVMProblem(X, prefs, "linear", loss="squared", signs=signs)
    found = rb.solve(problem, 0.03, solver="newton").certificate
    reference = rb.solve(problem, 0.03, solver="qp").certificate
    assert found.is_optimal(1e-9) and np.isclose(found.primal, reference.primal, rtol=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_a_step_of_newton_with_signs_is_the_best_over_all_faces(seed):
    rng, d = np.random.default_rng(seed), 4
    A, gradient, signs = rng.normal(size=(d, d)), rng.normal(size=d), rng.integers(-1, 2, d)
    H, w = A @ A.T + np.eye(d) / 10, nearest(signs, rng.integers(-1, 2, d) * rng.random(d))

    def solve(free, r):
        x = np.zeros(d)
        x[free] = np.linalg.solve(H[np.ix_(free, free)], -r[free])
        return x

    best = np.inf
    for face in np.ndindex((2,) * d):
        free = np.array(face, bool) | (signs == 0)
        p = np.where(free, 0.0, -w)
        p += solve(free, gradient + H @ p)
        if (signs * (w + p) >= -1e-12).all():
            best = min(best, gradient @ p + p @ H @ p / 2)
    p = signed_step(SimpleNamespace(signs=signs), gradient, w, H.__matmul__, solve)
    assert (signs * (w + p) >= 0).all()
    assert gradient @ p + p @ H @ p / 2 == pytest.approx(best, rel=1e-9, abs=1e-12)


def test_only_the_weight_that_reaches_0_first_stays_there():
    """From (1, 1) to the minimum at (-2, -0.1); at the weights (0, 0.9) the rest has slope 0."""
    H, w, best = np.array([[1.0, -0.5], [-0.5, 1.0]]), np.ones(2), np.array([-2.0, -0.1])

    def solve(free, r):
        x = np.zeros(2)
        x[free] = np.linalg.solve(H[np.ix_(free, free)], -r[free])
        return x

    free = np.ones(2, bool)
    change = face_step(np.ones(2), w, H @ (w - best), H.__matmul__, solve, free)
    assert w[0] + change[0] == 0 and w[1] + change[1] == pytest.approx(0.9)


@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic"])
def test_newton_with_signs_reaches_its_tolerance_at_any_scale(loss, amount):
    for seed in range(amount(40, 1000)):
        rng = np.random.default_rng([6, seed])
        n, d = int(rng.integers(3, 9)), int(rng.integers(1, 9))
        X = rng.normal(size=(n, d)).round(1) * (1.0, 1e4, 1e-4)[seed % 3] + 1e3 * (seed % 4 == 0)
        y = rng.integers(0, 3, n)
        y[0] = y[1] + 1
        prefs, signs = rb.Preferences.from_scores(y), rng.integers(-1, 2, d)
        problem = rb.RankSVMProblem(X, prefs, "linear", loss=loss, signs=signs)
        found = rb.solve(problem, 10.0 ** rng.uniform(-3, 1), solver="newton").certificate
        assert found.relative_gap <= 1e-6, (seed, found)
