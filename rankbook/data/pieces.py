"""Cutting large files between queries."""

import os
from dataclasses import dataclass
from itertools import accumulate, count

import numpy as np

from ..base.limits import import_extra
from .readers import check_names

CHUNK = 1 << 16  # rows that are looked at together


@dataclass(frozen=True)
class Piece:
    """Rows of a file from `first` up to `stop`; in text its bytes, and its first line's number."""

    first: int
    stop: int
    begin: int = 0
    end: int = 0
    line: int = 1


def cuts(chunks, goals):
    """Rows at which pieces may begin, one for each goal, with where they are; the end is the last.

    Parameters
    ----------
    chunks : iterable of (ids, places)
        What names the queries of some rows (m,), and whole numbers (m, 2) that say where a row is.
        The last chunk has one place, of the end, and no ids.
    goals : iterable of int
        Rows, rising.

    Returns
    -------
    list of (row, place)
    """
    goals, first, last = iter(goals), 0, None
    goal, found = next(goals, None), []
    for ids, places in chunks:
        if len(ids) == 0:  # the end
            return [*found, (first, tuple(map(int, places[0])))]
        begins = np.flatnonzero(np.r_[first == 0 or ids[0] != last, ids[1:] != ids[:-1]])
        if first == 0:
            found.append((0, tuple(map(int, places[0]))))
        while goal is not None and (at := np.searchsorted(begins, goal - first)) < begins.size:
            i = int(begins[at])
            if first + i > found[-1][0]:
                found.append((first + i, tuple(map(int, places[i]))))
            goal = next(goals, None)
        first, last = first + len(ids), ids[-1]


class FileTable:
    """A file that is read in pieces.

    Attributes
    ----------
    path : str
        As errors call it.
    columns : list of str
    first_row, first_line : int
        Numbers of what comes first.
    """

    first_row, first_line = 0, 1

    def __init__(self, source):
        self.path = str(source)
        self.stamp = self._stamp()

    def __str__(self):
        return self.path

    def _stamp(self):
        """Size and time of the last change."""
        facts = os.stat(self.path)
        return facts.st_size, facts.st_mtime_ns

    def require_unchanged(self):
        """A ValueError if the file has changed since it was looked at."""
        if self._stamp() != self.stamp:
            raise ValueError(
                f"{self} has changed since it was looked at; a file that stays as it is until "
                "the computation ends is accepted."
            )

    def pieces(self, qid=None, rows=CHUNK, whole=True):
        """The pieces (a list) of about so many rows.

        No query is cut: rows with the same id in the column `qid`, or all rows where it is None;
        unless whole is False.
        """
        found = cuts(self.chunks(qid, whole), self.goals(rows))
        return [
            Piece(row, stop, begin, end, line)
            for (row, (begin, line)), (stop, (end, _)) in zip(found, found[1:])
        ]

    def goals(self, rows):
        """Rows at which a piece would best begin."""
        return count(rows, rows)


def ids_of(numbers, whole):
    """What takes the place of ids for rows (m,) of these numbers: one query, or one for each."""
    return np.zeros(len(numbers)) if whole else numbers


BUFFER = 1 << 20  # bytes of a column of a large row group that are read at a time


class ParquetTable(FileTable):
    """A Parquet file; `sizes` are the rows of its row groups."""

    def __init__(self, source):
        super().__init__(source)
        parquet = self._opened()
        self.columns = [str(name) for name in parquet.schema_arrow.empty_table().to_pandas()]
        check_names(self, self.columns)
        facts = parquet.metadata
        self.sizes = [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]

    def _opened(self, buffer=0):
        """The file of pyarrow, which reads columns whole, or so many bytes at a time."""
        parquet = import_extra("pyarrow.parquet", "data", f"reading {self} as Parquet")
        try:
            return parquet.ParquetFile(self.path, buffer_size=buffer, pre_buffer=False)
        except (OSError, ValueError) as error:  # every error of pyarrow is one of the two
            raise ValueError(f"{self} cannot be read as Parquet: {error}") from error

    def goals(self, rows):
        """Ends of row groups, small ones together; those of equal parts of large ones."""
        last = at = 0
        for size in self.sizes:
            if at > last and at + size - last > rows:
                yield (last := at)
            parts = -(-size // rows)
            for i in range(1, parts):
                yield (last := at + i * size // parts)
            at += size

    def chunks(self, qid, whole):
        """Ids and places of rows, see :func:`cuts`."""
        first = 0
        for batch in self._batches([] if qid is None else [qid], 0, sum(self.sizes)):
            m = batch.num_rows
            numbers = np.arange(first, first + m)
            ids = ids_of(numbers, whole) if qid is None else _frame([batch], [qid])[qid].to_numpy()
            yield ids, np.zeros((m, 2), np.int64)
            first += m
        yield (), [(0, 1)]

    def _batches(self, columns, first, stop, rows=CHUNK):
        """Record batches of so many rows or fewer, with the rows from `first` up to `stop`."""
        ends = list(accumulate(self.sizes))
        groups = [i for i, n in enumerate(self.sizes) if ends[i] > first and ends[i] - n < stop]
        at = ends[groups[0]] - self.sizes[groups[0]] if groups else 0
        try:
            large = any(self.sizes[i] > 2 * rows for i in groups)
            file = self._opened(BUFFER if large else 0)
            for batch in file.iter_batches(rows, groups, columns):
                rows = slice(max(first - at, 0), min(stop - at, batch.num_rows))
                if rows.start < rows.stop:
                    yield batch.slice(rows.start, rows.stop - rows.start)
                at += batch.num_rows
                if at >= stop:
                    return
        except (OSError, ValueError) as error:
            raise ValueError(f"{self} cannot be read as Parquet: {error}") from error

    def frame(self, piece, columns, ids=None):
        """Some columns of a piece as a DataFrame; `ids` is for text."""
        self.require_unchanged()
        rows = piece.stop - piece.first  # one batch is brought into one array soonest
        batches = list(self._batches(columns, piece.first, piece.stop, rows))
        return _frame(batches, columns)


def _frame(batches, columns):
    """Columns of record batches as one DataFrame, those of one type in one array."""
    import pyarrow

    table = pyarrow.Table.from_batches(batches).select(columns)
    del batches[:]
    return table.to_pandas(self_destruct=True, ignore_metadata=True, use_threads=False)
