"""Models in files: the same predictions bit for bit, no code, nothing but what predicts."""

import functools
import json
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankbook as rb
from rankbook.base.files import VERSION, open_archive, read_archive, write_archive
from rankbook.estimators.saving import KIND, SCALED_KIND, file_facts, model_classes
from rankbook.estimators.scaled import ScaledModel

RNG = np.random.default_rng(0)
N, D = 40, 4
X, NEW = RNG.normal(size=(N, D)), RNG.normal(size=(17, D))
Y = (X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * RNG.normal(size=N)).round()
QID = np.arange(N) % 4
GRAM, ROWS = X @ X.T + 1.0, NEW @ X.T + 1.0
FRAME = pd.DataFrame(X, columns=["age", "size", "price", "rooms"])
HALF = np.where(np.arange(N) < 30, (Y > 0).astype(float), np.nan)
TABLE = np.c_[X[:, 0], X[:, 1], RNG.normal(size=N)]
STEPS = dict(max_updates=3000)
QP = type(rb.get_solver("qp"))

# name: an estimator, its training data, and new items
MODELS = {
    "ranksvm linear": (rb.RankSVM(kernel="linear"), (X, Y, QID), NEW),
    "ranksvm l1": (rb.RankSVM(kernel="linear", penalty="l1"), (X, Y), NEW),
    "ranksvm float32": (
        rb.RankSVM(kernel="linear", solver="newton"),
        (X.astype(np.float32), Y),
        NEW.astype(np.float32),
    ),
    "ranksvm sparse": (
        rb.RankSVM(kernel="linear", solver="newton"),
        (csr_array(np.maximum(X, 0)), Y),
        csr_array(NEW),
    ),
    "ranksvm frame": (rb.RankSVM(), (FRAME, Y), FRAME[:9]),
    "ranksvm rbf": (rb.RankSVM(lam=np.float64(0.5), gamma=0.3), (X, Y, QID), NEW),
    "ranksvm poly": (rb.RankSVM(kernel="poly", degree=2), (X, Y), NEW),
    "ranksvm squared": (rb.RankSVM(loss="squared"), (X, Y), NEW),
    "ranksvm precomputed": (rb.RankSVM(kernel="precomputed"), (GRAM, Y), ROWS),
    "ranksvm class": (rb.RankSVM(kernel="linear", solver=QP), (X, Y), NEW),
    "ranksvm instance": (
        rb.RankSVM(kernel="linear", solver=rb.get_solver("newton", tol=1e-4)),
        (X, Y),
        NEW,
    ),
    "ranksvm projected": (rb.RankSVM(approximate_kernel=12), (X, Y), NEW),
    "ranksvm auto": (rb.RankSVM(approximate_kernel="auto", lam=100.0), (X, Y), NEW),
    "ranksvm nothing": (rb.RankSVM(), (np.zeros((4, 2)), [0, 1, 0, 1]), np.ones((3, 2))),
    "ranksvm cv": (
        rb.RankSVMCV(
            gamma=[0.1, 1.0], cv=3, solver="epsilon", random_state=np.random.RandomState(1)
        ),
        (X, Y),
        NEW,
    ),
    "ranksvm cv pairs": (
        rb.RankSVMCV("linear", solver="epsilon", cv=[(np.arange(20), np.arange(20, 40))]),
        (X, Y),
        NEW,
    ),
    "rankrls linear": (rb.RankRLS(kernel="linear"), (X, Y, QID), NEW),
    "rankrls columns": (rb.RankRLS(), (X, TABLE), NEW),
    "rankrls l1": (rb.RankRLS(kernel="linear", penalty="l1"), (X, Y), NEW),
    "rankrls basis": (
        rb.RankRLS(basis=8, random_state=np.random.default_rng(3), graph="identity"),
        (X, Y),
        NEW,
    ),
    "rankrls items": (rb.RankRLS(basis=X[:6]), (X, Y), NEW),
    "rankrls narrow": (
        rb.RankRLS(kernel="precomputed", basis=np.arange(0, N, 3)),
        (GRAM[:, ::3], Y),
        ROWS[:, ::3],
    ),
    "rankrls graph": (rb.RankRLS(graph=rb.Preferences([0, 1, 2], [3, 4, 5], N)), (X, Y), NEW),
    "rankrls weights": (rb.RankRLS(graph=csr_matrix(np.eye(N)[::-1])), (X, Y), NEW),
    "rankrls blocks": (rb.RankRLS(kernel="linear"), [(X, Y, QID)], NEW),
    "rankrls cv": (rb.RankRLSCV(lams=[0.1, 1.0], gamma=[0.1, None][:1], cv=3), (X, Y), NEW),
    "rankrls cv loo": (rb.RankRLSCV(kernel="linear", cv="loo"), (X, Y), NEW),
    "rayleigh": (rb.RayleighRanker(n_components=5), (X, HALF), NEW),
    "rayleigh whole": (rb.RayleighRanker(n_components=None), (X, HALF), NEW),
    "rayleigh pca": (rb.RayleighRanker(n_components=5, pivots="pca"), (X, HALF), NEW),
    "rayleigh linear": (
        rb.RayleighRanker(kernel="linear", n_components=None, manifold_weight=0.0),
        (X, HALF),
        NEW,
    ),
    "rayleigh precomputed": (
        rb.RayleighRanker(kernel="precomputed", n_components=5),
        (GRAM, HALF),
        ROWS,
    ),
    "rayleigh cv": (
        rb.RayleighRankerCV(n_components=[3, 5], gamma=[None, 0.1], cv=3),
        (X, HALF),
        NEW,
    ),
    "online": (rb.OnlineRankSVM(**STEPS), (X, Y, QID), NEW),
    "online svc": (rb.OnlineSVC(**STEPS), (X, (Y > 0).astype(int)), NEW),
    "online svc words": (
        rb.OnlineSVC(fit_intercept=False, **STEPS),
        (X, np.array(["low", "middle", "high"])[np.clip(Y, -1, 1).astype(int) + 1]),
        NEW,
    ),
    "labels": (rb.LabelRanker(kernel="linear"), (X, TABLE), NEW),
    "labels rbf": (rb.LabelRanker(label_kernel=np.eye(3) + 0.2), (X, TABLE), NEW),
    "labels cv": (
        rb.LabelRankerCV([0.1, 1.0], "pairs", label_kernel=np.eye(3) + 0.2),
        (X, TABLE),
        NEW,
    ),
    "labels svm": (
        rb.LabelRanker(method="ranksvm", approximate_kernel=9, lam=10.0),
        (X, TABLE),
        NEW,
    ),
    "ordinal": (rb.OrdinalRanker(), (X, np.clip(Y, -1, 1)), NEW),
    "ordinal words": (
        rb.OrdinalRanker(rb.RankRLS(kernel="linear"), loss="absolute"),
        (X, np.array(["a", "b", "c"], dtype=object)[np.clip(Y, -1, 1).astype(int) + 1]),
        NEW,
    ),
}


@functools.cache  # no test changes them
def fitted(name):
    model, data, new = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = pickle.loads(pickle.dumps(model))
        return model.fit(*((iter(data),) if isinstance(data, list) else data)), new


def answers(model, new):
    """All that a fitted estimator says of new items."""
    names = ["predict", "decision_function", "predict_proba", "rank"]
    if isinstance(model, rb.RankRLS) and model.predict(new).ndim == 2:
        names.remove("rank")  # one order only
    return [np.asarray(getattr(model, name)(new)) for name in names if hasattr(model, name)]


def same_values(a, b):
    """Whether two values hold the same, whatever they are made of."""
    if isinstance(a, np.ndarray):
        return type(b) is np.ndarray and a.dtype.kind == b.dtype.kind and np.array_equal(a, b)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same_values, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_values(a[key], b[key]) for key in a)
    if isinstance(a, (np.random.Generator, np.random.RandomState)):
        return repr(a.__getstate__()) == repr(b.__getstate__())
    if hasattr(a, "__dict__") and not isinstance(a, type):
        return same_values(pickle.loads(pickle.dumps(vars(a))), vars(b)) and type(a) is type(b)
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_as_it_was(tmp_path, name):
    model, new = fitted(name)
    file = tmp_path / "m.rankbook"
    model.save(file)
    again = rb.load(file)
    assert type(again) is type(model)
    for one, other in zip(answers(model, new), answers(again, new), strict=True):
        assert np.array_equal(one, other) and one.dtype == other.dtype
    given, kept = model.get_params(), again.get_params()
    solver = given.pop("solver", None), kept.pop("solver", None)
    assert solver[0] == solver[1] or not isinstance(solver[0], (str, tuple))
    for parameter in given:
        if not isinstance(given[parameter], (rb.Preferences, csr_matrix, rb.RankRLS)):
            assert same_values(given[parameter], kept[parameter]), parameter
    for attribute in ("n_features_in_", "feature_names_in_", "solver_", "lam_", "gamma_", "best_"):
        if hasattr(model, attribute):
            assert same_values(getattr(model, attribute), getattr(again, attribute)), attribute
    assert getattr(model, "certificate_", None) == getattr(again, "certificate_", None)
    left = {attribute for attribute in vars(model) if attribute.endswith("_")} - set(vars(again))
    assert left <= {"solution_", "statistics_"}
    again.save(file)  # and once more
    assert np.array_equal(rb.load(file).predict(new), model.predict(new))


def test_every_estimator_is_tried():
    kinds = {type(model) for model, *_ in MODELS.values()} | {rb.Leaderboard}  # test_leaderboard.py
    assert kinds == set(model_classes().values())
    public = {getattr(rb, name) for name in rb.__all__}
    savable = {one for one in public if isinstance(one, type) and hasattr(one, "get_params")}
    assert savable == set(model_classes().values())


@pytest.mark.parametrize("name", MODELS)
def test_joblib_keeps_it(tmp_path, name):
    model, new = fitted(name)
    joblib.dump(model, tmp_path / "m.joblib")
    for one, other in zip(answers(model, new), answers(joblib.load(tmp_path / "m.joblib"), new)):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("name", MODELS)
def test_skops_keeps_it(tmp_path, name):
    skops = pytest.importorskip("skops.io")
    model, new = fitted(name)
    skops.dump(model, tmp_path / "m.skops")
    unknown = skops.get_untrusted_types(file=tmp_path / "m.skops")
    assert not [
        kind for kind in unknown if not kind.startswith(("rankbook.", "numpy.", "scipy.sparse."))
    ]
    again = skops.load(tmp_path / "m.skops", trusted=unknown)
    for one, other in zip(answers(model, new), answers(again, new)):
        assert np.array_equal(one, other)


def test_pipelines_are_kept_by_joblib_and_skops(tmp_path):
    skops = pytest.importorskip("skops.io")
    pipeline = make_pipeline(StandardScaler(), rb.RankSVM()).fit(X, Y)
    joblib.dump(pipeline, tmp_path / "m.joblib")
    skops.dump(pipeline, tmp_path / "m.skops")
    unknown = skops.get_untrusted_types(file=tmp_path / "m.skops")
    assert unknown and all(kind.startswith("rankbook.") for kind in unknown)
    for again in (
        joblib.load(tmp_path / "m.joblib"),
        skops.load(tmp_path / "m.skops", trusted=unknown),
    ):
        assert np.array_equal(again.predict(NEW), pipeline.predict(NEW))


def test_46_weights_are_a_small_file(tmp_path):
    rng = np.random.default_rng(1)
    items, scores = rng.normal(size=(300, 46)), rng.integers(0, 3, 300)
    models = [
        rb.RankSVM(kernel="linear"),
        rb.RankRLS(kernel="linear"),
        rb.OnlineRankSVM(**STEPS),
        rb.RankRLS(kernel="linear"),
    ]
    for i, model in enumerate(models):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(*((items, scores) if i < 3 else (iter([(items, scores)]),)))
        model.save(tmp_path / "m.rankbook")
        assert (tmp_path / "m.rankbook").stat().st_size < 5000
        assert rb.load(tmp_path / "m.rankbook").coef_.size == 46


def test_no_training_data_are_in_the_file(tmp_path):
    model = rb.RankSVM(kernel="linear").fit(X, Y)
    model.save(tmp_path / "m.rankbook")
    arrays = read_archive(tmp_path / "m.rankbook", [KIND])[2]
    assert [a.size for a in arrays.values()] == [D]


def test_what_belongs_together_is_one_object(tmp_path):
    model = rb.RankSVM(approximate_kernel=9).fit(X, Y)
    model.save(tmp_path / "m.rankbook")
    again = rb.load(tmp_path / "m.rankbook")
    assert again.nystroem_map_ is again.function_.subspace
    assert not again.coef_.flags.writeable and not again.function_.weights.flags.writeable


def test_the_exact_certificate_comes_along_once_it_is_there(tmp_path):
    model = rb.RankSVM(approximate_kernel=9).fit(X, Y)
    model.save(tmp_path / "m.rankbook")
    with pytest.raises(AttributeError, match="exact_certificate_ needs solution_ and a fit"):
        rb.load(tmp_path / "m.rankbook").exact_certificate_  # noqa: B018
    proven = model.exact_certificate_
    model.save(tmp_path / "m.rankbook")
    assert rb.load(tmp_path / "m.rankbook").exact_certificate_ == proven


@pytest.mark.parametrize("name", ["online", "online svc", "rankrls blocks", "rankrls linear"])
def test_learning_on_is_refused_and_changes_nothing(tmp_path, name):
    model, new = fitted(name)
    model.save(tmp_path / "m.rankbook")
    again = rb.load(tmp_path / "m.rankbook")
    before = again.predict(new)
    with pytest.raises(ValueError, match="loaded from a file"):
        again.partial_fit(X, (Y > 0).astype(int))
    assert np.array_equal(again.predict(new), before)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "not converged after 3,000 steps")
        again.fit(X, (Y > 0).astype(int))
    again.partial_fit(X, (Y > 0).astype(int))


# What no file can hold


class Mine(rb.RankSVM):
    """An estimator from another package."""


class Mute(rb.Solver):
    """A solver that is not registered."""

    def solve(self, problem, lam):
        return rb.solve(problem, lam)


REFUSED = {
    "kernel": (rb.RankSVM(kernel=lambda a, b: a @ b.T), r"^kernel is a function, .*precomputed"),
    "joint": (rb.RankRLS(kernel=rb.kernels.joint("rbf", "linear")), "^kernel is a function"),
    "class": (
        Mine(),
        "^model is a Mine, which a file cannot store. Pass an estimator of rankbook",
    ),
    "solver": (rb.RankSVM(solver=Mute), "^solver is Mute, .* not registered. Pass .*"),
    "solver instance": (rb.RankSVM(solver=Mute()), "^solver is Mute, .*Pass"),
    "metric": (
        rb.RankRLSCV(metric=lambda a, b, q: 0.0, cv=2),
        r"^metric is a function, which .* set_params\(metric=",
    ),
    "cv": (
        rb.RankSVMCV(cv=__import__("sklearn.model_selection").model_selection.KFold(2)),
        "^cv is a KFold",
    ),
    "ranker": (
        rb.OrdinalRanker(make_pipeline(StandardScaler(), rb.RankSVM())),
        "^ranker is a Pipeline, which .* Pass an estimator of rankbook",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_no_file_can_hold(tmp_path, what):
    model, said = REFUSED[what]
    file = tmp_path / "m.rankbook"
    file.write_text("before")
    with pytest.raises(ValueError, match=said):
        model.fit(X, Y.clip(0, 1)).save(file)
    assert file.read_text() == "before" and len(list(tmp_path.iterdir())) == 1


def test_an_unfitted_model_is_not_saved(tmp_path):
    for cls in model_classes().values():
        with pytest.raises(NotFittedError):
            cls().save(tmp_path / "m.rankbook")
    assert list(tmp_path.iterdir()) == []


# What is refused on the way back


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    file = tmp_path_factory.mktemp("stored") / "m.rankbook"
    model = rb.RankSVM(gamma=0.3).fit(X, Y)
    model.save(file)
    return model, file.read_bytes()


def test_a_truncated_or_altered_file_is_refused(tmp_path, stored):
    model, good = stored
    file, rng, refused = tmp_path / "m.rankbook", np.random.default_rng(0), 0
    for share in (0.0, 0.1, 0.5, 0.99):
        file.write_bytes(good[: int(share * len(good))])
        with pytest.raises(ValueError, match="m.rankbook"):
            rb.load(file)
    for at in rng.integers(0, len(good), 200):
        bad = bytearray(good)
        bad[at] ^= 1 << rng.integers(8)
        file.write_bytes(bytes(bad))
        try:
            again = rb.load(file)
        except ValueError as error:
            refused += 1
            assert "m.rankbook" in str(error)
        else:  # a bit that is never read
            assert np.array_equal(again.predict(NEW), model.predict(NEW))
    assert refused > 150


def test_later_versions_and_other_kinds_are_refused(tmp_path, stored):
    file = tmp_path / "m.rankbook"
    file.write_bytes(stored[1])
    _, facts, arrays = read_archive(file, [KIND])
    write_archive(file, KIND, facts, arrays, VERSION + 1)
    with pytest.raises(ValueError, match=f"version {VERSION + 1}. Update rankbook"):
        rb.load(file)
    facts_of_later = file_facts(file)
    assert facts_of_later["version"] == VERSION + 1 and not facts_of_later["readable"]
    write_archive(file, KIND, facts, arrays, VERSION - 1)
    with pytest.raises(ValueError, match="of format version 1. Fit the model and save"):
        rb.load(file)
    assert not file_facts(file)["readable"]
    write_archive(file, "rankbook recipe", facts, arrays)
    assert not file_facts(file)["readable"]
    with pytest.raises(ValueError, match="kind 'rankbook recipe'. Pass a file of the kind"):
        rb.load(file)
    write_archive(file, SCALED_KIND, facts, arrays)
    with pytest.raises(ValueError, match="do not fit together"):
        rb.load(file)


def places_of(written, path=()):
    """The place of every leaf of some JSON."""
    items = written.items() if isinstance(written, dict) else enumerate(written)
    for key, value in items:
        if isinstance(value, (dict, list)):
            yield from places_of(value, (*path, key))
        yield (*path, key)


def test_whatever_a_file_says_it_is_a_model_or_refused(tmp_path, stored):
    """Every value is replaced in turn by others."""
    file = tmp_path / "m.rankbook"
    file.write_bytes(stored[1])
    _, facts, arrays = read_archive(file, [KIND])
    text, refused, others = json.dumps(facts), 0, [None, -1, "x", [], {"$same": 0}, {"$array": "x"}]
    for i, place in enumerate(places_of(facts)):
        changed = json.loads(text)
        inside = changed
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = others[i % len(others)]
        write_archive(file, KIND, changed, arrays)
        try:
            again = rb.load(file)
        except ValueError as error:
            refused += 1
            assert "m.rankbook" in str(error)
        else:
            assert type(again) in model_classes().values()
        try:
            file_facts(file)
        except ValueError as error:
            assert "m.rankbook" in str(error)
    assert refused > 60


def test_values_without_end_are_refused(tmp_path, stored):
    file = tmp_path / "m.rankbook"
    file.write_bytes(stored[1])
    _, facts, arrays = read_archive(file, [KIND])
    deep, wide = [], {"$array": {"text": ["x" * 10**5, *[""] * 10**5], "objects": False}}
    for _ in range(900):
        deep = [deep]
    for bad in (deep, wide | {"number": 99}):
        write_archive(file, KIND, facts | {"values": facts["values"] | {"m": bad}}, arrays)
        with pytest.raises(ValueError, match="m.rankbook"):
            rb.load(file)


def test_loading_runs_no_code_and_brings_no_solver(tmp_path, stored):
    (tmp_path / "m.rankbook").write_bytes(stored[1])
    code = (
        "import sys, rankbook as rb; rb.load(sys.argv[1]).predict([[0.0] * 4]);"
        "print([m for m in ('cvxpy', 'matplotlib', 'pickle5', 'numba') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "m.rankbook")]
    assert subprocess.run(command, capture_output=True, text=True).stdout.strip() == "[]"


# Models with their scale


def test_a_scaled_model_predicts_from_raw_items(tmp_path):
    scaler = StandardScaler().fit(X)
    ranker = rb.RankSVM().fit(scaler.transform(X), Y)
    model = ScaledModel(ranker, scaler.mean_, 1 / scaler.scale_, FRAME.columns, dict(target="y"))
    model.save(tmp_path / "m.rankbook")
    again = rb.load(tmp_path / "m.rankbook")
    assert np.allclose(again.predict(X), make_pipeline(scaler, ranker).predict(X), atol=1e-12)
    assert np.array_equal(again.predict(FRAME), model.predict(X))
    assert again.about == {"target": "y"} and again.columns == tuple(FRAME.columns)
    facts = file_facts(tmp_path / "m.rankbook")
    assert facts["kind"] == SCALED_KIND and facts["columns"] == list(FRAME.columns)
    json.dumps(facts, allow_nan=False)


# Files of earlier versions

STORED = Path(__file__).parents[1] / "data" / "stored"


@pytest.mark.parametrize("file", sorted(STORED.glob("*.rankbook")), ids=lambda file: file.stem)
def test_files_of_earlier_versions_are_read(file):
    said = json.loads((STORED / "answers.json").read_text())[file.name]
    again = rb.load(file)
    assert type(again).__name__ == said["class"]
    found = (
        again.predict(said["items"])
        if "lam" not in said
        else again.predict(said["items"], said["lam"])
    )
    close = functools.partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-12)
    close(found, said["scores"])
    if "probabilities" in said:
        close(again.predict_pair_proba(said["items"][:2], said["items"][2:]), said["probabilities"])
    if "pair_coef" in said:
        close(again.pair_coef_, said["pair_coef"])
    if "table" in said:
        pd.testing.assert_frame_equal(again.to_frame(), pd.DataFrame(said["table"]), rtol=1e-12)
    json.dumps(file_facts(file), allow_nan=False)


def test_there_is_a_file_of_every_class():
    said = json.loads((STORED / "answers.json").read_text())
    assert {path.name for path in STORED.glob("*.rankbook")} == set(said)
    assert {one["class"] for one in said.values()} >= set(model_classes()) | {"ScaledModel"}
    versions = {path.stem.rsplit("-", 1)[1] for path in STORED.glob("*.rankbook")}
    size = sum(path.stat().st_size for path in STORED.iterdir() if path.is_file())
    assert size < 200_000 * len(versions)


def altered_parts():
    """Files of models, and arrays of them that are changed so that they do not fit."""
    rbf, kernel, svc = "ranksvm-rbf", "ranksvm-precomputed", "online-svc"
    support, coef = "model.fitted.function_.support", "model.fitted.coef_"
    for name in (rbf, kernel):
        yield name, support, lambda a: np.r_[a[:-1], 127]
        yield name, support, lambda a: np.r_[-1, a[1:]]
        yield name, support, lambda a: a.astype(float)
        yield name, support, lambda a: np.ones(len(a), dtype=bool)
    yield svc, "model.fitted.classes_", lambda a: a[:0]
    yield svc, "model.fitted.classes_", lambda a: a[:1]
    yield svc, coef, lambda a: a[:1]
    yield svc, coef, lambda a: a[..., :1]


@pytest.mark.parametrize(("name", "array", "change"), list(altered_parts()))
def test_parts_that_would_fail_in_predict_are_refused(tmp_path, name, array, change):
    file = tmp_path / "m.rankbook"
    header, arrays = open_archive(STORED / f"{name}-0.1.0.rankbook")
    arrays[array] = change(arrays[array])
    write_archive(file, header["kind"], header["facts"], arrays)
    with pytest.raises(ValueError, match="do not fit together"):
        rb.load(file)


ANSWERS = json.loads((STORED / "answers.json").read_text())


@pytest.mark.parametrize("name", sorted(name for name in ANSWERS if "lam" not in ANSWERS[name]))
def test_a_number_that_predicts_is_finite(tmp_path, name):
    """NaN in each array in turn: the file is refused, or the model predicts what it did."""
    file, stored, items = tmp_path / "m.rankbook", STORED / name, np.array(ANSWERS[name]["items"])
    header, arrays = open_archive(stored)
    pairs = (items, items[::-1]) if "leaderboard" in name else (items,)
    answer = lambda model: [
        method(*(pairs if name == "predict_proba" else (items,)))
        for name in ("predict", "decision_function", "predict_proba")
        if (method := getattr(model, name, None)) is not None
    ]
    expected = answer(rb.load(stored))
    for part, array in arrays.items():
        if array.dtype.kind != "f" or not array.size:
            continue
        bad = np.array(array)
        bad.flat[-1] = np.nan
        write_archive(file, header["kind"], header["facts"], arrays | {part: bad})
        try:
            found = answer(rb.load(file))
        except ValueError as error:
            assert "do not fit together" in str(error), part
        else:
            assert all(map(np.array_equal, found, expected)), part


@pytest.mark.parametrize("model", ["ranksvm linear", "rankrls linear", "ranksvm frame linear"])
def test_a_file_that_says_something_else_has_the_same_json_or_none(tmp_path, model):
    file = tmp_path / "m.rankbook"
    data = (FRAME, Y) if "frame" in model else (X, Y)
    kind = rb.RankRLS if "rls" in model else rb.RankSVM
    kind(kernel="linear").fit(*data).save(file)
    expected = rb.to_json(rb.load(file))
    _, facts, arrays = read_archive(file, [KIND])
    n_refused = 0
    for place in places_of(facts["values"]["model"]["parts"], ("values", "model", "parts")):
        for value in (None, "text", [1.0, "x"]):
            bad = json.loads(json.dumps(facts))
            *path, last = place
            functools.reduce(lambda part, key: part[key], path, bad)[last] = value
            write_archive(file, KIND, bad, arrays)
            try:
                again = rb.load(file)
            except ValueError:
                n_refused += 1
                continue
            try:
                found = json.loads(rb.to_json(again))
            except (ValueError, TypeError) as error:
                assert "Pass" in str(error), (place, value)
            else:
                assert found["weights"] == json.loads(expected)["weights"], (place, value)
    assert n_refused > 50


@pytest.mark.parametrize("version", [0, -1, True, 1.0, None])
def test_a_version_is_a_number_from_1_up(tmp_path, stored, version):
    file = tmp_path / "m.rankbook"
    file.write_bytes(stored[1])
    _, facts, arrays = read_archive(file, [KIND])
    write_archive(file, KIND, facts, arrays, version)
    with pytest.raises(ValueError, match="header is not the header of"):
        rb.load(file)
