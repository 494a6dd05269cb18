"""One rule for all searches: what the estimators and the command line choose among equals."""

import itertools

import numpy as np
import pandas as pd
import pytest

import rankbook as rb
from rankbook.app.select import select_model
from rankbook.data.table import Dataset
from rankbook.selection.curve import ValidationCurve
from rankbook.selection.search import choose_from_curves, choose_from_table, restrict

GAMMAS, LAMS = [1.0, 0.1], [10.0, 0.01, 1.0, 100.0, 0.1]
N, P = 6, 5  # items to train on, and to validate


def tied_data(seed, levels=2):
    """Items on a coarse grid with noisy grades, so that many models order them equally well."""
    rng = np.random.default_rng(seed)
    X = np.round(2 * rng.normal(size=(N + P, 2))) / 2
    y = X[:, 0] + rng.choice([0.1, 1.0]) * rng.normal(size=N + P)
    for part in (slice(N), slice(N, None)):  # all levels are in both parts
        y[part] = np.argsort(np.argsort(y[part])) * levels // (N if part.start is None else P)
    return X, y


def by_hand(optima, gammas, maximize=False):
    """The number of the model with the best value, then the smallest gamma."""
    best = (max if maximize else min)(optima)
    return min((gamma, at) for at, gamma in enumerate(gammas) if abs(optima[at] - best) <= 1e-12)[1]


def middle_by_hand(curve):
    """The log-middle of the widest best interval, cut a decade beyond the breakpoints."""
    found = []
    for value, high, low in zip(curve.values, curve.breaks, curve.breaks[1:]):
        if abs(value - min(curve.values)) <= 1e-12:
            low = max(low, min(max(curve.breaks[-1], curve.scale[0] / 10), high / 10))
            high = min(high, max(10 * curve.scale[1], 10 * low))
            found.append((round(np.log(high / low), 9), np.sqrt(low * high)))
    return max(found)[1]


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_shell_and_ranksvmcv_choose_alike_on_data_full_of_ties(kernel, amount):
    parts, cv = np.repeat(["train", "validation"], [N, P]), [(np.arange(N), np.arange(N, N + P))]
    gamma, ties = GAMMAS if kernel == "rbf" else None, 0
    count = amount(50, 150) if kernel == "rbf" else amount(20, 50)
    for seed in range(count):
        X, y = tied_data(seed)
        options = dict(kernel=kernel, gamma=gamma)
        data = Dataset(X, y, parts=parts)
        shell = select_model(data, **options, parts=parts[[0, -1]], standardize=False)
        model = rb.RankSVMCV(**options, cv=cv, lam_min_ratio=None).fit(X, y)
        total, known = (len(rb.Preferences.from_scores(s)) for s in (y, y[:N]))
        assert shell.best.gamma == model.gamma_, seed
        assert np.isclose(shell.solution.lam * total / known, model.lam_, rtol=1e-9), seed
        minima = [row["minimum"] for row in shell.candidates]
        ties += sum(np.isclose(minima, min(minima))) > 1
        if kernel == "rbf":
            assert shell.best.gamma == GAMMAS[by_hand(minima, GAMMAS)], seed
        assert np.isclose(shell.solution.lam, middle_by_hand(shell.best.curve)), seed
    assert kernel == "linear" or ties > 0.4 * count, ties


def test_rankrlscv_chooses_as_the_shell_among_the_same_lambdas():
    parts, cv = np.repeat(["train", "validation"], [N, P]), [(np.arange(N), np.arange(N, N + P))]
    ties = 0
    for seed in range(40):
        X, y = tied_data(seed)
        model = rb.RankRLSCV(LAMS, gamma=GAMMAS, cv=cv).fit(X, y)
        data, values = Dataset(X, y, parts=parts), []
        for gamma in GAMMAS:
            options = dict(method="rankrls", gamma=gamma, parts=parts[[0, -1]], standardize=False)
            values.append(select_model(data, **options).best.curve.at(LAMS))
        assert np.allclose(np.transpose(values), model.cv_values_, rtol=0, atol=1e-12), seed
        row, column = choose_from_table(np.transpose(values), LAMS, GAMMAS)
        assert (model.lam_, model.gamma_) == (LAMS[row], GAMMAS[column]), seed
        column = by_hand(model.cv_values_.min(axis=0), GAMMAS)
        good = model.cv_values_[:, column] <= model.cv_values_.min() + 1e-12
        assert (model.lam_, model.gamma_) == (np.max(np.array(LAMS)[good]), GAMMAS[column]), seed
        ties += np.sum(model.cv_values_ <= model.cv_values_.min() + 1e-12) > 1
    assert ties > 20, ties


def test_rayleighrankercv_and_labelrankercv_keep_to_the_rule():
    axes = dict(manifold_weights=[1e4, 0.0], n_components=[6, 4], gamma=[1.0, 0.1])
    for seed in range(10):
        X, y = tied_data(seed)
        model = rb.RayleighRankerCV(lams=LAMS[:3], **axes, cv=3, random_state=seed).fit(X, y)
        values, names = model.cv_values_, ("gamma_", "lam_", "manifold_weight_", "n_components_")
        entries = []
        for at in itertools.product(*map(range, values.shape)):
            lam, weight, p, gamma = (axis[i] for axis, i in zip(model.grid_.values(), at))
            if values[at] >= values.max() - 1e-12:
                entries.append((gamma, -lam, weight, p))
        gamma, lam, *others = min(entries)
        assert [getattr(model, name) for name in names] == [gamma, -lam, *others], seed
        labels = rb.LabelRankerCV(LAMS).fit(X, np.argsort(X @ [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]))
        good = labels.cv_values_ <= labels.cv_values_.min() + 1e-12
        assert labels.lam_ == np.max(np.array(LAMS)[good]), seed


def test_equal_entries_of_a_table():
    assert choose_from_table(np.zeros((3, 3)), [1.0, 3.0, 2.0], [0.5, 0.1, 0.2]) == (1, 1)
    table = np.array([[0.3, 0.3], [0.3 + 1e-15, 0.3]])
    assert choose_from_table(table, [1.0, 2.0], [2.0, 1.0]) == (1, 1)
    table = np.array([[0.2, 0.3], [0.3, 0.2]])  # a smaller gamma before a larger lambda
    assert choose_from_table(table, [2.0, 1.0], [2.0, 1.0]) == (1, 1)
    table = np.array([[0.3, 0.4], [0.2, 0.4]])
    assert choose_from_table(table, [1.0, 2.0], [2.0, 1.0], maximize=True) == (1, 1)
    assert choose_from_table(np.array([0.1, 0.1, 0.2]), [1.0, 2.0, 3.0]) == (1,)
    axes = [1.0, 5.0], [9.0, 0.0], [20, 10], [3.0, 1.0]
    assert choose_from_table(np.ones((2, 2, 2, 2)), *axes, maximize=True) == (1, 1, 1, 1)
    values = np.zeros((2, 2, 2, 2))
    values[0, 0, 0, 0] = values[0, 1, 0, 1] = values[1, 0, 0, 0] = 1.0
    assert choose_from_table(values, *axes, maximize=True) == (0, 1, 0, 1)
    values[1, 0, 1, 1] = 1.0  # a larger lambda before a smaller weight
    assert choose_from_table(values, *axes, maximize=True) == (1, 0, 1, 1)
    assert choose_from_table(np.ones((1, 1, 1)), [1.0], [None], [None]) == (0, 0, 0)
    assert choose_from_table(np.ones((1, 2)), [1.0], [0.1, None]) == (0, 1)


def test_equal_curves():
    good, bad = (
        ValidationCurve([np.inf, 1.0, 0.0], [value, 0.5], scale=(0.5, 2.0)) for value in (0.2, 0.3)
    )
    assert choose_from_curves([[bad], [good], [good]], [0.1, 9.0, 3.0]).at == 2
    assert choose_from_curves([[good]], [None]).at == 0
    nearly = ValidationCurve([np.inf, 1.0, 0.0], [0.2 + 1e-15, 0.5], scale=(0.5, 2.0))
    assert choose_from_curves([[good], [nearly]], [2.0, 1.0]).at == 1


def test_the_error_of_a_single_fold_is_asked_for():
    curve = ValidationCurve([np.inf, 8.0, 2.0, 0.0], [0.3, 0.2, 0.4], scale=(1.0, 16.0))
    asked = []
    found = choose_from_curves(
        [[curve]], [None], "one_se", lambda at, lam: asked.append((at, lam)) or 0.1
    )
    assert found.error == 0.1 and found.lam > 8 and asked == [(0, curve.choose())]


class TestRestrict:
    curve = ValidationCurve(
        np.array([np.inf, 64.0, 16.0, 4.0, 0.0]), np.array([0.5, 0.2, 0.3, 0.1]), (1.0, 64.0)
    )

    @pytest.mark.parametrize("seed", range(30))
    def test_values_stay_where_they_were(self, seed):
        rng = np.random.default_rng(seed)
        low, high = np.sort(2.0 ** rng.integers(-3, 9, 2)) * [1, 1.5]
        cut = restrict(self.curve, low, high)
        lams = np.exp(rng.uniform(np.log(low), np.log(high), 200))
        assert np.array_equal(cut.at(lams), self.curve.at(lams))
        assert (
            cut.breaks[0] == high
            and cut.breaks[-1] == low
            and (np.diff(cut.breaks) < 0).all()
            and cut.values.size == cut.breaks.size - 1
        )
        for rule in ("widest", "largest"):
            assert low < cut.choose(rule) < high and cut.at(cut.choose(rule)) == cut.minimum

    def test_open_ends(self):
        assert restrict(self.curve, lam_min=20.0).breaks.tolist() == [np.inf, 64, 20]
        cut = restrict(self.curve, lam_max=20.0)
        assert cut.breaks.tolist() == [20, 16, 4, 0] and cut.best == [(0, 4)]

    def test_nothing_left(self):
        with pytest.raises(ValueError, match="lam_max is 3.0. Pass a number above 4.0"):
            restrict(restrict(self.curve, lam_min=4.0), lam_max=3.0)


@pytest.mark.parametrize("metric", ["disagreement", "auc"])
def test_results_in_the_keys_of_scikit_learn(metric):
    data = rb.datasets.make_mixture(n_per_class=20, seed=3)
    model = rb.RankSVMCV("linear", cv=4, metric=metric).fit(np.round(data.X), data.y)
    found, curve = model.cv_results_, model.curve_
    lams, folds = found["param_lam"], [found[f"split{i}_test_score"] for i in range(4)]
    assert (lams < curve.breaks[:-1]).all() and (curve.breaks[1:] < lams).all()
    assert [one["lam"] for one in found["params"]] == lams.tolist()
    sign = 1 if metric == "auc" else -1
    for i, scores in enumerate(folds):
        np.testing.assert_array_equal(scores, [sign * model.fold_curves_[i].at(l) for l in lams])
    np.testing.assert_allclose(found["mean_test_score"], np.mean(folds, axis=0), atol=1e-15)
    np.testing.assert_allclose(found["std_test_score"], np.std(folds, axis=0), atol=1e-15)
    mean, rank = found["mean_test_score"], found["rank_test_score"]
    by_hand = [1 + sum(other > one + 1e-12 for other in mean) for one in mean]
    assert rank.tolist() == by_hand
    best = [(low, high) for low, high in curve.best]
    at_best = [any(low < lam < high for low, high in best) for lam in lams]
    assert ((rank == 1) == at_best).all()
    assert curve.to_frame().value.equals(pd.Series(curve.values, name="value"))
