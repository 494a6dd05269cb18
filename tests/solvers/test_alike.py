"""What every solver of the library does alike: options, Ctrl-C, equal answers, stored paths."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import rankbook as rb
from rankbook.testing.subject import Subject

NAMES = [row["name"] for row in rb.list_solvers() if row["origin"].startswith("rankbook ")]
PATHS = [row["name"] for row in rb.list_solvers() if "path" in row["provides"]]
OPTIONS = {  # values that make no sense
    "ascent": dict(tol=[0], max_sweeps=[0], seed=[-1, 1.5], start=[3]),
    "coordinate": dict(tol=[0], max_passes=[0], seed=[-1, 1.5]),
    "epsilon": dict(
        eps=[0, -1, 1, 2, 1e-10, np.nan, np.inf, "small", None, True, [1e-3]],
        inner=["qq", "paht", "", 3, dict, "epsilon"],
    ),
    "homotopy": dict(max_events=[-1]),
    "interior": dict(tol=[0], start=[3]),
    "newton": dict(tol=[-1, 0], start=[3, "cold"]),
    "path": dict(
        chunk=[0, -3, 1.5],
        max_events=[-1, 1.5, "all"],
        perturbation=[-1e-8, 2.0, np.nan, "0"],
        seed=[-1, "x"],
        stop=[3],
    ),
    "qp": dict(form=["prima", "duall"]),
    "simplex": dict(max_events=[-1, 1.5, "9"], perturbation=[-1e-9, 0.1], seed=[-1, None]),
    "subgradient": dict(
        step=["t"],
        average=["all", True],
        tol=[0, "a"],
        max_passes=[0],
        seed=[-1, 1.5, True, "0"],
        offset=[-1, np.nan],
    ),
    "tiled": dict(tol=[0], landmarks=[0, 1.5]),
}


@pytest.mark.parametrize(
    "solver, option, value",
    [(s, name, value) for s in OPTIONS for name in OPTIONS[s] for value in OPTIONS[s][name]],
)
def test_an_option_that_makes_no_sense_is_named(solver, option, value):
    with pytest.raises((ValueError, TypeError), match=f"^{option} is .*(Pass|did you mean)"):
        rb.get_solver(solver, **{option: value})


def first_case(name):
    """A small problem with ties, the smaller of its lambdas, and the Subject."""
    subject = Subject(name)
    *_, case = subject.cases("items", names=("integer grid",))
    return subject, case.problem, case.lam


def arrays(answer):
    return [answer.coef, *([answer.dual] if isinstance(answer.dual, np.ndarray) else [])]


def calls_until(name, call, run):
    """Run, and press Ctrl-C in the given call of a function of a solver; return their number."""
    folder, count = str(Path("rankbook", "solvers", name)) + "/", 0

    def watch(frame, event, arg):
        nonlocal count
        if event == "call" and folder in frame.f_code.co_filename:
            count += 1
            if count == call:
                raise KeyboardInterrupt

    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


FOLDERS = {"kronecker": "rls", "sparse-rls": "rls"}


@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c_stays_ctrl_c_and_the_next_call_gives_the_same_answer(name):
    subject, problem, lam = first_case(name)
    answer, folder = lambda: subject.answer(problem, lam), FOLDERS.get(name, name)
    before, count = answer(), calls_until(folder, 0, answer)
    assert count
    for call in np.unique([1, 2, count // 2 or 1, count]):
        with pytest.raises(KeyboardInterrupt):
            calls_until(folder, call, answer)
    for one, other in zip(arrays(before), arrays(answer())):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("name", PATHS)
def test_a_path_repeats_itself_and_survives_a_pickle(name):
    subject, problem, lam = first_case(name)
    path, again = (subject.path_below(problem, lam) for _ in range(2))
    copy = pickle.loads(pickle.dumps(path))
    for other in (again, copy):
        assert other.domain == path.domain and other.status == path.status
        for at in (lam, 2 * lam):
            for one, two in zip(arrays(path.solution(at)), arrays(other.solution(at))):
                assert np.array_equal(one, two)
    assert np.array_equal(copy.predict(problem.X, lam), path.predict(problem.X, lam))
    for array in arrays(path.solution(lam)):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 7


FLOAT32, CSR = "takes the storage float64, not float32", "takes the storage float64, not csr"
L1 = "takes the penalty l2, not l1, which rankbook's own solvers qp and simplex take"
L1_SQUARED = "which rankbook's own solvers homotopy and qp and sparse take"
REFUSED = [  # a solver, options of the problem, and what is said
    ("ascent", {}, "not linear"),
    ("coordinate", dict(kernel="rbf"), "not rbf"),
    ("coordinate", dict(penalty="l1"), "not l1"),
    ("coordinate", dict(loss="logistic"), "not logistic"),
    ("coordinate", dict(signs=[1, 1]), "no signs"),
    ("epsilon", dict(storage="float32"), FLOAT32 + ", which rankbook's own solver.*newton"),
    ("epsilon", dict(storage="csr"), CSR + ", which rankbook's own solver.*newton"),
    ("homotopy", dict(penalty="l1"), "loss squared, not hinge.*solvers qp and simplex take"),
    ("interior", dict(penalty="l1"), L1),
    ("newton", dict(kernel="rbf"), "the kernel linear, not rbf, which interior takes"),
    ("newton", dict(penalty="l1", loss="squared"), L1_SQUARED),
    ("path", dict(penalty="l1"), L1),
    ("path", dict(loss="squared"), "it takes the loss hinge, not squared"),
    ("path", dict(storage="float32"), FLOAT32 + ", which rankbook's own solver.*newton"),
    ("path", dict(storage="csr"), CSR + ", which rankbook's own solver.*newton"),
    ("simplex", {}, "it takes the penalty l1, not l2"),
    ("simplex", dict(penalty="l1", loss="squared"), L1_SQUARED),
    ("subgradient", dict(kernel="rbf"), "not rbf"),
    ("subgradient", dict(penalty="l1"), "not l1"),
    ("subgradient", dict(loss="squared"), "not squared"),
    ("tiled", {}, "not linear"),
]


@pytest.mark.parametrize("solver, options, said", REFUSED)
def test_a_problem_that_it_does_not_take_is_refused_in_a_sentence(solver, options, said):
    store = dict(float64=np.asarray, float32=np.float32, csr=csr_array)
    options = dict(kernel="linear") | options
    X = store[options.pop("storage", "float64")](np.arange(6.0).reshape(3, 2))
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores([0, 1, 2]), **options)
    run = rb.solve if "solve" in rb.get_solver(solver).provides else rb.solve_path
    with pytest.raises(ValueError, match=said):
        run(problem, 1.0, solver=solver)
    assert isinstance(rb.get_solver(solver).can_solve(problem), str)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lam", [-1.0, np.nan, np.inf, "x"])
def test_a_lambda_that_makes_no_sense_is_refused(name, lam):
    subject, problem, _ = first_case(name)
    with pytest.raises((ValueError, TypeError), match="^lam"):
        (rb.solve if "solve" in subject.declared.provides else rb.solve_path)(
            problem, lam, solver=name
        )
