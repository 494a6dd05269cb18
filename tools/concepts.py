"""Count how often the package asks which kind of a thing it has.

    python tools/concepts.py [FOLDER]    print lines and files of each question, by its pattern

FOLDER is a clone, by default this one. Exported and plain modules count; comments do not.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOSSES = r"\w*Loss|Hinge|SquaredHinge|PlackettLuce"
TARGETS = r"Preferences|Orders|Target"
QUESTIONS = {
    "in which space a function lives": r"\bis_factored\b",
    "  outside kernels and registry": r"\bis_factored\b",
    "whether weights are all there is": r"\b(coef_is_weights|signs is (not )?None)\b",
    "how preferences are stored": r"\b(is_counted|is_listed)\b",
    "how preferences are weighted": r"\b(level_weight|better_weight)\b",
    "whether pairs have features": r"\bpair_features\b",
    "which target": rf"\bisinstance\([^()]*(\([^()]*\))?[^()]*\b({TARGETS})\b",
    "which loss": rf"\bisinstance\([^()]*\b({LOSSES})\b",
    "whether a loss is smooth": r"\bis_smooth\b",
    "whether there are queries": r"\bqid is (not )?None\b",
    "rules for ties between models": r"^def choose_best\b",
}


def count(folder, pattern, without=()):
    """The lines with a pattern, and the files that have one."""
    lines = files = 0
    for path in sorted((folder / "rankbook").rglob("*.py")):
        if path.relative_to(folder / "rankbook").parts[0] in without:
            continue
        code = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
        found = sum(bool(re.search(pattern, line)) for line in code.splitlines())
        lines, files = lines + found, files + bool(found)
    return lines, files


def main(arguments):
    """Print the table."""
    if len(arguments) > 1:
        raise SystemExit(__doc__.strip())
    folder = Path(*arguments) if arguments else ROOT
    for question, pattern in QUESTIONS.items():
        without = ("kernels", "registry") if question.startswith(" ") else ()
        print("{:34}{:5} lines{:4} files".format(question, *count(folder, pattern, without)))


if __name__ == "__main__":
    main(sys.argv[1:])
