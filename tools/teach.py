"""Make slides or sheets without solutions from notebooks, in the working folder.

    python tools/teach.py slides book/ranking_svm    ranking_svm.slides.html, a slide for each
                                                     section; needs `pip install nbconvert`
    python tools/teach.py handout guides/lab         lab.ipynb, with an empty cell in place of each
                                                     solution
    python tools/teach.py sheets                     sheets/session_1.zip to session_12.zip, the
                                                     handouts of each session of guides/teach with
                                                     the tables that they read, and handouts of the
                                                     lab and of the problem sets

Slides and handouts show the outputs that are stored in the notebook; run it again to change them.
Sheets have no outputs. tools/site.py writes them for the site.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

NOTEBOOKS = Path(__file__).resolve().parents[1] / "nbs"
DETAILS = re.compile(r"<details>.*?</details>\s*", re.DOTALL)
SECTION = re.compile(r"^(?=#{1,3} )", re.MULTILINE)
LINK = re.compile(r"\]\(\.\./(\w+/\w+)\.ipynb")
TABLE = re.compile(r"[\"']((?:\.\./)?[\w/]+\.csv)[\"']")


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


def sessions():
    """The notebooks of each session, to which the rows of the plan in guides/teach lead."""
    teach = nbformat.read(NOTEBOOKS / "guides" / "teach.ipynb", 4)
    text = "\n".join(cell.source for cell in teach.cells)
    plan = re.search(r"^## Twelve sessions$(.*?)^## ", text, re.MULTILINE | re.DOTALL)[1]
    rows = re.findall(r"^\| \**(\d+) (.*)$", plan, re.MULTILINE)
    return {int(number): LINK.findall(row) for number, row in rows}


def sheet(name):
    """A notebook without solutions and outputs, as text."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", 4)
    for cell in without_solutions(notebook, lambda: new_code_cell("# Your code")).cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return json.dumps(notebook, ensure_ascii=False, separators=(",", ":"))


def write_sheets(folder):
    """Write an archive for each session, and the lab and the problem sets, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, names in sessions().items():
        files = {f"{name}.ipynb": sheet(name) for name in names}
        for name, text in list(files.items()):
            for table in TABLE.findall(text.replace('\\"', '"')):
                path = (NOTEBOOKS / name).parent.joinpath(table).resolve()
                if path.exists():
                    files[path.relative_to(NOTEBOOKS).as_posix()] = path.read_text("utf-8")
        with ZipFile(folder / f"session_{number}.zip", "w", ZIP_DEFLATED, compresslevel=9) as made:
            for name, text in files.items():
                made.writestr(ZipInfo(name), text, ZIP_DEFLATED)  # without the time of today
    for name in ("lab", "problem_sets"):
        (folder / f"{name}.ipynb").write_text(sheet(f"guides/{name}"), encoding="utf-8")


def main(arguments):
    """Write the file that was asked for."""
    if arguments == ["sheets"]:
        write_sheets(Path("sheets"))
        return
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
