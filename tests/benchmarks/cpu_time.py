"""Processor time of a call, which a busy machine disturbs less than the clock."""

import time

import numpy as np


def cpu(function, rounds=1, of=np.median):
    """The median processor time of some calls, in seconds, and the last result.

    `of` may be another function of several times than the median.
    """
    times = []
    for _ in range(rounds):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return float(of(times)), result
