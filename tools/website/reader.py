"""Read a notebook as the site shows it; the file stays as it is.

Directives of nbdev become tags of cells and disappear from the code, pictures get a text for those
who do not see them, a chapter says which module it becomes, and links to files of the repository
lead to their pages.
"""

import ast
import re

import nbformat
from website import reference

DIRECTIVE = re.compile(r"^#\|\s*(\S+)[^\n]*\n?", re.MULTILINE)
TAGS = {
    "default_exp": "remove-cell",
    "hide": "remove-cell",
    "hide_input": "remove-input",
    "hide_output": "remove-output",
}
LABELS = ("set_title", "set_xlabel", "set_ylabel", "suptitle", "title", "xlabel", "ylabel")
PAGES = {
    "_toc.yml": "book/contents",
    "../ALTERNATIVES.md": "reference/alternatives",
    "../FAQ.md": "reference/faq",
    "../CITATION.cff": "reference/cite",
    "../CHANGELOG.md": "reference/changelog",
    "../ARCHITECTURE.md": "reference/architecture",
    "../CONTRIBUTING.md": "reference/contributing",
    "../SECURITY.md": "reference/security",
}
LONG = 12  # lines of code
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
ANCHOR = re.compile(r"(\]\([^)\s]*#)([^)\s]+)\)")


def read(text, repository):
    """The notebook in `text`, for MyST-NB; links to other files go to `repository`."""
    notebook = nbformat.reads(text, as_version=4)
    named = re.search(r"^#\|\s*default_exp\s+(\S+)", sources(notebook), re.MULTILINE)
    module, heading, texts = named and named[1], "", 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            texts += 1
            cell.source = with_links(cell.source, repository)
            heading = (re.findall(r"^#+ (.*)$", cell.source, re.MULTILINE) or [heading])[-1]
        elif cell.cell_type == "code":
            exported = read_directives(cell)
            describe_pictures(cell, heading)
            fold(cell, exported, at_head=texts == 1 and module)
    if module:
        first = notebook.cells[0]
        first.source += "\n\n" + reference.of_module(module)
    return notebook


def sources(notebook):
    """All code of a notebook."""
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")


def read_directives(cell):
    """Turn the directives of a cell of code into tags; return whether it is exported."""
    tags = cell.metadata.setdefault("tags", [])
    directives = DIRECTIVE.findall(cell.source)
    for directive in directives:
        if (tag := TAGS.get(directive)) and tag not in tags:
            tags.append(tag)
    cell.source = DIRECTIVE.sub("", cell.source)
    return "export" in directives


def labels(source):
    """What a cell of code writes on its pictures: titles and names of axes."""
    for node in ast.walk(ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.MULTILINE))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", "")
        values = node.args[:1] if name in LABELS else []
        values += [word.value for word in node.keywords if word.arg in LABELS]
        for value in values:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.value


def has_pictures(cell):
    """Whether a cell of code shows a picture."""
    return any("image" in kind for output in cell.outputs for kind in output.get("data", {}))


def fold(cell, exported, at_head):
    """Fold the implementation, solutions of exercises, and long code of a picture.

    Code of a picture stays open if it defines what is used later, unless it is at the head.
    """
    defines = re.search(r"^(def|class) ", cell.source, re.MULTILINE)
    long = len(cell.source.strip().splitlines()) > LONG
    if "solution" in cell.metadata.tags:
        tag, prompt = "hide-cell", "Show the code of the solution"
    elif exported:
        tag, prompt = "hide-input", "Show the implementation"
    elif "hide-input" in cell.metadata.tags or (
        long and (at_head or (has_pictures(cell) and not defines))
    ):
        tag, prompt = "hide-input", "Show the code"
    else:
        return
    if tag not in cell.metadata.tags:
        cell.metadata.tags.append(tag)
    shown = {"code_prompt_show": prompt, "code_prompt_hide": prompt.replace("Show", "Hide")}
    cell.metadata.setdefault("mystnb", {}).update(shown)


def describe_pictures(cell, heading):
    """Give the pictures of a cell a text: what they are about, and what is written on them."""
    if has_pictures(cell):
        said = [re.sub(r"[$\\{}`*]", "", text) for text in [heading, *labels(cell.source)]]
        picture = {"alt": "Picture: " + "; ".join(dict.fromkeys(said))}
        cell.metadata.setdefault("mystnb", {})["image"] = picture


def with_links(source, repository):
    """Prose with links to files at the root turned to their pages, or to the repository."""

    def target(match):
        name = re.sub(r"^(\.\./)+", "../", match[1])
        if name in PAGES:
            return f"](/{PAGES[name]})"
        return f"]({repository}/{name.removeprefix('../')})"

    parts = FENCE.split(source)
    for i, part in enumerate(parts[::2]):
        part = re.sub(
            r"\]\((_toc\.yml|(?:\.\./)+(?:[A-Z]+(?:\.[a-z]+)?|rankbook/[\w/]+\.py))\)", target, part
        )
        parts[2 * i] = ANCHOR.sub(lambda match: f"{match[1]}{match[2].lower()})", part)
    return "".join(parts)
