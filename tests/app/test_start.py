"""Fits that start at the weights of an earlier model, in the shell."""

import json

import numpy as np
import pandas as pd
import pytest
from shell import done, refused

import rankbook as rb
from rankbook.app.fitting import fit_model, start_weights
from rankbook.data.blocks import Blocks, CheckedBlock

HOW = "--target y --qid q --kernel linear --loss squared --lam 1".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of two days; features have units, and the second day has other means and spreads."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("days")
    X = rng.normal(size=(400, 4)) * [1, 1000, 0.01, 3] + [0, 5e4, 1, 0]
    X[200:] = X[200:] * [2, 1, 1, 1] + [1, 0, 0, 0]
    y = np.round(X @ [1, 1e-3, 100, 0.1] + rng.normal(size=400))
    table = pd.DataFrame(X, columns=list("abcd")).assign(y=y, q=np.arange(400) // 10)
    table[:200].to_csv(folder / "first.csv", index=False)
    table.to_csv(folder / "both.csv", index=False)
    done("fit", folder / "first.csv", *HOW, "-o", folder / "first.rankbook")
    return folder


def test_the_answer_is_that_of_a_fit_without_a_start(folder, tmp_path):
    given = [folder / "both.csv", *HOW, "--json"]
    cold = json.loads(done("fit", *given, "-o", tmp_path / "cold.rankbook"))
    warm = tmp_path / "warm.rankbook"
    warm.write_bytes((folder / "first.rankbook").read_bytes())
    facts = json.loads(done("fit", *given, "--start", warm, "-o", warm))
    found, other = rb.load(warm).model, rb.load(tmp_path / "cold.rankbook").model
    assert found.certificate_.is_optimal() and found.solver_.startswith("newton")
    assert np.allclose(found.coef_, other.coef_, rtol=0, atol=1e-4 * abs(other.coef_).max())
    assert cold["items"] == facts["items"]


def test_steps_are_saved_though_features_are_scaled_by_other_factors(folder):
    table = pd.read_csv(folder / "both.csv")
    block = CheckedBlock(table[list("abcd")].to_numpy(), *table[["y", "q"]].to_numpy().T)
    start, steps = rb.load(folder / "first.rankbook"), []
    for given in (dict(), dict(start=start)):
        more = dict(lam=1.0, kernel="linear", loss="squared", solver="newton")
        model = fit_model(Blocks([block]), list("abcd"), **given, **more)
        steps.append(model.model.solution_.info["steps"])
    assert steps[1] < steps[0]
    again = fit_model(Blocks([block]), list("abcd"), start=model, **more)
    assert again.model.solution_.info["steps"] <= 1


def test_features_are_matched_by_name_and_constants_start_at_0(folder, tmp_path):
    table, start = pd.read_csv(folder / "both.csv"), rb.load(folder / "first.rankbook")
    weights = dict(zip("abcd", start.model.coef_ * start.factor))
    found = start_weights(start, list("cbda"), np.array([1.0, 2.0, 0.0, 4.0]))
    assert np.allclose(found, [weights["c"], weights["b"] / 2, 0, weights["a"] / 4], rtol=1e-12)
    table[["q", "d", "y", "c", "b", "a"]].assign(b=3.0).to_csv(tmp_path / "other.csv", index=False)
    files = {name: tmp_path / f"{name}.rankbook" for name in ("warm", "cold")}
    more = dict(warm=["--start", folder / "first.rankbook"], cold=[])
    for name, saved in files.items():
        done("fit", tmp_path / "other.csv", *HOW, *more[name], "-o", saved)
    warm, cold = (rb.load(saved).model.coef_ for saved in files.values())
    assert np.allclose(warm, cold, rtol=0, atol=1e-4 * abs(cold).max())


def test_models_that_are_no_start(folder, tmp_path):
    given = [folder / "both.csv", "--target", "y", "--qid", "q", "-o", tmp_path / "m.rankbook"]
    start = ["--start", folder / "first.rankbook"]
    assert "--kernel linear" in refused("fit", *given, *start)
    linear = [*given, "--kernel", "linear"]
    said = refused("fit", *linear, *start, "--drop", "d")
    assert "the features 'a', 'b', 'c', 'd'. Pass a model with the features 'a', 'b', 'c'." in said
    done("fit", *given[:-1], tmp_path / "rbf.rankbook", "--lam", "9")
    assert "without feature weights" in refused(
        "fit", *linear, "--start", tmp_path / "rbf.rankbook"
    )
    assert "no such file" in refused("fit", *linear, "--start", tmp_path / "none.rankbook")
    assert "DATA names several files" in refused(
        "fit", folder / "first.csv", *given, "--kernel", "linear", *start
    )


def test_the_lambda_of_the_start_is_used_unless_one_is_given(folder, tmp_path):
    data, start = folder / "both.csv", folder / "first.rankbook"
    given = [data, *HOW[:-2], "-o", tmp_path / "m.rankbook"]
    text = done("fit", *given, "--start", start)
    assert "lambda 1, that of --start" in text and rb.load(tmp_path / "m.rankbook").model.lam_ == 1
    text = done("fit", *given, "--start", start, "--lam", "3")
    assert "lambda 3\n" in text and rb.load(tmp_path / "m.rankbook").model.lam_ == 3
    default = done("fit", *given)
    assert "the default for the scale of these data" in default
    other = ["logistic" if each == "squared" else each for each in given]
    text = done("fit", *other, "--start", start)
    assert "the default for the scale of these data, because the model of --start has" in text


def test_the_lambda_of_a_selected_model_is_used(folder, tmp_path):
    chosen, given = tmp_path / "chosen.rankbook", [folder / "both.csv", *HOW[:-4]]
    done("select", *given, "-o", chosen)
    lam = rb.load(chosen).model.lam_
    done("fit", *given, "--start", chosen, "-o", tmp_path / "m.rankbook")
    assert rb.load(tmp_path / "m.rankbook").model.lam_ == lam
