"""What the lecture on learning by constraints claims, on random data.

Also what the guide on predicting matches says of its games.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import rankbook as rb
from rankbook.problems.svm import MulticlassSVMProblem

NOTEBOOKS = Path(__file__).resolve().parents[2] / "nbs"


def defined_in(name, folder, *needed):
    """The names that a notebook defines.

    Those of its code cells that contain one of the given strings are run, in a folder.
    """
    document = json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))
    sources = ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]
    names, before = {}, os.getcwd()
    os.chdir(folder)
    try:
        for text in needed:
            found = [source for source in sources if text in source]
            assert len(found) == 1, f"{len(found)} cells of {name} contain {text!r}"
            exec(
                compile(
                    "\n".join(line for line in found[0].splitlines() if not line.startswith("%")),
                    name,
                    "exec",
                ),
                names,
            )
    finally:
        os.chdir(before)
    return names


@pytest.fixture(scope="module")
def lecture(tmp_path_factory):
    """The three programs of the lecture, as its chapter has them."""
    return defined_in(
        "papers/bagnell.ipynb",
        tmp_path_factory.mktemp("lecture"),
        "import cvxpy",
        "def descend(",
        "def descend_labels(",
        "def descend_classes(",
    )


def noisy(seed, n=12, d=3, m=40):
    """Random preferences, most of them consistent, with tied items.

    Some are repeated or contradictory.
    """
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1)
    X[1] = X[0]
    a = rng.integers(0, n, m)
    b = (a + rng.integers(1, n, m)) % n
    swap = (X[a] - X[b]) @ np.arange(1, d + 1) + rng.normal(size=m) < 0
    return rb.RankSVMProblem(
        X, rb.Preferences(np.where(swap, b, a), np.where(swap, a, b), n), kernel="linear"
    )


def lengths(problem):
    """Delta f, the worse minus the better item."""
    return problem.X[problem.prefs.worse] - problem.X[problem.prefs.better]


# Sections 1.1 to 1.3: margins, slacks, hinges


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("lam", [0.05, 1.0, 20.0])
def test_the_slack_of_the_quadratic_program_is_the_hinge(seed, lam):
    import cvxpy as cp

    problem = noisy(seed)
    D = lengths(problem)
    w, xi = cp.Variable(D.shape[1]), cp.Variable(len(D))
    program = cp.Problem(
        cp.Minimize(lam / 2 * cp.sum_squares(w) + cp.sum(xi)), [xi >= 0, D @ w <= -1 + xi]
    )
    program.solve(solver="CLARABEL")
    assert np.allclose(xi.value, np.maximum(0, D @ w.value + 1), atol=1e-5)
    assert rb.solve(problem, lam, solver="qp").certificate.primal == pytest.approx(
        program.value, rel=1e-6
    )


@pytest.mark.parametrize("seed", range(4))
def test_smaller_lambdas_mean_longer_weights_and_less_slack(seed):
    problem = noisy(seed)
    D, found = lengths(problem), []
    for lam in np.geomspace(problem.lam_max * 2, problem.lam_max / 1000, 25):
        w = problem.X.T @ rb.solve(problem, lam, solver="qp").coef
        found.append((np.linalg.norm(w), np.maximum(0, D @ w + 1).sum()))
    length, slack = np.array(found).T
    assert (
        (np.diff(length) > -1e-5).all()
        and (np.diff(slack) < 1e-5).all()
        and slack[-1] < slack[0] - 1
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_soft_margin_is_the_hard_one_up_to_a_lambda_that_the_multipliers_name(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 3))
    order = np.argsort(X @ [1.0, -1.0, 0.5])
    problem = rb.RankSVMProblem(X, rb.Preferences(order[1:], order[:-1], 8), kernel="linear")
    hard = rb.solve(problem, 0, solver="qp")
    threshold = 1 / hard.dual.max()
    w = {
        share: X.T
        @ (hard if share == 0 else rb.solve(problem, share * threshold, solver="qp")).coef
        for share in (0, 0.5, 0.95, 1.5)
    }
    size = np.linalg.norm(w[0])
    assert (
        np.linalg.norm(w[0.5] - w[0]) < 1e-4 * size and np.linalg.norm(w[0.95] - w[0]) < 1e-4 * size
    )
    assert np.linalg.norm(w[1.5]) < size * (1 - 1e-4)


def test_a_circle_forces_equal_scores():
    circle = rb.Preferences([0, 1, 2], [1, 2, 0], 3)
    problem = rb.RankSVMProblem(np.eye(3), circle, kernel="linear")
    for lam in (0.01, 1.0):
        found = rb.solve(problem, lam, solver="qp")
        assert np.ptp(found.coef) < 1e-6 and found.certificate.primal == pytest.approx(3)


# Sections 1.4 and 2: the programs against the solvers, in the long run


@pytest.mark.parametrize("seed", range(3))
def test_the_program_reaches_the_optimum(lecture, seed):
    problem = noisy(seed)
    X, prefs, T, lam = problem.X, problem.prefs, len(problem.prefs), 2.0
    rng, R2 = np.random.default_rng(seed), np.mean(np.sum(lengths(problem) ** 2, axis=1))
    trail = lecture["descend"](
        X[prefs.worse],
        X[prefs.better],
        lam,
        T,
        lambda t: 1 / (lam / T * t + R2),
        rng.integers(0, T, 100_000),
    )
    w = trail[50_000:].mean(axis=0)
    F = lam / 2 * w @ w + np.maximum(0, 1 + lengths(problem) @ w).sum()
    exact = rb.solve(problem, lam, solver="qp")
    steps = rb.solve(
        problem, lam, solver="subgradient", tol=None, max_passes=100_000 / T, seed=seed
    )
    assert -1e-7 < F / exact.certificate.primal - 1 < 1e-3
    assert -1e-7 < steps.certificate.primal / exact.certificate.primal - 1 < 1e-3
    assert np.linalg.norm(w - X.T @ steps.coef) < 0.05 * np.linalg.norm(w)


def test_two_steps_by_hand(lecture):
    f_i, f_j = np.array([[0.0], [0.0]]), np.array([[2.0], [0.25]])  # Delta f = -2, -1/4
    trail = lecture["descend"](f_i, f_j, 1.0, 2, lambda t: 1 / t, [0, 0, 1])
    assert np.allclose(trail[:, 0], [2, 2 - 0.5 * 0.5 * 2, 1.5 - (0.5 * 1.5 - 0.25) / 3])


def test_the_program_stays_put_on_the_margin(lecture):
    """At the kink the lecture takes the slope 0: w only shrinks."""
    trail = lecture["descend"](
        np.zeros((1, 1)), np.ones((1, 1)), 0.5, 1, lambda t: 1.0 if t == 1 else 0.5, [0, 0]
    )
    assert np.allclose(trail[:, 0], [1, 1 - 0.5 * 0.5])


@pytest.mark.parametrize("seed", range(2))
def test_the_program_for_labels_reaches_the_optimum(lecture, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(60) < 0.4, 1, -1)
    Z = np.c_[rng.normal(size=(60, 2)) + y[:, None], np.ones(60)]
    problem, lam = rb.SVMProblem(Z, y), 3.0
    w = lecture["descend_labels"](
        Z, y, lam, 60, lambda t: 1 / (lam / 60 * t + 4), rng.integers(0, 60, 60_000)
    )[30_000:].mean(axis=0)
    F = lam / 2 * w @ w + np.maximum(0, 1 - y * (Z @ w)).sum()
    assert -1e-7 < F / rb.solve(problem, lam, solver="qp").certificate.primal - 1 < 1e-3


@pytest.mark.parametrize("K", [2, 3, 4])
def test_the_program_for_classes_nears_the_optimum_and_sums_to_zero(lecture, K):
    rng = np.random.default_rng(K)
    label = np.arange(15 * K) % K
    F = np.c_[
        2 * np.c_[np.cos(label * 2 * np.pi / K), np.sin(label * 2 * np.pi / K)]
        + rng.normal(size=(15 * K, 2)),
        np.ones(15 * K),
    ]
    T, lam = len(F) * (K - 1), 2.0
    W = lecture["descend_classes"](
        F, label, lam, T, lambda t: 1 / (lam / T * t + 8), rng.integers(0, T, 60_000), K
    )
    scores = F @ W.T
    short = np.maximum(0, 1 + scores - scores[np.arange(len(F)), label][:, None])
    short[np.arange(len(F)), label] = 0
    best = rb.solve(MulticlassSVMProblem(F, label), lam, solver="qp").certificate.primal
    assert np.abs(W.sum(axis=0)).max() < 1e-9
    assert -1e-7 < (lam / 2 * np.sum(W**2) + short.sum()) / best - 1 < 0.05


# Football


@pytest.fixture(scope="module")
def football(data_dir, tmp_path_factory):
    """What the guide defines before it predicts, with the real games."""
    return defined_in(
        "guides/predict_matches.ipynb",
        tmp_path_factory.mktemp("football"),
        "def read_season(",
        "FOLDER = os",
        "def points(",
        "def preferences(",
        "curve = rb.validation_curve",
        "def learn(",
        "w_bt = fit(",
    )


def test_the_games_are_those_of_the_league(football):
    for games, counts in ((football["then"], (173, 99, 108)), (football["now"], (181, 71, 128))):
        assert (
            (games.goals > 0).sum(),
            (games.goals == 0).sum(),
            (games.goals < 0).sum(),
        ) == counts
        assert games.date.is_monotonic_increasing and not games.isna().any().any()
        assert (
            len(set(zip(games.home, games.away))) == 380
            and games.home.nunique() == games.away.nunique() == 20
        )
        assert (games.home.value_counts() == 19).all() and (games.away.value_counts() == 19).all()
    assert (football["down"], football["up"]) == (
        ["Stoke City", "Swansea City", "West Bromwich Albion"],
        ["Cardiff City", "Fulham", "Wolverhampton Wanderers"],
    )


def test_the_points_are_those_of_the_final_tables(football):
    then, now = (
        dict(zip(football["teams"], np.round(38 * football["points"](football[season]))))
        for season in ("then", "now")
    )
    assert then["Manchester City"] == 100 and then["Manchester United"] == 81
    assert then["West Bromwich Albion"] == 31 and then["Fulham"] == 0
    assert now["Manchester City"] == 98 and now["Liverpool"] == 97
    assert now["Huddersfield Town"] == 16


def test_winners_are_foretold_better_than_by_chance_and_than_by_the_home_team(football):
    X, K, before, after = (football[name] for name in ("X", "K", "before", "after"))
    lam = football["per_game"] * len(before)
    exact = rb.solve(rb.RankSVMProblem(X, before, kernel="linear"), lam, solver="qp")
    weights = dict(
        exact=X.T @ exact.coef, online=football["online"].coef_, logistic=football["w_bt"]
    )
    at_home = 1 - rb.disagreement(after, X[:, -1])
    assert at_home == pytest.approx(181 / 309)
    for name, w in weights.items():
        share = 1 - rb.disagreement(after, X @ w)
        assert share > 0.5 + 3 * np.sqrt(0.25 / 309) and share > at_home + 0.05, name
    assert X.shape == (2 * K, K + 1)


def test_shuffled_results_teach_nothing(football):
    """The same machinery on games whose winners are drawn by lot is right by chance only."""
    X, before, after = (football[name] for name in ("X", "before", "after"))
    shares = []
    for seed in range(20):
        swap = np.random.default_rng(seed).random(len(before)) < 0.5
        prefs = rb.Preferences(
            np.where(swap, before.worse, before.better),
            np.where(swap, before.better, before.worse),
            before.n_items,
        )
        learner = rb.OnlineRankSVM(lam=football["per_game"], random_state=seed)
        learner.partial_fit_pairs(X[prefs.better], X[prefs.worse])
        shares.append(1 - rb.disagreement(after, X @ learner.coef_))
    assert abs(np.mean(shares) - 0.5) < 4 * np.std(shares) / np.sqrt(20) and np.mean(shares) < 0.6


def test_the_model_of_the_guide_is_that_of_scikit_learn(football):
    """Each game enters twice, from both sides, with half the weight; lambda is 1 / C."""
    from sklearn.linear_model import LogisticRegression

    X, before = football["X"], football["before"]
    d = X[before.better] - X[before.worse]
    model = LogisticRegression(C=0.25, fit_intercept=False, tol=1e-10, max_iter=10_000)
    model.fit(np.r_[d, -d], np.repeat([1, 0], len(d)))
    ours = football["fit"](before, 2.0, loss="logistic")
    assert np.allclose(ours, model.coef_[0], atol=1e-4)


def test_without_the_data_the_guide_has_the_matches_that_come_with_the_package(
    monkeypatch, tmp_path
):
    monkeypatch.delenv("RANKBOOK_DATA", raising=False)
    needed = "def read_season(", "FOLDER = os", "def preferences("
    names = defined_in("guides/predict_matches.ipynb", tmp_path, *needed)
    assert not names["REAL"] and len(names["teams"]) == 8 and len(names["then"]) == 56
    assert len(names["before"]) == (names["then"].goals != 0).sum() > 30
