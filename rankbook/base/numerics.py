"""Orders, factors, refinement, conjugate gradients and a line search that several methods use."""

from itertools import pairwise

import numpy as np

from .progress import in_threads


def pivoted_cholesky(A, tol):
    """Compute L (n, r) and an order (n,) with A[order][:, order] = L L' up to `tol`.

    A (n, n) is positive semi-definite. The r pivots come first in the order: each has the largest
    remaining diagonal entry, which is above `tol`. The first r rows of L are lower triangular.
    O(n r^2).

    Examples
    --------
    >>> L, order = pivoted_cholesky(np.array([[1.0, 2, 0], [2, 4, 0], [0, 0, 3]]), 1e-12)
    >>> L.shape, order.tolist()
    ((3, 2), [1, 2, 0])
    """
    from scipy.linalg.lapack import dpstrf

    factor, order, rank, _ = dpstrf(A, lower=1, tol=tol)
    return np.tril(factor)[:, :rank], order - 1


def order_within(number, key):
    """Return the stable order (n,) by number, and by the finite key of equal numbers.

    The order is that of :func:`numpy.lexsort`, by one sort of wider keys. If the numbers are
    sorted, this takes a fifth of the time of lexsort, and a tenth if float32 also represents every
    key exactly. Several threads sort parts of many sorted numbers.

    Parameters
    ----------
    number : ndarray of shape (n,), int
        Numbers from 0, below 2**31.
    key : ndarray of shape (n,), float

    Examples
    --------
    >>> order_within(np.array([1, 0, 1]), np.array([0.1, 0.3, -0.2])).tolist()
    [1, 2, 0]
    """
    if not number.any():
        return np.argsort(key, kind="stable")
    wide = wide_keys(number, key)
    if wide is None:
        wide = np.empty(key.size, dtype=np.complex128)  # compared by their real parts first
        wide.real, wide.imag = number, key
    order = np.empty(key.size, dtype=np.intp)

    def sort(part):
        np.add(np.argsort(wide[part], kind="stable"), part.start, out=order[part])

    in_threads(sort, parts_of(number), 4e-8 * key.size)
    return order


def sorted_within(number, key):
    """Return ``key[order_within(number, key)]`` without the order, in less time.

    Examples
    --------
    >>> sorted_within(np.array([1, 0, 1]), np.array([0.5, 0.25, -0.125])).tolist()
    [0.25, -0.125, 0.5]
    """
    wide = wide_keys(number, key)
    if wide is None:
        return key[order_within(number, key)]
    in_threads(lambda part: wide[part].sort(kind="stable"), parts_of(number), 2e-8 * key.size)
    word = wide.astype(np.int32)  # the lower half
    return (word ^ (word >> 31 & 0x7FFFFFFF)).view(np.float32).astype(float)


PART = 1 << 16  # keys that are sorted at a time, so that they stay in a cache


def parts_of(number):
    """Slices of about PART sorted numbers that share no number; one slice if they are not sorted.

    Examples
    --------
    >>> parts_of(np.array([1, 0, 1]))
    [slice(0, 3, None)]
    """
    size = number.size
    if size < 2 * PART or (number[1:] < number[:-1]).any():
        return [slice(0, size)]
    cuts = np.searchsorted(number, number[PART:size:PART])
    return [slice(*ends) for ends in pairwise(np.unique([0, *cuts, size]).tolist())]


def wide_keys(number, key):
    """Return integers (n,) in the order of number and key, or None if float32 rounds a key."""
    with np.errstate(over="ignore"):
        short = key.astype(np.float32) + np.float32(0)  # -0.0 becomes 0.0
    if not (short == key).all():
        return None
    word = short.view(np.int32)
    return (number.astype(np.int64) << 32) + (word ^ (word >> 31 & 0x7FFFFFFF))


PANEL = 512  # columns of a factor in a call of LAPACK, because Ctrl-C waits for the end of the call


def cholesky_in_place(A):
    """Replace the lower triangle of a symmetric matrix (k, k) by its lower Cholesky factor.

    Raise a LinAlgError if the matrix is not positive definite. The entries above the diagonal are
    undefined afterwards. k^3 / 6 multiplications, in the precision of A.
    """
    from scipy.linalg import get_blas_funcs, get_lapack_funcs

    (potrf,), (trsm,) = get_lapack_funcs(["potrf"], [A]), get_blas_funcs(["trsm"], [A])
    for i in range(0, len(A), PANEL):
        j = min(i + PANEL, len(A))
        for k in range(i, len(A), 4 * PANEL):
            A[k : k + 4 * PANEL, i:j] -= A[k : k + 4 * PANEL, :i] @ A[i:j, :i].T
        corner, failed = potrf(A[i:j, i:j].T, lower=0, clean=0)
        if failed:
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        A[i:j, i:j] = corner.T
        if j < len(A):
            A[j:, i:j] = trsm(1, corner, A[j:, i:j].T, lower=0, trans_a=1).T


def cholesky_solver(A, rtol=0.0):
    """Return the function from v, (n,) or (n, k), to A^-1 v; None if A is numerically singular.

    A (n, n) is symmetric and is overwritten. It is scaled to a unit diagonal, and is also singular
    if a squared pivot is then at most `rtol`. O(n^3 / 6).

    Examples
    --------
    >>> cholesky_solver(np.array([[4.0, 2], [2, 3]]))(np.array([8.0, 8])).round(12).tolist()
    [1.0, 2.0]
    """
    from scipy.linalg import cho_solve

    diagonal = A.diagonal()
    unit = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    A *= unit
    A *= unit[:, None]
    try:
        cholesky_in_place(A)
    except np.linalg.LinAlgError:
        return None
    if not np.square(A.diagonal()).min(initial=np.inf) > rtol:
        return None
    scaled = lambda v: (unit * v.T).T
    return lambda v: scaled(cho_solve((A.T, False), scaled(v), check_finite=False))


def refine(solve, residual, x, steps=10):
    """Add solve(residual(x)) to x, (n,) or (n, k), until the steps no longer halve.

    There are one to `steps` steps, and none after one of the size of a rounding error.

    Examples
    --------
    >>> float(refine(lambda r: r / 3.01, lambda x: 1 - 3 * x, np.zeros(1))[0])
    0.3333333333333333
    """
    size, last = lambda v: np.abs(v).max(axis=0, initial=0.0), np.inf
    for count in range(steps):
        step = solve(residual(x))
        now = size(step)
        if count and not np.all(now <= last / 2):
            break
        x, last = x + step, now
        if np.all(now <= np.finfo(float).eps * size(x)):
            break
    return x


def conjugate_gradients(product, b, precondition, is_enough, most):
    """Solve product(x) = b, (n,) or (n, k); columns are solved in parallel.

    Parameters
    ----------
    product, precondition : callable
        The product with a positive definite matrix, and with an approximate inverse, as new arrays.
    b : ndarray of shape (n,) or (n, k)
    is_enough : callable
        Whether x, the residual r and r'P^-1 r of each column are good enough.
    most : int
        Largest number of products.

    Returns
    -------
    x : ndarray of the shape of b
    count : int
        Number of products.
    is_solved : bool
        False after `most` products, or if rounding errors prevent a smaller residual.

    Examples
    --------
    >>> A, enough = np.array([[2.0, 1], [1, 3]]), lambda x, r, square: square < 1e-20
    >>> x, count, _ = conjugate_gradients(A.__matmul__, np.array([4.0, 7]), np.copy, enough, 9)
    >>> x.round(12).tolist(), count
    ([1.0, 2.0], 2)
    """
    dot = np.dot if b.ndim == 1 else lambda u, v: np.einsum("ij,ij->j", u, v)
    share = lambda u, v: np.divide(u, v, out=np.zeros_like(u), where=v > 0)
    x, r, p, before = np.zeros_like(b), b.copy(), np.zeros_like(b), np.zeros(b.shape[1:], b.dtype)
    for count in range(most + 1):
        z = precondition(r)
        square = dot(r, z)
        if is_enough(x, r, square):
            return x, count, True
        if count == most:
            break
        p *= share(square, before)
        p += z
        before, image = square, product(p)
        curvature = dot(p, image)
        if not np.any(curvature > 0):
            break
        step = share(square, curvature)
        x += step * p
        image *= step
        r -= image
    return x, count, False


def line_search(slope, start, most=100, announce=None):
    """Step length t > 0 at which a slope that rises with t is at most a tenth of -`start` in size.

    The first t is 1. It is accepted if its slope is at most a tenth of -`start`, even if it is very
    negative. The search ends after `most` values, or if they are close; the result is then the
    largest t with a negative slope, or 0.

    Parameters
    ----------
    slope : callable
    start : float
        slope(0). If it is not negative, t is 0.
    announce : callable, optional
        Called before slope(t) with t and the value that follows if t is too small.

    Examples
    --------
    >>> line_search(lambda t: t - 0.25, -0.25)
    0.25
    """
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(most if start < 0 else 0):
        if announce is not None and t < high < np.inf:
            announce(t, (t + high) / 2)
        at = slope(t)
        if at <= -start / 10 and (t == 1 or at >= start / 10):
            return t
        if at <= -start / 10:
            low, t = t, (t + high) / 2
        else:
            high = t
            t = (low + high) / 2 if low else t * min(0.5, max(0.1, start / (start - at)))
        if low and high - low <= 1e-3 * high:
            break
    return low
