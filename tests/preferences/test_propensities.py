"""Clicks weighted by propensities, and propensities from logs, against enumeration and rates."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import rankbook as rb

RULE = dict(rule="all-others")


def page(**columns):
    """Two sessions of a query; the second shows its three documents in another order."""
    table = dict(
        session=[0, 0, 0, 1, 1, 1],
        item=["a", "b", "c", "c", "a", "b"],
        rank=[1, 2, 3, 1, 2, 3],
        click=[1, 0, 1, 0, 1, 0],
        p=[1.0, 0.5, 0.1, 1.0, 0.5, 0.1],
    )
    return pd.DataFrame(table | columns)


def weights(prefs):
    return {
        (prefs.items[k], prefs.items[l]): c
        for k, l, c in zip(prefs.better.tolist(), prefs.worse.tolist(), prefs.weight.tolist())
    }


def log_of(sessions, curve, seed, queries=30, documents=8):
    """Clicks on two rankers' pages, drawn without code of the package."""
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(99)
    gamma = fixed.choice([0.1, 0.4, 0.9], (queries, documents))
    pages = [np.argsort(fixed.normal(size=gamma.shape) - gamma, 1)[:, : len(curve)] for _ in "ab"]
    rows = []
    for s in range(sessions):
        q = rng.integers(queries)
        for r, document in enumerate(pages[rng.integers(2)][q]):
            rows.append((s, q, document, r + 1, rng.random() < curve[r] * gamma[q, document]))
    return pd.DataFrame(rows, columns=["session", "query", "item", "rank", "click"])


@pytest.mark.parametrize("loss", ["hinge", "rank"])
def test_the_expectation_over_all_examinations_is_the_loss_with_full_information(loss):
    rng = np.random.default_rng(0)
    p, relevant, f = np.array([1.0, 0.4, 0.3, 0.05]), np.array([1, 0, 1, 1]), rng.normal(size=4)
    cost = (lambda t: np.maximum(0, 1 - t)) if loss == "hinge" else (lambda t: 1.0 * (t < 0))
    expected = 0.0
    for seen in product([0, 1], repeat=4):
        log = dict(session=[7] * 4, item=range(4), rank=range(1, 5), click=relevant * seen, p=p)
        chance = np.prod(np.where(seen, p, 1 - p))
        prefs = rb.Preferences.from_clicks(log, **RULE, items=range(4), propensity="p")
        expected += chance * (prefs.weight @ cost(prefs.matvec(f)))
    full = sum(cost(f[i] - f[j]) for i in range(4) for j in range(4) if relevant[i] and i != j)
    assert abs(expected - full) < 1e-12


def test_a_click_weighs_one_over_its_propensity_against_all_others():
    prefs = rb.Preferences.from_clicks(page(), **RULE, propensity="p")
    expected = {("a", "b"): 3, ("a", "c"): 3, ("c", "a"): 10, ("c", "b"): 10}
    assert weights(prefs) == pytest.approx(expected)
    assert weights(rb.Preferences.from_clicks(page(), **RULE)) == {
        ("a", "b"): 2,
        ("a", "c"): 2,
        ("c", "a"): 1,
        ("c", "b"): 1,
    }
    clipped = weights(rb.Preferences.from_clicks(page(), **RULE, propensity="p", clip=0.5))
    assert clipped == {("a", "b"): 3, ("a", "c"): 3, ("c", "a"): 2, ("c", "b"): 2}
    naive = rb.Preferences.from_clicks(page(), **RULE, propensity="p", clip=1)
    assert weights(naive) == weights(rb.Preferences.from_clicks(page(), **RULE))


def test_rows_in_any_order_and_frames_of_any_kind_give_the_same():
    expected = weights(rb.Preferences.from_clicks(page(), **RULE, propensity="p"))
    mixed = page().sample(frac=1, random_state=0)
    for log, p in (
        (mixed, "p"),
        (mixed, mixed.p.to_numpy()),
        ({name: list(column) for name, column in page().items()}, "p"),
        (page().rename(columns={"p": "seen"}), "seen"),
    ):
        assert weights(rb.Preferences.from_clicks(log, **RULE, propensity=p)) == expected


def test_a_file_has_a_column_of_propensities(tmp_path):
    page().to_csv(tmp_path / "log.csv", index=False)
    read = lambda p: rb.read_preferences(tmp_path / "log.csv", "clicks", propensity=p, **RULE)
    expected = weights(rb.Preferences.from_clicks(page(), **RULE, propensity="p"))
    assert weights(read("p")) == expected
    with pytest.raises(ValueError, match="no column 'q'"):
        read("q")


def test_no_click_is_no_preference():
    prefs = rb.Preferences.from_clicks(page(click=[0] * 6), **RULE, propensity="p")
    assert len(prefs) == 0 and prefs.n_items == 3
    alone = dict(session=[1, 2], item=["a", "b"], rank=[1, 1], click=[1, 1], p=[1, 1])
    assert len(rb.Preferences.from_clicks(alone, **RULE, propensity="p")) == 0


@pytest.mark.parametrize(
    "options, says",
    [
        (dict(propensity="q"), "propensity is 'q', and the table has the columns"),
        (dict(propensity=[0.5] * 5), r"propensity has shape \(5,\)"),
        (dict(propensity=[1, 0, 1, 1, 1, 1]), "propensity is 0 in row 1"),
        (dict(propensity=[1, 1, 1, -0.5, 1, 1]), "propensity is -0.5 in row 3"),
        (
            dict(propensity=[1, 1, 1.001, 1, 1, 1]),
            "propensity is 1.001 in row 2.*If it is 1 / p, pass p",
        ),
        (dict(propensity=[1, 1, np.nan, 1, 1, 1]), "propensity.*NaN|propensity.*nan"),
        (dict(propensity="p", rule="skip-above"), "propensity is given and rule is 'skip-above'"),
        (dict(propensity="p", clip=-1), "clip is -1"),
        (dict(propensity="p", clip=20), "clip is 20"),
        (dict(propensity="item"), "propensity"),
        (dict(item=["session", "item"]), "which names several columns.*join columns of text"),
    ],
)
def test_what_is_no_propensity_is_refused(options, says):
    with pytest.raises((ValueError, TypeError), match=says):
        rb.Preferences.from_clicks(page(), **(RULE | options))


def test_path_and_interior_and_certificate_take_the_weighted_pairs():
    rng = np.random.default_rng(1)
    X, curve = rng.normal(size=(12, 3)), 1 / np.arange(1, 7)
    shown = np.array([rng.permutation(12)[:6] for _ in range(60)])
    seen = rng.random(shown.shape) < curve * (0.1 + 0.8 * (X[shown] @ [1, 1, -1] > 0))
    log = dict(
        session=np.repeat(np.arange(60), 6),
        item=shown.ravel(),
        rank=np.tile(np.arange(1, 7), 60),
        click=seen.ravel(),
        p=np.tile(curve, 60),
    )
    prefs = rb.Preferences.from_clicks(log, **RULE, items=range(12), propensity="p")
    assert prefs.find_cycle() is not None and np.unique(prefs.weight).size > 5
    for kernel in ("linear", "rbf"):
        problem = rb.RankSVMProblem(X, prefs, kernel=kernel)
        path = rb.solve_path(problem, lam_min=0.5)
        for lam in (200.0, 20.0, 2.0):
            exact = rb.solve(problem, lam, "qp")
            for other in (rb.solve(problem, lam, "interior"), path.solution(lam)):
                assert other.certificate.relative_gap < 1e-7
                assert np.allclose(other.predict(X), exact.predict(X), atol=1e-4)
                assert other.certificate.primal == pytest.approx(exact.certificate.primal, 1e-6)


def test_propensities_maximise_the_likelihood_of_ranks_of_clicks():
    log = log_of(3000, [1.0, 0.5, 0.3, 0.2], 0)
    found = rb.click_propensities(log, query="query")
    pairs = log.assign(pair=log["query"] * 100 + log.item)

    def minus(beta):
        total = 0.0
        for _, rows in pairs.groupby("pair"):
            b = np.r_[0.0, beta][rows["rank"] - 1]
            click = rows.click.to_numpy(bool)
            total += click.sum() * np.log(np.exp(b).sum()) - b[click].sum()
        return total

    best = minimize(minus, np.zeros(3), method="BFGS", options=dict(gtol=1e-7))
    assert np.allclose(np.log(found.probability)[1:], best.x, atol=1e-5)
    assert found.probability[1] == 1 and found.standard_error[1] == 0
    several = pairs.groupby("pair")["rank"].transform("nunique") > 1
    assert found.clicks.tolist() == pairs[several].groupby("rank").click.sum().tolist()


def test_two_ranks_give_the_ratio_of_rates_and_queries_split_items():
    swaps = pd.DataFrame(dict(item=[0] * 20, rank=[1] * 10 + [4] * 10))
    swaps["click"] = [1] * 8 + [0] * 2 + [1] * 2 + [0] * 8
    found = rb.click_propensities(swaps)
    assert np.allclose(found.probability, [1, 0.25]) and found.index.tolist() == [1, 4]
    rare = dict(item=[0] * 102, rank=[1] * 100 + [2] * 2, click=[1] + [0] * 99 + [1, 0])
    found = rb.click_propensities(rare)  # a full step from equal propensities goes too far
    assert found.probability[2] == pytest.approx((1 / 2) / (1 / 100))
    two = pd.concat([swaps.assign(query="x"), swaps.assign(query="y", rank=swaps["rank"] + 1)])
    with pytest.raises(ValueError, match="rank 2 relative to rank 1"):
        rb.click_propensities(two, query="query")
    assert len(rb.click_propensities(two)) == 4  # the same documents, if they are


def test_standard_errors_of_two_ranks_in_closed_form():
    """Four items are shown five times at both ranks, and the last is never clicked."""
    clicks = np.array([[3, 1], [2, 2], [4, 1], [0, 0]])
    item, rank, turn = (each.ravel() for each in np.indices((4, 2, 5)))
    log = dict(item=item, rank=rank + 1, click=turn < clicks[item, rank])
    found, p = rb.click_propensities(log), clicks[:, 1].sum() / clicks[:, 0].sum()
    share = p / (1 + p)
    slopes = clicks[:3, 1] - share * clicks[:3].sum(axis=1)
    error = np.sqrt(3 / 2 * slopes @ slopes) / (clicks.sum() * share * (1 - share))
    assert found.probability[2] == pytest.approx(p)
    assert found.standard_error[2] == pytest.approx(p * error)


def test_standard_errors_agree_with_the_bootstrap_over_queries():
    log = log_of(4000, [1.0, 0.5, 0.3], 1)
    found = rb.click_propensities(log, query="query")
    rng, parts = np.random.default_rng(0), [rows for _, rows in log.groupby("query")]
    values = []
    for _ in range(200):
        drawn = [parts[i].assign(query=k) for k, i in enumerate(rng.integers(30, size=30))]
        values.append(rb.click_propensities(pd.concat(drawn), query="query").probability)
    assert np.allclose(np.std(values, axis=0)[1:], found.standard_error[1:], rtol=0.2)


@pytest.mark.slow
def test_propensities_are_consistent_and_their_intervals_cover():
    curve = np.array([1.0, 0.5, 0.25])
    error = {}
    for sessions in (500, 2000, 8000):
        runs = [rb.click_propensities(log_of(sessions, curve, s), query="query") for s in range(60)]
        apart = np.array([run.probability - curve for run in runs])[:, 1:]
        error[sessions] = np.sqrt((apart**2).mean())
        width = 1.96 * np.array([run.standard_error for run in runs])[:, 1:]
        assert (np.abs(apart) <= width).mean() > 0.88
    assert error[2000] < 0.7 * error[500] and error[8000] < 0.7 * error[2000]


@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_propensities_of_one_item_are_its_rates_however_far_apart(rows):
    """From equal propensities a full step of Newton's method would go to e to the 250."""
    shown = {1: rows, 2: 1, 3: 2 * rows}
    rank = np.repeat(list(shown), list(shown.values()))
    click = np.r_[True, rank[1:] != rank[:-1]]
    found = rb.click_propensities(dict(item=["a"] * rank.size, rank=rank, click=click))
    assert found.probability.tolist() == pytest.approx([1, rows, 0.5], rel=1e-9)
    assert found.clicks.tolist() == [1, 1, 1] and found.index.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "columns, says",
    [
        (dict(click=[2, 0, 1, 0, 1, 0]), "click is 2"),
        (dict(rank=[1, 2, np.nan, 1, 2, 3]), "rank"),
        (dict(item=["a", "b", None, "c", "a", "b"]), "item"),
        (dict(rank=[1, 2, 3, 3, 1, 2]), "propensity of rank 2 relative to rank 1"),
        (dict(click=[1, 0, 0, 1, 0, 0]), "propensity of rank 2 relative to rank 1"),
        (dict(click=[0] * 6), "propensity of rank 2 relative to rank 1"),
    ],
)
def test_a_log_without_an_answer_is_refused(columns, says):
    with pytest.raises(ValueError, match=says):
        rb.click_propensities(page(**columns))


def test_one_item_or_one_query_shows_no_spread():
    log = dict(item=["a"] * 4, rank=[1, 1, 2, 2], click=[1, 1, 0, 1])
    assert np.isnan(rb.click_propensities(log).standard_error[2])
    found = rb.click_propensities(page(rank=[1, 2, 1, 2, 3, 3], click=[1] * 6), query=["q"] * 6)
    assert np.isnan(found.standard_error[2:]).all() and found.standard_error[1] == 0
    with pytest.raises(ValueError, match="rank is 1 in every row. Pass a log .* several ranks"):
        rb.click_propensities(page(rank=[1] * 6))


def test_an_empty_log_and_missing_columns_are_refused():
    with pytest.raises(ValueError, match="table has no row"):
        rb.click_propensities(dict(item=[], rank=[], click=[]))
    with pytest.raises(ValueError, match="query is 'query', and the table has the columns"):
        rb.click_propensities(page(), query="query")
    with pytest.raises((TypeError, ValueError), match="log is a list"):
        rb.click_propensities([1, 2])
