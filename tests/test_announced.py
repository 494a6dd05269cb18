"""Calls that would take long or need much memory: each says so before it begins."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array

import rankbook as rb
from rankbook.base import limits
from rankbook.kernels.nystroem import NystroemMap
from rankbook.registry import choice

rng = np.random.default_rng(0)
N = 40_000
X, SCORES, GRADES = rng.normal(size=(N, 10)), rng.normal(size=N), np.arange(N) % 3
ROWS = X[:12_500]
CONTINUOUS, GRADED = (rb.Preferences.from_scores(y) for y in (SCORES, GRADES))
BINARY, QUERIES = np.arange(N) % 2, np.arange(N) // 4
LABELS = np.where(np.arange(12_500) % 9, np.nan, np.arange(12_500) % 2)
MANY = np.resize(LABELS, N)
HOME = rng.integers(0, 6000, 60_000)
SEASON = rb.Preferences(HOME, (HOME + rng.integers(1, 6000, 60_000)) % 6000, n_items=6000)
SOME = rb.Preferences.from_scores(GRADES[:12_500])
TIMES = rb.Preferences.from_survival(np.arange(1.0, N + 1), event=np.ones(N, dtype=bool))


class Softplus:
    """The logistic loss as a loss of one's own."""

    name = "softplus"

    def value(self, t):
        return np.logaddexp(0, t)

    def derivative(self, t):
        return 1 / (1 + np.exp(-t))

    def conjugate(self, a):
        a = np.clip(a, 1e-300, 1 - 1e-16)
        return a * np.log(a) + (1 - a) * np.log1p(-a)


def problem(prefs=CONTINUOUS, **options):
    return rb.RankSVMProblem(X[: prefs.n_items], prefs, **options)


def linear(**options):
    return rb.RankSVM(kernel="linear", **options)


def fitted(p, **options):
    """A model of p teams."""
    better = rng.integers(0, p, 9 * p)
    prefs = rb.Preferences(better, (better + rng.integers(1, p, 9 * p)) % p, n_items=p)
    return rb.RankSVM(lam=1.0, **options).fit(rng.normal(size=(p, 5)), prefs)


logistic = dict(kernel="linear", loss="logistic")
own = dict(kernel="linear", loss=Softplus())  # each preference is visited
LONG = {
    "own loss, lam": lambda: linear(loss=Softplus(), lam=1.0).fit(X, SCORES),
    "own loss, solve": lambda: rb.solve(problem(**own), 1.0),
    "own loss, newton": lambda: rb.solve(problem(**own), 1.0, solver="newton"),
    "own loss, path": lambda: rb.solve_path(problem(**own)),
    "own loss, sparse": lambda: linear(loss=Softplus()).fit(csr_array(X), SCORES),
    "own loss, signs": lambda: linear(loss=Softplus(), signs=np.ones(10)).fit(X, SCORES),
    "logistic, kernel": lambda: rb.RankSVM(loss="logistic", lam=1.0).fit(X, SCORES),
    "own loss, folds": lambda: rb.RankSVMCV(**own, cv=3).fit(ROWS, SCORES[:12_500]),
    "own loss": lambda: linear(loss=Softplus(), lam=1.0).fit(ROWS, SCORES[:12_500]),
    "plackett-luce, kernel": lambda: rb.RankSVM(loss="plackett-luce", lam=1.0).fit(X, SCORES),
    "path": lambda: rb.RankSVM(lam=1.0, solver="path").fit(ROWS, GRADES[:12_500]),
    "qp": lambda: rb.RankSVM(lam=1.0, solver="qp").fit(ROWS[:3000], GRADES[:3000]),
    "exact path": lambda: rb.solve_path(problem(SOME), solver="path"),
    "epsilon": lambda: rb.solve_path(problem(SOME), solver="epsilon"),
    "any path": lambda: rb.solve_path(problem(SOME)),
    "folds": lambda: rb.RankSVMCV(cv=3).fit(ROWS, GRADES[:12_500]),
    "rls": lambda: rb.RankRLS().fit(X, GRADES),
    "rls, folds": lambda: rb.RankRLSCV().fit(ROWS, GRADES[:12_500]),
    "labels": lambda: rb.LabelRanker().fit(ROWS, ROWS[:, :4]),
    "labels, folds": lambda: rb.LabelRankerCV().fit(ROWS, ROWS[:, :4]),
    "l1": lambda: linear(penalty="l1", lam=1.0).fit(X, GRADES),
    "l1, folds": lambda: rb.RankSVMCV(kernel="linear", penalty="l1", cv=3).fit(X, GRADES),
    "l1, path": lambda: rb.solve_path(problem(SOME, kernel="linear", penalty="l1")),
    "l1, squared": lambda: rb.solve(
        problem(SOME, kernel="linear", penalty="l1", loss="squared"), 1.0, solver="homotopy"
    ),
    "dynamic_auc": lambda: rb.metrics.dynamic_auc(
        TIMES, SCORES, np.linspace(1, N - 1, 200_000), train=TIMES
    ),
    "restricted mean": lambda: rb.BaselineHazard(TIMES, SCORES).restricted_mean(
        np.tile(SCORES, 4), N
    ),
    "intervals, draws": lambda: rb.order_intervals(
        fitted(60, **logistic), rng.normal(size=(2000, 5)), n_resamples=10_000
    ),
    "intervals, kernel": lambda: rb.order_intervals(
        fitted(60, loss="logistic"), rng.normal(size=(6000, 5)), n_resamples=100
    ),
    "intervals, bootstrap": lambda: rb.order_intervals(
        fitted(60, kernel="linear"), rng.normal(size=(5, 5)), n_resamples=1_000_000
    ),
    "intervals, quick bootstrap": lambda: rb.order_intervals(
        fitted(60, **logistic),
        rng.normal(size=(5, 5)),
        method="bootstrap",
        n_resamples=1_000_000,
    ),
    "rls, basis": lambda: rb.RankRLS(basis=6000).fit(X, SCORES),
    "rls, basis by pivots": lambda: rb.RankRLS(basis=6000, basis_method="rpcholesky").fit(
        ROWS, SCORES[:12_500]
    ),
    "rls, items as basis": lambda: rb.RankRLS(basis=ROWS[:6000]).fit(X, SCORES),
    "rls, basis, folds": lambda: rb.RankRLSCV(basis=6000).fit(X, SCORES),
    "rayleigh, whole kernel": lambda: rb.RayleighRanker(n_components=None).fit(ROWS, LABELS),
    "rayleigh, neighbours": lambda: rb.RayleighRanker().fit(np.tile(X, 20), MANY),
    "rayleigh, folds": lambda: rb.RayleighRankerCV(n_components=[5000]).fit(ROWS, LABELS),
    "rayleigh, problem": lambda: rb.RayleighProblem(ROWS, LABELS, n_components=5000),
    "match_prior, features": lambda: rb.match_prior(
        linear(loss="logistic"), csr_array(eye_array(6000)), SEASON
    ),
    "match_prior, items": lambda: rb.match_prior(linear(loss="logistic"), np.tile(X, 60), SCORES),
    "interval": lambda: rb.metrics.interval(
        BINARY, SCORES, QUERIES, metric="auc", n_resamples=10**6
    ),
    "compare": lambda: rb.metrics.compare(
        BINARY, SCORES, X[:, 0], QUERIES, metric="auc", n_resamples=10**6
    ),
    "leaderboard": lambda: rb.Leaderboard(method="bootstrap", intervals=["0"]).fit(SEASON),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_call_is_announced_with_a_faster_way(name, monkeypatch):
    """The warning is an error here, so that nothing begins."""
    monkeypatch.setattr(choice, "available_memory", lambda: 64 * 2**30)
    monkeypatch.setattr(limits, "available_memory", lambda: 64 * 2**30)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".* is predicted to need")
        with pytest.raises(UserWarning, match=r"predicted to need .*\. (Use|Pass) "):
            LONG[name]()
    assert not (CONTINUOUS.is_listed or GRADED.is_listed or SOME.is_listed)


ONCE = {
    "scale": lambda: linear(loss="logistic").fit(ROWS[:50], SCORES[:50]),
    "folds": lambda: rb.RankSVMCV(cv=3).fit(ROWS[:50], GRADES[:50]),
    "labels": lambda: rb.LabelRankerCV().fit(ROWS[:12], ROWS[:12, :4]),
    "intervals": lambda: rb.order_intervals(
        fitted(9, kernel="linear"), rng.normal(size=(5, 5)), n_resamples=100
    ),
}


@pytest.mark.parametrize("name", ONCE)
def test_a_long_call_is_announced_once(name, monkeypatch):
    monkeypatch.setattr(limits, "MINUTE", 0.0)
    monkeypatch.setattr(choice, "MINUTE", 0.0)
    monkeypatch.setattr(choice, "CUBES", 0.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ONCE[name]()
    said = [str(one.message) for one in caught if "predicted to need" in str(one.message)]
    assert len(said) == (2 if name == "intervals" else 1), said  # and the fit before


def test_few_items_with_many_preferences_are_announced():
    better = rng.integers(0, 300, 3 * 10**6)
    prefs = rb.Preferences(better, (better + 1) % 300, n_items=300)
    problem = rb.RankSVMProblem(X[:300], prefs, kernel="linear", penalty="l1")
    for name in ("homotopy", "qp"):
        assert choice.predicted_seconds(problem, name) > 60
    chosen = choice.choose_solver(problem)
    others, slow = choice.choose_others(problem, 1.0, chosen)
    assert "qp" in slow and "qp" not in [one.name for one in others]
    whole = rb.RankSVMProblem(X[:800], rb.Preferences.from_scores(SCORES[:800]))
    assert choice.predicted_seconds(whole, "path", "path") > 60


def test_a_long_first_refit_is_not_repeated(monkeypatch):
    from rankbook.estimators import order_intervals

    calls, time = [], iter(range(0, 10**6, 1000))
    monkeypatch.setattr(order_intervals, "perf_counter", lambda: next(time))
    monkeypatch.setattr(order_intervals, "refits", lambda *what: calls.append(what))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".* is predicted to need")
        with pytest.raises(UserWarning, match="the bootstrap of 100 fits is predicted"):
            rb.order_intervals(fitted(9, kernel="linear"), rng.normal(size=(5, 5)), n_resamples=100)
    assert len(calls) == 1


def clicks(sessions, ranks):
    rank = np.tile(np.arange(ranks), sessions)
    session = np.repeat(np.arange(sessions), ranks)
    return dict(session=session, item=(rank + session) % ranks, rank=rank, click=rank % 2 == 0)


def pairs_at_home(m):
    better = np.arange(m) % 50
    options = dict(n_items=51, pair_features=rng.normal(size=m))
    return rb.Preferences(better, better + 1, **options)


WIDE = csr_array((np.ones(3), ([0, 1, 2], [5, 10**9, 5])), shape=(3, 2 * 10**9))
LARGE = {
    "from_clicks": (lambda: rb.Preferences.from_clicks(clicks(40, 400)), "preferences of clicks"),
    "click_propensities": (lambda: rb.click_propensities(clicks(3, 2000)), "2,000 ranks"),
    "extend_items": (
        lambda: rb.extend_items(rng.normal(size=(51, 100)), pairs_at_home(5000)),
        "extended items",
    ),
    "order_intervals": (
        lambda: rb.order_intervals(fitted(9, **logistic), np.zeros((1000, 5))),
        "a table of 1,000 items",
    ),
    "covariance": (
        lambda: rb.order_intervals(fitted(160, loss="logistic"), np.ones((3, 5))),
        "the covariance of 3 items",
    ),
    "survival": (
        lambda: rb.BaselineHazard(TIMES, SCORES).survival(SCORES[:5000]),
        "5,000 patients at 40,000 times",
    ),
    "columns": (lambda: linear().fit(WIDE, [1, 2, 3]), "a linear function of 2,000,000,000"),
    "listed": (lambda: rb.Preferences.from_scores(SCORES[:1000]).better, "499,500 preferences"),
}


@pytest.mark.filterwarnings("ignore::rankbook.Assumption")
@pytest.mark.parametrize("name", LARGE)
def test_a_large_call_says_how_much_memory_it_needs(name, monkeypatch):
    call, words = LARGE[name]
    monkeypatch.setattr(limits, "available_memory", lambda: 10**6)
    with pytest.raises(MemoryError, match=f"{words}.* needs [0-9,]+ bytes .* are available. "):
        call()


@pytest.mark.parametrize("of", [rb.disagreement, rb.calibrate])
def test_a_failed_allocation_is_told_in_the_library_s_words(of, monkeypatch):
    def fails(*given):
        raise MemoryError("Unable to allocate 6.40 GiB")

    module = (
        "rankbook.metrics.pairs" if of is rb.disagreement else "rankbook.estimators.calibration"
    )
    monkeypatch.setattr(f"{module}.as_judged", fails)
    with pytest.raises(MemoryError, match="needs more memory than .* 6.40 GiB.*. Use fewer items"):
        of([1.0, 2.0], [1.0, 2.0])


def test_calibration_draws_pairs_without_a_list_of_them():
    tracemalloc.start()
    y = SCORES[:20_000]  # 200 million pairs
    link = rb.calibrate(y, y + rng.normal(size=y.size))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert link.slope > 0 and peak < 2e8


def hashed(n, d):
    """Items with twenty entries each in d columns, and the same in the columns that occur."""
    entries = rng.normal(size=20 * n), (np.repeat(np.arange(n), 20), rng.integers(0, d, 20 * n))
    X = csr_array(entries, shape=(n, d))
    return X, X[:, np.unique(X.indices)].toarray()


@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic"])
def test_newton_works_in_the_columns_that_occur(loss):
    (wide, narrow), y = hashed(60, 10**6), SCORES[:60]
    found = [
        rb.RankSVM(kernel="linear", loss=loss, lam=1.0, solver="newton").fit(X, y)
        for X in (wide, narrow)
    ]
    tol = 1e-8 if loss == "logistic" else 1e-5
    assert found[0].certificate_.relative_gap <= 1e-6
    assert found[0].certificate_.primal == pytest.approx(found[1].certificate_.primal, rel=tol)
    weights = found[0].solution_.weights
    assert (
        weights.shape == (10**6,)
        and not weights[np.setdiff1d(np.arange(10**6), wide.indices)].any()
    )


def test_small_lambdas_and_many_levels_take_interior_more_steps_for_wide_items():
    """11 and 136 steps for 200 rows with 400 entries, 215 for 400 rows: 0.1, 1 and 6 s."""

    def seconds(n, scores, entries=400):
        values = rng.normal(size=entries * n), rng.integers(0, 10**6, entries * n)
        wide = csr_array((*values, np.arange(0, entries * n + 1, entries)), shape=(n, 10**6))
        wide.sum_duplicates()
        problem = rb.RankSVMProblem(wide, rb.Preferences.from_scores(scores), kernel="linear")
        return choice.seconds_of("interior", choice.work_of(problem, 1.0))

    few, many, more = (
        seconds(200, GRADES[:200]),
        seconds(200, SCORES[:200]),
        seconds(400, SCORES[:400]),
    )
    assert 0.03 < few < 0.3 and 0.3 < many < 3 and 2 < more < 18


def test_the_forecast_of_wide_items_counts_columns_and_dense_vectors():
    wide, _ = hashed(200, 10**6)
    large = rb.RankSVMProblem(wide, rb.Preferences.from_scores(SCORES[:200]), kernel="linear")
    work = choice.work_of(large, 1.0)
    assert work.columns == np.unique(wide.indices).size and work.features == 10**6
    tracemalloc.start()
    solution = rb.solve(large, 1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert solution.certificate.relative_gap <= 1e-6
    name = solution.solver.split()[0]
    assert 16 * 10**6 < peak < 1.5 * choice.bytes_of(name, work)


def test_a_long_path_names_ways_that_are_fast():
    """Each way that the warning for a kernel names makes the call short."""
    X, y = ROWS[:3000, :5], SCORES[:3000]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".* is predicted to need")
        with pytest.raises(UserWarning, match='NystroemMap .*"squared", graph="star"'):
            rb.RankSVMCV().fit(X, y)
    star = rb.RankSVMProblem(X, rb.Preferences.from_scores(y, graph="star"))
    mapped = NystroemMap(X, 100).transform(X)
    squared = rb.RankSVMProblem(
        mapped, rb.Preferences.from_scores(y), kernel="linear", loss="squared"
    )
    for one in (star, squared):
        name = choice.choose_solver(one, "auto", "path").name
        assert 5 * choice.predicted_seconds(one, name, "path") < 60
