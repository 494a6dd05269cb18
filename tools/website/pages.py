"""Pages that are no notebooks: lists of chapters and names, the command line, how to cite."""

import re
import shutil

import yaml
from website import contents, reference

ROOT = contents.ROOT
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s]+)\)")


def write(source, repository):
    """Write all of them into the folder that Sphinx reads, where they have changed."""
    toc, texts = contents.table(), {}
    for entry in contents.entries(toc):
        place = contents.page_of(entry)
        if "page" in entry:
            texts[f"{place}.md"] = contents.listing(entry, toc)
        elif "api" in entry:
            texts[f"{place}.rst"] = reference.listing(entry)
            texts |= {f"{reference.page_of(n)}.rst": reference.page(n) for n in entry["names"]}
        elif "file" in entry:
            texts[f"{place}.md"] = document((ROOT / entry["file"]).read_text("utf-8"), repository)
        elif "commands" in entry:
            texts[f"{place}.md"] = commands()
        elif "cite" in entry:
            texts[f"{place}.md"] = citation()
    for name, text in texts.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return set(texts)


def copy_notebooks(source):
    """Copy the notebooks and what lies beside them, with their times; return the names."""
    names = set()
    for path in contents.NOTEBOOKS.rglob("*"):
        name = path.relative_to(contents.NOTEBOOKS)
        if path.is_file() and not any(part.startswith((".", "_")) for part in name.parts):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, source / name)
            names.add(name.as_posix())
    return names


def document(text, repository):
    """A file of the repository's root, its links turned to pages or to the repository."""
    pages = {
        entry["file"]: entry for entry in contents.entries(contents.table()) if "file" in entry
    }

    def target(match):
        name = match[1]
        if name.startswith("nbs/") and name.endswith(".ipynb"):
            return f"](/{name.removeprefix('nbs/')})"
        if name in pages:
            return f"](/{contents.page_of(pages[name])}.md)"
        return f"]({repository}/{name})"

    return LINK.sub(target, text)


def commands():
    """What the command line says of itself, command by command."""
    import typer
    from typer.testing import CliRunner

    from rankbook.app.cli.main import app

    parts = ["# Command line", "The commands of `rankbook`, as `--help` describes them."]
    names = [[], *([name] for name in typer.main.get_command(app).commands)]
    for words in names:
        shown = CliRunner(env={"COLUMNS": "88", "TERMINAL_WIDTH": "88"}).invoke(
            app, [*words, "--help"], prog_name="rankbook"
        )
        if shown.exit_code:
            raise SystemExit(f"rankbook {' '.join(words)} --help: {shown.output}")
        title = " ".join(["rankbook", *words])
        parts.append(f"## {title}\n\n```text\n{shown.output.strip()}\n```")
    return "\n\n".join(parts) + "\n"


def citation():
    """How to cite, from CITATION.cff: as a sentence and for BibTeX."""
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    authors = " and ".join(
        author.get("name") or f"{author['given-names']} {author['family-names']}"
        for author in cff["authors"]
    )
    abstract = cff["abstract"].rstrip(".")
    papers = "\n".join(f"- {reference_of(paper)}" for paper in cff["references"])
    return f"""# How to cite

{cff["message"]}

{authors}. *{cff["title"]}: {abstract[0].lower()}{abstract[1:]}*. Version {cff["version"]}.

```bibtex
@software{{{cff["title"]},
  author  = {{{{{authors}}}}},
  title   = {{{cff["title"]}: {abstract[0].lower()}{abstract[1:]}}},
  version = {{{cff["version"]}}},
  license = {{{cff["license"]}}},
}}
```

## The papers

{papers}
"""


def reference_of(paper):
    """A reference of CITATION.cff as a line: authors, year, title, where it appeared."""
    authors = ", ".join(f"{a['given-names']} {a['family-names']}" for a in paper["authors"])
    year = f" ({paper['year']})" if "year" in paper else ""
    place = paper.get("collection-title") or paper["notes"]
    return f"{authors}{year}: *{paper['title']}*. {place}."
