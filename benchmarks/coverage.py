"""How often the intervals of a leaderboard contain the true scores and ranks.

True scores have a normal distribution with the standard deviation `spread`, drawn anew for each
repetition, and pairs are drawn uniformly. Where the model is wrong because of ties or judges, the
true scores are those that minimize the expected loss. Orders are drawn from the model of Plackett
and Luce. All intervals have level 0.95.
"""

import warnings
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit

import rankbook as rb
from rankbook.data.vote_tables import VoteTable
from rankbook.estimators.rank_sets import largest, rank_ends
from rankbook.preferences.votes import Votes
from rankbook.problems.votes import centre_groups, fit_votes

REPETITIONS = {"tiny": 2, "usual": 1000, "full": 4000}
LEVEL = 0.95
DRAWS = {"laplace": 2000, "bootstrap": 300}
MANY = 100  # items; from here on, every tenth repetition has ranks
DOUBTS = ("intervals", "nearly all votes are ties")  # of notes that doubt intervals
HALVES = 4  # half-lives in the time of the votes
EFFECT = 0.5  # of the pair feature at its root mean square
SIZE = 300.0  # the root mean square


@dataclass(frozen=True)
class Cell:
    """A leaderboard that votes are drawn for.

    Attributes
    ----------
    items, votes : int
        Number of items, and of votes or orders on each.
    spread : float
    ties : float
        Share of ties if the scores are equal.
    mechanism : {"calibrated", "davidson", "at random"}
        With calibrated ties, the expected points are those of the model.
    judges : int
        0 for independent votes. Judges have tastes with standard deviation 1.
    sizes : {"equal", "unequal"}
        Whether all judges vote equally often, or the most active ones ten times as often.
    feature : bool
    weights : {"", "decay", "decay by judge"}
        Weights 2^-a for ages a from 0 to 4, of each vote or of all votes of a judge.
    pairs : {"uniform", "uneven"}
        With uneven pairs, the least popular item has a hundredth of the votes of the most popular.
    fit : {"half", "davidson"}
    places : int
        Number of items in each order, or 2 for votes.
    method : {"laplace", "bootstrap"}
    """

    items: int = 20
    votes: int = 20
    spread: float = 1.0
    ties: float = 0.0
    mechanism: str = ""
    judges: int = 0
    sizes: str = ""
    feature: bool = False
    weights: str = ""
    pairs: str = "uniform"
    fit: str = "half"
    places: int = 2
    method: str = "laplace"


def cells():
    """All cells."""
    yield from (Cell(votes=votes) for votes in (5, 10, 20, 30, 50, 100, 1000, 5000))
    for items in (2, 3, 4, 8, 50):
        yield from (Cell(items, votes) for votes in (10, 30, 100))
    yield from (Cell(200, votes) for votes in (10, 30, 100))
    for spread in (0.1, 0.0):
        yield from (Cell(votes=votes, spread=spread) for votes in (10, 100, 1000))
    yield from (Cell(20, votes, 1.0, 0.3, "calibrated") for votes in (10, 30, 100, 1000))
    yield from (Cell(20, votes, 0.2, 0.6, "calibrated") for votes in (30, 100))
    for ties in (0.3, 0.6):
        yield from (Cell(20, votes, 1.0, ties, "davidson") for votes in (10, 30, 1000))
        yield from (Cell(20, votes, 1.0, ties, "at random") for votes in (10, 30, 1000))
        yield Cell(20, 100, 1.0, ties, "davidson", fit="davidson")
    yield Cell(20, 100, 0.0, 0.95, "at random")
    yield from (Cell(12, 200, judges=judges, sizes="equal") for judges in (3, 10, 20, 100))
    yield from (Cell(12, 200, judges=judges, sizes="unequal") for judges in (5, 10, 20, 50))
    yield from (Cell(12, votes, judges=20, sizes="equal") for votes in (20, 1000))
    yield Cell(12, 200, 1.0, 0.3, "calibrated", 10, "equal")
    yield Cell(12, 200, 0.0, judges=20, sizes="equal")
    yield Cell(12, 200, judges=20, sizes="unequal", feature=True)
    yield from (Cell(votes=votes, feature=True) for votes in (10, 30, 1000))
    yield Cell(20, 100, 1.0, 0.3, "calibrated", feature=True)
    yield from (Cell(votes=votes, weights="decay") for votes in (30, 100, 1000))
    yield Cell(20, 100, 1.0, 0.3, "calibrated", weights="decay")
    yield from (Cell(votes=votes, pairs="uneven") for votes in (30, 100))
    yield Cell(20, 100, 1.0, 0.3, "calibrated", pairs="uneven")
    yield from (Cell(12, 200, judges=n, sizes="equal", weights="decay") for n in (10, 20, 100))
    yield Cell(12, 200, judges=20, sizes="unequal", weights="decay")
    yield from (Cell(12, 200, judges=n, sizes="equal", weights="decay by judge") for n in (20, 100))
    yield from (Cell(votes=votes, places=4) for votes in (10, 30, 100, 1000))
    yield from (Cell(8, votes, places=8) for votes in (10, 30, 100))
    yield Cell(3, 30, places=3)
    yield from (Cell(20, votes, 0.0, places=4) for votes in (10, 100))
    yield from (Cell(12, 200, judges=n, sizes="equal", method="bootstrap") for n in (10, 20, 100))
    yield Cell(12, 1000, judges=20, sizes="equal", method="bootstrap")
    yield from (Cell(votes=votes, method="bootstrap") for votes in (30, 100, 1000))


@dataclass(frozen=True)
class Covered:
    """A cell and what its intervals cover.

    Attributes
    ----------
    score, error : float
        Share of intervals that contain the true score, on average over the items, and its standard
        error from the repetitions.
    width : float
        Mean width of these intervals.
    noted : float
        Share of repetitions with a note that doubts the intervals.
    rank, ranks : float
        Share of intervals that contain all ranks that the item shares with equal items, and the
        mean number of ranks in an interval.
    one_step, ranks_one_step : float
        The same without the steps after the first.
    credible, ranks_credible : float
        The same for percentiles of drawn ranks.
    effect : float, optional
        Share of intervals that contain the true effect of the pair feature.
    lam : float, optional
        Median of lambda, divided by 1 / spread^2.
    """

    REMARK: ClassVar[str] = "All intervals have level 0.95."

    items: int
    votes: int
    spread: float
    ties: float
    mechanism: str
    judges: int
    sizes: str
    feature: bool
    weights: str
    pairs: str
    fit: str
    places: int
    method: str
    repetitions: int
    score: float
    error: float
    width: float
    noted: float
    rank: float
    ranks: float
    one_step: float
    ranks_one_step: float
    credible: float
    ranks_credible: float
    effect: float | None = None
    lam: float | None = None


def outcomes(cell, t):
    """Probabilities of a win and of a tie for differences t of scores."""
    p = expit(t)
    if cell.mechanism == "calibrated":
        half = cell.ties * np.minimum(p, 1 - p)
        return p - half, 2 * half
    if cell.mechanism == "davidson":
        nu = 2 * cell.ties / (1 - cell.ties)
        total = np.exp(t / 2) + np.exp(-t / 2) + nu
        return np.exp(t / 2) / total, nu / total
    return (1 - cell.ties) * p, np.full_like(p, cell.ties)


def truth(cell, score, chances):
    """Scores (n,) and effects (k,) that minimize the expected loss."""
    exact = cell.fit == "davidson" or cell.mechanism in ("", "calibrated")
    if exact and not cell.judges:
        return score - score.mean(), np.full(int(cell.feature), EFFECT)
    a, b = np.triu_indices(cell.items, 1)
    hermite = np.polynomial.hermite_e.hermegauss
    (taste, of_taste), (x, of_x) = hermite(40 if cell.judges else 1), hermite(20)
    if not cell.feature:
        x, of_x = np.zeros(1), np.ones(1)
    difference = (score[a] - score[b])[:, None] + EFFECT * x
    t = difference[..., None] + np.sqrt(2) * taste  # the tastes for both items
    win, tie = outcomes(cell, t)
    points = (win + tie / 2) @ of_taste / of_taste.sum()
    weight = ((chances[a] * chances[b])[:, None] * of_x).ravel()
    weight /= weight.sum()
    features = np.tile(SIZE * x, a.size)[:, None] if cell.feature else np.empty((a.size, 0))
    a, b = (np.repeat(end, x.size) for end in (a, b))
    expected = Votes(a, b, weight, weight * points.ravel(), 0 * weight, features, cell.items)
    fit = fit_votes(expected, 1e-6, pair_lam=1e-6)  # biased by a ten-thousandth
    return fit.scores, fit.theta


def drawn(cell, seed):
    """Votes or orders, true scores (n,) and effects (k,)."""
    rng, n = np.random.default_rng([11, seed]), cell.items
    score, m = cell.spread * rng.normal(size=n), n * cell.votes // 2
    chances = np.geomspace(1, 0.01, n) if cell.pairs == "uneven" else np.ones(n)
    a, b = np.triu_indices(n, 1)
    sampled = chances[a] * chances[b] / (chances[a] * chances[b]).sum()
    right = truth(cell, score, chances)
    if cell.places > 2:
        at_random = rng.random((n * cell.votes // cell.places, n))
        some = at_random.argsort(axis=1)[:, : cell.places]
        first = (-score[some] - rng.gumbel(size=some.shape)).argsort(axis=1)
        rankings = np.take_along_axis(some, first, axis=1).tolist()
        return rb.Orders.from_rankings(rankings, n_items=n), *right
    if not (cell.judges or cell.feature or cell.weights):  # all votes on a pair in one row
        count = rng.multinomial(m, sampled)
        a, b, count = (each[count > 0] for each in (a, b, count))
        win, tie = outcomes(cell, score[a] - score[b])
        wins = rng.binomial(count, win)
        ties = rng.binomial(count - wins, (tie / (1 - win)).clip(0, 1)).astype(float)
        empty = np.empty((a.size, 0))
        return Votes(a, b, count.astype(float), wins + ties / 2, ties, empty, n), *right
    pair = rng.choice(a.size, m, p=sampled)
    swap = rng.random(m) < 0.5
    a, b = np.where(swap, (b[pair], a[pair]), (a[pair], b[pair]))
    t, features, unit, weight = score[a] - score[b], None, None, None
    if cell.feature:
        features = SIZE * rng.normal(size=(m, 1))
        t = t + EFFECT * features[:, 0] / SIZE
    if cell.judges:
        size = np.geomspace(1, 10, cell.judges) if cell.sizes == "unequal" else np.ones(cell.judges)
        unit = np.sort(rng.choice(cell.judges, m, p=size / size.sum()))
        unit = np.unique(unit, return_inverse=True)[1]
        taste = rng.normal(size=(cell.judges, n))
        t = t + taste[unit, a] - taste[unit, b]
    if cell.weights:
        age = rng.uniform(0, HALVES, m)
        weight = 0.5 ** (age[unit] if cell.weights == "decay by judge" else age)
    win, tie = outcomes(cell, t)
    u = rng.random(m)
    points = np.where(u < win, 1.0, np.where(u < win + tie, 0.5, 0.0))
    votes = Votes.of(a, b, points, n, weight=weight, features=features)
    return votes if unit is None else replace(votes, unit=unit), *right


def fitted(cell, votes):
    """A leaderboard."""
    board = rb.Leaderboard(ties=cell.fit, method=cell.method, n_draws=DRAWS[cell.method])
    if isinstance(votes, Votes):
        board.notes_ = []
        board._fit_votes(VoteTable(votes))
        return board
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # items without an order
        return board.fit(votes)


def contained(cell, seed):
    """What one repetition gives: a dict of numbers."""
    votes, score, effect = drawn(cell, seed)
    board = fitted(cell, votes)
    score = centre_groups(score[np.array(board.items_, dtype=int)], board.group_)
    n, errors, factor = score.size, board.errors_, board.pair_scale_
    reach = errors.law.ppf((1 + LEVEL) / 2) * errors.deviations()
    off = np.r_[board.score_ - score, board.pair_coef_ * factor - effect * factor / SIZE]
    inside = np.abs(off) <= reach
    found = dict(
        score=inside[:n].mean(),
        width=2 * reach[:n].mean(),
        noted=any(sign in note for note in board.notes_ for sign in DOUBTS),
        effect=inside[n:].mean() if cell.feature else None,
        lam=board.lam_ * cell.spread**2 if cell.spread else None,
    )
    if n < MANY or seed % 10 == 0:
        found |= ranked(board, score)
    return found


def ranked(board, score):
    """Coverage and mean size of three kinds of intervals of ranks."""
    n, group, own = score.size, board.group_, board.score_
    deviation, moved = board.errors_.of_differences(n), board._draws()
    known = (group[:, None] == group) & (deviation > 0)
    best = 1 + (score > score[:, None]).sum(axis=1)
    worst = n - (score < score[:, None]).sum(axis=1)
    places = 1 + (-(own[:, None] + moved)).argsort(axis=0).argsort(axis=0)
    ends = np.quantile(places, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=1)
    above = own[:, None] - own
    once, moved = np.zeros((n, n)), np.ascontiguousarray(moved)
    for i in range(n):
        factor = known[i] / np.where(known[i], deviation[i], 1.0)
        factor[i] = 0.0
        quantile = np.quantile(largest(moved, i, factor), LEVEL)
        once[i] = np.sign(above[i]) * (np.abs(above[i]) * factor > quantile)
    table = board.table_.set_index("item").loc[list(board.items_)]
    of_kind = dict(
        rank=(table.rank_low.to_numpy(), table.rank_high.to_numpy()),
        one_step=rank_ends(once),
        credible=(np.floor(ends[0]), np.ceil(ends[1])),
    )
    found = {}
    for kind, (low, high) in of_kind.items():
        found[kind] = ((low <= best) & (worst <= high)).mean()
        found["ranks" if kind == "rank" else f"ranks_{kind}"] = (high - low + 1).mean()
    return found


def rows(scale, peers):
    """All rows."""
    repetitions = peers.get("repetitions") or REPETITIONS[scale]
    for cell in list(cells())[:: 20 if scale == "tiny" else 1]:
        jobs = (delayed(contained)(cell, seed) for seed in range(repetitions))
        found = Parallel(n_jobs=-1, batch_size=20)(jobs)
        values = {
            name: np.array([one[name] for one in found if one.get(name) is not None], dtype=float)
            for name in found[0]
        }
        means = {name: float(each.mean()) if each.size else None for name, each in values.items()}
        if values["lam"].size:
            means["lam"] = float(np.median(values["lam"]))
        error = float(values["score"].std() / np.sqrt(repetitions))
        yield Covered(**asdict(cell), repetitions=repetitions, error=error, **means)
