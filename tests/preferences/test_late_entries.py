"""Survival times of patients who enter late: sets at risk, sums, parts and pairs."""

import pickle

import numpy as np
import pandas as pd
import pytest

import rankbook as rb
from rankbook.base import limits
from rankbook.metrics.queries import UndefinedMetric
from rankbook.problems.plackett_luce import ChoiceSums, PlackettLuce
from rankbook.registry.choice import predicted_seconds


def draw(rng, n=9):
    """Times, events, strata, weights and entries on a coarse grid, with ties and weights of 0."""
    time = rng.integers(1, 6, n)
    entry = time - rng.integers(1, 6, n)
    event, qid = rng.random(n) < 0.6, rng.integers(0, 2, n)
    weight = rng.integers(0, 3, n) * rng.random(n)
    return dict(time=time, event=event, qid=qid, weight=weight, entry=entry)


def choices(time, event, qid, weight, entry):
    """Rows with an event and the rows at risk with them, (e, weight, at risk), by definition."""
    found = []
    for q in np.unique(qid):
        for t in np.unique(time):
            there = (qid == q) & (entry < t) & (t <= time) & (weight > 0)
            own = there & event & (time == t)
            if own.any():
                found.append((np.flatnonzero(own), np.flatnonzero(there)))
    return found


def negative_log_likelihood(f, ties, **data):
    cost, weight = 0.0, data["weight"]
    for own, there in choices(**data):
        terms = weight * np.exp(-f)
        d, e = own.size, weight[own].sum()
        for l in range(d):
            gone = l / d * terms[own].sum() if ties == "efron" else 0.0
            cost += e / d * np.log(terms[there].sum() - gone)
        cost -= weight[own] @ np.log(terms[own])
    return cost


@pytest.mark.parametrize("ties", ["breslow", "efron"])
@pytest.mark.parametrize("seed", range(40))
def test_sums_are_those_of_the_definition(seed, ties):
    """Loss, slope, conjugate, Hessian and contributions, beside differences of the formula."""
    rng = np.random.default_rng(seed)
    data, f = draw(rng), 2 * rng.normal(size=9)
    orders = rb.Orders.from_survival(**data, ties=ties)
    if not len(orders):
        return
    loss = ChoiceSums(orders)
    cost = lambda f: negative_log_likelihood(f, ties, **data)
    found, step = loss.evaluate(f), 1e-5 * np.eye(9)
    assert np.isclose(found.loss, cost(f), atol=1e-12)
    slope = [(cost(f + h) - cost(f - h)) / 2e-5 for h in step]
    assert np.allclose(-found.score_gradient, slope, atol=1e-8)
    assert np.isclose(found.margin, found.loss + f @ found.score_gradient, atol=1e-10)
    H = loss.curvature_matrix(found.bands)
    at = lambda f: -loss.evaluate(f).score_gradient
    assert np.allclose(H, [(at(f + h) - at(f - h)) / 2e-5 for h in step], atol=1e-8)
    v = rng.normal(size=9)
    assert np.allclose(loss.curvature(found.bands, v), H @ v, atol=1e-12)
    u = loss.place_residuals(found.bands, v[loss.item])
    assert np.isclose(u.sum(), -(found.score_gradient @ v))  # eta = -f
    assert loss.excess(f, 0.1) >= cost(f + 0.1 * np.sign(v)) - cost(f) + 0.1 * (
        found.score_gradient @ np.sign(v)
    )


@pytest.mark.parametrize("seed", range(20))
def test_no_late_entry_is_the_same_as_none(seed):
    rng = np.random.default_rng(seed)
    data = draw(rng) | dict(entry=np.zeros(9))
    late = rb.Orders.from_survival(**data, ties="efron")
    plain = rb.Orders.from_survival(**{k: data[k] for k in data if k != "entry"}, ties="efron")
    f = rng.normal(size=9)
    one, other = (ChoiceSums(each).evaluate(f) for each in (late, plain))
    assert np.isclose(one.loss, other.loss) and np.isclose(one.margin, other.margin)
    assert np.allclose(one.score_gradient, other.score_gradient)
    assert len(late) == len(plain) and (late.is_compared == plain.is_compared).all()
    assert (PlackettLuce().groups(late) == PlackettLuce().groups(plain)).all()


@pytest.mark.parametrize("seed", range(30))
def test_facts_are_those_of_the_sets_at_risk(seed):
    """Choices, compared rows and connected parts, of all rows, of some and of whole orders."""
    rng = np.random.default_rng(seed)
    data = draw(rng, 12)
    whole = rb.Orders.from_survival(**data)
    rows = rng.integers(0, 12, rng.integers(2, 13))
    part = {k: v[rows] for k, v in data.items()}
    for orders, known in ((whole, data), (whole[rows], part)):
        sets = [(own, there) for own, there in choices(**known) if there.size > 1]
        assert len(orders) == sum(own.size for own, _ in sets)
        compared = {i for _, there in sets for i in there}
        assert set(orders.item[orders.is_compared].tolist()) == compared
        group = PlackettLuce().groups(orders) if len(orders) else None
        linked = np.eye(known["time"].size, dtype=bool)
        for _, there in sets:
            linked[np.ix_(there, there)] = True
        for _ in range(4):
            linked = linked @ linked
        if group is not None:
            assert ((group[:, None] == group) == linked).all()
        cost = ChoiceSums(orders).evaluate(np.arange(known["time"].size) / 5.0).loss
        expected = negative_log_likelihood(np.arange(known["time"].size) / 5.0, "breslow", **known)
        assert np.isclose(cost, expected, atol=1e-12)
    if whole.n_orders == 2:
        f = rng.normal(size=12)
        both = [ChoiceSums(whole.of_orders([k])).evaluate(f).loss for k in (1, 0, 1)]
        assert np.isclose(ChoiceSums(whole.of_orders([1, 0, 1])).evaluate(f).loss, sum(both))


@pytest.mark.parametrize("seed", range(20))
def test_pairs_are_events_and_rows_at_risk(seed):
    rng = np.random.default_rng(seed)
    data, f = draw(rng, 15), rng.integers(0, 4, 15).astype(float)
    orders, w = rb.Orders.from_survival(**data), data["weight"]
    total = wrong = 0.0
    for own, there in choices(**data):
        for i in own:
            for j in set(there.tolist()) - set(own.tolist()):
                total += w[i] * w[j]
                wrong += w[i] * w[j] * ((f[i] > f[j]) + (f[i] == f[j]) / 2)
    assert np.isclose(rb.disagreement(orders, f), wrong / total)


def test_far_scores_cancel_nothing():
    """A patient of a huge term who has not entered, or has left, leaves no trace in a sum."""
    time, entry = np.array([1.0, 2, 3, 4, 5, 6]), np.array([0.0, 0, 0, 3.5, 0, 0])
    orders = rb.Orders.from_survival(time, np.ones(6), entry=entry)
    f = np.array([0.0, 0.3, -0.2, -300.0, 0.1, 0.4])  # the fourth has a hazard of e^300
    expected = sum(
        np.logaddexp.reduce(-f[(entry < t) & (time >= t)]) + f[i] for i, t in enumerate(time)
    )
    assert np.isclose(ChoiceSums(orders).evaluate(f).loss, expected, rtol=1e-14, atol=0)
    alone = rb.Orders.from_survival(time[:3], np.ones(3), entry=entry[:3])
    slope = ChoiceSums(orders).evaluate(f).score_gradient[:1]
    three = np.exp(-f[[0, 1, 2, 4, 5]])
    assert np.isclose(slope[0], -(1 - three[0] / three.sum()), rtol=1e-14)
    assert len(alone) == 2


def test_the_solvers_agree_and_certify():
    """newton's certificate, and the exponential cones of cvxpy."""
    pytest.importorskip("cvxpy")
    rng = np.random.default_rng(3)
    data, X = draw(rng, 30), rng.normal(size=(30, 2))
    for ties in ("breslow", "efron"):
        orders = rb.Orders.from_survival(**data, ties=ties)
        problem = rb.RankSVMProblem(X, orders, kernel="linear", loss="plackett-luce")
        one = rb.solve(problem, 0.3, ("newton", dict(tol=1e-10)))
        assert one.certificate.relative_gap < 1e-9
        other = rb.solve(problem, 0.3, "qp")
        assert np.allclose(one.weights, other.weights, atol=1e-4)


def test_the_target_keeps_its_entries():
    """In pickles and parts, and read-only."""
    orders = rb.Orders.from_survival([5.0, 3, 6], [1, 1, 0], entry=[0, 0, 4])
    assert repr(orders) == "Orders(items=3, orders=1, choices=2, events=2, late=1)"
    for one in (orders, pickle.loads(pickle.dumps(orders)), orders[[2, 0, 1]][[1, 2, 0]]):
        assert one.entry.tolist() == orders.entry.tolist()
        assert one.survival["entry"].tolist() == [0, 0, 4]
        with pytest.raises(ValueError, match="read-only"):
            one.entry[0] = 1


@pytest.mark.parametrize(
    "entry, words",
    [
        ([0.0, 2.0], "entry is 2 in row 1, where time is 2. Leave out rows without a time at risk"),
        ([0.0, np.nan], "entry has NaN at index 1"),
        ([0.0], r"entry has shape \(1,\)"),
    ],
)
def test_impossible_entries_are_refused(entry, words):
    with pytest.raises(ValueError, match=words):
        rb.Orders.from_survival([1.0, 2.0], [1, 1], entry=entry)


def test_a_stored_path_keeps_the_entries(tmp_path):
    """And files whose entries do not fit are refused."""
    rng = np.random.default_rng(2)
    orders, X = rb.Orders.from_survival(**draw(rng, 25)), rng.normal(size=(25, 2))
    problem = rb.RankSVMProblem(X, orders, kernel="linear", loss="plackett-luce")
    path = rb.solve_path(problem, 0.5, solver="newton")
    path.save(tmp_path / "p")
    again = rb.load(tmp_path / "p").problem.prefs
    assert again.entry.tolist() == orders.entry.tolist()
    for name in ("event", "time", "entry"):
        assert again.survival[name].tolist() == orders.survival[name].tolist()
    f = rng.normal(size=25)
    assert ChoiceSums(again).evaluate(f).loss == ChoiceSums(orders).evaluate(f).loss


@pytest.mark.parametrize("metric", ["disagreement", "log_loss"])
def test_curves_are_those_of_scores_at_each_lambda(metric):
    rng = np.random.default_rng(4)
    train, held = (rb.Orders.from_survival(**draw(rng, 40)) for _ in range(2))
    X, V = rng.normal(size=(2, 40, 2))
    problem = rb.RankSVMProblem(X, train, kernel="linear", loss="plackett-luce")
    path = rb.solve_path(problem, 0.5, solver="newton")
    curve = rb.validation_curve(path, V, held, metric=metric)
    lam = path.lams[3]
    f = path.predict(V, lam)
    if metric == "disagreement":
        expected = rb.disagreement(held, f)
    else:
        expected = ChoiceSums(held).evaluate(f).loss / held.weight.sum()
    assert curve.at(lam) == pytest.approx(expected, rel=1e-9)


def test_votes_and_metrics_of_grades_do_not_take_late_entries():
    orders = rb.Orders.from_survival([2.0, 1.0], [1, 1], entry=[0.5, 0.0])
    with pytest.raises(ValueError, match="enter late"):
        rb.metrics.dynamic_auc(orders, [1.0, 2.0], [1.5], train=orders)
    structured = np.array([(True, 2.0, 0.5), (True, 1.0, 0.0)], dtype=[
        ("event", bool), ("time", float), ("entry", float)
    ])  # fmt: skip
    with pytest.raises(ValueError, match="sample_weight"):
        rb.metrics.concordance(orders, [1.0, 2.0], sample_weight=[1.0, 1.0])
    assert rb.disagreement(structured, [2.0, 1.0]) == 0.0
    assert rb.metrics.concordance(structured, [2.0, 1.0]) == 1.0
    with pytest.raises(ValueError, match="RankRLS|orders|enter late"):
        rb.RankRLS(kernel="linear").fit([[1.0], [2.0]], structured)


def concordance_by_hand(data, score, tau=np.inf):
    """Each event beside each patient who is at risk then, one pair after the other."""
    time, event, entry = data["time"], data["event"], data["entry"]
    weight, qid = data["weight"], data["qid"]
    right = whole = 0.0
    for i in np.flatnonzero(event & (time < tau)):
        for j in range(time.size):
            lives = time[j] > time[i] or time[j] == time[i] and not event[j]
            if qid[i] == qid[j] and entry[j] < time[i] and lives:
                whole += weight[i] * weight[j]
                right += weight[i] * weight[j] * (score[j] > score[i])
                right += weight[i] * weight[j] * (score[j] == score[i]) / 2
    return right / whole if whole else np.nan


def times_with_ties(rng, n):
    """Whole times, entries at event times, weights of 0, and one or two strata."""
    time = rng.integers(1, rng.choice([4, 9, 50]), n).astype(float)
    return dict(
        time=time,
        event=rng.random(n) < rng.choice([0.1, 0.5, 1.0]),
        entry=np.array([rng.integers(-1, t) for t in time], dtype=float),
        weight=rng.choice([[1.0], [0.0, 1.0, 0.25, 3e5]][rng.integers(2)], n),
        qid=rng.integers(0, rng.integers(1, 3), n),
    )


def test_the_concordance_is_that_of_the_pairs_at_risk():
    """Of all pairs by hand; disagreement and the list of pairs agree."""
    rng, undefined = np.random.default_rng(5), 0
    for trial in range(150):
        data = times_with_ties(rng, n := int(rng.integers(2, 35)))
        score, tau = rng.integers(0, 6, n).astype(float), [None, 4.0][trial % 2]
        expected = concordance_by_hand(data, score, tau or np.inf)
        if not data["weight"].any():
            continue
        y = rb.Orders.from_survival(**data, ties=["breslow", "efron"][trial % 2])
        if np.isnan(expected):
            undefined += 1
            with pytest.raises(UndefinedMetric):
                rb.metrics.concordance(y, score, tau=tau)
            continue
        assert rb.metrics.concordance(y, score, tau=tau) == pytest.approx(expected, abs=1e-12)
        if tau is None:
            assert 1 - rb.disagreement(y, score) == pytest.approx(expected, abs=1e-12)
            listed = rb.disagreement(y.pairs(), score[y.item])
            assert 1 - listed == pytest.approx(expected, abs=1e-10)
            assert len(y.counted_pairs()[0]) == np.count_nonzero(y.pairs().weight)
    assert 0 < undefined < 75


def test_entries_before_all_events_change_nothing():
    rng = np.random.default_rng(6)
    time, event, score = rng.integers(1, 30, 60), rng.random(60) < 0.6, rng.normal(size=60)
    late = rb.Orders.from_survival(time, event, entry=np.zeros(60))
    y = rb.Preferences.from_survival(time, event)
    for metric in (rb.metrics.concordance, rb.metrics.concordance_interval):
        one, other = metric(late, score), metric(y, score)
        assert str(one) == str(other)
    assert np.allclose(
        rb.BaselineHazard(late, score).log_cumulative, rb.BaselineHazard(y, score).log_cumulative
    )


@pytest.mark.parametrize("by_cluster", [False, True])
def test_the_jackknife_leaves_out_patients_or_clusters(by_cluster):
    """The concordances of the others, computed again; also for those who enter at the start."""
    rng, done = np.random.default_rng(7), 0
    for trial in range(40):
        data = times_with_ties(rng, n := int(rng.integers(6, 25)))
        data["weight"] = np.clip(data["weight"], 0.25, 3.0)
        if trial % 2:
            data.pop("entry")
        y = (rb.Preferences if trial % 2 else rb.Orders).from_survival(**data)
        unit = rng.integers(0, n // 3 + 2, n) if by_cluster else np.arange(n)
        score = rng.integers(0, 9, n).astype(float)
        try:
            rest = [np.flatnonzero(unit != u) for u in np.unique(unit)]
            without = np.array([rb.metrics.concordance(y[k], score[k]) for k in rest])
        except UndefinedMetric:
            continue
        done += 1
        found = rb.metrics.concordance_interval(y, score, cluster=unit if by_cluster else None)
        variance = (without.size - 1) * np.var(without)
        assert found.standard_error == pytest.approx(np.sqrt(variance), abs=1e-12)
        assert found.n_patients == without.size
        assert str(found).endswith(f"{without.size} {'clusters' if by_cluster else 'patients'})")
        both = rb.metrics.compare_concordances(y, score, -score, cluster=unit)
        assert both.difference == pytest.approx(2 * found.value - 1)
    assert done > 20


def test_the_baseline_hazard_has_the_patients_at_risk():
    """Breslow's sums by hand, with scores of all sizes."""
    rng = np.random.default_rng(8)
    for trial in range(60):
        data = times_with_ties(rng, n := int(rng.integers(2, 40)))
        data["qid"] = np.zeros(n)
        time, event, weight = data["time"], data["event"], data["weight"]
        if not (event & (weight > 0)).any():
            continue
        score, total, steps = rng.normal(size=n) * 10.0 ** (trial % 3), 0.0, []
        times = np.unique(time[event & (weight > 0)])
        for t in times:
            at_risk = (data["entry"] < t) & (time >= t)
            total += weight[event & (time == t)].sum() / (weight * np.exp(-score))[at_risk].sum()
            steps.append(total)
        found = rb.BaselineHazard(rb.Orders.from_survival(**data), score)
        assert found.times.tolist() == times.tolist()
        assert np.allclose(found.log_cumulative, np.log(steps), rtol=1e-10, atol=1e-12)
        assert found.last_time == time[weight > 0].max()


@pytest.mark.peer("lifelines")
@pytest.mark.filterwarnings("ignore:Starting with pandas version 4")
def test_the_baseline_hazard_is_that_of_lifelines():
    """CoxTimeVaryingFitter; its CoxPHFitter ignores the entries here."""
    from lifelines import CoxTimeVaryingFitter

    rng = np.random.default_rng(9)
    data, X = draw(rng, 120), rng.normal(size=(120, 2))
    data = {name: data[name] for name in ("time", "event", "entry")}
    table = pd.DataFrame(X, columns=["a", "b"]).assign(**data, id=np.arange(120))
    columns = dict(id_col="id", start_col="entry", stop_col="time", event_col="event")
    fitted = CoxTimeVaryingFitter().fit(table, **columns)
    scores = -fitted.predict_log_partial_hazard(table).to_numpy()
    found = rb.BaselineHazard(rb.Orders.from_survival(**data), scores)
    expected = fitted.baseline_cumulative_hazard_.iloc[:, 0].loc[found.times]
    assert np.allclose(np.exp(found.log_cumulative), expected, rtol=1e-10)


def test_long_calls_with_late_entries_are_announced(monkeypatch):
    """A count of pairs, and a fit, whose prediction counts the copies of a row."""
    rng = np.random.default_rng(10)
    data, X = draw(rng, 400) | dict(weight=None), rng.normal(size=(400, 2))
    y = rb.Orders.from_survival(**data)
    data.pop("entry")
    plain = rb.Orders.from_survival(**data)
    of = dict(kernel="linear", loss="plackett-luce")
    late, usual = (predicted_seconds(rb.RankSVMProblem(X, t, **of), "newton") for t in (y, plain))
    assert 3 < late / usual < 20
    monkeypatch.setattr(limits, "MINUTE", 1e-3)
    with pytest.warns(UserWarning, match="pairs of 400 rows with late entry is predicted to need"):
        rb.metrics.concordance(y, X[:, 0])


def test_patients_without_weight_have_no_comparable_pair():
    y = rb.Orders.from_survival([1.0, 2.0, 3.0], [1, 1, 0], weight=[0, 0, 0], entry=[0, 0, 0])
    for metric in (rb.metrics.concordance, rb.metrics.concordance_interval):
        with pytest.raises(UndefinedMetric, match="y_true has no comparable pair"):
            metric(y, [1.0, 2.0, 3.0])
    with pytest.raises(UndefinedMetric, match="y_true has no preference"):
        rb.disagreement(y, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("seed", range(30))
def test_listed_preferences_are_the_pairs_at_risk(seed):
    """By a double loop, and as many as the orders imply; their accuracy is the concordance."""
    rng = np.random.default_rng(seed)
    data = draw(rng, 14)
    time, event, qid, weight, entry = (data[name] for name in data)
    expected = {}
    for i in range(14):
        for j in range(14):
            later = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if event[i] and qid[i] == qid[j] and later and entry[j] < time[i]:
                expected[j, i] = weight[i] * weight[j]
    expected = {pair: w for pair, w in expected.items() if w > 0}
    prefs = rb.Preferences.from_survival(**data)
    ends = zip(prefs.better.tolist(), prefs.worse.tolist())
    found = {pair: w for pair, w in zip(ends, prefs.weight.tolist()) if w > 0}
    assert found.keys() == expected.keys()
    assert all(found[pair] == pytest.approx(w) for pair, w in expected.items())
    if expected:
        f = rng.integers(0, 4, 14)
        accuracy = rb.metrics.pair_accuracy(prefs, f)
        orders = rb.Orders.from_survival(**data)
        assert accuracy == pytest.approx(rb.metrics.concordance(orders, f), abs=1e-12)


def test_losses_of_pairs_accept_late_entries_as_listed_preferences():
    """The fit is that of the same pairs, given as votes; entries before all times change none."""
    rng = np.random.default_rng(7)
    data, X = draw(rng, 30) | dict(weight=None, qid=None), rng.normal(size=(30, 2))
    prefs = rb.Preferences.from_survival(**data)
    votes = rb.Preferences(prefs.better, prefs.worse, 30)
    for options in (dict(loss="hinge"), dict(loss="logistic")):
        fits = [rb.RankSVM(1.0, "linear", **options).fit(X, y).coef_ for y in (prefs, votes)]
        assert np.allclose(*fits, atol=1e-6)
    with pytest.raises(ValueError, match=r"listed pairs of rb.Preferences.from_survival\(time, ev"):
        rb.RankSVM(kernel="linear").fit(X, rb.Orders.from_survival(**data))
    early = rb.Preferences.from_survival(**data | dict(entry=np.zeros(30)))
    plain = rb.Preferences.from_survival(data["time"], data["event"])
    assert np.array_equal(early.better, plain.better) and np.array_equal(early.worse, plain.worse)
    with pytest.raises(ValueError, match="^entry is 5 in row 1, where time is 5. Leave out rows"):
        rb.Preferences.from_survival([6.0, 5.0], [1, 1], entry=[0.0, 5.0])
    with pytest.raises(ValueError, match="rb.Orders.from_survival for late entries"):
        rb.metrics.concordance(prefs, np.zeros(30))
    assert not len(rb.Preferences.from_survival([1, 5], [1, 1], entry=[0, 1]))
