"""The option --loss of commands that fit."""

import json

import numpy as np
import pandas as pd
import pytest
from shell import done, refused

import rankbook as rb
from rankbook.data.split import scaling

pytestmark = pytest.mark.usefixtures("workplace")

LOSSES = ("hinge", "squared", "logistic")


def write_cars(name="cars.csv", seed=0, n=60):
    """Items with two features and four grades."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 2)).round(3), columns=["a", "b"])
    table["y"] = np.digitize(table.a + 0.5 * table.b + 0.5 * rng.normal(size=n), [-1, 0, 1])
    table.to_csv(name, index=False)
    return table


def write_votes(name="votes.csv", seed=0, n=12, m=150):
    """Items with a feature, and noisy votes between them."""
    rng = np.random.default_rng(seed)
    items = pd.DataFrame(dict(name=[f"i{k}" for k in range(n)], size=rng.normal(size=n).round(3)))
    a, b = np.array([rng.choice(n, 2, replace=False) for _ in range(m)]).T
    ahead = items["size"].to_numpy()[a] - items["size"].to_numpy()[b] + rng.logistic(size=m) > 0
    items.to_csv("items.csv", index=False)
    pair = np.where(ahead, (a, b), (b, a))
    votes = pd.DataFrame(items.name.to_numpy()[pair].T, columns=["winner", "loser"])
    votes.to_csv(name, index=False)
    return items, votes


@pytest.mark.parametrize("loss", [*LOSSES, "plackett-luce"])
def test_select_takes_a_loss_for_parts(loss):
    write_cars()
    given = ["select", "cars.csv", "--target", "y", "--kernel", "linear", "--loss", loss]
    found = json.loads(done(*given, "--json", "--save", "m"))
    model, chosen = rb.load("m").model, found["chosen"]["lam"]
    assert found["loss"] == model.loss == loss and model.certificate_.is_optimal(1e-6)
    assert model.lam_ == pytest.approx(chosen)
    assert f"linear; {loss} loss" in done(*given)


@pytest.mark.parametrize("loss", LOSSES)
def test_select_by_folds_is_the_estimator_with_that_loss(loss):
    items, votes = write_votes()
    given = ["select", "items.csv", "--name", "name", "--preferences", "votes.csv"]
    given += ["--kernel", "linear", "--fold-by", "pair", "--loss", loss]
    found = json.loads(done(*given, "--json", "--save", "m"))
    X = items[["size"]].to_numpy()
    centre, factor = scaling(X)
    prefs = rb.Preferences.from_pairs(votes, items=items.name)
    model = rb.RankSVMCV("linear", loss=loss, fold_by="pair", random_state=0)
    model.fit((X - centre) * factor, prefs)
    assert found["chosen"]["lam"] == pytest.approx(model.lam_, rel=1e-6)
    assert rb.load("m").model.loss == loss and found["loss"] == loss


def write_orders(n=8, m=60):
    """Varieties with a feature; three of them ordered by each of m farmers."""
    rng = np.random.default_rng(0)
    seeds = pd.DataFrame(dict(seed=[f"s{i}" for i in range(n)], height=rng.normal(size=n).round(2)))
    rows = [rng.choice(n, 3, replace=False) for _ in range(m)]
    rows = [row[np.argsort(-seeds.height.to_numpy()[row] - rng.gumbel(size=3))] for row in rows]
    wide = pd.DataFrame(seeds.seed.to_numpy()[np.array(rows)], columns=["first", "second", "third"])
    wide.loc[:4, "third"] = None
    seeds.to_csv("seeds.csv", index=False)
    wide.to_csv("wide.csv", index=False)
    return seeds, [row.dropna().tolist() for _, row in wide.iterrows()]


ORDERS = ["seeds.csv", "--name", "seed", "--preferences", "wide.csv", "--form", "orders"]
ORDERS += ["--kernel", "linear", "--loss", "plackett-luce"]


def test_orders_are_fitted_and_chosen():
    seeds, rows = write_orders()
    X, orders = seeds[["height"]].to_numpy(), rb.Orders.from_rankings(rows, items=seeds.seed)
    done("fit", *ORDERS, "--lam", 1, "--no-standardize", "-o", "m")
    model = rb.RankSVM(1.0, "linear", loss="plackett-luce").fit(X, orders)
    assert np.allclose(rb.load("m").model.coef_, model.coef_) and model.coef_[0] > 0.3
    long = [(i, name, 10 * k) for i, row in enumerate(rows) for k, name in enumerate(row)]
    pd.DataFrame(long, columns=["ranking", "item", "place"]).to_csv("long.csv", index=False)
    given = ["long.csv" if word == "wide.csv" else word for word in ORDERS]
    given[given.index("orders")] = "rankings"
    more = ["--column", "rank=place", "--lam", 1, "--no-standardize", "-o", "same"]
    done("fit", *given, *more)
    assert np.allclose(rb.load("same").model.coef_, model.coef_)
    found = json.loads(done("select", *ORDERS, "--fold-by", "order", "--json", "--save", "s"))
    assert found["folds"]["dropped"] == 0 and found["disagreement"]["held_out"] < 0.5
    assert rb.load("s").model.loss == "plackett-luce"
    done("select", *ORDERS, "--validation", "wide.csv", "--save", "v")
    shares = json.loads(done("evaluate", "v", *ORDERS[:-4], "--json"))["metrics"]
    assert shares["disagreement"] < 0.5


def test_columns_besides_those_of_the_items():
    seeds, rows = write_orders()
    wide = pd.read_csv("wide.csv")
    columns = ",".join(wide.columns)
    wide.insert(0, "farmer", [f"f{i}" for i in range(len(wide))])
    wide.to_csv("farmers.csv", index=False)
    given = ["farmers.csv" if word == "wide.csv" else word for word in ORDERS]
    said = refused("fit", *given, "-o", "m")
    assert "look like names of voters" in said and f"best first: --column item={columns}" in said
    done("fit", *given, "--column", f"item={columns}", "-o", "m")
    done("fit", *ORDERS, "-o", "same")
    assert np.array_equal(rb.load("m").model.coef_, rb.load("same").model.coef_)


def test_survival_times_by_cox():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(dict(age=rng.normal(size=80).round(2), days=0, died=0))
    table["days"] = np.ceil(20 * rng.exponential(np.exp(-table.age)))
    table["died"] = (rng.random(80) < 0.7).astype(int)
    table.to_csv("patients.csv", index=False)
    given = ["patients.csv", "--time", "days", "--event", "died", "--kernel", "linear"]
    given += ["--loss", "plackett-luce"]
    done("fit", *given, "--lam", 0.5, "--no-standardize", "-o", "m")
    orders = rb.Orders.from_survival(table.days, table.died)
    model = rb.RankSVM(0.5, "linear", loss="plackett-luce").fit(table[["age"]].to_numpy(), orders)
    assert np.allclose(rb.load("m").model.coef_, model.coef_, atol=1e-6) and model.coef_[0] < -0.5
    found = json.loads(done("select", *given, "--json"))
    assert found["loss"] == "plackett-luce" and found["concordance"]["held_out"] > 0.6


def test_orders_are_not_pairs():
    write_orders()
    for form in ("pairs", "matches", "clicks"):
        said = refused("fit", *ORDERS[:6], form, *ORDERS[7:], "-o", "m")
        assert (
            f"--loss is 'plackett-luce' and --form is '{form}'. Pass --form rankings or ord" in said
        )
    said = refused("fit", *ORDERS, "--ties", "efron", "-o", "m")
    assert "--column ties=efron or breslow counts equal ranks" in said
    said = refused("select", *ORDERS, "--fold-by", "pair")
    assert "--fold-by is 'pair'" in said and "item, order" in said
    assert "--group is 'first', and the table contains orders" in refused(
        "select", *ORDERS, "--group", "first"
    )


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--loss", "log"], "--loss is 'log'. Pass"),
        (
            ["--loss", "squared", "--method", "rankrls"],
            "--loss is 'squared' and --method is 'rankrls'. Pass --loss only with --method ranksvm",
        ),
    ],
)
def test_wrong_losses(arguments, said):
    write_cars()
    assert said in refused("select", "cars.csv", "--target", "y", *arguments)


def write_matches():
    """Votes with judges, sides and lengths, of items without any difference but the side."""
    rng = np.random.default_rng(0)
    items, _ = write_votes()
    a, b = np.array([rng.choice(12, 2, replace=False) for _ in range(200)]).T
    names, longer = items.name.to_numpy(), rng.normal(size=200).round(3)
    ahead = 1 + longer + rng.logistic(size=200)
    result = np.where(np.abs(ahead) < 0.4, "tie", np.where(ahead > 0, "left", "right"))
    votes = pd.DataFrame(dict(left=names[a], right=names[b], result=result, longer=longer))
    votes.assign(judge=np.arange(200) % 7).to_csv("matches.csv", index=False)
    return items, votes


MATCHES = ["items.csv", "--name", "name", "--preferences", "matches.csv", "--form", "matches"]
MATCHES += ["--column", "home=left", "--column", "away=right", "--ties", "half"]
MATCHES += ["--column", "home_advantage=yes", "--column", "pair_features=longer"]
MATCHES += ["--kernel", "linear", "--loss", "logistic"]


def test_features_of_pairs_are_columns_of_matches():
    items, votes = write_matches()
    done("fit", *MATCHES, "--lam", 1, "--no-standardize", "-o", "m")
    given = dict(home="left", away="right", ties="half", items=items.name)
    more = dict(home_advantage=True, pair_features="longer")
    prefs = rb.Preferences.from_matches(votes, **given, **more)
    model = rb.RankSVM(1.0, "linear", loss="logistic").fit(items[["size"]].to_numpy(), prefs)
    found = rb.load("m").model
    assert np.allclose(found.pair_coef_, model.pair_coef_) and (model.pair_coef_ > 0.5).all()
    assert json.loads(done("info", "m", "--json"))["pair_weights"] == found.pair_coef_.tolist()
    assert f"of pairs     {found.pair_coef_[0]:.6g}, " in done("info", "m")
    done("select", *MATCHES, "--group", "judge", "--save", "s")
    assert rb.load("s").model.pair_coef_.shape == (2,)


def test_an_advantage_is_there_or_not():
    write_matches()
    said = refused("fit", *MATCHES[:-4], "--column", "home_advantage=perhaps", "-o", "m")
    assert "--column is home_advantage=yes and home_advantage=perhaps" in said
    said = refused("fit", *MATCHES[:7], "--column", "home_advantage=1", "-o", "m")
    assert "--column is home_advantage=1. Pass home_advantage=yes or home_advantage=no" in said


def test_the_clip_of_propensities_is_a_number():
    write_votes()
    log = dict(session=[0, 0, 1, 1], item=["i0", "i1", "i2", "i0"], rank=[1, 2, 1, 2])
    log |= dict(click=[0, 1, 1, 0], seen=[1, 0.1, 1, 0.1])
    pd.DataFrame(log).to_csv("log.csv", index=False)
    given = ["items.csv", "--name", "name", "--preferences", "log.csv", "--form", "clicks"]
    given += ["--column", "rule=all-others", "--column", "propensity=seen", "--kernel", "linear"]
    done("fit", *given, "--column", "clip=0.5", "-o", "m")
    said = refused("fit", *given, "--column", "clip=half", "-o", "m")
    assert "--column is clip=half. Pass clip=NUMBER" in said
