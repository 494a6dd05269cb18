"""List figures that a sentence of a chapter or guide states and no cell of its notebook shows.

    python tools/typed_figures.py                    all chapters and guides
    python tools/typed_figures.py book/uncertainty   some

A figure is a number with a unit (a time, a share, points) or with two decimals. A cell shows it if
its code or its stored output has a number that rounds to it. A share of 1 also shows per cent and
points, and a time or size may have a unit a thousand times larger or smaller. Stored outputs are
compared with new ones whenever notebooks run.
"""

import json
import re
import sys
from pathlib import Path

NBS = Path(__file__).resolve().parents[1] / "nbs"
UNIT = r"(?:s|ms|seconds?|minutes?|hours?|[GM]B|%|per cent|times|(?:percentage )?points?)(?!\w)"
FIGURE = re.compile(rf"(?<![\w.])(\d[\d,]*\.?\d*)\s?{UNIT}|(?<![\w.])(0?\.\d{{2,}})")
UNREAD = re.compile(r"```.*?```|\$[^$]*\$|`[^`]*`|\]\([^)]*\)", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*\.?\d*(?:e[-+]?\d+)?")
SHARES, SIZES = (1, 100), (1, 1000, 1e-3)  # by which a number of a cell may be multiplied


def texts(cell):
    """The code of a cell and the texts of its outputs; of a picture, those in it."""
    yield "".join(cell["source"])
    for output in cell["outputs"]:
        yield "".join(output.get("text", ""))
        for kind, data in output.get("data", {}).items():
            if kind == "image/svg+xml":
                yield " ".join(re.findall("<!-- (.*?) -->", "".join(data)))
            elif kind.startswith("text/"):
                yield re.sub("<[^>]*>", " ", "".join(data))


def unshown(notebook):
    """The identifier of a cell, a figure and its sentence, for each that no cell shows."""
    kinds = {"code": [], "markdown": []}
    for cell in notebook["cells"]:
        kinds[cell["cell_type"]].append(cell)
    written = "\n".join(text for cell in kinds["code"] for text in texts(cell))
    shown = [float(number.replace(",", "")) for number in NUMBER.findall(written)]
    for cell in kinds["markdown"]:
        text = UNREAD.sub("", "".join(cell["source"]))
        for sentence in re.split(r"(?<=[.!?|])\s+|\n", text):
            for found in FIGURE.finditer(sentence):
                typed = (found[1] or found[2]).rstrip(",.").replace(",", "")
                decimals = len(typed.partition(".")[2])
                factors = SHARES if re.search("%|per cent|point", found[0]) else SIZES
                factors = factors if found[1] else (1,)
                rounded = {round(value * by, decimals) for value in shown for by in factors}
                if float(typed) not in rounded:
                    yield cell["id"], found[0], sentence.strip()


def main(names):
    """Print them."""
    paths = [NBS / f"{name.removesuffix('.ipynb')}.ipynb" for name in names]
    for path in paths or sorted(NBS.glob("book/*.ipynb")) + sorted(NBS.glob("guides/*.ipynb")):
        for cell, figure, sentence in unshown(json.loads(path.read_text(encoding="utf-8"))):
            print(f"{path.relative_to(NBS)} {cell}: {figure}: {sentence}")


if __name__ == "__main__":
    main(sys.argv[1:])
