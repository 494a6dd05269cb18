"""The first cell of code of every notebook, which tools/sync.py writes.

A notebook that runs alone, for example in Colab, lacks rankbook, optional packages, and the tables
in its folder. The cell installs the missing packages, rankbook itself from its repository until the
first release, and downloads the tables from there.
"""

import re
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAME = "opening"  # id of the cell
parser = ConfigParser(delimiters=["="])
parser.read(ROOT / "settings.ini", encoding="utf-8")
SETTINGS = parser["DEFAULT"]
REPOSITORY = f"git+{SETTINGS['git_url']}"
RAW = SETTINGS["git_url"].replace("//github.com/", "//raw.githubusercontent.com/")
RAW += f"/{SETTINGS['branch']}/"
DOWNLOADED = re.compile(r'load(\("|_)(auto|diabetes|optdigits)\b|datasets\.load\(name\)')


def members(key):
    """The requirements of a setting, and of the extras that it names."""
    for each in SETTINGS.get(key, "").split():
        if extras := re.match(r"rankbook\[(.*)\]", each):
            for extra in extras[1].split(","):
                yield from members(f"{extra}_requirements")
        else:
            yield each


def by_module(*keys):
    """The requirements of some settings, by the module that each installs."""
    found = [each for key in keys for each in members(key)]
    names = (re.match(r"[\w-]+", each)[0].removesuffix("-base") for each in found)
    return dict(zip((name.replace("-", "_") for name in names), found))


# Notebooks show stored results of the peers and do not run them.
PEERS = "benchmarks_requirements", "peers_requirements"
EXTRAS = [key for key in SETTINGS if key.endswith("_requirements") and key not in PEERS]
OWN = by_module("requirements")
OPTIONAL = {name: each for name, each in by_module(*EXTRAS).items() if name not in OWN}
PACKAGE = "rankbook[all]" if "all_requirements" in SETTINGS else "rankbook"


def needs(code):
    """The requirement of each module that a notebook imports without testing for it."""
    modules = re.findall(r"^\s*(?:import|from) (\w+)", code, re.MULTILINE)
    modules += ["pyarrow"] * (".parquet" in code) + ["pooch"] * bool(DOWNLOADED.search(code))
    modules = sorted({name for name in modules if f'find_spec("{name}")' not in code})
    found = {name: OPTIONAL[name] for name in modules if name in OPTIONAL}
    return {"rankbook": f"{PACKAGE}@{REPOSITORY}"} | found


def tables(code, folder):
    """The files of the repository that a notebook in this folder reads."""
    names = dict.fromkeys(re.findall(r'"([\w./]+\.(?:csv|txt))"', code))
    return [name for name in names if (folder / name).is_file()]


def listed(values, opening, closing):
    """A collection with an entry on each line, if one line is too short."""
    one = f"{opening}{', '.join(values)}{closing}"
    lines = "".join(f"    {value},\n" for value in values)
    return one if len(one) < 80 else f"{opening}\n{lines}{closing}"


def source(path, cells):
    """The source of the first cell of code of a notebook."""
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    packages = [f'"{name}": "{each}"' for name, each in needs(code).items()]
    text = (
        "#| hide\n"
        "# Install what is missing where the notebook runs alone, for example in Colab.\n"
        "import subprocess\nimport sys\nfrom importlib.util import find_spec\n"
    )
    names = tables(code, path.parent)
    if names:
        text += "from pathlib import Path\nfrom urllib.request import urlretrieve\n"
    text += (
        f"\npackages = {listed(packages, '{', '}')}\n"
        "missing = [each for name, each in packages.items() if find_spec(name) is None]\n"
        "if missing:\n"
        '    install = [sys.executable, "-m", "pip", "install", "--quiet"]\n'
        "    subprocess.run([*install, *missing], check=True)\n"
    )
    if names:
        names = [f'"{name}"' for name in names]
        text += (
            f'\nhome = "{RAW}{path.parent.relative_to(ROOT).as_posix()}/"\n'
            f"for name in {listed(names, '[', ']')}:\n"
            "    if not Path(name).exists():\n"
            "        Path(name).parent.mkdir(exist_ok=True)\n"
            "        urlretrieve(home + name, name)\n"
        )
    return text.removesuffix("\n")


def open_alone(path, notebook):
    """Put the cell before all other code of a notebook (a dict), or write it again."""
    cells = [cell for cell in notebook["cells"] if cell.get("id") != NAME]
    kinds = [cell["cell_type"] for cell in cells]
    if "code" not in kinds:
        return
    lines = source(path, cells).splitlines(True)
    cell = dict(cell_type="code", execution_count=None, id=NAME, metadata={}, outputs=[])
    old = [cell for cell in notebook["cells"] if cell.get("id") == NAME]
    cell |= dict(metadata=old[0]["metadata"] if old else {}, source=lines)
    cells.insert(kinds.index("code"), cell)
    notebook["cells"] = cells
