"""What plugins may say of themselves, how they fail, and where they are known."""

import sys
import threading
import time
import traceback

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from stub_plugins import GOOD

import rankbook as rb
from rankbook.estimators.ranksvm import worth_projecting
from rankbook.problems.certificate import Solution
from rankbook.registry.choice import choose_solver
from rankbook.registry.plugins import installed_records
from rankbook.registry.solver import Solver


@pytest.fixture(scope="module")
def problem():
    return rb.RankSVMProblem([[0.0], [1.0], [3.0]], rb.Preferences.from_scores([0, 1, 2]), "linear")


class Zero(Solver):
    """Answers zero."""

    name, tol = "zero", 1e-6

    def __init__(self, shift=0.0, scale=1.0):
        self.shift, self.scale = shift, scale

    def solve(self, problem, lam):
        coef = np.zeros(problem.n_items)
        coef[:2] = self.shift * self.scale, -self.shift * self.scale
        return Solution(problem, lam, coef=coef)


class Exact(Solver):
    """Answers what the path says."""

    name = "borrowed"

    def solve(self, problem, lam):
        found = rb.get_solver("path").solve(problem, lam)
        return Solution(problem, lam, coef=found.coef, dual=found.dual)


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# Options


def test_options_beside_a_name_and_as_keywords_are_the_same(problem, forget):
    rb.register_solver(Zero)
    answers_ = [
        rb.solve(problem, 1.0, solver="zero", shift=2.0, scale=0.5),
        rb.solve(problem, 1.0, solver=("zero", dict(shift=2.0, scale=0.5))),
        rb.solve(problem, 1.0, solver=("zero", dict(shift=2.0)), scale=0.5),
        rb.solve(problem, 1.0, solver=(Zero, dict(shift=5.0, scale=0.5)), shift=2.0),
    ]
    assert all(one.coef.tolist() == [1.0, -1.0, 0.0] for one in answers_)


def test_estimators_take_options(forget):
    rb.register_solver(Zero)
    X, y = np.arange(6.0)[:, None], np.arange(6) % 3
    model = clone(rb.RankSVM(kernel="linear", solver=("zero", dict(shift=3.0)))).fit(X, y)
    assert model.coef_ == pytest.approx(3.0 * (X[0] - X[1]))
    for kind in (rb.RankRLS, rb.RayleighRanker):
        assert "solver" in kind().get_params()


@pytest.mark.parametrize(
    ("solver", "options", "words"),
    [
        ("path", dict(max_event=5), "max_event.*did you mean 'max_events'"),
        (("path", dict(max_event=5)), {}, "did you mean 'max_events'"),
        (Zero, dict(shfit=5), "Zero.*did you mean 'shift'"),
        (("path",), {}, "a name or class and a dict"),
        (("path", 5), {}, "a name or class and a dict"),
        (("path", {}, {}), {}, "a name or class and a dict"),
        ((Zero(), {}), {}, "a name or class and a dict"),
    ],
)
def test_wrong_options(problem, solver, options, words):
    with pytest.raises(TypeError, match=words):
        rb.solve(problem, 1.0, solver=solver, **options)


def test_an_option_without_a_default_must_come(problem):
    class Needs(Zero):
        def __init__(self, licence):
            super().__init__()

    with pytest.raises(TypeError, match="'licence' of the solver 'Needs' has no default"):
        rb.solve(problem, 1.0, solver=Needs)
    assert rb.solve(problem, 1.0, solver=(Needs, dict(licence="x"))).coef.tolist() == [0, 0, 0]


# Sizes


@pytest.mark.parametrize("what", ["items", "features", "preferences"])
def test_nobody_is_asked_beyond_its_size(problem, what):
    sizes = dict(items=3, features=1, preferences=3)
    fits = type("Fits", (Zero,), dict(largest={what: sizes[what]}))
    small = type("Small", (Zero,), dict(largest={what: sizes[what] - 1}))
    assert rb.solve(problem, 1.0, solver=fits).coef.size == 3
    with pytest.raises(ValueError, match=f"at most {sizes[what] - 1} {what}, not {sizes[what]}"):
        rb.solve(problem, 1.0, solver=small)


def test_what_it_answers_for_itself_makes_it_no_larger(problem):
    class Plain(Solver):
        largest = {"items": 2}
        can_solve = lambda self, problem: True

        def solve(self, problem, lam):
            raise AssertionError("was asked")

    with pytest.raises(ValueError, match="at most 2 items"):
        rb.solve(problem, 1.0, solver=Plain)


def test_a_size_of_something_else_is_refused(problem):
    odd = type("Odd", (Zero,), dict(largest={"rows": 5}))
    with pytest.raises(TypeError, match=r"largest of Odd is \{'rows': 5\}.*items, features, pref"):
        rb.solve(problem, 1.0, solver=odd)


# What it costs


class Cheap(Exact):
    name = "cheap"

    def cost(self, problem, lam):
        return 1e-6


def test_a_plugin_is_chosen_only_where_it_is_allowed(problem, forget):
    rb.register_solver(Cheap)
    assert choose_solver(problem).name != "cheap"
    assert "cheap" not in rb.solve(problem, 1.0).solver
    chosen = rb.solve(problem, 1.0, allow_plugins=True)
    assert chosen.solver == "cheap" and chosen.certificate.is_optimal(1e-8)
    assert rb.compare_solvers(problem, 1.0, allow_plugins=True)[0].solver == "cheap"


ALLOWED = ("auto", dict(allow_plugins=True))


def test_plugins_are_allowed_wherever_a_solver_is_given(problem, forget):
    rb.register_solver(Cheap)
    X, y = np.arange(6.0)[:, None], np.arange(6) % 3
    assert rb.solve(problem, 1.0, solver=ALLOWED).solver == "cheap"
    assert rb.solve(problem, 1.0, ("auto", dict(allow_plugins=False))).solver != "cheap"
    found = choose_solver(problem, ALLOWED), choose_solver(problem, ("auto", {}))
    assert found[0].name == "cheap" != found[1].name
    model = clone(rb.RankSVM(kernel="linear", solver=ALLOWED)).fit(X, y)
    assert model.solver_ == "cheap" and model.solver == ALLOWED
    for kernel in ("linear", "rbf"):
        for count in (None, "auto", 3) if kernel == "rbf" else (None,):
            model = rb.RankSVM(kernel=kernel, solver=ALLOWED, approximate_kernel=count).fit(X, y)
            assert model.solver_.startswith("cheap")
    found = rb.kernel_path(rb.RankSVMProblem(X, rb.Preferences.from_scores(y)), 1.0, [1.0], ALLOWED)
    assert found.solutions[0].solver == "cheap"
    for kind in (rb.RankRLS, rb.LabelRanker):  # of their problems one solver is right
        one, other = (
            kind(solver=s).fit(X, y if kind is rb.RankRLS else np.c_[y, -y]).solver_
            for s in ("auto", ALLOWED)
        )
        assert one == other


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_plugins_are_allowed_in_cross_validation_whatever_the_processes(forget, n_jobs):
    class Quick(Cheap):
        name, provides = "quick", frozenset({"path", "solve"})

        def path(self, problem, lam_min=None):
            return rb.get_solver("path").path(problem, lam_min)

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    model = rb.RankSVMCV(kernel="linear", cv=3, n_jobs=n_jobs, lam_min_ratio=1e-2)
    own = clone(model).fit(X, y)
    rb.register_solver(Quick)
    found = clone(model).set_params(solver=ALLOWED).fit(X, y)
    assert found.path_solver_ == "quick" == found.solver_ and own.path_solver_ != "quick"
    assert found.lam_ == pytest.approx(own.lam_) and found.coef_ == pytest.approx(own.coef_)
    assert clone(model).fit(X, y).path_solver_ == own.path_solver_


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (dict(allow_plugin=True), "option of the solver 'auto' is 'allow_plugin'.*did you mean"),
        (
            dict(max_events=5),
            "option of the solver 'auto' is 'max_events'. Pass 'allow_plug",
        ),
        (dict(allow_plugins="yes"), "allow_plugins is 'yes'. Pass True or False"),
        (dict(allow_plugins=1), "allow_plugins is 1. Pass True or False"),
    ],
)
def test_wrong_options_of_auto(problem, options, words):
    solver = ("auto", options)
    for call in (
        lambda: rb.solve(problem, 1.0, solver=solver),
        lambda: rb.solve_path(problem, solver=solver),
        lambda: rb.RankSVM(solver=solver).fit(problem.X, [0, 1, 2]),
        lambda: rb.RankSVMCV(solver=solver, cv=2).fit(np.eye(6), np.arange(6) % 2),
        lambda: rb.RankRLS(solver=solver).fit(problem.X, [0, 1, 2]),
        lambda: rb.LabelRanker(solver=solver).fit(problem.X, np.eye(3)),
    ):
        with pytest.raises(TypeError, match=words):
            call()


def test_options_beside_a_name_change_nothing_else(problem):
    X = np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32)
    y = np.arange(40) % 3
    for solver in ("newton", ("newton", dict(tol=1e-7))):
        model = rb.RankSVM(kernel="linear", solver=solver).fit(X, y)
        assert model.solution_.problem.X.dtype == np.float32
    exact = rb.RankSVMProblem(X, rb.Preferences.from_scores(y))
    plain, pair = (worth_projecting(exact, s) for s in ("interior", ("interior", dict(tol=1e-9))))
    assert [plain(k) for k in (5, 10, 40)] == [pair(k) for k in (5, 10, 40)]


def test_a_plugin_is_chosen_for_paths(problem, forget):
    class Follows(Cheap):
        name, provides = "follows", frozenset({"path"})

        def path(self, problem, lam_min=None):
            return rb.get_solver("path").path(problem, lam_min)

    rb.register_solver(Follows)
    rb.register_solver(Cheap)  # provides no path
    assert rb.solve_path(problem).solver.startswith("path")
    assert rb.solve_path(problem, allow_plugins=True).solver == "follows"


def test_a_dear_plugin_is_not_chosen(problem, forget):
    rb.register_solver(type("Dear", (Cheap,), dict(name="dear", cost=lambda *_: 1e9)))
    assert choose_solver(problem, allow_plugins=True).name != "dear"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(cost=lambda *_: float("nan")), "costs nan"),
        (dict(cost=lambda *_: -1.0), "costs -1"),
        (dict(cost=lambda *_: "little"), "costs 'little'"),
        (dict(cost=lambda *_: None), "costs None"),
        (dict(cost=lambda *_: 1 / 0), "ZeroDivisionError"),
        (dict(tol=1e-3), "0.001"),
        (dict(tol=None), "None"),
        (dict(kernels=("rbf",)), "kernels rbf"),
        (dict(largest={"items": 2}), "at most 2 items"),
        (dict(losses={"squared"}), "squared, not hinge"),
        (dict(__init__=lambda self, key: None), "'key'"),
        (dict(requires=("no_such_module",)), "no_such_module"),
    ],
)
def test_what_goes_wrong_is_an_obstacle_and_hides_nobody(problem, forget, change, words):
    rb.register_solver(type("Odd", (Cheap,), dict(name="odd") | change))
    rb.register_solver(Cheap)
    table = rb.compare_solvers(problem, 1.0, allow_plugins=True)
    odd = next(row for row in table if row.solver == "odd")
    assert words in odd.obstacle and not odd.is_possible
    assert table[0].solver == "cheap" and str(table) and table._repr_html_()


def test_a_broken_distribution_is_an_obstacle(problem, install):
    install("zero-solver", "raise RuntimeError('its own')")
    row = next(r for r in rb.compare_solvers(problem, allow_plugins=True) if r.solver == "zero")
    assert "its own" in row.obstacle
    assert choose_solver(problem, allow_plugins=True).name == choose_solver(problem).name


# Failure


def test_a_note_names_the_plugin_and_its_distribution(problem, install):
    install("zero-solver", GOOD + "\n    Zero.solve = lambda *_: 1 / 0", version="0.3")
    with pytest.raises(ZeroDivisionError) as caught:
        rb.solve(problem, 1.0, solver="zero")
    assert caught.value.__notes__ == ["raised by the solver 'zero 0.3' of zero-solver 0.3"]


def test_an_exception_from_a_question_keeps_its_traceback(problem):
    class Picky(Zero):
        def can_solve(self, problem):
            return self.deeply()

        def deeply(self):
            raise LookupError("in a shelf")

    with pytest.raises(LookupError) as caught:
        rb.solve(problem, 1.0, solver=Picky)
    assert "deeply" in [frame.name for frame in traceback.extract_tb(caught.tb)]


def test_a_class_with_another_name_than_its_entry_point_is_refused(problem, install):
    install("zero-solver", GOOD, points={"nought": "Zero"})
    with pytest.raises(ImportError, match=r"'nought' of zero-solver 1.0.*whose name is 'zero'"):
        rb.solve(problem, 1.0, solver="nought")
    row = next(row for row in rb.list_solvers(True) if row["name"] == "nought")
    assert "whose name is 'zero'" in row["state"]


@pytest.mark.parametrize("thing", ["3", "lambda problem: 0", "Zero()", "dict", "None"])
def test_an_entry_point_to_no_solver_names_the_distribution(problem, install, thing):
    install("odd-solver", GOOD + f"\n    thing = {thing}", points={"thing": "thing"})
    with pytest.raises(
        ImportError,
        match="'thing' of odd-solver 1.0 cannot be loaded.*. Pass a name, or a class derived",
    ):
        rb.solve(problem, 1.0, solver="thing")


# Who knows it


def test_names_are_given_once_whoever_asks_at_the_same_time(forget):
    taken, refused, start = [], [], threading.Barrier(8)

    def register(number):
        start.wait()
        for i in range(50):
            try:
                rb.register_solver(type(f"Zero{number}", (Zero,), {}), name=f"zero-{i}")
                taken.append(i)
            except ValueError:
                refused.append(i)

    threads = [threading.Thread(target=register, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(50)) and len(refused) == 350


def test_solving_on_many_threads_while_names_come_and_go(problem, forget):
    rb.register_solver(Zero)
    wrong, over = [], threading.Event()

    def come_and_go():
        while not over.is_set():
            rb.register_solver(Exact)
            rb.list_solvers()
            rb.unregister_solver("borrowed")

    def work():
        try:
            for _ in range(20):
                rb.solve(problem, 1.0, solver=("zero", dict(shift=1.0)))
        except Exception as error:  # noqa: BLE001 -- shown below
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    changing = threading.Thread(target=come_and_go)
    changing.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    over.set()
    changing.join()
    assert wrong == []


def test_a_solver_registered_here_reaches_workers_of_cross_validation(forget):
    class Followed(Solver):
        name, provides = "followed", frozenset({"path", "solve"})

        def path(self, problem, lam_min=None):
            return rb.get_solver("path").path(problem, lam_min)

        def solve(self, problem, lam):
            return Solution(problem, lam, coef=rb.get_solver("path").solve(problem, lam).coef)

    rb.register_solver(Followed)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    one, two = (
        rb.RankSVMCV(kernel="linear", cv=3, solver="followed", n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert one.lam_ == two.lam_ and "followed" in two.path_solver_
    assert np.array_equal(one.coef_, two.coef_)


def test_other_workers_are_told_what_to_do(problem, forget):
    from joblib import Parallel, delayed

    rb.register_solver(Zero)
    job = delayed(rb.solve)(problem, 1.0, solver="zero")
    with pytest.raises(ValueError, match="solver is 'zero'") as caught:
        Parallel(n_jobs=2)([job, job])
    assert "Pass its class to workers" in "".join(traceback.format_exception(caught.value))
    found = Parallel(n_jobs=2)(delayed(rb.solve)(problem, 1.0, solver=Zero) for _ in range(2))
    assert [one.coef.tolist() for one in found] == [[0, 0, 0]] * 2


# The list


def test_fifty_distributions_are_listed_without_importing_one(install):
    for i in range(50):
        install(f"engine-{i}", "raise RuntimeError('imported')", points={f"engine-{i}": "Zero"})
    table = rb.list_solvers()
    states = {row["name"]: row["state"] for row in table}
    assert all(states[f"engine-{i}"] == "not loaded" for i in range(50))
    assert not any(name.startswith("engine_") for name in sys.modules)
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        installed_records.__globals__["_read_entry_points"].cache_clear()
        rb.list_solvers()
        seconds.append(time.perf_counter() - start)
    assert sorted(seconds)[2] < 1.0  # tests/benchmarks has the figure


def test_the_list_says_what_is_declared(install, forget):
    install("zero-solver", GOOD)
    rb.register_solver(type("Own", (Zero,), dict(name="own", losses={"squared", "hinge"})))
    rows = {row["name"]: row for row in rb.list_solvers(allow_plugins=True)}
    assert rows["zero"]["options"] == "shift=0.0" and rows["zero"]["kernels"].count(",") == 4
    assert rows["own"]["losses"] == "hinge, squared" and rows["own"]["penalties"] == "l2"
    assert rows["newton"]["storages"] == "blocks, csr, float32, float64"
    assert rows["rls"]["losses"] == "" and rows["path"]["tol"] != ""
    assert max(map(len, str(rb.list_solvers()).splitlines())) < 160


def test_the_registry_warns_of_nothing_here(problem, forget):
    rb.register_solver(Zero)
    with pytest.warns(ConvergenceWarning, match="'zero'"):
        rb.solve(problem, 1.0, solver="zero")


# What must not reach the others


def everybody_else_is_well(problem):
    listed = {row["name"]: row["state"] for row in rb.list_solvers(allow_plugins=True)}
    assert listed["path"] == "ready" and str(rb.list_solvers())
    return rb.solve(problem, 1.0, solver="path").certificate.is_optimal(1e-8)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("entry_points.txt", b"[rankbook.solvers]\nplug\n"),
        ("entry_points.txt", b"[rankbook.solvers]\nplug = 1 2 3 ::\n"),
        ("entry_points.txt", b"[rankbook.solvers]\nplug = a:\xff\xfe\n"),
        ("METADATA", b"\xff\xfe\xff"),
        ("METADATA", b""),
    ],
)
def test_files_that_cannot_be_read_hide_nobody(install, problem, tmp_path, file, content):
    install("good-solver", GOOD)
    install("odd-solver", GOOD.replace('"zero"', '"odd"'), points={"odd": "Zero"})
    (tmp_path / "odd_solver-1.0.dist-info" / file).write_bytes(content)
    installed_records.__globals__["_read_entry_points"].cache_clear()
    assert everybody_else_is_well(problem)
    assert rb.solve(problem, 1.0, solver="zero").solver.startswith("zero")


class Raises:
    """A value whose text cannot be had."""

    def __repr__(self):
        raise RuntimeError("boom")

    __str__ = __repr__


class RaisingError(Exception):
    def __str__(self):
        raise RuntimeError("boom")


class Property:
    """A class attribute that raises on every access."""

    def __get__(self, instance, owner):
        raise RuntimeError("boom")


def fails(*_):
    raise RaisingError


@pytest.mark.parametrize(
    "change",
    [
        dict(summary=Raises()),
        dict(problems=Property()),
        dict(value=Property()),
        dict(tol=Property()),
        dict(__init__=lambda self, option=Raises(): None),  # noqa: B008
        dict(cost=fails),
        dict(can_solve=fails, cost=lambda *_: 1.0),
    ],
)
def test_odd_declarations_hide_nobody(problem, forget, change):
    odd = type("Odd", (Zero,), dict(name="odd") | change)
    try:
        rb.register_solver(odd)
    except (TypeError, RuntimeError) as error:
        assert "of Odd" in str(error) or str(error) == "boom"  # refused when it is registered
        return
    assert everybody_else_is_well(problem)
    assert rb.solve(problem, 1.0, allow_plugins=True).certificate.is_optimal(1e-8)
    assert rb.RankSVM(kernel="linear").fit(problem.X, [0, 1, 2]).certificate_.is_optimal(1e-6)


@pytest.mark.parametrize("source", ["class Odd(Exception): pass\nraise Odd", "raise KeyError"])
def test_imports_that_fail_in_any_way_are_rows(install, problem, source):
    install("odd-solver", source, points={"odd": "Zero"})
    assert everybody_else_is_well(problem)
    with pytest.raises(ImportError, match="'odd' of odd-solver 1.0 cannot be loaded"):
        rb.solve(problem, 1.0, solver="odd")


def test_a_path_of_another_problem_is_refused(problem, forget):
    class Elsewhere(Zero):
        def path(self, problem, lam_min=None):
            other = rb.RankSVMProblem(2 * problem.X, problem.prefs, "linear")
            return rb.solve_path(other, lam_min, solver="path")

    Elsewhere.provides = {"path"}
    with pytest.raises(TypeError, match="a SolutionPath of the given problem"):
        rb.solve_path(problem, solver=Elsewhere)


def test_a_class_with_a_method_load_is_no_entry_point(problem, forget):
    rb.register_solver(type("Loads", (Zero,), dict(name="loads", load=lambda self, a, b: None)))
    assert rb.solve(problem, 1.0, solver="loads").coef.size == 3


@pytest.mark.parametrize(
    "name", ["auto", "", " ", "interior ", "a b", "a\nb", "My", "-a", "\u202eroiretni"]
)
def test_names_that_cannot_be_typed(name, forget):
    with pytest.raises(ValueError, match="name is"):
        rb.register_solver(Zero, name=name)


@pytest.mark.parametrize("what", ["problems", "kernels", "losses", "provides", "requires"])
def test_a_text_where_names_belong(problem, what):
    with pytest.raises(TypeError, match=f"{what} of Odd is 'solve'. Pass a tuple or set of names"):
        rb.solve(problem, 1.0, solver=type("Odd", (Zero,), {what: "solve"}))


# Solvers of one lambda where many are wanted


@pytest.mark.parametrize(
    "solver", ["borrowed", ("epsilon", dict(inner="borrowed")), "epsilon", "interior"]
)
def test_cross_validation_follows_any_solver(forget, solver):
    rb.register_solver(Exact)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    model = rb.RankSVMCV(kernel="linear", cv=3, solver=solver, lam_min_ratio=1e-2).fit(X, y)
    exact = rb.RankSVMCV(kernel="linear", cv=3, solver="path", lam_min_ratio=1e-2).fit(X, y)
    assert model.path_solver_.startswith("epsilon") and model.certificate_.is_optimal(1e-6)
    assert abs(model.curve_.minimum - exact.curve_.minimum) < 0.02
