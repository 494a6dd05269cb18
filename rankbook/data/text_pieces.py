"""Rows of text files by byte offset."""

import gzip
import io
from itertools import islice

import numpy as np

from .pieces import CHUNK, FileTable, Piece, ids_of
from .readers import chosen_decimals, read_csv, separator_of
from .tables import data_lines, read_svmlight, show_line


class Excerpt:
    """Bytes of a file, for the readers: in place of a :class:`rankbook.data.sources.Source`."""

    def __init__(self, table, piece, before=b""):
        self.label, self.first_row, self.first_line = str(table), piece.first, piece.line
        with opened(table.path) as stream:
            stream.seek(piece.begin)
            self.content = before + stream.read(piece.end - piece.begin)

    def __str__(self):
        return self.label

    def open(self):
        """A binary stream, from the beginning."""
        return io.BytesIO(self.content)


def opened(path):
    """A binary stream of the text in a file, packed or not."""
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else open(path, "rb")


def records(stream):
    """Place, number of the line and bytes of every row of CSV text; empty lines are left out."""
    place, number = 0, 1
    for line in stream:
        raw, lines = line, 1
        while raw.count(b'"') % 2 and (more := next(stream, b"")):
            raw, lines = raw + more, lines + 1
        if raw.strip():
            yield place, number, raw
        place, number = place + len(raw), number + lines


class CSVTable(FileTable):
    """Text with a header; `ids_are_text` is known when it has been cut."""

    def __init__(self, source, separator=None):
        super().__init__(source)
        self.separator, self.decimal = separator or separator_of(source), "."
        with opened(self.path) as stream:
            rows = list(islice(records(stream), 1 + CHUNK))
        (_, _, self.header), *rows = rows
        self.header = self.header.rstrip(b"\r\n") + b"\n"
        if b"\r" in self.header:
            raise ValueError(
                f"{self} has a carriage return alone at the end of a line; a line feed, or both, "
                "is accepted in files that are read in blocks."
            )
        start = Piece(0, 0, 0, rows[-1][0] + len(rows[-1][2]) if rows else len(self.header))
        read = lambda decimal: read_csv(Excerpt(self, start), self.separator, decimal)
        frame = read(".")
        if self.separator == ";":
            commas = read(",")
            self.decimal = "," if chosen_decimals(self, frame, commas) is commas else "."
        self.columns = list(frame.columns)
        self.ids_are_text = False

    def chunks(self, qid, whole):
        """Ids and places of rows, see :func:`cuts`."""
        kinds, first, before, run = set(), 0, [], 0
        with opened(self.path) as stream:
            rows, end = islice(records(stream), 1, None), (0, 1)
            while some := list(islice(rows, CHUNK)):
                places = np.array([row[:2] for row in some])
                numbers = np.arange(first, first + len(some))
                ids = ids_of(numbers, whole)
                if qid is not None:  # the row before them is read alike, be it a number or a word
                    lines = [*before, *(row[2] for row in some)]
                    found = self._ids(qid, lines, first - len(before))
                    ids = run + np.r_[[0][len(before) :], (found[1:] != found[:-1]).cumsum()]
                    before, run = lines[-1:], ids[-1]
                    kinds.add(found.dtype.kind)
                yield ids, places
                first, end = first + len(some), (some[-1][0] + len(some[-1][2]), 0)
        self.ids_are_text = not kinds <= set("iuf")
        yield (), [end]

    def _ids(self, qid, rows, first):
        """The ids of some rows."""
        import pandas as pd

        content = io.BytesIO(self.header + b"".join(rows))
        options = dict(sep=self.separator, skipinitialspace=True, index_col=False)
        try:
            at = self.columns.index(qid)
            found = pd.read_csv(content, usecols=[at], **options).iloc[:, 0]
        except (pd.errors.ParserError, UnicodeDecodeError) as error:
            raise ValueError(f"{self} cannot be read as CSV text: {error}") from error
        if len(found) != len(rows):
            raise ValueError(
                f"{self} has {len(rows)} lines from row {first} on, which are read as {len(found)} "
                "rows; quotation marks in pairs, and no line of separators alone, are accepted."
            )
        return found.to_numpy()

    def frame(self, piece, columns, ids=None):
        """Some columns of a piece as a DataFrame; the column `ids` as text if it has any."""
        self.require_unchanged()
        excerpt = Excerpt(self, piece, self.header)
        types = {ids: str} if ids is not None and self.ids_are_text else None
        try:
            frame = read_csv(excerpt, self.separator, self.decimal, types)
        except ValueError as error:
            error.add_note(f"This part of the file begins in line {piece.line}.")
            raise
        if len(frame) != piece.stop - piece.first:
            raise ValueError(
                f"{self} has {piece.stop - piece.first} lines from row {piece.first} on, which are "
                f"read as {len(frame)} rows; quotation marks in pairs are accepted."
            )
        return frame[list(columns)]


class NumberedTable(FileTable):
    """SVMlight or LETOR text.

    Attributes
    ----------
    indices : (int, int)
        The first feature, 0 or 1, and the last. Files that are read together have them in common.
    has_ids : bool
        Whether its lines name queries.
    """

    def __init__(self, source):
        super().__init__(source)
        _, line = next(data_lines(source), (1, b""))
        self.has_ids = any(word.startswith(b"qid:") for word in line.split(None, 2)[1:2])
        self.indices = (1, 0)

    @property
    def columns(self):
        """As in :func:`rankbook.data.items.read_frame`."""
        first, last = self.indices
        ids = ["qid"] if self.has_ids else []
        return ["label", *ids, *(f"feature {j}" for j in range(first, last + 1))]

    def chunks(self, qid, whole):
        """Ids and places of rows, see :func:`cuts`; the indices are known afterwards."""
        first, place = 0, 0
        with opened(self.path) as stream:
            ids, places = [], []
            for number, line in enumerate(stream, start=1):
                body = line.partition(b"#")[0]
                if words := body.split(None, 2):
                    ids.append(self._looked_at(number, line, words))
                    places.append((place, number))
                place += len(line)
                if len(ids) == CHUNK:
                    yield self._chunk(ids, places, first, whole)
                    first, ids, places = first + len(ids), [], []
        if ids:
            yield self._chunk(ids, places, first, whole)
        yield (), [(place, 0)]

    def _chunk(self, ids, places, first, whole):
        """Ids and places of some rows."""
        numbers = np.arange(first, first + len(ids))
        ids = np.array(ids) if self.has_ids and whole else ids_of(numbers, whole)
        return ids, np.array(places)

    def _looked_at(self, number, line, words):
        """The id of a line, after its indices have been noted."""
        try:
            named = len(words) > 1 and words[1].startswith(b"qid:")
            id = int(words[1][4:]) if named else None
            features = b" ".join(words[2 if named else 1 :])
            if b":" in features:
                low = int(features.partition(b":")[0])
                high = int(features.rpartition(b":")[0].split()[-1])
                self.indices = (0 if low == 0 else self.indices[0], max(self.indices[1], high))
        except ValueError as error:
            raise ValueError(
                f"{self} is not SVMlight text in {show_line(number, line)}; "
                "`label qid:query index:value ...` is accepted, indices rising."
            ) from error
        if named != self.has_ids:
            raise ValueError(
                f"{self} has qid on some of its lines and not on all, see "
                f"{show_line(number, line)}; on all or on none is accepted."
            )
        return id

    def frame(self, piece, columns, ids=None):
        """Some columns of a piece as a DataFrame; features that no file mentions are 0."""
        import pandas as pd

        self.require_unchanged()
        X, names, y, qid = read_svmlight(Excerpt(self, piece), self.indices)
        frame = pd.DataFrame(X, columns=names, copy=False)
        if qid is not None and self.has_ids:
            frame.insert(0, "qid", qid)
        frame.insert(0, "label", y)
        missing = [name for name in columns if name not in frame.columns]
        return frame.assign(**dict.fromkeys(missing, 0.0))[list(columns)]
