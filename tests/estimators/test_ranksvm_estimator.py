"""The estimators against scikit-learn's own checks, and what those do not ask."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import rankbook as rb
from rankbook.estimators.ranksvm import RankSVM
from rankbook.kernels.kernel import Kernel
from rankbook.kernels.objects import over
from rankbook.metrics.pairs import disagreement
from rankbook.preferences.graph import Preferences
from rankbook.problems.ranksvm import RankSVMProblem
from rankbook.problems.rayleigh import auc_bound
from rankbook.registry.choice import choose_solver
from rankbook.registry.plugins import register_solver, unregister_solver
from rankbook.registry.solve import solve
from rankbook.solvers.path.solver import PathSolver


def test_qid_in_any_order(mixture):
    rng = np.random.default_rng(0)
    qid = rng.integers(0, 5, 60)
    order = rng.permutation(60)
    a = RankSVM(gamma=1.0).fit(mixture.X, mixture.y, qid=qid)
    b = RankSVM(gamma=1.0).fit(mixture.X[order], mixture.y[order], qid=qid[order])
    assert np.allclose(a.predict(mixture.X), b.predict(mixture.X), atol=1e-7)
    assert a.score(mixture.X, mixture.y, qid) == 1 - disagreement(
        mixture.y, a.predict(mixture.X), qid
    )


@pytest.mark.parametrize(
    "solver",
    ["path", "qp", PathSolver, PathSolver(perturbation=1e-9)],
    ids=["path", "qp", "class", "instance"],
)
def test_solver_by_name_class_or_instance(mixture, solver):
    model = RankSVM(lam=0.5, solver=solver).fit(mixture.X, mixture.y)
    assert model.certificate_.relative_gap < 1e-6
    assert model.solver_.split()[0] in ("path", "qp")


def test_any_registered_solver(mixture):
    class Zero(PathSolver):
        name = "zero"

    register_solver(Zero)
    try:
        assert RankSVM(solver="zero").fit(mixture.X, mixture.y).solver_ == "zero"
    finally:
        unregister_solver("zero")


def test_linear_coefficients(mixture):
    model = RankSVM(kernel="linear").fit(mixture.X, mixture.y)
    assert np.allclose(mixture.X @ model.coef_, model.predict(mixture.X))
    assert np.allclose(mixture.X.T @ model.solution_.coef, model.coef_) and not hasattr(
        model, "dual_coef_"
    )
    model.set_params(kernel="rbf").fit(mixture.X, mixture.y)
    assert not hasattr(model, "coef_") and model.dual_coef_.shape == model.support_.shape


def test_precomputed_agrees_with_rbf(mixture):
    K = Kernel("rbf", gamma=0.7).gram(mixture.X)
    a = RankSVM(gamma=0.7).fit(mixture.X, mixture.y)
    b = RankSVM(kernel="precomputed").fit(K, mixture.y)
    assert np.allclose(np.diff(a.predict(mixture.X)), np.diff(b.predict(K)), atol=1e-9)


def test_refit_after_error_keeps_the_old_model(mixture):
    model = RankSVM().fit(mixture.X, mixture.y)
    before = model.dual_coef_
    with pytest.raises(ValueError, match="y has no preference"):
        model.fit(mixture.X, np.zeros(60))
    assert model.dual_coef_ is before


def test_nan_is_found(mixture):
    X = mixture.X.copy()
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="row 7, column 1"):
        RankSVM().fit(X, mixture.y)
    with pytest.raises(ValueError, match="row 7, column 1"):
        RankSVM().fit(mixture.X, mixture.y).predict(X)


@pytest.mark.parametrize(
    "params, what",
    [
        (dict(lam=0), "lam is 0"),
        (dict(lam=-1.0), "lam is -1"),
        (dict(lam=np.inf), "lam is inf"),
        (dict(kernel="rfb"), "did you mean 'rbf'"),
        (dict(solver="pth"), "did you mean 'path'"),
        (dict(graph="ful"), "did you mean 'full'"),
        (dict(gamma=0.0), "gamma is 0"),
        (dict(degree=0, kernel="poly"), "degree is 0"),
    ],
)
def test_bad_parameters(mixture, params, what):
    with pytest.raises(ValueError, match=what):
        RankSVM(**({"solver": "path"} | params)).fit(mixture.X, mixture.y)


@pytest.mark.parametrize("weights", [[-1.0] + [1.0] * 59, [1.0] * 59, [np.nan] + [1.0] * 59])
def test_bad_sample_weight(mixture, weights):
    with pytest.raises(ValueError, match="sample_weight"):
        RankSVM().fit(mixture.X, mixture.y, sample_weight=weights)


def test_pickle_and_clone(mixture):
    model = RankSVM(lam=0.3).fit(mixture.X, mixture.y)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(mixture.X), model.predict(mixture.X))
    assert len(pickle.dumps(model)) < 8 * 60 * 60 + 40_000  # the kernel matrix stays at home
    assert clone(model).lam == 0.3


def test_automatic_choice(mixture):
    small = RankSVMProblem(mixture.X, Preferences.from_scores(mixture.y))
    assert choose_solver(small).name == "interior"
    assert RankSVM().fit(mixture.X, mixture.y).solver_.startswith("interior")
    X = np.random.default_rng(0).normal(size=(1000, 2))
    prefs = Preferences.from_scores(np.arange(1000) % 2)
    for kernel, name in (("linear", "newton"), ("rbf", "tiled")):
        assert choose_solver(RankSVMProblem(X, prefs, kernel=kernel)).name == name


def test_same_answer_as_solve(mixture):
    problem = RankSVMProblem(mixture.X, Preferences.from_scores(mixture.y))
    model, solution = (
        RankSVM(lam=2.0, solver="path").fit(mixture.X, mixture.y),
        solve(problem, 2.0, "path"),
    )
    assert np.array_equal(model.dual_coef_, solution.coef[model.support_]) and np.array_equal(
        model.support_, np.flatnonzero(solution.coef)
    )


# Large data


def queries(n=3000, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(n, d)), rng.integers(0, n // 30, n)
    return X, np.digitize(X[:, 0] - X[:, 1] + rng.normal(size=n), [-1.0, 0, 1]), qid


def test_large_linear_data_go_to_newton_and_are_never_listed():
    X, y, qid = queries()
    model = RankSVM(lam=2.0, kernel="linear").fit(X, y, qid=qid)
    assert model.solver_.startswith("newton") and model.certificate_.relative_gap <= 1e-6
    assert not model.solution_.problem.prefs.is_listed
    exact = RankSVM(lam=2.0, kernel="linear", solver="path").fit(X, y, qid=qid)
    assert np.isclose(
        model.certificate_.primal, exact.certificate_.primal, rtol=1e-6
    ) and np.allclose(model.coef_, exact.coef_, atol=2e-3)
    weighted = RankSVM(lam=2.0, kernel="linear").fit(
        X, y, qid=qid, sample_weight=1 + np.arange(3000) % 3
    )
    assert (
        weighted.certificate_.relative_gap <= 1e-6
        and not weighted.solution_.problem.prefs.is_listed
    )


@pytest.mark.parametrize(
    "form", ["csr_matrix", "csc_array", "coo_matrix", "float32", "csr float32"]
)
def test_sparse_and_float32_items_stay_what_they_are(form):
    import scipy.sparse as sp

    X, y, qid = queries()
    X[np.abs(X) < 0.7] = 0
    stored = X.astype(np.float32) if "float32" in form else X
    stored = {"csr float32": sp.csr_array}.get(form, getattr(sp, form, lambda a: a))(stored)
    model = RankSVM(lam=2.0, kernel="linear").fit(stored, y, qid=qid)
    dense = RankSVM(lam=2.0, kernel="linear", solver="newton").fit(X, y, qid=qid)
    assert model.solution_.problem.storage == ("float32" if form == "float32" else "csr")
    assert np.allclose(model.coef_, dense.coef_, atol=2e-3) and np.isclose(
        model.certificate_.primal, dense.certificate_.primal, rtol=1e-5
    )
    assert np.allclose(model.predict(stored), model.predict(X), atol=1e-5)
    few = RankSVM(kernel="linear").fit(X[:50].astype(np.float32), y[:50])
    assert (
        few.solver_.startswith("interior") and few.solution_.problem.storage == "float64"
    )  # few items are solved in double precision


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_only_a_linear_kernel_takes_sparse_items(kernel):
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match="X is a sparse matrix and kernel is"):
        RankSVM(kernel=kernel).fit(csr_array(np.eye(4)), np.arange(4))


def test_the_squared_hinge():
    X, y, qid = queries(400)
    for kernel, solver in (("linear", "interior"), ("rbf", "interior")):
        model = RankSVM(lam=2.0, kernel=kernel, loss="squared").fit(X[:80], y[:80], qid=qid[:80])
        assert model.solver_.startswith(solver) and model.certificate_.relative_gap <= 1e-6


def test_an_approximate_kernel_comes_near_and_says_what_it_is(mixture):
    exact = RankSVM(lam=0.3, gamma=1.0).fit(mixture.X, mixture.y)
    distance = []
    for p in (3, 15, 60):
        model = RankSVM(lam=0.3, gamma=1.0, approximate_kernel=p).fit(mixture.X, mixture.y)
        assert (
            f"for the kernel projected on {len(model.nystroem_map_.pivots)} items" in model.solver_
            and model.certificate_.relative_gap <= 1e-6
        )
        assert not hasattr(model, "dual_coef_") and model.coef_.shape == (
            len(model.nystroem_map_.pivots),
        )
        distance.append(
            abs(model.certificate_.primal - exact.certificate_.primal) / exact.certificate_.primal
        )
    assert distance[0] > distance[1] > distance[2] and distance[2] < 1e-5
    assert np.allclose(model.predict(mixture.X), exact.predict(mixture.X), atol=1e-2)
    again = clone(model).fit(mixture.X, mixture.y)
    assert np.array_equal(again.predict(mixture.X), model.predict(mixture.X))  # seeded
    assert not hasattr(
        model.set_params(approximate_kernel=None).fit(mixture.X, mixture.y), "nystroem_map_"
    )


def test_a_linear_kernel_needs_no_approximation(mixture):
    with pytest.raises(ValueError, match="approximate_kernel is given and kernel is 'linear'"):
        RankSVM(kernel="linear", approximate_kernel=5).fit(mixture.X, mixture.y)
    with pytest.raises(ValueError, match="n_components|approximate_kernel"):
        RankSVM(approximate_kernel=0).fit(mixture.X, mixture.y)


def test_where_rounding_ends_the_path_its_end_answers_and_auto_goes_on():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = rng.integers(0, 2, 40)
    K = X @ X.T
    problem = RankSVMProblem(K, Preferences.from_scores(y), kernel="precomputed")
    path = rb.solve_path(problem)
    lam = path.domain[0] / 2
    assert path.status == "rounding"
    with pytest.warns(ConvergenceWarning, match="The path ends at lam = "):
        last = rb.solve(problem, lam, solver="path")
    with pytest.warns(ConvergenceWarning, match="its tolerance of 1e-06"):
        end = path.coef(path.domain[0])
    assert (
        np.array_equal(last.coef, end) and "the solver 'qp' may come closer" in last.info["advice"]
    )
    # below the end nothing changes any more, but for the rounding of the problem itself
    beyond = lambda proof: (proof.gap - 2 * proof.rounding) / proof.primal
    assert beyond(last.certificate) < 1e-6 and last.certificate.relative_gap < 1e-5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = RankSVM(lam=lam, kernel="precomputed").fit(K, y)
    assert not fitted.solver_.startswith("path") and beyond(fitted.certificate_) < 1e-6


def test_features_of_any_unit_are_fitted_at_any_lam():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.round(X @ [1.0, 1.0])
    for lam in (1e3, 1.0, 1e-3):  # the last is below the end of the path
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert (
                RankSVM(kernel="linear", lam=lam).fit(X * [1e6, 1e-6], y).score(X * [1e6, 1e-6], y)
                > 0.7
            )


# A bar, and Ctrl-C


def small(kernel="linear"):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, np.digitize(X @ [1, 1, 0] + 0.3 * rng.normal(size=60), [-1, 1])


@pytest.mark.parametrize(
    ("solver", "unit"),
    [("interior", "steps"), ("newton", "steps"), ("path", "events"), ("auto", "steps")],
)
def test_a_bar_is_shown_if_asked_for_and_changes_nothing(solver, unit, capsys):
    X, y = small()
    silent = RankSVM(kernel="linear", solver=solver).fit(X, y)
    assert capsys.readouterr().err == ""
    shown = RankSVM(kernel="linear", solver=solver, progress=True).fit(X, y)
    assert f" {unit}" in capsys.readouterr().err
    assert np.array_equal(shown.coef_, silent.coef_)


def test_a_solver_without_a_bar_is_left_alone(capsys):
    X, y = small()
    for solver in ("qp", PathSolver, PathSolver()):
        RankSVM(kernel="linear", solver=solver, progress=True).fit(X, y)
        assert ("events" in capsys.readouterr().err) == (solver is PathSolver)


def test_an_approximate_kernel_has_a_bar_too(capsys):
    RankSVM(approximate_kernel=10, progress=True).fit(*small())
    assert "steps" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("solver", "inside"),
    [
        ("interior", "interior.solver.iterate"),
        ("newton", "newton.steps.newton_step"),
        ("path", "path.run.run_chunk"),
    ],
)
def test_ctrl_c_inside_a_solver_leaves_no_half_a_fit(solver, inside, monkeypatch):
    X, y = small()
    model = RankSVM(kernel="linear", solver=solver, progress=True)

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"rankbook.solvers.{inside}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert not [name for name in vars(model) if name.endswith("_")]
    before = model.fit(X, y).coef_
    with monkeypatch.context() as patch:
        patch.setattr(f"rankbook.solvers.{inside}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X[:, :2], y)
    assert model.coef_ is before and model.n_features_in_ == 3


def test_ctrl_c_in_a_fold_ends_cross_validation(monkeypatch):
    from rankbook.solvers.path import run

    X, y = small()
    whole, calls = run.run_chunk, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(*args)

    monkeypatch.setattr(run, "run_chunk", interrupted)
    model = rb.RankSVMCV(kernel="linear", cv=3, solver="path", n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert len(calls) == 2 and not [name for name in vars(model) if name.endswith("_")]


def test_a_solution_that_a_pickle_lost_is_missed_by_name():
    model = rb.RankSVM(kernel="linear").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(AttributeError, match="^exact_certificate_ needs solution_ and"):
        _ = model.exact_certificate_
    found = pickle.loads(pickle.dumps(model))
    with pytest.raises(AttributeError, match="^solution_ holds the training data and is not kept"):
        _ = found.solution_
    assert not hasattr(found, "solution_") and hasattr(model, "solution_")
    for one in (found, rb.RankSVM()):
        with pytest.raises(AttributeError, match="'RankSVM' object has no attribute 'solution'"):
            _ = one.solution
    with pytest.raises(AttributeError, match="'RankSVM' object has no attribute 'solution_'"):
        _ = rb.RankSVM().solution_


def test_objects_in_place_of_their_numbers_are_refused_by_name():
    kernel = over(["a", "ab", "b"], lambda a, b: float(len(set(a) & set(b))))
    model = rb.RankSVM(kernel=kernel)
    for objects in (["a", "ab", "b"], [object(), object(), object()]):
        with pytest.raises(TypeError, match="kernel.items"):
            model.fit(objects, [0, 1, 2])
    assert model.fit(kernel.items, [0, 1, 2]).predict(kernel.items).shape == (3,)


def test_an_estimator_in_place_of_its_solution_is_refused_by_name():
    model = rb.RankSVM(kernel="linear").fit([[0.0], [1.0]], [0, 1])
    for call in (lambda one: rb.suggest_pairs(one, 1), auc_bound):
        with pytest.raises(TypeError, match="^solution is a RankSVM. Pass .* its solution_"):
            call(model)
        with pytest.raises(TypeError, match="^solution is an int. Pass a Solution"):
            call(3)


def test_a_basis_says_what_shapes_a_precomputed_kernel_may_have():
    y, narrow = np.arange(5.0), np.ones((5, 3))
    for basis in ([0, 1], [0, 1, 2, 3]):
        with pytest.raises(
            ValueError, match=r"square Gram matrix .*, or \(n, r\) with the indices of r basis"
        ):
            rb.RankRLSProblem(narrow, y, kernel="precomputed", basis=basis)


@pytest.mark.parametrize(
    "model",
    [
        rb.RankSVM(kernel="linear"),
        rb.RankSVM(kernel="poly", approximate_kernel=4),
        rb.RankSVM(kernel="poly"),
        rb.RankRLS(kernel="poly"),
        rb.OnlineRankSVM(),
    ],
    ids=repr,
)
def test_scores_that_overflow_are_refused(model):
    X = np.random.default_rng(0).normal(size=(12, 2))
    model.fit(X, X.sum(axis=1).round())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="entries so large that .* overflows. Pass"):
            model.predict([[1.0, 1.0], [1.7e308, 1.7e308]])
    assert np.isfinite(model.predict(X)).all()
