"""Reading and checking the arguments of commands."""

import difflib
import glob
import inspect
import json
import os
import re
import warnings
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ...base.errors import ArgumentError
from .options import FORMATS, FORMS
from .report import say

PICTURES = (".pdf", ".png", ".svg")


def check_picture(file):
    """Refuse a place to which no picture can be written.

    Raises
    ------
    ValueError
        For an ending other than .pdf, .png and .svg.
    OSError
        If there is no such folder, or it cannot be written to.
    """
    if file.suffix.lower() not in PICTURES:
        raise ArgumentError(
            f"--plot is {str(file)!r}, whose ending says no known kind of picture",
            f"{', '.join(PICTURES)}",
        )
    check_place("--plot", file)


def check_place(name, file, *others):
    """Refuse a file, given by the option `name`, that cannot be written: an OSError.

    Standard output, and a file that is one of the `others` of the call, are a ValueError: a model
    over the data it came from would be a loss.
    """
    where = f"{name} is {str(file)!r}"
    if str(file) == "-":
        raise ArgumentError(f"{where}, and the output is no text", "a file")
    if file.resolve() in [Path(other).resolve() for other in others if other is not None]:
        raise ArgumentError(f"{where}, which another argument names, too", "a file of its own")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"{where}, but there is no folder {str(file.parent)!r}.")
    if file.is_dir():
        raise IsADirectoryError(f"{where}, a folder; expected a file.")
    if not os.access(file.parent, os.W_OK):
        raise PermissionError(f"{where}, but the folder {str(file.parent)!r} cannot be written to.")


def check_table(name, file, accepted, *others):
    """Refuse a place for a table, as :func:`check_place`, or with an ending that is not accepted.

    Standard output, "-", is a place for it.
    """
    from rankbook.data.writers import ending_of

    if file != "-":
        check_place(name, Path(file), *others)
        ending_of(file, accepted)


def check_file(name, file):
    """Refuse a file to be read, given by the argument `name`, that does not exist: an OSError."""
    if file != "-" and Path(file).is_dir():
        raise IsADirectoryError(f"{name} is {str(file)!r}, a folder; expected a file.")
    if file != "-" and not Path(file).exists():
        raise FileNotFoundError(f"{name} is {str(file)!r}: there is no such file.")


def refuse_two(as_json, out, name="--out"):
    """Refuse --json beside a table on standard output."""
    if as_json and out == "-":
        raise ArgumentError(
            f"{name} is '-' and --json prints to standard output, too", "one of the two"
        )


def save_picture(figure, file):
    """Write a matplotlib Figure to a file, wholly or not at all; the ending says how."""
    from rankbook.base.files import write_whole

    write_whole(
        file, lambda handle: figure.savefig(handle, dpi=150, format=file.suffix[1:].lower())
    )


@contextmanager
def advice_on_words(*parts):
    """Add to an error about columns of words by which options they are left out, or get a part."""
    from rankbook.data.table import NotNumbers

    try:
        yield
    except NotNumbers as error:
        if error.columns:
            ways = [f"--drop {','.join(error.columns)}"]
            ways += [f"--{part} {error.columns[0]}" for part in parts]
            error.add_note(f"on the command line: {', or '.join(ways)}")
        raise


def read_data(source, target=None, qid=None, drop=(), group_split=None):
    """Items to rank: a built-in data set by name, or a table from a file.

    Parameters
    ----------
    source : str or path
        One of :func:`rankbook.data.datasets.list_datasets`, else a file or "-" for
        :func:`rankbook.data.table.read_table`.
    target, qid, group_split : str, optional
        Columns of a file, see there.
    drop : sequence of str, optional
        Columns to leave out.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If it is neither; the nearest built-in name is given.
    ValueError
        If a column is named for built-in data, or the file cannot be read.
    """
    from rankbook.data.datasets import list_datasets, load
    from rankbook.data.table import read_table

    if source not in list_datasets():
        if source != "-" and not Path(source).exists():
            near = difflib.get_close_matches(str(source), list_datasets(), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise FileNotFoundError(
                f"DATA is {str(source)!r}: there is no such file. A pattern is accepted by "
                "rankbook fit, predict and evaluate, which read several files; here one file, or "
                "built-in data."
                if glob.has_magic(str(source))
                else f"DATA is {str(source)!r}: there is no such file, and no built-in data set "
                f"of this name{hint} Built in: {', '.join(list_datasets())}."
            )
        check_file("DATA", source)
        with advice_on_words("qid"):
            return read_table(source, target, qid, drop, group_split)
    given = dict(target=target, qid=qid, drop=drop or None, group_split=group_split)
    for name, value in given.items():
        if value is not None:
            raise ArgumentError(
                f"{name} is {value!r}",
                f"None for the built-in data {source!r}, whose columns have their parts already",
            )
    return load(source)


def open_blocks(
    data, files=None, model=None, *, needs_target=True, scored=True, drop=(), **columns
):
    """The items of DATA as blocks, and the roles of their columns.

    Parameters
    ----------
    data, files : list of str
        DATA as it was given, and the files if it means several, see :func:`several_files`. These
        are read when they are used; other data are one block.
    model : estimator or ScaledModel, optional
        Only the columns that it reads are features. The target, the query ids and the names that it
        was told of hold for these data, too, if they have them.
    needs_target : bool, default True
    scored : bool, default True
        Whether scores y are read.
    drop : list of str
    **columns
        target, qid and name, as options gave them.

    Returns
    -------
    blocks : Blocks
    roles : Roles
        Of built-in data only the features.

    Raises
    ------
    OSError, ValueError
        As :func:`read_data`.
    """
    from rankbook.data.blocks import Blocks, CheckedBlock
    from rankbook.data.datasets import list_datasets
    from rankbook.data.table import Roles, Source, find_roles, read_frame

    source, about = data[0], getattr(model, "about", {})
    features = getattr(model, "columns", None)
    features = getattr(model, "feature_names_in_", None) if features is None else features
    features = None if features is None else list(features)

    def roles_of(table, names):
        known = {key: about.get(key) for key in ("target", "qid", "name")}
        known = {k: v for k, v in known.items() if v in names or v == "none"}
        known |= {k: v for k, v in columns.items() if v is not None}
        more = dict(features=features, drop=drop, of_model=features is not None)
        roles = find_roles(table, names, **known, **more, needs_target=needs_target)
        return roles if scored else replace(roles, target=None)

    if files is not None:
        from rankbook.data.file_blocks import blocks_of_tables, open_tables

        return blocks_of_tables(
            open_tables(files), roles_of, exactly=features is None, whole=scored
        )
    if source == "-" or (source not in list_datasets() and Path(source).exists()):
        check_file("DATA", source)
        table = Source(source)
        frame = read_frame(table)
        roles = roles_of(table, list(frame.columns))
        return Blocks([roles.read(table, frame, name=str(table))]), roles
    columns.pop("name", None)
    found = read_data(source, **columns, drop=drop)
    return Blocks([CheckedBlock(found.X, found.y, found.qid)]), Roles(tuple(found.feature_names))


@contextmanager
def spoken_warnings(queries=True):
    """Print what a reader assumes, and warnings, as notes on stderr.

    The notes are in the words of the command line; those on query ids are left out where `queries`
    is False, since nothing depends on them.
    """
    from rankbook.data.table import Assumption

    said = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", Assumption)
        if not queries:
            warnings.filterwarnings("ignore", "query ids", Assumption)

        def note(message, category, *where, **more):
            kind = "note" if issubclass(category, Assumption) else "warning"
            text = f"rankbook: {kind}: " + str(message).replace("qid='none'", "--qid none")
            if text not in said:  # a file that is read twice is spoken of once
                say(text, err=True)
            said.add(text)

        warnings.showwarning = note
        yield


def parse_gammas(text, one=False):
    """The numbers of a comma-separated list, or the only one; or None."""
    if text is None:
        return None
    many = "one number > 0" if one else "a number > 0, or several separated by commas"
    try:
        found = [float(word) for word in text.split(",", 0 if one else -1)]
    except ValueError:
        raise ArgumentError(f"--gamma is {text!r}", many) from None
    return found[0] if one else found


def parse_options(texts, name):
    """Options of a solver from texts key=value, a dict; a value is read as JSON, else as text.

    The option of the command line that they came by is called `name`.
    """
    options = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not equals or not key.isidentifier() or key in options:
            raise ArgumentError(f"{name} is {text!r}", "key=value, each key once")
        try:
            options[key] = json.loads(value)
        except ValueError:
            options[key] = value
    return options


def parse_names(texts):
    """The names in comma-separated lists, a list of str."""
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]


DataFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help=f"{FORMATS}; several files, or a pattern in quotation marks, are read in blocks.",
        show_default=False,
    ),
]


def several_files(data, always=False):
    """The files (a list) that are meant by arguments, None if these are a single source.

    It is always files for a cluster.

    Raises
    ------
    FileNotFoundError, ValueError
        If a pattern has no file, or a file comes twice.
    """
    from rankbook.data.file_blocks import files_of

    if (
        not always
        and len(data) == 1
        and not (glob.has_magic(data[0]) and not Path(data[0]).exists())
    ):
        return None
    try:
        return files_of(list(data))
    except ArgumentError as error:
        argument = "DATA" if error.argument == "paths" else error.argument
        raise error.renamed(argument) from error
    except (FileNotFoundError, ValueError) as error:
        raise type(error)(str(error).replace("paths", "DATA", 1)) from error


NO_COLUMNS = ("items", "n_items", "ties")  # arguments that have other ways in
WHO = dict(  # the arguments that name items
    pairs=("winner", "loser"), matches=("home", "away"), clicks=("item",), rankings=("item",)
)


def parse_columns(texts, **given):
    """The dict of ARGUMENT=COLUMN texts, and of options of their own that are not None."""
    columns = {argument: column for argument, column in given.items() if column is not None}
    for text in texts or ():
        argument, _, column = text.partition("=")
        if not (argument and column):
            raise ArgumentError(f"--column is {text!r}", "ARGUMENT=COLUMN, such as winner=home")
        if re.search(r",\s*\w+=", column):
            accepted = "one ARGUMENT=COLUMN, and --column several times"
            raise ArgumentError(f"--column is {text!r}", accepted)
        if columns.setdefault(argument, column) != column:
            raise ArgumentError(
                f"--column is {argument}={columns[argument]} and {text}",
                "one column for each argument",
            )
    return columns


def read_preferences(file, form, columns, items, ties=None):
    """The preferences between items that stand in a file of their own.

    Parameters
    ----------
    file : str
    form : {"pairs", "matches", "clicks", "rankings"}
    columns : dict
        Names of columns by arguments of ``Preferences.from_<form>``.
    items : CheckedBlock
        Their names, or row numbers if they have none, are what the file speaks of.
    ties : str, optional
        What is done with ties.
    """
    import numpy as np
    import pandas as pd

    from rankbook.base.validation import as_choice, unknown_name
    from rankbook.data.table import Source, read_frame
    from rankbook.preferences.graph import Preferences

    as_choice("form", form, FORMS)
    make = getattr(Preferences, f"from_{form}")
    if ties is not None and form not in ("pairs", "matches"):
        raise ArgumentError(f"ties is {ties!r}", f"None for {form}, which have no ties to decide")
    check_file("--preferences", file)
    source = Source(file)
    frame = read_frame(source)
    taken = list(inspect.signature(make).parameters.values())[1:]
    accepted = {each.name: each.default for each in taken if each.name not in NO_COLUMNS}
    for name in columns:
        if name not in accepted:
            error = unknown_name("--column", name, accepted)
            if columns[name] in accepted:
                error.add_note(f"the argument comes first: --column {columns[name]}={name}")
            raise error
    named = {name: columns.get(name, name) for name, value in accepted.items() if value == name}
    named |= {name: columns[name] for name in columns if accepted[name] is None}
    pairs = [(name, column) for name, some in named.items() for column in some.split(",")]
    if missing := {name: column for name, column in pairs if column not in frame.columns}:
        what, are = ("columns", "are") if len(missing) > 1 else ("column", "is")
        ways = " ".join(f"--column {name}=COLUMN" for name in missing)
        raise ValueError(
            f"{source} has no {what} {' and '.join(map(repr, missing.values()))}; it has "
            f"{', '.join(map(str, frame.columns))}. Say which {are} meant by {ways}, or what kind "
            "of file it is by --form."
        )
    if items.item_names is None:
        for column in (columns.get(each, each) for each in WHO[form]):
            if len(frame) and not pd.api.types.is_numeric_dtype(frame[column]):
                raise ArgumentError(
                    f"{source} has {frame[column].iloc[0]!r} in the column {column!r}, but the "
                    "items have no names",
                    "row numbers, or --name COLUMN, the column of DATA with the names of items",
                )
    if form == "matches" and "," in columns.get("result", ""):
        columns = columns | dict(result=columns["result"].split(","))
    rows = np.arange(len(items.X)) if items.item_names is None else items.item_names
    if (again := pd.Series(rows).duplicated().to_numpy()).any():
        second, names = int(again.argmax()), rows.tolist()
        raise ArgumentError(
            f"name has {names[second]!r} in the rows {names.index(names[second])} and {second}",
            "distinct names beside --preferences",
            "Where every row that was shown has features of its own, --target CLICKED "
            "--qid SESSION learns from one file.",
        )
    return make(frame, items=rows, **columns, **({} if ties is None else dict(ties=ties)))
