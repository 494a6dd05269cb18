"""Plugins made on the spot, found by their metadata."""

import sys
import textwrap

import pytest


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A function that installs a distribution with one module and its entry points.

    It leaves them as pip would.
    """
    monkeypatch.syspath_prepend(tmp_path)
    names = []

    def install(dist, source, version="1.0", module=None, points=None, metadata=True):
        module = module or dist.replace("-", "_") + "_plugin"
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        info = tmp_path / f"{dist.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        if metadata:
            (info / "METADATA").write_text(
                f"Metadata-Version: 2.1\nName: {dist}\nVersion: {version}\n", encoding="utf-8"
            )
        points = points or {"zero": "Zero"}
        lines = [f"{name} = {module}:{target}" for name, target in points.items()]
        (info / "entry_points.txt").write_text(
            "[rankbook.solvers]\n" + "\n".join(lines) + "\n", encoding="utf-8"
        )
        names.append(module)

    yield install
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def forget():
    """Forget what a test registers."""
    from rankbook.registry import plugins

    before = dict(plugins.AT_RUN_TIME)
    yield
    plugins.AT_RUN_TIME.clear()
    plugins.AT_RUN_TIME.update(before)
