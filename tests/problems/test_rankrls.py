"""RankRLS against dense formulas, its certificate and the quadratic program.

Degenerate data come first.
"""

import pickle
import warnings

import numpy as np
import pytest
from corpus import degenerate

import rankbook as rb
from rankbook.kernels.basis import METHODS, choose_basis
from rankbook.kernels.kernel import Kernel
from rankbook.selection.leave_out import leave_out_predictions, leave_pair_out_predictions
from rankbook.solvers.rls.sparse import NystroemPreconditioner

LAMS = (1e-3, 0.1, 10.0)


def dense_laplacian(problem):
    return problem.graph.laplacian(np.eye(problem.n_items))


def gram(problem):
    return problem.X @ problem.X.T if problem.is_factored else problem.gram


def refined(A, b, times=20):
    """A^-1 b with residuals in extended precision.

    The formula's own rounding error thus does not count.
    """
    A, b, inverse = A.astype(np.longdouble), b.astype(np.longdouble), np.linalg.inv(A.astype(float))
    x = np.zeros_like(b)
    for _ in range(times):
        x = x + inverse @ (b - A @ x).astype(float)
    return x


def formula(problem, lam):
    """Scores of the items by the plainest dense formula.

    That is (L K + lam) a = b, or equation (8) for items of the basis that are independent.
    """
    L, K, b = (
        v.astype(np.longdouble) for v in (dense_laplacian(problem), gram(problem), problem.target.b)
    )
    if problem.basis is None:
        return (K @ refined(L @ K + lam * np.eye(len(K)), b)).astype(float)
    R = problem.basis[: problem.X.shape[1]] if problem.is_factored else problem.basis
    M = K[:, R]
    return (M @ refined(M.T @ L @ M + lam * K[np.ix_(R, R)], M.T @ b)).astype(float)


def graphs(rng, n):
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.3), 1)
    prefs = rb.Preferences.from_scores(rng.integers(0, 4, n))
    return dict(
        queries=dict(qid=rng.permutation(n) % 4),
        one_query={},
        identity=dict(graph="identity"),
        weighted=dict(graph=W + W.T),
        preferences=dict(
            graph=prefs.reweighted(
                weight=rng.uniform(0, 3, len(prefs)), margin=rng.uniform(0.5, 2, len(prefs))
            ),
            y=None,
        ),
    )


@pytest.mark.parametrize("graph", ["queries", "one_query", "identity", "weighted", "preferences"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("basis", [None, [3, 0, 17, 9, 11]], ids=["all", "basis"])
def test_against_the_dense_formula(graph, kernel, basis):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(24, 3)), rng.normal(size=24)
    problem = rb.RankRLSProblem(
        X, **({"y": y} | graphs(rng, 24)[graph]), kernel=kernel, basis=basis
    )
    solver = "rls" if basis is None else "sparse-rls"
    path = rb.solve_path(problem, solver=solver)
    for lam in LAMS:
        expected = formula(problem, lam)[:, 0]
        for solution in (rb.solve(problem, lam, solver=solver), path.solution(lam)):
            found = solution.predict(X)
            level = (
                found.mean() - expected.mean() if problem.is_centred else 0.0
            )  # the formula has the kernel measured from the mean
            assert np.abs(found - level - expected).max() <= 1e-8 * np.abs(expected).max()
            assert np.allclose(
                problem.matvec(solution.coef), found - (found.mean() if problem.is_centred else 0.0)
            )
            assert solution.certificate.is_optimal(1e-12) and solution.solver.startswith(solver)


@pytest.mark.parametrize("name", degenerate(np.random.default_rng(0)))
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("basis", [None, np.arange(0, 24, 2)], ids=["all", "basis"])
def test_degenerate_data(name, kernel, basis):
    rng = np.random.default_rng(0)
    X = degenerate(rng)[name]
    if name == "far" and kernel == "linear" and basis is not None:
        # the Gram matrix of a basis squares the offset, and has no digits left for the differences
        X = X - 1e5 + 100
    y, qid = rng.integers(0, 3, 24).astype(float), np.arange(24) % 3
    problem = rb.RankRLSProblem(X, y, qid=qid, kernel=kernel, basis=basis)
    path = rb.solve_path(problem, solver="rls" if basis is None else "sparse-rls")
    scale = max(1.0, path.spectrum.values.max(initial=0.0))
    for share in (1e-4, 1e-2, 1.0, 1e4):
        assert path.certificate(share * scale).is_optimal(1e-8), path.certificate(share * scale)


@pytest.mark.parametrize("graph", ["queries", "identity", "weighted", "preferences"])
@pytest.mark.parametrize(
    "kernel, basis", [("linear", None), ("rbf", None), ("rbf", [0, 5, 7]), ("linear", [0, 5])]
)
def test_against_the_quadratic_program(graph, kernel, basis):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    problem = rb.RankRLSProblem(
        X, **({"y": y} | graphs(rng, 20)[graph]), kernel=kernel, basis=basis
    )
    reference, own = (
        rb.solve(problem, 0.3, solver="qp"),
        rb.solve(problem, 0.3, solver="rls" if basis is None else "sparse-rls"),
    )
    assert reference.certificate.relative_gap < 1e-8 and reference.solver.startswith("qp")
    assert own.certificate.primal == pytest.approx(reference.certificate.primal, rel=1e-8)
    assert np.allclose(reference.predict(X), own.predict(X), atol=1e-4)


def test_qp_refuses_what_it_cannot():
    problem = rb.RankRLSProblem(np.eye(3), [0.0, 1, 2])
    with pytest.raises(ValueError, match="form is 'dual'"):
        rb.solve(problem, 1.0, solver="qp", form="dual")
    with pytest.raises(ValueError, match="lam is 0"):
        rb.solve(problem, 0, solver="qp")


@pytest.mark.parametrize("solver", ["path", "epsilon", "simplex"])
def test_other_solvers_say_no(solver):
    with pytest.raises(ValueError, match="not RankRLSProblem|not l2"):
        rb.solve_path(rb.RankRLSProblem(np.eye(3), [0.0, 1, 2]), solver=solver)


def test_rls_and_sparse_rls_name_each_other():
    X, y = np.eye(3), [0.0, 1, 2]
    with pytest.raises(ValueError, match="sparse-rls does"):
        rb.solve(rb.RankRLSProblem(X, y, basis=[0]), 1.0, solver="rls")
    with pytest.raises(ValueError, match="solver rls takes"):
        rb.solve(rb.RankRLSProblem(X, y), 1.0, solver="sparse-rls")
    svm = rb.RankSVMProblem(X, rb.Preferences.from_scores(y))
    with pytest.raises(ValueError, match="not RankSVMProblem"):
        rb.solve(svm, 1.0, solver="rls")


# The certificate


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("basis", [None, [0, 3, 4, 8]], ids=["all", "basis"])
def test_the_bound_holds_whatever_is_certified(seed, basis):
    rng = np.random.default_rng(seed)
    X, y, lam = rng.normal(size=(12, 2)), rng.normal(size=12), 10.0 ** rng.uniform(-3, 2)
    problem = rb.RankRLSProblem(X, y, qid=np.arange(12) % 3, basis=basis)
    best = rb.solve(problem, lam, solver="rls" if basis is None else "sparse-rls")
    for scale in (1e-6, 1e-3, 1.0):
        coef = best.coef + scale * rng.normal(size=best.coef.shape)
        found, step = problem.certificate(lam, coef), coef - best.coef
        assert found.gap >= (found.primal - best.certificate.primal) * (1 - 1e-9) - 1e-12
        K = problem.gram if basis is None else problem.basis_gram
        assert found.radius >= np.sqrt(max(0, step @ K @ step)) * (1 - 1e-6) - 1e-12
        outwards = 2 * found.rounding  # both bounds are moved
        assert found.dual == pytest.approx(found.primal - found.gap - outwards, rel=1e-12)


def test_every_mutation_is_caught():
    rng = np.random.default_rng(0)
    problem = rb.RankRLSProblem(
        rng.normal(size=(15, 2)), rng.normal(size=15) * 1e-6, qid=np.arange(15) % 3
    )  # small scores: J is far below 1
    coef = rb.solve(problem, 0.1, solver="rls").coef
    assert problem.certificate(0.1, coef).is_optimal(1e-12)
    for i in range(15):
        changed = coef.copy()
        changed[i] *= -1
        assert not problem.certificate(0.1, changed).is_optimal(1e-6)
    assert not problem.certificate(0.1, 0 * coef).is_optimal(0.5) and not problem.certificate(
        0.11, coef
    ).is_optimal(1e-6)


def test_shapes_of_solutions_are_checked():
    problem = rb.RankRLSProblem(np.eye(4), np.arange(4.0), basis=[1, 2])
    with pytest.raises(ValueError, match=r"coef has shape \(4,\).*\(2,\)"):
        rb.Solution(problem, 1.0, np.zeros(4))
    with pytest.raises(ValueError, match="dual has shape"):
        rb.Solution(problem, 1.0, np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="both None"):
        rb.Solution(problem, 1.0)


# Inputs


@pytest.mark.parametrize("kernel, basis", [("linear", None), ("rbf", None), ("rbf", [2, 9, 4])])
def test_layout_dtype_and_order_of_rows_do_not_matter(kernel, basis):
    rng = np.random.default_rng(3)
    X, y, qid = (
        rng.integers(-4, 5, (20, 3)).astype(float),
        rng.integers(0, 3, 20).astype(float),
        np.array(list("abcd"))[np.arange(20) % 4],
    )
    solver = "rls" if basis is None else "sparse-rls"
    expected = rb.solve(
        rb.RankRLSProblem(X, y, qid=qid, kernel=kernel, basis=basis), 0.5, solver=solver
    ).predict(X)
    order = rng.permutation(20)
    frozen = X.copy()
    frozen.flags.writeable = False
    moved = None if basis is None else np.argsort(order)[basis]
    variants = [
        (X.astype(np.float32), y.astype(np.float32), qid, basis),
        (np.asfortranarray(X), y.astype(int), qid, basis),
        (frozen, y, qid, basis),
        (np.repeat(X, 2, axis=0)[::2], y, qid.tolist(), basis),
        (X[order], y[order], qid[order], moved),
        (X.tolist(), y.tolist(), qid, basis),
    ]
    for X_i, y_i, qid_i, basis_i in variants:
        answer = rb.solve(
            rb.RankRLSProblem(X_i, y_i, qid=qid_i, kernel=kernel, basis=basis_i), 0.5, solver=solver
        )
        assert np.allclose(answer.predict(X), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel, basis", [("linear", None), ("rbf", None), ("rbf", [2, 9, 4])])
def test_columns_of_y_are_learnt_side_by_side(kernel, basis):
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
    Y[:, 2] = 1.0  # a column without a difference is harmless beside others
    solver = "rls" if basis is None else "sparse-rls"
    make = lambda y: rb.RankRLSProblem(X, y, qid=np.arange(20) % 2, kernel=kernel, basis=basis)
    path, single = (
        rb.solve_path(make(Y), solver=solver),
        [rb.solve_path(make(Y[:, j]), solver=solver) for j in range(2)],
    )
    for j in range(2):
        assert np.allclose(path.coef(0.2)[:, j], single[j].coef(0.2), rtol=1e-8, atol=1e-10)
    assert np.allclose(path.predict(X, 0.2)[:, 2], 0, atol=1e-9)
    assert path.coefs(LAMS).shape == (3, 20 if basis is None else 3, 3) and path.predictions(
        X[:5], LAMS
    ).shape == (3, 5, 3)
    assert rb.solve(make(Y[:, :1]), 0.2, solver=solver).predict(X).shape == (20, 1)
    assert rb.solve(make(Y), 0.2, solver="qp").certificate.is_optimal(1e-6)
    assert path.certificate(0.2).is_optimal(1e-12) and path.solution(0.2).proven(
        [0, 1], [1, 0]
    ).shape == (2, 3)


def test_precomputed_kernels_agree_with_named_ones():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(15, 2)), rng.normal(size=15)
    K = Kernel("rbf").gram(X)
    for basis, solver in ((None, "rls"), ([1, 8, 3], "sparse-rls")):
        a = rb.solve(rb.RankRLSProblem(X, y, basis=basis), 0.2, solver=solver)
        b = rb.solve(rb.RankRLSProblem(K, y, kernel="precomputed", basis=basis), 0.2, solver=solver)
        assert np.allclose(a.predict(X), b.predict(K), rtol=1e-10) and b.predict(K[:0]).shape == (
            0,
        )
    with pytest.raises(ValueError, match="square Gram matrix"):
        rb.RankRLSProblem(K[:, :4], y, kernel="precomputed")


@pytest.mark.parametrize(
    "change, match",
    [
        (dict(y=np.ones(6)), "no two different scores"),
        (dict(y=np.arange(6) % 2, qid=np.arange(6) % 2), "no two different scores"),
        (dict(y=np.arange(5)), "y has 5 rows"),
        (dict(y=[0, 1, np.nan, 0, 0, 0]), "y has NaN at index 2"),
        (dict(qid=[1, 2]), "qid has shape"),
        (dict(basis=[0, 0]), "item 0 more than once"),
        (dict(basis=[6]), "item 6"),
        (dict(basis=[-1]), "item -1"),
        (dict(basis=np.arange(7)), "and X has only 6"),
        (dict(basis=[0.5]), "dtype float64"),
        (dict(graph=np.eye(6, k=1)), "not symmetric"),
        (dict(graph=-np.ones((6, 6))), "negative weight"),
        (dict(graph=np.zeros((6, 6))), "no two different scores"),
        (dict(graph="star"), "graph is 'star'"),
        (dict(graph=np.eye(6), qid=np.arange(6)), "both given"),
        (dict(kernel="rfb"), "did you mean 'rbf'"),
        (dict(y=None), "y is None"),
        (dict(graph=np.eye(5)), "graph has shape"),
        (dict(qid=[0, 0, 0, np.nan, 1, 1]), "qid has NaN at index 3"),
    ],
)
def test_bad_arguments(change, match):
    with pytest.raises(ValueError, match=match):
        rb.RankRLSProblem(np.arange(12.0).reshape(6, 2), **({"y": np.arange(6.0)} | change))


@pytest.mark.parametrize("lam", [0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize("solver", ["rls", "qp"])
def test_bad_lambda(lam, solver):
    problem = rb.RankRLSProblem(np.eye(3), [0.0, 1, 2])
    with pytest.raises(ValueError, match="lam is"):
        rb.solve(problem, lam, solver=solver)
    path = rb.solve_path(problem, solver="rls")
    for read in (
        path.coef,
        lambda bad: path.coefs([1.0, bad]),
        lambda bad: problem.certificate(bad, np.zeros(3)),
    ):
        with pytest.raises(ValueError, match="lams? (is|has)"):
            read(lam)


def test_single_items_are_counted_and_change_nothing():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(10, 2)), rng.normal(size=10)
    with pytest.warns(UserWarning, match="2 of 4 queries have a single item"):
        with_alone = rb.RankRLSProblem(X, y, qid=np.r_[np.arange(8) % 2, 7, 8], kernel="linear")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        without = rb.RankRLSProblem(X[:8], y[:8], qid=np.arange(8) % 2, kernel="linear")
    a, b = (rb.solve(p, 0.5, solver="rls").predict(X) for p in (with_alone, without))
    assert np.allclose(a, b, rtol=1e-12)


def test_a_path_pickles_and_answers_grids():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    for kernel, basis in (("rbf", None), ("linear", None), ("rbf", [0, 4, 9])):
        problem = rb.RankRLSProblem(X, y, kernel=kernel, basis=basis)
        path = rb.solve_path(problem, solver="rls" if basis is None else "sparse-rls")
        assert (
            isinstance(path, rb.SolutionPath)
            and path.status == "complete"
            and path.breakpoints.shape == (0,)
            and path.solver.split()[0] in ("rls", "sparse-rls")
        )
        copy = pickle.loads(pickle.dumps(path))
        new = rng.normal(size=(4, 2))
        assert np.allclose(copy.predictions(new, LAMS), [path.predict(new, lam) for lam in LAMS])
        assert np.allclose(path.coefs(LAMS), [path.coef(lam) for lam in LAMS])
        assert "gram" not in copy.problem.__dict__ and "table" not in copy.problem.__dict__
        with pytest.raises(ValueError, match="X_new has 3 columns"):
            path.predictions(np.zeros((1, 3)), LAMS)


def test_blocks_give_what_the_table_gives(monkeypatch):
    import rankbook.kernels.basis
    import rankbook.problems.ranksvm

    rng = np.random.default_rng(8)
    X, y, qid = rng.normal(size=(200, 3)), rng.normal(size=200), rng.integers(0, 9, 200)
    make = lambda: rb.RankRLSProblem(X, y, qid=qid, basis=np.arange(0, 200, 10))
    whole = rb.solve(make(), 0.1, solver="sparse-rls")
    monkeypatch.setattr(rankbook.kernels.basis.BasisMap, "TABLE", 0)
    monkeypatch.setattr(rankbook.kernels.basis, "BLOCK", 300)
    monkeypatch.setattr("rankbook.problems.rankrls.BLOCK", 300)
    problem = make()
    parts = rb.solve(problem, 0.1, solver="sparse-rls")
    assert (
        "table" not in problem.__dict__
        and np.allclose(parts.coef, whole.coef, rtol=1e-8)
        and parts.certificate.is_optimal(1e-12)
    )


@pytest.mark.parametrize("method", METHODS)
def test_choosing_a_basis(method):
    X = np.random.default_rng(9).normal(size=(50, 2))
    a, b = (choose_basis(X, 12, method, random_state=1) for _ in range(2))
    assert np.array_equal(a, b) and np.unique(a).size == 12 and (np.diff(a) > 0).all()
    for bad in (0, 51, 2.5, True):
        with pytest.raises((ValueError, TypeError), match="r is"):
            choose_basis(X, bad, method)
    with pytest.raises(ValueError, match="did you mean"):
        choose_basis(X, 2, "rndom")


# The estimator


def test_partial_fit_is_a_fit():
    rng = np.random.default_rng(10)
    X, y, qid = rng.normal(size=(60, 4)), rng.normal(size=60), np.repeat(np.arange(6), 10)
    for options in (
        dict(kernel="linear"),
        dict(kernel="linear", graph="identity"),
        dict(basis=X[::7]),
        dict(basis=X[::7], graph="identity"),
    ):
        identity = "graph" in options
        fitted = rb.RankRLS(**options).fit(X, y, **({} if identity else {"qid": qid}))
        online, blocks = (
            rb.RankRLS(**options),
            [(X[qid == q], y[qid == q], qid[qid == q]) for q in rng.permutation(6)],
        )
        for block in blocks:
            online.partial_fit(*block)
        streamed = rb.RankRLS(**options).fit(iter(blocks))
        assert np.allclose(
            online.predict(X), fitted.predict(X), rtol=1e-8, atol=1e-10
        ) and np.allclose(streamed.predict(X), online.predict(X), rtol=1e-12)
        assert online.certificate_.is_optimal(1e-12)
        assert np.allclose(pickle.loads(pickle.dumps(online)).predict(X), online.predict(X))


def test_identity_is_ridge_regression():
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    ours, theirs = (
        rb.RankRLS(kernel="linear", graph="identity", lam=2.0).fit(X, y),
        Ridge(alpha=2.0, fit_intercept=False).fit(X, y),
    )
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-10)


def test_a_failed_fit_changes_nothing():
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    model = rb.RankRLS().fit(X, y)
    before = model.dual_coef_
    for bad in (
        lambda: model.fit(X, np.zeros(20)),
        lambda: model.set_params(lam=0).fit(X, y),
        lambda: model.set_params(lam=1.0, solver="rsl").fit(X, y),
    ):
        with pytest.raises(ValueError):
            bad()
        assert model.dual_coef_ is before


# One lambda by Cholesky


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", degenerate(np.random.default_rng(0)))
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("graph", [dict(qid=np.arange(24) % 3), {}, dict(graph="identity")])
def test_one_lambda_is_as_good_as_the_decomposition(name, kernel, graph):
    rng = np.random.default_rng(0)
    X, y = degenerate(rng)[name], rng.integers(0, 3, (24, 2)).astype(float)
    if kernel == "poly":
        X = X / max(1.0, np.abs(X).max())
    problem = rb.RankRLSProblem(X, y, kernel=kernel, **graph)
    path = rb.solve_path(problem, solver="rls")
    scale = path.spectrum.values.max(initial=0.0) or 1.0
    for share in np.logspace(-20, 8, 15):
        one = rb.solve(problem, share * scale, solver="rls").certificate
        whole = path.certificate(share * scale)
        assert one.is_optimal(1e-9) or one.gap <= whole.gap * 1.01


@pytest.mark.parametrize("graph", ["queries", "one_query", "identity", "weighted", "preferences"])
def test_one_lambda_takes_no_decomposition(graph, monkeypatch):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(24, 3)), rng.normal(size=24)
    problem = rb.RankRLSProblem(X, **({"y": y} | graphs(rng, 24)[graph]))
    path = rb.solve_path(problem, solver="rls")
    monkeypatch.setattr("scipy.linalg.eigh", None)
    for lam in LAMS:
        one = rb.solve(problem, lam, solver="rls")
        assert one.info == dict(form="dual", by="Cholesky") and one.certificate.is_optimal(1e-12)
        assert np.allclose(one.coef, path.coef(lam), rtol=1e-9, atol=1e-9 * np.abs(one.coef).max())
    line = rb.RankRLSProblem(X, y, kernel="linear")
    assert rb.solve(line, 0.1, solver="rls").info == dict(form="primal", by="Cholesky")
    model = rb.RankRLS(basis=X[:5]).partial_fit(X, y)
    assert model.certificate_.is_optimal(1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_below_the_rounding_errors_the_decomposition_answers():
    X = np.repeat(np.random.default_rng(0).normal(size=(6, 2)), 4, axis=0)
    problem = rb.RankRLSProblem(X, np.arange(24) % 5.0)
    asked = {rb.solve(problem, lam, solver="rls").info["by"] for lam in np.logspace(-25, -16, 10)}
    assert "decomposition" in asked


# Beyond memory


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("graph", [dict(qid=np.arange(24) % 3), {}, dict(graph="identity")])
@pytest.mark.parametrize("rows", [1, 7, 24, 100])
def test_blocks_of_the_kernel_are_the_kernel(kernel, graph, rows, monkeypatch):
    rng = np.random.default_rng(1)
    X, y, V = rng.normal(size=(24, 3)) + 5, rng.normal(size=24), rng.normal(size=(24, 2))
    monkeypatch.setattr("rankbook.kernels.tiles.TILE", rows)
    kept, again = (rb.RankRLSProblem(X, y, kernel=kernel, **graph) for _ in range(2))
    again.WHOLE = 0
    scale = np.abs(kept.gram).max()
    for v in (V, V[:, 0]):
        assert np.allclose(again.matvec(v), kept.matvec(v), rtol=1e-9, atol=1e-9 * scale)
    assert np.allclose(again.diagonal, kept.diagonal, rtol=1e-9, atol=1e-9 * scale)
    found, expected = (p.certificate(0.3, 0.1 * V[:, 0]) for p in (again, kept))
    assert found.gap == pytest.approx(expected.gap, rel=1e-7)
    assert found.primal == pytest.approx(expected.primal, rel=1e-7)
    assert "gram" not in vars(again)


@pytest.mark.parametrize("name", degenerate(np.random.default_rng(0)))
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("graph", [dict(qid=np.arange(24) % 3), {}, dict(graph="identity")])
def test_conjugate_gradients_on_degenerate_data(name, kernel, graph):
    rng = np.random.default_rng(0)
    X, y = degenerate(rng)[name], rng.integers(0, 3, (24, 2)).astype(float)
    problem = rb.RankRLSProblem(X, y, kernel=kernel, **graph)
    problem.WHOLE = 0
    scale = rb.solve_path(problem, solver="rls").spectrum.values.max(initial=0.0) or 1.0
    for share in (1e-4, 1e-2, 1.0, 1e4):
        for directions in (1, 5, 100):
            found = rb.solve(problem, share * scale, solver="rls", directions=directions)
            assert found.certificate.is_optimal(1e-8), (share, directions, found.certificate)


def test_directions_are_checked_and_reach_the_estimator():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    model = rb.RankRLS(lam=0.1, solver=rb.get_solver("rls", directions=5)).fit(X, y)
    assert model.solution_.info["by"] == "conjugate gradients"
    assert np.allclose(model.predict(X), rb.RankRLS(lam=0.1).fit(X, y).predict(X), atol=1e-4)
    weighted = rb.RankRLSProblem(X, y, graph=np.ones((30, 30)) - np.eye(30))
    with pytest.raises(ValueError, match="graph of queries"):
        rb.solve(weighted, 0.1, solver="rls", directions=5)
    for bad in (0, -1, 2.5):
        with pytest.raises((ValueError, TypeError), match="directions"):
            rb.solve(rb.RankRLSProblem(X, y), 0.1, solver="rls", directions=bad)
    fine = rb.solve(rb.RankRLSProblem(X, y), 0.1, solver="rls", directions=5)
    assert "advice" not in fine.info
    with pytest.warns(Warning, match="Pass more directions"):  # far below the rounding errors
        rb.solve(rb.RankRLSProblem(X, y, gamma=1e-3), 1e-17, solver="rls", directions=1)


# Weights of items


def weighted_items(n=40, queries=4):
    """Items, scores, query ids, and weights of which a few are 0."""
    rng = np.random.default_rng(3)
    X, qid = rng.normal(size=(n, 3)), rng.permutation(n) % queries
    y = X[:, 0] + np.sin(X[:, 1]) + 5 * qid + 0.1 * rng.normal(size=n)
    return X, y, qid, rng.integers(0, 4, n).astype(float)


WAYS = {
    "linear": dict(kernel="linear"),
    "rbf": dict(),
    "poly": dict(kernel="poly"),
    "basis": dict(basis=[0, 3, 8, 20]),
    "few": dict(kernel="linear", solver="qp"),
    "iterative": dict(solver=("rls", dict(directions=10))),
}


def fitted(way, X, y, qid, weight=None, lam=0.3, **changes):
    """The scores of a RankRLSProblem at one lambda, and its solution."""
    options = dict(WAYS[way]) | changes
    name, more = options.pop("solver", "auto"), {}
    name, more = name if isinstance(name, tuple) else (name, more)
    problem = rb.RankRLSProblem(X, y, qid, item_weight=weight, **options)
    return rb.solve(problem, lam, solver=name, **more)


@pytest.mark.parametrize("queries", ["one", "several", "identity"])
@pytest.mark.parametrize("way", WAYS)
def test_a_weight_is_how_often_an_item_counts(way, queries):
    X, y, qid, weight = weighted_items()
    changes = dict(graph="identity") if queries == "identity" else {}
    qid = qid if queries == "several" else None
    # the basis goes first, so that both have the same one
    front = np.array(WAYS[way].get("basis", []), dtype=int)
    weight[front] = np.maximum(weight[front], 1)
    rest = np.repeat(np.arange(40), (weight - np.isin(np.arange(40), front)).astype(int))
    items = np.r_[front, rest]
    again = dict(basis=list(range(front.size))) if front.size else {}
    part = lambda v: None if v is None else v[items]
    heavy = fitted(way, X, y, qid, weight, **changes)
    copied = fitted(way, X[items], y[items], part(qid), None, **changes, **again)
    scores, expected = heavy.predict(X), copied.predict(X)
    loose = 1e-4 if way in ("few", "iterative") else 1e-8
    assert np.allclose(scores, expected, atol=loose * np.abs(expected).max(), rtol=0)
    assert heavy.certificate.primal == pytest.approx(copied.certificate.primal, rel=1e-6)
    assert heavy.certificate.is_optimal(1e-5)


@pytest.mark.parametrize("way", WAYS)
def test_ones_change_no_bit_and_zeros_have_no_influence(way):
    X, y, qid, weight = weighted_items()
    plain, ones = fitted(way, X, y, qid), fitted(way, X, y, qid, np.ones(40))
    assert np.array_equal(plain.coef, ones.coef)
    away = y + 1000.0 * (weight == 0)
    for lam in (1e-3, 10.0):
        f, g = (fitted(way, X, scores, qid, weight, lam).predict(X) for scores in (y, away))
        assert np.allclose(f, g, atol=1e-6 * np.abs(f).max(), rtol=0)


def test_weights_of_items_against_the_dense_formula():
    X, y, qid, weight = weighted_items()
    W = (qid[:, None] == qid) * np.outer(weight, weight)
    L = np.diag(W.sum(axis=1)) - W
    for kernel in ("linear", "rbf"):
        problem = rb.RankRLSProblem(X, y, qid, kernel=kernel, item_weight=weight)
        assert np.allclose(dense_laplacian(problem), L)
        for lam in LAMS:
            f = rb.solve(problem, lam, solver="rls").predict(X)
            assert np.allclose(*(v - v[0] for v in (f, formula(problem, lam)[:, 0])), atol=1e-8)
        path = rb.solve_path(problem, solver="rls")
        assert np.allclose(path.predict(X, 0.3), fitted(kernel, X, y, qid, weight).predict(X))
        heavier = rb.RankRLSProblem(X, y, qid, kernel=kernel, item_weight=10 * weight)
        assert np.allclose(  # all pairs weigh a hundred times as much
            rb.solve(heavier, 100.0, solver="rls").predict(X), path.predict(X, 1.0)
        )


def test_a_query_without_weight_counts_for_nothing():
    X, y, qid, weight = weighted_items()
    weight[qid == 2] = 0
    left = qid != 2
    for way in ("linear", "rbf"):
        heavy = fitted(way, X, y, qid, weight)
        alone = fitted(way, X[left], y[left], qid[left], weight[left])
        assert np.allclose(heavy.predict(X), alone.predict(X), rtol=1e-8)


@pytest.mark.parametrize("graph", [None, "identity"])
def test_weights_go_into_statistics(graph):
    X, y, qid, weight = weighted_items()
    model = rb.RankRLS(kernel="linear", graph=graph)
    ids = qid if graph is None else None
    whole = rb.RankRLS(kernel="linear", graph=graph).fit(X, y, ids, weight)
    blocks = [(X[qid == q], y[qid == q], qid[qid == q], weight[qid == q]) for q in range(4)]
    for block in blocks:
        model.partial_fit(*block)
    streamed = rb.RankRLS(kernel="linear", graph=graph).fit(iter(blocks))
    first = qid < 2
    later = rb.RankRLS(kernel="linear", graph=graph).fit(
        X[first], y[first], None if graph else qid[first], weight[first]
    )
    later.partial_fit(X[~first], y[~first], qid[~first], weight[~first])
    for other in (model, streamed, later):
        assert np.allclose(other.coef_, whole.coef_, rtol=1e-9)


def test_bad_weights_are_refused_by_name():
    X, y, qid, weight = weighted_items()
    problem = lambda **options: lambda: rb.RankRLSProblem(X, y, **options)
    fit = lambda w, **options: lambda: rb.RankRLS(**options).fit(X, y, sample_weight=w)
    path = rb.solve_path(rb.RankRLSProblem(X, y, qid, item_weight=weight), solver="rls")
    for call, message in (
        (problem(item_weight=-weight), "^item_weight has"),
        (problem(item_weight=weight[1:]), "^item_weight has"),
        (problem(item_weight=weight * 1e120), "^item_weight has"),
        (problem(item_weight=weight, graph=np.ones((40, 40))), "^item_weight and graph"),
        (problem(item_weight=np.zeros(40)), "no two different scores"),
        (fit(-weight), "^sample_weight has"),
        (fit(weight[1:]), "^sample_weight has"),
        (fit(np.zeros(40)), "^sample_weight is zero for every item"),
        (fit(weight, graph=np.ones((40, 40))), "^sample_weight is given and graph is an ndarray"),
        (
            lambda: rb.RankRLS(kernel="linear").fit(iter([(X, y)]), sample_weight=weight),
            "^sample_weight is given and X is an iterator",
        ),
        (lambda: leave_out_predictions(path, [[0, 4]], [1.0]), "^item_weight is given"),
        (lambda: leave_pair_out_predictions(path, [0], [1], [1.0]), "^item_weight is given"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("directions", [None, 200])
def test_weights_that_overflow_prove_nothing(directions):
    X, y = np.random.default_rng(0).normal(size=(6, 2)), np.arange(6.0)
    problem = rb.RankRLSProblem(X, y, kernel="rbf", item_weight=np.full(6, 1e90))
    options = {} if directions is None else dict(directions=directions)
    with np.errstate(all="ignore"), pytest.warns(UserWarning, match="relative gap of"):
        certificate = rb.solve(problem, 1.0, solver="rls", **options).certificate
    assert not certificate.is_optimal(1e-2)
    # the gap, inf or not, reaches down to the minimum, which is nothing beside the objective
    assert certificate.gap + certificate.rounding >= certificate.primal


def test_a_model_without_coefficients_predicts_zeros():
    model = rb.RankRLS(kernel="poly", basis=[0]).fit(np.ones((4, 2)), np.arange(4.0))
    assert model.predict(np.ones((3, 2))).tolist() == [0.0, 0.0, 0.0]


def test_huge_item_weights_are_refused_by_the_name_they_were_given():
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    with pytest.raises(ValueError, match="sample_weight"):
        rb.RankRLS().fit(X, y, sample_weight=np.full(6, 1e300))
    with pytest.raises(ValueError, match="item_weight"):
        rb.RankRLSProblem(X, y, item_weight=np.full(6, 1e300))


def test_all_directions_make_the_preconditioned_system_a_multiple_of_the_identity():
    rng = np.random.default_rng(0)
    problem = rb.RankRLSProblem(rng.normal(size=(15, 2)), rng.normal(size=15), kernel="rbf")
    graph, lam = problem.graph, 0.1
    inverse = NystroemPreconditioner(problem, lam, 15)
    v = rng.normal(size=(15, 1))
    product = graph.root_transposed(problem.matvec(graph.root(v))) + lam * v
    assert np.allclose(inverse(product), lam * v, atol=1e-8)  # the constant has eigenvalue 0


def two_weights(rng, n):
    """Preferences of scores with two weights for each item, some 0, and the same as a list."""
    y, qid = rng.integers(0, 4, n).astype(float), rng.integers(0, 3, n)
    a, b = (rng.uniform(0, 2, n) * (rng.random(n) < 0.7) for _ in range(2))
    k, l = np.nonzero((y[:, None] > y) & (qid[:, None] == qid) & (np.outer(a, b) > 0))
    prefs = rb.Preferences.from_scores(y, qid).item_weighted(a, b)
    return prefs, rb.Preferences(k, l, n, weight=a[k] * b[l])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("basis", [None, [3, 0, 9]], ids=["all", "basis"])
@pytest.mark.parametrize("name", [None, *degenerate(np.random.default_rng(0))])
def test_two_weights_as_listed_pairs(kernel, basis, name):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(24, 3)) if name is None else degenerate(rng)[name]
    if name == "far":  # rounding of the kernel of a basis would be what is compared
        X = X - X.mean(axis=0)
    solver = "rls" if basis is None else "sparse-rls"
    for _ in range(3):
        problems = [
            rb.RankRLSProblem(X, graph=prefs, kernel=kernel, basis=basis)
            for prefs in two_weights(rng, 24)
        ]
        counted, listed = problems
        assert np.isclose(counted.gradient_scatter(), listed.gradient_scatter(), rtol=1e-9)
        paths = [rb.solve_path(problem, solver=solver) for problem in problems]
        unit = max(1e-3, paths[1].spectrum.values.max(initial=0.0))
        for lam in (1e-3 * unit, 0.1 * unit, 10 * unit):
            ours, theirs = (rb.solve(problem, lam, solver=solver) for problem in problems)
            for one in (ours, paths[0].solution(lam)):
                assert np.isclose(one.certificate.primal, theirs.certificate.primal, rtol=1e-9)
                assert one.certificate.is_optimal(1e-9)
            coef = rng.normal(size=counted.coef_shape)
            of_any = [problem.certificate(lam, coef) for problem in problems]
            for fact in ("primal", "dual", "gap"):
                values = (getattr(each, fact) for each in of_any)
                assert np.isclose(*values, rtol=1e-9, atol=1e-9 * of_any[1].primal)


def test_preferences_that_are_counted_are_not_listed():
    rng = np.random.default_rng(0)
    prefs, _ = two_weights(rng, 60)
    X = rng.normal(size=(60, 3))
    model = rb.RankRLS(kernel="linear").fit(X, prefs)
    assert not prefs.is_listed and model.certificate_.is_optimal(1e-12) and model.by_query_
    kernel = rb.solve(rb.RankRLSProblem(X, graph=prefs), 0.1, solver="rls", directions=20)
    assert not prefs.is_listed and kernel.certificate.is_optimal(1e-9)
    again = rb.RankRLS(model.lam_, kernel="linear").fit(X, preferences=prefs)
    assert np.array_equal(again.coef_, model.coef_)
    squares = rb.RankRLSProblem(X, graph=prefs, kernel="linear", penalty="l1")
    found = rb.solve(squares, 0.1 * squares.lam_max, solver="homotopy")
    assert found.certificate.is_optimal(1e-9) and not prefs.is_listed


def test_two_weights_without_a_pair_are_refused():
    prefs = rb.Preferences.from_scores([0.0, 1, 2]).item_weighted([1.0, 1, 1], [0.0, 0, 1])
    with pytest.raises(ValueError, match="no preference of positive weight"):
        rb.RankRLSProblem(np.eye(3), graph=prefs)
    with pytest.raises(ValueError, match="preferences"):
        rb.RankRLS(kernel="linear").fit(np.eye(3), prefs)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("with_scores", [False, True])
def test_paths_of_two_weights_are_stored(kernel, with_scores, tmp_path):
    rng = np.random.default_rng(0)
    prefs, _ = two_weights(rng, 20)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20) if with_scores else None
    path = rb.solve_path(rb.RankRLSProblem(X, y, graph=prefs, kernel=kernel), solver="rls")
    path.save(tmp_path / "path.npz")
    again = rb.load(tmp_path / "path.npz")
    for lam in (0.1, 10.0):
        assert np.allclose(again.coef(lam), path.coef(lam), rtol=1e-12)
        assert np.isclose(again.certificate(lam).primal, path.certificate(lam).primal, rtol=1e-12)


@pytest.mark.parametrize("columns", [1, 2])
def test_the_loss_of_a_weighted_graph_is_a_sum_over_its_pairs(columns):
    rng = np.random.default_rng(0)
    X, Y, W = rng.normal(size=(7, 3)), rng.normal(size=(7, columns)), rng.integers(0, 3, (7, 7))
    W = np.triu(W, 1) + np.triu(W, 1).T
    problem = rb.RankRLSProblem(X, Y, graph=W)
    expected = sum(W[i, j] * ((Y[i] - Y[j]) ** 2).sum() for i in range(7) for j in range(i))
    assert problem.certificate(1.0, np.zeros((7, columns))).primal == pytest.approx(expected)
