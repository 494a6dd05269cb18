"""What a path shows of itself, on data that are not nice."""

from xml.dom import minidom

import numpy as np
import pytest

import rankbook as rb


@pytest.fixture(scope="module", params=["complete", "lam_min", "max_events"])
def path(request):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (30, 2)).astype(float)
    prefs = rb.Preferences.from_scores(rng.integers(0, 3, 30)).reweighted(weight=None)
    problem = rb.RankSVMProblem(X, prefs)
    options = dict(
        complete={}, lam_min=dict(lam_min=0.1 * problem.lam_max), max_events=dict(max_events=40)
    )[request.param]
    path = rb.solve_path(problem, **options)
    assert path.status == request.param
    return path


def test_the_frame_tells_the_events(path):
    frame = path.to_frame()
    assert list(frame.columns) == [
        "lam",
        "pair",
        "better",
        "worse",
        "from",
        "to",
        "free",
    ] and len(frame) == len(path.events)
    assert (np.diff(frame["lam"]) <= 0).all() and (frame["from"] != frame["to"]).all()
    prefs = path.problem.prefs
    assert np.array_equal(prefs.better[frame["pair"]], frame["better"]) and np.array_equal(
        prefs.worse[frame["pair"]], frame["worse"]
    )
    before = {}
    for row in (
        frame.itertuples()
    ):  # each preference leaves the set that it entered before, at first "at bound"
        assert before.get(row.pair, "at bound") == row[5]
        before[row.pair] = row.to
        assert row.free == sum(s == "free" for s in before.values())


def test_the_summary_adds_up(path):
    summary = path.summary()
    assert (
        summary["status"] == path.status
        and summary["events"] == len(path.events)
        and summary["lam_end"] == path.domain[0]
    )
    assert (
        summary[["inactive_at_end", "free_at_end", "at_bound_at_end"]].sum()
        == summary["preferences"]
        == len(path.problem.prefs)
    )
    last = path.to_frame()["free"].iloc[-1] if len(path.events) else 0
    assert summary["free_at_end"] == last


def test_the_reason_of_an_early_end_is_in_the_summary(path):
    stopped = rb.solve_path(path.problem, stop=lambda path: True, chunk=10)
    assert stopped.summary()["reason"] == "stop returned true" and "reason" not in path.summary()


def test_the_page_is_well_formed_and_self_contained(path):
    html = path._repr_html_()
    page = minidom.parseString(html)
    assert (
        not page.getElementsByTagName("script")
        and not page.getElementsByTagName("link")
        and "http" not in html
        and "nan" not in html
    )
    frames = [g for g in page.getElementsByTagName("g") if g.getAttribute("class") == "frame"]
    (slider,) = page.getElementsByTagName("input")
    assert int(slider.getAttribute("max")) == len(frames) - 1
    assert [i for i, g in enumerate(frames) if "inline" in g.getAttribute("style")] == [
        int(slider.getAttribute("value"))
    ]
    assert path._repr_html_() == html


def test_the_bars_count_the_preferences_by_weight():
    X = np.arange(6.0)[:, None]
    prefs = rb.Preferences([1, 2, 0], [0, 0, 5], 6, weight=[1.0, 2.0, 0.0], margin=[1.0, 2.0, 1.0])
    path = rb.solve_path(rb.RankSVMProblem(X, prefs, "linear"))
    from rankbook.paths.display import BARS, HIGH, LOW, difference_bars

    bars, wrong = difference_bars(path, 1e-3)
    f = X @ (X.T @ path.coef(1e-3))
    d = (f[[1, 2]] - f[[0, 0]]).ravel() / [1, 2]
    expected = np.histogram(d, bins=np.linspace(LOW, HIGH, BARS + 1), weights=[1, 2])[0] / 3
    assert wrong == 0 and np.allclose(bars, expected)
