"""Scores of competitors from votes, beside arena-rank, evalica and choix.

Votes are generated: a third of them are ties, a feature of the pair has an effect, and judges have
votes of different items. All start from a table in memory. Ours matches its prior to the votes, and
computes intervals of scores and ranks, by judge where that is said. arena-rank computes intervals
of scores without judges and without a matched prior. evalica and choix compute scores only; choix
cannot count equal votes, so it gets only few. Ours draws judges in its bootstrap; that of
arena-rank is left out, because it forks processes, which may wait for ever for threads of JAX.

The "distance" is the largest difference of a score from that of the maximum of the likelihood,
which ours finds for a tiny lambda. A matched prior moves scores towards each other by about 1 / m
for m votes on an item. Players have few votes, so that there may be no maximum, and no distance.
"""

import numpy as np
import pandas as pd

import rankbook as rb

from .common import compare
from .rivals import rival

VOTES = {"tiny": 2_000, "usual": 100_000, "full": 1_480_000}
ITEMS = {"tiny": 8, "usual": 220, "full": 220}
PLAYERS = {"tiny": (2_500, 10_000), "usual": (10_000, 200_000), "full": (100_000, 5_000_000)}
BOOTSTRAP = {"tiny": 1_000, "usual": 20_000, "full": 98_554}
CHOIX = 5_000  # votes at most
TINY, DRAWS = 1e-8, 100


def votes(n, m, k=0, seed=0):
    """A table of m votes on n items by m / 70 judges, with k features of pairs."""
    rng = np.random.default_rng(seed)
    score, first = rng.normal(size=n), rng.integers(0, n, m)
    second = (first + rng.integers(1, n, m)) % n
    features = rng.normal(size=(m, k))
    t = score[first] - score[second] + (features[:, 0] / 2 if k else 0)
    chance = 1 / (1 + np.exp(-t))
    half, u = 0.8 * chance * (1 - chance), rng.random(m)
    winner = np.where(u < chance - half, "model_a", np.where(u < chance + half, "tie", "model_b"))
    names = np.array([f"item {i:06d}" for i in range(n)])
    table = pd.DataFrame(dict(model_a=names[first], model_b=names[second], winner=winner))
    table["judge"] = rng.integers(0, max(2, m // 70), m)
    return table.assign(**{f"f{j}": features[:, j] for j in range(k)})


def scores(found):
    """Scores by name, minus their mean."""
    if isinstance(found, rb.Leaderboard):
        found = pd.Series(found.score_, found.items_)
    found = pd.Series(found)
    return (found - found.mean()).sort_index()


def job(what, table, peers, measured=True, **options):
    """Rows of ours beside peers on one table; `measured` if there is a distance."""
    features = [name for name in table if name.startswith("f")]
    columns = dict(home="model_a", away="model_b", result="winner")
    columns |= dict(pair_features=features) if features else {}
    ours = lambda **more: rb.Leaderboard(columns=columns, **options | more).fit(table)
    n, measures = pd.concat([table["model_a"], table["model_b"]]).nunique(), {}
    if measured:
        known = scores(ours(lam=TINY, pair_lam=TINY, unit=None, intervals=False))
        measures["distance"] = lambda found: float((scores(found) - known).abs().max())
    return compare(f"{what}, {len(table):,} votes", n, ours, peers, measures)


def rows(scale, peers):
    """All rows."""
    n, m = ITEMS[scale], VOTES[scale]
    for k in (0, 1):
        table = votes(n, m, k)
        parts = [table[name].to_numpy(dtype=str) for name in ("model_a", "model_b", "winner")]
        features = table[[f"f{j}" for j in range(k)]].to_numpy(dtype=float)
        there = {"arena-rank": rival("arena-rank", "arena_rank", *parts, features)}
        if not k:
            there["evalica"] = rival("evalica", "evalica", *parts)
            if m <= CHOIX:
                there["choix"] = rival("choix", "choix", *parts)
        said = f"{k} pair feature" + "s" * (k != 1)
        yield from job(f"{said}, independent votes", table, there)
        yield from job(f"{said}, intervals by judge", table, {}, unit="judge")
    table = votes(n, BOOTSTRAP[scale])
    drawn = dict(method="bootstrap", n_draws=DRAWS, unit="judge")
    yield from job(f"bootstrap of {DRAWS} draws", table, {}, **drawn)
    table = votes(*PLAYERS[scale])
    named = sorted(set(table["model_a"]))[:100]
    there = dict(evalica="needs a matrix of all players")
    yield from job("players, intervals for 100", table, there, measured=False, intervals=named)
