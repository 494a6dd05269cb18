"""Bundles of arrays, where a pointer to what is gone would show."""

import copy
import pickle
import sys
from collections import namedtuple

import numba
import numpy as np
import pytest

from rankbook.base.bundle import Bundle
from rankbook.base.jit import in_place
from rankbook.solvers.path.events import Log


class Pair(Bundle, namedtuple("Pair", "a b")):
    __slots__ = ()


@in_place
def add_one(s):
    for i in range(s.a.size):
        s.a[i] += 1
    return s.b.shape[0]


def test_copies_have_their_own_arrays():
    log = Log(np.zeros(3), *(np.zeros(3, dtype=kind) for kind in (np.int32, np.int8, np.int8)))
    for other in (
        copy.deepcopy(log),
        pickle.loads(pickle.dumps(log)),
        log._replace(lam=np.ones(3)),
    ):
        assert type(other) is Log and other.table != log.table
    pair = Pair(np.zeros(3), np.zeros((2, 2)))
    other = copy.deepcopy(pair)
    assert add_one(pair) == 2 and pair.a.sum() == 3 and other.a.sum() == 0


def test_nothing_is_kept_after_a_call():
    pair = Pair(np.zeros(3), np.zeros(1))
    add_one(pair)
    before = sys.getrefcount(pair), sys.getrefcount(pair.a)
    blocks = sys.getallocatedblocks()
    for _ in range(1000):
        add_one(pair)
    assert (sys.getrefcount(pair), sys.getrefcount(pair.a)) == before
    assert sys.getallocatedblocks() - blocks < 500 and pair.a[0] == 1001


def test_a_field_that_is_no_array():
    with pytest.raises(TypeError, match="b is of numba's type float64; an array or a record"):
        numba.typeof(Pair(np.zeros(1), 1.0))
