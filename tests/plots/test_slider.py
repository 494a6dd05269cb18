"""The slider of lambda: its numbers are the path's, and its page is whole, small and the same."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from xml.dom import minidom

import numpy as np
import pytest

import rankbook as rb
from rankbook.plots.slider import LambdaSlider, asset
from rankbook.problems.svm import MulticlassSVMProblem

RNG = np.random.default_rng(3)
X, NEW = RNG.normal(size=(30, 3)), RNG.normal(size=(9, 3))
PREFS = rb.Preferences.from_scores(np.arange(30) // 10)
PREFS_NEW = rb.Preferences.from_scores(np.arange(9) % 3)
NAMES = [f"item {i} & co. <{i}>" for i in range(9)]
PROBLEMS = {
    "path": lambda: rb.RankSVMProblem(X, PREFS, gamma=1.0),
    "epsilon": lambda: rb.RankSVMProblem(X, PREFS, gamma=1.0),
    "newton": lambda: rb.RankSVMProblem(X, PREFS, kernel="linear"),
    "simplex": lambda: rb.RankSVMProblem(X, PREFS, kernel="linear", penalty="l1"),
    "rls": lambda: rb.RankRLSProblem(X, np.arange(30) // 10, gamma=1.0),
}


def solved(solver):
    return rb.solve_path(PROBLEMS[solver](), lam_min=1e-2, solver=solver)


@pytest.fixture(scope="module")
def path():
    return solved("path")


@pytest.fixture(scope="module")
def curve(path):
    return rb.validation_curve(path, NEW, PREFS_NEW)


@pytest.fixture(scope="module")
def slider(path, curve):
    return LambdaSlider(path, curve, NEW, NAMES)


def markup(page):
    """A page without what its scripts and its style hold."""
    return re.sub(r"(<(script|style)[^>]*>).*?(</\2>)", r"\1\3", page, flags=re.S)


def numbers_of(page):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', page)[1])


def deviation(slider, path, items, lams):
    """How far scores are off, in units of the span of the exact ones."""
    exact = np.array([path.predict(items, lam) for lam in lams])
    exact -= exact.mean(axis=1, keepdims=True)
    span = np.ptp(exact, axis=1)
    return np.abs(slider.at(lams) - exact).max(axis=1) / np.where(span > 0, span, 1.0)


# The numbers


@pytest.mark.parametrize("solver", PROBLEMS)
def test_scores_are_the_paths_as_far_as_it_says(solver):
    path = solved(solver)
    slider = LambdaSlider(path, items=NEW)
    lams = np.exp(RNG.uniform(np.log(slider.low), np.log(slider.high), 300))
    assert deviation(slider, path, NEW, slider.lams).max() < 1e-6  # at the nodes
    off = deviation(slider, path, NEW, lams)
    assert np.quantile(off, 0.9) <= slider.error + 1e-6 and slider.lams.size <= 200
    if solver == "path":  # the largest deviation that there is
        assert path.breakpoints.size > 200 and off.max() <= slider.error + 1e-6 < 1e-3


def test_scores_of_a_short_path_are_exact():
    few = rb.Preferences.from_scores(np.arange(6))
    path = rb.solve_path(rb.RankSVMProblem(X[:6], few, gamma=1.0), solver="path")
    slider = LambdaSlider(path, items=NEW)
    lams = np.exp(RNG.uniform(np.log(slider.low), np.log(slider.high), 500))
    assert path.breakpoints.size < 200 and slider.error <= 1e-7
    assert deviation(slider, path, NEW, lams).max() < 1e-6


def test_the_chosen_lambda_is_read_from_the_path_itself(slider, path, curve):
    assert slider.lam == curve.choose()
    assert deviation(slider, path, NEW, np.array([slider.lam])).max() < 1e-6
    f = path.predict(NEW, slider.lam)
    assert slider.order(slider.lam) == [NAMES[i] for i in np.argsort(-f)]


@pytest.mark.parametrize("solver", PROBLEMS)
def test_what_is_proven_holds_by_brute_force(solver):
    path = solved(solver)
    curve = rb.validation_curve(path, NEW, PREFS_NEW)
    slider = LambdaSlider(path, curve, NEW)
    low, high = slider.interval
    lams = np.geomspace(low, high, 402)[1:-1]
    f = np.array([path.predict(NEW, lam) for lam in lams])
    above = (f[:, :, None] > f[:, None, :]).all(axis=0)
    assert not (slider.proven & ~above).any() and (curve.at(lams) == curve.optimum).all()
    if solver == "path":
        assert slider.is_exact and "proven for every λ from" in slider._repr_html_()
        assert np.array_equal(slider.proven, above)
    if solver == "simplex":  # no ball is known
        assert not slider.proven.any()


def test_what_an_approximate_path_proves_the_optimum_keeps():
    problem = PROBLEMS["epsilon"]()
    rough = rb.solve_path(problem, lam_min=1e-2, solver="epsilon", eps=0.1)
    exact = solved("path")
    slider = LambdaSlider(rough, items=NEW, lam=1.0)
    f = np.array([exact.predict(NEW, lam) for lam in np.geomspace(slider.low, slider.high, 200)])
    above = (f[:, :, None] > f[:, None, :]).all(axis=0)
    assert not (slider.proven & ~above).any()
    nearer = rb.solve_path(problem, lam_min=1e-2, solver="epsilon", eps=1e-5)
    nearer = LambdaSlider(nearer, items=NEW, lam=1.0)
    page = nearer._repr_html_()
    assert not nearer.is_exact and nearer.proven.any() and not (nearer.proven & ~above).any()
    assert "proven at nine λ from" in page and "for every" not in page


def test_a_curve_of_many_intervals_is_kept_where_it_matters(path):
    breaks = np.geomspace(500, 0.02, 3000)
    values = np.where(np.arange(3001) == 1700, 0.0, 0.5 + (np.arange(3001) % 5) / 10)
    curve = rb.ValidationCurve(np.r_[np.inf, breaks, 0.01], values, (0.02, 500.0))
    slider = LambdaSlider(path, curve, NEW)
    assert slider.breaks.size <= 602 and set(slider.interval) <= set(slider.breaks)
    assert slider.interval == curve.best[0] and slider.values.min() == 0


def test_items_are_those_of_the_problem_by_default(path):
    slider = LambdaSlider(path, names=[f"n{i}" for i in range(30)])
    order = np.argsort(-path.predict(X, slider.lam), kind="stable")
    assert len(slider.names) == 12 and slider.order(slider.lam)[0] == f"n{order[0]}"
    assert slider.order(slider.lam)[-1] == f"n{order[-1]}"


def test_preferences_bring_their_names():
    pairs = [("Ann", "Bea"), ("Bea", "Cem"), ("Ann", "Cem")]
    prefs = rb.Preferences.from_pairs(pairs)
    path = rb.solve_path(rb.RankSVMProblem(np.eye(3), prefs, kernel="linear"), solver="path")
    assert set(LambdaSlider(path).names) == {"Ann", "Bea", "Cem"}


def test_a_curve_from_cross_validation_goes_with_a_path():
    model = rb.RankSVMCV(gamma=1.0, cv=3, lam_min_ratio=1e-3).fit(X, np.arange(30) // 10)
    path = rb.solve_path(PROBLEMS["path"]())
    slider = LambdaSlider(path, model.curve_, NEW)
    end = max(model.curve_.breaks[-1], path.domain[0])
    assert slider.lam == model.lam_ and (slider.low > end == 0 or slider.low / end - 1 < 1e-8)


# The page


def test_a_page_is_the_same_twice_and_small(slider, path, curve):
    page = slider._repr_html_()
    assert page == slider._repr_html_() == LambdaSlider(path, curve, NEW, NAMES)._repr_html_()
    assert len(page.encode()) < 100_000


def test_the_largest_page_is_bounded():
    X, y = RNG.normal(size=(60, 3)), RNG.normal(size=60)
    path = rb.solve_path(rb.RankSVMProblem(X, rb.Preferences.from_scores(y)), lam_min=1e-3)
    curve = rb.validation_curve(path, X[:24] + 0.1, rb.Preferences.from_scores(y[:24]))
    page = LambdaSlider(path, curve, X[:24], [f"a rather long name {i}" for i in range(24)])
    assert path.breakpoints.size > 1000 and len(page._repr_html_().encode()) < 150_000


class Balance(HTMLParser):
    """Whether every element that is opened is closed in its turn."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_is_well_formed_and_loads_nothing(slider):
    page = slider._repr_html_()
    minidom.parseString(markup(page))
    parser = Balance()
    parser.feed(page)
    assert not parser.open
    assert not any({"id", "src", "href"} & set(attrs) for _, attrs in parser.seen)
    assert not re.search(r"https?:|url\(|@import|fetch\(|import ", page)
    labelled = [attrs for tag, attrs in parser.seen if tag in ("input", "svg") or "role" in attrs]
    assert all(a.get("aria-label") or a.get("role") == "list" for a in labelled)


def test_names_are_text(path):
    names = ["<script>alert(1)</script>", "</script>", *NAMES[2:]]
    body = markup(LambdaSlider(path, items=NEW, names=names)._repr_html_())
    rows = minidom.parseString(body).getElementsByTagName("li")
    spans = [span for row in rows for span in row.getElementsByTagName("span")]
    shown = [s.firstChild.data for s in spans if s.getAttribute("class") == "rb-name"]
    assert sorted(shown) == sorted(names)


def test_without_scripts_it_is_a_picture_at_the_chosen_lambda(slider):
    body = minidom.parseString(markup(slider._repr_html_()))
    rows = body.getElementsByTagName("li")
    assert [slider.names[int(row.getAttribute("data-item"))] for row in rows] == slider.order(
        slider.lam
    )
    assert body.getElementsByTagName("input")[0].getAttribute("hidden")
    assert body.getElementsByTagName("noscript")


def test_a_screen_reader_reads_a_sentence_for_each_item(slider):
    rows = minidom.parseString(markup(slider._repr_html_())).getElementsByTagName("li")
    spans = [row.getElementsByTagName("span") for row in rows]
    read = ["".join(s.firstChild.data for s in some if s.hasChildNodes()) for some in spans]
    order = slider.order(slider.lam)
    places = [slider.names.index(name) for name in order]
    ends = ["", ", proven to rank above the next item", ", proven to rank below the next item"]
    for i, j, name, said in zip(places, places[1:], order, read):
        assert said == name + ends[int(slider.proven[i, j] + 2 * slider.proven[j, i])]
    assert read[-1] == order[-1] and any(said.endswith("next item") for said in read)


def test_the_page_computes_with_the_same_numbers(slider):
    data = numbers_of(slider._repr_html_())
    assert data["lams"] == slider.lams.tolist() and data["scores"] == slider.scores.tolist()
    assert data["breaks"] == slider.breaks.tolist() and data["values"] == slider.values.tolist()
    assert (data["high"], data["low"], data["chosen"]) == (slider.high, slider.low, slider.lam)
    assert all((data["proven"][a][b] == "1") == slider.proven[a, b] for a, b in np.ndindex(9, 9))


def luminance(colour):
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_told_apart(theme):
    pairs = re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", asset("css"))
    colour = {name: luminance(both[theme]) for name, *both in pairs}

    def contrast(a, b):
        dark, light = sorted((colour[a], colour[b]))
        return (light + 0.05) / (dark + 0.05)

    for ink, ground in [("ink", "back"), ("ink", "bar"), ("ink", "shade"), ("faint", "back")]:
        assert contrast(ink, ground) >= 4.5, (ink, ground)
    assert all(contrast(name, "back") >= 3 for name in ("first", "last", "lit"))


def test_script_and_style_are_packed(root, tmp_path):
    build = [sys.executable, "setup.py", "-q", "build", "--build-base", str(tmp_path)]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    packed = tmp_path / "lib" / "rankbook" / "plots"
    for ending in ("css", "js"):
        assert (packed / f"slider.{ending}").read_text(encoding="utf-8").strip() == asset(ending)


# What is refused


@pytest.mark.parametrize(
    "arguments, error, match",
    [
        (dict(curve=3), TypeError, r"^curve is an int. Pass"),
        (dict(items=NEW[:1]), ValueError, r"^items has 1 row. Pass 2 to 24 rows"),
        (dict(items=X), ValueError, r"^items has 30 rows. Pass 2 to 24 rows"),
        (dict(items=NEW[0]), ValueError, r"^items has shape \(3,\). Pass"),
        (dict(items=NEW[:, :2]), ValueError, r"Pass"),
        (dict(items=NEW, names=["a"]), ValueError, r"^names has length 1. Pass 9 names"),
        (dict(items=NEW, names="abcdefghi"), TypeError, r"^names is a str. Pass 9 names"),
        (dict(names=NAMES), ValueError, r"^names has length 9. Pass 30 names"),
        (dict(lam=0), ValueError, r"^lam is 0. Pass"),
        (dict(lam=-1.0), ValueError, r"^lam is -1.0. Pass"),
    ],
)
def test_wrong_arguments(path, arguments, error, match):
    with pytest.raises(error, match=match):
        LambdaSlider(path, **arguments)


def test_a_beginning_below_the_end_of_the_path():
    path = rb.solve_path(PROBLEMS["path"](), lam_min=1.0, solver="path")
    with pytest.raises(ValueError, match="^lam is 0.5. Pass lam > 1.0, where"):
        LambdaSlider(path, items=NEW, lam=0.5)


def test_a_lambda_beyond_the_ends(slider):
    with pytest.raises(ValueError, match=r"^lam is .*. Pass a value from .* to .*"):
        slider.at(2 * slider.high)


def test_a_path_with_several_scores_is_refused():
    problem = MulticlassSVMProblem(X, np.arange(30) // 10, kernel="linear")
    path = rb.solve_path(problem, lam_min=1.0)
    with pytest.raises(TypeError, match=r"^path is a .* Pass a path with a score for each item"):
        LambdaSlider(path, items=NEW)


@pytest.mark.parametrize("lam", [1e-300, 1e-306])
def test_a_tiny_lambda_has_a_slider(lam):
    data = rb.datasets.make_mixture(n_per_class=10)
    path = rb.solve_path(
        rb.RankSVMProblem(data.X, rb.Preferences.from_scores(data.y)), solver="path"
    )
    slider = rb.plots.LambdaSlider(path, items=data.X[::4], lam=lam)
    assert slider.low < slider.lam == lam and np.isfinite(slider.scores).all()
    assert np.isfinite(slider.at(lam)).all() and "NaN" not in slider._repr_html_()
