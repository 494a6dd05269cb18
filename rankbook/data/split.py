"""Splits of a data set, at random or from files, and standardization."""

from collections import namedtuple
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ..base.errors import ArgumentError, Assumption
from ..base.limits import warn, written_out
from ..base.tables import count
from ..preferences.graph import Preferences
from ..preferences.names import names_as_text
from ..preferences.orders import survival_target
from .blocks import Blocks, BlocksLike, CheckedBlock
from .encoding import learn_encoding, read_to_learn
from .table import (
    PARTS,
    Dataset,
    FrameReader,
    Source,
    find_roles,
    note_id_columns,
    require_ids,
    stack,
)


def _assign(cards, n, rng):
    """Assign the numbers of parts in `cards` (0 twice, 1, ...) to n rows.

    Each block of consecutive rows gets all cards in random order. A shorter last block gets a 0,
    then distinct other cards.
    """
    blocks, rest = divmod(n, len(cards))
    full = rng.permuted(np.tile(cards, (blocks, 1)), axis=1).ravel()
    short = np.r_[0, rng.permutation(cards[2:])][:rest]
    return np.r_[full, rng.permutation(short)].astype(int)


def _refuse_torn(labels, groups, said, accepted):
    """Refuse rows that share a label but not a group; `said` is a template for two rows."""
    order = np.lexsort((groups, labels))
    same = labels[order][1:] == labels[order][:-1]
    torn = np.flatnonzero(same & (groups[order][1:] != groups[order][:-1]))
    if torn.size:
        rows = sorted(order[torn[0] : torn[0] + 2].tolist())
        raise ArgumentError(said.format(*rows), accepted)


def split(data, seed=0, parts=PARTS):
    """Assign each item to a part: train, validation or test.

    Parameters
    ----------
    data : Dataset
        Its own parts are kept. Missing parts are drawn from its training part, or from all rows if
        it has no parts: for every item, query or group in a missing part, two stay in training.
    seed : int >= 0, default 0
        Seed of the assignment.
    parts : tuple of str, default all three
        The required parts, "train" first.

    Returns
    -------
    part : ndarray of shape (n,), str
    how : str
        Description in words.

    Raises
    ------
    ValueError
        If the data's own parts have no "train" or divide a group, a query has rows of two groups,
        there are fewer queries or groups than parts, or `seed` is negative.

    Notes
    -----
    O(n log n). Groups and queries are never divided. Without groups and queries, the split is
    stratified: rows are sorted by y, and every block of consecutive rows is divided in the same
    proportions.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ArgumentError(f"seed is {seed!r}", "an integer >= 0")
    part = np.full(len(data.y), "train") if data.parts is None else data.parts
    part = part.astype("U10")
    if data.groups is not None and data.qid is not None:
        _refuse_torn(
            data.qid,
            data.groups,
            "groups has different entries in rows {} and {}, which are of one query",
            "queries within one group",
        )
    if data.groups is not None:
        _refuse_torn(
            data.groups,
            part,
            "groups has the same entry in rows {} and {}, which are in different parts",
            "groups within one part",
        )
    rows, missing = np.flatnonzero(part == "train"), [n for n in parts[1:] if n not in part]
    if rows.size == 0:
        raise ArgumentError(
            f"data has no training part, only {' and '.join(np.unique(part))}", "a part 'train'"
        )
    if not missing:
        return part, "the data's own parts"
    cards = [0, 0, *range(1, len(missing) + 1)]
    rng, way = np.random.default_rng(seed), f"stratified by y, seed {seed}"
    units, what = (data.qid, "query") if data.groups is None else (data.groups, "group")
    if units is None:  # each block of neighbouring y gets every card
        assigned = np.empty(rows.size, dtype=int)
        order = np.lexsort((rng.random(rows.size), -data.y[rows]))
        assigned[order] = _assign(cards, rows.size, rng)
    else:
        way = f"by {'query' if data.groups is None else 'group'}, seed {seed}"
        ids, unit = np.unique(units[rows], return_inverse=True)
        if ids.size < len(set(cards)):
            raise ArgumentError(
                f"data has {count(ids.size, what)} to split into {len(set(cards))} parts",
                f"at least {len(set(cards))}, one for each part",
            )
        assigned = np.empty(ids.size, dtype=int)
        assigned[rng.permutation(ids.size)] = _assign(cards, ids.size, rng)
        assigned = assigned[unit]
    part[rows] = np.array(["train", *missing])[assigned]
    if data.parts is not None:
        way = f"the data's own parts, {' and '.join(missing)} taken from train {way}"
    return part, way


def feature_range(block):
    """Return the extent of a block: sparsity, number of items, and sum, minimum, maximum (d,)."""
    X, sparse = block.X, not isinstance(block.X, np.ndarray)
    ends = [X.min(axis=0), X.max(axis=0)]
    ends = [end.toarray().ravel() for end in ends] if sparse else ends
    return sparse, X.shape[0], X.sum(axis=0, dtype=np.float64), *ends


def extent_of_both(first, second):
    """Combine the extents of two blocks."""
    (one, n, total, low, high), (other, m, more, lower, higher) = first, second
    return one or other, n + m, total + more, np.minimum(low, lower), np.maximum(high, higher)


def squares(block, centre):
    """Return the sum (d,) of the squared deviations of a block's features."""
    X, d = block.X, len(centre)
    if isinstance(X, np.ndarray):
        return ((X - centre) ** 2).sum(axis=0)
    stored = np.bincount(X.indices, (X.data - centre[X.indices]) ** 2, minlength=d)
    return stored + (X.shape[0] - np.bincount(X.indices, minlength=d)) * centre**2


def scaling(X):
    """Compute the `centre` to subtract and the `factor` to multiply by, to standardize items.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d), or Blocks
        Training items. Blocks are read twice.

    Returns
    -------
    centre, factor : ndarrays of shape (d,)
        Means (0 for sparse items, because they would not stay sparse), and inverse standard
        deviations (0 for a constant column).

    Raises
    ------
    ValueError
        If a column is so large or so small that its variance is not a floating-point number.
    """
    blocks = X if isinstance(X, BlocksLike) else Blocks([CheckedBlock(X, None)])
    with np.errstate(over="ignore", invalid="ignore"):  # refused below, in words
        sparse, n, total, low, high = blocks.reduce(
            feature_range, blocks.items, combine=extent_of_both
        )
        constant = low == high  # the computed deviation of 0.1, 0.1, 0.1 is not exactly 0
        centre = total / n
        deviation = np.sqrt(blocks.reduce(squares, blocks.items, centre) / n)
    for j in np.flatnonzero(~np.isfinite(deviation) | ~constant & (deviation == 0)):
        raise ValueError(
            f"X has entries between {low[j]:.3g} and {high[j]:.3g} in column {j}, "
            "too extreme to compute their variance. Rescale the column."
        )
    factor = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=~constant)
    return np.zeros_like(centre) if sparse else centre, factor


def standardise(X, centre, factor):
    """Standardize items (n, d). Sparse items stay sparse if `centre` is 0."""
    if not isinstance(X, np.ndarray) and not centre.any():
        X = X.copy()
        X.data = X.data * factor[X.indices]
        return X
    return (written_out(X, "use fewer rows") - centre) * factor


Part = namedtuple("Part", "rows X y qid prefs")
Part.__doc__ = (
    "A part of a data set: "
    "indices of its items, their features, scores and queries, and the preferences between them."
)


@dataclass(frozen=True, eq=False)
class PreferredItems:
    """Items without scores, and the preferences of each part between them.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, d)
    prefs : dict from "train", "validation", "test" to Preferences or Orders
        Between the n items, "train" at least.
    feature_names : sequence of str
    name : str, default ""
    encoding : Encoding, optional
        As of :class:`rankbook.datasets.Dataset`.
    groups : ndarray of shape (n,), optional
        Group of each item, such as a hospital.
    """

    X: np.ndarray
    prefs: dict
    feature_names: tuple
    name: str = ""
    encoding: object = None
    groups: np.ndarray | None = None

    y = qid = None

    @property
    def is_survival(self):
        """Whether the preferences come from survival times."""
        return self.prefs["train"].survival is not None

    @property
    def events(self):
        """Number of items with an observed event; None without survival times."""
        return int(self.prefs["train"].survival["event"].sum()) if self.is_survival else None


def prepare(data, graph="full", standardize=True, seed=0, parts=PARTS, sparse=False):
    """Split a data set and standardize its parts.

    Parameters
    ----------
    data : Dataset or PreferredItems
        With PreferredItems, each part has all items, and its rows are those that its preferences
        compare. With survival times, each part has only its own rows.
    graph : {"full", "star"}, default "full"
        Graph of the training preferences; other parts always use the full graph.
    standardize : bool, default True
        Whether to use mean and standard deviation of the training part.
    seed : int, default 0
        See :func:`split`.
    parts : tuple of str, default all three
        See :func:`split`.
    sparse : bool, default False
        Whether sparse items stay sparse.

    Returns
    -------
    parts : dict from "train" and the other names to Part
    how : str
        Description of the split.
    centre, factor : ndarrays of shape (d,)

    Raises
    ------
    ValueError
        If a part has no preference.
    """
    graded = not isinstance(data, PreferredItems)
    if graded:
        names, how = split(data, seed, parts)
        rows = {name: np.flatnonzero(names == name) for name in parts}
        whole = Preferences.from_scores(data.y, data.qid, graph)
    else:
        how = "the data's own parts" if data.is_survival else "preferences in files of their own"
        whole = ()
        rows = {name: prefs.compared_items() for name, prefs in data.prefs.items()}
    raw = data.X if sparse else written_out(data.X, "use a linear kernel")
    d, found = raw.shape[1], {}
    scale = scaling(raw[rows["train"]]) if standardize else (np.zeros(d), np.ones(d))
    X = None if graded else standardise(raw, *scale)
    for name, at in rows.items():
        if not graded:
            prefs, items = data.prefs[name], X
            if prefs.survival is not None:  # patients of other parts are not compared
                prefs, items = prefs[at], X[at]
            found[name] = Part(at, items, None, None, prefs)
            continue
        y, qid = data.y[at], None if data.qid is None else data.qid[at]
        prefs = Preferences.from_scores(y, qid, graph if name == "train" else "full")
        if len(prefs) == 0:
            where = (
                f"the {name} part ({at.size} of {count(len(data.y), 'item')})"
                if len(whole)
                else f"data ({count(len(data.y), 'item')})"
            )
            raise ArgumentError(
                f"{where} has no preference: all y are "
                f"equal{'' if data.qid is None else ' in every query'}",
                "at least one preference",
                "More items, or another seed, may help." if len(whole) and "seed" in how else "",
            )
        found[name] = Part(at, standardise(raw[at], *scale), y, qid, prefs)
    return found, how, *scale


def read_parts(files, target=None, qid=None, drop=(), name=None, learnt=(), **survival):
    """Read a data set that has one file for each part, as in LETOR and TREC.

    Parameters
    ----------
    files : dict from "train", "validation" and "test" to str or path
        At least "train", in any format of :func:`rankbook.data.table.read_table`.
    target, qid, drop, name
        Columns of the training file, as in that function.
    learnt : sequence of str, optional
        "encode" and "impute": codes and fill values learnt from the training file; see
        :func:`rankbook.data.encoding.learn_encoding`.
    **survival
        Columns time and event, instead of a target, and group_split.

    Returns
    -------
    Dataset, or PreferredItems for survival times
        `parts` contains the file of each row. With survival times, each part has the preferences
        between its rows. Features are those of the training file, by name. For SVMlight text they
        are all features that occur in at least one file; a feature that a file lacks is 0 in its
        rows.

    Raises
    ------
    OSError, ValueError
        As in :func:`rankbook.data.table.read_table`. Also if a file is given twice or lacks a
        column, or if only some files are SVMlight text.

    Warns
    -----
    UserWarning
        If a query id is in two files.
    """
    import pandas as pd

    sources = {part: Source(file) for part, file in files.items()}
    train, seen = sources["train"], set()
    for part, source in sources.items():
        place = source.path and source.path.resolve()  # None is standard input
        if place in seen:
            raise ArgumentError(
                f"{part} is {str(source)!r}, which is given twice", "a different file for each part"
            )
        seen.add(place)
        if source.is_numbered != train.is_numbered:
            raise ArgumentError(
                f"{source} is {source.kind} and {train} is {train.kind}",
                "files of one kind, because columns are matched by their names",
            )
    readers = {part: FrameReader(source) for part, source in sources.items()}
    columns = readers["train"].columns
    if train.is_numbered:
        mentioned = {each for reader in readers.values() for each in reader.columns}
        mentioned -= {"label", "qid", "docid"}
        features = sorted(mentioned, key=lambda each: int(each.removeprefix("feature ")))
        names = {str(reader.source): "docid" in reader.columns for reader in readers.values()}
        named = all(names.values())
        if any(names.values()) and not named:
            without, other = (
                next(k for k, v in names.items() if v == has) for has in (False, True)
            )
            warn(
                Assumption(
                    f"{without} has documents without #docid and {other} has names, so documents "
                    "have no names."
                )
            )
        others = ["docid"] * named + [each for each in columns if each in ("label", "qid")]
        columns = others + features
    roles = find_roles(train, columns, target, qid, name=name, drop=drop, **survival)
    frames = {}
    for part, reader in readers.items():
        own = set(reader.columns)
        lacking = [c for c in roles.columns if c not in own and not train.is_numbered]
        if lacking:
            raise ArgumentError(
                f"{reader.source} has no column {lacking[0]!r}; it has {', '.join(reader.columns)}",
                f"a file with the columns of {train}",
            )
        if part == "train" and learnt:
            frames[part] = read_to_learn(reader, roles, learnt)
            found = learn_encoding(train, roles.items(frames[part]), learnt)
            roles = replace(roles, encoding=found)
        else:
            frames[part] = reader.read(roles.names, texts=roles.texts)
    note_id_columns(train, frames["train"], roles)
    ids, blocks = [], []
    for part, source in sources.items():
        frame, own = frames[part], set(frames[part].columns)
        if train.is_numbered and (roles.qid is None) == ("qid" in own):
            with_ids, without = (train, source) if roles.qid else (source, train)
            raise ArgumentError(
                f"{without} has no query ids, but {with_ids} has them",
                "query ids in all files or in none",
            )
        blocks.append(roles.read(source, frame, name=str(source)))
        if roles.qid is not None:
            require_ids(source, frame[roles.qid])
            ids.append(names_as_text(blocks[-1].qid))
    part = np.repeat(list(sources), [block.X.shape[0] for block in blocks])
    joined = lambda name: stack([getattr(block, name) for block in blocks])
    if ids:
        number, labels = pd.factorize(np.concatenate(ids))
        if roles.time is None:  # a stratum may be in several files
            _warn_of_shared(number, labels, part, sources)
    qid = _ids_of(labels)[number] if ids else None
    more = dict(name=", ".join(source.name for source in sources.values()), encoding=roles.encoding)
    more |= dict(feature_names=roles.features if roles.encoding is None else roles.encoding.names)
    if roles.time is not None:
        y, groups = joined("y"), None
        if roles.group_split is not None:
            groups = pd.concat(frame[roles.group_split] for frame in frames.values())
            require_ids(train, groups, what="group")
            groups = pd.factorize(groups.astype(str))[0]
        prefs = {name: survival_target(y, qid, part == name) for name in sources}
        return PreferredItems(joined("X"), prefs, groups=groups, **more)
    names = None if roles.name is None else joined("item_names")
    return Dataset(joined("X"), joined("y"), qid=qid, parts=part, item_names=names, **more)


def _ids_of(labels):
    """Return query ids as whole numbers if their texts are, else as text."""
    labels = np.asarray(labels, dtype=str)
    if np.char.isdecimal(labels).all() and max(map(len, labels.tolist())) < 19:
        numbers = labels.astype(np.int64)
        if (numbers.astype(str) == labels).all():
            return numbers
    return labels


def _warn_of_shared(query, labels, part, sources):
    """Warn if a query has rows in two parts; `labels` are the ids of the numbers `query`."""
    for one, other in combinations(sources, 2):
        shared = np.intersect1d(query[part == one], query[part == other])
        if shared.size:
            more = f" and {shared.size - 1} others are" if shared.size > 1 else " is"
            warn(
                f"query {labels[shared[0]]}{more} in {sources[one]} and in {sources[other]}. "
                "Documents of different files are not compared; but if the ids mean the same "
                f"query, the {other} values are too good."
            )
