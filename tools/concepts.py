"""Count how often the package asks which kind of a thing it has.

    python tools/concepts.py [FOLDER]    print lines and files of each question, by its pattern

FOLDER is a clone, by default this one. Exported and plain modules count; comments do not.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = [  # what is asked, its pattern, and packages that may ask
    ("whether the kernel is linear", r"\bis_factored\b", ()),
    ("the same, elsewhere", r"\bis_factored\b", ("kernels", "registry")),
    ("whether only weights exist", r"\b(coef_is_weights|signs is (not )?None)\b", ()),
    ("how preferences are stored", r"\b(is_counted|is_listed)\b", ()),
    ("how preferences are weighted", r"\b(level_weight|better_weight)\b", ()),
    ("whether pairs have features", r"\bpair_features\b", ()),
    ("which target", r"\bisinstance\(.*\b(Preferences|Orders)\b", ()),
    ("which loss", r"\bisinstance\(.*\b(\w*Loss|Hinge|SquaredHinge|PlackettLuce)\b", ()),
    ("whether a loss is smooth", r"\bis_smooth\b", ()),
    ("whether there are queries", r"\bqid is (not )?None\b", ()),
]


def count(folder, pattern, without):
    """The lines with a pattern, and the files that have one."""
    lines = files = 0
    for path in sorted((folder / "rankbook").rglob("*.py")):
        if path.relative_to(folder / "rankbook").parts[0] not in without:
            code = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
            found = sum(bool(re.search(pattern, line)) for line in code.splitlines())
            lines, files = lines + found, files + bool(found)
    return lines, files


def main(arguments):
    """Print the table."""
    if len(arguments) > 1:
        raise SystemExit(__doc__.strip())
    for question, pattern, without in QUESTIONS:
        found = count(Path(*arguments) if arguments else ROOT, pattern, without)
        print("{:30}{:5} lines{:4} files".format(question, *found))


if __name__ == "__main__":
    main(sys.argv[1:])
