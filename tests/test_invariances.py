"""What must not change an answer, or change it in a known way.

A table of methods, each a function of data to certified answers or to numbers, times a table of
transformations of the data. Features are binary, integers, tenths or far apart, so that ties,
copies and degenerate problems are the normal case.
"""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import rankbook as rb
from rankbook.problems.svm import MulticlassSVMProblem

EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Data:
    """Items, what is known of their order, and new items whose scores are compared.

    `pairs` are (better, worse, weight, margin) instead of grades; `Y` are grades of labels, and
    `order` says by which numbers classes or columns are called. `places` are rows of a basis.
    """

    X: np.ndarray
    new: np.ndarray
    y: np.ndarray
    qid: np.ndarray
    weight: np.ndarray
    pairs: tuple | None
    Y: np.ndarray
    order: np.ndarray
    places: np.ndarray
    fold: np.ndarray
    lam: float
    gamma: float

    @property
    def prefs(self):
        if self.pairs is not None:
            return rb.Preferences(*self.pairs[:2], len(self.X), *self.pairs[2:])
        return rb.Preferences.from_scores(self.y, self.qid).item_weighted(self.weight)


FEATURES = dict(binary=(0, 1, 1.0), integers=(-2, 3, 1.0), tenths=(-9, 9, 0.1), far=(-3, 3, 64.0))


@st.composite
def data_of(draw, method):
    """Data for a method: with queries, weights and pairs where it takes them."""
    n, d = draw(st.integers(4, 9)), draw(st.integers(1, 3))
    low, high, unit = FEATURES[draw(st.sampled_from(list(FEATURES)))]
    ints = lambda shape, low, high: draw(arrays(int, shape, elements=st.integers(low, high)))
    floats = lambda shape, *of: draw(arrays(float, shape, elements=st.sampled_from(of)))
    items = ints((n + 3, d), low, high) * unit
    y, qid, weight = ints(n, 0, 2).astype(float), ints(n, 0, 1), np.ones(n)
    y[:2], qid[:2] = [0, 1], 0
    if method.both:
        y[:4], qid[:4] = [0, 1, 0, 1], ([0, 0, 1, 1] if method.both == "queries" else 0)
    if method.weights and draw(st.booleans()):
        weight = floats(n, 1.0, 0.0, 0.5, 2.0)
        weight[: 4 if method.both else 2] = 1.0
    pairs = None
    if method.pairs and draw(st.booleans()):
        m = draw(st.integers(1, 7))
        better = ints(m, 0, n - 1)
        cost = floats(m, 1.0, 0.0, 0.25, 3.0)
        cost[0] = 1.0
        margin = floats(m, *method.pairs)
        pairs = better, (better + 1 + ints(m, 0, n - 2)) % n, cost, margin
    Y = floats((n, 3), 0.0, 1.0, 2.0, np.nan)
    Y[0] = [0, 1, 2]
    lam = draw(st.sampled_from([1.0, 0.03125, 0.3, 2.0, 8.0]))
    basis = np.arange(min(n, 3))
    return Data(
        items[:n], items[n:], y, qid * method.queries, weight, pairs, Y, np.arange(3), basis,
        np.arange(n) // 2 % 2, lam, draw(st.sampled_from([0.5, 0.0625, 4.0])),
    )  # fmt: skip


# Methods


@dataclass(frozen=True)
class Answer:
    """Bounds on a minimum, scores of new items, and how far these may be from the optimal ones.

    All to a relative `rounding`, that of the kernel's largest entry next to lambda.
    """

    primal: float
    dual: float
    scores: np.ndarray
    bound: np.ndarray
    rounding: float


@dataclass(frozen=True)
class Method:
    """A function of data, and what is known of it.

    The solvers of one method have one answer. `loss` and `penalty` are the powers by which these
    grow with the scores. `y` is "order" where only the order of the grades counts, "values", "two"
    or "classes". `offset` is how far the origin may be moved. Copying all items multiplies the
    objective by `copies`. `difference` says which scores are comparable: of "items", of "labels" of
    one item, or a score "itself". Where there are to be two grades `both` in training and in
    validation, the first four items have them, of two "queries" or of one.
    """

    answer: Callable
    solvers: tuple
    kernel: str = "linear"
    loss: int = 1
    penalty: int = 2
    y: str = "order"
    queries: bool = True
    weights: bool = True
    pairs: tuple = ()
    offset: float = 1e8
    reverse: bool = True
    copies: int = 4
    difference: str = "items"
    tol: dict = field(default_factory=dict)
    basis: bool = False
    both: bool | str = False


def kernel_of(A, B, kernel, gamma):
    """The kernel, for distances and for Gram matrices that are given."""
    if kernel == "linear":
        return A @ B.T
    return np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def items_of(data, kernel, given):
    """(training items, new items, options) for a kernel that is named, or whose matrix is given."""
    if given:
        K = kernel_of(data.X, data.X, kernel, data.gamma)
        new = kernel_of(data.new, data.X, kernel, data.gamma)
        return (K + K.T) / 2, new, dict(kernel="precomputed")
    options = dict(kernel=kernel) | (dict(gamma=data.gamma) if kernel == "rbf" else {})
    return data.X, data.new, options


def blocks_of(data):
    """A block for each query, the last one first."""
    parts = [data.qid == q for q in np.unique(data.qid)[::-1]]
    return rb.Blocks([
        rb.Block(data.X[i], data.y[i], data.qid[i], data.weight[i]) for i in parts
    ])  # fmt: skip


def ranking_svm(data, method, solver, given):
    X, new, options = items_of(data, method.kernel, given)
    loss, penalty = {1: "hinge", 2: "squared"}[method.loss], {2: "l2", 1: "l1"}[method.penalty]
    if solver == "blocks" and data.pairs is None:
        problem = rb.BlockRankSVMProblem(blocks_of(data), loss=loss)
        return solved(problem, "newton", new, data.lam)
    solver = "newton" if solver == "blocks" else solver
    if solver[-5:] == " path":
        problem = rb.RankSVMProblem(X, data.prefs, loss=loss, penalty=penalty, **options)
        return solved(problem, solver, new, data.lam)
    model = rb.RankSVM(data.lam, solver=SOLVERS.get(solver, solver), penalty=penalty, loss=loss)
    model.set_params(**options)
    if data.pairs is None:
        model.fit(X, data.y, qid=data.qid, sample_weight=data.weight)
    else:
        model.fit(X, preferences=data.prefs)
    return model.certificate_, model.predict(new)


def least_squares(data, method, solver, given):
    X, new, options = items_of(data, method.kernel, given)
    options |= dict(penalty={2: "l2", 1: "l1"}[method.penalty])
    if solver == "blocks" and data.pairs is None:
        model = rb.RankRLS(data.lam, kernel="linear").fit(blocks_of(data))
        return model.certificate_, model.predict(new)
    solver = "rls" if solver == "blocks" else solver
    if method.basis:
        options |= dict(basis=data.places)
    if data.pairs is None:
        weight = None if (data.weight == 1).all() else data.weight
        problem = rb.RankRLSProblem(X, data.y, data.qid, item_weight=weight, **options)
    else:
        problem = rb.RankRLSProblem(X, graph=data.prefs, **options)
    return solved(problem, solver, new, data.lam)


def solved(problem, solver, new, lam):
    """The certificate and the scores at lambda, of a path where it goes that high.

    Without a lambda, the whole path and the new items as they are.
    """
    name, path = solver.removesuffix(" path"), None
    if lam is None:
        return rb.solve_path(problem, solver=name), new
    if name != solver:
        try:
            path = rb.solve_path(problem, lam_min=lam / 2, solver=name)
        except ValueError as error:
            assert "lam_max is" in str(error)
    if path is not None and path.domain[0] <= lam <= path.domain[1]:
        return path.certificate(lam), path.predict(new, lam)
    name = "auto" if name == "epsilon" else name
    answer = rb.solve(problem, lam, solver=SOLVERS.get(name, name))
    return answer.certificate, answer.predict(new)


def label_ranking(data, method, solver, given):
    X, new, options = items_of(data, method.kernel, given)
    kind = {"values": "rankrls", "order": "ranksvm"}[method.y]
    model = rb.LabelRanker(data.lam, kind, solver=SOLVERS.get(solver, solver), **options)
    model.fit(X, data.Y[:, np.argsort(data.order)], data.weight)
    return model.certificate_, model.predict(new)[:, data.order]


def two_classes(data, method, solver, given):
    X, new, options = items_of(data, method.kernel, given)
    problem = rb.SVMProblem(X, data.y > 0, weight=data.weight, **options)
    return solved(problem, solver, new, data.lam)


def many_classes(data, method, solver, given):
    X, new, options = items_of(data, method.kernel, given)
    name = data.order[data.y.astype(int)]
    problem = MulticlassSVMProblem(X, name, weight=data.weight, **options)
    certificate, scores = solved(problem, solver, new, data.lam)
    if data.lam is None:
        return certificate, scores
    present = np.unique(data.y.astype(int))
    return certificate, scores[:, np.searchsorted(np.unique(name), data.order[present])]


def rayleigh(data, method, solver, given):
    X, new, options = items_of(data, method.kernel, given)
    problem = rb.RayleighProblem(
        X, (data.y > 0) * 1.0, unlabelled=False, manifold_weight=0.0,
        n_components=None if method.kernel == "linear" and not given else len(X), **options,
    )  # fmt: skip
    return solved(problem, solver, new, data.lam)


# those of a given Gram matrix have a star
SOLVERS = {
    "subgradient": ("subgradient", dict(tol=1e-2, max_passes=300)),
    "newton": ("newton", dict(tol=1e-6)),
}
LOOSE = {"subgradient": np.inf, "epsilon path": 1e-3, "newton path": 1e-3}
MARGINS, SIGNED = (1.0, 0.5, 3.0), (1.0, 0.5, 0.0, -1.0)
svm = dict(answer=ranking_svm, pairs=MARGINS, tol=LOOSE)
METHODS = {
    "ranking SVM": Method(
        solvers=(
            "qp",
            "path",
            "path path",
            "interior",
            "newton",
            "newton path",
            "epsilon path",
            "blocks",
        )
        + ("subgradient", "path*", "interior*"),
        **svm,
    ),
    "ranking SVM, rbf": Method(
        solvers=(
            "qp",
            "path",
            "path path",
            "interior",
            "epsilon path",
            "path*",
            "interior*",
            "qp*",
        ),
        kernel="rbf",
        **svm,
    ),
    "squared hinge": Method(
        solvers=("qp", "interior", "newton", "newton path", "interior*", "blocks"), loss=2, **svm
    ),
    "squared hinge, rbf": Method(
        solvers=("qp", "interior", "interior*"), loss=2, kernel="rbf", **svm
    ),
    "L1": Method(solvers=("qp", "simplex", "simplex path"), penalty=1, **svm),
    "squared hinge, L1": Method(
        solvers=("qp", "homotopy", "homotopy path"), penalty=1, loss=2, **svm
    ),
}
rls = dict(answer=least_squares, loss=2, y="values", pairs=(1.0, 0.5, 0.0, -1.0))
METHODS |= {
    "RankRLS": Method(solvers=("rls", "qp", "rls path", "rls*", "blocks"), **rls),
    "RankRLS, rbf": Method(solvers=("rls", "qp", "rls path", "rls*"), kernel="rbf", **rls),
    "RankRLS, L1": Method(solvers=("qp", "homotopy", "homotopy path"), penalty=1, **rls),
    "sparse RankRLS": Method(
        solvers=("sparse-rls", "qp", "sparse-rls path", "sparse-rls*"),
        kernel="rbf",
        basis=True,
        **rls,
    ),
}
label = dict(answer=label_ranking, queries=False, copies=2, difference="labels")
METHODS |= {
    "LabelRanker": Method(solvers=("kronecker", "rls", "qp", "kronecker*"), y="values", loss=2,
                          offset=0, **label),
    "LabelRanker, rbf": Method(solvers=("kronecker", "rls", "kronecker*"), y="values", loss=2,
                               kernel="rbf", **label),
    "LabelRanker, SVM": Method(solvers=("path", "interior", "qp"), offset=0, **label),
    "LabelRanker, SVM, rbf": Method(solvers=("path", "interior"), kernel="rbf", **label),
}  # fmt: skip
two = dict(loss=2, y="two", queries=False, weights=False, copies=1, both=True, offset=1e3)
classes = dict(y="classes", queries=False, copies=2, difference="itself")
METHODS |= {
    "SVM": Method(two_classes, ("qp", "path", "path path", "subgradient", "path*"),
                  offset=0, tol=LOOSE, **classes | dict(y="two")),
    "SVM, rbf": Method(two_classes, ("qp", "path", "path*"), kernel="rbf",
                       **classes | dict(y="two")),
    "multi-class SVM": Method(many_classes, ("qp", "path", "path path", "subgradient", "path*"),
                              offset=0, reverse=False, tol=LOOSE, **classes),
    "multi-class SVM, rbf": Method(many_classes, ("qp", "path", "path*"), kernel="rbf",
                                   reverse=False, **classes),
    "Rayleigh": Method(rayleigh, ("rayleigh", "qp", "rayleigh path"), **two),
    "Rayleigh, rbf": Method(rayleigh, ("rayleigh", "rayleigh path", "rayleigh*"), "rbf", **two),
}  # fmt: skip


def answer_of(method, solver, data):
    """The answer of one solver; of its certificate nothing is taken on trust but that it holds."""
    given = solver[-1] == "*"
    name = solver.rstrip("*")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a basis of fewer directions, queries of one item
        proof, scores = method.answer(data, method, name, given)
    tol = method.tol.get(name, 1e-6)
    assert abs(proof.relative_gap) <= tol, f"{solver}: {proof}; its tolerance is {tol}"
    K = kernel_of(data.new, data.new, method.kernel, data.gamma)
    own, n, raw = K.diagonal(), len(data.X), np.abs(scores).max()
    X = data.X
    if given or not method.offset > 1e3:  # else it is known that they are centred
        X = np.vstack([X, data.new])
    else:
        X = X - X[0]
    largest = np.abs(kernel_of(X, X, method.kernel, data.gamma)).max()
    rounding = 4 * n * EPS * max(1, largest / data.lam)
    if method.difference == "items":
        scores = scores[:, None] - scores[None]
        square = own[:, None] + own - 2 * K
    elif method.difference == "labels":
        scores = scores[:, :, None] - scores[:, None]
        square = np.broadcast_to(2 * own[:, None, None], scores.shape)
    else:
        square = own.reshape((-1,) + (1,) * (scores.ndim - 1))
    if not np.isfinite(proof.radius):  # the optimum need not be unique
        return Answer(proof.primal, proof.dual, np.zeros(1), np.zeros(1), rounding)
    bound = proof.radius * np.sqrt(np.maximum(square, 0))
    bound = bound + rounding * max(1, np.abs(scores).max()) + 64 * EPS * raw
    return Answer(proof.primal, proof.dual, scores, bound, rounding)


# Transformations: (data, the factor of the scores, that of the objective), or None


def rows(data, method, rng):
    """Items, and pairs, in another order."""
    order = rng.permutation(len(data.X))
    place = np.argsort(order)
    pairs = data.pairs
    if pairs is not None:
        k = rng.permutation(len(pairs[0]))
        pairs = (place[pairs[0][k]], place[pairs[1][k]], pairs[2][k], pairs[3][k])
    moved = {name: getattr(data, name)[order] for name in ("X", "y", "qid", "weight", "Y", "fold")}
    return replace(data, pairs=pairs, places=place[data.places], **moved), 1, 1


def query_names(data, method, rng):
    """Other names for the queries, in another order."""
    return replace(data, qid=np.array(["b", "a", "d", "c"])[data.qid % 4]), 1, 1


def features(data, method, rng):
    """Features in another order, some with the other sign."""
    d = data.X.shape[1]
    order, sign = rng.permutation(d), rng.choice([-1.0, 1.0], d)
    return replace(data, X=data.X[:, order] * sign, new=data.new[:, order] * sign), 1, 1


def origin(data, method, rng):
    """A constant added to every feature, where no digit is lost."""
    top = 1e8 if method.kernel == "rbf" else method.offset
    c = np.round(min(top, 10.0 ** rng.integers(9)) * rng.uniform(-1, 1, data.X.shape[1]))
    exact = all(np.array_equal(A + c - c, A) for A in (data.X, data.new))
    return (replace(data, X=data.X + c, new=data.new + c), 1, 1) if exact else None


def unit(data, method, rng):
    """Features in another unit, with gamma and lambda."""
    s = float(rng.choice([0.125, 4.0, 10.0]))
    lam = data.lam if method.kernel == "rbf" else data.lam * s**method.penalty
    return replace(data, X=data.X * s, new=data.new * s, gamma=data.gamma / s**2, lam=lam), 1, 1


def grade_shift(data, method, rng):
    """A constant added to grades, of an object or of all."""
    shift = rng.integers(-50, 50, len(data.Y))
    if method.y in ("two", "classes"):
        return None
    return replace(data, y=data.y + shift[0], Y=data.Y + shift[:, None]), 1, 1


def grade_unit(data, method, rng):
    """Twice the differences are asked for: of grades, or by margins."""
    factor = 2**method.loss
    if method.y == "values" and data.pairs is None:
        data = replace(data, y=2 * data.y, Y=2 * data.Y)
    elif data.pairs is not None:
        data = replace(data, pairs=(*data.pairs[:3], 2 * data.pairs[3]))
    else:
        return None
    return replace(data, lam=data.lam * 2.0 ** (method.loss - method.penalty)), 2, factor


def monotone(data, method, rng):
    """Grades of other values in the same order."""
    if method.y != "order":
        return None
    level = lambda y: 10 * y**3 + np.sign(y) - 3
    return replace(data, y=level(data.y), Y=np.where(np.isnan(data.Y), data.Y, level(data.Y))), 1, 1


def reverse(data, method, rng):
    """The other way round."""
    if not method.reverse:
        return None
    if method.y == "two":
        data = replace(data, y=(data.y <= 0) * 1.0)
        return data, -1, 1
    if data.pairs is not None:
        return replace(data, pairs=(data.pairs[1], data.pairs[0], *data.pairs[2:])), -1, 1
    return replace(data, y=-data.y, Y=-data.Y), -1, 1


def labels(data, method, rng):
    """Classes, or labels, by other names."""
    return replace(data, order=data.order[rng.permutation(3)]), 1, 1


def appended(data, i, **changes):
    """The data with copies of the items i at the end."""
    more = {k: np.concatenate([getattr(data, k), getattr(data, k)[i]]) for k in
            ("X", "y", "qid", "weight", "Y", "fold")}  # fmt: skip
    return replace(data, **more | changes)


def halves(data, method, rng):
    """A preference, or an item, of half the weight twice."""
    if data.pairs is not None:
        i = rng.integers(len(data.pairs[0]))
        pairs = [np.append(part, part[i]) for part in data.pairs]
        pairs[2][[i, -1]] /= 2
        return replace(data, pairs=tuple(pairs)), 1, 1
    if not method.weights:
        return None
    i = rng.integers(len(data.X))
    data = appended(data, [i])
    data.weight[[i, -1]] /= 2
    return data, 1, 1


def nothing(data, method, rng):
    """A preference, or an item, of weight 0 more."""
    if not method.weights:
        return None
    far = rng.integers(-3, 4, data.X.shape[1]) * 2.0
    more = appended(data, [0], X=np.vstack([data.X, far]))
    more.weight[-1], more.y[-1] = 0, 1
    if data.pairs is not None:
        ends = [len(data.X), 0]
        pairs = [np.append(part, new) for part, new in zip(data.pairs, (*ends, 0.0, 1.0))]
        more = replace(more, pairs=(pairs[0].astype(int), pairs[1].astype(int), *pairs[2:]))
    return more, 1, 1


def copies(data, method, rng):
    """Every item twice, and with it every preference four times."""
    n, pairs = len(data.X), data.pairs
    if pairs is not None:
        ends = [np.r_[end, end + n, end, end + n] for end in pairs[:2]]
        ends[1] = np.r_[pairs[1], pairs[1] + n, pairs[1] + n, pairs[1]]
        pairs = (*ends, *(np.tile(part, 4) for part in pairs[2:]))
    twice = appended(data, np.arange(n), pairs=pairs, lam=data.lam * method.copies)
    if method.copies == 1:
        twice = replace(twice, lam=data.lam)
    return twice, 1, method.copies


def queries_twice(data, method, rng):
    """All queries once more, under other ids."""
    if not method.queries:
        return None
    n, pairs = len(data.X), data.pairs
    if pairs is not None:
        pairs = (*(np.r_[end, end + n] for end in pairs[:2]), *(np.tile(p, 2) for p in pairs[2:]))
    kind = data.qid.dtype.kind
    other = np.char.add("z", data.qid) if kind == "U" else data.qid + 2
    twice = appended(data, np.arange(n), pairs=pairs, lam=2 * data.lam)
    return replace(twice, qid=np.concatenate([data.qid, other])), 1, 2


def heavier(data, method, rng):
    """All weights and lambda four times."""
    if data.pairs is not None:
        better, worse, weight, margin = data.pairs
        data = replace(data, pairs=(better, worse, 4 * weight, margin))
    elif method.weights:
        times = 2.0 if method.copies == 4 else 4.0
        data = replace(data, weight=times * data.weight)
    else:
        return None
    return replace(data, lam=4 * data.lam), 1, 4


def listed(data, method, rng):
    """Grades and weights of items as a list of pairs, made by a double loop."""
    if data.pairs is not None or not method.pairs or method.y == "values":
        return None
    better, worse = np.nonzero((data.y[:, None] > data.y) & (data.qid[:, None] == data.qid))
    weight = data.weight[better] * data.weight[worse]
    return replace(data, pairs=(better, worse, weight, np.ones(len(better)))), 1, 1


TRANSFORMATIONS = {
    f.__name__: f
    for f in (
        rows, query_names, features, origin, unit, grade_shift, grade_unit, monotone, reverse,
        labels, halves, nothing, copies, queries_twice, heavier, listed,
    )
}  # fmt: skip


def check_method(method, data, names, seed):
    """All solvers agree on the data and on what becomes of them, within what they prove."""
    rng = np.random.default_rng(seed)
    changed, scores, objective, done = data, 1.0, 1.0, []
    for name in names:
        found = TRANSFORMATIONS[name](changed, method, rng)
        if found is not None:
            changed, scores, objective = found[0], scores * found[1], objective * found[2]
            done.append(name)
    first = answer_of(method, method.solvers[0], data)
    far = method.kernel == "linear" and np.abs(changed.X).max() > 2e3
    for solver in method.solvers:
        if far and solver[-1] == "*":  # a matrix has lost the digits
            continue
        other = answer_of(method, solver, changed)
        told = f"{solver} after {', '.join(done)} against {method.solvers[0]}: {changed}"
        primal, dual = other.primal / objective, other.dual / objective
        rounding = max(first.rounding, other.rounding) * max(1, abs(primal))
        excess = max(dual, first.dual) - min(primal, first.primal)
        assert excess <= rounding, f"a lower bound {excess} above an upper one: {told}"
        away = np.abs(other.scores / scores - first.scores)
        proven = first.bound + other.bound / abs(scores)
        assert (away <= proven).all(), (
            f"scores differ by {away}, at most {proven} is proven: {told}"
        )


FEW = [pytest.param(5, id="few"), pytest.param(200, id="many", marks=pytest.mark.slow)]


def run(name, examples, check, **strategies):
    """Give `check` examples that depend on nothing but the name."""
    check.__name__ = re.sub(r"\W", "_", name)
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    options = dict(derandomize=True, deadline=None, database=None, suppress_health_check=quiet)
    settings(max_examples=examples, **options)(given(**strategies)(check))()


@pytest.mark.parametrize("examples", FEW)
@pytest.mark.parametrize("name", METHODS)
def test_certified_answers(name, examples):
    method = METHODS[name]
    chosen = st.lists(st.sampled_from(list(TRANSFORMATIONS)), max_size=3, unique=True)

    def check(data, names, seed):
        check_method(method, data, names, seed)

    run(name, examples, check, data=data_of(method), names=chosen, seed=st.integers(0, 99))


# Whole paths, of data without ties, so that one path is right


def without_ties(method, rng):
    """Data whose features, weights and margins are random, and whose pairs form a tree."""
    n, qid = 10, np.repeat([0, 1], 5) * method.queries
    X, weight = rng.normal(size=(n + 3, 3)), np.ones(n)
    y, pairs = np.tile([0.0, 1.0, 2.0, 1.0, 0.0], 2), None
    if method.pairs:
        ends = np.array([[k, rng.integers(k)] for k in range(1, n)])
        better, worse = rng.permuted(ends, axis=1).T
        pairs = better, worse, rng.uniform(0.5, 2, n - 1), rng.uniform(0.5, 2, n - 1)
    if method.weights and pairs is None:
        weight = rng.uniform(0.5, 2, n)
    return Data(
        X[:n], X[n:], y, qid, weight, pairs, np.zeros((n, 3)), np.arange(3), np.arange(3),
        qid, 1.0, 0.5,
    )  # fmt: skip


PATHS = [
    (name, solver)
    for name, method in METHODS.items()
    for solver in method.solvers
    if solver[-5:] == " path" and solver not in LOOSE
]
DOUBLED = {"halves", "copies", "queries_twice"}  # which make ties, so that breakpoints can split


@pytest.mark.parametrize("seeds", [[0], pytest.param(range(1, 9), marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "solver"), PATHS)
@pytest.mark.filterwarnings("ignore:n_components is reduced from 20 to 10")
def test_whole_paths(name, solver, seeds):
    """Breakpoints, events, and scores between all breakpoints, after each transformation."""
    method = METHODS[name]
    for rng in map(np.random.default_rng, seeds):
        data = without_ties(method, rng)
        known = whole_path(method, solver, data)
        for transform in TRANSFORMATIONS.values():
            if (found := transform(data, method, rng)) is not None:
                check_path(method, solver, transform.__name__, (*known, data), found)


def whole_path(method, solver, data):
    return method.answer(replace(data, lam=None), method, solver, False)


def check_path(method, solver, name, known, found):
    """The path of transformed data is that of the known data, in other units."""
    first, new, data = known
    changed, scores, _ = found
    other, moved = whole_path(method, solver, changed)
    at = first.breakpoints
    if at.size and name not in DOUBLED:
        assert other.breakpoints / changed.lam == pytest.approx(at, rel=1e-6), name
        if solver == "path path" and data.pairs is not None:  # a pair is known by its weight
            numbers = [
                np.searchsorted(np.sort(d.pairs[2]), d.pairs[2])[path.events["pair"]]
                for d, path in ((data, first), (changed, other))
            ]
            extra = len(changed.pairs[2]) - len(data.pairs[2])
            assert np.array_equal(numbers[0], numbers[1] - extra), name
    lams = np.sqrt(at[1:] * at[:-1]) if at.size > 1 else np.geomspace(1e-3, 1e2, 20)
    for lam in lams:
        assert abs(other.certificate(lam * changed.lam).relative_gap) < 1e-6, name
        one = first.predict(new, lam)
        two = other.predict(moved, lam * changed.lam) / scores
        if method.difference == "items":
            one, two = one - one[0], two - two[0]
        elif one.ndim > 1:  # columns of classes, by their names
            one, two = one[:, data.order], two[:, changed.order]
        assert two == pytest.approx(one, rel=1e-6, abs=1e-6 * max(1e-9, np.abs(one).max())), name


# Numbers: curves over lambda, cross-validation, streams, cuts


def folds_of(data):
    """Training and validation items, as the data say."""
    return [(np.flatnonzero(data.fold != f), np.flatnonzero(data.fold == f)) for f in (0, 1)]


LAMS = np.geomspace(1e-2, 1e2, 41)


def at_lams(curve, data):
    """A curve at multiples of lambda, NaN next to its breaks and where it is not."""
    lams = LAMS * 1.0123 * data.lam
    inner = curve.breaks[np.isfinite(curve.breaks)]
    close = np.abs(lams[:, None] / np.where(inner > 0, inner, np.inf) - 1).min(axis=1) < 1e-6
    out = lams <= curve.breaks[-1]
    return np.where(close | out, np.nan, curve.at(np.maximum(lams, 2 * curve.breaks[-1])))


def validation_curve(data, kernel, penalty="l2", solver="path"):
    train, test = folds_of(data)[0]
    prefs = [
        rb.Preferences.from_scores(data.y[i], data.qid[i]).item_weighted(data.weight[i])
        for i in (train, test)
    ]
    _, _, options = items_of(data, kernel, False)
    problem = rb.RankSVMProblem(data.X[train], prefs[0], penalty=penalty, **options)
    path = rb.solve_path(problem, solver=solver)
    return at_lams(rb.validation_curve(path, data.X[test], prefs[1]), data)


def svm_folds(data, kernel, **more):
    _, _, options = items_of(data, kernel, False)
    model = rb.RankSVMCV(cv=folds_of(data), **options, **more)
    model.fit(data.X, data.y, data.qid, data.weight)
    curve = model.curve_
    assert curve.at(model.lam_) == pytest.approx(curve.minimum, abs=1e-12)
    return np.r_[curve.minimum, at_lams(curve, data)]


def rls_left_out(data, kernel, cv):
    _, _, options = items_of(data, kernel, False)
    if cv == "folds":
        cv = folds_of(data)
    model = rb.RankRLSCV(data.lam * np.array([0.1, 1.0, 10.0]), cv=cv, **options)
    return model.fit(data.X, data.y, data.qid).cv_values_.ravel()


def stream(data):
    """Weights of a stream of pairs, which are exact under exact changes."""
    model = rb.OnlineRankSVM(data.lam, draws=5.0, random_state=0)
    p = data.prefs
    k = np.lexsort(np.sort([p.better, p.worse], axis=0))  # the same order for reversed pairs
    ends = data.X[p.better[k]], data.X[p.worse[k]]
    return model.partial_fit_pairs(*ends, margin=p.margin[k]).predict(data.new)


def stream_of_grades(data):
    model = rb.OnlineRankSVM(data.lam, draws=5.0, random_state=0)
    return model.partial_fit(data.X, data.y, data.qid).predict(data.new)


def ordinal(data, loss):
    """Levels of the training items, in their order, and what the cuts lose."""
    _, _, options = items_of(data, "linear", False)
    ranker = rb.RankSVM(data.lam, solver="path", **options)
    model = rb.OrdinalRanker(ranker, loss=loss).fit(data.X, data.y, data.weight)
    number = np.searchsorted(model.classes_, model.predict(data.X))
    true = np.searchsorted(model.classes_, data.y)
    lost = np.abs(number - true) if loss == "absolute" else number != true
    return np.array([lost @ data.weight / data.weight.sum()])


def numbers(answer, *changes, scored=False, **options):
    """A method whose answer is numbers, and the transformations that do not change them."""
    options = dict(both=True) | options
    return Method(answer, changes, difference="scores" if scored else "", **options)


SAME = ("rows", "query_names", "features", "unit", "reverse")
WEIGHED = (*SAME, "origin", "monotone", "halves", "nothing", "copies", "queries_twice", "heavier")
LEAST = (*SAME, "origin", "grade_shift", "grade_unit")
rls = dict(loss=2, y="values", weights=False)
NUMBERS = {
    "validation curve": numbers(lambda d: validation_curve(d, "linear"), *WEIGHED),
    "validation curve, rbf": numbers(lambda d: validation_curve(d, "rbf"), *WEIGHED, kernel="rbf"),
    "validation curve, L1": numbers(
        lambda d: validation_curve(d, "linear", "l1", "simplex"), *WEIGHED, penalty=1
    ),
    "RankSVMCV": numbers(lambda d: svm_folds(d, "linear"), *WEIGHED),
    "RankSVMCV, rbf": numbers(lambda d: svm_folds(d, "rbf"), *WEIGHED, kernel="rbf"),
    "OrdinalRanker": numbers(lambda d: ordinal(d, "error"), *WEIGHED, queries=False),
    "OrdinalRanker, absolute": numbers(
        lambda d: ordinal(d, "absolute"), *(set(WEIGHED) - {"monotone"}), queries=False
    ),
    "OnlineRankSVM": numbers(
        stream, "origin", "reverse", "grade_unit", scored=True, weights=False, pairs=MARGINS
    ),
    "OnlineRankSVM, grades": numbers(stream_of_grades, "origin", "monotone", scored=True),
}
for cv in ("loo", "lpo", "query", "folds"):
    for kernel in ("linear", "rbf"):
        NUMBERS[f"RankRLSCV, {cv}, {kernel}"] = numbers(
            lambda d, k=kernel, cv=cv: rls_left_out(d, k, cv),
            *LEAST,
            kernel=kernel,
            queries=cv == "query",
            both="queries" if cv == "query" else True,
            **rls,
        )


def check_numbers(method, data, names, seed):
    """The numbers are the same, in known units, after transformations."""
    rng = np.random.default_rng(seed)
    changed, scores, done = data, 1.0, []
    for name in names:
        found = TRANSFORMATIONS[name](changed, method, rng)
        if found is not None:
            changed, scores = found[0], scores * found[1]
            done.append(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # queries of one item
        first, other = method.answer(data), method.answer(changed)
    rounding = 0.0
    if method.difference:  # of scores that were rounded where they are large
        rounding = 4 * np.finfo(float).eps * max(np.abs(first).max(), np.abs(other / scores).max())
        first, other = first - first[0], (other - other[0]) / scores
    same = np.isclose(first, other, rtol=1e-9, atol=1e-12 + rounding)
    same |= np.isnan(first) | np.isnan(other)
    assert same.all(), f"{other} after {', '.join(done)} and not {first}: {changed}"


@pytest.mark.parametrize("examples", FEW)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name, examples):
    method = NUMBERS[name]
    chosen = st.lists(st.sampled_from(method.solvers), max_size=3, unique=True)

    def check(data, names, seed):
        check_numbers(method, data, names, seed)

    run(name, examples, check, data=data_of(method), names=chosen, seed=st.integers(0, 99))


# Metrics


@dataclass(frozen=True)
class Judged:
    """Grades, two scores, query ids, and weights of items or of queries."""

    y: np.ndarray
    a: np.ndarray
    b: np.ndarray
    qid: np.ndarray
    weight: np.ndarray


@st.composite
def judged(draw, metric):
    """Few values, so that many tie."""
    n = draw(st.integers(4, 14))
    ints = lambda low, high, size=n: draw(arrays(int, size, elements=st.integers(low, high)))
    y, qid, a, b = ints(0, metric.highest), ints(0, 3), ints(-3, 3) / 10, ints(-3, 3) / 10
    y[:4], qid[:4] = [0, 1, 0, 1], [0, 0, 1, 1]
    weight = ints(0, 3) / 2 if metric.weighs == "items" else (ints(0, 3, 4) / 2)[qid]
    weight[np.isin(qid, (0, 1)) if metric.weighs == "queries" else np.arange(n) < 4] = 1.0
    return Judged(y, a, b, qid, weight)


@dataclass(frozen=True)
class Metric:
    """A function of :class:`Judged`, what its weights weigh, and the transformations it survives.

    `mirror` is what becomes of a value where scores alone are reversed.
    """

    value: Callable
    changes: tuple
    weighs: str = "queries"
    highest: int = 3
    mirror: Callable | None = None


def of_metric(name, *changes, weighs="queries", highest=3, mirror=None, **options):
    metric = getattr(rb.metrics, name)
    value = lambda j: [metric(j.y, j.a, j.qid, j.weight, **options)]
    always = ("rows", "names", "monotone", "twice", "nothing", "times", "split")
    return Metric(value, (*always, *changes), weighs, highest, mirror)


def of_test(change):
    """What :func:`rankbook.metrics.compare` says of b and a, or how a stands alone."""

    def value(j):
        options = dict(metric="pair_accuracy", n_resamples=200, random_state=3)
        one = rb.metrics.interval(j.y, j.a, j.qid, j.weight, **options)
        both = rb.metrics.compare(j.y, j.a, j.b, j.qid, j.weight, **options)
        p = [both.p_randomization, both.p_wilcoxon, both.ties]
        if change == "exchange":
            return [*p, abs(both.difference), sorted([both.wins, both.losses])[0]]
        return [*p, one.value, one.low, one.high, both.difference, both.low, both.high, both.wins]

    return value


PAIRS = ("grades", "reverse", "copies")
UP, DOWN = lambda v: 1 - v, lambda v: -v
METRICS = {
    "auc": of_metric("auc", *PAIRS, weighs="items", highest=1, mirror=UP),
    "disagreement": of_metric("disagreement", *PAIRS, weighs="items", mirror=UP),
    "pair_accuracy": of_metric("pair_accuracy", *PAIRS, weighs="items", mirror=UP),
    "kendall_tau": of_metric("kendall_tau", *PAIRS, mirror=DOWN),
    "average_precision": of_metric("average_precision", "grades", "copies", weighs="items"),
    "precision_at_k": of_metric("precision_at_k", "grades", k=2),
    "recall_at_k": of_metric("recall_at_k", "grades", k=2),
    "hit_rate_at_k": of_metric("hit_rate_at_k", "grades", k=2),
    "rank_biased_precision": of_metric("rank_biased_precision", "grades"),
    "rank_biased_overlap": of_metric("rank_biased_overlap", "grades"),
    "bpref": of_metric("bpref", "grades"),
    "infap": of_metric("infap", "grades"),
    "reciprocal_rank": of_metric("reciprocal_rank", "grades", k=3),
    "ndcg": of_metric("ndcg", k=3),
    "ndcg, linear": of_metric("ndcg", gain="linear"),
    "err": of_metric("err", max_grade=3),
    "interval and compare": Metric(of_test(""), ("rows", "monotone", "grades", "reverse")),
    "compare, exchanged": Metric(of_test("exchange"), ("exchange", "rows")),
}


def rejudged(j, name, metric, rng):
    """A transformation of what is judged."""
    n, half = len(j.y), metric.weighs == "items"
    parts = lambda i: {k: getattr(j, k)[i] for k in vars(j)}
    if name == "rows":
        return Judged(**parts(rng.permutation(n)))
    if name == "names":
        ids, number = np.unique(j.qid, return_inverse=True)
        return replace(j, qid=np.array([f"q{k}" for k in rng.permutation(len(ids))])[number])
    if name == "monotone":  # of the scores, whose ties stay
        values = np.cumsum(rng.integers(1, 5, 7)) * 2.0 ** rng.integers(-20, 20)
        order = lambda s: values[np.round(10 * s).astype(int) + 3] if np.abs(s).max() < 1 else s
        return replace(j, a=order(j.a), b=order(j.b))
    if name == "grades":
        return replace(
            j, y=np.sign(j.y) * np.array([0.0, 2.0, 2.5, 900.0])[np.abs(j.y).astype(int)]
        )
    if name == "reverse":
        return replace(j, y=-j.y, a=-j.a, b=-j.b)
    if name == "exchange":
        return replace(j, a=j.b, b=j.a)
    if name == "times":
        return replace(j, weight=rng.choice([3, 1e300]) * j.weight)
    if name == "twice":  # every query once more
        more = Judged(**parts(np.tile(np.arange(n), 2)))
        return replace(more, qid=np.r_[j.qid, j.qid + j.qid.max() + 1])
    if name == "copies":
        return Judged(**parts(np.tile(np.arange(n), 2)))
    if name == "nothing":  # an item, or a query, that weighs nothing
        some = rng.integers(n, size=2)
        more = Judged(**parts(np.r_[np.arange(n), some]))
        more.weight[n:] = 0
        more.a[n:] = rng.integers(-3, 4, 2) / 10
        return more if half else replace(more, qid=np.r_[j.qid, np.full(2, j.qid.max() + 1)])
    i = np.arange(n) == rng.integers(n) if half else j.qid == rng.choice(j.qid)
    more = Judged(**parts(np.r_[np.arange(n), np.flatnonzero(i)]))  # "split"
    more.weight[np.r_[i, i[i]]] /= 2
    return more if half else replace(more, qid=np.r_[j.qid, np.full(i.sum(), j.qid.max() + 1)])


def check_metric(metric, j, names, seed):
    rng = np.random.default_rng(seed)
    first, changed = metric.value(j), j
    for name in sorted(names, key="names".__eq__):  # which are no numbers, last
        changed = rejudged(changed, name, metric, rng)
    told = f"after {names}: {changed}"
    assert metric.value(changed) == pytest.approx(first, rel=1e-12, abs=1e-14, nan_ok=True), told
    if metric.mirror:
        mirrored = metric.value(replace(changed, a=-changed.a))
        assert mirrored == pytest.approx([metric.mirror(first[0])], rel=1e-12, abs=1e-14), told


@pytest.mark.parametrize("examples", FEW)
@pytest.mark.parametrize("name", METRICS)
def test_metrics(name, examples):
    metric = METRICS[name]
    chosen = st.lists(st.sampled_from(metric.changes), max_size=3, unique=True)

    def check(j, names, seed):
        check_metric(metric, j, names, seed)

    run(name, 5 * examples, check, j=judged(metric), names=chosen, seed=st.integers(0, 99))


# The same preferences, however they are said


def told(prefs, names=None):
    """Preferences as a sorted list."""
    names = (
        (np.arange(prefs.n_items) if prefs.items is None else prefs.items)
        if names is None
        else names
    )
    names = np.asarray(names)
    return sorted(zip(names[prefs.better], names[prefs.worse], prefs.weight, prefs.margin))


def summed(prefs):
    """Total weights of pairs that are not 0, in order."""
    total = {}
    for better, worse, weight, margin in told(prefs):
        total[better, worse, margin] = total.get((better, worse, margin), 0) + weight
    return sorted((k, w) for k, w in total.items() if w)


@pytest.mark.parametrize("examples", FEW)
def test_constructors(examples):
    plain = Method(None, (), weights=True)

    def check(data, seed):
        rng = np.random.default_rng(seed)
        y, qid, n = data.y, data.qid, len(data.y)
        pairs = [(i, j) for i in range(n) for j in range(n) if y[i] > y[j] and qid[i] == qid[j]]
        better, worse = np.array(pairs).T
        cost = data.weight[better] * data.weight[worse]
        same = sorted(zip(better, worse, cost, np.ones(len(pairs))))
        assert told(rb.Preferences(better, worse, n, cost)) == same
        assert told(data.prefs) == [pair for pair in same if pair[2] > 0]
        moved, place = rows(data, plain, rng)[0], rng.permutation(n)
        lines = np.column_stack([better, worse])[rng.permutation(len(pairs))]
        kept = sorted(pairs)
        unweighted = lambda prefs: [(k, l) for k, l, *_ in told(prefs)]
        assert unweighted(rb.Preferences.from_pairs(lines, items=place)) == kept
        sign = rng.choice([-1, 1], len(lines))
        home, away = np.where(sign[:, None] > 0, lines, lines[:, ::-1]).T
        matches = dict(home=home, away=away, result=sign)
        assert unweighted(rb.Preferences.from_matches(matches, results="difference")) == kept
        assert np.isclose(moved.prefs.weight.sum(), data.prefs.weight.sum(), rtol=1e-12)
        by_query = [rb.Preferences.from_scores(y, q).query_weighted() for q in (qid, 7 - qid)]
        assert np.allclose(*map(told, by_query), rtol=1e-12)
        orders = [np.flatnonzero(qid == q)[np.argsort(-place[qid == q])] for q in np.unique(qid)]
        whole = rb.Preferences.from_rankings(orders, n)
        assert summed(whole) == summed(rb.Preferences.from_scores(place, qid))

    run("constructors", 5 * examples, check, data=data_of(plain), seed=st.integers(0, 99))
