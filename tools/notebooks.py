"""Execute notebooks, each from top to bottom in a kernel of its own.

    python tools/notebooks.py                       every notebook under nbs/; exit with 1 if a cell
                                                    of any fails
    python tools/notebooks.py selection/curve [...] only these
    python tools/notebooks.py --write [...]         keep the outputs in the notebooks, cleaned

Two run at a time.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "nbs"
SECONDS_A_CELL, WORKERS = 600, 2


def find(names):
    """The notebooks of these names (path below nbs/, ending optional), or all of them."""
    if not names:
        return sorted(
            path
            for path in NOTEBOOKS.rglob("*.ipynb")
            if not any(part.startswith((".", "_")) for part in path.relative_to(NOTEBOOKS).parts)
        )
    paths = [NOTEBOOKS / f"{name.removesuffix('.ipynb')}.ipynb" for name in names]
    if missing := [str(path) for path in paths if not path.exists()]:
        raise SystemExit(f"No such notebook: {', '.join(missing)}")
    return paths


def forget_notice(notebook):
    """Take out what the first compilation of a process says on stderr.

    Whether it says so depends on earlier runs.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for output in cell.outputs:
                if output.get("name") == "stderr":
                    output.text = "".join(
                        line
                        for line in output.text.splitlines(True)
                        if not line.startswith("rankbook: compiling ")
                    )
            cell.outputs = [
                output for output in cell.outputs if output.get("name") != "stderr" or output.text
            ]


def execute(path, write):
    """Run one notebook; returns None, or the error as a text."""
    start, name = time.perf_counter(), path.relative_to(NOTEBOOKS)
    notebook = nbformat.read(path, 4)
    client = NotebookClient(
        notebook,
        timeout=SECONDS_A_CELL,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        print(f"FAILED  {name}", flush=True)
        return f"{name}\n{error}"
    if write:
        forget_notice(notebook)
        nbformat.write(notebook, path)
        subprocess.run(
            [Path(sys.executable).parent / "nbdev_clean", "--fname", path], cwd=ROOT, check=True
        )
    print(f"ok      {name} ({time.perf_counter() - start:.0f} s)", flush=True)


def main(arguments):
    """Run what was asked for and report every failure."""
    write = "--write" in arguments
    paths = find([argument for argument in arguments if argument != "--write"])
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # or every stored picture would carry today's date
    os.environ.setdefault(
        "OMP_NUM_THREADS", "1"
    )  # two kernels with all threads each get in each other's way
    with ThreadPoolExecutor(WORKERS) as pool:
        errors = [error for error in pool.map(lambda path: execute(path, write), paths) if error]
    for error in errors:
        print(f"\n{'=' * 100}\n{error}", file=sys.stderr)
    if errors:
        raise SystemExit(f"{len(errors)} of {len(paths)} notebooks failed")
    print(f"{len(paths)} notebooks ran without an error")


if __name__ == "__main__":
    main(sys.argv[1:])
