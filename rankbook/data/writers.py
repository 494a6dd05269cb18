"""Writing tables and data sets."""

import gzip
import json
import re
import sys
from pathlib import Path

from ..base.files import write_whole
from ..base.limits import import_extra
from ..base.tables import printable
from ..base.validation import unknown_name

SEPARATORS = {".csv": ",", ".tsv": "\t"}
TABLES = (*SEPARATORS, ".parquet")
NUMBERED = (".svm", ".svmlight", ".letor", ".txt", ".dat")


def ending_of(file, accepted):
    """The ending of a file that is to be written, in small letters, and whether gzip packs it.

    Raises
    ------
    ValueError
        If it is none of the accepted ones.
    FileNotFoundError, IsADirectoryError
        If its folder does not exist, or it is a folder.
    """
    file = Path(file)
    packed = file.suffix.lower() == ".gz"
    ending = (file.with_suffix("") if packed else file).suffix.lower()
    if ending not in accepted or packed and ending == ".parquet":
        raise unknown_name(f"the ending of {str(file)!r}", ending, accepted)
    if not file.parent.is_dir():
        raise FileNotFoundError(f"{str(file)!r}: there is no folder {str(file.parent)!r}.")
    if file.is_dir():
        raise IsADirectoryError(f"{str(file)!r} is a folder; expected a file.")
    return ending, packed


def write_bytes(file, content, packed):
    """Bytes as a file, whole or not at all; packed without a time, so that it is the same twice."""
    content = gzip.compress(content, mtime=0) if packed else content
    write_whole(file, lambda handle: handle.write(content))


# the beginning of a text that a spreadsheet runs as a formula; numbers with a sign are none
FORMULA = re.compile(r"[=@\t\r\n]|[+-](?!(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$)")


def write_frame(frame, file="-", formulas=True):
    """Write a data frame.

    Parameters
    ----------
    frame : DataFrame
        Its index is not written.
    file : str or path, default "-"
        ``.csv``, ``.tsv`` (also with ``.gz``) or ``.parquet``; "-" is standard output, as CSV.
    formulas : bool, default True
        Whether a ``.csv`` or ``.tsv`` file gets all text as it is. Otherwise an apostrophe precedes
        text that begins with =, +, -, @, a tab or a line end and is no number, because a
        spreadsheet would run it as a formula.

    Raises
    ------
    ValueError, FileNotFoundError, IsADirectoryError, PermissionError
        If the ending is another, or the file cannot be written.
    ImportError
        For Parquet without pyarrow.
    """
    if str(file) == "-":
        text = frame.to_csv(index=False, lineterminator="\n")
        sys.stdout.write(printable(text) if sys.stdout.isatty() else text)
        return
    ending, packed = ending_of(file, TABLES)
    if ending == ".parquet":
        import_extra("pyarrow", "data", f"writing {str(file)!r} as Parquet")
        write_whole(file, lambda handle: frame.to_parquet(handle, index=False))
        return
    if not formulas:
        quoted = lambda cell: f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell
        text = frame.select_dtypes(exclude=["number", "bool"])
        frame = frame.assign(**{name: text[name].map(quoted) for name in text})
    text = frame.to_csv(index=False, sep=SEPARATORS[ending], lineterminator="\n")
    write_bytes(file, text.encode(), packed)


def json_rows(frame):
    """The rows of a data frame as the text of a JSON list, a record each."""
    known = frame.astype(object).where(frame.notna(), None)
    return json.dumps(known.to_dict("records"), default=str, separators=(",", ":"))


def svmlight_lines(data):
    """The lines of a data set, as text: the rows of a query together, the queries as they come."""
    import numpy as np
    import pandas as pd

    if data.qid is None:
        order, queries = np.arange(len(data.y)), np.full(len(data.y), "")
    else:
        order = np.argsort(pd.factorize(data.qid)[0], kind="stable")
        queries = np.array([f" qid:{q}" for q in data.qid])
    for row in order:
        x = data.X[row]
        words = "".join(f" {j + 1}:{float(x[j])!r}" for j in np.flatnonzero(x))
        label = float(data.y[row])
        yield f"{int(label) if label.is_integer() else repr(label)}{queries[row]}{words}\n"


def write_dataset(data, file):
    """Write a data set: features, target and query ids.

    Parameters
    ----------
    data : Dataset
    file : str or path
        As of :func:`write_frame`, with the columns "qid", if there are queries, and "target"
        before the features; or SVMlight and LETOR text (``.svm .svmlight .letor .txt .dat``, also
        with ``.gz``), which holds no names.

    Raises
    ------
    ValueError, FileNotFoundError, IsADirectoryError, PermissionError
        If the ending is another, a feature has the name of one of these columns, or the file cannot
        be written.
    """
    import pandas as pd

    if str(file) != "-":
        ending, packed = ending_of(file, (*TABLES, *NUMBERED))
        if ending in NUMBERED:
            write_bytes(file, "".join(svmlight_lines(data)).encode(), packed)
            return
    frame = pd.DataFrame(data.X, columns=data.feature_names)
    for name, column in (("target", data.y), ("qid", data.qid)):
        if column is None:
            continue
        if name in data.feature_names:
            raise ValueError(
                f"data has a feature {name!r}, a name that its {name} takes; rename it."
            )
        frame.insert(0, name, column)
    write_frame(frame, file)
