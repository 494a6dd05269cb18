"""Write README.md from nbs/index.ipynb, or check that it is up to date.

    python tools/readme.py            write README.md
    python tools/readme.py --check    exit with 1 when README.md is not what would be written

Prose is copied. Links to notebooks and to pages lead to the site that settings.ini names, other
relative links are turned from the folder of the notebook to the root. Code becomes a python block,
printed text the block after it. A cell with the tag "site" is left out: it needs a page that runs
scripts. Nothing but the standard library is needed.
"""

import configparser
import json
import posixpath
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK, README = ROOT / "nbs" / "index.ipynb", ROOT / "README.md"
NOTE = "<!-- Written by tools/readme.py from nbs/index.ipynb: edit the notebook, not this file. -->"
LEFT_OUT = {"site", "remove-cell"}  # tags of what the site shows alone, and of what it hides
LINK = re.compile(r"(\]\(|(?:src|href)=\")([^)\s\"]+)")
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def site_url():
    """The address of the site."""
    parser = configparser.ConfigParser(delimiters=["="])
    parser.read(ROOT / "settings.ini", encoding="utf-8")
    return parser["DEFAULT"]["site_url"]


def from_root(match):
    """A link as seen from the root: to a page of the site, or with the folder in front."""
    opening, target = match.groups()
    if re.match(r"[a-z]+:|#", target):
        return match.group()
    page, mark, place = target.partition("#")
    if page.startswith("/") or page.endswith(".ipynb"):
        return f"{opening}{site_url()}/{page.removesuffix('.ipynb').strip('/')}.html{mark}{place}"
    return opening + posixpath.normpath(f"{NOTEBOOK.parent.name}/{target}")


def prose(source):
    """A markdown cell with its links turned, except inside code blocks."""
    parts = FENCE.split(source)
    parts[::2] = [LINK.sub(from_root, part) for part in parts[::2]]
    return "".join(parts)


def printed(output):
    """The plain text of an output; what has none cannot be shown and is an error."""
    if output["output_type"] == "stream":
        return "".join(output["text"])
    text = output.get("data", {}).get("text/plain")
    if text is None:
        raise SystemExit(
            f"{NOTEBOOK}: an output of type {output['output_type']} has no plain text, "
            "so README.md cannot show it"
        )
    return "".join(text)


def code(cell):
    """A code cell as a python block, followed by what it printed."""
    blocks = ["```python\n" + "".join(cell["source"]).strip() + "\n```"]
    text = "".join(printed(output) for output in cell["outputs"]).strip("\n")
    return blocks + ["```text\n" + text + "\n```"] * bool(text)


def readme():
    """The whole of README.md."""
    parts = [NOTE]
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if LEFT_OUT.intersection(cell["metadata"].get("tags", [])):
            continue
        parts += (
            [prose("".join(cell["source"]).strip())]
            if cell["cell_type"] == "markdown"
            else code(cell)
        )
    return "\n\n".join(parts) + "\n"


def main(arguments):
    """Write or check, and say which."""
    if arguments not in ([], ["--check"]):
        raise SystemExit(f"{__doc__.strip()}\n\nUnknown arguments: {' '.join(arguments)}")
    text = readme()
    if not arguments:
        README.write_text(text, encoding="utf-8")
    elif not README.exists() or README.read_text(encoding="utf-8") != text:
        raise SystemExit(
            "README.md is not what nbs/index.ipynb says: "
            "run `python tools/readme.py` and commit the result"
        )
    print(f"README.md {'is up to date' if arguments else 'written'}")


if __name__ == "__main__":
    main(sys.argv[1:])
