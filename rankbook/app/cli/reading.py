"""Reading and validation of command arguments."""

import difflib
import glob
import json
import logging
import os
import re
import shlex
import warnings
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ...base.errors import ArgumentError, Assumption
from .options import ABOUT, FORMATS, file_of, table_file
from .report import at_level, note
from .words import text_in_words

PICTURES = (".pdf", ".png", ".svg")
OF_DATA = ("DATA", "MATCHES", "--preferences", "--validation", "--test")  # may be built in
MOST_RANKS = 10  # ranks that a note shows


def check_picture(file):
    """Refuse a file to which a picture cannot be written.

    Raises
    ------
    ValueError
        For an ending other than .pdf, .png and .svg.
    ImportError
        If matplotlib is not installed.
    OSError
        If the folder does not exist or is not writable.
    """
    if file.suffix.lower() not in PICTURES:
        raise ArgumentError(
            f"--plot is {str(file)!r}, whose ending is not a known picture format",
            f"a file that ends in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}",
        )
    from rankbook.base.limits import import_extra

    import_extra("matplotlib", "plots", "--plot")
    check_place("--plot", file)


def check_place(name, file, *others):
    """Raise an OSError if a file, given by the option `name`, cannot be written.

    Standard output, and a file in `others`, raise a ValueError, so that a model does not overwrite
    its data.
    """
    from rankbook.base.files import is_read_only

    where = f"{name} is {str(file)!r}"
    if str(file) == "-":
        raise ArgumentError(f"{where}, and the output is not text", "a file")
    if file.resolve() in [Path(other).resolve() for other in others if other is not None]:
        raise ArgumentError(
            f"{where}, and another argument names the same file", "a file of its own"
        )
    if not file.parent.is_dir():
        raise FileNotFoundError(f"{where}, but there is no folder {str(file.parent)!r}.")
    if file.is_dir():
        raise IsADirectoryError(f"{where}, a folder. Pass a file.")
    if not os.access(file.parent, os.W_OK):
        raise PermissionError(f"{where}, but the folder {str(file.parent)!r} cannot be written to.")
    if is_read_only(file):
        raise PermissionError(f"{where}, a read-only file. Delete it or make it writable.")


def check_model(name, file, *others):
    """Refuse a file for a model or path as :func:`check_place` does, or because it is another file.

    Only a file of rankbook, or an empty file, is replaced: a model never replaces a table.
    """
    from rankbook.base.files import is_archive

    check_place(name, file, *others)
    if file.is_file() and file.stat().st_size and not is_archive(file):
        raise FileExistsError(
            f"{name} is {str(file)!r}, an existing file that is not a file of rankbook. Pass "
            "another name, or delete the file."
        )


def check_table(name, file, accepted, *others):
    """Refuse a file for a table as :func:`check_place` does, or because of its ending.

    Standard output, "-", is accepted.
    """
    from rankbook.data.writers import ending_of

    if file != "-":
        check_place(name, Path(file), *others)
        ending_of(file, accepted)


def check_file(name, file):
    """Raise an OSError if a file to read, given by the argument `name`, does not exist.

    A file without an ending that has the name of built-in data raises a ValueError.
    """
    if file != "-" and Path(file).is_dir():
        raise IsADirectoryError(f"{name} is {str(file)!r}, a folder. Pass a file.")
    if file != "-" and not Path(file).exists():
        raise FileNotFoundError(f"{name} is {str(file)!r}: there is no such file.")
    if name in OF_DATA and str(file).isidentifier():
        from rankbook.data.datasets import NAMES

        if file in NAMES or table_file(file):
            raise ArgumentError(
                f"{name} is {file!r}, which is both a file in this folder and a built-in data set",
                "a file name with an ending, such as .csv, or run rankbook in another folder to "
                "use the built-in data",
            )


def refuse_two(as_json, output, name="--output"):
    """Refuse --json together with a table on standard output."""
    if as_json and output == "-":
        raise ArgumentError(
            f"{name} is '-' and --json prints to standard output, too", "only one of the two"
        )


def save_picture(figure, file):
    """Write a matplotlib Figure to a file, whole or not at all, in the format of the ending."""
    from rankbook.base.files import write_whole

    write_whole(
        file, lambda handle: figure.savefig(handle, dpi=150, format=file.suffix[1:].lower())
    )


@contextmanager
def advice_on_words(target=None, learns=False, **parts):
    """Name the options that fix an error about words, gaps or the target.

    `parts` are the given options that assign roles to columns; `learns` says whether the command
    has --encode, --impute and --preferences.
    """
    from rankbook.base.validation import first_of
    from rankbook.data.table import Gap, NotNumbers

    guide = "; see the guide 'Use data frames'" * learns
    try:
        yield
    except NotNumbers as error:
        if error.columns:
            both = f", with --impute for gaps in {first_of([*map(repr, error.gaps)])}"
            ways = ["--encode" + both * bool(error.gaps)] * learns
            few = len(error.columns) <= 10
            ways += [f"--drop {','.join(error.columns)}" if few else "--drop COLUMNS"]
            ways += [f"--{part} {error.columns[0]}" for part, given in parts.items() if not given]
            error.add_note(f"on the command line: {', or '.join(ways)}{guide}")
        raise
    except Gap as error:
        if error.column not in (None, target):
            ways = ["--impute"] * learns + [f"--drop {error.column}"]
            error.add_note(f"on the command line: {', or '.join(ways)}{guide}")
        raise
    except ArgumentError as error:
        if learns and (error.argument, error.given) == ("target", "is None"):
            error.add_note("--preferences FILE gives preferences in its place")
        raise


@contextmanager
def advice_on_new_items(model):
    """Name the option to fit the model with, in an error about text or gaps in new items."""
    from rankbook.data.table import Gap, NotNumbers

    try:
        yield
    except (Gap, NotNumbers) as error:
        encoding = getattr(model, "encoding", None)
        if isinstance(error, Gap):
            error.add_note("a model fills gaps if it was fitted with --impute")
        elif encoding is None or not encoding.categories:
            error.add_note("a model reads text if it was fitted with --encode")
        raise


def read_data(  # noqa: PLR0913 -- an option each
    source,
    target=None,
    qid=None,
    drop=(),
    group_split=None,
    name=None,
    *,
    learnt=None,
    seed=0,
):
    """Read items to rank: a built-in data set by name, or a table from a file.

    Parameters
    ----------
    source : str or path
        One of :func:`rankbook.data.datasets.list_datasets`, else a file or "-" for
        :func:`rankbook.data.table.read_table`.
    target, qid, group_split, name : str, optional
        Columns of a file, as in that function.
    drop : sequence of str, optional
        Columns to leave out.
    learnt : sequence of str, optional
        "encode" and "impute": codes and fill values learnt from the training rows of the split with
        `seed`; see :func:`rankbook.data.encoding.learn_encoding`. None if the command has no such
        options.
    seed : int, default 0

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If there is neither; the error suggests the nearest built-in name.
    ValueError
        If a column is named for built-in data, or the file cannot be read.
    """
    from rankbook.data.datasets import NAMES, load
    from rankbook.data.encoding import learn_encoding, read_to_learn
    from rankbook.data.split import split
    from rankbook.data.table import (
        FrameReader,
        Source,
        as_dataset,
        find_dataset_roles,
        read_table,
    )

    if source not in NAMES or Path(source).is_file():
        if source != "-" and not Path(source).exists():
            near = difflib.get_close_matches(str(source), NAMES, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise FileNotFoundError(
                f"DATA is {str(source)!r}: there is no such file. A pattern is accepted by "
                "rankbook fit, predict and evaluate, which read several files; here one file, or "
                "built-in data."
                if glob.has_magic(str(source))
                else f"DATA is {str(source)!r}: there is no such file, and no built-in data set "
                f"of this name{hint} Built in: {', '.join(NAMES)}."
            )
        check_file("DATA", source)
        more = dict(name=name, drop=drop, group_split=group_split)
        learns = learnt is not None
        parts = dict(name=name, qid=qid) if learns else dict(qid=qid)
        with advice_on_words(target, learns, **parts):
            if not learnt:
                return read_table(Source(source), target, qid, **more)
            table = Source(source)
            reader = FrameReader(table)
            roles = find_dataset_roles(table, reader.columns, target, qid, **more)
            frame, rows = read_to_learn(reader, roles, learnt), slice(None)
            for _ in range(2):  # the split needs a data set, and the data set needs the encoding
                found = learn_encoding(table, roles.items(frame)[rows], learnt)
                data = as_dataset(table, frame, replace(roles, encoding=found))
                rows = split(data, seed)[0] == "train"
            return data
    for argument in learnt or ():
        accepted = f"Omit {argument} for the built-in data {source!r}, which have no text or gaps."
        raise ArgumentError(f"{argument} is True", accepted)
    given = dict(target=target, qid=qid, name=name, drop=drop or None, group_split=group_split)
    for argument, value in given.items():
        if value is not None:
            raise ArgumentError(
                f"{argument} is {value!r}",
                f"Omit {argument}, because the built-in data {source!r} have their parts already.",
            )
    return load(source)


def pair_of(name, columns):
    """Return the two columns of ``--name QUERY,ITEM`` that are among `columns`; else None."""
    both = name.split(",")
    return both if len(both) == 2 and set(both) <= set(columns) else None


def with_pair_names(reader, name):
    """Add a column `name`, such as "query,item", that joins the texts of its two columns."""
    both = None if name is None or name in reader.columns else pair_of(name, reader.columns)
    if both is None:
        return reader

    class PairReader:
        columns, text = [*reader.columns, name], reader.text

        def read(self, names=(), columns=None, **more):
            from rankbook.data.table import require_ids, row_names

            split = lambda given: list(
                dict.fromkeys(c for each in given for c in (both if each == name else [each]))
            )
            columns = None if columns is None else split(columns)
            frame = reader.read(split(names), columns, **more)
            for column in both:
                require_ids(reader.source, frame[column], what="name")
            query, item = (row_names(reader.source, frame[c]).astype(str) for c in both)
            if found := [each for each in query if "," in each]:
                raise ArgumentError(
                    f"{reader.source} has the query {str(found[0])!r} in column {both[0]!r}",
                    "queries without a comma, which --name QUERY,ITEM puts between the two names",
                )
            return frame.assign(**{name: [f"{q},{i}" for q, i in zip(query, item)]})

    return PairReader()


def open_file_blocks(
    data,
    files=None,
    model=None,
    *,
    needs_target=True,
    scored=True,
    ranks=False,
    drop=(),
    learnt=(),
    **columns,
):
    """Return the items of DATA as blocks, and the roles of their columns.

    Parameters
    ----------
    data, files : list of str
        DATA as given, and the files if there are several; see :func:`several_files`. Several files
        are read when they are needed; other data are one block.
    model : estimator or ScaledModel, optional
        Only the columns that it reads are features. Its columns of target, query ids and names are
        also used for these data, if they exist.
    needs_target : bool, default True
    scored : bool, default True
        Whether scores y are read.
    ranks : bool, default False
        Whether items are ordered within queries. The queries of items named QUERY,ITEM are then in
        the first of these columns, with a note.
    drop : list of str
    learnt : sequence of str
        "encode" and "impute": codes and fill values learnt from a file; see
        :func:`rankbook.data.encoding.learn_encoding`. A model has its own encoding.
    **columns
        The options target, qid, name, time, event, entry and cluster.

    Returns
    -------
    blocks : Blocks
    roles : Roles
        For built-in data only the features.

    Raises
    ------
    OSError, ValueError
        As :func:`read_data`.
    """
    from rankbook.base.limits import warn
    from rankbook.data.blocks import Blocks, CheckedBlock
    from rankbook.data.datasets import NAMES
    from rankbook.data.encoding import learn_encoding, read_to_learn
    from rankbook.data.table import (
        SURVIVAL,
        FrameReader,
        Roles,
        Source,
        find_roles,
        note_id_columns,
    )

    source, about = data[0], getattr(model, "about", {})
    features = getattr(model, "columns", None)
    features = getattr(model, "feature_names_in_", None) if features is None else features
    features = None if features is None else list(features)

    def roles_of(table, names):
        known = {key: about.get(key) for key in ABOUT}
        known = {k: v for k, v in known.items() if v in names or v == "none"}
        given, both = {k: v for k, v in columns.items() if v is not None}, {"time", "event"}
        if "target" in given or not both <= known.keys():  # a table may have only one of the two
            known = {k: v for k, v in known.items() if k not in SURVIVAL}
        if both & given.keys():
            known.pop("target", None)
        known |= given
        late = about.get("entry")
        if scored and late not in (None, "none") and both <= known.keys() and "entry" not in known:
            warn(
                Assumption(
                    f"entry: {table} has no column {late!r}, which the model was fitted with. All "
                    "patients count as observed from the start. If not, pass --entry COLUMN."
                )
            )
        more = dict(features=features, drop=drop, of_model=features is not None)
        named = columns.get("name") or about.get("name")
        if named not in (None, "none") and (both := pair_of(named, names)):
            compared = scored and known.get("target") not in (None, "none")
            if (compared or ranks) and "qid" not in known:
                known["qid"] = both[0]
                said = f"qid: the queries of {table} are in the first column of --name, {both[0]!r}"
                warn(Assumption(f"{said}. For one query of all rows pass --qid none."))
            groups = {known.get(role) for role in ("qid", "group_split", "cluster")}
            more["drop"] = [*drop, *(column for column in both if column not in groups)]
        roles = find_roles(table, names, **known, **more, needs_target=needs_target)
        roles = replace(roles, encoding=getattr(model, "encoding", None))
        return roles if scored else replace(roles, target=None, **dict.fromkeys(SURVIVAL))

    if files is not None:
        from rankbook.data.file_blocks import blocks_of_tables, open_tables

        return blocks_of_tables(
            open_tables(files), roles_of, exactly=features is None, whole=scored
        )
    if source == "-" or Path(source).is_file() or (source not in NAMES and Path(source).exists()):
        check_file("DATA", source)
        table = Source(source)
        reader = with_pair_names(FrameReader(table), columns.get("name") or about.get("name"))
        roles = roles_of(table, reader.columns)
        if not learnt:
            frame = reader.read(roles.names, texts=roles.texts)
        else:
            frame = read_to_learn(reader, roles, learnt)
            roles = replace(roles, encoding=learn_encoding(table, roles.items(frame), learnt))
        if features is None:
            note_id_columns(table, frame, roles)
        return Blocks([roles.read(table, frame, name=str(table))]), roles
    columns.pop("name", None)
    for argument in (*SURVIVAL, "cluster"):
        if (value := columns.pop(argument, None)) is not None:
            raise ArgumentError(
                f"{argument} is {value!r}", f"Omit {argument} for the built-in data {source!r}."
            )
    found = read_data(source, **columns, drop=drop, learnt=learnt)
    block = CheckedBlock(found.X, found.y, found.qid, item_names=found.item_names)
    return Blocks([block]), Roles(tuple(found.feature_names))


@contextmanager
def spoken_warnings(queries=True):
    """Print assumptions and warnings of readers as notes on stderr, and yield a list of them.

    The notes use the words of the command line. Notes on query ids are omitted if `queries` is
    False, because the result does not depend on them.
    """
    said = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)  # an Assumption is one, too
        if not queries:
            warnings.filterwarnings("ignore", "query ids", Assumption)

        def show(message, category, *where, **more):
            text = text_in_words(str(message))
            if text not in said:  # one note for a file that is read twice
                note(text, "note" if issubclass(category, Assumption) else "warning")
                said.append(text)

        warnings.showwarning = show
        yield said


def spoken_roles():
    """Print what each column of a table is used as, and why, to stderr, in a context."""
    return at_level(logging.getLogger("rankbook.tables"), logging.INFO)


def parse_gammas(text, one=False):
    """Read the numbers of a comma-separated list, a single number, or None."""
    if text is None:
        return None
    many = "one number > 0" if one else "a number > 0, or several separated by commas"
    try:
        found = [float(word) for word in text.split(",", 0 if one else -1)]
    except ValueError:
        raise ArgumentError(f"--gamma is {text!r}", many) from None
    return found[0] if one else found


def parse_signs(texts):
    """Read signs of features from texts NAME=+1 or NAME=-1 as a dict; None without texts."""
    signs = {}
    for text in texts or ():
        name, _, sign = text.rpartition("=")
        if not name or sign not in ("+1", "1", "-1"):
            raise ArgumentError(f"--sign is {text!r}", "NAME=+1 or NAME=-1")
        if name in signs:
            raise ArgumentError(f"--sign names {name!r} twice", "one sign for each feature")
        signs[name] = int(sign)
    return signs or None


def parse_factors(texts):
    """Read factors of features from texts NAME=FACTOR as a dict; None without texts."""
    factors = {}
    for text in texts or ():
        name, _, factor = text.rpartition("=")
        try:
            number = float(factor)
        except ValueError:
            number = -1.0
        if not name or name in factors or not 0 <= number < float("inf"):
            raise ArgumentError(
                f"--penalty-factor is {text!r}",
                "NAME=FACTOR with a number >= 0, each NAME once",
            )
        factors[name] = number
    return factors or None


def penalty_options(sparse):
    """Read the :class:`rankbook.app.cli.options.SparseOptions` as options of an estimator."""
    if sparse.l1_ratio is not None and sparse.penalty != "elastic-net":
        raise ArgumentError(
            f"l1_ratio is {sparse.l1_ratio!r} and --penalty is not elastic-net",
            "--penalty elastic-net, or omit --l1-ratio",
        )
    return vars(sparse) | dict(penalty_factor=parse_factors(sparse.penalty_factor))


def parse_options(texts, name):
    """Read options of a solver from texts key=value; values are JSON or plain text.

    `name` is the name of the command-line option.
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


def parse_columns(texts):
    """Read a dict from ARGUMENT=COLUMN texts."""
    columns = {}
    for text in texts or ():
        argument, _, column = text.partition("=")
        if not (argument and column):
            raise ArgumentError(f"--column is {text!r}", "ARGUMENT=COLUMN, such as rank=position")
        if re.search(r",\s*\w+=", column):
            accepted = "one ARGUMENT=COLUMN, and --column several times"
            raise ArgumentError(f"--column is {text!r}", accepted)
        if columns.setdefault(argument, column) != column:
            raise ArgumentError(
                f"--column is {argument}={columns[argument]} and {text}",
                "one column for each argument",
            )
    return columns


class Propensities:
    """Propensities of ranks, estimated from the first log of clicks and used for later ones."""

    by_rank = None

    def of(self, records):
        """Return the propensity (n,) of each row of a log, a Records."""
        from rankbook.base.limits import warn
        from rankbook.base.validation import as_vector

        if records.form != "clicks":
            raise ArgumentError(
                f"estimate_propensities is True and {records.source} has the form {records.form!r}",
                "a log of clicks",
            )
        ranks = as_vector("rank", records.frame[records.roles["rank"]].to_numpy())
        if self.by_rank is None:
            found = records.propensities()
            self.by_rank = found["probability"] / found["probability"].max()
            errors = found["standard_error"] / found["probability"].max()
            rows = [
                f"{rank:g}: {p:.3g}" + f" ± {error:.1g}" * (error != 0)
                for rank, p, error in zip(found.index, self.by_rank, errors)
            ]
            rows = rows if len(rows) <= MOST_RANKS else [*rows[: MOST_RANKS - 1], "...", rows[-1]]
            warn(
                Assumption(
                    f"propensities of the ranks in {records.source}, with standard errors: "
                    f"{', '.join(rows)}"
                )
            )
        found = self.by_rank.reindex(ranks).to_numpy()
        if (new := found != found).any():
            raise ArgumentError(
                f"{records.source} has the rank {ranks[new][0]:g}, which the log of --preferences "
                "does not have",
                "logs with the same ranks",
            )
        return found


def asked_preferences(
    data, file, *, form, column, ties, loss=None, name=None, estimate_propensities=False, **named
):
    """Return arguments of :func:`rankbook.read_preferences`, or None without --preferences.

    With the loss "plackett-luce" they are arguments of :func:`rankbook.read_orders`, and the loss.

    Parameters
    ----------
    data : list of str
        DATA as given.
    file : str or None
        Value of --preferences.
    loss : str, optional
        "plackett-luce" reads orders.
    name : str, optional
        Value of --name. Two columns with a comma between are the query and the item of clicks.
    estimate_propensities : bool, default False
    form, column, ties, **named
        Values of related options; `named` contains winner, loser and weight.

    Returns
    -------
    dict or None

    Raises
    ------
    ValueError
        If an option is given without its file, or two options contradict each other.
    """
    named = {name: value for name, value in named.items() if value is not None}
    if file is None:
        named |= dict(estimate_propensities=estimate_propensities)
        for name, value in (dict(form=form, column=column, ties=ties) | named).items():
            if value:
                raise ArgumentError(f"{name} is {value!r} and --preferences is missing", "both")
        return None
    if file == "-" and "-" in data:
        raise ArgumentError(
            "DATA and --preferences are both '-' (standard input)", "a file for one of them"
        )
    columns = parse_columns(column)
    columns = with_query(columns, form, name)
    for name, value in named.items():
        if columns.setdefault(name, value) != value:
            raise ArgumentError(
                f"{name} is {value!r} and --column is {name}={columns[name]}", "only one of the two"
            )
    if loss == "plackett-luce" and form not in (None, *(of_orders := ("rankings", "orders"))):
        raise ArgumentError(
            f"loss is {loss!r} and --form is {form!r}",
            "--form " + " or ".join(of_orders),
            "To learn from pairs, use --loss logistic.",
        )
    if ties is not None and form in ("clicks", "rankings", "orders"):
        advice = (
            "--column ties=efron or breslow counts equal ranks." if loss == "plackett-luce" else ""
        )
        raise ArgumentError(f"ties is {ties!r}", f"Omit ties for {form}.", advice)
    if "=" in (said := columns.get("results", "")):
        pairs = [pair.rpartition("=")[::2] for pair in said.split(",")]
        columns["results"] = dict(pairs)
        if len(columns["results"]) < len(pairs):
            raise ArgumentError(
                f"--results is {said!r}, which lists a cell twice", "one meaning for each cell"
            )
    for name in ("result", "pair_features"):
        if "," in columns.get(name, ""):
            columns[name] = columns[name].split(",")
    if "," in columns.get("item", ""):
        columns["item"] = columns["item"].split(",")
    if form == "clicks" and "rule" in columns:
        from rankbook.base.validation import as_choice
        from rankbook.preferences.events import RULES

        as_choice("--column rule", columns["rule"], RULES)
    if "clip" in columns:
        try:
            columns["clip"] = float(columns["clip"])
        except ValueError:
            raise ArgumentError(f"--column is clip={columns['clip']}", "clip=NUMBER") from None
    if (given := columns.get("home_advantage", "no")) not in ("yes", "no"):
        raise ArgumentError(
            f"--column is home_advantage={given}", "home_advantage=yes or home_advantage=no"
        )
    if "home_advantage" in columns:
        columns["home_advantage"] = given == "yes"
    if estimate_propensities:
        for name in {"propensity", "rule"} & columns.keys():
            raise ArgumentError(
                f"estimate_propensities is True and --column is {name}={columns[name]}",
                "only one of the two",
            )
        columns["propensity"] = Propensities()
    asked = dict(path=file, form=form, **columns) | ({} if ties is None else dict(ties=ties))
    return asked | (dict(loss=loss) if loss == "plackett-luce" else {})


def with_query(columns, form, name):
    """Return arguments of a reader, with the query of clicks if `name` is QUERY,ITEM."""
    is_pair = name is not None and "," in name and form in (None, "clicks")
    if is_pair and name.split(",")[0] == columns.get("item", "item"):
        raise ArgumentError(
            f"name is {name!r}, and its first column contains the items of clicks",
            "the column of queries first, as in --name QUERY,ITEM",
        )
    return (dict(query=name.split(",")[0]) if is_pair else {}) | columns


def refuse_beside(**given):
    """Refuse options that cannot be combined with --preferences; None means not given."""
    for name, value in given.items():
        if value is not None:
            raise ArgumentError(f"{name} is {value!r}", f"Omit {name} if --preferences is given.")


@contextmanager
def advice_on_form():
    """Name the options that may read a table, in an error about its form."""
    from rankbook.data.records import UnknownForm

    try:
        yield
    except UnknownForm as error:
        if error.suggested:
            form, *columns = error.suggested.items()
            pairs = [f"{name}={value}" for name, value in columns if name != value]
            words = [f"--form {form[1]}", *(f"--column {shlex.quote(pair)}" for pair in pairs)]
            error.args = (f"{error.plain} Try {' '.join(words)}.",)
        raise


def group_beside_orders(group, argument="group"):
    """Return the error for a column of groups, named by an argument, if a table has orders."""
    return ArgumentError(
        f"{argument} is {group!r}, and the table contains orders",
        f"Omit {argument} for orders, each of which is kept whole.",
        "If one judge gave several orders, write them as pairs and pass --form pairs.",
    )


def require_cox(argument, value, time, loss):
    """Refuse a rule for ties, named by its argument, that is unknown or lacks Cox's model."""
    from rankbook.base.validation import as_choice
    from rankbook.preferences.orders import TIED

    as_choice(argument, value, TIED)
    if time is None or loss != "plackett-luce":
        raise ArgumentError(
            f"{argument} is {value!r}, and the model is not Cox's model",
            "--time, --event and --loss plackett-luce",
        )


def has_pair_names(asked):
    """Return whether the names of items are pairs of a query and an item of clicks."""
    return asked.get("form") in (None, "clicks") and "query" in asked


def preferences_between(asked, n, names=None, group=None, argument="group"):
    """Read preferences between items from a file.

    Parameters
    ----------
    asked : dict
        From :func:`asked_preferences`.
    n : int
        The number of items.
    names : sequence of n str, optional
        Names of the items in the file; row numbers if they have no names.
    group : str, optional
        Column of the file of preferences.
    argument : str, default "group"
        The option that names this column.

    Returns
    -------
    Preferences or Orders, and with `group` the number (m,) of the group of each preference.
    """
    import numpy as np
    import pandas as pd

    from rankbook.data.records import OF_ORDERS, read_records
    from rankbook.data.table import Source, row_names
    from rankbook.preferences.graph import Preferences
    from rankbook.preferences.orders import Orders

    check_file("--preferences", asked["path"])
    if group is not None and ("loss" in asked or asked["form"] == "orders"):
        raise group_beside_orders(group, argument)
    rows = np.arange(n) if names is None else np.asarray(names)
    if pairs := has_pair_names(asked):
        rows = pd.Series([tuple(str(each).split(",", 1)) for each in rows], dtype=object)
        if any(len(each) == 1 for each in rows):
            raise ArgumentError(
                f"--column is query={asked['query']}, but the items have no query names",
                "--name QUERY,ITEM with the two columns of DATA",
            )
        rows = rows.to_numpy()
    if (again := pd.Series(rows).duplicated().to_numpy()).any():
        second, names = int(again.argmax()), rows.tolist()
        click, session, rank = (asked.get(role, role) for role in ("click", "session", "rank"))
        advice = (
            "If each result that was shown has features of its own, add them to the log of clicks "
            f"and pass it as DATA with --target {click} --qid {session} --drop {rank} in place of "
            f"--preferences. With {rank} as a feature the model would learn the order shown."
        )
        raise ArgumentError(
            f"name has {names[second]!r} in rows {names.index(names[second])} and {second}",
            "distinct names with --preferences, one row for each item",
            advice if asked["form"] in (None, "clicks") else "",
        )
    columns = {name: value for name, value in asked.items() if name not in ("path", "form", "loss")}
    estimated = columns.get("propensity")
    estimated = columns.pop("propensity") if isinstance(estimated, Propensities) else None
    kind = Preferences if asked.get("loss") is None else Orders
    try:
        with advice_on_form():
            more = [] if group is None else [group]
            records = read_records(kind, Source(asked["path"]), asked["form"], columns, more)
            if pairs:  # numbers of Parquet are text in the names of DATA
                both = [records.roles[role] for role in ("query", "item")]
                text = {c: row_names(records.source, records.frame[c]).astype(str) for c in both}
                records.frame = records.frame.assign(**text)
            if estimated is not None:
                records.columns["propensity"] = estimated.of(records)
        return records.make(rows) if group is None else records.make_grouped(group, rows)
    except ArgumentError as error:
        error = error.renamed(argument) if error.argument == "group" else error
        if pairs and error.argument == "query":
            error.add_note("--name QUERY,ITEM reads clicks, unless --form names another form")
        elif error.argument == "columns":
            error.add_note("--column takes ARGUMENT=COLUMN, the argument first")
        elif names is None and "is not among" in error.given:
            error.add_note("the items have no names; --name COLUMN names the column that has them")
        elif asked["form"] in OF_ORDERS and "is not among" in error.given:
            error.add_note(
                "--column item=FIRST,SECOND,... names the columns of the items, best first, if "
                "there are others"
            )
        raise error


def parse_names(texts):
    """Split comma-separated lists into a list of names."""
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]


DataFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help=f"{FORMATS}; several files, or a pattern in quotation marks, are read in blocks.",
        show_default=False,
        callback=file_of,
    ),
]


def several_files(data, always=False):
    """Return the files (a list) of some arguments, or None for a single source.

    For a cluster, the sources are always files.

    Raises
    ------
    FileNotFoundError, ValueError
        If no file matches a pattern, or a file occurs twice.
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
