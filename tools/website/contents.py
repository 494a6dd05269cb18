"""The table of contents: nbs/_toc.yml as chapters, and the pages that only list others.

An entry names what it is: a `notebook`, the `page` that lists all chapters, an `api` page that
lists names, a `file` at the root of the repository, the `commands` of the command line, or how to
`cite`. The value is where it lies, and so where the page will be.
"""

import json
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "nbs"
KINDS = ("notebook", "page", "api", "file", "commands", "cite")


def table(path=NOTEBOOKS / "_toc.yml"):
    """The table of contents, as it is written."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def entries(toc):
    """Every entry, in order, those below a page after it."""
    waiting = [entry for part in toc["parts"] for entry in part["chapters"]]
    while waiting:
        entry = waiting.pop(0)
        yield entry
        waiting = [*entry.get("chapters", ()), *waiting]


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


def head(name):
    """The title and the line below it of a notebook."""
    text = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
    source = "".join(json.loads(text)["cells"][0]["source"])
    title = re.search(r"^# (.*)$", source, re.MULTILINE)[1]
    about = re.search(r"^> (.*)$", source, re.MULTILINE)
    return title, about[1] if about else ""


def tree(pages, *options):
    """A list of pages for the sidebar, in MyST."""
    return "\n".join(["```{toctree}", *options, "", *(f"/{page}" for page in pages), "```"])


def first_page_trees(toc):
    """What the first page is given, so that the sidebar has all parts."""
    return "\n\n".join(
        tree(map(page_of, part["chapters"]), ":hidden:", f":caption: {part['caption']}")
        for part in toc["parts"]
    )


def chapters(entry):
    """The chapters of a part of the book, each with the line below its title."""
    names = [chapter["notebook"] for chapter in entry["chapters"]]
    return "\n".join("- [{1}](/{0}.ipynb): {2}".format(n, *head(n)) for n in names)


def opened(entry, notebook):
    """A notebook that opens a part of the book, with the list of its chapters below."""
    names = [chapter["notebook"] for chapter in entry["chapters"]]
    text = f"## Chapters\n\n{chapters(entry)}\n\n{tree(names, ':hidden:')}"
    notebook["cells"].append(dict(cell_type="markdown", id="chapters", metadata={}, source=text))
    return notebook


def listing(entry, toc):
    """The page of all chapters, part by part."""
    lines = [f"# {entry['title']}", entry["about"]]
    for part in entries(toc):
        if "notebook" in part and "chapters" in part:
            lines.append("## [{1}](/{0}.ipynb)".format(part["notebook"], head(part["notebook"])[0]))
            lines.append(chapters(part))
    return "\n\n".join(lines) + "\n"
