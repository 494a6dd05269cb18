"""Fitting commands on several files."""

import glob
import sys
from contextlib import ExitStack, contextmanager
from logging import ERROR
from pathlib import Path
from typing import Annotated

import typer

from .options import FORMATS, option

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
    except (FileNotFoundError, ValueError) as error:
        raise type(error)(str(error).replace("paths", "DATA", 1)) from error


# what a fit in blocks can be asked for
ACCEPTED = dict(method=("ranksvm",), kernel=("linear", None), penalty=("l2", None))
ACCEPTED |= dict(loss=("hinge", "squared", None), graph=("full", None), solver=("newton", "auto"))


def refuse_in_blocks(**given):
    """A ValueError for an option of ``rankbook fit`` that blocks do not have."""
    for name, value in given.items():
        accepted = ACCEPTED.get(name, (None,))
        if value not in accepted:
            raise ValueError(
                f"{name} is {value!r}, and DATA is several files, which are read in blocks; "
                f"{accepted[0]} is accepted."
            )


Workers = option(int, "Do the work in so many processes of this machine, by Dask; DATA are files.")
Scheduler = option(str, "Address of a Dask cluster that does the work, as tcp://HOST:8786.")


@contextmanager
def sending(workers=None, scheduler=None):
    """What sends blocks to a Dask cluster: a context that gives a function, None without one.

    A cluster of this machine ends with it.
    """
    if workers is None and scheduler is None:
        yield None
        return
    if None not in (workers, scheduler):
        raise ValueError(
            f"--workers is {workers} and --scheduler is {scheduler!r}; one of the two is accepted."
        )
    from rankbook.base.limits import import_extra
    from rankbook.base.validation import as_count
    from rankbook.data.dask_collections import dask_blocks

    asked = "--scheduler" if workers is None else "--workers"
    distributed = import_extra("distributed", "dask", asked)
    with ExitStack() as stack:
        if workers is not None:
            options = dict(
                threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=ERROR
            )
            cluster = distributed.LocalCluster(as_count("--workers", workers), **options)
            scheduler = stack.enter_context(cluster)
        client = stack.enter_context(distributed.Client(scheduler, timeout="10s"))
        yield lambda blocks: dask_blocks(blocks, client=client)


def number_of_queries(block):
    """Queries of a block."""
    import numpy as np

    return 1 if block.qid is None else np.unique(block.qid).size


def fit_files(files, columns, lam, loss, standardize, about, cluster=(None, None)):
    """Fit a linear ranking SVM to files.

    Parameters
    ----------
    files : list of str
    columns : dict
        target, qid and drop, of :func:`rankbook.read_blocks`; name, which must be None.
    lam : callable
        Of a function that counts the queries; see :func:`rankbook.app.cli.fit.known_lam`.
    loss : str, optional
    standardize : bool
    about : dict
        What to keep with the model.
    cluster : (int or None, str or None)
        Workers and scheduler, see :func:`sending`.

    Returns
    -------
    model : ScaledModel
    n_items : int
    preferences : None
        None were given.
    """
    from rankbook.app.block_fitting import fit_blocks
    from rankbook.data.file_blocks import read_blocks

    refuse_in_blocks(name=columns["name"])
    blocks = read_blocks(files, **{key: columns[key] for key in ("target", "qid", "drop")})
    lam = lam(lambda: blocks.reduce(number_of_queries, blocks.items))
    how = dict(loss=loss or "hinge", standardize=standardize, about=about)
    names = blocks.items.values[0].read.columns.features
    with sending(*cluster) as send:
        progress = sys.stderr.isatty()
        model, facts = fit_blocks(
            blocks, names, lam=1.0 if lam is None else lam, **how, progress=progress, send=send
        )
    return model, facts.n_items, None
