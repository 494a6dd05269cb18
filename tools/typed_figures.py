"""List sentences of chapters and guides that state a result by a typed figure.

    python tools/typed_figures.py                    all chapters and guides
    python tools/typed_figures.py book/uncertainty   some

Text that a cell computes cannot differ from what was measured. A figure in a cell of text can: a
time, a share, an accuracy. Parameters of an example and levels of intervals are listed, too, and
may stay.
"""

import json
import re
import sys
from pathlib import Path

NBS = Path(__file__).resolve().parents[1] / "nbs"
WORDS = "two three four five six seven eight nine ten twelve fifteen twenty fifty hundred thousand"
UNIT = r"(?:s|ms|seconds?|minutes?|hours?|[GM]B|%|per cent|times|(?:percentage )?points?)(?!\w)"
FIGURE = re.compile(
    rf"\d[\d,.]*\s?{UNIT}|(?<![\w.])0?\.\d{{2,}}|\b(?:{'|'.join(WORDS.split())})\s{UNIT}"
)
UNREAD = re.compile(r"```.*?```|\$[^$]*\$|`[^`]*`|\]\([^)]*\)", re.DOTALL)


def sentences(path):
    """The identifier of a cell of text and a sentence with a figure, for each one."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            text = UNREAD.sub("", "".join(cell["source"]))
            for sentence in re.split(r"(?<=[.!?|])\s+|\n", text):
                if FIGURE.search(sentence):
                    yield cell["id"], sentence.strip()


def main(names):
    """Print them."""
    paths = [NBS / f"{name.removesuffix('.ipynb')}.ipynb" for name in names]
    for path in paths or sorted(NBS.glob("book/*.ipynb")) + sorted(NBS.glob("guides/*.ipynb")):
        for cell, sentence in sentences(path):
            print(f"{path.relative_to(NBS)} {cell}: {sentence}")


if __name__ == "__main__":
    main(sys.argv[1:])
