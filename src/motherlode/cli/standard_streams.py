"""Replacements for standard streams that were closed before the program started, as by `>&-` in a shell."""

from __future__ import annotations

import os
import sys

_STREAMS = (("stdin", 0, os.O_RDONLY), ("stdout", 1, os.O_RDONLY), ("stderr", 2, os.O_WRONLY))
_closed: set[str] = set()


def fill_closed_streams() -> None:
    """Occupy the descriptors of closed streams, because a file that is opened later would get them otherwise.

    Messages to stderr are dropped. Writing to stdout fails with EBADF, because a result would be lost: its descriptor
    is open for reading only.
    """
    for name, descriptor, flags in _STREAMS:
        if getattr(sys, name) is not None:
            continue
        _closed.add(name)
        opened = os.open(os.devnull, flags)
        if opened != descriptor:  # it is in use already
            os.set_inheritable(opened, False)
        mode = "r" if name == "stdin" else "w"
        setattr(sys, name, open(opened, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - open to the end


def is_closed(name: str) -> bool:
    """Return whether a standard stream was closed when the program started, or is missing."""
    return name in _closed or getattr(sys, name) is None
