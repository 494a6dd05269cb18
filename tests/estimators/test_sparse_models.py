"""RankSVM and RankSVMCV with sparse penalties of smooth losses."""

import numpy as np
import pytest
from sklearn.base import clone

import rankbook as rb

RNG = np.random.default_rng(0)
N, D = 60, 80
X = RNG.normal(size=(N, D))
Y = np.round(2 * (X[:, 0] - X[:, 1] + RNG.normal(size=N) / 2))
TIME = np.ceil(20 * RNG.exponential(np.exp(X[:, 0])))
SURVIVAL = np.array(list(zip(RNG.random(N) < 0.7, TIME)), dtype=[("event", bool), ("time", float)])
CASES = [("logistic", Y), ("plackett-luce", Y), ("plackett-luce", SURVIVAL), ("squared", Y)]


@pytest.mark.parametrize(("loss", "y"), CASES)
@pytest.mark.parametrize("penalty", ["l1", "elastic-net"])
def test_a_fit_selects_features(loss, y, penalty):
    model = rb.RankSVM(kernel="linear", loss=loss, penalty=penalty, l1_ratio=0.9).fit(X, y)
    used = np.count_nonzero(model.coef_)
    assert 0 < used < D and model.certificate_.is_optimal(1e-6)
    top = np.argsort(-np.abs(model.coef_))[:4]
    assert 0 in top
    if penalty == "elastic-net":
        assert model.solution_.problem.penalty.l1_ratio == 0.9
        dense = clone(model).set_params(lam=model.lam_, l1_ratio=0.05).fit(X, y)
        assert np.count_nonzero(dense.coef_) > used


@pytest.mark.parametrize("penalty", ["l1", "elastic-net"])
def test_cross_validation_with_one_standard_error(penalty):
    options = dict(kernel="linear", loss="logistic", penalty=penalty, cv=3, lam_min_ratio=0.05)
    best, sparse = (rb.RankSVMCV(**options, rule=rule).fit(X, Y) for rule in ("largest", "one_se"))
    assert sparse.lam_ >= best.lam_ and sparse.path_solver_.startswith("sparse")
    assert 0 < np.count_nonzero(sparse.coef_) <= np.count_nonzero(best.coef_) < D
    assert best.curve_.minimum < 0.25 and sparse.certificate_.is_optimal(1e-6)
    path = sparse.path_
    at = np.flatnonzero(path.breakpoints >= sparse.lam_)[-1]
    assert abs(path.degrees_of_freedom[at] - np.count_nonzero(sparse.coef_)) <= 3


def test_units_of_the_coefficients():
    """Weights are those of the columns as they are, whatever their offset."""
    far = X * np.linspace(1, 2, D) + 2e6
    model = rb.RankSVM(5.0, kernel="linear", loss="logistic", penalty="l1").fit(far, Y)
    near = rb.RankSVM(5.0, kernel="linear", loss="logistic", penalty="l1")
    assert np.allclose(model.coef_, near.fit(far - 2e6, Y).coef_, atol=1e-6)


def test_pair_features_and_names(tmp_path):
    prefs = rb.Preferences([0, 1, 2, 3], [1, 2, 3, 4], 5, pair_features=np.ones((4, 1)))
    options = dict(kernel="linear", loss="logistic", penalty="elastic-net", l1_ratio=0.25)
    model = rb.RankSVM(0.1, **options).fit(X[:5], prefs)
    assert model.pair_coef_.shape == (1,) and model.certificate_.is_optimal(1e-6)
    with pytest.raises(ValueError, match="^pair_lam is 1.0 and penalty is 'elastic-net'"):
        rb.RankSVM(0.1, pair_lam=1.0, **options).fit(X[:5], prefs)
    plain = rb.RankSVM(0.1, **options).fit(X, Y)
    plain.save(tmp_path / "model.rankbook")
    again = rb.load(tmp_path / "model.rankbook")
    assert again.l1_ratio == 0.25 and np.array_equal(again.coef_, plain.coef_)


@pytest.mark.parametrize("kind", [rb.RankSVM, rb.RankSVMCV])
def test_errors(kind):
    model = kind(kernel="linear", penalty="elastic-net", loss="logistic", l1_ratio=2)
    with pytest.raises(ValueError, match="^l1_ratio is 2. Pass a finite number > 0, at most 1"):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="^penalty is 'elastic-net' and loss is 'hinge'"):
        kind(kernel="linear", penalty="elastic-net").fit(X, Y)
