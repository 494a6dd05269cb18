"""Sums over blocks of whole queries."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler

from rankbook.data.blocks import (
    Block,
    BlockedItems,
    Blocks,
    Parts,
    Stored,
    add_results,
    block_facts,
)
from rankbook.kernels.items import matvec, rmatvec
from rankbook.preferences.graph import Preferences


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
    assert add_results((1, (2.0, [3])), (10, (20.0, [30]))) == (11, (22.0, [3, 30]))
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
        (dict(X=np.ones((0, 2)), y=[]), ": X has no rows. Pass at least one"),
        (dict(X=csr_array((0, 2)), y=[]), ": X has no rows. Pass at least one"),
        (
            dict(X=np.ones((1, 2)), y=[1], feature_names=["a"]),
            ": feature_names has length 1. Pass 2 names",
        ),
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
            "blocks have the query 1 in good and in",
        ),
        (
            [Block(np.ones((2, 2)), [0, 1], ["1", "1"], name="words")],
            "words has query ids that are text, and those of good are numbers. Pass query ids",
        ),
        (
            [Block(np.ones((2, 2)), [0, 1], np.array(["1", "2"], object), name="words")],
            "words has query ids that are text",
        ),
        (
            [Block(np.ones((2, 2)), [0, 1], np.array(["2020", "2021"], "M8[s]"), name="dates")],
            r"dates has query ids that are datetime64\[s\], and those of good are numbers",
        ),
        (
            [Block([[1.0, 2], [1, 1e200]], [0, 1], [2, 2], name="huge", first=7)],
            r"huge \(from row 7\): X has 1e\+200 in row 1, column 1. Pass .* 1e\+100",
        ),
        (
            [Block(np.ones((2, 2)), [0, 1], [2, 2], name="named", feature_names=["a", "b"])],
            "good has no feature names, but another block has",
        ),
    ],
)
def test_blocks_that_do_not_fit_together(others, words):
    good = Block(np.ones((2, 2)), np.arange(2), np.array([1, 1]), name="good")
    with pytest.raises(ValueError, match=words):
        block_facts(Blocks([good, *others]))


def test_names_in_another_order():
    two = [
        Block(np.ones((1, 2)), [1], [k], name=f"b{k}", feature_names=names)
        for k, names in enumerate((["a", "b"], ["b", "a"]))
    ]
    with pytest.raises(
        ValueError, match="b1 has 'b' in column 0 and b0 has 'a'. Pass the same names"
    ):
        block_facts(Blocks(two))


def test_ids_of_one_kind_that_differ_in_type():
    ids = (np.array([2**53, 2**53 + 1]), np.array([2**53 + 2], np.uint64), np.array([5.0]))
    ids += (np.array([2**70, 2**70 + 1], object), np.array([7], np.int8))
    facts = block_facts(Blocks(Block(np.ones((len(q), 1)), np.arange(len(q)), q) for q in ids))
    assert facts.rows == [2, 1, 1, 2, 1]
    with pytest.raises(ValueError, match="the query 7.0 in block 4 and in block 5"):
        block_facts(
            Blocks(
                Block(np.ones((len(q), 1)), np.arange(len(q)), q) for q in (*ids, np.array([7.0]))
            )
        )


def test_entries_that_are_all_too_small():
    small = Block([[1e-200]], [1], [1])
    with pytest.raises(
        ValueError,
        match="X has no number above 1e-200 in absolute value. Pass numbers of at least 1e-150",
    ):
        block_facts(Blocks([small]))
    block_facts(Blocks([small, Block([[1.0]], [1], [2])]))


def test_names_are_those_of_a_data_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[0.0, 1.0], [2.0, 3.0]], columns=["age", "size"])
    block = pickle.loads(pickle.dumps(Block(frame, [0, 1], [1, 1])))
    assert block.feature_names == ("age", "size") and block.named_items().equals(frame)
    assert block_facts(Blocks([block])).feature_names == ("age", "size")
    numbered = Block(frame.set_axis([0, 1], axis=1), [0, 1])
    assert numbered.feature_names is None and numbered.named_items() is numbered.X
    with pytest.raises(
        TypeError, match="block: X has columns named 'age', 1. Pass only names that are"
    ):
        Block(frame.set_axis(["age", 1], axis=1), [0, 1])
    sparse = Block(csr_array(frame.to_numpy()), [0, 1], feature_names=["age", "size"])
    assert sparse.named_items() is sparse.X


def test_there_is_at_least_one_block():
    with pytest.raises(ValueError, match="blocks is empty. Pass at least one"):
        Blocks([])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (3, "blocks is an int. Pass a list of Block"),
        (Block([[1.0]], [1]), "blocks is a Block. Pass a list of Block"),
        ([Block([[1.0]], [1]), 3], r"blocks\[1\] is an int. Pass rankbook.Block"),
    ],
)
def test_what_is_no_block(wrong, words):
    with pytest.raises(TypeError, match=words):
        Blocks(wrong)


def test_a_block_that_borrows():
    X = np.ones((2, 2))
    assert np.shares_memory(Block(X, [0, 1], copy=False).X, X)
    assert not np.shares_memory(Block(X, [0, 1]).X, X)
    assert not Block(X, [0, 1], copy=False).X.flags.writeable


@pytest.mark.parametrize(
    "names, error, says",
    [
        ("ab", TypeError, "^block: feature_names is 'ab'. Pass a list of names"),
        (7, TypeError, "^block: feature_names is 7. Pass a list of names"),
        ([1, "b"], TypeError, "^block: feature_names has 1, 'b'. Pass only names that are text"),
        (["a"], ValueError, "^block: feature_names has length 1. Pass 2 names"),
    ],
)
def test_names_that_are_none_are_refused_by_the_name_of_their_argument(names, error, says):
    with pytest.raises(error, match=says):
        Block(np.eye(2), [0, 1], feature_names=names)


def test_two_weights_of_items():
    X, y = np.eye(3), [0, 1, 2]
    block = Block(X, y, worse_weight=[1, 0, 2])
    assert block.weight is None and block.worse_weight.tolist() == [1, 0, 2]
    assert [each.tolist() for each in block.both_weights] == [[1, 1, 1], [1, 0, 2]]
    prefs = Block(X, y, weight=[3, 2, 1], worse_weight=[1, 0, 2]).preferences()
    assert list(zip(prefs.better, prefs.worse, prefs.weight)) == [(1, 0, 2.0), (2, 0, 1.0)]
    one = Block(X, y, weight=[3, 2, 1]).preferences()
    assert one.better_weight is one.worse_weight
    assert Block(X, y).preferences().better_weight is None
    again = pickle.loads(pickle.dumps(block))
    assert again.worse_weight.tolist() == [1, 0, 2] and not again.worse_weight.flags.writeable
    scaler = StandardScaler().fit(X)
    [changed] = Blocks([block]).transform(scaler)
    assert changed.worse_weight.tolist() == [1, 0, 2]
    for wrong in ([1, 2], [1, -1, 0], [1, np.nan, 0]):
        with pytest.raises(ValueError, match="block: worse_weight"):
            Block(X, y, worse_weight=wrong)


def test_survival_times_by_the_recipe_of_the_documentation():
    rng = np.random.default_rng(0)
    time, event = rng.integers(1, 6, 50).astype(float), rng.random(50) < 0.5
    y = np.where(event, time, np.nextafter(time, np.inf))
    ours = Block(np.ones((50, 1)), y, worse_weight=event).preferences()
    theirs = Preferences.from_survival(time, event)
    pairs = [set(zip(each.better.tolist(), each.worse.tolist())) for each in (ours, theirs)]
    assert pairs[0] == pairs[1] and (ours.weight == 1).all()
