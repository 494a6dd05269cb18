"""Read DATA with its validation and test files, or with preferences between its items."""

from ...base.errors import ArgumentError
from .reading import (
    advice_on_words,
    check_file,
    open_blocks,
    preferences_between,
    read_data,
    refuse_beside,
)


def read_parts_of(
    data, files, asked=None, *, group_split=None, group=None, learnt=None, seed=0, **columns
):
    """Read the training, validation and test parts: a data set, or items with preferences.

    Parameters
    ----------
    data : str
        DATA as given.
    files : dict from "validation" and "test" to str
        The given files: graded items like DATA, or preferences between its items.
    asked : dict, optional
        Preferences to train on, from :func:`rankbook.app.cli.reading.asked_preferences`.
    group_split, group : str, optional
        Columns of groups in DATA and in the file of preferences.
    learnt, seed
        As in :func:`rankbook.app.cli.reading.read_data`. Codes and fill values are learnt from DATA
        if there are files, and from all items if there are preferences.
    **columns
        The options target, qid, name, drop, time and event.

    Returns
    -------
    found : Dataset or PreferredItems
    groups : ndarray of shape (n,) or (m,), or None
        With preferences, the group of each item or of each training preference.

    Raises
    ------
    OSError, ValueError
        As in :func:`rankbook.app.cli.reading.read_data`, or if options exclude each other.
    """
    from rankbook.data.split import PreferredItems, read_parts

    for name, file in files.items():
        check_file(f"--{name}", file)
    survival = {key: columns.pop(key, None) for key in ("time", "event")}
    if survival != dict(time=None, event=None):
        if asked is not None:
            refuse_beside(**survival)
        check_file("DATA", data)
        how = {key: columns[key] for key in ("name", "qid")}
        with advice_on_words(**how, learns=learnt is not None):
            more = dict(group_split=group_split, learnt=learnt or ())
            found = read_parts(dict(train=data, **files), **columns, **survival, **more)
        return found, found.groups
    if asked is None:
        if files and group_split is not None:
            raise ArgumentError(
                f"group_split is {group_split!r} and parts are given as files", "one of the two"
            )
        if not files:
            more = dict(group_split=group_split, learnt=learnt, seed=seed)
            return read_data(data, **columns, **more), None
        check_file("DATA", data)
        how = {key: columns[key] for key in ("target", "name", "qid")}
        with advice_on_words(**how, learns=learnt is not None):
            return read_parts(dict(train=data, **files), **columns, learnt=learnt or ()), None
    refuse_beside(target=columns.pop("target"), qid=columns.pop("qid"))
    for name, file in files.items():
        if file == "-":
            raise ArgumentError(f"{name} is '-', standard input", "a file of preferences")
    with advice_on_words(name=columns["name"], learns=learnt is not None):
        how = dict(needs_target=False, scored=False, qid=group_split, learnt=learnt or ())
        try:
            blocks, roles = open_blocks([data], **how, **columns)
        except ArgumentError as error:
            raise error.renamed("group_split") if error.argument == "qid" else error
    (block,) = blocks.items.values
    items, groups = (block.X.shape[0], block.item_names), None if group_split is None else block.qid
    if group is None:
        train = preferences_between(asked, *items)
    else:
        train, groups = grouped_preferences(asked, group, *items)
    prefs = dict(train=train)
    prefs |= {
        part: preferences_between(asked | dict(path=file), *items) for part, file in files.items()
    }
    for part, each in prefs.items():
        if not each.weight.any():
            name = "preferences" if part == "train" else part
            raise ArgumentError(f"{name} has no preference of positive weight", "at least one")
    names = roles.features if roles.encoding is None else roles.encoding.names
    return PreferredItems(block.X, prefs, names, block.name, roles.encoding), groups


UNITS = dict(clicks="session", rankings="ranking")  # rows that form preferences together


def grouped_preferences(asked, column, n, names):
    """Read preferences, and the group (m,) of each from a column of their file.

    Parameters
    ----------
    asked, n, names
        As in :func:`rankbook.app.cli.reading.preferences_between`.
    column : str

    Returns
    -------
    Preferences
        Sorted by group, then by row.
    group : ndarray of shape (m,)

    Raises
    ------
    ValueError
        If there is no such column, or a session or ranking has rows of two groups.
    """
    import numpy as np

    from rankbook.base.validation import unknown_name
    from rankbook.data.records import form_of
    from rankbook.data.table import Source, read_frame, require_ids
    from rankbook.preferences.graph import Preferences

    if asked["path"] == "-":
        raise ArgumentError(f"group is {column!r} and preferences is '-'", "a file of preferences")
    if asked["form"] == "orders" or "loss" in asked:
        raise ArgumentError(f"group is {column!r} beside orders", "no value for orders")
    preferences_between(asked, n, names)  # errors count the rows of the whole file
    source = Source(asked["path"])
    frame = read_frame(source)
    columns = {name: value for name, value in asked.items() if name not in ("path", "form")}
    form, columns = form_of(frame, asked["form"], columns)
    if column not in frame.columns:
        raise unknown_name("group", column, list(frame.columns))
    require_ids(source, frame[column], what="group")
    if form in UNITS:
        unit = columns.get(UNITS[form], UNITS[form])
        torn = frame.groupby(unit)[column].nunique() > 1
        if torn.any():
            raise ArgumentError(
                f"group is {column!r}, of which the {UNITS[form]} {torn.idxmax()} of {source} "
                "has two values",
                f"one group for each {UNITS[form]}",
            )
    make, rows = getattr(Preferences, f"from_{form}"), range(n) if names is None else names
    labels, parts = zip(*frame.groupby(column, sort=False))
    parts = [make(part.reset_index(drop=True), items=rows, **columns) for part in parts]
    columns = ["better", "worse", "weight", "margin"]
    columns += ["pair_features"] * (parts[0].pair_features is not None)
    better, worse, *whole = (np.concatenate([getattr(p, name) for p in parts]) for name in columns)
    group = np.repeat(np.arange(len(labels)), [len(each) for each in parts])
    return Preferences(better, worse, n, *whole), group
