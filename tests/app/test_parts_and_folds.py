"""`select` and `path` with a file for each part, and with preferences."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import done, refused, run
from sklearn.datasets import load_svmlight_files

import rankbook as rb
from rankbook.app.folds import chosen_by_others, select_by_folds
from rankbook.app.select import select_model
from rankbook.data.datasets import Dataset, load_mq2008
from rankbook.data.split import PreferredItems, scaling
from rankbook.selection.folds import pair_folds

pytestmark = pytest.mark.usefixtures("workplace")

FILES = ["train.txt", "--validation", "vali.txt", "--test", "test.txt"]
TABLES = ["train.csv", "--validation", "vali.csv", "--test", "test.csv", "--target", "grade"]


def graded(seed, n=60, d=4):
    """Items of twelve queries, numbered from 12 * seed, with grades from 0 to 2."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(4)
    y = np.clip(np.round(X[:, 0] + X[:, 1] + 0.6 * rng.normal(size=n) + 1), 0, 2).astype(int)
    return X, y, 12 * seed + np.arange(n) // 5


def write_letor(name, seed, features):
    """A LETOR file, in which features beyond the first are not mentioned."""
    X, y, qid = graded(seed)
    lines = (
        f"{grade} qid:{q} " + " ".join(f"{j + 1}:{x}" for j, x in enumerate(row[:features]))
        for row, grade, q in zip(X, y, qid)
    )
    Path(name).write_text("\n".join(lines) + "\n")


def write_tables(names="abcd"):
    for seed, part in enumerate(("train", "vali", "test")):
        X, y, qid = graded(seed)
        table = pd.DataFrame(X, columns=list("abcd")).assign(grade=y, query=qid)
        order = [*names, "grade", "query"] if part == "vali" else list(table)
        table[order].to_csv(f"{part}.csv", index=False)


def facts_of(*arguments):
    """The JSON that a command prints, without times."""
    facts = json.loads(done(*arguments, "--json"))
    facts.pop("seconds", None)
    for row in facts.get("candidates", ()):
        row.pop("seconds", None)
    return facts


class TestFilesOfParts:
    def test_files_of_a_fold_may_mention_different_features(self):
        for seed, (name, features) in enumerate(zip(FILES[::2], (3, 4, 2))):
            write_letor(name, seed, features)
        X, y, qid, X2, y2, qid2, X3, y3, qid3 = load_svmlight_files(FILES[::2], query_id=True)
        found = facts_of("select", *FILES)
        data = Dataset(
            np.vstack([part.toarray() for part in (X, X2, X3)]),
            np.r_[y, y2, y3],
            np.r_[qid, qid2, qid3],
            parts=np.repeat(["train", "validation", "test"], 60),
        )
        other = select_model(data).summary()
        assert found["data"]["features"] == 4 and found["split"]["items"] == dict.fromkeys(
            ("train", "validation", "test"), 60
        )
        for key in ("chosen", "disagreement", "validation", "test", "curve"):
            assert found[key] == json.loads(json.dumps(other[key])), key

    def test_columns_are_matched_by_name(self):
        write_tables()
        plain = facts_of("select", *TABLES)
        write_tables("dbca")
        assert facts_of("select", *TABLES) == plain

    def test_only_training_rows_say_how_features_are_scaled(self):
        write_tables()
        plain = facts_of("select", *TABLES)
        other = pd.read_csv("test.csv")
        other.assign(a=other.a + 1e3).to_csv("test.csv", index=False)
        assert facts_of("select", *TABLES)["chosen"] == plain["chosen"]
        centre, factor = scaling(graded(0)[0])
        done("select", *TABLES, "--save", "m")
        model = rb.load("m")
        assert np.array_equal(model.centre, centre) and np.array_equal(model.factor, factor)

    def test_without_a_test_file_nothing_is_tested(self):
        write_tables()
        given = ["select", *TABLES[:3], *TABLES[5:]]
        found = facts_of(*given)
        assert found["split"]["items"] == dict(train=60, validation=60)
        assert found["test"] is None and list(found["disagreement"]) == ["validation"]
        assert found["chosen"] == facts_of("select", *TABLES)["chosen"]
        lines = done(*given, "--plot", "p.svg").splitlines()
        assert any(line.startswith("validation   NDCG@10") for line in lines)
        assert not any(line.startswith("test") for line in lines) and Path("p.svg").exists()

    def test_a_test_file_alone_leaves_validation_to_data(self):
        write_tables()
        found = facts_of("select", "train.csv", "--test", "test.csv", "--target", "grade")
        assert found["split"]["items"]["test"] == 60 == sum(found["split"]["items"].values()) - 60
        assert "validation taken from train by query" in found["split"]["how"]

    def test_a_query_in_two_files_is_reported_once(self):
        for seed, part in enumerate(("train", "vali")):
            X, y, qid = graded(seed)
            table = pd.DataFrame(X).add_prefix("x").assign(grade=y, query=[f"q{q}" for q in qid])
            table.iloc[:5, -1] = "q0" if part == "vali" else table.iloc[:5, -1]
            table.to_csv(f"{part}.csv", index=False)
        result = run("select", *TABLES[:3], *TABLES[5:])
        assert result.exit_code == 0 and result.stderr.count("warning") == 1
        assert "warning: query q0 is in train.csv and in vali.csv" in result.stderr
        assert "the validation values are too good" in result.stderr

    @pytest.mark.parametrize(
        "change, options, said",
        [
            (
                dict(),
                ["--validation", "train.csv"],
                "--validation is 'train.csv', which is given t",
            ),
            (dict(), ["--validation", "gone.csv"], "--validation is 'gone.csv': there is no such"),
            (dict(), ["--group-split", "a"], "--group-split is 'a' and parts are given as files"),
            (dict(a=None), [], r"vali.csv has no column 'a'; it has b, c, d, grade, query. Pass"),
            (dict(query=None), [], "vali.csv has no column 'query'"),
            (dict(grade=1), [], "the validation part (60 of 180 items) has no preference"),
            (dict(a="x"), [], "vali.csv has columns that are not numbers: 'a'"),
        ],
    )
    def test_refused(self, change, options, said):
        write_tables()
        table = pd.read_csv("vali.csv").assign(**change).dropna(axis=1)
        table.to_csv("vali.csv", index=False)
        given = [TABLES[0], *TABLES[3:]] if "--validation" in options else TABLES
        result = run("select", *given, *options, "--save", "m")
        assert result.exit_code == 2 and said in result.stderr and not Path("m").exists()

    def test_kinds_and_ids_that_differ(self):
        write_tables()
        for seed, name in enumerate(FILES[::2]):
            write_letor(name, seed, 4)
        mixed = refused("select", "train.txt", "--validation", "vali.csv")
        assert "vali.csv is CSV text and train.txt is SVMlight text" in mixed
        lines = Path("vali.txt").read_text().splitlines()
        Path("vali.txt").write_text("\n".join(f"{a[0]}{a[a.index(' 1:') :]}" for a in lines))
        assert "vali.txt has no query ids, but train.txt has" in refused("select", *FILES)
        swapped = refused("select", "vali.txt", "--validation", "train.txt")
        assert "vali.txt has no query ids, but train.txt has" in swapped

    def test_a_path_has_columns_of_both(self):
        write_tables()
        given = ["path", *TABLES, "--kernel", "linear"]
        found = json.loads(done(*given, "-o", "events.csv", "--save", "p", "--json"))
        table, path = pd.read_csv("events.csv"), rb.load("p")
        centre, factor = scaling(graded(0)[0])
        for seed, part in enumerate(("validation", "test"), start=1):
            X, y, qid = graded(seed)
            X, lam = (X - centre) * factor, table["lam"].to_numpy()
            middle = np.sqrt(lam[:-1] * lam[1:])
            for at in np.flatnonzero(lam[:-1] > 1.001 * lam[1:])[::7]:
                below = path.predict(X, lam[at] * (1 - 1e-9))
                wrong = rb.disagreement(rb.Preferences.from_scores(y, qid), below)
                assert np.isclose(wrong, table[part][at]), (part, at, middle[at])
            scores = path.predict(X, found["chosen"]["lam"])
            wrong = rb.disagreement(rb.Preferences.from_scores(y, qid), scores)
            assert np.isclose(found["chosen"][part], wrong)
        assert found["chosen"]["minimum"] == found["chosen"]["validation"]
        text = done(*given)
        assert "of the validation preferences" in text and "of the test preferences there" in text


def votes(n=50, m=400, seed=0):
    """Items with names, and pairs of them that three judges and a judge at random stated."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(4)
    f = X[:, 0] + 0.5 * X[:, 1] ** 2
    names = np.array([f"film {i}" for i in range(n)])
    a, b = rng.integers(0, n, (2, m))
    a, b = a[a != b], b[a != b]
    up = rng.random(a.size) < 1 / (1 + np.exp(3 * (f[b] - f[a])))
    w, l = np.where(up, a, b), np.where(up, b, a)
    items = pd.DataFrame(X, columns=list("abc")).assign(film=names)
    pairs = pd.DataFrame(
        dict(winner=names[w], loser=names[l], judge=rng.choice(list("ABC"), w.size))
    )
    items.to_csv("items.csv", index=False)
    pairs.to_csv("pairs.csv", index=False)
    return X, rb.Preferences(w, l, n), pairs


GIVEN = ["select", "items.csv", "--preferences", "pairs.csv", "--name", "film"]


class TestFolds:
    @pytest.mark.parametrize("method", ["ranksvm", "rankrls"])
    @pytest.mark.parametrize("by", ["item", "pair"])
    def test_they_are_those_of_python(self, method, by):
        X, prefs, _ = votes()
        found = facts_of(*GIVEN, "--method", method, "--fold-by", by, "--seed", "3")
        centre, factor = scaling(X)
        kind = rb.RankSVMCV if method == "ranksvm" else rb.RankRLSCV
        model = kind(fold_by=by, random_state=3).fit((X - centre) * factor, preferences=prefs)
        low, high = found["curve"]["best"][0]
        assert np.isclose(found["chosen"]["lam"], model.lam_) and low <= model.lam_ <= high
        value = model.curve_.minimum if method == "ranksvm" else model.best_value_
        assert found["disagreement"]["held_out"] == value
        folds, dropped = pair_folds(5, X, prefs, by, None, 3)
        assert found["folds"]["dropped"] == dropped == model.n_dropped_
        assert found["folds"]["validated"] == [len(fold.target) for fold in folds]
        assert found["folds"]["left_out"] == [len(prefs) - len(fold.prefs) for fold in folds]
        (note,) = found["notes"]
        said = f"{dropped} of {len(prefs)} preferences are validated in no fold" in note
        assert (dropped > 0) == (by == "item") == said

    def test_groups_of_preferences_and_of_items(self):
        X, prefs, pairs = votes()
        found = facts_of(*GIVEN, "--group", "judge")
        counts = pairs.judge.value_counts().tolist()
        assert sorted(found["folds"]["validated"], reverse=True) == counts
        assert (found["folds"]["number"], found["folds"]["groups"]) == (3, 3)
        text = done(*GIVEN, "--group", "judge")
        assert "3 by group, of 3 groups of preferences" in text
        items = pd.read_csv("items.csv").assign(year=1990 + np.arange(50) % 10)
        items.to_csv("items.csv", index=False)
        found = facts_of(*GIVEN, "--group-split", "year", "--fold-by", "group")
        year = items.year.to_numpy()
        dropped = pair_folds(5, X, prefs, "group", year, 0)[1]
        assert found["data"]["features"] == 3 and found["folds"]["dropped"] == dropped

    def test_users_of_a_click_log(self):
        X, _, _ = votes()
        rng = np.random.default_rng(0)
        shown = [rng.choice(50, 5, replace=False) for _ in range(120)]
        log = pd.DataFrame(
            dict(
                session=np.repeat(np.arange(120), 5),
                user=np.repeat(rng.choice(list("XYZWV"), 120), 5),
                item=[f"film {i}" for items in shown for i in items],
                rank=np.tile(np.arange(1, 6), 120),
                click=np.concatenate([X[items, 0] > 0.5 for items in shown]).astype(int),
            )
        )
        log.to_csv("clicks.csv", index=False)
        given = ["select", "items.csv", "--name", "film", "--preferences", "clicks.csv"]
        given += ["--form", "clicks"]
        found = facts_of(*given, "--group", "user", "--save", "m")
        by_user = [
            len(rb.Preferences.from_clicks(part)) for _, part in log.groupby("user", sort=False)
        ]
        assert sorted(found["folds"]["validated"]) == sorted(by_user)
        assert found["preferences"]["train"] == sum(by_user)
        # the fit is that of all users' sessions
        whole = rb.Preferences.from_clicks(log, items=[f"film {i}" for i in range(50)])
        centre, factor = scaling(X[np.unique(np.r_[whole.better, whole.worse])])
        Z = (X - centre) * factor
        scores = rb.RankSVM(found["chosen"]["lam"]).fit(Z, preferences=whole).predict(Z)
        assert np.allclose(np.diff(rb.load("m").predict(X)), np.diff(scores), atol=1e-6)
        log.loc[0, "user"] = "other"
        log.to_csv("clicks.csv", index=False)
        said = refused(*given, "--group", "user")
        assert "--group is 'user', which has two values in the session 0 of clicks.csv" in said

    def test_a_click_log_becomes_a_ranked_list(self):
        votes()
        done(*GIVEN, "--save", "m.rankbook")
        new = pd.DataFrame(dict(film=["new 1", "new 2"], a=[-2.0, 2.0], b=[0.0, 0.0], c=[0.0, 0.0]))
        new.to_csv("new.csv", index=False)
        lines = done("predict", "m.rankbook", "new.csv", "--ranked").splitlines()
        assert lines[0] == "rank,row,name,score" and lines[1].startswith("1,1,new 2,")

    def test_the_value_by_other_folds_is_that_of_training_again(self):
        X, prefs, _ = votes()
        folds, _ = pair_folds(4, X, prefs, "item", None, 0)
        pairs = [(fold.train, fold.test) for fold in folds]
        model = rb.RankSVMCV(cv=pairs).fit(X, preferences=prefs)
        wrong = []
        for f, fold in enumerate(folds):
            rest = rb.RankSVMCV(cv=pairs[:f] + pairs[f + 1 :]).fit(X, preferences=prefs)
            lam = rest.lam_ * fold.prefs.weight.sum() / prefs.weight.sum()
            one = rb.RankSVM(lam).fit(X[fold.train], preferences=fold.prefs)
            wrong.append(rb.disagreement(fold.target, one.predict(X[fold.test])))
        assert np.isclose(chosen_by_others(model, X, prefs, folds), np.mean(wrong))

    def test_the_value_by_other_folds_of_a_grid(self):
        X, prefs, _ = votes()
        folds, _ = pair_folds(4, X, prefs, "item", None, 0)
        lams, gammas = [0.1, 1.0, 10.0], [0.1, 1.0]
        pairs = [(fold.train, fold.test) for fold in folds]
        options = dict(lams=lams, gamma=gammas)
        model = rb.RankRLSCV(**options, cv=pairs).fit(X, preferences=prefs)
        wrong = []
        for f, fold in enumerate(folds):
            rest = rb.RankRLSCV(**options, cv=pairs[:f] + pairs[f + 1 :]).fit(X, preferences=prefs)
            one = rb.RankRLS(rest.lam_, gamma=rest.gamma_)
            one.fit(X[fold.train], preferences=fold.prefs)
            wrong.append(rb.disagreement(fold.target, one.predict(X[fold.test])))
        assert np.isclose(chosen_by_others(model, X, prefs, folds), np.mean(wrong))

    @pytest.mark.slow
    def test_the_value_by_other_folds_is_not_that_of_a_lucky_lambda(self):
        """Over several samples of preferences, beside many fresh ones of new items."""
        new, asked, _ = votes(n=1500, m=12000, seed=99)
        values = []
        for seed in range(12):
            X, prefs, _ = votes(n=40, m=150, seed=seed)
            data = PreferredItems(X, dict(train=prefs), ("a", "b", "c"))
            result = select_by_folds(data, standardize=False)
            wrong = rb.disagreement(asked, result.model.predict(new))
            values.append([*list(result.disagreement.values())[:2], wrong])
        held_out, by_others, truth = np.mean(values, axis=0)
        assert held_out < by_others
        assert abs(by_others - truth) < 0.5 * abs(held_out - truth), (held_out, by_others, truth)

    def test_labels_without_sense_are_said_to_be_no_better_than_chance(self):
        rng = np.random.default_rng(0)
        a = rng.permutation(40)
        prefs = rb.Preferences(np.r_[a[:20], a[20:]], np.r_[a[20:], a[:20]], 40)  # both ways
        data = PreferredItems(rng.normal(size=(40, 2)), dict(train=prefs), ("a", "b"))
        result = select_by_folds(data, fold_by="pair")
        assert result.disagreement["held_out"] == 0.5
        assert any("better than chance" in note for note in result.notes)

    def test_pictures(self):
        votes()
        for method in ("ranksvm", "rankrls"):
            done(*GIVEN, "--method", method, "--plot", f"{method}.svg")
            assert Path(f"{method}.svg").stat().st_size > 1000


class TestPreferencesOfParts:
    def test_files_of_preferences_between_the_same_items(self):
        X, _, pairs = votes()
        for name, rows in (("t", pairs[:250]), ("v", pairs[250:320]), ("s", pairs[320:])):
            rows.to_csv(f"{name}.csv", index=False)
        number = {f"film {i}": i for i in range(50)}
        prefs = {
            name: rb.Preferences(rows.winner.map(number), rows.loser.map(number), 50)
            for name, rows in (("t", pairs[:250]), ("v", pairs[250:320]), ("s", pairs[320:]))
        }
        given = ["items.csv", "--preferences", "t.csv", "--name", "film", "--validation", "v.csv"]
        given += ["--test", "s.csv", "--kernel", "linear"]
        found = facts_of("select", *given, "--save", "m")
        at = np.unique(np.r_[prefs["t"].better, prefs["t"].worse])
        centre, factor = scaling(X[at])
        Z = (X - centre) * factor
        path = rb.solve_path(rb.RankSVMProblem(Z, prefs["t"], "linear"))
        curve = rb.validation_curve(path, Z, prefs["v"])
        assert found["chosen"]["lam"] == curve.choose()
        assert found["disagreement"]["validation"] == curve.minimum
        scores = rb.load("m").predict(X)
        assert found["disagreement"]["test"] == rb.disagreement(prefs["s"], scores)
        assert found["preferences"] == dict(
            graph="full", train=250, validation=70, test=len(pairs) - 320
        )
        along = json.loads(done("path", *given, "-o", "events.csv", "--json"))
        assert along["chosen"]["lam"] == curve.choose()
        assert along["chosen"]["test"] == found["disagreement"]["test"]
        # in folds a test file is measured, too
        found = facts_of("select", *given[:5], *given[7:], "--save", "m")
        scores = rb.load("m").predict(X)
        assert found["disagreement"]["test"] == rb.disagreement(prefs["s"], scores)

    @pytest.mark.parametrize("command", ["select", "path"])
    def test_rankrls_and_paths_take_preferences(self, command):
        X, prefs, _ = votes()
        if command == "path":
            found = facts_of("path", *GIVEN[1:])
            assert (found["items"], found["preferences"]) == (50, len(prefs))
            return
        given = [*GIVEN, "--validation", "pairs.csv", "--method", "rankrls", "--lam-min", "0.1"]
        found = facts_of(*given, "--save", "m")
        centre, factor = scaling(X[np.unique(np.r_[prefs.better, prefs.worse])])
        Z = (X - centre) * factor
        scores = rb.RankRLS(found["chosen"]["lam"]).fit(Z, preferences=prefs).predict(Z)
        assert np.allclose(np.diff(rb.load("m").predict(X)), np.diff(scores), atol=1e-9)

    @pytest.mark.parametrize(
        "options, said",
        [
            (["--target", "a"], "--target is 'a'. Omit --target if --preferences is given"),
            (["--qid", "a"], "--qid is 'a'. Omit --qid if --preferences is given"),
            (["--graph", "star"], "--graph is 'star'. Pass 'full' for preferences"),
            (["--method", "rayleigh"], "--method is 'rayleigh'. Pass 'ranksvm' or 'rankrls' for"),
            (["--lam-min", "1"], "--lam-min is 1.0. Omit --lam-min where lambda is chosen by"),
            (
                ["--method", "rankrls", "--rule", "largest"],
                "--rule is 'largest'. Pass 'widest'",
            ),
            (["--method", "rankrls", "--solver", "rls"], "--solver is 'rls'. Pass 'auto' for"),
            (["--fold-by", "group"], "--fold-by is 'group', but no groups are given. Pass --group"),
            (
                ["--fold-by", "judge"],
                "--fold-by is 'judge'. Pass one of: group, item, order, pair, query",
            ),
            (["--fold-by", "order"], "--fold-by is 'order'"),
            (["--fold-by", "pair", "--group", "judge"], "--fold-by is 'pair', and a column of"),
            (["--group", "user"], "--group is 'user'"),
            (["--group", "judge", "--group-split", "a"], "--group is 'judge' and --group-split is"),
            (["--group-split", "year"], "--group-split is 'year'"),
            (
                ["--validation", "pairs.csv", "--fold-by", "pair"],
                "--fold-by is 'pair'. Omit --fold-by if --validation is given",
            ),
            (["--validation", "gone.csv"], "--validation is 'gone.csv': there is no such file"),
            (["--test", "items.csv"], "items.csv has the columns"),
            (["--save", "pairs.csv"], "--output is 'pairs.csv', and another argument names"),
            (["--weight", "votes"], "votes"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_options_that_do_not_go_together(self, options, said):
        votes()
        pairs = Path("pairs.csv").read_text()
        assert said in refused(*GIVEN, *options)
        assert Path("pairs.csv").read_text() == pairs

    def test_a_single_group_is_named_by_its_option(self):
        votes()
        pd.read_csv("pairs.csv").assign(one="a").to_csv("pairs.csv", index=False)
        assert "--group has only one id" in refused(*GIVEN, "--group", "one")

    def test_options_that_need_preferences(self):
        votes()
        given = ["select", "items.csv", "--target", "a", "--name", "film"]
        for option, value in (("--fold-by", "item"), ("--group", "b"), ("--winner", "w")):
            assert f"{option} is '{value}' and --preferences is missing. Pass both" in refused(
                *given, option, value
            )


def test_a_fold_of_mq2008_by_three_files(data_dir):
    pieces = [(data_dir / f"letor_mq2008/S{k}.txt").read_text() for k in range(1, 6)]
    Path("train.txt").write_text("".join(pieces[:3]))
    Path("vali.txt").write_text(pieces[3])
    Path("test.txt").write_text(pieces[4])
    options = ["--kernel", "linear", "--lam-min", "100"]
    found = facts_of("select", *FILES, *options, "--save", "m")
    other = select_model(load_mq2008(), kernel="linear", lam_min=100.0).summary()
    for key in ("chosen", "disagreement", "validation", "test", "curve"):
        assert found[key] == json.loads(json.dumps(other[key])), key
    assert done("predict", "m", "test.txt", "--ranked").count("\n") == 2875
