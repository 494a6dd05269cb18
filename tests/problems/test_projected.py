"""Bounds that an approximate kernel proves of the exact one, against solutions of the exact one."""

import warnings

import numpy as np
import pytest

import rankbook as rb
from rankbook.estimators.ranksvm import worth_projecting
from rankbook.problems.ranksvm import EXACT_GAP, ProjectedProblem


def exact_problem(kernel, loss="hinge", n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(n // 2, 3)).round(1), 2, axis=0)
    y = np.digitize(X[:, 0] + rng.normal(size=n), [-1, 0, 1])
    prefs = rb.Preferences.from_scores(y, np.arange(n) % 4)
    if seed % 2:
        prefs = prefs.reweighted(rng.uniform(0, 3, len(prefs)), rng.uniform(0.5, 2, len(prefs)))
    return rb.RankSVMProblem(X, prefs, kernel=kernel, loss=loss)


def laplace(A, B):
    return np.exp(-np.abs(A[:, None] - B).sum(axis=2))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", laplace], ids=["rbf", "poly", "laplace"])
def test_the_bounds_hold_and_close(kernel, loss, seed, amount):
    exact = exact_problem(kernel, loss, seed=seed)
    gaps = []
    for lam in amount((1.0,), (100.0, 1.0)):
        optimum = rb.solve(exact, lam, solver="qp").certificate
        for p in (3, 20, 150):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "n_components is reduced")
                projected = ProjectedProblem.of(exact, p)
            for solver in ("interior", "newton", "qp"):
                proven = projected.exact_certificate(rb.solve(projected, lam, solver=solver))
                room = 1e-6 * max(1, optimum.primal)
                assert proven.dual <= optimum.primal + room
                assert proven.primal >= optimum.dual - room
                gaps.append(proven.relative_gap)
        assert max(gaps[-3:]) < 2e-6 and min(gaps[-9:-6]) > max(gaps[-3:])


def test_an_estimator_grows_until_the_gap_is_small_and_says_what_it_proves():
    exact = exact_problem("rbf", n=600)
    y = np.digitize(exact.X[:, 0], [-0.5, 0.5])
    for lam in (100.0, 0.1):
        model = rb.RankSVM(lam=lam, approximate_kernel="auto").fit(exact.X, y)
        assert model.exact_certificate_.relative_gap <= EXACT_GAP
        assert "projected on" in model.solver_ and hasattr(model, "nystroem_map_")
    few = rb.RankSVM(lam=0.1, approximate_kernel=3).fit(exact.X, y)
    assert few.exact_certificate_.relative_gap > EXACT_GAP
    with pytest.raises(AttributeError, match="a fit with approximate_kernel"):
        rb.RankSVM().fit(exact.X[:20], y[:20]).exact_certificate_  # noqa: B018
    with pytest.raises(ValueError, match="penalty is 'l1'. Pass penalty='l2'"):
        rb.RankSVM(penalty="l1", approximate_kernel=3).fit(exact.X, y)


def test_a_gram_matrix_is_taken_as_it_is():
    exact = exact_problem("rbf")
    given = rb.RankSVMProblem(exact.kernel.gram(exact.X), exact.prefs, kernel="precomputed")
    gaps = []
    for problem in (exact, given):
        projected = ProjectedProblem.of(problem, 20)
        solution = rb.solve(projected, 1.0, solver="interior")
        gaps.append(projected.exact_certificate(solution).relative_gap)
    assert gaps[1] == pytest.approx(gaps[0], rel=1e-6)


def test_a_certificate_is_computed_once_for_each_fit(monkeypatch):
    exact = exact_problem("rbf", n=60)
    y = np.digitize(exact.X[:, 0], [-0.5, 0.5])
    model = rb.RankSVM(approximate_kernel=5).fit(exact.X, y)
    first = model.exact_certificate_
    assert model.exact_certificate_ is first
    assert model.set_params(lam=10.0).fit(exact.X, y).exact_certificate_ is not first
    with pytest.raises(AttributeError):
        model.set_params(approximate_kernel=None).fit(exact.X, y).exact_certificate_  # noqa: B018
    model.set_params(approximate_kernel="auto", solver="newton").fit(exact.X, y)
    assert "projected on" in model.solver_
    monkeypatch.setattr(ProjectedProblem, "exact_certificate", None)
    assert model.exact_certificate_.relative_gap <= EXACT_GAP


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("seed, scale", [(0, 1e3), (1, 1e3), (2, 100.0)])
@pytest.mark.filterwarnings("ignore:the solver 'newton .* reached a relative gap")
def test_rounding_errors_of_a_large_kernel_prove_nothing_and_are_said(loss, seed, scale):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)) * scale, rng.integers(0, 3, 30)
    model = rb.RankSVM(
        lam=0.1, kernel="poly", loss=loss, approximate_kernel="auto", solver="newton"
    )
    with pytest.warns(UserWarning, match="with all .* items the relative gap .* not 0.01"):
        proven = model.fit(X, y).exact_certificate_
    assert 0 <= proven.dual <= proven.primal and not proven.is_optimal(1e-2)


def noisy_scores(n, d=10):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.digitize(X[:, 0] + rng.normal(size=n), [-1, 0, 1]), np.arange(n) % 10


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_growing_ends_where_the_kernel_itself_is_cheaper(loss, monkeypatch):
    """Small lam needs nearly all items: 100 are tried, 800 are not, and the answer is exact."""
    X, y, qid = noisy_scores(600)
    tried, of = [], ProjectedProblem.of
    monkeypatch.setattr(
        ProjectedProblem, "of", lambda exact, count: tried.append(count) or of(exact, count)
    )
    model = rb.RankSVM(lam=0.1, loss=loss, approximate_kernel="auto").fit(X, y, qid)
    assert tried and max(tried) <= 0.4 * len(X)
    assert "projected" not in model.solver_ and not hasattr(model, "nystroem_map_")
    assert model.exact_certificate_ == model.certificate_
    exact = rb.RankSVM(lam=0.1, loss=loss).fit(X, y, qid)
    assert np.array_equal(model.predict(X), exact.predict(X))
    assert model.set_params(lam=1e4).fit(X, y, qid).nystroem_map_ is not None
    assert "projected" in model.solver_
    few = rb.RankSVM(approximate_kernel="auto").fit(X[:60], y[:60])
    assert "projected" not in few.solver_


def test_growing_goes_on_where_the_kernel_itself_cannot_be_had(monkeypatch):
    X, y, qid = noisy_scores(150)
    by_name = rb.RankSVM(lam=0.1, approximate_kernel="auto", solver="newton").fit(X, y, qid)
    assert "projected on 150 items" in by_name.solver_
    monkeypatch.setattr("rankbook.registry.choice.available_memory", lambda: 8 * 150**2)
    model = rb.RankSVM(lam=0.1, approximate_kernel="auto").fit(X, y, qid)
    assert model.solver_.startswith("tiled") and model.exact_certificate_.relative_gap <= 0.01


def test_whether_projecting_is_worth_it_depends_on_who_could_do_without():
    X, y, _ = noisy_scores(60)
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y))
    assert not worth_projecting(problem, "auto")(100)
    assert not worth_projecting(problem, "interior")(100)
    assert worth_projecting(problem, "newton")(100)  # which takes no kernel
    assert worth_projecting(problem, rb.get_solver("interior"))(100)  # nothing is predicted


def test_distances_of_items_from_a_basis_of_which_an_item_is_dropped():
    x = np.r_[0, 1e-8, np.linspace(0.5, 3, 8)]
    options = dict(kernel="rbf", gamma=0.5, basis=[0, 1])
    problem = rb.RankRLSProblem(x[:, None], np.arange(10.0), **options)
    assert np.allclose(problem.outside, np.sqrt(1 - np.exp(-(x**2))), rtol=1e-9, atol=1e-7)


def test_the_squared_length_that_one_basis_item_explains():
    x, basis = np.linspace(0, 3, 8), [2, 5]
    K = 4 * np.exp(-0.5 * (x[:, None] - x) ** 2)
    problem = rb.RankRLSProblem(K[:, basis], np.arange(8.0), kernel="precomputed", basis=basis)
    assert np.allclose(problem.diagonal, (K[:, basis] ** 2 / 4).max(axis=1), rtol=1e-12)
    assert np.allclose(problem.diagonal[basis], 4) and (problem.diagonal <= 4).all()
