"""Leaderboards of published votes, beside the values that R's packages print for them.

The votes are those of four papers; the values are the output of BradleyTerry2 1.1 (its tests
BTabilities and baseball, and its vignette) and PlackettLuce 0.4 (its vignette and its README).
"""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import rankbook as rb

LAM = 1e-9  # as good as no prior


def agree(found, printed, digits):
    """Whether numbers round to the printed ones."""
    return np.abs(np.asarray(found) - printed).max() <= 0.5001 * 10.0**-digits


def against(board, names, other):
    """Differences (q,) of scores from one item, and their standard errors."""
    found = [board.compare(name, other) for name in names]
    widths = [each.high - each.low for each in found]
    return [each.difference for each in found], np.array(widths) / 2 / norm.ppf(0.975)


def deviations(table):
    """Standard errors of a table with intervals of 95%."""
    return (table["high"] - table["low"]) / 2 / norm.ppf(0.975)


def test_citations_of_journals():
    """Stigler (1994), Statistical Science 9: the cited journal wins."""
    names = ["Biometrika", "Comm Statist", "JASA", "JRSS-B"]
    pairs = [(0, 1, 730, 33), (0, 2, 498, 320), (0, 3, 221, 284)]
    pairs += [(1, 2, 68, 813), (1, 3, 17, 276), (2, 3, 142, 325)]
    rows = [(names[i], names[j], *wins) for i, j, *wins in pairs]
    columns = ["first", "second", "wins_first", "wins_second"]
    board = rb.Leaderboard(lam=LAM).fit(pd.DataFrame(rows, columns=columns))
    leads, errors = against(board, names[1:], names[0])
    assert agree(leads, [-2.9490725, -0.4795698, 0.2689541], 7)
    assert agree(errors, [0.10254534, 0.06058873, 0.07082997], 8)
    leads, errors = against(board, [names[0], names[1], names[3]], "JASA")
    assert agree(leads, [0.4795698, -2.4695027, 0.7485238], 7)
    assert agree(errors, [0.06058873, 0.09817049, 0.07294356], 8)
    table = board.table_.set_index("item").loc[names]
    assert agree(table["score"], [0.7899221, -2.1591504, 0.3103523, 1.0588761], 7)
    assert agree(deviations(table), [0.04333047, 0.07257974, 0.04164102, 0.05304699], 8)


# wins at home and away against each other team, in the order of the names
TEAMS = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
GAMES = """
43 42 43 61 42 60
33 42 43 60 61 43
25 43 24 43 42 60
33 51 25 43 42 61
51 25 33 42 52 60
25 33 34 43 42 24
25 15 16 24 16 34
""".split()


@pytest.mark.parametrize(
    "home, leads, errors",
    [
        (
            False,
            [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839],
            [0.3433, 0.3396, 0.3367, 0.3359, 0.3339, 0.3319],
        ),
        (
            True,
            [1.6196, 1.4754, 1.3271, 1.2813, 1.1438, 0.7047],
            [0.3474, 0.3446, 0.3403, 0.3404, 0.3378, 0.3350],
        ),
    ],
)
def test_baseball_with_and_without_home_advantage(home, leads, errors):
    """Agresti (2002), Categorical Data Analysis, section 10.6: games of the season of 1987."""
    pairs = [(a, b) for a in TEAMS for b in TEAMS if a != b]
    rows = [(*pair, end, int(n)) for pair, both in zip(pairs, GAMES) for end, n in zip("ha", both)]
    table = pd.DataFrame(rows, columns=["home", "away", "winner", "games"])
    table = table[table["games"] > 0].replace(dict(winner=dict(h="home", a="away")))
    columns = dict(result="winner", weight="games", home_advantage=home)
    board = rb.Leaderboard(columns=columns, lam=LAM, pair_lam=LAM).fit(table)
    found = against(board, TEAMS[:-1], "Baltimore")
    assert agree(found[0], leads, 4) and agree(found[1], errors, 4)
    if home:
        effect = board.pair_table_
        assert agree(board.pair_coef_, 0.3023, 4) and agree(deviations(effect), 0.1309, 4)


# pair, comparisons, wins of either, ties
PUDDING = """
1 2 57 19 22 16
1 3 47 16 19 12
2 3 48 19 19 10
1 4 54 18 23 13
2 4 51 23 19  9
3 4 54 19 20 15
1 5 50 13 19 18
2 5 48 16 20 12
3 5 48 16 15 17
4 5 47 17 14 16
1 6 51 18 21 12
2 6 54 22 20 12
3 6 41 13 18 10
4 6 51 14 19 18
5 6 44 11 21 12
"""


def davidson(n, i, j, won, lost, tied, steps=1000):
    """Davidson's algorithm, which repeats his equations for the strengths and nu."""
    total, strength, nu = won + lost + tied, np.ones(n), 1.0
    points = np.bincount(i, 2 * won + tied, n) + np.bincount(j, 2 * lost + tied, n)
    for _ in range(steps):
        a, b = strength[i], strength[j]
        all_of = total / (a + b + nu * np.sqrt(a * b))
        share = [all_of * (2 + nu * np.sqrt(ratio)) for ratio in (b / a, a / b)]
        strength = points / (np.bincount(i, share[0], n) + np.bincount(j, share[1], n))
        a, b = strength[i], strength[j]
        nu = tied.sum() / (total * np.sqrt(a * b) / (a + b + nu * np.sqrt(a * b))).sum()
    return strength / strength.sum(), nu


def test_ties_of_puddings():
    """Davidson (1970), Journal of the American Statistical Association 65, example 2.

    The vignette stops after 7 iterations, as the paper did, "not converged", so its estimates have
    four digits. Its standard errors have six. Davidson's algorithm, continued, has ten.
    """
    i, j, total, *outcomes = np.array(PUDDING.split(), dtype=int).reshape(-1, 6).T
    assert (sum(outcomes) == total).all()
    rows = [
        (str(a), str(b), result, count)
        for a, b, *counts in zip(i, j, *outcomes)
        for result, count in zip(("home", "away", "tie"), counts)
    ]
    votes = pd.DataFrame(rows, columns=["home", "away", "result", "votes"])
    columns = dict(result="result", weight="votes")
    board = rb.Leaderboard(columns=columns, ties="davidson", lam=LAM).fit(votes)
    table = board.table_.set_index("item").sort_index()
    worth = np.exp(table["score"]) / np.exp(table["score"]).sum()
    assert agree(worth, [0.1388, 0.1730, 0.1617, 0.1654, 0.1587, 0.2024], 4)
    assert agree(board.tie_, 0.7468, 4) and board.phi_ == 1
    printed = [0.121949, 0.121818, 0.126823, 0.122003, 0.127054, 0.126594]
    assert agree(deviations(table), printed, 6)
    printed = [0.1872, 0.1935, 0.1882, 0.1927, 0.1924]
    assert agree(against(board, "23456", "1")[1], printed, 4)
    strength, nu = davidson(6, i - 1, j - 1, *outcomes)
    assert np.allclose(worth, strength, rtol=1e-10) and np.isclose(board.tie_, nu, rtol=1e-10)
    assert agree(-2 * board.score(votes) * total.sum(), 1619.4, 1)


FILMS = ["Mean Girls", "Beverly Hills Cop", "The Mummy Returns", "Mission: Impossible II"]
NETFLIX = """
2143 68 1243 53 2134 49 1234 44 2413 39 3214 37 2314 37 2341 36 3241 31 2431 29 1324 22 3124 19
3421 17 4231 17 4213 16 1423 14 1342 10 4123 10 4312  9 3412  8 1432  8 3142  7 4321  7 4132  1
"""


def test_orders_of_films():
    """Bennett and Lanning (2007), the Netflix prize; data set 4-138 of PrefLib.

    PlackettLuce adds half a win and half a loss of each film against a ghost of strength 1, and
    leaves them out of the standard errors. They are between those with and without the ghost.
    """
    order, voters = np.array(NETFLIX.split()).reshape(-1, 2).T
    orders = [[FILMS[int(place) - 1] for place in each] for each in order]
    weight = voters.astype(float)
    ghosts = [pair for film in FILMS for pair in ([film, "ghost"], ["ghost", film])]
    fit = lambda given, **more: rb.Leaderboard(lam=1e-7).fit(rb.Orders.from_rankings(given, **more))
    board = fit(orders + ghosts, weight=np.r_[weight, np.full(8, 0.5)])
    alone = fit(orders, weight=weight)
    worth = np.exp(board.predict(FILMS))
    assert agree(worth / worth.sum(), [0.2306285, 0.4510655, 0.1684719, 0.1498342], 7)
    leads, errors = against(board, FILMS[1:], FILMS[0])
    assert agree(leads, [0.67080, -0.31404, -0.43128], 5)
    printed, most = np.array([0.07472, 0.07593, 0.07489]), against(alone, FILMS[1:], FILMS[0])[1]
    assert (errors < printed + 5e-6).all() and (printed < most + 5e-6).all()
    assert np.allclose(errors, most, rtol=1e-3)
