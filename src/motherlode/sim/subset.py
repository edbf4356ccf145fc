"""A part of a simulated web: some of its hosts, with only the links between them. To test on webs nobody has seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from motherlode.model import FailureKind
from motherlode.sim.webs import SimPage, SimulatedWeb
from motherlode.www.media import MEDIA
from motherlode.www.urls import host_of

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
