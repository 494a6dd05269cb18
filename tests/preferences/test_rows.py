"""Preferences among some rows, which may be repeated, against a loop over preferences and rows."""

from collections import Counter

import numpy as np
import pytest

import rankbook as rb

N = 12


def table(prefs):
    ends = prefs.better.tolist(), prefs.worse.tolist()
    return Counter(zip(*ends, prefs.weight.round(9).tolist(), prefs.margin.round(9).tolist()))


def brute(prefs, rows):
    return Counter(
        (i, j, w, m)
        for (k, l, w, m), times in table(prefs).items()
        for i in np.flatnonzero(rows == k).tolist()
        for j in np.flatnonzero(rows == l).tolist()
        for _ in range(times)
    )


def graphs(rng):
    """Graphs of every kind by name, and the scores and query ids of those made from scores."""
    y, qid = np.r_[0, 3, rng.integers(0, 4, N - 2)], rng.integers(0, 3, N)
    names = np.array([f"n{i}" for i in range(N)])
    ends = np.array([rng.choice(N, 2, replace=False) for _ in range(20)]).T
    made, level = rb.Preferences.from_scores, {(3.0, 0.0): 2.0}
    pairs, full = rb.Preferences(*ends, N, rng.random(20), rng.random(20)), made(y, qid)
    apart = made(y, qid, margin="difference")
    return (
        y,
        qid,
        dict(
            pairs=pairs,
            pairs_of_items=pairs.item_weighted(rng.random(N)),
            named=rb.Preferences.from_pairs(names[ends.T], items=names),
            rankings=rb.Preferences.from_rankings([rng.permutation(N)[:4] for _ in range(5)], N),
            full=full,
            one_query=made(y),
            weighed=full.reweighted(rng.random(len(full))),
            of_items=full.item_weighted(rng.random(N)),
            of_queries=made(y, qid, query_weight="equal"),
            of_levels=made(y, qid, level_weight=level),
            apart=apart,
            apart_of_levels=made(y, qid, margin="difference", level_weight=level),
            apart_of_items=apart.item_weighted(rng.random(N)),
            star_apart=made(y, qid, "star", margin="difference"),
        ),
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_preferences_among_rows_are_those_between_their_copies(seed):
    rng = np.random.default_rng(seed)
    y, qid, found = graphs(rng)
    mask = rng.random(N) < 0.6
    mask[0] = True
    chosen = (
        rng.permutation(N)[:7],
        rng.integers(0, N, 9),
        rng.integers(-N, N, 5),
        slice(2, 9, 2),
        mask,
        (rng.integers(0, N, 4), ...),
    )
    for name, prefs in found.items():
        for key in chosen:
            rows, part = np.arange(N)[key], prefs[key]
            assert table(part) == brute(prefs, rows), name
            assert part.shape == rows.shape and part.n_items == len(rows)
            assert part.n_ties == prefs.n_ties and (part.items is None) == (prefs.items is None)
            if prefs.items:
                assert part.items == tuple(prefs.items[i] for i in rows)
            if prefs.scores is None:
                assert part.scores is None and part.graph == prefs.graph
                continue
            assert np.array_equal(part.scores, y[rows])
            assert (part.queries is None) == (prefs.queries is None) == (name == "one_query")
            again = part[::-1]
            assert table(again) == brute(prefs, rows[::-1]) and again.is_counted == part.is_counted
            if name != "star_apart":
                alone = rb.Preferences.from_scores(
                    y[rows], None if prefs.queries is None else qid[rows]
                )
                assert np.array_equal(part.better, alone.better) and part.graph == "full"
                assert (part.n_queries, part.n_levels) == (alone.n_queries, alone.n_levels)


def test_a_star_stays_a_star_and_what_is_counted_is_not_listed():
    y, qid = np.arange(20) % 4, np.arange(20) // 7
    rows = np.random.default_rng(0).integers(0, 20, 15)
    star = rb.Preferences.from_scores(y, qid, "star")[rows]
    assert star.graph == "star"
    assert table(star) == table(rb.Preferences.from_scores(y[rows], qid[rows], "star"))
    many = rb.Preferences.from_scores(np.arange(10**5) % 5, query_weight="equal")
    part = many[np.arange(10**5) % 2 == 0]
    assert not part.is_listed and part.is_counted and len(part) == 10 * (10**4) ** 2


def test_a_saved_target_keeps_its_scores_and_its_copies(tmp_path):
    y, qid = [0.5, 2.0, 7.0, 7.5], [1, 1, 2, 2]
    for ids in (qid, None):
        prefs = rb.Preferences.from_scores(y, ids)
        rb.RankRLS(kernel="linear", graph=prefs).fit(np.eye(4), y).save(tmp_path / "m")
        kept = rb.load(tmp_path / "m").graph
        assert np.array_equal(kept.scores, y) and (kept.queries is None) == (ids is None)
    copies = rb.Preferences.from_pairs([("a", "b")])[[0, 1, 1]]
    rb.RankRLS(kernel="linear", graph=copies).fit(np.eye(3), [0, 1, 2]).save(tmp_path / "m")
    assert rb.load(tmp_path / "m").graph.items == ("a", "b", "b")


@pytest.mark.parametrize("rows", [0, np.int64(1), [], [[1, 2]], slice(3, 3), np.zeros(N, bool)])
def test_what_chooses_no_rows_is_refused(rows):
    prefs = rb.Preferences([1], [0], N)
    with pytest.raises(
        TypeError, match="^rows chooses .*. Pass a slice, a mask or a vector of row numbers"
    ):
        prefs[rows]
    for wrong in ([N], np.ones(N + 1, bool)):
        with pytest.raises(IndexError, match=f"^rows does not fit {N} items .*grades as y"):
            prefs[wrong]
    for read in (np.asarray, lambda p: np.array(p, dtype=float), list, lambda p: 3 in p):
        with pytest.raises(TypeError, match="converted to an array|rows chooses"):
            read(prefs)
