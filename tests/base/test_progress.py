"""The bar that solvers share."""

import pytest

from rankbook.base.progress import progress_bar


def test_a_bar_counts_and_says_how_far(capsys):
    bar = progress_bar(True, "steps")
    with bar as tell:
        for step in range(1, 4):
            tell(step, f"gap {10.0**-step:.0e}")
        assert bar.bar.n == 3 and "gap 1e-03" in str(bar.bar) and "steps" in str(bar.bar)
    assert bar.bar.disable  # closed
    assert "steps" in capsys.readouterr().err


def test_an_exception_closes_it():
    bar = progress_bar(True, "steps")
    with pytest.raises(KeyboardInterrupt), bar:
        raise KeyboardInterrupt
    assert bar.bar.disable


def test_a_silent_one_says_nothing(capsys):
    with progress_bar(False, "steps") as tell:
        tell(1, "gap 1")
    assert capsys.readouterr() == ("", "")
