"""Messages of the package: the logger "rankbook", whose handler shows them on stderr."""

import logging
import sys

LOG = logging.getLogger("rankbook")


class Shown(logging.Handler):
    """Handler that writes to stderr, unless the root logger has handlers for the message."""

    def emit(self, record):
        """Write one message, without characters that would control the terminal."""
        if not logging.getLogger().handlers:
            from .tables import printable

            try:
                print(printable(self.format(record)), file=sys.stderr, flush=True)
            except Exception:
                self.handleError(record)


def show_messages():
    """Show messages of level INFO and above, unless a level has been set before."""
    if LOG.level == logging.NOTSET:
        LOG.setLevel(logging.INFO)
    shown = Shown()
    shown.setFormatter(logging.Formatter("rankbook: %(message)s"))
    LOG.addHandler(shown)
