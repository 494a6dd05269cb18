"""One row a file: what `rankbook rank` and Python read from it, worked out by hand."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from shell import done, refused, run

import rankbook as rb
from rankbook.app.cli.words import text_in_words
from rankbook.data.records import read_records
from rankbook.preferences.names import name_rows

# Text, options, and the preferences (better, worse, weight); a tie is half a preference each way.
WINS = [
    ("winner,loser\n76,Heat\n12,76\n76,12\n12,Heat\n", [], "76>Heat 12>76 76>12 12>Heat"),
    ("winner,loser\n007,08\n08,7\n7,09\n09,007\n", [], "007>08 08>7 7>09 09>007"),
    ("p1,p2,p3\nFR,DE,NA\nDE,FR,NA\n", ["--form", "orders"], "FR>DE FR>NA DE>NA DE>FR FR>NA DE>NA"),
    ("winner,loser\na ,b\na,c\n", [], "a>b a>c"),
    ("Winner,Loser\na,b\nb,a\nb,null\n", [], "a>b b>a b>null"),
    ("winner ,  loser\n1500000000,2\n5901234123457,2\n", [], "1500000000>2 5901234123457>2"),
    ("model_a,model_b,winner,tie\nx,y,x,1\ny,z,z,0\nx,z,z,1\n", [], "x=y z>y x=z"),
    ("model_a,model_b,winner\nx,y,model_a\ny,z,both_bad\nx,z,tie (bothbad)\n", [], "x>y y=z x=z"),
    ("model_a,model_b,winner\nx,y,model_a\nz,y,model_a\n", [], "x>y z>y"),
    ("model_a,model_b,winner\nx,y,tie\nz,y,tie\n", [], "x=y z=y"),
    ("model_a,model_b,winner\nx,y,a\nz,y,b\n", [], "x>y y>z"),
    ("left,right,winner\nx,y,left\nz,y,right\nz,x,draw\n", [], "x>y y>z z=x"),
    ("a,b,winner\nParis,Rome,Paris\nRome,Oslo,tie\n", [], "Paris>Rome Rome=Oslo"),
    ("home,away,result\nParis,Rome,Paris\nRome,Oslo,Oslo\n", [], "Paris>Rome Oslo>Rome"),
    ("home,away,result\n101,205,101\n205,309,309\n309,101,101\n", [], "101>205 309>205 101>309"),
    ("home,away,result\na,b,2\nb,c,-1\nc,a,0\n", [], "a>b c>b c=a"),
    ("home,away,result\na,b,1-0\nb,c,1/2-1/2\nc,a,0-1\n", [], "a>b b=c a>c"),
    ("home,away,result\na,b,1\nb,c,0.5\nc,a,0\n", [], "a>b b=c a>c"),
    (
        "home,away,result\na,b,1\nb,c,X\nc,a,2\n",
        ["--results", "1=home,X=tie,2=away"],
        "a>b b=c a>c",
    ),
    ("home,away,result\na,b,1\nb,c,2\nc,a,1\n", ["--results", "1=home,2=away"], "a>b c>b c>a"),
    ("home,away,result\n1,2,1\n2,3,3\n3,1,3\n", ["--results", "winner"], "1>2 3>2 3>1"),
    ("home,away,result\na,b,1\nb,c,3\nc,a,0\n", ["--results", "difference"], "a>b b>c c=a"),
    ("home,away,result\na,b,1\nb,c,0\nc,a,1\n", ["--results", "points"], "a>b c>b c>a"),
    ("winner,loser,tie\na,b,True\nc,b,False\n", [], "a=b c>b"),
    ("# votes of May\nwinner,loser\na,b\nc,b\n", [], "a>b c>b"),
    ("voter,p1,p2\nAnn,x,y\nBob,y,x\n", ["--form", "orders", "--column", "item=p1,p2"], "x>y y>x"),
    ("ranking,item,rank\n1,007,1\n1,7,2\n01,7,1\n01,08,2\n", [], "007>7 7>08"),
]

ERRORS = [
    (
        "home,away,result\na,b,1\nb,c,2\nc,a,1\n",
        [],
        "numbers (1, 2), whose meaning is not certain",
        "--results 1=home,0=tie,2=away",
    ),
    (
        "home,away,result\na,b,0\nb,c,1\nc,a,1\n",
        [],
        "numbers (0, 1), whose meaning is not certain",
        "--results points (1, 1/2 or 0 of the home side)",
    ),
    ("home,away,result\n1,2,1\n2,3,3\n3,1,3\n", [], "whose meaning is not certain", "'winner'"),
    (
        "home,away,result\na,b,H\nb,c,x\n",
        [],
        "t.csv: result is 'x' in row 1",
        "the name of the winner",
    ),
    (
        "home,away,result\na,b,H\nb,c,\n",
        [],
        "t.csv: result is missing in row 1",
        "pass --results =tie",
    ),
    (
        "home,away,result\nA,B,A\nA,B,A\n",
        [],
        "result is 'A' in row 0, which may be",
        "--results winner",
    ),
    (
        "home,away,result\n-3,1,-3\n1,-3,1\n",
        [],
        "numbers (-3, 1), whose meaning is not certain",
        "'winner'",
    ),
    ("winner,loser\na,b\nb,\n", [], "t.csv: loser is empty in row 1", "a name in every row"),
    ("winner,loser\na,b\n", ["--results", "points"], "--results is 'points'", "the form 'pairs'"),
    ("winner,loser\na,a\n", [], "winner and loser are both 'a' in row 0", "two different items"),
    (
        "white,black,result\na,b,1-0\nb,a,1-0\n",
        [],
        "has the columns white, black, result",
        "--form matches --column home=white --column away=black",
    ),
    (
        "HomeTeam,AwayTeam,FTHG,FTAG,FTR\na,b,1,0,H\nb,a,1,0,H\n",
        [],
        "has the columns HomeTeam",
        "--column home=HomeTeam --column away=AwayTeam --column result=FTR",
    ),
    (
        "voter,p1,p2,p3\nAnn,x,y,z\nBob,y,x,z\n",
        ["--form", "orders"],
        "'voter', whose cells occur in no other column and look like names of voters",
        "item=p1,p2,p3",
    ),
    (
        "p1,p2,n\nx,y,30\ny,x,12\n",
        ["--form", "orders"],
        "'n', whose cells occur in no other column and look like counts",
        "weight=",
    ),
    ("p1,p2\nx,y\ny,y\n", ["--form", "orders"], "t.csv: row 1 is ['y', 'y']", "different items"),
]

NOTES = [
    (
        "winner,loser\n007,08\n08,7\n",
        [],
        "'007' and '7' differ only by case, spaces, leading zeros",
    ),
    ("winner,loser\na,b\nA,b\n", [], "'a' and 'A' differ only by case"),
    (
        "winner,loser,count\na,b,2\nb,a,3\n",
        [],
        "column 'count' is not used, so all rows have weight 1",
    ),
    ("# by us\nwinner,loser\na,b\nb,a\n", [], "the first line is a comment and skipped"),
    (
        "x,y,winner\np,q,p\nq,p,p\n",
        [],
        "'x' and 'y' are the items of a row, and 'winner' is the result",
    ),
    (
        "winner,loser,n\na,b,2\nb,a,0\n",
        ["--weight", "n"],
        "rows of weight 0, which do not count (1 of 2)",
    ),
]


def preferences(text):
    """Return weights by pair of names from a text such as "a>b b=c"."""
    found = {}
    for word in text.split():
        k, sign, l = word.partition(">" if ">" in word else "=")
        for pair in [(k, l)] if sign == ">" else [(k, l), (l, k)]:
            found[pair] = found.get(pair, 0) + (1 if sign == ">" else 0.5)
    return found


def weights(prefs):
    name, found = list(map(str, prefs.items)), {}
    for k, l, c in zip(prefs.better, prefs.worse, prefs.weight):
        found[name[k], name[l]] = found.get((name[k], name[l]), 0) + c
    return found


@pytest.mark.parametrize("text, options, known", WINS)
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_files_are_read_as_they_say(text, options, known, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = f"t.{kind}"
    if kind == "parquet":
        (tmp_path / "t.csv").write_text(text)
        lines = [line for line in text.splitlines() if line[0] != "#"]
        rows = [[cell.strip() for cell in line.split(",")] for line in lines]
        table = pd.DataFrame(rows[1:], columns=rows[0])
        for name in table:
            if all(cell.isdecimal() and str(int(cell)) == cell for cell in table[name]):
                table[name] = table[name].astype("int64")
            elif set(table[name]) <= {"True", "False"}:
                table[name] = table[name] == "True"
        table.to_parquet(file)
    else:
        (tmp_path / file).write_text(text if kind == "csv" else text.replace(",", "\t"))
    reader = rb.read_preferences
    arguments, words = {}, iter(options)
    for word in words:
        value = next(words)
        if word == "--column":
            word, _, value = value.partition("=")
            value = value.split(",")
        if word == "--results" and "=" in value:
            value = dict(pair.split("=") for pair in value.split(","))
        arguments[word.lstrip("-")] = value
    form = arguments.pop("form", None)
    halves = {} if form == "orders" or text.startswith("ranking") else dict(ties="half")
    with warnings.catch_warnings(record=True) as assumed:
        warnings.simplefilter("always")
        prefs = reader(file, form, **halves, **arguments)
    assert weights(prefs) == preferences(known)
    result = run("rank", file, *options, "--json")
    for each in assumed:  # the command prints what the reader assumes
        assert each.category is rb.Assumption
        assert text_in_words(str(each.message)) in result.stderr
    rows = json.loads(result.stdout)["items"]
    assert {row["item"] for row in rows} == {name for pair in preferences(known) for name in pair}


@pytest.mark.parametrize("text, options, said, way", ERRORS)
def test_what_a_file_does_not_say_is_asked(text, options, said, way, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(text)
    line = refused("rank", "t.csv", *options)
    assert said in line and way in line, line
    assert "t.csv" in line, line


@pytest.mark.parametrize("text, options, said", NOTES)
def test_decisions_are_said(text, options, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(text)
    result = run("rank", "t.csv", *options, "--json")
    assert result.exit_code == 0 and said in result.stderr
    assert any(said in note for note in json.loads(result.stdout)["notes"])
    if not options:
        with pytest.warns(rb.Assumption, match="^(t.csv|winner)"):
            rb.read_preferences("t.csv")


def test_roles_are_explained(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    votes = "id,Model_A,model_b,winner,judge\n1,x,y,Model_A,u\n2,y,z,tie,v\n"
    (tmp_path / "v.csv").write_text(votes)
    run("rank", "v.csv", "--explain")
    said = caplog.text  # on stderr where the root logger has no handlers
    for line in (
        "2 rows of form matches",
        "columns not used: id, judge",
        "(1 home, 1 tie, 0 away)",
    ):
        assert line in said
    assert [line.split()[:2] for line in said.splitlines()[2:5]] == [
        ["Model_A", "home"],
        ["model_b", "away"],
        ["winner", "result"],
    ]
    (tmp_path / "i.csv").write_text("qid,y,x,z,docid\n1,0,1,2,a\n1,1,2,3,b\n1,2,0,1,c\n")
    given = ["fit", "i.csv", "--target", "y", "--drop", "z", "-o", "m.rankbook", "--explain"]
    caplog.clear()
    run(*given)
    said = caplog.text
    assert "features: x" in said and "columns not used: z" in said
    assert [line.split()[0] for line in said.splitlines() if "its name" in line] == ["qid", "docid"]


def test_names_meet_across_types_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    items = pd.DataFrame(dict(name=["76", "12", "Heat", "007"], x=[1.0, 2.0, 3.0, 4.0]))
    items.to_csv("items.csv", index=False)
    items.to_parquet("items.parquet")
    (tmp_path / "votes.csv").write_text("winner,loser\n76,12\n12,007\n")
    for file in ("items.csv", "items.parquet"):
        done("fit", file, "--name", "name", "--preferences", "votes.csv", "-o", "m.rankbook")
    with pytest.warns(rb.Assumption, match="^items: the names '7' and '007' differ only by"):
        prefs = rb.read_preferences("votes.csv", items=[76, 12, 7, "Heat", "007"])
    assert prefs.better.tolist() == [0, 1] and prefs.worse.tolist() == [1, 4]
    assert rb.Preferences.from_pairs([(76, "Heat"), ("76", 12)]).items == ("76", "Heat", "12")


@pytest.mark.parametrize("make", [np.array, list, pd.Series])
def test_ids_in_python_are_never_guessed(make):
    ids = make([5901234123457, 4006381333931, 5901234123457])
    for way in (dict(items="names"), dict(items=[4006381333931, 5901234123457])):
        assert name_rows(dict(winner=np.asarray(ids)), **way)[1] == 2
    frame = dict(winner=ids, loser=make([1, 2, 3]))
    assert len(rb.Preferences.from_pairs(frame).items) == 5
    assert (
        rb.Preferences.from_pairs(dict(winner=make([2]), loser=make([0])), items="rows").n_items
        == 3
    )
    assert (
        rb.Preferences.from_pairs(dict(winner=make([2]), loser=make([0])), n_items=9).n_items == 9
    )
    with pytest.raises(
        ValueError, match="only 2 of the numbers from 0 to 205 occur.*items='names'"
    ):
        rb.Preferences.from_pairs([(101, 205)])
    unsigned = dict(home=np.array([2, 7], np.uint32), away=np.array([7, 2], np.uint64))
    assert rb.Preferences.from_matches(unsigned | dict(result=["H", "A"])).items == (2, 7)


def test_a_name_with_a_line_break_stays_in_its_row(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text('winner,loser\n"a\n1  forged",b\n')
    assert len(done("rank", "t.csv").splitlines()) == 4


def test_pairs_to_predict_keep_their_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "i.csv").write_text("name,x\n7,1\n007,2\nNA,3\n")
    (tmp_path / "v.csv").write_text("winner,loser\n007,7\nNA,007\n")
    given = ["i.csv", "--name", "name", "--preferences", "v.csv", "--loss", "logistic"]
    done("fit", *given, "-o", "m.rankbook")
    (tmp_path / "p.csv").write_text("=a,b\n007,7\n7,NA\n")
    done("predict", "m.rankbook", "i.csv", "--pairs", "p.csv", "-o", "o.csv")
    found = pd.read_csv("o.csv", dtype=str, keep_default_na=False)
    assert found.columns[0] == "'=a" and found["'=a"].tolist() == ["007", "7"]
    assert float(found.probability[0]) > 0.5 > float(found.probability[1])


def test_letor_text_may_begin_with_a_mark(tmp_path):
    for mark in (b"", b"\xef\xbb\xbf"):
        (file := tmp_path / "a.svm").write_bytes(mark + b"1 qid:1 1:2\n0 qid:1 1:1\n")
        assert rb.read_table(file).y.tolist() == [1, 0]
        assert rb.BlockRankSVMProblem(rb.read_blocks(file)).n_preferences == 1


def test_documents_keep_their_names_in_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(
        "qid,docid,y,x\n1.1,0012,0,1\n1.10,012,1,2\n1.10,NA,0,0\n1.1,3,1,4\n"
    )
    done("fit", "d.csv", "--target", "y", "--qid", "qid", "-o", "m.rankbook")
    done("predict", "m.rankbook", "d.csv", "--qid", "qid", "-o", "run.trec")
    lines = [line.split()[:3:2] for line in (tmp_path / "run.trec").read_text().splitlines()]
    assert sorted(lines) == [["1.1", "0012"], ["1.1", "3"], ["1.10", "012"], ["1.10", "NA"]]
    (tmp_path / "g.csv").write_text("qid,docid,y,x\n1,0012,0,1\n1,,1,2\n")
    said = refused("predict", "m.rankbook", "g.csv", "-o", "run.trec")
    assert "name is '' in row 1" in said
    assert "'1.1' is written as 1" in run("convert", "d.csv", "d.svm", "--target", "y").stderr
    lines = (tmp_path / "d.svm").read_text().splitlines()
    assert [line.split()[1] for line in lines] == ["qid:1", "qid:1", "qid:2", "qid:2"]
    assert [line.split()[-1] for line in lines] == ["0012", "3", "012", "NA"]
    done("convert", "g.csv", "g2.csv", "--target", "y")
    assert pd.read_csv("g2.csv", dtype=str, keep_default_na=False).docid.tolist() == ["0012", ""]


def test_parts_of_a_file_in_blocks_are_read_like_the_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("rankbook.data.file_blocks.CHUNK", 1000)
    rows = [f"{i % 3};{i // 2}" for i in range(1500)]
    (file := tmp_path / "c.csv").write_text("y;x\n" + "\n".join(rows) + "\n2;1,5\n")
    with pytest.warns(rb.Assumption, match="commas as decimal points"):
        blocks = rb.read_blocks(file, "y", rows=1000)
    with pytest.warns(rb.Assumption, match="commas as decimal points"):
        whole = rb.read_table(file, "y")
    assert np.array_equal(np.concatenate([block.X for block in blocks]), whole.X)
    rows = [f"{i % 3},True" for i in range(1000)] + [f"{i % 3},1" for i in range(1000)]
    (file := tmp_path / "b.csv").write_text("y,x\n" + "\n".join(rows) + "\n")
    for read in (rb.read_table, rb.read_blocks):
        with pytest.raises(ValueError, match="in column 'x'|that are not numbers: 'x'"):
            read(file, "y")


@pytest.mark.parametrize(
    "text, known",
    [
        ("home,away,result,judge\n5,7,7,b\n7,5,-4,a\n7,9,-3,a\n9,5,4,a\n", "5>7 5>7 9>7 9>5"),
        ("home,away,result,judge\na,b,2,u\nb,c,-1,v\nc,a,1,u\na,b,3,v\n", "a>b c>b c>a a>b"),
        ("home,away,result,judge\na,b,1,u\nb,c,.5,v\nc,a,0,u\n", "a>b b=c a>c"),
    ],
)
def test_results_mean_the_same_in_every_group(text, known, tmp_path):
    (file := tmp_path / "t.csv").write_text(text)
    records = read_records(rb.Preferences, file, None, dict(ties="half"), ["judge"])
    prefs, group = records.make_grouped("judge")
    assert weights(prefs) == preferences(known) == weights(records.make())
    assert len(group) == len(prefs) and set(group) == {0, 1}


@pytest.mark.parametrize(
    "text, options",
    [
        ("voter,p,q\nann,x,y\nann,y,x\nben,y,x\nben,x,y\n", ["--form", "orders"]),
        ("model_a,model_b,winner\ntie,away,tie\n", []),
        ('home,away,result\n" A",A," A"\n', []),
        ("A,B,winner\nx,y,A\ny,x,D\n", []),
        ("home,away,result\na,b,10:05\nb,a,2024-01\n", []),
        ("home,away,result\na,b,1\nb,a,2\n", ["--results", "1=home,1=away,2=tie"]),
        ("home,away,result\n101,205,101\n205,101,205\n", ["--results", "difference"]),
        (
            "model_a,model_b,w,answer_a,answer_b\nx,y,x,u,v\n",
            ["--winner", "w", "--column", "home=w2"],
        ),
        ("session,item,rank,click\n1,a,1,1\n1,b,2,0\n", []),
        ("home_team,away_team,a_wins\nx,y,1\ny,x,0\n", []),
    ],
)
def test_what_may_mean_two_things_is_refused(text, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(text)
    result = run("rank", "t.csv", *options)
    assert result.exit_code == 2 and "--form pairs" not in result.stderr


def test_spaces_belong_to_names_in_memory_but_not_in_files(tmp_path):
    (file := tmp_path / "t.csv").write_text('home,away,result\n" A",B,A \n"B", C," C"\n')
    assert weights(rb.read_preferences(file)) == {("A", "B"): 1, ("C", "B"): 1}
    same = dict(home=[" A"], away=["A"], result=[" A"])
    with pytest.warns(rb.Assumption, match="' A' and 'A' differ only by case, spaces"):
        prefs = rb.Preferences.from_matches(same, results="winner")
    assert prefs.items[prefs.better[0]] == " A"


def test_ids_written_as_floats_and_empty_ties(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("home,away,winner\n107,100,107.0\n100,114,\n107,114,114.0\n")
    with pytest.warns(rb.Assumption, match="'winner' is the result; home= and away= name"):
        found = rb.read_preferences("t.csv", ties="half", results={"": "tie"})
    assert weights(found) == preferences("107>100 100=114 114>107")
    assert "pass --results =tie" in run("rank", "t.csv").stderr
    rows = json.loads(done("rank", "t.csv", "--results", "=tie", "--json"))["items"]
    assert [row["item"] for row in rows][0] == "114"


def test_ratings_are_ranks_from_the_top(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("user,film,stars\n1,a,5\n1,b,2\n2,b,1\n2,a,4\n01,b,3\n01,a,3\n")
    columns = ["ranking=user", "item=film", "rating=stars"]
    given = [word for column in columns for word in ("--column", column)]
    rows = json.loads(done("rank", "r.csv", *given, "--json"))["items"]
    assert [row["item"] for row in rows] == ["a", "b"]
    prefs = rb.read_preferences("r.csv", ranking="user", item="film", rating="stars")
    assert weights(prefs) == {("a", "b"): 2}


def test_ids_of_sessions_and_types_in_lists_are_kept():
    log = dict(session=[1, "1"], item=["a", "b"], rank=[1, 2], click=[1, 0])
    assert len(rb.Preferences.from_clicks(log)) == 1
    order = dict(ranking=[1, "1"], item=["a", "b"], rank=[1, 2])
    assert len(rb.Preferences.from_rankings(order)) == 1
    for name, words in ((float("nan"), "winner is empty in row 0"), (1.5, "1.5"), (True, "True")):
        with pytest.raises(ValueError, match=words):
            rb.Preferences.from_pairs(dict(winner=[name, "a"], loser=["b", "c"]))
    assert rb.Preferences.from_pairs(dict(winner=[1.0, "a"], loser=["b", "1"])).items[0] == "1"
    large = dict(winner=[2**63 + 1, -1], loser=[5, 6])
    assert rb.Preferences.from_pairs(large).items == (2**63 + 1, 5, -1, 6)
