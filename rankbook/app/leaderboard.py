"""Leaderboards: scores and ranks of items from preferences or orders without features."""

from rankbook.base.errors import ArgumentError, Assumption
from rankbook.base.limits import warn


def leaderboard(prefs, intervals=False, level=0.95, method=None, unit=None, features=()):
    """Fit a Bradley-Terry or Plackett-Luce model of items without features.

    Parameters
    ----------
    prefs : Preferences or Orders
        A list of pairs, in which a tie is two half wins, or orders. Items without a comparison are
        omitted.
    intervals : bool, default False
        Whether to compute intervals of scores and ranks.
    level, method
        As in :func:`rankbook.order_intervals`. The bootstrap draws orders or preferences, or single
        votes if weights differ from 1.
    unit : ndarray of shape (m,), int, optional
        The group of each preference. The bootstrap then draws groups instead of preferences.
    features : sequence of str
        Names of the pair features.

    Returns
    -------
    table : DataFrame
        Items, best first, with the columns rank, item, score, low, high, rank_low, rank_high and
        comparisons; without `intervals` only rank, item, score and comparisons. For orders,
        comparisons is the number of orders that contain the item, counted by their weights.
    lam : float
        The regularization parameter. The prior variance of the scores is 1/lam.
    remark : str
        Meaning of the intervals, or number of unconnected groups; may be empty.
    effects : list of dict
        Of each pair feature its name, the weight of one unit, the root mean square of the feature,
        and the effect, their product: the advantage of an item in units of the score.

    Notes
    -----
    Equal pairs are summed first, so a step of the fit costs O(n + k) for k distinct pairs.
    Intervals cost O(n^3) for n items.
    """
    import numpy as np
    import pandas as pd
    from scipy.sparse import csr_array, eye_array

    from rankbook.estimators.order_intervals import match_prior, order_intervals, ranks
    from rankbook.estimators.ranksvm import RankSVM
    from rankbook.preferences.events import tie_halves
    from rankbook.preferences.graph import Preferences
    from rankbook.preferences.orders import Orders
    from rankbook.problems.scale import components

    is_orders = isinstance(prefs, Orders)
    if not is_orders and (idle := prefs.weight == 0).any():
        warn(Assumption(f"MATCHES has {idle.sum():,} preferences of weight 0, which do not count."))
        unit = None if unit is None else np.unique(unit[~idle], return_inverse=True)[1]
        columns = (prefs.better, prefs.worse, prefs.weight, prefs.margin, prefs.pair_features)
        k, l, *more = (None if column is None else column[~idle] for column in columns)
        facts = dict(items=prefs.items, n_ties=prefs.n_ties - int(tie_halves(prefs)[idle].sum()))
        prefs = Preferences(k, l, prefs.n_items, *more).replaced(**facts)
    used = np.unique(prefs.item if is_orders else np.r_[prefs.better, prefs.worse])
    if used.size < 2:
        raise ArgumentError(f"MATCHES compares {used.size} items", "at least two")
    if idle := prefs.n_items - used.size:
        warn(Assumption(f"MATCHES has {idle} items without a comparison, which are left out."))
        prefs = prefs[used]
    names = used if prefs.items is None else prefs.items
    n, weight = prefs.n_items, prefs.weight
    X = csr_array(eye_array(n))
    if is_orders:
        model = match_prior(RankSVM(kernel="linear", loss="plackett-luce"), X, prefs)
        compared = np.bincount(prefs.item, prefs.order_weight[prefs.order], n)
    else:
        model = match_prior(RankSVM(kernel="linear", loss="logistic"), X, prefs.merged())
        compared = np.bincount(np.r_[prefs.better, prefs.worse], np.r_[weight, weight], n)
    score = model.coef_ - model.coef_.mean()
    columns = dict(rank=ranks(score), item=list(map(str, names)), score=score)
    effects = zip(features, model.pair_coef_, model.pair_scale_, strict=True) if features else ()
    effects = [
        dict(name=name, weight=float(w), root_mean_square=float(size), effect=float(w * size))
        for name, w, size in effects
    ]
    remark = ""
    ends = (prefs.item, n + prefs.order) if is_orders else (prefs.better, prefs.worse)
    groups = components(ends, n + prefs.n_orders if is_orders else n)[:n]
    if not intervals and groups.max():
        remark = f"{groups.max() + 1} groups that no comparison connects"
    if intervals:
        options = dict(level=level, method=method)
        if method == "bootstrap":
            single = (weight == 1).all()
            if not is_orders:
                model.fit(X, prefs)
                single = single or prefs.n_ties and np.isin(weight, (0.5, 1.0)).all()
            unit = (None if single else "vote") if unit is None else unit
            options |= dict(unit=unit)
        found = order_intervals(model, X, **options)
        remark = found.remark
        more = ("score", "low", "high", "rank_low", "rank_high")
        columns |= {name: getattr(found, name) for name in more}
    table = pd.DataFrame(columns | dict(comparisons=compared))
    table = table.sort_values("rank", kind="stable", ignore_index=True)
    return table, float(model.lam_), remark, effects
