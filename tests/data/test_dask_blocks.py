"""Blocks on a Dask cluster against the same blocks in this process."""

import gc
import operator
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pickle import dumps
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import rankbook as rb
from rankbook.data import dask as dask_module
from rankbook.data import file_blocks
from rankbook.data.blocks import GROUP, BlockedItems, Blocks, Stored, block_facts, nbytes_of

distributed = pytest.importorskip("distributed", reason='needs pip install "rankbook[dask]"')
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")


@pytest.fixture
def processes():
    """A client of two workers that are processes, and start again when they are killed."""
    options = dict(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def data(n=240, d=5, size=20, seed=0):
    """Items with grades and weights, in queries of one size and in order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.round(X[:, 0] - X[:, 1] + rng.normal(size=n)).clip(-2, 2)
    return X, y, np.arange(n) // size, rng.integers(1, 3, n).astype(float)


def in_memory(X, y, qid, weight=None, rows=60):
    """Blocks of so many rows."""
    cuts = [slice(i, i + rows) for i in range(0, len(y), rows)]
    pick = lambda i: None if weight is None else weight[i]
    return Blocks(
        rb.Block(X[i], y[i], qid[i], pick(i), name=f"block {k}") for k, i in enumerate(cuts)
    )


def arrays(*values, rows=60):
    return [None if v is None else da.from_array(v, chunks=(rows, *v.shape[1:])) for v in values]


def same(one, other):
    """Whether two solutions are the same to the last bit, after the same steps."""
    return (
        np.array_equal(one.weights, other.weights)
        and one.info == other.info
        and one.certificate == other.certificate
    )


CALLS = []  # what workers, which are threads of this process, have done


def counted(block, w):
    CALLS.append(block.name)
    return block.X @ w


def read_and_counted(block):
    CALLS.append(block.name)
    return block


QUICK = dict(lam=200.0, tol=0.01)  # a few steps


def solved(blocks, **options):
    return rb.solve(rb.BlockRankSVMProblem(blocks, **options), **QUICK)


# The same answers


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_sent_out_give_the_same_answer(client, loss, weighted):
    X, y, qid, weight = data()
    here = in_memory(X, y, qid, weight if weighted else None)
    assert same(solved(here, loss=loss), solved(rb.dask_blocks(here, client=client), loss=loss))


def test_a_query_of_one_grade_says_nothing_to_plackett_luce(client):
    X, y, qid, _ = data()
    y = np.where(qid == qid[0], 1.0, y)
    here = in_memory(X, y, qid)
    model = rb.RankSVM(1.0, "linear", loss="plackett-luce")
    there = model.fit(rb.dask_blocks(here, client=client)).coef_
    others = model.fit(X[qid != qid[0]], y[qid != qid[0]], qid[qid != qid[0]]).coef_
    assert np.array_equal(there, model.fit(here).coef_)
    assert np.allclose(there, others, rtol=1e-4)


def test_survival_times_on_workers(client):
    X, y, qid, weight = data()
    times = np.empty(len(X), dtype=[("event", bool), ("time", float)])
    times["time"], times["event"] = np.round(np.exp(y), 1), np.arange(len(X)) % 3 > 0
    model = rb.RankSVM(1.0, "linear", loss="plackett-luce", solver=("newton", dict(tol=1e-12)))
    here = model.fit(X, times, qid=qid, sample_weight=weight).coef_
    mixed = np.random.default_rng(0).permutation(len(X))
    given = arrays(*(each[mixed] for each in (X, times, qid, weight)))
    blocks = rb.dask_blocks(*given, client=client, shuffle=True)
    assert np.allclose(model.fit(blocks).coef_, here, rtol=0, atol=1e-6)


@pytest.mark.parametrize("store", [np.float32, csr_array], ids=["float32", "csr"])
def test_storages(client, store):
    X, y, qid, _ = data()
    X = np.where(np.abs(X) > 1, X, 0)
    stored = csr_array(X) if store is csr_array else X.astype(np.float32)
    if store is csr_array:
        items = da.from_array(X, chunks=(60, 5)).map_blocks(csr_array)
    else:
        (items,) = arrays(stored)
    there = rb.dask_blocks(items, *arrays(y, qid))
    name = "csr" if store is csr_array else "float32"
    assert block_facts(there).storages == {name}
    assert same(solved(in_memory(stored, y, qid)), solved(there))


def test_paths(client):
    X, y, qid, _ = data()
    here = in_memory(X, y, qid)
    problems = [rb.BlockRankSVMProblem(b) for b in (here, rb.dask_blocks(*arrays(X, y, qid)))]
    one, other = (rb.solve_path(problem, 20.0, eps=0.1) for problem in problems)
    assert np.array_equal(one.breakpoints, other.breakpoints)
    assert problems[0].lam_max == problems[1].lam_max


def test_more_blocks_than_a_group_are_added_alike(client):
    rng = np.random.default_rng(0)
    here = Blocks(rb.Block(rng.normal(size=(1, 2)), [k], [k]) for k in range(2 * GROUP + 3))
    there = rb.dask_blocks(here)
    total = [b.reduce(lambda block: block.X.sum(), b.items) for b in (here, there)]
    names = [b.reduce(lambda block: [block.name], b.items, combine=operator.add) for b in (here,)]
    assert total[0] == total[1] and len(names[0]) == len(there)


def test_values_are_kept_as_long_as_somebody_may_ask(client):
    X, y, qid, _ = data()
    here = in_memory(X, y, qid)
    there = rb.dask_blocks(here)
    CALLS.clear()
    f = there.map(counted, there.items, np.ones(5))
    assert not CALLS  # nobody asked
    assert f @ f == f @ f and len(CALLS) == 4
    doubled = f + f
    assert np.allclose(np.concatenate(client.gather(list(doubled.values))), 2 * X.sum(axis=1))
    w = np.ones(5)
    late = there.map(counted, there.items, w)
    w[:] = 7  # what was noted is what was meant
    assert late @ late == f @ f


def test_a_large_argument_is_sent_once(client):
    here = Blocks(rb.Block(np.ones((2, 3)), [0, 1], [k, k]) for k in range(3))
    there, large = rb.dask_blocks(here), np.arange(30_000.0)
    function = lambda block, v: float(v.sum()) + block.X.sum()
    results = [blocks.reduce(function, blocks.items, large) for blocks in (here, there)]
    assert results[0] == results[1]


def test_stored_blocks_are_read_by_the_workers(client):
    X, y, qid, _ = data()
    blocks = in_memory(X, y, qid).items.values
    stored = Blocks(Stored(partial(read_and_counted, block)) for block in blocks)
    each_time, once = rb.dask_blocks(stored), rb.dask_blocks(stored, keep=True)
    assert each_time.is_stored and not once.is_stored
    expected = solved(stored)
    CALLS.clear()
    assert same(expected, solved(each_time)) and len(CALLS) > 8
    assert same(solved(Blocks(blocks)), solved(once))
    CALLS.clear()
    solved(once)
    assert not CALLS


def test_blocks_of_files_stay_on_the_workers_where_they_fit(client, cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(file_blocks, "KEPT", 0)  # too many to stay in this process
    X, y, qid, _ = data()
    frame = pd.DataFrame(X).add_prefix("x").assign(y=y, qid=qid)
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=60)
    read = rb.read_blocks(tmp_path / "a.parquet", "y", "qid", rows=60)
    (size,) = {stored.nbytes for stored in read.items.values}
    assert read.is_stored and size == 60 * (8 * 5 + file_blocks.EACH)
    there = rb.dask_blocks(read)
    here = Blocks(stored.read() for stored in read.items.values)
    assert not there.is_stored and same(solved(there), solved(here))
    assert rb.dask_blocks(read, keep=False).is_stored
    there.release()
    assert settled(lambda: held_bytes(cluster)) == 0
    limits = [worker["memory_limit"] for worker in client.scheduler_info()["workers"].values()]
    monkeypatch.setattr(dask_module, "SHARE", 1.9 * size / min(limits))
    assert rb.dask_blocks(read).is_stored  # four blocks on two workers
    monkeypatch.setattr(dask_module, "SHARE", 2.1 * size / min(limits))
    kept = rb.dask_blocks(read)
    assert not kept.is_stored
    assert kept.reduce(lambda block: len(block.y), kept.items) == 240
    assert rb.dask_blocks(read).is_stored  # data that are there already count
    scaled = read.transform(SimpleNamespace(transform=lambda X: X))
    assert rb.dask_blocks(scaled).is_stored  # of unknown size


@pytest.mark.parametrize("options", [dict(), dict(keep=True), dict(shuffle=True)])
def test_copies_of_text_stay_while_workers_may_read_them(client, tmp_path, options):
    X, y, qid, _ = data()
    frame = pd.DataFrame(X).add_prefix("x").assign(y=y, qid=qid)
    frame.to_csv(tmp_path / "a.csv", index=False)
    read = lambda: rb.read_blocks(tmp_path / "a.csv", "y", "qid", rows=60)
    here = Blocks(stored.read() for stored in read().items.values) if "keep" in options else read()
    expected, blocks = solved(here), rb.dask_blocks(read(), **options)
    gc.collect()
    assert same(expected, solved(blocks))


# Collections


def test_partitions_in_all_shapes(client):
    X, y, qid, weight = data()
    expected = solved(in_memory(X, y, qid, weight))
    everything = da.ones(240, chunks=60) > 0
    table = pd.DataFrame(X, columns=list("abcde")).assign(grade=y, query=qid, weight=weight)
    frame = dd.from_pandas(table, npartitions=4, sort=False)
    for given in (
        arrays(X, y, qid, weight),
        [da.from_array(X, chunks=(60, 2)), *arrays(y, qid, weight, rows=50)],
        [each[everything] for each in arrays(X, y, qid, weight)],  # unknown lengths
        (frame, "grade", "query", "weight"),
        (frame[list("abcde")], frame["grade"], frame["query"], frame["weight"]),
    ):
        found = solved(rb.dask_blocks(*given, client=client))
        assert np.allclose(found.weights, expected.weights, rtol=1e-10, atol=1e-12)
        assert found.info == expected.info


def test_one_query_without_ids(client):
    X, y, _, _ = data(n=60)
    there = rb.dask_blocks(*arrays(X, y))
    assert same(solved(there), solved(Blocks([rb.Block(X, y)])))


def test_empty_partitions_are_no_blocks(client):
    X, y, qid, _ = data()
    there = da.arange(240, chunks=60) >= 60
    blocks = rb.dask_blocks(*(each[there] for each in arrays(X, y, qid)))
    assert blocks.names == ("partition 1", "partition 2", "partition 3")
    with pytest.raises(ValueError, match="X has no rows in any partition"):
        rb.dask_blocks(*(each[there & ~there] for each in arrays(X, y, qid)))


@pytest.mark.parametrize("order", ["in order", "in none", "names"])
def test_queries_that_span_partitions(client, order):
    X, y, qid, weight = data()
    if order != "in order":
        qid = np.random.default_rng(1).permutation(qid)
    if order == "names":
        qid = np.array([f"q{k}" for k in qid])
    given = arrays(X, y, qid, weight, rows=70)
    with pytest.raises(ValueError, match="the query .* in partition 0 and in partition 1"):
        rb.dask_blocks(*given)
    there = rb.dask_blocks(*given, shuffle=True)
    facts = block_facts(there)  # no query spans two
    assert facts.n_items == 240 and len(there) == 4
    rows = there.reduce(lambda b: [(b.qid, b.y, b.X, b.weight)], there.items, combine=operator.add)
    found = [np.concatenate(part) for part in zip(*rows)]
    sort = lambda q, *rest: [each[np.lexsort((rest[1][:, 0], q))] for each in (q, *rest)]
    for one, other in zip(sort(*found), sort(qid, y, X, weight)):
        assert np.array_equal(one, other)
    again = rb.dask_blocks(*given, shuffle=True)
    assert block_facts(again) == facts  # the same call, the same answer


def test_rows_with_and_without_weights_move(client):
    X, y, qid, weight = data()
    here = [rb.Block(X[:90], y[:90], qid[:90]), rb.Block(X[90:], y[90:], qid[90:], weight[90:])]
    there = rb.dask_blocks(Blocks(here), client=client, shuffle=True)
    found = there.reduce(lambda block: float(block.weight.sum()), there.items)
    assert found == 90 + weight[90:].sum()


@pytest.mark.parametrize("unit", ["ns", "D"])
def test_dates_move(client, unit):
    X, y, qid, _ = data()
    dates = (np.datetime64("2020-01-01") + qid).astype(f"M8[{unit}]")
    there = rb.dask_blocks(*arrays(X, y, dates, rows=50), client=client, shuffle=True)
    assert block_facts(there).n_items == 240


def test_sparse_rows_move(client):
    X, y, qid, _ = data()
    X = np.where(np.abs(X) > 1, X, 0)
    items = da.from_array(X, chunks=(70, 5)).map_blocks(csr_array)
    there = rb.dask_blocks(items, *arrays(y, qid, rows=70), shuffle=True)
    assert block_facts(there).storages == {"csr"}
    found = solved(there)
    expected = solved(in_memory(X, y, qid))
    radius = found.certificate.radius + expected.certificate.radius  # both are that near to one
    assert np.linalg.norm(found.weights - expected.weights) <= radius


# What is wrong is named


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (dict(X=np.ones((4, 2))), TypeError, "X is an ndarray. Pass a dask array"),
        (dict(X=da.ones(240, chunks=60)), ValueError, "X has 1 dimensions"),
        (dict(y=np.ones(240)), TypeError, "y is an ndarray. Pass a dask array or series"),
        (dict(y=da.ones(239, chunks=60)), ValueError, "y has 239 entries and X has 240 rows"),
        (dict(qid=None), ValueError, "partition 1 has no qid, and there are 4 blocks"),
        (dict(qid=None, shuffle=True), ValueError, "partition . has no qid. Pass query ids"),
        (dict(client=3), TypeError, "client is an int. Pass a dask.distributed.Client"),
        (
            dict(X=Blocks([rb.Block(np.ones((2, 1)), [0, 1])])),
            ValueError,
            "y is given and X is Blocks",
        ),
    ],
)
def test_what_is_refused(client, change, error, words):
    X, y, qid, _ = data()
    given = dict(zip(("X", "y", "qid"), arrays(X, y, qid))) | change
    with pytest.raises(error, match=words):
        rb.dask_blocks(**given)


@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning:dask")
def test_columns_of_a_frame_of_small_files(client, tmp_path):
    X, y, qid, _ = data()  # Dask reads files together for a column, and not for the whole frame
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y, q=qid)
    for k in range(4):
        frame[60 * k : 60 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet", index=False)
    read = dd.read_parquet(str(tmp_path / "*.parquet"))
    items = read[list("abcde")]
    assert len(read.y.to_delayed()) < len(read.to_delayed())
    named, given = rb.dask_blocks(read, "y", "q"), rb.dask_blocks(items, read.y, read.q)
    total = lambda blocks: blocks.reduce(lambda b: b.X.T @ b.y, blocks.items)
    assert len(named) == len(given) == 4 and np.array_equal(total(named), total(given))


def test_partitions_that_do_not_agree(client):
    X, y, qid, _ = data()
    some = da.ones(240, chunks=60) > 0
    items, grades, ids = arrays(X, y, qid)
    with pytest.raises(
        ValueError, match="y has 3 partitions and X has 4. Pass the whole data frame"
    ):
        rb.dask_blocks(items[some], da.from_array(y, chunks=80), ids)
    with pytest.raises(ValueError, match="partition 0: y has shape"):
        rb.dask_blocks(items[some], grades[some & (da.arange(240, chunks=60) > 5)], ids[some])
    frame = dd.from_dask_array(items, columns=list("abcde"))
    with pytest.raises(ValueError, match="qid is 'q', which X does not have. Pass one of a, b"):
        rb.dask_blocks(frame, "a", "q")


def test_an_entry_that_is_not_finite_is_named_by_partition_and_row(client):
    X, y, qid, _ = data()
    X[130, 3] = np.nan
    with pytest.raises(ValueError, match=r"partition 2 \(from row 120\): X has NaN in row 10, col"):
        rb.dask_blocks(*arrays(X, y, qid))


SCHEDULERS = ["synchronous", "threads", "processes"]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_without_a_client(scheduler):
    X, y, qid, weight = data()
    here = in_memory(X, y, qid, weight)
    table = pd.DataFrame(X, columns=list("abcde")).assign(grade=y, query=qid, weight=weight)
    frame = dd.from_pandas(table, npartitions=4, sort=False)
    with dask.config.set(scheduler=scheduler):
        given = [arrays(X, y, qid, weight), (frame, "grade", "query", "weight")]
        found = [rb.dask_blocks(*each) for each in given]
    for blocks in found:
        assert isinstance(blocks, Blocks) and not blocks.is_stored and len(blocks) == 4
        assert same(solved(here), solved(blocks))


def test_the_default_without_a_client():
    code = (
        "import dask.array as da, rankbook as rb\n"
        "print(rb.dask_blocks(da.ones((2, 1)), da.arange(2)))\n"
        "try: rb.dask_blocks(rb.Blocks([rb.Block([[0.0]], [1])]))\n"
        "except ValueError as error: print(error)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    lines = result.stdout.splitlines()
    assert lines[0] == "Blocks(1 blocks)", result.stderr
    assert lines[1].startswith(
        "client is None, and there is no current client. Pass a dask.distrib"
    )


@pytest.mark.parametrize("seed", range(5))
def test_any_partitions_without_a_client(client, seed):
    """The same rows and answers as on workers, for queries across partitions and empty ones."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 200))
    X, y = rng.normal(size=(n, 3)).astype([float, np.float32][seed % 2]), rng.integers(0, 3, n)
    qid = rng.integers(0, 6, n)
    cuts = np.sort(rng.integers(0, n + 1, 4))  # equal ones are empty partitions
    chunks = tuple(np.diff([0, *cuts, n]).tolist())
    items = da.from_array(X, chunks=(chunks, 3))
    given = [items, da.from_array(y, chunks=(chunks,)), da.from_array(qid, chunks=(chunks,))]
    if seed > 2:  # unknown lengths, and one partition of one row
        some = da.from_array(np.arange(n) != 3, chunks=(chunks,))
        given = [each[some] for each in given]
    there = rb.dask_blocks(*given, shuffle=True)
    with dask.config.set(scheduler="threads"):
        here = rb.dask_blocks(*given, shuffle=True)
    rows = lambda b: b.reduce(lambda c: [(c.X, c.y, c.qid)], b.items, combine=operator.add)
    for one, other in zip(rows(here), rows(there), strict=True):
        assert all(map(np.array_equal, one, other))
    assert same(solved(here), solved(there))
    kept = np.arange(n) != 3 if seed > 2 else np.ones(n, bool)
    whole = rb.RankSVMProblem(
        X[kept], rb.Preferences.from_scores(y[kept], qid[kept]), kernel="linear"
    )
    expected, found = rb.solve(whole, solver="newton", **QUICK), solved(here)
    radius = found.certificate.radius + expected.certificate.radius
    assert np.linalg.norm(found.weights - expected.weights) <= radius


def test_more_than_memory_without_a_client(monkeypatch):
    X, y, qid, _ = data()
    monkeypatch.setattr("rankbook.base.limits.available_memory", lambda: 9000)
    words = (
        r"X, whose partitions are computed in this process, needs 9,600 bytes .* Start a dask.dis"
    )
    with dask.config.set(scheduler="threads"), pytest.raises(MemoryError, match=words):
        rb.dask_blocks(*arrays(X, y, qid))


@pytest.mark.parametrize(
    "change, words",
    [
        (dict(X=lambda X: X[:0]), "X has no rows in any partition"),
        (dict(X=lambda X: da.where(X > 2.5, np.nan, X)), r"partition \d.*: X has NaN in row"),
        (dict(qid=lambda q: da.zeros(240, chunks=60)), "the query 0.0 in partition 0 and in p"),
        (dict(y=lambda y: y[:230]), "y has 230 entries and X has 240 rows"),
    ],
)
def test_what_is_refused_without_a_client(change, words):
    X, y, qid, _ = data()
    given = dict(zip(("X", "y", "qid"), arrays(X, y, qid)))
    given |= {name: make(given[name]) for name, make in change.items()}
    if "X" in change and not given["X"].shape[0]:
        given = {name: value[:0] for name, value in given.items()}
    with dask.config.set(scheduler="threads"), pytest.raises(ValueError, match=words):
        rb.dask_blocks(**given)


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r'needs dask.*pip install "rankbook\[dask\]"'):
        rb.dask_blocks(Blocks([rb.Block([[0.0]], [1])]))


def test_rankbook_does_not_import_dask():
    code = (
        "import sys, rankbook as rb; rb.dask_blocks, rb.RankSVM; "
        "print([m for m in ('dask', 'distributed') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


# What travels, and what stays


def sent_and_gathered(client, monkeypatch, n):
    """Bytes of tasks that are sent and of results that are gathered for a sum, at most."""
    X, y, qid, _ = data(n=n, size=10)
    problem = rb.BlockRankSVMProblem(rb.dask_blocks(in_memory(X, y, qid, rows=n // 4)))
    sizes, send, gather = [], client.map, client.gather

    def counted_map(function, *columns, **options):
        plain = [v for column in columns for v in column if not hasattr(v, "key")]
        sizes.append(len(dumps(function)) + len(dumps(plain)))
        return send(function, *columns, **options)

    def counted_gather(futures):
        found = gather(futures)
        sizes.append(len(dumps(found)))
        return found

    monkeypatch.setattr(client, "map", counted_map)
    monkeypatch.setattr(client, "gather", counted_gather)
    steps = rb.solve(problem, 0.1 * problem.n_preferences, tol=0.01).info["steps"]
    monkeypatch.undo()
    return max(sizes), sum(sizes) / steps


def test_what_travels_does_not_grow_with_the_data(client, monkeypatch):
    small, large = (sent_and_gathered(client, monkeypatch, n) for n in (400, 6400))
    assert large[0] <= small[0] + 100 and large[0] < 3000
    assert large[1] < 2 * small[1]


def held_bytes(cluster):
    return sum(worker.nbytes for worker in cluster.scheduler.workers.values())


def settled(value):
    """A number that is the same half a second later, when what earlier tests left is collected."""
    gc.collect()
    last = None
    while last != (last := value()):
        time.sleep(0.5)
    return last


def test_workers_forget_what_nobody_asks_for(client, cluster):
    before = settled(lambda: held_bytes(cluster))
    X, y, qid, _ = data()
    blocks = rb.dask_blocks(in_memory(X, y, qid))
    assert block_facts(blocks).n_items == 240
    assert held_bytes(cluster) >= before + nbytes_of(X)  # Dask knows how large they are
    solution = solved(blocks)
    assert solution.certificate.relative_gap < 0.01
    blocks.release()
    assert settled(lambda: held_bytes(cluster)) == before
    with pytest.raises(RuntimeError, match="The blocks were released"):
        block_facts(blocks)


def at_call(monkeypatch, number, act, after=0.002):
    """Do something some seconds after the client begins to wait for its answer of that number."""
    wait_for, calls = dask_module.wait_for, []

    def watched(client, futures):
        calls.append(1)
        if len(calls) == number:
            threading.Timer(after, act).start()
        return wait_for(client, futures)

    monkeypatch.setattr(dask_module, "wait_for", watched)


def test_an_interrupt_frees_what_was_computed(client, cluster, monkeypatch):
    X, y, qid, _ = data()
    blocks = rb.dask_blocks(in_memory(X, y, qid))
    problem = rb.BlockRankSVMProblem(blocks)
    expected = rb.solve(problem, **QUICK)
    blocks._last = ()
    before = settled(lambda: held_bytes(cluster))
    slow = lambda block, f: time.sleep(1.0) or block.X.sum() + f.sum()
    f = BlockedItems(blocks, X.shape) @ np.ones(5)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        at_call(patch, 1, partial(signal.raise_signal, signal.SIGINT), after=0.2)
        blocks.reduce(slow, blocks.items, f)
    del f
    assert settled(lambda: held_bytes(cluster)) == before > 0
    assert same(rb.solve(problem, **QUICK), expected)  # and all goes on


# Faults


def made(n, k):
    """The chunk of a number, made on a worker."""
    return np.random.default_rng(k).normal(size=(n, 4))


@pytest.mark.slow
def test_a_worker_killed_in_the_middle(processes, monkeypatch):
    from dask import delayed

    chunks = [da.from_delayed(delayed(made)(60, k), (60, 4), float) for k in range(4)]
    X = da.concatenate(chunks)
    y, qid = da.round(X[:, 0] - X[:, 1] + X[:, 2] * X[:, 3]), da.arange(240, chunks=60) // 20
    plain = X.compute(), y.compute(), qid.compute()
    problem = rb.BlockRankSVMProblem(rb.dask_blocks(X, y, qid))
    pid = next(iter(processes.run(os.getpid).values()))
    at_call(monkeypatch, 5, lambda: os.kill(pid, signal.SIGKILL))
    found = rb.solve(problem, **QUICK)
    assert same(found, solved(in_memory(*plain)))
    assert pid not in processes.run(os.getpid).values()


@pytest.mark.parametrize(
    "states, words",
    [
        ([{f"worker {k}": "running"} for k in range(9)], "lost again and again"),
        ([{"one": "running"}, *[{"one": "paused"}] * 9], "paused or are gone for 5 s"),
        ([{"one": "running"}, *[{}] * 9], "paused or are gone for 5 s"),
    ],
    ids=["restarts", "pauses", "nobody left"],
)
def test_a_cluster_that_never_answers_ends_in_an_error(states, words, monkeypatch):
    def no_answer(futures, timeout):
        raise distributed.TimeoutError

    seen, clock = iter(states), iter(range(100))
    monkeypatch.setattr(distributed, "wait", no_answer)
    monkeypatch.setattr(dask_module, "PATIENCE", 5)
    monkeypatch.setattr(dask_module.time, "monotonic", lambda: next(clock))
    client = type("Client", (), dict(run_on_scheduler=lambda self, function: next(seen)))()
    with pytest.raises(RuntimeError, match=words):
        dask_module.wait_for(client, [])


def large_block(k):
    """A block of 32 MB, made on a worker."""
    X = np.random.default_rng(k).normal(size=(200_000, 20))
    return rb.Block(X, np.arange(200_000) % 3, np.full(200_000, k))


@pytest.mark.slow
def test_a_worker_with_too_little_memory_ends_in_an_error():
    options = dict(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with (
        distributed.LocalCluster(**options, memory_limit="200MB") as cluster,
        distributed.Client(cluster) as client,
    ):
        blocks = Blocks(Stored(partial(large_block, k)) for k in range(4))
        there = rb.dask_blocks(blocks, client=client)
        with pytest.raises(RuntimeError, match="workers with more memory, or smaller blocks"):
            rb.RankSVM(kernel="linear").fit(there)


@pytest.mark.slow
def test_a_lost_block_is_named(processes, monkeypatch):
    X, y, qid, _ = data()
    blocks = rb.dask_blocks(in_memory(X, y, qid))
    problem = rb.BlockRankSVMProblem(blocks)
    (address,) = processes.who_has([blocks.items.values[2]]).popitem()[1]
    pid = processes.run(os.getpid)[address]
    at_call(monkeypatch, 5, lambda: os.kill(pid, signal.SIGKILL))
    with pytest.raises(RuntimeError, match="block .*: lost, with the worker that had it") as caught:
        rb.solve(problem, **QUICK)
    assert "block 2" in str(caught.value)


@pytest.mark.slow
def test_the_scheduler_gone(tmp_path, monkeypatch):
    file, programs = str(tmp_path / "scheduler.json"), []
    start = lambda *command: programs.append(
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "dask",
                *command,
                "--host",
                "127.0.0.1",
                "--scheduler-file",
                file,
            ]
        )
    )
    try:
        start("scheduler", "--port", "0", "--no-dashboard")
        start("worker", "--no-nanny", "--nthreads", "1", "--no-dashboard")
        client = distributed.Client(scheduler_file=file, timeout=30)
        client.wait_for_workers(1, timeout=30)
        X, y, qid, _ = data()
        problem = rb.BlockRankSVMProblem(rb.dask_blocks(in_memory(X, y, qid), client=client))
        at_call(monkeypatch, 5, programs[0].kill)
        for _ in range(2):
            with pytest.raises(ConnectionError, match="the Dask scheduler tcp://.* does not answ"):
                rb.solve(problem, **QUICK)
        client.close(timeout=1)
    finally:
        for program in programs:
            program.kill()
            program.wait()


def test_two_weights(client):
    X, y, qid, better = data()
    worse = np.random.default_rng(1).integers(0, 2, 240).astype(float)
    cuts = [slice(i, i + 60) for i in range(0, 240, 60)]
    both = lambda i: dict(weight=better[i], worse_weight=worse[i])
    here = Blocks(rb.Block(X[i], y[i], qid[i], **both(i)) for i in cuts)
    expected = solved(here)
    assert same(expected, solved(rb.dask_blocks(here, client=client)))
    given = dict(zip(("y", "qid", "weight", "worse_weight"), arrays(y, qid, better, worse)))
    assert same(expected, solved(rb.dask_blocks(*arrays(X), **given)))
    table = pd.DataFrame(X, columns=list("abcde")).assign(g=y, q=qid, w=better, v=worse)
    frame = dd.from_pandas(table, npartitions=4, sort=False)
    found = solved(rb.dask_blocks(frame, "g", "q", "w", worse_weight="v"))
    assert np.allclose(found.weights, expected.weights, rtol=1e-10, atol=1e-12)
    given = dict(zip(given, arrays(y, qid, better, worse, rows=70)))
    moved = rb.dask_blocks(*arrays(X, rows=70), **given, shuffle=True)
    assert np.allclose(solved(moved).weights, expected.weights, rtol=1e-9, atol=1e-12)


def test_rows_of_one_and_of_two_weights_move(client):
    X, y, qid, weight = data()
    one = rb.Block(X[:90], y[:90], qid[:90], weight[:90])
    other = rb.Block(X[90:], y[90:], qid[90:], worse_weight=2 * weight[90:])
    there = rb.dask_blocks(Blocks([one, other]), client=client, shuffle=True)
    sums = lambda block: np.array([each.sum() for each in block.both_weights])
    found = there.reduce(sums, there.items)
    assert found.tolist() == [weight[:90].sum() + 150, weight[:90].sum() + 2 * weight[90:].sum()]


@pytest.mark.parametrize("ids", [np.repeat(np.arange(4) + 0.5, 3), np.repeat([True, False], 6)])
def test_query_ids_are_whole_numbers_or_text(ids):
    X, y = np.arange(24.0).reshape(12, 2), np.tile([0, 1, 2], 4)
    parts = (da.from_array(part, chunks=(6, 2)[: part.ndim]) for part in (X, y, ids))
    with pytest.raises(ValueError, match="qid has .* at index 0. Pass ids as whole numbers"):
        rb.RankSVM(kernel="linear").fit(*parts)
