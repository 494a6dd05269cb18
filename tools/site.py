"""Build the site, _site/, from the notebooks as they are.

    python tools/site.py

What is read, and in which order, is said by nbs/_toc.yml. Sphinx reads a copy in build/site, where
the pages are written that are no notebooks, and where npm (which has to be there) puts MathJax.
Outputs are those stored in the notebooks. A warning is an error.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from html import escape, unescape
from pathlib import Path
from time import perf_counter

import teach

ROOT = Path(__file__).resolve().parents[1]
WORK, SITE, WEBSITE = ROOT / "build" / "site", ROOT / "_site", ROOT / "tools" / "website"
SOURCE, BUILT, NPM = WORK / "source", WORK / "html", WORK / "npm"
MATHJAX = "tex-svg.js"
FIND_WORD = r"""var findWord = (text, word) => {
  const [start, end] = ["(?<![\\p{L}\\p{N}])", "(?![\\p{L}\\p{N}])"];
  const escaped = word.replace(/[.*+\-?^${}()|[\]\\]/g, "\\$&");
  const at = (suffix) => text.search(new RegExp(start + escaped + suffix, "u"));
  const whole = at(end);
  return whole < 0 ? at("") : whole;
};
"""


def settings():
    """The settings of the project."""
    parser = ConfigParser(delimiters=["="])
    parser.read(ROOT / "settings.ini", encoding="utf-8")
    return parser["DEFAULT"]


def repository():
    """Where a file of the repository is looked at."""
    return f"{settings()['git_url']}/blob/{settings()['branch']}"


def fetch_packages():
    """Have npm install what package-lock.json names, unless it is there."""
    NPM.mkdir(parents=True, exist_ok=True)
    lock = (WEBSITE / "package-lock.json").read_text(encoding="utf-8")
    if (NPM / "installed").exists() and (NPM / "installed").read_text(encoding="utf-8") == lock:
        return
    for name in ("package.json", "package-lock.json"):
        shutil.copy(WEBSITE / name, NPM)
    if (npm := shutil.which("npm")) is None:
        raise SystemExit("npm is not there: MathJax comes from its registry")
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    subprocess.run(command, cwd=NPM, check=True)
    (NPM / "installed").write_text(lock, encoding="utf-8")


def write_sources():
    """Copy the notebooks, write the other pages, delete what belongs to neither."""
    from website import pages

    SOURCE.mkdir(parents=True, exist_ok=True)
    names = pages.copy_notebooks(SOURCE) | pages.write(SOURCE, repository())
    for path in SOURCE.rglob("*"):
        if path.is_file() and path.relative_to(SOURCE).as_posix() not in names:
            path.unlink()


def run_sphinx():
    """Read and write all pages, two at a time, into an empty folder."""
    shutil.rmtree(BUILT, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-c", WEBSITE, "-d", WORK / "doctrees"]
    command += ["-E", "-j", "2", "--fail-on-warning", "--keep-going", "--quiet", SOURCE, BUILT]
    if code := subprocess.run(command, cwd=ROOT).returncode:
        raise SystemExit(code)


def finish():
    """Put MathJax beside the pages, leave out what no reader needs, tell a host to serve all."""
    folder = BUILT / "_static" / "mathjax"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(NPM / "node_modules" / "mathjax" / "es5" / MATHJAX, folder)
    shutil.copy(NPM / "node_modules" / "mathjax" / "LICENSE", folder)
    (BUILT / ".nojekyll").touch()
    for pattern in ("*.map", "locales/**/*.*", "*macros.html", "scripts/fontawesome.js"):
        for path in (BUILT / "_static").rglob(pattern):
            path.unlink()
    fill_cards()
    least = {}
    for path in (BUILT / "_images").rglob("*.svg"):
        least[path.name] = least_width(path.read_text(encoding="utf-8"))
        path.write_text(shorter_picture(path.read_text(encoding="utf-8")), encoding="utf-8")
    for path in BUILT.rglob("*.html"):
        page = with_least_widths(path.read_text(encoding="utf-8"), least)
        page = shorter(page if path.name == "search.html" else without_index(page))
        page = with_own_links(page, "../" * len(path.relative_to(BUILT).parts[1:]))
        path.write_text(with_description(page), encoding="utf-8")
    write_map()
    for script, change in (("searchtools", reading_only), ("sphinx_highlight", from_words_on)):
        path = BUILT / "_static" / f"{script}.js"
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    teach.write_sheets(BUILT / "sheets")
    index = BUILT / "searchindex.js"
    index.write_text(with_words(index.read_text(encoding="utf-8")), encoding="utf-8")
    for path in filter(Path.is_file, (BUILT / "_sources").rglob("*")):
        name = path.relative_to(BUILT)
        page = (BUILT / name.relative_to("_sources")).with_suffix(".html")
        if f'{name.as_posix()}"' in page.read_text(encoding="utf-8"):
            path.write_text(without_outputs(path.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            path.unlink()
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.move(BUILT, SITE)


def with_own_links(page, up):
    """A page whose links to the published site lead to the files beside it."""
    home = settings()["site_url"].rstrip("/")
    return re.sub(rf'(<a[^>]*? href="){re.escape(home)}/', rf"\g<1>{up}", page)


def without_index(page):
    """A page without the index of the search, which only the page of the search needs."""
    names = r"(?:searchindex|_static/searchtools|_static/language_data)\.js"
    return re.sub(rf'<script src="(?:\.\./)*{names}[^"]*"></script>', "", page)


def with_description(page):
    """A page whose head describes it by its first sentences, at most 160 letters."""
    article = page.partition("<article")[2].partition("</article>")[0]
    first = next(iter(re.findall(r"<p>(.{40,}?)</p>", article, re.DOTALL)), "")
    plain = re.sub(r"\\\(.*?\\\)", lambda formula: plain_formula(formula[0]), first, flags=re.S)
    text = " ".join(unescape(re.sub(r"<[^>]*>|\\[()\[\]]", "", plain)).split())
    if len(text) > 160:
        text = text[:159].rpartition(" ")[0] + "…"
    if not text:
        return page
    meta = f'<meta name="description" content="{escape(text)}"/>'
    return page.replace("<title>", f"{meta}\n<title>", 1)


def plain_formula(latex):
    """A formula without the commands of LaTeX, for a text that is not typeset."""
    latex = re.sub(r"\\[lr]vert ?", "|", latex.replace(r"\,", "")).replace(r"\top", "T")
    latex = re.sub(r"\\(text|operatorname)|[{}]", "", latex)
    return re.sub(r"\\([A-Za-z]+)", r"\1", latex)


def write_map():
    """Write sitemap.xml, the addresses of all pages for search engines."""
    home = settings()["site_url"].rstrip("/")
    pages = sorted(path.relative_to(BUILT).as_posix() for path in BUILT.rglob("*.html"))
    rows = [f"<url><loc>{home}/{page}</loc></url>" for page in pages if page != "search.html"]
    rows = [row.replace("/index.html<", "/<") for row in rows]
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{space}">\n'
    text += "\n".join(rows) + "\n</urlset>\n"
    (BUILT / "sitemap.xml").write_text(text, encoding="utf-8")


def shorter(page):
    """A page without marks of code that change no colour, and without space between its tags."""
    page = re.sub(r'<span class="[npwo]">([^<]*)</span>', r"\1", page)
    page = re.sub(r'<span class="(\w{1,3})">', r"<span class=\1>", page)
    page = page.replace('<a class="reference internal"', "<a class=reference")
    page = re.sub(r"<script defer src=\S*fontawesome.js\S*></script>", "", page)  # its fonts do
    page = re.sub(r"<span class=pre>([^<]*)</span>", r"\1", page)
    page = re.sub(r' data-bs-(placement="\w+"|toggle="tooltip")', "", page)  # titles do
    page = re.sub(r'<div id="jb-print-docs-body".*?(?=<div id="searchbox">)', "", page, flags=re.S)
    page = re.sub(r"<!--(?!\[).*?-->", "", page, flags=re.S)
    page = re.sub(r'(<meta name="viewport"[^>]*>)(?=.*<meta name="viewport")', "", page, flags=re.S)
    page = re.sub(r'<meta name="docsearch[^>]*>', "", page)  # of a search that is not used
    page = page.replace(" nohighlight", "").replace(" docutils container", "")
    parts = re.split(r"(<(pre|script|style|textarea)\b.*?</\2>)", page, flags=re.DOTALL)
    parts = [part for i, part in enumerate(parts) if i % 3 != 2]  # without names of the tags
    parts[::2] = [re.sub(r"\s*\n\s*", "\n", part) for part in parts[::2]]
    return "".join(parts)


def least_width(svg):
    """The pixels that a picture is wide where its smallest letters have 9; None without letters."""
    sizes = [100 * float(size) for size in re.findall(r"scale\((\S+) -", svg)]
    width = re.search(r'<svg[^>]*width="([\d.]+)pt"', svg)
    return round(9 * float(width[1]) / min(sizes)) if sizes and width else None


def with_least_widths(page, least):
    """A page whose pictures say how narrow they may be shown, which site.css uses on telephones."""

    def told(match):
        width = least.get(match[2])
        return f'{match[1]} style="--least: {width}px"' if width else match[1]

    return re.sub(r'(<img(?![^>]*class)[^>]* src="[^"]*_images/([^"]+)")', told, page)


def shorter_picture(svg):
    """A picture drawn to a tenth of a point, each corner from the one before, with short names.

    It has no white ground, so that it can lie on a dark page.
    """
    svg = svg[svg.index("<svg") :].replace("DejaVuSans", "D").replace("xlink:href=", "href=")
    svg = re.sub(r"(?<![\d.#])(\d\d+\.\d)\d+", r"\1", svg)
    svg = re.sub(r' transform="translate\((\S+) (\S+)\)"/>', r' x="\1" y="\2"/>', svg)
    svg = svg.replace(' y="0"/>', "/>")
    svg = re.sub(r'style="fill: ?#ffffff"', 'style="fill:none"', svg)
    svg = re.sub(r'(?<= d=")[^"]*', corners, svg)
    svg = re.sub(r"<metadata>.*?</metadata>", "", re.sub(r">\s+<", "><", svg), flags=re.S)
    svg = with_short_names(without_repeated_styles(svg))
    return re.sub(r'(?<= style=")[^"]*', lambda s: re.sub(r"([:;]) ", r"\1", s[0]), svg)


def without_repeated_styles(svg):
    """A picture whose marks do not repeat the style of the shape that they show."""
    own = dict(re.findall(r'<path id="([^"]+)"[^>]*? style="([^"]*)"/>', svg))
    repeats = lambda use: own.get(use[2]) == use[3]
    use = r'(<use href="#([^"]+)"[^>]*?) style="([^"]*)"/>'
    return re.sub(use, lambda each: f"{each[1]}/>" if repeats(each) else each[0], svg)


def with_short_names(svg):
    """A picture whose shapes are called a, b, c, ... instead of by names of eleven letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [*letters, *(a + b for a in letters for b in letters)]
    short = dict(zip(dict.fromkeys(re.findall(r'\bid="([^"]+)"', svg)), names))
    name = r'((?:\bid="|href="#|url\(#))([^")]+)'
    return re.sub(name, lambda each: each[1] + short.get(each[2], each[2]), svg)


def corners(path):
    """The commands of a path with each place seen from the one before, if it has simple ones."""
    if not re.fullmatch(r"(?:[MLQC][-\d. ]+|[zZ] ?)+", path[0]):
        return path[0]
    parts = [
        (kind, [float(x) for x in numbers.split()])
        for kind, numbers in re.findall(r"([MLQCzZ])([-\d. ]*)", path[0])
    ]
    widest = max((abs(x) for _, numbers in parts for x in numbers), default=0)
    digits = 0 if widest > 1000 else 1 if widest > 10 else 2  # of letters, of lines, of marks
    here, begin, text, last = [0, 0], [0, 0], "", ""
    for kind, numbers in parts:
        grid = [round(x * 10**digits) for x in numbers]
        steps = [decimal(x - here[i % 2], digits) for i, x in enumerate(grid)]
        here = grid[-2:] or begin
        begin = here if kind == "M" else begin
        text += (" " if kind == last else kind.lower()) + " ".join(steps)
        last = "" if kind in "Mz" else kind
    return text.replace(" -", "-")


def decimal(number, digits):
    """A whole number of tenths, or of hundredths, as a decimal number without useless letters."""
    text = f"{number / 10**digits:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if digits else text
    return re.sub(r"^(-?)0\.", r"\1.", text) if text != "-0" else "0"


def reading_only(search):
    """Sphinx's search, whose excerpts of a page are its text without buttons and without TeX.

    An excerpt surrounds all that was typed, or else its last word, its stem, or a word with it.
    """
    kinds = '".bd-header-article", ".onlyprint", "summary", "footer", ".bd-sidebar-secondary", '
    place = ".map((k) => textLower.indexOf(k.toLowerCase()))"
    changes = {'[".headerlink", ': f'[".headerlink", {kinds}'}
    text = "Search.htmlToText(htmlText, anchor)"
    changes[text] = text + r".replace(/\\[(\\]\\?|\\[)\]]/g, '')"
    changes[place] = ".map((k) => findWord(textLower, k.toLowerCase()))"
    typed = 'new URLSearchParams(location.search).get("q").trim()'
    call = "makeSearchSummary(data, searchTerms, anchor)"
    changes[call] = call.replace("searchTerms", f"[...searchTerms, ...highlightTerms, {typed}]")
    return FIND_WORD + changed(search, changes)


def from_words_on(highlight):
    """Sphinx's marks of what was searched for, which begin where a word begins: no elo in below."""
    changes = {"val.toLowerCase().indexOf(text)": "findWord(val.toLowerCase(), text)"}
    changes["node.childNodes.forEach("] = "[...node.childNodes].forEach("  # marks add to them
    return FIND_WORD + changed(highlight, changes)


def changed(script, changes):
    """A script of Sphinx with each key, which has to occur once, replaced by its value."""
    for before, after in changes.items():
        if script.count(before) != 1:
            raise SystemExit(f"The search of this Sphinx is written in another way: no {before}")
        script = script.replace(before, after)
    return script


def with_words(index):
    """The index of the search, with the words of nbs/_toc.yml that lead to a page."""
    from website import contents

    before, data = index.split("(", 1)
    data = json.loads(data.rstrip("; \n)"))
    toc = contents.table()
    first = {"notebook": toc["root"], "search": toc["search"]}
    for entry in [first, *contents.entries(toc)]:
        place = [data["docnames"].index(contents.page_of(entry)), "", True]
        for word in entry.get("search", ()):
            data["indexentries"].setdefault(word.lower(), []).append(place)
    data["cited"] = cited_words(data)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"{before}({text})"


def cited_words(data):
    """The words of each page that occur in its references only, for scorer.js: {page: [words]}."""
    from sphinx.search.en import SearchEnglish

    language, found = SearchEnglish({}), {}
    section = r'(<section id="(?:further-reading|references)">.*?</section>)'

    def words(html):
        text = unescape(re.sub(r"<[^>]*>", " ", html))
        return {language.stem(word) for word in language.split(text)}

    for name in data["docnames"]:
        html = (BUILT / f"{name}.html").read_text(encoding="utf-8")
        article = html.partition("<article")[2].partition("</article>")[0]
        parts = re.split(section, article, flags=re.DOTALL)
        if len(parts) > 1:
            cited = words(" ".join(parts[1::2])) - words(" ".join(parts[::2]))
            found[name] = sorted(cited & data["terms"].keys())
    return found


def fill_cards():
    """Give each card the first picture of the page that it names, or else the logo."""
    from website import contents

    for path in BUILT.rglob("*.html"):
        up, page = "../" * len(path.relative_to(BUILT).parts[1:]), path.read_text(encoding="utf-8")

        def picture(match):
            shown = (BUILT / f"{match[0]}.html").read_text(encoding="utf-8")
            found = re.search(r'<img[^>]*src="\S*?(_images/[^"]+)"', shown)
            return up + (found[1] if found else "_static/logo.svg")

        filled = re.sub(rf'(?<=class="{contents.CARD}" alt="" src=")[^"]+', picture, page)
        if filled != page:
            path.write_text(filled, encoding="utf-8")


def without_outputs(notebook):
    """A notebook to download and run: what it shows is on its page already."""
    notebook = json.loads(notebook)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return json.dumps(notebook, ensure_ascii=False, separators=(",", ":"))


def report(start):
    """One line: pages, sizes and times."""
    files = [path for path in SITE.rglob("*") if path.is_file()]
    pages = [path for path in files if path.suffix == ".html"]
    largest = max(pages, key=lambda path: path.stat().st_size)
    times = os.times()
    print(
        f"{len(pages)} pages, {sum(p.stat().st_size for p in files) / 1e6:.1f} MB; the largest, "
        f"{largest.relative_to(SITE)}, {largest.stat().st_size / 1e6:.2f} MB; "
        f"{perf_counter() - start:.0f} s, of processor time "
        f"{times.user + times.system + times.children_user + times.children_system:.0f} s"
    )


def main():
    """All of it."""
    if sys.argv[1:]:
        raise SystemExit(f"{__doc__.strip()}\n\nUnknown arguments: {' '.join(sys.argv[1:])}")
    start = perf_counter()
    fetch_packages()
    write_sources()
    run_sphinx()
    finish()
    report(start)


if __name__ == "__main__":
    main()
