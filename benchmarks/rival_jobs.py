"""Jobs of other packages, run by the Python of their own environments; see `rivals.py`.

Each job takes arrays, prepares what is not measured, and returns a function that is. Nothing of
rankbook is imported.
"""

import os
import pickle
import sys
import time

for name in ("OPENBLAS", "OMP", "MKL", "NUMBA", "RAYON"):
    os.environ[f"{name}_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import numpy as np  # noqa: E402 -- after the limits of threads


def arena_rank(first, second, winner, features):
    """Scores by name, with intervals; the features (m, k) have effects of their own."""
    import pandas as pd
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
    from arena_rank.utils.data_utils import ContextualPairDataset, PairDataset

    columns = {f"f{j}": features[:, j] for j in range(features.shape[1])}
    table = pd.DataFrame(dict(model_a=first, model_b=second, winner=winner, **columns))

    def run():
        if columns:
            options = dict(reweighted=False, normalize_features=False)
            data = ContextualPairDataset.from_pandas(table, list(columns), **options)
            kind = ContextualBradleyTerry(data.n_competitors, len(columns), reg=0.0)
        else:
            data = PairDataset.from_pandas(table)
            kind = BradleyTerry(data.n_competitors)
        found = kind.compute_ratings_and_cis(data)
        ratings = np.asarray(found["ratings"], dtype=float) * np.log(10) / 400
        return dict(zip(map(str, found["competitors"]), ratings.tolist()))

    return run


def evalica(first, second, winner):
    """Scores by name, without intervals."""
    import pandas as pd
    from evalica import Winner, bradley_terry

    outcomes = dict(model_a=Winner.X, model_b=Winner.Y, tie=Winner.Draw)
    first, second, winner = pd.Series(first), pd.Series(second), pd.Series(winner)
    limits = dict(tolerance=1e-12, limit=10_000)

    def run():
        found = bradley_terry(first, second, winner.map(outcomes), **limits).scores
        return {str(name): float(np.log(score)) for name, score in found.items()}

    return run


def choix(first, second, winner):
    """Scores by name, without intervals."""
    from choix import opt_pairwise

    def run():
        names, code = np.unique(np.concatenate([first, second]), return_inverse=True)
        pairs = []
        for a, b, won in zip(code[: len(first)], code[len(first) :], winner):
            both = [(a, b)] * (won != "model_b") + [(b, a)] * (won != "model_a")
            pairs += both if won == "tie" else both * 2
        found = opt_pairwise(len(names), pairs, method="Newton-CG", tol=1e-12)
        return dict(zip(map(str, names), found.tolist()))

    return run


def rlscore(X, y, lam, gamma):
    """Coefficients of GlobalRankRLS."""
    from rlscore.learner import GlobalRankRLS

    def run():
        model = GlobalRankRLS(X, y, lam, kernel="GaussianKernel", gamma=gamma)
        return np.asarray(model.predictor.A).ravel()

    return run


def lasso(package):
    """A job that returns the weights (d, k) of the lasso for k penalties, largest first."""

    def job(X, y, alphas):
        from importlib import import_module

        path = import_module(package).Lasso(fit_intercept=False, tol=1e-8, warm_start=True)

        def run():
            found = []
            for alpha in alphas:
                path.set_params(alpha=alpha)
                found.append(path.fit(X, y).coef_.copy())
            return np.array(found).T

        return run

    return job


def sparse_cox(X, time, event, alphas, tol):
    """Weights (k, d) of Cox's model with the L1 penalty for k penalties, largest first."""
    from skglm.datafits import Cox
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton

    X, y = np.asfortranarray(X), np.column_stack([time, event]).astype(float)
    solver = ProxNewton(fit_intercept=False, max_iter=200, tol=tol, warm_start=True)
    few, light = np.asfortranarray(X[:, :2]), L1(1e-3 * alphas[-1])  # some weights are not 0
    solver.solve(few, y, Cox(use_efron=False), light, np.zeros(2), np.zeros(len(X)))  # compiles

    def run():
        w, found = np.zeros(X.shape[1]), []
        for alpha in alphas:
            start = w.copy(), X @ w
            w = solver.solve(X, y, Cox(use_efron=False), L1(alpha), *start)[0]
            found.append(-w)  # a score is higher for those who survive longer
        return np.array(found)

    return run


def sparse_logistic(Z, y, lams, tol):
    """Weights (k, d) of logistic regression with the L1 penalty for k lambdas, largest first."""
    from celer import LogisticRegression

    def run():
        model = LogisticRegression(fit_intercept=False, warm_start=True, tol=tol, max_iter=200)
        found = []
        for lam in lams:
            found.append(model.set_params(C=1 / lam).fit(Z, y).coef_.ravel().copy())
        return np.array(found)

    return run


JOBS = {
    "arena_rank": arena_rank,
    "celer": lasso("celer"),
    "choix": choix,
    "evalica": evalica,
    "rlscore": rlscore,
    "skglm": lasso("skglm"),
    "sparse_cox": sparse_cox,
    "sparse_logistic": sparse_logistic,
}


def main():
    """Read jobs from standard input and write seconds and results, until it is closed."""
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    while True:
        try:
            name, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        run = JOBS[name](*arguments)
        start = time.process_time()
        result = run()
        pickle.dump((time.process_time() - start, result), answers)
        answers.flush()


if __name__ == "__main__":
    main()
