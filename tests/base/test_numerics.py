"""Numerical methods that several solvers use, where no solver's tests reach."""

import pytest

from rankbook.base.numerics import line_search


@pytest.mark.parametrize("start", [0.0, 0.5])
def test_there_is_no_step_without_a_slope_down(start):
    assert line_search(lambda t: start * t, start) == 0
