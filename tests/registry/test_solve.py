"""The registry against plugins that are broken, rude or rival.

They are packages made on the spot, found by their metadata.
"""

import inspect
import re
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, repeat
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from stub_plugins import GOOD

import rankbook as rb
from rankbook.problems.certificate import Solution
from rankbook.problems.label_ranking import LabelRankRLSProblem
from rankbook.problems.svm import MulticlassSVMProblem
from rankbook.registry.choice import choose_others, choose_solver
from rankbook.registry.solver import Solver


@pytest.fixture(scope="module")
def problem():
    return rb.RankSVMProblem([[0.0], [1.0], [3.0]], rb.Preferences.from_scores([0, 1, 2]), "linear")


def rows():
    """The rows of the list, by name and distribution; the list must print whatever is in it."""
    table = rb.list_solvers(allow_plugins=True)
    assert str(table) and repr(table) and table._repr_html_().startswith("<table>")
    return {(row["name"], row["origin"]): row for row in table}


def row_of(name, origin):
    return next(row for (n, o), row in rows().items() if n == name and o.startswith(origin))


def built_in_are_ready():
    return all(row_of(name, "rankbook ")["state"] == "ready" for name in ("qp", "path"))


# Plugins that work


def test_a_plugin_is_found_run_and_named(install, problem):
    install("zero-solver", GOOD, version="2.5")
    row = row_of("zero", "zero-solver")
    assert (row["state"], row["origin"], row["summary"], row["provides"]) == (
        "ready",
        "zero-solver 2.5",
        "Answers zero.",
        "solve",
    )
    assert "RankSVMProblem" in row["problems"]
    solution = rb.solve(problem, 1.0, solver="zero")
    assert solution.solver == "zero 2.5 (engine 7)"
    assert 3 <= solution.certificate.primal < 3 + 1e-12 and not solution.certificate.is_optimal()
    assert rb.solve(problem, 1.0, solver="zero", shift=1.0).coef.tolist() == [1, 0, -1]
    assert built_in_are_ready()


def test_a_plugin_stays_unloaded_until_somebody_asks(install, problem):
    install("zero-solver", "raise RuntimeError('loaded')", points={"lazybones": "Zero"})
    rb.solve(problem, 1.0, solver="path")
    assert "zero_solver_plugin" not in sys.modules


def test_a_solver_instance_from_a_plugin_is_stamped_like_its_name(install, problem):
    install("zero-solver", GOOD)
    instance = rb.get_solver("zero", shift=2.0)
    assert rb.solve(problem, 1.0, solver=instance).solver == "zero 1.0 (engine 7)"
    assert rb.solve(problem, 1.0, solver=type(instance)).solver == "zero 1.0 (engine 7)"
    assert rb.get_solver(instance) is instance
    with pytest.raises(ValueError, match="options.*'shift'.*instance"):
        rb.get_solver(instance, shift=1.0)


def test_the_built_in_solvers_come_by_the_same_door():
    assert rb.get_solver("path").name == "path"
    assert built_in_are_ready()
    assert "path" in row_of("path", "rankbook ")["provides"]


# Plugins that do not work

BROKEN = {
    "raises": ("raise ValueError('half written')", "ValueError", "half written"),
    "missing import": (
        "import a_module_that_is_not_there",
        "ModuleNotFoundError",
        "a_module_that_is_not_there",
    ),
    "syntax": ("class Zero(:", "SyntaxError", ""),
    "no such class": ("x = 1", "AttributeError", "Zero"),
    "asserts": ("assert False, 'no'", "AssertionError", "no"),
}


@pytest.mark.parametrize("source, error, words", BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_is_a_row_and_hides_nobody(install, problem, source, error, words):
    install("bad-solver", source)
    install("good-solver", GOOD.replace('"zero"', '"nought"'), points={"nought": "Zero"})
    state = row_of("zero", "bad-solver")["state"]
    assert state.startswith("broken: ") and error in state and words in state
    assert row_of("nought", "good-solver")["state"] == "ready" and built_in_are_ready()
    assert rb.solve(problem, 1.0, solver="path").certificate.is_optimal()
    with pytest.raises(ImportError, match="'zero' of bad-solver 1.0 cannot be loaded") as caught:
        rb.solve(problem, 1.0, solver="zero")
    assert type(caught.value.__cause__).__name__ == error


def test_import_rankbook_does_not_look_at_plugins(install, tmp_path):
    install("bad-solver", "raise RuntimeError('loaded')")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import rankbook; "
        "print(rankbook.get_solver('path').name)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stdout.strip()) == (0, "path"), result.stderr


NOT_SOLVERS = {
    "a number": "Zero = 3",
    "a function": "def Zero(): pass",
    "a class that cannot solve": "class Zero: pass",
}


@pytest.mark.parametrize("source", NOT_SOLVERS.values(), ids=NOT_SOLVERS)
def test_what_is_no_solver_is_not_ready(install, problem, source):
    install("odd-solver", source)
    assert row_of("zero", "odd-solver")["state"].startswith("broken: ")
    with pytest.raises((TypeError, ImportError, ValueError), match="zero"):
        rb.solve(problem, 1.0, solver="zero")
    assert built_in_are_ready()


RUDE = {
    "provides": "provides = 5",
    "provides nothing": "provides = None",
    "problems": "problems = (int, 3)",
    "problems none": "problems = None",
    "summary": "summary = None",
    "requires": "requires = None",
    "html": "summary = '<script>'",
}


@pytest.mark.parametrize("line", RUDE.values(), ids=RUDE)
def test_declarations_that_make_no_sense_hide_nobody(install, line):
    install("rude-solver", GOOD + f"    Zero.{line}\n")
    assert ("zero", "rude-solver 1.0") in rows() and built_in_are_ready()
    assert "<script>" not in rb.list_solvers(True)._repr_html_()


def test_a_missing_requirement_is_said_without_importing_it(install, problem):
    install(
        "needy-solver",
        GOOD + "    Zero.requires = ('numpy', 'a_module_that_is_not_there', 'nor_is.this')\n",
    )
    state = row_of("zero", "needy-solver")["state"]
    assert (
        state.startswith("missing ")
        and "a_module_that_is_not_there" in state
        and "nor_is.this" in state
        and "numpy" not in state
    )
    with pytest.raises(ImportError, match="'zero'.*a_module_that_is_not_there"):
        rb.solve(problem, 1.0, solver="zero")


def test_a_distribution_without_a_name_hides_nobody(install):
    install("ghost", GOOD, metadata=False)
    install("other-ghost", GOOD, metadata=False)
    assert any(name == "zero" for name, _ in rows()) and built_in_are_ready()


# Rivals


def test_two_distributions_with_one_name_are_an_error_that_names_both(install, problem):
    install("zero-solver", GOOD)
    install("null-solver", GOOD)
    for mine, other in (("zero-solver", "null-solver"), ("null-solver", "zero-solver")):
        state = row_of("zero", mine)["state"]
        assert state.startswith("broken: ") and other in state
    with pytest.raises(ValueError, match="'zero'.*null-solver and zero-solver"):
        rb.solve(problem, 1.0, solver="zero")
    assert built_in_are_ready()


def test_the_way_out_that_the_error_names_works(install, problem, forget):
    install("zero-solver", GOOD)
    install("null-solver", GOOD)
    from null_solver_plugin import Zero

    with pytest.raises(ValueError, match="zero.*taken"):
        rb.register_solver(Zero, name="zero")
    rb.register_solver(Zero, name="zero", replace=True)
    assert rb.solve(problem, 1.0, solver="zero").solver.startswith("zero")
    assert {row_of("zero", dist)["state"] for dist in ("zero-solver", "null-solver")} == {
        "shadowed by run time"
    }


def test_a_built_in_name_cannot_be_taken(install, problem):
    install("zero-solver", GOOD, points={"path": "Zero", "qp": "Zero"})
    for name in ("path", "qp"):
        assert row_of(name, "zero-solver")["state"] == "shadowed by rankbook"
    assert built_in_are_ready()
    assert rb.solve(problem, 1.0, solver="path").certificate.is_optimal()
    assert rb.solve(problem, 1.0, solver="path").solver.startswith("path")


def test_one_distribution_found_twice_is_no_rival_of_itself(
    install, problem, tmp_path, monkeypatch
):
    install("zero-solver", GOOD)
    second = tmp_path / "again"
    second.mkdir()
    for source in tmp_path.glob("zero_solver*"):
        target = second / source.name
        if source.is_dir():
            target.mkdir()
            for file in source.iterdir():
                (target / file.name).write_bytes(file.read_bytes())
        else:
            target.write_bytes(source.read_bytes())
    monkeypatch.syspath_prepend(second)
    assert rb.solve(problem, 1.0, solver="zero").solver.startswith("zero")


# Run time


class Zero(Solver):
    name, tol = "zero", None

    def solve(self, problem, lam):
        return Solution(problem, lam, coef=np.zeros(problem.n_items))


def test_registering_and_forgetting(problem, forget):
    assert rb.register_solver(Zero) is Zero
    assert row_of("zero", "run time")["state"] == "ready"
    assert rb.solve(problem, 1.0, solver="zero").solver == "zero"
    with pytest.raises(ValueError, match="'zero', which is taken"):
        rb.register_solver(Zero)
    rb.unregister_solver("zero")
    with pytest.raises(ValueError, match="solver is 'zero'"):
        rb.get_solver("zero")
    with pytest.raises(ValueError, match="name is 'zero'"):
        rb.unregister_solver("zero")


def test_a_built_in_name_is_taken_only_with_replace_and_comes_back(problem, forget):
    with pytest.raises(ValueError, match="'path', which is taken.*rankbook.*replace=True"):
        rb.register_solver(Zero, name="path")
    rb.register_solver(Zero, name="path", replace=True)
    assert row_of("path", "rankbook ")["state"] == "shadowed by run time"
    assert not rb.solve(problem, 1.0, solver="path").coef.any()
    rb.unregister_solver("path")
    assert rb.solve(problem, 1.0, solver="path").certificate.is_optimal()


@pytest.mark.parametrize(
    "thing, options, error, words",
    [
        (Zero(), {}, TypeError, "solver is"),
        ("zero", {}, TypeError, "solver is 'zero'"),
        (int, {}, TypeError, "a class derived from rankbook.Solver"),
        (None, {}, TypeError, "solver is None"),
        (Zero, {"name": 3}, ValueError, "name is 3"),
        (
            type("Alike", (), {"solve": print}),
            {},
            TypeError,
            "Alike.*. Pass a name, or a class derived from rankbook.Solver",
        ),
        (type("Nameless", (Solver,), {"solve": print}), {}, ValueError, "name is ''"),
        (type("Nameless", (Solver,), {"solve": 1}), {}, TypeError, "solve of Nameless is 1"),
    ],
)
def test_what_cannot_be_registered(thing, options, error, words, forget):
    with pytest.raises(error, match=words):
        rb.register_solver(thing, **options)


# Asking


@pytest.mark.parametrize("wrong, right", [("pth", "path"), ("PATH", "path"), ("qpp", "qp")])
def test_an_unknown_name_is_answered_with_the_nearest(problem, wrong, right):
    with pytest.raises(ValueError, match=f"solver is '{wrong}'.*{right}"):
        rb.solve(problem, 1.0, solver=wrong)
    with pytest.raises(ValueError, match=f"solver is '{wrong}'.*{right}"):
        rb.solve_path(problem, solver=wrong)


@pytest.mark.parametrize("solver", [None, 3, ["path"]])
def test_what_is_neither_name_nor_solver(problem, solver):
    with pytest.raises((TypeError, ValueError), match="solver"):
        rb.solve(problem, 1.0, solver=solver)


@pytest.mark.parametrize("thing", [None, 3, np.ones((3, 1))])
def test_what_is_no_problem(thing):
    with pytest.raises(TypeError, match="problem is a"):
        rb.solve(thing, 1.0, solver="path")


def test_an_unknown_option_is_named():
    with pytest.raises(TypeError, match="chunks"):
        rb.get_solver("path", chunks=3)


def test_a_solver_without_a_path_says_so(problem, forget):
    rb.register_solver(Zero)
    with pytest.raises(ValueError, match="'zero', which provides solve but not path"):
        rb.solve_path(problem, solver="zero")


def test_can_solve_is_shown_as_it_is(problem, forget):
    class Picky(Zero):
        kernels = ("rbf",)

    class Own(Zero):
        def can_solve(self, problem):
            return "it is Sunday."

    class Light(Zero):
        weights = margins = False

    with pytest.raises(ValueError, match="it takes the kernels rbf, not linear"):
        rb.solve(problem, 1.0, solver=Picky)
    with pytest.raises(ValueError, match="it is Sunday"):
        rb.solve(problem, 1.0, solver=Own)
    for what in ("weight", "margin"):
        heavy = rb.RankSVMProblem(
            problem.X, problem.prefs.reweighted(**{what: np.full(3, 2.0)}), "linear"
        )
        with pytest.raises(ValueError, match=f"it takes no {what}s other than 1"):
            rb.solve(heavy, 1.0, solver=Light)
    assert rb.solve(problem, 1.0, solver=Light)


# What comes back


@pytest.mark.parametrize(
    "error",
    [
        KeyError("its own"),
        MemoryError("much"),
        ZeroDivisionError(),
        ArithmeticError("x"),
        StopIteration(),
    ],
)
@pytest.mark.parametrize("method", ["solve", "can_solve"])
def test_an_exception_of_a_plugin_keeps_its_type_and_traceback_and_gets_a_note(
    install, problem, error, method
):
    source = (
        GOOD
        + f"""
    def fail(*args):
        raise {error!r}
    Zero.{method} = fail
    """
    )
    install("zero-solver", source, version="0.3")
    with pytest.raises(type(error)) as caught:
        rb.solve(problem, 1.0, solver="zero")
    assert type(caught.value) is type(error) and any(
        "zero 0.3" in note for note in caught.value.__notes__
    )
    assert caught.traceback[-1].name == "fail"


def test_ctrl_c_in_a_plugin_is_ctrl_c(problem):
    class Slow(Zero):
        def solve(self, problem, lam):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rb.solve(problem, 1.0, solver=Slow)


ANSWERS = {
    "nothing": lambda problem, lam: None,
    "an array": lambda problem, lam: np.zeros(3),
    "another problem": lambda problem, lam: Solution(
        rb.RankSVMProblem(problem.X, problem.prefs, "linear"), lam, coef=np.zeros(3)
    ),
    "another lambda": lambda problem, lam: Solution(problem, 2 * lam, coef=np.zeros(3)),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_to_another_question_is_refused(problem, answer):
    class Wrong(Zero):
        solve = staticmethod(answer)

    with pytest.raises((TypeError, ValueError), match="zero"):
        rb.solve(problem, 1.0, solver=Wrong)


@pytest.mark.parametrize("answer", [None, 3, np.zeros(3)], ids=["nothing", "a number", "an array"])
def test_a_path_that_is_none_is_refused(problem, answer):
    class Wrong(Zero):
        provides = frozenset({"path"})

        def path(self, problem, lam_min):
            return answer

    with pytest.raises(TypeError, match="zero"):
        rb.solve_path(problem, solver=Wrong)


def test_no_solver_grades_itself(problem):
    """A plugin that returns its own kind of solution is certified by the host all the same.

    The solution brings its own certificate.
    """

    class Flattering(Solution):
        @property
        def certificate(self):
            return problem.certificate(100.0, dual=np.ones(3))

    class Vain(Zero):
        def solve(self, problem, lam):
            return Flattering(problem, lam, coef=np.zeros(3))

    try:
        solution = rb.solve(problem, 1.0, solver=Vain)
    except TypeError:
        return
    assert not solution.certificate.is_optimal()


def test_what_only_looks_like_a_solver_is_refused(problem):
    class Alike:
        name, problems, provides = "alike", ("RankSVMProblem",), {"solve"}

        def solve(self, problem, lam):
            raise AssertionError("was asked")

    for solver in (Alike, Alike(), (Alike, {})):
        for call in (
            lambda solver=solver: rb.get_solver(solver),
            lambda solver=solver: rb.solve(problem, 1.0, solver=solver),
            lambda solver=solver: rb.solve_path(problem, solver=solver),
            lambda solver=solver: rb.RankSVM(solver=solver).fit(problem.X, [0, 1, 2]),
        ):
            with pytest.raises(
                TypeError, match="Alike.*. Pass a name, or a class derived from rankbook.Solver"
            ):
                call()


def test_a_solution_that_is_not_finite_is_refused(problem):
    class Lost(Zero):
        def solve(self, problem, lam):
            return Solution(problem, lam, coef=np.full(3, np.nan))

    with pytest.raises(ValueError, match="coef") as caught:
        rb.solve(problem, 1.0, solver=Lost)
    assert any("zero" in note for note in caught.value.__notes__)


def test_lam_zero_only_for_those_who_take_it(problem):
    class Hard(Zero):
        hard_margin = True

    assert rb.solve(problem, 0, solver=Hard).lam == 0
    with pytest.raises(ValueError, match="lam is 0"):
        rb.solve(problem, 0, solver=Zero)


class Poor(rb.Solver):
    """Answers 0, always."""

    name = "poor"

    def solve(self, problem, lam):
        return rb.Solution(problem, lam, coef=np.zeros(problem.n_items))


def test_a_warning_is_for_the_line_that_called():
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = np.arange(20.0)[:, None], np.arange(20) % 3
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), kernel="linear")
    ranker = rb.RankSVM(solver=Poor, lam=1e-3)
    for call in (
        lambda: rb.solve(problem, 1e-3, Poor),
        lambda: ranker.fit(X, y),
        lambda: make_pipeline(StandardScaler(), ranker).fit(X, y),
        lambda: cross_val_score(ranker, X, y, cv=2),
    ):
        with pytest.warns(
            ConvergenceWarning, match="relative gap of .* its tolerance of"
        ) as caught:
            call()
        assert {
            warning.filename for warning in caught if warning.category is ConvergenceWarning
        } <= {__file__, inspect.getsourcefile(joblib_parallel())}


def joblib_parallel():
    import joblib.parallel

    return joblib.parallel


@pytest.mark.parametrize(
    "plugin, says",
    [
        ("nothing", "provides solve but not path"),
        ("writes", "the arrays of a problem cannot be changed, their copies can"),
    ],
)
def test_a_plugin_without_a_name_is_called_by_its_class(plugin, says):
    class Writes(Solver):
        def solve(self, problem, lam):
            problem.X[0] = 1

    problem = rb.RankSVMProblem(
        np.arange(4.0)[:, None], rb.Preferences.from_scores([0, 1, 2, 3]), kernel="linear"
    )
    with pytest.raises(ValueError) as error:
        rb.solve_path(problem, solver=Writes()) if plugin == "nothing" else rb.solve(
            problem, 1.0, solver=Writes()
        )
    assert says in " ".join(
        [str(error.value), *getattr(error.value, "__notes__", ())]
    ) and "Writes" in " ".join([str(error.value), *getattr(error.value, "__notes__", ())])


def test_only_solvers_of_paths_are_advised_for_a_path():
    X, y = np.random.default_rng(0).normal(size=(6, 2)), np.arange(6) % 3
    prefs = rb.Preferences.from_scores(y)
    kinds = {
        "linear": rb.RankSVMProblem(X, prefs, kernel="linear"),
        "squared": rb.RankSVMProblem(X, prefs, kernel="linear", loss="squared"),
        "l1": rb.RankSVMProblem(X, prefs, kernel="linear", penalty="l1"),
        "float32": rb.RankSVMProblem(X.astype(np.float32), prefs, kernel="linear"),
        "none": rb.RankSVMProblem(X, prefs, kernel="rbf", loss="squared"),
        "rls": rb.RankRLSProblem(X, y),
        "classes": MulticlassSVMProblem(X, y),
    }
    advised = dict(
        linear=["epsilon", "newton", "path"],
        squared=["epsilon", "newton"],
        l1=["simplex"],
        float32=["newton"],
        none=["epsilon", "newton"],
        rls=["rls"],
        classes=["path"],
    )
    names = {row["name"] for row in rb.list_solvers()}
    for kind, problem in kinds.items():
        for solver in ("qp", "interior", "subgradient", "homotopy", "path"):
            try:
                rb.solve_path(problem, solver=solver)
            except ValueError as error:
                after = str(error).split("rankbook's own")
                named = re.findall("[a-z-]+", after[1]) if len(after) > 1 else advised[kind]
                assert [word for word in named if word in names] == advised[kind], str(error)
                assert len(after) == 2 or "MulticlassSVMProblem, not" in str(error)
            else:
                assert solver in advised[kind]
    found = rb.registry.choice.compare_solvers(kinds["squared"], provides="path")
    assert [row.solver for row in found if row.is_possible] == ["epsilon"]
    assert "solvers of paths epsilon and newton take." in found[-1].obstacle


def test_margins_that_a_path_takes():
    prefs = rb.Preferences([0], [1], 2).reweighted(None, np.array([-1.0]))
    with pytest.raises(ValueError, match="own path takes any, and for one lambda interior and qp"):
        rb.solve_path(rb.RankSVMProblem([[0.0], [1.0]], prefs, kernel="linear"), solver="newton")


DEFAULTS = [
    ("ranksvm", dict(loss=loss, kernel=kernel))
    for loss in ("hinge", "squared", "logistic", "plackett-luce")
    for kernel in ("linear", "rbf")
] + [
    ("ranksvm", dict(kernel="linear", signs=[1, 0, -1])),
    ("ranksvm", dict(kernel="linear", penalty="l1")),
    ("ranksvm", dict(kernel="linear", penalty="l1", loss="squared")),
    ("rankrls", {}),
    ("rankrls", dict(basis=np.arange(10))),
    ("rankrls", dict(kernel="linear", penalty="l1")),
    ("labels", {}),
]


@pytest.mark.parametrize(("kind", "options"), DEFAULTS)
def test_the_defaults_of_every_solver_are_optimal_by_their_gap(kind, options):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
    if kind == "ranksvm":
        problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(y), **options)
    elif kind == "rankrls":
        problem = rb.RankRLSProblem(X, y, **options)
    else:
        problem = LabelRankRLSProblem(X, rng.normal(size=(30, 4)), **options)
    chosen = choose_solver(problem, at=0.5)
    others, slow = choose_others(problem, 0.5, chosen)
    assert not slow
    for solver in (chosen, *others):
        proof = rb.solve(problem, 0.5, solver=solver).certificate
        assert proof.is_optimal() and proof.relative_gap <= 1e-6, (solver.name, proof)


def test_auto_tries_the_other_solvers_before_it_warns(monkeypatch):
    from rankbook.solvers.interior.solver import InteriorSolver
    from rankbook.solvers.newton.solver import NewtonSolver

    zero = lambda self, problem, lam: Solution(problem, lam, coef=np.zeros(problem.n_items))
    problem = rb.RankSVMProblem(
        np.arange(6.0)[:, None] ** 2, rb.Preferences.from_scores(np.arange(6) % 4), "linear"
    )
    first = choose_solver(problem, at=1.0).name
    kinds = dict(interior=InteriorSolver, newton=NewtonSolver)
    monkeypatch.setattr(kinds[first], "solve", zero)
    found = rb.solve(problem, 1.0)
    assert not found.solver.startswith(first) and found.certificate.is_optimal()

    def fails(self, problem, lam):
        raise ArithmeticError("rounding errors")

    monkeypatch.setattr(kinds[first], "solve", fails)
    assert rb.solve(problem, 1.0).certificate.is_optimal()
    with pytest.raises(ArithmeticError, match="rounding errors"):
        rb.solve(problem, 1.0, solver=first)


def sixes(**options):
    prefs = rb.Preferences.from_scores(np.arange(6) % 4)
    return rb.RankSVMProblem(np.arange(6.0)[:, None] ** 2, prefs, **options)


@pytest.mark.parametrize("tol", [1e-25, 1e-300])
def test_auto_warns_above_the_tolerance_that_was_asked_for(tol):
    with pytest.warns(ConvergenceWarning, match=f"its tolerance of {tol:g}.*Also tried") as caught:
        found = rb.solve(sixes(), 1e-3, tol=tol)
    assert len(caught) == 1 and tol < found.certificate.relative_gap <= 1e-6


@pytest.mark.parametrize(
    "error, is_bug",
    [
        (ArithmeticError, False),
        (RuntimeError, False),
        (MemoryError, False),
        (ValueError, False),
        (RecursionError, True),
        (NotImplementedError, True),
        (ZeroDivisionError, True),
        (KeyError, True),
    ],
)
def test_auto_goes_on_after_a_failure_but_not_after_a_bug(error, is_bug, monkeypatch):
    from rankbook.registry import solve

    def by(one):
        calls.append(one.name)
        if one.name == first.name:
            return Solution(problem, 1.0, coef=np.zeros(6))
        if len(calls) == 2:
            raise error("no")
        return one.solve(problem, 1.0)

    calls, problem = [], sixes(kernel="linear")
    first = choose_solver(problem, at=1.0)
    answer = lambda: solve.best_answer(problem, 1.0, first, by, {})
    if is_bug:
        with pytest.raises(error):
            answer()
    else:
        assert answer().certificate.is_optimal() and len(calls) == 3


def test_auto_prefers_any_gap_to_nan(monkeypatch):
    from rankbook.registry import solve

    def by(one):
        gap = next(gaps)
        return SimpleNamespace(
            certificate=SimpleNamespace(relative_gap=gap), warn_above=lambda *said: None
        )

    problem = sixes(kernel="linear")
    first = choose_solver(problem, at=1.0)
    for before, after in ((np.nan, 0.5), (0.5, np.nan)):
        gaps = chain([before, after], repeat(1.0))
        assert solve.best_answer(problem, 1.0, first, by, {}).certificate.relative_gap == 0.5


def test_auto_in_threads_leaves_no_filter_of_overflows():
    problem = rb.RankSVMProblem(
        1e6 * np.array([[1.0], [2.0], [3.0], [5.0], [7.0], [8.0]]),
        rb.Preferences.from_scores([0, 1, 0, 2, 1, 2]),
        "poly",
        loss="logistic",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: rb.solve(problem, 0.01), range(8)))
        assert RuntimeWarning not in [kind for _, _, kind, *_ in warnings.filters]


def test_the_warning_names_the_solvers_that_were_tried():
    X = 1e6 * np.array([[1.0], [2.0], [3.0], [5.0], [7.0], [8.0]])
    prefs = rb.Preferences.from_scores([0, 1, 0, 2, 1, 2])
    problem = rb.RankSVMProblem(X, prefs, "poly", loss="logistic")
    with pytest.warns(ConvergenceWarning, match="Also tried: .*beyond double precision") as caught:
        rb.solve(problem, 0.01)
    assert len(caught) == 1
    with pytest.warns(ConvergenceWarning) as caught:
        rb.solve(problem, 0.01, solver="newton")
    assert "tried" not in str(caught[0].message)
