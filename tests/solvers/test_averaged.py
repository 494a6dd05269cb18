"""Subgradient steps on blocks, averaged, against the minimum."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import rankbook as rb
from rankbook.solvers.subgradient.solver import SubgradientSolver
from rankbook.solvers.subgradient.steps import Averaging, copy_at


def problem_of(seed=0, weighted=False, loss="hinge", store=np.asarray):
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(400, 4)), np.sort(rng.integers(0, 20, 400))
    y = np.round(X[:, 0] + 0.5 * rng.normal(size=400))
    names = {False: (), True: ("weight",), "two": ("weight", "worse_weight")}[weighted]
    given = {name: rng.integers(0, 3, 400).astype(float) for name in names}
    rows = np.split(np.arange(400), np.searchsorted(qid, [3, 9]))
    pick = lambda i: {name: weight[i] for name, weight in given.items()}
    blocks = (rb.Block(store(X[i]), y[i], qid[i], **pick(i)) for i in rows)
    return rb.BlockRankSVMProblem(rb.Blocks(blocks), loss=loss)


@pytest.mark.parametrize("weighted", [False, True, "two"])
@pytest.mark.parametrize("average", [False, "plain", "suffix"])
def test_the_minimum_is_reached_and_proven(weighted, average):
    problem = problem_of(weighted=weighted)
    found = rb.solve(problem, 50.0, solver=("subgradient", dict(average=average, tol=0.02)))
    exact = rb.solve(problem, 50.0, solver="newton").certificate
    assert found.info["converged"] and found.certificate.relative_gap <= 0.02
    assert exact.dual <= found.certificate.primal <= exact.primal * 1.03


def test_the_same_call_gives_the_same_answer_and_another_seed_another():
    problem = problem_of()
    a, b, c = (
        rb.solve(problem, 50.0, solver=("subgradient", dict(seed=seed))).weights
        for seed in (0, 0, 1)
    )
    assert np.array_equal(a, b) and not np.array_equal(a, c)


def test_a_move_does_not_change_the_sum_of_the_average():
    problem = problem_of()
    running = Averaging(SubgradientSolver(average="plain"), problem, 50.0)
    running.run(100)
    learner = running.learners.values[0]
    there = copy_at(learner, np.ones((1, 4)))
    assert np.allclose(there.read()[0], learner.read()[0])
    assert np.allclose(there.state.v * there.state.real[0], 1.0)


def test_without_a_tolerance_all_passes_are_made():
    problem = problem_of()
    options = dict(tol=None, max_passes=2.0)
    found = rb.solve(problem, 50.0, solver=("subgradient", options))
    assert 2.0 <= found.info["passes"] < 2.01 and found.info["gap"] == np.inf


def test_what_is_refused():
    with pytest.raises(ValueError, match="loss"):
        rb.solve(problem_of(loss="squared"), 50.0, solver="subgradient")


def test_sparse_blocks_take_the_steps_of_dense_ones():
    one, other = (
        rb.solve(problem_of(store=store), 50.0, solver="subgradient").weights
        for store in (csr_array, np.asarray)
    )
    assert np.allclose(one, other, rtol=1e-9)
