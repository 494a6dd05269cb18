"""What does exact cross-validation cost? Run by `pytest tests/benchmarks -s`.

It is left out of a plain `pytest`.

Processor time, after compilation, and its ratio to one path in the same run.
"""

import pytest
from cpu_time import cpu

import rankbook as rb
from rankbook.data.datasets import load, make_mixture

pytest.importorskip("pytest_benchmark")


@pytest.mark.parametrize("lam_min_ratio", [1e-6, None])
def test_five_exact_folds_of_cancer_cost_at_most_six_paths(lam_min_ratio):
    """569 items, standardised, 75684 preferences.

    Five folds, their curves, and the fit on all data, against the whole path on all data.
    """
    data = load("cancer")
    X, y = (data.X - data.X.mean(0)) / data.X.std(0), data.y
    small = make_mixture(n_per_class=15, seed=0)
    rb.RankSVMCV(random_state=0).fit(small.X, small.y)  # compiles
    prefs = rb.Preferences.from_scores(y)
    path_seconds, path = cpu(lambda: rb.solve_path(rb.RankSVMProblem(X, prefs)), rounds=3)
    cv_seconds, model = cpu(
        lambda: rb.RankSVMCV(random_state=0, lam_min_ratio=lam_min_ratio).fit(X, y), rounds=3
    )
    intervals = sum(curve.values.size for curve in model.fold_curves_)
    print(
        f"\n{len(prefs)} preferences: one whole path of {len(path.events)} events "
        f"{path_seconds:.2f} s; 5 exact folds with {intervals} intervals "
        f"and the final fit {cv_seconds:.2f} s, {cv_seconds / path_seconds:.2f} paths"
    )
    assert path.status == "complete" and model.certificate_.is_optimal(1e-8)
    assert cv_seconds <= 6 * path_seconds
