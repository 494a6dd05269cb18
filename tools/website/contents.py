"""The table of contents: nbs/_toc.yml as chapters, and the pages that only list others.

An entry names what it is: a `notebook`, a `page` with a card for each chapter below it, a `group`
of chapters without a page, an `api` page that lists names, a `file` at the root of the repository,
the `commands` of the command line, or how to `cite`. The value is where it lies, and so where the
page will be.
"""

import json
import re
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "nbs"
CARD = "card-picture"  # a picture whose source is a page until the site is finished
KINDS = ("notebook", "page", "api", "file", "commands", "cite")


def table(path=NOTEBOOKS / "_toc.yml"):
    """The table of contents, as it is written."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def entries(toc):
    """Every entry that has a page, in order, those below a page after it."""
    return below([entry for part in toc["parts"] for entry in part["chapters"]])


def below(some):
    """Every entry that has a page among `some` and those below them, in order."""
    for entry in some:
        if "group" not in entry:
            yield entry
        yield from below(entry.get("chapters", ()))


def notebooks(toc):
    """The names of all notebooks, in order, the first page included."""
    return [toc["root"], *(entry["notebook"] for entry in entries(toc) if "notebook" in entry)]


def public_names(toc):
    """The names that have a page in the reference, in order."""
    return [name for entry in entries(toc) for name in entry.get("names", ())]


def page_of(entry):
    """Where the page of an entry is, as Sphinx names it."""
    (kind,) = set(KINDS) & set(entry)
    if kind == "file":
        return f"reference/{Path(entry['file']).stem.lower()}"
    return entry[kind]


def title_of(entry):
    """What an entry is called in the sidebar."""
    if "notebook" in entry:
        return head(entry["notebook"])[0]
    if "file" in entry:
        return re.search(r"^# (.*)$", (ROOT / entry["file"]).read_text("utf-8"), re.MULTILINE)[1]
    return entry["group"] if "group" in entry else entry["title"]


def head(name):
    """The title of a notebook, and the line below it or else its first sentence."""
    text = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
    source = "".join(json.loads(text)["cells"][0]["source"])
    title, prose = re.search(r"^# ([^\n]*)(.*)", source, re.MULTILINE | re.DOTALL).groups()
    about = re.search(r"^> (.*)$", prose, re.MULTILINE)
    first = about[1] if about else prose.strip().partition("\n\n")[0].replace("\n", " ")
    first = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", first)  # links to places beside the notebook
    return title, first if about else re.split(r"(?<=[.:?]) ", first)[0]


def tree(pages):
    """A list of pages for Sphinx, in MyST, that nobody sees."""
    return "\n".join(["```{toctree}", ":hidden:", "", *(f"/{page}" for page in pages), "```"])


def first_page_trees(toc):
    """What the first page is given, so that Sphinx knows the order of all pages."""
    return "\n\n".join(tree(map(page_of, top(part["chapters"]))) for part in toc["parts"])


def top(some):
    """The entries that have a page among `some` and in their groups."""
    for entry in some:
        yield from top(entry["chapters"]) if "group" in entry else [entry]


def area(entry, page_of_name):
    """An entry as the sidebar has it: title, page, entries below, and all pages of these."""
    below = [area(each, page_of_name) for each in entry.get("chapters", ())]
    names = [(name.rpartition(".")[2], page_of_name(name)) for name in entry.get("names", ())]
    below += [dict(title=title, page=page, below=[], pages={page}) for title, page in names]
    page = None if "group" in entry else page_of(entry)
    pages = {page}.union(*(each["pages"] for each in below))
    return dict(title=title_of(entry), page=page, below=below, pages=pages)


def number_chapters(book):
    """Number the chapters in the groups of the book, as the sidebar shows them."""
    chapters = [entry for group in book["below"] for entry in group["below"]]
    for number, chapter in enumerate(chapters, 1):
        chapter["number"] = number


def releases(home):
    """The released versions, newest first: each tag of git, and where its notebooks are."""
    command = ["git", "tag", "--list", "v*", "--sort=-version:refname"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return [(tag[1:], f"{home}/blob/{tag}/nbs/index.ipynb") for tag in found.stdout.split()]


def cards(some):
    """A card for each notebook: the first picture of its page, its title and what it is about."""
    lines = ['<div class="cards">', ""]
    for entry in some:
        name = entry["notebook"]
        title, about = head(name)
        lines += [f'- <img class="{CARD}" alt="" src="{name}">', ""]
        lines += [f"  **[{title}](/{name}.ipynb)**", "", f"  {about}", ""]
    return "\n".join([*lines, "</div>"])


def lines(some):
    """A line for each notebook: its title and what it is about."""
    names = [entry["notebook"] for entry in some]
    return "\n".join("- [{1}](/{0}.ipynb): {2}".format(n, *head(n)) for n in names)


def listing(entry, toc):
    """A page of the groups below it, or of the part that it begins.

    Chapters and guides have cards; source notebooks are many, and have lines.
    """
    parts = [f"# {entry['title']}", entry["about"]]
    if "chapters" in entry:
        groups, shown = entry["chapters"], lines
        parts.append(tree(map(page_of, top(groups))))
    else:
        groups, shown = (
            next(p["chapters"][1:] for p in toc["parts"] if entry in p["chapters"]),
            cards,
        )
    for group in groups:
        parts += [f"## {group['group']}", group.get("about", ""), shown(group["chapters"])]
    return "\n\n".join(parts) + "\n"
