"""The house: what is imported when, and how high the floors are.

Also whether notebooks, package and README.md agree.
"""

import ast
import configparser
import json
import operator
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pydoc import locate

import pytest
import yaml
from public_names import public_names, public_objects, signature, stored_names

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted(
    path for path in (ROOT / "rankbook").rglob("*.py") if path.read_text(encoding="utf-8")
)
NOTEBOOKS = sorted((ROOT / "nbs").rglob("*.ipynb"))
HEAVY = ["numba", "cvxpy", "matplotlib", "sklearn", "pandas", "scipy"]

# The packages from the ground up: an import goes to one further left, or stays within its package.
FLOORS = [
    "base",
    "preferences",
    "metrics",
    "kernels",
    "data",
    "problems",
    "paths",
    "registry",
    "solvers",
    "selection",
    "estimators",
    "plots",
    "testing",
    "app",
    "__main__",
]


@pytest.fixture(scope="module")
def settings():
    parser = configparser.ConfigParser(delimiters=["="])
    parser.read(ROOT / "settings.ini", encoding="utf-8")
    return parser["DEFAULT"]


def python(code):
    """What a fresh Python prints."""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


# The front door


def test_import_takes_less_than_three_tenths_of_a_second():
    code = (
        "from time import perf_counter as now; start = now(); import rankbook; print(now() - start)"
    )
    assert min(float(python(code)) for _ in range(5)) < 0.3


def test_import_loads_nothing_heavy():
    assert (
        python(
            f"import sys, rankbook, rankbook.solvers; print([m for m in {HEAVY} if m in "
            "sys.modules])"
        )
        == "[]"
    )


def test_version_is_that_of_the_settings(settings):
    version = settings["version"]
    assert python("import rankbook; print(rankbook.__version__)") == version
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"] == version
    released = re.findall(r"^## \[(\d\S*)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    # a version of development is on the way to a version without a section
    assert (version in released) != version.endswith(".dev0")
    assert list((ROOT / "tests" / "data" / "stored").glob(f"*-{released[0]}.rankbook"))


def test_every_public_name_arrives_and_says_where_it_lives():
    import rankbook

    assert set(rankbook.__all__) <= set(dir(rankbook))
    for name in rankbook.__all__:
        value = getattr(rankbook, name)
        if hasattr(value, "__module__"):
            assert getattr(sys.modules[value.__module__], name) is value
            assert pickle.loads(pickle.dumps(value)) is value
        else:
            assert value is sys.modules[value.__name__] and value.__name__.startswith("rankbook.")


def test_a_star_import_brings_exactly_the_public_names():
    code = (
        "from rankbook import *; import rankbook; print(sorted(set(rankbook.__all__) - "
        "set(dir())), 'import_module' in dir())"
    )
    assert python(code) == "[] False"


def test_an_unknown_name_is_an_attribute_error():
    import rankbook

    with pytest.raises(AttributeError, match="No rankbook attribute Preference"):
        rankbook.Preference  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Preference'"):
        from rankbook import Preference  # noqa: F401


def test_names_that_moved_to_their_modules_work_with_a_warning():
    import rankbook

    for name, home in rankbook._MOVED.items():
        with pytest.warns(FutureWarning, match=f"Import {name} from rankbook.{home}; version 0.4"):
            assert getattr(rankbook, name) is getattr(import_module(f"rankbook.{home}"), name)
        assert name not in dir(rankbook)


def test_public_names_and_parameters_of_the_last_version_remain():
    now, gone = public_names(), []
    for name, stored in stored_names().items():
        if name not in now:
            gone.append(name)
        else:
            gone += [f"{name}({parameter}=)" for parameter in sorted(stored - now[name])]
    assert not gone, "deprecate these first, or correct the list if they were never released"


def test_help_shows_the_names_of_types():
    shown = {name: str(signature(thing)) for name, thing in public_objects().items()}
    assert len(shown) > 400 and [name for name in shown if "_SupportsArray" in shown[name]] == []


def test_the_stub_lists_what_it_imports():
    text = (ROOT / "rankbook" / "__init__.pyi").read_text(encoding="utf-8")
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    names = sorted(alias.name for node in imports for alias in node.names)
    import rankbook

    assert sorted(rankbook.__all__) == names
    listed = ast.parse(text).body[-1].value
    assert [item.value for item in listed.elts] == names
    assert (ROOT / "rankbook" / "py.typed").exists()


# The floors


def dotted(path):
    """The name of a module within the package.

    rankbook/solvers/qp/solver.py gives solvers.qp.solver, rankbook/kernels/__init__.py gives
    kernels, and rankbook/__init__.py the empty name.
    """
    parts = path.relative_to(ROOT / "rankbook").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_names(path):
    """Every dotted name a module imports, wherever in it.

    For instance, `from .a import b` in rankbook/c.py gives rankbook.a.b.
    """
    package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            yield from (
                ".".join([*above, *filter(None, [node.module]), alias.name]) for alias in node.names
            )


def imports_of(path):
    """The modules of rankbook that a module imports.

    A name that is in none of them (the front door) stays as it is.

    Only the version may be read at the front door: importing a class there is an import from
    above.
    """
    names = [
        name.removeprefix("rankbook.")
        for name in imported_names(path)
        if name.split(".")[0] == "rankbook"
    ]
    names = [name for name in names if name != "__version__"]
    return {
        next((part for part in (name, name.rpartition(".")[0]) if part in KNOWN), name)
        for name in names
    }


KNOWN = {dotted(path) for path in MODULES}


@pytest.fixture(scope="module")
def imports():
    """The modules that each module imports."""
    return {dotted(path): imports_of(path) for path in MODULES}


def test_every_package_has_a_floor():
    assert {name.split(".")[0] for name in KNOWN if name} == set(FLOORS)


def test_imports_go_down(imports):
    floor = {name: FLOORS.index(name.split(".")[0]) for name in KNOWN if name}
    pairs = [(name, other) for name, imported in imports.items() for other in imported]
    assert [pair for pair in pairs if pair[1] not in KNOWN] == [], "these are no modules"
    assert [(a, b) for a, b in pairs if a and floor[b] > floor[a]] == []


def test_what_docstrings_refer_to_exists():
    """Of a name that begins with rankbook. (pydoc.locate imports its module)."""
    role = re.compile(r":(?:func|class|meth|mod|data|attr|exc|obj):`~?(rankbook[.\w]+)`")
    named = {(p, name) for p in MODULES for name in role.findall(p.read_text(encoding="utf-8"))}
    assert len(named) > 20
    assert [(str(p), name) for p, name in sorted(named) if locate(name) is None] == []


def test_nobody_imports_in_a_circle(imports):
    done = set()

    def visit(name, above):
        assert name not in above, f"imported in a circle: {' -> '.join([*above, name])}"
        if name not in done:
            for other in imports.get(name, ()):
                visit(other, [*above, name])
            done.add(name)

    for name in imports:
        visit(name, [])


def test_solvers_do_not_know_each_other_and_nobody_knows_them(settings, imports):
    entries = [
        line.split("=")
        for line in settings["entry_points.rankbook.solvers"].splitlines()
        if line.strip()
    ]
    solvers = {target.split(":")[0].strip().removeprefix("rankbook.") for _, target in entries}
    assert solvers <= set(imports), "settings.ini registers a solver whose module does not exist"
    assert [
        (name, other)
        for name, imported in imports.items()
        for other in imported
        if other.startswith("solvers.") and other.split(".")[:2] != name.split(".")[:2]
    ] == [], "these reach past the registry"


# The notebooks


def cells(path, kind="code"):
    return [
        cell
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == kind
    ]


ABSOLUTE_PATH = re.compile(
    r"""(?:^|[\s'"(=])(?:/(?:[\w.@+-]+/)+[\w.@+-]+|[A-Za-z]:\\\w)""", re.MULTILINE
)
UNREPEATABLE = {
    "a local path": ABSOLUTE_PATH,
    "an installed file": re.compile("site-packages"),
    "a memory address": re.compile(r" at 0x[0-9a-f]{6,}"),
    "the date of a picture (tools/notebooks.py --write sets it to 1970)": re.compile(
        "<dc:date>(?!1970)"
    ),
}


def texts_of(output):
    """Every text an output stores."""
    parts = [output.get("text", ""), *output.get("data", {}).values()]
    return ["".join(part) for part in parts if isinstance(part, (str, list))]


def sources(kind="code", paths=None):
    """Each cell of the notebooks as (name of the notebook, its text, the cell)."""
    for path in NOTEBOOKS if paths is None else paths:
        for cell in cells(path, kind):
            yield path.relative_to(ROOT / "nbs").as_posix(), "".join(cell["source"]), cell


@pytest.mark.parametrize(
    "text, fault",
    [
        ("wrote /home/ann/x/path.svg", True),
        ('File "/usr/lib/python3/a.py"', True),
        ("C:\\Users", True),
        ("/tmp/a/b", True),
        ("1/2 and lam/lam_max", False),
        ("</td></tr>", False),
        ("nbs/images/path.svg", False),
        ("https://example.org/a/b", False),
    ],
)
def test_a_local_path_is_recognised(text, fault):
    assert bool(ABSOLUTE_PATH.search(text)) is fault


def test_stored_outputs_can_be_made_again_anywhere():
    found = []
    for name, _, cell in sources():
        for output in cell["outputs"]:
            if output["output_type"] == "error" or output.get("name") == "stderr":
                found.append((name, "an error or a warning", output.get("evalue", output)))
            for text in texts_of(output):
                hits = ((what, pattern.search(text)) for what, pattern in UNREPEATABLE.items())
                found += [(name, what, hit.group()) for what, hit in hits if hit]
    assert found == []


def from_tools(module, name):
    """What tools/module.py calls by this name."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return getattr(import_module(module), name)
    finally:
        sys.path.pop(0)


def test_the_notice_of_a_compilation_is_not_stored():
    forget_notice = from_tools("notebooks", "forget_notice")
    import nbformat.v4 as v4

    texts = [
        "rankbook: compiling for up to 60 s, kept for next time\n",
        "rankbook: compiling for up to 60 s, kept for next time\na warning\n",
    ]
    outputs = [v4.new_output("stream", name="stderr", text=text) for text in texts] + [
        v4.new_output("stream", name="stdout", text=texts[0])
    ]
    notebook = v4.new_notebook(
        cells=[v4.new_markdown_cell("text"), v4.new_code_cell("1", outputs=outputs)]
    )
    forget_notice(notebook)
    assert [(output.name, output.text) for output in notebook.cells[1].outputs] == [
        ("stderr", "a warning\n"),
        ("stdout", texts[0]),
    ]


@pytest.mark.parametrize(
    "stored, fresh, same",
    [
        ("gap 2.6e-16 of 888.0858", "gap -1.3e-16 of 888.0858", True),
        ("200 of 900 pass", "203 of 900 pass", True),
        ("200 of 900 pass", "230 of 900 pass", False),
        ("expected one of: l1, l2.", "expected one of: l1, l2, l3.", False),
        ("solver qp 0.1.0", "solver path 0.1.0", False),
        ('<svg><use xlink:href="#m0123456789" x="7.25"/>',) * 2 + (True,),
        (
            '<svg><use href="#m0123456789" x="7.25"/>',
            '<svg><use href="#mabcdef0123" x="7.9"/>',
            True,
        ),
        (
            '<svg><use href="#m0123456789" x="7.25"/>',
            '<svg><use href="#m0123456789" x="19"/>',
            False,
        ),
    ],
)
def test_outputs_are_compared_but_for_rounding(stored, fresh, same):
    differences = from_tools("notebooks", "differences")
    import nbformat.v4 as v4

    notebooks = [
        v4.new_notebook(
            cells=[v4.new_code_cell("1", outputs=[v4.new_output("stream", name="stdout", text=t)])]
        )
        for t in (stored, fresh)
    ]
    assert bool(differences(*notebooks)) is not same
    for notebook in notebooks:
        notebook.cells[0].metadata["tags"] = ["measured"]
    words = "expected" in stored or "solver" in stored
    assert bool(differences(*notebooks)) is words


def exports_to(path):
    """The module that a notebook says it is exported to, or None."""
    found = re.findall(
        r"^#\|\s*default_exp\s+(\S+)",
        "\n".join("".join(cell["source"]) for cell in cells(path)),
        re.MULTILINE,
    )
    assert len(found) <= 1
    return found[0] if found else None


# Packages of plain Python; elsewhere a chapter is exported, but for these modules.
PLAIN_PACKAGES = {"", "base", "data", "plots", "testing", "app", "__main__"}
PLAIN_MODULES = {
    "kernels",
    "preferences.counts",
    "preferences.names",
    "preferences.outcomes",
    "preferences.target",
    "metrics",
    "metrics.models",
    "metrics.queries",
    "metrics.scorers",
    "selection.held_out",
    "selection.search",
}
PLAIN_MODULES |= {"paths.display", "paths.files", "estimators.saving", "estimators.linear_json"}
PLAIN_MODULES |= {"estimators.onnx_model"}
PLAIN_MODULES |= {
    "estimators.leaderboard",
    "estimators.leaderboard_text",
    "estimators.score_errors",
    "estimators.training",
}
PLAIN_MODULES |= {"preferences.votes", "solvers.ascent.solver"}


def test_chapters_are_exported_and_plumbing_is_plain():
    generated = {dotted(p) for p in MODULES if "# AUTOGENERATED" in p.read_text(encoding="utf-8")}
    plain = {n for n in KNOWN if n.split(".")[0] in PLAIN_PACKAGES} | PLAIN_MODULES
    assert set(KNOWN) - generated == plain
    assert {exports_to(path) for path in NOTEBOOKS} - {None} == generated


def test_ruff_checks_every_module():
    ruff = pytest.importorskip("ruff").find_ruff_bin()
    command = [ruff, "check", "--show-files", "rankbook"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    checked = {Path(line) for line in found.stdout.splitlines()}
    assert set(MODULES) <= checked


def test_a_notebook_lies_where_its_module_lies():
    found = []
    for path in NOTEBOOKS:
        parts = path.relative_to(ROOT / "nbs").with_suffix("").parts
        read = parts[0] in ("book", "guides", "papers", "index")
        found += [] if exports_to(path) == (None if read else ".".join(parts)) else [parts]
    assert found == []


def table_of_contents():
    return yaml.safe_load((ROOT / "nbs" / "_toc.yml").read_text(encoding="utf-8"))


def listed(entries):
    """Every entry of the table of contents, those below others included."""
    for entry in entries:
        yield entry
        yield from listed(entry.get("chapters", []))


def test_the_table_of_contents_has_every_notebook_once():
    toc = table_of_contents()
    assert [part["caption"] for part in toc["parts"]] == ["Book", "Guides", "Reference"]
    entries = [entry for part in toc["parts"] for entry in listed(part["chapters"])]
    notebooks = [toc["root"], *(entry["notebook"] for entry in entries if "notebook" in entry)]
    assert sorted(notebooks) == sorted(
        path.relative_to(ROOT / "nbs").with_suffix("").as_posix() for path in NOTEBOOKS
    )


def test_the_reference_has_every_public_name_once():
    import rankbook
    from rankbook import datasets, kernels, metrics, plots, testing

    public = set()
    for module in (rankbook, metrics, kernels, plots, datasets, testing):
        values = [getattr(module, name) for name in module.__all__]
        public |= {value for value in values if hasattr(value, "__qualname__")}
    moved = rankbook._MOVED.items()
    public |= {getattr(import_module(f"rankbook.{home}"), name) for name, home in moved}
    entries = [e for part in table_of_contents()["parts"] for e in listed(part["chapters"])]
    names = [name for entry in entries for name in entry.get("names", [])]
    found = [
        operator.attrgetter(name.removeprefix("rankbook."))(rankbook)
        for name in names
        if not name.startswith("rankbook.testing.")
    ]
    found += [
        getattr(testing, name.rpartition(".")[2])
        for name in names
        if name.startswith("rankbook.testing.")
    ]
    assert len(found) == len(set(found)) and set(found) == public


@pytest.mark.parametrize(
    "source, plumbing",
    [
        ("#| default_exp plots.axes", True),
        ("#| hide\nimport os", True),
        ("%load_ext rankbook.plots.style\nimport matplotlib.pyplot as plt", True),
        ("#| export\nimport os\n\nfrom rankbook.base.jit import njit", True),
        ("#| export\nimport os\n\nTOL = 1e-8", False),
        ("import rankbook as rb", False),
    ],
)
def test_plumbing_is_recognised(source, plumbing):
    assert from_tools("sync", "is_plumbing")(source) is plumbing


def test_a_site_hides_plumbing_and_nothing_else():
    is_plumbing = from_tools("sync", "is_plumbing")
    assert [
        (name, source[:60])
        for name, source, cell in sources()
        if ("remove-cell" in cell["metadata"].get("tags", [])) is not is_plumbing(source)
    ] == [], "run `python tools/sync.py`"


def test_a_data_frame_shows_no_raw_mathematics():
    shown = ((name, o.get("data", {})) for name, _, c in sources() for o in c.get("outputs", []))
    tables = [(name, "".join(data.get("text/html", ""))) for name, data in shown]
    assert [name for name, html in tables if "dataframe" in html and "$" in html] == []


def test_guides_and_papers_show_all_their_code():
    read = [path for path in NOTEBOOKS if path.parent.name in ("book", "guides", "papers")]
    assert [
        (name, source[:60])
        for name, source, cell in sources(paths=read)
        if "remove-cell" in cell["metadata"].get("tags", []) and cell["id"] != "opening"
        if not source.startswith("%") or "\n" in source
    ] == []


def test_a_notebook_that_draws_is_set_up_in_one_line():
    found = []
    for path in NOTEBOOKS:
        code = [source for _, source, _ in sources(paths=[path])]
        loads = [line for source in code for line in source.splitlines() if line.startswith("%")]
        draws = any("image/svg+xml" in o.get("data", {}) for c in cells(path) for o in c["outputs"])
        needed = draws and path.parts[-2:] != ("plots", "style.ipynb")
        right = [["%load_ext rankbook.plots.style"]] + ([] if needed else [[]])
        if loads not in right or any("rcParams[" in source for source in code):
            found.append(path.name)
    assert found == []


def test_a_picture_is_legible_on_a_telephone():
    widths = [(n, w) for n, text, _ in sources() for w in re.findall(r"figsize=\(([\d.]+),", text)]
    assert [each for each in widths if float(each[1]) > 6.2] == []


def test_a_stored_picture_is_small():
    svg = '<svg><!-- x -->\n<g id="a">\n  <path d="M 1.2345 0.015625 \nL -2.999 1"/>\n </g>\n</svg>'
    assert (
        from_tools("notebooks", "compact")(svg)
        == '<svg><g><path d="M 1.23 0.015625 L -2.99 1"/></g></svg>'
    )


def test_a_notebook_loads_quickly():
    large = [path.name for path in NOTEBOOKS if path.stat().st_size > 400_000]
    assert large == [], "rasterize what has thousands of parts"


def test_prose_names_other_chapters_by_link():
    place = re.compile(r"chapters? (before|above|\d)|(next|previous|last) chapter", re.IGNORECASE)
    found = [(name, place.search(text)) for name, text, _ in sources("markdown")]
    assert [(name, hit.group()) for name, hit in found if hit] == []


# The README


def readme():
    return (ROOT / "README.md").read_text(encoding="utf-8")


def run_readme_tool(*arguments):
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "readme.py", *arguments], capture_output=True, text=True
    )


def test_readme_is_up_to_date():
    result = run_readme_tool("--check")
    assert result.returncode == 0, result.stderr


def test_readme_links_lead_somewhere(settings):
    pages = re.findall(rf"\]\({settings['site_url']}/([^)\s]+)\.html\)", readme())
    assert len(pages) > 10 and "_toc.yml" not in readme()
    assert [page for page in pages if not (ROOT / "nbs" / f"{page}.ipynb").exists()] == [
        "book/contents"  # which tools/site.py writes
    ]
    links = [
        link
        for link in re.findall(r"\]\(([^)\s]+)\)", readme())
        if not re.match(r"[a-z]+:|#", link)
    ]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_readme_leaves_out_what_needs_a_page_with_scripts():
    (index,) = (path for path in NOTEBOOKS if path.name == "index.ipynb")
    tagged = [c for c in cells(index) if "site" in c["metadata"].get("tags", [])]
    assert any("rb-slider" in text for c in tagged for o in c["outputs"] for text in texts_of(o))
    assert "LambdaSlider" not in readme() and "rb-slider" not in readme()


def test_readme_leads_to_the_areas_and_is_short(settings):
    site = settings["site_url"]
    for folder in ("book", "guides", "papers"):
        assert f"]({site}/{folder}/" in readme()
    assert f"]({site}/book/contents.html)" in readme() and len(readme().split()) < 700


def test_readme_tool_notices_a_stale_readme(tmp_path):
    for name in ["nbs", "tools"]:
        (tmp_path / name).mkdir()
    for name in ["nbs/index.ipynb", "tools/readme.py", "README.md", "settings.ini"]:
        shutil.copy(ROOT / name, tmp_path / name)
    check = [sys.executable, tmp_path / "tools" / "readme.py", "--check"]
    assert subprocess.run(check).returncode == 0
    (tmp_path / "README.md").write_text(
        readme().replace("rankbook", "bookrank", 1), encoding="utf-8"
    )
    stale = subprocess.run(check, capture_output=True, text=True)
    assert stale.returncode == 1 and "python tools/readme.py" in stale.stderr


def test_readme_has_two_commands_of_one_line():
    commands = re.findall(r"^```sh\n(.*?)\n```$", readme(), re.MULTILINE | re.DOTALL)
    assert len(commands) == 2
    assert not any("\n" in command for command in commands)
    assert commands[0].endswith("rankbook select cancer")
    assert commands[1].endswith(".venv/bin/pytest -n2 --dist=loadfile")


def test_readme_example_gives_the_output_it_shows():
    block = re.search(
        r"^```python\n(.*?)\n```\n\n```text\n(.*?)\n```$", readme(), re.MULTILINE | re.DOTALL
    )
    assert block, "the README shows no example with its output"
    assert python(block.group(1)) == block.group(2).strip()


def test_readme_shows_what_the_commands_print(tmp_path):
    shown = re.search(r"^```console\n(\$ .*?)\n```$", readme(), re.MULTILINE | re.DOTALL).group(1)
    commands = [line.removeprefix("$ ") for line in shown.splitlines() if line.startswith("$ ")]
    environ = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    }
    printed = []
    for command in commands:
        result = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environ, capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr
        printed += [f"$ {command}", *result.stdout.splitlines()]
    assert printed == shown.splitlines() and "rankbook predict" in commands[-1]


def test_no_compiled_code_is_kept_in_the_repository():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout
    assert not re.findall(r"^.*\.(?:nbi|nbc|pyc)$", tracked, re.MULTILINE)


# The gate


def workflows():
    """(name, contents) of each workflow."""
    for file in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        yield file.stem, yaml.safe_load(file.read_text("utf-8"))


def test_actions_are_pinned_by_commit():
    text = "\n".join(
        file.read_text("utf-8") for file in (ROOT / ".github" / "workflows").glob("*.yml")
    )
    used = re.findall(r"uses: (.*)", text)
    pinned = [re.fullmatch(r"([\w-]+/[\w-]+)@[0-9a-f]{40} # v[\d.]+", each) for each in used]
    assert used and all(pinned)
    names = [each[1] for each in pinned]
    assert len(set(used)) == len(set(names))  # one version of each
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text("utf-8"))["updates"]
    assert "github-actions" in [each["package-ecosystem"] for each in updates]


def test_a_job_that_may_write_runs_no_code_of_ours():
    publishing = []
    for name, workflow in workflows():
        assert workflow["permissions"] == {"contents": "read"}
        for job in workflow["jobs"].values():
            if "permissions" in job:
                publishing.append(name)
                assert all("run" not in step for step in job["steps"])
                assert not any("checkout" in step["uses"] for step in job["steps"])
    assert publishing == ["pages", "publish"]


def test_the_nightly_workflow_runs_every_part():
    parts = re.search(r"^parts=\((.*)\)$", (ROOT / ".ci" / "run").read_text("utf-8"), re.M)[1]
    (job,) = dict(workflows())["nightly"]["jobs"].values()
    assert job["strategy"]["matrix"]["part"] == parts.split()
    assert set(parts.split()) >= {"solvers", "data", "rest", "bounds", "peers"}


def test_the_gate_tells_changed_numbers_from_a_broken_tool(tmp_path):
    """No program that is missing, or fails, ends with the status of changed numbers."""
    changed = from_tools("notebooks", "DIFFERENT")
    assert f"tools/notebooks.py --compare </dev/null || [ $? -eq {changed} ]" in (
        ROOT / ".ci" / "run"
    ).read_text("utf-8")
    commands = (
        [sys.executable, tmp_path / "no-such-script.py"],
        [sys.executable, ROOT / "tools" / "notebooks.py", "--compare", "no/such/notebook"],
        [sys.executable, ROOT / "tools" / "notebooks.py", "--compared"],
        [sys.executable, "-c", "import no_such_module"],
    )
    for command in commands:
        assert subprocess.run(command, capture_output=True).returncode not in (0, changed)


def test_no_comparison_with_a_peer_is_skipped_by_itself(settings):
    """The marker `peer` skips them, so that the nightly stage can select and demand them."""
    peers = "arena_rank|evalica|choix|lightgbm|xgboost|statsmodels|sksurv|lifelines|ir_measures"
    skips = re.compile(rf'importorskip\(\s*"(?:{peers})\b')
    tests = [*(ROOT / "tests").rglob("test_*.py"), ROOT / "tests" / "conftest.py"]
    tests.remove(Path(__file__).resolve())
    assert [file.name for file in tests if skips.search(file.read_text("utf-8"))] == []
    modules = dict(sksurv="scikit-survival", cwl="ir-measures", ir_measures="ir-measures")
    modules["arena_rank"] = "arena-rank"
    installed = settings["peers_requirements"] + settings["dev_requirements"]
    installed += settings["survival_requirements"]
    text = "\n".join(file.read_text("utf-8") for file in tests)
    for names in re.findall(r"mark\.peer\((.*?)\)", text):
        for name in re.findall(r'"(\w+)"', names):
            assert modules.get(name, name) in installed


def pytest_with(tmp_path, text, *given, **options):
    """What pytest prints of a file with this text, with our configuration and conftest."""
    (tmp_path / "test_it.py").write_text(text)
    config = ["-c", ROOT / "pyproject.toml", "-p", "conftest", "-p", "no:cacheprovider"]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *config, tmp_path, *given],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
        capture_output=True,
        text=True,
        **options,
    )
    return result.stdout + result.stderr


PEER = """
import pytest

@pytest.mark.peer("no_such_peer")
def test_beside_it():
    import no_such_peer
"""


@pytest.mark.parametrize("given, outcome", [([], "1 skipped"), (["--peers"], "1 failed")])
def test_a_missing_peer_fails_where_peers_are_demanded(given, outcome, tmp_path):
    assert outcome in pytest_with(tmp_path, PEER, *given)


def test_a_warning_that_no_test_expects_fails(tmp_path):
    text = "import warnings\n\ndef test_it():\n    warnings.warn('unexpected')\n"
    assert "1 failed" in pytest_with(tmp_path, text)


INTERRUPTED = """
import signal, subprocess, sys, time

def test_a_process_is_interrupted():
    code = "import time; print(1, flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGINT

def test_a_call_is_interrupted():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        return
    raise AssertionError
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_job_in_the_background_can_interrupt(tmp_path):
    """A shell starts it with SIGINT ignored."""
    ignore = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert "2 passed" in pytest_with(tmp_path, INTERRUPTED, preexec_fn=ignore)
