"""The ranking SVM on blocks against the same problem in memory."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook.preferences.sums import smoothed_hinge
from rankbook.problems.ranksvm import hessian, hessian_product, random_signs
from rankbook.solvers.newton.steps import start_at


def data(n=400, d=6, queries=25, seed=0, weighted=False):
    """Items with grades, weights, and queries in order."""
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(n, d)), np.sort(rng.integers(0, queries, n))
    y = np.round(X[:, 0] - X[:, 1] + rng.normal(size=n)).clip(-2, 2)
    return X, y, qid, rng.uniform(0, 2, n).round() if weighted else None


def cut(X, y, qid, weight, at):
    """Blocks that begin at these queries."""
    parts = np.searchsorted(at, qid, side="right")
    rows = [parts == k for k in range(len(at) + 1)]
    pick = lambda i: None if weight is None else weight[i]
    return rb.Blocks(
        rb.Block(X[i], y[i], qid[i], pick(i), name=f"block {k}") for k, i in enumerate(rows)
    )


def in_memory(X, y, qid, weight, loss="hinge"):
    prefs = rb.Preferences.from_scores(y, qid)
    prefs = prefs if weight is None else prefs.item_weighted(weight)
    return rb.RankSVMProblem(X, prefs, kernel="linear", loss=loss, copy=False)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("at", [(), (10,), (3, 4, 20)], ids=str)
def test_solutions_and_certificates_are_those_of_one_place(loss, weighted, at, monkeypatch):
    monkeypatch.setattr("rankbook.solvers.newton.steps.LISTED", 0)  # blocks are never listed
    given = data(weighted=weighted)
    one = in_memory(*given, loss=loss)
    many = rb.BlockRankSVMProblem(cut(*given, at=list(at)), loss=loss)
    assert (many.n_items, many.n_preferences) == (one.n_items, one.n_preferences)
    assert np.isclose(many.lam_max, one.lam_max, rtol=1e-12)
    assert np.allclose(many.feature_units, one.feature_units, rtol=1e-13)
    # in memory the squared hinge starts from another point, so only the optimum is the same
    options, rtol = (dict(tol=1e-13), 1e-6) if loss == "squared" else ({}, 1e-10)
    for lam in (1.0, 100.0):
        a, b = (rb.solve(each, lam, solver=("newton", options)) for each in (one, many))
        assert loss == "squared" or a.info == b.info
        assert np.allclose(a.weights, b.weights, rtol=rtol, atol=1e-2 * rtol)
        for name in ("primal", "dual"):
            ours, theirs = (getattr(each.certificate, name) for each in (a, b))
            assert np.isclose(ours, theirs, rtol=1e-11)
        assert b.certificate.relative_gap <= 1e-6


@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic", "plackett-luce"])
def test_the_default_lambda_has_the_unit_of_the_loss(loss):
    given = data()
    many = rb.BlockRankSVMProblem(cut(*given, at=[3, 10]), loss=loss)
    assert np.isclose(many.gradient_scatter(), in_memory(*given, loss=loss).gradient_scatter())


def test_a_feature_of_zeros_has_the_unit_1():
    X, *rest = data()
    X[:, 2] = 0.0
    units = 1 / np.where(np.arange(6) == 2, 1.0, np.linalg.norm(X, axis=0))
    problem = rb.BlockRankSVMProblem(cut(X, *rest, at=[10]))
    assert np.allclose(problem.feature_units, units, rtol=1e-13)
    assert rb.solve(problem, 1.0).weights[2] == 0


@pytest.mark.parametrize("store", [np.float32, csr_array], ids=["float32", "csr"])
def test_storages(store, monkeypatch):
    monkeypatch.setattr("rankbook.solvers.newton.steps.LISTED", 0)
    X, y, qid, _ = data()
    X = csr_array(np.where(np.abs(X) > 1, X, 0)) if store is csr_array else X.astype(np.float32)
    one = rb.solve(in_memory(X, y, qid, None), 10.0, solver="newton")
    many = rb.solve(rb.BlockRankSVMProblem(cut(X, y, qid, None, [7, 19])), 10.0)
    assert np.allclose(one.weights, many.weights, rtol=1e-9)


def test_stored_blocks_take_exact_steps_and_come_to_the_same_answer():
    from rankbook.data.blocks import Stored

    given = data()
    blocks = cut(*given, at=[5, 12])
    stored = rb.Blocks(Stored(lambda block=block: block) for block in blocks.items.values)
    problems = [rb.BlockRankSVMProblem(each) for each in (blocks, stored)]
    ours, theirs = (rb.solve(problem, 5.0, tol=1e-9) for problem in problems)
    radius = ours.certificate.radius + theirs.certificate.radius
    assert np.linalg.norm(ours.weights - theirs.weights) <= radius < 1e-3


@pytest.mark.parametrize("lam", [20.0, 0.02])
def test_a_pass_over_blocks_tries_two_steps_and_finds_the_same_one(lam, monkeypatch):
    from rankbook.data.blocks import Stored
    from rankbook.solvers.newton import steps

    reads = []
    blocks = cut(*data(), at=[5, 12]).items.values
    stored = rb.Blocks(
        Stored(lambda block=block: reads.append(block.name) or block) for block in blocks
    )
    problem = rb.BlockRankSVMProblem(stored)

    def passes():
        problem.at_zero  # noqa: B018 -- kept from the first solution
        reads.clear()
        solution = rb.solve(problem, lam, solver="newton")
        assert len(reads) % len(blocks) == 0
        return solution, len(reads) // len(blocks)

    ours, two = passes()
    search = steps.line_search
    monkeypatch.setattr(steps, "line_search", lambda slope, start, **_: search(slope, start))
    theirs, one = passes()
    assert np.array_equal(ours.weights, theirs.weights) and ours.info == theirs.info
    assert two < one


def test_one_and_two_threads_of_blas_give_the_same_bits():
    """Sums of 50,000 items, for which BLAS uses the threads that it has."""
    code = """
import numpy as np, rankbook as rb
from rankbook.data.blocks import Stored

rng, blocks = np.random.default_rng(0), []
for k in range(2):
    X = rng.normal(size=(50_000, 20))
    y = np.digitize(X[:, :5].sum(axis=1) + rng.normal(size=len(X)), [-3, 0, 3])
    blocks.append(rb.Block(X, y, k + np.arange(len(X)) // 100 * 2, copy=False))
for some in (blocks, [Stored(lambda block=block: block) for block in blocks]):
    problem = rb.BlockRankSVMProblem(rb.Blocks(some))
    solution = rb.solve(problem, 1e-3 * problem.n_preferences, solver="newton")
    print(solution.info, solution.certificate, [float(w).hex() for w in solution.weights])
"""
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | dict(OPENBLAS_NUM_THREADS=str(threads)),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in (1, 2)
    ]
    assert found[0] == found[1] and found[0].count("steps") == 2


def test_a_limit_of_blas_ends_and_does_not_limit_other_loops():
    from rankbook.base.progress import blas_libraries, on_one_blas_thread, thread_count

    counts = lambda: [library["num_threads"] for library in blas_libraries().info()]
    with blas_libraries().limit(limits=2):
        before = counts(), thread_count()
        inside = on_one_blas_thread(lambda: (counts(), thread_count()))()
        assert set(inside[0]) == {1} and inside[1] == before[1]
        assert (counts(), thread_count()) == before


def test_paths_and_curves():
    X, y, qid, _ = data()
    one = rb.solve_path(in_memory(X, y, qid, None), solver="newton")
    many = rb.solve_path(rb.BlockRankSVMProblem(cut(X, y, qid, None, [7, 19])))
    assert np.allclose(one.breakpoints, many.breakpoints)
    prefs = rb.Preferences.from_scores(y, qid)
    curves = [rb.validation_curve(path, X, prefs) for path in (one, many)]
    assert np.allclose(curves[0].best[0], curves[1].best[0])


def test_what_blocks_cannot_be_asked():
    problem = rb.BlockRankSVMProblem(cut(*data(), at=[7]))
    solution = rb.solve(problem, 5.0)
    with pytest.raises(ValueError, match="Use its weights"):
        solution.coef  # noqa: B018 -- reading it is what is wrong
    assert solution.predict(np.ones((2, 6))).shape == (2,)
    with pytest.raises(ValueError, match="takes the storage .* not blocks"):
        rb.solve(problem, 5.0, solver="qp")
    with pytest.raises(TypeError, match="blocks is a list. Pass rankbook.Blocks, or the result .*"):
        rb.BlockRankSVMProblem([])


@pytest.mark.parametrize("storage", ["float64", "csr"])
def test_the_hessian_against_the_list_of_pairs(storage):
    X, y, qid, _ = data(n=60, d=20, queries=5)
    problem = in_memory(csr_array(X) if storage == "csr" else X, y, qid, None)
    f = 0.1 * X[:, 0]
    bands = problem.summed.evaluate(f, smoothed_hinge(1.5)).bands
    P = problem.prefs.incidence().toarray()
    inside = np.abs(1 - P @ f) < 0.75
    exact = X.T @ P[inside].T @ P[inside] @ X / 1.5
    assert np.allclose(hessian(problem.X, problem.summed, bands), exact)
    product = hessian_product(problem.X, problem.summed, bands, np.arange(20.0))
    assert np.allclose(product, exact @ np.arange(20.0))


def test_signs_do_not_depend_on_the_cut():
    whole = random_signs(1000)
    parts = [random_signs(n, first) for n, first in ((1, 0), (99, 1), (900, 100))]
    assert np.array_equal(whole, np.concatenate(parts)) and set(whole) == {-1.0, 1.0}
    assert abs(whole.mean()) < 0.1


@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic"])
@pytest.mark.parametrize("n", [2, 4, 9])
def test_a_block_of_equal_grades_adds_nothing_to_the_curvature(loss, n):
    """Whether or not it has about as many items as features."""
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(2 + n, 4)), np.r_[4.0, 3.0, np.ones(n)], np.r_[0, 0, np.ones(n)]
    rows, weight = np.split(np.arange(2 + n), [2]), rng.uniform(1, 9, 2 + n)
    parts = [rb.Block(X[i], y[i], qid[i], weight[i], worse_weight=weight[i] ** 2) for i in rows]
    problem = rb.BlockRankSVMProblem(rb.Blocks(parts), loss=loss)
    alone = rb.BlockRankSVMProblem(rb.Blocks(parts[:1]), loss=loss)
    bent = []
    for each in (problem, alone):
        point = start_at(each, 1.0, each.loss.smoothed(4.0), np.zeros(4))
        bent.append(each.hessian(point.bands))
    assert bent[0].any() and np.allclose(*bent, rtol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("query_weight", [None, "equal"])
@pytest.mark.parametrize("one_sided", [False, True])
def test_two_weights_are_those_of_one_place(loss, query_weight, one_sided):
    X, y, qid, a = data(weighted=True, seed=3)
    b = np.random.default_rng(4).integers(0, 3, len(y)).astype(float)
    b[qid == 7] = 0  # a query without a pair
    b[qid > 20] = 0  # and a block
    prefs = rb.Preferences.from_scores(y, qid)
    prefs = prefs.item_weighted(np.ones(len(y)) if one_sided else a, b)
    prefs = prefs if query_weight is None else prefs.query_weighted()
    one = rb.RankSVMProblem(X, prefs, kernel="linear", loss=loss, copy=False)
    rows = np.split(np.arange(len(y)), np.searchsorted(qid, [3, 12, 21]))
    weights = lambda i: dict(weight=None if one_sided else a[i], worse_weight=b[i])
    blocks = rb.Blocks(rb.Block(X[i], y[i], qid[i], **weights(i)) for i in rows)
    many = rb.BlockRankSVMProblem(blocks, loss, query_weight)
    assert (many.n_items, many.n_preferences) == (one.n_items, one.n_preferences)
    assert np.isclose(many.lam_max, one.lam_max, rtol=1e-10)
    assert np.isclose(many.gradient_scatter(), one.gradient_scatter(), rtol=1e-10)
    ours, theirs = (rb.solve(each, 2.0, solver="newton", tol=1e-10) for each in (many, one))
    radius = ours.certificate.radius + theirs.certificate.radius
    assert np.linalg.norm(ours.weights - theirs.weights) <= radius < 1e-3
    for name in ("primal", "dual"):
        assert np.isclose(*(getattr(s.certificate, name) for s in (ours, theirs)), rtol=1e-9)
    held_out = rb.Preferences.from_scores(y, qid).item_weighted(a, b)
    paths = [rb.solve_path(each, 1.0, solver="newton") for each in (many, one)]
    curves = [rb.validation_curve(path, X, held_out) for path in paths]
    assert np.isclose(*(curve.values.min() for curve in curves), rtol=1e-9)


def survival(n=60, strata=7, seed=0):
    """Items, structured times with ties and censoring, strata of which some have no event."""
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(n, 4)), np.sort(rng.integers(0, strata, n))
    times = np.empty(n, dtype=[("event", bool), ("time", float)])
    times["time"] = np.round(rng.exponential(np.exp(-X[:, 0])), 1)
    times["event"] = (rng.random(n) < 0.6) & (qid != 2)
    return X, times, qid, rng.integers(0, 4, n).astype(float)


EXACT = "newton", dict(tol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("at", [(), (3,), (1, 2, 3, 5)], ids=str)
def test_cox_on_blocks_of_whole_strata_is_the_one_of_memory(at, weighted):
    X, times, qid, weight = survival()
    weight = weight if weighted else None
    many = rb.BlockRankSVMProblem(cut(X, times, qid, weight, at), loss="plackett-luce")
    prefs = rb.Preferences.from_survival(times["time"], times["event"], qid, weight)
    one = rb.RankSVMProblem(X, prefs, kernel="linear", loss="plackett-luce")
    for w in np.random.default_rng(0).normal(size=(3, 4)):
        sums, slope, _ = many.sums_at(many.X @ w, many.loss.derivative)
        whole = one.summed.evaluate(X @ w, one.loss.derivative)
        assert np.isclose(sums.loss, whole.loss, rtol=1e-12)
        assert np.allclose(slope, X.T @ whole.score_gradient, rtol=0, atol=1e-12 * whole.loss)
    for lam in (0.01, 1.0):
        ours, theirs = rb.solve(many, lam, EXACT), rb.solve(one, lam, EXACT)
        assert np.isclose(ours.certificate.primal, theirs.certificate.primal, rtol=1e-12)
        gaps = ours.certificate.relative_gap + theirs.certificate.relative_gap + 1e-15
        apart = np.sqrt(2 * gaps * ours.certificate.primal / lam)
        assert np.linalg.norm(ours.weights - theirs.weights) <= apart
        assert ours.certificate.relative_gap <= 1e-10
    w, lam = ours.weights, 1.0  # the gradient by hand, from the likelihood of each stratum
    gradient, f = lam * w, -X @ w
    unit = np.ones(len(X)) if weight is None else weight
    for i in np.flatnonzero(times["event"] & (unit > 0)):
        risk = (qid == qid[i]) & (times["time"] >= times["time"][i]) & (unit > 0)
        share = unit[risk] * np.exp(f[risk] - f[risk].max())
        gradient -= unit[i] * (share @ X[risk] / share.sum() - X[i])
    assert np.abs(gradient).max() < 1e-6 * np.abs(X).sum()


@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic"])
def test_times_in_blocks_are_preferences_of_times_for_other_losses(loss):
    X, times, qid, weight = survival(seed=1)
    many = rb.BlockRankSVMProblem(cut(X, times, qid, weight, [3]), loss=loss)
    prefs = rb.Preferences.from_survival(times["time"], times["event"], qid, weight)
    one = rb.RankSVMProblem(X, prefs, kernel="linear", loss=loss)
    assert many.n_preferences == one.n_preferences
    answers = [rb.solve(each, 0.5, "newton").certificate.primal for each in (many, one)]
    assert np.isclose(*answers, rtol=1e-6)


def test_estimators_and_metrics_take_times_in_blocks():
    X, times, qid, weight = survival(seed=2)
    for weights in (None, weight):
        blocks = cut(X, times, qid, weights, [2, 5])
        model = rb.RankSVM(0.5, "linear", loss="plackett-luce", solver=EXACT)
        ours = model.fit(blocks).coef_
        given = dict(qid=qid, sample_weight=weights)
        assert np.allclose(ours, model.fit(X, times, **given).coef_, rtol=0, atol=1e-6)
        found = 1 - rb.metrics.over_blocks("disagreement", blocks, model)
        prefs = rb.Preferences.from_survival(times["time"], times["event"], qid, weights)
        assert np.isclose(found, rb.metrics.concordance(prefs, model.predict(X)), rtol=1e-12)
        with pytest.raises(ValueError, match="y_true holds survival times"):
            rb.metrics.over_blocks("ndcg", blocks, model)
        squares = rb.RankRLS(kernel="linear", lam=1.0)
        theirs = squares.fit(X, prefs).coef_
        assert np.allclose(squares.fit(blocks).coef_, theirs, rtol=0, atol=1e-10)
        moved = blocks.transform(StandardScaler().fit(X))
        assert next(iter(moved)).is_survival
    intervals = rb.order_intervals(model.fit(cut(X, times, qid, None, [2, 5])), X[:5])
    other = rb.order_intervals(model.fit(X, times, qid=qid), X[:5])
    assert np.allclose(intervals.low, other.low, atol=1e-6)


def test_wrong_times_in_blocks_are_refused():
    X, times, qid, _ = survival()
    with pytest.raises(ValueError, match="worse_weight is given and y contains survival times"):
        rb.Block(X, times, qid, worse_weight=np.ones(len(X)))
    broken = times.copy()
    broken["time"][4] = np.nan
    with pytest.raises(ValueError, match="block: y"):
        rb.Block(X, broken, qid)
    early = qid < 3
    mixed = [rb.Block(X[early], times[early], qid[early], name="a")]
    mixed += [rb.Block(X[~early], times["time"][~early], qid[~early], name="b")]
    with pytest.raises(ValueError, match="^a has survival times and b has scores"):
        rb.BlockRankSVMProblem(rb.Blocks(mixed))
    halves = [rb.Block(X[:30], times[:30], qid[:30]), rb.Block(X[30:], times[30:], qid[30:])]
    with pytest.raises(ValueError, match="all items of a query in one block"):
        rb.BlockRankSVMProblem(rb.Blocks(halves), loss="plackett-luce")
    none = np.zeros(9, dtype=times.dtype)
    with pytest.raises(ValueError, match="^blocks have no preference of positive weight"):
        rb.BlockRankSVMProblem(rb.Blocks([rb.Block(X[:9], none)]), loss="plackett-luce")
    time, event = np.arange(1.0, 9.0), np.arange(8) % 2
    y = np.where(event, time, np.nextafter(time, np.inf))
    block = rb.Block(time[:, None], y, worse_weight=event, name="block 7")
    words = "^block 7 has items whose weight is 0 only as worse items. .*structured array"
    with pytest.raises(ValueError, match=words):
        rb.BlockRankSVMProblem(rb.Blocks([block]), loss="plackett-luce")


def test_two_weights_that_leave_no_pair_are_refused():
    block = rb.Block([[0.0], [1.0]], [0, 1], weight=[1.0, 1.0], worse_weight=[0.0, 1.0])
    with pytest.raises(ValueError, match="^blocks have no preference of positive weight"):
        rb.BlockRankSVMProblem(rb.Blocks([block]))
