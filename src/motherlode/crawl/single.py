"""One page without a crawl: what `motherlode extract` reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from motherlode import __version__
from motherlode.crawl.job import JobError
from motherlode.crawl.understanding import understand
from motherlode.fetch import HttpFetcher, HttpOptions
from motherlode.frontier import MAX_REDIRECTS
from motherlode.model import Facts, FailureKind, Page, Request, Syntax
from motherlode.transform import TransformOptions
from motherlode.www.urls import canonical

_SECONDS_A_SYNTAX = 60.0
"""More patient than a crawl: somebody is waiting for this one page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A body, or the file that holds it, with what is known from outside."""

    url: str
    content_type: str = ""
    body: bytes = b""
    path: Path | None = None


async def fetch_source(url: str, *, base: str | None, media_type: str, allow: tuple[str, ...]) -> Source:
    """Fetch one page by its address, redirects followed."""
    address = canonical(url)
    if address is None:
        raise JobError(f"{url!r} is not an http or https URL")
    fetcher = HttpFetcher(HttpOptions(user_agent=f"Motherlode/{__version__}", allow=allow))
    try:
        for _ in range(MAX_REDIRECTS + 1):
            fetched = await fetcher.fetch(Request(url=address))
            if isinstance(fetched, Page):
                content_type = media_type or fetched.content_type
                return Source(url=base or fetched.url, content_type=content_type, body=fetched.body)
            if fetched.kind is not FailureKind.REDIRECT:
                raise JobError(f"{address} could not be fetched: {fetched.kind.value}, {fetched.detail}")
            address = fetched.location
        raise JobError(f"{url} leads through more than {MAX_REDIRECTS} redirects")
    finally:
        await fetcher.close()


def read_source(source: Source, syntaxes: frozenset[Syntax] | None) -> Iterator[Facts]:
    """The facts of a source, piece by piece where it is too large to hold."""
    options = TransformOptions(syntaxes=syntaxes, seconds=_SECONDS_A_SYNTAX, statements=10_000_000)
    body = source.body
    if source.path is not None:
        try:
            body = source.path.read_bytes()
        except OSError as error:
            raise JobError(f"{source.path} cannot be read: {error.strerror}") from error
    yield understand(body, url=source.url, content_type=source.content_type, options=options)[1]
