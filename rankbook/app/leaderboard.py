"""Leaderboards: scores and ranks of items from preferences or orders of them alone."""

from rankbook.base.errors import ArgumentError


def leaderboard(prefs, intervals=False, level=0.95, method=None, unit=None, features=()):
    """A Bradley-Terry or Plackett-Luce model of items without features, best item first.

    Parameters
    ----------
    prefs : Preferences or Orders
        A list of pairs, in which a tie is two halves, or orders. Items that none compares are left
        out.
    intervals : bool, default False
        Whether scores and ranks get intervals.
    level, method
        As in :func:`rankbook.order_intervals`. The bootstrap draws orders, preferences, or votes if
        preferences have other weights than 1.
    unit : ndarray of shape (m,), int, optional
        The group of each preference, in whose place the bootstrap draws groups.
    features : sequence of str
        Names of the pair features.

    Returns
    -------
    table : DataFrame
        With the columns rank, item, score, low, high, rank_low, rank_high and comparisons; without
        `intervals` only rank, item, score and comparisons. Of orders, comparisons are the orders
        that the item is in.
    lam : float
        The regularization parameter, for which the variance of the scores is 1/lam.
    remark : str
        How intervals are to be read, and the weights of pair features, or an empty text.

    Notes
    -----
    Equal pairs are added up first, so that a fit costs O(n + k) a step for k different pairs.
    Intervals cost O(n^3) for n items.
    """
    import numpy as np
    import pandas as pd
    from scipy.sparse import csr_array, eye_array

    from rankbook.estimators.order_intervals import match_prior, order_intervals, ranks
    from rankbook.estimators.ranksvm import RankSVM
    from rankbook.preferences.orders import Orders

    is_orders = isinstance(prefs, Orders)
    used = np.unique(prefs.item if is_orders else np.r_[prefs.better, prefs.worse])
    if used.size < 2:
        raise ArgumentError(f"MATCHES compares {used.size} items", "at least two")
    prefs = prefs if used.size == prefs.n_items else prefs[used]
    names = used if prefs.items is None else prefs.items
    n, weight = prefs.n_items, prefs.weight
    X = csr_array(eye_array(n))
    if is_orders:
        model = match_prior(RankSVM(kernel="linear", loss="plackett-luce"), X, prefs)
        compared = np.bincount(prefs.item, minlength=n)
    else:
        model = match_prior(RankSVM(kernel="linear", loss="logistic"), X, prefs.merged())
        compared = np.bincount(np.r_[prefs.better, prefs.worse], np.r_[weight, weight], n)
    score = model.coef_ - model.coef_.mean()
    columns = dict(rank=ranks(score), item=list(map(str, names)), score=score)
    pair_coef = model.pair_coef_ if features else ()
    remarks = [f"{name} {weight:+.3f}" for name, weight in zip(features, pair_coef, strict=True)]
    if intervals:
        options = dict(level=level, method=method)
        if method == "bootstrap" and not is_orders:
            model.fit(X, prefs)
            single = (weight == 1).all() or prefs.n_ties and np.isin(weight, (0.5, 1.0)).all()
            unit = (None if single else "vote") if unit is None else unit
            options |= dict(unit=unit)
        found = order_intervals(model, X, **options)
        remarks.insert(0, found.remark)
        more = ("score", "low", "high", "rank_low", "rank_high")
        columns |= {name: getattr(found, name) for name in more}
    table = pd.DataFrame(columns | dict(comparisons=compared))
    table = table.sort_values("rank", kind="stable", ignore_index=True)
    return table, model.lam_, "; ".join(remarks)
