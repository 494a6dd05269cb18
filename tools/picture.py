"""Draw nbs/images/path.svg, the picture at the head of README.md.

    python tools/picture.py

The cancer data, every second tumour to train and the others to validate, as in the example of the
README: above, six preferences along the path of all solutions; below, the validation curve with its
optimal interval.
"""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

import rankbook as rb

PICTURE = Path(__file__).resolve().parents[1] / "nbs" / "images" / "path.svg"


def solve():
    """The path and the validation curve."""
    data = rb.datasets.load("cancer")
    X, y = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), data.y
    path = rb.solve_path(rb.RankSVMProblem(X[::2], rb.Preferences.from_scores(y[::2])))
    return path, rb.validation_curve(path, X[1::2], rb.Preferences.from_scores(y[1::2]))


def draw(path, curve):
    """One above the other, over the same lambdas."""
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 5.5), sharex=True, layout="constrained")
    rb.plots.plot_path(path, ax=above)
    above.get_legend().remove()  # the numbers of two tumours tell a reader nothing
    rb.plots.plot_validation_curve(curve, ax=below)
    above.set_xlabel("")
    return figure


if __name__ == "__main__":
    matplotlib.rcParams["svg.hashsalt"] = "rankbook"  # the same picture makes the same file
    PICTURE.parent.mkdir(exist_ok=True)
    draw(*solve()).savefig(PICTURE, metadata={"Date": None})
    print(f"{PICTURE.name}: {PICTURE.stat().st_size // 1024} kB")
