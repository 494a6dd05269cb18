"""What becomes of a cell on its way to the site; nothing has to be built for this."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="sphinx is in `.[site]`")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from website import contents, formulas, reader, reference  # noqa: E402

MODULE = ("code", "#| default_exp base.jit")
PICTURE = {"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": "<svg/>"}}


def read(*cells):
    """The cells that the site shows of a notebook of these cells: (kind, text, outputs)."""
    made = [
        {"cell_type": kind, "id": f"c{i}", "metadata": {}, "source": text}
        | ({"outputs": outputs, "execution_count": None} if kind == "code" else {})
        for i, (kind, text, *outputs) in enumerate(cells)
    ]
    book = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return reader.read(json.dumps(book), repository="https://example.org/blob").cells


@pytest.mark.parametrize(
    "source, shown, tags",
    [
        ("#| export\ndef f(): ...", "def f(): ...", ["hide-input"]),
        ("#| hide\nimport os", "import os", ["remove-cell"]),
        ("#| default_exp base.jit", "", ["remove-cell"]),
        ("#|hide_input\n1", "1", ["remove-input"]),
        ("x = 1  #| no directive", "x = 1  #| no directive", []),
    ],
)
def test_directives_become_tags(source, shown, tags):
    cell = read(("markdown", "# A"), ("code", source))[1]
    assert cell.source == shown and cell.metadata.tags == tags


def test_a_picture_is_described_by_its_heading_and_its_labels():
    drawn = 'ax.set(xlabel="$\\\\lambda$", ylabel="error")\nax.set_title("A path")'
    cell = read(("markdown", "# A\n\n## The curve"), ("code", drawn, PICTURE))[1]
    assert cell.metadata.mystnb["image"]["alt"] == "Picture: The curve; lambda; error; A path"


@pytest.mark.parametrize(
    "prose, shown",
    [
        ("[a](../CHANGELOG.md)", "[a](/reference/changelog)"),
        ("[a](../../ALTERNATIVES.md)", "[a](/reference/alternatives)"),
        ("[a](../LICENSE)", "[a](https://example.org/blob/LICENSE)"),
        ("[a](gap.ipynb#How-many)", "[a](gap.ipynb#how-many)"),
        ("```\n[a](../LICENSE)\n```", "```\n[a](../LICENSE)\n```"),
    ],
)
def test_links_lead_to_pages(prose, shown):
    assert read(("markdown", prose))[0].source == shown


def test_a_chapter_says_where_its_names_are_described():
    cells = read(("markdown", "# Pairs"), ("code", "#| default_exp metrics.pairs"))
    assert "`rankbook.metrics.pairs`" in cells[0].source
    assert "[`metrics.auc`](/reference/rankbook.metrics.auc.rst)" in cells[0].source


@pytest.mark.parametrize(
    "code, name",
    [
        ("RankSVM", "rankbook.RankSVM"),
        ('RankSVM(kernel="linear")', "rankbook.RankSVM"),
        ("rb.solve(problem, lam)", "rankbook.solve"),
        ("Preferences.from_pairs", "rankbook.Preferences.from_pairs"),
        ("rb.auc", "rankbook.metrics.auc"),
        ("rb.load", "rankbook.load"),
        ("rb.datasets.load", "rankbook.datasets.load"),
        ("solve", None),  # also what every solver calls its method
        ("X", None),
        ("pip install rankbook", None),
    ],
)
def test_code_in_prose_is_a_public_name(code, name):
    assert reference.target_of(code) == name


def test_a_search_knows_which_chapters_are_the_book():
    toc = contents.table()
    book = toc["parts"][0]["chapters"]
    script = (Path(reader.__file__).parent / "scorer.js").read_text(encoding="utf-8")
    read = re.compile(re.search(r"read = /(.*)/;", script)[1].replace("\\/", "/"))
    pages = [contents.page_of(entry) for entry in contents.below(book)]
    assert [page for page in pages if not read.match(page)] == []


def test_every_entry_has_a_page_of_its_own():
    toc = contents.table()
    places = [contents.page_of(entry) for entry in contents.entries(toc)]
    places += [reference.page_of(name) for name in contents.public_names(toc)]
    assert len({place.lower() for place in places}) == len(places)


@pytest.mark.parametrize(
    "code, outputs, tags",
    [
        ("x = 1\n" * 20, [PICTURE], ["hide-input"]),
        ("x = 1\n" * 20, [], []),
        ("x = 1", [PICTURE], []),
        ("def f():\n    return 1\n\n\n" + "x = 1\n" * 20, [PICTURE], []),
    ],
)
def test_long_code_of_a_picture_is_folded(code, outputs, tags):
    cell = read(("markdown", "# A"), ("code", code, *outputs))[1]
    assert cell.metadata.tags == tags


def test_implementations_and_solutions_are_folded_under_their_names():
    book = read(("markdown", "# A"), ("code", "#| export\nx = 1"))
    assert book[1].metadata.mystnb["code_prompt_show"] == "Show the implementation"
    cell = {"cell_type": "code", "id": "c", "metadata": {"tags": ["solution"]}, "source": "x = 1"}
    cell |= {"outputs": [], "execution_count": None}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (cell,) = reader.read(text, repository="").cells
    assert cell.metadata.tags == ["solution", "hide-cell"]
    assert cell.metadata.mystnb["code_prompt_show"] == "Show the code of the solution"


def test_long_code_at_the_head_of_a_chapter_is_folded():
    long = "def f():\n    return 1\n\n\n" + "x = 1\n" * 20
    cells = read(("markdown", "# A"), *[("code", long), ("markdown", "B")] * 2, MODULE)
    head, later = cells[1], cells[3]
    assert head.metadata.tags == ["hide-input"] and later.metadata.tags == []


@pytest.mark.parametrize(
    "text, shown",
    [
        ("O(n^2 d) time", r":math:`O(n^{2}\, d)` time"),
        ("by lam/2 |f|^2.", r"by :math:`\lambda / 2\, \lvert f \rvert^{2}`."),
        ("f(x) = w'x", r":math:`f(x) = w^\top x`"),
        ("K(x, x') = 1", r":math:`K(x, x') = 1`"),
        ("1 / (1 + exp(-d))", r":math:`1 / (1 + \exp(- d))`"),
        ("f = sum_i c_i\n    k(., x_i)", r":math:`f = \sum_{i}\, c_{i}\, k(\cdot, x_{i})`"),
        ("for lam = 0 sqrt(q)", r"for :math:`\lambda = 0` :math:`\sqrt{q}`"),
    ],
)
def test_formulas_of_docstrings_are_typeset(text, shown):
    assert formulas.with_formulas(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "gamma=None means that X_new has shape (n, d)",
        "the items' weights, a log-rank test and y_true",
        "f(x) = sum_j dual_coef_[j]",
        "between 0 and 1, and/or x",
        "O(n items)",
    ],
)
def test_what_is_no_formula_stays_text(text):
    assert formulas.with_formulas(text) == text


def test_the_example_of_a_docstring_comes_before_its_parameters():
    lines = ["Sum, see", ":doc:`/a`.", "", ":Parameters:", "", "    **x** : int", ""]
    lines += [".. rubric:: Examples", ""]
    lines += [">>> f(1)", "1", "", ".. rubric:: Notes", "", "O(n)."]
    reference.examples_first(None, "function", "f", None, None, lines)
    heads = [line for line in lines if line.startswith((":P", ".."))]
    assert heads == [".. rubric:: Examples", ":Parameters:", ".. rubric:: Notes"]
    assert lines[3:6] == [".. rubric:: Examples", "", ">>> f(1)"]


def test_the_menu_of_versions_lists_the_tags_of_git(tmp_path, monkeypatch):
    git = ["git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", "a"], check=True)
    for tag in ("v0.2.0", "v0.10.0", "draft"):
        subprocess.run([*git, "tag", tag], check=True)
    monkeypatch.setattr(contents, "ROOT", tmp_path)
    home = "https://example.org/a"
    found = [(name, f"{home}/blob/v{name}/nbs/index.ipynb") for name in ("0.10.0", "0.2.0")]
    assert contents.releases(home) == found


def test_code_in_the_text_of_a_link_gets_no_link_of_its_own():
    from docutils import nodes

    code = nodes.literal("", "rb.solve")
    link = nodes.reference("", "", nodes.inline("", "", code))
    assert reference.is_within(code, nodes.reference)
    assert not reference.is_within(link, nodes.reference)
