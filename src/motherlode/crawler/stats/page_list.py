"""The list of requested URLs: one row each, with its last visit, selected by labels of the visits.

The frontier storage keeps for each visit its labels: hashes of URL and host, and whether it failed, had problems or was
relevant. So a selection reads only the visits that it returns. In a folder of an earlier version, whose visits have no
labels, all visits are read.
"""

from collections.abc import Iterator
from contextlib import closing

import msgspec

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.frontier_reader import open_to_read
from motherlode.frontier import LmdbStorage
from motherlode.frontier.storage.tables import (
    FAILED_LABEL,
    PROBLEMS_LABEL,
    RELEVANT_LABEL,
    UNCHANGED,
    host_label,
    is_failed,
    url_key,
)
from motherlode.model import Visit


class PageProblem(msgspec.Struct, frozen=True, kw_only=True):
    """A problem of a page, with its position in the body."""

    syntax: str | None
    message: str
    line: int | None
    column: int | None
    repaired: bool


class PageRow(msgspec.Struct, frozen=True, kw_only=True):
    """A requested URL with the result of its last visit. `motherlode pages --format json` prints it."""

    url: str
    host: str
    status: int | None
    failure: str | None
    """The kind of failure; None if there is a page."""
    detail: str
    relevant: bool
    quads: int
    statements: dict[str, int]
    """Number of distinct statements by syntax."""
    problems: tuple[PageProblem, ...]
    kind: str
    media_type: str
    size: int
    """Bytes of the body, unpacked."""
    seconds: float
    """Seconds from the request to the end of the response."""
    fetched_at: float
    """Time of the request in seconds since the epoch."""
    depth: int
    referrer: str
    """URL of the page with the link; empty for seeds."""
    score: float
    """Score of the URL in its arm, when the link was found."""
    value: float | None
    """The policy's value of the arm when the URL was picked; None if the policy gives none."""
    reward: float
    links: int
    new_links: int
    location: str
    """Target of a redirect."""
    refresh: str
    """Result of the last revisit: changed, gone or failed; empty if there was none, or the page was unchanged."""
    number: int
    """Number of the request in the crawl."""


def read_pages(
    folder: CrawlFolder, *, failed: bool = False, problems: bool = False, relevant: bool = False, host: str = ""
) -> Iterator[PageRow]:
    """Yield the requested URLs in the order of their last visits, those that pass all given filters."""
    folder.require()
    for part in folder.shard_folders() or [folder]:
        if part.frontier.exists():
            with closing(open_to_read(part)) as storage:
                selection = _Selection(storage, failed=failed, problems=problems, relevant=relevant, host=host)
                yield from map(make_row, selection.visits())


class _Selection:
    """The visits of one storage that pass the filters."""

    def __init__(self, storage: LmdbStorage, *, failed: bool, problems: bool, relevant: bool, host: str) -> None:
        self._storage = storage
        self._failed, self._problems, self._relevant, self._host = failed, problems, relevant, host
        self._decode = msgspec.msgpack.Decoder(Visit).decode

    def visits(self) -> Iterator[Visit]:
        """Yield the last visits of the URLs, in order."""
        first = next(self._storage.visits(), None)
        if first is None:
            return
        if not self._is_labelled(self._decode(first).url):
            yield from self._scan()
            return
        yield from filter(self._passes, map(self._decode, self._candidates()))

    def _is_labelled(self, url: str) -> bool:
        return next(self._storage.labelled_visits(url_key(url)), None) is not None

    def _candidates(self) -> Iterator[bytes]:
        """Yield the records of a label that all wanted visits have, the rarest label first, or of all visits."""
        labels = (
            (host_label(self._host), self._host),
            *((FAILED_LABEL, self._failed), (PROBLEMS_LABEL, self._problems), (RELEVANT_LABEL, self._relevant)),
        )
        label = next((label for label, is_wanted in labels if is_wanted), None)
        if label is None:
            yield from self._last_visits()
            return
        for number in self._storage.labelled_visits(label):
            if (record := self._storage.visit(number)) is not None:
                yield record

    def _last_visits(self) -> Iterator[bytes]:
        """Yield all visits that are the last one of their URL."""
        for record in self._storage.visits():
            visit = self._decode(record)
            if next(self._storage.labelled_visits(url_key(visit.url)), None) == visit.number:
                yield record

    def _passes(self, visit: Visit) -> bool:
        return (
            visit.refresh != UNCHANGED
            and (not self._failed or is_failed(visit))
            and (not self._problems or bool(visit.problems))
            and (not self._relevant or visit.relevant)
            and (not self._host or visit.host == self._host)
        )

    def _scan(self) -> Iterator[Visit]:
        """Yield the visits that pass the filters from a file whose visits have no labels. All visits are read."""
        last: dict[str, Visit] = {}
        for visit in map(self._decode, self._storage.visits()):
            if visit.refresh != UNCHANGED:
                last.pop(visit.url, None)
                last[visit.url] = visit
        yield from filter(self._passes, last.values())


def make_row(visit: Visit) -> PageRow:
    """Return the row of a visit."""
    return PageRow(
        url=visit.url,
        host=visit.host,
        status=visit.status,
        failure=None if visit.failure is None else visit.failure.value,
        detail=visit.detail,
        relevant=visit.relevant,
        quads=visit.quads,
        statements=dict(visit.counts),
        problems=tuple(
            PageProblem(
                syntax=problem.syntax.value if problem.syntax else None,
                message=problem.message,
                line=problem.line,
                column=problem.column,
                repaired=problem.repaired,
            )
            for problem in visit.problems
        ),
        kind=visit.kind,
        media_type=visit.media_type,
        size=visit.size,
        seconds=visit.elapsed,
        fetched_at=visit.at,
        depth=visit.depth,
        referrer=visit.parent_url,
        score=visit.score,
        value=visit.value,
        reward=visit.reward,
        links=visit.links,
        new_links=visit.new_links,
        location=visit.location,
        refresh=visit.refresh,
        number=visit.number,
    )
