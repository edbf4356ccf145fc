"""A trace as a web to simulate on, with each page judged by the target."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from motherlode.model import ContentKind, FailureKind, Syntax
from motherlode.policy import Target
from motherlode.sim.trace import TraceRow, read_facts, read_trace
from motherlode.sim.webs import SimPage
from motherlode.www.media import MEDIA
from motherlode.www.urls import host_of

_SYNTAXES = {syntax.value: syntax for syntax in Syntax}


class TraceWeb:
    """The whole trace in memory. http and https are the same here, as in a crawl of a recorded web."""

    def __init__(self, folder: Path, target: Target, *, keep_missing: bool = False) -> None:
        rows = list(read_trace(folder))
        facts = dict(read_facts(folder)) if target.needs_statements else {}
        self._spellings = {row.page.url.partition("://")[2]: row.page.url for row in rows}
        self._keep_missing = keep_missing
        self._pages: dict[str, SimPage] = {}
        for number, row in enumerate(rows):
            self._pages[row.page.url] = self._sim_page(row, facts.get(number, b""), target)
        self._count = sum(page.failure is None and _is_page(page.kind) for page in self._pages.values())

    def _sim_page(self, row: TraceRow, ntriples: bytes, target: Target) -> SimPage:
        page = row.page
        if page.failure:
            location = self._spelled(page.location) if page.location else ""
            return SimPage(url=page.url, failure=FailureKind(page.failure), location=location, size=page.size)
        counts = {_SYNTAXES[name]: count for name, count in page.counts.items()}
        links = []
        for link in row.links:
            held = self._spellings.get(link.url.partition("://")[2])
            if held == link.url:
                links.append(link)
            elif held is not None or self._keep_missing:
                links.append(msgspec.structs.replace(link, url=held or link.url))
        return SimPage(
            url=page.url,
            relevant=target.judge(counts, ContentKind(page.kind), lambda: ntriples),
            kind=page.kind,
            counts=counts,
            links=links,
            size=page.size,
        )

    def _spelled(self, url: str) -> str:
        rest = url.partition("://")[2]
        return self._spellings.get(rest, f"https://{rest}")

    @property
    def page_count(self) -> int:
        return self._count

    @property
    def relevant_count(self) -> int:
        return sum(page.relevant for page in self._pages.values())

    def page(self, url: str) -> SimPage:
        found = self._pages.get(url)
        return found if found is not None else SimPage(url=url, failure=FailureKind.NOT_FOUND)

    def spelling(self, url: str) -> str:
        """The one spelling under which a page of this web is known."""
        return self._spelled(url)

    def home_pages(self) -> list[str]:
        """The shortest page of each host that can be fetched: `/` where it was recorded."""
        homes: dict[str, str] = {}
        for url, page in self._pages.items():
            host = host_of(url)
            known = homes.get(host)
            if page.failure in (None, FailureKind.REDIRECT) and (
                known is None or (len(url), url) < (len(known), known)
            ):
                homes[host] = url
        return list(homes.values())

    def everything(self) -> Iterator[SimPage]:
        return iter(self._pages.values())


def _is_page(kind: str) -> bool:
    media = MEDIA[ContentKind(kind)]
    return media.is_html or media.is_rdf
