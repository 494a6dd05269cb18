"""What a reader's browser makes of the pages, in light and dark, wide and narrow."""

import re

import pytest

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
RULES = ["color-contrast", "image-alt", "svg-img-alt", "role-img-alt"]
# Text outside code, mathematics included only where it was not typeset.
PROSE = """() => {
  const copy = document.querySelector("article").cloneNode(true);
  copy.querySelectorAll("pre, code, script, style, mjx-container").forEach(e => e.remove());
  return copy.textContent;
}"""
LOOK = """async ([theme, rules]) => {
  document.documentElement.dataset.theme = theme;
  document.documentElement.dataset.mode = theme;
  // Of mathematics and code, one piece of each colour is enough.
  document.querySelectorAll("article mjx-container").forEach((piece, i) => i && piece.remove());
  const seen = new Set();
  const kind = piece => piece.className + piece.closest("[class*=highlight-]")?.className;
  const first = piece => !seen.has(kind(piece)) && seen.add(kind(piece));
  document.querySelectorAll("pre span[class]").forEach(piece => first(piece) || piece.remove());
  document.querySelectorAll("pre").forEach(block => {
    const empty = !block.querySelector("span[class]");
    first(block) || (empty && block.closest(".highlight")?.remove());
  });
  const found = await axe.run(document, {runOnly: rules, resultTypes: ["violations"]});
  return found.violations.flatMap(v => v.nodes.map(n => `${v.id}: ${n.html.slice(0, 200)} `
    + n.any.map(check => check.message).join(" ")));
}"""


# Blocks of the article that scroll sideways or stick out; what is folded is looked at, too.
WIDE = """() => {
  document.querySelectorAll("article details").forEach(each => (each.open = true));
  const wide = each => each.clientWidth && each.scrollWidth > each.clientWidth + 1
    || each.getBoundingClientRect().right > innerWidth;
  return [...document.querySelectorAll("article :is(pre, table, .output, .cell_output, img, svg)")]
    .filter(wide)
    .map(each => `${each.tagName} ${each.scrollWidth}: ${each.textContent.slice(0, 80)}`);
}"""
# Pixels of the smallest letters of pictures: site.py has written down at which width it is 9.
LETTERS = """() => [...document.querySelectorAll("article img[style*='--least']")].map(each =>
  9 * each.getBoundingClientRect().width / parseFloat(each.style.getPropertyValue("--least")))"""
# Pictures that scroll sideways although the article is as wide as they need.
SCROLLED = """() => [...document.querySelectorAll("article .cell_output img[style*='--least']")]
  .filter(each => parseFloat(each.style.getPropertyValue("--least"))
    <= each.closest("section").clientWidth && each.getClientRects().length)
  .filter(each => (box => box.scrollWidth > box.clientWidth + 1)(each.closest(".cell_output")))
  .map(each => each.alt)"""
SEARCHES = {
    "Pass reciprocal rank": "measuring",
    "save a model": "save_and_load",
    "GridSearchCV": "pipelines",
    "feature importance": "data_frames|explain_pair",
    "install": "index",
    "NDCG": "measuring|ndcg",
    "choose lambda": "choosing_lambda",
    "LETOR": "from_svm_rank",
    "pandas": "data_frames",
    "cite": "cite",
    "write a solver": "write_a_solver",
    "large data": "large_data",
    "command line": "command_line",
    "clicks": "guides/clicks",
    "Bradley-Terry": "probabilities|thurstone|leaderboard",
    "pipeline": "pipelines",
    "sparse": "large_data|few_features",
    "cross-validation": "choosing_lambda|optimism|pipelines",
    "kernel": "kernels|many_kernels",
    "certificate": "book/certificates",
    "label ranking": "new_users_new_items",
    "Plackett-Luce": "probabilities|plackett_luce|leaderboard",
    "leaderboard": "leaderboard",
    "online learning": "streams",
    "LightGBM": "from_lightgbm",
    "confidence interval": "metrics/compare|metrics.interval",
    "calibration": "calibrat",
    "custom loss": "own_loss",
    "ranking SVM": "ranking_svm|ranksvm",
    "active learning": "asking",
    "glossary": "faq",
    "GPU": "alternatives",
    "ties": "guides/leaderboard",
    "neural": "listwise",
    "elo": "ratings_over_time",
    "learning to rank": "index",
}
FIRST = {
    "counterfactual": "book/counterfactual",
    "reward model": "guides/reward_models",
    "learning to rank": "book/first_ranking",
    "censored": "survival",
    "ties": "book/measuring|faq",
    "GPU": "guides/fit",
    "neural": "guides/reward_models|guides/fit",
    "survival": "book/survival",
    "incomplete judgments": "book/(measuring|judg|incomplete)",
}


@pytest.fixture
def tab(context):
    """A tab that collects what goes wrong, and lets nothing out to other hosts."""
    tab = context.new_page()
    tab.faults, tab.foreign = [], []
    tab.on("console", lambda said: said.type == "error" and tab.faults.append(said.text))
    tab.on("pageerror", lambda error: tab.faults.append(str(error)))
    tab.on("requestfailed", lambda request: tab.faults.append(f"failed: {request.url}"))
    tab.on(
        "response", lambda got: got.status >= 400 and tab.faults.append(f"{got.status} {got.url}")
    )
    tab.on(
        "request",
        lambda request: (
            re.match(r"https?://(?!127\.0\.0\.1[:/])", request.url)
            and tab.foreign.append(request.url)
        ),
    )
    yield tab
    tab.close()


def typeset(tab):
    """Wait until mathematics, if there is any, is drawn."""
    tab.evaluate("() => window.MathJax?.startup?.promise")


def test_a_page_is_sound(tab, address, page_shown):
    tab.set_viewport_size(DESK)
    tab.goto(address + page_shown, wait_until="load")
    typeset(tab)
    assert tab.faults == [] and tab.foreign == []
    if page_shown != "search.html":
        assert "$" not in tab.evaluate(PROSE), "mathematics that was not read"
    assert tab.locator("mjx-merror, [data-mjx-error]").count() == 0, "mathematics with an error"
    assert tab.evaluate(WIDE) == [], "scrolls sideways"
    copied = tab.locator("article div:not(.output) > .highlight").count()
    assert tab.locator("article div:not(.output) > .highlight > button.copy").count() == copied
    tab.set_viewport_size(PHONE)
    assert all(letters > 8.9 for letters in tab.evaluate(LETTERS))
    assert tab.evaluate(SCROLLED) == [], "scrolls sideways on a telephone"
    width = tab.evaluate("() => document.scrollingElement.scrollWidth")
    assert width <= PHONE["width"], f"{width} wide on a telephone"
    tab.set_viewport_size(DESK)
    for theme in ("light", "dark"):
        assert tab.evaluate(LOOK, [theme, RULES]) == [], theme
    assert tab.faults == [] and tab.foreign == []


def test_search_finds_what_a_chapter_is_about(tab, address):
    tab.goto(f"{address}search.html?q=star+graph")
    found = tab.locator("#search-results li a").filter(has_text="Preference graphs")
    found.first.wait_for(timeout=20_000)
    assert "preferences/graph.html" in found.first.get_attribute("href")
    assert tab.faults == [] and tab.foreign == []


def found_by(tab, address, words):
    """The pages that a search finds, best first."""
    tab.goto(f"{address}search.html?q={words.replace(' ', '+')}")
    tab.wait_for_function(
        "() => /finished|did not match/.test(document.querySelector('.search-summary')?.innerText)",
        timeout=20_000,
    )
    links = tab.locator("#search-results ul.search > li > a")
    return [link.partition("?")[0] for link in links.evaluate_all("all => all.map(a => a.href)")]


@pytest.mark.parametrize("words", SEARCHES)
def test_a_search_finds_its_page_among_the_first_three(tab, address, words):
    found = found_by(tab, address, words)[:3]
    assert any(re.search(SEARCHES[words], page) for page in found), found


@pytest.mark.parametrize("words", FIRST)
def test_a_search_finds_its_page_first(tab, address, words):
    found = found_by(tab, address, words)
    assert re.search(FIRST[words], found[0]), found[:3]


def test_a_search_fits_on_a_telephone(tab, address):
    tab.set_viewport_size(PHONE)
    found_by(tab, address, "preferences")
    tab.locator("#search-results p.context").first.wait_for()
    assert tab.evaluate("() => document.scrollingElement.scrollWidth") <= PHONE["width"]


def test_a_search_shows_excerpts_of_text_beside_an_icon(tab, address):
    found_by(tab, address, "ranking")
    tab.locator("#search-results p.context").first.wait_for()
    excerpts = " ".join(tab.locator("#search-results p.context").all_inner_texts())
    assert not re.search(r"Show the|\\\\\(|Binder|Copy(?! )", excerpts)
    icon = tab.locator(".bd-search-container .bd-search > i").bounding_box()
    padding = tab.locator(".bd-search-container .bd-search > input").evaluate(
        "each => each.getBoundingClientRect().left + parseFloat(getComputedStyle(each).paddingLeft)"
    )
    assert icon["x"] + icon["width"] < padding


def test_a_search_marks_words_from_their_beginning(tab, address):
    found_by(tab, address, "elo")
    tab.locator("#search-results .highlighted").first.wait_for()
    shown = tab.locator("#search-results").inner_html()
    assert not re.search(r'\w<span class="highlighted">', shown)
    assert re.search(r'<span class="highlighted">[Ee]lo</span>', shown)


def test_a_block_of_code_is_copied(tab, address):
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.goto(f"{address}index.html")
    block = tab.locator("div.highlight", has_text="pip install").first
    block.hover()
    block.locator("button.copy").click()
    assert (
        tab.evaluate("() => navigator.clipboard.readText()")
        == 'pip install "rankbook[all] @ git+https://github.com/rankbook/rankbook"'
    )


def test_a_chapter_is_shown_as_slides(tab, address):
    tab.set_viewport_size(DESK)
    tab.goto(f"{address}book/ranking_svm.html?slides", wait_until="load")
    slide = tab.locator(".slide.shown")
    slide.wait_for()
    assert slide.count() == 1 and slide.locator("h1").is_visible()
    assert not tab.locator(".bd-sidebar-primary").is_visible()
    place = tab.locator(".slides-bar output")
    last = int(place.inner_text().partition(" / ")[2])
    headings = set()
    for number in range(1, last + 1):
        assert place.inner_text() == f"{number} / {last}"
        assert slide.inner_text().strip() and "Show the" not in slide.inner_text()
        headings |= set(slide.locator("h1, h2, h3").all_inner_texts())
        tab.keyboard.press("ArrowRight")
    assert {"The objective", "Exercises"} <= headings and last > len(headings)
    assert place.inner_text() == f"{last} / {last}" and tab.url.endswith(f"?slides#{last}")
    assert tab.locator("article :is(details:not(.hide), .tag_solution)").count() == 0
    assert tab.locator("article mjx-container").count() > 3
    copies = tab.locator(".slide > img.again").evaluate_all("all => all.map(each => each.src)")
    shown = tab.locator(".cell_output img").evaluate_all("all => all.map(each => each.src)")
    assert copies and set(copies) <= set(shown)
    tab.keyboard.press("Escape")
    tab.wait_for_url("**/ranking_svm.html")
    assert tab.locator("article summary", has_text="Solution").first.is_visible()
    assert tab.faults == [] and tab.foreign == []


def test_implementations_are_folded(tab, address):
    tab.goto(f"{address}problems/certificate.html")
    summary = tab.locator(
        "article details.hide > summary", has_text="Show the implementation"
    ).first
    code = summary.locator("xpath=..").locator("pre")
    assert not code.is_visible()
    summary.focus()
    tab.keyboard.press("Enter")
    assert code.is_visible() and summary.inner_text() == "Hide the implementation"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_reader_chooses_light_or_dark(tab, address, theme):
    tab.goto(f"{address}index.html")
    tab.locator("button.theme-switch-button:visible").click()
    tab.locator(f"button.theme-change-button[data-mode={theme}]").click()
    assert tab.evaluate("() => document.documentElement.dataset.theme") == theme
    tab.goto(f"{address}guides/football.html")
    assert tab.evaluate("() => document.documentElement.dataset.theme") == theme
    tab.evaluate("() => localStorage.clear()")


def test_groups_of_the_sidebar_fold_and_open_by_keyboard(tab, address):
    links = tab.locator(".bd-sidebar-primary nav a:visible")
    tab.set_viewport_size(DESK)
    tab.goto(f"{address}guides/football.html")
    sidebar = tab.locator(".bd-sidebar-primary")
    assert sidebar.locator("nav details[open] > summary").all_inner_texts() == ["Votes and matches"]
    assert links.count() < 12
    guides = sidebar.locator(".caption-text", has_text="Guides")
    assert guides.bounding_box()["y"] < DESK["height"] / 2
    sidebar.locator("nav summary", has_text="Models").focus()
    tab.keyboard.press("Enter")
    kernels = sidebar.locator("nav a", has_text="Kernels").first
    assert kernels.is_visible() and kernels.get_attribute("data-n")
    before = links.count()
    sidebar.locator("summary", has_text="Reference").click()
    assert before + 10 < links.count() < before + 40
    captions = tab.locator(".bd-sidebar-primary .caption-text").all_inner_texts()
    assert captions == ["Book", "Guides", "Reference"]


def test_the_sidebar_leads_to_the_glossary_and_names_the_version(tab, address):
    tab.goto(f"{address}index.html")
    menu = tab.locator(".bd-sidebar-primary .versions")
    assert not menu.locator("li").first.is_visible()
    menu.locator("summary").click()
    assert "this site" in menu.locator("li").first.inner_text()
    tab.locator(".bd-sidebar-primary a", has_text="Questions and glossary").last.click()
    tab.wait_for_url("**/reference/faq.html")


def test_the_sidebar_opens_the_package_of_a_source_notebook(tab, address):
    tab.goto(f"{address}preferences/graph.html")
    links = tab.locator(".bd-sidebar-primary nav a:visible").all_inner_texts()
    assert (
        "Sums over preferences" in links and "Metrics" in links and "Metrics of pairs" not in links
    )


def test_one_goes_on_to_the_next_chapter(tab, address):
    tab.goto(f"{address}book/contents.html")
    tab.locator("a.right-next").click()
    tab.wait_for_url("**/first_ranking.html")


def test_the_reference_begins_with_an_example_and_typesets_formulas(tab, address):
    tab.goto(f"{address}reference/rankbook.RankSVM.html")
    typeset(tab)
    example = tab.locator("article .highlight").first.bounding_box()
    parameters = tab.locator("article dt", has_text="Parameters").first.bounding_box()
    assert example["y"] < parameters["y"]
    assert tab.locator("article mjx-container").count() > 3
    tab.set_viewport_size(PHONE)
    assert tab.evaluate("() => document.scrollingElement.scrollWidth") <= PHONE["width"]
