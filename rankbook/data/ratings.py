"""Long tables of ratings, joined by key with features of users and items."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import ArgumentError, a_type
from ..base.tables import columns_of, count
from ..base.validation import as_vector, describe_value, index_of

if TYPE_CHECKING:
    from pandas import DataFrame, Index


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of items by users, with the features of both.

    Attributes
    ----------
    X : DataFrame of shape (n, d)
        Features of the users, with their names as the index.
    y : csr_array of shape (n, k)
        The ratings. An entry that is not stored is unknown.
    labels : DataFrame of shape (k, p)
        Features of the items, with their names as the index.

    Examples
    --------
    >>> import pandas as pd, rankbook as rb
    >>> users = pd.DataFrame(dict(age=[30.0, 40.0]), index=["ann", "bob"])
    >>> items = pd.DataFrame(dict(length=[1.0, 2.0]), index=["tea", "milk"])
    >>> table = pd.DataFrame(dict(user=["ann", "bob"], item=["tea", "milk"], rating=[5, 3]))
    >>> rb.read_ratings(table, users, items).y.toarray()
    array([[5., 0.],
           [0., 3.]])
    """

    X: "DataFrame"
    y: Any
    labels: "DataFrame"

    def __repr__(self) -> str:
        n, k = self.y.shape
        sizes = dict(rating=self.y.nnz, item=k, user=n)
        return "Ratings({} of {} by {})".format(*(count(m, what, ",") for what, m in sizes.items()))


def require_keys(name: str, table: Any) -> "Index":
    """Return the index of a data frame, whose names must differ."""
    index = index_of(table)
    if index is None or not hasattr(table, "columns"):
        raise ArgumentError(
            f"{name} is {a_type(table)}",
            f"a data frame with the names as its index, for example {name}.set_index(COLUMN)",
        )
    if not index.is_unique:
        twice = index[index.duplicated()][0]
        raise ArgumentError(f"{name} has the name {twice!r} twice in its index", "distinct names")
    return index


def join(column: Any, index: "Index", name: str, known: str) -> np.ndarray:
    """Return the row numbers (m,) of the names in a column; the index must contain all names."""
    place = index.get_indexer(column)
    if (missing := np.flatnonzero(place < 0)).size:
        names = {repr(each): None for each in column.iloc[missing].head(1000)}
        some = ", ".join(list(names)[:3])
        advice = f"Or drop these rows: ratings[ratings[{name!r}].isin({known}.index)]."
        if missing.size == len(column):
            advice = (
                f"No name agrees: the column has the type {column.dtype} and the index of {known} "
                f"has {index.dtype}."
            )
        raise ArgumentError(
            f"ratings has {missing.size:,} row{'s' * (missing.size > 1)} whose {name!r} is not in "
            f"the index of {known}, among them {some}",
            f"only names that {known} has",
            advice,
        )
    return place


def read_ratings(
    ratings: "DataFrame | Mapping[str, Any]",
    users: "DataFrame",
    items: "DataFrame",
    user: str = "user",
    item: str = "item",
    rating: str = "rating",
) -> Ratings:
    """Join a long table of ratings with the features of users and items.

    Names are matched by key, never by position. The function drops, sums and guesses nothing: it
    refuses repeated ratings, unknown names and missing values, and the error says how to correct
    the table.

    Parameters
    ----------
    ratings : DataFrame or dict of columns
        One row for each rating (or count).
    users : DataFrame of shape (n, d)
        Numeric features of the users; the index has their names. Users without ratings may be
        among them.
    items : DataFrame of shape (k, p)
        Numeric features of the items; the index has their names.
    user, item, rating : str
        Names of the columns of `ratings`.

    Returns
    -------
    Ratings
        With `X`, `y` and `labels` for ``LabelRanker.fit(ratings.X, ratings.y,
        labels=ratings.labels)``.

    Raises
    ------
    ValueError
        If a column is missing, a name is unknown, a user rates an item twice, or a rating is
        missing or not finite.

    Notes
    -----
    O(m log m) for m ratings. The table of all users and items is never stored.

    Examples
    --------
    >>> import pandas as pd, rankbook as rb
    >>> users = pd.DataFrame(dict(age=[-1.0, 0.0, 1.0]), index=["ann", "bob", "cy"])
    >>> items = pd.DataFrame(dict(length=[0.0, 1.0, 2.0]), index=["tea", "milk", "juice"])
    >>> table = pd.DataFrame(
    ...     [("ann", "tea", 5), ("ann", "milk", 1), ("cy", "juice", 4), ("cy", "tea", 2)],
    ...     columns=["user", "item", "rating"],
    ... )
    >>> ratings = rb.read_ratings(table, users, items)
    >>> ratings
    Ratings(4 ratings of 3 items by 3 users)
    >>> model = rb.LabelRanker(kernel="linear", label_kernel="linear")
    >>> model = model.fit(ratings.X, ratings.y, labels=ratings.labels)
    >>> model.recommend(users.loc[["ann"]], k=1, exclude=table)["item"].tolist()
    ['juice']
    """
    import pandas as pd
    from scipy.sparse import csr_array

    found = list(ratings if isinstance(ratings, Mapping) else columns_of(ratings))
    for argument, name in (("user", user), ("item", item), ("rating", rating)):
        if not isinstance(name, str | int):
            raise ArgumentError(f"{argument} is {describe_value(name)}", "the name of a column")
        if name not in found:
            there = ", ".join(map(repr, found))
            raise ArgumentError(
                f"ratings has no column {describe_value(name)} (its columns are {there})",
                f"{argument}=COLUMN",
            )
    frame = pd.DataFrame({name: ratings[name] for name in (user, item, rating)})
    rows, columns = require_keys("users", users), require_keys("items", items)
    if empty := int(frame[rating].isna().sum()):
        raise ArgumentError(
            f"ratings has {empty:,} row{'s' * (empty > 1)} without a {rating!r}",
            f"Leave these rows out by ratings.dropna(subset=[{rating!r}]).",
        )
    values = as_vector(rating, frame[rating].to_numpy())
    i, j = join(frame[user], rows, user, "users"), join(frame[item], columns, item, "items")
    if (again := frame.duplicated([user, item])).any():
        first = {name: frame.loc[again, name].tolist()[0] for name in (user, item)}
        how = f"ratings.groupby([{user!r}, {item!r}], as_index=False)[{rating!r}]"
        raise ArgumentError(
            f"ratings has {int(again.sum()):,} repeated rows, for example user {first[user]!r} "
            f"with item {first[item]!r}",
            f"one row for each user and item: {how}.sum() for counts, .last() for the last "
            "rating, .mean() for the mean",
        )
    y = csr_array((values, (i, j)), (len(rows), len(columns)))
    return Ratings(users.copy(), y, items.copy())
