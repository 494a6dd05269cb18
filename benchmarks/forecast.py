"""Do calls take as long as they say? The predictions of 100 calls, beside their seconds.

    python -m benchmarks forecast
    OPENBLAS_CORETYPE=Haswell python -m benchmarks forecast          another kind of processor

A call that is predicted to need over a minute says so before it begins. Here a hundredth of a
second is as long, so every call says what it expects. All are run with 1 / SMALL of the items
before, so that nothing is compiled meanwhile, and take seconds, so that the table takes minutes:
what grows with a power of the size is predicted as well for large calls as for these.
"""

import re
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from time import process_time
from typing import ClassVar

import numpy as np
from scipy.sparse import eye_array

import rankbook as rb
from rankbook.base import limits
from rankbook.estimators import order_intervals
from rankbook.registry import choice as predictions

from .choice import LOSSES, items, made, small, takes
from .common import graded, half_labelled, linear_graded

SMALL = 10  # how many times fewer items the call before has
FAR = 3.0  # a prediction is near within this factor


@dataclass(frozen=True)
class Forecast:
    """A call, its prediction, and its seconds.

    Attributes
    ----------
    what, said : str
        The call, and what it says it needs the time for.
    predicted, seconds : float
        Seconds of the processor.
    ratio : float
        Of the prediction to what it took.
    """

    REMARK: ClassVar[str] = "Seconds are those of the processor."

    what: str
    said: str = ""
    predicted: float | None = None
    seconds: float | None = None
    ratio: float | None = None


class Softplus:
    """The logistic loss as a loss of one's own, which is visited pair by pair."""

    name = "softplus"

    def value(self, t):
        return np.logaddexp(0, t)

    def derivative(self, t):
        return 1 / (1 + np.exp(-t))

    def conjugate(self, a):
        a = np.clip(a, 1e-300, 1 - 1e-16)
        return a * np.log(a) + (1 - a) * np.log1p(-a)


@contextmanager
def no_minute():
    """Context in which every call says how many seconds it is predicted to need."""
    modules = limits, predictions, order_intervals
    before = [
        (module, name, getattr(module, name))
        for module in modules
        for name in ("MINUTE", "CUBES", "duration")
        if hasattr(module, name)
    ]
    now = dict(MINUTE=0.01, CUBES=0.0, duration=str)
    try:
        for module, name, _ in before:
            setattr(module, name, now[name])
        yield
    finally:
        for each in before:
            setattr(*each)


def timed(what, call):
    """The row of a call."""
    with no_minute(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = process_time()
        call()
        seconds = process_time() - start
    said = [str(one.message) for one in caught if " is predicted to need " in str(one.message)]
    if not said:
        return Forecast(what, seconds=seconds)
    needs = [one.split(" is predicted to need ")[1] for one in said]
    predicted = sum(float(re.match(r"[\d.e+-]*\d", need)[0]) for need in needs)
    return Forecast(what, said[0].split(" is ")[0], predicted, seconds, predicted / seconds)


def at(case, solver, share=1e-4):
    """A solution at a share of lam_max."""
    problem = made(case, *items(case))
    lam = share * float(problem.penalty.lam_max(problem))
    return lambda: rb.solve(problem, lam, solver)


def path(case, solver, share=None):
    """A path, down to a share of lam_max."""
    problem = made(case, *items(case))
    lam = share and share * float(problem.penalty.lam_max(problem))
    return lambda: rb.solve_path(problem, lam, solver)


def of_items(case, penalty="l2", **options):
    """The problem of a case with another loss or penalty, as the third is made."""
    problem = made(case, *items(case))
    return rb.RankSVMProblem(problem.X, problem.prefs, penalty=penalty, **options)


def size_of(share):
    """A number of items, or 1 / share of them."""
    return lambda n: max(40, n // share)


def of_ranksvm(n):
    """Ranking SVMs with the hinge and the squared hinge: solutions, and paths."""
    rows = "linear", "hinge", "dense"
    squares = "linear", "squared", "dense"
    for d, query in ((20, 100), (100, 20), (50, 1000)):
        case = *rows, n(50_000), d, query, "full", "one"
        yield f"newton, {d} features, queries of {query}", at(case, "newton")
        yield f"newton, {d} features, queries of {query}, lam_max/1e6", at(case, "newton", 1e-6)
    case = *squares, n(100_000), 50, 100, "full", "one"
    yield "newton, squared hinge", at(case, "newton")
    yield (
        "newton, squared hinge, path",
        path((*squares, n(10_000), 20, 100, "full", "one"), "newton"),
    )
    case = *rows, n(100_000), 20, n(100_000), "full", "one"
    yield "newton, one query of five grades", at(case, "newton")
    X = np.random.default_rng(0).normal(size=(n(100_000), 20))
    y = X[:, 0] + np.random.default_rng(1).normal(size=len(X))
    for loss in ("hinge", "squared"):
        problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), kernel="linear", loss=loss)
        for share in (1e-2, 1e-4):
            lam = share * problem.hinge_lam_max
            yield (
                f"newton, {loss}, one query without ties, lam_max * {share}",
                lambda problem=problem, lam=lam: rb.solve(problem, lam, "newton"),
            )
    for margin in ("listed", "noisy", "exact"):
        case = *rows, n(1500), 20, n(1500), "full", margin
        yield f"newton, {margin} preferences", at(case, "newton")
    for n_sparse, d in ((50_000, 1000), (1000, 20_000)):
        case = "linear", "hinge", "csr", n(n_sparse), d, 20, "full", "one"
        yield f"newton, sparse, {d} features", at(case, "newton")
        yield (
            f"newton, squared hinge, sparse, {d} features",
            at(("linear", "squared", *case[2:]), "newton"),
        )
        yield f"coordinate, sparse, {d} features", at(case, "coordinate", 1e-2)
    for d, query in ((20, 20), (200, 100)):
        case = *rows, n(10_000), d, query, "full", "one"
        yield f"coordinate, {d} features, queries of {query}", at(case, "coordinate", 1e-2)
        yield f"interior, linear, {d} features, queries of {query}", at(case, "interior")
    case = *rows, n(2000), 10, n(2000), "full", "one"
    yield "interior, linear, one query", at(case, "interior")
    case = *rows, n(1500), 1000, 20, "full", "one"
    yield "interior, linear, as many features as items", at(case, "interior")
    case = *rows, n(1500), 20, 50, "full", "one"
    yield "path, linear, to lam_max/1e4", at(case, "path")
    yield "whole path, linear", path((*rows, n(1000), 10, 20, "full", "one"), "path")
    yield "whole path, linear, one query", path((*rows, n(400), 10, n(400), "full", "one"), "path")
    yield "epsilon, linear", path((*rows, n(2000), 20, 20, "full", "one"), "epsilon")


def of_kernels(n):
    """The same with kernels."""
    for loss in ("hinge", "squared"):
        kernel = "rbf", loss, "dense"
        for items_, query in ((1000, 20), (1400, 200), (2500, 20)):
            case = *kernel, n(items_), 10, query, "full", "one"
            yield f"interior, {loss}, {items_} items, queries of {query}", at(case, "interior")
        for items_, query in ((3000, 20), (4000, 200), (6000, 20)):
            case = *kernel, n(items_), 10, query, "full", "one"
            for share in (1e-2, 1e-4):
                yield (
                    f"ascent, {loss}, {items_} items, queries of {query}, lam_max * {share}",
                    at(case, "ascent", share),
                )
        for share in (1e-1, 1e-2, 1e-3):
            case = *kernel, n(4000), 5, 20, "full", "one"
            yield f"tiled, {loss}, 4000 items, lam_max * {share}", at(case, "tiled", share)
    case = "rbf", "squared", "dense", n(2000), 10, 20, "full", "one"
    yield "newton, squared hinge, rbf", at(case, "newton")
    yield (
        "newton, squared hinge, rbf, path",
        path(("rbf", "squared", "dense", n(1000), 10, 20, "full", "one"), "newton", 1e-3),
    )
    case = "rbf", "hinge", "dense", n(1000), 10, 20, "full", "one"
    yield "path, rbf, to lam_max/1e3", at(case, "path", 1e-3)
    yield "whole path, rbf", path((*case[:3], n(600), 10, 20, "full", "one"), "path")
    yield "whole path, rbf, one query", path((*case[:3], n(200), 10, n(200), "full", "one"), "path")
    yield "epsilon, rbf", path(case, "epsilon")
    yield "epsilon, rbf, to lam_max/1e3", path((*case[:3], n(4000), *case[4:]), "epsilon", 1e-3)
    case = *case[:3], n(1000), 10, 5, "full", "one"
    yield "qp, rbf", at(case, "qp")
    yield "qp, linear", at(("linear", *case[1:3], n(2000), 10, 5, "full", "one"), "qp")


def of_other_losses(n):
    """Smooth losses, the L1 penalty."""
    linear = dict(kernel="linear")
    for loss in ("logistic", "plackett-luce"):
        for count, d, query in ((100_000, 20, 100), (20_000, 100, 20), (60_000, 10, 60_000)):
            X, y, qid = linear_graded(n(count), d, min(query, n(count)))
            prefs = rb.Preferences.from_scores(y + 0.0, qid)
            problem = rb.RankSVMProblem(X, prefs, loss=loss, **linear)
            yield (
                f"{loss}, {d} features, queries of {query}",
                lambda problem=problem: rb.solve(problem, 1.0),
            )
        X = np.random.default_rng(0).normal(size=(n(100_000), 10))
        y = X[:, 0] + np.random.default_rng(1).normal(size=len(X))
        problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), loss=loss, **linear)
        yield f"{loss}, one query without ties", lambda problem=problem: rb.solve(problem, 1.0)
        for count in (1000, 1900, 3000, 5000):
            X, y, qid = graded(n(count), 10, 20)
            problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid), loss=loss)
            yield f"{loss}, rbf, {count} items", lambda problem=problem: rb.solve(problem, 1.0)
        X, y, qid = linear_graded(n(4000), 20, 20)
        prefs = rb.Preferences.from_scores(y, qid)
        problem = rb.RankSVMProblem(X, prefs, loss=loss, **linear)
        yield f"{loss}, path", lambda problem=problem: rb.solve_path(problem, 1e-2)
    X, y, qid = linear_graded(n(20_000), 20, 100)
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid), loss=Softplus(), **linear)
    yield "own loss", lambda problem=problem: rb.solve(problem, 1.0)
    for count, d, query in ((1000, 10, 20), (300, 20, 300)):
        X, y, qid = linear_graded(n(count), d, min(query, n(count)))
        prefs = rb.Preferences.from_scores(y, qid)
        one = rb.RankSVMProblem(X, prefs, penalty="l1", **linear)
        squares = rb.RankSVMProblem(X, prefs, penalty="l1", loss="squared", **linear)
        what = f"{d} features, queries of {query}"
        yield f"simplex, {what}", lambda one=one: rb.solve(one, 0.01 * one.lam_max)
        yield f"simplex, {what}, path", lambda one=one: rb.solve_path(one)
        yield f"homotopy, {what}", lambda one=squares: rb.solve(one, 0.01 * one.lam_max)
        yield f"homotopy, {what}, path", lambda one=squares: rb.solve_path(one)
        squares = rb.RankRLSProblem(X, y + 0.0, qid, penalty="l1", **linear)
        yield f"homotopy, RankRLS, {what}", lambda one=squares: rb.solve_path(one)


def of_estimators(n):
    """What users call."""
    X, y, qid = linear_graded(n(100_000), 20, 100)
    yield "RankSVM, linear", lambda: rb.RankSVM(kernel="linear", lam=1.0).fit(X, y, qid=qid)
    Z, z, groups = graded(n(3000), 10, 20)
    few = slice(0, n(1000))
    yield "RankSVM, rbf, 1000 items", lambda: rb.RankSVM(lam=1.0).fit(Z[few], z[few], groups[few])
    yield "RankSVM, rbf", lambda: rb.RankSVM(lam=100.0).fit(Z, z, groups)
    many = graded(n(6000), 10, 20)
    yield "RankSVM, rbf, 6000 items", lambda: rb.RankSVM(lam=100.0, solver="ascent").fit(*many)
    yield (
        "RankSVMCV, linear",
        lambda: rb.RankSVMCV(kernel="linear", cv=3).fit(
            X[: n(600), :5], y[: n(600)], qid[: n(600)]
        ),
    )
    c = max(100, n(400))
    yield "RankSVMCV, rbf", lambda: rb.RankSVMCV(cv=3).fit(Z[:c], z[:c], groups[:c])
    for count in (1000, 2000, 3000):
        G, g, _ = graded(n(count))
        yield f"RankRLS, {count} items", lambda G=G, g=g: rb.RankRLS(lam=1.0).fit(G, g)
    R, r, _ = graded(n(1500))
    yield "RankRLSCV", lambda: rb.RankRLSCV().fit(R, r)
    yield (
        "RankRLS, linear",
        lambda: rb.RankRLS(kernel="linear", lam=1.0).fit(
            np.resize(X, (n(20_000), 300)) * np.arange(1, 301), y[: n(20_000)]
        ),
    )
    for method in ("random", "kmeans++", "rpcholesky"):
        yield (
            f"RankRLS, basis, {method}",
            lambda method=method: rb.RankRLS(basis=n(1000), basis_method=method, lam=1.0).fit(
                X[: n(20_000)], y[: n(20_000)]
            ),
        )
    yield "RankRLSCV, basis", lambda: rb.RankRLSCV(basis=n(500)).fit(X[: n(10_000)], y[: n(10_000)])
    L = Z[: n(1000)]
    yield "LabelRanker", lambda: rb.LabelRanker(lam=1.0).fit(L, L[:, :6])
    yield "LabelRankerCV", lambda: rb.LabelRankerCV(cv=3).fit(L, L[:, :6])
    half = half_labelled(R)
    yield "RayleighRanker, whole kernel", lambda: rb.RayleighRanker(n_components=None).fit(R, half)
    yield (
        "RayleighRanker, neighbours",
        lambda: rb.RayleighRanker().fit(X[: n(20_000)], half_labelled(X[: n(20_000)])),
    )
    p = n(600)
    home = np.random.default_rng(0).integers(0, p, 10 * p)
    season = rb.Preferences(home, (home + 1 + np.arange(10 * p) % (p - 1)) % p, n_items=p)
    for method in ("laplace", "bootstrap"):
        yield (
            f"Leaderboard, {method}",
            lambda method=method: rb.Leaderboard(method=method, n_draws=200).fit(season),
        )
    teams = rb.RankSVM(kernel="linear", loss="logistic", lam=1.0).fit(
        np.random.default_rng(1).normal(size=(p, 5)), season
    )
    rows = np.random.default_rng(2).normal(size=(n(1500), 5))
    yield "order_intervals, laplace", lambda: rb.order_intervals(teams, rows, n_resamples=300)
    yield (
        "order_intervals, bootstrap",
        lambda: rb.order_intervals(
            teams, rows[:5], method="bootstrap", n_resamples=max(100, n(400))
        ),
    )
    match = rb.RankSVM(kernel="linear", loss="logistic")
    yield "match_prior, teams", lambda: rb.match_prior(match, eye_array(p).tocsr(), season)
    some = slice(0, n(10_000))
    noisy = X[some, 0] + np.random.default_rng(3).normal(size=n(10_000))
    yield "match_prior, scores", lambda: rb.match_prior(match, X[some], noisy)
    s, t = X[:, 0], X[:, 1]
    yield (
        "interval",
        lambda: rb.metrics.interval(y > 2, s, qid, metric="auc", n_resamples=n(20_000)),
    )
    yield (
        "compare",
        lambda: rb.metrics.compare(y > 2, s, t, qid, metric="auc", n_resamples=n(20_000)),
    )
    c = n(20_000)
    times = rb.Preferences.from_survival(np.arange(1.0, c + 1), event=np.ones(c, dtype=bool))
    yield (
        "dynamic_auc",
        lambda: rb.metrics.dynamic_auc(times, s[:c], np.linspace(1, c - 1, n(3000)), train=times),
    )


PARTS = of_ranksvm, of_kernels, of_other_losses, of_estimators


def rows(scale, peers):
    """All rows; the last one says how many predictions are near."""
    found = []
    for kernel in ("linear", "rbf"):
        for loss in LOSSES:
            for solver in takes(small(kernel, loss)()):
                rb.solve(small(kernel, loss)(), 1.0, solver)
    for part in PARTS:
        for (what, call), (_, before) in zip(part(size_of(1)), part(size_of(SMALL))):
            before()
            row = timed(what, before if scale == "tiny" else call)
            found.append(row)
            yield row
    ratios = np.array([row.ratio for row in found if row.ratio is not None])
    near = np.sum((ratios < FAR) & (ratios > 1 / FAR))
    yield Forecast(f"{near} of {len(found)} within a factor of {FAR:g}")
