"""What one host may cost before its remaining URLs are refused."""

from __future__ import annotations

from dataclasses import dataclass

from motherlode.frontier.entries import HostRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class HostBudget:
    """None means no limit."""

    pages: int | None = None
    """Requests for pages; failures count."""
    bytes: int | None = None
    """Of bodies."""
    barren_after: int | None = None
    """Requests without one relevant page, after which a host counts as giving nothing."""

    def refusal(self, record: HostRecord, under_way: int) -> str:
        """Why no more of the host's URLs are fetched, or "".

        >>> HostBudget(pages=10).refusal(HostRecord(name="a.example", fetched=9), 1)
        "the host's budget of pages is spent"
        """
        if self.pages is not None and record.fetched + under_way >= self.pages:
            return "the host's budget of pages is spent"
        if self.bytes is not None and record.received >= self.bytes:
            return "the host's budget of bytes is spent"
        if self.barren_after is not None and not record.relevant and record.fetched >= self.barren_after:
            return "the host gave nothing"
        return ""
