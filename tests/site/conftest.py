"""The built site behind a server, and a browser that looks at it; skipped where either is missing.

python tools/site.py && pytest tests/site
"""

import functools
import http.server
import threading
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_site"
AXE = ROOT / "build" / "site" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
TOC = yaml.safe_load((ROOT / "nbs" / "_toc.yml").read_text(encoding="utf-8"))
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))


def pages_read(entries):
    """The pages of entries of nbs/_toc.yml and of those below them."""
    for entry in entries:
        if name := entry.get("notebook") or entry.get("page"):
            yield f"{name}.html"
        yield from pages_read(entry.get("chapters", ()))


READ = ["index.html", *(page for part in TOC["parts"][:2] for page in pages_read(part["chapters"]))]


def pytest_generate_tests(metafunc):
    """A test that takes a page is run on each; in a browser on the book, the guides and a few.

    With --slow a browser looks at all.
    """
    skip = pytest.mark.skip(reason="no site: `python tools/site.py` builds it")
    pages = PAGES or [pytest.param("none", marks=skip)]
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", pages)
    if "page_shown" in metafunc.fixturenames:
        slow = metafunc.config.getoption("--slow")
        some = set(READ) | set(pages[::15])
        metafunc.parametrize(
            "page_shown", [page for page in pages if slow or page in some] or pages
        )


@pytest.fixture(scope="session")
def site():
    """The folder of the site."""
    if not PAGES:
        pytest.skip("no site: `python tools/site.py` builds it")
    return SITE


@pytest.fixture(scope="session")
def chapters():
    """The pages outside the reference."""
    return READ


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that says nothing."""

    protocol_version = "HTTP/1.1"  # a connection for many files

    def log_message(self, *arguments):
        """Nothing."""


@pytest.fixture(scope="session")
def address(site):
    """Where the site is served."""
    handler = functools.partial(Quiet, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def context(site, browser):
    """A window's worth of state, with axe in every page and nothing that moves."""
    context = browser.new_context(viewport={"width": 1300, "height": 900}, reduced_motion="reduce")
    context.add_init_script(AXE.read_text(encoding="utf-8"))
    yield context
    context.close()
