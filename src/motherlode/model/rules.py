"""What a host's robots.txt asks of us, as the frontier needs to know it."""

from __future__ import annotations

from typing import Protocol


class Rules(Protocol):
    """Parsed robots.txt rules for our product token."""

    @property
    def delay(self) -> float | None:
        """Crawl-delay in seconds, where one is given."""
        ...

    def allows(self, url: str) -> bool: ...
