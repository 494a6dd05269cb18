"""The folder of compiled code."""

import hashlib
import os
import shutil
import stat
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path
from time import time

import platformdirs

DAYS_KEPT, FOLDERS_KEPT = 30, 5


def source_files(folder):
    """The Python files below a folder, in the order of their names."""
    return sorted(folder.rglob("*.py"), key=lambda path: path.relative_to(folder).as_posix())


def source_stamp(files):
    """Size and time of change of each file, as a list; None in place of a file that is gone."""
    facts = [path.stat() if path.exists() else None for path in files]
    return [fact and (fact.st_size, fact.st_mtime_ns) for fact in facts]


def source_hash(folder):
    """Sixteen hexadecimal digits for the Python files below a folder.

    They change with name or content of any of these files.
    """
    digest = hashlib.sha256()
    for path in source_files(folder):
        name, content = path.relative_to(folder).as_posix(), path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def cache_root():
    """The folder that holds a folder of compiled code for each state of the sources."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(chosen) / "rankbook" if chosen else Path(platformdirs.user_cache_dir("rankbook"))
    return folder / "compiled"


def folder_name(sources):
    """The name of the folder for these sources, this Python and this numba."""
    python = f"{sys.implementation.name}{sys.version_info.major}.{sys.version_info.minor}"
    return f"{version('rankbook')}-{python}-numba{version('numba')}-{source_hash(sources)}"


def weakness(folder):
    """The reason why another user could put code into a folder, as a text, or None.

    The folder and those above it must belong to this user or to root, and no other user may write
    to them. A folder above it may be open if it has the sticky bit, like ``/tmp``: other users
    cannot replace a folder in it that is not theirs.
    """
    if os.name != "posix":
        return None
    for place in (folder, *folder.parents):
        facts = place.stat()
        if facts.st_uid not in (os.geteuid(), 0):
            return f"{place} belongs to another user"
        is_safe = place != folder and facts.st_mode & stat.S_ISVTX
        if facts.st_mode & 0o022 and not is_safe:
            return f"other users may write to {place}"
    return None


def open_folder(root, name):
    """Make a folder for compiled code ready; only this user may enter a new one.

    Parameters
    ----------
    root : Path
        Its parent, from :func:`cache_root`; made if missing.
    name : str
        From :func:`folder_name`. If it is new, old folders beside it are removed.

    Returns
    -------
    Path or None
        The folder, its links resolved. None if it cannot be written, or, with a warning, if another
        user could write to it; see :func:`weakness`.
    """
    folder = Path(os.path.realpath(root / name))
    try:
        known = folder.is_dir()
        for place in reversed([folder, *folder.parents]):
            if not place.is_dir():
                place.mkdir(0o700, exist_ok=True)
        if reason := weakness(folder):
            warnings.warn(
                f"compiled code is not kept, because {reason}; remove that permission, or set "
                "NUMBA_CACHE_DIR to a folder of your own.",
                RuntimeWarning,
                stacklevel=2,
            )
            return None
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except OSError:
        return None
    if not known:
        prune(folder.parent, keep=folder)
    return folder


def prune(root, keep):
    """Remove folders that are old or too many; returns those removed, most recently used first."""
    ages = []
    for folder in root.iterdir():
        try:
            ages.append((time() - folder.stat().st_mtime, folder))
        except OSError:  # another process just removed it
            continue
    others = sorted(pair for pair in ages if pair[1] != keep)
    removed = [
        folder
        for place, (age, folder) in enumerate(others)
        if place >= FOLDERS_KEPT or age > DAYS_KEPT * 86400
    ]
    for folder in removed:
        shutil.rmtree(folder, ignore_errors=True)
    return removed


def keep_source(file, copy):
    """Copy a source file to where functions that are kept say they come from, unless it is there.

    Parameters
    ----------
    file, copy : Path
        From where, to where. The copy appears whole, and its time of change is always 0.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    if not copy.exists():
        copy.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=copy.parent, delete=False) as part:
            part.write(file.read_bytes())
        os.utime(part.name, (0, 0))
        os.replace(part.name, copy)


def cache_facts(root):
    """What a cache holds.

    Returns
    -------
    dict
        "folder" (str); "states", for how many versions of the source code;
        "entries", compiled functions; "bytes". All 0 if there is no such folder.
    """
    files = [path for path in root.rglob("*") if path.is_file()] if root.is_dir() else []
    return dict(
        folder=str(root),
        states=sum(path.is_dir() for path in root.iterdir()) if root.is_dir() else 0,
        entries=sum(path.suffix == ".nbc" for path in files),
        bytes=sum(path.stat().st_size for path in files),
    )


def clear_cache(root):
    """Remove everything from a cache; returns what it held, see :func:`cache_facts`.

    Raises
    ------
    OSError
        If something cannot be removed.
    """
    facts = cache_facts(root)
    if root.is_dir():
        shutil.rmtree(root)
    return facts
