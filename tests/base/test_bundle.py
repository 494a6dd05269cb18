"""Bundles of arrays, where a pointer to what is gone would show."""

import copy
import pickle
import sys
from collections import namedtuple

import numba
import numpy as np
import pytest

from rankbook.base.jit import Bundle, in_place, record
from rankbook.solvers.path.follower import Log


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
    with pytest.raises(TypeError, match="b is of numba's type float64. Pass an array or a record"):
        numba.typeof(Pair(np.zeros(1), 1.0))


class Mixed(Bundle, namedtuple("Mixed", "whole part empty small count")):
    __slots__ = ()


@in_place
def look(s):
    total = 0.0
    for i in range(s.whole.shape[0]):
        for j in range(s.whole.shape[1]):
            total += s.whole[i, j]
    for k in range(s.part.size):
        total += s.part[k]
    for k in range(s.small.size):
        s.small[k] += 1
    s.count.looks += 1
    return total, s.empty.size, s.part.strides[0], s.whole.itemsize


@pytest.mark.parametrize("order", "CF")
def test_arrays_of_every_kind(order):
    whole, numbers = np.array(np.arange(12.0).reshape(3, 4), order=order), np.arange(10.0)
    arrays = numbers[::3], np.zeros(0, dtype=np.int32), np.zeros(3, dtype=np.int8)
    s = Mixed(whole, *arrays, record(looks=0))
    assert look(s) == (whole.sum() + numbers[::3].sum(), 0, 24, 8)
    assert look(s._replace(part=numbers[:4:2]))[0] == whole.sum() + 2
    assert s.small.tolist() == [2, 2, 2] and s.count.looks == 2
    longer = Mixed(np.zeros((9, 9), order=order), *arrays, record(looks=0))
    assert numba.typeof(longer) == numba.typeof(s) != numba.typeof(s._replace(part=whole))
