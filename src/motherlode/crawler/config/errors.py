"""The one error of this room, apart from what it is about, so that looking at a crawl need not load the crawler."""

from __future__ import annotations


class JobError(ValueError):
    """The user's configuration is wrong; the message says what to do."""
