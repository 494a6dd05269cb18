"""The reference: a page for each public name, made from its docstring, and links to them."""

import inspect
import re
from functools import cache, cached_property
from importlib import import_module

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from website import contents
from website.formulas import with_formulas

# Words of their own in prose: as a public name they are meant with `rb.` in front only.
WORDS = "compare interval joint load over scorer solve".split()
CALL = re.compile(r"([A-Za-z_][\w.]*)(\(.*\))?", re.DOTALL)


def value_of(name):
    """What a public name such as rankbook.metrics.auc stands for."""
    value = import_module("rankbook")
    for part in name.split(".")[1:]:
        value = getattr(value, part, None) or import_module(f"{value.__name__}.{part}")
    return value


def address(value):
    """The module and name under which an object was defined."""
    return f"{value.__module__}.{value.__qualname__}"


def members(cls):
    """The public methods and properties of a class that the package itself defines, sorted."""
    for name in sorted(dir(cls)):
        member = inspect.getattr_static(cls, name)
        if isinstance(member, (property, cached_property)):
            member = member.fget if isinstance(member, property) else member.func
        member = inspect.unwrap(getattr(member, "__func__", member))
        if not name.startswith("_") and inspect.isfunction(member) and member.__doc__:
            if member.__module__.startswith("rankbook."):
                yield name


@cache
def targets():
    """Of every way to write a public name the one that the reference has a page for."""
    found = {}
    for name in contents.public_names(contents.table()):
        value, short = value_of(name), name.removeprefix("rankbook.")
        last = short.rpartition(".")[2]
        ways = {name, address(value), f"rb.{short}", short}
        if last in import_module("rankbook").__all__ and value_of(f"rankbook.{last}") is value:
            ways |= {f"rb.{last}", f"rankbook.{last}"}
        if last not in WORDS:
            ways.add(last)
        below = list(members(value)) if inspect.isclass(value) else []
        for way in ways:
            found.setdefault(way, name)
            found |= {f"{way}.{member}": f"{name}.{member}" for member in below}
    return {way: name for way, name in found.items() if way not in WORDS}


def page_of(name):
    """Where the page of a public name is: no two differ in small and capital letters only."""
    small = name.lower()
    alike = small != name and small in contents.public_names(contents.table())
    return f"reference/{name}" + "_class" * alike


def of_module(module):
    """A line for the chapter that a module is exported from: where it and its names are found."""
    dotted = f"rankbook.{module}".removesuffix(".__init__").replace(".__init__", "")
    names = [n for n in contents.public_names(contents.table()) if home(n) == dotted]
    links = ", ".join(f"[`{n.removeprefix('rankbook.')}`](/{page_of(n)}.rst)" for n in names)
    return f"*Module* `{dotted}`" + f" · *reference:* {links}" * bool(links)


def home(name):
    """The module that defines a public name."""
    return value_of(name).__module__


def chapter_of(name):
    """The notebook that a public name is exported from; None where its module is plain Python."""
    path = home(name).removeprefix("rankbook.").replace(".", "/")
    return path if (contents.NOTEBOOKS / f"{path}.ipynb").exists() else None


def chapter_at(target):
    """The notebook of a module, or of the module that defines a name; None without a notebook."""
    package, *parts = target.split(".")
    paths = ["/".join(parts[:k]) for k in range(len(parts), 0, -1)] * (package == "rankbook")
    return next((p for p in paths if (contents.NOTEBOOKS / f"{p}.ipynb").exists()), None)


def summary(name):
    """The first sentence of a docstring."""
    lines = [inspect.getdoc(value_of(name)).partition("\n\n")[0].replace("\n", " ")]
    escape(None, "", name, None, None, lines)
    return re.split(r"(?<=[.;]) ", lines[0])[0]


def underlined(title, mark="="):
    """A heading of reStructuredText."""
    return f"{title}\n{mark * len(title)}\n"


def page(name):
    """The page of one public name, for autodoc."""
    value, chapter = value_of(name), chapter_of(name)
    lines = [underlined(name.rpartition(".")[2])]
    below = list(members(value)) if inspect.isclass(value) else []
    lines += [f".. auto{'class' if inspect.isclass(value) else 'function'}:: {name}"]
    lines += [f"   :members: {', '.join(below)}"] * bool(below)
    lines += ["", f"In the book: :doc:`/{chapter}`.", ""] if chapter else [""]
    return "\n".join(lines)


def listing(entry):
    """The page of a group of names, each with its first sentence."""
    lines = [underlined(entry["title"]), entry["about"], "", ".. list-table::", "   :widths: 35 65"]
    lines += [""]
    for name in entry["names"]:
        lines += [f"   * - :py:obj:`~{name}`", f"     - {summary(name)}"]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    lines += [f"   /{page_of(name)}" for name in entry["names"]]
    return "\n".join(lines) + "\n"


def target_of(text):
    """The public name that a piece of code in prose stands for, or None."""
    match = CALL.fullmatch(text.strip())
    return targets().get(match[1]) if match else None


def escape(app, what, name, obj, options, lines):
    """Typeset the formulas of a docstring, and let bars and underscores be themselves: coef_."""
    made, paragraph, code = [], [], False
    for line in [*lines, ""]:
        code = line.strip().startswith(">>>") or (code and bool(line.strip()))
        head = not line.strip() or re.match(r"\s*(\.\. |\*\*\w|:[\w ]+:$)", line)
        joined = paragraph and indent(line) == indent(paragraph[0])
        if paragraph and (code or head or not joined):
            made += prose("\n".join(paragraph)).split("\n")
            paragraph = []
        if code or head:
            made.append(line if code else prose(line, formulas=False))
        else:
            paragraph.append(line)
    lines[:] = made[:-1]


def indent(line):
    """How far a line is indented."""
    return len(line) - len(line.lstrip())


def prose(text, formulas=True):
    """Prose of a docstring for Sphinx; what stands in backquotes stays as it is."""
    parts = re.split(r"(`+[^`]+`+)", text)
    if formulas:
        parts[::2] = map(with_formulas, parts[::2])
        parts = re.split(r"(`+[^`]+`+)", "".join(parts))
    parts[::2] = [re.sub(r"(\||(?<=\w)_(?!\w))", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def examples_first(app, what, name, obj, options, lines):
    """Move the examples of a docstring, which numpydoc puts last, before its parameters."""
    heads = [i for i, line in enumerate(lines) if re.match(r"\.\. rubric::|:\w[\w ]*:$", line)]
    begin = next((i for i in heads if lines[i].startswith(".. rubric:: Examples")), None)
    if begin is not None:
        end = next((i for i in heads if i > begin), len(lines))
        examples = [*lines[begin:end], ""]
        del lines[begin:end]
        lines[heads[0] : heads[0]] = examples


def is_within(node, kinds):
    """Whether a node is below one of these kinds, for example in the text of a link."""
    while (node := node.parent) is not None:
        if isinstance(node, kinds):
            return True
    return False


class LinkNames(SphinxPostTransform):
    """Turn code in prose that is a public name, or a call of it, into a link to its page."""

    default_priority = 5

    def run(self, **options):
        """Wrap what is no link yet in a reference that the Python domain resolves."""
        for literal in list(self.document.findall(nodes.literal)):
            if is_within(literal, (nodes.reference, addnodes.pending_xref, nodes.title)):
                continue
            if name := target_of(literal.astext()):
                if self.env.docname == page_of(name):
                    continue
                link = addnodes.pending_xref(
                    "", refdomain="py", reftype="obj", reftarget=name, refexplicit=True
                )
                literal.replace_self(link)
                link += literal


def resolve(app, env, node, content):
    """Lead a reference to the page of a public name or to a chapter; other references are code."""
    if node.get("refdomain") != "py":
        return None
    from sphinx.util.nodes import make_refnode

    target, objects = node["reftarget"], env.domains["py"].objects
    if (name := targets().get(target)) in objects:
        entry = objects[name]
        return make_refnode(
            app.builder, node["refdoc"], entry.docname, entry.node_id, content, name
        )
    if chapter := chapter_at(target):
        return make_refnode(app.builder, node["refdoc"], chapter, "", content)
    return nodes.literal("", content.astext())
