"""The choice of a solver: what is predicted, what does not fit, and what the choice is made of."""

import warnings
from dataclasses import replace
from time import process_time

import numpy as np
import pytest
from scipy.sparse import csr_array

import rankbook as rb
from rankbook.problems.scale import default_lam
from rankbook.registry import choice
from rankbook.registry.choice import (
    POWERS,
    RATES,
    SOLVERS,
    TERMS,
    USUAL,
    Work,
    bytes_of,
    choose_solver,
    compare_solvers,
    seconds_of,
    work_of,
)


def problem(n=300, kernel="rbf", queries=3, d=4, **options):
    rng = np.random.default_rng(0)
    prefs = rb.Preferences.from_scores(rng.integers(0, 3, n), np.arange(n) % queries)
    return rb.RankSVMProblem(rng.normal(size=(n, d)), prefs, kernel=kernel, **options)


@pytest.mark.parametrize("n, queries, sure", [(2000, 20, True), (1000, 50, False)])
def test_lam_max_is_not_computed_where_it_could_change_nothing(n, queries, sure):
    one = problem(n, "linear", queries=queries, d=50 if sure else 200, loss="squared")
    found = choice.sure_cost(one, 1.0)
    assert ("hinge_lam_max" not in vars(one)) and bool(found) == sure
    chosen = choose_solver(one, at=1.0).name
    assert ("hinge_lam_max" in vars(one)) != sure
    assert compare_solvers(one, 1.0)[0].solver == chosen
    assert [name for name, *_ in found] == [chosen] * sure


def test_predictions_grow_with_everything():
    for solver in SOLVERS:
        kernel = solver not in ("newton", "coordinate")
        base = Work(1000, 50_000, 1000, 100.0, kernel)
        larger = Work(2000, 100_000, 2000, 200.0, kernel)
        for smooth in (False, True):
            first, second = (
                seconds_of(solver, replace(work, is_smooth=smooth)) for work in (base, larger)
            )
            assert 0 < first < second < np.inf
        assert 0 < bytes_of(solver, base) < bytes_of(solver, larger)
        assert seconds_of(solver, replace(base, stores_gram=not kernel)) > 0
    for name, terms in TERMS.items():
        assert len(RATES[name]) == len(terms(base)) and min(RATES[name]) >= 0
    for name, powers in POWERS.items():
        assert len(RATES[name]) == 1 + len(powers(base)) and RATES[name][0] > 0
    assert RATES.keys() == TERMS.keys() | POWERS.keys()


def test_the_work_of_scores_is_counted_and_that_of_pairs_is_one_query():
    counted = problem(queries=3)
    assert work_of(counted) == Work(300, len(counted.prefs), 300, 100.0, True, levels=3.0)
    assert not counted.prefs.is_listed
    listed = rb.RankSVMProblem(counted.X, rb.Preferences([0], [1], 300), kernel="linear")
    found = work_of(listed)
    assert found == Work(
        300, 1, 4, 300.0, False, USUAL, True, choice.EXACT, features=4
    )  # one is always met


@pytest.mark.parametrize(
    ("noise", "first"), [(0.5, "newton"), (0.01, "newton"), (0.0, "coordinate")]
)
def test_margins_are_listed_and_newton_is_chosen_unless_they_can_all_be_met(noise, first):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 10))
    y = X @ rng.normal(size=10) + noise * rng.normal(size=1000)
    of_orders, of_margins = (
        rb.RankSVMProblem(X, rb.Preferences.from_scores(y, margin=margin), kernel="linear")
        for margin in ("one", "difference")
    )
    counted, listed = (
        {p.solver: p for p in compare_solvers(one, 10.0)}["newton"]
        for one in (of_orders, of_margins)
    )
    chosen = choose_solver(of_margins, at=10.0).name
    assert chosen == compare_solvers(of_margins, 10.0)[0].solver == first
    assert listed.nbytes - counted.nbytes == 100 * of_margins.n_preferences
    assert listed.seconds > 5 * counted.seconds
    assert compare_solvers(of_orders, 10.0)[0].solver == "newton" and not of_orders.prefs.is_listed


def test_how_far_the_loss_falls_is_known_of_listed_preferences_of_a_linear_kernel_only():
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = X @ [1.0, 2.0, -1.0]
    exact = rb.Preferences.from_scores(y, margin="difference")
    for kernel, prefs, fall in (
        ("linear", exact, choice.EXACT),
        ("linear", rb.Preferences.from_scores(y), 0.0),
        ("linear", rb.Preferences.from_scores(y, graph="star"), 0.0),  # not listed yet
        ("rbf", exact, 0.0),
    ):
        assert choice.possible_fall(rb.RankSVMProblem(X, prefs, kernel=kernel)) == fall
    sparse = rb.RankSVMProblem(csr_array(X), exact, kernel="linear")
    assert choice.possible_fall(sparse) == choice.EXACT
    assert work_of(sparse, sparse.lam_max / 100).fall == pytest.approx(2)
    flat = rb.RankSVMProblem(np.ones((50, 1)), exact, kernel="linear")
    assert choice.possible_fall(flat) == 0


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_further_below_lam_max_the_longer_all_solvers_take(kernel):
    one = problem(3000 if kernel == "linear" else 300, kernel)
    seconds = [
        {p.solver: p.seconds for p in compare_solvers(one, share * one.lam_max)}
        for share in (2.0, 1e-2, 1e-4, 1e-6)
    ]
    for solver in (p.solver for p in compare_solvers(one) if p.is_possible):
        taken = [found[solver] for found in seconds]
        n_times = 3 if solver == "tiled" else 4  # its products have a limit
        assert len(set(taken)) >= n_times and taken == sorted(taken)
    assert seconds[2] == pytest.approx({p.solver: p.seconds for p in compare_solvers(one)})
    assert not one.prefs.is_listed


def test_a_path_is_explained_too():
    one = problem(3000, queries=1, d=30)
    found = compare_solvers(one, provides="path")
    assert [p.solver for p in found] == ["epsilon", "path"]
    shallow = {p.solver: p for p in compare_solvers(one, 0.1 * one.lam_max, provides="path")}
    assert shallow["path"].seconds < found[1].seconds / 5
    path, epsilon = sorted(
        compare_solvers(problem(loss="squared"), provides="path"), key=lambda p: p.solver
    )[::-1]
    assert "it takes the loss hinge, not squared" in path.obstacle
    assert epsilon.is_possible and not epsilon.obstacle


def test_lam_needs_no_kernel_matrix_of_many_items():
    one = problem(choice.SAMPLE + 1)
    lam = 1e-3 * one.lam_max
    again = rb.RankSVMProblem(one.X, one.prefs)
    assert work_of(again, lam).decades == pytest.approx(3, abs=0.5) and "gram" not in vars(again)
    given = rb.RankSVMProblem(one.gram, one.prefs, kernel="precomputed")
    assert work_of(given, lam).decades == pytest.approx(work_of(again, lam).decades)


def test_a_problem_without_differences_has_no_decades():
    prefs = rb.Preferences.from_scores(np.arange(60))
    flat = rb.RankSVMProblem(np.ones((60, 1)), prefs, kernel="linear")
    assert flat.lam_max == 0 and work_of(flat, 1.0).decades == 0


def test_bad_arguments_of_explain_are_refused_by_name():
    for lam in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="^lam is"):
            compare_solvers(problem(), lam)
    with pytest.raises(ValueError, match="^provides is 'paths'"):
        compare_solvers(problem(), provides="paths")


def test_the_quickest_is_first_and_chosen():
    for one in (problem(), problem(kernel="linear"), problem(loss="squared")):
        found = compare_solvers(one)
        assert [p.seconds for p in found] == sorted(p.seconds for p in found)
        few = [p.solver for p in found if p.solver not in choice.MANY]  # which save too little here
        assert choose_solver(one).name == few[0]
        assert {p.solver for p in found} == set(SOLVERS)
        assert "seconds" in repr(found) and found[0].solver in found._repr_html_()
        assert all(p.is_possible != bool(p.obstacle) for p in found)
    cannot = {
        "path": compare_solvers(problem(loss="squared")),
        "newton": compare_solvers(problem()),
    }
    for name, found in cannot.items():
        last = next(p for p in found if p.solver == name)
        assert not last.is_possible and last.obstacle.startswith("it takes the ")
        assert last in found[-2:] and last.obstacle in repr(found) and "inf" not in repr(found)


def test_what_does_not_fit_is_last_and_refused_if_nothing_fits(monkeypatch):
    one = problem(kernel="linear")
    least = min(p.nbytes for p in compare_solvers(one) if p.is_possible)
    monkeypatch.setattr(choice, "available_memory", lambda: least)
    found = compare_solvers(one)
    assert not found[0].obstacle and all(p.obstacle for p in found[1:])
    monkeypatch.setattr(choice, "available_memory", lambda: least - 1)
    with pytest.raises(
        MemoryError,
        match=r"needs the least memory, [\d,]+ bytes .*, but only .* available. Use graph=",
    ):
        choose_solver(one)
    with pytest.raises(MemoryError):
        rb.solve(one, 1.0, solver="auto")
    with pytest.raises(MemoryError):
        rb.RankSVM(kernel="linear").fit(one.X, np.arange(300) % 2)


def test_a_long_path_is_left_to_epsilon_and_estimators_say_so(monkeypatch):
    assert choose_solver(problem(), provides="path").name == "path"
    large = problem(20_000, queries=1, d=30)
    assert choose_solver(large, provides="path").name == "epsilon"
    assert choose_solver(large, provides="path", max_events=50).name == "path"
    assert choose_solver(large, provides="path", eps=1e-3).name == "epsilon"
    monkeypatch.setattr(choice, "LONG", 0.0)
    monkeypatch.setattr(choice, "TIMES", 0.0)
    one = problem(60)
    model = rb.RankSVMCV(cv=2, lam_min_ratio=1e-2).fit(one.X, np.arange(60) % 3)
    assert model.path_solver_.startswith("epsilon") and model.lam_ > 0


def test_long_paths_of_a_linear_hinge_are_followed_by_newton(monkeypatch):
    """The time of all folds counts, and every path of a fit has the same solver."""
    large = problem(3000, "linear", queries=1, d=100)
    assert [choose_solver(large, provides="path", times=k).name for k in (1, 1000)][1] == "newton"
    assert choose_solver(large, provides="path", times=1000, max_events=50).name == "path"
    found = {p.solver: p for p in compare_solvers(large, provides="path")}
    assert found.keys() == {"path", "epsilon", "newton"}
    assert found["newton"].seconds < min(found["path"].seconds, found["epsilon"].seconds)
    small = problem(60, "linear")
    assert choose_solver(small, provides="path", times=5).name == "path"
    exact = rb.RankSVMCV("linear", cv=2, lam_min_ratio=1e-2).fit(small.X, np.arange(60) % 3)
    assert exact.path_solver_.startswith("path") and exact.curve_.exact
    monkeypatch.setattr(choice, "LONG", 0.0)
    monkeypatch.setattr(choice, "TIMES", 0.0)
    model = rb.RankSVMCV("linear", cv=2, lam_min_ratio=1e-2).fit(small.X, np.arange(60) % 3)
    name = choose_solver(small, provides="path", times=2).name
    assert name != "path" and not model.curve_.exact
    assert model.path_solver_.startswith(name) and model.path_.solver.startswith(name)
    assert model.certificate_.is_optimal(1e-6)
    assert model.curve_.at(exact.lam_) == pytest.approx(exact.curve_.at(exact.lam_), abs=0.01)


def test_thousands_of_patients_choose_lambda_in_seconds():
    """Heavy censoring, ties in time and features that are whole numbers."""
    rng, n = np.random.default_rng(0), 4724
    X = np.c_[rng.integers(50, 96, n), rng.integers(0, 2, (n, 2)), rng.normal(size=(n, 6)).round(1)]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    life = rng.exponential(14_000 * np.exp(-X[:, 0]))
    end = rng.uniform(3300, 5200, n)
    time = np.ceil(np.minimum(life, end) / 7)
    patients = rb.Preferences.from_survival(time, life <= end)
    start = process_time()
    model = rb.RankSVMCV("linear", lam_min_ratio=1e-3).fit(X, patients)
    assert process_time() - start < 60  # most of it compiles
    assert model.path_solver_.startswith("newton") and not model.curve_.exact
    assert model.certificate_.is_optimal(1e-6) and 1 - model.curve_.minimum > 0.7
    exact = rb.RankSVM(model.lam_, "linear")
    train, test = np.arange(n) % 5 > 0, np.arange(n) % 5 == 0
    scores = exact.fit(X[train], patients[np.flatnonzero(train)]).predict(X[test])
    value = rb.metrics.concordance(patients[np.flatnonzero(test)], scores)
    assert abs(value - (1 - model.curve_.at(model.lam_))) < 0.03  # of other patients


def test_solve_takes_auto():
    assert rb.solve(problem(), 1.0, solver="auto").solver.startswith("interior")
    assert rb.solve_path(problem(50), solver="auto").solver.startswith("path")


def test_other_problems_are_refused_by_name():
    one = problem(kernel="linear")
    with pytest.raises(TypeError, match="problem is a RankRLSProblem. Pass a RankSVMProblem"):
        compare_solvers(rb.RankRLSProblem(one.X, np.arange(300) % 2))
    with pytest.raises(TypeError, match="problem is an int"):
        compare_solvers(3)


def sparse_problem(n, d, **options):
    """Nearly empty items, of which only the shape matters."""
    rng = np.random.default_rng(0)
    X = csr_array((rng.normal(size=n), (np.arange(n), rng.integers(0, d, n))), shape=(n, d))
    orders = rb.Orders.from_survival(rng.exponential(size=n), rng.random(n) < 0.7)
    return rb.RankSVMProblem(X, orders, kernel="linear", loss="plackett-luce", **options)


def test_sparse_penalties_have_a_forecast():
    """Of "sparse"; other solvers say why not, and exact ones have none."""
    found = compare_solvers(sparse_problem(60, 30, penalty="elastic-net"))
    assert found[0].solver == "sparse" and 0 < found[0].seconds < 1 and not found[0].obstacle
    assert all("it takes the penalty l1" in one.obstacle for one in found[1:])
    squared = {p.solver: p for p in compare_solvers(problem(50, kernel="linear", penalty="l1"))}
    assert squared["simplex"].obstacle == "takes it, but no time is predicted for penalty l1"
    assert "it takes the loss" in squared["sparse"].obstacle


def test_long_sparse_solutions_are_announced():
    """The smaller lam and the more features, the longer; the warning names a way out."""
    large, solver = sparse_problem(3000, 20_000, penalty="l1"), choice.get_solver("sparse")
    seconds = [
        choice.predicted_seconds(large, "sparse", lam=share * large.lam_max)
        for share in (0.9, 0.1, 0.02, 0.002)
    ]
    assert (np.diff(seconds) > 0).all() and seconds[0] < 20 and seconds[2] > 60
    lam = 0.02 * large.lam_max
    with pytest.warns(UserWarning, match="'sparse' for one solution is .*. Use a larger lam, or"):
        choice.announce(large, solver, lam=lam)
    with pytest.warns(UserWarning, match="a larger lam_min, a smaller deviance, or fewer features"):
        choice.announce(large, solver, "path", lam=lam)
    choice.announce(large, solver, "path", lam=0.5 * large.lam_max)
    folds = choice.predicted_seconds(large, "sparse", "path", decades=1.0)
    assert folds < choice.predicted_seconds(large, "sparse", "path", decades=3.0)


def test_what_no_solver_takes_is_left_to_qp_to_refuse(monkeypatch):
    monkeypatch.setattr(choice, "SOLVERS", ())
    assert choose_solver(problem()).name == "qp"


ITEMS = np.random.default_rng(0).normal(size=(12_000, 30))
GRADES = np.arange(12_000) % 3
MANY = rb.Preferences.from_scores(GRADES)


@pytest.mark.parametrize(
    "fit, words",
    [
        (
            lambda: rb.RankSVM(solver="path").fit(ITEMS, GRADES),
            "the solver 'path' for one solution is",
        ),
        (
            lambda: rb.RankSVM(solver="qp").fit(ITEMS[:3000], GRADES[:3000]),
            "'qp' for one solution is predicted",
        ),
        (
            lambda: rb.RankRLS().fit(np.resize(ITEMS, (17_000, 30)), np.resize(GRADES, 17_000)),
            "the solver 'rls' for one solution is",
        ),
        (
            lambda: rb.LabelRanker().fit(ITEMS, ITEMS[:, :4]),
            "the solver 'kronecker' for one solution is",
        ),
        (
            lambda: rb.RankSVM(kernel="linear", penalty="l1").fit(ITEMS, GRADES),
            "the solver 'simplex' for one solution is predicted to need",
        ),
        (
            lambda: rb.RankSVMCV(kernel="linear", penalty="l1", cv=3).fit(ITEMS, GRADES),
            "the solver 'simplex' for 3 paths is predicted to need [0-9,]+ (hours|days)",
        ),
        (lambda: rb.solve_path(rb.RankSVMProblem(ITEMS, MANY), solver="path"), "for a path"),
    ],
    ids=["path", "qp", "rls", "labels", "l1", "folds", "long path"],
)
def test_every_route_says_beforehand_what_it_will_take(fit, words):
    """Each warning is an error here, so that nothing begins."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".* is predicted to need")
        with pytest.raises(UserWarning, match=words):
            fit()
    assert not MANY.is_listed


def test_what_would_take_a_month_is_refused_unless_a_solver_is_named(monkeypatch):
    monkeypatch.setattr(choice, "available_memory", lambda: 23 * 2**30)
    monkeypatch.setattr(choice, "LONGEST", 24 * 3600.0)
    large = problem(1_200_000, queries=300_000, d=2)
    words = (
        "predicted to need [0-9,]+ (days|hours), more than 1 days. "
        "Use approximate_kernel=.auto., kernel"
    )
    with pytest.raises(ValueError, match=words):
        choose_solver(large)
    with pytest.raises(ValueError, match=words):
        rb.solve(large, 1e-6)
    assert choose_solver(large, "path").name == "path"


def test_cross_validation_refuses_before_any_fold(monkeypatch):
    monkeypatch.setattr(choice, "available_memory", lambda: 1)
    with pytest.raises(MemoryError, match="the solver .* needs"):
        rb.RankSVMCV(cv=2).fit(np.arange(20.0)[:, None], np.arange(20) % 2)


def test_kernels_of_some_thousand_items_are_no_work_for_a_path():
    for n in (1000, 2500, 5000, 10_000):  # with queries of a hundred
        work = Work(n, 40 * n, n, 100.0, True)
        assert seconds_of("interior", work) < seconds_of("path", work)


def test_the_hard_margin_goes_to_who_has_it():
    X, prefs = np.array([[0.0], [1.0], [2.0]]), rb.Preferences.from_scores([0, 1, 2])
    line = rb.RankSVMProblem(X, prefs, kernel="linear")
    assert choose_solver(line, hard_margin=True).name == "qp"
    assert choose_solver(line, "newton", hard_margin=True).name == "newton"
    assert rb.solve(line, 0.0).weights == pytest.approx([1.0], rel=1e-6)
    sparse = rb.RankSVMProblem(X, prefs, kernel="linear", penalty="l1")
    assert choose_solver(sparse, hard_margin=True).name == "simplex"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("margin", [-1.0, 0.0, 2.0])
def test_margins_of_any_sign_are_foretold(margin):
    X, prefs = np.arange(20.0)[:, None] % 7, rb.Preferences.from_scores(np.arange(20) % 3)
    prefs = prefs.reweighted(margin=np.full(len(prefs), margin))
    problem = rb.RankSVMProblem(X, prefs, kernel="linear")
    assert rb.compare_solvers(problem, 1.0)[0].is_possible


def test_auto_follows_the_squared_hinge_with_a_kernel():
    prefs = rb.Preferences.from_scores([0, 1, 2, 1])
    problem = rb.RankSVMProblem([[0.0], [1.0], [3.0], [2.0]], prefs, loss="squared")
    path = rb.solve_path(problem)
    assert path.solver.startswith("newton")
    assert path.certificate(path.domain[0]).relative_gap <= 1e-3


def test_tiled_is_not_taken_where_its_products_are_many():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 10))
    y = np.digitize(X[:, 0] + rng.normal(size=2500), [-1, 0, 1, 2])
    prefs = rb.Preferences.from_scores(y, np.arange(2500) % 25)
    one = rb.RankSVMProblem(X, prefs, kernel="rbf")
    first = lambda lam: next(
        p.solver for p in compare_solvers(one, lam) if p.solver in ("interior", "tiled")
    )
    assert first(1.0) == "interior" and first(300.0) == "tiled"


def test_kernels_on_many_items_in_queries_go_to_ascent_and_others_to_tiled():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 10))
    y = np.digitize(X[:, 0] + rng.normal(size=6000), [-1, 0, 1, 2])
    for query, name in ((np.arange(6000) // 50, "ascent"), (None, "tiled")):
        prefs = rb.Preferences.from_scores(y, query)
        one = rb.RankSVMProblem(X, prefs)
        assert choice.choose_solver(one, at=len(prefs) / 1000).name == name
        assert not prefs.is_listed


def test_a_rough_gap_is_predicted_to_take_less_time():
    assert choice.share_at("ascent", 1e-6) == choice.share_at("interior", 1e-2) == 1
    assert choice.share_at("tiled", 1e-2) < choice.share_at("ascent", 1e-2) < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("n, k, power", [(1000, 5, 0), (1000, 5, -3), (1000, 20, -3)])
def test_sparse_items_with_many_columns_are_predicted_within_a_factor_of_four(n, k, power):
    """The processor times of hashed items."""
    rng = np.random.default_rng(0)
    entries = rng.normal(size=k * n), (np.repeat(np.arange(n), k), rng.integers(0, 10**6, k * n))
    X, prefs = csr_array(entries, shape=(n, 10**6)), rb.Preferences.from_scores(rng.normal(size=n))
    wide = rb.RankSVMProblem(X, prefs, kernel="linear")
    lam = default_lam(wide) * 10.0**power
    solver = choose_solver(wide, at=lam)
    rb.solve(wide, lam, solver=solver)  # compiles
    start = process_time()
    solution = rb.solve(wide, lam, solver=solver)
    seconds = process_time() - start
    assert solution.certificate.relative_gap <= 1e-6
    assert seconds < 4 * seconds_of(solver.name, work_of(wide, lam))


@pytest.mark.parametrize("is_shipped", [False, True])
@pytest.mark.parametrize("saved, name", [(0.4, "interior"), (0.6, "ascent")])
def test_few_items_go_to_ascent_if_its_code_is_shipped_or_it_saves_much(
    saved, name, is_shipped, monkeypatch
):
    from rankbook.registry import choice

    problem = rb.RankSVMProblem(ITEMS[:40], rb.Preferences.from_scores(GRADES[:40]))
    costs = [("ascent", 1.0, 0), ("interior", 1.0 + saved, 0)]
    monkeypatch.setattr(choice, "costs_of", lambda *asked: costs)
    monkeypatch.setattr(choice, "has_shipped_code", lambda: is_shipped)
    assert choose_solver(problem, at=1.0).name == ("ascent" if is_shipped else name)
