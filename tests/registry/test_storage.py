"""Stored paths: exact, whole or absent, and refused when anything is wrong with them."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import rankbook as rb
from rankbook.base.files import read_archive, write_archive
from rankbook.kernels.kernel import Kernel
from rankbook.paths.files import KIND
from rankbook.problems.svm import MulticlassSVMProblem

KERNELS = [
    dict(kernel="linear"),
    dict(kernel="rbf", gamma=0.7),
    dict(kernel=Kernel("poly", degree=2)),
    dict(kernel="precomputed"),
]


def small_problem(kernel="rbf", prefs=None, **options):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (40, 3)).astype(float)
    prefs = prefs or rb.Preferences.from_scores(X.sum(axis=1) // 4, rng.integers(0, 2, 40))
    return rb.RankSVMProblem(
        X @ X.T + 1.0 if kernel == "precomputed" else X, prefs, kernel, **options
    )


def weighted():
    rng = np.random.default_rng(1)
    better = rng.integers(0, 40, 90)
    worse = (better + rng.integers(1, 40, 90)) % 40
    return rb.Preferences(
        better,
        worse,
        40,
        weight=rng.integers(0, 3, 90).astype(float),
        margin=rng.uniform(0.5, 2, 90),
    )


def same(a, b):
    assert (
        a.status == b.status and a.domain == b.domain and a.info == b.info and a.solver == b.solver
    )
    assert np.array_equal(a.events, b.events) and np.array_equal(a.breakpoints, b.breakpoints)
    p, q = a.problem, b.problem
    assert repr(p) == repr(q) and np.array_equal(p.X, q.X) and repr(p.prefs) == repr(q.prefs)
    for lam in np.maximum([1.1 * p.lam_max, 0.3 * p.lam_max, 0.01 * p.lam_max], a.domain[0]):
        assert np.array_equal(a.coef(lam), b.coef(lam)) and a.certificate(lam) == b.certificate(lam)


def same_solutions(a, b):
    """The same functions to rounding, down to the same end."""
    assert a.status == b.status and a.domain == b.domain
    top = a.problem.lam_max
    end = max(a.domain[0], 1.01 * a.breakpoints[-1])
    for lam in np.maximum(top * np.geomspace(1, 1e-3, 20), end):
        f, g = (path.problem.matvec(path.coef(lam)) for path in (a, b))
        assert np.abs(f - g).max() <= 1e-12 * np.abs(g).max()
        assert a.certificate(lam).is_optimal()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: str(k["kernel"]))
@pytest.mark.parametrize(
    "prefs",
    [
        None,
        weighted(),
        rb.Preferences.from_rankings([np.arange(40), [3, 1, 2]]),
        rb.Preferences.from_scores(np.arange(40) % 4, graph="star"),
    ],
    ids=["scores", "pairs", "rankings", "star"],
)
def test_a_path_comes_back_as_it_was(tmp_path, kernel, prefs):
    path = rb.solve_path(small_problem(prefs=prefs, **kernel), lam_min=1e-4)
    path.save(tmp_path / "a.npz")
    again = rb.load(tmp_path / "a.npz")
    same(again, path)
    if path.status == "lam_min":
        same_solutions(again.resume(), path.resume())


@pytest.mark.parametrize("events", [0, 1, 100])
def test_a_stored_part_goes_on_to_the_same_end(tmp_path, events):
    whole = rb.solve_path(small_problem(), chunk=50)
    part = rb.solve_path(small_problem(), chunk=50, max_events=events)
    part.save(str(tmp_path / "part.npz"))
    again = rb.load(str(tmp_path / "part.npz"))
    same(again, part)
    same_solutions(again.resume(), whole)
    X = np.random.default_rng(2).normal(size=(20, 3))
    prefs = rb.Preferences.from_scores(X.sum(axis=1).round())
    curves = [rb.validation_curve(p, X, prefs) for p in (again.resume(), whole)]
    assert curves[0].values.min() == curves[1].values.min()


def test_without_any_event(tmp_path):
    twins = rb.RankSVMProblem([[1.0], [1.0]], rb.Preferences([0], [1], 2), "linear")
    path = rb.solve_path(twins)
    path.save(tmp_path / "none.npz")
    assert rb.load(tmp_path / "none.npz").events.size == 0


def test_what_was_stored_is_plain(tmp_path):
    path = rb.solve_path(small_problem(), max_events=60)
    path.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert all(file[name].dtype.kind in "fiub" for name in file.files)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    file = tmp_path_factory.mktemp("stored") / "path.npz"
    path = rb.solve_path(small_problem(), max_events=60)
    path.save(file)
    return path, file.read_bytes()


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.9999])
def test_a_truncated_file_is_refused(tmp_path, stored, share):
    (tmp_path / "cut.npz").write_bytes(stored[1][: int(share * len(stored[1]))])
    with pytest.raises(ValueError, match="cut.npz"):
        rb.load(tmp_path / "cut.npz")


def test_an_altered_file_is_refused_or_says_the_same(tmp_path, stored):
    """Bits that are never read (times in the directory of the archive) may change.

    What is read may not.
    """
    path, good = stored
    rng, refused = np.random.default_rng(0), 0
    places = np.r_[rng.integers(0, len(good), 300), np.arange(len(good) - 120, len(good))]
    for at in places:
        bad = bytearray(good)
        bad[at] ^= 1 << rng.integers(8)
        (tmp_path / "bad.npz").write_bytes(bytes(bad))
        try:
            again = rb.load(tmp_path / "bad.npz")
        except ValueError as error:
            refused += 1
            assert "bad.npz" in str(error)
        else:
            same(again, path)
    assert refused > 250


def rewrite(file, **changes):
    """Change arrays of a valid archive."""
    with np.load(file) as old:
        arrays = {name: old[name] for name in old.files}
    arrays |= changes
    np.savez(file, **{name: a for name, a in arrays.items() if a is not None})


@pytest.mark.parametrize(
    "change",
    [
        dict(event_lam=np.ones(3)),
        {"problem.X": None},
        dict(header=None),
    ],
    ids=str,
)
def test_arrays_changed_with_care_are_refused(tmp_path, stored, change):
    (tmp_path / "a.npz").write_bytes(stored[1])
    rewrite(tmp_path / "a.npz", **change)
    with pytest.raises(ValueError, match="a.npz"):
        rb.load(tmp_path / "a.npz")


def test_no_code_runs_on_loading(tmp_path):
    class Evil:
        def __reduce__(self):
            return (os._exit, (3,))

    np.savez(tmp_path / "evil.npz", header=np.array([Evil()], dtype=object))
    with pytest.raises(ValueError, match="evil.npz"):
        rb.load(tmp_path / "evil.npz")


def test_other_kinds_and_later_versions_are_refused(tmp_path):
    write_archive(tmp_path / "soup.npz", "recipe", {}, {})
    with pytest.raises(ValueError, match="recipe"):
        rb.load(tmp_path / "soup.npz")
    write_archive(tmp_path / "new.npz", KIND, {}, {}, 99)
    with pytest.raises(ValueError, match="version 99"):
        rb.load(tmp_path / "new.npz")
    with pytest.raises(FileNotFoundError):
        rb.load(tmp_path / "none.npz")


def test_a_kernel_function_cannot_be_stored(tmp_path):
    problem = rb.RankSVMProblem(
        np.eye(4), rb.Preferences([0, 1], [2, 3], 4), kernel=lambda A, B: A @ B.T
    )
    with pytest.raises(ValueError, match="kernel is a function"):
        rb.solve_path(problem).save(tmp_path / "a.npz")
    assert not list(tmp_path.iterdir())


def test_a_solver_that_is_gone_leaves_a_path_to_read(tmp_path):
    part = rb.solve_path(small_problem(), max_events=60)
    part.solver = "vanished 1.0"
    part.save(tmp_path / "a.npz")
    again = rb.load(tmp_path / "a.npz")
    assert again.certificate(again.domain[0]).relative_gap < 1e-8
    with pytest.raises(ValueError, match="vanished"):
        again.resume()


# Whole or not at all


def test_an_error_while_writing_changes_nothing(tmp_path, monkeypatch, stored):
    file = tmp_path / "a.npz"
    file.write_bytes(stored[1])

    def full(*args):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        stored[0].save(file)
    assert file.read_bytes() == stored[1] and [f.name for f in tmp_path.iterdir()] == ["a.npz"]


def test_a_folder_that_is_not_there(tmp_path, stored):
    with pytest.raises(FileNotFoundError):
        stored[0].save(tmp_path / "no" / "a.npz")


SLOW_WRITER = """
import sys, time
from rankbook.base.files import write_whole
def write(handle):
    handle.write(b"half of it"); handle.flush(); print("writing", flush=True); time.sleep(60)
write_whole(sys.argv[1], write)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
@pytest.mark.parametrize("there", [False, True])
def test_a_killed_process_leaves_no_half_file(tmp_path, there):
    file = tmp_path / "a.npz"
    if there:
        file.write_bytes(b"what was there")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITER, str(file)], stdout=subprocess.PIPE
    )
    assert process.stdout.readline().strip() == b"writing"
    process.kill()
    process.wait()
    process.stdout.close()
    assert file.read_bytes() == b"what was there" if there else not file.exists()


# Paths of labels


def labelled(kind=rb.SVMProblem, kernel="rbf", names=("no", "yes"), **options):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (24, 3)).astype(float)
    y = np.array(names)[rng.permutation(24) % len(names)]
    X = X @ X.T + 1.0 if kernel == "precomputed" else X
    return kind(X, y, kernel, weight=rng.integers(0, 3, 24), margin=rng.uniform(1, 2, 24))


def same_labels(a, b):
    assert repr(a) == repr(b) and a.info == b.info and a.domain == b.domain
    assert np.array_equal(a.breakpoints, b.breakpoints) and repr(a.problem) == repr(b.problem)
    assert a.problem.classes_.tolist() == b.problem.classes_.tolist()
    assert a.problem.classes_.dtype == b.problem.classes_.dtype
    for lam in np.maximum([1.1 * a.problem.lam_max, 0.1 * a.problem.lam_max], a.domain[0]):
        assert np.array_equal(a.coef(lam), b.coef(lam)) and a.certificate(lam) == b.certificate(lam)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (rb.SVMProblem, ("no", "yes")),
        (rb.SVMProblem, (-1.0, 1.0)),
        (rb.SVMProblem, (False, True)),
        (MulticlassSVMProblem, ("a", "bcd", "ä")),
        (MulticlassSVMProblem, (3, 1, 2)),
    ],
)
@pytest.mark.parametrize("options", [{}, dict(max_events=9)], ids=["whole", "part"])
def test_a_path_of_labels_comes_back_as_it_was(tmp_path, kind, names, kernel, options):
    path = rb.solve_path(labelled(kind, kernel, names), solver="path", **options)
    path.save(tmp_path / "a.npz")
    again = rb.load(tmp_path / "a.npz")
    assert type(again) is type(path)
    same_labels(again, path)
    X, y = path.problem.X, path.problem.classes_[np.arange(24) % 2]
    curves = [rb.validation_curve(p, X, y, metric="error") for p in (path, again)]
    assert np.array_equal(curves[0].breaks, curves[1].breaks)
    assert np.array_equal(curves[0].values, curves[1].values)


def test_a_path_of_labels_without_any_event(tmp_path):
    rb.solve_path(rb.SVMProblem([[1.0], [1.0]], [0, 1])).save(tmp_path / "none.npz")
    assert rb.load(tmp_path / "none.npz").breakpoints.size == 0


def test_labels_that_a_file_cannot_hold(tmp_path):
    X = [[1.0], [-1.0]]
    dates = rb.solve_path(rb.SVMProblem(X, np.array(["2020", "2021"], dtype="datetime64[Y]")))
    with pytest.raises(ValueError, match="^y has dtype .*. Pass numbers, or a vector of text"):
        dates.save(tmp_path / "a.npz")
    function = rb.solve_path(rb.SVMProblem(X, [0, 1], kernel=lambda A, B: A @ B.T))
    with pytest.raises(ValueError, match="kernel is a function, which a file cannot store"):
        function.save(tmp_path / "a.npz")
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def stored_labels(tmp_path_factory):
    file = tmp_path_factory.mktemp("stored") / "labels.npz"
    path = rb.solve_path(labelled())
    path.save(file)
    return path, file.read_bytes()


def test_a_damaged_path_of_labels_is_refused_or_says_the_same(tmp_path, stored_labels):
    damaged(tmp_path / "bad.npz", *stored_labels, same_labels)


def damaged(file, path, good, same):
    """Truncated files are refused, and altered ones unless nothing that is read has changed."""
    for share in (0.0, 0.001, 0.5, 0.99, 0.9999):
        file.write_bytes(good[: int(share * len(good))])
        with pytest.raises(ValueError, match=file.name):
            rb.load(file)
    rng, refused = np.random.default_rng(0), 0
    for at in rng.integers(0, len(good), 100):
        bad = bytearray(good)
        bad[at] ^= 1 << rng.integers(8)
        file.write_bytes(bytes(bad))
        try:
            again = rb.load(file)
        except ValueError as error:
            refused += 1
            assert file.name in str(error)
        else:
            same(again, path)
    assert refused > 80


@pytest.mark.parametrize(
    "change",
    [
        dict(number=np.full(24, 2)),
        dict(number=np.zeros(24, dtype=int)),
        dict(number=np.zeros(3, dtype=int)),
        dict(weight=np.full(24, -1.0)),
        dict(margin=np.full(24, np.nan)),
        dict(X=np.full((24, 3), np.inf)),
        dict(event_pair=np.full(5, 99)),
    ],
    ids=lambda change: next(iter(change)),
)
def test_labels_changed_with_care_are_refused(tmp_path, stored_labels, change):
    (tmp_path / "bad.npz").write_bytes(stored_labels[1])
    kind, facts, arrays = read_archive(tmp_path / "bad.npz", [KIND])
    for name, value in change.items():
        arrays[name if name in arrays else f"problem.{name}"] = value
    write_archive(tmp_path / "bad.npz", kind, facts, arrays)
    with pytest.raises(ValueError, match="whose parts do not fit together"):
        rb.load(tmp_path / "bad.npz")


# Paths of weights


def l1_problem(loss="hinge", form="scores", grid=False):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 4)) + 3, rng.normal(size=15)
    if grid:
        X, y = np.round(X), np.round(y)
    l1 = dict(kernel="linear", penalty="l1")
    pairs = rb.Preferences(
        np.arange(5), np.arange(5, 10), 15, weight=np.arange(5.0), margin=np.arange(1.0, 6.0)
    )
    if loss != "least":
        prefs = pairs if form == "preferences" else rb.Preferences.from_scores(np.round(y))
        return rb.RankSVMProblem(X, prefs, loss=loss, **l1)
    W = np.abs(np.subtract.outer(np.arange(15), np.arange(15))) == 2
    given = dict(
        scores=dict(y=y, qid=np.array(list("ab"))[np.arange(15) % 2]),
        items=dict(y=y, item_weight=np.arange(15) % 3),
        identity=dict(y=y, graph="identity"),
        weights=dict(y=y, graph=W.astype(float)),
        preferences=dict(graph=pairs),
    )
    return rb.RankRLSProblem(X, **given[form], **l1)


def same_weights(a, b):
    assert type(a) is type(b) and repr(a) == repr(b) and a.info == b.info and a.domain == b.domain
    assert np.array_equal(a.breakpoints, b.breakpoints)
    assert repr(a.problem) == repr(b.problem) and np.array_equal(a.weights, b.weights)
    top = a.problem.lam_max or 1.0
    for lam in np.maximum([1.1 * top, 0.3 * top, 0.01 * top], a.domain[0]):
        one, two = a.solution(lam), b.solution(lam)
        assert np.array_equal(one.coef, two.coef) and one.certificate == two.certificate
        assert np.array_equal(one.predict(a.problem.X), two.predict(b.problem.X))


L1_KINDS = [(loss, form) for loss in ("hinge", "squared") for form in ("scores", "preferences")]
L1_KINDS += [("least", form) for form in ("scores", "items", "identity", "weights", "preferences")]


@pytest.mark.parametrize(("loss", "form"), L1_KINDS)
@pytest.mark.parametrize("end", ["whole", "lam_min", "max_events", "none"])
@pytest.mark.parametrize("grid", [False, True])
def test_a_path_of_weights_comes_back_as_it_was(tmp_path, loss, form, end, grid):
    problem = l1_problem(loss, form, grid)
    ends = dict(whole={}, max_events=dict(max_events=2))
    ends |= {"lam_min": dict(lam_min=problem.lam_max / 9), "none": dict(lam_min=problem.lam_max)}
    path = rb.solve_path(problem, **ends[end])
    path.save(tmp_path / "a.npz")
    same_weights(rb.load(tmp_path / "a.npz"), path)


@pytest.fixture(scope="module", params=["hinge", "squared", "least"])
def stored_weights(request, tmp_path_factory):
    file = tmp_path_factory.mktemp("stored") / "weights.npz"
    path = rb.solve_path(l1_problem(request.param))
    path.save(file)
    return path, file.read_bytes()


def test_a_damaged_path_of_weights_is_refused_or_says_the_same(tmp_path, stored_weights):
    damaged(tmp_path / "bad.npz", *stored_weights, same_weights)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("table.data", lambda a: np.where(np.arange(a.size) == 1, np.nan, a)),
        ("table.indices", lambda a: a + 9),
        ("table.indices", lambda a: a - 1),
        ("table.indptr", lambda a: a[::-1].copy()),
        ("table.indptr", lambda a: a[:-1]),
        ("lams", lambda a: a[::-1].copy()),
        ("lams", lambda a: a[1:]),
        ("ends", lambda a: a[::-1].copy()),
        ("ends", lambda a: a[1:]),
        ("event_out", lambda a: a + 10**6),
        ("event_into", lambda a: a - 10**6),
        ("event_to", lambda a: a + np.int8(9)),
        ("X", lambda a: a[:, :3]),
        ("offset", lambda a: a[:3]),
    ],
)
def test_weights_changed_with_care_are_refused(tmp_path, stored_weights, name, change):
    file = tmp_path / "bad.npz"
    file.write_bytes(stored_weights[1])
    kind, facts, arrays = read_archive(file, [KIND])
    name = name if name in arrays else f"problem.{name}"
    if name not in arrays:
        pytest.skip("the other solver's")
    write_archive(file, kind, facts, arrays | {name: change(arrays[name])})
    with pytest.raises(ValueError, match="whose parts do not fit together"):
        rb.load(file)
