"""Plots: what is drawn is what was computed, on the Axes that were given.

Nothing is left open after an error.
"""

import inspect
import subprocess
import sys
from functools import cache

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.integrate import trapezoid

import rankbook as rb
from rankbook import plots
from rankbook.metrics.pairs import auc
from rankbook.paths.exact import (
    AT_BOUND,
    EVENT,
    FREE,
    INACTIVE,
    RegularizationPath,
    first_sets,
    sets_at,
)
from rankbook.paths.spectral import ManifoldPath
from rankbook.plots import axes as axes_module
from rankbook.plots import items
from rankbook.plots import path as path_plots
from rankbook.preferences.graph import Preferences
from rankbook.problems.label_ranking import LabelRankRLSProblem, LabelRankSVMProblem
from rankbook.problems.ranksvm import RankSVMProblem
from rankbook.problems.svm import MulticlassSVMProblem
from rankbook.registry.solve import solve_path
from rankbook.selection.curve import ValidationCurve, validation_curve

TRIPLES = [
    (8, 1, AT_BOUND, FREE),
    (4, 1, FREE, INACTIVE),
    (2, 0, AT_BOUND, FREE),
    (1, 0, FREE, INACTIVE),
    (1, 2, AT_BOUND, FREE),
]


def by_hand(events, X, prefs, lam_end=0.0, **kernel):
    """A path from a list of events."""
    return RegularizationPath(
        RankSVMProblem(X, prefs, **kernel), np.array(events, dtype=EVENT), "complete", lam_end
    )


@pytest.fixture
def three():
    """Three items on a line, with preferences (1, 0), (2, 0), (2, 1).

    Here w is 4 / lam, 1/2, 2 / lam, 1 with breakpoints 8, 4, 2, 1.
    """
    return by_hand(
        TRIPLES, [[0.0], [1.0], [2.0]], Preferences([1, 2, 2], [0, 0, 1], 3), kernel="linear"
    )


@pytest.fixture
def twins():
    """Two copies of an item, one preferred to the other: nothing ever happens."""
    return by_hand([], [[1.0], [1.0]], Preferences([0], [1], 2), kernel="linear")


@pytest.fixture
def single():
    """One preference on a line, with the only breakpoint at 1."""
    return by_hand(
        [(1, 0, AT_BOUND, FREE)], [[0.0], [1.0]], Preferences([1], [0], 2), kernel="linear"
    )


@pytest.fixture
def plane():
    """Capped down to lam = 0.1 at least.

    f is the same function at every lambda, up to its scale.
    """
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 1.0], 10)
    return by_hand([], rng.normal(size=(20, 2)) / 100, Preferences.from_scores(y), lam_end=0.1), y


@pytest.fixture
def curve():
    return ValidationCurve(
        np.array([np.inf, 7.0, 3.0, 1.0, 0.2, 0.0]),
        np.array([0.5, 0.25, 0.125, 0.3, 0.125]),
        (0.15, 9.0),
    )


@pytest.fixture
def ax():
    return plt.subplots()[1]


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """Every test starts without a figure and changes no style."""
    plt.close("all")
    style = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == style
    plt.close("all")


def calls(path, curve):
    """A call of each function that takes ax."""
    return [
        lambda ax=None: plots.plot_path(path, ax=ax),
        lambda ax=None: plots.plot_path(path, "coef", ax=ax),
        lambda ax=None: plots.plot_sets(path, ax=ax),
        lambda ax=None: plots.plot_validation_curve(curve, ax=ax),
        lambda ax=None: plots.plot_roc([1, 0, 0], [3.0, 1.0, 2.0], ax=ax),
    ]


# Where it is drawn


def test_every_plot_returns_the_axes_it_was_given_and_opens_nothing(three, plane, curve):
    fig, axes = plt.subplots(2, 3)
    other = plt.figure()
    for call, ax in zip(calls(three, curve), axes.ravel()):
        assert call(ax) is ax
    assert plots.plot_decision(plane[0], 1.0, axes=axes[1, 2])[0] is axes[1, 2]
    assert plt.get_fignums() == [fig.number, other.number] and plt.gcf() is other


def test_every_plot_without_axes_opens_one_figure(three, plane, curve):
    for count, call in enumerate(calls(three, curve), start=1):
        assert isinstance(call(), plt.Axes) and len(plt.get_fignums()) == count
    plots.plot_decision(plane[0], [1.0, 2.0], plane[1])
    assert len(plt.get_fignums()) == count + 1


def test_nobody_calls_show(three, plane, curve, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *args, **kwargs: pytest.fail("plt.show was called"))
    for call in calls(three, curve):
        call()
    plots.plot_decision(plane[0], 1.0)


@pytest.mark.filterwarnings("error")
def test_figures_can_be_saved_without_a_warning(three, plane, curve, twins, single, tmp_path):
    for path in (three, twins, single):
        for call in calls(path, curve):
            call()
    plots.plot_decision(plane[0], [1.0, 2.0, 3.0, 4.0, 5.0], plane[1])
    plots.plot_decision(plane[0], 1.0, np.arange(20))
    for number in plt.get_fignums():
        plt.figure(number).savefig(tmp_path / f"{number}.svg")


def boxes(ax):
    """The boxes of an Axes and of its legend, in pixels."""
    ax.figure.canvas.draw()
    return ax.get_window_extent(), ax.get_legend().get_window_extent()


def test_legends_cover_no_data_and_stay_in_the_figure(three, curve):
    for call in calls(three, curve):
        ax = call()
        data, legend = boxes(ax)
        if ax.get_xscale() == "log":  # the lower right of a ROC curve is free
            assert not data.shrunk(0.99, 0.99).overlaps(legend)
        assert ax.figure.bbox.fully_containsx(legend.x1 - 1) and ax.figure.bbox.fully_containsy(
            legend.y1 - 1
        )


# The path


def test_curves_are_those_of_the_path_at_its_breakpoints_and_between(three):
    ax = plots.plot_path(three, n=50)
    assert len(ax.lines) == 4 and {line.get_label() for line in ax.lines[:3]} == {
        r"$1 \succ 0$",
        r"$2 \succ 0$",
        r"$2 \succ 1$",
    }
    for line in ax.lines[:3]:
        lams, drawn = line.get_data()
        k, l = (int(item) for item in line.get_label().strip("$").split(r" \succ "))
        f = np.array([three.predict([[float(k)], [float(l)]], lam) for lam in lams])
        assert np.allclose(drawn, f[:, 0] - f[:, 1], rtol=0, atol=1e-14)
        assert (
            set(three.breakpoints) <= set(lams)
            and lams.max() > 8
            and lams.min() < 1
            and lams.size >= 50
        )
        assert (np.diff(lams) < 0).all()


def test_coefficients_are_those_of_the_path(three):
    ax = plots.plot_path(three, "coef", which=[2, 0])
    assert sorted(line.get_label() for line in ax.lines) == ["0", "2"]
    for line in ax.lines:
        assert np.array_equal(
            line.get_ydata(), [three.coef(lam)[int(line.get_label())] for lam in line.get_xdata()]
        )


def test_a_chosen_curve_has_the_colour_of_its_place_in_the_choice(three):
    colours = [
        {line.get_label(): line.get_color() for line in plots.plot_path(three, "coef", which).lines}
        for which in ([0, 2], [2, 0], None)
    ]
    assert colours[0]["0"] == colours[1]["2"] != colours[0]["2"] == colours[1]["0"]
    drawn = [line.get_color() for line in plots.plot_path(three, "coef").lines]
    assert drawn == list(colours[2].values()) and drawn[0] == colours[0]["0"]


def test_curves_come_in_the_order_in_which_they_end(three):
    ends = [line.get_ydata()[-1] for line in plots.plot_path(three, "coef").lines]
    assert ends == sorted(ends, reverse=True)


def test_lambda_falls_to_the_right_and_all_breakpoints_are_seen(three, curve):
    for ax, lams in (
        (plots.plot_path(three), three.breakpoints),
        (plots.plot_sets(three), three.breakpoints),
        (plots.plot_validation_curve(curve), curve.breaks[1:-1]),
    ):
        left, right = ax.get_xlim()
        assert ax.get_xscale() == "log" and left > lams.max() and 0 < right < lams.min()


def test_a_narrow_range_of_lambda_still_has_legible_labels(single, three):
    three.domain = (3.0, np.inf)
    for ax in (plots.plot_sets(single), plots.plot_sets(three)):
        ax.figure.canvas.draw()
        low, high = sorted(ax.get_xlim())
        shown = [
            label
            for label in (*ax.get_xticklabels(), *ax.get_xticklabels(minor=True))
            if label.get_text() and low <= label.get_position()[0] <= high
        ]
        extents = sorted((box.x0, box.x1) for box in (label.get_window_extent() for label in shown))
        assert len(extents) >= 2 and all(
            left[1] < right[0] for left, right in zip(extents, extents[1:])
        )


def test_a_path_that_ends_early_is_drawn_to_its_end(three):
    three.domain = (0.7, np.inf)
    assert plots.plot_path(three).lines[0].get_xdata()[-1] == 0.7
    assert plots.plot_sets(three).lines[0].get_xdata()[-1] == 0.7


def test_the_default_choice_is_spread_and_can_be_repeated():
    values = np.random.default_rng(1).permutation(100.0 + np.arange(101))
    chosen = path_plots.spread_ranks(values)
    assert np.array_equal(values[chosen], [200, 180, 160, 140, 120, 100])
    assert np.array_equal(chosen, path_plots.spread_ranks(values))


def test_margins_that_differ_have_no_common_line():
    events = [(4, 0, AT_BOUND, FREE)]
    shared = by_hand(
        events, [[0.0], [1.0]], Preferences([1], [0], 2, margin=[0.5]), kernel="linear"
    )
    assert plots.plot_path(shared).lines[-1].get_ydata()[0] == 0.5
    several = by_hand(
        [],
        [[0.0], [1.0], [2.0]],
        Preferences([1, 2], [0, 1], 3, margin=[0.5, 2.0]),
        lam_end=100.0,
        kernel="linear",
    )
    assert len(plots.plot_path(several).lines) == 2


def test_many_curves_have_no_legend(plane):
    ax = plots.plot_path(plane[0], which=np.arange(100))
    assert len(ax.lines) == 101 and ax.get_legend() is None


@pytest.mark.parametrize("count, named", [(12, True), (25, False)])
def test_a_legend_has_up_to_twenty_given_names(plane, count, named):
    names = [f"item {i}" for i in range(plane[0].problem.n_items)]
    legend = plots.plot_path(plane[0], which=np.arange(count), names=names).get_legend()
    assert (legend is not None) == named
    if named:
        assert len(legend.get_texts()) == count and "item" in legend.get_texts()[0].get_text()


def test_long_paths_are_thinned():
    lams = np.geomspace(1e3, 1e-3, 200_000)
    kept = axes_module.thin(lams, 300)
    assert (
        290 <= kept.size <= 300
        and kept[0] == 0
        and kept[-1] == lams.size - 1
        and (np.diff(kept) > 0).all()
    )
    ends = np.r_[1e3, np.full(50, 10.0) - np.arange(50) * 1e-9]  # crowded at one place
    assert axes_module.thin(ends, 20)[[0, -1]].tolist() == [0, 50]


def test_vertical_axis_is_logarithmic_only_far_beyond_the_margin(three):
    assert plots.plot_path(three).get_yscale() == "linear"
    far = by_hand(
        [(1e4, 1, AT_BOUND, INACTIVE)],
        [[0.0], [1.0], [1e2]],
        Preferences([1, 2], [0, 0], 3),
        lam_end=1.0,
        kernel="linear",
    )
    assert plots.plot_path(far).get_yscale() == "symlog"


# The sets


def random_events(m, moves, seed, ties):
    """A legal list of events.

    It has neighbouring sets, decreasing lambda, several at one lambda if asked for.
    """
    rng = np.random.default_rng(seed)
    lams = np.sort(rng.uniform(0.1, 100, moves))[::-1]
    sets, events = np.full(m, AT_BOUND), []
    for lam in np.round(lams) if ties else lams:
        i = rng.integers(m)
        to = FREE if sets[i] != FREE else rng.choice([INACTIVE, AT_BOUND])
        events.append((lam, i, sets[i], to))
        sets[i] = to
    return events


@pytest.mark.parametrize("ties", [False, True])
def test_set_sizes_are_those_counted_at_any_lambda(ties):
    m = 45
    path = by_hand(
        random_events(m, 400, 3, ties),
        np.zeros((10, 1)),
        Preferences.from_scores(np.arange(10)),
        kernel="linear",
    )
    ax = plots.plot_sets(path)
    x, drawn = ax.lines[0].get_xdata(), {line.get_label(): line.get_ydata() for line in ax.lines}
    for lam in np.random.default_rng(4).uniform(0.2, 120, 200):
        counted = np.bincount(
            sets_at(path.events, first_sets(path.problem.prefs), lam), minlength=3
        )
        j = np.flatnonzero(x >= lam)[-1]  # a step holds from its lambda down to the next
        assert [drawn["inactive"][j], drawn["free"][j], drawn["at bound"][j]] == counted.tolist()
    assert all(line.get_drawstyle() == "steps-post" for line in ax.lines)
    assert x.size == path.breakpoints.size + 2 and (sum(drawn.values()) == m).all()


def test_sizes_stay_exact_when_thinned():
    path = by_hand(
        random_events(45, 30_000, 5, False),
        np.zeros((10, 1)),
        Preferences.from_scores(np.arange(10)),
        kernel="linear",
    )
    ax = plots.plot_sets(path)
    x, drawn = ax.lines[0].get_xdata(), np.array([line.get_ydata() for line in ax.lines])
    assert x.size <= 1002 and (drawn.sum(axis=0) == 45).all()
    for j in range(1, x.size - 1, 50):
        counted = np.bincount(
            sets_at(path.events, first_sets(path.problem.prefs), np.nextafter(x[j], 0)), minlength=3
        )
        assert drawn[:, j].tolist() == counted[[INACTIVE, AT_BOUND, FREE]].tolist()


# The validation curve


def test_steps_are_those_of_the_curve(curve):
    ax = plots.plot_validation_curve(curve)
    steps, mark = ax.lines
    x, values = steps.get_data()
    assert steps.get_drawstyle() == "steps-post"
    assert np.array_equal(x[1:-1], curve.breaks[1:-1]) and np.array_equal(
        values, np.r_[curve.values, curve.values[-1]]
    )
    assert np.isfinite(x).all() and x[0] > 7 and 0 < x[-1] < 0.15
    assert mark.get_xdata()[0] == curve.choose() and mark.get_ydata()[0] == 0.125


def test_every_optimal_interval_is_shaded(curve):
    ax = plots.plot_validation_curve(curve)
    shaded = [
        (path.vertices[:, 0].min(), path.vertices[:, 0].max())
        for path in ax.collections[0].get_paths()
    ]
    x = ax.lines[0].get_xdata()
    assert np.allclose(shaded, [(1.0, 3.0), (x[-1], 0.2)])


def test_the_given_lambda_is_marked(curve):
    for lam, value in ((5.0, 0.25), (7.0, 0.25), (1e-3, 0.125), (50.0, 0.5)):
        ax = plots.plot_validation_curve(curve, lam=lam)
        assert ax.lines[1].get_xdata()[0] == lam and ax.lines[1].get_ydata()[0] == value
        left, right = ax.get_xlim()
        assert right <= lam <= left and f"{lam:.3g}" in ax.get_legend().get_texts()[-1].get_text()


@pytest.mark.parametrize("end", [0.0, 0.5])
def test_a_curve_of_one_interval_is_a_straight_line(end):
    ax = plots.plot_validation_curve(
        ValidationCurve(np.array([np.inf, end]), np.array([0.25]), (0.6, 1000.0))
    )
    x, values = ax.lines[0].get_data()
    assert (
        x[0] > 1000 and (x[1] == end if end else 0 < x[1] < 0.6) and values.tolist() == [0.25, 0.25]
    )
    assert len(ax.collections[0].get_paths()) == 1


def test_a_finite_first_break_is_where_the_picture_begins():
    curve = ValidationCurve(np.array([6.0, 3.0, 2.0]), np.array([0.25, 0.5]), (2.0, 6.0))
    assert plots.plot_validation_curve(curve).lines[0].get_xdata().tolist() == [6.0, 3.0, 2.0]


@pytest.mark.parametrize(
    ("metric", "label", "best"),
    [
        ("disagreement", "disagreement", "minimum"),
        ("error", "error", "minimum"),
        ("auc", "AUC", "maximum"),
        ("ndcg", "NDCG", "maximum"),
    ],
)
def test_a_curve_is_labelled_by_what_it_measures(metric, label, best):
    X, y = np.random.default_rng(0).normal(size=(12, 2)), np.arange(12) % 2
    prefs = Preferences.from_scores(y)
    path = solve_path(RankSVMProblem(X, prefs), solver="path")
    curve = validation_curve(path, X, prefs if metric == "disagreement" else y, metric=metric)
    ax = plots.plot_validation_curve(curve)
    assert curve.metric == metric and ax.get_ylabel() == label
    assert ax.get_legend().get_texts()[0].get_text() == best


# The decision function


def test_decision_draws_the_function_at_each_lambda(plane):
    path, y = plane
    axes = plots.plot_decision(path, [1.0, 10.0], y)
    assert len(axes) == 2
    for ax, lam in zip(axes, (1.0, 10.0)):
        filled, line, discs, triangles = ax.collections
        f = path.predict(path.problem.X, lam)
        low, high = filled.levels[[0, -1]]
        assert low <= f.min() and f.max() <= high and len(filled.levels) == 10
        assert np.array_equal(discs.get_offsets(), path.problem.X[y == 1]) and np.array_equal(
            triangles.get_offsets(), path.problem.X[y == 0]
        )
        assert line.levels[0] == items._best_cut(f, y == 1)
        assert f"{lam:.3g}" in ax.get_title()


def test_decision_without_levels_has_points_and_no_line(plane):
    (ax,) = plots.plot_decision(plane[0], 1.0)
    filled, points = ax.collections
    assert np.array_equal(points.get_offsets(), plane[0].problem.X) and not ax.figure.legends
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("$x_1$", "$x_2$")


def test_decision_key_names_the_levels(plane):
    (ax,) = plots.plot_decision(plane[0], 1.0, plane[1])
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["1", "0"]
    (ax,) = plots.plot_decision(plane[0], 1.0, np.arange(20) % 4)
    assert [
        float(text.get_text().split("{")[-1].strip("}$"))
        for text in ax.figure.legends[0].get_texts()
    ] == [0, 1, 2, 3]


def test_a_constant_function_has_no_contours():
    flat = by_hand([], np.ones((2, 2)), Preferences([0], [1], 2))
    (ax,) = plots.plot_decision(flat, 1.0, [1, 0])
    assert len(ax.collections) == 2  # the two levels of points


def test_decision_on_given_axes_leaves_the_figure_alone(plane):
    fig, axes = plt.subplots(2, 2)
    returned = plots.plot_decision(plane[0], [1.0, 2.0, 3.0, 4.0], plane[1], axes=axes)
    assert returned.tolist() == axes.ravel().tolist() and not fig.legends


@pytest.mark.parametrize("count, shape", [(1, (1, 1)), (3, (1, 3)), (4, (2, 2)), (5, (2, 3))])
def test_panels_are_arranged_in_rows(count, shape):
    axes = items._panels(None, count)
    assert (
        axes.shape == (count,)
        and axes[0].get_gridspec().get_geometry() == shape
        and len(axes[0].figure.axes) == count
    )


def test_the_best_cut_makes_the_fewest_mistakes_of_all_cuts():
    rng = np.random.default_rng(2)
    for trial in range(50):
        scores, good = (
            rng.integers(0, 8, 12).astype(float),
            rng.permutation(12) < rng.integers(1, 12),
        )
        cut = items._best_cut(scores, good)
        levels = np.unique(scores)
        mistakes = [np.sum((scores > level) != good) for level in (levels[1:] + levels[:-1]) / 2]
        assert cut not in scores and np.sum((scores > cut) != good) == min(mistakes)


def test_of_equally_good_cuts_the_one_in_the_widest_gap_is_taken():
    good = np.array([False, True, False, True])  # one mistake at the first cut and at the last
    assert items._best_cut(np.array([0.0, 1.0, 9.0, 12.0]), good) == 10.5
    assert items._best_cut(np.array([0.0, 3.0, 9.0, 10.0]), good) == 1.5
    assert items._best_cut(np.ones(3), np.array([True, False, True])) is None


# The ROC curve


def test_roc_goes_through_every_threshold():
    rng = np.random.default_rng(0)
    for grades in (3, 10, 1000):
        scores, y = rng.integers(0, grades, 60).astype(float), rng.permutation(60) < 25
        false, true = plots.plot_roc(y, scores).lines[-1].get_data()
        for threshold, a, b in zip(np.unique(scores)[::-1], false[1:], true[1:]):
            assert np.isclose(a, np.mean(scores[~y] >= threshold)) and np.isclose(
                b, np.mean(scores[y] >= threshold)
            )
        assert false.size == np.unique(scores).size + 1 and (
            false[0],
            true[0],
            false[-1],
            true[-1],
        ) == (0, 0, 1, 1)
        assert np.isclose(trapezoid(true, false), auc(y, scores))


def test_roc_agrees_with_scikit_learn():
    from sklearn.metrics import roc_curve

    rng = np.random.default_rng(1)
    scores, y = rng.integers(0, 9, 80).astype(float), rng.permutation(80) < 30
    false, true, _ = roc_curve(y, scores, drop_intermediate=False)
    drawn = plots.plot_roc(y, scores).lines[-1].get_data()
    assert np.allclose(drawn, [false, true])


def test_roc_of_scores_that_all_tie_is_the_diagonal():
    ax = plots.plot_roc([0, 1, 0, 1, 1, 0], np.full(6, 0.3))
    assert (
        np.array_equal(ax.lines[-1].get_data(), [[0, 1], [0, 1]])
        and "0.500" in ax.get_legend().get_texts()[0].get_text()
    )


def test_roc_of_a_perfect_and_of_a_reversed_order():
    for scores, area in (([2.0, 1.0, 0.0], "1.000"), ([0.0, 1.0, 2.0], "0.000")):
        assert area in plots.plot_roc([5, -1, -1], scores).get_legend().get_texts()[0].get_text()


def test_several_roc_curves_share_an_axes(ax):
    plots.plot_roc([1, 0], [2.0, 1.0], ax)
    plots.plot_roc([1, 0], [1.0, 2.0], ax)
    assert (
        len(ax.get_legend().get_texts()) == 2
        and len({ax.lines[i].get_color() for i in (1, 3)}) == 2
    )


# Degenerate paths


def test_a_path_on_which_nothing_happens(twins):
    margins, coefficients, sets = (
        plots.plot_path(twins),
        plots.plot_path(twins, "coef"),
        plots.plot_sets(twins),
    )
    assert (margins.lines[0].get_ydata() == 0).all()
    assert [line.get_ydata()[0] for line in coefficients.lines] == [0, 0]
    assert {line.get_label(): line.get_ydata().tolist() for line in sets.lines} == {
        "inactive": [0, 0],
        "at bound": [1, 1],
        "free": [0, 0],
    }


def test_a_path_with_one_breakpoint(single):
    lams, drawn = plots.plot_path(single).lines[0].get_data()
    assert np.allclose(drawn, np.minimum(1 / lams, 1)) and 1.0 in lams
    sizes = {line.get_label(): line.get_ydata().tolist() for line in plots.plot_sets(single).lines}
    assert sizes == {"inactive": [0, 0, 0], "at bound": [1, 0, 0], "free": [0, 1, 1]}


# Errors


def refused(call, kind, *words):
    """The call raises this error with these words, and no figure is open after it."""
    with pytest.raises(kind) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert plt.get_fignums() == []


def test_bad_arguments_of_plot_path(three):
    refused(
        lambda: plots.plot_path(three, "margin"),
        ValueError,
        "what is 'margin'",
        "did you mean 'margins'?",
    )
    refused(
        lambda: plots.plot_path(three, which=[0, 3]),
        ValueError,
        "which contains 3",
        "indices of preferences from 0 to 2",
    )
    refused(
        lambda: plots.plot_path(three, "coef", which=[-1]),
        ValueError,
        "which contains -1",
        "indices of items from 0 to 2",
    )
    refused(lambda: plots.plot_path(three, which=[]), ValueError, "which has shape (0,)")
    refused(lambda: plots.plot_path(three, which=[0.5]), ValueError, "which has", "float64")
    for n in (1, 0, 2.5, True):
        refused(
            lambda: plots.plot_path(three, n=n), TypeError if n is True else ValueError, f"n is {n}"
        )


def test_an_array_of_axes_is_refused(three, curve):
    fig = matplotlib.figure.Figure()
    axes = fig.subplots(2)
    for call in (
        lambda: plots.plot_path(three, ax=axes),
        lambda: plots.plot_sets(three, ax=axes),
        lambda: plots.plot_validation_curve(curve, ax=axes),
        lambda: plots.plot_roc([0, 1], [1.0, 2.0], ax=axes),
    ):
        refused(call, TypeError, "ax is an ndarray", "matplotlib Axes")


def test_bad_lambdas_of_a_validation_curve(curve):
    for lam in (0, -1.0, np.nan):
        refused(lambda: plots.plot_validation_curve(curve, lam=lam), ValueError, "lam is")
    short = ValidationCurve(np.array([np.inf, 2.0]), np.array([0.5]), (2.0, 3.0))
    refused(lambda: plots.plot_validation_curve(short, lam=1.0), ValueError, "lam is 1.0")


def test_bad_arguments_of_plot_decision(plane, three):
    path, y = plane
    refused(lambda: plots.plot_decision(three, 1.0), ValueError, "two features", "(3, 1)")
    precomputed = by_hand([], np.eye(2), Preferences([0], [1], 2), kernel="precomputed")
    refused(lambda: plots.plot_decision(precomputed, 1.0), ValueError, "precomputed")
    refused(lambda: plots.plot_decision(path, []), ValueError, "lams is empty")
    refused(lambda: plots.plot_decision(path, [1.0, -1.0]), ValueError, "lams has -1.0 at index 1")
    refused(lambda: plots.plot_decision(path, 0.05), ValueError, "lam is", "0.1")
    refused(lambda: plots.plot_decision(path, 1.0, y[:3]), ValueError, "y has shape (3,)")
    axes = matplotlib.figure.Figure().subplots(2)
    refused(
        lambda: plots.plot_decision(path, [1.0, 2.0, 3.0], axes=axes),
        ValueError,
        "axes has 2 Axes for 3 lambdas",
    )
    refused(
        lambda: plots.plot_decision(path, 1.0, axes="here"),
        TypeError,
        "Pass a matplotlib Axes",
    )


def test_bad_arguments_of_plot_roc():
    refused(lambda: plots.plot_roc([1, 1], [1.0, 2.0]), ValueError, "two different values")
    refused(
        lambda: plots.plot_roc([1, 2, 3], [1.0, 2.0, 3.0]),
        ValueError,
        "3 different values",
        "(y_true, y_score)",
    )
    refused(lambda: plots.plot_roc([1, 0, 1], [1.0, 2.0]), ValueError, "y_score has shape (2,)")
    refused(lambda: plots.plot_roc([1, 0], [1.0, np.nan]), ValueError, "y_score has", "at index 1")


def test_public_functions_are_documented():
    for name in plots.__all__:
        function = getattr(plots, name)
        documented = inspect.getdoc(function)
        assert all(
            f"{parameter} : " in documented for parameter in inspect.signature(function).parameters
        ), name


def test_the_style_of_notebooks_makes_pictures_repeatable():
    """In a process of its own: the style stays for as long as matplotlib does."""
    code = """
import re
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
import rankbook.plots, matplotlib
before = dict(matplotlib.rcParams)
shell.run_line_magic("load_ext", "rankbook.plots.style")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure
figure = Figure()
figure.subplots().plot([1, 2])
draw = lambda: shell.display_formatter.format(figure)[0]["image/svg+xml"]
assert draw() == draw() and "dc:date" not in draw()
assert re.search("stroke: #0072b2", draw()) and dict(matplotlib.rcParams) != before
shell.run_line_magic("reload_ext", "rankbook.plots.style")
shell.run_line_magic("unload_ext", "rankbook.plots.style")
assert dict(matplotlib.rcParams) == before
assert "image/svg+xml" not in shell.display_formatter.format(figure)[0]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# Every kind of path

RNG = np.random.default_rng(0)
X24 = RNG.normal(size=(24, 3))
Y24 = np.digitize(X24[:, 0] + 0.5 * RNG.normal(size=24), [-0.5, 0.5])
PAIRS = Preferences.from_scores(Y24)


def ranking(solver="auto", **options):
    return solve_path(RankSVMProblem(X24, PAIRS, **options), solver=solver)


def rayleigh(**options):
    return rb.RayleighProblem(X24, (Y24 > 0).astype(float), unlabelled=False, **options)


SQUARES = dict(
    rls=lambda: solve_path(rb.RankRLSProblem(X24, Y24)),
    linear_rls=lambda: solve_path(rb.RankRLSProblem(X24, Y24, kernel="linear")),
    columns=lambda: solve_path(rb.RankRLSProblem(X24, np.c_[Y24, X24[:, 1]])),
    basis=lambda: solve_path(rb.RankRLSProblem(X24, Y24, basis=np.arange(6))),
    l1_rls=lambda: solve_path(rb.RankRLSProblem(X24, Y24, kernel="linear", penalty="l1")),
    kronecker=lambda: solve_path(LabelRankRLSProblem(X24, RNG.normal(size=(24, 4)))),
    rayleigh=lambda: solve_path(rayleigh()),
    linear_rayleigh=lambda: solve_path(rayleigh(kernel="linear", n_components=None)),
    manifold=lambda: ManifoldPath(rayleigh(), 1.0),
)
WITHOUT_SETS = dict(
    epsilon=lambda: ranking("epsilon"),
    newton=lambda: ranking("newton", kernel="linear"),
    squared=lambda: ranking("newton", kernel="linear", loss="squared"),
    l1=lambda: ranking(kernel="linear", penalty="l1"),
    l1_squared=lambda: ranking(kernel="linear", penalty="l1", loss="squared"),
)
WITH_SETS = dict(
    path=ranking,
    precomputed=lambda: solve_path(RankSVMProblem(X24 @ X24.T, PAIRS, kernel="precomputed")),
    labels=lambda: solve_path(LabelRankSVMProblem(X24[:8], RNG.normal(size=(8, 3)))),
    svm=lambda: solve_path(rb.SVMProblem(X24, Y24 > 0, kernel="rbf")),
    classes=lambda: solve_path(MulticlassSVMProblem(X24, np.array(["a", "$", "c_1"])[Y24])),
)
KINDS = {name: cache(make) for name, make in (SQUARES | WITHOUT_SETS | WITH_SETS).items()}
SAVED = ("rls", "manifold", "epsilon", "l1", "path", "classes")  # in short runs


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_path_is_drawn_or_refused_by_name(kind, tmp_path, amount):
    path = KINDS[kind]()
    lam = plots.plot_path(path, n=20).lines[0].get_xdata()[7]
    drawn = plots.plot_path(path, "coef", n=20)
    for line in drawn.lines:
        at = line.get_label().replace("\\$", "$").split(", ")
        if kind == "classes":
            at[1] = list(path.problem.classes_).index(at[1])
        at = tuple(map(int, at))
        assert line.get_ydata()[7] == path.coef(lam)[at]
    with pytest.raises(ValueError, match="^which contains 1000. Pass indices of [a-z]+ from 0 to"):
        plots.plot_path(path, "coef", which=[1000])
    if kind in SQUARES:
        refusal = (
            f"^what is 'margins' and path is a {type(path).__name__} of a .*. Pass what='coef'"
        )
        with pytest.raises(TypeError, match=refusal):
            plots.plot_path(path, "margins")
    else:
        margins = plots.plot_path(path, "margins", n=20)
        prefs, f = path.problem.prefs, path.predict(path.problem.X, lam)
        low, high = np.sort(prefs.matvec(f))[[0, -1]]
        for line in margins.lines[:-1]:
            assert low - 1e-9 <= line.get_ydata()[7] <= high + 1e-9
    if kind in WITH_SETS:
        sizes = sum(line.get_ydata() for line in plots.plot_sets(path).lines)
        assert (sizes == len(path.problem.prefs)).all()
    else:
        with pytest.raises(TypeError, match=f"^path is an? {type(path).__name__}, which keeps no"):
            plots.plot_sets(path)
    for number in plt.get_fignums() if kind in amount(SAVED, KINDS) else ():
        plt.figure(number).savefig(tmp_path / f"{number}.png", dpi=20)


def test_margins_of_examples_and_classes_are_those_of_their_scores():
    two, classes = (KINDS[kind]() for kind in ("svm", "classes"))
    for line in plots.plot_path(two, which=np.arange(8), n=5).lines[:-1]:
        i, lams = int(line.get_label()), line.get_xdata()
        sign = 1 if Y24[i] > 0 else -1
        f = np.array([two.predict(X24[[i]], lam)[0] for lam in lams])
        assert np.allclose(line.get_ydata(), sign * f, rtol=0, atol=1e-12)
    names = list(classes.problem.classes_)
    for line in plots.plot_path(classes, which=np.arange(8), n=5).lines[:-1]:
        i, pair = line.get_label().replace("\\$", "$").split(": ")
        a, b = (names.index(name) for name in pair.split(r" $\succ$ "))
        f = np.array([classes.predict(X24[[int(i)]], lam)[0] for lam in line.get_xdata()])
        assert names[a] == np.array(["a", "$", "c_1"])[Y24[int(i)]]
        assert np.allclose(line.get_ydata(), f[:, a] - f[:, b], rtol=0, atol=1e-12)


def test_the_axes_say_what_is_drawn():
    manifold, two = KINDS["manifold"](), KINDS["svm"]()
    assert "manifold weight" in plots.plot_path(manifold).get_xlabel()
    assert plots.plot_path(manifold).get_legend().get_title().get_text() == "component"
    assert plots.plot_path(two).get_legend().get_title().get_text() == "example"
    assert plots.plot_sets(two).get_ylabel() == "examples"
    for kind, name in (("l1", "feature"), ("basis", "basis item"), ("columns", "item, column")):
        legend = plots.plot_path(KINDS[kind](), "coef").get_legend()
        assert legend.get_title().get_text() == name


# Names and labels

LINEAR = dict(
    qp_path=lambda: ranking(kernel="linear"),
    newton=KINDS["newton"],
    epsilon=lambda: ranking("epsilon", kernel="linear"),
    l1=KINDS["l1"],
    l1_squared=KINDS["l1_squared"],
    l1_rls=KINDS["l1_rls"],
    linear_rls=KINDS["linear_rls"],
    linear_rayleigh=KINDS["linear_rayleigh"],
    svm=lambda: solve_path(rb.SVMProblem(X24, Y24 > 0, kernel="linear")),
)


@pytest.mark.parametrize("kind", LINEAR)
def test_weights_are_those_that_predict_and_have_the_names_of_features(kind):
    path, names = LINEAR[kind](), ["size", "_age", "in $"]
    ax = plots.plot_path(path, "weights", n=12, names=names)
    assert ax.get_legend().get_title().get_text() == "feature" and "w" in ax.get_ylabel()
    shown = {text.get_text().replace("\\$", "$") for text in ax.get_legend().get_texts()}
    assert shown <= set(names) and len(shown) == len(ax.lines)
    steps = np.eye(3) - np.zeros((1, 3))
    for line in ax.lines:
        j = names.index(line.get_label().replace("\\$", "$"))
        for lam, drawn in list(zip(*line.get_data()))[::5]:
            at, zero = path.predict(np.array([steps[j], np.zeros(3)]), lam)
            assert drawn == pytest.approx(at - zero, rel=1e-6, abs=1e-9)


def test_an_l1_path_speaks_of_features_unless_asked_for_margins():
    for kind in ("l1", "l1_squared", "l1_rls"):
        assert plots.plot_path(KINDS[kind]()).get_legend().get_title().get_text() == "feature"
    legend = plots.plot_path(KINDS["l1"](), "margins").get_legend()
    assert legend.get_title().get_text() == "preference"


def test_weights_of_other_kernels_are_refused():
    for path in (ranking(), KINDS["rls"](), KINDS["basis"]()):
        with pytest.raises(TypeError, match="^what is 'weights' and path is a .* Pass what='coef'"):
            plots.plot_path(path, "weights")


def test_items_have_the_names_that_are_given_or_those_of_preferences():
    names = [f"item {i}" for i in range(24)]
    path = ranking()
    for line in plots.plot_path(path, n=5, names=names).lines[:-1]:
        a, b = (int(part.strip(" ").split()[1]) for part in line.get_label().split(r"$\succ$"))
        lam, drawn = line.get_xdata()[2], line.get_ydata()[2]
        assert drawn == pytest.approx(np.subtract(*path.predict(X24[[a, b]], lam)), abs=1e-12)
    labels = [line.get_label() for line in plots.plot_path(path, "coef", names=names).lines]
    assert set(labels) <= set(names)
    prefs = Preferences.from_pairs([("m", "s"), ("l", "m")], items=["s", "m", "l"])
    named = solve_path(RankSVMProblem([[0.0], [1.0], [3.0]], prefs))
    labels = {line.get_label() for line in plots.plot_path(named).lines[:-1]}
    assert labels == {r"m $\succ$ s", r"l $\succ$ m"}
    assert {line.get_label() for line in plots.plot_path(named, "coef").lines} <= {"s", "m", "l"}


def test_names_must_be_one_for_each(three, plane):
    items, features = "3 names, one for each item", "2 names, one for each feature"
    refused(lambda: plots.plot_path(three, names=["a"]), ValueError, "names has length 1", items)
    refused(lambda: plots.plot_path(three, "coef", names="abc"), TypeError, "names is a str", items)
    refused(lambda: plots.plot_path(three, "weights", names=["a", "b"]), ValueError, "1 name,")
    refused(lambda: plots.plot_decision(plane[0], 1.0, names=["a"]), ValueError, features)


def test_curves_with_labels_are_told_apart(curve, ax):
    plots.plot_validation_curve(curve, ax, label="one $")
    plots.plot_validation_curve(curve, ax, lam=0.5, label="two")
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [text.partition(":")[0] for text in texts] == [r"one \$", "two"]
    assert "value 0.3" in texts[1]
    colours = [line.get_color() for line in ax.lines]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    ax = plots.plot_roc([1, 0], [2.0, 1.0], label="model")
    assert ax.get_legend().get_texts()[0].get_text() == "model: AUC = 1.000"


def test_decision_names_its_axes(plane):
    axes = plots.plot_decision(plane[0], [1.0, 2.0], names=["size", "in $"])
    assert axes[0].get_xlabel() == axes[1].get_xlabel() == "size"
    assert (axes[0].get_ylabel(), axes[1].get_ylabel()) == (r"in \$", "")


def test_a_pair_is_called_by_name():
    import pandas as pd

    X = pd.DataFrame({"size": [0.0, 1.0, 3.0], "_cost in $": [1.0, 0.0, 0.0]})
    model = rb.RankSVM(kernel="linear").fit(X, [0, 1, 2])
    ax = plots.plot_pair(rb.explain_pair(model, 0, 2), names=["Elm", "Oak"])
    assert ax.get_title() == "Elm is below Oak, proven"
    shown = {text.get_text() for text in ax.get_yticklabels()}
    assert shown == {"size", r"_cost in \$", "f(a) - f(b)"}
    ax = plots.plot_pair(rb.explain_pair(model, 2, 2))
    assert ax.get_title() == "a and b are equal, not proven"
    with pytest.raises(ValueError, match="^names has length 1. Pass 2 names, one for each item"):
        plots.plot_pair(rb.explain_pair(model, 0, 2), names=["Elm"])
