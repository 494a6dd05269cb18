"""The solver of kernels by ascent of the dual over groups of compared items."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rankbook as rb
from rankbook.kernels import Kernel
from rankbook.problems.ranksvm import RankSVMProblem
from rankbook.solvers.ascent import solver, steps

KERNELS = {
    "rbf": dict(kernel="rbf"),
    "wide": dict(kernel="rbf", gamma=1e-3),
    "narrow": dict(kernel="rbf", gamma=30.0),
    "poly": dict(kernel=Kernel("poly", degree=2)),
    "cubic": dict(kernel=Kernel("poly", degree=3, coef0=10.0)),
    "precomputed": dict(kernel="precomputed"),
    "callable": dict(kernel=lambda X, Z: np.exp(-np.abs(X[:, None] - Z).sum(axis=2))),
}


def random_target(rng, n):
    """Preferences of a random kind."""
    y, sizes = rng.integers(0, 5, n), []
    while sum(sizes) < n:
        sizes.append(int(rng.choice([1, 2, 3, 10, 40])))
    qid = rng.permutation(np.repeat(np.arange(len(sizes)), sizes)[:n])
    kind = rng.integers(8)
    prefs = rb.Preferences.from_scores(y, None if kind == 0 else qid)
    if kind == 2:
        return prefs.item_weighted(rng.choice([0.0, 1.0, 3.0], n) * rng.random(n))
    if kind == 3:
        return prefs.query_weighted("equal")
    if kind == 4:
        pairs = [(k, l) for k, l in ((4, 0), (1, 0)) if {k, l} <= set(y.tolist())]
        weights = dict(zip(pairs, (9.0, 0.0)))
        return rb.Preferences.from_scores(y, qid, level_weight=weights or None)
    if kind == 5:
        return rb.Preferences.from_scores(rng.normal(size=n), qid, margin="difference")
    if kind == 6:
        return rb.Preferences.from_survival(rng.random(n) + 1, rng.random(n) < 0.6)
    if kind == 7:
        m = 3 * n
        better = rng.integers(0, n, m)
        worse = (better + rng.integers(1, n, m)) % n
        weight = rng.choice([0.0, 1e-3, 1.0, 10.0], m)
        return rb.Preferences(better, worse, n, weight, rng.normal(size=m))
    return prefs


def random_problem(seed):
    """A ranking SVM of any kind, and a lambda."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 90)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) * rng.choice([0.3, 1.0, 3.0])
    if rng.random() < 0.3 and np.round(X).any():
        X = np.round(X)  # identical items
    name = rng.choice(list(KERNELS))
    options = KERNELS[name] | dict(loss=str(rng.choice(["hinge", "squared"])))
    if name == "precomputed":
        X = np.exp(-np.square(X[:, None] - X).sum(axis=2)) + rng.choice([0.0, 100.0])
    while True:
        prefs = random_target(rng, n)
        if len(prefs) and prefs.weight.any():
            break
    problem = RankSVMProblem(X, prefs, **options)
    return problem, problem.hinge_lam_max * 10.0 ** rng.uniform(-2.5, 0.5) or 1.0


def check(seed):
    problem, lam = random_problem(seed)
    found = rb.solve(problem, lam, "ascent").certificate
    other = rb.solve(problem, lam, "interior").certificate
    size = max(1.0, other.primal)
    assert found.relative_gap <= 1e-6, problem
    assert found.dual <= other.primal + 1e-9 * size and other.dual <= found.primal + 1e-9 * size
    assert found.primal - other.primal <= 2e-6 * size


@pytest.mark.parametrize("seed", range(40))
def test_random_problems_have_the_optimum_of_interior(seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40, 1040))
def test_a_thousand_problems_have_the_optimum_of_interior(seed):
    check(seed)


@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_a_program_that_shares_nothing(seed):
    rng = np.random.default_rng(seed)
    X, y, qid = rng.normal(size=(40, 3)), rng.integers(0, 4, 40), np.arange(40) // 8
    prefs = rb.Preferences.from_scores(y, qid)
    prefs = prefs.reweighted(rng.random(len(prefs)), rng.normal(1, 1, len(prefs)))
    problem = RankSVMProblem(X, prefs, loss=["hinge", "squared"][seed % 2])
    found, other = (rb.solve(problem, 0.3, name).certificate for name in ("ascent", "qp"))
    assert found.primal == pytest.approx(other.primal, rel=2e-6)


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 5, 200)
    return X, y, np.arange(200) // 20


@pytest.mark.parametrize("kept", [0, 3000, 12_000])
@pytest.mark.parametrize("name", ["rbf", "poly", "precomputed"])
def test_tiles_that_are_not_kept_change_nothing(sample, monkeypatch, kept, name):
    X, y, qid = sample
    shuffled = np.random.default_rng(1).permutation(200)
    X, y, qid = X[shuffled], y[shuffled], qid[shuffled]
    X = Kernel("rbf").gram(X) if name == "precomputed" else X
    problem = RankSVMProblem(X, rb.Preferences.from_scores(y, qid), **KERNELS[name])
    whole = rb.solve(problem, 1.0, "ascent").certificate
    monkeypatch.setattr(steps, "KEPT", kept)
    monkeypatch.setattr(steps, "TILE", 50)
    monkeypatch.setattr(steps, "WIDE", 30)
    monkeypatch.setattr(steps, "ROOM", 5000)  # some columns are computed a second time
    part = rb.solve(problem, 1.0, "ascent").certificate
    assert part.relative_gap <= 1e-6 and part.primal == pytest.approx(whole.primal, rel=2e-6)


@pytest.mark.parametrize("kept", [0, 3000, 1 << 20])
def test_scores_follow_the_net_sums(sample, monkeypatch, kept):
    """Also those of queries that do not move, whose preferences hold at a score of 0."""
    X, y, _ = sample
    monkeypatch.setattr(steps, "KEPT", kept)
    monkeypatch.setattr(steps, "TILE", 20)
    monkeypatch.setattr(steps, "ROOM", 5000)
    graded = rb.Preferences.from_scores(y, np.arange(200) // 10)
    margin = np.where(graded.better % 40 < 20, -1e3, 1.0)
    prefs = rb.Preferences(graded.better, graded.worse, 200, margin=margin)
    problem = RankSVMProblem(X, prefs, kernel=Kernel("poly", degree=2))
    groups = steps.Groups(prefs)
    ascent = steps.GroupAscent(problem, groups, steps.GroupTiles(problem, groups))
    ascent.start(1.0)
    s = ascent.state
    for _ in range(5):
        ascent.sweep()
        [exact] = ascent.exact_scores(s.net)
        error = (s.scores - exact)[np.argsort(groups.order)].reshape(20, 10)
        assert np.ptp(error, axis=1).max() <= 1e-4 * np.abs(exact).max()
    moved = s.net[np.argsort(groups.order)].reshape(10, 20).any(axis=1)
    assert moved.tolist() == [False, True] * 5


def test_the_certificate_of_many_items_takes_one_product(sample, monkeypatch):
    X, y, qid = sample
    problem = RankSVMProblem(X, rb.Preferences.from_scores(y, qid))
    found = rb.solve(problem, 1.0, "ascent")
    whole = problem.certificate(1.0, found.coef, found.dual)
    monkeypatch.setattr(RankSVMProblem, "WHOLE", 100)
    again, products = RankSVMProblem(X, problem.prefs), []
    product = steps.KernelTiles.product
    monkeypatch.setattr(
        steps.KernelTiles, "product", lambda *args: products.append(1) or product(*args)
    )
    tiled = again.certificate(1.0, found.coef, found.dual)
    assert len(products) == 1 and "gram" not in vars(again)
    for name in ("primal", "dual", "norm", "rounding"):
        assert getattr(tiled, name) == pytest.approx(getattr(whole, name), rel=1e-9)


def test_a_start_at_another_lambda_saves_sweeps(sample):
    X, y, qid = sample
    problem = RankSVMProblem(X, rb.Preferences.from_scores(y, qid))
    first = rb.solve(problem, 1.0, "ascent", tol=1e-4)
    cold, warm = (
        rb.solve(problem, 0.9, "ascent", tol=1e-4, **options)
        for options in (dict(), dict(start=first))
    )
    assert warm.info["sweeps"] < cold.info["sweeps"]
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2e-4)
    prepared = rb.get_solver("ascent", tol=1e-4, start=first).prepare(problem)
    again = rb.solve(problem, 0.9, prepared)
    assert np.array_equal(again.coef, warm.coef)


def test_a_start_without_multipliers_is_refused(sample):
    X, y, qid = sample
    problem = RankSVMProblem(X, rb.Preferences.from_scores(y, qid))
    start = rb.solve(problem, 1.0, "tiled")
    with pytest.raises(
        (ValueError, TypeError), match="start has .*Pass a Solution with multipliers"
    ):
        rb.solve(problem, 0.9, "ascent", start=start)


def test_many_compared_items_are_left_to_other_solvers(sample, monkeypatch):
    X, y, qid = sample
    monkeypatch.setattr(solver, "LARGEST", 19)
    problem = RankSVMProblem(X, rb.Preferences.from_scores(y, qid))
    said = rb.get_solver("ascent").can_solve(problem)
    assert said.startswith("it takes at most 19 items that are compared with each other, not 20")
    assert not problem.prefs.is_listed
    assert rb.solve(problem, 1.0).certificate.is_optimal()


def test_a_gap_that_cannot_be_reached_is_stated(sample):
    X, y, qid = sample
    problem = RankSVMProblem(X, rb.Preferences.from_scores(y, qid), Kernel("poly", degree=2))
    with pytest.warns(ConvergenceWarning, match="max_sweeps"):
        found = rb.solve(problem, 1e-6, "ascent", max_sweeps=20)
    assert found.info["sweeps"] <= 20 and np.isfinite(found.certificate.primal)


@pytest.mark.parametrize("lam", [1e-12, 1e12])
def test_extreme_lambdas_give_finite_bounds(sample, lam):
    X, y, qid = sample
    problem = RankSVMProblem(X, rb.Preferences.from_scores(y, qid))
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = rb.solve(problem, lam, "ascent", max_sweeps=50).certificate
    assert found.dual <= found.primal < np.inf


def test_items_without_preferences_have_no_coefficients(sample):
    X, y, qid = sample
    qid[:7] = np.arange(100, 107)
    problem = RankSVMProblem(X, rb.Preferences.from_scores(y, qid))
    found = rb.solve(problem, 1.0, "ascent")
    assert not found.coef[:7].any() and found.certificate.is_optimal()


@pytest.mark.parametrize("scale", [1e45, 1e-45])
def test_kernels_beyond_single_precision_are_left_to_others(scale):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    K = scale * np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    prefs = rb.Preferences.from_scores(y, np.arange(60) // 10)
    problem = rb.RankSVMProblem(K, prefs, kernel="precomputed")
    with pytest.raises(ValueError, match="tiles are in single precision, and the largest kernel"):
        rb.solve(problem, 1.0, solver="ascent")
    path = rb.solve_path(problem, solver=("epsilon", {"eps": 1e-2}), lam_min=problem.lam_max / 10)
    assert path.info["inner"].startswith("interior")
