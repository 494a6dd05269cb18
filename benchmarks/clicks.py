"""How much of the harm of position bias propensities repair, on simulated clicks.

MQ2008 has grades, so that clicks can be simulated and the answer is known. Each seed takes one of
the five folds and trains two production rankers on five queries with grades each, about a hundredth
of the training queries (as in Joachims, Swaminathan and Schnabel, 2017). A session draws a training
query and one of the two rankers, and shows its first ten documents. The user examines rank r with
probability r ** -eta, and clicks an examined document of grade y with probability
.1 + .9 (2 ** y - 1) / 3 (Ai et al., 2018), so that a document without relevance gets clicks, too.

All rankers are linear and minimize the squared hinge. Each chooses lambda from the same grid of
shares of its total weight, by the disagreement with preferences that are made like its own: from
sessions of validation queries, a third as many, or from the grades of these queries. Test queries
are judged by their grades. `clip` has its default, and with up to FEW sessions also
the values of CLIPS.

Intervals are 95 % intervals over seeds: of Student's t for a mean, of the bootstrap for the share
recovered, (mean - naive) / (true grades - naive), given only if the interval of the denominator
does not contain 0.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.stats import t as student

import rankbook as rb

from .common import graded

PAGE = 10
NOISE = 0.1
MORE = {"cascade": 0.0, "dependent": 0.6}  # chance to read on after a click
FEW, CLIPS = 10_000, (0.03, 0.1, 0.3)
SHARES = 10.0 ** np.arange(-6, 0)  # lambda as a share of the total weight
CELLS = {  # eta and training sessions
    "tiny": [(1.0, 2000)],
    "usual": [(eta, 100_000) for eta in (0.0, 0.5, 1.0, 1.5, 2.0)]
    + [(eta, n) for eta in (1.0, 2.0) for n in (1_000, 10_000)],
}
CELLS["full"] = CELLS["usual"]
SEEDS = {"tiny": 2, "usual": 10, "full": 30}
NAIVE, GRADES, PRODUCTION = "naive", "true grades", "production rankers"


@dataclass(frozen=True)
class Recovered:
    """A way to learn from clicks at one strength of the bias.

    Attributes
    ----------
    eta : float
        Examination of rank r is r ** -eta.
    sessions : int
        Of training queries.
    method : str
    seeds : int
        Those in which the method gave an answer.
    ndcg, ndcg_low, ndcg_high : float, optional
        NDCG@10 of test queries.
    disagreement, disagreement_low, disagreement_high : float, optional
        Share of preferences by grade of test queries in the wrong order.
    share_ndcg, share_ndcg_low, share_ndcg_high : float, optional
        Share of the distance from the naive fit to the fit on true grades that is recovered.
    share_disagreement, share_disagreement_low, share_disagreement_high : float, optional
    lams : str
        The chosen lambda of each seed as a share of the total weight.
    ndcgs, disagreements : str
        Those of each seed.
    note : str
    """

    REMARK: ClassVar[str] = "Intervals are 95 % intervals over seeds."

    eta: float
    sessions: int
    method: str
    seeds: int
    ndcg: float | None = None
    ndcg_low: float | None = None
    ndcg_high: float | None = None
    disagreement: float | None = None
    disagreement_low: float | None = None
    disagreement_high: float | None = None
    share_ndcg: float | None = None
    share_ndcg_low: float | None = None
    share_ndcg_high: float | None = None
    share_disagreement: float | None = None
    share_disagreement_low: float | None = None
    share_disagreement_high: float | None = None
    lams: str = ""
    ndcgs: str = ""
    disagreements: str = ""
    note: str = ""


def data_of(seed, scale):
    """Parts (X, y, qid) of a fold: train, validation and test."""
    if scale == "tiny":
        X, y, qid = graded(1200, size=20, seed=seed)
        parts = np.repeat(["train", "validation", "test"], [720, 240, 240])
        return {p: (X[parts == p], np.minimum(y, 2)[parts == p], qid[parts == p]) for p in parts}
    data = rb.datasets.load_mq2008(1 + seed % 5)
    masks = {part: data.parts == part for part in ("train", "validation", "test")}
    return {part: (data.X[at], data.y[at], data.qid[at]) for part, at in masks.items()}


def production(X, y, qid, rng):
    """A ranker fitted to the grades of five queries, which have more than one grade."""
    while True:
        at = np.isin(qid, rng.choice(np.unique(qid), 5, replace=False))
        if len(rb.Preferences.from_scores(y[at], qid[at])):
            return rb.RankSVM(kernel="linear").fit(X[at], y[at], qid[at])


def clicks(part, rankers, sessions, eta, rng, model="position"):
    """A log of sessions, with a row for each document shown; items are rows of X.

    With the model "position" a user examines each rank r with probability r ** -eta. With a model
    of MORE she reads from the top; after rank r she reads on with probability
    (r / (r + 1)) ** eta, times MORE[model] if she has clicked. The column examined has the
    probability, or whether she did.
    """
    X, y, qid = part
    pages = []
    for ranker in rankers:
        order = np.lexsort((-ranker.predict(X), qid))
        ends = np.flatnonzero(np.diff(qid[order])) + 1
        pages.append([rows[:PAGE] for rows in np.split(order, ends)])
    query = rng.integers(len(pages[0]), size=sessions)
    which = rng.integers(len(pages), size=sessions)
    shown = [pages[w][q] for w, q in zip(which, query)]
    size = np.array([len(rows) for rows in shown])
    item, rank = np.concatenate(shown), np.concatenate([np.arange(1, s + 1) for s in size])
    attraction = NOISE + (1 - NOISE) * (2.0 ** y[item] - 1) / 3
    session, draw = np.repeat(np.arange(sessions), size), rng.random(item.size)
    if model == "position":
        examined = rank**-eta
        click = draw < attraction * examined
    else:
        examined, click = np.zeros(item.size, bool), np.zeros(item.size, bool)
        reads = np.ones(sessions, bool)
        for r in range(1, PAGE + 1):
            at = np.flatnonzero(rank == r)
            examined[at] = reads[session[at]]
            click[at] = examined[at] & (draw[at] < attraction[at])
            on = (r / (r + 1)) ** eta * np.where(click[at], MORE[model], 1.0)
            reads[session[at]] &= rng.random(at.size) < on
    columns = dict(session=session, query=np.repeat(query, size), item=item, rank=rank, click=click)
    return pd.DataFrame(columns | dict(examined=examined))


def best_of_grid(parts, preferences):
    """The best ranker of the grid by validation preferences, and its share of the weight."""
    total, found = preferences["train"].weight.sum(), []
    for share in SHARES:
        model = rb.RankSVM(share * total, "linear", loss="squared", solver="newton")
        model.fit(parts["train"][0], preferences=preferences["train"])
        scores = model.predict(parts["validation"][0])
        found.append((rb.disagreement(preferences["validation"], scores), model, share))
    return min(found, key=lambda one: one[0])[1:]


def judged(model, share, test):
    """NDCG@10 and disagreement on test queries, and the share of the weight."""
    X, y, qid = test
    scores = model.predict(X)
    return rb.metrics.ndcg(y, scores, qid, k=10), rb.disagreement(y, scores, qid), share


def by_grades(parts):
    """The fit on true grades."""
    preferences = {part: rb.Preferences.from_scores(*parts[part][1:]) for part in parts}
    return judged(*best_of_grid(parts, preferences), parts["test"])


def by_clicks(parts, rankers, eta, sessions, rng):
    """What each method reaches, or the reason why it gave no answer."""
    counts = {"train": sessions, "validation": max(sessions // 3, 1)}
    logs = {part: clicks(parts[part], rankers, n, eta, rng) for part, n in counts.items()}

    def fitted(propensity=None, rule="all-others", **clip):
        given = lambda log: propensity if propensity is None else propensity[log["rank"] - 1]
        preferences = {
            part: rb.Preferences.from_clicks(
                log, rule=rule, items=range(len(parts[part][1])), propensity=given(log), **clip
            )
            for part, log in logs.items()
        }
        return judged(*best_of_grid(parts, preferences), parts["test"])

    known = np.arange(1, PAGE + 1) ** -eta
    found = {
        NAIVE: fitted(),
        "propensities known": fitted(known),
        "skip-above": fitted(rule="skip-above"),
    }
    for clip in CLIPS if sessions <= FEW else ():
        found[f"propensities known, clip {clip}"] = fitted(known, clip=clip)
    try:
        estimated = rb.click_propensities(logs["train"], query="query").probability.to_numpy()
    except ValueError as error:
        return found | {"propensities estimated": str(error)}
    return found | {"propensities estimated": fitted(estimated / estimated.max())}


def summary(values):
    """Mean and interval of values (seeds,)."""
    mean, n = values.mean(), len(values)
    half = student.ppf(0.975, n - 1) * values.std(ddof=1) / n**0.5 if n > 1 else np.nan
    return mean, mean - half, mean + half


def recovered(values, naive, grades):
    """Share of the distance from naive to grades, (seeds,) each, with its bootstrap interval."""
    seeds = len(values)
    rows = np.random.default_rng(0).integers(seeds, size=(10_000, seeds))
    gain, gap = (each[rows].mean(axis=1) for each in (values - naive, grades - naive))
    if np.prod(np.quantile(gap, [0.025, 0.975])) <= 0:
        return None, None, None
    share = (values - naive).mean() / (grades - naive).mean()
    return share, *np.quantile(gain / gap, [0.025, 0.975])


def cell(eta, sessions, method, results):
    """The row of a method, from the results of each seed under each method."""
    values = [one[method] for one in results]
    kept = [k for k, value in enumerate(values) if not isinstance(value, str)]
    notes = [value for value in values if isinstance(value, str)]
    row = dict(note=notes[0]) if notes else {}
    measures = ("ndcg", "disagreement")
    if len(kept) > 1:
        found = {m: np.array([results[k][m] for k in kept]) for m in (method, NAIVE, GRADES)}
        for c, name in enumerate(measures):
            names = [name, f"{name}_low", f"{name}_high"]
            row |= dict(zip(names, summary(found[method][:, c])))
            if method not in (NAIVE, GRADES, PRODUCTION):
                share = recovered(*(found[m][:, c] for m in (method, NAIVE, GRADES)))
                row |= dict(zip([f"share_{each}" for each in names], share))
            row[f"{name}s"] = " ".join(f"{v:.4f}" for v in found[method][:, c])
        if method != PRODUCTION:
            row["lams"] = " ".join(f"{v:g}" for v in found[method][:, 2])
    return Recovered(eta, sessions, method, len(kept), **row)


def rows(scale, peers):
    """All rows."""
    prepared = []
    for seed in range(SEEDS[scale]):
        rng, parts = np.random.default_rng(seed), data_of(seed, scale)
        rankers = [production(*parts["train"], rng) for _ in range(2)]
        shown = np.mean([judged(each, np.nan, parts["test"]) for each in rankers], axis=0)
        fixed = {GRADES: by_grades(parts), PRODUCTION: tuple(shown)}
        prepared.append((parts, rankers, fixed))
    for number, (eta, sessions) in enumerate(CELLS[scale]):
        results = []
        for seed, (parts, rankers, fixed) in enumerate(prepared):
            rng = np.random.default_rng([seed, number])
            results.append(by_clicks(parts, rankers, eta, sessions, rng) | fixed)
        for method in results[0]:
            yield cell(eta, sessions, method, results)
