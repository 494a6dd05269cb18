"""The files of the site: links lead somewhere, and nothing is large or lives elsewhere."""

import re
from functools import cache
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag

MEGABYTE = 1_000_000


class Reader(HTMLParser):
    """The names of places in a page, what it links to, and what a browser loads with it."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("img", "script", "iframe", "source", "video", "object", "embed"):
            self.loaded += [given[key] for key in ("src", "data") if given.get(key)]
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload", "preconnect"):
            self.loaded.append(given["href"])


@cache
def read(path):
    """A page, read once."""
    return Reader(path)


def test_links_within_the_site_resolve(site, page_name):
    page = site / page_name
    for link in read(page).links + read(page).loaded:
        if re.match(r"[a-z]+:|//", link):
            continue
        target, place = urldefrag(link)
        goal = (page.parent / unquote(target.partition("?")[0])).resolve() if target else page
        goal = goal / "index.html" if goal.is_dir() else goal
        assert goal.is_file(), f"{link} leads nowhere"
        if place and goal.suffix == ".html":
            assert unquote(place) in read(goal).ids, f"{link}: no such place on the page"


def test_nothing_is_loaded_from_another_host(site, page_name):
    foreign = [link for link in read(site / page_name).loaded if re.match(r"https?:|//", link)]
    assert foreign == []


def test_every_page_is_described_and_on_the_map(site, page_name):
    if page_name == "search.html":
        return
    page = (site / page_name).read_text(encoding="utf-8")
    described = re.search(r'<meta name="description" content="([^"]+)"/>', page)[1]
    assert 10 < len(unescape(described)) <= 160
    listed = re.findall(r"<loc>(https://[^<]+)</loc>", (site / "sitemap.xml").read_text("utf-8"))
    shown = page_name.removesuffix("index.html")
    assert sum(address.endswith(f"/rankbook/{shown}") for address in listed) == 1
    assert "searchindex.js" not in page  # only the page of the search loads it


def test_every_page_can_be_reached(site):
    seen, waiting = set(), [site / "index.html"]
    while waiting:
        page = waiting.pop()
        if page in seen or not page.is_file() or page.suffix != ".html":
            continue
        seen.add(page)
        waiting += [(page.parent / urldefrag(link)[0]).resolve() for link in read(page).links]
    pages = set(site.rglob("*.html")) - {site / "search.html"}
    assert pages - seen == set()


def test_the_site_is_small(site, chapters):
    sizes = {path: path.stat().st_size for path in site.rglob("*") if path.is_file()}
    assert sum(sizes.values()) < 35 * MEGABYTE
    assert len(chapters) <= 150  # the source notebooks belong to the reference
    assert max(size for path, size in sizes.items() if path.suffix == ".html") < 1.5 * MEGABYTE


def test_a_chapter_can_be_downloaded_and_opened_elsewhere(site):
    page = (site / "book" / "certificates.html").read_text(encoding="utf-8")
    links = read(site / "book" / "certificates.html").links
    assert any(link.endswith("_sources/book/certificates.ipynb") for link in links)
    assert any(
        "mybinder.org" in link and link.endswith("nbs/book/certificates.ipynb") for link in links
    )
    assert any("colab" in link and link.endswith("nbs/book/certificates.ipynb") for link in links)
    assert "#|" not in re.sub(r"<[^>]*>", "", page), "a directive of nbdev is shown"


def test_a_course_has_slides_and_sheets_beside_its_plan(site):
    links = read(site / "guides" / "teach.html").links
    assert "../book/ranking_svm.html?slides" in links and "../sheets/lab.ipynb" in links
    sheets = [link for link in links if re.fullmatch(r"\.\./sheets/session_\d+\.zip", link)]
    assert len(sheets) == 12
    for page, shown in (("book/ranking_svm", True), ("reference/rankbook.RankSVM", False)):
        assert any("?slides" in link for link in read(site / f"{page}.html").links) == shown


def test_a_name_in_prose_leads_to_the_reference(site):
    links = read(site / "preferences" / "graph.html").links
    assert "../reference/rankbook.Preferences.html#rankbook.Preferences" in links
    back = read(site / "reference" / "rankbook.Preferences.html").links
    assert "../preferences/graph.html" in back


def test_a_reference_in_a_docstring_is_a_link_or_plain_code(site):
    plain = re.compile(r'(?<!">)<code class="xref[^>]*>.{0,80}')
    pages = (site / "reference").glob("*.html")
    found = {page.name: plain.findall(page.read_text(encoding="utf-8")) for page in pages}
    assert {name: hits for name, hits in found.items() if hits} == {}
    links = read(site / "reference" / "rankbook.RankSVM.html").links
    assert "../problems/scale.html" in links
