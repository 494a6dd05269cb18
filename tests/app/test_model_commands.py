"""From a file to a model, from a model to scores, and what they are worth: as in Python."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import done, refused, run
from sklearn.metrics import roc_auc_score

import rankbook as rb
from rankbook.app.select import select_model
from rankbook.data.split import scaling
from rankbook.data.table import Dataset, read_table
from rankbook.data.writers import write_dataset

pytestmark = pytest.mark.usefixtures("workplace")


def documents(seed, n=90, levels=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1, 10, 0.1, 1]
    y = np.digitize(X @ [1, 0.1, 10, 0] + rng.normal(size=n), np.linspace(-1, 1, levels - 1))
    names = [f"feature {j}" for j in range(1, 5)]
    return Dataset(X, y, qid=rng.integers(0, 9, n), feature_names=names)


@pytest.fixture
def letor():
    for seed, name in enumerate(("train", "test")):
        write_dataset(documents(seed), f"{name}.letor")
    return read_table("train.letor"), read_table("test.letor")


class TestNumbersOfPython:
    @pytest.mark.parametrize(
        "options, model",
        [
            (["--kernel", "linear"], rb.RankSVM(kernel="linear")),
            (["--lam", "3"], rb.RankSVM(lam=3.0)),
            (["--kernel", "poly", "--degree", "2"], rb.RankSVM(kernel="poly", degree=2)),
            (["--loss", "squared", "--gamma", "0.3"], rb.RankSVM(loss="squared", gamma=0.3)),
            (
                ["--penalty", "l1", "--kernel", "linear"],
                rb.RankSVM(penalty="l1", kernel="linear"),
            ),
            (
                ["--kernel", "linear", "--sign", "feature 1=-1", "--sign", "feature 4=+1"],
                rb.RankSVM(kernel="linear", signs=[-1, 0, 0, 1]),
            ),
            (
                "--penalty l1 --kernel linear --loss squared --lam 40".split()
                + ["--penalty-factor", "feature 1=9", "--penalty-factor", "feature 4=0"],
                rb.RankSVM(
                    40.0, "linear", penalty="l1", loss="squared", penalty_factor=[9, 1, 1, 0]
                ),
            ),
            (["--method", "rankrls", "--lam", "0.5"], rb.RankRLS(lam=0.5)),
            (["--method", "rankrls", "--query-weight", "equal"], rb.RankRLS(query_weight="equal")),
            (
                ["--query-weight", "equal", "--kernel", "linear", "--lam", "0.01"],
                rb.RankSVM(query_weight="equal", kernel="linear", lam=0.01),
            ),
        ],
    )
    @pytest.mark.parametrize("scaled", [True, False])
    def test_a_fit_and_its_predictions(self, letor, options, model, scaled):
        train, test = letor
        flag = "--standardize" if scaled else "--no-standardize"
        done("fit", "train.letor", *options, flag, "-o", "m.rankbook")
        done("predict", "m.rankbook", "test.letor", "-o", "scores.csv")
        centre, factor = scaling(train.X) if scaled else (0.0, 1.0)
        model.fit((train.X - centre) * factor, train.y, train.qid)
        expected = model.predict((test.X - centre) * factor)
        found = pd.read_csv("scores.csv")
        assert np.allclose(found["score"], expected, rtol=1e-12, atol=1e-14)
        assert found["row"].tolist() == list(range(90)) and found["qid"].tolist() == [*test.qid]

    def test_c_is_that_of_svm_rank(self, letor):
        train, _ = letor
        said = json.loads(
            done("fit", "train.letor", "--kernel", "linear", "-c", "3", "-o", "m", "--json")
        )
        assert said["lam"] == np.unique(train.qid).size / 3
        one = Dataset(train.X, train.y, feature_names=train.feature_names)
        write_dataset(one, "one.svm")
        said = json.loads(done("fit", "one.svm", "--c", "3", "-o", "m", "--json"))
        assert said["lam"] == 1 / 3

    @pytest.mark.parametrize("method", ["ranksvm", "rankrls", "rayleigh"])
    @pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
    def test_what_select_saves_predicts_as_it_does(self, method, kernel):
        data = documents(3, levels=2)
        plain = Dataset(data.X, data.y, feature_names=data.feature_names)
        write_dataset(plain, "two.csv")
        options = ["--method", method, "--kernel", kernel, "--qid", "none"]
        done("select", "two.csv", "--target", "target", *options, "--save", "m.rankbook")
        found = select_model(read_table("two.csv", "target"), method=method, kernel=kernel)
        done("predict", "m.rankbook", "two.csv", "-o", "s.csv")
        assert np.allclose(
            pd.read_csv("s.csv")["score"], found.predict(data.X), rtol=1e-10, atol=1e-12
        )
        facts = json.loads(done("info", "m.rankbook", "--json"))
        assert facts["about"]["method"] == method and facts["about"]["rule"] == "widest"

    def test_what_select_saves_knows_its_target_and_queries(self):
        write_dataset(documents(3), "all.csv")
        by = ["--target", "target", "--qid", "qid"]
        done("select", "all.csv", *by, "--kernel", "linear", "--save", "m.rankbook")
        about = json.loads(done("info", "m.rankbook", "--json"))["about"]
        assert about["target"] == "target" and about["qid"] == "qid"
        table, scores = read_table("all.csv", "target", "qid"), rb.load("m.rankbook")
        said = json.loads(done("evaluate", "m.rankbook", "all.csv", "--json"))["metrics"]
        assert said["disagreement"] == rb.disagreement(table.y, scores.predict(table.X), table.qid)

    @pytest.mark.parametrize("method", ["ranksvm", "rankrls"])
    def test_a_fit_says_which_lambda_it_took_and_why(self, letor, method):
        call = "fit", "train.letor", "--method", method, "-o", "m.rankbook"
        said = done(*call)
        lam = rb.load("m.rankbook").model.lam_
        assert f", lambda {lam:.6g}, the default for the scale of these data\n" in said
        assert ", lambda 2\n" in done(*call, "--lam", "2")

    def test_evaluation(self, letor):
        _, test = letor
        done("fit", "train.letor", "--kernel", "linear", "-o", "m.rankbook")
        scores = rb.load("m.rankbook").predict(test.X)
        said = json.loads(done("evaluate", "m.rankbook", "test.letor", "--json"))
        known = test.y, scores, test.qid
        assert said["metrics"]["disagreement"] == rb.disagreement(*known)
        assert said["metrics"]["ndcg@10"] == pytest.approx(rb.metrics.ndcg(*known, k=10), rel=1e-14)
        rows = [list(row.values()) for row in said["level_auc"]]
        assert [row[:2] for row in rows] == [[2, 1], [2, 0], [1, 0]]
        for better, worse, auc in rows:
            aucs = []
            for query in np.unique(test.qid):
                own = (test.qid == query) & np.isin(test.y, (better, worse))
                if np.unique(test.y[own]).size == 2:
                    aucs.append(roc_auc_score(test.y[own] == better, scores[own]))
            assert auc == pytest.approx(np.mean(aucs), rel=1e-12)
        rows = pd.DataFrame(
            json.loads(
                done(
                    "evaluate",
                    "m.rankbook",
                    "test.letor",
                    "--by-query",
                    "--metric",
                    "ndcg@3",
                    "--json",
                )
            )
        )
        ids, values = rb.metrics.by_query("ndcg@3", *known)
        assert rows["qid"].tolist() == ids.tolist()
        assert np.allclose(rows["ndcg@3"].astype(float), values, equal_nan=True)


class TestPreferencesInAFile:
    ITEMS = pd.DataFrame(
        dict(item=["tea", "milk", "beer", "wine"], a=[1.0, 0, 0, 2], b=[0, 1.0, 0, 1])
    )

    def fitted(self, *options):
        """The model of items.csv with preferences, as a function of rows."""
        self.ITEMS.to_csv("items.csv", index=False)
        done("fit", "items.csv", "--name", "item", "--kernel", "linear", *options, "-o", "m")
        return rb.load("m").predict(self.ITEMS[["a", "b"]].to_numpy())

    def by_hand(self, prefs):
        X = self.ITEMS[["a", "b"]].to_numpy()
        centre, factor = scaling(X)
        X = (X - centre) * factor
        return rb.RankSVM(kernel="linear").fit(X, preferences=prefs).predict(X)

    def test_clicks(self):
        log = pd.DataFrame(
            dict(
                s=[1, 1, 1, 2, 2],
                item=["tea", "beer", "milk", "wine", "beer"],
                rank=[1, 2, 3, 1, 2],
                click=[0, 0, 1, 0, 1],
            )
        )
        log.to_csv("clicks.csv", index=False)
        options = ["--preferences", "clicks.csv", "--form", "clicks", "--column", "session=s"]
        prefs = rb.Preferences([1, 1, 2], [0, 2, 3], 4)
        assert np.allclose(self.fitted(*options), self.by_hand(prefs), atol=1e-6)

    def test_matches_with_goals_and_ties(self):
        games = pd.DataFrame(
            dict(
                home=["tea", "beer", "tea"],
                away=["milk", "wine", "wine"],
                hg=[2, 0, 1],
                ag=[0, 1, 1],
            )
        )
        games.to_csv("games.csv", index=False)
        options = ["--preferences", "games.csv", "--form", "matches", "--column", "result=hg,ag"]
        prefs = rb.Preferences([0, 3], [1, 2], 4)
        assert np.allclose(self.fitted(*options, "--ties", "drop"), self.by_hand(prefs), atol=1e-6)
        self.ITEMS.to_csv("items.csv", index=False)
        said = refused("fit", "items.csv", "--name", "item", *options, "-o", "other")
        assert "tie" in said and not Path("other").exists()

    def test_rankings(self):
        places = pd.DataFrame(
            dict(
                who=["Ada", "Bob", "Ada", "Ada", "Bob"],
                item=["milk", "wine", "beer", "tea", "milk"],
                rank=[2, 1, 2, 1, 3],
            )
        )
        places.to_csv("places.csv", index=False)
        options = ["--preferences", "places.csv", "--form", "rankings", "--column", "ranking=who"]
        prefs = rb.Preferences([0, 0, 3], [1, 2, 1], 4)
        assert np.allclose(self.fitted(*options), self.by_hand(prefs), atol=1e-6)
        given = ["fit", "items.csv", "--name", "item", *options]
        assert "--ties is 'half'. Omit --ties for rankings" in refused(
            *given, "--ties", "half", "-o", "other"
        )
        places.assign(rank=[2, 1, 2, "1st", 3]).to_csv("places.csv", index=False)
        assert "rank cannot be read as numbers" in refused(*given, "-o", "other")
        places.assign(item="tea").to_csv("places.csv", index=False)
        said = refused(*given, "-o", "other")
        assert "'tea' in rows 0 and 2 of ranking 'Ada'" in said and not Path("other").exists()

    def test_rows_where_items_have_no_names(self):
        self.ITEMS.drop(columns="item").to_csv("rows.csv", index=False)
        pd.DataFrame(dict(winner=[1, 2], loser=[0, 3])).to_csv("pairs.csv", index=False)
        done("fit", "rows.csv", "--preferences", "pairs.csv", "--kernel", "linear", "-o", "m")
        found = rb.load("m").predict(self.ITEMS[["a", "b"]].to_numpy())
        assert np.allclose(found, self.by_hand(rb.Preferences([1, 2], [0, 3], 4)), atol=1e-6)

    def test_names_where_items_have_no_names(self):
        self.ITEMS.drop(columns="item").to_csv("rows.csv", index=False)
        pd.DataFrame(dict(winner=["tea"], loser=["milk"])).to_csv("pairs.csv", index=False)
        said = refused("fit", "rows.csv", "--preferences", "pairs.csv", "-o", "m")
        assert "pairs.csv: winner is 'tea' in row 0, which is not among" in said
        assert "--name COLUMN" in said

    def test_two_columns_are_two_options(self):
        pd.DataFrame(dict(won=["tea"], lost=["milk"])).to_csv("pairs.csv", index=False)
        self.ITEMS.to_csv("items.csv", index=False)
        given = "fit", "items.csv", "--name", "item", "--preferences", "pairs.csv", "-o", "m"
        said = refused(*given, "--column", "winner=won,loser=lost")
        assert "--column is 'winner=won,loser=lost'. Pass one ARGUMENT=COLUMN" in said
        said = refused(*given, "--column", "won=winner")
        assert "--column takes ARGUMENT=COLUMN, the argument first" in said
        said = refused(*given, "--winner", "won")
        assert "pairs.csv has the columns won, lost, which fit no form" in said

    def test_columns_of_pairs_have_options_of_their_own(self):
        pairs = pd.DataFrame(dict(won=["milk", "beer"], lost=["tea", "wine"], votes=[3, 1]))
        pairs.to_csv("pairs.csv", index=False)
        options = "--preferences pairs.csv --winner won --loser lost --weight votes".split()
        prefs = rb.Preferences([1, 2], [0, 3], 4, [3, 1])
        assert np.allclose(self.fitted(*options), self.by_hand(prefs), atol=1e-6)
        said = refused(
            "fit", "items.csv", "--name", "item", *options, "--column", "winner=w", "-om"
        )
        assert "--winner is 'won' and --column is winner=w. Pass only one of the two" in said

    def test_preferences_are_counted(self):
        pd.DataFrame(dict(winner=[1, 2], loser=[0, 3])).to_csv("pairs.csv", index=False)
        self.ITEMS.drop(columns="item").to_csv("rows.csv", index=False)
        for method in ("ranksvm", "rankrls"):
            given = "fit", "rows.csv", "--preferences", "pairs.csv", "--method", method, "-o", "m"
            assert "4 items, 2 features, 2 preferences" in done(*given)
            assert json.loads(done(*given, "--json"))["preferences"] == 2


class TestMeasuresOfPreferences:
    """Shares of pairs, counted here one by one."""

    GIVEN = "--preferences votes.csv --winner won --loser lost --weight n".split()

    @pytest.fixture
    def votes(self):
        """Names, the rows of winners and losers, weights, and two vectors of scores with ties."""
        rng = np.random.default_rng(5)
        names, scores = [f"i{j}" for j in range(12)], rng.integers(0, 6, (2, 12)).astype(float)
        pairs = np.array([rng.permutation(12)[:2] for _ in range(60)])
        n = rng.integers(0, 4, 60)
        won, lost = (np.array(names)[ends] for ends in pairs.T)
        pd.DataFrame(dict(won=won, lost=lost, n=n)).to_csv("votes.csv", index=False)
        pd.DataFrame(dict(item=names, x=scores[0])).to_csv("items.csv", index=False)
        for name, each in zip("ab", scores):
            pd.DataFrame(dict(item=names, score=each)).to_csv(f"{name}.csv", index=False)
        return pairs, n, scores

    @staticmethod
    def share(pairs, n, scores):
        ahead = scores[pairs[:, 0]] - scores[pairs[:, 1]]
        return np.average(np.where(ahead == 0, 0.5, ahead > 0), weights=n)

    def test_evaluation(self, votes):
        pairs, n, scores = votes
        assert any(scores[0][k] == scores[0][l] for k, l in pairs)
        given = ["evaluate", "a.csv", "items.csv", "--name", "item", *self.GIVEN]
        said = json.loads(done(*given, "--json"))
        right = self.share(pairs, n, scores[0])
        assert said["metrics"] == pytest.approx(dict(disagreement=1 - right, pair_accuracy=right))
        assert said["items"] == 12 and said["preferences"] == 60
        assert done(*given, "--metric", "pair_accuracy") == f"pair_accuracy     {right:.6f}\n"

    def test_a_model_knows_the_column_of_names(self, votes):
        done("fit", "items.csv", "--name", "item", *self.GIVEN, "-o", "m")
        scores = rb.load("m").predict(votes[2][0][:, None])
        said = json.loads(done("evaluate", "m", "items.csv", *self.GIVEN, "--json"))
        right = self.share(*votes[:2], scores.round(9))
        assert said["metrics"]["pair_accuracy"] == pytest.approx(right)

    def test_comparison(self, votes):
        pairs, n, scores = votes
        given = ["compare", "a.csv", "b.csv", "items.csv", "--name", "item", *self.GIVEN]
        said = json.loads(done(*given, "--json"))
        means = [self.share(pairs, n, each) for each in scores]
        assert [said["mean_a"], said["mean_b"]] == pytest.approx(means)
        assert said["low"] < said["difference"] == pytest.approx(means[0] - means[1])
        right = np.sign(scores[:, pairs[:, 0]] - scores[:, pairs[:, 1]])[:, n > 0]
        counts = [int(np.sum(test(*right))) for test in (np.greater, np.equal, np.less)]
        assert [said[name] for name in ("wins", "ties", "losses")] == counts
        assert said["n_preferences"] == sum(counts)
        assert f"pair_accuracy       {sum(counts)} preferences" in done(*given)

    def test_what_has_no_meaning_beside_preferences(self, votes):
        given = ["items.csv", "--name", "item", *self.GIVEN]
        for more, said in (
            (["--metric", "ndcg@10"], "disagreement or pair_accuracy with --preferences"),
            (["--target", "x"], "--target is 'x'. Omit --target if --preferences is given"),
            (["--by-query"], "--by-query is given. Omit --by-query if --preferences is given"),
        ):
            assert said in refused("evaluate", "a.csv", *given, *more)
        said = refused("compare", "a.csv", "b.csv", *given, "--metric", "ndcg@5")
        assert "--metric is 'ndcg@5'. Omit --metric if --preferences is given" in said
        for command in (["evaluate", "a.csv"], ["compare", "a.csv", "b.csv"]):
            said = refused(*command, "items.csv")
            assert "--target is missing" in said and "--preferences FILE" in said
            assert "--winner is 'won' and --preferences is missing. Pass both" in refused(
                *command, "items.csv", "--winner", "won"
            )


def test_one_feature_needs_one_column():
    table = pd.DataFrame(dict(x=[1.0, 2, 3, 4], y=[0, 0, 1, 1]))
    table.to_csv("two.csv", index=False)
    table[["x"]].to_csv("one.csv", index=False)
    done("fit", "two.csv", "--target", "y", "--kernel", "linear", "-o", "m")
    assert done("predict", "m", "one.csv") == done("predict", "m", "two.csv")
    table[["x"]].set_axis(["score"], axis=1).to_csv("scores.csv", index=False)
    assert "auc               1.0" in done("evaluate", "scores.csv", "two.csv", "--target", "y")
    Path("gap.csv").write_text("x\n1\n\n3\n4\n")
    assert "nan or an empty cell in row 1, column 'x'" in refused("predict", "m", "gap.csv")


@pytest.mark.parametrize("ranker", [rb.LabelRanker, rb.RankRLS])
def test_a_model_with_several_scores_is_for_python(ranker):
    table = pd.DataFrame(dict(x=[1.0, 2, 3, 4], y=[0, 0, 1, 1]))
    table.to_csv("data.csv", index=False)
    ranker().fit(table[["x"]], table[["x", "y"]]).save("m")
    for command in (("predict", "m"), ("evaluate", "m"), ("compare", "m", "m")):
        said = refused(
            *command, "data.csv", *(["--target", "y"] if command[0] != "predict" else [])
        )
        assert "MODEL gives 2 scores for each row. Pass a model with one score for each row" in said


def test_scores_in_a_table_need_no_features():
    log = pd.DataFrame(dict(y=[0, 1, 1, 0], session=[1, 1, 2, 2]))
    log.to_csv("log.csv", index=False)
    log.assign(x=[1.0, np.nan, 3, 4], kind=list("abca")).to_csv("words.csv", index=False)
    pd.DataFrame(dict(score=[1, 2, 3, 3])).to_csv("a.csv", index=False)
    pd.DataFrame(dict(score=[2, 1, 3, 2])).to_csv("b.csv", index=False)
    roles = ["--target", "y", "--qid", "session"]
    for data in ("log.csv", "words.csv"):
        assert "disagreement      0.250000\n" in done("evaluate", "a.csv", data, *roles)
        assert "b                   0.5000\n" in done(
            "compare", "a.csv", "b.csv", data, *roles, "--metric", "precision@1"
        )


def test_a_file_that_is_read_twice_is_spoken_of_once():
    table = pd.DataFrame(dict(x=range(8), y=[0, 1] * 4, session=np.arange(8) // 2))
    table.to_csv("log.csv", index=False)
    pd.DataFrame(dict(score=range(8))).to_csv("s.csv", index=False)
    said = run("compare", "s.csv", "s.csv", "log.csv", "--target", "y").stderr
    assert said.count("query ids: ") == said.count("match by position") == 1
    assert said.count("\n") == 2
    assert "Pass a file" in refused("compare", "s.csv", "s.csv", "-", "--target", "y")


def test_a_column_of_queries_is_spoken_of_only_where_it_matters():
    table = pd.DataFrame(dict(x=[1.0, 2, 3, 4], y=[0, 1, 1, 0]))
    table.to_csv("plain.csv", index=False)
    table.assign(session=[1, 1, 2, 2]).to_csv("new.csv", index=False)
    done("fit", "plain.csv", "--target", "y", "-o", "m")
    assert run("predict", "m", "new.csv").stderr == ""
    assert run("predict", "m", "new.csv", "--ranked", "--qid", "session").stderr == ""
    for command in (["predict", "m", "new.csv", "--ranked"], ["evaluate", "m", "new.csv"]):
        said = run(*command).stderr
        assert said == (
            "rankbook: note: query ids: column 'session' of new.csv; --qid none compares all "
            "rows.\n"
        )


class TestRefusals:
    @pytest.mark.parametrize(
        "options, said",
        [
            (["train.letor", "--lam", "1", "-c", "1"], "one of the two"),
            (["train.letor", "--lam", "-1"], "--lam is -1"),
            (["train.letor", "--c", "0"], "--c is 0"),
            (["train.letor", "--gamma", "1,2"], "one number"),
            (["train.letor", "--method", "rankrls", "--loss", "squared"], "rankrls"),
            (["train.letor", "--method", "rank"], "rank"),
            (["train.letor", "--query-weight", "same"], "--query-weight is 'same'"),
            (["table.csv"], "--target is missing"),
            (["table.csv", "--target", "grad"], "did you mean 'grade'"),
            (["table.csv", "--target", "grade", "--name", "nam"], "nam"),
            (["no.csv", "--target", "grade"], "no such file"),
            (["table.csv", "--preferences", "pairs.csv", "--target", "grade"], "--preferences"),
            (["table.csv", "--preferences", "pairs.csv", "--form", "pear"], "pear"),
            (["table.csv", "--preferences", "pairs.csv", "--column", "winner"], "ARGUMENT=COLUMN"),
            (["table.csv", "--preferences", "pairs.csv", "--column", "winer=a"], "winer"),
            (["table.csv", "--preferences", "none.csv"], "none.csv"),
            (["table.csv", "--preferences", "far.csv"], "99"),
        ],
    )
    def test_a_bad_fit(self, letor, options, said):
        table = pd.DataFrame(dict(grade=[1, 2, 3], x=[1.0, 2, 0], z=[0, 1.0, 1]))
        table.to_csv("table.csv", index=False)
        pd.DataFrame(dict(winner=[0, 1], loser=[1, 2])).to_csv("pairs.csv", index=False)
        pd.DataFrame(dict(winner=[0, 99], loser=[1, 2])).to_csv("far.csv", index=False)
        assert said in refused("fit", *options, "-o", "m.rankbook")
        assert not Path("m.rankbook").exists()

    def test_a_bad_place_is_said_before_the_work(self, letor):
        assert "no folder" in refused("fit", "train.letor", "-o", "none/m.rankbook")
        Path("folder").mkdir()
        assert "folder" in refused("fit", "train.letor", "-o", "folder")
        assert "no folder" in refused("select", "train.letor", "--save", "none/m")

    def test_a_bad_prediction(self, letor):
        done("fit", "train.letor", "--kernel", "linear", "-o", "m.rankbook")
        pd.DataFrame({"feature 1": [1.0], "feature 2": [1.0]}).to_csv("few.csv", index=False)
        assert "'feature 3'" in refused("predict", "m.rankbook", "few.csv")
        assert "xlsx" in refused("predict", "m.rankbook", "test.letor", "-o", "s.xlsx")
        assert "no.rankbook" in refused("predict", "no.rankbook", "test.letor")
        assert "test.letor" in refused("predict", "test.letor", "test.letor")
        done("path", "train.letor", "--kernel", "linear", "--lam-min", "1", "--save", "p.rankbook")
        assert "Pass a model" in refused("predict", "p.rankbook", "test.letor")

    @pytest.mark.parametrize(
        "scores, said",
        [
            (dict(score=[1.0] * 3), "3 scores"),
            (dict(value=[1.0] * 90), "'score'"),
            (dict(score=[np.nan, *[1.0] * 89]), "row 0"),
            (dict(row=[0] * 90, score=[1.0] * 90), "row '0' in rows 0 and 1. Pass each"),
        ],
    )
    def test_bad_scores(self, letor, scores, said):
        pd.DataFrame(scores | dict(more=1)).to_csv("s.csv", index=False)
        assert said in refused("evaluate", "s.csv", "test.letor")

    def test_a_metric_that_is_none(self, letor):
        pd.DataFrame(dict(row=range(90), score=range(90))).to_csv("s.csv", index=False)
        here, known = (
            done("evaluate", "s.csv", "test.letor", "--metric", names, "--json")
            for names in ("mrr@5,map", "reciprocal_rank@5,average_precision")
        )
        values = lambda text: list(json.loads(text)["metrics"].values())
        assert values(here) == values(known) and len(values(here)) == 2
        for metric in ("ndgc@10", "ndcg@0", "ndcg@x", "auc"):
            refused("evaluate", "s.csv", "test.letor", "--metric", metric)
        refused("compare", "s.csv", "s.csv", "test.letor", "--metric", "disagreement")


def test_queries_without_an_id_are_refused():
    table = pd.DataFrame(dict(q=["a", None, "a", "b"], x=[1.0, 2, 3, 4], y=[0, 1, 1, 0]))
    table.to_csv("gaps.csv", index=False)
    given = ["gaps.csv", "--target", "y", "--qid", "q"]
    missing = "gaps.csv has no query id in row 1, column 'q'"
    assert missing in refused("fit", *given, "-o", "m.rankbook")
    assert not Path("m.rankbook").exists()
    table.assign(q="a").to_csv("whole.csv", index=False)
    done("fit", "whole.csv", *given[1:], "-o", "m.rankbook")
    assert missing in refused("evaluate", "m.rankbook", "gaps.csv")


def test_new_items_need_no_target():
    table = pd.DataFrame(dict(x=[1.0, 2, 3, 4], y=[0, 1, 1, 2], q="a"))
    table.to_csv("old.csv", index=False)
    done("fit", "old.csv", "--target", "y", "--qid", "q", "-o", "m.rankbook")
    known = done("predict", "m.rankbook", "old.csv")
    table.assign(y=[0, None, 1, 2]).to_csv("new.csv", index=False)
    assert done("predict", "m.rankbook", "new.csv") == known
    said = refused("evaluate", "m.rankbook", "new.csv")
    assert "new.csv has nan or an empty cell in row 1, column 'y'" in said


@pytest.mark.parametrize("option", ["--qid", "--drop"])
def test_a_column_has_one_role(option):
    pd.DataFrame(dict(x=[1.0, 2, 3], z=[1, 2, 3], y=[0, 1, 1])).to_csv("a.csv", index=False)
    said = refused("fit", "a.csv", "--target", "y", option, "y", "-o", "m.rankbook")
    assert f"--target and {option} are both 'y'. Pass two different columns" in said


def test_an_order_of_equals_has_no_measure():
    pd.DataFrame(dict(x=[1.0, 2, 3], y=[1, 1, 1])).to_csv("equal.csv", index=False)
    pd.DataFrame(dict(row=[0, 1, 2], score=[1.0, 2, 3])).to_csv("s.csv", index=False)
    said = refused("evaluate", "s.csv", "equal.csv", "--target", "y")
    assert "data have no query with two different grades" in said


def test_queries_are_shown_by_the_names_of_the_file():
    table = pd.DataFrame(dict(q=["b", "a", "b", "a", "c"], x=range(5), y=[0, 1, 1, 0, 1]))
    table.to_csv("words.csv", index=False)
    pd.DataFrame(dict(row=range(5), score=range(5))).to_csv("s.csv", index=False)
    given = ["s.csv", "words.csv", "--target", "y", "--qid", "q"]
    rows = json.loads(done("evaluate", *given, "--by-query", "--metric", "auc", "--json"))
    assert rows == [dict(qid="a", auc=0.0), dict(qid="b", auc=1.0), dict(qid="c", auc=None)]


def test_scores_may_come_in_any_order(letor):
    _, test = letor
    rows = np.random.default_rng(0).permutation(90)
    scores = np.linspace(0, 1, 90)
    pd.DataFrame(dict(row=rows, score=scores[rows])).to_parquet("s.parquet")
    said = json.loads(done("evaluate", "s.parquet", "test.letor", "--json"))
    assert said["metrics"]["disagreement"] == rb.disagreement(test.y, scores, test.qid)


@pytest.mark.parametrize("endings", [("csv", "letor"), ("parquet", "tsv.gz"), ("svm.gz", "csv")])
def test_data_survive_every_format(endings):
    data = documents(5)
    order = np.argsort(pd.factorize(data.qid)[0], kind="stable")
    grouped = Dataset(data.X[order], data.y[order], data.qid[order])
    write_dataset(grouped, f"a.{endings[0]}")
    named = lambda file: [] if "svm" in file or "letor" in file else ["--target", "target"]
    done("convert", f"a.{endings[0]}", f"b.{endings[1]}", *named(endings[0]))
    found = read_table(
        f"b.{endings[1]}", **({} if not named(endings[1]) else dict(target="target", qid="qid"))
    )
    assert np.array_equal(found.X, grouped.X) and np.array_equal(found.y, grouped.y)
    assert np.array_equal(found.qid, grouped.qid)


@pytest.mark.data
def test_mq2008_from_the_shell():
    """The workflow of a user who has trained with svm_rank_learn until now."""
    folder = Path(rb.datasets.find_file("mq2008.S1")).parent
    done("fit", folder / "S1.txt", "--kernel", "linear", "-c", "1", "-o", "m.rankbook")
    said = json.loads(done("evaluate", "m.rankbook", folder / "S5.txt", "--json"))
    assert Path("m.rankbook").stat().st_size < 20_000
    assert 0.6 < said["metrics"]["ndcg@10"] < 0.8


def test_json_has_the_numbers_in_full(letor):
    done("fit", "train.letor", "--kernel", "linear", "-o", "m.rankbook")
    expected = rb.load("m.rankbook").predict(letor[1].X).tolist()
    rows = json.loads(done("predict", "m.rankbook", "test.letor", "--json"))
    assert [row["score"] for row in rows] == expected
    metric = ["--metric", "kendall_tau", "--by-query"]
    rows = json.loads(done("evaluate", "m.rankbook", "test.letor", *metric, "--json"))
    taus = rb.metrics.by_query("kendall_tau", letor[1].y, expected, letor[1].qid)[1]
    assert [row["kendall_tau"] for row in rows] == [None if t != t else t for t in taus.tolist()]


@pytest.mark.peer("ir_measures")
class TestRuns:
    """Runs in TREC's format, beside trec_eval's own code by ir_measures."""

    @staticmethod
    def by_trec_eval(run_file, qid, names, y):
        """NDCG@10 of each query, in the order of sorted ids, with gains 0, 1 and 3."""
        import ir_measures as ir

        qrels = [ir.Qrel(str(q), name, int(grade)) for q, name, grade in zip(qid, names, y)]
        measure = ir.nDCG(gains={0: 0, 1: 1, 2: 3}) @ 10
        found = ir.iter_calc([measure], qrels, ir.read_trec_run(str(run_file)))
        values = {each.query_id: each.value for each in found}
        return np.array([values[str(q)] for q in np.unique(qid)])

    @staticmethod
    def places(run_file, names):
        """Minus the rank of each (qid, docid) of a run."""
        run = pd.read_csv(run_file, sep=" ", header=None, dtype={0: str, 2: str})
        rank = dict(zip(zip(run[0], run[2]), run[3]))
        return np.array([-rank[str(q), name] for q, name in names], dtype=float)

    @pytest.mark.data
    def test_ndcg_of_mq2008_is_that_of_trec_eval(self):
        folder = Path(rb.datasets.find_file("mq2008.S1")).parent
        done("fit", folder / "S1.txt", "--kernel", "linear", "-o", "m.rankbook")
        done("predict", "m.rankbook", folder / "S5.txt", "-o", "run.trec")
        data = rb.read_table(folder / "S5.txt")
        assert data.item_names[0] == "GX004-93-7097963"
        assert Path("run.trec").read_text().startswith("18219 Q0 GX")
        found = self.by_trec_eval("run.trec", data.qid, data.item_names, data.y)
        placed = self.places("run.trec", zip(data.qid, data.item_names))
        of_places = rb.metrics.by_query("ndcg@10", data.y, placed, data.qid, empty=0)[1]
        assert np.allclose(found, of_places, atol=1e-12)
        # ties share their places in our metrics, and are ordered by name in a run
        scores = rb.load("m.rankbook").predict(data.X).astype(np.float32)
        of_scores = rb.metrics.by_query("ndcg@10", data.y, scores, data.qid, empty=0)[1]
        whole = [np.unique(s := scores[data.qid == q]).size == s.size for q in np.unique(data.qid)]
        assert sum(whole) > 100 and np.allclose(found[whole], of_scores[whole], atol=1e-12)

    def test_ties_are_ordered_as_trec_eval_orders_them(self):
        rng = np.random.default_rng(0)
        n = 60
        table = pd.DataFrame(dict(q=rng.integers(0, 5, n), x=rng.integers(0, 3, n) + 1e-12))
        table["doc"], table["y"] = [f"d{i}" for i in range(n)], rng.integers(0, 3, n)
        table.to_csv("t.csv", index=False)
        given = ["t.csv", "--qid", "q", "--name", "doc"]
        done("fit", *given, "--target", "y", "--kernel", "linear", "-o", "m")
        for name in ("run.trec", "run.trec.gz"):
            done("predict", "m", *given, "-o", name)
        known = table["q"], table["doc"], table["y"]
        placed = self.places("run.trec", zip(*known[:2]))
        assert np.array_equal(placed, self.places("run.trec.gz", zip(*known[:2])))
        ours = rb.metrics.by_query("ndcg@10", table["y"], placed, table["q"], empty=0)[1]
        assert np.allclose(self.by_trec_eval("run.trec", *known), ours, atol=1e-12)

    def test_what_a_run_cannot_hold(self):
        table = pd.DataFrame(dict(q=[1, 1, 2], x=[1.0, 2, 3], doc=["a", "b", "a b"], y=[0, 1, 2]))
        table.to_csv("t.csv", index=False)
        done("fit", "t.csv", "--target", "y", "--drop", "doc", "--qid", "none", "-o", "m")
        given = ["predict", "m", "t.csv", "-o", "run.trec"]
        assert "DATA has no query ids, which a run needs. Pass --qid" in refused(*given)
        assert "DATA has no names, which a run needs" in refused(*given, "--qid", "q")
        given += ["--qid", "q", "--name", "doc"]
        assert "'a b' in row 2. Pass names without spaces" in refused(*given)
        table.assign(doc=["a", "a", "a"]).to_csv("t.csv", index=False)
        assert "'a' a second time in row 1. Pass each --name only once" in refused(*given)
        assert not Path("run.trec").exists()


def test_what_convert_writes_is_fitted_without_options(letor):
    train, _ = letor
    named = Dataset(train.X, train.y, train.qid, item_names=[f"d{i}" for i in range(90)])
    write_dataset(named, "named.letor")
    done("fit", "named.letor", "--kernel", "linear", "-o", "m.rankbook")
    expected = pd.read_csv(pd.io.common.StringIO(done("predict", "m.rankbook", "named.letor")))
    assert sorted(expected["name"]) == sorted(named.item_names)
    for file in ("a.csv", "a.parquet", "a.tsv.gz", "a.svm"):
        done("convert", "named.letor", file)
        result = run("fit", file, "--kernel", "linear", "-o", "again.rankbook")
        assert result.exit_code == 0, result.stderr
        assert ("target: column 'target' of a" in result.stderr) == (file != "a.svm")
        found = pd.read_csv(pd.io.common.StringIO(done("predict", "again.rankbook", file)))
        pd.testing.assert_frame_equal(found, expected, rtol=1e-9)


def test_queries_without_a_relevant_item_are_counted():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), 5)
    table = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"]).assign(qid=qid)
    table["grade"] = np.where(qid % 3 > 0, (table.a > 0).astype(int), 0)
    table.to_csv("some.csv", index=False)
    given = ["some.csv", "--target", "grade", "--qid", "qid"]
    select = ["select", *given, "--kernel", "linear", "--save", "m"]
    facts = json.loads(done(*select, "--json"))
    (line,) = (each for each in done(*select).splitlines() if each.startswith("test "))
    parts = facts["test"]
    for name in ("ndcg@10", "average_precision"):
        some, value = parts["queries_counted"][name], parts["metrics"][name]
        assert 0 < some < parts["queries"]
        assert f" {value:.6f} over {some} of {parts['queries']} queries" in line
    has = int((table.groupby("qid").grade.max() > 0).sum())
    assert f" over {has} of 40 queries\n" in done("evaluate", "m", *given, "--metric", "ndcg@10")
    done("predict", "m", "some.csv", "-o", "scores.csv")
    Path("scores.csv").rename("scores.trec")
    said = refused("evaluate", "scores.trec", *given)
    assert "scores are read from a table that ends in .csv, .tsv or .parquet" in said
