"""Tables drawn at random: names, outcomes, units and layouts must not change what is learnt.

Each table is written with odd names, codes and layouts, and compared with the same votes written
down as numbers. With --slow there are 2,000 tables, otherwise 80.
"""

import json
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from shell import done

import rankbook as rb

STYLES = {
    "digits": ["76", "12", "3", "101", "9"],
    "zeros": ["007", "7", "08", "8", "0"],
    "missing": ["NA", "null", "nan", "None", "n/a"],
    "spaces": ["a b", "c d", "x  y", "long name", "a"],
    "unicode": ["Köln", "東京", "İzmir", "ß", "Ω"],
    "huge": ["5901234123457", "1500000000", "18446744073709551615", "99999999999999999999", "4"],
    "mixed": ["76", "Heat", "0012", "NA", "1.10"],
    "numbers": ["1.1", "1.10", "1e5", "100000", "-3"],
    "truths": ["True", "true", "False", "1", "0"],
    "sides": ["home", "away", "H", "tie", "left"],
    "ids": ["1001", "1002", "2050", "3333", "70000"],
}
OUTCOMES = dict(home=1, tie=0, away=-1)


def cell(rng, text, mark, quoted):
    """Write a cell: with spaces around it if it is not in quotes, which do not matter."""
    if quoted or any(sign in text for sign in (mark, '"')):
        return f'"{text}"'
    return " " * rng.integers(0, 2) + text + " " * rng.integers(0, 3)


def write(rng, path, columns, kind):
    """Write columns (dict of lists of str) with rows, and then columns, in random order."""
    names = list(rng.permutation(list(columns)))
    rows = rng.permutation(len(next(iter(columns.values()))))
    table = pd.DataFrame({name: np.array(columns[name], dtype=object)[rows] for name in names})
    if kind == "parquet":
        for name in table:
            whole = [str(v).lstrip("-").isdigit() and str(int(v)) == v for v in table[name]]
            if all(whole) and all(abs(int(v)) < 2**63 for v in table[name]):
                kinds = ["int64"] + ["uint64"] * all(int(v) >= 0 for v in table[name])
                table[name] = table[name].astype(rng.choice(kinds))
            elif name in ("weight", "x", "rank", "tie", "hg", "ag"):
                table[name] = table[name].astype(float)
        table.to_parquet(path, index=False)
        return
    mark, quoted = "\t" if kind == "tsv" else rng.choice([",", ";"]), rng.random() < 0.3
    lines = [[str(name) for name in table], *table.astype(str).to_numpy().tolist()]
    lines = [mark.join(cell(rng, text, mark, quoted) for text in line) for line in lines]
    end = rng.choice(["\n", "\r\n"])
    start = rng.choice(["", "\ufeff"])
    path.write_bytes((start + end.join(lines) + end).encode())


def coded(rng, first, second, ahead, style):
    """Return columns of one coding of outcomes, the arguments that it needs, and its form."""
    sides = ["model_a", "model_b"] if rng.random() < 0.5 else ["home", "away"]
    columns, more = dict(zip(sides, (first, second))), dict(zip(("home", "away"), sides))
    codings = "letters words sides winner codes difference points goals scores pairs tied".split()
    how = rng.choice(
        [c for c in codings if style != "sides" or c not in ("letters", "words", "sides")]
    )
    word = lambda *words: [words[1 - int(a)] for a in ahead]
    if how in ("pairs", "tied"):
        won = [a if sign >= 0 else b for a, b, sign in zip(first, second, ahead)]
        lost = [b if sign >= 0 else a for a, b, sign in zip(first, second, ahead)]
        return dict(winner=won, loser=lost, tie=[str(int(a == 0)) for a in ahead]), {}, None
    if how == "letters":
        columns["result"] = word("H", "D", "A")
    elif how == "words":
        columns["result"] = word("home", "tie", "away")
    elif how == "sides":
        columns["result"] = word(
            sides[0], rng.choice(["tie", "both_bad", "tie (bothbad)"]), sides[1]
        )
    elif how == "winner":
        results = [a if s > 0 else b if s < 0 else "draw" for a, b, s in zip(first, second, ahead)]
        columns["result"] = results
        if style in ("sides", "numbers") or rng.random() < 0.5:  # else uncertain: draw, -3
            more["results"] = {"draw": "tie"} if style == "sides" else "winner"
    elif how == "codes":
        columns["result"] = word("1", "X", "2")
        more["results"] = {"1": "home", "X": "tie", "2": "away"}
    elif how == "difference":
        columns["result"] = [str(int(a) * int(rng.integers(1, 5))) for a in ahead]
        more["results"] = "difference"
    elif how == "points":
        columns["result"], more["results"] = word("1", "0.5", "0"), "points"
    elif how == "goals":
        less = rng.integers(0, 4, len(ahead))
        columns |= dict(hg=[str(g + max(int(a), 0)) for g, a in zip(less, ahead)])
        columns |= dict(ag=[str(g + max(int(-a), 0)) for g, a in zip(less, ahead)])
        more["result"] = ["hg", "ag"]
    elif how == "scores":
        columns["result"] = word("1-0", "1/2-1/2", "0-1")
    return columns, more, "matches"


@pytest.fixture(scope="module")
def count(amount):
    return amount(80, 2000)


def votes_of(rng):
    """Draw votes between items of one style: sides, outcomes, weights and a pair feature."""
    style = rng.choice(list(STYLES))
    names = list(rng.permutation(STYLES[style]))[: rng.integers(3, 6)]
    m = int(rng.integers(6, 30))
    i = rng.integers(0, len(names), m)
    j = (i + rng.integers(1, len(names), m)) % len(names)
    return style, names, i, j, rng.choice([1, 0, -1], m, p=[0.5, 0.2, 0.3])


def seen(prefs):
    """Return the weight of each pair of names, with the pair's feature."""
    name = list(map(str, prefs.items))
    features = prefs.pair_features
    found = Counter()
    for r, (k, l, c) in enumerate(zip(prefs.better, prefs.worse, prefs.weight)):
        x = 0.0 if features is None else round(float(features[r, 0]), 9)
        found[name[k], name[l], x + 0.0] += c
    return {key: round(c, 9) for key, c in found.items()}


def expected(names, i, j, ahead, weight, x):
    found = Counter()
    for a, b, sign, c, z in zip(i, j, ahead, weight, x):
        for s in (1, -1) if sign == 0 else (sign,):
            k, l = (a, b) if s > 0 else (b, a)
            found[names[k], names[l], round(s * z, 9) + 0.0] += c / 2 if sign == 0 else c
    return {key: round(c, 9) for key, c in found.items()}


def test_votes_are_read_alike_whatever_the_table(tmp_path, count):
    for seed in range(count):
        rng = np.random.default_rng([seed, 1])
        style, names, i, j, ahead = votes_of(rng)
        first, second = ([names[r] for r in rows] for rows in (i, j))
        columns, more, form = coded(rng, first, second, ahead, style)
        m = len(i)
        weight = rng.integers(1, 4, m) if rng.random() < 0.3 else np.ones(m, int)
        if (weight != 1).any():
            columns, more = (
                columns | dict(weight=list(map(str, weight))),
                more | dict(weight="weight"),
            )
        unit = 10.0 ** rng.integers(-6, 7)
        z = np.zeros(m)
        if form is not None and rng.random() < 0.3:
            z = rng.integers(1, 90, m) * unit
            columns, more = (
                columns | dict(x=[repr(float(v)) for v in z]),
                more | dict(pair_features="x"),
            )
        if rng.random() < 0.3:
            columns["comment"] = [str(rng.choice(["good", "so, so", "NA", ""])) for _ in range(m)]
            columns["question"] = [str(1000 + r) for r in range(m)]
        if rng.random() < 0.2 and form is None:
            columns = {name.upper(): column for name, column in columns.items()}
            if "weight" in more:
                more["weight"] = "WEIGHT"
        kind = rng.choice(["csv", "csv", "tsv", "parquet"])
        path = tmp_path / f"votes.{kind}"
        write(rng, path, columns, kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rb.Assumption)
            try:
                prefs = rb.read_preferences(path, form, ties="half", **more)
            except Exception as error:
                raise AssertionError((seed, style, columns, more)) from error
        known = expected(names, i, j, ahead, weight, z)
        assert seen(prefs) == known, (seed, style, columns, more)


@pytest.mark.filterwarnings("ignore:the data show no difference between the items")
def test_leaderboards_are_alike_whatever_the_names(tmp_path, count):
    for seed in range(count // 10):
        rng = np.random.default_rng([seed, 2])
        style, names, i, j, ahead = votes_of(rng)
        first, second = ([names[r] for r in rows] for rows in (i, j))
        columns, more, form = coded(rng, first, second, ahead, style)
        path = tmp_path / f"votes.{(kind := rng.choice(['csv', 'tsv', 'parquet']))}"
        write(rng, path, columns, kind)
        plain = dict(home=[f"n{k}" for k in i], away=[f"n{k}" for k in j])
        plain["result"] = [{1: "H", 0: "D", -1: "A"}[int(a)] for a in ahead]
        pd.DataFrame(plain).to_csv(tmp_path / "plain.csv", index=False)
        options = []
        for name, value in more.items():
            if name == "results" and isinstance(value, dict):
                value = ",".join(f"{cell}={meaning}" for cell, meaning in value.items())
            value = ",".join(value) if isinstance(value, list) else value
            options += (
                [f"--{name}", value] if name == "results" else ["--column", f"{name}={value}"]
            )
        options += [] if form is None else ["--form", form]
        found, known = (
            {row["item"]: row for row in json.loads(done("rank", *given, "--json"))["items"]}
            for given in ([path, *options], [tmp_path / "plain.csv"])
        )
        assert set(found) == {names[k] for k in {*i, *j}}, (seed, columns)
        for k in {*i, *j}:
            same = found[names[k]], known[f"n{k}"]
            assert abs(same[0]["score"] - same[1]["score"]) < 1e-6, (seed, columns)


def test_items_and_queries_are_read_alike_whatever_their_names(tmp_path, count):
    for seed in range(count // 4):
        rng = np.random.default_rng([seed, 3])
        names = STYLES[style := rng.choice([s for s in STYLES if s != "spaces"])]
        queries = STYLES[rng.choice(list(STYLES))]
        size = rng.integers(1, 6, len(queries))
        qid = [q for q, k in zip(queries, size) for _ in range(k)]
        docs = [d for k in size for d in rng.permutation(names)[:k]]
        y, x = rng.integers(0, 3, len(qid)), rng.normal(size=len(qid))
        table = pd.DataFrame(dict(qid=qid, docid=docs, label=y, x=x))
        table.to_csv(path := tmp_path / "items.csv", index=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rb.Assumption)
            data = rb.read_table(path)
            blocks = rb.read_blocks(path, "label", "qid", features=["x"], rows=2)
        assert list(map(str, data.qid)) == qid and data.item_names == docs, (seed, style)
        number = np.repeat(np.arange(len(queries)), size)
        pairs = len(rb.Preferences.from_scores(y, number))
        if not pairs:
            continue
        assert len(rb.Preferences.from_scores(data.y, data.qid)) == pairs
        assert rb.BlockRankSVMProblem(blocks).n_preferences == pairs, (seed, queries)
        ids = [str(q) for block in blocks for q in block.qid]
        assert ids == qid, (seed, queries)
