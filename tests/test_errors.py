"""What a caller can do wrong, and the message for it.

It names the argument as the caller wrote it and what came, and says in its second sentence what to
do.
"""

import copy
import pickle
import re
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import KFold

import rankbook as rb
from rankbook import datasets, metrics, plots
from rankbook.base.errors import ArgumentError
from rankbook.kernels.basis import choose_basis
from rankbook.kernels.kernel import Kernel
from rankbook.kernels.nystroem import NystroemMap
from rankbook.problems.certificate import Solution
from rankbook.problems.rankrls_statistics import StatisticsProblem, merge_statistics
from rankbook.problems.rayleigh import auc_bound
from rankbook.problems.svm import MulticlassSVMProblem
from rankbook.selection.leave_out import leave_out_predictions, leave_pair_out

N, D = 12, 3
RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(N, D)), RNG.normal(size=(5, D))
Y = np.tile([0.0, 1.0, 2.0], 4)
LABELS = np.tile([0, 1], 6)
QID = np.repeat([1, 2], 6)
NONE_IN_QID = [1, 1, None, *QID[3:]]
RAGGED = [[1.0, 2.0, 3.0]] * (N - 1) + [[1.0, 2.0]]
CUBE = np.zeros((N, D, 2))
WORDS = X.astype(str)


def with_nan(A, *place):
    A = np.array(A, dtype=float)
    A[place] = np.nan
    return A


def prefs(**more):
    return rb.Preferences.from_scores(Y, **more)


def survival(qid=None):
    """Times 0 to 11, of which every other one is censored."""
    return rb.Preferences.from_survival(np.arange(N), LABELS == 0, qid)


def log(rows=3, **columns):
    """A session in which the second and third of three items are clicked."""
    table = dict(session=[7, 7, 7], item=["a", "b", "c"], rank=[1, 2, 3], click=[0, 1, 1])
    return {name: column[:rows] for name, column in (table | columns).items()}


def ranked(rows=3, **columns):
    """One order of three items."""
    table = dict(ranking=[7, 7, 7], item=["a", "b", "c"], rank=[1, 2, 3])
    return {name: column[:rows] for name, column in (table | columns).items()}


def of_rankings(columns, options):
    return rb.Preferences.from_rankings(ranked(**columns), **options)


def svm(items=X, graph=None, **options):
    return rb.RankSVMProblem(items, prefs() if graph is None else graph, **options)


@cache
def rls(**options):
    return rb.RankRLSProblem(X, Y, kernel="linear", **options)


@cache
def solution():
    return rb.solve(svm(kernel="linear"), 1.0, "newton")


@cache
def path():
    return rb.solve_path(svm(kernel="linear"), solver="path")


@cache
def curve():
    return rb.validation_curve(path(), X, prefs())


def statistics():
    return rb.RankingStatistics().add(X, Y, QID)


def table(tmp_path, text="a,b,y\n1,2,3\n4,5,6\n", name="t.csv"):
    file = tmp_path / name
    file.write_text(text)
    return file


# what the caller wrote, the type of the error, and what the message says
LATE = rb.Orders.from_survival([1.0, 2.0], [1, 1], entry=[0.0, 0.5])
PREFERENCES = [
    (
        "reweighted by too few",
        lambda: prefs().reweighted(weight=[1.0]),
        ValueError,
        r"^weight has shape \(1,\). Pass an array of shape \(48,\)",
    ),
    (
        "reweighted by a margin of NaN",
        lambda: prefs().reweighted(margin=with_nan(np.ones(48), 2)),
        ValueError,
        r"^margin has NaN at index 2. Pass",
    ),
    (
        "from_survival of times with NaN",
        lambda: rb.Preferences.from_survival(with_nan(Y, 3), LABELS),
        ValueError,
        r"^time has NaN at index 3. Pass finite numbers",
    ),
    (
        "Orders that name an item twice",
        lambda: rb.Orders.from_rankings([[0, 1], [2, 2]]),
        ValueError,
        r"^orders\[1\] is \[2, 2\]. Pass a sequence of different items",
    ),
    (
        "Orders of survival times with NaN",
        lambda: rb.Orders.from_survival(with_nan(Y, 3), LABELS),
        ValueError,
        r"^time has NaN at index 3. Pass finite numbers",
    ),
    (
        "Orders of an entry at the time of the event",
        lambda: rb.Orders.from_survival([1.0, 2.0], [1, 1], entry=[0.0, 2.0]),
        ValueError,
        "^entry is 2 in row 1, where time is 2. Leave out rows without a time at",
    ),
    (
        "Uno's concordance of late entries",
        lambda: metrics.concordance(LATE, [1.0, 2.0], train=LATE),
        ValueError,
        r"^train is given and y_true has patients who enter late. Pass train=None",
    ),
    (
        "a Brier score of late entries",
        lambda: metrics.survival_brier(LATE, [0.5, 0.5], 1.0, train=LATE),
        ValueError,
        r"^y_true has patients who enter late, but .*observed from the start. Pass survival times",
    ),
    (
        "a hinge of late entries",
        lambda: rb.RankSVM(kernel="linear").fit([[1.0], [2.0]], LATE),
        ValueError,
        r"^prefs has patients who enter late, .*. Pass loss='plackett-luce'",
    ),
    (
        "a baseline hazard of other scores",
        lambda: rb.BaselineHazard(rb.Orders.from_survival(Y, LABELS), Y[1:]),
        ValueError,
        r"^y_score has shape \(11,\). Pass an array of shape \(12,\)",
    ),
    (
        "Orders of pairs",
        lambda: rb.Orders.from_preferences(rb.Preferences([0], [1], 2)),
        ValueError,
        r"^prefs is Preferences\(.*not a sequence of choices. Pass Preferences of all pairs",
    ),
    (
        "the first 0 places",
        lambda: rb.Orders.from_rankings([[0, 1]], top=0),
        ValueError,
        r"^top is 0. Pass an integer >= 1",
    ),
    (
        "from_survival of events that are grades",
        lambda: rb.Preferences.from_survival(Y, Y),
        ValueError,
        r"^event is 2.0 in row 2. Pass True and False, or 1 and 0",
    ),
    (
        "from_survival of fewer events",
        lambda: rb.Preferences.from_survival(Y, LABELS[1:]),
        ValueError,
        "^time has 12 entries and event has 11. Pass arrays of equal length",
    ),
    (
        "query_weighted by an unknown word",
        lambda: prefs().query_weighted("same"),
        ValueError,
        r"^query_weight is 'same'. Pass 'equal'",
    ),
    (
        "query_weighted pairs",
        lambda: rb.Preferences([0], [1], 2).query_weighted(),
        ValueError,
        "^query_weight is given, and a graph of pairs has no queries. Pass a graph of scores",
    ),
    (
        "y with NaN",
        lambda: rb.Preferences.from_scores(with_nan(Y, 3)),
        ValueError,
        r"^y has NaN at index 3. Pass",
    ),
    (
        "y as numeric strings",
        lambda: rb.Preferences.from_scores(["1", "2"]),
        TypeError,
        r"^y cannot be read as numbers .*'1'.* Pass",
    ),
    (
        "y as objects of text",
        lambda: rb.Preferences.from_scores(np.array([1.0, "2"], dtype=object)),
        TypeError,
        r"^y cannot be read as numbers .*'2'.* Pass",
    ),
    (
        "y as dates",
        lambda: rb.Preferences.from_scores(np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]")),
        TypeError,
        r"^y .*datetime64.* Pass",
    ),
    (
        "y as a matrix",
        lambda: rb.Preferences.from_scores(X),
        ValueError,
        r"^y has shape \(12, 3\). Pass",
    ),
    (
        "y ragged",
        lambda: rb.Preferences.from_scores([[1.0], [1.0, 2.0]]),
        ValueError,
        r"^y .*unequal.* Pass",
    ),
    (
        "y complex",
        lambda: rb.Preferences.from_scores(Y + 1j),
        TypeError,
        r"^y has complex entries. Pass",
    ),
    (
        "y a number",
        lambda: rb.Preferences.from_scores(1.0),
        ValueError,
        r"^y has shape \(\). Pass",
    ),
    (
        "y empty",
        lambda: rb.Preferences.from_scores([]),
        ValueError,
        r"^y has shape \(0,\). Pass",
    ),
    (
        "qid with None",
        lambda: rb.Preferences.from_scores(Y, qid=NONE_IN_QID),
        ValueError,
        r"^qid has None at index 2. Pass",
    ),
    (
        "qid with NaN",
        lambda: rb.Preferences.from_scores(Y, qid=with_nan(QID, 4)),
        ValueError,
        r"^qid has NaN at index 4. Pass",
    ),
    (
        "qid of several kinds",
        lambda: rb.Preferences.from_scores([1, 2], qid=np.array([1, "a"], dtype=object)),
        TypeError,
        r"^qid .*sort.* Pass",
    ),
    (
        "qid too short",
        lambda: rb.Preferences.from_scores(Y, qid=QID[:5]),
        ValueError,
        r"^qid has shape \(5,\). Pass an array of shape \(12,\), one",
    ),
    (
        "qid a matrix",
        lambda: rb.Preferences.from_scores(Y, qid=X),
        ValueError,
        r"^qid has shape \(12, 3\). Pass",
    ),
    (
        "graph unknown",
        lambda: rb.Preferences.from_scores(Y, graph="ful"),
        ValueError,
        r"^graph is 'ful'.*did you mean 'full'\?",
    ),
    (
        "graph an array",
        lambda: rb.Preferences.from_scores(Y, graph=X),
        ValueError,
        "^graph is",
    ),
    (
        "better as floats",
        lambda: rb.Preferences([0.0], [1], 3),
        TypeError,
        r"^better has dtype float64. Pass",
    ),
    (
        "worse as booleans",
        lambda: rb.Preferences([0], [True], 3),
        TypeError,
        r"^worse has dtype bool. Pass",
    ),
    (
        "better out of range",
        lambda: rb.Preferences([3], [1], 3),
        ValueError,
        r"^better has 3 at index 0. Pass item numbers from 0 to 2",
    ),
    (
        "worse negative",
        lambda: rb.Preferences([1], [-1], 3),
        ValueError,
        r"^worse has -1 at index 0. Pass",
    ),
    (
        "better ragged",
        lambda: rb.Preferences([[0], [1, 2]], [1, 2], 3),
        ValueError,
        r"^better .*unequal.* Pass",
    ),
    (
        "better longer",
        lambda: rb.Preferences([0, 1], [2], 3),
        ValueError,
        r"^better has 2 entries and worse has 1. Pass",
    ),
    (
        "an item to itself",
        lambda: rb.Preferences([1], [1], 3),
        ValueError,
        r"^better and worse are both 1 .* Pass",
    ),
    (
        "n_items a float",
        lambda: rb.Preferences([0], [1], 2.5),
        ValueError,
        r"^n_items is 2.5. Pass",
    ),
    (
        "n_items None",
        lambda: rb.Preferences([0], [1], None),
        TypeError,
        r"^n_items is None. Pass",
    ),
    (
        "weight negative",
        lambda: rb.Preferences([0], [1], 2, weight=[-1.0]),
        ValueError,
        r"^weight has -1.0 at index 0. Pass",
    ),
    (
        "weight too long",
        lambda: rb.Preferences([0], [1], 2, weight=[1.0, 2.0]),
        ValueError,
        r"^weight has shape \(2,\). Pass an array of shape \(1,\)",
    ),
    (
        "margin infinite",
        lambda: rb.Preferences([0], [1], 2, margin=[np.inf]),
        ValueError,
        r"^margin has infinity at index 0. Pass finite numbers",
    ),
    (
        "item_weight text",
        lambda: prefs().item_weighted(["a"] * N),
        TypeError,
        r"^item_weight cannot be read as numbers .* Pass",
    ),
    (
        "orders of floats",
        lambda: rb.Preferences.from_rankings([[0.5, 1.5]]),
        TypeError,
        r"^orders\[0\] is 0.5 in place 0. Pass a name",
    ),
    (
        "orders negative",
        lambda: rb.Preferences.from_rankings([[0, 1], [2, -1]]),
        ValueError,
        r"^orders\[1\] is -1 in place 1. Pass row numbers",
    ),
    (
        "orders beyond n_items",
        lambda: rb.Preferences.from_rankings([[0, 5]], n_items=3),
        ValueError,
        r"^orders\[0\] is 5 in place 1. Pass item numbers from 0 to 2",
    ),
    (
        "orders repeat",
        lambda: rb.Preferences.from_rankings([[0, 1, 0]]),
        ValueError,
        r"^orders\[0\] is \[0, 1, 0\]. Pass",
    ),
    (
        "orders empty",
        lambda: rb.Preferences.from_rankings([]),
        ValueError,
        r"^orders is empty. Pass",
    ),
    (
        "orders a number",
        lambda: rb.Preferences.from_rankings(3),
        TypeError,
        r"^orders is 3. Pass",
    ),
    (
        "an order of a number",
        lambda: rb.Preferences.from_rankings([[0, 1], 2]),
        TypeError,
        r"^orders\[1\] is 2. Pass",
    ),
    (
        "orders of an unknown name",
        lambda: rb.Preferences.from_rankings([["a", "b"], ["b", "c"]], items=["a", "b"]),
        ValueError,
        r"^orders\[1\] is 'c' in place 1, which is not among the 2 items. Pass",
    ),
    (
        "orders of names and n_items",
        lambda: rb.Preferences.from_rankings([["a", "b"]], n_items=2),
        ValueError,
        r"^orders\[0\] is 'a' in place 0, and n_items is 2. Pass row numbers",
    ),
    (
        "orders with items and n_items",
        lambda: rb.Preferences.from_rankings([[0, 1]], n_items=2, items=[0, 1]),
        ValueError,
        r"^items and n_items are both given. Pass",
    ),
    (
        "a name twice in a group",
        lambda: rb.Preferences.from_rankings([["a", ["b", "b"]]]),
        ValueError,
        r"^orders\[0\] is \['a', 'b', 'b'\]. Pass",
    ),
    *(
        (
            f"a table of orders with {what}",
            partial(of_rankings, columns, more),
            kind,
            said,
        )
        for what, columns, more, kind, said in (
            (
                "no such column",
                {},
                dict(rank="place"),
                ValueError,
                r"^rank is 'place', and the table has the columns .* Pass",
            ),
            (
                "no row",
                dict(rows=0),
                {},
                ValueError,
                r"^table has no row. Pass",
            ),
            (
                "an item twice",
                dict(item=["a", "b", "a"]),
                {},
                ValueError,
                r"^item is 'a' in rows 0 and 2 of ranking 7. Pass",
            ),
            (
                "a rank that is NaN",
                dict(rank=[1, np.nan, 2]),
                {},
                ValueError,
                r"^rank has NaN at index 1. Pass",
            ),
            (
                "a rank of text",
                dict(rank=["1st", "2nd", "3rd"]),
                {},
                TypeError,
                r"^rank cannot be read as numbers .*'1st'.* Pass",
            ),
            (
                "a ranking that is None",
                dict(ranking=np.array([7, None, 7], dtype=object)),
                {},
                ValueError,
                r"^ranking is None in row 1. Pass",
            ),
            (
                "an unknown item",
                {},
                dict(items=["a", "b"]),
                ValueError,
                r"^item is 'c' in row 2, which is not among the 2 items. Pass",
            ),
            (
                "an item beyond n_items",
                dict(item=[0, 1, 5]),
                dict(n_items=3),
                ValueError,
                r"^item is 5 in row 2. Pass item numbers from 0 to 2",
            ),
            (
                "items and n_items",
                {},
                dict(items=["a", "b", "c"], n_items=3),
                ValueError,
                r"^items and n_items are both given. Pass",
            ),
        )
    ),
    (
        "pairs text",
        lambda: rb.Preferences.from_pairs("ab"),
        TypeError,
        r"^pairs is a str. Pass",
    ),
    (
        "pairs of three",
        lambda: rb.Preferences.from_pairs([(0, 1), (0, 1, 2)]),
        ValueError,
        r"^pairs has \(0, 1, 2\) in row 1. Pass",
    ),
    (
        "pairs none",
        lambda: rb.Preferences.from_pairs([]),
        ValueError,
        r"^table has no row. Pass",
    ),
    (
        "pairs without the column",
        lambda: rb.Preferences.from_pairs(dict(won=["a"], loser=["b"])),
        ValueError,
        r"^winner is 'winner', and the table has the columns 'won', 'loser'. Pass",
    ),
    (
        "pairs with a missing name",
        lambda: rb.Preferences.from_pairs(dict(winner=["a", None], loser=["b", "c"])),
        ValueError,
        r"^winner is None in row 1. Pass",
    ),
    (
        "pairs of fractions",
        lambda: rb.Preferences.from_pairs([(0.5, 1)]),
        TypeError,
        r"^winner is 0.5 in row 0. Pass a name",
    ),
    (
        "pairs negative",
        lambda: rb.Preferences.from_pairs([(0, -1)]),
        ValueError,
        r"^loser is -1 in row 0. Pass row numbers",
    ),
    (
        "pairs of an unknown name",
        lambda: rb.Preferences.from_pairs([("a", "b"), ("a", "x")], items=["a", "b"]),
        ValueError,
        r"^loser is 'x' in row 1, which is not among the 2 items. Pass",
    ),
    (
        "pairs of numbers as text",
        lambda: rb.Preferences.from_pairs([("00", "1")], items=[0, 1]),
        ValueError,
        r"^winner is '00' in row 0, .* items \(it has '0'\). Pass",
    ),
    (
        "pairs with oneself",
        lambda: rb.Preferences.from_pairs([("a", "b"), ("c", "c")]),
        ValueError,
        r"^winner and loser are both 'c' in row 1. Pass",
    ),
    (
        "items twice",
        lambda: rb.Preferences.from_pairs([("a", "b")], items=["a", "b", "a"]),
        ValueError,
        r"^items has a second 'a' at index 2. Pass",
    ),
    (
        "items text",
        lambda: rb.Preferences.from_pairs([("a", "b")], items="ab"),
        TypeError,
        r"^items is 'ab'. Pass a sequence of names",
    ),
    (
        "items a matrix",
        lambda: rb.Preferences.from_pairs([("a", "b")], items=X),
        TypeError,
        r"^items is an ndarray. Pass",
    ),
    (
        "weight of pairs negative",
        lambda: rb.Preferences.from_pairs([(0, 1), (1, 2)], weight=[1.0, -1.0]),
        ValueError,
        r"^weight has -1.0 at index 1. Pass",
    ),
    (
        "weight of pairs text",
        lambda: rb.Preferences.from_pairs(
            dict(winner=["a"], loser=["b"], votes=["3"]), weight="votes"
        ),
        TypeError,
        r"^weight cannot be read as numbers .* Pass",
    ),
    (
        "margin of pairs too short",
        lambda: rb.Preferences.from_pairs([(0, 1), (1, 2)], margin=[1.0]),
        ValueError,
        r"^margin has shape \(1,\). Pass",
    ),
    (
        "ties refused",
        lambda: rb.Preferences.from_pairs([(0, 1), (1, 2)], tie=[False, True]),
        ValueError,
        r"^ties is 'refuse', and row 1 is a tie \(1 of 2 rows are\). Pass",
    ),
    (
        "ties unknown",
        lambda: rb.Preferences.from_pairs([(0, 1)], ties="keep"),
        ValueError,
        r"^ties is 'keep'. Pass one of: drop, half, refuse",
    ),
    (
        "tie in words",
        lambda: rb.Preferences.from_pairs([(0, 1)], tie=["no"]),
        ValueError,
        r"^tie is 'no' in row 0. Pass",
    ),
    (
        "query_weight unknown",
        lambda: prefs(qid=QID, query_weight="same"),
        ValueError,
        r"^query_weight is 'same'. Pass 'equal'",
    ),
    (
        "query_weight too long",
        lambda: prefs(qid=QID, query_weight=[1.0, 2.0, 3.0]),
        ValueError,
        r"^query_weight has shape \(3,\). Pass an array of shape \(2,\)",
    ),
    (
        "query_weight of pairs",
        lambda: rb.Preferences([0], [1], 2).query_weighted(),
        ValueError,
        "^query_weight is given, and a graph of pairs has no queries. Pass a graph of scores",
    ),
    (
        "query_weight of regression",
        lambda: rb.RankRLS(graph="identity", query_weight="equal").fit(X, Y),
        ValueError,
        "^query_weight is given and graph is 'identity', .* Omit query_weight with this graph",
    ),
    (
        "query_weight beside a graph",
        lambda: rb.RankRLS(graph=np.ones((12, 12)), query_weight="equal").fit(X, Y),
        ValueError,
        "^query_weight is given and graph is an ndarray, .*Pass",
    ),
    (
        "query_weight in numbers for blocks",
        lambda: rb.RankRLS(kernel="linear", query_weight=[1.0]).fit(iter([(X, Y)])),
        ValueError,
        "^query_weight holds numbers, and X is a block .*Pass None or 'equal'",
    ),
    (
        "query_weight in numbers for partial_fit",
        lambda: rb.OnlineRankSVM(query_weight=[1.0, 2.0]).partial_fit(X, Y, QID),
        ValueError,
        "^query_weight holds numbers, and X is a block .*Pass None or 'equal'",
    ),
    (
        "query_weight beside preferences for RankRLS",
        lambda: rb.RankRLS(query_weight="equal").fit(X, preferences=prefs()),
        ValueError,
        r"^preferences and query_weight are both given. Pass",
    ),
    (
        "query_weight beside preferences for OnlineRankSVM",
        lambda: rb.OnlineRankSVM(query_weight="equal").fit(X, preferences=prefs()),
        ValueError,
        r"^preferences and query_weight are both given. Pass",
    ),
    (
        "query_weight beside preferences",
        lambda: rb.RankSVM(query_weight="equal").fit(X, preferences=prefs()),
        ValueError,
        r"^preferences and query_weight are both given. Pass",
    ),
    (
        "level_weight a number",
        lambda: prefs(level_weight=2.0),
        TypeError,
        r"^level_weight is a float. Pass",
    ),
    (
        "level_weight upside down",
        lambda: prefs(level_weight={(0.0, 2.0): 3.0}),
        ValueError,
        r"^level_weight has \(0.0, 2.0\). Pass pairs \(upper, lower\) of the scores 0, 1, 2",
    ),
    (
        "level_weight of a score that is not there",
        lambda: prefs(level_weight={(3.0, 0.0): 3.0}),
        ValueError,
        r"^level_weight has \(3.0, 0.0\). Pass",
    ),
    (
        "level_weight negative",
        lambda: prefs(level_weight={(2.0, 0.0): -3.0}),
        ValueError,
        r"^level_weight\[\(2.0, 0.0\)\] is -3.0. Pass",
    ),
    (
        "level_weight of too many levels",
        lambda: rb.Preferences.from_scores(np.arange(101.0), level_weight={(2.0, 0.0): 3.0}),
        ValueError,
        r"^level_weight is given and y has 101 different scores. Pass",
    ),
    (
        "cv of single items and preferences for RankRLSCV",
        lambda: rb.RankRLSCV(cv="loo").fit(X, preferences=prefs()),
        ValueError,
        "^cv is 'loo'.*did you mean 'lpo'",
    ),
    (
        "fold_by of RankRLSCV with scores",
        lambda: rb.RankRLSCV(fold_by="pair").fit(X, Y),
        ValueError,
        "^fold_by is 'pair', which requires preferences, .* Pass fold_by='item'",
    ),
    (
        "preferences of names that X has not",
        lambda: rb.RankSVM().fit(pd.DataFrame(X), preferences=[("a", "b")]),
        ValueError,
        r"^preferences holds names, such as 'a', but X has no names. Pass",
    ),
    (
        "preferences of row numbers",
        lambda: rb.RankSVM().fit(X, preferences=[(0, 1)]),
        TypeError,
        r"^preferences holds row numbers, .*Pass .*n_items=len\(X\)\)",
    ),
    (
        "rows of preferences that are none",
        lambda: prefs()[0],
        TypeError,
        r"^rows chooses items of shape \(\). Pass",
    ),
    (
        "preferences in place of labels",
        lambda: rb.OrdinalRanker().fit(X, prefs()),
        TypeError,
        r"^y cannot be read as an array: Preferences cannot be converted to an array .*. Pass",
    ),
    (
        "a model that was fitted by query and is judged without query ids",
        lambda: rb.RankRLS().fit(X, Y, QID).score(X, Y),
        ValueError,
        r"^qid is None, and the model was fitted with query ids. Pass qid "
        r"\(np.zeros\(len\(X\)\) if all items belong",
    ),
    (
        "fold_by with scores",
        lambda: rb.RankSVMCV(fold_by="pair").fit(X, Y),
        ValueError,
        r"^fold_by is 'pair', which requires preferences, .* Pass",
    ),
    (
        "clicks no table",
        lambda: rb.Preferences.from_clicks([(0, 1)]),
        TypeError,
        r"^log is a list. Pass",
    ),
    (
        "clicks empty",
        lambda: rb.Preferences.from_clicks(log(rows=0)),
        ValueError,
        r"^table has no row. Pass",
    ),
    (
        "clicks without a session",
        lambda: rb.Preferences.from_clicks(log(session=[1, None, 2])),
        ValueError,
        r"^session is None in row 1. Pass",
    ),
    (
        "clicks with a rank twice",
        lambda: rb.Preferences.from_clicks(log(rank=[1, 2, 2])),
        ValueError,
        r"^rank is 2.0 in rows 1 and 2 of session 7. Pass",
    ),
    (
        "clicks with an item twice",
        lambda: rb.Preferences.from_clicks(log(item=["a", "b", "a"])),
        ValueError,
        r"^item is 'a' in rows 0 and 2 of session 7. Pass",
    ),
    (
        "clicks without a rank",
        lambda: rb.Preferences.from_clicks(log(rank=[1, 2, np.nan])),
        ValueError,
        r"^rank has NaN at index 2. Pass",
    ),
    (
        "clicks counted",
        lambda: rb.Preferences.from_clicks(log(click=[0, 2, 1])),
        ValueError,
        r"^click is 2 in row 1. Pass",
    ),
    (
        "clicks by an unknown rule",
        lambda: rb.Preferences.from_clicks(log(), rule="skip above"),
        ValueError,
        "^rule is 'skip above'.*did you mean 'skip-above'",
    ),
    (
        "clicks with a propensity and a rule without",
        lambda: rb.Preferences.from_clicks(log(), rule="skip-above", propensity=[1, 1, 1]),
        ValueError,
        "^propensity is given and rule is 'skip-above'. Pass propensity with rule='all-others'",
    ),
    (
        "clicks with weights in place of propensities",
        lambda: rb.Preferences.from_clicks(log(), rule="all-others", propensity=[1, 2, 5]),
        ValueError,
        "^propensity is 2 in row 1. Pass a probability of examination above 0",
    ),
    (
        "propensities of one ranker",
        lambda: rb.click_propensities(log()),
        ValueError,
        "^log does not determine the propensity of rank 2 relative to rank 1. Pass more "
        "sessions or sessions of another",
    ),
    (
        "matches no table",
        lambda: rb.Preferences.from_matches([("a", "b", 1)]),
        TypeError,
        r"^matches is a list. Pass",
    ),
    (
        "matches with oneself",
        lambda: rb.Preferences.from_matches(dict(home=["a"], away=["a"], result=["H"])),
        ValueError,
        r"^home and away are both 'a' in row 0. Pass",
    ),
    (
        "matches with a result in words",
        lambda: rb.Preferences.from_matches(dict(home=["a"], away=["b"], result=["Homes"])),
        ValueError,
        r"^result is 'Homes' in row 0. Pass 'H', 'D' and 'A', 'home', 'away', the name",
    ),
    (
        "matches without a result",
        lambda: rb.Preferences.from_matches(dict(home=["a"], away=["b"], result=[np.nan])),
        ValueError,
        r"^result is missing in row 0. Pass",
    ),
    (
        "matches without goals",
        lambda: rb.Preferences.from_matches(
            dict(home=["a"], away=["b"], result=["H"]), margin="difference"
        ),
        ValueError,
        r"^margin is 'difference' and result contains only the winner. Pass",
    ),
    (
        "matches drawn",
        lambda: rb.Preferences.from_matches(dict(home=["a"], away=["b"], result=["D"])),
        ValueError,
        r"^ties is 'refuse', and row 0 is a tie .* Pass",
    ),
]

OF_SCORES = dict.fromkeys(("ndcg", "average_precision", "err", "reciprocal_rank"), {})
OF_SCORES |= dict.fromkeys(("kendall_tau", "pair_accuracy", "auc", "disagreement"), {})
OF_SCORES |= dict.fromkeys(("rank_biased_precision", "rank_biased_overlap", "bpref", "infap"), {})
OF_SCORES |= dict.fromkeys(("precision_at_k", "recall_at_k", "hit_rate_at_k"), {"k": 2})


def metric_rows(name, options):
    """What every metric refuses: the same, in the same words."""
    metric, good = getattr(metrics, name), LABELS.astype(float)
    numbers, accepted = r"cannot be read as numbers .* Pass", r"Pass an array of shape \(12,\)"
    wrong = (
        ("y_true with NaN", (with_nan(good, 3), Y), ValueError, "^y_true has NaN at index 3. .*"),
        ("y_score with NaN", (good, with_nan(Y, 3)), ValueError, "^y_score has NaN at index 3. .*"),
        ("y_score short", (good, Y[1:]), ValueError, rf"^y_score has shape \(11,\)\. {accepted}"),
        ("y_score a matrix", (good, X), ValueError, rf"^y_score has shape \(12, 3\)\. {accepted}"),
        ("y_score text", (good, Y.astype(str)), TypeError, f"^y_score {numbers}"),
        ("y_true text", (Y.astype(str), Y), TypeError, f"^y_true {numbers}"),
        ("qid with None", (good, Y, NONE_IN_QID), ValueError, "^qid has None at index 2. Pass"),
        ("qid short", (good, Y, QID[1:]), ValueError, r"^qid has shape \(11,\). Pass"),
        ("a weight < 0", (good, Y, QID, -1 - Y), ValueError, "^sample_weight has -1.0 at index 0."),
        ("weights short", (good, Y, QID, Y[1:]), ValueError, r"^sample_weight has shape \(11,\)"),
        ("nothing to order", (0 * Y, Y, QID), ValueError, "^y_true has no .*Pass"),
    )
    rows = [
        (f"{name} of {what}", partial(metric, *arguments, **options), kind, pattern)
        for what, arguments, kind, pattern in wrong
    ]
    if name != "disagreement":  # it counts preferences, not queries
        call = partial(metric, good, Y, empty="none", **options)
        rows.append((f"{name} with empty", call, ValueError, "^empty is 'none'. Pass .*"))
    return rows


METRICS = [
    *(row for name, options in OF_SCORES.items() for row in metric_rows(name, options)),
    (
        "log_loss without preferences",
        lambda: metrics.log_loss(np.ones(N), Y),
        metrics.UndefinedMetric,
        r"^y_true has no preference. Pass at least one",
    ),
    (
        "log_loss by an unknown link",
        lambda: metrics.log_loss(Y, Y, link="probit"),
        ValueError,
        r"^link is 'probit'. Pass 'logistic', or an object with probability\(difference\)",
    ),
    (
        "calibrate by an unknown method",
        lambda: rb.calibrate(Y, Y, method="platt"),
        ValueError,
        r"^method is 'platt'. Pass one of: isotonic, sigmoid",
    ),
    (
        "calibrate a model by the function",
        lambda: rb.calibrate(rb.RankRLS(), X, Y),
        TypeError,
        "^y_true is a RankRLS. Pass grades or preferences, and the scores",
    ),
    (
        "calibrate without preferences",
        lambda: rb.calibrate(np.ones(N), Y),
        metrics.UndefinedMetric,
        r"^y_true has no preference. Pass at least one",
    ),
    (
        "calibrate a model without preferences",
        lambda: rb.RankRLS("scale", "linear").fit(X, Y).calibrate(X, np.ones(N)),
        metrics.UndefinedMetric,
        r"^y has no preference. Pass at least one",
    ),
    (
        "predict_pair_proba of a hinge",
        lambda: rb.RankSVM(kernel="linear").fit(X, Y).predict_pair_proba(Z, Z),
        ValueError,
        "^model is a RankSVM with loss='hinge', whose scores are not log-odds. Pass "
        "RankSVM with loss='logistic', or a calibrated",
    ),
    (
        "predict_pair_proba of rows and fewer rows",
        lambda: rb.RankRLS().fit(X, Y).calibrate(X, Y).predict_pair_proba(Z, Z[:2]),
        ValueError,
        r"^b has 2 rows and a has 5. Pass equal numbers of rows",
    ),
    (
        "predict_choice_proba of a hinge",
        lambda: rb.RankSVM(kernel="linear").fit(X, Y).predict_choice_proba(Z),
        ValueError,
        r"^model is a RankSVM, which was not fitted to choices. Pass RankSVM with loss='plac",
    ),
    (
        "brier_score of probabilities and grades",
        lambda: metrics.brier_score(Y, Y, link=None),
        ValueError,
        r"^y_true is array\(\[.*\]\) and link is None. Pass a Preferences",
    ),
    (
        "brier_score of a probability of 2",
        lambda: metrics.brier_score(prefs(), np.full(48, 2.0), link=None),
        ValueError,
        "^y_score has 2.0 at index 0. Pass probabilities, because link is None",
    ),
    (
        "brier_score of a probability just above 1",
        lambda: metrics.brier_score(prefs(), np.full(48, np.nextafter(1.0, 2.0)), link=None),
        ValueError,
        "^y_score has 1.0000000000000002 at index 0. Pass probabilities, because link is None",
    ),
    (
        "reliability in no bin",
        lambda: metrics.reliability(Y, Y, bins=0),
        ValueError,
        r"^bins is 0. Pass an integer >= 1",
    ),
    (
        "reliability with a confidence of 95",
        lambda: metrics.reliability(Y, Y, confidence=95),
        ValueError,
        r"^confidence is 95. Pass a number > 0 and < 1",
    ),
    (
        "concordance of grades",
        lambda: metrics.concordance(Y, Y),
        TypeError,
        r"^y_true is array.*. Pass rb.Preferences.from_survival\(time, event\), or",
    ),
    (
        "concordance of preferences of scores",
        lambda: metrics.concordance(prefs(), Y),
        TypeError,
        r"^y_true is a Preferences. Pass rb.Preferences.from_survival\(time, event\), or",
    ),
    (
        "concordance with strata beside orders",
        lambda: metrics.concordance(rb.Orders.from_preferences(survival()), Y, QID),
        ValueError,
        "^qid is given, and y_true is an Orders. Omit qid, because orders hold their queries",
    ),
    (
        "concordance with strata beside preferences",
        lambda: metrics.concordance(survival(), Y, QID),
        ValueError,
        "^qid is given, and y_true is a Preferences. Omit qid, because preferences hold "
        "their queries",
    ),
    *(
        (
            f"{name} of survival times",
            call,
            ValueError,
            r"^y_true holds survival times.*call rb.metrics.concordance.*compare_concordances",
        )
        for name, call in {
            "interval": lambda: metrics.interval(survival(), Y, QID, metric="auc"),
            "by_query": lambda: metrics.by_query(metrics.concordance, survival(), Y),
            "compare": lambda: metrics.compare(survival(), Y, Y, QID, metric="pair_accuracy"),
        }.items()
    ),
    (
        "concordance in the other order",
        lambda: metrics.concordance(Y, survival()),
        TypeError,
        r"^y_score is a Preferences. Pass scores",
    ),
    (
        "concordance up to NaN",
        lambda: metrics.concordance(survival(), Y, tau=np.nan),
        ValueError,
        r"^tau has NaN at index 0. Pass finite numbers",
    ),
    (
        "concordance with grades for train",
        lambda: metrics.concordance(survival(), Y, train=Y),
        TypeError,
        r"^train is array.*. Pass rb.Preferences.from_survival",
    ),
    (
        "concordance with too short a train",
        lambda: metrics.concordance(survival(), Y, train=survival()[:2]),
        ValueError,
        r"^train has no patient under observation after 2, .*. Pass tau up to 2",
    ),
    (
        "dynamic_auc of scores too short",
        lambda: metrics.dynamic_auc(survival(), Y[1:], 3, train=survival()),
        ValueError,
        r"^y_score has shape \(11,\). Pass an array of shape \(12,\)",
    ),
    (
        "dynamic_auc at times that fall",
        lambda: metrics.dynamic_auc(survival(), Y, [5, 3], train=survival()),
        ValueError,
        r"^times is array\(\[5., 3.\]\). Pass one time, or several in increasing",
    ),
    (
        "dynamic_auc with strata",
        lambda: metrics.dynamic_auc(survival(QID), Y, 3, train=survival()),
        ValueError,
        r"^y_true has strata. Pass survival times of one stratum",
    ),
    (
        "survival_brier of risks",
        lambda: metrics.survival_brier(survival(), 3 * Y, 3, train=survival()),
        ValueError,
        "^y_proba has 6 in row 2, column 0. Pass probabilities of survival, such as those",
    ),
    (
        "survival_brier at times that fall",
        lambda: metrics.survival_brier(survival(), 0 * Y, [5, 3], train=survival()),
        ValueError,
        r"^times is array\(\[5., 3.\]\). Pass one time, or several in increasing",
    ),
    (
        "survival_calibration of two columns",
        lambda: metrics.survival_calibration(survival(), np.zeros((N, 2)), 3),
        ValueError,
        r"^y_proba has shape \(12, 2\). Pass an array of shape \(12, 1\),",
    ),
    (
        "risk_groups in the other order",
        lambda: metrics.risk_groups(Y, survival()),
        TypeError,
        r"^y_score is a Preferences. Pass scores",
    ),
    (
        "risk_groups of equal scores",
        lambda: metrics.risk_groups(survival(), 0 * Y),
        ValueError,
        "^groups is 3, and group 1 has no patient. Pass fewer groups, or other cut points",
    ),
    (
        "risk_groups with strata",
        lambda: metrics.risk_groups(survival(QID), Y),
        ValueError,
        r"^y_true has strata. Pass survival times of one stratum",
    ),
    (
        "concordance_interval of grades",
        lambda: metrics.concordance_interval(Y, Y),
        TypeError,
        r"^y_true is array.*. Pass rb.Preferences.from_survival\(time, event\), or",
    ),
    (
        "concordance_interval of a confidence in percent",
        lambda: metrics.concordance_interval(survival(), Y, confidence=95),
        ValueError,
        r"^confidence is 95. Pass a number > 0 and < 1",
    ),
    (
        "compare_concordances of scores of two lengths",
        lambda: metrics.compare_concordances(survival(), Y, Y[1:]),
        ValueError,
        r"^b has .*11",
    ),
    *(
        (
            f"{name} of survival times",
            call,
            ValueError,
            r"^y_true holds survival times. Pass grades or preferences. For probabilities of",
        )
        for name, call in {
            "brier_score": lambda: metrics.brier_score(survival(), Y / N),
            "log_loss": lambda: metrics.log_loss(survival(), Y / N),
            "reliability": lambda: metrics.reliability(survival(), Y / N),
            "calibrate": lambda: rb.calibrate(survival(), Y),
        }.items()
    ),
    (
        "restricted_mean beyond the last time",
        lambda: rb.BaselineHazard(survival(), Y).restricted_mean(Y, 2 * N),
        ValueError,
        "^tau is 24. Pass a time of at most 11,",
    ),
    (
        "best_cuts of scores with NaN",
        lambda: metrics.best_cuts(LABELS, with_nan(Y, 1)),
        ValueError,
        r"^y_score has NaN at index 1. Pass",
    ),
    (
        "best_cuts of scores too short",
        lambda: metrics.best_cuts(LABELS, Y[1:]),
        ValueError,
        r"^y_score has shape \(11,\). Pass an array of shape \(12,\)",
    ),
    (
        "best_cuts of an unknown loss",
        lambda: metrics.best_cuts(LABELS, Y, loss="abs"),
        ValueError,
        r"^loss is 'abs'. Pass one of: absolute, error",
    ),
    (
        "best_cuts with tie_tol negative",
        lambda: metrics.best_cuts(LABELS, Y, tie_tol=-1),
        ValueError,
        r"^tie_tol is -1. Pass",
    ),
    (
        "interval of y_score with NaN",
        lambda: metrics.interval(Y, with_nan(Y, 1), QID),
        ValueError,
        r"^y_score has NaN at index 1. Pass",
    ),
    (
        "y_score too short",
        lambda: rb.disagreement(Y, Y[:3]),
        ValueError,
        r"^y_score has shape \(3,\). Pass an array of shape \(12,\)",
    ),
    (
        "y_score with infinity",
        lambda: rb.auc(LABELS, np.r_[np.inf, Y[1:]]),
        ValueError,
        r"^y_score has infinity at index 0. Pass",
    ),
    (
        "y_score as text",
        lambda: metrics.ndcg(Y, Y.astype(str)),
        TypeError,
        r"^y_score cannot be read as numbers .* Pass",
    ),
    (
        "y_true negative",
        lambda: metrics.ndcg(-Y, Y),
        ValueError,
        r"^y_true has -1.0 at index 1. Pass",
    ),
    (
        "y_true of three levels",
        lambda: rb.auc(Y, Y),
        ValueError,
        r"^y_true has 3 different values .* Pass",
    ),
    (
        "arguments swapped",
        lambda: rb.disagreement(Y, prefs()),
        TypeError,
        r"^y_score is a Preferences. Pass",
    ),
    ("k 0", lambda: metrics.ndcg(Y, Y, k=0), ValueError, r"^k is 0. Pass"),
    ("k a fraction", lambda: metrics.ndcg(Y, Y, k=1.5), ValueError, r"^k is 1.5. Pass"),
    ("k text", lambda: metrics.ndcg(Y, Y, k="3"), TypeError, r"^k is '3'. Pass"),
    (
        "qid with None in a metric",
        lambda: metrics.ndcg(Y, Y, NONE_IN_QID),
        ValueError,
        r"^qid has None at index 2. Pass",
    ),
    (
        "qid with preferences",
        lambda: rb.disagreement(prefs(), Y, QID),
        ValueError,
        "^qid is given, and y_true is a Preferences. Omit qid, because preferences hold "
        "their queries",
    ),
    (
        "sample_weight negative",
        lambda: metrics.average_precision(LABELS, Y, None, -Y),
        ValueError,
        r"^sample_weight has -1.0 at index 1. Pass",
    ),
    (
        "sample_weight within a query",
        lambda: metrics.ndcg(Y, Y, QID, 1 + Y),
        ValueError,
        r"^sample_weight has .* Pass",
    ),
    (
        "tie_tol negative",
        lambda: rb.disagreement(Y, Y, tie_tol=-1),
        ValueError,
        r"^tie_tol is -1. Pass",
    ),
    (
        "metric no function",
        lambda: metrics.by_query(3, Y, Y),
        TypeError,
        r"^metric is 3. Pass",
    ),
    (
        "metric by a name nobody has",
        lambda: metrics.by_query("ndgc@10", Y, Y),
        ValueError,
        r"^metric is 'ndgc@10'.*did you mean 'ndcg@10'\?",
    ),
    (
        "metric that has no k",
        lambda: metrics.by_query("auc@10", LABELS, Y),
        ValueError,
        r"^metric is 'auc@10'.*did you mean 'auc'\?",
    ),
    (
        "metric that needs a k",
        lambda: metrics.by_query(metrics.recall_at_k, Y, Y),
        ValueError,
        r"^k is None for recall_at_k. Pass",
    ),
    (
        "option that a metric has not",
        lambda: metrics.by_query("ndcg", Y, Y, gains="linear"),
        TypeError,
        "^gains is not an option of the metric ndcg. Pass only k, gain, empty",
    ),
    (
        "empty unknown",
        lambda: metrics.auc(LABELS, Y, empty="zero"),
        ValueError,
        "^empty is 'zero'. Pass 'skip",
    ),
    (
        "empty 2",
        lambda: metrics.err(Y, Y, empty=2),
        ValueError,
        "^empty is 2. Pass 'skip', 0 or 1",
    ),
    (
        "gain unknown",
        lambda: metrics.ndcg(Y, Y, gain="exp"),
        ValueError,
        "^gain is 'exp'",
    ),
    (
        "grade below 0 in ERR",
        lambda: metrics.err(-Y, Y),
        ValueError,
        r"^y_true has -1.0 at index 1. ",
    ),
    (
        "grade above the highest",
        lambda: metrics.err(Y, Y, max_grade=1),
        ValueError,
        r"^y_true has 2.0 at index 2. Pass grades from 0 to 1, because of max_grade",
    ),
    (
        "max_grade 0",
        lambda: metrics.err(Y, Y, max_grade=0),
        ValueError,
        "^max_grade is 0. Pass",
    ),
    (
        "sample_weight in a query for the reciprocal rank",
        lambda: metrics.reciprocal_rank(Y, Y, QID, 1 + Y),
        ValueError,
        r"^sample_weight has 1.0 at index 0 and 2.0 at index 1, .* Pass",
    ),
    (
        "preferences for NDCG",
        lambda: metrics.ndcg(rb.Preferences([1], [0], len(Y)), Y),
        TypeError,
        "^y_true holds pairs, .*. Pass grades .*pair_accuracy",
    ),
    (
        "nothing relevant",
        lambda: metrics.precision_at_k(-Y, Y, k=3),
        metrics.UndefinedMetric,
        r"^y_true has no query with a relevant item .* Pass",
    ),
    (
        "scorer by a name nobody has",
        lambda: metrics.scorer("ndgc"),
        ValueError,
        r"^metric is 'ndgc'.*did you mean 'ndcg'\?",
    ),
    ("scorer of a stranger", lambda: metrics.scorer(max), TypeError, "^metric is .*max.* Pass"),
    (
        "scorer with k 0",
        lambda: metrics.scorer("ndcg@0"),
        ValueError,
        "^metric is 'ndcg@0'. Pass",
    ),
    (
        "scorer with an array of queries",
        lambda: metrics.scorer("auc", queries=QID),
        TypeError,
        "^queries is an ndarray. Pass a pandas Series",
    ),
    (
        "compare with too few scores",
        lambda: metrics.compare(Y, Y, Y[1:], QID),
        ValueError,
        r"^b has shape \(11,\). Pass an array of shape \(12,\)",
    ),
    (
        "compare with a NaN",
        lambda: metrics.compare(Y, with_nan(Y, 3), Y, QID),
        ValueError,
        "^a has NaN at index 3. Pass",
    ),
    (
        "compare one query",
        lambda: metrics.compare(Y, Y, -Y, None),
        ValueError,
        "^y_true has one query with a value. Pass",
    ),
    (
        "compare disagreements",
        lambda: metrics.compare(Y, Y, -Y, QID, metric="disagreement"),
        ValueError,
        "^metric is disagreement, a mean over preferences. Pass",
    ),
    (
        "compare by a metric nobody has",
        lambda: metrics.compare(Y, Y, -Y, QID, metric="NDCG"),
        ValueError,
        "^metric is 'NDCG'",
    ),
    (
        "confidence in percent",
        lambda: metrics.interval(Y, Y, QID, confidence=95),
        ValueError,
        "^confidence is 95. Pass",
    ),
    (
        "few resamples",
        lambda: metrics.interval(Y, Y, QID, n_resamples=10),
        ValueError,
        "^n_resamples is 10. Pass an integer >= 100",
    ),
    (
        "random_state text in a comparison",
        lambda: metrics.compare(Y, Y, -Y, QID, random_state="7"),
        TypeError,
        "^random_state is '7'. Pass",
    ),
    (
        "metric by a name in capitals",
        lambda: metrics.by_query("NDCG@5", Y, Y),
        ValueError,
        r"^metric is 'NDCG@5'.*did you mean 'ndcg@5'\?",
    ),
    (
        "metric with two k",
        lambda: metrics.by_query("ndcg@5", Y, Y, k=3),
        ValueError,
        "^k is 3, and metric is 'ndcg@5'. Pass a single k",
    ),
    (
        "metric with a k below 0",
        lambda: metrics.by_query("ndcg@-5", Y, Y),
        ValueError,
        r"^metric is 'ndcg@-5'.*did you mean 'ndcg@k'\?",
    ),
    (
        "max_grade huge",
        lambda: metrics.err(Y, Y, max_grade=2e3),
        ValueError,
        "^max_grade .* Pass",
    ),
    (
        "nothing to compare",
        lambda: rb.disagreement(0 * Y, Y),
        ValueError,
        r"^y_true has no preference. Pass",
    ),
]

KERNELS = [
    (
        "kernel unknown",
        lambda: Kernel("rbff"),
        ValueError,
        r"^kernel is 'rbff'.*did you mean 'rbf'\?",
    ),
    ("kernel None", lambda: Kernel(None), ValueError, "^kernel is None"),
    ("kernel an array", lambda: svm(kernel=X), ValueError, "^kernel is"),
    ("gamma 0", lambda: svm(gamma=0), ValueError, r"^gamma is 0. Pass"),
    ("gamma text", lambda: svm(gamma="scale"), TypeError, r"^gamma is 'scale'. Pass"),
    (
        "gamma for a linear kernel",
        lambda: svm(kernel="linear", gamma=0.5),
        ValueError,
        "^gamma is 0.5, and kernel is 'linear', which has no gamma. Omit gamma",
    ),
    (
        "gamma for a Gram matrix",
        lambda: svm(X @ X.T, kernel="precomputed", gamma=1),
        ValueError,
        "^gamma is 1, and kernel is 'precomputed', .* Omit gamma",
    ),
    (
        "gamma for a function",
        lambda: svm(kernel=lambda A, B: A @ B.T, gamma=1),
        ValueError,
        "^gamma is 1, and kernel is a function, .* Omit gamma",
    ),
    (
        "degree a word",
        lambda: rb.RankSVM(kernel="poly", degree="two").fit(X, Y),
        TypeError,
        r"^degree is 'two'. Pass",
    ),
    (
        "degree None",
        lambda: rb.RankSVM(kernel="poly", degree=None).fit(X, Y),
        TypeError,
        r"^degree is None. Pass",
    ),
    (
        "degree NaN",
        lambda: rb.RankSVM(kernel="poly", degree=np.nan).fit(X, Y),
        ValueError,
        r"^degree is nan. Pass",
    ),
    (
        "degree 2.5",
        lambda: rb.RankSVM(kernel="poly", degree=2.5).fit(X, Y),
        ValueError,
        r"^degree is 2.5. Pass",
    ),
    (
        "coef0 negative",
        lambda: rb.RankSVM(kernel="poly", coef0=-1.0).fit(X, Y),
        ValueError,
        r"^coef0 is -1.0. Pass",
    ),
    (
        "entries too large for poly",
        lambda: svm(1e60 * X, kernel="poly").gram,
        ValueError,
        r"^X has entries so large .* overflows. Pass",
    ),
    (
        "a Gram matrix that is not symmetric",
        lambda: svm(np.triu(np.ones((N, N))), kernel="precomputed").gram,
        ValueError,
        r"^X .*not symmetric.* Pass",
    ),
    (
        "a Gram matrix that is not square",
        lambda: svm(kernel="precomputed"),
        ValueError,
        r"^X has shape \(12, 3\). Pass",
    ),
    (
        "a function of the wrong shape",
        lambda: svm(kernel=lambda A, B: A).gram,
        ValueError,
        r"^kernel returned shape \(12, 3\). Return an array of shape \(12, 12\)",
    ),
]

PROBLEMS = [
    (
        "X with NaN",
        lambda: svm(with_nan(X, 2, 1)),
        ValueError,
        r"^X has NaN in row 2, column 1. Pass",
    ),
    ("X of text", lambda: svm(WORDS), TypeError, r"^X cannot be read as numbers .* Pass"),
    (
        "X with a word",
        lambda: svm([[1.0, "a"]] * N),
        TypeError,
        r"^X cannot be read as numbers .* Pass",
    ),
    ("X ragged", lambda: svm(RAGGED), ValueError, r"^X .*unequal.* Pass"),
    ("X a vector", lambda: svm(X[:, 0]), ValueError, r"^X has shape \(12,\). Pass"),
    (
        "X in three dimensions",
        lambda: svm(CUBE),
        ValueError,
        r"^X has shape \(12, 3, 2\). Pass",
    ),
    ("X None", lambda: svm(None, prefs()), TypeError, r"^X is None. Pass"),
    (
        "X without columns",
        lambda: svm(np.empty((N, 0))),
        ValueError,
        r"^X has shape \(12, 0\). Pass",
    ),
    ("X sparse, rbf", lambda: svm(csr_array(X)), TypeError, r"^X is a sparse matrix. Pass"),
    (
        "X of another length",
        lambda: svm(X[:5]),
        ValueError,
        r"^X has 5 rows and prefs has 12 items. Pass",
    ),
    (
        "X too large to square, linear",
        lambda: svm(1e200 * X, kernel="linear"),
        ValueError,
        r"^X has \S+e\+?199 in row 0, column 0. Pass",
    ),
    (
        "X too large to square, rbf",
        lambda: svm(1e200 * X),
        ValueError,
        r"^X has \S+e\+?199 in row 0, column 0. Pass",
    ),
    (
        "X too large to square, CSR",
        lambda: svm(csr_array(1e200 * X), kernel="linear"),
        ValueError,
        r"^X has \S+e\+?199 in row 0, column 0. Pass",
    ),
    (
        "X too large to square, least squares",
        lambda: rb.RankRLSProblem(1e200 * X, Y),
        ValueError,
        r"^X has \S+e\+?199 in row 0, column 0. Pass",
    ),
    (
        "X too large to square, subspace",
        lambda: NystroemMap(1e200 * X, 2, "linear"),
        ValueError,
        r"^X has \S+e\+?199 in row 0, .* Pass",
    ),
    (
        "X too large to square, Rayleigh",
        lambda: rb.RayleighProblem(1e200 * X, LABELS),
        ValueError,
        r"^X has \S+e\+?199 in row 0, .* Pass",
    ),
    (
        "X too large to square, statistics",
        lambda: rb.RankingStatistics().add(1e200 * X, Y),
        ValueError,
        r"^X has \S+e\+?199 in row 0, .* Pass",
    ),
    (
        "prefs are scores",
        lambda: rb.RankSVMProblem(X, Y),
        TypeError,
        r"^prefs is an ndarray. Pass",
    ),
    (
        "prefs without a preference",
        lambda: svm(graph=rb.Preferences.from_scores(0 * Y)),
        ValueError,
        r"^prefs has no preference.* Pass",
    ),
    (
        "penalty unknown",
        lambda: svm(kernel="linear", penalty="l3"),
        ValueError,
        "^penalty is 'l3'",
    ),
    (
        "penalty l1 and rbf",
        lambda: svm(penalty="l1"),
        ValueError,
        r"^penalty is 'l1' and kernel is 'rbf'. Pass",
    ),
    ("loss None", lambda: svm(loss=None), ValueError, "^loss is None"),
    (
        "signs and rbf",
        lambda: svm(signs=[1, 0, 0]),
        ValueError,
        "^signs is given and kernel is 'rbf'. Omit signs, or pass kernel='linear'",
    ),
    (
        "signs of too few features",
        lambda: svm(kernel="linear", signs=[1, 0]),
        ValueError,
        r"^signs has shape \(2,\). Pass an array of shape \(3,\)",
    ),
    (
        "signs that are none",
        lambda: svm(kernel="linear", signs=[1, 0, 2]),
        ValueError,
        r"^signs\[2\] is 2. Pass -1, 0 or 1",
    ),
    (
        "signs by name without names",
        lambda: rb.RankSVM(kernel="linear", signs=dict(age=1)).fit(X, Y),
        ValueError,
        r"^signs is a dict of features by name, but X has no names. .*set_output\(transform=",
    ),
    (
        "signs of an unknown feature",
        lambda: rb.RankSVM(kernel="linear", signs=dict(ags=1)).fit(
            pd.DataFrame(X, columns=["age", "size", "debt"]), Y
        ),
        ValueError,
        r"^signs names the feature 'ags' \(did you mean 'age'\?\)",
    ),
    (
        "signs by name that are none",
        lambda: rb.RankSVM(kernel="linear", signs=dict(age="up")).fit(
            pd.DataFrame(X, columns=["age", "size", "debt"]), Y
        ),
        ValueError,
        r"^signs\['age'\] is 'up'. Pass -1, 0 or 1",
    ),
    (
        "signs and a solver without them",
        lambda: rb.solve(svm(kernel="linear", signs=[1, 0, 0]), 1.0, solver="interior"),
        ValueError,
        "it takes no signs of weights, which rankbook's own solvers newton and qp take",
    ),
    (
        "y of least squares too long",
        lambda: rb.RankRLSProblem(X, Y[:-1]),
        ValueError,
        r"^y has 11 rows and X has 12. Pass",
    ),
    (
        "y of least squares None",
        lambda: rb.RankRLSProblem(X),
        ValueError,
        r"^y is None. Pass",
    ),
    (
        "y of least squares text",
        lambda: rb.RankRLSProblem(X, Y.astype(str)),
        TypeError,
        r"^y cannot be read as numbers .* Pass",
    ),
    (
        "y of least squares too large to square",
        lambda: rb.RankRLSProblem(X, 1e200 * Y),
        ValueError,
        r"^y has \S+e\+?200 at index 1. Pass",
    ),
    (
        "qid of least squares with None",
        lambda: rb.RankRLSProblem(X, Y, NONE_IN_QID),
        ValueError,
        r"^qid has None at index 2. Pass",
    ),
    (
        "qid and graph",
        lambda: rb.RankRLSProblem(X, Y, QID, graph="identity"),
        ValueError,
        r"^qid and graph are both given. Pass",
    ),
    (
        "graph of the wrong shape",
        lambda: rb.RankRLSProblem(X, Y, graph=np.ones((3, 3))),
        ValueError,
        r"^graph has shape \(3, 3\). Pass",
    ),
    (
        "graph a number",
        lambda: rb.RankRLSProblem(X, Y, graph=3),
        TypeError,
        r"^graph is .* Pass",
    ),
    (
        "basis out of range",
        lambda: rb.RankRLSProblem(X, Y, basis=[0, 12]),
        ValueError,
        r"^basis has the item 12. Pass",
    ),
    (
        "basis twice",
        lambda: rb.RankRLSProblem(X, Y, basis=[1, 1]),
        ValueError,
        r"^basis contains item 1 more than once. Pass",
    ),
    ("r too large", lambda: choose_basis(X, 100), ValueError, r"^r is 100. Pass"),
    ("r None", lambda: choose_basis(X, None), TypeError, r"^r is None. Pass"),
    (
        "method unknown",
        lambda: choose_basis(X, 2, "kmeans"),
        ValueError,
        "^method is 'kmeans' ",
    ),
    (
        "n_components 0",
        lambda: NystroemMap(X, 0),
        ValueError,
        r"^n_components is 0. Pass",
    ),
    (
        "pivots unknown",
        lambda: NystroemMap(X, 2, pivots="first"),
        ValueError,
        "^pivots is 'first'",
    ),
    (
        "random_state a float",
        lambda: NystroemMap(X, 2, random_state=0.5),
        TypeError,
        r"^random_state is 0.5. Pass",
    ),
    (
        "random_state negative",
        lambda: NystroemMap(X, 2, random_state=-1),
        ValueError,
        r"^random_state is -1. Pass",
    ),
    (
        "y of one class",
        lambda: rb.SVMProblem(X, np.ones(N)),
        ValueError,
        r"^y has 1 class \(1.0\). Pass",
    ),
    (
        "y of labels with None",
        lambda: MulticlassSVMProblem(X, [None, *LABELS[1:]]),
        ValueError,
        r"^y has None at index 0. Pass",
    ),
    (
        "weight of the wrong length",
        lambda: rb.SVMProblem(X, LABELS, weight=np.ones(3)),
        ValueError,
        r"^weight has shape \(3,\). Pass",
    ),
    (
        "margin 0 of an example",
        lambda: rb.SVMProblem(X, LABELS, margin=np.zeros(N)),
        ValueError,
        r"^margin has 0.0 at index 0. Pass",
    ),
    (
        "y of Rayleigh text",
        lambda: rb.RayleighProblem(X, LABELS.astype(str)),
        TypeError,
        r"^y has dtype <U.*. Pass",
    ),
    (
        "n_neighbors too many",
        lambda: rb.RayleighProblem(X, LABELS, n_neighbors=N),
        ValueError,
        r"^n_neighbors is 12. Pass",
    ),
    (
        "manifold_weight negative",
        lambda: rb.RayleighProblem(X, LABELS, manifold_weight=-1),
        ValueError,
        r"^manifold_weight is -1. Pass",
    ),
    (
        "metric of neighbours unknown",
        lambda: rb.RayleighProblem(X, LABELS, metric="euclid"),
        ValueError,
        "^metric is 'euclid' ",
    ),
    (
        "X_unlabelled of other columns",
        lambda: rb.RayleighProblem(X, LABELS, X[:, :2]),
        ValueError,
        r"^X_unlabelled has 2 columns and X has 3. Pass",
    ),
]

SOLVING = [
    *(
        (
            f"kernel_path of {what}",
            lambda problem=problem, wrong=wrong: rb.kernel_path(
                problem or svm(kernel="rbf"), **(dict(lam=1.0, gammas=[1.0, 2.0]) | wrong)
            ),
            kind,
            pattern,
        )
        for what, problem, wrong, kind, pattern in (
            ("a number", 3, {}, TypeError, r"^problem is an int. Pass a RankSVMProblem"),
            ("lam < 0", None, dict(lam=-1.0), ValueError, r"^lam is -1.0. Pass"),
            ("no gammas", None, dict(gammas=[]), ValueError, r"^gammas is empty. Pass"),
            (
                "a gamma < 0",
                None,
                dict(gammas=[1.0, -2.0]),
                ValueError,
                r"^gammas has -2.0 at index 1. Pass",
            ),
            (
                "an unknown solver",
                None,
                dict(solver="qq"),
                ValueError,
                r"^solver is 'qq'. Pass one of: ascent, coordinate",
            ),
        )
    ),
    (
        "extend_items without features of pairs",
        lambda: rb.extend_items(X, rb.Preferences([0], [1], N)),
        ValueError,
        r"^prefs is a Preferences without pair_features. Pass",
    ),
    (
        "pair features of text",
        lambda: rb.Preferences([0], [1], N, pair_features=[["home"]]),
        ValueError,
        r"^pair_features",
    ),
    (
        "pair features of a column that is not there",
        lambda: rb.Preferences.from_pairs(dict(winner=[0], loser=[1]), pair_features="left"),
        ValueError,
        r"^pair_features is 'left', and the table has the columns 'winner', 'loser'",
    ),
    (
        "report of several models without data",
        lambda: rb.report(dict(a=Y, b=Y)),
        ValueError,
        "^y is None, and there are several models. Pass y to compare them",
    ),
    (
        "report of a word",
        lambda: rb.report("model"),
        TypeError,
        r"^models has a str. Pass a model with predict",
    ),
    (
        "suggest_pairs of a number",
        lambda: rb.suggest_pairs(3, 2),
        TypeError,
        r"^solution is an int. Pass a Solution",
    ),
    (
        "suggest_pairs of none",
        lambda: rb.suggest_pairs(solution(), 0),
        ValueError,
        r"^k is 0. Pass an integer >= 1",
    ),
    (
        "suggest_pairs with qid too short",
        lambda: rb.suggest_pairs(solution(), 2, QID[1:]),
        ValueError,
        r"^qid has shape \(11,\). Pass",
    ),
    (
        "suggest_pairs of X_new with NaN",
        lambda: rb.suggest_pairs(solution(), 2, X_new=with_nan(X, 1, 1)),
        ValueError,
        r"^X_new has NaN in row 1, column 1. Pass",
    ),
    (
        "suggest_pairs without an unknown pair",
        lambda: rb.suggest_pairs(solution(), 2, exclude=[[0, 99]]),
        ValueError,
        r"^exclude has 99 at index 1. Pass item numbers from 0 to 11",
    ),
    (
        "compare_solvers a number",
        lambda: rb.compare_solvers(3),
        TypeError,
        r"^problem is an int. Pass a RankSVMProblem",
    ),
    (
        "compare_solvers lam < 0",
        lambda: rb.compare_solvers(svm(), -1.0),
        ValueError,
        r"^lam is -1.0. Pass",
    ),
    (
        "compare_solvers what nobody provides",
        lambda: rb.compare_solvers(svm(), 1.0, "sove"),
        ValueError,
        "^provides is 'sove'.*did you mean 'solve'",
    ),
    (
        "auc_bound of a ranking SVM",
        lambda: auc_bound(solution()),
        TypeError,
        r"^solution is of a RankSVMProblem. Pass a solution of a RayleighProblem",
    ),
    (
        "unregister an unknown solver",
        lambda: rb.unregister_solver("nobody"),
        ValueError,
        r"^name is 'nobody'. Register a solver first",
    ),
    ("lam text", lambda: rb.solve(svm(), "1"), TypeError, r"^lam is '1'. Pass"),
    ("lam None", lambda: rb.solve(svm(), None), TypeError, r"^lam is None. Pass"),
    ("lam NaN", lambda: rb.solve(svm(), np.nan), ValueError, r"^lam is nan. Pass"),
    (
        "lam an array",
        lambda: rb.solve(svm(), [1.0, 2.0]),
        TypeError,
        r"^lam is \[1.0, 2.0\]. Pass",
    ),
    (
        "lam a boolean of numpy",
        lambda: rb.solve(svm(), np.True_),
        TypeError,
        r"^lam is .*True.*. Pass",
    ),
    (
        "lam 0",
        lambda: rb.solve(svm(kernel="linear"), 0, "newton"),
        ValueError,
        r"^lam is 0. Pass",
    ),
    (
        "problem an array",
        lambda: rb.solve(X, 1.0),
        TypeError,
        r"^problem is an ndarray. Pass",
    ),
    (
        "problem of a path an estimator",
        lambda: rb.solve_path(rb.RankSVM()),
        TypeError,
        r"^problem is a RankSVM. Pass",
    ),
    (
        "solver unknown",
        lambda: rb.solve(svm(), 1.0, "newtn"),
        ValueError,
        r"^solver is 'newtn'.*did you mean 'newton'\?",
    ),
    ("solver a number", lambda: rb.solve(svm(), 1.0, 5), TypeError, r"^solver is 5. Pass"),
    (
        "solver that cannot",
        lambda: rb.solve(svm(), 1.0, "newton"),
        ValueError,
        r"^solver is 'newton.*', which cannot solve this problem",
    ),
    (
        "solver without a path",
        lambda: rb.solve_path(svm(), solver="qp"),
        ValueError,
        r"^solver is 'qp.*', which provides solve but not path",
    ),
    (
        "an option that there is not",
        lambda: rb.solve(svm(), 1.0, "qp", 3),
        TypeError,
        r"positional",
    ),
    (
        "another option that there is not",
        lambda: rb.solve(svm(), 1.0, "newton", tolerance=1),
        TypeError,
        r"tolerance",
    ),
    (
        "options with an instance",
        lambda: rb.solve(svm(), 1.0, rb.get_solver("qp"), form="dual"),
        ValueError,
        r"^options \['form'\] are given with an instance",
    ),
    (
        "backend unknown",
        lambda: rb.solve(svm(), 1.0, "qp", backend="CLARABELL"),
        ValueError,
        "^backend is 'CLARABELL' ",
    ),
    (
        "lam_min above lam_max",
        lambda: rb.solve_path(svm(), lam_min=1e9),
        ValueError,
        r"^lam_min is 1000000000.0, and lam_max is \S+. Pass",
    ),
    (
        "lam_min above lam_max, simplex",
        lambda: rb.solve_path(svm(kernel="linear", penalty="l1"), 1e9, "simplex"),
        ValueError,
        r"^lam_min is 1000000000.0, and lam_max is",
    ),
    (
        "lam_min negative",
        lambda: rb.solve_path(svm(), lam_min=-1),
        ValueError,
        r"^lam_min is -1. Pass",
    ),
    (
        "name taken",
        lambda: rb.register_solver("qp", rb.Solver),
        (ValueError, TypeError),
        r"^(name|solver) is .* Pass",
    ),
    (
        "proven of features",
        lambda: solution().proven(X[0], X[1]),
        TypeError,
        r"^first has dtype float64. Pass",
    ),
    (
        "proven of a scalar",
        lambda: solution().proven(0, 1),
        ValueError,
        r"^first has shape \(\). Pass",
    ),
    (
        "proven out of range",
        lambda: solution().proven([0], [N]),
        ValueError,
        r"^second has 12 at index 0. Pass item numbers from 0 to 11",
    ),
    (
        "proven negative",
        lambda: solution().proven([-1], [0]),
        ValueError,
        r"^first has -1 at index 0. Pass",
    ),
    (
        "proven of unequal lengths",
        lambda: solution().proven([0, 1, 2], [1, 2]),
        ValueError,
        r"^first has 3 entries and second has 2. Pass",
    ),
    (
        "predict of other columns",
        lambda: solution().predict(X[:, :2]),
        ValueError,
        r"^X_new has 2 columns. Pass",
    ),
    (
        "predict a vector",
        lambda: solution().predict(X[0]),
        ValueError,
        r"^X_new has shape \(3,\). Pass",
    ),
    (
        "predict ragged",
        lambda: solution().predict(RAGGED),
        ValueError,
        r"^X_new .*unequal.* Pass",
    ),
    (
        "coef as text",
        lambda: Solution(svm(), 1.0, coef=Y.astype(str)),
        TypeError,
        r"^coef cannot be read as numbers .* Pass",
    ),
    (
        "coef of the wrong shape",
        lambda: Solution(svm(), 1.0, coef=Y[:3]),
        ValueError,
        r"^coef has shape \(3,\).* Pass",
    ),
]

PATHS = [
    ("path at lam 'a'", lambda: path().coef("a"), TypeError, r"^lam is 'a'. Pass"),
    ("path at lam -1", lambda: path().predict(Z, -1), ValueError, r"^lam is -1. Pass"),
    (
        "path at X_new of text",
        lambda: path().predict(Z.astype(str), 1.0),
        TypeError,
        r"^X_new cannot be read as numbers .* Pass",
    ),
    (
        "X_val of other columns",
        lambda: rb.validation_curve(path(), X[:, :2], prefs()),
        ValueError,
        r"^X_val has 2 columns. Pass",
    ),
    (
        "X_val with NaN",
        lambda: rb.validation_curve(path(), with_nan(X, 0, 0), prefs()),
        ValueError,
        r"^X_val has NaN in row 0, column 0. Pass",
    ),
    (
        "prefs_val are pairs of rows",
        lambda: rb.validation_curve(path(), X, [(0, 1)]),
        TypeError,
        r"^prefs_val holds row numbers, .*Pass rb.Preferences",
    ),
    (
        "prefs_val of NDCG are pairs",
        lambda: rb.validation_curve(path(), X, rb.Preferences([1], [0], len(X)), metric="ndcg"),
        TypeError,
        r"^prefs_val holds pairs or weights. Pass",
    ),
    (
        "prefs_val of NDCG too short",
        lambda: rb.validation_curve(path(), X, Y[:3], metric="ndcg"),
        ValueError,
        r"^prefs_val has shape \(3,\). Pass",
    ),
    (
        "prefs_val of AUC of three levels",
        lambda: rb.validation_curve(path(), X, Y, metric="auc"),
        ValueError,
        r"^prefs_val has 3 different values. Pass",
    ),
    (
        "k of a curve 0",
        lambda: rb.validation_curve(path(), X, Y, metric="ndcg", k=0),
        ValueError,
        r"^k is 0. Pass",
    ),
    (
        "metric of a curve unknown",
        lambda: rb.validation_curve(path(), X, prefs(), metric="ndgc"),
        ValueError,
        "^metric is 'ndgc' ",
    ),
    (
        "tie_tol of a curve",
        lambda: rb.validation_curve(path(), X, prefs(), tie_tol="0"),
        TypeError,
        r"^tie_tol is '0'. Pass",
    ),
    (
        "path is a problem",
        lambda: rb.validation_curve(svm(), X, prefs()),
        TypeError,
        r"^path is a RankSVMProblem. Pass",
    ),
    ("curve at text", lambda: curve().at("1"), TypeError, r"^lam .* Pass"),
    ("curve at 0", lambda: curve().at(-1.0), ValueError, r"^lam is -1.0. Pass"),
    ("rule unknown", lambda: curve().choose("wide"), ValueError, "^rule is 'wide' "),
    (
        "curve is a path",
        lambda: rb.choose_lambda(path()),
        TypeError,
        r"^curve is a RegularizationPath. Pass",
    ),
    (
        "lams of a grid 0",
        lambda: rb.solve_path(rls(), solver="rls").coefs([1.0, 0.0]),
        ValueError,
        r"^lams has 0.0 at index 1. Pass",
    ),
    (
        "lams of leave-one-out text",
        lambda: leave_out_predictions(rb.solve_path(rls(), solver="rls"), [[0]], ["1"]),
        TypeError,
        r"^lams cannot be read as numbers .* Pass",
    ),
    (
        "lams of leave-pair-out negative",
        lambda: leave_pair_out(rb.solve_path(rls(), solver="rls"), [-1.0]),
        ValueError,
        r"^lams has -1.0 at index 0. Pass",
    ),
    (
        "what unknown",
        lambda: plots.plot_path(path(), what="margin"),
        ValueError,
        "^what is 'margin' ",
    ),
    (
        "which out of range",
        lambda: plots.plot_path(path(), which=[10**6]),
        ValueError,
        r"^which contains 1000000.* Pass",
    ),
    ("n 1", lambda: plots.plot_path(path(), n=1), ValueError, r"^n is 1. Pass"),
    ("n text", lambda: plots.plot_path(path(), n="9"), TypeError, r"^n is '9'. Pass"),
    (
        "names too few",
        lambda: plots.plot_path(path(), names=["a"]),
        ValueError,
        r"^names has length 1. Pass 12 names, one for each item",
    ),
    (
        "names a text",
        lambda: plots.plot_path(path(), names="abc"),
        TypeError,
        r"^names is a str. Pass",
    ),
    (
        "weights of an rbf path",
        lambda: plots.plot_path(rb.solve_path(rb.RankRLSProblem(X, Y)), "weights"),
        TypeError,
        r"^what is 'weights' and path is a .* Pass",
    ),
    ("ax a figure", lambda: plots.plot_sets(path(), ax=3), TypeError, r"^ax is an int. Pass"),
    (
        "plot of a problem",
        lambda: plots.plot_sets(svm()),
        TypeError,
        r"^path is a RankSVMProblem. Pass",
    ),
    (
        "slider of a curve",
        lambda: plots.LambdaSlider(curve()),
        TypeError,
        r"^path is a ValidationCurve. Pass",
    ),
    (
        "slider with a path as a curve",
        lambda: plots.LambdaSlider(path(), path()),
        TypeError,
        r"^curve is a RegularizationPath. Pass",
    ),
    (
        "slider of one item",
        lambda: plots.LambdaSlider(path(), items=Z[:1]),
        ValueError,
        r"^items has 1 row. Pass 2 to 24 rows",
    ),
    (
        "slider of items of another size",
        lambda: plots.LambdaSlider(path(), items=Z[:, :2]),
        ValueError,
        "has 2 columns. Pass .*3",
    ),
    (
        "slider of NaN",
        lambda: plots.LambdaSlider(path(), items=with_nan(Z, 1, 2)),
        ValueError,
        r"^items has NaN in row 1, column 2. Pass",
    ),
    (
        "slider with too few names",
        lambda: plots.LambdaSlider(path(), items=Z, names=["a"]),
        ValueError,
        r"^names has length 1. Pass 5 names, one for each item",
    ),
    (
        "slider from lam 0",
        lambda: plots.LambdaSlider(path(), lam=0),
        ValueError,
        r"^lam is 0. Pass",
    ),
    (
        "slider at text",
        lambda: plots.LambdaSlider(path()).at("one"),
        TypeError,
        r"^lam cannot be read as numbers .* Pass",
    ),
    (
        "plot of a path as a curve",
        lambda: plots.plot_validation_curve(path()),
        TypeError,
        r"^curve is a RegularizationPath. Pass",
    ),
    (
        "plot of items in space",
        lambda: plots.plot_decision(path(), 1.0),
        ValueError,
        r"^path belongs to items of shape \(12, 3\) .* Pass",
    ),
]

STATISTICS = [
    (
        "a query twice",
        lambda: statistics().add(X, Y, QID),
        ValueError,
        r"^qid has 1, which was added before. Pass",
    ),
    (
        "a block with None in qid",
        lambda: statistics().add(X, Y, NONE_IN_QID),
        ValueError,
        r"^qid has None at index 2. Pass",
    ),
    (
        "a block of other columns",
        lambda: statistics().add(X[:, :2], Y, 2 + QID),
        ValueError,
        r"^X and y have 2 and 1 columns. Pass",
    ),
    (
        "a block whose y is too short",
        lambda: statistics().add(X, Y[:3], 2 + QID),
        ValueError,
        r"^y has 3 rows and X has 12. Pass",
    ),
    (
        "a block whose y is text",
        lambda: statistics().add(X, Y.astype(str), 2 + QID),
        TypeError,
        r"^y cannot be read as numbers .* Pass",
    ),
    (
        "basis of features with NaN",
        lambda: rb.RankingStatistics(with_nan(X, 0, 0), kernel="rbf"),
        ValueError,
        r"^basis has NaN in row 0, column 0. Pass",
    ),
    (
        "basis of other columns",
        lambda: rb.RankingStatistics(Z[:, :2], kernel="rbf").add(X, Y),
        ValueError,
        "^X has 3 columns. Pass 2 columns, as in the basis",
    ),
    (
        "graph of statistics",
        lambda: rb.RankingStatistics(graph="query"),
        ValueError,
        r"^graph is 'query'. Pass",
    ),
    (
        "kernel of statistics",
        lambda: rb.RankingStatistics(kernel="rbf"),
        ValueError,
        r"^kernel is 'rbf' and basis is None. Pass",
    ),
    (
        "merge what is none",
        lambda: merge_statistics(statistics(), X),
        TypeError,
        r"^others\[0\] is an ndarray. Pass",
    ),
    (
        "statistics is an array",
        lambda: StatisticsProblem(X),
        TypeError,
        r"^statistics is an ndarray. Pass",
    ),
    (
        "lam of statistics",
        lambda: rb.solve(StatisticsProblem(statistics()), 0),
        ValueError,
        r"^lam is 0. Pass",
    ),
    (
        "a block of other lengths",
        lambda: rb.Block(X, Y[1:], name="b"),
        ValueError,
        r"^b: y has .* Pass",
    ),
    (
        "a block of text",
        lambda: rb.Block([["a"]], [1]),
        (TypeError, ValueError),
        r"^block: X .* Pass",
    ),
    ("no blocks", lambda: rb.Blocks([]), ValueError, r"^blocks is empty. Pass"),
    (
        "arrays as blocks",
        lambda: rb.Blocks([X]),
        TypeError,
        r"^blocks\[0\] is an ndarray. Pass",
    ),
    (
        "lambda of a ranking SVM on blocks",
        lambda: rb.RankSVMCV(kernel="linear").fit(rb.Blocks([rb.Block(X, Y)])),
        TypeError,
        r"^X is Blocks. .* With blocks, choose lambda by rankbook.validation_curve",
    ),
    (
        "scores of blocks",
        lambda: rb.RankRLS().fit(X, Y).predict(rb.Blocks([rb.Block(X, Y)])),
        TypeError,
        r"^X is Blocks. Pass",
    ),
    (
        "a metric over what is no blocks",
        lambda: metrics.over_blocks("ndcg", X, None),
        TypeError,
        r"^blocks is an ndarray. Pass",
    ),
    (
        "an array on Dask",
        lambda: pytest.importorskip("distributed") and rb.dask_blocks(X, Y, client=3),
        TypeError,
        r"^client is an int. Pass",
    ),
    (
        "a metric over blocks that there is not",
        lambda: metrics.over_blocks("ndgc", rb.Blocks([rb.Block(X, Y)]), None),
        ValueError,
        r"^metric is 'ndgc'.*did you mean 'ndcg'",
    ),
    (
        "blocks that are an array",
        lambda: rb.BlockRankSVMProblem(X),
        TypeError,
        r"^blocks is an ndarray. Pass",
    ),
    (
        "query_weight of blocks",
        lambda: rb.BlockRankSVMProblem(rb.Blocks([rb.Block(X, Y)]), query_weight="all"),
        ValueError,
        r"^query_weight is 'all'. Pass 'equal'",
    ),
    (
        "loss of blocks",
        lambda: rb.BlockRankSVMProblem(rb.Blocks([rb.Block(X, Y)]), loss="log"),
        ValueError,
        r"^loss is 'log'. Pass one of: hinge",
    ),
]

DATA = [
    (
        "no rows",
        lambda tmp: datasets.Dataset(np.empty((0, 2)), []),
        ValueError,
        r"^X has shape \(0, 2\). Pass",
    ),
    (
        "y of a data set too long",
        lambda tmp: datasets.Dataset(X, Y[:3]),
        ValueError,
        r"^y has shape \(3,\). Pass",
    ),
    (
        "qid of a data set",
        lambda tmp: datasets.Dataset(X, Y, Y / 2),
        ValueError,
        r"^qid has shape \(12,\) and dtype float64. Pass",
    ),
    (
        "parts",
        lambda tmp: datasets.Dataset(X, Y, parts=["trian"] * N),
        ValueError,
        "^parts is 'trian' ",
    ),
    (
        "feature_names",
        lambda tmp: datasets.Dataset(X, Y, feature_names=["a"]),
        ValueError,
        "^feature_names has length 1. Pass 3 names, one for each column",
    ),
    (
        "feature_names a number",
        lambda tmp: datasets.Dataset(X, Y, feature_names=3),
        TypeError,
        r"^feature_names is 3. Pass",
    ),
    (
        "name unknown",
        lambda tmp: datasets.load("cancr"),
        ValueError,
        "^name is 'cancr' ",
    ),
    (
        "n_per_class a fraction",
        lambda tmp: datasets.make_mixture(1.5),
        ValueError,
        r"^n_per_class is 1.5. Pass",
    ),
    (
        "n_per_class a boolean",
        lambda tmp: datasets.make_mixture(True),
        TypeError,
        r"^n_per_class is True. Pass",
    ),
    (
        "seed of a mixture text",
        lambda tmp: datasets.make_mixture(3, seed="a"),
        TypeError,
        r"^seed is 'a'. Pass",
    ),
    (
        "seed negative",
        lambda tmp: datasets.make_mixture(3, seed=-1),
        ValueError,
        r"^seed is -1. Pass",
    ),
    ("fold 6", lambda tmp: datasets.load_mq2008(6), ValueError, r"^fold is 6. Pass"),
    (
        "a file for the name of a data set",
        lambda tmp: datasets.load("train.txt"),
        ValueError,
        "^name is 'train.txt', which looks like a file. Pass the name of a data set,",
    ),
    (
        "a list of text for X",
        lambda tmp: rb.RankSVM(kernel=lambda a, b: 1.0).fit(["tea", "milk"], [0, 1]),
        TypeError,
        r"^X cannot be read as numbers \('tea' at index 0\). .* rankbook.kernels.over makes items",
    ),
    (
        "a metric of no place",
        lambda tmp: metrics.by_query("ndcg@0", [0, 1], [0, 1]),
        ValueError,
        "^metric is 'ndcg@0'. Pass at least one rank, such as",
    ),
    ("path a number", lambda tmp: rb.read_table(3, "y"), TypeError, r"^path is 3. Pass"),
    (
        "no such file",
        lambda tmp: rb.read_table(tmp / "none.csv", "y"),
        FileNotFoundError,
        r"^path is '.*none.csv'",
    ),
    (
        "target None",
        lambda tmp: rb.read_table(table(tmp)),
        ValueError,
        r"^target is None. Pass the name of a column",
    ),
    (
        "target unknown",
        lambda tmp: rb.read_table(table(tmp), "z"),
        ValueError,
        "^target is 'z'",
    ),
    (
        "qid the target",
        lambda tmp: rb.read_table(table(tmp), "y", qid="y"),
        ValueError,
        r"^target and qid are both 'y'. Pass",
    ),
    (
        "drop text",
        lambda tmp: rb.read_table(table(tmp), "y", drop="a"),
        TypeError,
        r"^drop is 'a'. Pass",
    ),
    (
        "preferences of an unknown form",
        lambda tmp: rb.read_preferences(table(tmp), "pear"),
        ValueError,
        "^form is 'pear'",
    ),
    (
        "orders in pairs",
        lambda tmp: rb.read_orders(table(tmp), "pairs"),
        ValueError,
        "^form is 'pairs'. Pass one of: orders, rankings",
    ),
    (
        "ratings without a column",
        lambda tmp: rb.read_ratings(dict(user=[1]), np.eye(2), np.eye(2)),
        ValueError,
        r"^ratings has no column 'item' \(its columns are 'user'\). Pass item=COLUMN",
    ),
    (
        "preferences by an argument that there is not",
        lambda tmp: rb.read_preferences(table(tmp), winer="y"),
        ValueError,
        "^columns is 'winer' .did you mean 'winner'",
    ),
    (
        "preferences in a file without their columns",
        lambda tmp: rb.read_preferences(table(tmp), "pairs", winner="q"),
        ValueError,
        "csv has no columns 'q' and 'loser'; it has .* Name the columns with winner=COLUMN",
    ),
    (
        "preferences between items that are none",
        lambda tmp: rb.read_preferences(table(tmp, "winner,loser\na,b\n"), items=["a", "c"]),
        ValueError,
        "csv: loser is 'b' in row 0, which is not among the 2 items",
    ),
    (
        "no preferences",
        lambda tmp: rb.read_preferences(table(tmp, "winner,loser\n")),
        ValueError,
        "csv has column names but no rows",
    ),
    (
        "blocks from no files",
        lambda tmp: rb.read_blocks(str(tmp / "*.csv"), "y"),
        FileNotFoundError,
        r"^paths is .*: no file name matches it",
    ),
    (
        "blocks from a number",
        lambda tmp: rb.read_blocks(3, "y"),
        TypeError,
        r"^paths is 3. Pass",
    ),
    (
        "blocks with an unknown feature",
        lambda tmp: rb.read_blocks(table(tmp), "y", features=["aa"]),
        ValueError,
        "^features is 'aa' ",
    ),
    (
        "drop a number",
        lambda tmp: rb.read_table(table(tmp), "y", drop=3),
        TypeError,
        r"^drop is 3. Pass",
    ),
    (
        "target of SVMlight",
        lambda tmp: rb.read_table(table(tmp, "1 1:2\n0 1:3\n", "t.svm"), "y"),
        ValueError,
        "^target is 'y'. Omit target for .*t.svm, because SVMlight text",
    ),
]


def fit(make, *args, **options):
    return lambda: make().fit(*args, **options)


def later(make, method, *args, fitted=(X, Y), **options):
    return lambda: getattr(make().fit(*fitted), method)(*args, **options)


def ranker(**options):
    return lambda: rb.RankSVM(**dict(kernel="linear", solver="newton") | options)


LINEAR, CV = (
    ranker(),
    lambda **options: lambda: rb.RankSVMCV(**dict(kernel="linear", cv=2) | options),
)
LEAST = lambda **options: lambda: rb.RankRLS(**dict(kernel="linear") | options)
LEAST_CV = lambda **options: lambda: rb.RankRLSCV(**dict(kernel="linear", lams=[1.0]) | options)
RAY = lambda **options: lambda: rb.RayleighRanker(**dict(n_components=3) | options)
RAY_CV = lambda **options: lambda: rb.RayleighRankerCV(**dict(n_components=3, cv=2) | options)
ONLINE = lambda **options: lambda: rb.OnlineRankSVM(**dict(max_updates=1000, lam=0.1) | options)
SVC = lambda **options: lambda: rb.OnlineSVC(**dict(max_updates=1000, lam=0.1) | options)

ESTIMATORS = [
    ("fit lam text", fit(ranker(lam="1"), X, Y), TypeError, r"^lam is '1'. Pass"),
    ("fit lam None", fit(LEAST(lam=None), X, Y), TypeError, r"^lam is None. Pass"),
    (
        "fit y numeric strings",
        fit(LINEAR, X, Y.astype(str)),
        TypeError,
        r"^y cannot be read as numbers .* Pass",
    ),
    (
        "fit y numeric strings, least squares",
        fit(LEAST(), X, Y.astype(str).astype(object)),
        TypeError,
        r"^y cannot be read as numbers .* Pass",
    ),
    (
        "fit y numeric strings, online",
        fit(ONLINE(), X, Y.astype(str)),
        TypeError,
        r"^y cannot be read as numbers .* Pass",
    ),
    (
        "fit y with NaN",
        fit(LINEAR, X, with_nan(Y, 0)),
        ValueError,
        r"^y has NaN at index 0. Pass",
    ),
    (
        "fit y too short",
        fit(LINEAR, X, Y[:3]),
        ValueError,
        r"^y has 3 entries and X has 12 rows. Pass",
    ),
    (
        "fit y too short, online",
        fit(ONLINE(), X, Y[:3]),
        ValueError,
        r"^y has 3 entries and X has 12 rows. Pass",
    ),
    (
        "fit y too short, least squares",
        fit(LEAST(), X, Y[:3]),
        ValueError,
        r"^y has 3 entries and X has 12 rows. Pass",
    ),
    (
        "fit y too short, Rayleigh",
        fit(RAY(), X, LABELS[:3]),
        ValueError,
        r"^y has 3 entries and X has 12 rows. Pass",
    ),
    (
        "fit y a matrix",
        fit(LINEAR, X, np.c_[Y, Y]),
        ValueError,
        r"^y has shape \(12, 2\). Pass",
    ),
    (
        "fit y times and events",
        fit(LINEAR, X, (Y, Y > 0)),
        ValueError,
        r"^y has shape \(2, 12\). Pass an array of shape \(n,\). For",
    ),
    ("fit y None", fit(LINEAR, X, None), ValueError, r"y is None. Pass"),
    (
        "fit X of numeric strings",
        fit(LINEAR, WORDS, Y),
        TypeError,
        r"^X cannot be read as numbers .* Pass",
    ),
    (
        "fit X in three dimensions",
        fit(LINEAR, CUBE, Y),
        ValueError,
        r"^X has shape \(12, 3, 2\). Pass",
    ),
    (
        "fit X in three dimensions, least squares",
        fit(LEAST(), CUBE, Y),
        ValueError,
        r"^X has shape \(12, 3, 2\). Pass",
    ),
    ("fit X ragged", fit(LINEAR, RAGGED, Y), ValueError, r"^X .*unequal.* Pass"),
    ("fit X None", fit(LINEAR, None, Y), TypeError, r"^X is None. Pass"),
    (
        "fit X with infinity",
        fit(LEAST(), np.where(X == X[0, 0], np.inf, X), Y),
        ValueError,
        r"^X has infinity in row 0, column 0. Pass",
    ),
    (
        "fit X too large to square",
        fit(LINEAR, 1e200 * X, Y),
        ValueError,
        r"^X has \S+e\+?199 in row 0, column 0. Pass",
    ),
    (
        "fit X too large to square, cv",
        fit(CV(), 1e200 * X, Y),
        ValueError,
        r"^X has \S+e\+?199 in row 0, column 0. Pass",
    ),
    (
        "fit X too large to square, approximate kernel",
        fit(ranker(kernel="rbf", approximate_kernel=3), 1e200 * X, Y),
        ValueError,
        r"^X has \S+e\+?199 in row 0.* Pass",
    ),
    (
        "fit X too large to square, online",
        fit(ONLINE(), 1e200 * X, Y),
        ValueError,
        r"^X has .* Pass .*overflow",
    ),
    (
        "fit qid with None",
        fit(LINEAR, X, Y, NONE_IN_QID),
        ValueError,
        r"^qid has None at index 2. Pass",
    ),
    (
        "fit qid with None, cv",
        fit(CV(), X, Y, NONE_IN_QID),
        ValueError,
        r"^qid has None at index 2. Pass",
    ),
    (
        "fit qid with None, least squares cv",
        fit(LEAST_CV(), X, Y, NONE_IN_QID),
        ValueError,
        r"^qid has None at index 2. Pass",
    ),
    (
        "fit qid with None, online",
        fit(ONLINE(), X, Y, NONE_IN_QID),
        ValueError,
        r"^qid has None at index 2. Pass",
    ),
    (
        "fit sample_weight negative",
        fit(LINEAR, X, Y, None, -Y),
        ValueError,
        r"^sample_weight has -1.0 at index 1. Pass",
    ),
    (
        "fit sample_weight too short",
        fit(LINEAR, X, Y, None, Y[:3]),
        ValueError,
        r"^sample_weight has shape \(3,\). Pass",
    ),
    (
        "fit sample_weight zero",
        fit(ONLINE(), X, Y, None, 0 * Y),
        ValueError,
        r"^sample_weight is zero for every item. Pass",
    ),
    (
        "fit without a preference",
        fit(LINEAR, X, 0 * Y),
        ValueError,
        r"^y has no preference.* Pass",
    ),
    (
        "fit gamma and linear",
        fit(ranker(gamma=1.0), X, Y),
        ValueError,
        "^gamma is 1.0, and kernel is 'linear', .* Omit gamma",
    ),
    (
        "fit gammas and linear",
        fit(LEAST_CV(gamma=[1.0, 2.0]), X, Y),
        ValueError,
        "^gamma is 1.0, and kernel is 'linear', .* Omit gamma",
    ),
    (
        "fit graph unknown",
        fit(ranker(graph="stars"), X, Y),
        ValueError,
        "^graph is 'stars' ",
    ),
    (
        "fit solver unknown",
        fit(ranker(solver="newtn"), X, Y),
        ValueError,
        "^solver is 'newtn' ",
    ),
    ("fit solver None", fit(ranker(solver=None), X, Y), TypeError, r"^solver is None. Pass"),
    (
        "approximate_kernel 0",
        fit(ranker(kernel="rbf", approximate_kernel=0), X, Y),
        ValueError,
        r"^approximate_kernel is 0. Pass",
    ),
    (
        "approximate_kernel text",
        fit(ranker(kernel="rbf", approximate_kernel="3"), X, Y),
        TypeError,
        r"^approximate_kernel is '3'. Pass",
    ),
    (
        "approximate_kernel and linear",
        fit(ranker(approximate_kernel=3), X, Y),
        ValueError,
        "^approximate_kernel is .* Omit approximate_kernel",
    ),
    ("basis 100", fit(LEAST(basis=100), X, Y), ValueError, r"^basis is 100. Pass"),
    ("basis text", fit(LEAST(basis="all"), X, Y), TypeError, r"^basis is 'all'. Pass"),
    ("basis 100 of cv", fit(LEAST_CV(basis=100), X, Y), ValueError, r"^basis is 100. Pass"),
    (
        "basis of other columns in fit",
        fit(LEAST(kernel="rbf", basis=Z[:, :2]), X, Y),
        ValueError,
        "^X has 3 columns. Pass 2 columns, as in the basis",
    ),
    (
        "basis in three dimensions",
        fit(LEAST(basis=CUBE), X, Y),
        ValueError,
        r"^basis has shape \(12, 3, 2\). Pass",
    ),
    (
        "basis_method unknown",
        fit(LEAST(basis=3, basis_method="kmeans"), X, Y),
        ValueError,
        "^basis_method is 'kmeans' ",
    ),
    (
        "random_state text",
        fit(LEAST(basis=3, random_state="a"), X, Y),
        TypeError,
        r"^random_state is 'a'. Pass",
    ),
    ("lams empty", fit(LEAST_CV(lams=[]), X, Y), ValueError, r"^lams is empty. Pass"),
    (
        "lams text",
        fit(LEAST_CV(lams="1"), X, Y),
        TypeError,
        r"^lams cannot be read as numbers .* Pass",
    ),
    (
        "lams a matrix",
        fit(LEAST_CV(lams=X), X, Y),
        ValueError,
        r"^lams has shape \(12, 3\). Pass",
    ),
    ("cv 1", fit(CV(cv=1), X, Y), ValueError, r"^cv is 1. Pass"),
    ("cv text", fit(CV(cv="five"), X, Y), TypeError, r"^cv is 'five'. Pass"),
    ("cv None", fit(LEAST_CV(cv=None), X, Y), TypeError, r"^cv is None. Pass"),
    ("cv a word", fit(LEAST_CV(cv="lo"), X, Y), ValueError, "^cv is 'lo' "),
    (
        "cv too many",
        fit(CV(cv=N), X, Y),
        ValueError,
        "^cv leaves fold 1 of 12 no preference to validate.* Use fewer folds, or a splitter that",
    ),
    (
        "cv out of range",
        fit(CV(cv=[([0, 1, 2], [3, 99])]), X, Y),
        ValueError,
        r"^cv\[0\]\[1\] has 99 at index 1. Pass",
    ),
    ("cv of numbers", fit(CV(cv=[1, 2]), X, Y), TypeError, r"^cv has 1 as fold 0. Pass"),
    (
        "rule unknown in fit",
        fit(CV(rule="wide"), X, Y),
        ValueError,
        "^rule is 'wide' ",
    ),
    (
        "metric unknown in fit",
        fit(LEAST_CV(metric="ndgc"), X, Y),
        ValueError,
        "^metric is 'ndgc' ",
    ),
    (
        "lam_min_ratio 2",
        fit(CV(lam_min_ratio=2), X, Y),
        ValueError,
        r"^lam_min_ratio is 2. Pass",
    ),
    ("k in fit 0", fit(CV(metric="ndcg", k=0), X, Y), ValueError, r"^k is 0. Pass"),
    (
        "n_neighbors too many in fit",
        fit(RAY(n_neighbors=99), X, LABELS),
        ValueError,
        r"^n_neighbors is 99. Pass",
    ),
    (
        "unlabelled text",
        fit(RAY(unlabelled="no"), X, LABELS),
        ValueError,
        r"^unlabelled is 'no'. Pass",
    ),
    ("y of three classes", fit(RAY(), X, Y), ValueError, r"^y has 3 classes .* Pass"),
    (
        "manifold_weights negative",
        fit(RAY_CV(manifold_weights=[-1.0]), X, LABELS),
        ValueError,
        r"^manifold_weights has -1.0 at index 0. Pass",
    ),
    (
        "lams of Rayleigh",
        fit(RAY_CV(lams=[0.0]), X, LABELS),
        ValueError,
        r"^lams has 0.0 at index 0. Pass",
    ),
    ("lam of the online SVM", fit(ONLINE(lam=0), X, Y), ValueError, r"^lam is 0. Pass"),
    ("tol of the online SVM", fit(ONLINE(tol=None), X, Y), TypeError, r"^tol is None. Pass"),
    (
        "max_updates of the online SVM",
        fit(ONLINE(max_updates="9"), X, Y),
        TypeError,
        r"^max_updates is '9'. Pass",
    ),
    (
        "average of the online SVM",
        fit(ONLINE(average="tail"), X, Y),
        ValueError,
        r"^average is 'tail'. Pass",
    ),
    (
        "random_state of the online SVM",
        fit(ONLINE(random_state=1.5), X, Y),
        TypeError,
        r"^random_state is 1.5. Pass",
    ),
    (
        "draws of the online SVM",
        lambda: ONLINE(draws=-1)().partial_fit(X, Y),
        ValueError,
        r"^draws is -1. Pass",
    ),
    (
        "better of other columns",
        lambda: ONLINE()().partial_fit_pairs(X, X[:, :2]),
        ValueError,
        r"^better has shape .* Pass",
    ),
    (
        "classes None",
        lambda: SVC()().partial_fit(X, LABELS),
        ValueError,
        r"^classes is None .* Pass",
    ),
    (
        "classes without one of y",
        lambda: SVC()().partial_fit(X, Y, classes=[0, 1]),
        ValueError,
        r"^y has 2.0 at index 2, .* Pass",
    ),
    (
        "classes other than before",
        lambda: (
            SVC()().partial_fit(X, LABELS, classes=[0, 1]).partial_fit(X, LABELS, classes=[0, 2])
        ),
        ValueError,
        r"^classes is \[0, 2\], .* Pass",
    ),
    (
        "sample_weight of classes",
        lambda: SVC()().fit(X, LABELS, with_nan(np.ones(N), 5)),
        ValueError,
        r"^sample_weight has NaN at index 5. Pass",
    ),
    (
        "predict X with NaN",
        later(LINEAR, "predict", with_nan(Z, 1, 0)),
        ValueError,
        r"^X has NaN in row 1, column 0. Pass",
    ),
    (
        "predict X of text",
        later(LEAST(), "predict", Z.astype(str)),
        TypeError,
        r"^X cannot be read as numbers .* Pass",
    ),
    (
        "predict X in three dimensions",
        later(LINEAR, "predict", CUBE),
        ValueError,
        r"^X has shape \(12, 3, 2\). Pass",
    ),
    (
        "predict X online in three dimensions",
        later(ONLINE(), "predict", CUBE),
        ValueError,
        r"^X has shape \(12, 3, 2\). Pass",
    ),
    (
        "score y too short",
        later(LINEAR, "score", X, Y[:3]),
        ValueError,
        r"^y has 3 entries and X has 12 rows. Pass",
    ),
    (
        "score y text",
        later(LINEAR, "score", X, Y.astype(str)),
        TypeError,
        r"^y cannot be read as numbers .* Pass",
    ),
    (
        "score y level",
        later(LINEAR, "score", X, 0 * Y),
        ValueError,
        r"^y has no preference. Pass",
    ),
    (
        "score y None",
        later(LINEAR, "score", X, None),
        (ValueError, TypeError),
        r"^y is None. Pass",
    ),
    (
        "score y too short, online",
        later(ONLINE(), "score", X, Y[:3]),
        ValueError,
        r"^y has 3 entries and X has 12 rows. Pass",
    ),
    (
        "score y too short, Rayleigh",
        later(RAY(), "score", X, LABELS[:3], fitted=(X, LABELS)),
        ValueError,
        r"^y has 3 entries and X has 12 rows. Pass",
    ),
    (
        "score qid with None",
        later(LINEAR, "score", X, Y, NONE_IN_QID),
        ValueError,
        r"^qid has None at index 2. Pass",
    ),
    (
        "score sample_weight negative",
        later(LINEAR, "score", X, Y, None, -Y),
        ValueError,
        r"^sample_weight has -1.0 at index 1. Pass",
    ),
    (
        "partial_fit with a query twice",
        later(LEAST(), "partial_fit", X, Y, QID, fitted=(X, Y, QID)),
        ValueError,
        r"^qid has 1, which was added before. Pass",
    ),
    (
        "partial_fit of other columns",
        later(LEAST(), "partial_fit", X[:, :2], Y, 2 + QID, fitted=(X, Y, QID)),
        ValueError,
        r"^X has 2 features, but RankRLS is expecting 3",
    ),
]


@cache
def linear():
    return rb.RankSVM(kernel="linear").fit(X, Y)


def saved(model, tmp, name="m.rankbook", cut=None):
    """A file with a model, or with a part of its bytes."""
    model.save(tmp / name)
    if cut is not None:
        (tmp / name).write_bytes((tmp / name).read_bytes()[:cut])
    return tmp / name


FILES = [
    (
        "save a kernel that is a function",
        lambda tmp: rb.RankSVM(kernel=lambda A, B: A @ B.T).fit(X, Y).save(tmp / "m"),
        ValueError,
        r"^kernel is a function, which a file cannot store. Pass",
    ),
    (
        "save before a fit",
        lambda tmp: rb.RankSVM().save(tmp / "m"),
        ValueError,
        r"^This RankSVM instance is not fitted yet",
    ),
    (
        "save into no folder",
        lambda tmp: linear().save(tmp / "no" / "m.rankbook"),
        FileNotFoundError,
        r"m\.rankbook",
    ),
    ("save onto a folder", lambda tmp: linear().save(tmp), OSError, "directory"),
    (
        "save a cv that is a splitter",
        lambda tmp: rb.RankRLSCV(lams=[1.0], cv=KFold(2)).fit(X, Y).save(tmp / "m"),
        ValueError,
        r"^cv is a KFold, which a file cannot store. Pass",
    ),
    (
        "load half a model",
        lambda tmp: rb.load(saved(linear(), tmp, cut=900)),
        ValueError,
        "^file is .*m.rankbook', which is not a rankbook file or is damaged: File is not "
        "a zip file. Pass a file that rankbook wrote",
    ),
    ("load no file", lambda tmp: rb.load(tmp / "no.rankbook"), FileNotFoundError, "no.rankbook"),
    ("load a folder", lambda tmp: rb.load(tmp), IsADirectoryError, "directory"),
    (
        "load a number",
        lambda tmp: rb.load(3),
        TypeError,
        r"^file is 3. Pass a name or a path",
    ),
    (
        "partial_fit after load",
        lambda tmp: rb.load(saved(ONLINE()().fit(X, Y), tmp)).partial_fit(X, Y),
        ValueError,
        "^model was loaded from a file, .* Call fit, or partial_fit of a model",
    ),
]


@cache
def leaderboard():
    votes = rb.Preferences([0, 0, 1, 0], [1, 2, 2, 1], n_items=3, weight=[2, 3, 2, 1])
    return rb.RankSVM(lam=1.0, kernel="linear", loss="logistic").fit(np.eye(3), votes)


def ordered(model=None, items=np.eye(3), **options):
    return rb.order_intervals(leaderboard() if model is None else model, items, **options)


def without_data():
    return pickle.loads(pickle.dumps(leaderboard()))


INTERVALS = [
    (
        "Leaderboard of one item",
        lambda: rb.Leaderboard().fit(dict(winner=["a"], loser=["a"])),
        ValueError,
        r"winner and loser are both 'a' in row 0. Pass two different items",
    ),
    (
        "coefficient_table of a model without data",
        lambda: rb.coefficient_table(without_data()),
        ValueError,
        "^model has no solution_, .* Fit the model again to X and",
    ),
    (
        "order_intervals of a model without data",
        lambda: ordered(without_data()),
        ValueError,
        "^model has no solution_, .* Fit the model again to X and",
    ),
    (
        "order_intervals of labels",
        lambda: ordered(rb.LabelRanker().fit(X, np.c_[Y, -Y]), X),
        TypeError,
        r"^model is a LabelRanker. Pass a RankSVM",
    ),
    (
        "order_intervals of a Rayleigh ranker",
        lambda: ordered(rb.RayleighRanker().fit(X, LABELS), X),
        TypeError,
        r"^model is a RayleighRanker. Pass a RankSVM",
    ),
    (
        "order_intervals of blocks",
        lambda: ordered(rb.RankSVM(kernel="linear").fit(rb.Blocks([rb.Block(X, Y)])), X),
        ValueError,
        r"^model is fitted to blocks, and a bootstrap needs .* in memory. Pass",
    ),
    (
        "order_intervals of scores with columns",
        lambda: ordered(rb.RankRLS().fit(X, np.c_[Y, -Y]), X, method="bootstrap"),
        ValueError,
        r"^model is fitted .* several columns of scores. Pass",
    ),
    (
        "order_intervals of other features",
        lambda: ordered(items=X[:, :2]),
        ValueError,
        r"^X has 2 features, but RankSVM is expecting 3",
    ),
    (
        "order_intervals level 1",
        lambda: ordered(level=1),
        ValueError,
        r"^level is 1. Pass a number > 0 and < 1",
    ),
    (
        "order_intervals method sandwich",
        lambda: ordered(method="sandwich"),
        ValueError,
        r"^method is 'sandwich'. Pass one of: bootstrap, laplace",
    ),
    (
        "order_intervals laplace of a hinge",
        lambda: ordered(linear(), X, method="laplace"),
        ValueError,
        "^method is 'laplace' and loss is 'hinge', .* Pass method='bootstrap'",
    ),
    (
        "order_intervals laplace of signs",
        lambda: ordered(
            rb.RankSVM(kernel="linear", loss="logistic", signs=[1, 0, 0]).fit(X, Y),
            X,
            method="laplace",
        ),
        ValueError,
        "^method is 'laplace' and weights have signs. Pass method='bootstrap'",
    ),
    (
        "order_intervals of two resamples",
        lambda: ordered(n_resamples=2),
        ValueError,
        r"^n_resamples is 2. Pass",
    ),
    (
        "order_intervals laplace unit",
        lambda: ordered(unit="preference"),
        ValueError,
        "^unit is given and method is 'laplace', .* Pass method='bootstrap', which "
        "resamples units, or unit=None",
    ),
    (
        "order_intervals unit order",
        lambda: ordered(method="bootstrap", unit="order"),
        ValueError,
        r"^unit is 'order'. Pass one of: preference, vote",
    ),
    (
        "order_intervals unit vote of shares",
        lambda: ordered(
            leaderboard()
            .__class__(kernel="linear")
            .fit(np.eye(3), rb.Preferences([0, 1], [1, 2], n_items=3, weight=[0.3, 1.0])),
            method="bootstrap",
            unit="vote",
        ),
        ValueError,
        r"^unit is 'vote' and a weight is 0.3. Pass whole numbers",
    ),
    (
        "order_intervals unit of too few",
        lambda: ordered(method="bootstrap", unit=[1, 2]),
        ValueError,
        r"^unit has shape \(2,\). Pass an array of shape \(4,\) with one",
    ),
    (
        "order_intervals one unit",
        lambda: ordered(method="bootstrap", unit=["Ann"] * 4),
        ValueError,
        "^unit is 'group', and there is only one. Pass at least two",
    ),
    (
        "order_intervals unit array for scores",
        lambda: ordered(linear(), X, unit=np.arange(N)),
        ValueError,
        r"^unit is an array and the model is not fitted to a list .* 'item' or 'query'",
    ),
    (
        "order_intervals of rankings",
        lambda: ordered(
            rb.RankSVM(kernel="linear").fit(
                np.eye(3), rb.Preferences.from_rankings([[0, 1, 2], [0, 2, 1]])
            )
        ),
        ValueError,
        r"^unit is None and the model is fitted to pairs of rankings, .* Pass an array",
    ),
    (
        "match_prior of a hinge",
        lambda: rb.match_prior(rb.RankSVM(kernel="linear"), X, prefs()),
        ValueError,
        r"^loss is 'hinge'. Pass one of: logistic, plackett-luce",
    ),
    (
        "match_prior of a name",
        lambda: rb.match_prior("RankSVM", X, prefs()),
        TypeError,
        r"^model is a str. Pass a RankSVM",
    ),
    (
        "predict_pair_proba b of one item",
        lambda: linear().predict_pair_proba(X, X[0]),
        ValueError,
        r"^b has shape \(\w+,\). Pass a matrix",
    ),
    (
        "match_prior of a kernel",
        lambda: rb.match_prior(rb.RankSVM(loss="logistic"), X, prefs()),
        ValueError,
        r"^kernel is 'rbf'. Pass 'linear'",
    ),
    (
        "plot_intervals of a model",
        lambda: plots.plot_intervals(linear()),
        TypeError,
        r"^intervals is a RankSVM. Pass an? OrderIntervals",
    ),
    (
        "plot_intervals by name",
        lambda: plots.plot_intervals(ordered(), by="name"),
        ValueError,
        r"^by is 'name'. Pass one of: rank, score",
    ),
]

EXPLAINED = [
    *(
        (f"{name} on no axes", call, TypeError, r"^ax is a str. Pass a matplotlib Axes")
        for name, call in (
            ("plot_roc", lambda: plots.plot_roc(LABELS, Y, ax="left")),
            ("plot_sets", lambda: plots.plot_sets(path(), ax="left")),
            ("plot_path", lambda: plots.plot_path(path(), ax="left")),
            (
                "plot_validation_curve",
                lambda: plots.plot_validation_curve(curve(), ax="left"),
            ),
            (
                "plot_pair",
                lambda: plots.plot_pair(rb.explain_pair(linear(), 0, 1), ax="left"),
            ),
        )
    ),
    (
        "plot_risk_groups of scores",
        lambda: plots.plot_risk_groups(Y),
        TypeError,
        r"^groups is .*. Pass a RiskGroups",
    ),
    (
        "plot_reliability of scores",
        lambda: plots.plot_reliability(Y),
        TypeError,
        r"^reliability is an? .*. Pass a Reliability",
    ),
    (
        "plot_roc of three levels",
        lambda: plots.plot_roc(Y, Y),
        ValueError,
        r"^y_true has 3 different values .* Pass",
    ),
    (
        "plot_decision of three features",
        lambda: plots.plot_decision(path(), [1.0]),
        ValueError,
        r"^path belongs to items of shape \(12, 3\) .* Pass",
    ),
    (
        "to_onnx of what is no model",
        lambda: rb.to_onnx("model"),
        TypeError,
        "^model is a str. Pass a ranker",
    ),
    (
        "to_json of what is no model",
        lambda: rb.to_json("model"),
        TypeError,
        "^model is a str. Pass",
    ),
    (
        "explain_pair of what is no model",
        lambda: rb.explain_pair("model", X[0], X[1]),
        TypeError,
        r"^model is a str. Pass",
    ),
    (
        "explain_pair of labels",
        lambda: rb.explain_pair(rb.LabelRanker().fit(X, np.c_[Y, -Y]), X[0], X[1]),
        ValueError,
        r"^model gives each item 2 scores. Pass",
    ),
    (
        "LabelRankerCV leave_out",
        lambda: rb.LabelRankerCV(leave_out="people").fit(X, np.c_[Y, -Y]),
        ValueError,
        r"^leave_out is 'people'. Pass one of: both, labels, objects, pairs",
    ),
    (
        "LabelRankerCV leave_out both and the identity",
        lambda: rb.LabelRankerCV(leave_out="both").fit(X, np.c_[Y, -Y, Y]),
        ValueError,
        r"^leave_out is 'both' and label_kernel relates no label to another. Pass a label ke",
    ),
    (
        "LabelRankerCV leave_out of two labels",
        lambda: rb.LabelRankerCV(leave_out="labels").fit(X, np.c_[Y, -Y]),
        ValueError,
        r"^leave_out is 'labels' and y has 2 columns. Pass at least 3",
    ),
    (
        "LabelRankerCV leave_out of one object",
        lambda: rb.LabelRankerCV().fit(X[:1], [[0.0, 1.0]]),
        ValueError,
        r"^leave_out is 'objects' and X has 1 sample. Pass at least 2",
    ),
    (
        "LabelRankerCV cv loo with gaps",
        lambda: rb.LabelRankerCV(leave_out="pairs", cv="loo").fit(
            X, with_nan(np.tile(np.c_[Y, -Y], 5), 0, 0)
        ),
        ValueError,
        r"^cv is 'loo' and y has missing scores, so each .* its own fit. Pass a number of folds",
    ),
    (
        "LabelRankerCV cv loo of the ranking SVM",
        lambda: rb.LabelRankerCV(leave_out="pairs", cv="loo", method="ranksvm").fit(
            X, np.tile(np.c_[Y, -Y], 5)
        ),
        ValueError,
        r"^cv is 'loo' and method is 'ranksvm', so each .* its own fit. Pass a number of folds",
    ),
    (
        "LabelRankerCV cv unknown",
        lambda: rb.LabelRankerCV(cv="query").fit(X, np.c_[Y, -Y]),
        ValueError,
        r"^cv is 'query'. Pass one of: loo, a number of folds",
    ),
    (
        "LabelRankerCV cv too many",
        lambda: rb.LabelRankerCV(cv=13).fit(X, np.c_[Y, -Y]),
        ValueError,
        r"^cv is 13. Pass an integer from 2 to 12 with leave_out='objects'",
    ),
    (
        "LabelRankerCV folds without a training set",
        lambda: rb.LabelRankerCV(cv=2).fit(X[:2], [[0.0, 1.0], [1.0, 1.0]]),
        ValueError,
        r"^cv is 2, but fold 1 leaves no object with two different scores for training. Pass an",
    ),
    (
        "LabelRankerCV folds of single labels",
        lambda: rb.LabelRankerCV(leave_out="labels", cv=3, label_kernel="rbf").fit(
            X, np.c_[Y, -Y, 2 * Y], labels=X[:3]
        ),
        ValueError,
        r"^cv is 3, but no fold leaves out two different scores of one object. Pass another number",
    ),
    (
        "LabelRankerCV preferences of one object",
        lambda: rb.LabelRankerCV().fit(
            X[:3], [[0.0, 1.0, np.nan], [1.0, np.nan, np.nan], [np.nan, np.nan, 0.0]]
        ),
        ValueError,
        r"^y has too few scores that differ: no training set of leave_out='objects' .* Pass",
    ),
    (
        "LabelRankerCV lams 0",
        lambda: rb.LabelRankerCV(lams=[0.0]).fit(X, np.c_[Y, -Y]),
        ValueError,
        r"^lams has 0.0 at index 0. Pass",
    ),
    (
        "explain_pair a too short",
        lambda: rb.explain_pair(linear(), X[0, :2], X[1, :2]),
        ValueError,
        "^a has 2 features. Pass 3 features, as in training",
    ),
    (
        "explain_pair b a matrix",
        lambda: rb.explain_pair(linear(), X[0], X),
        ValueError,
        r"^b has 12 rows. Pass one item",
    ),
    (
        "explain_pair a with NaN",
        lambda: rb.explain_pair(linear(), with_nan(X[0], 1), X[1]),
        ValueError,
        r"^a has NaN .* Pass",
    ),
    (
        "explain_pair a text",
        lambda: rb.explain_pair(linear(), WORDS[0], X[1]),
        TypeError,
        r"^a .* Pass",
    ),
    (
        "explain_pair b number 12",
        lambda: rb.explain_pair(linear(), 0, 12),
        ValueError,
        "^b is 12. Pass a number from 0 to 11",
    ),
    (
        "explain_pair by items of a linear model",
        lambda: rb.explain_pair(linear(), 0, 1, by="items"),
        ValueError,
        r"^by is 'items'. Pass one of: features, preferences",
    ),
    (
        "explain_pair by preferences without multipliers",
        lambda: rb.explain_pair(solution(), X[0], X[1], by="preferences"),
        ValueError,
        r"^by is 'preferences', and the solver .* Pass",
    ),
    (
        "plot_pair of a model",
        lambda: plots.plot_pair(linear()),
        TypeError,
        r"^explanation is a RankSVM. Pass",
    ),
    (
        "plot_pair of three names",
        lambda: plots.plot_pair(rb.explain_pair(linear(), 0, 1), names=["a", "b", "c"]),
        ValueError,
        r"^names has length 3. Pass 2 names, one for each item",
    ),
    (
        "set_output of an unknown library",
        lambda: linear().set_output(predict="frame"),
        ValueError,
        r"^predict is 'frame'.* Pass one of: default, pandas, polars",
    ),
    (
        "plot_pair k 0",
        lambda: plots.plot_pair(rb.explain_pair(linear(), 0, 1), k=0),
        ValueError,
        r"^k is 0. Pass",
    ),
]

WITHOUT_FILES = (
    PREFERENCES + METRICS + KERNELS + PROBLEMS + SOLVING + PATHS + STATISTICS + ESTIMATORS
)
WITHOUT_FILES += EXPLAINED + INTERVALS
WITH_FILES = DATA + FILES
BARE = re.compile(
    r"inhomogeneous|could not convert|setting an array|broadcast|invalid literal|not supported "
    r"between|ambiguous|has no attribute|cannot convert float|not subscriptable"
)


# the argument and what is wrong, what to do, and at most one sentence more
FORM = re.compile(
    r"(?!the |this )[^ ]+ .+?\. (?:Call|Fit|Leave|Omit|Pass|Register|Return|Use) "
    r"(?:(?!\. [A-Z]).)+(?:\. [A-Z](?:(?!\. [A-Z]).)+)?\.",
    re.DOTALL,
)


def complains(call, kind, pattern):
    with pytest.raises(kind, match=pattern) as caught:
        call()
    said = str(caught.value)
    assert not BARE.search(said)
    assert FORM.fullmatch(said) or not isinstance(caught.value, ArgumentError), said


def named(rows):
    return [pytest.param(*row[1:], id=row[0]) for row in rows]


@pytest.mark.parametrize("call, kind, pattern", named(WITHOUT_FILES))
@pytest.mark.filterwarnings("ignore:not converged after 1,000 steps")
def test_the_message_names_what_the_caller_wrote(call, kind, pattern):
    complains(call, kind, pattern)


@pytest.mark.parametrize("call, kind, pattern", named(WITH_FILES))
@pytest.mark.filterwarnings("ignore:not converged after 1,000 steps")
def test_the_message_of_data_names_what_the_caller_wrote(call, kind, pattern, tmp_path):
    complains(lambda: call(tmp_path), kind, pattern)


MODELS = {
    "RankSVM": (LINEAR, Y),
    "RankSVM rbf": (ranker(kernel="rbf", solver="qp"), Y),
    "RankSVMCV": (CV(), Y),
    "RankRLS": (LEAST(), Y),
    "RankRLSCV": (LEAST_CV(), Y),
    "RayleighRanker": (RAY(), LABELS),
    "RayleighRankerCV": (RAY_CV(), LABELS),
    "OnlineRankSVM": (ONLINE(), Y),
    "OnlineSVC": (SVC(), LABELS),
    "OrdinalRanker": (lambda: rb.OrdinalRanker(), LABELS),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:not converged after 1,000 steps")
def test_a_fit_that_fails_leaves_the_earlier_one_as_it_was(name):
    make, y = MODELS[name]
    model = make().fit(X, y)
    before, scores = dict(vars(model)), model.predict(Z)
    wider = np.c_[X, X]
    wrong = [
        (X, y[:3]),
        (WORDS, y),
        (CUBE, y),
        (1e200 * X, y),
        (with_nan(X, 0, 0), y),
        (wider, 0 * y),
        (wider, None),
        (wider, with_nan(y, 0)[:, None] + np.ones(2)),
        (RAGGED, y),
        (wider[:1], y[:1]),
        (with_nan(wider, 3, 4), y),
    ]
    for items, labels in wrong:
        for method in ("fit", "partial_fit"):
            if hasattr(model, method) and not (
                method == "partial_fit" and items.__class__ is np.ndarray and len(items) == 1
            ):
                with pytest.raises((ValueError, TypeError)):
                    getattr(model, method)(items, labels)
    for option, value in (
        ("lam", -1.0),
        ("lams", [-1.0]),
        ("solver", "none"),
        ("kernel", "none"),
        ("cv", 1),
    ):
        if option in model.get_params():
            with pytest.raises((ValueError, TypeError)):
                clone(model).set_params(**{option: value}).fit(X, y)
            kept = getattr(model, option)
            with pytest.raises((ValueError, TypeError)):
                model.set_params(**{option: value}).fit(wider, y)
            model.set_params(**{option: kept})
    assert vars(model).keys() == before.keys() and all(
        vars(model)[key] is before[key] for key in before
    )
    assert np.array_equal(model.predict(Z), scores)


def test_statistics_that_refuse_a_block_are_as_they_were():
    one = statistics()
    before = copy.deepcopy(vars(one))
    for block in (
        (X, Y, QID),
        (X, Y, NONE_IN_QID),
        (X[:, :2], Y, 2 + QID),
        (1e200 * X, Y, 2 + QID),
        (X, Y.astype(str), 2 + QID),
        (X, np.c_[Y, Y], 2 + QID),
    ):
        with pytest.raises((ValueError, TypeError)):
            one.add(*block)
    assert all(np.array_equal(vars(one)[key], before[key]) for key in before if key != "kernel")


def test_the_table_has_no_row_twice():
    rows = [row[0] for row in WITHOUT_FILES + WITH_FILES]
    assert len(rows) == len(set(rows)) >= 120


OF_OBJECTS = {  # made by calls that have their lines, or by nobody's arguments
    "Assumption",
    "Certificate",
    "Comparison",
    "Interval",
    "ConcordanceComparison",
    "ConcordanceInterval",
    "RiskGroups",
    "SurvivalCalibration",
    "SurvivalCurve",
    "OrderIntervals",
    "PairLoss",
    "Ratings",
    "Reliability",
    "Report",
    "SolutionPath",
    "UndefinedMetric",
    "ValidationCurve",
    "list_solvers",
}


@pytest.mark.parametrize("module", [rb, metrics, plots], ids=lambda module: module.__name__)
def test_every_public_name_that_takes_arguments_has_a_line(module):
    text = Path(__file__).read_text(encoding="utf-8")
    table = text[text.index("\nPREFERENCES = [") :]
    names = {name for name in module.__all__ if callable(getattr(module, name))} - OF_OBJECTS
    assert names and sorted(n for n in names if not re.search(rf"\b{n}\b", table)) == []
