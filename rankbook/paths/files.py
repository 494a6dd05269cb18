"""Paths and their problems in files."""

from functools import partial

import numpy as np

from ..base.errors import a_type
from ..base.files import Storable, Unstorable, save_values
from ..base.ownership import as_read_only
from ..base.status import Status
from ..base.validation import as_positive
from ..kernels.kernel import Kernel
from ..kernels.neighbours import SEARCHES
from ..kernels.nystroem import NystroemMap
from ..preferences.graph import Preferences
from ..preferences.orders import TIED, Orders
from ..preferences.target import Target
from ..problems.rankrls import MarginTarget, RankRLSProblem, Spectrum
from ..problems.ranksvm import LOSSES, RankSVMProblem
from ..problems.rayleigh import MOMENTS, RayleighProblem, SemiSupervisedData
from ..problems.sparse_bounds import ElasticNet
from ..problems.svm import MulticlassSVMProblem, SVMProblem

KIND = "rankbook path"


# Checks of values from a file before objects are made of them


def demand(holds, what):
    """Raise a ValueError that names the unmet condition of a file."""
    if not holds:
        raise ValueError(what)


def are_indices(a, n):
    """Return whether a is a vector of integers from 0 to n - 1.

    >>> are_indices(np.array([0, 2, 1]), 3), are_indices(np.array([0, 3]), 3)
    (True, False)
    >>> are_indices(np.empty(0, dtype=int), 0), are_indices(np.ones(1), 3)
    (True, False)
    """
    whole = isinstance(a, np.ndarray) and a.ndim == 1 and a.dtype.kind == "i"
    return whole and (a.size == 0 or 0 <= a.min() <= a.max() < n)


def finite(name, a, shape):
    """Return the array if it has this shape and finite floats, else raise a ValueError."""
    fits = isinstance(a, np.ndarray) and a.shape == shape and a.dtype == np.float64
    demand(
        fits and np.isfinite(a).all(), f"{name} is not an array of finite floats of shape {shape}"
    )
    return a


def demand_finite(name, value):
    """Raise a ValueError unless a part of a model is an array of finite floats."""
    is_array = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    demand(is_array and np.isfinite(value).all(), f"{name} has other than finite numbers")


def finite_table(table, shape):
    """Raise a ValueError unless this is a sparse matrix of finite floats of this shape."""
    demand(table.shape == shape and table.dtype == np.float64, f"table has shape {table.shape}")
    demand(np.isfinite(table.data).all(), "table is not finite")


# Problems and their parts


def kernel_parts(kernel):
    """Return the name and the parameters of a kernel."""
    if kernel.name == "callable":
        raise Unstorable(
            "kernel is a function, which a file cannot store. "
            "Pass a named kernel, or its Gram matrix as kernel='precomputed'"
        )
    return dict(kernel=kernel.name, gamma=kernel.gamma, degree=kernel.degree, coef0=kernel.coef0)


def _preferences_parts(prefs):
    """Return scores and queries of preferences that were made from scores, or pairs.

    Weights and margins are omitted if all are 1.
    """
    weights = {}
    if prefs.level_weight is not None:
        prefs = prefs.reweighted(prefs.weight)
    elif prefs.better_weight is not None:
        weights["better_weight"] = np.array(prefs.better_weight)
        if prefs.worse_weight is not prefs.better_weight:
            weights["worse_weight"] = np.array(prefs.worse_weight)
        prefs = prefs.without_item_weights()
    parts = dict(graph=prefs.graph, n_items=prefs.n_items, n_queries=prefs.n_queries)
    parts |= dict(n_ties=prefs.n_ties) | weights
    if prefs.items is not None:
        parts["items"] = [_plain_name(name) for name in prefs.items]
    for name in ("weight", "margin"):
        if (getattr(prefs, name) != 1).any():
            parts[name] = np.array(getattr(prefs, name))
    if prefs.levels is None:
        return parts | dict(better=prefs.better, worse=prefs.worse)
    scores, queries = prefs.levels.by_item()
    scores = scores if prefs.scores is None else prefs.scores
    return parts | dict(scores=scores, queries=queries, has_ids=prefs.queries is not None)


def _plain_name(name):
    """Convert the name of an item to JSON."""
    name = name.item() if isinstance(name, np.generic) else name
    if type(name) not in (str, int, float, bool) or name != name:
        raise Unstorable(
            f"preferences have the item {name!r}, {a_type(name)}, whose name a file cannot store. "
            "Pass names that are text or numbers"
        )
    return name


def _preferences(graph, n_items, n_queries, n_ties=0, items=None, has_ids=True, **arrays):
    optional = {"weight", "margin", "item_weight", "better_weight", "worse_weight"}
    given = set(arrays) - optional
    demand(given in ({"scores", "queries"}, {"better", "worse"}), "preferences have other parts")
    demand(all(isinstance(a, np.ndarray) for a in arrays.values()), "preferences are not arrays")
    if "scores" in arrays:
        prefs = Preferences.from_scores(arrays["scores"], arrays["queries"], graph)
        if arrays["scores"].dtype.kind != "f":  # levels of unknown scores
            prefs = prefs.replaced(scores=None)
        prefs = prefs if has_ids else prefs.replaced(queries=None)
    else:
        demand(graph in ("pairs", "rankings"), f"graph is {graph!r}")
        counted = isinstance(n_queries, int | None) and 0 < (n_queries or 1) < 2**31
        demand(counted, f"n_queries is {n_queries!r}")
        prefs = Preferences(arrays["better"], arrays["worse"], n_items)
        prefs = prefs.replaced(graph=graph, n_queries=n_queries)
    demand(type(n_ties) is int and n_ties >= 0, f"n_ties is {n_ties!r}")
    if items is not None:
        plain = isinstance(items, list) and {type(v) for v in items} <= {str, int, float, bool}
        demand(plain and len(items) == prefs.n_items, "items are not names")
    prefs = prefs.replaced(items=None if items is None else tuple(items), n_ties=n_ties)
    prefs = prefs.reweighted(arrays.get("weight"), arrays.get("margin"))
    if "better_weight" in arrays:
        return prefs.item_weighted(arrays["better_weight"], arrays.get("worse_weight"))
    demand("worse_weight" not in arrays, "preferences have worse_weight alone")
    if "item_weight" not in arrays:
        return prefs
    items = arrays["item_weight"]  # files up to version 0.2 also number pairs of weight 0
    weighted = prefs.item_weighted(items)
    if len(weighted) == len(prefs):
        return weighted
    return prefs.reweighted(items[prefs.better] * items[prefs.worse], arrays.get("margin"))


PLACES = ("item", "order", "group", "choice_weight", "risk_weight")
ORDERS = ("n_items", "ties", "lowest_first", "of_scores")


def _orders_parts(orders):
    """Return the columns of the places, and the names of the items."""
    parts = {name: getattr(orders, name) for name in PLACES}
    if orders.entry is not None:
        parts["first_group"] = orders.entry
    parts |= {name: getattr(orders, name) for name in ORDERS}
    if orders.items is not None:
        parts["items"] = [_plain_name(name) for name in orders.items]
    if orders.queries is not None:
        parts["queries"] = orders.queries
    if orders.survival is not None:
        parts |= {name: np.array(orders.survival[name]) for name in orders.survival.dtype.names}
    return parts


def _orders(  # noqa: PLR0913 -- the parts of a file
    n_items,
    ties,
    lowest_first,
    of_scores=False,
    items=None,
    queries=None,
    event=None,
    time=None,
    entry=None,
    first_group=None,
    **places,
):
    demand(set(places) == set(PLACES), "orders have other parts")
    size = places["item"].size
    demand(type(n_items) is int and are_indices(places["item"], n_items), "item")
    demand(ties in TIED, "ties")
    demand(type(lowest_first) is type(of_scores) is bool, "lowest_first or of_scores")
    for name in ("order", "group"):
        numbers = places[name]
        demand(are_indices(numbers, size) and (np.diff(numbers) >= 0).all(), name)
    for name in ("choice_weight", "risk_weight"):
        demand((finite(name, places[name], (size,)) >= 0).all(), name)
    facts = dict(lowest_first=lowest_first, of_scores=of_scores)
    if items is not None:
        demand(isinstance(items, list) and len(items) == n_items, "items are not names")
        facts["items"] = tuple(items)
    if queries is not None:
        demand(are_indices(queries, n_items), "queries")
        facts["queries"] = as_read_only(queries)
    if time is not None:
        finite("time", time, (n_items,))
        demand(event.shape == (n_items,) and event.dtype == bool, "event")
        facts["survival"] = Preferences.from_survival(time, event).survival
    demand((entry is None) == (first_group is None), "entry")
    if entry is not None:
        demand(time is not None and (finite("entry", entry, (n_items,)) < time).all(), "entry")
        demand(are_indices(first_group, size) and first_group.shape == (size,), "first_group")
        demand((first_group <= places["group"]).all(), "first_group")
        made = Orders.from_survival(time, event, entry=entry)
        facts |= dict(survival=made.survival, entry=first_group)
    return Orders._made(n_items, [places[name] for name in PLACES], ties, **facts)


def _items(problem):
    """Return the items of a problem, which a file stores as an array."""
    if hasattr(problem.X, "tocsr"):
        what = f"problem is {a_type(problem)} with sparse items"
        raise Unstorable(f"{what}, which a file cannot store. Pass an array of items")
    return problem.X


def _ranksvm_parts(problem):
    if problem.loss.name not in LOSSES:
        raise Unstorable(
            f"problem has the loss {problem.loss.name!r} of your own, which a file cannot store. "
            "Pass one of rankbook's"
        )
    if problem.loss is not LOSSES.get(problem.loss.name):
        raise Unstorable(
            f"problem has the loss {problem.loss.name!r}, an object that a file cannot store. "
            f"Pass one of: {', '.join(LOSSES)}"
        )
    parts = dict(X=_items(problem), prefs=problem.prefs, offset=problem.offset)
    parts |= dict(penalty=problem.penalty.name, loss=problem.loss.name)
    parts |= {} if problem.signs is None else dict(signs=problem.signs)
    if isinstance(problem.penalty, ElasticNet):
        parts["l1_ratio"] = problem.penalty.l1_ratio
        factors = problem.penalty.penalty_factor
        parts |= {} if factors is None else dict(penalty_factor=factors)
    return parts | kernel_parts(problem.kernel)


def _with_kernel(kernel, gamma=None, degree=3, coef0=1.0, **others):
    """Return the options of a problem, with a kernel made from :func:`kernel_parts`."""
    return others | dict(kernel=Kernel(kernel, gamma, degree, coef0))


def _ranksvm(X, prefs, offset, l1_ratio=None, penalty_factor=None, **options):
    known = isinstance(prefs, Target)
    demand(isinstance(X, np.ndarray) and known, "X or prefs is missing")
    if l1_ratio is not None:
        options["penalty"] = ElasticNet(l1_ratio, penalty_factor)
    problem = RankSVMProblem(
        X, prefs, **_with_kernel(**options), copy=False
    )  # centred, and not shared
    if offset is not None:
        demand(problem.is_factored, "offset")
        problem.offset = finite("offset", offset, problem.X.shape[1:])
    return problem


def _labelled_parts(problem):
    prefs, n, several = problem.prefs, len(problem.X), hasattr(problem, "number")
    number = np.asarray(problem.number if several else prefs.sign > 0, dtype=np.int64)
    parts = {name: getattr(prefs, name).reshape(n, -1)[:, 0] for name in ("weight", "margin")}
    parts |= dict(X=_items(problem), y=problem.classes_, number=number)
    return parts | kernel_parts(problem.kernel)


def _label_problem(kind, X, y, number, **options):
    demand(isinstance(y, np.ndarray) and y.ndim == 1 and are_indices(number, y.size), "number")
    problem = kind(X, y[number], **_with_kernel(**options))
    demand(np.array_equal(problem.classes_, y), "classes are not those of the labels")
    return problem


def _squares_parts(problem):
    """Return the parts of the graph: queries, a matrix of weights, or preferences."""
    from scipy.sparse import csr_array

    graph, target, by_weights = problem.graph, problem.target, problem.coef_is_weights
    parts = dict(X=_items(problem), offset=problem.offset, basis=problem.basis)
    parts |= dict(kernel="linear", penalty="l1") if by_weights else kernel_parts(problem.kernel)
    if isinstance(target, MarginTarget):
        return parts | dict(graph=target.prefs)
    parts |= dict(y=target.Y[:, 0] if problem.is_flat else target.Y)
    if hasattr(graph, "W"):
        return parts | dict(graph=csr_array(graph.W))
    parts |= dict(item_weight=getattr(graph, "weight", None))
    return parts | (dict(graph="identity") if graph.kind == "identity" else dict(qid=graph.query))


def _square_parts(X, offset, **options):
    problem = RankRLSProblem(X, **_with_kernel(**options))
    if offset is None:
        return problem
    demand(problem.offset is not None, "offset")
    return problem.replaced(
        X=as_read_only(X), offset=finite("offset", offset, X.shape[1:])
    )  # centred


def _subspace(**parts):
    known = ("kernel", "rule", "trace", "pivots", "factor", "landmarks", "n_items", "residual")
    demand(set(parts) == set(known), "subspace has other parts")
    shape, count, landmarks = parts["factor"].shape, parts["pivots"].size, parts["landmarks"]
    square = shape == (count, count) or (parts["rule"] == "pca" and shape[0] == count)
    demand(square and len(shape) == 2, f"factor has shape {shape} for {count} pivots")
    demand((landmarks is None) == (parts["kernel"].name == "precomputed"), "landmarks")
    demand(
        landmarks is None or (landmarks.ndim == 2 and len(landmarks) == count),
        "landmarks and pivots differ",
    )
    for name in ("factor", "landmarks"):
        if parts[name] is not None:
            demand_finite(name, parts[name])
    made = NystroemMap.__new__(NystroemMap)
    made.__setstate__(parts)  # the attributes that a pickle contains
    return made


def _rayleigh_parts(problem):
    data = problem.data
    names = ("items", "signs", "kernel", "subspace", "neighbours", *MOMENTS)
    parts = {name: getattr(data, name) for name in names}
    parts |= dict(laplacian_form=vars(data).get("laplacian_form"), noise=np.array(data.noise))
    parts |= dict(features=None if data.subspace is None else data.X)
    return parts | dict(manifold_weight=problem.manifold_weight)


def _rayleigh(  # noqa: PLR0913 -- the parts of a problem
    items, signs, kernel, subspace, neighbours, manifold_weight, features, noise, **found
):
    demand(isinstance(items, np.ndarray) and items.ndim == 2, "items")
    n, search = len(items), neighbours["neighbours"]
    demand(np.isfinite(items).all() and isinstance(kernel, Kernel), "items or kernel")
    demand(signs.shape == (n,) and signs.dtype == np.int8, "signs")
    demand({1, -1} <= set(signs.tolist()) <= {1, -1, 0}, "signs")
    demand(set(neighbours) == {"n_neighbors", "metric", "neighbours"}, "neighbours")
    plain = type(neighbours["n_neighbors"]) is int and isinstance(neighbours["metric"], str)
    demand(plain and search in SEARCHES, "neighbours")
    X = items
    if subspace is not None:
        demand(isinstance(subspace, NystroemMap) and are_indices(subspace.pivots, n), "pivots")
        X = finite("features", features, (n, subspace.factor.shape[1]))
    else:
        demand(kernel.name == "linear", "subspace is missing")
    p = X.shape[1]
    shapes = dict(mean_difference=(p,), within_scatter=(p, p))
    shapes |= {} if found["laplacian_form"] is None else dict(laplacian_form=(p, p))
    known = {name: finite(name, found[name], shape) for name, shape in shapes.items()}
    known |= dict(X=X, noise=as_positive("noise", noise.item(), zero=True))
    data = SemiSupervisedData(items, signs, kernel, subspace, neighbours, known)
    return RayleighProblem.of_data(data, manifold_weight)


def _csr_parts(table):
    parts = {name: getattr(table, name) for name in ("data", "indices", "indptr")}
    return parts | dict(shape=tuple(table.shape))


def _csr(kind, data, indices, indptr, shape):
    table = kind((data, indices, indptr), shape=shape)
    table.check_format()
    return table


def storables():
    """Return how a file stores problems and their parts, by their names in the file."""
    from scipy.sparse import csr_array, csr_matrix

    kinds = [
        Storable(Kernel, kernel_parts, Kernel),
        Storable(Preferences, _preferences_parts, _preferences),
        Storable(Orders, _orders_parts, _orders),
        Storable(NystroemMap, NystroemMap.__getstate__, _subspace),
        Storable(RankSVMProblem, _ranksvm_parts, _ranksvm),
        Storable(RankRLSProblem, _squares_parts, _square_parts),
        Storable(RayleighProblem, _rayleigh_parts, _rayleigh),
    ]
    kinds += [
        Storable(kind, _labelled_parts, partial(_label_problem, kind))
        for kind in (SVMProblem, MulticlassSVMProblem)
    ]
    kinds += [Storable(kind, _csr_parts, partial(_csr, kind)) for kind in (csr_array, csr_matrix)]
    return {entry.kind.__name__: entry for entry in kinds}


# Paths


def save_path(path, file, form, **parts):
    """Write a path and its problem to a file.

    Parameters
    ----------
    path : SolutionPath
    file : str or path
        The usual ending is ``.rankbook``. An existing file is replaced only when the new one is
        complete.
    form : str
        Name of the object whose method ``stored`` restores the path: the attribute ``form`` of a
        class of paths, or the name of a solver of rankbook.
    **parts
        Parts of the path, without its problem.

    Raises
    ------
    ValueError
        If the kernel is a function, or the problem has a part that a file cannot store.
    OSError
        If the file cannot be written.
    """
    said = {name: getattr(path, name) for name in ("problem", "info", "solver", "tol")}
    said |= dict(form=form, lam_end=path.domain[0], status=str(path.status))
    try:
        save_values(file, KIND, storables(), said | parts)
    except Unstorable as error:
        what = str(error).removeprefix("problem.")
        more = "" if "accepted" in what else "; joblib or a pickle keeps what can be imported"
        raise ValueError(f"{what}{more}.") from None


def event_parts(path):
    """Return the stored parts of a path of events: 14 bytes an event, and checkpoints."""
    parts = {f"event_{name}": path.events[name] for name in path.events.dtype.names}
    points = None if path.iterator is None else path.iterator.checkpoints
    parts["checkpoint_events"] = points and np.array([p.events for p in points])
    parts["checkpoint_lam"] = points and np.array([p.lam for p in points])
    return parts


def unpack_events(dtype, **columns):
    """Restore the table of events from the columns in a file."""
    events = np.empty(columns["event_lam"].shape, dtype=dtype)
    for name in dtype.names:
        column = columns.pop(f"event_{name}")
        demand(column.shape == events.shape and column.dtype == dtype[name], f"event_{name}")
        events[name] = column
    demand(not columns and events.ndim == 1, "events have other columns")
    return events


def check_events(events, first):
    """Refuse events that cannot occur on a path with the first sets (m,).

    Compiled code does not check them again. O(m + T log T).
    """
    lam, pair, origin, to = (events[name] for name in events.dtype.names)
    demand(is_falling(lam), "event_lam rises or is not a lambda")
    demand(are_indices(pair, first.size), f"event_pair is outside 0 to {first.size - 1}")
    demand(are_indices(origin, 3) and are_indices(to, 3), "event_from or event_to is not a set")
    demand((origin != to).all(), "event_from and event_to do not change a set")
    order = np.argsort(pair, kind="stable")
    is_first = np.r_[True, np.diff(pair[order]) > 0][: len(order)]
    before = np.where(is_first, first[pair[order]], np.roll(to[order], 1))
    demand((origin[order] == before).all(), "event_from is not where a preference was")


def is_falling(lams):
    """Return whether lambdas are finite, positive and not increasing."""
    return np.isfinite(lams).all() and (lams > 0).all() and (np.diff(lams) <= 0).all()


def unpack_checkpoints(T, numbers, lams):
    """Return the lambdas of checkpoints, each after a number of events out of T."""
    demand(are_indices(numbers, T + 1) and numbers.size, "checkpoint_events")
    demand(numbers[0] == 0 and (np.diff(numbers) >= 0).all(), "the checkpoints are in no order")
    demand(is_falling(finite("checkpoint_lam", lams, numbers.shape)), "checkpoint_lam")
    return lams


def unpack_spectrum(left, values, right, p, k):
    """Restore the spectrum of p coefficients for k columns."""
    r = values.size
    spectrum = Spectrum(
        finite("left", left, (p, r)), finite("values", values, (r,)), finite("right", right, (r, k))
    )
    demand((values >= 0).all(), "values are negative")
    return spectrum


def check_said(status, lam_end, info, solver, tol):
    """Refuse inconsistent facts of a path in a file."""
    lam_end = as_positive("lam_end", lam_end, zero=True)
    demand(status in [*Status], f"status is {status!r}")
    demand(
        (lam_end > 0) != (status == Status.COMPLETE), f"status is {status!r} and lam_end {lam_end}"
    )
    demand(isinstance(info, dict), "info is not a dict")
    demand(isinstance(solver, str) and solver.isprintable(), f"solver is {solver!r}")
    demand(tol is None or as_positive("tol", tol), "tol")
