"""Paths made again from what a file holds."""

import numpy as np

from ..base.validation import as_positive
from ..problems.rankrls import RankRLSProblem
from ..problems.ranksvm import RankSVMProblem
from ..problems.rayleigh import RayleighProblem
from ..problems.spectrum import Spectrum
from .exact import RegularizationPath
from .files import are_indices, demand, finite, unpack_events
from .labels import LabelPath
from .spectral import ManifoldPath
from .sets import EVENT, FREE, first_sets, free_after
from .spectral import SpectralPath, WeightPath

STATUSES = ("complete", "lam_min", "max_events", "interrupted", "rounding", "numerical")


def _event_path(problem, facts, checkpoint_events, checkpoint_lam, **columns):
    demand(isinstance(problem, RankSVMProblem), "problem")
    events, iterator, lam_end = unpack_events(EVENT, **columns), None, facts["lam_end"]
    check_events(events, first_sets(problem.prefs))
    # a perturbation of the margins moves the last event by less than 1 %
    demand(not events.size or lam_end <= 1.01 * events["lam"][-1], "lam_end is above the events")
    if checkpoint_events is not None:
        iterator = _iterator(events, checkpoint_events, checkpoint_lam)
    return RegularizationPath(problem, events, facts["status"], lam_end, iterator, facts["info"])


def check_events(events, first):
    """Refuse events that cannot be those of a path from the first sets (m,) on.

    O(m + T log T). Compiled code trusts them.
    """
    lam, pair, origin, to = (events[name] for name in EVENT.names)
    demand(is_falling(lam), "event_lam rises or is no lambda")
    demand(are_indices(pair, first.size), f"event_pair is outside 0 to {first.size - 1}")
    demand(are_indices(origin, 3) and are_indices(to, 3), "event_from or event_to is no set")
    demand((origin != to).all(), "event_from and event_to are no change of a set")
    order = np.argsort(pair, kind="stable")
    is_first = np.r_[True, np.diff(pair[order]) > 0][: len(order)]
    before = np.where(is_first, first[pair[order]], np.roll(to[order], 1))
    demand((origin[order] == before).all(), "event_from is not where a preference was")


def is_falling(lams):
    """Whether lambdas are finite, positive and do not rise."""
    return np.isfinite(lams).all() and (lams > 0).all() and (np.diff(lams) <= 0).all()


def _iterator(events, numbers, lams):
    """The iterator with checkpoints after so many events, at these lambdas. O(T)."""
    # here, since it brings numba, and a list of solvers should not
    from rankbook.paths.replay import Checkpoint, PathIterator

    demand(are_indices(numbers, len(events) + 1) and numbers.size, "checkpoint_events")
    demand(numbers[0] == 0 and (np.diff(numbers) >= 0).all(), "the checkpoints are in no order")
    demand(is_falling(finite("checkpoint_lam", lams, numbers.shape)), "checkpoint_lam")
    sizes = np.cumsum((events["to"] == FREE) * 1 - (events["from"] == FREE))
    points = zip(numbers.tolist(), lams.tolist(), free_after(events, numbers.tolist()))
    return PathIterator(tuple(Checkpoint(*p) for p in points), int(sizes.max(initial=0)))


def _label_path(problem, facts, **parts):
    return LabelPath(problem, _event_path(problem.ranking, facts, **parts))


def _spectrum(left, values, right, p, k):
    """The spectrum of p coefficients for k columns."""
    r = values.size
    spectrum = Spectrum(
        finite("left", left, (p, r)), finite("values", values, (r,)), finite("right", right, (r, k))
    )
    demand((values >= 0).all(), "values are negative")
    return spectrum


def _spectral_path(problem, facts, **parts):
    if isinstance(problem, RayleighProblem):
        p, k = problem.coef_shape[0], 1
    else:
        demand(isinstance(problem, RankRLSProblem) and not problem.coef_is_weights, "problem")
        p, k = problem.n_coef, problem.target.b.shape[1]
    return SpectralPath(problem, _spectrum(**parts, p=p, k=k), facts["info"])


def _weight_path(problem, facts, normal, **parts):
    demand(isinstance(problem, RankRLSProblem) and not problem.coef_is_weights, "problem")
    demand(problem.is_factored and problem.basis is None, "normal")
    p = problem.X.shape[1]
    spectrum = _spectrum(**parts, p=p, k=problem.target.b.shape[1])
    return WeightPath(problem, spectrum, finite("normal", normal, (p, p)), facts["info"])


def _manifold_path(problem, facts, **parts):
    demand(isinstance(problem, RayleighProblem), "problem")
    found, lam = _spectrum(**parts, p=problem.coef_shape[0], k=1), facts["info"]["lam"]
    lam = as_positive("lam", lam, zero=True)
    return ManifoldPath(problem, lam, (found.left, found.values, found.right[:, 0]))


FORMS = dict(
    events=_event_path,
    labels=_label_path,
    spectrum=_spectral_path,
    weights=_weight_path,
    manifold=_manifold_path,
)


def check_said(status, lam_end, info, solver, tol):
    """Refuse what a file says of a path if it does not fit together."""
    lam_end = as_positive("lam_end", lam_end, zero=True)
    demand(status in STATUSES, f"status is {status!r}")
    demand((lam_end > 0) != (status == "complete"), f"status is {status!r} and lam_end {lam_end}")
    demand(isinstance(info, dict), "info is no dict")
    demand(isinstance(solver, str) and solver.isprintable(), f"solver is {solver!r}")
    demand(tol is None or as_positive("tol", tol), "tol")
