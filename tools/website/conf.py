"""What Sphinx is told: notebooks as they are, one theme, and nothing from another host."""

import sys
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from website import contents, reference  # noqa: E402

_parser = ConfigParser(delimiters=["="])
_parser.read(ROOT / "settings.ini", encoding="utf-8")
_settings = _parser["DEFAULT"]
_home, _branch = _settings["git_url"], _settings["branch"]

project, author = _settings["title"], _settings["author"]
copyright = _settings["copyright"]
release = version = _settings["version"]
language = "en"

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
source_suffix = {".ipynb": "myst-nb", ".md": "myst-nb", ".rst": "restructuredtext"}
templates_path, html_static_path = ["templates"], ["static"]
html_css_files, html_js_files = ["site.css"], ["site.js"]
html_use_index = False  # the reference has all names
html_search_scorer = str(Path(__file__).with_name("scorer.js"))

# Notebooks: outputs are those stored, which tools/notebooks.py --compare holds to be true.
nb_execution_mode = "off"
nb_custom_formats = {
    ".ipynb": ["website.reader.read", {"repository": f"{_home}/blob/{_branch}"}, False]
}
nb_merge_streams = True
nb_render_markdown_format = "myst"  # text that a cell computes, as other text
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

# The reference. Types are in the docstrings, with shapes.
autodoc_typehints = "none"
autodoc_member_order = "alphabetical"
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True
default_role = "py:obj"
add_module_names = False
toc_object_entries_show_parents = "hide"

# Mathematics from the site itself.
mathjax_path = "mathjax/tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}}

html_theme = "sphinx_book_theme"
html_title = project
html_favicon = html_logo = "static/logo.svg"
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_sourcelink_suffix = ""
html_theme_options = {
    "repository_url": _home,
    "repository_branch": _branch,
    "repository_provider": "github",
    "path_to_docs": _settings["nbs_path"],
    "use_repository_button": True,
    "use_download_button": True,
    "use_fullscreen_button": False,
    "launch_buttons": {
        "binderhub_url": "https://mybinder.org",
        "colab_url": "https://colab.research.google.com",
        "notebook_interface": "jupyterlab",
    },
    "navbar_persistent": [],
    "primary_sidebar_end": [],  # without a place for advertisements
    "logo": {"text": project},
    "footer_content_items": ["cite.html", "copyright.html"],
}


# The sidebar is drawn from the table of contents, in templates/areas.html.
html_sidebars = {"**": ["navbar-logo.html", "search-button-field.html", "areas.html"]}
_parts = [dict(group=part["caption"], **part) for part in contents.table()["parts"]]
_areas = [contents.area(part, reference.page_of) for part in _parts]
contents.number_chapters(_areas[0])
_releases = contents.releases(_home)


SLIDES = dict(label="slides-button", tooltip="Show this page as slides")


def add_context(app, pagename, templatename, context, doctree):
    """Give the sidebar what it draws, and chapters and guides buttons to show and download them."""
    context["areas"], context["releases"] = _areas, _releases
    read = any(pagename in area["pages"] for area in _areas[:-1])
    buttons = context.get("header_buttons", [])
    if read and context.get("page_source_suffix") == ".ipynb":
        address = f"{pagename.rpartition('/')[2]}.html?slides"
        buttons.insert(0, dict(type="link", icon="fas fa-desktop", url=address, **SLIDES))
    else:
        context["header_buttons"] = [b for b in buttons if b["label"] != "download-buttons"]


def add_trees(app, docname, source):
    """Give the first page the trees of all parts, which make the order of pages."""
    if docname == root_doc:
        import nbformat

        notebook = nbformat.reads(source[0], as_version=4)
        cell = nbformat.v4.new_markdown_cell(contents.first_page_trees(contents.table()), id="all")
        notebook.cells.append(cell)
        source[0] = nbformat.writes(notebook)


root_doc = contents.table()["root"]


def setup(app):
    """What is ours: the links of names, and the trees of the first page."""
    app.add_post_transform(reference.LinkNames)
    app.connect("autodoc-process-docstring", reference.examples_first, priority=800)
    app.connect("autodoc-process-docstring", reference.escape, priority=900)  # after numpydoc
    app.connect("missing-reference", reference.resolve)
    app.connect("source-read", add_trees)
    app.connect("html-page-context", add_context, priority=900)  # after the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}
