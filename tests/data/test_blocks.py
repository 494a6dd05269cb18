"""Sums over blocks of whole queries."""

import numpy as np
import pytest

from rankbook.data.blocks import Block, BlockedItems, Blocks, Parts, Stored, added, block_facts
from rankbook.kernels.items import matvec, rmatvec


def in_blocks(sizes, d=3, seed=0):
    """Blocks of those sizes, one query each, and their rows in one matrix."""
    rng = np.random.default_rng(seed)
    X, ends = rng.normal(size=(sum(sizes), d)), np.cumsum(sizes)
    parts = np.split(X, ends[:-1])
    y = [np.arange(n) for n in sizes]
    blocks = [
        Block(Z, v, np.full(len(Z), k), name=f"b{k}") for k, (Z, v) in enumerate(zip(parts, y))
    ]
    return Blocks(blocks), X


def test_products_are_those_of_the_whole():
    blocks, X = in_blocks((4, 1, 7))
    Z, w = BlockedItems(blocks, X.shape), np.array([1.0, -2.0, 0.5])
    f = matvec(Z, w)
    assert np.allclose(np.concatenate(f.values), X @ w)
    assert np.allclose(rmatvec(Z, f), X.T @ (X @ w))
    assert np.isclose(f @ f, (X @ w) @ (X @ w)) and Z.T.shape == (3, 12) and Z.T.T.shape == X.shape
    both = np.concatenate((np.float64(2.0) * f + f - f).values)
    assert np.allclose(both, 2 * (X @ w))


def test_a_stored_block_is_read_for_each_pass_over_the_items_alone():
    blocks, X = in_blocks((4, 5))
    read = []

    def reader(block):
        return Stored(lambda: read.append(block.name) or block)

    stored = Blocks(map(reader, blocks.items.values))
    assert stored.is_stored and not blocks.is_stored and len(stored) == 2
    f = matvec(BlockedItems(stored, X.shape), np.ones(3))
    assert read == ["b0", "b1"]
    assert (f + f) @ f > 0 and read == ["b0", "b1"]


def test_results_are_added_in_the_order_of_the_blocks():
    blocks, _ = in_blocks((1,) * 5)
    found = blocks.reduce(lambda block: [block.name], blocks.items)
    assert found == ["b0", "b1", "b2", "b3", "b4"]
    assert added((1, (2.0, [3])), (10, (20.0, [30]))) == (11, (22.0, [3, 30]))
    assert blocks.reduce(lambda value: value, Parts(blocks, range(5)), combine=max) == 4


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            dict(X=[[0.0, 1], [np.nan, 2]], y=[0, 1], first=100),
            r"\(from row 100\): X has NaN in row 1",
        ),
        (dict(X=np.ones((2, 2)), y=np.arange(3)), ": y has"),
        (dict(X=np.ones((2, 2)), y=[0, np.inf]), ": y has"),
        (dict(X=np.ones((2, 2)), y=[0, 1], weight=[1.0, -1.0]), ": weight"),
        (dict(X=np.ones((2, 2)), y=[0, 1], qid=[1]), ": qid has"),
    ],
)
def test_what_is_wrong_in_a_block_is_named(given, words):
    with pytest.raises(ValueError, match="^odd ?" + words):
        Block(**given, name="odd")


@pytest.mark.parametrize(
    ("others", "words"),
    [
        (
            [Block(np.ones((2, 3)), [0, 1], [2, 2], name="wide")],
            "wide has 3 features and good",
        ),
        ([Block(np.ones((2, 2)), [0, 1], name="bare")], "bare has no qid"),
        (
            [Block(np.ones((2, 2)), [0, 1], [0, 1], name="next")],
            "the query 1 is in good and in",
        ),
    ],
)
def test_blocks_that_do_not_fit_together(others, words):
    good = Block(np.ones((2, 2)), np.arange(2), np.array([1, 1]), name="good")
    with pytest.raises(ValueError, match=words):
        block_facts(Blocks([good, *others]))


def test_there_is_at_least_one_block():
    with pytest.raises(ValueError, match="blocks is empty; at least one"):
        Blocks([])


def test_a_block_that_borrows():
    X = np.ones((2, 2))
    assert np.shares_memory(Block(X, [0, 1], copy=False).X, X)
    assert not np.shares_memory(Block(X, [0, 1]).X, X)
    assert not Block(X, [0, 1], copy=False).X.flags.writeable
