"""What a simulation crawls: a web whose every answer is known beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from motherlode.model import FailureKind, Link, Syntax
from motherlode.www.media_types import MEDIA
from motherlode.www.urls import host_of


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


# ── A part of a simulated web: some of its hosts, with only the links between them. To test on webs nobody has seen.

_PAGE_KINDS = frozenset(kind.value for kind, media in MEDIA.items() if media.is_html or media.is_rdf)


class HostSubset:
    """The pages of the chosen hosts. All are read at once: for webs that fit into memory."""

    def __init__(self, web: SimulatedWeb, hosts: Iterable[str]) -> None:
        chosen = frozenset(hosts)
        self._web = web
        self._homes = [url for url in web.home_pages() if host_of(url) in chosen]
        self._pages = {page.url: _inside(page, chosen) for page in web.everything() if host_of(page.url) in chosen}

    @property
    def page_count(self) -> int:
        return sum(page.failure is None and page.kind in _PAGE_KINDS for page in self._pages.values())

    def page(self, url: str) -> SimPage:
        return self._pages.get(url) or SimPage(url=url, failure=FailureKind.NOT_FOUND)

    def spelling(self, url: str) -> str:
        return self._web.spelling(url)

    def home_pages(self) -> list[str]:
        return list(self._homes)

    def everything(self) -> Iterator[SimPage]:
        return iter(self._pages.values())

    def labels(self) -> Iterator[tuple[str, bool]]:
        return ((page.url, page.relevant) for page in self._pages.values() if page.failure is None)


def _inside(page: SimPage, hosts: frozenset[str]) -> SimPage:
    links = [link for link in page.links if host_of(link.url) in hosts]
    return page if len(links) == len(page.links) else msgspec.structs.replace(page, links=links)
