"""How long does it take to list plugins? Run by `pytest tests/benchmarks -s`.

It is left out of a plain `pytest`.
"""

import sys
import time

import pytest

import rankbook as rb
from rankbook.registry import plugins

pytest.importorskip("pytest_benchmark")


def test_fifty_distributions_are_listed_in_50_ms_and_none_is_imported(tmp_path, monkeypatch):
    """As pip leaves them, and with nothing remembered of an earlier list."""
    for i in range(50):
        info = tmp_path / f"engine_{i}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: engine-{i}\nVersion: 1.0\n")
        points = f"[rankbook.solvers]\nengine-{i} = engine_{i}:Engine\n"
        (info / "entry_points.txt").write_text(points)
        (tmp_path / f"engine_{i}.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    seconds = []
    for _ in range(7):
        plugins._read_entry_points.cache_clear()
        start = time.perf_counter()
        table = rb.list_solvers()
        seconds.append(time.perf_counter() - start)
    print(f"\n{len(table)} solvers: {1e3 * sorted(seconds)[3]:.0f} ms, the first time")
    start = time.perf_counter()
    rb.list_solvers()
    print(f"{1e3 * (time.perf_counter() - start):.1f} ms, again")
    assert not any(name.startswith("engine_") for name in sys.modules)
    assert len(table) >= 63 and sorted(seconds)[3] < 0.05
