"""Read DATA with its validation and test files, or with preferences between its items."""

import numpy as np

from ...base.errors import ArgumentError
from .reading import (
    advice_on_words,
    check_file,
    has_pair_names,
    open_file_blocks,
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
        The options target, qid, name, drop, time, event and entry.

    Returns
    -------
    found : Dataset or PreferredItems
    groups : ndarray of shape (n,) or (m,), or None
        With preferences, the group of each item or of each training preference. Without a column
        of groups, the query of each item if clicks have names QUERY,ITEM.

    Raises
    ------
    OSError, ValueError
        As in :func:`rankbook.app.cli.reading.read_data`, or if options exclude each other.
    """
    from rankbook.data.split import PreferredItems, read_parts

    for name, file in files.items():
        check_file(f"--{name}", file)
    survival = {key: columns.pop(key, None) for key in ("time", "event", "entry")}
    if any(column is not None for column in survival.values()):
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
                f"group_split is {group_split!r} and parts are given as files",
                "only one of the two",
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
            blocks, roles = open_file_blocks([data], **how, **columns)
        except ArgumentError as error:
            raise error.renamed("group_split") if error.argument == "qid" else error
    (block,) = blocks.items.values
    items, groups = (block.X.shape[0], block.item_names), None if group_split is None else block.qid
    if group is None:
        train = preferences_between(asked, *items)
    else:
        train, groups = preferences_between(asked, *items, group=group)
    prefs = dict(train=train)
    prefs |= {
        part: preferences_between(asked | dict(path=file), *items) for part, file in files.items()
    }
    for part, each in prefs.items():
        if not each.weight.any():
            name = "preferences" if part == "train" else part
            raise ArgumentError(
                f"{name} has no preference of positive weight", "at least one such preference"
            )
    names = roles.features if roles.encoding is None else roles.encoding.names
    if has_pair_names(asked) and groups is None:
        groups = np.array([str(each).partition(",")[0] for each in block.item_names], object)
    return PreferredItems(block.X, prefs, names, block.name, roles.encoding), groups
