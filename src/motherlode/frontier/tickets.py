"""What the frontier hands out, and how gently."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from motherlode.frontier.entries import Entry
from motherlode.model import RequestKind

MAX_REDIRECTS = 8
"""Redirects in a row; the next one is broken."""


class Ticket(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Leave to make one request, now."""

    url: str
    host: str
    """The host whose page this is about. A robots.txt may lie on another."""
    kind: RequestKind
    entry: Entry
    """The page that is to be fetched; for a robots ticket, the page that waits for the rules."""
    address: str = ""
    """The IP address whose clock allows the request; empty where addresses have no clocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Politeness:
    """How gently hosts are treated. What a host itself asks for can only make it gentler."""

    delay: float = 1.0
    """Seconds between the end of one request to a host and the start of the next."""
    per_host: int = 4
    """Requests to one host at the same time; only where the delay is zero."""
    retry_wait: float = 15.0
    """The unit of the waits in the table of failures."""
    retries: bool = True
    """False where an answer cannot change: in a recorded web."""
    by_address: bool = False
    """Keep a clock for each IP address, too. A host's address is asked for before its first request."""
    address_delay: float | None = None
    """Seconds between two requests to one IP address; by default half the delay of a host."""
    per_address: int = 16
    """Requests to one IP address at the same time; only where the delay of addresses is zero."""
    leased: bool = False
    """Other crawls ask the same addresses: an address with a delay is asked only while we have its lease."""
    adaptive: bool = False
    """Slow down for hosts that answer slowly, or with 429 or 503."""
    patience: float = 1.0
    """With `adaptive`: a host rests at least this many times as long as its answers take."""
    wake_at_once: int | None = None
    """Hosts that one look at the clocks may wake; None for all whose time has come."""
