"""Stored paths of least squares, the Rayleigh coefficient, and answers at some lambdas.

They come back bit for bit, and are refused when anything is wrong with them.
"""

import warnings

import numpy as np
import pytest

import rankbook as rb
from rankbook.base.files import read_archive, write_archive
from rankbook.paths.files import KIND
from rankbook.problems.label_ranking import LabelRankRLSProblem

RNG = np.random.default_rng(0)
N = 30
X, NEW = RNG.normal(size=(N, 3)), RNG.normal(size=(7, 3))
Y, QID = (X @ [1.0, -1.0, 0.5]).round(), np.arange(N) % 3
GRAM, ROWS = X @ X.T + 1.0, NEW @ X.T + 1.0
HALF = np.where(np.arange(N) < 20, (Y > 0).astype(float), np.nan)
PAIRS = rb.Preferences(RNG.integers(0, 15, 60), RNG.integers(15, N, 60), N, RNG.uniform(0, 2, 60))
SCORES = rb.Preferences.from_scores(Y, QID)
NAMED = rb.Preferences.from_pairs(
    [(f"p{i}", f"p{j}") for i, j in zip(PAIRS.better, PAIRS.worse)],
    tie=np.arange(60) < 5,
    ties="half",
    items=[f"p{i}" for i in range(N)],
)
RLS, SVM, RAY = rb.RankRLSProblem, rb.RankSVMProblem, rb.RayleighProblem
ALONG = ("rayleigh", dict(along="manifold_weight", lam=0.1))

PATHS = {
    "rls linear": (lambda: RLS(X + 5.0, Y, QID, kernel="linear"), "rls", NEW),
    "rls wide": (lambda: RLS(X[:3], Y[:3] + [0, 1, 2], kernel="linear"), "rls", NEW),
    "rls rbf": (lambda: RLS(X, Y, QID), "rls", NEW),
    "rls columns": (lambda: RLS(X, np.c_[Y, -Y], QID), "rls", NEW),
    "rls poly": (lambda: RLS(X, Y, kernel=rb.kernels.Kernel("poly", degree=2)), "rls", NEW),
    "rls precomputed": (lambda: RLS(GRAM, Y, kernel="precomputed"), "rls", ROWS),
    "rls weights": (lambda: RLS(X, Y, QID, item_weight=np.arange(N) % 4), "rls", NEW),
    "rls identity": (lambda: RLS(X, Y, graph="identity", kernel="linear"), "rls", NEW),
    "rls graph": (lambda: RLS(X, Y, graph=np.ones((N, N))), "rls", NEW),
    "rls preferences": (lambda: RLS(X, graph=PAIRS), "rls", NEW),
    "rls named": (lambda: RLS(X, graph=NAMED, kernel="linear"), "rls", NEW),
    "basis": (lambda: RLS(X, Y, QID, basis=[1, 5, 3]), "sparse-rls", NEW),
    "basis narrow": (
        lambda: RLS(GRAM[:, ::3], Y, kernel="precomputed", basis=np.arange(0, N, 3)),
        "sparse-rls",
        ROWS[:, ::3],
    ),
    "epsilon rbf": (lambda: SVM(X, SCORES, gamma=0.5), "epsilon", NEW),
    "epsilon linear": (lambda: SVM(X + 5.0, SCORES, "linear"), "epsilon", NEW),
    "epsilon named": (lambda: SVM(X, NAMED, "linear"), ("epsilon", dict(eps=0.1)), NEW),
    "newton": (lambda: SVM(X + 5.0, SCORES, "linear"), "newton", NEW),
    "newton squared": (lambda: SVM(X, SCORES, "linear", loss="squared"), "newton", NEW),
    "newton few items": (lambda: SVM(X[:2], SCORES_OF_TWO, "linear"), "newton", NEW),
    "rayleigh": (lambda: RAY(X, HALF, n_components=5), "rayleigh", NEW),
    "rayleigh pca": (lambda: RAY(X, HALF, n_components=5, pivots="pca"), "rayleigh", NEW),
    "rayleigh random": (
        lambda: RAY(X, HALF, n_components=5, pivots="random", random_state=np.random.default_rng()),
        "rayleigh",
        NEW,
    ),
    "rayleigh linear": (
        lambda: RAY(X, HALF, kernel="linear", n_components=None, manifold_weight=0.0),
        "rayleigh",
        NEW,
    ),
    "rayleigh precomputed": (
        lambda: RAY(GRAM, HALF, kernel="precomputed", n_components=5),
        "rayleigh",
        ROWS,
    ),
    "manifold": (lambda: RAY(X, HALF, n_components=5), ALONG, NEW),
    "manifold more": (lambda: RAY(X, HALF, X_unlabelled=NEW, n_components=5), ALONG, NEW),
}
SCORES_OF_TWO = rb.Preferences([0], [1], 2)


def followed(name):
    make, solver, new = PATHS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rb.solve_path(make(), solver=solver), new


@pytest.mark.parametrize("name", PATHS)
def test_a_path_comes_back_bit_for_bit(tmp_path, name):
    path, new = followed(name)
    path.save(tmp_path / "p.rankbook")
    again = rb.load(tmp_path / "p.rankbook")
    assert type(again) is type(path) and repr(again) == repr(path)
    assert (again.domain, again.status, again.info) == (path.domain, path.status, path.info)
    assert again.solver == path.solver and again.tol == path.tol
    assert np.array_equal(again.breakpoints, path.breakpoints)
    for factor in (1.5, 10.0, 1e3):
        lam = factor * (path.domain[0] or 0.2)
        one, two = path.solution(lam), again.solution(lam)
        assert np.array_equal(one.predict(new), two.predict(new))
        assert np.array_equal(one.coef, two.coef) and one.certificate == two.certificate
    a, b = path.problem, again.problem
    assert repr(a) == repr(b) and np.array_equal(a.X, b.X) and not b.X.flags.writeable
    for owner in (getattr(path.problem, "target", path.problem),):
        prefs = getattr(owner, "prefs", None)
        if prefs is not None:
            back = getattr(again.problem, "target", again.problem).prefs
            assert (back.items, back.n_ties) == (prefs.items, prefs.n_ties)
    again.save(tmp_path / "q.rankbook")
    assert (tmp_path / "q.rankbook").stat().st_size == (tmp_path / "p.rankbook").stat().st_size


def test_what_can_be_done_with_a_path_can_be_done_with_a_loaded_one(tmp_path):
    path, _ = followed("newton")
    path.save(tmp_path / "p")
    low = path.domain[0] / 10
    assert np.array_equal(rb.load(tmp_path / "p").resume(low).ends, path.resume(low).ends)
    judge = rb.Preferences.from_scores(NEW @ [1.0, -1.0, 0.5])
    for name in ("rls rbf", "rls linear", "epsilon rbf", "newton", "rayleigh", "manifold"):
        path, new = followed(name)
        path.save(tmp_path / "p")
        one, two = (rb.validation_curve(p, new, judge) for p in (path, rb.load(tmp_path / "p")))
        assert np.array_equal(one.values, two.values) and np.array_equal(one.breaks, two.breaks)


BAD = {
    "rls rbf": [
        ("values", lambda a: -a - 1),
        ("values", lambda a: a[:3]),
        ("left", lambda a: a[:4]),
        ("left", lambda a: a.astype(np.float32)),
        ("right", lambda a: a * np.nan),
        ("y", lambda a: a[:5]),
        ("X", lambda a: a[:5]),
    ],
    "rls linear": [("normal", lambda a: a[:2]), ("offset", lambda a: a[:2])],
    "basis": [("basis", lambda a: a + 100), ("left", lambda a: a[:2])],
    "epsilon rbf": [
        ("lams", lambda a: a[::-1]),
        ("duals", lambda a: a - 1),
        ("duals", lambda a: a + 9),
        ("scaled_coefs", lambda a: a[:, :4]),
        ("lams", lambda a: a[:0]),
    ],
    "newton": [
        ("ends", lambda a: a[::-1]),
        ("weights", lambda a: a[:, :1]),
        ("answers", lambda a: -a),
        ("answers", lambda a: a[:0]),
        ("answers", lambda a: a * np.inf),
    ],
    "rayleigh": [
        ("signs", lambda a: a * 0),
        ("signs", lambda a: a[:4]),
        ("subspace.pivots", lambda a: a + 100),
        ("subspace.factor", lambda a: a[:2]),
        ("features", lambda a: a[:3]),
        ("within_scatter", lambda a: a[:2]),
        ("laplacian_form", lambda a: a[:2]),
        ("mean_difference", lambda a: a[:2]),
        ("noise", lambda a: a - 1),
        ("items", lambda a: a * np.nan),
    ],
}


@pytest.mark.parametrize("name", BAD)
def test_parts_that_do_not_fit_are_refused(tmp_path, name):
    path, _ = followed(name)
    file = tmp_path / "p.rankbook"
    path.save(file)
    _, facts, arrays = read_archive(file, [KIND])
    for short, change in BAD[name]:
        which = short if short in arrays else f"problem.{short}"
        write_archive(file, KIND, facts, arrays | {which: change(arrays[which])})
        with pytest.raises(ValueError, match="p.rankbook"):
            rb.load(file)
        write_archive(file, KIND, facts, {key: a for key, a in arrays.items() if key != which})
        with pytest.raises(ValueError, match="p.rankbook"):
            rb.load(file)
    write_archive(file, KIND, dict(values=facts["values"] | dict(info=3)), arrays)
    with pytest.raises(ValueError, match="p.rankbook"):
        rb.load(file)


@pytest.mark.parametrize("items", [["a"], 3, [[1], [2]], [None, "a"]])
def test_names_that_are_none_are_refused(tmp_path, items):
    prefs = rb.Preferences.from_pairs([("a", "b")])
    path = rb.solve_path(SVM([[0.0], [1.0]], prefs, "linear"), solver="path")
    path.save(tmp_path / "p")
    assert rb.load(tmp_path / "p").problem.prefs.items == ("a", "b")
    _, facts, arrays = read_archive(tmp_path / "p", [KIND])
    prefs = dict(facts["values"]["problem"]["parts"])["prefs"]["parts"]
    for change in (["items", items], ["n_ties", -1]):
        kept = [list(part) for part in prefs]
        prefs[:] = [part for part in kept if part[0] != change[0]] + [change]
        write_archive(tmp_path / "p", KIND, facts, arrays)
        prefs[:] = kept
        with pytest.raises(ValueError, match="items are not names|n_ties"):
            rb.load(tmp_path / "p")


def test_what_no_file_can_hold_is_refused_in_words(tmp_path):
    from scipy.sparse import csr_array

    sparse = SVM(csr_array(np.maximum(X, 0)), SCORES, "linear")
    labels = LabelRankRLSProblem(X, np.c_[Y, -Y, X[:, 0]])
    metric = RAY(X, HALF, n_components=5, metric=lambda a, b: np.abs(a - b).sum())
    dated = rb.Preferences.from_pairs([(("a", 1), ("b", 2))])
    for problem, solver, said in (
        (sparse, "newton", "with sparse items, which a file cannot store"),
        (labels, "kronecker", "LabelRankRLSProblem, which a file cannot store"),
        (metric, "rayleigh", "metric is a function"),
        (RLS(X, Y, kernel=lambda A, B: A @ B.T), "rls", "kernel is a function"),
        (SVM(np.eye(2), dated, "linear"), "path", r"\('a', 1\), a tuple, whose name a file cannot"),
    ):
        with pytest.raises(ValueError, match=said):
            rb.solve_path(problem, solver=solver).save(tmp_path / "p")
    assert not list(tmp_path.iterdir())
