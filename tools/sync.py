"""Make the package and README.md afresh from the notebooks.

    python tools/sync.py              write rankbook/ and README.md again, clean the notebooks,
                                      tag what a site need not show of them
    python tools/sync.py --check      the same, then exit with 1 when anything committed has changed

Every module of rankbook/ is exported from a notebook. They are deleted first: the export alone
never removes a module whose notebook is gone, and with this it shows as a deleted file. The stub
rankbook/__init__.pyi, which editors and lazy_loader read, is the cell `#| stub` of
nbs/interface.ipynb.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

from notebooks import find

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
INTERFACE, STUB = ROOT / "nbs" / "interface.ipynb", ROOT / "rankbook" / "__init__.pyi"
NOTE = "# Written by tools/sync.py from nbs/interface.ipynb: edit the notebook, not this file."
HIDDEN = "remove-cell"


def run(*command):
    """Run a command in the root; a failure ends the script."""
    result = subprocess.run(command, cwd=ROOT)
    if result.returncode:
        raise SystemExit(f"{Path(command[0]).name} ended with {result.returncode}")


def stub():
    """The text of the stub: the imports of the notebook, seen from the package, and their names."""
    cells = json.loads(INTERFACE.read_text(encoding="utf-8"))["cells"]
    (cell,) = ("".join(c["source"]) for c in cells if c["source"][0].strip() == "#| stub")
    imports = cell.removeprefix("#| stub\n").strip()
    names = sorted(alias.name for line in ast.parse(imports).body for alias in line.names)
    public = "".join(f'    "{name}",\n' for name in names)
    imports = imports.replace("from rankbook.", "from .").replace("from rankbook ", "from . ")
    return f"{NOTE}\n\n{imports}\n\n__version__: str\n__all__ = [\n{public}]\n"


def is_plumbing(source):
    """Whether a cell of code is of no use to a reader.

    It names the module, sets the style of pictures, is hidden by nbdev, or exports imports only.
    """
    if re.search(r"^(#\|\s*(default_exp|hide\b)|%load_ext rankbook\.)", source, re.MULTILINE):
        return True
    if not re.match(r"#\|\s*export", source):
        return False
    body = ast.parse(source).body
    return all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in body)


def tag_plumbing():
    """Tag the plumbing of the notebooks, and nothing else, as MyST-NB and Jupyter Book read it."""
    for path in find([]):
        notebook, changed = json.loads(path.read_text(encoding="utf-8")), False
        for cell in notebook["cells"]:
            tags = cell["metadata"].get("tags", [])
            wanted = [tag for tag in tags if tag != HIDDEN]
            if cell["cell_type"] == "code" and is_plumbing("".join(cell["source"])):
                wanted.append(HIDDEN)
            if wanted != tags:
                cell["metadata"]["tags"], changed = wanted, True
        if changed:
            text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
            path.write_text(text + "\n", encoding="utf-8")


def main(arguments):
    """Delete, export, tag, clean, write the README; then look what changed."""
    if arguments not in ([], ["--check"]):
        raise SystemExit(f"{__doc__.strip()}\n\nUnknown arguments: {' '.join(arguments)}")
    for module in (ROOT / "rankbook").rglob("*.py"):
        module.unlink()
    STUB.write_text(stub(), encoding="utf-8")
    run(BIN / "nbdev_export")
    tag_plumbing()
    run(BIN / "nbdev_clean")
    run(sys.executable, "tools/readme.py", *arguments)
    if arguments:
        status = subprocess.run(
            ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        if status:
            raise SystemExit(
                f"The notebooks and the package disagree, or a notebook is not clean:\n{status}"
                "Edit notebooks only, run `python tools/sync.py` and commit what it writes."
            )
        print("Notebooks, package and README.md agree.")


if __name__ == "__main__":
    main(sys.argv[1:])
