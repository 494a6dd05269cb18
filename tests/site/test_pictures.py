"""Pictures of the site are written shorter, and stay where they are; nothing has to be built."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = ("selection/crossings", "solvers/path/solver", "problems/losses", "kernels/objects")
PATH = re.compile(r'(?<= d=")[^"]*')


@pytest.fixture(scope="module")
def site_tool():
    """tools/site.py, whose name is that of a module of Python."""
    pytest.importorskip("sphinx", reason="sphinx is in `.[site]`")
    spec = importlib.util.spec_from_file_location("site_tool", ROOT / "tools" / "site.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


def places(path):
    """Commands of a path and where they go, whether each place is seen from the one before."""
    here, begin, found = [0.0, 0.0], [0.0, 0.0], []
    for kind, text in re.findall(r"([MLQCzZmlqc])([^A-Za-z]*)", path):
        numbers = [float(x) for x in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", text)]
        size = dict(m=2, l=2, q=4, c=6, z=0)[kind.lower()]
        for i in range(0, max(len(numbers), 1), max(size, 1)):
            some = numbers[i : i + size]
            if kind.islower():
                some = [x + here[k % 2] for k, x in enumerate(some)]
            here = some[-2:] or begin
            begin = here if kind in "Mm" else begin
            found.append((kind.lower(), some))
    return found


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_lines_and_letters_stay_where_they_are(site_tool, chapter):
    notebook = json.loads((ROOT / "nbs" / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    outputs = [o.get("data", {}) for cell in notebook["cells"] for o in cell.get("outputs", [])]
    pictures = ["".join(data["image/svg+xml"]) for data in outputs if "image/svg+xml" in data]
    assert pictures
    for svg in pictures:
        short = site_tool.shorter_picture(svg)
        assert len(short) < len(svg)
        pairs = list(zip(PATH.findall(svg), PATH.findall(short), strict=True))
        for long, brief in pairs:
            was, now = places(long), places(brief)
            assert [kind for kind, _ in was] == [kind for kind, _ in now]
            widest = max((abs(x) for _, xs in was for x in xs), default=0)
            unit = 1 if widest > 1000 else 0.1 if widest > 10 else 0.01
            for (_, before), (_, after) in zip(was, now):
                assert after == pytest.approx(before, abs=1.1 * unit)


def test_marks_keep_their_style_and_names_stay_apart(site_tool):
    svg = '<svg><path id="m1" d="M 0 0 z" style="stroke:#000000"/><path id="m2" d="M 1 0 z"/>'
    svg += (
        '<use href="#m1" x="1" style="stroke:#000000"/><use href="#m1" x="2" style="stroke:red"/>'
    )
    svg += '<use href="#m2" style="stroke:#000000"/><g clip-path="url(#m2)"/></svg>'
    found = site_tool.with_short_names(site_tool.without_repeated_styles(svg))
    assert '<use href="#a" x="1"/>' in found  # the shape has this style
    assert '<use href="#a" x="2" style="stroke:red"/>' in found
    assert '<use href="#b" style="stroke:#000000"/>' in found and "url(#b)" in found
    many = "".join(f'<path id="n{i}"/><use href="#n{i}"/>' for i in range(1000))
    names = re.findall(r'id="(\w+)"', site_tool.with_short_names(many))
    assert len(set(names)) == 1000  # those beyond two letters keep theirs


def test_a_search_shows_whole_words_of_text_and_no_buttons(site_tool):
    before = 'for (const removalQuery of [".headerlink", "script", "style"]) {'
    before += "const text = Search.htmlToText(htmlText, anchor);"
    before += ".map((k) => textLower.indexOf(k.toLowerCase()))"
    before += "Search.makeSearchSummary(data, searchTerms, anchor)"
    after = site_tool.reading_only(before)
    assert ".bd-header-article" in after and "anchor).replace(" in after
    assert "indexOf" not in after and "...highlightTerms" in after
    before = "val.toLowerCase().indexOf(text); node.childNodes.forEach((el) =>"
    after = "findWord(val.toLowerCase(), text); [...node.childNodes].forEach((el) =>"
    assert site_tool.from_words_on(before).endswith(after)
    for change in (site_tool.reading_only, site_tool.from_words_on):
        with pytest.raises(SystemExit, match="in another way"):
            change("nothing of the kind")


def test_words_that_only_references_contain_are_known(site_tool, tmp_path, monkeypatch):
    page = '<article><p>Trees</p><section id="further-reading"><h2>More</h2>A neural tree</section>'
    (tmp_path / "a.html").write_text(f"{page}</article>", encoding="utf-8")
    (tmp_path / "b.html").write_text("<article>neural</article>", encoding="utf-8")
    monkeypatch.setattr(site_tool, "BUILT", tmp_path)
    data = {"docnames": ["a", "b"], "terms": {"neural": [0, 1], "tree": 0, "more": 0}}
    assert site_tool.cited_words(data) == {"a": ["more", "neural"]}


def test_a_picture_has_no_ground_and_says_how_narrow_it_may_be(site_tool):
    svg = '<svg width="440.0pt"><path d="M 0 0 z" style="fill: #ffffff"/>'
    svg += '<g transform="translate(1 2) scale(0.1 -0.1)"></g></svg>'
    assert site_tool.least_width(svg) == 396  # letters of 13.3 pixels on 587 are 9 pixels there
    assert "fill:none" in site_tool.shorter_picture(svg)
    page = site_tool.with_least_widths('<img alt="a" src="../_images/p.svg" />', {"p.svg": 396})
    assert page == '<img alt="a" src="../_images/p.svg" style="--least: 396px" />'
