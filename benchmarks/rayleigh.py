"""How fast a Rayleigh ranker learns from many items, and where the time goes.

The approximate search needs pynndescent: pip install "rankbook[large]". It compiles itself anew in
every process, which is a row of its own. Items lie near a curved sheet of 8 dimensions in 64, but
for those called noise; half of them have a label.
"""

from importlib.util import find_spec

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem

import rankbook as rb
from rankbook.kernels.kernel import Kernel
from rankbook.kernels.neighbours import (
    approximate_neighbours,
    nearest_neighbours,
    neighbour_graph,
    neighbour_recall,
)
from rankbook.kernels.nystroem import find_subspace

from .common import Row, compare, half_labelled, noise, sheet, timed

SIZES = {"tiny": (200,), "usual": (5000, 10_000), "full": (12_500, 25_000, 50_000, 100_000)}
COMPONENTS = {"tiny": 5, "usual": 100, "full": 200}


def search(n):
    """The approximate search for two neighbours beside the exact one."""
    X = sheet(n)
    recall = {"recall": lambda near: neighbour_recall(X, near)}
    exact = {"exact search": lambda: nearest_neighbours(X, 2)}
    return compare("approximate search", n, lambda: approximate_neighbours(X, 2), exact, recall)


def fits(n, components):
    """Whole fits with the approximate search, and without a manifold."""
    X = sheet(n)
    y, given = half_labelled(X), dict(n_components=components)

    def fit(**options):
        model = rb.RayleighRanker(**given, **options).fit(X, y)
        assert model.certificate_.is_optimal(1e-10)
        return model

    bare = {"no manifold": lambda: fit(manifold_weight=0)}
    what = "RayleighRanker(), approximate search"
    return compare(what, n, lambda: fit(neighbours="approximate"), bare)


def growth(sizes, components):
    """Searches and whole fits for several numbers of items, and how they grow."""
    before = {}
    for n in sizes:
        for row in search(n) + fits(n, components):
            yield row
            if last := before.get(row.what):
                ratio = row.seconds / last.seconds
                yield Row(
                    row.what,
                    n,
                    row.seconds,
                    peer=f"{last.items:,} items",
                    peer_seconds=last.seconds,
                    ratio=ratio,
                    rounds=row.rounds,
                )
            before[row.what] = row


def in_noise(n):
    """How many of the neighbours are found where there is nothing to go by."""
    X = noise(n)
    recall = {"recall": lambda near: neighbour_recall(X, near)}
    what = "approximate search in noise"
    return compare(what, n, lambda: approximate_neighbours(X, 2), None, recall, 1)


class Nystroems:
    """scikit-learn's Nystroem and linear discriminant, with drawn landmarks or greedy ones.

    Those of scikit-learn see labels of all items, as ours do here. Its landmarks are drawn; the
    greedy ones, which it does not choose, are ours, and their choice counts (it makes the features
    by the way, which scikit-learn does again).
    """

    def __init__(self, X, y, components, choose):
        self.X, self.y, self.components, self.choose = X, y, components, choose

    def fit(self, solver, greedy):
        """A linear discriminant of Nystroem's features."""
        X = self.X
        nystroem = Nystroem(n_components=self.components, gamma=1 / X.shape[1], random_state=0)
        features = nystroem.fit(X[self.choose()[0]] if greedy else X).transform(X)
        return LinearDiscriminantAnalysis(solver).fit(features, self.y)

    def runs(self, drawn_only):
        """A function for each kind of landmarks and solver."""
        kinds = (("drawn", False),) if drawn_only else (("drawn", False), ("our greedy", True))
        return {
            f"LDA ({solver}) of Nystroem, {kind} landmarks": lambda s=solver, g=greedy: self.fit(
                s, g
            )
            for kind, greedy in kinds
            for solver in ("svd", "lsqr")
        }


def beside_nystroem(name, X, components, with_graph):
    """Fits, with the graph there already, beside Nystroem's map and the linear discriminant."""
    n, y = len(X), (half_labelled(X) == 1).astype(int)
    choose = lambda: find_subspace(X, components, Kernel("rbf"), "greedy", None)
    yield from compare(f"{name}: greedy pivots and their features", n, choose)
    graph = neighbour_graph(X, neighbours="approximate") if with_graph else None
    theirs = Nystroems(X, y, components, choose)

    def fit(rule, manifold):
        problem = rb.RayleighProblem(
            X, y, n_components=components, manifold_weight=0, pivots=rule, random_state=0
        )
        if manifold:
            problem.data.graph = graph
            problem = problem.with_manifold_weight(1.0)
        return rb.solve(problem, 1e-3, solver="rayleigh")

    for rule in ("greedy", "random"):
        for manifold in (False, True) if with_graph else (False,):
            form = "with the form of a graph" if manifold else "no manifold"
            what = f"{name}: {rule} pivots, {form}"
            ours = lambda: fit(rule, manifold)  # noqa: B023
            yield from compare(what, n, ours, theirs.runs(rule == "random"))


def rows(scale, peers):
    """All rows; at a tiny scale without the approximate search, which would compile for it."""
    sizes, components = SIZES[scale], COMPONENTS[scale]
    searches = scale != "tiny" and find_spec("pynndescent") is not None
    if searches:
        seconds, _ = timed(lambda: approximate_neighbours(sheet(1000), 2))
        yield Row("first approximate search of a process: compiles", 1000, seconds)
        yield from growth(sizes, components)
        yield from in_noise(sizes[-1])
    elif scale != "tiny":
        yield Row("approximate search", sizes[-1], peer="pynndescent", note="not installed")
    for name, X in (("sheet", sheet(sizes[-1])), ("noise", noise(sizes[-1]))):
        yield from beside_nystroem(name, X, components, searches)
