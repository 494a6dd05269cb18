"""Packaging: everything is read from settings.ini, the one source of metadata."""

import re
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
ENTRY_POINTS, EXTRA = "entry_points.", "_requirements"

parser = ConfigParser(delimiters=["="])
parser.read(HERE / "settings.ini", encoding="utf-8")
cfg = parser["DEFAULT"]


def lines(key):
    """The non-empty lines of a setting."""
    return [line.strip() for line in cfg[key].splitlines() if line.strip()]


minors = range(
    int(cfg["min_python"].removeprefix("3.")), int(cfg["max_python"].removeprefix("3.")) + 1
)
groups = {key.removeprefix(ENTRY_POINTS): lines(key) for key in cfg if key.startswith(ENTRY_POINTS)}
extras = {key.removesuffix(EXTRA): cfg[key].split() for key in cfg if key.endswith(EXTRA)}
home = cfg["git_url"]


def description():
    """README.md with links to files turned to the repository, as a package index shows it."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    for opening, kind in ((r"(!\[[^]]*\]\()", "raw"), (r"(\]\()", "blob")):
        text = re.sub(opening + r"(?!https?:|#)", rf"\1{home}/{kind}/{cfg['branch']}/", text)
    return text


setup(
    name=cfg["lib_name"],
    version=cfg["version"],
    description=cfg["description"],
    long_description=description(),
    long_description_content_type="text/markdown",
    author=cfg["author"],
    license_expression="Apache-2.0",
    project_urls={
        "Homepage": cfg["site_url"],
        "Documentation": cfg["site_url"],
        "Source": home,
        "Changelog": f"{home}/blob/{cfg['branch']}/CHANGELOG.md",
        "Issues": f"{home}/issues",
    },
    keywords=cfg["keywords"].split(),
    classifiers=[
        f"Intended Audience :: {cfg['audience']}",
        *[f"Programming Language :: Python :: 3.{minor}" for minor in minors],
    ],
    python_requires=f">={cfg['min_python']}",
    packages=find_packages(include=[cfg["lib_path"], f"{cfg['lib_path']}.*"]),
    package_data={
        cfg["lib_name"]: [
            "*.pyi",
            "py.typed",
            "data/tables/*.csv",
            "plots/*.css",
            "plots/*.js",
            "app/*.css",
            "app/new_solver_files/*",
        ]
    },
    install_requires=cfg["requirements"].split(),
    extras_require=extras,
    entry_points={"console_scripts": lines("console_scripts"), **groups},
)
