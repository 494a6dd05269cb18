"""Reading solutions from events: a path written down by hand, its domain, and what it refuses."""

import numpy as np
import pytest

import rankbook as rb
from rankbook.paths.exact import AT_BOUND, EVENT, FREE, INACTIVE, RegularizationPath, sets_at
from rankbook.paths.replay import Checkpoint, PathIterator

# Three items on a line, w = 4/lam, 1/2, 2/lam, 1 for lam > 8 > 4 > 2: preferences (1, 0), (2, 0),
# (2, 1).
EVENTS = np.array(
    [
        (8, 1, AT_BOUND, FREE),
        (4, 1, FREE, INACTIVE),
        (2, 0, AT_BOUND, FREE),
        (1, 0, FREE, INACTIVE),
        (1, 2, AT_BOUND, FREE),
    ],
    dtype=EVENT,
)


@pytest.fixture
def line():
    return rb.RankSVMProblem(
        [[0.0], [1.0], [2.0]], rb.Preferences([1, 2, 2], [0, 0, 1], 3), kernel="linear"
    )


NONE = np.zeros(0, dtype=np.int64)


def by_hand(problem, events=EVENTS, status="complete", lam_end=0.0, **options):
    return RegularizationPath(problem, events, status, lam_end, **options)


def slope(lam):
    return 4 / lam if lam > 8 else 0.5 if lam > 4 else 2 / lam if lam > 2 else 1.0


# The same items with preferences (2, 0) of margin 8 and (0, 1) of margin -1, which is short of it
# for w > 1: w = 2/lam, 1, 1/lam, 4 for lam > 2 > 1 > 1/4.
ARRIVING = np.array(
    [(2, 1, INACTIVE, FREE), (1, 1, FREE, AT_BOUND), (0.25, 0, AT_BOUND, FREE)], dtype=EVENT
)


def arriving_slope(lam):
    return 2 / lam if lam > 2 else 1.0 if lam > 1 else 1 / lam if lam > 0.25 else 4.0


def test_every_lambda_reads_the_solution_written_down(line):
    path = by_hand(line)
    for lam in (1e6, 20, 8, 7.9, 4, 3.99, 3, 2, 1.99, 1.5, 1, 0.5, 1e-9):
        assert path.predict([[1.0], [-2.0]], lam) == pytest.approx(
            [slope(lam), -2 * slope(lam)], rel=1e-12
        )
        assert path.certificate(lam).is_optimal(1e-12)
        solution = path.solution(lam)
        assert solution.lam == lam and np.allclose(
            solution.coef, line.prefs.rmatvec(solution.dual) / lam
        )
    assert path.coef(0) @ line.X[:, 0] == pytest.approx(1.0) and path.certificate(0).is_optimal(
        1e-12
    )


def bound(m):
    return np.full(m, AT_BOUND, dtype=np.int8)


def test_sets_change_below_their_event_and_not_at_it():
    assert sets_at(EVENTS, bound(3), 8.0).tolist() == [AT_BOUND] * 3
    assert sets_at(EVENTS, bound(3), np.nextafter(8.0, 0)).tolist() == [AT_BOUND, FREE, AT_BOUND]
    assert sets_at(EVENTS, bound(3), 1.0).tolist() == [FREE, INACTIVE, AT_BOUND]
    assert sets_at(EVENTS, bound(3), 0.999).tolist() == [INACTIVE, INACTIVE, FREE]
    assert sets_at(EVENTS[:0], bound(3), 1e-9).tolist() == [AT_BOUND] * 3


def test_of_several_events_of_one_preference_at_one_lambda_the_last_counts():
    events = np.array(
        [(2, 0, AT_BOUND, FREE), (2, 0, FREE, INACTIVE), (2, 0, INACTIVE, FREE)], dtype=EVENT
    )
    assert sets_at(events, bound(1), 1.0).tolist() == [FREE]
    assert sets_at(events[:2], bound(1), 1.0).tolist() == [INACTIVE]


def test_breakpoints_are_the_distinct_lambdas(line):
    path = by_hand(line)
    assert path.breakpoints.tolist() == [8, 4, 2, 1] and path.breakpoints[0] == line.lam_max
    assert by_hand(line, EVENTS[:0]).breakpoints.size == 0


def test_outside_the_domain_is_refused_with_the_reason(line):
    path = by_hand(line, EVENTS[:3], "max_events", 2.0)
    assert path.domain == (2.0, np.inf)
    assert path.predict([[1.0]], 2.0) == pytest.approx([1.0])
    for read in (
        path.coef,
        path.dual,
        path.solution,
        path.certificate,
        lambda lam: path.predict([[1.0]], lam),
    ):
        with pytest.raises(ValueError, match=r"lam is 1\.9.*max_events.*lam >= 2"):
            read(1.9)
        with pytest.raises(ValueError, match="lam is 0"):
            read(0)


@pytest.mark.parametrize("lam", [-1.0, np.nan, np.inf, "1", [1.0], None, True])
def test_no_number_no_answer(line, lam):
    with pytest.raises((ValueError, TypeError), match="lam is"):
        by_hand(line).coef(lam)


def test_the_hard_margin_is_refused_where_preferences_are_short_of_it(line):
    with pytest.raises(ValueError, match="lam is 0, and .* have their margin"):
        by_hand(line, EVENTS[:4]).coef(0)


def test_new_items_of_the_wrong_shape(line):
    path = by_hand(line)
    with pytest.raises(ValueError, match="X_new"):
        path.predict([[1.0, 2.0]], 3.0)
    with pytest.raises(ValueError, match="(?i)X_new has nan in row 1, column 0"):
        path.predict([[1.0], [np.nan]], 3.0)
    assert path.predict(np.empty((0, 1)), 3.0).shape == (0,)


def test_knots_need_a_walker(line):
    with pytest.raises(ValueError, match="iterator"):
        next(by_hand(line).breakpoint_scores(np.ones((1, 1))))


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
@pytest.mark.parametrize(
    ("prefs", "events", "again", "slope"),
    [
        (rb.Preferences([1, 2, 2], [0, 0, 1], 3), EVENTS, Checkpoint(2, 4.0, NONE), slope),
        (
            rb.Preferences([2, 0], [0, 1], 3, margin=[8, -1]),
            ARRIVING,
            Checkpoint(1, 2.0, np.array([1])),
            arriving_slope,
        ),
    ],
    ids=["leaving the bound", "arriving at the bound"],
)
def test_knots_by_hand(line, kernel, prefs, events, again, slope):
    """The iterator starts above the path, and again after some events."""
    X, X_new = line.X, np.array([[1.0], [-3.0]])
    if kernel == "precomputed":
        X, X_new = X @ X.T, X_new @ X.T
    problem = rb.RankSVMProblem(X, prefs, kernel)
    walker = PathIterator((Checkpoint(0, 10.0, NONE), again), 1)
    blocks = list(by_hand(problem, events, iterator=walker).breakpoint_scores(X_new))
    assert len(blocks) == 2 and blocks[0][0][-1] == blocks[1][0][0] and blocks[-1][0][-1] == 0
    for lams, G in blocks:
        for lam, g in zip(lams, G):  # up to a level of all items
            assert g[0] - g[1] == pytest.approx(4 * lam * slope(lam), abs=1e-12)


def test_printing_says_how_it_ended(line):
    text = repr(by_hand(line, EVENTS[:3], "interrupted", 2.0))
    assert "interrupted" in text and "3 breakpoints" in text and "8" in text
    assert "0 breakpoints" in repr(by_hand(line, EVENTS[:0]))


def test_a_path_is_cut_at_a_lambda_that_it_has():
    path = rb.solve_path(rb.RankSVMProblem(np.eye(4), rb.Preferences.from_scores(np.arange(4.0))))
    lam = float(np.sqrt(path.breakpoints[0] * path.breakpoints[1]))
    part = path.cut(lam)
    assert part.status == "lam_min" and part.domain[0] == lam
    assert part.breakpoints.tolist() == path.breakpoints[:1].tolist()
    for wrong in ("foo", None, -1.0, np.nan, [1.0, 2.0]):
        with pytest.raises((ValueError, TypeError), match="^lam_end is .*. Pass a finite"):
            path.cut(wrong)
    with pytest.raises(ValueError, match="below the end of the path. Pass a number of at least"):
        part.cut(lam / 2)
    with pytest.raises(TypeError, match="reason is an int"):
        path.cut(lam, "lam_min", 3)


def test_the_status_of_a_path_is_one_of_six(line):
    assert by_hand(line).status.sentence
    with pytest.raises(ValueError, match="status is 'odd'. Pass one of: .*complete"):
        by_hand(line, status="odd")
