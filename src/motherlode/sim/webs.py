"""What a simulation crawls: a web whose every answer is known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from motherlode.model import FailureKind, Link, Syntax


class SimPage(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one request, as far as selection can see it.

    A struct and not a dataclass: a simulation makes a million.
    """

    url: str
    relevant: bool = False
    kind: str = "html"
    """The value of its ContentKind."""
    counts: Mapping[Syntax, int] = msgspec.field(default_factory=dict)
    links: Sequence[Link] = ()
    failure: FailureKind | None = None
    location: str = ""
    """Where a redirect leads."""
    size: int = 0
    """Bytes."""
    latency: float = 0.1
    """Seconds to the first byte, for virtual time."""


class SimulatedWeb(Protocol):
    """A recorded or a synthetic web, with the target's answer for each page."""

    @property
    def page_count(self) -> int:
        """Pages, HTML and RDF, that the web holds; a share of the budget is a share of these."""
        ...

    def page(self, url: str) -> SimPage:
        """The answer for a URL; a 404 for what the web does not hold."""
        ...

    def spelling(self, url: str) -> str:
        """The one spelling under which a page of this web is known."""
        ...

    def home_pages(self) -> list[str]:
        """One URL for each host: where a simulation starts if nobody says otherwise."""
        ...

    def everything(self) -> Iterator[SimPage]:
        """Each page and redirect that the web holds, for the oracle."""
        ...

    def labels(self) -> Iterator[tuple[str, bool]]:
        """Each page that the web holds, and whether it is relevant."""
        ...
