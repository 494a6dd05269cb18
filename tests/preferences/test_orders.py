"""Orders: what they hold, parts of them, and sums over their choices."""

import pickle
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import rankbook as rb
from rankbook.preferences.choices import (
    chain,
    choice_curvature,
    choice_matrix,
    choice_slope,
    choice_sums,
    suffix_sums,
)


def choices(orders):
    """The choices as (item, items at risk, weight), in their order."""
    groups, starts = orders.edges
    found = []
    for k in np.flatnonzero(orders.choice_weight):
        there = slice(groups[orders.group[k]], groups[starts[orders.order[k] + 1]])
        at_risk = frozenset(orders.item[there].tolist())
        found.append((int(orders.item[k]), at_risk, float(orders.choice_weight[k])))
    return found


def names(orders):
    return [(orders.items[i], {orders.items[j] for j in there}) for i, there, _ in choices(orders)]


def test_ties_names_and_tables_say_the_same():
    """An order with a tie may come as lists or as a table."""
    listed = rb.Orders.from_rankings([["b", ["a", "c"], "d"], ["d", "a"]])
    table = pd.DataFrame(
        dict(ranking=[0, 0, 0, 0, 1, 1], item=list("bacdda"), rank=[1, 2, 2, 4, 1, 9])
    )
    for orders in (listed, rb.Orders.from_rankings(table)):
        assert names(orders) == [
            ("b", set("abcd")),
            ("a", set("acd")),
            ("c", set("acd")),
            ("d", {"d"}),
            ("d", set("da")),
            ("a", {"a"}),
        ]
        assert len(orders) == 4 and orders.n_orders == 2 and orders.shape == (4,)


def test_first_places_by_top_or_by_what_is_left_out():
    """Both ways to say that only some items were chosen give the same choices."""
    by_top = rb.Orders.from_rankings([[3, 1, 0, 2], [2, 3, 0, 1]], top=[2, 1], weight=[2.0, 0.5])
    short = rb.Orders.from_rankings([[3, 1], [2]], n_items=4, unranked="last", weight=[2.0, 0.5])
    assert choices(by_top) == choices(short)
    assert choices(short) == [
        (3, frozenset(range(4)), 2.0),
        (1, frozenset([0, 1, 2]), 2.0),
        (2, frozenset(range(4)), 0.5),
    ]
    tied = rb.Orders.from_rankings([[[0, 1], 2, 3]], top=1)  # both are first
    assert [item for item, *_ in choices(tied)] == [0, 1]


def test_survival_times_are_choices_of_the_shortest():
    """Events are chosen among all with times that are not shorter, censored ones never."""
    time, event = np.array([4.0, 2, 4, 9, 2, 4]), np.array([1, 1, 0, 1, 0, 1])
    qid = np.array([1, 1, 1, 1, 2, 2])
    orders = rb.Orders.from_survival(time, event, qid, weight=[1, 1, 2, 1, 1, 1])
    expected = []
    for i in np.lexsort((np.arange(6), time, qid)):
        if event[i]:
            there = frozenset(np.flatnonzero((time >= time[i]) & (qid == qid[i])).tolist())
            expected.append((int(i), there, 1.0))
    assert choices(orders) == expected
    assert orders.lowest_first and orders.queries.tolist() == [0, 0, 0, 0, 1, 1]
    assert choices(rb.Orders.from_preferences(rb.Preferences.from_survival(time, event, qid))) == [
        (i, there, 1.0) for i, there, _ in expected
    ]


def test_grades_are_orders_with_ties():
    """The best grade is chosen first, with item weights, and the lowest one is not chosen."""
    prefs = rb.Preferences.from_scores([0, 2, 1, 1, 5], qid=[7, 7, 7, 7, 8])
    orders = rb.Orders.from_preferences(prefs.item_weighted([1, 2, 3, 0, 1]))
    assert choices(orders) == [
        (1, frozenset([0, 1, 2]), 2.0),
        (2, frozenset([0, 2]), 3.0),
    ]
    assert len(orders) == 2
    assert orders.is_compared.tolist() == [True, True, True, False]  # item 4 is alone


@pytest.mark.parametrize("seed", range(20))
def test_parts_of_grades_are_orders_of_the_grades_that_are_left(seed):
    """Whichever grades that leaves, the lowest one is not chosen; a weight of 0 is no item."""
    rng = np.random.default_rng(seed)
    y, qid, weight = rng.integers(0, 4, 20), rng.integers(0, 4, 20), rng.integers(0, 3, 20)
    of = lambda at: rb.Orders.from_preferences(
        rb.Preferences.from_scores(y[at], qid[at]).item_weighted(weight[at])
    )
    whole, rows = of(np.arange(20)), rng.permutation(20)[: rng.integers(1, 20)]
    assert set(choices(whole[rows])) == set(choices(of(rows)))
    for i, there, _ in choices(whole):
        assert any(y[j] < y[i] and qid[j] == qid[i] for j in there)
    expected = {j for _, there, _ in choices(whole) for j in there}
    assert set(whole.item[whole.is_compared].tolist()) == expected


def test_only_the_weights_of_those_at_risk_matter_for_the_lowest_grade():
    """An item that is never chosen may have the weight 0 at risk."""
    prefs = rb.Preferences.from_scores([1, 0, 2, 0]).item_weighted([1, 1, 1, 1], [1, 0, 1, 2])
    assert choices(rb.Orders.from_preferences(prefs)) == [
        (2, frozenset([0, 2, 3]), 1.0),
        (0, frozenset([0, 3]), 1.0),
    ]


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_choices_among_those_that_are_left(seed):
    """Cutting rows leaves each choice of a row that is there, among the rows that are there."""
    rng = np.random.default_rng(seed)
    ranked = [rng.permutation(8)[: rng.integers(1, 9)].tolist() for _ in range(4)]
    orders = rb.Orders.from_rankings(ranked, n_items=8, top=rng.integers(1, 5, 4))
    rows = rng.permutation(8)[: rng.integers(1, 9)]
    place = {int(row): k for k, row in enumerate(rows)}
    expected = [
        (place[i], frozenset(place[j] for j in there if j in place), weight)
        for i, there, weight in choices(orders)
        if i in place
    ]
    assert choices(orders[rows]) == expected
    mask = np.isin(np.arange(8), rows)
    assert choices(orders[mask]) == choices(orders[np.sort(rows)])


def test_a_row_that_is_repeated_is_tied_with_its_copy():
    """As a bootstrap of patients has it."""
    orders = rb.Orders.from_survival([3.0, 1, 2], [1, 1, 0])[[1, 0, 1]]
    both = frozenset([0, 1, 2])
    assert choices(orders) == [(0, both, 1.0), (2, both, 1.0), (1, frozenset([1]), 1.0)]


def test_whole_orders_are_taken_by_number():
    """Some orders, or one of them twice, with weights."""
    orders = rb.Orders.from_rankings([[0, 1, 2], [2, 1], [1, [0, 2]]], weight=[1, 2, 3])
    some = orders.of_orders([2, 0, 2], weight=[1.0, 0.0, 0.5])
    assert some.n_orders == 3 and some.n_items == 3
    assert [(i, w) for i, _, w in choices(some)] == [
        (1, 3.0),
        (0, 3.0),
        (2, 3.0),
        (1, 1.5),
        (0, 1.5),
        (2, 1.5),
    ]


def test_the_target_is_its_own_and_read_only():
    """Later changes of what was passed have no effect, and a pickle is as locked."""
    time, event = np.array([3.0, 1, 2]), np.array([True, True, False])
    orders = rb.Orders.from_survival(time, event)
    time[:] = 0
    assert orders.survival["time"].tolist() == [3, 1, 2]
    for one in (orders, pickle.loads(pickle.dumps(orders)), orders[[0, 1]]):
        with pytest.raises(ValueError, match="read-only"):
            one.choice_weight[0] = 2
        with pytest.raises(AttributeError, match="cannot be changed"):
            one.ties = "efron"


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: rb.Orders(), "from_rankings"),
        (lambda: rb.Orders.from_rankings([]), "orders is empty"),
        (lambda: rb.Orders.from_rankings([[0, 1, 0]]), r"orders\[0\].*different items"),
        (lambda: rb.Orders.from_rankings([[0, 1], [3, 0]], n_items=3), r"orders\[1\] is 3 in"),
        (lambda: rb.Orders.from_rankings([[0, np.nan]]), r"orders\[0\] is empty in place 1"),
        (lambda: rb.Orders.from_rankings([[0, 1]], top=0), "top is 0"),
        (lambda: rb.Orders.from_rankings([[0, 1]], top=[1, 2]), "top has shape"),
        (lambda: rb.Orders.from_rankings([[0, 1]], weight=[-1]), "weight has -1.0 at index 0"),
        (lambda: rb.Orders.from_rankings([[0, 1]], unranked="first"), "unranked is 'first'"),
        (lambda: rb.Orders.from_rankings([[0, 1]], ties="exact"), "ties is 'exact'"),
        (lambda: rb.Orders.from_survival([1, np.nan], [1, 0]), "time has NaN at index 1"),
        (lambda: rb.Orders.from_survival([1, 2], [1, 2]), "event is 2"),
        (lambda: rb.Orders.from_survival([1, 2], [1]), "time has 2 entries"),
        (lambda: rb.Orders.from_preferences([1, 2]), "prefs is a list"),
        (lambda: rb.Orders.from_preferences(rb.Preferences([0], [1], 2)), "loss='logistic'"),
        (lambda: rb.Orders.from_rankings([[0, 1]])[[2]], "rows does not fit"),
        (lambda: rb.Orders.from_rankings([[0, 1]])[[]], "rows chooses"),
        (lambda: rb.Orders.from_rankings([[0, 1]]).of_orders([1]), "orders has 1 at index 0"),
        (lambda: np.asarray(rb.Orders.from_rankings([[0, 1]])), "cannot be converted to an array"),
    ],
)  # fmt: skip
def test_errors_name_the_argument(call, words):
    with pytest.raises((ValueError, TypeError, IndexError), match=words):
        call()


def test_a_chosen_item_of_no_weight_at_risk_is_refused():
    """Its chance would be 0."""
    prefs = rb.Preferences.from_scores([1, 0, 2]).item_weighted([1, 1, 1], [1, 1, 0])
    with pytest.raises(ValueError, match="item 2 is chosen with weight 1 but has weight 0"):
        rb.Orders.from_preferences(prefs)


@pytest.mark.parametrize("seed", range(10))
def test_scores_are_judged_by_the_pairs_that_orders_imply(seed):
    """A pair is a chosen item before another one that was there, tied ones are none."""
    rng = np.random.default_rng(seed)
    ranked = [rng.permutation(6)[: rng.integers(2, 7)].tolist() for _ in range(3)]
    ranked.append([[0, 3], [1, 2], 4])
    weight, top = rng.random(4), rng.integers(1, 6, 4)
    orders = rb.Orders.from_rankings(ranked, n_items=6, weight=weight, top=top)
    f, wrong, total = rng.integers(0, 4, 6).astype(float), 0.0, 0.0
    groups, starts = orders.edges
    for k in np.flatnonzero(orders.choice_weight):
        later = slice(groups[orders.group[k] + 1], groups[starts[orders.order[k] + 1]])
        for other in orders.item[later]:
            gap = f[orders.item[k]] - f[other]
            total += orders.choice_weight[k]
            wrong += orders.choice_weight[k] * ((gap < 0) + (gap == 0) / 2)
    assert np.isclose(rb.disagreement(orders, f), wrong / total)
    y = rb.Preferences.from_survival(rng.integers(1, 9, 20), rng.random(20) < 0.6)
    score = rng.integers(0, 5, 20)
    known = rb.metrics.concordance(y, score)
    assert np.isclose(1 - rb.disagreement(rb.Orders.from_preferences(y), score), known)


def brute_force(f, orders):
    """The loss of some orders, from its definition."""
    groups = orders.edges[0]
    sign, cost = -1.0 if orders.lowest_first else 1.0, 0.0
    for g in range(groups.size - 1):
        own = slice(groups[g], groups[g + 1])
        there = (orders.order == orders.order[groups[g]]) & (orders.group >= g)
        if orders.entry is not None:
            there &= orders.entry <= g
        terms = orders.risk_weight * np.exp(sign * f[orders.item])
        chosen = orders.choice_weight[own] > 0
        e, tied, d = orders.choice_weight[own][chosen], terms[own][chosen], chosen.sum()
        for l in range(d):
            gone = l / d * tied.sum() if orders.ties == "efron" else 0.0
            cost += e.sum() / d * np.log(terms[there].sum() - gone)
        cost -= e @ np.log(tied)
    return cost


def random_orders(rng, n=7):
    """Orders of some kind with ties, weights and items that are never chosen."""
    ties = rng.choice(["breslow", "efron"])
    if rng.random() < 0.5:
        time, event = rng.integers(1, 5, n), rng.random(n) < 0.7
        weight = rng.integers(0, 3, n) * rng.random(n)
        return rb.Orders.from_survival(time, event, rng.integers(0, 2, n), weight, ties=ties)
    ranked = []
    for _ in range(3):
        items, cuts = rng.permutation(n)[: rng.integers(1, n + 1)], rng.random(n) < 0.5
        groups = []
        for i, cut in zip(items.tolist(), cuts):
            groups[-1:] = [[*groups[-1], i]] if groups and cut else [*groups[-1:], [i]]
        ranked.append(groups)
    options = dict(top=rng.integers(1, n, 3), weight=rng.integers(0, 3, 3), ties=ties)
    return rb.Orders.from_rankings(
        ranked, n_items=n, unranked=rng.choice(["absent", "last"]), **options
    )


def graded_orders(rng, n=7):
    """Orders of grades, in which some of the items that share a place are not chosen."""
    prefs = rb.Preferences.from_scores(rng.integers(0, 3, n), rng.integers(0, 2, n))
    orders = rb.Orders.from_preferences(prefs.item_weighted(rng.integers(0, 3, n), rng.random(n)))
    return orders.replaced(ties=rng.choice(["breslow", "efron"]))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("made", [random_orders, graded_orders])
def test_sums_are_those_of_the_definition(made, seed):
    """Loss, slope, conjugate and Hessian, beside the formula and differences of it."""
    rng = np.random.default_rng(seed)
    orders, f = made(rng), 2 * rng.normal(size=7)
    groups, starts = orders.edges
    sign, efron = -1.0 if orders.lowest_first else 1.0, orders.ties == "efron"
    stages = groups, starts, chain(starts)

    def sums(f):
        eta = sign * f[orders.item]
        value = eta + np.log(orders.risk_weight)
        return choice_sums(value, eta, orders.choice_weight, efron, *stages)

    (loss, bound), expected, *ways = sums(f)
    at = lambda by_place: sign * np.bincount(orders.item, by_place, 7)
    gradient = at(expected - orders.choice_weight)
    assert np.isclose(loss, brute_force(f, orders), atol=1e-12)
    assert np.isclose(bound, loss - f @ gradient, atol=1e-10)
    step = 1e-5 * np.eye(7)
    found = [(brute_force(f + h, orders) - brute_force(f - h, orders)) / 2e-5 for h in step]
    assert np.allclose(gradient, found, atol=1e-8)
    facts = orders.choice_weight, efron, expected, *ways, *stages
    assert np.allclose(choice_slope(facts), orders.choice_weight - expected, atol=1e-12)
    H = choice_matrix(orders.item, 7, facts)
    found = [at(sums(f + h)[1] - sums(f - h)[1]) / 2e-5 for h in step]
    assert np.allclose(H, found, atol=1e-8) and np.allclose(H, H.T, atol=1e-13)
    assert np.linalg.eigvalsh(H).min() > -1e-12
    v = rng.normal(size=7)
    product = np.bincount(orders.item, choice_curvature(v[orders.item], facts), 7)
    assert np.allclose(product, H @ v)


def test_probabilities_of_all_orders_sum_to_one():
    """For any scores, those that overflow an exponential among them."""
    every = rb.Orders.from_rankings(list(permutations(range(4))))
    groups, starts = every.edges
    for scale in (1.0, 30.0, 1e4):
        eta = scale * np.array([2.0, 0, -1, 0.5])[every.item]
        log_sum = suffix_sums(eta, eta, groups[starts])[0]
        cost = np.add.reduceat(log_sum - eta, groups[starts[:-1]])
        assert np.isclose(np.exp(-cost).sum(), 1)


@pytest.mark.parametrize("scale", [1e2, 1e5, 1e150])
def test_far_scores_leave_finite_sums(scale):
    """Neither overflow nor a difference of infinities, with ties and weights."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        orders = random_orders(rng)
        groups, starts = orders.edges
        eta = scale * rng.normal(size=7)[orders.item]
        value, efron = eta + np.log(orders.risk_weight), orders.ties == "efron"
        stages = groups, starts, chain(starts)
        totals, expected, *ways = choice_sums(value, eta, orders.choice_weight, efron, *stages)
        facts = orders.choice_weight, efron, expected, *ways, *stages
        H = choice_matrix(orders.item, 7, facts)
        assert np.isfinite(totals).all() and totals[0] >= 0 and np.isfinite(H).all()
        assert np.isclose(expected.sum(), orders.choice_weight.sum())
        assert (expected >= 0).all()


def test_a_table_of_whole_orders_is_refused_with_advice():
    wide = dict(first=["a", "b"], second=["b", "a"])
    for made in (rb.Orders, rb.Preferences):
        with pytest.raises(ValueError, match="^orders has the columns 'first', 'second'. Pass"):
            made.from_rankings(wide)
    columns = dict(ranking=np.array([0, 0]), item=np.array(["a", "b"]), rank=np.array([1, 2]))
    assert len(rb.Orders.from_rankings(wide, **columns)) == 1
