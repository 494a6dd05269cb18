"""Encoding of a table: codes for text and fill values for gaps, stored with a model."""

import re
from dataclasses import dataclass

import numpy as np

from ..base.errors import ArgumentError, Assumption
from ..base.limits import require_memory, warn
from .table import Gap, finite_numbers, not_a_number


def _is_text(column):
    """Return whether a column contains words, not times."""
    return not_a_number(column) is not None and column.dtype.kind not in "mM"


def _as_text(column):
    """Convert a column to an array of str; gaps become NaN, and integers have no point."""

    def text(value):
        whole = isinstance(value, float) and value.is_integer()
        return str(int(value) if whole else value)

    column = column.astype(object)
    known = column.notna().to_numpy()
    return np.array([text(v) if k else np.nan for v, k in zip(column, known)], dtype=object)


@dataclass(frozen=True)
class Encoding:
    """Conversion of table columns to features: numbers first, then zeros and ones.

    Parameters
    ----------
    columns : tuple of str
        Columns of the table.
    categories : dict from str to list of str
        The values of each text column; each value becomes a feature.
    fill : dict from str to float or str
        The fill value for gaps of each column; empty if gaps are refused.

    Raises
    ------
    ValueError, TypeError
        If the arguments do not fit together.
    """

    columns: tuple
    categories: dict
    fill: dict

    def __post_init__(self):
        kinds = {name: str if name in self.categories else float for name in self.columns}
        words = [*self.columns, *(word for found in self.categories.values() for word in found)]
        if not (
            self.categories.keys() <= kinds.keys()
            and all(isinstance(word, str) for word in words)
            and self.fill.keys() in (set(), kinds.keys())
            and all(isinstance(value, kinds[name]) for name, value in self.fill.items())
        ):
            raise ArgumentError(
                "columns, categories and fill do not belong together", "those of one table"
            )

    @property
    def numbers(self):
        """List of the numeric columns."""
        return [name for name in self.columns if name not in self.categories]

    @property
    def names(self):
        """Tuple of the names of the features, such as "size" and "district=harbour"."""
        codes = (f"{name}={word}" for name, found in self.categories.items() for word in found)
        return *self.numbers, *codes

    def transform(self, source, frame, start=0):
        """Encode a data frame as features (n, d); `start` is the number of its first row.

        Raises
        ------
        ValueError
            For words among numbers, infinity, and gaps without a `fill` value.

        Warns
        -----
        Assumption
            For a word outside the categories; all its codes are 0.
        """
        from sklearn.preprocessing import OneHotEncoder

        if hasattr(frame, "indptr") and not self.categories:
            return frame
        fill = [self.fill[name] for name in self.numbers] if self.fill else None
        numbers = finite_numbers(source, frame[self.numbers], start=start, fill=fill)
        if not self.categories:
            return numbers
        text = np.column_stack([_as_text(frame[name]) for name in self.categories])
        for j, (name, known) in enumerate(self.categories.items()):
            gaps = np.array([not isinstance(word, str) for word in text[:, j]], dtype=bool)
            if self.fill:
                text[gaps, j] = self.fill[name]
            elif gaps.any():
                raise Gap.at(source, name, start + int(np.argmax(gaps)))
            new = np.flatnonzero(~np.isin(text[:, j].astype(str), known))
            if new.size:
                more = f" (and {new.size - 1} more)" if new.size > 1 else ""
                warn(
                    Assumption(
                        f"{source} has {text[new[0], j]!r} in row {start + new[0]}, column {name!r}"
                        f"{more}, which is not among the {len(known)} categories of the training "
                        "data; it is encoded as zeros."
                    )
                )
        encoder = OneHotEncoder(
            categories=[np.array(known, dtype=object) for known in self.categories.values()],
            handle_unknown="ignore",
            sparse_output=False,
        )
        first = [[known[0] for known in self.categories.values()]]
        codes = encoder.fit(np.array(first, dtype=object)).transform(text)
        return np.hstack([numbers, codes])


def read_to_learn(reader, roles, learnt):
    """Return the data frame of a FrameReader, from which :func:`learn_encoding` learns.

    Cells of a column of CSV text that becomes categories are text: pandas reads true as True.
    """
    frame = reader.read(roles.names)
    if "encode" not in learnt or reader.text is None:
        return frame
    items = roles.items(frame)
    parsed = lambda column: not all(isinstance(cell, str) for cell in column.dropna())
    texts = [name for name in items if _is_text(items[name]) and parsed(items[name])]
    return reader.read(roles.names, texts=texts) if texts else frame


def refuse_decimals(source, name, words):
    """Refuse to encode decimal numbers that were read as text because of their decimal mark."""
    for mark, share in ((",", 0.5), (r"\.", 1.0)):
        number = re.compile(rf"[-+]?(?:\d*{mark}\d+|\d+{mark})(?:[eE][-+]?\d+)?")
        found = [word for word in words if number.fullmatch(word)]
        if found and len(found) >= share * len(words):
            raise ArgumentError(
                f"{source} has {found[0]!r} in column {name!r}, which is not read as a number",
                "numbers with one decimal mark in the whole file",
            )


def learn_encoding(source, frame, learnt):
    """Learn the :class:`Encoding` of a data frame of features; None if none is needed.

    Parameters
    ----------
    source : Source
    frame : DataFrame or csr_array
        Sparse features are numbers without gaps, so they need no encoding.
    learnt : sequence of str
        "encode" encodes text columns with scikit-learn's OneHotEncoder. "impute" fills gaps with
        the mean of a numeric column, or the most frequent text, by its SimpleImputer.

    Raises
    ------
    ValueError
        If a column has no values, or an entry is infinite.
    """
    if hasattr(frame, "indptr"):
        return None
    encode, impute = (name in learnt for name in ("encode", "impute"))
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

    texts = [name for name in frame.columns if encode and _is_text(frame[name])]
    numbers = [name for name in frame.columns if name not in texts]
    for name in frame.columns if impute else ():
        if frame[name].isna().all():
            raise ArgumentError(f"{source} has no value in column {name!r}", "Drop the column.")
    categories, fill = {}, {}
    if impute and numbers:
        # with zeros for gaps, so that errors about infinity and words name the place
        finite_numbers(source, frame[numbers], fill=np.zeros(len(numbers)))
        X = frame[numbers].to_numpy(dtype=np.float64, na_value=np.nan)
        fill = dict(zip(numbers, SimpleImputer().fit(X).statistics_.tolist()))
    for name in texts:
        text = _as_text(frame[name])[:, None]
        known = np.array([isinstance(word, str) for word in text[:, 0]], dtype=bool)
        refuse_decimals(source, name, text[known, 0])
        found = OneHotEncoder().fit(text[known]).categories_[0].tolist()
        require_memory(
            8 * len(frame) * len(found),
            f"the codes of column {name!r} of {source}",
            "drop the column",
        )
        if len(found) == len(frame) > 1:
            warn(
                Assumption(
                    f"no two rows of {source} have the same text in column {name!r}, so its codes "
                    "say nothing about other rows. Drop it, or use it as the name."
                )
            )
        categories[name] = found
        if impute:
            words = SimpleImputer(strategy="most_frequent").fit(text)
            fill[name] = str(words.statistics_[0])
    if not (categories or fill):
        return None
    found = Encoding(tuple(frame.columns), categories, fill)
    require_distinct(source, found)
    return found


def require_distinct(source, encoding):
    """Raise an ArgumentError if two features of an :class:`Encoding` have one name.

    For example, a column "a" with the category "b=c" and a column "a=b" with the category "c" both
    give the feature "a=b=c".
    """
    columns = encoding.numbers + [
        name for name, found in encoding.categories.items() for _ in found
    ]
    known = {}
    for column, name in zip(columns, encoding.names):
        if known.setdefault(name, column) != column:
            raise ArgumentError(
                f"{source} has columns {known[name]!r} and {column!r}, which both make a feature "
                f"{name!r}",
                "Rename one of the columns.",
            )
