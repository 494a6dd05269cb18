"""From data to a chosen model.

Parts that share nothing, a choice that brute force confirms, errors before work.
"""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import rankbook as registry
from rankbook.app.select import kernels_to_try, select_model
from rankbook.data.blocks import Block, Blocks
from rankbook.data.datasets import load, load_mq2008, make_mixture
from rankbook.data.split import prepare, scaling, split
from rankbook.data.table import Dataset
from rankbook.metrics.pairs import disagreement
from rankbook.preferences.graph import Preferences
from rankbook.problems.certificate import Solution
from rankbook.problems.ranksvm import RankSVMProblem
from rankbook.selection.curve import ValidationCurve

PARTS = ("train", "validation", "test")


def random_data(seed, n=60, d=3, levels=3, queries=None, parts=None):
    rng = np.random.default_rng(seed)
    qid = None if queries is None else rng.integers(0, queries, n)
    X = rng.normal(size=(n, d))
    y = (
        np.round(X @ rng.normal(size=d) + 0.3 * rng.normal(size=n), 1)
        if levels is None
        else rng.integers(0, levels, n)
    )
    return Dataset(X, y, qid=qid, parts=parts)


@pytest.fixture(scope="module")
def larger_mixture():
    return make_mixture(n_per_class=60, seed=1)


class TestSplit:
    @pytest.mark.parametrize("seed", range(20))
    def test_queries_stay_whole_and_shares_are_kept(self, seed):
        data = random_data(seed, n=300, queries=3 + seed)
        part, _ = split(data, seed)
        ids = np.unique(data.qid)
        of_query = {q: set(part[data.qid == q]) for q in ids}
        assert all(len(parts) == 1 for parts in of_query.values())
        counts = [sum(parts == {name} for parts in of_query.values()) for name in PARTS]
        assert sum(counts) == ids.size
        assert abs(counts[0] - ids.size / 2) <= 1 and all(
            abs(count - ids.size / 4) <= 1 for count in counts[1:]
        )

    @pytest.mark.parametrize("n", [4, 5, 6, 7, 8, 101, 400])
    @pytest.mark.parametrize("levels", [2, 5, None])
    def test_every_stretch_of_y_is_shared_out(self, n, levels):
        data = random_data(n, n=n, levels=levels)
        part, _ = split(data)
        assert set(part) == set(PARTS)
        for threshold in np.unique(
            data.y
        ):  # as many of the best items as of all, up to the ends of a block
            above = data.y >= threshold
            for name, share in zip(PARTS, (0.5, 0.25, 0.25)):
                assert abs(np.sum(part[above] == name) - share * above.sum()) <= 2

    def test_levels_of_four_reach_every_part_from_the_top(self):
        part, _ = split(Dataset(np.arange(40.0)[:, None], np.arange(40) >= 36))
        assert {name: int(np.sum(part[36:] == name)) for name in PARTS} == dict(
            train=2, validation=1, test=1
        )

    def test_the_order_of_rows_does_not_decide(self):
        data = Dataset(np.arange(400.0)[:, None], np.zeros(400))
        part, _ = split(data)
        halves = [np.sum(part[half] == "test") for half in (slice(0, 200), slice(200, 400))]
        assert 30 < min(halves) and max(halves) < 70

    def test_own_parts_are_kept(self):
        parts = np.array(["test", "train", "validation", "train"] * 10)
        part, how = split(random_data(0, n=40, parts=parts), seed=5)
        assert np.array_equal(part, parts) and how == "the data's own parts"

    @pytest.mark.parametrize("missing", PARTS[1:])
    def test_a_missing_part_comes_out_of_train(self, missing):
        given = next(name for name in PARTS[1:] if name != missing)
        parts = np.repeat(["train", given], [30, 10])
        part, how = split(random_data(0, n=40, parts=parts))
        assert np.array_equal(part == given, parts == given)
        assert np.sum(part == missing) == 10 and np.sum(part == "train") == 20 and missing in how

    def test_a_missing_part_comes_out_of_train_by_query(self):
        data = random_data(1, n=200, queries=40)
        part, _ = split(replace(data, parts=np.where(data.qid < 10, "test", "train")))
        assert np.array_equal(part == "test", data.qid < 10)
        assert all(np.unique(part[data.qid == q]).size == 1 for q in range(40))

    @pytest.mark.parametrize("queries", [None, 60])
    @pytest.mark.parametrize("seed", range(5))
    def test_groups_stay_whole(self, queries, seed):
        data = random_data(seed, n=300, queries=queries)
        groups = np.random.default_rng(seed).integers(0, 20, 300)
        groups = np.array([f"user {g}" for g in (groups if queries is None else data.qid // 3)])
        part, how = split(replace(data, groups=groups), seed)
        owners = [set(groups[part == name]) for name in PARTS]
        assert how == f"by group, seed {seed}" and [len(one) for one in owners] == [10, 5, 5]
        assert not (owners[0] & owners[1] or owners[0] & owners[2] or owners[1] & owners[2])
        if queries is not None:
            assert all(np.unique(part[data.qid == q]).size == 1 for q in set(data.qid))

    def test_groups_stay_whole_beside_parts_of_their_own(self):
        data = random_data(1, n=200)
        groups = np.repeat(np.arange(20), 10)
        data = replace(data, groups=groups, parts=np.where(groups < 5, "test", "train"))
        part, how = split(data)
        assert np.array_equal(part == "test", groups < 5) and how.endswith("by group, seed 0")
        assert all(np.unique(part[groups == g]).size == 1 for g in range(20))
        assert np.unique(groups[part == "validation"]).size == 5

    def test_groups_that_would_be_torn(self):
        data = random_data(1, n=200, queries=40)
        groups = data.qid % 7
        groups[9] = 8
        with pytest.raises(ValueError, match="groups .* of one query. Pass") as error:
            split(replace(data, groups=groups))
        rows = [int(row) for row in re.search(r"rows (\d+) and (\d+)", str(error.value)).groups()]
        assert 9 in rows and data.qid[rows[0]] == data.qid[rows[1]] and rows == sorted(rows)
        parts = np.where(np.arange(200) == 3, "test", "train")
        with pytest.raises(ValueError, match="groups .* different parts. Pass"):
            split(replace(data, qid=None, groups=groups, parts=parts))
        with pytest.raises(ValueError, match="data has 2 groups to split into 3 parts"):
            split(replace(data, groups=data.qid % 2))

    def test_seeds(self):
        data = random_data(0)
        assert np.array_equal(split(data, 3)[0], split(data, 3)[0]) and not np.array_equal(
            split(data, 3)[0], split(data, 4)[0]
        )

    @pytest.mark.parametrize(
        "data, seed, says",
        [
            (random_data(0), -1, "seed is -1"),
            (random_data(0), 1.0, "seed is 1.0"),
            (random_data(0), True, "seed is True"),
            (random_data(0, queries=2), 0, "2 queries to split into 3 parts"),
            (
                random_data(0, n=4, parts=["validation", "validation", "test", "test"]),
                0,
                "no training part, only test and validation",
            ),
            (random_data(0, n=4, parts=["test"] * 4), 0, "no training part, only test"),
        ],
    )
    def test_refused(self, data, seed, says):
        with pytest.raises(ValueError, match=says):
            split(data, seed)


class TestScaling:
    def test_constant_columns_become_zero_also_where_they_vary_later(self):
        data = random_data(0, n=80)
        X = data.X.copy()
        train = split(data)[0] == "train"
        X[train, 1] = 0.1
        parts, _, _, factor = prepare(replace(data, X=X))
        assert factor[1] == 0 and all((part.X[:, 1] == 0).all() for part in parts.values())
        assert np.allclose(parts["train"].X.std(axis=0), [1, 0, 1]) and np.allclose(
            parts["train"].X.mean(axis=0), 0
        )

    def test_only_training_items_count(self):
        data = random_data(0, n=80)
        X = data.X.copy()
        X[split(data)[0] != "train"] += 1e6
        assert np.array_equal(
            prepare(replace(data, X=X))[0]["train"].X, prepare(data)[0]["train"].X
        )

    def test_units_do_not_matter(self):
        data = random_data(0, n=80)
        scaled = prepare(replace(data, X=data.X * [1024.0, 2.0**-30, 1]))[0]["test"].X
        assert np.array_equal(scaled, prepare(data)[0]["test"].X)

    def test_raw_features_on_request(self):
        data = random_data(0)
        parts = prepare(data, standardize=False)[0]
        assert np.array_equal(parts["test"].X, data.X[parts["test"].rows])

    def test_blocks_are_scaled_as_the_whole(self):
        X, y = np.c_[np.full(50, 0.1), random_data(0, n=50).X], np.arange(50)
        blocks = Blocks(Block(X[rows], y[rows]) for rows in np.split(y, [7, 30]))
        (centre, factor), (deviation, whole) = scaling(blocks), (X.std(axis=0), scaling(X))
        assert np.allclose(centre, X.mean(axis=0), rtol=1e-13) and factor[0] == whole[1][0] == 0
        for found in (factor, whole[1]):
            assert np.allclose(found[1:], 1 / deviation[1:], rtol=1e-13)

    @pytest.mark.parametrize("column", [[1e200, -1e200], [1e-200, 2e-200], [1.7e308, 1.7e308]])
    def test_extreme_columns(self, column):
        with pytest.raises(ValueError, match="in column 1, too extreme"):
            scaling(np.c_[[0.0, 1.0], column])


class TestPrepare:
    @pytest.mark.parametrize("queries", [None, 12])
    def test_parts_hold_what_they_say(self, queries):
        data = random_data(2, n=120, queries=queries)
        parts, *_ = prepare(data, graph="star")
        assert np.array_equal(
            np.sort(np.concatenate([part.rows for part in parts.values()])), np.arange(120)
        )
        for name, part in parts.items():
            qid = None if queries is None else data.qid[part.rows]
            expected = Preferences.from_scores(
                data.y[part.rows], qid, "star" if name == "train" else "full"
            )
            assert np.array_equal(part.prefs.better, expected.better) and np.array_equal(
                part.prefs.worse, expected.worse
            )
            assert np.array_equal(part.y, data.y[part.rows]) and len(part.X) == len(part.y)

    @pytest.mark.parametrize(
        "data, says",
        [
            (
                Dataset(np.ones((9, 1)), np.ones(9)),
                r"data \(9 items\) has no preference: all y are equal\.",
            ),
            (Dataset([[1.0]], [1]), r"data \(1 item\) has no preference"),
            (
                Dataset(np.ones((6, 1)), [0, 0, 1, 1, 2, 2], qid=[0, 0, 1, 1, 2, 2]),
                "data .* all y are equal in every query",
            ),
            (Dataset(np.ones((3, 1)), [0, 1, 2]), r"the train part \(1 of 3 items\).*another seed"),
            (
                Dataset(
                    np.ones((8, 1)),
                    [0, 1, 0, 0, 0, 1, 0, 1],
                    parts=["train"] * 2 + ["validation"] * 2 + ["test"] * 4,
                ),
                r"the validation part \(2 of 8",
            ),
        ],
    )
    def test_a_part_without_preferences(self, data, says):
        with pytest.raises(ValueError, match=says):
            prepare(data)


class TestKernels:
    def test_all_parameters(self):
        assert kernels_to_try("poly", [1, 2], 2, 0.0) == [
            dict(kernel="poly", gamma=float(g), degree=2, coef0=0.0) for g in (1, 2)
        ]
        assert kernels_to_try(np.dot) == [dict(kernel=np.dot, gamma=None)]

    @pytest.mark.parametrize(
        "arguments, says",
        [
            (
                dict(kernel="precomputed"),
                "kernel is 'precomputed', but the data contain features, not kernel values. ",
            ),
            (dict(kernel="pol"), "did you mean 'poly'"),
            (
                dict(kernel="linear", degree=2),
                "degree is 2, but the kernel is linear. Pass degree only with poly",
            ),
            (dict(kernel="rbf", coef0=0.0), "coef0 is 0.0, but the kernel is rbf"),
            (dict(kernel=np.dot, gamma=1.0), "but the kernel is a callable"),
            (dict(gamma=[1.0, -1.0]), "gamma has -1.0 at index 1"),
            (dict(gamma=np.nan), "gamma has NaN"),
            (dict(gamma=[]), "gamma is empty"),
            (dict(kernel="poly", degree=0), "degree is 0"),
        ],
    )
    def test_refused(self, arguments, says):
        with pytest.raises(ValueError, match=says):
            kernels_to_try(**arguments)


class TestSelect:
    @pytest.mark.parametrize(
        "options",
        [
            dict(),
            dict(graph="star"),
            dict(kernel="linear"),
            dict(kernel="poly", degree=2),
            dict(rule="largest"),
            dict(standardize=False),
            dict(lam_min=1.0, lam_max=30.0),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("queries, levels", [(None, 2), (12, 3)])
    def test_the_choice_is_the_best_of_all_lambdas_and_certified(self, options, queries, levels):
        data = random_data(3, n=120, levels=levels, queries=queries)
        result = select_model(data, **options)
        path, validation, lam = result.best.path, result.parts["validation"], result.solution.lam
        low, high = (
            options.get("lam_min", path.breakpoints[-1]),
            options.get("lam_max", path.breakpoints[0] * 2),
        )
        assert low < lam < high or "lam_min" not in options
        lams = np.exp(np.random.default_rng(0).uniform(np.log(low), np.log(high), 200))
        wrong = [
            disagreement(validation.prefs, path.predict(validation.X, other)) for other in lams
        ]
        assert result.disagreement["validation"] == result.best.curve.minimum <= min(wrong)
        assert result.solution.certificate.is_optimal(1e-8)
        assert ["than chance" in note for note in result.notes] == [True] * (
            result.best.curve.minimum >= 0.5
        )  # labels without sense
        test = result.parts["test"]
        assert result.disagreement["test"] == disagreement(
            test.prefs, result.predict(data.X[test.rows])
        )
        assert (result.auc is None) == (levels > 2)
        json.dumps(result.summary(), allow_nan=False)

    @pytest.mark.parametrize("rule", ["widest", "largest"])
    def test_the_choice_is_in_a_best_interval_however_narrow_the_bounds(self, larger_mixture, rule):
        """Bounds that leave a few floating-point numbers on one side of a break of the curve."""
        breaks = select_model(larger_mixture, rule=rule).best.curve.breaks[1:-1]
        for low in breaks[:: max(1, breaks.size // 5)]:
            low = float(low)
            high = np.nextafter(np.nextafter(low, np.inf), np.inf)
            facts = select_model(
                larger_mixture, rule=rule, lam_min=low, lam_max=float(high)
            ).summary()
            assert any(
                start < facts["chosen"]["lam"] <= end for start, end in facts["curve"]["best"]
            )

    def test_one_standard_error_takes_the_largest_lambda_that_is_near_enough(self, larger_mixture):
        """The error by hand: leave each validation item out, and see how the disagreement moves."""
        result, default = (select_model(larger_mixture, rule=rule) for rule in ("one_se", "widest"))
        part, curve = result.parts["validation"], result.best.curve
        scores, prefs = default.solution.predict(part.X), part.prefs
        wrong = (scores[prefs.better] < scores[prefs.worse]).astype(float)
        influence = [
            np.sum((wrong - wrong.mean())[(prefs.better == i) | (prefs.worse == i)]) / len(prefs)
            for i in range(len(part.y))
        ]
        error = np.sqrt(np.square(influence).sum())
        assert result.settings["error"] == pytest.approx(error, rel=1e-12)
        lam = result.solution.lam
        assert lam > default.solution.lam and curve.at(lam) <= curve.minimum + error
        above = curve.values[: np.searchsorted(-curve.breaks[1:], -lam)]
        assert (above > curve.minimum + error).all()
        assert not any("promises" in note for note in result.notes)
        assert result.summary()["chosen"]["standard_error"] == result.settings["error"]

    def test_the_best_gamma_wins(self, larger_mixture):
        gammas = [0.03, 0.3, 3.0]
        result = select_model(larger_mixture, gamma=gammas)
        alone = [select_model(larger_mixture, gamma=gamma) for gamma in gammas]
        best = min(alone, key=lambda one: (one.best.curve.minimum, one.best.gamma))
        assert result.best.gamma == best.best.gamma and result.solution.lam == best.solution.lam
        assert [row["minimum"] for row in result.candidates] == [
            one.best.curve.minimum for one in alone
        ]

    def test_an_interval_beyond_all_breakpoints_has_a_width_of_one(self, larger_mixture):
        far = ValidationCurve(
            np.array([np.inf, 1e-9, 1e-10, 0.0]), np.array([0.5, 0.1, 0.3]), (1.0, 16.0)
        )
        assert replace(select_model(larger_mixture, graph="star").best, curve=far).width == 1

    def test_gamma_none_means_one_over_d(self, larger_mixture):
        assert (
            select_model(larger_mixture).best.gamma == 0.5
            and select_model(larger_mixture, kernel="linear").best.gamma is None
        )

    def test_lam_min_ends_the_path(self, larger_mixture):
        result = select_model(larger_mixture, lam_min=5.0)
        assert (
            result.best.path.status == "lam_min"
            and result.best.path.domain[0] == 5.0
            and result.notes == []
        )

    def test_a_range_above_the_path(self, larger_mixture):
        top = select_model(larger_mixture).best.path.breakpoints[0]
        result = select_model(larger_mixture, lam_min=2 * top, lam_max=4 * top)
        assert 2 * top < result.solution.lam < 4 * top and result.best.curve.values.size == 1
        assert len(result.notes) == 1 and "The path begins at lambda" in result.notes[0]

    def test_a_kernel_that_sees_nothing_is_said(self, larger_mixture):
        result = select_model(larger_mixture, gamma=1e9)  # every item is alike to itself alone
        assert result.best.curve.minimum == 0.5 and any(
            "better than chance" in note for note in result.notes
        )

    def test_deterministic(self, larger_mixture):
        one, two = (select_model(larger_mixture, seed=7) for _ in range(2))
        assert one.solution.lam == two.solution.lam and np.array_equal(
            one.solution.dual, two.solution.dual
        )
        assert not np.array_equal(
            one.parts["test"].rows, select_model(larger_mixture).parts["test"].rows
        )

    def test_an_interrupted_path_is_no_ground_for_a_choice(self, larger_mixture):
        class Interrupted(registry.Solver):
            name, provides = "interrupted", frozenset({"path"})

            def path(self, problem, lam_min):
                path = registry.solve_path(problem, lam_min)
                path.status = "interrupted"
                return path

        with pytest.raises(KeyboardInterrupt):
            select_model(larger_mixture, solver=Interrupted())

    @pytest.mark.parametrize(
        "options, error, says",
        [
            (dict(graph="ful"), ValueError, "did you mean 'full'"),
            (dict(rule="widst"), ValueError, "did you mean 'widest'"),
            (dict(solver="paht"), ValueError, "did you mean 'path'"),
            (dict(lam_min=0), ValueError, "lam_min is 0"),
            (dict(lam_max="1"), TypeError, "lam_max is '1'"),
            (dict(lam_min=1, lam_max=1), ValueError, "lam_min is 1 and lam_max is 1"),
        ],
    )
    def test_bad_arguments_are_refused_before_the_path(
        self, larger_mixture, monkeypatch, options, error, says
    ):
        monkeypatch.setattr(
            "rankbook.selection.search.solve_path", lambda *_: pytest.fail("a path was followed")
        )
        with pytest.raises(error, match=says):
            select_model(larger_mixture, **options)

    def test_duplicates_and_contradictions(self):
        result = select_model(self.few_points())
        validation = result.parts["validation"]
        assert result.solution.certificate.is_optimal(1e-8)
        assert result.disagreement["validation"] == disagreement(
            validation.prefs, result.solution.predict(validation.X)
        )

    def test_the_curve_knows_exact_ties(self):
        assert select_model(self.few_points()).notes == []

    @staticmethod
    def few_points():
        """Ten copies of each of eight points on a line, with contradicting labels."""
        return Dataset(
            np.repeat(np.arange(8.0), 10)[:, None], np.random.default_rng(0).integers(0, 2, 80)
        )

    def test_notes_tell_what_is_doubtful(self, larger_mixture):
        result = select_model(larger_mixture, max_events=40)
        assert "max_events" in result.notes[0] and result.summary()["notes"] == result.notes
        exact = result.solution
        rough = Solution(
            exact.problem, exact.lam, exact.coef, np.zeros(len(result.parts["train"].prefs))
        )
        assert any("not optimal" in note for note in replace(result, solution=rough).notes)


class TestFigure:
    def test_two_levels_have_a_roc_curve(self, larger_mixture):
        figure = select_model(larger_mixture, graph="star").figure()
        sets, curve, roc = figure.axes
        assert (
            sets.get_xlim() == curve.get_xlim()
            and sets.xaxis.get_inverted()
            and roc.get_xlabel() == "false positive rate"
        )

    @pytest.mark.parametrize("queries, levels", [(12, 2), (None, 3)])
    def test_queries_or_grades_have_none(self, queries, levels):
        assert (
            len(select_model(random_data(5, n=80, queries=queries, levels=levels)).figure().axes)
            == 2
        )

    def test_a_path_without_sets_is_left_out(self):
        data = random_data(5, n=80, queries=12, levels=2)
        assert len(select_model(data, loss="squared").figure().axes) == 1


def test_cancer():
    result = select_model(load("cancer"), graph="star")
    assert [len(part.y) for part in result.parts.values()] == [285, 142, 142]
    assert result.disagreement["test"] < 0.05 and np.isclose(
        result.auc, 1 - result.disagreement["test"]
    )


def test_published_parts_of_mq2008(data_dir):
    data = load_mq2008()
    parts, how, *_ = prepare(data)
    assert how == "the data's own parts"
    assert [np.unique(part.qid).size for part in parts.values()] == [471, 157, 156]
    assert [len(part.prefs) for part in parts.values()] == [52325, 14239, 14361]


def test_optdigits_gives_validation_from_train(data_dir):
    part, how = split(load("optdigits"))
    assert [int(np.sum(part == name)) for name in PARTS] == [
        2549,
        1274,
        1797,
    ] and "validation taken from train" in how


def test_result_predicts_raw_items_and_its_problem_is_standardised(larger_mixture):
    result = select_model(larger_mixture)
    problem = result.best.path.problem
    assert isinstance(problem, RankSVMProblem) and np.array_equal(
        problem.X, result.parts["train"].X
    )
    rows = result.parts["train"].rows
    assert np.allclose(
        np.diff(result.predict(larger_mixture.X[rows])),
        np.diff(problem.matvec(result.solution.coef)),
    )
    with pytest.raises(ValueError):
        result.predict(larger_mixture.X[:, :1])


class TestMethods:
    """The same job by RankRLS and by the Rayleigh coefficient."""

    @pytest.mark.parametrize("method", ["rankrls", "rayleigh"])
    @pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
    def test_no_lambda_of_a_grid_is_better(self, larger_mixture, method, kernel):
        result = select_model(larger_mixture, method=method, kernel=kernel)
        validation, path = result.parts["validation"], result.best.path
        lams = np.geomspace(*path.scale, 400)
        scores = path.predictions(validation.X, lams)
        others = [disagreement(validation.prefs, f) for f in scores]
        assert result.disagreement["validation"] == result.best.curve.minimum
        assert result.best.curve.minimum <= min(others) + 1e-12
        assert result.solution.certificate.is_optimal(1e-6)
        assert json.loads(json.dumps(result.summary(), allow_nan=False))["method"] == method

    @pytest.mark.parametrize("graph", ["full", "star"])
    def test_rankrls_learns_from_the_graph_it_is_given(self, graph):
        data = random_data(3, n=90, levels=4, queries=12)
        result = select_model(data, method="rankrls", graph=graph, kernel="linear", lam_min=1e-3)
        train, solution = result.parts["train"], result.solution
        L = np.zeros((len(train.y), len(train.y)))
        pairs = zip(train.prefs.better, train.prefs.worse)
        if graph == "full":
            i, j = np.nonzero(np.triu(train.qid[:, None] == train.qid, 1))
            pairs = zip(i, j)
        for i, j in pairs:
            L[[i, j], [i, j]] += 1
            L[i, j] -= 1
            L[j, i] -= 1
        A = train.X.T @ L @ train.X + solution.lam * np.eye(train.X.shape[1])
        assert np.allclose(solution.weights, np.linalg.solve(A, train.X.T @ L @ train.y))

    def test_each_gamma_has_a_row(self, larger_mixture):
        result = select_model(larger_mixture, method="rayleigh", gamma=[0.1, 1.0])
        assert [row["gamma"] for row in result.candidates] == [0.1, 1.0]
        assert result.best.gamma in (0.1, 1.0)
        assert select_model(larger_mixture, method="rayleigh").best.gamma == 0.5

    def test_labels_of_any_two_values(self, larger_mixture):
        other = Dataset(larger_mixture.X, np.where(larger_mixture.y > 0, 7.0, -3.0))
        one, two = (select_model(data, method="rayleigh") for data in (larger_mixture, other))
        assert np.array_equal(one.solution.coef, two.solution.coef)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (dict(method="svm"), "method is 'svm'"),
            (dict(method="rayleigh", graph="star"), "graph is 'star'"),
            (dict(method="rankrls", solver="simplex"), "simplex"),
        ],
    )
    def test_refusals(self, larger_mixture, change, words):
        with pytest.raises((ValueError, TypeError), match=words):
            select_model(larger_mixture, **change)

    def test_rayleigh_needs_two_classes_without_queries(self):
        with pytest.raises(ValueError, match="y has 3 .*. Pass two .* rankbook.RayleighRankerCV"):
            select_model(random_data(0), method="rayleigh")
        with pytest.raises(ValueError, match="data has queries"):
            select_model(random_data(0, levels=2, queries=9), method="rayleigh")
