"""The data sets of `which`, each split once and for all into a training, validation and test part.

Items are in order of their queries, as LightGBM and XGBoost want them.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_svmlight_file

import rankbook as rb

from .common import graded


@dataclass(frozen=True)
class Split:
    """Items (n, d) with grades and queries, and which part each is in.

    Attributes
    ----------
    data, part : str
        For instance "MQ2008" and "fold 1".
    X, y, qid : ndarray
    role : ndarray of str
        "train", "validation", "test", or "unlabelled", whose grades nobody sees.
    choose : {"ndcg", "auc"}
        What the validation part is judged by.
    unit : {"query", "game", "draw"}
        What is resampled; the parts of a data set that is one query are draws of the labels.
    relevant : float
        The least grade that counts as relevant for the average precision.
    scaled : bool
        Features to be standardized for linear models and kernels.
    """

    data: str
    part: str
    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    role: np.ndarray
    choose: str = "ndcg"
    unit: str = "query"
    relevant: float = 1.0
    scaled: bool = False

    def of(self, *roles):
        """X, y and qid of some parts."""
        rows = np.isin(self.role, roles)
        return self.X[rows], self.y[rows], self.qid[rows]


def by_query(data, part, X, y, qid, role, **others):
    """A split, its items in order of their queries."""
    order = np.argsort(qid, kind="stable")
    return Split(
        data, part, X[order], y[order], qid[order], np.asarray(role, dtype="<U10")[order], **others
    )


def folder(name):
    """A folder of data below the one that RANKBOOK_DATA names; None if it is not there."""
    place = os.environ.get("RANKBOOK_DATA")
    path = Path(place) / name if place else None
    return path if path is not None and path.is_dir() else None


def mq2008(folds):
    """MQ2008, the splits of its authors."""
    for fold in folds:
        data = rb.datasets.load_mq2008(fold)
        parts = data.X, data.y, data.qid, data.parts
        yield by_query("MQ2008", f"fold {fold}", *parts, scaled=True)


def lightgbm_example():
    """The data that LightGBM shows lambdarank with; a fifth of the training queries validates."""
    place, read = folder("lightgbm_lambdarank"), []
    for name in ("train", "test"):
        X, y = load_svmlight_file(str(place / f"rank.{name}"), n_features=300, zero_based=False)
        sizes = np.loadtxt(place / f"rank.{name}.query", dtype=int)
        read.append((X.toarray(), y, np.repeat(np.arange(sizes.size), sizes)))
    (X, y, qid), (X_test, y_test, q_test) = read
    held = np.random.default_rng(0).permutation(qid.max() + 1)[: (qid.max() + 1) // 5]
    role = np.where(np.isin(qid, held), "validation", "train")
    parts = (np.vstack([X, X_test]), np.r_[y, y_test], np.r_[qid, qid.max() + 1 + q_test])
    role = np.r_[role, np.repeat("test", y_test.size)]
    yield by_query("LightGBM's example", "", *parts, role, scaled=True)


def sushi(people=200):
    """Who orders four kinds so, how does she order the six others? As in the chapter on RankRLS.

    Three quarters of the people train, the others validate, 1000 more are the test. The better
    three kinds count as relevant.
    """
    orders = np.loadtxt(
        folder("sushi") / "sushi3a_orders_5000x10_0based.csv", delimiter=",", skiprows=1, dtype=int
    )
    who = np.random.default_rng(0).permutation(len(orders))[: people + 1000]
    places = 9 - np.argsort(orders[who], axis=1)
    known, others = (
        np.argsort(np.argsort(part, axis=1), axis=1).astype(float)
        for part in (places[:, :4], places[:, 4:])
    )
    one = np.repeat((known - 1.5) / np.sqrt(1.25), 6, axis=0)
    X = np.hstack([one, np.tile(2.0 * np.eye(6), (len(who), 1))])
    names = np.repeat(["train", "validation", "test"], [people * 3 // 4, people // 4, 1000])
    qid, role = np.repeat(np.arange(len(who)), 6), np.repeat(names, 6)
    yield by_query("sushi", "", X, others.ravel(), qid, role, relevant=3.0)


def football():
    """Games of two candidates, as in the guide: who wins the decided games of the next season?

    The halves of the first season train and validate.
    """
    seasons = []
    for season in ("2017-18", "2018-19"):
        table = pd.read_csv(folder("football") / f"epl_{season}.eng.1.csv")
        table["Date"] = pd.to_datetime(table.Date, format="%a %b %d %Y")
        goals = table.FT.str.split("-", expand=True).astype(int)
        seasons.append(table.assign(goals=goals[0] - goals[1]).sort_values("Date", kind="stable"))
    games = pd.concat(seasons, ignore_index=True).replace(" A?FC$", "", regex=True)
    games["role"] = np.repeat(["train", "validation", "test"], [190, 190, 380])
    games = games[games.goals != 0]
    teams = sorted({*games["Team 1"], *games["Team 2"]})
    X = np.zeros((len(games), 2, len(teams) + 1))
    for side, name in enumerate(("Team 1", "Team 2")):
        X[np.arange(len(games)), side, games[name].map(teams.index)] = 1
    X[:, 0, -1] = 1  # at home
    y = np.column_stack([games.goals > 0, games.goals < 0]).astype(float).ravel()
    qid, role = np.repeat(np.arange(len(games)), 2), np.repeat(games.role.to_numpy(), 2)
    yield by_query("football", "", X.reshape(2 * len(games), -1), y, qid, role, unit="game")


def digits(labels, draws):
    """0 to 4 above 5 to 9 with few labels, as in the chapter on Rayleigh rankers: one query.

    A third of the labels validates; the other training digits come without. The test digits are
    the same for all draws of labels.
    """
    data = rb.datasets.load_optdigits()
    train, one = np.flatnonzero(data.parts == "train"), np.zeros(len(data.y), dtype=int)
    for draw in range(draws):
        order = np.random.default_rng(draw).permutation(train)
        role = np.where(data.parts == "train", "unlabelled", "test").astype("<U10")
        role[order[: labels // 3]], role[order[labels // 3 : labels]] = "validation", "train"
        parts = data.X / 16, (data.y < 5) * 1.0, one, role
        name = f"digits, {labels} labels"
        yield by_query(name, f"draw {draw + 1}", *parts, choose="auc", unit="draw")


def made_up(n=3000):
    """Nonlinear in two of twenty features; a third of the queries that are there validates."""
    X, y, qid = graded(2 * n, d=20)
    role = np.repeat(["train", "validation", "test"], [n // 3 * 2, n // 3, n])
    yield by_query("made up", "", X, y, qid, role, scaled=True)


def generated(n=240):
    """Small data that only show that it runs: graded, in two folds, and two draws of labels."""
    for fold in (1, 2):
        X, y, qid = graded(n, d=5, size=10, seed=fold)
        role = np.repeat(["train", "validation", "test"], n // 3)
        yield by_query("generated", f"fold {fold}", X, y, qid, role, scaled=True)
    for draw in (1, 2):
        role = np.roll(np.resize(["train", "unlabelled", "validation", "test"], n), draw)
        parts = X, (y > 1) * 1.0, np.zeros(n, dtype=int), role
        yield by_query("two classes", f"draw {draw}", *parts, choose="auc", unit="draw")


def tasks(scale):
    """For each data set a function that makes its splits, or the reason why there are none."""
    if scale == "tiny":
        splits = list(generated())
        return {"generated": lambda: splits[:2], "two classes": lambda: splits[2:]}
    more = scale == "full"
    there = {
        "MQ2008": ("letor_mq2008", lambda: mq2008(range(1, 6))),
        "LightGBM's example": ("lightgbm_lambdarank", lightgbm_example),
        "sushi": ("sushi", lambda: sushi(2000 if more else 200)),
        "football": ("football", football),
        "digits, 40 labels": ("optdigits", lambda: digits(40, 50 if more else 20)),
        "digits, 382 labels": ("optdigits", lambda: digits(382, 20 if more else 10)),
    }
    why = "not there: RANKBOOK_DATA names no folder that has it"
    found = {name: make if folder(place) else why for name, (place, make) in there.items()}
    return found | {"made up": lambda: made_up(30_000 if more else 3000)}
