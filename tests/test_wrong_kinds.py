"""Every parameter of the public interface, given values of every wrong kind, one at a time.

A value is refused by an error that names the parameter, or belongs to the parameter's domain.
"""

import inspect
import re
import warnings
from functools import cache

import numpy as np

import rankbook as rb
from rankbook import datasets, kernels, metrics

N = 12
RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(N, 3)), RNG.normal(size=(4, 3))
Y, LABELS, QID = np.tile([0.0, 1.0, 2.0], 4), np.tile([0, 1], 6), np.repeat([1, 2], 6)
TABLE = RNG.normal(size=(N, 3))
PAIRS = rb.Preferences([2, 5, 8], [0, 3, 6], N)

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
}

POSITIVE = {"fraction", "tiny", "large"}
IDS = {"complexes", "dates", "minuses", "huge integers"}
# what each parameter takes of these; None where it is the default; everything else is refused
TAKES = {
    **dict.fromkeys(["lam", "gamma", "tol", "draws", "max_grade", "lams", "lam_min"], POSITIVE),
    **dict.fromkeys(["coef0", "manifold_weight", "manifold_weights"], POSITIVE | {"zero"}),
    **dict.fromkeys(["progress", "fit_intercept", "average", "copy"], {"true"}),
    **dict.fromkeys(["margin"], {"minuses"}),
    "qid": IDS,
    "random_state": {"zero"},
    "unlabelled": {"minus", "nan"},
    "lam_min_ratio": {"none", "tiny"},
    "tie_tol": {"zero", "tiny"},
}
ALSO = {  # the same for a parameter of one call
    ("RankRLS.partial_fit", "y"): {"minuses"},
    ("from_scores", "y"): {"minuses"},
    ("from_scores", "level_weight"): {"dict"},
}
SAID = {"weight": "(query_)?weight", "X_new": "X(_new)?"}  # where errors use another name


@cache
def problem():
    return rb.RankSVMProblem(X, rb.Preferences.from_scores(Y), kernel="linear")


@cache
def model():
    return rb.RankSVM(kernel="linear").fit(X, Y)


@cache
def path():
    return rb.solve_path(problem(), solver="path")


@cache
def rls_path():
    return rb.solve_path(rb.RankRLSProblem(X, Y, kernel="linear"), solver="rls")


@cache
def curve():
    return rb.validation_curve(path(), X, rb.Preferences.from_scores(Y))


def fits(kind, y, /, **valid):
    """An estimator with these parameters, fitted."""
    return kind, lambda **given: kind(**given).fit(X, y), valid


def calls(function, /, **valid):
    return function, function, valid


def does(make, name, /, **valid):
    """A method of an object that is made anew for each call."""
    return getattr(make(), name), lambda **given: getattr(make(), name)(**given), valid


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
        lambda: rb.LabelRanker(kernel="linear").fit(X, TABLE), "rank", X=Z, random_state=0
    ),
    "LabelRanker.score": does(
        lambda: rb.LabelRanker(kernel="linear").fit(X, TABLE), "score", X=X, y=TABLE
    ),
    "RayleighRanker.score": does(
        lambda: rb.RayleighRanker(n_components=3).fit(X, LABELS), "score", X=X, y=LABELS
    ),
    "RayleighRanker.predict_proba": does(
        lambda: rb.RayleighRanker(n_components=3).fit(X, LABELS), "predict_proba", X=X
    ),
    "OrdinalRanker.predict": does(
        lambda: rb.OrdinalRanker(rb.RankSVM(kernel="linear")).fit(X, Y), "predict", X=X
    ),
    "set_output": does(lambda: rb.RankSVM(), "set_output", predict="pandas"),
    "Preferences": calls(rb.Preferences, better=[0, 1], worse=[1, 2], n_items=3),
    "from_scores": calls(rb.Preferences.from_scores, y=Y),
    "from_pairs": calls(rb.Preferences.from_pairs, pairs=[(0, 1), (1, 2)]),
    "from_pairs of a table": calls(
        rb.Preferences.from_pairs, pairs=dict(winner=np.arange(N), loser=np.arange(N) + 1)
    ),
    "from_rankings": calls(rb.Preferences.from_rankings, orders=[[0, 1, 2], [2, 1]]),
    "from_rankings of a table": calls(
        rb.Preferences.from_rankings,
        orders=dict(ranking=QID, item=np.tile(np.arange(6), 2), rank=np.arange(N)),
    ),
    "from_clicks": calls(
        rb.Preferences.from_clicks,
        log=dict(session=QID, item=np.tile(np.arange(6), 2), rank=np.arange(N), click=LABELS),
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
    "MulticlassSVMProblem": calls(rb.MulticlassSVMProblem, X=X, y=Y.astype(int)),
    "LabelRankRLSProblem": calls(rb.LabelRankRLSProblem, X=X, y=TABLE),
    "LabelRankSVMProblem": calls(rb.LabelRankSVMProblem, X=X, y=TABLE),
    "NystroemMap": calls(rb.NystroemMap, X=X, n_components=3),
    "RankingStatistics": calls(rb.RankingStatistics),
    "RankingStatistics.add": does(rb.RankingStatistics, "add", X=X, y=Y),
    "merge_statistics": calls(rb.merge_statistics, first=rb.RankingStatistics().add(X, Y)),
    "Block": calls(rb.Block, X=X, y=Y),
    "Blocks": calls(rb.Blocks, blocks=[rb.Block(X, Y)]),
    "BlockRankSVMProblem": calls(rb.BlockRankSVMProblem, blocks=rb.Blocks([rb.Block(X, Y)])),
    "choose_basis": calls(rb.choose_basis, X=X, r=3),
    "Kernel": calls(kernels.Kernel),
    "gram_matrix": calls(kernels.gram_matrix, kernel=kernels.Kernel("linear"), X=X),
    "centred_gram": calls(kernels.centred_gram, kernel=kernels.Kernel("linear"), X=X),
    "cross_matrix": calls(kernels.cross_matrix, kernel=kernels.Kernel("linear"), X_new=Z, X=X),
    "reduced_matrix": calls(
        kernels.reduced_matrix, kernel=kernels.Kernel("linear"), X_new=Z, X=X
    ),
    "joint": calls(kernels.joint, object_kernel="linear", label_kernel="linear", label_columns=1),
    "over": calls(kernels.over, objects=["a", "b"], function=lambda a, b: float(a == b)),
    "solve": calls(rb.solve, problem=problem(), lam=1.0, solver="newton"),
    "solve_path": calls(rb.solve_path, problem=problem(), solver="path", lam_min=1.0),
    "explain": calls(rb.explain, problem=problem()),
    "get_solver": calls(rb.get_solver, solver="newton"),
    "register_solver": calls(rb.register_solver, solver=None),
    "unregister_solver": calls(rb.unregister_solver, name="none"),
    "list_solvers": calls(rb.list_solvers),
    "load": calls(rb.load, file="none.rankbook"),
    "kernel_path": calls(
        rb.kernel_path,
        problem=rb.RankSVMProblem(X, PAIRS, kernel="rbf"),
        lam=1.0,
        gammas=[0.1, 1.0],
    ),
    "validation_curve": calls(rb.validation_curve, path=path(), X_val=X, prefs_val=PAIRS),
    "choose_lambda": calls(rb.choose_lambda, curve=curve()),
    "auc_bound": calls(rb.auc_bound, solution=model().solution_),
    "explain_pair": calls(rb.explain_pair, model=model(), a=X[0], b=X[1]),
    "suggest_pairs": calls(rb.suggest_pairs, solution=model().solution_, k=2),
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
    "solution.predict": does(lambda: model().solution_, "predict", X_new=Z),
    "solution.proven": does(lambda: model().solution_, "proven", first=[0], second=[1]),
    "is_optimal": does(lambda: model().certificate_, "is_optimal"),
    "problem.primal": does(problem, "primal", coef=np.zeros(N), lam=1.0),
    "problem.certificate": does(problem, "certificate", lam=1.0, coef=np.zeros(N)),
    "problem.predict": does(problem, "predict", coef=np.zeros(N), X_new=Z),
    **{
        f"metrics.{name}": calls(getattr(metrics, name), y_true=LABELS, y_score=Y)
        for name in (
            "auc", "average_precision", "disagreement", "err", "kendall_tau", "ndcg",
            "pair_accuracy", "precision_at_k", "recall_at_k", "reciprocal_rank",
        )
    },
    "best_cuts": calls(metrics.best_cuts, scores=RNG.normal(size=N), y=Y),
    "by_query": calls(metrics.by_query, metric="ndcg", y_true=Y, y_score=Y, qid=QID),
    "compare": calls(
        metrics.compare, y_true=Y, a=Y, b=-Y, qid=QID, metric="ndcg", n_resamples=10
    ),
    "interval": calls(
        metrics.interval, y_true=Y, y_score=Y, qid=QID, metric="ndcg", n_resamples=10
    ),
    "scorer": calls(metrics.scorer, metric="ndcg"),
    "over_blocks": calls(
        metrics.over_blocks, metric="ndcg", blocks=rb.Blocks([rb.Block(X, Y)]), model=model()
    ),
    "datasets.load": calls(datasets.load, name="cancer"),
    "make_mixture": calls(datasets.make_mixture, n_per_class=5),
}  # fmt: skip


def parameters(name):
    """The parameters of a call, by name."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = inspect.signature(CALLS[name][0]).parameters
    return {key: value for key, value in found.items() if value.kind not in kinds}


class TooSlow(Exception):
    """A call that did not end."""


def refuse(*_):
    raise TooSlow


def outcome(name, parameter, kind):
    """None if all is well, else what is wrong."""
    function, valid = CALLS[name][1:]
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
        if isinstance(error, (OSError, ArithmeticError)) and kind not in takes | {"long text"}:
            return f"{type(error).__name__}: {words}"
        if not re.search(rf"\b{SAID.get(parameter, parameter)}\b", words[:200]):
            return f"{type(error).__name__}: {words}"
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None if kind in takes else f"accepted: {str(answer)[:60]!r}"


CASES = [(name, key, kind) for name in CALLS for key in parameters(name) for kind in KINDS]
