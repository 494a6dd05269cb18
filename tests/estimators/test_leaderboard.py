"""Leaderboards from votes: strengths beside those of choix, ties and sides included."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import rankbook as rb

NAMES = list("abcdef")
SIDES = dict(home="left", away="right", result="winner", ties="half", items=NAMES)
PRECISE = ("newton", dict(tol=1e-15))


def votes(m=400, seed=0):
    """Votes on six items, the left one of which is preferred a little, with ties."""
    rng = np.random.default_rng(seed)
    a, b = np.array([rng.choice(6, 2, replace=False) for _ in range(m)]).T
    ahead = 0.4 * (b - a) + 0.3 + rng.logistic(size=m)
    winner = np.where(np.abs(ahead) < 0.4, "tie", np.where(ahead > 0, "left", "right"))
    return pd.DataFrame(dict(left=np.array(NAMES)[a], right=np.array(NAMES)[b], winner=winner))


def strengths(table, lam=1.0, **more):
    prefs = rb.Preferences.from_matches(table, **SIDES, **more)
    model = rb.RankSVM(lam, "linear", loss="logistic", solver=PRECISE, pair_lam=lam)
    return model.fit(np.eye(6), prefs)


@pytest.mark.peer("choix")
@pytest.mark.parametrize("lam", [0.01, 1.0, 30.0])
def test_strengths_are_those_of_choix(lam):
    import choix

    table, pairs = votes(), []
    for left, right, winner in table.itertuples(index=False):
        ends = NAMES.index(left), NAMES.index(right)
        # a win counts as two, and a tie as one each way, so the penalty is doubled as well
        both = [ends, ends[::-1]]
        pairs += both if winner == "tie" else [both[winner == "right"]] * 2
    known = choix.opt_pairwise(6, pairs, alpha=lam, method="Newton-CG", tol=1e-14)
    model = strengths(table, lam)
    assert np.abs(model.coef_ - known).max() < 1e-8 and model.certificate_.is_optimal(1e-10)


def test_the_order_of_votes_and_which_side_is_left_do_not_matter():
    table = votes()
    turned = table.rename(columns=dict(left="right", right="left"))
    turned["winner"] = turned.winner.replace(dict(left="right", right="left"))
    first = strengths(table, home_advantage=True)
    for other, sign in ((table.sample(frac=1, random_state=0), 1), (turned, -1)):
        again = strengths(other, home_advantage=True)
        assert np.allclose(again.coef_, first.coef_, atol=1e-8)
        assert np.allclose(again.pair_coef_, sign * first.pair_coef_, atol=1e-8)
    assert first.pair_coef_[0] > 0.1


def test_the_side_is_an_intercept_of_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    table = votes()
    a, b = (table[side].map(NAMES.index).to_numpy() for side in ("left", "right"))
    D = np.column_stack([np.eye(6)[a] - np.eye(6)[b], np.ones(len(a))])
    share = table.winner.map(dict(left=1.0, tie=0.5, right=0.0)).to_numpy()
    known = LogisticRegression(C=0.5, fit_intercept=False, solver="newton-cholesky", tol=1e-12)
    known.fit(np.r_[D, D], np.repeat([1, 0], len(a)), np.r_[share, 1 - share])
    model = strengths(table, 2.0, home_advantage=True)
    assert np.abs(np.r_[model.coef_, model.pair_coef_] - known.coef_[0]).max() < 1e-8


def test_counted_orders_count_their_voters():
    orders, voters = [["a", "b", "c"], ["c", "a"], ["b", "c"]], [30, 12, 5]
    single = [order for order, w in zip(orders, voters) for _ in range(w)]
    both = rb.Orders.from_rankings(orders, weight=voters), rb.Orders.from_rankings(single)
    counted, listed = (rb.Leaderboard().fit(each) for each in both)
    table = counted.table_
    assert dict(zip(table["item"], table.comparisons)) == dict(a=42, b=35, c=47)
    assert table["item"].tolist() == listed.table_["item"].tolist()
    assert np.isclose(counted.lam_, listed.lam_)
    for name in ("score", "low", "high"):
        assert np.allclose(table[name], listed.table_[name], atol=1e-5)
    drawn = [rb.Leaderboard(method="bootstrap", n_draws=500).fit(each).table_ for each in both]
    widths = [(each.high - each.low).to_numpy() for each in drawn]
    assert np.allclose(widths[0] / widths[1], 1, atol=0.15)


def test_items_without_an_order_leave_the_names_of_others():
    orders = rb.Orders.from_rankings([[3, 1, 0], [1, 3, 0], [3, 0, 1]] * 20, n_items=4)
    with pytest.warns(rb.Assumption, match="1 item without a comparison. The"):
        board = rb.Leaderboard().fit(orders)
    assert board.items_ == ("0", "1", "3") and board.table_["item"].iloc[0] == "3"


# One object for all votes, by value, date and pair


def arena(m=900, seed=0):
    """Votes of 30 judges on six models, with lengths, two languages and days."""
    rng = np.random.default_rng(seed)
    a, b = np.array([rng.choice(6, 2, replace=False) for _ in range(m)]).T
    length = 300 * rng.normal(size=m)
    ahead = 0.4 * (b - a) + length / 600 + rng.logistic(size=m)
    tie = np.where(rng.random(m) < 0.5, "tie", "both_bad")
    winner = np.where(np.abs(ahead) < 0.4, tie, np.where(ahead > 0, "model_a", "model_b"))
    day = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 200, m), "D")
    more = dict(judge=rng.integers(0, 30, m), language=rng.choice(["en", "de"], m, p=[0.7, 0.3]))
    more |= dict(length=length, day=day, hard=rng.choice(["yes", "no"], m))
    return pd.DataFrame(
        dict(model_a=np.array(NAMES)[a], model_b=np.array(NAMES)[b], winner=winner, **more)
    )


ARENA = dict(home="model_a", away="model_b", result="winner")
STYLE = ARENA | dict(pair_features=["length"])


def same(found, expected, rtol=1e-7):
    pd.testing.assert_frame_equal(found, expected, rtol=rtol, check_dtype=False)


def test_a_table_for_each_value_is_that_of_its_votes():
    votes = arena()
    board = rb.Leaderboard(columns=STYLE, unit="judge", by=["language", "hard"]).fit(votes)
    same(board.table_, rb.Leaderboard(columns=STYLE, unit="judge").fit(votes).table_)
    assert list(board.tables_) == [
        ("language", "de"),
        ("language", "en"),
        ("hard", "no"),
        ("hard", "yes"),
    ]
    for (column, value), each in board.tables_.items():
        some = votes[votes[column] == value]
        alone = rb.Leaderboard(columns=STYLE, unit="judge").fit(some)
        ends = ["rank_low", "rank_high"]  # by draws in the order of the items
        same(each.table_.drop(columns=ends), alone.table_.drop(columns=ends))
        assert (each.table_[ends] - alone.table_[ends]).abs().max(axis=None) <= 1
        assert np.isclose(each.lam_, alone.lam_) and len(each.notes_) == 1
        ranks = board.changes_.set_index("item")[f"{column} {value}"]
        assert ranks.to_dict() == alone.table_.set_index("item")["rank"].to_dict()
    frame = board.to_frame()
    assert list(frame)[:4] == ["by", "value", "rank", "item"] and len(frame) == 5 * 6
    assert frame["remarks"].str.contains("length").all() and frame["lam"].nunique() == 5


def test_a_value_without_enough_votes_is_noted():
    votes = arena()
    votes.loc[:1, "language"] = "fr"
    votes.loc[:1, ["model_a", "model_b", "judge"]] = ["a", "b", 3]
    board = rb.Leaderboard(columns=ARENA, unit="judge", by="language").fit(votes)
    assert [value for _, value in board.tables_] == ["de", "en"]
    assert "no table for language fr: unit is 'judge' with one value" in board.remark


def test_half_life_and_since_weigh_and_leave_out():
    votes = arena()
    age = (votes.day.max() - votes.day).dt.days
    weights = 0.5 ** (age / 30)
    found = rb.Leaderboard(columns=ARENA, date="day", half_life="30d").fit(votes)
    known = rb.Leaderboard(columns=ARENA | dict(weight="w")).fit(votes.assign(w=weights))
    numbers = ["score", "low", "high"]
    assert np.allclose(found.table_[numbers], known.table_[numbers], atol=1e-8)
    assert found.table_["comparisons"].sum() == 2 * len(votes)
    late = rb.Leaderboard(columns=ARENA, date="day", since="2026-05-01", half_life=30).fit(votes)
    keep = votes.day >= "2026-05-01"
    known = rb.Leaderboard(columns=ARENA, date="day", half_life=30).fit(votes[keep])
    same(late.table_, known.table_)
    assert f"{(~keep).sum()} votes before 2026-05-01 are left out" in late.remark


@pytest.mark.parametrize("kind", ["text", "time", "unix", "zone", "date"])
def test_dates_of_all_kinds_are_read(kind, tmp_path):
    votes = arena(200)
    options = dict(columns=ARENA, date="day", half_life="60d")
    expected = rb.Leaderboard(**options).fit(votes).table_
    written = dict(
        text=lambda day: day.dt.strftime("%Y-%m-%d"),
        time=lambda day: day.dt.strftime("%Y-%m-%dT00:00:00Z"),
        unix=lambda day: (day - pd.Timestamp(0)) / pd.Timedelta("1s"),
        zone=lambda day: day.dt.tz_localize("UTC").dt.tz_convert("Europe/Oslo"),
        date=lambda day: day.dt.date,
    )
    votes["day"] = written[kind](votes["day"])
    same(rb.Leaderboard(**options).fit(votes).table_, expected)
    if kind != "date":
        votes.to_csv(tmp_path / "v.csv", index=False)
        same(rb.Leaderboard(**options).fit(tmp_path / "v.csv").table_, expected)
    votes.to_parquet(tmp_path / "v.parquet")
    same(rb.Leaderboard(**options).fit(tmp_path / "v.parquet").table_, expected)


def test_pairs_have_the_same_weight():
    """A pair with ten times the votes counts as much as the others."""
    rng = np.random.default_rng(0)
    ends = [(0, 1)] * 2000 + [(0, 2)] * 200 + [(1, 2)] * 200
    wins = [rng.random() < 1 / (1 + np.exp(a - b)) for a, b in ends]
    rows = [(a, b) if won else (b, a) for (a, b), won in zip(ends, wins)]
    votes = pd.DataFrame(rows, columns=["winner", "loser"])
    size = votes.apply(lambda row: 1 / (2000 if set(row) == {0, 1} else 200), axis=1)
    size *= len(votes) / size.sum()
    found = rb.Leaderboard(balance=True).fit(votes)
    known = rb.Leaderboard(columns=dict(weight="w")).fit(votes.assign(w=size))
    assert np.allclose(found.score_, known.score_, atol=1e-9)
    assert found.table_["comparisons"].tolist() == [2200, 2200, 400]
    few = rb.Leaderboard(balance=True, lam=1.0).fit(votes[2000:2040])  # fewer than 50: all alike
    assert np.allclose(few.score_, rb.Leaderboard(lam=1.0).fit(votes[2000:2040]).score_)


def test_items_with_few_votes_are_not_shown_but_count():
    votes = arena(300)
    rare = dict(model_a="rare", model_b="a", winner="model_a")
    votes = pd.concat([votes, pd.DataFrame([rare] * 3)], ignore_index=True)
    board = rb.Leaderboard(columns=ARENA).fit(votes)
    shown = rb.Leaderboard(columns=ARENA, min_votes=20).fit(votes)
    assert np.allclose(shown.score_, board.score_) and len(shown.table_) == 6
    assert shown.table_["rank"].tolist() == [1, 2, 3, 4, 5, 6]
    assert shown.table_["rank_high"].max() == 6 and np.isclose(shown.top().sum(), 1)
    assert "items with fewer than 20 votes are not shown (1 of 7)" in shown.remark
    with pytest.raises(ValueError, match="^min_votes is 5000. Pass at most"):
        shown.set_params(min_votes=5000).fit(votes)


def test_the_scale_and_its_anchor():
    votes = arena()
    logit, elo = (rb.Leaderboard(columns=STYLE, scale=s).fit(votes) for s in ("logit", "elo"))
    factor = 400 / np.log(10)
    for name in ("score", "low", "high"):
        assert np.allclose(elo.table_[name], 1000 + factor * logit.table_[name])
    assert np.allclose(elo.pair_table_["effect"], factor * logit.pair_table_["effect"])
    assert np.isclose(elo.table_["score"].mean(), 1000)
    fixed = rb.Leaderboard(columns=STYLE, scale="elo", anchor=("c", 1200)).fit(votes)
    assert np.isclose(fixed.table_.set_index("item").loc["c", "score"], 1200)
    assert np.isclose(fixed.compare("a", "b").difference, elo.compare("a", "b").difference)
    assert np.allclose(fixed.predict(["a", "b"]), logit.predict(["a", "b"]))


def test_log_loss_by_folds_of_judges():
    from sklearn.model_selection import GroupKFold, cross_val_score

    votes, folds = arena(), GroupKFold(3)
    board = rb.Leaderboard(columns=STYLE)
    found = cross_val_score(board, votes, groups=votes.judge, cv=folds)
    for score, (train, test) in zip(found, folds.split(votes, groups=votes.judge), strict=True):
        fitted, left = clone(board).fit(votes.iloc[train]), votes.iloc[test]
        p = [
            fitted.predict_proba(a, b, [x])[0, 0]
            for a, b, x in zip(left.model_a, left.model_b, left.length)
        ]
        share = left.winner.map(dict(model_a=1.0, model_b=0.0)).fillna(0.5).to_numpy()
        loss = -(share * np.log(p) + (1 - share) * np.log1p(-np.array(p))).mean()
        assert np.isclose(score, -loss, rtol=1e-10)


def test_log_loss_with_ties_as_outcomes_by_folds_of_judges():
    from sklearn.model_selection import GroupKFold, cross_val_score

    votes, folds = arena(), GroupKFold(5)
    board = rb.Leaderboard(columns=STYLE, ties="davidson")
    found = cross_val_score(board, votes, groups=votes.judge, cv=folds)
    for score, (train, test) in zip(found, folds.split(votes, groups=votes.judge), strict=True):
        fitted, left = clone(board).fit(votes.iloc[train]), votes.iloc[test]
        strength = dict(zip(fitted.items_, np.exp(fitted.score_)))
        a, b = left.model_a.map(strength), left.model_b.map(strength)
        a = a * np.exp(fitted.pair_coef_[0] * left.length)
        tie = fitted.tie_ * np.sqrt(a * b)
        won = np.select([left.winner == "model_a", left.winner == "model_b"], [a, b], tie)
        assert np.isclose(score, np.log(won / (a + b + tie)).mean(), rtol=1e-10)


@pytest.mark.parametrize(
    "options", [dict(date="day", half_life="30d", since="2026-03-01"), dict(balance=True)]
)
def test_held_out_votes_count_as_they_are(options):
    votes = arena()
    board, left = rb.Leaderboard(columns=ARENA, **options).fit(votes[:600]), votes[600:]
    p = board.predict_proba(left.model_a, left.model_b)
    share = left.winner.map(dict(model_a=1.0, model_b=0.0)).fillna(0.5)
    gain = share * np.log(p[:, 0]) + (1 - share) * np.log(p[:, 1])
    assert np.isclose(board.score(left), gain.mean(), rtol=1e-10)
    board.set_params(columns=ARENA | dict(weight="w"))
    weight = 1 + left.judge % 3
    assert np.isclose(board.score(left.assign(w=weight)), np.average(gain, weights=weight))


CHANGES = dict(scale="elo", anchor=("c", 7.0), level=0.5, simultaneous=True, method="bootstrap")
CHANGES |= dict(n_draws=200, random_state=3, min_votes=10**6, ties="half", intervals=False)


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_parameters_that_change_wait_for_the_next_fit(change, tmp_path):
    votes = arena(200)
    options = dict(columns=STYLE, unit="judge", by="language", ties="davidson")
    board = rb.Leaderboard(**options, random_state=np.random.default_rng(0)).fit(votes)

    def answers(board):
        frames = board.to_frame().to_csv(), board.changes_.to_csv(), board.pair_table_.to_csv()
        rest = board.predict_proba("a", "b").tolist(), board.compare("a", "b"), board.score(votes)
        return *frames, *rest, str(board), board.top(2).to_csv()

    before = answers(board)
    board.set_params(**{change: CHANGES[change]})
    assert answers(board) == before
    board.save(tmp_path / "b.rankbook")
    again = rb.load(tmp_path / "b.rankbook")
    assert answers(again) == before
    for parameter in CHANGES:
        value = again.get_params()[parameter]
        assert parameter == "random_state" or value == board.get_params()[parameter]


def test_it_is_cloned_and_pickled():
    import pickle

    board = rb.Leaderboard(columns=STYLE, unit="judge", by="language", scale="elo").fit(arena())
    again = pickle.loads(pickle.dumps(board))
    pd.testing.assert_frame_equal(again.to_frame(), board.to_frame())
    assert again.compare("a", "b") == board.compare("a", "b")
    copy = clone(board)
    assert copy.get_params() == board.get_params() and not hasattr(copy, "table_")
    pd.testing.assert_frame_equal(copy.fit(arena()).to_frame(), board.to_frame())
    alone = board.set_params(by=None).fit(arena())
    assert not hasattr(alone, "tables_")


@pytest.mark.parametrize(
    "options",
    [
        dict(unit="judge", by="language", scale="elo"),
        dict(method="bootstrap", n_draws=200),
        dict(method="bootstrap", unit="judge", n_draws=200),
        dict(ties="davidson", intervals=False),
        dict(intervals=["a", "b"]),
    ],
)
def test_it_is_saved(options, tmp_path):
    board = rb.Leaderboard(columns=STYLE, **options).fit(arena())
    board.save(tmp_path / "b.rankbook")
    again = rb.load(tmp_path / "b.rankbook")
    pd.testing.assert_frame_equal(again.to_frame(), board.to_frame())
    assert again.get_params() == board.get_params() and str(again) == str(board)
    assert again.predict_proba("a", "b").tolist() == board.predict_proba("a", "b").tolist()
    if options.get("intervals") is not False:
        assert again.compare("a", "b") == board.compare("a", "b")


def test_it_is_plotted():
    board = rb.Leaderboard(columns=ARENA).fit(arena())
    ax = board.plot(k=4)
    assert [text.get_text() for text in ax.get_yticklabels()] == board.table_["item"][:4].tolist()
    (line,) = ax.get_lines()
    assert np.allclose(line.get_xdata(), board.table_["score"][:4])
    assert board.plot(ax) is ax


# Bad input


def wrong(change, expected, columns=ARENA, **options):
    return pytest.param(change, expected, columns, options, id=expected[:50])


@pytest.mark.parametrize(
    "change, expected, columns, options",
    [
        wrong(
            lambda v: v.replace(dict(winner={"both_bad": "neither"})),
            r"result \(column 'winner'\) is 'neither' in row \d+",
        ),
        wrong(lambda v: v.assign(winner=v.winner.where(v.index != 7)), "is missing in row 7"),
        wrong(lambda v: v.assign(model_a="a", model_b="b")[:0], "has column names but no rows"),
        wrong(
            lambda v: v.assign(model_b=v.model_b.where(v.index != 5, v.model_a)),
            "home .column 'model_a'. and away are both '.' in row 5",
        ),
        wrong(
            lambda v: v.assign(winner="tie"), "ties is 'drop' and every vote is a tie", ties="drop"
        ),
        wrong(lambda v: v, r"ties is 'refuse', and row \d+ is a tie", ties="refuse"),
        wrong(
            lambda v: v[~v.winner.isin(["tie", "both_bad"])],
            "ties is 'davidson' and no vote is a tie",
            ties="davidson",
        ),
        wrong(
            lambda v: v.assign(judge=v.judge.where(v.index != 4)),
            "has no unit in row 4, column 'judge'",
            unit="judge",
        ),
        wrong(lambda v: v, "unit is 'sex'. Pass one of: day, hard", unit="sex"),
        wrong(lambda v: v.assign(judge=1), "unit is 'judge' with one value", unit="judge"),
        wrong(lambda v: v, "by is 'sex'. Pass one of: day, hard", by="sex"),
        wrong(
            lambda v: v.assign(language=v.language.where(v.index != 2)),
            "has no group in row 2, column 'language'",
            by="language",
        ),
        wrong(
            lambda v: v.assign(day=v.day.astype(str).where(v.index != 3, "31.12.2025")),
            "votes has the date '31.12.2025' in row 3, column 'day'. Pass dates such as",
            date="day",
            half_life="9d",
        ),
        wrong(
            lambda v: v.assign(day=v.day.where(v.index != 3)),
            "in row 3, column 'day'. Pass dates",
            date="day",
            half_life="9d",
        ),
        wrong(lambda v: v, "date is 'when'. Pass one of", date="when", since="2026-01-01"),
        wrong(lambda v: v, "since is 'soon'. Pass dates", date="day", since="soon"),
        wrong(lambda v: v, "since is '2030-01-01', after the last", date="day", since="2030-01-01"),
        wrong(lambda v: v, "half_life is '90x'. Pass a time", date="day", half_life="90x"),
        wrong(lambda v: v, "half_life is -3. Pass a time", date="day", half_life=-3),
        wrong(
            lambda v: v,
            "half_life is '9d' and date is None. Pass a column of dates, such as date='day'",
            half_life="9d",
        ),
        wrong(lambda v: v, "anchor is 'q'. Pass one of: a, b", anchor=("q", 1.0)),
        wrong(
            lambda v: v.assign(length=v.length.where(v.index != 6)),
            r"pair_features \(column 'length'\) has NaN at index 6",
            STYLE,
        ),
        wrong(lambda v: v.assign(length=0.0), "pair_features has 'length', which is 0", STYLE),
        wrong(lambda v: v, "columns has ties='drop'. Set ties=", ARENA | dict(ties="drop")),
    ],
)
def test_wrong_votes(change, expected, columns, options):
    with pytest.raises(ValueError, match=expected):
        rb.Leaderboard(columns=columns, **options).fit(change(arena(60)))


def test_one_competitor_and_ties_alone():
    rows = dict(winner=["a", "a"], loser=["b", "b"], weight=[0, 0])
    with pytest.warns(rb.Assumption, match=r"rows of weight 0, which do not count \(2 of"):
        with pytest.raises(ValueError, match="^votes has no comparison of two items. Pass votes"):
            rb.Leaderboard(columns=dict(weight="weight")).fit(rows)
    board = rb.Leaderboard(columns=ARENA).fit(arena(60).assign(winner="tie"))
    assert np.allclose(board.score_, 0) and "nearly all votes are ties" in board.remark


def test_half_wins_of_counted_votes_are_votes():
    rng = np.random.default_rng(0)
    a, b = np.triu_indices(6, 1)
    wins = rng.binomial(100, 1 / (1 + np.exp(0.4 * (a - b))))
    columns = dict(first=np.array(NAMES)[a], second=np.array(NAMES)[b])

    def widths(halves):
        counts = dict(wins_first=wins + halves, wins_second=100 - wins - halves)
        table = rb.Leaderboard().fit(pd.DataFrame(columns | counts)).table_.sort_values("item")
        return (table["high"] - table["low"]).to_numpy()

    assert np.allclose(widths(0.5 * (a == 0)), widths(0), rtol=0.05)


@pytest.mark.parametrize("seed", range(4))
def test_intervals_of_ranks_do_not_depend_on_the_order_of_votes(seed):
    table = votes(600, seed)
    boards = [rb.Leaderboard().fit(each).table_ for each in (table, table[::-1])]
    for name in ("item", "rank_low", "rank_high"):
        assert boards[0][name].tolist() == boards[1][name].tolist()


def test_equal_scores_have_one_rank():
    rows = [("a", "b", "a"), ("b", "c", "b"), ("a", "c", "c")] * 4
    table = pd.DataFrame(rows, columns=["left", "right", "winner"]).assign(weight=0.3)
    columns = dict(home="left", away="right", result="winner", weight="weight")
    assert rb.Leaderboard(columns=columns).fit(table).table_["rank"].tolist() == [1, 1, 1]


def test_a_number_and_its_text_are_one_group():
    table = votes(40).assign(group=[1, 1, "1", "1"] * 10)
    columns = dict(home="left", away="right", result="winner")
    board = rb.Leaderboard(columns=columns, by="group").fit(table)
    whole, part = (each.table_["comparisons"].sum() for each in (board, *board.tables_.values()))
    assert list(board.tables_) == [("group", "1")] and whole == part


def test_a_fit_that_ends_in_an_error_changes_nothing():
    board = rb.Leaderboard(columns=dict(home="left", away="right", result="winner"))
    board.fit(votes(60)).set_params(anchor=("nobody", 1000))
    before = vars(board).copy()
    with pytest.raises(ValueError, match="anchor is 'nobody'"):
        board.fit(votes(200))
    assert all(vars(board)[name] is value for name, value in before.items())


def test_no_interval_and_a_pair_feature():
    table = votes(60).assign(length=np.linspace(-1, 1, 60))
    columns = dict(home="left", away="right", result="winner", pair_features="length")
    board = rb.Leaderboard(columns=columns, intervals=[]).fit(table)
    assert "low" not in board.table_ and np.isfinite(board.pair_table_["low"]).all()


def test_votes_that_the_model_cannot_judge():
    pairs = pd.DataFrame(dict(winner=["a", "b", "c", "d"] * 5, loser=["b", "a", "d", "c"] * 5))
    board = rb.Leaderboard().fit(pairs)
    with pytest.raises(ValueError, match="'a' and 'd', which no votes of the fit connect"):
        board.score(pd.DataFrame(dict(winner=["a"], loser=["d"])))
    with pytest.raises(ValueError, match="a has 3 names and b has 2"):
        board.predict_proba(["a", "b", "c"], ["a", "b"])


# Effects, orders and names that are easily confused


@pytest.mark.parametrize("side", [True, False])
@pytest.mark.parametrize("kind", ["constant", "nearly", "one sign", "varied", "twice", "sum"])
def test_effects_that_votes_do_not_separate_are_noted(kind, side):
    """A feature is the intercept of the first side, or another feature, in disguise."""
    rng = np.random.default_rng(0)
    table, z = votes(500), rng.normal(size=(500, 2))
    x = dict(constant=[-7.0], nearly=-1 - 0.01 * z[:, 0], varied=z[:, 0], twice=z[:, 0])
    x |= {"one sign": 1e6 * (2 + rng.random(500)), "sum": z.sum(axis=1)}
    table = table.assign(x=np.resize(x[kind], 500), y=-3e-6 * z[:, 0], z=z[:, 1])
    names = dict(twice=["x", "y"], sum=["x", "y", "z"]).get(kind, ["x"])
    columns = SIDES | dict(home_advantage=side, pair_features=names)
    del columns["ties"], columns["items"]
    place = "home_advantage" if side else "the first place"
    expected = dict(varied=[], twice=names, sum=names).get(kind)
    expected = sorted([place, "x"]) if expected is None else expected
    said = [note for note in rb.Leaderboard(columns=columns).fit(table).notes_ if "effects" in note]
    assert bool(said) == bool(expected)
    for note in said:
        assert sorted(note.partition(": ")[2].split(", ")) == expected


def test_a_common_feature_has_no_note():
    """Correlations between features of the arena, up to .8, are no reason for a note."""
    rng = np.random.default_rng(0)
    table, x = votes(500), rng.normal(size=500)
    table = table.assign(x=x + 0.5, y=0.8 * x + 0.6 * rng.normal(size=500))
    columns = SIDES | dict(home_advantage=True, pair_features=["x", "y"])
    del columns["ties"], columns["items"]
    assert not any("effects" in note for note in rb.Leaderboard(columns=columns).fit(table).notes_)


@pytest.mark.parametrize("n", [2, 3, 6])
@pytest.mark.parametrize("weights", ["none", "counts", "fractions"])
@pytest.mark.parametrize("method", ["laplace", "bootstrap"])
def test_orders_of_two_are_votes(n, weights, method):
    rng = np.random.default_rng(n)
    a, b, tie = *np.array([rng.choice(n, 2, replace=False) for _ in range(80)]).T, rng.random(80)
    names, more = np.array(NAMES), {}
    if weights != "none":
        more = dict(weight=rng.integers(1, 4, 80) if weights == "counts" else rng.random(80))
    table = pd.DataFrame(dict(winner=names[a], loser=names[b], tie=tie < 0.2) | more)
    rows = [[list(pair)] if t < 0.2 else list(pair) for pair, t in zip(names[[a, b]].T, tie)]
    columns = {name: name for name in more}
    options = dict(method=method, n_draws=100)
    known = rb.Leaderboard(columns=columns, **options).fit(table)
    found = rb.Leaderboard(**options).fit(rb.Orders.from_rankings(rows, **more))
    same(found.table_, known.table_, rtol=1e-12)
    assert (found.lam_, found.remark) == (known.lam_, known.remark)


def test_survival_times_of_two_and_single_places():
    """The patient with the longer time wins; an item alone in an order is not compared."""
    time, event, qid = [5.0, 3.0, 1.0, 2.0, 4.0, 4.0], [1, 1, 0, 1, 1, 0], [1, 1, 2, 2, 3, 3]
    orders = rb.Orders.from_survival(time, np.array(event, bool), qid)
    with pytest.warns(rb.Assumption, match=r"rows of weight 0, which do not count \(1 of 3\)"):
        with pytest.warns(rb.Assumption, match="2 items without a comparison"):
            board = rb.Leaderboard(lam=1.0).fit(orders)
    assert set(board.items_) == {"0", "1", "4", "5"}
    assert board.predict("0") > board.predict("1") and board.predict("5") > board.predict("4")
    for longest in (["b", "c"], ["b", "c", "d"]):
        with pytest.warns(rb.Assumption, match="1 item without a comparison. The"):
            board = rb.Leaderboard().fit(rb.Orders.from_rankings([["a"], *[longest] * 9]))
        assert sorted(board.items_) == longest


def test_weights_of_orders_that_do_not_count():
    rng = np.random.default_rng(0)
    rows = [[NAMES[i] for i in rng.permutation(4)[:3]] for _ in range(60)]
    weight, numbers = rng.random(60), ["score", "low", "high"]
    of = lambda w, **more: rb.Leaderboard(**more).fit(rb.Orders.from_rankings(rows, weight=w))
    plain = of(None).table_
    for factor in (0.1, 7.3):
        assert np.allclose(of(np.full(60, factor)).table_[numbers], plain[numbers], atol=1e-5)
    first, other = of(weight), of(7.3 * weight)
    assert np.allclose(first.table_[numbers], other.table_[numbers], atol=1e-5)
    worth = weight.sum() ** 2 / (weight**2).sum()
    assert f"carry the information of {worth:.0f} orders" in first.remark
    assert (of(3 * np.ones(60)).table_.high < plain.high).all()  # three times as many orders
    drawn = of(weight, method="bootstrap", n_draws=200).table_
    assert np.allclose(
        (drawn.high - drawn.low) / (first.table_.high - first.table_.low), 1, atol=0.4
    )


@pytest.mark.parametrize(
    "name, shown", [("a ", "'a '"), ("a\xa0", r"'a\xa0'"), ("A", "'A'"), ("0a", "'0a'")]
)
def test_names_that_look_alike_are_noted_and_not_merged(name, shown):
    rows = dict(winner=["a", "b", name, "a"] * 9, loser=["b", name, "a", "b"] * 9)
    with pytest.warns(rb.Assumption, match="winner: the names"):
        board = rb.Leaderboard().fit(rows)
    assert f"the names 'a' and {shown} differ only by" in board.remark and len(board.items_) == 3
    with pytest.warns(rb.Assumption, match="the names"):
        prefs = rb.Preferences.from_pairs([("a", "b"), ("b", name), (name, "a")])
    assert f"'a' and {shown} differ only by" in rb.Leaderboard().fit(prefs).remark


def test_forms_of_unicode_are_shown():
    with pytest.warns(rb.Assumption, match=r"'caf\\xe9' and 'cafe\\u0301' differ"):
        rb.Leaderboard().fit(dict(winner=["caf\xe9", "x"], loser=["cafe\u0301", "caf\xe9"]))
    many = [f"{letter}{end}" for letter in "abcdef" for end in ("", " ")]
    with pytest.warns(rb.Assumption, match=r"'c' and 'c ' \(and 3 more pairs\) differ"):
        rb.Preferences.from_pairs(list(zip(many, many[1:])))


@pytest.mark.parametrize("blank", ["", " ", "\xa0"])
def test_a_blank_is_no_name(blank, tmp_path):
    pairs = [("a", "b"), ("b", blank)]
    frame = pd.DataFrame(pairs, columns=["winner", "loser"])
    frame.to_parquet(tmp_path / "v.parquet")
    for each in (frame, frame.to_dict("list"), tmp_path / "v.parquet"):
        with pytest.raises(ValueError, match="loser is .* in row 1. Pass a name in every row"):
            rb.Leaderboard().fit(each)
    with pytest.raises(ValueError, match=r"loser is '\S* ?' in row 1. Pass a name"):
        rb.Preferences.from_pairs(pairs)
    with pytest.raises(ValueError, match=r"orders\[1\] is .* in place 1. Pass a name"):
        rb.Orders.from_rankings(list(map(list, pairs)))


def test_the_remark_names_the_method_of_the_intervals():
    table = arena(200)
    said = lambda **options: rb.Leaderboard(columns=ARENA, **options).fit(table).remark
    assert said().startswith("95% for each interval, laplace")
    assert said(unit="judge").startswith("95% for each interval, sandwich")
    assert said(date="day", half_life=30).startswith("95% for each interval, sandwich")
    assert said(method="bootstrap", unit="judge").startswith("95% for each interval, bootstrap")
    assert " %" not in said(intervals=False)
    effects = rb.Leaderboard(columns=STYLE, intervals=[]).fit(table).remark
    assert effects.startswith("95% for each interval, laplace; length")


def test_ranks_of_values_are_those_of_independent_votes():
    """Differences between two values, against Newton's method in numpy on each part."""
    table = arena()
    board = rb.Leaderboard(columns=ARENA, by="language", lam=1.0, ties="drop").fit(table)
    for value, each in board.tables_.items():
        part = table[(table["language"] == value[1]) & table["winner"].str.startswith("model")]
        a, b = (part[side].map(NAMES.index).to_numpy() for side in ("model_a", "model_b"))
        D = np.eye(6)[a] - np.eye(6)[b]
        y, w = (part["winner"] == "model_a").to_numpy(float), np.zeros(6)
        for _ in range(30):
            p = 1 / (1 + np.exp(-D @ w))
            H = D.T @ ((p * (1 - p))[:, None] * D) + np.eye(6)
            w -= np.linalg.solve(H, D.T @ (p - y) + w)
        centre = np.eye(6) - 1 / 6
        half = 1.959963984540054 * np.sqrt(np.diag(centre @ np.linalg.inv(H) @ centre))
        found = each.table_.set_index("item").loc[NAMES]
        for name, known in dict(score=w - w.mean(), low=w - half, high=w + half).items():
            assert np.allclose(found[name], known, atol=1e-8)
        ranks = board.changes_.set_index("item").loc[NAMES, f"language {value[1]}"]
        assert ranks.tolist() == (1 + (w[:, None] < w).sum(axis=1)).tolist()
