"""Why A is above B: exact sums, and proofs that are never wrong."""

import math
import pickle
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import rankbook as rb
from rankbook.estimators.scaled import ScaledModel

RNG = np.random.default_rng(0)
N, D = 40, 4
X, NEW = RNG.normal(size=(N, D)), RNG.normal(size=(9, D))
Y = (X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * RNG.normal(size=N)).round()
HALF = np.where(np.arange(N) < 30, (Y > 0).astype(float), np.nan)
GRAM, ROWS = X @ X.T + 1.0, NEW @ X.T + 1.0


def city_block(A, B):
    return np.exp(-0.3 * np.abs(A[:, None] - B[None]).sum(axis=2))


# name: an estimator, its training data, new items, whether there is something to prove
MODELS = {
    "linear": (rb.RankSVM(kernel="linear"), (X, Y), NEW, True),
    "sparse": (rb.RankSVM(kernel="linear", solver="newton"), (csr_array(X), Y), NEW, True),
    "rbf": (rb.RankSVM(gamma=0.3), (X, Y), NEW, True),
    "poly": (rb.RankSVM(kernel="poly", degree=3), (X, Y), NEW, True),
    "callable": (rb.RankSVM(kernel=city_block), (X, Y), NEW, True),
    "squared": (rb.RankSVM(loss="squared"), (X, Y), NEW, True),
    "l1": (rb.RankSVM(kernel="linear", penalty="l1"), (X, Y), NEW, False),
    "precomputed": (rb.RankSVM(kernel="precomputed"), (GRAM, Y), ROWS, False),
    "projected": (rb.RankSVM(approximate_kernel=10), (X, Y), NEW, True),
    "projected precomputed": (
        rb.RankSVM(kernel="precomputed", approximate_kernel=4),
        (GRAM, Y),
        ROWS,
        True,
    ),
    "cv": (rb.RankSVMCV(cv=2, solver="epsilon"), (X, Y), NEW, True),
    "rls": (rb.RankRLS(), (X, Y), NEW, True),
    "rls linear": (rb.RankRLS(kernel="linear"), (X, Y), NEW, True),
    "rls basis": (rb.RankRLS(basis=9), (X, Y), NEW, True),
    "rls narrow": (
        rb.RankRLS(kernel="precomputed", basis=np.arange(0, N, 4)),
        (GRAM[:, ::4], Y),
        ROWS[:, ::4],
        False,
    ),
    "rls cv": (rb.RankRLSCV(lams=[0.1, 1.0], cv=2), (X, Y), NEW, True),
    "rayleigh": (rb.RayleighRanker(n_components=6), (X, HALF), NEW, True),
    "rayleigh pca": (rb.RayleighRanker(n_components=6, pivots="pca"), (X, HALF), NEW, True),
    "rayleigh linear": (
        rb.RayleighRanker(kernel="linear", n_components=None, manifold_weight=0.0),
        (X, HALF),
        NEW,
        True,
    ),
    "online": (rb.OnlineRankSVM(max_updates=3000), (X, Y), NEW, False),
    "ordinal": (rb.OrdinalRanker(), (X, Y.clip(-1, 1)), NEW, True),
}


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    model, data, new, provable = MODELS[request.param]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data), new, provable


def scores(model, new):
    return getattr(model, "ranker_", model).predict(new)


def test_terms_add_up_to_the_difference_of_the_predictions(fitted):
    model, new, provable = fitted
    predicted, proven = scores(model, new), []
    for i, j in combinations(range(len(new)), 2):
        found = rb.explain_pair(model, new[i], new[j])
        assert np.isclose(found.difference, predicted[i] - predicted[j], rtol=1e-9, atol=1e-12)
        assert math.isclose(found.difference, math.fsum(found.contributions), rel_tol=1e-12)
        assert len(found.names) == len(found.contributions)
        back = rb.explain_pair(model, new[j], new[i])
        assert np.isclose(back.difference, -found.difference) and back.proven == found.proven
        assert found.proven == (abs(found.difference) > found.bound)
        proven.append(found.proven)
    assert any(proven) == provable and (provable or found.bound == np.inf)


def test_an_item_and_itself(fitted):
    model, new, _ = fitted
    found = rb.explain_pair(model, new[0], new[0].copy())
    assert found.difference == 0 and not found.contributions.any() and not found.proven
    assert "a and b are equal, not proven" in str(found)


def test_tables(fitted):
    model, new, _ = fitted
    found = rb.explain_pair(model, new[0], new[1])
    for k in (None, 1, 3, 1000):
        rows = found.rows(k)
        assert np.isclose(math.fsum(value for _, value in rows), found.difference)
        assert k is None or len(rows) <= k + 1
    assert str(found).endswith(found.verdict) and "<table>" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)).verdict == found.verdict


@pytest.mark.parametrize("name", ["linear", "rbf", "poly", "projected", "rls", "rls basis"])
def test_brute_force(name):
    model, data, new, _ = MODELS[name]
    model.fit(*data)
    a, b = new[2], new[5]
    found = rb.explain_pair(model, a, b, by="features" if name == "linear" else "items")
    f = model.function_
    if name == "linear":
        expected = [w * (s - t) for w, s, t in zip(model.coef_, a, b)]
        distance = math.dist(a, b)
    else:
        kernel = rb.kernels.Kernel(model.kernel, model.gamma, model.degree, model.coef0)
        k = lambda x, z: kernel.cross(x[None], z[None])[0, 0]
        at, beta = (
            (f.subspace.landmarks, f.subspace.expansion(f.weights))
            if name == "projected"
            else (f.items, f.coef)
        )
        expected = [c * (k(a, x) - k(b, x)) for c, x in zip(beta, at)]
        distance = math.sqrt(k(a, a) - 2 * k(a, b) + k(b, b))
        if name == "projected":
            distance = np.linalg.norm(np.subtract(*f.subspace.transform(np.stack([a, b]))))
    assert np.allclose(found.contributions, expected, rtol=1e-9, atol=1e-12)
    assert np.isclose(found.distance, distance)
    assert np.isclose(found.radius, model.certificate_.radius)


def reset_by_hand(predict, a, b):
    """What resetting each feature changes, by predictions of items that are put together."""
    terms = []
    for j in range(a.size):
        lowered, raised = a.copy(), b.copy()
        lowered[j], raised[j] = b[j], a[j]
        at = predict(np.stack([a, lowered, raised, b]))
        terms.append((at[0] - at[1] + at[2] - at[3]) / 2)
    return terms


@pytest.mark.parametrize("name", ["linear", "rbf", "poly", "projected", "rls", "rls basis"])
def test_features_are_reset_one_after_the_other(name):
    model, data, new, _ = MODELS[name]
    model.fit(*data)
    a, b = new[2], new[5].copy()
    found = rb.explain_pair(model, a, b)
    expected = reset_by_hand(model.predict, a, b)
    assert found.by == "features" and found.names[:D] == tuple(f"x{j}" for j in range(D))
    assert np.allclose(found.contributions[:D], expected, rtol=1e-8, atol=1e-9)
    assert math.fsum(found.contributions) == pytest.approx(np.subtract(*model.predict([a, b])))
    if name != "linear":
        assert found.names[D:] == ("three or more features together",)
        back = rb.explain_pair(model, b, a)
        assert np.allclose(back.contributions, -found.contributions, atol=1e-10)
        b[2:] = a[2:]  # two features differ, and nothing is left over
        two = rb.explain_pair(model, a, b)
        assert len(two.names) == D and not two.contributions[2:].any()
        assert math.fsum(two.contributions) == pytest.approx(two.difference, abs=1e-10)


def test_pairs_of_features_share_what_they_do_together():
    model = rb.RankSVM(lam=1.0, kernel="poly", degree=2).fit(X, Y)
    found = rb.explain_pair(model, NEW[0], NEW[1])
    assert abs(found.contributions[-1]) < 1e-10 * np.abs(found.contributions).max()
    callable_ = rb.RankSVM(lam=1.0, kernel=lambda A, B: (A @ B.T / D + 1.0) ** 2).fit(X, Y)
    again = rb.explain_pair(callable_, NEW[0], NEW[1])
    assert np.allclose(again.contributions, found.contributions, atol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "precomputed"])
@pytest.mark.parametrize("solver", ["qp", "interior"])
def test_preferences_explain_too(kernel, solver):
    items = GRAM if kernel == "precomputed" else X
    new = ROWS if kernel == "precomputed" else NEW
    prefs = rb.Preferences.from_scores(Y)
    problem = rb.RankSVMProblem(items, prefs, kernel)
    solution = rb.solve(problem, 3.0, solver)
    found = rb.explain_pair(solution, new[0], new[1], by="preferences")
    assert np.isclose(found.difference, np.subtract(*solution.predict(new[:2])))
    assert math.isclose(math.fsum(found.contributions), found.difference, rel_tol=1e-9)
    single = lambda i: rb.explain_pair(
        rb.Solution(problem, 3.0, dual=np.eye(len(prefs))[i] * solution.dual[i]), new[0], new[1]
    )
    used = np.flatnonzero(solution.dual)
    for place, i in list(enumerate(used))[:5]:
        assert found.names[place] == f"item {prefs.better[i]} > item {prefs.worse[i]}"
        assert np.isclose(found.contributions[place], single(i).difference)


def test_what_multipliers_leave_open_is_a_term():
    prefs = rb.Preferences.from_scores(Y)
    problem = rb.RankSVMProblem(X, prefs, "rbf")
    best = rb.solve(problem, 3.0, "qp")
    loose = rb.Solution(problem, 3.0, best.coef * 1.1, best.dual)
    found = rb.explain_pair(loose, NEW[0], NEW[1], by="preferences")
    assert found.names[-1] == "what the multipliers leave open"
    assert np.isclose(math.fsum(found.contributions), np.subtract(*loose.predict(NEW[:2])))


def test_numbers_of_training_items(fitted):
    model, new, _ = fitted
    model = getattr(model, "ranker_", model)
    if not hasattr(model, "solution_"):
        with pytest.raises(ValueError, match="no solution_ with its training items"):
            rb.explain_pair(model, 0, 1)
        return
    if model.kernel == "precomputed" or len(new[0]) != D:
        return
    found, rows = rb.explain_pair(model, 3, 5), rb.explain_pair(model, X[3], X[5])
    assert np.allclose(found.contributions, rows.contributions, atol=1e-12)
    assert np.isclose(found.distance, rows.distance, equal_nan=True)
    with pytest.raises(ValueError, match=r"^b is 40. Pass a number from 0 to 39"):
        rb.explain_pair(model, 0, N)
    with pytest.raises(ValueError, match=r"^a is -1. Pass a number from 0"):
        rb.explain_pair(model, -1, 0)


def test_proofs_for_training_items_are_those_of_the_solution():
    problem = rb.RankSVMProblem(X, rb.Preferences.from_scores(Y), "rbf")
    best = rb.solve(problem, 1.0, "qp")
    loose = rb.Solution(
        problem, 1.0, best.coef + 3e-4 * np.abs(best.coef).max() * RNG.normal(size=N), best.dual
    )
    first, second = np.triu_indices(N, 1)
    proven = loose.proven(first, second)
    found = [rb.explain_pair(loose, i, j).proven for i, j in zip(first[:200], second[:200])]
    assert 20 < sum(found) < 180 and np.array_equal(found, proven[:200])


# Proofs are never wrong


def loose_solutions(problem, lam, best, rng):
    """Solutions that somebody's bad solver could have returned: coefficients and multipliers."""
    scale = np.abs(best.coef).max()
    for size in (1.0, 0.1, 0.01, 1e-3):
        yield best.coef + size * scale * rng.normal(size=best.coef.size), best.dual
        yield best.coef * (1 + size), None
        if isinstance(best.dual, np.ndarray):
            c = problem.prefs.weight
            yield None, np.clip(best.dual + size * c * rng.normal(size=c.size), 0, c)
            yield best.coef, np.clip(best.dual - size * c, 0, c)
    yield np.zeros_like(best.coef), None


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, 6))]
)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_no_proof_is_wrong(kernel, seed):
    """The optimum to twelve digits orders every pair that is proven as the loose solution does."""
    rng = np.random.default_rng(seed)
    n, lam = 25, 10.0 ** rng.uniform(-1, 1.5)
    items, y = rng.normal(size=(n, 2)), rng.integers(0, 3, n)
    prefs = rb.Preferences.from_scores(y, rng.integers(0, 2, n))
    problem = rb.RankSVMProblem(items, prefs, kernel)
    best = rb.solve(problem, lam, "qp")
    assert best.certificate.relative_gap < 1e-9
    near = items[:4] + 1e-3 * rng.normal(size=(4, 2))
    new = np.concatenate([rng.normal(size=(6, 2)), near, items[:4]])
    truth, wrong, claimed = best.predict(new), 0, 0
    for coef, dual in loose_solutions(problem, lam, best, rng):
        loose = rb.Solution(problem, lam, coef, dual)
        for i, j in combinations(range(len(new)), 2):
            found = rb.explain_pair(loose, new[i], new[j])
            margin = truth[i] - truth[j]
            same = np.sign(found.difference) == np.sign(margin)
            sure = abs(margin) > best.certificate.radius * found.distance
            wrong += not same
            claimed += found.proven
            assert not found.proven or same or not sure
            error = abs(found.difference - margin)
            assert error <= found.bound + best.certificate.radius * found.distance * 1.001
    assert wrong > 20 and claimed >= 10  # orders that differ, and proofs, there were


@pytest.mark.parametrize("seed", range(3))
def test_no_proof_of_least_squares_is_wrong(seed):
    rng = np.random.default_rng(seed)
    items, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    new, wrong, claimed = rng.normal(size=(10, 3)), 0, 0
    for options in (dict(kernel="rbf"), dict(kernel="linear"), dict(basis=np.arange(8))):
        problem = rb.RankRLSProblem(items, y, **options)
        best = rb.solve(problem, 0.5)
        truth = best.predict(new)
        for size in (1.0, 0.1, 1e-2, 1e-4):
            noise = size * np.abs(best.coef).max() * rng.normal(size=best.coef.shape)
            loose = rb.Solution(problem, 0.5, best.coef + noise)
            for i, j in combinations(range(len(new)), 2):
                found = rb.explain_pair(loose, new[i], new[j])
                same = np.sign(found.difference) == np.sign(truth[i] - truth[j])
                assert same or not found.proven
                wrong, claimed = wrong + (not same), claimed + found.proven
    assert wrong > 20 and claimed > 20


@pytest.mark.parametrize("count", [5, 15, 30])
def test_proofs_for_an_approximate_kernel_are_about_the_kernel_itself(count):
    model = rb.RankSVM(lam=20.0, gamma=0.3, approximate_kernel=count).fit(X, Y)
    said = rb.explain_pair(model, NEW[0], NEW[1])
    assert "projected problem" in said.about and said.radius == model.certificate_.radius
    model.exact_certificate_  # noqa: B018
    truth = rb.RankSVM(lam=20.0, gamma=0.3, solver="qp").fit(X, Y).predict(NEW)
    for i, j in combinations(range(len(NEW)), 2):
        found = rb.explain_pair(model, NEW[i], NEW[j])
        assert "kernel itself" in found.about
        assert found.radius == model.exact_certificate_.radius
        assert abs(found.difference - (truth[i] - truth[j])) <= found.bound + 1e-6
        assert not found.proven or np.sign(found.difference) == np.sign(truth[i] - truth[j])
    assert count < 30 or found.bound < 3


def test_items_a_hair_apart():
    for kernel in ("linear", "rbf", "poly"):
        model = rb.RankSVM(lam=10.0, kernel=kernel).fit(X, Y)
        far = rb.explain_pair(model, NEW[0] + 1e-4 * (NEW[1] - NEW[0]), NEW[0])
        near = rb.explain_pair(model, NEW[0] + 1e-11 * (NEW[1] - NEW[0]), NEW[0])
        assert near.proven and far.proven
        assert np.isclose(near.difference / far.difference, 1e-7, rtol=1e-3)
        assert np.isclose(near.distance / far.distance, 1e-7, rtol=1e-3)


# Names, scales and files


def test_names_of_features_and_tables():
    frame = pd.DataFrame(X, columns=["age", "size", "price", "rooms"])
    model = rb.RankSVM(kernel="linear").fit(frame, Y)
    by_row = rb.explain_pair(model, frame.iloc[0], frame.iloc[[1]])
    assert by_row.names == ("age", "size", "price", "rooms")
    assert np.array_equal(by_row.contributions, rb.explain_pair(model, X[0], X[1]).contributions)
    with pytest.raises(ValueError, match=r"^b has the features \['size', 'age'"):
        rb.explain_pair(model, frame.iloc[0], frame.iloc[1][["size", "age", "price", "rooms"]])
    scaler = StandardScaler().fit(X)
    inner = rb.RankSVM(kernel="linear").fit(scaler.transform(X), Y)
    scaled = ScaledModel(inner, scaler.mean_, 1 / scaler.scale_, frame.columns)
    found = rb.explain_pair(scaled, frame.iloc[0], frame.iloc[1])
    assert found.names == by_row.names and found.proven
    assert np.isclose(found.difference, np.subtract(*scaled.predict(X[:2])))


FLATS = pd.DataFrame(
    {"size": 50 + 20 * X[:, 0], "age": np.where(X[:, 1] > 1, np.nan, X[:, 1]), "rooms": 2},
    index=[f"Elm St {i}" for i in range(N)],
).assign(district=np.where(X[:, 2] > 0, "hill", "harbour"))


def flat_pipeline(**options):
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["district"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), ["size", "age", "rooms"]),
        verbose_feature_names_out=False,
    )
    return make_pipeline(encode, rb.RankSVM(**options))


@pytest.mark.parametrize("pandas", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_pipeline_is_explained_by_names(kernel, pandas):
    model = flat_pipeline(kernel=kernel, lam=2.0)
    if pandas:
        model.set_output(transform="pandas")
    model.fit(FLATS, Y)
    names = ("district_harbour", "district_hill", "size", "age", "rooms")
    predicted = dict(zip(FLATS.index, model.predict(FLATS)))
    one, two = "Elm St 3", "Elm St 7"
    rows = rb.explain_pair(model, FLATS.loc[one], FLATS.loc[[two]])
    assert rows.items == (one, two) and rows.names[:5] == names
    assert rows.difference == pytest.approx(predicted[one] - predicted[two], abs=1e-10)
    inner = model[:-1].transform(FLATS)
    a, b = np.asarray(inner)[[3, 7]]
    expected = reset_by_hand(lambda Z: Z @ model[-1].coef_, a, b) if kernel == "linear" else None
    if kernel == "linear":
        assert np.allclose(rows.contributions, expected, atol=1e-10)
    assert f"{one} is " in rows.verdict and two in str(rows)
    search = GridSearchCV(model, {"ranksvm__lam": [2.0]}, cv=2).fit(FLATS, Y)
    found = rb.explain_pair(search, FLATS.loc[one], FLATS.loc[two])
    assert np.allclose(found.contributions, rows.contributions, atol=1e-10)
    numbers = rb.explain_pair(model, 3, 7)
    assert np.allclose(numbers.contributions, rows.contributions, atol=1e-10)
    if pandas:
        by_name = rb.explain_pair(model, one, two)
        assert by_name.items == numbers.items == (one, two)
        assert np.allclose(by_name.contributions, rows.contributions, atol=1e-10)
        ax = rb.plots.plot_pair(by_name)
        assert ax.get_title().startswith(f"{one} is ") and two in ax.get_title()
        assert set(names) >= {
            text.get_text().replace("\\", "") for text in ax.get_yticklabels()[:3]
        }
        if kernel == "rbf":
            by_items = rb.explain_pair(model, one, two, by="items")
            assert set(by_items.names) <= set(FLATS.index)
            by_prefs = rb.explain_pair(model, one, two, by="preferences")
            assert all(" > " in name or "open" in name for name in by_prefs.names)
            assert by_prefs.names[0].startswith("Elm St ")
            assert by_items.difference == pytest.approx(by_prefs.difference)
    else:
        with pytest.raises(ValueError, match="a is 'Elm St 3'. Pass the name of a training item"):
            rb.explain_pair(model, one, two)


def test_names_of_items_of_preferences():
    names = [f"n{i}" for i in range(N)]
    pairs = [(names[i], names[j]) for i in range(N) for j in range(N) if Y[i] > Y[j]]
    prefs = rb.Preferences.from_pairs(pairs, items=names)
    model = rb.RankRLS(gamma=0.2).fit(pd.DataFrame(X, names), preferences=prefs)
    assert set(rb.explain_pair(model, "n1", "n2", by="items").names) <= set(names)
    solution = rb.solve(rb.RankSVMProblem(X, prefs), 1.0)
    assert set(rb.explain_pair(solution, "n1", "n2", by="items").names) <= set(names)
    model.fit(X, Y)  # an earlier fit's names are gone
    assert rb.explain_pair(model, 1, 2, by="items").names[0].startswith("item ")
    assert not hasattr(pickle.loads(pickle.dumps(model)), "item_names_")


def test_a_model_from_a_file_proves_the_same(tmp_path):
    for options in (dict(kernel="linear"), dict(gamma=0.3), dict(approximate_kernel=9)):
        model = rb.RankSVM(**options).fit(X, Y)
        model.save(tmp_path / "m.rankbook")
        again = rb.load(tmp_path / "m.rankbook")
        one, other = (rb.explain_pair(m, NEW[0], NEW[1]) for m in (model, again))
        assert str(one) == str(other) and np.array_equal(one.contributions, other.contributions)
        with pytest.raises(ValueError, match="no solution_"):
            rb.explain_pair(again, NEW[0], NEW[1], by="preferences")


def test_what_cannot_be_explained():
    linear = rb.RankSVM(kernel="linear").fit(X, Y)
    several = rb.RankRLS().fit(X, np.c_[Y, -Y])
    labels = rb.LabelRanker().fit(X, np.c_[Y, -Y])
    newton = rb.RankSVM(kernel="linear", solver="newton").fit(X, Y)
    pipeline = make_pipeline(linear, StandardScaler())
    whole = make_pipeline(StandardScaler(), rb.RankSVM(kernel="linear")).fit(X, Y)
    svm = rb.solve(rb.SVMProblem(X, (Y > 0).astype(int)), 1.0, "qp")
    a, b = NEW[:2]
    for call, kind, said in (
        (lambda: rb.explain_pair(several, a, b), ValueError, "gives each item 2 scores"),
        (lambda: rb.explain_pair(labels, a, b), ValueError, "gives each item 2 scores"),
        (
            lambda: rb.explain_pair(pipeline, a, b),
            TypeError,
            "ends in a StandardScaler. .* a ranker",
        ),
        (lambda: rb.explain_pair(linear, "Elm", b), ValueError, "^a is 'Elm'. Pass the name of"),
        (lambda: rb.explain_pair(whole, NEW[:2], b), ValueError, "^a has 2 rows. Pass one"),
        (lambda: rb.explain_pair(svm, a, b), TypeError, "problem on labels"),
        (lambda: rb.explain_pair(rb.RankSVM(), a, b), ValueError, "not fitted"),
        (lambda: rb.explain_pair(linear, a, b[:3]), ValueError, "a has 4 features and b has 3"),
        (
            lambda: rb.explain_pair(linear, a[:3], b[:3]),
            ValueError,
            "a has 3 features. Pass 4 features, as in",
        ),
        (lambda: rb.explain_pair(linear, [*a[:3], np.nan], b), ValueError, "^a has NaN"),
        (lambda: rb.explain_pair(linear, a, NEW), ValueError, "^b has 9 rows. Pass one item"),
        (
            lambda: rb.explain_pair(linear, a, b, by="items"),
            ValueError,
            "^by is 'items'. Pass one of",
        ),
        (lambda: rb.explain_pair(linear, a, "b"), (TypeError, ValueError), "^b "),
        (lambda: rb.explain_pair(newton, a, b, "preferences"), ValueError, "no multipliers"),
        (
            lambda: rb.explain_pair(several.fit(X, Y), a, b, by="preferences"),
            ValueError,
            "no solution_ of a ranking SVM",
        ),
    ):
        with pytest.raises(kind, match=said):
            call()


def test_the_picture():
    import matplotlib.pyplot as plt

    model = rb.RankSVM(gamma=0.3).fit(X, Y)
    found = rb.explain_pair(model, NEW[0], NEW[1])
    ax = plt.subplots()[1]
    assert rb.plots.plot_pair(found, ax, k=4) is ax
    widths = [bar.get_width() for bar in ax.patches[:6]]
    assert np.isclose(sum(widths[:5]), found.difference) and widths[5] == found.difference
    assert [text.get_text() for text in ax.get_yticklabels()][-1] == "f(a) - f(b)"
    plt.close("all")
