"""The option --report: the result of a command as a page of HTML."""

import shlex
import sys
from pathlib import Path

from ...base.errors import ArgumentError
from .options import option
from .reading import check_place

Report = option(
    Path,
    "Write a report to this .html file: which model or item is best, how sure that is, and what to"
    " do next, with pictures and details.",
    "--report",
)


def check_report(file, *others):
    """Refuse a file to which no report can be written; see :func:`check_place`."""
    if file is None:
        return
    from rankbook.app.page import require_pictures

    if file.suffix.lower() not in (".html", ".htm"):
        raise ArgumentError(f"--report is {str(file)!r}", "a file that ends in .html")
    check_place("--report", file, *others)
    require_pictures("--report")


def write_report(file, models, X=None, y=None, qid=None, commands=(), **more):
    """Write the report of a command, with the command and others that may follow it."""
    if file is None:
        return
    from rankbook.app.report import make_report

    commands = [shlex.join(["rankbook", *sys.argv[1:]]), *commands]
    make_report(models, X, y, qid, commands=commands, **more).save(file)


class Scored:
    """A model, or a table of scores, with its scores of the rows of DATA."""

    predicts_as_model = True

    def __init__(self, model, scores):
        self.model, self.scores = model, scores

    def __getattr__(self, name):
        return getattr(self.model, name)

    def predict(self, X):
        """Return the scores."""
        return self.scores
