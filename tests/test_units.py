"""Units of pair features, items, weights and survival times, of which no answer may depend."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import rankbook as rb
from rankbook.app.cli.main import app

N, M, D, P = 9, 60, 2, 3
FEW = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
UNIT = st.floats(-6, 6).map(lambda power: 10.0**power)
SEED = st.integers(0, 10**6)
LOSSES = dict(hinge="path", squared=("newton", dict(tol=1e-12)))
LOSSES["logistic"] = "newton", dict(tol=1e-13)


def items(seed):
    """Items with ties and duplicates (N, D)."""
    return np.random.default_rng(seed).integers(-2, 3, (N, D)) + np.eye(N, D)


def votes(seed, units=1.0, times=1.0):
    """Votes with weights and pair features: a side, whole numbers with ties, and real numbers."""
    rng = np.random.default_rng(seed)
    a, b = np.array([rng.choice(N, 2, replace=False) for _ in range(M)]).T
    u = np.column_stack([np.ones(M), rng.integers(-2, 3, M), rng.normal(size=M)])
    score, weight = rng.normal(size=N), rng.integers(1, 4, M)
    win = score[a] - score[b] + u @ [0.5, 0.5, 1.0] + rng.logistic(size=M) > 0
    ends = np.where(win, a, b), np.where(win, b, a)
    u = np.where(win[:, None], u, -u) * units
    return rb.Preferences(*ends, N, weight=times * weight, pair_features=u)


def unit_of(feature, unit):
    """Units (P,) that are 1 for all features but one."""
    return np.where(np.arange(P) == feature, unit, 1.0)


def assert_close(a, b):
    """Scores, up to a constant, agree within 1e-6 of their spread."""
    assert np.ptp(a - b) <= 1e-6 * max(np.ptp(a), 1e-3)


def assert_same(one, other, X, X_other=None, units=1.0):
    """Two models give the same scores, and the same effects of pair features in other units."""
    assert_close(one.predict(X), other.predict(X if X_other is None else X_other))
    effects = one.pair_coef_ * one.pair_scale_
    size = 1e-6 * np.abs(effects).max() + 1e-9
    np.testing.assert_allclose(other.pair_coef_ * units * one.pair_scale_, effects, atol=size)


FITS = [
    dict(kernel=kernel, loss=loss, lam=lam)
    for kernel in ("linear", "rbf")
    for loss in LOSSES
    for lam in (0.3, "scale")
]
FITS += [
    dict(kernel="linear", penalty="l1", loss="squared", solver="homotopy"),
    dict(kernel="linear", signs=[1, -1], solver="qp"),
]
FITS += [dict(kernel="linear", loss="logistic", pair_lam=0.1)]


def model_of(options, **more):
    loss = options.get("loss", "hinge")
    return rb.RankSVM(**dict(solver=LOSSES[loss]) | options | more)


@pytest.mark.parametrize("options", FITS, ids=str)
@FEW
@given(SEED, st.integers(0, P - 1), UNIT)
def test_pair_features_of_a_ranking_svm(options, seed, feature, unit):
    X, units = items(seed), unit_of(feature, unit)
    one = model_of(options).fit(X, votes(seed))
    assert_same(one, model_of(options).fit(X, votes(seed, units)), X, units=units)


@pytest.mark.parametrize("options", FITS, ids=str)
@FEW
@given(SEED, st.floats(-3, 3).map(lambda power: 10.0**power))
def test_weights(options, seed, times):
    given = {name: options[name] for name in ("lam", "pair_lam") if name in options}
    more = {name: times * value for name, value in given.items() if value != "scale"}
    X = items(seed)
    one = model_of(options).fit(X, votes(seed))
    assert_same(one, model_of(options, **more).fit(X, votes(seed, times=times)), X)


@pytest.mark.parametrize("options", FITS, ids=str)
@FEW
@given(SEED, st.floats(-3, 3).map(lambda power: 10.0**power))
def test_items(options, seed, unit):
    X = items(seed)
    power = 1 if options.get("penalty") == "l1" else 2
    is_linear, more, first = options["kernel"] == "linear", {}, {}
    if not is_linear:
        first, more = dict(gamma=0.5), dict(gamma=0.5 / unit**2)
    elif options.get("lam", "scale") != "scale":
        more = dict(lam=options["lam"] * unit**power)
    one = model_of(options, **first).fit(X, votes(seed))
    assert_same(one, model_of(options, **more).fit(unit * X, votes(seed)), X, unit * X)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("fold_by", ["pair", "item"])
@FEW
@given(SEED, st.integers(0, P - 1), UNIT)
def test_pair_features_of_cross_validation(fold_by, kernel, seed, feature, unit):
    X, units = items(seed), unit_of(feature, unit)
    cv = [(np.arange(0, N, 2), np.arange(1, N, 2))] if fold_by == "item" else 3
    model = lambda: rb.RankSVMCV(kernel, cv=cv, fold_by=fold_by, solver="path", lam_min_ratio=1e-3)
    one, other = (model().fit(X, votes(seed, units)) for units in (1.0, units))
    assert one.curve_.minimum == pytest.approx(other.curve_.minimum)
    assert one.lam_ == pytest.approx(other.lam_, rel=1e-6)
    assert_same(one, other, X, units=units)


@pytest.mark.parametrize("pairs", [False, True])
@FEW
@given(SEED, st.integers(0, P - 1), UNIT)
def test_pair_features_of_matched_priors_and_intervals(pairs, seed, feature, unit):
    X, units, found = np.eye(N), unit_of(feature, unit), []
    for each in (1.0, units):
        model = rb.RankSVM(kernel="linear", loss="logistic", solver=LOSSES["logistic"])
        found.append(rb.match_prior(model, X, votes(seed, each), pairs=pairs))
    one, other = found
    assert one.lam_ == pytest.approx(other.lam_, rel=1e-6)
    assert one.pair_lam == pytest.approx(other.pair_lam, rel=1e-6)
    assert_same(one, other, X, units=units)
    for method in ("laplace", "bootstrap"):
        first, second = (
            rb.order_intervals(model, X, method=method, n_resamples=100) for model in found
        )
        for name in ("score", "low", "high"):
            assert_close(getattr(first, name), getattr(second, name))
        assert np.array_equal(first.rank, second.rank)


def done(*line):
    """Run a command and return what it prints."""
    found = CliRunner().invoke(app, list(map(str, line)))
    assert found.exit_code == 0, found.stderr
    return found.stdout


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(prefs, X):
    names = np.array([f"n{i}" for i in range(N)])
    table = pd.DataFrame(prefs.pair_features, columns=list("uvw"))
    table.assign(winner=names[prefs.better], loser=names[prefs.worse]).to_csv(
        "votes.csv", index=False
    )
    pd.DataFrame(X, columns=["a", "b"]).assign(name=names).to_csv("items.csv", index=False)


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("feature", range(P))
def test_the_command_line(unit, feature):
    found, given = [], ["--column", "pair_features=u,v,w"]
    for scale in (1.0, unit):
        write(votes(0, unit_of(feature, scale)), items(0) * [scale, 1.0])
        table = json.loads(done("rank", "votes.csv", *given, "--intervals", "--json"))["items"]
        said = done("rank", "votes.csv", *given).splitlines()[-1]
        fit = ["fit", "items.csv", "--name", "name", "--preferences", "votes.csv", *given]
        done(*fit, "--kernel", "linear", "--loss", "logistic", "-o", "m")
        done(*fit, "-o", "r")
        predict = ["predict", "m", "items.csv", "--name", "name"]
        scores = [json.loads(done(*predict, "--json")) for predict[1] in ("m", "r")]
        found.append((table, said, scores))
    (one, said, scores), (other, again, same) = found
    for name in ("score", "low", "high"):
        a, b = (np.array([row[name] for row in table]) for table in (one, other))
        assert_close(a, b)
    effects = lambda text: [part.split()[:2] for part in text.strip("()").split("; ")]
    assert effects(said) == effects(again)
    for a, b in zip(scores, same):
        assert_close(*(np.array([row["score"] for row in rows]) for rows in (a, b)))


@pytest.mark.parametrize("loss", [*LOSSES, "plackett-luce"])
@FEW
@given(SEED, st.floats(-6, 6).map(lambda power: 10.0**power))
def test_survival_times(loss, seed, unit):
    rng = np.random.default_rng(seed)
    X, time, event = items(seed), rng.integers(1, 6, N) * 1.0, rng.random(N) < 0.7
    time[:2], event[:2] = [1, 5], True
    y = lambda unit: rb.Preferences.from_survival(unit * time, event)
    solver = LOSSES.get(loss, ("newton", dict(tol=1e-14)))
    model = lambda: rb.RankSVM(kernel="linear", loss=loss, solver=solver)
    assert_close(model().fit(X, y(1.0)).predict(X), model().fit(X, y(unit)).predict(X))


@pytest.mark.parametrize("loss", LOSSES)
@FEW
@given(SEED, st.floats(-3, 3).map(lambda power: 10.0**power))
def test_weights_of_items(loss, seed, times):
    rng = np.random.default_rng(seed)
    X, y, weight = items(seed), np.arange(N) % 3, rng.integers(1, 4, N)
    solver = "path" if loss == "hinge" else LOSSES[loss]
    for lam in ("scale", 0.3):
        one = rb.RankSVM(lam, "linear", loss=loss, solver=solver).fit(X, y, sample_weight=weight)
        lam = lam if lam == "scale" else times**2 * lam  # a pair has the product of two weights
        other = rb.RankSVM(lam, "linear", loss=loss, solver=solver)
        other.fit(X, y, sample_weight=times * weight)
        assert_close(one.predict(X), other.predict(X))
