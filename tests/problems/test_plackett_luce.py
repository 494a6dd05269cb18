"""Plackett-Luce and Cox: beside other packages, on degenerate data, and in scikit-learn."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook.problems.plackett_luce import ChoiceSums, PlackettLuce
from rankbook.selection.curve import mean_log_loss
from rankbook.selection.folds import pair_folds

EXACTLY = ("newton", dict(tol=1e-22))  # below rounding: as near as it comes
pytestmark = pytest.mark.filterwarnings("ignore:the solver 'newton:UserWarning")


def fitted(X, target, lam, **options):
    """A linear model at its optimum, as far as rounding allows."""
    options = dict(kernel="linear", loss="plackett-luce", solver=EXACTLY) | options
    return rb.RankSVM(lam=lam, **options).fit(X, target)


def patients(seed=0, n=60, d=3, times=20):
    """Features, and times with ties, of which about a third is censored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    time = rng.integers(1, times, n).astype(float)
    return X, time, rng.random(n) < 0.65


def survival_data(name):
    """Standardised features, times and events of a public data set."""
    if name == "rossi":
        from lifelines.datasets import load_rossi

        frame = load_rossi()
        X, time, event = frame.drop(columns=["week", "arrest"]), frame.week, frame.arrest
    else:
        from sksurv import datasets
        from sksurv.preprocessing import OneHotEncoder

        X, y = getattr(datasets, f"load_{name}")()
        X = X.select_dtypes("number") if name == "whas500" else OneHotEncoder().fit_transform(X)
        event, time = (np.array(y[field]) for field in y.dtype.names)
    X = X.to_numpy(dtype=float)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return X, np.asarray(time, dtype=float), np.asarray(event, dtype=bool)


DATA = ("gbsg2", "rossi", "whas500", "veterans_lung_cancer")


@pytest.mark.peer("lifelines", "sksurv")
@pytest.mark.slow
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_coefficients_and_curves_are_those_of_scikit_survival(name, ties):
    """Its alpha is our lambda."""
    from sksurv import linear_model

    X, time, event = survival_data(name)
    y = np.rec.fromarrays([event, time], names="event,time")
    orders = rb.Orders.from_survival(time, event, ties=ties)
    for alpha in (0.01, 1.0, 100.0):
        theirs = linear_model.CoxPHSurvivalAnalysis(alpha, ties=ties, n_iter=1000, tol=1e-16)
        theirs.fit(X, y)
        ours = fitted(X, orders, alpha)
        assert np.abs(ours.coef_ + theirs.coef_).max() < 1e-8
        assert ours.certificate_.relative_gap < 1e-8
        hazard = rb.BaselineHazard(orders, ours.predict(X))
        times, score = theirs.unique_times_, ours.predict(X[:20])
        curves = theirs.predict_survival_function(X[:20], return_array=True)
        assert np.abs(hazard.survival(score, times) - curves).max() < 1e-8
        # theirs is of the mean patient as well, since X is centred
        base = theirs.cum_baseline_hazard_(times)
        assert np.allclose(hazard.cumulative_hazard([0.0], times)[0], base, rtol=1e-8)


@pytest.mark.peer("lifelines", "sksurv")
@pytest.mark.slow
@pytest.mark.parametrize("name", DATA)
@pytest.mark.filterwarnings("ignore:Starting with pandas version 4.0:DeprecationWarning:lifelines")
def test_coefficients_and_curves_are_those_of_lifelines(name):
    """Its penalizer, of features in units of their deviation, is lambda for each patient."""
    import lifelines
    import pandas

    X, time, event = survival_data(name)
    names = [f"x{j}" for j in range(X.shape[1])]
    frame = pandas.DataFrame(X, columns=names).assign(time=time, event=event)
    orders = rb.Orders.from_survival(time, event, ties="efron")
    for penalizer in (0.01, 1.0):
        theirs = lifelines.CoxPHFitter(penalizer=penalizer)
        theirs.fit(frame, "time", "event", fit_options=dict(precision=1e-14))
        ours = fitted(X, orders, penalizer * len(X))
        assert np.abs(ours.coef_ + theirs.params_.to_numpy()).max() < 1e-8
        hazard = rb.BaselineHazard(orders, ours.predict(X))
        curves = theirs.predict_survival_function(frame[:20])
        found = hazard.survival(ours.predict(X[:20]), curves.index.to_numpy())
        assert np.abs(found - curves.to_numpy().T).max() < 1e-8


@pytest.mark.peer("choix")
@pytest.mark.parametrize("top", [False, True])
def test_strengths_are_those_of_choix(top):
    """With a feature for each item; its alpha is half of lambda."""
    import choix

    rng = np.random.default_rng(0)
    if top:
        chosen = [rng.permutation(6).tolist() for _ in range(50)]
        data = [(order[0], order[1:]) for order in chosen]
        orders, theirs = rb.Orders.from_rankings(chosen, top=1), choix.opt_top1
    else:
        data = [rng.permutation(6)[: rng.integers(2, 7)].tolist() for _ in range(50)]
        orders, theirs = rb.Orders.from_rankings(data, n_items=6), choix.opt_rankings
    for alpha in (0.01, 1.0):
        known = theirs(6, data, alpha=alpha, method="Newton-CG", tol=1e-14)
        ours = fitted(np.eye(6), orders, 2 * alpha).predict(np.eye(6))
        assert np.abs(ours - ours.mean() - (known - known.mean())).max() < 1e-8


@pytest.mark.peer("choix")
def test_without_a_penalty_strengths_are_those_of_spectral_ranking():
    """Iterated Luce spectral ranking finds the maximum of the likelihood; lambda near 0 does."""
    import choix

    rng = np.random.default_rng(1)
    data = [rng.permutation(5).tolist() for _ in range(80)]
    known = choix.ilsr_rankings(5, data, tol=1e-12, max_iter=1000)
    ours = fitted(np.eye(5), rb.Orders.from_rankings(data), 1e-9).predict(np.eye(5))
    assert np.abs(ours - ours.mean() - (known - known.mean())).max() < 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_pairs_are_orders_of_two(seed):
    """Then the loss is the logistic one."""
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.permutation(8)[:2] for _ in range(30)])
    X, weight = rng.normal(size=(8, 3)), rng.random(30)
    one = fitted(X, rb.Orders.from_rankings(pairs, n_items=8, weight=weight), 0.3)
    prefs = rb.Preferences(*pairs.T, n_items=8, weight=weight)
    other = rb.RankSVM(0.3, "linear", loss="logistic", solver=EXACTLY).fit(X, prefs)
    assert np.abs(one.coef_ - other.coef_).max() < 1e-10


@pytest.mark.parametrize("seed", range(5))
def test_the_minimum_is_that_of_a_general_solver(seed):
    """Written with cvxpy by choices and sets at risk, with weights and Breslow's ties."""
    import cvxpy as cp

    X, time, event = patients(seed, n=15, times=6)
    weight = np.random.default_rng(seed).integers(1, 4, 15)
    w = cp.Variable(3)
    cost, eta = 0.1 * cp.sum_squares(w), -X @ w
    for i in np.flatnonzero(event):
        there = np.flatnonzero(time >= time[i])
        cost += weight[i] * (cp.log_sum_exp(eta[there] + np.log(weight[there])) - eta[i])
        cost -= weight[i] * np.log(weight[i])
    value = cp.Problem(cp.Minimize(cost)).solve(solver="CLARABEL")
    proof = fitted(X, rb.Orders.from_survival(time, event, weight=weight), 0.2).certificate_
    assert np.isclose(proof.primal, value, rtol=1e-6) and proof.relative_gap < 1e-10
    assert proof.dual <= value * (1 + 1e-6)


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_a_lower_bound_is_below_the_objective_everywhere(ties):
    """At any weights, and close to the minimum the two meet."""
    X, time, event = patients()
    orders = rb.Orders.from_survival(time, event, ties=ties)
    problem = rb.RankSVMProblem(X, orders, kernel="linear", loss="plackett-luce")
    best = rb.solve(problem, 0.5, EXACTLY)
    rng = np.random.default_rng(0)
    for scale in 10.0 ** np.arange(-6, 4):
        w = best.weights + scale * rng.normal(size=3)
        proof = problem.certificate(0.5, weights=w)
        assert proof.dual <= best.certificate.primal <= proof.primal
        assert np.linalg.norm(w - best.weights) <= proof.radius * (1 + 1e-9)


def test_a_weight_is_a_number_of_copies():
    """Of patients, and of orders."""
    X, time, event = patients()
    weight = np.random.default_rng(0).integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weight)
    one = fitted(X, rb.Orders.from_survival(time, event, weight=weight), 1.0)
    copies = fitted(X[rows], rb.Orders.from_survival(time, event)[rows], 1.0)
    # copies lose the constant sum of w log w
    assert np.abs(one.coef_ - copies.coef_).max() < 1e-10
    ranked = [[0, 1, 2], [3, 1], [2, 3, 0]]
    two = fitted(X[:4], rb.Orders.from_rankings(ranked, weight=[2, 0, 1]), 1.0)
    three = fitted(X[:4], rb.Orders.from_rankings([ranked[0]] * 2 + [ranked[2]], n_items=4), 1.0)
    assert np.abs(two.coef_ - three.coef_).max() < 1e-10


def test_targets_of_all_kinds_reach_the_same_model():
    """Structured arrays, preferences and orders of survival times; grades with query ids."""
    X, time, event = patients()
    qid = np.arange(60) % 2
    y = np.rec.fromarrays([event, time], names="event,time")
    prefs = rb.Preferences.from_survival(time, event, qid)
    orders = rb.Orders.from_survival(time, event, qid)
    models = [fitted(X, prefs, 1.0), fitted(X, orders, 1.0)]
    models.append(rb.RankSVM(1.0, "linear", loss="plackett-luce", solver=EXACTLY).fit(X, y, qid))
    for model in models:
        assert np.array_equal(model.coef_, models[0].coef_) and model.by_query_
        assert model.score(X, orders) == pytest.approx(
            rb.metrics.concordance(prefs, model.predict(X))
        )
    grades = np.round(time / 5)
    one = rb.RankSVM(1.0, "linear", loss="plackett-luce").fit(X, grades, qid)
    known = rb.Orders.from_preferences(rb.Preferences.from_scores(grades, qid))
    assert np.array_equal(
        one.coef_, rb.RankSVM(1.0, "linear", loss="plackett-luce").fit(X, known).coef_
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_grades_of_the_first_places_are_first_places(kernel):
    """Grades 3, 2 and 1 for three items say the same as orders whose other items are unchosen."""
    rng = np.random.default_rng(0)
    queries, m, w = 200 if kernel == "linear" else 20, 20, np.array([1.0, -1.0, 0.5])
    X, qid = rng.normal(size=(queries * m, 3)), np.repeat(np.arange(queries), m)
    drawn = (X @ w + rng.gumbel(size=queries * m)).reshape(queries, m)
    ranked, y = np.argsort(-drawn, axis=1) + m * np.arange(queries)[:, None], np.zeros(X.shape[0])
    y[ranked[:, :3]] = [3, 2, 1]
    orders = rb.Orders.from_rankings(ranked.tolist(), top=3)
    for lam in (1e-3, "scale"):
        one, other = (rb.RankSVM(lam, kernel, loss="plackett-luce") for _ in range(2))
        one.fit(X, y, qid), other.fit(X, orders)
        assert one.lam_ == pytest.approx(other.lam_)
        a, b = (model.predict(X) - model.predict(X).mean() for model in (one, other))
        assert np.allclose(a, b, atol=1e-6 * np.abs(b).max())
        assert one.certificate_.primal == pytest.approx(other.certificate_.primal)
        assert kernel == "rbf" or lam == "scale" or np.abs(one.coef_ - w).max() < 0.1


@pytest.mark.parametrize("seed", range(6))
def test_the_slope_of_grades_is_that_of_the_formula(seed):
    """With ties of all grades, queries of one grade and weights; the last group has no term."""
    rng = np.random.default_rng(seed)
    X, y, qid = rng.normal(size=(30, 3)), rng.integers(0, 4, 30), rng.integers(0, 5, 30)
    y[qid == 0] = 2
    weight = rng.random((2, 30)) if seed % 2 else np.ones((2, 30))
    prefs = rb.Preferences.from_scores(y, qid).item_weighted(*weight)
    model = fitted(X, prefs, 0.5)
    w, slope, cost = model.coef_, 0.5 * model.coef_, 0.25 * model.coef_ @ model.coef_
    for i in range(30):
        there = (qid == qid[i]) & (y <= y[i])
        if (y[there] < y[i]).any():
            p = weight[1] * np.exp(X @ w) * there
            slope = slope - weight[0, i] * (X[i] - p @ X / p.sum())
            cost -= weight[0, i] * np.log(p[i] / p.sum())
    assert np.abs(slope).max() < 1e-10
    assert model.certificate_.primal == pytest.approx(cost, rel=1e-12)


def test_a_query_of_one_grade_says_nothing():
    """In memory, in blocks and alone in a block."""
    X, y = np.array([[0.0], [1.0], [3.0], [2.0], [5.0]]), np.array([0.0, 1, 2, 1, 1])
    qid, model = np.array([0, 0, 0, 1, 1]), rb.RankSVM(1.0, "linear", loss="plackett-luce")
    block = lambda at: rb.Block(X[at], y[at], qid[at])
    known = model.fit(X[:3], y[:3], qid[:3]).coef_
    cut = rb.Blocks([block(qid == 0), block(qid == 1)])
    targets = [(X, y, qid), (rb.Blocks([block(qid >= 0)]),), (cut,)]
    for target in targets:
        assert np.allclose(model.fit(*target).coef_, known, rtol=1e-6)
    for target in [(X[3:], y[3:]), (rb.Blocks([block(qid == 1)]),)]:
        with pytest.raises(ValueError, match="no preference"):
            model.fit(*target)


def test_items_of_a_query_of_one_grade_are_not_compared():
    """Their scores have no interval, as those of items that no order names."""
    y, qid = [2, 1, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1]
    model = rb.RankSVM(1.0, "linear", loss="plackett-luce").fit(np.eye(6), y, qid)
    high = rb.order_intervals(model, np.eye(6)).high
    assert np.isfinite(high[:4]).all() and np.isinf(high[4:]).all()


@pytest.mark.parametrize("seed", range(5))
def test_folds_of_grades_count_choices_among_those_left_out(seed):
    """And the log loss of a part is that of its own grades."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    prefs = rb.Preferences.from_scores(y, np.arange(30) // 10)
    orders = rb.Orders.from_preferences(prefs)
    folds, n_dropped = pair_folds(KFold(3, shuffle=True, random_state=seed), X, orders, "item")
    kept = 0
    for fold in folds:
        alone = rb.Orders.from_preferences(prefs[fold.test])
        loss = mean_log_loss(PlackettLuce(), fold.target)
        assert loss(X[fold.test, 0]) == pytest.approx(
            mean_log_loss(PlackettLuce(), alone)(X[fold.test, 0])
        )
        kept += len(alone)
    assert n_dropped == len(orders) - kept


def test_folds_of_orders_drop_the_choices_of_orders_that_they_do_not_validate():
    orders = rb.Orders.from_rankings(
        [[0, 1, 2], [3, 1], [2, 0, 1, 3], [1, 2]]
    )  # 2, 1, 3, 1 choices
    for splits, n_dropped in (
        ([([2, 3], [0, 1]), ([0, 1], [2, 3])], 0),
        ([([0, 1, 3], [2])], 4),
        ([([0, 1], [2, 3])], 3),
    ):
        assert pair_folds(splits, np.eye(4), orders, "order")[1] == n_dropped


def test_orders_of_grades_come_back_from_a_file(tmp_path):
    """And their parts are those of grades."""
    rng = np.random.default_rng(0)
    prefs = rb.Preferences.from_scores([3, 2, 2, 1, 0, 0])
    problem = rb.RankSVMProblem(rng.normal(size=(6, 2)), prefs, "linear", loss="plackett-luce")
    rb.solve_path(problem, 1.0).save(tmp_path / "path.rankbook")
    orders = rb.load(tmp_path / "path.rankbook").problem.prefs
    assert orders.of_scores and len(orders) == 4 and len(orders[:3]) == 1


def test_metrics_of_survival_take_orders():
    """Weights, strata and censoring among them."""
    X, time, event = patients()
    qid, weight = np.arange(60) % 2, np.arange(60.0) % 3
    orders = rb.Orders.from_survival(time, event, qid, weight)
    prefs = rb.Preferences.from_survival(time, event, qid, weight)
    for options in ({}, dict(tau=9.0)):
        known = rb.metrics.concordance(prefs, X[:, 0], **options)
        assert rb.metrics.concordance(orders, X[:, 0], **options) == known


def test_solvers_are_compared_and_kernels_approximated():
    """No time is predicted; an approximate kernel proves what it leaves of the exact one."""
    X, time, event = patients()
    orders = rb.Orders.from_survival(time, event)
    problem = rb.RankSVMProblem(X, orders, loss="plackett-luce")
    said = {each.solver: each.obstacle for each in rb.compare_solvers(problem)}
    assert "no time is predicted for loss plackett-luce" in said["newton"]
    model = rb.RankSVM(1.0, loss="plackett-luce", approximate_kernel="auto").fit(X, orders)
    assert model.exact_certificate_.relative_gap < 0.01


def test_scikit_learn_cuts_orders_with_items():
    """In cross-validation and a search, also behind a scaler; each part is what rows[...] gives."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    ranked = [sorted(rng.permutation(40)[:8].tolist(), key=lambda i: -X[i, 0]) for _ in range(12)]
    orders = rb.Orders.from_rankings(ranked, n_items=40)
    model = rb.RankSVM(1.0, "linear", loss="plackett-luce")
    folds = KFold(4, shuffle=True, random_state=0)
    scores = cross_val_score(model, X, orders, cv=folds)
    by_hand = [model.fit(X[a], orders[a]).score(X[b], orders[b]) for a, b in folds.split(X)]
    assert scores.tolist() == by_hand and min(by_hand) > 0.9
    pipeline = make_pipeline(StandardScaler(), model)
    search = GridSearchCV(pipeline, dict(ranksvm__lam=[0.1, 10.0]), cv=folds).fit(X, orders)
    assert search.best_score_ > 0.9
    assert search.score(X, orders) == 1 - rb.disagreement(orders, search.predict(X))


def test_a_model_is_saved(tmp_path):
    """And predicts the same when it is loaded."""
    X, time, event = patients()
    model = fitted(X, rb.Orders.from_survival(time, event), 1.0)
    model.save(tmp_path / "cox.rankbook")
    again = rb.load(tmp_path / "cox.rankbook")
    assert np.array_equal(again.predict(X), model.predict(X)) and again.loss == "plackett-luce"


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_kernels(kernel):
    """A kernel matrix of a linear function gives the linear model, an rbf kernel a certificate."""
    X, time, event = patients()
    orders = rb.Orders.from_survival(time, event)
    if kernel == "rbf":
        model = rb.RankSVM(0.1, loss="plackett-luce", solver=EXACTLY).fit(X, orders)
        assert model.certificate_.relative_gap < 1e-8
        return
    Z = X - X.mean(axis=0)
    model = rb.RankSVM(1.0, kernel, loss="plackett-luce", solver=EXACTLY).fit(Z @ Z.T, orders)
    known = fitted(Z, orders, 1.0).predict(Z)
    found = model.predict(Z @ Z.T)
    assert np.abs(found - found.mean() - (known - known.mean())).max() < 1e-8


@pytest.mark.parametrize("seed", range(30))
def test_degenerate_data_are_certified(seed):
    """Ties, copies, grids, one event, weights of 0, single items, and scores of any size."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    X = rng.integers(-1, 2, (n, 3)) * 10.0 ** rng.integers(-3, 4)
    weight = rng.integers(0, 3, n) if seed % 3 else None
    if seed % 2:
        event = rng.random(n) < rng.choice([0.1, 0.9])
        times = rng.integers(1, 4, n)
        ties = ["breslow", "efron"][seed // 2 % 2]
        target = rb.Orders.from_survival(times, event, rng.integers(0, 3, n), weight, ties=ties)
    else:
        prefs = rb.Preferences.from_scores(rng.integers(0, 3, n), rng.integers(0, 4, n))
        target = rb.Orders.from_preferences(
            prefs if weight is None else prefs.item_weighted(weight)
        )
    if not len(target):
        with pytest.raises(ValueError, match="no choice among two items or more"):
            rb.RankSVMProblem(X, target, kernel="linear", loss="plackett-luce")
        return
    problem = rb.RankSVMProblem(X, target, kernel="linear", loss="plackett-luce")
    for lam in (1e-6, 1.0, 1e6):
        solution = rb.solve(problem, lam, ("newton", dict(tol=1e-10)))
        assert solution.certificate.relative_gap < 1e-8
        assert np.isfinite(solution.weights).all()


def test_signs_hold():
    """The score never falls with a feature of sign +1."""
    X, time, event = patients()
    free = fitted(X, rb.Orders.from_survival(time, event), 0.1).coef_
    model = rb.RankSVM(
        0.1,
        "linear",
        loss="plackett-luce",
        signs=-np.sign(free),
        solver=("newton", dict(tol=1e-10)),
    )
    model.fit(X, rb.Orders.from_survival(time, event))
    assert (model.coef_ * -np.sign(free) >= 0).all() and model.certificate_.relative_gap < 1e-8


def test_the_default_lambda_follows_weights_and_units():
    """A common factor of weights, or of features, does not change the fitted function."""
    X, time, event = patients()
    make = lambda w: rb.Orders.from_survival(time, event, weight=w * np.ones(60))
    fit = lambda X, y: fitted(X, y, "scale").predict(X)
    known = fit(X, make(1.0))
    assert np.allclose(fit(X, make(7.0)), known, atol=1e-9)
    assert np.allclose(fit(1000 * X, make(1.0)), known, atol=1e-9)


def test_the_default_lambda_of_pairs_is_that_of_the_logistic_loss():
    """And that of blocks of whole queries is that of all items at once."""
    rng = np.random.default_rng(0)
    X, pairs = rng.normal(size=(8, 2)), np.array([rng.permutation(8)[:2] for _ in range(20)])
    one = rb.RankSVM(kernel="linear", loss="plackett-luce")
    other = rb.RankSVM(kernel="linear", loss="logistic").fit(X, rb.Preferences(*pairs.T, 8))
    assert np.isclose(one.fit(X, rb.Orders.from_rankings(pairs)).lam_, other.lam_)
    X, qid = rng.normal(size=(60, 2)), np.repeat([0, 1, 2], 20)
    y = np.round(X[:, 0] + rng.normal(size=60))
    whole = one.fit(X, y, qid).coef_, one.lam_
    one.fit(rb.Blocks([rb.Block(X[qid == q], y[qid == q], qid[qid == q]) for q in range(3)]))
    assert np.isclose(one.lam_, whole[1]) and np.allclose(one.coef_, whole[0], atol=1e-4)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda X, o: rb.RankSVM(kernel="linear").fit(X, o), "loss='plackett-luce' takes orders"),
        (
            lambda X, o: rb.RankSVM(loss="plackett-luce", penalty="l1").fit(X, o),
            "penalty is 'l1' and kernel is 'rbf'",
        ),
        (
            lambda X, o: rb.RankSVM(loss="plackett-luce").fit(X, rb.Preferences([0], [1], 60)),
            "loss='logistic'",
        ),
        (lambda X, o: rb.RankSVM(loss="plackett-luce").fit(X[1:], o), "60 items, and X has 59"),
        (
            lambda X, o: rb.RankSVM(loss="plackett-luce").fit(X, o, qid=np.zeros(60)),
            "preferences and qid are both given",
        ),
        (
            lambda X, o: rb.RankSVM(loss="plackett-luce", query_weight="equal").fit(X, X[:, 0]),
            "query_weight is 'equal' and loss is 'plackett-luce'",
        ),
        (
            lambda X, o: rb.RankSVMCV(loss="plackett-luce", query_weight="equal").fit(X, X[:, 0]),
            "query_weight is 'equal' and loss is 'plackett-luce'",
        ),
        (lambda X, o: rb.RankRLS().fit(X, o), "y holds orders.*loss='plackett-luce'"),
        (lambda X, o: rb.OnlineRankSVM().fit(X, o), "y holds orders.*loss='plackett-luce'"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(make, words):
    X, time, event = patients()
    with pytest.raises((ValueError, TypeError), match=words):
        make(X, rb.Orders.from_survival(time, event))


@pytest.mark.parametrize("weight", [1.0, 1e8, 1e12, 1e15])
def test_bounds_hold_for_heavy_orders(weight):
    orders = rb.Orders.from_rankings([[2, 1, 0], [2, 0, 1]], weight=[weight] * 2, top=1)
    X = np.array([[0.0], [0.1], [1.0]])
    found = rb.solve(rb.RankSVMProblem(X, orders, "linear", loss="plackett-luce"), 1.0)
    w = found.weights[0]
    value = w**2 / 2 + 2 * weight * np.log1p(np.exp((X[:2] - 1) * w).sum())
    assert found.certificate.dual <= value <= found.certificate.primal


def objective_by_digits(problem, lam, solution):
    """The objective at the stored weights or coefficients of a solution, with 50 digits."""
    mp = pytest.importorskip("mpmath")
    with mp.workdps(50):
        orders, exact = problem.prefs, np.vectorize(lambda v: mp.mpf(float(v)), otypes=[object])
        if problem.is_factored:
            w = exact(solution.weights)
            f, square = exact(problem.X) @ w, w @ w
        else:
            a = exact(solution.coef.ravel())
            f = exact(problem.gram) @ a
            square = a @ f
        cost, (groups, starts) = mp.mpf(lam) * square / 2, orders.edges
        eta, w = (-f if orders.lowest_first else f)[orders.item], exact(orders.risk_weight)
        for k in np.flatnonzero(orders.choice_weight):
            there = slice(groups[orders.group[k]], groups[starts[orders.order[k] + 1]])
            at_risk = sum(w[there] * np.vectorize(mp.exp, otypes=[object])(eta[there]))
            cost += exact(orders.choice_weight[k]) * (mp.log(at_risk) - eta[k] - mp.log(w[k]))
        return cost


def heavy_orders(rng, n):
    """Orders, grades or survival times with weights over 16 decades."""
    kind, weight = rng.integers(3), 10.0 ** rng.uniform(-4, 12, (2, n))
    if kind == 0:
        ranked = [np.arange(n), *(rng.permutation(n)[: rng.integers(2, n + 1)] for _ in range(2))]
        return rb.Orders.from_rankings(ranked, n, weight=weight[0, :3], top=int(rng.integers(1, n)))
    if kind == 1:
        prefs = rb.Preferences.from_scores(rng.permutation(np.arange(n).clip(1)))
        return rb.Orders.from_preferences(prefs.item_weighted(*weight))
    return rb.Orders.from_survival(rng.permutation(n), rng.permutation(n) > 0, weight=weight[0])


@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(40, 3000), marks=pytest.mark.slow)], ids=len
)
def test_weights_of_16_decades_are_solved_within_bounds(seeds):
    """Beside the formula with 50 digits.

    A choice of large weight may be nearly certain. Where choices of large weight contradict each
    other, the objective may be so large that no step of a line search lowers its digits.
    """
    far = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, lam = int(rng.integers(3, 7)), 10.0 ** rng.uniform(-3, 3)
        X, kernel = (
            rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-1, 2),
            ["linear", "rbf"][seed % 2],
        )
        problem = rb.RankSVMProblem(X, heavy_orders(rng, n), kernel, loss="plackett-luce")
        solution = rb.solve(problem, lam)
        proof, value = solution.certificate, objective_by_digits(problem, lam, solution)
        assert proof.dual <= value <= proof.primal, seed
        far += [seed] * (proof.relative_gap > 1e-6)
    assert len(far) <= len(seeds) / 100, far


@pytest.mark.parametrize("seed", range(20))
def test_a_rise_of_the_loss_is_below_its_bound(seed):
    """Above the tangent, for any change of the scores up to e; and the bound is no larger than
    twice that of Hoeffding where no choice is doubtful."""
    rng = np.random.default_rng(seed)
    X, time, event = patients(seed, n=12, times=8)
    weight = rng.random(12) if seed % 2 else None
    orders = rb.Orders.from_survival(
        time, event, weight=weight, ties=["breslow", "efron"][seed % 4 // 2]
    )
    sums, f = ChoiceSums(orders), rng.normal(size=12)
    here = sums.evaluate(f)
    for e in (1e-3, 0.1, 1.0, 30.0):
        for _ in range(20):
            step = e * rng.choice([-1.0, 1.0], 12)
            rise = sums.evaluate(f + step).loss - here.loss + here.score_gradient @ step
            assert -1e-9 <= rise <= sums.excess(f, e)
        assert sums.excess(f, e) <= here.square * (e + e**2 / 2 + 1e-9)
    two = ChoiceSums(rb.Orders.from_rankings([[0, 1]], weight=[3.0]))
    for e in (1e-6, 1e-2):  # of even chances, with a change of either score by e
        rise = two.evaluate(np.array([-e, e])).loss - two.evaluate(np.zeros(2)).loss - 3 * e
        assert 0.99 * rise <= two.excess(np.zeros(2), e) - 1.5 * e <= 3.01 * e**2 / 2
    assert two.excess(np.array([40.0, 0.0]), 1e-6) == pytest.approx(1.5e-12, rel=1e-3)
    tied = ChoiceSums(rb.Orders.from_rankings([[[0, 1], 2]]))  # differences of logarithms
    assert tied.excess(np.array([0.0, 0.0, -80.0]), 1e-6) == pytest.approx(2e-6, rel=1e-3)
