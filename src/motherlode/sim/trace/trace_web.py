"""The pages and links that a crawl recorded (a trace), as a web on which crawls are simulated.

The target (the user's definition of a relevant page) labels each page as relevant or not. To save memory, links are
rows of integer columns that refer to a table of distinct strings: about forty bytes per link. `Link` objects are
created only for the pages that a simulation visits.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from motherlode.model import ContentKind, FailureKind, Link, LinkSource, Syntax
from motherlode.policies import Target
from motherlode.policies.rewards import ntriples_hashes
from motherlode.sim.trace.files import (
    TracePage,
    TracePart,
    existing_parts,
    read_link_table,
    read_pages,
    read_statements,
)
from motherlode.sim.trace.page_scores import PageScores
from motherlode.sim.web_protocol import PAGE_KINDS, SimPage
from motherlode.www.urls import host_of

_SYNTAXES = {syntax.value: syntax for syntax in Syntax}
_SOURCES = {source.value: source for source in LinkSource}
NO_SCORES = PageScores()


class TraceWeb:
    """The pages of a trace. As in a crawl of a recorded web, http and https are the same.

    If a URL was recorded several times, the last record counts, except redirects to the same URL.
    """

    def __init__(
        self,
        folder: Path,
        target: Target,
        *,
        dead: float = 0.0,
        hashed: str = "",
        scores: PageScores = NO_SCORES,
    ) -> None:
        """Open a trace.

        `dead` is the share of dead links (to URLs that were not recorded) that are kept. A hash of the URL decides.
        `hashed` names the parts of pages whose hashes the reward needs, and `scores` are those of the user's scorers.
        """
        self._dead = dead
        self._hashed = hashed
        self._scores = scores
        self._hashes: list[bytes] = []
        self._recorded: dict[str, tuple[str, int]] = {}
        """URL without its scheme → the URL as recorded, and its row number over all parts."""
        self._pages: list[TracePage] = []
        self._counts: list[dict[Syntax, int]] = []
        self._relevant: list[bool] = []
        self._made: dict[str, SimPage] = {}
        parts = existing_parts(folder)
        for part in parts:
            self._read_pages(folder, part, target)
        self._locate()
        self._links = [_LinkColumns(folder, part, self._held) for part in parts]
        self._first_rows = np.cumsum([0, *(len(links) for links in self._links)])
        self._count = sum(self._pages[row].kind in PAGE_KINDS for _, row in self._recorded.values())

    def _read_pages(self, folder: Path, part: TracePart, target: Target) -> None:
        statements = dict(read_statements(folder, part)) if target.needs_statements or self._hashed else {}

        def about(number: int) -> bytes:
            return statements.get(number, b"")

        for number, row in enumerate(read_pages(folder, part)):
            counts = {_SYNTAXES[name]: count for name, count in row.counts.items()}
            if target.scorer is not None:
                relevant = target.accepts(self._scores.target[len(self._pages)])
            else:
                relevant = not row.failure and target.judge(counts, ContentKind(row.kind), partial(about, number))
            if self._hashed:  # the statements of feeds do not count, as in a crawl
                is_feed = row.kind in (ContentKind.RSS.value, ContentKind.ATOM.value)
                self._hashes.append(b"" if is_feed else ntriples_hashes(about(number), self._hashed))
            self._pages.append(row)
            self._counts.append(counts)
            self._relevant.append(bool(relevant))

    def _locate(self) -> None:
        for number, row in enumerate(self._pages):
            key = _schemeless(row.url)
            if key not in self._recorded or not _leads_back(row):
                self._recorded[key] = (row.url, number)

    def _held(self, url: str) -> str | None:
        """Return the spelling of a linked URL in the recording; for a dead link, the one that it would have had.

        None for dead links that are left out.
        """
        key = _schemeless(url)
        return self.spelling(url) if key in self._recorded or is_dead_link_kept(key, self._dead) else None

    @property
    def page_count(self) -> int:
        return self._count

    def spelling(self, url: str) -> str:
        key = _schemeless(url)
        recorded = self._recorded.get(key)
        return recorded[0] if recorded is not None else f"https://{key}"

    def page(self, url: str) -> SimPage:
        made = self._made.get(url)
        if made is None:
            recorded = self._recorded.get(_schemeless(url))
            if recorded is None:
                return SimPage(url=url, failure=FailureKind.NOT_FOUND, latency=latency_of(host_of(url)))
            made = self._made[url] = self._make(*recorded)
        return made

    def _make(self, url: str, number: int) -> SimPage:
        row = self._pages[number]
        latency = latency_of(host_of(url))
        if row.failure:
            kind = FailureKind(row.failure)
            location = self.spelling(row.location) if kind is FailureKind.REDIRECT else ""
            status = row.status if location else 0
            return SimPage(url=url, failure=kind, status=status, location=location, size=row.size, latency=latency)
        part = int(np.searchsorted(self._first_rows, number, side="right")) - 1
        return SimPage(
            url=url,
            relevant=self._relevant[number],
            kind=row.kind,
            content_type=row.content_type,
            counts=self._counts[number],
            links=self._links[part].of(number - int(self._first_rows[part])),
            size=row.size,
            latency=latency,
            **self._reward_fields(number),
        )

    def _reward_fields(self, number: int) -> dict[str, Any]:
        """Return the fields of a page that rewards of novelty and scorers need."""
        rewards, targets = self._scores.reward, self._scores.target
        scores = [known[number] for known in (rewards, targets) if known]
        return {
            "statement_hashes": self._hashes[number] if self._hashed else b"",
            "page_score": rewards[number] if rewards else None,
            "is_unscored": None in scores,
        }

    def home_pages(self) -> list[str]:
        """Return `/` of each host if it was recorded, otherwise the host's shortest URL."""
        homes: dict[str, str] = {}
        for url, number in self._recorded.values():
            row = self._pages[number]
            if row.failure != FailureKind.REDIRECT.value and row.kind not in PAGE_KINDS:
                continue
            host = host_of(url)
            known = homes.get(host)
            if known is None or _shortness(url) < _shortness(known):
                homes[host] = url
        return list(homes.values())

    def everything(self) -> Iterator[SimPage]:
        return (self.page(url) for url, _ in self._recorded.values())

    def labels(self) -> Iterator[tuple[str, bool]]:
        return ((url, self._relevant[row]) for url, row in self._recorded.values() if not self._pages[row].failure)


def is_dead_link_kept(key: str, share: float) -> bool:
    """Return whether a link to a URL that was not recorded is kept. A hash of the URL (without its scheme) decides.

    >>> [is_dead_link_kept("example.org/a", share) for share in (0.0, 1.0)]
    [False, True]
    """
    return zlib.crc32(key.encode()) < share * 2**32


def latency_of(host: str) -> float:
    """Return the response time of a host in seconds. Recordings do not contain it, so it is derived from the host name.

    >>> 0.03 <= latency_of("example.org") <= 0.6
    True
    """
    return 0.03 * 20 ** (zlib.crc32(host.encode()) / 2**32)


def _schemeless(url: str) -> str:
    return url.partition("://")[2]


def _shortness(url: str) -> tuple[int, str]:
    """Return the length of a URL without its scheme, so that `https://h/` is shorter than `http://h/a`."""
    rest = _schemeless(url)
    return len(rest), rest


def _leads_back(row: TracePage) -> bool:
    """Return whether a redirect leads to the same page: from http to https, or to another form of the same URL."""
    if row.failure == FailureKind.REDIRECT_BROKEN.value:
        return bool(row.location)
    redirect = row.failure == FailureKind.REDIRECT.value
    return redirect and _schemeless(row.location) == _schemeless(row.url)


class _LinkColumns:
    """The links of one part of a trace to recorded URLs. Each column has indices into a list of distinct strings."""

    def __init__(self, folder: Path, part: TracePart, held: Callable[[str], str | None]) -> None:
        table = read_link_table(folder, part)
        spelled = [held(url) for url in table.texts["url"]]
        kept = np.array([url is not None for url in spelled], dtype=np.bool_)[table.numbers["url"]]
        pages = np.repeat(np.arange(part.pages), table.links_per_page)[kept]
        self._ends = np.cumsum(np.bincount(pages, minlength=part.pages))
        self._nofollow = table.nofollow[kept]
        self._numbers = {name: numbers[kept] for name, numbers in table.numbers.items()}
        self._texts: dict[str, Sequence[Any]] = dict(table.texts)
        self._texts["url"] = spelled
        self._texts["properties"] = [tuple(text.split()) for text in self._texts["properties"]]
        self._texts["sibling_groups"] = [tuple(map(int, text.split())) for text in self._texts["sibling_groups"]]
        self._texts["modified"] = [float(text) if text else None for text in self._texts["modified"]]
        self._texts["source"] = [_SOURCES[text] for text in self._texts["source"]]

    def __len__(self) -> int:
        return len(self._ends)

    def of(self, page: int) -> list[Link]:
        first, end = int(self._ends[page - 1]) if page else 0, int(self._ends[page])
        rows = [
            [texts[number] for number in self._numbers[name][first:end].tolist()] for name, texts in self._texts.items()
        ]
        return [
            Link(**dict(zip(self._texts, row, strict=True)), nofollow=nofollow)
            for row, nofollow in zip(zip(*rows, strict=True), self._nofollow[first:end].tolist(), strict=True)
        ]
