"""Checks of arguments."""

import difflib
import sys
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np

from .errors import ArgumentError, a_type
from .tables import count, refuse_unread


def describe_value(value):
    """Describe a value in a message: its repr, shortened if it is long, or its type."""
    try:
        text = repr(value) if isinstance(value, str) or np.size(value) <= 100 else ""
    except (TypeError, ValueError):  # an array without rows, an integer of too many digits
        text = ""
    if len(text) > 100 and isinstance(value, str | int):
        return f"{text[:50]}..."
    return text if 0 < len(text) <= 100 and "\n" not in text else a_type(value)


def first_of(words, most=10):
    """Join the first words of a list, and count the others."""
    more = [f"and {len(words) - most} more"] if len(words) > most else []
    return ", ".join([*words[:most], *more])


def unknown_name(argument, value, known, what=None):
    """Return an ArgumentError for a name that is not one of the known ones.

    Parameters
    ----------
    argument : str
        Name of the argument.
    value : object
        The given value.
    known : iterable of str
        The accepted values.
    what : str, optional
        What the argument names by this value, such as "feature". By default the value is the
        argument itself.

    Returns
    -------
    ArgumentError
        For the caller to raise. It suggests the nearest known name if there is one.
    """
    known = sorted(known, key=lambda word: (" " in word, word))  # descriptions last
    found = value if isinstance(value, str) else ""
    near = difflib.get_close_matches(found, known, n=1) or difflib.get_close_matches(
        found.lower(), known, n=1
    )
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    accepted = f"one of: {first_of(known, 50)}" if len(known) > 1 else f"{known[0]!r}"
    verb = "is" if what is None else f"names the {what}"
    return ArgumentError(f"{argument} {verb} {describe_value(value)}{hint}", accepted)


def as_choice(argument, value, known):
    """Return `value` if it is a known name, else raise the error of :func:`unknown_name`."""
    if not isinstance(value, str) or value not in known:
        raise unknown_name(argument, value, known)
    return value


def require_kind(argument, value, kind):
    """Raise a TypeError unless `value` is an instance of `kind`."""
    if not isinstance(value, kind):
        raise ArgumentError(f"{argument} is {a_type(value)}", a_type(None, kind))


def require_columns(argument, X, columns):
    """Raise a ValueError unless new items have as many columns as the training items."""
    if X.shape[1] != columns:
        raise ArgumentError(
            f"{argument} has {count(X.shape[1], 'column')}",
            f"{count(columns, 'column')}, as in training",
        )


def index_of(rows):
    """Return the index of a pandas data frame or Series; None for anything else."""
    index = getattr(rows, "index", None)
    return index if hasattr(index, "get_indexer") else None


def require_same_rows(**given):
    """Raise an error if pandas arguments with an entry for each row are in different orders.

    Their indexes must be equal. If one index has numbers and the other has names, none of which is
    one of these numbers, the two match by position, unless the numbers are 0 to n - 1 in another
    order: those rows were moved. Arrays have no index and match by position, too.

    Parameters
    ----------
    **given
        Arguments by name. Those that are not from pandas, and pairs of different lengths, are not
        compared.

    Raises
    ------
    ValueError
        If two indexes differ. The message names the first row where they do.

    Notes
    -----
    If whole tables are accepted, so are the same rows of each, as scikit-learn's splitters take
    them. O(n).
    """
    found = [(name, index_of(value)) for name, value in given.items()]
    found = [(name, index) for name, index in found if index is not None]
    for (of, known), (name, index) in combinations(found, 2):
        if len(known) != len(index) or index.equals(known):
            continue
        labels, wanted = index.tolist(), known.tolist()
        if (index.dtype.kind in "iuf") != (known.dtype.kind in "iuf"):
            texts = [[str(label) for label in side] for side in (labels, wanted)]
            numbers = labels if index.dtype.kind in "iuf" else wanted
            moved = numbers != (whole := list(range(len(index)))) and sorted(numbers) == whole
            if texts[0] == texts[1] or set(texts[0]).isdisjoint(texts[1]) and not moved:
                continue
        differ = (i for i, (a, b) in enumerate(zip(labels, wanted)) if a is not b and a != b)
        if (i := next(differ, None)) is None:
            continue
        first = f"{labels[i]!r} in row {i}, where {of} has {wanted[i]!r}"
        said, fitting = f"{name} has the index {first}", f"{name} with the index of {of}"
        if Counter(labels) == Counter(wanted):
            said = f"{name} has the index of {of} in another order: {first}"
            fitting = f"{name}.loc[{of}.index]" if known.is_unique else fitting
        raise ArgumentError(said, f"{fitting}, or {name}.to_numpy() to match rows by position")


def is_iterable(value):
    """Return whether a value has elements; a zero-dimensional array has none."""
    return hasattr(value, "__iter__") and getattr(value, "ndim", 1) > 0


def first_bad(A):
    """Return the index of the first entry that is not finite, or None."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(A.sum()):  # one pass without a temporary array is nearly always enough
            return None
    bad = np.argwhere(~np.isfinite(A))
    return tuple(int(i) for i in bad[0]) if len(bad) else None


def _show(x):
    """Format a number as NaN, infinity, or its digits."""
    return (
        "NaN"
        if np.isnan(x)
        else f"{'-' if x < 0 else ''}infinity"
        if np.isinf(x)
        else repr(float(x))
    )


def refuse_text(name, value):
    """Refuse arrays that contain text, and frames with a column that is not numeric.

    Columns are those of a DataFrame of pandas or polars.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : object
        Sparse matrices pass.

    Raises
    ------
    TypeError
        If a column contains text, categories, dates or other objects, or an array contains text.
        The error names the first one.
    """
    if (columns := _columns_of(value)) is None:
        if not hasattr(value, "toarray") and (text := text_in(A := as_array(name, value))):
            raise _text_error(name, A, text)
        return
    seen = set()
    for column, what in columns:
        if column in seen:
            raise ArgumentError(f"{name} has two columns named {column!r}", "distinct names")
        seen.add(column)
        if what:
            raise ArgumentError(
                f"{name} has {what} in column {column!r}",
                "Leave the column out, or encode it, for example with "
                "sklearn.preprocessing.OneHotEncoder.",
            )


def _columns_of(value):
    """Return the column names of a DataFrame and what each contains instead of numbers."""
    if hasattr(value, "iloc") and np.ndim(value) == 2:
        kinds = zip(value.columns, value.dtypes)
        return ((name, _not_numbers(value.iloc[:, j], k)) for j, (name, k) in enumerate(kinds))
    polars = sys.modules.get("polars")  # a frame exists only if its package is imported
    if polars is not None and isinstance(value, polars.DataFrame):
        return ((name, _not_polars_numbers(value[name])) for name in value.columns)
    return None


def _not_numbers(column, dtype):
    """Return what a column of a pandas DataFrame contains instead of numbers, or None."""
    from pandas.api import types

    if isinstance(dtype, types.CategoricalDtype):
        return "categories"
    if types.is_object_dtype(dtype):
        return "text" if any(isinstance(entry, str) for entry in column) else None
    if types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype):
        return None
    return "text" if types.is_string_dtype(dtype) else f"entries of type {dtype}"


def _not_polars_numbers(column):
    """Return what a polars Series contains instead of numbers, or None."""
    import polars as pl

    dtype = column.dtype
    if dtype == pl.Object:
        return "text" if any(isinstance(entry, str) for entry in column) else None
    if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        return None
    kinds = {pl.String: "text", pl.Categorical: "categories", pl.Enum: "categories"}
    return kinds.get(dtype.base_type(), f"entries of type {dtype}")


def as_matrix(name, value):
    """Convert `value` to a finite C-ordered float64 matrix.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : array-like of shape (n, d)

    Returns
    -------
    ndarray of shape (n, d), float64; `value` itself where it is one already

    Raises
    ------
    TypeError
        If `value` is sparse, or its entries are not real numbers. The error names the column of a
        DataFrame.
    ValueError
        If `value` is not two-dimensional, has no column, or has an entry that is not finite.
    """
    if hasattr(value, "toarray"):
        raise ArgumentError(
            f"{name} is a sparse matrix",
            f"a dense array of shape (n, d): {name}.toarray() if it fits in memory",
        )
    refuse_text(name, value)
    A = as_numbers(name, value, exact=name == "y")
    if A.ndim != 2 or A.shape[1] == 0:
        raise ArgumentError(f"{name} has shape {A.shape}", "a matrix of shape (n, d) with d >= 1")
    bad = first_bad(A)
    if bad:
        raise ArgumentError(
            f"{name} has {_show(A[bad])} in row {bad[0]}, column {bad[1]}", "finite numbers"
        )
    return A


def as_array(name, value):
    """Convert `value` to an array of any type; :func:`refuse_unread` refuses some objects."""
    refuse_unread(name, value)
    try:
        A = np.asarray(value)
    except TypeError as error:
        advice = f"; use {name}.df()" if hasattr(value, "df") else ""  # a relation of DuckDB
        raise TypeError(f"{name} cannot be read as an array: {error}{advice}") from error
    except ValueError as error:  # numpy reports an inhomogeneous shape
        raise ArgumentError(
            f"{name} has rows of unequal lengths", "rows of equal lengths"
        ) from error
    if A.dtype.kind == "O" and A.ndim == 0:  # for example a generator, a dict or a function
        raise ArgumentError(f"{name} is {describe_value(value)}", "an array")
    return A


def ordered_categories(value):
    """Return the list of categories of an ordered categorical of pandas or an enum of polars."""
    dtype = getattr(value, "dtype", None)
    is_ordered = getattr(dtype, "ordered", type(dtype).__name__ == "Enum")
    return np.asarray(dtype.categories).tolist() if is_ordered else None


def text_in(A):
    """Describe the first text that is not a number, or else the first text or date, in an array."""
    if A.dtype.kind in "OUS":
        is_text = lambda value: isinstance(value, (str, bytes))
        found = next((i for i, v in np.ndenumerate(A) if is_text(v) and not _is_number(v)), None)
        if found is None:
            found = next((i for i, v in np.ndenumerate(A) if is_text(v)), None)
    else:
        found = None if A.dtype.kind in "biufc" or not A.size else (0,) * A.ndim
    if found is None:
        return None
    if A.dtype.kind not in "OUS":
        return f"dtype {A.dtype}"
    place = " in row {}, column {}" if len(found) == 2 else " at index {}" if found else ""
    return f"{describe_value(str(A[found]))}{place.format(*found)}"


def _is_number(text):
    """Return whether a text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _text_error(name, A, text):
    """Return the error for an array that contains text."""
    objects = "rankbook.kernels.over makes items and a kernel of strings or other objects."
    advice = objects if name in ("X", "X_new") and A.ndim == 1 else ""
    return ArgumentError(
        f"{name} cannot be read as numbers ({text})", "an array of real numbers", advice
    )


def as_numbers(name, value, exact=True):
    """Convert `value` to a C-ordered float64 array of any shape.

    Text, dates and complex numbers are refused. So are integers that float64 would round if
    `exact`, because different scores could become equal.
    """
    A = as_array(name, value)
    if A.dtype.kind == "c":
        raise ArgumentError(f"{name} has complex entries", "real numbers")
    accepted = "an array of real numbers"
    order = None if isinstance(value, np.ndarray) else ordered_categories(value)
    text = text_in(A)  # numpy would convert the text "1" to a number
    if order and (text or order != sorted(order)):
        advice = f"Use the codes of {name}, or OrdinalRanker for classes."
        raise ArgumentError(f"{name} consists of ordered categories", accepted, advice)
    if text:
        raise _text_error(name, A, text)
    try:
        numbers = np.asarray(A, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{name} cannot be read as numbers ({error})", accepted) from error
    wide = A.dtype.kind in "iuO" or A.dtype.itemsize > 8
    if exact and wide and (np.abs(numbers) >= 2.0**53).any():
        pairs = zip(A.ravel().tolist(), numbers.ravel().tolist())
        if rounded := next((a for a, b in pairs if abs(b) >= 2.0**53 and a != b), None):
            raise ArgumentError(
                f"{name} has {describe_value(rounded)}, which a float64 rounds",
                "integers up to 2**53: subtract the smallest one first, or number them in order",
            )
    return numbers


def as_items(name, value):
    """Convert `value` to a finite matrix in its own storage format.

    Storage formats are float64 or float32 rows, or a sparse CSR matrix of either.

    Parameters
    ----------
    name : str
    value : array-like or sparse matrix of shape (n, d)

    Returns
    -------
    ndarray or scipy.sparse.csr_array of shape (n, d)
        Values that are neither float32 nor sparse are converted by :func:`as_matrix`.

    Raises
    ------
    TypeError, ValueError
        As :func:`as_matrix`.
    """
    if hasattr(value, "tocsr"):
        return _as_csr(name, value)
    if getattr(value, "dtype", None) != np.float32 or np.ndim(value) != 2 or 0 in np.shape(value):
        return as_matrix(name, value)
    bad = first_bad(value)
    # as_matrix reports the position of the bad number
    return np.ascontiguousarray(as_array(name, value)) if bad is None else as_matrix(name, value)


def _as_csr(name, value):
    """Convert a sparse matrix to a csr_array with finite float32 or float64 entries."""
    from scipy.sparse import csr_array

    A = csr_array(value)
    if A.dtype.kind == "c":
        raise ArgumentError(f"{name} has complex entries", "real numbers")
    if A.ndim != 2 or A.shape[1] == 0:
        raise ArgumentError(f"{name} has shape {A.shape}", "a matrix of shape (n, d) with d >= 1")
    A = A if A.dtype in (np.float32, np.float64) else A.astype(np.float64)
    bad = first_bad(A.data)
    if bad:
        row = int(np.searchsorted(A.indptr, bad[0], side="right")) - 1
        raise ArgumentError(
            f"{name} has {_show(A.data[bad])} in row {row}, column {A.indices[bad[0]]}",
            "finite numbers",
        )
    return A


def as_vector(name, value, size=None, *, minimum=None, strict=False):
    """Convert `value` to a finite float64 vector, with an optional length and minimum.

    Parameters
    ----------
    name : str
    value : array-like of shape (size,)
    size : int, optional
    minimum : float, optional
    strict : bool, default False
        Whether entries must be greater than `minimum`, not just at least.

    Raises
    ------
    TypeError
        If the entries are not real numbers.
    ValueError
        If the shape, finiteness or range is wrong; the message names the first offending index.
    """
    v = as_numbers(name, value)
    if v.ndim != 1 or (size is not None and v.size != size):
        raise ArgumentError(
            f"{name} has shape {v.shape}", f"an array of shape ({'n' if size is None else size},)"
        )
    bad = first_bad(v)
    if bad:
        raise ArgumentError(f"{name} has {_show(v[bad])} at index {bad[0]}", "finite numbers")
    if minimum is not None:
        low = np.flatnonzero(v <= minimum if strict else v < minimum)
        if low.size:
            raise ArgumentError(
                f"{name} has {v[low[0]]} at index {low[0]}",
                f"numbers {'>' if strict else '>='} {minimum:g}",
            )
    return v


def as_positive(name, value, *, zero=False, most=np.inf):
    """Return `value` as a finite float > 0, or >= 0 with ``zero=True``, and at most `most`."""
    wrong = bool | np.bool_ | str | bytes | list | tuple | np.complexfloating
    try:
        x = np.nan if isinstance(value, wrong) or np.ndim(value) != 0 else float(value)
    except (TypeError, ValueError, OverflowError):
        x = np.nan
    if not np.isfinite(x) or x < 0 or (x == 0 and not zero) or x > most:
        expected = f"a finite number {'>=' if zero else '>'} 0"
        expected += f", at most {most:g}" if most < np.inf else ""
        raise ArgumentError(f"{name} is {describe_value(value)}", expected)
    return x


def as_count(name, value, low=1, high=2**53, why=""):
    """Return `value` as an integer from `low` to `high`; `why` explains the upper bound."""
    beyond = high < 2**53 or isinstance(value, int | float) and value > high
    wanted = f"an integer from {low} to {high}{why}" if beyond else f"an integer >= {low}"
    number = isinstance(value, int | float | np.integer | np.floating)
    # NaN and infinity are not multiples of 1
    if isinstance(value, bool) or not (number and value // 1 == value and low <= value <= high):
        raise ArgumentError(f"{name} is {describe_value(value)}", wanted)
    return int(value)


def as_jobs(name, value):
    """Return `value` as a number of joblib processes; negative numbers count from all cores."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ArgumentError(f"{name} is {describe_value(value)}", "an integer or None")
    if not 1 <= abs(value) <= 1000:
        raise ArgumentError(
            f"{name} is {describe_value(value)}", "1 to 1000 processes, or -1 for one on each core"
        )
    return int(value)


def as_flag(name, value):
    """Return `value` as a bool."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name} is {describe_value(value)}", "True or False")
    return bool(value)


def as_grid(name, value, zero=False):
    """Convert one or several numbers to a list of floats > 0, or >= 0 with ``zero=True``."""
    A = as_array(name, value)
    if A.dtype.kind == "b":
        raise ArgumentError(f"{name} is {describe_value(value)}", "one number or several")
    grid = as_vector(name, np.atleast_1d(A), minimum=0.0, strict=not zero).tolist()
    if not grid:
        raise ArgumentError(f"{name} is empty", "at least one number")
    return grid


def as_index(name, value, n):
    """Convert `value` to a vector of integers from 0 to n - 1, of its own integer type."""
    v = as_array(name, value)
    if v.ndim != 1:
        raise ArgumentError(f"{name} has shape {v.shape}", "a vector of item indices")
    if v.size and v.dtype.kind not in "iu":
        raise ArgumentError(f"{name} has dtype {v.dtype}", "integers as item numbers")
    out = np.flatnonzero((v < 0) | (v >= n))
    if out.size:
        raise ArgumentError(
            f"{name} has {v[out[0]]} at index {out[0]}", f"item numbers from 0 to {n - 1}"
        )
    return v if v.size else v.astype(np.intp)


def as_ids(name, value, n, what="id"):
    """Return the distinct ids (q,) in sorted order, and the index (n,) of each item's id."""
    v = as_array(name, value)
    if v.shape != (n,):
        are_sizes = v.ndim == 1 and v.dtype.kind in "iu" and v.sum() == n
        sizes = f"If {name} holds group sizes, pass np.repeat(np.arange(len({name})), {name})."
        raise ArgumentError(
            f"{name} has shape {v.shape}",
            f"an array of shape ({n},), one {what} for each item",
            sizes * bool(are_sizes),
        )
    merged = v.dtype.kind == "U" or v.dtype.kind == "f" and (np.abs(v) >= 2.0**53).any()
    if merged and isinstance(value, list | tuple):
        v = np.array(value, dtype=object)  # so that 1 is not "1", and 2**53 + 1 is not 2.0**53
    missing = lambda x: x is None or isinstance(x, float) and np.isnan(x)
    bad = (
        ~np.isfinite(v)
        if v.dtype.kind in "fmM"
        else [missing(x) for x in (v if v.dtype.kind == "O" else ())]
    )
    if np.any(bad):
        i = int(np.argmax(bad))
        shown = _show(v[i]) if isinstance(v[i], (float, np.floating)) else v[i]
        raise ArgumentError(
            f"{name} has {shown} at index {i}", f"{what}s without gaps, NaN or infinity"
        )
    if what == "id" and (i := _first_no_id(v)) is not None:
        raise ArgumentError(
            f"{name} has {v[i]} at index {i}", "ids as whole numbers, text or dates"
        )
    try:
        if v.size and (v[1:] >= v[:-1]).all():  # sorted ids are numbered by one pass
            begins = np.r_[True, v[1:] != v[:-1]]
            # a sum of truth values would keep Python's lock
            return v[begins], np.cumsum(begins.astype(np.intp)) - 1
        return np.unique(v, return_inverse=True)
    except TypeError as error:
        raise ArgumentError(
            f"{name} has {what}s of kinds that cannot be sorted together",
            "only numbers, or only text",
        ) from error


def _first_no_id(v):
    """Return the index of the first truth value, fraction or complex number in ids, or None."""
    if v.dtype.kind in "bc":
        wrong = np.full(v.size, True)
    elif v.dtype.kind == "f":
        wrong = v % 1 != 0
    elif v.dtype.kind == "O":
        wrong = [_is_no_id(x) for x in v.tolist()]
    else:
        return None
    return int(np.argmax(wrong)) if np.any(wrong) else None


def _is_no_id(x):
    if isinstance(x, float | np.floating | Decimal | Fraction):
        return x != x or abs(x) == np.inf or int(x) != x
    return isinstance(x, bool | np.bool_ | complex | np.complexfloating)


def query_numbers(qid, n):
    """Return the index (n,) of each item's query among the sorted ids; 0 without `qid`."""
    return np.zeros(n, dtype=np.intp) if qid is None else as_ids("qid", qid, n)[1]
