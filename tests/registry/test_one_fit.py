"""How much code one small fit goes through, and that its solver is chosen and made once."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np

import rankbook as rb

PACKAGE = str(Path(rb.__file__).parent)


def calls_of(function):
    """How often each function of the package was called, by its file and name."""
    found = Counter()

    def look(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            found[code.co_filename.removeprefix(PACKAGE), code.co_name] += 1

    sys.setprofile(look)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


def test_a_small_fit_goes_through_few_functions_and_makes_one_solver():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.round(X[:, 0] + rng.normal(size=40))
    fit = lambda: rb.RankSVM(kernel="rbf").fit(X, y)
    fit()  # imports
    found = calls_of(fit)
    named = Counter({key: count for key, count in found.items() if not key[1].startswith("<")})
    of_registry = {
        name: n for (file, name), n in named.items() if Path(file).parts[1] == "registry"
    }
    assert (
        len({file for file, _ in found}) <= 30
    )  # among them one each for the default lambda, signs and the seconds of compiling
    assert len(named) <= 260  # of which the default lambda takes fifteen
    assert sum(of_registry.values()) <= 86
    for once in ("choose_solver", "find_record", "call_solver"):
        assert of_registry[once] == 1
    made = [file for (file, name) in named if name == "__init__" and "solvers" in file]
    assert sum("solver.py" in file for file in made) == 1  # of all solvers that were compared


def test_a_cross_validation_makes_few_calls():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=40), [-0.5, 0.5])
    fit = lambda: rb.RankSVMCV().fit(X, y)
    fit()  # compiles
    assert sum(calls_of(fit).values()) <= 20000
