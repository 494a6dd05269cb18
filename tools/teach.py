"""Make slides or a sheet without solutions from a notebook, in the working folder.

    python tools/teach.py slides book/ranking_svm    ranking_svm.slides.html, a slide for each
                                                     section; needs `pip install nbconvert`
    python tools/teach.py handout guides/lab         lab.ipynb, with an empty cell in place of each
                                                     solution

Both use the outputs that are stored in the notebook; run it again to change them.
"""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

NOTEBOOKS = Path(__file__).resolve().parents[1] / "nbs"
DETAILS = re.compile(r"<details>.*?</details>\s*", re.DOTALL)
SECTION = re.compile(r"^(?=#{1,3} )", re.MULTILINE)


def has_tag(cell, *tags):
    """Whether a cell has one of the tags."""
    return not set(tags).isdisjoint(cell.metadata.get("tags", []))


def without_solutions(notebook, cell=None):
    """Leave out solutions: text in <details>, and tagged cells, for a run of which `cell` stays."""
    cells, before = [], None
    for each in notebook.cells:
        if has_tag(each, "solution"):
            if cell and not (before and has_tag(before, "solution")):
                cells.append(cell())
        else:
            if each.cell_type == "markdown":
                each.source = DETAILS.sub("", each.source)
            if each.source.strip():
                cells.append(each)
        before = each
    notebook.cells = cells
    return notebook


def as_slides(notebook):
    """Begin a slide at each heading, and one below it at each other text; hide folded code."""
    cells = []
    for cell in without_solutions(notebook).cells:
        if cell.cell_type == "markdown":
            for part in filter(str.strip, SECTION.split(cell.source)):
                kind = "slide" if part.startswith("#") else "subslide"
                text = new_markdown_cell(part)
                text.metadata["slideshow"] = {"slide_type": kind}
                cells.append(text)
        elif not has_tag(cell, "remove-cell"):
            cells.append(cell)
    notebook.cells = cells
    return notebook


def main(arguments):
    """Write the file that was asked for."""
    if len(arguments) != 2 or arguments[0] not in ("slides", "handout"):
        raise SystemExit(__doc__.strip())
    what, name = arguments[0], arguments[1].removesuffix(".ipynb")
    source = NOTEBOOKS / f"{name}.ipynb"
    if not source.exists():
        raise SystemExit(f"There is no notebook {source}. Pass a name below nbs/.")
    target = Path(f"{source.stem}.ipynb").resolve()
    if target == source:
        raise SystemExit(f"{target} is the notebook itself. Run this in another folder.")
    notebook = nbformat.read(source, 4)
    if what == "handout":
        nbformat.write(without_solutions(notebook, lambda: new_code_cell("# Your code")), target)
        print(target.name)
        return
    nbformat.write(as_slides(notebook), target)
    command = [sys.executable, "-m", "nbconvert", "--to", "slides", target]
    command += ["--no-prompt", "--SlidesExporter.reveal_scroll=True"]
    command += ["--SlidesExporter.reveal_width=1280", "--SlidesExporter.reveal_height=800"]
    command += ["--SlidesExporter.reveal_number=c/t", "--TagRemovePreprocessor.enabled=True"]
    command += ["--TagRemovePreprocessor.remove_input_tags=hide-input"]
    done = subprocess.run(command)
    target.unlink()
    if done.returncode:
        raise SystemExit("nbconvert failed. Install it with: pip install nbconvert")


if __name__ == "__main__":
    main(sys.argv[1:])
