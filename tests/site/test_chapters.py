"""What chapters and guides show of their code, and the exercises of the book."""

import json
import re
import sys
from pathlib import Path
from zipfile import ZipFile

import nbformat
import pytest

pytest.importorskip("sphinx", reason="sphinx is in `.[site]`")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import teach  # noqa: E402
import typed_figures  # noqa: E402
from website import reader  # noqa: E402

BOOK, GUIDES = (sorted((ROOT / "nbs" / area).glob("*.ipynb")) for area in ("book", "guides"))
APPENDICES = {
    "bagnell_claims",
    "ralaivola2009_experiment",
    "ralaivola2009_rivals",
    "tsivtsivadze_experiment",
    "zapien2009_claims",
    "zapien2009_experiment",
    "zapien2009_sentences",
}  # of chapters on papers
PAPERS = [p for p in sorted((ROOT / "nbs/papers").glob("*.ipynb")) if p.stem not in APPENDICES]
OTHERS = [ROOT / "nbs/metrics/compare.ipynb"]
LINES, FOLDED, EXERCISES = 30, 5, 3
PICTURE = {"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": "<svg/>"}}
# Figures that are not results: plans of a course, levels of intervals, and settings.
PLANNED = {
    "dask": {"40%"},
    "feature_selection": {"0.05"},  # where paths end
    "lab": {"90 minutes"},
    "large_data": {"256 MB"},
    "leaderboard": {"0.693"},  # -log(1/2)
    "guarantees": {"10 seconds"},  # a limit that a slow test checks
    "teach": {f"{minutes} minutes" for minutes in (15, 20, 25, 30, 45, 90)}
    | {f"{share}%" for share in (10, 20, 25, 30, 40, 50, 60)},
}
EXERCISE = re.compile(r"^(?:\*\*\d+\.\*\*|\d+\.) ", re.MULTILINE)


def code(text):
    """Count the lines of open cells of code, and the folded cells, as the site shows them."""
    hidden, lines, folded = {"remove-cell", "remove-input", "solution"}, [], 0
    for cell in reader.read(text, repository="").cells:
        if cell.cell_type == "code" and hidden.isdisjoint(cell.metadata.tags):
            folded += "hide-input" in cell.metadata.tags
            if "hide-input" not in cell.metadata.tags:
                lines.append(len(cell.source.strip().splitlines()))
    return max(lines, default=0), folded


def exercises(cells):
    """Count the exercises of a chapter, their solutions, and the cells of solutions."""
    asked, solved, checked, inside = 0, 0, 0, False
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts = re.split(r"^## (.*)$", source, flags=re.MULTILINE)
            for title, part in zip([None, *parts[1::2]], parts[::2]):
                inside = inside if title is None else title == "Exercises"
                if inside:
                    solved += part.count("<summary>Solution")
                    asked += len(EXERCISE.findall(teach.DETAILS.sub("", part)))
        elif inside:
            checked += "solution" in cell["metadata"].get("tags", []) and "assert" in source
    return asked, solved, checked


@pytest.mark.parametrize("path", [*BOOK, *GUIDES], ids=lambda path: path.stem)
def test_code_is_short_and_mostly_open(path):
    longest, folded = code(path.read_text(encoding="utf-8"))
    assert longest <= LINES, "divide the longest cell of code"
    assert folded <= FOLDED, "show short cells, or leave something out"


@pytest.mark.parametrize("path", [*BOOK, *OTHERS, *PAPERS], ids=lambda path: path.stem)
def test_a_chapter_has_exercises_with_solutions(path):
    asked, solved, checked = exercises(json.loads(path.read_text(encoding="utf-8"))["cells"])
    assert asked == solved >= EXERCISES and checked > 0


def made(*cells):
    """A notebook of these cells: (kind, text, tags)."""
    make = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    return nbformat.v4.new_notebook(
        cells=[make[kind](text, metadata={"tags": tags}) for kind, text, *tags in cells]
    )


CHAPTER = [
    ("markdown", "# A\n\ntext\n\n## Exercises\n\n**1.** Why?"),
    ("markdown", "<details>\n<summary>Solution</summary>\n\n1. So.\n\n</details>"),
    ("code", "assert True", "solution"),
    ("code", "x = 1\n" * 40, "solution"),
    ("code", "x = 1\n" * 20),
    ("code", "x = 1", "hide-input"),
]


@pytest.mark.parametrize("path", [*BOOK, *GUIDES], ids=lambda path: path.stem)
def test_a_cell_shows_each_figure_that_a_sentence_states(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    typed = {figure for _, figure, _ in typed_figures.unshown(notebook)}
    assert typed - {"95%"} == PLANNED.get(path.stem, set())


def test_a_figure_that_no_cell_shows_is_found():
    def found(text, code="x = 0.257", output="4.1 s"):
        outputs = [{"output_type": "stream", "text": [output]}]
        cells = [dict(cell_type="markdown", id="a", source=[text])]
        cells += [dict(cell_type="code", id="b", source=[code], outputs=outputs)]
        return [figure for _, figure, _ in typed_figures.unshown({"cells": cells})]

    assert found("About 26% of the pairs, in 4 s. The error is 0.26.") == []
    assert found("About 27% of the pairs, in 5 s. The error is 0.25.") == ["27%", "5 s", "0.25"]
    assert found("Pass `0.99`. Exercise 7 has 12 items.") == []


def test_long_and_folded_cells_and_exercises_are_counted():
    notebook = made(*CHAPTER)
    assert code(nbformat.writes(notebook)) == (20, 1)
    notebook.cells[-2].outputs = [nbformat.from_dict(PICTURE)]
    assert code(nbformat.writes(notebook)) == (0, 2)
    assert exercises(notebook.cells) == (1, 1, 1)


def test_slides_begin_at_headings_and_have_no_solutions():
    cells = teach.as_slides(made(*CHAPTER)).cells
    assert [cell.source.split("\n")[0] for cell in cells[:2]] == ["# A", "## Exercises"]
    assert {cell.metadata.slideshow.slide_type for cell in cells[:2]} == {"slide"}
    assert len(cells) == 4 and not any(teach.has_tag(cell, "solution") for cell in cells)


@pytest.mark.parametrize("name", ["guides/lab", "guides/problem_sets", "book/ranking_svm"])
def test_a_sheet_has_an_empty_cell_for_each_solution(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    teach.main(["handout", name])
    source = nbformat.read(ROOT / "nbs" / f"{name}.ipynb", 4).cells
    sheet = nbformat.read(tmp_path / f"{Path(name).name}.ipynb", 4).cells
    runs = [
        teach.has_tag(cell, "solution") and not teach.has_tag(before, "solution")
        for before, cell in zip(source, source[1:])
    ]
    assert sum(cell.source == "# Your code" for cell in sheet) == sum(runs) > 2
    assert not any("<details>" in c.source or teach.has_tag(c, "solution") for c in sheet)


def test_each_session_has_an_archive_of_sheets_with_their_tables(tmp_path):
    teach.write_sheets(tmp_path)
    plan = teach.sessions()
    assert list(plan) == list(range(1, 13)) and all(plan.values())
    files = {}
    for number, names in plan.items():
        with ZipFile(tmp_path / f"session_{number}.zip") as archive:
            files |= {name: archive.read(name).decode() for name in archive.namelist()}
        assert {f"{name}.ipynb" for name in names} <= set(files)
    files |= {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.ipynb")}
    assert {"lab.ipynb", "problem_sets.ipynb", "book/which.csv"} <= set(files)
    for name, text in files.items():
        if name.endswith(".ipynb"):
            cells = nbformat.reads(text, 4).cells
            assert "# Your code" in {cell.source for cell in cells}, name
            assert not any("<details>" in c.source or teach.has_tag(c, "solution") for c in cells)
            assert not any(cell.get("outputs") for cell in cells)
