"""One problem in many threads: every answer has the bits that it has alone."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

import rankbook as rb
from rankbook.preferences.sums import loss_of, smoothed_hinge

THREADS = 8


def at_once(tasks):
    """The results of tasks that all start together, each in a thread of its own."""
    ready = Barrier(len(tasks))

    def run(task):
        ready.wait()
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        return [future.result() for future in [pool.submit(run, task) for task in tasks]]


def items(n=400, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return (
        X,
        np.digitize(X @ rng.normal(size=d) + rng.normal(size=n), [-2, -0.5, 0.5, 2]).astype(float),
        rng.integers(0, 3, n),
    )


def problem_of(kind):
    X, y, qid = items(60 if kind in ("qp", "path", "rbf path") else 400)
    if kind == "rls":
        return rb.RankRLSProblem(X, y, qid)
    loss = "squared" if kind == "newton squared" else "hinge"
    prefs = rb.Preferences.from_scores(y, qid)
    if kind == "newton listed":
        prefs = prefs.reweighted(margin=np.full(len(prefs), 2.0))
    return rb.RankSVMProblem(X, prefs, "rbf" if kind.startswith("rbf") else "linear", loss=loss)


KINDS = [
    "newton",
    "newton squared",
    "newton listed",
    "path",
    "rbf path",
    "qp",
    "rls",
    "subgradient",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:the solver 'subgradient .* reached a relative gap")
def test_a_problem_that_is_solved_by_eight_threads(kind):
    """Several lambdas, on a problem that nobody has touched yet.

    What it keeps is thus made by all of them at once.
    """
    name = kind.split()[1] if kind.startswith("rbf") else kind.split()[0]
    lams = [0.3, 1.0, 3.0, 10.0] if name != "rls" else [1e-3, 1e-1, 1.0, 10.0]
    options = dict(max_passes=3) if name == "subgradient" else {}
    alone = {lam: rb.solve(problem_of(kind), lam, solver=name, **options) for lam in lams}
    for _ in range(3):
        problem = problem_of(kind)
        todo = [lams[i % len(lams)] for i in range(THREADS)]
        for lam, found in zip(
            todo,
            at_once(
                [lambda lam=lam: rb.solve(problem, lam, solver=name, **options) for lam in todo]
            ),
        ):
            assert np.array_equal(found.coef, alone[lam].coef)
            assert found.certificate == alone[lam].certificate


@pytest.mark.parametrize("name", ["newton", "path", "epsilon"])
def test_paths_in_eight_threads(name):
    X, y, qid = items(50, 3)
    make = lambda: rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid), "linear")
    alone = rb.solve_path(make(), lam_min=0.1, solver=name)
    lams = np.geomspace(0.11, alone.breakpoints[0], 7)
    problem = make()
    for path in at_once([lambda: rb.solve_path(problem, lam_min=0.1, solver=name)] * THREADS):
        assert np.array_equal(path.breakpoints, alone.breakpoints)
    read = at_once([lambda lam=lam: path.coef(lam) for lam in lams])
    assert all(np.array_equal(coef, alone.coef(lam)) for lam, coef in zip(lams, read))


@pytest.mark.parametrize("listed", [False, True])
def test_curvature_belongs_to_the_scores_it_was_asked_for(listed):
    """Other evaluations in between, of other shapes, change nothing."""
    _, y, qid = items()
    prefs = rb.Preferences.from_scores(y, qid)
    loss = loss_of(prefs.reweighted(margin=np.full(len(prefs), 2.0)) if listed else prefs)
    rng = np.random.default_rng(3)
    scores, v = rng.normal(size=(THREADS, len(y))), rng.normal(size=len(y))
    shapes = [smoothed_hinge(0.1 * (i + 1)) for i in range(THREADS)]
    alone = [loss.curvature(loss.evaluate(f, shape).bands, v) for f, shape in zip(scores, shapes)]

    def work(f, shape):
        sums = loss.evaluate(f, shape)
        for _ in range(20):
            assert loss.evaluate(f, shape).loss == sums.loss
        return loss.curvature(sums.bands, v)

    together = at_once(
        [lambda f=f, shape=shape: work(f, shape) for f, shape in zip(scores, shapes)]
    )
    assert all(np.array_equal(a, b) for a, b in zip(alone, together))
    assert len({a.tobytes() for a in alone}) == THREADS


def test_a_watcher_may_look_at_the_problem():
    """What is evaluated between two steps does not lead the next one astray."""
    from rankbook.solvers.newton.steps import minimise

    problem = problem_of("newton")
    alone = minimise(problem, 1.0, 1e-8)[0]
    seen = []
    watched = minimise(
        problem,
        1.0,
        1e-8,
        watch=lambda point, width: seen.append(problem.primal(problem.coefficients(-point.w), 1.0)),
    )[0]
    assert np.array_equal(watched.w, alone.w) and len(seen) > 3


def test_estimators_on_the_same_arrays():
    X, y, qid = items(200)
    makers = [
        lambda: rb.RankSVM(lam=3.0, kernel="linear", solver="newton"),
        lambda: rb.RankRLS(lam=0.1, kernel="linear"),
    ]
    for make in makers:
        alone = make().fit(X, y, qid=qid).predict(X)
        assert all(
            np.array_equal(scores, alone)
            for scores in at_once([lambda: make().fit(X, y, qid=qid).predict(X)] * THREADS)
        )
