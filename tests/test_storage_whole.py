"""Files from many threads at once, and files that claim what they do not hold."""

import errno
import io
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import rankbook as rb
from rankbook.base import files
from rankbook.base.errors import ArgumentError
from rankbook.base.files import read_archive, write_archive, write_whole
from rankbook.data.writers import write_frame
from rankbook.paths.files import KIND


@pytest.fixture(scope="module")
def part():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (20, 2)).astype(float)
    return rb.solve_path(
        rb.RankSVMProblem(X, rb.Preferences.from_scores(X.sum(axis=1) // 3), "rbf"),
        max_events=30,
        chunk=10,
    )


@pytest.fixture(scope="module")
def content(part, tmp_path_factory):
    file = tmp_path_factory.mktemp("good") / "good.npz"
    part.save(file)
    return file.read_bytes(), read_archive(file, [KIND])[1:]


def same(a, b):
    assert (
        np.array_equal(a.events, b.events)
        and a.domain == b.domain
        and a.status == b.status
        and np.array_equal(a.problem.X, b.problem.X)
    )


# Threads


def test_eight_threads_save_to_one_name_while_others_read(tmp_path, part):
    file = tmp_path / "one.npz"
    others = [
        rb.solve_path(part.problem, max_events=events, chunk=10) for events in range(10, 90, 10)
    ]
    lengths = {len(path.events) for path in others}
    others[0].save(file)
    enough = threading.Event()

    def save_on(path):
        path.save(file)
        while not enough.is_set():
            path.save(file)

    with ThreadPoolExecutor(10) as pool:
        saving = [pool.submit(save_on, path) for path in others]
        try:
            for _ in range(20):
                assert len(rb.load(file).events) in lengths
        finally:
            enough.set()
        assert all(task.exception() is None for task in saving)
    assert [f.name for f in tmp_path.iterdir()] == ["one.npz"]


def test_one_that_fails_harms_nobody_else(tmp_path):
    file = tmp_path / "one"

    def write(fails):
        def fill(handle):
            handle.write(b"half")
            if fails:
                raise KeyError("stop")
            handle.write(b" whole")

        try:
            write_whole(file, fill)
        except KeyError:
            return "failed"

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(write, [i % 3 == 0 for i in range(300)]))
    assert (
        said.count("failed") == 100
        and file.read_bytes() == b"half whole"
        and len(list(tmp_path.iterdir())) == 1
    )


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_permissions_are_those_of_any_new_file(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_whole(tmp_path / "a", lambda handle: handle.write(b"x"))
        (tmp_path / "b").write_bytes(b"x")
    finally:
        os.umask(before)
    assert (
        stat.S_IMODE((tmp_path / "a").stat().st_mode)
        == stat.S_IMODE((tmp_path / "b").stat().st_mode)
        == 0o666 & ~mask
    )


def test_a_name_as_long_as_the_system_allows(tmp_path):
    write_whole(tmp_path / ("a" * 250 + ".npz"), lambda handle: handle.write(b"x"))


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
def test_a_link_stays_and_leads_where_it_led(tmp_path):
    for there in (True, False):
        target, link = tmp_path / f"target {there}", tmp_path / f"link {there}"
        if there:
            target.write_bytes(b"before")
        link.symlink_to(target)
        write_whole(link, lambda handle: handle.write(b"x"))
        assert link.is_symlink() and target.read_bytes() == b"x" and not target.is_symlink()
    with pytest.raises(FileNotFoundError, match="link none"):
        (tmp_path / "link none").symlink_to(tmp_path / "none" / "file")
        write_whole(tmp_path / "link none", lambda handle: handle.write(b"x"))
    assert (tmp_path / "link none").is_symlink() and len(list(tmp_path.iterdir())) == 5


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
def test_a_pipe_is_written_into_and_stays(tmp_path, part):
    pipe, link, copy = tmp_path / "pipe", tmp_path / "link", tmp_path / "copy"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for file in (pipe, link):
        with ThreadPoolExecutor(1) as pool:
            read = pool.submit(pipe.read_bytes)
            part.save(file)
            copy.write_bytes(read.result())
        assert stat.S_ISFIFO(pipe.stat().st_mode) and link.is_symlink()
        same(rb.load(copy), part)


def test_a_folder_in_the_place_of_the_file(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError):
        write_whole(tmp_path / "a", lambda handle: handle.write(b"x"))
    assert [f.name for f in tmp_path.iterdir()] == ["a"]
    with pytest.raises(IsADirectoryError if os.name == "posix" else PermissionError):
        rb.load(tmp_path / "a")


# Disks that fail, and processes that are killed


class Disk:
    """Counts what is asked of a disk, in what is written to one folder; call `fails` fails."""

    def __init__(self, monkeypatch, folder, fails, error):
        self.folder, self.fails, self.error, self.asked = str(folder), fails, error, 0
        disk, replace, fsync = self, os.replace, os.fsync

        class Raw(io.FileIO):
            def write(self, content):
                disk.ask()
                return super().write(content)

        def opened(file, mode="r", **more):
            if "x" in mode and str(file).startswith(disk.folder):
                return io.BufferedWriter(Raw(file, "x", **more), 512)
            return open(file, mode, **more)

        monkeypatch.setattr(files, "open", opened, raising=False)
        monkeypatch.setattr(os, "fsync", lambda handle: [disk.ask(), fsync(handle)])
        monkeypatch.setattr(os, "replace", lambda *names: [disk.ask(), replace(*names)])

    def ask(self):
        self.asked += 1
        if self.asked == self.fails:
            raise self.error


def fill(handle):
    for _ in range(20):
        handle.write(bytes(300))


def saves(part):
    """Everything that writes a file, by name."""
    model = rb.RankSVM(kernel="linear").fit(np.eye(3), [0, 1, 2])
    frame = pd.DataFrame(dict(score=np.arange(500.0)))
    return {
        "bytes": lambda file: write_whole(file, fill),
        "path": part.save,
        "model": model.save,
        "a.csv": lambda file: write_frame(frame, file),
        "a.csv.gz": lambda file: write_frame(frame, file),
        "a.parquet": lambda file: write_frame(frame, file),
    }


ERRORS = {
    "full": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "broken": OSError(errno.EIO, os.strerror(errno.EIO)),
    "interrupted": KeyboardInterrupt(),
}


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("what", ["bytes", "path", "model", "a.csv", "a.csv.gz", "a.parquet"])
def test_the_kth_write_fsync_or_rename_fails_for_every_k(tmp_path, part, what, error):
    """The file that was there stays as it was, nothing else is left, and the error names it."""
    file, save, k = tmp_path / what, saves(part)[what], 0
    while True:
        k += 1
        file.write_bytes(b"before")
        with pytest.MonkeyPatch.context() as patch:
            disk = Disk(patch, tmp_path, k, ERRORS[error])
            try:
                save(file)
            except (OSError, KeyboardInterrupt) as raised:
                assert type(raised) is type(ERRORS[error])
                assert not isinstance(raised, OSError) or (
                    raised.filename == str(file) and raised.errno == ERRORS[error].errno
                )
                assert file.read_bytes() == b"before"
            else:
                assert disk.asked == k - 1
                break
        assert [name.name for name in tmp_path.iterdir()] == [what]
    assert k > 2 and file.read_bytes() != b"before"
    assert [name.name for name in tmp_path.iterdir()] == [what]


KILLED = """
import sys, time
from rankbook.base.files import write_whole

def fill(handle):
    handle.write(bytes(10**6))
    handle.flush()
    print("half", flush=True)
    sys.stdin.readline()
    handle.write(b"end")

write_whole(sys.argv[1], fill)
"""


def half_saved(file):
    """A process that has written a part of a file and waits."""
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process = subprocess.Popen([sys.executable, "-c", KILLED, file], **pipes)
    assert process.stdout.readline() == "half\n"
    return process


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_the_next_save_removes_what_killed_ones_left(tmp_path):
    file = tmp_path / "one"
    killed = [half_saved(file) for _ in range(2)]
    other = half_saved(tmp_path / "other")
    alive = half_saved(file)
    for process, end in zip([*killed, other], (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL)):
        process.send_signal(end)
        process.wait()
    assert len(list(tmp_path.glob(".*.part"))) == 4
    write_whole(file, lambda handle: handle.write(b"new"))
    left = [name for name in tmp_path.iterdir() if name.name.endswith(".part")]
    assert (
        len(left) == 2 and file.read_bytes() == b"new"
    )  # of the other file, of the living process
    alive.communicate("go on\n")
    assert alive.returncode == 0 and file.stat().st_size == 10**6 + 3
    write_whole(tmp_path / "other", lambda handle: handle.write(b"new"))
    assert sorted(name.name for name in tmp_path.iterdir()) == ["one", "other"]


def test_a_file_that_cannot_be_locked_is_left_alone(tmp_path, monkeypatch):
    """As on a file system without locks: saving works, and no file is taken for dead."""

    def refuse(*_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(files.fcntl, "flock", refuse)
    write_whole(tmp_path / "one", lambda _: write_whole(tmp_path / "one", fill))
    assert [name.name for name in tmp_path.iterdir()] == ["one"]


def test_a_read_only_file_is_not_replaced(tmp_path):
    file = tmp_path / "one"
    file.write_bytes(b"old")
    file.chmod(0o444)
    (tmp_path / "link").symlink_to(file)
    for name in (file, tmp_path / "link"):
        with pytest.raises(
            PermissionError, match="read-only; delete it .*writable: .*" + name.name
        ):
            write_whole(name, lambda handle: handle.write(b"new"))
    assert file.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 2
    file.chmod(0o644)
    write_whole(file, lambda handle: handle.write(b"new"))
    assert file.read_bytes() == b"new"


# What is no path at all


def npy(shape, descr="<f8", data=b"", order="False"):
    """A file in NumPy's format with whatever header."""
    header = f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def zipped(members, compression=zipfile.ZIP_STORED):
    """An archive of (name, content) pairs."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def plain_npy():
    out = io.BytesIO()
    np.save(out, np.arange(5.0))
    return out.getvalue()


def objects():
    out = io.BytesIO()
    np.savez(out, header=np.array([{"a": 1}, None], dtype=object))
    return out.getvalue()


def overlapping():
    """A directory that names the same megabyte of content a thousand times."""
    inner = zipped([("a.npy", npy("(131072,)", data=bytes(1 << 20)))])
    start = inner.index(b"PK\x01\x02")
    entry, end = inner[start : inner.index(b"PK\x05\x06")], inner[inner.index(b"PK\x05\x06") :]
    entries = b"".join(entry[:46] + b"%05d" % i + entry[51:] for i in range(1000))
    end = end[:8] + (1000).to_bytes(2, "little") * 2 + len(entries).to_bytes(4, "little") + end[16:]
    return inner[:start] + entries + end


NOT_PATHS = dict(
    empty=b"",
    text=b"lam,pair\n1,2\n",
    plain_npy=plain_npy(),
    an_empty_zip=zipped([]),
    objects=objects(),
    a_zip_of_text=zipped([("header.npy", b"hello")]),
    a_cut_header=zipped([("header.npy", plain_npy()[:40])]),
    numbers_of_words=zipped([("header.npy", npy("(3,)", "<U9", bytes(108)))]),
    no_shape=zipped([("header.npy", npy("None"))]),
    endless=zipped([("header.npy", npy(f"({10**30},)"))]),
    endless_but_empty=zipped([("header.npy", npy(f"(0, {10**30})"))]),
    large=zipped([("header.npy", npy("(1000000000000,)"))]),
    negative=zipped([("header.npy", npy("(-1,)", data=bytes(8)))]),
    twice_negative=zipped([("header.npy", npy("(-2, -4)", data=bytes(64)))]),
    of_nothing=zipped([("header.npy", npy(f"({10**30},)", "|V0"))]),
    nested=zipped([("header.npy", npy("(" * 3000 + ")" * 3000))]),
    code=zipped([("header.npy", npy("__import__('os').abort()"))]),
    long_header=zipped([("header.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{")]),
    too_much=zipped([("header.npy", npy("(1,)", data=bytes(16)))]),
    fields=zipped([("header.npy", npy("(1,)", [("a", "<f8")], bytes(8)))]),
    two_members=zipped([("a", plain_npy()), ("a.npy", plain_npy())]),
    compressed=zipped(
        [("header.npy", npy("(1000000,)", data=bytes(8_000_000)))], zipfile.ZIP_DEFLATED
    ),
    overlapping=overlapping(),
)


@pytest.mark.parametrize("name", NOT_PATHS)
@pytest.mark.filterwarnings("error")
def test_what_is_no_path_is_refused(tmp_path, name):
    file = tmp_path / f"{name}.npz"
    file.write_bytes(NOT_PATHS[name])
    with pytest.raises(ValueError, match=name) as raised:
        rb.load(file)
    assert type(raised.value) in (ValueError, ArgumentError)


BOMB = """
import resource, sys, zipfile
import rankbook as rb, rankbook.estimators.saving
file = sys.argv[1]
header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (300000000,), }"
header += b" " * (-(len(header) + 11) % 64) + bytes([10])
with (
    zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    archive.open("header.npy", "w", force_zip64=True) as member,
):
    member.write(b"\\x93NUMPY\\x01\\x00" + len(header).to_bytes(2, "little") + header)
    for _ in range(300):
        member.write(bytes(1_000_000))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    rb.load(file)
except ValueError as error:
    print("compressed" in str(error), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures kilobytes as Linux counts them")
def test_a_bomb_does_not_go_off(tmp_path):
    """300 MB in a file of less than 2 MB."""
    done = subprocess.run(
        [sys.executable, "-c", BOMB, tmp_path / "bomb.npz"],
        capture_output=True,
        text=True,
        check=True,
    )
    said, grown = done.stdout.split()
    assert said == "True" and int(grown) < 50_000


def test_members_with_one_name(tmp_path, content):
    good = content[0]
    file = tmp_path / "twice.npz"
    file.write_bytes(good)
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("problem.X.npy", archive.read("problem.X.npy"))
    with pytest.raises(ValueError, match="the same name"):
        rb.load(file)


# Values that do not fit together


def change(array, place, value):
    changed = array.copy()
    changed[place] = value
    return changed


def wrong_arrays():
    """Names with a function that changes the values or arrays of a file."""
    for name, value in {
        "event_pair": 10**6,
        "event_from": 5,
        "event_to": -1,
        "event_lam": np.nan,
        "checkpoint_events": 10**9,
        "checkpoint_lam": np.inf,
        "problem.X": np.nan,
    }.items():
        yield (
            f"{name} has {value}",
            lambda values, a, name=name, value=value: a.update(
                {name: change(a[name], (0,) * a[name].ndim, value)}
            ),
        )
    for name, value in (
        ("lam_min", -1.0),
        ("lam_min", {"$float": "nan"}),
        ("chunk", 0),
        ("chunk", 10**300),
        ("chunk", 0.5),
        ("perturbation", 1.0),
        ("perturbation", "x"),
        ("seed", -1),
        ("seeds", 0),
    ):
        yield (
            f"go_on {name} is {value}",
            lambda values, a, name=name, value=value: values["go_on"]["$dict"].append(
                [name, value]
            ),
        )
    for name in (
        "event_lam",
        "event_pair",
        "checkpoint_lam",
        "checkpoint_events",
        "problem.X",
        "problem.prefs.scores",
    ):
        yield f"{name} is short", lambda values, a, name=name: a.update({name: a[name][:-1]})
        yield f"{name} is a number", lambda values, a, name=name: a.update({name: np.array(1.0)})
        yield f"{name} is missing", lambda values, a, name=name: a.pop(name)
        yield (
            f"{name} is a table",
            lambda values, a, name=name: a.update({name: np.zeros((3, 2, 2))}),
        )
    for name in ("form", "problem", "lam_end", "info", "solver", "status", "tol"):
        yield f"{name} is missing", lambda values, a, name=name: values.pop(name)
        for value in (None, [], 10**30, "x", {"$dict": [["kernel", "rbf"]]}, -1.0):
            if (name, value) not in (("solver", "x"), ("tol", None), ("tol", 10**30)) and not (
                name == "info" and isinstance(value, dict)
            ):
                yield (
                    f"{name} is {value}",
                    lambda values, a, name=name, value=value: values.update({name: value}),
                )
    for name, value in (
        ("weight", 3),
        ("margin", -1.0),
        ("graph", "ring"),
        ("items", ["a"]),
        ("n_ties", -1),
        ("better", [0]),
    ):
        yield (
            f"prefs have {name} {value}",
            lambda values, a, name=name, value=value: dict(values["problem"]["parts"])["prefs"][
                "parts"
            ].append([name, value]),
        )


WRONG = dict(wrong_arrays())


@pytest.mark.parametrize("what", WRONG)
def test_a_file_that_does_not_fit_together_is_refused(tmp_path, content, what):
    facts, arrays = json.loads(json.dumps(content[1][0])), dict(content[1][1])
    WRONG[what](facts["values"], arrays)
    write_archive(tmp_path / "a.npz", KIND, facts, arrays)
    with pytest.raises(ValueError, match="a.npz") as raised:
        rb.load(tmp_path / "a.npz")
    assert type(raised.value) in (ValueError, ArgumentError)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"[" * 10**5,
        b'{"kind": "rankbook path", "version": "1", "facts": {}}',
        b'{"kind": "rankbook path", "version": 1, "facts": []}',
        b"\xff\xfe",
        b"9" * 5000,
    ],
    ids=repr,
)
def test_a_header_without_sense_is_refused(tmp_path, header):
    np.savez(tmp_path / "a.npz", header=np.frombuffer(header, dtype=np.uint8))
    with pytest.raises(ValueError, match="a.npz") as raised:
        rb.load(tmp_path / "a.npz")
    assert type(raised.value) in (ValueError, ArgumentError)


def test_altered_files(tmp_path, part, content, amount):
    """Bytes flipped, cut out, doubled: a ValueError, or the same path."""
    good, rng, refused, count = content[0], np.random.default_rng(1), 0, amount(200, 2000)
    file = tmp_path / "bad.npz"
    for _ in range(count):
        bad, at = bytearray(good), int(rng.integers(len(good)))
        kind = rng.integers(4)
        if kind == 0:
            bad[at] = rng.integers(256)
        elif kind == 1:
            for place in rng.integers(len(good), size=rng.integers(1, 20)):
                bad[place] ^= 1 << rng.integers(8)
        elif kind == 2:
            del bad[at : at + rng.integers(1, 100)]
        else:
            bad[at:at] = bad[at : at + rng.integers(1, 100)]
        file.write_bytes(bytes(bad))
        try:
            again = rb.load(file)
        except ValueError as error:
            refused += 1
            assert type(error) in (ValueError, ArgumentError) and "bad.npz" in str(error)
        else:
            same(again, part)
    assert refused > 0.75 * count
