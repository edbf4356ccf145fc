"""Settings of every test process."""

from __future__ import annotations

import signal

_HANDLERS = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}


def pytest_configure() -> None:
    """Handle the signals that tests send. A shell that starts pytest in the background, and nohup, ignore them."""
    for number, handler in _HANDLERS.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
