"""Reading of training data: items, a target, query ids and weights, as passed to `fit`.

Every `fit` to scores or preferences calls :func:`read`. The attribute `takes` of an estimator
lists what it accepts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import validate_data

from ..base.errors import ArgumentError, a_type
from ..base.limits import refuse_huge
from ..base.tables import count
from ..base.types import Items
from ..base.validation import (
    as_array,
    as_ids,
    as_items,
    as_numbers,
    as_vector,
    describe_value,
    refuse_text,
    text_in,
)
from ..data.blocks import BlocksLike
from ..data.dask import DaskBlocks, dask_blocks, is_dask
from ..kernels.objects import ObjectKernel
from ..preferences.events import column_names, has_columns
from ..preferences.graph import Preferences, as_preferences
from ..preferences.names import refuse_pair_features
from ..preferences.orders import survival_target
from ..preferences.sums import weighs_nothing
from ..preferences.target import Target
from ..registry.solver import with_options

BLOCKS_GO = (
    "Blocks are accepted by fit of RankSVM, RankRLS and RankRLSCV, and by "
    "rankbook.metrics.over_blocks."
)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Checked arguments of `fit`.

    Attributes
    ----------
    items : ndarray or CSR matrix of shape (n, d)
    target : ndarray of shape (n,) or (n, k), Preferences or Orders
        Scores, or what was given in place of scores, query ids and weights.
    queries : array-like of shape (n,) or None
        Query ids, as passed.
    weights : ndarray of shape (n,) or None
        Item weights >= 0; None stands for 1.
    query_weight : None, "equal" or array-like of shape (q,)
        Total weight of the preferences of each query.
    """

    items: Items
    target: Any
    queries: Any = None
    weights: np.ndarray | None = None
    query_weight: Any = None

    @property
    def is_scored(self) -> bool:
        """Whether the target is scores."""
        return isinstance(self.target, np.ndarray)

    @property
    def by_query(self) -> bool:
        """Whether there are query ids."""
        return self.queries is not None

    @cached_property
    def query(self) -> np.ndarray | None:
        """Index (n,) of the query of each item; None without query ids."""
        return as_ids("qid", self.queries, len(self.target))[1] if self.by_query else None

    def preferences(self, graph="full", rows=None, may_be_empty=False):
        """Return the preferences with all weights; `rows` restricts them to some rows of scores.

        Raises
        ------
        ValueError
            If scores give no preference, or all weights are 0, unless `may_be_empty`.
        """
        if not self.is_scored:
            return self.target
        y, qid, weight, total = self.target, self.queries, self.weights, self.query_weight
        if rows is not None:
            y, qid, weight = (None if v is None else v[rows] for v in (y, self.query, weight))
            if self.by_query and not (total is None or isinstance(total, str)):
                total = np.asarray(total)[np.unique(qid)]  # of those queries that are there
        prefs = Preferences.from_scores(y, qid, graph)
        if weight is not None:
            prefs = prefs.item_weighted(weight)
        if not may_be_empty and weighs_nothing(prefs):
            equal = ": all scores are equal in every query"
            raise ArgumentError(
                f"y has no preference{equal if weight is None else ' of positive weight'}",
                "at least one preference",
            )
        return prefs if total is None else prefs.query_weighted(total)


def read(  # noqa: PLR0913 -- the arguments of fit among them
    model, X, y=None, qid=None, sample_weight=None, preferences=None, *, partial=False, reset=True
):
    """Read and check the arguments of `fit`.

    Parameters
    ----------
    model : estimator
        Gets the number and names of the features. Its attribute `takes`, a tuple of str, says what
        it takes besides float64 items, scores of shape (n,) and preferences: items that are
        "sparse" or "float32", y with "columns", "orders", "pair features".
    X, y, qid, sample_weight, preferences
        Arguments of `fit`. The target y may be preferences; see :func:`split_target`.
    partial : bool, default False
        Whether the data are a batch with only some of the queries; a batch may contain no
        preferences.
    reset : bool, default True
        Whether to set the number of features from X; otherwise X must have the number seen before.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, shape or range, if two of them exclude each other, or if
        there is nothing to learn.
    """
    y, qid, sample_weight, preferences = split_target(y, qid, sample_weight, preferences)
    query_weight, takes = getattr(model, "query_weight", None), getattr(model, "takes", ())
    if preferences is not None:
        beside = dict(y=y, qid=qid, sample_weight=sample_weight, query_weight=query_weight)
        items = read_items(model, X, reset)
        refuse_huge("X", items)
        target = read_given(preferences, X, takes, beside, partial)
        return TrainingData(items, target, target.queries)
    columns = "columns" in takes
    instead = "" if partial else ", or preferences=PREFERENCES"
    require_target(y, f"scores of shape (n,){' or (n, k)' * columns}{instead}")
    if query_weight is not None and getattr(model, "loss", None) == "plackett-luce":
        raise ArgumentError(
            f"query_weight is {query_weight!r} and loss is 'plackett-luce', which sums over "
            "choices",
            "Omit query_weight.",
            "To weigh orders, pass weights to rb.Orders.",
        )
    if partial and not (query_weight is None or isinstance(query_weight, str)):
        raise ArgumentError(
            "query_weight holds numbers, and X is a block that contains only some of the queries",
            "None or 'equal'",
        )
    items = read_items(model, X, reset, 1 if partial else 2)
    refuse_huge("X", items)
    y = read_scores(y, items, columns)
    weights = None if sample_weight is None else read_weights(sample_weight, len(y), partial)
    return TrainingData(items, y, qid, weights, query_weight)


def split_target(y, qid=None, sample_weight=None, preferences=None):
    """Convert a target y that may be preferences to y, qid, sample_weight and preferences.

    The target contains scores, or is Preferences, Orders, a structured array of survival times as
    in scikit-survival, with strata as qid, or a table of pairs with the columns winner and loser.

    Raises
    ------
    ValueError
        If y contains preferences and another argument repeats their contents, or if y is another
        table with text and at least two columns.
    """
    if isinstance(y, np.ndarray) and y.dtype.names is None:
        return y, qid, sample_weight, preferences
    if (survival := survival_target(y, qid, sample_weight)) is not y:
        y, qid, sample_weight = survival, None, None
    names = column_names(y) if has_columns("y", y) else ()
    are_pairs = {"winner", "loser"} <= set(names)
    if not are_pairs and not isinstance(y, Target):
        if len(names) > 1 and (text := text_in(as_array("y", y))):
            raise ArgumentError(
                f"y has the columns {', '.join(map(repr, names))} with text ({text})",
                "scores, the columns winner and loser, or pairs of names as preferences=",
            )
        return y, qid, sample_weight, preferences
    if preferences is not None:
        raise ArgumentError(f"y is {a_type(y)} and preferences is given", "only one of them")
    if are_pairs:
        return None, qid, sample_weight, y
    plain = y.is_product and y.better_weight is y.worse_weight
    if not plain or y.scores is None:
        return None, qid, sample_weight, y
    for name, given in (("qid", qid), ("sample_weight", sample_weight)):
        if given is not None:
            raise ArgumentError(
                f"{name} is given and y is a Preferences, which has its own", f"Omit {name}."
            )
    return y.scores, y.queries, y.better_weight, None


def read_given(preferences, X, takes, beside, may_be_empty=False):
    """Read preferences or orders between the rows of X. The arguments in `beside` must be None.

    Pairs are read by :func:`rankbook.preferences.graph.as_preferences`; `takes` as in :func:`read`.

    Raises
    ------
    TypeError, ValueError
        If the preferences have another type or refer to other items, if another target is given,
        or if no weight is positive, unless `may_be_empty`.
    """
    if others := [name for name, value in beside.items() if value is not None]:
        raise ArgumentError(
            f"preferences and {others[0]} are both given",
            "y, qid and sample_weight, or preferences alone",
        )
    preferences = as_preferences(preferences, X)
    are_orders = preferences.unit == "order"
    if are_orders and "orders" not in takes:
        raise ArgumentError(
            "y holds orders",
            "scores or preferences",
            "RankSVM(loss='plackett-luce') takes orders.",
        )
    if "pair features" not in takes:
        refuse_pair_features(preferences, "preferences")
    if may_be_empty or len(preferences) and not weighs_nothing(preferences):
        return preferences
    if preferences.survival is not None:
        raise ArgumentError(
            "y has no comparable pair of survival times", "at least one event before another time"
        )
    if are_orders:
        raise ArgumentError(
            "y has no choice among two items or more", "at least one order of two items or more"
        )
    raise ArgumentError(
        f"preferences has {count(len(preferences), 'preference')}, none of positive weight",
        "at least one positive weight",
    )


def read_items(model, X, reset=True, least=1):
    """Read at least `least` items (n, d), checked by scikit-learn and then by rankbook.

    scikit-learn's checks do not report the place of the first NaN, or the column with text. With
    ``reset=False``, X must have the number of features to which the model was fitted.
    """
    refuse_blocks(X)
    kernel = getattr(model, "kernel", "linear")
    if isinstance(kernel, ObjectKernel):
        try:
            np.asarray(X, dtype=float)
        except (TypeError, ValueError):
            raise ArgumentError(
                "X holds objects, and kernel identifies them by numbers",
                "kernel.items, or kernel.add(objects) for new ones",
            ) from None
    refuse_text("X", X)
    X = X if hasattr(X, "shape") else as_array("X", X)
    # scikit-learn's estimator checks expect the second sentences
    if len(X.shape) != 2:
        raise ArgumentError(
            f"X has shape {X.shape}",
            "a matrix of shape (n, d)",
            "Reshape your data by X.reshape(-1, 1) if there is one feature, or "
            "X.reshape(1, -1) if there is one item.",
        )
    if getattr(getattr(X, "dtype", None), "kind", "f") == "c":
        raise ValueError("X has complex entries. Complex data not supported.")
    takes, sparse = getattr(model, "takes", ()), get_tags(model).input_tags.sparse
    if (single := hasattr(X, "tocsr")) and not sparse and "sparse" in takes:
        raise ArgumentError(
            f"X is a sparse matrix and kernel is {describe_value(kernel)}",
            "kernel='linear' or a dense array",
        )
    if sparse and "float32" in takes:
        name = with_options(getattr(model, "solver", "auto"), {})[0]
        # with few items the solution is exact, in float64
        large = ("auto",) if X.shape[0] > 2000 else ()
        single |= isinstance(name, str) and name in ("newton", "subgradient", *large)
    options = dict(ensure_all_finite=False, order="C", reset=reset, ensure_min_samples=least)
    options["dtype"] = [np.float64, np.float32] if single else np.float64
    return as_items("X", validate_data(model, X, accept_sparse=sparse and "csr", **options))


def read_scores(y, items, columns=False):
    """Scores (n,) of items, or (n, k) with `columns`, as finite floats."""
    y = as_numbers("y", y)
    if y.ndim not in (1, 2) or 0 in y.shape[1:]:
        raise ArgumentError(f"y has shape {y.shape}", "an array of shape (n,)")
    if not columns:
        if y.ndim == 2 and y.shape[1] > 1:
            advice = "For survival times, pass rb.Preferences.from_survival(time, event)."
            raise ArgumentError(
                f"y has shape {y.shape}", "an array of shape (n,)", advice * (2 in y.shape)
            )
        y = column_or_1d(y, warn=True)
    as_vector("y", y.ravel())
    refuse_lengths(items, y)
    return y


def read_labels(y, X, accepted):
    """Labels (n,) of items of any type, as an array."""
    require_target(y, accepted)
    if (y := as_array("y", y)).dtype.kind == "c":
        raise ValueError("y has complex entries. Complex data not supported.")
    y = column_or_1d(y, warn=True)
    refuse_lengths(X, y)
    return y


def read_weights(sample_weight, n, may_be_zero=False):
    """Item weights (n,) >= 0, at least one of them positive; None if all are 1."""
    weight = as_vector("sample_weight", sample_weight, n, minimum=0.0)
    refuse_huge("sample_weight", weight)
    if not (weight.any() or may_be_zero):
        raise ArgumentError("sample_weight is zero for every item", "at least one positive weight")
    return None if (weight == 1).all() else weight


def require_target(y, accepted):
    """Raise a ValueError if y is None, with the text that scikit-learn's checks expect."""
    if y is None:
        raise ArgumentError(
            "This estimator requires y to be passed, but the target y is None", accepted
        )


FOR_MEMORY = (
    "Sparse penalties need items in memory, as float32 or CSR if they are large, because a path "
    "would read the blocks hundreds of times."
)


def refuse_blocks(X, advice=BLOCKS_GO):
    """Raise an error if X is blocks, with a list of the methods that accept them."""
    if isinstance(X, BlocksLike):
        raise ArgumentError(f"X is {type(X).__name__}", "an array of shape (n, d)", advice)


def refuse_lengths(X, y):
    """Raise a ValueError unless there is an entry of y for each row of X."""
    X, y = (A if hasattr(A, "shape") else as_array(name, A) for name, A in (("X", X), ("y", y)))
    rows, entries = X.shape[:1], y.shape[:1]
    if rows and entries and rows != entries:
        raise ArgumentError(
            f"y has {count(entries[0], 'entry')} and X has {count(rows[0], 'row')}",
            "one entry for each row",
        )


@contextmanager
def open_blocks(model: Any, X: Any, given: dict[str, Any], **options: Any) -> Iterator[Any]:
    """Return X as blocks, or None if X is an array or data frame in memory.

    Blocks of Dask collections (:func:`rankbook.dask_blocks`) are released after an error.

    Parameters
    ----------
    model : estimator
    X : Blocks, collection of Dask, or other items
    given : dict
        The other arguments of `fit`, the target first and preferences last.
    **options
        Parameters of the model with the values that they may have.
    """
    if not isinstance(X, np.ndarray) and is_dask(X):
        y, *others, preferences = given.values()
        if preferences is not None or isinstance(y, Target):
            raise ArgumentError("preferences are given and X is a Dask collection", "scores y")
        require_target(y, "scores of shape (n,)")
        blocks = dask_blocks(X, y, *others)
    elif isinstance(X, BlocksLike):
        blocks = X
        if found := [name for name, value in given.items() if value is not None]:
            raise ArgumentError(
                f"{found[0]} is given and X holds blocks, which have scores, ids and weights of "
                "their own",
                "X alone",
            )
    else:
        yield None
        return
    try:
        for name, wanted in options.items():
            value = getattr(model, name)
            if not any(value is one or isinstance(value, str) and value == one for one in wanted):
                raise ArgumentError(
                    f"{name} is {value!r} and X holds blocks",
                    f"{' or '.join(map(repr, wanted))} with blocks",
                    FOR_MEMORY if name == "penalty" else "",
                )
        yield blocks
    except BaseException:  # including an interrupt
        if blocks is not X and isinstance(blocks, DaskBlocks):
            blocks.release()
        raise
