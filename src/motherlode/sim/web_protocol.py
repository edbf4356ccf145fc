"""Protocol of a web for simulations, in which every response is known beforehand; and subsets of its hosts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from motherlode.model import FailureKind, Link, Syntax
from motherlode.www.media_types import MEDIA
from motherlode.www.urls import host_of

PAGE_KINDS = frozenset(kind.value for kind, media in MEDIA.items() if media.is_html or media.is_rdf)
"""Values of the content kinds that `page_count` counts."""


class SimPage(msgspec.Struct, frozen=True, kw_only=True):
    """The response to one request, as far as frontier and policy need it.

    It is a msgspec struct, because a simulation makes a million of them.
    """

    url: str
    relevant: bool = False
    kind: str = "html"
    """Value of its `ContentKind`."""
    content_type: str = ""
    """The Content-Type header; "" if the web knows only the kind."""
    counts: Mapping[Syntax, int] = msgspec.field(default_factory=dict)
    links: Sequence[Link] = ()
    failure: FailureKind | None = None
    status: int = 0
    """Status of a redirect; 0 if the web does not know it."""
    location: str = ""
    """Target of a redirect."""
    size: int = 0
    """Size in bytes."""
    latency: float = 0.1
    """Seconds until the first byte, in virtual time."""
    statement_hashes: bytes = b""
    """Hashes for a reward of novelty, if it needs them."""
    page_score: float | None = None
    """The score of the user's scorer that is the reward."""
    is_unscored: bool = False
    """Whether a scorer of the user failed for the page."""


class SimulatedWeb(Protocol):
    """A recorded or synthetic web, with a label for each page: whether it matches the target."""

    @property
    def page_count(self) -> int:
        """Number of HTML and RDF pages that the web holds. `--share` refers to this number."""
        ...

    def page(self, url: str) -> SimPage:
        """Return the response for a URL. It is a 404 if the web does not hold the URL."""
        ...

    def spelling(self, url: str) -> str:
        """Return the spelling of a URL under which this web holds the page, for example with https instead of http."""
        ...

    def home_pages(self) -> list[str]:
        """Return one URL per host, the default seeds of a simulation."""
        ...

    def everything(self) -> Iterator[SimPage]:
        """Yield each page and redirect that the web holds, for the oracle."""
        ...

    def labels(self) -> Iterator[tuple[str, bool]]:
        """Yield each page that the web holds, and whether it is relevant."""
        ...


class HostSubset:
    """The pages of chosen hosts and the links between them. All are read at once, so the web must fit into memory.

    With `keeps_outside`, links to other hosts are kept, too, and answer 404: as in a recording of the chosen hosts with
    dead links.
    """

    def __init__(self, web: SimulatedWeb, hosts: Iterable[str], *, keeps_outside: bool = False) -> None:
        chosen = frozenset(hosts)
        self._web = web
        self._homes = [url for url in web.home_pages() if host_of(url) in chosen]
        pages = (page for page in web.everything() if host_of(page.url) in chosen)
        self._pages = {page.url: page if keeps_outside else _inside(page, chosen) for page in pages}

    @property
    def page_count(self) -> int:
        return sum(page.failure is None and page.kind in PAGE_KINDS for page in self._pages.values())

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
