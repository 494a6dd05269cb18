"""Paths and curves that models with a chosen lambda have, and the plots that take them."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import rankbook as rb

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(40, 3)), [f"item {i}" for i in range(40)], list("abc"))
Y = np.round(X["a"] - X["b"] + 0.5 * RNG.normal(size=40))
LAMS = [0.01, 0.1, 1.0, 10.0, 100.0]
VOTES = X.index.to_numpy()[np.array([RNG.choice(40, 2, replace=False) for _ in range(90)])]
MODELS = [
    rb.RankSVMCV(cv=3, lam_min_ratio=1e-3),
    rb.RankSVMCV("linear", cv=3, lam_min_ratio=1e-3, solver="epsilon"),
    rb.RankSVMCV("linear", penalty="l1", cv=3, lam_min_ratio=1e-2),
    rb.RankRLSCV(LAMS, gamma=[0.1, 0.5], cv=3),
    rb.RankRLSCV(LAMS, "linear", cv=3),
    rb.RankRLSCV(LAMS, basis=15, cv=3),
]


@pytest.mark.parametrize("given", ["scores", "pairs"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_path_and_curve(model, given, tmp_path):
    model.fit(X, **(dict(y=Y) if given == "scores" else dict(preferences=VOTES)))
    path, curve = model.path_, model.curve_
    assert path is model.path_
    if isinstance(model, rb.RankSVMCV):  # both solutions are nearly optimal
        assert path.certificate(model.lam_).relative_gap <= 2e-3
        assert model.certificate_.relative_gap <= 2e-3
    else:  # up to a constant
        apart = path.predict(X, model.lam_) - model.predict(X)
        assert np.ptp(apart) < 1e-8
    low = max(path.domain[0], 1e-3)
    assert low <= max(curve.breaks[-1], 1e-3) * (1 + 1e-9)
    for value in (curve.at(model.lam_), curve.optimum):
        assert value == pytest.approx(getattr(model, "best_value_", curve.optimum), abs=1e-12)
    assert rb.plots.plot_path(path) and rb.plots.plot_validation_curve(curve, lam=model.lam_)
    plt.close("all")
    # neither goes into a pickle or a file
    model.save(tmp_path / "m.rankbook")
    for one in (pickle.loads(pickle.dumps(model)), rb.load(tmp_path / "m.rankbook")):
        assert "path_" not in vars(one) and not hasattr(one, "path_")
        assert np.array_equal(one.curve_.values, curve.values)
        assert np.array_equal(one.predict(X), model.predict(X))
    model.fit(X, Y)
    assert "path_" not in vars(model) and model.path_ is not path


def test_a_curve_over_a_grid_has_the_values_of_the_table():
    model = rb.RankRLSCV([10.0, 0.1, 1.0, 1.0, 1e3], gamma=[0.1, 0.5], cv=4, metric="map")
    model.fit(X, (Y > 0).astype(int))
    column = model.gammas_.index(model.gamma_)
    assert np.allclose(model.curve_.at(model.lams_), model.cv_values_[:, column], atol=1e-12)
    assert not model.curve_.exact and model.curve_.maximize
    assert model.curve_.metric == "average_precision"
    one = rb.RankRLSCV([3.0], cv=4).fit(X, Y)
    assert one.curve_.values.tolist() == [one.best_value_]
    assert one.curve_.choose() == pytest.approx(3.0)


@pytest.mark.parametrize("name", ["average_precision", "reciprocal_rank"])
def test_synonyms_choose_alike(name):
    short = dict(average_precision="map", reciprocal_rank="mrr")[name]
    y, qid = (Y > 0).astype(int), np.arange(40) // 5
    for model in (rb.RankSVMCV("linear", cv=4), rb.RankRLSCV(LAMS, cv=4)):
        found = [model.set_params(metric=m).fit(X, y, qid=qid).curve_ for m in (name, short)]
        assert np.array_equal(found[0].values, found[1].values) and found[0].metric == name
    fold = rb.RankSVMCV("linear", cv=4, metric=short).fit(X, y, qid=qid).fold_curves_[0]
    assert fold.maximize and 0 <= fold.optimum <= 1


def test_blocks_have_no_path():
    blocks = rb.Blocks([rb.Block(X.to_numpy(), Y, np.arange(40) // 10)])
    model = rb.RankRLSCV(LAMS, "linear", cv="query").fit(blocks)
    with pytest.raises(AttributeError, match="path_ needs items in memory"):
        model.path_  # noqa: B018
    assert model.curve_.at(model.lam_) == pytest.approx(model.best_value_)
