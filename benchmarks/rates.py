"""What do calls take that "auto" does not choose? Other losses, other solvers, paths of solutions.

    python -m benchmarks rates --out nbs/registry/other_costs.csv

The chapter nbs/registry/choice.ipynb fits the rates of its predictions to this table and to that of
`choice`, and prints the constants. Each call is made with 1 / SMALL of the items before, so that
nothing is compiled meanwhile. Seconds are the least of up to three calls. Paths of RankRLS count
twice, alone and in a search for lambda, which takes longer. All takes two minutes of an idle
processor.
"""

from dataclasses import dataclass, replace
from time import process_time
from typing import ClassVar

import numpy as np

import rankbook as rb
from rankbook.registry.choice import kinds_of_smooth, levels_of, work_of

from .choice import items, made
from .common import graded, linear_graded
from .forecast import SMALL, Softplus, size_of

SHORT = 0.5  # seconds: the fastest of three calls counts


@dataclass(frozen=True)
class Rate:
    """A call, the sizes on which its prediction depends, and its seconds.

    Attributes
    ----------
    part : {"smooth", "other", "path"}
        One solution with a smooth loss; a solver with one suitable kind of problem; or a path of
        solutions.
    kind : str
        How the sums of a loss are computed, the solver, or what the solutions of a path are.
    items, preferences, columns : int
        Columns of the kernel's factor or of the basis.
    entries : int
        Stored entries of linear items.
    kernel : bool
        Whether the kernel is not linear.
    levels, block, rank, decades
        As in :class:`rankbook.registry.choice.Work`.
    loss, sums : str
        Of a path: the loss, and how its sums are computed if it is neither of the hinges.
    seconds : float
        Of the processor.
    """

    REMARK: ClassVar[str] = "Seconds are those of the processor."

    part: str
    kind: str
    items: int
    preferences: int = 0
    columns: int = 0
    entries: int = 0
    kernel: int = 0
    levels: float = 1.0
    block: float = 0.0
    rank: float = np.inf
    decades: float = 0.0
    loss: str = ""
    sums: str = ""
    seconds: float = 0.0


def least(make, call):
    """Processor seconds of a call on what `make` makes, the least of three if it is short."""
    found = []
    while len(found) < 3 and sum(found) < SHORT:
        made_of = make()
        start = process_time()
        call(made_of)
        found.append(process_time() - start)
    return min(found)


def sized(part, kind, problem, **more):
    """A row with the sizes of a problem, without seconds."""
    n = problem.n_items
    d = problem.X.shape[1] if problem.is_factored else n
    m = getattr(problem, "n_preferences", n)
    entries = n * d if problem.is_factored else 0
    return Rate(part, kind, n, m, d, entries, int(not problem.is_factored), **more)


def of_smooth(n):
    """One solution with the logistic loss, Plackett-Luce and a loss of one's own."""

    def problem(loss, count, d, query, kernel="linear", levels=5):
        query = min(query, n(count))
        if kernel == "linear" and levels:
            X, y, qid = linear_graded(n(count) // query * query, d, query, levels=levels)
        elif kernel == "linear":
            X, qid = np.random.default_rng(0).normal(size=(n(count), d)), None
            y = X[:, 0] + np.random.default_rng(1).normal(size=len(X))
        else:
            X, y, qid = graded(n(count), d, query)
        prefs = rb.Preferences.from_scores(y + 0.0, qid)
        return rb.RankSVMProblem(X, prefs, kernel=kernel, loss=loss)

    sizes = [
        *(("logistic", 100_000, 20, 20), ("logistic", 40_000, 20, 200), ("logistic", 20_000, 100)),
        *(("logistic", 60_000, 10, 60_000), ("logistic", 60_000, 50, 60_000)),
        *(("logistic", 60_000, 10, 60_000, "linear", 40), ("logistic", 60_000, 10, 1, "linear", 0)),
        *(("logistic", 20_000, 10, 1, "linear", 0), ("logistic", 150_000, 20, 1, "linear", 0)),
        *(("plackett-luce", 100_000, 20, 100), ("plackett-luce", 200_000, 10, 1, "linear", 0)),
        *(("plackett-luce", 20_000, 100, 20), (Softplus(), 20_000, 20, 100)),
        *((Softplus(), 10_000, 50, 40), ("logistic", 1000, 10, 20, "rbf")),
        *(("logistic", 1800, 10, 20, "rbf"), ("plackett-luce", 1500, 10, 20, "rbf")),
        *(("logistic", 3000, 10, 20, "rbf"), ("logistic", 5000, 5, 100, "rbf")),
        ("plackett-luce", 4000, 10, 20, "rbf"),
    ]
    for loss, count, d, *more in sizes:
        more = more or [20]
        make = lambda loss=loss, count=count, d=d, more=more: problem(loss, count, d, *more)
        one = make()
        kind = kinds_of_smooth(one)[-1]
        levels = levels_of(one.prefs, one.n_items) if kind == "interpolated" else 1.0
        row = sized("smooth", kind, one, levels=float(levels))
        yield row, make, lambda one: rb.solve(one, 1.0)


def of_others(n):
    """Solvers that "auto" takes where it has no choice."""
    solve, path = (lambda one: rb.solve(one, 1.0)), rb.solve_path
    for count, d, query in ((1000, 10, 20), (400, 20, 100), (300, 20, 300)):
        query = min(query, n(count))
        X, y, qid = linear_graded(n(count) // query * query, d, query)
        prefs = rb.Preferences.from_scores(y, qid)
        for solver, loss in (("simplex", "hinge"), ("homotopy", "squared")):
            make = lambda X=X, prefs=prefs, loss=loss: rb.RankSVMProblem(
                X, prefs, kernel="linear", penalty="l1", loss=loss
            )
            row = sized("other", solver, make())
            yield row, make, lambda one: rb.solve(one, 0.01 * one.lam_max)
            yield sized("other", f"{solver}, path", make()), make, path
    for count, d in ((2000, 10), (1000, 50), (20_000, 50), (2000, 200)):
        X, y, _ = linear_graded(n(count) // 20 * 20, d, 20)
        make = lambda X=X, y=y: rb.RankRLSProblem(X, y + 0.0, kernel="linear", penalty="l1")
        yield sized("other", "homotopy, rls", make()), make, path
    for count, d in ((20_000, 300), (50_000, 100), (1000, 0), (1900, 0), (3000, 0), (4000, 0)):
        X, y, _ = graded(n(count), d or 10)
        kernel = "linear" if d else "rbf"
        make = lambda X=X, y=y, kernel=kernel: rb.RankRLSProblem(X, y + 0.0, kernel=kernel)
        yield sized("other", "rls", make()), make, solve
        if count < 3000 or d:
            yield sized("other", "rls, path", make()), make, path
            search = lambda _, X=X, y=y, kernel=kernel: rb.RankRLSCV(kernel=kernel).fit(X, y)
            yield sized("other", "rls, path", make()), make, search
    for count, r in ((20_000, 300), (20_000, 800), (50_000, 200)):
        X, y, _ = graded(n(count))
        make = lambda X=X, y=y, r=r: rb.RankRLSProblem(X, y + 0.0, basis=np.arange(n(r)))
        size = n(count), n(count), n(r)
        yield Rate("other", "sparse-rls", *size, kernel=1), make, solve
        yield Rate("other", "sparse-rls, path", *size, kernel=1), make, path
        search = lambda _, X=X, y=y, r=r: rb.RankRLSCV(basis=n(r)).fit(X, y)
        yield Rate("other", "sparse-rls, path", *size, kernel=1), make, search
    for count in (600, 1000, 1500):
        X = graded(n(count))[0]
        make = lambda X=X: rb.LabelRanker(lam=1.0)
        row = Rate("other", "kronecker", n(count), n(count), n(count), kernel=1)
        yield row, make, lambda one, X=X: one.fit(X, X[:, :6])
    for kernel, count, query in (("linear", 3000, 5), ("rbf", 500, 10), ("rbf", 1000, 5)):
        case = kernel, "hinge", "dense", n(count), 10, query, "full", "one"
        data = items(case)
        make = lambda case=case, data=data: made(case, *data)
        lam = 1e-4 * float(make().penalty.lam_max(make()))
        yield sized("other", "qp", make()), make, lambda one, lam=lam: rb.solve(one, lam, "qp")


def of_paths(n):
    """Paths of many solutions, each of which starts from a neighbour."""
    for kind, kernel, loss, count, d, query, share in (
        ("interior", "linear", "hinge", 2000, 20, 20, 1e-4),
        ("interior", "linear", "hinge", 1000, 50, 100, 1e-3),
        ("interior", "rbf", "hinge", 500, 5, 20, 1e-4),
        ("interior", "rbf", "hinge", 700, 10, 20, 1e-2),
        ("ascent", "rbf", "hinge", 4000, 10, 20, 1e-2),
        ("ascent", "rbf", "hinge", 3000, 10, 20, 1e-3),
        ("ascent", "rbf", "hinge", 3000, 5, 100, 1e-3),
        ("newton", "linear", "squared", 10_000, 20, 100, 1e-4),
        ("newton", "linear", "squared", 3000, 100, 20, 1e-5),
        ("newton", "linear", "squared", 30_000, 50, 20, 1e-3),
        ("newton, kernel", "rbf", "squared", 500, 10, 20, 1e-3),
        ("newton, kernel", "rbf", "squared", 700, 10, 20, 1e-2),
    ):
        case = kernel, loss, "dense", n(count), d, min(query, n(count)), "full", "one"
        data = items(case)
        make = lambda case=case, data=data: made(case, *data)
        lam = share * float(make().penalty.lam_max(make()))
        work = work_of(make(), lam)
        more = {name: getattr(work, name) for name in ("levels", "block", "rank", "decades")}
        row = sized("path", kind, make(), loss=loss, **more)
        solver = "epsilon" if loss == "hinge" else "newton"
        options = dict(inner=kind) if loss == "hinge" else {}
        yield (
            row,
            make,
            lambda one, lam=lam, solver=solver, options=options: rb.solve_path(
                one, lam, solver, **options
            ),
        )
    for loss, count, d in (
        ("logistic", 4000, 20),
        ("logistic", 10_000, 10),
        ("plackett-luce", 10_000, 20),
    ):
        X, y, qid = linear_graded(n(count) // 20 * 20, d, 20)
        prefs = rb.Preferences.from_scores(y, qid)
        make = lambda X=X, prefs=prefs, loss=loss: rb.RankSVMProblem(
            X, prefs, kernel="linear", loss=loss
        )
        sums = kinds_of_smooth(make())[-1]
        yield (
            sized("path", "smooth", make(), loss=loss, sums=sums, decades=4.0),
            make,
            rb.solve_path,
        )


PARTS = of_smooth, of_others, of_paths


def rows(scale, peers):
    """All rows."""
    for part in PARTS:
        for large, few in zip(part(size_of(1)), part(size_of(SMALL))):
            few[2](few[1]())
            row, make, call = few if scale == "tiny" else large
            yield replace(row, seconds=least(make, call))
