"""Execute notebooks, each from top to bottom in a kernel of its own.

    python tools/notebooks.py                       every notebook under nbs/; exit with 1 if a cell
                                                    of any fails
    python tools/notebooks.py selection/curve [...] only these
    python tools/notebooks.py --write [...]         keep the outputs in the notebooks, cleaned;
                                                    RANKBOOK_DATA must be set for those that use it
    python tools/notebooks.py --compare [...]       exit with 10 where no cell fails and an output
                                                    is not the stored one: words to the letter,
                                                    numbers and places in pictures but for rounding,
                                                    and the numbers of a cell tagged `measured` not
                                                    at all
    python tools/notebooks.py --alone [...]         in an empty folder each, in an environment with
                                                    nothing but a kernel, as in Colab: the first
                                                    cell installs a wheel of the package instead of
                                                    the repository; by default chapters and guides

Two run at a time, alone one.
"""

import difflib
import os
import re
import subprocess
import sys
import time
import venv
from base64 import b64decode, b64encode
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from opening import RAW, REPOSITORY
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "nbs"
SECONDS_A_CELL, WORKERS = 600, 2
FAILED, DIFFERENT = 1, 10  # what the script exits with; a Python without the script exits with 2
LINES, LINE = 12, 160  # of each difference are told, and letters of a line
# Another processor adds in another order: numbers may differ by this share, or this much where they
# stand for nothing but rounding, and places in a picture by some points.
SHARE, ROUNDING, POINT = 0.02, 1e-6, 3.0
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
# Names that are made of what they name or by chance, images within pictures, places in memory.
UNSEEN = re.compile(
    r"(?<=[\"#])[mpCh][0-9a-f]{10}\b|\bT_[0-9a-f]{5}(?=[_\"])"
    r"|data:image/png;base64,[^\"]*| at 0x[0-9a-f]{6,}"
)


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


def refuse_those_with_data(paths):
    """Exit if a notebook shows less without the data files, because its outputs would be lost."""
    less = [path for path in paths if "RANKBOOK_DATA" in path.read_text(encoding="utf-8")]
    if less:
        names = ", ".join(path.relative_to(NOTEBOOKS).as_posix() for path in less)
        raise SystemExit(
            f"RANKBOOK_DATA is not set, and these notebooks show less without data files: {names}. "
            "Set RANKBOOK_DATA to the folder of the files, or name other notebooks."
        )


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


def join_streams(notebook):
    """Put together what was printed in a row: in how many pieces it arrived is chance."""
    for cell in notebook.cells:
        joined = []
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and joined:
                if joined[-1].get("name") == output.name:
                    joined[-1].text += output.text
                    continue
            joined.append(output)
        if joined:
            cell.outputs = joined


def fewer_colours(match):
    """An image within a picture, of 256 colours: a quarter of the size, and the same to the eye."""
    data = BytesIO()
    with Image.open(BytesIO(b64decode(match[2]))) as image:
        image.quantize(256).save(data, "PNG", optimize=True)
    return match[1] + b64encode(data.getvalue()).decode()


def compact(svg):
    """A picture on one line, drawn to a hundredth of a point, without names for its groups.

    Numbers below 1 stay as they are: they are factors, of letters for instance.
    """
    svg = re.sub(r"(data:image/png;base64,)([^\"]*)", fewer_colours, svg)
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|(?<=<g) id=\"[^\"]*\"", "", svg, flags=re.S)
    svg = re.sub(r"(?<![\d.])([1-9]\d*\.\d\d)\d+", r"\1", svg)
    return re.sub(r"\s+", " ", svg).replace("> <", "><")


def compact_pictures(notebook):
    """Store pictures as small as they can be: a changed one is then one changed line, too."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if svg := output.get("data", {}).get("image/svg+xml"):
                output.data["image/svg+xml"] = compact(svg)


def shown(cell):
    """What a cell of code shows: (kind, text) of each output."""
    parts = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            parts.append((output.name, output.text))
        else:
            parts += sorted((kind, str(data)) for kind, data in output.get("data", {}).items())
    return parts


def near(was, now, unit):
    """Whether two numbers are the same but for rounding, which some counts hang on, too."""
    was, now = float(was), float(now)
    return abs(was - now) <= max(unit, SHARE * max(abs(was), abs(now)))


def agree(was, now, measured):
    """Whether two texts, or pictures, are the same but for numbers that are near."""
    drawn = "<svg" in was
    if was == now or (drawn and measured and "<svg" in now):  # what is measured has other axes, too
        return True
    texts = [re.sub(r"\s+", " ", UNSEEN.sub("", text)) for text in (was, now)]
    words, numbers = zip(*((NUMBER.split(text), NUMBER.findall(text)) for text in texts))
    unit = POINT if drawn else ROUNDING
    return words[0] == words[1] and (measured or all(map(near, *numbers, repeat(unit))))


def differences(stored, fresh):
    """Where the outputs of a notebook that just ran are not the stored ones: one text a cell."""
    told = []
    for before, after in zip(stored.cells, fresh.cells):
        was, now = shown(before), shown(after)
        measured = "measured" in before.metadata.get("tags", [])
        if [kind for kind, _ in was] == [kind for kind, _ in now]:
            pairs = [(a, b) for (_, a), (_, b) in zip(was, now) if not agree(a, b, measured)]
            told += [f"cell {before.get('id')}\n{changes(*pair)}" for pair in pairs]
        else:
            kinds = [" ".join(kind for kind, _ in parts) or "nothing" for parts in (was, now)]
            told.append(f"cell {before.get('id')}: {kinds[0]} stored, {kinds[1]} fresh")
    return told


def changes(was, now):
    """The lines that differ, not too many; of a picture, which is one line, where it begins to."""
    if "<svg" in was:
        start = len(os.path.commonprefix([was, now]))
        was, now = (text[max(start - 60, 0) : start + 60] for text in (was, now))
    lines = difflib.unified_diff(was.splitlines(), now.splitlines(), n=0, lineterm="")
    return "\n".join(f"    {line[:LINE]}" for line in list(lines)[2:][:LINES])


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that prints nothing."""

    def log_message(self, *args):
        """Print nothing."""


@contextmanager
def served():
    """The address at which this machine shows the repository."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(ROOT)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


@contextmanager
def alone(paths):
    """Copies of notebooks, each in an empty folder; their kernel, "alone", has no packages."""
    with TemporaryDirectory() as folder, served() as address:
        folder = Path(folder)
        source, wheels = folder / "source", folder / "wheels"
        subprocess.run(["git", "clone", "--quiet", ROOT, source], check=True)
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", source]
        subprocess.run([*build, "--wheel-dir", wheels], check=True)
        (wheel,) = wheels.glob("*.whl")
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "ipykernel"], check=True)
        kernel = ["--prefix", folder / "kernels", "--name", "alone"]
        quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([python, "-m", "ipykernel", "install", *kernel], check=True, **quiet)
        os.environ["JUPYTER_PATH"] = str(folder / "kernels" / "share" / "jupyter")
        os.environ.pop("PYTHONPATH", None)  # which may show the package
        copies = []
        for path in paths:
            copy = folder / "run" / path.stem / path.relative_to(NOTEBOOKS)
            copy.parent.mkdir(parents=True)
            text = path.read_text(encoding="utf-8")
            text = text.replace(REPOSITORY, wheel.as_uri()).replace(RAW, address)
            copy.write_text(text, encoding="utf-8")
            copies.append(copy)
        yield copies


def execute(path, write, compare=False, kernel="python3"):
    """Run one notebook; returns None, or what went wrong: a code to exit with, and a text."""
    start = time.perf_counter()
    name = path.relative_to(NOTEBOOKS) if path.is_relative_to(NOTEBOOKS) else path.name
    notebook = nbformat.read(path, 4)
    stored = deepcopy(notebook)
    join_streams(stored)
    client = NotebookClient(
        notebook,
        timeout=SECONDS_A_CELL,
        kernel_name=kernel,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        print(f"FAILED  {name}", flush=True)
        return FAILED, f"{name}\n{error}"
    forget_notice(notebook)
    join_streams(notebook)
    compact_pictures(notebook)
    if compare and (told := differences(stored, notebook)):
        print(f"DIFFERS {name}", flush=True)
        return DIFFERENT, "\n".join([str(name), *told])
    if write:
        nbformat.write(notebook, path)
        subprocess.run(
            [Path(sys.executable).parent / "nbdev-clean", "--fname", path], cwd=ROOT, check=True
        )
    print(f"ok      {name} ({time.perf_counter() - start:.0f} s)", flush=True)


def main(arguments):
    """Run what was asked for and report every failure."""
    options = {argument for argument in arguments if argument.startswith("--")}
    if unknown := options - {"--write", "--compare", "--alone"}:
        raise SystemExit(f"{__doc__.strip()}\n\nUnknown options: {' '.join(sorted(unknown))}")
    write, compare = "--write" in options, "--compare" in options
    paths = find(names := [argument for argument in arguments if argument not in options])
    if write and "RANKBOOK_DATA" not in os.environ:
        refuse_those_with_data(paths)
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # or every stored picture would carry today's date
    os.environ.setdefault(
        "OMP_NUM_THREADS", "1"
    )  # two kernels with all threads each get in each other's way
    if "--alone" in options:
        chapters = [path for path in paths if names or path.parent.name in ("book", "guides")]
        with alone(chapters) as paths:
            errors = [execute(path, False, kernel="alone") for path in paths]
    else:
        with ThreadPoolExecutor(WORKERS) as pool:
            errors = list(pool.map(lambda path: execute(path, write, compare), paths))
    errors = [error for error in errors if error]
    for _, error in errors:
        print(f"\n{'=' * 100}\n{error}", file=sys.stderr)
    if errors:
        codes = [code for code, _ in errors]
        counts = f"{codes.count(FAILED)} failed, {codes.count(DIFFERENT)} differ"
        print(f"of {len(paths)} notebooks {counts}", file=sys.stderr)
        raise SystemExit(min(codes))
    print(
        f"{len(paths)} notebooks ran without an error"
        + ", and every output is the stored one" * compare
    )


if __name__ == "__main__":
    main(sys.argv[1:])
