"""Write the files of this version that later ones must read, and what their models answer.

    python tests/data/stored/write.py VERSION

A file is named after what it holds and the version of rankbook; a file that is there stays.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

import rankbook as rb
from rankbook.estimators.scaled import ScaledModel

HERE = Path(__file__).parent
RNG = np.random.default_rng(0)
N, D = 30, 3
X, NEW = RNG.normal(size=(N, D)).round(3), RNG.normal(size=(4, D)).round(3)
Y = (X @ [1.0, -1.0, 0.5] + 0.3 * RNG.normal(size=N)).round()
HALF = np.where(np.arange(N) < 20, (Y > 0).astype(float), np.nan)
TABLE = np.c_[X[:, 0], X[:, 1], -X[:, 0]]
LABELS = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, -1.0]])
GRAM, ROWS = X @ X.T, NEW @ X.T
ORDERS = rb.Orders.from_rankings(np.argsort(-Y, kind="stable").reshape(6, 5).tolist(), n_items=N)
PAIRS = rb.Preferences(
    np.arange(10), np.arange(10, 20), N, pair_features=np.arange(10)[:, None] % 2 * 1.0
)
FIRST, SECOND = np.argwhere(~np.eye(4, dtype=bool)).repeat(10, axis=0).T
NAMES = np.array(["a", "b", "c", "d"])
LENGTH = np.sin(np.arange(120))
AHEAD = 0.8 * (SECOND - FIRST) + LENGTH + 2 * np.cos(3.0 * np.arange(120))
VOTES = dict(
    home=NAMES[FIRST],
    away=NAMES[SECOND],
    result=np.where(abs(AHEAD) < 0.5, "tie", np.where(AHEAD > 0, "home", "away")),
    length=LENGTH,
    judge=np.arange(120) % 8,
    language=np.where(np.arange(120) % 3, "en", "de"),
)
COLUMNS = dict(result="result", pair_features=["length"])
BOARDS = {
    "leaderboard": dict(unit="judge", by="language", scale="elo"),
    "leaderboard-ties": dict(ties="davidson", method="bootstrap", n_draws=100),
}
PROBABLE = {  # models with probabilities
    "ranksvm-calibrated",
    "ranksvm-logistic",
    "ranksvm-logistic-rbf",
    "ranksvm-plackett-luce",
}


def models():
    """Names, fitted models, and the items that they are asked about."""
    steps = dict(max_updates=2000)
    fits = {
        "ranksvm-linear": (rb.RankSVM(kernel="linear", solver="qp"), X, Y, NEW),
        "ranksvm-rbf": (rb.RankSVM(lam=3.0, gamma=0.5), X, Y, NEW),
        "ranksvm-poly": (rb.RankSVM(kernel="poly", degree=2), X, Y, NEW),
        "ranksvm-precomputed": (rb.RankSVM(kernel="precomputed"), GRAM, Y, ROWS),
        "ranksvm-projected": (rb.RankSVM(approximate_kernel=8), X, Y, NEW),
        "ranksvm-l1": (rb.RankSVM(kernel="linear", penalty="l1"), X, Y, NEW),
        "ranksvm-logistic": (rb.RankSVM(kernel="linear", loss="logistic"), X, Y, NEW),
        "ranksvm-logistic-rbf": (rb.RankSVM(loss="logistic", gamma=0.5), X, Y, NEW),
        "ranksvm-plackett-luce": (
            rb.RankSVM(kernel="linear", loss="plackett-luce"),
            X,
            ORDERS,
            NEW,
        ),
        "ranksvm-pair-features": (rb.RankSVM(kernel="linear", loss="logistic"), X, PAIRS, NEW),
        "ranksvm-cv": (rb.RankSVMCV("linear", cv=3, solver=("epsilon", dict(eps=0.1))), X, Y, NEW),
        "rankrls": (rb.RankRLS(kernel="linear"), X, Y, NEW),
        "rankrls-l1": (rb.RankRLS(kernel="linear", penalty="l1"), X, Y, NEW),
        "rankrls-basis": (rb.RankRLS(basis=6, random_state=1), X, Y, NEW),
        "rankrls-cv": (rb.RankRLSCV(lams=[0.1, 1.0, 10.0], gamma=[0.1, 1.0], cv=3), X, Y, NEW),
        "rayleigh": (rb.RayleighRanker(n_components=5), X, HALF, NEW),
        "rayleigh-cv": (rb.RayleighRankerCV(n_components=[3, 5], cv=3), X, HALF, NEW),
        "online-ranksvm": (rb.OnlineRankSVM(**steps), X, Y, NEW),
        "online-svc": (rb.OnlineSVC(**steps), X, np.clip(Y, -1, 1).astype(int), NEW),
        "ranksvm-signs": (rb.RankSVM(kernel="linear", signs=[1, 0, -1]), X, Y, NEW),
        "label-ranker": (rb.LabelRanker(), X, TABLE, NEW),
        "label-ranker-cv": (rb.LabelRankerCV(lams=[0.1, 1.0]), X, TABLE, NEW),
        "ordinal-ranker": (rb.OrdinalRanker(rb.RankRLS(kernel="linear")), X, Y.clip(-1, 1), NEW),
    }
    for name, (model, items, y, new) in fits.items():
        yield name, model.fit(items, y), new
    yield "ranksvm-calibrated", rb.RankSVM(kernel="linear").fit(X, Y).calibrate(X, Y), NEW
    yield "label-ranker-rbf", rb.LabelRanker(label_kernel="rbf").fit(X, TABLE, labels=LABELS), NEW
    for name, options in BOARDS.items():
        yield name, rb.Leaderboard(columns=COLUMNS, **options).fit(VOTES), NAMES
    centre, factor = X.mean(axis=0), 1 / X.std(axis=0)
    ranker = rb.RankSVM(kernel="linear").fit((X - centre) * factor, Y)
    yield "scaled", ScaledModel(ranker, centre, factor, ["a", "b", "c"], dict(target="y")), NEW


def paths():
    """Names and paths."""
    prefs = rb.Preferences.from_scores(Y)
    problem = rb.RankSVMProblem(X, prefs, gamma=0.5)
    yield "path", rb.solve_path(problem, max_events=100)
    survival = rb.Preferences.from_survival(Y, np.arange(N) % 2)
    problem = rb.RankSVMProblem(X, survival, "linear")
    yield "path-survival", rb.solve_path(problem, max_events=40)
    labels = rb.SVMProblem(X, (Y > 0).astype(int))
    yield "path-labels", rb.solve_path(labels, max_events=60)
    smooth = rb.RankSVMProblem(X, prefs, "linear", loss="logistic")
    yield "path-logistic", rb.solve_path(smooth, solver="newton")
    choices = rb.RankSVMProblem(X, ORDERS, "linear", loss="plackett-luce")
    yield "path-plackett-luce", rb.solve_path(choices, solver="newton")
    weights = rb.RankSVMProblem(X, prefs, kernel="linear", penalty="l1")
    yield "path-weights", rb.solve_path(weights, max_events=40)
    named = rb.Preferences.from_pairs([("tea", "milk"), ("milk", "cola"), ("tea", "cola")])
    yield "path-named", rb.solve_path(rb.RankSVMProblem(X[:3], named, "linear"), solver="path")
    few = rb.Preferences.from_pairs(np.c_[np.arange(10), np.arange(10, 20)], items=range(N))
    problem = rb.RankSVMProblem(X, few, "linear")
    yield "path-epsilon", rb.solve_path(problem, solver=("epsilon", dict(eps=0.2)))
    yield "path-newton", rb.solve_path(problem, solver=("newton", dict(eps=0.2)))
    yield "path-rls", rb.solve_path(rb.RankRLSProblem(X, Y, np.arange(N) % 2, kernel="linear"))
    yield "path-rls-basis", rb.solve_path(rb.RankRLSProblem(X, Y, basis=[1, 5, 8]))
    problem = rb.RayleighProblem(X, HALF, n_components=4)
    yield "path-rayleigh", rb.solve_path(problem)
    along = dict(along="manifold_weight", lam=0.1)
    yield "path-manifold", rb.solve_path(problem, solver=("rayleigh", along))


def main(version):
    """Write all files, and the answers of all that are there."""
    answers = HERE / "answers.json"
    said = json.loads(answers.read_text()) if answers.exists() else {}
    for name, model, new in models():
        file = f"{name}-{version}.rankbook"
        if (HERE / file).exists():
            continue
        model.save(HERE / file)
        scores = np.asarray(model.predict(new)).tolist()
        said[file] = {"class": type(model).__name__, "items": new.tolist(), "scores": scores}
        if name in PROBABLE:
            said[file]["probabilities"] = model.predict_pair_proba(new[:2], new[2:]).tolist()
        if hasattr(model, "pair_coef_"):
            said[file]["pair_coef"] = model.pair_coef_.tolist()
        if hasattr(model, "table_"):
            said[file]["table"] = model.to_frame().to_dict("list")
    for name, path in paths():
        file, lam = f"{name}-{version}.rankbook", 1.01 * path.domain[0] or 0.5
        if (HERE / file).exists():
            continue
        path.save(HERE / file)
        scores = np.asarray(path.predict(NEW, lam)).tolist()
        facts = {"class": type(path).__name__, "items": NEW.tolist(), "lam": lam}
        said[file] = facts | {"scores": scores}
    answers.write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(*sys.argv[1:])
