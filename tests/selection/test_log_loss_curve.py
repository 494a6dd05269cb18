"""The log loss of validation preferences for every lambda of a path."""

from itertools import combinations

import numpy as np
import pytest

import rankbook as rb
from rankbook import metrics
from rankbook.problems.smooth_losses import Logistic
from rankbook.selection.curve import mean_brier_score, mean_log_loss


class Steep:
    """The logistic loss of twice the difference, as a loss from outside."""

    name, margin = "steep", 0.0

    def value(self, t):
        return Logistic().value(2 * t)

    def derivative(self, t):
        return 2 * Logistic().derivative(2 * t)

    def conjugate(self, a):
        return Logistic().conjugate(a / 2)

    def probability(self, d):
        return Logistic().derivative(2 * np.asarray(d))


class Unlikely(Steep):
    probability = None


def parts(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X, V = rng.normal(size=(2, n, d))
    truth = rng.normal(size=d)
    y, known = (np.round(Z @ truth + rng.normal(size=n)) for Z in (X, V))
    return X, rb.Preferences.from_scores(y, np.arange(n) % 3), V, known


def pairs_error(scores, prefs, slope=1.0):
    """The log loss, pair by pair."""
    d = slope * (scores[prefs.better] - scores[prefs.worse])
    return np.average(np.log1p(np.exp(-d)), weights=prefs.weight)


def pairs_brier(scores, prefs, slope=1.0):
    """The Brier score, pair by pair."""
    d = slope * (scores[prefs.better] - scores[prefs.worse])
    return np.average((1 / (1 + np.exp(d))) ** 2, weights=prefs.weight)


def choices_error(scores, rankings):
    """The mean of minus the logarithm of the probability of a choice, best item first."""
    left = [scores[ranking[k:]] for ranking in rankings for k in range(len(ranking) - 1)]
    return np.mean([np.log(np.exp(s - s[0]).sum()) for s in left])


CASES = {
    "counted": ("logistic", lambda known: rb.Preferences.from_scores(known)),
    "grades": ("logistic", lambda known: known),
    "weighted pairs": (
        "logistic",
        lambda known: rb.Preferences([0, 1, 5], [3, 2, 7], len(known), [1.0, 0.0, 3.0]),
    ),
    "item weights": (
        "logistic",
        lambda known: rb.Preferences.from_scores(known).item_weighted(np.arange(len(known)) % 4),
    ),
    "an own loss": (Steep(), lambda known: rb.Preferences.from_scores(known)),
}


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", CASES)
def test_the_curve_is_the_log_loss_of_models_fitted_one_by_one(name, kernel):
    """Weights w and w* with gaps of g differ by sqrt(2 g / lam) at most."""
    (loss, target), (X, prefs, V, known) = CASES[name], parts()
    options = dict(kernel=kernel, gamma=None if kernel == "linear" else 0.5, loss=loss)
    problem, known, eps = rb.RankSVMProblem(X, prefs, **options), target(known), 1e-5
    path = rb.solve_path(problem, solver="newton", eps=eps)
    curve = rb.validation_curve(path, V, known, metric="log_loss")
    judged = known if isinstance(known, rb.Preferences) else rb.Preferences.from_scores(known)
    slope = 2.0 if loss != "logistic" else 1.0
    apart = V[judged.better] - V[judged.worse]
    reach = np.sqrt(2.0) if kernel == "rbf" else np.linalg.norm(apart, axis=1).max()
    for lam in np.geomspace(path.breakpoints[0] * 0.999, path.domain[0] * 1.001, 12):
        value = curve.at(lam)
        assert np.isclose(value, pairs_error(path.predict(V, lam), judged, slope), rtol=1e-10)
        exact = rb.solve(problem, lam, "newton")
        gap = eps * max(1.0, exact.certificate.primal)
        bound = slope * reach * np.sqrt(2 * gap / lam)
        assert abs(value - pairs_error(exact.predict(V), judged, slope)) <= bound
    link = loss if slope == 2 else "logistic"
    found = metrics.log_loss(judged, path.predict(V, lam), link=link)
    assert np.isclose(curve.at(lam), found, rtol=1e-10)
    assert not curve.maximize and curve.metric == "log_loss" and not curve.exact
    brier, at = rb.validation_curve(path, V, known, metric="brier_score"), path.breakpoints
    assert not brier.maximize and brier.metric == "brier_score" and not brier.exact
    for lam in [*np.sqrt(at[1:] * at[:-1]), *np.geomspace(at[0] * 0.999, at[-1] * 1.001, 50)]:
        value = pairs_brier(path.predict(V, lam), judged, slope)
        assert np.isclose(brier.at(lam), value, rtol=1e-10)
    assert np.isclose(metrics.brier_score(judged, path.predict(V, lam), link=link), value)
    assert brier.values[0] == pytest.approx(0.25, rel=1e-12)


def test_above_the_first_breakpoint_the_function_shrinks_to_nothing():
    X, prefs, V, known = parts()
    path = rb.solve_path(rb.RankSVMProblem(X, prefs, kernel="linear", loss="logistic"))
    curve, top = rb.validation_curve(path, V, known, metric="log_loss"), path.breakpoints[0]
    assert curve.breaks[0] == np.inf and np.isclose(curve.values[0], np.log(2), rtol=1e-12)
    whole = np.log(2) - metrics.log_loss(known, path.predict(V, top))
    assert 0 < whole < 0.05
    for lam in np.geomspace(1.001 * top, 99 * top, 50):
        away = curve.at(lam) - metrics.log_loss(known, path.predict(V, lam))
        assert abs(away) < 0.07 * whole * top / lam
    worse = rb.validation_curve(path, V, -known, metric="log_loss")  # no lambda is better than 0
    assert worse.best == [(worse.breaks[1], np.inf)] and worse.choose() > 100 * top


def test_choices_of_orders_and_times():
    rng = np.random.default_rng(0)
    X, V = rng.normal(size=(2, 20, 2))
    rankings, held = ([rng.permutation(20)[:5] for _ in range(12)] for _ in range(2))
    train, asked = (rb.Orders.from_rankings(each, n_items=20) for each in (rankings, held))
    path = rb.solve_path(rb.RankSVMProblem(X, train, kernel="linear", loss="plackett-luce"))
    curve = rb.validation_curve(path, V, asked, metric="log_loss")
    for lam in np.geomspace(path.breakpoints[0] * 0.999, path.domain[0] * 1.001, 9):
        assert np.isclose(curve.at(lam), choices_error(path.predict(V, lam), held), rtol=1e-9)
    assert np.isclose(curve.values[0], np.mean(np.log([5, 4, 3, 2])), rtol=1e-12)
    brier = rb.validation_curve(path, V, asked, metric="brier_score")
    better, worse = np.array([p for one in held for p in combinations(one, 2)]).T
    listed = rb.Preferences(better, worse, 20)
    for lam in np.geomspace(path.breakpoints[0] * 0.999, path.domain[0] * 1.001, 30):
        value = pairs_brier(path.predict(V, lam), listed)
        assert np.isclose(brier.at(lam), value, rtol=1e-10)
    time, died = rng.exponential(np.exp(X[:, 0])), np.arange(20) % 3 > 0
    times = rb.Preferences.from_survival(time, died)
    path = rb.solve_path(rb.RankSVMProblem(X, times, kernel="linear", loss="plackett-luce"))
    curve, lam = rb.validation_curve(path, X, times, metric="log_loss"), path.lams[3]
    risk, f = [np.flatnonzero(time >= each) for each in time], -path.predict(X, lam)
    lost = [np.log(np.exp(f[risk[i]] - f[i]).sum()) for i in np.flatnonzero(died)]
    chosen = [risk[i].size > 1 for i in np.flatnonzero(died)]
    assert np.isclose(curve.at(lam), np.mean(np.array(lost)[chosen]), rtol=1e-9)
    brier, pairs = rb.validation_curve(path, X, times, metric="brier_score"), -f[:, None] + f
    sure = died[None, :] & ((time[:, None] > time) | ((time[:, None] == time) & ~died[:, None]))
    assert np.isclose(brier.at(lam), np.mean((1 / (1 + np.exp(pairs[sure]))) ** 2), rtol=1e-10)
    # a path of pairs takes orders as the pairs that they imply
    votes = rb.Preferences([0, 1, 2], [3, 4, 5], 20)
    path = rb.solve_path(rb.RankSVMProblem(X, votes, kernel="linear", loss="logistic"))
    curve, lam = rb.validation_curve(path, V, asked, metric="log_loss"), path.lams[3]
    assert np.isclose(curve.at(lam), metrics.log_loss(asked, path.predict(V, lam)), rtol=1e-10)


@pytest.mark.parametrize("metric", ["log_loss", "brier_score"])
@pytest.mark.parametrize("loss", ["logistic", "plackett-luce", Steep()])
def test_folds_are_averaged(loss, metric):
    X, _, _, y = parts()
    folds = [(np.arange(60) % 3 != f, np.arange(60) % 3 == f) for f in range(3)]
    weight = None if loss == "plackett-luce" else 1.0 + np.arange(60) % 2
    model = rb.RankSVMCV("linear", loss=loss, cv=folds, metric=metric)
    model.fit(X, y, sample_weight=weight)
    assert model.curve_.metric == metric and model.lam_ > 0
    judge = mean_log_loss if metric == "log_loss" else mean_brier_score
    of = lambda at: rb.Preferences.from_scores(y[at]).item_weighted(
        np.ones(at.sum()) if weight is None else weight[at]
    )
    read = lambda prefs: rb.Orders.from_preferences(prefs) if weight is None else prefs
    total = read(of(np.ones(60, dtype=bool))).weight.sum()
    for lam in (0.3 * model.lam_, model.lam_, 3 * model.lam_):
        values = []
        for train, test in folds:
            share = read(of(train)).weight.sum() / total
            exact = rb.RankSVM(share * lam, "linear", loss=loss).fit(X[train], of(train))
            lost = judge(exact.solution_.problem.loss, of(test))
            values.append(lost(exact.predict(X[test])))
        assert np.isclose(model.curve_.at(lam), np.mean(values), rtol=1e-2)
    spread = np.std([curve.at(model.curve_.choose()) for curve in model.fold_curves_], ddof=1)
    assert np.isclose(model.standard_error_, spread / np.sqrt(3))


def test_probabilities_of_votes_are_no_worse_than_by_the_order():
    """Few votes on items with features: the order hardly says how large scores should be."""
    lost = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, truth = rng.normal(size=(30, 5)), rng.normal(size=5) / 2
        pairs = np.array([rng.choice(30, 2, replace=False) for _ in range(1090)])
        wins = rng.random(1090) < 1 / (1 + np.exp(-(X[pairs[:, 0]] - X[pairs[:, 1]]) @ truth))
        better, worse = np.where(wins, pairs.T, pairs.T[::-1])
        votes = rb.Preferences(better[:90], worse[:90], 30)
        asked = rb.Preferences(better[90:], worse[90:], 30)
        options = dict(kernel="linear", loss="logistic", fold_by="pair", cv=3)
        found = [
            rb.RankSVMCV(**options, metric=metric).fit(X, votes)
            for metric in ("log_loss", "disagreement")
        ]
        lost.append([metrics.log_loss(asked, model.predict(X)) for model in found])
    by_loss, by_order = np.mean(lost, axis=0)
    assert by_loss <= by_order and by_loss < np.log(2)


def test_what_has_no_probabilities_is_refused():
    X, prefs, V, known = parts(n=12, d=2)
    curve = lambda path, known=known, **more: rb.validation_curve(
        path, V, known, metric="log_loss", **more
    )
    follow = lambda solver="newton", **loss: rb.solve_path(
        rb.RankSVMProblem(X, prefs, kernel="linear", **loss), solver=solver
    )
    for solver in ("path", "epsilon"):
        with pytest.raises(ValueError, match="is an? (Reg|Eps).*Path. Pass a path by newton or"):
            curve(follow(solver))
    for loss in ("hinge", "squared", Unlikely()):
        name = loss if isinstance(loss, str) else loss.name
        match = f"'log_loss' and loss is '{name}', whose scores are not log-odds. Pass loss="
        with pytest.raises(ValueError, match=match):
            curve(follow(loss=loss))
        with pytest.raises(ValueError, match=match):
            rb.RankSVMCV("linear", loss=loss, metric="log_loss").fit(X, known)
        with pytest.raises(ValueError, match=match.replace("log_loss", "brier_score")):
            rb.RankSVMCV("linear", loss=loss, metric="brier_score").fit(X, known)
    path = follow(loss="logistic")
    with pytest.raises(ValueError, match="k is 3. Omit k for log_loss"):
        curve(path, k=3)
    with pytest.raises(ValueError, match="prefs_val has no preference of positive weight"):
        curve(path, np.zeros(len(V)))
    with pytest.raises(ValueError, match="qid is given"):
        curve(path, rb.Orders.from_rankings([range(12)], n_items=12), qid=np.zeros(12))
    choices = follow(loss="plackett-luce")
    with pytest.raises(ValueError, match="^prefs_val is .*which is not a sequence of choices"):
        curve(choices, rb.Preferences([0], [1], len(V)))
    with pytest.raises(ValueError, match="holds orders. Pass 'disagreement', 'log_loss' or"):
        rb.validation_curve(choices, V, rb.Orders.from_rankings([range(12)], 12), metric="ndcg")
