"""What each rule for clicks learns from the logs of production rankers, from random to perfect.

Items have six features, and their true score is a linear function of them. The production ranker
orders the twenty documents of each of sixty queries, and a page shows the first ten. Its quality is
Kendall's tau with the true order, from 0 to 1. Its errors are of three kinds (LOGS): one ranker
with a wrong direction of the features; two such rankers, one of which is drawn for each session; or
a ranker with noise of its own in every session, which with quality 0 shows results at random.

Clicks follow one of three models: position-based, cascade, or dependent (see
:func:`benchmarks.clicks.clicks`). Each rule makes preferences of 3000 sessions, and a linear
ranking SVM with the squared hinge learns from them. `tau` compares its order of the documents of
new queries with the true order; `production` is the tau of the production rankers there.

Beside the rules of `Preferences.from_clicks` there are five more ways: all others with known
propensities, the share of sessions that examined the rank; with estimated propensities; with click
rates of ranks in place of propensities; all others with the logarithm of the rank as a feature of
the pair, so that the bias is learned beside the ranker; and comparisons between sessions, of
documents shown for a query at the same rank.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import rankbook as rb
from rankbook.preferences.events import RULES, click_pairs

from .clicks import MORE, clicks

QUERIES, DOCUMENTS, FEATURES, SESSIONS = 60, 20, 6, 3000
LOGS = {"one ranker": 1, "two rankers": 2, "changing ranker": 300}  # orders of the documents
LEAST = 1e-3  # propensity of a rank that no session examined
MODELS = ("position", *MORE)
CELLS = {  # strengths of the bias and qualities of production
    "tiny": ([1.0], [0.5]),
    "usual": ([0.0, 0.5, 1.0, 2.0], [0.0, 0.25, 0.5, 0.75, 1.0]),
}
CELLS["full"] = CELLS["usual"]
SEEDS = {"tiny": 2, "usual": 10, "full": 40}


@dataclass(frozen=True)
class Learned:
    """Kendall's tau with the truth of what a rule learns from a log.

    Attributes
    ----------
    log, model : str
    eta : float
        Strength of the position bias.
    quality : float
        Quality of the production ranker.
    rule : str
    seeds : int
        Those in which the rule gave an answer.
    tau, tau_error : float, optional
        Mean over seeds, and its standard error.
    production : float
    gain, gain_error : float, optional
        tau minus production, and its standard error.
    """

    REMARK: ClassVar[str] = "Errors are standard errors over seeds."

    log: str
    model: str
    eta: float
    quality: float
    rule: str
    seeds: int
    tau: float | None = None
    tau_error: float | None = None
    production: float | None = None
    gain: float | None = None
    gain_error: float | None = None


class Order:
    """A ranker that only has its scores."""

    def __init__(self, scores):
        self.scores = scores

    def predict(self, X):
        """The scores."""
        return self.scores


def tau(scores, truth):
    """Mean over queries of Kendall's tau between scores without ties (queries, documents)."""
    apart = [np.sign(s[:, :, None] - s[:, None]) for s in (scores, truth)]
    return (apart[0] * apart[1]).sum() / np.abs(apart[1]).sum()


def production(quality, log, truth, X, w, rng):
    """Scores (n,) of each of the production rankers, with a tau of about `quality`."""
    right = np.sin(np.pi / 2 * quality)  # the correlation of normal scores with this tau
    wrong = np.sqrt(1 - right**2)
    for _ in range(LOGS[log]):
        if log == "changing ranker":
            error = rng.normal(size=truth.size)
        else:
            v = rng.normal(size=w.size)
            v -= v @ w * w
            error = X @ v / np.linalg.norm(v)
        yield right * truth + wrong * error


def of_equal_ranks(log, n):
    """Preferences between documents that different sessions of a query showed at a rank."""
    counts = log.groupby(["query", "rank", "item"]).click.agg(["size", "sum"]).reset_index()
    pairs = counts.merge(counts, on=["query", "rank"], suffixes=("", "_other"))
    pairs = pairs[(pairs["item"] != pairs["item_other"]) & (pairs["sum"] > 0)]
    weight = pairs["sum"] * pairs["size_other"]
    return rb.Preferences(pairs["item"], pairs["item_other"], n, weight=weight).merged()


def with_ranks(log, n):
    """Preferences of a click to all others, with the difference of log ranks as a feature."""
    item, rank = log["item"].to_numpy(), np.log(log["rank"].to_numpy())
    better, worse = click_pairs(log.session.to_numpy(), log.click.to_numpy(), "all-others")
    features = (rank[worse] - rank[better])[:, None]
    return rb.Preferences(item[better], item[worse], n, pair_features=features).merged()


def preferences(log, n):
    """Preferences by each rule; None if the log does not determine them."""
    make = lambda rule="all-others", p=None: rb.Preferences.from_clicks(
        log,
        rule=rule,
        items=range(n),
        propensity=None if p is None else log["rank"].map(p / p.max()),
    )
    found = {rule: make(rule) for rule in RULES}
    by_rank = log.groupby("rank")
    found["propensities known"] = make(p=by_rank.examined.mean().clip(lower=LEAST))
    try:
        estimated = rb.click_propensities(log, query="query").probability
        found["propensities estimated"] = make(p=estimated)
    except ValueError:
        found["propensities estimated"] = None
    found["click rates"] = make(p=by_rank.click.mean().clip(lower=LEAST))
    found["rank as a feature"] = with_ranks(log, n)
    found["equal ranks"] = of_equal_ranks(log, n)
    return found


def learned(quality, log, model, eta, seed):
    """Kendall's tau of what each rule learned, NaN if it learned nothing, and of production."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=FEATURES)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(2 * QUERIES * DOCUMENTS, FEATURES))
    truth = X @ w
    scores = list(production(quality, log, truth, X, w, rng))
    old, new = np.split(np.arange(len(X)), 2)
    by_query = lambda values: values[new].reshape(QUERIES, DOCUMENTS)
    grade = np.digitize(truth[old] + 0.3 * rng.normal(size=old.size), [0.3, 1.0])
    part = X[old], grade, old // DOCUMENTS
    rankers = [Order(each[old]) for each in scores]
    shown = clicks(part, rankers, SESSIONS, eta, rng, model)
    found = {}
    for rule, prefs in preferences(shown, old.size).items():
        found[rule] = np.nan
        if prefs is not None and len(prefs):
            lam = 1e-3 * prefs.weight.sum()
            svm = rb.RankSVM(lam, "linear", loss="squared").fit(X[old], preferences=prefs)
            found[rule] = tau(by_query(X @ svm.coef_), by_query(truth))
    return found, np.mean([tau(by_query(each), by_query(truth)) for each in scores[:30]])


def mean_and_error(values):
    """Mean and standard error of values (seeds,); None if they cannot be computed."""
    if not values.size:
        return None, None
    error = values.std(ddof=1) / values.size**0.5 if values.size > 1 else None
    return values.mean(), error


def rows(scale, peers):
    """All rows."""
    etas, qualities = CELLS[scale]
    for log in LOGS:
        for model in MODELS:
            for eta in etas:
                for quality in qualities:
                    runs = [learned(quality, log, model, eta, k) for k in range(SEEDS[scale])]
                    shown = np.array([each for _, each in runs])
                    for rule in runs[0][0]:
                        values = np.array([found[rule] for found, _ in runs])
                        kept = ~np.isnan(values)
                        yield Learned(
                            *(log, model, eta, quality, rule, int(kept.sum())),
                            *mean_and_error(values[kept]),
                            shown.mean(),
                            *mean_and_error((values - shown)[kept]),
                        )
