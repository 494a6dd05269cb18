"""Writing tables and data sets."""

import gzip
import json
import re
import sys
from pathlib import Path

from ..base.errors import ArgumentError, Assumption
from ..base.files import write_whole
from ..base.limits import import_extra, warn, written_out
from ..base.tables import in_line
from ..base.validation import unknown_name

SEPARATORS = {".csv": ",", ".tsv": "\t"}
TABLES = (*SEPARATORS, ".parquet")
RUN = ".trec"
NUMBERED = (".svm", ".svmlight", ".letor", ".txt", ".dat")


def ending_of(file, accepted):
    """Return the ending of a file to write, in lower case, and whether to use gzip.

    Raises
    ------
    ValueError
        If the ending is not accepted.
    FileNotFoundError, IsADirectoryError
        If its folder does not exist, or the file is a folder.
    """
    file = Path(file)
    packed = file.suffix.lower() == ".gz"
    ending = (file.with_suffix("") if packed else file).suffix.lower()
    if ending not in accepted or packed and ending == ".parquet":
        raise unknown_name(f"the ending of {str(file)!r}", ending, accepted)
    if not file.parent.is_dir():
        raise FileNotFoundError(f"{str(file)!r}: there is no folder {str(file.parent)!r}.")
    if file.is_dir():
        raise IsADirectoryError(f"{str(file)!r} is a folder. Pass a file.")
    return ending, packed


def write_bytes(file, content, packed):
    """Write bytes to a file, whole or not at all; gzip stores no time, so files are equal."""
    content = gzip.compress(content, mtime=0) if packed else content
    write_whole(file, lambda handle: handle.write(content))


# start of a text that a spreadsheet runs as a formula; signed numbers are not formulas
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
        Whether to write text to ``.csv`` and ``.tsv`` files unchanged. Otherwise an apostrophe
        precedes cells and column names that begin with =, +, -, @, a tab or a line end and are not
        numbers, because a spreadsheet would run them as formulas.

    Raises
    ------
    ValueError, FileNotFoundError, IsADirectoryError, PermissionError
        If the ending is not accepted, or the file cannot be written.
    ImportError
        If pyarrow is not installed and the file is Parquet.
    """
    if str(file) == "-":
        if sys.stdout.isatty():
            frame = _change_text(frame, in_line)
        sys.stdout.write(frame.to_csv(index=False, lineterminator="\n"))
        return
    ending, packed = ending_of(file, TABLES)
    if ending == ".parquet":
        import_extra("pyarrow", "data", f"writing {str(file)!r} as Parquet")
        write_whole(file, lambda handle: frame.to_parquet(handle, index=False))
        return
    if not formulas:
        frame = _change_text(frame, lambda cell: f"'{cell}" if FORMULA.match(cell) else cell)
    text = frame.to_csv(index=False, sep=SEPARATORS[ending], lineterminator="\n")
    write_bytes(file, text.encode(), packed)


def _change_text(frame, change):
    """Apply a function to the text in the cells and names of columns of a data frame."""
    of_text = lambda cell: change(cell) if isinstance(cell, str) else cell
    text = frame.select_dtypes(exclude=["number", "bool"])
    return frame.assign(**{name: text[name].map(of_text) for name in text}).rename(columns=of_text)


def write_run(frame, file):
    """Write a run for trec_eval and ir_measures: lines `qid Q0 docid rank score tag`.

    Parameters
    ----------
    frame : DataFrame
        With the columns qid, name and score.
    file : str or path
        ``.trec``, also with ``.gz``. Scores have the precision of float32, as in trec_eval. Ranks
        follow the scores and begin at 1 in each query. Among equal scores the last name comes
        first, as in trec_eval.

    Raises
    ------
    ValueError
        If the items have no query ids or no names, an id or name contains a space, or a name occurs
        twice in a query.
    FileNotFoundError, IsADirectoryError, PermissionError
        If the file cannot be written.
    """
    import numpy as np
    import pandas as pd

    _, packed = ending_of(file, (RUN,))
    for column, option in (("qid", "--qid"), ("name", "--name")):
        what = "query ids" if column == "qid" else "names"
        if column not in frame:
            raise ArgumentError(
                f"DATA has no {what}, which a run needs",
                f"{option}, or LETOR text with qid and #docid",
            )
        text = frame[column].astype(str)
        if (bad := text.str.contains(r"\s") | (text == "")).any():
            row = int(np.argmax(bad))
            raise ArgumentError(
                f"{column} is {text.iloc[row]!r} in row {row}",
                f"{what} without spaces, which a run cannot contain",
            )
    run = pd.DataFrame(dict(qid=frame["qid"].astype(str), name=frame["name"].astype(str)))
    if (again := run.duplicated()).any():
        row = int(np.argmax(again))
        raise ArgumentError(
            f"name is {run['name'].iloc[row]!r} a second time in row {row}",
            "each name only once in a query",
        )
    run["query"], run["score"] = pd.factorize(run["qid"])[0], frame["score"].astype(np.float32)
    run = run.sort_values(["query", "score", "name"], ascending=[True, False, False])
    rank = run.groupby("query").cumcount() + 1
    rows = zip(run["qid"], run["name"], rank, run["score"])
    lines = (f"{qid} Q0 {name} {r} {score:.9g} rankbook\n" for qid, name, r, score in rows)
    write_bytes(file, "".join(lines).encode(), packed)


def json_rows(frame):
    """Format the rows of a data frame as a JSON list of records."""
    known = frame.astype(object).where(frame.notna(), None)
    return json.dumps(known.to_dict("records"), default=str, separators=(",", ":"))


def svmlight_lines(data):
    """Yield the lines of a data set as text, query by query in their original order."""
    import numpy as np
    import pandas as pd
    from scipy.sparse import csr_array

    X = csr_array(data.X)
    if data.qid is None:
        order, queries = np.arange(len(data.y)), np.full(len(data.y), "")
    else:
        number, qid = pd.factorize(data.qid)[0], data.qid
        if qid.dtype.kind not in "iu":
            qid = number + 1
            text = f"query id {str(data.qid[0])!r} is written as 1, and others by number"
            warn(Assumption(f"SVMlight text has integers as query ids: {text}."))
        order = np.argsort(number, kind="stable")
        queries = np.array([f" qid:{q}" for q in qid])
    for row in order:
        here = slice(X.indptr[row], X.indptr[row + 1])
        entries = zip(X.indices[here].tolist(), X.data[here].tolist())
        words = "".join(f" {j + 1}:{x!r}" for j, x in entries if x)
        label = float(data.y[row])
        name = "" if data.item_names is None else data.item_names[row]
        name = f" #docid = {name}" if name else ""
        yield f"{int(label) if label.is_integer() else repr(label)}{queries[row]}{words}{name}\n"


def write_dataset(data, file):
    """Write a data set: features, target and query ids.

    Parameters
    ----------
    data : Dataset
    file : str or path
        A table as in :func:`write_frame`, with the columns "qid" if there are queries, "target",
        and "docid" if the items have names, before the features. Or SVMlight and LETOR text (``.svm
        .svmlight .letor .txt .dat``, also with ``.gz``), which stores no feature names.

    Raises
    ------
    ValueError, FileNotFoundError, IsADirectoryError, PermissionError
        If the ending is not accepted, a feature has the name of one of these columns, or the file
        cannot be written.
    """
    import pandas as pd

    if str(file) != "-":
        ending, packed = ending_of(file, (*TABLES, *NUMBERED))
        if ending in NUMBERED:
            write_bytes(file, "".join(svmlight_lines(data)).encode(), packed)
            return
    X = written_out(data.X, "write SVMlight text")
    frame = pd.DataFrame(X, columns=data.feature_names)
    for name, column, what in (
        ("docid", data.item_names, "item names"),
        ("target", data.y, "targets"),
        ("qid", data.qid, "query ids"),
    ):
        if column is None:
            continue
        if name in data.feature_names:
            raise ValueError(
                f"data has a feature named {name!r}, but this name is reserved for the column of "
                f"{what}. Rename the feature."
            )
        frame.insert(0, name, column)
    write_frame(frame, file)
