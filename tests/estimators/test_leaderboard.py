"""Leaderboards from votes: strengths beside those of choix, ties and sides included."""

import numpy as np
import pandas as pd
import pytest

import rankbook as rb

NAMES = list("abcdef")
SIDES = dict(home="left", away="right", result="winner", ties="half", items=NAMES)
PRECISE = ("newton", dict(tol=1e-15))


def votes(m=400, seed=0):
    """Votes on six items, the left one of which is preferred a little, with ties."""
    rng = np.random.default_rng(seed)
    a, b = np.array([rng.choice(6, 2, replace=False) for _ in range(m)]).T
    ahead = 0.4 * (b - a) + 0.3 + rng.logistic(size=m)
    winner = np.where(np.abs(ahead) < 0.4, "tie", np.where(ahead > 0, "left", "right"))
    return pd.DataFrame(dict(left=np.array(NAMES)[a], right=np.array(NAMES)[b], winner=winner))


def strengths(table, lam=1.0, **more):
    prefs = rb.Preferences.from_matches(table, **SIDES, **more)
    model = rb.RankSVM(lam, "linear", loss="logistic", solver=PRECISE, pair_lam=lam)
    return model.fit(np.eye(6), prefs)


@pytest.mark.peer("choix")
@pytest.mark.parametrize("lam", [0.01, 1.0, 30.0])
def test_strengths_are_those_of_choix(lam):
    import choix

    table, pairs = votes(), []
    for left, right, winner in table.itertuples(index=False):
        ends = NAMES.index(left), NAMES.index(right)
        # a win counts as two, and a tie as one each way, so the penalty is doubled as well
        both = [ends, ends[::-1]]
        pairs += both if winner == "tie" else [both[winner == "right"]] * 2
    known = choix.opt_pairwise(6, pairs, alpha=lam, method="Newton-CG", tol=1e-14)
    model = strengths(table, lam)
    assert np.abs(model.coef_ - known).max() < 1e-8 and model.certificate_.is_optimal(1e-10)


def test_the_order_of_votes_and_which_side_is_left_do_not_matter():
    table = votes()
    turned = table.rename(columns=dict(left="right", right="left"))
    turned["winner"] = turned.winner.replace(dict(left="right", right="left"))
    first = strengths(table, home_advantage=True)
    for other, sign in ((table.sample(frac=1, random_state=0), 1), (turned, -1)):
        again = strengths(other, home_advantage=True)
        assert np.allclose(again.coef_, first.coef_, atol=1e-8)
        assert np.allclose(again.pair_coef_, sign * first.pair_coef_, atol=1e-8)
    assert first.pair_coef_[0] > 0.1


def test_the_side_is_an_intercept_of_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    table = votes()
    a, b = (table[side].map(NAMES.index).to_numpy() for side in ("left", "right"))
    D = np.column_stack([np.eye(6)[a] - np.eye(6)[b], np.ones(len(a))])
    share = table.winner.map(dict(left=1.0, tie=0.5, right=0.0)).to_numpy()
    known = LogisticRegression(C=0.5, fit_intercept=False, solver="newton-cholesky", tol=1e-12)
    known.fit(np.r_[D, D], np.repeat([1, 0], len(a)), np.r_[share, 1 - share])
    model = strengths(table, 2.0, home_advantage=True)
    assert np.abs(np.r_[model.coef_, model.pair_coef_] - known.coef_[0]).max() < 1e-8


def test_counted_orders_count_their_voters():
    orders, voters = [["a", "b", "c"], ["c", "a"], ["b", "c"]], [30, 12, 5]
    single = [order for order, w in zip(orders, voters) for _ in range(w)]
    both = rb.Orders.from_rankings(orders, weight=voters), rb.Orders.from_rankings(single)
    counted, listed = (rb.Leaderboard().fit(each) for each in both)
    table = counted.table_
    assert dict(zip(table["item"], table.comparisons)) == dict(a=42, b=35, c=47)
    assert table["item"].tolist() == listed.table_["item"].tolist()
    assert np.isclose(counted.lam_, listed.lam_)
    for name in ("score", "low", "high"):
        assert np.allclose(table[name], listed.table_[name], atol=1e-5)
    drawn = [rb.Leaderboard(method="bootstrap", n_draws=500).fit(each).table_ for each in both]
    widths = [(each.high - each.low).to_numpy() for each in drawn]
    assert np.allclose(widths[0] / widths[1], 1, atol=0.15)
