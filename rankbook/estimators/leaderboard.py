"""Leaderboards: scores and ranks of items from votes or orders.

Modules with compiled code are imported where they are used, so loading a file imports none.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..base.chance import as_seed
from ..base.errors import ArgumentError, Assumption
from ..base.limits import announce_time, import_extra, warn
from ..base.progress import on_one_blas_thread
from ..base.tables import count as count_of
from ..base.types import File, Seed
from ..base.validation import (
    as_array,
    as_choice,
    as_count,
    as_flag,
    as_numbers,
    as_positive,
    describe_value,
    unknown_name,
)
from ..data.vote_tables import VoteTable, as_column_list, read_votes
from ..preferences.events import ids_of_preferences
from ..preferences.names import similar_names
from ..preferences.target import Target
from ..preferences.votes import Votes, are_counts, dense_ranks
from ..problems.scale import components
from . import leaderboard_text
from .saving import Savable
from .score_errors import Comparison, DrawnErrors, NormalErrors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EQUAL = 10  # digits after the point in which scores of equal rank agree
ELO = 400 / np.log(10)  # points of the Elo scale for each unit of score
ALL = 2000  # largest number of items whose intervals are computed unasked
FEW = 10  # comparisons below which the interval of an item depends mostly on the prior
SHRUNK = 0.94  # share of differences determined by votes below which bootstraps are too short
SPARSE = 30  # comparisons of an item on average below which intervals may be too short
LEAST_PAIR = 50  # votes below which a pair does not get the same weight as others
SMALL = 1000  # items below which two threads of BLAS are hardly faster, or much slower
MAX_ROWS = 40  # largest number of rows of a printed table
# parameters of the fit that methods of a fitted leaderboard use
SETTINGS = ("scale", "anchor", "level", "simultaneous", "method", "min_votes")
SETTINGS += ("n_draws", "random_state")


def doubts(compared, rank, used, method):
    """Return reasons to doubt the intervals; usually there are none.

    Parameters
    ----------
    compared : ndarray of shape (n,)
        Number of votes on each item.
    rank : int
        Number of independent differences of scores.
    used : float
        Number of them that the votes determine rather than the prior, gamma in equation (4) of the
        chapter on votes; NaN if unknown.
    method : {"laplace", "bootstrap"}
    """
    n, said = len(compared), []
    if rank <= 2:
        said.append(f"with only {n} items, intervals depend on the precision of the prior")
    if compared.mean() < SPARSE:
        said.append(f"fewer than {SPARSE} votes on an item on average; intervals may be too short")
    if method == "bootstrap" and used < SHRUNK * rank:
        said.append("the bootstrap leaves out the error of the prior; intervals may be too short")
    if used < rank / 2:
        said.append("scores hardly differ by more than chance; intervals may be too long")
    return said


class Leaderboard(Savable):
    """Rank competitors from votes, matches or orders, with intervals of scores and ranks.

    An item beats another with probability 1 / (1 + exp(-difference of scores)), the model of
    Bradley and Terry. For orders of three or more items, the next item is chosen among the
    remaining ones with probability proportional to exp(score), the model of Plackett and Luce.
    With a small `lam`, scores and effects of published votes agree with those of the R packages
    BradleyTerry2 and PlackettLuce, and so do their standard errors. See the guide
    :doc:`/guides/leaderboard` and the chapter :doc:`/problems/votes`.

    Parameters
    ----------
    columns : dict, optional
        Columns and options of a table of votes, as for :func:`rankbook.read_preferences`: for
        example ``dict(winner="chosen", loser="other", pair_features=["length"])``. The key `form`
        names the form of the table.
    ties : {"half", "drop", "davidson", "refuse"}, default "half"
        Count a tie as half a win for each side, leave ties out, give them a probability of their
        own (Davidson, 1970), or raise an error.
    unit : str or list of str, optional
        Column of independent units, such as judges or days. Intervals then allow votes of a unit to
        depend on each other. By default all votes are independent.
    lam : float > 0, optional
        Precision of the normal prior of the scores. By default it is estimated from the votes by
        equation (4) of the chapter. The log-likelihood is divided by `phi_`, which is below 1 if
        ties count as half wins. The scores therefore equal those of a fit with ``loss="logistic"``
        and lam times phi_.
    pair_lam : float > 0, default 1.0
        Precision of the normal prior of the effect of each pair feature, where the effect is taken
        at the root mean square of the feature.
    intervals : bool or sequence of names, default True
        Whether to compute intervals, or the items for which to compute them. True computes none if
        there are more than 2000 items.
    level : float in (0, 1), default 0.95
        Probability with which an interval holds.
    simultaneous : bool, default False
        Whether all intervals of scores hold together with probability `level`, and likewise all
        intervals of ranks. Otherwise each one holds with this probability.
    method : {"laplace", "bootstrap"}, default "laplace"
        "laplace" is the normal approximation of the posterior. If there are units, or weights
        that are not numbers of votes, it uses the covariance (5) of the chapter. "bootstrap" fits
        the scores again to `n_draws` samples of votes or units, with the same prior. Its intervals
        leave out the shrinkage by the prior and are too short if items have few votes.
    rank_method : {"steps", "credible"}, default "steps"
        "steps" derives intervals of ranks from the pairs whose order the votes determine.
        "credible" takes percentiles of the ranks in draws of the scores. These intervals are
        shorter, but if several items are equally strong, they rarely contain the ranks of these
        items.
    scale : {"logit", "elo"}, default "logit"
        Unit of the scores in tables. "elo" multiplies by 400 / ln 10 and adds 1000.
    anchor : (name, number), optional
        An item and its score in tables. By default the mean is 0, or 1000 on the Elo scale.
    min_votes : int >= 0, default 0
        Items with fewer votes are not shown, and the others are ranked among themselves. Their
        votes still count.
    balance : bool, default False
        Whether all pairs of items have the same total weight, however often they are compared. A
        pair with fewer than 50 votes has a weight in proportion to their number.
    date : str, optional
        Column of dates, for `since` and `half_life`.
    since : str or date, optional
        First date that counts. Earlier votes are left out.
    half_life : str or float, optional
        Age at which a vote counts half as much as the latest vote: a string such as "90d", or a
        number of days.
    by : str or list of str, optional
        Columns that divide the votes into groups, for example by language. A leaderboard is fitted
        to the votes of each value of each column.
    n_draws : int >= 100, default 2000
        Number of draws for intervals of ranks, for simultaneous intervals and for the bootstrap.
    random_state : None, int, Generator or RandomState
        Seed of the draws; None is seed 0.

    Attributes
    ----------
    items_ : tuple of str
    score_ : ndarray of shape (n,)
        Scores in logits. The scores have mean 0 in each group of items that votes connect.
    table_ : DataFrame
        A row for each item, best first: rank, item, score, low, high, rank_low, rank_high,
        comparisons and notes.
    pair_table_ : DataFrame
        A row for each pair feature: feature, per, effect, low and high. `per` is the root mean
        square of the feature, and `effect` its effect at this value, in the unit of the table.
    pair_coef_ : ndarray of shape (k,)
        Effect of each pair feature at the value 1, in logits.
    lam_, phi_ : float
        The precision of the prior, and the factor by which ties reduce the variance of votes,
        equation (3) of :doc:`/problems/votes`.
    tie_ : float
        For ``ties="davidson"``, the parameter nu: two equal items tie with probability
        nu / (2 + nu).
    group_ : ndarray of shape (n,), int
        Group of each item. Votes do not connect items of different groups.
    certificate_ : Certificate
    notes_ : list of str
        Remarks on the fit, such as assumptions about the votes and reasons to doubt the intervals.
    tables_ : dict from (str, str) to Leaderboard
        With `by`, the leaderboard of each column and value.
    changes_ : DataFrame
        With `by`, the rank of each item in all votes and in the votes of each value.

    Examples
    --------
    >>> import pandas as pd
    >>> import rankbook as rb
    >>> rows = [("tea", "milk")] * 19 + [("milk", "tea")] + [("tea", "water"), ("water", "tea")] * 8
    >>> board = rb.Leaderboard().fit(pd.DataFrame(rows, columns=["winner", "loser"]))
    >>> board.table_["item"].tolist(), board.table_["rank_high"].tolist()
    (['tea', 'water', 'milk'], [2, 2, 3])
    >>> board.compare("tea", "milk").decided
    True
    """

    def __init__(  # noqa: PLR0913 -- a public parameter each
        self,
        *,
        columns: dict[str, Any] | None = None,
        ties: Literal["half", "drop", "davidson", "refuse"] = "half",
        unit: str | list[str] | None = None,
        lam: float | None = None,
        pair_lam: float = 1.0,
        intervals: Any = True,
        level: float = 0.95,
        simultaneous: bool = False,
        method: Literal["laplace", "bootstrap"] = "laplace",
        rank_method: Literal["steps", "credible"] = "steps",
        scale: Literal["logit", "elo"] = "logit",
        anchor: tuple[str, float] | None = None,
        min_votes: int = 0,
        balance: bool = False,
        date: str | None = None,
        since: Any = None,
        half_life: str | float | None = None,
        by: str | list[str] | None = None,
        n_draws: int = 2000,
        random_state: Seed = None,
    ):
        self.columns = columns
        self.ties = ties
        self.unit = unit
        self.lam = lam
        self.pair_lam = pair_lam
        self.intervals = intervals
        self.level = level
        self.simultaneous = simultaneous
        self.method = method
        self.rank_method = rank_method
        self.scale = scale
        self.anchor = anchor
        self.min_votes = min_votes
        self.balance = balance
        self.date = date
        self.since = since
        self.half_life = half_life
        self.by = by
        self.n_draws = n_draws
        self.random_state = random_state

    def fit(self, votes: Any, y: None = None, *, unit: ArrayLike | None = None) -> "Leaderboard":
        """Fit scores to votes or orders.

        If you change a parameter afterwards, such as `scale` or `level`, call `fit` again.

        Parameters
        ----------
        votes : data frame, dict of columns, path, Preferences or Orders
            A table has a row for each vote and is read like a file; see
            :func:`rankbook.read_preferences`. In preferences, two halves of a tie count as one tie.
        y : None
        unit : array-like of shape (m,), optional
            The unit of each vote, in place of a column.

        Raises
        ------
        ValueError
            If fewer than two items are compared, or the table cannot be read. The error names the
            row and the column.
        """
        self._check()
        fitted = clone(self)
        fitted._fit_all(votes, unit)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        kept = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
        vars(self).update(kept)  # nothing is kept of a fit that ends in an error
        return self

    def _fit_all(self, votes, unit):
        """Fit scores to a table, preferences or orders."""
        table = self._read(votes, unit)
        if not isinstance(table, VoteTable):
            self._check_orders(unit)
            if (pairs := Votes.of_orders(table)) is None:
                self._fit_orders(table)
                return
            table = VoteTable(pairs)
        if (idle := table.votes.weight == 0).any():
            few = f"({idle.sum():,} of {idle.size:,})"
            warn(Assumption(f"votes has rows of weight 0, which do not count {few}."))
            table = table.rows(~idle)
        if self.ties == "drop" and (tied := table.votes.tied > 0).any():
            if tied.all():
                raise ArgumentError("ties is 'drop' and every vote is a tie", "ties='half'")
            table = table.rows(~tied)
        self._used(table.votes.compared())
        self.notes_ = list(table.notes)
        few = np.count_nonzero(table.votes.compared()) < SMALL
        (on_one_blas_thread(self._fit_table) if few else self._fit_table)(table)

    def _fit_table(self, table):
        """Fit scores to a table of votes of positive weight, and to each of its groups."""
        self._fit_votes(table)
        if table.groups:
            self._fit_groups(table)

    def _fit_votes(self, table):
        """Fit scores to votes of positive weight."""
        from ..problems.votes import (
            LEAST_PHI,
            centre_groups,
            covariance,
            fit_votes,
            refit_resampled,
        )

        found, factor = table.votes, table.factor
        found = found.among(found.compared() > 0)
        compared, davidson = found.compared(), self.ties == "davidson"
        if davidson and not (found.tied > 0).any():
            raise ArgumentError("ties is 'davidson' and no vote is a tie", "ties='half'")
        self.features_ = table.features or tuple(
            f"pair feature {j}" for j in range(found.features.shape[1])
        )
        for name, column in zip(self.features_, found.features.T):
            if not column.any():
                raise ArgumentError(
                    f"pair_features has {name!r}, which is 0 in all votes", "a feature that varies"
                )
        if by_unit := found.unit is not None:
            number, names = dense_ranks(found.unit)
            if names.size < 2:
                raise ArgumentError(f"unit is {self.unit!r} with one value", "at least two units")
            found = replace(found, unit=number)
        if factor is not None:
            found = found.weighted(factor)
        if self.balance:
            found = found.balanced(LEAST_PAIR)
        whole, found = found.are_counts, found.counted()
        fit = fit_votes(found, self.lam, davidson, self.pair_lam)
        self.items_ = tuple(map(str, range(found.n_items) if found.items is None else found.items))
        self.lam_, self.phi_, self.certificate_ = fit.lam, fit.phi, fit.certificate
        self.score_, self.group_ = fit.scores, fit.problem.group
        self.pair_scale_, self.pair_coef_ = fit.problem.scale, fit.theta / fit.problem.scale
        if davidson:
            self.tie_ = float(np.exp(fit.w[-1]))
        if fit.phi <= LEAST_PHI or (found.tied == found.weight).all():
            self.notes_.insert(0, "nearly all votes are ties, which do not determine the scores")
        if whole and (found.weight % 1).any():
            self.notes_.append("weights are multiples of 1/2, read as numbers of votes")
        if self.method == "laplace" and not (whole or by_unit):
            self.notes_.append("weights do not count votes, so each vote is a unit of its own")
        if self.balance:
            self.notes_.append(f"all pairs with {LEAST_PAIR} votes or more have the same weight")
        if unclear := found.confounded(self.features_):
            said = "effects that the votes hardly tell apart from others"
            self.notes_.append(f"{said}: {', '.join(unclear)}")
        if sided := found.one_sided(self.features_):
            said = (
                "features with one sign in all votes also measure the advantage of the first place"
            )
            self.notes_.append(f"{said}: {', '.join(sided)}")
        r = names.size if by_unit else 0

        def errors(chosen):
            if self.method == "laplace":
                name = "laplace" if whole and not by_unit else "sandwich"
                V = covariance(fit, chosen, found if name == "sandwich" else None)
                return NormalErrors(V, found.freedom(), name)
            moved = refit_resampled(fit, found, self.n_draws, as_seed(self.random_state))
            n = found.n_items
            moved = moved[: n + fit.problem.k]
            moved[:n] = centre_groups(moved[:n], fit.problem.group)
            share = r / (r - 1) if by_unit else 1.0  # a sample varies less about its own mean
            return DrawnErrors(
                np.sqrt(share) * moved[np.r_[chosen, n : len(moved)]], found.freedom()
            )

        self._infer(compared, errors)
        if self.errors_ is not None:
            self.notes_ += doubts(found.compared(), fit.problem.rank, fit.used, self.method)
        if by_unit:
            name = " and ".join(as_column_list("unit", self.unit)) or "unit"
            said = f"votes of one {name} may depend on each other"
            self.notes_.insert(0, f"{said} ({r:,} of them)")

    def _fit_groups(self, table):
        """Fit a leaderboard to the votes of each value of the columns `by`."""
        self.tables_ = {}
        for name, (code, values) in table.groups.items():
            for number in np.argsort(values, kind="stable").tolist():
                part = table.rows(code == number)
                if len(part.votes) == 0:
                    continue
                board = clone(self).set_params(by=None)
                board.notes_ = []
                try:
                    board._fit_votes(part)
                except ArgumentError as error:  # such as one unit, or a feature that does not vary
                    self.notes_.append(
                        f"no table for {name} {values[number]}: {str(error).rstrip('.')}"
                    )
                else:
                    self.tables_[name, values[number]] = board

    @property
    def changes_(self):
        """The rank of each item in all votes and in the votes of each value of `by`."""
        found = pd.DataFrame({"item": self.table_["item"], "all votes": self.table_["rank"]})
        for (name, value), board in self.tables_.items():
            place = board.table_.set_index("item")["rank"].astype("Int64")
            found[f"{name} {value}"] = place.reindex(found["item"]).array
        return found

    def _check(self):
        """Check the parameters."""
        is_dict = isinstance(self.columns, dict) and all(
            isinstance(name, str) for name in self.columns
        )
        if self.columns is not None and not is_dict:
            raise ArgumentError(
                f"columns is {describe_value(self.columns)}", "a dict from str, or None"
            )
        for name in ("unit", "by", "date"):
            as_column_list(name, getattr(self, name))
        if self.anchor is not None:
            is_pair = isinstance(self.anchor, tuple | list) and len(self.anchor) == 2
            if not (is_pair and isinstance(self.anchor[1], Real) and np.isfinite(self.anchor[1])):
                raise ArgumentError(
                    f"anchor is {describe_value(self.anchor)}", "a pair (name, number)"
                )
        if not (isinstance(self.intervals, bool | list | tuple) or np.ndim(self.intervals) == 1):
            raise ArgumentError(
                f"intervals is {describe_value(self.intervals)}", "a bool or a list of names"
            )
        as_choice("ties", self.ties, ("half", "drop", "davidson", "refuse"))
        as_choice("method", self.method, ("laplace", "bootstrap"))
        as_choice("rank_method", self.rank_method, ("steps", "credible"))
        as_choice("scale", self.scale, ("logit", "elo"))
        if self.lam is not None:
            as_positive("lam", self.lam)
        as_positive("pair_lam", self.pair_lam)
        if as_positive("level", self.level) >= 1:
            raise ArgumentError(f"level is {self.level!r}", "a number > 0 and < 1")
        as_flag("simultaneous", self.simultaneous)
        as_count("n_draws", self.n_draws, low=100)
        as_count("min_votes", self.min_votes, low=0)
        as_flag("balance", self.balance)
        for name in ("since", "half_life"):
            if (value := getattr(self, name)) is not None and self.date is None:
                raise ArgumentError(
                    f"{name} is {value!r} and date is None", "a column of dates, such as date='day'"
                )
        if self.date is not None and self.since is None and self.half_life is None:
            raise ArgumentError(
                f"date is {self.date!r}, which has no effect alone",
                "half_life='90d' or since='2026-01-01' as well",
            )

    def _read(self, votes, unit):
        """The votes as :class:`VoteTable` or Orders."""
        if not isinstance(votes, Target):
            units, by = as_column_list("unit", self.unit), as_column_list("by", self.by)
            if unit is not None and units:
                raise ArgumentError(
                    f"unit is given to fit, and the Leaderboard has unit={units!r}",
                    "only one of the two",
                )
            more = dict(date=self.date, since=self.since, half_life=self.half_life, ties=self.ties)
            return read_votes(votes, self.columns, units, unit, by, **more)
        if votes.unit == "order":
            return votes
        for name in ("columns", "unit", "by", "date"):
            if getattr(self, name):
                raise ArgumentError(
                    f"{name} is {getattr(self, name)!r} and votes are Preferences, which have no "
                    "columns",
                    "a table",
                )
        given = None if unit is None else ids_of_preferences("unit", unit, votes)[1]
        found = Votes.of_preferences(votes, given)
        if self.ties == "refuse" and votes.n_ties:
            raise ArgumentError(
                f"ties is 'refuse' and votes has {votes.n_ties:,} ties",
                "ties='half', or votes without ties",
            )
        return VoteTable(found)

    def _used(self, compared):
        """Refuse votes on fewer than two items; warn about items without a vote."""
        if (compared > 0).sum() < 2:
            raise ArgumentError(
                "votes has no comparison of two items", "votes on at least two items"
            )
        if idle := int((compared == 0).sum()):
            what = f"{count_of(idle, 'item')} without a comparison"
            warn(Assumption(f"votes has {what}. The leaderboard leaves such items out."))

    def _check_orders(self, unit):
        """Refuse parameters that orders cannot have."""
        given = dict(unit=self.unit if unit is None else "an array", by=self.by, date=self.date)
        given |= dict(balance=self.balance or None, ties=self.ties if self.ties != "half" else None)
        for name, value in given.items():
            if value is not None:
                raise ArgumentError(
                    f"{name} is {value!r}, and the votes are orders", f"Omit {name} for orders."
                )

    def _fit_orders(self, orders):
        """Fit the model of Plackett and Luce to orders."""
        from scipy.sparse import csr_array, eye_array

        from ..problems.votes import centre_groups
        from .order_intervals import (
            Units,
            match_prior,
            posterior_root,
            resampled_scores,
            solution_of,
        )
        from .ranksvm import RankSVM

        weight, at = orders.order_weight, orders.is_compared
        compared = np.bincount(orders.item[at], weight[orders.order[at]], orders.n_items)
        self._used(compared)
        self.notes_, whole, factor = [], are_counts(weight), 1.0
        if not whole:  # as Votes.counted
            factor = weight.sum() / (weight**2).sum()
            orders = orders.of_orders(range(weight.size), np.full(weight.size, factor))
            worth = f"{factor * weight.sum():,.0f} orders"
            self.notes_.append(
                f"weights are not numbers of orders; together they carry the information of {worth}"
            )
        if np.bincount(orders.group, orders.choice_weight > 0).max() > 1:
            self.notes_.append(f"ties of orders are counted by the method {orders.ties!r}")
        kept = np.flatnonzero(compared > 0)
        self.items_ = tuple(str(i if orders.items is None else orders.items[i]) for i in kept)
        orders, compared = orders[kept], compared[kept]
        n, X = orders.n_items, csr_array(eye_array(orders.n_items))
        model = RankSVM(kernel="linear", loss="plackett-luce")
        if self.lam is None:
            match_prior(model, X, orders)
        else:
            model.set_params(lam=self.lam).fit(X, orders)
        self.lam_, self.phi_, self.certificate_ = model.lam_, 1.0, model.certificate_
        self.group_ = components((orders.item, n + orders.order), n + orders.n_orders)[:n]
        self.score_, self.features_ = centre_groups(model.coef_, self.group_), ()
        self.pair_scale_ = self.pair_coef_ = np.empty(0)
        rank = n - 1 - int(self.group_.max())

        def errors(chosen):
            solution, items, *_ = solution_of(model, X)
            root = centre_groups(posterior_root(solution, items)[0], self.group_)
            used = rank - self.lam_ * np.vdot(root, root)
            self.notes_ += doubts(factor * compared, rank, used, self.method)
            if self.method == "laplace":
                return NormalErrors(root[chosen] @ root[chosen].T)
            is_counted = not (weight % 1).any() and (weight != 1).any()
            units = Units(orders, "vote" if is_counted else None)
            seed = as_seed(self.random_state)
            moved = resampled_scores(solution, items, units, self.n_draws, 1, seed)
            return DrawnErrors((centre_groups(moved, self.group_) - self.score_[:, None])[chosen])

        self._infer(compared, errors)

    def _infer(self, compared, errors):
        """Compute intervals and the table; `errors` is a function of the chosen items."""
        self.compared_, asked = compared, self.intervals
        self.settings_ = {name: getattr(self, name) for name in SETTINGS}
        self.settings_["random_state"] = as_seed(self.random_state)
        shown = np.flatnonzero(compared >= self.min_votes)
        if shown.size == 0:
            raise ArgumentError(
                f"min_votes is {self.min_votes}",
                f"at most {compared.max():g}, the largest number of votes of an item",
            )
        if (hidden := compared.size - shown.size) > 0:
            said = f"items with fewer than {self.min_votes:,} votes are not shown"
            self.notes_.append(f"{said} ({hidden:,} of {compared.size:,})")
        if isinstance(asked, bool):
            if asked and shown.size > ALL:
                self.notes_.append(
                    f"no intervals for more than {ALL:,} items; intervals=[names] computes some"
                )
            asked = shown if asked and shown.size <= ALL else shown[:0]
        else:
            asked = np.unique(self._places("intervals", asked))
        self.chosen_, self.errors_, self.reach_, self.rank_ends_ = asked, None, None, None
        if self.intervals is not False and asked.size + self.pair_coef_.size:
            self.errors_ = errors(asked)
            self._bound(np.array_equal(asked, shown))
        groups = int(self.group_.max()) + 1
        if groups > 1:
            self.notes_.insert(0, f"{groups} groups that no comparison connects; each has mean 0")
        if alike := similar_names(self.items_):
            self.notes_.append(alike)
        self._tabulate()

    def _places(self, argument, names):
        """Return the positions (q,) of named items in `items_`."""
        known, found = {name: i for i, name in enumerate(self.items_)}, []
        for name in map(str, names):
            if name not in known:
                raise unknown_name(argument, name, self.items_)
            found.append(known[name])
        return np.array(found, dtype=np.intp)

    def _draws(self):
        """Draw errors (q, R) of the scores, which do not depend on the order of the items."""
        order = np.argsort(np.array(self.items_, dtype=object)[self.chosen_])
        given = self.settings_
        found = self.errors_.draws(order, given["n_draws"], given["random_state"])
        return found[np.argsort(order)]

    def _unit(self):
        """Return the factor and the offset that convert logits to the scale of the tables."""
        scale, anchor = self.settings_["scale"], self.settings_["anchor"]
        factor, offset = (ELO, 1000.0) if scale == "elo" else (1.0, 0.0)
        if anchor is not None:
            name, value = anchor
            offset = float(value) - factor * self.score_[self._places("anchor", [name])[0]]
        return factor, offset

    def _bound(self, is_all):
        """Compute half-widths (q + k,) of intervals in logits; if `is_all`, also rank intervals."""
        q, deviation = self.chosen_.size, self.errors_.deviations()
        self.reach_ = self.errors_.law.ppf((1 + self.level) / 2) * deviation
        draws = self._draws() if is_all or (self.simultaneous and q) else None
        if self.simultaneous and q:
            ratio = (np.abs(draws) / deviation[:q, None]).max(axis=0)
            self.reach_[:q] = deviation[:q] * np.quantile(ratio, self.level, method="higher")
        if is_all:
            self.rank_ends_ = np.array(self._rank_intervals(draws))

    def _tabulate(self):
        """Make `table_` and `pair_table_`."""
        from .rank_sets import ranks

        n, chosen = len(self.items_), self.chosen_
        factor, offset = self._unit()
        shown = np.flatnonzero(self.compared_ >= self.settings_["min_votes"])
        place = np.zeros(n, dtype=int)
        place[shown] = ranks(self.score_[shown].round(EQUAL))
        columns = dict(rank=place, item=self.items_, score=factor * self.score_ + offset)
        if chosen.size:
            span = np.full(n, np.nan)
            span[chosen] = factor * self.reach_[: chosen.size]
            columns |= dict(low=columns["score"] - span, high=columns["score"] + span)
            if self.rank_ends_ is not None:
                ends = np.zeros((2, n), dtype=int)
                ends[:, chosen] = self.rank_ends_
                columns |= dict(rank_low=ends[0], rank_high=ends[1])
        columns |= dict(comparisons=self.compared_, notes=self._item_notes())
        table = pd.DataFrame(columns).iloc[shown]
        self.table_ = table.sort_values("rank", kind="stable", ignore_index=True)
        effect = factor * self.pair_coef_ * self.pair_scale_
        pair = dict(feature=self.features_, per=self.pair_scale_, effect=effect)
        if self.errors_ is not None:
            reach = factor * self.reach_[chosen.size :]
            pair |= dict(low=effect - reach, high=effect + reach)
        self.pair_table_ = pd.DataFrame(pair)

    def _rank_intervals(self, draws):
        """Lowest and highest rank (q,) of each item that has an interval."""
        from .rank_sets import rank_ends, ranks, stepped_down

        score = self.score_[self.chosen_]
        if self.rank_method == "credible":
            if self.simultaneous:
                raise ArgumentError(
                    "rank_method is 'credible' and simultaneous is True", "simultaneous=False"
                )
            drawn = np.array([ranks(score + each) for each in draws.T])
            ends = np.quantile(drawn, [(1 - self.level) / 2, (1 + self.level) / 2], axis=0)
            return np.floor(ends[0]).astype(int), np.ceil(ends[1]).astype(int)
        seconds = 3e-9 * score.size**2 * self.n_draws
        with announce_time(seconds, "intervals of ranks", "pass intervals=[names]"):
            deviation, group = self.errors_.of_differences(score.size), self.group_[self.chosen_]
            apart = (deviation == 0) | (group[:, None] != group)
            deviation = np.where(apart, np.inf, deviation)
            decided = stepped_down(score, draws, deviation, self.level, self.simultaneous)
        return rank_ends(decided)

    def _item_notes(self):
        """Return a note on each item; usually it is empty."""
        few = np.where(self.compared_ < FEW, "few comparisons", "")
        return few.tolist()

    def compare(self, a: str, b: str) -> Comparison:
        """Compare two items: the difference of their scores, with an interval and a p-value.

        Raises
        ------
        ValueError
            If an item is unknown or has no interval, or no votes connect the two.
        """
        check_is_fitted(self)
        at = [self._places(name, [value])[0] for name, value in (("a", a), ("b", b))]
        if at[0] == at[1]:
            raise ArgumentError(f"a and b are both {a!r}", "two different items")
        if self.group_[at[0]] != self.group_[at[1]]:
            raise ArgumentError(
                f"{a!r} and {b!r} are not connected by votes", "items that are connected by votes"
            )
        missing = [self.items_[i] for i in at if i not in self.chosen_]
        if missing:
            raise ArgumentError(
                f"{missing[0]!r} has no interval", f"intervals={[str(a), str(b)]!r}"
            )
        at = np.searchsorted(self.chosen_, at)
        deviation = float(self.errors_.of_difference(*at))
        law, factor = self.errors_.law, float(self._unit()[0])
        difference = float(np.subtract(*self.predict([a, b])))
        ratio = difference / deviation if deviation > 0 else 0.0
        lead, level = factor * difference, self.settings_["level"]
        reach = factor * float(law.ppf((1 + level) / 2)) * deviation
        ends, p_value = (lead - reach, lead + reach), float(2 * law.sf(abs(ratio)))
        return Comparison(str(a), str(b), lead, *ends, float(law.cdf(ratio)), p_value, level)

    def predict(self, items: Any) -> np.ndarray:
        """Scores (q,) of items by name, in logits."""
        return self._scores("items", items)

    def _scores(self, argument, items):
        """Scores (q,) of a name or of names."""
        check_is_fitted(self)
        names = [items] if isinstance(items, str) else as_array(argument, items).ravel()
        return self.score_[self._places(argument, names)]

    def predict_proba(self, a: Any, b: Any, pair_features: ArrayLike | None = None) -> np.ndarray:
        """Probabilities of the outcomes of votes.

        Parameters
        ----------
        a, b : str, or sequences of q names
        pair_features : array-like of shape (k,) or (q, k), optional
            Values of the pair features as seen from `a`; 0 by default.

        Returns
        -------
        ndarray of shape (q, 2) or (q, 3)
            Probabilities that `a` wins and that `b` wins; for ``ties="davidson"`` that `a` wins,
            that they tie and that `b` wins.
        """
        ahead, behind = self._scores("a", a), self._scores("b", b)
        if ahead.shape != behind.shape:
            raise ArgumentError(
                f"a has {count_of(ahead.size, 'name')} and b has {behind.size}",
                "the same number of names",
            )
        t = ahead - behind
        if pair_features is not None:
            given = np.atleast_1d(as_numbers("pair_features", pair_features))
            if given.shape[-1:] != self.pair_coef_.shape or given.shape[:-1] not in ((), t.shape):
                raise ArgumentError(
                    f"pair_features has shape {given.shape}",
                    count_of(self.pair_coef_.size, "column"),
                )
            t = t + given @ self.pair_coef_
        if not hasattr(self, "tie_"):
            return np.column_stack([expit(t), expit(-t)])
        value = np.column_stack([t / 2, np.full_like(t, np.log(self.tie_)), -t / 2])
        value = np.exp(value - value.max(axis=1, keepdims=True))
        return value / value.sum(axis=1, keepdims=True)

    def score(self, votes: Any, y: None = None) -> float:
        """Mean log-likelihood of a vote, the negative log loss.

        A tie counts as two half votes, or for ``ties="davidson"`` as an outcome of its own. The
        weights of the votes are those of the table; `since`, `half_life` and `balance` affect only
        the fit. Votes on unknown items, or on two items that no votes of the fit connect, raise an
        error.
        """
        check_is_fitted(self)
        found = Leaderboard(columns=self.columns)._read(votes, None)
        if not isinstance(found, VoteTable):
            raise ArgumentError("votes are orders", "votes or matches")
        found = found.votes
        names = range(found.n_items) if found.items is None else found.items
        place = self._places("votes", names)
        a, b, k = place[found.first], place[found.second], found.features.shape[1]
        if (apart := self.group_[a] != self.group_[b]).any():
            i = int(apart.argmax())
            pair = f"{self.items_[a[i]]!r} and {self.items_[b[i]]!r}"
            raise ArgumentError(
                f"votes compare {pair}, which no votes of the fit connect",
                "only items that votes of the fit connect",
            )
        if k != self.pair_coef_.size:
            raise ArgumentError(
                f"votes have {k} pair features and the model has {self.pair_coef_.size}",
                f"votes with {self.pair_coef_.size} pair features",
            )
        if not found.weight.any():
            raise ArgumentError("votes have weight 0", "at least one vote of positive weight")
        t = self.score_[a] - self.score_[b] + found.features @ self.pair_coef_
        if hasattr(self, "tie_"):
            lean, eta = found.points - found.weight / 2, np.log(self.tie_)
            loss = found.weight * np.logaddexp(np.logaddexp(t / 2, -t / 2), eta)
            loss -= lean * t + found.tied * eta
        else:
            loss = found.weight * np.logaddexp(0, t) - found.points * t
        return float(-loss.sum() / found.weight.sum())

    def top(self, k: int = 1) -> pd.Series:
        """Probability that each item is among the first k, from draws of the scores."""
        check_is_fitted(self)
        if self.chosen_.size < len(self.table_):
            raise ArgumentError(
                "intervals do not cover all items", f"intervals=True and at most {ALL:,} items"
            )
        k = as_count("k", k, low=1)
        names = np.array(self.items_, dtype=object)[self.chosen_]
        drawn = self.score_[self.chosen_, None] + self._draws()
        first = (-drawn).argsort(axis=0)[:k]
        share = np.bincount(first.ravel(), minlength=names.size) / drawn.shape[1]
        found = pd.Series(share, pd.Index(names, name="item"), name=f"first {k}")
        return found.sort_values(ascending=False, kind="stable")

    @property
    def remark(self) -> str:
        """Text on the meaning of the intervals, the effects of pair features, and notes."""
        check_is_fitted(self)
        return "; ".join(leaderboard_text.remarks(self))

    def to_frame(self) -> pd.DataFrame:
        """The tables of all votes and of each value of `by` as one data frame.

        The columns lam, phi and remarks have the same value in all rows of a table.
        """
        check_is_fitted(self)
        return leaderboard_text.frame(self)

    def to_markdown(self) -> str:
        """The tables in Markdown, each with its remark below it."""
        check_is_fitted(self)
        return leaderboard_text.markdown(self)

    def write(self, file: File) -> None:
        """Write the tables to a file in the format of its ending.

        Parameters
        ----------
        file : str or path
            ``.md``, ``.html``, ``.tex``, ``.json``, ``.csv``, ``.tsv`` or ``.parquet``.

        Notes
        -----
        In ``.csv`` and ``.tsv`` files an apostrophe precedes text that a spreadsheet would run as a
        formula. The item ``=1+1`` is ``'=1+1`` there. Programs that read names back should take
        ``.parquet`` or ``.json`` files, which keep them unchanged, or ``to_frame().to_csv(file)``.
        """
        check_is_fitted(self)
        leaderboard_text.write(self, file)

    def plot(self, ax: "Axes | None" = None, k: int = 30) -> "Axes":
        """Plot the scores with their intervals, the best item first.

        Parameters
        ----------
        ax : matplotlib Axes, default a new figure's
        k : int, default 30
            Number of items to show.

        Returns
        -------
        matplotlib Axes
        """
        check_is_fitted(self)
        table = self.table_.head(as_count("k", k))
        if ax is None:
            plt = import_extra("matplotlib.pyplot", "plots", "a figure")
            size = (4.8, 0.8 + 0.2 * len(table))
            ax = plt.subplots(figsize=size, layout="constrained")[1]
        place = np.arange(len(table))
        if "low" in table:
            ax.hlines(place, table["low"], table["high"], color="C0", lw=3, alpha=0.4)
        ax.plot(table["score"], place, "o", color="C0", ms=4)
        ax.set_yticks(place, [name.replace("$", r"\$") for name in table["item"]])
        ax.set(xlabel="score", ylim=(len(table) - 0.5, -0.5))
        return ax

    def __str__(self) -> str:
        return leaderboard_text.text(self, MAX_ROWS) if hasattr(self, "table_") else repr(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        if not hasattr(self, "table_"):
            return super()._repr_mimebundle_(**options)
        return {"text/plain": str(self), "text/html": leaderboard_text.html(self, MAX_ROWS)}
