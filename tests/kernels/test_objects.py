"""Kernels on lists of objects, joint kernels, and a precomputed kernel of a basis alone."""

import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

import rankbook as rb
from rankbook.kernels.objects import label_factor


def overlap(a, b):
    return float(len(set(a) & set(b)))


SETS = ["abc", "bcd", "", "abc", "xyz", "az", "b", "cx"]
FEATURES = np.array([[letter in s for letter in "abcdxyz"] for s in SETS], dtype=float)


@pytest.mark.parametrize("solver", ["rls", "qp"])
def test_a_list_is_its_features(solver):
    kernel, y = rb.kernels.over(SETS, overlap), np.array([3.0, 1, 0, 3, 1, 2, 2, 0])
    one = rb.solve(rb.RankRLSProblem(kernel.items, y, kernel=kernel), 0.1, solver)
    two = rb.solve(rb.RankRLSProblem(FEATURES, y, kernel="linear"), 0.1, "rls")
    tol = 1e-8 if solver == "rls" else 1e-4
    differ = lambda f: f - f.mean()
    found, expected = one.predict(kernel.items), two.predict(FEATURES)
    assert np.allclose(differ(found), differ(expected), atol=tol)


def test_a_model_with_a_list_is_stored_and_takes_new_objects():
    kernel = rb.kernels.over(SETS, overlap)
    model = rb.RankSVM(kernel=kernel, lam=1.0).fit(kernel.items, np.arange(8) % 3)
    again = pickle.loads(pickle.dumps(model))
    new = ["abx", "", "zzz"]
    assert np.array_equal(
        again.predict(again.kernel.add(new)), model.predict(model.kernel.add(new))
    )
    assert clone(model).kernel is kernel and len(kernel.objects) == 11 and len(SETS) == 8


def narrow_problem(rng, **options):
    X, y, qid = rng.normal(size=(30, 2)), rng.integers(0, 4, 30), np.arange(30) % 3
    X[15:20] = X[0]
    basis = np.array([4, 0, 17, 22])  # 17 is a copy of 0
    K = rb.kernels.Kernel("rbf", gamma=0.5).gram(X)
    given = dict(kernel="precomputed", basis=basis, **options)
    return (rb.RankRLSProblem(A, y, qid, **given) for A in (K, K[:, basis]))


@pytest.mark.parametrize("solver", ["sparse-rls", "qp"])
def test_the_kernel_of_a_basis_alone_is_enough(solver):
    whole, narrow = narrow_problem(np.random.default_rng(0))
    one, two = (rb.solve(p, 0.1, solver) for p in (whole, narrow))
    assert np.allclose(one.coef, two.coef, rtol=1e-8)
    assert one.certificate.primal == pytest.approx(two.certificate.primal, rel=1e-12)
    new = whole.X[:5]
    assert np.allclose(two.predict(new[:, narrow.basis]), one.predict(new), rtol=1e-12)
    with pytest.raises(
        ValueError,
        match=r"Pass an array of shape \(p, 4\) for a precomputed kernel, with a column for each b",
    ):
        two.predict(new)


def test_the_path_of_a_basis_alone():
    whole, narrow = (rb.solve_path(p, solver="sparse-rls") for p in narrow_problem(RNG(1)))
    for lam in (1e-3, 1.0, 1e3):
        assert np.allclose(whole.coef(lam), narrow.coef(lam), rtol=1e-8)


def test_pairs_of_a_basis_alone_are_proven_by_distances_within_its_span():
    whole, narrow = (rb.solve(p, 0.1, "sparse-rls") for p in narrow_problem(RNG(2)))
    first, second = np.arange(10), np.arange(10, 20)
    proven = narrow.proven(first, second)
    assert proven[whole.proven(first, second)].all()


RNG = np.random.default_rng


@pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
def test_a_factor_of_a_label_kernel_has_its_rank_in_any_unit(unit):
    A = RNG(0).normal(size=(5, 2))
    M = label_factor(unit * A @ A.T)
    assert M.shape == (5, 2) and np.allclose(M @ M.T / unit, A @ A.T)


def test_a_joint_kernel_names_what_is_wrong():
    with pytest.raises(ValueError, match="label_kernel has the negative eigenvalue"):
        rb.kernels.joint("linear", [[0.0, 1], [1, 0]])
    kernel = rb.kernels.joint(np.eye(3))
    with pytest.raises(ValueError, match="object_kernel is a matrix and its items have 2 columns"):
        kernel(np.ones((2, 3)), np.ones((2, 3)))


def test_a_query_and_a_page():
    """Object ranking with a joint representation of queries and pages, against its features."""
    rng = np.random.default_rng(3)
    query, page = rng.normal(size=(5, 2))[np.arange(40) % 5], rng.normal(size=(40, 3))
    y = np.round(page[:, 0] * query[:, 1] + 0.1 * rng.normal(size=40))
    kernel = rb.kernels.joint("linear", "linear", label_columns=3)
    features = np.einsum("ij,il->ijl", query, page).reshape(40, 6)
    a = rb.RankRLS(kernel=kernel).fit(np.c_[query, page], y, np.arange(40) % 5)
    b = rb.RankRLS(kernel="linear").fit(features, y, np.arange(40) % 5)
    differ = lambda f: f - f.mean()
    assert np.allclose(
        differ(a.predict(np.c_[query, page])), differ(b.predict(features)), atol=1e-9
    )


@pytest.mark.parametrize(
    "value", ["3", b"3", None, 1j, np.complex64(1), np.complex128(1), [1.0], np.ones(1), {}]
)
def test_a_function_that_returns_no_number_is_named(value):
    def odd(a, b):
        return value if {a, b} == {"abc", "az"} else overlap(a, b)

    kernel = rb.kernels.over(SETS, odd)
    kind = type(value).__name__
    match = (
        rf"objects, odd\), whose function returned .*, a {kind}, for the objects 0 and 5. Return"
    )
    with pytest.raises(TypeError, match=match):
        rb.RankSVM(kernel=kernel, lam=1.0).fit(kernel.items, np.arange(8) % 3)
    always = rb.kernels.over(SETS, lambda a, b: value)
    with pytest.raises(TypeError, match=f"a {kind}, for the objects 1 and 1"):
        always.diagonal(always.items[1:])


@pytest.mark.parametrize("kind", [int, np.float32, np.array, Fraction, Decimal])
def test_a_function_may_return_any_real_number(kind):
    kernel, plain = (
        rb.kernels.over(SETS, f) for f in (lambda a, b: kind(len(set(a) & set(b))), overlap)
    )
    assert np.array_equal(kernel(kernel.items, kernel.items), plain(plain.items, plain.items))
    equal = rb.kernels.over(SETS, lambda a, b: np.bool_(a == b))
    assert equal.diagonal(equal.items).tolist() == [1.0] * 8
