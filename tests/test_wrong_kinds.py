"""Every parameter of the public interface, given values of every wrong kind, one at a time.

A value is refused by an error that names the parameter, or belongs to the parameter's domain.
"""

import inspect
import re
import tempfile
import warnings
from decimal import Decimal
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression

import rankbook as rb
from rankbook import datasets, kernels, metrics
from rankbook.base.errors import ArgumentError
from rankbook.kernels.basis import choose_basis
from rankbook.kernels.nystroem import NystroemMap
from rankbook.paths.spectral import SpectralPath
from rankbook.problems.label_ranking import LabelRankRLSProblem, LabelRankSVMProblem
from rankbook.problems.rankrls_statistics import merge_statistics
from rankbook.problems.rayleigh import auc_bound
from rankbook.problems.svm import MulticlassSVMProblem

N = 12
RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(N, 3)), RNG.normal(size=(4, 3))
Y, LABELS, QID = np.tile([0.0, 1.0, 2.0], 4), np.tile([0, 1], 6), np.repeat([1, 2], 6)
SURVIVAL = rb.Preferences.from_survival(np.arange(N), np.r_[LABELS[1:], 1])
TABLE = RNG.normal(size=(N, 3))
PAIRS = rb.Preferences([2, 5, 8], [0, 3, 6], N)
SIDED = rb.Preferences([2, 5, 8], [0, 3, 6], N, pair_features=[1.0, -1.0, 1.0])
VOTES = pd.DataFrame(dict(winner=list("aabc"), loser=list("bcca"), day=["2026-01-01"] * 4))
FOLDER = tempfile.TemporaryDirectory()
FILES = {name: Path(FOLDER.name, f"{name}.csv") for name in ("items", "pairs")}
FILES["items"].write_text("one,y\n1,2\n3,4\n")
FILES["pairs"].write_text("winner,loser\na,b\nb,c\n")

KINDS = {
    "none": None,
    "true": True,
    "text": "x",
    "no text": "",
    "long text": "x" * 5000,
    "bytes": b"x",
    "minus": -1,
    "zero": 0,
    "fraction": 2.5,
    "nan": np.nan,
    "inf": np.inf,
    "huge": 10**400,
    "tiny": 1e-320,
    "large": 1e308,
    "complex": 1j,
    "date": np.datetime64("2020-01-01"),
    "generator": (one for one in [1.0, 2.0]),
    "rows": [[1.0, 2.0], [3.0, 4.0]],
    "ragged": [[1.0, 2.0], [3.0]],
    "complexes": np.full(N, 1j),
    "empty": np.empty(0),
    "cube": np.zeros((N, 3, 2)),
    "masked": np.ma.array(np.tile([0.0, 1.0], N // 2), mask=np.arange(N) == 1),
    "objects": np.array([1.0, "a", None] * (N // 3), dtype=object),
    "dates": np.full(N, np.datetime64("2020-01-01")),
    "nans": np.full(N, np.nan),
    "minuses": -np.ones(N),
    "huge integers": 2**53 + np.arange(N),
    "dict": {},
    "function": lambda *given, **more: 0.0,
    "object": object(),
    "text without a dimension": np.array("x"),
}

POSITIVE = {"fraction", "tiny", "large"}
# what each parameter takes of these; None where it is the default; everything else is refused
TAKES = {
    **dict.fromkeys(
        ["lam", "pair_lam", "gamma", "tol", "draws", "max_grade", "lams", "lam_min"], POSITIVE
    ),
    **dict.fromkeys(
        ["coef0", "manifold_weight", "manifold_weights", "offset"], POSITIVE | {"zero"}
    ),
    **dict.fromkeys(["progress", "fit_intercept", "average", "copy"], {"true"}),
    **dict.fromkeys(["allow_plugins", "replace", "load", "maximize", "simultaneous"], {"true"}),
    **dict.fromkeys(["y", "y_score", "margin", "a", "b", "result", "rank"], {"minuses"}),
    **dict.fromkeys(["kernel", "object_kernel", "label_kernel"], {"function"}),
    **dict.fromkeys(
        ["winner", "loser", "home", "away", "first", "second", "item"],
        {"dates", "minuses", "huge integers"},  # names
    ),
    "results": {"dict"},
    **dict.fromkeys(["qid", "session", "ranking", "query"], {"complexes", "dates", "minuses"}),
    "scores": {"minuses"},
    "orders": {"ragged"},  # whole numbers are rows, whatever their type
    "dual": {"minuses"},
    "seed": {"zero"},
    "random_state": {"zero"},
    **dict.fromkeys(["n_jobs", "unpooled"], {"minus"}),
    "unlabelled": {"minus", "nan"},
    "lam_min_ratio": {"none", "tiny"},
    "l1_ratio": {"tiny"},
    "tie_tol": {"zero", "tiny"},
    "metric": {"function"},
    "empty": {"zero"},
    "level_weight": {"dict"},
}
WHOLE = {"huge integers"}  # that are exact where they are ids or labels
for parameter in ("qid", "session", "ranking", "query"):
    TAKES[parameter] = TAKES[parameter] | WHOLE
ALSO = {  # the same for a parameter of one call
    **{(name, "lam"): POSITIVE | {"zero"} for name in ("path.coef", "path.read", "path.dual")},
    **{(f"OnlineSVC.{name}", "y"): WHOLE for name in ("fit", "partial_fit")},
    ("MulticlassSVMProblem", "y"): WHOLE,
    ("read_table", "drop"): {"none", "empty"},
    ("from_clicks", "clip"): {"zero", "tiny"},
    ("click_propensities", "item"): TAKES["session"],
    **{(name, "pair_features"): {"rows"} for name in ("Preferences", "from_pairs")},
    **{
        (name, "pair_features"): {"minuses"} | WHOLE
        for name in ("from_pairs of a table", "from_matches")
    },
    ("from_matches", "home_advantage"): {"true"},
    ("from_counts", "first"): {"empty"},
    **{
        (f"hazard.{name}", "times"): {"minus", "zero", "true", "minuses", "empty"} | POSITIVE
        for name in ("survival", "cumulative_hazard")
    },
    ("hazard.restricted_mean", "tau"): {"tiny", "fraction"},
    **{
        (f"hazard.{name}", "y_score"): {"empty"}
        for name in ("survival", "cumulative_hazard", "restricted_mean")
    },
    **{
        (f"{kind}.from_survival", "time"): {"minuses"} | WHOLE for kind in ("Preferences", "Orders")
    },
    **{
        (name, "level"): {"tiny"}
        for name in ("coefficient_table", "order_intervals", "order_intervals of resamples")
    },
    ("NystroemMap", "X"): {"rows"},
    ("RankingStatistics", "basis"): {"rows"},
    **{("predict_pair_proba", name): {"rows"} for name in "ab"},  # of two features
    ("explain_pair", "a"): {"zero"},
    ("to_json", "name"): {"text", "long text"},  # any text
    **{
        (name, "n_components"): {"none"}
        for name in ("NystroemMap", "RayleighProblem", "RayleighRanker", "RayleighRankerCV")
    },
    ("metrics.rank_biased_overlap", "p"): {"tiny"},
    ("best_cuts", "y_true"): {"minuses"},
    ("compare_concordances", "tau"): POSITIVE,
    **{("coefficient_table", name): {"true"} for name in ("robust", "standardized")},
    **{
        (name, "cluster"): {"dates", "minuses"} | WHOLE
        for name in ("compare_concordances", "concordance_interval")
    },
    **{("board.predict_proba", name): {"empty"} for name in "ab"},
    ("board.predict", "items"): {"empty"},
    ("board.predict_proba", "pair_features"): {"empty"},
    ("Leaderboard", "intervals"): {"empty", "true"},
    ("Leaderboard", "min_votes"): {"zero"},
    ("Leaderboard", "balance"): {"true"},
    ("Leaderboard", "columns"): {"dict"},
    ("Leaderboard", "level"): {"tiny"},
    ("explain_pair", "b"): {"zero"},
    ("curve.at", "lam"): POSITIVE | {"true", "inf", "rows", "empty"},
    ("is_optimal", "tol"): {"zero"},
    ("RayleighProblem", "unlabelled"): {"zero"},
    ("matvec", "scores"): {"minuses", "nans"},
    ("problem.primal", "coef"): {"minuses", "nans"},
    ("problem.primal", "lam"): POSITIVE | {"zero"},
    ("problem.predict", "coef"): {"minuses", "nans"},
    ("Block", "name"): {"text", "no text", "long text"},
    ("Block", "first"): {"zero"},
    ("kernel.gram", "X"): {"rows"},
    ("kernel.centred_gram", "X"): {"rows"},
    ("auc_bound", "delta"): {"tiny"},
    **{(name, "file"): {"text"} for name in ("save", "path.save", "load")},
    **{(name, "qid"): TAKES["qid"] | {"none"} for name in ("compare", "interval")},
    **{(name, "confidence"): {"tiny"} for name in ("compare", "interval")},
    ("over", "function"): {"function"},
    ("over", "objects"): {"complexes", "minuses", "nans", "dates", "objects", "rows", "ragged"}
    | {"cube", "masked", "generator", "text", "long text", "bytes"}
    | WHOLE,
    ("make_mixture", "separation"): {"minus", "zero"} | POSITIVE,
    ("metrics.reliability", "confidence"): {"tiny", "fraction"},
    ("metrics.rank_biased_precision", "p"): {"tiny"},
    ("concordance", "tau"): {"minus", "zero", "true"} | POSITIVE,
    ("dynamic_auc", "times"): {"minus", "zero", "true", "rows"} | POSITIVE,
    ("survival_brier", "times"): {"minus", "zero", "true", "rows"} | POSITIVE,
    ("survival_calibration", "time"): {"minus", "zero", "true"} | POSITIVE,
    **{
        (name, "confidence"): {"tiny"}
        for name in ("survival_calibration", "risk_groups", "concordance_interval")
    },
    ("compare_concordances", "confidence"): {"tiny"},
    ("concordance_interval", "tau"): {"minus", "zero", "true"} | POSITIVE,
    ("report", "title"): {"text", "no text", "long text"},
    ("report", "names"): {"huge integers", "dates", "minuses"},
    ("Report.save", "file"): {"text"},
}
SAID = {  # what errors call them, where that is something else
    "weight": "(query_)?weight",
    "X_new": "X(_new)?",
    "X": "X(_new)?|y|r",
    "y_true": "y_(true|score)|a",
    "scores": "scores|y",
    "object_kernel": "kernel",
    "label_kernel": "(label_)?kernel",
    **dict.fromkeys(["pairs", "matches", "log", "orders", "item"], r"\w+ is .* table|table|winner"),
    **dict.fromkeys(["winner", "home"], r"winner|home|loser|away"),
}


@cache
def problem():
    return rb.RankSVMProblem(X, rb.Preferences.from_scores(Y), kernel="linear")


@cache
def model():
    return rb.RankSVM(kernel="linear").fit(X, Y)


@cache
def logistic():
    return rb.RankSVM(kernel="linear", loss="logistic").fit(X, PAIRS)


@cache
def board():
    return rb.Leaderboard().fit(VOTES)


@cache
def choices():
    return rb.RankSVM(kernel="linear", loss="plackett-luce").fit(X, Y)


@cache
def hazard():
    return rb.BaselineHazard(SURVIVAL, Y)


@cache
def path():
    return rb.solve_path(problem(), solver="path")


@cache
def rls_path():
    return rb.solve_path(rb.RankRLSProblem(X, Y, kernel="linear"), solver="rls")


@cache
def curve():
    return rb.validation_curve(path(), X, rb.Preferences.from_scores(Y))


@cache
def solution():
    return model().solution_


@cache
def certificate():
    return model().certificate_


@cache
def label_ranker():
    return rb.LabelRanker(kernel="linear").fit(X, TABLE)


@cache
def rayleigh_ranker():
    return rb.RayleighRanker(n_components=3).fit(X, LABELS)


@cache
def rayleigh_solution():
    return rayleigh_ranker().solution_


@cache
def ordinal_ranker():
    return rb.OrdinalRanker(rb.RankSVM(kernel="linear")).fit(X, Y)


# Nothing is fitted when tests are collected: signatures are those of classes.
MADE = {
    model: rb.RankSVM,
    logistic: rb.RankSVM,
    choices: rb.RankSVM,
    board: rb.Leaderboard,
    hazard: rb.BaselineHazard,
    path: rb.RegularizationPath,
    rls_path: SpectralPath,
    curve: rb.ValidationCurve,
    solution: rb.Solution,
    certificate: rb.Certificate,
    label_ranker: rb.LabelRanker,
    rayleigh_ranker: rb.RayleighRanker,
    rayleigh_solution: rb.Solution,
    ordinal_ranker: rb.OrdinalRanker,
}


def fits(kind, y, /, **valid):
    """An estimator with these parameters, fitted."""
    return kind, lambda **given: kind(**given).fit(X, y), valid


def calls(function, /, **valid):
    return function, function, valid


def does(make, name, /, **valid):
    """A method of an object that is made for each call."""
    return (
        getattr(MADE.get(make) or make(), name),
        lambda **given: getattr(make(), name)(**given),
        valid,
    )


CALLS = {
    "RankSVM": fits(rb.RankSVM, Y, kernel="linear"),
    "RankSVM poly": fits(rb.RankSVM, Y, kernel="poly"),
    "RankSVMCV": fits(rb.RankSVMCV, Y, kernel="linear", cv=2),
    "RankRLS": fits(rb.RankRLS, Y, kernel="linear"),
    "RankRLSCV": fits(rb.RankRLSCV, Y, kernel="linear", lams=[1.0, 2.0]),
    "RayleighRanker": fits(rb.RayleighRanker, LABELS, n_components=3),
    "RayleighRankerCV": fits(rb.RayleighRankerCV, LABELS, n_components=3, cv=2),
    "OnlineRankSVM": fits(rb.OnlineRankSVM, Y, max_updates=100),
    "OnlineSVC": fits(rb.OnlineSVC, Y, max_updates=100),
    "OrdinalRanker": fits(rb.OrdinalRanker, Y, ranker=rb.RankSVM(kernel="linear")),
    "LabelRanker": fits(rb.LabelRanker, TABLE, kernel="linear"),
    "LabelRankerCV": fits(rb.LabelRankerCV, TABLE, kernel="linear", lams=[1.0, 2.0], cv=2),
    **{
        f"{name}.fit": does(make, "fit", X=X, y=y, **more)
        for name, make, y, more in (
            ("RankSVM", lambda: rb.RankSVM(kernel="linear"), Y, {}),
            ("RankSVM rbf", rb.RankSVM, Y, {}),
            ("RankSVMCV", lambda: rb.RankSVMCV(kernel="linear", cv=2), Y, {}),
            ("RankRLS", rb.RankRLS, Y, {}),
            ("RankRLSCV", lambda: rb.RankRLSCV(lams=[1.0, 2.0]), Y, {}),
            ("RayleighRanker", lambda: rb.RayleighRanker(n_components=3), LABELS, {}),
            ("RayleighRankerCV", lambda: rb.RayleighRankerCV(n_components=3, cv=2), LABELS, {}),
            ("OnlineRankSVM", lambda: rb.OnlineRankSVM(max_updates=100), Y, {}),
            ("OnlineSVC", lambda: rb.OnlineSVC(max_updates=100), LABELS, {}),
            ("OrdinalRanker", lambda: rb.OrdinalRanker(rb.RankSVM(kernel="linear")), Y, {}),
            ("LabelRanker", lambda: rb.LabelRanker(kernel="linear"), TABLE, {}),
            ("LabelRankerCV", lambda: rb.LabelRankerCV([1.0, 2.0], kernel="linear"), TABLE, {}),
        )
    },
    **{
        f"{name} of preferences": does(make, "fit", X=X, preferences=PAIRS)
        for name, make in (
            ("RankSVM", lambda: rb.RankSVM(kernel="linear")),
            ("RankSVMCV", lambda: rb.RankSVMCV(kernel="linear", cv=2, fold_by="pair")),
            ("RankRLS", rb.RankRLS),
            ("RankRLSCV", lambda: rb.RankRLSCV(lams=[1.0, 2.0], cv=2, fold_by="pair")),
            ("OnlineRankSVM", lambda: rb.OnlineRankSVM(max_updates=100)),
        )
    },
    "RankRLS.partial_fit": does(lambda: rb.RankRLS(kernel="linear"), "partial_fit", X=X, y=Y),
    "OnlineRankSVM.partial_fit": does(rb.OnlineRankSVM, "partial_fit", X=X, y=Y),
    "partial_fit_pairs": does(
        rb.OnlineRankSVM, "partial_fit_pairs", better=X[:4], worse=X[4:8]
    ),
    "OnlineSVC.partial_fit": does(
        rb.OnlineSVC, "partial_fit", X=X, y=LABELS, classes=np.array([0, 1])
    ),
    "predict": does(model, "predict", X=Z),
    "score": does(model, "score", X=X, y=Y),
    "save": does(model, "save", file="model.rankbook"),
    "LabelRanker.rank": does(
        label_ranker, "rank", X=Z, random_state=0
    ),
    "LabelRanker.score": does(
        label_ranker, "score", X=X, y=TABLE
    ),
    "RayleighRanker.score": does(
        rayleigh_ranker, "score", X=X, y=LABELS
    ),
    "RayleighRanker.predict_proba": does(
        rayleigh_ranker, "predict_proba", X=X
    ),
    "OrdinalRanker.predict": does(
        ordinal_ranker, "predict", X=X
    ),
    "set_output": does(lambda: rb.RankSVM(), "set_output", predict="pandas"),
    "Preferences": calls(rb.Preferences, better=[0, 1], worse=[1, 2], n_items=3),
    "from_scores": calls(rb.Preferences.from_scores, y=Y),
    "read_table": calls(rb.read_table, path=FILES["items"], target="y"),
    "read_preferences": calls(rb.read_preferences, path=FILES["pairs"]),
    "read_orders": calls(rb.read_orders, path=FILES["pairs"], form="orders"),
    "from_pairs": calls(rb.Preferences.from_pairs, pairs=[(0, 1), (1, 2)]),
    "from_pairs of a table": calls(
        rb.Preferences.from_pairs, pairs=dict(winner=np.arange(N), loser=np.arange(N) + 1)
    ),
    "from_wins": calls(rb.Preferences.from_wins, wins=[[0, 1], [2, 0]]),
    "from_counts": calls(
        rb.Preferences.from_counts,
        counts=dict(first=np.arange(N), second=np.arange(N) + 1, wins_first=Y, wins_second=Y),
    ),
    "from_rankings": calls(rb.Preferences.from_rankings, orders=[[0, 1, 2], [2, 1]]),
    "from_rankings of a table": calls(
        rb.Preferences.from_rankings,
        orders=dict(ranking=QID, item=np.tile(np.arange(6), 2), rank=np.arange(N)),
    ),
    "Orders.from_rankings": calls(rb.Orders.from_rankings, orders=[[0, 1, 2], [2, 1]]),
    "Preferences.from_survival": calls(
        rb.Preferences.from_survival, time=np.arange(N), event=np.r_[LABELS[1:], 1]
    ),
    "Orders.from_survival": calls(
        rb.Orders.from_survival,
        time=np.arange(N),
        event=np.r_[LABELS[1:], 1],
        entry=np.arange(N) - 1,
    ),
    "Orders.from_preferences": calls(rb.Orders.from_preferences, prefs=SURVIVAL),
    "BaselineHazard": calls(rb.BaselineHazard, y_true=SURVIVAL, y_score=Y),
    "hazard.survival": does(hazard, "survival", y_score=Y),
    "hazard.cumulative_hazard": does(hazard, "cumulative_hazard", y_score=Y),
    "coefficient_table": calls(rb.coefficient_table, model=logistic),
    "order_intervals": calls(rb.order_intervals, model=logistic, X=Z, n_resamples=100),
    "order_intervals of resamples": calls(
        rb.order_intervals, model=logistic, X=Z, n_resamples=100, method="bootstrap"
    ),
    "Leaderboard": (rb.Leaderboard, lambda **given: rb.Leaderboard(**given).fit(VOTES), {}),
    "board.compare": does(board, "compare", a="a", b="b"),
    "board.predict": does(board, "predict", items=["a"]),
    "board.predict_proba": does(board, "predict_proba", a="a", b="b"),
    "board.top": does(board, "top", k=1),
    "match_prior": calls(
        rb.match_prior, model=rb.RankSVM(kernel="linear", loss="logistic"), X=X, y=PAIRS
    ),
    "predict_pair_proba": does(logistic, "predict_pair_proba", a=X, b=X),
    "predict_choice_proba": does(choices, "predict_choice_proba", X=X),
    "from_clicks": calls(
        rb.Preferences.from_clicks,
        log=dict(session=QID, item=np.tile(np.arange(6), 2), rank=np.arange(N), click=LABELS),
    ),
    "click_propensities": calls(
        rb.click_propensities,
        log=dict(item=np.tile([0, 1], 6), rank=np.repeat([1, 2, 3], 4), click=[1] * N),
    ),
    "from_matches": calls(
        rb.Preferences.from_matches,
        matches=dict(home=np.arange(N), away=np.arange(N) + 1, result=2 * LABELS - 1),
    ),
    "reweighted": does(lambda: PAIRS, "reweighted", weight=np.ones(3)),
    "item_weighted": does(
        lambda: rb.Preferences.from_scores(Y), "item_weighted", item_weight=np.ones(N)
    ),
    "query_weighted": does(lambda: rb.Preferences.from_scores(Y), "query_weighted"),
    "matvec": does(lambda: PAIRS, "matvec", scores=Y),
    "rmatvec": does(lambda: PAIRS, "rmatvec", dual=np.ones(3)),
    "RankSVMProblem": calls(rb.RankSVMProblem, X=X, prefs=PAIRS),
    "RankRLSProblem": calls(rb.RankRLSProblem, X=X, y=Y),
    "RayleighProblem": calls(rb.RayleighProblem, X=X, y=LABELS, n_components=3),
    "SVMProblem": calls(rb.SVMProblem, X=X, y=2 * LABELS - 1),
    "MulticlassSVMProblem": calls(MulticlassSVMProblem, X=X, y=Y.astype(int)),
    "LabelRankRLSProblem": calls(LabelRankRLSProblem, X=X, y=TABLE),
    "LabelRankSVMProblem": calls(LabelRankSVMProblem, X=X, y=TABLE),
    "NystroemMap": calls(NystroemMap, X=X, n_components=3),
    "RankingStatistics": calls(rb.RankingStatistics),
    "RankingStatistics.add": does(rb.RankingStatistics, "add", X=X, y=Y),
    "merge_statistics": calls(merge_statistics, first=rb.RankingStatistics().add(X, Y)),
    "Block": calls(rb.Block, X=X, y=Y),
    "Blocks": calls(rb.Blocks, blocks=[rb.Block(X, Y)]),
    "BlockRankSVMProblem": calls(rb.BlockRankSVMProblem, blocks=rb.Blocks([rb.Block(X, Y)])),
    "choose_basis": calls(choose_basis, X=X, r=3),
    "Kernel": calls(kernels.Kernel),
    "kernel.gram": calls(kernels.Kernel("linear").gram, X=X),
    "kernel.centred_gram": calls(kernels.Kernel("linear").centred_gram, X=X),
    "kernel.cross": calls(kernels.Kernel("linear").cross, X_new=Z, X=X),
    "kernel.reduced_cross": calls(kernels.Kernel("linear").reduced_cross, X_new=Z, X=X),
    "joint": calls(kernels.joint, object_kernel="linear", label_kernel="linear", label_columns=1),
    "over": calls(kernels.over, objects=["a", "b"], function=lambda a, b: float(a == b)),
    "solve": calls(rb.solve, problem=problem(), lam=1.0, solver="newton"),
    "solve_path": calls(rb.solve_path, problem=problem(), solver="path", lam_min=1.0),
    "compare_solvers": calls(rb.compare_solvers, problem=problem()),
    "get_solver": calls(rb.get_solver, solver="newton"),
    "register_solver": calls(lambda solver: rb.register_solver(solver), solver=None),
    "unregister_solver": calls(rb.unregister_solver, name="none"),
    "list_solvers": calls(rb.list_solvers),
    "load": calls(rb.load, file="none.rankbook"),
    "kernel_path": calls(
        rb.kernel_path,
        problem=rb.RankSVMProblem(X, PAIRS, kernel="rbf"),
        lam=1.0,
        gammas=[0.1, 1.0],
    ),
    "validation_curve": calls(rb.validation_curve, path=path, X_val=X, prefs_val=PAIRS),
    "choose_lambda": calls(rb.choose_lambda, curve=curve),
    "auc_bound": calls(
        auc_bound, solution=rayleigh_solution
    ),
    "explain_pair": calls(rb.explain_pair, model=model, a=X[0], b=X[1]),
    "to_json": calls(rb.to_json, model=model),
    "to_onnx": calls(rb.to_onnx, model=model),
    "read_ratings": calls(
        rb.read_ratings,
        ratings=dict(user=[0, 0], item=[0, 1], rating=[1.0, 2.0]),
        users=pd.DataFrame(X[:2]),
        items=pd.DataFrame(X[:3]),
    ),
    "extend_items": calls(rb.extend_items, X=X, prefs=SIDED),
    "suggest_pairs": calls(rb.suggest_pairs, solution=solution, k=2),
    "path.coef": does(path, "coef", lam=1.0),
    "path.read": does(path, "read", lam=1.0),
    "path.dual": does(path, "dual", lam=1.0),
    "path.predict": does(path, "predict", X_new=Z, lam=1.0),
    "path.certificate": does(path, "certificate", lam=1.0),
    "path.solution": does(path, "solution", lam=1.0),
    "path.nearest": does(path, "nearest", lam=1.0),
    "path.resume": does(path, "resume", lam_min=1.0),
    "path.save": does(path, "save", file="path.rankbook"),
    "rls path.coef": does(rls_path, "coef", lam=1.0),
    "rls path.predict": does(rls_path, "predict", X_new=Z, lam=1.0),
    "curve.at": does(curve, "at", lam=1.0),
    "curve.choose": does(curve, "choose"),
    "solution.predict": does(solution, "predict", X_new=Z),
    "solution.proven": does(solution, "proven", first=[0], second=[1]),
    "is_optimal": does(certificate, "is_optimal"),
    "problem.primal": does(problem, "primal", coef=np.zeros(N), lam=1.0),
    "problem.predict": does(problem, "predict", coef=np.zeros(N), X_new=Z),
    **{
        f"metrics.{name}": calls(getattr(metrics, name), y_true=LABELS, y_score=Y)
        for name in (
            "auc", "average_precision", "bpref", "disagreement", "err", "infap", "kendall_tau",
            "ndcg", "pair_accuracy", "rank_biased_overlap", "rank_biased_precision",
            "reciprocal_rank",
        )
    },
    **{
        f"metrics.{name}": calls(getattr(metrics, name), y_true=LABELS, y_score=Y, k=2)
        for name in ("precision_at_k", "recall_at_k", "hit_rate_at_k")
    },
    "concordance": calls(metrics.concordance, y_true=SURVIVAL, y_score=Y, train=SURVIVAL, tau=9.0),
    "dynamic_auc": calls(
        metrics.dynamic_auc, y_true=SURVIVAL, y_score=Y, times=[5.0], train=SURVIVAL
    ),
    "survival_brier": calls(
        metrics.survival_brier, y_true=SURVIVAL, y_proba=Y / N, times=[5.0], train=SURVIVAL
    ),
    "survival_calibration": calls(
        metrics.survival_calibration, y_true=SURVIVAL, y_proba=Y / N, time=5.0, confidence=0.9
    ),
    "risk_groups": calls(metrics.risk_groups, y_true=SURVIVAL, y_score=Y, confidence=0.9),
    "concordance_interval": calls(
        metrics.concordance_interval, y_true=SURVIVAL, y_score=Y, train=SURVIVAL, tau=9.0
    ),
    "compare_concordances": calls(metrics.compare_concordances, y_true=SURVIVAL, a=Y, b=-Y),
    "hazard.restricted_mean": does(hazard, "restricted_mean", y_score=Y, tau=5.0),
    **{
        f"metrics.{name}": calls(getattr(metrics, name), y_true=LABELS, y_score=Y)
        for name in ("brier_score", "log_loss", "reliability")
    },
    "calibrate": calls(rb.calibrate, y_true=LABELS, y_score=RNG.normal(size=N) + LABELS),
    "best_cuts": calls(metrics.best_cuts, y_true=Y, y_score=RNG.normal(size=N)),
    "by_query": calls(metrics.by_query, metric="ndcg", y_true=Y, y_score=Y, qid=QID),
    "compare": calls(
        metrics.compare, y_true=Y, a=Y, b=-Y, qid=QID, metric="ndcg", n_resamples=100
    ),
    "interval": calls(
        metrics.interval, y_true=Y, y_score=Y, qid=QID, metric="ndcg", n_resamples=100
    ),
    "scorer": calls(metrics.scorer, metric="ndcg"),
    "report": calls(rb.report, models=model, X=X, y=Y, qid=QID),
    "Report.save": does(lambda: rb.report(board()), "save", file="page.html"),
    "over_blocks": calls(
        metrics.over_blocks, metric="ndcg", blocks=rb.Blocks([rb.Block(X, Y)]), model=model
    ),
    "datasets.load": calls(datasets.load, name="cancer"),
    "make_mixture": calls(datasets.make_mixture, n_per_class=5),
}  # fmt: skip


def parameters(name):
    """The parameters of a call, by name."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = inspect.signature(CALLS[name][0]).parameters.items()
    return {key: value for key, value in found if value.kind not in kinds and key != "self"}


def is_made(value):
    """Whether a value is a function of `MADE`, whose result is meant."""
    return any(value is make for make in MADE)


def outcome(name, parameter, kind):
    """None if all is well, else what is wrong."""
    function, valid = CALLS[name][1:]
    valid = {key: each() if is_made(each) else each for key, each in valid.items()}
    value = iter([1.0, 2.0]) if kind == "generator" else KINDS[kind]
    takes = TAKES.get(parameter, set()) | ALSO.get((name, parameter), set())
    if parameters(name)[parameter].default is None:
        takes = takes | {"none"}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            answer = function(**valid | {parameter: value})
    except (ValueError, TypeError, OSError, ArithmeticError) as error:
        words = str(error)
        if isinstance(error, OSError) and parameter in ("file", "path"):
            return None  # which names the file
        refused = isinstance(error, ArgumentError) or not isinstance(error, TypeError)
        if refused and kind in takes:  # it does not go with the others
            return None
        if not re.search(rf"\b({parameter}|{SAID.get(parameter, parameter)})\b", words[:200]):
            return f"{type(error).__name__}: {words}"
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None if kind in takes else f"accepted: {str(answer)[:60]!r}"


CASES = [(name, key, kind) for name in CALLS for key in parameters(name) for kind in KINDS]
STEP = len(KINDS) // 3


def some_kinds(name, key):
    """Every STEP-th kind; the first depends on the names alone, and not on other calls."""
    return list(KINDS)[crc32(f"{name} {key}".encode()) % STEP :: STEP]


SOME = [case for case in CASES if case[2] in some_kinds(*case[:2])]


def failures(cases, tmp_path, monkeypatch):
    """What is wrong with calls, by their names."""
    monkeypatch.chdir(tmp_path)
    found = {case: outcome(*case) for case in cases}
    return {case: said for case, said in found.items() if said is not None}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_kind_is_refused_by_the_name_of_its_parameter(name, tmp_path, monkeypatch):
    """Three or four kinds for each parameter, others for the next one."""
    assert failures([case for case in SOME if case[0] == name], tmp_path, monkeypatch) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_all_wrong_kinds_are_refused_by_the_name_of_the_parameter(name, tmp_path, monkeypatch):
    assert failures([case for case in CASES if case[0] == name], tmp_path, monkeypatch) == {}


def test_there_are_a_thousand_short_cases_and_every_public_function_has_some():
    assert 1000 < len(SOME) < 3000
    named = {function.__qualname__.split(".")[0] for function, _, _ in CALLS.values()}
    makers = {"dask_blocks", "read_blocks", "Certificate", "RegularizationPath", "SolutionPath"}
    makers |= {
        "Assumption",
        "Comparison",
        "OrderIntervals",
        "PairLoss",
        "Solver",
        "Ratings",
        "ValidationCurve",
        "Solution",
        "list_solvers",
        "register_solver",
    }  # made by other calls
    missing = {each for each in rb.__all__ if callable(getattr(rb, each))} - named - makers
    assert sorted(missing) == []


# What is merged, hidden or ignored in silence


def masked(A):
    A = np.ma.array(A, copy=True)
    A[(0,) * A.ndim] = np.ma.masked
    return A


def ranker():
    return rb.RankSVM(kernel="linear")


TWICE = pd.DataFrame(X, columns=["a", "a", "b"])
HIDDEN = {
    "X": lambda: ranker().fit(masked(X), Y),
    "X of single precision": lambda: rb.RankSVM(kernel="linear", solver="newton").fit(
        masked(X.astype(np.float32)), Y
    ),
    "X of masked rows": lambda: ranker().fit([masked(row) for row in X], Y),
    "y": lambda: ranker().fit(X, masked(Y)),
    "qid": lambda: ranker().fit(X, Y, masked(QID)),
    "sample_weight": lambda: ranker().fit(X, Y, sample_weight=masked(Y + 1)),
    "X of a kernel": lambda: rb.RankSVM(kernel="precomputed").fit(masked(X @ X.T), Y),
    "X to predict": lambda: model().predict(masked(X)),
    "y to score": lambda: model().score(X, masked(Y)),
    "y of labels": lambda: rb.RayleighRanker(n_components=3).fit(X, masked(LABELS)),
    "lams": lambda: rb.RankRLSCV(lams=masked([1.0, 2.0])).fit(X, Y),
    "basis": lambda: rb.RankRLS(basis=masked(X[:3])).fit(X, Y),
    "better": lambda: rb.Preferences(masked([0, 1]), [1, 2], 3),
    "weight": lambda: rb.Preferences([0, 1], [1, 2], 3, weight=masked([1.0, 2.0])),
    "winner": lambda: rb.Preferences.from_pairs(dict(winner=masked([0, 1]), loser=[1, 2])),
    "orders": lambda: rb.Preferences.from_rankings([masked([0, 1, 2])]),
    "y_true": lambda: metrics.ndcg(masked(Y), Y),
    "y_score": lambda: metrics.ndcg(Y, masked(Y)),
    "block": lambda: rb.Block(X, Y, masked(QID)),
    "qid of statistics": lambda: rb.RankingStatistics().add(X, Y, masked(QID)),
    "kernel": lambda: rb.RankSVM(kernel=lambda A, B: masked(A @ B.T)).fit(X, Y),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_a_mask_hides_is_not_used(name):
    said = "the matrix of the callable kernel" if name == "kernel" else name.split(" ")[0]
    with pytest.raises(ValueError, match=rf"{said}\b.* is a masked array.*\.filled\(\)"):
        HIDDEN[name]()


def test_a_mask_that_hides_nothing_changes_nothing():
    fitted = ranker().fit(np.ma.array(X), np.ma.array(Y))
    assert np.array_equal(fitted.predict(np.ma.array(Z)), model().predict(Z))


def test_a_masked_score_of_a_label_is_a_missing_one():
    hidden, missing = masked(TABLE), np.where(np.arange(3 * N).reshape(N, 3) == 0, np.nan, TABLE)
    hidden.data[0, 0] = 1e6
    one, other = (rb.LabelRanker(kernel="linear").fit(X, y) for y in (hidden, missing))
    assert np.array_equal(one.predict(X), other.predict(X))
    assert one.score(X, hidden) == other.score(X, missing)


SILENT = {
    "y has 9007199254740993": lambda: rb.Preferences.from_scores([2**53, 2**53 + 1, 2**53 + 2]),
    "y has 9007199254740995": lambda: ranker().fit(X[:3], np.array([0, 2**53 + 3, 1])),
    "y has Decimal..9007199254740993": lambda: rb.Preferences.from_scores(
        [Decimal(2**53), Decimal(2**53 + 1)]
    ),
    "lam is np.complex128": lambda: rb.RankRLS(lam=np.complex128(1 + 2j)).fit(X, Y),
    "rows is a masked array": lambda: PAIRS[np.ma.array([1, 0], mask=[0, 1])],
    "y_score has 9007199254740993": lambda: metrics.auc([0, 1], [2**53, 2**53 + 1]),
    "qid has ids of kinds": lambda: rb.Preferences.from_scores([1] * 4, qid=["1", 1, "a", "a"]),
    "progress is 'yes'": lambda: rb.RankSVM(progress="yes").fit(X, Y),
    "k is 3": lambda: rb.RankSVMCV(k=3).fit(X, Y),
    "draws is 0": lambda: rb.OnlineRankSVM(draws=0).fit(X, Y),
    "offset is -1": lambda: rb.OnlineRankSVM(offset=-1).fit(X, Y),
    "draws is -1": lambda: rb.OnlineRankSVM(draws=-1).fit(X, Y),
    "max_updates is 2.5": lambda: rb.OnlineRankSVM(max_updates=2.5).fit(X, Y),
    "degree is 1000000000": lambda: rb.RankSVM(degree=10**30).fit(X, Y),
    "lam is 0": lambda: rb.RayleighRanker(lam=0).fit(X, LABELS),
    "unlabelled is 2": lambda: rb.RayleighRanker(unlabelled=2).fit(X, LABELS),
    "ranker is LogisticRegression": lambda: rb.OrdinalRanker(LogisticRegression()).fit(X, Y),
    "ranker is KMeans": lambda: rb.OrdinalRanker(KMeans()).fit(X, Y),
    "lam_min is -1": lambda: path().resume(lam_min=-1),
    "option is 'nope'": lambda: path().resume(nope=3),
    "`y_true` has 30 different": lambda: metrics.best_cuts(
        np.random.default_rng(0).normal(size=30), np.tile([0, 1, 2], 10)
    ),
    "sample_weight has 1e\\+308": lambda: ranker().fit(X, Y, sample_weight=np.full(N, 1e308)),
    "lam is 9.99989e-321": lambda: rb.RankSVM(lam=1e-320, solver="interior").fit(X, Y),
    "lam is 1000000000": lambda: rb.RankSVM(lam=10**400).fit(X, Y),
    "y is <generator": lambda: ranker().fit(X, (score for score in Y)),
    "X has two columns named 'a'": lambda: ranker().fit(TWICE, Y),
    "file is 3": lambda: model().save(3),
    "file is None": lambda: path().save(None),
    "file is 'a.x00b'. Pass a name without null": lambda: model().save("a\0b"),
    "/dev/full": lambda: model().save("/dev/full"),
    "scores has shape": lambda: PAIRS.matvec(np.ones(3)),
    "dual has shape": lambda: PAIRS.rmatvec(np.ones(2)),
    "lam is 'a'": lambda: path().read("a"),
    "model is 3": lambda: metrics.over_blocks("ndcg", rb.Blocks([rb.Block(X, Y)]), model=3),
    "n_jobs is 0": lambda: rb.RankSVMCV(n_jobs=0).fit(X, Y),
    "n_jobs is 'all'": lambda: rb.RankRLSCV(n_jobs="all").fit(X, Y),
    "n_jobs is 1000000": lambda: rb.RayleighRankerCV(n_jobs=10**6).fit(X, LABELS),
    "kernel is 'x{49}\\.\\.\\.. Pass": lambda: rb.RankSVM(kernel="x" * 5000).fit(X, Y),
    "winner is 'home'": lambda: rb.Preferences.from_pairs([(0, 1)], winner="home"),
    "y has 9007199254740993,": lambda: rb.OrdinalRanker(ranker()).fit(X[:2], [2**53 + 1, 0]),
}


@pytest.mark.parametrize("said", SILENT)
def test_nothing_is_merged_or_ignored_in_silence(said):
    errors = (ValueError, TypeError, ArithmeticError, OSError)
    with warnings.catch_warnings(), pytest.raises(errors, match=said):
        warnings.simplefilter("ignore")
        SILENT[said]()


def test_integers_that_floats_hold_are_scores():
    assert len(rb.Preferences.from_scores([2**53, 2**53 - 1, 2**53 - 2])) == 3
    assert len(rb.Preferences.from_scores(np.array([2**60, 0]))) == 1
    assert rb.Preferences.from_scores([1, 2, 1, 2], qid=["1", "1", "a", "a"]).n_queries == 2
    assert rb.Preferences.from_scores([1, 2], qid=[2**62, 2**62 + 1]).n_queries == 2
    ids = [2.0**53, 2.0**53, 2**53 + 1, 2**53 + 1, -1, -1]
    assert rb.Preferences.from_scores([1, 2] * 3, qid=ids).n_queries == 3
