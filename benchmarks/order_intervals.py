"""How often intervals of scores and ranks contain the truth, and how often decisions are wrong.

Votes are drawn from a Bradley-Terry model, whose strengths are those of a leaderboard (a weight for
each item) or a function of three features. Weights are drawn anew from a standard normal
distribution for each repetition, or are fixed and evenly spaced. All intervals have level 0.95.
Those of the bootstrap are also compared with the scores that they are for: the model's, at the same
lambda, fitted to the probabilities of the votes instead of the votes.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit

import rankbook as rb
from rankbook.estimators.order_intervals import Units, bootstrap_draws, posterior_draws

REPETITIONS = {"tiny": 4, "usual": 1000, "full": 4000}
RESAMPLES = 300
LEVEL = 0.95


@dataclass(frozen=True)
class Setting:
    """What votes are drawn from, and the lambda of the model, a number or "matched".

    A vote on equal items is a tie with probability `ties`. The expected points are those of the
    model.
    """

    name: str
    items: int
    votes: int
    lam: float | str
    features: int = 0
    spread: float | None = None
    ties: float = 0.0


SETTINGS = (
    Setting("leaderboard", 8, 84, 1.0),
    Setting("leaderboard", 8, 84, "matched"),
    Setting("leaderboard", 8, 560, 0.01),
    Setting("leaderboard", 8, 560, 1.0),
    Setting("leaderboard", 8, 560, 10.0),
    Setting("leaderboard", 20, 380, "matched"),
    Setting("ties", 20, 380, "matched", ties=0.6),
    Setting("evenly spaced", 8, 280, "matched", spread=2.0),
    Setting("features", 30, 100, 1.0, 3),
    Setting("features", 30, 100, "matched", 3),
    Setting("features", 30, 400, 1.0, 3),
)


@dataclass(frozen=True)
class Covered:
    """A method on a setting.

    Attributes
    ----------
    setting : str
    items, votes : int
    lam : str
    method : str
    repetitions : int
    score, rank : float
        Share of intervals that contain the truth, on average over the items.
    fitted : float
        The same for intervals of scores and the scores that the model has without sampling errors.
    scores, ranks : float
        Share of repetitions in which all simultaneous intervals contain what they are for: the true
        scores for the Laplace approximation, those of the model for the bootstrap; the true ranks.
    wrong, decided : float
        Share of pairs that are decided, and decided against the truth.
    pairs : float
        Share of repetitions without a wrong decision among the simultaneous ones.
    width : float
        Mean number of ranks in an interval.
    error : float
        Standard error of `score`, from the repetitions.
    """

    REMARK: ClassVar[str] = "All intervals have level 0.95."

    setting: str
    items: int
    votes: int
    lam: str
    method: str
    repetitions: int
    score: float
    error: float
    fitted: float
    scores: float
    rank: float
    ranks: float
    width: float
    decided: float
    wrong: float
    pairs: float


def drawn(setting, seed):
    """Items X, true scores (n,), the items of each vote, and its result."""
    rng, n = np.random.default_rng([7, seed]), setting.items
    X = np.eye(n)
    if setting.features:
        X = np.random.default_rng(0).normal(size=(n, setting.features))
    w = rng.normal(size=X.shape[1])
    if setting.spread is not None:
        w = np.linspace(-setting.spread, setting.spread, n)
    k, l = np.triu_indices(n, 1)
    if setting.features:
        some = rng.integers(0, k.size, setting.votes)
    else:
        some = np.repeat(np.arange(k.size), setting.votes // k.size)
    k, l, f = k[some], l[some], X @ w
    p, u = expit(f[k] - f[l]), rng.random(k.size)
    half = setting.ties * np.minimum(p, 1 - p)
    return X, f, k, l, np.where(u < p - half, "H", np.where(u < p + half, "D", "A"))


def contained(setting, seed):
    """What one repetition gives: a dict of numbers for each method."""
    X, f, k, l, result = drawn(setting, seed)
    n, true_rank = len(X), 1 + (f[None] > f[:, None]).sum(axis=1)
    games = dict(home=k, away=l, result=result)
    prefs = rb.Preferences.from_matches(games, ties="half", items=list(range(n)))
    model = rb.RankSVM(lam=1.0, kernel="linear", loss="logistic")
    if setting.lam == "matched":
        rb.match_prior(model, X, prefs)
    else:
        model.set_params(lam=setting.lam).fit(X, prefs)
    p = expit(f[k] - f[l])
    expected = rb.Preferences(np.r_[k, l], np.r_[l, k], n, weight=np.r_[p, 1 - p])
    limit = rb.RankSVM(lam=model.lam_, kernel="linear", loss="logistic").fit(X, expected)
    limit, f = (each - each.mean() for each in (limit.predict(X), f))
    found, above = {}, f[:, None] > f
    solution, target = model.solution_, Units(prefs, None)
    of_method = dict(
        laplace=posterior_draws(solution, X, 0, RESAMPLES, seed)[0],
        bootstrap=bootstrap_draws(solution, X, target, RESAMPLES, None, seed),
    )
    for method, draws in of_method.items():
        one, all_ = (
            rb.OrderIntervals(range(n), *draws.intervals(LEVEL, together), LEVEL, together, method)
            for together in (False, True)
        )
        inside = lambda each, scores: (each.low <= scores) & (scores <= each.high)
        ranked = lambda each: (each.rank_low <= true_rank) & (true_rank <= each.rank_high)
        off = ~np.eye(n, dtype=bool)
        wrong = lambda each: ((each.decided > 0) & ~above)[off] | ((each.decided < 0) & above)[off]
        found[method] = dict(
            score=inside(one, f).mean(),
            fitted=inside(one, limit).mean(),
            scores=inside(all_, f if method == "laplace" else limit).all(),
            rank=ranked(one).mean(),
            ranks=ranked(all_).all(),
            width=(1 + one.rank_high - one.rank_low).mean(),
            decided=(one.decided != 0)[off].mean(),
            wrong=wrong(one).mean(),
            pairs=not wrong(all_).any(),
        )
    return found


def rows(scale, peers):
    """All rows."""
    repetitions = REPETITIONS[scale]
    for setting in SETTINGS[:: 5 if scale == "tiny" else 1]:
        jobs = (delayed(contained)(setting, seed) for seed in range(repetitions))
        found = Parallel(n_jobs=-1, batch_size=20)(jobs)
        for method in ("laplace", "bootstrap"):
            values = {key: [one[method][key] for one in found] for key in found[0][method]}
            means = {key: float(np.mean(each)) for key, each in values.items()}
            yield Covered(
                setting.name,
                setting.items,
                setting.votes,
                str(setting.lam),
                method,
                repetitions,
                error=float(np.std(values["score"]) / np.sqrt(repetitions)),
                **means,
            )
