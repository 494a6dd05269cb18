"""A path that is stopped, for whatever reason, and taken up again.

It has the solutions of the path that was never stopped.
"""

import pickle
import signal
import threading

import numpy as np
import pytest

import rankbook as rb
from rankbook.solvers.path import follower as following


def grid_problem(kernel="rbf", n=60, seed=0):
    """Integer points with copies and three levels: ties everywhere."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 3)).astype(float)
    y = X.sum(axis=1) + rng.normal(size=n)
    return rb.RankSVMProblem(X, rb.Preferences.from_scores(np.digitize(y, [3, 6])), kernel)


@pytest.fixture(scope="module", params=["rbf", "linear"])
def whole(request):
    problem = grid_problem(request.param)
    path = rb.solve_path(problem, chunk=64)
    assert path.status == "complete" and len(path.events) > 500
    return path


def same(a, b):
    """The same functions to rounding, between the breakpoints and down to the same end."""
    assert a.status == b.status and a.domain == b.domain and a.solver == b.solver
    assert a.breakpoints[0] == b.breakpoints[0]
    end, top = max(a.domain[0], 1.01 * b.breakpoints[-1]), b.breakpoints[0]
    for lam in np.maximum(top * np.geomspace(0.99, 1e-4, 30), end):
        f, g = (path.problem.matvec(path.coef(lam)) for path in (a, b))
        assert np.abs(f - g).max() <= 1e-12 * np.abs(g).max()
        assert a.certificate(lam).relative_gap < 1e-9


@pytest.mark.parametrize("events", [0, 1, 2, 63, 64, 65, 300])
def test_after_any_number_of_events(whole, events):
    part = rb.solve_path(whole.problem, chunk=64, max_events=events)
    assert part.status == "max_events" and len(part.events) <= events + 2
    assert np.array_equal(part.events, whole.events[: len(part.events)])
    same(part.resume(), whole)
    same(part.resume(), whole)  # the part itself has not moved


def test_in_many_steps_with_the_curve_unchanged(whole):
    path, steps = rb.solve_path(whole.problem, chunk=64, max_events=50), 0
    while path.status == "max_events":
        path, steps = path.resume(max_events=50), steps + 1
    assert steps > 5
    same(path, whole)
    X = np.random.default_rng(1).normal(size=(30, 3))
    prefs = rb.Preferences.from_scores(X.sum(axis=1).round())
    a, b = rb.validation_curve(path, X, prefs), rb.validation_curve(whole, X, prefs)
    assert a.values.min() == b.values.min()
    lams = whole.breakpoints[0] * np.geomspace(0.99, 1e-4, 50)
    assert np.array_equal(a.at(lams), b.at(lams))


@pytest.mark.parametrize("share", [0.5, 0.2, 0.013, 1e-5])
def test_from_a_lambda_downwards(whole, share):
    """The end at lam_min moves nothing."""
    part = rb.solve_path(whole.problem, lam_min=share * whole.problem.lam_max)
    assert part.status == "lam_min" and part.domain[0] == share * whole.problem.lam_max
    assert np.array_equal(part.events, whole.events[: len(part.events)])
    for lam in part.domain[0] * np.array([1.0, 1.1, 3.0]):
        assert part.certificate(lam).relative_gap < 1e-8
        if lam > whole.breakpoints[-1]:  # below it, a path that knows its end reads the hard margin
            assert np.array_equal(part.coef(lam), whole.coef(lam))
    same(part.resume(), whole)


def test_from_lambda_to_lambda(whole):
    path = rb.solve_path(whole.problem, lam_min=whole.problem.lam_max)
    for lam in whole.problem.lam_max * np.geomspace(0.9, 1e-4, 30):
        path = path.resume(lam_min=lam)
        assert path.status == "lam_min" and path.domain[0] == lam
    same(path.resume(), whole)
    middle = whole.breakpoints[len(whole.breakpoints) // 2]  # an event exactly there
    same(rb.solve_path(whole.problem, lam_min=middle).resume(), whole)


def test_the_curve_down_to_a_lambda_is_that_of_the_whole(whole):
    X = np.random.default_rng(1).normal(size=(30, 3))
    prefs = rb.Preferences.from_scores(X.sum(axis=1).round())
    low = 0.1 * whole.problem.lam_max
    part, full = (
        rb.validation_curve(path, X, prefs)
        for path in (rb.solve_path(whole.problem, lam_min=low), whole)
    )
    above = full.breaks > low
    assert np.allclose(part.breaks[:-1][1:], full.breaks[above][1:], rtol=1e-9) and np.isclose(
        part.breaks[-1], low
    )
    assert np.array_equal(part.values, full.values[: part.values.size])


def test_a_reason_of_ones_own(whole):
    seen = []

    def stop(path):
        seen.append(len(path.events))
        assert path.status == "interrupted" and path.certificate(path.domain[0]).relative_gap < 1e-8
        return len(seen) == 3

    part = rb.solve_path(whole.problem, chunk=64, stop=stop)
    assert (
        part.status == "interrupted"
        and part.info["reason"] == "stop returned true"
        and seen == [64, 128, 192]
    )
    same(part.resume(), whole)


def test_an_error_in_stop_is_the_callers(whole):
    with pytest.raises(ZeroDivisionError):
        rb.solve_path(whole.problem, chunk=64, stop=lambda path: 1 / 0)
    with pytest.raises(TypeError, match="stop"):
        rb.get_solver("path", stop=3)


def interrupt_at(call, real, press=lambda: signal.raise_signal(signal.SIGINT)):
    """A `follow` during whose given call Ctrl-C is pressed."""
    calls = []

    def follow(*args):
        calls.append(1)
        if len(calls) == call:
            press()
        return real(*args)

    return follow


@pytest.fixture
def listening():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # left as it was
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("call", [1, 2, 5])
def test_after_ctrl_c(whole, monkeypatch, listening, call):
    monkeypatch.setattr(following, "follow_exact", interrupt_at(call, following.follow_exact))
    part = rb.solve_path(whole.problem, chunk=64, keep_interrupted=True)
    monkeypatch.undo()
    assert (
        part.status == "interrupted" and part.events.size and len(part.events) < len(whole.events)
    )
    same(part.resume(), whole)


def test_a_second_ctrl_c_is_obeyed_at_once(whole, monkeypatch, listening):
    def twice():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(following, "follow_exact", interrupt_at(2, following.follow_exact, twice))
    part = rb.solve_path(whole.problem, chunk=64, keep_interrupted=True)
    assert part.status == "interrupted" and np.array_equal(part.events, whole.events[:64])
    same(part.resume(), whole)


def test_ctrl_c_pressed_in_stop(whole, listening):
    def stop(path):
        raise KeyboardInterrupt

    part = rb.solve_path(whole.problem, chunk=64, stop=stop, keep_interrupted=True)
    assert part.status == "interrupted"
    same(part.resume(), whole)


@pytest.mark.parametrize("call", [1, 2, 5])
def test_ctrl_c_is_raised_unless_the_path_is_to_be_kept(whole, monkeypatch, listening, call):
    part = rb.solve_path(whole.problem, chunk=64, max_events=100)
    monkeypatch.setattr(following, "follow_exact", interrupt_at(call, following.follow_exact))
    with pytest.raises(KeyboardInterrupt):
        rb.solve_path(whole.problem, chunk=64)
    monkeypatch.setattr(following, "follow_exact", interrupt_at(call, following.follow_exact))
    with pytest.raises(KeyboardInterrupt):
        part.resume()
    monkeypatch.undo()
    same(part.resume(), whole)


def test_from_a_thread_of_its_own(whole):
    """Only the main thread may touch signals."""
    result = []
    thread = threading.Thread(
        target=lambda: result.append(
            rb.solve_path(whole.problem, chunk=64, max_events=100).resume()
        )
    )
    thread.start()
    thread.join()
    same(result[0], whole)


def test_in_another_process_by_pickle(whole):
    part = rb.solve_path(whole.problem, chunk=64, max_events=100)
    same(pickle.loads(pickle.dumps(part)).resume(), whole)


def test_what_cannot_be_resumed_says_why(whole):
    assert whole.resume() is whole
    part = rb.solve_path(whole.problem, lam_min=0.5 * whole.problem.lam_max)
    with pytest.raises(ValueError, match="lam_min is .*. Pass a number less than"):
        part.resume(lam_min=0.6 * whole.problem.lam_max)
    with pytest.raises((TypeError, ValueError), match="lam_min"):
        part.resume(lam_min=-1.0)


def stored_cases():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    prefs = rb.Preferences.from_scores(y)
    yield "few events", X, rb.Preferences.from_scores(rng.normal(size=20)), "linear", 1
    yield "item weights", X, prefs.item_weighted(rng.integers(1, 4, 20)), "rbf", 10
    yield "item weights 0", X, prefs.item_weighted(rng.integers(0, 4, 20)), "rbf", 10
    two = rng.integers(1, 4, 20), rng.integers(0, 3, 20)
    yield "two item weights", X, prefs.item_weighted(*two), "rbf", 10
    yield "margins 1", X, prefs.reweighted(margin=np.ones(len(prefs))), "rbf", 10
    yield "pair weights", X, prefs.reweighted(rng.uniform(0, 2, len(prefs))), "rbf", 10
    margins = rng.uniform(1, 2, len(prefs))
    yield (
        "item weights and margins",
        X,
        prefs.reweighted(None, margins).item_weighted(X[:, 0] ** 2),
        "rbf",
        10,
    )


@pytest.mark.parametrize("case", list(stored_cases()), ids=lambda case: case[0])
def test_from_a_file_for_all_weights_and_margins(case, tmp_path):
    _, X, prefs, kernel, events = case
    part = rb.solve_path(rb.RankSVMProblem(X, prefs, kernel), max_events=events)
    part.save(tmp_path / "part.npz")
    loaded = rb.load(tmp_path / "part.npz")
    same(loaded.resume(), part.resume())
    for name in ("weight", "margin", "better_weight", "worse_weight"):
        assert np.array_equal(getattr(loaded.problem.prefs, name), getattr(prefs, name))
