"""How fast does a Rayleigh ranker learn from many items, and where does the time go?

    python benchmarks/rayleigh.py                          12,500 to 100,000 items: ten minutes
    python benchmarks/rayleigh.py --sizes 2000 4000 --components 50 --repeats 1

A line for each figure: what, processor seconds on one thread (the median of some runs), and its
ratio to something else of the same run. It needs pynndescent: pip install "rankbook[large]".

Items lie near a curved sheet of 8 dimensions in 64, except for those called noise.
"""

import argparse
import statistics
import time
import warnings

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from threadpoolctl import threadpool_limits

import rankbook as rb
from rankbook.kernels.kernel import Kernel
from rankbook.kernels.neighbours import (
    approximate_neighbours,
    nearest_neighbours,
    neighbour_graph,
    neighbour_recall,
)
from rankbook.kernels.nystroem import find_subspace

D, LABELLED = 64, 0.5


def noise(n):
    """Items (n, 64) that fill all dimensions alike."""
    return np.random.default_rng(0).normal(size=(n, D))


def sheet(n):
    """Items (n, 64) near a curved sheet of 8 dimensions."""
    rng = np.random.default_rng(0)
    curved = np.tanh(rng.normal(size=(n, 8)) @ rng.normal(size=(8, D)) / 8**0.5)
    return curved + 0.05 * rng.normal(size=(n, D))


def labels(X):
    """Classes 0 and 1 (n,), and -1 for half of the items."""
    rng = np.random.default_rng(1)
    scores = X[:, 0] + X[:, 1] ** 2
    y = (scores + scores.std() * rng.normal(size=len(X)) > np.median(scores)).astype(int)
    y[rng.random(len(X)) >= LABELLED] = -1
    return y


def seconds(function, repeats):
    """The median of the processor seconds of a few calls, and the last result."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return statistics.median(times), result


def show(what, cost, *ratios):
    """A line: what, seconds, and ratios as pairs (number, to what)."""
    shown = "".join(f"  {ratio:7.2f} {to}" for ratio, to in ratios)
    print(f"{what:<58} {cost:7.2f} s{shown}", flush=True)


def growth(sizes, repeats, components):
    """Searches and whole fits for several numbers of items."""
    before = None
    for n in sizes:
        X = sheet(n)
        y = labels(X)
        model = rb.RayleighRanker(n_components=components, neighbours="approximate")
        exact, _ = seconds(lambda X=X: nearest_neighbours(X, 2), repeats)
        near_time, near = seconds(lambda X=X: approximate_neighbours(X, 2), repeats)
        fit, _ = seconds(lambda X=X, y=y, model=model: model.fit(X, y), repeats)
        rest, _ = seconds(
            lambda X=X, y=y: rb.RayleighRanker(n_components=components, manifold_weight=0).fit(
                X, y
            ),
            repeats,
        )
        assert model.certificate_.is_optimal(1e-10)
        now = dict(exact=exact, near=near_time, fit=fit, rest=rest)
        grown = {
            name: () if before is None else ((now[name] / before[name], "of the size before"),)
            for name in now
        }
        show(f"n = {n:,}: exact search", exact, *grown["exact"])
        show(f"n = {n:,}: approximate search", near_time, *grown["near"])
        show("    exact search to it", exact, (exact / near_time, "times"))
        show(f"    its recall {neighbour_recall(X, near):.3f}", near_time)
        show(f"n = {n:,}: whole fit, approximate search", fit, *grown["fit"])
        show(f"n = {n:,}: fit without manifold", rest, *grown["rest"])
        before = now


def in_noise(n):
    """How many of the neighbours are found where there is nothing to go by."""
    X = noise(n)
    cost, near = seconds(lambda: approximate_neighbours(X, 2), 1)
    show(f"noise, n = {n:,}: approximate search", cost)
    show(f"    its recall {neighbour_recall(X, near):.3f}", cost)


def peers(n, repeats, components):
    """Fits, with the graph there already, beside Nystroem's map and the linear discriminant.

    Those of scikit-learn see labels of all items, as we do here. Nystroem's landmarks are drawn;
    with greedy ones, which scikit-learn does not choose, they are ours, and their choice counts
    (it makes the features by the way, which scikit-learn does again).
    """
    for name, X in (("sheet", sheet(n)), ("noise", noise(n))):
        y, kernel = (labels(X) == 1).astype(int), Kernel("rbf")
        graph = neighbour_graph(X, neighbours="approximate")
        choice, (pivots, *_) = seconds(
            lambda X=X: find_subspace(X, components, kernel, "greedy", None), repeats
        )
        show(f"{name}, n = {n:,}: greedy pivots and their features", choice)

        def fit(rule, manifold, X=X, y=y, graph=graph):
            problem = rb.RayleighProblem(
                X, y, n_components=components, manifold_weight=0, pivots=rule, random_state=0
            )
            if manifold:
                problem.data.graph = graph
                problem = problem.with_manifold_weight(1.0)
            return rb.solve(problem, 1e-3, solver="rayleigh")

        def peer(solver, landmarks, X=X, y=y):
            nystroem = Nystroem(n_components=components, gamma=1 / D, random_state=0)
            F = nystroem.fit(X if landmarks is None else X[landmarks]).transform(X)
            return LinearDiscriminantAnalysis(solver).fit(F, y)

        theirs = {
            f"{chosen} landmarks, {solver}": seconds(lambda s=solver, r=rows: peer(s, r), repeats)[
                0
            ]
            + more
            for chosen, rows, more in (("drawn", None, 0.0), ("greedy", pivots, choice))
            for solver in ("svd", "lsqr")
        }
        for which, cost in theirs.items():
            show(f"{name}: Nystroem and LDA, {which}", cost)
        for rule in ("greedy", "random"):
            for manifold in (False, True):
                cost, _ = seconds(lambda r=rule, m=manifold: fit(r, m), repeats)
                what = "with the form of a graph" if manifold else "without a manifold"
                show(f"{name}: ours, {rule} pivots, {what}", cost)
                for which, other in theirs.items():
                    if rule == "greedy" or "drawn" in which:
                        show(f"    to {which}", cost, (cost / other, "times"))


def main(arguments=None):
    """All figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[12_500, 25_000, 50_000, 100_000])
    parser.add_argument("--components", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", "neighbours='approximate' found")
    with threadpool_limits(1):
        small = sheet(1000)
        show(
            "first approximate search of a process: compiles",
            seconds(lambda: approximate_neighbours(small, 2), 1)[0],
        )
        rb.RayleighRanker(n_components=5).fit(small, labels(small))
        growth(options.sizes, options.repeats, options.components)
        in_noise(options.sizes[-1])
        peers(options.sizes[-1], options.repeats, options.components)


if __name__ == "__main__":
    main()
