"""Thousands of random small paths, each against a duality gap in a hundred digits.

The gap shares no code with the package.

A problem is made again from its number: ``random_problem(17)``. Without --slow a sample of them is
followed, with --slow all.
"""

import warnings
from collections import Counter
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest

import rankbook as rb
from rankbook.kernels.kernel import Kernel

TOL = 1e-7  # of the relative gap
KERNELS = ("linear", "rbf", "poly", "precomputed", "callable")


# Problems


def random_items(rng, n, d):
    """Items (n, d): normal, on an integer grid or at random corners.

    They may have copies, constant and scaled features, and an offset.
    """
    X = (
        rng.normal(size=(n, d)),
        rng.integers(0, rng.integers(2, 6), (n, d)).astype(float),
        rng.choice([-1.0, 1.0], (n, d)),
    )[rng.integers(3)]
    if rng.random() < 0.3:
        X = X[rng.integers(0, max(2, n // 2), n)]
    if rng.random() < 0.2:
        X[:, rng.integers(d)] = rng.integers(-3, 4)
    if rng.random() < 0.3:
        X *= 10.0 ** rng.uniform(-6, 6, d)
    if rng.random() < 0.4:
        X += 10.0 ** rng.uniform(0, 8) * rng.choice([-1.0, 0.0, 1.0], d)
    return X


def random_preferences(rng, n):
    """Preferences over n items, perhaps with weights and margins.

    They come from scores (in queries, full or star) or are any pairs, with cycles and copies.
    """
    kind = rng.integers(4)
    if kind < 3:
        levels = int(rng.integers(2, 6))
        y = rng.permutation(np.arange(n) % levels) if kind < 2 else rng.normal(size=n)
        qid = rng.integers(0, 3, n) if kind == 1 else None
        prefs = rb.Preferences.from_scores(y, qid, graph=rng.choice(["full", "star"]))
        if len(prefs) == 0:
            prefs = rb.Preferences.from_scores(y)
    else:
        m = int(rng.integers(1, 6 * n))
        better = rng.integers(0, n, m)
        prefs = rb.Preferences(better, (better + rng.integers(1, n, m)) % n, n)
    m = len(prefs)
    weight = 10.0 ** rng.uniform(-5, 5, m) if rng.random() < 0.3 else None
    margin = rng.uniform(0.5, 2, m) if rng.random() < 0.2 else None
    return prefs if weight is None and margin is None else prefs.reweighted(weight, margin)


def random_gram(rng, X):
    """A kernel matrix that doubles hold well.

    It is that of the integer part of items, or of items of unit scale, plus a constant.
    """
    kind = rng.integers(3)
    if kind == 0:  # exact
        Z = np.round(3 * X / np.maximum(np.abs(X).max(axis=0), 1e-300))
        return Z @ Z.T + np.round(10.0 ** rng.uniform(0, 8))
    Z = X - X.mean(axis=0)
    Z /= np.maximum(np.abs(Z).max(axis=0), 1e-300)
    K = Z @ Z.T if kind == 1 else np.exp(-np.abs(Z[:, None] - Z[None]).sum(-1))
    return (K + K.T) / 2 + rng.choice([0.0, 1.0, 1e3])


def intersection(X, Y):
    """The histogram intersection kernel of features brought to [0, 1] by a fixed map."""
    squash = lambda Z: 0.5 + np.arctan(Z) / np.pi
    return np.minimum(squash(X)[:, None], squash(Y)[None]).sum(-1)


def laplacian(X, Y):
    """exp(-|x - y|_1)."""
    return np.exp(-np.abs(X[:, None] - Y[None]).sum(-1))


def random_problem(number):
    """Items, preferences and options of a problem, from its number alone."""
    rng = np.random.default_rng([20261122, number])
    kernel = KERNELS[number % len(KERNELS)]
    n, d = int(rng.integers(3, 31)), int(rng.integers(1, 5))
    X, prefs = random_items(rng, n, d), random_preferences(rng, n)
    options = dict(kernel=kernel)
    if kernel == "rbf":
        options |= dict(gamma=10.0 ** rng.uniform(-6, 3))
    elif kernel == "poly":
        options |= dict(
            gamma=10.0 ** rng.uniform(-2, 2),
            degree=int(rng.integers(1, 5)),
            coef0=rng.choice([0.0, 1.0, 10.0 ** rng.uniform(-3, 3)]),
        )
    elif kernel == "precomputed":
        X = random_gram(rng, X)
    elif kernel == "callable":
        options |= dict(kernel=(intersection, laplacian)[rng.integers(2)])
    return X, prefs, options


# The gap in a hundred digits

DIGITS = Context(prec=100)  # at 1e-16 lam_max, a long double is too short to judge a double
as_decimal = np.vectorize(lambda x: Decimal(float(x)), otypes=[object])


def decimal_factor(X, options):
    """(Z, K), exact or in a hundred digits.

    K comes from its definition, less a function of each of its two items; or from the factor Z of K
    = ZZ'.
    """
    kernel = options["kernel"]
    with localcontext(DIGITS):
        if callable(kernel) or kernel == "precomputed":
            K = as_decimal(kernel(X, X) if callable(kernel) else X)
            return None, (K + K.T) / 2
        X = as_decimal(X)
        if kernel == "linear":
            return X, None
        gamma = Decimal(float(options["gamma"]))
        if kernel == "rbf":
            return None, np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(-1))
        return None, (gamma * (X @ X.T) + Decimal(float(options["coef0"]))) ** options["degree"]


def decimal_bounds(prefs, factor, lam, answer, dual):
    """Primal and dual objective in a hundred digits.

    They are those of coefficients (n,), or weights (d,) of a linear function, and multipliers (m,)
    clipped to their box.
    """
    Z, K = factor
    better, worse = prefs.better, prefs.worse
    with localcontext(DIGITS):
        lam, c, delta, v = (
            Decimal(float(lam)),
            as_decimal(prefs.weight),
            as_decimal(prefs.margin),
            as_decimal(answer),
        )
        if K is None:
            f, square = Z @ v, v @ v
        else:
            v = v - v.sum() / v.size  # the constant function costs nothing and orders nothing
            f = K @ v
            square = v @ f
        primal = lam / 2 * square + c @ np.maximum(Decimal(0), delta - (f[better] - f[worse]))
        a = as_decimal(np.clip(dual, 0, prefs.weight))
        sums = np.full(prefs.n_items, Decimal(0))
        np.add.at(sums, better, a)
        np.add.at(sums, worse, -a)
        w = None if K is not None else Z.T @ sums
        norm = w @ w if K is None else sums @ (K @ sums)
        return primal, a @ delta - norm / (2 * lam)


def decimal_gap(*problem):
    """(primal - dual) / max(1, |primal|) of :func:`decimal_bounds`."""
    primal, lower = decimal_bounds(*problem)
    with localcontext(DIGITS):
        return float((primal - lower) / max(Decimal(1), abs(primal)))


def answer(path, lam):
    """Weights of a linear path, coefficients of another, and multipliers at lam."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a poor certificate is counted here, not said
        solution = path.solution(lam)
    return (solution.weights if path.problem.is_factored else solution.coef), solution.dual


def lambdas(path, rng):
    """Twenty lambdas of the domain.

    They lie above lam_max, all over the path, and near its end, however deep that is.
    """
    low = path.domain[0]
    top = path.problem.lam_max or max(1.0, low)
    last = path.breakpoints[-1] if path.breakpoints.size else top
    bottom = low or min(1e-12 * top, 1e-2 * last)
    over = lambda a, b, count: np.exp(rng.uniform(np.log(a), np.log(b), count))
    deep = over(low, min(10 * low, top), 3) if low else over(1e-16 * top, 1e-10 * top, 3)
    return np.maximum(
        np.r_[2 * top, over(bottom, top, 9), over(max(bottom, 0.1 * last), top, 4), deep], low
    )


def follow(number):
    """What the path of a problem comes to.

    Returns (kind, largest gap, lambda / lam_max there, lower end / lam_max, reason).
    """
    X, prefs, options = random_problem(number)
    problem = rb.RankSVMProblem(X, prefs, Kernel(**options))
    path = rb.solve_path(problem)
    factor = decimal_factor(X, options)
    gaps = [
        (decimal_gap(prefs, factor, lam, *answer(path, lam)), lam)
        for lam in lambdas(path, np.random.default_rng(number))
    ]
    worst, lam = max(gaps)
    top = problem.lam_max or 1.0
    return path.status, worst, lam / top, path.domain[0] / top, path.info.get("reason", "")


# The campaign

PARTS, WHOLE, SAMPLE = 8, 10_000, 60


def campaign(numbers):
    """Follow problems and count.

    Returns (counts of kernel and status, numbers of numerical ones, failures).
    """
    counts, numerical, failures, largest = Counter(), [], [], {}
    for number in numbers:
        kernel = KERNELS[number % len(KERNELS)]
        status, gap, where, end, reason = follow(number)
        counts[kernel, status] += 1
        if status == "numerical":
            numerical.append((number, reason))
            continue
        largest[kernel] = max(largest.get(kernel, (-1.0, -1)), (gap, number))
        if not gap <= TOL or status not in ("complete", "rounding"):
            failures.append(
                (number, kernel, status, f"gap {gap:.1e} at {where:.1e} lam_max, end {end:.1e}")
            )
    for kernel in KERNELS:
        if kernel not in largest:
            continue
        found = ", ".join(
            f"{count} {status}" for (k, status), count in sorted(counts.items()) if k == kernel
        )
        print(
            (
                f"\n{kernel}: {found}; largest gap {largest[kernel][0]:.1e} of problem "
                f"{largest[kernel][1]}"
            ),
            end="",
        )
    print(f"\nnumerical: {numerical}\nabove {TOL}: {failures}")
    return numerical, failures


def test_a_sample():
    numerical, failures = campaign(range(SAMPLE))
    assert failures == [] and len(numerical) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_ten_thousand(part):
    numbers = np.array_split(np.arange(WHOLE), PARTS)[part].tolist()
    numerical, failures = campaign(numbers)
    assert failures == [] and len(numerical) <= 10 / PARTS


def test_the_gap_sees_a_wrong_answer():
    X, prefs, options = random_problem(10)
    path = rb.solve_path(rb.RankSVMProblem(X, prefs, Kernel(**options)))
    lam = 0.1 * path.problem.lam_max
    right, dual = answer(path, lam)
    factor = decimal_factor(X, options)
    assert abs(decimal_gap(prefs, factor, lam, right, dual)) < 1e-12
    assert (
        decimal_gap(prefs, factor, lam, 1.01 * right, dual) > 1e-6
        and decimal_gap(prefs, factor, lam, right, 0.99 * dual) > 1e-6
    )


# Deep ends


def near_singular():
    """Noisy labels and a polynomial of degree 2 in one variable.

    The rank is 2, and the kernel matrix holds it to rounding.
    """
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 1)), rng.integers(0, 2, 30)
    return X, rb.RankSVMProblem(X, rb.Preferences.from_scores(y), Kernel("poly", degree=2))


def test_a_path_ends_where_rounding_ends_it(tmp_path):
    X, problem = near_singular()
    path = rb.solve_path(problem)
    end = path.domain[0]
    assert (
        path.status == "rounding"
        and 0 < end < 1e-6 * problem.lam_max
        and "rounding" in path.info["reason"]
    )
    assert path.certificate(end).relative_gap <= TOL and (path.events["lam"] > end).all()
    with pytest.raises(ValueError, match="double precision"):
        path.coef(0.5 * end)
    with pytest.raises(ValueError, match="cannot be resumed"):
        path.resume()
    curve = rb.validation_curve(path, X, problem.prefs)
    assert curve.breaks[-1] == end
    path.save(tmp_path / "path.npz")
    again = rb.load(tmp_path / "path.npz")
    assert (
        again.status == "rounding"
        and again.domain == path.domain
        and np.array_equal(again.coef(end), path.coef(end))
    )


def test_large_multipliers_that_cancel_leave_what_is_left():
    """Two copies that contradict each other with a weight of 1e9.

    The third item's coefficient is not lost in theirs.
    """
    K = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    prefs = rb.Preferences([0, 1, 0], [1, 0, 2], 3, weight=[1e9, 1e9, 1.0])
    path = rb.solve_path(rb.RankSVMProblem(K, prefs, "precomputed"))
    for lam in (1e-3, 1e-9):
        coef = path.coef(lam)
        assert coef[0] + coef[1] == pytest.approx(0.5, rel=1e-9) and coef[2] == pytest.approx(
            -0.5, rel=1e-9
        )


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_where_lam_max_is_0_nothing_is_ordered(kernel):
    """All items alike, at a place whose coordinates round.

    f is 0, and every pair of new items is a tie.
    """
    rng = np.random.default_rng(0)
    X = np.tile([0.1, 1 / 3, 1e5 / 7], (12, 1))
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(rng.integers(0, 3, 12)), kernel)
    assert problem.lam_max == 0
    new = X[:6] + rng.normal(size=(6, 3))
    for lam_min in (None, 0.1):
        path = rb.solve_path(problem, lam_min=lam_min)
        assert not path.coef(1.0).any()
        curve = rb.validation_curve(path, new, rb.Preferences.from_scores(np.arange(6)))
        assert curve.values.tolist() == [0.5]
