"""What every test may rely on.

Data if there are any, no network, the same words on stderr on every run, --slow, --peers.
"""

import os
import shutil
import signal
import socket
from importlib.util import find_spec
from pathlib import Path

import pytest

os.environ.setdefault("MPLBACKEND", "agg")
if "PYTEST_XDIST_WORKER" in os.environ:
    # several workers share the cores: threads of linear algebra would wait for each other
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402  (it reads these when it is imported)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell starts jobs in the background so, and the processes that tests interrupt inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too")
    parser.addoption(
        "--peers", action="store_true", help="fail where a package to compare with is missing"
    )


def pytest_collection_modifyitems(config, items):
    folder = os.environ.get("RANKBOOK_DATA")
    if folder and not Path(folder).is_dir():
        raise pytest.UsageError(f"RANKBOOK_DATA is {folder!r}, which is not a folder")
    for item in items:
        if "data_dir" in getattr(item, "fixturenames", ()):
            item.add_marker("data")
        if "amount" in getattr(item, "fixturenames", ()) and config.getoption("--slow"):
            item.add_marker("slow")
        peers = [name for marker in item.iter_markers("peer") for name in marker.args]
        missing = [name for name in peers if find_spec(name) is None]
        if missing and not config.getoption("--peers"):
            item.add_marker(pytest.mark.skip(reason=f"peer: {missing[0]} is not installed"))
        if item.get_closest_marker("data") and not folder:
            item.add_marker(
                pytest.mark.skip(reason="data: RANKBOOK_DATA names no folder of data files")
            )
        if item.get_closest_marker("slow") and not config.getoption("--slow"):
            item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))


@pytest.fixture(scope="session")
def root():
    """The root of the checkout."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def data_dir():
    """The folder of data files named by RANKBOOK_DATA.

    A test that asks for it is marked `data`, and skipped without one.
    """
    return Path(os.environ["RANKBOOK_DATA"])


LOCAL = ("localhost", "127.0.0.1", "::1", "", None)


@pytest.fixture(scope="session", autouse=True)
def no_network():
    """A test that asks for an address beyond this machine fails, whatever it does with errors.

    No test may download.
    """
    lookup, connect = socket.getaddrinfo, socket.socket.connect

    def refuse(host):
        name = host.decode() if isinstance(host, bytes) else host
        if name not in LOCAL:
            pytest.fail(
                f"a test asks the network for {name!r}: mark it `data` or give it files of its own"
            )

    def look_up(host, *args, **kwargs):
        refuse(host)
        return lookup(host, *args, **kwargs)

    def connect_to(self, address):
        # connecting a datagram socket sends nothing: Dask does so to learn its own address
        if self.family in (socket.AF_INET, socket.AF_INET6) and self.type != socket.SOCK_DGRAM:
            refuse(address[0])
        return connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", look_up)
        patch.setattr(socket.socket, "connect", connect_to)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_notice():
    """What a test reads from stderr does not depend on which test had to compile first."""
    from rankbook.base.jit import WAITING

    WAITING.said = True


# Shared by several modules


@pytest.fixture(scope="session")
def amount(request):
    """A function of two amounts: the first for a quick run, the second with --slow.

    A test that asks for it is marked `slow` in a run with --slow.
    """
    return lambda quick, slow: slow if request.config.getoption("--slow") else quick


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def one_thread():
    """Linear algebra on one thread, as benchmarks want it."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def mixture():
    """The mixture of two classes that overlap, 60 items in the plane."""
    from rankbook.data.datasets import make_mixture

    return make_mixture(n_per_class=30, seed=2)


@pytest.fixture(scope="session")
def weighted_queries():
    """Items, graded scores, query ids and item weights, in no order."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)) * [1.0, 10, 0.1] + 5
    y = np.round(X @ [1.0, 0.2, -5] + rng.normal(size=90))
    return X, y, rng.permutation(np.repeat(np.arange(9), 10)), rng.integers(0, 4, 90).astype(float)


@pytest.fixture(scope="module")
def cluster():
    """A Dask cluster of two workers in this process."""
    distributed = pytest.importorskip("distributed", reason='needs pip install "rankbook[dask]"')
    options = dict(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with distributed.LocalCluster(**options, processes=False) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    """What asks that cluster."""
    from distributed import Client

    with Client(cluster) as client:
        yield client


BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")  # while it is there, nothing else can run a loop in this thread
def browser():
    """Chromium, as the system has it; skipped without."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is in `.[site]`")
    if (program := next(filter(None, map(shutil.which, BROWSERS)), None)) is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    sandbox = [] if os.getuid() else ["--no-sandbox"]  # which root cannot have
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=program, args=sandbox)
        yield opened
        opened.close()
