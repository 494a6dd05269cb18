"""Data belong to whom they belong: overwriting what was passed in changes nothing.

A plugin cannot change the question.
"""

import copy
import pickle
import time

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LinearRegression

import rankbook as rb
from rankbook.estimators.scaled import ScaledModel
from rankbook.kernels.basis import choose_basis
from rankbook.kernels.nystroem import NystroemMap
from rankbook.problems.certificate import Solution
from rankbook.problems.label_ranking import LabelRankRLSProblem, LabelRankSVMProblem
from rankbook.problems.rankrls_statistics import merge_statistics
from rankbook.problems.svm import MulticlassSVMProblem

RNG = np.random.default_rng(0)
N, D = 24, 3


def buffers(**more):
    """Arrays that a caller goes on to use: items, scores, query ids, item weights."""
    rng = np.random.default_rng(1)
    own = dict(
        X=rng.normal(size=(N, D)),
        y=rng.integers(0, 4, N).astype(float),
        qid=np.arange(N) % 3,
        weight=rng.uniform(0.5, 2, N),
        labels=np.arange(N) % 2,
        new=rng.normal(size=(5, D)),
        table=rng.integers(0, 4, (N, 3)).astype(float),
        labels_alike=np.eye(3) + 0.5,
    )
    return own | more


def scramble(data):
    """Overwrite every array."""
    for value in data.values():
        if isinstance(value, np.ndarray):
            value[...] = 0 if value.dtype.kind in "iu" else 1e3 * RNG.normal(size=value.shape)
        elif isinstance(value, csr_array):
            value.data[:] = 7.0
            value.indices[:] = 0


def pairs(b):
    """Preferences from lists of items, with weights and margins."""
    b["better"], b["worse"] = np.array([0, 1, 2, 5]), np.array([3, 4, 6, 7])
    b["c"], b["delta"] = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 0.5, 2.0, 1.0])
    return rb.Preferences(b["better"], b["worse"], N, b["c"], b["delta"])


def sided(b):
    """Preferences from lists of items, with a feature of each pair."""
    prefs = pairs(b)
    b["u"] = np.array([[1.0], [-1.0], [1.0], [0.5]])
    return rb.Preferences(prefs.better, prefs.worse, N, pair_features=b["u"])


def recorded(b):
    """Preferences from pairs of rows, with columns of weights, margins and ties."""
    b["pairs"], b["c"] = np.array([[0, 1], [2, 5], [4, 3]]), np.array([1.0, 2.0, 3.0])
    b["delta"], b["tie"] = np.array([1.0, 0.5, 2.0]), np.array([0, 0, 1])
    options = dict(weight=b["c"], margin=b["delta"], tie=b["tie"], ties="half", items=range(N))
    return rb.Preferences.from_pairs(b["pairs"], **options)


def ranked(b):
    """Three rankings of items, as arrays."""
    for name, row in (("one", [0, 1, 2]), ("two", [5, 3]), ("three", [7, 2, 9, 4])):
        b[name] = np.array(row)
    return [b["one"], b["two"], b["three"]]


def places(orders):
    return [orders.item, orders.order, orders.group, orders.choice_weight, orders.risk_weight]


class Logcosh:
    """A loss of pairs."""

    name = "logcosh"

    def value(self, t):
        return np.logaddexp(t, -t) + t

    def derivative(self, t):
        return np.tanh(t) + 1

    def conjugate(self, a):
        p = a / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.nan_to_num(p * np.log(p)) + np.nan_to_num((1 - p) * np.log1p(-p))
        return np.where((p >= 0) & (p <= 1), inside, np.inf)


def facts(prefs):
    return [prefs.better, prefs.worse, prefs.weight, prefs.margin, prefs.incidence().toarray()]


def answers(solver, lam=1.0, **options):
    """What a problem says when it is solved."""

    def ask(problem, new):
        solution = rb.solve(problem, lam, solver=solver, **options)
        certificate = solution.certificate
        return [solution.coef, solution.predict(new), [certificate.primal, certificate.gap]]

    return ask


def labels_by(solver):
    """What a problem on labels says when it is solved."""

    def ask(problem, new):
        solution = rb.solve(problem, 1.0, solver=solver)
        f = problem.label_function(solution.position)
        return [solution.coef, f.predict(new), [solution.certificate.primal]]

    return ask


def along(path, new):
    lams = [max(path.domain[0], 1e-3) * k for k in (1.5, 10.0)]
    return [
        a
        for lam in lams
        for a in (path.coef(lam), path.predict(new, lam), [path.certificate(lam).primal])
    ]


def gram_of(b):
    b["K"] = np.exp(-((b["X"][:, None] - b["X"]) ** 2).sum(-1))
    b["new"] = b["K"][:5].copy()
    return b["K"]


def svm(b, prefs=None, **options):
    prefs = rb.Preferences.from_scores(b["y"], b["qid"]) if prefs is None else prefs
    return rb.RankSVMProblem(b["X"], prefs, **options)


def sparse(b):
    b["X"] = csr_array(np.where(np.abs(b["X"]) < 0.5, 0.0, b["X"]))
    return svm(b, kernel="linear")


def single(b):
    b["X"] = b["X"].astype(np.float32)
    return svm(b, kernel="linear")


def weighted_graph(b):
    W = np.abs(np.random.default_rng(5).normal(size=(N, N)))
    b["W"] = W + W.T
    return rb.RankRLSProblem(b["X"], b["y"], graph=b["W"])


def with_basis(b):
    b["basis"] = np.array([0, 4, 9])
    return rb.RankRLSProblem(b["X"], b["y"], b["qid"], basis=b["basis"])


def stream(b):
    model = rb.RankRLS(kernel="linear")
    for q in range(3):
        rows = b["qid"] == q
        b[f"X{q}"], b[f"y{q}"] = b["X"][rows], b["y"][rows]
        model.partial_fit(b[f"X{q}"], b[f"y{q}"])
    return model


def fitted(estimator, *names, **keywords):
    """An estimator fitted to buffers of these names."""
    return lambda b: copy.deepcopy(estimator).fit(
        *(b[name] for name in names), **{k: b[v] for k, v in keywords.items()}
    )


def predicts(model, new):
    # asked before and after everything was overwritten: what it predicts, and what it says of
    # itself
    found = [model.predict(new)]
    found += [
        np.asarray(getattr(model, name)) for name in ("coef_", "dual_coef_") if hasattr(model, name)
    ]
    if hasattr(model, "certificate_"):
        found.append([model.certificate_.primal, model.certificate_.gap])
    if hasattr(model, "solution_"):
        s = model.solution_
        again = (
            s.problem.certificate(s.lam, s.coef, s.dual if isinstance(s.dual, np.ndarray) else None)
            if hasattr(s.problem, "primal")
            else s.certificate
        )
        found.append([again.primal])
    return found


Y = ("X", "y", "qid")
PLAIN = LinearRegression().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0.0, 1.0, 2.0])
CASES = {
    # name: (what is made of the buffers, what it is asked)
    "Preferences.from_scores": (
        lambda b: rb.Preferences.from_scores(b["y"], b["qid"]),
        lambda p, new: facts(p),
    ),
    "Preferences.from_scores, star": (
        lambda b: rb.Preferences.from_scores(b["y"], b["qid"], graph="star"),
        lambda p, new: facts(p),
    ),
    "Preferences": (pairs, lambda p, new: facts(p)),
    "Preferences.from_scores, weighed": (
        lambda b: rb.Preferences.from_scores(
            b["y"],
            b["qid"],
            query_weight=b.setdefault("goal", np.array([1.0, 2.0, 3.0])),
            level_weight={(b["y"].max(), b["y"].min()): 2.0},
        ),
        lambda p, new: facts(p),
    ),
    "Preferences.from_pairs": (recorded, lambda p, new: facts(p)),
    "Preferences.item_weighted": (
        lambda b: rb.Preferences.from_scores(b["y"], b["qid"]).item_weighted(b["weight"]),
        lambda p, new: facts(p),
    ),
    "Preferences.reweighted": (
        lambda b: pairs(b).reweighted(b["c"], b["delta"]),
        lambda p, new: facts(p),
    ),
    "RankSVMProblem, qp": (lambda b: svm(b), answers("qp")),
    "RankSVMProblem, pairs": (lambda b: svm(b, pairs(b)), answers("qp")),
    "RankSVMProblem, linear qp": (lambda b: svm(b, kernel="linear"), answers("qp")),
    "RankSVMProblem, precomputed": (
        lambda b: rb.RankSVMProblem(
            gram_of(b), rb.Preferences.from_scores(b["y"]), kernel="precomputed"
        ),
        answers("path"),
    ),
    "RankSVMProblem, newton": (lambda b: svm(b, kernel="linear"), answers("newton")),
    "RankSVMProblem, sparse": (sparse, answers("newton")),
    "RankSVMProblem, float32": (single, answers("newton")),
    "RankSVMProblem, squared": (
        lambda b: svm(b, kernel="linear", loss="squared"),
        answers("newton"),
    ),
    "RankSVMProblem, l1": (lambda b: svm(b, kernel="linear", penalty="l1"), answers("simplex")),
    "RankSVMProblem, squared l1": (
        lambda b: svm(b, kernel="linear", penalty="l1", loss="squared"),
        answers("homotopy"),
    ),
    "RankSVMProblem, subgradient": (
        lambda b: svm(b, kernel="linear"),
        answers("subgradient", tol=0.5),
    ),
    "RankRLSProblem": (lambda b: rb.RankRLSProblem(b["X"], b["y"], b["qid"]), answers("rls")),
    "RankRLSProblem, linear": (
        lambda b: rb.RankRLSProblem(b["X"], b["y"], b["qid"], kernel="linear"),
        answers("rls"),
    ),
    "RankRLSProblem, l1": (
        lambda b: rb.RankRLSProblem(b["X"], b["y"], b["qid"], kernel="linear", penalty="l1"),
        answers("homotopy"),
    ),
    "RankRLSProblem, item weights": (
        lambda b: rb.RankRLSProblem(b["X"], b["y"], b["qid"], item_weight=b["weight"]),
        answers("rls"),
    ),
    "RankRLSProblem, weighted identity": (
        lambda b: rb.RankRLSProblem(b["X"], b["y"], graph="identity", item_weight=b["weight"]),
        answers("rls"),
    ),
    "RankRLSProblem, basis": (with_basis, answers("sparse-rls")),
    "RankRLSProblem, graph": (weighted_graph, answers("rls")),
    "RankRLSProblem, identity": (
        lambda b: rb.RankRLSProblem(b["X"], b["y"], graph="identity"),
        answers("rls"),
    ),
    "RankRLSProblem, preferences": (
        lambda b: rb.RankRLSProblem(b["X"], graph=pairs(b)),
        answers("rls"),
    ),
    "LabelRankRLSProblem": (
        lambda b: LabelRankRLSProblem(
            b["X"], b["table"], label_kernel=b["labels_alike"], object_weight=b["weight"]
        ),
        labels_by("kronecker"),
    ),
    "LabelRankRLSProblem, precomputed": (
        lambda b: LabelRankRLSProblem(gram_of(b), b["table"], kernel="precomputed"),
        labels_by("kronecker"),
    ),
    "LabelRankSVMProblem": (
        lambda b: LabelRankSVMProblem(
            b["X"], b["table"], kernel="linear", label_kernel=b["labels_alike"]
        ),
        labels_by("qp"),
    ),
    "RayleighProblem": (
        lambda b: rb.RayleighProblem(b["X"], b["labels"], n_components=4),
        answers("rayleigh"),
    ),
    "RayleighProblem, linear": (
        lambda b: rb.RayleighProblem(
            b["X"], b["labels"], b["new"].copy(), n_components=None, kernel="linear"
        ),
        answers("rayleigh"),
    ),
    "SVMProblem": (
        lambda b: rb.SVMProblem(b["X"], b["labels"], weight=b["weight"], margin=b["weight"]),
        answers("qp"),
    ),
    "MulticlassSVMProblem": (
        lambda b: MulticlassSVMProblem(b["X"], b["qid"], weight=b["weight"]),
        answers("qp"),
    ),
    "NystroemMap": (
        lambda b: NystroemMap(b["X"], 5),
        lambda s, new: [s.features, s.transform(new), s.landmarks],
    ),
    "NystroemMap, precomputed": (
        lambda b: NystroemMap(gram_of(b), 5, kernel="precomputed"),
        lambda s, new: [s.features, s.transform(new)],
    ),
    "NystroemMap, pca": (
        lambda b: NystroemMap(b["X"], 5, pivots="pca"),
        lambda s, new: [s.features, s.transform(new), s.landmarks],
    ),
    "RankingStatistics": (
        lambda b: rb.RankingStatistics().add(*(b[k] for k in Y)),
        lambda s, new: [s.products],
    ),
    "RankingStatistics, basis": (
        lambda b: rb.RankingStatistics(b["new"], kernel="rbf").add(*(b[k] for k in Y)),
        lambda s, new: [s.products, s.basis],
    ),
    "merge_statistics": (
        lambda b: merge_statistics(rb.RankingStatistics().add(*(b[k] for k in Y))),
        lambda s, new: [s.products],
    ),
    "Block, Blocks": (
        lambda b: rb.Blocks([rb.Block(*(b[k] for k in Y))]),
        lambda s, new: [s.items.values[0].X, s.items.values[0].y, s.items.values[0].qid],
    ),
    "BlockRankSVMProblem": (
        lambda b: rb.BlockRankSVMProblem(rb.Blocks([rb.Block(*(b[k] for k in Y))])),
        lambda s, new: [rb.solve(s, 1.0).predict(new)],
    ),
    "RegularizationPath": (lambda b: rb.solve_path(svm(b)), along),
    "RegularizationPath, linear": (lambda b: rb.solve_path(svm(b, kernel="linear")), along),
    "SolutionPath, epsilon": (
        lambda b: rb.solve_path(svm(b, kernel="linear"), solver="epsilon", eps=0.1),
        along,
    ),
    "SolutionPath, newton": (
        lambda b: rb.solve_path(svm(b, kernel="linear"), solver="newton", eps=0.1),
        along,
    ),
    "SolutionPath, simplex": (
        lambda b: rb.solve_path(svm(b, kernel="linear", penalty="l1"), solver="simplex"),
        along,
    ),
    "SolutionPath, homotopy": (
        lambda b: rb.solve_path(
            svm(b, kernel="linear", penalty="l1", loss="squared"), solver="homotopy"
        ),
        along,
    ),
    "SolutionPath, rls": (
        lambda b: rb.solve_path(rb.RankRLSProblem(b["X"], b["y"]), solver="rls"),
        along,
    ),
    "SolutionPath, weights": (
        lambda b: rb.solve_path(rb.RankRLSProblem(b["X"], b["y"], kernel="linear"), solver="rls"),
        along,
    ),
    "RankSVM": (fitted(rb.RankSVM(), *Y, sample_weight="weight"), predicts),
    "RankSVM, linear path": (fitted(rb.RankSVM(kernel="linear"), *Y), predicts),
    "RankSVM, linear newton": (fitted(rb.RankSVM(kernel="linear", solver="newton"), *Y), predicts),
    "RankSVM, linear qp": (fitted(rb.RankSVM(kernel="linear", solver="qp"), *Y), predicts),
    "RankSVM, squared": (fitted(rb.RankSVM(kernel="linear", loss="squared"), *Y), predicts),
    "RankSVM, l1": (fitted(rb.RankSVM(kernel="linear", penalty="l1"), *Y), predicts),
    "RankSVM, approximate": (fitted(rb.RankSVM(approximate_kernel=5), *Y), predicts),
    "RankSVMCV": (fitted(rb.RankSVMCV(cv=3, random_state=0), "X", "y"), predicts),
    "RankSVMCV, linear": (
        fitted(rb.RankSVMCV(kernel="linear", cv=3, random_state=0), "X", "y"),
        predicts,
    ),
    "RankRLS": (fitted(rb.RankRLS(), *Y, sample_weight="weight"), predicts),
    "RankRLS, linear": (fitted(rb.RankRLS(kernel="linear"), *Y), predicts),
    "RankRLS, basis": (fitted(rb.RankRLS(basis=4, random_state=0), *Y), predicts),
    "RankRLS, stream": (stream, predicts),
    "RankRLSCV": (fitted(rb.RankRLSCV(cv=3, random_state=0), "X", "y"), predicts),
    "RankRLSCV, linear": (
        fitted(rb.RankRLSCV(kernel="linear", cv=3, random_state=0), "X", "y"),
        predicts,
    ),
    "LabelRanker": (fitted(rb.LabelRanker(), "X", "table", sample_weight="weight"), predicts),
    "LabelRanker, linear": (
        lambda b: rb.LabelRanker(kernel="linear", label_kernel=b["labels_alike"]).fit(
            b["X"], b["table"]
        ),
        predicts,
    ),
    "read_ratings, Ratings": (
        lambda b: rb.read_ratings(
            dict(user=b["qid"], item=np.arange(N), rating=b["y"]),
            pd.DataFrame(b["X"][:3], copy=False),
            pd.DataFrame(b["X"], copy=False),
        ),
        lambda found, new: [found.X.to_numpy(), found.y.toarray(), found.labels.to_numpy()],
    ),
    "LabelRankerCV": (
        lambda b: rb.LabelRankerCV([0.1, 1.0], "pairs", label_kernel=b["labels_alike"]).fit(
            b["X"], b["table"]
        ),
        predicts,
    ),
    "OrdinalRanker": (fitted(rb.OrdinalRanker(), "X", "labels"), predicts),
    "RayleighRanker": (fitted(rb.RayleighRanker(n_components=4), "X", "labels"), predicts),
    "RayleighRanker, linear": (
        fitted(rb.RayleighRanker(n_components=None, kernel="linear"), "X", "labels"),
        predicts,
    ),
    "RayleighRankerCV": (
        fitted(rb.RayleighRankerCV(n_components=4, cv=2, random_state=0), "X", "labels"),
        predicts,
    ),
    "OnlineRankSVM": (fitted(rb.OnlineRankSVM(random_state=0), *Y), predicts),
    "OnlineSVC": (fitted(rb.OnlineSVC(random_state=0), "X", "labels"), predicts),
    "plots.LambdaSlider": (
        lambda b: rb.plots.LambdaSlider(rb.solve_path(svm(b), lam_min=0.1), items=b["new"]),
        lambda slider, new: [slider.at([1.0, 2.0]), slider.proven, slider._repr_html_()],
    ),
    "ValidationCurve": (
        lambda b: rb.validation_curve(
            rb.solve_path(svm(b)), b["new"], rb.Preferences.from_scores(b["y"][:5])
        ),
        lambda c, new: [c.breaks, c.values],
    ),
    "kernel_path": (
        lambda b: rb.kernel_path(
            rb.RankSVMProblem(b["X"], rb.Preferences.from_scores(b["y"])), 1.0, [0.1, 1.0]
        ),
        lambda path, new: [path.gammas, *(answer.predict(new) for answer in path.solutions)],
    ),
    "metrics.scorer": (
        lambda b: rb.metrics.scorer("ndcg@2", queries=pd.Series(b["qid"], copy=False)),
        lambda made, new: [
            [made(PLAIN, np.arange(2.0 * N).reshape(N, 2), pd.Series(np.arange(N) % 4))]
        ],
    ),
    "calibrate": (
        lambda b: rb.calibrate(b["y"], b["weight"], b["qid"], method="isotonic"),
        lambda link, new: [link.probability(new[:, 0])],
    ),
    "explain_pair": (
        lambda b: rb.explain_pair(
            rb.RankSVM(kernel="linear").fit(b["X"], b["y"]), b["new"][0], b["new"][1]
        ),
        lambda found, new: [found.contributions, [found.difference, found.bound]],
    ),
    "ScaledModel": (
        lambda b: ScaledModel(
            rb.RankSVM(kernel="linear").fit(b["X"], b["y"]), b["weight"][:D], b["table"][0] + 1.0
        ),
        lambda model, new: [model.predict(new), model.centre, model.factor],
    ),
    "extend_items": (
        lambda b: rb.extend_items(b["X"], sided(b)),
        lambda found, new: [found[0], found[1].better],
    ),
    "Orders.from_rankings": (
        lambda b: rb.Orders.from_rankings(ranked(b), n_items=N, weight=b["weight"][:3]),
        lambda orders, new: places(orders),
    ),
    "Orders.from_survival": (
        lambda b: rb.Orders.from_survival(b["y"], b["labels"], b["qid"], b["weight"]),
        lambda orders, new: [*places(orders), orders.survival["time"], orders.survival["event"]],
    ),
    "Orders in a problem": (
        lambda b: rb.RankSVMProblem(
            b["X"], rb.Orders.from_rankings(ranked(b), n_items=N), loss="plackett-luce"
        ),
        answers("newton"),
    ),
    "BaselineHazard": (
        lambda b: rb.BaselineHazard(rb.Orders.from_survival(b["y"], b["labels"]), b["weight"]),
        lambda hazard, new: [hazard.times, hazard.survival(new[:, 0])],
    ),
    "RankSVM by a PairLoss": (fitted(rb.RankSVM(loss=Logcosh()), *Y), predicts),
    "coefficient_table": (
        lambda b: rb.coefficient_table(
            rb.RankSVM(kernel="linear", loss="plackett-luce").fit(b["X"], b["y"])
        ),
        lambda found, new: [found["coef"].to_numpy(), found["se"].to_numpy()],
    ),
    "order_intervals, OrderIntervals": (
        lambda b: rb.order_intervals(
            rb.RankSVM(kernel="linear", loss="logistic").fit(b["X"], b["y"]), b["new"]
        ),
        lambda found, new: [found.score, found.low, found.rank, found.decided],
    ),
    "Leaderboard": (
        lambda b: rb.Leaderboard(method="bootstrap", n_draws=100).fit(
            rb.Preferences(np.arange(N), (np.arange(N) + 1) % N, N, b["weight"])
        ),
        lambda board, new: [board.score_, board.top(2).to_numpy()],
    ),
    "match_prior": (
        lambda b: rb.match_prior(
            rb.RankSVM(kernel="linear", loss="logistic"), b["X"], rb.Preferences.from_scores(b["y"])
        ),
        predicts,
    ),
    "choose_basis": (
        lambda b: choose_basis(b["X"], 4, random_state=0),
        lambda basis, new: [basis],
    ),
}
KEEPS_NOTHING = {
    "Report",
    "report",
    "testing",
    "disagreement",
    "auc",
    "auc_bound",
    "validation_curve",
    "solve",
    "solve_path",
    "Solver",
    "list_solvers",
    "register_solver",
    "unregister_solver",
    "get_solver",
    "load",
    "dask_blocks",  # what it sends stays with the workers: tests/data/test_dask_blocks.py
    "read_blocks",
    "read_preferences",
    "read_orders",
    "read_table",
    "choose_lambda",
    "click_propensities",
    "suggest_pairs",
    "to_json",
    "to_onnx",
    "compare_solvers",
    "Assumption",
    "Certificate",
    "Comparison",
    "Solution",
    "kernels",
    "metrics",
    "datasets",
    "plots",
}


def test_every_public_name_is_among_the_cases():
    covered = {word for name in CASES for word in name.replace(",", "").replace(".", " ").split()}
    missing = {name for name in rb.__all__ if name not in covered and name not in KEEPS_NOTHING}
    assert not missing, f"no case for {sorted(missing)}"


@pytest.mark.parametrize("name", CASES)
def test_overwriting_what_was_passed_in_changes_nothing(name):
    make, ask = CASES[name]
    data, same = buffers(), buffers()
    thing, other = make(data), make(same)
    new = same["new"].copy()
    before = ask(other, new)  # from arrays that are not touched
    scramble(data)
    after = ask(thing, new)
    assert len(before) == len(after)
    for a, b in zip(before, after):
        assert np.array_equal(a, b), name


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_what_a_problem_shows_cannot_be_written_to(kernel):
    b = buffers()
    problem = rb.RankSVMProblem(
        gram_of(b) if kernel == "precomputed" else b["X"],
        rb.Preferences.from_scores(b["y"]),
        kernel=kernel,
    )
    shown = [
        problem.X,
        problem.gram,
        problem.diagonal,
        problem.prefs.better,
        problem.prefs.worse,
        problem.prefs.weight,
        problem.prefs.margin,
    ]
    solution = rb.solve(problem, 1.0, solver="path")
    path = rb.solve_path(problem)
    for array in (*shown, solution.coef, solution.dual, path.breakpoints):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


class Meddler(rb.Solver):
    """A solver that tries to make the question easier."""

    name = "meddler"
    tries = []

    def solve(self, problem, lam):
        for attempt in (
            "problem.X /= 2",
            "problem.X[0] = 0",
            "problem.X = problem.X / 2",
            "problem.prefs.weight[:] = 0",
            "problem.prefs = None",
            "problem.lam = 3",
            "problem.gram[:] = 0",
            "problem.kernel.gamma = 9.0",
            "problem.prefs.margin[:] = 1e-9",
            "problem.prefs.n_items = 1",
            "problem.loss = 'squared'",
            "problem.n_preferences = 0",
            "problem.certificate = None",
            "problem.gram = 0",
            "del problem.X",
            "problem.prefs.rmatvec = None",
            "problem.diagonal[:] = 1",
        ):
            try:
                exec(attempt)
            except (ValueError, AttributeError):
                self.tries.append(attempt)
        return rb.solve(problem, lam, solver="path")


def test_a_plugin_cannot_change_the_question():
    X, y = RNG.normal(size=(12, 2)), np.arange(12.0)
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), gamma=1.0)
    expected = rb.solve(problem, 1.0, solver="path").certificate
    kept = X.copy()
    answer = rb.solve(problem, 1.0, solver=Meddler())
    assert answer.certificate == expected and np.array_equal(X, kept)
    assert (
        len(Meddler.tries) == 16 and "problem.lam = 3" not in Meddler.tries
    )  # a new name on the problem is allowed


def test_borrowed_items_are_what_they_are_called():
    X = np.ascontiguousarray(RNG.normal(size=(30, 2)))
    problem = rb.RankSVMProblem(
        X, rb.Preferences.from_scores(np.arange(30)), kernel="linear", copy=False
    )
    assert np.shares_memory(problem.X, X) and X.flags.writeable
    own = rb.RankSVMProblem(X, rb.Preferences.from_scores(np.arange(30)), kernel="linear")
    assert not np.shares_memory(own.X, X) and np.allclose(own.X + own.offset, X)
    assert rb.solve(problem, 1.0, solver="newton").certificate.primal == pytest.approx(
        rb.solve(own, 1.0, solver="newton").certificate.primal, rel=1e-6
    )


@pytest.mark.parametrize("storage", ["float64", "float32", "csr", "mapped"])
def test_borrowed_items_cannot_be_overwritten_by_a_stranger(storage, tmp_path):
    A, X = RNG.normal(size=(30, 2)), None
    if storage == "csr":
        X = csr_array(A)
    elif storage == "mapped":
        np.save(tmp_path / "items.npy", A)
        X = np.load(tmp_path / "items.npy", mmap_mode="r+")
    else:
        X = A.astype(storage)
    prefs = rb.Preferences.from_scores(np.arange(30) // 10)
    problem = rb.RankSVMProblem(X, prefs, kernel="linear", copy=False, loss="squared")
    mine, theirs = (x.data if storage == "csr" else x for x in (X, problem.X))
    assert np.shares_memory(mine, theirs) and mine.flags.writeable

    class Meddling(rb.Solver):
        name, losses = "meddling", frozenset({"squared"})
        storages = frozenset({"float64", "float32", "csr"})

        def can_solve(self, problem):
            (problem.X.data if storage == "csr" else problem.X)[:] = 0
            return True

        cost = lambda self, problem, lam: 0.0 * self.can_solve(problem)

        def solve(self, problem, lam):
            raise AssertionError("it was asked first")

    with pytest.raises(ValueError, match="read-only"):
        rb.solve(problem, 1.0, solver=Meddling)
    rb.register_solver(Meddling)
    try:
        (row,) = (
            r for r in rb.compare_solvers(problem, allow_plugins=True) if r.solver == "meddling"
        )
    finally:
        rb.unregister_solver("meddling")
    assert "read-only" in row.obstacle
    assert np.array_equal(X.toarray() if storage == "csr" else X, A.astype(X.dtype))
    one, two = (
        rb.solve(p, 1.0, solver="newton").certificate.primal
        for p in (problem, rb.RankSVMProblem(A, prefs, kernel="linear", loss="squared"))
    )
    assert one == pytest.approx(two, rel=1e-5)


# A fitted model is its function

LINEAR = [
    rb.RankSVM(kernel="linear"),
    rb.RankSVM(kernel="linear", solver="newton"),
    rb.RankSVM(kernel="linear", solver="qp"),
    rb.RankSVM(kernel="linear", loss="squared"),
    rb.RankSVM(kernel="linear", penalty="l1"),
    rb.RankSVM(kernel="linear", solver="subgradient"),
    rb.RankRLS(kernel="linear"),
    rb.RankSVMCV(kernel="linear", cv=2),
    rb.RankRLSCV(kernel="linear", cv=2),
]


@pytest.mark.filterwarnings("ignore:the solver 'subgradient")
@pytest.mark.parametrize("model", LINEAR, ids=lambda model: repr(model).replace("\n", ""))
def test_a_linear_model_is_its_weights(model):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 6))
    y, qid = np.round(X @ rng.normal(size=6) + rng.normal(size=120)), np.arange(120) % 6
    model.fit(X, y, qid=qid)
    new = rng.normal(size=(9, 6))
    assert np.array_equal(model.predict(new), new @ model.coef_) and np.array_equal(
        model.predict(np.eye(6)), model.coef_
    )
    stored, curves = (
        pickle.dumps(model),
        pickle.dumps([getattr(model, name, None) for name in ("curve_", "fold_curves_")]),
    )
    assert len(stored) - len(curves) < 5_000 and np.array_equal(
        pickle.loads(stored).predict(new), model.predict(new)
    )


def test_a_linear_model_of_many_items_is_small_and_quick():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20_000, 46))
    y = np.round(X[:, 0] + rng.normal(size=20_000))
    model = rb.RankSVM(kernel="linear", lam=1e4).fit(X, y, qid=np.arange(20_000) // 10)
    assert model.solver_.startswith("newton") and len(pickle.dumps(model)) < 20_000
    row = X[:1]

    def seconds(call):
        start = time.perf_counter()
        for _ in range(20):
            call()
        return time.perf_counter() - start

    model.predict(row)
    assert (
        min(seconds(lambda: model.function_.predict(row)) for _ in range(5)) / 20 < 1e-3
    )  # it took 16 ms when it went through the items


def test_a_kernel_model_keeps_the_items_with_coefficients():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    prefs_y = np.r_[np.zeros(5), np.ones(5), np.zeros(50)]
    qid = np.r_[np.zeros(10), np.ones(50)]  # the second query has one level and teaches nothing
    model = rb.RankSVM(lam=0.1).fit(X, prefs_y, qid=qid)
    assert model.support_.max() < 10 and model.function_.items.shape == (model.support_.size, 2)
    new = rng.normal(size=(4, 2))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(new), model.predict(new)) and not hasattr(
        again, "solution_"
    )
    K = np.exp(-((new[:, None] - X[model.support_]) ** 2).sum(-1) / 2)
    assert np.allclose(model.predict(new), K @ model.dual_coef_)


def test_an_answer_by_weights_and_by_coefficients_is_one():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(20, 3)) * [1e3, 1, 1e-1] + [1e6, 0, 5]
    problem = rb.RankSVMProblem(
        X, rb.Preferences.from_scores(rng.integers(0, 3, 20)), kernel="linear"
    )
    w = rng.normal(size=3) / [1e3, 1, 1e-1]
    by_weights = Solution(problem, 1.0, weights=w)
    by_coef = Solution(problem, 1.0, coef=by_weights.coef)
    assert np.allclose(
        by_coef.weights, w, rtol=1e-6
    ) and by_coef.certificate.primal == pytest.approx(by_weights.certificate.primal, rel=1e-9)
    with pytest.raises(ValueError, match=r"weights has shape \(2,\)"):
        Solution(problem, 1.0, weights=w[:2])
