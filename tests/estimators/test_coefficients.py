"""Tables of coefficients beside lifelines, statsmodels, R and brute force."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from peer_coefficients import FEATURES, patients, votes
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

import rankbook as rb
from rankbook.data.encoding import Encoding
from rankbook.data.split import scaling, standardise
from rankbook.estimators.coefficients import contributions, one_hot_groups
from rankbook.estimators.scaled import ScaledModel

PRECISE = ("newton", dict(tol=1e-12))
STORED = json.loads((Path(__file__).parent / "coefficients.json").read_text())["figures"]
TABLE = patients()
COX = dict(kernel="linear", loss="plackett-luce", lam=1e-9, solver=PRECISE)


FEW = "ignore:the sandwich estimate has 3 units for 3 coefficients:UserWarning"


def target(name):
    """The orders of a stored case, from the words of its name."""
    given = dict(ties=name.split()[0])
    if "strata" in name:
        given["qid"] = TABLE.clinic
    if "entry" in name:
        given["entry"] = TABLE.entry
    if "weights" in name:
        given["weight"] = TABLE.weight
    time = TABLE.instant if "distinct" in name else TABLE.week
    return rb.Orders.from_survival(time, TABLE.event, **given)


@pytest.mark.filterwarnings(FEW)
@pytest.mark.parametrize("name", [name for name in STORED if "logit" not in name])
def test_cox_models_are_those_of_lifelines_statsmodels_and_r(name):
    """Six digits of coefficients and standard errors, in own units and with a scaler."""
    coef, se = STORED[name]
    more = dict(robust="robust" in name)
    if "clusters" in name:
        more = dict(cluster=TABLE.clinic)
    X, y = TABLE[FEATURES].astype(float), target(name)
    scaled = make_pipeline(StandardScaler().set_output(transform="pandas"), rb.RankSVM(**COX))
    for model in (rb.RankSVM(**COX).fit(X, y), scaled.fit(X, y)):
        found = rb.coefficient_table(model, **more)
        assert found.index.tolist() == FEATURES
        assert np.allclose(found.coef, coef, rtol=1e-6, atol=0)
        assert np.allclose(found.se, se, rtol=1e-6, atol=0)
        assert found.attrs["ratio"] == "hazard ratio" and found.attrs["ties"] in name


@pytest.mark.parametrize("name", ["logit", "logit robust"])
def test_a_logistic_model_of_pairs_is_that_of_statsmodels(name):
    """Its Logit of differences without a constant."""
    first, second, won = votes(TABLE)
    prefs = rb.Preferences(
        np.where(won, first, second), np.where(won, second, first), n_items=len(TABLE)
    )
    model = rb.RankSVM(1e-9, "linear", loss="logistic", solver=PRECISE)
    found = rb.coefficient_table(
        model.fit(TABLE[FEATURES].astype(float), prefs), robust="robust" in name
    )
    assert np.allclose(found.coef, STORED[name][0], rtol=1e-6, atol=0)
    assert np.allclose(found.se, STORED[name][1], rtol=1e-6, atol=0)
    assert found.attrs["ratio"] == "odds ratio"


@pytest.mark.peer("lifelines")
@pytest.mark.filterwarnings("ignore:Starting with pandas version 4.0:DeprecationWarning:lifelines")
def test_published_tables_are_reproduced():
    """R's coxph on Rossi's data, as printed by Fox and Weisberg (2011), to its three digits."""
    from lifelines.datasets import load_rossi

    rossi = load_rossi()
    X = rossi.drop(columns=["week", "arrest"]).astype(float)
    y = rb.Orders.from_survival(rossi.week, rossi.arrest, ties="efron")
    found = rb.coefficient_table(rb.RankSVM(**COX).fit(X, y))
    published = dict(
        fin=(-0.379, 0.191),
        age=(-0.057, 0.022),
        race=(0.314, 0.308),
        wexp=(-0.150, 0.212),
        mar=(-0.434, 0.382),
        paro=(-0.085, 0.196),
        prio=(0.091, 0.029),
    )
    for name, (coef, se) in published.items():
        assert found.coef[name] == pytest.approx(coef, abs=6e-4)
        assert found.se[name] == pytest.approx(se, abs=6e-4)


@pytest.mark.peer("lifelines")
@pytest.mark.filterwarnings("ignore:Starting with pandas version 4.0:DeprecationWarning:lifelines")
def test_features_that_change_are_those_of_lifelines():
    """The heart transplants of Stanford, with a row for each interval of a patient."""
    from lifelines import CoxTimeVaryingFitter
    from lifelines.datasets import load_stanford_heart_transplants

    heart = load_stanford_heart_transplants()
    options = dict(precision=1e-14)
    columns = dict(id_col="id", event_col="event", start_col="start", stop_col="stop")
    theirs = CoxTimeVaryingFitter().fit(heart, **columns, fit_options=options)
    X = heart[theirs.params_.index].astype(float)
    y = rb.Orders.from_survival(heart.stop, heart.event, ties="efron", entry=heart.start)
    found = rb.coefficient_table(rb.RankSVM(**COX | dict(lam=1e-12)).fit(X, y))
    assert np.allclose(found.coef, theirs.params_, rtol=1e-8, atol=1e-8)
    assert np.allclose(found.se, theirs.standard_errors_, rtol=1e-7)


def likelihood(y, X, lam):
    """Half lam |b|^2 minus the log-likelihood of orders at log ratios b, by definition."""
    sign = -1.0 if y.lowest_first else 1.0

    def cost(w):
        eta, total = sign * (X @ w)[y.item], lam / 2 * w @ w
        for k in np.flatnonzero(y.choice_weight):
            there = (y.order == y.order[k]) & (y.group >= y.group[k])
            if y.entry is not None:
                there &= y.entry <= y.group[k]
            total += y.choice_weight[k] * (
                np.log(y.risk_weight[there] @ np.exp(eta[there])) - eta[k]
            )
        return total

    return cost


def hessian(cost, w, h=1e-3):
    """Second differences of a function, with an error of order h^4."""
    d = w.size
    H, steps = np.empty((d, d)), h * np.eye(d)
    for i in range(d):
        for j in range(d):
            parts = []
            for k in (1, 2):
                a, b = k * steps[i], k * steps[j]
                mixed = cost(w + a + b) - cost(w + a - b) - cost(w - a + b) + cost(w - a - b)
                parts.append(mixed / (4 * (k * h) ** 2))
            H[i, j] = (4 * parts[0] - parts[1]) / 3
    return H


@pytest.mark.parametrize("lam", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(4))
def test_penalised_errors_are_those_of_second_differences(lam, seed):
    """Of survival times with entries, and of rankings; the sandwich of rankings is by order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2)) * [1.0, 5.0]
    time = rng.integers(2, 9, 30)
    entry = time - rng.integers(1, 8, 30)
    life = rb.Orders.from_survival(time, rng.random(30) < 0.6, rng.integers(0, 2, 30), entry=entry)
    ranked = [rng.permutation(30)[: rng.integers(2, 9)] for _ in range(12)]
    orders = rb.Orders.from_rankings(ranked, n_items=30, weight=rng.integers(1, 4, 12))
    for y in (life, orders):
        model = rb.RankSVM(**COX | dict(lam=lam)).fit(X, y)
        cost, w = likelihood(y, X, lam), model.coef_
        V = np.linalg.inv(hessian(cost, w))
        found = rb.coefficient_table(model)
        assert np.allclose(found.se, np.sqrt(V.diagonal()), rtol=1e-5)
        sign = -1.0 if y is life else 1.0
        assert np.allclose(found.coef, sign * w) and np.allclose(found.ratio, np.exp(sign * w))
    parts = [likelihood(orders.of_orders([k]), X, 0.0) for k in range(12)]
    slope = lambda f: np.array([(f(w + s) - f(w - s)) / 2e-5 for s in 1e-5 * np.eye(2)])
    u = np.array([slope(each) for each in parts])
    found = rb.coefficient_table(model, robust=True)
    assert np.allclose(found.se, np.sqrt((V @ u.T @ u @ V).diagonal()), rtol=1e-5)
    assert found.attrs["units"] == 12 and found.attrs["lam"] == lam
    judge = np.arange(12) // 3
    u = np.array([u[judge == k].sum(axis=0) for k in range(4)])
    found = rb.coefficient_table(model, cluster=judge)
    assert np.allclose(found.se, np.sqrt((V @ u.T @ u @ V).diagonal()), rtol=1e-5)


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_the_sandwich_is_the_infinitesimal_jackknife(ties):
    """Derivatives of the fit with respect to the weight of each patient, by refits."""
    rng = np.random.default_rng(0)
    X, time, event = rng.normal(size=(25, 2)), rng.integers(2, 8, 25), rng.random(25) < 0.7
    given = dict(qid=rng.integers(0, 2, 25), entry=time - rng.integers(1, 8, 25), ties=ties)
    weight, h = rng.integers(1, 4, 25).astype(float), 1e-3

    def fitted(weight):
        y = rb.Orders.from_survival(time, event, weight=weight, **given)
        return rb.RankSVM(**COX | dict(lam=0.1, solver=("newton", dict(tol=1e-15)))).fit(X, y)

    shifts = h * np.diag(weight)
    moved = [(fitted(weight + s).coef_ - fitted(weight - s).coef_) / (2 * h) for s in shifts]
    table = rb.coefficient_table(fitted(weight), robust=True)
    assert np.allclose(table.se, np.linalg.norm(moved, axis=0), rtol=1e-5)
    site = rng.integers(0, 6, 25)
    table = rb.coefficient_table(fitted(weight), cluster=site)
    by_site = [np.sum(np.array(moved)[site == k], axis=0) for k in range(6)]
    assert np.allclose(table.se, np.linalg.norm(by_site, axis=0), rtol=1e-5)


def tied_patients(seed):
    """Features, times with ties, events, entries and weights of 14 patients."""
    rng = np.random.default_rng(seed)
    time = rng.integers(1, 5, 14)
    entry = time - rng.integers(1, 4, 14)
    event, weight = rng.random(14) < 0.8, rng.integers(1, 4, 14).astype(float)
    return rng.normal(size=(14, 2)), time, event, entry, weight


def score(b, Z, time, event, entry, weight, ties):
    """Slope of the weighted log-likelihood of R at log hazard ratios b, by complex steps."""

    def log_likelihood(b):
        total, terms = 0.0, weight * np.exp(Z @ b)
        for t in np.unique(time[event]):
            own, there = event & (time == t), (entry < t) & (time >= t)
            d = own.sum()
            total += weight[own] @ (Z[own] @ b)
            for l in range(d):
                gone = l / d * terms[own].sum() if ties == "efron" else 0.0
                total -= weight[own].sum() / d * np.log(terms[there].sum() - gone)
        return total

    return np.array([log_likelihood(b + 1e-30j * e).imag / 1e-30 for e in np.eye(2)])


def sensitivities(b, Z, time, event, entry, weight, ties):
    """Derivatives of the score by each weight, times the weight, by differences."""
    at = lambda weight: score(b, Z, time, event, entry, weight, ties)
    moved = [(at(weight + s) - at(weight - s)) / 2e-5 for s in 1e-5 * np.eye(weight.size)]
    return weight[:, None] * moved


def contributions_of(model):
    """Contributions of each patient at the solution of a model."""
    problem = model.solution_.problem
    f = problem.scores(model.coef_)
    found = np.zeros_like(problem.X)  # a patient who is never at risk contributes nothing
    sums = problem.sums_at(f, problem.loss.derivative)[0]
    found[np.unique(problem.summed.item)] = contributions(problem, f, sums, None)
    return found


@pytest.mark.parametrize("ties", ["breslow", "efron"])
@pytest.mark.parametrize("seed", range(4))
def test_contributions_are_derivatives_of_the_score_by_the_weights(seed, ties):
    """Of tied events with entries and weights, in the likelihood as R weighs it."""
    Z, time, event, entry, weight = tied_patients(seed)
    y = rb.Orders.from_survival(time, event, entry=entry, weight=weight, ties=ties)
    model = rb.RankSVM(**COX | dict(lam=0.1)).fit(Z, y)
    given = (-model.coef_, Z, time, event, entry, weight, ties)
    assert np.allclose(contributions_of(model), sensitivities(*given), atol=1e-7)
    assert np.allclose(contributions_of(model).sum(axis=0), score(*given), atol=1e-12)


@pytest.mark.peer("lifelines")
@pytest.mark.filterwarnings("ignore:Starting with pandas version 4.0:DeprecationWarning:lifelines")
def test_lifelines_lets_tied_patients_leave_in_turn():
    """Its errors are those of broken ties, and change if the rows are in another order."""
    from lifelines import CoxPHFitter

    found = []
    for seed in (None, 0):
        table = TABLE if seed is None else TABLE.sample(frac=1, random_state=seed)
        X, quarter = table[FEATURES].astype(float), table.week // 13
        given = X.assign(t=quarter, e=table.event, id=np.arange(len(table)))
        precise = dict(fit_options=dict(precision=1e-14))
        theirs = CoxPHFitter().fit(given, "t", "e", cluster_col="id", **precise).standard_errors_
        y = rb.Orders.from_survival(quarter, table.event, ties="efron")
        model = rb.RankSVM(**COX).fit(X, y)
        ours = rb.coefficient_table(model, robust=True).se
        turn = np.lexsort([table.event, quarter]).argsort()
        apart = rb.Orders.from_survival(turn, table.event)
        problem = model.solution_.problem
        f = problem.scores(model.coef_)
        broken = rb.RankSVMProblem(X, apart, "linear", loss="plackett-luce")
        u = contributions(broken, f, broken.sums_at(f, broken.loss.derivative)[0], None)
        H = problem.hessian(problem.sums_at(f, problem.loss.derivative)[0].bands)
        assert np.allclose(theirs, np.linalg.norm(u @ np.linalg.inv(H), axis=0), rtol=1e-6)
        found.append((ours.to_numpy(), theirs[FEATURES].to_numpy()))
    (ours, theirs), (same, others) = found
    assert np.allclose(ours, same, rtol=1e-8)
    assert np.abs(theirs / ours - 1).max() > 0.02 and np.abs(theirs / others - 1).max() > 0.002


def test_rows_of_a_patient_are_a_cluster():
    """A patient who is split into intervals contributes as in one row."""
    entry, X = np.zeros(len(TABLE)), TABLE[FEATURES].astype(float)
    whole = rb.Orders.from_survival(TABLE.week, TABLE.event, ties="efron", entry=entry)
    one = rb.coefficient_table(rb.RankSVM(**COX).fit(X, whole), robust=True)
    half = TABLE.week // 2
    later = np.flatnonzero(half > 0)
    rows = np.r_[np.arange(len(TABLE)), later]
    time, event = TABLE.week.to_numpy().copy(), TABLE.event.to_numpy().copy()
    time[later], event[later] = half[later], 0
    parts = rb.Orders.from_survival(
        np.r_[time, TABLE.week[later]],
        np.r_[event, TABLE.event[later]],
        ties="efron",
        entry=np.r_[entry, half[later]],
    )
    model = rb.RankSVM(**COX).fit(X.iloc[rows], parts)
    two = rb.coefficient_table(model, cluster=rows)
    assert np.allclose(one, two, rtol=1e-6)
    assert not np.allclose(one.se, rb.coefficient_table(model, robust=True).se, rtol=1e-3)


def test_columns_follow_from_coefficients_and_errors():
    from scipy.stats import norm

    X, y = TABLE[FEATURES].astype(float), target("efron")
    model = rb.RankSVM(**COX).fit(X, y)
    table = rb.coefficient_table(model, level=0.9)
    assert np.allclose(table.z, table.coef / table.se)
    assert np.allclose(table.p, 2 * norm.sf(np.abs(table.z)))
    reach = norm.ppf(0.95) * table.se
    assert np.allclose(table.low, table.coef - reach) and np.allclose(
        np.log(table.ratio_high), table.coef + reach
    )
    scaled = rb.coefficient_table(model, standardized=True)
    sd = X.to_numpy().std(axis=0)
    assert np.allclose(scaled.coef, table.coef * sd) and np.allclose(scaled.se, table.se * sd)
    assert np.allclose(scaled.p, table.p) and scaled.attrs["unit"] == "standard deviation"
    standard = make_pipeline(StandardScaler(), rb.RankSVM(**COX)).fit(X, y)
    again = rb.coefficient_table(standard, standardized=True)
    assert np.allclose(again.coef, scaled.coef, rtol=1e-6)
    sparse = pytest.importorskip("scipy.sparse").csr_array(X.to_numpy())
    other = rb.coefficient_table(rb.RankSVM(**COX).fit(sparse, y), standardized=True)
    assert np.allclose(other.se, scaled.se, rtol=1e-6)


def test_ties_of_votes_are_one_vote_of_half_the_variance():
    """In the sandwich a tie is one unit, and two half wins that are given apart are two."""
    rng = np.random.default_rng(0)
    pairs = np.array([rng.choice(9, 2, replace=False) for _ in range(80)])
    tie = rng.random(80) < 0.3
    table = dict(winner=pairs[:, 0], loser=pairs[:, 1], tie=tie)
    prefs = rb.Preferences.from_pairs(table, tie="tie", ties="half", n_items=9)
    X = rng.normal(size=(9, 2))
    model = rb.RankSVM(0.1, "linear", loss="logistic", solver=PRECISE).fit(X, prefs)
    found = rb.coefficient_table(model, robust=True)
    assert found.attrs["units"] == 80
    D = X[pairs[:, 0]] - X[pairs[:, 1]]
    p = 1 / (1 + np.exp(-D @ model.coef_))
    V = np.linalg.inv((D.T * p * (1 - p)) @ D + 0.1 * np.eye(2))
    u = (np.where(tie, 0.5, 1.0) - p)[:, None] * D
    assert np.allclose(found.se, np.sqrt((V @ u.T @ u @ V).diagonal()), rtol=1e-6)
    by_judge = rb.coefficient_table(model, cluster=np.arange(80) // 8)
    u = u.reshape(10, 8, 2).sum(axis=1)
    assert np.allclose(by_judge.se, np.sqrt((V @ u.T @ u @ V).diagonal()), rtol=1e-6)


def test_grades_have_robust_errors_by_query():
    rng = np.random.default_rng(1)
    X, y, qid = rng.normal(size=(60, 2)), rng.integers(0, 3, 60), np.repeat(np.arange(10), 6)
    model = rb.RankSVM(0.1, "linear", loss="logistic", solver=PRECISE).fit(X, y, qid)
    V, u, w = 0.1 * np.eye(2), np.zeros((10, 2)), model.coef_
    for i in range(60):
        for j in np.flatnonzero((qid == qid[i]) & (y < y[i])):
            D = X[i] - X[j]
            p = 1 / (1 + np.exp(-D @ w))
            V += p * (1 - p) * np.outer(D, D)
            u[qid[i]] += (1 - p) * D
    V = np.linalg.inv(V)
    found = rb.coefficient_table(model, robust=True)
    assert np.allclose(found.se, np.sqrt((V @ u.T @ u @ V).diagonal()), rtol=1e-6)


def test_a_fit_far_from_the_optimum_is_announced():
    X, y = TABLE[FEATURES].astype(float), target("efron")
    loose = rb.RankSVM(**COX).fit(X, y)
    far = dict(weights=0.99 * loose.coef_)
    loose.solution_ = rb.Solution(loose.solution_.problem, loose.lam_, **far)
    with pytest.warns(UserWarning, match="standard errors from the optimum"):
        rb.coefficient_table(loose)


def test_the_shift_by_the_penalty_is_stated():
    """About the distance from the fit without a penalty."""
    X, y = TABLE[FEATURES].astype(float), target("efron")
    free = rb.coefficient_table(rb.RankSVM(**COX).fit(X, y))
    table = rb.coefficient_table(rb.RankSVM(**COX | dict(lam=0.2)).fit(X, y))
    moved = (np.abs(table.coef - free.coef) / table.se).max()
    assert table.attrs["penalty_shift"] == pytest.approx(moved, rel=0.05) and moved > 0.03
    assert free.attrs["penalty_shift"] < 1e-8


def test_a_search_has_a_table():
    """Also inside a pipeline and a grid search of scikit-learn, with weights for the features."""
    from sklearn.model_selection import GridSearchCV

    X, y = TABLE[FEATURES].astype(float), target("efron strata")
    options = dict(kernel="linear", loss="plackett-luce")
    search = rb.RankSVMCV(**options, metric="log_loss", random_state=0).fit(X, y)
    one = rb.RankSVM(**COX | dict(lam=search.lam_)).fit(X, y)
    found, expected = rb.coefficient_table(search), rb.coefficient_table(one)
    assert np.allclose(found.se, expected.se, rtol=1e-3)
    assert found.attrs["lam"] == search.lam_
    whole = make_pipeline(StandardScaler(), rb.RankSVM(**COX))
    grid = GridSearchCV(whole, dict(ranksvm__lam=[1e-9]), cv=3).fit(X, y)
    again = rb.coefficient_table(grid)
    assert again.index.tolist() == FEATURES
    assert np.allclose(
        again.coef, rb.coefficient_table(rb.RankSVM(**COX).fit(X, y)).coef, rtol=1e-5
    )


def test_few_clusters_are_announced():
    X, y = TABLE[FEATURES].astype(float), target("efron")
    with pytest.warns(UserWarning, match="3 units for 3 coefficients, so .* too small"):
        rb.coefficient_table(rb.RankSVM(**COX).fit(X, y), cluster=TABLE.clinic)


def fit(**options):
    X, y = TABLE[FEATURES].astype(float), target("efron")
    return rb.RankSVM(**COX | dict(lam=1.0, solver="auto") | options).fit(X, y)


RANKINGS = rb.Preferences.from_rankings([[0, 1, 2], [2, 0, 1]])


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: rb.coefficient_table(fit(loss="hinge")), "prefs is an Orders"),
        (lambda: rb.coefficient_table(fit(kernel="rbf")), "kernel is 'rbf'. Fit with a linear"),
        (lambda: rb.coefficient_table(fit(signs=[1, 0, 0])), "weights have signs"),
        (lambda: rb.coefficient_table(fit(), level=1.0), "level is 1.0"),
        (lambda: rb.coefficient_table(fit(), robust="HC0"), "robust is 'HC0'"),
        (lambda: rb.coefficient_table(fit(), cluster=[1, 2]), r"cluster has shape \(2,\)"),
        (
            lambda: rb.coefficient_table(fit(), cluster=np.zeros(len(TABLE))),
            "cluster has one independent unit. Pass at least two",
        ),
        (lambda: rb.coefficient_table(rb.RankRLS().fit([[1.0], [2.0]], [0, 1])), "loss 'squares'"),
        (
            lambda: rb.coefficient_table(
                rb.RankSVM(kernel="linear", loss="logistic").fit([[1.0], [2.0], [4.0]], RANKINGS)
            ),
            "pairs of rankings, which are not independent",
        ),
        (
            lambda: rb.coefficient_table(
                rb.RankSVM(kernel="linear", loss="logistic").fit([[1.0], [2.0]], [0, 1]),
                robust=True,
            ),
            "pairs of scores, which are not independent",
        ),
    ],
)  # fmt: skip
def test_models_without_a_table_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_saved_model_has_no_training_data(tmp_path):
    model = fit()
    model.save(tmp_path / "m")
    with pytest.raises(ValueError, match="model has no solution_"):
        rb.coefficient_table(rb.load(tmp_path / "m"))
    assert isinstance(rb.coefficient_table(model), pd.DataFrame)


def separated(n=40, treated=10):
    """Patients of whom no treated one has an event."""
    rng = np.random.default_rng(0)
    group = np.arange(n) < treated
    event = (rng.random(n) < 0.7) & ~group
    y = rb.Orders.from_survival(rng.integers(1, 30, n), event)
    return np.column_stack([group, rng.normal(size=n)]).astype(float), y


@pytest.mark.parametrize("lam", [1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("robust", [False, True])
def test_an_infinite_effect_is_said(lam, robust):
    X, y = separated()
    model = rb.RankSVM(lam, kernel="linear", loss="plackett-luce").fit(X, y)
    with pytest.warns(UserWarning, match="keeps the coefficients of 'x0' finite, .* no event"):
        rb.coefficient_table(model, robust=robust)


def test_a_large_effect_is_not_called_infinite():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = rb.Orders.from_survival(rng.exponential(np.exp(-3 * X[:, 0])), np.ones(300, bool))
    model = rb.RankSVM(1e-3, kernel="linear", loss="plackett-luce").fit(X, y)
    assert rb.coefficient_table(model).coef.iloc[0] > 2.5


def test_columns_that_depend_on_each_other_are_named():
    rng = np.random.default_rng(1)
    age, group = rng.normal(60, 10, 80), rng.integers(0, 3, 80)
    X = np.column_stack([age, age * 365.25, rng.normal(size=80), *np.eye(3)[group].T, np.ones(80)])
    y = rb.Orders.from_survival(rng.integers(1, 50, 80), rng.random(80) < 0.6)
    frame = pd.DataFrame(X, columns=["age", "days", "marker", "a", "b", "c", "one"])
    model = rb.RankSVM(1e-6, kernel="linear", loss="plackett-luce").fit(frame, y)
    with (
        pytest.warns(UserWarning, match="the coefficients of 'age', 'days', 'one', whose columns"),
        pytest.warns(UserWarning, match="the columns of 'a', 'b', 'c' sum to one"),
    ):
        table = rb.coefficient_table(model)
    assert table.loc["marker", "se"] < 1
    assert table.attrs["undetermined"] == [name for name in frame if name != "marker"]
    alone = frame[["age", "marker", "a", "b"]]
    rb.coefficient_table(rb.RankSVM(1e-6, kernel="linear", loss="plackett-luce").fit(alone, y))


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("scaler", [MaxAbsScaler(), "passthrough"])
def test_all_codes_of_a_pipeline_are_named_with_the_way_out(sparse, scaler):
    table = WORDS[["age", "stage", "treated"]]
    made = {}
    for drop in (None, "first"):
        encoder = OneHotEncoder(drop=drop, sparse_output=sparse)
        codes = ("codes", encoder, ["stage", "treated"])
        first = ColumnTransformer(
            [codes, ("rest", "passthrough", ["age"])], sparse_threshold=sparse
        )
        made[drop] = make_pipeline(
            first, clone(scaler, safe=False), rb.RankSVM(**COX | dict(lam=1e-6))
        )
        made[drop].fit(table, target("efron"))
    with (
        pytest.warns(rb.Assumption, match="in its unit"),
        pytest.warns(UserWarning, match="sum to one.*drop='first'") as said,
    ):
        found = rb.coefficient_table(made[None])
    text = next(str(each.message) for each in said if "sum to one" in str(each.message))
    stages = ", ".join(f"'codes__stage_{each}'" for each in ("I", "II", "III", "IV"))
    both = ", ".join(f"'codes__treated_{each}'" for each in ("drug", "placebo"))
    assert text.startswith(f"the columns of {stages} and those of {both} sum to one")
    assert found.attrs["undetermined"] == [name for name in found.index if "codes" in name]
    with pytest.warns(rb.Assumption, match="in its unit"):
        way_out = rb.coefficient_table(made["first"])
    assert "undetermined" not in way_out.attrs and len(way_out) == 5


def test_groups_of_codes():
    eye = np.eye(3)[[0, 1, 2, 1, 0]]
    X = np.column_stack([eye, np.arange(5.0), eye[:, 0] * 3 - 1, 1 - eye[:, 0], eye[:, :2], eye])
    assert one_hot_groups(X, range(11)) == [[0, 1, 2], [4, 5], [8, 9, 10]]
    assert one_hot_groups(X, [0, 2, 3]) == [] and one_hot_groups(np.ones((3, 2)), [0, 1]) == []


def test_steps_other_than_one_scaler_are_said():
    rng = np.random.default_rng(2)
    X = rng.normal(60, 10, size=(80, 2))
    y = rb.Orders.from_survival(rng.integers(1, 50, 80), rng.random(80) < 0.6)
    last = rb.RankSVM(1e-6, kernel="linear", loss="plackett-luce")
    plain = rb.coefficient_table(clone(last).fit(X, y))
    passed = Pipeline([("s", StandardScaler()), ("p", "passthrough"), ("m", clone(last))])
    table = rb.coefficient_table(passed.fit(X, y))
    assert table.attrs["unit"] == "own" and np.allclose(table.coef, plain.coef, rtol=1e-4)
    for steps in ([MinMaxScaler()], [StandardScaler(), StandardScaler()]):
        with pytest.warns(rb.Assumption, match="Scaler returns, in its unit"):
            table = rb.coefficient_table(make_pipeline(*steps, clone(last)).fit(X, y))
        assert table.attrs["unit"] == "transformed"


def test_the_name_of_a_cluster_is_not_a_cluster():
    X, y = separated()
    model = rb.RankSVM(1e-3, kernel="linear", loss="plackett-luce").fit(X, y)
    with pytest.raises(ValueError, match="^cluster is 'clinic'. Pass .* table\\['clinic'\\]"):
        rb.coefficient_table(model, cluster="clinic")


def encoded(table, target, numbers, texts, lam=1e-9, standardize=True, **more):
    """The model of ``rankbook fit --encode`` for columns of a table."""
    categories = {name: sorted(set(table[name])) for name in texts}
    encoding = Encoding((*numbers, *texts), categories, {})
    X = encoding.transform("table", table[[*numbers, *texts]])
    centre, factor = scaling(X) if standardize else (np.zeros(X.shape[1]), np.ones(X.shape[1]))
    model = rb.RankSVM(**COX | dict(lam=lam) | more).fit(standardise(X, centre, factor), target)
    return ScaledModel(model, centre, factor, encoding.columns, encoding=encoding), X


WORDS = TABLE.assign(
    clinic=TABLE.clinic.astype(str),
    treated=np.where(TABLE.treated == 1, "drug", "placebo"),
    stage=np.array(["I", "II", "III", "IV"])[np.arange(len(TABLE)) ** 2 % 13 % 4],
)


@pytest.mark.peer("lifelines")
@pytest.mark.filterwarnings("ignore:Starting with pandas version 4.0:DeprecationWarning:lifelines")
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("reference", [None, ("placebo", "III")])
def test_categories_are_those_of_lifelines(standardize, reference):
    """Six digits of the differences to the first categories, or to named ones."""
    from lifelines import CoxPHFitter

    texts = ["treated", "stage", "clinic"]
    model, _ = encoded(WORDS, target("efron"), ["age", "marker"], texts, standardize=standardize)
    names = ["drug", "I"] if reference is None else list(reference)
    levels = {"treated": ["drug", "placebo"], "stage": ["I", "II", "III", "IV"]}
    levels["clinic"] = sorted(set(WORDS.clinic))
    codes = WORDS[["age", "marker", "week", "event"]].astype(float)
    for text, first in zip(texts, [*names, levels["clinic"][0]]):
        for word in levels[text]:
            if word != first:
                codes[f"{text}={word}"] = 1.0 * (WORDS[text] == word)
    theirs = CoxPHFitter().fit(codes, "week", "event", fit_options=dict(precision=1e-14)).summary
    asked = () if reference is None else (f"treated={names[0]}", f"stage={names[1]}")
    table = rb.coefficient_table(model, reference=asked)
    assert table.index.tolist() == theirs.index.tolist()
    for ours, column in dict(coef="coef", se="se(coef)", ratio="exp(coef)", p="p").items():
        assert np.allclose(table[ours], theirs[column], rtol=1e-6, atol=0)
    assert table.attrs["reference"]["stage=II"] == f"stage={names[1]}"
    assert "age" not in table.attrs["reference"] and table.attrs["penalty_shift"] < 1e-6


@pytest.mark.parametrize("lam", [1e-9, 3.0])
@pytest.mark.parametrize("robust", [False, True])
def test_differences_have_the_covariance_of_all_categories(lam, robust):
    """Differences of rows and columns of the full covariance, which a penalty makes regular."""
    texts = ["stage", "clinic"]
    model, X = encoded(WORDS, target("efron"), ["age"], texts, lam=lam)
    table = rb.coefficient_table(model, robust=robust)
    inner, d = model.model, X.shape[1]
    problem = inner.solution_.problem
    f = problem.scores(inner.coef_)
    sums = problem.sums_at(f, problem.loss.derivative)[0]
    V = np.linalg.inv(problem.hessian(sums.bands) + max(lam, 1e-6) * np.eye(d))
    if robust:
        u = contributions(problem, f, sums, None)
        V = V @ u.T @ u @ V
    C = np.zeros((6, d))
    C[[0, 1, 2, 3, 4, 5], [0, 2, 3, 4, 6, 7]] = model.factor[[0, 2, 3, 4, 6, 7]]
    C[1:4, 1], C[4:, 5] = -model.factor[1], -model.factor[5]
    assert np.allclose(table.coef, -C @ inner.coef_, rtol=1e-9)
    error = np.sqrt((C @ V @ C.T).diagonal())
    assert np.allclose(table.se, error, rtol=1e-5)
    if lam < 1:  # the table of the model without the two columns
        kept = [0, 2, 3, 4, 6, 7]
        plain = rb.RankSVM(**COX | dict(lam=lam)).fit(X[:, kept], target("efron"))
        for more in (dict(robust=robust), dict(cluster=np.arange(len(TABLE)) // 3)):
            for standardized in (False, True):
                more["standardized"] = standardized
                expected, found = (rb.coefficient_table(m, **more) for m in (plain, model))
                assert np.allclose(found, expected, rtol=1e-6)


def test_categories_of_pairs_are_those_of_fewer_columns():
    """Odds ratios of votes, with a penalty so small that it has no effect."""
    first, second, won = votes(TABLE)
    ends = np.where(won, first, second), np.where(won, second, first)
    prefs = rb.Preferences(*ends, n_items=len(TABLE))
    model, X = encoded(WORDS, prefs, ["age"], ["stage"], loss="logistic")
    plain = rb.RankSVM(**COX | dict(loss="logistic")).fit(X[:, [0, 2, 3, 4]], prefs)
    found = rb.coefficient_table(model)
    assert np.allclose(found, rb.coefficient_table(plain), rtol=1e-6)
    assert found.index.tolist() == ["age", "stage=II", "stage=III", "stage=IV"]


def test_the_penalty_shift_of_categories_is_that_of_their_differences():
    free = rb.coefficient_table(encoded(WORDS, target("efron"), ["age"], ["stage"])[0])
    model, _ = encoded(WORDS, target("efron"), ["age"], ["stage"], lam=0.2)
    table = rb.coefficient_table(model)
    moved = (np.abs(table.coef - free.coef) / table.se).max()
    assert table.attrs["penalty_shift"] == pytest.approx(moved, rel=0.05) and moved > 0.003


def test_categories_that_the_data_do_not_determine_are_announced():
    """Two equal columns of text, and a column of one category, which has no reference."""
    same = WORDS.assign(again=WORDS.stage)
    model, _ = encoded(same, target("efron"), [], ["stage", "again"])
    with pytest.warns(UserWarning, match="'stage=II', 'stage=III', 'stage=IV', 'again=II'"):
        rb.coefficient_table(model)
    one = WORDS.assign(city="Oslo")
    model, _ = encoded(one, target("efron"), ["age"], ["stage", "city"])
    with pytest.warns(UserWarning, match="do not determine the coefficients of 'city=Oslo'"):
        table = rb.coefficient_table(model)
    assert table.index.tolist()[-1] == "city=Oslo" and table.coef.iloc[-1] == 0
    assert table.iloc[-1][["se", "z", "p", "low", "high"]].isna().all()
    assert np.isfinite(table.iloc[:-1]).all(axis=None)


@pytest.mark.parametrize(
    "reference, said",
    [
        ("stage=V", r"reference is 'stage=V' \(did you mean 'stage=IV'\?\). Pass one of: stage=I,"),
        ("age", "reference is 'age'.* Pass one of: stage=I,"),
        (["stage=I", "stage=II"], "reference names 'stage=I' and 'stage=II'. Pass one category"),
        (3, "reference is 3. Pass feature names, such as"),
        ([3], r"reference is \[3\]. Pass feature names"),
    ],
)
def test_unknown_references_are_refused(reference, said):
    model, _ = encoded(WORDS, target("efron"), ["age"], ["stage"])
    with pytest.raises(ValueError, match=said):
        rb.coefficient_table(model, reference=reference)


def test_a_reference_is_a_whole_name():
    table = WORDS.assign(**{"a=b": np.where(WORDS.treated == "drug", "c=d", "=")})
    model, _ = encoded(table, target("efron"), ["age"], ["a=b"])
    assert rb.coefficient_table(model).attrs["reference"] == {"a=b=c=d": "a=b=="}
    found = rb.coefficient_table(model, reference="a=b=c=d").attrs["reference"]
    assert found == {"a=b==": "a=b=c=d"}
    with pytest.raises(ValueError, match="reference is 'a=b' .* Pass one of: a=b==, a=b=c=d"):
        rb.coefficient_table(model, reference="a=b")
    table["a"] = np.where(WORDS.treated == "drug", "b=c=d", "b")
    model, _ = encoded(table, target("efron"), ["age"], ["a=b", "a"])
    with pytest.raises(ValueError, match="reference is 'a=b=c=d', the name of two features"):
        rb.coefficient_table(model, reference="a=b=c=d")


def test_a_reference_without_encoded_columns_is_refused():
    plain = rb.RankSVM(**COX).fit(TABLE[FEATURES].astype(float), target("efron"))
    with pytest.raises(ValueError, match="no encoded column of two categories. Omit reference"):
        rb.coefficient_table(plain, reference="stage=I")
