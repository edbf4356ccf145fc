"""The state of one lease in flight: pure data, private to the engine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from motherlode.crawler.parsing.messages import ParsedPage
from motherlode.frontier import Lease
from motherlode.model import Fetched


@dataclass(slots=True, eq=False)
class LeaseResult:
    """One lease from the slot that it takes to its end. Times are those of the engine's clock."""

    lease: Lease
    value: float | None = None
    """The policy's value of the arm when the URL was picked; None if the policy gives none."""
    task: asyncio.Task[None] | None = None
    """The task that fetches and parses; None after the engine has cancelled it."""
    began: float = 0.0
    """When the request was sent."""
    ended: float = 0.0
    """When fetching and parsing ended."""
    response: Fetched | None = None
    """The page or the failure; None while there is none, and after a successful DNS lookup."""
    address: str = ""
    """The IP address that a DNS lookup found."""
    parsed: ParsedPage | None = None
    is_arrived: bool = False
    """The page has arrived, and its parsing has begun."""
    is_probe_passed: bool = False
    """The lease was used for a HEAD, and the page is worth a GET."""
    is_released: bool = False
    """`Frontier.response_received` was called."""
    is_ended: bool = False
    """`Frontier.end` was called."""
