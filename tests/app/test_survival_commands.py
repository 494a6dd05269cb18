"""Commands on a table of patients with survival times."""

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import done, refused, run

import rankbook as rb
from rankbook.data.split import scaling

pytestmark = pytest.mark.usefixtures("workplace")

TIMES = ["--time", "days", "--event", "died"]


def patients(seed, n=80):
    """Two features, times in whole days, and three hospitals."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(3)
    life, end = np.exp(X[:, 0] + 0.7 * rng.normal(size=n)), rng.exponential(3, size=n)
    days = np.ceil(20 * np.minimum(life, end)).astype(int)
    table = pd.DataFrame(X, columns=["age", "dose"])
    return table.assign(days=days, died=(life <= end).astype(int), site=rng.integers(0, 3, n))


def write(**seeds):
    for name, seed in seeds.items():
        patients(seed).to_csv(f"{name}.csv", index=False)


def facts_of(*arguments):
    return json.loads(done(*arguments, "--json"))


def test_a_choice_by_folds_is_that_of_the_estimator():
    write(train=0, test=1)
    table, new = patients(0), patients(1)
    given = ["select", "train.csv", *TIMES, "--qid", "site", "--kernel", "linear"]
    found = facts_of(*given, "--save", "m", "--test", "test.csv")
    X = table[["age", "dose"]].to_numpy()
    centre, factor = scaling(X)
    prefs = rb.Preferences.from_survival(table.days, table.died, table.site)
    model = rb.RankSVMCV("linear", random_state=0).fit((X - centre) * factor, prefs)
    assert found["chosen"]["lam"] == pytest.approx(model.lam_, rel=1e-6)
    assert found["preferences"]["train"] == len(prefs)
    held_out = found["concordance"]["held_out"]
    assert held_out == pytest.approx(1 - model.curve_.minimum, abs=1e-9) and held_out > 0.6
    scores = rb.load("m").predict(new[["age", "dose"]])
    judged = rb.Preferences.from_survival(new.days, new.died, new.site)
    value = rb.metrics.concordance(judged, scores)
    assert found["concordance"]["test"] == pytest.approx(value, abs=1e-12)
    lines = done(*given).splitlines()
    assert any(line.startswith("concordance") and "held out" in line for line in lines)
    # the model knows its columns; new patients need no times
    facts = facts_of("evaluate", "m", "test.csv")
    assert facts["metrics"]["concordance"] == pytest.approx(value)
    one = rb.metrics.concordance_interval(judged, scores)
    assert facts["concordance_interval"] == pytest.approx([one.low, one.high], abs=1e-9)
    new[["dose", "age", "died"]].to_csv("new.csv", index=False)
    done("predict", "m", "new.csv", "-o", "scores.csv")
    assert np.allclose(pd.read_csv("scores.csv").score, scores)
    by_scores = facts_of("evaluate", "scores.csv", "test.csv", *TIMES, "--qid", "site")
    assert by_scores["metrics"]["concordance"] == pytest.approx(value)


def test_parts_in_files_and_paths_compare_patients_within_each_part():
    write(train=0, vali=1, test=2)
    files = ["train.csv", "--validation", "vali.csv", "--test", "test.csv", *TIMES]
    files += ["--drop", "site", "--kernel", "linear"]
    found = facts_of("select", *files, "--save", "m")
    assert found["split"]["items"] == dict(train=80, validation=80, test=80)
    model = rb.load("m")
    for part, seed in (("validation", 1), ("test", 2)):
        table = patients(seed)
        y = rb.Preferences.from_survival(table.days, table.died)
        value = rb.metrics.concordance(y, model.predict(table[["age", "dose"]]))
        assert found["concordance"][part] == pytest.approx(value, abs=1e-9)
        assert found["preferences"][part] == len(y)
    of_path = facts_of("path", *files)
    assert of_path["chosen"]["minimum"] == pytest.approx(found["disagreement"]["validation"])


def test_a_fit_is_that_of_the_estimator_and_folds_keep_hospitals_together():
    write(train=0)
    table = patients(0)
    given = ["train.csv", *TIMES, "--drop", "site", "--kernel", "linear"]
    done("fit", *given, "--lam", 5, "--loss", "squared", "--no-standardize", "-o", "m")
    y = rb.Preferences.from_survival(table.days, table.died)
    X = table[["age", "dose"]].to_numpy()
    model = rb.RankSVM(5, "linear", loss="squared").fit(X, y)
    assert np.allclose(rb.load("m").model.coef_, model.coef_, atol=1e-6)
    found = facts_of("select", "train.csv", *TIMES, "--group-split", "site", "--kernel", "linear")
    assert found["folds"]["by"] == "group" and found["folds"]["number"] == 3


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--time", "days"], "--time is 'days' and --event is missing. Pass both or neither"),
        (["--event", "died"], "--event is 'died' and --time is missing. Pass both or neither"),
        ([*TIMES, "--target", "age"], "--target is 'age'. Omit --target for survival times"),
        ([*TIMES, "--preferences", "p.csv"], "--time is 'days'. Omit --time if --pref"),
        (
            ["--time", "days", "--event", "age"],
            "train.csv has 0.126 in row 0, column 'age'. Pass 1 where the",
        ),
        (["--time", "day", "--event", "died"], "--time is 'day' (did you mean 'days'?)"),
        ([*TIMES, "--method", "rayleigh"], "--method is 'rayleigh'. Pass 'ranksvm' or 'rankrls'"),
        ([*TIMES, "--group", "site"], "--group is 'site' and --preferences is missing. Pass both"),
    ],
)
def test_wrong_calls(arguments, said):
    write(train=0)
    (pd.DataFrame(dict(winner=[0], loser=[1]))).to_csv("p.csv", index=False)
    assert said in refused("select", "train.csv", *arguments)


def test_survival_times_have_no_queries_to_compare_or_list():
    write(train=0, more=1)
    done("fit", "train.csv", *TIMES, "--kernel", "linear", "-o", "m")
    assert "DATA has survival times. Pass" in refused("compare", "m", "m", "train.csv")
    assert "--by-query is given" in refused("evaluate", "m", "train.csv", "--by-query")
    said = "--metric is 'ndcg'. Pass concordance or disagreement for survival times"
    assert said in refused("evaluate", "m", "train.csv", "--metric", "ndcg")
    assert "--time is 'days'" in refused("fit", "train.csv", "more.csv", *TIMES, "-o", "x")


def test_built_in_data_and_other_targets_are_refused():
    write(train=0)
    assert "--time is 'days'" in refused("fit", "cancer", *TIMES, "-o", "m")
    table = patients(0).assign(died=2)
    table.to_csv("coded.csv", index=False)
    said = "coded.csv has 2 in row 0, column 'died'. Pass 1 where the event was seen"
    assert said in refused("select", "coded.csv", *TIMES)
    table[["days", "died"]].to_csv("bare.csv", index=False)
    said = "bare.csv has no columns besides time 'days' and event 'died'"
    assert said in refused("fit", "bare.csv", *TIMES, "-o", "m")
    patients(0).assign(died=0).to_csv("alive.csv", index=False)
    assert "no comparable pair" in refused("fit", "alive.csv", *TIMES, "-o", "m")


@pytest.mark.parametrize("command", ["select", "fit", "evaluate"])
@pytest.mark.parametrize(
    "changed, said",
    [
        (
            dict(died="dead"),
            "column 'died' of --event has 'dead' (row 3 of p.csv). "
            "Write 1 for the event and 0 for a censored time.",
        ),
        (dict(days="long"), "column 'days' of --time has 'long' (row 3 of p.csv). Write a number."),
        (dict(days=None), "p.csv has no time in row 3, column 'days'. Leave this patient out."),
        (dict(died=None), "p.csv has no event in row 3, column 'died'. Leave this patient out."),
        (
            dict(died=2),
            "p.csv has 2 in row 3, column 'died'. Pass 1 where the event was seen and 0 where "
            "the time is censored. If it is coded 1 and 2, subtract 1.",
        ),
        (
            dict(site=None),
            "p.csv has no query id in row 3, column 'site'. "
            "Leave these rows out, or name their group.",
        ),
    ],
)
def test_errors_about_patients_say_what_to_write_and_no_more(command, changed, said):
    write(train=0)
    table = patients(0).astype(object)
    table.loc[3, list(changed)] = list(changed.values())
    table.to_csv("p.csv", index=False)
    given = [*TIMES, "--qid", "site"]
    if command == "evaluate":
        pd.DataFrame(dict(score=range(80))).to_csv("s.csv", index=False)
        given = ["s.csv", "p.csv", *given]
    else:
        given = ["p.csv", *given, *(["-o", "m"] if command == "fit" else [])]
    assert refused(command, *given) == f"rankbook: error: {said}\n"


def test_a_time_below_0_is_noted():
    table = patients(0)
    table.loc[4, "days"] = -99
    table.to_csv("p.csv", index=False)
    given = ["fit", "p.csv", *TIMES, "--kernel", "linear", "-o", "m"]
    note = "note: time -99 in row 4, column 'days' of p.csv, is below 0; is it a code for a missing"
    assert run(*given).stderr.count(note) == 1
    patients(0).to_csv("p.csv", index=False)
    assert run(*given).stderr == ""


@pytest.mark.parametrize(
    "event, said",
    [
        ([0, 2], "event is 2 in row 1. Pass True and False, or 1 and 0. If it is coded 1 and"),
        (["0", "1"], "event is '0' in row 0. Pass True and False, or 1 and 0, as numbers."),
        ([0, 3], "event is 3 in row 1. Pass True and False, or 1 and 0."),
    ],
)
def test_events_in_python_are_refused_alike(event, said):
    with pytest.raises(ValueError) as error:
        rb.Preferences.from_survival([2.0, 1.0], event)
    assert said in str(error.value)
    assert ("subtract 1" in str(error.value)) == (2 in event)


def test_the_data_line_counts_events():
    write(train=0, vali=1)
    died = [int(patients(seed).died.sum()) for seed in (0, 1)]
    given = [*TIMES, "--drop", "site", "--kernel", "linear"]
    for more, n, events in (([], 80, died[0]), (["--validation", "vali.csv"], 160, sum(died))):
        lines = done("select", "train.csv", *more, *given).splitlines()
        assert any(f": {n} items, {events} events, 2 features" in line for line in lines)
        assert facts_of("select", "train.csv", *more, *given)["data"]["events"] == events
    said = done("fit", "train.csv", *given, "-o", "m")
    assert f"data         80 items, {died[0]} events, 2 features" in said
    said = done("path", "train.csv", *given)
    assert f"data         80 items, {died[0]} events of survival times" in said
    assert "events" not in done("fit", "train.csv", "--target", "age", "--lam", 1, "-o", "m")


def test_info_shows_the_weights_of_a_linear_model_by_name():
    table = patients(0).assign(sex=["m", "w"] * 40)
    table.to_csv("p.csv", index=False)
    given = ["p.csv", *TIMES, "--drop", "site", "--encode"]
    for more, of in ([], "of standardized features: "), (["--no-standardize"], ""):
        done("fit", *given, "--kernel", "linear", *more, "-o", "m")
        coef = rb.load("m").model.coef_
        rows = list(zip(["age", "dose", "sex=m", "sex=w"], coef, strict=True))
        line = f"weights      {of}" + ", ".join(f"{name} {w:.6g}" for name, w in rows)
        assert line in " ".join(done("info", "m").split("\n" + 13 * " "))
        facts = facts_of("info", "m")
        assert facts["standardized"] == (not more)
        assert [(row["name"], row["weight"]) for row in facts["weights"]] == rows
    done("fit", *given, "--kernel", "rbf", "-o", "m")
    assert "weights  " not in done("info", "m") and "weights" not in facts_of("info", "m")


def test_info_shows_the_largest_20_of_many_weights():
    X = np.random.default_rng(0).normal(size=(40, 30))
    model = rb.RankSVM(1, "linear").fit(X, X @ np.arange(30))
    model.save("m")
    said = " ".join(done("info", "m").split())
    largest = sorted(np.argsort(-abs(model.coef_))[:20])
    line = ", ".join(f"x{j} {model.coef_[j]:.6g}" for j in largest)
    assert f"weights the largest 20 of 30: {line} certificate" in said
    assert len(facts_of("info", "m")["weights"]) == 30


def test_a_concordance_below_one_half_is_noted():
    write(train=0)
    table = patients(0)
    pd.DataFrame(dict(row=range(len(table)), score=table.days)).to_csv("long.csv", index=False)
    pd.DataFrame(dict(score=-table.days)).to_csv("risk.csv", index=False)
    note = "note: concordance below 0.5: a higher score means a longer survival; pass the negative"
    said = run("evaluate", "risk.csv", "train.csv", *TIMES)
    assert said.stderr.count(note) == 1 and said.stdout.startswith("concordance       0.0")
    assert note in run("evaluate", "risk.csv", "train.csv", *TIMES, "--json").stderr
    assert run("evaluate", "long.csv", "train.csv", *TIMES).stderr == ""


def test_help_says_the_direction_and_where_more_is():
    words = {name: " ".join(done(name, "--help").split()) for name in ("evaluate", "predict")}
    assert all("a longer survival" in text for text in words.values())
    assert "rb.metrics" in words["evaluate"]
    assert "For monotonicity constraints, use rankbook fit" in " ".join(
        done("select", "--help").split()
    )


def test_a_fit_to_two_columns_names_the_way_to_survival_times():
    table = patients(0)
    for model in (rb.RankSVM(kernel="linear"), rb.RankSVMCV(kernel="linear")):
        with pytest.raises(ValueError, match=r"y has shape \(80, 2\).*from_survival\(time, event"):
            model.fit(table[["age", "dose"]], table[["days", "died"]])
        with pytest.raises(
            ValueError, match=r"y has shape \(80, 3\). Pass an array of shape \(n,\)\.$"
        ):
            model.fit(table[["age", "dose"]], table[["days", "died", "site"]])


def late_patients():
    """Patients who enter after a part of their time, in a column that the shell must be told of."""
    table = patients(3)
    start = np.maximum(0, table.days * (np.arange(len(table)) % 4) // 5)
    return table.assign(start=np.minimum(start, table.days - 1))


COX = ["--loss", "plackett-luce", "--kernel", "linear"]
LATE = [*TIMES, "--entry", "start"]


def test_late_entries_are_those_of_the_estimator():
    """In fit, evaluate and a choice by folds; the model knows the column."""
    table = late_patients()
    table.to_csv("late.csv", index=False)
    given = ["late.csv", *TIMES, "--entry", "start", "--qid", "site", *COX, "--lam", "2"]
    done("fit", *given, "--no-standardize", "--tied-events", "efron", "-o", "m")
    survival = dict(time=table.days, event=table.died, qid=table.site, entry=table.start)
    y = rb.Orders.from_survival(**survival, ties="efron")
    X = table[["age", "dose"]].to_numpy()
    model = rb.RankSVM(2.0, "linear", loss="plackett-luce").fit(X, y)
    assert np.allclose(rb.load("m").model.coef_, model.coef_, atol=1e-6)
    found = facts_of("evaluate", "m", "late.csv")["metrics"]
    assert found["concordance"] == pytest.approx(model.score(X, y), abs=1e-12)
    some = ["late.csv", *TIMES, "--entry", "start", "--drop", "site", *COX]
    chosen = facts_of("select", *some, "--no-standardize")
    y = rb.Orders.from_survival(table.days, table.died, entry=table.start)
    options = dict(loss="plackett-luce", random_state=0)
    expected = rb.RankSVMCV("linear", **options).fit(X, y)
    assert chosen["chosen"]["lam"] == pytest.approx(expected.lam_, rel=1e-6)
    structured = np.empty(len(table), [("died", bool), ("entry", float), ("days", float)])
    structured["died"], structured["days"] = table.died, table.days
    structured["entry"] = table.start
    again = rb.RankSVM(2.0, "linear", loss="plackett-luce").fit(X, structured)
    y = y.replaced(ties="breslow")
    assert np.allclose(again.coef_, rb.RankSVM(2.0, "linear", loss="plackett-luce").fit(X, y).coef_)


def test_a_start_that_becomes_a_feature_is_announced():
    late_patients().to_csv("late.csv", index=False)
    for command, more in (("fit", ["-o", "m"]), ("select", [])):
        said = run(command, "late.csv", *TIMES, "--drop", "site", *COX, *more).stderr
        assert "feature: column 'start' of late.csv" in said and "pass --entry start" in said
        said = run(command, "late.csv", *TIMES, "--entry", "start", "--drop", "site", *COX, *more)
        assert "feature: column" not in said.stderr


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--target", "died", "--entry", "start"], "--entry is 'start' and --time is missing"),
        (
            [*TIMES, "--entry", "days", "--drop", "start", *COX],
            "--time and --entry are both 'days'. Pass two different columns",
        ),
        ([*TIMES, "--entry", "bad", *COX], "late.csv has an entry at "),
        ([*TIMES, "--entry", "start"], "Pass --loss plackett-luce, which is Cox's model.\n"),
        ([*LATE, "--tied-events", "efron"], "Pass --time, --event and --loss plackett-luce"),
        ([*LATE, *COX, "--robust"], "--robust is given and --coefficients is missing. Pass both"),
        (
            [*LATE, *COX, "--reference", "a=b"],
            "--reference is 'a=b' and --coefficients is missing. Pass both",
        ),
        (
            [*LATE, *COX, "--coefficients", "--reference", "a=b"],
            "--reference is 'a=b', and the model has no encoded column",
        ),
        (
            [*LATE, *COX[:2], "--coefficients"],
            "--coefficients is given, but this model has no table of coefficients. Pass --kernel",
        ),
        (
            [*LATE, *COX, "--cluster", "dose"],
            "--cluster is 'dose' and --coefficients is missing. Pass both",
        ),
        (
            [*LATE, *COX, "--coefficients", "--cluster", "doze"],
            "--cluster is 'doze' (did you mean 'dose'?)",
        ),
    ],
)
def test_wrong_calls_with_late_entries(arguments, said):
    table = late_patients()
    table.assign(bad=table.days).to_csv("late.csv", index=False)
    assert said in refused("fit", "late.csv", "--drop", "site", *arguments, "-o", "m")


def test_a_table_of_coefficients_is_printed_and_kept():
    """In units of the columns, although the model standardises."""
    table = late_patients()
    table.to_csv("late.csv", index=False)
    given = ["fit", "late.csv", *TIMES, "--drop", "site", "--drop", "start", *COX]
    given += ["--lam", "1e-6", "--coefficients", "--robust", "-o", "m"]
    text = done(*given)
    X = table[["age", "dose"]]
    y = rb.Orders.from_survival(table.days, table.died)
    precise = dict(lam=1e-9, kernel="linear", loss="plackett-luce")
    model = rb.RankSVM(**precise, solver=("newton", dict(tol=1e-12))).fit(X, y)
    expected = rb.coefficient_table(model, robust=True)
    rows = facts_of("info", "m", "--coefficients")
    assert [row["feature"] for row in rows] == ["age", "dose"]
    for name in ("coef", "se", "ratio", "ratio_low"):
        assert np.allclose([row[name] for row in rows], expected[name], rtol=1e-4)
    shown = done("info", "m", "--coefficients")
    assert shown in text and "hazard ratio  95% interval" in shown and "sandwich" in shown
    assert f"{expected.ratio['age']:.4g}" in shown
    assert "coefficients" not in done("info", "m") and "the penalty moves" not in shown
    given[given.index("1e-6")] = "5"
    assert "the penalty moves coefficients by up to" in done(*given)
    done("fit", "late.csv", *TIMES, "--drop", "site", "--drop", "start", *COX, "-o", "other")
    assert "rankbook fit --coefficients stores one" in refused("info", "other", "--coefficients")


def precise_cox(X, y):
    """The unpenalised model of survival times."""
    model = rb.RankSVM(1e-9, "linear", loss="plackett-luce", solver=("newton", dict(tol=1e-12)))
    return model.fit(X, y)


def assert_printed(expected, *names):
    """The table of a model file has the numbers of a table of Python."""
    for row, name in zip(rows := facts_of("info", "m", "--coefficients"), names, strict=True):
        assert row["feature"] == name
        for key in ("coef", "se", "ratio", "ratio_low"):
            assert row[key] == pytest.approx(expected[key][name], rel=1e-4)
    return rows


def test_categories_are_compared_with_a_reference():
    """The first in sorted order, or the one that is named; other categories have a row each."""
    table = patients(3).drop(columns="site")
    table["drug"] = np.array(["placebo", "new", "old"])[np.arange(len(table)) ** 2 % 7 % 3]
    table["sex"] = np.where(np.arange(len(table)) % 3, "w", "m")
    table.to_csv("words.csv", index=False)
    given = ["fit", "words.csv", *TIMES, *COX, "--encode", "--coefficients", "--lam", "1e-6"]
    given += ["-o", "m"]
    y = rb.Orders.from_survival(table.days, table.died)
    for reference, others in ((), "new"), (["--reference", "drug=placebo"], "placebo"):
        said = done(*given, *reference)
        assert f"reference: drug={others}; sex=m" in said and said.endswith(
            done("info", "m", "--coefficients")
        )
        X = table[["age", "dose"]].assign(
            **{f"drug={w}": 1.0 * (table.drug == w) for w in ("new", "old", "placebo")},
            **{"sex=w": 1.0 * (table.sex == "w")},
        )
        expected = rb.coefficient_table(precise_cox(X.drop(columns=f"drug={others}"), y))
        rows = assert_printed(expected, *expected.index)
        assert [row["reference"] for row in rows[2:]] == [f"drug={others}"] * 2 + ["sex=m"]
        assert rows[0]["reference"] is None
    said = refused(*given, "--reference", "drug=placbo")
    assert "--reference is 'drug=placbo' (did you mean 'drug=placebo'?)" in said
    said = refused(*given, "--reference", "drug=old", "--reference", "drug=new")
    assert "--reference names 'drug=new' and 'drug=old'. Pass one category of each" in said


def test_clusters_of_a_column_are_those_of_the_table():
    """A column of numbers or words, also the strata, with late entries and Efron's rule."""
    table = late_patients()
    table["city"] = np.array(["Turku", "Oslo", "a, b"])[np.arange(len(table)) % 3]
    table.to_csv("late.csv", index=False)
    X, life = table[["age", "dose"]], (table.days, table.died)
    y = rb.Orders.from_survival(*life, entry=table.start, ties="efron")
    given = ["fit", "late.csv", *LATE, *COX, "--lam", "1e-6", "--coefficients", "-o", "m"]
    said = done(*given, "--tied-events", "efron", "--drop", "city", "--cluster", "site")
    assert f"sandwich by site, {table.site.nunique()} clusters, ties by Efron" in said
    assert_printed(rb.coefficient_table(precise_cox(X, y), cluster=table.site), *X)
    y = rb.Orders.from_survival(*life, table.site)
    given = [*given[:2], *TIMES, *given[8:], "--drop", "start,city"]
    done(*given, "--qid", "site", "--cluster", "site")
    assert_printed(rb.coefficient_table(precise_cox(X, y), cluster=table.site), *X)
    y = rb.Orders.from_survival(*life)
    given[given.index("start,city")] = "start,site"
    done(*given, "--cluster", "city")
    assert_printed(rb.coefficient_table(precise_cox(X, y), cluster=table.city), *X)


def test_clusters_of_preferences_are_in_their_file():
    """The judge of each pair; grades and orders name the way out."""
    rng = np.random.default_rng(5)
    items = pd.DataFrame(dict(tea=list("abcdef"), size=[1, 2, 4, 3, 6, 5], age=[3, 1, 2, 5, 4, 9]))
    items.to_csv("items.csv", index=False)
    pairs = np.array([rng.choice(6, 2, replace=False) for _ in range(60)])
    votes = pd.DataFrame(dict(winner=items.tea[pairs[:, 0]].values))
    votes = votes.assign(loser=items.tea[pairs[:, 1]].values, judge=rng.integers(8, size=60))
    votes.to_csv("votes.csv", index=False)
    given = [
        "fit",
        "items.csv",
        "--name",
        "tea",
        "--preferences",
        "votes.csv",
        "--kernel",
        "linear",
    ]
    given += ["--lam", "1e-6", "--coefficients", "--cluster", "judge", "-o", "m"]
    done(*given, "--loss", "logistic")
    prefs = rb.Preferences.from_pairs(votes, items=items.tea)
    model = rb.RankSVM(1e-9, "linear", loss="logistic", solver=("newton", dict(tol=1e-12)))
    model.fit(items[["size", "age"]], preferences=prefs)
    assert_printed(rb.coefficient_table(model, cluster=votes.judge), "size", "age")
    said = refused(*given, "--loss", "plackett-luce")
    assert "--cluster is 'judge', and the table contains orders. Omit --cluster for orders" in said
    given[given.index("judge")] = "jury"
    assert "--cluster is 'jury'" in refused(*given, "--loss", "logistic")
    items.assign(group=1).to_csv("graded.csv", index=False)
    given = ["fit", "graded.csv", "--target", "age", "--drop", "tea", "--kernel", "linear"]
    given += [
        "--loss",
        "logistic",
        "--coefficients",
        "--cluster",
        "group",
        "--qid",
        "none",
        "-o",
        "m",
    ]
    assert "--loss plackett-luce, without --cluster" in refused(*given)


def test_select_has_ties_by_efron():
    """By folds and with a validation file."""
    table = late_patients()
    table["days"], table["start"] = (table.days + 9) // 10, table.start // 10
    table = table[table.start < table.days].reset_index(drop=True)
    table[::2].to_csv("train.csv", index=False)
    table[1::2].to_csv("valid.csv", index=False)
    X, first = table[["age", "dose"]].to_numpy(float), table[::2]
    given = ["select", "train.csv", *LATE, *COX, "--drop", "site", "--no-standardize"]
    found = facts_of(*given, "--tied-events", "efron")["chosen"]["lam"]
    options = dict(loss="plackett-luce", random_state=0)
    lams = []
    for ties in ("efron", "breslow"):
        more = dict(entry=first.start, ties=ties)
        y = rb.Orders.from_survival(first.days, first.died, **more)
        lams.append(rb.RankSVMCV("linear", **options).fit(X[::2], y).lam_)
    assert found == pytest.approx(lams[0], rel=1e-6) and abs(lams[0] / lams[1] - 1) > 1e-3
    given += ["--validation", "valid.csv", "-o", "m"]
    lam = facts_of(*given, "--tied-events", "efron")["chosen"]["lam"]
    y = rb.Orders.from_survival(first.days, first.died, entry=first.start, ties="efron")
    model = rb.RankSVM(lam, "linear", loss="plackett-luce").fit(X[::2], y)
    assert np.allclose(rb.load("m").model.coef_, model.coef_, rtol=1e-4)
    for more in (["--loss", "logistic"], []):
        said = refused(*given[:2], *TIMES, "--drop", "start", "--tied-events", "efron", *more)
        assert "--tied-events is 'efron', and the model is not Cox's model. " in said
        assert "Pass --time, --event and --loss plackett-luce." in said


@pytest.mark.parametrize("command", ["fit", "select"])
def test_an_unknown_rule_for_ties_is_refused(command):
    write(train=0)
    given = [command, "train.csv", *TIMES, "--loss", "plackett-luce", "--tied-events", "effron"]
    given += ["-o", "m"] if command == "fit" else []
    assert "--tied-events is 'effron' (did you mean 'efron'?). Pass one of" in refused(*given)


def test_a_file_without_the_entries_of_the_model_is_mentioned():
    late = late_patients()
    late.to_csv("late.csv", index=False)
    done("fit", "late.csv", *LATE, "--drop", "site", *COX, "--lam", "2", "-q", "-o", "m")
    late.drop(columns="start").to_csv("plain.csv", index=False)
    said = run("evaluate", "m", "plain.csv").stderr
    assert "entry: plain.csv has no column 'start'" in said and "--entry" in said
    assert "no column" not in run("evaluate", "m", "late.csv").stderr


def scored_tables(late=False):
    """Files of training and test patients, a Cox model m, and times and scores of both."""
    parts, entry = {}, ["--entry", "start"] if late else ["--drop", "start"]
    for name, seed in dict(train=3, test=4).items():
        table = patients(seed, 150)
        start = np.maximum(-1, table.days * (np.arange(150) % 4 - 1) // 5)
        table["start"] = np.minimum(start, table.days - 1)
        table["city"] = np.array(["Turku", "Oslo", "a, b", "Rome"])[np.arange(150) ** 2 % 13 % 4]
        table.to_csv(f"{name}.csv", index=False)
        parts[name] = table
    done("fit", "train.csv", *TIMES, *entry, "--drop", "site,city", *COX, "--lam", 1, "-o", "m")
    model, found = rb.load("m"), {}
    for name, table in parts.items():
        score = model.predict(table[["age", "dose"]])
        entries = dict(entry=table.start) if late else {}
        found[name] = rb.Orders.from_survival(table.days, table.died, **entries), score
    return parts["test"], *found["train"], *found["test"]


@pytest.mark.parametrize("late", [False, True])
def test_evaluate_has_intervals_of_clusters(late):
    """As concordance_interval of Python, for columns of words and of numbers."""
    table, _, _, y, score = scored_tables(late)
    for column in ("city", "site"):
        expected = rb.metrics.concordance_interval(y, score, cluster=table[column])
        found = facts_of("evaluate", "m", "test.csv", "--cluster", column)
        assert found["concordance_interval"] == pytest.approx([expected.low, expected.high])
        assert found["clusters"] == expected.n_patients == table[column].nunique()
        said = done("evaluate", "m", "test.csv", "--cluster", column)
        ends = f"95% interval {expected.low:.4f} to {expected.high:.4f}"
        assert f"{ends} of {expected.n_patients} clusters" in said
    expected = rb.metrics.concordance_interval(y, score)
    found = facts_of("evaluate", "m", "test.csv")
    assert found["concordance_interval"] == pytest.approx([expected.low, expected.high])
    assert "clusters" not in found and "no_interval" not in found
    said = run("evaluate", "m", "test.csv")
    assert f", 95% interval {expected.low:.4f} to {expected.high:.4f}\n" in said.stdout
    note = "note: cluster: the interval of the concordance counts each row as a patient. If a"
    assert said.stderr.count(note) == late
    assert note not in run("evaluate", "m", "test.csv", "--cluster", "city").stderr


def concordances_without(table, score):
    """Concordance of all late patients, and without each row, from all pairs."""
    time, entry = table.days.to_numpy(), table.start.to_numpy()
    died = table.died.to_numpy() == 1
    lives = (time > time[:, None]) | (time == time[:, None]) & ~died
    pairs = died[:, None] & (entry < time[:, None]) & lives
    right = pairs * ((score > score[:, None]) + (score == score[:, None]) / 2)
    kept = [np.delete(np.arange(time.size), i) for i in range(time.size)]
    share = lambda k: right[np.ix_(k, k)].sum() / pairs[np.ix_(k, k)].sum()
    return share(np.arange(time.size)), np.array([share(k) for k in kept])


def test_the_interval_of_late_entries_is_the_jackknife_over_rows():
    """Each patient is left out, all pairs are counted again; the interval is that of log odds."""
    table, _, _, _, score = scored_tables(late=True)
    value, without = concordances_without(table, score)
    error = np.sqrt((without.size - 1) * np.var(without))
    low, high = facts_of("evaluate", "m", "test.csv")["concordance_interval"]
    odds = np.log([low / (1 - low), high / (1 - high), value / (1 - value)])
    assert odds[:2].mean() == pytest.approx(odds[2], abs=1e-9)
    reach = 1.959963984540054 * error / (value * (1 - value))
    assert odds[1] - odds[0] == pytest.approx(2 * reach, rel=1e-9)


@pytest.mark.parametrize(
    "table, more, said",
    [
        (dict(days=[1, 2, 3], died=[1, 1, 1]), [], "every comparable pair is in the right order"),
        (dict(days=[3, 2, 1], died=[1, 1, 1]), [], "every comparable pair is in the wrong order"),
        (dict(days=[2, 1, 3], died=[0, 1, 0]), [], "a patient is in every comparable pair"),
        (
            dict(days=[2, 1, 3, 4], died=[1, 1, 1, 1], site=[0, 0, 0, 1]),
            ["--cluster", "site"],
            "a cluster is in every comparable pair",
        ),
    ],
)
def test_a_concordance_without_an_interval_says_why(table, more, said):
    pd.DataFrame(table).assign(size=0).to_csv("few.csv", index=False)
    pd.DataFrame(dict(score=range(len(table["days"])))).to_csv("s.csv", index=False)
    given = ["evaluate", "s.csv", "few.csv", *TIMES, *more]
    assert f", no interval, because {said}" in done(*given)
    found = facts_of(*given)
    assert found["concordance_interval"] is None and said in found["no_interval"]


@pytest.mark.parametrize("late", [False, True])
def test_evaluate_has_risk_groups_and_calibration(late):
    """The numbers of Python, with quantiles and a hazard of the training set."""
    _, known, of_train, y, score = scored_tables(late)
    given = ["evaluate", "m", "test.csv", "--train", "train.csv"]
    cuts = np.quantile(of_train, [0.25, 0.5, 0.75])
    expected = rb.metrics.risk_groups(y, score, cuts)
    said, found = done(*given, "--groups", 4), facts_of(*given, "--groups", 4)["risk_groups"]
    assert f"risk groups between quantiles of the training scores\n{expected}\n" in said
    assert found["cuts"] == pytest.approx(cuts) and found["df"] == 3
    assert found["chi_squared"] == pytest.approx(expected.statistic, rel=1e-9)
    assert found["p_value"] == pytest.approx(expected.p_value, rel=1e-9)
    for row, curve, low in zip(found["groups"], expected.curves, expected.low, strict=True):
        assert row["patients"] == curve.n_patients and row["events"] == curve.events.sum()
        assert row["median"] == (curve.median if np.isfinite(curve.median) else None)
        assert row["low"] == pytest.approx(low)
    p = rb.BaselineHazard(known, of_train).survival(score, 20)
    for more, groups in ([], 5), (["--groups", 3], 3):
        expected = rb.metrics.survival_calibration(y, p, 20, groups=groups)
        said = done(*given, "--at", 20, *more)
        assert f"live beyond 20, mean error {expected.error:.4f}\n{expected}\n" in said
        assert ("log-rank" in said) == (groups == 3)
        found = facts_of(*given, "--at", 20, *more)["calibration"]
        assert found["error"] == pytest.approx(expected.error) and found["time"] == 20
        for name in ("predicted", "observed", "lower", "upper"):
            values = [np.nan if row[name] is None else row[name] for row in found["groups"]]
            assert values == pytest.approx(getattr(expected, name).tolist(), nan_ok=True)
    if not late:
        pd.DataFrame(dict(score=score)).to_csv("s.csv", index=False)
        said = done("evaluate", "s.csv", "test.csv", *TIMES, "--groups", 2)
        expected = rb.metrics.risk_groups(y, score, 2)
        assert f"risk groups of about equal size\n{expected}\n" in said
        assert facts_of("evaluate", "m", "test.csv", "--groups", 2)["risk_groups"]["cuts"] is None


@pytest.mark.parametrize(
    "model, arguments, said",
    [
        ("m", ["--at", "20"], "--at is 20 and --train is missing. Pass --train FILE with the tr"),
        (
            "m",
            ["--train", "train.csv"],
            "--train is 'train.csv', but neither --at nor --groups is given. Pass one of them",
        ),
        ("m", ["--at", "9999", "--train", "train.csv"], "--at is 9999. Pass a time of at most"),
        ("m", ["--at", "-1", "--train", "train.csv"], "--at is -1.0. Pass a finite number > 0."),
        ("m", ["--at", "0", "--train", "train.csv"], "--at is 0.0. Pass a finite number > 0."),
        ("m", ["--at", "nan", "--train", "train.csv"], "--at is nan. Pass a finite number > 0."),
        (
            "orders",
            ["--at", "20", "--train", "train.csv"],
            "--at is 20 and MODEL was fitted to orders, not to survival times, so it has no "
            "probabilities of survival. Pass a model fitted with --time, --event and --loss "
            "plackett-luce.",
        ),
        ("m", ["--at", "20", "--train", "none.csv"], "--train"),
        ("m", ["--groups", "0"], "--groups is 0. Pass "),
        ("m", ["--groups", "3", "--qid", "site"], "DATA has strata. Pass survival times of one st"),
        (
            "m",
            ["--at", "9", "--train", "train.csv", "--qid", "site"],
            "DATA has strata. Pass survival times of one stratum, such as",
        ),
        ("m", ["--cluster", "citty"], "--cluster is 'citty' (did you mean 'city'?)"),
        ("m", ["--target", "age", "--cluster", "city"], "--cluster is 'city' and DATA has no surv"),
        ("m", ["--target", "age", "--groups", "2"], "--groups is 2 and DATA has no survival times"),
        ("s", ["--at", "20", "--train", "train.csv"], "--at is 20 and MODEL is not Cox's model"),
        ("s.csv", ["--at", "20", "--train", "train.csv"], "and MODEL is a table of scores. Pass"),
        ("s.csv", ["--groups", "2", "--train", "train.csv"], "and MODEL is a table of scores"),
        (
            "m",
            ["test.csv", "--cluster", "city"],
            "--cluster is 'city', and DATA names several files",
        ),
    ],
)
def test_wrong_calls_of_judges_of_survival(model, arguments, said):
    _, _, _, _, score = scored_tables()
    if model == "s":
        done("fit", "train.csv", *TIMES, "--drop", "site,city,start", "-o", "s")
    if model == "orders":
        given = ["--target", "days", "--drop", "site,city,start,died", *COX, "--lam", 1]
        done("fit", "train.csv", *given, "-o", "orders")
    pd.DataFrame(dict(score=score)).to_csv("s.csv", index=False)
    data = ["train.csv"] if arguments[0] == "test.csv" else ["test.csv"]
    times = [] if "--target" in arguments or model == "m" else TIMES
    assert said in refused("evaluate", model, *data, *arguments, *times)


def test_a_model_of_python_counts_as_one_of_survival_times():
    """A note says so; the calibration is that of the model of the shell."""
    _, known, _, _, _ = scored_tables()
    given = ["test.csv", *TIMES, "--train", "train.csv", "--at", "20"]
    of_shell, said = facts_of("evaluate", "m", *given), "counts as Cox's model of survival times"
    assert said not in run("evaluate", "m", *given).stderr
    X = pd.read_csv("train.csv")[["age", "dose"]]
    model = rb.RankSVM(1e-9, "linear", loss="plackett-luce").fit(X, known)
    model.save("python")
    done("fit", "train.csv", *TIMES, "--drop", "site,city,start", *COX, "--lam", 1e-9, "-o", "m")
    of_shell = facts_of("evaluate", "m", *given)["calibration"]["error"]
    found = run("evaluate", "python", *given, "--json")
    assert said in found.stderr
    error = json.loads(found.stdout)["calibration"]["error"]
    assert error == pytest.approx(of_shell, rel=1e-4)


def text_of(file):
    """The words of a page, without pictures, and the number of pictures."""
    page = re.sub("<style>.*?</style>", "", Path(file).read_text(encoding="utf-8"), flags=re.S)
    page, pictures = re.subn("<svg.*?</svg>", "", page, flags=re.S)
    return " ".join(unescape(re.sub("<[^>]*>", " ", page)).split()), pictures


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("clusters", [False, True])
def test_a_report_has_the_numbers_of_the_terminal(late, clusters):
    """Concordance, risk groups, calibration and coefficients; only what was asked for."""
    _, _, _, y, score = scored_tables(late)
    entry = ["--entry", "start"] if late else ["--drop", "start"]
    cox = ["fit", "train.csv", *TIMES, *entry, "--drop", "site,city", *COX, "--lam", "1e-6"]
    done(*cox, "--coefficients", "-o", "table")
    given = ["test.csv", *(["--cluster", "city"] if clusters else []), "--report", "r.html"]
    judged = ["evaluate", "table", *given, "--train", "train.csv", "--groups", 3, "--at", 20]
    found, said = facts_of(*judged), done(*judged)
    text, pictures = text_of("r.html")
    value, (low, high) = found["metrics"]["concordance"], found["concordance_interval"]
    assert f"concordance       {value:.6f}, 95% interval {low:.4f} to {high:.4f}" in said
    assert f"concordance {value:.3f} {low:.3f} to {high:.3f} Intervals treat" in text
    shares = [f"{100 * share:.1f}%" for share in (value, low, high)]
    assert "{} concordance 95% interval {} to {};".format(*shares) in text
    tables = said.replace("\n\n", "\n").split("\n")[2:]
    assert len(tables) == 1 + 4 + 1 + 1 + 4 + 1  # titles, tables, a test and the last line break
    for line in tables:
        assert " ".join(line.split()).lower() in text.lower()
    for line in done("info", "table", "--coefficients").splitlines():
        assert " ".join(line.split()) in text
    done("evaluate", "m", *given)
    shorter, fewer = text_of("r.html")
    assert pictures == fewer + 2
    for title in ("Risk groups", "Calibration", "Coefficients", "log-rank"):
        assert title in text and title not in shorter
    unit = "clusters" if clusters else "rows" if late else "patients"
    assert f"Intervals treat {unit} as independent ({4 if clusters else 150} of them)" in shorter


def test_the_report_of_a_fit_has_its_coefficients():
    scored_tables()
    given = ["fit", "train.csv", *TIMES, "--drop", "site,start", *COX, "--lam", "1e-6"]
    done(*given, "--drop", "city", "-o", "m", "--report", "plain.html")
    assert "Hazard ratios" not in text_of("plain.html")[0]
    said = done(*given, "-o", "m", "--report", "m.html", "--coefficients", "--cluster", "city")
    text = text_of("m.html")[0]
    table = said[said.index("feature  ") :].splitlines()
    assert "sandwich by city, 4 clusters" in table[-1] and "Hazard ratios and coefficients" in text
    for line in table:
        assert " ".join(line.split()) in text


def test_unknown_features_of_signs_and_factors_are_named_as_features():
    write(train=0)
    given = ["fit", "train.csv", *TIMES, "--drop", "site", *COX, "-o", "m"]
    said = refused(*given, "--sign", "aeg=+1")
    assert "--sign names the feature 'aeg' (did you mean 'age'?). Pass one of: age, dose" in said
    said = refused(*given, "--penalty", "l1", "--penalty-factor", "d=2")
    assert "--penalty-factor names the feature 'd'. Pass one of: age, dose" in said


def test_groups_of_equal_training_scores_are_refused():
    scored_tables()
    table = pd.read_csv("train.csv")
    table.assign(age=0.0, dose=0.0).to_csv("same.csv", index=False)
    said = refused("evaluate", "m", "test.csv", "--train", "same.csv", "--groups", "3")
    assert "--groups is 3, but quantiles of the training scores coincide" in said
