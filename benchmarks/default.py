"""How good is the default lambda? Beside lam = 1, five-fold cross-validation and the best there is.

The data sets are those of `which`, of the package and some that are generated, in two halves: the
rule and its constant are chosen on one, and judged on the other. Each has a training part, cut down
to whole queries of a few hundred items, and a test part. A row has the pair accuracy of the test
part along a grid of lambdas. All are compared with the best of these values, which favours none.
"""

from dataclasses import dataclass
from time import process_time
from typing import ClassVar

import numpy as np

import rankbook as rb
from rankbook.selection.folds import make_folds

from .common import graded, linear_graded
from .which_data import generated, tasks

MOST = {"linear": 500, "rbf": 200}  # items that train
GRID = 10.0 ** np.arange(-2.5, 2.1, 0.5)  # multiples of the scatter
METHODS = {
    "hinge, linear": rb.RankSVM(kernel="linear"),
    "hinge, rbf": rb.RankSVM(),
    "squared, linear": rb.RankSVM(kernel="linear", loss="squared"),
    "RankRLS, linear": rb.RankRLS(kernel="linear"),
    "RankRLS, rbf": rb.RankRLS(),
}
CHOICE = ("LightGBM's example", "football", "digits, 40 labels", "auto", "diabetes")


@dataclass(frozen=True)
class Compared:
    """A method on a part of a data set.

    Attributes
    ----------
    data, part : str
        For instance "MQ2008" and "fold 1".
    half : {"choice", "report"}
    method : str
    items, preferences : int
        That train.
    scatter : float, optional
        S / L(0), see :mod:`rankbook.problems.scale`.
    distances : float, optional
        The sum of the squared distances of the preferences' items, by the kernel: another rule.
    lams, accuracies : str
        The grid, and the pair accuracy of the test part at each lambda, with blanks between them.
    default, one, folds : float, optional
        The pair accuracy with the default, with lam = 1, and with five-fold cross-validation.
    lam_default, lam_folds : float, optional
    seconds : float, optional
        Of the processor, for the fit with the default.
    note : str
    """

    REMARK: ClassVar[str] = "Accuracies are those of the test part."

    data: str
    part: str
    half: str = ""
    method: str = ""
    items: int = 0
    preferences: int = 0
    scatter: float | None = None
    distances: float | None = None
    lams: str = ""
    accuracies: str = ""
    default: float | None = None
    one: float | None = None
    folds: float | None = None
    lam_default: float | None = None
    lam_folds: float | None = None
    seconds: float | None = None
    note: str = ""


def few(X, y, qid, most):
    """At most so many items: whole queries with different grades, or items of a single query."""
    rng, ids = np.random.default_rng(0), np.unique(qid)
    if len(ids) == 1:
        rows = rng.permutation(len(y))[:most]
    else:
        ids = rng.permutation([one for one in ids if np.ptp(y[qid == one]) > 0])
        total = np.cumsum([np.sum(qid == one) for one in ids])
        rows = np.flatnonzero(np.isin(qid, ids[: np.searchsorted(total, most, "right")]))
    return X[rows], y[rows], qid[rows]


def standardised(train, test):
    """Both parts with features of mean 0 and deviation 1 in the first."""
    centre, deviation = train[0].mean(axis=0), train[0].std(axis=0)
    factor = 1 / np.where(deviation > 0, deviation, 1.0)
    return tuple(((X - centre) * factor, y, qid) for X, y, qid in (train, test))


def halved(X, y, qid):
    """A random half of the items of one query, and the others."""
    rows = np.random.default_rng(0).permutation(len(y))
    first, others = np.split(rows, [len(y) // 2])
    return tuple((X[part], y[part], qid[part]) for part in (first, others))


def cut(n, X, y, qid):
    """The first n items, and the others."""
    return (X[:n], y[:n], qid[:n]), (X[n:], y[n:], qid[n:])


def parts(scale):
    """Name, part, half, training and test data (X, y, qid); or the reason why there are none."""
    if scale == "tiny":
        for split in list(generated(150))[::2]:
            yield split.data, split.part, "choice", split.of("train"), split.of("test")
        return
    found = tasks("usual")
    for data, make in found.items():
        half = "choice" if data in CHOICE else "report"
        if isinstance(make, str):
            yield data, "all", half, make, None
            continue
        for number, split in enumerate(make()):
            if number == 2:
                break
            train, test = split.of("train", "validation"), split.of("test")
            train, test = standardised(train, test) if split.scaled else (train, test)
            yield data, split.part, half, train, test
    for data in ("auto", "cancer", "diabetes", "mixture"):
        one = rb.datasets.make_mixture(200) if data == "mixture" else rb.datasets.load(data)
        both = halved(one.X, one.y, np.zeros(len(one.y), dtype=int))
        yield data, "", "choice" if data in CHOICE else "report", *standardised(*both)
    makers = {
        "generated, 40 in one query": (40, lambda: graded(2040, d=5, size=40)),
        "generated, 50 queries of 20": (1000, lambda: linear_graded(3000, size=20)),
        "generated, 30 queries of 8": (240, lambda: graded(2240, d=8, size=8)),
        "generated, 3 queries of 80": (240, lambda: graded(2240, d=20, size=80)),
        "generated, 12 queries of 10": (120, lambda: linear_graded(2120, d=10, size=10)),
        "generated, 10 queries of 100": (1000, lambda: graded(3000, d=30, size=100)),
    }
    for number, (data, (n, make)) in enumerate(makers.items()):
        yield data, "", ("choice", "report")[number % 2], *cut(n, *make())


def accuracy(model, lam, train, test):
    """The pair accuracy of the test part after a fit with this lambda."""
    return model.set_params(lam=lam).fit(*train).score(*test)


def chosen_by_folds(model, lams, X, y, qid):
    """The best of some lambdas by five folds, of queries where there are several, else of items.

    Fewer than five queries have a fold each. A fold's lambda is the same per preference as that of
    all data.
    """
    ids, query = np.unique(qid, return_inverse=True)
    query, folds = (None, 5) if len(ids) == 1 else (query, min(5, len(ids)))
    count = lambda rows: len(rb.Preferences.from_scores(y[rows], qid[rows]))
    total, found = count(slice(None)), []
    for train, held in make_folds(folds, X, y, query, 0):
        known, asked = ((X[rows], y[rows], qid[rows]) for rows in (train, held))
        share = count(train) / total
        found.append([accuracy(model, share * lam, known, asked) for lam in lams])
    mean = np.mean(found, axis=0)
    return lams[np.flatnonzero(mean >= mean.max() - 1e-12)[-1]]


def squared_distances(problem):
    """The sum over preferences of the squared distance of its two items, by the kernel."""
    prefs, K = problem.prefs, problem.gram
    k, l = prefs.better, prefs.worse
    return float((K[k, k] + K[l, l] - 2 * K[k, l]).sum())


def compared(name, train, test):
    """The measured columns of a method."""
    model = METHODS[name]
    X, y, qid = train = few(*train, MOST[model.kernel])
    start = process_time()
    default, lam = accuracy(model, "scale", train, test), model.lam_
    seconds = process_time() - start
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y, qid), kernel=model.kernel)
    scatter = model.solution_.problem.gradient_scatter()
    lams = scatter * GRID
    along = [accuracy(model, each, train, test) for each in lams]
    best = chosen_by_folds(model, lams, *train)
    return dict(
        items=len(y),
        preferences=len(problem.prefs),
        scatter=scatter,
        distances=squared_distances(problem),
        lams=" ".join(f"{each:.6g}" for each in lams),
        accuracies=" ".join(f"{each:.6f}" for each in along),
        default=default,
        one=accuracy(model, 1.0, train, test),
        folds=accuracy(model, best, train, test),
        lam_default=lam,
        lam_folds=float(best),
        seconds=seconds,
    )


def rows(scale, peers):
    """All rows."""
    for data, part, half, train, test in parts(scale):
        if isinstance(train, str):
            yield Compared(data, part, half, note=train)
            continue
        for name in METHODS:
            yield Compared(data, part, half, name, **compared(name, train, test))
