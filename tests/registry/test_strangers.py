"""Plugins: what they declare, what they are called, and what they answer."""

import os
import re
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from stub_plugins import GOOD

import rankbook as rb
from rankbook.problems.certificate import Solution
from rankbook.registry.solver import Solver

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def problem():
    return rb.RankSVMProblem([[0.0], [1.0], [3.0]], rb.Preferences.from_scores([0, 1, 2]), "linear")


class Zero(Solver):
    name, tol = "zero", 1e-6

    def solve(self, problem, lam):
        return Solution(problem, lam, coef=np.zeros(problem.n_items))


def row_of(name):
    return next(row for row in rb.list_solvers(allow_plugins=True) if row["name"] == name)


def others_are_well(problem):
    assert row_of("path")["state"] == "ready"
    return rb.solve(problem, 1.0, solver="path").certificate.is_optimal(1e-8)


# Declarations

NAN = float("nan")
ODD = [
    ("tol", "1e-6", "'1e-6'. Pass a finite number > 0, or None"),
    ("tol", NAN, "nan. Pass a finite number > 0"),
    ("tol", np.inf, "inf. Pass a finite number > 0"),
    ("tol", -1e-6, "-1e-06. Pass a finite number > 0"),
    ("tol", True, "True. Pass a finite number > 0"),
    ("tol", np.True_, ".*True.*. Pass a finite number > 0"),
    ("tol", np.ones(2), r"array\(\[1., 1.\]\). Pass a finite number > 0"),
    ("version", 5, "5. Pass a str"),
    ("version", None, "None. Pass a str"),
    ("summary", b"bytes", "b'bytes'. Pass a str"),
    ("provides", None, "None. Pass a tuple or set of names"),
    ("provides", "solve", "'solve'. Pass a tuple or set of names"),
    ("provides", 5, "5. Pass a tuple or set of names"),
    ("provides", {"solve": 1}, "{'solve': 1}. Pass a tuple or set of names"),
    ("problems", "RankSVMProblem", "'RankSVMProblem'. Pass a tuple or set of names"),
    ("problems", (int, 3), r"\(<class 'int'>, 3\). Pass a tuple or set of names"),
    ("problems", None, "None. Pass a tuple or set of names"),
    ("kernels", "rbf", "'rbf'. Pass a tuple or set of names"),
    ("losses", {3}, r"\{3\}. Pass a tuple or set of names"),
    ("penalties", "l2", "'l2'. Pass a tuple or set of names"),
    ("storages", None, "None. Pass a tuple or set of names"),
    ("requires", None, "None. Pass a tuple or set of names"),
    ("requires", ("",), r"\('',\). Pass a tuple or set of names"),
    ("largest", None, "None. Pass a dict from items, features, preferences"),
    ("largest", {"rows": 5}, "{'rows': 5}. Pass a dict from"),
    ("largest", {"items": "many"}, "{'items': 'many'}. Pass a dict from"),
    ("largest", {"items": -1}, "{'items': -1}. Pass a dict from"),
    ("largest", {"items": True}, "{'items': True}. Pass a dict from"),
    ("largest", [("items", 5)], r"\[\('items', 5\)\]. Pass a dict from"),
    ("weights", "yes", "'yes'. Pass True or False"),
    ("hard_margin", None, "None. Pass True or False"),
    ("deterministic", 1, "1. Pass True or False"),
    ("can_solve", True, "True. Define a method"),
    ("can_follow", True, "True. Define a method"),
    ("cost", 3.0, "3.0. Define a method"),
]


@pytest.mark.parametrize(("attribute", "value", "words"), ODD)
def test_a_declaration_without_sense_names_class_attribute_and_what_is_accepted(
    problem, forget, attribute, value, words
):
    odd = type("Odd", (Zero,), {attribute: value})
    for call in (
        lambda: rb.register_solver(odd, name="odd"),
        lambda: rb.get_solver(odd),
        lambda: rb.solve(problem, 1.0, solver=odd),
        lambda: rb.solve_path(problem, solver=odd),
        lambda: rb.RankSVM(kernel="linear", solver=odd).fit(problem.X, [0, 1, 2]),
    ):
        with pytest.raises(TypeError, match=f"^{attribute} of Odd is {words}"):
            call()
    assert "odd" not in {row["name"] for row in rb.list_solvers()}


@pytest.mark.parametrize(
    ("provides", "words"),
    [
        ({"path"}, "provides of Odd holds 'path', but the class has no such method. Pass 'solve'"),
        ({"slove"}, r"provides of Odd is 'slove' \(did you mean 'solve'"),
        ((), "provides of Odd is empty. Pass 'solve'"),
    ],
)
def test_what_is_provided_is_there(problem, provides, words):
    with pytest.raises(ValueError, match=words):
        rb.solve(problem, 1.0, solver=type("Odd", (Zero,), dict(provides=provides)))


@pytest.mark.parametrize(
    ("attribute", "value", "words"),
    [
        ("kernels", ("liner",), "'liner' (did you mean 'linear'"),
        ("kernels", (), "empty. Pass 'linear'"),
        ("problems", (), "empty. Pass 'RankSVMProblem'"),
        ("losses", {"hinges"}, "'hinges' (did you mean 'hinge'"),
        ("penalties", ["L1"], "'L1' (did you mean 'l1'"),
        ("storages", {"sparse"}, "'sparse'. Pass one of: blocks, csr, float32, float64"),
        ("problems", ("RankSVM",), "'RankSVM' (did you mean 'RankSVMProblem'"),
        ("problems", ("rankRLSproblem",), "'rankRLSproblem' (did you mean 'RankRLSProblem'"),
        ("problems", ("RankSVMProblem", "RAYLEIGH"), "did you mean 'RayleighProblem'"),
    ],
)
def test_names_that_nobody_has(problem, forget, attribute, value, words):
    odd = type("Odd", (Zero,), {attribute: value})
    for call in (
        lambda: rb.register_solver(odd, name="odd"),
        lambda: rb.solve(problem, 1.0, solver=odd),
    ):
        with pytest.raises(ValueError, match=f"^{attribute} of Odd is .*{re.escape(words)}"):
            call()


def test_a_problem_of_its_own_has_names_of_its_own(forget):
    own = dict(problems=("GroupRankSVMProblem",), kernels=("graph",), losses={"logistic"})
    rb.register_solver(type("Own", (Zero,), own | dict(name="own")))
    assert row_of("own")["state"] == "ready"


def test_what_a_constructor_raises_says_whose_it_is(install, problem):
    install("odd-solver", GOOD + "    Zero.__init__ = lambda self: 1 / 0\n")
    for call in (
        lambda: rb.get_solver("zero"),
        lambda: rb.solve(problem, 1.0, solver="zero"),
        lambda: rb.RankSVM(kernel="linear", solver="zero").fit(problem.X, [0, 1, 2]),
    ):
        with pytest.raises(ZeroDivisionError) as caught:
            call()
        assert caught.value.__notes__ == ["raised by the solver 'zero 1.0' of odd-solver 1.0"]


@pytest.mark.parametrize("line", ["tol = 'small'", "version = 5", "provides = None", "cost = 3"])
def test_an_installed_one_is_a_row_and_hides_nobody(install, problem, line):
    install("odd-solver", GOOD + f"    Zero.{line}\n")
    attribute = line.split()[0]
    assert row_of("zero")["state"].startswith(f"broken: ArgumentError: {attribute} of Zero is ")
    with pytest.raises(ImportError, match=f"'zero' of odd-solver 1.0 .*{attribute} of Zero is"):
        rb.solve(problem, 1.0, solver="zero")
    assert others_are_well(problem)


def test_what_an_instance_declares_is_checked_too(problem):
    class Told(Zero):
        def __init__(self, tol=1e-3):
            self.tol = tol

    class Asked(Zero):
        tol = property(lambda self: "much")

    assert rb.get_solver(Told, tol=0.1).tol == 0.1
    with pytest.raises(TypeError, match="^tol of Told is 'x'"):
        rb.solve(problem, 1.0, solver=Told, tol="x")
    with pytest.raises(TypeError, match="^tol of Asked is <property"):
        rb.solve(problem, 1.0, solver=Asked)
    made = Told()
    made.tol = -1.0
    with pytest.raises(TypeError, match="^tol of Told is -1.0"):
        rb.solve(problem, 1.0, solver=made)


def test_own_solvers_declare_what_makes_sense():
    for row in rb.list_solvers():
        if row["origin"].startswith("rankbook "):
            assert row["state"].split()[0] in ("ready", "missing"), row


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            dict(__new__=lambda cls: object()),
            "^solver is <object.*. Pass a name, or a class derived",
        ),
        (
            dict(__new__=lambda cls: None),
            "^solver is None. Pass a name, or a class derived",
        ),
        (
            dict(can_solve=lambda *_: type("R", (), dict(__repr__=lambda _: 1 / 0))()),
            "a R. Return True",
        ),
    ],
)
def test_odd_objects_are_told_by_name(problem, change, words):
    with pytest.raises(TypeError, match=words):
        rb.solve(problem, 1.0, solver=type("Odd", (Zero,), change))


def test_true_is_no_number_of_seconds(problem, forget):
    rb.register_solver(type("Odd", (Zero,), dict(name="odd", cost=lambda *_: True)))
    (row,) = (r for r in rb.compare_solvers(problem, allow_plugins=True) if r.solver == "odd")
    assert "says that it costs True" in row.obstacle


# Names


@pytest.mark.parametrize("name", ["auto", "My Solver", "Zero", "zero solver", "a--b", "-a", ""])
@pytest.mark.parametrize("allow", [True, False])
def test_an_entry_point_that_nobody_could_ask_for_is_a_row_with_the_reason(
    install, problem, name, allow
):
    install("odd-solver", GOOD.replace('"zero"', f"{name!r}"), points={name: "Zero"})
    (row,) = (r for r in rb.list_solvers(allow_plugins=allow) if r["origin"] == "odd-solver 1.0")
    assert row["state"].startswith("broken: ArgumentError: the name of its entry point is")
    assert others_are_well(problem)
    assert rb.solve(problem, 1.0).certificate.is_optimal(1e-6)


def test_auto_is_no_solver(install):
    with pytest.raises(ValueError, match="^solver is 'auto', which stands for a choice"):
        rb.get_solver("auto")


def test_one_class_under_two_names_answers_by_the_one_that_was_asked(install, problem, forget):
    nameless = GOOD.replace('name = "zero"', "pass")
    install("two-solver", nameless, points={"one": "Zero", "two": "Zero"})
    rb.register_solver(Zero, name="three")
    rb.register_solver(Zero, name="four")
    for name in ("one", "two", "three", "four"):
        assert row_of(name)["state"] == "ready"
        assert rb.solve(problem, 1.0, solver=name).solver.split()[0] == name
        assert rb.solve(problem, 1.0, solver=(name, {})).solver.split()[0] == name


# Imports


def test_a_package_that_asks_for_its_own_solver_while_it_is_imported(install, tmp_path):
    package = tmp_path / "eager"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import rankbook as rb\nmade = rb.get_solver('zero')\nrow = rb.list_solvers(True)\n"
    )
    (package / "inside.py").write_text(textwrap.dedent(GOOD))
    install("eager-solver", "", points={"zero": "Zero"})
    points = tmp_path / "eager_solver-1.0.dist-info" / "entry_points.txt"
    points.write_text("[rankbook.solvers]\nzero = eager.inside:Zero\n")
    try:
        import eager

        assert type(eager.made).__module__ == "eager.inside"
    finally:
        for name in ("eager", "eager.inside"):
            sys.modules.pop(name, None)


@pytest.mark.parametrize("where", ["solve", "can_solve", "__init__"])
@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_ends_it_here_too(install, problem, where, end):
    install("ending-solver", GOOD)
    import ending_solver_plugin

    def fail(*_):
        raise end(3)

    setattr(ending_solver_plugin.Zero, where, fail)
    with pytest.raises(end):
        rb.solve(problem, 1.0, solver="zero")


# What can_solve says


@pytest.mark.parametrize("answer", [1, None, "", "  ", False, np.False_, np.ones(1), [], 1.0])
def test_an_answer_that_is_neither_true_nor_a_sentence(install, problem, answer):
    install("odd-solver", GOOD + "    Zero.cost, Zero.tol = lambda *_: 1e-9, 1e-6\n")
    import odd_solver_plugin

    odd_solver_plugin.Zero.can_solve = lambda self, problem: answer
    words = "^solver 'zero 1.0' of odd-solver 1.0 returned from can_solve .*. Return"
    with pytest.raises(TypeError, match=words):
        rb.solve(problem, 1.0, solver="zero")
    (row,) = (r for r in rb.compare_solvers(problem, allow_plugins=True) if r.solver == "zero")
    assert "'zero 1.0' of odd-solver 1.0 returned from can_solve" in row.obstacle
    assert not row.is_possible
    assert rb.solve(problem, 1.0, allow_plugins=True).certificate.is_optimal(1e-6)


@pytest.mark.parametrize("answer", [True, np.True_, np.bool_(1)])
def test_true_of_any_library_is_true(problem, answer):
    fine = type("Fine", (Zero,), dict(can_solve=lambda self, problem: answer))
    assert rb.solve(problem, 1.0, solver=fine).solver == "zero"


# Forks


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_can_register_whatever_its_parent_did_when_it_forked(forget):
    over = threading.Event()

    def register():
        while not over.is_set():
            rb.register_solver(Zero, name="busy", replace=True)

    thread = threading.Thread(target=register)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                try:
                    rb.register_solver(Zero, name="of-the-child")
                    rb.get_solver("of-the-child")
                    rb.unregister_solver("of-the-child")
                    os._exit(0)
                finally:
                    os._exit(1)
            for _ in range(500):
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    break
                time.sleep(0.01)
            else:
                os.kill(child, 9)
                os.waitpid(child, 0)
                raise AssertionError("the child hangs")
            assert os.waitstatus_to_exitcode(status) == 0
    finally:
        over.set()
        thread.join()
