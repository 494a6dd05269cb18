"""The slider of lambda in a browser, from a file and without a network; skipped without a browser.

By keyboard it does what Python says, beside another one; with scripts off it is a still picture.
"""

import numpy as np
import pytest

import rankbook as rb
from rankbook.plots.slider import LambdaSlider

RNG = np.random.default_rng(3)
X, NEW = RNG.normal(size=(30, 3)), RNG.normal(size=(9, 3))
STEPS = 1000


@pytest.fixture(scope="module")
def sliders():
    """One with a curve and one without."""
    prefs = rb.Preferences.from_scores(np.arange(30) // 10)
    path = rb.solve_path(rb.RankSVMProblem(X, prefs, gamma=1.0), lam_min=1e-2, solver="path")
    curve = rb.validation_curve(path, NEW, rb.Preferences.from_scores(np.arange(9) % 3))
    names = [f"item {i}" for i in range(9)]
    return LambdaSlider(path, curve, NEW, names), LambdaSlider(path, items=NEW[:4], names=names[:4])


@pytest.fixture(scope="module")
def file(sliders, tmp_path_factory):
    """The address of a page with both."""
    page = tmp_path_factory.mktemp("page") / "page.html"
    body = "<h1>Two</h1>".join(slider._repr_html_() for slider in sliders)
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    page.write_text(f"<!doctype html><title>Sliders</title>{head}{body}", encoding="utf-8")
    return page.as_uri()


@pytest.fixture
def visit(browser, file):
    """Open the page in a window of its own, which may fail in nothing and ask for nothing."""
    opened, faults = [], []

    def open_page(**window):
        tab = browser.new_context(**window).new_page()
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("console", lambda said: said.type == "error" and faults.append(said.text))
        tab.on("request", lambda request: request.url == file or faults.append(request.url))
        tab.goto(file)
        opened.append(tab)
        return tab

    yield open_page
    for tab in opened:
        tab.context.close()
    assert faults == []


def first(tab):
    return tab.locator(".rb-slider").first


def listed(slider):
    return slider.locator(".rb-name").all_inner_texts()


def move_to(tab, step):
    """Move the first slider there by its arrow keys."""
    box = first(tab).locator("input")
    box.focus()
    there = int(box.input_value())
    key = "ArrowRight" if step > there else "ArrowLeft"
    for _ in range(abs(step - there)):
        tab.keyboard.press(key)
    assert box.input_value() == str(step)


def lambda_of(slider, step):
    return slider.high * (slider.low / slider.high) ** (step / STEPS)


def test_keys_move_the_order_the_picture_and_the_words(visit, sliders):
    tab, (slider, _) = visit(reduced_motion="reduce"), sliders
    begin = int(first(tab).locator("input").input_value())
    assert listed(first(tab)) == slider.order(slider.lam)
    before = first(tab).locator("svg").screenshot()
    line = first(tab).locator(".rb-at").first
    x = float(line.get_attribute("x1"))
    move_to(tab, begin + 7)
    assert float(line.get_attribute("x1")) > x
    assert first(tab).locator("svg").screenshot() != before
    tab.keyboard.press("End")
    assert listed(first(tab)) == slider.order(slider.low) != slider.order(slider.lam)
    said = first(tab).locator("input").get_attribute("aria-valuetext")
    assert said.startswith("λ = ") and said.endswith(f"first: {slider.order(slider.low)[0]}")
    first(tab).get_by_role("button").click()
    assert listed(first(tab)) == slider.order(slider.lam)
    assert float(line.get_attribute("x1")) == pytest.approx(x, abs=0.1)


def test_everything_is_what_python_says_at_forty_lambdas(visit, sliders):
    tab, (slider, _) = visit(reduced_motion="reduce"), sliders
    box = first(tab).locator("input")
    begin = int(box.input_value())
    for step in {0, STEPS, *np.linspace(1, STEPS - 1, 38).astype(int).tolist()} - {begin}:
        box.fill(str(step))
        lam = lambda_of(slider, step)
        order = np.argsort(-slider.at(lam), kind="stable")
        assert listed(first(tab)) == [slider.names[i] for i in order]
        rows = first(tab).locator("li").all()
        states = [row.get_attribute("class").replace("rb-row", "").strip() for row in rows]
        for state, a, b in zip(states, order, order[1:]):
            proven, against = slider.proven[a, b], slider.proven[b, a]
            assert state == ("rb-lit" if proven else "rb-against" if against else "")
        value = float(slider.curve.at(lam))
        assert float(first(tab).locator(".rb-value").inner_text()) == pytest.approx(value, rel=1e-2)
        best = first(tab).locator(".rb-mark").is_visible()
        assert best is (abs(value - slider.curve.optimum) <= 1e-12)


def test_several_on_one_page_do_not_meet(visit, sliders):
    tab = visit(reduced_motion="reduce")
    tab.locator("input").nth(1).fill(str(STEPS))
    assert listed(first(tab)) == sliders[0].order(sliders[0].lam)
    assert listed(tab.locator(".rb-slider").nth(1)) == sliders[1].order(sliders[1].low)
    assert tab.locator(".rb-slider").nth(1).locator("svg .rb-steps").count() == 0


def test_rows_glide_unless_motion_is_unwanted(visit):
    for motion, moves in (("no-preference", True), ("reduce", False)):
        tab = visit(reduced_motion=motion)
        first(tab).locator("input").fill(str(STEPS))
        assert (tab.evaluate("document.getAnimations().length") > 0) is moves


def test_with_scripts_off_it_is_a_still_picture(visit, sliders):
    tab = visit(java_script_enabled=False)
    assert listed(first(tab)) == sliders[0].order(sliders[0].lam)
    assert first(tab).locator("svg").bounding_box()["height"] > 100
    assert not first(tab).locator("input").is_visible()
    assert first(tab).locator("noscript").bounding_box()["height"] > 10


@pytest.mark.parametrize("width", [390, 800])
def test_it_fits_into_a_telephone(visit, width):
    tab = visit(viewport={"width": width, "height": 844})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    heads = [first(tab).locator(part).bounding_box() for part in (".rb-list", "svg")]
    assert (heads[1]["y"] > heads[0]["y"] + heads[0]["height"]) is (width == 390)


def test_the_theme_is_that_of_the_page_or_of_the_system(visit):
    ground = "getComputedStyle(document.querySelector('.rb-slider')).backgroundColor"
    colours = {}
    for scheme in ("light", "dark"):
        tab = visit(color_scheme=scheme)
        colours[scheme] = tab.evaluate(ground)
    assert colours["light"] != colours["dark"]
    for theme in ("light", "dark"):  # of the page, whatever the system has
        tab.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        assert tab.evaluate(ground) == colours[theme]


def test_the_thumb_stands_below_the_line(visit, sliders):
    tab = visit(viewport={"width": 800, "height": 700})
    box, at = first(tab).locator("input").bounding_box(), first(tab).locator(".rb-at").first
    for step in (0, STEPS):
        first(tab).locator("input").fill(str(step))
        thumb = box["x"] + 8 + (box["width"] - 16) * step / STEPS
        assert at.bounding_box()["x"] == pytest.approx(thumb, abs=2)


@pytest.mark.slow
def test_jupyterlab_leaves_the_arrow_keys_to_a_slider(sliders):
    for slider in sliders:
        assert 'data-lm-suppress-shortcuts="true"' in slider._repr_html_()
