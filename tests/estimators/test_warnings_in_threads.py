"""Fits in several threads leave the filters of warnings as they were."""

import threading
import warnings

import numpy as np
import pytest

import rankbook as rb
from rankbook.problems.ranksvm import ProjectedProblem


def test_fits_that_overlap_leave_the_filters_alone(monkeypatch):
    """The fit that begins first ends first: saved filters would be restored in the wrong order."""
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 3
    first_has_begun, second_has_begun, first_has_ended = (threading.Event() for _ in range(3))
    of, done = ProjectedProblem.of, []

    def in_turns(exact, count):
        if count == 5:
            first_has_begun.set()
            assert second_has_begun.wait(60)
        else:
            second_has_begun.set()
            assert first_has_ended.wait(60)
        return of(exact, count)

    monkeypatch.setattr(ProjectedProblem, "of", in_turns)

    def fit(count):
        done.append(rb.RankSVM(gamma=1.0, approximate_kernel=count).fit(X, y))
        if count == 5:
            first_has_ended.set()

    threads = [threading.Thread(target=fit, args=(count,)) for count in (5, 6)]
    threads[0].start()
    assert first_has_begun.wait(60)
    threads[1].start()
    for thread in threads:
        thread.join(60)
    assert len(done) == 2
    assert not [each for each in warnings.filters if each[1] and "n_components" in each[1].pattern]


def test_a_smaller_basis_is_announced_in_the_words_of_the_estimator():
    X = np.repeat(np.arange(3.0), 4)[:, None]
    with pytest.warns(UserWarning) as caught:
        rb.RankSVM(gamma=1.0, approximate_kernel=9).fit(X, np.arange(12) % 3)
    (said,) = [str(each.message) for each in caught]
    assert said.startswith("approximate_kernel is 9, but only 3 items are used")
