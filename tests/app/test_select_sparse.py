"""``rankbook select`` with a sparse penalty: the choices of Python, and refusals."""

import json

import numpy as np
import pandas as pd
import pytest
from shell import done, refused

import rankbook as rb
from rankbook.data.split import scaling, standardise
from rankbook.estimators.ranksvm import WIDE_RATIO
from rankbook.problems.sparse_bounds import ElasticNet

pytestmark = pytest.mark.usefixtures("workplace")

LOGISTIC = ["--kernel", "linear", "--loss", "logistic"]


def genes(n=70, d=80, seed=0):
    """A table of d features, of which three count; grades and survival times."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(3)
    risk = 1.5 * (X[:, 0] - X[:, 1] + X[:, 2])
    table = pd.DataFrame(X, columns=[f"g{j}" for j in range(d)])
    life, end = rng.exponential(np.exp(-risk)).round(3) + 0.001, rng.exponential(2, n).round(3)
    return (
        table,
        np.digitize(risk + rng.normal(size=n), [-1, 1]),
        np.minimum(life, end),
        life <= end,
    )


def written(part, seed, **columns):
    table, grade, days, died = genes(seed=seed)
    more = dict(grade=grade, days=days, died=died.astype(int))
    table.assign(**{name: more[name] for name in columns}).to_csv(f"{part}.csv", index=False)
    return table, more


def test_a_path_is_chosen_as_in_python():
    table, more = written("train", 0, grade=1)
    new, others = written("valid", 1, grade=1)
    given = ["select", "train.csv", "--validation", "valid.csv", "--target", "grade", *LOGISTIC]
    given += ["--penalty", "elastic-net", "--l1-ratio", "0.8", "--penalty-factor", "g5=0"]
    found = json.loads(done(*given, "--rule", "one_se", "-o", "m", "--json"))
    centre, factor = scaling(table.to_numpy())
    factors = np.where(np.arange(80) == 5, 0.0, 1.0)
    problem = rb.RankSVMProblem(
        standardise(table.to_numpy(), centre, factor),
        rb.Preferences.from_scores(more["grade"]),
        kernel="linear",
        loss="logistic",
        penalty=ElasticNet(0.8, factors),
    )
    path = rb.solve_path(problem, WIDE_RATIO * problem.lam_max)
    X_new = standardise(new.to_numpy(), centre, factor)
    curve = rb.validation_curve(path, X_new, rb.Preferences.from_scores(others["grade"]))
    assert found["curve"]["minimum"] == pytest.approx(curve.minimum)
    assert found["path"]["lam_max"] == pytest.approx(problem.lam_max)
    assert found["path"]["lam_end"] == pytest.approx(path.domain[0])
    lam = found["chosen"]["lam"]
    assert lam >= curve.best[0][1] * (1 - 1e-9)
    one = curve.minimum + found["chosen"]["standard_error"]
    assert curve.at(lam) <= one + 1e-12
    weights = rb.solve(problem, lam).weights
    model = rb.load("m")
    assert np.allclose(model.model.coef_, weights, atol=1e-3) and weights[5] != 0
    assert problem.certificate(lam, model.model.coef_).relative_gap < 1e-6
    assert found["chosen"]["features"] == np.count_nonzero(weights) < 80
    assert found["penalty"] == model.model.penalty == "elastic-net"
    assert model.model.l1_ratio == 0.8 and model.model.penalty_factor.tolist() == factors.tolist()
    text = done(*given, "--rule", "one_se")
    assert "logistic loss; elastic-net penalty" in text
    assert f"; {np.count_nonzero(weights)} of 80 features used" in text


def test_a_standard_error_more_is_not_called_the_minimum():
    """The report tells the smallest mean over folds, and the one at the chosen lambda."""
    written("train", 0, days=1, died=1)
    given = ["select", "train.csv", "--time", "days", "--event", "died", "--kernel", "linear"]
    given += ["--rule", "one_se"]
    found, text = json.loads(done(*given, "--json")), done(*given)
    least, held_out = found["curve"]["minimum"], found["disagreement"]["held_out"]
    assert least < held_out <= least + found["chosen"]["standard_error"] + 1e-12
    assert least == found["candidates"][0]["minimum"]
    assert f"{least:.6f} of the preferences left out in the wrong order" in text
    assert f"{held_out:.6f} held out, the mean over folds" in text


def test_folds_of_patients_are_those_of_the_estimator():
    table, more = written("train", 0, days=1, died=1)
    given = ["select", "train.csv", "--time", "days", "--event", "died", "--kernel", "linear"]
    given += ["--loss", "plackett-luce", "--penalty", "l1", "--rule", "one_se"]
    found = json.loads(done(*given, "--penalty-factor", "g5=0", "-o", "m", "--json"))
    X = standardise(table.to_numpy(), *scaling(table.to_numpy()))
    model = rb.RankSVMCV(
        "linear",
        loss="plackett-luce",
        penalty="l1",
        rule="one_se",
        random_state=0,
        penalty_factor=np.where(np.arange(80) == 5, 0.0, 1.0),
    ).fit(X, preferences=rb.Preferences.from_survival(more["days"], more["died"]))
    assert found["chosen"]["lam"] == pytest.approx(model.lam_)
    assert found["chosen"]["features"] == np.count_nonzero(model.coef_)
    assert np.allclose(rb.load("m").model.coef_, model.coef_, atol=1e-9)
    assert "of 80 features used" in done(*given)


def test_fit_takes_the_share_of_the_l1_norm():
    table, more = written("train", 0, grade=1)
    done("fit", "train.csv", "--target", "grade", *LOGISTIC, "--lam", "40", "-o", "m")
    options = ["--penalty", "elastic-net", "--l1-ratio", "0.9"]
    done("fit", "train.csv", "--target", "grade", *LOGISTIC, *options, "--lam", "40", "-o", "m")
    model = rb.load("m").model
    X = standardise(table.to_numpy(), *scaling(table.to_numpy()))
    other = rb.RankSVM(40.0, "linear", loss="logistic", penalty="elastic-net", l1_ratio=0.9)
    assert np.allclose(model.coef_, other.fit(X, more["grade"]).coef_, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--penalty", "l1"], "--penalty is 'l1' and --kernel is 'rbf'. Pass --kernel linear"),
        (["--penalty", "lasso", *LOGISTIC], "--penalty is 'lasso'. Pass one of: elastic-net, l1"),
        (
            ["--penalty", "l1", "--l1-ratio", "0.3", *LOGISTIC],
            "--l1-ratio is 0.3 and --penalty is not elastic-net. Pass",
        ),
        (["--l1-ratio", "2", "--penalty", "elastic-net", *LOGISTIC], "--l1-ratio is 2.0. Pass"),
        (
            ["--penalty", "elastic-net", "--kernel", "linear"],
            "--penalty is 'elastic-net' and --loss is 'hinge'. Pass a smooth loss",
        ),
        (
            ["--penalty", "l1", "--kernel", "linear", "--method", "rankrls"],
            "--penalty is 'l1' and --method is 'rankrls'. Pass --penalty only",
        ),
        (["--penalty-factor", "g1=0", *LOGISTIC], "--penalty-factor is given and --penalty is"),
        (
            ["--penalty", "l1", "--penalty-factor", "g=0", *LOGISTIC],
            "--penalty-factor names the feature 'g'",
        ),
    ],
)
def test_impossible_penalties_are_refused(options, said):
    written("train", 0, grade=1)
    assert said in refused("select", "train.csv", "--target", "grade", *options)


@pytest.mark.parametrize("command", ["fit", "select", "folds"])
def test_a_free_feature_without_best_weights_is_named(command):
    table, more = written("train", 0, grade=1, days=1, died=1)
    of_grades = ["--target", "grade", "--drop", "days,died"]
    of_times = ["--time", "days", "--event", "died", "--drop", "grade"]
    loss = ["plackett-luce"] if command == "folds" else ["logistic"]
    order = -more["days"] if command == "folds" else more["grade"]
    table.assign(**more, cheat=order + 0.0).to_csv("train.csv", index=False)
    given = ["fit" if command == "fit" else "select", "train.csv", "--kernel", "linear"]
    given += [*(of_times if command == "folds" else of_grades), "--loss", *loss, "-o", "m"]
    said = refused(*given, "--penalty", "l1", "--penalty-factor", "cheat=0")
    assert "--penalty-factor is 0 for feature 'cheat', whose best weights are infinite" in said
